#!/bin/bash
# Ctrl-C ends the command with 130 wherever it is: in a run, while an output waits for a reader, while
# an input waits for a writer. And the line on a terminal that says how far a long run has come.
. "$VYRE_SOURCE/tests/cli/lib.sh"
cat >big.vy <<'PROGRAM'
program big workgroup(64) elements(1000000) {
    out y : u32[1000000];
    y[global_id.x] = global_id.x;
}
PROGRAM
cat >long.vy <<'PROGRAM'
program long workgroup(1) elements(1) {
    inout y : u32[1];
    while (y[0] < 4294967295) {
        grid_sync;
        y[0] = y[0] + 1;
        grid_sync;
    }
}
PROGRAM

# A terminal is needed: Python has one. stop.py WHEN COMMAND...: runs the command with standard error
# on a terminal and sends SIGINT: `line` when a progress line is there, `open` when the FIFO holds
# something, `pipe` when standard output does, `blocked` when the command sleeps. Prints the exit code;
# what the terminal showed is in the file terminal, what standard output got in the file out.
cat >stop.py <<'PYTHON'
import os, pty, select, signal, subprocess, sys, time
when, command = sys.argv[1], sys.argv[2:]
master, slave = pty.openpty()
reader, writer = os.pipe()
fifo = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK) if when == "open" else None
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writer, stderr=slave)
os.close(writer)
os.close(slave)
shown, sent = b"", False
def ready():
    if when == "line":
        return b"launches per second" in shown
    if when == "open":
        return select.select([fifo], [], [], 0)[0] != []
    if when == "pipe":
        return select.select([reader], [], [], 0)[0] != []
    with open("/proc/%d/status" % child.pid) as f: # blocked
        return "(sleeping)" in f.read()
limit = time.monotonic() + 60
while time.monotonic() < limit:
    if select.select([master], [], [], 0.05)[0]:
        try:
            shown += os.read(master, 65536)
        except OSError:
            break
    if not sent and child.poll() is None and ready():
        child.send_signal(signal.SIGINT)
        sent = True
    if sent and child.poll() is not None:
        break
code = child.wait(timeout=30)
with open("terminal", "wb") as f:
    f.write(shown)
with open("out", "wb") as f:
    f.write(os.read(reader, 1 << 20))
print(code)
PYTHON
stopped() {
    local code
    code=$(timeout 100 python3 stop.py "$@")
    [[ $code -eq 130 ]] || fail "\"$*\" exits with $code, not 130: $(cat terminal)"
}
mkfifo fifo
for backend in ref ref-split; do
    stopped line "$VYRE" run long.vy --backend $backend --json
    tr '\r' '\n' <terminal | grep -qE '^vyre: [0-9.]+ s: [1-9][0-9]* barriers, 0 passes, [0-9]+ launches per second' ||
        fail "$backend: $(cat terminal)"
    grep -q '"status":"cancelled"' out || fail "$backend: no object"
done
# Written to a reader that does not read: more than fits into the pipe.
stopped open "$VYRE" run big.vy --backend ref --out y=fifo
# The same on standard output.
stopped pipe "$VYRE" run big.vy --backend ref --out y=-
# Nobody writes what is to be read.
stopped blocked "$VYRE" run - --backend ref
[[ $(find . -name '.vyre-*') == "" ]] || fail "temporary files are left"

# No line where there is no terminal.
expect_exit 5 "$VYRE" run long.vy --backend ref --timeout 2.6
! grep -q launches err || fail "a line without a terminal"
