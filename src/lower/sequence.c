/* Sequences. Emission walks the graph from the value that is wanted, operands first and from left
 * to right, with a stack; each value is visited once. A value used once stays inside the expression
 * of its user until that is DEPTH deep: people read what comes out. */
#include "lower/sequence.h"

#include <string.h>

#include "ir/builder.h"

enum { DEPTH = 6 };

static uint32_t arity_of(const vyre_sequence_value *v) {
    bool is_leaf = v->op == VYRE_EXPR_VAR || v->op == VYRE_EXPR_LITERAL;
    return is_leaf ? 0 : vyre_expr_info_of((vyre_expr_op)v->op)->arity;
}

static uint32_t add(vyre_sequence *s, vyre_sequence_value v) {
    for (uint32_t i = 0; i < s->count; i++) {
        const vyre_sequence_value *old = &s->values[i];
        if (old->op == v.op && old->type == v.type && old->bits == v.bits &&
            memcmp(old->arg, v.arg, sizeof v.arg) == 0) {
            return i;
        }
    }
    if (s->count == VYRE_SEQUENCE_VALUES) {
        s->is_full = true;
        return 0;
    }
    s->values[s->count] = v;
    return s->count++;
}

uint32_t vyre_sequence_argument(vyre_sequence *s, uint32_t number) {
    return add(s, (vyre_sequence_value){.op = VYRE_EXPR_VAR, .arg = {number}});
}

uint32_t vyre_sequence_literal(vyre_sequence *s, vyre_type type, uint64_t bits) {
    return add(s,
               (vyre_sequence_value){.op = VYRE_EXPR_LITERAL, .type = (uint8_t)type, .bits = bits});
}

uint32_t vyre_sequence_cast(vyre_sequence *s, vyre_type target, uint32_t x) {
    return add(s, (vyre_sequence_value){.op = VYRE_EXPR_CAST, .type = (uint8_t)target, .arg = {x}});
}

uint32_t vyre_sequence_bitcast(vyre_sequence *s, vyre_type target, uint32_t x) {
    return add(s,
               (vyre_sequence_value){.op = VYRE_EXPR_BITCAST, .type = (uint8_t)target, .arg = {x}});
}

uint32_t vyre_sequence_op(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y, uint32_t z) {
    return add(s, (vyre_sequence_value){.op = (uint8_t)op, .arg = {x, y, z}});
}

/* Emission */

typedef struct emission {
    vyre_sequence *s;
    vyre_each *each;
    const char *name;
    const vyre_expr *arguments;
    vyre_expr done[VYRE_SEQUENCE_VALUES];
    bool is_done[VYRE_SEQUENCE_VALUES];
} emission;

/* How often the values below `root` are used by those below it. */
static void count_uses(vyre_sequence *s, uint32_t root) {
    bool needed[VYRE_SEQUENCE_VALUES] = {false};
    for (uint32_t i = 0; i < s->count; i++) {
        s->values[i].uses = 0;
    }
    needed[root] = true;
    for (uint32_t i = root + 1; i-- > 0;) { /* users come behind what they use */
        const vyre_sequence_value *v = &s->values[i];
        for (uint32_t k = 0; needed[i] && k < arity_of(v); k++) {
            s->values[v->arg[k]].uses++;
            needed[v->arg[k]] = true;
        }
    }
}

static vyre_expr build(const emission *m, const vyre_sequence_value *v) {
    vyre_builder *to = m->each->rw.to;
    vyre_expr in[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < arity_of(v); i++) {
        in[i] = m->done[v->arg[i]];
    }
    switch ((int)v->op) {
    case VYRE_EXPR_VAR: return m->arguments[v->arg[0]];
    case VYRE_EXPR_LITERAL: return vyre_build_literal(to, (vyre_type)v->type, v->bits);
    case VYRE_EXPR_CAST: return vyre_build_cast(to, (vyre_type)v->type, in[0]);
    case VYRE_EXPR_BITCAST: return vyre_build_bitcast(to, (vyre_type)v->type, in[0]);
    default: return vyre_build_op(to, (vyre_expr_op)v->op, in[0], in[1], in[2]);
    }
}

/* Reinterpreting a name costs nothing and reads better than one more name. */
static bool is_cheap(const vyre_sequence *s, const vyre_sequence_value *v) {
    return v->op == VYRE_EXPR_LITERAL || v->op == VYRE_EXPR_VAR ||
           (v->op == VYRE_EXPR_BITCAST && s->values[v->arg[0]].depth == 0);
}

static void finish_value(emission *m, uint32_t number) {
    vyre_sequence_value *v = &m->s->values[number];
    vyre_builder *to = m->each->rw.to;
    vyre_expr e = build(m, v);
    uint32_t depth = 0;
    for (uint32_t i = 0; i < arity_of(v); i++) {
        uint32_t below = m->s->values[v->arg[i]].depth + 1u;
        depth = below > depth ? below : depth;
    }
    bool binds = !is_cheap(m->s, v) && (v->uses > 1 || depth == DEPTH);
    if (binds) {
        e = vyre_build_var(to, vyre_build_let(to, vyre_each_name(m->each, m->name), e));
    }
    v->depth = (uint8_t)(binds ? 0 : depth);
    m->done[number] = e;
    m->is_done[number] = true;
}

/* What is evaluated more than once must be a name. */
static vyre_expr bind_argument(vyre_each *each, const char *name, vyre_expr argument) {
    vyre_builder *to = each->rw.to;
    return vyre_builder_is_leaf(to, argument)
               ? argument
               : vyre_build_var(to, vyre_build_let(to, vyre_each_name(each, name), argument));
}

vyre_expr vyre_sequence_emit(vyre_sequence *s, vyre_each *each, const char *name,
                             const vyre_expr *arguments, uint32_t value) {
    struct frame {
        uint32_t value, next;
    } stack[VYRE_SEQUENCE_VALUES];
    vyre_expr bound[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    emission m = {.s = s, .each = each, .name = name, .arguments = bound};
    if (s->is_full) {
        vyre_builder_fail(each->rw.to, VYRE_INTERNAL, "please report it",
                          "%s takes more than %d operations", name, (int)VYRE_SEQUENCE_VALUES);
        return VYRE_NONE;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->values[i].op == VYRE_EXPR_VAR) {
            uint32_t k = s->values[i].arg[0];
            bound[k] = bind_argument(each, name, arguments[k]);
        }
    }
    count_uses(s, value);
    uint32_t depth = 0;
    stack[0] = (struct frame){value, 0};
    for (;;) {
        struct frame *top = &stack[depth];
        const vyre_sequence_value *v = &s->values[top->value];
        if (top->next < arity_of(v)) {
            uint32_t operand = v->arg[top->next++];
            if (!m.is_done[operand]) {
                stack[++depth] = (struct frame){operand, 0};
            }
            continue;
        }
        finish_value(&m, top->value);
        if (depth-- == 0) {
            return m.done[value];
        }
    }
}
