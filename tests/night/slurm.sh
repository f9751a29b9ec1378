#!/usr/bin/env bash
# docs/nightly.md, Slurm: the block as printed, on a cluster of one node that is brought up here, on the loopback only.
. "$(dirname "$0")/common.sh"
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch squeue scontrol; do
    command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "the daemons want root"; exit 77; }

# ---- the cluster ----
host=$(uname -n)
host=${host%%.*}
pids=()
end() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$folder"
}
trap end EXIT
start_cluster() {
    local port=$1
    mkdir -p cluster/state cluster/spool
    mkdir -p -m 700 cluster/munge
    head -c 1024 /dev/urandom >cluster/munge/key
    chmod 400 cluster/munge/key
    # --force: a key below /tmp.
    munged --foreground --force --key-file="$folder/cluster/munge/key" --socket="$folder/cluster/munge/socket" \
        --pid-file="$folder/cluster/munge/pid" --log-file="$folder/cluster/munge/log" \
        --seed-file="$folder/cluster/munge/seed" >cluster/munged.log 2>&1 &
    pids+=($!)
    for _ in $(seq 100); do
        [ -S cluster/munge/socket ] && break
        sleep 0.1
    done
    cat >cluster/slurm.conf <<END
ClusterName=night
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/cluster/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/cluster/state
SlurmdSpoolDir=$folder/cluster/spool
SlurmctldPidFile=$folder/cluster/slurmctld.pid
SlurmdPidFile=$folder/cluster/slurmd.pid
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=night Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$folder/cluster/slurm.conf
    slurmctld -D -c -f "$SLURM_CONF" >cluster/slurmctld.log 2>&1 &
    pids+=($!)
    slurmd -D -f "$SLURM_CONF" >cluster/slurmd.log 2>&1 &
    pids+=($!)
    for _ in $(seq 100); do
        sinfo -h -o %T 2>/dev/null | grep -q idle && return
        sleep 0.1
    done
    return 1
}
free_port() { # of two, one after the other, that nobody listens on
    local port
    for _ in $(seq 50); do
        port=$((20000 + RANDOM % 20000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && ! (exec 3<>"/dev/tcp/127.0.0.1/$((port + 1))") 2>/dev/null; then
            echo $port
            return
        fi
    done
}
start=$SECONDS
start_cluster "$(free_port)" || {
    failed "no node of the cluster became idle"
    tail -n 5 cluster/*.log
    finish
}
echo "a cluster of one node after $((SECONDS - start)) s"

# ---- the recipe ----
recipe=$(block_with "#SBATCH")
seed=$(grep -o 'seed 0x[0-9a-f]*' <<<"$recipe" | head -1)
night_ini 2048 >night.ini
# shellcheck disable=SC2086
simtfuzz run --config night.ini --$seed --db undisturbed.db >out 2>err || failed "undisturbed: $(tail -n 1 err)"
queue_is_empty() {
    for _ in $(seq 1200); do
        squeue -h >queue 2>err && [ ! -s queue ] && return
        sleep 0.1
    done
    failed "jobs are still there: $(cat queue)"
}
submit() {
    bash -euc "$recipe" >merge_job 2>err || failed "sbatch: $(tail -n 2 err)"
}
# As a night goes: one shard of the four is killed, and the job that merges runs all the same.
submit
for _ in $(seq 300); do
    "$simtfuzz" status --db shard-1.db --json 2>/dev/null | grep -q '"cases": [1-9]' && break
    sleep 0.1
done
scancel --signal=KILL --full "$(squeue -h -n simtfuzz -o %F | head -1)_1" 2>err || failed "scancel: $(cat err)"
queue_is_empty
[ -s night.html ] || failed "after a shard was killed there is no report: $(tail -n 2 merge.log)"
content night.db >partial
# Submitted again, as somebody would in the morning, it goes on with what is missing.
submit
queue_is_empty
scontrol show job "$(tail -n 1 merge_job)" -o >job
says job "JobState=COMPLETED"
[ "$(ls shard-?.db | wc -l)" = 4 ] || failed "there are not four shards: $(ls)"
same_content night.db undisturbed.db
cmp -s partial content.a && failed "the killed shard was not missing"
echo "the whole test took $((SECONDS - start)) s"
finish
