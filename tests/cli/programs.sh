#!/bin/bash
# check, fmt, print, explain: what is said about programs, and how.
. "$VYRE_SOURCE/tests/cli/lib.sh"
unset NO_COLOR

cat >good.vy <<'PROGRAM'
program good workgroup(64) {
    out y : u32[64]; // kept
    y[global_id.x] = global_id.x;
}
PROGRAM
cat >bad.vy <<'PROGRAM'
program bad workgroup(64) {
	out y : u32[64];
	y[global_id.x] = 1.5;
	z[0] = 1;
}
PROGRAM
cat >divergent.vy <<'PROGRAM'
program divergent workgroup(64) elements(128) {
    out y : u32[64];
    if (local_id.x < 3) {
        grid_sync;
    }
    y[0] = 1;
}
PROGRAM

expect_exit 0 "$VYRE" check good.vy "$VYRE_SOURCE"/examples/*.vy
expect_quiet out
expect_quiet err

# Place, code, message, line, caret, fix; several errors in one run; plain when not on a terminal.
expect_exit 1 "$VYRE" check bad.vy
expect_quiet out
grep -qE '^bad\.vy:3:19: error\[V[0-9]+\]: ' err || fail "no place and code"
expect_err '    3 | 	y[global_id.x] = 1.5;'
expect_err '      | 	                 ^~~'
grep -q '^fix: ' err || fail "no fix"
grep -qE '^bad\.vy:4:' err || fail "only the first error is told"
! grep -q $'\033' err || fail "colours without a terminal"
if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "TERM=xterm $VYRE check bad.vy" /dev/null >terminal || true
    grep -q $'\033\\[1;31m' terminal || fail "no colours on a terminal"
    script -qec "TERM=xterm NO_COLOR=1 $VYRE check bad.vy" /dev/null >terminal || true
    ! grep -q $'\033' terminal || fail "NO_COLOR is not honoured"
else
    echo "colours on a terminal are not tried: script(1) can't make one here" >&2
fi

# A barrier that some lanes miss names the condition.
expect_exit 1 "$VYRE" check divergent.vy
expect_err "divergent.vy:4:9: error[V"
expect_err "local_id.x"

expect_exit 1 "$VYRE" check good.vy bad.vy
expect_exit 3 "$VYRE" check missing.vy
expect_err "missing.vy: error: "
expect_exit 1 "$VYRE" check --json bad.vy
python3 - out <<'PYTHON'
import json, sys
said = json.load(open(sys.argv[1]))
first = said["diagnostics"][0]
assert said["schema"] == 1 and said["status"] == "rejected", said
assert (first["file"], first["line"], first["col"], first["end_col"]) == ("bad.vy", 3, 19, 22), first
assert first["code"] and first["severity"] == "error" and first["message"] and first["fix"], first
PYTHON

# Hostile bytes do not reach the terminal.
printf 'program p workgroup(1) {\n  \033[31m x\n}\n' >hostile.vy
expect_exit 1 "$VYRE" check hostile.vy
! grep -q $'\033' err || fail "an escape sequence of the source is printed"

# Every code that is reported has an explanation.
mapfile -t codes < <(sed -nE 's/.*error\[(V[0-9]+)\].*/\1/p' err)
for code in "${codes[@]}"; do
    expect_exit 0 "$VYRE" explain "$code"
    expect_out "$code"
done
expect_exit 0 "$VYRE" explain --list
code=$(head -n 1 out | cut -d ' ' -f 1)
expect_exit 0 "$VYRE" explain "${code,,}"
expect_out "$code"
expect_exit 2 "$VYRE" explain V99999
expect_exit 2 "$VYRE" explain

# print gives a program that prints as itself.
expect_exit 0 "$VYRE" print good.vy
cp out again.vy
expect_exit 0 "$VYRE" print again.vy
expect_same out again.vy
expect_exit 1 "$VYRE" print bad.vy
expect_quiet out

# fmt: in place, all or nothing, comments kept, idempotent.
printf 'program  good workgroup( 64 ){out y:u32[64];// kept\ny[global_id.x]=global_id.x;}' >ugly.vy
cp ugly.vy before.vy
expect_exit 7 "$VYRE" fmt --check ugly.vy
expect_out ugly.vy
expect_same ugly.vy before.vy
printf 'program p {{{' >broken.vy
expect_exit 1 "$VYRE" fmt ugly.vy broken.vy
expect_same ugly.vy before.vy
expect_exit 0 "$VYRE" fmt ugly.vy
grep -qF '// kept' ugly.vy || fail "the comment is lost"
expect_exit 0 "$VYRE" fmt --check ugly.vy
expect_quiet out
expect_exit 0 "$VYRE" fmt - <before.vy
expect_same out ugly.vy
expect_exit 0 "$VYRE" fmt --check "$VYRE_SOURCE"/examples/*.vy
