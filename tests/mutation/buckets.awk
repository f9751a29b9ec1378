# The table of buckets.sh: how well each key tells faults apart, from lines
#     fault class seed case raw_key signature cause
# Precision: of all pairs of examples with one key, how many are of one fault. Recall: of all pairs of one
# fault, how many have one key; "each fault": its mean over the faults, so that one fault with many examples
# does not decide.
BEGIN { FS = "\t" }

function part(text, count,    pieces, i, n, result) {
    n = split(text, pieces, "|")
    for (i = 1; i <= count && i <= n; i++) result = result (i > 1 ? "|" : "") pieces[i]
    return result
}

function pairs(n) { return n * (n - 1) / 2 }

function sort_numbers(a, n,    i, j, value) {
    for (i = 2; i <= n; i++) {
        value = a[i]
        for (j = i - 1; j > 0 && a[j] > value; j--) a[j + 1] = a[j]
        a[j + 1] = value
    }
}

{
    example++
    fault[example] = $1; seed[example] = $3
    key["oracle", example] = part($6, 1)
    key["oracle, class", example] = part($6, 2)
    key["signature before minimisation", example] = $5
    key["signature", example] = $6
    key["cause", example] = $7
    if (!($1 in examples_of)) fault_name[++fault_count] = $1
    examples_of[$1]++
    slipped += $5 != $6
}

function measure(kind,    e, k, f, g, s, i, j, n, members, of_key, of_both, of_seed, keys, buckets, list, same, all, wanted, recall, recalls, shared, max_faults, mixed, mixed_pairs, main, best, agree, compared, key_faults, names, single, sum) {
    for (e = 1; e <= example; e++) {
        k = key[kind, e]; f = fault[e]
        if (!(k in of_key)) keys++
        of_key[k]++
        if (of_both[k SUBSEP f]++ == 0) { buckets[f]++; key_faults[k] = key_faults[k] (key_faults[k] == "" ? "" : "\t") f }
        of_seed[f SUBSEP seed[e] SUBSEP k]++
    }
    for (k in of_key) {
        all += pairs(of_key[k])
        n = split(key_faults[k], names, "\t")
        shared += n > 1
        if (n > max_faults) max_faults = n
        for (i = 1; i <= n; i++) {
            same += pairs(of_both[k SUBSEP names[i]]); own[names[i]] += pairs(of_both[k SUBSEP names[i]])
            for (j = 1; j < i; j++) {
                f = names[i] < names[j] ? names[i] SUBSEP names[j] : names[j] SUBSEP names[i]
                if (!(f in mixed)) mixed_pairs++
                mixed[f]
            }
        }
    }
    for (i = 1; i <= fault_count; i++) {
        f = fault_name[i]
        list[i] = buckets[f]
        single += buckets[f] == 1
        sum += buckets[f]
        wanted += pairs(examples_of[f])
        if (examples_of[f] > 1) { recalls++; recall += own[f] / pairs(examples_of[f]) }
        delete own[f]
    }
    for (s in of_seed) {
        split(s, names, SUBSEP)
        g = names[1] SUBSEP names[2]
        if (of_seed[s] > best[g] || (of_seed[s] == best[g] && names[3] < main[g])) { best[g] = of_seed[s]; main[g] = names[3] }
    }
    for (s in main) for (g in main) {
        split(s, names, SUBSEP); i = names[1]; j = names[2]
        split(g, names, SUBSEP)
        if (i == names[1] && j < names[2]) { compared++; agree += main[s] == main[g] }
    }
    causes = sum; single_causes = single # of the kind that was measured last
    sort_numbers(list, fault_count)
    printf "| %s | %d | %d | %d | %d | %d | %d | %d of %d | %.3f | %.3f | %.3f | %d of %d |\n", kind, keys,
        list[int((fault_count + 1) / 2)], list[fault_count], single, max_faults, shared, mixed_pairs, pairs(fault_count),
        same / (all ? all : 1), same / (wanted ? wanted : 1), recall / (recalls ? recalls : 1), agree, compared
}

END {
    printf "%d faults planted, %d of them found, %d examples; %d whose minimised form has another signature.\n\n", faults, fault_count, example, slipped
    print "| key | keys | keys a fault: median | most | faults with one key | faults a key: most | keys of several faults | pairs of faults with a common key | precision | recall | recall, each fault | most frequent key the same for another seed |"
    print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    measure("oracle")
    measure("oracle, class")
    measure("signature before minimisation")
    measure("signature")
    measure("cause")
    printf "\n%d causes of %d faults, %.2f a fault on average; one for %d of them.\n", causes, fault_count, fault_count ? causes / fault_count : 0, single_causes
}
