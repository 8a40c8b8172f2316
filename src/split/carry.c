/* Carry: what each block uses and sets, and a place for everything that is alive between blocks.
 *
 * A variable that is set once, by a pure expression over things that do not change while it is
 * alive (ids, lengths, params, constants, `in` buffers, loop variables, other such variables), can
 * be computed again instead of being stored. Such a variable and its operands come from one pass
 * through their scope, so that the operands, where they are stored, still have the values they had.
 * Which to store and which to compute again is a minimum cut (cut.h), by bytes, operations and loop
 * depth. Values that are the same for the whole scope are scalars of the schedule (scalars.h):
 * lanes get them as params, and hand back those that they make. Of what is stored, values that are
 * the same for a workgroup are stored once for it, others by each lane. Two values that are never
 * alive together share a slot. */
#include "split/carry.h"

#include <string.h>

#include "analysis/shape.h"
#include "base/diag.h"
#include "ir/rewrite.h"
#include "ir/size.h"
#include "ir/touches.h"
#include "split/cut.h"
#include "split/ends.h"
#include "split/needs.h"
#include "split/overwrite.h"
#include "split/proof.h"
#include "split/slots.h"

/* Costs in operations: of storing a word at a barrier and loading it behind, of one that a group
 * stores, of a word that the schedule computes without memory, of a load from an `in` buffer, of a
 * slow operator. A block in a loop counts for several. */
enum {
    STORED_WORD = 12,
    GROUP_WORD = 8,
    KNOWN_WORD = 4,
    LOADED = 6,
    LONG = 8,
    PER_LOOP = 4,
    MOST_LOOPS = 4
};

/* While posing the problem: wanted, if all is computed again that can be. */
enum { MIGHT_WANT = 512 };

typedef struct analyst {
    vyre_carry_plan *plan;
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    const vyre_allocator *a;
    vyre_presences found;
    uint32_t *definitions; /* per entity */
    vyre_expr *definition; /* per entity: the last one seen; VYRE_NONE if it is no expression */
    const vyre_bases *bases;
    const vyre_shapes *shapes;
    vyre_scalars *scalars; /* of the plan */
    vyre_needs needs;
    vyre_overwrites overwrites;
    VYRE_VEC(vyre_stmt) open; /* constructs around the statement at hand, in its range */
    vyre_stmt at;             /* that statement, or VYRE_NONE */
} analyst;

static void use(analyst *an, uint32_t block, uint32_t entity) {
    uint32_t before = vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES);
    if (!(before & VYRE_KILLS)) {
        (void)vyre_presence_add(&an->found, entity, block, VYRE_USES);
    }
}

static void set(analyst *an, uint32_t block, uint32_t entity, bool always) {
    uint32_t kills = always ? VYRE_KILLS : 0;
    (void)vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES | VYRE_MODIFIES | kills);
}

/* The schedule sets it; no lane does. */
static void set_by_control(analyst *an, uint32_t block, uint32_t entity) {
    (void)vyre_presence_add(&an->found, entity, block, VYRE_KILLS);
}

/* The schedule computes `user` (VYRE_NONE: the condition) from the value. */
static void need(analyst *an, uint32_t block, uint32_t user, uint32_t operand) {
    uint32_t before = vyre_presence_add(&an->found, operand, block, 0);
    bool at_start = !(before & VYRE_KILLS);
    vyre_needs_add(&an->needs, user, operand, block, at_start);
}

static void need_exprs(analyst *an, uint32_t block, uint32_t user, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        if (an->p->exprs[e].op == VYRE_EXPR_VAR) {
            need(an, block, user, an->p->exprs[e].ref);
        }
    }
}

/* Memory that a launch does not leave behind. */
static bool is_local_memory(const analyst *an, vyre_decl decl) {
    uint8_t role = an->p->decls[decl].role;
    return role == VYRE_PRIVATE ||
           (role == VYRE_WORKGROUP && an->blocks->scope == VYRE_SPLIT_SCOPE_GRID);
}

static void use_memory(analyst *an, uint32_t block, vyre_decl decl) {
    uint32_t entity = vyre_entity_of_decl(an->plan, decl);
    if (vyre_overwrites_is_new(&an->overwrites, decl, an->at)) {
        (void)vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES);
    } else {
        use(an, block, entity);
    }
}

static void use_exprs(analyst *an, uint32_t block, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *n = &an->p->exprs[e];
        if (n->op == VYRE_EXPR_VAR) {
            use(an, block, n->ref);
        } else if (n->op == VYRE_EXPR_LOAD && is_local_memory(an, n->ref)) {
            use_memory(an, block, n->ref);
        }
    }
}

static void define(analyst *an, uint32_t entity, vyre_expr value) {
    an->definitions[entity]++;
    an->definition[entity] = value;
}

static void touch_memory(analyst *an, uint32_t block, vyre_decl decl, bool reads, bool writes) {
    if (decl == VYRE_NONE || !is_local_memory(an, decl)) {
        return;
    }
    if (reads) {
        use_memory(an, block, decl);
    }
    if (writes) {
        set(an, block, vyre_entity_of_decl(an->plan, decl), false);
    }
}

static void scan_stmt(analyst *an, uint32_t block, vyre_stmt s, uint32_t depth) {
    const vyre_stmt_node *n = &an->p->stmts[s];
    uint32_t bits = vyre_scalars_bits(an->scalars, VYRE_ITEM_RANGE, s);
    if (bits & VYRE_BY_CONTROL) {
        need_exprs(an, block, n->var, n->first_expr, n->end_expr);
    }
    if (n->var != VYRE_NONE) {
        bool is_value = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN;
        define(an, n->var, is_value ? n->arg[0] : VYRE_NONE);
    }
    if (bits & VYRE_NOT_BY_LANES) {
        set_by_control(an, block, n->var);
        return;
    }
    use_exprs(an, block, n->first_expr, n->end_expr);
    if (n->var != VYRE_NONE) {
        bool always = depth == 0 || n->op != VYRE_STMT_ASSIGN || bits & VYRE_BY_CONTROL;
        set(an, block, n->var, always);
    }
    if (n->op == VYRE_STMT_STORE) {
        touch_memory(an, block, n->decl, false, true);
    } else if (n->op == VYRE_STMT_ATOMIC) {
        touch_memory(an, block, n->decl, true, vyre_writes_atomically(n));
    } else if (n->op == VYRE_STMT_ASYNC_LOAD || n->op == VYRE_STMT_ASYNC_STORE) {
        touch_memory(an, block, n->decl, true, false);
        touch_memory(an, block, n->decl2, false, true);
        vyre_type type = (vyre_type)an->p->decls[n->decl2].type;
        an->plan->entities[vyre_entity_of_decl(an->plan, n->decl2)].raw =
            type == VYRE_BOOL || type == VYRE_F16 || type == VYRE_BF16;
    }
}

/* Memory that is set as a whole is new up to the end of its statement list; in that of the block
 * itself, for good. Plain braces end no list: who comes in goes out. */
static void scan_overwrites(analyst *an, uint32_t block, vyre_stmt s) {
    uint32_t depth = an->open.count;
    while (depth > 0 && an->p->stmts[an->open.data[depth - 1]].op == VYRE_STMT_BLOCK) {
        depth--;
    }
    vyre_stmt end = depth > 0 ? an->p->stmts[an->open.data[depth - 1]].match : VYRE_NONE;
    vyre_overwrites_look(&an->overwrites, s, depth > 0 ? end : an->p->stmt_count + block);
    for (uint32_t i = 0; i < an->overwrites.found.count; i++) {
        vyre_decl d = an->overwrites.found.data[i];
        if (!is_local_memory(an, d)) {
            continue;
        }
        if (depth == 0) {
            set(an, block, vyre_entity_of_decl(an->plan, d), true);
        } else if (!vyre_overwrites_is_new(&an->overwrites, d, s)) {
            an->overwrites.memory[d].new_from = s;
            an->overwrites.memory[d].new_to = end;
        }
    }
}

static void scan_range(analyst *an, uint32_t block, const vyre_item *item) {
    for (vyre_stmt s = item->begin; s < item->end; s++) {
        vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)an->p->stmts[s].op)->scope;
        an->open.count -= scope == VYRE_SCOPE_END || scope == VYRE_SCOPE_ELSE;
        an->at = s;
        scan_stmt(an, block, s, an->open.count);
        scan_overwrites(an, block, s);
        if ((scope == VYRE_SCOPE_OPEN || scope == VYRE_SCOPE_ELSE) &&
            !vyre_vec_push(an->a, &an->open, s)) {
            an->found.failed = true;
            break;
        }
    }
    an->at = VYRE_NONE;
    an->found.failed |= an->overwrites.failed;
}

typedef struct loop_values {
    uint32_t var, to, step, more;
} loop_values;

static loop_values values_of(const analyst *an, vyre_stmt s) {
    uint32_t loop = an->blocks->loop_of[s];
    return (loop_values){.var = an->p->stmts[s].var,
                         .to = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_TO),
                         .step = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_STEP),
                         .more = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_MORE)};
}

/* What the schedule computes of a loop's values, and from what. */
static void need_loop(analyst *an, uint32_t block, const vyre_item *item, loop_values v) {
    const vyre_stmt_node *n = &an->p->stmts[item->begin];
    const uint32_t users[3] = {v.var, v.to, v.step};
    for (int i = 0; i < 3 && item->kind == VYRE_ITEM_FOR_INIT; i++) {
        if (n->arg[i] != VYRE_NONE) {
            need_exprs(an, block, users[i], vyre_expr_first(an->p, n->arg[i]), n->arg[i] + 1);
        }
    }
    for (int i = 0; i < 3 && item->kind == VYRE_ITEM_FOR_INIT; i++) {
        set_by_control(an, block, users[i]); /* its own values are not those from before */
    }
    need(an, block, v.more, v.var);
    if (item->kind == VYRE_ITEM_FOR_STEP) {
        need(an, block, v.var, v.var);
    }
    if (!vyre_loop_is_leaf(an->p, item->begin, VYRE_LOOP_TO)) {
        need(an, block, v.more, v.to);
    }
    if (!vyre_loop_is_leaf(an->p, item->begin, VYRE_LOOP_STEP)) {
        need(an, block, v.more, v.step);
        need(an, block, v.var, v.step);
    }
}

static void scan_loop(analyst *an, uint32_t block, const vyre_item *item) {
    const vyre_stmt_node *n = &an->p->stmts[item->begin];
    uint32_t bits = vyre_scalars_bits(an->scalars, item->kind, item->begin);
    loop_values v = values_of(an, item->begin);
    bool is_init = item->kind == VYRE_ITEM_FOR_INIT, by_lanes = !(bits & VYRE_NOT_BY_LANES);
    if (by_lanes) { /* only where a loop begins */
        use_exprs(an, block, n->first_expr, n->end_expr);
    }
    if (bits & VYRE_BY_CONTROL) {
        need_loop(an, block, item, v);
    }
    if (is_init) {
        define(an, v.to, n->arg[1]);
        define(an, v.step, n->arg[2]);
    }
    define(an, v.var, VYRE_NONE);
    define(an, v.more, VYRE_NONE);
    an->definitions[v.var]++; /* never recomputed: it changes from trip to trip */
    an->definitions[v.more]++;
    const uint32_t set_here[] = {v.var, v.more, v.to, v.step};
    for (uint32_t i = 0; i < (is_init ? 4u : 2u); i++) {
        if (by_lanes) {
            set(an, block, set_here[i], true);
        } else {
            set_by_control(an, block, set_here[i]);
        }
    }
}

static void scan_condition(analyst *an, uint32_t number) {
    const vyre_block *b = &an->blocks->list.data[number];
    const vyre_stmt_node *n = &an->p->stmts[b->condition];
    if (n->op == VYRE_STMT_FOR) {
        uint32_t loop = an->blocks->loop_of[b->condition];
        need(an, number, VYRE_NONE, vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_MORE));
    } else if (an->scalars->decided[number]) {
        need_exprs(an, number, VYRE_NONE, n->first_expr, n->end_expr);
    } else {
        use_exprs(an, number, n->first_expr, n->end_expr);
    }
}

static void scan_block(analyst *an, uint32_t number) {
    const vyre_block *b = &an->blocks->list.data[number];
    an->found.failed |= !vyre_scalars_block(an->scalars, number);
    for (uint32_t i = b->first; i != VYRE_NONE; i = an->blocks->items.data[i].next) {
        const vyre_item *item = &an->blocks->items.data[i];
        if (item->kind != VYRE_ITEM_RANGE) {
            scan_loop(an, number, item);
            continue;
        }
        scan_range(an, number, item);
    }
    if (b->exit == VYRE_EXIT_BRANCH) {
        scan_condition(an, number);
    }
    for (uint32_t i = 0; i < an->scalars->made.count; i++) {
        (void)vyre_presence_add(&an->found, an->scalars->made.data[i], number, VYRE_MADE);
    }
}

static bool is_carried(const analyst *an, uint32_t e) {
    return an->found.run[e] != VYRE_NONE;
}

/* What the recipes may be made of, and what they cost. */

static bool is_steady(const analyst *an, vyre_var var) {
    return an->definitions[var] == 1 || an->p->vars[var].kind == VYRE_VAR_LOOP;
}

/* Operations of the sequence that stands for an elementary function (src/lower/elementary*.c); that
 * of f64 is about twice as long. */
static uint32_t elementary_cost(const vyre_expr_node *n) {
    static const struct {
        uint8_t op, operations;
    } costs[] = {{VYRE_EXPR_POW, 85},  {VYRE_EXPR_SIN, 73},  {VYRE_EXPR_COS, 73},
                 {VYRE_EXPR_TAN, 75},  {VYRE_EXPR_TANH, 34}, {VYRE_EXPR_SINH, 32},
                 {VYRE_EXPR_COSH, 20}, {VYRE_EXPR_ASIN, 20}, {VYRE_EXPR_ACOS, 23},
                 {VYRE_EXPR_ATAN, 21}, {VYRE_EXPR_EXP, 24},  {VYRE_EXPR_EXP2, 23}};
    uint32_t operations = 32; /* logarithms, and the like */
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        operations = costs[i].op == n->op ? costs[i].operations : operations;
    }
    return n->type == VYRE_F64 ? 2 * operations : operations;
}

/* Cost of the expression's own operations, or UINT32_MAX if it must not be computed again. */
static uint32_t recipe_cost(const analyst *an, vyre_expr root) {
    uint32_t total = 0;
    for (vyre_expr e = vyre_expr_first(an->p, root); e <= root; e++) {
        const vyre_expr_node *n = &an->p->exprs[e];
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)n->op);
        if ((n->op == VYRE_EXPR_LOAD && an->p->decls[n->ref].role != VYRE_IN) ||
            (n->op == VYRE_EXPR_VAR && !is_steady(an, n->ref))) {
            return UINT32_MAX;
        }
        if (n->op == VYRE_EXPR_LOAD) {
            total += LOADED;
        } else if (info->operands == VYRE_OPERANDS_ELEMENTARY) {
            total += elementary_cost(n);
        } else if (n->op == VYRE_EXPR_DIV || n->op == VYRE_EXPR_REM || n->op == VYRE_EXPR_SQRT) {
            total += LONG;
        } else if (info->operands != VYRE_OPERANDS_LOGIC) { /* && and || are a way, not a value */
            total += info->arity > 0;
        }
    }
    return total;
}

static bool is_step(const analyst *an, uint32_t e) {
    return e >= an->p->var_count && (e - an->p->var_count) % VYRE_LOOP_VALUES == VYRE_LOOP_STEP;
}

/* How often a block runs, roughly. */
static uint32_t weight(const analyst *an, uint32_t block) {
    uint32_t depth = an->blocks->list.data[block].depth, product = 1;
    for (uint32_t i = 0; i < depth && i < MOST_LOOPS; i++) {
        product *= PER_LOOP;
    }
    return product;
}

static uint32_t clamp_weight(uint64_t total) {
    return total == 0 ? 1 : total > UINT16_MAX ? UINT16_MAX : (uint32_t)total;
}

/* Sum of the weights of the blocks where the entity might be wanted, at least 1. */
static uint32_t weight_of_wants(const analyst *an, uint32_t e) {
    uint64_t total = 0;
    VYRE_EACH_PRESENCE(&an->found, e, p) {
        total += p->flags & MIGHT_WANT ? weight(an, p->block) : 0;
    }
    return clamp_weight(total);
}

typedef struct problem {
    vyre_cut_value *values;
    uint8_t *choice;
    VYRE_VEC(uint32_t) operands;
    uint32_t *users, *first_user; /* of each value: those that have it as an operand */
    uint32_t *might_live;         /* of each value: runs, if all is computed again that can be */
    uint64_t *weights;            /* of the blocks before each one, together */
    uint32_t count;
} problem;

/* The same of the blocks behind which a value is alive. */
static uint32_t weight_of_runs(const analyst *an, const problem *p, uint32_t head) {
    uint64_t total = 0;
    VYRE_EACH_RUN(&an->found, head, r) {
        total += p->weights[r->end] - p->weights[r->first];
    }
    return clamp_weight(total);
}

/* A value lives as long as those that are computed from it. */
static void spread_lives(analyst *an, const problem *p) {
    for (uint32_t e = p->count; e-- > 0;) {
        for (uint32_t i = p->first_user[e]; i < p->first_user[e + 1]; i++) {
            p->might_live[e] =
                vyre_runs_unite(&an->found, p->might_live[e], p->might_live[p->users[i]]);
        }
    }
}

/* Where a value has the flag and is computed again (choice NULL: can be), what that needs gets it
 * too. Operands have smaller numbers than their users, so one pass downwards does it. */
static void spread(analyst *an, const problem *p, const uint8_t *choice, uint32_t flag) {
    vyre_presences *found = &an->found;
    memset(found->owner, 0xff, found->block_count * sizeof *found->owner);
    for (uint32_t e = p->count; e-- > 0;) {
        uint32_t begin = p->first_user[e], end = p->first_user[e + 1];
        if (begin < end) {
            vyre_presences_open(found, e);
        }
        for (uint32_t i = begin; i < end && !found->failed; i++) {
            uint32_t user = p->users[i];
            uint32_t at =
                choice && choice[user] != VYRE_CUT_RECOMPUTE ? VYRE_NONE : found->head[user];
            for (; at != VYRE_NONE; at = found->list.data[at].next) {
                if (found->list.data[at].flags & flag) {
                    (void)vyre_presence_add_open(found, e, found->list.data[at].block, flag);
                }
            }
        }
    }
}

/* The operands the other way round. */
static bool find_users(const analyst *an, problem *p) {
    p->users = vyre_alloc(an->a, p->operands.count, sizeof *p->users);
    p->first_user = vyre_alloc_zeroed(an->a, (size_t)p->count + 1, sizeof *p->first_user);
    if (!p->users || !p->first_user) {
        return false;
    }
    for (uint32_t i = 0; i < p->operands.count; i++) {
        p->first_user[p->operands.data[i]]++;
    }
    for (uint32_t e = 0; e < p->count; e++) {
        p->first_user[e + 1] += p->first_user[e];
    }
    for (uint32_t e = p->count; e-- > 0;) {
        for (uint32_t i = 0; i < p->values[e].operand_count; i++) {
            p->users[--p->first_user[p->operands.data[p->values[e].first_operand + i]]] = e;
        }
    }
    return true;
}

static bool has_base(const analyst *an, uint32_t e) {
    return an->bases->of && e < an->bases->var_count && an->bases->of[e].base != VYRE_NONE;
}

/* Base and value are set together, so the one at hand always gives the other, however often they
 * are set. */
static bool take_base(analyst *an, problem *to, uint32_t e) {
    const vyre_base *from = &an->bases->of[e];
    vyre_cut_value *v = &to->values[e];
    v->first_operand = to->operands.count;
    v->operand_count = 1;
    v->recompute = (from->by_global ? 2u : 0) + (from->by_local ? 2u : 0);
    return vyre_vec_push(an->a, &to->operands, from->base);
}

static bool find_operands(analyst *an, problem *to) {
    for (uint32_t e = 0; e < to->count; e++) {
        vyre_cut_value *v = &to->values[e];
        vyre_expr definition = an->definition[e];
        if (has_base(an, e)) {
            if (!take_base(an, to, e)) {
                return false;
            }
            continue;
        }
        v->recompute = UINT32_MAX;
        if (an->definitions[e] == 1) {
            v->recompute = definition != VYRE_NONE ? recipe_cost(an, definition)
                           : is_step(an, e)        ? 0 /* an absent step is 1 */
                                                   : UINT32_MAX;
        }
        v->first_operand = to->operands.count;
        if (v->recompute < UINT16_MAX && definition != VYRE_NONE) {
            for (vyre_expr x = vyre_expr_first(an->p, definition); x <= definition; x++) {
                if (an->p->exprs[x].op == VYRE_EXPR_VAR &&
                    !vyre_vec_push(an->a, &to->operands, an->p->exprs[x].ref)) {
                    return false;
                }
            }
        }
        v->operand_count = to->operands.count - v->first_operand;
    }
    return true;
}

/* Whether the schedule computes the value's last definition without memory. */
static bool is_plain(const analyst *an, uint32_t e) {
    vyre_expr root = an->definition[e];
    if (!vyre_scalars_is_uniform(an->scalars, e) || root == VYRE_NONE) {
        return vyre_scalars_is_uniform(an->scalars, e);
    }
    for (vyre_expr x = vyre_expr_first(an->p, root); x <= root; x++) {
        if (an->p->exprs[x].op == VYRE_EXPR_LOAD) {
            return false;
        }
    }
    return true;
}

static vyre_carry_kind kind_of(const analyst *an, uint32_t e) {
    return vyre_scalars_is_uniform(an->scalars, e)     ? VYRE_CARRY_SCALAR
           : an->scalars->shape[e] == VYRE_SHAPE_GROUP ? VYRE_CARRY_GROUP
                                                       : VYRE_CARRY_LANE;
}

/* A value that would be stored only so that others can be computed from it lives as long as they
 * would have; one that is alive anyway costs what its own life costs. Computing is paid for in
 * every block that may need the result, also through others, so that chains are not computed again
 * behind each barrier. */
static bool pose(analyst *an, problem *to) {
    vyre_carry_plan *plan = an->plan;
    if (!find_operands(an, to) || !find_users(an, to)) {
        return false;
    }
    for (uint32_t i = 0; i < an->found.list.count; i++) {
        uint32_t *flags = &an->found.list.data[i].flags;
        *flags |= *flags & VYRE_USES ? MIGHT_WANT : 0;
    }
    memcpy(to->might_live, an->found.run, to->count * sizeof *to->might_live);
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        to->weights[b + 1] = to->weights[b] + weight(an, b);
    }
    if (to->count <= VYRE_CUT_MOST) { /* beyond it costs do not matter, and chains are long */
        spread_lives(an, to);
        spread(an, to, NULL, MIGHT_WANT);
    }
    for (uint32_t e = 0; e < to->count; e++) {
        vyre_cut_value *v = &to->values[e];
        uint32_t words = vyre_type_size((vyre_type)plan->entities[e].type) / 4;
        v->wanted = plan->entities[e].carried;
        v->store = (is_plain(an, e)                      ? KNOWN_WORD
                    : kind_of(an, e) == VYRE_CARRY_GROUP ? GROUP_WORD
                                                         : STORED_WORD) *
                   words * weight_of_runs(an, to, v->wanted ? an->found.run[e] : to->might_live[e]);
        v->recompute =
            v->recompute < UINT16_MAX ? v->recompute * weight_of_wants(an, e) : UINT32_MAX;
    }
    return !an->found.failed;
}

/* What the schedule must compute: what lanes take from it, and what decides. */
static void need_values(analyst *an) {
    for (uint32_t i = 0; i < an->found.list.count; i++) {
        const vyre_presence *at = &an->found.list.data[i];
        if (at->entity < an->scalars->value_count && at->flags & VYRE_WANTED &&
            vyre_scalars_is_uniform(an->scalars, at->entity) &&
            an->plan->entities[at->entity].kind != VYRE_CARRY_RECOMPUTED) {
            vyre_needs_mark(&an->needs, at->entity);
        }
    }
    for (uint32_t i = 0; i < an->needs.list.count; i++) {
        if (an->needs.list.data[i].user == VYRE_NONE) {
            vyre_needs_mark(&an->needs, an->needs.list.data[i].operand);
        }
    }
    vyre_needs_spread(&an->needs, &an->found);
    an->found.failed |= an->needs.failed;
}

/* From here on liveness is that of what is stored. */
static void choose(analyst *an, const problem *p) {
    vyre_carry_plan *plan = an->plan;
    vyre_presences *found = &an->found;
    for (uint32_t i = 0; i < found->list.count; i++) {
        uint32_t *flags = &found->list.data[i].flags;
        *flags |= *flags & VYRE_USES ? VYRE_WANTED : 0;
    }
    memcpy(plan->alive, found->run, plan->entity_count * sizeof *plan->alive);
    spread(an, p, p->choice, VYRE_WANTED);
    for (uint32_t e = 0; e < p->count; e++) {
        if (p->choice[e] == VYRE_CUT_RECOMPUTE) {
            plan->entities[e].kind = VYRE_CARRY_RECOMPUTED;
            if (has_base(an, e)) {
                plan->entities[e].from = an->bases->of[e];
            } else {
                plan->entities[e].recipe = an->definition[e];
            }
        }
    }
    need_values(an);
    for (uint32_t i = 0; i < found->list.count; i++) {
        vyre_presence *at = &found->list.data[i];
        bool stored = plan->entities[at->entity].kind != VYRE_CARRY_RECOMPUTED;
        at->flags &= ~(uint32_t)VYRE_USES;
        at->flags |=
            (at->flags & VYRE_WANTED && stored) || at->flags & VYRE_CONTROL ? VYRE_USES : 0;
    }
    vyre_presences_solve(found);
    for (uint32_t e = 0; e < plan->entity_count; e++) { /* what is stored lives no shorter now */
        plan->alive[e] = plan->entities[e].kind == VYRE_CARRY_RECOMPUTED
                             ? vyre_runs_unite(found, plan->alive[e], found->run[e])
                             : found->run[e];
    }
}

static bool choose_recipes(analyst *an) {
    problem p = {.count = an->p->var_count + an->blocks->loops.count * VYRE_LOOP_VALUES};
    p.values = vyre_alloc_zeroed(an->a, p.count, sizeof *p.values);
    p.choice = vyre_alloc_zeroed(an->a, p.count, sizeof *p.choice);
    p.might_live = vyre_alloc(an->a, p.count, sizeof *p.might_live);
    p.weights = vyre_alloc_zeroed(an->a, (size_t)an->blocks->list.count + 1, sizeof *p.weights);
    bool ok = p.values && p.choice && p.might_live && p.weights && pose(an, &p) &&
              vyre_cut(p.values, p.count, p.operands.data, an->a, p.choice) == VYRE_OK;
    if (ok) {
        choose(an, &p);
    }
    vyre_free(an->a, p.values, p.count, sizeof *p.values);
    vyre_free(an->a, p.choice, p.count, sizeof *p.choice);
    vyre_free(an->a, p.might_live, p.count, sizeof *p.might_live);
    vyre_free(an->a, p.weights, (size_t)an->blocks->list.count + 1, sizeof *p.weights);
    vyre_free(an->a, p.users, p.operands.count, sizeof *p.users);
    vyre_free(an->a, p.first_user, (size_t)p.count + 1, sizeof *p.first_user);
    vyre_vec_free(an->a, &p.operands);
    return ok && !an->found.failed;
}

/* Numbers for what the schedule computes. */
static void number_scalars(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    for (uint32_t e = 0; e < an->scalars->value_count; e++) {
        plan->entities[e].uniform = vyre_scalars_is_uniform(an->scalars, e);
        if (plan->entities[e].uniform && an->needs.needed[e]) {
            plan->entities[e].scalar = plan->scalar_count++;
        }
    }
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        const vyre_block *block = &an->blocks->list.data[b];
        bool decides =
            block->exit == VYRE_EXIT_BRANCH && an->p->stmts[block->condition].op != VYRE_STMT_FOR;
        plan->condition_scalar[b] = decides ? plan->scalar_count++ : VYRE_NONE;
    }
}

static bool place_values(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    uint32_t values = vyre_entity_of_decl(plan, 0);
    for (uint32_t e = 0; e < values; e++) {
        vyre_entity *entity = &plan->entities[e];
        if (entity->kind == VYRE_CARRY_RECOMPUTED) {
            continue;
        }
        entity->carried = is_carried(an, e);
        if (entity->carried) {
            entity->kind = (uint8_t)kind_of(an, e);
            entity->words =
                entity->kind == VYRE_CARRY_SCALAR ? 0 : vyre_type_size((vyre_type)entity->type) / 4;
        }
    }
    return vyre_slots_assign(plan, &an->found, an->a);
}

/* Arrays, either those with elements of 64 bits or the others. */
static void place_memory(analyst *an, bool pairs) {
    vyre_carry_plan *plan = an->plan;
    static const vyre_size_env nothing = {0};
    for (vyre_decl d = 0; d < an->p->decl_count; d++) {
        vyre_entity *entity = &plan->entities[vyre_entity_of_decl(plan, d)];
        const vyre_decl_node *node = &an->p->decls[d];
        entity->type = (uint8_t)vyre_type_widened((vyre_type)node->type);
        const uint32_t per = vyre_type_size((vyre_type)entity->type) / 4;
        if (!is_local_memory(an, d) || (per == 2) != pairs) {
            continue;
        }
        uint64_t count = 0;
        (void)vyre_size_evaluate(an->p, node->size, &nothing, &count, NULL);
        entity->count = (uint32_t)count; /* the validator bounds it */
        entity->carried = is_carried(an, vyre_entity_of_decl(plan, d));
        if (!entity->carried) {
            continue;
        }
        const bool by_lane = node->role == VYRE_PRIVATE;
        entity->words = entity->count * per;
        uint32_t *total = by_lane ? &plan->lane_words : &plan->group_words;
        *(by_lane ? &plan->lane_pairs : &plan->group_pairs) |= pairs;
        entity->kind = by_lane ? VYRE_CARRY_PRIVATE : VYRE_CARRY_WORKGROUP;
        entity->slot = *total;
        *total += entity->words;
    }
}

/* In a buffer, blocks of groups lie behind the slots of all lanes; pairs in them begin at even
 * words, too. */
static void align_groups(vyre_carry_plan *plan) {
    if (plan->group_pairs) {
        plan->lane_words += plan->lane_words % 2;
        plan->group_words += plan->group_words % 2;
    }
}

/* Lanes that end must stay so if anything is launched after. A trap ends the whole dispatch at the
 * next grid barrier, but until then only its lane. */
static void place_ended(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    plan->ended_slot = VYRE_NONE;
    const bool several = an->blocks->list.data[0].exit != VYRE_EXIT_END;
    bool exits = an->p->stats.stmt_kinds >> VYRE_STMT_EXIT & 1;
    const bool outlive_traps = vyre_blocks_outlive_traps(an->blocks, an->p);
    plan->lanes_end = several && (exits || outlive_traps);
    if (plan->lanes_end && !outlive_traps) {
        vyre_guards_find(&plan->guards, an->p, an->definitions, an->definition);
    }
    if (plan->lanes_end) {
        plan->ended_slot = plan->guards.count > 0 ? VYRE_NONE : plan->lane_words++;
        vyre_ends_find(plan->ends, an->blocks, an->p, &an->found);
    }
}

/* What lanes hand to the schedule */

static bool asks_for_life(const vyre_carry_plan *plan) {
    for (uint32_t b = 0; b < plan->blocks->list.count; b++) {
        if (plan->ends[b] & VYRE_ASKS_FOR_LIFE) {
            return true;
        }
    }
    return false;
}

vyre_made vyre_carry_begin_made(const vyre_carry_plan *plan, uint32_t block) {
    return (vyre_made){.word = plan->alive_words, .at = plan->first_present[block]};
}

static bool is_made(const vyre_carry_plan *plan, uint32_t block, const vyre_presence *at) {
    const vyre_block *b = &plan->blocks->list.data[block];
    const bool decides =
        b->exit == VYRE_EXIT_BRANCH && plan->p->stmts[b->condition].op == VYRE_STMT_FOR &&
        at->entity == vyre_loop_value(plan->p, plan->blocks, b->condition, VYRE_LOOP_MORE);
    return at->flags & VYRE_MADE && (at->flags & VYRE_LIVE_OUT || decides);
}

bool vyre_carry_next_made(const vyre_carry_plan *plan, uint32_t block, vyre_made *made) {
    const vyre_block *b = &plan->blocks->list.data[block];
    const uint32_t end = plan->first_present[block + 1];
    made->word += made->words;
    for (; made->at < end; made->at++) {
        const vyre_presence *at = &plan->present[made->at];
        if (is_made(plan, block, at)) {
            made->entity = at->entity;
            made->type = plan->entities[at->entity].type;
            made->words = vyre_type_size((vyre_type)made->type) / 4;
            made->word += made->word % made->words;
            made->at++;
            return true;
        }
    }
    const bool is_condition = made->at == end && b->exit == VYRE_EXIT_BRANCH &&
                              plan->p->stmts[b->condition].op != VYRE_STMT_FOR &&
                              !plan->scalars.decided[block];
    made->entity = VYRE_NONE;
    made->type = VYRE_BOOL;
    made->words = 1;
    made->at = end + 1;
    return is_condition;
}

static void place_made(vyre_carry_plan *plan) {
    plan->alive_words = asks_for_life(plan);
    plan->made_words = plan->alive_words;
    for (uint32_t b = 0; b < plan->blocks->list.count; b++) {
        vyre_made made = vyre_carry_begin_made(plan, b);
        while (vyre_carry_next_made(plan, b, &made)) {
            uint32_t end = made.word + made.words;
            plan->made_words = end > plan->made_words ? end : plan->made_words;
        }
    }
}

static uint32_t count_parts(const vyre_program_view *p) {
    uint32_t count = 0;
    const bool any = p->stats.stmt_kinds >> VYRE_STMT_PART & 1;
    for (vyre_stmt s = any ? p->entry : p->stmt_count; s < p->stmt_count; s++) {
        if (p->stmts[s].op == VYRE_STMT_PART && p->stmts[s].fn >= count) {
            count = p->stmts[s].fn + 1;
        }
    }
    return count;
}

/* Behind place_ended. */
static void place_parts(vyre_carry_plan *plan) {
    bool pairs = false;
    for (vyre_stmt s = plan->part_count > 0 ? plan->p->entry : plan->p->stmt_count;
         s < plan->p->stmt_count; s++) {
        const vyre_stmt_node *n = &plan->p->stmts[s];
        if (n->op != VYRE_STMT_PART) {
            continue;
        }
        vyre_part *part = &plan->parts[n->fn];
        part->type = plan->p->exprs[n->arg[0]].type;
        const uint32_t words = vyre_type_size((vyre_type)part->type) / 4;
        part->word = plan->part_words + plan->part_words % words;
        plan->part_words = part->word + words + plan->lanes_end;
        pairs |= words == 2;
    }
    plan->part_words += pairs ? plan->part_words % 2 : 0;
}

static bool allocate(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    const vyre_allocator *a = an->a;
    size_t entities = plan->entity_count, blocks = an->blocks->list.count;
    plan->entities = vyre_alloc_zeroed(a, entities, sizeof *plan->entities);
    plan->first_present = vyre_alloc_zeroed(a, blocks + 1, sizeof *plan->first_present);
    plan->alive = vyre_alloc(a, entities, sizeof *plan->alive);
    an->definitions = vyre_alloc_zeroed(a, entities, sizeof *an->definitions);
    an->definition = vyre_alloc_zeroed(a, entities, sizeof *an->definition);
    plan->ends = vyre_alloc_zeroed(a, blocks, sizeof *plan->ends);
    plan->condition_scalar = vyre_alloc(a, blocks, sizeof *plan->condition_scalar);
    plan->part_count = count_parts(an->p);
    plan->parts = vyre_alloc_zeroed(a, plan->part_count, sizeof *plan->parts);
    bool looks = vyre_overwrites_init(&an->overwrites, an->p, an->shapes, a);
    bool lists = vyre_presences_init(&an->found, an->blocks, plan->entity_count, a);
    bool knows =
        vyre_scalars_init(an->scalars, an->p, an->blocks, an->shapes, an->bases->only_groups, a);
    bool needs = vyre_needs_init(&an->needs, vyre_entity_of_decl(plan, 0), a);
    return lists && looks && knows && needs && plan->entities && plan->first_present &&
           plan->alive && an->definitions && an->definition && plan->ends &&
           plan->condition_scalar && plan->parts;
}

static void release(analyst *an) {
    const vyre_allocator *a = an->a;
    size_t entities = an->plan->entity_count;
    vyre_free(a, an->definitions, entities, sizeof *an->definitions);
    vyre_free(a, an->definition, entities, sizeof *an->definition);
    vyre_vec_free(a, &an->open);
    vyre_overwrites_finish(&an->overwrites);
    vyre_needs_finish(&an->needs);
    if (an->found.block_count > 0) {
        vyre_presences_finish(&an->found);
    }
}

/* A block that changes one value of groups writes all that are alive behind it, where others will
 * look for them: so it has to do with them. */
static bool find_shared(analyst *an) {
    vyre_presences *found = &an->found;
    const uint32_t values = vyre_entity_of_decl(an->plan, 0);
    memset(found->owner, 0xff, found->block_count * sizeof *found->owner);
    memset(found->waits, 0, found->block_count * sizeof *found->waits);
    uint32_t *flips = found->stack, count = 0;
    for (uint32_t e = 0; e < values; e++) {
        VYRE_EACH_PRESENCE(found, e, p) {
            found->waits[p->block] |= vyre_entity_is_shared(&an->plan->entities[e]) &&
                                      p->flags & VYRE_LIVE_OUT && p->flags & VYRE_MODIFIES;
        }
    }
    for (uint32_t b = 0; b < found->block_count; b++) {
        flips[count] = b;
        count += found->waits[b];
    }
    for (uint32_t e = 0; e < values && count > 0; e++) {
        if (!vyre_entity_is_shared(&an->plan->entities[e])) {
            continue;
        }
        uint32_t at = 0;
        vyre_presences_open(found, e);
        VYRE_EACH_RUN(found, found->run[e], r) {
            for (; at < count && flips[at] < r->end; at++) {
                if (flips[at] >= r->first && found->owner[flips[at]] != e) {
                    (void)vyre_presence_add_open(found, e, flips[at], VYRE_LIVE_IN | VYRE_LIVE_OUT);
                }
            }
        }
    }
    return !found->failed;
}

static bool analyse(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    const vyre_program_view *p = an->p;
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        uint32_t hidden = e - p->var_count;
        plan->entities[e].kind = VYRE_CARRY_LANE;
        plan->entities[e].recipe = VYRE_NONE;
        plan->entities[e].from.base = VYRE_NONE;
        plan->entities[e].scalar = VYRE_NONE;
        plan->entities[e].type = e < p->var_count                              ? p->vars[e].type
                                 : hidden % VYRE_LOOP_VALUES == VYRE_LOOP_MORE ? (uint8_t)VYRE_BOOL
                                                                               : (uint8_t)VYRE_U32;
    }
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        scan_block(an, b);
    }
    vyre_presences_solve(&an->found);
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        plan->entities[e].carried = is_carried(an, e);
    }
    if (an->found.failed || !choose_recipes(an)) {
        return false;
    }
    place_memory(an, true); /* pairs of words first: from even ones on */
    if (!place_values(an)) {
        return false;
    }
    place_memory(an, false);
    place_ended(an);
    place_parts(plan);
    align_groups(plan);
    number_scalars(an);
    if (!find_shared(an)) {
        return false;
    }
    plan->runs.data = an->found.runs.data; /* the plan has them now */
    plan->runs.count = an->found.runs.count;
    plan->runs.capacity = an->found.runs.capacity;
    an->found.runs.data = NULL;
    an->found.runs.count = an->found.runs.capacity = 0;
    plan->present_count = an->found.list.count;
    plan->present = vyre_presences_by_block(&an->found, plan->first_present);
    if (plan->present) {
        place_made(plan);
    }
    return plan->present != NULL;
}

vyre_status vyre_carry_init(vyre_carry_plan *plan, const vyre_program *program,
                            const vyre_blocks *blocks, const vyre_bases *bases,
                            const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    *plan = (vyre_carry_plan){.p = p, .blocks = blocks};
    plan->entity_count = p->var_count + blocks->loops.count * VYRE_LOOP_VALUES + p->decl_count;
    analyst an = {.plan = plan,
                  .p = p,
                  .blocks = blocks,
                  .bases = bases,
                  .a = a,
                  .scalars = &plan->scalars,
                  .at = VYRE_NONE};
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init(&shaped, program, a);
    an.shapes = shaped.shapes;
    if (status == VYRE_OK && !(allocate(&an) && analyse(&an))) {
        status = VYRE_OUT_OF_MEMORY;
    }
    if (status == VYRE_OK) {
        status = vyre_prove_uniform(blocks, program, shaped.shapes, plan->scalars.scratch, diag);
    }
    release(&an);
    vyre_shaped_finish(&shaped);
    if (status != VYRE_OK) {
        vyre_carry_finish(plan, a);
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_fail_memory(diag, "splitting") : status;
}

void vyre_carry_finish(vyre_carry_plan *plan, const vyre_allocator *a) {
    if (!plan->blocks) {
        return;
    }
    vyre_free(a, plan->entities, plan->entity_count, sizeof *plan->entities);
    vyre_free(a, plan->present, plan->present_count, sizeof *plan->present);
    vyre_free(a, plan->first_present, (size_t)plan->blocks->list.count + 1,
              sizeof *plan->first_present);
    vyre_free(a, plan->alive, plan->entity_count, sizeof *plan->alive);
    vyre_vec_free(a, &plan->runs);
    vyre_free(a, plan->ends, plan->blocks->list.count, sizeof *plan->ends);
    vyre_free(a, plan->condition_scalar, plan->blocks->list.count, sizeof *plan->condition_scalar);
    vyre_free(a, plan->parts, plan->part_count, sizeof *plan->parts);
    vyre_scalars_finish(&plan->scalars);
    *plan = (vyre_carry_plan){0};
}
