#!/usr/bin/env bash
# Every option that names an output, with everything that it must not or cannot be: a message before the work, exit status 2
# or 3, and nothing changed. The table of options says which options these are.
. "$(dirname "$0")/common.sh"

cat >k.simt <<'END'
launch(threads = 2, warp = 2);
shared int m;
kernel k() { m = tid; m = tid; if (tid == 0) { m = 2; } }
END
expect 0 run --cases 3 --db x.db --seed 1 --subjects all
cp x.db other.db
mkdir folder
mkfifo pipe
ln -s x.db link.db
ln x.db hard.db
ln -s nowhere dangling
printf 'former\n' >former
# A log of writes that is there while the command looks.
: >x.db-wal
sums() { md5sum x.db* k.simt former other.db && ls -R; }

# option OPTION COMMAND... : the option with each bad file.
bad=(
    "3|folder|is a folder"
    "3|nowhere/file|there is no folder 'nowhere'"
    "3|k.simt/file|Not a directory"
    "3|/dev/full|No space left"
    "3|/proc/file|/proc/file"
    "3|pipe|is a named pipe"
    "3|dangling|a symbolic link to a file that is not there"
    "3||is no file's name"
    "2|x.db|would replace the database (" "2|./x.db|would replace the database ("
    "2|link.db|would replace the database (" "2|hard.db|would replace the database ("
    "2|x.db-wal|would replace the database's log" "2|x.db-shm|would replace the database's index"
    "2|x.db-journal|would replace the database's journal"
)
option() {
    local option=$1 before row status file message
    shift
    before=$(sums)
    for row in "${bad[@]}"; do
        IFS='|' read -r status file message <<<"$row"
        expect "$status" "$@" "$option" "$file"
        says err "$message"
        [ "$before" = "$(sums)" ] || failed "$* $option '$file' changed something"
    done
    if [ "$(id -u)" = 0 ]; then
        echo "left out, by root: $option with a file that is read-only"
    else
        : >ro && chmod 444 ro
        expect 3 "$@" "$option" ro
        says err "Permission denied"
        rm -f ro
    fi
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
# check has no --db: the usual one is kept.
cp x.db simtfuzz.db
for format in junit sarif; do
    expect 3 check k.simt --$format folder
    expect 3 check k.simt --$format nowhere/file
    expect 2 check k.simt --$format simtfuzz.db
    expect 2 check k.simt --$format ./k.simt
    says err "would replace an input"
done
rm -f simtfuzz.db
option --stats run --cases 1 --db x.db --no-supervisor --seed 7
# The same database under a link: its log stands beside the file.
expect 2 report --db link.db --html x.db-wal
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
expect 2 reduce k.simt --keep-progress fair -o ./k.simt
says err "would replace an input"
expect 3 run --cases 1 --db y.db --feedback 10 --corpus k.simt
expect 3 run --cases 1 --db y.db --feedback 10 --corpus nowhere/corpus
[ ! -e y.db ] || failed "a campaign began although its corpus cannot be written"

# The table of options names no output that this test forgets.
known="html junit sarif markdown stats output"
while read -r name; do
    grep -qw -- "$name" <<<"$known" || failed "--$name names an output and is not tested here"
done < <(sed -n 's/^ *{"\([a-z-]*\)",.*OPTION_OUTPUT.*/\1/p' "$source/fuzz/cli/option_table.c")

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
