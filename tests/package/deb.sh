#!/usr/bin/env bash
# The Debian package: made, looked at, installed into a folder, run, removed.
. "$(dirname "$0")/common.sh"
for tool in cpack dpkg-deb dpkg-shlibdeps strip; do
    command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }
done

# What Makefiles call preinstall would build all there is; the program is built already.
make_package() {
    cpack --config "$build/CPackConfig.cmake" -D CPACK_CMAKE_GENERATOR=Ninja -B "$1" >log 2>&1 ||
        { failed "cpack: $(tail -n 3 log)"; finish; }
}
make_package first
package=$(echo first/simtfuzz_*.deb)
version=$(sed -n 's/.*define SIMTFUZZ_VERSION "\(.*\)"/\1/p' "$source/fuzz/base/version.h")
[ "$package" = "first/simtfuzz_$version-1_$(dpkg --print-architecture).deb" ] || failed "it is called $package"
dpkg-deb -f "$package" Depends >depends
grep -q libc6 depends && grep -q libsqlite3-0 depends || failed "it depends on $(cat depends)"
[ -z "$(dpkg-deb --fsys-tarfile "$package" | tar tv | awk '$2 != "root/root"')" ] || failed "not all of it is root's"

# The same bytes at another time: every night.
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then
    sleep 1
    make_package second
    cmp "$package" second/*.deb || failed "made again, the package differs"
fi

dpkg-deb -x "$package" extracted
installed extracted/usr

# With a database of packages of its own, so that this machine is not touched.
root=$folder/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers} "$root"/var/log
touch "$root"/var/lib/dpkg/{status,available}
ours() {
    dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null "$@" >log 2>&1
}
ours -i "$package" || failed "dpkg -i: $(tail -n 2 log)"
ours -s simtfuzz && grep -q "Status: install ok installed" log || failed "dpkg -s: $(head -2 log)"
installed "$root/usr"
ours -V simtfuzz || failed "dpkg -V: $(head -2 log)"
ours --purge simtfuzz || failed "dpkg --purge: $(tail -n 2 log)"
left=$(find "$root" -path "$root/var" -prune -o -type f -print)
[ -z "$left" ] || failed "removed, but there is still $left"

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning --no-tag-display-limit "$package" >log 2>&1 || failed "lintian: $(cat log)"
else
    echo "there is no lintian here"
fi
finish
