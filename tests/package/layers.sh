#!/bin/bash
# Who may include whom. A folder may use the public headers, itself and the folders in its row.
# `io` and the backends know nothing of each other; `ref` shares no analysis or pass with what it
# judges. A folder without a row fails: give it one.
set -uo pipefail
cd "$VYRE_SOURCE" || exit

layers='
base
ir              base
text            base ir
analysis        base ir text
lower           base ir analysis
opt             base ir analysis lower
split           base ir analysis lower opt
show            base ir split
plan            base ir text analysis lower
kit             base ir split
device          base ir kit
schedule        base ir lower opt split kit device
dispatch        base ir analysis lower opt split kit device schedule
backend/null    base kit device
backend/ref     base ir kit device
backend/cpu     base ir analysis lower opt split kit device
backend/opencl  base ir analysis lower opt split kit device
io              base plan
'

grep -rnE --include='*.[ch]' --include='*.def' '^[ \t]*#[ \t]*include[ \t]*["<]' include src | awk -v layers="$layers" '
    # The folder as it is written in the table: src/backend/ref/x.c is in backend/ref.
    function layer_of(path) {
        sub(/\/[^\/]*$/, "", path)
        return path
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
            if (!(from in known) && !(from in told)) {
                complain("the table of layers has no row for " from)
                told[from] = 1
            } else if (quoted && !public && (from in known) && !((from, to) in allowed))
                complain(from " must not include " target)
        }
    }
    END { exit bad }'
