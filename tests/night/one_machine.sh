#!/usr/bin/env bash
# docs/nightly.md, one machine: the script and the units as printed.
. "$(dirname "$0")/common.sh"
# Five blocks are marked as commands: three here, one for GNU parallel, one for Slurm.
[ "$(grep -c '^```sh$' "$source/docs/nightly.md")" = 5 ] || failed "docs/nightly.md has a block that nothing runs"
bash -euc "$(block_with 'cat >night.ini')" || failed "night.ini"
expect 0 config night.ini
night_ini 64 >night.ini
bash -euc "$(block_with 'cat >night.sh')" || failed "night.sh"
sh night.sh >out 2>err || failed "night.sh: $(tail -n 2 err)"
says out "campaign 1 finished"
[ -s night.html ] || failed "there is no report"
content night.db >before
# Started once more, it has nothing to do.
sh night.sh >out 2>err || failed "night.sh again: $(tail -n 2 err)"
content night.db | diff - before >/dev/null || failed "the second start of a finished night changed the database"
bash -euc "$(block_with '[Timer]')" || failed "units"
if command -v systemd-analyze >/dev/null; then
    systemd-analyze verify "$PWD/simtfuzz.service" "$PWD/simtfuzz.timer" 2>&1 | grep simtfuzz >verified
    silent verified
else
    says simtfuzz.timer OnCalendar=20:00 Persistent=true
    says simtfuzz.service ExecStart= Type=oneshot
fi
finish
