#!/usr/bin/env bash
# Every option that names an output, with everything that it must not or cannot be: a message before the work, exit status 2
# or 3, and nothing changed. The table of options says which options these are.
. "$(dirname "$0")/common.sh"

cat >k.simt <<'END'
launch(threads = 2, warp = 2);
shared int m;
kernel k() { m = tid; m = tid; if (tid == 0) { m = 2; } }
END
expect 0 run --cases 30 --db x.db --budget 1024 --seed 0x7 --oracles lemmas:strict --features none,loops --no-minimise
expect 0 triage export 1 --db x.db
cp x.db other.db
mkdir folder
mkfifo pipe
# `check` has no --db: the usual one is kept.
cp x.db simtfuzz.db
for db in x simtfuzz; do
    ln -s $db.db link-$db.db
    ln $db.db hard-$db.db
    # A log of writes that is there while the command looks.
    : >$db.db-wal
done
ln -s nowhere dangling
printf 'former\n' >former
sums() { md5sum ./*.db* k.simt former && ls -R; }

# Somebody who may not write everywhere, as root may.
user=()
if [ "$(id -u)" = 0 ]; then
    chmod 755 .
    user=(setpriv --reuid=65534 --clear-groups)
    "${user[@]}" "$simtfuzz" --version >/dev/null 2>&1 || user=()
fi
# A disk without room for anything, where this may be made.
disk=
mkdir disk
if mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    trap 'umount "$folder/disk"; rm -rf "$folder"' EXIT
    head -c 100000 /dev/zero >disk/full 2>/dev/null
    disk="3|disk/file|No space left"
else
    echo "left out: a full disk cannot be made here"
fi

# option OPTION COMMAND... : the option with each bad file; $db is the command's database.
db=x.db
tested=
bad=(
    "3|folder|is a folder"
    "3|nowhere/file|there is no folder 'nowhere'"
    "3|k.simt/file|'k.simt' is no folder"
    "3|/dev/full|No space left"
    "3|/proc/file|/proc/file"
    "3|pipe|is a named pipe"
    ${disk:+"$disk"}
    "3|dangling|a symbolic link to a file that is not there"
    "3||is no file's name"
    "2|DB|would replace the database (" "2|./DB|would replace the database ("
    "2|link-DB|would replace the database (" "2|hard-DB|would replace the database ("
    "2|DB-wal|would replace the database's log" "2|DB-shm|would replace the database's index"
    "2|DB-journal|would replace the database's journal"
    "2|other.db|would replace a database of SQLite"
)
option() {
    local option=$1 before row status file message
    shift
    tested+=" $1$option"
    before=$(sums)
    for row in "${bad[@]}"; do
        IFS='|' read -r status file message <<<"${row//DB/$db}"
        expect "$status" "$@" "$option" "$file"
        says err "$message"
        [ "$before" = "$(sums)" ] || failed "$* $option '$file' changed something"
    done
    : >ro && chmod 444 ro
    if "${user[@]}" test -w ro; then
        echo "left out, by root without setpriv: $option with a file that is read-only"
    else
        "${user[@]}" "$simtfuzz" "$@" "$option" ro >out 2>err </dev/null
        status=$?
        [ $status = 3 ] || failed "$* $option with a file that is read-only: exit status $status"
        says err "Permission denied"
    fi
    rm -f ro
    # A person's own copy stays below its links.
    ln -sf former to-former
    "$simtfuzz" "$@" "$option" to-former >out 2>err </dev/null
    [ -L to-former ] || failed "$option replaced a symbolic link"
    grep -q '^former$' former && failed "$* $option wrote nothing"
    printf 'former\n' >former
    rm -f to-former
}

for format in html junit sarif markdown; do
    option --$format report --db x.db
done
db=simtfuzz.db
for format in html junit sarif markdown; do
    option --$format check k.simt
    expect 2 check k.simt --$format ./k.simt
    says err "would replace an input"
done
for format in html junit sarif markdown; do
    option --$format exec true
done
rm -f simtfuzz.db* *-simtfuzz.db
db=x.db
option -o triage export 1 --db x.db
option --stats run --cases 1 --db x.db --no-supervisor --seed 7
expect 2 run --cases 1 --db x.db --stats -
says err "not standard output"
expect 2 run --cases 1 --db x.db --with campaign.stats=other.db
says err "would replace a database of SQLite"
expect 2 report --db x.db --html - --junit -
says err "--html and --junit both go to standard output"
# The same database under a link: its log stands beside the file.
expect 2 report --db link-x.db --html x.db-wal
expect 2 report --db x.db --html a --junit ./a
says err "--junit ./a would replace --html (a)"
: >a
ln a b
expect 2 report --db x.db --html a --sarif b
expect 2 report --db x.db --html k.simt --grade k.simt
says err "would replace the grade's table"
rm -f a b
# A database that is made by the command itself.
expect 2 run --cases 1 --db new.db --stats new.db
expect 2 run --cases 1 --db new.db --stats ./new.db-wal
[ ! -e new.db ] || failed "a database was made"

# reduce: before the first candidate, also with a kernel file.
cat >k.simt <<'END'
launch(threads = 2, warp = 2);
shared int m;
private int r;
kernel k() { m = 0; if (tid == 0) { r = 1; } while (m == 0) { } }
END
option -o reduce k.simt --keep-progress fair --db x.db
option -o view k.simt --max-steps 50 --db x.db
printf 'buffer a[1]\nsync\n' >p.host
option -o trace p.host --db x.db
expect 2 reduce k.simt --keep-progress fair -o ./k.simt
says err "would replace an input"

# Folders that are made when they are not there.
for command in "outside --subject clang -o" distill; do
    for row in "k.simt|'k.simt' is no folder" "other.db|'other.db' is no folder" "/dev/full|'/dev/full' is no folder" \
        "nowhere/folder|there is no folder 'nowhere'" "dangling|a symbolic link to a file that is not there"; do
        IFS='|' read -r file message <<<"$row"
        # shellcheck disable=SC2086
        expect 3 $command "$file" --cases 1
        says err "$message"
    done
done
# What makes a database replaces none of another program, and no other file.
"$helper" sql foreign.db "CREATE TABLE pictures (id INTEGER)"
foreign=$(cksum <foreign.db)
expect 3 merge foreign.db other.db
expect 3 merge former other.db
expect 3 db salvage other.db foreign.db
expect 3 run --cases 1 --db foreign.db
[ "$foreign" = "$(cksum <foreign.db)" ] || failed "another program's database was changed"
grep -q '^former$' former || failed "a text was replaced by a database"

# The table of options names no output of a command that this test forgets.
rows=0
while read -r name letter commands; do
    for command in $(grep -o 'ON([A-Z]*)' <<<"$commands" | tr -d '()' | sed 's/^ON//' | tr '[:upper:]' '[:lower:]'); do
        rows=$((rows + 1))
        [[ "$tested " == *" $command--$name "* || "$tested " == *" $command-$letter "* ]] ||
            failed "$command --$name names an output and is not tested here"
    done
done < <(sed -n "s/^ *{\"\([a-z-]*\)\", '*\([0a-z]\)'*, OPTION_OUTPUT, \"[A-Z]*\", \(ON([^,]*\),.*/\1 \2 \3/p" "$source/fuzz/cli/option_table.c")
[ "$rows" -ge 8 ] || failed "only $rows outputs were found in the table of options"

# A disk that fills up while the command works: the limit of a file's size lets the probe pass, not the result. The former file
# stays, nothing is left beside it, and the minimised kernel is printed.
{
    echo 'launch(threads = 2, warp = 2); shared int m; private int r;'
    echo 'kernel k() { m = 0;'
    for n in $(seq 1000); do echo "r = r + $n;"; done
    echo 'while (m == 0) { } }'
} >long.simt
full() {
    (
        ulimit -f "$1"
        shift
        trap '' XFSZ
        "$simtfuzz" "$@" 2>&1 </dev/null
        echo "status $?"
    ) | cat >out
    says out "status 3" "File too large"
    grep -q '^former$' kept || failed "$*: a file that could not be written is lost"
    [ -z "$(find . -name '*.tmp')" ] || failed "$*: something is left: $(find . -name '*.tmp')"
}
printf 'former\n' >kept
full 40 report --db x.db --html kept
says out '</html>' 'is printed instead'
full 8 reduce long.simt --keep-progress fair -o kept --tests 1
says out "is printed instead" "while (v0 == 0)"
# In place: devices, and what is open already.
expect 0 report --db x.db --html /dev/null --junit /dev/null
[ -c /dev/null ] || failed "/dev/null was replaced"
"$simtfuzz" report --db x.db --junit /dev/fd/3 3>&1 >out | grep -q testsuite || failed "/dev/fd/3 was not written"
finish
