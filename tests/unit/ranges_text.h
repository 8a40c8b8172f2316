/* What ranges claim, as text: for tests that compare it. */
#ifndef VYRE_TESTS_UNIT_RANGES_TEXT_H
#define VYRE_TESTS_UNIT_RANGES_TEXT_H

#include "analysis/range.h"
#include "harness/text.h"

/* `2 * len(x) - 1`. Symbols: len(x), param, id, loop variable, var@head, var@join, var@result,
 * value(memory) of a load, wrap(form), (x / y), (x % y), min(x, y), max(x, y), op(x, y). */
void ranges_print_form(vyre_text *out, const vyre_program_view *p, const vyre_ranges *r,
                       const vyre_affine *form);

/* A line for each access of the entry body, in order: `load x[form] inside` or
 * `store y[form] not` and, where the index may wrap, `modulo`. */
void ranges_print_accesses(vyre_text *out, const vyre_program_view *p, const vyre_ranges *r);

#endif
