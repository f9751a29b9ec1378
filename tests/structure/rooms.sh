#!/usr/bin/env bash
# The house: every source stands in a room of rooms.txt, every #include between rooms is on the room's line, a room
# uses only rooms above it, is no larger than a person can know, and keeps its *_internal.h to itself; tests/unit mirrors
# them. What a line allows and nobody uses, and an exemption that is no longer needed, fails. A door, a header that a
# newcomer reads, is short. docs/house.md shows the same tables.
#
#     rooms.sh SOURCE            checks
#     rooms.sh SOURCE --print    the tables of docs/house.md
set -u
cd "${1:?source directory}" || exit 2
page=tests/structure/rooms.txt
files_max=25
lines_max=6000
door_lines_max=150

table() {
    awk -F' *[|] *' '
        BEGIN { print "| room | what it owns | beside it |\n| --- | --- | --- |" }
        /^#/ || NF < 4 { next }
        { printf "| %s | %s | %s |\n", $1, $2, $3 }' "$page"
}

doors() {
    printf '| door | what it is for |\n| --- | --- |\n'
    sed -n 's/^door \([^ ]*\) \(.*\)/| \1 | \2 |/p' "$page"
}

# The tables of docs/house.md as they are there.
printed() { # the head of its first column
    sed -n "/^| $1 /,/^\$/p" docs/house.md | sed '/^$/d'
}

if [ "${2:-}" = --print ]; then
    table
    echo
    doors
    exit 0
fi

failures=$(
    # Build folders are ignored by git; elsewhere (an unpacked archive) they are told by their name.
    for path in */; do
        case ${path%/} in
        engine | oracle | db | fuzz | corpus | tests | docs | packaging | build*) ;;
        *) echo "$path: no top-level folder of this project" ;;
        esac
    done
    find engine oracle db fuzz -name '*.[ch]' -o -name '*.def' | sort | xargs awk -v page="$page" \
        -v files_max="$files_max" -v lines_max="$lines_max" '
        function room_of(file) { sub("/[^/]*$", "", file); return file }
        BEGIN {
            while ((getline line <page) > 0) {
                if (line ~ /^#/ || line ~ /^ *$/ || line ~ /^door /) continue
                if (line ~ /^exempt /) {
                    split(line, word, " ")
                    exempt[word[2] " " word[3]] = 1
                    if (word[4] == "") print page ": an exemption without a reason: " line
                    continue
                }
                count = split(line, field, / *[|] */)
                if (count != 4 || field[2] == "") print page ": not four fields: " line
                room = field[1]
                rooms[room] = 1
                for (n = split(field[4], used, " "); n > 0; n--) {
                    if (!(used[n] in rooms)) print page ": " room " may use only rooms above it, not " used[n]
                    may[room " " used[n]] = 1
                }
            }
        }
        FNR == 1 {
            room = room_of(FILENAME)
            if (!(room in rooms)) print FILENAME ": stands in no room of " page
            files[room]++
        }
        { lines[room]++ }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            target = $0
            sub(/^[^"]*"/, "", target)
            sub(/".*/, "", target)
            other = room_of(target)
            if (other == room || target !~ "/") next
            if ((FILENAME " " target) in exempt) {
                needed[FILENAME " " target] = 1
                next
            }
            if (!((room " " other) in may)) print FILENAME ":" FNR ": " room " must not use " other " (" target ")"
            seen[room " " other] = 1
            if (target ~ /_internal\.h$/) print FILENAME ":" FNR ": " target " belongs to its room alone"
        }
        END {
            for (pair in may) if (!(pair in seen)) print page ": nothing needs it any more: " pair
            for (pair in exempt) if (!(pair in needed)) print page ": an exemption that nothing needs: " pair
            for (room in rooms) {
                if (!(room in files)) print page ": there is no room " room
                if (files[room] > files_max) print room ": " files[room] " files, at most " files_max
                if (lines[room] > lines_max) print room ": " lines[room] " lines, at most " lines_max
            }
        }'
    # A semantics is asked for its traits (engine/machine/machine.h), not for its name.
    grep -rnE '[!=]= *&semantics_|&semantics_[a-z_]+ *[!=]=' engine oracle fuzz --include='*.[ch]' |
        sed 's/$/: ask for a trait of the semantics/'
    # Who runs cases knows no oracle by name: each is an entry of doors.c.
    grep -nE '\bORACLE_[A-Z]+\b' oracle/check/check.c oracle/check/explore*.[ch] oracle/check/probe.[ch] |
        grep -vE 'ORACLE_(COUNT|MODE|EXPLORE|PROBE|[A-Z]+_H)\b' | sed 's/$/: no oracle has a name here/'
    # tests/unit mirrors them.
    find tests/unit -name '*.[ch]' -printf '%h\n' | sort | uniq -c | while read -r count folder; do
        grep -q "^${folder#tests/unit/} |" "$page" || [ "$folder" = tests/unit/shared ] ||
            echo "$folder: no room of this name"
        [ "$count" -le "$files_max" ] || echo "$folder: $count files, at most $files_max"
    done
    sed -n 's/^door \([^ ]*\) .*/\1/p' "$page" | while read -r door; do
        [ -e "$door" ] || { echo "$page: there is no door $door"; continue; }
        [ "$(wc -l <"$door")" -le "$door_lines_max" ] || echo "$door: a door of more than $door_lines_max lines"
    done
    # The picture has every room, none above one that it uses. Floors are parted by lines with a bar alone.
    awk '
        FNR == NR {
            if (/^```/) fences++
            if (fences != 1) next
            left = substr($0, 1, 58)
            if (left ~ /^ *[|] *$/) floor++
            count = split(left, word, " ")
            if (word[1] ~ /^[a-z]+\/$/) section = word[1]
            else for (n = 1; n <= count; n++) place[section word[n]] = floor + 1
            next
        }
        /^#/ || !/[|]/ || /^exempt / { next }
        {
            split($0, field, / *[|] */)
            if (field[1] !~ /\// || field[1] ~ /^db/) next
            if (!(field[1] in place)) print "docs/house.md: its picture lacks " field[1]
            for (n = split(field[4], used, " "); n > 0; n--)
                if (place[used[n]] > place[field[1]]) print "docs/house.md: its picture has " field[1] " above " used[n]
        }' docs/house.md "$page"
    diff <(table) <(printed room) >/dev/null && diff <(doors) <(printed door) >/dev/null ||
        echo "docs/house.md: its tables are not those of $page (rooms.sh . --print)"
)
if [ -n "$failures" ]; then
    echo "$failures"
    exit 1
fi
echo "$(grep -cvE '^(#|exempt|door|$)' "$page") rooms, each include goes in its direction; $(grep -c '^door' "$page") doors; $(grep -c '^exempt' "$page") exemptions"
