/* Four threads walk one schedule at once, each with a position of its own; they meet behind
 * launches, and where a grid barrier follows something that was read. So while one is at the next
 * launch already, others may still read what the schedule loads. They all come to the same steps,
 * and a thread sanitizer finds nothing. */
#include <pthread.h>

#include "device/registry.h"
#include "harness/run.h"
#include "vyre/schedule.h"

enum { THREADS = 4, MOST_STEPS = 4096 };

typedef struct walker {
    vyre_backend_device *device;
    const vyre_module_launch *pass;
    vyre_backend_kernel **kernels; /* of the segments */
    pthread_barrier_t *meet;
    uint32_t number;
    uint32_t steps[MOST_STEPS], count;
    uint64_t sum; /* of all scalars at all steps */
} walker;

static const vyre_device_table *inner(void) {
    return vyre_registry_find(NULL, "ref-schedule", 12)->device;
}

static vyre_status read_memory(void *user, vyre_memory memory, uint64_t offset, void *data,
                               uint64_t size, vyre_diag *diag) {
    const walker *w = user;
    return inner()->read(w->device, memory, offset, data, size, diag);
}

/* Bindings of its own, since entering a step writes them. */
static vyre_segment_binding *copy_bindings(const vyre_module_launch *pass) {
    const vyre_module_view *m = vyre_module_get(pass->module);
    vyre_segment_binding *copies = calloc(m->segment_count + 1u, sizeof *copies);
    REQUIRE(copies);
    for (uint32_t i = 0; i < m->segment_count; i++) {
        const size_t count = vyre_program_get(m->segments[i])->decl_count;
        const vyre_segment_binding *from = &pass->segments[i];
        copies[i] = (vyre_segment_binding){.memory = calloc(count + 1, sizeof *from->memory),
                                           .counts = calloc(count + 1, sizeof *from->counts),
                                           .values = calloc(count + 1, sizeof *from->values)};
        REQUIRE(copies[i].memory && copies[i].counts && copies[i].values);
        memcpy(copies[i].memory, from->memory, count * sizeof *from->memory);
        memcpy(copies[i].counts, from->counts, count * sizeof *from->counts);
        memcpy(copies[i].values, from->values, count * sizeof *from->values);
    }
    return copies;
}

static void free_bindings(vyre_segment_binding *copies, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free(copies[i].memory);
        free(copies[i].counts);
        free(copies[i].values);
    }
    free(copies);
}

static void *walk(void *user) {
    walker *w = user;
    const vyre_module_view *m = vyre_module_get(w->pass->module);
    const vyre_reader reader = {.read = read_memory, .user = w};
    vyre_module_launch pass = *w->pass;
    vyre_segment_binding *bindings = copy_bindings(w->pass);
    uint64_t *words = calloc(vyre_position_words(pass.module) + 1u, sizeof *words);
    REQUIRE(words);
    pass.segments = bindings;
    vyre_position at = vyre_position_begin(pass.module, words);
    while (at.step != VYRE_NONE) {
        const vyre_step *step = &m->steps[at.step];
        vyre_launch one;
        REQUIRE(w->count < MOST_STEPS);
        w->steps[w->count++] = at.step;
        REQUIRE_OK(vyre_position_enter(&at, &pass, &reader, &one, NULL), NULL);
        if (step->segment != VYRE_NONE && w->number == w->count % THREADS) { /* by turns */
            vyre_launch_result result = {0};
            REQUIRE_OK(inner()->launch(w->device, w->kernels[step->segment], &one, &result, NULL),
                       NULL);
        }
        if (vyre_position_meets(&at)) {
            (void)pthread_barrier_wait(w->meet);
        }
        REQUIRE_OK(vyre_position_leave(&at, &pass, &reader, NULL), NULL);
        for (uint32_t i = 0; i < m->scalar_count; i++) {
            w->sum = w->sum * 31 + vyre_position_scalar(&at, i);
        }
    }
    free(words);
    free_bindings(bindings, m->segment_count);
    return NULL;
}

static vyre_status run_module(vyre_backend_device *device, vyre_backend_kernel *kernel,
                              const vyre_module_launch *pass, vyre_launch_result *out_result,
                              vyre_diag *diag) {
    static walker walkers[THREADS];
    const vyre_module_view *m = vyre_module_get(pass->module);
    vyre_backend_kernel **kernels = calloc(m->segment_count + 1u, sizeof *kernels);
    pthread_barrier_t meet;
    (void)kernel, (void)out_result;
    REQUIRE(kernels && pthread_barrier_init(&meet, NULL, THREADS) == 0);
    for (uint32_t i = 0; i < m->segment_count; i++) {
        REQUIRE_OK(inner()->compile(device, m->segments[i], &kernels[i], diag), diag);
    }
    memset(walkers, 0, sizeof walkers);
    for (uint32_t i = 0; i < THREADS; i++) {
        walkers[i] = (walker){
            .device = device, .pass = pass, .kernels = kernels, .meet = &meet, .number = i};
    }
    test_in_threads(walk, walkers, sizeof *walkers);
    for (uint32_t i = 1; i < THREADS; i++) {
        CHECK_EQ(walkers[i].count, walkers[0].count);
        CHECK_EQ(walkers[i].sum, walkers[0].sum);
        CHECK(memcmp(walkers[i].steps, walkers[0].steps, sizeof walkers[0].steps) == 0);
    }
    for (uint32_t i = 0; i < walkers[0].count; i++) {
        pass->visits[walkers[0].steps[i]]++;
    }
    for (uint32_t i = 0; i < m->segment_count; i++) {
        inner()->destroy(device, kernels[i]);
    }
    free(kernels);
    (void)pthread_barrier_destroy(&meet);
    return VYRE_OK;
}

static vyre_device *open_walkers(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    backend = *vyre_registry_find(NULL, "ref-schedule", 12);
    table = *backend.device;
    table.run_module = run_module;
    backend.name = "walkers";
    backend.device = &table;
    return run_open_backend(&backend);
}

static void dispatch(vyre_device *device, vyre_program *p, vyre_output out,
                     const vyre_dispatch_options *options) {
    const uint32_t in[2] = {5, 3};
    const vyre_input input = {in, sizeof in};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, &input, 1, &out, 1, options, NULL, &diag), &diag);
}

static const char *const programs[] = {
    /* a scalar that is loaded from memory which the next interval writes */
    "program p workgroup(2) elements(8) { in n : u32[2]; out o : u32[8]; scratch f : u32[2];\n"
    "  let k = 0; let more = 1; while (more != 0) { if (global_id.x == 0) { f[1] = n[0] - k; }\n"
    "    o[7 - global_id.x] += k; grid_sync; more = f[1]; grid_sync; k = k + 1; } }",
    /* values that lanes make in every trip */
    "program p workgroup(2) elements(8) { in n : u32[2]; out o : u32[8]; let m = 0; let t = 0;\n"
    "  while (m < 40) { if (n[1] > t % 2) { m = m + n[0]; } else { m = m + 1; } t = t + 1;\n"
    "    o[global_id.x] = o[global_id.x] + m; grid_sync; o[7 - global_id.x] += t; grid_sync; } }",
    /* lanes that end, and are asked for */
    "program p workgroup(2) elements(8) { in n : u32[2]; out o : u32[8];\n"
    "  for (k in 0 .. 100000) { o[global_id.x] = o[global_id.x] + k; grid_sync;\n"
    "    if (global_id.x <= k * n[1]) { exit; } o[7 - global_id.x] += 1; grid_sync; } }",
    /* values of groups, which change places */
    "program p workgroup(2) elements(8) { in n : u32[2]; out o : u32[8]; scratch g : u32[4];\n"
    "  let mine = n[group_id.x & 1]; for (k in 0 .. n[0]) { grid_sync; g[group_id.x] = mine + k;\n"
    "    grid_sync; mine = mine + g[3 - group_id.x]; o[global_id.x] = mine; } }",
};

TEST(four_threads_walk_one_schedule) {
    vyre_device *device = open_walkers(), *ref = run_open("ref", NULL);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        for (int plain = 0; plain < 2; plain++) {
            const vyre_dispatch_options options = {.no_optimize = plain == 1};
            uint32_t want[8] = {0}, got[8] = {0};
            vyre_program *p = run_parse(programs[i]);
            dispatch(ref, p, (vyre_output){want, sizeof want, sizeof want, true}, &options);
            dispatch(device, p, (vyre_output){got, sizeof got, sizeof got, true}, &options);
            CHECK(memcmp(got, want, sizeof got) == 0);
            vyre_program_release(p);
        }
    }
    vyre_device_close(device);
    vyre_device_close(ref);
}

/* A device that runs schedules needs no splitting: it is native, unless segments are asked for. */
TEST(a_device_that_runs_schedules_is_native) {
    vyre_program *p = run_parse(programs[0]);
    static const vyre_split_mode modes[] = {VYRE_SPLIT_AUTO, VYRE_SPLIT_NEVER, VYRE_SPLIT_ALWAYS};
    uint32_t want[8] = {0};
    vyre_device *ref = run_open("ref", NULL);
    dispatch(ref, p, (vyre_output){want, sizeof want, sizeof want, true},
             &(vyre_dispatch_options){0});
    for (int i = 0; i < 3; i++) {
        uint32_t got[8] = {0};
        vyre_device *device = run_open("ref-schedule", NULL);
        const vyre_dispatch_options options = {.split = modes[i]};
        dispatch(device, p, (vyre_output){got, sizeof got, sizeof got, true}, &options);
        CHECK(memcmp(got, want, sizeof got) == 0);
        const uint64_t waits = run_counters(device).host_waits;
        CHECK(modes[i] == VYRE_SPLIT_ALWAYS ? waits > 0 : waits == 0);
        vyre_device_close(device);
    }
    vyre_pipeline *pipeline = NULL;
    vyre_device *device = run_open("ref-schedule", NULL);
    REQUIRE_OK(vyre_compile(device, p, NULL, &pipeline, NULL), NULL);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    vyre_device_close(ref);
    vyre_program_release(p);
}
