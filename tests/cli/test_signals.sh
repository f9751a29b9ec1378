#!/usr/bin/env bash
# Ctrl-C, SIGTERM, kill -9, and a worker that crashes.
. "$(dirname "$0")/common.sh"
hunt=(run --budget 1024 --seed 0x7 --oracles lemmas:strict,result --features none,loops --jobs 2 --time 60)

# committed DB: waits until the campaign has stored cases.
committed() {
    for _ in $(seq 600); do
        "$simtfuzz" status --db "$1" --json 2>/dev/null | grep -q '"cases": [1-9]' && return
        sleep 0.1
    done
    failed "nothing was committed to $1 within a minute"
}

for signal in INT TERM HUP; do
    "$simtfuzz" "${hunt[@]}" --db $signal.db >out 2>err &
    pid=$!
    committed $signal.db
    kill -$signal $pid
    start=$SECONDS
    wait $pid
    status=$?
    [ "$status" = 0 ] || failed "SIG$signal: exit status $status"
    [ $((SECONDS - start)) -le 10 ] || failed "SIG$signal: it took $((SECONDS - start)) s to end"
    says err "ending"
    says out "campaign 1 interrupted" "known A-4" "database: $signal.db"
    expect 0 status --db $signal.db
    says out interrupted
    expect 0 replay 1 --raw --db $signal.db
done

# The numbers of the table are those of the database.
expect 0 status --db INT.db --json
stored=$(grep -o '"cases": [0-9]*' out)
"$simtfuzz" "${hunt[@]}" --db twice.db --json >out 2>err &
pid=$!
committed twice.db
kill -INT $pid
wait $pid
printed=$(grep -o '"cases": [0-9]*' out | head -n 1) # of the campaign
json
expect 0 status --db twice.db --json
stored=$(grep -o '"cases": [0-9]*' out)
[ "$printed" = "$stored" ] || failed "printed $printed, stored $stored"

# A second signal ends at once.
"$simtfuzz" "${hunt[@]}" --db second.db >out 2>err &
pid=$!
committed second.db
kill -INT $pid
kill -INT $pid
kill -INT $pid 2>/dev/null
start=$SECONDS
wait $pid
[ $((SECONDS - start)) -le 5 ] || failed "a second SIGINT: it took $((SECONDS - start)) s to end"
expect 0 triage list --db second.db

# kill -9: what was committed stays, the next campaign goes on in the same file.
for round in 1 2; do
    rm -f killed.db*
    "$simtfuzz" "${hunt[@]}" --db killed.db >out 2>err &
    pid=$!
    committed killed.db
    sleep "0.$round"
    kill -KILL $pid
    wait $pid 2>/dev/null
    expect 0 triage list --db killed.db
    says out "A-4"
    expect 0 replay 1 --raw --db killed.db
    expect 0 status --db killed.db
    says out killed "last written"
    expect 0 run --seed 0x8 --cases 20 --features none,loops --oracles lemmas:strict --db killed.db
    says out "campaign 2 finished"
done

# A process that dies by itself says of what.
"$simtfuzz" "${hunt[@]}" --no-supervisor --db crash.db >out 2>err &
pid=$!
committed crash.db
kill -SEGV $pid
wait $pid 2>/dev/null
status=$?
[ "$status" = 3 ] || failed "SIGSEGV: exit status $status"
says err "signal 11"
expect 0 triage list --db crash.db
finish
