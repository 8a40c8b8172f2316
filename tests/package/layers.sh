#!/bin/bash
# Who may include whom. The table of rooms in docs/architecture.md decides: a room may use the public
# headers, itself and the rooms in its row; a backend without a row of its own has that of
# backend/*. A room without a row fails, and so does a row without a room.
set -uo pipefail
cd "$VYRE_SOURCE" || exit

# shellcheck disable=SC2016
layers=$(sed -n 's/^| `src\/\([a-z/*]*\)\/` | \([a-z ]*\)|.*/\1 \2/p' docs/architecture.md)
(($(wc -l <<<"$layers") > 10)) || { echo "docs/architecture.md: no table of rooms" && exit 1; }
while read -r room _; do
    [[ $room == *'*' || -d src/$room ]] || { echo "docs/architecture.md: there is no src/$room" && exit 1; }
done <<<"$layers"

grep -rnE --include='*.[ch]' --include='*.def' '^[ \t]*#[ \t]*include[ \t]*["<]' include src | awk -v layers="$layers" '
    # The folder as it is written in the table: src/backend/ref/x.c is in backend/ref.
    function layer_of(path) {
        sub(/\/[^\/]*$/, "", path)
        return path
    }
    # The row that holds for it.
    function row_of(layer) {
        return !(layer in known) && layer ~ /^backend\// ? "backend/*" : layer
    }
    function complain(why) {
        print place ": " why
        bad = 1
    }
    BEGIN {
        rows = split(layers, row, "\n")
        for (i = 1; i <= rows; i++) {
            count = split(row[i], word, " ")
            for (j = 1; j <= count; j++) allowed[word[1], word[j]] = known[word[1]] = 1
        }
    }
    {
        split($0, part, ":")
        path = part[1]
        place = path ":" part[2]
        match($0, /["<][^">]*[">]/)
        quoted = substr($0, RSTART, 1) == "\""
        target = substr($0, RSTART + 1, RLENGTH - 2)
        public = target ~ /^vyre\//
        if (target ~ /\.\.\//) complain("relative path " target)
        else if (path ~ /^include\//) {
            if (quoted && !public) complain("public header includes " target)
        } else if (path ~ /^src\//) {
            from = layer_of(substr(path, 5))
            to = target ~ /\// ? layer_of(target) : from
            own = row_of(from)
            if (!(own in known) && !(from in told)) {
                complain("the table in docs/architecture.md has no row for " from)
                told[from] = 1
            } else if (quoted && !public && (own in known) && to != from && !((own, to) in allowed))
                complain(from " must not include " target)
        }
    }
    END { exit bad }'
