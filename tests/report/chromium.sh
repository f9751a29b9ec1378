# Sourced behind tests/cli/common.sh: `browse` and `frame`, for pages in headless Chromium; $chromium is the program.
browse() { # WIDTH,HEIGHT light|dark, more options, URL
    local scheme=1
    [ "$2" = dark ] && scheme=0
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
        --user-data-dir="$folder/profile" --allow-file-access-from-files --disable-background-networking --disable-component-update \
        --blink-settings=preferredColorScheme=$scheme --enable-logging=stderr --log-level=0 --virtual-time-budget=20000 \
        --window-size="$1" "${@:3}" 2>log
}

# A page around another: a frame of the wanted width - a window has at least 500 pixels - and a script that looks into it; the
# page's own policy allows no further one.
frame() { # WIDTH PAGE [SCRIPT]
    cat <<END
<!doctype html><meta charset="utf-8"><style>body { margin: 0 } iframe { border: 0; display: block; width: $1px; height: 2400px }</style>
<iframe id="f" src="$2"></iframe><pre id="said">nothing</pre>${3:+<script src="contrast.js"></script><script src="$3"></script>}
END
}
