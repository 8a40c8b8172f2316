/* Carry: a place for everything that is alive between blocks.
 *
 * Values that are the same for the whole scope are scalars of the schedule (scalars.h): lanes get
 * them as params, and hand back those that they make. Of what is stored, values that are the same
 * for a workgroup are stored once for it, others by each lane. Two values that are never alive
 * together share a slot. */
#include <string.h>

#include "ir/size.h"
#include "split/carry_analyst.h"
#include "split/ends.h"
#include "split/slots.h"

typedef vyre_carry_analyst analyst;

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
        entity->carried = vyre_carry_is_carried(an, e);
        if (entity->carried) {
            entity->kind = (uint8_t)vyre_carry_kind_of(an, e);
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
        if (!vyre_carry_is_local(an, d) || (per == 2) != pairs) {
            continue;
        }
        uint64_t count = 0;
        (void)vyre_size_evaluate(an->p, node->size, &nothing, &count, NULL);
        entity->count = (uint32_t)count; /* the validator bounds it */
        entity->carried = vyre_carry_is_carried(an, vyre_entity_of_decl(plan, d));
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

bool vyre_carry_place(analyst *an) {
    vyre_carry_plan *plan = an->plan;
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
