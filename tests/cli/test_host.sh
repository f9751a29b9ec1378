#!/usr/bin/env bash
# Host programs: what check and trace say of them, and errors with their lines.
. "$(dirname "$0")/common.sh"

# tells FILE STATUS TEXT: check ends so, and says so.
tells() {
    expect "$2" check "$1"
    cat err >>out
    says out "$3"
}

program="$source/corpus/host/double-buffer.host"
tells "$program" 0 '(2 launches, 2 blocks; 34 executions on 5 devices, one result)'

# The scenarios of grids, contexts and the device: their claims hold, and a wrong one is found.
expect 0 check "$source/corpus/host"
[ "$(grep -c '^clean .*/dv/DV\..*claims hold' out)" = 20 ] || failed "20 scenarios: $(cat out)"
sed 's/^claim printed: outcomes 0 1/claim printed: outcomes 0/' "$source/corpus/host/dv/DV.02.host" >wrong.host
tells wrong.host 1 'line 15: printed: the outcomes are {0 1}, not {0}'

# Claims are searched for; an expect beside them would be asked by nobody.
printf 'buffer a[1]\nobserve a[0]\nclaim sc: outcomes 0\nexpect a[0] == 1\n' >both.host
tells both.host 2 'both.host:4:1: error: a program with claims is searched, and no `expect` is asked'

# Without the synchronisation the host reads what the copies still write.
sed '/^free/d; s/^sync$//' "$program" >no-sync.host
tells no-sync.host 1 'line 33: result[0] is accessed by the copy of line 27 and by the expect of line 33'

# Streams that wait for each other.
cat >deadlock.host <<'END'
stream s
stream t
event e
event g
wait e stream=s
record g stream=s
wait g stream=t
record e stream=t
sync
END
tells deadlock.host 2 'deadlock.host:5:1: error: deadlock: `wait` in line 5 in stream s'

cat >bad.host <<'END'
host h[4]
buffer a[4]
copy h -> a from=2
free a
free a
END
tells bad.host 2 "bad.host:5:6: error: buffer 'a' was freed in line 4"
sed 5d bad.host >bounds.host
tells bounds.host 2 "bounds.host:3:1: error: out of bounds: a copy of words 2 to 5 of 'h', which has 4"

# Blocks that wait for each other: it ends, and relies on both being resident.
cat >spin.host <<'END'
kernel spin
    launch(threads = 1);
    global int flag[1];
    private int v;
    kernel spin() {
        if (bid == 1)
            atomic_exch(flag[0], 1);
        else {
            v = 0;
            while (v == 0)
                v = atomic_add(flag[0], 0);
        }
    }
end
buffer f[1]
launch spin grid=2 block=1 flag=f
sync
expect f[0] == 1
END
tells spin.host 0 'line 17: note: the program ends, but not on a device that holds one block at a time'
{ echo 'device sms=1 blocks=1'; cat spin.host; } >alone.host
tells alone.host 1 'HANG '
sed 's/^sync/destroy main/' spin.host | sed '/^expect/d' >destroy.host
tells destroy.host 2 "destroy.host:17:1: error: destroy of 'main' in flight: nothing waits for the launch of line 16"
{ echo 'device threads=16'; sed 's/block=1/block=32/' spin.host; } >large.host
tells large.host 2 "large.host:17:1: error: launch of 'spin': too large: no SM takes a block of 32 threads"
sed 's/block=1 flag=f/block=1 shared=102404 flag=f/' spin.host >large.host
tells large.host 2 'large.host:16:1: error:' 'too large: no SM takes a block of 102404 bytes of shared memory'
sed "s: 1=part$::; s:\"../ptx:\"$source/corpus/ptx:" "$source/corpus/host/thousand-blocks.host" >lacks.host
tells lacks.host 2 "lacks.host:7:1: error: launch of 'sum': parameter 'sum_param_1' is not given"

# The scenarios have the same outcomes in the micro steps of caches. A program without a fence goes wrong there.
expect 0 check "$source/corpus/host/dv" --device memory=caches
expect 0 check "$source/corpus/host/last-block.host" --device 'coherent memory=caches words=4'
expect 0 check "$program" --device 'coherent memory=caches'
expect 1 check "$program" --device 'printed memory=caches'
says out "\`expect result == {0, 2, 6, " "does not hold"
expect 0 trace "$program" --device 'coherent memory=caches' --seed 3 -o tape
grep -v written out >traced
expect 0 trace "$program" --device 'coherent memory=caches' --tape tape
grep -v written out | cmp -s - traced || failed "a tape over caches leads elsewhere"
expect 2 check "$program" --device 'memory=caches words=3'
says err "takes lines of 1, 2, 4 or 8 words"
expect 2 check "$program" --device 'memory=l1'
says err "memory is one of \`sc inflight caches\`"

# Operations under way as a whole: what is watched lands like everything else, and a race is told.
cat >move.host <<'END'
kernel move
    launch(threads = 4);
    global int src[4];
    global int dst[4];
    kernel move() {
        dst[tid] = src[tid];
    }
end
buffer a[4] = {5, 6, 7, 8}
buffer b[4]
launch move grid=1 block=4 src=a dst=b
sync
expect b == {5, 6, 7, 8}
END
expect 0 check move.host --device coherent
expect 1 check move.host --device 'coherent drain=none'
says out "\`expect b == {5, 6, 7, 8}\` does not hold on the device"
sed '/^sync/d' move.host >no-sync-move.host
expect 1 check no-sync-move.host --device coherent
says out 'RACE ' 'is accessed by the launch of'
expect 0 run --host --seed 77 --cases 30 --device 'coherent memory=caches'

expect 0 trace spin.host
says out "done after" "grid_issue 2"

# What a bound cuts off is not called clean.
expect 0 check "$program" --budget 20 --json
says out '"verdict": "unknown"' 'not over after 20 steps'

expect 1 check no-sync.host --sarif report.sarif --junit report.xml
says report.sarif '"race"' 'result[0] is accessed by the copy of line 27'
says report.xml 'result[0] is accessed by the copy of line 27'

# Programs that are made, whose verdict is known; the same ones on every machine.
expect 0 run --host --seed 7 --cases 60
says out "host programs: 60 cases, " " 0 findings"
cp out first
expect 0 run --host --seed 7 --cases 60
cmp -s out first || failed "run --host says something else the second time"
expect 0 run --host --seed 7 --cases 5 --json
json

# One with a race, made small: what is left has it, and nothing that it does not need.
for number in $(seq 0 20); do
    expect 0 gen --host --seed 1 --first "$number" --count 1
    grep -q 'a race is known' out && break
done
cp out made.host
expect 1 check made.host
says out "RACE "
expect 0 reduce made.host -o small.host
expect 1 check small.host
says out "RACE "
[ "$(wc -l <small.host)" -lt 25 ] || failed "small.host has $(wc -l <small.host) lines"
expect 2 reduce "$program"
says err "nothing is wrong with it"

# What goes wrong on another device only is made small on that one, and is clean on the usual one still.
expect 0 gen --host --seed 3 --first 11 --count 1
cp out order.host
expect 0 reduce order.host --device order=any -o small.host
expect 0 check small.host
expect 1 check small.host --device order=any
says out 'FAILED '
[ "$(wc -l <small.host)" -lt 40 ] || failed "small.host has $(wc -l <small.host) lines"
expect 2 reduce order.host --device odd=1
says err '--device: a device has no setting `odd`'
expect 2 reduce order.host --keep race
says err "of a host program the kind of check's first finding is kept"
expect 2 reduce 1 --device order=any
says err '--device is for host programs'
sed 's/^launch/lunch/' order.host >word.host
expect 2 reduce word.host
says err '`lunch` begins no statement of a host program'

# On a wrong device programs go wrong: findings like others. What is stopped goes on where it was.
expect 1 run --host --seed 3 --cases 12 --db all.db --device order=any
expect 1 run --host --seed 3 --cases 6 --db parts.db --device order=any
expect 1 run --host --seed 3 --cases 12 --db parts.db --device order=any --resume
says out "host programs: 6 cases, "
expect 0 triage list --db all.db --oracle host
sed 's/c[0-9]* [-0-9]*//g' out >all
expect 0 triage list --db parts.db --oracle host
sed 's/c[0-9]* [-0-9]*//g' out | cmp -s - all || failed "a resumed campaign: $(cat out)"
says out 'host|expectation|expect|'
expect 0 replay 1 --db all.db
expect 0 reduce 1 --db all.db
expect 0 replay 1 --db all.db
says out 'minimised  same: host|expectation|expect|'
expect 0 triage show 1 --db all.db
says out 'minimised kernel (' 'device=order=any' 'triage export 1 --db all.db -o finding-1.host'
expect 0 triage show 1 --db all.db --json
json
expect 1 regress --db all.db
says out 'still shows (raw: shows, minimised: shows)'
expect 0 triage export 1 --db all.db -o found.host
expect 0 check found.host
expect 1 check found.host --device order=any
says out 'FAILED '
expect 2 check found.host --device order=none
says err "--device: "
expect 2 trace --finding 1 --db all.db
says err 'finding 1 is a host program'
expect 0 report --db all.db --html report.html --sarif report.sarif --junit report.xml --markdown report.md
says report.html 'host|expectation|expect|'
says report.sarif 'host|expectation|expect|'

# A schedule is written, and taken again.
expect 0 trace "$program" --seed 5 --device sms=1 -o program.tape
cp out first
expect 0 trace "$program" --tape program.tape --device sms=1
cmp -s out first || failed "a tape leads elsewhere"
expect 0 trace "$program" --seed 6 --device sms=1
cmp -s out first && failed "two seeds, one schedule"
echo 4095 >wrong.tape
expect 2 trace "$program" --tape wrong.tape
says err 'entry 1 cannot be taken'
echo '12 x' >wrong.tape
expect 2 trace "$program" --tape wrong.tape
says err "entry 2 of the tape is no number: 'x'"

finish
