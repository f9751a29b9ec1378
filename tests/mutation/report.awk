# report.awk - the grade as a page: reads survivors.txt, then tables as grade.sh describes them.
#
#     awk -f report.awk -v format=md|html -v date=.. -v commit=.. survivors.txt named.tsv [auto.tsv]
#
# A fault is detected when a campaign detects it on any seed, or the corpus, a canary, its test, or a golden digest. Its cases to
# detection are the median over the seeds, a campaign that found nothing counting as infinitely many.
# survivors.txt says of a fault that was not detected "NAME equivalent|missed: ARGUMENT"; equivalent ones are no part of
# the score.
BEGIN { FS = "\t"; INFINITE = 1e300 }

FNR == 1 { file_number++ }

file_number == 1 {
    if ($0 ~ /^#/ || $0 == "") next
    if ($0 ~ /^[^ ]+ (equivalent|missed): /) {
        split($0, word, " ")
        named_survivor = word[1]
        kind[named_survivor] = substr(word[2], 1, length(word[2]) - 1)
        argument[named_survivor] = substr($0, length(word[1]) + length(word[2]) + 3)
    } else {
        sub(/^ +/, "")
        argument[named_survivor] = argument[named_survivor] " " $0
    }
    next
}

$1 == "family" { next } # a heading

{
    group = $1 SUBSEP $2
    fault = $1 SUBSEP $3
    if (!(group in class_seen)) { class_seen[group] = 1; classes[++class_count] = group }
    if (!(fault in fault_seen)) {
        fault_seen[fault] = 1
        faults[++fault_count] = fault
        family[fault] = $1; class[fault] = $2; name[fault] = $3; file[fault] = $4; place[fault] = $5
    }
    rows[fault]++
    if ($6 == "yes" || $7 ~ /^[0-9]/) reached[fault] = 1
    if ($7 ~ /^[0-9]/) triggered[fault] = 1
    if ($13 ~ /^control/) control[fault] = 1
    if ($13 == "control-alarmed") alarmed[fault] = 1
    if ($13 == "unbuilt") unbuilt[fault] = 1
    if ($14 != "-") note[fault] = $14
    hunted = $12 ~ /^[0-9]/
    if (hunted && $8 ~ /^[0-9]/ && $9 !~ /^(corpus|canary)/ && $13 !~ /^control/) {
        hits[fault]++
        sample(fault, $10, $11)
        count = split($9, speakers, ",")
        for (i = 1; i <= count; i++) if (!((fault, speakers[i]) in spoke)) {
            spoke[fault, speakers[i]] = 1
            speaks[fault] = speaks[fault] (speaks[fault] == "" ? "" : ", ") speakers[i]
            spoken[speakers[i]]++
        }
    } else if (hunted && $13 !~ /^control/) {
        sample(fault, INFINITE, INFINITE)
    }
    if (hunted && !($12 in seed_seen)) { seed_seen[$12] = 1; seeds++ }
    if (hunted && $13 == "survived" && $10 + 0 > budget) budget = $10 + 0
    if ($9 == "corpus") by_corpus[fault] = 1
    if ($9 ~ /^canary/) by_canary[fault] = 1
    if ($9 ~ /^test / || $9 == "golden") by_test[fault] = $9
}

function sample(fault, cases, steps) {
    samples[fault]++
    case_sample[fault, samples[fault]] = cases + 0
    step_sample[fault, samples[fault]] = steps + 0
}

# The lower median of list[1..n]; the list is sorted by it.
function median(list, n,   i, j, x) {
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j > 0 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
    return n == 0 ? "" : list[int((n + 1) / 2)]
}

function fault_median(fault, of_steps,   list, i) {
    for (i = 1; i <= samples[fault]; i++)
        list[i] = of_steps ? step_sample[fault, i] : case_sample[fault, i]
    return median(list, samples[fault])
}

function number(n,   text, out) {
    if (n == "") return ""
    if (n >= INFINITE) return "-"
    text = sprintf("%.0f", n)
    while (length(text) > 3) {
        out = "," substr(text, length(text) - 2) out
        text = substr(text, 1, length(text) - 3)
    }
    return text out
}

function percent(part, whole) { return whole ? sprintf("%.1f %%", 100 * part / whole) : "-" }

function state(fault) {
    if (fault in unbuilt) return "unbuilt"
    if (fault in control) return fault in alarmed ? "alarmed" : "silent"
    if (hits[fault]) return "campaign"
    if (fault in by_corpus) return "corpus"
    if (fault in by_canary) return "canary"
    if (fault in by_test) return "test"
    return kind[name[fault]] == "equivalent" ? "equivalent" : "escaped"
}

# Sums of a class, or of a family with "" for the class, into the global total[].
function sum(wanted_family, wanted_class,   i, fault, s, n, list, steps) {
    split("", total)
    for (i = 1; i <= fault_count; i++) {
        fault = faults[i]
        if (family[fault] != wanted_family || (wanted_class != "" && class[fault] != wanted_class)) continue
        s = state(fault)
        total[s]++
        if (s == "silent" || s == "alarmed" || s == "unbuilt") continue
        total["faults"]++
        if (!samples[fault]) continue
        total["hunted"]++
        total["reached"] += reached[fault]
        total["triggered"] += triggered[fault]
        if (s != "campaign") continue
        total["always"] += hits[fault] == samples[fault]
        list[++n] = fault_median(fault, 0)
        steps[n] = fault_median(fault, 1)
    }
    total["cases"] = median(list, n)
    total["steps"] = median(steps, n)
    total["detected"] = total["campaign"] + total["corpus"] + total["canary"] + total["test"]
    total["counted"] = total["faults"] - total["equivalent"]
}

function cells(first) {
    return first "\t" total["faults"] + 0 "\t" total["hunted"] + 0 "\t" total["reached"] + 0 "\t" total["triggered"] + 0 \
        "\t" total["campaign"] + 0 "\t" total["always"] + 0 "\t" total["corpus"] + 0 "\t" total["canary"] + total["test"] + 0 \
        "\t" total["equivalent"] + 0 "\t" total["escaped"] + 0 "\t" number(total["cases"]) "\t" number(total["steps"])
}

function html(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }

function row(text, kind,   cell, count, i, out) {
    count = split(text, cell, "\t")
    if (format == "md") {
        out = "|"
        for (i = 1; i <= count; i++) { gsub(/\|/, "\\|", cell[i]); out = out " " cell[i] " |" }
    } else {
        out = "<tr" (kind == "th" || kind == "" ? "" : " class=\"" kind "\"") ">"
        for (i = 1; i <= count; i++)
            out = out (kind == "th" ? "<th>" : cell[i] ~ /^[0-9,.]+( %)?$/ || cell[i] == "-" ? "<td class=\"n\">" : "<td>") html(cell[i]) \
                (kind == "th" ? "</th>" : "</td>")
        out = out "</tr>"
    }
    print out
}

function table(heading, alignment) {
    if (format == "html") print "<table>"
    row(heading, "th")
    if (format == "md") print alignment
}

function table_end() { print format == "md" ? "" : "</table>" }
function title(text, level) { print format == "md" ? substr("###", 1, level) " " text "\n" : "<h" level ">" html(text) "</h" level ">" }
function say(text) { print format == "md" ? text "\n" : "<p>" html(text) "</p>" }

function family_table(which,   i, part) {
    table("class\tfaults\thunted\treached\ttriggered\tby campaign\ton every seed\tby corpus\tby test, canary\tequivalent\tescaped\tmedian cases\tmedian steps",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (i = 1; i <= class_count; i++) {
        split(classes[i], part, SUBSEP)
        if (part[1] != which) continue
        sum(which, part[2])
        if (total["faults"]) row(cells(part[2]), total["escaped"] ? "escaped" : "")
    }
    sum(which, "")
    row(cells("all"), "all")
    table_end()
    say(sprintf("Score: %d of %d that are not equivalent, %s; %d harmless controls, %d of them alarmed%s.", total["detected"], total["counted"],
        percent(total["detected"], total["counted"]), total["silent"] + total["alarmed"], total["alarmed"],
        total["unbuilt"] ? "; " total["unbuilt"] " did not compile" : ""))
}

function explanation(fault,   text) {
    text = argument[name[fault]]
    if (text == "") return "not explained"
    return text
}

function survivors(which,   i, fault, any, silent) {
    for (i = 1; i <= fault_count; i++) {
        fault = faults[i]
        if (family[fault] != which || (state(fault) != "escaped" && state(fault) != "equivalent")) continue
        if (format == "md" && which == "auto" && argument[name[fault]] == "") { silent++; continue }
        if (!any++) table("fault\tfile\tplace\treached\ttriggered\tequivalent or missed", "| --- | --- | --- | --- | --- | --- |")
        row(name[fault] "\t" file[fault] "\t" place[fault] "\t" (reached[fault] ? "yes" : "no") "\t" (triggered[fault] ? "yes" : "no") \
            "\t" (kind[name[fault]] == "" ? "" : kind[name[fault]] ": ") explanation(fault), state(fault))
    }
    if (any) table_end()
    if (silent) say(number(silent) " more are listed in grade.html.")
    if (!any && !silent) say("None.")
}

# All faults, or only those that take longest.
function list(which, least,   i, fault, s, cases) {
    table("fault\tclass\tfile\tplace\tstate\tseeds\tcases\tsteps\tspoke first", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (i = 1; i <= fault_count; i++) {
        fault = faults[i]
        s = state(fault)
        cases = fault_median(fault, 0)
        if (family[fault] != which || (least && (s != "campaign" || cases < least))) continue
        row(name[fault] "\t" class[fault] "\t" file[fault] "\t" place[fault] "\t" s "\t" (samples[fault] ? hits[fault] + 0 " of " samples[fault] : "") \
            "\t" number(cases) "\t" number(fault_median(fault, 1)) "\t" (s == "test" ? by_test[fault] : speaks[fault]), s)
    }
    table_end()
}

# What campaigns trigger, or not even that, and an expectation of the corpus sees.
function corpus_alone(which,   i, fault) {
    table("fault\tclass\tfile\tplace\ttriggered", "| --- | --- | --- | --- | --- |")
    for (i = 1; i <= fault_count; i++) {
        fault = faults[i]
        if (family[fault] == which && state(fault) == "corpus")
            row(name[fault] "\t" class[fault] "\t" file[fault] "\t" place[fault] "\t" (triggered[fault] ? "yes" : "no"))
    }
    table_end()
}

function family_part(which, what,   i, oracle) {
    sum(which, "")
    if (!total["faults"]) return
    title(what, 2)
    family_table(which)
    title("Not detected", 3)
    survivors(which)
    if (which == "named") {
        title("Found late or not on every seed: a median of 200 cases or more", 3)
        list(which, 200)
        title("Seen by the corpus alone", 3)
        corpus_alone(which)
    }
    if (format == "html") { title("Every fault", 3); list(which, 0) }
}

END {
    if (format == "html") {
        print "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>simtfuzz: the grade</title><style>"
        print "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:90em;padding:0 1em;color:#222}table{border-collapse:collapse;margin:1em 0}"
        print "th,td{padding:.25em .6em;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}th{background:#f3f3f3;position:sticky;top:0}td.n{text-align:right;font-variant-numeric:tabular-nums}"
        print "tr.escaped td,tr.alarmed td,tr.unbuilt td{background:#fdecea}tr.equivalent td,tr.silent td{color:#777}tr.all td{font-weight:bold}"
        print "@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}th{background:#2a2a2a}th,td{border-color:#3a3a3a}tr.escaped td,tr.alarmed td,tr.unbuilt td{background:#4a1f1c}}</style></head><body>"
    }
    title("The grade of the hunt", 1)
    say("Measured on " date " at commit " commit ": " seeds " campaigns, seeds 1 to " seeds ", of at most " number(budget) " cases, all oracles, default features, each until its first finding. A fault is reached when a changed line is executed in these cases, triggered when a case shows something else than it does in the original, " \
        "detected when a finding that is not known says so. docs/grading.md says how to make this page.")
    family_part("named", "Named faults: wrong rules")
    family_part("auto", "Automatic faults: mutation operators over engine/ and oracle/")
    title("Who speaks first", 2)
    table("oracle\tfaults", "| --- | --- |")
    while (1) {
        best = ""
        for (oracle in spoken) if (best == "" || spoken[oracle] > spoken[best] || (spoken[oracle] == spoken[best] && oracle < best)) best = oracle
        if (best == "") break
        row(best "\t" spoken[best])
        delete spoken[best]
    }
    table_end()
    if (format == "html") print "</body></html>"
}
