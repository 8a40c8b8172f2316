/* Sources of inputs: one table of generators, else the file's extension decides. */
#include "io/spec.h"

#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "io/decimal.h"
#include "io/generate.h"
#include "io/matrix_market.h"
#include "io/npy.h"
#include "io/values.h"

static const struct {
    const char *name; /* with the colon */
    vyre_source source;
    int numbers;
    const char *form;
} generators[] = {
    {"zeros:", VYRE_SOURCE_ZEROS, 1, "write zeros:N"},
    {"iota:", VYRE_SOURCE_IOTA, 1, "write iota:N"},
    {"random:", VYRE_SOURCE_RANDOM, 2, "write random:N:SEED"},
    {"rmat:", VYRE_SOURCE_RMAT, 3, "write rmat:SCALE:EDGEFACTOR:SEED"},
    {"grid:", VYRE_SOURCE_GRID, 2, "write grid:W:H"},
};

static vyre_status parse_numbers(const char *at, int wanted, const char *form, vyre_spec *spec,
                                 vyre_diag *diag) {
    for (int i = 0; i < wanted; i++) {
        size_t length = strcspn(at, ":");
        if (!vyre_decimal_u64(at, length, &spec->number[i])) {
            return vyre_fail(diag, VYRE_INVALID_INPUT, form,
                             "\"%s\": \"%.*s\" is not a number from 0 to 2^64-1", spec->text,
                             (int)(length < 80 ? length : 80), at);
        }
        at += length;
        bool last = i + 1 == wanted;
        if (last != (*at == '\0')) {
            return vyre_fail(diag, VYRE_INVALID_INPUT, form, "\"%s\": too %s numbers", spec->text,
                             last ? "many" : "few");
        }
        at += !last;
    }
    return VYRE_OK;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcasecmp(text + length - tail, end) == 0;
}

vyre_status vyre_spec_parse(const char *text, vyre_spec *out, vyre_diag *diag) {
    vyre_spec spec = {.text = text};
    if (*text == '\0') {
        return vyre_fail(diag, VYRE_INVALID_INPUT, "give a file or a generator such as zeros:1000",
                         "the input has no source");
    }
    for (size_t i = 0; i < sizeof generators / sizeof generators[0]; i++) {
        size_t length = strlen(generators[i].name);
        if (strncmp(text, generators[i].name, length) == 0) {
            spec.source = generators[i].source;
            vyre_status status = parse_numbers(text + length, generators[i].numbers,
                                               generators[i].form, &spec, diag);
            if (status == VYRE_OK) {
                *out = spec;
            }
            return status;
        }
    }
    spec.source = vyre_values_are(text)                                ? VYRE_SOURCE_LIST
                  : ends_with(text, ".npy")                            ? VYRE_SOURCE_NPY
                  : ends_with(text, ".mtx")                            ? VYRE_SOURCE_MTX
                  : ends_with(text, ".csv") || ends_with(text, ".txt") ? VYRE_SOURCE_TEXT
                                                                       : VYRE_SOURCE_RAW;
    *out = spec;
    return VYRE_OK;
}

bool vyre_spec_is_graph(const vyre_spec *spec) {
    return spec->source == VYRE_SOURCE_MTX || spec->source == VYRE_SOURCE_RMAT ||
           spec->source == VYRE_SOURCE_GRID;
}

static vyre_status load_raw(vyre_bytes *bytes, const char *name, vyre_type type, vyre_array *out,
                            vyre_diag *diag) {
    uint32_t size = vyre_type_size(type);
    if (bytes->size % size != 0) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", (vyre_place){.file = name},
                            "check the element type, and that the file is complete",
                            "%zu bytes are not a whole number of %s elements (%u bytes each)",
                            bytes->size, vyre_type_name(type), size);
    }
    return vyre_array_adopt(type, bytes, 0, out, diag);
}

static vyre_status load_file(const vyre_spec *spec, vyre_type type, const vyre_allocator *a,
                             vyre_array *out, vyre_diag *diag) {
    vyre_bytes bytes;
    vyre_status status = vyre_file_read(spec->text, 0, a, &bytes, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const char *name = vyre_file_shown(spec->text);
    status = spec->source == VYRE_SOURCE_NPY ? vyre_npy_load(&bytes, name, type, out, diag)
             : spec->source == VYRE_SOURCE_TEXT
                 ? vyre_values_parse((const char *)bytes.data, bytes.size, name, type, a, out, diag)
                 : load_raw(&bytes, name, type, out, diag);
    vyre_bytes_finish(&bytes);
    return status;
}

vyre_status vyre_spec_load(const vyre_spec *spec, vyre_type type, const vyre_allocator *a,
                           vyre_array *out, vyre_diag *diag) {
    if (vyre_type_size(type) == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, NULL, "\"%s\": no element type", spec->text);
    }
    switch (spec->source) {
    case VYRE_SOURCE_LIST:
        return vyre_values_parse(spec->text, strlen(spec->text), NULL, type, a, out, diag);
    case VYRE_SOURCE_RAW:
    case VYRE_SOURCE_TEXT:
    case VYRE_SOURCE_NPY: return load_file(spec, type, a, out, diag);
    case VYRE_SOURCE_ZEROS: return vyre_generate_zeros(type, spec->number[0], a, out, diag);
    case VYRE_SOURCE_IOTA: return vyre_generate_iota(type, spec->number[0], a, out, diag);
    case VYRE_SOURCE_RANDOM:
        return vyre_generate_random(type, spec->number[0], spec->number[1], a, out, diag);
    case VYRE_SOURCE_MTX:
    case VYRE_SOURCE_RMAT:
    case VYRE_SOURCE_GRID: break;
    }
    return vyre_fail(diag, VYRE_INVALID_INPUT, "name two or three buffers: --in ROW,COL[,VAL]=...",
                     "\"%s\" is a graph, not one buffer", spec->text);
}

static vyre_status load_mtx(const vyre_spec *spec, vyre_type value, const vyre_allocator *a,
                            vyre_csr *out, vyre_diag *diag) {
    vyre_bytes bytes;
    vyre_status status = vyre_file_read(spec->text, 0, a, &bytes, diag);
    if (status != VYRE_OK) {
        return status;
    }
    status = vyre_matrix_market_parse((const char *)bytes.data, bytes.size, spec->text, value, a,
                                      out, diag);
    vyre_bytes_finish(&bytes);
    return status;
}

vyre_status vyre_spec_load_graph(const vyre_spec *spec, vyre_type value, const vyre_allocator *a,
                                 vyre_csr *out, vyre_diag *diag) {
    const uint64_t *n = spec->number;
    switch (spec->source) {
    case VYRE_SOURCE_MTX: return load_mtx(spec, value, a, out, diag);
    case VYRE_SOURCE_RMAT: return vyre_generate_rmat(n[0], n[1], n[2], value, a, out, diag);
    case VYRE_SOURCE_GRID: return vyre_generate_grid(n[0], n[1], value, a, out, diag);
    case VYRE_SOURCE_RAW:
    case VYRE_SOURCE_NPY:
    case VYRE_SOURCE_TEXT:
    case VYRE_SOURCE_LIST:
    case VYRE_SOURCE_ZEROS:
    case VYRE_SOURCE_IOTA:
    case VYRE_SOURCE_RANDOM: break;
    }
    return vyre_fail(diag, VYRE_INVALID_INPUT,
                     "give FILE.mtx, rmat:SCALE:EDGEFACTOR:SEED or grid:W:H, or one buffer",
                     "\"%s\" is one buffer, not a graph", spec->text);
}
