#!/bin/bash
# emit: the text of the examples, byte by byte, and that compilers take it without a word; bad calls.
# With --update the stored outputs are rewritten.
. "$VYRE_SOURCE/tests/cli/lib.sh"
golden=$VYRE_SOURCE/tests/golden/emit

for subject in "$VYRE_SOURCE"/examples/{saxpy,reduce,bfs}.vy "$golden"/*.vy; do
    name=$(basename "$subject" .vy)
    expect_exit 0 "$VYRE" emit "$subject" --target c
    expect_quiet err
    [[ ${1:-} != --update ]] || cp out "$golden/$name.c.text"
    expect_same out "$golden/$name.c.text"
    expect_exit 0 "$VYRE" emit "$subject" -o made
    expect_quiet out
    expect_same "made/$name.c" "$golden/$name.c.text"
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        expect_exit 0 $compiler -std=c11 -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas \
            -O1 -ffp-contract=off -c "made/$name.c" -o made/out.o
        expect_quiet err
    done
done

for subject in "$VYRE_SOURCE"/examples/bfs.vy "$golden"/*.vy; do
    name=$(basename "$subject" .vy)
    expect_exit 0 "$VYRE" emit "$subject" --target opencl -o made
    [[ ${1:-} != --update ]] || cp "made/$name.cl" "$golden/$name.cl.text"
    expect_same "made/$name.cl" "$golden/$name.cl.text"
done

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

expect_exit 2 "$VYRE" emit "$VYRE_SOURCE/examples/saxpy.vy" --target fortran
expect_exit 2 "$VYRE" emit
expect_exit 3 "$VYRE" emit missing.vy
