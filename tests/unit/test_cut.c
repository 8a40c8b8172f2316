/* The minimum cut between storing and computing again, against brute force. */
#include "harness/test.h"
#include "split/cut.h"

enum { MOST = 9 };

/* The cost of storing exactly the values of `stored`, or UINT64_MAX if something wanted can't be
 * had. */
static uint64_t cost_of(const vyre_cut_value *values, uint32_t count, const uint32_t *operands,
                        uint32_t stored) {
    uint64_t cost = 0;
    uint32_t needed = 0;
    for (uint32_t v = count; v-- > 0;) { /* operands have smaller numbers */
        if (values[v].wanted) {
            needed |= 1u << v;
        }
        if (!(needed >> v & 1)) {
            continue;
        }
        if (stored >> v & 1) {
            cost += values[v].store;
            continue;
        }
        if (values[v].recompute == UINT32_MAX) {
            return UINT64_MAX;
        }
        cost += values[v].recompute;
        for (uint32_t i = 0; i < values[v].operand_count; i++) {
            needed |= 1u << operands[values[v].first_operand + i];
        }
    }
    return cost;
}

typedef struct problem {
    vyre_cut_value values[MOST];
    uint32_t operands[MOST * 3];
    uint32_t count;
} problem;

static problem random_problem(uint64_t *seed) {
    problem p = {.count = 1 + (uint32_t)test_random_below(seed, MOST)};
    uint32_t next = 0;
    for (uint32_t v = 0; v < p.count; v++) {
        vyre_cut_value *value = &p.values[v];
        value->store = (uint32_t)test_random_below(seed, 20);
        value->recompute =
            test_random_below(seed, 4) ? (uint32_t)test_random_below(seed, 12) : UINT32_MAX;
        value->wanted = test_random_below(seed, 3) == 0;
        value->first_operand = next;
        value->operand_count = v ? (uint32_t)test_random_below(seed, 4) : 0;
        for (uint32_t i = 0; i < value->operand_count; i++) {
            p.operands[next++] = (uint32_t)test_random_below(seed, v);
        }
    }
    return p;
}

TEST(cut_is_as_cheap_as_brute_force) {
    uint64_t seed = 5;
    vyre_allocator a = vyre_allocator_system();
    for (uint64_t round = 0; round < test_scaled(20000); round++) {
        problem p = random_problem(&seed);
        uint8_t choice[MOST];
        REQUIRE(vyre_cut(p.values, p.count, p.operands, &a, choice) == VYRE_OK);
        uint32_t stored = 0;
        for (uint32_t v = 0; v < p.count; v++) {
            stored |= choice[v] == VYRE_CUT_STORE ? 1u << v : 0;
            CHECK(!p.values[v].wanted || choice[v] != VYRE_CUT_NOTHING);
            for (uint32_t i = 0; i < p.values[v].operand_count && choice[v] == VYRE_CUT_RECOMPUTE;
                 i++) {
                CHECK(choice[p.operands[p.values[v].first_operand + i]] != VYRE_CUT_NOTHING);
            }
        }
        uint64_t best = UINT64_MAX;
        for (uint32_t set = 0; set < 1u << p.count; set++) {
            uint64_t cost = cost_of(p.values, p.count, p.operands, set);
            best = cost < best ? cost : best;
        }
        uint64_t got = cost_of(p.values, p.count, p.operands, stored);
        if (got != best) {
            test_fail(__FILE__, __LINE__, "round %" PRIu64 ": cost %" PRIu64 ", best %" PRIu64,
                      round, got, best);
            test_stop();
        }
    }
}

TEST(cut_of_a_large_problem_stores_what_is_wanted) {
    enum { COUNT = VYRE_CUT_MOST + 1 };
    static vyre_cut_value values[COUNT];
    static uint8_t choice[COUNT];
    vyre_allocator a = vyre_allocator_system();
    values[7].wanted = true;
    REQUIRE(vyre_cut(values, COUNT, NULL, &a, choice) == VYRE_OK);
    CHECK_EQ(choice[7], VYRE_CUT_STORE);
    CHECK_EQ(choice[8], VYRE_CUT_NOTHING);
}

static vyre_status cut_once(const vyre_allocator *a, void *user) {
    problem *p = user;
    uint8_t choice[MOST];
    return vyre_cut(p->values, p->count, p->operands, a, choice);
}

TEST(cut_survives_every_failed_allocation) {
    uint64_t seed = 9;
    problem p = random_problem(&seed);
    CHECK(test_every_allocation(cut_once, &p, 100) > 4);
}
