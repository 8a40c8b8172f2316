/* Atomics whose old value nobody asks for.
 *
 * Sums, least and greatest values and bits of integers may be put together in any order, so the
 * lanes of a gang that reach one element are put together first, and one operation is left of them
 * all. If nothing else in the segment touches the buffer, and the index is a constant, that can
 * wait for the end of the range of lanes: until then each worker tallies in a register.
 *
 * Why that is right: operations of one kind on one element commute and leave the same value however
 * they are put together (all wrap modulo 2^32 or 2^64); in between nobody looks, since in the
 * segment there is nothing but operations of that kind, of which nobody sees the old value, and
 * what follows it waits for all lanes. One that would change nothing is left out. */
#include <stdio.h>

#include "backend/cpu/kernel.h"
#include "ir/touches.h"

/* What changes nothing. */
static cpu_value neutral(vyre_atomic_op op, vyre_type type) {
    const uint64_t top = UINT64_C(1) << (8 * vyre_type_size(type) - 1);
    const bool plus_minus = vyre_type_is_signed(type);
    return cpu_literal(type, op == VYRE_ATOMIC_MIN   ? (plus_minus ? top - 1 : UINT64_MAX)
                             : op == VYRE_ATOMIC_MAX ? (plus_minus ? top : 0)
                             : op == VYRE_ATOMIC_AND ? UINT64_MAX
                                                     : 0);
}

bool cpu_tally_joins(const cpu_emit *e, const vyre_stmt_node *s) {
    return s->var == VYRE_NONE && vyre_atomic_joins((vyre_atomic_op)s->sub) != VYRE_EXPR_COUNT &&
           !vyre_type_is_float((vyre_type)e->p->decls[s->decl].type);
}

/* Each may reach another element: then they do that one by one, after all else in lockstep. */
bool cpu_tally_in_gangs(const cpu_emit *e) {
    bool in_gangs = true;
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        in_gangs &= s->op != VYRE_STMT_ATOMIC || cpu_tally_joins(e, s);
    }
    return in_gangs;
}

/* Whether all that touches the buffer are operations like this one. */
static bool is_alone(const cpu_emit *e, const vyre_stmt_node *s) {
    bool alone = true;
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        const vyre_stmt_node *other = &e->p->stmts[i];
        if (other->decl == s->decl && other->op == VYRE_STMT_ATOMIC) {
            alone &= other->sub == s->sub && other->var == VYRE_NONE;
        } else if (other->decl == s->decl && other->op == VYRE_STMT_STORE) {
            alone = false;
        }
        for (vyre_expr k = other->first_expr; k < other->end_expr; k++) {
            alone &= e->p->exprs[k].op != VYRE_EXPR_LOAD || e->p->exprs[k].ref != s->decl;
        }
    }
    return alone;
}

/* The value, of lanes that are not active what changes nothing. */
static cpu_value of_active(cpu_emit *e, const vyre_stmt_node *s, cpu_value value) {
    const vyre_type type = (vyre_type)e->p->decls[s->decl].type;
    value = cpu_each(e, value);
    if (!cpu_is_masked(e)) {
        return value;
    }
    cpu_value nothing = cpu_each(e, neutral((vyre_atomic_op)s->sub, type));
    return cpu_select(e, cpu_active(e), value, nothing);
}

/* The elements of a vector put together. */
static cpu_value join(cpu_emit *e, const vyre_stmt_node *s, cpu_value vector) {
    const vyre_type type = (vyre_type)e->p->decls[s->decl].type;
    const bool plus_minus = vyre_type_is_signed(type);
    const vyre_expr_op op = vyre_atomic_joins((vyre_atomic_op)s->sub);
    if (e->width == 1) {
        return vector;
    }
    const char *name = op == VYRE_EXPR_MIN       ? (plus_minus ? "smin" : "umin")
                       : op == VYRE_EXPR_MAX     ? (plus_minus ? "smax" : "umax")
                       : op == VYRE_EXPR_BIT_AND ? "and"
                       : op == VYRE_EXPR_BIT_OR  ? "or"
                       : op == VYRE_EXPR_BIT_XOR ? "xor"
                                                 : "add";
    return cpu_new(e, type, CPU_ONE, "call %s @llvm.vector.reduce.%s.%s(%s %s)",
                   cpu_type(e, type, false), name, cpu_suffix(e, type, true),
                   cpu_type_of(e, &vector), vector.text);
}

cpu_value cpu_tally_join(cpu_emit *e, const vyre_stmt_node *s, cpu_value value) {
    cpu_note(e, e->stmt, "atomic", "one for %u lanes because nobody asks for the old value",
             e->width);
    return join(e, s, of_active(e, s, value));
}

/* The place of a tally, which begins as what changes nothing. */
static void need_tally(cpu_emit *e, const vyre_stmt_node *s, uint32_t index) {
    const vyre_type type = (vyre_type)e->p->decls[s->decl].type;
    cpu_value nothing = neutral((vyre_atomic_op)s->sub, type);
    const char *held = cpu_type(e, type, true);
    if (e->tallied[e->stmt]) {
        return;
    }
    e->tallied[e->stmt] = index + 1;
    cpu_head(e, "  %%tally%u = alloca %s", e->stmt, held);
    if (e->width == 1) {
        cpu_head(e, "  store %s %s, ptr %%tally%u", held, nothing.text, e->stmt);
        return;
    }
    vyre_text_printf(&e->head, "  store %s <", held);
    for (uint32_t i = 0; i < e->width; i++) {
        vyre_text_printf(&e->head, "%s%s %s", i ? ", " : "", cpu_type(e, type, false),
                         nothing.text);
    }
    vyre_text_printf(&e->head, ">, ptr %%tally%u\n", e->stmt);
}

bool cpu_tally(cpu_emit *e, const vyre_stmt_node *s, const cpu_value *index, cpu_value value) {
    const vyre_type type = (vyre_type)e->p->decls[s->decl].type;
    const vyre_expr_op op = vyre_atomic_joins((vyre_atomic_op)s->sub);
    if (e->form != CPU_FORM_ROWS || !index->known || index->bits == UINT32_MAX ||
        !cpu_tally_joins(e, s) || !is_alone(e, s)) {
        return false;
    }
    cpu_note(e, e->stmt, "atomic",
             "one for a range of lanes because nothing else touches the buffer, and nobody asks "
             "for the old value");
    need_tally(e, s, (uint32_t)index->bits);
    const char *held = cpu_type(e, type, true);
    const cpu_hold hold = e->width > 1 ? CPU_EACH : CPU_ONE;
    cpu_value more = of_active(e, s, value);
    cpu_value old = cpu_new(e, type, hold, "load %s, ptr %%tally%u", held, e->stmt);
    cpu_value now = cpu_apply(e, op, old, more, more);
    cpu_line(e, "  store %s %s, ptr %%tally%u", held, now.text, e->stmt);
    return true;
}

void cpu_emit_tallies(cpu_emit *e) {
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        if (!e->tallied[i] || s->var != VYRE_NONE) {
            continue;
        }
        const vyre_type type = (vyre_type)e->p->decls[s->decl].type;
        const uint32_t label = cpu_label(e);
        e->stmt = i;
        cpu_value all = cpu_new(e, type, e->width > 1 ? CPU_EACH : CPU_ONE,
                                "load %s, ptr %%tally%u", cpu_type(e, type, true), i);
        cpu_value one = join(e, s, all);
        cpu_value some = cpu_compare(e, "ne", one, neutral((vyre_atomic_op)s->sub, type));
        cpu_line(e, "  br i1 %s, label %%tell%u, label %%told%u\ntell%u:", some.text, label, label,
                 label);
        (void)cpu_atomic_once(e, s, cpu_u32(e->tallied[i] - 1), one);
        cpu_line(e, "  br label %%told%u\ntold%u:", label, label);
    }
}
