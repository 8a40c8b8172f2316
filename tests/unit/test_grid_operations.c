/* Operations over the grid on a device with a grid barrier of its own that does not have them: the
 * program is split, unless that is switched off. */
#include "device/registry.h"
#include "harness/run.h"
#include "vyre/backend.h"
#include "vyre/lower.h"

static vyre_capabilities can;

static const vyre_backend *ref(void) {
    return vyre_registry_find(NULL, "ref", 3);
}

static void describe(vyre_backend_device *device, vyre_device_info *out_info) {
    ref()->device->describe(device, out_info);
    can = vyre_capabilities_all();
    can.stmts &= ~(UINT64_C(1) << VYRE_STMT_GRID);
    out_info->can = &can;
}

static vyre_device *open_without(void) {
    static vyre_backend backend;
    static vyre_device_table table;
    backend = *ref();
    table = *backend.device;
    table.describe = describe;
    backend.name = "plain";
    backend.device = &table;
    return run_open_backend(&backend);
}

typedef struct outcome {
    vyre_status status;
    bool was_split;
    uint32_t words[4];
    vyre_diag diag;
} outcome;

static outcome dispatch(vyre_device *device, const char *text, vyre_split_mode split) {
    outcome o = {0};
    vyre_program *program = run_parse(text);
    vyre_output out = {o.words, sizeof o.words, sizeof o.words, true};
    vyre_dispatch_report report = {0};
    const vyre_dispatch_options options = {.split = split};
    o.status = vyre_dispatch(device, program, NULL, 0, &out, 1, &options, &report, &o.diag);
    o.was_split = report.was_split;
    vyre_program_release(program);
    return o;
}

static const char *const sum = "program p workgroup(2) elements(4) { out y : u32[4];\n"
                               "  y[global_id.x] = grid_add(global_id.x); }";
static const char *const wait = "program p workgroup(2) elements(4) { out y : u32[4];\n"
                                "  y[global_id.x] = 1; grid_sync; y[3 - global_id.x] += 1; }";

TEST(a_device_without_them_gets_programs_split) {
    vyre_device *device = open_without();
    outcome o = dispatch(device, sum, VYRE_SPLIT_AUTO);
    REQUIRE_OK(o.status, &o.diag);
    CHECK(o.was_split);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(o.words[i], 6);
    }
    o = dispatch(device, sum, VYRE_SPLIT_NEVER);
    CHECK_STATUS(o.status, VYRE_UNSUPPORTED, &o.diag);
    vyre_device_close(device);
}

TEST(what_it_has_runs_whole) {
    vyre_device *device = open_without();
    outcome o = dispatch(device, wait, VYRE_SPLIT_AUTO);
    REQUIRE_OK(o.status, &o.diag);
    CHECK(!o.was_split);
    CHECK_EQ(o.words[0], 2);
    vyre_device_close(device);
}
