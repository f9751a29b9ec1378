#!/usr/bin/env bash
# The direction of every #include: engine and db stand alone, oracle on engine, fuzz on all three. And
# the top-level folders are the ones that the design names.
set -u
cd "${1:?source directory}" || exit 2
failures=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}

declare -A may=(
    [engine]="engine"
    [oracle]="oracle engine"
    [db]="db"
    [fuzz]="fuzz oracle engine db"
)
for folder in engine oracle db fuzz; do
    while IFS=: read -r file line text; do
        target=${text#*\"}
        target=${target%%\"*}
        top=${target%%/*}
        if [[ " ${may[$folder]} " != *" $top "* ]]; then
            fail "$file:$line: $folder/ must not include $target"
        fi
    done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.c' --include='*.h' \
        --include='*.def' "$folder")
done

# Build folders are ignored by git; elsewhere (an unpacked archive) they are told by their name.
for path in */; do
    folder=${path%/}
    case $folder in
    engine | oracle | db | fuzz | corpus | tests | docs | packaging | build*) ;;
    *) fail "$folder/: no top-level folder of this project" ;;
    esac
done

[ "$failures" -eq 0 ] || exit 1
echo "every include goes in its direction"
