/* What a lane that runs alone does without branches that can't be foreseen, and without divisions.
 *
 *   if (a[i] > b) { a[i] = b; }   Whether a lane stores is decided by data. The stores are made in
 *                                 any case: to their place, or, if the lane does not take that
 *                                 way, to the one that nobody reads (emit_memory.c). It costs an
 *                                 instruction for each store; a branch that is foreseen wrong
 *                                 costs fifteen cycles.
 *   i / n, i % n                  of 32-bit numbers without sign, where n is known when lanes
 *                                 begin: a product with m = ceil(2^64 / n), of which the upper 64
 *                                 bits are the quotient. Why that is right: with e = m n - 2^64,
 *                                 which is below n, i m / 2^64 is i / n + i e / (n 2^64); the
 *                                 second part is below 2^-32, and i / n is at least 1 / n below
 *                                 the next integer. For n = 1 m would be 2^64: the quotient is i.
 *
 * Expressions in the body of such an `if` are evaluated by lanes that do not come there, so it must
 * have no loads: those are only known to be inside where lanes do come. */
#include <stdio.h>

#include "backend/cpu/emit.h"

enum {
    MOST_STORES = 2,
    MOST_NODES = 16, /* of expressions in the body */
    LEVELS = 3       /* of variables that a condition is followed through */
};

/* Whether expressions [first, end) look at memory, or at variables that did. */
static bool looks_at_data(const cpu_emit *e, vyre_expr first, vyre_expr end, uint32_t level) {
    bool looks = false;
    for (vyre_expr k = first; k < end && !looks; k++) {
        const vyre_expr_node *n = &e->p->exprs[k];
        looks = n->op == VYRE_EXPR_LOAD;
        if (n->op == VYRE_EXPR_VAR && e->is_single[n->ref] && level > 0 &&
            e->extents[n->ref].let != VYRE_NONE) {
            const vyre_stmt_node *let = &e->p->stmts[e->extents[n->ref].let];
            looks = looks_at_data(e, let->first_expr, let->end_expr, level - 1);
        }
    }
    return looks;
}

static bool is_plain_store(const cpu_emit *e, const vyre_stmt_node *s) {
    bool plain = s->op == VYRE_STMT_STORE && e->bindings[s->decl].meaning != CPU_IS_PRIVATE;
    for (vyre_expr k = s->first_expr; k < s->end_expr && plain; k++) {
        const uint8_t op = e->p->exprs[k].op;
        plain = op != VYRE_EXPR_LOAD && op != VYRE_EXPR_DIV && op != VYRE_EXPR_REM;
    }
    return plain;
}

bool cpu_chooses_place(const cpu_emit *e, vyre_stmt stmt, const cpu_value *condition) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *s = &p->stmts[stmt];
    const vyre_stmt end = s->match;
    if (e->width > 1 || condition->known || p->stmts[end].op != VYRE_STMT_END || end == stmt + 1 ||
        end - stmt - 1 > MOST_STORES || p->stmts[end - 1].end_expr - s->end_expr > MOST_NODES) {
        return false;
    }
    bool only_stores = looks_at_data(e, s->first_expr, s->end_expr, LEVELS);
    for (vyre_stmt i = stmt + 1; i < end && only_stores; i++) {
        only_stores = is_plain_store(e, &p->stmts[i]);
    }
    return only_stores;
}

cpu_value cpu_chosen_place(cpu_emit *e, cpu_value address) {
    return e->when.text[0] ? cpu_new(e, VYRE_U64, CPU_ONE, "select i1 %s, ptr %s, ptr %%dump",
                                     e->when.text, address.text)
                           : address;
}

/* ceil(2^64 / n) of a declaration's value or length, once, in the entry block; 2^64 is 0. */
static void need_reciprocal(cpu_emit *e, const cpu_value *divisor) {
    const vyre_decl d = divisor->fixed - 1;
    if (e->has_reciprocal[d]) {
        return;
    }
    e->has_reciprocal[d] = true;
    cpu_head(e, "  %%divisor%u = call i32 @llvm.umax.i32(i32 %s, i32 1)", d, divisor->text);
    cpu_head(e, "  %%divisor_wide%u = zext i32 %%divisor%u to i64", d, d);
    cpu_head(e, "  %%below%u = udiv i64 -1, %%divisor_wide%u", d, d);
    cpu_head(e, "  %%reciprocal%u = add i64 %%below%u, %d", d, d, 1);
    cpu_head(e, "  %%by_one%u = icmp eq i32 %%divisor%u, 1", d, d);
}

bool cpu_divide_once(cpu_emit *e, cpu_value x, cpu_value y, bool remainder, cpu_value *out) {
    if (!y.fixed || y.known || x.fixed || x.known || x.type != VYRE_U32 || y.type != VYRE_U32 ||
        e->width > 1 || e->form == CPU_FORM_CONTROL || e->probing) {
        return false;
    }
    const vyre_decl d = y.fixed - 1;
    cpu_note(e, e->stmt, "division",
             "by a product where lanes run alone because the divisor is known before they begin");
    need_reciprocal(e, &y);
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i128", x.text);
    cpu_value m = cpu_new(e, VYRE_U64, CPU_ONE, "zext i64 %%reciprocal%u to i128", d);
    cpu_value product = cpu_new(e, VYRE_U64, CPU_ONE, "mul i128 %s, %s", wide.text, m.text);
    cpu_value high = cpu_new(e, VYRE_U64, CPU_ONE, "lshr i128 %s, 64", product.text);
    cpu_value q = cpu_new(e, VYRE_U32, CPU_ONE, "trunc i128 %s to i32", high.text);
    q = cpu_new(e, VYRE_U32, CPU_ONE, "select i1 %%by_one%u, i32 %s, i32 %s", d, x.text, q.text);
    if (remainder) { /* by 0 it is 0 */
        cpu_value whole = cpu_new(e, VYRE_U32, CPU_ONE, "mul i32 %s, %%divisor%u", q.text, d);
        *out = cpu_binary(e, "sub", VYRE_U32, x, whole);
    } else {
        cpu_value by_zero = cpu_compare(e, "eq", y, cpu_u32(0));
        *out = cpu_select(e, by_zero, cpu_u32(UINT32_MAX), q);
    }
    return true;
}
