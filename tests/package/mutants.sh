#!/bin/bash
# The lists of seeded faults fit the sources and name tests that exist, and src/ has no trace of them.
# A fault whose code is gone, is there twice, or has no mark is refused, and so are two of a name.
set -uo pipefail
"$VYRE_SOURCE/scripts/weave" || exit
! grep -rnE 'VYRE_MUTANT|mutant_active' "$VYRE_SOURCE/src" || exit

# In a tree of one file: refused TEXT WHY
mkdir -p tree/{scripts,src,tests/mutants,tests/unit} && cp "$VYRE_SOURCE/scripts/weave" tree/scripts
printf 'int f(int a) {\n    int b = a +\n            1;\n    return a + b > 1 || a;\n}\n' >tree/src/f.c
echo 'TEST(sums) {}' >tree/tests/unit/test_f.c
list=tree/tests/mutants/f.txt
refused() {
    printf 'src/f.c\n\n%b' "$1" >$list
    if tree/scripts/weave >out 2>&1 || ! grep -qF -- "$2" out; then
        echo "not refused for $2: $1" && cat out && exit 1
    fi
}
refused 'gone test_f\n    @b + 1 => b@' 'tests/mutants/f.txt:3: gone: its code is in src/f.c no times'
refused 'twice test_f\n    @1 => 2@' 'its code is in src/f.c 2 times'
refused 'bare test_f\n    a + b' 'its code has no @normal => mutated@'
refused 'untested test_g\n    @a + 1 => a@' 'there is no test test_g'
refused 'no_case test_f products\n    @a + 1 => a@' 'there is no test test_f products'
refused 'same test_f\n    @a + 1 => a@\nsame test_f\n    @a + b => a@' 'another one has the same name'

# Broken into lines otherwise, one within another, and two that begin together.
printf 'src/f.c\n\nx test_f sums\n    b = @a + 1 => a@;\ny test_f\n    return @a + b > 1 => 0@ || a\nz\n    return @a => 7@ + b\n' >$list
tree/scripts/weave woven && cat >want <<'WANT'
int f(int a) {
    int b = (vyre_mutant_active("x") ? (a) : (a +
            1));
    return (vyre_mutant_active("y") ? (0) : ((vyre_mutant_active("z") ? (7) : (a)) + b > 1)) || a;
}
WANT
diff want woven/f.c || exit
diff <(tree/scripts/weave -l) - <<'LINES' || exit
x src/f.c test_f sums
y src/f.c test_f
z src/f.c
LINES
echo 'z test_f sums' | tree/scripts/weave -k && [[ $(tree/scripts/weave -l | tail -n 1) == 'z src/f.c test_f sums' ]]
