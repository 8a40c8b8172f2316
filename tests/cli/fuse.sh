#!/bin/bash
# fuse: one program gives the bytes of its parts run one by one; names, dependencies, bad calls.
. "$VYRE_SOURCE/tests/cli/lib.sh"

cat >square.vy <<'VY'
program square workgroup(4) elements(len(x)) {
    in    x    : u32[];
    out   y    : u32[len(x)];
    param base : u32 = 3;
    let v = x[global_id.x] + base;
    y[global_id.x] = v * v;
}
VY
cat >blur.vy <<'VY'
program blur workgroup(4) elements(len(y)) {
    in  y : u32[];
    out z : u32[len(y)];
    let v = y[global_id.x];
    z[global_id.x] = v + y[(global_id.x + 1) % len(y)];
}
VY
cat >count.vy <<'VY'
program count workgroup(4) elements(len(x)) {
    in  x    : u32[];
    out odds : u32[1];
    if ((x[global_id.x] & 1) != 0) {
        atomic_add(odds[0], 1);
    }
}
VY

# One by one through files, then fused, on devices that can and can not wait for a grid.
input=(--in x=random:64:1 --set base=5)
expect_exit 0 "$VYRE" run square.vy --backend ref "${input[@]}" --out y=y.npy
expect_exit 0 "$VYRE" run blur.vy --backend ref --in y=y.npy --out z=z.npy
expect_exit 0 "$VYRE" run count.vy --backend ref --in x=random:64:1 --out odds=odds.npy
expect_exit 0 "$VYRE" fuse square.vy blur.vy count.vy -o fused.vy
expect_quiet out
expect_err "square comes before blur: they share buffer y"
expect_exit 0 "$VYRE" check fused.vy
[[ $(grep -c grid_sync fused.vy) == 1 ]] || fail "one barrier is enough"
for backend in ref ref-split; do
    expect_exit 0 "$VYRE" run fused.vy --backend $backend "${input[@]}" --out y=fy.npy --out z=fz.npy --out odds=fo.npy
    for pair in y:fy z:fz odds:fo; do
        expect_exit 0 "$VYRE" cmp "${pair%:*}.npy" "${pair#*:}.npy"
    done
done
# Where each lane goes on with its own elements, one launch does it all.
cat >shift.vy <<'VY'
program shift workgroup(4) elements(len(y)) {
    in  y : u32[];
    out z : u32[len(y)];
    z[global_id.x] = y[global_id.x] + 1;
}
VY
expect_exit 0 "$VYRE" fuse square.vy shift.vy -o own.vy
[[ $(grep -c grid_sync own.vy) == 1 ]] || fail "one barrier"
expect_exit 0 "$VYRE" run own.vy --backend ref-split "${input[@]}" --stats
grep -qE 'launches +1$' err || fail "more than one launch"

cp fused.vy stored.vy
expect_exit 0 "$VYRE" fuse square.vy blur.vy count.vy
expect_same out stored.vy

# A dependency that is given is not told; it puts a barrier where there would be none.
expect_exit 0 "$VYRE" fuse square.vy blur.vy count.vy --deps square:blur,blur:count
expect_quiet err
[[ $(grep -c grid_sync out) == 2 ]] || fail "two barriers are needed"

# Programs of the same name are called like their files.
mkdir other && sed 's/program blur/program square/' blur.vy >other/soft.vy
expect_exit 0 "$VYRE" fuse square.vy other/soft.vy --deps square:soft
expect_quiet err
cp other/soft.vy other/square.vy
expect_exit 2 "$VYRE" fuse square.vy other/square.vy
expect_err "called square"

# Bad calls: nothing is written.
rm fused.vy
expect_exit 2 "$VYRE" fuse square.vy blur.vy --deps squre:blur -o fused.vy
expect_err 'did you mean "square"?'
for deps in square square: :blur square,blur '' 'square:blur,'; do
    expect_exit 2 "$VYRE" fuse square.vy blur.vy --deps "$deps" -o fused.vy
done
expect_exit 2 "$VYRE" fuse
expect_exit 3 "$VYRE" fuse square.vy count.vy --deps square:count,count:square -o fused.vy
expect_exit 3 "$VYRE" fuse square.vy missing.vy -o fused.vy
expect_exit 3 "$VYRE" fuse square.vy blur.vy -o missing/fused.vy
sed 's/u32\[\]/f32[]/' count.vy >float.vy
expect_exit 1 "$VYRE" fuse square.vy float.vy -o fused.vy
sed 's/y : u32\[\]/y : i32[]/; s/z : u32/z : i32/' blur.vy >signed.vy
expect_exit 3 "$VYRE" fuse square.vy signed.vy -o fused.vy
expect_err y
[[ ! -e fused.vy ]] || fail "a file was written"
