/* Lives: the runs of what is carried, and a tree to ask them by step.
 *
 * Over the lives, which are sorted by carry, lies a binary tree in an array: node n has the nodes
 * 2n and 2n + 1 below it, and knows the first step and the end of all lives below. To find the next
 * life that holds a step it goes to the right, past every node that can't have one. */
#include "split/lives.h"

static bool is_version(const vyre_module *m, vyre_var var) {
    return m->origin && m->origin[var] != VYRE_NONE;
}

/* Versions of a variable have its name and place: no two of them are alive together. */
static const char *carry_name(const vyre_module *m, const vyre_carry_plan *plan, uint32_t e) {
    const vyre_program_view *p = plan->p;
    uint32_t decls = vyre_entity_of_decl(plan, 0);
    if (e < p->var_count) {
        return is_version(m, e) ? vyre_program_get(m->inlined)->vars[m->origin[e]].name
                                : p->vars[e].name;
    }
    if (e >= decls) {
        return p->decls[e - decls].name;
    }
    static const char *const hidden[] = {"(end of a loop)", "(step of a loop)", "(trip of a loop)"};
    return hidden[(e - p->var_count) % VYRE_LOOP_VALUES];
}

static vyre_place carry_place(const vyre_module *m, const vyre_carry_plan *plan, uint32_t e) {
    uint32_t vars = plan->p->var_count, decls = vyre_entity_of_decl(plan, 0);
    if (e < vars) {
        return is_version(m, e) ? vyre_program_var_place(m->inlined, m->origin[e])
                                : vyre_program_var_place(m->source, e);
    }
    if (e >= decls) {
        return vyre_program_decl_place(m->source, e - decls);
    }
    return vyre_program_stmt_place(m->source,
                                   plan->blocks->loops.data[(e - vars) / VYRE_LOOP_VALUES]);
}

static void describe(vyre_module *m, const vyre_carry_plan *plan, uint32_t e, vyre_carry *to) {
    const vyre_entity *entity = &plan->entities[e];
    *to = (vyre_carry){.name = carry_name(m, plan, e),
                       .kind = (vyre_carry_kind)entity->kind,
                       .words = entity->kind == VYRE_CARRY_RECOMPUTED ? 0 : entity->words,
                       .slot = entity->kind == VYRE_CARRY_SCALAR ? entity->scalar : entity->slot,
                       .place = carry_place(m, plan, e)};
}

static void describe_ended(vyre_module *m, const vyre_carry_plan *plan, vyre_carry *to) {
    const bool is_flag = plan->ended_slot != VYRE_NONE;
    *to = (vyre_carry){.name = "(lanes that ended)",
                       .kind = is_flag ? VYRE_CARRY_ENDED : VYRE_CARRY_RECOMPUTED,
                       .words = is_flag,
                       .slot = plan->ended_slot};
    if (!is_flag) {
        to->place = vyre_program_stmt_place(m->source, plan->guards.list[0].stmt);
    }
}

static bool add_life(vyre_module *m, uint32_t carry, uint32_t first, uint32_t end) {
    const vyre_life life = {.carry = carry, .first = first, .end = end};
    return vyre_vec_push(&m->allocator, &m->lives, life);
}

/* Behind steps that lanes may have ended in or before, as long as something follows. */
static bool add_ended(vyre_module *m, const vyre_carry_plan *plan, uint32_t carry) {
    bool ok = true;
    uint32_t first = 0;
    for (uint32_t i = 0; i <= m->view.step_count && ok; i++) {
        const bool alive = i < m->view.step_count &&
                           plan->blocks->list.data[i].exit != VYRE_EXIT_END &&
                           plan->ends[i] & (VYRE_MAY_END | VYRE_HAS_ENDED);
        if (!alive) {
            ok = first == i || add_life(m, carry, first, i);
            first = i + 1;
        }
    }
    return ok;
}

static bool list(vyre_module *m, const vyre_carry_plan *plan) {
    uint32_t number = 0;
    bool ok = true;
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        if (!plan->entities[e].carried) {
            continue;
        }
        describe(m, plan, e, &m->carries[number]);
        m->first_life[number] = m->lives.count;
        for (uint32_t r = plan->alive[e]; r != VYRE_NONE && ok; r = plan->runs.data[r].next) {
            ok = add_life(m, number, plan->runs.data[r].first, plan->runs.data[r].end);
        }
        number++;
    }
    if (plan->lanes_end) {
        describe_ended(m, plan, &m->carries[number]);
        m->first_life[number] = m->lives.count;
        ok = ok && add_ended(m, plan, number++);
    }
    m->first_life[number] = m->lives.count;
    return ok;
}

/* ---- words of each step ---- */

static void add_words(uint32_t *words, const vyre_life *life, uint32_t count) {
    words[life->first] += count;
    words[life->end] -= count; /* of the steps from there on; wraps, and back */
}

/* First by how much each step has more than the one before. */
static bool sum_words(vyre_module *m) {
    const size_t steps = (size_t)m->view.step_count + 1;
    uint32_t *lane = vyre_alloc_zeroed(&m->allocator, steps, sizeof *lane);
    uint32_t *group = vyre_alloc_zeroed(&m->allocator, steps, sizeof *group);
    const bool ok = lane && group;
    for (uint32_t i = 0; i < m->lives.count && ok; i++) {
        const vyre_carry *carry = &m->carries[m->lives.data[i].carry];
        const bool by_group =
            carry->kind == VYRE_CARRY_WORKGROUP || carry->kind == VYRE_CARRY_GROUP;
        add_words(by_group ? group : lane, &m->lives.data[i], carry->words);
    }
    for (uint32_t i = 0, of_lane = 0, of_group = 0; i < m->view.step_count && ok; i++) {
        m->steps[i].lane_words = of_lane += lane[i];
        m->steps[i].group_words = of_group += group[i];
    }
    vyre_free(&m->allocator, lane, steps, sizeof *lane);
    vyre_free(&m->allocator, group, steps, sizeof *group);
    return ok;
}

/* ---- the tree ---- */

static bool build_tree(vyre_module *m) {
    for (m->life_leaves = 1; m->life_leaves < m->lives.count;) {
        m->life_leaves *= 2;
    }
    m->life_tree = vyre_alloc(&m->allocator, 2 * (size_t)m->life_leaves, sizeof *m->life_tree);
    if (!m->life_tree) {
        return false;
    }
    for (uint32_t i = 2 * m->life_leaves; i-- > 1;) {
        const uint32_t leaf = i - m->life_leaves;
        vyre_life_node *node = &m->life_tree[i];
        *node = (vyre_life_node){.first = UINT32_MAX, .end = 0};
        if (i < m->life_leaves) {
            const vyre_life_node *x = node + i, *y = x + 1;
            node->first = x->first < y->first ? x->first : y->first;
            node->end = x->end > y->end ? x->end : y->end;
        } else if (leaf < m->lives.count) {
            *node = (vyre_life_node){m->lives.data[leaf].first, m->lives.data[leaf].end};
        }
    }
    return true;
}

uint32_t vyre_module_next_live(const vyre_module *m, uint32_t step, uint32_t from) {
    if (from >= m->view.carry_count || m->first_life[from] == m->lives.count) {
        return VYRE_NONE;
    }
    uint32_t node = m->life_leaves + m->first_life[from];
    for (;;) {
        if (m->life_tree[node].first <= step && step < m->life_tree[node].end) {
            if (node >= m->life_leaves) {
                return m->lives.data[node - m->life_leaves].carry;
            }
            node *= 2;
            continue;
        }
        while (node % 2 != 0) { /* what is on the right of its parent is on the right of it */
            node /= 2;
        }
        if (node == 0) {
            return VYRE_NONE;
        }
        node++;
    }
}

bool vyre_module_list_carries(vyre_module *m, const vyre_carry_plan *plan) {
    const vyre_allocator *a = &m->allocator;
    for (uint32_t e = 0; e < plan->entity_count; e++) {
        m->view.carry_count += plan->entities[e].carried;
    }
    m->view.carry_count += plan->lanes_end;
    m->carries = vyre_alloc_zeroed(a, m->view.carry_count, sizeof *m->carries);
    m->first_life = vyre_alloc_zeroed(a, (size_t)m->view.carry_count + 1, sizeof *m->first_life);
    return m->carries && m->first_life && list(m, plan) && sum_words(m) && build_tree(m);
}
