#!/usr/bin/env bash
# The night as GitHub runs it: the workflow's steps are those of packaging/nightly.sh, and these steps do what they say, three
# nights long.
. "$(dirname "$0")/common.sh"
[ -n "$(command -v sqlite3)" ] || { echo "there is no sqlite3 here"; exit 77; }

# ---- the files ----
yaml=
for python in python3 /usr/bin/python3; do
    "$python" -c 'import yaml' 2>/dev/null && yaml=$python && break
done
if [ -n "$yaml" ]; then
    "$yaml" "$source/tests/night/check_workflows.py" "$source" || failed "the workflows"
else
    echo "there is no python3-yaml here: the workflows were not read"
fi

# ---- the nights ----
export SIMTFUZZ=$simtfuzz CONFIG=$folder/short.ini NIGHT=$folder/night
night_ini 64 >short.ini
night() { # STATUS SEED [STEP...]: all steps of a night that need no packages
    local wanted=$1 status=0
    export SEED=$2
    shift 2
    [ $# -gt 0 ] || set -- check hunt report summary verdict
    bash "$source/packaging/nightly.sh" "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || failed "a night with seed $SEED ended with $status, not $wanted: $(tail -n 2 out err)"
}
# What it finds is known: nothing that fails.
export GITHUB_STEP_SUMMARY=$folder/step_summary
night 0 0x7
says out "this is the first"
for file in night.db report.html report.xml report.sarif summary.md; do
    [ -s "night/$file" ] || failed "the night left no $file"
done
cmp -s night/summary.md step_summary || failed "the job's summary is not the report's"

# It is not known any more: open, but of an earlier night, so the next night does not fail.
expect 0 triage status 1 open --db night/night.db
night 0 0x8

# What was said to be fixed must not come back.
TRIAGE="status 1 fixed" night 1 0x9
says out "finding 1, fixed: result|"

# New and open: fails, and says what; the next night knows it.
rm night/night.db*
night 0 0x7 check hunt
expect 0 triage status 1 open --db night/night.db
night 1 0x7
says out "finding 1, open: "
night 0 0x8

# An attempt that was killed goes on in the next, and what it found is still new.
rm night/night.db*
sed -i 's/cases = .*/cases = 6000/' short.ini
SEED=0x7 bash "$source/packaging/nightly.sh" check hunt >out 2>err &
pid=$!
for _ in $(seq 600); do
    "$simtfuzz" status --db night/night.db --json 2>/dev/null | grep -q '"cases": [1-9]' && break
    sleep 0.1
done
kill -KILL "$(pgrep -P $pid simtfuzz)" || failed "the hunt had ended already"
wait $pid && failed "a killed hunt is no success"
sed -i 's/cases = .*/cases = 2000/' short.ini
night 0 0x7 check hunt report verdict
[ "$(sqlite3 night/night.db 'SELECT count(*), max(sessions) FROM v_campaigns')" = "1|2" ] ||
    failed "the second attempt did not go on: $(sqlite3 night/night.db 'SELECT * FROM v_campaigns')"

# A damaged database is kept, and said.
printf 'no database' | dd of=night/night.db conv=notrunc 2>/dev/null
night 0 0xa check hunt
says out "::error::" damaged
ls night/night.db.damaged-* >/dev/null || failed "the damaged database is gone"

# Usage.
night 2 0 nonsense
says out "there is no step 'nonsense'"
finish
