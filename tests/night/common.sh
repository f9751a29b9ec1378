# Sourced by the tests of nights: SIMTFUZZ HELPER SOURCE are their arguments. Short nights: raw programs of the branch unit, by
# its rules and by other ones on purpose, which find half a dozen differences in a few hundred cases.
. "$(dirname "$0")/../cli/common.sh"
mkdir bin
ln -s "$simtfuzz" bin/simtfuzz
PATH=$folder/bin:$PATH
export LC_ALL=C

# night_ini CASES: the configuration of a short night.
night_ini() {
    cat <<END
[campaign]
preset = nightly
[budget]
cases = $1
[generate]
features = none,crs,loose
[check]
subjects = crs,crs:patent,crs:call-push
oracles = result
END
}

# block N [LANGUAGE]: the nth block of the document on nights, as printed.
block() {
    awk -v wanted="$1" -v head="\`\`\`${2:-sh}" '$0 == head { n++; inside = 1; next } /^```$/ { inside = 0 }
        inside && n == wanted' "$source/docs/nightly.md"
}

# The block that has a text, as printed.
block_with() { # TEXT [LANGUAGE]
    local n text
    for n in $(seq 20); do
        text=$(block "$n" "${2:-sh}")
        [ -n "$text" ] || break
        if grep -qF -- "$1" <<<"$text"; then
            printf '%s\n' "$text"
            return
        fi
    done
    failed "docs/nightly.md has no block with '$1'"
}

# What two databases of the same cases have in common.
content() {
    "$helper" content "$1" || failed "$1 cannot be read"
}

# same_content A B
same_content() {
    content "$1" >content.a
    content "$2" >content.b
    [ -s content.a ] || failed "$1 is empty"
    diff content.a content.b >content.diff || failed "$1 and $2 differ: $(head -4 content.diff | cut -c -300)"
}
