#!/usr/bin/env bash
# What comments cite is there: every document that a source or a page names, by its path from the root; every id of
# docs/catalogue.md (CFG.loop, NB.race, ...); every erratum (A-4, B-12, ERR.33, ...). Links between pages lead
# somewhere, to the heading that they name, and docs/index.md to every page.
set -u
TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
cd "${1:?source directory}" || exit 2
sources=(engine oracle db fuzz tests/unit tests/bench corpus)
kinds=(--include=*.c --include=*.h --include=*.def --include=*.simt --include=*.ptx)

documents() { # FILE:LINE:DOCUMENT
    grep -rnoE '[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md\b' "${sources[@]}" "${kinds[@]}"
}

ids() { # ID, as comments have it: without what stands for several (ORA.NB.*, NB.K1-K14); no modifier of PTX (ld.X.u32)
    grep -rhoP '(?<![.\w])(ORA|CFG|INTK|PRED|LOCK|WF|NB|TT|X|SL|CNV|SIM|MUT|CHK|DOM|CONV)\.[A-Za-z0-9]+([._-][A-Za-z0-9]+)*' \
        "${sources[@]}" "${kinds[@]}" | sed -E 's/-K?[0-9]+$//' | sort -u
}

prose() { # PAGE, without what it prints
    awk '/^```/ { fence = !fence; next } !fence' "$1"
}

headings() { # PAGE: as links name them
    prose "$1" | awk '/^#+ / { sub(/^#+ /, ""); $0 = tolower($0); gsub(/[^a-z0-9_ -]/, ""); gsub(/ /, "-")
                               print $0 (seen[$0]++ ? "-" seen[$0] - 1 : "") }'
}

failures=$(
    documents | while IFS=: read -r file line document; do
        # Tests put the path of the sources in front.
        [ -e "$document" ] || [ -e ".$document" ] || echo "$file:$line: there is no $document"
    done
    sed -nE 's/^\| ([A-Z][A-Z0-9]*(\.[A-Za-z0-9_-]+)*) \|.*/\1/p' docs/catalogue.md | sort -u >"$TMPDIR/ids"
    ids | while read -r id; do
        # A whole family is cited by its beginning; the two outcomes of a rule by _T and _F.
        grep -qxE "${id//./\\.}([._].*)?" "$TMPDIR/ids" || grep -qx "${id%_[TF]}" "$TMPDIR/ids" ||
            echo "docs/catalogue.md: no row $id, which is cited in $(grep -rlF "$id" "${sources[@]}" "${kinds[@]}" | head -n 1)"
    done
    grep -rhoE '\b([A-D]-[0-9]{1,2}|ERR\.[0-9]{2})\b' "${sources[@]}" docs README.md "${kinds[@]}" --include=*.md | sort -u | while read -r erratum; do
        grep -qwF "$erratum" docs/errata.md || echo "docs/errata.md: no $erratum, which is cited"
    done
    for page in README.md docs/*.md; do
        prose "$page" | grep -oE '\]\([^)#: ]+' | sed 's/^](//' | while read -r target; do
            [ -e "$(dirname "$page")/$target" ] || echo "$page: a link to $target, which is not there"
        done
        prose "$page" | grep -oE '\]\([^): ]*#[^) ]+' | sed 's/^](//' | while IFS='#' read -r target heading; do
            headings "${target:+$(dirname "$page")/}${target:-$page}" | grep -qxF -e "$heading" ||
                echo "$page: a link to $target#$heading, a heading that is not there"
        done
        page=${page#docs/}
        [[ $page =~ ^(README|index).md$ ]] || grep -q "]($page" docs/index.md || echo "docs/index.md: leads nowhere to $page"
    done
)
if [ -n "$failures" ]; then
    echo "$failures"
    exit 1
fi
echo "$(documents | cut -d: -f3 | sort -u | wc -l) documents, $(ids | wc -l) ids of the catalogue are cited, and are there"
