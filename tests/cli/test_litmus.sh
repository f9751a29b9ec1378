#!/usr/bin/env bash
# litmus: exact sets of outcomes; a set that is stated wrongly is found; bad input is named with its line.
# Tests of the field's text for PTX agree with the verdicts that are published for them.
. "$(dirname "$0")/common.sh"

tests=$source/corpus/litmus/caches.litmus
expect 0 litmus "$tests"
silent err
[ "$(grep -c ': as stated$' out)" = 131 ] || failed "131 tests as stated: $(grep -c ': as stated$' out)"

expect 0 litmus "$tests" --json
[ "$(grep -c '"as_stated": true' out)" = 131 ] || failed "131 tests in JSON"

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
bad 2 "at most 32 instructions" "$(printf "bar;%.0s" {1..33})" x
bad 3 "thread 0 has no register \`r2\`" "ld.cg r1 x" 0:r2
bad 3 "there is no thread \`1\`" "ld.cg r1 x" 1:r1
printf 'AArch64 MP\n{ x=0; }\n' >other
expect 2 litmus other
says err "other:1:" "a litmus test for AArch64: only those for PTX are read"

# ---- the field's text for PTX ----
expect 0 litmus "$source/corpus/litmus/ptx"
silent err
[ "$(grep -c ': as stated$' out)" = 105 ] || failed "105 PTX tests as stated: $(grep -c ': as stated$' out)"
[ "$(grep -L '^source=.' "$source"/corpus/litmus/ptx/*.litmus | wc -l)" = 0 ] || failed "a test without a source"
[ "$(grep -L '^ptx60=' "$source"/corpus/litmus/ptx/*.litmus | wc -l)" = 0 ] || failed "a test without a verdict"
expect 0 litmus "$source/corpus/litmus/ptx/SB+sc.gpu.litmus" --json
says out '"asks": "~exists"' '"ptx60": {"holds": true, "outcomes": ["01", "10", "11"]' \
    '"asplos15": {"silent": "accesses other than ld.cg, st and atom of global words"}'
# A verdict that is wrong is said to be wrong, under its model.
sed 's/ptx75=yes/ptx75=no/' "$source/corpus/litmus/ptx/SB+sc.gpu.litmus" >wrong.litmus
expect 1 litmus wrong.litmus
says out "SB+sc.gpu: NOT as stated" "ptx60 yes, ptx75 yes (NOT as stated)"
# So is one about a model that says nothing.
sed 's/ptx75=yes/asplos15=yes/' "$source/corpus/litmus/ptx/SB+sc.gpu.litmus" >wrong.litmus
expect 1 litmus wrong.litmus
for stated in 'forbids ptx60' 'allows asplos15'; do
    printf 'test own\nthread 0: st.cg x 1; ld.vol r1 y\nthread 1: st.cg y 1; ld.vol r1 x\nobserve 0:r1 1:r1\n%s\n' \
        "$stated" >wrong
    expect 1 litmus wrong
done
# A loop that goes round without end is cut, and that is said.
printf 'PTX Spin\n{ }\n P0@cta 0,gpu 0 ;\n L: ;\n ld.weak r0, x ;\n beq r0, 0, L ;\nexists (P0:r0 == 1)\n' >spin.litmus
expect 0 litmus spin.litmus
says out "loops cut after 2 rounds" "exists: sc no"

# ptx LINE TEXT-OF-MESSAGE INSTRUCTION CONDITION
ptx() {
    printf 'PTX t\n{ x=0; }\n P0@cta 0,gpu 0 ;\n %s ;\n%s\n' "$3" "$4" >bad.litmus
    expect 2 litmus bad.litmus
    says err "bad.litmus:$1:" "$2"
}
ptx 4 "unknown instruction \`ldx\`" "ldx r0, x" "exists (x == 0)"
ptx 4 "unknown modifier \`.cluster\` of \`ld\`" "ld.acquire.cluster r0, x" "exists (x == 0)"
ptx 4 "no mixed sizes" "ld.weak.u8 r0, x" "exists (x == 0)"
ptx 4 "proxies are not modelled" "fence.proxy.alias" "exists (x == 0)"
ptx 4 "needs a scope" "ld.acquire r0, x" "exists (x == 0)"
ptx 4 "a weak \`st\` has no scope" "st.weak.gpu x, 1" "exists (x == 0)"
ptx 4 "\`st\` has no such modifier" "st.acquire.gpu x, 1" "exists (x == 0)"
ptx 4 "neither a number nor a register with a value" "st.weak x, r7" "exists (x == 0)"
ptx 4 "no register" "bar.cta.sync r1" "exists (x == 0)"
ptx 4 "one too many of its kind" "fence.sc.gpu.cta" "exists (x == 0)"
ptx 5 "P0 has no label \`E\`" "goto E" "exists (x == 0)"
ptx 5 "P0 has no register \`r1\`" "ld.weak r0, x" "exists (P0:r1 == 0)"
ptx 5 "there is no thread \`P3\`" "ld.weak r0, x" "exists (P3:r0 == 0)"
ptx 5 "the test has no word \`q\`" "ld.weak r0, x" "exists (q == 0)"
printf 'PTX t\n{ x=0;\n x=1; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (x == 0)\n' >bad.litmus
expect 2 litmus bad.litmus
says err "bad.litmus:3:" "\`x\` has a first value already"
ptx 6 "a parenthesis is missing" "ld.weak r0, x" "exists (x == 0"
ptx 6 "something stands behind it" "ld.weak r0, x" "exists (x == 0)
more"
ptx 5 "is expected here" "ld.weak r0, x" "filter (x == 0)"
printf 'PTX t\n{ x @ alias y; }\n' >bad.litmus
expect 2 litmus bad.litmus
says err "bad.litmus:2:" "proxies, aliases, types and arrays are not modelled"
printf 'PTX t\n{ }\n P0@cta 0,gpu 0 | P1 ;\n ld.weak r0, x ;\nexists (x == 0)\n' >bad.litmus
expect 2 litmus bad.litmus
says err "bad.litmus:3:" "is expected as the head of this column"
# Pictures: what is asked, under each model that is axioms; the circle where it is forbidden. Allowed where nothing forbids.
mkdir -p pictures
expect 0 litmus "$source/corpus/litmus/ptx/SB+sc.gpu.litmus" --svg pictures --dot pictures
[ "$(find pictures -name 'SB+sc.gpu.*' | sort | tr '\n' ' ')" = "pictures/SB+sc.gpu.ptx60.dot pictures/SB+sc.gpu.ptx60.svg \
pictures/SB+sc.gpu.ptx75.dot pictures/SB+sc.gpu.ptx75.svg pictures/SB+sc.gpu.sc.dot pictures/SB+sc.gpu.sc.svg " ] ||
    failed "pictures: $(find pictures)"
says pictures/SB+sc.gpu.ptx60.dot 'SB+sc.gpu: 00 under ptx60: forbidden by ' 'e1 -> e4 [label = "sc"' 'penwidth = 3'
says pictures/SB+sc.gpu.ptx60.svg 'forbidden by ' '>b: fence<' 'stroke-width="3.5"'
expect 0 litmus "$source/corpus/litmus/ptx/SB+acq_rel.cta.litmus" --dot pictures
says pictures/SB+acq_rel.cta.ptx75.dot ': 00 under ptx75: allowed'
grep -q penwidth pictures/SB+acq_rel.cta.ptx75.dot && failed "a circle where the model allows it"
python3 - <<'END' || failed "the picture is no XML"
import xml.dom.minidom
xml.dom.minidom.parse("pictures/SB+sc.gpu.ptx60.svg")
END
expect 2 litmus "$source/corpus/litmus/ptx/SB+sc.gpu.litmus" --svg nowhere
says err "cannot write 'nowhere/"

# Tests that are drawn: fifteen laws hold, and each is asked.
expect 0 litmus --cases 600 --seed 1
[ "$(grep -c ' [1-9][0-9]* hold, 0 broken, ' out)" = 15 ] || failed "fifteen laws: $(cat out)"
cp out first
expect 0 litmus --cases 600 --seed 1
cmp -s out first || failed "the same seed draws other tests"
expect 0 litmus --cases 20 --seed 2 --json
json
expect 2 litmus
says err "or --cases N"
expect 2 litmus "$tests" --cases 3
says err "or --cases N"

mkdir -p none
expect 2 litmus none
says err "no *.litmus file in this folder"
: >empty
expect 2 litmus empty
says err "no litmus test"

finish
