/* Needs: a list of "this is computed from that", followed once from what is needed for itself. */
#include "split/needs.h"

#include <string.h>

bool vyre_needs_init(vyre_needs *needs, uint32_t values, const vyre_allocator *a) {
    *needs = (vyre_needs){.allocator = *a, .value_count = values};
    needs->of_user = vyre_alloc(a, values, sizeof *needs->of_user);
    needs->of_operand = vyre_alloc(a, values, sizeof *needs->of_operand);
    needs->needed = vyre_alloc_zeroed(a, values, sizeof *needs->needed);
    if (!needs->of_user || !needs->of_operand || !needs->needed) {
        return false;
    }
    memset(needs->of_user, 0xff, values * sizeof *needs->of_user);
    memset(needs->of_operand, 0xff, values * sizeof *needs->of_operand);
    return true;
}

void vyre_needs_finish(vyre_needs *needs) {
    const vyre_allocator *a = &needs->allocator;
    if (needs->of_user || needs->of_operand || needs->needed) {
        vyre_free(a, needs->of_user, needs->value_count, sizeof *needs->of_user);
        vyre_free(a, needs->of_operand, needs->value_count, sizeof *needs->of_operand);
        vyre_free(a, needs->needed, needs->value_count, sizeof *needs->needed);
        vyre_vec_free(a, &needs->list);
        vyre_vec_free(a, &needs->work);
    }
}

void vyre_needs_add(vyre_needs *needs, uint32_t user, uint32_t operand, uint32_t block,
                    bool at_start) {
    const vyre_need need = {
        .user = user,
        .operand = operand,
        .block = block,
        .at_start = at_start,
        .next_of_user = user == VYRE_NONE ? VYRE_NONE : needs->of_user[user],
        .next_of_operand = needs->of_operand[operand],
    };
    if (!vyre_vec_push(&needs->allocator, &needs->list, need)) {
        needs->failed = true;
        return;
    }
    if (user != VYRE_NONE) {
        needs->of_user[user] = needs->list.count - 1;
    }
    needs->of_operand[operand] = needs->list.count - 1;
}

static void push(vyre_needs *needs, uint32_t value) {
    if (!needs->needed[value]) {
        needs->needed[value] = true;
        needs->failed |= !vyre_vec_push(&needs->allocator, &needs->work, value);
    }
}

void vyre_needs_mark(vyre_needs *needs, uint32_t value) {
    push(needs, value);
    while (needs->work.count > 0 && !needs->failed) {
        const uint32_t user = needs->work.data[--needs->work.count];
        for (uint32_t i = needs->of_user[user]; i != VYRE_NONE;
             i = needs->list.data[i].next_of_user) {
            push(needs, needs->list.data[i].operand);
        }
    }
}

void vyre_needs_spread(const vyre_needs *needs, vyre_presences *found) {
    memset(found->owner, 0xff, found->block_count * sizeof *found->owner);
    for (uint32_t value = 0; value < needs->value_count; value++) {
        if (needs->of_operand[value] == VYRE_NONE) {
            continue;
        }
        vyre_presences_open(found, value);
        for (uint32_t i = needs->of_operand[value]; i != VYRE_NONE && !found->failed;
             i = needs->list.data[i].next_of_operand) {
            const vyre_need *need = &needs->list.data[i];
            if (need->at_start && (need->user == VYRE_NONE || needs->needed[need->user])) {
                (void)vyre_presence_add_open(found, value, need->block, VYRE_CONTROL);
            }
        }
    }
}
