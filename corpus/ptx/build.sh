#!/usr/bin/env bash
# Compiles the sources of this folder again. The header of each .ptx says which version and command made
# it, how to launch it and what it expects: kernels.txt for those in CUDA C, made by nvcc and by clang;
# the first line `// simtfuzz:` of a source for the others.
set -eu
cd "$(dirname "$0")"
clang_version="$(clang-14 --version | head -1)"
nvcc_version="nvcc $(nvcc --version | sed -n 's/.*release.*, //p')"

# write SOURCE OUTPUT VERSION HEADER COMMAND..: runs COMMAND -o .. SOURCE
write() {
    local source=$1 output=$2 version=$3 header=$4
    shift 4
    "$@" -o "$output.raw" "$source"
    {
        echo "// Source: corpus/ptx/$source"
        echo "// Compiler: $version"
        echo "// Command: $* $source"
        printf '%s' "$header"
        sed "s|\"$PWD/|\"|" "$output.raw"
    } >"$output"
    rm "$output.raw"
}

for source in *.cl; do
    write "$source" "${source%.cl}.ptx" "$clang_version" "$(sed -n '/^\/\/ \(simtfuzz\|expect\)/p' "$source")"$'\n' \
        clang-14 --target=nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -Xclang -finclude-default-header \
        -include opencl.h -S -O1 -Wno-unused-command-line-argument
done
for source in calls.cu math.cu pipeline.cu warp.cu; do
    write "$source" "${source%.cu}.ptx" "$nvcc_version" "$(sed -n '/^\/\/ \(simtfuzz\|expect\)/p' "$source")"$'\n' \
        nvcc -ptx -arch=sm_80 -lineinfo
done
for source in backwards.cu; do # what nvcc does for sm_100 only
    write "$source" "${source%.cu}.ptx" "$nvcc_version" "$(sed -n '/^\/\/ \(simtfuzz\|expect\)/p' "$source")"$'\n' \
        nvcc -ptx -arch=sm_100 -lineinfo
done

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }
while IFS='|' read -r name source compilers macros settings expectations; do
    case "$name" in '' | '#'*) continue ;; esac
    name=$(trim "$name") source=$(trim "$source") settings=$(trim "$settings")
    header="// simtfuzz: $settings"$'\n'
    while IFS= read -r claim; do
        claim=$(trim "$claim")
        case "$claim" in
        crs:* | thread-pc:* | block:*) header+="// expect ${claim%: *}: ${claim#*: }"$'\n' ;;
        *) header+="// expect: $claim"$'\n' ;;
        esac
    done < <(tr ';' '\n' <<<"$expectations")
    flags=()
    for macro in $macros; do flags+=("-D$macro"); done
    for compiler in $compilers; do
        case "$compiler" in
        nvcc) write "$source" "$name.nvcc.ptx" "$nvcc_version" "$header" nvcc -ptx -arch=sm_80 -lineinfo "${flags[@]}" ;;
        clang) write "$source" "$name.clang.ptx" "$clang_version" "$header" clang-14 -x cuda --cuda-device-only \
            --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -fms-extensions -Wno-unknown-cuda-version -O1 -S "${flags[@]}" ;;
        esac
    done
done <kernels.txt
