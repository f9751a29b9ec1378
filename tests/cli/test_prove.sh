#!/usr/bin/env bash
# prove: verdicts of the papers' kernels, solvers that are absent, crash, hang, lie, complain; kernels outside.
. "$(dirname "$0")/common.sh"
papers=$source/corpus/papers

# fake NAME: a solver whose text is standard input; it is called with the rest of the command line.
fake() {
    { echo '#!/bin/bash'; cat; } >"$1"
    chmod +x "$1"
}

# verdict WORD RACE DIVERGENCE: of the kernel in out.
verdict() {
    says out "$1 " "race-free: $2" "no barrier divergence: $3"
}

# ---- without a solver, whatever is installed ----

two=$papers/tutorial-add-nbor.simt
expect 3 prove "$two" --solver ./none
verdict unknown "unknown (the solver './none' is not installed" unknown
says err "the solver './none' is not installed"

fake crashes <<<'kill -SEGV $$'
expect 3 prove "$two" --solver ./crashes
verdict unknown "unknown (the solver './crashes' crashed)" unknown

fake ends <<<'exit 0'
expect 3 prove "$two" --solver ./ends
verdict unknown "unknown (the solver './ends' died)" unknown

fake hangs <<<'exec sleep 60'
expect 3 prove "$two" --solver ./hangs --seconds 1
verdict unknown "unknown (the solver './hangs' hangs" unknown

# Who is killed leaves no solver behind.
fake lasts <<<'echo $$ >solver.pid; exec sleep 1000'
"$simtfuzz" prove "$two" --solver ./lasts >out 2>err &
pid=$!
for _ in $(seq 200); do [ -s solver.pid ] && break || sleep 0.05; done
kill -KILL $pid
wait $pid 2>/dev/null
for _ in $(seq 100); do kill -0 "$(cat solver.pid)" 2>/dev/null || break; sleep 0.05; done
kill -0 "$(cat solver.pid)" 2>/dev/null && failed "the solver is still there"

fake floods <<<'yes | head -c 3000000; sleep 60'
expect 3 prove "$two" --solver ./floods
says out "prints without an end"

fake odd <<<'while read -r line; do case $line in *echo*) echo maybe; echo simtfuzz-end;; esac; done'
expect 3 prove "$two" --solver ./odd
says out "gave no answer but 'maybe'"

# Always the same answer: two questions whose answers are known come first.
fake yes-man <<<'while read -r line; do case $line in *echo*) echo unsat; echo simtfuzz-end;; esac; done'
expect 3 prove "$two" --solver ./yes-man
verdict unknown "unknown (the solver './yes-man' answers wrongly that x + 1 == 43" unknown

# Outside of what is done: named reasons, no solver is started.
cat >recursion.simt <<'KERNEL'
launch(threads=4);
global int A[4];
private int n;
void f()
{
    if (n > 0) {
        n -= 1;
        f();
    }
}
kernel k()
{
    n = tid;
    f();
    A[tid] = n;
}
KERNEL
expect 1 prove recursion.simt --solver ./none
says out "unknown " "the call at line 14 is not handled: recursion"
expect 1 prove "$papers/lockstep-ck1.simt" --solver ./none
says out "not well-formed (Def. 5.1): WF.2"
echo 'launch(threads=4); kernel k() { vote_any(tid); }' >broken.simt
expect 2 prove broken.simt --solver ./none
expect 2 prove
says err "missing FILE"

if ! command -v z3 >/dev/null; then
    echo "z3 is not installed: the rest is not tested"
    finish
fi

# ---- a solver that lies after it has answered what is known ----

fake liar <<'SOLVER'
z3 -in | {
    count=0
    while read -r line; do
        case $line in sat | unsat) count=$((count + 1)) ;; esac
        [ $count -gt 2 ] && [ "$line" = sat ] && line=unsat
        echo "$line"
    done
}
SOLVER
expect 0 prove "$two" --solver ./liar
verdict proved "proved (no loop)" "proved (no loop)"
expect 3 prove "$two" --solver ./liar --second 'z3 -in'
verdict unknown "unknown (the solvers './liar' and 'z3' disagree" unknown
expect 3 prove "$two" --solver ./liar --runs 2
verdict wrong "wrong (it was proved (no loop), and an execution with input seed" proved

# A term where a value was asked for, as z3 prints equalities of arrays: the guess is dropped, the answer counts.
fake vague <<<'z3 -in | sed -u "s/^\(.*(t[0-9]* \)true)/\1(not (= (store a #x00000000 b) c)))/"'
expect 1 prove "$two" --solver ./vague
verdict refuted refuted unknown

# Complaints in front of answers are not answers; a limit that is not known is left out, and that is said.
fake complains <<<'z3 -in | sed -u "s/^\(un\)\?sat$/(error \"line 1: something\")\n&/"'
expect 3 prove "$two" --solver ./complains
says out "gave no answer but '(error \"line 1: something\")'"
cat >z3old <<'SOLVER'
#!/bin/bash
sed -u 's/.*rlimit.*/(echo "(error unknown parameter rlimit)")/' | z3 -in
SOLVER
chmod +x z3old
expect 1 prove "$two" --solver ./z3old
verdict refuted refuted unknown
says err "knows no 'rlimit'"

# ---- verdicts ----

while read -r name word race divergence; do
    [ "$word" = proved ] && status=0 || status=1
    expect $status prove "$papers/$name.simt"
    verdict "$word" "$race" "$divergence"
    silent err
done <<'TABLE'
tutorial-add-nbor refuted refuted unknown
tutorial-add-nbor-barrier proved proved proved
tutorial-diverge1 refuted proved refuted
tutorial-indirect proved proved proved
tutorial-third-thread refuted refuted unknown
lockstep-ck12 proved proved proved
lockstep-ck13 proved proved proved
lockstep-ck14 refuted refuted unknown
lockstep-ck16 proved proved proved
lockstep-fig1a proved proved proved
lockstep-fig1a-no-first-barrier refuted refuted unknown
lockstep-fig1b refuted unknown refuted
TABLE

expect 0 prove "$papers/tutorial-stride.simt"
verdict proved "proved (all trips)" proved
expect 0 prove "$source/corpus/prove/invariant.simt" --invariants --runs 1
verdict proved "proved (invariants)" proved
says out "loop at line" "candidates hold"
expect 1 prove "$papers/tutorial-stride.simt" --unroll 2 --budget 1
says out "the solver does not know within its budget"

# ---- any number of threads; what is assumed of the launch and of inputs ----

cat >rows.simt <<'KERNEL'
launch(threads = 4);
global input int n;
global int A[4096];
private int i;
kernel k()
{
    for (i = tid; i < n; i += threads)
        A[i] = 7;
}
KERNEL
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then # nine seconds: by day the strided loop of corpus/prove shows as much
    expect 0 prove rows.simt --threads any --runs 1
    verdict proved "proved (invariants)" proved
fi
expect 1 prove "$papers/tutorial-stride.simt" --threads any
verdict refuted "refuted (threads: thread" unknown
expect 0 prove "$papers/tutorial-stride.simt" --threads 2..4 --runs 1
expect 0 prove "$papers/tutorial-stride.simt" --threads 2..9 --assume "threads <= 4" --runs 1
expect 1 prove "$papers/tutorial-stride.simt" --threads 5
expect 2 prove rows.simt --threads 1
expect 2 prove rows.simt --threads 5..4
expect 2 prove rows.simt --assume 'm < 4'
says err "m"
expect 2 prove rows.simt --assume 'n < 4 4'

# Horn clauses are a text of their own; the solver finds the invariants, or that there are none. Words that overflow
# are an error: tid * 2^30 does from 2 on.
for name in tutorial-stride lockstep-fig1a tutorial-add-nbor-barrier; do
    expect 0 lower --to horn "$papers/$name.simt"
    [ "$(timeout 60 z3 out)" = sat ] || failed "horn $name"
done
for name in tutorial-stride-short lockstep-fig1a-no-first-barrier tutorial-diverge2; do
    expect 0 lower --to horn "$papers/$name.simt"
    [ "$(timeout 60 z3 out)" = unsat ] || failed "horn $name"
done
for threads in 2 3; do
    printf 'launch(threads=%s);global int A[4];kernel k(){A[tid*1073741824/1073741824]=1;}\n' $threads >wraps.simt
    expect 0 lower --to horn wraps.simt
    timeout 60 z3 out >again
    [ $threads = 2 ] && says again sat || says again unsat
done
expect 2 lower --to horn recursion.simt
says err "recursion"

# What kernels say of their proofs, `expect prove`, and for any number of threads, `expect prove:any`.
# Each in both forms. What is shown for any number of threads needs a tenth of the usual budget, but for these; more
# would be spent on what is not shown.
for kernel in "$source"/corpus/prove/*.simt; do
    case ${kernel##*/} in
    histogram.simt) budget=2000000 ;;
    reduction.simt | stencil.simt | strided.simt) budget=1000000 ;;
    *) budget=200000 ;;
    esac
    expect 0 prove "$kernel" --seconds 600
    case "${SIMTFUZZ_WHOLE:-}${kernel##*/}" in
    histogram.simt | reduction.simt | strided.simt) ;; # seconds each: by day the loop with an invariant shows as much
    *) expect 0 prove "$kernel" --threads any --seconds 600 --budget $budget ;;
    esac
    case "${SIMTFUZZ_WHOLE:-}${kernel##*/}" in s* | t*) continue ;; esac # half of them in block form by day
    expect 0 lower --to cfg --anchored "$kernel"
    mv out blocks.simt
    grep -q ' blocks$' blocks.simt || failed "no block form of $kernel"
    expect 0 prove blocks.simt --seconds 600
done

# PTX: what compilers and people write, at the launch given. What is outside of it is named with its line.
for kernel in "$source"/corpus/prove/*.ptx; do
    expect 0 prove "$kernel" --seconds 600
done
while read -r name word race divergence; do
    [ "$word" = proved ] && status=0 || status=1
    expect $status prove "$source/corpus/ptx/$name.ptx" --seconds 600 --dump shown
    verdict "$word" "$race" "$divergence"
    [ "$word" != refuted ] && continue
    says out "shown by: simtfuzz check shown/refuted-0.ptx"
    expect 1 check shown/refuted-0.ptx
done <<'TABLE'
bins-divergent.clang refuted unknown refuted
bins-racy.nvcc refuted refuted unknown
bins.clang proved proved proved
cases-racy.nvcc refuted refuted proved
cases.nvcc proved proved proved
dispatch.nvcc proved proved proved
scan-racy.clang refuted refuted unknown
stencil-racy.clang refuted refuted proved
stencil.nvcc proved proved proved
sum-divergent.nvcc refuted unknown refuted
sum-racy.clang refuted refuted unknown
TABLE
while read -r name wanted; do
    expect 1 prove "$source/corpus/ptx/$name.ptx"
    says out "unknown " "$wanted"
done <<'TABLE'
calls the call at line 251 is not handled
exchange.nvcc a named barrier, or one of some threads, at line 133 is not handled
stages-early.nvcc the mbarrier at line 51 is not handled
stages.nvcc the asynchronous copy at line 76 is not handled
TABLE
expect 2 prove "$source/corpus/prove/bytes.ptx" --threads any
says err "only one number of threads is proved"
expect 0 prove "$source/corpus/prove/bytes.ptx" --threads 8
expect 2 prove "$source/corpus/prove/bytes.ptx" --assume 'tid < 4'
says err "is of the kernel language"
expect 2 lower --to horn "$source/corpus/prove/bytes.ptx"

sed 's/expect prove: race S/expect prove: race_free/' "$source/corpus/prove/reduction-no-barrier.simt" >claims.simt
expect 1 prove claims.simt
says err "expected race_free, and race-free is refuted"

# Boogie's program is printed by rules of its own, and Boogie finds its own invariants. Its exit status says nothing.
expect 0 lower --to two-thread "$papers/tutorial-add-nbor.simt"
says out "LOG_READ_A" "CHECK_WRITE_A" "const tid\$1: int;"
if command -v boogie >/dev/null; then
    fake z3-for-boogie <<'SOLVER'
[ "$1" = --version ] && exec z3 --version
sed -u '/:model_compress/d' | z3 "$@"
SOLVER
    while read -r name wanted; do
        expect 0 lower --to boogie "$papers/$name.simt"
        mv out "$name.bpl"
        timeout 100 boogie /nologo /contractInfer /noinfer "/z3exe:$PWD/z3-for-boogie" "$name.bpl" >out 2>&1
        says out "$wanted" || failed "boogie $name"
    done <<'TABLE'
lockstep-fig1a 1 verified, 0 errors
lockstep-fig1a-no-first-barrier 0 verified
tutorial-add-nbor 0 verified
tutorial-add-nbor-barrier 1 verified, 0 errors
tutorial-diverge1 0 verified, 1 error
tutorial-third-thread 0 verified, 1 error
TABLE
fi

if command -v cvc5 >/dev/null; then
    expect 0 prove "$papers/lockstep-fig1a.simt" --second 'cvc5 --lang smt2 --incremental --rlimit-per=200000' --json
    says out '"verdict": "proved"'
    grep -q '"confirmed": [1-9]' out || failed "cvc5 confirms nothing"
fi

# Beside a check, where somebody asks for it.
expect 0 check "$papers/tutorial-stride.simt"
! grep -q proved out || failed "a proof that nobody asked for"
expect 0 check --prove "$papers/tutorial-stride.simt"
says out "proved: no input and no schedule of this launch makes threads race"
expect 0 check --prove "$papers/tutorial-diverge1.simt"
says out "refuted: divergence: threads: barrier_divergence"

# What a kernel says of itself: with its invariant it is proved (corpus/prove, above), without it is not; one that is
# false is refuted, by executions, too; what nothing meets is no proof; a launch that is not meant is refused.
sed '/invariant (/d' "$source/corpus/prove/invariant.simt" >without.simt
expect 1 prove without.simt --budget 100000
says out "bounded   without.simt"
sed 's/^    left = tid;/    requires threads <= 8;\n&/' "$source/corpus/prove/invariant.simt" >within.simt
expect 0 prove within.simt --budget 500000 --json
says out '"under": ["requires threads <= 8;"]' "thread 1: invariant (left ^ right) == tid"
expect 2 prove within.simt --set threads=16
says err "the launch (threads = 16, warp = 4, blocks = 1) does not meet 'requires threads <= 8;'"
expect 2 check within.simt --set threads=16
says err "does not meet"
sed '/expect/d' "$source/corpus/prove/invariant-false.simt" >false.simt
expect 0 prove false.simt
says out "asserts hold: refuted (threads: assert_fails: thread 0 at line 8: invariant i < threads;)"
expect 0 prove false.simt --annotations assume
says out "asserts hold: proved (no assertion)" "under: invariant i < threads;"
sed 's/i < threads;/i > 99;/' false.simt >nothing.simt
expect 1 prove nothing.simt --annotations assume
says out "race-free: unknown (nothing meets what is given at line 8: no proof would mean anything)"
expect 0 lower false.simt
says out "invariant i < threads;"
expect 0 lower false.simt --to boogie
says out "// of each thread, where it comes there: invariant i < threads" '==> bvslt(i$1, 4bv32))'

# A refutation can be seen without the prover: the inputs are in the file.
expect 2 prove "$papers/tutorial-add-nbor.simt" --dump "$source/README.md"
says err "Not a directory"
expect 1 prove "$papers/tutorial-add-nbor.simt" --dump queries
says out "shown by: simtfuzz check queries/refuted-0.simt"
expect 1 check queries/refuted-0.simt
says out race
z3 queries/query-0001.smt2 >again 2>&1
says again sat

# What reads give: with --memory adv nothing is known of what a thread wrote itself.
cat >own.simt <<'KERNEL'
launch(threads=4);
shared int S[4];
global int A[4];
kernel k()
{
    S[tid] = tid;
    A[S[tid]] = 1;
}
KERNEL
expect 0 prove own.simt
expect 1 prove own.simt --memory adv
says out "alarm" "It rests on values made up: what line 7 reads from S"

# Threads 0 and 1 have ended where the others meet: nobody comes to the race behind, which is no fault of the prover.
printf 'launch(threads=4, warp=4, blocks=2); global int A[8]; private int i;\nkernel k() { if (tid < 2) { return; } barrier(); i = A[tid]; A[tid] = bid; }\n' >parted.simt
expect 1 prove parted.simt
says out "alarm" "threads part at a barrier"

# Each of these a prover misses that has one rule wrong: barriers of one block empty no other's notes; who dies does not
# make what was before undone; memory behind a barrier is the others', too; a trip that was not unrolled; an atomic
# and a read; one thread's two accesses are no race; what is written in a loop's earlier trip.
while IFS='|' read -r rule wanted launch text; do
    printf 'launch(%s);\nglobal int A[8];\nshared int S[4] = {0, 1, 2, 3};\nprivate int i;\nkernel k() { %s }\n' \
        "$launch" "$text" >rule.simt
    [ "$wanted" = proved ] && status=0 || status=1
    expect $status prove rule.simt --runs 2
    says out "race-free: $wanted" || failed "rule $rule"
done <<'TABLE'
blocks|refuted|threads=2, blocks=2|if (bid == 0) { A[tid] = 1; } barrier(); if (bid == 1) { A[tid] = 2; }
death|refuted|threads=2|if (tid == 0) { A[0] = 1; A[tid + 8] = 0; } if (tid == 1) { A[0] = 2; }
memory|refuted|threads=4|S[tid] = 0; barrier(); A[S[tid + 1 & 3]] = tid;
trips|refuted|threads=2|for (i = 0; i < 10; i += 1) { if (i == 8) { A[0] = tid; } }
atomic|refuted|threads=2|atomic_add(A[0], 1); if (tid == 1) { i = A[0]; }
alone|proved|threads=2|A[tid] = 1; A[tid] = 2;
earlier|refuted|threads=2|for (i = 0; i < 9; i += 1) { A[i + tid & 7] = i; }
between|proved|threads=2|for (i = 0; i < 9; i += 1) { A[i + tid & 7] = i; barrier(); }
TABLE

# Generated kernels, each proof compared with executions.
expect 0 prove --seed 5 --first 100 --count 5 --features none,loops,barriers,racy,arrays --enumerate --runs 2 --json
json
[ "$(grep -c '"verdict": "wrong"' out)" -eq 0 ] || failed "a wrong proof"
expect 0 prove --seed 5 --first 100 --count 2 --features none,loops,barriers,arrays --enumerate
says out "case 100" "2 kernels: 2 proved"
finish
