#!/usr/bin/env bash
# Formatting, leftovers, file sizes and ends of tests. Exits 77 (skipped, says why) where clang-format is missing.
set -u
cd "${1:?source directory}" || exit 2
failures=0
mapfile -t sources < <(find engine oracle db fuzz tests -name '*.c' -o -name '*.h' | sort)
[ "${#sources[@]}" -gt 0 ] || exit 2

if grep -nE '\b(TODO|FIXME|XXX|HACK)\b' "${sources[@]}"; then
    echo "leftovers in the sources"
    failures=1
fi
# Prose fits 120 columns: not tables, headings, commands and what they print.
for page in README.md docs/*.md corpus/*/README.md; do
    if awk '/^```/ { fence = !fence; next } fence || /^(\||#|    |<|!|\[)/ { next } { print FILENAME ":" FNR ": " $0 }' "$page" |
        LC_ALL=C.UTF-8 grep -E "^[^ ]*: .{121,}\$"; then
        echo "$page: prose of more than 120 columns"
        failures=1
    fi
done
# So do the sources, where clang-format lets comments be; a row of a table is one line.
wide() { LC_ALL=C.UTF-8 grep -HnE '.{121,}' "$@"; }
mapfile -t tables < <(find engine oracle db fuzz tests -name '*.def')
if wide "${sources[@]}" || wide "${tables[@]}" | grep -E '^[^:]*:[0-9]+: *(/\*|\*)'; then
    echo "lines of more than 120 columns"
    failures=1
fi
long=$(wc -l "${sources[@]}" | awk '$1 > 900 && $2 != "total" { print $2 " has " $1 " lines, limit 900" }')
if [ -n "$long" ]; then
    echo "$long"
    failures=1
fi
# What stands behind `finish`, which exits, is not run.
for script in tests/cli/test_*.sh; do
    if [ "$(grep -n '^finish$' "$script")" != "$(wc -l <"$script"):finish" ]; then
        echo "$script: its last line, and no other, is finish"
        failures=1
    fi
done

format=$(command -v clang-format-14 || command -v clang-format)
if [ -z "$format" ]; then
    [ "$failures" -eq 0 ] || exit 1
    echo "clang-format is not installed: formatting not checked"
    exit 77
fi
# By day what the last changes touched, every night (SIMTFUZZ_WHOLE=1), and without history, all of them.
if [ -z "${SIMTFUZZ_WHOLE:-}" ] && since=$(git rev-parse -q --verify HEAD~10 2>/dev/null); then
    mapfile -t sources < <({
        git diff --name-only "$since"
        git ls-files --others --exclude-standard
    } | grep -E '^(engine|oracle|db|fuzz|tests)/.*\.[ch]$' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
fi
[ "${#sources[@]}" -eq 0 ] || "$format" --dry-run -Werror "${sources[@]}" || failures=1
exit "$failures"
