#!/bin/bash
# split: what it prints for the examples and for programs that hold every construct, byte by byte;
# its segments are programs; bad calls. With --update the stored outputs are rewritten.
. "$VYRE_SOURCE/tests/cli/lib.sh"
golden=$VYRE_SOURCE/tests/golden/split

formats=(split: explain:--explain dot:--dot svg:--svg)
subjects=("$golden"/*.vy "$VYRE_SOURCE"/examples/{bfs,cg,jacobi,reach}.vy)
for subject in "${subjects[@]}"; do
    name=$(basename "$subject" .vy)
    for format in "${formats[@]}"; do
        stored=$golden/$name.${format%%:*} option=${format#*:}
        expect_exit 0 "$VYRE" split "$subject" ${option:+"$option"}
        expect_quiet err
        [[ ${1:-} != --update ]] || cp out "$stored"
        expect_same out "$stored"
        [[ $option != --svg ]] || python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out")'
    done
    # The segments in the folder, in the object and in the text are the same programs.
    expect_exit 0 "$VYRE" split "$subject" -o "$name"
    expect_quiet out
    expect_exit 0 "$VYRE" split "$subject" --json
    expect_same out "$name/schedule.json"
    python3 - "$name" <<'PYTHON'
import json, pathlib, re, sys
folder = pathlib.Path(sys.argv[1])
module = json.load(open(folder / "schedule.json"))
assert module["schema"] == 3 and module["program"] == sys.argv[1], module
shown = (folder.parent / "out").read_text()
names = [s["name"] for s in module["segments"]]
assert sorted(names + ["schedule"]) == sorted(p.stem for p in folder.iterdir()), names
for segment in module["segments"]:
    assert (folder / (segment["name"] + ".vy")).read_text() == segment["text"], segment["name"]
steps, carries = module["steps"], module["carries"]
for c in carries:
    assert all(0 <= first < end <= len(steps) for first, end in c["alive"]), c
    assert all(a[1] < b[0] for a, b in zip(c["alive"], c["alive"][1:])), c
assert sum(s["sync"] for s in steps) == module["sync_points"]
launched = [s["segment"] for s in steps if s["segment"] is not None]
assert launched == list(range(len(names))), launched
for s in steps:
    targets = [s[k] for k in ("next", "otherwise") if s[k] is not None]
    assert len(targets) == {"next": 1, "branch": 2, "end": 0}[s["kind"]], s
    assert all(0 <= t < len(steps) for t in targets), s
    assert ("condition" in s) == (s["kind"] == "branch"), s
    if s["segment"] is not None:
        opened = re.findall(r'^ *region "(.*)" {$', module["segments"][s["segment"]]["text"], re.M)
        assert opened[:len(s["regions"])] == s["regions"], s
    at = steps.index(s)
    kept = [c for c in carries if any(first <= at < end for first, end in c["alive"])]
    lane = sum(4 * c["words"] for c in kept if c["kind"] in ("lane", "private", "ended"))
    assert lane == s["bytes_per_lane"] <= 4 * module["lane_words"], s
    assert s["bytes_per_group"] <= 4 * (module["group_words"] + module["group_value_words"]), s
    assert (s["decides"] is not None) == (s["kind"] == "branch"), s
    for a in s["enter"] + s["leave"]:
        assert a["value"] and 0 <= a["scalar"] < len(module["scalars"]), s
for segment in module["segments"]:
    params = re.findall(r"^    param (\w+)", segment["text"], re.M)
    scalars = [module["scalars"][d["ref"]]["name"] for d in segment["decls"] if d["kind"] == "scalar"]
    assert all(p in params or "_old_" + p in params for p in scalars), segment["name"]
PYTHON
    expect_exit 0 "$VYRE" check "$name"/*.vy
    for segment in "$name"/*.vy; do
        expect_exit 0 "$VYRE" print "$segment"
        expect_same out "$segment"
    done
done

# For launches that are enqueued before it is known where the schedule goes.
for name in bfs made counted; do
    subject=$VYRE_SOURCE/examples/$name.vy
    [[ -e $subject ]] || subject=$golden/$name.vy
    expect_exit 0 "$VYRE" split "$subject" --ahead
    [[ ${1:-} != --update ]] || cp out "$golden/$name.ahead"
    expect_same out "$golden/$name.ahead"
    expect_exit 0 "$VYRE" split "$subject" --ahead -o "$name-ahead"
    expect_exit 0 "$VYRE" check "$name-ahead"/*.vy
done

# Carried words in several buffers; arrays lie across their borders.
for option in "" --explain; do
    stored=$golden/kinds.words${option:+-explain}
    expect_exit 0 "$VYRE" split "$golden/kinds.vy" --lane-words 2 ${option:+"$option"}
    [[ ${1:-} != --update ]] || cp out "$stored"
    expect_same out "$stored"
done
expect_exit 0 "$VYRE" split "$golden/kinds.vy" --lane-words 2 -o words
expect_exit 0 "$VYRE" check words/*.vy

# At workgroup scope.
for format in split: explain:--explain; do
    stored=$golden/group/$(basename "${format%%:*}") option=${format#*:}
    expect_exit 0 "$VYRE" split --scope workgroup "$golden/group/tree.vy" ${option:+"$option"}
    [[ ${1:-} != --update ]] || cp out "$stored"
    expect_same out "$stored"
done
expect_exit 2 "$VYRE" split --scope lane "$golden/plain.vy"
expect_err 'say grid or workgroup'

# As a device gets them.
expect_exit 0 "$VYRE" split --lowered elementary,async "$golden/lowered/wave.vy"
[[ ${1:-} != --update ]] || cp out "$golden/lowered/wave.split"
expect_same out "$golden/lowered/wave.split"
expect_exit 0 "$VYRE" split "$golden/lowered/wave.vy"
cp out before
expect_exit 0 "$VYRE" split --lowered all "$golden/lowered/wave.vy"
expect_same out before
expect_exit 4 "$VYRE" split --lowered exp,fma "$golden/lowered/wave.vy"
expect_err 'the device does not have FMA'
expect_exit 2 "$VYRE" split --lowered nothing "$golden/lowered/wave.vy"
expect_err 'begin with all, minimal, cpu or opencl'

# How a device runs the segments, and why. Of a processor that all have, and of one with masks where this is one.
forms_of() {
    subject=$1 features=$2 stored=$3
    expect_exit 0 "$VYRE" split "$subject" --no-opt --explain --backend "cpu://features=$features"
    expect_quiet err
    sed -n '/^how cpu runs it$/,$p' out >told
    [[ $4 != --update ]] || cp told "$stored"
    expect_same told "$stored"
    expect_exit 0 "$VYRE" split "$subject" --no-opt --json --backend "cpu://features=$features"
    python3 - told "$features" <<'PYTHON'
import json, re, sys
module = json.load(open("out"))
names = [s["name"] for s in module["segments"]]
assert module["backend"] == "cpu://features=" + sys.argv[2] and module["decisions"]
lines = []
for d in module["decisions"]:
    assert list(d) == ["segment", "part", "parts", "line", "topic", "choice", "reason"], d
    assert d["segment"] in names and 0 <= d["part"] < d["parts"], d
    where = f"line {d['line']}, " if d["line"] else ""
    lines.append(f"    {where}{d['topic']}: {d['choice']}" + (f" because {d['reason']}" if d["reason"] else ""))
told = [line for line in open(sys.argv[1]).read().splitlines() if line.startswith("    ")]
assert lines == told, (lines, told)
PYTHON
}
for subject in "$VYRE_SOURCE"/tests/golden/forms/*.vy; do
    forms_of "$subject" 'sse2&threads=2' "${subject%.vy}.explain" "${1:-}"
    ! grep -q '\bavx512bw\b' /proc/cpuinfo || forms_of "$subject" 'avx512&threads=2' "${subject%.vy}.avx512" "${1:-}"
done
forms=$VYRE_SOURCE/tests/golden/forms
forms_of "$forms/near.vy" 'sse2&threads=1' "$forms/near.alone" "${1:-}"
! grep -q '\bavx2\b' /proc/cpuinfo || forms_of "$forms/narrow.vy" 'avx2&threads=2' "$forms/narrow.avx2" "${1:-}"
expect_exit 4 "$VYRE" split "$golden/plain.vy" --explain --backend ref
expect_err "nothing to decide"
expect_exit 4 "$VYRE" split "$golden/plain.vy" --explain --backend cpq
expect_err 'did you mean "cpu"?'
expect_exit 4 "$VYRE" split "$golden/plain.vy" --explain --backend cpu://wings=2
expect_exit 2 "$VYRE" split "$golden/plain.vy" --explain --backend cpu --turn-loops
expect_err "decides how the program is cut"

# All at once or nothing.
cp "$golden/plain.vy" plain.vy
echo kept >file
expect_exit 3 "$VYRE" split plain.vy -o file
expect_exit 3 "$VYRE" split plain.vy -o missing/folder
[[ $(cat file) == kept ]] || fail "a file was overwritten"
mkdir taken && mkdir taken/plain_0.vy
expect_exit 3 "$VYRE" split plain.vy -o taken
[[ $(ls taken) == plain_0.vy ]] || fail "files were left behind"
expect_exit 2 "$VYRE" split plain.vy --dot --svg
expect_exit 2 "$VYRE" split
expect_exit 3 "$VYRE" split missing.vy
echo 'program p workgroup(2) elements(4) { out o : u32[4]; if (o[global_id.x] == 0) { grid_sync; } }' >bad.vy
expect_exit 1 "$VYRE" split bad.vy
expect_quiet out
