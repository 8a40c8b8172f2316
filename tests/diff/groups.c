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
#include "kit/walk.h"
#include "split/module.h"

enum { LANE, GRID, NEXT, TURN, THEN, CARRIES };

typedef struct groups_kernel {
    vyre_module *module;
    vyre_backend_kernel **kernels;  /* of the segments */
    vyre_segment_binding *segments; /* bound anew for each group */
} groups_kernel;

/* One launch of the source. */
typedef struct run {
    vyre_backend_device *device;
    const groups_kernel *kernel;
    const vyre_module_view *m;
    const vyre_program_view *p; /* the module's source */
    const vyre_launch *source;
    vyre_memory *local; /* per declaration of the source: workgroup memory */
    vyre_memory carry[CARRIES];
    uint64_t bytes[CARRIES];
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
    const vyre_module_names *names = vyre_module_names_of(kernel->module);
    const size_t count = (size_t)vyre_program_get(program)->decl_count + 1;
    vyre_segment_binding *b = &kernel->segments[number];
    *b = (vyre_segment_binding){
        .memory = calloc(count, sizeof *b->memory),
        .counts = calloc(count, sizeof *b->counts),
        .values = calloc(count, sizeof *b->values),
        .grid = vyre_program_find_decl(program, names->grid),
        .next = vyre_program_find_decl(program, names->next),
        .turn = vyre_program_find_decl(program, names->turn),
        .then = vyre_program_find_decl(program, names->then),
        .tick = vyre_program_find_decl(program, names->tick),
        .expect = vyre_program_find_decl(program, names->expect),
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

/* Value of one of the params that splitting adds, or that of the source. */
static uint64_t value_of(const run *r, const char *name) {
    const vyre_module_names *names = vyre_module_names_of(r->kernel->module);
    for (int axis = 0; axis < 3; axis++) {
        if (strcmp(name, names->group[axis]) == 0) {
            return r->group[axis];
        }
        if (strcmp(name, names->groups[axis]) == 0) {
            return r->source->grid[axis];
        }
    }
    const vyre_decl d = vyre_program_find_decl(r->m->source, name);
    return strcmp(name, names->lanes) == 0
               ? (uint64_t)r->p->workgroup[0] * r->p->workgroup[1] * r->p->workgroup[2]
           : d == VYRE_NONE ? 0
                            : r->source->values[d];
}

/* All that does not change from launch to launch of the group. */
static void bind(const run *r, uint32_t number) {
    const vyre_module_names *names = vyre_module_names_of(r->kernel->module);
    const vyre_program_view *p = vyre_program_get(r->m->segments[number]);
    const vyre_segment_binding *b = &r->kernel->segments[number];
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        const vyre_decl d = vyre_program_find_decl(r->m->source, p->decls[i].name);
        if (p->decls[i].role == VYRE_PARAM) {
            b->values[i] = value_of(r, p->decls[i].name);
        } else if (strcmp(p->decls[i].name, names->lane) == 0) {
            b->memory[i] = r->carry[LANE];
            b->counts[i] = (uint32_t)(r->bytes[LANE] / 4);
        } else if (d == VYRE_NONE) { /* the walk binds it; it has the size of its kind */
            b->counts[i] = i == b->turn || i == b->then ? 1 : (uint32_t)(r->bytes[GRID] / 4);
        } else if (r->local[d]) {
            b->memory[i] = r->local[d];
            b->counts[i] = local_count(r, d);
        } else if (p->decls[i].role != VYRE_PRIVATE) {
            b->memory[i] = r->source->memory[d];
            b->counts[i] = r->source->counts[d];
        }
    }
}

/* A lane of the present group trapped: the others go on. The interpreter tells of its lane in a
 * grid of this group alone. */
static vyre_status note_trap(run *r, uint64_t lane, const vyre_diag *trap) {
    int tail = 0;
    const uint64_t lanes = (uint64_t)r->p->workgroup[0] * r->p->workgroup[1] * r->p->workgroup[2];
    (void)sscanf(trap->message, "lane %*u%n", &tail);
    const uint64_t number = r->number * lanes + lane;
    if (number < r->trap_lane) {
        r->trap_lane = number;
        r->trap = *trap;
        (void)snprintf(r->trap.message, sizeof r->trap.message, "lane %llu%s",
                       (unsigned long long)number, trap->message + tail);
    }
    return VYRE_OK;
}

static vyre_status run_schedule(run *r) {
    const vyre_module_launch pass = {.module = r->kernel->module,
                                     .source = r->source,
                                     .segments = r->kernel->segments,
                                     .shared = {r->carry[GRID], r->carry[NEXT]},
                                     .control = {r->carry[TURN], r->carry[THEN]}};
    vyre_status status = VYRE_OK;
    for (vyre_walk w = vyre_walk_begin(pass.module); w.at != VYRE_NONE && status == VYRE_OK;) {
        const vyre_step *step = &r->m->steps[w.at];
        uint32_t word = 0;
        status = vyre_launch_check_steps(r->source, r->steps, r->diag);
        if (status == VYRE_OK && step->segment != VYRE_NONE) {
            vyre_launch one = vyre_walk_launch(&w, &pass);
            vyre_launch_result result = {0};
            one.grid[0] = one.grid[1] = one.grid[2] = 1;
            one.max_steps -= one.max_steps ? r->steps : 0;
            vyre_diag diag = {0};
            status =
                ref()->launch(r->device, r->kernel->kernels[step->segment], &one, &result, &diag);
            r->steps += result.steps;
            if (status == VYRE_TRAP) {
                status = note_trap(r, result.trap_lane, &diag);
            } else if (status != VYRE_OK && r->diag) {
                *r->diag = diag;
            }
        }
        if (status == VYRE_OK && vyre_step_decides(step)) {
            status = ref()->read(r->device, pass.control[vyre_walk_then(&w)], 0, &word, sizeof word,
                                 r->diag);
        }
        vyre_walk_advance(&w, word);
    }
    return status;
}

static void release(run *r) {
    for (vyre_decl d = 0; d < r->p->decl_count; d++) {
        if (r->local[d]) {
            ref()->free(r->device, r->local[d]);
            r->local[d] = 0;
        }
    }
    for (int i = 0; i < CARRIES; i++) {
        if (r->carry[i]) {
            ref()->free(r->device, r->carry[i]);
            r->carry[i] = 0;
        }
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
        }
    }
    for (int i = 0; i < CARRIES && status == VYRE_OK; i++) {
        status = ref()->allocate(r->device, r->bytes[i], &r->carry[i], r->diag);
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
    const uint64_t lanes = (uint64_t)p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    const uint64_t shared = 4 * (uint64_t)m->grid_words, control = 4 * (uint64_t)m->control_words;
    run r = {.device = device,
             .kernel = kernel,
             .m = m,
             .p = p,
             .source = source,
             .local = calloc((size_t)p->decl_count + 1, sizeof *r.local),
             .bytes = {4 * lanes * m->lane_words, shared, shared, control, control},
             .trap_lane = UINT64_MAX,
             .diag = diag};
    const uint32_t *grid = source->grid;
    const uint64_t groups = (uint64_t)grid[0] * grid[1] * grid[2];
    vyre_status status = r.local ? VYRE_OK : vyre_fail_memory(diag, "a launch");
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
