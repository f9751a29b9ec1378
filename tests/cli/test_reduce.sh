#!/usr/bin/env bash
# reduce: budgets, an interruption, what is printed; its result shows the signature again.
. "$(dirname "$0")/common.sh"

cat >spin.simt <<'END'
launch(threads = 4, warp = 4);
shared int lock, other[4]; private int x, y;
int twice(int a) { return a + a; }
kernel k() {
    x = twice(tid); other[tid] = x;
    for (y = 0; y < 2; y++) { if (x > 2) other[tid] += y; else { other[tid] -= 1; } }
    if (tid == 0) { other[0] = 7; lock = 1; } else { while (lock != 1) { y = y + 1; y = 5; } }
    other[tid] = other[tid] * 3;
}
END
signature='liveness|unfair|simt.while_cont|termination'

# field NAME: of the JSON document in the file out.
field() {
    sed -n 's/.*"'"$1"'": *\("[^"]*"\|[a-z0-9]*\).*/\1/p' out | tr -d '"'
}

# shows FILE: it still shows the signature.
shows() {
    expect 0 reduce "$1" --signature "$signature" --tests 0
}

expect 0 reduce spin.simt --signature "$signature" -o small.simt
says err "16 statements became 3" "$signature"
grep -q "ended early" err && failed "a finished reduction says that it ended early"
silent out
shows small.simt

# The number of threads changes nothing.
for jobs in 1 2 3 7; do
    expect 0 reduce spin.simt --signature "$signature" --jobs $jobs --json
    json
    mv out jobs.$jobs
    cmp -s jobs.1 jobs.$jobs || failed "--jobs $jobs gives another result than --jobs 1"
done

# Budgets: the best so far, in JSON and in words.
cp jobs.1 out
[ "$(field ending)" = minimal ] || failed "ending: $(field ending)"
[ "$(field statements)" = 3 ] || failed "statements: $(field statements)"
[ "$(field statements_before)" = 16 ] || failed "statements_before: $(field statements_before)"
[ "$(field relaxed)" = false ] || failed "relaxed: $(field relaxed)"
for tests in 0 1 5 12; do
    for jobs in 1 3; do
        expect 0 reduce spin.simt --signature "$signature" --tests $tests --jobs $jobs --json
        json
        says err "ended early: tests spent"
        [ "$(field ending)" = "tests spent" ] || failed "--tests $tests: ending $(field ending)"
        mv out tests.$jobs
    done
    cmp -s tests.1 tests.3 || failed "--tests $tests depends on --jobs"
    expect 0 reduce spin.simt --signature "$signature" --tests $tests -o small.simt
    shows small.simt
done

# A signal ends it with the best so far, as does the time.
expect 0 reduce spin.simt --signature "$signature" --time 1s -o small.simt
shows small.simt
slow=(reduce spin.simt --signature "$signature" --schedules 20000 --jobs 2)
for signal in INT TERM; do
    "$simtfuzz" "${slow[@]}" >small.simt 2>err &
    pid=$!
    # Until the signal is caught: SIGINT is bit 1 of the mask, SIGTERM bit 14.
    until [[ $(grep SigCgt "/proc/$pid/status") =~ 4..[2367abef]$ ]]; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    kill -$signal $pid
    wait $pid
    status=$?
    [ "$status" = 4 ] || failed "SIG$signal: exit status $status, not 4"
    says err "ended early: interrupted"
    shows small.simt
done
expect 0 reduce --help
says out "4 interrupted" "--time T" "--tests N"

# What does not show the signature is not reduced; what only K1 shrinks is said to be.
expect 2 reduce spin.simt --signature 'result|store|x|y'
says err "does not show"

# --keep-progress: a padded spin lock stays one that a warp never gets past and fair threads do; another that
# hangs whoever is let run stays that. What does not hang, or is not in the matrix, is not reduced.
cat >lock.simt <<'END'
launch(threads = 2, warp = 2);
shared int lock, sum, other[2]; private int x, y;
int twice(int a) { return a + a; }
kernel k() {
    x = twice(tid); other[tid] = x;
    if (other[tid] > 8) { x = 3; other[tid] += x; } else other[tid] -= 1;
    do { y = atomic_exch(lock, 1); } while (y != 0);
    sum = sum + x;
    other[tid] = sum;
    atomic_exch(lock, 0);
    for (y = 0; y < 2; y++) x = x + 1;
}
END
matrix() { # FILE: its rows simt, oldest, obe, fair
    "$simtfuzz" progress "$1" | awk '$2 ~ /^(simt|stackless:oldest|obe|fair)$/ { print $1, $2, $3, $4 }'
}
matrix lock.simt >before
says before "warps simt hangs always" "threads fair ends"
for jobs in 1 3; do
    expect 0 reduce lock.simt --keep-progress simt,stackless:oldest,obe,fair --jobs $jobs -o small.$jobs
    says err "statements became 3" "hangs warps simt"
done
cmp -s small.1 small.3 || failed "--keep-progress: --jobs 3 gives another result"
mv small.1 small.simt
matrix small.simt >after
cmp -s before after || failed "the smaller lock ends otherwise: $(cat after small.simt)"
expect 0 reduce lock.simt --keep-progress all --json
json
says out '"keeps": "ends ' '"ending": "minimal"' 'atomic_exch'
echo 'launch(threads = 2); shared int a; kernel k() { private int x; x = tid; a = x; while (a != 7) x = a; }' >ever.simt
expect 0 reduce ever.simt --keep-progress threads/fair -o small.simt
says err "hangs threads fair"
[ "$("$simtfuzz" progress small.simt | awk '$2 == "fair" { print $3 }')" = hangs ] || failed "the smaller form of ever.simt ends"
for models in simt:then-last threads/simt fair,blocks/obe; do
    expect 2 reduce lock.simt --keep-progress $models
    says err "has no row"
done
expect 2 reduce lock.simt --keep-progress fair
says err "hangs under none"
expect 2 reduce lock.simt --keep-progress all --signature "$signature"
expect 2 reduce 1 --keep-progress all

# reduce --all: what a campaign left is minimised as it would have done it itself.
hunt=(run --seed 7 --cases 30 --jobs 1 --oracles lemmas:strict --features none,loops --json)
expect 0 "${hunt[@]}" --db whole.db
expect 0 "${hunt[@]}" --no-minimise --db bare.db
says out '"minimisation_pending": true'
expect 2 reduce --all 1 --db bare.db
expect 2 reduce --db bare.db
expect 0 reduce --all --db bare.db
says err "findings were not minimised"
expect 0 reduce --all --db bare.db
says err "0 findings were not minimised, 0 of them looked at"
for db in whole.db bare.db; do
    expect 0 triage show 1 --db $db
    says out "cause        lemmas|lemma-5"
    expect 0 triage show 1 --db $db --json
    grep -o '"cause": "[^"]*"\|"minimisation": "[^"]*"\|"minimised": {[^}]*}' out | grep -v '"cause": ""' >$db.shown
    says $db.shown '"minimisation": "done"' '"minimised": {"kernel"'
done
cmp -s whole.db.shown bare.db.shown || failed "reduce --all gives another minimised form than the campaign: $(diff whole.db.shown bare.db.shown)"
finish
