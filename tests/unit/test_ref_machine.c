/* Control flow, ids, barriers at every nesting, functions, private state over grid barriers,
 * orders: programs whose results are worked out by plain C code or by hand. */
#include "unit/ref_text.h"

TEST(ids_of_a_grid_of_three_dimensions) {
    static uint32_t got[7 * 120];
    static const char text[] = "program ids workgroup(2, 3, 1) {\n"
                               "  inout r : u32[];\n"
                               "  let n = global_id.x + global_size.x * (global_id.y + "
                               "global_size.y * global_id.z);\n"
                               "  r[n * 7] = local_id.x + 10 * local_id.y + 100 * local_id.z;\n"
                               "  r[n * 7 + 1] = group_id.x + 10 * group_id.y + 100 * group_id.z;\n"
                               "  r[n * 7 + 2] = num_groups.x + 10 * num_groups.y + 100 * "
                               "num_groups.z;\n"
                               "  r[n * 7 + 3] = group_size.x + 10 * group_size.y + 100 * "
                               "group_size.z;\n"
                               "  r[n * 7 + 4] = global_size.x + 100 * global_size.y + 10000 * "
                               "global_size.z;\n"
                               "  r[n * 7 + 5] = subgroup_local_id;\n"
                               "  r[n * 7 + 6] = subgroup_size + len(r);\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){.grid = {5, 2, 2}}, (ref_buffer[]){BUFFER("r", got), {0}});
    for (size_t z = 0; z < 2; z++) {
        for (uint32_t y = 0; y < 6; y++) {
            for (uint32_t x = 0; x < 10; x++) {
                const uint32_t *r = &got[7 * (x + 10 * (y + 6 * z))];
                CHECK_EQ(r[0], x % 2 + 10 * (y % 3));
                CHECK_EQ(r[1], x / 2 + 10 * (y / 3) + 100 * z);
                CHECK_EQ(r[2], 5 + 20 + 200);
                CHECK_EQ(r[3], 2 + 30 + 100);
                CHECK_EQ(r[4], 10 + 600 + 20000);
                CHECK_EQ(r[5], x % 2 + 2 * (y % 3));
                CHECK_EQ(r[6], 32 + 840);
            }
        }
    }
}

TEST(control_flow) {
    static uint32_t got[16];
    static const char text[] = "program flow workgroup(4) {\n"
                               "  inout r : u32[];\n"
                               "  const twice = base * 2;\n"
                               "  const base : u32 = 4;\n"
                               "  let me = global_id.x;\n"
                               "  let sum = 0;\n"
                               "  for (i in 0 .. me * 3 step 2) {\n"
                               "    if (i == 4) { continue; }\n"
                               "    for (j in 0 .. 10) {\n"
                               "      if (j > i) { break; }\n"
                               "      sum = sum + 1;\n"
                               "    }\n"
                               "  }\n"
                               "  r[me] = sum;\n"
                               "  let n = me;\n"
                               "  let trips = 0;\n"
                               "  while (n != 1 && n != 0) {\n"
                               "    if (n % 2 == 0) { n = n / 2; } else { n = 3 * n + 1; }\n"
                               "    trips = trips + 1;\n"
                               "  }\n"
                               "  r[base + me] = trips;\n"
                               "  { region \"inner\" { r[twice + me] = 7; } }\n"
                               "  if (me == 2) { exit; }\n"
                               "  r[12 + me] = 9;\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){BUFFER("r", got), {0}});
    for (uint32_t me = 0; me < 4; me++) {
        uint32_t sum = 0, trips = 0;
        for (uint32_t i = 0; i < me * 3; i += 2) {
            sum += i == 4 ? 0 : i + 1 < 10 ? i + 1 : 10;
        }
        for (uint32_t n = me; n > 1; trips++) {
            n = n % 2 ? 3 * n + 1 : n / 2;
        }
        CHECK_EQ(got[me], sum);
        CHECK_EQ(got[4 + me], trips);
        CHECK_EQ(got[8 + me], 7);
        CHECK_EQ(got[12 + me], me == 2 ? 0 : 9);
    }
}

TEST(counted_loops_at_the_edges) {
    static uint32_t got[6];
    uint64_t zero = 0, top = 0xffffffff;
    static const char text[] = "program edges workgroup(1) {\n"
                               "  inout r : u32[];\n"
                               "  param none : u32; param top : u32;\n"
                               "  for (i in 0 .. 5 step none) { r[0] = r[0] + 1; }\n"
                               "  for (i in 5 .. 5) { r[1] = r[1] + 1; }\n"
                               "  for (i in 6 .. 5) { r[2] = r[2] + 1; }\n"
                               "  for (i in top - 3 .. top step 2) { r[3] = r[3] + 1; }\n"
                               "  let end = 3;\n"
                               "  for (i in 0 .. end) { end = 100; r[4] = r[4] + 1; }\n"
                               "  for (i in 0xfffffff0 .. top step 0x20) { r[5] = r[5] + 1; }\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){0},
                (ref_buffer[]){BUFFER("r", got), {"none", &zero, 0}, {"top", &top, 0}, {0}});
    static const uint32_t want[] = {0, 0, 0, 2, 3, 1};
    CHECK(memcmp(got, want, sizeof want) == 0);
}

/* A tree reduction in workgroup memory; the barrier stands in a counted loop. */
TEST(workgroup_memory_and_barriers_in_loops) {
    static uint32_t in[8 * 64], got[8];
    static const char text[] =
        "program sums workgroup(64) {\n"
        "  in x : u32[]; inout r : u32[];\n"
        "  workgroup part : u32[64];\n"
        "  part[local_id.x] = x[global_id.x] + part[local_id.x];\n"
        "  barrier;\n"
        "  let half = 32;\n"
        "  for (i in 0 .. 6) {\n"
        "    if (local_id.x < half) {\n"
        "      part[local_id.x] = part[local_id.x] + part[local_id.x + half];\n"
        "    }\n"
        "    half = half / 2;\n"
        "    barrier;\n"
        "  }\n"
        "  if (local_id.x == 0) { r[group_id.x] = part[0]; }\n"
        "}\n";
    uint32_t want[8] = {0};
    for (uint32_t i = 0; i < 8 * 64; i++) {
        in[i] = i * i;
        want[i / 64] += in[i];
    }
    ref_run_all(text, (vyre_ref_args){.grid = {8}},
                (ref_buffer[]){BUFFER("x", in), BUFFER("r", got), {0}});
    CHECK(memcmp(got, want, sizeof want) == 0);
}

/* Grid barriers in a while, an if, a function and a counted loop; variables, workgroup memory and
 * private arrays go over all of them. Each lane passes a token to its right neighbour. */
TEST(grid_barriers_at_every_nesting_keep_all_state) {
    enum { LANES = 48 };
    static uint32_t ring[2 * LANES], got[3 * LANES], rounds[1] = {5};
    static const char text[] =
        "program ring workgroup(8) {\n"
        "  inout ring : u32[]; inout r : u32[]; in rounds : u32[];\n"
        "  workgroup mine : u32[8];\n"
        "  private kept : u32[5];\n"
        "  fn turn(at : u32, value : u32) -> u32 {\n"
        "    ring[at + (global_id.x + 1) % global_size.x] = value;\n"
        "    grid_sync;\n"
        "    return ring[at + global_id.x];\n"
        "  }\n"
        "  let token = global_id.x;\n"
        "  let trip = 0;\n"
        "  mine[local_id.x] = global_id.x * 3;\n"
        "  while (trip < rounds[0]) {\n"
        "    kept[trip] = token;\n"
        "    if (trip % 2 == 0) {\n"
        "      token = turn(0, token + 100);\n"
        "    } else {\n"
        "      { region \"odd\" { token = turn(len(ring) / 2, token + 1); } }\n"
        "    }\n"
        "    for (k in 0 .. 2) { grid_sync; token = token + k; }\n"
        "    trip = trip + 1;\n"
        "  }\n"
        "  r[global_id.x] = token;\n"
        "  r[global_size.x + global_id.x] = mine[local_id.x];\n"
        "  r[2 * global_size.x + global_id.x] = kept[0] + 1000 * kept[4];\n"
        "}\n";
    ref_run_all(
        text, (vyre_ref_args){.grid = {6}},
        (ref_buffer[]){BUFFER("ring", ring), BUFFER("r", got), BUFFER("rounds", rounds), {0}});
    for (uint32_t i = 0; i < LANES; i++) {
        /* After five turns the token of lane i - 5; each even turn adds 100, odd 1, every round 1.
         */
        CHECK_EQ(got[i], (i + LANES - 5) % LANES + 3 * 100 + 2 + 5);
        CHECK_EQ(got[LANES + i], 3 * i);
        CHECK_EQ(got[2 * LANES + i], i + 1000 * ((i + LANES - 4) % LANES + 2 * 100 + 2 + 4));
    }
}

TEST(lanes_that_ended_count_as_arrived) {
    static uint32_t got[64], flags[64];
    static const char text[] = "program early workgroup(8) {\n"
                               "  inout r : u32[]; inout f : u32[];\n"
                               "  if (global_id.x % 3 == 0) { exit; }\n"
                               "  if (group_id.x == 2) { exit; }\n"
                               "  f[global_id.x] = global_id.x;\n"
                               "  barrier;\n"
                               "  if (local_id.x == 7) { exit; }\n"
                               "  grid_sync;\n"
                               "  r[global_id.x] = f[(global_id.x + 1) % 64] + 1;\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){.grid = {8}},
                (ref_buffer[]){BUFFER("r", got), BUFFER("f", flags), {0}});
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t next = (i + 1) % 64;
        uint32_t seen = next % 3 == 0 || next / 8 == 2 ? 0 : next;
        CHECK_EQ(got[i], i % 3 == 0 || i / 8 == 2 || i % 8 == 7 ? 0 : seen + 1);
    }
}

TEST(functions_nest_and_may_have_no_result) {
    static uint32_t got[8];
    static const char text[] = "program calls workgroup(4) {\n"
                               "  inout r : u32[];\n"
                               "  fn twice(a : u32) -> u32 { return a + a; }\n"
                               "  fn put(at : u32, a : u32) {\n"
                               "    a = twice(twice(a));\n"
                               "    if (a > 8) { a = 1000; }\n"
                               "    r[at] = a;\n"
                               "  }\n"
                               "  fn nothing() { }\n"
                               "  for (k in 0 .. 2) { nothing(); put(global_id.x + k * 4, "
                               "global_id.x + k); }\n"
                               "}\n";
    ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){BUFFER("r", got), {0}});
    static const uint32_t want[] = {0, 4, 8, 1000, 4, 8, 1000, 1000};
    CHECK(memcmp(got, want, sizeof want) == 0);
}

/* An opaque function runs as its lowering; indirect_dispatch is the caller's business. */
TEST(opaque_functions_and_indirect_dispatch) {
    static uint32_t got[8], words[3] = {9, 9, 9};
    static const char text[] =
        "program other workgroup(4) {\n"
        "  inout r : u32[]; in words : u32[];\n"
        "  opaque fn mark(a : u32) -> u32 writes(r) { r[a + 4] = a; return a * "
        "2; }\n"
        "  indirect_dispatch(words, 0);\n"
        "  r[global_id.x] = mark(global_id.x);\n"
        "}\n";
    ref_run_all(text, (vyre_ref_args){0},
                (ref_buffer[]){BUFFER("r", got), BUFFER("words", words), {0}});
    static const uint32_t want[] = {0, 2, 4, 6, 0, 1, 2, 3};
    CHECK(memcmp(got, want, sizeof want) == 0);
}

TEST(workgroup_and_private_memory_start_as_zeros_for_each_group) {
    static uint32_t got[64];
    static const char text[] =
        "program fresh workgroup(4) {\n"
        "  const n = 2 + 2;\n"
        "  inout r : u32[]; workgroup w : u32[(n * 2 - 4 << 70) >> 70]; private p : i16[n];\n"
        "  r[global_id.x] = w[local_id.x] + u32(p[local_id.x]);\n"
        "  w[local_id.x] = 7; p[local_id.x] = -1;\n"
        "  r[global_id.x] = r[global_id.x] + len(w) * 10 + len(p);\n"
        "}\n";
    ref_run_all(text, (vyre_ref_args){.grid = {16}}, (ref_buffer[]){BUFFER("r", got), {0}});
    for (uint32_t i = 0; i < 64; i++) {
        CHECK_EQ(got[i], 44);
    }
}

TEST(an_empty_grid_runs_nothing) {
    vyre_program *program = ref_parse("program p workgroup(4) { trap(\"never\", 0); }");
    vyre_ref_args args = {.program = program, .grid = {3, 0, 1}};
    vyre_ref_result result;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_ref_execute(&args, NULL, &result, &diag), &diag);
    CHECK_EQ(result.steps, 0);
    vyre_program_release(program);
}

/* What makes a program order dependent shows: a lost update, and who wrote last. */
TEST(orders_differ_where_the_program_races) {
    static const char text[] = "program racy workgroup(8) {\n"
                               "  inout r : u32[];\n"
                               "  r[0] = global_id.x;\n"
                               "  r[1] = r[1] + 1;\n"
                               "}\n";
    uint32_t got[4][2];
    for (uint32_t order = 0; order < 4; order++) {
        uint32_t r[2] = {0, 0};
        vyre_ref_result result;
        vyre_diag diag = {0};
        vyre_ref_args args = {.grid = {4}, .order = (vyre_ref_order)order, .seed = 1};
        REQUIRE_OK(ref_run(text, args, (ref_buffer[]){BUFFER("r", r), {0}}, NULL, &result, &diag),
                   &diag);
        memcpy(got[order], r, sizeof r);
    }
    CHECK_EQ(got[VYRE_REF_FORWARD][0], 31);
    CHECK_EQ(got[VYRE_REF_REVERSE][0], 0);
    CHECK_EQ(got[VYRE_REF_FORWARD][1], 32);
    CHECK_EQ(got[VYRE_REF_INTERLEAVED][1], 1); /* all read, then all write */
    CHECK(got[VYRE_REF_RANDOM][1] < 32);
}

TEST(random_order_is_reproducible_from_its_seed) {
    static const char text[] = "program last workgroup(8) { inout r : u32[];\n"
                               "  r[0] = r[0] * 3 + global_id.x; }\n";
    uint32_t first = 0, differing = 0;
    for (uint64_t run = 0; run < 16; run++) {
        uint32_t r[2][1] = {{0}, {0}};
        for (uint32_t again = 0; again < 2; again++) {
            vyre_ref_result result;
            vyre_ref_args args = {.grid = {4}, .order = VYRE_REF_RANDOM, .seed = run};
            REQUIRE_OK(ref_run(text, args, (ref_buffer[]){BUFFER("r", r[again]), {0}}, NULL,
                               &result, NULL),
                       NULL);
        }
        CHECK_EQ(r[0][0], r[1][0]);
        differing += run > 0 && r[0][0] != first;
        first = r[0][0];
    }
    CHECK(differing > 10);
}

/* Programs that a check would refuse: the machine must notice that lanes part ways. */
TEST(divergence_is_found_and_names_both_lines) {
    static const struct {
        const char *text;
        const char *parts[2];
    } cases[] = {
        {"program a workgroup(8) {\n"
         "  if (local_id.x < 4) {\n"
         "    barrier;\n"
         "  } else {\n"
         "    barrier;\n"
         "  }\n"
         "}\n",
         {"line 3 (barrier)", "line 5 (barrier)"}},
        {"program b workgroup(8) {\n"
         "  if (group_id.x == 1) {\n"
         "    grid_sync;\n"
         "  }\n"
         "  grid_sync;\n"
         "}\n",
         {"line 3", "line 5"}},
        {"program c workgroup(8) {\n"
         "  if (local_id.x == 1) { grid_sync; }\n"
         "  barrier;\n"
         "  grid_sync;\n"
         "}\n",
         {"line 2", "line 3"}},
        {"program d workgroup(8) {\n"
         "  fn sync() { barrier; }\n"
         "  if (local_id.x == 1) {\n"
         "    sync();\n"
         "  } else {\n"
         "    sync();\n"
         "  }\n"
         "}\n",
         {"line 4 (sync)", "line 6 (sync)"}},
        {"program e workgroup(8) {\n"
         "  if (local_id.x == 1) {\n"
         "    let a = subgroup_add(1);\n"
         "  }\n"
         "  barrier;\n"
         "}\n",
         {"line 3 (subgroup_add)", "line 5 (barrier)"}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t order = 0; order < 4; order++) {
            vyre_ref_result result;
            vyre_diag diag = {0};
            vyre_ref_args args = {.grid = {2}, .order = (vyre_ref_order)order};
            CHECK_STATUS(ref_run(cases[i].text, args, NULL, NULL, &result, &diag), VYRE_INTERNAL,
                         &diag);
            CHECK_HAS(diag.message, cases[i].parts[0]);
            CHECK_HAS(diag.message, cases[i].parts[1]);
        }
    }
}
