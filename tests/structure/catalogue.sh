#!/usr/bin/env bash
# docs/catalogue.md is true: every home that it names exists, every item has one or says that it is out,
# and no rule of the semantics that it is about, and no oracle, is missing in it.
#
# A home stands in back quotes: `rule SEMANTICS-NAME`, `oracle NAME`, `subject NAME`, or a path, which a
# function of that file may follow. Other text in back quotes has no slash and no such first word.
set -u
cd "${1:?source directory}" || exit 2
page=docs/catalogue.md
failures=0
homes=0

missing() {
    echo "$page: $*"
    failures=1
}

while read -r kind name; do
    homes=$((homes + 1))
    case $kind in
    rule) grep -qE "^RULE(_AS\([a-z_]*, |\()[A-Z0-9_]*, \"${name%-*}\", \"${name##*-}\"," engine/machine/rules.def || missing "no rule '$name'" ;;
    oracle) grep -q "^ORACLE([A-Z_]*, \"$name\"," oracle/check/oracles.def || missing "no oracle '$name'" ;;
    subject) grep -q "^SUBJECT([A-Z_0-9]*, \"$name\"," engine/subjects/subject.def || missing "no subject '$name'" ;;
    */*)
        if [ ! -f "$kind" ]; then
            missing "no file '$kind'"
        elif [ -n "$name" ] && ! grep -qE "^[a-zA-Z].*[ *]$name\(" "$kind"; then
            missing "no function '$name' in $kind"
        fi
        ;;
    *) homes=$((homes - 1)) ;;
    esac
done < <(grep -o '`[^`]*`' "$page" | tr -d '`')

# Items: unique, each with a home, a reference to another item, or the word out.
items=$(grep -cE '^\| [A-Z0-9]+(\.[A-Za-z0-9_-]+)* \|' "$page")
while read -r id; do missing "$id twice"; done < <(
    sed -nE 's/^\| ([A-Z][A-Z0-9]*(\.[A-Za-z0-9_-]+)*) \|.*/\1/p' "$page" | sort | uniq -d)
while IFS= read -r row; do missing "no home: $row"; done < <(
    grep -E '^\| [A-Z][A-Z0-9]*(\.[A-Za-z0-9_-]+)* \|' "$page" | grep -vE '`|\| out|ORA\.[A-Z0-9]+[ ,]')

while read -r rule; do
    grep -q "\`rule $rule\`" "$page" || missing "rule '$rule' is not in it"
done < <(sed -nE 's/^RULE(_AS\([a-z_]*, |\()[A-Z0-9_]*, "(interleave|lockstep|tutorial|crs|thread|thread-pc|block|cta)", "([A-Za-z_0-9]*)",.*/\2-\3/p' engine/machine/rules.def)
# Each rule is a function, of its name or of the name that the row says.
while read -r function; do
    grep -rqE "^[a-zA-Z].*[ *(]$function\)?\(" engine --include='*.[ch]' || missing "rules.def: no function '$function'"
done < <(sed -nE 's/^RULE\(([A-Z0-9_]*),.*/\L\1/p; s/^RULE_AS\(([a-z_0-9]*),.*/\1/p' engine/machine/rules.def | sort -u)
while read -r oracle; do
    grep -q "\`oracle $oracle\`" "$page" || missing "oracle '$oracle' is not in it"
done < <(sed -nE 's/^ORACLE\([A-Z_]*, "([a-z0-9-]*)",.*/\1/p' oracle/check/oracles.def)

{ [ "$items" -ge 170 ] && [ "$homes" -ge 250 ]; } || missing "only $items items and $homes homes"
[ "$failures" -eq 0 ] || exit 1
echo "$items items, $homes homes"
