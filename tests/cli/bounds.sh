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

# && || and ?: load only where C would; select loads all its operands.
cat >asked.vy <<'VY'
program asked workgroup(8) elements(8) {
    in  a : u32[4];
    out o : u32[8];
    let i = global_id.x;
    if (i < len(a) && a[i] > 1) { o[i] = 1; }
    if (i >= len(a) || a[i] == 0) { o[i] += 2; }
    o[i] += i < len(a) ? a[i] : 9;
    let n = i;
    while (n < len(a) && a[n] != 3) { n += 1; }
    o[i] += n;
    for (let k = i; k < len(a) && (k > 9 || a[k] != 2); k += 1) { o[i] += 10; }
}
VY
expect_exit 0 "$VYRE" run asked.vy --in a=iota:4 --bounds=error --backend ref
expect_err '0 accesses outside of their memory'
expect_out 'o : u32[8] = 25 14 6 17 15 16 17 18'
sed 's/i < len(a) ? a\[i\] : 9/select(i < len(a), a[i], 9)/' asked.vy >select.vy
expect_exit 7 "$VYRE" run select.vy --in a=iota:4 --bounds=error --backend ref
expect_err 'select.vy:7:5: error: 4 accesses outside of a, which has 4 elements: lane 4 reads a[4]'
for backend in ref-split cpu; do
    expect_exit 0 "$VYRE" run asked.vy --in a=iota:4 --backend $backend
    expect_out 'o : u32[8] = 25 14 6 17 15 16 17 18'
done
# What is not loaded does not race.
cat >raceless.vy <<'VY'
program raceless workgroup(8) elements(8) {
    inout a : u32[8];
    out   o : u32[8];
    let i = global_id.x;
    if (i % 2 == 1 && a[i - 1] == 0) { o[i] = 1; }
    if (i % 2 == 1) { a[i] = 1; }
}
VY
expect_exit 0 "$VYRE" run raceless.vy --in a=zeros:8 --races=error --backend ref
sed 's/i % 2 == 1 && /i > 0 \&\& /' raceless.vy >racy.vy
expect_exit 7 "$VYRE" run racy.vy --in a=zeros:8 --races=error --backend ref
