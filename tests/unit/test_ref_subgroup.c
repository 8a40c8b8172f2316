/* Subgroup operations with whole and partial subgroups, ended lanes, in every order. The expected
 * tree of a reduction is the recursive reading of its definition. */
#include <math.h>

#include "unit/ref_text.h"

enum { LANES = 72 }; /* of a group: two whole subgroups and one of 8 */

TEST(ballot_and_shuffle) {
    static uint32_t r[2 * LANES * 4];
    static const char text[] = "program votes workgroup(72) {\n"
                               "  inout r : u32[];\n"
                               "  let me = local_id.x;\n"
                               "  if (me % 5 == 0) { exit; }\n"
                               "  let b = subgroup_ballot(me % 2 == 1);\n"
                               "  let n = subgroup_ballot(me);\n"
                               "  let s = subgroup_shuffle(me + 1000, subgroup_local_id + 1);\n"
                               "  let far = subgroup_shuffle(me, 32 + me);\n"
                               "  r[global_id.x * 4] = b;\n"
                               "  r[global_id.x * 4 + 1] = n;\n"
                               "  r[global_id.x * 4 + 2] = s;\n"
                               "  r[global_id.x * 4 + 3] = far + 1;\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){.grid = {2}}, (ref_buffer[]){BUFFER("r", r), {0}});
    for (size_t i = 0; i < sizeof r / sizeof *r / 4; i++) {
        uint32_t me = (uint32_t)(i % LANES), odd = 0, nonzero = 0, first = me / 32 * 32;
        for (uint32_t j = first; j < first + 32 && j < LANES; j++) {
            odd |= j % 5 && j % 2 ? 1u << (j - first) : 0;
            nonzero |= j % 5 ? 1u << (j - first) : 0;
        }
        bool present = (me + 1) % 5 != 0 && me + 1 < first + 32 && me + 1 < LANES;
        CHECK_EQ(r[i * 4], me % 5 ? odd : 0);
        CHECK_EQ(r[i * 4 + 1], me % 5 ? nonzero : 0);
        CHECK_EQ(r[i * 4 + 2], me % 5 && present ? me + 1001 : 0);
        CHECK_EQ(r[i * 4 + 3], me % 5 ? 1 : 0);
    }
}

TEST(any_and_all) {
    static uint32_t r[LANES * 4];
    ref_run_all("program votes workgroup(72) {\n"
                "  inout r : u32[];\n"
                "  let me = local_id.x;\n"
                "  if (me == 5) { exit; }\n"
                "  r[me * 4] = u32(subgroup_any(me == 40 || me == 5));\n"
                "  r[me * 4 + 1] = u32(subgroup_all(me != 40 && me != 5));\n"
                "  let odd = subgroup_any(me & 2); r[me * 4 + 2] = select(odd, 3, 7);\n"
                "  r[me * 4 + 3] = u32(subgroup_all(me));\n"
                "}\n",
                (vyre_ref_args){0}, (ref_buffer[]){BUFFER("r", r), {0}});
    for (size_t i = 0; i < LANES; i++) {
        CHECK_EQ(r[i * 4], i / 32 == 1);
        CHECK_EQ(r[i * 4 + 1], i != 5 && i / 32 != 1);
        CHECK_EQ(r[i * 4 + 2], i == 5 ? 0 : 3);
        CHECK_EQ(r[i * 4 + 3], i / 32 != 0);
    }
}

/* Of every type, with lanes that have ended and distances beyond everything. */
TEST(shuffles_by_distance) {
    static const char *const types[] = {"u32", "i32", "u64", "i64", "f32", "f64"};
    static const uint32_t distances[] = {0, 1, 7, 31, 32, 40, 0x80000000, 0xffffffe1, UINT32_MAX};
    static uint32_t d[9], r[9 * LANES * 4];
    memcpy(d, distances, sizeof d);
    for (uint32_t t = 0; t < 6; t++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "program far workgroup(72) {\n"
            "  in d : u32[]; inout r : u32[]; let me = local_id.x; if (me %% 5 == 0) { exit; }\n"
            "  for (k in 0 .. 9) { let at = (k * 72 + me) * 4; let v = %s(me + 1);\n"
            "    r[at] = u32(subgroup_shuffle_up(v, d[k]));\n"
            "    r[at + 1] = u32(subgroup_shuffle_down(v, d[k]));\n"
            "    r[at + 2] = u32(subgroup_shuffle_xor(v, d[k]));\n"
            "    r[at + 3] = u32(subgroup_shuffle_xor(me %% 3 == 1, d[k])); } }\n",
            types[t]);
        ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){BUFFER("d", d), BUFFER("r", r), {0}});
        for (uint32_t i = 0; i < 9 * LANES; i++) {
            const uint32_t me = i % LANES, first = me / 32 * 32;
            const int64_t by = distances[i / LANES], id = me % 32;
            const int64_t from[] = {id - by, id + by, id ^ by, id ^ by};
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t lane = first + (uint32_t)from[k];
                const bool there = from[k] >= 0 && from[k] < 32 && lane < LANES && lane % 5 != 0;
                const uint32_t value = k == 3 ? lane % 3 == 1 : lane + 1;
                CHECK_EQ(r[i * 4 + k], there && me % 5 != 0 ? value : 0);
            }
        }
    }
}

typedef struct entry {
    bool present;
    float value;
} entry;

static entry combined(char op, const entry *lanes, uint32_t place, uint32_t stride) {
    if (stride == 32) {
        return lanes[place];
    }
    entry a = combined(op, lanes, place, stride * 2);
    entry b = combined(op, lanes, place + stride, stride * 2);
    if (!a.present || !b.present) {
        return a.present ? a : b;
    }
    float x = a.value, y = b.value;
    a.value = op == '+'   ? x + y
              : op == '*' ? x * y
              : op == '<' ? (y < x || x != x ? y : x)
                          : (y > x || x != x ? y : x);
    return a;
}

TEST(float_reductions_combine_as_a_tree) {
    static float x[LANES], r[LANES * 4];
    static const char text[] = "program trees workgroup(72) {\n"
                               "  in x : f32[]; inout r : f32[];\n"
                               "  let me = local_id.x;\n"
                               "  if (me == 0 || me % 7 == 3) { exit; }\n"
                               "  r[me * 4] = subgroup_add(x[me]);\n"
                               "  r[me * 4 + 1] = subgroup_mul(x[me]);\n"
                               "  r[me * 4 + 2] = subgroup_min(x[me]);\n"
                               "  r[me * 4 + 3] = subgroup_max(x[me]);\n"
                               "}\n";
    uint64_t state = 5;
    entry lanes[96] = {{0}};
    for (uint32_t i = 0; i < LANES; i++) {
        x[i] = ((float)(test_random(&state) >> 40) - 8388608.0f) / 9000000.0f + 1.1f;
        x[i] = i == 40 ? NAN : x[i] * (float)(1 + i % 9 * 7);
        lanes[i] = (entry){!(i == 0 || i % 7 == 3), x[i]};
    }
    ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){BUFFER("x", x), BUFFER("r", r), {0}});
    static const char ops[] = "+*<>";
    float forward = 0;
    for (size_t i = 0; i < LANES; i++) {
        for (uint32_t k = 0; k < 4 && lanes[i].present; k++) {
            float want = combined(ops[k], lanes + i / 32 * 32, 0, 1).value, got = r[i * 4 + k];
            CHECK(got == want || (isnan(got) && isnan(want)));
        }
        forward += i < 32 && lanes[i].present ? x[i] : 0;
    }
    CHECK(forward != r[4]); /* else this test could not tell a tree from a loop */
}

/* Place i after so many steps of a scan, by its definition. */
static entry scanned(const entry *lanes, uint32_t i, uint32_t steps) {
    if (steps == 0) {
        return lanes[i];
    }
    const uint32_t d = 1u << (steps - 1);
    entry y = scanned(lanes, i, steps - 1);
    if (i < d) {
        return y;
    }
    entry x = scanned(lanes, i - d, steps - 1);
    return !y.present ? x : !x.present ? y : (entry){true, x.value + y.value};
}

TEST(scans_add_in_steps) {
    static float x[LANES], r[LANES];
    static uint64_t n[LANES];
    entry lanes[96] = {{0}};
    uint64_t state = 6;
    for (uint32_t i = 0; i < LANES; i++) {
        x[i] = ((float)(test_random(&state) >> 40) - 8388608.0f) / 9000000.0f + 1.1f;
        x[i] *= (float)(1 + i % 9 * 7);
        lanes[i] = (entry){!(i == 0 || i % 7 == 3), x[i]};
    }
    ref_run_all("program scans workgroup(72) {\n"
                "  in x : f32[]; inout r : f32[]; inout n : u64[]; let me = local_id.x;\n"
                "  if (me == 0 || me % 7 == 3) { exit; }\n"
                "  r[me] = subgroup_scan_add(x[me]);\n"
                "  n[me] = subgroup_scan_add(u64(me) << 40);\n"
                "}\n",
                (vyre_ref_args){0},
                (ref_buffer[]){BUFFER("x", x), BUFFER("r", r), BUFFER("n", n), {0}});
    float forward = 0;
    uint64_t sum = 0;
    bool differs = false;
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t first = i / 32 * 32;
        forward = i % 32 ? forward : 0;
        sum = i % 32 ? sum : 0;
        if (lanes[i].present) {
            const entry want = i % 32 ? scanned(lanes + first, i % 32 - 1, 5) : (entry){0};
            CHECK(r[i] == (want.present ? want.value : 0) && !signbit(r[i] == 0 ? r[i] : 0.0f));
            CHECK_EQ(n[i], sum << 40);
            differs |= r[i] != forward;
            forward += x[i];
            sum += i;
        }
    }
    CHECK(differs); /* else this test could not tell steps from a loop */
}

TEST(integer_reductions_of_every_type) {
    static const char *const types[] = {"u32", "i32", "u64", "i64"};
    for (uint32_t t = 0; t < 4; t++) {
        uint32_t size = t < 2 ? 4 : 8;
        uint64_t all = t < 2 ? UINT32_MAX : UINT64_MAX;
        uint64_t x[40], want[7] = {0, 1, 0, 0, all, 0, 0};
        static uint8_t in[40 * 8], out[7 * 8];
        char text[1024];
        uint64_t state = t;
        for (size_t i = 0; i < 40; i++) {
            x[i] = test_random(&state) & all;
            memcpy(in + i * size, &x[i], size);
        }
        /* The second subgroup: lanes 32 to 39, of which 35 has ended. */
        want[2] = want[3] = x[32];
        for (uint32_t i = 32; i < 40; i++) {
            if (i != 35) {
                bool narrow = size == 4;
                bool below = t % 2 == 0 ? x[i] < want[2]
                             : narrow   ? (int32_t)x[i] < (int32_t)want[2]
                                        : (int64_t)x[i] < (int64_t)want[2];
                bool above = t % 2 == 0 ? x[i] > want[3]
                             : narrow   ? (int32_t)x[i] > (int32_t)want[3]
                                        : (int64_t)x[i] > (int64_t)want[3];
                want[0] = (want[0] + x[i]) & all;
                want[1] = (want[1] * x[i]) & all;
                want[2] = below ? x[i] : want[2];
                want[3] = above ? x[i] : want[3];
                want[4] &= x[i];
                want[5] |= x[i];
                want[6] ^= x[i];
            }
        }
        snprintf(text, sizeof text,
                 "program r workgroup(40) { in x : %s[]; inout r : %s[];\n"
                 "  let me = local_id.x; if (me == 35) { exit; } let v = x[me];\n"
                 "  let a = subgroup_add(v); let b = subgroup_mul(v); let c = subgroup_min(v);\n"
                 "  let d = subgroup_max(v); let e = subgroup_and(v); let f = subgroup_or(v);\n"
                 "  let g = subgroup_xor(v);\n"
                 "  if (me == 33) { r[0] = a; r[1] = b; r[2] = c; r[3] = d; r[4] = e; r[5] = f; "
                 "r[6] = g; } }\n",
                 types[t], types[t]);
        ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){{"x", in, 40}, {"r", out, 7}, {0}});
        for (size_t k = 0; k < 7; k++) {
            uint64_t got = 0;
            memcpy(&got, out + k * size, size);
            CHECK_EQ(got, want[k]);
        }
    }
}

/* In a loop, next to barriers, and with f64. */
TEST(subgroups_between_barriers) {
    static double r[64];
    static const char text[] = "program mix workgroup(64) {\n"
                               "  inout r : f64[]; workgroup w : f64[2];\n"
                               "  let total = 0.0d;\n"
                               "  for (k in 0 .. 3) {\n"
                               "    let s = subgroup_add(f64(local_id.x + k));\n"
                               "    if (subgroup_local_id == 0) { w[local_id.x / 32] = s; }\n"
                               "    barrier;\n"
                               "    total = total + w[0] + w[1];\n"
                               "    barrier;\n"
                               "  }\n"
                               "  r[local_id.x] = total;\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){BUFFER("r", r), {0}});
    for (uint32_t i = 0; i < 64; i++) {
        CHECK(r[i] == 3 * 2016 + 64 + 128);
    }
}
