#!/usr/bin/env bash
# The grade of the hunt: plants each fault of faults/*.txt and hunts it by the ordinary campaign - all
# oracles, default features - until its first finding that is not known.
#
#     grade.sh SOURCES BUILD WORK [cases=1000] [seeds=3] [jobs=N] [FAULT...]
#
# BUILD is a build folder with simtfuzz and the unit tests in it; nothing in it is changed. What WORK
# has results of is not done again: a result is kept under the sources' contents, the fault's and the
# seed. So an interrupted grade goes on.
#
# WORK/named.tsv then has a line a fault and seed:
#     family class name file place reached triggered detected oracle cases steps seed status note
#   reached     yes: a changed line is executed in these cases (gcov of the original); ?: it has no code
#   triggered   the first case that shows something else than it does in the original (simtfuzz digest)
#   detected    the first case with a finding
#   oracle      who speaks in that case; crash, flaky; corpus: no campaign, but an expectation of a kernel
#               in corpus/; test NAME: the test that the record names, no campaign can see the fault
#   cases,steps until the first finding, or looked through in vain
#   status      detected survived crashed timeout control-silent control-alarmed unbuilt
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder}
shift 3
cases=1000 seeds=3 jobs=$(nproc) wanted=()
for argument; do
    case $argument in
    cases=* | seeds=* | jobs=*) declare "$argument" ;;
    *) wanted+=("$argument") ;;
    esac
done
# shellcheck source=planting.sh
. "$here/planting.sh"
seconds_limit=240 # of CPU time, for one hunt: a case without end

contents() { (cd "$sources" && find engine oracle db fuzz corpus -type f | sort | xargs sha1sum | sha1sum | cut -c 1-12); }

# ---- what the original does

# "case digest steps oracles" of each case, as it is done: oracles that diverge, or "-".
digests() {
    (ulimit -t "$seconds_limit" -c 0; exec "$1" digest --json --seed "$2" --cases "$3" 2>/dev/null) |
        awk -F'"case": |, "digest": |, "steps": |, "diverge": ' \
            '{ gsub(/[]" }[]/, "", $5); print $2, $3, $4, $5 == "" ? "-" : $5; fflush() }'
}

original_digests() {
    [ -s "$kept/digest.$1.$2" ] || {
        digests "$build/simtfuzz" "$1" "$2" >"$kept/digest.$1.$2.part"
        mv "$kept/digest.$1.$2.part" "$kept/digest.$1.$2"
    }
}

# ---- one hunt

put() { # reached triggered detected oracle cases steps seed status note
    local IFS=$'\t'
    echo "named	$class	$name	$file	$place	$*"
}

# "triggered detected oracles cases steps": what the cases below $2 show, up to the first divergence.
look_through() {
    original_digests "$1" "$2"
    digests "$program" "$1" "$2" | awk -v original="$kept/digest.$1.$2" '
        BEGIN { triggered = detected = oracles = "-" }
        { getline line <original; split(line, expected); n++; steps += $3 }
        triggered == "-" && $2 != expected[2] { triggered = $1 }
        $4 != "-" { detected = $1; oracles = $4; exit }
        END { print triggered, detected, oracles, n + 0, steps + 0 }'
}

# The campaign through $2 cases, which must say what was seen in them. Sets status, and oracles when it
# says something else.
campaign() {
    local ended
    rm -f "$overlay"/run.db*
    (ulimit -t "$seconds_limit" -c 0
        exec "$program" run --no-supervisor --cases "$2" --seed "$1" --jobs 1 --no-minimise --json --db "$overlay/run.db") \
        >"$overlay/run.json" 2>"$overlay/run.log"
    ended=$?
    case $ended in
    0) status=survived ;;
    1) status=detected ;;
    3) status=crashed oracles=crash && grep -q '"flaky": [1-9]' "$overlay/run.json" && status=detected oracles=flaky ;;
    *) status=timeout oracles=hang ;;
    esac
}

hunt() {
    local seed=$1 triggered detected oracles n steps status=survived
    read -r triggered detected oracles n steps < <(look_through "$seed" "$cases_now")
    # The look ended at a divergence, or before its end: with a crash or a case without end.
    if [ "$detected" != - ]; then
        campaign "$seed" "$n"
    elif [ "$n" -lt "$cases_now" ]; then
        detected=$n n=$((n + 1))
        [ "$triggered" != - ] || triggered=$detected
        campaign "$seed" "$n"
    fi
    # Who is not triggered may still be reached: see fill_in_reached.
    put "$([ "$triggered" = - ] && echo later || echo yes)" "$triggered" "$detected" "$oracles" "$n" "$steps" "$seed" "$status" -
}

# What no campaign shows may be against what a kernel of the corpus expects.
corpus_speaks() {
    (ulimit -t "$seconds_limit" -c 0; exec "$program" check "$sources/corpus") >"$overlay/check.log" 2>&1
    [ $? -ne 0 ]
}

# ---- one fault

grade_by_test() {
    if test_speaks "$overlay"; then
        put - - - "$oracle" - - - detected -
    else
        put - - - - - - - survived "$oracle is silent"
    fi >"$result"
}

grade_control() {
    sed -i 's/survived\t-$/control-silent\t-/; /control-silent/!s/\t[a-z]*\t-$/\tcontrol-alarmed\t-/' "$result"
    corpus_speaks && sed -i 's/control-silent\t-/control-alarmed\tcorpus/' "$result"
}

# Every seed; then, if all are in vain, a longer hunt and the corpus.
grade_by_campaign() {
    local seed
    cases_now=$cases
    for seed in $(seq "$seeds"); do hunt "$seed"; done >"$result.part"
    if [ "$oracle" != none ] && [ "$(grep -c 'survived' "$result.part")" -eq "$seeds" ]; then
        corpus_speaks && sed -i 's/-\t-\t\([0-9]*\t[0-9]*\t[0-9]*\)\tsurvived\t-$/-\tcorpus\t\1\tdetected\t-/' "$result.part"
    fi
    mv "$result.part" "$result"
    if [ "$oracle" = none ]; then grade_control; fi
}

result_of() { echo "$kept/$name.$(cksum <<<"$file$old$new$oracle$cases$seeds" | cut -d ' ' -f 1)"; }

grade_fault() {
    local overlay=$work/planted/$name program result
    result=$(result_of)
    program=$overlay/simtfuzz
    echo "$result" >>"$work/results"
    [ -s "$result" ] && return
    rm -rf "$overlay"
    mkdir -p "$overlay"
    if [ "$(count_old)" -ne 1 ]; then
        put - - - - - - - unbuilt "the text to replace does not stand once in the file" >"$result"
    elif ! { plant "$overlay" && compile_planted "$overlay" && link_planted "$overlay" simtfuzz; } 2>"$overlay/build.log"; then
        put - - - - - - - unbuilt "does not compile: $(grep -m 1 error "$overlay/build.log")" >"$result"
    else
        case $oracle in
        test\ *) grade_by_test ;;
        *) grade_by_campaign ;;
        esac
    fi
    cut -f 3,8- "$result"
    rm -rf "$overlay"
}

# ---- what the original executes

# "file line count" of the original's lines over all seeds.
lines_executed() {
    [ -s "$kept/lines.tsv" ] && return
    cmake -S "$sources" -B "$work/gcov" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="--coverage -DSIMTFUZZ_SANITIZED" >/dev/null
    find "$work/gcov" -name '*.gcda' -delete
    cmake --build "$work/gcov" --target simtfuzz -j "$jobs" >/dev/null 2>&1
    for seed in $(seq "$seeds"); do
        "$work/gcov/simtfuzz" digest --seed "$seed" --cases "$cases" >/dev/null
    done
    (cd "$work/gcov" && find engine oracle db fuzz -name '*.gcda' -exec gcov -t {} + 2>/dev/null) |
        awk -F: -v root="$sources/" '$3 == "Source" { file = $4; sub("^.*" root, "", file); next }
            $1 ~ /[0-9]|#/ && $2 + 0 { count[file "\t" $2 + 0] += $1 + 0 }
            END { for (line in count) print line "\t" count[line] }' >"$kept/lines.part"
    mv "$kept/lines.part" "$kept/lines.tsv"
}

# Whether a changed line is executed: yes, no, or ? where none of them has code.
reached() {
    local first last
    read -r first last < <(lines_of_old)
    awk -F'\t' -v file="$file" -v first="$first" -v last="$last" '
        $1 == file && $2 >= first && $2 <= last { code = 1; if ($3 > 0) yes = 1 }
        END { print yes ? "yes" : code ? "no" : "?" }' "$kept/lines.tsv"
}

fill_in_reached() {
    local result
    result=$(result_of)
    [ -s "$result" ] && grep -q "$(printf '\tlater\t')" "$result" && sed -i "s/\tlater\t/\t$(reached)\t/" "$result"
}

start() {
    [ "${#wanted[@]}" -eq 0 ] || named || return
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    grade_fault </dev/null &
}

mkdir -p "$work/planted"
kept=$work/kept.$(contents)
mkdir -p "$kept"
objects_list=$work/objects
list_objects >"$objects_list"
: >"$work/results"
cases_now=$cases
for seed in $(seq "$seeds"); do original_digests "$seed" "$cases" & done
wait
each_fault start
wait
if sort "$work/results" | xargs grep -q "$(printf '\tlater\t')"; then
    lines_executed
    each_fault fill_in_reached
fi
sort "$work/results" | xargs cat >"$work/named.tsv"
awk -F'\t' '{ n[$13]++ } END { for (status in n) print n[status], status }' "$work/named.tsv"
