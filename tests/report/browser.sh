#!/usr/bin/env bash
# The page in headless Chromium: browser.sh CHROMIUM SCREENSHOTS SIMTFUZZ HELPER SOURCE. At 1280 and 390 pixels, light and dark: nothing is wider
# than the page, no message on the console, no request, ids are unique, the tabulator key reaches every finding, text has contrast. The
# pictures stay in SCREENSHOTS.
chromium=$1 screenshots=$2
shift 2
mkdir -p "$screenshots"
screenshots=$(realpath "$screenshots")
. "$(dirname "$0")/../cli/common.sh"
. "$source/tests/report/night.sh"
. "$source/tests/report/chromium.sh"

probe() { # WIDTH PAGE SCHEME: what probe.js says, in the file said
    frame "$1" "$2" probe.js >probe.html
    browse "$(($1 < 500 ? 500 : $1)),900" "$3" --dump-dom "file://$folder/probe.html" >dom || failed "$2 $1 $3: the browser failed"
    sed -n 's/.*<pre id="said">\(.*\)<\/pre>.*/\1/p' dom >said
}
cp "$source/tests/report/probe.js" "$source/tests/report/contrast.js" .

night night.db
expect 0 report --db night.db --html night.html
cp night.db hostile.db
"$helper" sql hostile.db "UPDATE kernels SET text = '</code></pre><img src=http://example.invalid/x onerror=alert(1)>' || hex(zeroblob(500));
    UPDATE findings SET note = '<script>alert(1)</script><img src=http://example.invalid/y>'" || failed "sql"
expect 0 report --db hostile.db --html hostile.html
"$simtfuzz" run --cases 1 --seed 1 --oracles lemmas --features none --db quiet.db >/dev/null 2>&1
expect 0 report --db quiet.db --html quiet.html

look() { # NAME WIDTH light|dark FINDINGS
    probe "$2" "$1.html" "$3"
    says said "width $2 of $2" "findings $4;" "reached $4;" "duplicates 0;" "requests 0;" "low contrast 0 " "scheme $3"
    if grep CONSOLE log; then
        failed "$1 $2 $3: the console has messages"
    fi
}
picture() { # NAME WIDTH light|dark
    local file=$screenshots/$1-$2-$3.png
    rm -f "$file"
    frame "$2" "$1.html" >frame.html
    browse "$(($2 < 500 ? 500 : $2)),2400" "$3" --screenshot="$file" "file://$folder/frame.html" >/dev/null
    # A page that shows nothing is a picture of a few kilobytes.
    [ "$(stat -c %s "$file" 2>/dev/null || echo 0)" -gt 50000 ] || failed "$1 $2 $3: no screenshot, or an empty one"
}
for width in 1280 390; do
    for scheme in light dark; do
        look night $width $scheme 5
        picture night $width $scheme
    done
done
look hostile 390 light 5
look quiet 1280 light 0

# The probe can fail: a page that is too wide, with a message, an id twice, a pale word and a request.
sed 's|<main|<p id="findings" style="color:#eee;width:3000px">pale</p><img src="http://example.invalid/z"><main|' night.html >bad.html
probe 390 bad.html light
grep -q 'duplicates 0' said && failed "the probe sees no id that is there twice: $(cat said)"
grep -q CONSOLE log || failed "a forbidden style gives no message"
sed "s|<meta http-equiv[^>]*>||" bad.html >worse.html
probe 390 worse.html light
for good in "width 390 of 390" "requests 0;" "low contrast 0 "; do
    grep -q "$good" said && failed "the probe sees nothing wrong, $good: $(cat said)"
done
finish
