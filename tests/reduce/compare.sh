#!/usr/bin/env bash
# Compares the reducer with C-Vise (Debian: apt-get install cvise) and with a plain delta debugger on the
# findings in this folder: statements and characters of the result, runs of the kernel, CPU seconds.
#
#     compare.sh BUILD WORK-FOLDER                     every tool, every finding
#     compare.sh BUILD WORK-FOLDER TOOLS NAME...       "ours", "ddmin", "cvise", or several with commas; these findings
#
# BUILD is a build folder of these sources, with tests. A finding says in its first lines how it is checked, its
# signature, and the planted fault (tests/mutation) that shows it. The other tools' test is `simtfuzz check`
# with the same options, its JSON searched for the same signature; their results are measured in the text that
# simtfuzz prints of them, with its canonical names, as ours are. LIMIT: seconds that a tool has for a
# finding (600); what it has by then counts, with a `*`. Results that are there are not made again.
set -u
export LC_ALL=C
here=$(dirname "$(realpath "$0")") sources=$(realpath "$(dirname "$0")/../..")
build=$(realpath "${1:?build folder}")
mkdir -p "${2:?work folder}"
work=$(realpath "$2")
IFS=, read -r -a tools <<<"${3:-ours,ddmin,cvise}"
shift 2
shift $(($# > 0))
limit=${LIMIT:-600} TIMEFORMAT='%U %S'
# shellcheck source=tests/mutation/planting.sh
. "$sources/tests/mutation/planting.sh"
objects_list=$work/objects
list_objects >"$objects_list"

# The value of a line at a finding's head.
head_line() {
    sed -n "s,^// $1: ,,p" "$finding"
}

# Plants the fault that a finding names.
plant_named() {
    [ "$name" = "$fault" ] || return 0
    local overlay=$work/programs/$fault
    mkdir -p "$overlay"
    plant "$overlay" && compile_planted "$overlay" && link_planted "$overlay" simtfuzz
} 2>>"$work/build.log"

# The program that shows the finding.
find_program() {
    fault=$(head_line fault) program=$build/simtfuzz
    [ -n "$fault" ] || return 0
    program=$work/programs/$fault/simtfuzz
    [ -x "$program" ] || each_fault plant_named
    [ -x "$program" ]
}

# A field of the JSON that `reduce` printed.
field() {
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$2"
}

# "statements characters" of what a tool made of the kernel.
measure() {
    # shellcheck disable=SC2086
    "$program" reduce "$1" --signature "$signature" $options --tests 0 --json >"$1.json" 2>"$1.log" || { echo "- -"; return; }
    echo "$(field statements "$1.json") $(field characters "$1.json")"
}

seconds() {
    awk '{ printf "%.2f", $1 + $2 }' "$1"
}

run_ours() {
    # shellcheck disable=SC2086
    { time "$program" reduce kernel.simt --signature "$signature" $options --jobs 1 --json >ours.json 2>ours.log; } 2>time.ours
    echo "$(field statements ours.json) $(field characters ours.json) $(field runs ours.json) $(seconds time.ours)"
}

write_test() {
    cat >"test-$1.sh" <<END
#!/bin/sh
printf . >>'$PWD/count.$1'
'$program' check kernel-$1.c $options --json 2>/dev/null | grep -qF '{"signature": "$signature"'
END
    chmod +x "test-$1.sh"
    : >"count.$1"
    cp kernel.simt "kernel-$1.c"
}

# run_other TOOL COMMAND...
run_other() {
    local tool=$1 status mark=''
    shift
    { time timeout "$limit" "$@" >"log.$tool" 2>&1; } 2>"time.$tool"
    status=$?
    [ "$status" -ne 124 ] || { mark='*' && [ ! -f "kernel-$tool.c.best" ] || cp "kernel-$tool.c.best" "kernel-$tool.c"; }
    echo "$(measure "kernel-$tool.c") $(wc -c <"count.$tool") $(seconds "time.$tool")$mark"
}

run_tool() {
    [ "$1" = ours ] && { run_ours; return; }
    write_test "$1"
    if [ "$1" = ddmin ]; then
        run_other ddmin "$build/tests/reduce/ddmin" kernel-ddmin.c ./test-ddmin.sh
    else
        run_other cvise cvise --n 1 ./test-cvise.sh kernel-cvise.c
    fi
}

printf '%-36s %6s' finding before
printf '  %-22s' "${tools[@]}"
printf '\n%-36s %6s' '' ''
for tool in "${tools[@]}"; do printf '  %4s %5s %5s %6s' stmt chars runs s; done
printf '\n'
for finding in "$here"/findings/*.simt; do
    id=$(basename "$finding" .simt)
    [ $# -eq 0 ] || [[ " $* " == *" $id "* ]] || continue
    signature=$(head_line signature) options=$(head_line check)
    find_program || { echo "$id: its fault '$fault' cannot be planted (see $work/build.log)"; continue; }
    mkdir -p "$work/$id" && cd "$work/$id" || exit 2
    grep -Ev '^// (check|signature|fault|size): ' "$finding" >kernel.simt
    read -r before _ <<<"$(measure kernel.simt)"
    printf '%-36s %6s' "$id" "$before"
    for tool in "${tools[@]}"; do
        [ -s "result.$tool" ] || run_tool "$tool" >"result.$tool"
        # shellcheck disable=SC2046
        printf '  %4s %5s %5s %6s' $(cat "result.$tool")
    done
    printf '\n'
done
