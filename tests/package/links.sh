#!/bin/bash
# The pages lead somewhere: every link to a file, and to a heading of a page, is there, and so is
# every path of the tree that is named in `backticks`: of a folder, or of a source as it is included.
# Words in capitals, `mine` and * stand for any name.
set -uo pipefail
cd "$VYRE_SOURCE" || exit

exec python3 - <<'PYTHON'
import pathlib, re, sys

pages = [*sorted(pathlib.Path(".").glob("*.md")), *sorted(pathlib.Path("docs").glob("*.md"))]
roots = "src include tests tools docs examples bench scripts cmake".split()
failures = links = paths = 0

def complain(page, number, text):
    global failures
    failures += 1
    print(f"{page}:{number}: {text}")

def prose(page):
    """Numbered lines outside of code blocks."""
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced:
            yield number, line

def anchors(page):
    """The names by which GitHub knows the headings of a page."""
    for _, line in prose(page):
        if heading := re.match(r"#+ (.*)", line):
            yield re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")

def check_link(page, number, target):
    path, _, anchor = target.partition("#")
    to = page.parent / path if path else page
    if not to.exists():
        complain(page, number, f"there is no {target}")
    elif anchor and (to.suffix != ".md" or anchor not in anchors(to)):
        complain(page, number, f"{to} has no heading #{anchor}")

def is_path(text):
    return "/" in text and (text.split("/")[0] in roots or re.search(r"\.(c|h|def|sh|md)$", text))

def check_path(page, number, path):
    pattern = re.sub(r"[A-Z]{2,}|<\w+>|\bmine\b", "*", path).rstrip("/")
    if not any(list(pathlib.Path(top).glob(pattern)) for top in (".", "src", "include")):
        complain(page, number, f"there is no {path}")

for page in pages:
    for number, line in prose(page):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if not re.match(r"[a-z]+:", target):
                links += 1
                check_link(page, number, target)
        for path in re.findall(r"`([\w./*<>-]+)`", line):
            if is_path(path):
                paths += 1
                check_path(page, number, path)
if links < 20 or paths < 50:
    print(f"only {links} links and {paths} paths were found")
    failures += 1
sys.exit(failures > 0)
PYTHON
