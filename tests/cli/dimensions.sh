#!/bin/bash
# Memory of several dimensions: each index inside of its own, on every backend.
. "$VYRE_SOURCE/tests/cli/lib.sh"
cat >tile.vy <<'VY'
program tile workgroup(16, 16) grid((w + 15) / 16, (h + 15) / 16) {
    param w : u32 = 20;
    param h : u32 = 18;
    in a : u32[h][w];
    out b : u32[w][h];
    scratch s : u32[len(b, 0)][len(b, 1)];
    workgroup t : u32[16][17];

    fn put(to : inout u32[][], y : u32, x : u32, v : u32) {
        to[y][x] = v;
    }
    t[local_id.y][local_id.x] = a[global_id.y][global_id.x];
    barrier;
    let y = group_id.x * 16 + local_id.y;
    let x = group_id.y * 16 + local_id.x;
    put(s, y, x, t[local_id.x][local_id.y]);
    grid_sync;
    put(b, y, x, s[y][x] + s[y][x + 1]);
    b[y][x] += 1;
}
VY
# What is outside of its row reads 0 and writes nothing, though the element exists.
python3 - >want <<'PY'
w, h = 20, 18
a = [[y * w + x for x in range(w)] for y in range(h)]
for y in range(w):
    for x in range(h):
        print(a[x][y] + (a[x + 1][y] if x + 1 < h else 0) + 1)
PY
for backend in ref ref-split ref-schedule cpu; do
    expect_exit 0 "$VYRE" run tile.vy --in a=iota:360 --backend "$backend" --out b=got.txt
    grep -oE '[0-9]+' got.txt >got
    cmp -s got want || fail "$backend gives something else"
done
expect_exit 0 "$VYRE" run tile.vy --in a=iota:360 --backend ref --bounds
expect_err 'tile.vy:12:5: warning: 664 accesses outside of a, which is [18][20]: lane 260 reads a[0][20]'

# The summary shows the shape, of what params say too.
expect_exit 0 "$VYRE" run tile.vy --in a=iota:360 --backend ref
expect_out 'b : u32[20][18] = '
expect_exit 0 "$VYRE" run tile.vy --in a=iota:180 --backend ref --set w=10
expect_out 'b : u32[10][18] = '

# The text of the program has the dimensions, and reads back.
"$VYRE" print tile.vy >printed.vy
grep -q 't\[local_id.y\]\[local_id.x\] = a\[global_id.y\]\[global_id.x\];' printed.vy || fail "not as written"
grep -q 'scratch s : u32\[w\]\[h\];' printed.vy || fail "dimensions are gone"
"$VYRE" print printed.vy | cmp -s - printed.vy || fail "not the same again"
# Indices that are proven inside cost nothing.
"$VYRE" split tile.vy --lowered cpu >lowered
grep -q 't\[local_id.y \* 17 + local_id.x\] = ' lowered || fail "the tile is tested"

cat >rows.vy <<'VY'
program rows workgroup(4) elements(4) {
    in a : u32[][2][3];
    in b : u32[4][n];
    param n : u32 = 2;
    inout x : u32[][n];
    out y : u32[4];
    scratch z : u32[2][len(x) / 2];
    x[global_id.x][0] = a[global_id.x][1][2] + b[global_id.x][1] + len(a, 0);
    y[global_id.x] = x[global_id.x][0] + z[1][1];
}
VY
run=("$VYRE" run rows.vy --in b=iota:8 --in x=zeros:8)
expect_exit 0 "${run[@]}" --in a=iota:12
expect_exit 3 "${run[@]}" --in a=iota:13
expect_err '"a" has 13 elements, which are not whole parts of 2 x 3'
expect_exit 3 "${run[@]}" --in a=iota:12 --set n=0
expect_exit 3 "$VYRE" run rows.vy --in a=iota:12 --in b=iota:12 --in x=iota:8 --set n=3
expect_err '"x" has 8 elements, which are not whole parts of 1 x 3'

cat >swap.vy <<'VY'
program swaps workgroup(4) elements(4) {
    param n : u32 = 4;
    inout a : u32[n][2];
    inout b : u32[2][n];
    a[global_id.x][0] = 1;
    b[0][global_id.x] = 1;
    swap(a, b);
}
VY
expect_exit 3 "$VYRE" run swap.vy --in a=iota:8 --in b=iota:8
expect_err '"a" and "b" are swapped, and their dimension 1 is 2 and 4'
expect_exit 0 "$VYRE" run swap.vy --in a=iota:4 --in b=iota:4 --set n=2

# Elements are told apart by their indices, whatever lies outside.
cat >flip.vy <<'VY'
program flip workgroup(64) elements(64) {
    inout n : u32[2][4];
    let s = 0;
    while (n[s][0] > 0) {
        n[s ^ 1][global_id.x & 7] = n[s][0] / 2;
        grid_sync;
        s = s ^ 1;
    }
}
VY
expect_exit 0 "$VYRE" check flip.vy
sed 's/n\[s ^ 1\]\[global_id.x & 7\]/n[s][global_id.x \& 7]/' flip.vy >same.vy
expect_exit 1 "$VYRE" check same.vy
expect_err 'V010'
