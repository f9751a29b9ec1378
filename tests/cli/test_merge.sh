#!/usr/bin/env bash
# Shards and merge: 16 shards are one run, in any order, at any stage; bad inputs change nothing; job arrays
# say which shard a process is.
source "$(dirname "$0")/common.sh"

cases=1100 # 18 chunks: a shard has one or two
hunt=(run --budget 1024 --seed 7 --oracles lemmas:strict,result --subjects threads,simt --features all,spin --jobs 2)
content() {
    "$helper" content "$1" || failed "no content of $1"
}

expect 0 "${hunt[@]}" --cases $cases --db whole.db
content whole.db >whole
grep -q '"table":"example"' whole || failed "the campaign found nothing to compare"
for i in $(seq 0 15); do
    expect 0 "${hunt[@]}" --cases $cases --shard "$i/16" --db "shard-$i.db"
done
expect 0 merge all.db shard-*.db
says out "all.db: 1 campaigns (1 new)"
content all.db | cmp -s - whole || failed "16 shards are not one run"
expect 0 status --db all.db
says out "16 of 16" $cases

# In another order, one after another, some twice, some at an earlier stage first.
expect 0 "${hunt[@]}" --cases 200 --shard 1/16 --db early.db
expect 0 merge other.db early.db
content other.db | cmp -s - whole && failed "a part of a shard has all that one run has"
for i in $(seq 15 -1 0); do
    expect 0 merge other.db "shard-$i.db" shard-3.db
done
expect 0 merge other.db all.db early.db
content other.db | cmp -s - whole || failed "the order of merges matters"

# A shard that was killed, whose database was merged then, and that ran again.
"$simtfuzz" "${hunt[@]}" --cases 100000 --shard 5/16 --db killed.db >out 2>err &
pid=$!
for _ in $(seq 300); do
    "$simtfuzz" status --db killed.db --json 2>/dev/null | grep -q '"cases": [1-9]' && break
    sleep 0.1
done
expect 0 merge running.db killed.db # while it runs
kill -9 $pid
wait $pid 2>/dev/null
expect 0 merge again.db killed.db running.db all.db
expect 0 merge again2.db all.db killed.db
content again.db >again
content again2.db | cmp -s - again || failed "a killed shard: the order of merges matters"

# Several processes on one database.
for i in 0 1 2; do
    "$simtfuzz" "${hunt[@]}" --cases $cases --shard $i/3 --db shared.db >out-$i 2>err-$i &
    pids[i]=$!
done
for i in 0 1 2; do
    wait "${pids[i]}" || failed "shard $i of a shared database: exit status $?"
done
content shared.db | cmp -s - whole || failed "three shards in one database are not one run"

# What people say is merged, and stays.
cp all.db mine.db
expect 0 triage note 1 "look at this" --db mine.db
expect 0 triage status 1 invalid --db mine.db
expect 0 merge all.db mine.db
expect 0 merge all.db shard-2.db whole.db
expect 0 triage list --db all.db
says out "look at this" invalid

# Nothing is written when an input is bad.
content other.db >before
echo "not a database" >text.db
head -c 30000 whole.db >damaged.db
for bad in text.db damaged.db absent.db; do
    expect 3 merge other.db killed.db $bad
    says err $bad
    content other.db | cmp -s - before || failed "a merge with $bad changed the output"
    expect 3 merge new.db whole.db $bad
    [ ! -e new.db ] || failed "a merge with $bad left a new database"
done
expect 3 merge text.db whole.db
says err text.db
expect 3 merge no/such/folder.db whole.db
expect 2 merge all.db
says err "IN"
expect 0 merge all.db whole.db --json
json
ls -- *.merging-* *.copy-* 2>/dev/null && failed "files are left behind"

# A job array says which shard it is.
SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2 \
    expect 0 "${hunt[@]}" --cases 300 --db slurm.db
expect 0 status --db slurm.db
says out 1/4
SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 \
    expect 2 "${hunt[@]}" --cases 300 --db slurm.db
says err SLURM_ARRAY_TASK_ID=9 --shard
SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 \
    expect 0 "${hunt[@]}" --cases 10 --shard 0/1 --db own.db
JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=3 expect 0 "${hunt[@]}" --cases 300 --db pods.db
expect 0 status --db pods.db
says out 2/3
JOB_COMPLETION_INDEX=2 expect 2 "${hunt[@]}" --cases 300 --db pods.db
says err JOB_COMPLETIONS
expect 2 run --cases 10 --shard 1/2 --db noseed.db
says err --seed
finish
