/* Reading goes over the text twice, to count and to fill, so that memory is taken once. */
#include "io/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/half.h"
#include "io/decimal.h"
#include "io/digest.h"

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Digits behind 0x or 0b. */
static bool parse_digits(const char *text, size_t length, unsigned base, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned c = (unsigned char)text[i] | 32u;
        const unsigned digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : (unsigned)text[i] - '0';
        if (digit >= base || !vyre_mul_u64(value, base, &value) ||
            !vyre_add_u64(value, digit, &value)) {
            return false;
        }
    }
    *out = value;
    return length > 0;
}

static bool parse_integer(vyre_type type, const char *text, size_t length, uint64_t *out) {
    const unsigned bits = 8 * vyre_type_size(type);
    const bool is_signed = vyre_type_is_signed(type);
    const bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    const bool negative = sign && text[0] == '-';
    const char *digits = text + sign;
    const size_t count = length - sign;
    const bool coded = count > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'b');
    uint64_t size, most = (UINT64_MAX >> (64 - bits)) >> is_signed;
    if ((negative && !is_signed) ||
        !(coded ? parse_digits(digits + 2, count - 2, digits[1] == 'x' ? 16 : 2, &size)
                : vyre_decimal_u64(digits, count, &size)) ||
        size > most + negative) {
        return false;
    }
    *out = (negative ? 0 - size : size) & UINT64_MAX >> (64 - bits);
    return true;
}

static uint64_t bits_of(vyre_type type, float narrow, double wide) {
    uint64_t bits = 0;
    if (type == VYRE_F64) {
        memcpy(&bits, &wide, sizeof wide);
        return bits;
    }
    return type == VYRE_F32    ? vyre_f32_bits(narrow)
           : type == VYRE_BF16 ? vyre_bf16_from_f64(wide)
                               : vyre_f16_from_f64(wide);
}

static bool parse_float(vyre_type type, const char *text, size_t length, uint64_t *out) {
    const bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    float narrow = 0;
    double wide = 0;
    if (is_word(text, length, "nan")) {
        wide = narrow = NAN;
    } else if (is_word(text + sign, length - sign, "inf")) {
        wide = narrow = text[0] == '-' ? -INFINITY : INFINITY;
    } else if (!(type == VYRE_F32 ? vyre_decimal_f32(text, length, &narrow)
                                  : vyre_decimal_f64(text, length, &wide))) {
        return false;
    }
    *out = bits_of(type, narrow, wide);
    return true;
}

bool vyre_value_parse(vyre_type type, const char *text, size_t length, uint64_t *out_bits) {
    if (type == VYRE_BOOL) {
        *out_bits = is_word(text, length, "true") || is_word(text, length, "1");
        return *out_bits || is_word(text, length, "false") || is_word(text, length, "0");
    }
    return vyre_type_is_float(type) ? parse_float(type, text, length, out_bits)
                                    : parse_integer(type, text, length, out_bits);
}

bool vyre_values_are(const char *text) {
    uint64_t bits;
    for (;; text++) {
        const size_t length = strcspn(text, ",");
        if (!vyre_value_parse(VYRE_F64, text, length, &bits) &&
            !vyre_value_parse(VYRE_U64, text, length, &bits) &&
            !vyre_value_parse(VYRE_BOOL, text, length, &bits)) {
            return false;
        }
        text += length;
        if (*text == '\0') {
            return true;
        }
    }
}

/* Where in the text we are. */
typedef struct reader {
    const char *at, *end, *line;
    const char *name;
    uint32_t lines;
    bool any; /* there was a value */
} reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static vyre_status complain(const reader *r, const char *at, size_t length, vyre_type type,
                            vyre_diag *diag) {
    vyre_place place = {.file = r->name, .line = r->lines, .col = (uint32_t)(at - r->line) + 1};
    char fix[VYRE_DIAG_FIX];
    (void)snprintf(fix, sizeof fix, "give values of type %s, between commas or blanks",
                   vyre_type_name(type));
    if (length == 0) {
        return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place, fix,
                            "a value is missing beside the comma");
    }
    return vyre_fail_at(diag, VYRE_INVALID_INPUT, "", place, fix, "\"%.*s\" is no value of type %s",
                        (int)(length < 80 ? length : 80), at, vyre_type_name(type));
}

/* Goes to the next value; false: there is none. A comma stands between two values. */
static bool skip_to_value(reader *r, bool *out_missing) {
    bool comma = false;
    *out_missing = false;
    for (; r->at < r->end; r->at++) {
        const char c = *r->at;
        if (c == '\n') {
            r->lines++;
            r->line = r->at + 1;
        } else if (c == '#') {
            const char *line_end = memchr(r->at, '\n', (size_t)(r->end - r->at));
            r->at = (line_end ? line_end : r->end) - 1;
        } else if (c == ',') {
            if (comma || !r->any) {
                *out_missing = true;
                return false;
            }
            comma = true;
        } else if (!is_blank(c)) {
            return true;
        }
    }
    *out_missing = comma;
    return false;
}

/* All values, into `out` if it is not NULL. */
static vyre_status read_all(reader r, vyre_type type, uint64_t *out_count, char *out,
                            vyre_diag *diag) {
    const uint32_t size = vyre_type_size(type);
    uint64_t count = 0;
    bool missing;
    while (skip_to_value(&r, &missing)) {
        size_t length = 1;
        while (r.at + length < r.end && !is_blank(r.at[length]) && r.at[length] != ',' &&
               r.at[length] != '#') {
            length++;
        }
        uint64_t bits;
        if (!vyre_value_parse(type, r.at, length, &bits)) {
            return complain(&r, r.at, length, type, diag);
        }
        if (out) {
            memcpy(out + count * size, &bits, size); /* little-endian, as all buffers are */
        }
        r.any = true;
        r.at += length;
        count++;
    }
    *out_count = count;
    return missing ? complain(&r, r.at, 0, type, diag) : VYRE_OK;
}

vyre_status vyre_values_parse(const char *text, size_t length, const char *name, vyre_type type,
                              const vyre_allocator *a, vyre_array *out, vyre_diag *diag) {
    const reader start = {
        .at = text, .end = text + length, .line = text, .name = name, .lines = name ? 1 : 0};
    uint64_t count;
    vyre_status status = read_all(start, type, &count, NULL, diag);
    if (status == VYRE_OK) {
        status = vyre_array_create(type, count, a, out, diag);
    }
    return status == VYRE_OK ? read_all(start, type, &count, out->data, diag) : status;
}

vyre_status vyre_values_stage(vyre_stage *stage, const char *path, vyre_type type, const void *data,
                              uint64_t count, vyre_diag *diag) {
    char text[1 << 14];
    size_t used = 0;
    vyre_status status = vyre_stage_open(stage, path, diag);
    for (uint64_t i = 0; i < count && status == VYRE_OK; i++) {
        vyre_value_format(type, (const char *)data + i * vyre_type_size(type), text + used);
        used += strlen(text + used);
        text[used++] = '\n';
        if (used > sizeof text - VYRE_VALUE_TEXT - 1) {
            status = vyre_stage_write(stage, text, used, diag);
            used = 0;
        }
    }
    return status == VYRE_OK ? vyre_stage_write(stage, text, used, diag) : status;
}
