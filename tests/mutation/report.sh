#!/usr/bin/env bash
# The grade as pages: WORK/grade.md (the last part of docs/grade.md is a copy of one) and WORK/grade.html, from
# WORK/named.tsv and, if the automatic mutants were hunted too, WORK/auto.tsv.
#
#     report.sh SOURCES WORK
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
sources=${1:?sources} work=${2:?work folder}
commit=$(git -C "$sources" describe --always --dirty 2>/dev/null || echo unknown)
tables=()
for table in "$work/named.tsv" "$work/auto.tsv"; do
    [ ! -s "$table" ] || tables+=("$table")
done
for format in md html; do
    awk -f "$here/report.awk" -v format="$format" -v date="$(date -u +%F)" -v commit="$commit" \
        "$here/survivors.txt" "${tables[@]}" >"$work/grade.$format"
done
echo "$work/grade.md, $work/grade.html"
