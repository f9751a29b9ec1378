#!/usr/bin/env bash
# What the paper prints, written down by hand from it, against what the traces say:
#
# - Table 1, from the trace of Program 1 (whose statements stand on the paper's lines);
# - the formal run of Program 1, whose 4th to 13th transitions are Example 2: rule, active and disable
#   mask after each;
# - how many steps a warp takes for Programs 2 to 4, in both orders of the paths;
# - x = x + 1 by n interleaved threads ends with exactly 1 to n (section 4.1), all interleavings searched.
#
# A row of Table 1 is the state before the instruction at PC is executed. The formal model has a call
# token for the kernel itself at the bottom, which Table 1 leaves out, and takes a step for each token
# and for statements without an active lane, which Table 1 folds into the instruction before. So: the
# states before each step that executes a statement, one for each stretch of steps on the same line
# (line 3 is two assignments), with the tokens' continuations as lines.
#
#     paper.sh SIMTFUZZ
set -u
simtfuzz=$(realpath "${1:?the program}")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2
trace() { # kernel, subject
    "$simtfuzz" trace "corpus/papers/$1.simt" --subject "$2" --json
}

table1() {
    trace program1 simt | awk -v threads=1111 '
    function field(name,   m) {
        if (!match($0, "\"" name "\": *\"?[^,\"]*")) return ""
        m = substr($0, RSTART, RLENGTH)
        sub(/^"[a-z]*": *"?/, "", m)
        return m
    }
    function tokens(   s, rest, t, n, parts) {
        rest = $0
        sub(/.*"stack": *\[/, "", rest)
        sub(/\], *"writes".*/, "", rest)
        s = ""
        while (match(rest, /\["(brk|call|div|sync)", *"[01]*", *[0-9a-z]*\]/)) {
            t = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            gsub(/["\[\] ]/, "", t)
            if (split(t, parts, ",") == 3 && parts[3] != "null")
                s = s " (" parts[1] "," parts[2] ",@" parts[3] "@)"
        }
        return s == "" ? " -" : s
    }
    BEGIN { state = threads " 0000 -" }
    {
        line = field("line"); pc = field("pc")
        if (pc != "null") {
            line_of[pc] = line
            if (line != last_line) rows[++n] = line " " state
        }
        last_line = line
        state = field("active") " " field("disabled") tokens()
    }
    END {
        rows[++n] = "end " state
        for (i = 1; i <= n; i++) {
            row = rows[i]
            while (match(row, /@[0-9]+@/)) {
                at = substr(row, RSTART + 1, RLENGTH - 2)
                row = substr(row, 1, RSTART - 1) line_of[at] substr(row, RSTART + RLENGTH)
            }
            print row
        }
    }'
}

formal_run() {
    trace program1 simt |
        sed -E 's/.*"rule": *"([a-z_]*)".*"active": *"([01]*)", *"disabled": *"([0bre]*)".*/\1 \2 \3/'
}

# Program, subject, warp steps; a program with a loop that never ends is not among them.
step_counts() {
    local expected n
    while read -r program subject expected; do
        [ "$(trace "$program" "$subject" | wc -l)" -eq "$expected" ] ||
            echo "$program under $subject takes $(trace "$program" "$subject" | wc -l) steps, expected $expected"
    done < <(
        for subject in simt simt:then-first; do
            echo "p2-n1 $subject 6"
            echo "p3-n1 $subject 5"
            for n in 1 2 3 4 32; do echo "p4-n$n $subject $((6 * n + 4))"; done
        done
        for n in 2 3 4 32; do echo "p2-n$n simt:then-first 8"; echo "p2r-n$n simt 8"; done
    )
}

# The distinct final values of x under all interleavings, or why they are not all.
increments() { # n
    "$simtfuzz" check --exhaustive --subjects threads --json "corpus/papers/incr-n$1.simt" |
        sed -n 's/.*"subject": "threads".*"exhaustive": true.*"finals": \[\([^]]*\)\], "more_finals": false.*/\1/p' |
        tr -d '{}x": ' | tr ',' '\n' | sort -n
}

failures=0
for n in 2 3; do diff -u <(seq "$n") <(increments "$n") || failures=1; done
diff -u "$here/table1.expected" <(table1) || failures=1
diff -u "$here/formal-run.expected" <(formal_run) || failures=1
diff -u /dev/null <(step_counts) || failures=1
[ "$failures" -eq 0 ] && echo "Table 1, the formal run, the step counts and the increments agree"
