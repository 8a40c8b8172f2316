/* Verdicts of the race detector: programs with and without a race, of each kind, over each memory.
 */
#include "unit/ref_text.h"

typedef struct verdict {
    const char *body;
    uint64_t races, harmless;
    uint32_t lines[2]; /* of the first report, in ascending order; the body begins at line 3 */
} verdict;

static const char declarations[] = "program p workgroup(4) {\n"
                                   "  inout x : u32[64]; in y : u32[4]; inout b : u8[8]; workgroup "
                                   "w : u32[8]; private q : u32[4];\n";

static const verdict verdicts[] = {
    /* No race: each its own, reads only, atomics only, the same lane, other intervals. */
    {"x[global_id.x] = y[0] + y[1];\nx[global_id.x] = x[global_id.x] + 1;", 0, 0, {0, 0}},
    {"x[global_id.x + 32] = x[0] + x[1];", 0, 0, {0, 0}},
    {"atomic_add(x[0], 1);\natomic_max(x[0], 7);", 0, 0, {0, 0}},
    {"x[global_id.x] = 1;\ngrid_sync;\nx[(global_id.x + 1) % 8] = 2;", 0, 0, {0, 0}},
    {"w[local_id.x] = 1;\nbarrier;\nx[global_id.x] = w[3 - local_id.x];", 0, 0, {0, 0}},
    {"w[local_id.x] = 1;\ngrid_sync;\nx[global_id.x] = w[3 - local_id.x];", 0, 0, {0, 0}},
    {"q[0] = global_id.x;", 0, 0, {0, 0}},
    {"w[local_id.x] = group_id.x;", 0, 0, {0, 0}},             /* each group has its own */
    {"b[global_id.x] = 1;", 0, 0, {0, 0}},                     /* neighbouring bytes are elements */
    {"x[100 + global_id.x % 2] = global_id.x;", 0, 0, {0, 0}}, /* out of bounds: nothing */
    {"if (global_id.x == 0) { x[9] = 1;\natomic_add(x[9], 1); x[9] = x[9] + 1; }", 0, 0, {0, 0}},
    /* Harmless: one value. */
    {"x[5] = 3;", 1, 1, {3, 3}},
    {"if (global_id.x < 4) { x[5] = 3; } else { x[5] = 3; }\ngrid_sync;\nx[global_id.x + 32] = "
     "x[5];",
     1,
     1,
     {3, 3}},
    {"b[1] = 0x100 * global_id.x;", 1, 1, {3, 3}}, /* the same bytes */
    {"w[1] = 4;", 2, 2, {3, 3}},                   /* one in each group */
    {"for (k in 0 .. 3) { x[5] = k;\ngrid_sync; }", 3, 3, {3, 3}},
    /* Write and write. */
    {"x[5] = global_id.x;", 1, 0, {3, 3}},
    {"if (global_id.x == 3) { x[7] = 1; }\nif (global_id.x == 6) { x[7] = 2; }", 1, 0, {3, 4}},
    {"x[global_id.x / 2] = global_id.x;", 4, 0, {3, 3}},
    {"w[1] = local_id.x;", 2, 0, {3, 3}},
    {"if (global_id.x == 1) { x[7] = 1; }\natomic_add(x[7], 1);", 1, 0, {3, 4}},
    /* Read and write. */
    {"x[global_id.x] = 1;\nx[global_id.x + 32] = x[(global_id.x + 1) % 8];", 8, 0, {3, 4}},
    {"if (global_id.x == 1) { atomic_add(x[7], 1); }\nx[global_id.x + 32] = x[7];", 1, 0, {3, 4}},
    {"w[local_id.x] = 1;\nx[global_id.x] = w[3 - local_id.x];", 8, 0, {3, 4}},
    {"w[local_id.x] = 1;\nx[global_id.x] = w[local_id.x ^ 1];\nbarrier;", 8, 0, {3, 4}},
    {"x[5] = 3;\nx[global_id.x + 32] = x[5];", 1, 0, {3, 4}}, /* one value, but read */
    {"x[global_id.x] = 1;\nbarrier;\nx[global_id.x + 32] = x[(global_id.x + 1) % 8];",
     8,
     0,
     {3, 5}}, /* a workgroup barrier ends no interval of a buffer */
    {"if (group_id.x == 0) { x[global_id.x + 32] = x[7];\nbarrier;\nif (local_id.x == 0) { x[7] = "
     "1; } }",
     1,
     0,
     {3, 5}}, /* the first reader writes; the second is the other lane */
    /* Async copies read at begin and write at wait. */
    {"async_store(y, x, 4, 8, \"t\");\nasync_wait(\"t\");", 2, 2, {4, 4}},
    {"x[global_id.x] = 1;\nasync_load(x, q, 0, 16, \"t\");\nasync_wait(\"t\");", 4, 0, {3, 4}},
};

static void judge(const verdict *v, vyre_ref_order order, uint64_t seed) {
    static uint32_t x[64], y[4] = {1, 2, 3, 4};
    static uint8_t b[8];
    char text[1024];
    vyre_race races[8];
    snprintf(text, sizeof text, "%s%s\n}\n", declarations, v->body);
    vyre_ref_args args = {.grid = {2},
                          .order = order,
                          .seed = seed,
                          .find_races = true,
                          .races = races,
                          .race_capacity = 8};
    vyre_ref_result result;
    vyre_diag diag = {0};
    memset(x, 0, sizeof x);
    REQUIRE_OK(ref_run(text, args,
                       (ref_buffer[]){BUFFER("x", x), BUFFER("y", y), BUFFER("b", b), {0}}, NULL,
                       &result, &diag),
               &diag);
    if (result.race_count != v->races || result.harmless_race_count != v->harmless) {
        test_fail(__FILE__, __LINE__, "order %d: %d races, %d harmless in: %s", (int)order,
                  (int)result.race_count, (int)result.harmless_race_count, v->body);
        return;
    }
    CHECK_EQ(result.races_stored != 0, v->races != 0);
    if (v->races) {
        vyre_program *program = ref_parse(text);
        uint32_t first = vyre_program_stmt_place(program, races[0].first).line;
        uint32_t second = vyre_program_stmt_place(program, races[0].second).line;
        CHECK_EQ(first < second ? first : second, v->lines[0]);
        CHECK_EQ(first < second ? second : first, v->lines[1]);
        CHECK(races[0].first_lane != races[0].second_lane);
        CHECK(races[0].first_writes || races[0].second_writes);
        CHECK_EQ(races[0].harmless, v->harmless != 0);
        vyre_program_release(program);
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < result.races_stored; i++) {
        total += races[i].count;
    }
    CHECK_EQ(total, v->races);
}

/* Totals do not depend on the order for these programs. */
TEST(verdicts) {
    for (uint32_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        for (uint32_t run = 0; run < 8; run++) {
            judge(&verdicts[i], run < 4 ? (vyre_ref_order)run : VYRE_REF_RANDOM, run);
        }
    }
}

/* The report list is bounded, the counts are not; each pair of statements takes one place. */
TEST(reports_are_bounded_and_grouped) {
    static const char text[] = "program p workgroup(8) { inout x : u32[64];\n"
                               "for (k in 0 .. 64) { x[k] = global_id.x; }\n"
                               "for (k in 0 .. 64) { x[k] = global_id.x + 1; }\n"
                               "}\n";
    static uint32_t x[64];
    for (uint32_t capacity = 0; capacity < 4; capacity++) {
        vyre_race races[4];
        vyre_ref_args args = {.find_races = true, .races = races, .race_capacity = capacity};
        vyre_ref_result result;
        REQUIRE_OK(ref_run(text, args, (ref_buffer[]){BUFFER("x", x), {0}}, NULL, &result, NULL),
                   NULL);
        CHECK_EQ(result.race_count, 64);
        CHECK_EQ(result.races_stored, capacity ? 1 : 0);
        CHECK_EQ(capacity ? races[0].count : 64, 64);
    }
}

/* A race that turns harmful late moves to another report and leaves no empty one behind. */
TEST(a_harmless_race_may_turn_harmful) {
    static const char text[] = "program p workgroup(8) { inout x : u32[64];\n"
                               "x[0] = 3;\n"
                               "if (global_id.x == 7) { x[0] = 4; }\n"
                               "}\n";
    static uint32_t x[64];
    vyre_race races[4];
    vyre_ref_args args = {.find_races = true, .races = races, .race_capacity = 4};
    vyre_ref_result result;
    REQUIRE_OK(ref_run(text, args, (ref_buffer[]){BUFFER("x", x), {0}}, NULL, &result, NULL), NULL);
    CHECK_EQ(result.race_count, 1);
    CHECK_EQ(result.harmless_race_count, 0);
    CHECK_EQ(result.races_stored, 1);
    CHECK(!races[0].harmless);
    CHECK_EQ(races[0].second_lane, 7);
    CHECK_EQ(races[0].count, 1);
}
