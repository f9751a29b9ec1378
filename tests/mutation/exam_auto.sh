#!/usr/bin/env bash
# The automatic half of an exam: mutants of a draw that no exam has had, evenly over the rooms, given to a campaign of
# as many cases as one of a minute of processor time has, then to the corpus, canaries and unit tests.
#
#     exam_auto.sh SOURCES HUNT WORK draw=N [mutants=200] [cases=12000] [jobs=2] [units=PATTERN]
#
# WORK/auto.tsv is hunt's table (tests/mutation/auto/hunt.c), and an interrupted exam goes on.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:?sources}" && pwd) hunt=${2:?hunter} work=${3:?work folder}
shift 3
draw='' mutants=200 cases=12000 jobs=2 units='*'
for argument; do
    case $argument in
    draw=* | mutants=* | cases=* | jobs=* | units=*) declare "$argument" ;;
    *) echo "exam_auto.sh: what is $argument?" >&2 && exit 2 ;;
    esac
done
: "${draw:?draw=N, a number that no exam has had}"
mkdir -p "$work"
# A sample of 4,000 has every room; in an order drawn by the same number, so many are taken in turn.
"$hunt" --list --sample 4000 --draw "$draw" 2>/dev/null | shuf --random-source=<(yes "$draw") |
    awk -f "$here/exam/choose.awk" -v wanted="$mutants" >"$work/names.$draw"
cd "$sources" && "$hunt" --names "$work/names.$draw" --seeds 1 --cases "$cases" --jobs "$jobs" --patience 300 \
    --corpus "$sources/corpus" --canaries "$sources/tests/mutation/auto/canaries.txt" ${units:+--units "$units"} \
    --output "$work/auto.$draw.tsv"
awk -F'\t' '$1 == "auto" { n++; by[$13]++
        if ($13 ~ /detected|crashed|timeout/) { how = $9 ~ /^(corpus|canary|test|golden)/ ? substr($9, 1, index($9 " ", " ") - 1) : "campaign"; sub(/:.*/, "", how); found[how]++ } }
    END { printf "%d mutants\n", n; for (h in found) printf "%s %d\n", h, found[h]; printf "nothing %d\n", by["survived"] }' \
    "$work/auto.$draw.tsv"
