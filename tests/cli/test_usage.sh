#!/usr/bin/env bash
# Options, help and misuse.
. "$(dirname "$0")/common.sh"

expect 2
says err usage: run
silent out
expect 0 --help
says out usage: run check trace
expect 0 --version
says out simtfuzz
expect 0 --version --json
json
says out '"simtfuzz": "'
expect 2 nonsense
says err "no command 'nonsense'"
silent out

# Every command that is listed has help with options, examples and exit statuses.
expect 0 --help
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)
[ "$(wc -w <<<"$commands")" -ge 10 ] || failed "commands: $commands"
for command in $commands; do
    expect 0 "$command" --help
    says out "usage: simtfuzz $command" options: examples: "  simtfuzz $command" "exit status:"
    silent err
    expect 2 "$command" --no-such-option
    says err "unknown option --no-such-option" "usage: simtfuzz $command" "example: simtfuzz $command"
    silent out
    [ "$(wc -l <err)" -le 5 ] || failed "the usage of $command is not short"
done

# Misuse names what is wrong and what would be right.
expect 2 check
says err "missing FILE"
expect 2 trace a b
says err "unexpected argument 'b'"
expect 2 run --cases
says err "--cases needs an argument"
expect 2 run --cases many
says err "--cases wants a number" many
expect 2 run --cases -5
expect 2 run --cases 99999999999999999999
expect 2 run --cases=
for option in "run --cases" "run --time" "run --jobs" "reduce x --jobs" "check x --schedules"; do
    # shellcheck disable=SC2086
    expect 2 $option 0
    says err "${option##* } wants" "'0'"
done
expect 2 run --features ''
says err "--features wants"
expect 2 gen --features ''
expect 2 run --oracles lemmas:junk
says err "'lemmas:junk'" lemmas:strict
expect 2 run --json=yes
says err "takes no argument"
expect 2 run --time 5x
says err "a time"
expect 2 run --time -1
expect 2 run --seed 0x
expect 2 run --seed 1g
expect 2 run --shard 4/4
says err "--shard"
expect 2 run --shard 1
expect 2 run --jobs 100000
expect 2 run --subjects threads,nosuch
says err "'nosuch'"
expect 2 run --oracles nosuch
says err "simulation"
expect 2 run --oracles all,nosuch
expect 0 check --oracles all,lemmas:strict "$source/corpus/papers/lemma5-exit.simt"
says out "lemmas: known divergence A-4"
expect 0 check --oracles race,all --json "$source/corpus/papers/lemma5-exit.simt"
says out '"lemmas"' '"metamorphic"'
expect 2 run --features nosuch
says err "'nosuch'" loops
expect 2 run extra
expect 2 check x --set threads
expect 2 check x --set threads=0
expect 2 check x --set threads=8,colour=red
says err "--set"
expect 2 trace x --subject nosuch
expect 2 trace x --schedule nosuch
expect 2 lower x --to nosuch
says err core
expect 2 triage
expect 2 triage nonsense
expect 2 triage note 1
expect 2 triage suppress ''
says err "suppress wants"
expect 2 triage unsuppress ''
expect 2 triage show ''
expect 2 triage status 1 nonsense
says err "open, known, fixed, invalid"
expect 2 reduce kernel.simt
says err "--signature"
[ ! -e simtfuzz.db ] || failed "misuse made a database"

# Seeds: hexadecimal and decimal are the same number.
expect 0 gen --seed 0x1F --count 2
cp out hexadecimal
expect 0 gen --seed 31 --count 2
cmp -s out hexadecimal || failed "0x1F and 31 generate different kernels"
expect 0 gen --seed 32 --count 2
cmp -s out hexadecimal && failed "the seed does not matter"
expect 0 gen --seed 31 --first 1
[ "$(grep -cE '^(kernel|\.visible \.entry) ' hexadecimal)" = 2 ] || failed "--count 2"
diff <(sed -n '/--first 1$/,$p' hexadecimal) out >/dev/null || failed "--first 1 is not the second kernel"

# Listings, as text and JSON.
expect 0 rules "$source/corpus/rules/threads-exit.simt" --json
json
grep -q '"semantics": "threads", "rule": "exit", "hits": [1-9]' out || failed "rules FILE counts hits"
grep -q '"semantics": "threads", "rule": "assert", "hits": 0' out || failed "rules FILE counts what does not fire"
expect 2 rules missing.simt
expect 0 rules
says out while_cont "Table 2"
expect 0 rules --json
json
rules=$(wc -l <out)
[ "$rules" -ge 28 ] || failed "only $rules rules"
expect 0 rules --subjects
says out threads simt:then-first
expect 0 rules --oracles
says out simulation theorem cannot
expect 0 rules --oracles --json
json
expect 0 gen --count 3 --json
json

# A full disk below standard output is no success.
if [ -w /dev/full ]; then
    "$simtfuzz" gen --count 50 >/dev/full 2>err
    [ $? = 3 ] || failed "a full standard output"
    says err "standard output"
fi
# A machine that gives little memory away (ulimit -v, batch systems): what is reserved is a share of it.
if (ulimit -v 300000 && "$simtfuzz" --version >/dev/null 2>&1); then
    (
        ulimit -v 300000
        expect 0 check "$source/corpus/papers/program1.simt"
        expect 3 triage list --db nothing.db
        says err "there is no such database"
        exit "$failures"
    ) || failed "check with 300 MB of addresses"
    (
        ulimit -v 1000000
        expect 0 run --jobs 1 --cases 12 --seed 4 --db little.db --no-minimise
        ulimit -v 300000
        expect 0 triage list --db little.db
        exit "$failures"
    ) || failed "run --jobs 1 with 1 GB of addresses"
else
    echo "left out: limits of addresses, which a sanitizer does not bear"
fi
# --memory: what is too little is a message with numbers, exit status 3, and no crash of a case; what is enough changes nothing.
kernel=$source/corpus/papers/program1.simt
expect 0 check "$kernel" --memory 512M
cp out enough
expect 0 check "$kernel"
cmp -s out enough || failed "--memory 512M changes what check says"
for command in "check $kernel" "progress $kernel" "run --cases 3 --seed 1 --jobs 1 --no-supervisor --db small.db"; do
    # shellcheck disable=SC2086
    expect 3 $command --memory 1M
    says err "not enough memory: 1 MB are reserved" "KB more are wanted" "may have 1 MB (--memory): try"
    grep -qi "invariant\|signal" err && failed "$command --memory 1M: $(cat err)"
done
expect 3 run --cases 3 --seed 1 --jobs 1 --db small.db --memory 1M
says err "not enough memory" "in case 0 of seed 0x1"
expect 0 run --cases 3 --seed 1 --jobs 1 --db enough.db --memory 2G
expect 0 run --with campaign.memory=1536M --check
says out "memory = 1536M"
for size in 0M 12 M 5K 99999999999999G -1M; do
    expect 2 check "$kernel" --memory=$size
    says err "--memory wants a size (512M, 2G), not '$size'"
done
# What a misspelt name may mean.
expect 2 chekc x
says err "there is no command 'chekc'; 'check' is meant?"
expect 2 run --subjcts x
says err "unknown option --subjcts; '--subjects' is meant?"
expect 2 run --subjects threads,simtt
says err "there is no 'simtt'; 'simt' is meant?"
expect 2 run --features lops
says err "there is no 'lops'; 'loops' is meant?"
expect 2 run --oracles reslt
says err "there is no 'reslt'; 'result' is meant?"
expect 2 nonsense
grep -q "is meant" err && failed "nonsense means something"

finish
