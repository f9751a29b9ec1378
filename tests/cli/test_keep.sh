#!/usr/bin/env bash
# reduce --keep and --test, for all forms; commands that hang, crash, print, kill; --time binds all of it; what is stored
# of a finding as a file, as a trace, as where reduce and replay start.
. "$(dirname "$0")/common.sh"

cat >pad.simt <<'END_OF_FILE'
launch(threads = 4, warp = 4);
shared int x, y, a[4]; private int p, q;
int twice(int v) { return v + v; }
kernel k() {
    p = twice(tid); a[tid] = p;
    barrier();
    if (p > 2) { y = 1; } else { q = 3; }
    x = x + tid;
    barrier();
    a[tid] = a[(tid + 1) % 4] + 1;
    assert(q < 10);
}
expect threads: terminates;
expect threads: race_free;
expect final x == 7;
END_OF_FILE

# keeps WHAT FILE STATEMENTS TEXT...: --keep WHAT leaves so many statements, in which these texts stand.
keeps() {
    local what=$1 file=$2 statements=$3
    shift 3
    expect 0 reduce "$file" --keep "$what" -o "small.${file##*.}"
    says err "statements became $statements,"
    says "small.${file##*.}" "$@"
}

# ---- what subjects are seen to do

keeps race pad.simt 1 "v0 = 0"
keeps race:x pad.simt 1 "shared int x;" "x = 0"
grep -q "shared int [ay]" small.simt && failed "a race on x is kept with other variables: $(cat small.simt)"
expect 0 check --fail-on none small.simt --json
says out '"race": {"location": "x"'
keeps race:a pad.simt 1 "shared int a;"
keeps status:terminated pad.simt 0
keeps expect pad.simt 1 "expect threads: race_free;"
says err "the failure of 'expect threads: race_free'"
sed '/terminates/d; /race_free/d' pad.simt >final.simt
keeps expect final.simt 0 "expect final v0 == 7;"
says err "the failure of 'expect final x == 7'"
keeps expect pad.simt 1
grep -q "final\|terminates" small.simt && failed "another expectation was kept"
expect 1 check small.simt
for what in deadlock oob divergence assert hang race:q race:nobody status:stuck; do
    expect 2 reduce pad.simt --keep "$what"
    says err "does not show" "seen: terminated, a race on x"
done
expect 2 reduce pad.simt --keep racy
says err "nothing called 'racy'" "race:VARIABLE"
expect 2 reduce pad.simt --keep status:
expect 2 reduce pad.simt --keep race --test true
says err "only one of them"
expect 2 reduce 1 --keep race
says err "kernel file" "triage export"
expect 2 reduce pad.simt
says err "needs --signature, --keep or --test"
expect 2 reduce pad.simt --keep race --raw
expect 2 reduce pad.simt --keep race --test-timeout 1

# An ending that the kernel does not have is another kernel's: here all that could go does, but not the guard of the array.
cat >guard.simt <<'END_OF_FILE'
launch(threads = 4, warp = 4);
shared int n = 2, x, a[2];
kernel k() { if (tid < n) { a[tid] = 1; } x = tid; }
END_OF_FILE
keeps race:x guard.simt 1
cat >ends.simt <<'END_OF_FILE'
launch(threads = 2, warp = 2);
shared int a[4]; private int y;
kernel k() { y = 3; if (tid == 1) { barrier(); } a[y] = tid; assert(y == 3); }
END_OF_FILE
keeps divergence ends.simt 2 "barrier()"
sed 's/a\[y\]/a[y + 9]/; s/if (tid == 1) { barrier(); }//' ends.simt >oob.simt
keeps oob oob.simt 1
sed 's/y == 3);/y == 4);/; s/if (tid == 1) { barrier(); }//' ends.simt >assert.simt
keeps assert assert.simt 1 "assert("
echo 'launch(threads = 2); shared int l; kernel k() { l = 3; while (l != 7) l = 1; }' >hang.simt
keeps hang hang.simt 1 "while"
keeps progress:simt hang.simt 1 "while"
expect 0 reduce hang.simt --keep-progress simt -o alias.simt
cmp -s small.simt alias.simt || failed "--keep-progress is not --keep progress:"

# Blocks, and PTX.
expect 0 lower pad.simt --to cfg
sed '/^expect/d' out >pad-blocks.simt
echo 'expect threads: race_free;' | sed 's/threads/interleave/' >>pad-blocks.simt
keeps race:x pad-blocks.simt 1 "Start" "x = "
keeps expect pad-blocks.simt 1 "race_free"
keeps race "$source/corpus/ptx/bins-racy.nvcc.ptx" 3 ".entry"
grep -q "expect" small.ptx && failed "an expectation of another kernel is left"
keeps deadlock "$source/corpus/ptx/bins-divergent.nvcc.ptx" 8 "bar.sync"

# Any number of threads.
for jobs in 1 3; do
    expect 0 reduce pad.simt --keep expect --jobs $jobs --json
    json
    says out '"keeps": "the failure of' '"ending": "minimal"' '"confirmed": true'
    mv out jobs.$jobs
done
cmp -s jobs.1 jobs.3 || failed "--keep expect depends on --jobs"

# ---- a command

cat >noisy.sh <<'END_OF_FILE'
#!/bin/sh
echo out; echo err >&2
[ "$1" = "$SIMTFUZZ_KERNEL" ] && [ "${1##*/}" = kernel.simt ] || exit 3
echo "$1" >>runs
grep -q 'y = 1' "$1"
END_OF_FILE
chmod +x noisy.sh
export TMPDIR=$folder/tmp
mkdir tmp
expect 0 reduce pad.simt --test ./noisy.sh
says err "11 statements became 1"
says out "y = 1;"
grep -q "^out$\|^err$" out err && failed "what the command prints is among ours"
for jobs in 1 3; do
    expect 0 reduce pad.simt --test ./noisy.sh --jobs $jobs --json
    json
    says out '"test": "./noisy.sh"'
    mv out jobs.$jobs
done
cmp -s jobs.1 jobs.3 || failed "--test depends on --jobs"
# Texts are asked about once, but for the given kernel and the result.
cat >count.sh <<'END_OF_FILE'
cksum <"$1" >>texts; grep -q 'y = 1' "$1"
END_OF_FILE
expect 0 reduce pad.simt --test 'sh count.sh'
[ "$(sort texts | uniq -c | awk '$1 > 1' | wc -l)" -le 2 ] || failed "a text was asked about again: $(sort texts | uniq -c | sort -n | tail -3)"
# Expectations stay as long as the command wants them.
expect 0 reduce pad.simt --test "$simtfuzz check \$1 >report; grep -q 'final x == 7' \"\$1\""
says out "expect final x == 7;"
grep -q "terminates" out && failed "an expectation that nobody wants is left"

for bad in false nothing-of-this-name 'kill -9 $PPID; sleep 9; : $1' 'kill -9 0; : $1' 'kill -SEGV $$; : $1' 'exit 300; : $1'; do
    expect 2 reduce pad.simt --test "$bad"
    says err "does not find the kernel interesting: it "
    silent out
done
start=$SECONDS
expect 2 reduce pad.simt --test 'sleep 98 & sleep 99; : $1' --test-timeout 1
says err "took longer than 1 s"
[ $((SECONDS - start)) -lt 30 ] || failed "a hanging command took $((SECONDS - start)) s"
# Some candidates hang it, and one crashes it; what it left running in its group is killed.
cat >hangs.sh <<'END_OF_FILE'
sleep 97 & echo $! >>left
grep -q barrier "$1" || sleep 96
grep -q 'y = 1' "$1" || kill -9 $$
true
END_OF_FILE
expect 0 reduce pad.simt --test 'sh hangs.sh' --test-timeout 1 --tests 4
says err "of the command" "took too long"
# (A killed process is gone when it next would run: a loaded machine takes a moment for that.)
runs() { [ -d "/proc/$1" ] && ! grep -q "^State:.[ZX]" "/proc/$1/status" 2>/dev/null; }
for pid in $(cat left); do
    for _ in $(seq 100); do runs "$pid" || break; sleep 0.1; done
    runs "$pid" && failed "process $pid of a command still runs"
done
# A command that is not reliable is said to be one: here the second answer is another one.
expect 0 reduce pad.simt --test ': $1; n=$(cat n || echo 0); echo $((n + 1)) >n; [ "$n" != 1 ]' --tests 2
says err "not reliable" "the kernel as it is given" "status 1"
[ -z "$(ls tmp)" ] || failed "kernels are left behind: $(ls tmp)"

# ---- --time binds everything: here one question takes longer than all of it

cat >spin.simt <<'END_OF_FILE'
launch(threads = 4, warp = 4);
shared int lock, other[4]; private int x, y;
kernel k() {
    x = tid + tid; other[tid] = x;
    for (y = 0; y < 2; y++) { if (x > 2) other[tid] += y; else { other[tid] -= 1; } }
    if (tid == 0) { other[0] = 7; lock = 1; } else { while (lock != 1) { y = y + 1; y = 5; } }
}
END_OF_FILE
spin=(reduce spin.simt --signature 'liveness|unfair|simt.while_cont|termination' --schedules 9000000)
expect 0 "${spin[@]}" --time 3s -o small.simt
says err "statements became 3," "ended early: time spent, with no time left to ask about the result once more"
[ "$(grep -c ';$' small.simt)" -lt 8 ] || failed "the best so far was not written: $(cat small.simt)"
expect 0 reduce spin.simt --keep hang --schedules 9000000 --time 1s --json
json
says out '"confirmed": false' '"ending": "time spent"' '"kernel": "launch'
expect 0 reduce pad.simt --test 'sleep 0.1; : $1' --time 1s --tests 1000000
says out "kernel k()"
expect 2 reduce pad.simt --test 'sleep 95; : $1' --time 1s
says err "no time to ask"

# ---- what is stored of a finding

expect 0 run --budget 1024 --seed 0x7 --oracles lemmas:strict --features none,loops --cases 8 --jobs 1 --db a.db
signature=$("$simtfuzz" triage list --db a.db --json | sed -n 's/.*"signature": "\([^"]*\)".*/\1/p' | head -1)
expect 0 triage show 1 --db a.db
sed -n 's/^minimised kernel (\([0-9]*\) .*/\1/p; s/^raw kernel (\([0-9]*\) .*/\1/p' out >sizes
{ read -r minimised; read -r raw; } <sizes
says out "simtfuzz trace --finding 1 --db a.db" "simtfuzz triage export 1 --db a.db -o finding-1.simt"
grep "^see its steps: \|^have its file: " out | sed 's/^[^:]*: *simtfuzz //' >advice
while read -r command; do
    # shellcheck disable=SC2086 # words of a command
    expect 0 $command
done <advice

# shown FILE: the command at its head shows the finding.
shown() {
    says "$1" "shows: $signature"
    sed -n "s/^\/\/ with: //p" "$1" >again.sh
    sed -i "s|simtfuzz check|'$simtfuzz' check --json|" again.sh
    bash again.sh >out 2>err
    says out "\"signature\": \"$signature\""
}
shown finding-1.simt
says finding-1.simt "finding 1, minimised, $minimised statements"
"$simtfuzz" check finding-1.simt >/dev/null || failed "check does not take what was exported"
expect 0 triage export 1 --raw --db a.db -o "it's raw.simt"
shown "it's raw.simt"
says "it's raw.simt" "finding 1, raw, $raw statements"
expect 0 triage export 1 --db a.db --json
json
says out '"form": "minimised"' '"kernel": "// finding 1'
expect 2 triage export 99 --db a.db
expect 2 triage export 1 2 --db a.db
expect 2 triage show 1 --raw --db a.db
says err "takes no --raw"

# Its executions: the stored one.
expect 0 trace --finding 1 --db a.db
says out "subject simt" "while"
expect 0 trace --finding 1 --raw --db a.db
[ "$(wc -l <out)" -gt 30 ] || failed "the raw form has a short trace"
expect 0 trace --finding "${signature%|*}" --db a.db --json
json
expect 2 trace --finding 99 --db a.db
expect 2 trace
expect 2 trace pad.simt --finding 1 --db a.db
expect 2 trace pad.simt --raw
says err "for a --finding"

# Where reduce and replay start: the minimised form, unless the raw one is asked for. What comes of it is the same.
"$simtfuzz" triage show 1 --db a.db --json >before
expect 0 reduce 1 --db a.db
says err "$minimised statements became $minimised,"
mv out from-minimised
"$simtfuzz" triage show 1 --db a.db --json >after
cmp -s before after || failed "reducing what is minimal changed the finding"
expect 0 reduce 1 --raw --db a.db
says err "$raw statements became $minimised,"
cmp -s out from-minimised || failed "from the raw form another kernel comes"
expect 0 replay 1 --db a.db --json
says out '"form": "minimised"'
expect 0 replay 1 --raw --db a.db --json
says out '"form": "raw"'

# A finding that is PTX.
expect 0 run --features none,crs --cases 40 --seed 1 --budget 4096 --subjects crs,crs:call-push --db ptx.db
signature=$("$simtfuzz" triage list --db ptx.db --json | sed -n 's/.*"signature": "\([^"]*\)".*/\1/p' | head -1)
id=$("$simtfuzz" triage list --db ptx.db --json | sed -n 's/.*"id": \([0-9]*\),.*/\1/p' | head -1)
expect 0 triage show "$id" --db ptx.db
says out "-o finding-$id.ptx"
expect 0 triage export "$id" --db ptx.db -o finding.ptx
shown finding.ptx
expect 0 trace --finding "$id" --db ptx.db
says out "subject crs:call-push"
finish
