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

probe() { # light|dark WIDTH PAGE...: what probe.js says, a line a page, in the file said
    frames probe.js "${@:2}" >probe.html
    browse 1300,900 "$1" --dump-dom "file://$folder/probe.html" >dom || failed "$*: the browser failed"
    sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed '1d; /<\/pre>/d' >said
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

looked() { # NAME WIDTH light|dark FINDINGS: so it was
    grep "^= $1.html $2: " said >seen || failed "$1 $2 $3 was not looked at: $(cat said)"
    says seen "width $2;" "findings $4;" "reached $4;" "duplicates 0;" "requests 0;" "low contrast 0 " "scheme $3"
}
for scheme in light dark; do
    others=()
    [ $scheme = dark ] || others=(390 hostile.html 1280 quiet.html)
    probe $scheme 1280 night.html 390 night.html "${others[@]}"
    grep CONSOLE log && failed "$scheme: the console has messages"
    looked night 1280 $scheme 5
    looked night 390 $scheme 5
    if [ $scheme = light ]; then
        looked hostile 390 light 5
        looked quiet 1280 light 0
    fi
    picture=$screenshots/night-$scheme.png
    rm -f "$picture"
    frames '' 1280 night.html 390 night.html >frames.html
    browse 1670,2400 $scheme --screenshot="$picture" "file://$folder/frames.html" >/dev/null
    # A page that shows nothing is a picture of a few kilobytes.
    [ "$(stat -c %s "$picture" 2>/dev/null || echo 0)" -gt 100000 ] || failed "$scheme: no screenshot, or an empty one"
done

# The probe can fail: a page that is too wide, with a message, an id twice, a pale word and a request.
sed 's|<main|<p id="findings" style="color:#eee;width:3000px">pale</p><img src="http://example.invalid/z"><main|' night.html >bad.html
sed "s|<meta http-equiv[^>]*>||" bad.html >worse.html
probe light 390 bad.html 390 worse.html
grep '^= bad' said | grep -q 'duplicates 0' && failed "the probe sees no id that is there twice: $(cat said)"
grep -q CONSOLE log || failed "a forbidden style gives no message"
grep '^= worse' said >seen || failed "it was not looked at: $(cat said)"
for good in "width 390;" "requests 0;" "low contrast 0 "; do
    grep -q "$good" seen && failed "the probe sees nothing wrong, $good: $(cat seen)"
done
finish
