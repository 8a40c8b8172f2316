#!/bin/bash
# Traffic of a long split: 300 segments over an accumulator of 256 MiB, which goes to the device once
# and comes back once. TEST_PERCENT makes it smaller.
. "$VYRE_SOURCE/tests/cli/lib.sh"
percent=${TEST_PERCENT:-100}
words=$((67108864 * (percent < 100 ? percent : 100) / 100 & ~15))

python3 - >long.vy <<'PYTHON'
print("program long workgroup(4) elements(16) {")
print("    inout acc : u32[]; in x : u32[16]; out o : u32[16];")
print("    let far = len(acc) / 16; let i = global_id.x * far; let sum = 0;")
for s in range(300):
    print("grid_sync;" if s > 0 else "")
    print("acc[i] += sum + x[global_id.x];" if s % 2 else "sum += acc[(i + far) % len(acc)];")
print("o[global_id.x] = sum; }")
PYTHON

# run BACKEND PATH: what it has done, in fields
run() {
    expect_exit 0 "$VYRE" run long.vy --backend "$1" --path "$2" --stats --json \
        --in acc=iota:$words --in x=random:16:3
    python3 -c 'import json
o = json.load(open("out"))
s = o["stats"]
print(s["bytes_in"], s["bytes_out"], s["segments"], s["launches"], s["sync_points"],
      " ".join(y["xxh3"] for y in o["outputs"]))'
}

bytes=$((words * 4 + 64))
read -r in out _ launches _ want < <(run ref host)
[[ "$in $out $launches" == "$bytes $bytes 1" ]] || fail "natively $in bytes in, $out out"
read -r in out segments launches syncs got < <(run ref-split resident)
[[ "$segments $launches $syncs" == "300 300 299" ]] || fail "$segments segments, $launches launches"
[[ "$in $out" == "$bytes $bytes" ]] || fail "$in bytes in, $out out, should be $bytes each"
[[ $got == "$want" ]] || fail "the results differ: $got and $want"
