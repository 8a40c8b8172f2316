/* Integer and logic operators of all types against the same arithmetic written with 128-bit
 * numbers: exact values first, then one reduction modulo 2^width. And the rules that matter most,
 * as literals. */
#include "unit/ops.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static int width_of(vyre_type type) {
    return type == VYRE_BOOL ? 1 : (int)vyre_type_size(type) * 8;
}

/* The number that the bits mean. */
static wide number(vyre_type type, uint64_t bits) {
    wide value = (wide)bits;
    wide top = (wide)1 << (width_of(type) - 1);
    return vyre_type_is_signed(type) && value >= top ? value - 2 * top : value;
}

static uint64_t modulo(vyre_type type, wide value) {
    return (uint64_t)((uwide)value & (((uwide)1 << width_of(type)) - 1));
}

static wide floor_shift(wide value, int by) {
    wide unit = (wide)1 << by;
    return value >= 0 ? value / unit : -((-value + unit - 1) / unit);
}

static wide clamp(vyre_type type, wide value) {
    wide span = (wide)1 << width_of(type);
    wide low = vyre_type_is_signed(type) ? -span / 2 : 0, high = low + span - 1;
    return value < low ? low : value > high ? high : value;
}

/* Bit i of the operand, counted from the lowest. */
static int bit(uint64_t bits, int i) {
    return (int)(bits >> i & 1);
}

static wide count_bits(vyre_expr_op op, int width, uint64_t bits) {
    wide count = 0;
    for (int i = 0; i < width; i++) {
        int at = op == VYRE_EXPR_CLZ ? width - 1 - i : i;
        if (op == VYRE_EXPR_POPCOUNT) {
            count += bit(bits, at);
        } else if (bit(bits, at)) {
            break;
        } else {
            count++;
        }
    }
    return count;
}

static wide reversed(int width, uint64_t bits) {
    wide value = 0;
    for (int i = 0; i < width; i++) {
        value += (wide)bit(bits, i) << (width - 1 - i);
    }
    return value;
}

static wide rotated(int width, uint64_t bits, int left) {
    wide value = 0;
    for (int i = 0; i < width; i++) {
        value += (wide)bit(bits, i) << ((i + left) % width);
    }
    return value;
}

/* The product of two u64 does not fit a signed 128-bit number. */
static wide product_saturated(vyre_type type, wide a, wide b) {
    if (type == VYRE_U64) {
        uwide product = (uwide)a * (uwide)b;
        return product >> 64 ? (wide)UINT64_MAX : (wide)product;
    }
    return clamp(type, a * b);
}

static wide product_high(vyre_type type, wide a, wide b) {
    if (type == VYRE_U64) {
        return (wide)(((uwide)a * (uwide)b) >> 64);
    }
    return floor_shift(a * b, width_of(type));
}

static wide expected(vyre_expr_op op, vyre_type type, uint64_t x, uint64_t y, uint64_t amount) {
    int width = width_of(type);
    wide a = number(type, x), b = number(type, y);
    int by = (int)(amount % (uint64_t)width);
    switch ((int)op) {
    case VYRE_EXPR_NEG: return -a;
    case VYRE_EXPR_BIT_NOT: return -a - 1;
    case VYRE_EXPR_NOT: return a == 0;
    case VYRE_EXPR_ABS: return a < 0 ? -a : a;
    case VYRE_EXPR_SIGN: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case VYRE_EXPR_POPCOUNT:
    case VYRE_EXPR_CLZ:
    case VYRE_EXPR_CTZ: return count_bits(op, width, x);
    case VYRE_EXPR_REVERSE_BITS: return reversed(width, x);
    case VYRE_EXPR_UNPACK4_LOW: return (wide)(x % 16);
    case VYRE_EXPR_UNPACK4_HIGH: return (wide)(x / 16 % 16);
    case VYRE_EXPR_UNPACK8_LOW: return (wide)(x % 256);
    case VYRE_EXPR_UNPACK8_HIGH: return (wide)(x / 16777216 % 256);
    case VYRE_EXPR_ADD: return a + b;
    case VYRE_EXPR_SUB: return a - b;
    case VYRE_EXPR_MUL: return (wide)((uwide)a * (uwide)b);
    case VYRE_EXPR_DIV: return b == 0 ? -1 : a / b;
    case VYRE_EXPR_REM: return b == 0 ? 0 : a % b;
    case VYRE_EXPR_SHL: return (wide)((uwide)x << by);
    case VYRE_EXPR_SHR: return floor_shift(a, by);
    case VYRE_EXPR_ROTL: return rotated(width, x, by);
    case VYRE_EXPR_ROTR: return rotated(width, x, width - by);
    case VYRE_EXPR_LT: return a < b;
    case VYRE_EXPR_LE: return a <= b;
    case VYRE_EXPR_GT: return a > b;
    case VYRE_EXPR_GE: return a >= b;
    case VYRE_EXPR_EQ: return a == b;
    case VYRE_EXPR_NE: return a != b;
    case VYRE_EXPR_BIT_AND: return (wide)(x & y);
    case VYRE_EXPR_BIT_XOR: return (wide)(x ^ y);
    case VYRE_EXPR_BIT_OR: return (wide)(x | y);
    case VYRE_EXPR_AND: return a != 0 && b != 0;
    case VYRE_EXPR_OR: return a != 0 || b != 0;
    case VYRE_EXPR_MIN: return a < b ? a : b;
    case VYRE_EXPR_MAX: return a > b ? a : b;
    case VYRE_EXPR_ABS_DIFF: return a > b ? a - b : b - a;
    case VYRE_EXPR_MUL_HIGH: return product_high(type, a, b);
    case VYRE_EXPR_SAT_ADD: return clamp(type, a + b);
    case VYRE_EXPR_SAT_SUB: return clamp(type, a - b);
    case VYRE_EXPR_SAT_MUL: return product_saturated(type, a, b);
    default: test_fail(__FILE__, __LINE__, "no expectation for operator %d", (int)op); return 0;
    }
}

static vyre_type result_of(const vyre_expr_info *info, vyre_type type) {
    switch ((int)info->result) {
    case VYRE_RESULT_BOOL: return VYRE_BOOL;
    case VYRE_RESULT_U32: return VYRE_U32;
    case VYRE_RESULT_UNSIGNED: return vyre_type_size(type) == 8 ? VYRE_U64 : VYRE_U32;
    default: return type;
    }
}

static void check_op(vyre_expr_op op, vyre_type type, vyre_type second) {
    static uint64_t x[OPS_MOST], y[OPS_MOST], got[OPS_MOST];
    const vyre_expr_info *info = vyre_expr_info_of(op);
    vyre_type result = result_of(info, type);
    uint32_t count = ops_pairs(type, second, 30, x, y);
    const vyre_type types[3] = {type, info->arity > 1 ? second : VYRE_VOID, VYRE_VOID};
    ops_run(types, (const uint64_t *const[3]){x, y, NULL}, result, count, ops_make_op, &op, got);
    for (uint32_t i = 0; i < count; i++) {
        wide value = expected(op, type, x[i], y[i], y[i]);
        uint64_t want = modulo(result, value);
        if (got[i] != want) {
            test_fail(__FILE__, __LINE__,
                      "%s of %s %" PRIx64 " %" PRIx64 " is %" PRIx64 ", not %" PRIx64, info->name,
                      vyre_type_name(type), x[i], y[i], got[i], want);
            return;
        }
    }
}

static bool takes(const vyre_expr_info *info, vyre_type type) {
    return info->operands != VYRE_OPERANDS_SELECT && info->operands != VYRE_OPERANDS_BITS &&
           info->operands != VYRE_OPERANDS_INDEX && info->operands != VYRE_OPERANDS_U32 &&
           vyre_operands_accept((vyre_operands)info->operands, 0, type);
}

TEST(every_integer_operator_of_every_type) {
    static const vyre_type types[] = {VYRE_BOOL, VYRE_U32, VYRE_I32, VYRE_U64, VYRE_I64};
    uint32_t cases = 0;
    for (uint32_t op = VYRE_EXPR_NEG; op < VYRE_EXPR_COUNT; op++) {
        for (uint32_t t = 0; t < sizeof types / sizeof *types; t++) {
            const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)op);
            if (takes(info, types[t])) {
                check_op((vyre_expr_op)op, types[t], types[t]);
                cases++;
            }
        }
    }
    CHECK_EQ(cases, 42 + 106); /* unary, binary: nothing was left out */
}

/* A row of which all elements have a number of 32 bits. */
static uint64_t row_of(uint64_t y, uint64_t width, uint64_t x) {
    const wide last = (wide)y * (wide)width + (wide)width - 1;
    return x < width && last <= (wide)UINT32_MAX ? y * width + x : UINT32_MAX;
}

TEST(elements_of_rows) {
    static const uint64_t values[] = {0,          1,          2,          3,          5,
                                      17,         0xffff,     0x10000,    0x10001,    0x55555555,
                                      0x80000000, 0x7fffffff, 0xfffffffe, 0xffffffff, 0x33333333};
    enum { N = sizeof values / sizeof *values };
    static uint64_t of[3][N * N], got[N * N];
    const vyre_type types[3] = {VYRE_U32, VYRE_U32, VYRE_U32};
    const vyre_expr_op op = VYRE_EXPR_ROW;
    for (uint32_t at = 0; at < N; at++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < N * N; i++, count++) {
            of[0][count] = values[at];
            of[1][count] = values[i / N];
            of[2][count] = values[i % N];
        }
        ops_run(types, (const uint64_t *const[3]){of[0], of[1], of[2]}, VYRE_U32, count,
                ops_make_op, &op, got);
        for (uint32_t i = 0; i < count; i++) {
            if (got[i] != row_of(of[0][i], of[1][i], of[2][i])) {
                test_fail(__FILE__, __LINE__,
                          "row(%" PRIx64 ", %" PRIx64 ", %" PRIx64 ") is %" PRIx64, of[0][i],
                          of[1][i], of[2][i], got[i]);
            }
        }
    }
}

TEST(shift_amounts_may_be_u32) {
    static const vyre_expr_op ops[] = {VYRE_EXPR_SHL, VYRE_EXPR_SHR, VYRE_EXPR_ROTL,
                                       VYRE_EXPR_ROTR};
    static const vyre_type types[] = {VYRE_I32, VYRE_U64, VYRE_I64};
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t t = 0; t < 3; t++) {
            check_op(ops[i], types[t], VYRE_U32);
        }
    }
}

static uint64_t one(vyre_expr_op op, vyre_type type, uint64_t x, uint64_t y) {
    uint64_t got;
    const vyre_expr_info *info = vyre_expr_info_of(op);
    const vyre_type types[3] = {type, info->arity > 1 ? type : VYRE_VOID, VYRE_VOID};
    ops_run(types, (const uint64_t *const[3]){&x, &y, NULL}, result_of(info, type), 1, ops_make_op,
            &op, &got);
    return got;
}

TEST(rules_of_division_shifts_and_saturation) {
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_U32, 7, 0), 0xffffffff);
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_U64, 7, 0), UINT64_MAX);
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_I32, 7, 0), 0xffffffff);
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_I64, 7, 0), UINT64_MAX);
    CHECK_EQ(one(VYRE_EXPR_REM, VYRE_U32, 7, 0), 0);
    CHECK_EQ(one(VYRE_EXPR_REM, VYRE_I64, 7, 0), 0);
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_I32, 0x80000000, 0xffffffff), 0x80000000);
    CHECK_EQ(one(VYRE_EXPR_REM, VYRE_I32, 0x80000000, 0xffffffff), 0);
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_I64, UINT64_C(1) << 63, UINT64_MAX), UINT64_C(1) << 63);
    CHECK_EQ(one(VYRE_EXPR_REM, VYRE_I64, UINT64_C(1) << 63, UINT64_MAX), 0);
    CHECK_EQ(one(VYRE_EXPR_DIV, VYRE_I32, 0xfffffff9, 2), 0xfffffffd); /* -7 / 2 = -3 */
    CHECK_EQ(one(VYRE_EXPR_REM, VYRE_I32, 0xfffffff9, 2), 0xffffffff); /* -7 % 2 = -1 */
    CHECK_EQ(one(VYRE_EXPR_SHL, VYRE_U32, 1, 32), 1);
    CHECK_EQ(one(VYRE_EXPR_SHL, VYRE_U32, 1, 33), 2);
    CHECK_EQ(one(VYRE_EXPR_SHR, VYRE_I32, 0x80000000, 31), 0xffffffff);
    CHECK_EQ(one(VYRE_EXPR_SHL, VYRE_U64, 1, 64), 1);
    CHECK_EQ(one(VYRE_EXPR_ABS, VYRE_I32, 0x80000000, 0), 0x80000000);
    CHECK_EQ(one(VYRE_EXPR_ABS_DIFF, VYRE_I32, 0x80000000, 0x7fffffff), 0xffffffff);
    CHECK_EQ(one(VYRE_EXPR_ABS_DIFF, VYRE_I64, UINT64_C(1) << 63, INT64_MAX), UINT64_MAX);
    CHECK_EQ(one(VYRE_EXPR_MUL_HIGH, VYRE_I32, 0xffffffff, 0xffffffff), 0);
    CHECK_EQ(one(VYRE_EXPR_MUL_HIGH, VYRE_U32, 0xffffffff, 0xffffffff), 0xfffffffe);
    CHECK_EQ(one(VYRE_EXPR_MUL_HIGH, VYRE_I64, UINT64_MAX, 2), UINT64_MAX);
    CHECK_EQ(one(VYRE_EXPR_SAT_MUL, VYRE_I64, UINT64_C(1) << 63, UINT64_MAX), INT64_MAX);
    CHECK_EQ(one(VYRE_EXPR_SAT_SUB, VYRE_U64, 3, 5), 0);
    CHECK_EQ(one(VYRE_EXPR_CLZ, VYRE_I32, 0, 0), 32);
    CHECK_EQ(one(VYRE_EXPR_CTZ, VYRE_U64, 0, 0), 64);
    CHECK_EQ(one(VYRE_EXPR_UNPACK8_HIGH, VYRE_I32, 0x9a000000, 0), 0x9a);
    CHECK_EQ(one(VYRE_EXPR_ROTR, VYRE_U32, 1, 1), 0x80000000);
}

/* select and ?: take any computing type in their arms, bool or u32 as condition. */
static vyre_expr make_select(vyre_builder *b, const vyre_expr operands[3], const void *user) {
    const vyre_expr_op *op = user;
    return vyre_build_op(b, *op, operands[0], operands[1], operands[2]);
}

TEST(select_and_bitcast_keep_bits) {
    static const uint64_t conditions[] = {0, 1, 2, 0x80000000};
    static uint64_t x[4], y[4], got[4];
    for (uint32_t t = VYRE_BOOL; t <= VYRE_F64; t++) {
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t c = VYRE_BOOL + k % 2;
            const vyre_expr_op op = k < 2 ? VYRE_EXPR_SELECT : VYRE_EXPR_COND;
            ops_values((vyre_type)t, 5, x, 4);
            ops_values((vyre_type)t, 6, y, 4);
            const vyre_type types[3] = {(vyre_type)c, (vyre_type)t, (vyre_type)t};
            ops_run(types, (const uint64_t *const[3]){conditions, x, y}, (vyre_type)t, 4,
                    make_select, &op, got);
            for (uint32_t i = 0; i < 4; i++) {
                CHECK_EQ(got[i], i ? x[i] : y[i]);
            }
        }
    }
}

static vyre_expr make_bitcast(vyre_builder *b, const vyre_expr operands[3], const void *user) {
    const vyre_type *type = user;
    return vyre_build_bitcast(b, *type, operands[0]);
}

TEST(bitcast_between_types_of_one_width) {
    static const vyre_type groups[2][3] = {{VYRE_U32, VYRE_I32, VYRE_F32},
                                           {VYRE_U64, VYRE_I64, VYRE_F64}};
    static uint64_t x[256], got[256];
    for (uint32_t g = 0; g < 2; g++) {
        for (uint32_t i = 0; i < 9; i++) {
            vyre_type from = groups[g][i / 3], to = groups[g][i % 3];
            ops_values(from, 7, x, 256);
            ops_run((const vyre_type[3]){from, VYRE_VOID, VYRE_VOID},
                    (const uint64_t *const[3]){x, NULL, NULL}, to, 256, make_bitcast, &to, got);
            CHECK(memcmp(x, got, sizeof x) == 0);
        }
    }
}
