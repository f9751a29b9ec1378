#!/usr/bin/env bash
# Each line of tests/data/ptx-addresses.txt: what an execution makes of the address, and, where ptxas is installed, whether
# it makes the same machine code of both bodies, or other code. Addresses of .address_size 32 and .ptr .const follow.
. "$(dirname "$0")/common.sh"

table=$source/tests/data/ptx-addresses.txt

module() {
    printf '.version 7.8\n.target sm_80\n.address_size 64\n.global .align 4 .u32 g[64];\n.const .align 4 .u32 c[64] = {'
    seq -s , 100 163
    printf '};\n'
}

# entry NAME BODY
entry() {
    cat <<EOF
.visible .entry $1(.param .u64 out, .param .u64 p, .param .u32 q, .param .align 8 .b8 a[64])
{
    .shared .align 4 .u32 s[64];
    .local .align 4 .u32 l[64];
    .reg .b64 %rd<10>;
    .reg .b32 %r<10>;
    .reg .pred %p<4>;
    ld.param.u64 %rd9, [out];
    ld.param.u64 %rd2, [p];
    ld.param.u32 %r5, [q];
    st.shared.u32 [s+16], 77;
    st.local.u32 [l+16], 78;
    mov.u32 %r2, 0;
    $2
    st.global.u32 [%rd9], %r2;
    ret;
}
EOF
}

settings='threads=1 warp=1 bind:out=buffer:256 bind:p=0 bind:q=0 bind:a=words:50,51,52,53'

# case_ends NAME SETTINGS OUTCOME BODY
case_ends() {
    local claim="// expect: final out == {$3}"
    case "$3" in error:*) claim='' ;; esac
    { printf '// simtfuzz: %s %s\n%s\n' "$settings" "$2" "$claim"; module; entry k "$4"; } >"$1.ptx"
    expect 0 check --fail-on none "$1.ptx"
    case "$3" in error:*) says out 'out_of_bounds 1' "${3#error: }" ;; *) says out agree ;; esac
}

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }
module >first.all
module >second.all
pairs=()
cases=0
while IFS='|' read -r name words outcome confirmed body other; do
    case "$name" in '' | '#'*) continue ;; esac
    name=$(trim "$name")
    case_ends "$name" "$(trim "$words")" "$(trim "$outcome")" "$body"
    cases=$((cases + 1))
    confirmed=$(trim "$confirmed")
    case "$confirmed" in same | other) ;; *) continue ;; esac
    pairs+=("$name $confirmed")
    entry "$name" "$body" >>first.all
    entry "$name" "$other" >>second.all
done <"$table"
[ "$cases" -ge 40 ] || failed "only $cases cases in $table"

# ---- what ptxas makes of them ----

export PATH="$PATH:/usr/local/cuda/bin"
if ! command -v ptxas >/dev/null || ! command -v objcopy >/dev/null; then
    echo "skipped: ptxas or objcopy is not installed, so ${#pairs[@]} cases were not compared with machine code"
else
    for arch in sm_80 sm_100; do
        for half in first second; do
            sed "s/^.target sm_80/.target $arch/; s/^.version 7.8/.version 8.6/" "$half.all" >"$half.ptx"
            ptxas -arch="$arch" "$half.ptx" -o "$half.cubin" 2>err ||
                { echo "skipped: this ptxas does not do $arch: $(head -1 err)" && continue 2; }
        done
        for pair in "${pairs[@]}"; do
            name=${pair% *}
            for half in first second; do
                rm -f "$half.code"
                objcopy -I elf64-little -O binary -j ".text.$name" "$half.cubin" "$half.code"
                [ -s "$half.code" ] || failed "no machine code of $name"
            done
            same=other
            if cmp -s first.code second.code; then same=same; fi
            [ "$same" = "${pair#* }" ] || failed "$name: ptxas makes $same code for $arch, the table says ${pair#* }"
        done
        echo "${#pairs[@]} cases are as ptxas has them for $arch"
    done
fi

# ---- pointers of 32 bits: the gaps are those that fit ----

small() {
    printf '// simtfuzz: threads=1 warp=1 bind:p=buffer:64:iota bind:q=buffer:64:iota bind:out=buffer:64\n%s\n' "$1"
    printf '.version 7.0\n.target sm_50\n.address_size 32\n'
    printf '.entry k(.param .u32 .ptr .global p, .param .u32 .ptr .const q, .param .u32 out)\n'
    printf '{ .reg .u32 %%r<5>; ld.param.u32 %%r1, [p]; ld.param.u32 %%r2, [q]; ld.param.u32 %%r3, [out];\n%s\n' "$2"
    printf 'st.global.u32 [%%r3], %%r4; ret; }\n'
}
small '// expect: final out == {12}' 'ld.const.u32 %r4, [%r2+20]; ld.global.u32 %r1, [%r1+28]; add.u32 %r4, %r4, %r1;' >small.ptx
expect 0 check --fail-on none small.ptx
says out agree
small '' 'ld.global.u32 %r4, [%r1+104857600];' >small_far.ptx
expect 0 check --fail-on none small_far.ptx
says out 'out_of_bounds 1' 'byte 104857600 of p, which has 64 bytes'
small '' 'sub.u32 %r1, %r1, 0x80000; ld.global.u32 %r4, [%r1+0x80004];' | sed 's/^$/\/\/ expect: final out == {1}/' >small_wrap.ptx
expect 0 check --fail-on none small_wrap.ptx
says out agree

# ---- what is assumed of a parameter that leads to constant memory ----

small '' 'ld.const.u32 %r4, [%r2+20];' | sed 's/bind:q=[^ ]*//' >assumed.ptx
expect 0 check --fail-on none assumed.ptx
says out "'q') is a buffer of 4096 bytes in constant memory" 'terminated 1'

finish
