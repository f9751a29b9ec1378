#!/usr/bin/env bash
# One night of simtfuzz, by steps: bash packaging/nightly.sh build check hunt report summary verdict
#
# .github/workflows/nightly.yml runs these steps one by one, .ci/run and tests/night/workflow.sh all of them on a short
# configuration. Everything is kept in the folder NIGHT: the database, and what the report's step makes of it.
#
# In compilers and drivers that are not ours (docs/outside.md), with a database of their own:
#     CONFIG=outside NIGHT=outside bash packaging/nightly.sh \
#         packages implementations build check again hunt report summary verdict
#
# Settings, from the environment:
#     SIMTFUZZ  the program; by default that of the step `build`
#     NIGHT     the folder; by default night
#     CONFIG    what to run: a preset or a file; by default nightly
#     SEED      by default the date on which the night began
#     TIME      for how long; by default as the configuration has it
#     TRIAGE    what somebody says of an earlier finding, as arguments of simtfuzz triage: status 12 known A-4
set -euo pipefail
source=$(realpath "$(dirname "$0")/..")
simtfuzz=${SIMTFUZZ:-$source/build-release/simtfuzz}
[ -x "$simtfuzz" ] || [ -e "$source/CMakeLists.txt" ] || simtfuzz=simtfuzz # installed
night=${NIGHT:-night}
db=$night/night.db

# Debian or Ubuntu, as root or by sudo.
step_packages() {
    local sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq build-essential cmake libsqlite3-dev sqlite3 >/dev/null
}

# The compilers and drivers that this release of Debian or Ubuntu has; nvcc, which is not free, whoever wants it installs.
step_implementations() {
    local sudo= there=() name
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    for name in clang-{13..22} llvm-{13..22} ocl-icd-libopencl1 pocl-opencl-icd oclgrind mesa-opencl-icd libvulkan1 \
        mesa-vulkan-drivers glslang-tools spirv-tools chromium; do
        ! apt-cache show "$name" >/dev/null 2>&1 || there+=("$name")
    done
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${there[@]}" >/dev/null
    dpkg-query -W -f '${Package} ${Version}\n' "${there[@]}"
}

step_build() {
    cmake -S "$source" --preset release -DSIMTFUZZ_TESTS=OFF >/dev/null
    cmake --build "$source/build-release" -j "$(nproc)" --target simtfuzz
}

# The database of the nights before: a damaged one is kept aside, and the night begins with none.
step_check() {
    mkdir -p "$night"
    if [ ! -e "$db" ]; then
        echo "there is no database of earlier nights: this is the first"
    elif ! "$simtfuzz" status --db "$db"; then
        local moved
        moved=$db.damaged-$(date +%s)
        for part in "" -wal -shm; do
            [ ! -e "$db$part" ] || mv "$db$part" "$moved$part"
        done
        echo "::error::the database of earlier nights is damaged; it is kept as ${moved##*/}"
    elif [ -n "${TRIAGE:-}" ]; then
        xargs "$simtfuzz" triage --db "$db" <<<"$TRIAGE"
    fi
}

# What earlier nights found, on what is installed tonight: what is right now is marked as fixed. New versions come by packages.
step_again() {
    [ ! -e "$db" ] || "$simtfuzz" regress --db "$db" --update || [ $? -eq 1 ]
}

# Goes on with what an earlier attempt of this night began. What it finds is no failure of this step, but of `verdict`.
step_hunt() {
    local status=0
    rm -f "$night/status"
    "$simtfuzz" run --config "${CONFIG:-nightly}" --seed "${SEED:-0x$(date -d '12 hours ago' +%Y%m%d)}" --resume \
        ${TIME:+--time "$TIME"} --db "$db" || status=$?
    echo "$status" >"$night/status"
    [ "$status" -le 1 ] || return "$status"
}

step_report() {
    "$simtfuzz" report --db "$db" --html "$night/report.html" --junit "$night/report.xml" --sarif "$night/report.sarif" \
        --markdown "$night/summary.md"
}

# Where GitHub shows it; elsewhere on standard output.
step_summary() {
    cat "$night/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
}

# That of the hunt. The preset nightly fails on what was not there before, and on what was said to be fixed.
step_verdict() {
    local status
    status=$(cat "$night/status")
    [ "$status" -ne 0 ] || return 0
    sqlite3 -readonly "$db" "WITH night AS (SELECT max(id) AS id FROM v_campaigns)
        SELECT '::error::finding ' || f.id || ', ' || status || ': ' || signature FROM v_findings AS f, night
        WHERE NOT suppressed AND (status = 'open' AND first_campaign = night.id OR
                                  status = 'fixed' AND last_campaign = night.id)"
    return "$status"
}

for step in "${@:?a step: packages implementations build check again hunt report summary verdict}"; do
    case $step in
    packages | implementations | build | check | again | hunt | report | summary | verdict) ;;
    *)
        echo "there is no step '$step'"
        exit 2
        ;;
    esac
    echo "==== $step"
    "step_$step"
done
