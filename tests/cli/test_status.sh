#!/usr/bin/env bash
# status: running campaigns and killed ones, from another process; once, again and again, on a terminal, as JSON.
. "$(dirname "$0")/common.sh"
screen=$(dirname "$helper")/cli_screen
hunt=("$simtfuzz" run --seed 0x7 --oracles lemmas:strict,result --features none,loops --jobs 2 --time 60)

# committed DB: waits until the campaign has stored cases.
committed() {
    for _ in $(seq 600); do
        "$simtfuzz" status --db "$1" --json 2>/dev/null | grep -q '"cases": [1-9]' && return
        sleep 0.1
    done
    failed "nothing was committed to $1 within a minute"
}

expect 3 status --db absent.db
printf '[campaign]\ndb = a.db\n# said why\n' >a.ini
"${hunt[@]}" --config a.ini >/dev/null 2>run.err &
pid=$!
committed a.db
expect 0 status --db a.db
says out "campaign  state" "running" "0x7" "process " " runs, last written " "findings: "
expect 0 status --db a.db --json
json
says out '"state": "running"' '"pid": ' '"cases_per_second": ' '"rules_fired": ' '"shards_running": 1' \
    '"cases_per_second_now": null'
expect 0 status 1 --db a.db
says out "options: gen=" "configuration:" "# said why"
expect 2 status 2 --db a.db
expect 2 status x --db a.db

# Again and again, until it ends; on a terminal in place.
"$simtfuzz" status --db a.db --watch --json >watched 2>watch.err &
watch=$!
TERM=xterm LANG=C.UTF-8 "$screen" 24x100 'wait:running' 'wait:q ends' dump:a size:10x40 'wait:running' size:24x100 \
    'wait:findings: ' key:q end -- "$simtfuzz" status --db a.db --watch >out 2>err || failed "watch: $(cat err)"
says out "status 0" "left main cursor wrap cooked" "campaign  state"
says a "running" "process " "q ends"
grep -q '^seen alternate$' out || failed "not in the last column and not wrapped: $(grep '^seen' out)"
rate='"cases_per_second_now": [0-9.]*[1-9]'
for _ in $(seq 300); do
    [ "$(wc -l <watched)" -ge 3 ] && grep -q "$rate" watched && break
    sleep 0.2
done
kill -INT $pid
wait $pid
wait $watch || failed "--watch does not end with the campaign: $?"
cp watched out
json
grep -q "$rate" watched || failed "no rate: $(cat watched)"
tail -1 watched | grep -q '"state": "interrupted"' || failed "the end is not told: $(tail -1 watched)"

# Killed, or of another machine.
"${hunt[@]}" --db k.db >/dev/null 2>&1 &
pid=$!
committed k.db
kill -KILL $pid
wait $pid 2>/dev/null
# A process that only watches over the campaign may have been the one that was killed: its child follows at once.
for _ in $(seq 100); do
    expect 0 status --db k.db
    grep -q killed out && break
    sleep 0.1
done
says out "killed" "was killed, last written"
expect 0 status --db k.db --json
says out '"state": "killed"'
expect 0 status --db k.db --watch
# The number of a process that came later is not the campaign's.
"$helper" sql k.db "UPDATE sessions SET pid = $$, started_ms = 1000, seen_ms = 2000" || failed sql
expect 0 status --db k.db
says out "was killed"
"$helper" sql k.db "UPDATE sessions SET host = 'elsewhere', seen_ms = started_ms" || failed sql
expect 0 status --db k.db
says out silent "nobody can tell whether it runs"
"$helper" sql k.db "UPDATE sessions SET seen_ms = unixepoch() * 1000" || failed sql
expect 0 status --db k.db
says out running

# In its first seconds, before a chunk of cases is stored: what is not known is not said to be 0.
cp k.db young.db
"$helper" sql young.db "UPDATE sessions SET seen_ms = unixepoch() * 1000, started_ms = unixepoch() * 1000 - 3000;
    UPDATE shards SET cases = 0, kernels = 0; DELETE FROM statistics_verdicts; DELETE FROM statistics; DELETE FROM rule_hits; DELETE FROM verdicts" || failed sql
expect 0 status --db young.db
says out "runs, begun" " s ago; none of its cases is stored yet: they are 64 at a time"
grep -Eq '^ *1  running +0x7 +\?.* \? +\?$' out || failed "$(cat out)"

# What was found last, the last first.
expect 0 run --seed 7 --cases 200 --oracles lemmas:strict --features none,loops --no-minimise --db f.db
expect 0 triage status 1 open --db f.db
expect 0 status --db f.db
says out "finished" "last findings" " ago" "lemmas|" "findings: 1 open, 0 known"
expect 0 status 1 --db f.db
says out "findings over its cases: "
finish
