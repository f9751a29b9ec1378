#!/usr/bin/env bash
# progress: the catalogue's tables (simt-structured, sections 10 and 11), loops that replay, bounds, garbage.
. "$(dirname "$0")/common.sh"
papers=$source/corpus/papers

# verdict UNITS MODEL: of the table in out, by its first letter: e ends always, h hangs always, m may hang.
verdict() {
    awk -v units="$1" -v model="$2" '$1 == units && $2 == model { print substr($3, 1, 1); exit }' out
}

# matrix KERNEL ROW: warps simt, then-first, minpc, oldest, rr, majority, minority; threads unfair, hsa, obe, hsa-obe, lobe, fair.
matrix() {
    local got= model
    expect 0 progress "$papers/$1.simt"
    silent err
    for model in simt simt:then-first stackless:minpc stackless:oldest stackless:rr stackless:majority stackless:minority; do
        got+=$(verdict warps $model)
    done
    got+=' '
    for model in unfair hsa obe hsa-obe lobe fair; do
        got+=$(verdict threads $model)
    done
    [ "$got" = "$2" ] || failed "$1: $got, not $2"
}

for n in 2 3 4; do
    many=h
    [ $n -gt 2 ] || many=e
    matrix p2-n$n "heeee${many}e memeee"
    matrix p2r-n$n "ehhee${many}e memeee"
    matrix p3-n$n "hhhee${many}e memeee"
done
matrix p4-n2 "eeeeehh mmmmme"
matrix p4-n3 "eeeeehe mmmmme"
matrix p4-n4 "eeeeehe mmmmme"
for p in p2 p2r p3 p4; do
    matrix $p-n1 "eeeeeee eeeeee"
done

expect 0 progress "$papers/p3-n3.simt"
says out "threads 1, 2 spin on lock at line 8; thread 0 would write it at line 10, but its warp runs the other path first" \
    "but it has not begun, and need not"

# How verdicts differ.
expect 0 progress "$papers/p2-n2.simt"
says out "stack-unfair: " "policy-unfair: " "model-dependent: "
expect 0 progress "$papers/p2-n1.simt"
grep -q "unfair: \|dependent: " out && failed "one thread: verdicts differ"
# Block form: who has finished the text is no unit that strong fairness asks for.
expect 0 progress "$source/corpus/progress/finished-text-of-two.simt" --json
[ "$(grep -o '"ends always", "ends_strongly_fair": true' out | wc -l)" = 4 ] || failed "strong fairness of a finished text: $(cat out)"
! grep -q '"ends always", "ends_strongly_fair": false' out || failed "weakly fair ends, strongly fair does not"

expect 0 progress "$papers/p2-n2.simt" --json
says out '"classes": ["stack-unfair", "policy-unfair", "model-dependent"]'

# How executions end that do: in an error, all or some; where nothing can loop, too.
kernel() {
    echo "launch(threads = 2, warp = 1); shared int a[2], x; kernel k() { private int y; $1 }" >ends.simt
    expect 0 progress ends.simt
    silent err
}
kernel 'if (tid == 0) barrier();'
says out "simt                            ends always: barrier_divergence" "hsa                             ends always: barrier_divergence" \
    "stackless:rr                    ends always: barrier_divergence"
kernel 'if (tid) x = 2; while (x == 0) ; a[x] = 1;'
says out "obe                             may hang, or ends in out_of_bounds" "fair                            ends always: out_of_bounds" \
    "stackless:dmaj                  hangs always  "
kernel 'if (tid == 0) x = 1; else y = x; assert(!y); while (y) ;'
says out "obe                             ends always, some in assert_fails" "stackless:its                   ends always: assert_fails"
expect 0 progress ends.simt --json
json
says out '"model": "obe", "units": "threads", "subject": "threads", "verdict": "ends always", "ends_strongly_fair": true, "why": "all 11 states", "ends_in": ["terminated", "assert_fails"], "ends_in_all": true}'
# No loop, and one execution would not tell: the assert fails if thread 1 is late.
kernel 'if (tid == 0) x = 1; else y = x; assert(!y);'
says out "fair                            ends always, some in assert_fails"
kernel 'x = 1;'
grep -q "ends always[:,]" out && failed "an end that is none of error is spoken of"
cat >deadlock.ptx <<'EOF'
// simtfuzz: threads=4 warp=2
.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
.reg .pred p; .reg .b32 r<3>;
mov.u32 r1, %tid.x;
setp.lt.u32 p, r1, 2;
@p bra A;
bar.sync 1, 4;
bra E;
A: bar.sync 2, 4;
E: exit;
}
EOF
expect 0 progress deadlock.ptx
says out "crs                             ends always: deadlock" "lobe                            ends always: deadlock"

# The loop of a hang is a tape that the tracer takes: it runs to the loop and once through.
expect 0 progress "$papers/p2-n2.simt" --json
json
stem=$(sed 's/.*"model": "obe"[^{]*"stem": "\([^"]*\)", .*/\1/' out)
loop=$(sed 's/.*"model": "obe"[^{]*"stem": "[^"]*", "loop": "\([^"]*\)".*/\1/' out)
echo "$stem $loop $loop" >tape
expect 0 trace "$papers/p2-n2.simt" --subject threads --schedule tape:tape --max-steps 8
says out "while° (lock != 1)" "step_limit after 8 steps"

# A bound is no verdict; no loop needs none.
expect 0 progress "$papers/p3-n4.simt" --max-states 10
[ "$(verdict threads fair)" = u ] || failed "a bound gives a verdict"
says out "the search was cut off: states"
expect 0 progress "$papers/incr-n8.simt" --max-states 10
[ "$(verdict threads fair)" = e ] || failed "a kernel without a loop is not said to end"

# Nor do executions that are all alike. A conflict, of atomics too, or a choice inside of a step makes them others.
alike() {
    cat >alike.simt
    expect 0 progress alike.simt --max-states 3 --samples 0
    [ "$(verdict threads fair)$(verdict warps simt)" = "$1" ] ||
        failed "$2: $(verdict threads fair)$(verdict warps simt)"
}
alike ee "no conflict" <<'END'
launch(threads = 40, warp = 8);
shared int s[40], n[40];
kernel k() {
    n[tid] = tid;
    barrier();
    while (s[tid] < n[(tid + 1) % 40])
        s[tid] += n[(tid + 1) % 40] > 0;
}
END
alike uu "a race" <<'END'
launch(threads = 40, warp = 8);
shared int s[40], n[40];
kernel k() {
    n[tid] = tid;
    while (s[tid] < n[(tid + 1) % 40])
        s[tid] += n[(tid + 1) % 40] > 0;
}
END
alike uu "atomics" <<'END'
launch(threads = 4, warp = 2);
shared int n, s[4];
kernel k() {
    private int i;
    i = atomic_add(n, 1);
    while (s[tid] < i)
        s[tid]++;
}
END

# Generated kernels about waiting: the same sums with any number of workers; all tiny programs of one access
# (48) and some of two end as these few accesses say; nothing breaks an implication.
for jobs in 1 3; do
    expect 0 survey --seed 5 --cases 40 --jobs $jobs
    mv out survey.$jobs
done
cmp -s survey.1 survey.3 || failed "a survey depends on the number of workers"
says survey.1 "stack-unfair: " "policy-unfair: " "model-dependent: " "implications broken: 0" "stackless:oldest"
expect 0 survey --enumerate --cases 48 --jobs 2
says out "48 cases, 48 kernels" "implications broken: 0"
[ "$(awk '$1 == "threads" && $2 == "fair" { print $3, $5, $6 }' out)" = "30 0 18" ] ||
    failed "tiny programs of one access: $(grep 'threads  fair' out)"
expect 0 survey --enumerate --cases 48 --json
json
grep -q '"model": "obe", "ends": 30' out || failed "survey --json lacks a model"
expect 2 survey kernel.simt
# --time ends a survey with what the kernels until then show.
expect 0 survey --cases 100000000 --time 1s --jobs 2
says err "the time is over: this is what the cases until then show"
says out "stack-unfair: " "implications broken: 0"

# Where the states are too many, sampled schedules may refute, and nothing else.
expect 0 progress "$papers/p4-n4.simt" --max-states 10
for model in unfair hsa obe hsa-obe lobe; do
    [ "$(verdict threads $model)" = m ] || failed "no sampled schedule of $model hangs: $(verdict threads $model)"
done
[ "$(verdict threads fair)" = u ] || failed "sampled schedules decide fair: $(verdict threads fair)"
says out "may hang (sampled)" "no loop in"
expect 0 progress "$papers/p4-n4.simt" --max-states 10 --samples 0
[ "$(verdict threads unfair)" = u ] || failed "a hang without a sample"
# More units than the graph can take; the witness is a tape; the same bytes from the same seed.
expect 0 progress "$papers/p2-n2.simt" --set threads=130,warp=32 --json --samples 10000 --seed 7 --max-states 1000
json
grep -q '"model": "obe", "units": "threads", [^{]*"verdict": "may hang", [^{]*"sampled": true' out || failed "130 threads: obe"
grep -q '"model": "fair", "units": "threads", [^{]*"verdict": "unknown at bound"' out || failed "130 threads: fair"
stem=$(sed 's/.*"model": "obe"[^{]*"stem": "\([^"]*\)", .*/\1/' out)
loop=$(sed 's/.*"model": "obe"[^{]*"stem": "[^"]*", "loop": "\([^"]*\)".*/\1/' out)
cp out first
expect 0 progress "$papers/p2-n2.simt" --set threads=130,warp=32 --json --samples 10000 --seed 7 --max-states 1000
cmp -s out first || failed "the same seed, other samples"
echo "$stem $loop $loop" >tape
expect 0 trace "$papers/p2-n2.simt" --set threads=130,warp=32 --subject threads --schedule tape:tape --max-steps 12
says out "while° (lock != 1)" "step_limit after 12 steps"
# Interrupted: what was found is printed, the rest is unknown.
rm -f out
"$simtfuzz" progress "$papers/p2-n1.simt" "$papers/p4-n4.simt" "$papers/p2-n2.simt" --max-states 30 \
    --samples 0xffffffffffff --json >out 2>err </dev/null &
child=$!
until [ -s out ]; do sleep 0.1; done
sleep 0.5
kill -INT $child
wait $child
status=$?
[ $status -eq 4 ] || failed "interrupted: exit status $status"
says err "interrupted"
json
[ "$(wc -l <out)" -eq 2 ] || failed "interrupted: $(wc -l <out) kernels"
says out "interrupted"

# What a kernel states of its rows; what is said of single ones counts more, in any order.
states() {
    { grep -v '^expect' "$papers/p2-n2.simt"; echo "expect progress: $1;"; } >stated.simt
}
expect 0 progress "$papers/p2-n2.simt" --expect
cp out line
says out "expect progress: hangs warps simt stackless:dws-loops blocks lockstep, may-hang threads unfair obe, ends *;"
states "$(sed 's/^expect progress: \(.*\);$/\1/' line)"
expect 0 progress stated.simt
expect 0 check --fail-on none stated.simt
states "ends *, may-hang threads obe, may-hang threads unfair, hangs blocks lockstep warps simt stackless:dws-loops"
expect 0 check --fail-on none stated.simt
states "ends * threads hsa, hangs blocks lockstep warps simt stackless:dws-loops, may-hang threads *, ends threads hsa-obe lobe fair"
expect 0 check --fail-on none stated.simt
states "ends *, hangs blocks lockstep warps simt stackless:dws-loops, may-hang threads obe, hangs threads unfair, unknown threads fair"
expect 1 progress stated.simt
says out "line 14: expect progress: hangs threads unfair, but it is: may-hang"
grep -q "threads fair, but" out && failed "a row that is unknown within narrower bounds is said to differ"
expect 1 check stated.simt
says out FAILED "expect progress: unknown threads fair, but it is: ends" "hangs threads unfair, but it is: may-hang"
expect 1 check stated.simt --json
json
says out '"progress": {"not_asked": null, "broken": null, "differences": [{"line": 14, "row": "threads unfair", "expected": "hangs", "seen": "may-hang"}'
states "ends warps *, ends blocks fair"
expect 1 check stated.simt
says out "expect progress says nothing about threads fair, which is: ends" \
    "expect progress: ends blocks fair, but the matrix has no such row"
expect 0 check --fail-on none stated.simt --subjects simt
says out "not asked: not all subjects were run"
expect 0 check --fail-on none stated.simt --set warp=1
says out "not asked: it is about the launch in the file"
states "ends *, unknown threads fair"
sed -i 's/progress:/progress within 6:/' stated.simt
expect 1 check stated.simt
grep -q "threads fair" out && failed "fair is not unknown within 6 states"
says out "expect progress: ends warps simt, but it is: hangs"
sed -i 's/within 6/within 0/' stated.simt
expect 2 check stated.simt
says err "a search keeps 1 to 16777216 states"
states "hang warps simd thread oldest"
expect 2 check stated.simt
says err "stated.simt:14:18: error: 'hang' is no verdict; 'hangs' is meant?"
states "hangs warps simd"
expect 2 check stated.simt
says err "stated.simt:14:30: error: 'simd' is no execution model; 'simt' is meant?"
states "hangs thread obe"
expect 2 check stated.simt
says err "stated.simt:14:24: error: 'thread' is no unit; 'threads' is meant?"
states "hangs x"
expect 2 check stated.simt
says err "'x' is no unit; there are: threads, warps, blocks"
states "hangs warps simt, ends warps crs simt"
expect 2 check stated.simt
says err "these rows have a verdict already, in line 14"
for bad in "" hangs "hangs warps" "hangs warps," "hangs *,"; do
    states "$bad"
    expect 2 check stated.simt
    says err "stated.simt:14:" "error: expected"
done

# Lemma 6: proven, with a bound that decides what the search does not; refuted; neither. A bound of the proof is one, too.
cat >loop.simt <<'END'
launch(threads = 4, warp = 4);
shared int x;
kernel loop() { private int i; for (i = 0; i < 40; i++) x = x + i; }
END
expect 0 progress loop.simt --max-states 10 --samples 1000
says out "Lemma 6: no thread runs for ever, whatever others write: a warp ends within 125 steps, a thread within 205"
for model in unfair hsa fair; do
    [ "$(verdict threads $model)" = e ] || failed "no row by Lemma 6: $model"
done
[ "$(verdict warps simt)" = e ] || failed "no row by Lemma 6: simt"
expect 0 progress loop.simt --max-states 10 --json
json
says out '"lemma_6": {"hypothesis": "holds", "constants": false, "warp_steps": 125, "thread_steps": 205,' '"why": "Lemma 6: each thread within 205 steps"'
expect 0 trace loop.simt --max-steps 1000
says out "terminated after 125 steps"
expect 0 progress loop.simt --max-states 10 --budget 100 --samples 0
says out "Lemma 6: not known whether it applies: more than 100 steps"
[ "$(verdict threads fair)" = u ] || failed "ends within no bound: $(verdict threads fair)"
expect 0 progress "$papers/p4-n2.simt" --json
says out '"lemma_6": {"hypothesis": "fails", "thread": 0, "location": "next",'

# Other launches; what is no kernel.
expect 0 progress "$papers/p2-n2.simt" --set threads=3,warp=1
[ "$(verdict warps obe)" = m ] || failed "warps as units: $(verdict warps obe)"
[ "$(verdict warps simt)" = e ] || failed "P2 in warps of one hangs"
expect 2 progress nowhere.simt
expect 2 progress
expect 2 progress "$papers/p2-n2.simt" --max-states 0
head -c 3000 /dev/urandom >noise.simt
expect 2 progress noise.simt

# Threads that run the same text are alike: a spin lock has all its rows at the width of a real warp, from all states.
expect 0 progress "$source/corpus/regress/spin-lock.simt" --set threads=32,warp=32
for row in "warps simt h" "warps crs h" "blocks lockstep h" "warps stackless:random e" "threads unfair m" "threads hsa m" \
    "threads obe e" "threads hsa-obe e" "threads lobe e" "threads fair e"; do
    read -r units model letter <<<"$row"
    [ "$(verdict "$units" "$model")" = "$letter" ] || failed "32 lanes: $row: $(cat out)"
done
grep -q "unknown\|sampled" out && failed "32 lanes: $(cat out)"

# Rows come as they are known; what is not ready when the time is over says why, and so it is when somebody interrupts.
cat >numbers.simt <<'end'
launch(threads = 12, warp = 4);
global int a[12], b;
kernel numbers() {
    private int i, j;
    while (a[(tid + 1) % 12] == 0 || b < 40) {
        a[tid] = (a[tid] + tid) % 7;
        i = (i + a[(tid + b) % 12]) % 50;
        j = atomic_add(b, tid + i);
    }
}
end
"$simtfuzz" progress numbers.simt --samples 0 --max-states 100000000 >slow 2>err &
pid=$!
for _ in $(seq 300); do
    grep -q "^units" slow && break
    sleep 0.1
done
kill -INT $pid 2>/dev/null
wait $pid
status=$?
[ $status = 4 ] || failed "interrupted: $status"
[ "$(grep -c '^threads .*unknown at bound.*interrupted' slow)" -ge 1 ] || failed "interrupted rows: $(cat slow)"
says err "interrupted: the searches were cut off"
expect 0 progress numbers.simt --samples 0 --max-states 100000000 --time 1s --json
json
says out '"verdict": "unknown at bound"' "the search was cut off: time"
says err "the time is over"
finish
