#!/usr/bin/env bash
# Triage: lists, suppressions that end, several findings at once, regressions, bisection over builds, regress.
. "$(dirname "$0")/common.sh"

# Lemma 5 as printed does not hold (erratum A-4): there is always something to find.
hunt=(run --budget 1024 --seed 0x7 --oracles lemmas:strict --features none,loops --jobs 2)
expect 0 "${hunt[@]}" --cases 20 --db a.db
expect 0 triage list --db a.db
says out "lemmas|lemma-5|"

# A copy of finding 1 under another signature.
copy_finding() { # DB ID SIGNATURE STATUS
    "$helper" sql "$1" "
        CREATE TEMP TABLE f AS SELECT * FROM findings WHERE id = 1;
        UPDATE f SET id = $2, signature = '$3', status = '$4', reference = '',
            status_ms = iif('$4' = 'fixed', last_seen_ms + 1, 0), cause = '$3', oracle = substr('$3', 1, instr('$3', '|') - 1);
        INSERT INTO findings SELECT * FROM f;
        CREATE TEMP TABLE s AS SELECT * FROM sightings WHERE finding = 1;
        UPDATE s SET finding = $2;
        INSERT INTO sightings SELECT * FROM s" || failed "sql"
}
cp a.db several.db
copy_finding several.db 2 'race|verdict|simt.assign|x' open
copy_finding several.db 3 'race|verdict|simt.assign|y' open
copy_finding several.db 5 'result|store|simt.assign|x' fixed

# ---- several at once, all or none

expect 0 triage status 2,3 5 invalid "not ours" --db several.db
says out "finding 2: race|verdict|simt.assign|x: open -> invalid not ours" "finding 5:" "fixed -> invalid"
expect 0 triage status 2-5 'race|verdict|simt.assign|x' open --db several.db --json
json
[ "$(wc -l <out)" = 3 ] || failed "2-5 are three findings"
says out '"id": 2' '"status": "open"' '"before": "invalid'
expect 2 triage status 2,9 fixed --db several.db
says err "several.db" "no finding 9"
expect 0 triage list open --db several.db
[ "$(grep -c 'race|' out)" = 2 ] || failed "a status was set although one finding does not exist"
expect 0 triage note 2 3 "both of them" --db several.db
says out "finding 2:" "finding 3:" "both of them"
expect 0 triage note 2 '' --db several.db --json
json
says out '"note": ""' '"before": "both of them"'
expect 0 triage note 2 "both of them" --db several.db
expect 0 triage show 2 3 --db several.db --json
json
[ "$(wc -l <out)" = 2 ] || failed "two findings are two documents"
expect 0 triage show 2,3 --db several.db
says out "finding 2: " "finding 3: "

# Names that fit nothing, or too much; what is no name.
expect 2 triage show race --db several.db
says err "'race' may mean 2 findings" 'race|verdict|simt.assign|x, race|verdict|simt.assign|y'
expect 2 triage show nothing --db several.db
says err "no finding has a signature that starts with 'nothing'" "triage search"
for bad in 3- - , 3,,5 5-3 1-2-3 18446744073709551616-18446744073709551617 99999999999999999999 7-8; do
    expect 2 triage show "$bad" --db several.db
    silent out
done
expect 2 triage show 1 '' --db several.db
expect 2 triage status open --db several.db
expect 2 triage status 1 2 --db several.db
says err "there is no status '2'" "open, known, fixed, invalid"
expect 2 triage status 1 open A-1 A-2 --db several.db
says err "unexpected argument 'A-2'"
expect 2 triage nonsense --db several.db
says err "no action 'nonsense'" bisect
expect 2 triage show 1 --all --db several.db
says err "show takes no --all"

# ---- lists: what wants attention first; filters

expect 0 triage status 5 fixed --db several.db
cp several.db list.db
copy_finding list.db 6 'liveness|cycle|simt.assign|x' invalid
expect 0 triage list --db list.db
diff <(awk 'NR > 1 { print $1, $2 }' out) <(printf '%s\n' '2 open' '3 open' '1 known' '6 invalid' '5 fixed') || failed "the order of triage list"
says out "id" "state" "times" "first" "last" "c1 $(date -u +%Y)" "both of them"
expect 0 triage list --limit 2 --db list.db
says out "(2 of 5 findings; --limit 0 lists all)"
expect 0 triage list --limit 0 --db list.db
grep -q "findings;" out && failed "--limit 0 leaves nothing out"
expect 0 triage list --status open,known --json --limit 2 --db list.db
json
[ "$(wc -l <out)" = 2 ] || failed "--limit with --json"
says out '"state": "open"' '"last_seen_ms": 1' '"status_ms": 1' '"note_ms": 1'
listed() { # NUMBERS ARGUMENTS...: lists just these, in this order
    local wanted=$1
    shift
    expect 0 triage "$@" --json --db list.db
    [ "$(sed -n 's/^{"id": \([0-9]*\),.*/\1/p' out | tr '\n' ' ')" = "$wanted" ] || failed "triage $*: $(cut -c1-60 out)"
}
listed "2 3 " list open
listed "6 5 " list --status fixed,invalid
listed "2 3 6 " list --oracle race,liveness
listed "2 " search VERDICT '|x'
listed "1 " search lemma-5 a-4
listed "2 3 " search 'BOTH of'
listed "" search '%%%'
listed "2 " search race 'assign|x' --status open
listed "2 3 1 6 5 " list --new
listed "2 3 1 6 5 " list --since 1
listed "2 3 1 6 5 " list --since 1h
listed "2 3 1 6 5 " list --since 2020-02-29
listed "" list --since "$(($(date -u +%Y) + 1))-01-01"
listed "" list --status suppressed
expect 2 triage list --since 9 --db list.db
says err "there is no campaign 9"
for bad in "--since x" "--since 2026-02-30" "--since 2026-13-01" "--since 0" "--since -1" "--since 2026-1-1" "--status closed" "--status open," \
    "--oracle nobody" "--oracle race,," "--limit x" "open --status open" closed "open known" "--until 2030-01-01" "--for 3d"; do
    # shellcheck disable=SC2086
    expect 2 triage list $bad --db list.db
    silent out
done
expect 2 triage search --db list.db
expect 2 triage search 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 --db list.db

# Findings with one cause are one bug.
"$helper" sql list.db "UPDATE findings SET cause = 'race|verdict|simt.assign|x', minimised_statements = 1 WHERE id = 3" || failed "sql"
expect 0 triage bugs --db list.db
diff <(awk 'NR > 1 { print $1, $2, $3, $(NF - 2) }' out | head -1) <(echo "open 2 2 3") || failed "the first bug of triage bugs"
[ "$(wc -l <out)" = 5 ] || failed "four bugs and a head"
expect 0 triage bugs --status open --json --db list.db
json
says out '"cause": "race|verdict|simt.assign|x", "state": "open", "findings": 2, "waiting": 2' '"oracles": "race", "smallest": 3'
expect 0 triage bugs --limit 1 --db list.db
says out "(1 of 4 bugs; --limit 0 lists all)"
listed "2 3 " search 'verdict|simt.assign|x'
expect 2 triage bugs race --db list.db

# A campaign that starts after a finding was marked fixed, and sees it: a regression until somebody speaks again.
cp a.db back.db
expect 0 triage status 1 fixed --db back.db
expect 1 "${hunt[@]}" --cases 10 --db back.db
says out "CAME BACK"
expect 1 triage list --db back.db
says out "REGRESSION"
expect 1 triage list --status regression --json --db back.db
json
says out '"status": "fixed", "state": "regression"'
expect 0 triage list --new --db back.db
says out "no findings"
expect 1 triage list --since 2 --db back.db
expect 0 triage status 1 fixed --db back.db
says out "REGRESSION -> fixed"
expect 0 triage list --db back.db

# ---- suppressions

expect 0 triage suppress 'race|*' "the new detector" --for 30d --db list.db
says out "race|*" "until" "UTC" "the new detector"
awk 'NR == 2 { exit !($5 == 2 && $6 == 2) }' out || failed "two findings are covered and held back: $(tail -1 out)"
listed "2 3 " list --status suppressed
listed "" list open
expect 0 triage suppress 1 --until 2099-12-24T06:00 --db list.db --json
json
says out '"signature": "lemmas|lemma-5|' '"pattern": false' '"expires_ms": 4101775200000' '"active": true' '"findings": 1' '"held": 0'
expect 0 triage suppress 'not|found|yet|x' --db list.db
says out "active, no end"
expect 0 triage suppressions --db list.db
[ "$(wc -l <out)" = 4 ] || failed "three suppressions and a head"
says out "2099-12-24 06:00 UTC"
"$helper" sql list.db "UPDATE suppressions SET expires_ms = 1000 WHERE signature = 'race|*'" || failed "sql"
listed "2 3 " list open
expect 0 triage suppressions --db list.db
says out "1970-01-01 00:00 UTC (over)"
expect 0 triage unsuppress 'race|*' --db list.db
says out "no longer suppressed: race|*"
expect 0 triage unsuppress 1 --db list.db --json
json
expect 2 triage unsuppress 1 --db list.db
says err "no suppression of lemmas|"
expect 2 triage suppress 99 --db list.db
for bad in "--until 2020-01-01" "--until tomorrow" "--until 2099-02-30" "--until 2099-01-01T25:00" "--for 0" "--for 3x" "--for 99999d" "--for 3d --until 2099-01-01"; do
    # shellcheck disable=SC2086
    expect 2 triage suppress x $bad --db list.db
    silent out
done
expect 0 triage suppressions --db a.db
says out "no suppressions"

# ---- bisection: builds are programs that run this one, some of them without the strict lemmas

mkdir files
export TMPDIR=$PWD/files

build() { # NAME LINE...: a program in builds/
    mkdir -p "$(dirname "builds/$1")"
    { echo '#!/usr/bin/env bash' && printf '%s\n' "${@:2}"; } >"builds/$1"
    chmod +x "builds/$1"
}
shows=("exec '$simtfuzz' \"\$@\"")
gone=('a=("${@//lemmas:strict/lemmas}")' "exec '$simtfuzz' \"\${a[@]}\"")
# One that does not know --case: it is asked by options.
old=("[ \"\$2\" != --help ] || { '$simtfuzz' check --help | grep -v -e --case; exit; }"
    'for word in "$@"; do [ "$word" != --case ] || exit 2; done' "exec '$simtfuzz' \"\$@\"")
for i in 1 2 3; do build "v$i" "${gone[@]}"; done
build v4 'echo "cannot open shared object" >&2; exit 127'
build v5 "${old[@]}"
for i in 6 7 8 9 10; do build "v$i" "${shows[@]}"; done

expect 0 triage bisect 1 --builds 'builds/v*' --db a.db
says out "raw        first shows in builds/v5 (simtfuzz" "not yet in builds/v3" "1 between, which cannot say" \
    "right if it changes at most once" "cannot say: exit status 127: cannot open shared object" "not asked" "minimised  first shows in builds/v5"
expect 0 triage show 1 --db a.db
says out "bisected     raw: starts with builds/v5, not with builds/v3 (5 of 10 builds asked)" "bisected     minimised: starts"
expect 0 triage bisect 1 --builds 'builds/v*' --all --json --db a.db
json
cp out answer
expect 0 triage show 1 --json --db a.db
json
says out '"bisections": [{"form": "raw", "answer": "starts", "before": "builds/v3", "after": "builds/v5", "between": 1, "builds": 10, "asked": 10, "silent": 1, "changes": 1'
mv answer out
says out '"answer": "starts"' '"before": "builds/v3", "after": "builds/v5", "between": 1, "changes": 1, "asked": 10, "silent": 1' \
    '"form": "minimised"' '"warning": null'
printf '# from old to new\nbuilds/v10\n\n  builds/v9 \nbuilds/v[23] # 2 before 3\n' >list.txt
expect 0 triage bisect lemmas --builds list.txt --db a.db
says out "first gone in builds/v2 (" "still shows in builds/v9"
expect 0 triage bisect 1 --builds builds/v6 builds/v1 builds/v7 --all --db a.db
says out "NOT MONOTONE: it changes 2 times" "first shows in builds/v7"
expect 1 triage bisect 1 --builds builds/v6 builds/v7 --db a.db
says out "shows in every build"
expect 1 triage bisect 1 --builds builds/v1 builds/v2 --db a.db
says out "shows in no build"
expect 3 triage bisect 1 --builds builds/v4 --db a.db
says out "no build can say"

# The minimised kernel is clean, the one that was found is not.
build half 'case " $* " in *minimised.simt*) a=("${@//lemmas:strict/lemmas}") ;; *) a=("$@") ;; esac' \
    "exec '$simtfuzz' \"\${a[@]}\""
expect 1 triage bisect 1 --builds builds/v6 builds/half --db a.db
says out "minimised  first gone in builds/half" "raw        shows in every build" "NOT FIXED"
# Another signature of the same oracle and class; one that never comes back; one that shows it now and then.
build other "'$simtfuzz' \"\$@\" | sed 's/while_cont|thread steps/other_rule|thread steps/'"
expect 0 triage bisect 1 --builds builds/v1 builds/other --db a.db
says out "shows as lemmas|lemma-5|simt.other_rule|thread steps"
build hangs "[ \"\$2\" = --help ] && exec '$simtfuzz' \"\$@\"" '[ "$1" = --version ] || exec sleep 600'
expect 0 triage bisect 1 --builds builds/v1 builds/hangs builds/v6 --all --time 1 --db a.db
says out "cannot say: took too long"
# Interrupted: the build ends, nothing stays behind, nothing is stored.
expect 0 triage show 1 --db a.db
cp out before
"$simtfuzz" triage bisect 1 --builds builds/hangs builds/v6 --db a.db >out 2>err &
pid=$!
for _ in $(seq 100); do
    [ -e files/*/raw.simt ] && break
    sleep 0.1
done
sleep 0.3
kill -TERM $pid
wait $pid
[ $? = 4 ] || failed "an interrupted bisection"
says err "interrupted: nothing is stored"
silent out
[ -z "$(ls files)" ] || failed "an interrupted bisection left its files"
expect 0 triage show 1 --db a.db
cmp -s out before || failed "an interrupted bisection was stored"
build rarely "[ \"\$2\" != --help ] || exec '$simtfuzz' \"\$@\"" 'echo x >>tries; [ "$(wc -l <tries)" -lt 4 ] || set -- "$@"' \
    '[ "$(wc -l <tries)" -ge 4 ] || set -- "${@//lemmas:strict/lemmas}"' "exec '$simtfuzz' \"\$@\""
expect 0 triage bisect 1 --builds builds/v1 builds/rarely --runs 6 --db a.db
says out "first shows in builds/rarely"

echo 'nothing to run' >text.txt
expect 2 triage bisect 1 --builds text.txt --db a.db
says err "nothing to run"
expect 2 triage bisect 1 --builds missing --db a.db
says err "missing: No such file"
expect 2 triage bisect 1 --builds 'missing*' --db a.db
says err "no file fits"
expect 2 triage bisect 1 builds/v1 --db a.db
says err "bisect wants --builds"
expect 2 triage bisect 1 --builds builds/v1 --builds builds/v2 --db a.db
says err "once"
build grep 'exec grep "$@"'
expect 3 triage bisect 1 --builds builds/grep --db a.db
[ -z "$(ls files)" ] || failed "a bisection left its files"

# ---- regress: what became of each stored finding

cp several.db regress.db
expect 0 triage status 1 open --db regress.db
expect 0 triage status 5 fixed --db regress.db
copy_finding regress.db 7 'lemmas|lemma-5|simt.other|thread steps' open
copy_finding regress.db 8 'lemmas|flaky|simt.while_cont|thread steps' open
"$helper" sql regress.db "UPDATE findings SET class = 'flaky' WHERE id = 8" || failed "sql"
expect 1 regress --db regress.db
says out "1  lemmas|lemma-5|simt.while_cont|thread steps: still shows (raw: shows, minimised: shows)" \
    "2  race|verdict|simt.assign|x: gone: mark it fixed (raw: gone, minimised: gone)" \
    "5  result|store|simt.assign|x: fixed, stays away" \
    "7  lemmas|lemma-5|simt.other|thread steps: shows with another signature (raw: as lemmas|lemma-5|simt.while_cont|thread steps" \
    "(raw: gone 0/5, minimised: gone 0/5)" "1 with another signature, 4 gone, 0 die" "6 findings: 4 not as their status says, 0 set to fixed"
expect 1 regress --db regress.db --runs 2 --json
json
says out '"finding": 1' '"outcome": "shows"' '"changed": false' '"shown": 2, "runs": 2' '"outcome": "another_signature"' \
    '"seen_as": "lemmas|lemma-5|simt.while_cont|thread steps"' '"outcome": "gone"'
expect 1 regress --db regress.db --update
says out "x: gone: mark it fixed: now it is" "2 set to fixed"
expect 0 triage list open --db regress.db
[ "$(grep -c 'lemmas|' out)" = 3 ] || failed "regress --update: what shows, shows otherwise or is flaky is not fixed"
grep -q 'race|' out && failed "regress --update: what is gone is fixed"
expect 0 triage status 1,7,8 invalid --db regress.db
expect 0 regress --db regress.db
expect 0 triage status 1 fixed --db regress.db
expect 1 regress --db regress.db
says out "REGRESSION: was fixed, shows again"
# Only one of the forms.
"$helper" sql regress.db "UPDATE kernels SET text = 'launch(threads=1, warp=1, blocks=1); kernel k() { }'
    WHERE id = (SELECT minimised_kernel FROM findings f JOIN examples e ON e.id = f.example WHERE f.id = 1)" || failed "sql"
expect 0 triage status 1 open --db regress.db
expect 1 regress --db regress.db --update
says out "still shows, but only as it was found: not fixed" "minimised: gone"
# A form that runs for ever takes no other down; a finding of the engine shows in that way.
"$helper" sql regress.db "UPDATE kernels SET text = 'launch(threads=1, warp=1, blocks=1); kernel k() { while (1) { } }'
    WHERE id = (SELECT minimised_kernel FROM findings f JOIN examples e ON e.id = f.example WHERE f.id = 1);
    UPDATE examples SET minimised_case = replace(minimised_case, 'budget=1024', 'budget=99999999999');
    DELETE FROM findings WHERE id > 2" || failed "sql"
expect 3 regress --db regress.db --time 1
says out "DIES" "minimised: took too long" "1 die"
"$helper" sql regress.db "UPDATE findings SET signature = 'engine|hang|timeout|' || id, oracle = 'engine', class = 'hang', status = 'open'" ||
    failed "sql"
expect 1 regress --db regress.db --time 1
says out "still shows, but only minimised: not fixed (raw: gone, minimised: shows)"

# ---- check --case: what a stored case shows, on a kernel's file

expect 0 triage show 1 --json --db a.db
kernel_of() { # KEY of the minimised form
    "$helper" sql :memory: "SELECT 1" && sed -n 's/.*"minimised": {\(.*\)}, "bisections".*/\1/p' out | sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p"
}
printf '%b' "$(kernel_of kernel)" >small.simt
case_text=$(kernel_of case)
kernel_of tape >small.tape
expect 0 check small.simt --case "$case_text" --tape small.tape --json
says out '"signature": "lemmas|lemma-5|'
expect 2 check small.simt --case "$case_text"
says err "wants --tape"
expect 2 check small.simt --tape small.tape
says err "wants a --case"
expect 2 check small.simt --case "nonsense=1"
says err "'nonsense=1' has no place in a case"
expect 2 check small.simt --case "$case_text" --tape missing
finish
