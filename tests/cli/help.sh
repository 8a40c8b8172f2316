#!/bin/bash
# Help, manual, completions, version, and words that do not exist.
. "$VYRE_SOURCE/tests/cli/lib.sh"

expect_exit 0 "$VYRE" --version
expect_out "vyre 0."
expect_exit 2 "$VYRE"
expect_err "usage: vyre COMMAND"
expect_quiet out
expect_exit 0 "$VYRE" help
cp out general
expect_exit 0 "$VYRE" --help
expect_same out general

# Every command has help, and --help is the same page.
commands=$(sed -n 's/^CLI_COMMAND(\(.*\))$/\1/p' "$VYRE_SOURCE/tools/vyre/commands.def")
[[ $(wc -w <<<"$commands") -ge 9 ]] || fail "no commands found"
for command in $commands; do
    grep -q "^  $command\b" general || fail "$command is not listed"
    expect_exit 0 "$VYRE" help "$command"
    expect_out "usage: vyre $command"
    cp out page
    expect_exit 0 "$VYRE" "$command" --help
    expect_same out page
done
for topic in inputs outputs exit-codes json; do
    expect_exit 0 "$VYRE" help $topic
done

# The options that the contract names are in the table.
expect_exit 0 "$VYRE" help run
for option in backend split path iterations grid elements set threads timeout steps no-opt unchecked order races \
    stats time repeat trace json in out; do
    expect_out "--$option"
done

# One table: what help shows is in the manual and in the completions.
expect_exit 0 "$VYRE" help --man
cp out manual
expect_out ".TH VYRE 1"
for shell in bash zsh fish; do
    expect_exit 0 "$VYRE" help --completion $shell
    cp out $shell
done
bash -n bash || fail "the completions for bash are no bash"
for command in $commands; do
    expect_exit 0 "$VYRE" help "$command"
    mapfile -t options < <(sed -nE 's/^  (-., )?--([a-z-]+).*/\2/p' out)
    for option in "${options[@]}"; do
        grep -qF -- "--$option" bash zsh || fail "--$option is not completed"
        grep -qE -- "-l $option( |$)" fish || fail "--$option is not completed by fish"
        grep -qF -- "\\-\\-${option//-/\\-}" manual || fail "--$option is not in the manual"
    done
done
! command -v groff >/dev/null || [[ -z $(groff -man -ww -Tascii manual 2>&1 >/dev/null) ]] || fail "groff warns"

# The completions work: the word after `vyre run --split` is one of three.
complete_with() {
    # shellcheck disable=SC1091
    (. ./bash && COMP_WORDS=(vyre "$@") COMP_CWORD=$# && _vyre && printf '%s\n' "${COMPREPLY[@]}")
}
[[ $(complete_with run --split "") == $'auto\nnever\nalways' ]] || fail "values are not completed"
[[ $(complete_with ru) == run ]] || fail "commands are not completed"
[[ $(complete_with run --iter) == --iterations ]] || fail "options are not completed"
[[ $(complete_with help exi) == exit-codes ]] || fail "topics are not completed"
[[ $(complete_with run --backend ref-) == $'ref-split\nref-schedule' ]] || fail "backends are not completed"
[[ $(complete_with explain V06) == *V066* ]] || fail "codes are not completed"
mkdir completed && cd completed && touch one.vy two.json three.npy && cp ../bash .
[[ $(complete_with check "" | sort) == one.vy ]] || fail "programs are not completed: $(complete_with check "")"
[[ $(complete_with plan "") == two.json ]] || fail "waves are not completed"
[[ $(complete_with run one.vy --in x = th) == three.npy ]] || fail "inputs are not completed"
[[ -z $(complete_with run --set "") ]] || fail "something is completed that can't be known"
cd ..

# Who asks for an object gets one, however early it goes wrong.
expect_object() {
    local want=$1
    shift
    expect_exit "$want" "$@"
    python3 -c 'import json, sys
o = json.load(open("out"))
assert o["schema"] == 1 and o["status"] != "ok", o
assert [d for d in o["diagnostics"] if d["severity"] == "error"], o
assert sys.argv[1] != "run" or "stats" in o and "bounds" in o, o' "$2" || fail "no object: $*"
}
expect_object 2 "$VYRE" run --json
expect_object 2 "$VYRE" run x.vy --json --bogus
expect_object 2 "$VYRE" run x.vy --json --timeout soon
expect_object 3 "$VYRE" run absent.vy --json
expect_object 2 "$VYRE" check --json
expect_object 3 "$VYRE" split absent.vy --json
expect_object 2 "$VYRE" plan --json
expect_object 3 "$VYRE" plan absent.json --json
expect_object 2 "$VYRE" devices --json --bogus
expect_object 2 "$VYRE" bogus --json

# Words that do not exist, with a suggestion where one is near.
expect_exit 2 "$VYRE" chekc
expect_err 'did you mean "check"?'
expect_exit 2 "$VYRE" run x.vy --bakend ref
expect_err 'did you mean "--backend"?'
expect_exit 2 "$VYRE" run x.vy -z
expect_err "see vyre help run"
expect_exit 2 "$VYRE" help outptus
expect_err 'did you mean "outputs"?'
expect_exit 2 "$VYRE" run
expect_err "usage: vyre run FILE"
expect_exit 2 "$VYRE" print a.vy b.vy
expect_err "one argument too many"
expect_exit 2 "$VYRE" run a.vy --split maybe
expect_err "auto|never|always"
expect_exit 2 "$VYRE" run a.vy --grid 1,2,3,4
expect_exit 2 "$VYRE" run a.vy --timeout soon
expect_exit 2 "$VYRE" run a.vy --elements 99999999999999999999
expect_exit 2 "$VYRE" run a.vy --in
expect_err "needs a value"
expect_exit 2 "$VYRE" run a.vy --json=yes
expect_err "takes no value"
expect_exit 2 "$VYRE" run a.vy --grid 4 --elements 4
