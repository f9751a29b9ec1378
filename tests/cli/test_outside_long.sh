#!/usr/bin/env bash
# outside with a compiler that hangs (a driver: test_drivers.sh), with more kernels, and with clang and Oclgrind where they are installed.
. "$(dirname "$0")/common.sh"

expect 0 outside --subject compiler:absent-1 --cases 300 --seed 0x5eed1
says err "compiler:absent-1: left out"
valid=$(sed -n 's/.* \([0-9]*\) valid.*/\1/p' out)
[ "${valid:-0}" -ge 270 ] || failed "of 300 portable kernels only $valid are valid: $(head -9 out)"

# ---- hangs: CPU time is used up, again and again ----

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
fails spinning "hang" '[ $# -gt 1 ] || exit 0; while :; do :; done' 1
says out "its program shows the finding: yes"

# ---- real ones ----

expect 0 subjects --outside
if ! command -v clang-14 >/dev/null; then
    echo "left out: there is no clang-14 here"
    finish
fi
cp out subjects
# Each way to say it, in each language that has a compiler here; a browser, which takes seconds to start, is asked two of
# them, and all every night.
for knobs in votes floats narrow gotos mixed,struct outlined,tables shared-global,unsigned opaque-conditions,opaque-switches; do
    for subject in compiler:clang-14:-O1 compiler:clang-14:cuda:-O1 webgpu:chromium; do
        grep -q "^${subject%:-O1}" subjects || continue
        case "${SIMTFUZZ_WHOLE:-}$subject $knobs" in webgpu*\ votes | webgpu*\ mixed,struct) ;; webgpu*) continue ;; esac
        expect 0 outside --subject $subject --cases 4 --seed 0x32 --knobs $knobs
        says out "agrees 4"
    done
done
expect 0 outside --subject compiler:clang-14:-O2 --subject compiler:clang-14:cuda:-O1 --cases 24 --seed 0x31
says out "compiler:clang-14:-O2: 24 kernels" "agrees 24"
if grep -q opencl:oclgrind subjects; then
    expect 0 outside --subject opencl:oclgrind:-cl-opt-disable --cases 16 --seed 0x31
    says out "opencl:oclgrind:-cl-opt-disable: 16 kernels" "agrees 16"
    # A fault of the register is told, and is no finding (docs/trophies.md).
    printf 'launch(threads = 2, warp = 1);\nkernel k() { private int x; switch (tid & 3) { case 2: case 1: x = 1; } }\n' >known.simt
    if grep -q 'Oclgrind 21.10' subjects; then
        expect 0 outside --subject opencl:oclgrind --knobs outlined --kernel known.simt
        says out "wrong-value 1 (1 known)"
        expect 0 outside --subject opencl:oclgrind --knobs outlined,opaque-switches --kernel known.simt
        says out "agrees 1"
    fi
else
    echo "left out: there is no Oclgrind here"
fi
# ---- Vulkan ----

if grep -q vulkan:swiftshader subjects; then
    # glslang 12 refuses what it makes of this one: a finding, with what runs it.
    printf 'launch(threads = 1, warp = 1, blocks = 1); global int b; kernel k() { b = 0 || threads; }\n' >refused.simt
    if glslangValidator --version | grep -q '^Glslang Version: 11:12.0.0'; then
        expect 1 outside --subject vulkan:swiftshader --knobs none --as-it-is --ignore-known --kernel refused.simt --tests 0 --output findings
        says out "outside|compile-error|vulkan:swiftshader|glslang makes invalid SPIR-V"
        cat findings/*/README.md >report
        says report "cc host.c -lvulkan && glslangValidator" "kernel.comp -o kernel.spv && NODEVICE_SELECT=1 VK_ICD_FILENAMES="
        cp findings/*/host.c host.c
        rm -rf findings
        expect 0 outside --subject vulkan:swiftshader --knobs none --as-it-is --kernel refused.simt --tests 0
        says out "compile-error 1 (1 known)"
        # The program of the bundle says what differs: nothing, and then one word, if something else is expected.
        if echo '#include <vulkan/vulkan.h>' | cc -fsyntax-only -x c - 2>/dev/null; then
            expect 0 lower refused.simt --to glsl --knobs fixed-size
            glslangValidator -V --target-env vulkan1.1 -S comp -o kernel.spv out >err || failed "$(tail -1 err)"
            cc host.c -lvulkan || failed "the bundle's program does not compile"
            export VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json
            ./a.out SwiftShader || failed "the bundle's program sees a difference"
            sed 's/expected.. = {1}/expected[] = {4}/' host.c >other.c
            cc other.c -lvulkan && ./a.out SwiftShader >said && failed "the bundle's program sees no difference"
            says said "word 0 is 1, not 4"
            unset VK_ICD_FILENAMES
        fi
    fi
else
    echo "left out: there is no Vulkan here"
fi

# A compiler with a planted fault: found, confirmed, attributed.
fake wrong 'clang-14 -cc1 -triple nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -DSIMTFUZZ_BARE -w -O1 -S -o "$2" "$1" && sed -i "s/xor.b32/or.b32/" "$2"'
expect 1 outside --subject "compiler:$folder/wrong {in.cl} {out}" --subject compiler:clang-14:-O2 --cases 16 --seed 2 --tests 40 --output findings
says out "wrong-value" "agrees: compiler:clang-14:-O2"
set -- findings/*
says "$1/README.md" "| word of the buffer |" "Made small with" "simtfuzz outside --subject" " of seed 0x2"
says "$1/memory.txt" "initial:" "expected:" "actual:"
[ -s "$1/kernel.cl" ] && [ -s "$1/kernel.simt" ] || failed "a finding without its kernel"
# Every kernel of the corpus that can be emitted compiles.
compiled=0
while read -r file; do
    for language in opencl cuda; do
        "$simtfuzz" lower "$file" --to $language --expose >text 2>/dev/null || continue
        case $language in
        opencl) flags='-x cl -cl-std=CL2.0' ;;
        cuda) flags='-x cuda -fcuda-is-device' ;;
        esac
        clang-14 -cc1 -triple nvptx64-nvidia-cuda $flags -DSIMTFUZZ_BARE -w -fsyntax-only text 2>err || failed "$file: $(head -3 err)"
        compiled=$((compiled + 1))
    done
done < <(ls "$source"/corpus/papers/*.simt | head -24)
[ $compiled -gt 12 ] || failed "only $compiled kernels were emitted"
finish
