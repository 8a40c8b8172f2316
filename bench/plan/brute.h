/* Fewest groups by the definition, for at most 16 waves: from the sets reachable with k groups, all
 * sets reachable with k + 1, trying every subset of the available waves. Shares nothing with the
 * planner; exponential. */
#ifndef VYRE_BENCH_PLAN_BRUTE_H
#define VYRE_BENCH_PLAN_BRUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t brute_groups(uint32_t count, const uint64_t *cost, const uint32_t *preds,
                                    uint64_t capacity) {
    static bool reached[1u << 16], next[1u << 16];
    uint32_t full = (1u << count) - 1;
    memset(reached, 0, full + 1u);
    reached[0] = true;
    for (uint32_t groups = 0; groups <= count; groups++) {
        if (reached[full]) {
            return groups;
        }
        memset(next, 0, full + 1u);
        for (uint32_t set = 0; set <= full; set++) {
            if (!reached[set]) {
                continue;
            }
            uint32_t available = 0;
            for (uint32_t w = 0; w < count; w++) {
                if (!(set >> w & 1) && (preds[w] & ~set) == 0) {
                    available |= 1u << w;
                }
            }
            for (uint32_t group = available; group; group = (group - 1) & available) {
                uint64_t room = capacity;
                bool fits = true;
                for (uint32_t w = 0; w < count && fits; w++) {
                    if (group >> w & 1) {
                        fits = cost[w] <= room;
                        room -= fits ? cost[w] : 0;
                    }
                }
                next[set | group] |= fits;
            }
        }
        memcpy(reached, next, full + 1u);
    }
    return UINT32_MAX;
}

#endif
