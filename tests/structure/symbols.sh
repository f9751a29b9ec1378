#!/usr/bin/env bash
# The house once more, asked of what was built: no object uses a symbol of a room that stands below its own in
# rooms.txt. rooms.sh asks what is included; this sees what one room declares and another one defines.
#
#     symbols.sh SOURCE BUILD
set -eu
cd "${1:?source directory}"
build=${2:?build directory}
find "$build/engine" "$build/oracle" "$build/db" "$build/fuzz" -name '*.o' -exec nm -A {} + | awk -v page=tests/structure/rooms.txt '
    # Tables of what there is: declared where they are read, filled in above.
    BEGIN {
        split("oracle_doors oracle_door_count cli_commands gen_known_main gen_spin_kernel", tables, " ")
        for (n in tables) registry[tables[n]] = 1
        while ((getline line <page) > 0) {
            count = split(line, field, / *[|] */)
            if (count != 4 || line ~ /^#/) continue
            rooms[field[1]] = ++places
        }
    }
    # FOLDER/CMakeFiles/LIBRARY.dir/ROOM/file.c.o:ADDRESS KIND NAME
    {
        path = $1
        sub(/:.*/, "", path)
        part = path
        sub(/\/CMakeFiles\/.*/, "", part)
        sub(/.*\//, "", part)
        room = path
        sub(/.*\.dir\//, "", room)
        if (room !~ /\//) room = part; else { sub(/\/[^\/]*$/, "", room); room = part "/" room }
        if (!(room in rooms) || room !~ /\// && room != "db") next # main.c, what the build generates
        source = path
        sub(/.*\//, "", source)
        sub(/\.o$/, "", source)
        if (!((room "/" source) in there)) there[room "/" source] = (getline line <(room "/" source)) > 0
        if (!there[room "/" source]) next # moved since
        name = $NF
        kind = $(NF - 1)
        if (kind == "U") use[room " " name] = path
        else if (kind ~ /[A-TV-Z]/) home[name] = room
    }
    END {
        for (pair in use) {
            split(pair, word, " ")
            if (word[2] in registry) { met[word[2]] = 1; continue }
            if (word[2] in home && rooms[home[word[2]]] > rooms[word[1]]) {
                print use[pair] ": " word[1] " uses " word[2] " of " home[word[2]]
                bad = 1
            }
            asked++
        }
        for (name in registry) if (!(name in met)) { print name ": a registry that nobody asks"; bad = 1 }
        if (!asked) { print "no symbols"; bad = 1 }
        exit bad
    }'
