#!/bin/bash
# Every program of the benchmark computes what the hand-written code does, on every backend that is
# there, at sizes that an interpreter can do; a program that computes something else is noticed.
. "$VYRE_SOURCE/tests/cli/lib.sh"
bench=$VYRE_BUILD/bench/bench_programs
[[ -x $bench ]] || { echo "skipped: this build has no benchmarks" && exit 77; }

backends=(ref ref-split)
[[ ${TEST_PERCENT:-100} -ge 100 ]] || backends=(ref-split)
! "$VYRE" devices | grep -q '^cpu ' || backends+=(cpu)
for backend in "${backends[@]}"; do
    expect_exit 0 "$bench" --verify --scale tiny --peers gcc,clang --backend "$backend" all
    expect_out ", 0 failures"
done
[[ $("$bench" --list | grep -vc '(') -ge 15 ]] || fail "workloads are missing"
for set in wider published held-out; do
    [[ $("$bench" --list | grep -c "($set)") -ge 12 ]] || fail "workloads of the set $set are missing"
done
# Whatever else is there, at least once.
expect_exit 0 "$bench" --verify --scale tiny --backend ref bfs-rmat
expect_exit 0 "$VYRE" check "$VYRE_SOURCE"/bench/*/*.vy
expect_exit 0 "$VYRE" fmt --check "$VYRE_SOURCE"/bench/*/*.vy

# A wrong float, a wrong integer, a barrier too few.
cp -r "$VYRE_SOURCE/bench/programs" programs
sed -i 's/0\.25 \* (other/0.251 * (other/' programs/jacobi.vy
sed -i 's/grid_sync;$/if (k != 3) { grid_sync; }/' programs/barrier.vy
sed -i 's/atomic_add(mine\[x\[i\]\], 1/atomic_add(mine[x[i]], 2/' programs/histogram.vy
for workload in jacobi-256 histogram barrier; do
    expect_exit 1 "$bench" --verify --scale tiny --peers gcc --backend ref-split --folder . "$workload"
done
expect_exit 1 "$bench" --verify --scale tiny --peers gcc --backend ref-split --folder . histogram
expect_out "WRONG: output 0 differs at element 0"

# Times, the figures as JSON, and a picture.
expect_exit 0 "$bench" --scale tiny --rounds 1 --peers gcc --backend ref --json figures --picture picture reduce
[[ ! -e $VYRE_BUILD/bench/peers_gcc.so ]] || expect_out "geometric mean of 2" # only build/ has peers
python3 - <<'PYTHON'
import json, xml.etree.ElementTree
figures = json.load(open("figures"))
assert [row["workload"] for row in figures["rows"]] == ["reduce-f32", "reduce-u32"]
assert all(row["results"][0]["right"] and row["limit_ns"] > 0 for row in figures["rows"])
xml.etree.ElementTree.parse("picture")
PYTHON
expect_exit 2 "$bench" nonsense
