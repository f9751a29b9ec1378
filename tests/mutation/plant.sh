#!/usr/bin/env bash
# Plants faults of faults/*.txt and hunts each with the oracle that it names: the campaign must end with
# status 1 and a finding, minimised to the given size, which replays. A fault in what all semantics share
# must make an expectation of the corpus fail, or crash, one that no campaign can see the named test. A control, and what
# survivors.txt calls equivalent, must find nothing, with all oracles, or with the test that it names.
#
#     plant.sh SOURCES BUILD WORK CASES            the faults that say `sample: yes`: CTest's test
#     plant.sh SOURCES BUILD WORK CASES all        every fault
#     plant.sh SOURCES BUILD WORK CASES NAME...    these, or those of these classes
#     plant.sh SOURCES BUILD WORK 0 all            plants nothing: only whether the texts to replace are there
#
# BUILD is a build folder with simtfuzz in it. A hunt looks at few cases first, and at all CASES when these
# do not suffice: both depend on the seed alone.
set -u
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder} cases=${4:?cases}
shift 4
wanted=("$@")
failed=$work/failed jobs=$(nproc)
# shellcheck source=planting.sh
. "$(dirname "$0")/planting.sh"

complain() {
    echo "FAILED $name: $*"
    echo "$name" >>"$failed"
}

stands_once() {
    local n
    n=$(count_old)
    [ "$n" -eq 1 ] || { complain "the text to replace stands in $file $n times"; return 1; }
}

# "oracle id" of each open finding.
findings() {
    "$simtfuzz" triage list open --json --db "$db" | sed -n 's/.*"id": *\([0-9]*\).*"oracle": *"\([^"]*\)".*/\2 \1/p'
}

# "id statements" of the first of the oracle's findings whose minimised kernel is small enough, or of the
# smallest of four.
smallest() {
    local id statements best=''
    while read -r id; do
        statements=$("$simtfuzz" reduce "$id" --db "$db" --json 2>>"$log" | sed -n 's/.*"statements": *\([0-9]*\).*/\1/p')
        [ -n "$statements" ] || continue
        [ -n "$best" ] && [ "${best#* }" -le "$statements" ] || best="$id $statements"
        [ "$statements" -gt "$size" ] || break
    done < <(findings | sort -k2n | sed -n "s/^$oracle //p" | head -n 4)
    echo "$best"
}

# A campaign of so many cases, with these options more; its status.
hunt() {
    rm -f "$db" "$db-wal" "$db-shm"
    "$simtfuzz" run --no-supervisor --cases "$1" --seed "$seed" --jobs 1 --db "$db" "${@:2}" >>"$log" 2>&1
}

judge_control() {
    hunt "$cases"
    local status=$?
    if [ "$status" -eq 0 ]; then
        echo "ok $name: silence"
    else
        complain "a harmless change alarmed (status $status): $(findings | head -n 3)"
    fi
}

judge_fault() {
    local number id='' statements status
    for number in $((cases / 40)) $((cases / 5)) "$cases"; do
        hunt "$number" --subjects "$subjects" --oracles "$oracle" --no-minimise --stop-on-finding
        status=$?
        [ "$status" -eq 0 ] || break
    done
    [ "$status" -eq 1 ] || { complain "status $status, expected 1"; tail -n 5 "$log"; return; }
    read -r id statements <<<"$(smallest)"
    [ -n "$id" ] || { complain "no minimised finding of oracle $oracle: $(findings | head -n 3)"; return; }
    [ "$statements" -le "$size" ] || complain "the smallest kernel has $statements statements, expected $size at most"
    "$simtfuzz" replay "$id" --db "$db" >"$folder/replay" 2>&1
    status=$?
    [ "$status" -eq 0 ] || { complain "replay $id: status $status, expected 0 (the same)"; cat "$folder/replay"; }
    echo "ok $name: $oracle, $statements statements, within $number cases"
}

# What all semantics share is out of the oracles' sight: the corpus knows what must come out.
judge_corpus() {
    "$simtfuzz" check "$sources/corpus" >>"$log" 2>&1
    local status=$?
    case $status in
    1) echo "ok $name: $(tail -n 1 "$log")" ;;
    139 | 134) echo "ok $name: check corpus crashes" ;;
    *) complain "check corpus: status $status, expected 1" ;;
    esac
}

judge_test() {
    if test_speaks "$folder"; then
        echo "ok $name: $oracle"
    else
        complain "$oracle is silent"
        tail -n 3 "$folder/test.log"
    fi
}

# A fault that is equivalent, and that no campaign would see: the test that would see it finds nothing.
judge_silence() {
    if test_speaks "$folder"; then
        complain "$oracle speaks, although this is equivalent"
        tail -n 3 "$folder/test.log"
    else
        echo "ok $name: silence"
    fi
}

judge() {
    if grep -q "^$name equivalent:" "$sources/tests/mutation/survivors.txt"; then
        case $oracle in test\ *) judge_silence; return ;; *) oracle=none ;; esac
    fi
    case $oracle in
    none) judge_control ;;
    expectations) judge_corpus ;;
    test\ *) judge_test ;;
    *) judge_fault ;;
    esac
}

run_fault() {
    local folder=$work/$name db=$work/$name/db log=$work/$name/log simtfuzz=$work/$name/simtfuzz
    rm -rf "$folder"
    mkdir -p "$folder"
    stands_once || return
    if plant "$folder" && compile_planted "$folder" 2>"$folder/build.log" &&
        link_planted "$folder" simtfuzz 2>>"$folder/build.log"; then
        judge
    else
        complain "does not build: $(grep -m 3 error "$folder/build.log")"
    fi
    rm -f "$simtfuzz"
}

selected() {
    if [ "${#wanted[@]}" -eq 0 ]; then [ "$sample" = yes ]; else named; fi
}

start() {
    selected || return
    echo "$name" >>"$work/planted"
    [ "$cases" -gt 0 ] || { stands_once; return; }
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    run_fault </dev/null &
}

mkdir -p "$work"
: >"$failed"
: >"$work/planted"
objects_list=$work/objects
list_objects >"$objects_list"
each_fault start
wait
planted=$(wc -l <"$work/planted") failures=$(sort -u "$failed" | wc -l)
echo "$planted planted, $failures failed"
[ "$planted" -gt 0 ] && [ "$failures" -eq 0 ]
