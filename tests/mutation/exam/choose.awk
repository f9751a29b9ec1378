# Of names of automatic mutants (hunt --list), a line each in an order drawn by chance, `wanted` of them, evenly over
# the rooms: one of each room, then a second one of each, until there are enough. Printed as they were listed.
BEGIN { FS = ":" }
{
    split($1, parts, "/")
    room = parts[1] "/" parts[2]
    name[NR] = $0
    rank[NR] = ++of_room[room]
    if (rank[NR] > most) most = rank[NR]
}
END {
    for (r = 1; r <= most && count < wanted; r++)
        for (i = 1; i <= NR && count < wanted; i++)
            if (rank[i] == r) { taken[i]; count++ }
    for (i = 1; i <= NR; i++) if (i in taken) print name[i]
}
