#!/bin/bash
# Consts that get their value from outside: other consts, the workgroup and memory follow.
. "$VYRE_SOURCE/tests/cli/lib.sh"
cat >tile.vy <<'VY'
program tile workgroup(lanes) grid(2) {
    const tile : u32 = 4;
    const lanes = 2 * tile;
    const low = -1i;
    const half = 0.5;
    param shift : u32 = 1;
    out y : u32[2 * lanes];
    out z : f32;
    workgroup t : u32[lanes];

    t[local_id.x] = global_id.x + shift;
    barrier;
    y[global_id.x] = clamp(t[lanes - 1 - local_id.x], tile, 3 * tile) + u32(low + 1);
    if (global_id.x == 0) {
        z = clamp(half, 0.25, 1.0);
    }
}
VY
expect_exit 0 "$VYRE" run tile.vy
expect_out 'y : u32[16] = 8 7 6 5 4 4 4 4 ...  (min 4, max 12'
expect_out 'z : f32[1] = 0.5'
for on in ref ref-split cpu; do
    expect_exit 0 "$VYRE" run tile.vy --backend "$on" --set tile=2 --set shift=0 --set low=4 --set half=0.125
    expect_out 'y : u32[8] = 8 7 7 7 11 11 10 9'
    expect_out 'z : f32[1] = 0.25'
done
expect_exit 0 "$VYRE" print tile.vy --set tile=16
expect_out 'program tile workgroup(32) grid(2) {'
expect_out 'const tile = 16;'
expect_out 'const lanes = 2 * tile;'
expect_exit 0 "$VYRE" split tile.vy --set lanes=3
expect_exit 0 "$VYRE" emit tile.vy --target c --set tile=16
expect_exit 0 "$VYRE" check tile.vy --set tile=16
# What does not fit is told, by whoever knows.
expect_exit 1 "$VYRE" check tile.vy --set tile=100000
expect_exit 3 "$VYRE" check tile.vy --set tile=-1
expect_err '"-1" is no value for const tile : u32'
expect_exit 3 "$VYRE" run tile.vy --set half=x
expect_exit 2 "$VYRE" check tile.vy --set tiles=1
expect_err 'program tile has no const "tiles"'
expect_err 'did you mean "tile"?'
expect_exit 2 "$VYRE" check tile.vy --set shift=1
expect_err 'program tile has no const "shift"'
expect_exit 2 "$VYRE" run tile.vy --set y=1
expect_err 'program tile has no param or const "y"'
expect_exit 2 "$VYRE" run tile.vy --set tile=1 --set tile=2
expect_err 'const tile is set twice'
expect_exit 2 "$VYRE" print tile.vy --set tile
expect_err '--set "tile" has no ='
