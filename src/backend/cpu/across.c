/* Trips of one lane side by side: where lanes run one after another, a loop
 *     for (k in a .. b) { let x = p[k] ...; found = found + f(x); }
 * makes a vector of trips at once, each lane of which has a part of `found`; behind the loop the
 * parts are put together.
 *
 * Why that is right: the body has no effects but on variables to which it adds, or takes the least,
 * greatest, and, or, exclusive or of; of integers these may be done in any order. Nothing else in
 * the body asks for them. The last trips are fewer than a vector: the others add nothing. What they
 * load is no matter, and stays inside, since all accesses are tested as those of a gang that is
 * masked. Memory does not change meanwhile, but by other lanes, whose order is free.
 *
 * Only where elements lie side by side, or are one for all trips: gathers would not pay. */
#include <stdio.h>

#include "backend/cpu/emit.h"

enum { MOST_NODES = 96 };

/* What is put together how. */
typedef struct joining {
    vyre_expr_op op;
    const char *reduces[2]; /* by the sign of the type */
} joining;

static const joining joinings[] = {
    {VYRE_EXPR_ADD, {"add", "add"}},   {VYRE_EXPR_BIT_AND, {"and", "and"}},
    {VYRE_EXPR_BIT_OR, {"or", "or"}},  {VYRE_EXPR_BIT_XOR, {"xor", "xor"}},
    {VYRE_EXPR_MIN, {"umin", "smin"}}, {VYRE_EXPR_MAX, {"umax", "smax"}}};
enum { JOININGS = sizeof joinings / sizeof *joinings };

static const joining *joining_of(uint8_t op) {
    for (uint32_t i = 0; i < JOININGS; i++) {
        if (joinings[i].op == (vyre_expr_op)op) {
            return &joinings[i];
        }
    }
    return NULL;
}

static bool is_integer(uint8_t type) {
    return type == VYRE_U32 || type == VYRE_I32 || type == VYRE_U64 || type == VYRE_I64;
}

static bool is_var(const cpu_emit *e, vyre_expr expr, vyre_var var) {
    return e->p->exprs[expr].op == VYRE_EXPR_VAR && e->p->exprs[expr].ref == var;
}

static uint32_t uses_in(const cpu_emit *e, vyre_stmt begin, vyre_stmt end, vyre_var var) {
    uint32_t count = 0;
    for (vyre_expr i = e->p->stmts[begin].first_expr; i < e->p->stmts[end - 1].end_expr; i++) {
        count += is_var(e, i, var);
    }
    return count;
}

/* `v = v op x`, of a variable from outside that the loop does not touch otherwise. */
static bool joins(const cpu_emit *e, vyre_stmt loop, vyre_stmt stmt) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const vyre_expr_node *n = &e->p->exprs[s->arg[0]];
    if (!is_integer(e->p->vars[s->var].type) || !joining_of(n->op) ||
        (!is_var(e, n->u.arg[0], s->var) && !is_var(e, n->u.arg[1], s->var)) ||
        uses_in(e, loop + 1, e->p->stmts[loop].match, s->var) > 1) {
        return false;
    }
    bool alone = true;
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        alone &= i == stmt || e->p->stmts[i].var != s->var;
    }
    return alone;
}

/* Elements side by side, or one for all trips. */
static bool loads_steadily(const cpu_emit *e, vyre_expr load, bool *moves) {
    const vyre_expr_node *n = &e->p->exprs[load];
    const cpu_site *index = &e->sites[n->u.arg[0]];
    const bool stays = index->kind == CPU_STAYS;
    const bool next = index->kind == CPU_MOVES && index->known && index->step == 1;
    *moves |= next;
    return (stays || (next && !cpu_is_marked(e, load, CPU_MARK_INSIDE))) &&
           e->bindings[n->ref].meaning != CPU_IS_PRIVATE;
}

static bool fits(const cpu_emit *e, vyre_stmt loop) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *n = &p->stmts[loop];
    const bool by_one = n->arg[2] == VYRE_NONE || (p->exprs[n->arg[2]].op == VYRE_EXPR_LITERAL &&
                                                   p->exprs[n->arg[2]].u.bits == 1);
    if (e->width != 1 || e->gangs > 1 || e->probing || e->form == CPU_FORM_CONTROL || !by_one ||
        !e->sites[p->expr_count + loop].access ||
        p->stmts[n->match - 1].end_expr > n->end_expr + MOST_NODES) {
        return false;
    }
    bool good = true, moves = false, any = false;
    for (vyre_stmt i = loop + 1; i < n->match && good; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        any |= s->op == VYRE_STMT_ASSIGN;
        good = (s->op == VYRE_STMT_LET && e->is_single[s->var]) ||
               (s->op == VYRE_STMT_ASSIGN && joins(e, loop, i));
        for (vyre_expr k = s->first_expr; k < s->end_expr && good; k++) {
            good = p->exprs[k].op != VYRE_EXPR_LOAD || loads_steadily(e, k, &moves);
        }
    }
    return good && moves && any;
}

/* While such a loop is emitted. */

static bool is_joined(const cpu_emit *e, vyre_var var) {
    bool is = false;
    for (vyre_stmt i = e->across; i < e->p->stmts[e->across - 1].match; i++) {
        is |= e->p->stmts[i].op == VYRE_STMT_ASSIGN && e->p->stmts[i].var == var;
    }
    return is;
}

bool cpu_across_get(cpu_emit *e, vyre_var var, cpu_value *out) {
    const vyre_type type = (vyre_type)e->p->vars[var].type;
    if (!e->across) {
        return false;
    }
    if (e->p->stmts[e->across - 1].var == var) {
        *out = e->across_at;
        return true;
    }
    if (!is_joined(e, var)) {
        return false;
    }
    *out = cpu_new(e, type, CPU_EACH, "load %s, ptr %%part%u_%u", cpu_type(e, type, true),
                   e->across, var);
    return true;
}

bool cpu_across_set(cpu_emit *e, vyre_var var, cpu_value value) {
    cpu_value old;
    if (!e->across || !is_joined(e, var) || !cpu_across_get(e, var, &old)) {
        return false;
    }
    value = cpu_select(e, cpu_active(e), cpu_each(e, value), old);
    cpu_line(e, "  store %s %s, ptr %%part%u_%u", cpu_type_of(e, &value), value.text, e->across,
             var);
    return true;
}

static cpu_value nothing_of(vyre_expr_op op, vyre_type type) {
    const uint32_t bits = vyre_type_size(type) * 8;
    const uint64_t all = UINT64_MAX >> (64 - bits), top = UINT64_C(1) << (bits - 1);
    const bool sign = vyre_type_is_signed(type);
    return cpu_literal(type, op == VYRE_EXPR_BIT_AND ? all
                             : op == VYRE_EXPR_MIN   ? (sign ? top - 1 : all)
                             : op == VYRE_EXPR_MAX   ? (sign ? top : 0)
                                                     : 0);
}

static void begin_parts(cpu_emit *e, vyre_stmt loop) {
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        if (s->op == VYRE_STMT_ASSIGN) {
            const vyre_type type = (vyre_type)e->p->vars[s->var].type;
            cpu_value none = cpu_each(e, nothing_of((vyre_expr_op)e->p->exprs[s->arg[0]].op, type));
            cpu_head(e, "  %%part%u_%u = alloca %s", loop + 1, s->var, cpu_type_of(e, &none));
            cpu_line(e, "  store %s %s, ptr %%part%u_%u", cpu_type_of(e, &none), none.text,
                     loop + 1, s->var);
        }
    }
}

/* Behind the loop: the vector is one lane again. */
static void join_parts(cpu_emit *e, vyre_stmt loop, uint32_t width) {
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        if (s->op != VYRE_STMT_ASSIGN) {
            continue;
        }
        const vyre_type type = (vyre_type)e->p->vars[s->var].type;
        const joining *how = joining_of(e->p->exprs[s->arg[0]].op);
        e->width = width;
        cpu_value part = cpu_new(e, type, CPU_EACH, "load %s, ptr %%part%u_%u",
                                 cpu_type(e, type, true), loop + 1, s->var);
        char name[24];
        (void)snprintf(name, sizeof name, "vector.reduce.%s",
                       how->reduces[vyre_type_is_signed(type)]);
        cpu_value one =
            cpu_new(e, type, CPU_ONE, "call %s @llvm.%s.%s(%s %s)", cpu_type(e, type, false), name,
                    cpu_suffix(e, type, true), cpu_type_of(e, &part), part.text);
        e->width = 1;
        cpu_value old = cpu_get(e, s->var);
        cpu_set(e, s->var, cpu_apply(e, how->op, old, one, old), false);
    }
}

bool cpu_emit_across(cpu_emit *e, vyre_stmt loop) {
    const vyre_stmt_node *n = &e->p->stmts[loop];
    const uint32_t width = cpu_isa_vector_bytes(e->isa) / 4;
    if (!fits(e, loop)) {
        return false;
    }
    cpu_emit_exprs(e, n->first_expr, n->end_expr);
    const cpu_value from = cpu_operand(e, n, 0), to = cpu_operand(e, n, 1);
    const uint32_t label = cpu_label(e);
    cpu_note(e, loop, "loop",
             "%u trips of one lane at once because it only adds up what lies side by side", width);
    e->width = width;
    begin_parts(e, loop);
    cpu_head(e, "  %%trip_of%u = alloca i32", label);
    cpu_line(e, "  store i32 %s, ptr %%trip_of%u", from.text, label);
    cpu_value some = cpu_compare(e, "ult", from, to);
    cpu_line(e, "  br i1 %s, label %%trip%u, label %%out%u", some.text, label, label);
    cpu_line(e, "trip%u:", label);
    cpu_value at = cpu_new(e, VYRE_U32, CPU_ONE, "load i32, ptr %%trip_of%u", label);
    cpu_value left = cpu_binary(e, "sub", VYRE_U32, to, at);
    const cpu_value numbers = {.type = VYRE_U32, .hold = CPU_LINEAR, .stride = 1, .text = "0"};
    e->across_mask = cpu_compare(e, "ult", cpu_each(e, numbers), cpu_each(e, left));
    e->across_at = at;
    e->across_at.hold = CPU_LINEAR;
    e->across_at.stride = 1;
    e->across = loop + 1;
    for (vyre_stmt i = loop + 1; i < n->match; i++) {
        cpu_emit_stmt(e, i);
    }
    e->across = 0;
    cpu_emit_check(e, "1");
    cpu_value next = cpu_binary(e, "add", VYRE_U32, at, cpu_u32(width));
    cpu_line(e, "  store i32 %s, ptr %%trip_of%u", next.text, label);
    cpu_value more = cpu_compare(e, "ugt", left, cpu_u32(width));
    cpu_line(e, "  br i1 %s, label %%trip%u, label %%out%u", more.text, label, label);
    cpu_line(e, "out%u:", label);
    join_parts(e, loop, width);
    return true;
}
