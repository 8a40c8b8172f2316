#!/bin/bash
# run: inputs, outputs, params, exit codes, JSON, and that nothing is written on failure.
. "$VYRE_SOURCE/tests/cli/lib.sh"
examples=$VYRE_SOURCE/examples
saxpy=$examples/saxpy.vy

# json FIELD...: the field of the JSON object in the file out.
json() { python3 -c 'import json,sys
v = json.load(open("out"))
for key in sys.argv[1:]: v = v[int(key) if isinstance(v, list) else key]
print(json.dumps(v))' "$@"; }
# nothing_written: no result and no temporary file; what a test itself makes has other names.
nothing_written() {
    local files
    files=$(find . -type f ! -name '*.vy' ! -name '*.mtx' ! -name 'bad.*' ! -name out ! -name err)
    [[ -z $files ]] || fail "files were written: $files"
}

# Without --out a line per output; the device is named on standard error.
expect_exit 0 "$VYRE" run "$saxpy" --in x=iota:5 --in y=zeros:5 --set a=3
expect_out "y : f32[5] = 0 3 6 9 12  (min 0, max 12, xxh3 "
expect_err "running on "
expect_exit 0 "$VYRE" run "$saxpy" --in y=zeros:5 --backend ""
expect_err "running on "
expect_exit 0 "$VYRE" run "$saxpy" --in y=iota:0
expect_out "y : f32[0] "
expect_exit 0 "$VYRE" run "$saxpy" --in y=iota:3 --elements 0
expect_out "= 0 1 2 "
# An input with a declared size may be left out: zeros. One that decides its own size may not.
expect_exit 0 "$VYRE" run "$saxpy" --in y=iota:4
expect_out "= 0 1 2 3 "
expect_exit 3 "$VYRE" run "$saxpy"
expect_err "saxpy.vy:6:5: error: input y"
expect_err "fix: add --in y="

# The grid: the program's clause, the caller's, or inferred and said so.
cat >plain.vy <<'PROGRAM'
program plain workgroup(64) {
    out small : u32[10];
    out large : u32[1000];
    large[global_id.x] = num_groups.x;
}
PROGRAM
expect_exit 0 "$VYRE" run plain.vy --json
expect_err "grid 16,1,1, inferred from the elements of large"
[[ $(json grid) == "[16, 1, 1]" ]] || fail "grid"
expect_exit 0 "$VYRE" run plain.vy --grid 3
expect_out "max 3,"
expect_exit 0 "$VYRE" run plain.vy --elements 65
expect_out "max 2,"

# Files: what is written reads back; raw and npy hold the same numbers.
expect_exit 0 "$VYRE" run "$saxpy" --in y=random:100:7 --set a=0 --out y=y.npy
expect_quiet out
expect_exit 0 "$VYRE" run "$saxpy" --in y=y.npy --set a=0 --out y=y.bin
expect_exit 0 "$VYRE" run "$saxpy" --in y=y.bin --set a=0 --out y=again.npy
expect_exit 0 "$VYRE" cmp y.npy again.npy
expect_exit 0 "$VYRE" run "$saxpy" --in y=y.bin --out y=-
expect_same out y.bin
[[ $(stat -c %s y.bin) -eq 400 ]] || fail "raw size"
rm -f ./*.npy ./*.bin

# Graphs.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 3\n' >path.mtx
expect_exit 0 "$VYRE" run "$examples/bfs.vy" --in row,col=path.mtx --set source=3
expect_out "dist : u32[4] = 3 2 1 0 "
expect_exit 2 "$VYRE" run "$examples/bfs.vy" --in row=path.mtx
expect_err "two or three buffers"
expect_exit 2 "$VYRE" run "$examples/bfs.vy" --in row,col=iota:5
expect_exit 2 "$VYRE" run "$examples/bfs.vy" --in row,col,dist,row=path.mtx
expect_exit 2 "$VYRE" run "$examples/bfs.vy" --in row,row=path.mtx
expect_err "given twice"
expect_exit 2 "$VYRE" run "$examples/bfs.vy" --in rows,col=path.mtx
expect_err 'did you mean "row"?'
expect_exit 0 "$VYRE" run - --in row,col=path.mtx <"$examples/bfs.vy"

# Params by their type.
cat >params.vy <<'PROGRAM'
program params workgroup(1) elements(1) {
    param a : i32 = -1; param b : u64 = 2; param c : bool = false; param d : f64 = 0.5;
    out y : f64[4];
    y[0] = f64(a); y[1] = f64(b); y[2] = f64(u32(c)); y[3] = d;
}
PROGRAM
expect_exit 0 "$VYRE" run params.vy
expect_out "= -1 2 0 0.5 "
expect_exit 0 "$VYRE" run params.vy --set a=-2147483648 --set b=0x10 --set c=true --set d=-1e3
expect_out "= -2147483648 16 1 -1000 "
for wrong in a=2147483648 b=-1 c=2 d=x d=1e400 d=0x1p3 a= e=1 a; do
    expect_exit 2 "$VYRE" run params.vy --set "$wrong"
done
expect_exit 2 "$VYRE" run params.vy --set a=1 --set a=2

# Bad input: the right code, a message with a fix, and nothing written.
out=(--out "y=result.npy")
expect_exit 3 "$VYRE" run missing.vy
expect_exit 3 "$VYRE" run "$saxpy" --in y=missing.npy "${out[@]}"
expect_exit 3 "$VYRE" run "$saxpy" --in x=iota:3 --in y=iota:4 "${out[@]}"
expect_err "fix: "
printf '12345' >bad.dat
expect_exit 3 "$VYRE" run "$saxpy" --in y=bad.dat "${out[@]}"
printf 'junk' >bad.npy
expect_exit 3 "$VYRE" run "$saxpy" --in y=bad.npy "${out[@]}"
expect_err "bad.npy: error: not a .npy file"
printf '%%%%MatrixMarket matrix coordinate pattern general\n4 4 1\n5 1\n' >bad.mtx
expect_exit 3 "$VYRE" run "$examples/bfs.vy" --in row,col=bad.mtx --out dist=result.npy
expect_err "bad.mtx:3:"
expect_exit 2 "$VYRE" run "$saxpy" --in z=iota:4 "${out[@]}"
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --in y=iota:4 "${out[@]}"
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:four "${out[@]}"
expect_exit 2 "$VYRE" run "$saxpy" --in y "${out[@]}"
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --out x=x.npy
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --out y=a.npy --out y=b.npy
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --json --out y=-
# Where nothing can be written, nothing runs.
mkdir folder
for place in no/such/folder/y.npy folder bad.dat/y.npy; do
    expect_exit 3 "$VYRE" run "$saxpy" --in y=iota:4 --out "y=$place"
    expect_err "fix: "
    ! grep -q running err || fail "it ran, with no place for $place"
    expect_exit 3 "$VYRE" run "$saxpy" --in y=iota:4 "${out[@]}" --trace "$place"
    ! grep -q running err || fail "it ran, with no place for the trace"
done
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 "${out[@]}" --trace result.npy
expect_err "two outputs go to the same file"
rmdir folder
for zero in --iterations --repeat --threads --steps; do
    expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 $zero 0 "${out[@]}"
    expect_err "fix: give a number from 1"
done
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --stats=json "${out[@]}"
expect_err "fix: write --stats"
for wrong in fault:// fault://ref 'fault://ref?op=lunch' 'fault://ref?op=launch&n=0' 'fault://ref?op=launch&mode=twice'; do
    expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --backend "$wrong" "${out[@]}"
    expect_err "fix: "
done
expect_exit 3 "$VYRE" run "$saxpy" --in y=iota:4 --grid 16777216 "${out[@]}"
expect_err "global ids would not fit u32"
expect_exit 3 "$VYRE" run "$saxpy" --in y=iota:4294967296 "${out[@]}"

# Too large a grid: refused with the program where that says it, else with the input, by whatever it
# is given and whoever would run it.
for clause in 'grid(4294967295)' 'grid(1, 4294967296)' 'elements(4294967295)' 'elements(1 << 40)'; do
    echo "program p workgroup(4) $clause { out a : u32[8]; a[0] = 1; grid_sync; a[1] = a[0]; }" >large.vy
    for command in check run print split "emit --target c" "run --backend ref-split" "run --grid 1"; do
        # shellcheck disable=SC2086
        expect_exit 1 "$VYRE" $command large.vy
        expect_err "V245"
    done
done
for clause in 'grid(n)' 'grid(1, n * n)' 'elements(n)' 'elements(len(a) * n)'; do
    echo "program p workgroup(4) $clause { param n : u32 = 4294967295; out a : u32[8]; a[0] = 1; }" >large.vy
    expect_exit 0 "$VYRE" check large.vy
    for backend in ref ref-split ref-schedule; do
        expect_exit 3 "$VYRE" run large.vy --backend $backend
    done
done
echo 'program p workgroup(4) { out a : u32[8]; a[0] = 1; }' >large.vy
for grid in "--grid 4294967295" "--grid 1,4294967296" "--elements 4294967295" "--elements 4294967296" \
    "--grid 18446744073709551615" "--grid 1073741823,4294967295,4294967295"; do
    # shellcheck disable=SC2086
    expect_exit 3 "$VYRE" run large.vy --backend ref $grid
done
expect_exit 2 "$VYRE" run "$saxpy" --in y=iota:4 --order sideways "${out[@]}"
expect_exit 4 "$VYRE" run "$saxpy" --in y=iota:4 --backend cuda "${out[@]}"
expect_exit 4 "$VYRE" run "$saxpy" --in y=iota:4 --backend ref --threads 4 "${out[@]}"
nothing_written

# Runs that fail.
cat >trap.vy <<'PROGRAM'
program trap_it workgroup(4) elements(8) {
    out y : u32[8];
    y[global_id.x] = 1;
    if (global_id.x == 5) {
        trap("too big", 5);
    }
}
PROGRAM
expect_exit 5 "$VYRE" run trap.vy "${out[@]}"
expect_err "too big"
expect_exit 5 "$VYRE" run "$saxpy" --in y=iota:1000 --steps 10 "${out[@]}"
expect_exit 5 "$VYRE" run "$saxpy" --in y=iota:1000 --timeout 0 "${out[@]}"
expect_err "took longer than 1e-09 s"
expect_exit 3 "$VYRE" run "$saxpy" --in y=iota:4 "${out[@]}" --trace /dev/full
expect_exit 5 "$VYRE" run "$saxpy" --in y=iota:4 --backend 'fault://ref?op=launch&n=1&mode=lost' "${out[@]}"
nothing_written

# Ctrl-C: the cancel flag, exit code 130, nothing written.
cat >endless.vy <<'PROGRAM'
program endless workgroup(1) elements(1) {
    out y : u32[1];
    while (y[0] < 2) {
        y[0] = 1;
    }
}
PROGRAM
mkfifo messages
"$VYRE" run endless.vy --timeout 60 "${out[@]}" 2>messages &
{
    read -r _ <&3 # it says on which device it runs
    kill -INT $!
    cat <&3 >err
} 3<messages
code=0
wait $! || code=$?
[[ $code -eq 130 ]] || fail "interrupted: exit code $code"
grep -q error err || fail "interrupted: no message"
nothing_written

# Fixpoint: the same bytes by `while` and by passes.
reach=("$examples/reach.vy" --in "row,col=grid:20:20" --in gen=random:400:1 --in kill=random:400:2 --json)
expect_exit 0 "$VYRE" run "${reach[@]}"
want=$(json outputs 0 xxh3)
passes=
for where in "ref host" "ref-split host" "ref-split resident"; do
    on=(--backend "${where% *}" --path "${where#* }")
    expect_exit 0 "$VYRE" run "${reach[@]}" "${on[@]}"
    [[ $(json outputs 0 xxh3) == "$want" ]] || fail "$where: the result differs"
    expect_exit 0 "$VYRE" run "${reach[@]}" "${on[@]}" --set sweeps=1 --iterations 500
    [[ $(json outputs 0 xxh3) == "$want" ]] || fail "$where: by passes the result differs"
    [[ $(json converged) == true && $(json passes) -gt 3 ]] || fail "$where: passes"
    [[ $(json passes) == "${passes:=$(json passes)}" ]] || fail "$where: the number of passes differs"
    expect_err "passes, converged"
done
expect_exit 0 "$VYRE" run "${reach[@]}" --set sweeps=1 --iterations 2
[[ $(json converged) == false && $(json passes) == 2 ]] || fail "passes are bounded"

# Races: both lines, the harmless kind told apart, an error only for those that matter.
cat >harmless.vy <<'PROGRAM'
program harmless workgroup(4) elements(8) {
    out y : u32[1];
    y[0] = 7;
}
PROGRAM
cat >harmful.vy <<'PROGRAM'
program harmful workgroup(4) elements(8) {
    out y : u32[9];
    y[global_id.x] = 1;
    y[8] = y[0];
}
PROGRAM
expect_exit 0 "$VYRE" run harmless.vy --races=error
expect_err "harmless.vy:3:5: warning: harmless race on y[0]"
expect_err "harmless.vy:3:5: note: lane"
cat >together.vy <<'PROGRAM'
program together workgroup(4) elements(8) {
    out y : u32[16];
    y[global_id.x] = 1;
    y[global_id.x + 8] = y[global_id.x ^ 1];
}
PROGRAM
cat >apart.vy <<'PROGRAM'
program apart workgroup(4) elements(8) {
    out y : u32[16];
    y[global_id.x] = 1;
    barrier;
    y[global_id.x + 8] = y[7 - global_id.x];
}
PROGRAM
expect_exit 0 "$VYRE" run harmful.vy --races
expect_err "harmful.vy:4:5: note: lane"
expect_exit 0 "$VYRE" run together.vy --races
expect_err "fix: separate the two by a barrier, or make both atomic"
expect_err "with no barrier between"
expect_exit 0 "$VYRE" run apart.vy --races
expect_err "fix: separate the two by a grid_sync, or make both atomic"
expect_err "with no grid_sync between"
expect_exit 7 "$VYRE" run harmful.vy --races=error --out y=y.npy
expect_err "harmful.vy:3:5: error: race on y[0]"
nothing_written
expect_exit 7 "$VYRE" run harmful.vy --races=error --json
[[ $(json status) == '"check failed"' && $(json races 0 harmless) == false ]] || fail "races in JSON"
[[ $(json races 0 first line) == 3 ]] || fail "place of a race"

# JSON: the shape of the contract, on success and on failure.
python3 - "$VYRE" "$saxpy" <<'PYTHON'
import json, subprocess, sys
def run(*more):
    p = subprocess.run([sys.argv[1], "run", sys.argv[2], "--json", *more], capture_output=True)
    return p.returncode, json.loads(p.stdout)
top = "schema status backend split grid passes converged outputs stats time_ns code_from races bounds diagnostics".split()
stats = "launches host_waits bytes_in bytes_out carried_bytes segments sync_points skipped_launches".split()
times = "compile alloc upload run download total device enqueue wait per_barrier".split()
for code, said in (run("--in", "y=iota:8", "--out", "y=y.npy", "--repeat", "3"), run("--in", "y=missing.npy"),
                   run("--in", "y=iota:8", "--backend", "cuda")):
    assert list(said) == top, list(said)
    assert said["schema"] == 1 and len(said["grid"]) == 3
    assert all(isinstance(said["stats"][k], int) for k in stats)
    assert all(isinstance(said["time_ns"][k], int) for k in times)
    assert set(said["time_ns"]["unknown"]) == {"device", "enqueue", "wait"}, said["time_ns"]
    if code == 0:
        assert said["status"] == "ok" and said["diagnostics"] == [] and said["backend"]
        (y,) = said["outputs"]
        assert list(y) == ["name", "type", "count", "xxh3", "file"], y
        assert (y["name"], y["type"], y["count"], y["file"]) == ("y", "f32", 8, "y.npy"), y
        assert len(y["xxh3"]) == 16 and int(y["xxh3"], 16) >= 0
        assert said["stats"]["bytes_out"] == 32
    else:
        assert said["status"] != "ok" and said["outputs"] == [], said
        (d,) = said["diagnostics"]
        assert list(d) == "code severity file line col end_col message fix".split(), d
        assert d["severity"] == "error" and d["message"]
PYTHON

# An error of a segment says so in JSON, too.
cat > late.vy <<'VY'
program late workgroup(1) grid(1) {
    inout v : u32[1];
    v[0] = v[0] + 1;
    grid_sync;
    trap("late", v[0]);
}
VY
expect_exit 5 "$VYRE" run late.vy --in v=zeros:1 --backend ref-split --json
python3 -c 'import json; (d,) = json.load(open("out"))["diagnostics"]; assert (d["segment"], d["segments"]) == (2, 2), d'

expect_exit 0 "$VYRE" run "$saxpy" --in y=iota:8 --stats --time
expect_err "bytes_out        32"
expect_err "total "
expect_err "barriers         0"
! grep -q per_barrier err || fail "time per barrier where there is none"

# Barriers that were passed, what is not known, and where compiled code came from.
expect_exit 0 "$VYRE" run "$VYRE_SOURCE/examples/bfs.vy" --in row,col=grid:8:4 --time --backend ref
expect_err "device           unknown"
grep -qE '^vyre: compile +[0-9.]+ ms$' err || fail "ref tells where its code comes from"
if "$VYRE" devices | grep -q '^cpu .*LLVM'; then
    export XDG_CACHE_HOME=$XDG_CACHE_HOME/fresh # nothing is there yet
    for from in '(cold)' '(warm, from disk)'; do
        expect_exit 0 "$VYRE" run "$VYRE_SOURCE/examples/bfs.vy" --in row,col=grid:8:4 --time --stats --backend cpu
        expect_err "$from"
        [[ $(sed -n 's/^vyre: sync_points *//p' err) == $(sed -n 's/^vyre: barriers *//p' err) ]] || fail "barriers"
        grep -qE '^vyre: per_barrier +[0-9]+\.[0-9]{3} us of the run$' err || fail "no time per barrier"
    done
fi

# Memory that is not there. Sanitizers reserve more than any limit.
if [[ $(nm "$VYRE" 2>/dev/null | grep -cE '__(asan|tsan)_init') -eq 0 ]]; then
    (ulimit -v 200000 && expect_exit 6 "$VYRE" run "$saxpy" --in y=zeros:100000000 --out y=large.npy)
    [[ ! -e large.npy ]] || fail "a file was written"
fi
