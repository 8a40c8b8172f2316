/* Carry: what each block uses and sets, and a place for everything that is alive between blocks.
 *
 * A variable that is set once, by a pure expression over things that do not change while it is
 * alive (ids, lengths, params, constants, `in` buffers, loop variables, other such variables), can
 * be computed again instead of being stored. Such a variable and its operands come from one pass
 * through their scope, so that the operands, where they are stored, still have the values they had.
 * Which to store and which to compute again is a minimum cut (cut.h), by bytes, operations and loop
 * depth. Of what is stored, values that are the same for the whole grid or for a workgroup are
 * stored once for it, others by each lane. Two values that are never alive together share a slot.
 */
#include "split/carry.h"

#include <string.h>

#include "analysis/shape.h"
#include "base/diag.h"
#include "base/mutant.h"
#include "ir/rewrite.h"
#include "ir/size.h"
#include "split/cut.h"
#include "split/overwrite.h"
#include "split/proof.h"
#include "split/slots.h"

/* Costs in operations: of storing a word at a barrier and loading it behind, of a load from an `in`
 * buffer, of a slow operator. A block in a loop counts for several. */
enum { STORED_WORD = 12, LOADED = 6, LONG = 8, PER_LOOP = 4, MOST_LOOPS = 4 };

/* While posing the problem: alive, or wanted, if all is computed again that can be. */
enum { MIGHT_LIVE = 256, MIGHT_WANT = 512 };

typedef struct analyst {
    vyre_carry_plan *plan;
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    const vyre_allocator *a;
    vyre_presences found;
    uint32_t *definitions; /* per entity */
    vyre_expr *definition; /* per entity: the last one seen; VYRE_NONE if it is no expression */
    uint8_t *shape;        /* per entity: vyre_shape_kind over all definitions, up to VARYING */
    const vyre_shapes *shapes;
    vyre_shape *scratch; /* shapes of one statement's expressions */
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
    uint32_t kills = VYRE_MUTANT(carry_kill_always, always, true) ? VYRE_KILLS : 0;
    (void)vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES | VYRE_MODIFIES | kills);
}

/* Memory that a launch does not leave behind. */
static bool is_local_memory(const analyst *an, vyre_decl decl) {
    uint8_t role = an->p->decls[decl].role;
    return role == VYRE_PRIVATE ||
           (role == VYRE_WORKGROUP &&
            VYRE_MUTANT(carry_group_memory, an->blocks->scope == VYRE_SPLIT_SCOPE_GRID, true));
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
        vyre_type type = (vyre_type)an->p->decls[n->decl2].type;
        an->plan->entities[vyre_entity_of_decl(an->plan, n->decl2)].raw =
            type == VYRE_BOOL || type == VYRE_F16 || type == VYRE_BF16;
    }
}

/* Memory that is set as a whole is new up to the end of its statement list; in that of the block
 * itself, for good. */
static void scan_overwrites(analyst *an, uint32_t block, vyre_stmt s) {
    uint32_t depth = an->open.count;
    vyre_stmt end = depth > 0 ? an->p->stmts[an->open.data[depth - 1]].match : VYRE_NONE;
    vyre_overwrites_look(&an->overwrites, s, depth > 0 ? end : an->p->stmt_count + block);
    for (uint32_t i = 0; i < an->overwrites.found.count; i++) {
        vyre_decl d = an->overwrites.found.data[i];
        if (!is_local_memory(an, d)) {
            continue;
        }
        if (depth == 0) {
            set(an, block, vyre_entity_of_decl(an->plan, d), true);
        } else {
            an->overwrites.memory[d].new_from = s;
            an->overwrites.memory[d].new_to = VYRE_MUTANT(carry_new_too_long, end, VYRE_NONE);
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
        if (item->kind != VYRE_ITEM_RANGE) {
            scan_loop(an, number, item);
            continue;
        }
        scan_range(an, number, item);
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

static bool is_carried(const analyst *an, uint32_t e) {
    VYRE_EACH_PRESENCE(&an->found, e, p) {
        if (p->flags & VYRE_LIVE_OUT) {
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

/* Sum of the weights of the blocks where the entity has the flag, at least 1. */
static uint32_t total_weight(const analyst *an, uint32_t flag, uint32_t e) {
    uint64_t total = 0;
    VYRE_EACH_PRESENCE(&an->found, e, p) {
        total += p->flags & flag ? weight(an, p->block) : 0;
    }
    return total == 0 ? 1 : total > UINT16_MAX ? UINT16_MAX : (uint32_t)total;
}

typedef struct problem {
    vyre_cut_value *values;
    uint8_t *choice;
    VYRE_VEC(uint32_t) operands;
    uint32_t *users, *first_user; /* of each value: those that have it as an operand */
    uint32_t count;
} problem;

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
        *flags |= *flags & VYRE_LIVE_OUT ? MIGHT_LIVE : 0;
        *flags |= *flags & VYRE_USES ? MIGHT_WANT : 0;
    }
    if (to->count <= VYRE_CUT_MOST) { /* beyond it costs do not matter, and chains are long */
        spread(an, to, NULL, MIGHT_LIVE);
        spread(an, to, NULL, MIGHT_WANT);
    }
    for (uint32_t e = 0; e < to->count; e++) {
        vyre_cut_value *v = &to->values[e];
        uint32_t words = vyre_type_size((vyre_type)plan->entities[e].type) / 4;
        v->wanted = plan->entities[e].carried;
        v->store =
            STORED_WORD * words * total_weight(an, v->wanted ? VYRE_LIVE_OUT : MIGHT_LIVE, e);
        v->recompute =
            v->recompute < UINT16_MAX ? v->recompute * total_weight(an, MIGHT_WANT, e) : UINT32_MAX;
    }
    return !an->found.failed;
}

/* From here on liveness is that of what is stored. */
static void choose(analyst *an, const problem *p) {
    vyre_carry_plan *plan = an->plan;
    vyre_presences *found = &an->found;
    for (uint32_t i = 0; i < found->list.count; i++) {
        uint32_t *flags = &found->list.data[i].flags;
        *flags |= *flags & VYRE_LIVE_OUT ? VYRE_ALIVE : 0;
        *flags |= *flags & VYRE_USES ? VYRE_WANTED : 0;
    }
    spread(an, p, p->choice, VYRE_WANTED);
    for (uint32_t e = 0; e < p->count; e++) {
        if (p->choice[e] == VYRE_CUT_RECOMPUTE) {
            plan->entities[e].kind = VYRE_CARRY_RECOMPUTED;
            plan->entities[e].recipe = an->definition[e];
        }
    }
    for (uint32_t i = 0; i < found->list.count; i++) {
        vyre_presence *at = &found->list.data[i];
        bool stored = plan->entities[at->entity].kind != VYRE_CARRY_RECOMPUTED;
        at->flags &= ~(uint32_t)VYRE_USES;
        at->flags |= at->flags & VYRE_WANTED && stored ? VYRE_USES : 0;
    }
    vyre_presences_solve(found);
    for (uint32_t i = 0; i < found->list.count; i++) {
        uint32_t *flags = &found->list.data[i].flags;
        *flags |= *flags & VYRE_LIVE_OUT ? VYRE_ALIVE : 0;
    }
}

static bool choose_recipes(analyst *an) {
    problem p = {.count = an->p->var_count + an->blocks->loops.count * VYRE_LOOP_VALUES};
    p.values = vyre_alloc_zeroed(an->a, p.count, sizeof *p.values);
    p.choice = vyre_alloc_zeroed(an->a, p.count, sizeof *p.choice);
    bool ok = p.values && p.choice && pose(an, &p) &&
              vyre_cut(p.values, p.count, p.operands.data, an->a, p.choice) == VYRE_OK;
    if (ok) {
        choose(an, &p);
    }
    vyre_free(an->a, p.values, p.count, sizeof *p.values);
    vyre_free(an->a, p.choice, p.count, sizeof *p.choice);
    vyre_free(an->a, p.users, p.operands.count, sizeof *p.users);
    vyre_free(an->a, p.first_user, (size_t)p.count + 1, sizeof *p.first_user);
    vyre_vec_free(an->a, &p.operands);
    return ok && !an->found.failed;
}

static vyre_carry_kind kind_of(vyre_shape_kind shape, vyre_split_scope scope) {
    bool once = shape == VYRE_SHAPE_GRID ||
                (shape == VYRE_SHAPE_GROUP &&
                 VYRE_MUTANT(carry_once_for_all, scope != VYRE_SPLIT_SCOPE_GRID, true));
    return once ? VYRE_CARRY_GRID : shape == VYRE_SHAPE_GROUP ? VYRE_CARRY_GROUP : VYRE_CARRY_LANE;
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
            entity->kind = (uint8_t)kind_of((vyre_shape_kind)an->shape[e], an->blocks->scope);
            entity->words = vyre_type_size((vyre_type)entity->type) / 4;
        }
    }
    return vyre_slots_assign(plan, &an->found, an->a);
}

static void place_memory(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    static const vyre_size_env nothing = {0};
    for (vyre_decl d = 0; d < an->p->decl_count; d++) {
        vyre_entity *entity = &plan->entities[vyre_entity_of_decl(plan, d)];
        const vyre_decl_node *node = &an->p->decls[d];
        entity->type = (uint8_t)vyre_type_widened((vyre_type)node->type);
        if (!is_local_memory(an, d)) {
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

/* Lanes that end must be remembered if anything is launched after. A trap ends the whole dispatch
 * at the next grid barrier, but until then only its lane. */
static void place_ended(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    plan->ended_slot = VYRE_NONE;
    bool several = an->blocks->list.data[0].exit != VYRE_EXIT_END;
    for (uint32_t b = 1; b < an->blocks->list.count; b++) {
        several |= an->blocks->list.data[b].preds > 0;
    }
    bool exits = an->p->stats.stmt_kinds >> VYRE_STMT_EXIT & 1;
    if (several && (exits || vyre_blocks_outlive_traps(an->blocks, an->p))) {
        plan->ended_slot = plan->lane_words++;
    }
}

static bool allocate(analyst *an) {
    vyre_carry_plan *plan = an->plan;
    const vyre_allocator *a = an->a;
    size_t entities = plan->entity_count, blocks = an->blocks->list.count;
    plan->entities = vyre_alloc_zeroed(a, entities, sizeof *plan->entities);
    plan->first_present = vyre_alloc_zeroed(a, blocks + 1, sizeof *plan->first_present);
    an->definitions = vyre_alloc_zeroed(a, entities, sizeof *an->definitions);
    an->definition = vyre_alloc_zeroed(a, entities, sizeof *an->definition);
    an->shape = vyre_alloc_zeroed(a, entities, sizeof *an->shape);
    an->scratch = vyre_alloc(a, an->p->expr_count, sizeof *an->scratch);
    bool looks = vyre_overwrites_init(&an->overwrites, an->p, an->shapes, a);
    bool lists = vyre_presences_init(&an->found, an->blocks, plan->entity_count, a);
    return lists && looks && plan->entities && plan->first_present && an->definitions &&
           an->definition && an->shape && an->scratch;
}

static void release(analyst *an) {
    const vyre_allocator *a = an->a;
    size_t entities = an->plan->entity_count;
    vyre_free(a, an->definitions, entities, sizeof *an->definitions);
    vyre_free(a, an->definition, entities, sizeof *an->definition);
    vyre_free(a, an->shape, entities, sizeof *an->shape);
    vyre_free(a, an->scratch, an->p->expr_count, sizeof *an->scratch);
    vyre_vec_free(a, &an->open);
    vyre_overwrites_finish(&an->overwrites);
    if (an->found.block_count > 0) {
        vyre_presences_finish(&an->found);
    }
}

static bool analyse(analyst *an) {
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
    vyre_presences_solve(&an->found);
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        plan->entities[e].carried = is_carried(an, e);
    }
    if (an->found.failed || !choose_recipes(an) || !place_values(an)) {
        return false;
    }
    place_memory(an);
    place_ended(an);
    plan->present_count = an->found.list.count;
    plan->present = vyre_presences_by_block(&an->found, plan->first_present);
    return plan->present != NULL;
}

vyre_status vyre_carry_init(vyre_carry_plan *plan, const vyre_program *program,
                            const vyre_blocks *blocks, const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    *plan = (vyre_carry_plan){.p = p, .blocks = blocks};
    plan->entity_count = p->var_count + blocks->loops.count * VYRE_LOOP_VALUES + p->decl_count;
    analyst an = {.plan = plan, .p = p, .blocks = blocks, .a = a, .at = VYRE_NONE};
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
    an.shapes = shapes;
    if (status == VYRE_OK && !(allocate(&an) && analyse(&an))) {
        status = VYRE_OUT_OF_MEMORY;
    }
    if (status == VYRE_OK) {
        status = vyre_prove_uniform(blocks, program, shapes, an.scratch, diag);
    }
    release(&an);
    vyre_shapes_destroy(shapes);
    vyre_effects_destroy(effects);
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
    *plan = (vyre_carry_plan){0};
}
