#!/usr/bin/env bash
# docs/errata.md is true: every command in it is run and ends and prints as the page says; every kernel
# in it is the text of the file that its section's command names; every entry of the registers stands
# there once.
#
# A fenced block whose first line begins with `simtfuzz` holds commands. Below each stand pieces of its
# output; `# exit status N` at the end of the command says how it exits, 0 where it is not said. Any
# other fenced block is a kernel.
. "$(dirname "$0")/common.sh"
page=$source/docs/errata.md
cd "$source" || exit 2

commands=0 kernels=0 pieces=0

# run COMMAND: the output of the page's command is in $folder/said.
run() {
    local line=$1 wanted=0 arguments
    case $line in *'# exit status '*) wanted=${line##*# exit status } ;; esac
    read -ra arguments <<<"${line%%#*}"
    "$simtfuzz" "${arguments[@]:1}" >"$folder/said" 2>&1 </dev/null
    local status=$?
    commands=$((commands + 1))
    [ "$status" -eq "$wanted" ] || failed "$line: exit status $status, not $wanted"
}

# Runs of blanks and line ends as one blank; comments dropped.
squeeze() {
    sed 's:^\( *\*\|/\*\).*::' | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'
}

check_kernel() { # FILE: the kernel of the page, in $folder/kernel, is in it
    kernels=$((kernels + 1))
    if [ ! -f "$1" ]; then
        failed "no file '$1' for the kernel: $(head -1 "$folder/kernel")"
    elif [[ "$(squeeze <"$1")" != *"$(squeeze <"$folder/kernel")"* ]]; then
        failed "the page's kernel is not that of $1"
    fi
}

inside=no file='' command=''
while IFS= read -r line; do
    case $inside:$line in
    no:'```'*) inside=start ;;
    no:'## '*) file='' ;;
    no:*) ;;
    kernel:'```'*)
        check_kernel "$file"
        inside=no
        ;;
    *:'```'*) inside=no ;;
    start:'simtfuzz '* | commands:'simtfuzz '*)
        inside=commands command=$line
        run "$line"
        for word in ${line%%#*}; do
            case $word in corpus/*) [ -n "$file" ] || file=$word ;; esac
        done
        ;;
    start:*)
        inside=kernel
        printf '%s\n' "$line" >"$folder/kernel"
        ;;
    kernel:*) printf '%s\n' "$line" >>"$folder/kernel" ;;
    commands:*)
        pieces=$((pieces + 1))
        grep -qF -- "$line" "$folder/said" || failed "$command: does not print '$line'"
        ;;
    esac
done <"$page"

{ [ "$commands" -ge 30 ] && [ "$kernels" -ge 10 ] && [ "$pieces" -ge 30 ]; } ||
    failed "only $commands commands, $kernels kernels, $pieces pieces of output in the page"

ids=$({
    for n in $(seq 1 17); do echo "A-$n"; done
    for n in $(seq 1 41); do echo "B-$n"; done
    for n in $(seq 1 14); do echo "C-$n"; done
    for n in $(seq 1 14); do echo "D-$n"; done
    for n in 06 07 08 09 11 12 13 15 16 18 $(seq 30 43) 45 47 51 $(seq 53 61) 63 66 67 69 70 74 75 76 77 78 79 $(seq 81 97); do echo "ERR.$n"; done
} | sort)
entries=$(sed -nE 's/^(## |\| )([ABCD]-[0-9]+|ERR\.[0-9]+)(:| \|).*/\2/p' "$page" | sort)
diff <(echo "$ids") <(echo "$entries") >"$folder/differences" ||
    failed "entries missing (<), unknown or twice (>): $(tr '\n' ' ' <"$folder/differences")"

echo "$commands commands, $kernels kernels"
finish
