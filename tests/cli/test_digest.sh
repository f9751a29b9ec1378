#!/usr/bin/env bash
# digest: a line a case, the same again, in parts, and another one when anything that a case shows is another.
. "$(dirname "$0")/common.sh"

expect 0 digest --seed 0x1 --cases 12
cp out whole
silent err
[ "$(grep -cE '^[0-9]+ [0-9a-f]{16}$' whole)" = 12 ] || failed "a number and a digest a case: $(head -1 whole)"
[ "$(cut -d ' ' -f 1 whole | xargs)" = "0 1 2 3 4 5 6 7 8 9 10 11" ] || failed "cases 0 .. 11"
[ "$(cut -d ' ' -f 2 whole | sort -u | wc -l)" = 12 ] || failed "two cases have one digest"
expect 0 digest --seed 1 --cases 12
cmp -s out whole || failed "not the same again"

# A case's digest does not depend on those before it.
expect 0 digest --seed 0x1 --from 5 --cases 3
cmp -s out <(sed -n 6,8p whole) || failed "--from 5 is not the part of the whole"

# Kernel, schedules, subjects, oracles: all of it counts.
differs() {
    expect 0 digest --seed 0x1 --cases 3 "$@"
    [ "$(wc -l <out)" = 3 ] || failed "$*: three cases"
    diff <(head -3 whole | cut -d ' ' -f 2) <(cut -d ' ' -f 2 out) |
        grep -c '^<' | grep -qx 3 || failed "$*: a digest is the same"
}
differs --seed 2
differs --oracles simulation
differs --subjects threads,simt
differs --features none,crs,loose

expect 0 digest --enumerate --features none,loops --cases 4
[ "$(wc -l <out)" = 4 ] || failed "--enumerate"
expect 0 digest --json
json
says out '"case": 0, "digest": "0x' '"steps": ' '"diverge": []'
expect 2 digest --cases 0
expect 2 digest extra
finish
