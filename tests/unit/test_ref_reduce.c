/* Reductions and scans over the group and the grid: groups and grids of sizes that are no powers of
 * two, ended lanes, groups without a living lane, in every order of lanes. The expected tree and
 * scan are the recursive reading of their definition. */
#include <math.h>

#include "unit/ref_text.h"

enum { SIZE = 6, GROUPS = 5, LANES = SIZE * GROUPS };

typedef struct entry {
    bool present;
    float value;
} entry;

static entry sum_of(entry a, entry b) {
    if (a.present && b.present) {
        return (entry){true, a.value + b.value};
    }
    return a.present ? a : b;
}

/* Position `at` of the tree, of which those that are `stride` apart belong together. */
static entry tree(const entry *row, uint32_t count, uint32_t at, uint32_t stride) {
    if (stride >= count) {
        return at < count ? row[at] : (entry){0};
    }
    return sum_of(tree(row, count, at, stride * 2), tree(row, count, at + stride, stride * 2));
}

/* Position `at` of the inclusive scan behind the step by `distance` / 2. */
static entry scan(const entry *row, uint32_t at, uint32_t distance) {
    if (distance == 1) {
        return row[at];
    }
    const uint32_t half = distance / 2;
    const entry own = scan(row, at, half);
    return at < half ? own : sum_of(scan(row, at - half, half), own);
}

static float value_of(uint32_t lane) {
    return 1.0f / (float)(lane + 1) + (lane % 3 == 0 ? 1e6f : 0.0f);
}

/* Lanes of group 3 have ended, and some others. */
static bool lives(uint32_t lane) {
    return lane / SIZE != 3 && lane % 4 != 1;
}

static void expect(const float *r, bool ends) {
    entry row[GROUPS][SIZE], value[GROUPS], total[GROUPS];
    for (uint32_t i = 0; i < LANES; i++) {
        row[i / SIZE][i % SIZE] = (entry){!ends || lives(i), value_of(i)};
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        value[g] = tree(row[g], SIZE, 0, 1);
        total[g] = scan(row[g], SIZE - 1, 8);
    }
    const float all = tree(value, GROUPS, 0, 1).value;
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t g = i / SIZE, l = i % SIZE;
        const entry before = l > 0 ? scan(row[g], l - 1, 8) : (entry){0};
        const entry base = g > 0 ? scan(total, g - 1, 8) : (entry){0};
        const float within = before.present ? before.value : 0;
        const float want[] = {value[g].value, within, all, (base.present ? base.value : 0) + within,
                              total[g].value};
        for (uint32_t k = 0; k < 5; k++) {
            CHECK(r[5 * i + k] == (ends && !lives(i) ? -1 : want[k]));
        }
    }
}

static void run(bool ends) {
    static float x[LANES], r[5 * LANES];
    char text[800];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(3, 2) {\n"
                   "  in x : f32[]; inout r : f32[];\n"
                   "  let l = local_id.y * 3 + local_id.x; let i = group_id.x * 6 + l;\n"
                   "  if (%s && (group_id.x == 3 || i %% 4 == 1)) { exit; }\n"
                   "  let v = x[i];\n"
                   "  r[5 * i] = group_add(v);\n"
                   "  r[5 * i + 1] = group_scan_add(v);\n"
                   "  r[5 * i + 2] = grid_add(v);\n"
                   "  r[5 * i + 3] = grid_scan_add(v);\n"
                   "  r[5 * i + 4] = group_scan_total(v);\n"
                   "}\n",
                   ends ? "true" : "false");
    for (uint32_t i = 0; i < LANES; i++) {
        x[i] = value_of(i);
    }
    for (uint32_t i = 0; i < 5 * LANES; i++) {
        r[i] = -1;
    }
    ref_run_all(text, (vyre_ref_args){.grid = {GROUPS}},
                (ref_buffer[]){BUFFER("x", x), BUFFER("r", r), {0}});
    expect(r, ends);
}

TEST(floats_are_combined_in_one_order) {
    run(false);
}

TEST(ended_lanes_and_groups_are_absent) {
    run(true);
}

TEST(integers_and_truth_values) {
    static uint32_t r[4 * 9];
    static const char text[] = "program p workgroup(4) {\n"
                               "  inout r : u32[];\n"
                               "  let i = global_id.x;\n"
                               "  let k = i * 9;\n"
                               "  r[k] = grid_min(i + 3);\n"
                               "  r[k + 1] = grid_max(i + 3);\n"
                               "  r[k + 2] = grid_and(i | 8);\n"
                               "  r[k + 3] = grid_or(i);\n"
                               "  r[k + 4] = grid_xor(1 << i);\n"
                               "  r[k + 5] = u32(grid_any(i == 3)) + 2 * u32(grid_all(i < 3));\n"
                               "  r[k + 6] = group_broadcast(i + 10, 3 - i);\n"
                               "  r[k + 7] = group_broadcast(i + 10, 4) + u32(group_all(i));\n"
                               "  let n = 0;\n"
                               "  while (grid_any(n < i)) { n += 1; }\n"
                               "  r[k + 8] = n;\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){.grid = {1}}, (ref_buffer[]){BUFFER("r", r), {0}});
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t want[] = {3, 6, 8, 3, 15, 1, 13 - i, 0, 3};
        for (uint32_t k = 0; k < 9; k++) {
            CHECK_EQ(r[9 * i + k], want[k]);
        }
    }
}
