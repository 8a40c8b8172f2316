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
fi
expect_exit 0 env OCL_ICD_VENDORS=/nowhere "$VYRE" devices
expect_out 'pocl-opencl-icd'

# What CUDA has no room for is said.
printf 'program p workgroup(2048) elements(1) { out x : u32[1]; x[0] = local_id.x; }\n' >large.vy
expect_exit 4 "$VYRE" emit large.vy --target cuda
expect_err 'blocks of CUDA have 1024 threads'

expect_exit 2 "$VYRE" emit "$VYRE_SOURCE/examples/saxpy.vy" --target fortran
expect_exit 2 "$VYRE" emit
expect_exit 3 "$VYRE" emit missing.vy
