/* States of the exact search: remembered sets, open states in order, limits. */
#include "harness/test.h"
#include "plan/states.h"

static vyre_allocator plain(void) {
    return vyre_allocator_system();
}

TEST(states_keep_each_set_with_the_fewest_groups) {
    vyre_allocator a = plain();
    uint32_t roots[8];
    vyre_states states;
    vyre_states_init(&states, &a, 2, roots, 8, 1 << 20);
    const uint64_t one[2] = {5, 7}, two[2] = {5, 8};
    CHECK_EQ(vyre_states_add(&states, one, 3, VYRE_STATE_NONE, 1.0), 0);
    CHECK_EQ(vyre_states_add(&states, one, 3, VYRE_STATE_NONE, 0.5), VYRE_STATE_NONE);
    CHECK_EQ(vyre_states_add(&states, one, 4, VYRE_STATE_NONE, 0.5), VYRE_STATE_NONE);
    CHECK_EQ(vyre_states_add(&states, two, 3, VYRE_STATE_NONE, 2.0), 1);
    CHECK_EQ(vyre_states_add(&states, one, 2, VYRE_STATE_NONE, 9.0), 2);
    /* The first one was reached with fewer groups since: only the second is left at depth 3. */
    CHECK_EQ(vyre_states_pop(&states, 3), 1);
    CHECK_EQ(vyre_states_pop(&states, 3), VYRE_STATE_NONE);
    CHECK_EQ(vyre_states_pop(&states, 2), 2);
    CHECK_EQ(vyre_states_pop(&states, 2), VYRE_STATE_NONE);
    vyre_states_finish(&states);
}

TEST(states_are_popped_in_order_of_key_then_age) {
    vyre_allocator a = plain();
    uint32_t roots[1];
    vyre_states states;
    vyre_states_init(&states, &a, 1, roots, 1, 64 << 20);
    uint64_t seed = 4;
    for (uint64_t i = 0; i < 5000; i++) {
        double key = (double)test_random_below(&seed, 500);
        CHECK_EQ(vyre_states_add(&states, &i, 0, VYRE_STATE_NONE, key), i);
    }
    uint32_t before = vyre_states_pop(&states, 0);
    for (uint32_t i = 1; i < 5000; i++) {
        uint32_t next = vyre_states_pop(&states, 0);
        REQUIRE(next != VYRE_STATE_NONE);
        double a_key = states.state[before].key, b_key = states.state[next].key;
        CHECK(a_key < b_key || (a_key == b_key && before < next));
        before = next;
    }
    CHECK_EQ(vyre_states_pop(&states, 0), VYRE_STATE_NONE);
    vyre_states_finish(&states);
}

TEST(states_stop_at_their_memory_limit) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    uint32_t roots[1];
    vyre_states states;
    vyre_states_init(&states, &a, 1, roots, 1, 1 << 17);
    for (uint64_t i = 0; i < 10000; i++) {
        vyre_states_add(&states, &i, 0, VYRE_STATE_NONE, 0);
    }
    CHECK(states.full && !states.failed);
    CHECK(states.count > 100);
    CHECK(heap.peak_bytes <= 1 << 17);
    vyre_states_finish(&states);
    CHECK_EQ(heap.live_blocks, 0);
}
