#!/usr/bin/env bash
# A campaign and everything that follows it: triage, replay, reduce, regress, status.
. "$(dirname "$0")/common.sh"

# Lemma 5 as printed does not hold (erratum A-4): there is always something to find.
cases=60
hunt=(run --cases $cases --seed 0x7 --budget 1024 --oracles lemmas:strict,result --features none,loops --db a.db)
expect 0 "${hunt[@]}" --jobs 1
says out "campaign 1 finished: seed 0x7" "$cases" "oracle" "lemmas" "known A-4" "simtfuzz replay 1" "rules fired:" \
    "database: a.db"
expect 0 "${hunt[@]/a.db/b.db}" --jobs 2
expect 0 triage list --db a.db
says out "known A-4" "lemmas|lemma-5|"
cp out list
expect 0 triage list --db b.db
dated() { sed 's/20[0-9-]\{8\}\( [0-9:]* UTC\)\{0,1\}//g' "$1"; }
cmp -s <(dated out) <(dated list) || failed "one worker and two find different things"
expect 0 triage show 1 --db a.db
says out "finding 1: lemmas|lemma-5|" "minimised kernel" "while" "raw kernel" "case " "gen=" "simtfuzz replay 1 --db a.db"
cp out show
expect 0 triage show 1 --db b.db
diff <(dated show | sed s/a.db/b.db/) <(dated out) >/dev/null || failed "one worker and two store different findings"
expect 0 triage show lemmas --db a.db
expect 0 triage show 1 --json --db a.db
json
expect 0 triage list --json --db a.db
json
expect 0 triage list open --db a.db
says out "no findings"
expect 2 triage show 99 --db a.db
says err "no finding 99"
expect 2 replay nonsense --db a.db

# JSON of a campaign is all that is printed.
expect 0 "${hunt[@]/a.db/c.db}" --json
json
[ "$(wc -l <out)" = 1 ] || failed "one document"
says out '"seed": "0x7"' "\"cases\": $cases" '"reference": "A-4"' '"state": "finished"'

# Replay: the same bytes, from the minimised kernel and, asked for, from the case; a changed store is noticed.
expect 0 replay 1 --raw --db a.db
says out "raw        same:"
expect 0 replay 1 --db a.db
says out "minimised  same:"
grep -q raw out && failed "replay runs the raw form although there is a minimised one"
expect 0 replay 1 --db a.db --json
json
cp a.db changed.db
"$helper" sql changed.db "UPDATE examples SET tapes = '0 1 0 1'" || failed "sql"
expect 3 replay 1 --raw --db changed.db
expect 0 replay 1 --db changed.db
expect 3 replay 1 --raw --db changed.db
says out "NOT THE SAME"

# What a person says.
expect 0 triage note 1 "Lemma 5; see the errata" --db a.db
expect 0 triage list --db a.db
says out "see the errata"
expect 0 triage status 1 fixed --db a.db
expect 1 "${hunt[@]}"
says out "CAME BACK"
expect 1 regress --db a.db
says out "REGRESSION"
expect 0 triage status 1 open --db a.db
expect 1 "${hunt[@]/#$cases/600}" --stop-on-finding
says out "stopped at a finding" "1 open"
expect 1 regress --db a.db
says out "still shows" "raw: shows, minimised: shows"
expect 0 run --cases 64 --seed 1 --oracles lemmas:strict --no-minimise --db raw.db
expect 0 triage show 1 --db raw.db
! grep -q '^minimised kernel (' out || failed "--no-minimise: minimised"
signature=$("$simtfuzz" triage list --db a.db | grep -o 'lemmas|[^|]*|[^|]*|thread steps')
expect 0 triage suppress "$signature" "not interesting" --db a.db
expect 0 "${hunt[@]}"
says out suppressed
expect 0 triage unsuppress "$signature" --db a.db
expect 1 "${hunt[@]}"
expect 0 triage status 1 known A-4 --db a.db
expect 0 "${hunt[@]}"
expect 0 regress --db a.db
expect 0 regress --db a.db --json
json

# Minimising from outside: the finding's kernel, and a file.
expect 0 reduce 1 --db a.db -o small.simt
says err "statements became"
expect 0 check small.simt --oracles lemmas:strict --json
says out "$signature"
statements=$(grep -c ';' small.simt)
[ "$statements" -le 6 ] || failed "the minimised kernel has $statements lines with statements"
expect 0 replay 1 --db a.db
"$simtfuzz" check "$source/corpus/papers/program1.simt" --oracles lemmas:strict --json >out
signature=$(grep -o 'lemmas|[^"]*' out | head -1)
expect 0 reduce "$source/corpus/papers/program1.simt" --oracles lemmas:strict --signature "$signature"
says out "while" kernel
expect 0 reduce "$source/corpus/papers/program1.simt" --oracles lemmas:strict --signature "$signature" --json
json
says out '"kernel": ' '"tests": '
expect 2 reduce "$source/corpus/papers/program1.simt" --signature 'result|store|x|y'
says err "does not show"

# Progress, rules with counts.
expect 0 status --db a.db
says out finished 0x7 "findings:" "1 known"
expect 0 status --db a.db --json
json
expect 0 rules --db a.db
says out hits
awk '$2 == "assign" && $3 + 0 > 0 { good = 1 } END { exit !good }' out || failed "no hits of assign"

# Shards cover the cases between them.
for shard in 0 1 2; do
    expect 0 "${hunt[@]/a.db/shard.db}" --shard $shard/3 --json
    grep -o '"cases": [0-9]*' out
done | awk -v cases=$cases '{ n += $2 } END { exit n != cases }' || failed "three shards do not have $cases cases"

# What a campaign ends with fits a screen of 24 lines and 80 columns, and has what was asked for; --verbose has the rest.
expect 0 run --cases 16 --seed 1 --no-minimise --db screen.db
[ "$(wc -l <out)" -le 23 ] || failed "the final table has $(wc -l <out) lines"
[ "$(awk 'length > 79' out | wc -l)" = 0 ] || failed "the final table is wider than a screen: $(awk 'length > 79' out | head -1)"
grep -q 'never:' out && failed "the final table lists rules that never fired"
expect 0 run --cases 16 --seed 1 --no-minimise --db verbose.db --verbose
[ "$(wc -l <out)" -gt 30 ] || failed "--verbose says no more"
says out "compared with no other" "atomics "
expect 0 run --cases 8 --seed 3 --oracles race --subjects threads --no-minimise --db asked.db
grep -Eq '^(simulation|lemmas|result|lockstep)' out && failed "the final table has oracles that nobody asked for"

# A time budget ends it.
start=$SECONDS
expect 0 run --time 1 --seed 1 --features none,loops --oracles lemmas --db time.db
[ $((SECONDS - start)) -le 15 ] || failed "--time 1 took $((SECONDS - start)) s"
# Mutated kernels are cases like others.
expect 0 run --cases 60 --seed 0x7 --mutate 80 --oracles lemmas:strict --features none,loops,calls --db mutated.db
says out "known A-4"
expect 0 triage show 1 --db mutated.db
says out " mutate=80 "
expect 0 replay 1 --raw --db mutated.db
expect 0 gen --seed 0x7 --mutate 80 --count 3
cp out mutated
says mutated "// simtfuzz gen --seed 0x7 --mutate 80 --first 2"
expect 0 gen --seed 0x7 --count 3
cmp -s <(grep -v '^//' out) <(grep -v '^//' mutated) && failed "--mutate 80 changes none of three kernels"
expect 0 digest --cases 2 --seed 0x7 --mutate 100
expect 2 gen --mutate 101

finish
