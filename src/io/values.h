/* Values as text: lists on the command line, and files of numbers that people and spreadsheets
 * write. */
#ifndef VYRE_SRC_IO_VALUES_H
#define VYRE_SRC_IO_VALUES_H

#include "io/array.h"

/* One value of any type, as stored in a buffer: integers in decimal, 0x or 0b, with a sign if the
 * type has one; floats as decimals, "nan", "inf"; "true", "false", 0 and 1. False if it is none or
 * does not fit. The byte behind the text must be readable and not continue it. */
bool vyre_value_parse(vyre_type type, const char *text, size_t length, uint64_t *out_bits);

/* Whether the text is a list of values, of whatever type: "1,2,3", "-1.5", "true,false". */
bool vyre_values_are(const char *text);

/* Values between commas, blanks and line ends; `#` begins a comment. text[length] must be readable
 * and end a value. `name` is the file's name in messages, NULL for text of the command line. */
vyre_status vyre_values_parse(const char *text, size_t length, const char *name, vyre_type type,
                              const vyre_allocator *a, vyre_array *out, vyre_diag *diag);

/* Writes an array (elements as stored in a buffer) as the stage's next output, a value a line, in
 * the shortest form that reads back the same. */
vyre_status vyre_values_stage(vyre_stage *stage, const char *path, vyre_type type, const void *data,
                              uint64_t count, vyre_diag *diag);

#endif
