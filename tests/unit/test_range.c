/* Ranges: which accesses are proven inside and which barely are not, bounds, forms, conditions. */
#include "analysis/range.h"
#include "harness/run.h"
#include "lower/inline.h"
#include "unit/parsing.h"
#include "unit/ranges_text.h"

static const char prelude[] =
    "program p workgroup(64) grid(4) {\n"
    "in a : u32[]; out b : u32[len(a)]; in h : u32[]; out two : u32[2 * len(h)]; workgroup w : "
    "u32[64];\n"
    "private q : u32[4]; in bytes : u8[]; in shorts : i16[]; out bins : u32[256];\n"
    "param n : u32 = 1; param s : i32 = 0; param width : u32 = 8; param height : u32 = 8;\n"
    "out plate : u32[width * height];\n";

typedef struct ranged {
    vyre_program *program;
    const vyre_program_view *p;
    vyre_ranges *r;
} ranged;

/* Takes over the text of a program. */
static ranged range_text(vyre_text *text) {
    vyre_program *source = run_parse(vyre_text_string(text));
    ranged x = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_inline(source, NULL, &x.program, &diag), &diag);
    vyre_program_release(source);
    vyre_text_finish(text);
    x.p = vyre_program_get(x.program);
    REQUIRE_OK(vyre_ranges_create(x.program, NULL, &x.r), NULL);
    return x;
}

static ranged range(const char *body) {
    vyre_text text = test_text();
    if (strncmp(body, "program", 7) != 0) {
        vyre_text_puts(&text, prelude);
    }
    vyre_text_puts(&text, body);
    vyre_text_puts(&text, "}\n");
    return range_text(&text);
}

static void finish(ranged *x) {
    vyre_ranges_destroy(x->r);
    vyre_program_release(x->program);
}

/* The accesses of the body, one line each. */
static void expect_at(int line, const char *body, const char *want) {
    ranged x = range(body);
    vyre_text got = test_text();
    ranges_print_accesses(&got, x.p, x.r);
    parse_compare(__FILE__, line, vyre_text_string(&got), want);
    vyre_text_finish(&got);
    finish(&x);
}
#define EXPECT(body, want) expect_at(__LINE__, body, want)

TEST(a_guard_proves_an_access) {
    EXPECT("if (global_id.x < len(b)) { b[global_id.x] = a[global_id.x]; }",
           "load a[64 * group_id.x + local_id.x] inside\n"
           "store b[64 * group_id.x + local_id.x] inside\n");
    EXPECT("if (global_id.x <= len(b)) { b[global_id.x] = 1; }",
           "store b[64 * group_id.x + local_id.x] not\n");
    EXPECT("if (group_id.x * 64 + local_id.x < len(b)) { b[global_id.x] = 1; }",
           "store b[64 * group_id.x + local_id.x] inside\n");
    EXPECT("if (n < len(a)) { } else { b[n] = 1; }", "store b[n] not\n");
    EXPECT("if (n >= len(a)) { } else { b[n] = 1; }", "store b[n] inside\n");
    EXPECT("if (!(n >= len(a) || n < 3)) { b[n] = 1; b[n - 3] = 1; b[n - 4] = 1; }",
           "store b[n] inside\nstore b[n - 3] inside\nstore b[n - 4] modulo not\n");
    EXPECT("if (n < len(a) || n < 3) { b[n] = 1; }", "store b[n] not\n");
    EXPECT("let inside = n < len(a) && s > 0; if (inside) { b[n] = 1; }", "store b[n] inside\n");
    EXPECT("let inside = n < len(a); inside = s > 0; if (inside) { b[n] = 1; }",
           "store b[n] not\n");
    EXPECT("if (n == len(a)) { two[n] = 1; b[n] = 1; }", "store two[n] not\nstore b[n] not\n");
}

TEST(facts_end_with_their_list) {
    EXPECT("if (n < len(a)) { b[n] = 1; } b[n] = 1;", "store b[n] inside\nstore b[n] not\n");
    EXPECT("if (n >= len(a)) { exit; } b[n] = 1;", "store b[n] inside\n");
    EXPECT("if (n < len(a)) { exit; } b[n] = 1;", "store b[n] not\n");
    EXPECT("if (n < len(a)) { b[0] = 1; } else { exit; } b[n] = 1;",
           "store b[0] inside\nstore b[n] inside\n");
    EXPECT("for (i in 0 .. 4) { if (n >= len(a)) { continue; } b[n] = i; } b[n] = 1;",
           "store b[n] inside\nstore b[n] not\n");
    EXPECT("while (true) { if (n < len(a)) { break; } b[n] = 1; }", "store b[n] not\n");
    EXPECT("while (true) { if (n >= len(a)) { break; } b[n] = 1; }", "store b[n] inside\n");
    EXPECT("{ if (n >= len(a)) { exit; } } b[n] = 1;", "store b[n] inside\n");
}

TEST(sums_that_may_wrap_are_told_apart) {
    /* n = 2^32 - 1: n + 1 is 0. */
    EXPECT("if (n + 1 < len(a)) { b[n + 1] = 1; b[n] = 1; }",
           "store b[n + 1] modulo inside\nstore b[n] not\n");
    EXPECT("if (n < len(a) - 1) { b[n] = 1; b[n + 1] = 1; }",
           "store b[n] not\nstore b[n + 1] not\n");
    EXPECT("if (len(a) > 0 && n < len(a) - 1) { b[n] = 1; b[n + 1] = 1; }",
           "store b[n] inside\nstore b[n + 1] inside\n");
    EXPECT("if (n + 1 < len(a) && n < 100) { b[n + 1] = 1; b[n] = 1; }",
           "store b[n + 1] inside\nstore b[n] inside\n");
    EXPECT("let last = len(a) - 1; if (len(a) == 0) { exit; } if (n <= last) { b[n] = 1; } "
           "b[last] = 1;",
           "store b[n] inside\nstore b[len(a) - 1] inside\n");
    EXPECT("let last = len(a) - 1; if (n <= last) { b[n] = 1; }", "store b[n] not\n");
    EXPECT("b[len(a) - 1] = 1; if (len(a) != 0) { b[len(a) - 1] = 1; }",
           "store b[len(a) - 1] modulo not\nstore b[len(a) - 1] inside\n");
    EXPECT("if (n - 1 < len(a)) { b[n - 1] = 1; } if (n < len(a)) { b[n - 1 + 1] = 1; }",
           "store b[n - 1] modulo inside\nstore b[n] inside\n");
    EXPECT("if (2 * n < len(a)) { b[2 * n] = 1; b[n] = 1; }",
           "store b[2 * n] modulo inside\nstore b[n] not\n");
    EXPECT("if (n < len(h)) { two[2 * n + 1] = 1; two[n + len(h)] = 1; two[2 * n + 2] = 1; }",
           "store two[2 * n + 1] inside\nstore two[len(h) + n] inside\nstore two[2 * n + 2] not\n");
    EXPECT("q[u32(s)] = 1; if (s >= 0 && s < 4) { q[u32(s)] = 1; q[u32(3 - s)] = 1; }",
           "store q[s] modulo not\nstore q[s] inside\nstore q[-s + 3] inside\n");
    EXPECT("if (s < 4) { q[u32(s)] = 1; }", "store q[s] modulo not\n");
    EXPECT("if (u32(s) < 4) { q[u32(s)] = 1; }", "store q[s] modulo inside\n");
}

TEST(counted_loops) {
    EXPECT("for (i in global_id.x .. len(b) step global_size.x) { b[i] = a[i]; }",
           "load a[i] inside\nstore b[i] inside\n");
    EXPECT("for (i in 0 .. len(a) - 1) { b[i + 1] = 1; }", "store b[i + 1] not\n");
    EXPECT("if (len(a) > 0) { for (i in 0 .. len(a) - 1) { b[i + 1] = 1; b[i] = 2; } }",
           "store b[i + 1] inside\nstore b[i] inside\n");
    EXPECT("for (i in 1 .. len(a)) { b[i - 1] = 1; }", "store b[i - 1] inside\n");
    EXPECT("for (i in n .. len(a)) { b[i - 1] = 1; b[i - n] = 1; }",
           "store b[i - 1] modulo not\nstore b[-n + i] inside\n");
    EXPECT("for (i in 0 .. 61 step 4) { w[i + 3] = 1; }", "store w[i + 3] inside\n");
    EXPECT("for (i in 0 .. 62 step 4) { w[i + 4] = 1; }", "store w[i + 4] not\n");
    EXPECT("for (i in 0 .. 64 step n) { w[i] = 1; w[i + 1] = 1; }",
           "store w[i] inside\nstore w[i + 1] not\n");
    /* A next value beyond 2^32 ends the loop, so it never begins anew at 0. */
    EXPECT("for (i in 4294967290 .. 4294967295 step 4) { q[i - 4294967290] = 1; }",
           "store q[i - 4294967290] not\n");
    EXPECT("for (i in 4294967290 .. 4294967294 step 3) { q[i - 4294967290] = 1; }",
           "store q[i - 4294967290] inside\n");
    EXPECT("for (i in len(a) .. n) { b[i] = 1; two[i - len(a)] = 1; }",
           "store b[i] not\nstore two[-len(a) + i] not\n");
    EXPECT("for (i in 0 .. 4) { for (k in 0 .. 16) { w[16 * i + k] = 1; w[i + 4 * k] = 1; } }",
           "store w[16 * i + k] inside\nstore w[i + 4 * k] inside\n");
    EXPECT("for (i in 0 .. 4) { for (k in 0 .. 17) { w[16 * i + k] = 1; } }",
           "store w[16 * i + k] not\n");
}

TEST(loops_with_a_condition) {
    EXPECT("let i = 0; while (i < len(a)) { b[i] = 1; i = i + 1; }", "store b[i@head] inside\n");
    EXPECT("let i = 0; while (i < len(a)) { i = i + 1; b[i] = 1; b[i - 1] = 1; }",
           "store b[i@head + 1] not\nstore b[i@head] inside\n");
    EXPECT("let i = 1; while (i < len(a)) { b[i - 1] = 1; i = i + 1; }",
           "store b[i@head - 1] inside\n");
    EXPECT("let i = 1; while (i < len(a)) { b[i - 1] = 1; i = i + 2; }",
           "store b[i@head - 1] modulo not\n");
    EXPECT("let i = 1; while (i <= len(a)) { b[i - 1] = 1; i = i + 1; }",
           "store b[i@head - 1] modulo not\n");
    EXPECT("let i = 64; while (i != 0) { i = i - 1; w[i] = 1; }", "store w[i@head - 1] inside\n");
    EXPECT("let i = 65; while (i != 0) { i = i - 1; w[i] = 1; }", "store w[i@head - 1] not\n");
    EXPECT("let v = 32; while (v != 0) { if (local_id.x < v) { w[local_id.x + v] = 1; } "
           "barrier; v = v >> 1; }",
           "store w[v@head + local_id.x] inside\n");
    EXPECT("let v = 33; while (v != 0) { if (local_id.x < v) { w[local_id.x + v] = 1; } "
           "barrier; v = v >> 1; }",
           "store w[v@head + local_id.x] not\n");
    EXPECT("let r = 1; while (r < 64) { w[r] = 1; w[r - 1] = 1; r = r << 1; }",
           "store w[r@head] inside\nstore w[r@head - 1] inside\n");
    EXPECT("let r = 1; while (r < 64) { w[r - 1] = 1; r = r << 30; }",
           "store w[r@head - 1] modulo not\n");
    EXPECT("let x = 0; for (i in 0 .. n) { w[x] = 1; x = (x + 1) % 64; } w[x] = 1;",
           "store w[x@head] inside\nstore w[x@head] inside\n");
    EXPECT("let x = 0; for (i in 0 .. n) { w[x] = 1; x = (x + 1) % 65; }", "store w[x@head] not\n");
}

TEST(variables_after_branches_and_loops) {
    EXPECT("let i = 3; if (s > 0) { i = 63; } w[i] = 1;", "store w[i@join] inside\n");
    EXPECT("let i = 3; if (s > 0) { i = 64; } w[i] = 1;", "store w[i@join] not\n");
    EXPECT("let i = 3; if (s > 0) { i = 64; exit; } w[i] = 1;", "store w[3] inside\n");
    EXPECT("let i = n; if (i >= 64) { i = 63; } w[i] = 1;", "store w[i@join] inside\n");
    EXPECT("let i = n; if (i > 64) { i = 63; } w[i] = 1;", "store w[i@join] not\n");
    EXPECT("let i = 0; while (i < n) { if (i > 62) { break; } i = i + 1; } w[i] = 1;",
           "store w[i@head] inside\n");
    EXPECT("let i = 0; while (i < 64) { if (a[i] > 8) { break; } i = i + 1; } w[i] = 1;",
           "load a[i@head] not\nstore w[i@head] not\n");
    EXPECT("let i = 0; let k = 0; while (true) { if (a[0] > i) { k = 64; break; } i = i + 1; "
           "if (i > 5) { k = 2; break; } } w[k] = 1;",
           "load a[0] not\nstore w[k@join] not\n");
    EXPECT("let k = 0; while (true) { if (a[0] > 4) { k = 63; break; } if (a[0] > 2) { k = 2; "
           "break; } } w[k] = 1;",
           "load a[0] not\nload a[0] not\nstore w[k@join] inside\n");
    EXPECT("let k = 64; for (i in 0 .. n) { k = 5; } w[k] = 1;", "store w[k@head] not\n");
    EXPECT("let k = 6; for (i in 0 .. n) { k = 5; } w[k] = 1;", "store w[k@head] inside\n");
}

TEST(operators_bound_their_values) {
    EXPECT("w[n & 63] = 1; w[n & 64] = 1; w[n % 64] = 1; w[n % 65] = 1; w[n >> 26] = 1; "
           "w[n >> 25] = 1; w[n / 67108864] = 1;",
           "store w[(n % 64)] inside\nstore w[&(n, 64)] not\nstore w[(n % 64)] inside\n"
           "store w[(n % 65)] not\nstore w[(n / 67108864)] inside\n"
           "store w[(n / 33554432)] not\nstore w[(n / 67108864)] inside\n");
    EXPECT("w[min(n, 63)] = 1; w[min(n, 64)] = 1; w[max(n, 3)] = 1; w[clz(n)] = 1; "
           "w[2 * clz(n)] = 1; w[popcount(n) + ctz(n) - 1] = 1;",
           "store w[min(n, 63)] inside\nstore w[min(64, n)] not\nstore w[max(n, 3)] not\n"
           "store w[clz(n)] inside\nstore w[2 * clz(n)] not\n"
           "store w[popcount(n) + ctz(n) - 1] modulo not\n");
    EXPECT("bins[bytes[n]] = 1; bins[a[n]] = 1; bins[bytes[n] + 1] = 1;",
           "load bytes[n] not\nstore bins[value(bytes)] inside\n"
           "load a[n] not\nstore bins[value(a)] not\n"
           "load bytes[n] not\nstore bins[value(bytes) + 1] not\n");
    EXPECT("b[min(n, len(a) - 1)] = 1; if (len(a) > 0) { b[min(n, len(a) - 1)] = 1; }",
           "store b[min(n, wrap(len(a) - 1))] not\nstore b[min(n, len(a) - 1)] inside\n");
    EXPECT("b[n % len(a)] = 1; if (len(a) > 0) { b[n % len(a)] = 1; }",
           "store b[%(n, len(a))] not\nstore b[(n % len(a))] inside\n");
    EXPECT("q[select(n < 4, n, 3)] = 1; q[select(n < 5, n, 3)] = 1; w[u32(s > 0) * 63] = 1;",
           "store q[value()] inside\nstore q[value()] not\nstore w[63 * value()] inside\n");
    EXPECT("if (n < len(a)) { b[n / 2] = 1; b[n - n / 3] = 1; b[sat_sub(n, 1)] = 1; }",
           "store b[(n / 2)] inside\nstore b[n - (n / 3)] inside\nstore b[sat_sub(n, 1)] inside\n");
    EXPECT("w[local_id.x] = 1; w[local_id.x + 1] = 1; w[63 - local_id.x] = 1; "
           "w[local_id.x ^ 32] = 1; w[group_size.x - 1] = 1; w[subgroup_local_id + 32] = 1;",
           "store w[local_id.x] inside\nstore w[local_id.x + 1] not\n"
           "store w[-local_id.x + 63] inside\nstore w[^(local_id.x, 32)] inside\n"
           "store w[63] inside\nstore w[subgroup_local_id + 32] inside\n");
}

TEST(declared_sizes_are_lengths) {
    EXPECT("program p workgroup(8) grid(1) { in row : u32[]; out d : u32[len(row) - 1]; "
           "scratch t : u32[len(row) / 4 + 1]; "
           "for (v in 0 .. len(d)) { d[v] = row[v] + row[v + 1]; t[v / 4] = row[v + 2]; } "
           "for (v in 0 .. len(row)) { t[v / 4] = 1; d[v] = 1; } d[row[0]] = row[len(d)];",
           "load row[v] inside\nload row[v + 1] inside\nstore d[v] inside\n"
           "load row[v + 2] not\nstore t[(v / 4)] inside\n"
           "store t[(v_2 / 4)] inside\nstore d[v_2] not\n"
           "load row[0] inside\nload row[len(row) - 1] inside\nstore d[value(row)] not\n");
    /* Sizes may name later declarations, and the most of two. */
    EXPECT("program p workgroup(8) grid(1) { out x : u32[2 * len(y)]; out y : u32[len(z) + 1]; "
           "in z : u32[]; out m : u32[max(len(z), 4)]; x[len(z) + 1] = 1; x[2 * len(z) + 1] = 2; "
           "x[2 * len(z) + 2] = 2; m[3] = 1; m[4] = 1; if (len(z) > 2) { m[len(z) - 1] = 1; }",
           "store x[len(z) + 1] inside\nstore x[2 * len(z) + 1] inside\n"
           "store x[2 * len(z) + 2] not\nstore m[3] inside\nstore m[4] not\n"
           "store m[len(z) - 1] inside\n");
}

TEST(products_of_symbols) {
    /* s <= t gives s * u <= t * u only where u is not negative. */
    EXPECT("program p workgroup(8) grid(1) { out x : u32[1]; param s : i32 = 0; "
           "param t : i32 = 0; param u : i32 = 0; "
           "if (s <= t && s > -9i && t < 9i && u > -9i && u < 9i) { x[u32(t * u - s * u)] = 1; "
           "if (u >= 0) { x[u32(t * u - s * u)] = 1; } }",
           "store x[t * u - s * u] modulo not\nstore x[t * u - s * u] not\n");
    EXPECT("for (y in global_id.y .. height step global_size.y) { "
           "for (x in global_id.x .. width step global_size.x) { plate[y * width + x] = 1; "
           "plate[y * width + x + 1] = 1; plate[x * height + y] = 1; plate[x * width + y] = 1; } }",
           "store plate[x + width * y] inside\nstore plate[x + width * y + 1] not\n"
           "store plate[y + height * x] inside\nstore plate[y + width * x] modulo not\n");
    /* The sides of a stencil: with a width of 0, width - 1 is large. */
    EXPECT("if (width > 1 && height > 1) { for (y in 1 .. height - 1) { for (x in 1 .. width - 1) "
           "{ let i = y * width + x; plate[i] = 1; plate[i + 1] = 1; plate[i - 1] = 1; "
           "plate[i - width] = 1; plate[i + width] = 1; plate[i + width + 2] = 1; } } }",
           "store plate[x + width * y] inside\nstore plate[x + width * y + 1] inside\n"
           "store plate[x + width * y - 1] inside\nstore plate[-width + x + width * y] inside\n"
           "store plate[width + x + width * y] inside\n"
           "store plate[width + x + width * y + 2] not\n");
    EXPECT("for (y in 1 .. height - 1) { for (x in 0 .. width) { plate[y * width + x] = 1; } }",
           "store plate[x + width * y] modulo not\n");
    EXPECT("if (n < height) { plate[n * width] = 1; } if (width > 0 && n < height) { "
           "plate[n * width] = 1; }",
           "store plate[width * n] not\nstore plate[width * n] inside\n");
    EXPECT("if (n < 2 && len(h) > 0) { two[n * len(h) + len(h) - 1] = 1; let here = n * len(h); "
           "two[len(h) - here] = 1; two[here + here] = 1; }",
           "store two[len(h) + len(h) * n - 1] inside\nstore two[len(h) - len(h) * n] inside\n"
           "store two[2 * len(h) * n] not\n");
}

/* The nth expression of that kind in the entry body. */
static vyre_expr find(const ranged *x, vyre_expr_op op, uint32_t nth) {
    for (vyre_expr e = x->p->stmts[x->p->entry].first_expr; e < x->p->expr_count; e++) {
        if (x->p->exprs[e].op == (uint8_t)op && nth-- == 0) {
            return e;
        }
    }
    REQUIRE(false);
    return VYRE_NONE;
}

static vyre_stmt find_stmt(const ranged *x, vyre_stmt_op op, uint32_t nth) {
    for (vyre_stmt s = x->p->entry; s < x->p->stmt_count; s++) {
        if (x->p->stmts[s].op == (uint8_t)op && nth-- == 0) {
            return s;
        }
    }
    REQUIRE(false);
    return VYRE_NONE;
}

TEST(operations_that_can_not_wrap) {
    ranged x = range("if (n < 100) { b[0] = n + 5; b[0] = n - 1; b[0] = n * 42949672; "
                     "b[0] = n * 43383509; b[0] = 7 / n; b[0] = 7 % (n + 1); b[0] = 1 << n; "
                     "b[0] = 1 << (n & 31); b[0] = n << 25; b[0] = n << 26; }");
    const struct {
        vyre_expr_op op;
        bool wraps[3];
    } cases[] = {
        {VYRE_EXPR_ADD, {false, false}}, {VYRE_EXPR_SUB, {true}}, {VYRE_EXPR_MUL, {false, true}}};
    CHECK(!vyre_ranges_may_wrap(x.r, find(&x, cases[0].op, 0)));
    CHECK(vyre_ranges_may_wrap(x.r, find(&x, cases[1].op, 0)));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(vyre_ranges_may_wrap(x.r, find(&x, cases[2].op, i)), cases[2].wraps[i]);
    }
    CHECK(vyre_ranges_may_divide_by_zero(x.r, find(&x, VYRE_EXPR_DIV, 0)));
    CHECK(!vyre_ranges_may_divide_by_zero(x.r, find(&x, VYRE_EXPR_REM, 0)));
    CHECK(vyre_ranges_may_shift_beyond(x.r, find(&x, VYRE_EXPR_SHL, 0)));
    CHECK(!vyre_ranges_may_shift_beyond(x.r, find(&x, VYRE_EXPR_SHL, 1)));
    CHECK(!vyre_ranges_may_wrap(x.r, find(&x, VYRE_EXPR_SHL, 1)));
    CHECK(!vyre_ranges_may_wrap(x.r, find(&x, VYRE_EXPR_SHL, 2)));
    CHECK(vyre_ranges_may_wrap(x.r, find(&x, VYRE_EXPR_SHL, 3)));
    finish(&x);
}

TEST(signed_division_wraps_only_at_the_least) {
    ranged x = range("bins[0] = u32(s / -1i); if (s > -5i) { bins[0] = u32(s / -1i); } "
                     "bins[0] = u32(s / 2i); bins[0] = u32(s / i32(n)); "
                     "if (s < 0i) { bins[0] = u32(7i / s); }");
    static const bool wraps[] = {true, false, false, true, false};
    static const bool zero[] = {false, false, false, true, false};
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_EQ(vyre_ranges_may_wrap(x.r, find(&x, VYRE_EXPR_DIV, i)), wraps[i]);
        CHECK_EQ(vyre_ranges_may_divide_by_zero(x.r, find(&x, VYRE_EXPR_DIV, i)), zero[i]);
    }
    finish(&x);
}

/* The interval of the value that the body stores last. */
static void expect_range_at(int line, const char *body, const char *want) {
    ranged x = range(body);
    vyre_text got = test_text();
    vyre_range r;
    vyre_stmt last = VYRE_NONE;
    for (vyre_stmt s = x.p->entry; s < x.p->stmt_count; s++) {
        last = x.p->stmts[s].op == VYRE_STMT_STORE ? s : last;
    }
    REQUIRE(vyre_ranges_of(x.r, x.p->stmts[last].arg[1], &r));
    vyre_text_printf(&got, "%" PRId64 " .. %" PRId64 ", ", r.lo, r.hi);
    ranges_print_form(&got, x.p, x.r, &r.lower);
    vyre_text_puts(&got, " .. ");
    ranges_print_form(&got, x.p, x.r, &r.upper);
    parse_compare(__FILE__, line, vyre_text_string(&got), want);
    vyre_text_finish(&got);
    finish(&x);
}
#define EXPECT_RANGE(body, want) expect_range_at(__LINE__, body, want)

TEST(intervals_have_symbolic_ends) {
    EXPECT_RANGE("b[0] = min(a[0], n) + 1;", "0 .. 4294967295, 0 .. n + 1");
    EXPECT_RANGE("b[0] = min(a[0], n);", "0 .. 4294967295, 0 .. n");
    EXPECT_RANGE("let v = a[0]; if (v < len(a) && v >= n) { b[0] = v + 1; }",
                 "1 .. 4294967295, n + 1 .. len(a)");
    EXPECT_RANGE("for (i in n .. len(a)) { b[0] = 2 * i; }", "0 .. 4294967295, 0 .. 2 * i");
    EXPECT_RANGE("for (i in n .. len(a) / 2) { b[0] = 2 * i; }", "0 .. 4294967292, 2 * i .. 2 * i");
    EXPECT_RANGE("let i = n; while (i < len(a)) { b[i] = i; i = i + 1; }",
                 "0 .. 4294967294, n .. len(a) - 1");
    EXPECT_RANGE("if (s >= -3i && s <= 4i) { b[0] = u32(s + 3); }", "0 .. 7, s + 3 .. s + 3");
    EXPECT_RANGE("b[0] = ~(n & 15);", "4294967280 .. 4294967295, 4294967280 .. 4294967295");
    EXPECT_RANGE("b[0] = u32(i32(shorts[0]) + 32768);", "0 .. 65535, 0 .. 65535");
}

/* The form of the index of the last store in the nth FOR. */
static void expect_index_at(int line, const char *body, uint32_t nth, const char *want) {
    ranged x = range(body);
    vyre_text got = test_text();
    vyre_index_form f;
    vyre_stmt last = VYRE_NONE;
    for (vyre_stmt s = x.p->entry; s < x.p->stmt_count; s++) {
        last = x.p->stmts[s].op == VYRE_STMT_STORE ? s : last;
    }
    const vyre_stmt loop = nth == VYRE_NONE ? VYRE_NONE : find_stmt(&x, VYRE_STMT_FOR, nth);
    if (vyre_ranges_index(x.r, x.p->stmts[last].arg[0], loop, &f)) {
        ranges_print_form(&got, x.p, x.r, &f.base);
        vyre_text_printf(&got, "; step %" PRId64 ", lane %" PRId64 ", global %" PRId64 "%s%s",
                         f.step, f.lane[0], f.global[0], f.varies ? ", varies" : "",
                         f.may_wrap ? ", modulo" : "");
    } else {
        vyre_text_puts(&got, "none");
    }
    parse_compare(__FILE__, line, vyre_text_string(&got), want);
    vyre_text_finish(&got);
    finish(&x);
}
#define EXPECT_INDEX(body, nth, want) expect_index_at(__LINE__, body, nth, want)

/* What the last store is to its row. */
static void expect_row_at(int line, const char *body, const char *want) {
    static const char *const kinds[] = {"none", "alone", "number", "param", "len"};
    ranged x = range(body);
    char got[64] = "";
    for (vyre_stmt s = x.p->entry; s < x.p->stmt_count; s++) {
        const vyre_row row = vyre_ranges_row(x.r, s);
        const bool named = row.kind >= VYRE_ROW_PARAM;
        if (x.p->stmts[s].op == VYRE_STMT_STORE) {
            (void)snprintf(got, sizeof got, "%s %s%.0u + %u", kinds[row.kind],
                           named ? x.p->decls[row.pitch].name : "", named ? 0 : row.pitch,
                           row.offset);
        }
    }
    parse_compare(__FILE__, line, got, want);
    finish(&x);
}
#define EXPECT_ROW(body, want) expect_row_at(__LINE__, body, want)

TEST(stores_to_rows) {
    EXPECT_ROW("b[global_id.x] = 1;", "alone  + 0");
    EXPECT_ROW("b[global_id.x + 3] = 1;", "alone  + 3");
    EXPECT_ROW("let x = global_id.x; let y = global_id.y; if (x < width) { plate[y * width + x] = "
               "1; }",
               "param width + 0");
    EXPECT_ROW("if (global_id.x < len(h)) { b[len(h) * global_id.y + global_id.x + 2] = 1; }",
               "len h + 2");
    EXPECT_ROW("if (global_id.x < 90) { b[global_id.y * 90 + global_id.x] = 1; }", "number 90 + 0");
    EXPECT_ROW("if (local_id.x < 90) { b[group_id.y * 90 + global_id.x] = 1; }", "none  + 0");
    /* Rows that meet, or other functions of the lane. */
    EXPECT_ROW("if (global_id.x <= width) { b[global_id.y * width + global_id.x] = 1; }",
               "none  + 0");
    EXPECT_ROW("b[global_id.y * width + global_id.x] = 1;", "none  + 0");
    EXPECT_ROW("if (global_id.x < width) { b[global_id.y * n + global_id.x] = 1; }", "none  + 0");
    EXPECT_ROW(
        "if (global_id.x < width) { b[global_id.y * width + global_id.y + global_id.x] = 1; }",
        "none  + 0");
    EXPECT_ROW("b[2 * global_id.x] = 1;", "none  + 0");
    EXPECT_ROW("b[local_id.x] = 1;", "none  + 0");
    EXPECT_ROW("b[global_id.x - 1] = 1;", "none  + 0");
    EXPECT_ROW("for (k in 0 .. n) { b[global_id.x + k] = 1; }", "none  + 0");
    EXPECT_ROW("b[global_id.x + a[0]] = 1;", "none  + 0");
}

TEST(indices_by_loop_and_lane) {
    EXPECT_INDEX("for (i in 0 .. n) { b[4 * i + global_id.x + 3] = 1; }", 0,
                 "64 * group_id.x + 3; step 4, lane 1, global 1, modulo");
    EXPECT_INDEX("for (i in 0 .. n) { b[i + 2 * local_id.x] = 1; }", 0,
                 "0; step 1, lane 2, global 0, modulo");
    EXPECT_INDEX("for (i in 0 .. 8) { w[i + 2 * local_id.x] = 1; }", 0,
                 "0; step 1, lane 2, global 0");
    EXPECT_INDEX("for (i in 0 .. n) { for (k in 0 .. i) { b[i * width + k] = 1; } }", 1,
                 "width * i; step 1, lane 0, global 0, modulo");
    EXPECT_INDEX("for (i in 0 .. n) { for (k in 0 .. i) { b[i * width + k] = 1; } }", 0, "none");
    EXPECT_INDEX("for (i in 0 .. n) { for (k in 0 .. i) { b[i + 1] = 1; } }", 0,
                 "1; step 1, lane 0, global 0");
    EXPECT_INDEX("let v = a[0]; for (i in 0 .. n) { b[v + i] = 1; }", 0,
                 "value(a); step 1, lane 0, global 0, varies, modulo");
    EXPECT_INDEX("for (i in 0 .. n) { let v = a[i]; b[v + i] = 1; }", 0, "none");
    EXPECT_INDEX("let k = 0; for (i in 0 .. n) { b[k] = 1; k = k + 2; }", 0, "none");
    EXPECT_INDEX("for (i in 0 .. n) { b[(i + 1) & 7] = 1; }", 0, "none");
    EXPECT_INDEX("b[63 - local_id.x] = 1;", VYRE_NONE, "63; step 0, lane -1, global 0");
}

/* What the nth IF does to local_id.x, or to the variable of the first FOR. */
static void expect_clip_at(int line, const char *body, bool lane, const char *want) {
    ranged x = range(body);
    vyre_text got = test_text();
    vyre_clip clip;
    const vyre_stmt loop = lane ? VYRE_NONE : find_stmt(&x, VYRE_STMT_FOR, 0);
    REQUIRE(
        vyre_ranges_clip(x.r, x.p->stmts[find_stmt(&x, VYRE_STMT_IF, 0)].arg[0], loop, 0, &clip));
    for (uint32_t i = 0; i < clip.bound_count; i++) {
        vyre_text_printf(&got, "%s%" PRId64 " * v + ", i == 0 ? "" : "; ", clip.bounds[i].factor);
        ranges_print_form(&got, x.p, x.r, &clip.bounds[i].base);
    }
    vyre_text_printf(&got, "; %u more", clip.rest_count);
    parse_compare(__FILE__, line, vyre_text_string(&got), want);
    vyre_text_finish(&got);
    finish(&x);
}
#define EXPECT_CLIP(body, lane, want) expect_clip_at(__LINE__, body, lane, want)

TEST(conditions_clip_loops) {
    EXPECT_CLIP("if (global_id.x < n) { }", true, "1 * v + 64 * group_id.x - n + 1; 0 more");
    EXPECT_CLIP("if (local_id.x > 0 && local_id.x < width - 1) { }", true,
                "-1 * v + 1; 1 * v + -wrap(width - 1) + 1; 0 more");
    EXPECT_CLIP("if (global_id.y > 0 && local_id.x + 1 <= n) { }", true,
                "0 * v + -group_id.y + 1; 1 * v + -n + 1; 0 more");
    EXPECT_CLIP("if (local_id.x == n && a[0] > 3) { }", true, "1 * v + -n; -1 * v + n; 1 more");
    EXPECT_CLIP("if (local_id.x != n) { }", true, "; 1 more");
    EXPECT_CLIP("if (local_id.x + n < 5) { }", true, "; 1 more"); /* the sum may wrap */
    EXPECT_CLIP("let c = !(2 * local_id.x >= n); if (c) { }", true, "2 * v + -n + 1; 0 more");
    EXPECT_CLIP("for (i in 0 .. n) { if (i < len(a) && n > 3 && a[i] > 0) { } }", false,
                "1 * v + -len(a) + 1; 0 * v + -n + 4; 1 more");
    EXPECT_CLIP("for (i in 0 .. n) { let v = a[i]; let c = i < 4 && v > i; if (c) { } }", false,
                "1 * v + -3; 1 more");
}

static vyre_status create(const vyre_allocator *a, void *user) {
    vyre_ranges *r = NULL;
    const vyre_status status = vyre_ranges_create(user, a, &r);
    vyre_ranges_destroy(r);
    return status;
}

TEST(every_allocation_may_fail) {
    vyre_program *program = run_parse(
        "program p workgroup(8) grid(1) { in x : u32[]; out y : u32[len(x) / 2]; param n : u32 = "
        "1; "
        "let i = 0; let k = n; while (i < len(x)) { if (x[i] > 3) { k = i * n; if (i > 4) { break; "
        "} "
        "} else { k = k + 1; continue; } for (c in i .. len(y) step 2) { y[c] = y[c + 1]; } "
        "i = i + 1; } y[k] = min(k, i); }");
    CHECK(test_every_allocation(create, program, 400) > 20);
    vyre_program_release(program);
}

/* A long row of statements that each need proofs, many variables in many loops with many jumps:
 * what is known ends before the time does. */
TEST(large_programs_take_linear_time) {
    vyre_text text = test_text();
    vyre_text_puts(&text, "program p workgroup(8) grid(1) { inout x : u32[]; param n : u32 = 1;\n");
    for (uint32_t i = 0; i < 300; i++) {
        vyre_text_printf(&text, "let v%u = x[%u];\n", i, i);
    }
    for (uint32_t i = 0; i < 60; i++) {
        vyre_text_printf(&text, "while (v%u < n + %u) {\n", i, i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        vyre_text_printf(&text, "v%u = v%u + v%u * x[v%u - v%u];\nif (v%u > n) { %s; }\n", i % 300,
                         (i + 1) % 300, (i + 2) % 300, (i + 3) % 300, (i + 4) % 300, (i + 5) % 300,
                         i % 2 ? "break" : "continue");
    }
    for (uint32_t i = 0; i < 61; i++) {
        vyre_text_puts(&text, "}\n");
    }
    vyre_program *program = run_parse(vyre_text_string(&text));
    vyre_ranges *r = NULL;
    REQUIRE_OK(vyre_ranges_create(program, NULL, &r), NULL);
    vyre_ranges_destroy(r);
    vyre_program_release(program);
    vyre_text_finish(&text);
}

/* The program of an example, from its file. */
static ranged range_example(const char *name) {
    vyre_text text = test_text();
    char path[512], piece[1024];
    (void)snprintf(path, sizeof path, VYRE_SOURCE_DIR "/examples/%s.vy", name);
    FILE *file = fopen(path, "r");
    REQUIRE(file);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        vyre_text_append(&text, piece, got);
    }
    (void)fclose(file);
    return range_text(&text);
}

/* What is not proven: indices that were loaded, tails that are meant to read beyond the end, and
 * the inside of jacobi's plate, since its width and height may be 0. */
TEST(most_accesses_of_examples_are_proven) {
    static const struct {
        const char *name;
        uint32_t inside, all;
    } examples[] = {{"bfs", 4, 11},     {"cg", 27, 29},       {"histogram", 4, 4},
                    {"jacobi", 6, 12},  {"pagerank", 41, 45}, {"reach", 7, 11},
                    {"reduce", 13, 14}, {"saxpy", 3, 3},      {"scan", 4, 9}};
    for (uint32_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        ranged x = range_example(examples[i].name);
        uint32_t inside = 0, all = 0;
        for (vyre_stmt at = x.p->entry; at < x.p->stmt_count; at++) {
            const vyre_stmt_node *s = &x.p->stmts[at];
            for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
                all += x.p->exprs[e].op == VYRE_EXPR_LOAD;
                inside += vyre_ranges_load_inside(x.r, e);
            }
            all += s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC;
            inside += vyre_ranges_access_inside(x.r, at);
        }
        printf("%s: %u of %u accesses are proven\n", examples[i].name, inside, all);
        CHECK_EQ(inside, examples[i].inside);
        CHECK_EQ(all, examples[i].all);
        finish(&x);
    }
}
