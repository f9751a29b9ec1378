#!/usr/bin/env bash
# litmus: exact sets of outcomes; a set that is stated wrongly is found; bad input is named with its line.
. "$(dirname "$0")/common.sh"

tests=$source/corpus/litmus/caches.litmus
expect 0 litmus "$tests"
silent err
[ "$(grep -c ': as stated$' out)" = 129 ] || failed "129 tests as stated: $(grep -c ': as stated$' out)"

expect 0 litmus "$tests" --json
[ "$(grep -c '"as_stated": true' out)" = 129 ] || failed "129 tests in JSON"

# Profiles: llh keeps the order of stores to one word, coherent is sequential for one thread.
printf 'test own\nthread 0: st.wb x 1; st.wb x 2\nobserve x\n' >own
expect 0 litmus own
says out "own: nothing stated" "sc        2 " "printed   1 2 " "llh       2 " "coherent  2 "
# Two loads of one word are not kept in order by llh, but are by coherent.
printf 'test rr\nthread 0: st.wb x 1\nthread 1: ld.cg r1 x; ld.cg r2 x\nobserve 1:r1 1:r2\n' >rr
expect 0 litmus rr
says out "llh       00 01 10 11 " "coherent  00 01 11 "

# One outcome too many or too few is no agreement, in either set.
for stated in 'sc 1 2' 'sc 1' 'sc' 'more' 'more 1 3' 'more 1 2'; do
    printf 'test own\nthread 0: st.wb x 1; st.wb x 2\nobserve x\n%s\n' "$stated" >wrong
    expect 1 litmus wrong
    says out "own: NOT as stated"
done

# bad LINE TEXT-OF-MESSAGE INSTRUCTIONS OBSERVED
bad() {
    printf 'test t\nthread 0: %s\nobserve %s\n' "$3" "$4" >bad
    expect 2 litmus bad
    says err "bad:$1:" "$2"
}
bad 2 "unknown modifier \`.xx\` of a load" "ld.xx r1 x" x
bad 2 "unknown modifier \`.ca\` of a store" "st.ca x 1" x
bad 2 "unknown instruction \`ldr\`" "ldr r1 x" x
bad 2 "\`q\` is no word" "st.wb q 1" x
bad 2 "no instruction above writes the register \`r1\`" "use r1" x
bad 2 "\`r1\` is neither a number nor a register" "st.wb x r1" x
bad 2 "no label \`E\` stands below the branch" "E:; ld.cg r1 x; bz r1 E" x
bad 2 "takes 2 operands" "st.wb x" x
bad 2 "more values than words" "st.wb x 1,2" x
bad 2 "at most eight instructions" "bar; bar; bar; bar; bar; bar; bar; bar; bar" x
bad 3 "thread 0 has no register \`r2\`" "ld.cg r1 x" 0:r2
bad 3 "there is no thread \`1\`" "ld.cg r1 x" 1:r1
printf 'PTX MP\n{ x=0; }\n' >other
expect 2 litmus other
says err "other:1:" "a test begins with"
: >empty
expect 2 litmus empty
says err "no litmus test"

finish
