#!/usr/bin/env bash
# PTX from somebody who means ill: bytes that are no text, texts cut off, settings without sense, kernels that
# run for ever, call themselves without end, leave their memory. A message says what and where; the status is 2
# for bad input, 0 for a kernel that goes wrong while it runs.
. "$(dirname "$0")/common.sh"

head='.version 7.0
.target sm_80
.address_size 64'

# kernel FILE BODY [SETTINGS]: an entry k with this body, from line 5 on.
kernel() {
    printf '// simtfuzz: %s\n%s\n%s\n' "${3-threads=4 warp=4}" "$head" ".entry k() { $2 }" >"$1"
}

# bad FILE MESSAGE [OPTIONS]: check says so.
bad() {
    local file=$1 message=$2
    shift 2
    expect 2 check "$file" "$@"
    cat out >>err
    says err "$file" "$message"
}

# ---- no PTX at all ----

mkdir folder folder.ptx
mkfifo pipe.ptx
: >empty.ptx
printf '\0' >nul.ptx
printf '\375\001%%s%%n\n' >bytes.ptx
printf '/* %s' "$head" >open.ptx
printf '%s\n' "$head" >bare.ptx
printf '%s\n.func f() { ret; }\n' "$head" >function.ptx
printf '%s\n.entry k();\n' "$head" >prototype.ptx
bad folder 'no *.simt, *.ptx or *.host file in this folder'
bad folder.ptx 'no *.simt, *.ptx or *.host file in this folder'
bad pipe.ptx 'it is not a regular file'
bad absent.ptx 'No such file'
bad empty.ptx 'empty.ptx:1:1: error:'
bad nul.ptx 'nul.ptx:1:1: error: unexpected byte 0x00'
bad bytes.ptx 'bytes.ptx:1:1: error: unexpected byte 0xfd'
bad open.ptx 'open.ptx:1:1: error: this comment is not closed'
for file in bare function prototype; do
    bad $file.ptx 'the module has no entry that can be run'
done
for file in folder.ptx pipe.ptx empty.ptx nul.ptx open.ptx; do
    expect 2 trace $file --subject crs
    expect 2 reduce $file --signature x
done
for file in folder.ptx pipe.ptx bytes.ptx open.ptx; do
    expect 2 lower $file --to ptx
    expect 2 lower $file --to crs
    says err $file
done

# ---- texts cut off, bytes changed: no status but 0 and 2 ----

long=$source/corpus/ptx/fib.nvcc.ptx
size=$(wc -c <"$long")
for ((i = 1; i < 24; i++)); do
    head -c $((size * i / 24)) "$long" >cut.ptx
    "$simtfuzz" lower cut.ptx --to crs >out 2>err </dev/null
    status=$?
    [ $status -eq 0 ] || [ $status -eq 2 ] || failed "$long cut at $((size * i / 24)): status $status"
    [ $status -eq 0 ] || says err 'cut.ptx'
    { head -c $((size * i / 24)) "$long"; printf '\\'; tail -c +$((size * i / 24 + 2)) "$long"; } >flip.ptx
    "$simtfuzz" lower flip.ptx --to crs >out 2>err </dev/null
    status=$?
    [ $status -eq 0 ] || [ $status -eq 2 ] || failed "$long changed at $((size * i / 24)): status $status"
done

# ---- too much of everything ----

repeat() { # COUNT TEXT
    printf "%0$1d" 0 | sed "s/0/$2/g"
}
kernel nest.ptx "$(repeat 9999 '{')$(repeat 9999 '}')"
bad nest.ptx 'nested deeper than 64 levels'
kernel paren.ptx ".reg .u32 r; mov.u32 r, $(repeat 9999 '(')1$(repeat 9999 ')');"
bad paren.ptx 'nested deeper than 64 levels'
printf '%s\n.entry %s() { ret; }\n' "$head" "$(repeat 5000 k)" >name.ptx
bad name.ptx 'longer than 4096 bytes'
kernel registers.ptx '.reg .u32 %r<99999999999>; ret;'
bad registers.ptx 'registers.ptx:5:27: error: this number must be at most 16777216'
kernel dimensions.ptx '.shared .b8 a[65536][65536][65536]; .reg .u32 r; ld.shared.u32 r, [a]; ret;'
bad dimensions.ptx 'an array has at most 4294967296 elements'
kernel shared.ptx '.shared .b8 a[16777216]; .reg .u32 r; ld.shared.u32 r, [a]; ret;' blocks=64
bad shared.ptx 'more than 4194304'
kernel local.ptx '.local .b8 a[16777216]; .reg .u32 r; ld.local.u32 r, [a]; ret;' threads=32
bad local.ptx 'needs 134217728 words of memory, limit 4194304'
kernel zero.ptx '.local .b8 a[0]; .reg .u32 r; ld.local.u32 r, [a]; ret;'
bad zero.ptx "at line 5"
printf '%s\n.extern .func g();\n.entry k() { call g; ret; }\n' "$head" >extern.ptx
bad extern.ptx "function 'g' has no body at line 5"

# ---- settings ----

kernel settings.ptx 'ret;' \
    'threads=8x8x8x8 warp=65 blocks=0 seed=-1 shared=x bind=3 reg:r init:q stack=foo,1,2 raw=1 %s%n'
bad settings.ptx "settings.ptx:1:14: error: 'threads' are 1 to 1024"
says err "a number up to 64 is wanted here, not '65'" "'blocks' are 1 to 2^31 - 1" "not 'foo,1,2'" "'raw' is written raw" "'%s%n' is no setting"
kernel stack.ptx 'ret;' "raw stack=$(repeat 300 'call,1,1+')"
bad stack.ptx 'tokens are type,mask,address'
kernel many.ptx 'ret;' "$(repeat 5000 'seed=1 ')"
bad many.ptx 'more than 4096 settings'
kernel names.ptx 'ret;' 'reg:nope=1 init:nope=1'
bad names.ptx "no variable 'nope'"
printf '// expect: bogus\n// expect crs: \n%s\n.entry k() { ret; }\n' "$head" >claims.ptx
bad claims.ptx "claims.ptx:1:12: error: 'bogus' is not a claim"

printf '%s\n' "$head" '.entry k(.param .u64 p, .param .u32 n)
{ .reg .b32 %r<3>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d0, %d1;
  @!%p st.global.u32 [%d2], %r1; ret; }' >good.ptx
for value in 0 -1 1025 99999999999999999999 x 8x 8x8x8x8 1x1x2000 ''; do
    expect 2 check good.ptx --set "threads=$value"
    says err "threads"
done
for value in bogus=1 threads , =; do
    expect 2 check good.ptx --set "$value"
    says err "--set wants threads=N"
done
bad good.ptx "there is no entry 'nope', but k" --entry nope
for value in p p= p=buffer: p=buffer:0 p=buffer:99999999999 p=buffer:16:bogus p=buffer:16:file:/dev/zero \
    n=-99999999999 7=1 =; do
    bad good.ptx error --bind "$value"
done
for value in -1 99999999999 x; do
    bad good.ptx 'a number up to 16777216' --shared $value
done
expect 2 reduce good.ptx
says err 'a kernel file needs --signature'
expect 2 lower good.ptx --to nope
cp good.ptx good.simt # what a text is does not depend on its file's name
expect 0 lower good.simt --to ptx
says out '.entry k('
expect 0 lower good.simt --to crs

# ---- kernels that go wrong: the answer says how, in which thread, at which line, at which address ----

# fares FILE TEXT...: check, status 0, says all this.
fares() {
    local file=$1
    shift
    expect 0 check --fail-on none "$file"
    says out "$@"
}
expect 0 check --fail-on none good.ptx --bind p=buffer:8
says out 'out_of_bounds 1' 'thread 2 at line 8: write of 4 bytes at global address 0x40000010008: byte 8 of p, which has 8 bytes' 'note: ' \
    'register %p may be read before it is written, line 8'
expect 0 check --fail-on none good.ptx --bind p=1
says out 'thread 0 at line 8: write of 4 bytes at global address 0x1: not a multiple of 4'
expect 0 check --fail-on none good.ptx --bind p=0 --json
says out '"out_of_bounds"' '"error": "out_of_bounds: thread 0 at line 8: write of 4 bytes at global address 0x0' '"notes": ['
expect 0 check --fail-on none good.ptx --set threads=1024,blocks=4,warp=64 --bind p=buffer:4096
says out 'terminated' 'thread 0 writes p[0] at line 8, thread 1024 writes it at line 8'
kernel spin.ptx 'L: bra L;'
fares spin.ptx 'nonterminating 1'
kernel count.ptx '.reg .u32 r; L: add.u32 r, r, 1; bra L;'
expect 0 check --fail-on none --budget 65536 count.ptx
says out 'step_limit 1' 'register r may be read before it is written, line 5'
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then # six seconds of executions that become longer
    expect 0 check --fail-on none count.ptx
    says out 'unknown   count.ptx: it was stopped before its end'
fi
kernel tokens.ptx 'L: ssy L; bra L;' 'threads=4 warp=4 raw'
fares tokens.ptx 'call_depth 1' 'thread 0 at line 5: more tokens on the stack of a warp than are kept'
kernel loose.ptx 'sync; ret;' 'threads=4 warp=4 raw'
fares loose.ptx 'stuck 1' 'thread 0 at line 5: '
kernel wild.ptx 'ret;' 'threads=4 warp=4 raw stack=call,1111,99999'
fares wild.ptx 'stuck 1'
printf '// simtfuzz: threads=4 warp=4\n%s\n.func f() { call f; ret; }\n.entry k() { call f; ret; }\n' "$head" >deep.ptx
fares deep.ptx 'call_depth 1' 'thread 0 at line 5: more calls of a lane than the limit'
# What is refused in one body is that kernel's matter.
printf '%s\n.entry good() { .shared .b32 s; st.shared.u32 [s], 1; ret; }\n.entry bad() { frobnicate; ret; }\n.func twice() { mov.u32 %%q, 1; ret; }\n.entry calls() { call twice; ret; }\n' "$head" >some.ptx
expect 2 check some.ptx
says out 'some.ptx: good'
says err "instruction 'frobnicate' is not supported" "'%q' is not declared"
expect 0 check --set threads=1 some.ptx --entry good
says out 'clean     some.ptx'
expect 2 check some.ptx --entry calls
says err "'%q' is not declared"
finish
