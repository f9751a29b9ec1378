#!/usr/bin/env bash
# Sessions of docs/*.md, as printed: those that run no campaign, compile nothing and read no database. `$ cat FILE` gives a
# file; another file that a session names, and that is not there, is the last block that is no session.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/sessions.sh"
PATH=$(dirname "$simtfuzz"):$PATH
ln -s "$source/corpus" "$source/tests" .

run=0 page=
block() { # the last block before a session that names FILE, in FILE
    awk -v file="$1" '/^```console$/ { session = 1; next }
        /^```/ { if (!session) { inside = !inside; if (inside) text = "" } session = 0; next }
        inside { text = text $0 "\n" }
        session && /^\$ simtfuzz / && index($0, file) { printf "%s", text; exit }' "$page" >"$1"
    [ -s "$1" ] || rm "$1"
}

run_session() { # COMMAND
    local word
    case $1 in
    grep\ *\>*) eval "$1" && return ;;
    cat\ *) grep -vxF ... wanted >"${1#cat }" && chmod +x "${1#cat }" && return ;;
    *nvcc* | *.cu | *--db* | *'\') return ;;
    'simtfuzz check '* | 'simtfuzz progress '* | 'simtfuzz reduce '* | 'simtfuzz transform '* | 'simtfuzz explain '*) ;;
    *) return ;;
    esac
    for word in $1; do
        case $word in
        *.simt | *.host) [ -f "$word" ] || block "$word" ;;
        esac
        case $word in
        *.simt | *.host | *.ptx) [ -f "$word" ] || return ;;
        esac
    done
    run=$((run + 1))
    eval "$1" >got 2>&1 </dev/null
    shows "${page##*/}" "$1" wanted got
}

for page in "$source"/docs/*.md; do
    rm -f ./*.simt ./*.host ./*.sh
    sessions "$page" run_session
done
echo "$run sessions"
[ "$run" -ge 10 ] || failed "only $run sessions"
finish
