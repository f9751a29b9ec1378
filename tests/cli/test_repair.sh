#!/usr/bin/env bash
# check --outcomes: all outcomes of a racy kernel, how each comes about. check --repair: the one barrier that it lacks.
. "$(dirname "$0")/common.sh"

cat >lost.simt <<'END'
launch(threads = 2, warp = 2);
shared int x;
kernel lost() {
    x = x + 1;
}
END
expect 0 check --outcomes lost.simt
says out '2 outcomes, of all executions; there are data races' '1. x = 2, after 6 steps' '2. x = 1, after 6 steps' \
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
says out '7 outcomes, of all executions' '    a barrier before line 6 (x = a[(tid + 1) % 3];): no race, one result, and what the kernel expects, in all executions' \
    'of the other places 3 still race'
[ "$(grep -c 'a barrier ' out)" = 1 ] || failed "repairs: $(grep 'a barrier ' out)"
# It does what is said of it.
sed 's/^    x = /    barrier(); x = /; s/, race,/, race_free,/' ring.simt >fixed.simt
expect 0 check --exhaustive fixed.simt
expect 0 check --outcomes --repair fixed.simt
says out '1 outcome, of all executions' 'no race was found: nothing to repair'

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
says out '1 outcome'
expect 0 lower loop.simt --to cfg
sed 's/^expect.*//' out >blocks.simt
expect 2 check --repair blocks.simt
says err 'structured kernels and PTX only'

# PTX: the fence that is missing, as weak as it may be; a fence in front of the flag's read is none, though that is seen only
# where the writer comes between the two.
flag() { # of the writer, of the reader behind the flag, in front of it
    cat <<END
// simtfuzz: threads=1 blocks=2 warp=1 bind:a=buffer:4 bind:f=buffer:4 bind:o=buffer:4
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 f, .param .u64 o)
{
 .reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1, [a];
 ld.param.u64 %rd2, [f];
 ld.param.u64 %rd3, [o];
 mov.u32 %r1, %ctaid.x;
 setp.eq.s32 %p1, %r1, 0;
 @%p1 bra W;
 ${3:-}
 ld.relaxed.gpu.b32 %r2, [%rd2];
 setp.ne.s32 %p2, %r2, 1;
 @%p2 bra E;
 $2
 ld.global.u32 %r3, [%rd1];
 st.global.u32 [%rd3], %r3;
 bra E;
W: st.global.u32 [%rd1], 42;
 $1
 st.relaxed.gpu.b32 [%rd2], 1;
E: ret;
}
END
}
flag 'membar.gl;' '' >acquire.ptx
expect 0 check --repair acquire.ptx
says out 'membar.gl (__threadfence()) before line 17 (@%p2 bra E;): no race, 2 results, in the 1024 executions of block' \
    'membar.gl (__threadfence()) before line 19 (ld.global.u32 %r3, [%rd1];): no race' 'of the other places 7 still race'
flag 'membar.cta;' 'membar.gl;' >narrow.ptx
expect 0 check --repair narrow.ptx
says out 'membar.gl (__threadfence()) before line 24 (st.relaxed.gpu.b32 [%rd2], 1;): no race'
[ "$(grep -c 'no race' out)" = 1 ] || failed "repairs: $(cat out)"
flag '' '' >both.ptx
expect 1 check --repair both.ptx
says out 'no single barrier or fence makes it race-free and correct; 9 places were tried'
flag 'membar.gl;' 'membar.gl;' >fine.ptx
expect 0 check --repair fine.ptx
says out 'no race was found: nothing to repair'
# More schedules are other schedules: one of ten comes between these two.
flag 'membar.gl;' '' 'membar.gl;' >early.ptx
expect 1 check --schedules 2000 early.ptx
says out 'RACY'
# Threads of one warp: __syncwarp() is enough, and of one block __syncthreads() where a warp is not all.
cat >swap.ptx <<'END'
// simtfuzz: threads=8 warp=8
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
 .shared .align 4 .b32 s[8];
 .reg .b32 %r<9>;
 mov.u32 %r1, %tid.x;
 shl.b32 %r2, %r1, 2;
 mov.u32 %r3, s;
 add.u32 %r4, %r3, %r2;
 xor.b32 %r5, %r2, 4;
 add.u32 %r6, %r3, %r5;
 st.shared.u32 [%r4], %r1;
 ld.shared.u32 %r7, [%r6];
 ret;
}
END
expect 0 check --repair swap.ptx
says out 'bar.warp.sync -1 (__syncwarp()) before line 16 (ld.shared.u32 %r7, [%r6];): no race, one result, in the one execution of crs'
sed 's/warp=8/warp=4/; s/xor.b32 %r5, %r2, 4/xor.b32 %r5, %r2, 16/' swap.ptx >block.ptx
expect 0 check --repair block.ptx
says out 'bar.sync 0 (__syncthreads()) before line 16 (ld.shared.u32 %r7, [%r6];): no race, one result'
expect 2 check --repair missing.simt
finish
