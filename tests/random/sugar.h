/* Programs written another way: the text of a random program in which one function takes as an
 * argument memory that its body names in the printed text. It must parse to the same program. */
#ifndef VYRE_TESTS_RANDOM_SUGAR_H
#define VYRE_TESTS_RANDOM_SUGAR_H

#include "base/text.h"
#include "vyre/ir.h"

/* False: there is no function and memory that would do. `seed` chooses among them. */
bool sugar_memory_argument(const vyre_program *program, const char *printed, uint64_t seed,
                           vyre_text *out);
/* Each `while (c)` as `for (; c;)`, and `while (true)` as `for (;;)`. False: there is none. */
bool sugar_loops(const char *printed, vyre_text *out);
/* The text with its functions in the order of their names. */
void sugar_sorted(const char *printed, vyre_text *out);

#endif
