#!/usr/bin/env bash
# The README's sessions, as printed: each `$ simtfuzz ..` of a console block is run, in order, and gives the lines that follow
# it. "..." stands for any lines; times, rates and the number of workers are the machine's.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/sessions.sh"
# What nvcc makes of the file, without what the corpus says of it.
tail -n +7 "$source/corpus/ptx/warpsum.nvcc.ptx" >warpsum.ptx

run=0
run_session() { # COMMAND
    case $1 in simtfuzz\ *) ;; *) return ;; esac
    run=$((run + 1))
    eval "\"$simtfuzz\" ${1#simtfuzz }" >got 2>err </dev/null
    shows README "$1" wanted got
}

sessions "$source/README.md" run_session
[ "$run" -ge 3 ] || failed "only $run sessions in the README"

# What other pages show of the same campaign.
machine() { sed -E -i 's/ +/ /g; s/( finished .* 100 100) .* ([0-9]+ [0-9]+)$/\1 \2/; s/\| [0-9.]+ (\| [0-9]+ of )/| \1/' "$@"; }
same=0
run_same() { # COMMAND
    case $1 in 'simtfuzz report --db simtfuzz.db '* | 'simtfuzz status --db simtfuzz.db'*) ;; *) return ;; esac
    same=$((same + 1))
    eval "\"$simtfuzz\" ${1#simtfuzz }" >got 2>err </dev/null
    machine wanted got
    shows "reports.md, live.md" "$1" wanted got
}

sessions "$source/docs/reports.md" run_same
sessions "$source/docs/live.md" run_same
[ "$same" = 2 ] || failed "$same sessions about the README's campaign"
finish
