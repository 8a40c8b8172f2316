/* Reductions and scans over a group of n lanes, in the order of the language:
 *
 *     values[self] = v; barrier;
 *     if (self < n - s) { values[self] = values[self] op values[self + s]; } barrier;   s = 16, ...
 *     if (self == 0) { results[0] = values[0] op values[1]; } barrier;
 *     let r = results[0];
 *
 * The next operation writes values, which nobody reads any more, and results behind one more
 * barrier. A scan goes to and fro between two arrays, a step and a barrier for each power of two;
 * if its last values are where the next operation writes first, another barrier follows.
 *
 * A lane that does not take part gives what changes nothing: 0, or all bits; -0.0 to sums of
 * floats, for x + -0.0 is x whatever x is. Minima and maxima of floats (because of NaN) and scans
 * of floats (a lane with nobody before it gets +0, but one behind -0.0 gets that) keep account of
 * who is present instead. A group of one lane needs no memory, but the barrier: that nobody writes
 * what is loaded before the operation may be known by it alone.
 *
 * Cost: 1 + log2(n) barriers, n - 1 operations in as many steps.
 *
 * Where lanes may end before a barrier, and have ended, they do not come at all. Then the first of
 * the living to come does the work of all, in the same order, with account of who is present:
 *
 *     values[self] = v; present[self] = 1; let turn = atomic_add(leader[0], 1); barrier;
 *     if (turn == 0) { ...; results[0] = values[0]; present[...] = 0; leader[0] = 0; } barrier;
 *     let r = results[0];
 *
 * Of a scan it leaves to each lane what it gets, in its own element. Cost: two barriers, and all
 * operations by one lane. */
#include "lower/group.h"

#include "ir/builder.h"
#include "lower/subgroup.h"

typedef struct maker {
    vyre_each *each;
    vyre_builder *b;
    vyre_group_memory *memory;
    vyre_type type;
    bool counts; /* who is present */
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

static vyre_expr let(const maker *m, const char *name, vyre_expr value) {
    return vyre_build_var(m->b, vyre_build_let(m->b, vyre_each_name(m->each, name), value));
}

static void barrier(const maker *m) {
    vyre_build_barrier(m->b, VYRE_SEQ_CST);
}

/* Declarations */

static bool scans(uint8_t sub) {
    return sub == VYRE_REDUCE_SCAN_ADD || sub == VYRE_REDUCE_SCAN_TOTAL;
}

static bool counts_present(uint8_t sub, vyre_type type) {
    return vyre_type_is_float(type) && sub != VYRE_REDUCE_ADD && sub != VYRE_REDUCE_BROADCAST;
}

static void declare(vyre_each *each, vyre_decl *decl, const char *name, vyre_type type,
                    uint32_t count) {
    if (*decl == VYRE_NONE) {
        *decl = vyre_build_memory(each->rw.to, VYRE_WORKGROUP, vyre_each_name(each, name), type,
                                  vyre_build_size(each->rw.to, count));
    }
}

void vyre_group_begin(vyre_each *each, bool led, bool some_absent, vyre_group_memory *memory) {
    const vyre_program_view *p = each->rw.p;
    bool some = false;
    *memory = (vyre_group_memory){
        .present = VYRE_NONE, .others_present = VYRE_NONE, .leader = VYRE_NONE, .done = VYRE_NONE};
    memory->lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    for (uint32_t i = 0; i < VYRE_TYPE_COUNT; i++) {
        memory->values[i] = memory->others[i] = memory->results[i] = VYRE_NONE;
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count && memory->lanes > 1; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op != VYRE_STMT_GROUP || vyre_group_votes(n->sub)) {
            continue;
        }
        const vyre_type type = (vyre_type)p->exprs[n->arg[0]].type;
        some = true;
        declare(each, &memory->values[type], "_values", type, memory->lanes);
        if (scans(n->sub) && !led) {
            declare(each, &memory->others[type], "_others", type, memory->lanes);
        } else if (n->sub != VYRE_REDUCE_BROADCAST) {
            declare(each, &memory->results[type], "_result", type, 1);
        }
        if (led) {
            declare(each, &memory->present, "_present", VYRE_U32, memory->lanes);
            declare(each, &memory->leader, "_leader", VYRE_U32, 1);
        } else if (some_absent && counts_present(n->sub, type)) {
            declare(each, &memory->present, "_present", VYRE_U32, memory->lanes);
            if (scans(n->sub)) {
                declare(each, &memory->others_present, "_others_present", VYRE_U32, memory->lanes);
            }
        }
    }
    memory->self = some ? vyre_lane_number(each) : VYRE_NONE;
}

/* Operations */

static vyre_expr_op operator_of(uint8_t sub) {
    static const vyre_expr_op operators[VYRE_REDUCE_COUNT] = {
        [VYRE_REDUCE_ADD] = VYRE_EXPR_ADD,      [VYRE_REDUCE_MIN] = VYRE_EXPR_MIN,
        [VYRE_REDUCE_MAX] = VYRE_EXPR_MAX,      [VYRE_REDUCE_AND] = VYRE_EXPR_BIT_AND,
        [VYRE_REDUCE_OR] = VYRE_EXPR_BIT_OR,    [VYRE_REDUCE_XOR] = VYRE_EXPR_BIT_XOR,
        [VYRE_REDUCE_SCAN_ADD] = VYRE_EXPR_ADD, [VYRE_REDUCE_SCAN_TOTAL] = VYRE_EXPR_ADD,
    };
    return operators[sub];
}

/* What changes nothing. */
static uint64_t neutral(uint8_t sub, vyre_type type) {
    const uint64_t sign = UINT64_C(1) << (8 * vyre_type_size(type) - 1), ones = sign | (sign - 1);
    const bool is_signed = vyre_type_is_signed(type);
    switch (sub) {
    case VYRE_REDUCE_ADD: return vyre_type_is_float(type) ? sign : 0;
    case VYRE_REDUCE_AND: return ones;
    case VYRE_REDUCE_MIN: return is_signed ? sign - 1 : ones;
    case VYRE_REDUCE_MAX: return is_signed ? sign : 0;
    default: return 0;
    }
}

static vyre_expr contribution(const maker *m, const vyre_stmt_node *n, vyre_expr value,
                              vyre_expr on) {
    const uint64_t absent = m->counts ? 0 : neutral(n->sub, m->type);
    return on == VYRE_NONE ? value
                           : choose(m, on, value, vyre_build_literal(m->b, m->type, absent));
}

static vyre_expr is_there(const maker *m, vyre_decl present, vyre_expr at) {
    return op(m, VYRE_EXPR_NE, vyre_build_load(m->b, present, at), u32(m, 0));
}

/* x op y, of lanes whose presence is known by `here` and `there`; that of the result, in order. */
static vyre_expr combined(const maker *m, vyre_expr_op which, vyre_expr x, vyre_expr y,
                          vyre_expr x_there, vyre_expr y_there) {
    vyre_expr both = op(m, which, x, y);
    return m->counts ? choose(m, x_there, choose(m, y_there, both, x), y) : both;
}

/* The tree; gives the result. */
static vyre_expr reduce(const maker *m, uint8_t sub) {
    const vyre_group_memory *memory = m->memory;
    const vyre_decl values = memory->values[m->type], result = memory->results[m->type];
    uint32_t count = memory->lanes, size = 1;
    while (size * 2 < count) {
        size *= 2;
    }
    for (; size > 0; count = size, size /= 2) {
        const vyre_decl to = size == 1 ? result : values;
        vyre_build_if(m->b, op(m, VYRE_EXPR_LT, memory->self, u32(m, count - size)));
        vyre_expr from = let(m, "_from", op(m, VYRE_EXPR_ADD, memory->self, u32(m, size)));
        vyre_expr x_there = VYRE_NONE, y_there = VYRE_NONE;
        if (m->counts) {
            x_there = let(m, "_here", is_there(m, memory->present, memory->self));
            y_there = let(m, "_there", is_there(m, memory->present, from));
        }
        vyre_build_store(m->b, to, memory->self,
                         combined(m, operator_of(sub), vyre_build_load(m->b, values, memory->self),
                                  vyre_build_load(m->b, values, from), x_there, y_there));
        if (m->counts && size > 1) {
            vyre_build_store(
                m->b, memory->present, memory->self,
                choose(m, op(m, VYRE_EXPR_OR, x_there, y_there), u32(m, 1), u32(m, 0)));
        }
        vyre_build_end(m->b);
        barrier(m);
    }
    return vyre_build_load(m->b, result, u32(m, 0));
}

/* One step of a scan, from the first array to the second. */
static void scan_step(const maker *m, const vyre_decl values[2], const vyre_decl present[2],
                      uint32_t distance) {
    vyre_builder *b = m->b;
    vyre_expr self = m->memory->self;
    vyre_expr mine = let(m, "_mine", vyre_build_load(b, values[0], self));
    vyre_expr here = m->counts ? let(m, "_here", is_there(m, present[0], self)) : VYRE_NONE;
    vyre_build_if(b, op(m, VYRE_EXPR_GE, self, u32(m, distance)));
    vyre_expr from = let(m, "_from", op(m, VYRE_EXPR_SUB, self, u32(m, distance)));
    vyre_expr there = m->counts ? let(m, "_there", is_there(m, present[0], from)) : VYRE_NONE;
    vyre_build_store(
        b, values[1], self,
        combined(m, VYRE_EXPR_ADD, vyre_build_load(b, values[0], from), mine, there, here));
    if (m->counts) {
        vyre_build_store(b, present[1], self,
                         choose(m, op(m, VYRE_EXPR_OR, here, there), u32(m, 1), u32(m, 0)));
    }
    vyre_build_else(b);
    vyre_build_store(b, values[1], self, mine);
    if (m->counts) {
        vyre_build_store(b, present[1], self, choose(m, here, u32(m, 1), u32(m, 0)));
    }
    vyre_build_end(b);
    barrier(m);
}

/* The array that holds the inclusive scan then. Absent positions are 0. */
static vyre_decl scan(const maker *m) {
    const vyre_group_memory *memory = m->memory;
    vyre_decl values[2] = {memory->values[m->type], memory->others[m->type]};
    vyre_decl present[2] = {memory->present, memory->others_present};
    for (uint32_t distance = 1; distance < memory->lanes; distance *= 2) {
        const vyre_decl value = values[0], there = present[0];
        scan_step(m, values, present, distance);
        values[0] = values[1];
        values[1] = value;
        present[0] = present[1];
        present[1] = there;
    }
    return values[0];
}

void vyre_group_bind(vyre_each *each, vyre_stmt stmt, vyre_expr value) {
    const vyre_stmt_node *n = &each->rw.p->stmts[stmt];
    if (n->var != VYRE_NONE) {
        each->rw.vars[n->var] = vyre_build_let(each->rw.to, each->rw.p->vars[n->var].name, value);
    }
}

/* Whether the next statement wants the total of what this one scans. */
static bool is_total_of(const vyre_program_view *p, vyre_stmt scan) {
    const vyre_stmt_node *n = &p->stmts[scan], *next = n + 1;
    if (scan + 1 == p->stmt_count || n->sub != VYRE_REDUCE_SCAN_ADD ||
        next->op != VYRE_STMT_GROUP || next->sub != VYRE_REDUCE_SCAN_TOTAL) {
        return false;
    }
    const vyre_expr_node *x = &p->exprs[n->arg[0]], *y = &p->exprs[next->arg[0]];
    return x->op == VYRE_EXPR_VAR && y->op == VYRE_EXPR_VAR && x->ref == y->ref;
}

/* Of a group of one lane. */
static vyre_expr alone(const maker *m, const vyre_stmt_node *n, vyre_expr value, vyre_expr lane) {
    vyre_expr zero = vyre_build_literal(m->b, m->type, 0);
    return n->sub == VYRE_REDUCE_SCAN_ADD ? zero
           : n->sub == VYRE_REDUCE_BROADCAST
               ? choose(m, op(m, VYRE_EXPR_EQ, lane, u32(m, 0)), value, zero)
               : value;
}

/* ---- by one of the living ---- */

/* values[to] = x op y of those that are there, one of which is `to` and the other `from`. */
static void combine_two(const maker *m, vyre_expr_op which, vyre_expr to, vyre_expr x, vyre_expr y,
                        vyre_expr from) {
    vyre_builder *b = m->b;
    const vyre_decl values = m->memory->values[m->type], present = m->memory->present;
    vyre_build_if(b, is_there(m, present, from));
    vyre_build_if(b, is_there(m, present, to));
    vyre_build_store(b, values, to,
                     op(m, which, vyre_build_load(b, values, x), vyre_build_load(b, values, y)));
    vyre_build_else(b);
    vyre_build_store(b, values, to, vyre_build_load(b, values, from));
    vyre_build_store(b, present, to, u32(m, 1));
    vyre_build_end(b);
    vyre_build_end(b);
}

static vyre_expr count_to(const maker *m, const char *name, uint32_t to) {
    return vyre_build_var(m->b, vyre_build_for(m->b, vyre_each_name(m->each, name), u32(m, 0),
                                               u32(m, to), VYRE_NONE));
}

static void lead_tree(const maker *m, uint8_t sub) {
    uint32_t count = m->memory->lanes, size = 1;
    while (size * 2 < count) {
        size *= 2;
    }
    for (; size > 0; count = size, size /= 2) {
        vyre_expr i = count_to(m, "_i", count - size);
        vyre_expr from = let(m, "_from", op(m, VYRE_EXPR_ADD, i, u32(m, size)));
        combine_two(m, operator_of(sub), i, i, from, from);
        vyre_build_end(m->b);
    }
}

/* From the last to the first, so that each step sees the values before it. */
static void lead_scan(const maker *m, bool total_only) {
    vyre_builder *b = m->b;
    const uint32_t lanes = m->memory->lanes;
    const vyre_decl values = m->memory->values[m->type], present = m->memory->present;
    for (uint32_t distance = 1; distance < lanes; distance *= 2) {
        vyre_expr k = count_to(m, "_k", lanes - distance);
        vyre_expr at = let(m, "_at", op(m, VYRE_EXPR_SUB, u32(m, lanes - 1), k));
        vyre_expr from = let(m, "_from", op(m, VYRE_EXPR_SUB, at, u32(m, distance)));
        combine_two(m, VYRE_EXPR_ADD, at, from, at, from);
        vyre_build_end(b);
    }
    vyre_build_store(b, m->memory->results[m->type], u32(m, 0),
                     vyre_build_load(b, values, u32(m, lanes - 1)));
    if (total_only) {
        return;
    }
    vyre_expr zero = vyre_build_literal(b, m->type, 0);
    vyre_expr k = count_to(m, "_k", lanes - 1);
    vyre_expr at = let(m, "_at", op(m, VYRE_EXPR_SUB, u32(m, lanes - 1), k));
    vyre_expr from = let(m, "_from", op(m, VYRE_EXPR_SUB, at, u32(m, 1)));
    vyre_build_store(b, values, at,
                     choose(m, is_there(m, present, from), vyre_build_load(b, values, from), zero));
    vyre_build_end(b);
    vyre_build_store(b, values, u32(m, 0), zero);
}

/* Behind the values of the living lanes. */
static void replace_led(const maker *m, vyre_stmt stmt, vyre_expr lane) {
    vyre_builder *b = m->b;
    vyre_group_memory *memory = m->memory;
    const vyre_stmt_node *n = &m->each->rw.p->stmts[stmt];
    vyre_expr first = u32(m, 0);
    if (n->sub == VYRE_REDUCE_BROADCAST) {
        barrier(m);
        vyre_expr value = vyre_build_load(b, memory->values[m->type], lane);
        vyre_group_bind(m->each, stmt,
                        choose(m, is_there(m, memory->present, lane), value,
                               vyre_build_literal(b, m->type, 0)));
        barrier(m);
        vyre_build_store(b, memory->present, memory->self, first);
        return;
    }
    vyre_expr turn = vyre_build_var(b, vyre_build_atomic(b, vyre_each_name(m->each, "_turn"),
                                                         VYRE_ATOMIC_ADD, memory->leader, first,
                                                         VYRE_NONE, u32(m, 1), VYRE_SEQ_CST));
    barrier(m);
    vyre_build_if(b, op(m, VYRE_EXPR_EQ, turn, first));
    if (scans(n->sub)) {
        lead_scan(m, n->sub == VYRE_REDUCE_SCAN_TOTAL);
    } else {
        lead_tree(m, n->sub);
        vyre_build_store(b, memory->results[m->type], first,
                         vyre_build_load(b, memory->values[m->type], first));
    }
    vyre_expr i = count_to(m, "_i", memory->lanes);
    vyre_build_store(b, memory->present, i, first);
    vyre_build_end(b);
    vyre_build_store(b, memory->leader, first, first);
    vyre_build_end(b);
    barrier(m);
    vyre_expr result = vyre_build_load(b, memory->results[m->type], first);
    if (n->sub != VYRE_REDUCE_SCAN_ADD) {
        vyre_group_bind(m->each, stmt, result);
        return;
    }
    vyre_group_bind(m->each, stmt, vyre_build_load(b, memory->values[m->type], memory->self));
    if (is_total_of(m->each->rw.p, stmt)) {
        memory->done = stmt + 1;
        vyre_group_bind(m->each, stmt + 1, result);
    }
}

void vyre_group_replace(vyre_each *each, vyre_group_memory *memory, vyre_stmt stmt, vyre_expr on) {
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[stmt];
    const vyre_type type = (vyre_type)rw->p->exprs[n->arg[0]].type;
    maker m = {.each = each, .b = rw->to, .memory = memory, .type = type};
    m.counts = memory->present != VYRE_NONE &&
               (memory->leader != VYRE_NONE || counts_present(n->sub, type));
    vyre_expr value = vyre_rewrite_expr(rw, n->arg[0]);
    vyre_expr lane = vyre_rewrite_expr(rw, n->arg[1]);
    vyre_builder_at(m.b, vyre_program_stmt_place(rw->source, stmt));
    if (memory->lanes == 1) {
        vyre_group_bind(each, stmt, alone(&m, n, value, lane));
        barrier(&m);
        return;
    }
    const vyre_decl values = memory->values[type];
    if (lane != VYRE_NONE) {
        lane = let(&m, "_lane", lane); /* it may load what others write behind the barrier */
    }
    vyre_build_store(m.b, values, memory->self, contribution(&m, n, value, on));
    if (m.counts) {
        vyre_build_store(m.b, memory->present, memory->self,
                         on == VYRE_NONE ? u32(&m, 1) : choose(&m, on, u32(&m, 1), u32(&m, 0)));
    }
    if (memory->leader != VYRE_NONE) {
        replace_led(&m, stmt, lane);
        return;
    }
    barrier(&m);
    if (n->sub == VYRE_REDUCE_BROADCAST) {
        vyre_group_bind(each, stmt, vyre_build_load(m.b, values, lane));
        barrier(&m);
    } else if (scans(n->sub)) {
        const vyre_decl last = scan(&m);
        const bool total = n->sub == VYRE_REDUCE_SCAN_TOTAL;
        vyre_expr at =
            total ? u32(&m, memory->lanes - 1) : op(&m, VYRE_EXPR_SUB, memory->self, u32(&m, 1));
        /* One below 0 is beyond the end: it loads 0. */
        vyre_group_bind(each, stmt, vyre_build_load(m.b, last, at));
        if (is_total_of(rw->p, stmt)) {
            memory->done = stmt + 1;
            vyre_group_bind(each, stmt + 1, vyre_build_load(m.b, last, u32(&m, memory->lanes - 1)));
        }
        if (last == values) {
            barrier(&m);
        }
    } else {
        vyre_group_bind(each, stmt, reduce(&m, n->sub));
    }
}
