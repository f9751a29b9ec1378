#!/usr/bin/env bash
# `check` of launches with more blocks than a case has: all of them, once.
. "$(dirname "$0")/common.sh"

small=$source/tests/data/exec/small.ptx
buffers=(--bind in=buffer:512000:iota --bind out=buffer:512000)
check() { # status, arguments
    expect "$1" check "$small" "${@:2}"
}

# Barriers alone order the threads: one execution decides.
check 0 --entry scale --set blocks=1000 --set threads=128 "${buffers[@]}"
says out 'clean ' 'no race under any schedule' '1000 of 1000 blocks, 16 at a time, 56000 steps of warps'
# Volatile accesses are no race beside each other, and the order of two changes what is read: one execution decides nothing.
sed 's/st\.global\.u32 \[%rd5\]/st.volatile.global.u32 [%rd5]/' "$small" >loud.ptx
expect 0 check loud.ptx --entry scale --set blocks=1000 --set threads=128 "${buffers[@]}"
says out 'clean ' 'no race in this execution'
# The block behind the buffer's end is the first that leaves it.
check 1 --entry scale --set blocks=1001 --set threads=128 "${buffers[@]}"
says out 'out_of_bounds: thread 0 of block 1000' '(small.cu:11)' 'byte 512000 of in, which has 512000 bytes'
# Few blocks with more threads than a case has.
check 0 --entry scale --set blocks=5 --set threads=1024 "${buffers[@]}"
says out '5 of 5 blocks, 2 at a time'
check 1 --entry scale --set blocks=10x20x5 --set threads=128 "${buffers[@]}"
says out "RACY " "block (0,1,0)" "1000 of 1000 blocks"

# Blocks that are never resident together race, too; the kinds of ends.
check 1 --entry clash --set blocks=100000 --set threads=1 --bind out=buffer:4
says out 'RACY ' 'out is written by thread 0 of block 1 ' 'nothing orders the two blocks' 'and 99998 more of these'
check 1 --entry half --set blocks=65 --set threads=32
says out 'barrier_divergence: thread 16 of block 0'
check 1 --entry forever --set blocks=65
says out 'HANG '
check 1 --entry talk --set blocks=65 --set threads=3
says out 'assert_fails: thread 2 of block 0' 'the assertion is t < 2'

# Shared and local memory, as compute-sanitizer's tools look at it.
space() { # ENTRY THREADS TEXT...
    expect 1 check "$source/tests/data/exec/spaces.ptx" --entry "$1" --set blocks=65 --set threads="$2"
    says out "${@:3}"
}
space beyond_shared 33 'out_of_bounds: thread 32 of block 0' '(spaces.cu:10)' 'byte 128 of tile, which has 128 bytes'
space beyond_local 5 'out_of_bounds: thread 4 of block 0' '(spaces.cu:20)' 'byte 16 of own, which has 16 bytes'
space unwritten_shared 1 'UNWRITTEN ' 'tile[1] is read by thread 0 of block 0 at spaces.cu:30' 'and 64 more of these'
space race_shared 31 'RACY ' 'at spaces.cu:41, and was written by thread 1 of block 0 at spaces.cu:40' 'no __syncwarp()'

# What counts, for people and for machines.
check 0 --entry clash --set blocks=100 --bind out=buffer:4 --fail-on oob
echo 'race small.cu:20' >known.txt
check 0 --entry clash --set blocks=100 --bind out=buffer:4 --suppress known.txt
says out 'suppressed /' 'nothing else is wrong' 'suppresses 1'
check 1 --entry clash --set blocks=100 --bind out=buffer:4 --json --sarif x.sarif
json
says out '"grid": 100, "blocks_done": 100' '"decides": true' '"kind": "race"'
says x.sarif '"ruleId": "race"'
check 0 --entry scale --set blocks=1000 --set threads=128 "${buffers[@]}" --budget 100
says out 'unknown ' 'nothing is known of the rest' '0 of 1000 blocks'
check 2 --entry scale --set blocks=65536x65536
check 2 --entry scale --set blocks=2000000000 --set threads=1024
says out 'more than 2^32 - 2 threads'

# Of one that was cut off nobody says that it agrees.
expect 0 check "$small" "$small" --entry scale --set blocks=1000 --set threads=128 "${buffers[@]}" --budget 100
says out '2 kernels: 0 agree' '2 refused'

# Other commands take as many as they have room for, and say so.
expect 0 trace "$small" --entry half --set blocks=100 --set threads=16
expect 0 check "$small" --entry half --set blocks=64 --set threads=16
says out 'executions of'

# What takes longer than the usual budget: one execution decides where barriers alone order the threads; else it grows.
cat >long.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry turns(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	mov.u32 %r3, 0;
L:	st.global.u32 [%rd3], %r3;
	bar.sync 0;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra L;
	ret;
}
.visible .entry count(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r3, 0;
L:	red.global.add.u32 [%rd1], %r3;
	add.u32 %r3, %r3, 1;
	setp.ne.u32 %p1, %r3, %r1;
	@%p1 bra L;
	ret;
}
END
long=(check long.ptx --set threads=64)
expect 0 "${long[@]}" --entry turns --bind n=5000
says out 'clean     long.ptx: no race under any schedule'
expect 0 "${long[@]}" --entry turns --bind n=5000 --budget 70000
says out 'clean     long.ptx' 'spent their budget'
# Atomics of one operation that nobody looks at the results of commute; others tell an order.
expect 0 "${long[@]}" --entry count --bind n=2000
says out 'clean     long.ptx: no race under any schedule'
sed 's/red.global.add.u32 /atom.global.add.u32 %r4, /' long.ptx >unread.ptx
expect 0 check unread.ptx --set threads=64 --entry count --bind n=2000
says out 'clean     unread.ptx: no race under any schedule'
for order in 'atom.global.add.u32 %r4, [%rd1], 1; add.u32 %r5, %r4, 1' 'atom.global.exch.b32 %r4, [%rd1], %r3' 'red.global.inc.u32 [%rd1], 7' \
    'red.global.add.f32 [%rd1], 0f3f800000' 'red.global.or.b32 [%rd1], 8; red.global.add.u32 [%rd1], 1'; do
    sed "s/red.global.add.u32 .*/$order;/" long.ptx >ordered.ptx
    expect 0 check ordered.ptx --set blocks=65 --entry count --bind n=20 --json
    says out '"decides": false'
done
expect 0 "${long[@]}" --entry count --bind n=2000 --budget 70000
says out 'spent their budget'

# Who read it first is not forgotten because others read it behind: block 1 waits, and writes behind its barrier.
cat >late.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry late(.param .u64 p)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .pred %p<5>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r1, 2;
	@%p1 ret;
	mov.u32 %r3, 0;
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra READ;
L:	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p3, %r3, 100;
	@%p3 bra L;
READ:	ld.global.u32 %r4, [%rd1];
	@%p2 ret;
	bar.sync 0;
	setp.ne.u32 %p4, %r2, 0;
	@%p4 ret;
	st.global.u32 [%rd1], %r4;
	ret;
}
END
expect 1 check late.ptx --set threads=64 --set blocks=65
says out 'RACY ' 'p[0] is written by thread 0 of block 1 ' 'was read by thread 30 of block 0' 'nothing orders the two blocks'
# Scope .cluster, in clusters of two blocks, and of one.
sed '/^\/\/ expect/d; s/\[4\]/[64]/; s/blocks=4/blocks=128/' "$source/corpus/regress/scope-cluster.ptx" >scope.ptx
expect 0 check scope.ptx
says out 'no race in this execution' '128 of 128 blocks'
sed -i 's/cluster=2//' scope.ptx
expect 1 check scope.ptx
says out 'RACY ' 'the scope of one of them ends at its cluster' 'no pair of fences orders the two blocks'
# What a file expects is of the launch in its head.
expect 1 check "$source/corpus/ptx/warpsum.nvcc.ptx" --set threads=32 --set blocks=100
says out "RACY " "what the file expects is of its own launch" "100 of 100 blocks"

# A source that is no file, and never ends, is not quoted.
cat >endless.ptx <<'END'
// simtfuzz: threads=64 blocks=100 bind:p=buffer:256
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	.loc	1 7 3
	st.global.u32 [%rd1], %r1;
	ret;
}
	.file	1 "/dev/zero"
END
expect 1 check endless.ptx --html endless.html
says out 'p[0] is written by thread 2 of block 0 at zero:7'
finish
