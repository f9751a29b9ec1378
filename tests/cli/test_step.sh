#!/usr/bin/env bash
# step: an execution gone through by commands, and by keys on a pseudo-terminal.
. "$(dirname "$0")/common.sh"
screen=$(dirname "$helper")/cli_screen
export TERM=xterm LANG=C.UTF-8
unset NO_COLOR LC_ALL LC_CTYPE
program1=$source/corpus/papers/program1.simt lock=$source/corpus/progress/spin-lock-outside.simt

steps() { # COMMANDS, ARGUMENTS...: what they show is in out
    expect 0 step "${@:2}" --commands "$1"
}

# Forward and back, by steps, lines, rules, threads, and to where threads part.
steps 'forward 8; show all' "$program1"
says out 'step 8 of 17   simt, terminated' 'thread 3, line 6: b[tid] = b[tid] + i;   (rule assign)' 'reads b[3], writes b[3] = 4' \
    '  >   6                      b[tid] += i;' '    1 ######bb' '    3 #####.-#' '  <sync 0111>' '  i = i - 1; while (i > 0) ...' \
    'shared b = {0, 1, 1, 4}   <- written by thread 3' '  j = {0, 1, 1, 3}' 'x = e; W, Theta+, mu  ==>'
steps 'run divergence; f; b; run divergence; run rule break; reverse line 5; run thread 0; end; back; start' "$program1"
[ "$(grep -o '^step [0-9]*' out | tr -dc '0-9\n' | tr '\n' ' ')" = "4 5 4 5 6 5 14 17 16 0 " ] || failed "steps: $(grep '^step' out)"
says out 'threads 0-3, line 4' 'The threads part here: the condition holds for some of them only.' 'The end: terminated.' 'The start: nothing'
# A step back is the state before, whatever way one came.
steps 'g 9; show all; g 17; b 8; show all; g 0; f 9; show all' "$program1"
awk '/^source/ { part++ } /^>/ { on = 0 } /^source/ { on = 1 } on { print >"part" part }' out
{ cmp -s part1 part2 && cmp -s part1 part3 && [ -s part1 ]; } || failed "step 9 is not step 9: $(diff part1 part2)"

# Breaks and watches; one that loops.
steps 'watch b; break line 9; break; run; run; run; v; clear; run' "$program1"
[ "$(grep -o '^step [0-9]*' out | tr -dc '0-9\n' | tr '\n' ' ')" = "8 10 17 10 17 " ] || failed "breaks: $(grep '^step' out)"
says out 'break watch b' 'break line 9'
expect 2 step "$lock" --subject threads --commands 'run race; show memory; run race'
says out 'A data race: thread 0 writes x at line 11, thread 1 reads it at line 11.' 'there is no step with race behind this one' 'shared x = 1   -> read by thread 1'
steps 'end' "$lock"
says out 'never ends: after step 3 the same 2 again and again' 'Round 12 of a loop that never ends.'

# Every kind of machine; registers; many steps; a failure; nothing to do.
for what in "papers/program1.simt convergence" "papers/program1.simt thread-pc" "papers/program1.simt lockstep" \
    "papers/program1.simt predicated" "ptx/calls.ptx crs" "ptx/calls.ptx block"; do
    set -- $what
    steps 'f 20; show all; end; show all; b; start; show all' "$source/corpus/$1" --subject "$2"
    says out 'The end: terminated'
done
steps 'g 60; show stack; show values; run watch %r49' "$source/corpus/ptx/calls.ptx"
says out '  (sync,11111111111111111111111111111111,146)' '%r47 = <-, -, 1, 2, 3, 4, 5, ..., 6>   (step 59)' '%r49 = '
cat >late.simt <<'END'
launch(threads = 8, warp = 8);
shared int s[2];
kernel late() {
    private int i;
    while (i < 20000) {
        s[0] = i;
        i = i + 1;
    }
    s[i] = 1;
}
END
steps 'end; watch i; v; show values; v; show memory' late.simt
says out 'step 60004 of 60004   simt, out_of_bounds: thread 0 at line 9' 'step 60000 of' '  i = 20000   (step 60000)' 'shared s = {19998, 0}'
steps 'end' late.simt --max-steps 40
says out 'still running at the last one'
printf 'launch(threads = 1);\nkernel k() { /* \x1b]0;hostile\x07 */ }\n' >hostile.simt
steps 'show source; show stack; show memory; show values; end' hostile.simt
says out 'no global or shared memory' 'no private values' '/* ?]0;hostile? */'
"$simtfuzz" run --jobs 1 --subjects crs,crs:call-guard-all,thread-pc --features none,crs,loose --cases 40 --seed 12 --db f.db >/dev/null 2>&1
steps 'end' 1 --db f.db
printf 'f\nf 2\n\nquit\nf\n' | "$simtfuzz" step "$program1" --commands - >out || failed "commands from standard input"
[ "$(grep -c '^step' out)" = 2 ] || failed "quit goes on: $(cat out)"

# Over caches: micro steps, what is under way, what the L1s hold.
over_caches() { steps "$1" "$source/tests/data/stale.ptx" --subject crs:caches:coherent --schedule uniform --seed 213; }
over_caches 'goto 7; show lanes; goto 14; show caches; f 8'
says out 'asks to write x = 1' '    0 ---####' 'memory operation of thread 0 of warp 0, line 20: st.global.u32 [x], 1;   (rule end)' '  memory: x = 1' \
    '  under way, warp 1: line 15 ld.global.cg.u32 %r2, [y];  (L2 is read next)' '  L1 of SM 1: x = 0 (stale)' '  %r3 = 0'
steps 'show caches' "$program1"
says out 'this subject has no caches'

# What cannot be.
for wrong in 'jump' 'forward x' 'back -1' 'goto' 'goto 18' 'run line 99' 'run rule nobody' 'run rule exit' 'watch nobody' 'watch' 'run thread 4' \
    'break race 2' 'show everything' 'end; f' 'b' 'start 2' 'clear; run line'; do
    expect 2 step "$program1" --commands "$wrong"
    [ "$(tail -1 out)" != "> $wrong" ] || failed "$wrong: nothing is said"
done
expect 2 step missing.simt --commands f
expect 2 step "$lock" --subject two-thread --commands f
expect 2 step "$program1" --subject crs-x --commands f
expect 2 step "$program1"
says err 'there is no terminal'

# On a terminal: keys, a command, help, another size, and everything as it was at the end.
on() { "$screen" "$@" >out 2>err || failed "screen $*: $(head -30 err)"; }
on 24x80 'wait:The start' key:llllllll 'wait:step 8' dump:a 'key:h' 'wait:step 7' $'key:\x1b[C' 'wait:step 8' $'key:\t' 'wait:j = {0' \
    'key::run rule brekk' key:^M "wait:there is no rule 'brekk'" 'key::run line 9' key:^M 'wait:step 10 ' 'key:d' 'wait:no step with divergence' \
    'key:?' 'wait:on to the next break' 'key:?' 'gone:on to the next break' 'key:G' 'wait:step 17' 'key:g' 'wait:step 0' \
    'key::break rule break' key:^M 'key: ' 'wait:step 6 ' size:12x40 'wait:step 6' size:3x10 size:1x1 size:40x120 'wait:line 8' dump:b 'key:q' end \
    -- "$simtfuzz" step "$program1"
says out 'status 0' 'left main cursor wrap cooked'
says a '>   6                      b[tid] += i;' '  1 ######bb' '  shared b = {0, 1, 1, 4}   <- written by thread 3' '? help  q ends'
[ "$(wc -l <a)" = 24 ] || failed "not 24 rows"
awk 'length > 79 { exit 1 }' a || failed "the last column is used"
on 24x80 'wait:The start' key:^C end -- "$simtfuzz" step "$lock"
says out 'status 0' 'left main cursor wrap cooked'
finish
