/* The reference backend as a device: memory is host memory, a kernel is the program or module
 * itself, and a launch interprets it to its end. Its path may state limits that it then claims to
 * have, to see how programs get along with them: "ref-split://max_buffer=4096&memory=65536", in
 * bytes. */
#include <string.h>

#include "backend/ref/ref.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"
#include "device/builtin.h"
#include "kit/host_memory.h"
#include "vyre/schedule.h"

typedef struct ref_device {
    vyre_host_device host;
    uint64_t max_buffer, memory; /* claimed; 0: no limit */
    uint64_t turn_loops;         /* not 0: it says that it likes loops turned */
} ref_device;

/* A positive decimal number of at most 18 digits, up to the end or an &; NULL: it is none. */
static const char *parse_bytes(const char *text, uint64_t *out_bytes) {
    const char *at = text;
    uint64_t bytes = 0;
    for (; *at >= '0' && *at <= '9' && at - text < 18; at++) {
        bytes = 10 * bytes + (uint64_t)(*at - '0');
    }
    *out_bytes = bytes;
    return bytes > 0 && (*at == '&' || *at == '\0') ? at : NULL;
}

/* NAME=BYTES, and more of them behind &. */
static bool parse_limits(ref_device *device, const char *path) {
    const struct {
        const char *name;
        uint64_t *to;
    } limits[] = {{"max_buffer=", &device->max_buffer},
                  {"memory=", &device->memory},
                  {"turn_loops=", &device->turn_loops}};
    const char *at = path;
    while (at && *at) {
        const char *value = NULL;
        for (size_t i = 0; i < sizeof limits / sizeof *limits && !value; i++) {
            size_t length = strlen(limits[i].name);
            if (strncmp(at, limits[i].name, length) == 0) {
                value = parse_bytes(at + length, limits[i].to);
            }
        }
        at = value && value[0] == '&' && value[1] ? value + 1 : value && !*value ? value : NULL;
    }
    return at != NULL;
}

static vyre_status ref_open(const vyre_backend *backend, const char *path,
                            const vyre_allocator *allocator, vyre_backend_device **out_device,
                            vyre_diag *diag) {
    ref_device limits = {0};
    if (!parse_limits(&limits, path)) {
        return vyre_fail(diag, VYRE_NOT_FOUND,
                         "open it by its name alone, or with limits: ref://max_buffer=4096&memory="
                         "65536",
                         "there is only one %s device, and no \"%s\"", backend->name, path);
    }
    vyre_allocator a = vyre_allocator_or_system(allocator);
    ref_device *device = vyre_alloc_zeroed(&a, 1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    *device = limits;
    device->host.allocator = a;
    *out_device = (vyre_backend_device *)device;
    return VYRE_OK;
}

static void ref_close(vyre_backend_device *object) {
    ref_device *device = (ref_device *)object;
    vyre_allocator a = device->host.allocator;
    vyre_free(&a, device, 1, sizeof *device);
}

static void ref_describe(vyre_backend_device *object, vyre_device_info *out_info) {
    const ref_device *device = (const ref_device *)object;
    *out_info = (vyre_device_info){
        .name = "reference interpreter",
        .version = VYRE_VERSION_STRING,
        .level = VYRE_LEVEL_PROGRAM,
        .allows_split = true,
        .is_oracle = true,
        .has_f64 = true,
        .has_u64_atomics = true,
        .has_float_atomics = true,
        .has_subgroups = true,
        .has_async_copy = true,
        .max_group_lanes = VYRE_LIMIT_GROUP_LANES,
        .max_workgroup_bytes = VYRE_LIMIT_WORKGROUP_BYTES,
        .max_buffer_bytes = device->max_buffer,
        .memory_bytes = device->memory,
        .compute_units = 1,
        .turns_loops = device->turn_loops != 0,
    };
    vyre_host_describe(&device->host, out_info);
}

/* A kernel is the program: the interpreter needs no preparation. */
typedef struct ref_kernel {
    const vyre_program *program;
    const vyre_module *module; /* or this */
} ref_kernel;

static vyre_status new_kernel(vyre_backend_device *object, ref_kernel content,
                              vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    ref_device *device = (ref_device *)object;
    ref_kernel *kernel = vyre_alloc(&device->host.allocator, 1, sizeof *kernel);
    if (!kernel) {
        return vyre_fail_memory(diag, "a kernel");
    }
    *kernel = content;
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

static vyre_status ref_compile(vyre_backend_device *object, const vyre_program *program,
                               vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    return new_kernel(object, (ref_kernel){.program = program}, out_kernel, diag);
}

static void ref_destroy(vyre_backend_device *object, vyre_backend_kernel *kernel) {
    ref_device *device = (ref_device *)object;
    vyre_free(&device->host.allocator, kernel, 1, sizeof(ref_kernel));
}

static vyre_status ref_launch(vyre_backend_device *object, vyre_backend_kernel *kernel,
                              const vyre_launch *launch, vyre_launch_result *out_result,
                              vyre_diag *diag) {
    ref_device *device = (ref_device *)object;
    const vyre_program *program = ((ref_kernel *)kernel)->program;
    uint32_t count = vyre_program_get(program)->decl_count;
    vyre_ref_memory *memory = vyre_alloc_zeroed(&device->host.allocator, count, sizeof *memory);
    if (!memory) {
        return vyre_fail_memory(diag, "a launch");
    }
    for (vyre_decl i = 0; i < count; i++) {
        if (launch->memory[i]) {
            memory[i] = (vyre_ref_memory){vyre_host_bytes(launch->memory[i]), launch->counts[i]};
        }
    }
    vyre_ref_args args = {
        .program = program,
        .memory = memory,
        .values = launch->values,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .order = (vyre_ref_order)launch->order,
        .seed = launch->order_seed,
        .step_budget = launch->max_steps,
        .deadline_ns = launch->deadline_ns,
        .cancel = launch->cancel ? &launch->cancel->requested : NULL,
        .barriers = launch->progress ? &launch->progress->barriers : NULL,
        .find_races = launch->find_races,
        .races = launch->races,
        .race_capacity = launch->race_capacity,
        .outside = launch->outside,
    };
    vyre_ref_result result = {0};
    vyre_status status = vyre_ref_execute(&args, &device->host.allocator, &result, diag);
    if (status == VYRE_OK || status == VYRE_TRAP) {
        *out_result = (vyre_launch_result){
            .steps = result.steps,
            .trap_lane = result.trap_lane,
            .race_count = result.race_count,
            .harmless_race_count = result.harmless_race_count,
            .races_stored = result.races_stored,
        };
    }
    vyre_free(&device->host.allocator, memory, count, sizeof *memory);
    return status;
}

/* All entries but `describe`. */
#define REF_ENTRIES                                                                                \
    VYRE_HOST_MEMORY_ENTRIES, .close = ref_close, .compile = ref_compile, .destroy = ref_destroy,  \
                              .launch = ref_launch

static const vyre_device_table ref_table = {
    REF_ENTRIES,
    .describe = ref_describe,
};

/* The same interpreter, claiming to have no grid barrier: what splitting is tested on. */
static void ref_split_describe(vyre_backend_device *object, vyre_device_info *out_info) {
    ref_describe(object, out_info);
    memcpy(out_info->name, "reference interpreter, segment by segment",
           sizeof "reference interpreter, segment by segment");
    out_info->level = VYRE_LEVEL_SEGMENT;
}

static const vyre_device_table ref_split_table = {
    REF_ENTRIES,
    .describe = ref_split_describe,
};

/* The same once more, running schedules itself: what level SCHEDULE is tested on. */
static void ref_schedule_describe(vyre_backend_device *object, vyre_device_info *out_info) {
    ref_describe(object, out_info);
    memcpy(out_info->name, "reference interpreter, schedule by schedule",
           sizeof "reference interpreter, schedule by schedule");
    out_info->level = VYRE_LEVEL_SCHEDULE;
}

static vyre_status ref_compile_module(vyre_backend_device *object, const vyre_module *module,
                                      vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    return new_kernel(object, (ref_kernel){.module = module}, out_kernel, diag);
}

/* One launch of a step's segment; `steps` were run before it. */
static vyre_status run_segment(vyre_backend_device *device, const vyre_module_launch *pass,
                               uint32_t step, vyre_launch one, uint64_t *steps, vyre_trap *trap,
                               vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(pass->module);
    uint32_t segment = m->steps[step].segment;
    ref_kernel kernel = {.program = m->segments[segment]};
    vyre_launch_result result = {0};
    vyre_status status = vyre_launch_check_time(pass->source, diag);
    if (status == VYRE_OK) {
        status = vyre_launch_check_steps(pass->source, *steps, diag);
    }
    if (status == VYRE_OK) {
        one.max_steps -= one.max_steps ? *steps : 0;
        uint64_t begin = one.trace ? vyre_clock_now() : 0;
        status = ref_launch(device, (vyre_backend_kernel *)&kernel, &one, &result, diag);
        if (one.trace) {
            vyre_trace_add(one.trace, &(vyre_span){.category = "segment",
                                                   .name = vyre_program_get(kernel.program)->name,
                                                   .begin = begin,
                                                   .end = vyre_clock_now(),
                                                   .segment = segment + 1,
                                                   .segment_count = m->segment_count,
                                                   .worker = 1});
        }
    }
    if (status != VYRE_OK && diag) {
        diag->segment = segment + 1;
    }
    *steps += result.steps;
    return status == VYRE_TRAP ? vyre_trap_note(trap, result.trap_lane, diag) : status;
}

static void run_collective(const vyre_position *at, const vyre_module_launch *pass,
                           vyre_stmt stmt) {
    vyre_collective_copy copy =
        vyre_collective_on_one_rank(pass->module, stmt, pass->source->counts);
    if (copy.size > 0) {
        memcpy(vyre_host_bytes(vyre_position_memory(at, pass, copy.to)),
               vyre_host_bytes(vyre_position_memory(at, pass, copy.from)), copy.size);
    }
}

static vyre_status read_memory(void *device, vyre_memory memory, uint64_t offset, void *data,
                               uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(data, (const char *)vyre_host_bytes(memory) + offset, size);
    return VYRE_OK;
}

static vyre_status run_step(vyre_backend_device *device, vyre_position *at,
                            const vyre_module_launch *pass, uint64_t *steps, vyre_trap *trap,
                            vyre_diag *diag) {
    const vyre_reader reader = {.read = read_memory, .user = device};
    const uint32_t number = at->step;
    const vyre_step *step = &vyre_module_get(pass->module)->steps[number];
    vyre_launch one;
    vyre_status status = vyre_position_enter(at, pass, &reader, &one, diag);
    if (status == VYRE_OK && step->segment != VYRE_NONE) {
        status = run_segment(device, pass, number, one, steps, trap, diag);
    }
    if (status == VYRE_OK && vyre_trap_is_due(trap, step)) {
        return vyre_trap_report(trap, diag);
    }
    if (status == VYRE_OK) {
        pass->visits[number]++;
        vyre_launch_progress(pass->source, step->segment != VYRE_NONE, step->sync);
        status = vyre_position_leave(at, pass, &reader, diag);
    }
    if (status == VYRE_OK && at->step != VYRE_NONE && step->collective != VYRE_NONE) {
        run_collective(at, pass, step->collective);
    }
    return status;
}

static vyre_status ref_run_module(vyre_backend_device *object, vyre_backend_kernel *kernel,
                                  const vyre_module_launch *pass, vyre_launch_result *out_result,
                                  vyre_diag *diag) {
    const vyre_allocator *a = &((ref_device *)object)->host.allocator;
    const vyre_module *module = ((ref_kernel *)kernel)->module;
    const uint32_t words = vyre_position_words(module);
    uint64_t *memory = vyre_alloc(a, words, sizeof *memory);
    if (!memory) {
        return vyre_fail_memory(diag, "a pass");
    }
    vyre_position at = vyre_position_begin(module, memory);
    vyre_status status = VYRE_OK;
    vyre_trap trap = {.happened = false};
    uint64_t steps = 0;
    while (at.step != VYRE_NONE && status == VYRE_OK) {
        status = run_step(object, &at, pass, &steps, &trap, diag);
    }
    out_result->steps = steps;
    vyre_position_finish(&at, pass);
    vyre_free(a, memory, words, sizeof *memory);
    return status == VYRE_OK ? vyre_trap_report(&trap, diag) : status;
}

static const vyre_device_table ref_schedule_table = {
    REF_ENTRIES,
    .describe = ref_schedule_describe,
    .compile_module = ref_compile_module,
    .run_module = ref_run_module,
};

const vyre_backend vyre_backend_ref_schedule = {
    .name = "ref-schedule",
    .description = "reference interpreter without a grid barrier that runs schedules itself",
    .rank = 902,
    .device = &ref_schedule_table,
    .open = ref_open,
};

const vyre_backend vyre_backend_ref_split = {
    .name = "ref-split",
    .description = "reference interpreter without a grid barrier: programs are split",
    .rank = 901,
    .device = &ref_split_table,
    .open = ref_open,
};

const vyre_backend vyre_backend_ref = {
    .name = "ref",
    .description = "reference interpreter: the meaning of the language, exact and slow",
    .rank = 900,
    .device = &ref_table,
    .open = ref_open,
};
