/* What a run returned: files, digests, and a line for people. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "io/digest.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/values.h"
#include "ir/size.h"
#include "run.h"

static const vyre_decl_node *output_node(const run *r, uint32_t slot) {
    return &r->view->decls[r->output_decls[slot]];
}

uint64_t run_output_count(const run *r, uint32_t slot) {
    return r->outputs[slot].size / vyre_type_size((vyre_type)output_node(r, slot)->type);
}

uint64_t run_output_digest(const run *r, uint32_t slot) {
    return vyre_digest((vyre_type)output_node(r, slot)->type, r->outputs[slot].data,
                       run_output_count(r, slot));
}

/* Files */

static bool is_output(vyre_role role) {
    return role == VYRE_INOUT || role == VYRE_OUT;
}

static cli_exit resolve_output(run *r, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || !equals[1]) {
        return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "write --out BUF=FILE.npy",
                        "--out \"%s\" names no file", text);
    }
    char name[VYRE_LIMIT_NAME + 1];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    for (uint32_t i = 0; i < r->output_count; i++) {
        if (strcmp(output_node(r, i)->name, name) != 0) {
            continue;
        }
        if (r->files[i]) {
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "give it once",
                            "output %s is given twice", name);
        }
        r->files[i] = equals + 1;
        if (strcmp(r->files[i], "-") == 0 && (r->o->json || isatty(STDOUT_FILENO))) {
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "write to a file or a pipe",
                            "--out %s=- writes raw bytes, which do not go with %s", name,
                            r->o->json ? "--json" : "a terminal");
        }
        return CLI_PENDING;
    }
    return run_unknown(r, "output", name, is_output);
}

/* A run may take long; that its result has no place to go is better told before. Opens what will be
 * written and drops it again. */
static cli_exit rehearse(run *r) {
    vyre_diag diag = {0};
    vyre_stage stage;
    vyre_status status = VYRE_OK;
    vyre_stage_init(&stage, NULL);
    for (uint32_t i = 0; i < r->output_count && status == VYRE_OK; i++) {
        status = r->files[i] ? vyre_stage_open(&stage, r->files[i], &diag) : VYRE_OK;
    }
    if (status == VYRE_OK && r->o->trace) {
        status = vyre_stage_open(&stage, r->o->trace, &diag);
    }
    vyre_stage_finish(&stage);
    return status == VYRE_OK ? CLI_PENDING : cli_report(r->cli, &diag);
}

cli_exit run_resolve_outputs(run *r) {
    cli_exit exit = CLI_PENDING;
    for (uint32_t i = 0; i < r->o->out.count && exit == CLI_PENDING; i++) {
        exit = resolve_output(r, r->o->out.items[i]);
    }
    return exit == CLI_PENDING ? rehearse(r) : exit;
}

static bool ends_with(const char *path, const char *end) {
    size_t length = strlen(path);
    return length > strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

static vyre_status stage_output(const run *r, vyre_stage *stage, uint32_t slot, vyre_diag *diag) {
    const vyre_output *output = &r->outputs[slot];
    const char *path = r->files[slot];
    vyre_type type = (vyre_type)output_node(r, slot)->type;
    if (ends_with(path, ".npy")) {
        return vyre_npy_stage(stage, path, type, output->data, run_output_count(r, slot), diag);
    }
    if (ends_with(path, ".csv") || ends_with(path, ".txt")) {
        return vyre_values_stage(stage, path, type, output->data, run_output_count(r, slot), diag);
    }
    vyre_status status = vyre_stage_open(stage, path, diag);
    return status == VYRE_OK ? vyre_stage_write(stage, output->data, output->size, diag) : status;
}

typedef struct trace_file {
    vyre_stage *stage;
    vyre_diag *diag;
    vyre_status status;
} trace_file;

static bool write_trace(void *user, const char *text, size_t length) {
    trace_file *file = user;
    file->status = vyre_stage_write(file->stage, text, length, file->diag);
    return file->status == VYRE_OK;
}

static vyre_status stage_trace(const run *r, vyre_stage *stage, vyre_diag *diag) {
    trace_file file = {stage, diag, vyre_stage_open(stage, r->o->trace, diag)};
    if (file.status == VYRE_OK) {
        (void)vyre_trace_write(r->options.trace, write_trace, &file);
    }
    return file.status;
}

cli_exit run_write_outputs(run *r) {
    vyre_diag diag = {0};
    vyre_stage stage;
    vyre_status status = VYRE_OK;
    vyre_stage_init(&stage, NULL);
    for (uint32_t i = 0; i < r->output_count && status == VYRE_OK; i++) {
        status = r->files[i] ? stage_output(r, &stage, i, &diag) : VYRE_OK;
    }
    if (status == VYRE_OK && r->o->trace) {
        status = stage_trace(r, &stage, &diag);
    }
    if (status == VYRE_OK && cli_cancel.requested) {
        status = vyre_fail(&diag, VYRE_CANCELLED, NULL, "interrupted: nothing was written");
    }
    if (status == VYRE_OK) {
        status = vyre_stage_commit(&stage, &diag);
    }
    vyre_stage_finish(&stage);
    return status == VYRE_OK ? CLI_PENDING : cli_report(r->cli, &diag);
}

/* Summary */

enum { SHOWN = 8, SHOWN_WIDTH = 60 }; /* values and columns of them */

/* A number that orders elements of a type as their values, and whether the element is a NaN. */
static uint64_t order_key(vyre_type type, const void *element, bool *out_nan) {
    uint32_t size = vyre_type_size(type);
    uint64_t bits = 0, sign = UINT64_C(1) << (8 * size - 1);
    memcpy(&bits, element, size);
    *out_nan = false;
    if (vyre_type_is_float(type)) {
        uint64_t infinity = type == VYRE_F64    ? UINT64_C(0x7ff) << 52
                            : type == VYRE_F32  ? UINT64_C(0xff) << 23
                            : type == VYRE_BF16 ? UINT64_C(0xff) << 7
                                                : UINT64_C(0x1f) << 10;
        *out_nan = (bits & (sign - 1)) > infinity;
        return bits & sign ? ~bits & (2 * sign - 1) : bits | sign;
    }
    return vyre_type_is_signed(type) ? bits ^ sign : bits;
}

typedef struct extremes {
    const char *min, *max;
    uint64_t min_key, max_key, nan;
} extremes;

static extremes find_extremes(vyre_type type, const char *data, uint64_t count) {
    extremes e = {0};
    uint32_t size = vyre_type_size(type);
    for (uint64_t i = 0; i < count; i++) {
        const char *element = data + i * size;
        bool nan;
        uint64_t key = order_key(type, element, &nan);
        e.nan += nan;
        if (!nan && (!e.min || key < e.min_key)) {
            e.min = element;
            e.min_key = key;
        }
        if (!nan && (!e.max || key > e.max_key)) {
            e.max = element;
            e.max_key = key;
        }
    }
    return e;
}

static void put_value(vyre_text *text, const char *before, vyre_type type, const char *element) {
    char value[VYRE_VALUE_TEXT];
    vyre_value_format(type, element, value);
    vyre_text_printf(text, "%s%s", before, value);
}

/* The first values, as many as fit. */
static void put_first(vyre_text *text, vyre_type type, const char *data, uint64_t count) {
    size_t begin = text->length;
    uint64_t k = 0;
    for (; k < count && k < SHOWN && text->length - begin < SHOWN_WIDTH; k++) {
        put_value(text, k ? " " : " = ", type, data + k * vyre_type_size(type));
    }
    vyre_text_puts(text, k < count ? " ..." : "");
}

static bool know_len(void *user, vyre_decl decl, uint64_t *out_count) {
    const run *r = *(const run **)user;
    for (uint32_t i = 0; i < r->output_count; i++) {
        if (r->output_decls[i] == decl && r->view->decls[decl].range_end == 0) {
            *out_count = run_output_count(r, i);
            return true;
        }
    }
    for (uint32_t i = 0; i < r->input_count; i++) {
        if (r->input_decls[i] == decl && r->arrays[i].type != VYRE_VOID) {
            *out_count = r->arrays[i].count;
            return true;
        }
    }
    return false;
}

static bool know_param(void *user, vyre_decl decl, uint64_t *out_bits) {
    const run *r = *(const run **)user;
    const vyre_decl_node *d = &r->view->decls[decl];
    for (uint32_t i = 0; i < r->options.setting_count; i++) {
        if (strcmp(r->options.settings[i].name, d->name) == 0) {
            *out_bits = r->options.settings[i].bits;
            return true;
        }
    }
    *out_bits = d->value != VYRE_NONE ? r->view->exprs[d->value].u.bits : 0;
    return d->value != VYRE_NONE;
}

/* "[4][8]"; "[32]" of one dimension, of a part of one, and where lengths depend on memory that the
 * command does not see. */
static void put_shape(const run *r, uint32_t slot, vyre_text *text) {
    const vyre_decl decl = r->output_decls[slot];
    const vyre_decl_node *d = output_node(r, slot);
    const vyre_size_env env = {.len = know_len, .param = know_param, .user = &r};
    uint64_t of[3] = {0, 1, 1}, count = run_output_count(r, slot);
    bool is_known = d->rank > 1 && d->range_end == 0;
    for (uint32_t i = 1; i < d->rank && is_known; i++) {
        is_known = vyre_size_evaluate(r->view, vyre_decl_dimension(r->view, decl, i), &env, &of[i],
                                      NULL) == VYRE_SIZE_OK &&
                   of[i] > 0;
    }
    of[0] = is_known ? count / of[1] / of[2] : count;
    for (uint32_t i = 0; i < (is_known ? d->rank : 1); i++) {
        vyre_text_printf(text, "[%" PRIu64 "]", of[i]);
    }
}

void run_summarise(const run *r, vyre_text *text) {
    for (uint32_t i = 0; i < r->output_count; i++) {
        vyre_type type = (vyre_type)output_node(r, i)->type;
        const char *data = r->outputs[i].data;
        uint64_t count = run_output_count(r, i);
        vyre_text_printf(text, "%s : %s", output_node(r, i)->name, vyre_type_name(type));
        put_shape(r, i, text);
        put_first(text, type, data, count);
        extremes e = find_extremes(type, data, count);
        vyre_text_puts(text, "  (");
        if (e.min && count > 1) {
            put_value(text, "min ", type, e.min);
            put_value(text, ", max ", type, e.max);
            vyre_text_puts(text, ", ");
        }
        if (e.nan) {
            vyre_text_printf(text, "%" PRIu64 " NaN, ", e.nan);
        }
        vyre_text_printf(text, "xxh3 %016" PRIx64 ")\n", run_output_digest(r, i));
    }
}
