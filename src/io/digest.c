/* Digests and comparison.
 *
 * Floats are treated as bit patterns described by a small table, so f16, bf16, f32 and f64 share
 * the code. ULP distances come from mapping patterns to integers in the order of the values. */
#define XXH_INLINE_ALL
#include "io/digest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "base/diag.h"
#include "base/half.h"
#include "io/npy.h"

enum { CHUNK = 4096 };

typedef struct float_form {
    uint64_t infinity;
    uint64_t nan; /* the canonical one */
    uint64_t sign;
} float_form;

static const float_form forms[VYRE_TYPE_COUNT] = {
    [VYRE_F16] = {0x7c00, 0x7e00, 0x8000},
    [VYRE_BF16] = {0x7f80, 0x7fc0, 0x8000},
    [VYRE_F32] = {0x7f800000, 0x7fc00000, 0x80000000},
    [VYRE_F64] = {UINT64_C(0x7ff) << 52, UINT64_C(0xfff) << 51, UINT64_C(1) << 63},
};

static bool is_nan(const float_form *form, uint64_t bits) {
    return (bits & ~form->sign) > form->infinity;
}

static uint64_t load_bits(const void *from, size_t size) {
    uint64_t bits = 0;
    memcpy(&bits, from, size); /* little-endian, like all stored data */
    return bits;
}

uint64_t vyre_digest(vyre_type type, const void *data, uint64_t count) {
    size_t size = vyre_type_size(type);
    if (!vyre_type_is_float(type)) {
        return XXH3_64bits(data, (size_t)count * size);
    }
    const float_form *form = &forms[type];
    const unsigned char *from = data;
    XXH3_state_t state;
    (void)XXH3_64bits_reset(&state);
    unsigned char chunk[CHUNK];
    for (uint64_t left = count * size; left > 0;) {
        size_t some = left < CHUNK ? (size_t)left : CHUNK;
        memcpy(chunk, from, some);
        for (size_t i = 0; i < some; i += size) {
            if (is_nan(form, load_bits(chunk + i, size))) {
                memcpy(chunk + i, &form->nan, size);
            }
        }
        (void)XXH3_64bits_update(&state, chunk, some);
        from += some;
        left -= some;
    }
    return XXH3_64bits_digest(&state);
}

/* Few digits if they read back the same, else as many as are always enough. */
static void format_float(double x, bool narrow, char out[VYRE_VALUE_TEXT]) {
    if (isnan(x)) {
        memcpy(out, "nan", 4);
        return;
    }
    vyre_shortest(x, narrow, narrow ? 6 : 15, out);
}

void vyre_value_format(vyre_type type, const void *element, char out[VYRE_VALUE_TEXT]) {
    size_t size = vyre_type_size(type);
    uint64_t bits = load_bits(element, size);
    if (type == VYRE_F64) {
        double x;
        memcpy(&x, element, sizeof x);
        format_float(x, false, out);
    } else if (vyre_type_is_float(type)) {
        float x = type == VYRE_F16    ? vyre_f16_to_f32((uint16_t)bits)
                  : type == VYRE_BF16 ? vyre_bf16_to_f32((uint16_t)bits)
                                      : vyre_f32_from_bits((uint32_t)bits);
        format_float((double)x, true, out);
    } else if (type == VYRE_BOOL) {
        snprintf(out, VYRE_VALUE_TEXT, "%s", bits ? "true" : "false");
    } else if (vyre_type_is_signed(type)) {
        unsigned unused = 64 - 8 * (unsigned)size;
        snprintf(out, VYRE_VALUE_TEXT, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    } else {
        snprintf(out, VYRE_VALUE_TEXT, "%llu", (unsigned long long)bits);
    }
}

/* Steps from zero, with the sign of the value. */
static uint64_t ulp_distance(const float_form *form, uint64_t x, uint64_t y) {
    uint64_t from_zero_x = x & ~form->sign, from_zero_y = y & ~form->sign;
    if ((x ^ y) & form->sign) {
        return from_zero_x + from_zero_y;
    }
    return from_zero_x > from_zero_y ? from_zero_x - from_zero_y : from_zero_y - from_zero_x;
}

static void note_difference(vyre_type type, uint64_t i, uint64_t x, uint64_t y,
                            vyre_comparison *out) {
    if (vyre_type_is_float(type)) {
        const float_form *form = &forms[type];
        bool nan_x = is_nan(form, x), nan_y = is_nan(form, y);
        if (nan_x && nan_y) {
            return;
        }
        if (nan_x || nan_y) {
            out->nan++;
        } else {
            uint64_t distance = ulp_distance(form, x, y);
            out->max_ulp = distance > out->max_ulp ? distance : out->max_ulp;
        }
    }
    if (out->differing++ == 0) {
        out->difference = VYRE_DIFFERENT_VALUES;
        out->first = i;
        vyre_value_format(type, &x, out->value[0]);
        vyre_value_format(type, &y, out->value[1]);
    }
}

/* `size` bytes per element: those of the type, or of its form in a file. */
static void compare(vyre_type type, size_t size, const unsigned char *x, const unsigned char *y,
                    uint64_t count, vyre_comparison *out) {
    *out = (vyre_comparison){.type = {type, type}, .count = {count, count}};
    for (uint64_t i = 0; i < count; i++, x += size, y += size) {
        uint64_t bits_x = load_bits(x, size), bits_y = load_bits(y, size);
        if (bits_x != bits_y) {
            note_difference(type, i, bits_x, bits_y, out);
        }
    }
}

void vyre_compare(vyre_type type, const void *a, const void *b, uint64_t count,
                  vyre_comparison *out) {
    compare(type, vyre_type_size(type), a, b, count, out);
}

static bool is_npy(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcasecmp(path + length - 4, ".npy") == 0;
}

/* Raw bytes are an array of u8 without a head. */
static vyre_status load(const char *path, const vyre_allocator *a, vyre_bytes *bytes,
                        vyre_npy_head *head, vyre_diag *diag) {
    vyre_status status = vyre_file_read(path, 0, a, bytes, diag);
    if (status != VYRE_OK || !is_npy(path)) {
        *head = (vyre_npy_head){.type = VYRE_U8, .count = bytes->size, .size = 1};
        return status;
    }
    status = vyre_npy_parse(bytes->data, bytes->size, path, head, diag);
    if (status != VYRE_OK) {
        vyre_bytes_finish(bytes);
    }
    return status;
}

vyre_status vyre_compare_files(const char *path_a, const char *path_b, const vyre_allocator *a,
                               vyre_comparison *out, vyre_diag *diag) {
    if (is_npy(path_a) != is_npy(path_b)) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", (vyre_place){.file = path_b},
                            "write both in the same format",
                            "a .npy file can't be compared with raw bytes");
    }
    vyre_bytes x = {0}, y = {0};
    vyre_npy_head head_x, head_y;
    vyre_status status = load(path_a, a, &x, &head_x, diag);
    if (status != VYRE_OK) {
        return status;
    }
    status = load(path_b, a, &y, &head_y, diag);
    if (status != VYRE_OK) {
        vyre_bytes_finish(&x);
        return status;
    }
    if (head_x.type == head_y.type && head_x.count == head_y.count) {
        compare(head_x.type, head_x.size, x.data + head_x.offset, y.data + head_y.offset,
                head_x.count, out);
    } else {
        *out = (vyre_comparison){.difference = head_x.type != head_y.type ? VYRE_DIFFERENT_TYPES
                                                                          : VYRE_DIFFERENT_COUNTS,
                                 .type = {head_x.type, head_y.type},
                                 .count = {head_x.count, head_y.count}};
    }
    vyre_bytes_finish(&x);
    vyre_bytes_finish(&y);
    return VYRE_OK;
}
