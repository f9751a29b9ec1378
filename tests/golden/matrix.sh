#!/usr/bin/env bash
# States the termination matrix of each kernel of the corpus anew: the line `expect progress`, within the states that
# it says already. Look at what changes: `git diff corpus`. Those that are as they are stay untouched.
#
#     matrix.sh SIMTFUZZ [FILE...]
set -eu
simtfuzz=$(realpath "${1:?the program}")
shift
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- corpus

# At the end of the file: so no line moves.
put() {
    { grep -vE '^(// )?expect progress' "$1"; echo "$2"; } >"$1.new"
    cmp -s "$1" "$1.new" || cp "$1.new" "$1"
    rm "$1.new"
}

"$simtfuzz" progress --expect "$@" /dev/null 2>/dev/null | while IFS= read -r line; do
    case $line in
    *': no rows') ;;
    *'expect progress'*) put "${line%%: *}" "${line#*: }" ;;
    esac
done
