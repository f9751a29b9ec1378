#!/usr/bin/env bash
# Ways of making cases against each other, at equal CPU time: how soon the ordinary campaign, run plainly and
# with each of the options below, shows planted faults.
#
#     pace.sh SOURCES BUILD WORK [seconds=12] [seeds=3] [nice=19] FAULT...
#
# Each fault, seed and way is one campaign with one job, until its first finding that is not known or
# until it has used so many seconds of CPU time. Ways take turns, so that what else the machine does
# meets all of them. WORK/pace.tsv has a line for each: fault seed way detected|- CPU-seconds.
# What is there is not done again: an interrupted comparison goes on. Printed is the table of docs/coverage.md.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2034,SC2154 # variables of planting.sh, which is sourced
sources=$(cd "${1:?sources}" && pwd) build=$(cd "${2:?build folder}" && pwd) work=${3:?work folder}
shift 3
seconds=12 seeds=3 nice=19 wanted=()
for argument; do
    case $argument in
    seconds=* | seeds=* | nice=*) declare "$argument" ;;
    *) wanted+=("$argument") ;;
    esac
done
# shellcheck source=planting.sh
. "$here/planting.sh"
ways=("" "--mutate 40")
mkdir -p "$work"
work=$(cd "$work" && pwd)
results=$work/pace.tsv objects_list=$work/objects
touch "$results"
list_objects >"$objects_list"

# ---- one campaign

campaign() { # seed, options
    local took
    rm -f "$overlay"/run.db*
    # shellcheck disable=SC2086 # words of the options
    took=$(TIMEFORMAT='%U %S'; { time (ulimit -t "$seconds" -c 0
        nice -n "$nice" "$overlay/simtfuzz" run --no-supervisor --seed "$1" --jobs 1 --cases 1000000 --no-minimise \
            --stop-on-finding $2 --db "$overlay/run.db" >"$overlay/run.out" 2>&1; exit $?); } 2>&1; echo " $?")
    awk -v fault="$name" -v seed="$1" -v way="${2:-plain}" -v limit="$seconds" '
        { cpu = $1 + $2; found = $3 == 1 || $3 == 3
          printf "%s\t%s\t%s\t%s\t%.2f\n", fault, seed, way, found ? "detected" : "-", found ? cpu : limit }' \
        <<<"$(tr '\n' ' ' <<<"$took")" >>"$results"
}

pace() {
    [ "${#wanted[@]}" -eq 0 ] || named || return
    local overlay=$work/planted/$name way
    for way in "${ways[@]}"; do
        grep -qF "$name"$'\t'"$number"$'\t'"${way:-plain}"$'\t' "$results" && continue
        mkdir -p "$overlay"
        [ -x "$overlay/simtfuzz" ] || {
            plant "$overlay" && compile_planted "$overlay" && link_planted "$overlay" simtfuzz
        } 2>"$overlay/build.log" || { echo "$name: does not build" >&2; return; }
        campaign "$number" "$way"
    done
}

# ---- the table

# Means are of min(CPU seconds, the limit). The sign test is two-sided, of pairs of a fault and seed; those that
# differ by less than a fifth say nothing, which is what busy machines make of equal ones.
table() {
    echo "| cases | campaigns | detected | mean CPU s | sooner than plain | later | p |"
    echo "| --- | --- | --- | --- | --- | --- | --- |"
    awk -F'\t' -v limit="$seconds" '
        function choose(n, k,   x) { x = 1; for (; k > 0; k--) x *= (n - k + 1) / k; return x }
        { n[$3]++; sum[$3] += $5; found[$3] += $4 == "detected"; at[$1 FS $2, $3] = $5; pairs[$1 FS $2]; ways[$3] }
        END {
            for (w in ways) {
                less = more = 0
                for (i in pairs)
                    if (((i, w) in at) && ((i, "plain") in at)) {
                        less += 1.2 * at[i, w] < at[i, "plain"]
                        more += at[i, w] > 1.2 * at[i, "plain"]
                    }
                k = less < more ? less : more
                p = 0
                for (i = 0; i <= k; i++)
                    p += choose(less + more, i)
                p = 2 * p / 2 ^ (less + more)
                printf "| %s | %d | %d | %.2f | %d | %d | %.2f |\n", w, n[w], found[w], sum[w] / n[w], less, more, (p > 1) ? 1 : p
            }
        }' "$results" | sort
}

for number in $(seq "$seeds"); do each_fault pace; done # a record has a seed of its own
table
