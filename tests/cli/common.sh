# Sourced by every test: SIMTFUZZ HELPER SOURCE are its arguments; runs in a fresh folder.
set -u
simtfuzz=$(realpath "$1") helper=$(realpath "$2") source=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failures=0

failed() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS ARGUMENTS... : runs simtfuzz; output in the files out and err.
expect() {
    local wanted=$1
    shift
    "$simtfuzz" "$@" >out 2>err </dev/null
    local status=$?
    if [ "$status" -ne "$wanted" ]; then
        failed "simtfuzz $*: exit status $status, not $wanted"
        sed 's/^/    /' err | head -5
    fi
}

# says FILE TEXT...: each text stands in the file.
says() {
    local file=$1 text
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$file" || {
            failed "'$text' is not in $file:"
            sed 's/^/    /' "$file" | head -8
        }
    done
}

silent() {
    [ ! -s "$1" ] || failed "$1 is not empty: $(head -1 "$1")"
}

json() {
    "$helper" json <out || failed "standard output is not JSON"
}

finish() {
    [ "$failures" -eq 0 ] && echo "all well"
    exit "$((failures > 0))"
}
