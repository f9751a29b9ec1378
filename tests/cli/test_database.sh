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
# What was committed first is in the file itself, also while the campaign goes on: a copy without its -wal is a database.
"${simtfuzz}" run --jobs 1 --time 20s --no-minimise --seed 5 --db live.db >/dev/null 2>&1 </dev/null &
campaign=$!
for ((i = 0; i < 400; i++)); do [ -s live.db ] && [ -s live.db-wal ] && break || sleep 0.05; done
sleep 0.5
cp live.db alone.db
kill -INT $campaign
wait $campaign
expect 0 status --db alone.db
# A file whose schema is only in the -wal that is not there, as older programs left them, is not "of another program".
"$helper" sql empty.db "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA user_version = 0; VACUUM"
if [ -s empty.db ]; then
    expect 3 status --db empty.db
    says err "empty.db-wal, which is not there"
fi
# Damage: the command that helps; what can be read is copied, and what was lost is said.
expect 3 triage list --db corrupt.db
says err "simtfuzz db salvage corrupt.db NEW"
before=$(cksum <corrupt.db)
expect 0 db salvage corrupt.db saved.db
says out "lost" "not complete"
[ "$before" = "$(cksum <corrupt.db)" ] || failed "salvage changed the damaged file"
expect 0 status --check --db saved.db
expect 3 db salvage corrupt.db saved.db
says err "is there already"
expect 0 db salvage good.db whole.db
says out "all rows of all tables could be read"
expect 0 status --check --db whole.db
for db in good whole; do "$helper" content $db.db >$db.txt; done
cmp -s good.txt whole.txt || failed "salvage of a sound database is another one"
expect 0 db salvage loose.db tight.db
says out "refer to what is lost"
expect 0 status --check --db tight.db
expect 3 db salvage text.db no.db
expect 3 db salvage foreign.db no2.db
expect 3 db salvage absent.db no3.db
# Every page of a database damaged, one at a time: what comes out is sound, or is refused.
# What is said to be lost is what is missing: rows, lost and left out are together what the table had.
sizes() { sed 's/{"table": /\n/g' "$1" | sed -n 's/^"\([a-z_]*\)", "rows": \([0-9]*\), "lost": \([0-9a-z]*\), "left_out": \([0-9]*\)}.*/\1 \2 \3 \4/p'; }
rm -f whole.db*
expect 0 db salvage good.db whole.db --json
json
sizes out >had
[ "$(wc -l <had)" -gt 10 ] || failed "tables of $(cat out)"
pages=$(($(stat -c %s good.db) / 8192)) saved=0 counted=0 guessed=0
for ((page = 1; page < pages; page += 3)); do
    cp good.db page.db
    head -c 8192 /dev/zero | tr '\0' 'Z' | dd of=page.db bs=8192 seek=$page conv=notrunc 2>/dev/null
    rm -f out.db*
    "$simtfuzz" db salvage page.db out.db --json >out 2>err
    status=$?
    [ $status -ne 0 ] || json
    sizes out >has
    wrong=$(paste -d ' ' had has | awk 'NF == 8 && $7 != "null" && $2 != $6 + $7 + $8')
    [ -z "$wrong" ] || failed "page $page damaged: had, has, lost, left out: $wrong"
    counted=$((counted + $(awk '$3 != "null" && $3 > 0' has | wc -l)))
    guessed=$((guessed + $(awk '$3 == "null"' has | wc -l)))
    [ $status -eq 0 ] || [ $status -eq 3 ] || failed "salvage with page $page damaged: exit status $status"
    [ $status -eq 0 ] && saved=$((saved + 1)) && expect 0 status --check --db out.db
done
[ "$counted" -gt 0 ] || failed "of no damaged table it is known how many rows are lost ($guessed are not known)"
[ "$saved" -gt 3 ] || failed "of $pages pages only $saved can be damaged without losing all"
expect 0 db migrate good.db
expect 0 db migrate good.db --json
json
expect 3 db migrate foreign.db --json
silent out
expect 2 db mend good.db
expect 2 db salvage good.db
expect 3 db migrate foreign.db
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
