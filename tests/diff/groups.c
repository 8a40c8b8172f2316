/* What a device does that runs the lanes of a group one after the other: the schedule of
 * vyre/split.h at workgroup scope, once for each group, on "ref" as a device that sees only grids
 * of one group. Everything but kernels is ref's. */
#include "diff/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "device/builtin.h"
#include "ir/size.h"
#include "vyre/schedule.h"

typedef struct groups_kernel {
    vyre_module *module;
    vyre_backend_kernel **kernels;  /* of the segments */
    vyre_segment_binding *segments; /* bound anew for each group */
    uint32_t source_decls;          /* of what was compiled: the module's source may have more */
} groups_kernel;

/* One launch of the source. */
typedef struct run {
    vyre_backend_device *device;
    const groups_kernel *kernel;
    const vyre_module_view *m;
    const vyre_program_view *p; /* the module's source */
    const vyre_launch *source;
    vyre_memory *local;  /* per declaration of the source: workgroup memory */
    vyre_launch as_seen; /* the launch with the group's own memory, for the schedule */
    vyre_memory *memory; /* of that, */
    uint32_t *counts;
    vyre_memory lane, places[VYRE_PLACES];
    uint64_t lane_bytes, place_bytes[VYRE_PLACES];
    uint64_t *words; /* of the position */
    uint64_t number; /* of the group, */
    uint32_t group[3];
    uint64_t steps;
    vyre_diag trap;     /* of the lowest lane that trapped */
    uint64_t trap_lane; /* UINT64_MAX: none */
    vyre_diag *diag;
} run;

static const vyre_device_table *ref(void) {
    return vyre_backend_ref.device;
}

static void destroy(vyre_backend_device *device, vyre_backend_kernel *object) {
    groups_kernel *kernel = (groups_kernel *)object;
    const uint32_t count = vyre_module_get(kernel->module)->segment_count;
    for (uint32_t i = 0; kernel->kernels && kernel->segments && i < count; i++) {
        if (kernel->kernels[i]) {
            ref()->destroy(device, kernel->kernels[i]);
        }
        free(kernel->segments[i].memory);
        free(kernel->segments[i].counts);
        free(kernel->segments[i].values);
    }
    free(kernel->kernels);
    free(kernel->segments);
    vyre_module_release(kernel->module);
    free(kernel);
}

static vyre_status compile_segment(vyre_backend_device *device, const groups_kernel *kernel,
                                   uint32_t number, vyre_diag *diag) {
    const vyre_program *program = vyre_module_get(kernel->module)->segments[number];
    const size_t count = (size_t)vyre_program_get(program)->decl_count + 1;
    vyre_segment_binding *b = &kernel->segments[number];
    *b = (vyre_segment_binding){
        .memory = calloc(count, sizeof *b->memory),
        .counts = calloc(count, sizeof *b->counts),
        .values = calloc(count, sizeof *b->values),
    };
    return b->memory && b->counts && b->values
               ? ref()->compile(device, program, &kernel->kernels[number], diag)
               : vyre_fail_memory(diag, "a segment");
}

static vyre_status compile(vyre_backend_device *device, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    const vyre_split_options options = {.scope = VYRE_SPLIT_SCOPE_WORKGROUP};
    vyre_module *module = NULL;
    vyre_status status = vyre_split(program, &options, NULL, &module, diag);
    groups_kernel *kernel = status == VYRE_OK ? calloc(1, sizeof *kernel) : NULL;
    if (!kernel) {
        vyre_module_release(module);
        return status != VYRE_OK ? status : vyre_fail_memory(diag, "a kernel");
    }
    const uint32_t count = vyre_module_get(module)->segment_count;
    kernel->module = module;
    kernel->source_decls = vyre_program_get(program)->decl_count;
    kernel->kernels = calloc(count + 1, sizeof *kernel->kernels);
    kernel->segments = calloc(count + 1, sizeof *kernel->segments);
    status = kernel->kernels && kernel->segments ? VYRE_OK : vyre_fail_memory(diag, "a kernel");
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = compile_segment(device, kernel, i, diag);
    }
    if (status != VYRE_OK) {
        destroy(device, (vyre_backend_kernel *)kernel);
        return status;
    }
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

/* Elements of workgroup memory; 0 for other declarations. */
static uint32_t local_count(const run *r, vyre_decl d) {
    static const vyre_size_env nothing = {0};
    uint64_t count = 0;
    if (r->p->decls[d].role == VYRE_WORKGROUP) {
        (void)vyre_size_evaluate(r->p, r->p->decls[d].size, &nothing, &count, NULL);
    }
    return (uint32_t)count;
}

static uint64_t lanes_of(const run *r) {
    return (uint64_t)r->p->workgroup[0] * r->p->workgroup[1] * r->p->workgroup[2];
}

static uint32_t element_bytes(const vyre_program_view *p, vyre_decl d) {
    return vyre_type_size((vyre_type)p->decls[d].type);
}

/* All that does not change from launch to launch of the group. */
static void bind(const run *r, uint32_t number) {
    const vyre_program_view *p = vyre_program_get(r->m->segments[number]);
    const vyre_segment_decl *decls = r->m->decls[number];
    const vyre_segment_binding *b = &r->kernel->segments[number];
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        const uint32_t ref = decls[d].ref;
        switch ((vyre_decl_kind)decls[d].kind) {
        case VYRE_DECL_SOURCE:
            b->memory[d] = r->memory[ref];
            b->counts[d] = r->counts[ref];
            /* Lowering has added memory of the group behind what the launch knows. */
            b->values[d] = ref < r->kernel->source_decls ? r->source->values[ref] : 0;
            break;
        case VYRE_DECL_OWN:
            b->memory[d] = r->lane;
            b->counts[d] = (uint32_t)(r->lane_bytes / element_bytes(p, d));
            break;
        case VYRE_DECL_PLACE:
            b->counts[d] = (uint32_t)(r->place_bytes[ref] / element_bytes(p, d));
            break;
        case VYRE_DECL_LANES: b->values[d] = lanes_of(r); break;
        case VYRE_DECL_GROUP_ID: b->values[d] = r->group[ref]; break;
        case VYRE_DECL_GROUP_COUNT: b->values[d] = r->source->grid[ref]; break;
        case VYRE_DECL_SCALAR: /* by each launch */
        case VYRE_DECL_TICK:
        case VYRE_DECL_EXPECT: /* of modules for launching ahead */
        case VYRE_DECL_LOCAL:
        case VYRE_DECL_TRAP: /* it tells of traps itself */
        case VYRE_DECL_KINDS: break;
        }
    }
}

/* A lane of the present group trapped: the others go on. The interpreter tells of its lane in a
 * grid of this group alone. */
static vyre_status note_trap(run *r, uint64_t lane, const vyre_diag *trap) {
    int tail = 0;
    (void)sscanf(trap->message, "lane %*u%n", &tail);
    const uint64_t number = r->number * lanes_of(r) + lane;
    if (number < r->trap_lane) {
        r->trap_lane = number;
        r->trap = *trap;
        (void)snprintf(r->trap.message, sizeof r->trap.message, "lane %llu%s",
                       (unsigned long long)number, trap->message + tail);
    }
    return VYRE_OK;
}

static vyre_status read_memory(void *user, vyre_memory memory, uint64_t offset, void *data,
                               uint64_t size, vyre_diag *diag) {
    run *r = user;
    return ref()->read(r->device, memory, offset, data, size, diag);
}

static vyre_status run_segment(run *r, uint32_t segment, vyre_launch one) {
    vyre_launch_result result = {0};
    vyre_diag diag = {0};
    one.grid[0] = one.grid[1] = one.grid[2] = 1;
    one.max_steps -= one.max_steps ? r->steps : 0;
    vyre_status status =
        ref()->launch(r->device, r->kernel->kernels[segment], &one, &result, &diag);
    r->steps += result.steps;
    if (status == VYRE_TRAP) {
        return note_trap(r, result.trap_lane, &diag);
    }
    if (status != VYRE_OK && r->diag) {
        *r->diag = diag;
    }
    return status;
}

static vyre_status run_schedule(run *r) {
    vyre_module_launch pass = {.module = r->kernel->module,
                               .source = &r->as_seen,
                               .segments = r->kernel->segments,
                               .group = {r->group[0], r->group[1], r->group[2]}};
    const vyre_reader reader = {.read = read_memory, .user = r};
    vyre_position at = vyre_position_begin(pass.module, r->words);
    vyre_status status = VYRE_OK;
    memcpy(pass.places, r->places, sizeof pass.places);
    while (at.step != VYRE_NONE && status == VYRE_OK) {
        const uint32_t segment = r->m->steps[at.step].segment;
        vyre_launch one;
        status = vyre_launch_check_steps(r->source, r->steps, r->diag);
        if (status == VYRE_OK) {
            status = vyre_position_enter(&at, &pass, &reader, &one, r->diag);
        }
        if (status == VYRE_OK && segment != VYRE_NONE) {
            status = run_segment(r, segment, one);
        }
        if (status == VYRE_OK) {
            status = vyre_position_leave(&at, &pass, &reader, r->diag);
        }
    }
    return status;
}

static void release(run *r) {
    for (vyre_decl d = 0; d < r->p->decl_count; d++) {
        if (r->local[d]) {
            (void)ref()->free(r->device, r->local[d], NULL);
            r->local[d] = 0;
        }
    }
    for (int i = 0; i < VYRE_PLACES; i++) {
        if (r->places[i]) {
            (void)ref()->free(r->device, r->places[i], NULL);
            r->places[i] = 0;
        }
    }
    if (r->lane) {
        (void)ref()->free(r->device, r->lane, NULL);
        r->lane = 0;
    }
}

/* Each group begins with memory of its own, all zeros. */
static vyre_status run_group(run *r) {
    vyre_status status = VYRE_OK;
    for (vyre_decl d = 0; d < r->p->decl_count && status == VYRE_OK; d++) {
        const uint64_t count = local_count(r, d);
        if (count > 0) {
            status =
                ref()->allocate(r->device, count * vyre_type_size((vyre_type)r->p->decls[d].type),
                                &r->local[d], r->diag);
            r->memory[d] = r->local[d];
            r->counts[d] = (uint32_t)count;
        }
    }
    if (status == VYRE_OK) {
        status = ref()->allocate(r->device, r->lane_bytes, &r->lane, r->diag);
    }
    for (int i = 0; i < VYRE_PLACES && status == VYRE_OK; i++) {
        status = ref()->allocate(r->device, r->place_bytes[i], &r->places[i], r->diag);
    }
    for (uint32_t i = 0; i < r->m->segment_count && status == VYRE_OK; i++) {
        bind(r, i);
    }
    if (status == VYRE_OK) {
        status = run_schedule(r);
    }
    release(r);
    return status;
}

static vyre_status launch(vyre_backend_device *device, vyre_backend_kernel *object,
                          const vyre_launch *source, vyre_launch_result *out_result,
                          vyre_diag *diag) {
    const groups_kernel *kernel = (const groups_kernel *)object;
    const vyre_module_view *m = vyre_module_get(kernel->module);
    const vyre_program_view *p = vyre_program_get(m->source);
    const uint64_t made = 4 * (uint64_t)m->made_words;
    const size_t decls = (size_t)p->decl_count + 1;
    run r = {.device = device,
             .kernel = kernel,
             .m = m,
             .p = p,
             .source = source,
             .local = calloc(decls, sizeof *r.local),
             .memory = calloc(decls, sizeof *r.memory),
             .counts = calloc(decls, sizeof *r.counts),
             .words = calloc(vyre_position_words(kernel->module) + 1u, sizeof *r.words),
             .as_seen = *source,
             .place_bytes = {[VYRE_PLACE_MADE] = made, [VYRE_PLACE_SPARE] = made},
             .trap_lane = UINT64_MAX,
             .diag = diag};
    const uint32_t *grid = source->grid;
    const uint64_t groups = (uint64_t)grid[0] * grid[1] * grid[2];
    vyre_status status =
        r.local && r.memory && r.counts && r.words ? VYRE_OK : vyre_fail_memory(diag, "a launch");
    r.lane_bytes = 4 * lanes_of(&r) * m->lane_words;
    r.as_seen.memory = r.memory;
    r.as_seen.counts = r.counts;
    for (vyre_decl d = 0; d < kernel->source_decls && status == VYRE_OK; d++) {
        r.memory[d] = source->memory[d];
        r.counts[d] = source->counts[d];
    }
    for (uint64_t i = 0; i < groups && status == VYRE_OK; i++) {
        const uint64_t g = source->order == VYRE_ORDER_FORWARD ? i : groups - 1 - i;
        r.number = g;
        r.group[0] = (uint32_t)(g % grid[0]);
        r.group[1] = (uint32_t)(g / grid[0] % grid[1]);
        r.group[2] = (uint32_t)(g / grid[0] / grid[1]);
        status = run_group(&r);
    }
    out_result->steps = r.steps;
    free(r.local);
    free(r.memory);
    free(r.counts);
    free(r.words);
    if (status == VYRE_OK && r.trap_lane != UINT64_MAX) {
        status = VYRE_TRAP;
        out_result->trap_lane = r.trap_lane;
        if (diag) {
            *diag = r.trap;
        }
    }
    return status;
}

static void describe(vyre_backend_device *device, vyre_device_info *out_info) {
    ref()->describe(device, out_info);
    out_info->level = VYRE_LEVEL_SEGMENT;
}

vyre_registry *groups_registry(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    vyre_registry *registry = NULL;
    table = *ref();
    table.compile = compile;
    table.destroy = destroy;
    table.launch = launch;
    table.describe = describe;
    backend = vyre_backend_ref;
    backend.name = "ref-groups";
    backend.device = &table;
    if (vyre_registry_create(NULL, &registry) == VYRE_OK &&
        vyre_registry_add(registry, &backend, NULL) != VYRE_OK) {
        vyre_registry_destroy(registry);
        registry = NULL;
    }
    return registry;
}
