#!/usr/bin/env bash
# The oracle `prove`: asked by name; solvers that lie, that disagree, that are not there; another text of the kernel.
. "$(dirname "$0")/common.sh"
kernel=$source/corpus/papers/tutorial-add-nbor.simt
clean=$source/corpus/papers/tutorial-add-nbor-barrier.simt

# fake NAME: a program that is found first; its text is standard input.
mkdir bin
fake() {
    { echo '#!/bin/bash'; cat; } >"bin/$1"
    chmod +x "bin/$1"
}
with_fakes() {
    PATH="$PWD/bin:$PATH" expect "$@"
}

# Nobody asks for it who has not named it.
expect 0 check --json "$clean"
! grep -q '"oracle": "prove"' out || failed "an oracle that nobody asked for"
expect 2 check --oracles proves "$clean"

# What it is not about has a reason; without a solver it says so.
expect 0 check --oracles prove --json "$source/corpus/ptx/calls.ptx"
says out "the call at line 251 is not handled"
fake z3 <<<'exit 127'
with_fakes 0 check --oracles prove --json "$clean"
says out "is not installed"
rm bin/z3

if ! command -v z3 >/dev/null; then
    echo "z3 is not installed: the rest is not tested"
    finish
fi
real=$(command -v z3)

expect 0 check --oracles all,prove --json "$clean"
says out '"reason": "proved: no loop"'
expect 0 check --oracles prove --json "$kernel"
says out '"reason": "refuted: threads: thread'

# A solver that lies, once it has answered what is known: an execution of the check shows the opposite.
fake z3 <<SOLVER
$real -in | {
    count=0
    while read -r line; do
        case \$line in sat | unsat) count=\$((count + 1)) ;; esac
        [ \$count -gt 2 ] && [ "\$line" = sat ] && line=unsat
        echo "\$line"
    done
}
SOLVER
with_fakes 1 check --oracles prove "$kernel"
says out "prove|unsound|none|race" "an execution with input seed"
with_fakes 1 run --oracles prove --seed 5 --cases 40 --enumerate --features none,barriers,racy,arrays -j 1 --no-minimise --stop-on-finding --db lies.db
expect 0 triage list --db lies.db
says out unsound
rm bin/z3

# One that says the opposite of the first, once it has answered what is known: it is asked under some seeds.
fake cvc5 <<'SOLVER'
count=0
while read -r line; do
    case $line in
    *canary*43* | *0x0000002b*) known="sat" ;;
    *get-value*) known="sat
((|canary| #x0000002a))" ;;
    *echo*)
        count=$((count + 1))
        [ $count -eq 2 ] && known=unsat
        [ $count -gt 2 ] && known=sat
        echo "$known"
        echo simtfuzz-end
        ;;
    esac
done
SOLVER
spoke=0
for seed in 1 2 3 4 5 6; do
    PATH="$PWD/bin:$PATH" "$simtfuzz" check --oracles prove --seed $seed "$source/corpus/papers/tutorial-add-nbor-barrier.simt" >out 2>err
    grep -q "prove|solver|none|unsat" out && spoke=$((spoke + 1))
done
[ $spoke -ge 1 ] && [ $spoke -lt 6 ] || failed "a second solver that disagrees was heard $spoke times of 6"

rm bin/cvc5

# through PATTERN FROM TO: z3, whose answer FROM is TO where the question has the pattern, but to what is known.
through() {
    fake z3 <<SOLVER
coproc SOLVER { exec $real -in; }
query=
while IFS= read -r line; do
    echo "\$line" >&"\${SOLVER[1]}"
    query+=\$line
    [[ \$line != *simtfuzz-end* ]] && continue
    while IFS= read -r answer <&"\${SOLVER[0]}"; do
        [[ \$query == *$1* && \$query != *canary* && \$answer == $2 ]] && answer=$3
        echo "\$answer"
        [[ \$answer == simtfuzz-end ]] && break
    done
    query=
done
SOLVER
}

# hears CLASS KERNEL: one of the seeds has the oracle say so, as not each of them asks.
apart=apart.simt racy=racy.simt
echo 'launch(threads=4); global int A[8]; kernel k() { A[tid * 2 & 7] = tid; }' >$apart
echo 'launch(threads=4); global int A[8]; kernel k() { A[tid * 4 & 7] = tid; }' >$racy
hears() {
    local seed
    for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
        PATH="$PWD/bin:$PATH" "$simtfuzz" check --oracles prove --seed $seed "$2" >out 2>err
        grep -q "prove|$1" out && return
    done
    failed "nobody hears $1"
}

# replay: values are given with which nothing goes wrong, and none of them is made up.
fake z3 <<'SOLVER'
one='#x00000001' answer=sat values=
while IFS= read -r line; do
    case $line in
    '(assert'*'|canary|))') answer=unsat ;;
    *'#x0000002b))') one='#x0000002a' ;;
    '(get-value ('*)
        rest=${line#'(get-value ('} rest=${rest%'))'}
        while [[ $rest =~ ^\ *(\|[^|]*\||[^ ]+)(.*)$ ]]; do
            name=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
            case $name in '#'* | true | false) values+="($name $name)" ;; *) values+="($name $one)" ;; esac
        done
        ;;
    '(echo'*)
        echo "$answer"
        [[ $answer == sat && -n $values ]] && echo "($values)"
        echo simtfuzz-end
        one='#x00000001' answer=sat values=
        ;;
    esac
done
SOLVER
with_fakes 1 check --oracles prove $apart
says out "prove|replay|none|race" "no execution shows it, and no value is made up"

# mono: what is asked for any number of threads cannot be, it is said.
through '"|threads|"' sat unsat
hears "mono|none|race" $racy
says out "it was proved for any number of threads, and the launch"

# form: Horn clauses are safe, Boogie has verified, it is said, and the kernel races.
through HORN unsat sat
hears "form|none|horn" $racy
says out "as Horn clauses the kernel is safe"
rm bin/z3
fake boogie <<<'cat >/dev/null; echo "Boogie program verifier finished with 1 verified, 0 errors"'
hears "form|none|boogie" $racy
says out "Boogie verifies the kernel, and an execution shows a fault"
rm bin/boogie

# Campaigns: the same answers with any number of workers.
for jobs in 1 2; do
    expect 0 run --oracles prove --seed 5 --cases 16 --enumerate --features none,loops,barriers,racy,leader,arrays -j $jobs --db $jobs.db
    says out "prove      16        0           0"
done
finish
