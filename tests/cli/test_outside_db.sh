#!/usr/bin/env bash
# Campaigns against outside implementations: their database, --jobs and --resume, `run --subject`, what triage, replay,
# regress and report make of their findings, and bundles that show the fault without simtfuzz.
. "$(dirname "$0")/common.sh"
liar="exec:$helper liar" # memory stays as it was

# ---- the database ----

expect 1 outside --subject "$liar" --cases 40 --batch 8 --jobs 2 --seed 0x1 --tests 60 --db liar.db
says out "campaign 1 of liar.db, seed 0x1: 1 new findings" "finding 1 of the database" "40 cases, 40 valid"
expect 0 triage list --db liar.db
says out "open" "outside|wrong-value|exec:$helper|nothing" "c1"
expect 0 triage list --db liar.db --oracle outside --json
json
expect 0 triage show 1 --db liar.db
says out '"implementation": "exec:' '"version": "liar 1.0"' '"knobs": "' '"vanishes": "nothing"' \
    "minimised kernel (1 statements" "simtfuzz triage bundle 1 --db liar.db"
expect 0 triage show 1 --db liar.db --json
json
expect 0 triage export 1 --db liar.db -o exported.simt
says exported.simt "// with: simtfuzz outside --subject 'exec:$helper liar' --knobs" "--kernel exported.simt"
eval "$(sed -n 's|^// with: simtfuzz|"$simtfuzz"|p' exported.simt) >out 2>err"
says out "wrong-value 1"
expect 0 status --db liar.db
says out "2 of 2" "finished"
times=$("$simtfuzz" triage list --db liar.db --json | sed 's/.*"occurrences": \([0-9]*\).*/\1/')

# Two halves are the whole; a campaign that has ended is only told; another number of workers is another campaign.
expect 1 outside --subject "$liar" --cases 16 --batch 8 --jobs 2 --seed 0x1 --tests 60 --db halves.db
expect 1 outside --subject "$liar" --cases 40 --batch 8 --jobs 2 --seed 0x1 --tests 60 --db halves.db --resume
says out "24 cases, 24 valid" "campaign 1 of halves.db"
expect 1 outside --subject "$liar" --cases 40 --batch 8 --jobs 2 --seed 0x1 --tests 60 --db halves.db --resume
says out "0 cases" "1 new findings"
again=$("$simtfuzz" triage list --db halves.db --json | sed 's/.*"occurrences": \([0-9]*\).*/\1/')
[ "$times" -gt 20 ] && [ "$times" = "$again" ] || failed "$times occurrences, and $again in two halves"
expect 2 outside --subject "$liar" --cases 40 --db halves.db --resume
says err "there is no unfinished campaign"
expect 2 outside --subject "$liar" --cases 4 --resume
says err "--resume goes on with a campaign of a --db"

# What is there is only counted: nothing is made small again, and it is not new.
expect 1 outside --subject "$liar" --cases 8 --seed 0x2 --db liar.db
says out "0 new findings, 1 open since before"
expect 0 run --subject "$liar" --cases 8 --seed 0x2 --db liar.db --with notify.fail-on=new
says out "campaign 3 of liar.db" "1 open since before"
expect 0 triage status 1 known L-1 --db liar.db
expect 0 run --subject "$liar" --cases 8 --seed 0x3 --db liar.db
says out "0 open since before"

# A killed worker's campaign goes on.
fake() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
"$simtfuzz" outside --subject "$liar" --time 60s --batch 4 --seed 0x9 --tests 0 --db killed.db >killed 2>&1 &
pid=$!
for i in $(seq 100); do
    cases=$("$simtfuzz" status --db killed.db --json 2>/dev/null | sed -n 's/.*"cases": \([0-9]*\).*/\1/p' | head -1)
    [ "${cases:-0}" -ge 8 ] && break
    sleep 0.05
done
kill -KILL $pid
wait $pid 2>/dev/null
expect 2 run --resume --db killed.db --cases 1
says err "there is no unfinished campaign"
expect 1 outside --subject "$liar" --cases $((cases + 24)) --batch 4 --seed 0x9 --tests 0 --db killed.db --resume
says out "campaign 1 of killed.db"
expect 0 db migrate killed.db

# run's own campaigns and these do not take each other for their own.
expect 2 run --subject "$liar" --mutate 5 --cases 1 --db x.db
says err "--mutate is not for outside implementations"
expect 0 run --config outside --check
says out "[outside]" "subject = all"
expect 0 run --subject "$liar,compiler:clang-14:-O1" --check
says out "subject = exec:$helper liar,compiler:clang-14:-O1"
printf '[outside]\nsubject = %s\n[budget]\ncases = 2\n' "$liar" >hunt.ini
expect 1 run --config hunt.ini --db hunt.db
says out "campaign 1 of hunt.db"

# ---- again ----

expect 0 replay 1 --db liar.db
says out "same: outside|wrong-value"
expect 0 replay 1 --raw --db liar.db
expect 0 regress --db liar.db
says out "known, still shows"
expect 2 reduce 1 --db liar.db
says err "outside implementation"
"$helper" sql liar.db "UPDATE examples SET evidence = replace(evidence, '$helper', '/no/such/program')"
expect 2 replay 1 --db liar.db
expect 0 regress --db liar.db
says out "cannot be run here" "1 could not be run"
"$helper" sql liar.db "UPDATE examples SET evidence = '{}'"
expect 2 triage bundle 1 --db liar.db
says err "its evidence is damaged"

# A night's steps, with implementations that are here; the second night knows the first one's findings.
printf '[outside]\nsubject = %s\n[budget]\ncases = 8\nminimise-tests = 20\n[notify]\nfail-on = new,regressed\n' "$liar" >night.ini
night() {
    SIMTFUZZ=$simtfuzz CONFIG=night.ini NIGHT=nights SEED=$1 bash "$source/packaging/nightly.sh" check again hunt report verdict >out 2>err
}
night 0x1 && failed "the first night fails on what it finds: $(tail -3 out)"
says out "::error::finding 1, open"
night 0x2 || failed "the second night has nothing new: $(tail -3 out)"
says out "still shows"
says nights/report.html "exec:$helper"

# ---- bundles ----

expect 0 triage bundle 1 --db halves.db -o bundle --json
json
says bundle/README.md "wrong value" "Version: liar 1.0" "| word of the buffer |" "cc host.c && ./a.out"
if command -v cc >/dev/null; then
    says out '"shown": "yes"'
    says bundle/README.md "Run when this folder was written, it showed the finding: it ended with status 1, and printed"
    (cd bundle && cc host.c && ./a.out >said)
    [ $? -eq 1 ] || failed "the bundle's program does not show the difference"
    word=$(sed -n 's/^| \([0-9]*\) | \(-*[0-9]*\) | \(-*[0-9]*\) |$/word \1 is \3, not \2/p' bundle/README.md | head -1)
    says bundle/said "$word"
fi
fake no-cc/cc 'echo "no compiler here" >&2; exit 1'
PATH=$folder/no-cc:$PATH expect 0 triage bundle 1 --db halves.db -o unbuilt
says out "its program shows the finding: not run"
says unbuilt/README.md 'It was not run when this folder was written: `cc host.c` failed with `no compiler here`.'
cp halves.db other.db
"$helper" sql other.db "UPDATE examples SET evidence = replace(evidence, ' liar', ' no-such-mode')"
expect 0 triage bundle 1 --db other.db -o other
if command -v cc >/dev/null; then
    says out "its program shows the finding: no"
    says other/README.md "it did NOT show the finding"
fi
expect 0 report --db halves.db --html report.html --markdown report.md --json
json
says out '"outside": [{"implementation": "exec:' '"version": "liar 1.0", "kernels": 40' '"findings": [1]'
says report.html "<td>liar 1.0</td>" 'finding 1</a>, open: wrong-value, nothing'
says report.md "Outside implementations" "liar 1.0 | 40 |"

# ---- a compiler that is mended, and an OpenCL platform, where they are installed ----

if command -v clang-14 >/dev/null; then
    bare='clang-14 -cc1 -triple nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -DSIMTFUZZ_BARE -w -O1 -S -o "$2" "$1"'
    fake wrong "$bare"' && sed -i "s/xor.b32/or.b32/" "$2"'
    printf 'launch(threads = 4, warp = 2);\nglobal int g[4];\nkernel k() { private int x; x = tid; g[tid] = (x + 1) ^ 3; x += g[tid]; }\n' >xor.simt
    expect 1 outside --subject "compiler:$folder/wrong {in.cl} {out}" --kernel xor.simt --tests 30 --db wrong.db
    expect 0 triage bundle 1 --db wrong.db -o compiler
    (cd compiler && sh run.sh) || failed "run.sh does not compile"
    says compiler/kernel.ptx "or.b32"
    [ "$(wc -c <compiler/kernel.cl)" -le 600 ] || failed "a kernel of $(wc -c <compiler/kernel.cl) bytes"
    fake wrong "$bare"
    expect 1 replay 1 --db wrong.db
    says out "the implementation is right now"
    expect 0 regress --db wrong.db --update
    says out "gone: mark it fixed: now it is"
    expect 0 triage list fixed --db wrong.db
    says out "fixed"
else
    echo "left out: there is no clang-14 here"
fi
"$simtfuzz" subjects --outside >subjects
links() { echo 'int main(void) { return 0; }' | cc -x c - -o linked "$1" 2>/dev/null; }
library=
for name in -lOpenCL -l:libOpenCL.so.1; do
    [ -n "$library" ] || ! links $name || library=$name
done
if grep -q 'Oclgrind 21.10' subjects && [ -e /usr/include/CL/cl.h ] && [ -n "$library" ]; then
    printf 'launch(threads = 2, warp = 1);\nkernel k() { private int x; switch (tid & 3) { case 2: case 1: x = 1; } }\n' >known.simt
    expect 0 outside --subject opencl:oclgrind --knobs outlined --kernel known.simt --db oclgrind.db
    expect 0 triage list known --db oclgrind.db
    says out "known oclgrind-narrow-integers"
    expect 0 triage bundle 1 --db oclgrind.db -o oclgrind
    (cd oclgrind && cc host.c $library && OCL_ICD_VENDORS=/usr/lib/oclgrind/liboclgrind-rt-icd.so ./a.out Oclgrind >said)
    [ $? -eq 1 ] || failed "the bundle's program does not show the difference in Oclgrind"
    says oclgrind/said "Oclgrind: build 0, run 0" ", not "
else
    echo "left out: there is no Oclgrind, or nothing to link with it, here"
fi
# A fault that another platform in the same process hides: PoCL steps over what raised SIGFPE.
if grep -q 'opencl:rusticl .* 22\.3\.6' subjects && [ -e /usr/include/CL/cl.h ] && [ "$library" = -lOpenCL ]; then
    printf 'launch(threads = 1, warp = 1);\nglobal int b;\nkernel k() { b = -2147483648 %% -1; }\n' >remainder.simt
    expect 1 outside --subject opencl:rusticl --knobs none --as-it-is --ignore-known --kernel remainder.simt --tests 0 --output rusticl
    says out "its program shows the finding: yes"
    says rusticl/*/log.txt "died by signal 8"
else
    echo "left out: there is no rusticl of Mesa 22.3.6, or nothing to link with it, here"
fi
finish
