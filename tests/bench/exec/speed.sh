#!/usr/bin/env bash
# CPU seconds of five kernels with race detection: `simtfuzz exec`, and Oclgrind on the same kernels as OpenCL C. Both are
# told to find races and find none; compiling is not counted for simtfuzz, and is for Oclgrind (some 0.1 s).
#
#     tests/bench/exec/speed.sh build-release
set -eu
build=$(realpath "${1:?a build folder}")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc"; exit 0; }
nvcc -O3 -arch=sm_80 -lineinfo -cudart shared -o program "$here/program.cu"
cat "$here/kernels.cl" "$here/kernels.h" >kernels.cl

cpu() { # seconds of user and system time of a command
    local TIMEFORMAT='%U %S'
    { time "$@" >out 2>err; } 2>&1 | awk '{ print $1 + $2 }'
}

simulate() { # kernel, size: what oclgrind-kernel reads
    local n=$2 cells=$2
    [ "$n" -ge 4096 ] || cells=$((n * n))
    local buffer="<size=$((4 * cells)) int fill=0>" float="<size=$((4 * cells)) float fill=0>" number="<size=4 int>"
    case $1 in
    product) printf 'kernels.cl\nproduct\n%d %d 1\n16 16 1\n%s\n%s\n%s\n%s\n%d\n' "$n" "$n" "$float" "$float" "$float" "$number" "$n" ;;
    escape) printf 'kernels.cl\nescape\n%d %d 1\n16 16 1\n%s\n%s\n%d\n' "$n" "$n" "$buffer" "$number" "$n" ;;
    *) printf 'kernels.cl\n%s\n4096 1 1\n256 1 1\n%s\n%s\n%s\n%d\n' "$1" "$buffer" "$buffer" "$number" "$n" ;;
    esac
}

printf '%-10s %8s %14s %10s %10s %7s\n' kernel size "warp steps" simtfuzz oclgrind ratio
for row in "product 144" "reduction 2097152" "histogram 1048576" "scan 131072" "escape 256"; do
    set -- $row
    ours=$(cpu "$build/simtfuzz" exec -- ./program "$1" "$2")
    steps=$(sed -n 's/.*blocks, \([0-9]*\) steps.*/\1/p' err)
    grep -q 'nothing is wrong' err || { cat err; exit 1; }
    theirs=-
    if command -v oclgrind-kernel >/dev/null; then
        simulate "$1" "$2" >kernel.sim
        theirs=$(cpu oclgrind-kernel --data-races kernel.sim)
        ! grep -qi 'race\|error' err || { head -3 err; theirs=-; }
    fi
    printf '%-10s %8d %14s %10s %10s %7s\n' "$1" "$2" "$steps" "$ours" "$theirs" \
        "$(awk -v a="$ours" -v b="$theirs" 'BEGIN { print b == "-" || a == 0 ? "-" : sprintf("%.0f", b / a) }')"
done

# The same kernels under `check`, 4,096 threads: what `check` of all subjects takes, and of `block`, where one execution
# decides for all schedules; and one execution of `block` that is asked for, each thread for itself.
nvcc -ptx -O3 -arch=sm_80 -lineinfo -o kernels.ptx "$here/program.cu"
printf '\n%-10s %8s %10s %10s %10s %10s %7s\n' kernel size check block execution oclgrind ratio
for row in "product 64" "reduction 65536" "histogram 65536" "scan 65536" "escape 64"; do
    set -- $row
    launch=(--set threads=256 --set blocks=16) cells=$2 values=(--bind "2=$2") buffers=2
    case $1 in product | escape) launch=(--set threads=16x16 --set blocks=4x4) cells=$(($2 * $2)) ;; esac
    case $1 in
    product) values=(--bind "3=$2") buffers=3 ;;
    escape) values=(--bind "1=$2") buffers=1 ;;
    esac
    for ((i = 0; i < buffers; i++)); do values+=(--bind "$i=buffer:$((4 * cells)):zero"); done
    check=("$build/simtfuzz" check kernels.ptx --entry "$(grep -o "_Z[0-9]*$1[A-Za-z0-9_]*" kernels.ptx | head -1)" "${launch[@]}" "${values[@]}")
    execution=$(cpu "${check[@]}" --subjects block --schedules 1 --budget 2000000000)
    grep -q '^clean.*sampled)$' out || { cat out; exit 1; }
    plain=$(cpu "${check[@]}")
    block=$(cpu "${check[@]}" --subjects block)
    grep -q '^clean' out || { cat out; exit 1; }
    theirs=-
    if command -v oclgrind-kernel >/dev/null; then
        simulate "$1" "$2" >kernel.sim
        theirs=$(cpu oclgrind-kernel --data-races kernel.sim)
    fi
    printf '%-10s %8d %10s %10s %10s %10s %7s\n' "$1" "$2" "$plain" "$block" "$execution" "$theirs" \
        "$(awk -v a="$block" -v b="$theirs" 'BEGIN { print b == "-" || a == 0 ? "-" : sprintf("%.1f", b / a) }')"
done
