#!/usr/bin/env bash
# PTX on the command line: lower --to ptx prints a text that it prints again unchanged; errors; no other
# command runs PTX.
. "$(dirname "$0")/common.sh"

files=0
for file in "$source"/corpus/ptx/*.ptx; do
    expect 0 lower "$file" --to ptx
    silent err
    cp out once.ptx
    expect 0 lower once.ptx --to ptx
    cmp -s out once.ptx || failed "$file: its canonical text prints as something else"
    files=$((files + 1))
done
[ "$files" -ge 10 ] || failed "only $files files in corpus/ptx"

printf '.entry k() {\n  .reg .b32 r;\n  wgmma.x r;\n  mov.b33 r, 1;\n}\n' >bad.ptx
expect 2 lower bad.ptx --to ptx
says err "bad.ptx:3:3: error: instruction 'wgmma' is not supported"
says err "bad.ptx:4:6: error: '.b33' is not supported here in 'mov'"
silent out

expect 0 lower once.ptx --to ptx --json
says out '"form": "ptx"'
json
for form in core cfg predicated lockstep; do
    expect 2 lower once.ptx --to $form
    says err 'in PTX form'
done
expect 2 lower "$source/corpus/rules/interleave-havoc.simt" --to ptx
says err "unsupported statement 'havoc' at line"
expect 0 lower "$source/corpus/papers/lockstep-fig3.simt" --to crs
says out 'preBrk '

# What a structured kernel is compiled to is read again, and keeps its promises as a kernel of its own.
mkdir compiled
number=0 least=30
[ -z "${SIMTFUZZ_WHOLE:-}" ] || least=120
for file in "$source"/corpus/*/*.simt; do
    [ -n "${SIMTFUZZ_WHOLE:-}" ] || [ $((number++ % 4)) = 0 ] || continue # by day every fourth
    "$simtfuzz" lower "$file" --to ptx >out 2>err || continue
    says out '// simtfuzz: entry='
    grep -q '^// expect' out && cp out "compiled/$(basename "$file" .simt).ptx"
done
[ "$(ls compiled | wc -l)" -ge "$least" ] || failed "only $(ls compiled | wc -l) kernels of the corpus compile"
expect 0 check --fail-on none compiled
says out ' 0 diverge'

# Which entry, which launch, which parameters: in the text, or on the command line.
cat >two.ptx <<'EOF'
// simtfuzz: threads=4 warp=2
.version 7.0
.target sm_80
.address_size 64
.entry a() { .reg .b32 %r; mov.u32 %r, 1; exit; } .entry none() { exit; }
.entry b(.param .u64 p, .param .u32 n)
{ .reg .b32 %r<3>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, %r0, 0;
  mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %d0, %d1; st.global.u32 [%d2], %r1; ret; }
EOF
expect 2 check two.ptx
says err 'which entry is to run? entry=NAME says it: a, none, b'
expect 2 check two.ptx --entry c
says err "there is no entry 'c', but a, none, b"
expect 0 check --fail-on none two.ptx --entry b --bind p=buffer:16 --bind 1=1 --json
says out '"notes": []'
says out '{"p": [0, 1, 2, 3]}'
expect 0 trace two.ptx --entry b --subject crs --bind n=1 --bind p=buffer:12
says out 'out_of_bounds'
expect 0 check --fail-on none two.ptx --entry b --bind p=buffer:256
says out "note: parameter 1 ('n') is 16"
sed 's/mov.u32 %r1, %tid.x;//' two.ptx >unset.ptx
expect 0 check --fail-on none unset.ptx --entry b --bind p=buffer:256 --bind n=1 --json
says out '"notes": ["register %r1 may be read before it is written, line 8"]'
sed 's/^.entry a.*/.entry none() { exit; }/' two.ptx >one.ptx # CUB's EmptyKernel: an entry that does nothing is not meant
expect 0 check --fail-on none one.ptx --bind p=buffer:256
says out "note: parameter 1 ('n') is 16"
expect 2 check two.ptx --entry b --bind q=1
says err "'b' has no parameter 'q'"
expect 2 check two.ptx --entry b --bind n=4294967296
says err "no value of a parameter .u32"
expect 2 check two.ptx --entry b --bind p=buffer:16:file:absent
says err "'absent'"

# Copies under way: one for each word of shared memory for mbarriers; 64 of a thread, and more is no finding.
copies() { # COUNT COUNT WORDS
    echo '.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u64 p) { .reg .b64 %d; .shared .b64 b; .shared .b8 s['$(($3 * 4))'];
  ld.param.u64 %d, [p]; mbarrier.init.shared.b64 [b], 4;'
    for ((i = 0; i < $1 + $2; i++)); do
        ((i == $1)) && echo '  cp.async.mbarrier.arrive.shared.b64 [b];'
        echo "  cp.async.ca.shared.global [s+$((i % $3 * 4))], [%d], 4;"
    done
    echo '  cp.async.mbarrier.arrive.shared.b64 [b]; st.global.u32 [%d+4], 1; ret; }'
}
copies 64 64 128 | sed '1i // simtfuzz: threads=1' >copies.ptx
expect 0 check copies.ptx
says out 'clean     copies.ptx'
copies 64 64 2 | sed '1i // simtfuzz: threads=1' >copies.ptx
expect 0 check copies.ptx
says out 'unknown   copies.ptx'
says out '3 ended, which proves nothing: more copies are under way in the block than are kept'
copies 65 0 128 | sed '1i // simtfuzz: threads=1' >copies.ptx
expect 0 check copies.ptx
says out '3 ended, which proves nothing: more copies of a thread are under way than are kept: 64'

# Half of a warp exits beside a wait for the cluster: a GPU can, lock-step cannot.
cat >torn.ptx <<'EOF'
// simtfuzz: threads=4 warp=4 blocks=2 cluster=2
.version 8.0
.target sm_90
.address_size 64
.entry k() { .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 2;
  @!%p bra OUT; barrier.cluster.arrive; barrier.cluster.wait; OUT: ret; }
EOF
expect 0 check torn.ptx
says out '3 ended, which proves nothing: lanes wait at the cluster'
sed 's/@!%p bra OUT;/@!%p exit;/' torn.ptx >whole.ptx
expect 0 check whole.ptx
says out 'clean     whole.ptx'

expect 2 lower absent.ptx --to ptx
head -c 17000000 /dev/zero >big.ptx
expect 2 lower big.ptx --to ptx
says err 'larger than 16777216 bytes'
# Large buffers: what was written to them, not megabytes of zeros for each subject.
cat >large.ptx <<'END'
// simtfuzz: threads=2 warp=2 bind:p=buffer:40000:iota
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .u32 %r<2>;
    .reg .u64 %d<3>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %d1, [p];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1+36000], 77;
    ret;
}
END
expect 0 check large.ptx --json
json
says out '{"p": {"length": 10000, "elements": {"9000": 77, "9001": 77}, "changed": 2, "hash": "'
[ "$(wc -c <out)" -lt 20000 ] || failed "$(wc -c <out) bytes of JSON for two writes"
# A kernel's own text has only files below its folder read; the command line any.
mkdir -p far near/deep
printf 'secret' >far/data
printf 'abcd' >near/deep/data
ln -s ../far/data near/link
for path in near/deep/data "$PWD/near/deep/data" near/link near/../far/data far/data "$PWD/far/data"; do
    printf '// simtfuzz: bind:p=buffer:8:file:%s\n.version 7.0\n.target sm_70\n.address_size 64\n%s\n' "$path" \
        '.visible .entry k(.param .u64 p) { ret; }' >near/reads.ptx
    if [ "$path" = near/deep/data ]; then
        expect 0 check near/reads.ptx
    else
        expect 2 check near/reads.ptx
        says err "lies below the kernel's folder"
    fi
    printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n' >near/asked.ptx
    expect 0 check near/asked.ptx --bind "p=buffer:8:file:$path"
done

# What lies at a byte of a struct parameter: a number, a pointer to a buffer of its own. With one element less than the
# number says, the last thread's access is outside; what is printed is words and placed memory.
cat >struct.ptx <<'END'
// simtfuzz: threads=8
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 p[24])
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<2>;
	ld.param.u32 %r1, [p];
	ld.param.f32 %f1, [p+4];
	ld.param.u64 %rd1, [p+8];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra E;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.f32 [%rd3], %f1;
E:	ret;
}
END
expect 0 check struct.ptx --bind p.0=8 --bind 0.4=f:1.5 --bind p.8=buffer:32
says out 'clean'
expect 1 check struct.ptx --bind p.0=8 --bind 0.4=f:1.5 --bind p.8=buffer:28
says out 'byte 28 of p_8, which has 28 bytes' 'thread 7'
sed '1s/$/ bind:p.0=8 bind:p.4=f:1.5 bind:p.8=buffer:28/' struct.ptx >bound.ptx
expect 0 reduce bound.ptx --keep oob -o small.ptx
says small.ptx 'memory:p_8=0x600000000000:28'
for wrong in p.9=1 p.24=1 p.20=0x100000000 p.20=buffer:8 p.0=word p.x=1 q.0=1; do
    expect 2 check struct.ptx --bind $wrong
    says err "'${wrong%=*}'"
done
finish
