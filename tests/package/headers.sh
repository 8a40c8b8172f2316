#!/bin/bash
# Each public header compiles alone and twice, as strict C11 and as C++17.
set -uo pipefail
cd "$VYRE_SOURCE" || exit
status=0
for header in include/vyre/*.h; do
    name=${header#include/}
    for compiler in "gcc -x c -std=c11" "g++ -x c++ -std=c++17"; do
        # shellcheck disable=SC2086
        printf '#include "%s"\n' "$name" "$name" |
            $compiler -pedantic-errors -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only \
                -Iinclude - || { echo "$name: fails with $compiler" && status=1; }
    done
done
exit $status
