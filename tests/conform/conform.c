/* A program is parsed once and dispatched for every combination of device, path, order and
 * optimiser; outputs are compared whole, so that a wrong length is seen too. */
#include "conform/conform.h"
#include "diff/minimal.h"

typedef struct variant {
    const char *device;
    bool keeps_buffers;
    vyre_dispatch_options options;
} variant;

/* Paths: the two of a dispatch, and buffers that the caller keeps on the device. */
enum {
    DEVICES = 7,
    PATHS = 3,
    ORDERS = 4,
    INTERPRETED = DEVICES * PATHS * ORDERS * 2,
    /* Compiling takes long: each way to compile meets one path, and there is no order. */
    COMPILED = 4,
    VARIANTS = INTERPRETED + COMPILED
};

static variant compiled_of(int number, const vyre_dispatch_options *options) {
    static const char *const devices[COMPILED] = {
        "cpu", "cpu://gang=8&effort=0", "cpu://features=sse2&threads=3&effort=0", "opencl"};
    variant v = {.device = devices[number], .keeps_buffers = number == 2};
    if (options) {
        v.options = *options;
    }
    v.options.path = number == 0 ? VYRE_PATH_HOST : VYRE_PATH_RESIDENT;
    v.options.no_optimize = number == 1;
    return v;
}

static variant variant_of(int number, const vyre_dispatch_options *options) {
    if (number >= INTERPRETED) {
        return compiled_of(number - INTERPRETED, options);
    }
    static const char *const devices[DEVICES] = {
        "ref", "ref-split", "ref-split", "ref-split", "ref-split", "ref-schedule", "ref-minimal"};
    static const uint32_t ahead[DEVICES] = {0, 0, 1, 3, 16, 0, 0};
    variant v = {.device = devices[number % DEVICES]};
    if (options) {
        v.options = *options;
    }
    v.options.ahead = ahead[number % DEVICES];
    number /= DEVICES;
    v.keeps_buffers = number % PATHS == 2;
    v.options.path = v.keeps_buffers ? VYRE_PATH_RESIDENT : (vyre_path)(number % PATHS);
    number /= PATHS;
    v.options.order = (vyre_order)(number % ORDERS);
    v.options.order_seed = 11;
    v.options.no_optimize = number / ORDERS == 0;
    return v;
}

static bool is_there(const char *name) {
    vyre_device *device = NULL;
    const bool found = vyre_device_open(NULL, name, NULL, &device, NULL) == VYRE_OK;
    vyre_device_close(device);
    return found;
}

/* Without LLVM nothing is compiled. Looked for once: to open an OpenCL device takes long. */
static int variants(void) {
    static int count;
    if (count == 0) {
        run_add(minimal_add);
        count = !is_there("cpu") ? INTERPRETED : is_there("opencl") ? VARIANTS : VARIANTS - 1;
    }
    return count;
}

static void describe(const variant *v, const char *text) {
    printf("on %s, %u ahead, path %d%s, order %d, %s:\n%s\n", v->device, v->options.ahead,
           v->options.path, v->keeps_buffers ? " with buffers" : "", v->options.order,
           v->options.no_optimize ? "every barrier kept" : "optimised", text);
}

static bool same_words(const run_result *r, const uint32_t *words, uint32_t count) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->output_count; i++) {
        size_t size = r->outputs[i].size;
        if (size % 4 != 0 || size / 4 > count - at ||
            (size && memcmp(r->outputs[i].data, words + at, size) != 0)) {
            return false;
        }
        at += (uint32_t)(size / 4);
    }
    return at == count;
}

static void print_outputs(const run_result *r) {
    for (uint32_t i = 0; i < r->output_count; i++) {
        printf("output %u:", i);
        for (uint32_t w = 0; w < r->outputs[i].size / 4; w++) {
            printf(" %u", run_word(r, i, w));
        }
        printf("\n");
    }
}

/* What a dispatch on resident buffers needs, and what is left to be undone. */
typedef struct resident {
    vyre_device *device;
    vyre_pipeline *pipeline;
    vyre_buffer *buffers[RUN_MOST_BUFFERS];
    uint32_t count;
} resident;

static void finish_resident(resident *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        vyre_buffer_destroy(r->buffers[i]);
    }
    vyre_pipeline_release(r->pipeline);
    vyre_device_close(r->device);
}

/* What a dispatch must make zeros of. */
static void soil(vyre_buffer *buffer, uint64_t size) {
    unsigned char *ones = malloc(size + 1);
    REQUIRE(ones);
    memset(ones, 0xff, size);
    REQUIRE_OK(vyre_buffer_write(buffer, 0, ones, size, NULL), NULL);
    free(ones);
}

/* A buffer for each declaration of the caller's, with its bytes. */
static void upload(resident *r, const vyre_program *program, const vyre_input *inputs,
                   uint32_t input_count, const vyre_dispatch_options *options) {
    const vyre_program_view *view = vyre_program_get(program);
    uint32_t counts[4 * RUN_MOST_BUFFERS], next = 0;
    vyre_diag diag = {0};
    REQUIRE(view->decl_count <= sizeof counts / sizeof *counts);
    REQUIRE_OK(vyre_bind_sizes(program, inputs, input_count, options, counts, NULL, NULL, &diag),
               &diag);
    for (uint32_t d = 0; d < view->decl_count; d++) {
        vyre_role role = (vyre_role)view->decls[d].role;
        if (role > VYRE_OUT) {
            continue;
        }
        uint64_t size = (uint64_t)counts[d] * vyre_type_size((vyre_type)view->decls[d].type);
        REQUIRE(r->count < RUN_MOST_BUFFERS);
        vyre_buffer **buffer = &r->buffers[r->count];
        REQUIRE_OK(vyre_buffer_create(r->device, size, buffer, &diag), &diag);
        r->count++;
        if (role == VYRE_OUT) {
            soil(*buffer, size);
        } else {
            REQUIRE_OK(vyre_buffer_write(*buffer, 0, inputs[next].data, size, &diag), &diag);
            next++;
        }
    }
}

static void download(const resident *r, const vyre_program *program, run_result *result) {
    const vyre_program_view *view = vyre_program_get(program);
    uint32_t buffer = 0;
    for (uint32_t d = 0; d < view->decl_count; d++) {
        const vyre_decl_node *decl = &view->decls[d];
        if (decl->role > VYRE_OUT) {
            continue;
        }
        const vyre_buffer *from = r->buffers[buffer++];
        if (decl->role == VYRE_IN) {
            continue;
        }
        bool ranged = decl->range_end > 0;
        size_t size = ranged ? decl->range_end - decl->range_begin : vyre_buffer_size(from);
        vyre_output *out = &result->outputs[result->output_count++];
        *out = (vyre_output){.data = malloc(size + 1), .size = size, .capacity = size + 1};
        REQUIRE(out->data);
        REQUIRE_OK(vyre_buffer_read(from, ranged ? decl->range_begin : 0, out->data, size, NULL),
                   NULL);
    }
}

static run_result run_resident(const variant *v, vyre_program *program, const vyre_input *inputs,
                               uint32_t input_count) {
    run_result result = {0};
    resident r = {0};
    r.device = run_open(v->device, NULL);
    result.status = vyre_compile(r.device, program, &v->options, &r.pipeline, &result.diag);
    if (result.status == VYRE_OK) {
        upload(&r, program, inputs, input_count, &v->options);
        result.status = vyre_dispatch_resident(r.pipeline, r.buffers, r.count, &v->options,
                                               &result.report, &result.diag);
    }
    if (result.status == VYRE_OK) {
        CHECK_EQ(result.report.stats.bytes_in, 0);
        CHECK_EQ(result.report.stats.bytes_out, 0);
        download(&r, program, &result);
    }
    finish_resident(&r);
    return result;
}

void conform_expect(const char *text, const vyre_input *inputs, uint32_t input_count,
                    const vyre_dispatch_options *options, const uint32_t *words, uint32_t count) {
    vyre_program *p = run_parse(text);
    for (int i = 0; i < variants() && !test_failed(); i++) {
        variant v = variant_of(i, options);
        run_result r = v.keeps_buffers ? run_resident(&v, p, inputs, input_count)
                                       : run_program(v.device, p, inputs, input_count, &v.options);
        CHECK_STATUS(r.status, VYRE_OK, &r.diag);
        if (r.status == VYRE_OK && !same_words(&r, words, count)) {
            test_fail(__FILE__, __LINE__, "wrong outputs");
            print_outputs(&r);
        }
        if (test_failed()) {
            describe(&v, text);
        }
        run_finish(&r);
    }
    vyre_program_release(p);
}

void conform_refuse(const char *text, const vyre_input *inputs, uint32_t input_count,
                    const vyre_dispatch_options *options, vyre_status status, const char *message) {
    vyre_program *p = run_parse(text);
    for (int i = 0; i < variants() && !test_failed(); i++) {
        variant v = variant_of(i, options);
        if (v.keeps_buffers && (status == VYRE_INVALID_INPUT || status == VYRE_LIMIT)) {
            continue; /* sizes are the caller's, and nothing is returned */
        }
        run_result r = v.keeps_buffers ? run_resident(&v, p, inputs, input_count)
                                       : run_program(v.device, p, inputs, input_count, &v.options);
        CHECK_STATUS(r.status, status, &r.diag);
        CHECK_HAS(r.diag.message, message);
        for (uint32_t o = 0; o < r.output_count; o++) {
            CHECK(!r.outputs[o].data && r.outputs[o].size == 0);
        }
        if (test_failed()) {
            describe(&v, text);
        }
        run_finish(&r);
    }
    vyre_program_release(p);
}

run_result conform_run(const char *device, const char *text, const vyre_input *inputs,
                       uint32_t input_count, const vyre_dispatch_options *options) {
    vyre_program *p = run_parse(text);
    vyre_dispatch_options all = options ? *options : (vyre_dispatch_options){0};
    all.no_optimize = true;
    run_result r = run_program(device, p, inputs, input_count, &all);
    REQUIRE_OK(r.status, &r.diag);
    vyre_program_release(p);
    return r;
}

vyre_module *conform_split(const char *text) {
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    const vyre_split_options keep = {.keep_barriers = true};
    REQUIRE_OK(vyre_split(p, &keep, NULL, &m, &diag), &diag);
    vyre_program_release(p);
    return m;
}

uint32_t conform_count(const vyre_program *program, vyre_stmt_op op) {
    const vyre_program_view *view = vyre_program_get(program);
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->stmt_count; i++) {
        count += view->stmts[i].op == op;
    }
    return count;
}

typedef struct text {
    char *data;
    size_t size;
} text;

static bool append(void *user, const char *piece, size_t length) {
    text *t = user;
    char *grown = realloc(t->data, t->size + length + 1);
    if (!grown) {
        return false;
    }
    memcpy(grown + t->size, piece, length);
    t->data = grown;
    t->size += length;
    t->data[t->size] = '\0';
    return true;
}

char *conform_print(const vyre_program *program) {
    text t = {0};
    REQUIRE_OK(vyre_program_print(program, append, &t), NULL);
    return t.data;
}

char *conform_segments(const vyre_module *module) {
    const vyre_module_view *view = vyre_module_get(module);
    text t = {0};
    for (uint32_t i = 0; i < view->segment_count; i++) {
        REQUIRE_OK(vyre_program_print(view->segments[i], append, &t), NULL);
    }
    REQUIRE(t.data);
    return t.data;
}
