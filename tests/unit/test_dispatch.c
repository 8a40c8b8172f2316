/* Dispatches end to end on the reference backend: results, outputs, fixpoints, failures. */
#include "device/builtin.h"
#include "harness/build.h"
#include "harness/run.h"
#include "vyre/dispatch.h"
#include "vyre/text.h"

static vyre_expr global_id(vyre_builder *b) {
    return vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0);
}

/* y[i] = a * x[i] + y[i] */
static vyre_program *saxpy(void) {
    vyre_builder *b = build_begin("saxpy", 4, 1, 1);
    vyre_decl x = vyre_build_memory(b, VYRE_IN, "x", VYRE_F32, VYRE_NONE);
    vyre_decl y = vyre_build_memory(b, VYRE_INOUT, "y", VYRE_F32, vyre_build_len(b, x));
    vyre_decl a = vyre_build_param(b, "a", VYRE_F32, vyre_build_f32(b, 2.0f));
    vyre_expr i = global_id(b);
    vyre_build_if(b, build_two(b, VYRE_EXPR_LT, i, vyre_build_len(b, y)));
    vyre_build_store(
        b, y, i,
        build_two(b, VYRE_EXPR_ADD,
                  build_two(b, VYRE_EXPR_MUL, vyre_build_ref(b, a), vyre_build_load(b, x, i)),
                  vyre_build_load(b, y, i)));
    vyre_build_end(b);
    return build_finish(b);
}

/* value[0] = min(value[0] + 1, limit), and a word of scratch that must start as zero. */
static vyre_program *climb(uint32_t limit) {
    vyre_builder *b = build_begin("climb", 1, 1, 1);
    vyre_decl value = vyre_build_memory(b, VYRE_INOUT, "value", VYRE_U32, vyre_build_size(b, 2));
    vyre_decl seen = vyre_build_memory(b, VYRE_SCRATCH, "seen", VYRE_U32, vyre_build_size(b, 1));
    vyre_build_grid(b, vyre_build_size(b, 1), VYRE_NONE, VYRE_NONE);
    vyre_expr zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    vyre_build_store(b, seen, zero,
                     build_two(b, VYRE_EXPR_ADD, vyre_build_load(b, seen, zero), one));
    vyre_build_store(b, value, one, vyre_build_load(b, seen, zero));
    vyre_build_store(b, value, zero,
                     build_two(b, VYRE_EXPR_MIN,
                               build_two(b, VYRE_EXPR_ADD, vyre_build_load(b, value, zero), one),
                               vyre_build_u32(b, limit)));
    return build_finish(b);
}

/* Every lane adds to total; after the grid barrier each sees the sum of all. */
static vyre_program *counter(void) {
    vyre_builder *b = build_begin("counter", 4, 1, 1);
    vyre_decl total = vyre_build_memory(b, VYRE_SCRATCH, "total", VYRE_U32, vyre_build_size(b, 1));
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 12));
    vyre_expr i = global_id(b);
    vyre_build_atomic(b, NULL, VYRE_ATOMIC_ADD, total, vyre_build_u32(b, 0), VYRE_NONE,
                      build_two(b, VYRE_EXPR_ADD, i, vyre_build_u32(b, 1)), VYRE_SEQ_CST);
    vyre_build_grid_sync(b);
    vyre_build_store(
        b, o, i, build_two(b, VYRE_EXPR_ADD, vyre_build_load(b, total, vyre_build_u32(b, 0)), i));
    return build_finish(b);
}

/* o[0] = 1, then each lane does what `last` says. */
static vyre_program *hostile(vyre_stmt_op last) {
    vyre_builder *b = build_begin("hostile", 1, 1, 1);
    vyre_decl o = vyre_build_memory(b, VYRE_INOUT, "o", VYRE_U32, vyre_build_size(b, 1));
    vyre_build_grid(b, vyre_build_size(b, 2), VYRE_NONE, VYRE_NONE);
    vyre_build_store(b, o, vyre_build_u32(b, 0), vyre_build_u32(b, 1));
    if (last == VYRE_STMT_TRAP) {
        vyre_build_trap(b, "broken", vyre_build_u32(b, 7));
    } else {
        vyre_build_while(b, vyre_build_bool(b, true));
        vyre_build_end(b);
    }
    return build_finish(b);
}

static uint32_t word(const vyre_output *output, uint32_t index) {
    uint32_t value = 0xdeadbeef;
    if ((index + 1) * sizeof value <= output->size) {
        memcpy(&value, (const char *)output->data + index * sizeof value, sizeof value);
    }
    return value;
}

TEST(saxpy_gives_its_outputs_and_reuses_slots) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = saxpy();
    const float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60};
    vyre_input in[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_output out = {0};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, in, 2, &out, 1, NULL, &report, &diag), &diag);
    REQUIRE(out.size == sizeof y);
    for (int i = 0; i < 6; i++) {
        CHECK(((float *)out.data)[i] == 2 * x[i] + y[i]);
    }
    CHECK_EQ(report.grid[0], 2);
    CHECK_EQ(report.grid_from, 1);
    CHECK_EQ(report.passes, 1);
    CHECK(!report.converged && !report.was_split);
    CHECK_EQ(report.stats.launches, 1);
    CHECK_EQ(report.stats.bytes_in, sizeof x + sizeof y);
    CHECK_EQ(report.stats.bytes_out, sizeof y);
    CHECK(report.stats.steps > 0);
    CHECK(report.times.total >= report.times.run);
    /* 6.5 slot replacement: what fits keeps its address, also when it is shorter. */
    void *first = out.data;
    vyre_setting a = {"a", VYRE_F32, 0x3f800000};
    vyre_dispatch_options o = {.settings = &a, .setting_count = 1, .path = VYRE_PATH_RESIDENT};
    in[0].size = in[1].size = 3 * sizeof(float);
    REQUIRE_OK(vyre_dispatch(device, p, in, 2, &out, 1, &o, NULL, &diag), &diag);
    CHECK(out.data == first);
    CHECK_EQ(out.size, 12);
    CHECK_EQ(out.capacity, sizeof y);
    CHECK(((float *)out.data)[2] == 33);
    o.in_place = true;
    in[0].size = in[1].size = sizeof x;
    REQUIRE_OK(vyre_dispatch(device, p, in, 2, &out, 1, &o, NULL, &diag), &diag);
    CHECK(out.data == first);
    CHECK(((float *)out.data)[5] == 66);
    /* Nothing in, nothing out. */
    in[0].size = in[1].size = 0;
    REQUIRE_OK(vyre_dispatch(device, p, in, 2, &out, 1, NULL, &report, &diag), &diag);
    CHECK_EQ(out.size, 0);
    CHECK_EQ(report.stats.launches, 0);
    vyre_output_finish(&out, NULL);
    CHECK(out.data == NULL && out.capacity == 0);
    vyre_output_finish(NULL, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

TEST(a_grid_barrier_runs_natively) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = counter();
    for (int order = VYRE_ORDER_FORWARD; order <= VYRE_ORDER_INTERLEAVED; order++) {
        vyre_output out = {0};
        vyre_dispatch_options o = {.order = (vyre_order)order, .order_seed = 5};
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_dispatch(device, p, NULL, 0, &out, 1, &o, NULL, &diag), &diag);
        for (uint32_t i = 0; i < 12; i++) {
            CHECK_EQ(word(&out, i), 78 + i);
        }
        vyre_output_finish(&out, NULL);
    }
    vyre_program_release(p);
    vyre_device_close(device);
}

TEST(another_workgroup_gives_the_same_bytes) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = saxpy();
    const float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60};
    vyre_input in[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_output out = {0};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    vyre_dispatch_options o = {.workgroup = {2, 1, 1}};
    REQUIRE_OK(vyre_dispatch(device, p, in, 2, &out, 1, &o, &report, &diag), &diag);
    CHECK_EQ(report.grid[0], 3);
    for (int i = 0; i < 6; i++) {
        CHECK(((float *)out.data)[i] == 2 * x[i] + y[i]);
    }
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

/* The loop surely runs while the group has more than 8 lanes. */
TEST(another_workgroup_is_checked_again) {
    static const char text[] = "program p workgroup(64) grid(1) { inout f : u32[1];\n"
                               "if (global_id.x == 0) { f[0] = 1; }\n"
                               "for (i in 8 .. global_size.x) { grid_sync; }\n"
                               "if (f[0] > 0) { grid_sync; } }";
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    vyre_diag_list diags = {.items = &diag, .capacity = 1};
    REQUIRE_OK(vyre_parse(text, sizeof text - 1, NULL, NULL, &p, &diags), &diag);
    const uint32_t zero = 0;
    const vyre_input in = {&zero, sizeof zero};
    vyre_output out = {0};
    vyre_dispatch_options o = {.workgroup = {16}};
    REQUIRE_OK(vyre_dispatch(device, p, &in, 1, &out, 1, &o, NULL, &diag), &diag);
    o.workgroup[0] = 8;
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &o, NULL, &diag), VYRE_INVALID_PROGRAM,
                 &diag);
    CHECK_HAS(diag.message, "not all lanes of the grid come to this grid_sync");
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

static vyre_dispatch_report run_climb(const char *uri, uint32_t start, uint32_t limit,
                                      uint32_t iterations, uint32_t *result) {
    vyre_device *device = run_open(uri, NULL);
    vyre_program *p = climb(limit);
    uint32_t value[2] = {start, 1};
    vyre_input in = {value, sizeof value};
    vyre_output out = {0};
    vyre_dispatch_options o = {.has_iterations = true, .iterations = iterations};
    vyre_dispatch_report report = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, &in, 1, &out, 1, &o, &report, &diag), &diag);
    *result = word(&out, 0);
    CHECK_EQ(word(&out, 1), 1); /* scratch starts afresh in each pass */
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
    return report;
}

TEST(a_fixpoint_ends_with_the_pass_that_changes_nothing) {
    struct {
        uint32_t start, limit, iterations, passes, result;
        bool converged;
    } cases[] = {
        {0, 3, 10, 4, 3, true}, {0, 3, 4, 4, 3, true},  {0, 3, 3, 3, 3, false},
        {0, 3, 1, 1, 1, false}, {3, 3, 10, 1, 3, true}, {3, 3, 1, 1, 3, true},
        {7, 3, 10, 2, 3, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t result = 0;
        vyre_dispatch_report report =
            run_climb("ref", cases[i].start, cases[i].limit, cases[i].iterations, &result);
        CHECK_EQ(report.passes, cases[i].passes);
        CHECK_EQ(report.converged, cases[i].converged);
        CHECK_EQ(result, cases[i].result);
        CHECK_EQ(report.stats.launches, cases[i].passes);
        CHECK_EQ(report.stats.bytes_in, 8);
        CHECK_EQ(report.stats.bytes_out, 8);
    }
}

TEST(bad_options_are_refused_before_anything_runs) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = climb(3);
    uint32_t value[2] = {0, 0};
    vyre_input in = {value, sizeof value};
    vyre_output out = {0};
    vyre_diag diag = {0};
    vyre_dispatch_options zero = {.has_iterations = true};
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &zero, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "zero iterations were asked for on ref");
    vyre_dispatch_options small = {.max_output_bytes = 7};
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &small, NULL, &diag), VYRE_LIMIT, &diag);
    small.max_output_bytes = 8;
    REQUIRE_OK(vyre_dispatch(device, p, &in, 1, &out, 1, &small, NULL, &diag), &diag);
    vyre_output_finish(&out, NULL);
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 0, NULL, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_dispatch(device, p, NULL, 1, &out, 1, NULL, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_dispatch(NULL, p, &in, 1, &out, 1, NULL, NULL, &diag), VYRE_INVALID_ARGUMENT,
                 &diag);
    CHECK_STATUS(vyre_dispatch(device, p, &in, 0, &out, 1, NULL, NULL, &diag), VYRE_INVALID_INPUT,
                 &diag);
    in.size = 4;
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, NULL, NULL, &diag), VYRE_INVALID_INPUT,
                 &diag);
    in = (vyre_input){0};
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, NULL, NULL, &diag), VYRE_INVALID_INPUT,
                 &diag);
    CHECK(out.data == NULL && out.size == 0);
    vyre_program_release(p);
    vyre_device_close(device);
}

TEST(a_failed_run_leaves_the_outputs_alone) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *trap = hostile(VYRE_STMT_TRAP), *endless = hostile(VYRE_STMT_WHILE);
    uint32_t value = 5, slot = 42;
    vyre_input in = {&value, sizeof value};
    vyre_output out = {&slot, 4, 4, true};
    vyre_dispatch_report report = {.passes = 77};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_dispatch(device, trap, &in, 1, &out, 1, NULL, &report, &diag), VYRE_TRAP,
                 &diag);
    CHECK_HAS(diag.message, "broken");
    vyre_dispatch_options o = {.timeout_ns = 50000000};
    CHECK_STATUS(vyre_dispatch(device, endless, &in, 1, &out, 1, &o, &report, &diag), VYRE_TIMEOUT,
                 &diag);
    o = (vyre_dispatch_options){.max_steps = 1000};
    CHECK_STATUS(vyre_dispatch(device, endless, &in, 1, &out, 1, &o, &report, &diag),
                 VYRE_STEP_BUDGET, &diag);
    vyre_cancel cancel = {1};
    o = (vyre_dispatch_options){.cancel = &cancel};
    CHECK_STATUS(vyre_dispatch(device, endless, &in, 1, &out, 1, &o, &report, &diag),
                 VYRE_CANCELLED, &diag);
    CHECK_EQ(run_counters(device).input_bytes, 3 * sizeof value); /* cancelled before the upload */
    CHECK_EQ(slot, 42);
    CHECK_EQ(value, 5);
    CHECK_EQ(out.size, 4);
    CHECK_EQ(report.passes, 77);
    vyre_program_release(trap);
    vyre_program_release(endless);
    vyre_device_close(device);
}

TEST(the_step_budget_holds_for_all_passes_together) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = climb(100);
    uint32_t value[2] = {0, 0};
    vyre_input in = {value, sizeof value};
    vyre_output out = {0};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    vyre_dispatch_options o = {.has_iterations = true, .iterations = 4};
    REQUIRE_OK(vyre_dispatch(device, p, &in, 1, &out, 1, &o, &report, &diag), &diag);
    o.max_steps = report.stats.steps;
    REQUIRE_OK(vyre_dispatch(device, p, &in, 1, &out, 1, &o, &report, &diag), &diag);
    o.max_steps--;
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &o, &report, &diag), VYRE_STEP_BUDGET,
                 &diag);
    o.max_steps++;
    o.iterations = 5;
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &o, &report, &diag), VYRE_STEP_BUDGET,
                 &diag);
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

TEST(an_output_range_returns_those_bytes) {
    vyre_device *device = run_open("ref", NULL);
    vyre_builder *b = build_begin("range", 4, 1, 1);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 4));
    vyre_build_output_range(b, o, 4, 12);
    vyre_build_store(b, o, global_id(b), global_id(b));
    vyre_program *p = build_finish(b);
    vyre_output out = {0};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, NULL, 0, &out, 1, NULL, &report, &diag), &diag);
    CHECK_EQ(out.size, 8);
    CHECK_EQ(word(&out, 0), 1);
    CHECK_EQ(word(&out, 1), 2);
    CHECK_EQ(report.stats.bytes_out, 8);
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

TEST(zero_elements_run_nothing) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *p = counter();
    vyre_output out = {0};
    vyre_dispatch_options o = {.has_elements = true, .has_iterations = true, .iterations = 9};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, NULL, 0, &out, 1, &o, &report, &diag), &diag);
    CHECK_EQ(report.stats.launches, 0);
    CHECK_EQ(report.passes, 1);
    CHECK(report.converged);
    CHECK_EQ(word(&out, 3), 0);
    CHECK_EQ(out.size, 48);
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

TEST(races_are_counted_over_all_passes) {
    vyre_device *device = run_open("ref", NULL);
    vyre_builder *b = build_begin("racy", 4, 1, 1);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 1));
    vyre_build_elements(b, vyre_build_size(b, 4));
    vyre_build_store(b, o, vyre_build_u32(b, 0), global_id(b));
    vyre_program *p = build_finish(b);
    vyre_race races[3] = {{.decl = 99}, {.decl = 99}, {.decl = 99}};
    vyre_output out = {0};
    vyre_dispatch_options options = {.find_races = true,
                                     .races = races,
                                     .race_capacity = 3,
                                     .has_iterations = true,
                                     .iterations = 2};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, NULL, 0, &out, 1, &options, &report, &diag), &diag);
    CHECK_EQ(report.passes, 2);
    CHECK_EQ(report.race_count, 2);
    CHECK_EQ(report.harmless_race_count, 0);
    CHECK_EQ(report.races_stored, 2);
    CHECK_EQ(races[1].decl, o);
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

/* A weaker device: ref with a description that a test may change, without `equal`, and with a
 * `finish` that counts. */
static vyre_device_info weak_info;
static uint32_t weak_finished;

static void weak_describe(vyre_backend_device *device, vyre_device_info *out_info) {
    (void)device;
    *out_info = weak_info;
}

static vyre_status weak_finish(vyre_backend_device *device, uint64_t pass,
                               vyre_launch_results *results, vyre_diag *diag) {
    (void)device, (void)pass, (void)results, (void)diag;
    weak_finished++;
    return VYRE_OK;
}

static vyre_device *open_weak(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    table = *vyre_backend_ref.device;
    table.describe = weak_describe;
    table.equal = NULL;
    table.finish = weak_finish;
    backend = (vyre_backend){.name = "weak", .device = &table, .open = vyre_backend_ref.open};
    return run_open_backend(&backend);
}

static vyre_device_info strong(void) {
    return (vyre_device_info){.level = VYRE_LEVEL_PROGRAM,
                              .has_f64 = true,
                              .has_u64_atomics = true,
                              .has_float_atomics = true,
                              .has_subgroups = true,
                              .has_async_copy = true};
}

TEST(a_device_without_comparison_converges_the_same) {
    weak_info = strong();
    vyre_device *device = open_weak();
    /* A change in the last byte only, behind more than one window of the comparison. */
    vyre_builder *b = build_begin("last", 1, 1, 1);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U8, vyre_build_size(b, 10000));
    vyre_build_grid(b, vyre_build_size(b, 1), VYRE_NONE, VYRE_NONE);
    vyre_expr at = vyre_build_u32(b, 9999);
    vyre_build_store(
        b, o, at,
        build_two(b, VYRE_EXPR_MIN,
                  build_two(b, VYRE_EXPR_ADD, vyre_build_load(b, o, at), vyre_build_u32(b, 1)),
                  vyre_build_u32(b, 2)));
    vyre_program *p = build_finish(b);
    vyre_output out = {0};
    vyre_dispatch_options options = {.has_iterations = true, .iterations = 9};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, NULL, 0, &out, 1, &options, &report, &diag), &diag);
    CHECK_EQ(report.passes, 3);
    CHECK(report.converged);
    CHECK_EQ(((unsigned char *)out.data)[9999], 2);
    CHECK_EQ(weak_finished, 3);
    CHECK_EQ(report.stats.bytes_out, 10000 + 3 * 20000);
    vyre_output_finish(&out, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
}

static void check_refused(const vyre_program *p, const vyre_dispatch_options *options,
                          vyre_status want, const char *message) {
    vyre_device *device = open_weak();
    vyre_output out = {0};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_dispatch(device, p, NULL, 0, &out, 1, options, NULL, &diag), want, &diag);
    CHECK_HAS(diag.message, message);
    CHECK(diag.fix[0]);
    CHECK(!out.data);
    vyre_device_close(device);
}

TEST(devices_refuse_what_they_can_not_do) {
    vyre_program *p = counter();
    weak_info = strong();
    weak_info.level = VYRE_LEVEL_SEGMENT;
    check_refused(p, NULL, VYRE_UNSUPPORTED, "waits for its grid");
    weak_info = strong();
    check_refused(p, &(vyre_dispatch_options){.order = VYRE_ORDER_REVERSE}, VYRE_UNSUPPORTED,
                  "an order of lanes");
    check_refused(p, &(vyre_dispatch_options){.find_races = true}, VYRE_UNSUPPORTED,
                  "race detection");
    check_refused(p, &(vyre_dispatch_options){.max_steps = 5}, VYRE_UNSUPPORTED,
                  "a limit of steps");
    vyre_capabilities can = vyre_capabilities_all();
    weak_info.can = &can;
    can.stmts &= ~(UINT64_C(1) << VYRE_STMT_ATOMIC);
    check_refused(p, NULL, VYRE_UNSUPPORTED, "does not have ATOMIC");
    can = vyre_capabilities_all();
    can.exprs[VYRE_EXPR_ADD / 64] &= ~(UINT64_C(1) << VYRE_EXPR_ADD % 64);
    check_refused(p, NULL, VYRE_UNSUPPORTED, "does not have ADD");
    weak_info = strong();
    weak_info.max_group_lanes = 3;
    check_refused(p, NULL, VYRE_LIMIT, "a workgroup has 4 lanes");
    weak_info = strong();
    weak_info.max_groups[0] = 2;
    check_refused(p, NULL, VYRE_LIMIT, "3 groups along x");
    weak_info = strong();
    weak_info.max_buffer_bytes = 47;
    check_refused(p, NULL, VYRE_LIMIT, "o needs 48 bytes");
    vyre_program_release(p);
}

TEST(devices_refuse_types_and_memory_they_lack) {
    vyre_builder *b = build_begin("wide", 1, 1, 1);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U64, vyre_build_size(b, 1));
    vyre_decl w = vyre_build_memory(b, VYRE_WORKGROUP, "w", VYRE_F32, vyre_build_size(b, 8));
    vyre_expr zero = vyre_build_u32(b, 0);
    vyre_build_atomic(b, NULL, VYRE_ATOMIC_ADD, o, zero, VYRE_NONE,
                      vyre_build_literal(b, VYRE_U64, 1), VYRE_SEQ_CST);
    vyre_build_atomic(b, NULL, VYRE_ATOMIC_ADD, w, zero, VYRE_NONE, vyre_build_f32(b, 1),
                      VYRE_SEQ_CST);
    vyre_build_subgroup(b, "s", VYRE_SUBGROUP_ADD, vyre_build_f64(b, 1), VYRE_NONE);
    vyre_program *p = build_finish(b);
    weak_info = strong();
    weak_info.has_u64_atomics = false;
    check_refused(p, NULL, VYRE_UNSUPPORTED, "64-bit atomics");
    weak_info = strong();
    weak_info.has_float_atomics = weak_info.has_u64_atomics = false;
    check_refused(p, NULL, VYRE_UNSUPPORTED, "64-bit atomics");
    weak_info = strong();
    weak_info.has_f64 = false;
    check_refused(p, NULL, VYRE_UNSUPPORTED, "f64");
    weak_info = strong();
    weak_info.max_workgroup_bytes = 31;
    check_refused(p, NULL, VYRE_LIMIT, "needs 32 bytes");
    vyre_program_release(p);
    p = run_parse("program copies workgroup(1) grid(1) {\n"
                  "    out o : u32[70000]; workgroup w : u32[4];\n"
                  "    async_load(o, o, 0, o[1], \"t\"); async_wait(\"t\");\n"
                  "}\n");
    weak_info = strong();
    weak_info.has_async_copy = false;
    check_refused(p, NULL, VYRE_UNSUPPORTED, "the async copy \"t\"");
    vyre_program_release(p);
}

static vyre_status climb_once(vyre_device *device, void *program) {
    uint32_t value[2] = {0, 1}, slot[2] = {8, 9};
    vyre_input in = {value, sizeof value};
    vyre_output out = {slot, sizeof slot, sizeof slot, true};
    vyre_dispatch_options o = {.has_iterations = true, .iterations = 9};
    vyre_diag diag = {0};
    vyre_status status = vyre_dispatch(device, program, &in, 1, &out, 1, &o, NULL, &diag);
    bool failed = status != VYRE_OK;
    CHECK_EQ(slot[0], failed ? 8 : 2);
    CHECK_EQ(slot[1], failed ? 9 : 1);
    CHECK(!failed || diag.message[0]);
    CHECK(out.data == slot);
    return status;
}

TEST(every_failing_entry_leaves_host_memory_alone) {
    vyre_program *p = climb(2);
    run_every_fault("ref", climb_once, p);
    vyre_program_release(p);
}

TEST(no_slot_changes_before_the_last_output_is_read) {
    vyre_builder *b = build_begin("two", 1, 1, 1);
    const char *const names[] = {"first", "second"};
    for (uint32_t i = 0; i < 2; i++) {
        vyre_decl o = vyre_build_memory(b, VYRE_OUT, names[i], VYRE_U32, vyre_build_size(b, 1));
        vyre_build_store(b, o, vyre_build_u32(b, 0), vyre_build_u32(b, 5 + i));
    }
    vyre_program *p = build_finish(b);
    for (int n = 1; n <= 3; n++) {
        char uri[64];
        snprintf(uri, sizeof uri, "fault://ref?op=read&n=%d", n);
        vyre_device *device = run_open(uri, NULL);
        uint32_t first = 1;
        vyre_output out[2] = {{&first, 4, 4, true}, {0}};
        vyre_status status = vyre_dispatch(device, p, NULL, 0, out, 2, NULL, NULL, NULL);
        CHECK_STATUS(status, n < 3 ? VYRE_DEVICE_FAILED : VYRE_OK, NULL);
        CHECK_EQ(first, n < 3 ? 1 : 5);
        CHECK_EQ(out[1].size, n < 3 ? 0 : 4);
        vyre_output_finish(&out[1], NULL);
        vyre_device_close(device);
    }
    vyre_program_release(p);
}

TEST(an_invalid_program_is_refused_with_the_message_of_the_check) {
    vyre_device *device = run_open("ref", NULL);
    vyre_builder *b = build_begin("divergent", 4, 1, 1);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 4));
    vyre_build_if(b, build_two(b, VYRE_EXPR_LT, global_id(b), vyre_build_u32(b, 2)));
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_store(b, o, global_id(b), vyre_build_u32(b, 1));
    vyre_program *p = build_finish(b);
    vyre_output out = {0};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_dispatch(device, p, NULL, 0, &out, 1, NULL, NULL, &diag),
                 VYRE_INVALID_PROGRAM, &diag);
    CHECK_EQ(diag.code[0], 'V');
    CHECK_EQ(diag.severity, VYRE_ERROR);
    CHECK(!out.data);
    vyre_program_release(p);
    vyre_device_close(device);
}

typedef struct worker {
    vyre_device *device;
    vyre_program *program;
    bool right;
} worker;

static void *work(void *user) {
    worker *w = user;
    vyre_output out = {0};
    w->right = true;
    for (uint32_t start = 0; start < 20; start++) {
        uint32_t value[2] = {start, 0};
        vyre_input in = {value, sizeof value};
        vyre_dispatch_options o = {.has_iterations = true, .iterations = 50};
        vyre_status status = vyre_dispatch(w->device, w->program, &in, 1, &out, 1, &o, NULL, NULL);
        w->right = w->right && status == VYRE_OK && word(&out, 0) == 20;
    }
    vyre_output_finish(&out, NULL);
    return NULL;
}

TEST(one_device_and_program_serve_several_threads) {
    worker w = {run_open("ref", NULL), climb(20), false};
    worker all[4] = {w, w, w, w};
    test_in_threads(work, all, sizeof *all);
    for (int i = 0; i < 4; i++) {
        CHECK(all[i].right);
    }
    vyre_program_release(w.program);
    vyre_device_close(w.device);
}

typedef struct job {
    const vyre_program *program;
    const vyre_input *inputs;
    uint32_t input_count;
    vyre_dispatch_options options;
} job;

static vyre_status dispatch_once(const vyre_allocator *a, void *user) {
    const job *j = user;
    vyre_device *device = NULL;
    vyre_status status = vyre_device_open(NULL, "ref", a, &device, NULL);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_output out = {0};
    vyre_diag diag = {0};
    status = vyre_dispatch(device, j->program, j->inputs, j->input_count, &out, 1, &j->options,
                           NULL, &diag);
    CHECK(status == VYRE_OK || diag.message[0]);
    CHECK(status == VYRE_OK || !out.data);
    vyre_output_finish(&out, a);
    vyre_device_close(device);
    return status;
}

TEST(dispatch_survives_every_failed_allocation) {
    const float x[6] = {1, 2, 3, 4, 5, 6};
    vyre_input in[] = {{x, sizeof x}, {x, sizeof x}};
    vyre_program *p = saxpy(), *waits = counter();
    job simple = {
        .program = p, .inputs = in, .input_count = 2, .options = {.workgroup = {3, 1, 1}}};
    job passes = {.program = waits, .options = {.has_iterations = true, .iterations = 2}};
    CHECK(test_every_allocation(dispatch_once, &simple, 1000) > 10);
    CHECK(test_every_allocation(dispatch_once, &passes, 1000) > 10);
    vyre_program_release(p);
    vyre_program_release(waits);
}

TEST(a_slot_over_memory_of_the_caller_is_neither_grown_nor_freed) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_program *program = run_parse("program fill workgroup(4) elements(4) { out y : u32[4];\n"
                                      " y[global_id.x] = global_id.x + 1; }");
    uint32_t memory[6] = {9, 9, 9, 9, 9, 9};
    vyre_diag diag;
    for (uint32_t in_place = 0; in_place < 2; in_place++) {
        const vyre_dispatch_options options = {.in_place = in_place != 0};
        vyre_output out = {.data = memory, .capacity = 15, .is_fixed = true};
        CHECK_STATUS(vyre_dispatch(device, program, NULL, 0, &out, 1, &options, NULL, &diag),
                     VYRE_LIMIT, &diag);
        CHECK_STR(diag.message, "y returns 16 bytes, and output slot 1 has room for 15");
        CHECK_EQ(memory[0], 9);
        CHECK_EQ(run_counters(device).launches, in_place); /* refused before it ran */
        out.capacity = 20;
        REQUIRE_OK(vyre_dispatch(device, program, NULL, 0, &out, 1, &options, NULL, &diag), &diag);
        CHECK(out.data == memory && out.size == 16 && out.capacity == 20);
        CHECK_EQ(memory[3], 4);
        CHECK_EQ(memory[4], 9);
        vyre_output_finish(&out, NULL); /* it is not freed */
        memory[0] = 9;
    }
    vyre_program_release(program);
    vyre_device_close(device);
}
