/* A module on a device: its segments compiled, its carried state allocated, and what each
 * declaration of a segment stands for. */
#include "schedule/schedule.h"

#include <string.h>

#include "base/diag.h"
#include "device/call.h"
#include "schedule/carry_size.h"

struct vyre_own_memory {
    vyre_memory memory;
    uint64_t bytes;
};

/* Arrays for what the declarations of a segment are bound to. */
static vyre_status new_binding(vyre_schedule *s, uint32_t number, vyre_diag *diag) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_program_view *p = vyre_program_get(vyre_module_get(s->module)->segments[number]);
    const uint32_t count = p->decl_count;
    vyre_segment_binding *b = &s->bindings[number];
    s->segments[number].decl_count = count;
    s->segments[number].tells_traps = p->stats.stmt_kinds >> VYRE_STMT_TRAP & 1;
    s->segments[number].trap = VYRE_NONE;
    for (vyre_decl d = 0; d < count; d++) {
        if (vyre_module_get(s->module)->decls[number][d].kind == VYRE_DECL_TRAP) {
            s->segments[number].trap = d;
        }
    }
    *b = (vyre_segment_binding){
        .memory = vyre_alloc_zeroed(a, count, sizeof *b->memory),
        .counts = vyre_alloc_zeroed(a, count, sizeof *b->counts),
        .values = vyre_alloc_zeroed(a, count, sizeof *b->values),
    };
    return b->memory && b->counts && b->values ? VYRE_OK : vyre_fail_memory(diag, "a segment");
}

void vyre_schedule_label(const vyre_schedule *s, uint32_t segment, vyre_diag *diag) {
    if (diag && segment != VYRE_NONE) {
        diag->segment = segment + 1;
        diag->segment_count = vyre_module_get(s->module)->segment_count;
    }
}

/* All segments in one call. */
static vyre_status compile_many(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(s->module);
    const vyre_allocator *a = &s->device->allocator;
    const vyre_call call = {
        .device = s->device, .trace = trace, .name = vyre_program_get(m->source)->name};
    vyre_backend_kernel **kernels = vyre_alloc_zeroed(a, m->segment_count, sizeof *kernels);
    if (!kernels) {
        return vyre_fail_memory(diag, "the kernels of a schedule");
    }
    const vyre_status status =
        vyre_call_compile_many(&call, m->segments, m->segment_count, kernels, diag);
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        s->segments[i].kernel = kernels[i];
        vyre_call_count_code(&call, kernels[i]);
    }
    if (status != VYRE_OK && diag && diag->segment) {
        vyre_schedule_label(s, diag->segment - 1, diag);
    }
    vyre_free(a, (void *)kernels, m->segment_count, sizeof *kernels);
    return status;
}

static vyre_status compile(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(s->module);
    vyre_status status = VYRE_OK;
    if (s->takes_module) {
        vyre_call call = {
            .device = s->device, .trace = trace, .name = vyre_program_get(m->source)->name};
        status = vyre_call_compile_module(&call, s->module, &s->whole, diag);
        if (status == VYRE_OK) {
            vyre_call_count_code(&call, s->whole);
        }
        return status;
    }
    if (s->device->table->compile_many && m->segment_count > 0) {
        return compile_many(s, trace, diag);
    }
    for (uint32_t i = 0; i < m->segment_count && status == VYRE_OK; i++) {
        vyre_call call = {
            .device = s->device, .trace = trace, .name = vyre_program_get(m->segments[i])->name};
        status = vyre_call_compile(&call, m->segments[i], &s->segments[i].kernel, diag);
        if (status != VYRE_OK) {
            vyre_schedule_label(s, i, diag);
        } else {
            vyre_call_count_code(&call, s->segments[i].kernel);
        }
    }
    return status;
}

/* A position, and one for each guess that is not yet known to be right. */
static size_t position_room(const vyre_schedule *s) {
    const size_t guesses = vyre_module_get(s->module)->checks_turn ? VYRE_SCHEDULE_GUESSES : 0;
    return vyre_position_words(s->module) + guesses * vyre_position_state(s->module);
}

static bool allocate_tables(vyre_schedule *s) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_module_view *m = vyre_module_get(s->module);
    s->segments = vyre_alloc_zeroed(a, m->segment_count, sizeof *s->segments);
    s->bindings = vyre_alloc_zeroed(a, m->segment_count, sizeof *s->bindings);
    s->visits = vyre_alloc_zeroed(a, m->step_count, sizeof *s->visits);
    s->words = vyre_alloc_zeroed(a, position_room(s), sizeof *s->words);
    s->went_away = vyre_alloc_zeroed(a, m->step_count, sizeof *s->went_away);
    s->own = vyre_alloc_zeroed(a, m->buffer_count, sizeof *s->own);
    s->held = vyre_alloc_zeroed(a, m->swapped_count, sizeof *s->held);
    s->moved = vyre_alloc_zeroed(a, m->swapped_count, sizeof *s->moved);
    return s->segments && s->bindings && s->visits && s->words && s->went_away && s->own &&
           s->held && s->moved;
}

/* The memory of the module's buffers. */
static void drop_own(vyre_schedule *s) {
    for (uint32_t i = 0; s->own && i < vyre_module_get(s->module)->buffer_count; i++) {
        vyre_device_free(s->device, s->own[i].memory);
        s->own[i].memory = 0;
    }
}

static void drop_places(vyre_schedule *s) {
    vyre_traps_finish(&s->traps, s->device);
    for (int i = 0; i < VYRE_PLACES; i++) {
        vyre_device_free(s->device, s->places[i]);
        s->places[i] = 0;
    }
}

/* The module, its kernels and tables, and the memory of its buffers. */
static void drop_code(vyre_schedule *s) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_module_view *m = vyre_module_get(s->module);
    for (uint32_t i = 0; s->segments && s->bindings && i < m->segment_count; i++) {
        struct vyre_compiled_segment *segment = &s->segments[i];
        vyre_device_destroy(s->device, segment->kernel);
        vyre_free(a, s->bindings[i].memory, segment->decl_count, sizeof *s->bindings->memory);
        vyre_free(a, s->bindings[i].counts, segment->decl_count, sizeof *s->bindings->counts);
        vyre_free(a, s->bindings[i].values, segment->decl_count, sizeof *s->bindings->values);
    }
    vyre_device_destroy(s->device, s->whole);
    drop_own(s);
    vyre_free(a, s->segments, m->segment_count, sizeof *s->segments);
    vyre_free(a, s->bindings, m->segment_count, sizeof *s->bindings);
    vyre_free(a, s->visits, m->step_count, sizeof *s->visits);
    vyre_free(a, s->words, position_room(s), sizeof *s->words);
    vyre_free(a, s->went_away, m->step_count, sizeof *s->went_away);
    vyre_free(a, s->own, m->buffer_count, sizeof *s->own);
    vyre_free(a, s->held, m->swapped_count, sizeof *s->held);
    vyre_free(a, s->moved, m->swapped_count, sizeof *s->moved);
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
        status = new_binding(s, i, diag);
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
                               const vyre_split_options *options, bool takes_module,
                               vyre_trace *trace, vyre_diag *diag) {
    *s = (vyre_schedule){
        .device = device, .program = program, .how = *options, .takes_module = takes_module};
    s->how.ahead = options->ahead && !takes_module;
    return make_code(s, trace, diag);
}

void vyre_schedule_finish(vyre_schedule *s) {
    drop_code(s);
    drop_places(s);
}

void vyre_schedule_rest(vyre_schedule *s) {
    drop_own(s);
    drop_places(s);
    s->is_used = false; /* memory is zero when it is new */
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
    vyre_schedule fresh = {
        .device = s->device, .program = s->program, .how = *how, .takes_module = s->takes_module};
    vyre_status status = make_code(&fresh, trace, diag);
    if (status == VYRE_OK) {
        drop_code(s);
        memcpy(fresh.places, s->places, sizeof fresh.places);
        memcpy(fresh.place_bytes, s->place_bytes, sizeof fresh.place_bytes);
        fresh.is_used = s->is_used;
        fresh.traps = s->traps;
        *s = fresh;
        vyre_count(&s->device->counters, VYRE_COUNT_compiles, 1);
    }
    return status;
}

/* Memory of so many bytes; what is there is kept if it has as many. */
static vyre_status resize(const vyre_call *call, uint64_t bytes, vyre_memory *memory,
                          uint64_t *size, vyre_diag *diag) {
    if (*memory && *size == bytes) {
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
    for (uint32_t i = 0; i < VYRE_PLACES && status == VYRE_OK; i++) {
        status = resize(&call, vyre_carry_place_bytes(&need, i), &s->places[i], &s->place_bytes[i],
                        diag);
    }
    for (uint32_t i = 0; i < need.module->segment_count && status == VYRE_OK; i++) {
        status = vyre_traps_prepare(&s->traps, &call, need.module->segments[i], s->segments[i].trap,
                                    grid, diag);
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_carry_fail_memory(&need, diag) : status;
}

vyre_status vyre_schedule_zero(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    bool dirty = s->is_used;
    vyre_call call = {.device = s->device, .trace = trace, .name = "carried values"};
    uint32_t buffers = vyre_module_get(s->module)->buffer_count;
    uint32_t zeroed = buffers;
    for (uint32_t i = 0; i < zeroed && dirty && status == VYRE_OK; i++) {
        status = vyre_call_zero(&call, s->own[i].memory, 0, s->own[i].bytes, diag);
    }
    for (int i = 0; i < VYRE_PLACES && dirty && status == VYRE_OK; i++) {
        status = s->places[i] ? vyre_call_zero(&call, s->places[i], 0, s->place_bytes[i], diag)
                              : VYRE_OK;
    }
    s->is_used = true;
    return status;
}

static uint32_t element_bytes(const vyre_program_view *p, vyre_decl d) {
    return vyre_type_size((vyre_type)p->decls[d].type);
}

static void bind(vyre_schedule *s, uint32_t number, const vyre_launch *source, uint64_t lanes) {
    const vyre_module_view *m = vyre_module_get(s->module);
    const vyre_program_view *p = vyre_program_get(m->segments[number]);
    const vyre_segment_decl *decls = m->decls[number];
    vyre_segment_binding *segment = &s->bindings[number];
    for (uint32_t d = 0; d < s->segments[number].decl_count; d++) {
        const uint32_t ref = decls[d].ref;
        switch ((vyre_decl_kind)decls[d].kind) {
        case VYRE_DECL_SOURCE:
            segment->memory[d] = source->memory[ref];
            segment->counts[d] = source->counts[ref];
            segment->values[d] = source->values[ref];
            break;
        case VYRE_DECL_OWN:
            segment->memory[d] = s->own[ref].memory;
            segment->counts[d] = (uint32_t)(s->own[ref].bytes / element_bytes(p, d));
            break;
        case VYRE_DECL_PLACE:
            segment->counts[d] = (uint32_t)(s->place_bytes[ref] / element_bytes(p, d));
            break;
        case VYRE_DECL_LANES: segment->values[d] = lanes; break;
        case VYRE_DECL_GROUP_COUNT: segment->values[d] = source->grid[ref]; break;
        case VYRE_DECL_TRAP: vyre_traps_bind(&s->traps, d, segment->memory, segment->counts); break;
        case VYRE_DECL_SCALAR: /* bound by each launch */
        case VYRE_DECL_TICK:
        case VYRE_DECL_LOCAL:
        case VYRE_DECL_EXPECT:
        case VYRE_DECL_GROUP_ID: /* of segments of one group */
        case VYRE_DECL_KINDS: break;
        }
    }
}

vyre_module_launch vyre_schedule_bind(vyre_schedule *s, const vyre_launch *source) {
    uint64_t lanes = vyre_schedule_lanes(s, source->grid);
    for (uint32_t i = 0; i < vyre_module_get(s->module)->segment_count; i++) {
        bind(s, i, source, lanes);
    }
    for (uint32_t i = 0; i < vyre_module_get(s->module)->swapped_count; i++) {
        s->held[i] = i; /* until the pass tells otherwise */
    }
    vyre_module_launch launch = {.module = s->module,
                                 .source = source,
                                 .segments = s->bindings,
                                 .visits = s->visits,
                                 .held = s->held};
    memcpy(launch.places, s->places, sizeof launch.places);
    return launch;
}
