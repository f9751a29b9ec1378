#!/usr/bin/env bash
# What a fuzzing service does with .clusterfuzzlite/build.sh, in short: builds the targets with the
# compiler, flags and engine that it is given, and runs each with its seeds; then merge, minimisation of a
# crash, and fork on one of them.
#
#     service.sh [SECONDS] [SANITIZERS] [OUT]      2, address,undefined and a temporary folder by default
#
# SIMTFUZZ_BUILT names a build folder that has the targets already: .ci/run tests with what it built there.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
seconds=${1:-2} sanitizers=${2:-address,undefined}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${3:-$work/out}
mkdir -p "$out" "$work/work"

build() {
    local flags="-O1 -g1 -fno-omit-frame-pointer -fsanitize=$sanitizers,fuzzer-no-link -fno-sanitize-recover=all"
    env SIMTFUZZ_SOURCE="$source" SRC="$source/.." WORK="$work/work" OUT="$out" \
        CC="${CC:-clang-14}" CXX="${CXX:-clang++-14}" CFLAGS="${CFLAGS:-$flags}" CXXFLAGS="${CXXFLAGS:-$flags}" \
        LIB_FUZZING_ENGINE="${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}" \
        bash "$source/.clusterfuzzlite/build.sh" >"$work/log" 2>&1 || {
        tail -n 40 "$work/log"
        exit 1
    }
}
if [ -n "${SIMTFUZZ_BUILT:-}" ]; then
    find "$SIMTFUZZ_BUILT/fuzz" -maxdepth 1 -name 'fuzz-*' -type f ! -name fuzz-dict -exec cp -t "$out" {} +
else
    build
fi

targets=0
for target in "$out"/fuzz-*; do
    [ -x "$target" ] || continue
    name=$(basename "$target")
    [ -s "$target.options" ] || { echo "$name has no options"; exit 1; }
    [ -s "${target}_seed_corpus.zip" ] || { echo "$name has no seeds"; exit 1; }
    corpus=$work/corpus/$name
    mkdir -p "$corpus"
    (cd "$corpus" && cmake -E tar xf "${target}_seed_corpus.zip")
    # A few seeds: some of them take long under sanitizers.
    find "$corpus" -type f | LC_ALL=C sort | awk 'NR % 4 != 1' | xargs -r -d '\n' rm
    options=(-max_len=8192 -len_control=0 -artifact_prefix="$work/")
    [ ! -s "$target.dict" ] || options+=(-dict="$target.dict")
    "$target" "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 "$corpus" >"$work/log" 2>&1 || {
        tail -n 40 "$work/log"
        exit 1
    }
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log") inputs"
    targets=$((targets + 1))
done
[ "$targets" -eq 9 ] || { echo "$targets targets, not 9"; exit 1; }

# The commands that a service relies on; a wrong rule of the branch unit is the crash.
cd "$work"
mkdir merged
"$out/fuzz-options" -merge=1 merged "$work/corpus/fuzz-options" >log 2>&1 || { tail log; exit 1; }
[ -n "$(ls merged)" ] || { echo "-merge=1 keeps nothing"; exit 1; }
"$out/fuzz-options" -fork=2 -max_total_time=3 merged >log 2>&1 || { tail log; exit 1; }
export SIMTFUZZ_KNOWN=1 SIMTFUZZ_CHECK="subjects=crs,crs:target-next oracles=result"
crash=$source/tests/data/harness/target-next
if "$out/fuzz-crs" -artifact_prefix="$work/found-" "$crash" >log 2>&1; then
    echo "a wrong rule does not show"
    exit 1
fi
grep -q 'divergence; to see it: simtfuzz check' log || { tail log; exit 1; }
# Each smaller one crashes as well: nobody reads where. Of 30 runs from a drawn seed once none was smaller.
ASAN_OPTIONS=symbolize=0 "$out/fuzz-crs" -minimize_crash=1 -seed=1 -runs=100 -max_total_time=30 -exact_artifact_path="$work/small" "$crash" >log 2>&1 || true
[ -s "$work/small" ] || { tail log; exit 1; }
[ "$(stat -c %s "$work/small")" -lt "$(stat -c %s "$crash")" ] || { echo "-minimize_crash=1 has not made it smaller"; exit 1; }
echo "merge, fork, minimize_crash: $(stat -c %s "$crash") bytes became $(stat -c %s "$work/small")"
