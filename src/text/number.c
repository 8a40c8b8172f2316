/* Numbers of the text form.
 *
 * A literal keeps its text until its type is known, because `1e-5` rounds differently as f32 and
 * f64 and `0xffffffff` means -1 where an i32 is asked for. Floats go through strtof/strtod, which
 * round correctly; the point is moved into the exponent first, so that the host's locale can't
 * change what a program means. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/lexer.h"

/* Digits beyond this are refused: every f64 has a decimal form that is shorter, and conversion
 * stays in a fixed buffer. */
enum { DIGITS_MAX = 1100 };

typedef struct parts {
    uint32_t base;
    uint32_t digits, digits_end; /* mantissa, with underscores and at most one point */
    uint32_t exponent;           /* offset of the exponent's sign or digits, 0 when absent */
    uint32_t suffix;             /* offset of the suffix, == length when absent */
    bool point;
} parts;

static bool is_digit(char c, uint32_t base) {
    if (base == 16) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }
    return c >= '0' && c < (char)('0' + base);
}

static uint32_t digit_value(char c) {
    return (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

static parts take_apart(const char *text, uint32_t length) {
    parts n = {.base = 10};
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
        n.base = text[1] == 'x' ? 16 : 2;
        n.digits = 2;
    }
    uint32_t at = n.digits;
    while (at < length && (is_digit(text[at], n.base) || text[at] == '_' ||
                           (text[at] == '.' && n.base == 10 && !n.point))) {
        n.point = n.point || text[at] == '.';
        at++;
    }
    n.digits_end = at;
    if (n.base == 10 && at < length && (text[at] == 'e' || text[at] == 'E')) {
        n.exponent = ++at;
        if (at < length && (text[at] == '+' || text[at] == '-')) {
            at++;
        }
        while (at < length && (is_digit(text[at], 10) || text[at] == '_')) {
            at++;
        }
    }
    n.suffix = at;
    return n;
}

static const struct suffix {
    const char *text;
    uint8_t type;
} suffixes[] = {{"i", VYRE_I32},  {"u", VYRE_U32}, {"l", VYRE_I64},
                {"ul", VYRE_U64}, {"f", VYRE_F32}, {"d", VYRE_F64}};

static vyre_type suffix_type(const char *text, uint32_t length) {
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strlen(suffixes[i].text) == length && memcmp(suffixes[i].text, text, length) == 0) {
            return (vyre_type)suffixes[i].type;
        }
    }
    return VYRE_VOID;
}

/* Each underscore stands between two digits. */
static bool underscores_fine(const char *text, uint32_t begin, uint32_t end, uint32_t base) {
    for (uint32_t i = begin; i < end; i++) {
        if (text[i] == '_' && (i == begin || i + 1 == end || !is_digit(text[i - 1], base) ||
                               !is_digit(text[i + 1], base))) {
            return false;
        }
    }
    return true;
}

static bool has_digit(const char *text, uint32_t begin, uint32_t end, uint32_t base) {
    for (uint32_t i = begin; i < end; i++) {
        if (is_digit(text[i], base)) {
            return true;
        }
    }
    return false;
}

const char *vyre_literal_check(const char *text, uint32_t length, bool *out_float) {
    parts n = take_apart(text, length);
    vyre_type suffix = suffix_type(text + n.suffix, length - n.suffix);
    *out_float = n.point || n.exponent || suffix == VYRE_F32 || suffix == VYRE_F64;
    if (!has_digit(text, n.digits, n.digits_end, n.base)) {
        return "has no digits";
    }
    if (n.exponent && !has_digit(text, n.exponent, n.suffix, 10)) {
        return "has an exponent without digits";
    }
    uint32_t end = n.exponent ? n.suffix : n.digits_end;
    if (!underscores_fine(text, n.digits, n.digits_end, n.base) ||
        (n.exponent &&
         !underscores_fine(text, n.exponent + !is_digit(text[n.exponent], 10), end, 10))) {
        return "has an underscore that is not between digits";
    }
    if (n.suffix != length && suffix == VYRE_VOID) {
        return "has an unknown suffix; known are i, u, l, ul, f and d";
    }
    if ((n.point || n.exponent) && suffix != VYRE_VOID && !vyre_type_is_float(suffix)) {
        return "is a float with the suffix of an integer";
    }
    if (n.base == 2 && vyre_type_is_float(suffix)) {
        return "is binary with the suffix of a float";
    }
    if (length > DIGITS_MAX) {
        return "has too many digits";
    }
    return NULL;
}

vyre_type vyre_literal_suffix(const vyre_source *source, uint32_t token) {
    const vyre_token *t = &source->tokens.data[token];
    const char *text = source->text + t->begin;
    parts n = take_apart(text, t->end - t->begin);
    return suffix_type(text + n.suffix, t->end - t->begin - n.suffix);
}

/* The magnitude, or false when it needs more than 64 bits. */
static bool magnitude(const char *text, const parts *n, uint64_t *out) {
    uint64_t value = 0;
    for (uint32_t i = n->digits; i < n->digits_end; i++) {
        if (text[i] == '_') {
            continue;
        }
        if (__builtin_mul_overflow(value, (uint64_t)n->base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_value(text[i]), &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

/* The number as digits and an exponent, without a point: 12.5e3 becomes 125e2. */
static void without_point(const char *text, const parts *n, char *out) {
    int64_t scale = 0;
    bool behind = false;
    for (uint32_t i = n->digits; i < n->digits_end; i++) {
        if (text[i] == '.') {
            behind = true;
        } else if (text[i] != '_') {
            *out++ = text[i];
            scale -= behind;
        }
    }
    if (n->exponent) {
        int64_t exponent = 0;
        for (uint32_t i = n->exponent; i < n->suffix; i++) {
            if (is_digit(text[i], 10) && exponent < 100000) {
                exponent = exponent * 10 + (text[i] - '0');
            }
        }
        scale += text[n->exponent] == '-' ? -exponent : exponent;
    }
    *out++ = 'e';
    *out++ = scale < 0 ? '-' : '+';
    uint64_t rest = (uint64_t)(scale < 0 ? -scale : scale);
    char reversed[24];
    uint32_t count = 0;
    do {
        reversed[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (count) {
        *out++ = reversed[--count];
    }
    *out = '\0';
}

static vyre_literal_fit to_float(const char *text, const parts *n, vyre_type type, bool negative,
                                 uint64_t *out_bits) {
    char plain[DIGITS_MAX + 32];
    uint64_t whole = 0;
    if (n->base == 10) {
        without_point(text, n, plain);
    } else if (!magnitude(text, n, &whole)) {
        return VYRE_LITERAL_TOO_LARGE;
    }
    if (type == VYRE_F64) {
        double value = n->base == 10 ? strtod(plain, NULL) : (double)whole;
        value = negative ? -value : value;
        memcpy(out_bits, &value, sizeof value);
        return isfinite(value) ? VYRE_LITERAL_FITS : VYRE_LITERAL_TOO_LARGE;
    }
    float value = n->base == 10 ? strtof(plain, NULL) : (float)whole;
    value = negative ? -value : value;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out_bits = bits;
    return isfinite(value) ? VYRE_LITERAL_FITS : VYRE_LITERAL_TOO_LARGE;
}

vyre_literal_fit vyre_literal_convert(const vyre_source *source, uint32_t token, vyre_type type,
                                      bool negative, uint64_t *out_bits) {
    const vyre_token *t = &source->tokens.data[token];
    const char *text = source->text + t->begin;
    parts n = take_apart(text, t->end - t->begin);
    *out_bits = 0;
    if (vyre_type_is_float(type)) {
        return to_float(text, &n, type, negative, out_bits);
    }
    if (t->kind == VYRE_TOKEN_FLOAT) {
        return VYRE_LITERAL_NOT_INTEGER;
    }
    uint64_t value;
    if (!magnitude(text, &n, &value)) {
        return VYRE_LITERAL_TOO_LARGE;
    }
    uint32_t width = type == VYRE_U64 || type == VYRE_I64 ? 64 : 32;
    uint64_t all = UINT64_MAX >> (64 - width);
    uint64_t most = all;
    if (vyre_type_is_signed(type) && n.base == 10) {
        most = (all >> 1) + negative;
    }
    if (value > most) {
        return VYRE_LITERAL_TOO_LARGE;
    }
    *out_bits = (negative && vyre_type_is_signed(type) ? 0 - value : value) & all;
    return VYRE_LITERAL_FITS;
}
