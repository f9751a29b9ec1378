#!/usr/bin/env bash
# Which findings count for the exit status, and programs that are told of them.
. "$(dirname "$0")/common.sh"
hunt=(run --budget 1024 --seed 0x7 --oracles lemmas:strict,result --features none,loops --jobs 2 --cases 80 --no-minimise --db a.db)

# A stored finding that a person set to each of the states; `counts LIST STATUS`: with this --fail-on.
expect 0 "${hunt[@]}"
says out "known A-4"
counts() {
    expect "$2" "${hunt[@]}" --fail-on "$1"
}
expect 0 triage status 1 open --db a.db
expect 1 "${hunt[@]}"
counts open 1
counts new,regressed,flaky 0
says err "1 open findings do not count: exit status 0"
counts none 0
expect 0 triage status 1 fixed --db a.db
expect 1 "${hunt[@]}"
says out "CAME BACK"
counts regressed 1
counts new,open 0
expect 1 "${hunt[@]}" --fail-on new,regressed --stop-on-finding
says out "stopped at a finding"
expect 0 "${hunt[@]}" --fail-on new --stop-on-finding
says out "finished"
expect 2 "${hunt[@]}" --fail-on
expect 2 "${hunt[@]}" --fail-on known
says err "regressed"
expect 2 "${hunt[@]}" --fail-on new,

# A program is told of each finding that counts, and of the end; nothing is expanded, quotes hold words together.
cat >hook <<'END'
#!/bin/sh
{
    echo "$# <$1> <$2>"
    env | grep ^SIMTFUZZ_ | sort
    cat
    "$SIMTFUZZ" triage show "${SIMTFUZZ_FINDING:-1}" --db "$SIMTFUZZ_DB" >/dev/null && echo stored
} >>told
END
chmod +x hook
export SIMTFUZZ=$simtfuzz
expect 0 triage status 1 open --db a.db
cat >notify.ini <<END
[notify]
fail-on = open
on-finding = ./hook "two words" \$HOME;x
on-end = ./hook end
END
expect 1 "${hunt[@]}" --config notify.ini
says told '2 <two words> <$HOME;x>' "SIMTFUZZ_EVENT=finding" "SIMTFUZZ_FINDING=1" "SIMTFUZZ_KIND=open" \
    "SIMTFUZZ_SIGNATURE=lemmas|" "SIMTFUZZ_DB=a.db" "SIMTFUZZ_SEED=0x7" "1 <end> <>" "SIMTFUZZ_EVENT=end" \
    "SIMTFUZZ_STATUS=1" "SIMTFUZZ_STATE=finished" "SIMTFUZZ_CASES=80" "SIMTFUZZ_COUNT_open=1" stored
[ "$(grep -c SIMTFUZZ_EVENT=finding told)" = 1 ] || failed "a finding is told more than once"
rm told
expect 0 "${hunt[@]}" --config notify.ini --fail-on new
grep -q "EVENT=finding" told && failed "a finding that does not count is told"
says told "SIMTFUZZ_EVENT=end" "SIMTFUZZ_STATUS=0"

# A program that fails is said, and is a fault where all was well.
expect 3 "${hunt[@]}" --fail-on none --on-end false
says err "false, told of the end, ended with status 1" "1 programs that were to be told"
says out "campaign" "finished"
expect 1 "${hunt[@]}" --on-finding ./nosuch
says err "./nosuch, told of finding 1, cannot be started: No such file"
expect 3 "${hunt[@]}" --fail-on none --on-end 'sh -c "kill -9 $$"'
says err "was ended by signal 9"
expect 2 "${hunt[@]}" --on-end "a 'b"
says err "a quotation mark is not closed"
expect 2 "${hunt[@]}" --on-end ' '

# What a program prints is no result.
expect 0 "${hunt[@]}" --fail-on none --on-end 'echo hello' --json
json
says err hello
finish
