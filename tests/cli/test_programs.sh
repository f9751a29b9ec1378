#!/usr/bin/env bash
# The sessions of docs/cuda.md: CUDA programs built by nvcc, run, checked; what they print is what the page shows.
# SIMTFUZZ_BLESS=1 writes the page anew.
. "$(dirname "$0")/common.sh"

export PATH=$(dirname "$simtfuzz"):$PATH:/usr/local/cuda/bin
nvcc --version 2>/dev/null | grep -q 'release 13\.0' || { echo "no nvcc 13.0: its PTX is what the page shows"; finish; }
[ -e "$(dirname "$simtfuzz")/simtfuzz-cudart.so" ] || { echo "no CUDA runtime in this build"; finish; }
cp "$source"/corpus/programs/*.cu .

# A block ```console: the commands behind "$ ", each followed by what it prints.
session=0
while IFS= read -r line; do
    case $session$line in
    0'```console') session=1 && echo "$line" ;;
    1'```') session=0 && echo "$line" ;;
    '1$ '*) echo "$line" && bash -c "${line#\$ }" 2>&1 </dev/null ;;
    1*) ;; # printed anew
    *) printf '%s\n' "$line" ;;
    esac
done <"$source/docs/cuda.md" >page.md
grep -q '^RACE ' page.md || failed "nothing was run"
if [ "${SIMTFUZZ_BLESS:-}" ]; then
    cp page.md "$source/docs/cuda.md"
else
    diff "$source/docs/cuda.md" page.md || failed "docs/cuda.md shows something else"
fi
finish
