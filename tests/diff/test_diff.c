/* Differential test: random order-free programs, and the reduced programs of bugs that were found,
 * run natively and split, in all orders and by both paths. Compiled ones: test_diff_cpu.c. */
#include "diff/programs.h"
#include "diff/reduce.h"
#include "harness/test.h"
#include "random/random_program.h"

enum { PROGRAMS = 2000, SCHEDULED = 400 };

TEST(random_programs_give_the_same_bytes_every_way) {
    diff_check_random("ref-split", 0, test_scaled(PROGRAMS));
}

TEST(a_device_that_runs_schedules_itself_gives_the_same_bytes) {
    diff_check_random("ref-schedule", 0, test_scaled(SCHEDULED));
}

TEST(a_device_that_queues_gives_the_same_bytes) {
    diff_check_random("ref-queue", 0, test_scaled(SCHEDULED));
}

TEST(loops_over_all_elements_give_the_same_bytes_when_turned) {
    diff_check_random("ref-split://turn_loops=1", 0, test_scaled(SCHEDULED));
}

/* The reducer */

static bool has_a_barrier_in_a_loop(const vyre_program *program, void *user) {
    const vyre_program_view *p = vyre_program_get(program);
    uint32_t loops = 0;
    (void)user;
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        const uint8_t op = s->op == VYRE_STMT_END ? p->stmts[s->match].op : s->op;
        const bool loop = op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
        loops += loop ? (s->op == VYRE_STMT_END ? UINT32_MAX : 1) : 0;
        if (s->op == VYRE_STMT_GRID_SYNC && loops > 0) {
            return true;
        }
    }
    return false;
}

TEST(a_reduced_program_has_nothing_left_to_drop) {
    uint32_t found = 0;
    for (uint64_t seed = 1; found < 5; seed++) {
        vyre_program *program = NULL;
        REQUIRE_OK(random_order_free(seed, &program, NULL), NULL);
        if (has_a_barrier_in_a_loop(program, NULL)) {
            vyre_program *small = reduce_while(program, has_a_barrier_in_a_loop, NULL);
            const vyre_program_view *p = vyre_program_get(small);
            CHECK_EQ(p->stmt_count, 3); /* loop, barrier, end */
            CHECK_EQ(p->decl_count, 0);
            CHECK_EQ(p->fn_count, 0);
            CHECK_EQ(p->workgroup[0], 1);
            vyre_program_release(small);
            found++;
        }
        vyre_program_release(program);
    }
}

TEST(reducing_ends_when_it_is_interrupted) {
    static differ d;
    const volatile sig_atomic_t stop = 1;
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(differ_init(&d, "ref-split", &diag), &diag);
    REQUIRE_OK(random_order_free(1, &program, NULL), NULL);
    vyre_program *small = reduce(&d, program, DIFFER_SAME, &stop);
    CHECK_EQ(vyre_program_get(small)->stmt_count, vyre_program_get(program)->stmt_count);
    vyre_program_release(small);
    vyre_program_release(program);
    differ_finish(&d);
}

TEST(reduced_programs_of_past_bugs_stay_right) {
    diff_check_stored("ref-split");
    diff_check_stored("ref-split://turn_loops=1");
    diff_check_stored("ref-schedule");
    diff_check_stored("ref-groups");
    diff_check_stored("ref-minimal");
    diff_check_stored("ref-queue");
    diff_check_stored("ref-queue://ahead=4");
}
