#!/usr/bin/env bash
# How pages of `view` look, against what tests/report/layout holds of them: layout.sh CHROMIUM SCREENSHOTS SIMTFUZZ HELPER SOURCE.
# Each page at 1400, 800 and 390 pixels beside each other, light and dark, as squares of a lightness (layout.js). The pictures
# stay in SCREENSHOTS. SIMTFUZZ_BLESS=1 stores how they look now: look at the pictures first.
chromium=$1 screenshots=$2
shift 2
mkdir -p "$screenshots"
screenshots=$(realpath "$screenshots")
. "$(dirname "$0")/../cli/common.sh"
. "$source/tests/report/chromium.sh"
export LC_ALL=C.UTF-8
stored=$source/tests/report/layout
cp "$source/tests/report/layout.js" .
# Whatever fonts are installed beside them, letters are those of Debian's fonts-dejavu-core.
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || { echo "without fonts-dejavu-core"; exit 77; }
mkdir fonts
ln -s /usr/share/fonts/truetype/dejavu/DejaVuS{ans,ans-Bold,ansMono,ansMono-Bold,erif,erif-Bold}.ttf fonts/
cat >fonts.conf <<END
<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$folder/fonts</dir><cachedir>$folder/fontcache</cachedir>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>
END
export FONTCONFIG_FILE=$folder/fonts.conf

# A window of all light pages, and one of all dark ones, a row of three frames a page.
height=1500
declare -A window=([light]= [dark]=) rows=([light]=0 [dark]=0)
pictures=()
picture() { # NAME PAGE light|dark
    local left=0 width top=$((height * rows[$3]))
    for width in 1400 800 390; do
        window[$3]+="<iframe src=\"$2\" style=\"top: ${top}px; left: ${left}px; width: ${width}px; height: ${height}px\"></iframe>"
        left=$((left + width))
    done
    pictures+=("$1-$3 $3.png $top")
    rows[$3]=$((rows[$3] + 1))
}
photograph() {
    for scheme in light dark; do
        printf '<!doctype html><meta charset="utf-8"><style>body { margin: 0 } iframe { border: 0; position: absolute }</style>%s' \
            "${window[$scheme]}" >frames.html
        rm -f "$screenshots/$scheme.png"
        browse 2590,$((height * rows[$scheme])) $scheme --screenshot="$screenshots/$scheme.png" "file://$folder/frames.html" >/dev/null
        [ -s "$screenshots/$scheme.png" ] || failed "$scheme: no screenshot"
        ln -s "$screenshots/$scheme.png" .
    done
}

# What the browser says of the pictures: in the file said.
compare() { # true|false: to bless
    local name file top as
    {
        echo '<!doctype html><meta charset="utf-8"><pre id="said">nothing</pre><script>'
        echo "const blessing = $1, height = $height, pictures = ["
        printf '["%s", "%s", %d],\n' ${pictures[*]}
        echo '], stored = ['
        while read -r name file top; do
            as=${name#broken-}
            if [ -s "$stored/$as.txt" ]; then sed 's/.*/"&",/; 1s/^/[/; $s/$/],/' "$stored/$as.txt"; else echo '["nothing is stored"],'; fi
        done < <(printf '%s\n' "${pictures[@]}")
        echo '];</script><script src="layout.js"></script>'
    } >compare.html
    browse 800,600 light --dump-dom "file://$folder/compare.html" >dom || failed "the browser failed"
    sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed '1d; /<\/pre>/d' >said
}

cp "$source/corpus/papers/program1.simt" "$source/corpus/progress/spin-lock-outside.simt" . # a page shows its file's name
expect 0 view program1.simt -o program1.html
expect 0 view spin-lock-outside.simt --against threads -o lock.html
expect 0 view "$source/corpus/litmus/caches.litmus" --test mp-L1.warm+gls -o stale.html
expect 0 view "$source/corpus/litmus/ptx/MP+half-narrow.litmus" -o graph.html
cp "$source/tests/data/stale.ptx" .
expect 0 view stale.ptx --subject crs:caches:coherent --schedule uniform --seed 213 -o caches.html
for scheme in light dark; do
    picture caches 'caches.html#step=14' $scheme
    picture program1 'program1.html#step=8' $scheme
    picture lock 'lock.html#step=3' $scheme
    picture stale 'stale.html#model=printed&amp;outcome=1,0&amp;step=5' $scheme
    picture graph graph.html $scheme
done
if [ "${SIMTFUZZ_BLESS:-}" ]; then
    photograph
    compare true
    awk -v folder="$stored" '/^= / { file = folder "/" $2 ".txt"; printf "" >file; next } { print >file }' said
    exit 0
fi

# It can fail: sides below each other, a picture of the threads that is not there, a light page where it is dark outside.
broken() { # NAME light|dark SED ADDRESS
    sed "s/<meta http-equiv[^>]*>//; $3" "$1.html" >"broken-$1.html"
    cmp -s "broken-$1.html" "$1.html" && failed "nothing is broken: $3"
    picture "broken-$1" "broken-$1.html$4" "$2"
}
broken lock light 's/^\.two main\.parts {/.two .no-parts {/' '#step=3'
broken program1 light 's/<style>/&canvas { visibility: hidden } /' '#step=8'
broken graph dark 's/@media (prefers-color-scheme: dark)/@media (prefers-color-scheme: nothing)/' ''
photograph
compare false
[ "$(wc -l <said)" = ${#pictures[@]} ] || failed "not every picture was compared: $(cat said)"
grep '^DIFFERS' said | grep -v '^DIFFERS broken-' && failed "pages look otherwise; their pictures are in $screenshots"
[ "$(grep -c '^DIFFERS broken-' said)" = 3 ] || failed "what is broken looks the same: $(cat said)"
for name in "$stored"/*.txt; do
    grep -q " $(basename "$name" .txt):" said || failed "nothing is compared with $name"
done
cat said
finish
