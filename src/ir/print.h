/* Parts of a program as text; the whole is vyre_program_print. */
#ifndef VYRE_SRC_IR_PRINT_H
#define VYRE_SRC_IR_PRINT_H

#include "vyre/ir.h"

void vyre_print_expr(const vyre_program *program, vyre_expr expr, vyre_write_fn write, void *user);
/* In quotes, with escapes: the name of a region, a tag. */
void vyre_print_string(const char *string, vyre_write_fn write, void *user);
/* Statements [begin, end), which are complete constructs, one or more lines each. */
void vyre_print_stmts(const vyre_program *program, vyre_stmt begin, vyre_stmt end,
                      vyre_write_fn write, void *user);

#endif
