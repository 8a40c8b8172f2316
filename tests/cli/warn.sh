#!/bin/bash
# Warnings: what is shown, what silences them, and that programs of ours have none.
. "$VYRE_SOURCE/tests/cli/lib.sh"
expect_exit 0 "$VYRE" check "$VYRE_SOURCE"/examples/*.vy "$VYRE_SOURCE"/bench/*/*.vy
expect_quiet err

cat >two.vy <<'VY'
program two workgroup(64) elements(64) {
    out y : f32[64];

    let unused = 3;
    y[0] = f32(global_id.x) * 2.0 + 1.0;
}
VY
expect_exit 0 "$VYRE" check two.vy
expect_err "two.vy:4:5: warning[W002]: \`unused\` is never used"
expect_err 'two.vy:5:5: warning[W008]: every lane of the grid stores its own value'
if grep -q W101 err; then fail "nobody asked for speed"; fi
expect_exit 0 "$VYRE" check --warn=speed two.vy
expect_err 'two.vy:5:12: warning[W101]: a product and a sum'
expect_exit 0 "$VYRE" run two.vy --backend ref
expect_err 'warning[W002]'
expect_exit 0 "$VYRE" check --no-warn two.vy
expect_quiet err
expect_exit 0 "$VYRE" run --no-warn two.vy --backend ref
if grep -q warning err; then fail "--no-warn warns"; fi

# One warning, on the line and on the line above; the other stays.
sed 's|let unused = 3;|let unused = 3; // vyre: allow W002|' two.vy >one.vy
expect_exit 0 "$VYRE" check one.vy
expect_err W008
if grep -q W002 err; then fail "W002 was allowed"; fi
sed 's|    y\[0\]|    // vyre: allow W008\n&|' one.vy >none.vy
expect_exit 0 "$VYRE" check none.vy
expect_quiet err
expect_exit 0 "$VYRE" check --json two.vy
expect_out '"W008"'
expect_exit 0 "$VYRE" explain W008
expect_out 'all lanes store in one element'
