#!/usr/bin/env bash
# check, trace and lower: good kernels, bad ones, and what is printed of them.
. "$(dirname "$0")/common.sh"
papers=$source/corpus/papers

expect 0 check "$papers/program1.simt"
says out agree program1.simt
silent err
expect 0 check "$papers/program1.simt" "$papers/p2-n2.simt" --json
json
[ "$(wc -l <out)" = 2 ] || failed "one document a kernel"
says out '"version": 1' '"kernel": "program1"' '"launch": {"threads": 4, "warp": 4, "blocks": 1, "seed": "0x0"}' \
    '"runs": [{"subject": "threads"' '"statuses": {"terminated": ' '"race": null' '"b": [0, 1, 1, 4]' \
    '"oracles": [{"oracle": "simulation", "verdict": "agree", "checked": ' '"expectations": [{"claim": ' \
    '"met": true' '"verdict": "agree"' '"location": "lock"' '"access": "write"' '"nonterminating"'

# The same twice, byte for byte; another seed explores other schedules but finds the same.
expect 0 check "$papers"/tutorial-*.simt --json
cp out first
expect 0 check "$papers"/tutorial-*.simt --json
cmp -s out first || failed "two checks of the same kernels differ"
expect 0 check "$source/corpus/rules" --seed 0x99
says out "0 diverge"

cat >racy.simt <<'END'
launch(threads = 3, warp = 3);
shared int x;
kernel racy() { x = x + 1; }
expect race_free, final x == 3;
END
expect 1 check racy.simt
says out FAILED "line 4: expect race_free" "expect final x == 3"
expect 1 check racy.simt --json
json
says out '"verdict": "expectation_failed"' '"met": false' '"race": {"location": "x", "first": {"thread": '
expect 1 check racy.simt --set threads=1
says out "expect final x == 3"
grep -q 'expect race_free' out && failed "a race of one thread"

# Claims about a subject that was left out are not asked.
expect 0 check "$papers/incr-n2.simt" --subjects threads --json
says out '"subject": "simt", "line": 11, "met": null' '"verdict": "agree"}'

expect 0 check "$papers/incr-n2.simt" --subjects threads
says out agree "expect simt: " "not asked: its subject was not run"
expect 0 check "$papers/p2-n3.simt" --subjects simt
says out "expect simt: unfair" "not asked: the claim compares warps with threads: it needs the subject threads"

# A claim about a subject that does not exist is not met, whatever is run.
cat >nosuch.simt <<'END'
kernel k() { }
expect nosuch: terminates;
END
expect 1 check nosuch.simt
says out FAILED "line 2: expect nosuch: terminates" "there is no subject 'nosuch'"
expect 1 check nosuch.simt --subjects threads --json
says out '"met": false' "there is no subject 'nosuch'"

# What is no file is refused at once: nobody writes to this pipe.
mkfifo pipe
mkdir folder
true >empty.tape
for command in check lower trace "reduce --signature x" "trace $papers/program1.simt --schedule"; do
    prefix=
    [ "${command%--schedule}" = "$command" ] || prefix=tape:
    # shellcheck disable=SC2086
    expect 2 $command "${prefix}pipe"
    says err pipe "not a regular file"
    # shellcheck disable=SC2086
    expect 2 $command "${prefix}folder"
    says err folder
done
expect 2 trace "$papers/program1.simt" --schedule tape:empty.tape
says err "empty, not a tape"
expect 2 trace "$papers/p2-n2.simt" --subject threads --schedule starve:99
says err "no actor 99" "0 to 1"
expect 0 trace "$papers/p2-n2.simt" --subject threads --schedule starve:1 --max-steps 20
expect 0 trace "$papers/program1.simt" --against reference
says out 'reference: the same in all '
expect 0 trace "$papers/program1.simt" --against reference --json
says out '{"reference": "the same in all '
expect 0 trace "$papers/program1.simt" --subject crs:kappa --against reference
says out 'reference: cannot follow: it pushes frames for lanes that call again'
expect 0 trace "$source/corpus/regress/acquire-then-store.ptx" --subject crs:caches:printed --schedule uniform \
    --max-steps 9000 --against reference
says out 'reference: the same in all '
expect 2 trace "$papers/program1.simt" --against engine

# Strict lemmas show erratum A-4, which is known: no failure.
expect 0 check "$papers/program1.simt" --oracles lemmas:strict
says out "agree" "lemmas: known divergence A-4" "Lemma"
expect 0 check "$papers/program1.simt" --oracles lemmas:strict --json
says out '"verdict": "diverge"' '"known": "A-4"' '"signature": "lemmas|lemma-5|' '"verdict": "agree"}'

# Exhaustive search finds every outcome of two increments that are no atoms.
expect 0 check "$papers/incr-n2.simt" --exhaustive --subjects threads --json
says out '"exhaustive": true' '{"x": 1}' '{"x": 2}' '"outcomes": 2, "cut": null'
expect 0 check "$papers/incr-n2.simt" --exhaustive
says out 'threads: all executions searched, 2 outcomes'

# What a search shows is printed when it ends, before what is said of the kernel as a whole.
[ "$(sed -n '1p;$p' out | cut -d' ' -f1 | tr '\n' ' ')" = "searching agree " ] || failed "$(cat out)"
sed -n 2p out | grep -q "^    threads: all executions searched, 2 outcomes" || failed "$(cat out)"

# --time cuts searches off; what was found until then is printed, and the exit status is that of the verdict.
for n in $(seq 30); do cp "$papers/incr-n8.simt" "late-$n.simt"; done
expect 0 check late-*.simt --exhaustive --time 1s
says err "the time is over: searches that were not ready by then say so"
says out "NOT all executions: the bound on time cut the search off" "30 kernels: 30 agree"

# Where it is too large, it says what cut it off, which need not be the time.
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then # three seconds
    expect 0 check "$papers/incr-n8.simt" --exhaustive --time 1h
    says out 'threads: NOT all executions: the bound on ' ' cut the search off; ' ' outcomes found, a subset'
fi

# Bad input: a message with its place, status 2, standard output untouched.
printf 'kernel k() { x = 1; ' >truncated.simt
printf 'launch(threads = 1000000000);\nkernel k() { ; }\n' >threads.simt
printf 'shared int a[1000000000000];\nkernel k() { ; }\n' >array.simt
printf 'kernel k() {\n    if (tid == 0 {\n        ;\n    }\n}\n' >paren.simt
: >empty.simt
head -c 5000 /dev/urandom >garbage.simt
{ printf 'kernel k() '; head -c 200000 /dev/zero | tr '\0' '{'; } >deep.simt
{ printf 'shared int x;\nkernel k() { x = '; head -c 200000 /dev/zero | tr '\0' '('; } >expression.simt
head -c 3000000 /dev/zero | tr '\0' ' ' >large.simt
for bad in truncated threads array paren empty garbage deep expression large; do
    for command in check trace lower; do
        expect 2 "$command" "$bad.simt"
        silent out
        says err "$bad.simt:" "error:"
    done
done
expect 2 check paren.simt
says err "paren.simt:2:18: error:" "    if (tid == 0 {" "^"
expect 2 check missing.simt
says err "missing.simt"
expect 2 trace missing.simt
mkdir empty
expect 2 check empty
says err "no *.simt, *.ptx or *.host file"
expect 2 check racy.simt paren.simt
expect 2 check racy.simt --set threads=4096
says err "threads"

# A kernel of a corpus must say what is expected of it; a user's own need not.
mkdir corpus
printf 'kernel k() { ; }\n' >corpus/silent.simt
cp corpus/silent.simt own.simt
expect 2 check corpus
says err "needs an expect"
expect 0 check own.simt
echo "expect terminates;" >>corpus/silent.simt
expect 2 check corpus
says err "needs an expect progress"
echo "expect progress: ends *;" >>corpus/silent.simt
expect 0 check corpus

# Traces.
expect 0 trace "$papers/program1.simt"
says out "disabled" "0bb0" "<div 0001>" "terminated after 17 steps" "end: shared b = {0, 1, 1, 4}"
cp out first
NO_COLOR=1 expect 0 trace "$papers/program1.simt"
cmp -s out first || failed "two traces differ"
expect 0 trace "$papers/program1.simt" --json
json
[ "$(wc -l <out)" = 17 ] || failed "a line a step"
says out '"step": 4, "rule": "while", "actor": "warp 0"' '"active": "0110", "disabled": "0000"' '["div", "0001", ' \
    '"status": "terminated"'
expect 0 trace "$papers/program1.simt" --subject threads --schedule pct:3 --seed 7 --json
json
says out '"thread": 3' '"rule": "assign_wr"'
expect 0 trace "$papers/p3-n2.simt" --max-steps 20
says out "step_limit after 20 steps"
expect 0 trace "$papers/program1.simt" --set threads=2,warp=2
says out "threads 2, warp 2"
expect 0 trace racy.simt --subject threads --schedule surw
printf '2*3 0*2\n' >tape
expect 0 trace racy.simt --subject threads --schedule tape:tape
says out "schedule tape"
awk '$1 ~ /^[0-9]+$/ && $1 > 0 { print $2 }' out | head -5 | tr '\n' ' ' >order
[ "$(cat order)" = "2 2 2 0 0 " ] || failed "the tape was not followed: $(cat order)"
printf 'nonsense' >tape
expect 2 trace racy.simt --schedule tape:tape
says err "tape:1:1: not a tape"
expect 2 trace racy.simt --schedule tape:missing

# Lowering gives a kernel of the core language that checks the same.
cat >loop.simt <<'END'
shared int s[4];
kernel loop() {
    private int i;
    for (i = 0; i < 3; i++) {
        if (tid == i)
            continue;
        s[tid] += i;
    }
}
expect race_free, terminates, final s == {3, 2, 1, 3};
END
expect 0 check loop.simt
expect 0 lower loop.simt
cp out core.simt
grep -qE '\b(for|continue)\b' core.simt && failed "lower left a for or continue"
expect 0 lower core.simt
expect 0 check core.simt
says out agree
expect 0 lower loop.simt --json
json
finish
