#!/usr/bin/env bash
# The manual page and completion, made from the tables: complete, well-formed, and what they offer is taken.
. "$(dirname "$0")/common.sh"
export LC_ALL=C

# ---- help ----
expect 0 --help
cp out listed
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' listed)
expect 0 help
cmp -s out listed || failed "help and --help differ"
expect 0 help run
cp out about
expect 0 run --help
cmp -s out about || failed "help run and run --help differ"
expect 2 help nonsense
says err "no command 'nonsense'"
expect 0 help --json
json
[ "$(wc -l <out)" = "$(wc -w <<<"$commands")" ] || failed "help --json: $(wc -l <out) commands"
says out '"command": "run"' '"name": "cases", "letter": "n", "argument": "N"'
expect 0 help run --json
[ "$(wc -l <out)" = 1 ] || failed "help run --json"

# ---- the manual page ----
expect 0 help --man
cp out simtfuzz.1
silent err
"$simtfuzz" help --man | cmp -s - simtfuzz.1 || failed "two manual pages differ"
tools=
if command -v mandoc >/dev/null; then
    tools=mandoc
    mandoc -T lint simtfuzz.1 >lint || failed "mandoc: $(head -3 lint)"
    silent lint
    mandoc -T ascii simtfuzz.1 | sed 's/.\x08//g' >page
fi
if command -v groff >/dev/null; then
    tools="$tools groff"
    GROFF_NO_SGR=1 groff -man -Tascii -ww simtfuzz.1 2>warnings | sed 's/.\x08//g' >page
    silent warnings
fi
if [ -n "$tools" ]; then
    says page "SIMTFUZZ(1)" "EXIT STATUS" "a divergence that is not marked known"
    # Every option of every command stands in its section, as help has it.
    for command in $commands; do
        awk -v head="   simtfuzz $command" '$0 == head { on = 1; next } /^   simtfuzz / { on = 0 } on' page >section
        for option in $("$simtfuzz" "$command" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' |
            grep -vxe '--json' -e '--help'); do
            grep -qE "^ +(-., )?$option( |$)" section || failed "man page: $command $option is not there"
        done
    done
fi

# ---- completion in bash ----
expect 0 help --completion bash
cp out completion.bash
bash -n completion.bash || failed "the completion of bash is no script"
# complete LINE: what bash offers behind it, sorted, on one line.
complete_line() {
    bash --norc -c '
        . ./completion.bash
        COMP_LINE=$1 COMP_POINT=${#1}
        _simtfuzz
        printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' - "$1"
}
offers() { # LINE WORDS
    local got
    got=$(complete_line "$1")
    [ "$got" = "$2 " ] || failed "after '$1' bash offers '$got', not '$2'"
}
offers "simtfuzz " "$(tr ' ' '\n' <<<"$(echo $commands) --help --version" | sort | xargs)"
offers "simtfuzz tri" triage
offers "simtfuzz run --mut" --mutate
every=$("$simtfuzz" run --help | sed -n '/^options:/,/^examples:/p' | grep -oE '^  (-., |    )--[a-z-]+' | tr -d ,)
# shellcheck disable=SC2086
offers "simtfuzz run -" "$(printf '%s\n' $every | sort | tr '\n' ' ' | sed 's/ $//')"
offers "simtfuzz run --oracles sim" simulation
offers "simtfuzz run --oracles=sim" simulation
offers "simtfuzz run --oracles race,lemmas:s" strict
offers "simtfuzz run --oracles race,simul" race,simulation
offers "simtfuzz trace x --subject simt:th" then-first
offers "simtfuzz run --features loop" loops
offers "simtfuzz run --cases " ""
offers "simtfuzz triage sh" show
offers "simtfuzz help redu" reduce
offers "simtfuzz help --completion " "bash fish zsh"
mkdir folder "a b"
touch kernel.simt
offers "simtfuzz check ker" kernel.simt
offers "simtfuzz check a" "a b about"
offers "simtfuzz run --db ker" kernel.simt
offers "simtfuzz run --config sm" smoke
offers "simtfuzz run -c ker" kernel.simt
offers "simtfuzz config ni" nightly
offers "simtfuzz distill fo" folder
# Through readline itself, as a person does it.
if command -v script >/dev/null; then
    printf 'simtfuzz rul\t --subj\t >typed\nexit\n' >keys
    PATH=$(dirname "$simtfuzz"):$PATH script -qc "bash --rcfile completion.bash -i" /dev/null <keys >/dev/null 2>&1
    grep -qs then-first typed || failed "typed with Tab: $(head -1 typed 2>&1)"
fi

# What is offered is taken.
words() { # LINE
    complete_line "$1"
}
for form in $(words "simtfuzz lower x --to "); do
    expect 0 lower "$source/corpus/papers/program1.simt" --to "$form"
done
for schedule in $(words "simtfuzz trace x --schedule "); do
    case $schedule in
    starve:) schedule+=0 ;;
    unfair:) schedule+=5 ;;
    tape:) continue ;;
    esac
    expect 0 trace "$source/corpus/papers/program1.simt" --subject threads --schedule "$schedule"
done
for option in subjects oracles features; do
    list=$(words "simtfuzz run --$option " | xargs | tr ' ' ,)
    [ "$(tr , '\n' <<<"$list" | wc -l)" -gt 3 ] || failed "--$option offers $list"
    expect 0 digest --cases 1 "--$option" "$list"
done

# ---- the other shells ----
expect 0 help --completion fish
cp out completion.fish
if command -v fish >/dev/null; then
    export HOME=$folder
    for pair in 'run --mut=--mutate' 'run --oracles sim=simulation' 'lower x --to cf=cfg' 'tria=triage' 'triage sh=show'; do
        got=$(fish -c "source completion.fish; complete -C 'simtfuzz ${pair%=*}'" | cut -f 1)
        [ "$got" = "${pair##*=}" ] || failed "fish: '${pair%=*}' gives '$got'"
    done
fi
expect 0 help --completion zsh
cp out completion.zsh
if command -v zsh >/dev/null; then
    zsh -f -n completion.zsh || failed "the completion of zsh is no script"
fi
expect 2 help --completion csh
says err "there is no 'csh'"
finish
