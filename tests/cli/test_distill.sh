#!/usr/bin/env bash
# A distilled corpus: what it says holds; a feature that is lost, a kernel that does something else are noticed.
. "$(dirname "$0")/common.sh"

expect 0 distill corpus --cases 3 --tests 5 --seed 0x7
says out "corpus: " " kernels of " "features of 3 cases"
cp out first
expect 2 distill corpus --cases 3
says err "corpus: "
expect 0 distill corpus --verify
says out " 0 lost"
expect 0 check corpus
expect 0 distill again --cases 3 --tests 5 --seed 0x7 --jobs 3
diff -r corpus again >/dev/null || failed "one run and another make different corpora"
grep -qP '^\trule ' corpus/features.txt || failed "no rule is listed"

cp -r corpus poorer
rm "poorer/$(head -1 poorer/features.txt)"
expect 1 distill poorer --verify
says out "lost: " "when it was made"
cp -r corpus wrong
file=$(grep -l 'expect' wrong/*.simt | head -1)
echo 'expect deadlock;' >>"$file"
expect 1 distill wrong --verify
says out "$file: does not do what it says" " 0 lost"
# --time: fewer cases, kernels that are not as small as they can be, and a corpus that holds all the same.
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then
    expect 0 distill hasty --cases 100000000 --time 1s --seed 0x7
    says err "the time is over: " "of 100000000 cases were checked"
    expect 0 distill hasty --verify
    says out " 0 lost"
fi
: >corpus/features.txt
expect 2 distill corpus --verify
expect 2 distill nothing --verify
expect 2 distill again --cases 0
finish
