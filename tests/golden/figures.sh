#!/usr/bin/env bash
# Figures 5.2, 5.3 and 5.4 of the CUDA report, written down by hand from it (figure-5.N.expected), against the
# traces of the programs.
#
# The report takes line numbers for addresses, in listings in which labels have lines of their own; so
# the addresses of a trace, which count instructions, are put into its lines. The instructions that end the
# programs (exit) are not in the report. Figure 5.3 takes PATH-2 first, then PATH-3: figure-5.3.tape.
#
#     figures.sh SIMTFUZZ
set -u
simtfuzz=$(realpath "${1:?the program}")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2

# kernel, lines of the addresses from 1 on, then arguments of trace; prints pc, masks, stack
table() {
    local kernel=$1 lines=$2
    shift 2
    "$simtfuzz" trace "corpus/papers/crs/$kernel.ptx" --subject crs "$@" --json |
        sed -nE 's/.*"pc": ([0-9]+),.*"active": "([01]*)", "disabled": "([0bre]*)", "stack": \[(.*)\], "writes".*/\1 \2 \3 \4/p' |
        sed -E 's/\["([a-z]*)", "([01]*)", ([0-9]*)\],?/(\1,\2,\3)/g; s/\(div,/(diverge,/g; s/ $/ eps/' |
        awk -v lines="$lines" '
        BEGIN { split(lines, line, " ") }
        !($1 in line) { next }
        {
            $1 = line[$1]
            for (i = 4; i <= NF && $i != "eps"; i++) {
                at = $i
                sub(/.*,/, "", at)
                sub(/[)]/, "", at)
                sub(/[0-9]*[)]/, line[at + 0] ")", $i)
            }
            print
        }'
}

failures=0
diff -u "$here/figure-5.2.expected" <(table gt-55 "1 2 3 4 5 7 9 10" | cut -d' ' -f1,2,4-) || failures=1
diff -u "$here/figure-5.3.expected" <(table gt-56 "1 2 4 5 7 8 10 12 13" \
    --schedule tape:tests/golden/figure-5.3.tape | cut -d' ' -f1,2,4-) || failures=1
diff -u "$here/figure-5.4.expected" <(table gt-57 "1 2 3 4 5 7 9 10 11 x") || failures=1
[ "$failures" -eq 0 ] && echo "figures 5.2, 5.3 and 5.4 agree"
