/* Lowered programs on a device that claims the core only: random ones, and every one that is stored
 * in the repository. */
#include "diff/differ.h"
#include "diff/minimal.h"
#include "diff/stored.h"
#include "harness/run.h"
#include "random/random_program.h"

enum { PROGRAMS = 300, FIRST_SEED = 910001 };

TEST(random_programs_give_the_same_bytes_on_the_core) {
    static differ d;
    vyre_diag diag = {0};
    REQUIRE_OK(differ_init(&d, "ref-minimal", &diag), &diag);
    for (uint64_t i = 0; i < test_scaled(PROGRAMS) && !test_failed(); i++) {
        vyre_program *program = NULL;
        REQUIRE_OK(random_order_free(FIRST_SEED + i, &program, &diag), &diag);
        if (differ_check(&d, program) != DIFFER_SAME) {
            test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %s", FIRST_SEED + i, d.why);
        }
        vyre_program_release(program);
    }
    differ_finish(&d);
}

/* Cases of conformance run on the core in tests/conform. */
TEST(goldens_and_examples_give_the_same_bytes_on_the_core) {
    run_add(minimal_add);
    CHECK(stored_check_all("ref-minimal", NULL).same > 40);
}
