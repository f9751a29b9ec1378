#!/usr/bin/env bash
# Reports: what they say of a database with a past, words that are hostile, many findings, and that the same database gives the
# same bytes.
. "$(dirname "$0")/common.sh"
. "$source/tests/report/night.sh"

# Misuse.
expect 2 report
says err "which format?" --html --junit --sarif --markdown --json
expect 2 report --html - --json
says err "only one format"
expect 2 report --db night.db --junit x.xml --no-views
says err "--no-views is about the page's folder"
expect 3 report --json --db no.db
says err "no.db"
silent out
expect 2 report --html x --findings 0

# Files instead of a database: what `check` says of them, with the lines around it.
expect 2 report x.simt --html a.html --no-views
says err "--no-views is about a database, not about files"
expect 2 report x.simt --html -
says err "a format needs a file"
mkdir launches
printf 'launch(threads=2, warp=1, blocks=1);\n\nshared int s;\n\nkernel k()\n{\n    s = tid;\n}\n' >launches/race.simt
printf 'launch(threads=2, warp=1, blocks=1);\n\nshared int s[2];\n\nkernel k()\n{\n    s[tid] = 1;\n}\n' >launches/well.simt
expect 0 report launches --html a.html --sarif a.sarif --junit a.xml --markdown a.md
says out "RACY      launches/race.simt" "clean     launches/well.simt"
says a.html "<h2>1 finding</h2>" "*     7 |     s = tid;" '<span class="badge fixed">clean</span>' \
    "simtfuzz view launches/race.simt"
says a.md "## simtfuzz: 1 finding" "*     7 |     s = tid;"
says a.sarif '"uri": "launches/race.simt"' '"startLine": 7'
says a.xml 'tests="2" failures="1"'
# A job's summary has at most 1 MB, also of one kernel.
{
    printf 'launch(threads=2, warp=1, blocks=1);\nshared int s;\nkernel k()\n{\n    s = 1;\n}\n'
    for i in $(seq 600); do printf 'expect final s == 7; // %d %.300d\n' "$i" 0; done
} >many.simt
expect 0 report many.simt --markdown many.md
says many.md "## simtfuzz: 600 findings" "Further problems do not fit in here."
[ "$(wc -c <many.md)" -le 1000000 ] || failed "a summary of more than 1 MB"
expect 0 report launches/well.simt --html a.html
says a.html "Nothing is wrong"
expect 2 report none.ptx --html a.html
# What cannot be judged is not well.
echo 'kernel k(' >broken.simt
expect 2 report launches/well.simt broken.simt --html a.html --markdown a.md
says a.html '<div class="verdict warn"><h2>No finding; 1 could not be judged</h2>'
says a.md "## simtfuzz: No finding; 1 could not be judged"
expect 2 report launches broken.simt --markdown a.md
says a.md "## simtfuzz: 1 finding; 1 could not be judged"

night night.db
expect 0 report --db night.db --html a.html --no-views --junit a.xml --sarif a.sarif --markdown a.md --json
json
cp out a.json
silent err
json <a.sarif
expect 0 report --db night.db --html few.html --traces 1
says few.html 'Not shown: only the most important findings are run again: --traces N' "<code>simtfuzz view 2 --db night.db</code>"
[ "$(ls few.html.views)" = finding-1.html ] || failed "views: $(ls few.html.views)"

# What is new, what came back, what is open; the most important first.
says a.json '"version": 1' '"headline": "1 regression, 1 new finding"' '"newest_campaign": 2' \
    '"counts": {"regression": 1, "new": 1, "open": 3, "suppressed": 0, "known": 0'
says a.html "To step through them: <code>simtfuzz view 1 --db night.db</code>"
says a.html "1 regression, 1 new finding" "Last night: campaign 2" "Minimised kernel" "simtfuzz replay 1 --db night.db" \
    "crs:target-next" "thread-pc" "The oracle speaks at step"
groups=$(grep -o '"group": "[a-z]*"' a.json | paste -sd' ')
[ "$groups" = '"group": "regression" "group": "new" "group": "open" "group": "open" "group": "open"' ] ||
    failed "the order of the findings: $groups"
[ "$(grep -c '<details class="finding"' a.html)" = 5 ] || failed "the page does not show five findings"
[ "$(grep -c '<failure' a.xml)" = 5 ] || failed "JUnit: not five failures"
[ "$(grep -o '"level": "error"' a.sarif | wc -l)" -ge 5 ] || failed "SARIF: not five errors"
says a.md "## simtfuzz: 1 regression, 1 new finding" "| regressions | new |" "simtfuzz replay 1 --db night.db" "<pre><code>"
# Both sides of an execution, and where they part: a lemma that names a step, and a result, where threads take other lines.
for text in '"subject": "simt"' '"subject": "threads"' '"parts_at_step": ' \
    'is the first to part: crs:call-guard-all takes it to line' '"rule": "while_cont"'; do
    says a.json "$text"
done
! grep -q '"executions": null' a.json || failed "a finding was not run again"

# The same database, the same bytes; in any order of formats, and to standard output.
expect 0 report --db night.db --junit b.xml --html b.html --no-views --json
cmp -s out a.json || failed "JSON differs the second time"
for format in html xml; do
    cmp -s a.$format b.$format || failed "$format differs the second time"
done
expect 0 report --db night.db --html -
cmp -s out a.html || failed "standard output is another page"

# One file: nothing is loaded, the policy allows its own style sheet and nothing else.
! grep -oE '(src|href|action|data|poster|srcset)="[^"]*"' a.html | grep -v '="#' | grep . || failed "the page loads something"
! grep -qiE '<script|<link|<iframe|<img|<object|<form|@import|url\(|javascript:| style=| on[a-z]+=' \
    <(sed 's/&[a-z#0-9]*;//g' a.html | grep -v "onerror=") || failed "the page has what its policy forbids"
style=$(sed -n '/<style>/,/<\/style>/p' a.html | sed '1s/.*<style>//; $s/<\/style>.*//'; echo x)
digest=$(printf '%s' "${style%x}" | head -c -1 | sha256sum | cut -c1-64 | sed 's/../\\x&/g')
# shellcheck disable=SC2059
says a.html "style-src 'sha256-$(printf "$digest" | base64)'" "default-src 'none'"
duplicates=$(grep -oE ' id="[^"]*"' a.html | sort | uniq -d)
[ -z "$duplicates" ] || failed "ids that are not unique: $duplicates"
for target in $(grep -oE 'href="#[^"]*"' a.html | sed 's/href="#//; s/"//' | sort -u); do
    says a.html " id=\"$target\""
done

# Words of others are text. The note of the second finding closes everything that there is to close.
for file in a.html a.xml a.md; do
    ! grep -qF '<img' $file || failed "$file: a note became markup"
done
says a.html '&lt;/script&gt;' '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;' '[U+202E]'
says a.md '<code>&lt;/script&gt;' '&#64;nobody'
cp night.db hostile.db
"$helper" sql hostile.db "UPDATE kernels SET text = '</code></pre><img src=x onerror=alert(1)>' || char(1, 27, 8238, 65534) ||
    CAST(x'c328f09f98ff80fe' AS TEXT) || char(10, 10) || '| ]]>' || char(10) || '\`\`\`' || char(10);
    UPDATE findings SET note = CAST(x'ff00fe' AS TEXT), reference = '\"><svg onload=alert(1)>', observable = '<x1>';
    UPDATE examples SET evidence = '{\"a\": \"</script>\", \"line\": 99999999999, \"step\": \"x\"}', minimised_launch = '<x2>',
    subject = 'no such', minimised_tape = '<x3>'" || failed "sql"
expect 0 report --db hostile.db --html h.html --junit h.xml --sarif h.sarif --markdown h.md --json
json
json <h.sarif
for file in h.html h.xml h.md; do
    ! grep -qE '<(img|svg onload|x[123])' $file || failed "$file: a kernel or a name became markup"
    iconv -f UTF-8 -t UTF-8 $file >/dev/null || failed "$file is not UTF-8"
    ! LC_ALL=C grep -q $'[\x01-\x08\x0b\x0c\x0e-\x1f]' $file || failed "$file has control characters"
done
says h.html "this version of simtfuzz"

# The most important findings, and how many there are beside them.
expect 0 report --db night.db --html - --findings 2 --traces 1
says out "3 more findings" "only the most important findings are run again"
[ "$(grep -c '<details class="finding"' out)" = 2 ] || failed "--findings 2 does not show two"
expect 0 report --db night.db --json --findings 1
says out '"not_shown": 4'

# The grade's table: rows of one fault count once; a control is none.
printf 'family\tclass\tname\tfile\tplace\treached\ttriggered\tdetected\toracle\tcases\tsteps\tseed\tstatus\tnote\n' >grade.tsv
for row in 'named masks one f p yes 3 - - 9 9 1 survived -' 'named masks one f p yes 3 7 safety 9 9 2 detected -' \
    'named masks two<b> f p yes - - - 9 9 1 survived -' 'named stacks three f p yes - - corpus - - - detected -' \
    'named stacks four f p yes - 5 result 9 9 1 control-alarmed -'; do
    tr ' ' '\t' <<<"$row"
done >>grade.tsv
expect 0 report --db night.db --html - --traces 0 --grade grade.tsv
says out '<td>masks</td><td class="r">2</td><td class="r">1</td><td class="wide">two&lt;b&gt;</td>' \
    '<td>stacks</td><td class="r">1</td><td class="r">1</td><td class="wide"></td>' 'href="#grade"'
expect 2 report --db night.db --html - --grade no.tsv
says err no.tsv

# A job's summary keeps within its limit and says what it left out.
cp night.db large.db
"$helper" sql large.db "UPDATE kernels SET text = hex(zeroblob(200000))" || failed "sql"
expect 0 report --db large.db --markdown large.md --traces 0
[ "$(wc -c <large.md)" -le 1048576 ] || failed "the summary has $(wc -c <large.md) bytes"
says large.md "more findings do not fit"

# What is settled is no failure.
for id in 1 2 3 4 5; do
    expect 0 triage status $id known A-1 --db night.db
done
expect 0 report --db night.db --html k.html --junit k.xml --sarif k.sarif --markdown k.md
says k.html "Nothing new, nothing open; 5 known differences (A-1)" "Nothing is open." 'class="verdict known"'
# What is known has its picture too, and rules of semantics that did not run are no chips.
[ "$(grep -c '<svg width' k.html)" -ge 5 ] || failed "known findings have no pictures"
[ "$(grep -c '<failure' k.xml)" = 0 ] || failed "JUnit: a known finding fails"
[ "$(grep -o '"kind": "external"' k.sarif | wc -l)" = 5 ] || failed "SARIF: five known findings, not as many suppressions"

# How campaigns follow each other: what was new, open, fixed, how many cases and rules, and how long the first took.
says a.html 'New findings' 'campaign 1: 4 findings seen first' 'campaign 2: 1 findings seen first' 'campaign 1: 4 findings open' \
    'campaign 2: 4 findings open' 'campaign 1: 0 findings marked fixed' 'campaign 2: 1 findings marked fixed' 'campaign 2: 60 cases' \
    'Rules that fired' 'Time to the first new finding, in seconds'

# A database without campaigns, a file that cannot be written.
"$simtfuzz" run --cases 1 --seed 1 --oracles lemmas --features none --db first.db >/dev/null 2>&1
expect 0 report --db first.db --html first.html --junit first.xml --sarif first.sarif --markdown first.md --json
json
says first.html "It is the only one in this database" "Nothing is open."
grep -q "Whether it ends depends" first.html first.md && failed "a report without kernels of which the models differ names some"

# Kernels that end under one execution model and hang under another.
expect 0 run --cases 128 --seed 11 --features all,spin --oracles liveness --budget 4096 --db models.db --verbose
says out "whether it ends depends on the model"
expect 0 report --db models.db --html models.html --markdown models.md --json
json
grep -o '"[a-z]*-[a-z]*": [0-9]*' <(grep -o '"termination_depends_on_model": {[^}]*}' out) >counts
[ "$(wc -l <counts)" = 3 ] && grep -q ': [1-9]' counts || failed "JSON: no counts of the three classes"
while IFS='": ' read -r _ class _ count; do
    says models.html "<li>$count $class: "
    says models.md "- $count $class: "
done <counts

expect 3 report --db night.db --html no/such/folder/x.html
says err "no/such/folder/x.html"
if [ -w /dev/full ]; then
    expect 3 report --db night.db --html /dev/full
    says err "/dev/full"
fi
# A lasso is a stem and a loop; what did not run is said in one sentence.
expect 0 run --subjects simt,threads --oracles liveness --features spin --cases 140 --seed 3 --db lasso.db
expect 0 report --db lasso.db --html lasso.html
says lasso.html 'a lasso: a stem of ' 'steps again and again' 'class="loop"' 'No campaign here ran '
grep -q '<h3>crs<span>' lasso.html && failed "rules of crs, which nobody asked for"
finish
