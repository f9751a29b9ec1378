#!/usr/bin/env bash
# `simtfuzz exec`: a program that brings its kernels as nvcc would (cuda_program.c), and, where there is nvcc, real ones.
. "$(dirname "$0")/common.sh"

program=$(dirname "$simtfuzz")/cuda_program
small=$source/tests/data/exec/small.ptx
[ -x "$program" ] || { echo "no cuda_program in this build"; exit 0; }

# What the program prints is its own, what is found goes to standard error.
run() { # status, what
    expect "$1" exec -- "$program" "$2" "$small"
}

run 0 scale
says out 'scale: no error'
says out '0 wrong'
says err '1 launch of 3 blocks' 'nothing is wrong; the program ended with status 0'

run 1 beyond
says out 'scale: an illegal memory access was encountered'
says err 'FAULT     scale<<<4, 32>>>'
says err 'thread 0 of block 3 at line 24 (small.cu:11): read of 4 bytes' 'byte 384 of buffer2, which has 384 bytes'

run 1 unwritten
says err 'UNWRITTEN scale<<<3, 32>>>'
says err 'buffer2[0] is read by thread 0 of block 0 at small.cu:11, and nothing has written it'
says err 'and 95 more of these'
expect 0 exec --unwritten-ok -- "$program" unwritten "$small"
says err 'nothing is wrong'

# A launch that is made thrice is told once.
run 1 clash
says err 'RACE      clash<<<1, 32>>>'
[ "$(grep -c RACE err)" -eq 1 ] || failed "a race is told more than once"
says err '3 launches of 3 blocks' '1 finding;'

run 1 forever
says err 'HANG      forever<<<2, 32>>>'
says err 'the launch never ends: all its warps have been in this state before'
says out 'forever: the launch timed out'
run 1 half
says err 'barrier_divergence: thread 16 of block 0 is at the barrier at line 61 (small.cu:40)'

# What a kernel prints is the program's; the text of an assertion is told, and lanes that a mask names and that do not come.
run 0 talk
says out '0:  1.50 right' '1:  1.50 right' 'talk: no error'
run 1 claim
says out '2:  1.50 right' 'claim: device-side assert triggered'
says err 'assert_fails: thread 2 of block 0 at line ' '(small.cu:51): the assertion is t < 2'
run 1 odd
says out 'odd: misaligned address'
says err '(small.cu:60): write of 4 bytes' 'not a multiple of 4'
run 1 few
says err '(small.cu:70): '

# What is never freed is a finding where that is asked; what somebody has looked at is none.
run 0 leak
says err '1 allocation of 4 bytes was never freed'
expect 1 exec --leak-check --json -- "$program" leak "$small"
says err 'LEAK      buffer2 of 4 bytes is never freed; it was allocated by ' '1 finding;'
says out '"kind": "leak"' '"never_freed": 1'
expect 1 exec --leak-check -- "$program" clash "$small"
grep -q LEAK err && failed 'what was freed is a leak'
printf '# known\nrace  small.cu:20\nleak *\nassert other.cu:51\n' >known.txt
expect 0 exec --leak-check --suppress known.txt -- "$program" clash "$small"
says err 'nothing is wrong; 3 suppressed'
expect 0 exec --leak-check --suppress known.txt -- "$program" leak "$small"
expect 1 exec --suppress known.txt -- "$program" claim "$small"
echo 'race' >bad.txt
expect 2 exec --suppress bad.txt -- "$program" clash "$small"
says err 'bad.txt:1: a kind and a place are wanted'
expect 2 exec --suppress not-there -- "$program" clash "$small"

# What cannot be run is said, and is no success.
run 3 missing
says err 'refused   missing: the PTX has no such entry'
says err 'no finding; 1 not run'
run 3 code
says err 'machine code for sm_80 and no PTX: build it with nvcc -arch=sm_80, or add -gencode'
run 3 garbage
says err 'what the program registers is no fat binary'
run 3 truncated
says err 'the fat binary is truncated'
run 1 huge
says err 'WRONG     scale<<<(1,1,1), (2048,1,1)>>> is not launched: 2048 threads in x of a block, at most 1024; called by launch'
says out 'huge: invalid configuration argument'
run 0 ipc
says out 'ipc: operation not supported'
says err 'note      cudaIpcGetMemHandle is not supported'

# A grid that waits for all its blocks; and as entries of one file, each under launches that are made up.
run 0 together
says out 'together: no error, 1 2 3 0'
says err '1 launch of 4 blocks' 'nothing is wrong'
run 1 apart
says out 'together: unspecified launch failure'
says err '(small.cu:80): trap is executed: the kernel waits for its grid' 'which needs a launch by cudaLaunchCooperativeKernel'
expect 0 exec --capture grid -- "$program" together "$small"
expect 0 check grid/launch-1.ptx
expect 1 check "$small"
says out ': clash: thread 0 writes' ': forever: it comes back to a state' ': talk: assert_fails' 'small.ptx: together  ('
says out 'note: the launch is cooperative, since the kernel waits for its grid (grid.sync)'
expect 2 check --entry togeth "$small"
says err "there is no entry 'togeth', but scale"

# Functions behind a table of the module.
run 0 choose
says out 'choose: no error, 5 2 7 6'
says err 'nothing is wrong'

# Variables that the program does not register: what is in them, and where they lie, stays.
run 0 keep
says out 'keep: no error, 7 98 196'
says err '3 launches of 3 blocks' 'nothing is wrong'

# The heap of kernels: its limit, and what is wrong with how it is used. A launch goes on behind it, as on a GPU.
run 0 heap0
says out 'heap: no error, no error, invalid argument, 65536, 8'
says err 'nothing is wrong'
run 1 heap1
says out 'heap: no error, no error'
says err 'FAULT     take<<<1, 1>>>' '(small.cu:102): write of 4 bytes at 0x'
says err 'byte 12 of' 'the 12 bytes that malloc gave thread 0 of block 0 at small.cu:100'
run 1 heap2
says err '(small.cu:105): read of 4 bytes' 'bytes that malloc gave thread 0 of block 0 at small.cu:100, freed by thread 0 of block 0 at'
run 1 heap3
says err '(small.cu:106): free of 0x' 'freed by thread 0 of block 0 at small.cu:104'
expect 1 exec --leak-check -- "$program" heap4 "$small"
says err 'LEAK      12 bytes of the heap are never freed; thread 0 of block 0 at small.cu:100 got them'
run 1 heap5
says err 'UNWRITTEN take<<<1, 1>>>' 'byte 8 of the 12 bytes that malloc gave thread 0 of block 0 at small.cu:100 is read'
expect 1 exec --leak-check -- "$program" heap6 "$small"
says out 'heap: no error, no error'
says err '(small.cu:111): write of 4 bytes at 0x' 'LEAK      32768 bytes of the heap are never freed'

# Separate compilation: what was linked is machine code, its parts have the PTX.
run 0 linked
says out 'scale: no error' '0 wrong'
says err 'nothing is wrong'

# Streams that nothing orders, of launches, copies, sets, memory that comes and goes; nodes of a graph without an edge.
run 1 unordered
says err 'RACE      cudaMemsetAsync, called by run_streams' 'and 95 more of these'
says err 'byte 0 of buffer4 is written by it, and was written by scale<<<3, 32>>>'
says err 'no stream, event or synchronisation' '1 finding'
run 0 ordered
says err 'nothing is wrong'
for what in recorded again called; do
    run 0 $what
    says out "$what: no error"
    says err 'nothing is wrong'
done
run 1 freed
says err 'RACE      cudaFreeAsync' 'byte 0 of buffer4 is freed by it, and was written by scale<<<3, 32>>>'
run 1 legacy
says err '1 finding'
run 1 edgeless
says err 'RACE      scale<<<3, 32>>>' 'byte 0 of buffer4 is written by it at small.cu:12, and was read by a graph'

# Graphs: of nodes, and of streams that are captured.
run 0 graph
says out '2 nodes, 1 edges' 'graph: no error' '0 wrong' '25 behind an update' 'a circle: invalid argument'
says out 'another: the graph update was not performed'
says out 'nothing: invalid argument' 'disabled within: 7' 'inner: no error, 0' 'others: invalid argument'
says out 'conditional: operation not supported'
says err 'a conditional node of a graph is not supported' '2 launches of 6 blocks' 'nothing is wrong'
run 0 capture
says out 'capture: no error' '0 calls' '2 calls, 0 wrong' 'wait: operation not permitted when stream is capturing'
says out 'end: operation failed due to a previous error' 'unjoined: capturing stream has unjoined work' 'gone: invalid resource handle'
says out 'destroyed: no error' 'too large: out of memory, out of memory'
says err '2 launches of 6 blocks' 'nothing is wrong'
run 0 register
says out 'register: no error, part or all of the requested memory range is already mapped, no error'
says err 'note      cudaHostRegister(' 'ranges that share a page are not supported'
run 1 late
says out 'late: an illegal memory access was encountered'
says err 'it was byte 0 of buffer3, which has been freed'

# Wrong calls of the host.
run 1 twice
says err ': it was byte 0 of buffer2, which has been freed'
says err 'WRONG     cudaFree(' 'nothing is allocated there, or it was freed before'
run 1 copy
says err 'WRONG     cudaMemcpy of 8 bytes at byte 0 of buffer2, which has 4 bytes'
run 1 inside
says err 'WRONG     a function that a stream calls on the host calls CUDA' 'called by main' '1 finding;'
# Each process that uses the device has one of its own, but not the child of one that has used it.
run 0 children
says err '2 launches of 6 blocks' 'nothing is wrong'
expect 1 exec -- sh -c '"$0" scale "$1" & "$0" beyond "$1"; "$0" scale "$1"; wait; exit 0' "$program" "$small"
says err '3 launches of ' '1 finding; the program ended with status 0'
# Who finds no file left waits, whether one is missing or both.
for files in 12 13; do
    (
        ulimit -n $files
        "$simtfuzz" exec -- sh -c 'for i in 1 2 3 4 5 6; do "$0" scale "$1" & done; wait' "$program" "$small"
    ) >out 2>err || failed "six processes with $files files"
    says err '6 launches of 18 blocks' 'nothing is wrong'
done
run 0 fork
says err 'there is no device: it belongs to the process that this one was forked from'
run 134 crash
says err 'the program was ended by signal 6'
says err '1 allocation of 4 bytes was never freed'
run 7 status
expect 200 exec -- sh -c 'exit 200'
grep -q signal err && failed 'an exit status is taken for a signal'

# The driver's interface: modules from PTX, parameters one by one or in one buffer, variables by name.
driver=$(dirname "$simtfuzz")/cuda_driver
drive() { # status, what
    expect "$1" exec -- "$driver" "$2" "$small"
}
for what in scale packed; do
    drive 0 $what
    says out 'factor: 4 bytes, 3 at first' 'scale: CUDA_SUCCESS' '0 wrong'
    says err '1 launch of 3 blocks' 'nothing is wrong; the program ended with status 0'
done
drive 1 beyond
says out 'scale: CUDA_ERROR_ILLEGAL_ADDRESS'
says err 'launched by ' 'byte 384 of buffer10, which has 384 bytes' 'the program ended with status 1'
drive 1 link
says out 'link: CUDA_SUCCESS' 'both: CUDA_SUCCESS, 1117'
says err 'RACE      both<<<1, 32>>>' 'is written by thread 1 of block 0 at first.cu:9'
drive 0 emptied
says out 'emptied: 12 5 10'
drive 1 arrays
says out 'array: CUDA_SUCCESS' '100 1 4, CUDA_SUCCESS, CUDA_SUCCESS, abcdefgh, CUDA_ERROR_INVALID_VALUE' 'texture: CUDA_SUCCESS, 1'
says out 'destroyed: CUDA_ERROR_INVALID_VALUE' '1 advised, fetched to 0 and -1, kept 1, priority -3'
says err 'WRONG     cuMemcpyHtoA_v2: 400 bytes from byte 8 of 1 rows' '1 finding;'
drive 0 missing
says out 'missing: CUDA_ERROR_NOT_FOUND'
drive 0 early
says out 'early: CUDA_ERROR_NOT_INITIALIZED' 'early: CUDA_ERROR_INVALID_CONTEXT'
drive 0 nowhere
says out 'nowhere: CUDA_ERROR_FILE_NOT_FOUND'
drive 0 graph
says out 'graph: CUDA_SUCCESS' '0 wrong'
says err '1 launch of 3 blocks' 'nothing is wrong'
drive 1 mapped
says out 'mapped: CUDA_SUCCESS' '0 wrong' 'unmapped: CUDA_ERROR_INVALID_VALUE'
drive 3 garbage
says out 'garbage: CUDA_ERROR_INVALID_PTX: line 3 of its PTX:'
says err 'refused   the module that is loaded: line 3 of its PTX'
drive 3 code
says out 'code: CUDA_ERROR_NO_BINARY_FOR_GPU'
says err 'it is machine code without PTX'
drive 1 twice
says out 'twice: CUDA_ERROR_INVALID_VALUE'
says err 'WRONG     cuMemFree(' 'nothing is allocated there, or it was freed before'

expect 1 exec --json --sarif x.sarif --junit x.xml -- "$program" clash "$small"
says out '"kind": "race", "kernel": "clash"'
says out '"launches": 3, "blocks": 3'
says x.sarif '"ruleId": "race"'
says x.xml '<testcase'

# Nothing to run, and nothing in it.
expect 2 exec
expect 2 exec -- ./not-there
says err 'No such file'
expect 0 exec -- true
says err 'brought no kernels to this device' '-cudart shared'
expect 3 exec --budget 20 -- "$program" scale "$small"
says err 'unknown   scale<<<3, 32>>>' 'was stopped after 20 steps of warps and 0 of 3 blocks'

# A launch that is kept is a case: of the same answer, and the reducer takes it.
expect 1 exec --capture kept -- "$program" beyond "$small"
[ -s kept/launch-1.ptx ] || failed "no launch was kept"
expect 1 check kept/launch-1.ptx
says out 'launch-1.ptx: out_of_bounds'
(cd kept && "$simtfuzz" check launch-1.ptx >../out 2>../err)
says out 'launch-1.ptx: out_of_bounds'
expect 0 reduce kept/launch-1.ptx --keep oob -o small.ptx
expect 1 check small.ptx

# A launch that is recorded where it runs, here on the device of exec, is a case with what was left there: the same, and
# other values are a finding, unless threads race. One that fails there has no results; who has no kernels is told why.
record() { # status, what; a sanitizer need not come first in a program that a recorder is loaded into
    ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 expect "$1" record --capture "rec-$2" -- "$simtfuzz" exec -- "$program" "$2" "$small"
}
record 0 scale
says err 'simtfuzz record: 1 launch kept in rec-scale, 0 not; the program ended with status 0'
expect 0 check rec-scale/launch-1.ptx
says out 'device: left the same 772 bytes in 3 buffers'
printf '\7' | dd of=rec-scale/launch-1.buffer2.device.bin bs=1 seek=200 conv=notrunc status=none
expect 1 check rec-scale/launch-1.ptx
says out 'DIFFERS   rec-scale/launch-1.ptx: byte 200 of buffer2: 0x00000007 on the device, 0x000000fa here; 1 words of 772 bytes differ'
expect 1 check --json rec-scale/launch-1.ptx
says out '"kind": "differs"'
printf '\7' >>rec-scale/launch-1.buffer2.device.bin
expect 2 check rec-scale/launch-1.ptx
says err "'buffer2' has 384 bytes, not 385"
record 1 clash
says err '3 launches kept in rec-clash'
printf '\7' | dd of=rec-clash/launch-1.buffer1.device.bin bs=1 conv=notrunc status=none
expect 1 check rec-clash/launch-1.ptx
says out 'on the device' 'which is no wonder, since its threads race'
grep -q DIFFERS out && failed 'a race differs'
record 0 children # each of both processes has its own device
says err '2 launches kept in rec-children, 0 not'
expect 0 check rec-children/launch-1.ptx rec-children/launch-2.ptx
says out 'device: left the same'
record 0 library
expect 0 check rec-library/launch-1.ptx
says out 'device: left the same'
record 1 beyond
says err 'rec-beyond/launch-1.ptx: it failed on the device: an illegal memory access'
expect 1 check rec-beyond/launch-1.ptx
expect 0 record --json -- true
json
says out '"launches": 0, "refused": 0, "status": 0'
says err 'the program brought no kernels that were seen' '-cudart shared'

# The driver's interface is recorded, too: functions come from cuGetProcAddress, and one of dlsym.
record_driver() { # status, what
    ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 expect "$1" record --capture "rec-$2" -- "$simtfuzz" exec -- "$driver" "$2" "$small"
}
for what in packed mapped launches; do
    record_driver "$([ $what = mapped ] && echo 1 || echo 0)" $what
    says err "simtfuzz record: $([ $what = launches ] && echo 5 || echo 1) launch"
    expect 0 check rec-$what/launch-*.ptx
    says out 'device: left the same'
done
printf '\7' | dd of=rec-packed/launch-1.buffer2.device.bin bs=1 seek=200 conv=notrunc status=none
expect 1 check rec-packed/launch-1.ptx
says out 'DIFFERS   rec-packed/launch-1.ptx: byte 200 of buffer2: 0x00000007 on the device, 0x000000fa here'
record_driver 1 link
expect 1 check rec-link/launch-1.ptx
says out 'RACY' 'device: left the same'
record_driver 0 graph
says err 'launches of graphs are not recorded' '0 launches kept'

# What PTX leaves open is no finding: the bits of a NaN, the last bits of an approximation, the order of atomics. The buffer has
# the name of the parameter, and is another thing.
recorded() { # instructions that make %d of %x, a number of 64 bits; what the device left
    {
        echo '// simtfuzz: entry=k threads=1 bind:0=0x7f0000000000 memory:in=0x7f0000000000:16:file:open.bin'
        echo '// simtfuzz: result:in=file:left.bin'
        printf '.version 8.6\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in) {\n'
        printf '.reg .b64 %%a, %%x, %%d; .reg .b32 %%r;\nld.param.u64 %%a, [in];\nld.global.u64 %%x, [%%a];\n'
        printf '%s\nst.global.u64 [%%a+8], %%d;\nret;\n}\n' "$1"
    } >open.ptx
    printf '\1\0\0\0\0\0\370\377\0\0\0\0\0\0\0\0' >open.bin
    printf '\1\0\0\0\0\0\370\377%b' "$2" >left.bin
}
recorded 'add.f64 %d, %x, %x;' '\1\0\0\0\0\0\370\377'
expect 0 check open.ptx
says out 'differ, which may be: line 10 of the PTX makes NaNs, whose bits PTX leaves open'
recorded 'add.f64 %d, %x, %x;' '\1\0\0\0\0\0\360\77'
expect 1 check open.ptx
says out 'DIFFERS   open.ptx: byte 8 of in: 0x00000001 on the device, 0xffffffff here'
recorded 'cvt.u32.u64 %r, %x; ex2.approx.f32 %r, %r; cvt.u64.u32 %d, %r;' '\1\0\200\77\0\0\0\0'
expect 0 check open.ptx
says out 'is approximate, and as floats they are at most 1 units in the last place apart'
recorded 'atom.global.add.u64 %d, [%a+8], %x; add.u64 %d, %d, 1;' '\7\0\0\0\0\0\0\0'
expect 0 check open.ptx
says out 'can tell in which order threads come'
recorded 'red.global.add.u64 [%a+8], %x; mov.u64 %d, 1;' '\7\0\0\0\0\0\0\0'
expect 1 check open.ptx

# What nvcc builds, its default: one program that is right, one that is not. All others every night (cli.exec_nvcc).
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "no nvcc: programs are not built"; finish; }
build() { # output, program, flags..
    local output=$1 file=$source/corpus/programs/$2.cu
    shift 2
    "$nvcc" -lineinfo -arch=sm_80 "$@" -o "$output" "$file" 2>nvcc.log || failed "nvcc: $(cat nvcc.log)"
}
build packed matrix-product
expect 0 exec -- ./packed
says out '0 elements of 32 x 32 are wrong'
build flat lock -cudart shared --no-compress -DBUG_EVERY_LANE
expect 1 exec -- ./flat
says err 'HANG      visit(Lock*, int*)<<<20, 32>>>'
finish
