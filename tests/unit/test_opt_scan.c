/* Scans by doubling steps: which become walks, as text in and text out. */
#include "opt/opt_scan.h"

#include <stdio.h>

#include "base/text.h"
#include "harness/test.h"
#include "unit/ref_text.h"

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static vyre_program *parse_body(const char *body) {
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(8) elements(16) { in a : u32[]; inout o : u32[16];\n"
                   "workgroup w : u32[8]; workgroup i : i32[9]; workgroup f : f32[8];\n"
                   "workgroup q : u64[8]; workgroup s : u32[7]; workgroup h : u16[8];\n"
                   "let l = local_id.x; let x = a[global_id.x]; let r = 1; %s}",
                   body);
    return ref_parse(text);
}

/* `after` NULL: nothing is found. */
static void expect(const char *before, const char *after) {
    vyre_program *program = parse_body(before), *made = NULL;
    vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_opt_scan(program, &a, &made, &diag), &diag);
    if ((made == program) != !after) {
        test_fail(__FILE__, __LINE__, "%s\n%s", before, after ? "stays" : "becomes a walk");
    }
    if (after) {
        vyre_program *wanted = parse_body(after);
        if (!vyre_program_equal(made, wanted)) {
            vyre_text shown;
            vyre_text_init(&shown, NULL);
            REQUIRE_OK(vyre_program_print(made, append, &shown), &diag);
            test_fail(__FILE__, __LINE__, "%s\nbecame\n%s", before, vyre_text_string(&shown));
            vyre_text_finish(&shown);
        }
        vyre_program_release(wanted);
    }
    vyre_program_release(made);
    vyre_program_release(program);
}

#define WALK(memory, first, next)                                                                  \
    "if (local_id.x == 0) { let _sum = " first "; for (_k in 0 .. 8) { _sum = " next "; " memory   \
    "[_k] = _sum; } } barrier; "
#define SUMS   WALK("w", "0", "_sum + w[_k]")
#define STORED "w[l] = x; barrier; "

TEST(a_scan_by_doubling_steps_is_a_walk) {
    expect(STORED "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; "
                  "barrier; r = r * 2; } o[l] = w[l] + r;",
           STORED SUMS "r = 8; o[l] = w[l] + r;");
}

TEST(other_words_for_the_same_scan) {
    /* A guard around the store; the load below goes to nowhere. */
    expect(STORED
           "while (r <= 4) { let left = w[l - r]; barrier; if (l >= r) { w[l] = left + w[l]; "
           "} barrier; r = r << 1; } o[l] = w[l];",
           STORED SUMS "r = 8; o[l] = w[l];");
    /* What is beyond the end is 0. */
    expect(STORED "while (r < 8) { let left = w[l - r]; barrier; w[l] = w[l] + left; barrier; "
                  "r = r + r; } o[l] = w[l];",
           STORED SUMS "r = 8; o[l] = w[l];");
    /* A loop that counts, the barrier at the head of each trip, more trips than are needed. */
    expect("w[l] = x; for (t in 0 .. 4) { barrier; let d = 1 << t; let n = w[l]; if (!(l < d)) { "
           "n = n + w[l - d]; } barrier; w[l] = n; } barrier; o[l] = w[l];",
           "w[l] = x; barrier; " SUMS "barrier; o[l] = w[l];");
    /* A register beside the element. */
    expect("let n = x; w[l] = n; barrier; while (r < 8) { let left = 0; if (l >= r) { left = "
           "w[l - r]; } barrier; n = n + left; w[l] = n; barrier; r = r * 2; } o[l] = n;",
           "let n = x; w[l] = n; barrier; " SUMS "r = 8; n = w[local_id.x]; o[l] = n;");
}

TEST(integers_in_any_order) {
    expect("i[l] = i32(x); barrier; while (r < 8) { let left = l >= r ? i[l - r] : "
           "-2147483648; barrier; i[l] = max(i[l], left); barrier; r = r * 2; } o[l] = u32(i[l]);",
           "i[l] = i32(x); barrier; " WALK("i", "-2147483648i",
                                           "max(_sum, i[_k])") "r = 8; o[l] = u32(i[l]);");
    expect("q[l] = u64(x); barrier; while (r < 8) { let left = l >= r ? q[l - r] : ~0; barrier; "
           "q[l] = q[l] & left; barrier; r = r * 2; } o[l] = u32(q[l]);",
           "q[l] = u64(x); barrier; " WALK("q", "18446744073709551615ul",
                                           "_sum & q[_k]") "r = 8; o[l] = u32(q[l]);");
    expect("f[l] = f32(x); barrier; while (r < 8) { let left = l >= r ? f[l - r] : 0.0; barrier; "
           "f[l] = f[l] + left; barrier; r = r * 2; } o[l] = u32(f[l]);",
           NULL);
    expect("h[l] = x; barrier; while (r < 8) { let left = l >= r ? h[l - r] : 0; barrier; "
           "h[l] = h[l] + left; barrier; r = r * 2; } o[l] = h[l];",
           NULL);
}

TEST(what_is_there_already_changes_no_greatest_value) {
    expect(STORED "while (r < 8) { let left = l >= r ? w[l - r] : x; barrier; "
                  "w[l] = max(w[l], left); barrier; r = r * 2; } o[l] = w[l];",
           STORED WALK("w", "0", "max(_sum, w[_k])") "r = 8; o[l] = w[l];");
    expect(STORED "while (r < 8) { let left = l >= r ? w[l - r] : w[l]; barrier; "
                  "w[l] = w[l] | left; barrier; r = r * 2; } o[l] = w[l];",
           STORED WALK("w", "0", "_sum | w[_k]") "r = 8; o[l] = w[l];");
    /* Of a sum it does, another value does, and so does one of another operator. */
    expect(STORED "while (r < 8) { let left = l >= r ? w[l - r] : x; barrier; "
                  "w[l] = w[l] + left; barrier; r = r * 2; } o[l] = w[l];",
           NULL);
    expect("let y = x + 1; " STORED "while (r < 8) { let left = l >= r ? w[l - r] : y; barrier; "
           "w[l] = max(w[l], left); barrier; r = r * 2; } o[l] = w[l];",
           NULL);
    expect("let y = x; w[l] = y; y = y + 1; barrier; while (r < 8) { let left = l >= r ? w[l - r] "
           ": y; barrier; w[l] = max(w[l], left); barrier; r = r * 2; } o[l] = w[l];",
           NULL);
    expect(STORED "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; "
                  "w[l] = max(min(w[l], x), left); barrier; r = r * 2; } o[l] = w[l];",
           NULL);
}

TEST(steps_that_reach_elsewhere_stay) {
    static const char *const loops[] = {
        "while (r < 4) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; barrier; r "
        "= r * 2; }",
        "while (r < 9) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; barrier; r "
        "= r * 3; }",
        "while (r < 8) { let left = l > r ? w[l - r] : 0; barrier; w[l] = w[l] + left; barrier; r "
        "= "
        "r * 2; }",
        "while (r < 8) { let left = l >= r ? w[l - r] : 1; barrier; w[l] = w[l] + left; barrier; r "
        "= r * 2; }",
        "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] - left; barrier; r "
        "= r * 2; }",
        "while (r < 8) { let left = w[l + r]; barrier; w[l] = w[l] + left; barrier; r = r * 2; }",
        "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l ^ 1] = w[l] + left; "
        "barrier; r = r * 2; }",
        "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; o[l] = "
        "left; barrier; r = r * 2; }",
        "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; barrier; r "
        "= r * 2; if (r == 4) { break; } }",
        /* Races: the first value is not known. */
        "while (r < 8) { let left = l >= r ? w[l - r] : 0; w[l] = w[l] + left; barrier; r = r * 2; "
        "}",
        "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; r = r * 2; "
        "}",
        /* Too small for all lanes. */
        "while (r < 8) { let left = l >= r ? s[l - r] : 0; barrier; s[l] = s[l] + left; barrier; r "
        "= r * 2; }",
    };
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        char text[1024];
        (void)snprintf(text, sizeof text, STORED "%s o[l] = w[l];", loops[k]);
        expect(text, NULL);
    }
    /* What the loop leaves in a variable can't be told. */
    expect("let n = 0; " STORED "while (r < 8) { n = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + "
           "n; barrier; r = r * 2; } o[l] = n;",
           NULL);
    /* Lanes that have ended do not come. */
    expect("if (x == 3) { exit; } " STORED "while (r < 8) { let left = l >= r ? w[l - r] : 0; "
           "barrier; w[l] = w[l] + left; barrier; r = r * 2; } o[l] = w[l];",
           NULL);
    /* Where it begins is not known. */
    expect("r = x & 1; " STORED "while (r < 8) { let left = l >= r ? w[l - r] : 0; "
           "barrier; w[l] = w[l] + left; barrier; r = r * 2; } o[l] = w[l];",
           NULL);
}

static vyre_status once(const vyre_allocator *a, void *user) {
    vyre_program *made = NULL;
    const vyre_status status = vyre_opt_scan(user, a, &made, NULL);
    vyre_program_release(made);
    return status;
}

TEST(memory_may_end) {
    vyre_program *program = parse_body(
        STORED "while (r < 8) { let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + "
               "left; barrier; r = r * 2; } o[l] = w[l];");
    (void)test_every_allocation(once, program, 1000);
    vyre_program_release(program);
}
