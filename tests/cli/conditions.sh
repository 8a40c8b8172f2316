#!/bin/bash
# Programs whose lanes stay together only if a product does not wrap: the check names it, a dispatch
# and emitted code refuse where it does.
. "$VYRE_SOURCE/tests/cli/lib.sh"
cat >rounds.vy <<'VY'
program rounds workgroup(64) grid(4) {
    param rounds : u32 = 3;
    inout a : u32[];

    for (i in global_id.x .. (rounds + len(a) - 256 * num_groups.x) * global_size.x step global_size.x) {
        let next = a[(i + 1) % len(a)];
        grid_sync;
        a[i] = next + i;
    }
}
VY
text='(len(a) + rounds - 256 * num_groups.x) * global_size.x'
expect_exit 0 "$VYRE" check rounds.vy
expect_err "rounds.vy:5:5: note: all lanes make the same trips only if $text fits u32"
expect_exit 0 "$VYRE" check rounds.vy --no-warn
expect_quiet err
expect_exit 0 "$VYRE" check rounds.vy --json
expect_out '"severity":"note"'
expect_out "$text fits u32"

backends="ref ref-split ref-schedule cpu"
expect_exit 0 "$VYRE" devices
! grep -q '^opencl ' out || backends+=" opencl"
for backend in $backends; do
    expect_exit 0 "$VYRE" run rounds.vy --in a=iota:1024 --backend "$backend" --out "a=$backend.txt"
    expect_quiet err
    expect_same ref.txt "$backend.txt"
    # 2^32 / 256 trips are one too many; one fewer would fit.
    expect_exit 3 "$VYRE" run rounds.vy --in a=iota:1024 --backend "$backend" --set rounds=16777216
    expect_err "rounds.vy:5:5: error: $text is 4294967296 and does not fit u32"
    expect_exit 3 "$VYRE" run rounds.vy --in a=iota:1023 --set rounds=0 --backend "$backend"
    expect_err "$text is 1099511627520 and does not fit u32"
    expect_exit 3 "$VYRE" run rounds.vy --in a=iota:1024 --backend "$backend" --set rounds=16777216 --json
    expect_out '"status":"invalid input"'
    expect_out "$text is 4294967296 and does not fit u32"
done
# More lanes, or none at all.
expect_exit 3 "$VYRE" run rounds.vy --in a=iota:1024 --grid 67108863
expect_err "$text is 5510442958656 and does not fit u32"
expect_exit 0 "$VYRE" run rounds.vy --in a=iota:1024 --grid 0 --set rounds=16777216

# The product may come by variables, as an argument and as a result.
loop='for (i in global_id.x .. end step global_size.x) { let next = a[(i + 1) % len(a)]; grid_sync; a[i] = next + i; }'
product='rounds * global_size.x'
for body in "let end = $product; $loop" "let end = 0; end = $product; $loop" "let end = $product; let last = end; ${loop/end/last}" \
    "fn times() -> u32 { return $product; } let end = times(); $loop" "fn go(end : u32) { $loop } go($product);"; do
    echo "program ways workgroup(64) grid(4) { param rounds : u32 = 3; inout a : u32[]; $body }" >ways.vy
    expect_exit 0 "$VYRE" split ways.vy
    expect_out "only right where $product fits u32"
    expect_exit 0 "$VYRE" run ways.vy --in a=iota:1024 --backend ref-split --out a=way.txt
    expect_same ref.txt way.txt
done

expect_exit 0 "$VYRE" split rounds.vy
expect_out "only right where $text fits u32: test it before the first step"
expect_exit 0 "$VYRE" split rounds.vy --json
expect_out "\"conditions\":[\"$text\"]"
expect_exit 0 "$VYRE" emit rounds.vy --target opencl
expect_out " * only right where $text fits u32: test it before the first step"
expect_exit 0 "$VYRE" emit rounds.vy --target cuda
expect_out "// $text fits, or lanes would not meet at a barrier"
expect_exit 0 "$VYRE" emit rounds.vy --target c -o made
cat >main.c <<'PROGRAM'
#include "made/rounds.c"
#include <stdio.h>
static uint32_t a[1024];
static int run(uint64_t len, uint32_t rounds, uint32_t groups) {
    const rounds_args args = {
        .a = a, .vy_len_a = len, .rounds = rounds, .vy_groups = {groups, 1, 1}};
    for (uint32_t i = 0; i < 1024; i++) {
        a[i] = i;
    }
    return rounds_run(&args, NULL);
}
int main(void) {
    const int wrong = run(1024, 16777216, 4) != rounds_SIZE ? 1
                      : run(1023, 0, 4) != rounds_SIZE      ? 2
                      : run(1024, 3, 67108863) != rounds_SIZE ? 3
                      : run(1024, 3, 4) != rounds_OK        ? 4
                                                            : 0;
    for (uint32_t i = 0; i < 1024; i++) {
        printf("%u\n", a[i]);
    }
    return wrong;
}
PROGRAM
expect_exit 0 gcc -std=c11 -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas -O1 main.c -o main -lm
expect_exit 0 ./main
expect_same ref.txt out
