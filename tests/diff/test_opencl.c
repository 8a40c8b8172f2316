/* OpenCL against ref, on the first device that there is: every stored program and random ones. More
 * of these with `make fuzz-diff BACKEND=opencl`. */
#include "diff/programs.h"
#include "diff/stored.h"
#include "harness/run.h"
#include "vyre/device.h"

enum { RANDOM = 8 };

static void need_opencl(void) {
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    const vyre_status status = vyre_device_open(NULL, "opencl", NULL, &device, &diag);
    vyre_device_close(device);
    if (status != VYRE_OK) {
        test_skip(diag.message);
    }
}

TEST(goldens_and_examples_give_the_same_bytes_by_opencl) {
    need_opencl();
    /* Found with PoCL 3.1; the text of the kernel is right, and ref gives it its meaning. */
    static const stored_flaw flaws[] = {
        {"tests/golden/diff/reduce_behind_ended_groups.vy",
         "PoCL loses a store that all living lanes do alike, if the first one has ended"},
        {NULL, NULL}};
    CHECK(stored_check_all("opencl", flaws).same > 40);
}

TEST(random_programs_give_the_same_bytes_by_opencl) {
    need_opencl();
    diff_check_random("opencl", 88000, test_scaled(RANDOM));
}
