#!/usr/bin/env bash
# The status screen on a pseudo-terminal: what it shows at several sizes, keys, and a terminal that is left as it was
# whatever the end. The stats file.
. "$(dirname "$0")/common.sh"
screen=$(dirname "$helper")/cli_screen
export TERM=xterm LANG=C.UTF-8
unset NO_COLOR LC_ALL LC_CTYPE
run=("$simtfuzz" run --ui --seed 3 --jobs 1 --time 60 --features none,loops --oracles simulation,lemmas:strict --db ui.db)

# on SIZE STEP... : the campaign on a terminal; what screen prints goes to the file out.
on() {
    rm -f ui.db*
    "$screen" "$@" -- "${run[@]}" >out 2>err || failed "screen $*: $(head -30 err)"
}

# left STATUS: the program ended so, and the terminal is as it was.
left() {
    says out "status $1" "left main cursor wrap cooked"
    grep -q "^seen alternate$" out || failed "not in the last column and not wrapped: $(grep '^seen' out)"
}

# Two sizes, and a change between them; every part is there, nothing is torn.
on 24x80 'wait: known' 'wait: writes' dump:a size:40x120 'wait:workers: what they do' 'wait:q ends' dump:b size:24x80 \
    'wait:q ends' key:q end
left 0
says a "simtfuzz " "campaign 1  seed 0x3  running" "time  " " left" "cases  " "/s now" "over all" "steps  " \
    "of threads" "findings   " "last  " "rules  " " fired" "database   ui.db" "agree diverge" "simulation" "lemmas" \
    "workers: what they do" "q ends   ? help"
[ "$(wc -l <a)" = 24 ] || failed "not 24 rows"
awk 'length > 79 { exit 1 }' a || failed "the last column is used: $(awk 'length > 79' a)"
for dump in a b; do
    [ "$(grep -c 'q ends' $dump)" = 1 ] && [ "$(grep -c '^time ' $dump)" = 1 ] ||
        failed "$dump is torn: $(cat $dump)"
done
tail -1 b | grep -q "q ends" || failed "the last line is not the last one: $(cat b)"
says out "campaign 1 interrupted" "database: ui.db"

# A known finding, and its age.
on 30x100 'wait:1 known' 'wait:ago: 1 lemmas|' dump:a key:q end
left 0
says a "0 new   0 open before   1 known"

# Windows of any size, one after another.
on 5x20 'wait:simtfuzz' size:1x1 size:2x3 size:100x300 'wait:q ends' size:1x80 'wait:simtfuzz' size:3x10 size:24x80 \
    'wait:workers' dump:a key:q end
left 0
says a "q ends   ? help" "time  "

# A large window has room for more: theorems, the findings themselves, rules that have not fired yet.
on 50x200 'wait:newest of' 'wait:not yet' dump:a key:q end
left 0
says a 'simt-correctness Fig. 2, Prop. 1, Thm. 1' 'lemmas|' 'A-4' ' of 21 rules   not yet: '

# Help, and back.
on 24x80 'wait:cases' 'key:?' 'wait:Ctrl-Z' 'gone:steps' 'key:?' 'wait:steps' 'key:x' key:^Z key:q end
left 0

# However it ends. The messages that were kept follow on the main screen.
on 24x80 'wait:cases' key:^C end
left 0
says out "simtfuzz: ending" "campaign 1 interrupted"
on 24x80 'wait:cases' signal:11 end
says out "left main cursor wrap cooked"
if [ -n "${SIMTFUZZ_WHOLE:-}" ]; then
    on 24x80 'wait:cases' signal:15 end
    left 0
    on 24x80 'wait:cases' signal:1 end
    left 0
    on 24x80 'wait:cases' 'key:^\' end
    says out "left main cursor wrap cooked"
fi
# The process that draws is killed, or crashes: the one above restores the terminal, says so, and goes on.
for signal in 9 11; do
    on 24x80 'wait: writes' killchild:$signal 'gone:workers' 'wait:workers' key:q end
    left 0
    says out "ended the campaign's process; it goes on from what is stored" "campaign 1 interrupted"
done
run+=(--cases 100)
on 24x80 'wait:cases' end
left 0
says out "campaign 1 finished"
unset 'run[-1]' 'run[-1]'

# Stopped and continued, by a shell; in the background nothing is drawn. As many rows as the last table may have: stopped
# early it names many rules that never fired, and "interrupted" must not scroll away before it is seen.
cat >campaign.sh <<END
$(printf '%q ' "${run[@]}")
END
"$screen" 100x80 'key:PS1=ready' key:^M 'wait:ready' 'key:clear' key:^M 'key:. ./campaign.sh' key:^M 'wait:workers' key:^Z \
    'wait:Stopped' 'key:bg' key:^M 'gone:workers' 'key:echo $((6 * 7))' key:^M 'wait:42' 'gone:workers' 'key:fg' key:^M \
    'wait:workers' key:q 'wait:interrupted' 'key:exit' key:^M end -- bash --norc --noprofile --noediting -i >out 2>err ||
    failed "job control: $(cat err)"
says out "left main cursor wrap cooked"

# Neither a dumb terminal nor none at all sees a control sequence; --ui is no error there.
rm -f ui.db*
TERM=dumb "$screen" 24x80 end -- "${run[@]}" --cases 40 >out 2>err || failed "TERM=dumb: $(cat err)"
says out "status 0" "seen" "database: ui.db"
grep -q "alternate" out && failed "TERM=dumb: the alternate screen"
"${run[@]}" --cases 40 >out 2>err </dev/null
grep -q $'\033' out err && failed "control sequences without a terminal"

# Colours only where they are wanted.
script -qec "$(printf '%q ' "${run[@]}") --time 1" /dev/null >colors </dev/null
NO_COLOR=1 script -qec "$(printf '%q ' "${run[@]}") --time 1" /dev/null >plain </dev/null
grep -q $'\033\[0;32m\|\033\[0;1;31m' colors || failed "no colours"
grep -q $'\033\[[0-9;]*3[0-9]m' plain && failed "colours in spite of NO_COLOR"

# Without UTF-8 there are ASCII characters only.
LANG=C "$screen" 24x80 'wait:writes' dump:a key:q end -- "${run[@]}" >out 2>err || failed "LANG=C: $(cat err)"
LC_ALL=C grep -q '[^ -~]' a && failed "LANG=C: $(cat a)"

# The stats file is one whole document at any time, and says how it ended.
expect 0 run --seed 3 --cases 100 --features none,loops --oracles simulation,lemmas:strict --db s.db --stats s.json
cp s.json out
json
says s.json '"state": "finished"' '"cases": 100' '"known": 1' '"lemmas": {"agree": ' '"rules_fired": '
expect 0 run --seed 3 --cases 20 --features none,loops --oracles simulation --db s.db --stats s.prom
says s.prom "simtfuzz_cases_total 20" 'simtfuzz_campaign_info{' 'state="finished"' \
    'simtfuzz_verdicts_total{oracle="simulation",verdict="agree"}' "# TYPE simtfuzz_cases_total counter"
awk '!/^#/ && !/^[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? [-+0-9.e]+$/ { exit 1 }' s.prom || failed "s.prom: a bad line"
"$simtfuzz" run --time 30 --jobs 1 --seed 3 --features none,loops --db t.db --stats t.json >/dev/null 2>&1 &
pid=$!
for _ in $(seq 300); do
    [ -s t.json ] && break
    sleep 0.1
done
for _ in $(seq 20); do
    cp t.json out
    json
done
says out '"state": "running"' '"phase": '
kill -INT $pid
wait $pid
[ -z "$(find . -name '*.tmp')" ] || failed "temporary files are left"
expect 3 run --cases 10 --db s.db --stats no/such/folder/s.json
mkdir gone
"$simtfuzz" run --time 3s --jobs 1 --db g.db --stats gone/s.json >out 2>err </dev/null &
pid=$!
for ((i = 0; i < 200; i++)); do [ -s gone/s.json ] && break || sleep 0.05; done
rm -r gone
wait $pid
[ "$(grep -c 'cannot write gone/s.json' err)" = 1 ] || failed "a stats file that cannot be written is said once: $(cat err)"
finish
