#!/usr/bin/env bash
# docs/nightly.md, Kubernetes: the manifests' structure, and their commands as pods would run them. No cluster is asked.
. "$(dirname "$0")/common.sh"
yaml=
for python in python3 /usr/bin/python3; do
    "$python" -c 'import yaml' 2>/dev/null && yaml=$python && break
done
[ -n "$yaml" ] || { echo "there is no python3-yaml here"; exit 77; }
block_with "completionMode" yaml >shards.yaml
block_with "simtfuzz-merge" yaml >merge.yaml
"$yaml" "$source/tests/night/check_kubernetes.py" shards.yaml merge.yaml commands || failed "the manifests"

# Pod by pod, in the folder that all mount.
mkdir night
night_ini 1024 >night.ini
seed=$(grep -o 'seed 0x[0-9a-f]*' commands/shard | head -1)
# shellcheck disable=SC2086
simtfuzz run --config night.ini --$seed --db undisturbed.db >out 2>err || failed "undisturbed: $(tail -n 1 err)"
for index in $(seq 0 $(($(cat commands/completions) - 1))); do
    (cd night && JOB_COMPLETION_INDEX=$index sh -c "$(sed "s,/config/,$folder/," ../commands/shard)" >../out 2>../err) ||
        failed "pod $index: $(tail -n 2 err)"
done
(cd night && sh -c "$(cat ../commands/merge)" >../out 2>../err) || failed "merge: $(tail -n 2 err)"
[ -s night/night.html ] || failed "there is no report"
same_content night/night.db undisturbed.db
finish
