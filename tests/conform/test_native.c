/* Devices with a native grid barrier get programs without the barriers that nobody needs; the
 * oracle gets the source. */
#include "conform/recorder.h"

static const char text[] = "program p workgroup(4) { inout a : u32[8]; out b : u32[16];\n"
                           "  atomic_add(a[global_id.x], 1 + global_id.y); grid_sync;\n"
                           "  b[global_id.y * 8 + global_id.x] = a[global_id.x]; }";

/* Whether what was launched waits for its grid. */
static bool waits(vyre_device *device, uint32_t y, bool no_optimize) {
    static const uint32_t zeros[8];
    vyre_program *p = run_parse(text);
    const vyre_input input = {zeros, sizeof zeros};
    vyre_output outputs[2] = {{0}};
    const vyre_dispatch_options options = {
        .has_grid = true, .grid = {2, y, 1}, .no_optimize = no_optimize};
    vyre_diag diag = {0};
    const uint32_t launches = recorder_log.launch_count;
    REQUIRE_OK(vyre_dispatch(device, p, &input, 1, outputs, 2, &options, NULL, &diag), &diag);
    CHECK_EQ(recorder_log.launch_count, launches + 1);
    for (uint32_t i = 0; i < 8 * y; i++) {
        CHECK_EQ(((const uint32_t *)outputs[1].data)[i], y * (y + 1) / 2);
    }
    vyre_output_finish(&outputs[0], NULL);
    vyre_output_finish(&outputs[1], NULL);
    vyre_program_release(p);
    return recorder_log.launches[launches].waits;
}

TEST(a_native_device_is_spared_needless_barriers) {
    vyre_device *device = recorder_open(VYRE_LEVEL_PROGRAM);
    CHECK(!waits(device, 1, false));
    CHECK(waits(device, 2, false)); /* lanes share global_id.x */
    CHECK(waits(device, 1, true));
    vyre_device_close(device);
    CHECK_EQ(recorder_log.destroyed, recorder_log.compiled);
}

TEST(the_oracle_runs_the_source) {
    vyre_registry *registry = recorder_registry();
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    recorder_log = (recorder){.info = {.name = "recorder", .is_oracle = true}};
    recorder_log.info.level = VYRE_LEVEL_PROGRAM;
    REQUIRE_OK(vyre_device_open(registry, "recorder", NULL, &device, &diag), &diag);
    vyre_registry_destroy(registry);
    CHECK(waits(device, 1, false));
    vyre_device_close(device);
    CHECK_EQ(recorder_log.destroyed, recorder_log.compiled);
}
