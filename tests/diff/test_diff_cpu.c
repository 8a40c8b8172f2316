/* The differential test of compiled programs: the seed draws threads, features of the processor,
 * lanes in lockstep, how much LLVM tries, and whether the program is split. */
#include "diff/programs.h"
#include "harness/test.h"
#include "vyre/device.h"

enum { COMPILED = 50 };

static void need_llvm(void) {
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
}

/* In parts, so that each has its time. */
static void check_compiled(uint64_t part) {
    need_llvm();
    diff_check_random("cpu", part * COMPILED, test_scaled(COMPILED));
}

TEST(compiled_programs_give_the_same_bytes_1) {
    check_compiled(1);
}

TEST(compiled_programs_give_the_same_bytes_2) {
    check_compiled(2);
}

TEST(compiled_programs_give_the_same_bytes_3) {
    check_compiled(3);
}

TEST(compiled_programs_give_the_same_bytes_4) {
    check_compiled(4);
}

TEST(compiled_programs_give_the_same_bytes_5) {
    check_compiled(5);
}

TEST(compiled_programs_give_the_same_bytes_6) {
    check_compiled(6);
}

TEST(reduced_programs_of_past_bugs_stay_right_compiled) {
    need_llvm();
    diff_check_stored("cpu://gang=8");
}
