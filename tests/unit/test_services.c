/* What a device does besides running programs: it gets ready, flushes, shuts down, tells numbers
 * and names, takes writes in batches and memory of the caller, has memory only on the host, is
 * reopened while something of it lives, and refuses a grid that is too large for it. */
#include <pthread.h>
#include <stdalign.h>

#include "device/builtin.h"
#include "harness/run.h"

/* A device of ref that counts what it is asked for, and refuses what it is told to. */
static struct {
    vyre_device_table table;
    vyre_backend backend;
    uint32_t prepared, flushed, shut_down, batches, writes, frees, launches, waiting_launches;
    uint32_t most_groups; /* of a program that waits for its grid; 0: any */
    vyre_status answer;   /* of prepare, flush and shutdown */
} told;

static const vyre_device_table *ref(void) {
    return vyre_backend_ref.device;
}

static vyre_status answer(vyre_diag *diag) {
    if (told.answer != VYRE_OK && diag) {
        *diag = (vyre_diag){.status = told.answer, .message = "told to"};
    }
    return told.answer;
}

static vyre_status told_prepare(vyre_backend_device *device, vyre_diag *diag) {
    (void)device;
    told.prepared++;
    return answer(diag);
}

static vyre_status told_flush(vyre_backend_device *device, vyre_diag *diag) {
    (void)device;
    told.flushed++;
    return answer(diag);
}

static vyre_status told_shutdown(vyre_backend_device *device, vyre_diag *diag) {
    (void)device;
    told.shut_down++;
    return answer(diag);
}

static vyre_status told_write_many(vyre_backend_device *device, const vyre_memory_write *writes,
                                   uint32_t count, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    told.batches++;
    told.writes += count;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        const vyre_memory_write *w = &writes[i];
        status = ref()->write(device, w->memory, w->offset, w->data, w->size, diag);
    }
    return status;
}

static vyre_status told_free(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag) {
    told.frees++;
    (void)ref()->free(device, memory, NULL);
    return answer(diag);
}

static vyre_status told_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                               const vyre_launch *l, vyre_launch_result *out_result,
                               vyre_diag *diag) {
    const vyre_program *program = *(const vyre_program **)(void *)kernel;
    const bool waits = vyre_contains_grid_sync(program);
    told.launches++;
    told.waiting_launches += waits;
    if (waits && told.most_groups && l->grid[0] * l->grid[1] * l->grid[2] > told.most_groups) {
        return VYRE_LIMIT;
    }
    return ref()->launch(device, kernel, l, out_result, diag);
}

static vyre_device *open_told(void) {
    memset(&told, 0, sizeof told);
    told.table = *ref();
    told.table.prepare = told_prepare;
    told.table.flush = told_flush;
    told.table.shutdown = told_shutdown;
    told.table.write_many = told_write_many;
    told.table.free = told_free;
    told.table.launch = told_launch;
    told.backend =
        (vyre_backend){.name = "told", .device = &told.table, .open = vyre_backend_ref.open};
    return run_open_backend(&told.backend);
}

static const char turn_text[] = "program turn workgroup(2) {\n"
                                "    inout v : u32[];\n"
                                "    let t = v[global_id.x];\n"
                                "    grid_sync;\n"
                                "    v[len(v) - 1 - global_id.x] = t;\n"
                                "}\n";

/* v has the result, too. NOLINTNEXTLINE(readability-non-const-parameter) */
static vyre_status turn(vyre_device *device, uint32_t *v, uint32_t count,
                        const vyre_dispatch_options *o, vyre_dispatch_report *report,
                        vyre_diag *diag) {
    vyre_program *program = run_parse(turn_text);
    vyre_input in = {v, count * sizeof *v};
    vyre_output out = {.data = v, .capacity = count * sizeof *v, .is_fixed = true};
    vyre_status status = vyre_dispatch(device, program, &in, 1, &out, 1, o, report, diag);
    vyre_program_release(program);
    return status;
}

TEST(prepare_flush_and_shutdown_report) {
    vyre_device *device = open_told();
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_device_prepare(device, &diag), &diag);
    REQUIRE_OK(vyre_device_flush(device, &diag), &diag);
    CHECK_EQ(told.prepared, 1);
    CHECK_EQ(told.flushed, 1);
    told.answer = VYRE_DEVICE_FAILED;
    CHECK_STATUS(vyre_device_prepare(device, &diag), VYRE_DEVICE_FAILED, &diag);
    CHECK_STATUS(vyre_device_flush(device, &diag), VYRE_DEVICE_FAILED, &diag);
    CHECK_STATUS(vyre_device_shutdown(device, &diag), VYRE_DEVICE_FAILED, &diag);
    CHECK_EQ(told.shut_down, 1);
    /* It is gone, whatever it said, and can be opened anew. */
    CHECK(vyre_device_is_lost(device));
    CHECK_STATUS(vyre_device_flush(device, &diag), VYRE_DEVICE_LOST, &diag);
    told.answer = VYRE_OK;
    REQUIRE_OK(vyre_device_reopen(device, &diag), &diag);
    uint32_t v[2] = {1, 2};
    REQUIRE_OK(turn(device, v, 2, NULL, NULL, &diag), &diag);
    REQUIRE_OK(vyre_device_shutdown(device, &diag), &diag);
    vyre_device_close(device);
    CHECK_STATUS(vyre_device_flush(NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
}

TEST(shutdown_is_refused_while_something_lives) {
    vyre_device *device = open_told();
    vyre_diag diag = {0};
    vyre_buffer *b = run_buffer(device, NULL, 4);
    CHECK_STATUS(vyre_device_shutdown(device, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "1 buffers");
    CHECK(!vyre_device_is_lost(device));
    vyre_buffer_destroy(b);
    REQUIRE_OK(vyre_device_shutdown(device, &diag), &diag);
    vyre_device_close(device);
}

/* The last dispatch takes long, so that a flush that does not wait for it is back before it. */
TEST(flush_waits_for_asynchronous_dispatches) {
    vyre_device *device = open_told();
    vyre_program *program = run_parse(turn_text);
    vyre_program *slow = run_parse("program slow workgroup(1) { out o : u32[1];\n"
                                   "  let sum = 0; for (i in 0 .. 300000) { sum += i; }\n"
                                   "  grid_sync; o[0] = sum; }");
    vyre_event *events[8], *last = NULL;
    vyre_output sum = {0};
    uint32_t v[8][2];
    vyre_input in[8];
    vyre_output out[8] = {{0}};
    for (uint32_t i = 0; i < 8; i++) {
        v[i][0] = i;
        v[i][1] = 100 + i;
        in[i] = (vyre_input){v[i], sizeof v[i]};
        REQUIRE_OK(
            vyre_dispatch_async(device, program, &in[i], 1, &out[i], 1, NULL, &events[i], NULL),
            NULL);
    }
    REQUIRE_OK(vyre_dispatch_async(device, slow, NULL, 0, &sum, 1, NULL, &last, NULL), NULL);
    REQUIRE_OK(vyre_device_flush(device, NULL), NULL);
    CHECK(vyre_event_poll(last));
    vyre_event_release(last);
    vyre_output_finish(&sum, NULL);
    vyre_program_release(slow);
    for (uint32_t i = 0; i < 8; i++) {
        CHECK(vyre_event_poll(events[i]));
        CHECK_EQ(((const uint32_t *)out[i].data)[0], 100 + i);
        vyre_event_release(events[i]);
        vyre_output_finish(&out[i], NULL);
    }
    vyre_program_release(program);
    vyre_device_close(device);
}

TEST(free_reports) {
    vyre_device *device = open_told();
    vyre_diag diag = {0};
    vyre_buffer *b = run_buffer(device, NULL, 4);
    REQUIRE_OK(vyre_buffer_free(b, &diag), &diag);
    b = run_buffer(device, NULL, 4);
    told.answer = VYRE_DEVICE_FAILED;
    CHECK_STATUS(vyre_buffer_free(b, &diag), VYRE_DEVICE_FAILED, &diag);
    CHECK_EQ(run_counters(device).failed_frees, 1);
    /* Behind a dispatch that succeeded nobody can be told: the next flush does, once. */
    uint32_t v[2] = {1, 2};
    REQUIRE_OK(turn(device, v, 2, NULL, NULL, &diag), &diag);
    CHECK_EQ(v[0], 2);
    CHECK_EQ(run_counters(device).failed_frees, 2);
    told.answer = VYRE_OK;
    CHECK_STATUS(vyre_device_flush(device, &diag), VYRE_DEVICE_FAILED, &diag);
    CHECK_STR(diag.message, "told to");
    REQUIRE_OK(vyre_device_flush(device, &diag), &diag);
    vyre_device_close(device);
}

TEST(batches_of_writes_are_one_entry) {
    vyre_device *device = open_told(), *other = run_open("ref", NULL);
    vyre_buffer *a = run_buffer(device, NULL, 4), *b = run_buffer(device, NULL, 4);
    vyre_buffer *c = run_buffer(other, NULL, 1);
    const uint32_t words[] = {1, 2, 3, 4, 5};
    const uint32_t before = told.writes;
    const vyre_write_range ranges[] = {{a, 0, &words[0], 4}, {b, 4, &words[1], 8},
                                       {a, 0, &words[3], 0}, {a, 0, &words[4], 4},
                                       {c, 0, &words[2], 4}, {b, 0, &words[3], 4}};
    REQUIRE_OK(vyre_buffer_write_many(ranges, 6, NULL), NULL);
    CHECK_EQ(told.batches, 1); /* the last one comes alone, behind another device's */
    CHECK_EQ(told.writes - before, 3);
    CHECK_EQ(run_buffer_word(a, 0), 5);
    CHECK_EQ(run_buffer_word(b, 0), 4);
    CHECK_EQ(run_buffer_word(b, 1), 2);
    CHECK_EQ(run_buffer_word(b, 2), 3);
    CHECK_EQ(run_buffer_word(c, 0), 3);
    CHECK_EQ(run_counters(device).input_bytes, 20);
    vyre_buffer_destroy(a);
    vyre_buffer_destroy(b);
    vyre_buffer_destroy(c);
    vyre_device_close(device);
    vyre_device_close(other);
}

TEST(a_native_launch_refused_for_its_size_is_split) {
    vyre_device *device = open_told();
    told.most_groups = 2;
    vyre_dispatch_options never = {.split = VYRE_SPLIT_NEVER};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    for (int round = 0; round < 3; round++) {
        uint32_t small[4] = {1, 2, 3, 4}, large[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        REQUIRE_OK(turn(device, small, 4, NULL, &report, &diag), &diag);
        CHECK(!report.was_split && !report.was_refused);
        CHECK_EQ(report.stats.launches, 1);
        REQUIRE_OK(turn(device, large, 8, NULL, &report, &diag), &diag);
        CHECK(report.was_split && report.was_refused);
        CHECK_EQ(report.stats.launches, 2);
        for (uint32_t i = 0; i < 8; i++) {
            CHECK_EQ(large[i], 8 - i);
        }
    }
    /* One refusal is enough to know. */
    CHECK_EQ(told.waiting_launches, 3 + 1);
    CHECK_EQ(run_counters(device).grid_sync_splits, 3);
    uint32_t v[8] = {0};
    CHECK_STATUS(turn(device, v, 8, &never, NULL, &diag), VYRE_LIMIT, &diag);
    vyre_device_close(device);
}

TEST(a_refused_launch_is_split_in_a_fixpoint_and_on_buffers) {
    vyre_device *device = open_told();
    told.most_groups = 1;
    vyre_pipeline *pipeline = run_compile(device, turn_text);
    const uint32_t words[] = {1, 2, 3, 4};
    vyre_buffer *v = run_buffer(device, words, 4);
    vyre_dispatch_options o = {.has_iterations = true, .iterations = 3};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_resident(pipeline, &v, 1, &o, &report, &diag), &diag);
    CHECK(report.was_refused);
    CHECK_EQ(report.passes, 3);
    CHECK_EQ(report.stats.launches, 6);
    CHECK_EQ(run_buffer_word(v, 0), 4);
    vyre_buffer_destroy(v);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(buffers_and_pipelines_of_a_reopened_device_are_lost) {
    vyre_device *device = open_told();
    vyre_diag diag = {0};
    vyre_pipeline *old = run_compile(device, turn_text);
    vyre_buffer *b = run_buffer(device, (const uint32_t[]){1, 2}, 2), *fresh = NULL;
    uint32_t word = 7;
    REQUIRE_OK(vyre_device_reopen(device, &diag), &diag);
    CHECK_STATUS(vyre_buffer_read(b, 0, &word, 4, &diag), VYRE_DEVICE_LOST, &diag);
    CHECK_HAS(diag.message, "buffer was lost");
    CHECK_STATUS(vyre_buffer_write(b, 0, &word, 4, &diag), VYRE_DEVICE_LOST, &diag);
    CHECK_STATUS(vyre_buffer_zero(b, 0, 4, &diag), VYRE_DEVICE_LOST, &diag);
    CHECK_STATUS(vyre_dispatch_resident(old, &b, 1, NULL, NULL, &diag), VYRE_DEVICE_LOST, &diag);
    vyre_pipeline *now = run_compile(device, turn_text);
    CHECK_STATUS(vyre_dispatch_resident(now, &b, 1, NULL, NULL, &diag), VYRE_DEVICE_LOST, &diag);
    fresh = run_buffer(device, (const uint32_t[]){1, 2}, 2);
    CHECK_STATUS(vyre_buffer_copy(fresh, 0, b, 0, 4, &diag), VYRE_DEVICE_LOST, &diag);
    CHECK_STATUS(vyre_dispatch_resident(old, &fresh, 1, NULL, NULL, &diag), VYRE_DEVICE_LOST,
                 &diag);
    CHECK_HAS(diag.message, "pipeline was lost");
    REQUIRE_OK(vyre_dispatch_resident(now, &fresh, 1, NULL, NULL, &diag), &diag);
    CHECK_EQ(run_buffer_word(fresh, 0), 2);
    REQUIRE_OK(vyre_device_reopen(device, &diag), &diag); /* once more, with both kinds */
    REQUIRE_OK(vyre_buffer_free(b, &diag), &diag);
    vyre_buffer_destroy(fresh);
    vyre_pipeline_release(old);
    vyre_pipeline_release(now);
    vyre_device_close(device);
}

TEST(a_buffer_over_memory_of_the_caller) {
    static const char swap_text[] = "program swapped workgroup(2) {\n"
                                    "    inout v : u32[];\n"
                                    "    scratch w : u32[len(v)];\n"
                                    "    w[global_id.x] = v[global_id.x] + 1;\n"
                                    "    grid_sync;\n"
                                    "    swap(v, w);\n"
                                    "}\n";
    static const char *const names[] = {"ref", "ref-split", "cpu", "null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vyre_device *device = NULL;
        if (vyre_device_open(NULL, names[i], NULL, &device, NULL) != VYRE_OK) {
            continue; /* without a compiler */
        }
        const vyre_device_info *info = vyre_device_describe(device);
        alignas(64) uint32_t words[64] = {1, 2, 3, 4};
        REQUIRE(info->wraps_memory);
        vyre_buffer *b = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_buffer_wrap(device, words, 16, sizeof words, &b, &diag), &diag);
        CHECK_EQ(vyre_buffer_size(b), 16);
        CHECK_EQ(run_buffer_word(b, 2), 3);
        vyre_pipeline *turned = run_compile(device, turn_text);
        vyre_pipeline *swapped = run_compile(device, swap_text);
        REQUIRE_OK(vyre_dispatch_resident(turned, &b, 1, NULL, NULL, &diag), &diag);
        CHECK(info->is_dummy || words[0] == 4);
        REQUIRE_OK(vyre_dispatch_resident(swapped, &b, 1, NULL, NULL, &diag), &diag);
        CHECK(info->is_dummy || words[0] == 5); /* where it was, though memories were exchanged */
        vyre_buffer_destroy(b);
        CHECK_STATUS(vyre_buffer_wrap(device, (char *)words + 1, 16, 64, &b, &diag),
                     VYRE_UNSUPPORTED, &diag);
        CHECK_STATUS(vyre_buffer_wrap(device, words, 16, 8, &b, &diag), VYRE_INVALID_ARGUMENT,
                     &diag);
        vyre_pipeline_release(turned);
        vyre_pipeline_release(swapped);
        vyre_device_close(device);
    }
    vyre_device *none = open_told();
    uint32_t word = 0;
    vyre_buffer *b = NULL;
    vyre_diag diag = {0};
    vyre_device_close(none);
    told.table.adopt = NULL;
    told.table.disown = NULL;
    none = run_open_backend(&told.backend);
    CHECK_STATUS(vyre_buffer_wrap(none, &word, 4, 4, &b, &diag), VYRE_UNSUPPORTED, &diag);
    vyre_device_close(none);
}

static void find_metric(void *user, const char *name, uint64_t value) {
    uint64_t *found = user;
    found[0] += 1;
    found[1] = strcmp(name, "memory_bytes") == 0 ? value : found[1];
    found[2] = strcmp(name, "memory_bytes_peak") == 0 ? value : found[2];
    found[3] = strcmp(name, "buffers_and_pipelines") == 0 ? value : found[3];
}

TEST(a_device_tells_metrics) {
    vyre_device *device = run_open("ref", NULL);
    vyre_buffer *b = run_buffer(device, NULL, 1000);
    uint64_t with[4] = {0}, without[4] = {0};
    vyre_device_metrics(device, find_metric, with);
    vyre_buffer_destroy(b);
    vyre_device_metrics(device, find_metric, without);
    CHECK(with[0] >= 8);
    CHECK(with[1] >= 4000);
    CHECK_EQ(without[1], 0);
    CHECK_EQ(without[2], with[1]);
    CHECK_EQ(with[3], 1);
    CHECK_EQ(without[3], 0);
    vyre_device_close(device);
}

TEST(splits_of_the_process_are_counted) {
    const vyre_split_counters before = vyre_process_splits();
    for (int i = 0; i < 2; i++) {
        vyre_device *device = run_open("ref-split", NULL);
        uint32_t v[2] = {1, 2};
        REQUIRE_OK(turn(device, v, 2, NULL, NULL, NULL), NULL);
        vyre_device_close(device);
    }
    const vyre_split_counters after = vyre_process_splits();
    CHECK_EQ(after.programs - before.programs, 2);
    CHECK_EQ(after.segments - before.segments, 4);
    CHECK_EQ(after.points - before.points, 2);
}

typedef struct names {
    uint32_t count;
    bool has_sin, has_subgroup_add, has_f64, has_barrier;
} names;

static void note_name(void *user, const char *name) {
    names *n = user;
    n->count++;
    n->has_sin |= strcmp(name, "sin") == 0;
    n->has_subgroup_add |= strcmp(name, "subgroup_add") == 0;
    n->has_f64 |= strcmp(name, "f64") == 0;
    n->has_barrier |= strcmp(name, "barrier") == 0;
    CHECK(name[0]);
}

TEST(supported_operations_have_names) {
    vyre_device *device = run_open("ref", NULL);
    names all = {0}, few = {0};
    vyre_capabilities can;
    vyre_capabilities_tell(vyre_device_capabilities(device), note_name, &all);
    REQUIRE_OK(vyre_capabilities_named("all,sin,subgroup_add,f64", &can, NULL), NULL);
    vyre_capabilities_tell(&can, note_name, &few);
    CHECK(all.has_sin && all.has_subgroup_add && all.has_f64 && all.has_barrier);
    CHECK(!few.has_sin && !few.has_subgroup_add && !few.has_f64 && few.has_barrier);
    CHECK_EQ(few.count, all.count - 3);
    vyre_device_close(device);
}

static void narrow_describe(vyre_backend_device *device, vyre_device_info *out_info) {
    ref()->describe(device, out_info);
    out_info->max_group[1] = 4;
    out_info->has_async_compute = out_info->has_speculation = true;
    out_info->has_persistent_threads = out_info->is_distributed = true;
}

TEST(the_size_of_a_workgroup_is_limited_along_each_axis) {
    vyre_device *device = open_told();
    vyre_device_close(device);
    told.table.describe = narrow_describe;
    device = run_open_backend(&told.backend);
    static const struct {
        const char *text;
        vyre_status status;
    } cases[] = {{"program a workgroup(8, 4) grid(1) { }\n", VYRE_OK},
                 {"program a workgroup(1, 5) grid(1) { }\n", VYRE_LIMIT}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vyre_program *program = run_parse(cases[c].text);
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_dispatch(device, program, NULL, 0, NULL, 0, NULL, NULL, &diag),
                     cases[c].status, &diag);
        CHECK(cases[c].status == VYRE_OK || strstr(diag.message, "5 lanes along y"));
        vyre_program_release(program);
    }
    const vyre_device_info *info = vyre_device_describe(device);
    CHECK(info->has_async_compute && info->has_speculation && info->has_persistent_threads &&
          info->is_distributed);
    vyre_device_close(device);
}

/* A device that takes bytes: ref behind it gets memory that lives for one launch. */
static uint32_t byte_launches;

static vyre_status bytes_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                                const vyre_bytes_launch *b, vyre_launch_result *out_result,
                                vyre_diag *diag) {
    const vyre_program *program = *(const vyre_program **)(void *)kernel;
    const vyre_program_view *p = vyre_program_get(program);
    vyre_memory memory[16] = {0};
    vyre_launch launch = *b->launch;
    vyre_status status = VYRE_OK;
    REQUIRE(p->decl_count <= 16);
    byte_launches++;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (b->sizes[d]) {
            REQUIRE_OK(ref()->allocate(device, b->sizes[d], &memory[d], diag), diag);
            REQUIRE_OK(ref()->write(device, memory[d], 0, b->bytes[d], b->sizes[d], diag), diag);
        }
    }
    launch.memory = memory;
    status = ref()->launch(device, kernel, &launch, out_result, diag);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (memory[d] && p->decls[d].role != VYRE_IN) {
            REQUIRE_OK(ref()->read(device, memory[d], 0, b->bytes[d], b->sizes[d], diag), diag);
        }
        if (memory[d]) {
            REQUIRE_OK(ref()->free(device, memory[d], diag), diag);
        }
    }
    return status;
}

static vyre_status add_bytes(vyre_registry *registry, vyre_diag *diag) {
    static vyre_device_table table;
    static vyre_backend backend;
    table = (vyre_device_table){.close = ref()->close,
                                .describe = vyre_backend_ref_split.device->describe,
                                .compile = ref()->compile,
                                .destroy = ref()->destroy,
                                .launch_bytes = bytes_launch};
    backend = (vyre_backend){.name = "bytes", .device = &table, .open = vyre_backend_ref.open};
    return vyre_registry_add(registry, &backend, diag);
}

TEST(a_device_that_takes_only_bytes_is_a_backend) {
    static const char text[] = "program rounds workgroup(2) grid(2) {\n"
                               "    inout v : u32[4];\n"
                               "    scratch s : u32[4];\n"
                               "    out o : u32[4];\n"
                               "    let t = v[global_id.x];\n"
                               "    while (v[0] < 3) {\n"
                               "        s[global_id.x] = v[3 - global_id.x] + 1;\n"
                               "        grid_sync;\n"
                               "        v[global_id.x] = s[3 - global_id.x];\n"
                               "        grid_sync;\n"
                               "    }\n"
                               "    o[global_id.x] = t * 10 + v[global_id.x];\n"
                               "}\n";
    vyre_program *program = run_parse(text);
    uint32_t v[4] = {0, 1, 2, 3};
    vyre_input in = {v, sizeof v};
    run_add(add_bytes);
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_dispatch_options o = {.path = (vyre_path)path};
        byte_launches = 0;
        run_result want = run_program("ref", program, &in, 1, &o);
        run_result got = run_program("bytes", program, &in, 1, &o);
        REQUIRE_OK(got.status, &got.diag);
        CHECK(run_same(&want, &got));
        CHECK_EQ(byte_launches, got.report.stats.launches);
        CHECK(byte_launches > 6);
        run_finish(&want);
        run_finish(&got);
    }
    run_result failed = run_program("fault://bytes?op=launch&n=3", program, &in, 1, NULL);
    CHECK_STATUS(failed.status, VYRE_DEVICE_FAILED, &failed.diag);
    run_finish(&failed);
    vyre_program_release(program);
}

/* Compiles with an allocator that fails somewhere; what is said then names memory. */
static vyre_status compile_with(const vyre_allocator *a, void *uri) {
    static const char text[] = "program deep workgroup(2) grid(2) {\n"
                               "    inout v : u32[4];\n"
                               "    fn f(x : u32) -> u32 { return x * 3; }\n"
                               "    let t = f(v[global_id.x]);\n"
                               "    while (v[0] < 3) {\n"
                               "        grid_sync;\n"
                               "        v[3 - global_id.x] = v[3 - global_id.x] + t;\n"
                               "        grid_sync;\n"
                               "    }\n"
                               "}\n";
    vyre_program *program = run_parse(text);
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    vyre_status status = vyre_device_open(NULL, uri, a, &device, &diag);
    if (status == VYRE_OK) {
        status = vyre_compile(device, program, NULL, &pipeline, &diag);
        vyre_pipeline_release(pipeline);
        vyre_device_close(device);
    }
    CHECK(status == VYRE_OK || strstr(diag.message, "memory"));
    CHECK(status == VYRE_OK || status == VYRE_OUT_OF_MEMORY);
    vyre_program_release(program);
    return status;
}

TEST(out_of_memory_in_compile_says_so) {
    char native[] = "ref", split[] = "ref-split";
    CHECK(test_every_allocation(compile_with, native, 2000) > 5);
    CHECK(test_every_allocation(compile_with, split, 2000) > 50);
}
