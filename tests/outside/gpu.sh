#!/usr/bin/env bash
# gpu.sh SIMTFUZZ [--time T] [--cases N] [--seed S] [--via COMPILER]... [--output FOLDER]
#
# Hunts in the NVIDIA driver of this machine at each level of its compiler, and prints a table. Builds nothing: a machine with
# the driver and a copy of simtfuzz (and libsqlite3.so.0) is enough. --time is that of each level (60 seconds by default),
# --cases ends it earlier. --via adds rows for PTX that a compiler here makes of CUDA (clang-14:cuda:-O2, nvcc:-O3).
# Exit status: 0 nothing found; 1 findings, whose folders are named; 2 no GPU that could be used, or wrong usage.
set -u
usage() {
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -ge 1 ] || usage
simtfuzz=$1
shift
time=60s cases= seed=0x1 output=gpu-findings vias=()
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
    --time) time=$2 ;;
    --cases) cases=$2 ;;
    --seed) seed=$2 ;;
    --via) vias+=("$2") ;;
    --output) output=$2 ;;
    *) usage ;;
    esac
    shift 2
done
command -v "$simtfuzz" >/dev/null || { echo "gpu.sh: there is no program $simtfuzz" >&2; exit 2; }
found=$("$simtfuzz" subjects --outside | grep '^cuda:') || {
    # What stands in the way is what the subject says when it is asked for.
    "$simtfuzz" outside --subject cuda --cases 1 2>&1 >/dev/null | grep cuda >&2
    exit 2
}
echo "$found" | sed 's/^[^ ]* */device: /'
subjects=()
for level in 0 1 2 3 4; do
    subjects+=("cuda:jit=$level")
    for via in "${vias[@]+"${vias[@]}"}"; do
        subjects+=("cuda:jit=$level:via=$via")
    done
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '%-36s %8s %8s %9s %8s %9s\n' subject kernels agree findings unknown 'ms each'
worst=0
for subject in "${subjects[@]}"; do
    "$simtfuzz" outside --subject "$subject" --seed "$seed" --time "$time" ${cases:+--cases "$cases"} \
        --output "$output" >"$log" 2>&1
    status=$?
    [ $status -eq 0 ] || worst=1
    # The row of the summary: "cuda:jit=4: 300 kernels, 23.8 ms each: agrees 299 wrong-value 1".
    awk -v subject="$subject" '
        index($0, subject ": ") == 1 && / kernels, / {
            row = substr($0, length(subject) + 3)
            count = split(row, word, " ")
            for (i = 5; i < count; i++) {
                if (word[i] == "agrees") agree = word[i + 1]
                else if (word[i] == "unknown") unknown = word[i + 1]
                else if (word[i] ~ /^(wrong-value|crash|hang|compile-error|run-error)$/) bad += word[i + 1]
            }
            printf "%-36s %8d %8d %9d %8d %9.1f\n", subject, word[1], agree, bad, unknown, word[3]
            said = 1
        }
        END { if (!said) exit 1 }' "$log" || {
        printf '%-36s %s\n' "$subject" "no result: $(tail -1 "$log")"
        worst=1
    }
    grep -E '^  (outside\||word |unknown:|.*/)' "$log"
done
[ $worst -eq 0 ] || echo "findings, if any, are in $output"
exit $worst
