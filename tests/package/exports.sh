#!/bin/bash
# The shared library exports exactly what the public headers declare with VYRE_API, under the
# versioned name that programs link to.
set -uo pipefail
library=$VYRE_BUILD/lib/libvyre.so

# Comments and directives out, then the last word before the parenthesis (or the semicolon).
cat "$VYRE_SOURCE"/include/vyre/*.h | gcc -w -fpreprocessed -dD -E -P -x c - | grep -v '^ *#' | tr '\n' ' ' |
    grep -oE '\bVYRE_API [^;({]*[;({]' | sed -E 's/\[[^]]*\]//g; s/.*\b(\w+) *.$/\1/' |
    LC_ALL=C sort >declared
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort >exported
[[ -s declared ]] || { echo "no declarations found" && exit 1; }
uniq -d declared | sed 's/^/declared twice: /'
diff declared exported | sed -n 's/^</declared but not exported:/p; s/^>/exported but not declared:/p'
readelf -d "$library" | grep -q 'SONAME.*libvyre\.so\.0\]' || { echo "wrong soname" && exit 1; }
cmp -s declared exported
