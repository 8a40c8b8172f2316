#!/bin/bash
# Accesses outside of their memory: counted, with line, first index and length; an error on request.
. "$VYRE_SOURCE/tests/cli/lib.sh"
cat >outside.vy <<'VY'
program outside workgroup(64) elements(100) {
    in    x : f32[100];
    out   y : f32[100];
    inout n : u32[2];

    fn next(i : u32) -> f32 {
        return x[i + 1];
    }
    if (global_id.x < 100) {
        y[global_id.x] = next(global_id.x) + x[global_id.x];
    }
    atomic_add(n[global_id.x / 30], 1);
}
VY
run=("$VYRE" run outside.vy --in x=iota:100 --in "n=0,0")
expect_exit 0 "${run[@]}" --bounds
expect_err 'outside.vy:7:9: warning: 1 accesses outside of x, which has 100 elements: lane 99 reads x[100]'
expect_err 'outside.vy:12:5: warning: 68 accesses outside of n, which has 2 elements: lane 60 writes n[2]'
expect_err '69 accesses outside of their memory'
[[ $(grep -n ':7:9:' err | cut -d: -f1) -lt $(grep -n ':12:5:' err | cut -d: -f1) ]] || fail "not in order of lines"
expect_out 'n : u32[2] = 30 30'
# A fixpoint counts all its passes.
expect_exit 0 "${run[@]}" --bounds --iterations 2
expect_err '138 accesses outside of their memory'
expect_exit 7 "${run[@]}" --bounds=error --json
expect_out '"bounds":[{"buffer":"x","line":7,"count":1,"dimension":0,"index":100,"length":100,"first":{"line":7,'
expect_exit 0 "${run[@]}"
if grep -q outside: err; then fail "nobody asked"; fi

sed 's/elements(100)/elements(60)/; s/i + 1/i/; s/atomic_add.*//' outside.vy >inside.vy
expect_exit 0 "$VYRE" run inside.vy --in x=iota:100 --in n=0,0 --bounds=error --no-warn
expect_err '0 accesses outside of their memory'
# Whole programs only, and only where somebody looks.
sed 's/    if (global/    grid_sync;\n&/' outside.vy >cut.vy
expect_exit 4 "$VYRE" run cut.vy --in x=iota:100 --in n=0,0 --bounds --backend ref-split
expect_err 'accesses outside are found in whole programs'
