/* Which words are names. One list, shared by lexer, builder and completion. */
#ifndef VYRE_SRC_IR_NAMES_H
#define VYRE_SRC_IR_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A letter or underscore, then letters, digits, underscores; at most VYRE_LIMIT_NAME bytes. */
bool vyre_name_is_identifier(const char *text, size_t length);
/* Keywords and type names can't be declared. */
bool vyre_name_is_reserved(const char *text, size_t length);

/* What is called like an operation can be declared, but not as a function: the call would mean the
 * operation. (The parser gives such a function another name.) */
bool vyre_name_is_operation(const char *text, size_t length);

#endif
