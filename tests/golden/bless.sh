#!/usr/bin/env bash
# Writes the expected output of all golden cases anew, the digests of the other files here, said.txt, and what planted.txt
# says of planted faults. Build the tests named below first.
# Read `git diff tests/golden` before you commit: a line that changed names a kernel, a column that changed what of it.
#
#     tests/golden/bless.sh build-dev/simtfuzz
set -e
"$(dirname "$0")/golden.sh" "${1:?the program}" --bless
"$(dirname "$0")/said.sh" "$1" --bless
for test in test_golden test_stages test_searches test_witnesses test_checks test_bounds test_policies test_raw test_mixed test_planted; do
    SIMTFUZZ_BLESS=1 "$(dirname "$1")/tests/$test"
done
