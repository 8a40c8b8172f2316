/* What a device does that runs the lanes of a group one after the other: the schedule of
 * vyre/split.h at workgroup scope, once for each group, on "ref" as a device that sees only grids
 * of one group. Everything but kernels is ref's. */
#include "diff/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "ir/size.h"
#include "pass/module.h"
#include "runtime/builtin.h"

enum { LANE, GRID, NEXT, CARRIES };

typedef struct groups_kernel {
    vyre_module *module;
    vyre_backend_kernel **segments;
} groups_kernel;

/* One launch of the source. */
typedef struct run {
    vyre_backend_device *device;
    const groups_kernel *kernel;
    const vyre_module_view *m;
    const vyre_launch *source;
    uint32_t decls;      /* of the module's source */
    vyre_memory *memory; /* the launch's, and workgroup memory */
    uint32_t *counts;    /* of all of them */
    vyre_memory carry[CARRIES];
    uint64_t bytes[CARRIES];
    uint32_t group[3];
    uint64_t steps;
    vyre_diag *diag;
} run;

static const vyre_device_table *ref(void) {
    return vyre_backend_ref.device;
}

static void destroy(vyre_backend_device *device, vyre_backend_kernel *object) {
    groups_kernel *kernel = (groups_kernel *)object;
    const uint32_t count = vyre_module_get(kernel->module)->segment_count;
    for (uint32_t i = 0; kernel->segments && i < count; i++) {
        if (kernel->segments[i]) {
            ref()->destroy(device, kernel->segments[i]);
        }
    }
    free(kernel->segments);
    vyre_module_release(kernel->module);
    free(kernel);
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
    const vyre_module_view *m = vyre_module_get(module);
    kernel->module = module;
    kernel->segments = calloc(m->segment_count + 1, sizeof *kernel->segments);
    status = kernel->segments ? VYRE_OK : vyre_fail_memory(diag, "a kernel");
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        status = ref()->compile(device, m->segments[i], &kernel->segments[i], diag);
    }
    if (status != VYRE_OK) {
        destroy(device, (vyre_backend_kernel *)kernel);
        return status;
    }
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

/* Value of one of the params that splitting adds, or that of the source. */
static uint64_t value_of(const run *r, const char *name, uint32_t lanes, uint32_t tick) {
    const vyre_module_names *names = vyre_module_names_of(r->kernel->module);
    for (int axis = 0; axis < 3; axis++) {
        if (strcmp(name, names->group[axis]) == 0) {
            return r->group[axis];
        }
        if (strcmp(name, names->groups[axis]) == 0) {
            return r->source->grid[axis];
        }
    }
    const vyre_decl decl = vyre_program_find_decl(r->m->source, name);
    return strcmp(name, names->lanes) == 0  ? lanes
           : strcmp(name, names->tick) == 0 ? tick
           : decl == VYRE_NONE              ? 0
                                            : r->source->values[decl];
}

static vyre_status launch_segment(run *r, uint32_t segment, uint32_t lanes, uint32_t tick) {
    const vyre_module_names *names = vyre_module_names_of(r->kernel->module);
    const vyre_program_view *p = vyre_program_get(r->m->segments[segment]);
    vyre_memory memory[VYRE_LIMIT_DECLS] = {0};
    uint32_t counts[VYRE_LIMIT_DECLS] = {0};
    uint64_t values[VYRE_LIMIT_DECLS] = {0};
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        const char *name = p->decls[d].name;
        const vyre_decl decl = vyre_program_find_decl(r->m->source, name);
        const int carry = strcmp(name, names->lane) == 0   ? LANE
                          : strcmp(name, names->grid) == 0 ? GRID
                          : strcmp(name, names->next) == 0 ? NEXT
                                                           : CARRIES;
        if (carry != CARRIES) {
            memory[d] = r->carry[carry];
            counts[d] = (uint32_t)(r->bytes[carry] / 4);
        } else if (p->decls[d].role == VYRE_PARAM) {
            values[d] = value_of(r, name, lanes, tick);
        } else if (decl != VYRE_NONE && p->decls[d].role != VYRE_PRIVATE) {
            memory[d] = r->memory[decl];
            counts[d] = r->counts[decl];
        }
    }
    vyre_launch one = *r->source;
    one.memory = memory;
    one.counts = counts;
    one.values = values;
    one.grid[0] = one.grid[1] = one.grid[2] = 1;
    one.max_steps = one.max_steps ? one.max_steps - r->steps : 0;
    if (r->source->max_steps && one.max_steps == 0) {
        return vyre_fail(r->diag, VYRE_STEP_BUDGET, NULL, "the steps are used up");
    }
    vyre_launch_result result = {0};
    vyre_status status =
        ref()->launch(r->device, r->kernel->segments[segment], &one, &result, r->diag);
    r->steps += result.steps;
    return status;
}

/* The schedule, as vyre/split.h tells it. */
static vyre_status run_schedule(run *r) {
    const uint32_t *size = vyre_program_get(r->m->source)->workgroup;
    vyre_status status = VYRE_OK;
    for (uint32_t at = 0, tick = 1; at != VYRE_NONE && status == VYRE_OK; tick++) {
        const vyre_step *step = &r->m->steps[at];
        uint32_t word = 2 * tick + 1;
        if (step->segment != VYRE_NONE) {
            status = launch_segment(r, step->segment, size[0] * size[1] * size[2], tick);
        }
        if (status == VYRE_OK && step->kind == VYRE_STEP_BRANCH) {
            status = ref()->read(r->device, r->carry[NEXT], 0, &word, sizeof word, r->diag);
        }
        at = step->kind == VYRE_STEP_END || word / 2 != tick ? VYRE_NONE
             : word % 2                                      ? step->next
                                                             : step->otherwise;
        if (step->flips) {
            const vyre_memory grid = r->carry[GRID];
            r->carry[GRID] = r->carry[NEXT];
            r->carry[NEXT] = grid;
        }
    }
    return status;
}

static bool is_group_memory(const run *r, vyre_decl d) {
    return vyre_program_get(r->m->source)->decls[d].role == VYRE_WORKGROUP;
}

static void release(run *r) {
    for (vyre_decl d = 0; d < r->decls; d++) {
        if (is_group_memory(r, d) && r->memory[d]) {
            ref()->free(r->device, r->memory[d]);
            r->memory[d] = 0;
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
    const vyre_program_view *p = vyre_program_get(r->m->source);
    static const vyre_size_env nothing = {0};
    vyre_status status = VYRE_OK;
    for (vyre_decl d = 0; d < r->decls && status == VYRE_OK; d++) {
        if (is_group_memory(r, d)) {
            uint64_t count = 0;
            (void)vyre_size_evaluate(p, p->decls[d].size, &nothing, &count, NULL);
            r->counts[d] = (uint32_t)count;
            status = ref()->allocate(r->device, count * vyre_type_size((vyre_type)p->decls[d].type),
                                     &r->memory[d], r->diag);
        }
    }
    for (int i = 0; i < CARRIES && status == VYRE_OK; i++) {
        status = ref()->allocate(r->device, r->bytes[i], &r->carry[i], r->diag);
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
    const uint64_t shared = 4 * (uint64_t)m->grid_words;
    run r = {.device = device,
             .kernel = kernel,
             .m = m,
             .source = source,
             .decls = p->decl_count,
             .bytes = {[LANE] = 4 * lanes * m->lane_words, [GRID] = shared, [NEXT] = shared},
             .diag = diag};
    r.memory = calloc(r.decls + 1, sizeof *r.memory);
    r.counts = calloc(r.decls + 1, sizeof *r.counts);
    vyre_status status = r.memory && r.counts ? VYRE_OK : vyre_fail_memory(diag, "a launch");
    for (vyre_decl d = 0; d < r.decls && status == VYRE_OK; d++) {
        const bool is_buffer = vyre_role_is_buffer((vyre_role)p->decls[d].role);
        r.memory[d] = is_buffer ? source->memory[d] : 0;
        r.counts[d] = is_buffer ? source->counts[d] : 0;
    }
    const uint32_t *grid = source->grid;
    const uint64_t groups = (uint64_t)grid[0] * grid[1] * grid[2];
    for (uint64_t i = 0; i < groups && status == VYRE_OK; i++) {
        const uint64_t g = source->order == VYRE_ORDER_FORWARD ? i : groups - 1 - i;
        r.group[0] = (uint32_t)(g % grid[0]);
        r.group[1] = (uint32_t)(g / grid[0] % grid[1]);
        r.group[2] = (uint32_t)(g / grid[0] / grid[1]);
        status = run_group(&r);
    }
    out_result->steps = r.steps;
    free(r.memory);
    free(r.counts);
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
