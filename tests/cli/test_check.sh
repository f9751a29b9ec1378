#!/usr/bin/env bash
# What `check` says of a kernel whose author expects nothing: one line with who, what and where, the lines quoted; the
# exit status by --fail-on; the same as JSON, SARIF and JUnit.
. "$(dirname "$0")/common.sh"

kernel() { cat >"$1"; }

# says_of FILE STATUS TEXT...: the first line and what else is printed.
says_of() {
    local file=$1 status=$2
    shift 2
    expect "$status" check "$file"
    says out "$@"
}

kernel clean.simt <<'END'
launch(threads = 4, warp = 4);
shared int s[4];
kernel k() { s[tid] = tid; }
END
says_of clean.simt 0 "clean     clean.simt  (27 executions of 9 subjects, sampled)"
expect 0 check --exhaustive --subjects threads clean.simt
says out "clean     clean.simt  (all executions of 1 subject)"

kernel oob.simt <<'END'
launch(threads = 8, warp = 8);
shared int s[8];
kernel k() {
    s[tid + 1] = 1;
}
END
says_of oob.simt 1 "FAULT     oob.simt: out_of_bounds: s[8] of 8 by thread 7 at line 4" "     4 |     s[tid + 1] = 1;"
sed 's/s\[8\]/s[4]/; s/threads = 8/threads = 4, blocks = 2/' oob.simt >blocks.simt
says_of blocks.simt 1 "out_of_bounds: s[4] of 4 by thread 3 of block"

kernel racy.simt <<'END'
launch(threads = 8, warp = 8);
shared int s[8];
private int x;
kernel k() {
    s[tid] = tid;
    x = s[(tid + 1) % 8];
}
END
says_of racy.simt 1 "RACY      racy.simt: thread 0 reads s[1] at line 6, thread 1 writes it at line 5" \
    "     6 |     x = s[(tid + 1) % 8];" "     5 |     s[tid] = tid;"

kernel divergence.simt <<'END'
launch(threads = 4, warp = 2);
kernel k() {
    if (tid < 3)
        barrier();
}
END
says_of divergence.simt 1 "FAULT     divergence.simt: in threads, simt, " ", clean in crs, thread-pc: barrier_divergence: " \
    "threads 0 to 2 wait at line 4, thread 3 has ended" "also FAULT in block, clean in crs, thread-pc: deadlock: "

# Arrays of functions have names, too: of the function that is at fault, behind its parameters and other variables.
kernel local.simt <<'END'
launch(threads = 2, warp = 2);
shared int out[2];
void g(int n) { private int z, v[3], w[2]; w[n] = 1; out[tid] = w[0]; }
void f(int n) { private int t[4]; t[n - 4] = 1; g(n); }
kernel k() { private int q[2]; f(tid + 4); q[tid] = 1; }
END
says_of local.simt 1 "FAULT     local.simt: out_of_bounds: w[4] of 2 by thread 0 at line 3"
kernel own.simt <<'END'
launch(threads = 2, warp = 2);
shared int out[2];
kernel k() { private int p[2], q[2]; q[tid + 1] = 1; out[tid] = p[0] + q[0]; }
END
says_of own.simt 1 "FAULT     own.simt: out_of_bounds: q[2] of 2 by thread 1 at line 3"
cat >local.ptx <<'END'
// simtfuzz: threads=2 warp=2
.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
    .local .align 4 .b8 __local_depot0[16];
    .reg .u32 %r<4>;
    .reg .u64 %d<4>;
    mov.u64 %d1, __local_depot0;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 16;
    add.u64 %d1, %d1, %d2;
    st.local.u32 [%d1+4], 1;
    ret;
}
END
expect 1 check local.ptx
says out "thread 1 at line 14: write of 4 bytes at local address 0x14: byte 20 of __local_depot0, which has 16 bytes"

kernel assert.simt <<'END'
launch(threads = 4, warp = 4);
kernel k() {
    assert(tid < 3);
}
END
says_of assert.simt 1 "FAULT     assert.simt: assert_fails: thread 3 at line 3: assert(tid < 3);"

kernel hang.simt <<'END'
launch(threads = 2, warp = 2);
shared int lock;
kernel k() {
    private int v;
    do {
        v = atomic_cas(lock, 0, 1);
    } while (v);
    atomic_exch(lock, 0);
}
END
says_of hang.simt 1 "HANG      hang.simt: in simt, simt:then-first, lockstep, crs, thread-pc, can end in threads, " "in the loop at line 5"

kernel deadlock.ptx <<'END'
// simtfuzz: entry=k threads=64
.version 7.8
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra A;
    bar.sync 1, 64;
    ret;
A:
    bar.sync 2, 64;
    ret;
}
END
says_of deadlock.ptx 1 "FAULT     deadlock.ptx: deadlock: threads 0 to 31 wait at line 15, threads 32 to 63 wait at line 12"

# Standard input; a kernel that states what it expects is judged by that, and says in brief what happens.
"$simtfuzz" check - <oob.simt >out 2>err
[ $? -eq 1 ] || failed "check - has another exit status"
says out "FAULT     -: out_of_bounds: s[8] of 8"
{ cat racy.simt; echo "expect race s, terminates;"; } >stated.simt
says_of stated.simt 0 "agree     stated.simt  (race)"
{ cat racy.simt; echo "expect race_free;"; } >wrong.simt
says_of wrong.simt 1 "FAILED    wrong.simt  (race)" "     6 |" "expect race_free"

# ---- --fail-on ----

fails_on() { # STATUS LIST FILE
    expect "$1" check --fail-on "$2" "$3"
}
fails_on 0 none racy.simt
fails_on 0 oob,deadlock,divergence,assert,hang,error racy.simt
fails_on 1 race racy.simt
fails_on 1 race:block racy.simt
fails_on 0 race oob.simt
fails_on 1 oob oob.simt
fails_on 1 divergence divergence.simt
fails_on 1 deadlock deadlock.ptx
fails_on 0 divergence deadlock.ptx
fails_on 1 assert assert.simt
fails_on 0 race assert.simt
fails_on 1 hang hang.simt
fails_on 2 races racy.simt
says err "races" "race:SUBJECT"
kernel votes.simt <<'END'
launch(threads = 4, warp = 4);
shared int s[4];
private int x;
kernel k() {
    s[tid] = tid;
    x = s[3 - tid];
}
END
expect 1 check --fail-on race,race:block --subjects threads,simt votes.simt
expect 1 check --fail-on race:threads --subjects threads,simt votes.simt
expect 0 check --fail-on race:block --subjects threads,simt votes.simt

# ---- for machines ----

expect 1 check --json oob.simt
json
says out '"headline": {"word": "FAULT"' '"kind": "oob", "subjects": ["threads", ' '"variable": "s", "index": 8, "length": 8' \
    '"thread": 7, "block": 0' '"error": "out_of_bounds: s[8] of 8 by thread 7 at line 4"'
expect 1 check --json deadlock.ptx
json
says out '"waiting": [{"thread": 0, "state": "waiting", "line": 15}'
expect 1 check clean.simt oob.simt racy.simt --sarif all.sarif --junit all.xml
says out "3 kernels: 1 agree" "2 that race or fault"
says all.sarif '"version": "2.1.0"' '"ruleId": "oob", "level": "error"' '"uri": "oob.simt"' '"startLine": 4' '"ruleId": "race"'
says all.xml 'tests="3" failures="2"' 'classname="clean.simt" name="k" time="0"/>' 'type="oob"'
expect 3 check clean.simt --sarif "$folder/none/all.sarif"

# ---- words of other languages; long chains ----

kernel cuda.simt <<'END'
__global__ void k(int *a) {
    __shared__ int s[32];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
}
END
expect 2 check cuda.simt
says err "cuda.simt:1:1: error: '__global__' is CUDA C or OpenCL C; in the kernel language a kernel is written 'kernel k() { ... }'"
[ "$(grep -c error: err)" -eq 1 ] || failed "more than one error about CUDA words"
{
    echo "launch(threads = 1, warp = 1); private int x; kernel k() {"
    printf 'x = 1'
    for ((i = 0; i < 1000; i++)); do printf ' + 1'; done
    echo ";"
    for ((i = 0; i < 500; i++)); do echo "if (x == $i) x = $i; else"; done
    echo "; }"
} >chains.simt
says_of chains.simt 0 "clean     chains.simt"


# What is suppressed is no headline; a device is for host programs.
printf 'launch(threads = 2, warp = 2);\nshared int x;\nkernel k() { x = tid; }\n' >pair.simt
expect 1 check pair.simt
echo 'race pair.simt:3' >known.txt
expect 0 check pair.simt --suppress known.txt
says out 'suppressed pair.simt' 'note: known.txt suppresses: RACY'
expect 0 check pair.simt --suppress known.txt --json
says out '"word": "suppressed"' '"suppressed": 1'
expect 2 check pair.simt --device sms=1
says err '--device is for host programs'
for other in --subjects=crs --exhaustive; do
    expect 2 check "$source/corpus/host/double-buffer.host" $other
    says err "${other%=*} is for kernels"
done
finish
