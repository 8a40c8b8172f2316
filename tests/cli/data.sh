#!/bin/bash
# cmp and devices.
. "$VYRE_SOURCE/tests/cli/lib.sh"
saxpy=$VYRE_SOURCE/examples/saxpy.vy
make() { expect_exit 0 "$VYRE" run "$saxpy" --in y="$1" --set a="${3:-0}" --in x=iota:"${4:-10}" --out y="$2"; }

make random:10:1 a.npy
make random:10:1 b.npy
make random:10:2 c.npy
make random:11:1 d.npy 0 11
make random:10:1 a.bin
expect_exit 0 "$VYRE" cmp a.npy b.npy
expect_quiet out
expect_exit 7 "$VYRE" cmp a.npy c.npy
expect_out "10 of 10 f32 values differ; the first at 0: "
expect_out "ULP"
expect_exit 7 "$VYRE" cmp a.npy d.npy
expect_out "the counts differ: 10 and 11"
expect_exit 0 "$VYRE" cmp a.bin a.bin
expect_exit 3 "$VYRE" cmp a.npy missing.npy
expect_exit 3 "$VYRE" cmp a.npy a.bin
expect_exit 2 "$VYRE" cmp a.npy
# NaNs are equal: inf * 0 in two ways.
make iota:10 nan.npy nan
expect_exit 0 "$VYRE" cmp nan.npy nan.npy
expect_exit 7 "$VYRE" cmp nan.npy a.npy
expect_out "just one is NaN at 10 places"

expect_exit 0 "$VYRE" devices
grep -q '^ref ' out || fail "ref is not listed"
expect_exit 0 "$VYRE" devices --json
python3 -c 'import json
devices = json.load(open("out"))["devices"]
ref = [d for d in devices if d["backend"] == "ref"]
assert len(ref) == 1 and ref[0]["present"] and ref[0]["f64"], devices'

# Devices: the one that auto takes is marked, and it is the one that runs.
expect_exit 0 "$VYRE" devices
[[ $(grep -c ' (auto)$' out) -eq 1 ]] || fail "auto is not marked"
taken=$(sed -n 's/ .* (auto)$//p' out)
expect_exit 0 "$VYRE" run "$VYRE_SOURCE/examples/saxpy.vy" --in y=zeros:1
expect_err "running on $taken ("
expect_exit 0 "$VYRE" devices --json
python3 -c 'import json,sys
devices = json.load(open("out"))["devices"]
assert [d["backend"] for d in devices if d["auto"]] == sys.argv[1:], devices
assert [d["backend"] for d in devices if d["dummy"]] == ["null"], devices' "$taken"

# Values on the command line and in text files.
expect_exit 0 "$VYRE" run "$saxpy" --in x=1,2,3 --in y=0.5,0.5,0.5 --set a=2 --out y=y.csv
[[ $(<y.csv) == $'2.5\n4.5\n6.5' ]] || fail "y.csv holds $(<y.csv)"
expect_exit 0 "$VYRE" run "$saxpy" --in x=y.csv --in y=zeros:3 --set a=1 --out y=y.txt
cmp y.csv y.txt || fail "what was written does not read back the same"
printf '1, 2\n3; 4\n' >bad.csv
expect_exit 3 "$VYRE" run "$saxpy" --in x=bad.csv --in y=zeros:3
expect_err 'bad.csv:2:1: error: "3;" is no value of type f32'
expect_exit 3 "$VYRE" run "$saxpy" --in x=1,true --in y=zeros:3
expect_err '"true" is no value of type f32'
