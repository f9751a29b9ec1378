#!/usr/bin/env bash
# What signatures are worth: plants faults of faults/*.txt, one a program, runs a campaign of each over
# several seeds, and looks whether the findings of one fault have one key and those of two faults never do.
#
#     buckets.sh SOURCES BUILD WORK [records=FILE] [cases=300] [seconds=300] [seeds=3] [jobs=2] [every=3] [FAULT...]
#
# BUILD is a build folder with simtfuzz in it; nothing in it is changed. Taken are faults that a campaign
# can see: every third of each class, or those named (or of the classes named); of FILE - records of an exam - any,
# whoever is to speak. A campaign ends after so many cases, or seconds of CPU time. What WORK has results of is not
# done again: a result is kept under the contents of the sources, of the fault, and the seed.
#
# WORK/examples.tsv then has a line for each example that a campaign stored (known findings left out):
#     fault class seed case raw_key signature cause
# and WORK/buckets.md the table that buckets.awk makes of them (docs/signatures.md has a copy).
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder}
shift 3
cases=300 seconds=300 seeds=3 jobs=2 every=3 wanted=() records=
for argument; do
    case $argument in
    records=* | cases=* | seconds=* | seeds=* | jobs=* | every=*) declare "$argument" ;;
    *) wanted+=("$argument") ;;
    esac
done
# shellcheck source=planting.sh
. "$here/planting.sh"

contents() { (cd "$sources" && find engine oracle db fuzz -type f | sort | xargs sha1sum | sha1sum | cut -c 1-12); }

campaign() { # seed
    local db=$overlay/run.db result=$kept/$id.$1 status start=$SECONDS
    [ -e "$result" ] && return
    rm -f "$db"*
    (ulimit -t "$seconds" -c 0
        exec "$program" run --no-supervisor --cases "$cases" --seed "$1" --jobs 1 --json --db "$db") >"$overlay/run.json" 2>"$overlay/run.log"
    status=$?
    sqlite3 -separator $'\t' "$db" "SELECT '$name', '$class', $1, o.case_number, o.raw_key, o.signature, o.cause
        FROM v_occurrences o JOIN v_findings f ON f.id = o.finding WHERE f.status <> 'known'
        ORDER BY o.case_number, o.raw_key" >"$result.part" && mv "$result.part" "$result"
    echo "$name	seed $1	status $status	$((SECONDS - start)) s	$(wc -l <"$result") examples"
}

measure_fault() {
    local overlay=$work/planted/$name program id seed todo=''
    id=$name.$(cksum <<<"$file$old$new$cases/$seconds" | cut -d ' ' -f 1)
    echo "$kept/$id" >>"$work/results"
    for seed in $(seq "$seeds"); do [ -e "$kept/$id.$seed" ] || todo=yes; done
    [ -n "$todo" ] || return
    rm -rf "$overlay"
    mkdir -p "$overlay"
    program=$overlay/simtfuzz
    if [ "$(count_old)" -eq 1 ] && { plant "$overlay" && compile_planted "$overlay" && link_planted "$overlay" simtfuzz; } 2>"$overlay/build.log"; then
        for seed in $(seq "$seeds"); do campaign "$seed"; done
    else
        echo "$name	does not build"
    fi
    rm -rf "$overlay"
}

declare -A seen=()
selected() {
    [ -n "$records" ] || case $oracle in none | test\ *) return 1 ;; esac
    [ "${#wanted[@]}" -eq 0 ] || { named; return; }
    seen[$class]=$((${seen[$class]:--1} + 1))
    [ $((seen[$class] % every)) -eq 0 ]
}

start() {
    selected || return
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    measure_fault </dev/null &
}

mkdir -p "$work/planted"
kept=$work/kept.$(contents)
mkdir -p "$kept"
objects_list=$work/objects
list_objects >"$objects_list"
: >"$work/results"
each_fault start
wait
sort "$work/results" | while read -r result; do
    for seed in $(seq "$seeds"); do [ ! -e "$result.$seed" ] || cat "$result.$seed"; done
done >"$work/examples.tsv"
awk -f "$here/buckets.awk" -v faults="$(wc -l <"$work/results")" "$work/examples.tsv" >"$work/buckets.md"
cat "$work/buckets.md"
