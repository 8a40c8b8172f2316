/* Among plans with the fewest groups, one whose largest group is small: the same question with a
 * smaller capacity, by bisection. Each answer "fits" is a better plan; an answer "not found" is
 * only a guess unless the search proves it, so the result is a low peak, not always the lowest.
 * Large problems get a few first-fit attempts, small ones the whole machinery. */
#include <string.h>

#include "plan/packed.h"

enum {
    SEARCH_WAVES = 128,     /* the search is used up to this many */
    SEARCH_NODES = 1 << 13, /* for each question */
    MOST_ATTEMPTS = 40,
    WORK = 1 << 22, /* waves and dependencies looked at by all attempts together, */
    FINE = 64       /* and the part of the peak that more work must be able to save */
};

static uint64_t largest_group(const vyre_pack *pack, uint64_t *load) {
    uint64_t most = 0;
    memset(load, 0, pack->groups * sizeof *load);
    for (uint32_t w = 0; w < pack->count; w++) {
        uint64_t sum = load[pack->group_of[w]] += pack->cost[w];
        most = sum > most ? sum : most;
    }
    return most;
}

/* No plan can stay below the most expensive wave or the average group. */
static uint64_t least_peak(const vyre_pack *pack, const uint64_t *load) {
    uint64_t most = 0, average = 0, left = 0;
    for (uint32_t w = 0; w < pack->count; w++) {
        most = pack->cost[w] > most ? pack->cost[w] : most;
    }
    for (uint32_t g = 0; g < pack->groups; g++) {
        average += load[g] / pack->groups;
        left += load[g] % pack->groups;
        average += left / pack->groups;
        left %= pack->groups;
    }
    average += left != 0;
    return most > average ? most : average;
}

/* Asks for a plan of as many groups within `capacity`, with bounds and search of its own. */
static vyre_status ask(vyre_planner *planner, vyre_pack *pack, uint64_t capacity, bool *out_found,
                       vyre_diag *diag) {
    vyre_plan_mark mark = vyre_planner_mark(planner);
    uint32_t *own = vyre_planner_take(planner, (size_t)pack->count * 3, sizeof *own, "places");
    if (!own) {
        return vyre_planner_storage(planner, diag);
    }
    vyre_pack smaller = *pack;
    smaller.view[0].head = smaller.view[1].tail = own + pack->count;
    smaller.view[0].tail = smaller.view[1].head = own + 2 * (size_t)pack->count;
    smaller.capacity = capacity;
    smaller.lower_bound = 0;
    smaller.groups = pack->groups + 1;
    smaller.group_of = own;
    smaller.node_limit = pack->nodes + SEARCH_NODES;
    vyre_status status = vyre_pack_bound(planner, &smaller, diag);
    if (status == VYRE_OK && smaller.lower_bound <= pack->groups) {
        status = vyre_pack_search(planner, &smaller, diag);
    }
    pack->nodes = smaller.nodes;
    pack->cancelled = smaller.cancelled;
    *out_found = status == VYRE_OK && smaller.groups <= pack->groups;
    if (*out_found) {
        memcpy(pack->group_of, own, pack->count * sizeof *own);
        pack->groups = smaller.groups;
    }
    vyre_planner_release(planner, mark);
    return status;
}

/* Whether another attempt may be worth its time. */
static bool worthwhile(const vyre_pack *pack, uint64_t low, uint64_t high, uint64_t attempt) {
    uint64_t size = (uint64_t)pack->count + pack->view[0].succ.start[pack->count];
    if (low >= high || attempt >= MOST_ATTEMPTS) {
        return false;
    }
    return pack->count <= SEARCH_WAVES || (high - low > high / FINE && attempt <= WORK / size);
}

vyre_status vyre_pack_flatten(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag) {
    uint64_t *load = vyre_planner_take(planner, pack->groups, sizeof *load, "group sums");
    if (!load) {
        return vyre_planner_storage(planner, diag);
    }
    uint64_t high = largest_group(pack, load), low = least_peak(pack, load);
    vyre_pack_fitter fitter;
    if (worthwhile(pack, low, high, 0) && !vyre_pack_fitter_init(planner, pack, &fitter)) {
        return vyre_planner_storage(planner, diag);
    }
    for (uint64_t attempt = 0; worthwhile(pack, low, high, attempt); attempt++) {
        if (vyre_pack_stop(pack, "peak")) {
            break;
        }
        uint64_t middle = low + (high - low) / 2;
        bool found = vyre_pack_try(pack, &fitter, false, pack->groups, middle) ||
                     vyre_pack_try(pack, &fitter, true, pack->groups, middle);
        if (!found && pack->count <= SEARCH_WAVES) {
            vyre_status status = ask(planner, pack, middle, &found, diag);
            if (status != VYRE_OK) {
                return status;
            }
        }
        if (found) {
            high = largest_group(pack, load);
        } else {
            low = middle + 1;
        }
    }
    return VYRE_OK;
}
