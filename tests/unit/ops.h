/* For tests of single operators: edge values of each type, and a run of one operator over vectors
 * of operands on the reference backend. What is expected must come from elsewhere. */
#ifndef VYRE_TESTS_UNIT_OPS_H
#define VYRE_TESTS_UNIT_OPS_H

#include "backend/ref/ref.h"
#include "harness/test.h"

enum { OPS_MOST = 4096 };

/* Bits of floats by value. */
static inline uint64_t bits32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline uint64_t bits64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float float_of(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
static inline double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
/* As real numbers, of f32 or f64 bits. */
static inline double real_of(vyre_type type, uint64_t bits) {
    return type == VYRE_F32 ? (double)float_of(bits) : double_of(bits);
}

/* Values of a computing type: edges first, then random ones, `count` in all. */
static inline void ops_values(vyre_type type, uint64_t seed, uint64_t *out, uint32_t count) {
    static const uint64_t ints32[] = {0,          1,          2,          3,          5,
                                      7,          31,         32,         33,         63,
                                      64,         127,        128,        255,        256,
                                      32767,      32768,      65535,      65536,      0xffffff,
                                      0x1000001,  0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
                                      0xfffffffe, 0xffffffff, 0xffffff80, 0xffff8000, 0xffffff7f};
    static const uint64_t ints64[] = {0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      63,
                                      64,
                                      65,
                                      255,
                                      256,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0x1fffffffffffff,
                                      0x20000000000001,
                                      0x7fffffffffffffff,
                                      0x7ffffffffffffffe,
                                      0x8000000000000000,
                                      0x8000000000000001,
                                      0xfffffffffffffffe,
                                      0xffffffffffffffff,
                                      0xffffffff80000000,
                                      0xffffffff7fffffff,
                                      0xffffffffffffff80,
                                      0x7fffff4000000000,
                                      0x7fffffc000000000,
                                      0xffffff7fffffffff,
                                      0xffffff8000000000,
                                      0xfffffffffffffc00};
    static const double floats[] = {0.0,
                                    1.0,
                                    0.5,
                                    1.5,
                                    2.5,
                                    3.5,
                                    0.49999997,
                                    8388608.5,
                                    2147483647.0,
                                    2147483648.0,
                                    4294967295.0,
                                    4294967296.0,
                                    127.0,
                                    127.9,
                                    128.0,
                                    255.0,
                                    255.9,
                                    256.0,
                                    32767.9,
                                    32768.0,
                                    65535.9,
                                    65504.0,
                                    65519.0,
                                    65520.0,
                                    65536.0,
                                    6.103515625e-5,
                                    5.960464477539063e-8,
                                    2.9802322387695312e-8,
                                    2.98023259404089e-8,
                                    1e-30,
                                    1e30,
                                    9.223372036854776e18,
                                    1.8446744073709552e19,
                                    3.4028234663852886e38,
                                    1.1754943508222875e-38,
                                    1.401298464324817e-45,
                                    0.1,
                                    0.333333,
                                    1.00390625,
                                    1.01171875,
                                    3.3961775292304e38,
                                    3.38953139e38};
    uint64_t state = seed;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t random = test_random(&state);
        uint32_t edge = i / 2;
        switch ((int)type) {
        case VYRE_BOOL: out[i] = random & 1; break;
        case VYRE_U32:
        case VYRE_I32:
            out[i] =
                i < sizeof ints32 / sizeof *ints32 ? ints32[i] : (uint32_t)random >> (random >> 59);
            break;
        case VYRE_U64:
        case VYRE_I64:
            out[i] = i < sizeof ints64 / sizeof *ints64 ? ints64[i] : random >> (random & 63);
            break;
        case VYRE_F32:
            out[i] = edge < sizeof floats / sizeof *floats
                         ? bits32(i & 1 ? -(float)floats[edge] : (float)floats[edge])
                     : edge == sizeof floats / sizeof *floats ? (i & 1 ? 0x7f800000 : 0xff800000)
                     : edge == sizeof floats / sizeof *floats + 1
                         ? (i & 1 ? 0x7fc00000 : 0x007fffff)
                     : i & 1 ? (uint32_t)random
                             : bits32((float)(int64_t)random / 3e18f * 100);
            break;
        default:
            out[i] = edge < sizeof floats / sizeof *floats
                         ? bits64(i & 1 ? -floats[edge] : floats[edge])
                     : edge == sizeof floats / sizeof *floats
                         ? (i & 1 ? 0x7ff0000000000000 : 0xfff0000000000000)
                     : edge == sizeof floats / sizeof *floats + 1
                         ? (i & 1 ? 0x7ff8000000000000 : 0x000fffffffffffff)
                     : i & 1 ? random
                             : bits64((double)(int64_t)random / 3e18 * 100);
            break;
        }
    }
}

/* Every pair of the first `edges` values, then random pairs; gives the number of pairs. */
static inline uint32_t ops_pairs(vyre_type a, vyre_type b, uint32_t edges, uint64_t *x,
                                 uint64_t *y) {
    uint64_t left[OPS_MOST], right[OPS_MOST];
    uint32_t count = 0;
    ops_values(a, 1, left, OPS_MOST);
    ops_values(b, 2, right, OPS_MOST);
    for (uint32_t i = 0; i < edges; i++) {
        for (uint32_t j = 0; j < edges && count < OPS_MOST; j++) {
            x[count] = left[i];
            y[count++] = right[j];
        }
    }
    for (uint32_t i = edges; count < OPS_MOST; i++) {
        x[count] = left[i];
        y[count++] = right[i];
    }
    return count;
}

/* Elements in storage form. */
static inline void ops_pack(vyre_type type, const uint64_t *values, uint32_t count, uint8_t *out) {
    uint32_t size = vyre_type_size(type);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(out + (size_t)i * size, &values[i], size); /* the tests run on little endian hosts */
    }
}
static inline void ops_unpack(vyre_type type, const uint8_t *bytes, uint32_t count, uint64_t *out) {
    uint32_t size = vyre_type_size(type);
    memset(out, 0, count * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&out[i], bytes + (size_t)i * size, size);
    }
}

/* How to make the expression whose values are wanted out of three loaded operands. */
typedef vyre_expr (*ops_make)(vyre_builder *b, const vyre_expr operands[3], const void *user);

/* values[k] are the operands in storage form of types[k] (VYRE_VOID: absent); out gets the results
 * in storage form of `result`. */
static inline void ops_run(const vyre_type types[3], const uint64_t *const values[3],
                           vyre_type result, uint32_t count, ops_make make, const void *user,
                           uint64_t *out) {
    static uint8_t bytes[4][OPS_MOST * 8];
    vyre_ref_memory memory[4];
    vyre_builder *b;
    vyre_program *program;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_create(NULL, "op", &b), NULL);
    vyre_build_workgroup(b, 64, 1, 1);
    vyre_expr operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    vyre_expr lane = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0);
    uint32_t decls = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (types[k] != VYRE_VOID && values[k]) {
            char name[2] = {(char)('a' + k), 0};
            ops_pack(types[k], values[k], count, bytes[decls]);
            memory[decls] = (vyre_ref_memory){bytes[decls], count};
            vyre_decl decl = vyre_build_memory(b, VYRE_IN, name, types[k], VYRE_NONE);
            operands[k] = vyre_build_load(b, decl, lane);
            decls++;
        }
    }
    memset(bytes[decls], 0xa5, sizeof bytes[decls]);
    memory[decls] = (vyre_ref_memory){bytes[decls], count};
    vyre_decl to = vyre_build_memory(b, VYRE_INOUT, "r", result, VYRE_NONE);
    vyre_build_store(b, to, lane, make(b, operands, user));
    REQUIRE_OK(vyre_builder_finish(b, &program, &diag), &diag);
    vyre_builder_destroy(b);
    vyre_ref_args args = {.program = program, .memory = memory, .grid = {(count + 63) / 64, 1, 1}};
    vyre_ref_result ran;
    REQUIRE_OK(vyre_ref_execute(&args, NULL, &ran, &diag), &diag);
    ops_unpack(result, bytes[decls], count, out);
    vyre_program_release(program);
}

/* user: the vyre_expr_op. */
static inline vyre_expr ops_make_op(vyre_builder *b, const vyre_expr operands[3],
                                    const void *user) {
    const vyre_expr_op *op = user;
    return vyre_build_op(b, *op, operands[0], operands[1], operands[2]);
}

static inline bool ops_is_nan(vyre_type type, uint64_t bits) {
    return type == VYRE_F32   ? (bits & 0x7fffffff) > 0x7f800000
           : type == VYRE_F64 ? (bits & 0x7fffffffffffffff) > 0x7ff0000000000000
                              : false;
}
/* Equal results: the same bits, or both NaN. */
static inline bool ops_same(vyre_type type, uint64_t a, uint64_t b) {
    return a == b || (ops_is_nan(type, a) && ops_is_nan(type, b));
}

#endif
