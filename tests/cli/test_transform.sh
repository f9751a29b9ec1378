#!/usr/bin/env bash
# transform, rules --transforms, check --transforms: lists as users write them.
. "$(dirname "$0")/common.sh"
kernel=$source/corpus/papers/program1.simt

# What is printed says which steps were made, and is a kernel that keeps its expectations.
for seed in 1 2 3; do
    expect 0 transform "$kernel" --seed $seed
    silent err
    cp out first.simt
    list=$(sed -n '1s/^\/\/ transforms=//p' out)
    [ -n "$list" ] || failed "no list in $(head -1 out)"
    expect 0 check first.simt
    expect 0 transform "$kernel" --list "$list"
    cmp -s out first.simt || failed "--list $list makes another kernel than --seed $seed"
    expect 0 check "$kernel" --transforms "$list"
    says out agree
done
expect 0 transform "$kernel" --list wrap:3,flag:1,join
says out "// transforms=wrap:3,flag:1" "while (f)"
expect 0 transform "$kernel" --list wrap:3 --json
json
says out '"transforms": "wrap:3"'
expect 0 transform "$source/corpus/ptx/bins.nvcc.ptx" --list ptx-rename,ptx-jump:4
says out "// transforms=ptx-rename:0,ptx-jump:4" "bra L_flow"
cp out bins.ptx
expect 0 check bins.ptx --subjects block

# Every transformation has a row in the manual.
expect 0 rules --transforms
says out wrap "applies:" structured PTX
expect 0 rules --transforms --json
json
names=$(sed -n 's/.*"transform": "\([a-z-]*\)".*/\1/p' out)
[ "$(wc -w <<<"$names")" -ge 30 ] || failed "transformations: $names"
for name in $names; do
    grep -q "^| \`$name\` |" "$source/docs/metamorphic.md" || failed "docs/metamorphic.md does not have $name"
done

# Bad lists.
for list in '' wrap: wrap:x nothing:1 wrap,,peel wrap:4294967296; do
    expect 2 transform "$kernel" --list "$list"
    says err "is no transformation"
    expect 2 check "$kernel" --transforms "$list"
done
expect 2 transform missing.simt
expect 2 transform
finish
