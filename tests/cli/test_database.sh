#!/usr/bin/env bash
# Databases that cannot be used: a message that names the file, exit status 3, nothing harmed.
. "$(dirname "$0")/common.sh"
hunt=(run --budget 1024 --seed 0x7 --oracles lemmas:strict --features none,loops --jobs 2)

refused() { # FILE MESSAGE
    local before
    before=$(cksum <"$1" 2>/dev/null)
    expect 3 "${hunt[@]}" --cases 30 --db "$1"
    says err "$1" "$2"
    silent out
    for command in "triage list" "replay 1" "status" "regress" "reduce 1" "rules"; do
        # shellcheck disable=SC2086
        expect 3 $command --db "$1"
        says err "$1"
    done
    [ "$(cksum <"$1" 2>/dev/null)" = "$before" ] || failed "$1 was changed"
}

expect 0 "${hunt[@]}" --cases 30 --db good.db

echo "this is not a database, but a text that somebody may want to keep" >text.db
refused text.db "not"
"$helper" sql foreign.db "CREATE TABLE pictures (id INTEGER); INSERT INTO pictures VALUES (1)"
refused foreign.db "another"
cp good.db newer.db
"$helper" sql newer.db "PRAGMA user_version = 99"
refused newer.db "newer"
cp good.db corrupt.db
dd if=/dev/zero of=corrupt.db bs=1 seek=5000 count=9000 conv=notrunc 2>/dev/null
refused corrupt.db "damaged"
expect 0 status --check --db good.db
cp good.db loose.db
"$helper" sql loose.db "PRAGMA foreign_keys = OFF; DELETE FROM raw_keys"
expect 3 status --check --db loose.db
says err "loose.db: the database is damaged" "that is not there"
silent out
head -c 3000 good.db >short.db
refused short.db "damaged"
mkdir folder.db
expect 3 "${hunt[@]}" --cases 10 --db folder.db
says err folder.db
expect 3 "${hunt[@]}" --cases 10 --db no/such/folder/a.db
says err no/such/folder/a.db
for command in "triage list" "replay 1" status "regress"; do
    # shellcheck disable=SC2086
    expect 3 $command --db absent.db
    says err absent.db
done
[ ! -e absent.db ] || failed "reading made a database"

# Locked by another process for longer than we wait.
coproc "$helper" lock good.db
locker=$COPROC_PID # bash forgets it when the process ends
read -r _ <&"${COPROC[0]}"
expect 3 "${hunt[@]}" --cases 30 --db good.db
says err good.db "another process"
expect 0 triage list --db good.db
says out "A-4"
expect 0 status --db good.db
exec {COPROC[1]}>&-
wait "$locker"
expect 0 "${hunt[@]}" --cases 30 --db good.db

# A database that is deleted or moved away while the campaign runs.
for away in "rm gone.db" "mv gone.db elsewhere.db"; do
    "$simtfuzz" "${hunt[@]}" --time 60 --db gone.db >out 2>err &
    pid=$!
    for _ in $(seq 600); do
        "$simtfuzz" status --db gone.db --json 2>/dev/null | grep -q '"cases": [1-9]' && break
        sleep 0.1
    done
    start=$SECONDS
    $away
    wait $pid
    status=$?
    [ "$status" = 3 ] || failed "$away: exit status $status"
    [ $((SECONDS - start)) -le 20 ] || failed "$away: it took $((SECONDS - start)) s to end"
    says err gone.db "deleted or moved"
    rm -f gone.db* elsewhere.db*
done

# A disk that fills up while the campaign runs (a limit on the size of files stands for it).
expect 0 "${hunt[@]}" --cases 30 --db full.db
(
    trap '' XFSZ
    ulimit -f 200
    exec "$simtfuzz" "${hunt[@]}" --oracles lemmas:strict,liveness --features all,spin --time 60 --db full.db
) >out 2>err
status=$?
[ "$status" = 3 ] || failed "a full disk: exit status $status"
says err full.db
expect 0 triage list --db full.db
says out "A-4"
expect 0 replay 1 --db full.db

# Read-only: reading works, writing says so. Root may write everything, so it becomes nobody.
mkdir closed
cp good.db closed/a.db
cp "$simtfuzz" ./program
chmod 555 program closed
chmod 444 closed/a.db
chmod 755 .
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid 65534 --clear-groups)
"${as_nobody[@]}" ./program triage list --db closed/a.db >out 2>err || failed "reading a read-only database"
says out "A-4"
"${as_nobody[@]}" ./program "${hunt[@]}" --cases 10 --db closed/a.db >out 2>err
status=$?
[ "$status" = 3 ] || failed "writing a read-only database: exit status $status"
says err closed/a.db "read-only"
"${as_nobody[@]}" ./program triage note 1 text --db closed/a.db >out 2>err
status=$?
[ "$status" = 3 ] || failed "a note in a read-only database: exit status $status"
chmod 755 closed
finish
