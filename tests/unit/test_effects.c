/* Effects of each kind of statement, through calls and async copies. */
#include "harness/test.h"

#include "analysis/effects.h"
#include "vyre/text.h"

typedef struct fixture {
    vyre_program *program;
    const vyre_program_view *p;
    vyre_allocator a;
    vyre_calls calls;
    vyre_effect_map *effects;
} fixture;

static fixture open_text(const char *text) {
    vyre_diag items[1];
    vyre_diag_list diags = {.items = items, .capacity = 1};
    fixture f = {.a = vyre_allocator_system()};
    REQUIRE_OK(vyre_parse(text, strlen(text), NULL, NULL, &f.program, &diags), &items[0]);
    f.p = vyre_program_get(f.program);
    REQUIRE_OK(vyre_calls_init(&f.calls, f.program, &f.a), NULL);
    REQUIRE_OK(vyre_effects_create(f.program, &f.calls, &f.a, &f.effects), NULL);
    return f;
}

static void close_text(fixture *f) {
    vyre_effects_destroy(f->effects);
    vyre_calls_finish(&f->calls, &f->a);
    vyre_program_release(f->program);
}

typedef struct writer {
    const vyre_program_view *p;
    char text[256];
} writer;

static void describe(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    writer *w = user;
    const size_t at = strlen(w->text);
    (void)snprintf(w->text + at, sizeof w->text - at, "%s%s%s%s%s%s", at ? " " : "",
                   effect & VYRE_EFFECT_READ ? "r" : "", effect & VYRE_EFFECT_WRITE ? "w" : "",
                   effect & VYRE_EFFECT_ATOMIC ? "a" : "", load == VYRE_NONE ? ":" : "@",
                   w->p->decls[decl].name);
}

/* Effects of the n-th statement of the entry body. */
static void check_stmt(const fixture *f, uint32_t n, const char *want) {
    writer w = {.p = f->p};
    vyre_effects_of(f->effects, f->p->entry + n, describe, &w);
    CHECK_STR(w.text, want);
}

TEST(effects_of_statements) {
    fixture f =
        open_text("program p workgroup(64) {\n"
                  "inout a : u32[8]; inout b : u32[8]; in c : u32[8]; workgroup w : u32[8];\n"
                  "fn inner(i : u32) { w[i] = b[i]; barrier; }\n"
                  "fn outer() { inner(c[0]); atomic_add(a[0], 1); }\n"
                  "opaque fn magic() reads(c) writes(b) { b[0] = c[0]; }\n"
                  "a[b[0]] = c[1];\n"                   /* 0 */
                  "let t = atomic_add(a[c[2]], 1);\n"   /* 1 */
                  "outer();\n"                          /* 2 */
                  "magic();\n"                          /* 3 */
                  "async_load(c, w, b[1], 4, \"t\");\n" /* 4 */
                  "async_store(w, a, 0, 4, \"s\");\n"   /* 5 */
                  "async_wait(\"t\");\n"                /* 6 */
                  "async_wait(\"s\");\n"                /* 7 */
                  "all_reduce(a, sum);\n"               /* 8 */
                  "all_gather(c, b);\n"                 /* 9 */
                  "if (a[0] == 0) { barrier; }\n"       /* 10 .. 12 */
                  "grid_sync;\n"                        /* 13 */
                  "indirect_dispatch(c, 0);\n"          /* 14 */
                  "let s = subgroup_add(a[1]);\n}");    /* 15 */
    static const char *const want[] = {
        "r@b r@c w:a", "r@c rwa:a", "rwa:a r:b r:c w:w", "w:b r:c", "r@b r:c", "r:w", "w:w",
        "w:a",         "rw:a",      "r:c w:b",           "r@a",     "",        "",    "",
        "r:c",         "r@a"};
    for (uint32_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        check_stmt(&f, i, want[i]);
    }
    const uint32_t waits[] = {0,
                              0,
                              VYRE_WAITS_GROUP,
                              0,
                              0,
                              0,
                              0,
                              0,
                              VYRE_WAITS_GRID,
                              VYRE_WAITS_GRID,
                              0,
                              VYRE_WAITS_GROUP,
                              0,
                              VYRE_WAITS_GRID,
                              0,
                              VYRE_WAITS_SUBGROUP};
    for (uint32_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        CHECK_EQ(vyre_effects_waits(f.effects, f.p->entry + i), waits[i]);
    }
    close_text(&f);
}

TEST(effects_of_a_range) {
    fixture f = open_text("program p workgroup(64) {\n"
                          "inout a : u32[8]; inout b : u32[8]; in c : u32[8];\n"
                          "a[0] = c[0]; atomic_add(b[0], 1); grid_sync; b[1] = a[0];\n}");
    uint64_t reads = 0, writes = 0, atomics = 0;
    vyre_effect_sets sets = {.reads = &reads, .writes = &writes, .atomics = &atomics, .words = 1};
    vyre_effects_collect(f.effects, f.p->entry, f.p->entry + 2, &sets);
    CHECK_EQ(reads, 6);
    CHECK_EQ(writes, 3);
    CHECK_EQ(atomics, 2);
    CHECK_EQ(sets.waits, 0);
    vyre_effects_collect(f.effects, f.p->entry, f.p->stmt_count, &sets);
    CHECK_EQ(reads, 7);
    CHECK_EQ(sets.waits, VYRE_WAITS_GRID);
    close_text(&f);
}

TEST(calls_are_ordered_and_measured) {
    fixture f = open_text("program p workgroup(64) {\n"
                          "inout a : u32[8];\n"
                          "fn top() { mid(); mid(); }\n"
                          "fn mid() { low(); a[1] = 1; }\n"
                          "fn low() { a[0] = 1; }\n"
                          "top(); low();\n}");
    const vyre_fn top = vyre_program_find_fn(f.program, "top");
    const vyre_fn mid = vyre_program_find_fn(f.program, "mid");
    const vyre_fn low = vyre_program_find_fn(f.program, "low");
    CHECK_EQ(f.calls.cycle, VYRE_NONE);
    CHECK_EQ(f.calls.order[0], low);
    CHECK_EQ(f.calls.order[1], mid);
    CHECK_EQ(f.calls.order[2], top);
    CHECK_EQ(f.calls.inlined[low], 1);
    CHECK_EQ(f.calls.inlined[mid], 5); /* a call becomes a block and what is in it */
    CHECK_EQ(f.calls.inlined[top], 16);
    CHECK_EQ(f.calls.inlined[f.p->fn_count], 23);
    CHECK_EQ(f.calls.depth[f.p->fn_count], 3);
    close_text(&f);
}
