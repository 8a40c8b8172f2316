/* Carry: which values are stored and which are computed again.
 *
 * A variable that is set once, by a pure expression over things that do not change while it is
 * alive (ids, lengths, params, constants, `in` buffers, loop variables, other such variables), can
 * be computed again instead of being stored. Such a variable and its operands come from one pass
 * through their scope, so that the operands, where they are stored, still have the values they had.
 * Which to store and which to compute again is a minimum cut (cut.h), by bytes, operations and loop
 * depth. */
#include <string.h>

#include "ir/rewrite.h"
#include "split/carry_analyst.h"
#include "split/cut.h"

/* Costs in operations, besides those of operators in ops.def: of storing a word at a barrier and
 * loading it behind, of one that a group stores, of a word that the schedule computes without
 * memory. A block in a loop counts for several. */
enum { STORED_WORD = 12, GROUP_WORD = 8, KNOWN_WORD = 4, PER_LOOP = 4, MOST_LOOPS = 4 };

/* While posing the problem: wanted, if all is computed again that can be. */
enum { MIGHT_WANT = 512 };

typedef vyre_carry_analyst analyst;

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
        const bool is_long = info->operands == VYRE_OPERANDS_ELEMENTARY && n->type == VYRE_F64;
        total += is_long ? 2u * info->cost : info->cost; /* a sequence of f64 has twice as many */
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
        v->store = (is_plain(an, e)                                 ? KNOWN_WORD
                    : vyre_carry_kind_of(an, e) == VYRE_CARRY_GROUP ? GROUP_WORD
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

bool vyre_carry_choose(analyst *an) {
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
