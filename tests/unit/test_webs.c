/* Webs: which versions of variables become variables of their own, as text in and text out. */
#include "opt/webs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "harness/test.h"
#include "lower/inline.h"
#include "unit/ref_text.h"

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

/* The bodies stand behind declarations, in a program that is inlined first; `after` NULL: nothing
 * falls apart. */
static void expect(const char *before, const char *after) {
    static const char *const frame =
        "program p workgroup(2) elements(4) { in a : u32[4]; out o : u32[4]; let c = a[0];\n"
        "fn f(v : u32) -> u32 { return v + 1; }\n";
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s}", frame, before);
    vyre_program *parsed = ref_parse(text), *inlined = NULL, *made = NULL;
    vyre_var *origin = NULL;
    vyre_diag diag = {0};
    vyre_allocator a = vyre_allocator_or_system(NULL);
    REQUIRE_OK(vyre_inline(parsed, NULL, &inlined, &diag), &diag);
    REQUIRE_OK(vyre_webs(inlined, &a, &made, &origin, &diag), &diag);
    CHECK((made == inlined) == !after);
    CHECK(!origin == !after);
    if (after) {
        (void)snprintf(text, sizeof text,
                       "program p workgroup(2) elements(4) { in a : u32[4]; out o : u32[4];\n"
                       "let c = a[0]; %s}",
                       after);
        vyre_program *wanted = ref_parse(text);
        if (!vyre_program_equal(made, wanted)) {
            vyre_text shown;
            vyre_text_init(&shown, NULL);
            REQUIRE_OK(vyre_program_print(made, append, &shown), &diag);
            test_fail(__FILE__, __LINE__, "%s\nbecame\n%s", before, vyre_text_string(&shown));
            vyre_text_finish(&shown);
        }
        vyre_program_release(wanted);
        vyre_free(&a, origin, vyre_program_get(made)->var_count, sizeof *origin);
    }
    vyre_program_release(made);
    vyre_program_release(inlined);
    vyre_program_release(parsed);
}

TEST(versions_one_after_the_other) {
    expect("let x = a[1]; o[0] = x; x = 5; o[1] = x; x = x + 1; o[2] = x;",
           "let x = a[1]; o[0] = x; let x_2 = 5; o[1] = x_2; let x_3 = x_2 + 1; o[2] = x_3;");
    expect("let x = 1; o[0] = x; let y = 2; o[1] = y;", NULL);
    expect("let x = 1; for (i in 0 .. c) { x = x + i; } o[0] = x;", NULL);
}

TEST(names_that_are_taken_stay_theirs) {
    expect("let x_2 = 7; let x = 1; o[0] = x; x = 2; o[1] = x + x_2;",
           "let x_2 = 7; let x = 1; o[0] = x; let x_3 = 2; o[1] = x_3 + x_2;");
}

TEST(definitions_that_nothing_reads_are_left_out) {
    expect("let x = a[1]; x = 5; o[1] = x; x = 6;", "let x = 5; o[1] = x;");
    expect("let x = atomic_add(o[0], 1); x = 5; o[1] = x;",
           "let x = atomic_add(o[0], 1); let x_2 = 5; o[1] = x_2;");
    expect("let x = f(c); o[0] = x;", "let v = c; let x = v + 1; o[0] = x;");
}

TEST(arms_meet_behind_the_if) {
    expect("let x = 0; if (c > 1) { x = 1; } else { x = 2; } o[0] = x;",
           "let x = 0; if (c > 1) { x = 1; } else { x = 2; } o[0] = x;");
    expect("let x = 3; o[1] = x; if (c > 1) { x = 1; } o[0] = x;", NULL);
    expect("let x = 3; if (c > 1) { o[1] = x; x = 1; o[2] = x; } else { x = 4; o[2] = x; }",
           "let x = 3; if (c > 1) { o[1] = x; let x_2 = 1; o[2] = x_2; }\n"
           "else { let x_3 = 4; o[2] = x_3; }");
    /* What an arm made is not read behind it. */
    expect("let x = 3; if (c > 1) { x = 1; o[2] = x; } x = 4; o[0] = x;",
           "if (c > 1) { let x = 1; o[2] = x; } let x_2 = 4; o[0] = x_2;");
    /* Nor does it come there. */
    expect("let x = 3; if (c > 1) { x = 1; o[2] = x; exit; } o[0] = x;",
           "let x = 3; if (c > 1) { let x_2 = 1; o[2] = x_2; exit; } o[0] = x;");
    expect("let x = 3; o[1] = x; if (c > 1) { if (c > 2) { x = 1; } else { x = 2; } o[2] = x; }",
           "let x = 3; o[1] = x;\n"
           "if (c > 1) { let x_2 = 0; if (c > 2) { x_2 = 1; } else { x_2 = 2; } o[2] = x_2; }");
    expect("let x = 3; o[1] = x; if (c > 1) { x = 1; } else { if (c > 2) { x = 2; } else\n"
           "{ trap(\"t\", 0); } } o[0] = x;",
           "let x = 3; o[1] = x; let x_2 = 0; if (c > 1) { x_2 = 1; } else { if (c > 2)\n"
           "{ x_2 = 2; } else { trap(\"t\", 0); } } o[0] = x_2;");
}

TEST(loops_carry_what_is_used_before_it_is_set) {
    expect("let x = 9; for (i in 0 .. c) { o[i] = x; x = i; }", NULL);
    expect("let x = 9; o[3] = x; for (i in 0 .. c) { x = i; o[i] = x; x = i + 1; o[i] = x; }",
           "let x = 9; o[3] = x; for (i in 0 .. c) { let x_2 = i; o[i] = x_2;\n"
           "let x_3 = i + 1; o[i] = x_3; }");
    /* The last trip's value is read behind, and so is the one of no trip. */
    expect("let x = 9; for (i in 0 .. c) { x = i; o[i] = x; x = i + 1; } o[0] = x;",
           "let x = 9; for (i in 0 .. c) { let x_2 = i; o[i] = x_2; x = i + 1; } o[0] = x;");
    expect("let x = 9; while (x > c) { x = x - 1; } x = 2; o[0] = x;",
           "let x = 9; while (x > c) { x = x - 1; } let x_2 = 2; o[0] = x_2;");
    expect("let x = 9; x = 4; for (i in x .. c) { x = i; o[i] = x; }",
           "let x = 4; for (i in x .. c) { let x_2 = i; o[i] = x_2; }");
    /* Around the outer loop, not around the inner one. */
    expect("let x = 9; for (i in 0 .. c) { o[i] = x; for (k in 0 .. c) { x = k; o[k] = x; }\n"
           "x = i; }",
           "let x = 9; for (i in 0 .. c) { o[i] = x; for (k in 0 .. c) { let x_2 = k;\n"
           "o[k] = x_2; } x = i; }");
}

TEST(jumps_carry_what_they_see) {
    /* Only `break` brings 1 to the use behind the loop. */
    expect("let x = 9; for (i in 0 .. c) { x = 1; if (a[i] > 2) { break; } x = 2; o[i] = x;\n"
           "x = 3; } o[0] = x;",
           "let x = 9; for (i in 0 .. c) { x = 1; if (a[i] > 2) { break; } let x_2 = 2;\n"
           "o[i] = x_2; x = 3; } o[0] = x;");
    /* Only `continue` brings it to the next trip. */
    expect("let x = 9; for (i in 0 .. c) { o[i] = x; x = 1; if (a[i] > 2) { continue; } x = 2;\n"
           "o[i] = x; x = 3; }",
           "let x = 9; for (i in 0 .. c) { o[i] = x; x = 1; if (a[i] > 2) { continue; }\n"
           "let x_2 = 2; o[i] = x_2; x = 3; }");
    /* A jump before the assignment does not see it, one in an arm sees that arm's. */
    expect("let x = 9; o[1] = x; x = 8; while (c > 1) { if (a[1] > 2) { break; } x = 1;\n"
           "if (a[2] > 2) { x = 2; continue; } o[2] = x; x = 4; } x = 5; o[0] = x;",
           "let x = 9; o[1] = x; while (c > 1) { if (a[1] > 2) { break; } let x_2 = 1;\n"
           "if (a[2] > 2) { continue; } o[2] = x_2; } let x_3 = 5; o[0] = x_3;");
    /* What jumps out of the inner loop goes on in the outer one. */
    expect("let x = 9; for (i in 0 .. c) { for (k in 0 .. c) { x = k; break; } o[i] = x; x = 1; }",
           NULL);
    expect("let x = 9; for (i in 0 .. c) { x = 3; for (k in 0 .. c) { x = k; break; } o[i] = x; }",
           "for (i in 0 .. c) { let x = 3; for (k in 0 .. c) { x = k; break; } o[i] = x; }");
}

TEST(webs_are_bound_where_all_of_them_see_it) {
    expect("let x = 9; o[1] = x; { { x = c; } o[0] = x; } o[2] = x;",
           "let x = 9; o[1] = x; let x_2 = c; o[0] = x_2; o[2] = x_2;");
    expect("let x = 9; o[1] = x; { let y = 4; o[3] = y; x = y; o[0] = x; }",
           "let x = 9; o[1] = x; { let y = 4; o[3] = y; let x_2 = y; o[0] = x_2; }");
    expect("let x = 9; o[1] = x; region \"r\" { x = c; } o[2] = x;",
           "let x = 9; o[1] = x; let x_2 = 0; region \"r\" { x_2 = c; } o[2] = x_2;");
}

static vyre_status make_webs(const vyre_allocator *a, void *user) {
    vyre_program *made = NULL;
    vyre_var *origin = NULL;
    vyre_status status = vyre_webs(user, a, &made, &origin, NULL);
    if (origin) {
        vyre_free(a, origin, vyre_program_get(made)->var_count, sizeof *origin);
    }
    vyre_program_release(made);
    return status;
}

TEST(webs_survive_every_failed_allocation) {
    vyre_program *p = ref_parse(
        "program p workgroup(2) elements(4) { in a : u32[4]; out o : u32[4]; let x = a[0];\n"
        "for (i in 0 .. x) { if (x > 1) { x = 2; } else { x = 3; break; } { x = 1; } o[i] = x; }\n"
        "if (x > 1) { x = 7; } else { x = 8; } o[3] = x; x = 5; o[1] = x; }");
    CHECK(test_every_allocation(make_webs, p, 2000) > 20);
    vyre_program_release(p);
}
