#!/usr/bin/env bash
# view: the page is complete, holds what it says, and says what it leaves out. What a browser makes of it: report.view.
. "$(dirname "$0")/common.sh"
export LC_ALL=C.UTF-8

# data FILE: the JSON in the page, in the file out.
data() {
    grep -a '^<script type="application/json"' "$1" | sed 's/^[^>]*>//' >out
    json
}

lock=$source/corpus/progress/spin-lock-outside.simt
expect 0 view "$lock" -o lock.html
says out 'lock.html: simt, never ends'
says lock.html "default-src 'none'" "script-src 'sha256-" '"loop": {"stem": 3, "length": 2, "fair": true, "idle": []}' \
    'while (e) S W, Theta+  ==>  S while^o (e) S brk_Theta+ W, A'
# The name of SVG's elements looks like an address.
sed 's|http://www.w3.org/2000/svg||' lock.html | grep -qE 'src=|href=|https?://' && failed "the page names something outside of it"
data lock.html
# Two semantics beside each other; a file of its own name; standard output.
expect 0 view "$lock" --against threads
says out 'spin_lock_outside.html: simt, never ends' 'spin_lock_outside.html: threads, terminated after'
[ -s spin_lock_outside.html ] || failed "no page"
expect 0 view "$lock" --against threads -o -
cmp -s out spin_lock_outside.html || failed "standard output has another page than the file"

# Every kind of machine; a race is found; a failure late in an execution is shown, not its start.
for what in "papers/program1.simt simt" "papers/program1.simt convergence" "papers/program1.simt thread-pc" "papers/program1.simt crs" \
    "papers/program1.simt lockstep" "papers/program1.simt predicated" "papers/program1.simt block" "ptx/backwards.ptx crs" "ptx/backwards.ptx block"; do
    set -- $what
    expect 0 view "$source/corpus/$1" --subject "$2" -o kind.html
    says out "kind.html: $2, terminated after "
    data kind.html
done
cat >late.simt <<'EOF2'
launch(threads = 2, warp = 2);
shared int s[2];
kernel late() {
    private int i;
    while (i < 3000) {
        s[0] = i;
        i = i + 1;
    }
    s[i] = 1;
}
EOF2
expect 0 view late.simt --keep 500 -o late.html
says out 'late.html: simt, out_of_bounds after 9004 steps, of which the page has 8505 to 9004'
says late.html '"race": {"address": 0, "place": "s[0]"' '"first": 8505, "kept": 500' '"status": "out_of_bounds", "thread": 0, "line": 9'
data late.html
expect 0 view late.simt --keep 500 --from 20 -o late.html
says out 'of which the page has 20 to 519'
expect 0 view late.simt --max-steps 40 -o late.html
says out 'late.html: simt, step_limit after 40 steps'
for schedule in pct:3 surw starve:1 unfair:10; do
    expect 0 view "$lock" --subject threads --schedule $schedule -o drawn.html
done
# A long execution stays below 5 MB.
sed 's/3000/1000000/' late.simt >long.simt
expect 0 view long.simt -o long.html
says out 'step_limit after 1048576 steps, of which the page has 1 to '
[ "$(stat -c %s long.html)" -lt 5000000 ] || failed "a page of $(stat -c %s long.html) bytes"

# Text that would like to be something else.
printf 'launch(threads = 1);\nkernel k() { /* </script><img src=x onerror=alert(1)> \xe2\x80\xae */ }\n' >hostile.simt
expect 0 view hostile.simt -o hostile.html
says hostile.html '\u003c/script>\u003cimg src=x'
[ "$(grep -c '<img' hostile.html)" = 0 ] || failed "text of the kernel became markup"
[ "$(grep -o '</script>' hostile.html | wc -l)" = 2 ] || failed "text of the kernel ends the script"
data hostile.html

# A finding, a case.
"$simtfuzz" run --jobs 1 --subjects crs,crs:call-guard-all,thread-pc --features none,crs,loose --cases 40 --seed 12 --db f.db >/dev/null 2>&1
expect 0 view 1 --db f.db -o finding.html
says finding.html '"name": "finding 1"'
says out 'finding.html: crs:call-guard-all beside thread-pc'
says finding.html '"parting": "The oracle speaks at step '
expect 0 view 1 --db f.db --subject crs -o finding.html
says out 'finding.html: crs, '
# A report leads to such pages: the folder beside it, as links write its name.
expect 0 report --db f.db --html 'a night.html'
says 'a night.html' '<a class="view" href="a%20night.html.views/finding-1.html">'
[ -s 'a night.html.views/finding-1.html' ] || failed "no view of finding 1"
touch in-the-way.views
expect 3 report --db f.db --html in-the-way
# Without them, and of a finding that is not run again, the page has the command.
expect 0 report --db f.db --html plain.html --no-views
says plain.html '<code>simtfuzz view 1 --db f.db</code>'
[ -e plain.html.views ] && failed "a folder of views that nobody wants"
expect 0 report --db f.db --html few.html --traces 0
says few.html 'To step through one of them: <code>simtfuzz view ID --db f.db</code>'
text=$("$simtfuzz" triage show 1 --db f.db | grep -o 'gen=.*' | head -1)
expect 0 view "$text" -o case.html
says case.html '"name": "case '

# A hang of the termination matrix.
expect 0 view "$lock" --witness stackless:minpc -o witness.html
says out 'witness.html: threads, never ends'
says witness.html '"note": "warps under stackless:minpc: hangs always; '
data witness.html
expect 2 view "$lock" --witness fair
says err "no hang is known under 'fair'" 'it hangs under simt, simt:then-first, lockstep, crs, stackless:minpc'
expect 2 view "$lock" --witness nobody
says err "its termination matrix has no row 'nobody'"

# A litmus test: its outcomes under each memory, with the steps or the graph that show each.
litmus=$source/corpus/litmus
expect 0 view "$litmus/caches.litmus" --test mp-L1.warm+gls
says out 'mp-L1.warm+gls.html: the outcomes of mp-L1.warm+gls under each memory'
data mp-L1.warm+gls.html
says out '{"name": "asplos15", "steps": false, "silent": "accesses other than ld.cg' '{"values": [1, 0], "steps": [{"move": [0, 0, 0]' \
    '"code": [["st.cg x 1", "membar.gl", "st.cg y 1"], ["ld.ca r1 y", "membar.gl", "ld.ca r2 x"]]' '"graph": {"events": [{"kind": "write"'
expect 0 view "$litmus/ptx/SB+sc.gpu.litmus" -o sb.html
says sb.html '"code": [["st.weak x 1", "fence.sc.gpu", "ld.weak r1 y"]'
# What no model has, and the condition asks about: the axiom that forbids it, and its circle.
says sb.html '"refusals": [{"values": [0, 0], "candidates": 1, "axiom": "Sequential consistency"' \
    '"circle": [["po", 0, 2], ["fr", 2, 3], ["po", 3, 5], ["fr", 5, 0]]' '"candidates": 2, "axiom": "Causality"' \
    '"circle": [["fr", 5, 0], ["po", 0, 1], ["sc", 1, 4], ["po", 4, 5]]'
printf 'PTX H\n"</script><img src=x>"\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\n ld.weak r0, x ;\nexists (P0:r0 == 1)\n' >hostile.litmus
expect 0 view hostile.litmus -o hostile.html
[ "$(grep -o '</script>' hostile.html | wc -l)" = 2 ] || failed "text of a litmus test ends the script"
expect 2 view "$litmus/caches.litmus"
says err "131 tests; --test NAME chooses one"
expect 2 view "$litmus/caches.litmus" --test nobody
says err "there is no test 'nobody'"
expect 2 view hostile.simt.litmus
expect 3 view hostile.litmus -o missing/page.html

# A kernel over caches: what is asked for, what is under way, what the L1s hold.
expect 0 view "$source/tests/data/stale.ptx" --subject crs:caches:coherent --schedule uniform --seed 213 -o caches.html
says out 'crs:caches:coherent, terminated after 23 steps'
data caches.html
says caches.html '"caches": {"sms": 2, "words": 1, "flights": [[],' '"lines": [[],[[0,1,0,0,[0]]],[[0,0,15,0,[0]]]]'

# What cannot be.
expect 2 view missing.simt
says err 'missing.simt'
expect 2 view "$lock" --against nobody
says err "there is no subject 'nobody'"
expect 2 view "$lock" --subject two-thread
says err 'has no machine to trace'
expect 2 view "$source/corpus/ptx/backwards.ptx" --subject simt
expect 2 view "$lock" --schedule nonsense
expect 2 view 99 --db f.db
expect 3 view "$lock" -o missing/page.html
expect 2 view "$lock" -o "$lock"
expect 2 view
PATH=/nowhere expect 0 view "$lock" --open -o lock.html
says err 'no browser opens it'
finish
