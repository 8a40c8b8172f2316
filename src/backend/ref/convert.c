/* Conversions. Between integers they keep low bits; between f32, f64 and 64-bit integers C's own
 * conversions round to nearest even, as the language wants (the machine runs in the default
 * floating environment); float to integer is clamped first, because C leaves overflow undefined.
 * f16 and bf16 are rounded by hand from the exact source value, so that nothing rounds twice. */
#include "backend/ref/convert.h"

#include <math.h>

/* A small binary float format: sign, exponent, `mantissa` stored bits; 16 bits in all. */
typedef struct format {
    int mantissa;
    int lowest; /* exponent of the smallest normal number */
} format;
static const format half = {.mantissa = 10, .lowest = -14};
static const format brain = {.mantissa = 7, .lowest = -126};

/* Exponent of infinity, in place. */
static uint32_t infinity_of(format f) {
    return (0x7fffu >> f.mantissa) << f.mantissa;
}

/* Rounds (-1)^negative * m * 2^e to the format, nearest even; too large becomes infinity. */
static uint32_t round_to(format f, bool negative, uint64_t m, int e) {
    uint32_t sign = negative ? 0x8000u : 0;
    if (m == 0) {
        return sign;
    }
    int top = 63 - __builtin_clzll(m) + e; /* the value lies in [2^top, 2^(top + 1)) */
    int unit = (top < f.lowest ? f.lowest : top) - f.mantissa; /* exponent of the last place */
    uint64_t units;
    if (unit <= e) {
        units = m << (e - unit);
    } else if (unit - e >= 64) {
        units = 0; /* far below half a unit: only numbers of 53 bits come here */
    } else {
        int drop = unit - e;
        uint64_t rest = m & ((UINT64_C(1) << drop) - 1), tie = UINT64_C(1) << (drop - 1);
        units = m >> drop;
        units += rest > tie || (rest == tie && units & 1);
    }
    /* A carry out of the mantissa adds one to the exponent field, which is what it should do. A
     * subnormal number has its leading bit missing and the field 0. */
    int field = unit + f.mantissa - f.lowest;
    uint64_t bits = ((uint64_t)field << f.mantissa) + units;
    return sign | (bits < infinity_of(f) ? (uint32_t)bits : infinity_of(f));
}

static uint32_t narrow_double(format f, double value) {
    if (value != value) {
        return infinity_of(f) | (1u << (f.mantissa - 1));
    }
    bool negative = signbit(value) != 0;
    if (isinf(value)) {
        return infinity_of(f) | (negative ? 0x8000u : 0);
    }
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    return round_to(f, negative, (uint64_t)ldexp(fraction, 53), exponent - 53);
}

static double widen(format f, uint32_t bits) {
    uint32_t field = (bits & 0x7fff) >> f.mantissa;
    uint32_t fraction = bits & ((1u << f.mantissa) - 1);
    double magnitude;
    if (field == infinity_of(f) >> f.mantissa) {
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    } else if (field == 0) {
        magnitude = ldexp(fraction, f.lowest - f.mantissa);
    } else {
        magnitude = ldexp(fraction + (1u << f.mantissa), (int)field - 1 + f.lowest - f.mantissa);
    }
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double as_double(vyre_type type, uint64_t bits) {
    return type == VYRE_F32 ? (double)vyre_ref_f32(bits) : vyre_ref_f64(bits);
}

/* Range of an integer type as doubles: lowest value, and the first value above the highest. */
static uint64_t saturate(double value, int width, bool is_signed) {
    double above = ldexp(1, is_signed ? width - 1 : width);
    double lowest = is_signed ? -above : 0;
    if (value != value) {
        return 0;
    }
    if (value <= lowest) {
        return is_signed ? UINT64_C(0) - (UINT64_C(1) << (width - 1)) : 0;
    }
    if (value >= above) {
        return UINT64_MAX >> (64 - width + (is_signed ? 1 : 0));
    }
    return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static uint32_t sign_extended(uint32_t bits, uint32_t sign) {
    return (bits ^ sign) - sign;
}

/* Keeps the low bits of a 64-bit two's complement number as the type's value. */
static uint64_t keep(vyre_type to, uint64_t bits) {
    switch (to) {
    case VYRE_U8: return (uint8_t)bits;
    case VYRE_I8: return sign_extended((uint8_t)bits, 0x80);
    case VYRE_U16: return (uint16_t)bits;
    case VYRE_I16: return sign_extended((uint16_t)bits, 0x8000);
    case VYRE_U32:
    case VYRE_I32: return (uint32_t)bits;
    case VYRE_U64:
    case VYRE_I64: return bits;
    case VYRE_VOID:
    case VYRE_BOOL:
    case VYRE_F32:
    case VYRE_F64:
    case VYRE_F16:
    case VYRE_BF16:
    case VYRE_TYPE_COUNT: break;
    }
    return 0;
}

static uint64_t small_float(format f, uint32_t bits) {
    return vyre_ref_from_f32((float)widen(f, bits));
}

static uint64_t integer_to_float(vyre_type from, vyre_type to, uint64_t bits) {
    uint64_t wide = vyre_ref_extend(from, bits);
    bool is_signed = vyre_type_is_signed(from);
    bool negative = is_signed && (int64_t)wide < 0;
    uint64_t magnitude = negative ? 0 - wide : wide;
    switch (to) {
    case VYRE_F16: return small_float(half, round_to(half, negative, magnitude, 0));
    case VYRE_BF16: return small_float(brain, round_to(brain, negative, magnitude, 0));
    case VYRE_F32: return vyre_ref_from_f32(is_signed ? (float)(int64_t)wide : (float)wide);
    case VYRE_F64: return vyre_ref_from_f64(is_signed ? (double)(int64_t)wide : (double)wide);
    case VYRE_VOID:
    case VYRE_BOOL:
    case VYRE_U32:
    case VYRE_I32:
    case VYRE_U64:
    case VYRE_I64:
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16:
    case VYRE_TYPE_COUNT: break;
    }
    return 0;
}

static uint64_t float_to_float(vyre_type from, vyre_type to, uint64_t bits) {
    if (from == to) {
        return bits;
    }
    double value = as_double(from, bits);
    switch (to) {
    case VYRE_F16: return small_float(half, narrow_double(half, value));
    case VYRE_BF16: return small_float(brain, narrow_double(brain, value));
    case VYRE_F32: return vyre_ref_from_f32((float)value);
    case VYRE_F64: return vyre_ref_from_f64(value);
    case VYRE_VOID:
    case VYRE_BOOL:
    case VYRE_U32:
    case VYRE_I32:
    case VYRE_U64:
    case VYRE_I64:
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16:
    case VYRE_TYPE_COUNT: break;
    }
    return 0;
}

uint64_t vyre_ref_cast(vyre_type from, vyre_type to, uint64_t bits) {
    bool from_float = vyre_type_is_float(from);
    if (to == VYRE_BOOL) {
        return from_float ? as_double(from, bits) != 0 : bits != 0;
    }
    if (vyre_type_is_float(to)) {
        return from_float ? float_to_float(from, to, bits) : integer_to_float(from, to, bits);
    }
    if (from_float) {
        int width = (int)vyre_type_size(to) * 8;
        return keep(to, saturate(as_double(from, bits), width, vyre_type_is_signed(to)));
    }
    return keep(to, vyre_ref_extend(from, bits));
}

/* Little endian, byte by byte: compilers make one access of it where the host allows. */
static uint32_t get16(const uint8_t *b) {
    return b[0] | (uint32_t)b[1] << 8;
}
static uint32_t get32(const uint8_t *b) {
    return get16(b) | get16(b + 2) << 16;
}
static uint64_t get64(const uint8_t *b) {
    return get32(b) | (uint64_t)get32(b + 4) << 32;
}
static void put16(uint8_t *b, uint32_t bits) {
    b[0] = (uint8_t)bits;
    b[1] = (uint8_t)(bits >> 8);
}
static void put32(uint8_t *b, uint32_t bits) {
    put16(b, bits);
    put16(b + 2, bits >> 16);
}
static void put64(uint8_t *b, uint64_t bits) {
    put32(b, (uint32_t)bits);
    put32(b + 4, (uint32_t)(bits >> 32));
}

uint64_t vyre_ref_load(vyre_type type, const uint8_t *element) {
    switch (type) {
    case VYRE_BOOL: return get32(element) != 0;
    case VYRE_U32:
    case VYRE_I32:
    case VYRE_F32: return get32(element);
    case VYRE_U64:
    case VYRE_I64:
    case VYRE_F64: return get64(element);
    case VYRE_U8:
    case VYRE_I8: return keep(type, *element);
    case VYRE_U16:
    case VYRE_I16: return keep(type, get16(element));
    case VYRE_F16: return small_float(half, get16(element));
    case VYRE_BF16: return small_float(brain, get16(element));
    case VYRE_VOID:
    case VYRE_TYPE_COUNT: break;
    }
    return 0;
}

void vyre_ref_store(vyre_type type, uint8_t *element, uint64_t bits) {
    switch (type) {
    case VYRE_BOOL:
    case VYRE_U32:
    case VYRE_I32:
    case VYRE_F32: put32(element, (uint32_t)bits); break;
    case VYRE_U64:
    case VYRE_I64:
    case VYRE_F64: put64(element, bits); break;
    case VYRE_U8:
    case VYRE_I8: *element = (uint8_t)bits; break;
    case VYRE_U16:
    case VYRE_I16: put16(element, (uint32_t)bits); break;
    case VYRE_F16: put16(element, narrow_double(half, (double)vyre_ref_f32(bits))); break;
    case VYRE_BF16: put16(element, narrow_double(brain, (double)vyre_ref_f32(bits))); break;
    case VYRE_VOID:
    case VYRE_TYPE_COUNT: break;
    }
}
