#!/usr/bin/env bash
# An exam of the hunt: plants faults that it has not been tuned to, and asks each of those who look for them by
# itself, within a budget of processor time.
#
#     exam.sh SOURCES BUILD WORK ask=        only whether the texts of the records stand once in the sources
#     exam.sh SOURCES BUILD WORK [records=FILE] [seconds=60] [seed=1] [jobs=2] [ask="campaign corpus"] [FAULT...]
#
# FILE has records as those of faults/*.txt, by default exam/*.txt: written before anybody looked who finds them.
# BUILD is a build folder with simtfuzz in it (and, where units are asked, with the unit tests). Asked are
#     campaign   the ordinary campaign, one worker, until its first finding that is not known, or so many seconds
#     corpus     check of all of corpus/
#     golden     what commands say (tests/golden/said.sh), and the unit tests that compare with tests/golden
#     units      all other unit tests, and the cases (tests/cases)
#
# WORK/exam.tsv has a line a fault and asker: fault file asker found|missed|unbuilt CPU-seconds cases who. What is
# there is not done again, so an interrupted exam goes on. Printed is exam.awk's table, for docs/grade.md.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2034 # variables of planting.sh, which is sourced
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder}
shift 3
seconds=60 seed_of_exam=1 jobs=2 ask="campaign corpus" wanted=() records=
for argument; do
    case $argument in
    seed=*) seed_of_exam=${argument#*=} ;;
    records=* | seconds=* | jobs=* | ask=*) declare "$argument" ;;
    *) wanted+=("$argument") ;;
    esac
done
: "${records:=$here/exam/*.txt}"
# shellcheck source=planting.sh
. "$here/planting.sh"
mkdir -p "$work/planted"
work=$(cd "$work" && pwd)
results=$work/exam.tsv objects_list=$work/objects
touch "$results"
list_objects >"$objects_list"

put() { # asker, state, CPU seconds, cases, who
    local IFS=$'\t'
    # shellcheck disable=SC2154 # of the record
    echo "$name	$file	$*" >>"$results"
}

# Runs "$@" with a limit of $limit CPU seconds; its status in $status, the CPU time in $cpu, the other time in $wall.
timed() {
    local took
    took=$(TIMEFORMAT='%U %S %R'; { time (ulimit -t "$limit" -c 0; "$@" >"$overlay/out" 2>"$overlay/err"; exit $?); } 2>&1; echo $?)
    status=${took##*$'\n'}
    read -r cpu wall < <(awk '/^[0-9.]+ [0-9.]+ [0-9.]+$/ { printf "%.2f %d\n", $1 + $2, $3 }' <<<"$took")
}

# Who speaks, and in which case.
campaign_says() {
    sqlite3 -separator $'\t' "$overlay/run.db" "SELECT MIN(o.case_number), GROUP_CONCAT(DISTINCT f.oracle)
        FROM v_occurrences o JOIN v_findings f ON f.id = o.finding WHERE f.status <> 'known'" 2>/dev/null
}

ask_campaign() {
    local limit=$seconds status cpu wall
    rm -f "$overlay"/run.db*
    timed "$overlay/simtfuzz" run --no-supervisor --seed "$seed_of_exam" --jobs 1 --cases 10000000 --no-minimise \
        --stop-on-finding --case-timeout 30s --db "$overlay/run.db"
    case $status in
    1) put campaign found "$cpu" "$(campaign_says)" ;;
    3 | 134 | 139) put campaign found "$cpu" - crash ;;
    *) # With a supervisor a case that hangs is a finding; here it is named. On a busy machine others take as long.
        if grep -q 'has been at case' "$overlay/err" && [ "$wall" -lt $((2 * limit)) ]; then
            put campaign found "$cpu" - hang
        else
            put campaign missed "$seconds" - "status $status"
        fi ;;
    esac
}

ask_corpus() {
    local limit=240 status cpu wall
    timed "$overlay/simtfuzz" check "$sources/corpus"
    if [ "$status" -eq 0 ]; then put corpus missed "$cpu" - -; else put corpus found "$cpu" - "status $status"; fi
}

# The unit tests of the build folder, and the cases; golden ones are those that name tests/golden.
ask_tests() { # asker, yes|no: golden ones
    local limit=240 status cpu all=0 test source files
    if [ "$2" = yes ]; then
        timed "$sources/tests/golden/said.sh" "$overlay/simtfuzz"
        all=$cpu
        if [ "$status" -ne 0 ]; then put "$1" found "$all" - said; return; fi
    fi
    for source in $(find "$sources/tests/unit" -name 'test_*.c' | sort) "$sources/tests/cases/run_cases.c"; do
        test=$(basename "$source" .c)
        [ -x "$build/tests/$test" ] || [ -x "$build/tests/cases/$test" ] || continue
        if grep -qs 'tests/golden' "$source"; then [ "$2" = yes ] || continue; else [ "$2" = no ] || continue; fi
        link_planted "$overlay" "$test" 2>/dev/null || continue
        files=()
        [ "$test" != run_cases ] || mapfile -t files < <(find "$sources/tests/cases" -name '*.case' | sort)
        (cd "$overlay" && timed "$overlay/$test" "${files[@]}"; echo "$status $cpu" >"$overlay/said")
        read -r status cpu <"$overlay/said"
        rm -f "${overlay:?}/$test"
        all=$(awk -v a="$all" -v b="$cpu" 'BEGIN { print a + b }')
        if [ "$status" -ne 0 ]; then put "$1" found "$all" - "$test"; return; fi
    done
    put "$1" missed "$all" - -
}

examine() {
    local overlay=$work/planted/$name asker todo=''
    for asker in $ask; do grep -q "^$name	.*	$asker	" "$results" || todo="$todo $asker"; done
    if [ -z "$ask" ] && [ "$(count_old)" -ne 1 ]; then
        echo "$name: the text to replace stands in $file $(count_old) times"
        echo "$name" >>"$work/unplanted"
    fi
    [ -n "$todo" ] || return
    rm -rf "$overlay"
    mkdir -p "$overlay"
    if [ "$(count_old)" -ne 1 ] ||
        ! { plant "$overlay" && compile_planted "$overlay" && link_planted "$overlay" simtfuzz; } 2>"$overlay/build.log"; then
        put build unbuilt - - "$(grep -m 1 error "$overlay/build.log")"
        return
    fi
    for asker in $todo; do
        case $asker in
        campaign) ask_campaign ;;
        corpus) ask_corpus ;;
        golden) ask_tests golden yes ;;
        units) ask_tests units no ;;
        esac
    done
    grep "^$name	" "$results"
    rm -rf "$overlay"
}

start() {
    [ "${#wanted[@]}" -eq 0 ] || named || return
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    examine </dev/null &
}

rm -f "$work/unplanted"
each_fault start
wait
[ -n "$ask" ] || { [ ! -e "$work/unplanted" ]; exit; }
awk -f "$here/exam.awk" "$results"
