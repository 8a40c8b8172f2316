/* The three statements of what operators mean, the folder, the reference backend and the evaluation
 * of scalars, against each other: every operator on every type it takes, every cast, on edge values
 * and random ones. */
#include "harness/run.h"
#include <math.h>

#include "ir/fold.h"
#include "kit/evaluate.h"
#include "split/module.h"

enum { EDGES = 14, MOST = 4096 };

typedef struct batch {
    vyre_builder *b;
    vyre_decl out;
    uint32_t count;
    uint32_t stmts;
    vyre_type type;       /* of the results */
    vyre_stmt lets[MOST]; /* that bind them */
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
    to->count = to->stmts = 0;
}

/* A literal, or sometimes a variable with its value. */
static vyre_expr operand(batch *to, vyre_type type, uint64_t bits, bool is_variable) {
    char name[32];
    vyre_expr literal = vyre_build_literal(to->b, type, bits);
    if (!is_variable) {
        return literal;
    }
    (void)snprintf(name, sizeof name, "v%" PRIu32, to->stmts++);
    return vyre_build_var(to->b, vyre_build_let(to->b, name, literal));
}

/* Stores the value of the expression and remembers its operands. */
static void add(batch *to, vyre_expr value, const uint64_t *operands) {
    if (to->out == VYRE_NONE) {
        to->type = vyre_builder_expr_type(to->b, value);
        to->out = vyre_build_memory(to->b, VYRE_OUT, "o", to->type, vyre_build_size(to->b, MOST));
    }
    REQUIRE(to->count < MOST);
    memcpy(to->operands[to->count], operands, sizeof to->operands[0]);
    char name[32];
    (void)snprintf(name, sizeof name, "v%" PRIu32, to->stmts);
    vyre_expr result = vyre_build_var(to->b, vyre_build_let(to->b, name, value));
    to->lets[to->count] = to->stmts;
    to->stmts += 2;
    vyre_build_store(to->b, to->out, vyre_build_u32(to->b, to->count++), result);
}

/* The values of all variables, as of a control program that binds them in their order. Whoever
 * calls frees them. */
static uint64_t *evaluate(vyre_program *p) {
    const vyre_program_view *v = vyre_program_get(p);
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_module module = {.control = p};
    const vyre_launch source = {0};
    const vyre_module_launch pass = {.module = &module, .source = &source};
    const vyre_position at = {.module = &module,
                              .words = calloc((size_t)v->var_count + 16, sizeof(uint64_t))};
    for (vyre_stmt s = v->entry; s < v->stmt_count; s++) {
        if (v->stmts[s].op == VYRE_STMT_LET) {
            REQUIRE(v->stmts[s].end_expr - v->stmts[s].first_expr <= 16);
            REQUIRE(vyre_control_code_add(&module.code, v, s, v->var_count, &a));
        }
    }
    REQUIRE(at.words);
    REQUIRE_OK(vyre_evaluate(&at, &pass, NULL, 0, module.code.list.count, NULL), NULL);
    vyre_control_code_finish(&module.code, &a);
    return at.words;
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
    uint64_t *evaluated = evaluate(p);
    for (uint32_t i = 0; i < to->count; i++) {
        uint64_t folded = 0, ran = 0;
        const vyre_stmt_node *let = &v->stmts[v->entry + to->lets[i]];
        memcpy(&ran, (const char *)r.outputs[0].data + i * size, size);
        REQUIRE(vyre_fold(v, let->arg[0], to->operands[i], &folded));
        if (folded != ran && !(is_nan(to->type, folded) && is_nan(to->type, ran))) {
            test_fail(__FILE__, __LINE__,
                      "%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": folded 0x%" PRIx64
                      ", ref 0x%" PRIx64,
                      what, to->operands[i][0], to->operands[i][1], to->operands[i][2], folded,
                      ran);
        }
        if (folded != evaluated[let->var]) {
            test_fail(__FILE__, __LINE__,
                      "%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": folded 0x%" PRIx64
                      ", evaluated 0x%" PRIx64,
                      what, to->operands[i][0], to->operands[i][1], to->operands[i][2], folded,
                      evaluated[let->var]);
        }
    }
    free(evaluated);
    run_finish(&r);
    vyre_program_release(p);
}

/* Type of operand k of an op whose first (for select: second) operand has the type. */
static vyre_type operand_type(const vyre_expr_info *info, uint32_t k, vyre_type type) {
    return info->operands == VYRE_OPERANDS_SELECT && k == 0 ? VYRE_BOOL : type;
}

TEST(operators_mean_the_same_to_folder_ref_and_scalars) {
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
                    in[k] = operand(&to, type, bits[k], (i + k) % 3 == 0);
                }
                add(&to, vyre_build_op(to.b, (vyre_expr_op)op, in[0], in[1], in[2]), bits);
            }
            char what[64];
            (void)snprintf(what, sizeof what, "%s on %s", info->name, vyre_type_name((vyre_type)t));
            compare(&to, what);
        }
    }
}

TEST(casts_mean_the_same_to_folder_ref_and_scalars) {
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
                vyre_expr value = operand(&to, (vyre_type)from, bits[0], i % 2);
                add(&to, vyre_build_cast(to.b, (vyre_type)target, value), bits);
            }
            char what[64];
            (void)snprintf(what, sizeof what, "%s to %s", vyre_type_name((vyre_type)from),
                           vyre_type_name((vyre_type)target));
            compare(&to, what);
        }
    }
}
