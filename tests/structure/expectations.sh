#!/usr/bin/env bash
# Every corpus kernel states what must happen to it and says, in its first line, what it is about.
set -u
cd "${1:?source directory}" || exit 2
failures=0
count=0
while read -r file; do
    count=$((count + 1))
    # Comments do not count as expectations.
    if ! sed -e 's://.*::' "$file" | tr '\n' ' ' | sed -e 's:/\*\([^*]\|\*[^/]\)*\*/: :g' |
        grep -qE '(^|[;}[:space:]])expect[[:space:]]'; then
        echo "$file: no expectation"
        failures=1
    fi
    if ! head -c 2 "$file" | grep -qE '^/[/*]'; then
        echo "$file: does not begin with a comment"
        failures=1
    fi
done < <(find corpus -name '*.simt' | sort)
[ "$count" -gt 0 ] || { echo "no kernels found"; exit 1; }
[ "$failures" -eq 0 ] || exit 1
echo "$count kernels state what they expect"
