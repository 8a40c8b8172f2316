/* Elementary functions, as the sequences that define them: a program computes exactly what the
 * language says, bit for bit, being the same operations on the same values. Cost: what stands with
 * each function in ir/elementary.inc and elementary_f64.inc. */
#include <string.h>

#include "lower/elementary.h"
#include "lower/hoist.h"
#include "lower/rewrites.h"

static bool concerns(const vyre_program_view *p, vyre_expr expr, const void *user) {
    const vyre_capabilities *can = user;
    uint8_t op = p->exprs[expr].op;
    return vyre_expr_info_of((vyre_expr_op)op)->operands == VYRE_OPERANDS_ELEMENTARY &&
           !(can->exprs[op / 64] >> op % 64 & 1);
}

static vyre_expr replace(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user) {
    vyre_expr_op op = (vyre_expr_op)each->rw.p->exprs[expr].op;
    vyre_sequence s = {.count = 0};
    char name[32] = "_";
    (void)user;
    strncat(name, vyre_expr_info_of(op)->spelling, sizeof name - 2);
    const bool wide = each->rw.p->exprs[expr].type == VYRE_F64;
    const bool two = vyre_expr_info_of(op)->arity == 2;
    const uint32_t x = vyre_sequence_argument(&s, 0);
    const uint32_t y = two ? vyre_sequence_argument(&s, 1) : 0;
    const uint32_t value =
        wide ? vyre_elementary_f64(&s, op, x, y) : vyre_elementary_f32(&s, op, x, y);
    return vyre_sequence_emit(&s, each, name, operands, value);
}

vyre_status vyre_lower_elementary(vyre_program *program, const vyre_capabilities *can,
                                  const vyre_allocator *a, vyre_program **out_program,
                                  vyre_diag *diag) {
    static const vyre_hoist_rewrite rewrite = {.concerns = concerns, .replace = replace};
    return vyre_hoist(program, &rewrite, can, false, a, out_program, diag);
}
