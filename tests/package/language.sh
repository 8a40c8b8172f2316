#!/bin/bash
# docs/language.md names everything that can be written: each spelling of the table of operations and
# each type.
set -uo pipefail
cd "$VYRE_SOURCE" || exit

exec python3 - <<'PYTHON'
import pathlib, re, sys

page = pathlib.Path("docs/language.md").read_text()
table = pathlib.Path("include/vyre/ops.def").read_text()
spellings = set(re.findall(r'^VYRE_[A-Z]+\(\w+, "([^"]+)"', table, re.M))
types = {word.lower() for word in
         re.findall(r"\bVYRE_(B?F?\w?\d+|BOOL)\b", pathlib.Path("include/vyre/type.h").read_text())}
written = set(re.findall(r"[a-z_]+[a-z0-9_]*", page)) | set(re.findall(r"[^\w\s`\"]+", page))
missing = sorted(word for word in spellings | types if word not in written)
for word in missing:
    print(f"docs/language.md does not name {word}")
if len(spellings) < 100 or len(types) < 10:
    print(f"only {len(spellings)} spellings and {len(types)} types were found")
sys.exit(bool(missing) or len(spellings) < 100 or len(types) < 10)
PYTHON
