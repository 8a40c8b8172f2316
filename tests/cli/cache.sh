#!/bin/bash
# vyre cache: where it is, what it shows, what it removes, and what it refuses.
. "$VYRE_SOURCE/tests/cli/lib.sh"

export HOME=$PWD/home XDG_CACHE_HOME=$PWD/xdg
mkdir home

expect_exit 0 "$VYRE" cache
expect_out "$PWD/xdg/vyre"
expect_out "not there yet"
expect_exit 0 "$VYRE" cache --json
expect_out '"present":false'
[[ ! -e xdg ]] || fail "looking at the cache has made it"

# Without XDG_CACHE_HOME, or when it is not a full path, it is below the home folder.
for value in '' relative/path; do
    XDG_CACHE_HOME=$value expect_exit 0 "$VYRE" cache
    expect_out "$PWD/home/.cache/vyre"
done
XDG_CACHE_HOME='' HOME='' expect_exit 3 "$VYRE" cache
expect_err "XDG_CACHE_HOME"

mkdir -m 700 xdg xdg/vyre
printf 'damaged' >xdg/vyre/0123456789abcdef.vyre
printf 'mine' >xdg/vyre/notes
expect_exit 0 "$VYRE" cache
expect_out "entries: 1"
expect_out "bytes:   7 of at most 268435456"
expect_exit 0 "$VYRE" cache --json
python3 -c '
import json, os
o = json.load(open("out"))
assert o == {"schema": 1, "folder": os.getcwd() + "/xdg/vyre", "present": True, "entries": 1, "bytes": 7,
             "most_bytes": 268435456}, o'
expect_exit 0 "$VYRE" cache --clear --json
expect_out '"entries":0,"bytes":0'
expect_out '"removed":1,"removed_bytes":7'
[[ $(ls xdg/vyre) == notes ]] || fail "clearing leaves $(ls xdg/vyre)"
expect_exit 0 "$VYRE" cache --clear
expect_out "removed: 0 entries"

chmod 755 xdg/vyre
expect_exit 3 "$VYRE" cache --clear
expect_err "others may look or write into it"
expect_err "chmod 700"
rm -r xdg/vyre
ln -s "$HOME" xdg/vyre
expect_exit 3 "$VYRE" cache
expect_err "link"
expect_exit 2 "$VYRE" cache something

# What a driver of OpenCL has compiled is kept there, and given to it again.
if "$VYRE" devices | grep -q '^opencl .*split at grid'; then
    rm xdg/vyre
    kept=(run "$VYRE_SOURCE/examples/saxpy.vy" --backend opencl --in x=iota:100 --in y=iota:100 --time)
    expect_exit 0 "$VYRE" "${kept[@]}" --no-cache
    cp out first
    [[ ! -e xdg/vyre ]] || fail "a run without the cache has made it"
    expect_exit 0 "$VYRE" "${kept[@]}"
    expect_err "(cold)"
    expect_exit 0 "$VYRE" "${kept[@]}"
    expect_err "(warm, from disk)"
    expect_same first out
    expect_exit 0 "$VYRE" cache
    expect_out "entries: 1"
    expect_exit 0 "$VYRE" "${kept[@]}" --set a=3 # another argument, not another program
    expect_err "(warm, from disk)"
    sed 's/a \* x\[i\]/x[i] * a/' "$VYRE_SOURCE/examples/saxpy.vy" >other.vy
    expect_exit 0 "$VYRE" run other.vy "${kept[@]:2}"
    expect_err "(cold)"
    # What the driver does not take any more is compiled again.
    for entry in xdg/vyre/*.vyre; do
        printf 'damaged' >"$entry"
    done
    expect_exit 0 "$VYRE" "${kept[@]}"
    expect_err "(cold)"
    rm -r xdg/vyre
    ln -s "$HOME" xdg/vyre
fi

# A device that compiles keeps its code there, and finds it again; without being asked to it does not.
"$VYRE" devices | grep -q '^cpu .*LLVM' || exit 0
saxpy=(run "$VYRE_SOURCE/examples/saxpy.vy" --backend cpu --in x=iota:100 --in y=iota:100)
expect_exit 0 "$VYRE" "${saxpy[@]}"
expect_err "compiled programs are not kept"
expect_err "link"
rm xdg/vyre
expect_exit 0 "$VYRE" "${saxpy[@]}" --no-cache
cp out first
[[ ! -e xdg/vyre ]] || fail "a run without the cache has made it"
expect_exit 0 "$VYRE" devices
expect_out "compiled programs in $PWD/xdg/vyre"
[[ ! -e xdg/vyre ]] || fail "looking at devices has made it"
for _ in 1 2; do
    expect_exit 0 "$VYRE" "${saxpy[@]}"
    expect_same first out
    expect_exit 0 "$VYRE" cache
    expect_out "entries: 1"
done
[[ $(stat -c %a xdg/vyre) == 700 ]] || fail "the folder is open to others"
