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

# Names within corpus/ come from standard input; a seed's has no folders.
seeds() { # TARGET
    mkdir -p "$work/$1"
    tar -C "$source/corpus" --transform='s,/,-,g' -c -f - -T - | tar -x -f - -C "$work/$1"
}
# Of those names, the files in which a line matches, or with -L none does.
matching() { # OPTION PATTERN
    (cd "$source/corpus" && xargs -r grep "$1" -E -e "$2") || true
}

(cd "$source/corpus" && find . -name '*.simt' -printf '%P\n' | LC_ALL=C sort) >"$work/kernels"
(cd "$source/corpus" && find . -name '*.ptx' -printf '%P\n' | LC_ALL=C sort) >"$work/ptx-files"
matching -L '^kernel .*\) lockstep' <"$work/kernels" >"$work/others"
seeds parser <"$work/kernels"
seeds ptx <"$work/ptx-files"
matching -l '^// simtfuzz:.* raw' <"$work/ptx-files" | seeds crs
matching -L '^// simtfuzz:.* raw' <"$work/ptx-files" | seeds compiled
matching -l '^kernel .*\) lockstep' <"$work/kernels" | seeds lockstep
matching -l '^kernel .*\) blocks' <"$work/others" | seeds blocks
matching -L '^kernel .*\) blocks' <"$work/others" | seeds structured
while read -r name; do
    lowered=$work/lockstep/${name//\//-}
    "$simtfuzz" lower "$source/corpus/$name" --to lockstep >"$lowered" 2>/dev/null || rm "$lowered"
done <"$work/others"

generate() { # TARGET FEATURES ENDING
    for number in {0..19}; do
        "$simtfuzz" gen --seed 1 --first "$number" --features "$2" >"$work/$1/generated-$number.$3"
    done
}
generate crs none,crs,loose ptx
generate structured -graphs,-directions,-crs,-known simt
for target in options db; do
    cp -r "$source/tests/data/harness/$target" "$work/$target"
done
find "$work" -mindepth 2 -type f -size +${seed_bytes}c -delete

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
