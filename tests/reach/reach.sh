#!/usr/bin/env bash
# What a campaign executes: for each place of engine/ and oracle/ in how many of its cases, and for each room how many
# places none of them reaches, or few. Compiles a simtfuzz of its own, with clang (counters.c); it is as fast as others.
#
#     tests/reach/reach.sh [FOLDER [SEED [CASES]]]      build-reach, 1 and 3000 by default
#
# FOLDER/rooms.txt has the table, and FOLDER/places.txt all places: cases, file:line:column, function. docs/coverage.md
# says how they are read.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-build-reach} seed=${2:-1} cases=${3:-3000} few=10
first_of() { command -v "$@" | head -n 1; }
clang=$(first_of clang-14 clang) symbolizer=$(first_of llvm-symbolizer-14 llvm-symbolizer)

mkdir -p "$folder"
folder=$(realpath "$folder")
"$clang" -std=c11 -D_DEFAULT_SOURCE -I. -O2 -c tests/reach/counters.c -o "$folder/counters.o"
cmake -S . -B "$folder" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None -DSIMTFUZZ_TESTS=OFF \
    -DCMAKE_C_FLAGS="-O1 -gline-tables-only -fsanitize-coverage=inline-8bit-counters,pc-table" \
    -DCMAKE_EXE_LINKER_FLAGS="$folder/counters.o -Wl,--wrap=case_of_campaign" >/dev/null
cmake --build "$folder" -j "$(nproc)" --target simtfuzz >"$folder/build.log" 2>&1 || { tail "$folder/build.log"; exit 1; }

rm -f "$folder"/reach.db* "$folder/counters.txt"
status=0
REACH=$folder/counters.txt "$folder/simtfuzz" run --no-supervisor --jobs 1 --seed "$seed" --cases "$cases" \
    --db "$folder/reach.db" >"$folder/run.log" 2>&1 || status=$?
[ "$status" -le 1 ] || { tail "$folder/run.log"; exit 1; } # 1: it has findings, which is others' business

# A place is a line and a column. What is compiled several times has several counters, of which the highest counts.
cut -d ' ' -f 2 "$folder/counters.txt" |
    "$symbolizer" --obj="$folder/simtfuzz" --no-inlines | paste -d ' ' - - - |
    paste -d ' ' <(cut -d ' ' -f 1 "$folder/counters.txt") - |
    awk '$1 >= most[$3] { most[$3] = $1; name[$3] = $2 }
         END { for (place in most) print most[place], place, name[place] }' |
    sed -n 's, [^ ]*/\(\(engine\|oracle\)/[^ ]* [^ ]*\)$, \1,p' | sort -k 2,2V >"$folder/places.txt"

{
    printf '%-26s %6s %6s %6s\n' room places never "<$few"
    awk -v few=$few '
        { split($2, part, "/"); room = part[1] "/" part[2]; all[room]++; never[room] += $1 == 0; rare[room] += $1 && $1 < few }
        END { for (room in all) printf "%-26s %6d %6d %6d\n", room, all[room], never[room], rare[room] }
    ' "$folder/places.txt" | sort
    awk -v few=$few '{ never += $1 == 0; rare += $1 && $1 < few }
        END { printf "%-26s %6d %6d %6d\n", "all", NR, never, rare }' "$folder/places.txt"
} | tee "$folder/rooms.txt"
