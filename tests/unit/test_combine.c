/* Values of groups become one value, or a base for each: in the fixed order, absent ones skipped.
 */
#include "base/half.h"
#include "harness/test.h"
#include "vyre/schedule.h"

static uint64_t f32(float x) {
    return vyre_f32_bits(x);
}

TEST(a_tree_adds_halves_of_the_next_power_of_two) {
    /* Of 5: 8 / 2 = 4, so 4 goes to 0; then 0 + 2 and 1 + 3; then both. Floats tell the order. */
    const float x[5] = {1e8f, 1.0f, -1e8f, 1.0f, 3.0f};
    uint64_t values[5];
    bool present[5] = {true, true, true, true, true};
    for (int i = 0; i < 5; i++) {
        values[i] = f32(x[i]);
    }
    CHECK(vyre_combine_reduce(VYRE_COMBINE_ADD, VYRE_F32, values, present, 5));
    const float left = (x[0] + x[4]) + x[2], right = x[1] + x[3];
    CHECK_EQ(values[0], f32(left + right));
}

TEST(absent_groups_are_skipped) {
    uint64_t values[6] = {9, 7, 4, 8, 1, 6};
    bool present[6] = {false, true, true, false, false, true};
    CHECK(vyre_combine_reduce(VYRE_COMBINE_MIN, VYRE_U32, values, present, 6));
    CHECK_EQ(values[0], 4);
    bool nobody[3] = {false, false, false};
    CHECK(!vyre_combine_reduce(VYRE_COMBINE_MIN, VYRE_U32, values, nobody, 3));
    CHECK(!vyre_combine_reduce(VYRE_COMBINE_ADD, VYRE_U32, values, nobody, 0));
    uint64_t one[1] = {0xfffffffb};
    bool there[1] = {true};
    CHECK(vyre_combine_reduce(VYRE_COMBINE_MAX, VYRE_I32, one, there, 1));
    CHECK_EQ(one[0], 0xfffffffb);
}

TEST(operations_are_those_of_the_language) {
    static const struct {
        vyre_combine_op op;
        vyre_type type;
        uint64_t x, y, want;
    } cases[] = {
        {VYRE_COMBINE_ADD, VYRE_U32, 0xffffffff, 2, 1},
        {VYRE_COMBINE_ADD, VYRE_U64, 0xffffffff, 2, UINT64_C(0x100000001)},
        {VYRE_COMBINE_MIN, VYRE_I32, 0xffffffff, 2, 0xffffffff},
        {VYRE_COMBINE_MAX, VYRE_I64, UINT64_MAX, 2, 2},
        {VYRE_COMBINE_AND, VYRE_U32, 12, 10, 8},
        {VYRE_COMBINE_OR, VYRE_U32, 12, 10, 14},
        {VYRE_COMBINE_XOR, VYRE_U32, 12, 10, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t values[2] = {cases[i].x, cases[i].y};
        bool present[2] = {true, true};
        CHECK(vyre_combine_reduce(cases[i].op, cases[i].type, values, present, 2));
        CHECK_EQ(values[0], cases[i].want);
    }
}

TEST(a_scan_gives_each_group_what_comes_before_it) {
    uint64_t values[6] = {5, 1, 2, 100, 3, 4}, room[6];
    bool present[6] = {true, true, true, false, true, true}, room_present[6];
    const uint64_t want[6] = {0, 5, 6, 8, 8, 11};
    vyre_combine_scan(VYRE_COMBINE_ADD, VYRE_U32, values, present, room, room_present, 6);
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(values[i], want[i]);
    }
    /* The left operand is the earlier one: of two zeros max keeps the first. */
    uint64_t zeros[3] = {f32(-0.0f), f32(0.0f), f32(1.0f)};
    bool all[3] = {true, true, true};
    vyre_combine_scan(VYRE_COMBINE_MAX, VYRE_F32, zeros, all, room, room_present, 3);
    CHECK_EQ(zeros[2], f32(-0.0f));
}
