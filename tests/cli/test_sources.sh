#!/usr/bin/env bash
# `simtfuzz check kernel.cu`, `kernel.cl`: compiled, each entry under launches that are made up.
. "$(dirname "$0")/common.sh"

# A compiler that is always there: it takes PTX for CUDA C.
cat >two.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4goodPii(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r5, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	setp.ge.s32 %p1, %r4, %r5;
	@%p1 bra end;
	mul.wide.s32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
end:
	ret;
}
.visible .entry _Z5clashPi(.param .u64 p)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	st.global.u32 [%rd1], %r1;
	ret;
}
END
cat >take.sh <<'END'
[ "$2" = -o ] && cp "$1" "$3"
END
take="sh $PWD/take.sh"
expect 1 check --compiler "$take" two.cu
says out 'clean     two.cu: good' 'RACY      two.cu: clash' 'made up: 5, shown: threads=64x1 blocks=2x1 bind:1=128'
says out 'made up: 2, of which 2 show this'
silent err
expect 0 check --compiler "$take" two.cu --entry _Z4goodPii --set threads=8
says out 'clean     two.cu: good'
expect 1 check --compiler "$take" two.cu --json
json

expect 2 check --compiler false two.cu
says err 'two.cu: false: it failed and said nothing'
expect 2 check --compiler 'echo this is wrong; false' two.cu
says err 'this is wrong'
expect 2 check none.cu
says err 'none.cu: No such file'
printf '.version 8.0\n.target sm_80\n.address_size 64\n' >empty.cu
expect 2 check --compiler "$take" empty.cu
says err 'empty.cu: it has no kernel'
printf 'garbage\n' >garbage.cu
expect 2 check --compiler "$take" garbage.cu
says err 'garbage.cu:1'

# A struct: its size and its pointer are made up from how they are read. Given as zero, the kernel comes to no store.
cat >node.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z1k4nodePi(.param .align 8 .b8 node[24], .param .u64 o)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [node+8];
	ld.param.u32 %r5, [node+16];
	ld.param.u64 %rd2, [o];
	mov.u32 %r3, %tid.x;
	setp.ge.s32 %p1, %r3, %r5;
	@%p1 bra end;
	ld.global.u32 %r4, [%rd1];
	shr.u32 %r3, %r3, 1;
	mul.wide.s32 %rd3, %r3, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], %r4;
end:
	ret;
}
END
expect 0 check --compiler "$take" node.cu --set threads=8
says out 'vacuous   node.cu: k' 'no execution comes to any of its stores'
expect 1 check --compiler "$take" node.cu
says out 'RACY      node.cu: k' 'memory:p0_8=0x500000000000:65536:iota bind:0=words:'

# A compare-and-swap loop whose first read is plain, as CUDA's guide has it: a race, and what to do about it.
cat >guess.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry guess(.param .u64 p)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r4, [%rd1];
L:
	mov.u32 %r1, %r4;
	add.u32 %r2, %r1, 1;
	atom.global.cas.b32 %r4, [%rd1], %r1, %r2;
	setp.ne.u32 %p1, %r4, %r1;
	@%p1 bra L;
	ret;
}
END
expect 1 check guess.ptx
says out 'RACY      guess.ptx: guess: thread' 'the read is the first guess of the compare-and-swap at line 14, which' \
    'or silence it with `race *:10`' 'launches that were made up: 2, of which 2 show this'
sed 's/ld.global.u32 %r4/ld.relaxed.gpu.global.u32 %r4/' guess.ptx >relaxed.ptx
expect 0 check relaxed.ptx

# Launch bounds say how many threads; a kernel that never asks which block it is in is for one.
cat >bounds.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry bounds(.param .u64 p) .maxntid 96, 1, 1
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
END
expect 0 check bounds.ptx
says out 'clean     bounds.ptx: bounds' 'launches that were made up: 1, shown: threads=96x1 blocks=1x1'
# A stored case is of the kernel's own launch, which its tape is of.
expect 0 check bounds.ptx --case 'check-seed=0x1 schedules=2 budget=2000 subjects=crs oracles=race'
if grep -q 'made up' out; then failed "launches are made up for a case: $(cat out)"; fi

# Lanes of one mask at two instructions: no fault, since threads with pcs of their own meet there.
cat >meet.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4meetPi(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	and.b32 %r2, %r1, 1;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra A;
	bar.warp.sync -1;
	bra E;
A:	bar.warp.sync -1;
E:	st.global.u32 [%rd3], %r1;
	ret;
}
END
expect 0 check --compiler "$take" meet.cu --set threads=32
says out 'clean     meet.cu: meet' 'threads with pcs of their own (its) are not' 'stuck'

# A race in one mode only: what the kernel compares with is among the numbers that are drawn. So few inputs do not show it.
cat >mode.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4modePii(.param .u64 p, .param .u32 mode)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r2, [mode];
	mov.u32 %r1, %tid.x;
	setp.ne.s32 %p1, %r2, 4242;
	mov.u64 %rd3, %rd1;
	@!%p1 bra all;
	mov.u32 %r3, %ctaid.x;
	mad.lo.u32 %r3, %r3, 256, %r1;
	mul.wide.s32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
all:
	st.global.u32 [%rd3], %r1;
	ret;
}
END
expect 1 check --compiler "$take" mode.cu
says out 'RACY      mode.cu: mode' 'of which 1 shows this' 'bind:1=4242' '2 of 2 ways of branches taken'
cp out first
expect 1 check --compiler "$take" mode.cu
cmp -s out first || failed 'drawn inputs differ from one run to the next'
expect 0 check --compiler "$take" mode.cu --inputs 8
says out 'clean     mode.cu: mode' 'made up: 5' '1 of 2 ways of branches taken (line 14 of the PTX never jumps)'

# An array that is aligned as for 16 elements, and instructions of whole warps: 32 threads, not 16.
cat >whole.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5wholePi(.param .u64 p)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.reg .pred %p1;
	.shared .align 32 .b8 tile[512];
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 8;
	and.b32 %r2, %r1, 7;
	shl.b32 %r2, %r2, 4;
	mov.u32 %r3, tile;
	add.s32 %r3, %r3, %r2;
	@%p1 st.shared.v4.u32 [%r3], {%r2, %r2, %r2, %r2};
	bar.warp.sync -1;
	.loc	1 7 3
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];
	mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r2, %r2, 64, %r1;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
	ret;
}
	.file	1 "/somewhere/whole.cu"
END
expect 0 check --compiler "$take" whole.cu
says out 'clean     whole.cu: whole' 'shown: threads=32x1' \
    "block did not run: unsupported instruction 'bar' of a whole warp at line 18"

# Rows are n long: with fewer than a row has threads they would meet, and nobody launches that.
cat >plane.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5planePii(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r4, %r2, %r3, %r4;
	mov.u32 %r5, %ctaid.y;
	mov.u32 %r6, %ntid.y;
	mov.u32 %r7, %tid.y;
	mad.lo.u32 %r7, %r5, %r6, %r7;
	setp.lt.s32 %p1, %r1, 3;
	@%p1 bra out;
	add.s32 %r3, %r7, 1;
out:
	mad.lo.s32 %r8, %r7, %r1, %r4;
	mul.wide.s32 %rd2, %r8, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r3;
	ret;
}
END
expect 0 check --compiler "$take" plane.cu
says out 'clean     plane.cu: plane' 'threads=8x8 blocks=2x2 bind:1=16' '1 of 2 ways of branches taken'

# A guard of i <= n in place of i < n: a buffer of n elements is left. A step too far behind a guard that is right may be
# meant, but what buffers must hold is said.
edge() { # COMPARISON, what is added to the address, exit status
    cat >edge.cu <<END
.version 6.0
.target sm_70
.address_size 64

.visible .entry edge(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mad.lo.u32 %r1, %r3, %r4, %r1;
	setp.$1.s32 %p1, %r1, %r2;
	@!%p1 bra out;
	mul.wide.s32 %rd2, %r1, 4;
	add.s64 %rd2, %rd1, %rd2;
	st.global.u32 [%rd2+$2], %r1;
out:
	ret;
}
END
    expect "$3" check --compiler "$take" edge.cu
}
edge le 0 1
says out 'FAULT     edge.cu: edge: out_of_bounds: thread 61 of block 1' 'which has 500 bytes' \
    'a guard lets the thread of number n pass' 'threads=64 blocks=2 bind:1=125 bind:0=buffer:500:iota' \
    'note: where numbers are n, parameter 0 must have n + 1 elements of 4 bytes'
edge lt 4 0
says out 'clean     edge.cu' 'note: where numbers are n, parameter 0 must have n + 1 elements of 4 bytes'
edge lt 0 0
grep -q 'must have' out && failed 'a buffer of n elements is said to need more'

if command -v clang-14 >/dev/null; then
    cat >math.cl <<'END'
__kernel void math(__global float4 *a, __global int *o)
{
    size_t i = get_global_id(0) + get_global_offset(0);
    o[i] = get_work_dim() + any(a[i] > 0.5f) + all(isnan(a[i])) + max(1, 2);
    a[i] = sign(a[i]) + native_exp(a[i]) + pow(a[i], 2.0f);
}
END
    expect 0 check math.cl
    says out 'clean     math.cl: math'
    # What threads of a work-group tell each other, conversions that round and saturate; asserted, so that a wrong value
    # traps.
    cat >group.cl <<'END'
__kernel void group(__global float4 *f, __global uchar4 *c, __global int *o)
{
    int t = get_local_id(0), n = get_local_size(0), bad = 0;
    bad |= work_group_reduce_add(t) != n * (n - 1) / 2;
    bad |= work_group_scan_exclusive_add(t) != t * (t - 1) / 2;
    bad |= work_group_scan_inclusive_max((float)(t ^ 1)) < (float)t - 1;
    bad |= work_group_reduce_min((ulong)t + 5) != 5;
    bad |= work_group_broadcast(t * 3, n - 1) != (n - 1) * 3;
    bad |= !work_group_any(t == 3) || work_group_all(t == 3) || !work_group_all(t >= 0);
    float x = (float)(t - t);
    uchar4 u = convert_uchar4_sat_rte((float4)(x - 4.0f, x + 2.5f, x + 3.5f, x + 300.0f));
    bad |= u.x != 0 || u.y != 2 || u.z != 4 || u.w != 255;
    bad |= convert_int_rtp(x + 1.25f) != 2 || convert_int_rtn(x - 1.25f) != -2 || convert_int_rtz(x - 1.75f) != -1;
    bad |= convert_short_sat(t + 40000) != 32767 || convert_char_sat(-t - 200) != -128 || convert_uint_sat(-1 - t) != 0;
    bad |= convert_int_sat(x + 3e9f) != 2147483647;
    c[get_global_id(0)] = convert_uchar4_sat(f[get_global_id(0)]);
    if (bad)
        __builtin_trap();
    o[get_global_id(0)] = bad;
}
END
    expect 0 check group.cl --set threads=24 --set blocks=2
    says out 'clean     group.cl: group'
    sed 's/n \* (n - 1) \/ 2/n/' group.cl >groups.cl
    expect 1 check groups.cl --set threads=24 --set blocks=2
    says out 'FAULT     groups.cl: group: '
    printf 'float dot(float a, float b) { return a - b; }\n__kernel void own(__global float *a) { a[get_global_id(0)] = dot(a[0], 1); }\n' >own.cl
    expect 1 check own.cl
    says out 'own.cl: own'
    cat >turn.cl <<'END'
__kernel void turn(__global int *x, __local int *s)
{
    int i = get_local_id(0);
    s[i] = i;
    x[get_global_id(0)] = s[(i + 1) % get_local_size(0)];
}
__kernel void bins(__global const int *d, __global int *b, int n)
{
    __local int m[16];
    int t = get_local_id(0);
    m[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&m[d[i] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&b[t], m[t]);
}
END
    expect 1 check turn.cl
    says out 'RACY      turn.cl: turn: ' '(turn.cl:5)' 'clean     turn.cl: bins' 'threads=16x1'
    # An array of 64 int4 has 256 words: the launch that is made up has a thread an element.
    cat >tile.cl <<'END'
__kernel void tile(__global const int4 *in, __global int4 *out)
{
    __local int4 s[64];
    int i = get_local_id(0);
    s[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[get_local_size(0) - 1 - i];
}
END
    expect 0 check tile.cl
    says out 'clean     tile.cl: tile' 'threads=64x1'
    # Numbers that nobody would draw, behind one another: the solver says which.
    cat >deep.cl <<'END'
__kernel void deep(__global int *out, int n, int m, uint k)
{
    int i = get_global_id(0);
    out[i] = i;
    if (n * 7 + m == 123457)
        if ((m & 1023) == 77 && n > 5000)
            if ((k ^ 0x5a5a5a5au) >> 7 == 12345)
                out[0] = i;
}
END
    if command -v z3 >/dev/null; then
        expect 1 check deep.cl
        says out 'RACY      deep.cl: deep' '(deep.cl:8)' 'of which 1 shows this' '4 of 4 ways of branches taken'
    fi
    # Rows of 64, of which the array has two, and a row with an element more at both ends: as many threads as the
    # indices have room for, and buffers as long as they are accessed. An index that goes a step too far is found.
    cat >rows.cl <<'END'
__kernel void rows(__global const int *in, __global int *out, int n)
{
    __local int s[2][64];
    int t = get_local_id(0), b = 0, sum = 0;
    s[0][t] = in[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 1; i < n; i++) {
        s[b ^ 1][t] = in[i * 64 + t];
        sum += s[b][63 - t];
        barrier(CLK_LOCAL_MEM_FENCE);
        b ^= 1;
    }
    out[get_global_id(0)] = sum + s[b][63 - t];
}
__kernel void halo(__global const int *in, __global int *out)
{
    __local int s[66];
    int t = get_local_id(0);
    s[t + 1] = in[t + 1];
    if (t == 0)
        s[0] = in[0], s[65] = in[65];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[t] + s[t + 1] + s[t + 2];
}
END
    expect 0 check rows.cl
    says out 'clean     rows.cl: rows' 'threads=64x1 blocks=2x1 bind:2=128 bind:0=buffer:' 'clean     rows.cl: halo'
    sed 's/s\[t + 2\];/s[t + 3];/; s/\[2\]\[64\]/[2][63]/' rows.cl >far.cl
    expect 1 check far.cl
    says out 'far.cl: halo: out_of_bounds: ' 'far.cl: rows: out_of_bounds: '
    grep -A3 'far.cl: halo: out' out >halo
    says halo '    23 |     out[get_global_id(0)] = s[t]'
    sed 's/s\[i\] = i;/s[i] = oops;/' turn.cl >wrong.cl
    expect 2 check wrong.cl
    says err "undeclared identifier 'oops'"
fi
# What is not supported is said with what it is, at the line of the source: of a function that the header calls, where
# the source called it; of a directive, where its function begins; once, however often it stands there.
cat >look.cu <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4lookyPf(.param .u64 t, .param .u64 p)
{
	.reg .f32 %f<9>;
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd1, [t];
	.loc	1 5 3
	mov.f32 %f1, 0f3F000000;
	.loc	2 152 3, function_name $L__info_string0, inlined_at 1 6 9
	.loc	2 145 4, function_name $L__info_string1, inlined_at 2 152 3
	tex.cube.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1, %f1, %f1, %f1}];
	tex.cube.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1, %f1, %f1, %f1}];
	.loc	1 7 2
	bar.sync 0;
	mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r0}, {%r1}, {%r2}, {%r3};
	ret;
}
	.file	1 "/somewhere/look.cu"
	.file	2 "/toolkit/include/texture_indirect_functions.h"
	.section	.debug_str
	{
$L__info_string0:
	.b8 116
	}
END
expect 2 check --compiler "$take" look.cu
says err "look.cu:6:9: error: 'tex.cube.v4.f32.f32' is not supported: it reads a texture" \
    "look.cu:7:2: error: 'mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32' is not supported: it multiplies"
[ "$(grep -c "'tex.cube" err)" = 1 ] || failed 'one line of the source is told once'
grep -v '\.loc' look.cu >nowhere.cu
expect 2 check --compiler "$take" nowhere.cu
says err "nowhere.cu: error: 'tex.cube.v4.f32.f32' is not supported: it reads a texture" '(line 11 of its PTX)'

# Calls within headers of the compiler say where they stand there: what is told is the line of the source that leads to
# them, also when that was left and comes again (unrolled loops). A header's thread_rank reads all dimensions, of whatever
# launch: no squares are made up. A race with a copy says that it is under way.
cat >pipe.cu <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4copyPiS_(.param .u64 in, .param .u64 out)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.shared .align 4 .b8 s[512];
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	.loc	2 7 3, function_name $L__info_string0, inlined_at 1 3 5
	mov.u32 %r1, %tid.y;
	.loc	1 4 9
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd1, %rd3;
	mov.u32 %r3, s;
	shl.b32 %r4, %r2, 2;
	add.u32 %r5, %r3, %r4;
	.loc	2 20 1, function_name $L__info_string0, inlined_at 1 5 5
	.loc	3 30 2, function_name $L__info_string0, inlined_at 2 20 1
	.loc	3 40 3, function_name $L__info_string0, inlined_at 3 30 2
	cp.async.ca.shared.global [%r5], [%rd4], 4;
	.loc	1 6 9
	add.u32 %r6, %r5, 256;
	.loc	3 40 3, function_name $L__info_string0, inlined_at 3 30 2
	cp.async.ca.shared.global [%r6], [%rd4], 4;
	.loc	1 7 5
	bar.sync 0;
	.loc	1 8 5
	xor.b32 %r7, %r4, 128;
	add.u32 %r7, %r7, %r3;
	ld.shared.u32 %r8, [%r7+256];
	add.s64 %rd5, %rd2, %rd3;
	st.global.u32 [%rd5], %r8;
	ret;
}
	.file	1 "/somewhere/pipe.cu"
	.file	2 "/toolkit/include/cuda/pipeline"
	.file	3 "/toolkit/include/cuda/copy.h"
END
expect 1 check --compiler "$take" pipe.cu --set threads=64
says out 'RACY      pipe.cu: copy' '(pipe.cu:5)' '(pipe.cu:8)' 'under way: cp.async at line' \
    'may copy at any time until it is waited for'
lacks() { ! grep -qF -- "$2" "$1" || failed "'$2' is in $1"; }
lacks out copy.h
lacks out pipe.cu:6
expect 1 check --compiler "$take" pipe.cu
lacks out 'threads=8x8'

# A size of 64 bits is a number, not a buffer; dynamic shared memory is as long as it is accessed; and a kernel that no
# launch fits which is made up is not known, as what it leaves has the length that was made up.
cat >sizes.cu <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 room[];
.visible .entry sizes(.param .u64 p, .param .u64 n, .param .u32 rows)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<8>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u64 %rd2, [n];
	ld.param.u32 %r2, [rows];
	cvta.to.global.u64 %rd3, %rd1;
	mov.u32 %r1, %tid.x;
	cvt.u64.u32 %rd4, %r1;
	setp.ge.u64 %p1, %rd4, %rd2;
	@%p1 bra end;
	mul.lo.s32 %r3, %r1, FACTOR;
	mov.u32 %r4, room;
	add.s32 %r5, %r4, %r3;
	st.shared.u32 [%r5], %r1;
	mul.wide.u32 %rd5, %r1, 4;
	add.s64 %rd6, %rd3, %rd5;
	st.global.u32 [%rd6], %r1;
end:
	ret;
}
PTX
sed -i 's/FACTOR/128/' sizes.cu
expect 0 check --compiler "$take" sizes.cu
says out 'clean     sizes.cu: sizes: no race' 'bind:1='
sed 's/mul.lo.s32 %r3, %r1, 128;/mad.lo.s32 %r3, %r1, 1048576, 1048576;/; s/ge.u64 %p1, %rd4, %rd2/eq.u64 %p1, %rd2, %rd1/' \
    sizes.cu >wide.cu
expect 0 check --compiler "$take" wide.cu
says out 'unknown   wide.cu: sizes  (no launch that was made up fits it; of this one: out_of_bounds' 'of room'

# Words that the kernel compares with -1 are -1 in some launches; what atomics count in begins with zero.
cat >marked.cu <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry marked(.param .u64 p, .param .u64 q, .param .u64 turn)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<9>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [p];
	ld.param.u64 %rd2, [q];
	ld.param.u64 %rd7, [turn];
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	cvta.to.global.u64 %rd8, %rd7;
	red.global.add.u32 [%rd8+4], 0;
	ld.relaxed.gpu.global.u32 %r4, [%rd8+4];
	setp.ne.s32 %p2, %r4, 0;
	@%p2 trap;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd5, %r1, 4;
	add.s64 %rd6, %rd3, %rd5;
	ld.global.u32 %r2, [%rd6];
	setp.ne.s32 %p1, %r2, -1;
	@%p1 bra end;
	st.global.u32 [%rd4], %r1;
end:
	ret;
}
PTX
expect 1 check --compiler "$take" marked.cu
says out 'RACY      marked.cu: marked: ' 'bind:0=buffer:4096:all:-1' 'bind:2=buffer:4096:zero'
expect 2 check --compiler "$take" marked.cu --entry marked --bind 0=buffer:4096:all:4294967296
says err 'a buffer is filled with words of 32 bits: all:-1'

# Rows in shared memory that are a parameter long: one that a block fits in.
cat >rows.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 temp[];
.visible .entry rows(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	shl.b32 %r3, %r1, 2;
	mov.u32 %r4, temp;
	add.s32 %r5, %r4, %r3;
	mov.u32 %r6, 0;
again:
	mul.lo.s32 %r7, %r6, %r2;
	shl.b32 %r7, %r7, 2;
	add.s32 %r8, %r5, %r7;
	st.shared.u32 [%r8], %r1;
	add.u32 %r6, %r6, 1;
	setp.lt.u32 %p, %r6, 2;
	@%p bra again;
	ld.shared.u32 %r8, [%r8];
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r8;
	ret;
}
END
expect 0 check rows.ptx
says out 'clean     rows.ptx: rows'

# A tile with a rim has room for squares of 16; what nobody writes of it is told, if every launch reads it.
cat >rim.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry rim(.param .u64 p)
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 tile[1296];
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	mul.lo.u32 %r3, %r2, 72;
	mov.u32 %r4, tile;
	add.u32 %r4, %r4, %r3;
	shl.b32 %r5, %r1, 2;
	add.u32 %r4, %r4, %r5;
	st.shared.u32 [%r4+76], %r1;
	bar.sync 0;
	ld.shared.u32 %r6, [%r4+76];
	mad.lo.u32 %r7, %r2, 16, %r1;
	mul.wide.u32 %rd2, %r7, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r6;
	ret;
}
END
expect 0 check rim.ptx
says out 'clean     rim.ptx: rim' 'shown: threads=16x16 blocks=1x1'
sed 's/ld.shared.u32 %r6, \[%r4+76\]/ld.shared.u32 %r6, [%r4]/' rim.ptx >unwritten.ptx
expect 1 check unwritten.ptx --sarif unwritten.sarif --junit unwritten.xml
says out 'UNWRITTEN unwritten.ptx: rim' 'is read by thread' 'and nothing has written it'
says unwritten.sarif '"uri": "unwritten.ptx"'
says unwritten.xml 'classname="unwritten.ptx" name="rim"'
expect 1 check unwritten.ptx --set threads=4x4
says out 'UNWRITTEN'

# An array of 32 beside a thread's number by 32 is one of warps: more threads than one warp has.
cat >warps.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry warps(.param .u64 p)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 sums[128];
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	shr.u32 %r2, %r1, 5;
	shl.b32 %r2, %r2, 2;
	mov.u32 %r3, sums;
	add.u32 %r3, %r3, %r2;
	atom.shared.add.u32 %r4, [%r3], 1;
	ld.shared.u32 %r4, [sums];
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
	ret;
}
END
expect 1 check warps.ptx
says out 'RACY      warps.ptx: warps' 'shown: threads=64x1'
cp warps.ptx 'all: warps.ptx'
expect 1 check 'all: warps.ptx' --junit warps.xml
says warps.xml 'classname="all: warps.ptx" name="warps"'
finish
