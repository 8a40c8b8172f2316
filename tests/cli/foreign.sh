#!/bin/bash
# Programs as people write them who come from CUDA, OpenCL and C, and what each is answered. The
# files in tests/golden/foreign hold both: `## title`, the program, and lines `=> place: code: message;
# fix`. They are made again here and must come out as they are; a new program gets its answers by
# copying the result over (UPDATE=1 does that).
. "$VYRE_SOURCE/tests/cli/lib.sh"
count=0

# ask FILE TITLE: checks program.vy and writes it with its answers
ask() {
    [[ -n $2 ]] || return 0
    count=$((count + 1))
    expect_exit 1 "$VYRE" check program.vy
    {
        echo "## $2"
        cat program.vy
        sed -nE 's/^program\.vy:([0-9]+:[0-9]+): error\[(V[0-9]+)\]: (.*)/=> \1: \2: \3;/p; s/^fix: (.*)/   \1/p' err
    } >>"$1"
}

for golden in "$VYRE_SOURCE"/tests/golden/foreign/*.txt; do
    answered=$(basename "$golden") title=
    while IFS= read -r line; do
        case $line in
        '## '*)
            ask "$answered" "$title"
            title=${line#'## '}
            : >program.vy
            ;;
        '=> '* | '   '[^\ ]*) ;; # made again
        *) echo "$line" >>program.vy ;;
        esac
    done <"$golden"
    ask "$answered" "$title"
    [[ -z ${UPDATE:-} ]] || cp "$answered" "$golden"
    expect_same "$answered" "$golden"
done
[[ $count -ge 60 ]] || fail "only $count programs"
