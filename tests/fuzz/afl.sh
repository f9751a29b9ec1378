#!/usr/bin/env bash
# The harnesses under AFL++ (preset afl): a few seconds each of a parser, a form and the database.
#
#     afl.sh [SECONDS]      5 by default
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-5}
command -v afl-fuzz >/dev/null || { echo "afl-fuzz is not installed (Debian: afl++)"; exit 2; }
export AFL_DONT_OPTIMIZE=1 # as the preset says: -O2 and not -O3 with unrolled loops, which takes minutes
targets=(parser structured db)
cmake --preset afl >/dev/null
cmake --build --preset afl -j "$(nproc)" --target "${targets[@]/#/fuzz-}" >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/parser" "$work/structured"
cp corpus/papers/p2-n2.simt corpus/papers/incr-n2.simt "$work/parser"
cp corpus/papers/p2-n2.simt corpus/papers/incr-n2.simt "$work/structured"
cp -r tests/data/harness/db "$work/db"
export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1
for target in "${targets[@]}"; do
    afl-fuzz -V "$seconds" -t 5000+ -i "$work/$target" -o "$work/out-$target" \
        "build-afl/fuzz/fuzz-$target" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
    stats=$work/out-$target/default/fuzzer_stats
    [ "$(sed -n 's/^execs_done *: //p' "$stats")" -gt 0 ] || { echo "fuzz-$target has run nothing"; exit 1; }
    [ "$(sed -n 's/^saved_crashes *: //p' "$stats")" -eq 0 ] || { echo "fuzz-$target has crashed"; exit 1; }
    echo "fuzz-$target: $(sed -n 's/^execs_done *: //p' "$stats") inputs, $(sed -n 's/^execs_per_sec *: //p' "$stats")/s"
done
