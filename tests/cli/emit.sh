#!/bin/bash
# emit: the text of every example, byte by byte, and that compilers take it without a word; bad calls.
# With --update the stored outputs are rewritten.
. "$VYRE_SOURCE/tests/cli/lib.sh"
golden=$VYRE_SOURCE/tests/golden/emit

# same FILE NAME.SUFFIX: the text is the stored one.
same() {
    [[ ${update:-} != --update ]] || cp "$1" "$golden/$2.text"
    expect_same "$1" "$golden/$2.text"
}
update=${1:-}

for subject in "$VYRE_SOURCE"/examples/*.vy "$golden"/*.vy; do
    name=$(basename "$subject" .vy)
    for target in c opencl cuda; do
        expect_exit 0 "$VYRE" emit "$subject" --target $target -o made
        expect_quiet out
        expect_quiet err
    done
    same "made/$name.c" "$name.c"
    same "made/$name.cl" "$name.cl"
    same "made/$name.cu" "$name.cu"
    expect_exit 0 "$VYRE" emit "$subject" --target opencl --processor -o made
    same "made/$name.cl" "$name.processor.cl"
done
expect_exit 0 "$VYRE" emit "$golden/kinds.vy"
expect_same out "$golden/kinds.c.text"

for name in saxpy reduce bfs jacobi kinds; do
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        expect_exit 0 $compiler -std=c11 -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas \
            -O1 -ffp-contract=off -c "made/$name.c" -o made/out.o
        expect_quiet err
    done
done

# Lengths that a dispatch would refuse are refused: parts of rows, swapped memory of two lengths.
cat >rows.vy <<'PROGRAM'
program rows workgroup(4) elements(4) {
    param m : i32 = 2;
    param n : u32 = 2;
    inout a : u32[][n][3];
    inout b : u32[][n][3];
    scratch q : u32[4][m];
    a[global_id.x][1][2] = b[global_id.x][0][1] + q[1][1];
    swap(a, b);
    b[global_id.x][0][0] += 1;
}
PROGRAM
expect_exit 0 "$VYRE" emit rows.vy --target c -o made
cat >main.c <<'PROGRAM'
#include "made/rows.c"
static int run(uint64_t a, uint64_t b, uint32_t n, int32_t m) {
    static uint32_t x[48], y[48];
    const rows_args args = {.a = x, .vy_len_a = a, .b = y, .vy_len_b = b, .n = n, .m = m};
    return rows_run(&args, NULL);
}
int main(void) {
    return run(24, 24, 2, 2) != rows_OK           ? 1
           : run(25, 25, 2, 2) != rows_SIZE       ? 2
           : run(24, 24, 3, 2) != rows_SIZE       ? 3
           : run(24, 24, 0, 2) != rows_SIZE       ? 4
           : run(24, 24, 2, -2) != rows_SIZE      ? 5
           : run(24, 18, 2, 2) != rows_SIZE       ? 6
           : run(27, 27, 3, 2) != rows_OK         ? 7
                                                  : 0;
}
PROGRAM
expect_exit 0 gcc -std=c11 -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas -O1 main.c -o main -lm
expect_exit 0 ./main
for lengths in "25 25 2" "24 24 0" "24 18 2"; do
    read -r a b n <<<"$lengths"
    expect_exit 3 "$VYRE" run rows.vy --backend ref --in a=iota:"$a" --in b=iota:"$b" --set n="$n"
done

# One file with most constructs; `make test-cuda` compiles all that there are.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [[ -x $nvcc ]]; then
    expect_exit 0 "$nvcc" -rdc=true -fmad=false -Xcompiler -ffp-contract=off -c made/kinds.cu -o made/out.o
    expect_quiet err
else
    echo "not compiled: CUDA C++, there is no nvcc"
fi

# Devices of a driver have numbers and names; what is not there says what brings it.
expect_exit 0 env POCL_DEVICES='pthread pthread' "$VYRE" devices
if grep -q '^opencl .*split at grid' out; then
    expect_out 'opencl://1 '
    expect_exit 0 "$VYRE" run "$VYRE_SOURCE/examples/saxpy.vy" --in x=iota:9 --in y=iota:9 --backend opencl://0
    expect_exit 4 "$VYRE" run "$VYRE_SOURCE/examples/saxpy.vy" --in x=iota:9 --in y=iota:9 --backend opencl://none
    expect_err 'no "none" among them'
    # A processor runs groups of any size, whatever its driver does with work-items.
    printf 'program p workgroup(512) grid(2) { out x : u32[1024]; workgroup w : u32[512]; w[local_id.x] = global_id.x;
        barrier; x[global_id.x] = w[511 - local_id.x]; }\n' >wide.vy
    for backend in ref opencl; do
        expect_exit 0 env POCL_MAX_WORK_GROUP_SIZE=64 "$VYRE" run wide.vy --backend $backend --out x=$backend.raw
    done
    expect_same opencl.raw ref.raw
    # What a group keeps while it waits must fit, too.
    printf 'program p workgroup(4096) grid(1) { out x : u64[4096]; private a : u64[4000]; let i = local_id.x;
        for (k in 0 .. 4000) { a[k] = u64(i * k); } barrier; for (k in 0 .. 4000) { x[i] = x[i] ^ a[k]; } }\n' >deep.vy
    expect_exit 4 "$VYRE" run deep.vy --backend opencl
    expect_err 'for what lanes keep'
fi
expect_exit 0 env OCL_ICD_VENDORS=/nowhere "$VYRE" devices
expect_out 'pocl-opencl-icd'

# What CUDA has no room for is said.
printf 'program p workgroup(2048) elements(1) { out x : u32[1]; x[0] = local_id.x; }\n' >large.vy
expect_exit 4 "$VYRE" emit large.vy --target cuda
expect_err 'blocks of CUDA have 1024 threads'

expect_exit 2 "$VYRE" emit "$VYRE_SOURCE/examples/saxpy.vy" --target fortran
expect_exit 2 "$VYRE" emit "$VYRE_SOURCE/examples/saxpy.vy" --target cuda --processor
expect_err 'target cuda has no form of its own for processors'
expect_exit 2 "$VYRE" emit
expect_exit 3 "$VYRE" emit missing.vy
