#!/usr/bin/env bash
# The table of buckets.awk for three faults, by hand: A has one cause in two seeds, B has two, one of which
# is C's, too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
table=$(awk -f "$here/buckets.awk" -v faults=4 <<'END'
A	x	1	10	o|c|r|s	o|c|r|s	k1
A	x	2	11	o|c|r|s	o|c|r|t	k1
B	x	1	12	o|c|u|s	o|c|u|s	k2
B	x	1	13	o|d|u|s	o|d|u|s	k2
B	x	2	14	o|d|v|s	o|d|v|s	k3
C	x	1	15	p|d|v|s	p|d|v|s	k3
END
)
failed=0
expect() { grep -qF "$1" <<<"$table" || { echo "not in the table: $1"; failed=1; }; }
expect '4 faults planted, 3 of them found, 6 examples; 1 whose minimised form has another signature.'
# Pairs with one key: 1 (k1) + 1 (k2) of one fault, 1 (k3) of two; of one fault there are 1 + 3.
expect '| cause | 3 | 1 | 2 | 2 | 2 | 1 | 1 of 3 | 0.667 | 0.500 | 0.667 | 1 of 2 |'
expect '4 causes of 3 faults, 1.33 a fault on average; one for 2 of them.'
expect '| oracle | 2 | 1 | 1 | 3 | 2 | 1 | 1 of 3 | 0.400 | 1.000 | 1.000 | 2 of 2 |'
expect '| signature | 6 | 2 | 3 | 1 | 1 | 0 | 0 of 3 | 0.000 | 0.000 | 0.000 | 0 of 2 |'
[ "$failed" -eq 0 ] || echo "$table"
exit "$failed"
