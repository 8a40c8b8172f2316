/* Lowered programs: random ones on a device that claims the core only. */
#include "diff/differ.h"
#include "harness/test.h"
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
