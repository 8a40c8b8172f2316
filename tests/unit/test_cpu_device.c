/* The cpu device as a whole: grids of all shapes, buffers with guards behind them, promises that
 * bounds hold, very many dispatches, and threads, a queue and cancellations at once. */
#include <dirent.h>
#include <pthread.h>
#include <time.h>

#include "harness/run.h"

static void need_llvm(void) {
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
}

/* Shapes */

static uint32_t only_word(const char *uri, const char *text, uint32_t x, uint32_t y, uint32_t z) {
    vyre_program *program = run_parse(text);
    const vyre_dispatch_options options = {.has_grid = true, .grid = {x, y, z}};
    run_result result = run_program(uri, program, NULL, 0, &options);
    REQUIRE_OK(result.status, &result.diag);
    const uint32_t word = run_word(&result, 0, 0);
    run_finish(&result);
    vyre_program_release(program);
    return word;
}

TEST(ten_million_groups_run_once_each) {
    need_llvm();
    static const char rows[] = "program p workgroup(1) { out n : u32[1]; atomic_add(n[0], 1); }";
    static const char groups[] = "program p workgroup(1) { out n : u32[1]; workgroup t : u32[1];\n"
                                 "  t[0] = group_id.x; barrier;\n"
                                 "  if (t[0] == group_id.x) { atomic_add(n[0], 1); } }";
    const uint32_t count = (uint32_t)test_scaled(10000000);
    CHECK_EQ(only_word("cpu", rows, count, 1, 1), count);
    CHECK_EQ(only_word("cpu", groups, count, 1, 1), count);
    CHECK_EQ(only_word("cpu", groups, 1, 1, 1), 1); /* one group, one lane */
    CHECK_EQ(only_word("cpu", rows, 1, 1, 1), 1);
    CHECK_EQ(only_word("cpu", rows, 1, count / 100, 100), count / 100 * 100);
    CHECK_EQ(only_word("cpu", groups, 100, 1, count / 100), count / 100 * 100);
}

/* A word for each lane, by its linear id, that tells what it knows of itself. */
static void check_shape(const uint32_t group[3], const uint32_t grid[3]) {
    static const char *const uris[] = {"cpu", "cpu://threads=3", "cpu://features=sse2&threads=2"};
    char text[1024];
    const uint32_t lanes = group[0] * group[1] * group[2] * grid[0] * grid[1] * grid[2];
    snprintf(text, sizeof text,
             "program p workgroup(%u, %u, %u) { inout o : u32[%u]; inout q : u32[%u];\n"
             "  workgroup t : u32[%u];\n"
             "  let y = global_id.y; let z = global_id.z;\n"
             "  let me = global_id.x + global_size.x * (y + global_size.y * z);\n"
             "  let l = local_id.x + %u * (local_id.y + %u * local_id.z);\n"
             "  o[me] = me * 7 + y * 3 + z; t[l] = me; barrier;\n"
             "  grid_sync;\n"
             "  q[me] = o[%u - me] + t[%u - l] * 5 + group_id.x + 9 * group_id.y + 81 * group_id.z;"
             " }",
             group[0], group[1], group[2], lanes, lanes, group[0] * group[1] * group[2], group[0],
             group[1], lanes - 1, group[0] * group[1] * group[2] - 1);
    vyre_program *program = run_parse(text);
    uint32_t *zeros = calloc(lanes, 4);
    REQUIRE(zeros != NULL);
    const vyre_input inputs[] = {{zeros, 4 * (size_t)lanes}, {zeros, 4 * (size_t)lanes}};
    const vyre_dispatch_options options = {.has_grid = true, .grid = {grid[0], grid[1], grid[2]}};
    run_result want = run_program("ref", program, inputs, 2, &options);
    REQUIRE_OK(want.status, &want.diag);
    for (uint32_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        run_result got = run_program(uris[i], program, inputs, 2, &options);
        CHECK_STATUS(got.status, VYRE_OK, &got.diag);
        if (got.status == VYRE_OK && !run_same(&want, &got)) {
            test_fail(__FILE__, __LINE__, "%s, groups of %u,%u,%u in a grid of %u,%u,%u", uris[i],
                      group[0], group[1], group[2], grid[0], grid[1], grid[2]);
        }
        run_finish(&got);
    }
    run_finish(&want);
    free(zeros);
    vyre_program_release(program);
}

TEST(groups_of_any_size_in_grids_of_any_shape) {
    need_llvm();
    static const uint32_t groups[][3] = {{1, 1, 1},  {3, 1, 1}, {7, 1, 1}, {33, 1, 1}, {63, 1, 1},
                                         {65, 1, 1}, {3, 5, 1}, {1, 9, 1}, {2, 3, 7},  {1, 1, 5}};
    static const uint32_t grids[][3] = {{1, 1, 1}, {5, 1, 1}, {3, 4, 1}, {2, 3, 2}, {1, 1, 3}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups && !test_failed(); i++) {
        check_shape(groups[i], grids[i % 5]);
        check_shape(groups[i], grids[(i + 1) % 5]);
    }
}

/* Bounds */

static const char wild[] =
    "program p workgroup(16) { in a : u32[]; in at : u32[len(a)]; inout b : u32[len(a)];\n"
    "  let i = global_id.x; b[i] = a[i + 1] + a[i - 1] + a[at[i]]; b[at[i] * 3] = i;\n"
    "  if (at[i] % 2 == 0) { b[i + 5] = a[i + 9]; }\n"
    "  for (k in 0 .. at[i] % 5) { b[i - k] = a[i * k]; } }";

TEST(no_access_touches_what_lies_behind_a_buffer) {
    need_llvm();
    static const char *const uris[] = {"cpu://guard=1", "cpu://guard=1&gang=4",
                                       "cpu://guard=1&features=sse2", "cpu://guard=1&gang=1"};
    static const uint32_t sizes[] = {1, 3, 15, 16, 17, 40, 1000};
    vyre_program *program = run_parse(wild);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        static uint32_t a[1000], at[1000], b[1000];
        uint64_t random = k;
        for (uint32_t i = 0; i < sizes[k]; i++) {
            a[i] = i + 1;
            at[i] = (uint32_t)test_random(&random);
        }
        const size_t size = 4 * (size_t)sizes[k];
        const vyre_input inputs[] = {{a, size}, {at, size}, {b, size}};
        for (size_t u = 0; u < sizeof uris / sizeof *uris; u++) { /* it ends, and not by a signal */
            run_result got = run_program(uris[u], program, inputs, 3, NULL);
            CHECK_STATUS(got.status, VYRE_OK, &got.diag);
            run_finish(&got);
        }
    }
    vyre_program_release(program);
}

/* A buffer with more memory than its count: what lies there is zero to loads that are tested. */
static uint32_t behind_the_count(const char *uri, const char *text, uint32_t at) {
    enum { COUNT = 32, MORE = 64 };
    uint32_t words[MORE];
    for (uint32_t i = 0; i < MORE; i++) {
        words[i] = 100 + i;
    }
    vyre_device *device = run_open(uri, NULL);
    vyre_pipeline *pipeline = run_compile(device, text);
    vyre_buffer *buffers[] = {run_buffer(device, words, MORE), run_buffer(device, NULL, MORE)};
    const vyre_dispatch_options options = {.has_grid = true, .grid = {MORE / 16, 1, 1}};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_resident(pipeline, buffers, 2, &options, NULL, &diag), &diag);
    const uint32_t word = run_buffer_word(buffers[1], at);
    vyre_buffer_destroy(buffers[0]);
    vyre_buffer_destroy(buffers[1]);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    return word;
}

TEST(bounds_are_not_tested_where_they_are_promised) {
    need_llvm();
    static const char *const texts[] = {
        "program p workgroup(16) { in a : u32[32]; inout b : u32[64];\n"
        "  b[global_id.x] = a[global_id.x]; }",
        "program p workgroup(16) { in a : u32[32]; inout b : u32[64];\n"
        "  b[global_id.x] = a[global_id.x ^ 1]; }"};
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(behind_the_count("cpu", texts[i], 40), 0);
        CHECK_EQ(behind_the_count("cpu://unchecked=1&gang=8", texts[i], 40), i ? 141 : 140);
        CHECK_EQ(behind_the_count("cpu://unchecked=1&gang=1", texts[i], 40), i ? 141 : 140);
    }
}

TEST(lanes_that_are_idle_promise_nothing) {
    need_llvm();
    static const char *const texts[] = {
        "program p workgroup(16) { in a : u32[]; inout b : u32[len(a)]; let i = global_id.x;\n"
        "  if (a[i] % 3 == 0) { b[i] = a[(a[i] * 5) % len(a)]; }\n"
        "  if (a[i] < len(a)) { b[i] = b[i] + a[a[i]]; } }",
        "program p workgroup(16) { in a : u32[]; inout b : u32[len(a)]; let i = global_id.x;\n"
        "  if (i % 4 == 1) { b[i] = a[i - 1] + a[i * 3 % len(a)]; } else { b[i] = 7; } }",
        "program p workgroup(16) { in a : u32[]; inout b : u32[len(a)]; let i = global_id.x;\n"
        "  if (a[i] >= len(a)) { exit; } b[a[i]] = i; }",
        "program p workgroup(16) { in a : u32[]; inout b : u32[len(a)]; let i = global_id.x;\n"
        "  b[i] = a[i] < len(a) ? a[a[i]] + 1 : 7; }",
        "program p workgroup(16) { in a : u32[]; inout b : u32[len(a)]; let i = global_id.x;\n"
        "  b[i] = u32(a[i] < len(a) && (a[a[i]] & 3) == 1) + u32(!(a[i] >= len(a) || a[a[i]] == "
        "5)); "
        "}"};
    enum { N = 512 };
    static uint32_t a[N], b[N];
    uint64_t random = 5;
    for (uint32_t i = 0; i < N; i++) { /* half of them inside, each once; the others far outside */
        a[i] = i % 2 ? i : 0x70000000 + (uint32_t)test_random_below(&random, 1 << 24);
    }
    const vyre_input inputs[] = {{a, sizeof a}, {b, sizeof b}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = run_parse(texts[i]);
        run_result want = run_program("ref", program, inputs, 2, NULL);
        run_result got = run_program("cpu://unchecked=1&gang=8&guard=1", program, inputs, 2, NULL);
        CHECK_STATUS(got.status, VYRE_OK, &got.diag);
        CHECK(run_same(&want, &got));
        run_finish(&want);
        run_finish(&got);
        vyre_program_release(program);
    }
}

/* Very many */

static uint32_t entries_of(const char *path) {
    DIR *folder = opendir(path);
    uint32_t count = 0;
    REQUIRE(folder != NULL);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static const char steps_text[] = "program p workgroup(16) { inout v : u32[]; let i = global_id.x;\n"
                                 "  let x = v[(i + 16) % len(v)]; grid_sync; v[i] = x + 1; }";

TEST(ten_thousand_dispatches_leave_nothing) {
    need_llvm();
    enum { N = 256 };
    const uint32_t tasks = entries_of("/proc/self/task"), files = entries_of("/proc/self/fd");
    test_heap heap = {0};
    const vyre_allocator a = test_heap_allocator(&heap);
    vyre_device *device = run_open("cpu://threads=2", &a);
    vyre_pipeline *pipeline = run_compile(device, steps_text);
    uint32_t *words = calloc(N, 4);
    REQUIRE(words != NULL);
    vyre_output output = {0};
    uint64_t live = 0, blocks = 0;
    const uint32_t count = (uint32_t)test_scaled(10000);
    for (uint32_t i = 0; i < count && !test_failed(); i++) {
        const vyre_input input = {words, sizeof(uint32_t) * N};
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_pipeline_dispatch(pipeline, &input, 1, &output, 1, NULL, NULL, &diag),
                   &diag);
        memcpy(words, output.data, sizeof(uint32_t) * N);
        if (i == 10) {
            live = heap.live_bytes;
            blocks = heap.live_blocks;
        }
    }
    CHECK_EQ(words[3], count);
    CHECK_EQ(heap.live_bytes, live);
    CHECK_EQ(heap.live_blocks, blocks);
    vyre_output_finish(&output, &a);
    free(words);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    CHECK_EQ(heap.live_blocks, 0);
    CHECK_EQ(entries_of("/proc/self/task"), tasks);
    CHECK_EQ(entries_of("/proc/self/fd"), files);
}

/* All at once */

typedef struct caller {
    vyre_device *device;
    vyre_pipeline *own, *endless;
    uint32_t number;
    bool right;
} caller;

/* Dispatches of its own, some that are cancelled while they run, and some through the queue. */
static void *call(void *user) {
    caller *c = user;
    c->right = true;
    for (uint32_t i = 0; i < test_scaled(30); i++) {
        uint32_t words[64] = {0}, zero = 0;
        const vyre_input in = {words, sizeof words}, one = {&zero, 4};
        vyre_output out = {0}, queued = {0}, never = {0};
        vyre_event *event = NULL, *endless = NULL;
        vyre_diag diag = {0};
        bool fine = vyre_pipeline_dispatch_async(c->own, &in, 1, &queued, 1, NULL, &event, &diag) ==
                        VYRE_OK &&
                    vyre_pipeline_dispatch_async(c->endless, &one, 1, &never, 1, NULL, &endless,
                                                 &diag) == VYRE_OK;
        if (i % 3 == c->number % 3) {
            const vyre_dispatch_options soon = {.timeout_ns = 2000000};
            fine &= vyre_pipeline_dispatch(c->endless, &one, 1, &never, 1, &soon, NULL, NULL) ==
                    VYRE_TIMEOUT;
        }
        vyre_event_cancel(endless);
        fine &= vyre_event_wait(endless, NULL, NULL) == VYRE_CANCELLED;
        fine &= vyre_pipeline_dispatch(c->own, &in, 1, &out, 1, NULL, NULL, &diag) == VYRE_OK &&
                ((const uint32_t *)out.data)[5] == 1;
        fine &= vyre_event_wait(event, NULL, NULL) == VYRE_OK &&
                ((const uint32_t *)queued.data)[63] == 1;
        vyre_event_release(event);
        vyre_event_release(endless);
        vyre_output_finish(&out, NULL);
        vyre_output_finish(&queued, NULL);
        vyre_output_finish(&never, NULL);
        c->right &= fine;
    }
    return NULL;
}

TEST(waiting_for_a_pipeline_that_never_gets_free_ends_with_the_time) {
    need_llvm();
    vyre_device *device = run_open("cpu", NULL);
    vyre_pipeline *endless = run_compile(
        device, "program p workgroup(16) { inout v : u32[1]; while (v[0] == 0) { grid_sync; } }");
    uint32_t zero = 0;
    const vyre_input in = {&zero, 4};
    vyre_output first = {0}, second = {0};
    vyre_event *event = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_pipeline_dispatch_async(endless, &in, 1, &first, 1, NULL, &event, &diag),
               &diag);
    const struct timespec start = {.tv_nsec = 20000000};
    (void)nanosleep(&start, NULL); /* now it has the pipeline, or will be behind the other */
    const vyre_dispatch_options soon = {.timeout_ns = 2000000};
    CHECK_STATUS(vyre_pipeline_dispatch(endless, &in, 1, &second, 1, &soon, NULL, &diag),
                 VYRE_TIMEOUT, &diag);
    vyre_event_cancel(event);
    CHECK_STATUS(vyre_event_wait(event, NULL, &diag), VYRE_CANCELLED, &diag);
    vyre_event_release(event);
    vyre_output_finish(&first, NULL);
    vyre_output_finish(&second, NULL);
    vyre_pipeline_release(endless);
    vyre_device_close(device);
}

TEST(threads_a_queue_and_cancellations_at_once) {
    need_llvm();
    vyre_device *device = run_open("cpu://threads=3", NULL);
    vyre_pipeline *endless = run_compile(
        device, "program p workgroup(16) { inout v : u32[1]; while (v[0] == 0) { grid_sync; } }");
    caller callers[4];
    for (uint32_t i = 0; i < 4; i++) {
        callers[i] = (caller){device, run_compile(device, steps_text), endless, i, false};
    }
    test_in_threads(call, callers, sizeof callers[0]);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(callers[i].right);
        vyre_pipeline_release(callers[i].own);
    }
    vyre_pipeline_release(endless);
    vyre_device_close(device);
}
