/* Runs a program on the reference backend in all orders, then on the backend under test by both
 * paths, and compares all outputs byte by byte; NaNs of float elements count as equal. The split
 * is looked at on its own: each segment must be a valid program without grid barriers that
 * survives printing and parsing. */
#include "diff/differ.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/emitted.h"
#include "diff/groups.h"
#include "diff/minimal.h"
#include "diff/queued.h"
#include "dispatch/pipeline.h"
#include "harness/test.h"
#include "ir/size.h"
#include "random/random_program.h"
#include "vyre/check.h"

/* Of this many programs one is looked at for races, and one for the text of its segments: both cost
 * as much as all else. */
enum { RACE_SAMPLE = 16, TEXT_SAMPLE = 8, TIGHT_SAMPLE = 2, STALE = 0xa5 };

const char *differ_way_name(differ_way way) {
#define X(NAME, text, path, keep, ahead) text,
    static const char *const names[] = {DIFFER_WAYS(X)};
#undef X
    return names[way];
}

const char *differ_order_name(vyre_order order) {
    static const char *const names[] = {"forward", "reverse", "random", "interleaved"};
    return names[order];
}

/* The device as drawn, opened now if it is not among the last. */
static vyre_status use_device(differ *d, vyre_device **out_device, vyre_diag *diag) {
    char uri[DIFFER_URI];
    uint32_t at = 0;
    differ_device_uri(d->backend, d->uri, &d->draws, 0, uri);
    while (at + 1 < DIFFER_OPEN && d->open[at].device && strcmp(d->open[at].uri, uri) != 0) {
        at++;
    }
    vyre_device *device = d->open[at].device;
    if (!device || strcmp(d->open[at].uri, uri) != 0) {
        const vyre_status status = vyre_device_open(d->registry, uri, NULL, &device, diag);
        if (status != VYRE_OK) {
            return status;
        }
        if (d->open[at].device) {
            vyre_device_close(d->open[at].device);
        }
    }
    memmove(&d->open[1], &d->open[0], at * sizeof d->open[0]);
    memcpy(d->open[0].uri, uri, sizeof uri);
    *out_device = d->open[0].device = device;
    return VYRE_OK;
}

/* What this machine has of what the backend's parameters may be. */
static void find_usable(differ *d) {
    for (uint32_t i = 0; i < DIFFER_CHOICES && d->backend->choices[i].name; i++) {
        for (uint32_t v = 0; v < DIFFER_VALUES && d->backend->choices[i].values[v]; v++) {
            vyre_device *device = NULL;
            d->draws = (differ_draws){{0}, VYRE_SPLIT_AUTO};
            d->draws.value[i] = (uint8_t)v;
            if (use_device(d, &device, NULL) == VYRE_OK) {
                d->usable[i] |= (uint8_t)(1u << v);
            }
        }
    }
    d->draws = (differ_draws){{0}, VYRE_SPLIT_AUTO};
}

vyre_status differ_init(differ *d, const char *backend, vyre_diag *diag) {
    vyre_device *device = NULL;
    *d = (differ){.backend = differ_backend_of(backend), .thorough = true, .most_steps = 4000000};
    (void)snprintf(d->uri, sizeof d->uri, "%s", backend);
    d->registry = groups_registry();
    vyre_status status = minimal_add(d->registry, diag);
    if (status == VYRE_OK) {
        status = queued_add(d->registry, diag);
    }
    if (status == VYRE_OK) {
        status = emitted_add(d->registry, diag);
    }
    if (status == VYRE_OK) {
        status = vyre_device_open(d->registry, "ref", NULL, &d->ref, diag);
    }
    if (status == VYRE_OK) {
        status = use_device(d, &device, diag);
    }
    if (status == VYRE_OK) {
        d->level = vyre_device_describe(device)->level;
        find_usable(d);
    }
    roundtrip_init(&d->text);
    return status;
}

void differ_finish(differ *d) {
    differ_free_inputs(d);
    for (uint32_t i = 0; i < DIFFER_BUFFERS; i++) {
        vyre_output_finish(&d->before[i], NULL);
        vyre_output_finish(&d->expected[i], NULL);
        vyre_output_finish(&d->got[i], NULL);
    }
    roundtrip_finish(&d->text);
    if (d->ref) {
        vyre_device_close(d->ref);
    }
    for (uint32_t i = 0; i < DIFFER_OPEN && d->open[i].device; i++) {
        vyre_device_close(d->open[i].device);
    }
    vyre_registry_destroy(d->registry);
}

void differ_draw(differ *d, uint64_t seed) {
    uint64_t state = seed;
    const uint64_t drawn = test_random(&state);
    d->draw = (uint32_t)(drawn & 0xff);
    d->races = (drawn >> 8) % RACE_SAMPLE == 0;
    d->thorough = (drawn >> 32) % TEXT_SAMPLE == 0;
    d->tight = (drawn >> 40) % TIGHT_SAMPLE == 0;
    d->draws = differ_draw_options(d->backend, d->usable, d->level, seed);
}

static differ_result fail(differ *d, differ_result result, const char *what,
                          const vyre_diag *diag) {
    (void)snprintf(d->why, sizeof d->why, "%s%s%s %s", what, diag ? ": " : "",
                   diag ? diag->code : "", diag ? diag->message : "");
    (void)snprintf(d->code, sizeof d->code, "%.7s", diag ? diag->code : "");
    return result;
}

/* Comparison */

static bool is_nan(vyre_type type, uint64_t bits) {
    switch ((uint32_t)type) {
    case VYRE_F64: return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
    case VYRE_F32: return (bits & INT32_MAX) > 0x7f800000;
    case VYRE_F16: return (bits & 0x7fff) > 0x7c00;
    case VYRE_BF16: return (bits & 0x7fff) > 0x7f80;
    default: return false;
    }
}

/* The first element that differs, or VYRE_NONE. */
static uint32_t compare(const vyre_output *a, const vyre_output *b, vyre_type type) {
    const uint32_t width = vyre_type_size(type);
    if (a->size != b->size) {
        return 0;
    }
    for (size_t at = 0; at < a->size; at += width) {
        uint64_t x = 0, y = 0;
        memcpy(&x, (const char *)a->data + at, width);
        memcpy(&y, (const char *)b->data + at, width);
        if (x != y && !(is_nan(type, x) && is_nan(type, y))) {
            return (uint32_t)(at / width);
        }
    }
    return VYRE_NONE;
}

/* Running */

typedef struct way {
    vyre_path path;
    bool keep_barriers;
    uint32_t ahead;
} way;

static const way ways[DIFFER_WAY_COUNT] = {
#define X(NAME, text, path, keep, ahead) {path, keep, ahead},
    DIFFER_WAYS(X)
#undef X
};

VYRE_PRINTF(4, 5)
static differ_result differs(differ *d, differ_way w, vyre_order order, const char *format, ...) {
    char what[VYRE_DIAG_TEXT];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(what, sizeof what, format, list);
    va_end(list);
    (void)snprintf(d->why, sizeof d->why, "%s, %s order: %s", differ_way_name(w),
                   differ_order_name(order), what);
    return w == DIFFER_NATIVE ? DIFFER_ORDER : DIFFER_BYTES;
}

/* As the reference has ended: the first run sets it. */
static differ_result check_ending(differ *d, differ_way w, vyre_order order,
                                  const vyre_dispatch_report *report, const vyre_diag *diag) {
    const differ_ending *e = &d->ending;
    if (e->status == VYRE_TRAP && strcmp(e->message, diag->message) != 0) {
        return differs(d, w, order, "\"%s\", should be \"%s\"", diag->message, e->message);
    }
    if (e->passes != report->passes || e->converged != report->converged) {
        return differs(d, w, order, "%u passes%s, should be %u%s", report->passes,
                       report->converged ? ", converged" : "", e->passes,
                       e->converged ? ", converged" : "");
    }
    return DIFFER_SAME;
}

static differ_result check_outputs(differ *d, differ_way w, vyre_order order) {
    for (uint32_t i = 0; i < d->output_count; i++) {
        const uint32_t element = compare(&d->expected[i], &d->got[i], d->types[i]);
        if (element != VYRE_NONE) {
            return differs(d, w, order, "element %u of output %u (%s) differs", element, i,
                           vyre_type_name(d->types[i]));
        }
    }
    return DIFFER_SAME;
}

/* Slots with bytes that no program leaves, to see that a failure leaves them. */
static void make_stale(const differ *d, vyre_output *slots) {
    for (uint32_t i = 0; i < d->output_count; i++) {
        slots[i].size = slots[i].capacity;
        if (slots[i].data) {
            memset(slots[i].data, STALE, slots[i].capacity);
        }
    }
}

static bool still_stale(const differ *d, const vyre_output *slots) {
    for (uint32_t i = 0; i < d->output_count; i++) {
        const unsigned char *bytes = slots[i].data;
        if (slots[i].size != slots[i].capacity || (bytes && bytes[0] != STALE) ||
            (bytes && memcmp(bytes, bytes + 1, slots[i].capacity - 1) != 0)) {
            return false;
        }
    }
    return true;
}

static uint32_t passes_of(const vyre_program_view *p) {
    const char *bar = strrchr(p->name, '_');
    return bar ? (uint32_t)strtoul(bar + 1, NULL, 10) : 0;
}

static vyre_dispatch_options options_for(const differ *d, const vyre_pipeline *pipeline,
                                         differ_way w, vyre_order order) {
    const bool oracle = w == DIFFER_NATIVE, ordered = oracle || d->backend->orders;
    const uint32_t passes = passes_of(vyre_program_get(pipeline->program));
    return (vyre_dispatch_options){.split = oracle ? VYRE_SPLIT_AUTO : d->draws.split,
                                   .path = ways[w].path,
                                   .no_optimize = ways[w].keep_barriers,
                                   .order = ordered ? order : VYRE_ORDER_FORWARD,
                                   .order_seed = ordered ? d->draw : 0,
                                   .has_iterations = passes != 0,
                                   .iterations = passes,
                                   .ahead = ways[w].ahead,
                                   .max_steps = ordered ? d->most_steps : 0};
}

/* Runs in one way. The first run by the reference says how it has to end. */
static differ_result run(differ *d, vyre_pipeline *pipeline, differ_way w, vyre_order order) {
    const bool oracle = w == DIFFER_NATIVE, first = oracle && d->runs[w] == 0;
    vyre_dispatch_options options = options_for(d, pipeline, w, order);
    options.find_races = first && d->races;
    vyre_output *outputs = first ? d->expected : d->got;
    vyre_dispatch_report report = {0};
    vyre_diag diag = {0};
    make_stale(d, outputs);
    const vyre_status status = vyre_pipeline_dispatch(pipeline, d->inputs, d->input_count, outputs,
                                                      d->output_count, &options, &report, &diag);
    d->runs[w] |= (uint8_t)(1u << options.order);
    if (first && (status == VYRE_OK || status == VYRE_TRAP)) {
        d->ending = (differ_ending){status, report.passes, report.converged, ""};
        memcpy(d->ending.message, diag.message, sizeof d->ending.message);
    } else if (status != d->ending.status || first) {
        return fail(d, oracle ? DIFFER_FAILED : DIFFER_RUN, differ_way_name(w), &diag);
    }
    if (first) {
        memcpy(d->grid, report.grid, sizeof d->grid);
    }
    d->facts.carries |= (uint32_t)(report.stats.carry_buffers > 1) << DIFFER_CARRY_CHUNKED;
    if (status != VYRE_OK && !still_stale(d, outputs)) {
        return differs(d, w, order, "a failed run has changed an output");
    }
    if (report.race_count != report.harmless_race_count) {
        return fail(d, DIFFER_ORDER, "a race", NULL);
    }
    const differ_result result = check_ending(d, w, order, &report, &diag);
    return result == DIFFER_SAME && status == VYRE_OK && !first ? check_outputs(d, w, order)
                                                                : result;
}

static void note_ending(differ *d, const vyre_program_view *p) {
    const bool ended = d->ending.status == VYRE_OK;
    differ_note(&d->facts, DIFFER_TRAPPED, !ended);
    differ_note(&d->facts, DIFFER_FIXPOINT, passes_of(p) != 0);
    differ_note(&d->facts, DIFFER_PASSES, d->ending.passes > 1);
    differ_note(&d->facts, DIFFER_CONVERGED, passes_of(p) != 0 && d->ending.converged);
    for (uint32_t i = 0; i < d->output_count && ended; i++) {
        d->facts.changed |= compare(&d->before[i], &d->expected[i], d->types[i]) != VYRE_NONE;
    }
}

/* The split */

static differ_result check_segment(differ *d, const vyre_program *segment) {
    vyre_diag items[8] = {0};
    vyre_diag_list diags = {.items = items, .capacity = 8};
    if (!vyre_program_has_no_grid_sync(segment)) {
        return fail(d, DIFFER_SPLIT, "a segment waits for the grid", NULL);
    }
    if (vyre_check(segment, NULL, &diags) != VYRE_OK) {
        uint32_t at = 0;
        while (at + 1 < diags.count && items[at].severity != VYRE_ERROR) {
            at++;
        }
        return fail(d, DIFFER_SPLIT, "a segment is refused", &items[at]);
    }
    if (d->thorough && !roundtrip_check(&d->text, segment)) {
        return fail(d, DIFFER_SPLIT, d->text.why, NULL);
    }
    return DIFFER_SAME;
}

static differ_result check_module(differ *d, const vyre_module *module) {
    const vyre_module_view *m = vyre_module_get(module);
    differ_result result = DIFFER_SAME;
    differ_note_module(&d->facts, m);
    vyre_diag item = {0};
    if (vyre_check(m->source, NULL, &(vyre_diag_list){.items = &item, .capacity = 1}) != VYRE_OK) {
        result = fail(d, DIFFER_SPLIT, "the program without needless barriers is refused", &item);
    }
    for (uint32_t i = 0; i < m->segment_count && result == DIFFER_SAME; i++) {
        result = check_segment(d, m->segments[i]);
    }
    return result;
}

/* The modules that the backend ran, or one of our own where it takes whole programs. */
static differ_result check_split(differ *d, const vyre_pipeline *pipeline, bool keep_barriers) {
    const vyre_split_options options = {.keep_barriers = keep_barriers};
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    if (pipeline->is_split && vyre_pipeline_is_compiled(pipeline)) {
        differ_result result = DIFFER_SAME;
        for (uint32_t i = 0; i < VYRE_VARIANTS && result == DIFFER_SAME; i++) {
            const vyre_variant *v = &pipeline->variants[i];
            result = v->is_compiled ? check_module(d, v->schedule.module) : DIFFER_SAME;
        }
        return result;
    }
    if (vyre_split(pipeline->program, &options, NULL, &module, &diag) != VYRE_OK) {
        return fail(d, DIFFER_SPLIT, "it can't be split", &diag);
    }
    const differ_result result = check_module(d, module);
    vyre_module_release(module);
    return result;
}

/* In which lanes of a segment record traps. */
static uint64_t trap_words(const differ *d, const vyre_module_view *m, uint32_t segment) {
    for (vyre_decl i = 0; i < vyre_program_get(m->segments[segment])->decl_count; i++) {
        if (m->decls[segment][i].kind == VYRE_DECL_TRAP) {
            return vyre_trap_words(m->segments[segment], i, d->grid);
        }
    }
    return 0;
}

/* The largest buffer that the program can't do without: one of its own, a word of each lane, or
 * what lanes share, or in which they record traps. */
static uint64_t least_buffer(const differ *d, const vyre_program *program, bool keep_barriers) {
    const vyre_program_view *p = vyre_program_get(program);
    const uint64_t groups = (uint64_t)d->grid[0] * d->grid[1] * d->grid[2];
    uint64_t most = 4 * groups * p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        const vyre_size_env env = {0};
        uint64_t count = 0;
        if (vyre_role_is_buffer((vyre_role)p->decls[i].role)) {
            (void)vyre_size_evaluate(p, p->decls[i].size, &env, &count, NULL);
        }
        const uint64_t bytes = count * vyre_type_size((vyre_type)p->decls[i].type);
        most = bytes > most ? bytes : most;
    }
    for (int how = 0; how < 6; how++) {
        const vyre_split_options options = {.keep_barriers = keep_barriers,
                                            .any_grid = how % 3 == 0,
                                            .turn_loops = how % 3 == 1,
                                            .ahead = how >= 3,
                                            .can = vyre_device_describe(d->open[0].device)->can};
        vyre_module *module = NULL;
        if (vyre_split(program, &options, NULL, &module, NULL) == VYRE_OK) {
            const vyre_module_view *m = vyre_module_get(module);
            const uint64_t bytes = 4 * (m->made_words + m->group_value_words * groups);
            most = bytes > most ? bytes : most;
            const uint64_t parts = UINT64_C(4) * m->part_words * groups;
            most = parts > most ? parts : most;
            const uint64_t scalars = UINT64_C(4) * m->scalar_words;
            most = scalars > most ? scalars : most;
            for (uint32_t i = 0; i < m->segment_count; i++) {
                const uint64_t words = trap_words(d, m, i);
                most = 4 * words > most ? 4 * words : most;
            }
        }
        vyre_module_release(module);
    }
    return most;
}

/* The device under test, or one like it with buffers as small as can be, which is the caller's. */
static vyre_status choose_device(differ *d, const vyre_program *program, bool keep_barriers,
                                 vyre_device **out_device, vyre_diag *diag) {
    char uri[DIFFER_URI];
    if (!d->tight || !d->backend->limits || d->grid[0] == 0) { /* no grid is known after a trap */
        return use_device(d, out_device, diag);
    }
    differ_device_uri(d->backend, d->uri, &d->draws, least_buffer(d, program, keep_barriers), uri);
    return vyre_device_open(d->registry, uri, NULL, out_device, diag);
}

static vyre_status make_pipeline(const differ *d, vyre_device *device, const vyre_program *program,
                                 differ_way host, vyre_pipeline **out_pipeline, vyre_diag *diag) {
    const vyre_dispatch_options options = {.split = d->draws.split,
                                           .no_optimize = ways[host].keep_barriers};
    const vyre_status status = vyre_pipeline_create(device, program, &options, out_pipeline, diag);
    return status == VYRE_OK ? vyre_pipeline_compile(*out_pipeline, &options, diag) : status;
}

/* One pipeline for the two ways that keep the same barriers. */
static differ_result check_backend(differ *d, const vyre_program *program, differ_way host) {
    vyre_pipeline *pipeline = NULL;
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    vyre_status status = choose_device(d, program, ways[host].keep_barriers, &device, &diag);
    if (status == VYRE_OK) {
        status = make_pipeline(d, device, program, host, &pipeline, &diag);
    }
    differ_result result =
        status == VYRE_OK ? DIFFER_SAME : fail(d, DIFFER_RUN, "it can't be compiled", &diag);
    for (uint32_t i = host; i < host + 2u && result == DIFFER_SAME; i++) {
        result = run(d, pipeline, (differ_way)i, (vyre_order)((d->draw + i) % DIFFER_ORDERS));
    }
    if (pipeline && result == DIFFER_SAME) {
        result = check_split(d, pipeline, ways[host].keep_barriers);
    }
    vyre_pipeline_release(pipeline);
    if (device && device != d->open[0].device) {
        vyre_device_close(device);
    }
    return result;
}

static differ_result check_native(differ *d, const vyre_program *program) {
    static const vyre_dispatch_options options = {.no_optimize = true};
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    vyre_status status = vyre_pipeline_create(d->ref, program, &options, &pipeline, &diag);
    if (status != VYRE_OK) {
        return fail(d, DIFFER_INVALID, "the program is refused", &diag);
    }
    differ_result result = DIFFER_SAME;
    if (vyre_pipeline_compile(pipeline, &options, &diag) != VYRE_OK) {
        result = fail(d, DIFFER_FAILED, "it can't be compiled", &diag);
    } else if (!differ_make_inputs(d, vyre_program_get(program))) {
        result = fail(d, DIFFER_FAILED, "a size is not a small constant", NULL);
    }
    for (uint32_t i = 0; i < DIFFER_ORDERS && result == DIFFER_SAME; i++) {
        result = run(d, pipeline, DIFFER_NATIVE, (vyre_order)i);
    }
    vyre_pipeline_release(pipeline);
    return result;
}

/* With or without barriers that can go, where a program is not run in both ways. */
static differ_way turn_of(const differ *d) {
    return d->draw >> 4 & 1 ? DIFFER_HOST : DIFFER_HOST_ALL;
}

/* Compiled for both ways, and let go. */
static void announce(differ *d, const vyre_program *program) {
    vyre_pipeline *pipeline = NULL;
    vyre_device *device = NULL;
    emitted_hold(true);
    if (differ_make_inputs(d, vyre_program_get(program)) &&
        use_device(d, &device, NULL) == VYRE_OK &&
        make_pipeline(d, device, program, turn_of(d), &pipeline, NULL) == VYRE_OK) {
        for (uint32_t i = 0; i < 2; i++) { /* fails; what it needs is compiled before */
            const vyre_dispatch_options options =
                options_for(d, pipeline, (differ_way)(turn_of(d) + i), VYRE_ORDER_FORWARD);
            emitted_hold(true);
            (void)vyre_pipeline_dispatch(pipeline, d->inputs, d->input_count, d->got,
                                         d->output_count, &options, NULL, NULL);
        }
    }
    vyre_pipeline_release(pipeline);
}

uint64_t differ_announce(differ *d, uint64_t seed, uint64_t end) {
    const uint64_t batch = differ_batch(d->backend), next = (seed / batch + 1) * batch;
    for (; seed < end && seed < next && batch > 1; seed++) {
        vyre_program *program = NULL;
        differ_draw(d, seed);
        if (random_order_free(seed, &program, NULL) == VYRE_OK) {
            announce(d, program);
            vyre_program_release(program);
        }
    }
    emitted_hold(false);
    return batch > 1 ? seed : UINT64_MAX;
}

differ_result differ_check(differ *d, const vyre_program *program) {
    const vyre_program_view *p = vyre_program_get(program);
    differ_note_program(&d->facts, p);
    memset(d->runs, 0, sizeof d->runs);
    differ_result result = check_native(d, program);
    if (result == DIFFER_SAME && !coverage_of(program, &d->cells)) {
        result = fail(d, DIFFER_FAILED, "out of memory", NULL);
    }
    if (result == DIFFER_SAME) {
        note_ending(d, p);
    }
    const bool both = !d->backend->slow && !d->takes_turns;
    if (result == DIFFER_SAME && (both || turn_of(d) == DIFFER_HOST)) {
        result = check_backend(d, program, DIFFER_HOST);
    }
    if (result == DIFFER_SAME && (both || turn_of(d) == DIFFER_HOST_ALL)) {
        result = check_backend(d, program, DIFFER_HOST_ALL);
    }
    return result;
}
