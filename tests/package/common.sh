# Sourced by the tests of packages: SOURCE BUILD are their arguments; runs in a fresh folder.
set -u
source=$(realpath "$1") build=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
export LC_ALL=C
failures=0

failed() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

finish() {
    [ "$failures" -eq 0 ] && echo "all well"
    exit "$((failures > 0))"
}

# installed USR: what stands below a prefix is all there, and runs from there.
installed() {
    local usr=$1 file
    for file in bin/simtfuzz share/man/man1/simtfuzz.1.gz share/bash-completion/completions/simtfuzz \
        share/zsh/vendor-completions/_simtfuzz share/fish/vendor_completions.d/simtfuzz.fish \
        share/doc/simtfuzz/{README.md,database.md,copyright,changelog.gz} share/simtfuzz/corpus/papers/program1.simt \
        share/simtfuzz/presets/nightly.ini share/simtfuzz/nightly.sh; do
        [ -s "$usr/$file" ] || failed "$file is not there"
    done
    [ -z "$(find "$usr" -type f -perm /022)" ] || failed "others may write what was installed"
    [ "$("$usr/bin/simtfuzz" --version)" = "simtfuzz $(sed -n 's/.*define SIMTFUZZ_VERSION "\(.*\)"/\1/p' \
        "$source/fuzz/base/version.h")" ] || failed "the version"
    "$usr/bin/simtfuzz" help --man | gzip -dc "$usr/share/man/man1/simtfuzz.1.gz" | head -3 | grep -q 'TH SIMTFUZZ 1' ||
        failed "the manual page"
    "$usr/bin/simtfuzz" help --man | cmp -s - <(gzip -dc "$usr/share/man/man1/simtfuzz.1.gz") ||
        failed "the manual page is not this program's"
    "$usr/bin/simtfuzz" help --completion bash | cmp -s - "$usr/share/bash-completion/completions/simtfuzz" ||
        failed "the completion is not this program's"
    "$usr/bin/simtfuzz" check "$usr/share/simtfuzz/corpus/papers/program1.simt" >checked 2>&1 ||
        failed "an installed kernel: $(tail -n 1 checked)"
    "$usr/bin/simtfuzz" run --cases 20 --seed 1 --db "$folder/installed.db" >ran 2>&1 || failed "run: $(tail -n 1 ran)"
}
