#!/usr/bin/env bash
# `cmake --install`, with a prefix and with DESTDIR.
. "$(dirname "$0")/common.sh"
cmake --install "$build" --prefix "$folder/prefix" >log 2>&1 || failed "install: $(tail -n 2 log)"
installed prefix
DESTDIR=$folder/dest cmake --install "$build" --prefix /usr/local >log 2>&1 || failed "DESTDIR: $(tail -n 2 log)"
[ "$(ls dest)" = usr ] && [ "$(ls dest/usr)" = local ] || failed "DESTDIR was not respected"
diff -r prefix dest/usr/local >differences || failed "DESTDIR: $(head -3 differences)"
finish
