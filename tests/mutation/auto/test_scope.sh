#!/usr/bin/env bash
# Every source and header of engine/ and oracle/ is in the scope of automatic mutants, or is left out with a
# reason; and what the scope names is there.
set -u
cd "${1:?source directory}" || exit 2
scope=tests/mutation/auto/scope.txt
failures=0
complain() {
    echo "$scope: $*"
    failures=1
}

mapfile -t outs < <(sed -n 's/^out \([^ ]*\) .*/\1/p' "$scope")
while read -r file; do
    grep -qE "^(semantics|lowering|forms|text|memory|reference|ground|scheduler|search|race|oracle) $file\$" "$scope" && continue
    for pattern in "${outs[@]}"; do
        # shellcheck disable=SC2053
        [[ $file == $pattern ]] && continue 2
    done
    complain "$file is not listed"
done < <(find engine oracle -name '*.[ch]' | sort)
while read -r part file _; do
    [ -f "$file" ] || complain "no file $file ($part)"
done < <(grep -E '^(semantics|lowering|forms|text|memory|reference|ground|scheduler|search|race|oracle) ' "$scope")
while read -r _ pattern _; do
    compgen -G "$pattern" >/dev/null || complain "nothing is called $pattern"
done < <(grep '^out ' "$scope")
twice=$(sed -nE "s/^(semantics|lowering|forms|text|memory|reference|ground|scheduler|search|race|oracle|out) ([^ ]+).*/\2/p" "$scope" | sort | uniq -d)
[ -z "$twice" ] || complain "listed twice: $twice"
if grep -nE '^(out|quiet) [^ ]+ *$' "$scope"; then
    complain "a reason is missing"
fi
[ "$failures" -eq 0 ] || exit 1
echo "$(grep -cE '^(semantics|lowering|forms|text|memory|reference|ground|scheduler|search|race|oracle) ' "$scope") files in scope"
