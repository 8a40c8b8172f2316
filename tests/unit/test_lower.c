/* Lowering as a whole: text before and after for each pass (tests/golden/lower: the first line of a
 * program says what the device lacks), names of capabilities, what is refused, memory that runs
 * out. With VYRE_UPDATE set the stored texts are rewritten. */
#include <dirent.h>

#include "analysis/calls.h"
#include "base/text.h"
#include "harness/run.h"
#include "lower/inline.h"
#include "unit/lowering.h"

static void read_file(const char *name, char *room, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/lower/%s", VYRE_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(room, 1, size - 1, file) : 0;
    room[got] = '\0';
    if (file) {
        fclose(file);
    }
}

static void write_file(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/lower/%s", VYRE_SOURCE_DIR, name);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

TEST(programs_before_and_after) {
    static char text[1 << 16], stored[1 << 18];
    char folder[512], name[300], capabilities[128];
    snprintf(folder, sizeof folder, "%s/tests/golden/lower", VYRE_SOURCE_DIR);
    DIR *directory = opendir(folder);
    REQUIRE(directory != NULL);
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        const char *end = strstr(entry->d_name, ".vy");
        if (!end) {
            continue;
        }
        read_file(entry->d_name, text, sizeof text);
        REQUIRE(sscanf(text, "// %127[^\n]", capabilities) == 1);
        vyre_program *source = run_parse(text);
        vyre_program *lowered = lowering_of(source, capabilities);
        vyre_text shown = lowering_text(lowered);
        snprintf(name, sizeof name, "%.*s.lowered", (int)(end - entry->d_name), entry->d_name);
        if (getenv("VYRE_UPDATE")) {
            write_file(name, vyre_text_string(&shown));
        }
        read_file(name, stored, sizeof stored);
        CHECK_STR(vyre_text_string(&shown), stored);
        vyre_text_finish(&shown);
        vyre_program_release(lowered);
        vyre_program_release(source);
        count++;
    }
    closedir(directory);
    CHECK(count > 0);
}

TEST(capabilities_have_names) {
    vyre_capabilities can, all = vyre_capabilities_all();
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_capabilities_named("all", &can, &diag), VYRE_OK, &diag);
    CHECK_EQ(can.exprs[1], all.exprs[1]);
    CHECK_EQ(can.stmts, all.stmts);
    CHECK(can.lanes_may_end && can.zeroes_workgroup);
    CHECK_STATUS(
        vyre_capabilities_named("sin,atomic_min,subgroup_add,f64,barrier,local_id", &can, &diag),
        VYRE_OK, &diag);
    CHECK_EQ(can.exprs[VYRE_EXPR_SIN / 64],
             all.exprs[VYRE_EXPR_SIN / 64] & ~(UINT64_C(1) << VYRE_EXPR_SIN % 64));
    CHECK_EQ(can.stmts, all.stmts & ~(UINT64_C(1) << VYRE_STMT_BARRIER));
    CHECK_EQ(can.types, all.types & ~(1u << VYRE_F64));
    CHECK_EQ(can.buffer_atomics[VYRE_U32], all.buffer_atomics[VYRE_U32] & ~(1u << VYRE_ATOMIC_MIN));
    CHECK_EQ(can.subgroups, all.subgroups & ~(1u << VYRE_SUBGROUP_ADD));
    CHECK_EQ(can.builtins, all.builtins & ~(1u << VYRE_BUILTIN_LOCAL_ID));
    CHECK_STATUS(vyre_capabilities_named("opencl,f64", &can, &diag), VYRE_OK, &diag);
    CHECK(!can.lanes_may_end && !(can.types >> VYRE_F64 & 1));
    static const char *const bad[] = {"", "sin,", ",sin", "sin,opencl", "nothing"};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(vyre_capabilities_named(bad[i], &can, &diag),
                     i == 1 ? VYRE_OK : VYRE_NOT_FOUND, &diag);
    }
}

TEST(what_no_pass_replaces_is_refused_with_its_place) {
    static const struct {
        const char *lacks, *line, *says;
    } cases[] = {
        {"sqrt", "y[0] = sqrt(y[1]);", "SQRT"},
        {"barrier", "barrier;", "BARRIER"},
        {"f64", "y[0] = f32(f64(y[1]));", "f64"},
        {"u16", "y[0] = f32(u16(y[1]));", "u16"},
        {"group_id", "y[0] = f32(group_id.x);", "group_id"},
        {"atomic_add", "atomic_add(n[0], 1);", "atomic_add"},
        {"u64_atomics", "atomic_add(w[0], 1);", "64-bit atomics"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "program p workgroup(1) elements(1) { out y : f32[2]; out n : u32[2];\n"
                 " out w : u64[2];\n %s }",
                 cases[i].line);
        vyre_program *p = run_parse(text), *lowered = NULL;
        vyre_capabilities can;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_capabilities_named(cases[i].lacks, &can, &diag), &diag);
        CHECK_STATUS(vyre_lower(p, &can, NULL, &lowered, &diag), VYRE_UNSUPPORTED, &diag);
        CHECK_EQ(diag.line, 3);
        CHECK_HAS(diag.message, cases[i].says);
        vyre_program_release(p);
    }
}

static vyre_status lower_with(const vyre_allocator *a, void *user) {
    vyre_capabilities can;
    vyre_diag diag = {0};
    vyre_program *lowered = NULL;
    vyre_status status = vyre_capabilities_named("minimal", &can, &diag);
    if (status == VYRE_OK) {
        status = vyre_lower(user, &can, a, &lowered, &diag);
    }
    vyre_program_release(lowered);
    return status;
}

TEST(memory_may_run_out_anywhere) {
    vyre_program *p =
        run_parse("program p workgroup(2) elements(4) { out y : f32[4];\n"
                  "  fn f(a : f32) -> f32 { return sin(a); }\n"
                  "  while (pow(y[0], 2.0) < 1.0) { y[0] = y[0] + f(y[1]) + 1.0; } }");
    CHECK(test_every_allocation(lower_with, p, 300) > 10);
    vyre_program_release(p);
}

/* What the check counts is what inlining makes, or more: what it accepts can be inlined. */
TEST(inlining_makes_no_more_statements_than_the_check_counts) {
    for (uint32_t depth = 0; depth < 9; depth++) {
        vyre_text text;
        vyre_text_init(&text, NULL);
        vyre_text_puts(&text,
                       "program p workgroup(1) grid(1) {\n inout v : u32[1];\n"
                       " fn r0(x : u32, y : u32) -> u32 { if (x > y) { return 3; } return x; }\n"
                       " fn s0() { v[0] = v[0] + 1; }\n");
        for (uint32_t i = 1; i <= depth; i++) {
            vyre_text_printf(&text,
                             " fn r%u(x : u32, y : u32) -> u32 { return r%u(r%u(x, 1), y); }\n"
                             " fn s%u() { s%u(); s%u(); }\n",
                             i, i - 1, i - 1, i, i - 1, i - 1);
        }
        vyre_text_printf(&text, " v[0] = r%u(v[0], 2);\n s%u();\n}\n", depth, depth);
        vyre_program *program = run_parse(vyre_text_string(&text)), *inlined = NULL;
        const vyre_allocator a = vyre_allocator_system();
        vyre_calls calls;
        REQUIRE_OK(vyre_calls_init(&calls, program, &a), NULL);
        REQUIRE_OK(vyre_inline(program, &a, &inlined, NULL), NULL);
        const uint64_t counted = calls.inlined[vyre_program_get(program)->fn_count];
        CHECK(vyre_program_get(inlined)->stmt_count <= counted);
        CHECK(counted <= 2 * (uint64_t)vyre_program_get(inlined)->stmt_count);
        vyre_calls_finish(&calls, &a);
        vyre_program_release(inlined);
        vyre_program_release(program);
        vyre_text_finish(&text);
    }
}
