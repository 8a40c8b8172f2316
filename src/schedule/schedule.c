/* A module on a device: its segments compiled, its carried state allocated, and what each
 * declaration of a segment stands for. */
#include "schedule/schedule.h"

#include <string.h>

#include "base/diag.h"
#include "base/mutant.h"
#include "device/call.h"
#include "schedule/carry_size.h"
#include "split/module.h"

/* What a declaration of a segment stands for: a declaration of the source, or one of these; from
 * FROM_OWN on, the buffers of what lanes and groups own. */
enum {
    FROM_GRID = VYRE_LIMIT_DECLS,
    FROM_NEXT,
    FROM_TURN,
    FROM_THEN,
    FROM_LANES,
    FROM_TICK,
    FROM_EXPECT,
    FROM_OWN
};

struct vyre_own_memory {
    vyre_memory memory;
    uint64_t bytes;
};

/* Passes keep the source's declarations in place and add theirs behind. */
static uint32_t origin_of(const vyre_module *module, uint32_t source_decls, const char *name) {
    const vyre_module_names *names = vyre_module_names_of(module);
    const vyre_module_view *m = vyre_module_get(module);
    const char *const added[] = {names->grid,  names->next, names->turn,  names->then,
                                 names->lanes, names->tick, names->expect};
    vyre_decl decl = vyre_program_find_decl(m->source, name);
    if (decl != VYRE_NONE) {
        return decl < source_decls ? decl : VYRE_NONE; /* what passes added has no own memory */
    }
    for (uint32_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        if (strcmp(name, added[i]) == 0) {
            return FROM_GRID + i;
        }
    }
    for (uint32_t i = 0; i < m->buffer_count; i++) {
        if (strcmp(name, m->buffers[i].name) == 0) {
            return FROM_OWN + i;
        }
    }
    return VYRE_NONE;
}

/* The part that changes from launch to launch, if the declaration is one. */
static vyre_decl *part_of(vyre_segment_binding *b, uint32_t origin) {
    switch (origin) {
    case FROM_GRID: return &b->grid;
    case FROM_NEXT: return &b->next;
    case FROM_TURN: return &b->turn;
    case FROM_THEN: return &b->then;
    case FROM_TICK: return &b->tick;
    case FROM_EXPECT: return &b->expect;
    default: return NULL;
    }
}

static vyre_status bind_segment(vyre_schedule *s, uint32_t number, uint32_t source_decls,
                                vyre_diag *diag) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_program_view *view = vyre_program_get(vyre_module_get(s->module)->segments[number]);
    struct vyre_compiled_segment *segment = &s->segments[number];
    vyre_segment_binding *b = &s->bindings[number];
    segment->decl_count = view->decl_count;
    segment->origin = vyre_alloc(a, view->decl_count, sizeof *segment->origin);
    *b = (vyre_segment_binding){
        .memory = vyre_alloc_zeroed(a, view->decl_count, sizeof *b->memory),
        .counts = vyre_alloc_zeroed(a, view->decl_count, sizeof *b->counts),
        .values = vyre_alloc_zeroed(a, view->decl_count, sizeof *b->values),
        .grid = VYRE_NONE,
        .next = VYRE_NONE,
        .turn = VYRE_NONE,
        .then = VYRE_NONE,
        .tick = VYRE_NONE,
        .expect = VYRE_NONE,
    };
    if (!segment->origin || !b->memory || !b->counts || !b->values) {
        return vyre_fail_memory(diag, "a segment");
    }
    for (uint32_t d = 0; d < view->decl_count; d++) {
        segment->origin[d] = origin_of(s->module, source_decls, view->decls[d].name);
        vyre_decl *part = part_of(b, segment->origin[d]);
        if (part) {
            *part = d;
        }
    }
    return VYRE_OK;
}

void vyre_schedule_label(const vyre_schedule *s, uint32_t segment, vyre_diag *diag) {
    if (diag && segment != VYRE_NONE) {
        diag->segment = segment + 1;
        diag->segment_count = vyre_module_get(s->module)->segment_count;
    }
}

static bool takes_module(const vyre_device *device) {
    return device->info.level == VYRE_LEVEL_SCHEDULE && device->table->compile_module;
}

static vyre_status compile(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(s->module);
    vyre_status status = VYRE_OK;
    if (takes_module(s->device)) {
        vyre_call call = {
            .device = s->device, .trace = trace, .name = vyre_program_get(m->source)->name};
        return vyre_call_compile_module(&call, s->module, &s->whole, diag);
    }
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        vyre_call call = {
            .device = s->device, .trace = trace, .name = vyre_program_get(m->segments[i])->name};
        status = vyre_call_compile(&call, m->segments[i], &s->segments[i].kernel, diag);
        if (status != VYRE_OK) {
            vyre_schedule_label(s, i, diag);
        }
    }
    return status;
}

static bool allocate_tables(vyre_schedule *s) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_module_view *m = vyre_module_get(s->module);
    s->segments = vyre_alloc_zeroed(a, m->segment_count, sizeof *s->segments);
    s->bindings = vyre_alloc_zeroed(a, m->segment_count, sizeof *s->bindings);
    s->went_away = vyre_alloc_zeroed(a, m->step_count, sizeof *s->went_away);
    s->visits = vyre_alloc_zeroed(a, m->step_count, sizeof *s->visits);
    s->own = vyre_alloc_zeroed(a, m->buffer_count, sizeof *s->own);
    return s->segments && s->bindings && s->went_away && s->visits && s->own;
}

static void destroy(vyre_device *device, vyre_backend_kernel *kernel) {
    if (kernel) {
        device->table->destroy(device->object, kernel);
    }
}

/* The module, its kernels and tables, and the memory of its buffers. */
static void drop_code(vyre_schedule *s) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_module_view *m = vyre_module_get(s->module);
    for (uint32_t i = 0; s->segments && s->bindings && i < m->segment_count; i++) {
        struct vyre_compiled_segment *segment = &s->segments[i];
        destroy(s->device, segment->kernel);
        vyre_free(a, segment->origin, segment->decl_count, sizeof *segment->origin);
        vyre_free(a, s->bindings[i].memory, segment->decl_count, sizeof *s->bindings->memory);
        vyre_free(a, s->bindings[i].counts, segment->decl_count, sizeof *s->bindings->counts);
        vyre_free(a, s->bindings[i].values, segment->decl_count, sizeof *s->bindings->values);
    }
    destroy(s->device, s->whole);
    for (uint32_t i = 0; s->own && i < m->buffer_count; i++) {
        vyre_device_free(s->device, s->own[i].memory);
    }
    vyre_free(a, s->segments, m->segment_count, sizeof *s->segments);
    vyre_free(a, s->bindings, m->segment_count, sizeof *s->bindings);
    vyre_free(a, s->went_away, m->step_count, sizeof *s->went_away);
    vyre_free(a, s->visits, m->step_count, sizeof *s->visits);
    vyre_free(a, s->own, m->buffer_count, sizeof *s->own);
    vyre_module_release(s->module);
    s->module = NULL;
}

/* Splits and compiles in the way that s->how says; all but device, program and how is zero. */
static vyre_status make_code(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    vyre_status status = vyre_split(s->program, &s->how, &s->device->allocator, &s->module, diag);
    if (status != VYRE_OK) {
        return status;
    }
    s->segment_count = vyre_module_get(s->module)->segment_count;
    s->sync_points = vyre_module_get(s->module)->sync_points;
    if (!allocate_tables(s)) {
        status = vyre_fail_memory(diag, "the segments of a program");
    }
    for (uint32_t i = 0; i < s->segment_count && status == VYRE_OK; i++) {
        status = bind_segment(s, i, vyre_program_get(s->program)->decl_count, diag);
    }
    if (status == VYRE_OK) {
        status = compile(s, trace, diag);
    }
    if (status != VYRE_OK) {
        drop_code(s);
    }
    return status;
}

vyre_status vyre_schedule_init(vyre_schedule *s, vyre_device *device, const vyre_program *program,
                               const vyre_split_options *options, vyre_trace *trace,
                               vyre_diag *diag) {
    *s = (vyre_schedule){.device = device, .program = program, .how = *options};
    return make_code(s, trace, diag);
}

void vyre_schedule_finish(vyre_schedule *s) {
    drop_code(s);
    for (int i = 0; i < VYRE_SCHEDULE_CARRIES; i++) {
        vyre_device_free(s->device, s->carry[i]);
    }
}

uint64_t vyre_schedule_groups(const uint32_t grid[3]) {
    return (uint64_t)grid[0] * grid[1] * grid[2];
}

uint64_t vyre_schedule_lanes(const vyre_schedule *s, const uint32_t grid[3]) {
    const uint32_t *group = vyre_program_get(vyre_module_get(s->module)->source)->workgroup;
    return vyre_schedule_groups(grid) * group[0] * group[1] * group[2];
}

/* Other buffers for the same state: the program is split anew. */
static vyre_status spread(vyre_schedule *s, const vyre_split_options *how, vyre_trace *trace,
                          vyre_diag *diag) {
    vyre_schedule fresh = {.device = s->device, .program = s->program, .how = *how};
    vyre_status status = make_code(&fresh, trace, diag);
    if (status == VYRE_OK) {
        drop_code(s);
        memcpy(fresh.carry, s->carry, sizeof fresh.carry);
        memcpy(fresh.carry_bytes, s->carry_bytes, sizeof fresh.carry_bytes);
        fresh.is_used = s->is_used;
        *s = fresh;
        vyre_count(&s->device->counters, VYRE_COUNT_compiles, 1);
    }
    return status;
}

/* Memory of so many bytes; what is there is kept if it has as many. */
static vyre_status resize(const vyre_call *call, uint64_t bytes, vyre_memory *memory,
                          uint64_t *size, vyre_diag *diag) {
    if (*memory && VYRE_MUTANT(carry_size_kept, *size == bytes, true)) {
        return VYRE_OK;
    }
    vyre_device_free(call->device, *memory);
    *memory = 0;
    *size = bytes;
    return vyre_call_new_memory(call, bytes, memory, diag);
}

vyre_status vyre_schedule_prepare(vyre_schedule *s, const uint32_t grid[3], vyre_trace *trace,
                                  vyre_diag *diag) {
    vyre_carry_need need = {.module = vyre_module_get(s->module),
                            .info = &s->device->info,
                            .lanes = vyre_schedule_lanes(s, grid),
                            .groups = vyre_schedule_groups(grid)};
    vyre_split_options how = s->how;
    bool fits;
    vyre_status status = vyre_carry_check(&need, &how, &fits, diag);
    if (status == VYRE_OK && !fits) {
        status = spread(s, &how, trace, diag);
        need.module = vyre_module_get(s->module);
    }
    if (status != VYRE_OK) {
        return status;
    }
    vyre_call call = {
        .device = s->device, .trace = trace, .name = "values that are alive across grid barriers"};
    for (uint32_t i = 0; i < need.module->buffer_count && status == VYRE_OK; i++) {
        uint64_t bytes = vyre_carry_own_bytes(&need, &need.module->buffers[i]);
        status = resize(&call, bytes, &s->own[i].memory, &s->own[i].bytes, diag);
    }
    for (int i = 0; i < VYRE_SCHEDULE_CARRIES && status == VYRE_OK; i++) {
        bool decides = i == VYRE_SCHEDULE_TURN || i == VYRE_SCHEDULE_THEN;
        uint64_t bytes =
            decides ? 4 * (uint64_t)need.module->control_words : vyre_carry_shared_bytes(&need);
        status = resize(&call, bytes, &s->carry[i], &s->carry_bytes[i], diag);
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_carry_fail_memory(&need, diag) : status;
}

vyre_status vyre_schedule_zero(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    bool dirty = VYRE_MUTANT(carry_not_zeroed, s->is_used, false);
    vyre_call call = {.device = s->device, .trace = trace, .name = "carried values"};
    uint32_t buffers = vyre_module_get(s->module)->buffer_count;
    uint32_t zeroed = VYRE_MUTANT(carry_first_zeroed, buffers, buffers > 0);
    for (uint32_t i = 0; i < zeroed && dirty && status == VYRE_OK; i++) {
        status = vyre_call_zero(&call, s->own[i].memory, 0, s->own[i].bytes, diag);
    }
    for (int i = 0; i < VYRE_SCHEDULE_CARRIES && dirty && status == VYRE_OK; i++) {
        status =
            s->carry[i] ? vyre_call_zero(&call, s->carry[i], 0, s->carry_bytes[i], diag) : VYRE_OK;
    }
    s->is_used = true;
    return status;
}

static void bind_carry(const vyre_schedule *s, vyre_segment_binding *segment, uint32_t decl,
                       uint32_t which) {
    segment->memory[decl] = s->carry[which];
    segment->counts[decl] = (uint32_t)(s->carry_bytes[which] / 4);
}

static void bind(vyre_schedule *s, uint32_t number, const vyre_launch *source, uint64_t lanes) {
    vyre_segment_binding *segment = &s->bindings[number];
    for (uint32_t d = 0; d < s->segments[number].decl_count; d++) {
        uint32_t origin = s->segments[number].origin[d];
        switch (origin) {
        case FROM_GRID:
        case FROM_NEXT: bind_carry(s, segment, d, VYRE_SCHEDULE_GRID); break; /* of one size */
        case FROM_TURN:
        case FROM_THEN: bind_carry(s, segment, d, VYRE_SCHEDULE_TURN); break;
        case FROM_LANES: segment->values[d] = lanes; break;
        case FROM_TICK:
        case FROM_EXPECT:
        case VYRE_NONE: break; /* set by each launch; a helper in workgroup or private memory */
        default:
            if (origin >= FROM_OWN) {
                segment->memory[d] = s->own[origin - FROM_OWN].memory;
                segment->counts[d] = (uint32_t)(s->own[origin - FROM_OWN].bytes / 4);
                break;
            }
            segment->memory[d] = source->memory[origin];
            segment->counts[d] = source->counts[origin];
            segment->values[d] = source->values[origin];
        }
    }
}

vyre_module_launch vyre_schedule_bind(vyre_schedule *s, const vyre_launch *source) {
    uint64_t lanes = vyre_schedule_lanes(s, source->grid);
    for (uint32_t i = 0; i < vyre_module_get(s->module)->segment_count; i++) {
        bind(s, i, source, lanes);
    }
    return (vyre_module_launch){
        .module = s->module,
        .source = source,
        .segments = s->bindings,
        .shared = {s->carry[VYRE_SCHEDULE_GRID], s->carry[VYRE_SCHEDULE_NEXT]},
        .control = {s->carry[VYRE_SCHEDULE_TURN], s->carry[VYRE_SCHEDULE_THEN]},
        .visits = s->visits};
}
