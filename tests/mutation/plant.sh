#!/usr/bin/env bash
# Plants each fault of faults.txt in a copy of the sources, builds it, and hunts: the campaign must end
# with status 1 and a finding of the named oracle, minimised to the given size, which replays. A fault
# in what all semantics share must make an expectation of the corpus fail. The control must find
# nothing.
#
#     plant.sh SOURCES WORK-FOLDER CASES [NAME...]
set -u
sources=${1:?sources} work=${2:?work folder} cases=${3:?cases}
shift 3
wanted=("$@")
tree=$work/tree build=$work/build
failures=0 planted=0

complain() {
    echo "FAILED $name: $*"
    failures=$((failures + 1))
}

# Replaces $old, which must stand in the file exactly once, by $new. Keeps the original beside it.
plant() {
    local text rest
    text=$(cat "$tree/$file" && echo .) # the dot keeps final line breaks
    text=${text%.}
    rest=${text#*"$old"}
    if [ "$rest" = "$text" ]; then
        complain "the text to replace does not stand in $file"
        return 1
    fi
    if [ "${rest#*"$old"}" != "$rest" ]; then
        complain "the text to replace stands in $file more than once"
        return 1
    fi
    printf '%s' "${text%"$old$rest"}$new$rest" >"$tree/$file"
}

# "oracle id statements" of each open finding.
findings() {
    "$build/simtfuzz" triage list open --json --db "$db" |
        sed -n 's/.*"id": *\([0-9]*\).*"oracle": *"\([^"]*\)".*"minimised_statements": *\([0-9]*\).*/\2 \1 \3/p'
}

judge_control() {
    if [ "$1" -eq 0 ]; then
        echo "ok $name: silence"
    else
        complain "a harmless change alarmed (status $1): $(findings | head -n 3)"
    fi
}

judge_fault() {
    local spoken id size best
    [ "$1" -eq 1 ] || { complain "status $1, expected 1"; tail -n 5 "$log"; return; }
    spoken=$(findings | grep "^$oracle " | sort -k3n | head -n 1)
    [ -n "$spoken" ] || { complain "no finding of oracle $oracle: $(findings | head -n 3)"; return; }
    read -r _ id best <<<"$spoken"
    if [ "$best" -eq 0 ] || [ "$best" -gt "$size_limit" ]; then
        complain "smallest kernel of $oracle has $best statements, expected 1 to $size_limit"
    fi
    "$build/simtfuzz" replay "$id" --db "$db" >"$work/$name.replay" 2>&1
    local status=$?
    [ "$status" -eq 0 ] || { complain "replay $id: status $status, expected 0 (the same)"; cat "$work/$name.replay"; }
    echo "ok $name: $oracle, $best statements"
}

hunt() {
    "$build/simtfuzz" run --cases "$cases" --seed "$seed" --jobs 2 --db "$db" >>"$log" 2>&1
}

# What all semantics share is out of the oracles' sight: the corpus knows what must come out.
judge_corpus() {
    "$build/simtfuzz" check "$sources/corpus" >>"$log" 2>&1
    local status=$?
    [ "$status" -eq 1 ] || { complain "check corpus: status $status, expected 1"; return; }
    echo "ok $name: $(tail -n 1 "$log")"
}

run_fault() {
    planted=$((planted + 1))
    cp "$tree/$file" "$work/original"
    if plant; then
        db=$work/$name.db log=$work/$name.log
        rm -f "$db" "$db-wal" "$db-shm"
        if cmake --build "$build" --target simtfuzz -j2 >"$log" 2>&1; then
            case $oracle in
            none) hunt; judge_control $? ;;
            expectations) judge_corpus ;;
            *) hunt; judge_fault $? ;;
            esac
        else
            complain "does not build: $(grep -m 3 error "$log")"
        fi
    fi
    cp "$work/original" "$tree/$file"
}

selected() {
    [ "${#wanted[@]}" -eq 0 ] && return 0
    local w
    for w in "${wanted[@]}"; do [ "$w" = "$name" ] && return 0; done
    return 1
}

mkdir -p "$tree"
for part in engine oracle db fuzz CMakeLists.txt; do
    rm -rf "${tree:?}/$part"
    cp -r "$sources/$part" "$tree/$part"
done
cmake -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 >/dev/null || exit 1

name='' file='' old='' new='' oracle='' size_limit=0 seed=0
while IFS= read -r line || [ -n "$line" ]; do
    value=${line#*: }
    case $line in
    'name: '*) name=$value ;;
    'file: '*) file=$value ;;
    'old: '*) old=${value//'\n'/$'\n'} ;;
    'new: '*) new=${value//'\n'/$'\n'} ;;
    'oracle: '*) oracle=$value ;;
    'size: '*) size_limit=$value ;;
    'seed: '*) seed=$value ;;
    'why: '*) if selected; then run_fault; fi ;; # the last line of a record
    esac
done <"$(dirname "$0")/faults.txt"

echo "$planted planted, $failures failed"
[ "$planted" -gt 0 ] && [ "$failures" -eq 0 ]
