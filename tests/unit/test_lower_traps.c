/* Traps on a device that does not tell of them: status, message, place and lane as on "ref". */
#include "diff/minimal.h"
#include "unit/lowering.h"

static const char *const programs[] = {
    /* several lanes, sites and addresses; the lowest lane traps last */
    "program p workgroup(4) elements(12) { out y : u32[12];\n"
    "  for (i in 0 .. 12) {\n"
    "    if (global_id.x + i == 11 && global_id.x > 4) { trap(\"one\", 0xdead00 + global_id.x); }\n"
    "    if (i == 11 && global_id.x == 4) { trap(\"two\", 0xffffffff); }\n"
    "    if (i == 0 && global_id.x == 9) { trap(\"three\", 0); } } y[global_id.x] = 1; }",
    /* before barriers of the group, which others pass */
    "program p workgroup(4) elements(12) { out y : u32[12]; workgroup t : u32[4];\n"
    "  if (local_id.x == 1) { trap(\"a\", y[0] + 5); } t[local_id.x] = 1; barrier;\n"
    "  if (t[local_id.x ^ 1] == 0) { trap(\"b\", 1); } y[global_id.x] = t[3]; }",
    /* the grid barrier ends it: what would trap behind does not */
    "program p workgroup(4) elements(12) { out y : u32[12];\n"
    "  if (global_id.x == 7) { trap(\"first\", 7); } y[global_id.x] = 2; grid_sync;\n"
    "  if (global_id.x == y[3]) { trap(\"second\", 1); } }",
    /* in a loop with grid barriers, in three dimensions */
    "program p workgroup(2, 2, 2) grid(2, 1, 2) { out y : u32[64];\n"
    "  let at = (global_id.z * global_size.y + global_id.y) * global_size.x + global_id.x;\n"
    "  for (i in 0 .. 4) { y[at] += i; grid_sync;\n"
    "    if (y[63 - at] + at > 30 + i) { trap(\"far\", at * 3); } grid_sync; } }",
    /* nobody */
    ("program p workgroup(4) elements(12) { out y : u32[12];\n"
     "  if (y[0] == 77) { trap(\"never\", 1); } y[global_id.x] = 1; }"),
};

TEST(traps_are_told_as_on_ref) {
    vyre_device *devices[] = {run_open("ref", NULL), run_open_added(minimal_add, "ref-minimal")};
    for (uint32_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        vyre_program *p = run_parse(programs[i]);
        vyre_diag diags[2] = {{0}};
        vyre_status statuses[2];
        vyre_pipeline *pipeline = NULL;
        REQUIRE_OK(vyre_compile(devices[1], p, NULL, &pipeline, &diags[1]), &diags[1]);
        for (uint32_t k = 0; k < 4; k++) { /* the last ones on a pipeline that has trapped before */
            vyre_output out = {0};
            vyre_diag *diag = &diags[k > 0];
            *diag = (vyre_diag){0};
            statuses[k > 0] =
                k < 2 ? vyre_dispatch(devices[k], p, NULL, 0, &out, 1, NULL, NULL, diag)
                      : vyre_pipeline_dispatch(pipeline, NULL, 0, &out, 1, NULL, NULL, diag);
            CHECK_EQ(statuses[k > 0], statuses[0]);
            CHECK_STR(diag->message, diags[0].message);
            CHECK_EQ(diag->line, diags[0].line);
            CHECK_EQ(diag->col, diags[0].col);
            vyre_output_finish(&out, NULL);
        }
        CHECK_EQ(statuses[0], i + 1 < sizeof programs / sizeof *programs ? VYRE_TRAP : VYRE_OK);
        vyre_pipeline_release(pipeline);
        vyre_program_release(p);
    }
    vyre_device_close(devices[0]);
    vyre_device_close(devices[1]);
}

TEST(records_of_many_lanes) {
    /* Two sites; lanes beyond 2^31 are in the next set, and come behind those before. */
    vyre_program *p = run_parse("program p workgroup(256) grid(10000000, 2) { in x : u32[2];\n"
                                "  if (x[0] == 1) { trap(\"a\", 1); }\n  trap(\"b\", 2); }");
    vyre_program *lowered = lowering_of(p, "traps");
    vyre_decl traps = vyre_traps_of(lowered, vyre_program_get(p)->decl_count);
    const uint32_t grid[3] = {10000000, 2, 1};
    const uint64_t count = vyre_trap_words(lowered, traps, grid);
    REQUIRE(count == 1 + 3 * 2 * 64);
    static uint32_t words[1 + 3 * 2 * 64];
    vyre_trap_record record;
    CHECK(!vyre_trap_find(lowered, traps, words, count, &record));
    words[0] = 1;
    for (uint32_t bit = 0; bit < 32; bit++) { /* lane 2^31 + 6 at the second site, address 5 */
        words[1 + 3 * 64 + 2 * bit + (5 >> bit & 1)] = (1u << 31) - 6;
        words[1 + 5 * 64 + 2 * bit] = (1u << 31) - 1;
    }
    REQUIRE(vyre_trap_find(lowered, traps, words, count, &record));
    CHECK_EQ(record.lane, (UINT64_C(1) << 31) + 6);
    CHECK_EQ(record.address, 5);
    CHECK_STR(record.tag, "b");
    CHECK_EQ(record.place.line, 3);
    vyre_program_release(lowered);
    vyre_program_release(p);
}

static vyre_status trap_once(vyre_device *device, void *program) {
    vyre_output out = {0};
    vyre_diag diag = {0};
    vyre_status status = vyre_dispatch(device, program, NULL, 0, &out, 1, NULL, NULL, &diag);
    vyre_output_finish(&out, NULL);
    return status == VYRE_TRAP ? VYRE_OK : status;
}

TEST(memory_may_run_out) {
    vyre_program *p = run_parse(programs[1]);
    for (uint64_t n = 1; n < 200; n++) {
        test_heap heap = {.fail_at = n};
        vyre_allocator a = test_heap_allocator(&heap);
        vyre_registry *registry = NULL;
        vyre_device *device = NULL;
        REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
        REQUIRE_OK(minimal_add(registry, NULL), NULL);
        vyre_status status = vyre_device_open(registry, "ref-minimal", &a, &device, NULL);
        if (status == VYRE_OK) {
            status = trap_once(device, p);
            vyre_device_close(device);
        }
        CHECK_EQ(status, heap.calls >= n ? VYRE_OUT_OF_MEMORY : VYRE_OK);
        CHECK_EQ(heap.live_blocks, 0);
        vyre_registry_destroy(registry);
    }
    vyre_program_release(p);
}
