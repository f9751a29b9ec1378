# Sourced behind tests/cli/common.sh: `browse` and `frame`, for pages in headless Chromium; $chromium is the program.
browse() { # WIDTH,HEIGHT light|dark, more options, URL
    local scheme=1
    [ "$2" = dark ] && scheme=0
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
        --user-data-dir="$folder/profile" --allow-file-access-from-files --disable-background-networking --disable-component-update \
        --blink-settings=preferredColorScheme=$scheme --enable-logging=stderr --log-level=0 --virtual-time-budget=20000 \
        --window-size="$1" "${@:3}" 2>log
}

# A page around others: frames of the wanted widths - a window has at least 500 pixels - beside each other, and a script that looks
# into them; the pages' own policy allows no further one.
frames() { # SCRIPT or nothing, WIDTH PAGE...
    echo '<!doctype html><meta charset="utf-8"><style>body { margin: 0; display: flex } iframe { border: 0; flex: none; height: 2400px }</style>'
    local script=$1
    shift
    for (( ; $# > 1; )); do
        echo "<iframe src=\"$2\" style=\"width: $1px\"></iframe>"
        shift 2
    done
    echo "<pre id=\"said\">nothing</pre>${script:+<script src=\"contrast.js\"></script><script src=\"$script\"></script>}"
}
