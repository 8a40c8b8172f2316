#!/bin/bash
# import "file.vy";: functions and consts of files below the importing one.
# shellcheck disable=SC2016 # messages quote names so
. "$VYRE_SOURCE/tests/cli/lib.sh"
mkdir -p p/lib/deep elsewhere
cat >p/main.vy <<'VY'
program main workgroup(4) elements(4) {
    import "lib/math.vy";
    out y : u32[4];

    let import = global_id.x;
    y[import] = twice(import) + base;
}
VY
cat >p/lib/math.vy <<'VY'
// A comment at the end of the file, without a newline.
import "deep/consts.vy";
import "deep/more.vy";
fn twice(x : u32) -> u32 {
    return add(x, x);
} // end
VY
printf 'const base = 100;' >p/lib/deep/consts.vy
cat >p/lib/deep/more.vy <<'VY'
import "consts.vy";
fn add(a : u32, b : u32) -> u32 { return a + b; }
VY
expect_exit 0 "$VYRE" run p/main.vy --backend ref
expect_out 'y : u32[4] = 100 102 104 106'
(cd p && expect_exit 0 "$VYRE" run main.vy --backend ref --set base=7 && expect_out 'y : u32[4] = 7 9 11 13')
expect_exit 0 "$VYRE" fmt --check p/main.vy

# Errors name the file that they are in, and show its line.
sed -i 's/return add(x, x)/return add(x, z)/' p/lib/math.vy
expect_exit 1 "$VYRE" check p/main.vy
expect_err 'p/lib/math.vy:5:19: error[V066]: unknown variable `z`'
expect_err 'return add(x, z);'
sed -i 's/return add(x, z)/return add(x, x)/; s/^fn twice/}&/' p/lib/math.vy
expect_exit 1 "$VYRE" check p/main.vy
expect_err 'p/lib/math.vy:4:1: error[V207]'
sed -i 's/^}fn twice/fn twice/' p/lib/math.vy
# The program's own places stay what they are, behind the imports too.
sed 's/^}/    y[0] = none;\n}/' p/main.vy >p/wrong.vy
expect_exit 1 "$VYRE" check p/wrong.vy
expect_err 'p/wrong.vy:7:12: error[V066]: unknown variable `none`'
sed '1i // Sums.\n' p/wrong.vy >p/lower.vy
expect_exit 1 "$VYRE" check p/lower.vy
expect_err 'p/lower.vy:9:12: error[V066]: unknown variable `none`'
sed 's/+ base;/+/' p/main.vy >p/open.vy
expect_exit 1 "$VYRE" check p/open.vy
expect_err 'p/open.vy:7:1: error'
sed 's/{ *$/{ y[0] = none;/; q' p/main.vy >p/first.vy
sed 1d p/main.vy >>p/first.vy
expect_exit 1 "$VYRE" check p/first.vy
expect_err 'p/first.vy:1:48: error[V066]: unknown variable `none`'

refuse() { # TEXT MESSAGE: lib/math.vy with this text is refused
    printf '%s\n' "$1" >p/lib/math.vy
    expect_exit 1 "$VYRE" check p/main.vy
    expect_err "$2"
}
refuse 'in x : u32[];' 'p/lib/math.vy:1:1: error[V291]: an imported file holds functions and consts, not `in`'
refuse 'fn f() { } out y : u32[4];' 'p/lib/math.vy:1:12: error[V291]'
refuse 'import "math.vy";' 'p/lib/math.vy:1:8: error[V291]: `lib/math.vy` imports itself'
refuse 'import "none.vy";' 'p/lib/math.vy:1:8: error[V291]: '
refuse 'import "../main.vy";' 'p/lib/math.vy:1:8: error[V291]: `lib/../main.vy` is not below'
echo 'const secret = 1;' >elsewhere/secret.vy
ln -s ../../elsewhere/secret.vy p/lib/link.vy
refuse 'import "link.vy";' 'p/lib/link.vy leads out of the folder of the importing file'
ln -s deep/more.vy p/lib/inside.vy
printf 'import "inside.vy";\nimport "deep/consts.vy";\nfn twice(x : u32) -> u32 { return add(x, x); }\n' >p/lib/math.vy
sed -i 's/^import.*//' p/lib/deep/more.vy
expect_exit 0 "$VYRE" check p/main.vy

# Above the program it is told where it belongs.
printf 'import "lib/math.vy";\nprogram above workgroup(4) elements(4) { out y : u32[4]; y[0] = base; }\n' >p/above.vy
expect_exit 1 "$VYRE" check p/above.vy
expect_err 'p/above.vy:1:1: error[V209]: expected `program`, found `import`'
expect_err 'fix: imports stand in the braces of the program'
