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
    {"atomic_store(x[7], global_id.x);\nx[global_id.x + 32] = atomic_load(x[7]);", 0, 0, {0, 0}},
    {"x[global_id.x + 32] = atomic_load(x[7]) + x[7];", 0, 0, {0, 0}},
    {"w[local_id.x] = 1;\nbarrier;\nx[global_id.x] = w[3 - local_id.x];", 0, 0, {0, 0}},
    {"w[local_id.x] = 1;\ngrid_sync;\nx[global_id.x] = w[3 - local_id.x];", 0, 0, {0, 0}},
    {"q[0] = global_id.x;", 0, 0, {0, 0}},
    {"w[local_id.x] = group_id.x;", 0, 0, {0, 0}},             /* each group has its own */
    {"b[global_id.x] = 1;", 0, 0, {0, 0}},                     /* neighbouring bytes are elements */
    {"x[100 + global_id.x % 2] = global_id.x;", 0, 0, {0, 0}}, /* out of bounds: nothing */
    {"if (global_id.x == 0) { x[9] = 1;\natomic_add(x[9], 1); x[9] = x[9] + 1; }", 0, 0, {0, 0}},
    /* What is not asked for is not read. */
    {"if (global_id.x == 0) { x[7] = 1; }\nx[global_id.x + 32] = global_id.x == 0 ? x[7] : 2;",
     0,
     0,
     {0, 0}},
    {"if (global_id.x == 0) { x[7] = 1; }\nx[global_id.x + 32] = global_id.x != 0 ? 2 : x[7];",
     0,
     0,
     {0, 0}},
    {"if (global_id.x == 0) { x[7] = 1; }\nif (global_id.x == 0 && x[7] == 1) { x[33] = 1; }",
     0,
     0,
     {0, 0}},
    {"if (global_id.x == 0) { x[7] = 1; }\nif (global_id.x > 0 || x[7] == 1) { x[global_id.x + 32] "
     "= 1; }",
     0,
     0,
     {0, 0}},
    {"if (global_id.x == 0) { x[7] = 1; }\nx[global_id.x + 32] = (global_id.x == 0 ? global_id.x "
     "== "
     "1 ? x[6] : 3 : x[6]) + 1;",
     0,
     0,
     {0, 0}},
    {"if (global_id.x == 0) { x[7] = 1; }\nx[global_id.x + 32] = select(global_id.x == 0, x[7], "
     "2);",
     1,
     0,
     {3, 4}},
    {"if (global_id.x == 0) { x[7] = 1; }\nx[global_id.x + 32] = global_id.x == 1 ? x[7] : 2;",
     1,
     0,
     {3, 4}},
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
    {"if (global_id.x == 1) { x[7] = 1; }\natomic_store(x[7], 1);", 1, 0, {3, 4}},
    /* Read and write. */
    {"if (global_id.x == 1) { x[7] = 1; }\nx[global_id.x + 32] = atomic_load(x[7]);", 1, 0, {3, 4}},
    {"x[global_id.x + 32] = atomic_load(x[7]);\nif (global_id.x == 1) { x[7] = 1; }", 1, 0, {3, 4}},
    {"if (global_id.x == 1) { atomic_store(x[7], 1); }\nx[global_id.x + 32] = x[7];", 1, 0, {3, 4}},
    {"x[global_id.x] = 1;\nx[global_id.x + 32] = x[(global_id.x + 1) % 8];", 8, 0, {3, 4}},
    {"if (global_id.x == 1) { atomic_add(x[7], 1); }\nx[global_id.x + 32] = x[7];", 1, 0, {3, 4}},
    {"w[local_id.x] = 1;\nx[global_id.x] = w[3 - local_id.x];", 8, 0, {3, 4}},
    {"w[local_id.x] = 1;\nx[global_id.x] = w[local_id.x ^ 1];\nbarrier;", 8, 0, {3, 4}},
    {"x[5] = 3;\nx[global_id.x + 32] = x[5];", 1, 0, {3, 4}}, /* one value, but read */
    {"if (group_id.x == 0) { x[global_id.x + 32] = x[7];\nif (local_id.x == 0) { x[7] = 1; } }",
     1,
     0,
     {3, 4}}, /* the first reader writes; the second is the other lane */
    /* A workgroup barrier orders the lanes of its group, in buffers too, */
    {"x[global_id.x] = 1;\nbarrier;\nx[global_id.x + 32] = x[global_id.x ^ 1];", 0, 0, {0, 0}},
    {"x[global_id.x + 32] = x[global_id.x ^ 3];\nbarrier;\nx[global_id.x] = 1;", 0, 0, {0, 0}},
    {"x[global_id.x] = 1;\nbarrier;\nx[global_id.x ^ 1] = 2;", 0, 0, {0, 0}},
    {"x[global_id.x] = 1;\nbarrier;\natomic_add(x[global_id.x ^ 2], 2);", 0, 0, {0, 0}},
    {"for (k in 0 .. 4) { x[global_id.x ^ k] += 1;\nbarrier; }", 0, 0, {0, 0}},
    {"if (local_id.x == 2) { x[group_id.x] = 5; exit; }\nbarrier;\nx[global_id.x + 32] = "
     "x[group_id.x];",
     0,
     0,
     {0, 0}}, /* that of a lane that has ended, too */
    {"if (local_id.x == 0) { async_store(y, x, 32 * group_id.x, 16, \"t\"); async_wait(\"t\"); "
     "}\nbarrier;\nx[global_id.x + 32] = x[8 * group_id.x + local_id.x];",
     0,
     0,
     {0, 0}},
    /* but not those of others: lanes 3 and 7 read what the other group wrote; */
    {"x[global_id.x] = 1;\nbarrier;\nx[global_id.x + 32] = x[(global_id.x + 1) % 8];",
     2,
     0,
     {3, 5}},
    {"if (group_id.x == 0) { x[local_id.x] = 1; }\nbarrier;\nif (group_id.x == 1) { "
     "x[global_id.x + 32] = x[local_id.x]; }",
     4,
     0,
     {3, 5}},
    {"if (local_id.x == 0) { x[global_id.x + 32] = x[7]; }\nbarrier;\nif (global_id.x == 1) { x[7] "
     "= 1; }",
     1,
     0,
     {3, 5}}, /* the first reader is of the writer's group; the second of the other */
    {"if (local_id.x < 2) { x[global_id.x + 32] = x[7]; }\nbarrier;\nx[global_id.x + 40] = "
     "x[7];\nbarrier;\nif (global_id.x == 1) { x[7] = 1; }",
     1,
     0,
     {3, 7}},
    /* and only across it. */
    {"barrier;\nx[global_id.x] = 1;\nx[global_id.x + 32] = x[global_id.x ^ 1];\nbarrier;",
     8,
     0,
     {4, 5}},
    {"if (group_id.x == 1) { x[7] = 1;\nbarrier;\nx[7] = 2; x[7] = local_id.x; }", 1, 0, {5, 5}},
    /* One value in the group between two barriers is harmless, read behind the second or not; */
    {"if (group_id.x == 0) { x[5] = 3;\nbarrier;\nx[global_id.x + 32] = x[5]; }", 1, 1, {3, 3}},
    {"if (group_id.x == 0) { for (k in 0 .. 3) { x[5] = k;\nbarrier; } }", 1, 1, {3, 3}},
    {"if (group_id.x == 0) { for (k in 0 .. 2) { barrier;\nif (k == 0) { x[5] = 3; } else { if "
     "(local_id.x == k) { x[5] = 4; } } } }",
     1,
     1,
     {4, 4}},
    /* not if the other group stores another or reads, before or behind. */
    {"for (k in 0 .. 3) { x[5] = k;\nbarrier; }", 1, 0, {3, 3}},
    {"x[5] = 3;\nbarrier;\nx[global_id.x + 32] = x[5];", 1, 0, {3, 5}},
    {"if (local_id.x == 0) { x[5] = 3; }\nbarrier;", 1, 1, {3, 3}},
    {"if (local_id.x == 0) { x[5] = group_id.x; }\nbarrier;", 1, 0, {3, 3}},
    /* Of workgroup memory races count between two barriers of any kind. */
    {"for (k in 0 .. 3) { w[1] = k;\nbarrier; }", 6, 6, {3, 3}},
    {"w[local_id.x] = 1;\nbarrier;\nw[local_id.x ^ 1] = 2;\nbarrier;\nx[global_id.x] = "
     "w[local_id.x ^ 2];",
     0,
     0,
     {0, 0}},
    {"w[local_id.x] = 1;\nbarrier;\nw[local_id.x ^ 1] = 2;\nx[global_id.x] = w[local_id.x ^ 2];",
     8,
     0,
     {5, 6}},
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
        CHECK(!races[0].one_group || races[0].first_lane / 4 == races[0].second_lane / 4);
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

/* One report for both: only a grid barrier would order all of them. */
TEST(it_is_told_whether_a_workgroup_barrier_would_do) {
    static const struct {
        const char *index;
        bool one_group;
    } cases[] = {{"global_id.x ^ 1", true},
                 {"7 - global_id.x", false},
                 {"global_id.x + 1", false},
                 {"3", false}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static uint32_t x[64];
        char text[256];
        vyre_race races[4];
        snprintf(text, sizeof text,
                 "program p workgroup(4) { inout x : u32[64];\n"
                 "x[global_id.x] = 1; x[global_id.x + 32] = x[%s]; }",
                 cases[i].index);
        const vyre_ref_args args = {
            .grid = {2}, .find_races = true, .races = races, .race_capacity = 4};
        vyre_ref_result result;
        REQUIRE_OK(ref_run(text, args, (ref_buffer[]){BUFFER("x", x), {0}}, NULL, &result, NULL),
                   NULL);
        CHECK(result.races_stored > 0);
        bool one_group = true;
        for (uint32_t k = 0; k < result.races_stored; k++) {
            one_group &= races[k].one_group;
        }
        CHECK_EQ(one_group, cases[i].one_group);
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

/* Random programs against the definition: every pair of accesses. Four lanes, two in each group,
 * touch three elements, one after the other in the text, with barriers of both kinds between. */
enum { ACTS = 12, ELEMENTS = 3 };
enum { READ, WRITE, ATOMIC, GROUP_BARRIER, GRID_BARRIER, KINDS };

typedef struct act {
    uint32_t kind;
    uint32_t lane, element, value;
    uint32_t grid, group; /* barriers so far: of the grid, and of any kind */
} act;

/* 0: no race; 1: harmless. */
static uint32_t harm_of(const act *a, const act *b) {
    const bool apart = a->lane / 2 != b->lane / 2;
    const bool ordered = a->grid != b->grid || (!apart && a->group != b->group);
    if (a->kind >= GROUP_BARRIER || b->kind >= GROUP_BARRIER || a->element != b->element ||
        a->lane == b->lane || ordered) {
        return 0;
    }
    const bool stores = a->kind == WRITE && b->kind == WRITE;
    return stores && a->value == b->value ? 1 : stores || a->kind != b->kind ? 2 : 0;
}

static void count_pairs(const act *acts, uint64_t *out_races, uint64_t *out_harmless) {
    uint32_t worst[ACTS + 1][ELEMENTS] = {{0}};
    *out_races = *out_harmless = 0;
    for (uint32_t i = 0; i < ACTS * ACTS; i++) {
        const act *a = &acts[i / ACTS], *b = &acts[i % ACTS];
        uint32_t *so_far = &worst[a->grid][a->element], harm = harm_of(a, b);
        *so_far = harm > *so_far ? harm : *so_far;
    }
    for (uint32_t i = 0; i < (ACTS + 1) * ELEMENTS; i++) {
        *out_races += worst[i / ELEMENTS][i % ELEMENTS] != 0;
        *out_harmless += worst[i / ELEMENTS][i % ELEMENTS] == 1;
    }
}

static void write_act(const act *a, FILE *text) {
    static const char *const barriers[] = {"barrier;", "grid_sync;"};
    if (a->kind >= GROUP_BARRIER) {
        (void)fprintf(text, "%s\n", barriers[a->kind - GROUP_BARRIER]);
        return;
    }
    (void)fprintf(text, "if (global_id.x == %u) { ", a->lane);
    if (a->kind == READ) {
        (void)fprintf(text, "y[%u] = x[%u]; }\n", a->lane, a->element);
    } else if (a->kind == WRITE) {
        (void)fprintf(text, "x[%u] = %u; }\n", a->element, a->value);
    } else {
        (void)fprintf(text, "atomic_add(x[%u], 1); }\n", a->element);
    }
}

static void make_acts(uint64_t seed, act acts[ACTS], char *text, size_t size) {
    uint32_t grid = 0, group = 0;
    FILE *out = fmemopen(text, size, "w");
    REQUIRE(out);
    (void)fprintf(out, "program p workgroup(2) { inout x : u32[3]; out y : u32[4];\n");
    for (uint32_t i = 0; i < ACTS; i++) {
        act *a = &acts[i];
        *a = (act){.kind = (uint32_t)test_random_below(&seed, KINDS),
                   .lane = (uint32_t)test_random_below(&seed, 4),
                   .element = (uint32_t)test_random_below(&seed, ELEMENTS),
                   .value = (uint32_t)test_random_below(&seed, 2)};
        a->kind -= a->kind == GRID_BARRIER && a->lane != 0; /* few of them */
        grid += a->kind == GRID_BARRIER;
        group += a->kind >= GROUP_BARRIER;
        a->grid = grid;
        a->group = group;
        write_act(a, out);
    }
    (void)fprintf(out, "}\n");
    (void)fclose(out);
}

TEST(nothing_is_missed_or_made_up) {
    static uint32_t x[ELEMENTS], y[4];
    uint64_t racy = 0, harmless = 0;
    const uint64_t programs = test_scaled(3000);
    for (uint64_t seed = 0; seed < programs && !test_failed(); seed++) {
        act acts[ACTS];
        char text[2048];
        uint64_t want, want_harmless;
        make_acts(seed, acts, text, sizeof text);
        count_pairs(acts, &want, &want_harmless);
        const vyre_ref_args args = {
            .grid = {2}, .order = (vyre_ref_order)(seed % 4), .seed = seed, .find_races = true};
        vyre_ref_result result;
        const ref_buffer buffers[] = {BUFFER("x", x), BUFFER("y", y), {0}};
        REQUIRE_OK(ref_run(text, args, buffers, NULL, &result, NULL), NULL);
        if (result.race_count != want || result.harmless_race_count != want_harmless) {
            test_fail(__FILE__, __LINE__, "%d races, %d harmless instead of %d, %d in:\n%s",
                      (int)result.race_count, (int)result.harmless_race_count, (int)want,
                      (int)want_harmless, text);
        }
        racy += want > want_harmless;
        harmless += want_harmless > 0;
    }
    CHECK(racy > programs / 4 && racy < programs - programs / 20);
    CHECK(harmless > programs / 50);
}
