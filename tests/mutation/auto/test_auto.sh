#!/usr/bin/env bash
# The mutants of one file, all in one program: some that must be detected, one that changes nothing that
# anybody can see. Exits 77 (skipped) where libclang is missing or the compiler is not gcc.
set -u
hunter=${1:-}
if [ -z "$hunter" ]; then
    echo "no libclang (libclang-14-dev), or not gcc, or a sanitizer: no mutants were built"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
failed() {
    echo "FAILED: $*"
    failures=1
}

names=(
    'engine/crs/crs_branch.c:enable:delete:d.returned&=~alpha:1->;'              # a lane that returned sleeps on
    'engine/crs/crs_branch.c:unwind:relation:s->depth>0:1->s->depth>=0'            # reads below the stack
    'engine/crs/crs_branch.c:unwind:constant:1@put(u->machine,&s->completed,1):1->2' # a flag
)
hunt() {
    "$hunter" --cases 24 --seeds 1 --jobs "$1" "${@:2}" "${only[@]}" 2>"$folder/err" || failed "hunt: $(cat "$folder/err")"
}
only=()
for name in "${names[@]}"; do only+=(--only "${name//\[/?}"); done

hunt 2 >"$folder/two"
hunt 1 >"$folder/one"
cmp -s "$folder/one" "$folder/two" || failed "one job and two find different things"
[ "$(wc -l <"$folder/one")" = 3 ] || failed "three mutants, a line each"

# field NAME NUMBER
field() { awk -F'\t' -v name="$1" -v n="$2" '$3 == name { print $n }' "$folder/one"; }
is() { [ "$(field "${names[$1]}" "$2")" = "$3" ] || failed "${names[$1]}: field $2 is $(field "${names[$1]}" "$2"), not $3"; }
for i in 0 1 2; do
    is $i 1 auto
    is $i 4 engine/crs/crs_branch.c
    is $i 6 yes
done
is 0 13 detected
[[ $(field "${names[0]}" 9) == *reference* ]] || failed "reference is silent about ${names[0]}"
is 1 13 crashed
is 2 13 survived
is 2 8 -
[ "$(field "${names[2]}" 14)" != "infected in 0 cases" ] || failed "${names[2]} is never infected"

# What is in the output is not hunted again.
hunt 2 --output "$folder/kept" >/dev/null
hunt 2 --output "$folder/kept" >/dev/null
cmp -s "$folder/one" "$folder/kept" || failed "a hunt that goes on is another one"

[ "$failures" -eq 0 ] || exit 1
cut -f 3,9,13 "$folder/one"
