#!/bin/bash
# --trace writes what the device did, in the form that ui.perfetto.dev reads; --repeat compiles once.
. "$VYRE_SOURCE/tests/cli/lib.sh"

cat >two.vy <<'VY'
program two workgroup(4) elements(8) {
    inout v : u32[8];
    v[global_id.x] = v[global_id.x] + 1;
    grid_sync;
    v[7 - global_id.x] = v[7 - global_id.x] * 2;
}
VY

# check FILE KEY=COUNT...: that many spans of each category.
check() {
    python3 - "$@" <<'PYTHON' || fail "$1 is not the trace that was expected"
import collections, json, sys
trace = json.load(open(sys.argv[1]))
assert trace["otherData"]["dropped"] == "0"
spans = trace["traceEvents"]
for s in spans:
    assert s["ph"] == "X" and s["name"] and s["ts"] >= 0 and s["dur"] >= 0 and "tid" in s, s
assert min(s["ts"] for s in spans) == 0
counts = collections.Counter(s["cat"] for s in spans)
for want in sys.argv[2:]:
    category, count = want.split("=")
    assert counts[category] == int(count), (category, counts)
assert {(s["args"]["segment"], s["args"]["of"]) for s in spans if s["cat"] == "launch" and s["args"]} in (
    set(), {(1, 2), (2, 2)}), spans
PYTHON
}

for path in host resident; do
    expect_exit 0 "$VYRE" run two.vy --backend ref-split --no-opt --in v=iota:8 --path $path --trace t.json --out v=v.npy
    check t.json compile=2 upload=1 launch=2 download=1
    expect_exit 0 "$VYRE" run two.vy --backend ref --in v=iota:8 --path $path --trace t.json --out v=w.npy
    check t.json compile=1 upload=1 launch=1 download=1
    expect_same v.npy w.npy
done
expect_exit 0 "$VYRE" run two.vy --backend ref --in v=iota:8 --repeat 3 --trace t.json
check t.json compile=1 upload=4 launch=4 download=4
expect_exit 0 "$VYRE" run two.vy --backend ref --in v=iota:8 --trace - --out v=v.npy
cp out t.json
check t.json launch=1

# A run that fails writes no file; neither does a trace that can't be written leave outputs.
rm -f t.json v.npy
expect_exit 5 "$VYRE" run two.vy --backend 'fault://ref?op=launch' --in v=iota:8 --trace t.json
[[ ! -e t.json ]] || fail "a trace was written"
expect_exit 3 "$VYRE" run two.vy --backend ref --in v=iota:8 --trace missing/t.json --out v=v.npy
[[ ! -e v.npy ]] || fail "an output was written"

# A queue has a row: when its kernels ran, by the device's clock.
if "$VYRE" devices | grep -q '^opencl .*split at grid'; then
    expect_exit 0 "$VYRE" run two.vy --backend opencl --no-opt --in v=iota:8 --trace t.json
    python3 - t.json <<'PYTHON' || fail "the row of the queue"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
assert [e["args"]["name"] for e in events if e["ph"] == "M"] == ["queue"], events
launches = [e for e in events if e["ph"] == "X" and e["cat"] == "launch"]
kernels = [e for e in events if e["ph"] == "X" and e["cat"] == "kernel"]
assert [e["name"] for e in kernels] == [e["name"] for e in launches] == ["two_0", "two_1"], events
assert kernels[0]["ts"] + kernels[0]["dur"] <= kernels[1]["ts"], kernels
for launch, kernel in zip(launches, kernels):
    assert launch["ts"] <= kernel["ts"] and kernel["dur"] > 0 and kernel["tid"] == 0, (launch, kernel)
PYTHON
fi

# Workers have a row each: what they run, and how long they wait for the others.
"$VYRE" devices | grep -q '^cpu .*LLVM' || exit 0
cat >rows.vy <<'VY'
program rows workgroup(64) {
    inout v : u32[];
    for (k in 0 .. 50) {
        let mine = v[(global_id.x + 64) % len(v)];
        grid_sync;
        v[global_id.x] = mine + k;
        grid_sync;
    }
}
VY
for threads in 1 3; do
    expect_exit 0 "$VYRE" run rows.vy --backend cpu --threads $threads --no-opt --in v=iota:65536 --trace t.json --out v=v$threads.npy --stats
    python3 - t.json $threads "$(sed -n 's/^vyre: launches *//p' err)" <<'PYTHON' || fail "rows of workers"
import collections, json, sys
threads, launches = int(sys.argv[2]), int(sys.argv[3])
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
assert names == {i: f"worker {i}" for i in range(threads)}, names
rows = collections.defaultdict(lambda: collections.defaultdict(list))
for e in events:
    if e["ph"] == "X" and e["cat"] in ("segment", "barrier"):
        rows[e["tid"]][e["cat"]].append(e)
for number in range(threads):
    row = rows[number]
    assert len(row["segment"]) == launches, (number, len(row["segment"]), launches)
    assert len(row["barrier"]) == (launches if threads > 1 else 0), len(row["barrier"])
    assert all(s["name"].startswith("rows_") and 1 <= s["args"]["segment"] <= s["args"]["of"] for s in row["segment"])
    spans = sorted(row["segment"] + row["barrier"], key=lambda s: s["ts"])
    for a, b in zip(spans, spans[1:]):  # one thing after the other
        assert a["ts"] + a["dur"] <= b["ts"] + 0.0015, (a, b)
PYTHON
done
expect_same v1.npy v3.npy
