/* Memory of several dimensions, inside of the library. */
#ifndef VYRE_SRC_IR_DIMENSIONS_H
#define VYRE_SRC_IR_DIMENSIONS_H

#include "vyre/ir.h"

/* Gives memory the dimensions of another program's, whose size and inner expression it has. */
void vyre_builder_set_dimensions(vyre_builder *b, vyre_decl decl, uint32_t rank, vyre_expr inner);
/* As vyre_build_dimension, for a size. */
vyre_expr vyre_builder_exact_dimension(vyre_builder *b, vyre_decl memory, uint32_t dimension);
uint32_t vyre_builder_rank(const vyre_builder *b, vyre_decl memory);

/* The indices of an access to memory of several dimensions, from the expression of its element. */
void vyre_element_indices(const vyre_program_view *p, vyre_decl memory, vyre_expr element,
                          vyre_expr out[3]);
/* Memory that is not always accessed as by vyre_build_element has one dimension. */
void vyre_builder_settle_dimensions(vyre_builder *b);

#endif
