#!/usr/bin/env bash
# The harnesses as plain programs: a divergence aborts, and the command that it prints shows the same
# divergence; text is taken as text, and what is no text as choices; the mutators' results run.
. "$(dirname "$0")/common.sh"
folder_of=$(dirname "$simtfuzz")/fuzz
crs=$folder_of/fuzz-crs
structured=$folder_of/fuzz-structured

# A wrong rule of the branch unit, which the harness must find among mutated raw programs.
mkdir seeds
for number in 0 1 2 3 4 5 6 7; do
    "$simtfuzz" gen --features none,crs --seed 3 --first $number >seeds/$number.ptx
done
SIMTFUZZ_KNOWN=1 SIMTFUZZ_CHECK='subjects=crs,crs:no-minus-call oracles=result' \
    "$crs" -artifact_prefix="$PWD/" --mutate=20 seeds >out 2>err
[ $? -ne 0 ] || failed "the harness has found nothing in $(cat out)"
command=$(sed -n 's/^divergence; to see it: simtfuzz //p' err)
[ -n "$command" ] || failed "no command is printed"
says err 'divergence; to see it: simtfuzz check'
grep -q 'the text alone does not show it' err && failed "the text does not show it"
# shellcheck disable=SC2086
expect 1 $command
says out 'known divergence MUT.13'

# Without the wrong rule the same inputs show nothing.
SIMTFUZZ_KNOWN=1 SIMTFUZZ_CHECK='subjects=crs oracles=result,safety' \
    "$crs" --mutate=2 seeds >out 2>err || failed "the rules of the report: $(head -3 err)"
says out '24 inputs'

# Choices, text, text with a seed behind it, text that does not parse.
mkdir inputs
printf 'kernel k() { if (tid) ; }' >inputs/text
printf 'kernel k() { if (tid) ; }\0\1\2' >inputs/seeded
printf 'kernel k() { if (tid ; }' >inputs/broken
printf '\1\2\3\4\5\6\7' >inputs/choices
: >inputs/empty
"$structured" --mutate=3 inputs >out 2>err || failed "inputs: $(head -3 err)"
says out '20 inputs'
SIMTFUZZ_CHECK='oracles=nonsense' "$structured" inputs >out 2>err
[ $? -eq 2 ] || failed "a malformed SIMTFUZZ_CHECK is not refused"
says err 'oracles'
finish
