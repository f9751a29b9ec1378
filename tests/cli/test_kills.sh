#!/usr/bin/env bash
# Campaigns that are killed at random moments and resumed: nothing that was stored is lost, and in the end the
# database is that of an undisturbed run. A fourth argument: how many kills (by default few, for CI); a fifth:
# the seed of the moments. Also: a file that may not grow, and what --resume says.
. "$(dirname "$0")/common.sh"
kills=${4:-3}
RANDOM=${5:-1}
cases=300
hunt=(run --budget 1024 --oracles lemmas:strict,result --features none,loops --cases $cases)

stored_cases() {
    "$simtfuzz" status --db "$1" --json 2>/dev/null | grep -o '"cases": [0-9]*' | tail -1 | grep -o '[0-9]*' || echo 0
}

# The process that runs the campaign, of the one that watches over it.
child_of() {
    cat "/proc/$1/task/$1/children" 2>/dev/null
}

declare -A undisturbed
# same DB SEED: the content is that of a run that nobody disturbed.
same() {
    if [ -z "${undisturbed[$2]:-}" ]; then
        "$simtfuzz" "${hunt[@]}" --seed "$2" --db "whole-$2.db" --jobs 2 >/dev/null 2>&1 || failed "undisturbed run of seed $2"
        "$helper" content "whole-$2.db" >"whole-$2"
        undisturbed[$2]=1
    fi
    "$helper" content "$1" >content
    cmp -s content "whole-$2" || failed "seed $2: resumed and undisturbed differ: $(diff content "whole-$2" | head -3)"
}

seed=1 killed=0 finished=0 survived=0
while [ "$killed" -lt "$kills" ]; do
    before=$(stored_cases killed.db)
    "$simtfuzz" "${hunt[@]}" --seed $seed --resume --jobs $((1 + RANDOM % 3)) --db killed.db >out 2>err &
    pid=$!
    sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
    how=$((RANDOM % 10))
    if [ $how -lt 6 ]; then
        kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
    elif [ $how -lt 8 ]; then
        kill -KILL $(child_of $pid) 2>/dev/null && killed=$((killed + 1)) && survived=$((survived + 1))
        sleep 0.2
        kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
    elif [ $how -lt 9 ]; then
        kill -INT $pid 2>/dev/null && killed=$((killed + 1))
    else
        kill -TERM $pid 2>/dev/null && killed=$((killed + 1))
    fi
    wait $pid 2>/dev/null
    status=$?
    case $status in
    0 | 137) ;;
    *) failed "kill $killed: exit status $status: $(head -3 err)" ;;
    esac
    after=$(stored_cases killed.db)
    [ "$after" -ge "$before" ] || failed "kill $killed: $before cases were stored, now $after"
    if "$simtfuzz" status --db killed.db --json 2>/dev/null | grep -q '"state": "finished"'; then
        same killed.db $seed
        rm -f killed.db*
        seed=$((seed + 1)) finished=$((finished + 1))
    fi
done
[ ! -f killed.db ] || {
    expect 0 "${hunt[@]}" --seed $seed --resume --db killed.db
    says out "campaign 1 finished"
    same killed.db $seed
}
echo "$killed kills, $finished campaigns finished between them, $survived times only the watched process"

# A file that may not grow: the batch is undone, the message names the file; then it goes on.
(
    ulimit -f 200 # blocks of 1024 bytes
    "$simtfuzz" "${hunt[@]}" --seed $seed --db full.db >out 2>err </dev/null
)
status=$?
[ $status = 3 ] || failed "a file that may not grow: exit status $status"
says err "full.db: cannot"
expect 0 "${hunt[@]}" --seed $seed --resume --db full.db
same full.db $seed

# A finding of the engine is replayed in a process of its own. This case is fatal to nobody.
"$helper" sql full.db "UPDATE findings SET oracle = 'engine', class = 'crash', signature = 'engine|crash|SIGSEGV|checking'
    WHERE id = 1; UPDATE raw_keys SET key = 'engine|crash|SIGSEGV|checking' WHERE id =
    (SELECT raw_key FROM examples WHERE id = (SELECT example FROM findings WHERE id = 1))" || failed "sql"
expect 3 replay 1 --db full.db
says out "NOT THE SAME: the case ends as usual"

# Without --seed: the last unfinished one, with its options.
"$simtfuzz" run --seed 0x5 --oracles lemmas:strict --features none,loops,calls --cases 100000 --db other.db >out 2>err &
pid=$!
for _ in $(seq 600); do
    [ "$(stored_cases other.db)" -gt 0 ] && break
    sleep 0.1
done
expect 3 run --resume --db other.db
says err "is being run"
kill -INT $pid
wait $pid
has=$(stored_cases other.db)
expect 0 run --resume --db other.db --cases $((has + 64)) --json
json
says out '"seed": "0x5"' '"state": "finished"' '"campaign": 1'
expect 2 run --resume --db other.db
says err "there is no unfinished campaign"
expect 2 run --resume --db absent.db
expect 0 run --resume --seed 0x5 --oracles lemmas:strict --features none,loops,calls --cases 64 --db other.db
says out "campaign 1 finished"
finish
