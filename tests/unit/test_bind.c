/* Binding plan and launch geometry: sizes, params, orders of inputs and outputs, grids. */
#include "dispatch/bind.h"
#include "dispatch/geometry.h"
#include "harness/build.h"
#include "vyre/dispatch.h"

static const char bytes[4096];
static vyre_input input(size_t size) {
    return (vyre_input){bytes, size};
}

static vyre_status sizes(const vyre_program *p, const vyre_input *in, uint32_t n,
                         const vyre_dispatch_options *o, uint32_t *counts, uint32_t grid[3],
                         vyre_diag *diag) {
    return vyre_bind_sizes(p, in, n, o, counts, grid, NULL, diag);
}

/* 6.6 static U32x2: host 4 bytes error, 8 ok, 12 error. */
TEST(a_declared_input_has_exactly_its_size) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_build_memory(b, VYRE_INOUT, "state", VYRE_U32, vyre_build_size(b, 2));
    vyre_program *p = build_finish(b);
    vyre_diag diag = {0};
    uint32_t counts[1] = {77}, grid[3];
    vyre_input in = input(4);
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "\"state\"");
    CHECK_HAS(diag.message, "8 bytes expected, 4 given");
    CHECK_HAS(diag.fix, "exactly 8 bytes");
    CHECK_EQ(counts[0], 77);
    in.size = 12;
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
    in.size = 8;
    REQUIRE_OK(sizes(p, &in, 1, NULL, counts, grid, &diag), &diag);
    CHECK_EQ(counts[0], 2);
    /* Without data only the size is asked for. */
    in = (vyre_input){0};
    REQUIRE_OK(sizes(p, &in, 1, NULL, counts, grid, &diag), &diag);
    CHECK_EQ(counts[0], 2);
    in.size = 8;
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_program_release(p);
}

/* 6.6 count 0 with 12 bytes: element count 3. */
TEST(a_runtime_sized_input_has_what_the_caller_gives) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_build_memory(b, VYRE_INOUT, "x", VYRE_U32, VYRE_NONE);
    vyre_program *p = build_finish(b);
    vyre_diag diag = {0};
    uint32_t counts[1], grid[3];
    vyre_input in = input(12);
    REQUIRE_OK(sizes(p, &in, 1, NULL, counts, grid, &diag), &diag);
    CHECK_EQ(counts[0], 3);
    in.size = 13;
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "\"x\"");
    CHECK_HAS(diag.message, "multiple of 4");
    in.size = (size_t)UINT32_MAX * 4 + 4;
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
    in.size = 0;
    REQUIRE_OK(sizes(p, &in, 1, NULL, counts, grid, &diag), &diag);
    CHECK_EQ(counts[0], 0);
    CHECK_EQ(grid[0], 0);
    vyre_program_release(p);
}

/* 6.6 declaration order decides: in, out, in, out. */
TEST(inputs_and_outputs_are_in_declaration_order) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_build_memory(b, VYRE_IN, "a", VYRE_U32, VYRE_NONE);
    vyre_build_memory(b, VYRE_OUT, "b", VYRE_U32, vyre_build_size(b, 4));
    vyre_build_memory(b, VYRE_SCRATCH, "s", VYRE_U8, vyre_build_size(b, 5));
    vyre_build_param(b, "k", VYRE_U32, vyre_build_u32(b, 9));
    vyre_build_memory(b, VYRE_IN, "c", VYRE_U32, VYRE_NONE);
    vyre_build_memory(b, VYRE_INOUT, "d", VYRE_F64, VYRE_NONE);
    vyre_build_memory(b, VYRE_WORKGROUP, "w", VYRE_U16, vyre_build_size(b, 6));
    vyre_program *p = build_finish(b);
    vyre_allocator a = vyre_allocator_system();
    vyre_input in[] = {{bytes, 12}, {bytes, 8}, {bytes, 24}};
    vyre_bind_args args = {.inputs = in, .input_count = 3};
    vyre_binding binding;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_binding_init(&binding, p, &args, &a, &diag), &diag);
    REQUIRE(binding.input_count == 3 && binding.output_count == 2);
    CHECK_EQ(binding.inputs[0], 0);
    CHECK_EQ(binding.inputs[1], 4);
    CHECK_EQ(binding.inputs[2], 5);
    CHECK_EQ(binding.outputs[0], 1);
    CHECK_EQ(binding.outputs[1], 5);
    const uint32_t counts[] = {3, 4, 5, 0, 2, 3, 6};
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_EQ(binding.counts[i], counts[i]);
    }
    CHECK_EQ(binding.values[3], 9);
    CHECK_EQ(vyre_binding_bytes(&binding, 2), 5);
    CHECK_EQ(vyre_binding_bytes(&binding, 6), 12);
    vyre_binding_finish(&binding);
    args.input_count = 2;
    CHECK_STATUS(vyre_binding_init(&binding, p, &args, &a, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "input 3 of 3, \"d\", is missing");
    args.input_count = 4;
    CHECK_STATUS(vyre_binding_init(&binding, p, &args, &a, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "4 inputs were given");
    vyre_program_release(p);
}

TEST(sizes_refer_to_lengths_params_and_consts) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_decl x = vyre_build_memory(b, VYRE_IN, "x", VYRE_U32, VYRE_NONE);
    vyre_decl k = vyre_build_param(b, "k", VYRE_I32, vyre_build_i32(b, 1));
    vyre_decl n = vyre_build_const(b, "N", vyre_build_u32(b, 100));
    vyre_decl bb =
        vyre_build_memory(b, VYRE_OUT, "b", VYRE_U32,
                          build_two(b, VYRE_EXPR_SUB, vyre_build_len(b, x), vyre_build_ref(b, k)));
    vyre_decl a = vyre_build_memory(
        b, VYRE_SCRATCH, "a", VYRE_U32,
        build_two(b, VYRE_EXPR_MUL, vyre_build_size(b, 2), vyre_build_len(b, bb)));
    vyre_decl c =
        vyre_build_memory(b, VYRE_SCRATCH, "c", VYRE_U8,
                          build_two(b, VYRE_EXPR_ADD, vyre_build_len(b, a), vyre_build_ref(b, n)));
    vyre_program *p = build_finish(b);
    vyre_diag diag = {0};
    uint32_t counts[6], grid[3];
    vyre_input in = input(40);
    REQUIRE_OK(sizes(p, &in, 1, NULL, counts, grid, &diag), &diag);
    CHECK_EQ(counts[bb], 9);
    CHECK_EQ(counts[a], 18);
    CHECK_EQ(counts[c], 118);
    vyre_setting minus = {"k", VYRE_I32, (uint32_t)-5};
    vyre_dispatch_options o = {.settings = &minus, .setting_count = 1};
    REQUIRE_OK(sizes(p, &in, 1, &o, counts, grid, &diag), &diag);
    CHECK_EQ(counts[bb], 15);
    in.size = 0; /* 0 - 1 */
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "the size of \"b\" is negative");
    vyre_program_release(p);
}

/* Declarations that need later ones, and each other. */
static vyre_program *forward(bool is_cycle) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_decl first = vyre_build_memory(b, VYRE_OUT, "first", VYRE_U32, VYRE_NONE);
    vyre_decl second = vyre_build_memory(b, VYRE_IN, "second", VYRE_U32, VYRE_NONE);
    vyre_decl third = vyre_build_memory(b, VYRE_SCRATCH, "third", VYRE_U32, VYRE_NONE);
    vyre_build_decl_size(
        b, first, build_two(b, VYRE_EXPR_ADD, vyre_build_len(b, third), vyre_build_len(b, second)));
    vyre_build_decl_size(b, third, vyre_build_len(b, is_cycle ? first : second));
    return build_finish(b);
}

TEST(sizes_may_look_ahead_but_not_in_circles) {
    vyre_diag diag = {0};
    uint32_t counts[3], grid[3];
    vyre_input in = input(12);
    vyre_program *p = forward(false);
    REQUIRE_OK(sizes(p, &in, 1, NULL, counts, grid, &diag), &diag);
    CHECK_EQ(counts[0], 6);
    CHECK_EQ(counts[2], 3);
    vyre_program_release(p);
    p = forward(true);
    CHECK_STATUS(sizes(p, &in, 1, NULL, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "needs it in turn");
    vyre_program_release(p);
}

static vyre_status size_of(vyre_expr_op o, int64_t x, int64_t y, uint32_t *count, vyre_diag *diag) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_build_memory(b, VYRE_OUT, "o", VYRE_U8,
                      build_two(b, o, vyre_build_size(b, x), vyre_build_size(b, y)));
    vyre_build_grid(b, vyre_build_size(b, 1), VYRE_NONE, VYRE_NONE);
    vyre_program *p = build_finish(b);
    uint32_t grid[3];
    vyre_status status = sizes(p, NULL, 0, NULL, count, grid, diag);
    vyre_program_release(p);
    return status;
}

TEST(sizes_are_exact_integers) {
    vyre_diag diag = {0};
    uint32_t count = 0;
    REQUIRE_OK(size_of(VYRE_EXPR_SUB, UINT32_MAX, 0, &count, &diag), &diag);
    CHECK_EQ(count, UINT32_MAX);
    CHECK_STATUS(size_of(VYRE_EXPR_ADD, UINT32_MAX, 1, &count, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "more than 4294967295");
    CHECK_STATUS(size_of(VYRE_EXPR_SUB, 1, 2, &count, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_STATUS(size_of(VYRE_EXPR_DIV, 1, 0, &count, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, "divides by zero");
    CHECK_STATUS(size_of(VYRE_EXPR_LT, 1, 0, &count, &diag), VYRE_INVALID_INPUT, &diag);
    /* A detour through values far beyond u32 and below zero is fine. */
    REQUIRE_OK(size_of(VYRE_EXPR_DIV, INT64_MAX, INT64_MAX / 3, &count, &diag), &diag);
    CHECK_EQ(count, 3);
}

TEST(params_need_a_value_of_their_type) {
    vyre_builder *b = build_begin("p", 1, 1, 1);
    vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 1));
    vyre_build_param(b, "scale", VYRE_F32, VYRE_NONE);
    vyre_build_param(b, "flag", VYRE_BOOL, vyre_build_bool(b, true));
    vyre_program *p = build_finish(b);
    struct {
        vyre_setting set[2];
        uint32_t count;
        const char *message;
    } bad[] = {
        {{{0}}, 0, "param \"scale\" : f32 has no default"},
        {{{"scale", VYRE_F64, 0}}, 1, "param \"scale\" is f32"},
        {{{"scale", VYRE_F32, UINT64_C(1) << 32}}, 1, "not the bits of a f32"},
        {{{"scale", VYRE_F32, 1}, {"scale", VYRE_F32, 1}}, 2, "set twice"},
        {{{"scale", VYRE_F32, 1}, {"flag", VYRE_BOOL, 2}}, 2, "not the bits of a bool"},
        {{{"scale", VYRE_F32, 1}, {"flga", VYRE_BOOL, 1}}, 2, "no param \"flga\""},
        {{{"scale", VYRE_F32, 1}, {"o", VYRE_U32, 1}}, 2, "no param \"o\""},
    };
    uint32_t counts[3], grid[3];
    vyre_diag diag = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        vyre_dispatch_options o = {.settings = bad[i].set, .setting_count = bad[i].count};
        CHECK_STATUS(sizes(p, NULL, 0, &o, counts, grid, &diag), VYRE_INVALID_INPUT, &diag);
        CHECK_HAS(diag.message, bad[i].message);
        if (i == 5) {
            CHECK_STR(diag.fix, "did you mean \"flag\"?");
        }
    }
    vyre_setting good = {"scale", VYRE_F32, 0x3f800000};
    vyre_bind_args args = {.settings = &good, .setting_count = 1};
    vyre_allocator a = vyre_allocator_system();
    vyre_binding binding;
    REQUIRE_OK(vyre_binding_init(&binding, p, &args, &a, &diag), &diag);
    CHECK_EQ(binding.values[1], 0x3f800000);
    CHECK_EQ(binding.values[2], 1);
    vyre_binding_finish(&binding);
    vyre_program_release(p);
}

TEST(returned_ranges_lie_inside) {
    for (uint32_t end = 4; end <= 9; end++) {
        vyre_builder *b = build_begin("p", 1, 1, 1);
        vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 2));
        vyre_build_output_range(b, o, 3, end);
        vyre_program *p = build_finish(b);
        vyre_bind_args args = {0};
        vyre_allocator a = vyre_allocator_system();
        vyre_binding binding;
        vyre_diag diag = {0};
        vyre_status status = vyre_binding_init(&binding, p, &args, &a, &diag);
        CHECK_STATUS(status, end <= 8 ? VYRE_OK : VYRE_INVALID_INPUT, &diag);
        if (status == VYRE_OK) {
            uint64_t from = 0;
            CHECK_EQ(vyre_binding_returned(&binding, 0, &from), end - 3);
            CHECK_EQ(from, 3);
            vyre_binding_finish(&binding);
        }
        vyre_program_release(p);
    }
}

/* Geometry */

typedef struct grid_case {
    uint32_t workgroup[3];
    vyre_clause clause;
    int64_t clause_values[3]; /* below 0 in y, z: left out */
    vyre_dispatch_options options;
    uint32_t outputs[2]; /* lengths of two out buffers; 0: not there */
    vyre_status want;
    uint32_t grid[3];
    vyre_decl from;
    const char *message;
} grid_case;

#define ELEMENTS(count)      .clause = VYRE_CLAUSE_ELEMENTS, .clause_values = {count, -1, -1}
#define GRID(...)            .clause = VYRE_CLAUSE_GRID, .clause_values = {__VA_ARGS__}
#define NO_CLAUSE            .clause = VYRE_CLAUSE_NONE, .clause_values = {0}
#define RUNS(from, ...)      VYRE_OK, {__VA_ARGS__}, from, NULL
#define FAILS(status, words) status, {0}, 0, words

static const grid_case grid_cases[] = {
    /* The caller's grid comes first, then the caller's elements, then the clause. */
    {{64, 1, 1},
     ELEMENTS(100),
     {.has_grid = true, .grid = {7, 2, 3}, .has_elements = true, .elements = 1},
     {10, 0},
     RUNS(VYRE_NONE, 7, 2, 3)},
    {{64, 1, 1},
     ELEMENTS(100),
     {.has_elements = true, .elements = 129},
     {10, 0},
     RUNS(VYRE_NONE, 3, 1, 1)},
    {{64, 1, 1}, ELEMENTS(128), {0}, {10, 0}, RUNS(VYRE_NONE, 2, 1, 1)},
    {{64, 1, 1}, GRID(5, 6, -1), {0}, {10, 0}, RUNS(VYRE_NONE, 5, 6, 1)},
    /* Else the largest returned buffer; the first of equals. */
    {{64, 1, 1}, NO_CLAUSE, {0}, {10, 65}, RUNS(1, 2, 1, 1)},
    {{64, 1, 1}, NO_CLAUSE, {0}, {64, 64}, RUNS(0, 1, 1, 1)},
    {{64, 1, 1}, NO_CLAUSE, {0}, {0, 0}, FAILS(VYRE_INVALID_INPUT, "returns no buffer")},
    /* Along the one active axis, x if there is none. */
    {{1, 8, 1}, NO_CLAUSE, {0}, {17, 0}, RUNS(0, 1, 3, 1)},
    {{1, 1, 8}, ELEMENTS(8), {0}, {17, 0}, RUNS(VYRE_NONE, 1, 1, 1)},
    {{1, 1, 1}, NO_CLAUSE, {0}, {17, 0}, RUNS(0, 17, 1, 1)},
    {{8, 8, 1}, NO_CLAUSE, {0}, {17, 0}, FAILS(VYRE_INVALID_INPUT, "more than one axis")},
    {{8, 1, 8},
     NO_CLAUSE,
     {.has_elements = true, .elements = 5},
     {17, 0},
     FAILS(VYRE_INVALID_INPUT, "more than one axis")},
    {{8, 8, 1}, GRID(2, 3, 4), {0}, {17, 0}, RUNS(VYRE_NONE, 2, 3, 4)},
    /* Zero runs nothing. */
    {{64, 1, 1}, ELEMENTS(0), {0}, {10, 0}, RUNS(VYRE_NONE, 0, 1, 1)},
    {{64, 1, 1}, GRID(4, 0, 4), {0}, {10, 0}, RUNS(VYRE_NONE, 4, 0, 4)},
    {{64, 1, 1}, NO_CLAUSE, {.has_elements = true}, {10, 0}, RUNS(VYRE_NONE, 0, 1, 1)},
    /* Exact, and global ids fit u32. */
    {{64, 1, 1}, ELEMENTS(-1), {0}, {10, 0}, FAILS(VYRE_INVALID_INPUT, "elements clause")},
    {{64, 1, 1}, GRID(INT64_C(1) << 32, -1, -1), {0}, {10, 0}, FAILS(VYRE_LIMIT, "too many")},
    {{1, 1, 1},
     NO_CLAUSE,
     {.has_elements = true, .elements = UINT32_MAX},
     {10, 0},
     RUNS(VYRE_NONE, UINT32_MAX, 1, 1)},
    {{1, 1, 1},
     NO_CLAUSE,
     {.has_elements = true, .elements = UINT64_C(1) << 32},
     {10, 0},
     FAILS(VYRE_LIMIT, "4294967295 groups")},
    {{2, 1, 1},
     NO_CLAUSE,
     {.has_elements = true, .elements = UINT32_MAX},
     {10, 0},
     FAILS(VYRE_LIMIT, "fit u32")},
    {{1, 4, 1},
     NO_CLAUSE,
     {.has_grid = true, .grid = {1, 1u << 30, 1}},
     {10, 0},
     FAILS(VYRE_LIMIT, "fit u32")},
    {{1, 4, 1},
     NO_CLAUSE,
     {.has_grid = true, .grid = {1, (1u << 30) - 1, 1}},
     {10, 0},
     RUNS(VYRE_NONE, 1, (1u << 30) - 1, 1)},
    {{1, 1, 1},
     NO_CLAUSE,
     {.has_grid = true, .grid = {UINT32_MAX, UINT32_MAX, 2}},
     {10, 0},
     FAILS(VYRE_LIMIT, "2^64")},
    /* Another workgroup, for a program that does not depend on it. */
    {{64, 1, 1}, NO_CLAUSE, {.workgroup = {16, 0, 0}}, {33, 0}, RUNS(0, 3, 1, 1)},
    {{64, 1, 1}, NO_CLAUSE, {.workgroup = {4096, 2, 0}}, {33, 0}, FAILS(VYRE_LIMIT, "4096 lanes")},
};

TEST(geometry_table) {
    for (size_t i = 0; i < sizeof grid_cases / sizeof *grid_cases; i++) {
        const grid_case *c = &grid_cases[i];
        vyre_builder *b = build_begin("p", c->workgroup[0], c->workgroup[1], c->workgroup[2]);
        const char *const names[] = {"first", "second"};
        for (int k = 0; k < 2; k++) {
            if (c->outputs[k]) {
                vyre_build_memory(b, VYRE_OUT, names[k], VYRE_U8,
                                  vyre_build_size(b, c->outputs[k]));
            }
        }
        if (c->clause == VYRE_CLAUSE_ELEMENTS) {
            vyre_build_elements(b, vyre_build_size(b, c->clause_values[0]));
        } else if (c->clause == VYRE_CLAUSE_GRID) {
            vyre_expr e[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
            for (int k = 0; k < 3; k++) {
                e[k] =
                    c->clause_values[k] < 0 ? VYRE_NONE : vyre_build_size(b, c->clause_values[k]);
            }
            vyre_build_grid(b, e[0], e[1], e[2]);
        }
        vyre_program *p = build_finish(b);
        uint32_t grid[3] = {0};
        vyre_decl from = 99;
        vyre_diag diag = {0};
        vyre_status status = vyre_bind_sizes(p, NULL, 0, &c->options, NULL, grid, &from, &diag);
        bool right =
            status == c->want &&
            (status != VYRE_OK || (memcmp(grid, c->grid, sizeof grid) == 0 && from == c->from));
        if (!right) {
            test_fail(__FILE__, __LINE__, "case %zu: status %s (%s), grid %u %u %u from %u", i,
                      vyre_status_name(status), diag.message, grid[0], grid[1], grid[2], from);
        }
        if (c->message) {
            CHECK_HAS(diag.message, c->message);
        }
        vyre_program_release(p);
    }
}

/* One program for each way to depend on the shape of workgroups. */
TEST(a_workgroup_that_matters_is_not_overridden) {
    const char *const why[] = {"workgroup memory", "local_id",   "group_id",
                               "num_groups",       "group_size", "subgroups",
                               "barriers",         NULL,         NULL};
    for (int i = 0; i < 9; i++) {
        vyre_builder *b = build_begin("p", 64, 1, 1);
        vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 100));
        const vyre_builtin ids[] = {
            VYRE_BUILTIN_GLOBAL_ID,  VYRE_BUILTIN_LOCAL_ID,   VYRE_BUILTIN_GROUP_ID,
            VYRE_BUILTIN_NUM_GROUPS, VYRE_BUILTIN_GROUP_SIZE, VYRE_BUILTIN_SUBGROUP_LOCAL_ID,
            VYRE_BUILTIN_GLOBAL_ID,  VYRE_BUILTIN_GLOBAL_ID,  VYRE_BUILTIN_GLOBAL_SIZE};
        if (i == 0) {
            vyre_build_memory(b, VYRE_WORKGROUP, "w", VYRE_U32, vyre_build_size(b, 64));
        }
        if (i == 6) {
            vyre_build_barrier(b, VYRE_SEQ_CST);
        }
        vyre_build_store(b, o, vyre_build_id(b, ids[i], 0), vyre_build_u32(b, 1));
        vyre_program *p = build_finish(b);
        vyre_diag diag = {0};
        uint32_t grid[3];
        vyre_dispatch_options o32 = {.workgroup = {32, 1, 1}}, same = {.workgroup = {64, 0, 0}};
        CHECK_STATUS(sizes(p, NULL, 0, &o32, NULL, grid, &diag),
                     why[i] ? VYRE_INVALID_ARGUMENT : VYRE_OK, &diag);
        if (why[i]) {
            CHECK_HAS(diag.message, why[i]);
        } else {
            CHECK_EQ(grid[0], 4);
        }
        REQUIRE_OK(sizes(p, NULL, 0, &same, NULL, grid, &diag), &diag);
        CHECK_EQ(grid[0], 2);
        vyre_program_release(p);
    }
}

static vyre_program *indirect(vyre_role role, uint32_t offset, bool has_clause) {
    vyre_builder *b = build_begin("p", 4, 1, 1);
    vyre_decl words = vyre_build_memory(b, role, "words", VYRE_U32, vyre_build_size(b, 5));
    vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_size(b, 1));
    if (has_clause) {
        vyre_build_elements(b, vyre_build_size(b, 1));
    }
    vyre_build_indirect_dispatch(b, words, vyre_build_u32(b, offset));
    return build_finish(b);
}

TEST(an_indirect_dispatch_reads_its_grid) {
    const uint32_t words[5] = {1, 2, 3, 4, 0};
    vyre_input in = {words, sizeof words};
    vyre_diag diag = {0};
    uint32_t grid[3];
    vyre_program *p = indirect(VYRE_IN, 4, false);
    REQUIRE_OK(sizes(p, &in, 1, NULL, NULL, grid, &diag), &diag);
    CHECK(grid[0] == 2 && grid[1] == 3 && grid[2] == 4);
    vyre_dispatch_options with_grid = {.has_grid = true, .grid = {1, 1, 1}};
    CHECK_STATUS(sizes(p, &in, 1, &with_grid, NULL, grid, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "both give the grid");
    vyre_program_release(p);
    p = indirect(VYRE_IN, 4, true);
    CHECK_STATUS(sizes(p, &in, 1, NULL, NULL, grid, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_program_release(p);
    p = indirect(VYRE_IN, 8, false);
    REQUIRE_OK(sizes(p, &in, 1, NULL, NULL, grid, &diag), &diag);
    CHECK(grid[0] == 3 && grid[1] == 4 && grid[2] == 0);
    vyre_program_release(p);
    const uint32_t bad[] = {2, 12};
    for (int i = 0; i < 2; i++) {
        p = indirect(VYRE_IN, bad[i], false);
        CHECK_STATUS(sizes(p, &in, 1, NULL, NULL, grid, &diag), VYRE_INVALID_INPUT, &diag);
        CHECK_HAS(diag.message, "\"words\"");
        vyre_program_release(p);
    }
    /* What nobody filled is zero, and runs nothing. */
    p = indirect(VYRE_SCRATCH, 0, false);
    REQUIRE_OK(sizes(p, NULL, 0, NULL, NULL, grid, &diag), &diag);
    CHECK(grid[0] == 0 && grid[1] == 0 && grid[2] == 0);
    vyre_program_release(p);
}
