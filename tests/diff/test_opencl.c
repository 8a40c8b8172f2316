/* OpenCL against ref, on the first device that there is: every stored program and random ones. More
 * of these with `make fuzz-diff BACKEND=opencl`. */
#include <string.h>

#include "diff/programs.h"
#include "diff/stored.h"
#include "harness/run.h"
#include "vyre/device.h"

enum { RANDOM = 50 };

/* Compiling takes most of the time, so that each folder is a test of its own, and a test that is
 * scaled down leaves all but the examples and lanes out. */
static const stored_flaw flaws[] = {{NULL, NULL}};

static void check_folder(const char *folder, uint32_t least) {
    stored_totals t = {0};
    run_need("opencl");
    if (test_scaled(100) < 100 && strcmp(folder, "examples") != 0 &&
        strcmp(folder, "tests/golden/lanes") != 0) {
        test_skip("only the examples and lanes in a short run");
    }
    stored_check_folder("opencl", folder, "", flaws, &t);
    CHECK(t.same >= least);
}

TEST(past_bugs_give_the_same_bytes_by_opencl) {
    check_folder("tests/golden/diff", 15);
}

TEST(split_programs_give_the_same_bytes_by_opencl) {
    check_folder("tests/golden/split", 8);
}

TEST(lowered_programs_give_the_same_bytes_by_opencl) {
    check_folder("tests/golden/lower", 3);
    check_folder("tests/golden/split/lowered", 1);
    check_folder("tests/golden/split/group", 1);
}

TEST(some_lanes_give_the_same_bytes_by_opencl) {
    check_folder("tests/golden/lanes", 5);
}

TEST(examples_give_the_same_bytes_by_opencl) {
    check_folder("examples", 6);
}

TEST(random_programs_give_the_same_bytes_by_opencl) {
    run_need("opencl");
    diff_check_random("opencl", 88000, test_scaled(RANDOM));
}
