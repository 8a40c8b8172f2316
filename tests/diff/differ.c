/* Runs a program on the reference backend in all orders, then on the backend under test by both
 * paths, and compares all outputs byte by byte; NaNs of float elements count as equal. The split
 * is looked at on its own: each segment must be a valid program without grid barriers that
 * survives printing and parsing. */
#include "diff/differ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/groups.h"
#include "harness/test.h"
#include "ir/size.h"
#include "vyre/check.h"
#include "vyre/split.h"

const char *differ_feature_name(uint32_t feature) {
#define X(NAME, text) text,
    static const char *const names[] = {DIFFER_FEATURES(X)};
#undef X
    return names[feature];
}

const char *differ_carry_name(uint32_t kind) {
    static const char *const names[] = {"recomputed",    "stored per lane",  "stored per grid",
                                        "private array", "workgroup memory", "ended lanes"};
    return names[kind];
}

vyre_status differ_init(differ *d, const char *backend, vyre_diag *diag) {
    *d = (differ){.orders = strncmp(backend, "ref-", 4) == 0, .most_steps = 4000000};
    d->registry = groups_registry();
    vyre_status status = vyre_device_open(d->registry, "ref", NULL, &d->ref, diag);
    if (status == VYRE_OK) {
        status = vyre_device_open(d->registry, backend, NULL, &d->device, diag);
    }
    if (status != VYRE_OK && d->ref) {
        vyre_device_close(d->ref);
        d->ref = NULL;
    }
    roundtrip_init(&d->text);
    return status;
}

static void free_inputs(differ *d) {
    for (uint32_t i = 0; i < d->input_count; i++) {
        free((void *)(uintptr_t)d->inputs[i].data);
    }
    d->input_count = d->output_count = 0;
}

void differ_finish(differ *d) {
    free_inputs(d);
    for (uint32_t i = 0; i < DIFFER_BUFFERS; i++) {
        vyre_output_finish(&d->before[i], NULL);
        vyre_output_finish(&d->expected[i], NULL);
        vyre_output_finish(&d->got[i], NULL);
    }
    roundtrip_finish(&d->text);
    if (d->ref) {
        vyre_device_close(d->ref);
        vyre_device_close(d->device);
    }
    vyre_registry_destroy(d->registry);
}

static differ_result fail(differ *d, differ_result result, const char *what,
                          const vyre_diag *diag) {
    (void)snprintf(d->why, sizeof d->why, "%s%s%s %s", what, diag ? ": " : "",
                   diag ? diag->code : "", diag ? diag->message : "");
    return result;
}

/* Inputs: from the declarations alone, so that a program is a whole test case */

static void fill(unsigned char *bytes, size_t size, vyre_type type, uint64_t seed) {
    static const float floats[] = {0.0f, 1.0f, -1.5f, 3.25f, 100.0f, -0.125f, 7.0f, 1e6f};
    const uint32_t width = vyre_type_size(type);
    for (size_t at = 0; at + width <= size; at += width) {
        const uint64_t random = test_random(&seed);
        uint64_t value = random >> (random & 1 ? 8 : 61); /* any, or below 8 */
        const float single = floats[random >> 61];
        const double real = (double)single;
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        if (type == VYRE_F64) {
            memcpy(&value, &real, sizeof value);
        } else if (type == VYRE_F32 || type == VYRE_BF16) {
            value = type == VYRE_F32 ? word : word >> 16;
        } else if (type == VYRE_F16) {
            value = 0x3c00 + (random >> 58 << 6); /* 1 to 8 */
        }
        memcpy(bytes + at, &value, width);
    }
}

static bool room(vyre_output *output, size_t size) {
    vyre_output_finish(output, NULL);
    output->data = calloc(size ? size : 1, 1);
    output->size = output->capacity = size;
    return output->data != NULL;
}

static bool make_input(differ *d, size_t size, vyre_type type, uint64_t seed) {
    unsigned char *bytes = calloc(size ? size : 1, 1);
    if (bytes) {
        fill(bytes, size, type, seed);
        d->inputs[d->input_count++] = (vyre_input){bytes, size};
    }
    return bytes != NULL;
}

static bool make_buffers(differ *d, const vyre_program_view *p) {
    free_inputs(d);
    for (vyre_decl decl = 0; decl < p->decl_count; decl++) {
        const vyre_decl_node *node = &p->decls[decl];
        const vyre_size_env env = {0};
        uint64_t count;
        if (node->role > VYRE_OUT) {
            continue;
        }
        if (d->input_count == DIFFER_BUFFERS || d->output_count == DIFFER_BUFFERS ||
            node->size == VYRE_NONE ||
            vyre_size_evaluate(p, node->size, &env, &count, NULL) != VYRE_SIZE_OK ||
            count > 1 << 20) {
            return false;
        }
        const vyre_type type = (vyre_type)node->type;
        const size_t size = (size_t)count * vyre_type_size(type);
        if (node->role != VYRE_OUT && !make_input(d, size, type, decl + 1)) {
            return false;
        }
        if (node->role != VYRE_IN) {
            vyre_output *before = &d->before[d->output_count];
            d->types[d->output_count++] = type;
            if (!room(before, size)) {
                return false;
            }
            if (node->role == VYRE_INOUT) {
                memcpy(before->data, d->inputs[d->input_count - 1].data, size);
            }
        }
    }
    return true;
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

static const char *const order_names[] = {"forward", "reverse", "random", "interleaved"};

/* A way to run. Half of those of a backend keep all barriers; each path meets both. */
typedef struct way {
    vyre_order order;
    vyre_path path;
    bool keep_barriers, races;
} way;

enum { WAYS = 4 };
static const way ways[WAYS] = {{VYRE_ORDER_FORWARD, VYRE_PATH_HOST, false, false},
                               {VYRE_ORDER_REVERSE, VYRE_PATH_RESIDENT, false, false},
                               {VYRE_ORDER_RANDOM, VYRE_PATH_HOST, true, false},
                               {VYRE_ORDER_INTERLEAVED, VYRE_PATH_RESIDENT, true, false}};

/* Runs in one way and compares with what is expected, if that is there already. */
static differ_result run(differ *d, vyre_device *device, const vyre_program *program, const way *w,
                         vyre_output *outputs) {
    vyre_diag diag = {0};
    vyre_dispatch_report report = {0};
    const bool oracle = device == d->ref, ordered = oracle || d->orders;
    const vyre_dispatch_options options = {.path = w->path,
                                           .no_optimize = w->keep_barriers,
                                           .order = ordered ? w->order : VYRE_ORDER_FORWARD,
                                           .order_seed = ordered ? 12345 : 0,
                                           .find_races = w->races,
                                           .max_steps = ordered ? d->most_steps : 0};
    const vyre_status status = vyre_dispatch(device, program, d->inputs, d->input_count, outputs,
                                             d->output_count, &options, &report, &diag);
    if (status != VYRE_OK) {
        return fail(d, oracle ? DIFFER_FAILED : DIFFER_RUN,
                    oracle ? "the reference backend fails" : "the backend fails", &diag);
    }
    d->facts.chunked |= report.stats.carry_buffers > 1;
    memcpy(d->grid, report.grid, sizeof d->grid);
    if (report.race_count != report.harmless_race_count) {
        return fail(d, DIFFER_ORDER, "a race", NULL);
    }
    for (uint32_t i = 0; i < d->output_count && outputs != d->expected; i++) {
        const uint32_t element = compare(&d->expected[i], &outputs[i], d->types[i]);
        if (element != VYRE_NONE) {
            (void)snprintf(
                d->why, sizeof d->why, "%s, %s, %s order, %s: element %u of output %u (%s) differs",
                oracle ? "ref" : "backend", w->path == VYRE_PATH_HOST ? "host" : "resident",
                order_names[w->order], w->keep_barriers ? "all barriers" : "optimised", element, i,
                vyre_type_name(d->types[i]));
            return oracle ? DIFFER_ORDER : DIFFER_BYTES;
        }
    }
    return DIFFER_SAME;
}

/* Facts */

static void note_stmt(differ_facts *f, const vyre_program_view *p, vyre_stmt at,
                      const uint8_t *openers, uint32_t depth) {
    static const uint8_t simple[VYRE_STMT_COUNT] = {[VYRE_STMT_BREAK] = DIFFER_JUMP + 1,
                                                    [VYRE_STMT_CONTINUE] = DIFFER_JUMP + 1,
                                                    [VYRE_STMT_EXIT] = DIFFER_END + 1,
                                                    [VYRE_STMT_BARRIER] = DIFFER_BARRIER + 1,
                                                    [VYRE_STMT_ATOMIC] = DIFFER_ATOMIC + 1,
                                                    [VYRE_STMT_SUBGROUP] = DIFFER_SUBGROUP + 1,
                                                    [VYRE_STMT_ASYNC_WAIT] = DIFFER_COPY + 1,
                                                    [VYRE_STMT_BROADCAST] = DIFFER_COLLECTIVE + 1,
                                                    [VYRE_STMT_ALL_GATHER] = DIFFER_COLLECTIVE + 1,
                                                    [VYRE_STMT_GRID_SYNC] = DIFFER_GRID_SYNC + 1};
    const uint8_t op = p->stmts[at].op;
    if (simple[op] != 0) {
        f->features |= 1u << (simple[op] - 1);
    }
    for (vyre_expr i = p->stmts[at].first_expr; op == VYRE_STMT_WHILE && i < p->stmts[at].end_expr;
         i++) {
        f->features |= (uint32_t)(p->exprs[i].op == VYRE_EXPR_LOAD) << DIFFER_MEMORY;
    }
    if (op != VYRE_STMT_GRID_SYNC) {
        return;
    }
    uint32_t around = 0;
    for (uint32_t i = 0; i < depth; i++) {
        const bool counts = openers[i] == VYRE_STMT_FOR, waits = openers[i] == VYRE_STMT_WHILE;
        f->features |= (uint32_t)counts << DIFFER_LOOP | (uint32_t)waits << DIFFER_WHILE;
        around += counts || waits || openers[i] == VYRE_STMT_IF;
    }
    f->features |= (uint32_t)(around > 0) << DIFFER_NESTED | (uint32_t)(around > 1) << DIFFER_DEEP |
                   (uint32_t)(at < p->entry) << DIFFER_FUNCTION;
}

static void note_facts(differ_facts *f, const vyre_program_view *p) {
    uint8_t openers[VYRE_LIMIT_NESTING + 1];
    uint32_t depth = 0;
    *f = (differ_facts){.features = (uint32_t)(p->workgroup[1] > 1) << DIFFER_AXES};
    for (uint32_t i = 0; i < p->decl_count; i++) {
        const vyre_decl_node *node = &p->decls[i];
        f->features |= (uint32_t)(node->role == VYRE_WORKGROUP) << DIFFER_WORKGROUP |
                       (uint32_t)(node->role == VYRE_PRIVATE) << DIFFER_PRIVATE |
                       (uint32_t)(node->type > VYRE_F64) << DIFFER_SMALL;
    }
    for (vyre_stmt at = 0; at < p->stmt_count; at++) {
        const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)p->stmts[at].op);
        if (info->scope == VYRE_SCOPE_OPEN && depth < VYRE_LIMIT_NESTING) {
            openers[depth++] = p->stmts[at].op;
        } else if (info->scope == VYRE_SCOPE_END && depth > 0) {
            depth--;
        }
        note_stmt(f, p, at, openers, depth);
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
    if (!roundtrip_check(&d->text, segment)) {
        return fail(d, DIFFER_SPLIT, d->text.why, NULL);
    }
    return DIFFER_SAME;
}

static differ_result check_split(differ *d, const vyre_program *program, bool keep_barriers) {
    const vyre_split_options options = {.keep_barriers = keep_barriers};
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    if (vyre_split(program, &options, NULL, &module, &diag) != VYRE_OK) {
        return fail(d, DIFFER_SPLIT, "it can't be split", &diag);
    }
    const vyre_module_view *m = vyre_module_get(module);
    differ_result result = DIFFER_SAME;
    d->facts.segments = m->segment_count;
    for (uint32_t i = 0; i < m->carry_count; i++) {
        d->facts.carries |= 1u << m->carries[i].kind;
    }
    for (uint32_t i = 0; i < m->segment_count && result == DIFFER_SAME; i++) {
        result = check_segment(d, m->segments[i]);
    }
    vyre_module_release(module);
    return result;
}

/* The largest buffer that the program can't do without: one of its own, a word of each lane, or
 * what lanes share. */
static uint64_t least_buffer(const differ *d, const vyre_program *program) {
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
    for (int keep = 0; keep < 2; keep++) {
        const vyre_split_options how = {.keep_barriers = keep == 1};
        vyre_module *module = NULL;
        if (vyre_split(program, &how, NULL, &module, NULL) == VYRE_OK) {
            const vyre_module_view *m = vyre_module_get(module);
            const uint64_t bytes = 4 * (m->grid_words + m->group_value_words * groups);
            most = bytes > most ? bytes : most;
        }
        vyre_module_release(module);
    }
    return most;
}

static differ_result run_tight(differ *d, const vyre_program *program, const way *w) {
    char uri[64];
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    (void)snprintf(uri, sizeof uri, "ref-split://max_buffer=%llu",
                   (unsigned long long)least_buffer(d, program));
    if (vyre_device_open(NULL, uri, NULL, &device, &diag) != VYRE_OK) {
        return fail(d, DIFFER_RUN, "the device can't be opened", &diag);
    }
    const differ_result result = run(d, device, program, w, d->got);
    vyre_device_close(device);
    return result;
}

differ_result differ_check(differ *d, const vyre_program *program) {
    const vyre_program_view *p = vyre_program_get(program);
    vyre_diag items[8] = {0};
    vyre_diag_list diags = {.items = items, .capacity = 8};
    note_facts(&d->facts, p);
    if (vyre_check(program, NULL, &diags) != VYRE_OK) {
        return fail(d, DIFFER_INVALID, "the program is refused", items);
    }
    if (!make_buffers(d, p)) {
        return fail(d, DIFFER_FAILED, "a size is not a small constant", NULL);
    }
    const way first = {.races = d->races};
    differ_result result = run(d, d->ref, program, &first, d->expected);
    for (uint32_t i = 0; i < d->output_count && result == DIFFER_SAME; i++) {
        d->facts.changed |= compare(&d->before[i], &d->expected[i], d->types[i]) != VYRE_NONE;
    }
    for (uint32_t order = VYRE_ORDER_REVERSE;
         order <= VYRE_ORDER_INTERLEAVED && result == DIFFER_SAME; order++) {
        const way w = {.order = (vyre_order)order};
        result = run(d, d->ref, program, &w, d->got);
    }
    for (uint32_t i = 0; i < WAYS && result == DIFFER_SAME; i++) {
        result = run(d, d->device, program, &ways[i], d->got);
    }
    for (uint32_t i = 0; i < WAYS && d->tight && d->output_count && result == DIFFER_SAME; i++) {
        result = run_tight(d, program, &ways[i]);
    }
    for (uint32_t keep = 0; keep < 2 && result == DIFFER_SAME; keep++) {
        result = check_split(d, program, keep == 1);
    }
    return result;
}
