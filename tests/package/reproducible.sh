#!/usr/bin/env bash
# The same sources in another folder, built by the same compiler with another build folder, give the same program.
. "$(dirname "$0")/common.sh"
setting() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
if [ -n "$(setting CMAKE_C_FLAGS)" ]; then
    echo "not with flags of one's own"
    exit 77
fi
if [ -n "$(setting CMAKE_C_COMPILER_LAUNCHER)" ]; then
    echo "not with what a cache of compilations put together"
    exit 77
fi
mkdir -p "elsewhere/and deeper"
cd "elsewhere/and deeper" || exit 2
(cd "$source" && tar cf - CMakeLists.txt engine oracle db fuzz corpus packaging docs \
    README.md CHANGELOG.md LICENSE) | tar xf - || exit 2
CCACHE_DISABLE=1 cmake -B "b u i l d" -DSIMTFUZZ_TESTS=OFF -DCMAKE_BUILD_TYPE="$(setting CMAKE_BUILD_TYPE)" \
    -DCMAKE_C_COMPILER="$(setting CMAKE_C_COMPILER)" >log 2>&1 || { grep -m 5 -A 3 -i error log; exit 2; }
CCACHE_DISABLE=1 cmake --build "b u i l d" -j "$(nproc)" --target simtfuzz >log 2>&1 || { grep -m 5 -A 3 -i error log; exit 2; }
cmp "b u i l d/simtfuzz" "$build/simtfuzz" || failed "another folder, another program"
if strings "$build/simtfuzz" | grep -F -m 1 -e "$source" -e "$folder"; then
    failed "the program knows its folder"
fi
finish
