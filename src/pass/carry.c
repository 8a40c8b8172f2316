/* Carry: liveness over blocks, then a place for everything that is alive.
 *
 * Liveness is the usual backward dataflow on bit sets. A variable set only on some path of a block
 * keeps its old value on the others, so it is not killed there; memory is never killed.
 *
 * A variable that is set once, by a pure expression over things that do not change while it is
 * alive (ids, lengths, params, constants, `in` buffers, loop variables, other such variables), can
 * be computed again instead of being stored. Such a variable and its operands come from one pass
 * through their scope, so that the operands, where they are stored, still have the values they had.
 * Which to store and which to compute again is a minimum cut (cut.h), by bytes, operations and loop
 * depth. Of what is stored, values that are the same for the whole grid or for a workgroup are
 * stored once for it, others by each lane. Two values that are never alive together share a slot.
 */
#include "pass/carry.h"

#include <string.h>

#include "analysis/shape.h"
#include "base/diag.h"
#include "base/mutant.h"
#include "ir/rewrite.h"
#include "ir/size.h"
#include "pass/cut.h"

/* Costs in operations: of storing a word at a barrier and loading it behind, of a load from an `in`
 * buffer, of a slow operator. A block in a loop counts for several. */
enum { STORED_WORD = 12, LOADED = 6, LONG = 8, PER_LOOP = 4, MOST_LOOPS = 4 };

typedef struct analyst {
    vyre_carry_plan *plan;
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    const vyre_allocator *a;
    uint64_t *used, *killed; /* upward exposed uses; set on every path */
    uint32_t *definitions;   /* per entity */
    vyre_expr *definition;   /* per entity: the last one seen; VYRE_NONE if it is no expression */
    uint8_t *shape;          /* per entity: vyre_shape_kind over all definitions, up to VARYING */
    const vyre_shapes *shapes;
    vyre_shape *scratch; /* shapes of one statement's expressions */
} analyst;

static void add(uint64_t *sets, uint32_t words, uint32_t row, uint32_t entity) {
    sets[(size_t)row * words + entity / 64] |= UINT64_C(1) << (entity % 64);
}

static void use(analyst *an, uint32_t block, uint32_t entity) {
    uint32_t words = an->plan->set_words;
    add(an->plan->touched, words, block, entity);
    if (!vyre_set_has(an->killed, words, block, entity)) {
        add(an->used, words, block, entity);
    }
}

static void set(analyst *an, uint32_t block, uint32_t entity, bool always) {
    uint32_t words = an->plan->set_words;
    add(an->plan->touched, words, block, entity);
    add(an->plan->modified, words, block, entity);
    if (VYRE_MUTANT(carry_kill_always, always, true)) {
        add(an->killed, words, block, entity);
    }
}

static bool is_local_memory(const vyre_program_view *p, vyre_decl decl) {
    return p->decls[decl].role == VYRE_PRIVATE || p->decls[decl].role == VYRE_WORKGROUP;
}

static void use_exprs(analyst *an, uint32_t block, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *n = &an->p->exprs[e];
        if (n->op == VYRE_EXPR_VAR) {
            use(an, block, n->ref);
        } else if (n->op == VYRE_EXPR_LOAD && is_local_memory(an->p, n->ref)) {
            use(an, block, vyre_entity_of_decl(an->plan, n->ref));
        }
    }
}

static void define(analyst *an, uint32_t entity, vyre_expr value, vyre_shape_kind shape) {
    an->definitions[entity]++;
    an->definition[entity] = value;
    an->shape[entity] = shape > an->shape[entity] ? (uint8_t)shape : an->shape[entity];
}

/* Over which lanes the value that the statement gives its variable is the same. */
static vyre_shape_kind shape_of_value(analyst *an, vyre_stmt s) {
    const vyre_stmt_node *n = &an->p->stmts[s];
    uint32_t step = s - an->p->entry;
    if (n->op != VYRE_STMT_LET && n->op != VYRE_STMT_ASSIGN) {
        return VYRE_SHAPE_VARYING;
    }
    vyre_shapes_exprs(an->shapes, step, an->scratch);
    vyre_shape value = an->scratch[n->arg[0] - n->first_expr];
    vyre_shape control = vyre_shapes_control(an->shapes, step);
    uint8_t kind = value.kind > control.kind ? value.kind : control.kind;
    return kind <= VYRE_SHAPE_GRID    ? VYRE_SHAPE_GRID
           : kind == VYRE_SHAPE_GROUP ? VYRE_SHAPE_GROUP
                                      : VYRE_SHAPE_VARYING;
}

static void touch_memory(analyst *an, uint32_t block, vyre_decl decl, bool reads, bool writes) {
    if (decl == VYRE_NONE || !is_local_memory(an->p, decl)) {
        return;
    }
    uint32_t entity = vyre_entity_of_decl(an->plan, decl);
    if (reads) {
        use(an, block, entity);
    }
    if (writes) {
        set(an, block, entity, false);
    }
}

static void scan_stmt(analyst *an, uint32_t block, vyre_stmt s, uint32_t depth) {
    const vyre_stmt_node *n = &an->p->stmts[s];
    use_exprs(an, block, n->first_expr, n->end_expr);
    if (n->var != VYRE_NONE) {
        bool is_value = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN;
        define(an, n->var, is_value ? n->arg[0] : VYRE_NONE, shape_of_value(an, s));
        set(an, block, n->var, depth == 0 || n->op != VYRE_STMT_ASSIGN);
    }
    if (n->op == VYRE_STMT_STORE) {
        touch_memory(an, block, n->decl, false, true);
    } else if (n->op == VYRE_STMT_ATOMIC) {
        touch_memory(an, block, n->decl, true, true);
    } else if (n->op == VYRE_STMT_ASYNC_LOAD || n->op == VYRE_STMT_ASYNC_STORE) {
        touch_memory(an, block, n->decl, true, false);
        touch_memory(an, block, n->decl2, false, true);
    }
}

static void scan_loop(analyst *an, uint32_t block, const vyre_item *item) {
    const vyre_stmt_node *n = &an->p->stmts[item->begin];
    uint32_t loop = an->blocks->loop_of[item->begin];
    uint32_t to = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_TO);
    uint32_t step = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_STEP);
    uint32_t more = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_MORE);
    if (item->kind == VYRE_ITEM_FOR_INIT) {
        use_exprs(an, block, n->first_expr, n->end_expr);
        define(an, to, n->arg[1], VYRE_SHAPE_GRID);
        define(an, step, n->arg[2], VYRE_SHAPE_GRID);
        set(an, block, to, true);
        set(an, block, step, true);
    } else {
        use(an, block, n->var);
        use(an, block, to);
        use(an, block, step);
    }
    define(an, n->var, VYRE_NONE, VYRE_SHAPE_GRID);
    define(an, more, VYRE_NONE, VYRE_SHAPE_GRID);
    an->definitions[n->var]++; /* never recomputed: it changes from trip to trip */
    an->definitions[more]++;
    set(an, block, n->var, true);
    set(an, block, more, true);
}

static void scan_block(analyst *an, uint32_t number) {
    const vyre_block *b = &an->blocks->list.data[number];
    for (uint32_t i = b->first; i != VYRE_NONE; i = an->blocks->items.data[i].next) {
        const vyre_item *item = &an->blocks->items.data[i];
        if (item->kind == VYRE_ITEM_BARRIER) {
            continue;
        }
        if (item->kind != VYRE_ITEM_RANGE) {
            scan_loop(an, number, item);
            continue;
        }
        uint32_t depth = 0;
        for (vyre_stmt s = item->begin; s < item->end; s++) {
            vyre_scope scope =
                (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)an->p->stmts[s].op)->scope;
            depth -= scope == VYRE_SCOPE_END;
            scan_stmt(an, number, s, depth);
            depth += scope == VYRE_SCOPE_OPEN;
        }
    }
    if (b->exit == VYRE_EXIT_BRANCH) {
        const vyre_stmt_node *n = &an->p->stmts[b->condition];
        if (n->op == VYRE_STMT_FOR) {
            uint32_t loop = an->blocks->loop_of[b->condition];
            use(an, number, vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_MORE));
        } else {
            use_exprs(an, number, n->first_expr, n->end_expr);
        }
    }
}

/* live_out = union of live_in of the successors; live_in = used + (live_out - killed). */
static void solve_liveness(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    uint32_t words = plan->set_words, count = an->blocks->list.count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = count; b-- > 0;) {
            const vyre_block *block = &an->blocks->list.data[b];
            if (block->preds == 0) {
                continue;
            }
            const uint64_t *next =
                block->exit == VYRE_EXIT_END ? NULL : plan->live_in + (size_t)block->next * words;
            const uint64_t *otherwise = block->exit == VYRE_EXIT_BRANCH
                                            ? plan->live_in + (size_t)block->otherwise * words
                                            : NULL;
            for (uint32_t w = 0; w < words; w++) {
                size_t at = (size_t)b * words + w;
                uint64_t out = (next ? next[w] : 0) | (otherwise ? otherwise[w] : 0);
                uint64_t in = an->used[at] | (out & ~an->killed[at]);
                changed |= out != plan->live_out[at] || in != plan->live_in[at];
                plan->live_out[at] = out;
                plan->live_in[at] = in;
            }
        }
    }
}

static bool is_carried(const analyst *an, uint32_t e) {
    const vyre_carry_plan *plan = an->plan;
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        if (vyre_set_has(plan->live_out, plan->set_words, b, e)) {
            return true;
        }
    }
    return false;
}

/* What the recipes may be made of, and what they cost. */

static bool is_steady(const analyst *an, vyre_var var) {
    return an->definitions[var] == 1 || an->p->vars[var].kind == VYRE_VAR_LOOP;
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
        } else if (info->operands == VYRE_OPERANDS_ELEMENTARY || n->op == VYRE_EXPR_DIV ||
                   n->op == VYRE_EXPR_REM || n->op == VYRE_EXPR_SQRT) {
            total += LONG;
        } else {
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

/* Sum of the weights of the blocks whose row has the entity, at least 1. */
static uint32_t total_weight(const analyst *an, const uint64_t *sets, uint32_t e) {
    uint64_t total = 0;
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        total += vyre_set_has(sets, an->plan->set_words, b, e) ? weight(an, b) : 0;
    }
    return total == 0 ? 1 : total > UINT16_MAX ? UINT16_MAX : (uint32_t)total;
}

typedef struct problem {
    vyre_cut_value *values;
    uint8_t *choice;
    VYRE_VEC(uint32_t) operands;
    uint32_t count;
} problem;

/* In every row: with each value that is computed again (choice NULL: that can be), what that needs.
 * Entities are visited downwards, users before operands. */
static void add_operands(analyst *an, const problem *p, const uint8_t *choice, uint64_t *sets) {
    uint32_t words = an->plan->set_words;
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        for (uint32_t e = p->count; e-- > 0;) {
            if (sets[(size_t)b * words + e / 64] == 0) {
                e -= e % 64; /* sets are sparse: a word at a time */
                continue;
            }
            if (!vyre_set_has(sets, words, b, e) || (choice && choice[e] != VYRE_CUT_RECOMPUTE)) {
                continue;
            }
            for (uint32_t i = 0; i < p->values[e].operand_count; i++) {
                add(sets, words, b, p->operands.data[p->values[e].first_operand + i]);
            }
        }
    }
}

static bool find_operands(analyst *an, problem *to) {
    for (uint32_t e = 0; e < to->count; e++) {
        vyre_cut_value *v = &to->values[e];
        vyre_expr definition = an->definition[e];
        v->recompute = UINT32_MAX;
        if (an->definitions[e] == VYRE_MUTANT(carry_recompute_assigned, 1, an->definitions[e])) {
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

/* A value that is stored so that another can be computed from it lives as long as that one would
 * have, and is computed as often: its costs are those of all blocks concerned. */
static bool pose(analyst *an, problem *to) {
    vyre_carry_plan *plan = an->plan;
    size_t sets = (size_t)plan->set_words * an->blocks->list.count;
    if (!find_operands(an, to)) {
        return false;
    }
    uint64_t *alive = plan->alive, *wanted = plan->wanted; /* not yet in use */
    memcpy(alive, plan->live_out, sets * sizeof *alive);
    memcpy(wanted, an->used, sets * sizeof *wanted);
    add_operands(an, to, NULL, alive);
    add_operands(an, to, NULL, wanted);
    for (uint32_t e = 0; e < to->count; e++) {
        vyre_cut_value *v = &to->values[e];
        uint32_t words = vyre_type_size((vyre_type)plan->entities[e].type) / 4;
        v->wanted = plan->entities[e].carried;
        v->store = STORED_WORD * words * total_weight(an, alive, e);
        v->recompute =
            v->recompute < UINT16_MAX ? v->recompute * total_weight(an, wanted, e) : UINT32_MAX;
    }
    return true;
}

/* From here on liveness is that of what is stored. */
static void choose(analyst *an, const problem *p) {
    vyre_carry_plan *plan = an->plan;
    size_t sets = (size_t)plan->set_words * an->blocks->list.count;
    memcpy(plan->alive, plan->live_out, sets * sizeof *plan->alive);
    memcpy(plan->wanted, an->used, sets * sizeof *plan->wanted);
    add_operands(an, p, p->choice, plan->wanted);
    memcpy(an->used, plan->wanted, sets * sizeof *an->used);
    for (uint32_t e = 0; e < p->count; e++) {
        if (p->choice[e] == VYRE_CUT_RECOMPUTE) {
            plan->entities[e].kind = VYRE_CARRY_RECOMPUTED;
            plan->entities[e].recipe = an->definition[e];
            for (uint32_t b = 0; b < an->blocks->list.count; b++) {
                an->used[(size_t)b * plan->set_words + e / 64] &= ~(UINT64_C(1) << (e % 64));
            }
        }
    }
    memset(plan->live_in, 0, sets * sizeof *plan->live_in);
    memset(plan->live_out, 0, sets * sizeof *plan->live_out);
    solve_liveness(an);
    for (size_t i = 0; i < sets; i++) {
        plan->alive[i] |= plan->live_out[i];
    }
}

static vyre_status choose_recipes(analyst *an) {
    problem p = {.count = an->p->var_count + an->blocks->loop_count * VYRE_LOOP_VALUES};
    p.values = vyre_alloc_zeroed(an->a, p.count, sizeof *p.values);
    p.choice = vyre_alloc_zeroed(an->a, p.count, sizeof *p.choice);
    bool ok = p.values && p.choice && pose(an, &p) &&
              vyre_cut(p.values, p.count, p.operands.data, an->a, p.choice) == VYRE_OK;
    if (ok) {
        choose(an, &p);
    }
    vyre_free(an->a, p.values, p.count, sizeof *p.values);
    vyre_free(an->a, p.choice, p.count, sizeof *p.choice);
    vyre_vec_free(an->a, &p.operands);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

/* Finds a slot in a pool where no other value is alive at the same time. */
typedef struct pool {
    VYRE_VEC(uint64_t) busy; /* block_words words per slot */
    uint32_t slots;
} pool;

static bool place(analyst *an, pool *in, uint32_t e, uint64_t *blocks_of, uint32_t block_words) {
    const vyre_carry_plan *plan = an->plan;
    memset(blocks_of, 0, block_words * sizeof *blocks_of);
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        if (vyre_set_has(plan->live_out, plan->set_words, b, e)) {
            blocks_of[b / 64] |= UINT64_C(1) << (b % 64);
        }
    }
    uint32_t slot = 0;
    for (; slot < in->slots; slot++) {
        const uint64_t *busy = in->busy.data + (size_t)slot * block_words;
        uint32_t w = 0;
        while (w < block_words && (busy[w] & blocks_of[w]) == 0) {
            w++;
        }
        if (w == block_words || VYRE_MUTANT(carry_share_slots, false, true)) {
            break;
        }
    }
    if (slot == in->slots) {
        if (!vyre_vec_reserve(an->a, &in->busy, block_words)) {
            return false;
        }
        memset(in->busy.data + in->busy.count, 0, block_words * sizeof *in->busy.data);
        in->busy.count += block_words;
        in->slots++;
    }
    for (uint32_t w = 0; w < block_words; w++) {
        in->busy.data[(size_t)slot * block_words + w] |= blocks_of[w];
    }
    plan->entities[e].slot = slot;
    return true;
}

/* A pool for each scope, with slots of one word and of two words told apart. */
enum { POOL_LANE, POOL_GROUP, POOL_GRID, POOLS };

static uint32_t pool_of(const vyre_entity *entity) {
    return entity->kind == VYRE_CARRY_GRID    ? POOL_GRID
           : entity->kind == VYRE_CARRY_GROUP ? POOL_GROUP
                                              : POOL_LANE;
}

static vyre_carry_kind kind_of(vyre_shape_kind shape) {
    return shape == VYRE_SHAPE_GRID    ? VYRE_CARRY_GRID
           : shape == VYRE_SHAPE_GROUP ? VYRE_CARRY_GROUP
                                       : VYRE_CARRY_LANE;
}

static vyre_status place_values(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    uint32_t block_words = (an->blocks->list.count + 63) / 64;
    uint64_t *blocks_of = vyre_alloc(an->a, block_words, sizeof *blocks_of);
    pool pools[POOLS][2] = {0};
    bool ok = blocks_of != NULL;
    uint32_t values = an->p->var_count + an->blocks->loop_count * VYRE_LOOP_VALUES;
    for (uint32_t e = 0; e < values && ok; e++) {
        vyre_entity *entity = &plan->entities[e];
        if (entity->kind == VYRE_CARRY_RECOMPUTED) {
            continue;
        }
        entity->carried = is_carried(an, e);
        if (!entity->carried) {
            continue;
        }
        entity->kind = (uint8_t)kind_of((vyre_shape_kind)an->shape[e]);
        entity->words = vyre_type_size((vyre_type)entity->type) / 4;
        ok = place(an, &pools[pool_of(entity)][entity->words - 1], e, blocks_of, block_words);
    }
    for (uint32_t e = 0; e < values && ok; e++) {
        vyre_entity *entity = &plan->entities[e];
        if (entity->carried && entity->kind != VYRE_CARRY_RECOMPUTED && entity->words == 2) {
            entity->slot = pools[pool_of(entity)][0].slots + 2 * entity->slot;
        }
    }
    uint32_t *totals[POOLS] = {&plan->lane_words, &plan->group_value_words, &plan->grid_words};
    for (int i = 0; i < POOLS; i++) {
        *totals[i] = pools[i][0].slots + 2 * pools[i][1].slots;
        vyre_vec_free(an->a, &pools[i][0].busy);
        vyre_vec_free(an->a, &pools[i][1].busy);
    }
    vyre_free(an->a, blocks_of, block_words, sizeof *blocks_of);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

static void place_memory(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    static const vyre_size_env nothing = {0};
    for (vyre_decl d = 0; d < an->p->decl_count; d++) {
        vyre_entity *entity = &plan->entities[vyre_entity_of_decl(plan, d)];
        const vyre_decl_node *node = &an->p->decls[d];
        entity->type = (uint8_t)vyre_type_widened((vyre_type)node->type);
        if (!is_local_memory(an->p, d)) {
            continue;
        }
        uint64_t count = 0;
        (void)vyre_size_evaluate(an->p, node->size, &nothing, &count, NULL);
        entity->count = (uint32_t)count; /* the validator bounds it */
        entity->carried = is_carried(an, vyre_entity_of_decl(plan, d));
        if (!entity->carried) {
            continue;
        }
        entity->words = entity->count * (vyre_type_size((vyre_type)entity->type) / 4);
        uint32_t *total = node->role == VYRE_PRIVATE ? &plan->lane_words : &plan->group_words;
        entity->kind = node->role == VYRE_PRIVATE ? VYRE_CARRY_PRIVATE : VYRE_CARRY_WORKGROUP;
        entity->slot = *total;
        *total += entity->words;
    }
}

/* Lanes that end must be remembered if anything is launched after. */
static void place_ended(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    plan->ended_slot = VYRE_NONE;
    bool several = false;
    for (uint32_t b = 1; b < an->blocks->list.count; b++) {
        several |= an->blocks->list.data[b].preds > 0;
    }
    several |= an->blocks->list.data[0].exit != VYRE_EXIT_END;
    if (several && an->p->stats.stmt_kinds >> VYRE_STMT_EXIT & 1) {
        plan->ended_slot = plan->lane_words++;
    }
}

static bool allocate(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    const vyre_allocator *a = an->a;
    size_t sets = (size_t)plan->set_words * an->blocks->list.count;
    plan->entities = vyre_alloc_zeroed(a, plan->entity_count, sizeof *plan->entities);
    plan->live_in = vyre_alloc_zeroed(a, sets, sizeof *plan->live_in);
    plan->live_out = vyre_alloc_zeroed(a, sets, sizeof *plan->live_out);
    plan->alive = vyre_alloc_zeroed(a, sets, sizeof *plan->alive);
    plan->wanted = vyre_alloc_zeroed(a, sets, sizeof *plan->wanted);
    plan->touched = vyre_alloc_zeroed(a, sets, sizeof *plan->touched);
    plan->modified = vyre_alloc_zeroed(a, sets, sizeof *plan->modified);
    an->used = vyre_alloc_zeroed(a, sets, sizeof *an->used);
    an->killed = vyre_alloc_zeroed(a, sets, sizeof *an->killed);
    an->definitions = vyre_alloc_zeroed(a, plan->entity_count, sizeof *an->definitions);
    an->definition = vyre_alloc_zeroed(a, plan->entity_count, sizeof *an->definition);
    an->shape = vyre_alloc_zeroed(a, plan->entity_count, sizeof *an->shape);
    an->scratch = vyre_alloc(a, an->p->expr_count, sizeof *an->scratch);
    return plan->entities && plan->live_in && plan->live_out && plan->alive && plan->wanted &&
           plan->touched && plan->modified && an->used && an->killed && an->definitions &&
           an->definition && an->shape && an->scratch;
}

static vyre_status analyse(analyst *an, vyre_diag *diag) {
    vyre_carry_plan *plan = an->plan;
    const vyre_program_view *p = an->p;
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        uint32_t hidden = e - p->var_count;
        plan->entities[e].kind = VYRE_CARRY_LANE;
        plan->entities[e].recipe = VYRE_NONE;
        plan->entities[e].type = e < p->var_count                              ? p->vars[e].type
                                 : hidden % VYRE_LOOP_VALUES == VYRE_LOOP_MORE ? (uint8_t)VYRE_BOOL
                                                                               : (uint8_t)VYRE_U32;
    }
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        if (an->blocks->list.data[b].preds > 0) {
            scan_block(an, b);
        }
    }
    solve_liveness(an);
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        plan->entities[e].carried = is_carried(an, e);
    }
    if (choose_recipes(an) != VYRE_OK || place_values(an) != VYRE_OK) {
        return vyre_fail_memory(diag, "splitting");
    }
    place_memory(an);
    place_ended(an);
    return VYRE_OK;
}

vyre_status vyre_carry_init(vyre_carry_plan *plan, const vyre_program *program,
                            const vyre_blocks *blocks, const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    *plan = (vyre_carry_plan){.p = p, .blocks = blocks};
    plan->entity_count = p->var_count + blocks->loop_count * VYRE_LOOP_VALUES + p->decl_count;
    plan->set_words = (plan->entity_count + 63) / 64;
    analyst an = {.plan = plan, .p = p, .blocks = blocks, .a = a};
    vyre_calls calls;
    vyre_effect_map *effects = NULL;
    vyre_shapes *shapes = NULL;
    vyre_status status = vyre_calls_init(&calls, program, a);
    if (status == VYRE_OK) {
        status = vyre_effects_create(program, &calls, a, &effects);
        vyre_calls_finish(&calls, a);
    }
    if (status == VYRE_OK) {
        status = vyre_shapes_create(program, effects, a, &shapes);
    }
    if (status == VYRE_OK && !allocate(&an)) {
        status = VYRE_OUT_OF_MEMORY;
    }
    if (status == VYRE_OK) {
        an.shapes = shapes;
        status = analyse(&an, diag);
    } else {
        (void)vyre_fail_memory(diag, "splitting");
    }
    size_t sets = (size_t)plan->set_words * blocks->list.count;
    vyre_free(a, an.used, sets, sizeof *an.used);
    vyre_free(a, an.killed, sets, sizeof *an.killed);
    vyre_free(a, an.definitions, plan->entity_count, sizeof *an.definitions);
    vyre_free(a, an.definition, plan->entity_count, sizeof *an.definition);
    vyre_free(a, an.shape, plan->entity_count, sizeof *an.shape);
    vyre_free(a, an.scratch, p->expr_count, sizeof *an.scratch);
    vyre_shapes_destroy(shapes);
    vyre_effects_destroy(effects);
    if (status != VYRE_OK) {
        vyre_carry_finish(plan, a);
    }
    return status;
}

void vyre_carry_finish(vyre_carry_plan *plan, const vyre_allocator *a) {
    if (!plan->blocks) {
        return;
    }
    size_t sets = (size_t)plan->set_words * plan->blocks->list.count;
    vyre_free(a, plan->entities, plan->entity_count, sizeof *plan->entities);
    vyre_free(a, plan->live_in, sets, sizeof *plan->live_in);
    vyre_free(a, plan->live_out, sets, sizeof *plan->live_out);
    vyre_free(a, plan->alive, sets, sizeof *plan->alive);
    vyre_free(a, plan->wanted, sets, sizeof *plan->wanted);
    vyre_free(a, plan->touched, sets, sizeof *plan->touched);
    vyre_free(a, plan->modified, sets, sizeof *plan->modified);
    *plan = (vyre_carry_plan){0};
}
