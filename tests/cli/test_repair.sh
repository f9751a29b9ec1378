#!/usr/bin/env bash
# check --outcomes: all ends of a racy kernel, how each comes about. check --repair: the one barrier that it lacks.
. "$(dirname "$0")/common.sh"

cat >lost.simt <<'END'
launch(threads = 2, warp = 2);
shared int x;
kernel lost() {
    x = x + 1;
}
END
expect 0 check --outcomes lost.simt
says out '2 ends, of all executions; there are data races' '1. x = 2, after 6 steps' '2. x = 1, after 6 steps' \
    'what decides: thread 1 reads x at line 4 before thread 0 writes it at line 4; in 1 it is the other way round'
# The schedule that is shown leads there.
grep -o 'schedule: .*' out | sed -n '2s/schedule: //p' >tape
expect 0 trace lost.simt --subject threads --schedule tape:tape
says out 'shared x = 1'
expect 1 check --repair lost.simt
says out 'of the places 2 still race' 'no single barrier makes it race-free and correct; 2 places were tried'

# Three threads, each reads what its neighbour writes: eight orders but the one that is a circle.
cat >ring.simt <<'END'
launch(threads = 3, warp = 3);
shared int a[3] = {1, 2, 3}, b[3];
kernel neighbour() {
    private int x;
    a[tid] = tid * 10;
    x = a[(tid + 1) % 3];
    b[tid] = x;
}
expect terminates, race, final b == {10, 20, 0};
END
expect 0 check --outcomes --repair ring.simt
says out '7 ends, of all executions' '    a barrier before line 6 (x = a[(tid + 1) % 3];): no race, one result, and what the kernel expects, in all executions' \
    'of the other places 3 still race'
[ "$(grep -c 'a barrier ' out)" = 1 ] || failed "repairs: $(grep 'a barrier ' out)"
# It does what is said of it.
sed 's/^    x = /    barrier(); x = /; s/, race,/, race_free,/' ring.simt >fixed.simt
expect 0 check --exhaustive fixed.simt
expect 0 check --outcomes --repair fixed.simt
says out '1 end, of all executions' 'no race was found: nothing to repair'

# A barrier that not all come to repairs nothing, nor one behind which the result is another than expected.
cat >branch.simt <<'END'
launch(threads = 2, warp = 2);
shared int s, t;
kernel branch() {
    if (tid == 0)
        s = 1;
    else
        t = s;
}
expect final t == 1;
END
expect 1 check --repair branch.simt
says out 'have threads that do not come to the barrier' 'no single barrier'
sed 's/expect final t == 1;/expect final b == {2, 3, 1};/; s/neighbour/backwards/' ring.simt | sed '/^expect terminates/d' >meant.simt
echo 'expect final b == {2, 3, 1};' >>meant.simt
expect 1 check --repair meant.simt
says out '1 break what the kernel expects'
# Loops, functions; an endless kernel; no kernel; other forms.
cat >loop.simt <<'END'
launch(threads = 2, warp = 2);
shared int a[2];
private int i;
void round() {
    a[tid] = a[1 - tid] + 1;
}
kernel loop() {
    while (i < 2) {
        i = i + 1;
    }
    a[tid] = 5;
    i = a[1 - tid];
}
END
expect 0 check --repair loop.simt
says out 'a barrier before line 12 (i = a[1 - tid];): no race, one result, in all executions'
expect 0 check --outcomes "$source/corpus/papers/lockstep-fig3.simt" "$source/corpus/rules/cta-write.ptx"
expect 0 check --outcomes "$source/corpus/progress/spin-lock-outside.simt"
says out '1 end'
expect 2 check --repair "$source/corpus/rules/cta-write.ptx"
says err 'structured kernels only'
expect 2 check --repair missing.simt
finish
