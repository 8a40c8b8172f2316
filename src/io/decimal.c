/* Decimal to binary. Up to 19 digits with a power of ten of at most 22 are exact in two operations
 * (Clinger's fast path, when the digits fit 53 bits); all else goes to strtod in the "C" locale,
 * which glibc hands out without allocating. f32 is taken from the f64 unless that lies exactly in
 * the middle of two f32 or below the normal ones, where rounding twice could differ from rounding
 * once. */
#include "io/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

bool vyre_decimal_u64(const char *text, size_t length, uint64_t *out) {
    uint64_t n = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || !vyre_mul_u64(n, 10, &n) || !vyre_add_u64(n, digit, &n)) {
            return false;
        }
    }
    *out = n;
    return length > 0;
}

bool vyre_decimal_i64(const char *text, size_t length, int64_t *out) {
    bool sign = length > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = sign && text[0] == '-';
    uint64_t n;
    if (!vyre_decimal_u64(text + sign, length - sign, &n) || n > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* The parts of a number: digits * 10^power, exactly if `exact`. */
typedef struct parts {
    uint64_t digits;
    int power;
    bool negative;
    bool exact;
} parts;

/* Counts of digits and exponents beyond this are left to strtod. */
enum { LARGE = 100000 };

static bool scan_exponent(const char *text, size_t length, parts *p) {
    size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
    if (at >= length) {
        return false;
    }
    int value = 0;
    for (size_t i = at; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9) {
            return false;
        }
        p->exact &= value < LARGE;
        value = value < LARGE ? value * 10 + (int)digit : value;
    }
    p->power += at && text[0] == '-' ? -value : value;
    return true;
}

static bool scan(const char *text, size_t length, parts *out) {
    parts p = {.exact = true};
    size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
    p.negative = at && text[0] == '-';
    bool any = false, point = false;
    for (; at < length; at++) {
        unsigned digit = (unsigned)text[at] - '0';
        if (digit <= 9) {
            any = true;
            p.exact &= p.digits < UINT64_C(1000000000000000000) && p.power > -LARGE;
            p.digits = p.exact ? p.digits * 10 + digit : p.digits;
            p.power -= point && p.exact;
        } else if (text[at] == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (!any) {
        return false;
    }
    if (at < length && (text[at] | 32) == 'e') {
        if (!scan_exponent(text + at + 1, length - at - 1, &p)) {
            return false;
        }
    } else if (at < length) {
        return false;
    }
    *out = p;
    return true;
}

static bool fast(const parts *p, double *out) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!p->exact || p->digits >> 53 || p->power < -22 || p->power > 22) {
        return false;
    }
    double x = (double)p->digits;
    x = p->power < 0 ? x / tens[-p->power] : x * tens[p->power];
    *out = p->negative ? -x : x;
    return true;
}

bool vyre_decimal_f64(const char *text, size_t length, double *out) {
    parts p;
    if (!scan(text, length, &p)) {
        return false;
    }
    if (!fast(&p, out)) {
        locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        *out = strtod_l(text, NULL, c);
        freelocale(c);
    }
    return isfinite(*out);
}

bool vyre_decimal_f32(const char *text, size_t length, float *out) {
    double wide;
    if (!vyre_decimal_f64(text, length, &wide)) {
        return false;
    }
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    *out = (float)wide;
    if ((bits & 0x1fffffff) == 0x10000000 || (wide != 0 && fabs(wide) < 0x1p-126)) {
        locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        *out = strtof_l(text, NULL, c);
        freelocale(c);
    }
    return isfinite(*out);
}
