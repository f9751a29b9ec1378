# Sourced by tests of what pages print: sessions are the commands of their console blocks, each with the lines below it.

# What differs from one machine to another.
plain() { sed -E 's/, [0-9]+ workers?, [0-9.]+ s$//; s/ \([0-9,]+\/s\)//; s/[[:space:]]+$//' "$1"; }

# matches WANTED GOT: line by line, "..." any number of lines.
matches() {
    awk 'NR == FNR { want[++n] = $0; next } { got[++m] = $0 }
        function fits(i, j) {
            if (i > n) return j > m
            if (want[i] == "...") { for (; j <= m + 1; j++) if (fits(i + 1, j)) return 1; return 0 }
            return j <= m && want[i] == got[j] && fits(i + 1, j + 1)
        }
        END { exit !fits(1, 1) }' "$1" "$2"
}

# shows PAGE COMMAND WANTED GOT: the output is as the page has it.
shows() {
    plain "$4" >got.plain
    plain "$3" >wanted.plain
    matches wanted.plain got.plain || {
        failed "$1: \$ $2"
        diff wanted.plain got.plain | head -20
    }
}

# sessions FILE RUN: calls RUN COMMAND for each command of its console blocks; the lines below it are in the file wanted.
sessions() {
    local line command=
    : >wanted
    while IFS= read -r line <&3; do
        case $line in
        '$ '* | END)
            [ -z "$command" ] || "$2" "$command"
            [ "$line" = END ] && command= || command=${line#\$ }
            : >wanted
            ;;
        *) printf '%s\n' "$line" >>wanted ;;
        esac
    done 3< <(awk '/^```console$/ { inside = 1; next } /^```$/ && inside { inside = 0; print "END" } inside' "$1")
}
