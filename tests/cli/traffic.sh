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

# Exchanges of two buffers move no bytes, and what is under a name at the end is right after an odd
# number of them: 1,000,001 sweeps of a stencil over a ring of 8 points.
cat >ring.vy <<'PROGRAM'
program ring workgroup(8) elements(8) {
    param   sweeps : u32;
    inout   now    : u32[8];
    out     done   : u32;
    scratch next   : u32[8];

    let i = global_id.x;
    for (s in 0 .. sweeps) {
        next[i] = now[(i + 1) % 8] + 3 * now[(i + 7) % 8];
        swap(now, next);
    }
    if (i == 0) {
        done = sweeps;
    }
}
PROGRAM
sweeps=$((10001 + 9900 * (percent < 100 ? percent : 100)))
[[ $percent -lt 100 ]] || sweeps=1000001
python3 - $sweeps >want <<'PYTHON'
import sys
n, m = int(sys.argv[1]), 1 << 32
# The matrix of one sweep is a circulant: its powers by squaring, modulo 2^32.
times = lambda p, q: [sum(p[k] * q[(i - k) % 8] for k in range(8)) % m for i in range(8)]
power, base = [1] + [0] * 7, [0, 1, 0, 0, 0, 0, 0, 3]
while n:
    power, base, n = times(power, base) if n & 1 else power, times(base, base), n >> 1
print(*[sum(power[k] * ((i + k) % 8) for k in range(8)) % m for i in range(8)], sep="\n")
PYTHON
for path in host resident; do
    expect_exit 0 "$VYRE" run ring.vy --backend ref-split --path $path --json --in now=0,1,2,3,4,5,6,7 \
        --set sweeps=$sweeps --out now=got.txt
    python3 -c 'import json, sys
s = json.load(open("out"))["stats"]
sweeps = int(sys.argv[1])
assert s["bytes_in"] == 32 and s["bytes_out"] == 36, s
assert s["sync_points"] >= sweeps and s["launches"] >= sweeps, s' $sweeps || fail "$path moves more than inputs and outputs"
    grep -oE '[0-9]+' got.txt >got
    expect_same got want
done
