#!/bin/bash
# The first line of every example is a command that works, and the result does not depend on the
# order of lanes, on a race, or on whether it runs in one piece or split, by either path.
. "$VYRE_SOURCE/tests/cli/lib.sh"
ln -s "$VYRE_SOURCE/examples" examples

# Sanitizers are slow: one other order must do there.
orders=(reverse interleaved random:5) scale=16
[[ ${TEST_PERCENT:-100} -ge 100 ]] || orders=(random:5) scale=10

digests() { grep -oE 'xxh3 [0-9a-f]{16}' out; }
for file in examples/*.vy; do
    line=$(sed -n '1s,^// run: vyre ,,p' "$file")
    [[ $line == "run $file "* ]] || fail "$file does not begin with // run: vyre run $file"
    read -ra words <<<"$line"
    expect_exit 0 "$VYRE" "${words[@]}"
    digests >want
    [[ -s want ]] || fail "$file has no output"
    for order in "${orders[@]}"; do
        expect_exit 0 "$VYRE" "${words[@]}" --order "$order"
        digests >got
        expect_same got want
    done
    for where in "ref host" "ref-split host" "ref-split resident"; do
        expect_exit 0 "$VYRE" "${words[@]}" --backend "${where% *}" --path "${where#* }"
        digests >got
        expect_same got want
    done
    expect_exit 0 "$VYRE" "${words[@]}" --races=error
    expect_err "0 races"
done
[[ $(find examples/ -name '*.vy' | wc -l) -ge 9 ]] || fail "examples are missing"

# The graph that the project promises.
for order in forward reverse random:1 interleaved; do
    expect_exit 0 "$VYRE" run examples/bfs.vy --in row,col=rmat:$scale:16:1 --order "$order"
    digests
done | sort -u >different
[[ $(wc -l <different) -eq 1 ]] || fail "the order of lanes changes the distances"
