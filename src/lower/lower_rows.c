/* Elements of memory with several dimensions. row(y, w, x) is
 *
 *     y * w + x                                       where ranges prove that x < w and that the
 * row ends at 2^32 or before; select(x < w && y < 2^32 / w, y * w + x, ~0)    for a number w,
 * without the parts that are proven; select(x < w && mul_high(y, w) == 0 && y * w <= -w, y * w + x,
 * ~0)     for any other.
 *
 * Right because a row ends at (y + 1) * w: with w not 0, which x < w tells, that is at most 2^32 if
 * and only if y < 2^32 / w, rounded down, or if y * w has no high half and its low half is at most
 * 2^32 - w. It is done before splitting, where what is known of ids and guards around the access is
 * not yet cut apart, so that everything behind it sees what one would have written by hand. Cost:
 * ranges, of programs that have rows. */
#include "analysis/range.h"
#include "base/diag.h"
#include "lower/capabilities.h"
#include "lower/hoist.h"
#include "lower/rewrites.h"
#include "lower/sequence.h"

static bool concerns(const vyre_program_view *p, vyre_expr expr, const void *user) {
    (void)user;
    return p->exprs[expr].op == VYRE_EXPR_ROW;
}

static uint32_t op2(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y) {
    return vyre_sequence_op(s, op, x, y, 0);
}

static uint32_t number(vyre_sequence *s, uint32_t value) {
    return vyre_sequence_literal(s, VYRE_U32, value);
}

/* Whether the row ends at 2^32 or before, if x < w. */
static uint32_t fits(vyre_sequence *s, const vyre_expr_node *width, uint32_t y, uint32_t w) {
    if (width->op == VYRE_EXPR_LITERAL && width->u.bits > 1) {
        const uint32_t rows = (uint32_t)((UINT64_C(1) << 32) / width->u.bits);
        return op2(s, VYRE_EXPR_LT, y, number(s, rows));
    }
    const uint32_t high = op2(s, VYRE_EXPR_EQ, op2(s, VYRE_EXPR_MUL_HIGH, y, w), number(s, 0));
    const uint32_t most = vyre_sequence_op(s, VYRE_EXPR_NEG, w, 0, 0);
    const uint32_t low = op2(s, VYRE_EXPR_LE, op2(s, VYRE_EXPR_MUL, y, w), most);
    return op2(s, VYRE_EXPR_AND, high, low);
}

static vyre_expr replace(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user) {
    const vyre_expr_node *e = &each->rw.p->exprs[expr];
    const vyre_ranges *ranges = user;
    vyre_sequence s = {.count = 0};
    const uint32_t y = vyre_sequence_argument(&s, 0), w = vyre_sequence_argument(&s, 1);
    const uint32_t x = vyre_sequence_argument(&s, 2);
    uint32_t value = op2(&s, VYRE_EXPR_ADD, op2(&s, VYRE_EXPR_MUL, y, w), x);
    const bool is_inside = vyre_ranges_is_in_row(ranges, expr);
    const bool is_short = vyre_ranges_row_fits(ranges, expr);
    if (!is_inside || !is_short) {
        const uint32_t inside = is_inside ? 0 : op2(&s, VYRE_EXPR_LT, x, w);
        const uint32_t end = is_short ? 0 : fits(&s, &each->rw.p->exprs[e->u.arg[1]], y, w);
        const uint32_t both = is_inside  ? end
                              : is_short ? inside
                                         : op2(&s, VYRE_EXPR_AND, inside, end);
        value = vyre_sequence_op(&s, VYRE_EXPR_SELECT, both, value, number(&s, UINT32_MAX));
    }
    return vyre_sequence_emit(&s, each, "_at", operands, value);
}

/* Those that are proven stay expressions where they stand, conditions of loops too. */

static vyre_expr replace_proven(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands,
                                void *user) {
    if (rw->p->exprs[expr].op != VYRE_EXPR_ROW || !vyre_ranges_is_in_row(user, expr) ||
        !vyre_ranges_row_fits(user, expr)) {
        return VYRE_NONE;
    }
    return vyre_build_op(rw->to, VYRE_EXPR_ADD,
                         vyre_build_op(rw->to, VYRE_EXPR_MUL, operands[0], operands[1], VYRE_NONE),
                         operands[2], VYRE_NONE);
}

static void begin_proven(vyre_each *each) {
    each->rw.replace = replace_proven;
    each->rw.user = each->user;
}

static bool keep(vyre_each *each, vyre_stmt stmt) {
    (void)each;
    (void)stmt;
    return false;
}

static bool has_rows(const vyre_program *program) {
    const vyre_program_view *p = vyre_program_get(program);
    for (vyre_expr e = 0; e < p->expr_count; e++) {
        if (p->exprs[e].op == VYRE_EXPR_ROW) {
            return true;
        }
    }
    return false;
}

vyre_status vyre_lower_rows(vyre_program *program, const vyre_capabilities *can,
                            const vyre_allocator *a, vyre_program **out_program, vyre_diag *diag) {
    static const vyre_hoist_rewrite rest = {.concerns = concerns, .replace = replace};
    vyre_program *now = vyre_program_retain(program);
    vyre_status status = VYRE_OK;
    for (int step = 0; step < 2 && status == VYRE_OK; step++) {
        vyre_ranges *ranges = NULL;
        vyre_program *next = NULL;
        if (vyre_can_expr(can, VYRE_EXPR_ROW) || !has_rows(now)) {
            break;
        }
        if (vyre_ranges_create(now, a, &ranges) != VYRE_OK) {
            status = vyre_fail_memory(diag, "the ranges of a program");
        } else {
            status = step == 0 ? vyre_each_rewrite(now, begin_proven, keep, ranges, a, &next, diag)
                               : vyre_hoist(now, &rest, ranges, true, a, &next, diag);
        }
        vyre_ranges_destroy(ranges);
        vyre_program_release(now);
        now = next;
    }
    *out_program = now;
    return status;
}
