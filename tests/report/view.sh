#!/usr/bin/env bash
# Pages of `view` in headless Chromium: view.sh CHROMIUM SIMTFUZZ HELPER SOURCE. They say nothing on the console, fit 1400, 800 and
# 390 pixels, light and dark, and keys, clicks and addresses do what they say. How they look is asked by layout.sh.
chromium=$1
shift
. "$(dirname "$0")/../cli/common.sh"
. "$source/tests/report/night.sh"
. "$source/tests/report/chromium.sh"
export LC_ALL=C.UTF-8
cp "$source/tests/report/view_probe.js" "$source/tests/report/contrast.js" .

# What is asked of pages is noted, and asked in one go: a browser for the light ones, one for the dark ones.
declare -A asked=([light]= [dark]=)
ask() { # PAGE WIDTH light|dark QUESTIONS
    asked[$3]+="[\"$1\", $2, \"$4\"],"
}
answer() { # light|dark: in the file said, a line "= PAGE WIDTH QUESTIONS" before those of its answers
    frames view_probe.js 1400 about:blank | sed "s|<script|<script>const asked = [${asked[$1]}];</script>&|" >probe.html
    browse 1400,900 "$1" --virtual-time-budget=200000 --dump-dom "file://$folder/probe.html" >dom || failed "$1: the browser failed"
    sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed '1d; /<\/pre>/d' >said
    [ "$(grep -c '^= ' said)" = "$(grep -o '\[' <<<"${asked[$1]}" | wc -l)" ] || failed "$1: not every page was asked: $(head -c 300 dom)"
    awk '/^= / { page = $0 } /^WRONG/ { print page; print; wrong = 1 } END { exit !wrong }' said >wrong && failed "$1: $(cat wrong)"
    awk '/^= / { if (page != "" && !answers) { print page; bad = 1 } page = $0; answers = 0; next } /^ok|^ready/ { answers++ }
        END { exit bad || !answers }' said >wrong || failed "$1: nothing was said of $(cat wrong)"
    grep CONSOLE log && failed "$1: the console has messages"
}

expect 0 view "$source/corpus/papers/program1.simt" -o program1.html
expect 0 view "$source/corpus/progress/spin-lock-outside.simt" --against threads -o lock.html
for width in 1400 800 390; do
    ask program1.html $width light layout,timeline
    ask lock.html $width dark layout,timeline
done
ask program1.html 1400 dark layout,timeline,program1,playing
expect 0 view "$source/corpus/progress/spin-lock-outside.simt" --against convergence -o hang.html
ask hang.html 1400 light bothHang
expect 0 view "$source/corpus/progress/spin-lock-outside.simt" --witness hsa -o witness.html
ask witness.html 1400 light layout,timeline,witness
expect 0 view "$source/corpus/papers/lockstep-fig1a.simt" --subject predicated --against interleave -o stutter.html
ask stutter.html 1400 light layout,stutter
ask lock.html 1400 light layout,timeline,lock

printf 'launch(threads = 1);\nkernel k() { /* </script><img src=x onerror=alert(1)> \xe2\x80\xae */ }\n' >hostile.simt
expect 0 view hostile.simt -o hostile.html
ask hostile.html 1400 light hostile
# Litmus tests: in micro steps, and as graphs.
expect 0 view "$source/corpus/litmus/caches.litmus" --test mp-L1.warm+gls -o stale.html
expect 0 view "$source/corpus/litmus/ptx/MP+half-narrow.litmus" -o graph.html
for width in 1400 800 390; do
    ask stale.html $width dark layout
    ask graph.html $width light layout
done
ask stale.html 1400 light layout,staleLine
ask graph.html 1400 dark layout,graph
expect 0 view "$source/corpus/litmus/ptx/SB+sc.gpu.litmus" -o refused.html
ask refused.html 1400 light layout,refused
# A kernel over caches.
expect 0 view "$source/tests/data/stale.ptx" --subject crs:caches:coherent --schedule uniform --seed 213 -o caches.html
for width in 1400 390; do ask caches.html $width dark layout,timeline; done
ask caches.html 800 light caches
# Every kind of machine.
kinds=0
for what in "papers/program1.simt convergence" "papers/program1.simt thread-pc" "papers/program1.simt lockstep" \
    "papers/program1.simt predicated" "ptx/backwards.ptx block"; do
    set -- $what
    expect 0 view "$source/corpus/$1" --subject "$2" -o kind$kinds.html
    ask kind$((kinds++)).html 800 light layout,timeline,ready
done
# 64 lanes, 10^5 steps.
cat >big.simt <<'END'
launch(threads = 64, warp = 32);
shared int a[64];
kernel big() {
    private int i;
    while (i < 12000) {
        if ((i + tid) % 3 == 0)
            a[tid] = i;
        else if (tid > i)
            a[(tid + 1) % 64] = 1;
        i = i + 1;
    }
}
END
expect 0 view big.simt -o big.html
says out 'of which the page has 1 to 100000'
[ "$(stat -c %s big.html)" -lt 5000000 ] || failed "a page of $(stat -c %s big.html) bytes"
ask big.html 1400 light layout,timeline,ready

# A report leads to the views of its findings.
night night.db
expect 0 report --db night.db --html night.html
[ "$(grep -c '<a class="view" href="night.html.views/finding-[0-9]*.html">' night.html)" = 5 ] || failed "findings without a view"
for page in night.html.views/*.html; do
    ask "$page" 1400 light layout,timeline,ready
done
ask night.html.views/finding-1.html 800 dark layout,timeline,finding
answer dark
answer light
sed -n '/^= big.html/,/^= night/p' said >big
says big 'step 100,000 of 100,000'
echo "10^5 steps: $(stat -c %s big.html) bytes, $(grep ready big)"
finish
