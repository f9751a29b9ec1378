#!/usr/bin/env bash
# Every corpus kernel states what must happen to it and says, in its first line, what it is about.
set -u
cd "${1:?source directory}" || exit 2
count=$(find corpus -name '*.simt' | wc -l)
[ "$count" -gt 0 ] || { echo "no kernels found"; exit 1; }
failures=$(
    find corpus -name '*.simt' -empty -printf '%p: is empty\n'
    find corpus -name '*.simt' | sort | xargs awk '
        # Comments do not count as expectations.
        function judge(   from, to, rest) {
            while ((from = index(text, "/*")) > 0) {
                rest = substr(text, from + 2)
                to = index(rest, "*/")
                text = substr(text, 1, from - 1) " " (to ? substr(rest, to + 2) : "")
            }
            if (text !~ /(^|[;} \t\n])expect[ \t\n]/) print file ": no expectation"
        }
        FNR == 1 {
            if (file) judge()
            file = FILENAME
            text = ""
            if (!/^\/[\/*]/) print file ": does not begin with a comment"
        }
        { sub(/\/\/.*/, ""); text = text $0 "\n" }
        END { judge() }'
)
if [ -n "$failures" ]; then
    echo "$failures"
    exit 1
fi
echo "$count kernels state what they expect"
