#!/bin/bash
# The completions of zsh and fish, loaded by them: a command, an option, values, a backend, a code and
# files come out. (Those of bash: help.sh.)
. "$VYRE_SOURCE/tests/cli/lib.sh"
passed=0 skipped=0
export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD TERM=dumb
mkdir zsh files
touch files/one.vy files/two.json files/three.npy
"$VYRE" help --completion zsh >zsh/_vyre
"$VYRE" help --completion fish >vyre.fish

# An interactive zsh on a terminal of its own completes; its compadd tells what it is given.
cat >ask.zsh <<'ZSH'
zmodload zsh/zpty
zpty asked zsh -f -i
zpty -w asked "fpath=(${(q)1} \$fpath); PROMPT=; HISTFILE=; autoload -Uz compinit; compinit -u -D"
zpty -w asked 'zstyle ":completion:*" insert-tab false; bindkey "^I" complete-word
tell() { print -r -- "<<$1" }
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    local -a offered; builtin compadd -A offered "$@"
    local one; for one in $offered; do tell $one; done
    builtin compadd "$@"
}
comppostfuncs=(done_asking); done_asking() { tell "end of answers"; exit }
print ready'
while zpty -r asked line; do [[ $line == ready* ]] && break; done
zpty -w -n asked "$2"$'\t'
while zpty -r asked line; do
    [[ $line == *'<<end of answers'* ]] && break
    [[ $line == *'<<'* ]] && print -r -- "${${line##*<<}%%[[:cntrl:]]*}"
done
zpty -d asked
ZSH

cat >ask.fish <<'FISH'
source ../vyre.fish
complete -C "$argv[1]"
FISH

# answers SHELL LINE: what it offers at the end of the line, sorted.
answers() {
    case $1 in
    zsh) (cd files && timeout 60 zsh -f ../ask.zsh "$OLDPWD/zsh" "$2") ;;
    fish) (cd files && timeout 60 fish --no-config ../ask.fish "$2" | cut -f 1) ;;
    esac | sort
}

# offers SHELL LINE WORDS: these and nothing else; has SHELL LINE WORD: that, maybe among others.
offers() {
    local got
    got=$(answers "$1" "$2" | tr '\n' ' ')
    [[ $got == "${3:+$3 }" ]] || fail "$1 offers for \"$2\": $got"
}
has() {
    answers "$1" "$2" | grep -qxF -- "$3" || fail "$1 does not offer $3 for \"$2\": $(answers "$1" "$2" | head -n 9)"
}

for shell in zsh fish; do
    if ! command -v $shell >/dev/null; then
        echo "skipped: there is no $shell, so its completions are not run"
        skipped=$((skipped + 1))
        continue
    fi
    offers $shell "vyre ru" run
    offers $shell "vyre run --iter" --iterations
    offers $shell "vyre run --backend ref-" "ref-schedule ref-split"
    offers $shell "vyre run --split " "always auto never"
    offers $shell "vyre help exi" exit-codes
    has $shell "vyre explain V06" V066
    has $shell "vyre explain W10" W104
    has $shell "vyre check " one.vy
    has $shell "vyre plan " two.json
    has $shell "vyre run one.vy --trace " three.npy
    passed=$((passed + 1))
done
# zsh offers files of one type only, and those behind `x=`; fish puts that type first.
if command -v zsh >/dev/null; then
    offers zsh "vyre check " one.vy
    offers zsh "vyre plan " two.json
    offers zsh "vyre run one.vy --in x=th" three.npy
    offers zsh "vyre run --set " ""
fi
if command -v fish >/dev/null; then
    offers fish "vyre run one.vy --in x=th" x=three.npy
    offers fish "vyre check o" one.vy
fi
echo "$passed passed, 0 failed, $skipped skipped"
