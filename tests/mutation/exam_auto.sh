#!/usr/bin/env bash
# The automatic half of an exam: mutants of a draw that no exam has had, evenly over the rooms of engine/, given to a
# campaign of as many cases as one of a minute of processor time has, then to the corpus, canaries and unit tests.
#
#     exam_auto.sh SOURCES BUILD WORK draw=N [mutants=200] [cases=5000] [jobs=2] [units=PATTERN]
#
# BUILD has the program `mutate`. Only these mutants are compiled in, so a case takes about as long as it does in a
# campaign; 1,000 cases of seed 1 took 11.5 seconds on 2026-11-28. units='': neither corpus nor canaries nor unit tests
# are asked, and not built. WORK/auto.N.tsv is hunt's table (tests/mutation/auto/hunt.c); an interrupted exam goes on.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder}
shift 3
draw='' mutants=200 cases=5000 jobs=2 units='*'
for argument; do
    case $argument in
    draw=* | mutants=* | cases=* | jobs=* | units=*) declare "$argument" ;;
    *) echo "exam_auto.sh: what is $argument?" >&2 && exit 2 ;;
    esac
done
: "${draw:?draw=N, a number that no exam has had}"
mkdir -p "$work" && work=$(cd "$work" && pwd)
names=$work/names.$draw later=()
mutate() { "$build/tests/mutation/auto/mutate" "$@"; }
of_sources=("$sources" "$build/compile_commands.json" "$here/auto/scope.txt")
# All mutants in an order that the number draws; of each room so many of the first.
mutate --list "${of_sources[@]}" | LC_ALL=C grep '^engine/' | LC_ALL=C sort -R --random-source=<(yes "$draw") |
    awk -f "$here/exam/choose.awk" -v wanted="$mutants" >"$names"
rm -rf "$work/mutants.$draw"
mutate --names "$names" "${of_sources[@]}" "$work/mutants.$draw" || exit 3
cmake -S "$sources" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DSIMTFUZZ_MUTANT_FOLDER="$work/mutants.$draw" \
    -DSIMTFUZZ_MUTANT_UNITS="${units:+ON}" >"$work/build.log" &&
    cmake --build "$work/build" -j"$jobs" --target hunt-some >>"$work/build.log" || exit 3
[ -z "$units" ] || later=(--corpus "$sources/corpus" --canaries "$here/auto/canaries.txt" --units "$units")
cd "$sources" && "$work/build/tests/mutation/auto/hunt-some" --names "$names" --seeds 1 --cases "$cases" \
    --jobs "$jobs" --patience 300 "${later[@]}" --output "$work/auto.$draw.tsv"
awk -F'\t' '$1 == "auto" { n++; by[$13]++
        if ($13 ~ /detected|crashed|timeout/) { how = $9 ~ /^(corpus|canary|test|golden)/ ? substr($9, 1, index($9 " ", " ") - 1) : "campaign"; sub(/:.*/, "", how); found[how]++ } }
    END { printf "%d mutants\n", n; for (h in found) printf "%s %d\n", h, found[h]; printf "nothing %d\n", by["survived"] }' \
    "$work/auto.$draw.tsv"
