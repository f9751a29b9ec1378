#!/usr/bin/env bash
# The README's sessions, as printed: each `$ simtfuzz ..` of a console block is run, in order, and gives the lines that follow
# it. "..." stands for any lines; times, rates and the number of workers are the machine's.
. "$(dirname "$0")/common.sh"
# What nvcc makes of the file, without what the corpus says of it.
tail -n +7 "$source/corpus/ptx/warpsum.nvcc.ptx" >warpsum.ptx

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

sessions=0
run_session() { # COMMAND, with the lines that it must print in the file wanted
    local command=$1
    case $command in simtfuzz\ *) ;; *) return ;; esac
    sessions=$((sessions + 1))
    eval "\"$simtfuzz\" ${command#simtfuzz }" >got 2>err </dev/null
    plain got >got.plain
    plain wanted >wanted.plain
    matches wanted.plain got.plain || {
        failed "README: \$ $command"
        diff wanted.plain got.plain | head -20
    }
}

command=
: >wanted
while IFS= read -r line; do
    case $line in
    '$ '*)
        [ -z "$command" ] || run_session "$command"
        command=${line#\$ }
        : >wanted
        ;;
    END)
        [ -z "$command" ] || run_session "$command"
        command=
        ;;
    *) printf '%s\n' "$line" >>wanted ;;
    esac
done < <(awk '/^```console$/ { inside = 1; next } /^```$/ && inside { inside = 0; print "END" } inside' "$source/README.md")
[ "$sessions" -ge 3 ] || failed "only $sessions sessions in the README"
finish
