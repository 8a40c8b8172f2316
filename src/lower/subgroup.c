/* Subgroup operations. Each lane puts its value into workgroup memory; behind a barrier the first
 * lane of each subgroup combines them in the order of the language, strides 16, 8, 4, 2, 1, absent
 * lanes skipped; behind another all read the result:
 *
 *     values[self] = v; present[self] = on; barrier;
 *     if (self % 32 == 0) { combine; results[self / 32] = values[self]; } barrier;
 *     let r = results[self / 32];
 *
 * The next operation writes values behind the second barrier and results behind one more, so two
 * are enough. A group of at most 32 lanes reads results[0], which is seen to be uniform. Lanes
 * beyond the end of the group are beyond the end of the arrays and load as 0: absent. A shuffle
 * reads values itself, and so does a scan, which the first lane makes in place, from above down so
 * that what is below is that of the step before; behind these stands a barrier more. Any and all
 * are ballots. Cost: two barriers, of a scan three; 31 operations of one lane, of a scan 129. */
#include "lower/subgroup.h"

#include "ir/builder.h"

enum { SIZE = VYRE_SUBGROUP_SIZE_FIXED };

typedef struct maker {
    vyre_each *each;
    vyre_builder *b;
    const vyre_subgroup_memory *memory;
} maker;

static vyre_expr u32(const maker *m, uint32_t value) {
    return vyre_build_u32(m->b, value);
}

static vyre_expr op(const maker *m, vyre_expr_op which, vyre_expr x, vyre_expr y) {
    return vyre_build_op(m->b, which, x, y, VYRE_NONE);
}

static vyre_expr choose(const maker *m, vyre_expr c, vyre_expr x, vyre_expr y) {
    return vyre_build_op(m->b, VYRE_EXPR_SELECT, c, x, y);
}

static vyre_var let(const maker *m, const char *name, vyre_expr value) {
    return vyre_build_let(m->b, vyre_each_name(m->each, name), value);
}

/* Declarations */

static vyre_decl declare(vyre_each *each, const char *name, vyre_type type, uint32_t count) {
    return vyre_build_memory(each->rw.to, VYRE_WORKGROUP, vyre_each_name(each, name), type,
                             vyre_build_size(each->rw.to, count));
}

static bool ballots(const vyre_stmt_node *n) {
    return vyre_subgroup_operands((vyre_subgroup_op)n->sub) == VYRE_OPERANDS_LOGIC;
}

static bool shuffles(const vyre_stmt_node *n) {
    return vyre_subgroup_asks((vyre_subgroup_op)n->sub);
}

/* The type of what is exchanged: a ballot is made of words. */
static vyre_type type_of(const vyre_program_view *p, const vyre_stmt_node *n) {
    return ballots(n) ? VYRE_U32 : (vyre_type)p->exprs[n->arg[0]].type;
}

/* Whether each lane reads one of the values, rather than all the same result. */
static bool reads_values(const vyre_stmt_node *n) {
    return shuffles(n) || n->sub == VYRE_SUBGROUP_SCAN_ADD;
}

vyre_expr vyre_lane_number(vyre_each *each) {
    const vyre_program_view *p = each->rw.p;
    vyre_builder *b = each->rw.to;
    vyre_expr self = vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, 0);
    uint32_t below = p->workgroup[0];
    for (uint32_t axis = 1; axis < 3; axis++) {
        if (p->workgroup[axis] > 1) {
            vyre_expr far =
                vyre_build_op(b, VYRE_EXPR_MUL, vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, axis),
                              vyre_build_u32(b, below), VYRE_NONE);
            self = vyre_build_op(b, VYRE_EXPR_ADD, self, far, VYRE_NONE);
        }
        below *= p->workgroup[axis];
    }
    return vyre_build_var(b, vyre_build_let(b, vyre_each_name(each, "_self"), self));
}

void vyre_subgroup_begin(vyre_each *each, bool some_absent, vyre_subgroup_memory *memory) {
    const vyre_program_view *p = each->rw.p;
    bool reduces = false;
    *memory = (vyre_subgroup_memory){.present = VYRE_NONE};
    memory->lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    for (uint32_t i = 0; i < VYRE_TYPE_COUNT; i++) {
        memory->values[i] = memory->results[i] = VYRE_NONE;
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op != VYRE_STMT_SUBGROUP) {
            continue;
        }
        vyre_type type = type_of(p, n);
        if (memory->values[type] == VYRE_NONE) {
            memory->values[type] = declare(each, "_values", type, memory->lanes);
        }
        if (!reads_values(n) && memory->results[type] == VYRE_NONE) {
            memory->results[type] =
                declare(each, "_results", type, (memory->lanes + SIZE - 1) / SIZE);
        }
        reduces |= !shuffles(n) && !ballots(n);
    }
    if (reduces && some_absent) {
        memory->present = declare(each, "_present", VYRE_U32, memory->lanes);
    }
    memory->self = vyre_lane_number(each);
}

vyre_expr vyre_subgroup_id(vyre_each *each, const vyre_subgroup_memory *memory, vyre_expr expr) {
    const vyre_expr_node *e = &each->rw.p->exprs[expr];
    vyre_builder *b = each->rw.to;
    if (e->op != VYRE_EXPR_BUILTIN) {
        return VYRE_NONE;
    }
    return e->sub == VYRE_BUILTIN_SUBGROUP_SIZE ? vyre_build_u32(b, SIZE)
           : e->sub == VYRE_BUILTIN_SUBGROUP_LOCAL_ID
               ? vyre_build_op(b, VYRE_EXPR_REM, memory->self, vyre_build_u32(b, SIZE), VYRE_NONE)
               : VYRE_NONE;
}

/* Operations */

static vyre_expr_op operator_of(uint8_t sub) {
    static const vyre_expr_op operators[VYRE_SUBGROUP_COUNT] = {
        [VYRE_SUBGROUP_ADD] = VYRE_EXPR_ADD,     [VYRE_SUBGROUP_MUL] = VYRE_EXPR_MUL,
        [VYRE_SUBGROUP_MIN] = VYRE_EXPR_MIN,     [VYRE_SUBGROUP_MAX] = VYRE_EXPR_MAX,
        [VYRE_SUBGROUP_AND] = VYRE_EXPR_BIT_AND, [VYRE_SUBGROUP_OR] = VYRE_EXPR_BIT_OR,
        [VYRE_SUBGROUP_XOR] = VYRE_EXPR_BIT_XOR, [VYRE_SUBGROUP_SCAN_ADD] = VYRE_EXPR_ADD,
    };
    return operators[sub];
}

static void barrier(const maker *m) {
    vyre_build_barrier(m->b, VYRE_SEQ_CST);
}

/* values[at] = values[at] op values[from], in this order or the other, of lanes that are present.
 */
static void combine(const maker *m, vyre_decl values, vyre_expr_op which, vyre_expr at,
                    vyre_expr from, bool from_first) {
    vyre_builder *b = m->b;
    vyre_decl present = m->memory->present;
    vyre_expr other = vyre_build_load(b, values, from), own = vyre_build_load(b, values, at);
    vyre_expr both = from_first ? op(m, which, other, own) : op(m, which, own, other);
    if (present == VYRE_NONE) {
        vyre_build_if(b, op(m, VYRE_EXPR_LT, from_first ? at : from, u32(m, m->memory->lanes)));
        vyre_build_store(b, values, at, both);
        vyre_build_end(b);
        return;
    }
    vyre_build_if(b, op(m, VYRE_EXPR_NE, vyre_build_load(b, present, from), u32(m, 0)));
    vyre_expr here = op(m, VYRE_EXPR_NE, vyre_build_load(b, present, at), u32(m, 0));
    vyre_build_store(b, values, at, choose(m, here, both, other));
    vyre_build_store(b, present, at, u32(m, 1));
    vyre_build_end(b);
}

/* By the first lane of the subgroup. */
static void reduce(const maker *m, vyre_decl values, vyre_expr_op which) {
    vyre_builder *b = m->b;
    vyre_var stride = let(m, "_stride", u32(m, SIZE / 2));
    vyre_expr s = vyre_build_var(b, stride);
    vyre_build_while(b, op(m, VYRE_EXPR_NE, s, u32(m, 0)));
    vyre_expr i = vyre_build_var(
        b, vyre_build_for(b, vyre_each_name(m->each, "_i"), u32(m, 0), s, VYRE_NONE));
    vyre_expr at = vyre_build_var(b, let(m, "_at", op(m, VYRE_EXPR_ADD, m->memory->self, i)));
    combine(m, values, which, at, op(m, VYRE_EXPR_ADD, at, s), false);
    vyre_build_end(b);
    vyre_build_assign(b, stride, op(m, VYRE_EXPR_SHR, s, u32(m, 1)));
    vyre_build_end(b);
}

/* By the first lane: the inclusive scan. */
static void scan(const maker *m, vyre_decl values, vyre_expr_op which) {
    vyre_builder *b = m->b;
    vyre_var step = let(m, "_step", u32(m, 1));
    vyre_expr d = vyre_build_var(b, step);
    vyre_build_while(b, op(m, VYRE_EXPR_LT, d, u32(m, SIZE)));
    vyre_expr i = vyre_build_var(
        b, vyre_build_for(b, vyre_each_name(m->each, "_i"), d, u32(m, SIZE), VYRE_NONE));
    vyre_expr above = op(m, VYRE_EXPR_SUB, op(m, VYRE_EXPR_ADD, u32(m, SIZE - 1), d), i);
    vyre_expr at = vyre_build_var(b, let(m, "_at", op(m, VYRE_EXPR_ADD, m->memory->self, above)));
    combine(m, values, which, at, op(m, VYRE_EXPR_SUB, at, d), true);
    vyre_build_end(b);
    vyre_build_assign(b, step, op(m, VYRE_EXPR_SHL, d, u32(m, 1)));
    vyre_build_end(b);
}

/* By the first lane: a bit for each lane whose word is not 0. */
static void collect(const maker *m, vyre_decl values) {
    vyre_builder *b = m->b;
    vyre_var mask = let(m, "_mask", u32(m, 0));
    vyre_expr i = vyre_build_var(
        b, vyre_build_for(b, vyre_each_name(m->each, "_i"), u32(m, 0), u32(m, SIZE), VYRE_NONE));
    vyre_expr word = vyre_build_load(b, values, op(m, VYRE_EXPR_ADD, m->memory->self, i));
    vyre_build_assign(
        b, mask, op(m, VYRE_EXPR_BIT_OR, vyre_build_var(b, mask), op(m, VYRE_EXPR_SHL, word, i)));
    vyre_build_end(b);
    vyre_build_store(b, values, m->memory->self, vyre_build_var(b, mask));
}

static vyre_expr both(const maker *m, vyre_expr on, vyre_expr condition) {
    return on == VYRE_NONE ? condition : op(m, VYRE_EXPR_AND, on, condition);
}

/* What this lane contributes; an absent one nothing where that can be said by a value. */
static vyre_expr contribution(const maker *m, const vyre_stmt_node *n, vyre_expr value,
                              vyre_expr on) {
    vyre_type type = vyre_builder_expr_type(m->b, value);
    if (ballots(n)) {
        const bool all = n->sub == VYRE_SUBGROUP_ALL; /* nobody says no */
        value = all ? vyre_build_op(m->b, VYRE_EXPR_NOT, value, VYRE_NONE, VYRE_NONE) : value;
        return choose(m, both(m, on, value), u32(m, 1), u32(m, 0));
    }
    if (shuffles(n) && on != VYRE_NONE) {
        return choose(m, on, value, vyre_build_literal(m->b, type, 0));
    }
    return value;
}

/* The lane of the subgroup that this one asks for; SIZE or more: none. */
static vyre_expr asked(const maker *m, vyre_subgroup_op which, vyre_expr n) {
    if (which == VYRE_SUBGROUP_SHUFFLE) {
        return n;
    }
    vyre_expr id = op(m, VYRE_EXPR_REM, m->memory->self, u32(m, SIZE));
    if (which == VYRE_SUBGROUP_SHUFFLE_XOR) {
        return op(m, VYRE_EXPR_BIT_XOR, id, n);
    }
    vyre_expr lane =
        op(m, which == VYRE_SUBGROUP_SHUFFLE_UP ? VYRE_EXPR_SUB : VYRE_EXPR_ADD, id, n);
    return choose(m, op(m, VYRE_EXPR_LT, n, u32(m, SIZE)), lane, u32(m, SIZE));
}

/* What stands at the place in `values`, or nothing: an index that is not there. */
static vyre_expr value_of(const maker *m, vyre_decl values, vyre_subgroup_op which, vyre_expr n) {
    vyre_builder *b = m->b;
    vyre_expr nowhere = u32(m, UINT32_MAX);
    vyre_expr subgroup = op(m, VYRE_EXPR_DIV, m->memory->self, u32(m, SIZE));
    vyre_expr first = op(m, VYRE_EXPR_MUL, subgroup, u32(m, SIZE));
    if (which == VYRE_SUBGROUP_SCAN_ADD) {
        vyre_expr id = op(m, VYRE_EXPR_REM, m->memory->self, u32(m, SIZE));
        vyre_expr before = op(m, VYRE_EXPR_SUB, m->memory->self, u32(m, 1));
        vyre_expr at = choose(m, op(m, VYRE_EXPR_NE, id, u32(m, 0)), before, nowhere);
        vyre_expr value = vyre_build_load(b, values, at);
        return m->memory->present == VYRE_NONE
                   ? value
                   : choose(
                         m,
                         op(m, VYRE_EXPR_NE, vyre_build_load(b, m->memory->present, at), u32(m, 0)),
                         value, vyre_build_literal(b, vyre_builder_expr_type(b, value), 0));
    }
    vyre_expr lane = asked(m, which, n);
    if (!vyre_builder_is_leaf(b, lane)) {
        lane = vyre_build_var(b, let(m, "_from", lane));
    }
    vyre_expr there = m->memory->lanes <= SIZE ? lane : op(m, VYRE_EXPR_ADD, first, lane);
    return vyre_build_load(b, values,
                           choose(m, op(m, VYRE_EXPR_LT, lane, u32(m, SIZE)), there, nowhere));
}

/* By the first lane: what all of the subgroup get. */
static void common(const maker *m, const vyre_stmt_node *n, vyre_type type, vyre_expr to) {
    const vyre_decl values = m->memory->values[type];
    if (ballots(n)) {
        collect(m, values);
    } else {
        reduce(m, values, operator_of(n->sub));
    }
    vyre_build_store(m->b, m->memory->results[type], to,
                     vyre_build_load(m->b, values, m->memory->self));
}

/* What this lane gets. */
static vyre_expr result_of(const maker *m, const vyre_stmt_node *n, vyre_type type,
                           vyre_expr lane) {
    const vyre_decl values = m->memory->values[type];
    vyre_expr self = m->memory->self, subgroup = op(m, VYRE_EXPR_DIV, self, u32(m, SIZE));
    vyre_expr to = m->memory->lanes <= SIZE ? u32(m, 0) : subgroup;
    if (!shuffles(n)) {
        vyre_build_if(m->b,
                      op(m, VYRE_EXPR_EQ, op(m, VYRE_EXPR_REM, self, u32(m, SIZE)), u32(m, 0)));
        if (n->sub == VYRE_SUBGROUP_SCAN_ADD) {
            scan(m, values, operator_of(n->sub));
        } else {
            common(m, n, type, to);
        }
        vyre_build_end(m->b);
        barrier(m);
    }
    if (reads_values(n)) {
        return value_of(m, values, (vyre_subgroup_op)n->sub, lane);
    }
    vyre_expr result = vyre_build_load(m->b, m->memory->results[type], to);
    return n->sub == VYRE_SUBGROUP_ANY   ? op(m, VYRE_EXPR_NE, result, u32(m, 0))
           : n->sub == VYRE_SUBGROUP_ALL ? op(m, VYRE_EXPR_EQ, result, u32(m, 0))
                                         : result;
}

void vyre_subgroup_replace(vyre_each *each, const vyre_subgroup_memory *memory, vyre_stmt stmt,
                           vyre_expr on) {
    vyre_rewriter *rw = &each->rw;
    maker m = {each, rw->to, memory};
    const vyre_stmt_node *n = &rw->p->stmts[stmt];
    vyre_type type = type_of(rw->p, n);
    const char *name =
        n->var == VYRE_NONE ? vyre_each_name(each, "_result") : rw->p->vars[n->var].name;
    vyre_expr value = vyre_rewrite_expr(rw, n->arg[0]);
    vyre_expr lane = shuffles(n) ? vyre_rewrite_expr(rw, n->arg[1]) : VYRE_NONE;
    vyre_builder_at(m.b, vyre_program_stmt_place(rw->source, stmt));
    vyre_build_store(m.b, memory->values[type], memory->self, contribution(&m, n, value, on));
    if (!shuffles(n) && !ballots(n) && memory->present != VYRE_NONE) {
        vyre_expr here = on == VYRE_NONE ? u32(&m, 1) : choose(&m, on, u32(&m, 1), u32(&m, 0));
        vyre_build_store(m.b, memory->present, memory->self, here);
    }
    barrier(&m);
    vyre_var bound = vyre_build_let(m.b, name, result_of(&m, n, type, lane));
    if (n->var != VYRE_NONE) {
        rw->vars[n->var] = bound;
    }
    if (reads_values(n)) {
        barrier(&m);
    }
}
