# For the scripts of this folder: . "$VYRE_SOURCE/tests/cli/lib.sh"
# Each runs in a fresh folder with VYRE set to the command and ends at the first failed expectation.
# shellcheck shell=bash
set -euo pipefail

fail() {
    echo "${BASH_SOURCE[-1]}:${BASH_LINENO[-2]}: $*" >&2
    for stream in out err; do
        [[ ! -s $stream ]] || sed "s/^/  $stream: /" "$stream" >&2
    done
    exit 1
}

# expect_exit CODE COMMAND...: runs it; its streams are in the files out and err afterwards.
expect_exit() {
    local want=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [[ $got -eq $want ]] || fail "\"$*\" exits with $got, not $want"
}

# expect_out TEXT, expect_err TEXT: the stream of the last command contains the text.
expect_out() { grep -qF -- "$1" out || fail "no \"$1\" on standard output"; }
expect_err() { grep -qF -- "$1" err || fail "no \"$1\" on standard error"; }

# expect_quiet out|err: the stream of the last command is empty.
expect_quiet() { [[ ! -s $1 ]] || fail "standard $1 is not empty"; }

# expect_same FILE FILE: the same bytes.
expect_same() { cmp -s "$1" "$2" || fail "$1 and $2 differ: $(diff "$1" "$2" | head -n 20)"; }
