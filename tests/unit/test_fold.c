/* Sizes and constant folding, and the rewriter's identity. */
#include "harness/test.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/size.h"

static bool len_is_ten(void *user, vyre_decl decl, uint64_t *out) {
    (void)user;
    *out = 10;
    return decl == 0;
}

/* A program with one buffer whose size is made by `make`; returns the evaluation. */
static vyre_size_result size_of(vyre_expr (*make)(vyre_builder *b, vyre_decl len), uint64_t *out) {
    vyre_builder *b = NULL;
    vyre_program *p = NULL;
    REQUIRE_OK(vyre_builder_create(NULL, "p", &b), NULL);
    vyre_decl in = vyre_build_memory(b, VYRE_IN, "a", VYRE_U32, VYRE_NONE);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, VYRE_NONE);
    vyre_build_decl_size(b, o, make(b, in));
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(b, &p, &diag), &diag);
    vyre_builder_destroy(b);
    vyre_size_env env = {.len = len_is_ten};
    const vyre_program_view *v = vyre_program_get(p);
    vyre_decl unknown = VYRE_NONE;
    vyre_size_result result = vyre_size_evaluate(v, v->decls[1].size, &env, out, &unknown);
    vyre_program_release(p);
    return result;
}

static vyre_expr op2(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}
static vyre_expr minus_one(vyre_builder *b, vyre_decl a) {
    return op2(b, VYRE_EXPR_SUB, vyre_build_len(b, a), vyre_build_u32(b, 1));
}
static vyre_expr negative(vyre_builder *b, vyre_decl a) {
    return op2(b, VYRE_EXPR_SUB, vyre_build_len(b, a), vyre_build_u32(b, 11));
}
static vyre_expr by_zero(vyre_builder *b, vyre_decl a) {
    return op2(b, VYRE_EXPR_DIV, vyre_build_len(b, a), vyre_build_u32(b, 0));
}
static vyre_expr beyond(vyre_builder *b, vyre_decl a) {
    vyre_expr big = vyre_build_size(b, INT64_MAX);
    return op2(b, VYRE_EXPR_MUL, vyre_build_len(b, a), op2(b, VYRE_EXPR_MUL, big, big));
}
static vyre_expr back_in_range(vyre_builder *b, vyre_decl a) {
    vyre_expr big = op2(b, VYRE_EXPR_SHL, vyre_build_len(b, a), vyre_build_u32(b, 80));
    return op2(b, VYRE_EXPR_DIV, big,
               op2(b, VYRE_EXPR_SHL, vyre_build_size(b, 1), vyre_build_u32(b, 79)));
}
static vyre_expr bad_operator(vyre_builder *b, vyre_decl a) {
    return op2(b, VYRE_EXPR_BIT_AND, vyre_build_len(b, a), vyre_build_u32(b, 1));
}
static vyre_expr unknown_len(vyre_builder *b, vyre_decl a) {
    return vyre_build_len(b, a + 1);
}

TEST(sizes_are_exact_integers) {
    uint64_t n = 0;
    CHECK_EQ(size_of(minus_one, &n), VYRE_SIZE_OK);
    CHECK_EQ(n, 9);
    CHECK_EQ(size_of(negative, &n), VYRE_SIZE_RANGE);
    CHECK_EQ(size_of(by_zero, &n), VYRE_SIZE_DIVISION);
    CHECK_EQ(size_of(beyond, &n), VYRE_SIZE_RANGE);
    CHECK_EQ(size_of(back_in_range, &n), VYRE_SIZE_OK);
    CHECK_EQ(n, 20);
    CHECK_EQ(size_of(bad_operator, &n), VYRE_SIZE_OPERATOR);
    CHECK_EQ(size_of(unknown_len, &n), VYRE_SIZE_UNKNOWN);
}

TEST(casts_saturate_round_and_keep_low_bits) {
    static const struct {
        vyre_type from, to;
        uint64_t bits, want;
    } rows[] = {
        {VYRE_F32, VYRE_U32, 0x4f800000, 0xffffffff}, /* 2^32 */
        {VYRE_F32, VYRE_U32, 0x7fc00000, 0},          /* NaN */
        {VYRE_F32, VYRE_I32, 0xcf000001, 0x80000000}, /* below -2^31 */
        {VYRE_F32, VYRE_I32, 0xbfc00000, 0xffffffff}, /* -1.5 -> -1 */
        {VYRE_F32, VYRE_I8, 0x43480000, 127},         /* 200 */
        {VYRE_F32, VYRE_U8, 0xbf800000, 0},           /* -1 */
        {VYRE_F64, VYRE_U64, 0x43f0000000000000, UINT64_MAX},
        {VYRE_U32, VYRE_I8, 0x180, 0xffffff80},
        {VYRE_U32, VYRE_U16, 0x12345678, 0x5678},
        {VYRE_I32, VYRE_I64, 0xffffffff, UINT64_MAX},
        {VYRE_U32, VYRE_I64, 0xffffffff, 0xffffffff},
        {VYRE_U64, VYRE_F32, UINT64_MAX, 0x5f800000},
        {VYRE_U32, VYRE_F32, 16777217, 0x4b800000},   /* ties to even */
        {VYRE_F32, VYRE_F16, 0x477ff000, 0x7f800000}, /* 65520 rounds to inf */
        {VYRE_F32, VYRE_F16, 0x477fefff, 0x477fe000},
        {VYRE_F32, VYRE_F16, 0x33000000, 0},           /* 2^-25: tie to zero */
        {VYRE_F32, VYRE_F16, 0x33000001, 0x33800000},  /* above: smallest subnormal */
        {VYRE_F32, VYRE_BF16, 0x3f808000, 0x3f800000}, /* tie to even */
        {VYRE_F32, VYRE_BF16, 0x3f818000, 0x3f820000},
        {VYRE_F32, VYRE_BOOL, 0x80000000, 0}, /* -0 */
        {VYRE_BOOL, VYRE_F64, 1, 0x3ff0000000000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t got = vyre_fold_cast(rows[i].from, rows[i].to, rows[i].bits);
        if (got != rows[i].want) {
            test_fail(__FILE__, __LINE__, "row %zu: got 0x%" PRIx64 ", want 0x%" PRIx64, i, got,
                      rows[i].want);
        }
    }
}

TEST(consts_fold_through_consts) {
    vyre_builder *b = NULL;
    REQUIRE_OK(vyre_builder_create(NULL, "p", &b), NULL);
    vyre_decl n = vyre_build_const(b, "N", vyre_build_u32(b, 0xfffffffe));
    vyre_decl m =
        vyre_build_const(b, "M", op2(b, VYRE_EXPR_ADD, vyre_build_ref(b, n), vyre_build_u32(b, 5)));
    vyre_decl self = vyre_build_const(b, "S", vyre_build_u32(b, 0));
    vyre_build_decl_value(b, self, vyre_build_ref(b, self));
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(b, &p, &diag), &diag);
    vyre_builder_destroy(b);
    uint64_t bits = 0;
    CHECK(vyre_fold_const(vyre_program_get(p), m, &bits));
    CHECK_EQ(bits, 3);
    CHECK(!vyre_fold_const(vyre_program_get(p), self, &bits));
    vyre_program_release(p);
}

static vyre_status copy_program(const vyre_allocator *a, const vyre_program *source,
                                vyre_program **out) {
    vyre_builder *b = NULL;
    vyre_status status = vyre_builder_create(a, vyre_program_get(source)->name, &b);
    vyre_rewriter rw;
    if (status == VYRE_OK) {
        status = vyre_rewriter_init(&rw, source, b, a);
        if (status == VYRE_OK) {
            vyre_rewrite_decls(&rw);
            vyre_rewrite_header(&rw);
            vyre_rewrite_fns(&rw);
            vyre_rewrite_range(&rw, rw.p->entry, rw.p->stmt_count);
            status = vyre_builder_finish(b, out, NULL);
            vyre_rewriter_finish(&rw);
        }
    }
    vyre_builder_destroy(b);
    return status;
}

static vyre_program *everything(void) {
    vyre_builder *b = NULL;
    REQUIRE_OK(vyre_builder_create(NULL, "p", &b), NULL);
    vyre_build_workgroup(b, 8, 2, 1);
    vyre_build_grid(b, vyre_build_u32(b, 2), vyre_build_u32(b, 3), VYRE_NONE);
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, VYRE_NONE);
    vyre_decl in = vyre_build_memory(b, VYRE_IN, "a", VYRE_U32, VYRE_NONE);
    vyre_build_decl_size(b, o, vyre_build_len(b, in));
    const char *names[] = {"v"};
    vyre_type types[] = {VYRE_U32};
    vyre_fn f = vyre_build_fn(b, "f", names, types, 1, VYRE_U32);
    vyre_build_fn_opaque(b, f, &in, 1, &o, 1);
    vyre_build_fn_begin(b, f);
    vyre_build_return(b,
                      vyre_build_load(b, in, vyre_build_var(b, vyre_build_fn_argument(b, f, 0))));
    vyre_build_fn_end(b);
    vyre_expr zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
    vyre_build_for(b, "i", zero, vyre_build_u32(b, 4), one);
    vyre_build_if(b, vyre_build_bool(b, true));
    vyre_build_break(b);
    vyre_build_else(b);
    vyre_build_continue(b);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_while(b, zero);
    vyre_build_end(b);
    vyre_var r = vyre_build_call(b, "r", f, &one, 1);
    vyre_build_assign(b, r, vyre_build_cast(b, VYRE_U8, vyre_build_var(b, r)));
    vyre_build_atomic(b, NULL, VYRE_ATOMIC_CAS, o, zero, one, vyre_build_var(b, r), VYRE_ACQUIRE);
    vyre_build_subgroup(b, "s", VYRE_SUBGROUP_SHUFFLE, one, zero);
    vyre_build_async_load(b, in, o, zero, one, "t");
    vyre_build_async_wait(b, "t");
    vyre_build_region(b, "r");
    vyre_build_barrier(b, VYRE_ACQ_REL);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_all_reduce(b, o, VYRE_COLLECTIVE_MAX, VYRE_NONE);
    vyre_build_broadcast(b, o, zero, one);
    vyre_build_trap(b, "x", one);
    vyre_build_exit(b);
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(b, &p, &diag), &diag);
    vyre_builder_destroy(b);
    return p;
}

static vyre_status copy_everything(const vyre_allocator *a, void *user) {
    vyre_program *copy = NULL;
    vyre_status status = copy_program(a, user, &copy);
    vyre_program_release(copy);
    return status;
}

TEST(rewriter_copies_a_program_to_an_equal_one) {
    vyre_program *p = everything(), *copy = NULL;
    vyre_allocator a = vyre_allocator_system();
    REQUIRE_OK(copy_program(&a, p, &copy), NULL);
    CHECK(vyre_program_equal(p, copy));
    vyre_program_release(copy);
    CHECK(test_every_allocation(copy_everything, p, 1000) > 10);
    vyre_program_release(p);
}
