#!/usr/bin/env bash
# What fuzzing services look for beside a target: NAME.dict, NAME.options, NAME_seed_corpus.zip.
#
#     extras.sh SIMTFUZZ FUZZ-DICT SOURCE OUT
#
# Dictionaries come from the parsers' own tables (fuzz-dict). Seeds are the kernels of corpus/, each for
# the harness of its form, those that lower to it for the lock-step form, a few generated ones, and the
# inputs in tests/data/harness.
set -euo pipefail
simtfuzz=$(realpath "$1") dict=$(realpath "$2") source=$(realpath "$3") out=$(realpath "$4")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seed_bytes=8192 # more is beyond max_len

seed() { # TARGET FILE NAME
    mkdir -p "$work/$1"
    [ "$(stat -c %s "$2")" -gt $seed_bytes ] || cp "$2" "$work/$1/$3"
}

while read -r file; do
    name=${file#"$source/corpus/"}
    name=${name//\//-}
    case $file in
    *.ptx)
        seed ptx "$file" "$name"
        if grep -q '^// simtfuzz:.* raw' "$file"; then
            seed crs "$file" "$name"
        else
            seed compiled "$file" "$name"
        fi
        ;;
    *)
        seed parser "$file" "$name"
        if grep -Eq '^kernel .*\) lockstep' "$file"; then
            seed lockstep "$file" "$name"
            continue
        fi
        if grep -Eq '^kernel .*\) blocks' "$file"; then
            seed blocks "$file" "$name"
        else
            seed structured "$file" "$name"
        fi
        if "$simtfuzz" lower "$file" --to lockstep >"$work/lowered" 2>/dev/null; then
            seed lockstep "$work/lowered" "$name"
        fi
        ;;
    esac
done < <(find "$source/corpus" -name '*.simt' -o -name '*.ptx' | LC_ALL=C sort)

generate() { # TARGET FEATURES ENDING
    for number in {0..19}; do
        "$simtfuzz" gen --seed 1 --first "$number" --features "$2" >"$work/generated"
        seed "$1" "$work/generated" "generated-$number.$3"
    done
}
generate crs none,crs,loose ptx
generate structured -graphs,-directions,-crs,-known simt
for target in options db; do
    for file in "$source/tests/data/harness/$target"/*; do
        seed $target "$file" "$(basename "$file")"
    done
done

for folder in "$work"/*/; do
    target=$(basename "$folder")
    rm -f "$out/fuzz-${target}_seed_corpus.zip"
    (cd "$folder" && find . -type f -printf '%P\n' | LC_ALL=C sort |
        cmake -E tar cf "$out/fuzz-${target}_seed_corpus.zip" --format=zip --files-from=/dev/stdin)
    printf '[libfuzzer]\nmax_len = %d\nlen_control = 0\n' $seed_bytes >"$out/fuzz-$target.options"
done
"$dict" kernel >"$out/fuzz-parser.dict"
"$dict" ptx >"$out/fuzz-ptx.dict"
"$dict" options >"$out/fuzz-options.dict"
