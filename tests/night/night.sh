#!/usr/bin/env bash
# A night with everything that can go wrong: two shards, each killed and interrupted again and again and gone on with, then
# merged, minimised, reported. What is in the database at the end is what one undisturbed run puts there.
. "$(dirname "$0")/common.sh"
cases=800
night_ini $cases >night.ini
hunt=(run --config night.ini --seed 0x7)

expect 0 "${hunt[@]}" --jobs 2 --db undisturbed.db
says out "campaign 1 finished" "known MUT"

# done_cases DB: how many cases a shard has stored.
done_cases() {
    simtfuzz status --db "$1" --json 2>/dev/null | grep -o '"cases": [0-9]*' | grep -o '[0-9]*$' || echo 0
}

disturbed=0
# disturb SIGNAL SHARD: starts or goes on with a shard, and sends it the signal a while after it has stored something new.
disturb() {
    local signal=$1 shard=$2 db=shard-$2.db pid status before
    before=$(done_cases "$db")
    simtfuzz "${hunt[@]}" --shard "$shard/2" --jobs 1 --resume --db "$db" >out 2>err &
    pid=$!
    for _ in $(seq 600); do
        [ "$(done_cases "$db")" -gt "$before" ] && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    sleep "0.$((RANDOM % 3))"
    kill "-$signal" $pid 2>/dev/null && disturbed=$((disturbed + 1))
    wait $pid 2>/dev/null
    status=$?
    [ "$status" -le 1 ] || [ "$signal" = KILL ] || failed "SIG$signal: exit status $status: $(tail -n 1 err)"
    expect 0 triage list --db "$db"
}

for shard in 0 1; do
    for signal in KILL INT KILL TERM; do
        disturb $signal $shard
    done
    expect 0 "${hunt[@]}" --shard $shard/2 --resume --db shard-$shard.db
    says out "finished"
done
[ $disturbed -ge 4 ] || failed "only $disturbed disturbances came before a shard's end"
echo "$disturbed signals arrived while a shard was running"

# ---- merge: in any order, as often as one likes ----
expect 0 merge night.db shard-0.db shard-1.db
same_content night.db undisturbed.db
expect 0 merge again.db shard-1.db shard-0.db shard-1.db night.db
same_content again.db undisturbed.db

# ---- what was found replays, is minimised, and is still there ----
expect 0 replay 1 --raw --db night.db
says out "raw        same:"
expect 0 replay 1 --db night.db
says out "minimised  same:"
expect 0 reduce 1 --db night.db -o small.ptx
signature=$(simtfuzz triage show 1 --json --db night.db | grep -o '"signature": "[^"]*"' | head -1 | cut -d '"' -f 4)
expect 0 check --fail-on none small.ptx --subjects crs,crs:patent,crs:call-push --oracles result --json
says out "$signature"
expect 0 regress --db night.db

# ---- the report ----
expect 0 report --db night.db --html night.html --junit night.xml --sarif night.sarif --markdown night.md
for file in night.html night.xml night.sarif night.md; do
    says $file MUT
done
# Reading, minimising and reporting changed nothing.
same_content night.db undisturbed.db
finish
