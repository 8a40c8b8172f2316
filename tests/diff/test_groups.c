/* Splitting at workgroup scope: segments of random programs, cut again at their workgroup barriers,
 * run group after group on a device without any barrier, and the rules for them. */
#include "diff/differ.h"
#include "diff/groups.h"
#include "harness/test.h"
#include "random/random_program.h"
#include "vyre/check.h"
#include "vyre/split.h"
#include "vyre/text.h"

enum { PROGRAMS = 500, FIRST_SEED = 700001 };

static const vyre_split_options by_group = {.scope = VYRE_SPLIT_SCOPE_WORKGROUP};

TEST(random_programs_give_the_same_bytes_group_by_group) {
    static differ d;
    vyre_diag diag = {0};
    REQUIRE_OK(differ_init(&d, "ref-groups", &diag), &diag);
    for (uint64_t i = 0; i < test_scaled(PROGRAMS) && !test_failed(); i++) {
        vyre_program *program = NULL;
        REQUIRE_OK(random_order_free(FIRST_SEED + i, &program, &diag), &diag);
        differ_draw(&d, FIRST_SEED + i);
        if (differ_check(&d, program) != DIFFER_SAME) {
            test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s", FIRST_SEED + i, d.why);
        }
        vyre_program_release(program);
    }
    differ_finish(&d);
}

/* Whether the program, without grid barriers, falls into pieces that are proper programs without
 * barriers; how many. */
static uint32_t check_pieces(const vyre_program *program) {
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(program, &by_group, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    const uint32_t count = v->segment_count;
    CHECK_EQ(v->scope, VYRE_SPLIT_SCOPE_WORKGROUP);
    CHECK_EQ(v->group_words, 0);
    CHECK_EQ(v->group_value_words, 0);
    for (uint32_t i = 0; i < count; i++) {
        const vyre_program_view *p = vyre_program_get(v->segments[i]);
        vyre_diag items[4] = {0};
        vyre_diag_list list = {.items = items, .capacity = 4};
        CHECK_EQ(p->stats.stmt_kinds >> VYRE_STMT_BARRIER & 1, 0);
        if (vyre_check(v->segments[i], NULL, &list) != VYRE_OK) {
            test_fail(__FILE__, __LINE__, "%s: %s", p->name, items[0].message);
        }
        for (vyre_decl d = 0; d < p->decl_count; d++) {
            CHECK(p->decls[d].role != VYRE_WORKGROUP);
        }
    }
    vyre_module_release(m);
    return count;
}

TEST(pieces_are_programs_without_barriers) {
    uint32_t pieces = 0, segments = 0;
    for (uint64_t i = 0; i < test_scaled(PROGRAMS) && !test_failed(); i++) {
        vyre_program *program = NULL;
        vyre_module *m = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(random_order_free(FIRST_SEED + i, &program, &diag), &diag);
        REQUIRE_OK(vyre_split(program, NULL, NULL, &m, &diag), &diag);
        for (uint32_t k = 0; k < vyre_module_get(m)->segment_count; k++) {
            pieces += check_pieces(vyre_module_get(m)->segments[k]);
            segments++;
        }
        vyre_module_release(m);
        vyre_program_release(program);
    }
    CHECK(pieces > segments + segments / 4); /* or the programs have too few barriers */
}

static vyre_program *parse(const char *text) {
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    vyre_diag_list list = {.items = &diag, .capacity = 1};
    REQUIRE_OK(vyre_parse(text, strlen(text), NULL, NULL, &program, &list), &diag);
    return program;
}

TEST(a_program_that_waits_for_its_grid_is_refused) {
    vyre_program *p = parse("program p workgroup(2) elements(4) { inout s : u32[4]; grid_sync;\n"
                            "  s[global_id.x] = 1; }");
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_split(p, &by_group, NULL, &m, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "program p waits for its grid");
    CHECK_HAS(diag.fix, "grid scope first");
    CHECK(!m);
    vyre_program_release(p);
}

static const char reduction[] =
    "program p workgroup(4) grid(3) { in x : u32[12]; out y : u32[3]; workgroup t : u32[4];\n"
    "  let i = local_id.x; t[i] = x[global_id.x]; let half = 2;\n"
    "  while (half > 0) { barrier; if (i < half) { t[i] = t[i] + t[i + half]; } half /= 2; }\n"
    "  barrier; if (i == 0) { y[group_id.x] = t[0]; } }";

TEST(values_of_a_group_are_stored_once_and_its_memory_stays) {
    vyre_program *p = parse(reduction);
    vyre_module *m = NULL;
    REQUIRE_OK(vyre_split(p, &by_group, NULL, &m, NULL), NULL);
    const vyre_module_view *v = vyre_module_get(m);
    CHECK_EQ(v->segment_count, 3);
    CHECK_EQ(v->sync_points, 2);
    CHECK_EQ(v->lane_words, 0);   /* i is computed again */
    CHECK_EQ(v->scalar_count, 3); /* half, and what decides in two steps */
    vyre_module_release(m);
    vyre_program_release(p);
}

/* A lane that traps must not go on behind the barrier, or wait for nobody there. */
TEST(a_lane_that_traps_is_remembered) {
    vyre_program *p = parse("program p workgroup(4) grid(1) { inout s : u32[4];\n"
                            "  if (local_id.x == 2) { trap(\"t\", 5); } barrier;\n"
                            "  s[local_id.x] = 1; }");
    vyre_module *m = NULL;
    REQUIRE_OK(vyre_split(p, &by_group, NULL, &m, NULL), NULL);
    CHECK_EQ(vyre_module_get(m)->lane_words, 1);
    const vyre_program_view *first = vyre_program_get(vyre_module_get(m)->segments[0]);
    bool marked = false;
    for (vyre_stmt s = first->entry; s < first->stmt_count; s++) {
        marked |= first->stmts[s].op == VYRE_STMT_STORE;
        CHECK(first->stmts[s].op != VYRE_STMT_TRAP || marked);
    }
    CHECK(marked);
    vyre_module_release(m);
    vyre_program_release(p);
}

static vyre_status split_by_group(const vyre_allocator *a, void *program) {
    vyre_module *m = NULL;
    const vyre_status status = vyre_split(program, &by_group, a, &m, NULL);
    vyre_module_release(m);
    return status;
}

TEST(every_allocation_may_fail) {
    vyre_program *p = parse(reduction);
    CHECK(test_every_allocation(split_by_group, p, 400) > 10);
    vyre_program_release(p);
}
