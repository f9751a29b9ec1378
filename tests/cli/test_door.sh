#!/usr/bin/env bash
# Nothing from a file, a database or a name reaches a terminal as anything but words: every text that a database can hold and
# every name is poisoned with what terminals obey, and every command is asked about it, on a terminal and elsewhere.
. "$(dirname "$0")/common.sh"
. "$source/tests/report/night.sh"

# Escape sequences that colour, name the window, go back to the start of the line; C1; a mark that turns the line round; a byte
# that is no UTF-8.
poison=$'\033[31m\033]0;owned\a\r\b\177\302\233\342\200\256\342\201\246\233'
sql_poison="CAST(x'1b5b33316d1b5d303b6f776e6564070d087fc29be280aee281a69b' AS TEXT)"

# obeys FILE: something in it that a terminal would obey.
obeys() { LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|(^|[\x00-\x7f])[\x80-\xbf]' "$1"; }

asked=0 shown=0
# ask COMMAND... : whatever its exit status is.
ask() {
    timeout 60 "$simtfuzz" "$@" >out 2>err </dev/null
    [ $? -ne 124 ] || failed "simtfuzz $*: it does not end"
    asked=$((asked + 1))
    for file in out err; do
        obeys "$file" && {
            failed "simtfuzz $* writes to $file what a terminal obeys:"
            LC_ALL=C cat -v "$file" | head -5
        }
        grep -qF '\x1b[31m' "$file" && shown=$((shown + 1))
    done
}

night night.db
"$simtfuzz" triage suppress 'lemmas|*' 'a note' --db night.db >/dev/null 2>&1
cp night.db clean.db
columns="campaigns.options campaigns.version campaigns.config sessions.host skipped.detail kernels.text raw_keys.key
    reasons.reason rule_hits.rule findings.signature findings.k1 findings.class findings.rule findings.observable findings.reference
    findings.note findings.cause findings.subject examples.reference examples.cause examples.subject examples.raw_case
    examples.tapes examples.minimised_launch examples.minimised_tape examples.minimised_case suppressions.note
    suppressions.signature"
"$helper" sql night.db "INSERT INTO skipped VALUES (1, 999999, 'crash', 'detail')"
for column in $columns; do
    table=${column%.*} name=${column#*.}
    # Once with all of it in it, once with this alone, so that no other text keeps a command from showing it.
    [ "$table" = kernels ] && value="'// ' || $sql_poison || char(10) || text" || value="$name || $sql_poison"
    "$helper" sql night.db "UPDATE OR IGNORE $table SET $name = $value" || failed "$column cannot be poisoned"
done
for db in night.db; do
    for json in "" --json; do
        for command in "triage list" "triage search owned" "triage bugs" "triage show 1 2 3" "triage suppressions" "status" \
            "status 1" "status 2" "rules" "regress" "replay 1" "reduce 1 --tests 1" "report --html -" "report --markdown -" \
            "report --junit -" "report --sarif -" "triage status 1 open" "triage note 1 $poison" "triage suppress x$poison y$poison" \
            "triage unsuppress nothing$poison" "triage show $poison" "triage status 1 $poison" "status $poison" "replay $poison" \
            "view 1 -o - --max-steps 20" "view $poison -o -" "step 1 --commands show" "step $poison --commands show" "explain 1" "explain $poison" \
            "reduce $poison" "triage $poison" "run --cases 1 --seed $poison" "run --cases 1 --on-end $poison"; do
            # shellcheck disable=SC2086
            ask $command --db $db $json
        done
    done
done

# Names: of files that are there and not there, of databases, options, commands, kernels' own words.
ask "$poison"
ask check "$poison.simt"
ask run --cases 1 "--$poison"
ask report --html "$poison/x" --db clean.db
ask report --json --db "no$poison.db"
cp clean.db "d$poison.db"
ask triage list --db "d$poison.db"
ask report --markdown - --db "d$poison.db"
ask status --db "d$poison.db"
ask merge "m$poison.db" clean.db "no$poison.db"
ask merge "m$poison.db" clean.db
printf 'launch(threads = 2, warp = 2);\n// %s\nshared int m;\nkernel k() { m = tid; %s }\n' "$poison" "$poison" >"k$poison.simt"
printf 'launch(threads = 2, warp = 2);\n// %s\nshared int m;\nkernel k() { m = tid; }\n' "$poison" >"g$poison.simt"
printf '.version 7.0\n.target sm_70\n.address_size 64\n// %s\n.visible .entry k() { %s; ret; }\n' "$poison" "$poison" >"p$poison.ptx"
for file in "k$poison.simt" "g$poison.simt" "p$poison.ptx"; do
    for command in check trace progress lower transform "reduce --signature x" "check --tape $poison" "trace --schedule tape:$poison"; do
        # shellcheck disable=SC2086
        ask $command "$file"
        # shellcheck disable=SC2086
        ask $command "$file" --json
    done
done
printf '[campaign]\ncases = %s\n' "$poison" >c.ini
printf 'PTX L%s\n"%s"\n{ x=0; %s }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 %s ;\nexists (x == 1)\n' "$poison" "$poison" "$poison" "$poison" >"l$poison.litmus"
printf '__global__ void k(int *p) { p[threadIdx.x] = 1; %s }\n' "$poison" >"c$poison.cu"
for command in "litmus l$poison.litmus" "view l$poison.litmus -o -" "view k.litmus --test $poison" "view g$poison.simt --witness $poison" "check c$poison.cu" \
    "check --compiler $poison c$poison.cu" "prove g$poison.simt" "prove k$poison.simt" "step k$poison.simt --commands $poison" "check --repair p$poison.ptx" \
    "check --outcomes g$poison.simt" "exec -- $poison" "outside --cases 1 --subject $poison" "serve $poison" "run --cases 1 --serve $poison"; do
    # shellcheck disable=SC2086
    ask $command
done
ask config c.ini
ask config c.ini --text
ask run --config c.ini
ask help "$poison"
[ "$shown" -ge 20 ] || failed "only $shown of $asked commands showed the words at all: the test looks at nothing"

# What is simtfuzz's own passes: colours on a terminal; characters of other languages; the ends of lines of Windows.
if command -v script >/dev/null; then
    cp "$source/corpus/papers/program1.simt" own.simt
    script -qec "$simtfuzz check own.simt" /dev/null </dev/null >out 2>&1
    grep -q $'\033\[3[0-9]m' out || failed "no colour on a terminal"
fi
printf '# \344\270\255\346\226\207 \316\273\r\n[campaign]\r\n' >c.ini
expect 0 config c.ini --text
cmp -s out c.ini || failed "a harmless text was changed"
finish
