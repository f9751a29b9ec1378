#!/usr/bin/env bash
# trace: lines that fit, filters, private values and registers, blocks, names of C++.
. "$(dirname "$0")/common.sh"
export LC_ALL=C.UTF-8

# fits WIDTH FILE: no line of the table (from "step" to the empty line) is longer.
fits() {
    local long
    long=$(tr -d '\r' <"$2" | sed -n '/^step /,/^$/p' | grep -E "^.{$(($1 + 1)),}" | head -1)
    [ -z "$long" ] || failed "longer than $1: $long"
}

program1=$source/corpus/papers/program1.simt
for width in 76 80 100 120 200; do
    expect 0 trace "$program1" --width "$width"
    fits "$width" out
    expect 0 trace "$source/corpus/ptx/backwards.ptx" --subject thread-pc --width $((width + 40)) --max-steps 60
    fits $((width + 40)) out
done
# What is cut says so; masks are ranges of lanes; without a terminal nothing is cut.
expect 0 trace "$program1" --width 80
says out '…' '  b1-2  ' '  all  ' '  1-3  '
expect 0 trace "$program1"
grep -q '…' out && failed "cut, though nobody asked"
says out 'i = i - 1; while° (i > 0) ... <brk 1111> return; <call 1111> return; <call 1111>' '  0bb0  '
if command -v script >/dev/null && command -v stty >/dev/null; then
    for columns in 76 90; do
        script -qec "stty cols $columns; $(printf '%q ' "$simtfuzz" trace "$program1")" /dev/null >out </dev/null
        fits "$columns" out
        says out '…'
    done
    script -qec "stty cols 76; $(printf '%q ' "$simtfuzz" trace "$program1" --width 0)" /dev/null >out </dev/null
    grep -q '…' out && failed "--width 0 cuts on a terminal"
fi

# Private values, of all lanes that executed the step; elements of private arrays that changed.
expect 0 trace "$program1"
says out 'i = <0, 1, 1, 1>' 'j = <0, 1, 1, 3>' 'b[3] = 4' 'i = 0  '
cat >blocks.simt <<'EOF'
launch(threads = 3, blocks = 2, warp = 2);
global int g[2];
shared int s[3];
private int buf[3];
private int old;
kernel blocks() {
    buf[tid] = tid + 5;
    s[tid] = buf[tid];
    barrier();
    old = atomic_add(g[bid], s[0]);
    assert(bid == 0 || tid < 2);
}
EOF
# A thread of several blocks is said as block.thread, at the end in words.
expect 0 trace blocks.simt --subject threads
says out '  1.0  ' 'buf[2] = 7' 'old = 5, g[1] = 10' 'assert_fails after' ': thread 5 (block 1, thread 2), line 11'
expect 0 trace blocks.simt
says out '  1.1  ' 'buf[0] = <5, ->' 'buf[1] = <-, 6>'
expect 0 trace "$program1" --json
json
says out '"private": [["i", [0, 1, 1, 1]]]' '"private": [["i", [null, null, null, 0]]]'

# Filters hide rows; all steps are taken.
shown() { # STEPS ARGUMENTS...: the numbers of the steps that are shown
    local wanted=$1
    shift
    expect 0 trace "$@"
    local got
    got=$(sed -nE '/^step /,/^$/s/^ *([0-9]+) .*/\1/p' out | tr '\n' ' ')
    [ "$got" = "0 $wanted " ] || failed "trace $*: shows steps $got"
    says out 'terminated after 17 steps' "$(wc -w <<<"$wanted") of 17 steps shown"
}
shown '2 10' "$program1" --watch i
shown '2 3 10' "$program1" --watch i,j
shown '8' "$program1" --watch 'b[3]'
shown '8' "$program1" --watch b
shown '4 5 8 11' "$program1" --lines 4-6
shown '5 6 7 9 13 15 17' "$program1" --rules if,break,token
shown '11' "$program1" --lines 4,9 --rules while_cont
expect 0 trace "$program1" --watch j --json
[ "$(wc -l <out)" = 1 ] || failed "--watch with --json: $(wc -l <out) lines"
expect 0 trace blocks.simt --warp 1.0
expect 0 trace blocks.simt --warp 2
cp out two
expect 0 trace blocks.simt --warp 1.0
cmp -s out two || failed "warp 2 is warp 1.0"
grep -qE '^ +[0-9]+ +(0\.[01]|1\.1) ' out && failed "--warp 1.0 shows another"
says out '  1.0  '
expect 0 trace blocks.simt --subject threads --warp 1.1
says out '  1.2  '
grep -qE '  (0\.[0-2]|1\.[01])  ' out && failed "--warp 1.1 shows another thread"

# Registers, and names as they were written, where there is a C++ runtime.
expect 0 trace "$source/corpus/ptx/backwards.ptx" --watch %r1,%p1
says out '%r1 = <0, 1, 2, 3, 4, 5, 6, ..., 31>' '%p1 = 0' '2 of '
expect 0 trace "$source/corpus/ptx/backwards.ptx"
if ldconfig -p 2>/dev/null | grep -q 'libstdc++\.so\.6'; then
    says out 'mov.u32 %r8, backwards::s;' 'backwards::s['
else
    echo "left out: names of C++, for which there is no runtime"
fi
expect 0 trace "$source/corpus/ptx/backwards.ptx" --json --max-steps 8
says out 'mov.u32 %r8, _ZZ9backwardsE1s;'

# What is not there.
expect 2 trace "$program1" --warp 1
says err "there is no warp '1', only 0 to 0"
expect 2 trace blocks.simt --warp 1.2
says err "there is no warp '1.2', only 0 to 3, or block.warp"
expect 2 trace "$program1" --lines 7-3
says err "'7-3' is not a line"
expect 2 trace "$program1" --lines 4,x
says err "'x' is not a line"
expect 2 trace "$program1" --rules if,iff
says err "there is no rule 'iff'"
finish
