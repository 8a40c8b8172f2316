#!/bin/bash
# Every command in the README and in docs/ works and prints what the page shows. In a page
#   ```vy NAME.vy    is a program, written to that file;
#   ```console       holds `$ command` lines, each followed by its output, both streams together;
#   ```sh            holds commands of make, which are only looked up.
# Which device runs a program depends on the machine, so the line that names it may differ.
# With --update the pages are rewritten with the real output.
. "$VYRE_SOURCE/tests/cli/lib.sh"
ln -s "$VYRE_SOURCE/examples" examples
mkdir bin && ln -s "$VYRE" bin/vyre
export PATH=$PWD/bin:$PATH

exec python3 - "$VYRE_SOURCE" "$@" <<'PYTHON'
import pathlib, re, subprocess, sys

root, update = pathlib.Path(sys.argv[1]), "--update" in sys.argv
failures = commands = 0

def complain(page, number, text):
    global failures
    failures += 1
    print(f"{page.relative_to(root)}:{number}: {text}")

def same(output):
    return [re.sub(r"^(vyre: running on) .*", r"\1", line) for line in output]

def run_console(page, number, lines):
    """The lines of a console block with the output that its commands really have."""
    global commands
    real, shown, i = [], None, 0
    while i < len(lines):
        if not lines[i].startswith("$ "):
            complain(page, number + i, "a console block begins with a $ line")
            return lines
        command, begin = lines[i][2:], i
        while command.endswith("\\"):
            i += 1
            command = command[:-1] + lines[i]
        end = i + 1
        while end < len(lines) and not lines[end].startswith("$ "):
            end += 1
        done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, stdin=subprocess.DEVNULL, timeout=120)
        commands += 1
        output = done.stdout.splitlines()
        if same(output) != same(lines[i + 1:end]) and not update:
            complain(page, number + begin, f"{command}\n  shown:\n    " + "\n    ".join(lines[i + 1:end]) +
                     "\n  real:\n    " + "\n    ".join(output))
        real += lines[begin:i + 1] + output
        i = end
    return real

def check_make(page, number, lines):
    global commands
    for i, line in enumerate(lines):
        words = line.split("#")[0].split()
        commands += 1
        if words[:1] != ["make"]:
            complain(page, number + i, f"not a command of make: {line}")
        elif subprocess.run(["make", "-n", "-C", root, *words[1:]], capture_output=True).returncode:
            complain(page, number + i, f"make knows no such target: {line}")

def run_page(page):
    lines, out, i = page.read_text().splitlines(), [], 0
    while i < len(lines):
        fence = re.fullmatch(r"```(vy|console|sh)(?: (\S+))?", lines[i])
        out.append(lines[i])
        i += 1
        if not fence:
            continue
        end = lines.index("```", i)
        block = lines[i:end]
        if fence[1] == "vy" and fence[2]:
            pathlib.Path(fence[2]).write_text("\n".join(block) + "\n")
        elif fence[1] == "console":
            block = run_console(page, i + 1, block)
        elif fence[1] == "sh":
            check_make(page, i + 1, block)
        out += block + ["```"]
        i = end + 1
    if update:
        page.write_text("\n".join(out) + "\n")

for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
    run_page(page)
if commands < 20:
    print(f"only {commands} commands were found")
    failures += 1
sys.exit(failures > 0)
PYTHON
