#!/usr/bin/env bash
# lower --to opencl, cuda, glsl; subjects --outside; outside with compilers and programs that behave badly, and a little clang.
# What takes longer: test_outside_long.sh.
. "$(dirname "$0")/common.sh"
data=$source/tests/data/outside

# ---- texts ----

expect 0 lower "$data/shapes.simt" --to opencl --expose --knobs outlined,mixed,tables,fixed-size,noinline
cmp -s out "$data/shapes.cl" || failed "shapes.cl is no longer what is emitted: $(diff out "$data/shapes.cl" | head -3)"
expect 0 lower "$data/shapes.simt" --to cuda --knobs opaque-conditions,opaque-switches,unsigned,struct,shared-global
cmp -s out "$data/shapes.cu" || failed "shapes.cu is no longer what is emitted: $(diff out "$data/shapes.cu" | head -3)"
expect 0 lower "$data/shapes.simt" --to glsl --expose --knobs mixed,tables,opaque-switches,opaque-conditions,votes
cmp -s out "$data/shapes.comp" || failed "shapes.comp is no longer what is emitted: $(diff out "$data/shapes.comp" | head -3)"
expect 0 lower "$data/shapes.simt" --to wgsl --expose --knobs mixed,tables,opaque-switches,votes
cmp -s out "$data/shapes.wgsl" || failed "shapes.wgsl is no longer what is emitted: $(diff out "$data/shapes.wgsl" | head -3)"
expect 0 lower "$data/shapes.simt" --to opencl --json
json

# What a language cannot say is refused with its name and line.
refuses() {
    printf '%s\n' "$3" >refused.simt
    expect 2 lower refused.simt --to "$1"
    says err "$2"
}
refuses opencl "opencl has no 'vote', at line 1" 'kernel k() { private int x; x = vote_all(tid); }'
refuses cuda "cuda has no 'havoc', at line 1" 'kernel k() { private int x; havoc(x); }'
refuses opencl "opencl has no 'sync', at line 1" 'kernel k() { sync(1, 4); }'
refuses opencl "opencl has no recursion: function 'f' at line 1" 'void f(int n) { if (n) f(n - 1); } kernel k() { f(2); }'
refuses glsl "glsl has no barrier in a block, at line 1" 'kernel k() blocks { Start: barrier(); goto End; }'
refuses cuda "cuda has no choice of threads between blocks, at line 1" 'kernel k() blocks { Start: goto A, B; A: goto End; B: goto End; }'
# Basic blocks, written so or made, are labels and gotos; a target without a guard comes last.
printf 'global int a[4]; kernel k() blocks { private int x; Start: x = tid; goto End, Odd; Odd: assume(x & 1); a[tid] = 1; goto End; }\n' >blocks.simt
expect 0 lower blocks.simt --to opencl --knobs none
says out "if ((((uint)(l_x) & 1u) != 0u)) goto k0_b_Odd;" "goto k0_end;"
expect 0 lower blocks.simt --to cuda --knobs outlined
says out "goto k0_b_Odd;" "return;"
# Without goto they are cases of a switch in a loop.
expect 0 lower blocks.simt --to wgsl --knobs opaque-switches
says out "switch (sf_block ^ k0_mem[5]) {" "default: { return; }" "if (((u32(l_x) & 1u) != 0u)) { sf_block = 1; break; }"
expect 0 lower blocks.simt --to glsl --knobs none
says out "switch (sf_block) {" "case 1: {"
if command -v glslangValidator >/dev/null; then
    cp out blocks.comp
    glslangValidator -V --spirv-val --target-env vulkan1.1 blocks.comp -o blocks.spv >err || failed "blocks: $(tail -3 err)"
fi
expect 0 lower "$data/shapes.simt" --to opencl --knobs gotos
says out "if ((l_cond != 0)) goto k0_b_body22;" "k0_b_Start:;"
! grep -qF 'while (' out || failed "a loop is left beside the gotos"
expect 0 lower "$data/shapes.simt" --to cuda --knobs floats,narrow,votes
says out "sf_fmul(" "sf_nless(" "__any_sync(1u << sf_lane(), " "float high = (float)(b >> 16u);"
expect 0 lower refused.simt --to cfg
refuses glsl "glsl has no recursion: function 'f' at line 1" 'void f(int n) { if (n) f(n - 1); } kernel k() { f(2); }'
refuses wgsl "wgsl has no 'atomic_cas' that never fails, at line 1" 'global int a; kernel k() { atomic_cas(a, 0, 1); }'
refuses wgsl "wgsl has no element 4 of 'a'" 'global int a[2]; kernel k() { if (0) a[4] = 1; }'
# What is not chosen is not read from memory, and is not there to be folded; cases that fall through are written out.
printf 'global int a[2]; kernel k() { private int x; x = tid ? a[0] : 2147483647 + 1; switch (x) { case 1: x = 5; case 2: x = 6; } }\n' >lazy.simt
expect 0 lower lazy.simt --to wgsl --knobs none
says out "sf_take(((i32(sf_tid) != 0) && sf_put(&k0_t0, k0_mem[0 + 0])) || sf_put(&k0_t0, (-2147483647 - 1)), &k0_t0)" "default: {}"
[ "$(grep -c 'l_x = 6' out)" = 2 ] || failed "a case that falls through is not written out"
# Each way to say it is GLSL: glslang takes it, and its validator what it makes.
if command -v glslangValidator >/dev/null; then
    for knobs in none votes mixed,wide,votes shared-global outlined,struct fixed-size,unsigned opaque-conditions,opaque-switches mixed,tables; do
        expect 0 lower "$data/shapes.simt" --to glsl --expose --knobs $knobs
        cp out shapes.comp
        glslangValidator -V --spirv-val --target-env vulkan1.1 shapes.comp -o shapes.spv >err || failed "$knobs: $(tail -3 err)"
        ! grep -q Errors err || failed "$knobs: $(tail -3 err)"
    done
fi
printf 'void f(int n) { if (n) f(n - 1); } kernel k() { f(2); }\n' >recursive.simt
expect 0 lower recursive.simt --to cuda
expect 2 lower recursive.simt --to cuda --knobs mixed,nonsense
says err "there is no 'nonsense'"

# ---- profiles ----

expect 0 gen --features portable --seed 4 --count 20
cp out kernels
! grep -qE 'vote_|havoc|assume|assert|sync\(|blocks \{|\.entry' kernels || failed "a portable kernel is not portable"
expect 0 outside --subject compiler:absent-1 --cases 60 --seed 0x5eed1
says err "compiler:absent-1: left out"
valid=$(sed -n 's/.* \([0-9]*\) valid.*/\1/p' out)
[ "${valid:-0}" -ge 54 ] || failed "of 60 portable kernels only $valid are valid: $(head -9 out)"
expect 0 gen --features portable-uniform --seed 4 --count 20
says out "--features portable-uniform"
expect 0 outside --subject compiler:absent-1 --cases 60 --features portable-uniform --seed 0x5eed1
says out " 60 valid"
expect 0 outside --subject compiler:absent-1 --cases 60 --features portable,racy
says out "not valid: race"

# ---- compilers that behave badly ----

fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
# fails NAME WHAT SCRIPT: a compiler that does so is reported as what it is, once, and all cases are run.
fails() {
    fake "$1" "$3"
    expect 1 outside --subject "compiler:$folder/$1 {in.cl} {out}" --cases ${4:-6} --batch 3 --seed 1 --cpu 1 --tests 0 --output findings
    says out "$2" "${4:-6} cases, ${4:-6} valid"
    ls findings | grep -q . || failed "$1: nothing was written"
    rm -rf findings
}
fails refusing 'outside|compile-error|compiler:'"$folder"'/refusing|I do not like it at line #' 'echo "x.cl:3: error: I do not like it at line 3"; exit 1'
fails asserting "Eyes != Open && " 'echo "cc: Foo.cpp:12: int f(): Assertion \`Eyes != Open && \"3\"'"'"' failed."; kill -ABRT $$'
fails framed "llvm::Foo::bar" 'echo "PLEASE submit a bug report"; echo "Stack dump:"; echo " #0 0x00007f12 llvm::sys::PrintStackTrace(x) (lib+1)"; echo " #1 0x00007f13 llvm::Foo::bar(int) (lib+1)"; exit 139'
fails silent "run-error" 'exit 0'
# Rubbish for PTX is nothing that we can judge.
fake rubbish 'echo ".version 7.0 and then what" >"$2"'
expect 0 outside --subject "compiler:$folder/rubbish {in.cl} {out}" --cases 4 --seed 1
says out "unknown 4" "unknown: line 1"
# One text of several is refused: that one is found, the others agree with nothing.
fake picky 'n=$(grep -c "^__kernel" "$1"); [ $n -gt 1 ] && { echo "error: more than I can take"; exit 1; }; echo rubbish >"$2"'
expect 0 outside --subject "compiler:$folder/picky {in.cl} {out}" --cases 4 --batch 4 --seed 1
says out "unknown 4"
expect 0 outside --subject "compiler:no placeholders" --cases 1
says err "a command names its files"

# ---- programs that speak the protocol, and some that do not ----

# speaks NAME SCRIPT: a program that answers `hello` well and a request with the script.
speaks() {
    fake "$1" "take() { read -r n && head -c \"\$n\" >request; }
say() { printf '%s\\n' \"\$(printf \"\$1\" | wc -c)\"; printf \"\$1\"; }
echo noise >&2
take
say 'message 6\\nanswer\\nname 4\\nfake\\nversion 3\\n0.1\\nlanguage 6\\nopencl\\n'
while take; do
$2
done"
}
tells() {
    speaks "$1" "$3"
    expect "${4:-1}" outside --subject "exec:$folder/$1" --cases 2 --batch 2 --seed 1 --cpu 1 --tests 0
    says out "$2" "2 cases, 2 valid"
}
tells dies "outside|crash|" 'kill -SEGV $$'
tells leaves "outside|crash|" 'exit 0'
tells half "what came back is no answer" 'printf "100\nmessage 6"; exit 0'
tells babbles "what came back is no answer" 'echo "Loading driver ..."'
tells counts "what came back is no answer" 'echo 99999999999999999999'
tells empty "unknown 2" "say 'message 6\\nanswer\\n'" 0
tells short "the answer has another memory" "say 'end 5\\nfinal\\ncause 0\\n\\nmemory 4\\nabcd\\nend 5\\nfinal\\ncause 0\\n\\nmemory 0\\n\\n'"
tells refuses "outside|compile-error|exec:$folder/refuses|bad line #" "say 'log 17\\nerror: bad line 3\\nend 13\\ncompile-error\\ncause 0\\n\\nmemory 0\\n\\nend 13\\ncompile-error\\ncause 0\\n\\nmemory 0\\n\\n'"
expect 0 outside --subject exec:/bin/true --subject exec:/no/such/program --subject opencl:no-such-platform \
    --subject vulkan:no-such-device --cases 1
says err "exec:/bin/true: left out" "exec:/no/such/program: left out" "opencl:no-such-platform: left out" \
    "vulkan:no-such-device: left out"
expect 2 serve nothing

# A browser that behaves so: who speaks its pipes is a browser.
browser() {
    cat >fake.py <<'END'
import base64, json, os, struct, sys
said = b''
def tell(**what):
    os.write(4, json.dumps(what, separators=(',', ':')).encode() + b'\0')
def final(words, change=0):
    return 'final ' + base64.b64encode(struct.pack('<i', change) + base64.b64decode(words)[4:]).decode()
while piece := os.read(3, 65536):
    said += piece
    while b'\0' in said:
        call, said = said.split(b'\0', 1)
        call = json.loads(call)
        text = call['params'].get('expression', '')
        result = {'product': 'Fake/1', 'targetId': 'T', 'sessionId': 'S'}
        if text == 'describe()':
            result = {'result': {'value': 'a device'}}
        elif text:
            kernels = [k.split(' ')[2] for k in text.split("'")[3].split(';')]
            result = {'result': {'value': ANSWER}}
            tell(method='Some.event', params={'value': 'no answer'})
        tell(id=call['id'], result=result)
END
    sed -i "s/ANSWER/$2/" fake.py
    fake "$1" "exec python3 $folder/fake.py"
    expect "${4:-1}" outside --subject "webgpu:$folder/$1" --kernel one.simt --as-it-is --knobs none --cpu 1 --tests 0 --output findings
    says out "$3"
}
printf 'launch(threads=1, warp=1, blocks=1); global int a; kernel k() { a = 7; }\n' >one.simt
browser right "';'.join(final(k, 7) for k in kernels)" "agrees 1" 0
browser wrong "';'.join(final(k, 6) for k in kernels)" "word 0 under the implementation: 6 instead of 7"
page=$(ls "$folder"/findings/*/host.html)
says "$page" "fn k0(" "const expected = [7];"
if command -v chromium >/dev/null && [ -z "${ASAN_OPTIONS:-}" ]; then
    chromium --headless=new --no-sandbox --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --timeout=5000 \
        --user-data-dir="$folder/profile" --dump-dom "file://$page" >dom 2>/dev/null
    says dom "all words are right"
fi
rm -rf findings
browser refuses_wgsl "'compile-error ' + base64.b64encode(b'no such thing').decode()" "outside|compile-error|webgpu:"
browser cannot "'unsupported ' + base64.b64encode(b'not uniform').decode()" "unknown: not uniform" 0
browser gone "sys.exit(0)" "outside|crash|"
browser rubbish "'nonsense'" "unknown 1" 0
rm -rf findings
expect 0 outside --subject webgpu:no-such-browser --cases 1
says err "webgpu:no-such-browser: left out: simtfuzz serve: no-such-browser is not installed"

# The example of docs/protocol.md agrees; what is wrong with its steps is seen where its memory is right.
sed -n '/^```python/,/^```$/p' "$source/docs/protocol.md" | sed '1d;$d' >simulator.py
expect 0 outside --subject "exec:python3 $folder/simulator.py" --cases 40 --seed 0x5
says out "40 kernels" "agrees 40"
[ "$(wc -l <simulator.py)" -le 60 ] || failed "the example of docs/protocol.md has $(wc -l <simulator.py) lines"
printf 'launch(threads = 2, warp = 2, blocks = 1); global int a[2] = {5, 5}; global int b[2]; global int n;
kernel k() { a[tid] = 5; barrier(); b[tid] = a[1 - tid]; atomic_add(n, 1); }\n' >steps.simt
# steps WHAT OLD NEW: the example with OLD replaced by NEW.
steps() {
    sed "s/$2/$3/" simulator.py >broken.py
    ! cmp -s broken.py simulator.py || failed "the example has no $2"
    expect 1 outside --subject "exec:python3 $folder/broken.py" --kernel steps.simt --as-it-is --tests 0 --output findings
    says out "wrong-steps" "$1"
    cat findings/*/log.txt >log
    cat findings/*/README.md >report
    says report "Memory at the end is right"
    rm -rf findings
}
expect 0 outside --subject "exec:python3 simulator.py" --kernel steps.simt --as-it-is
steps "steps: race" 'yield \(steps.append.*\)' 'tid and (yield \1)'
says log "thread 0 reads 5 from word 1; thread 1 writes 5 to word 1; no barrier between"
steps "steps: a read gives what is not there" '{word} {memory.word.}' '{word} {memory[word] + (kind == "r")}'
says log "thread 0 reads 6 from word 1, where 5 is"
steps "steps: a thread has another effect" "^ *access('w', s.1., lambda.*" '&; &'
says log "effect 2 of thread 0: it must be: thread 0 writes 5 to word 2; it was: thread 0 writes 5 to word 0"
steps "steps: a line is none" '{number} b' '{number} barrier'

# ---- a real one ----

expect 0 subjects
says out "threads" "crs"
expect 0 subjects --outside
cp out found
if grep -q vulkan:swiftshader found; then
    expect 0 outside --subject vulkan:swiftshader --cases 6 --seed 0x31
    says out "vulkan:swiftshader: 6 kernels" "agrees 6"
    # A driver that aborts when it is loaded, one that is not there, and no compiler.
    printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "./bad.so", "api_version": "1.1.0"}}' >bad.json
    bad="vulkan:any:VK_ICD_FILENAMES=$folder/bad.json"
    printf '#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n' | cc -shared -fPIC -x c - -o bad.so
    expect 0 outside --subject "$bad" --subject compiler:clang-14 --cases 1 --seed 0x31
    says err "$bad: left out: The process died by signal 6"
    rm bad.so
    expect 0 outside --subject "$bad" --cases 1
    says err "$bad: left out: simtfuzz serve: libvulkan gives no instance"
    PATH=/nowhere "$simtfuzz" outside --subject vulkan:swiftshader --cases 1 >/dev/null 2>err
    says err "vulkan:swiftshader: left out: simtfuzz serve: glslangValidator is not installed"
else
    echo "left out: there is no Vulkan here"
fi
if grep -q webgpu:chromium found; then
    expect 0 outside --subject webgpu:chromium --cases 8 --seed 0x31
    says out "webgpu:chromium: 8 kernels" "agrees 8"
    # WGSL has no barrier where it cannot be seen that all come.
    printf 'launch(threads=2, warp=2, blocks=1); global int n = 1; kernel k() { if (n) { barrier(); } }\n' >open.simt
    expect 0 outside --subject webgpu:chromium --kernel open.simt
    says out "unknown 1" "must only be called from uniform control flow"
else
    echo "left out: there is no browser with WebGPU here"
fi
if grep -q opencl:oclgrind found; then
    expect 0 outside --subject opencl:oclgrind:-cl-opt-disable --cases 8 --seed 0x31
    says out "opencl:oclgrind:-cl-opt-disable: 8 kernels" "agrees 8"
else
    echo "left out: there is no Oclgrind here"
fi
if ! command -v clang-14 >/dev/null; then
    echo "left out: there is no clang-14 here"
    finish
fi
says found "compiler:clang-14:-O2" "14."
# Commands one after the other, and what stands between them.
expect 1 outside --subject 'compiler:clang-14 -cc1 -triple nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -DSIMTFUZZ_BARE -w -S -o {1} {in.cl} && cp {1} {2} && false {out}' --cases 1 --seed 0x31 --tests 0
says out "compile-error 1"
if command -v opt-14 >/dev/null; then
    expect 0 outside --subject compiler:opt-14 --subject compiler:opt-14:sroa,gvn --cases 6 --seed 0x31
    says out "compiler:opt-14: 6 kernels" "compiler:opt-14:sroa,gvn: 6 kernels" "agrees 6"
    expect 1 outside --subject compiler:opt-14:no-such-pass --cases 1 --seed 0x31 --tests 0 --output findings
    says out "outside|compile-error|compiler:opt-14|unoptimised"
    cat findings/*/log.txt >log
    says log "unknown pass name 'no-such-pass'"
    cat findings/*/run.sh >script
    says script "clang-14 -cc1" "&& opt-14 -passes=no-such-pass" "&& llc-14"
fi
expect 0 outside --subject compiler:absent-1 --subject compiler:opt-99 --cases 1
says err "compiler:opt-99: left out: opt-99 is not installed"
expect 0 outside --subject compiler:clang-14:-O2 --subject compiler:clang-14:cuda:-O1 --cases 6 --seed 0x31 \
    --knobs gotos,floats,narrow,votes
says out "compiler:clang-14:-O2: 6 kernels" "agrees 6"
expect 0 outside --subject compiler:clang-14:-O2 --subject compiler:clang-14:cuda:-O1 --cases 3 --seed 0x31
says out "compiler:clang-14:-O2: 3 kernels" "agrees 3"
finish
