#!/usr/bin/env bash
# The pictures of docs/gallery.md: make.sh SIMTFUZZ [CHROMIUM [NAME]]: all, or one of them. A row a picture: name, size, light or dark, step, and
# what `simtfuzz view` is asked for.
set -eu
simtfuzz=$(realpath "${1:?simtfuzz}") chromium=${2:-chromium} only=${3:-}
here=$(realpath "$(dirname "$0")")
cd "$here/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

while read -r name size scheme step what; do
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    # shellcheck disable=SC2086
    "$simtfuzz" view $what -o "$folder/$name.html"
    "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
        --user-data-dir="$folder/profile" --blink-settings=preferredColorScheme=$([ "$scheme" = dark ] && echo 0 || echo 1) \
        --virtual-time-budget=5000 --window-size="$size" --screenshot="$folder/$name.png" \
        "file://$folder/$name.html#$step" 2>/dev/null
    python3 "$here/shrink.py" "$folder/$name.png" "$here/$name.png"
done <<'END'
program1 1200,1180 light step=8 corpus/papers/program1.simt
spin-lock 1400,1000 light step=3 corpus/progress/spin-lock-outside.simt --against threads
producer 1400,1200 dark step=1 corpus/progress/producer-consumer-warp.simt --against convergence
loops 1200,900 light step=31 corpus/papers/lockstep-fig1b.simt --subject simt
calls 1200,900 dark step=60 corpus/ptx/calls.ptx
predicated 1400,1000 light step=150 corpus/papers/lockstep-fig1a.simt --subject predicated --against interleave
lockstep 1400,1000 light step=20 corpus/papers/lockstep-fig1a.simt --subject lockstep --against interleave
named-barrier 1200,820 light step=5 corpus/papers/crs/bar7.ptx
race 1400,960 light step=1 corpus/papers/tutorial-add-nbor.simt --subject simt --against threads
spin-its 1400,1200 light step=6 corpus/progress/spin-lock-outside.simt --subject simt --against convergence
flow 1200,1250 light step=4 corpus/papers/program1.simt
divergence 1200,760 dark step=4 corpus/papers/tutorial-diverge1.simt
stale-line 1200,860 light step=8&model=printed&outcome=1,0 corpus/litmus/caches.litmus --test mp-L1.warm+gls
graph 1200,760 dark step=0 corpus/litmus/ptx/MP+half-narrow.litmus
END
