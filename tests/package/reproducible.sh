#!/usr/bin/env bash
# The same sources in another folder, built by the same compiler with another build folder, give the same bytes: one object
# in twelve of those whose source is in the tree, and what CMake writes. With SIMTFUZZ_WHOLE=1, as every night: the program.
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
(cd "$source" && tar cf - CMakeLists.txt engine oracle db fuzz packaging docs \
    README.md CHANGELOG.md LICENSE) | tar xf - || exit 2
CCACHE_DISABLE=1 cmake -B "b u i l d" -DSIMTFUZZ_TESTS=OFF -DCMAKE_BUILD_TYPE="$(setting CMAKE_BUILD_TYPE)" \
    -DCMAKE_C_COMPILER="$(setting CMAKE_C_COMPILER)" >log 2>&1 || { grep -m 5 -A 3 -i error log; exit 2; }
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then
    CCACHE_DISABLE=1 cmake --build "b u i l d" -j "$(nproc)" --target simtfuzz >log 2>&1 || { grep -m 5 -A 3 -i error log; exit 2; }
    cmp "b u i l d/simtfuzz" "$build/simtfuzz" || failed "another folder, another program"
    objects=(simtfuzz)
else
    sed -n 's/^ *"directory": "\(.*\)",$/cd "\1" \&\&/p; s/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "b u i l d/compile_commands.json" |
        sed 's/\\\(.\)/\1/g' | paste -d ' ' - - | grep -vE 'harness|/(explain_texts|view_rules)\.c|-c [^ ]*/tests/' |
        awk 'NR % 12 == 1 || /presets\.c|report_css\.c/' >commands
    CCACHE_DISABLE=1 xargs -d '\n' -P "$(nproc)" -n 1 bash -c <commands >log 2>&1 || { head -n 5 log; exit 2; }
    mapfile -t objects < <(cd "b u i l d" && find . -name '*.c.o')
    [ "${#objects[@]}" -eq "$(wc -l <commands)" ] && [ "${#objects[@]}" -ge 30 ] || failed "only ${#objects[@]} objects"
    for object in "${objects[@]}"; do
        cmp "b u i l d/$object" "$build/$object" || failed "another folder, another $object"
    done
fi
for object in "${objects[@]}"; do
    if strings "b u i l d/$object" | grep -F -m 1 -e "$folder" -e "$source"; then
        failed "$object knows its folder"
    fi
done
if strings "$build/simtfuzz" | grep -F -m 1 -e "$source"; then
    failed "the program knows its folder"
fi
finish
