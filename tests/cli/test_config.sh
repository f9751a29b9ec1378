#!/usr/bin/env bash
# Campaigns by configuration: files, presets, the command line above them, errors with their lines.
. "$(dirname "$0")/common.sh"

# What is printed reads to itself; a campaign by it is the one of the same options, and keeps the text.
cat >a.ini <<'END'
# a small campaign
[campaign]
seed = 0x7
db = a.db

[budget]
cases = 40
minimise = no

[generate]
features = none,loops,switch

[check]
oracles = simulation,result

[weights]
loops = 300%
END
expect 0 config a.ini
cp out canonical.ini
says out "seed = 0x7" "cases = 40" "minimise = no" "features = none,loops,switch" "loops = 300%"
expect 0 config canonical.ini
cmp -s out canonical.ini || failed "the canonical form does not print to itself"
expect 0 config a.ini --text
cmp -s out a.ini || failed "--text is not the text"
expect 0 config a.ini --json
json
says out '"loops": 300' '"minimise": "no"'
expect 0 run --config a.ini
expect 0 run --seed 7 --cases 40 --features none,loops,switch --weights loops:300 --no-minimise \
    --oracles simulation,result --db b.db
expect 0 rules --db a.db
cp out a.rules
expect 0 rules --db b.db
cmp -s out a.rules || failed "the file's campaign is not the one of the options"
"$helper" sql a.db "CREATE TEMP TABLE t (same INTEGER NOT NULL CHECK (same));
    INSERT INTO t SELECT config LIKE '# a small campaign%loops = 300_' || char(10) FROM campaigns" ||
    failed "the database does not keep the text"

# The command line beats the file, the file beats its preset, wherever they stand.
expect 0 run --time 3m --check --config a.ini --with weights.loops=50 --with budget.minimise=yes
says out "time = 3m" "cases = 40" "loops = 50%" "minimise = yes"
printf '[budget]\ntime = 2m\n[campaign]\npreset = soak\n' >over.ini
expect 0 config over.ini
says out "time = 2m" "mutate = 30"
expect 0 run --config nightly --jobs 3 --check --json
json
says out '"time": "8h"' '"jobs": "3"'

# Presets: listed, printable, and valid.
expect 0 config --presets
presets=$(cut -d' ' -f1 out | tr '\n' ' ')
[ "$presets" = "nightly outside smoke soak " ] || failed "presets: $presets"
for preset in $presets; do
    expect 0 config "$preset"
    says out "time = "
    expect 0 config "$preset" --text
    says out "# $preset: "
done
expect 0 run --config smoke --cases 5 --oracles simulation --db smoke.db
says out "seed 0x1"

# All errors at once, each with file and line; nothing is run, nothing printed to standard output.
printf '\xef\xbb\xbf[budget]\r\ntiem = 5m\r\ntime = 5x\r\n[weigths]\n[check]\ntime = 5m\noracles = x\n' >bad.ini
printf 'subjects = threads\nsubjects = threads\nnonsense\n' >>bad.ini
for command in "config bad.ini" "run --config bad.ini --db bad.db"; do
    # shellcheck disable=SC2086
    expect 2 $command
    silent out
    says err "bad.ini:2: there is no 'tiem' in [budget]: 'time' is meant?" "bad.ini:3: 'time' wants a time" \
        "bad.ini:4: there is no section [weigths]: [weights] is meant?" \
        "bad.ini:6: 'time' belongs to [budget], not to [check]" "bad.ini:7: 'oracles': there is no 'x'" \
        "bad.ini:9: 'subjects' has a value already, in line 8" "bad.ini:10: 'nonsense' is no [section]"
    [ "$(grep -c . err)" = 7 ] || failed "not seven errors: $(cat err)"
done
[ ! -e bad.db ] || failed "a campaign ran by a bad configuration"
expect 2 config bad.ini --json
json
says out '"error_count": 7' '"line": 10'
printf '[generate]\nenumerate = yes\nmutate = 10\n' >conflict.ini
expect 2 config conflict.ini
says err "conflict.ini: --mutate is for random kernels, not for --enumerate"
expect 0 run --config conflict.ini --mutate 0 --check
expect 2 config nightl
says err "'nightly' is meant?"
expect 2 config absent.ini
says err "absent.ini" "cannot open"
expect 2 config .
head -c 3000 /dev/urandom >noise.ini
expect 2 config noise.ini
head -c 2000000 /dev/zero | tr '\0' '\n' >large.ini
expect 2 config large.ini
says err "larger than"
expect 2 run --with time=5
says err "--with wants SECTION.KEY=VALUE"
expect 2 run --with budget.tiem=5
says err "'time' is meant?"
expect 2 run --config nightly --time 0
expect 2 config --text
finish
