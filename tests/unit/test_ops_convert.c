/* Conversions between all pairs of types, and the stored-only types in memory. Expected values:
 * integers by 128-bit arithmetic; floats by MPFR, which rounds an exact value once to any small
 * format. */
#include <math.h>
#include <mpfr.h>

#include "unit/ops.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* The exact value of the bits; mpfr has room for all of them. */
static void set_exactly(mpfr_ptr out, vyre_type type, uint64_t bits) {
    if (vyre_type_is_float(type)) {
        mpfr_set_d(out, real_of(type, bits), MPFR_RNDN);
    } else if (type == VYRE_I64) {
        mpfr_set_si(out, (int64_t)bits, MPFR_RNDN);
    } else if (type == VYRE_I32) {
        mpfr_set_si(out, (int32_t)(uint32_t)bits, MPFR_RNDN);
    } else {
        mpfr_set_ui(out, bits, MPFR_RNDN);
    }
}

static const struct {
    vyre_type type;
    mpfr_prec_t precision;
    mpfr_exp_t lowest, highest;
} formats[] = {{VYRE_F16, 11, -23, 16},
               {VYRE_BF16, 8, -132, 128},
               {VYRE_F32, 24, -148, 128},
               {VYRE_F64, 53, -1073, 1024}};

/* Rounded once, as a double, which holds every value of every format. */
static double rounded_to(vyre_type to, mpfr_srcptr exact) {
    uint32_t i = 0;
    while (formats[i].type != to) {
        i++;
    }
    mpfr_t r;
    mpfr_init2(r, formats[i].precision);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(formats[i].lowest);
    mpfr_set_emax(formats[i].highest);
    int inexact = mpfr_set(r, exact, MPFR_RNDN);
    inexact = mpfr_check_range(r, inexact, MPFR_RNDN);
    mpfr_subnormalize(r, inexact, MPFR_RNDN);
    double value = mpfr_get_d(r, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(r);
    return value;
}

static wide number(vyre_type type, uint64_t bits) {
    return type == VYRE_I32   ? (wide)(int32_t)(uint32_t)bits
           : type == VYRE_I64 ? (wide)(int64_t)bits
                              : (wide)bits;
}

/* To an integer type: the value in its widened form. */
static uint64_t expected_integer(vyre_type from, vyre_type to, uint64_t bits) {
    wide span = (wide)1 << vyre_type_size(to) * 8;
    wide low = vyre_type_is_signed(to) ? -span / 2 : 0, high = low + span - 1;
    wide value;
    if (vyre_type_is_float(from)) {
        double real = real_of(from, bits);
        value = isnan(real)            ? 0
                : real <= (double)low  ? low
                : real >= (double)high ? high
                                       : (wide)real;
    } else {
        value = (wide)((uwide)number(from, bits) & (uwide)(span - 1));
        value = value > high ? value - span : value;
    }
    uint64_t all = vyre_type_size(vyre_type_widened(to)) == 8 ? UINT64_MAX : UINT32_MAX;
    return (uint64_t)value & all;
}

static uint64_t expected(vyre_type from, vyre_type to, uint64_t bits) {
    if (to == VYRE_BOOL) {
        return vyre_type_is_float(from) ? real_of(from, bits) != 0 : bits != 0;
    }
    if (!vyre_type_is_float(to)) {
        return expected_integer(from, to, bits);
    }
    mpfr_t exact;
    mpfr_init2(exact, 64);
    set_exactly(exact, from, bits);
    double value = rounded_to(to, exact);
    mpfr_clear(exact);
    return to == VYRE_F64 ? bits64(value) : bits32((float)value);
}

static vyre_expr make_cast(vyre_builder *b, const vyre_expr operands[3], const void *user) {
    const vyre_type *to = user;
    return vyre_build_cast(b, *to, operands[0]);
}

TEST(casts_between_all_types) {
    static uint64_t x[OPS_MOST], got[OPS_MOST];
    for (uint32_t from = VYRE_BOOL; from <= VYRE_F64; from++) {
        for (uint32_t t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
            vyre_type to = (vyre_type)t, result = vyre_type_widened(to);
            ops_values((vyre_type)from, from * 100 + t, x, OPS_MOST);
            ops_run((const vyre_type[3]){(vyre_type)from, VYRE_VOID, VYRE_VOID},
                    (const uint64_t *const[3]){x, NULL, NULL}, result, OPS_MOST, make_cast, &to,
                    got);
            for (uint32_t i = 0; i < OPS_MOST; i++) {
                uint64_t want = expected((vyre_type)from, to, x[i]);
                if (!ops_same(result, got[i], want)) {
                    test_fail(
                        __FILE__, __LINE__, "%s to %s of %" PRIx64 " is %" PRIx64 ", not %" PRIx64,
                        vyre_type_name((vyre_type)from), vyre_type_name(to), x[i], got[i], want);
                    break;
                }
            }
        }
    }
}

/* Exact ties of every binade of f16 and bf16, and their neighbours, as f32. */
TEST(ties_of_small_floats_go_to_even) {
    static uint64_t x[OPS_MOST], got[OPS_MOST];
    static const vyre_type small[] = {VYRE_F16, VYRE_BF16};
    for (uint32_t s = 0; s < 2; s++) {
        int mantissa = s == 0 ? 10 : 7, low = s == 0 ? -26 : -136, high = s == 0 ? 16 : 127;
        uint32_t count = 0;
        uint64_t state = 3;
        for (int e = low; e <= high; e++) {
            for (int k = 0; k < 20; k++) {
                uint64_t units = (uint64_t)1 << mantissa | test_random(&state) >> (64 - mantissa);
                double tie = ldexp((double)units + 0.5, e - mantissa);
                float below = nextafterf((float)tie, 0), above = nextafterf((float)tie, INFINITY);
                float pick = k % 3 == 0 ? (float)tie : k % 3 == 1 ? below : above;
                if (count < OPS_MOST) {
                    x[count++] = bits32(k & 1 ? pick : -pick);
                }
            }
        }
        ops_run((const vyre_type[3]){VYRE_F32, VYRE_VOID, VYRE_VOID},
                (const uint64_t *const[3]){x, NULL, NULL}, VYRE_F32, count, make_cast, &small[s],
                got);
        for (uint32_t i = 0; i < count; i++) {
            CHECK_EQ(got[i], expected(VYRE_F32, small[s], x[i]));
        }
    }
}

static vyre_expr make_same(vyre_builder *b, const vyre_expr operands[3], const void *user) {
    (void)b;
    (void)user;
    return operands[0];
}

/* The value of 16 stored bits, by the definition of the formats. */
static float decoded(vyre_type type, uint32_t bits) {
    int mantissa = type == VYRE_F16 ? 10 : 7, bias = type == VYRE_F16 ? 15 : 127;
    int field = (int)(bits >> mantissa & ((1u << (15 - mantissa)) - 1));
    double fraction = (double)(bits & ((1u << mantissa) - 1)) / (double)(1u << mantissa);
    double value = field == 2 * bias + 1 ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                   : field == 0          ? fraction * pow(2, 1 - bias)
                                         : (1 + fraction) * pow(2, field - bias);
    return (float)(bits & 0x8000 ? -value : value);
}

TEST(every_16_bit_float_loads_and_stores_back) {
    static uint64_t x[OPS_MOST], got[OPS_MOST];
    for (uint32_t t = VYRE_F16; t <= VYRE_BF16; t++) {
        for (uint32_t base = 0; base < 65536; base += OPS_MOST) {
            for (uint32_t i = 0; i < OPS_MOST; i++) {
                x[i] = base + i;
            }
            const vyre_type types[3] = {(vyre_type)t, VYRE_VOID, VYRE_VOID};
            const uint64_t *const values[3] = {x, NULL, NULL};
            ops_run(types, values, VYRE_F32, OPS_MOST, make_same, NULL, got);
            for (uint32_t i = 0; i < OPS_MOST; i++) {
                if (!ops_same(VYRE_F32, got[i], bits32(decoded((vyre_type)t, base + i)))) {
                    test_fail(__FILE__, __LINE__, "%s %x loads as %" PRIx64,
                              vyre_type_name((vyre_type)t), base + i, got[i]);
                }
            }
            ops_run(types, values, (vyre_type)t, OPS_MOST, make_same, NULL, got);
            for (uint32_t i = 0; i < OPS_MOST; i++) {
                if (isnan(decoded((vyre_type)t, (uint32_t)x[i]))) {
                    CHECK(isnan(decoded((vyre_type)t, (uint32_t)got[i])));
                } else {
                    CHECK_EQ(got[i], x[i]);
                }
            }
        }
    }
}

/* Small integers widen on load and keep their low bits on store; bool is a word. */
TEST(stored_only_integers_and_bool) {
    static const struct {
        vyre_type type;
        uint64_t stored, loaded;
    } loads[] = {
        {VYRE_U8, 0xff, 255},           {VYRE_I8, 0xff, 0xffffffff}, {VYRE_I8, 0x7f, 127},
        {VYRE_I8, 0x80, 0xffffff80},    {VYRE_U16, 0xffff, 65535},   {VYRE_I16, 0xffff, 0xffffffff},
        {VYRE_I16, 0x8000, 0xffff8000}, {VYRE_BOOL, 0, 0},           {VYRE_BOOL, 1, 1},
        {VYRE_BOOL, 0x80000000, 1},     {VYRE_BOOL, 0x100, 1},
    };
    for (uint32_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        uint64_t got;
        ops_run((const vyre_type[3]){loads[i].type, VYRE_VOID, VYRE_VOID},
                (const uint64_t *const[3]){&loads[i].stored, NULL, NULL},
                vyre_type_widened(loads[i].type), 1, make_same, NULL, &got);
        CHECK_EQ(got, loads[i].loaded);
    }
    static const struct {
        vyre_type from, to;
        uint64_t value, stored;
    } stores[] = {
        {VYRE_U32, VYRE_U8, 0x1234, 0x34},         {VYRE_I32, VYRE_I8, 0xffffff01, 0x01},
        {VYRE_U32, VYRE_U16, 0x12345678, 0x5678},  {VYRE_I32, VYRE_I16, 0x80007fff, 0x7fff},
        {VYRE_F32, VYRE_F16, 0x477fefff, 0x7bff},  {VYRE_F32, VYRE_F16, 0x477ff000, 0x7c00},
        {VYRE_F32, VYRE_F16, 0x33000000, 0x0000},  {VYRE_F32, VYRE_F16, 0x33000001, 0x0001},
        {VYRE_F32, VYRE_F16, 0xb3c00000, 0x8002},  {VYRE_F32, VYRE_BF16, 0x3f808000, 0x3f80},
        {VYRE_F32, VYRE_BF16, 0x3f818000, 0x3f82}, {VYRE_F32, VYRE_BF16, 0x7f7fffff, 0x7f80},
        {VYRE_F32, VYRE_BF16, 0x00018000, 0x0002},
    };
    for (uint32_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        uint64_t got;
        ops_run((const vyre_type[3]){stores[i].from, VYRE_VOID, VYRE_VOID},
                (const uint64_t *const[3]){&stores[i].value, NULL, NULL}, stores[i].to, 1,
                make_same, NULL, &got);
        CHECK_EQ(got, stores[i].stored);
    }
}
