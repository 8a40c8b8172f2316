#!/bin/bash
# plan: groups, checks, formats, budgets, bad files.
. "$VYRE_SOURCE/tests/cli/lib.sh"

cat >waves.json <<'JSON'
{"waves": [{"name": "a", "frontier": 40, "scratch": 5}, {"name": "b", "frontier": 60},
           {"name": "c", "output": 50}, {"name": "d", "frontier": 10}],
 "deps": [["a", "b"], ["a", "c"], ["b", "d"]], "budget": 120}
JSON
expect_exit 0 "$VYRE" plan waves.json
expect_out a
expect_exit 0 "$VYRE" plan waves.json --json
python3 -c 'import json
plan = json.load(open("out"))
place = {w: g for g, group in enumerate(plan["groups"]) for w in group}
assert sorted(place) == list("abcd"), plan
assert place["a"] < place["b"] < place["d"] and place["a"] < place["c"], plan
assert plan["schema"] == 1 and plan["mode"] == "packed" and plan["optimal"] and plan["barriers"] == 2, plan
for key in "lower_bound peak_frontier peak_scratch peak_output readback max_width".split(): assert key in plan, key'
cp out plan.json
expect_exit 0 "$VYRE" plan waves.json --check plan.json
expect_exit 0 "$VYRE" plan waves.json --mode layered --json
grep -q '"layered"' out || fail "mode"
for format in dot svg; do
    expect_exit 0 "$VYRE" plan waves.json --$format
    [[ -s out ]] || fail "no $format"
done
expect_exit 0 "$VYRE" plan waves.json --curve
expect_exit 0 "$VYRE" plan waves.json --json --threads 3
cmp -s out plan.json || fail "three threads plan otherwise"
expect_exit 3 "$VYRE" plan waves.json --threads 1024
expect_err "1024 threads are more than 1023"
expect_exit 0 "$VYRE" plan waves.json --curve --json

# Plans that do not hold.
for groups in '[["a","b"],["c","d"]]' '[["a"],["b","c"]]' '[["a"],["b","c"],["d"],["a"]]'; do
    echo "{\"groups\":$groups}" >wrong.json
    expect_exit 7 "$VYRE" plan waves.json --check wrong.json
done
echo '{"groups":[["a"],["x"]]}' >unknown.json
expect_exit 3 "$VYRE" plan waves.json --check unknown.json
expect_err "unknown.json:1:"
echo '[]' >list.json
expect_exit 3 "$VYRE" plan waves.json --check list.json

# Over budget, and bad files.
expect_exit 7 "$VYRE" plan waves.json --budget 59
expect_exit 0 "$VYRE" plan waves.json --budget 1K
expect_exit 2 "$VYRE" plan waves.json --budget lots
expect_exit 2 "$VYRE" plan waves.json --dot --svg
expect_exit 3 "$VYRE" plan missing.json
echo '{"waves":[{"name":"a"},{"name":"b"}],"deps":[["a","b"],["b","a"]]}' >cycle.json
expect_exit 3 "$VYRE" plan cycle.json
echo '{"waves":[{"name":"a","frontier":-1}]}' >negative.json
expect_exit 3 "$VYRE" plan negative.json
expect_err "negative.json:1:"
echo '{"waves":[' >cut.json
expect_exit 3 "$VYRE" plan cut.json

# Ctrl-C: the best plan so far. The signal comes while the command waits for the waves.
python3 - >hard.json <<'PYTHON'
import json, random
random.seed(1)
waves = [{"name": f"w{i}", "frontier": random.randint(200, 500)} for i in range(200)]
deps = [[f"w{random.randrange(i)}", f"w{i}"] for i in range(1, 200) if random.random() < 0.5]
print(json.dumps({"waves": waves, "deps": deps, "budget": 1000}))
PYTHON
mkfifo pipe
"$VYRE" plan - --json <pipe >out 2>err &
exec 3>pipe
printf '%140000s' '' >&3 # more than fits into a pipe: after this it has begun to read
kill -INT $!
cat hard.json >&3
exec 3>&-
code=0
wait $! || code=$?
[[ $code -eq 130 ]] || fail "interrupted: exit code $code"
expect_err "best plan so far"
cp out best.json
expect_exit 0 "$VYRE" plan hard.json --check best.json
