#!/usr/bin/env bash
# Writes the expected output of all golden cases anew. Read `git diff tests/golden` before you commit.
#
#     tests/golden/bless.sh build-dev/simtfuzz
exec "$(dirname "$0")/golden.sh" "${1:?the program}" --bless
