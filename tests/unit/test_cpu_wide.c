/* What vectors of 64 bytes add: remainders of a piece behind masks, pieces that are cut at a
 * multiple of a gang, and stores past the caches (of any width); against "ref". Where the processor
 * has narrower vectors the same programs run with these. */
#include "harness/run.h"

static const char *const devices[] = {"cpu://threads=1", "cpu://threads=2&stream=1",
                                      "cpu://features=avx2&stream=1",
                                      "cpu://features=sse2&stream=1"};
enum { DEVICES = sizeof devices / sizeof *devices, MOST_WORDS = 4096 };

static bool is_there(const char *uri) {
    vyre_device *device = NULL;
    const bool there = vyre_device_open(NULL, uri, NULL, &device, NULL) == VYRE_OK;
    if (there) {
        vyre_device_close(device);
    }
    return there;
}

static void need_llvm(void) {
    if (!is_there("cpu")) {
        test_skip("there is no LLVM 19");
    }
}

/* One input of n words; params keep their values. */
static void check(const char *text, uint32_t n, uint32_t x, uint32_t y) {
    static uint32_t words[MOST_WORDS];
    uint64_t random = n + 1;
    REQUIRE(n <= MOST_WORDS);
    for (uint32_t i = 0; i < n; i++) {
        words[i] = (uint32_t)test_random(&random) % 1000;
    }
    vyre_program *program = run_parse(text);
    const vyre_input input = {words, (size_t)n * 4};
    const vyre_dispatch_options options = {.has_grid = true, .grid = {x, y, 1}};
    run_result want = run_program("ref", program, &input, 1, &options);
    REQUIRE_OK(want.status, &want.diag);
    for (uint32_t d = 0; d < DEVICES && !test_failed(); d++) {
        if (!is_there(devices[d])) {
            continue; /* a narrower processor */
        }
        run_result got = run_program(devices[d], program, &input, 1, &options);
        CHECK_STATUS(got.status, VYRE_OK, &got.diag);
        if (got.status == VYRE_OK && !run_same(&want, &got)) {
            test_fail(__FILE__, __LINE__, "%s, n = %u:\n%s", devices[d], n, text);
        }
        run_finish(&got);
    }
    run_finish(&want);
    vyre_program_release(program);
}

/* Each lane once: what it stores it has loaded. Guards begin and end anywhere in a gang, and let
 * fewer lanes pass than one has. */
TEST(lanes_that_may_not_run_twice) {
    need_llvm();
    static const uint32_t sizes[] = {1, 3, 15, 16, 17, 40, 64, 65, 79, 200, 1030};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; out c : f64[len(a)];\n"
              "  let i = global_id.x; if (i < len(a)) { b[i] = a[i]; c[i] = f64(i); } grid_sync;\n"
              "  for (k in 0 .. 19) {\n"
              "    if (i >= k && i < len(a) - k / 2) { b[i] = b[i] * 3 + a[i - k]; }\n"
              "    if (i > k && i + 1 < len(a)) { c[i] = c[i] * 0.5 + f64(k); } grid_sync; } }",
              n, n / 32 + 1, 1);
    }
}

/* Rows of a plane, with and without a pitch of whole gangs. */
TEST(pieces_are_cut_at_multiples_of_a_gang) {
    need_llvm();
    static const uint32_t widths[] = {5, 64, 67, 96, 130};
    for (size_t i = 0; i < sizeof widths / sizeof *widths && !test_failed(); i++) {
        char text[640];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(16, 2) { const w = %u; in a : u32[];\n"
                       "  out b : u32[len(a)]; out d : u8[len(a)]; out s : u32[1];\n"
                       "  let x = global_id.x; let y = global_id.y; let at = y * w + x;\n"
                       "  for (k in 0 .. 3) {\n"
                       "    if (x > k && x < w - 1 && y > 0) {\n"
                       "      b[at] = a[at - 1] + a[at + 1] * 7 + a[at - w] + k; d[at] = a[at]; }\n"
                       "    grid_sync;\n"
                       "    if (x > k && x < w) { b[at] = b[at] + y * k; atomic_add(s[0], 1); }\n"
                       "    grid_sync; } }",
                       widths[i]);
        check(text, widths[i] * 9, widths[i] / 16 + 1, 5);
    }
}

/* Buffers that are only stored: elements of 1 to 8 bytes, all lanes or some, before and behind a
 * place where lines begin; what was stored is read behind a grid barrier, by other workers. */
TEST(stores_past_the_caches_are_seen_behind_the_barrier) {
    need_llvm();
    static const uint32_t sizes[] = {1, 63, 64, 200, 1030};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; out c : u8[len(a)];\n"
              "  out d : u64[len(a)]; out f : u16[len(a)]; scratch t : u32[len(a)]; out e : "
              "u32[len(a)];\n"
              "  let i = global_id.x; t[i] = a[i] * 5; c[i] = a[i]; d[i] = u64(a[i]) * 77777777;\n"
              "  f[i] = a[i] * 9; if (a[i] > 300) { b[i] = i; } grid_sync;\n"
              "  e[i] = t[len(a) - 1 - i] + t[i]; }",
              n, n / 64 + 1, 1);
        /* Groups, loops in which gangs are far apart, and stores beside the lines. */
        check("program p workgroup(64) { in a : u32[]; out b : u32[len(a) * 3 + 1];\n"
              "  workgroup t : u32[64]; out c : u32[len(a)];\n"
              "  t[local_id.x] = a[global_id.x]; barrier;\n"
              "  for (k in 0 .. 3) { if (global_id.x < len(a)) {\n"
              "    b[k * len(a) + global_id.x + 1] = t[63 - local_id.x] + k; } }\n"
              "  c[global_id.x] = t[local_id.x ^ 1]; }",
              n, n / 64 + 1, 1);
    }
}

/* Lanes store eight elements each, side by side or with gaps between their rows. */
TEST(rows_of_lanes_go_past_the_caches) {
    need_llvm();
    static const uint32_t pitches[] = {8, 9, 16, 8}, offsets[] = {0, 0, 0, 1};
    for (size_t i = 0; i < sizeof pitches / sizeof *pitches && !test_failed(); i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : u32[]; out b : u32[len(a) + %u];\n"
                       "  let first = global_id.x * %u + %u; let s = 0;\n"
                       "  for (k in 0 .. 8) { b[first + k] = s; s = s + a[first + k]; } }",
                       offsets[i], pitches[i], offsets[i]);
        check(text, 1024, 3, 1);
        check(text, 2000, 5, 1);
    }
}
