#!/usr/bin/env bash
# explain: every rule, subject and oracle has a text, a kernel and a next step; known divergences, errata, words, findings.
. "$(dirname "$0")/common.sh"

# Every rule: where it is from, the drawing, the kernel.
"$simtfuzz" rules --json | sed 's/.*"semantics": "\([^"]*\)", "rule": "\([^"]*\)".*/\1.\2/' >rules
[ "$(wc -l <rules)" -gt 190 ] || failed "rules: $(wc -l <rules)"
expect 0 explain $(cat rules)
for part in ': a rule, from ' '^The rule, [a-z0-9_]* in engine/[a-z_]*/[a-z0-9_]*\.[ch]:[1-9][0-9]*:$' '^The smallest kernel that needs it, corpus/rules/' '^Next:$' '^    kernel \|^    .*\.entry '; do
    [ "$(grep -c "$part" out)" -ge "$(wc -l <rules)" ] || failed "$part: $(grep -c "$part" out) of $(wc -l <rules) rules"
done
awk '/^The rule, / { getline; getline; if ($0 !~ /^    ./) { print NR ": " $0; bad = 1 } } END { exit bad }' out || failed "a rule without its premises"
awk '/: a rule, from / { getline; getline; if ($0 !~ /[a-z]/) { print NR; bad = 1 } } END { exit bad }' out || failed "a rule without a word"
# Every subject.
"$simtfuzz" rules --subjects --json | sed 's/.*"subject": "\([^"]*\)".*/\1/' >subjects
expect 0 explain $(cat subjects)
[ "$(grep -c ': a subject, ' out)" = "$(wc -l <subjects)" ] || failed "subjects: $(grep -c ': a subject, ' out) of $(wc -l <subjects)"
awk '/: a subject, / { getline; getline; if ($0 !~ /^[A-Z].* .* .* .* /) { print NR ": " $0; bad = 1 } } END { exit bad }' out ||
    failed "a subject without a paragraph"
grep -o 'corpus/[^ ]*' out | sort -u | while read -r file; do [ -e "$source/$file" ] || echo "$file"; done >missing
[ -s missing ] && failed "kernels that are not there: $(cat missing)"
# Every oracle, with a kernel to which it applies.
"$simtfuzz" rules --oracles --json | sed 's/.*"oracle": "\([^"]*\)".*/\1/' >oracles
cd "$source" || exit 1
while read -r oracle; do
    "$simtfuzz" explain "$oracle" >"$folder/out"
    command=$(grep -o 'check --oracles .*' "$folder/out")
    grep -q '^When it speaks:$' "$folder/out" && grep -q '^It applies to: ' "$folder/out" || failed "$oracle: no text"
    # shellcheck disable=SC2086
    "$simtfuzz" $command --json >"$folder/json" 2>"$folder/err"
    grep -qE "\"oracle\": \"$oracle\", \"verdict\": \"(agree|diverge)\"" "$folder/json" || failed "$oracle does not apply to its kernel: $command"
done <"$folder/oracles"
cd "$folder" || exit 1
[ "$(wc -l <oracles)" -ge 16 ] || failed "oracles: $(wc -l <oracles)"

# Everything else that has a name.
expect 0 explain UNF CNV A-4 B-12 B-1 ERR.30 MUT.18 lasso
says out 'UNF: a known divergence' 'one lane waits' 'CNV: a known divergence' 'A-4: a known divergence' "A-4: an erratum of a paper. Lemma 5's" \
    'B-12: an erratum' 'B-1: an erratum of a paper. L127: printed is: ' 'Here: false' 'ERR.30' 'crs:call-guard-all: a subject' 'lasso: a word. an execution'
# What check and progress print: headlines, statuses, execution models, how rows differ; a word of two pages.
expect 0 explain RACY barrier_divergence obe stackless:minpc stack-unfair 'hangs always' unfair
says out 'RACY: a word. Two threads' 'barrier_divergence: a word' 'obe: a word. a progress model. ' 'stackless:minpc: a word. a policy' \
    'stack-unfair: a word. ends if' 'hangs always: a word' 'unfair: a word. the warp has' 'unfair: a word. a progress model. Who must be let run again and again: nobody'
for model in $("$simtfuzz" progress "$source/corpus/regress/spin-lock.simt" | sed -n 's/^\(warps\|threads\)  *\([a-z:-]*\).*/\2/p' | sort -u); do
    "$simtfuzz" explain "${model%:then-first}" >/dev/null 2>&1 || failed "the model $model is not explained"
done
expect 0 explain if
says out 'if: a rule of 3 semantics' '    simt.if   ' '; simt_if in engine/warps/simt.c:'
expect 0 explain bra_guard simt-if lockstep
says out 'crs.bra_guard: a rule, from cuda-crs' 'simt.if: a rule' 'lockstep: a subject' 'lockstep: an oracle'
expect 0 explain 'result|store|simt.assign|shared memory'
says out 'The oracle result says that two sides disagree' '    global / shared / private memory: two race-free executions end with different memory' 'simt.assign: a rule'
expect 0 explain 'convergence|end|none|status'
says out 'how executions end; that one races'
"$simtfuzz" run --jobs 1 --subjects crs,crs:call-guard-all,thread-pc --features none,crs,loose --cases 40 --seed 12 --db f.db >/dev/null 2>&1
expect 0 explain 1 --db f.db
says out 'finding 1: safety|' 'simtfuzz view 1 --db f.db' 'safety: an oracle' 'The oracle safety says'
for wrong in nothing 'nobody|store' '' simt.nothing; do
    expect 2 explain "$wrong"
    says err "there is no rule, subject, oracle, erratum or word"
done
expect 2 explain psi
says err "rules like it: lockstep.psi_T, lockstep.psi_F ("
expect 2 explain
expect 2 explain 99 --db f.db
finish
