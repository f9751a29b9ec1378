#!/usr/bin/env bash
# Compares the output of every case of cases.txt with expected/NAME.txt; with --bless writes the files.
#
#     golden.sh SIMTFUZZ [--bless]
set -u
simtfuzz=$(realpath "${1:?the program}")
bless=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2
mkdir -p "$here/expected"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
failures=0 count=0 names=' '

while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    name=${line%%: *}
    read -ra arguments <<<"${line#*: }"
    expected=$here/expected/$name.txt
    "$simtfuzz" "${arguments[@]}" >"$output" 2>&1
    echo "exit status $?" >>"$output"
    count=$((count + 1))
    names="$names$name "
    if [ "$bless" = --bless ]; then
        cp "$output" "$expected"
    elif ! diff -u "$expected" "$output"; then
        echo "FAILED $name"
        failures=$((failures + 1))
    fi
done <"$here/cases.txt"

for file in "$here"/expected/*.txt; do
    name=$(basename "$file" .txt)
    case $names in *" $name "*) ;; *)
        echo "expected/$name.txt: no case of that name"
        failures=$((failures + 1))
        ;;
    esac
done
echo "$count cases, $failures failed"
[ "$count" -gt 0 ] && [ "$failures" -eq 0 ]
