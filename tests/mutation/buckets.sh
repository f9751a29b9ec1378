#!/usr/bin/env bash
# What signatures are worth: plants faults of faults/*.txt, one a program, runs a campaign of each over
# several seeds, and looks whether the findings of one fault have one key and those of two faults never do.
#
#     buckets.sh SOURCES BUILD WORK [records=FILE] [cases=300] [seconds=300] [seeds=3] [jobs=2] [every=3] [together=0] [FAULT...]
#
# BUILD is a build folder with simtfuzz in it; nothing in it is changed. Taken are faults that a campaign
# can see: every third of each class, or those named (or of the classes named); of FILE - records of an exam - any,
# whoever is to speak. A campaign ends after so many cases, or seconds of CPU time. What WORK has results of is not
# done again: a result is kept under the contents of the sources, of the fault, and the seed.
#
# WORK/examples.tsv then has a line for each example that a campaign stored (known findings left out):
#     fault class seed case raw_key signature cause
# and WORK/buckets.md the table that buckets.awk makes of them (docs/signatures.md has a copy). The databases of the
# campaigns are kept beside the results.
#
# together=N: N pairs of the faults that were found, drawn, each of two files, are planted in one program each, whose
# campaign has twice the seconds.
# WORK/together.md has a line for each: which causes of the one and of the other are shown, and what else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder}
shift 3
cases=300 seconds=300 seeds=3 jobs=2 every=3 together=0 wanted=() records=
for argument; do
    case $argument in
    records=* | cases=* | seconds=* | seeds=* | jobs=* | every=* | together=*) declare "$argument" ;;
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
    sqlite3 -separator $'\t' "$db" "SELECT '$planted', '$class', $1, o.case_number, o.raw_key, o.signature, o.cause
        FROM v_occurrences o JOIN v_findings f ON f.id = o.finding WHERE f.status <> 'known'
        ORDER BY o.case_number, o.raw_key" >"$result.part" && mv "$db" "$result.db" && mv "$result.part" "$result"
    echo "$planted	seed $1	status $status	$((SECONDS - start)) s	$(wc -l <"$result") examples"
}

declare -A file_of=() old_of=() new_of=() class_of=()

# Plants the faults, of different files, and runs the campaigns; the results are listed in "$1".
measure() { # list, fault...
    local list=$1 planted='' files='' contents='' name file old new class overlay program id seed todo=''
    shift
    local seconds=$((seconds * $#))
    for name; do
        planted=$planted${planted:+ + }$name class=${class_of[$name]}
        contents=$contents${file_of[$name]}${old_of[$name]}${new_of[$name]}
    done
    id=${planted// + /+}.$(cksum <<<"$contents$cases/$seconds" | cut -d ' ' -f 1) overlay=$work/planted/${planted// + /+}
    echo "$kept/$id" >>"$list"
    for seed in $(seq "$seeds"); do [ -e "$kept/$id.$seed" ] || todo=yes; done
    [ -n "$todo" ] || return
    rm -rf "$overlay"
    mkdir -p "$overlay"
    program=$overlay/simtfuzz
    for name; do
        file=${file_of[$name]} old=${old_of[$name]} new=${new_of[$name]} files=$files${files:+$'\n/'}$file
        [ "$(count_old)" -eq 1 ] && plant "$overlay" || { echo "$name	cannot be planted"; return; }
    done
    file=$files # several, for objects_of_file
    if { compile_planted "$overlay" && link_planted "$overlay" simtfuzz; } 2>"$overlay/build.log"; then
        for seed in $(seq "$seeds"); do campaign "$seed"; done
    else
        echo "$planted	does not build" "$(grep -m 1 error "$overlay/build.log")"
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

wait_for_a_job() { while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done; }

start() {
    selected || return
    file_of[$name]=$file old_of[$name]=$old new_of[$name]=$new class_of[$name]=$class
    wait_for_a_job
    measure "$work/results" "$name" </dev/null &
}

examples_of_results() { # list
    local result seed
    sort "$1" | while read -r result; do
        for seed in $(seq "$seeds"); do [ ! -e "$result.$seed" ] || cat "$result.$seed"; done
    done
}

# Pairs of the faults that were found, each of two files, by a fixed order that looks drawn.
draw_pairs() {
    local a b
    cut -f 1 "$work/examples.tsv" | sort -u >"$work/found"
    while read -r a; do
        while read -r b; do
            [[ $a < $b && ${file_of[$a]} != "${file_of[$b]}" ]] && echo "$(cksum <<<"$a $b") $a $b"
        done <"$work/found"
    done <"$work/found" | sort -n | awk -v most="$together" '!($3 in used) && !($4 in used) && n++ < most { used[$3]; used[$4]; print $3, $4 }'
}

mkdir -p "$work/planted"
work=$(cd "$work" && pwd)
kept=$work/kept.$(contents)
mkdir -p "$kept"
objects_list=$work/objects
list_objects >"$objects_list"
: >"$work/results"
each_fault start
wait
examples_of_results "$work/results" >"$work/examples.tsv"
awk -f "$here/buckets.awk" -v faults="$(wc -l <"$work/results")" "$work/examples.tsv" >"$work/buckets.md"
cat "$work/buckets.md"
[ "$together" -gt 0 ] || exit 0

: >"$work/results.together"
while read -r one other; do
    wait_for_a_job
    measure "$work/results.together" "$one" "$other" </dev/null &
done < <(draw_pairs)
wait
examples_of_results "$work/results.together" | awk -f "$here/together.awk" "$work/examples.tsv" - >"$work/together.md"
cat "$work/together.md"
