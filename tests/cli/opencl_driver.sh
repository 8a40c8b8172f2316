#!/bin/bash
# What becomes of drivers of OpenCL that are missing, broken, or lose their device: typed errors. The driver is a fake one
# (opencl_fake.c) that computes nothing.
. "$VYRE_SOURCE/tests/cli/lib.sh"
command -v gcc >/dev/null || { echo "skipped: there is no gcc" && exit 77; }

mkdir driver old
build=(gcc -shared -fPIC -O1 -Wall -Wextra -Werror -I "$VYRE_SOURCE/src" -I "$VYRE_SOURCE/include")
"${build[@]}" "$VYRE_SOURCE/tests/cli/opencl_fake.c" -o driver/libOpenCL.so.1 || fail "the fake driver does not compile"
"${build[@]}" -DOLD "$VYRE_SOURCE/tests/cli/opencl_fake.c" -o old/libOpenCL.so.1 || fail "nor does the old one"

# with WHAT CODE [OPTION...]: runs saxpy while WHAT fails.
with() {
    expect_exit "$2" env FAKE_OPENCL="$1" FAKE_LAUNCHES=launches LD_LIBRARY_PATH="${driver:-driver}" "$VYRE" run \
        "$VYRE_SOURCE/examples/saxpy.vy" --in x=iota:999 --in y=iota:999 --backend opencl --no-cache --json "${@:3}"
}
status() { expect_out "\"status\":\"$1\""; }

# Nothing fails: a processor has a work-item for each group.
with '' 0
expect_same launches <(echo "4 1")
with none 4
expect_err 'the OpenCL loader knows 0 platforms, and no device'
expect_err 'pocl-opencl-icd'
with broken 4
expect_err 'no device'
driver=old with '' 4
expect_err 'the OpenCL loader lacks functions of OpenCL 1.2'
with flush 4
expect_err 'does not compute f32 exactly'

# The log of the compiler is part of the message.
with Build=-11 5
status 'device failed'
expect_err 'refuses saxpy_0, error -11: line 3: the fake compiler likes no text'
with Kernel=-46 5
expect_err "OpenCL can't make a kernel: error -46"

# A device that is gone is not one that failed: at the launch, when it is waited for, in what came of the launch.
for place in Launch Finish Event; do
    with $place=-2 5
    status 'device lost'
    expect_err 'error -2'
    with $place=-5 5
    status 'device failed'
    expect_err 'error -5'
done
with Read=-5 5
expect_err "OpenCL can't read memory: error -5"
with Launch=-4 6
status 'out of memory'
with Buffer=-61 6
expect_err 'out of memory on opencl for x of 3996 bytes'

# Limits of a device whose groups are groups of work-items; then they are.
with gpu 3
expect_err 'a workgroup has 256 lanes, and at most 64 on opencl'
printf 'program p workgroup(64) grid(3) { out x : u32[192]; x[global_id.x] = 1; }\n' >small.vy
rm launches
expect_exit 0 env FAKE_OPENCL=gpu FAKE_LAUNCHES=launches LD_LIBRARY_PATH=driver "$VYRE" run small.vy --backend opencl --no-cache
expect_same launches <(echo "192 64")

# All segments of a program are one text for the driver, and one binary the next time.
cat >three.vy <<'PROGRAM'
program three workgroup(32) elements(256) {
    inout v : u32[256];
    out   w : u32[256];
    w[global_id.x] = v[(global_id.x + 40) % 256];
    grid_sync;
    v[global_id.x] = w[(global_id.x + 50) % 256];
    grid_sync;
    w[global_id.x] = v[(global_id.x + 60) % 256];
}
PROGRAM
three() {
    rm -f programs launches
    expect_exit 0 env FAKE_OPENCL=binaries FAKE_PROGRAMS=programs FAKE_LAUNCHES=launches LD_LIBRARY_PATH=driver "$VYRE" run \
        three.vy --backend opencl --in v=iota:256 "$@"
    expect_same launches <(printf '8 1\n8 1\n8 1\n')
}
three --no-cache
expect_same programs <(echo text)
three
expect_same programs <(echo text)
three
expect_same programs <(echo binary)
