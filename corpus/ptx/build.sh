#!/usr/bin/env bash
# Compiles the sources of this folder again: clang-14 for OpenCL C, nvcc for CUDA C++. The header of
# each .ptx says which version and command made it.
set -eu
cd "$(dirname "$0")"
write() { # source output version command..
    local source=$1 output=$2 version=$3
    shift 3
    "$@" -o "$output.raw" "$source"
    {
        echo "// Source: corpus/ptx/$source"
        echo "// Compiler: $version"
        echo "// Command: $* $source"
        sed "s|\"$PWD/|\"|" "$output.raw"
    } >"$output"
    rm "$output.raw"
}
if command -v clang-14 >/dev/null; then
    for source in *.cl; do
        write "$source" "${source%.cl}.ptx" "$(clang-14 --version | head -1)" clang-14 \
            --target=nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -Xclang -finclude-default-header \
            -include opencl.h -S -O1 -Wno-unused-command-line-argument
    done
fi
if command -v nvcc >/dev/null; then
    for source in *.cu; do
        write "$source" "${source%.cu}.ptx" "nvcc $(nvcc --version | sed -n 's/.*release.*, //p')" nvcc \
            -ptx -arch=sm_80 -lineinfo
    done
fi
