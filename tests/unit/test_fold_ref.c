/* The two statements of what operators mean, the folder and the reference backend, against each
 * other: every operator on every type it takes, every cast, on edge values and random ones. */
#include "harness/run.h"
#include <math.h>

#include "ir/fold.h"

enum { EDGES = 14, MOST = 4096 };

typedef struct batch {
    vyre_builder *b;
    vyre_decl out;
    uint32_t count;
    vyre_type type; /* of the results */
    uint64_t operands[MOST][3];
} batch;

static uint64_t edge(vyre_type type, uint32_t i, uint64_t *seed) {
    static const uint64_t integers[] = {0,
                                        1,
                                        2,
                                        31,
                                        33,
                                        0x7fffffff,
                                        0x80000000,
                                        UINT32_MAX,
                                        UINT64_C(1) << 60 | UINT64_C(1) << 52 | 1,
                                        INT64_MAX,
                                        UINT64_C(1) << 63,
                                        UINT64_MAX};
    static const double reals[] = {0,
                                   -0.0,
                                   1,
                                   -1.5,
                                   65519.99999,
                                   65520,
                                   5.9604644775390625e-8,
                                   2.98023223876953125e-8,
                                   3.4e38,
                                   1e-40,
                                   -2147483649.0,
                                   1e300};
    uint64_t bits = test_random(seed);
    if (type == VYRE_F32 || type == VYRE_F64) {
        double value = i < 12 ? reals[i] : i == 12 ? (double)NAN : (double)INFINITY;
        float narrow = (float)value;
        uint32_t word;
        memcpy(&word, &narrow, sizeof word);
        if (type == VYRE_F64) {
            memcpy(&bits, &value, sizeof bits);
        } else {
            bits = word;
        }
        return bits;
    }
    bits = i < 12 ? integers[i] : bits;
    return type == VYRE_BOOL ? bits & 1 : vyre_type_size(type) == 4 ? (uint32_t)bits : bits;
}

static void begin(batch *to) {
    REQUIRE_OK(vyre_builder_create(NULL, "p", &to->b), NULL);
    vyre_build_elements(to->b, vyre_build_size(to->b, 1));
    to->out = VYRE_NONE;
    to->count = 0;
}

/* Stores the value of the expression and remembers its operands. */
static void add(batch *to, vyre_expr value, const uint64_t *operands) {
    if (to->out == VYRE_NONE) {
        to->type = vyre_builder_expr_type(to->b, value);
        to->out = vyre_build_memory(to->b, VYRE_OUT, "o", to->type, vyre_build_size(to->b, MOST));
    }
    REQUIRE(to->count < MOST);
    memcpy(to->operands[to->count], operands, sizeof to->operands[0]);
    vyre_build_store(to->b, to->out, vyre_build_u32(to->b, to->count++), value);
}

static bool is_nan(vyre_type type, uint64_t bits) {
    return type == VYRE_F32   ? (bits & 0x7fffffff) > 0x7f800000
           : type == VYRE_F64 ? (bits << 1) > UINT64_C(0xffe0000000000000)
                              : false;
}

static void compare(batch *to, const char *what) {
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(to->b, &p, &diag), &diag);
    vyre_builder_destroy(to->b);
    run_result r = run_program("ref", p, NULL, 0, NULL);
    REQUIRE_OK(r.status, &r.diag);
    const vyre_program_view *v = vyre_program_get(p);
    size_t size = vyre_type_size(to->type);
    for (uint32_t i = 0; i < to->count; i++) {
        uint64_t folded = 0, ran = 0;
        memcpy(&ran, (const char *)r.outputs[0].data + i * size, size);
        REQUIRE(vyre_fold(v, v->stmts[v->entry + i].arg[1], to->operands[i], &folded));
        if (folded != ran && !(is_nan(to->type, folded) && is_nan(to->type, ran))) {
            test_fail(__FILE__, __LINE__,
                      "%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": folded 0x%" PRIx64
                      ", ref 0x%" PRIx64,
                      what, to->operands[i][0], to->operands[i][1], to->operands[i][2], folded,
                      ran);
        }
    }
    run_finish(&r);
    vyre_program_release(p);
}

/* Type of operand k of an op whose first (for select: second) operand has the type. */
static vyre_type operand_type(const vyre_expr_info *info, uint32_t k, vyre_type type) {
    return info->operands == VYRE_OPERANDS_SELECT && k == 0 ? VYRE_BOOL : type;
}

TEST(operators_mean_the_same_to_folder_and_ref) {
    static batch to;
    uint64_t seed = 1;
    for (int op = VYRE_EXPR_NEG; op < VYRE_EXPR_COUNT; op++) {
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)op);
        bool selects = info->operands == VYRE_OPERANDS_SELECT;
        for (int t = VYRE_BOOL; t <= VYRE_F64; t++) {
            if (info->operands == VYRE_OPERANDS_ELEMENTARY ||
                !vyre_operands_accept((vyre_operands)info->operands, selects, (vyre_type)t)) {
                continue;
            }
            begin(&to);
            uint32_t all = info->arity == 1 ? EDGES : info->arity == 2 ? EDGES * EDGES : MOST;
            for (uint32_t i = 0; i < all; i++) {
                uint64_t bits[3] = {0};
                vyre_expr in[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
                for (uint32_t k = 0, rest = i; k < info->arity; k++, rest /= EDGES) {
                    vyre_type type = operand_type(info, k, (vyre_type)t);
                    bits[k] = edge(type, rest % EDGES, &seed);
                    in[k] = vyre_build_literal(to.b, type, bits[k]);
                }
                add(&to, vyre_build_op(to.b, (vyre_expr_op)op, in[0], in[1], in[2]), bits);
            }
            char what[64];
            (void)snprintf(what, sizeof what, "%s on %s", info->name, vyre_type_name((vyre_type)t));
            compare(&to, what);
        }
    }
}

TEST(casts_mean_the_same_to_folder_and_ref) {
    static batch to;
    uint64_t seed = 2;
    for (int from = VYRE_BOOL; from <= VYRE_F64; from++) {
        for (int target = VYRE_BOOL; target < VYRE_TYPE_COUNT; target++) {
            begin(&to);
            for (uint32_t i = 0; i < 400; i++) {
                uint64_t bits[3] = {edge((vyre_type)from, i % EDGES, &seed)};
                if (i >= EDGES && from != VYRE_BOOL) { /* any bits, any exponent */
                    bits[0] = test_random(&seed) >> test_random_below(&seed, 64);
                    bits[0] = vyre_type_size((vyre_type)from) == 4 ? (uint32_t)bits[0] : bits[0];
                }
                vyre_expr value = vyre_build_literal(to.b, (vyre_type)from, bits[0]);
                add(&to, vyre_build_cast(to.b, (vyre_type)target, value), bits);
            }
            char what[64];
            (void)snprintf(what, sizeof what, "%s to %s", vyre_type_name((vyre_type)from),
                           vyre_type_name((vyre_type)target));
            compare(&to, what);
        }
    }
}
