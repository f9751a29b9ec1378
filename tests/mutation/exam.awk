# The table of exam.sh: how many faults each asker finds by itself, and all before it together; the processor time
# until a campaign's first finding, over those found, and over all with a miss counted as what it took.
BEGIN { FS = "\t"; n = split("campaign corpus golden units", askers, " ") }
$4 == "unbuilt" { unbuilt++; next }
{
    fault[$1]
    asked[$3]++
    at[$1, $3] = $4
    if ($4 == "found") found[$3]++
    if ($3 == "campaign") { all[++all_count] = $5; if ($4 == "found") hit[++hits] = $5 }
}
function sort_numbers(a, count,    i, j, value) {
    for (i = 2; i <= count; i++) {
        value = a[i] + 0
        for (j = i - 1; j > 0 && a[j] + 0 > value; j--) a[j + 1] = a[j]
        a[j + 1] = value
    }
}
function quantile(a, count, q,    i) { i = int(q * count + 0.999); return count ? a[i < 1 ? 1 : i] : "-" }
END {
    for (f in fault) faults++
    printf "%d faults", faults
    if (unbuilt) printf ", %d more that do not build", unbuilt
    printf "\n\n| asked | faults | found alone | found with all above |\n| --- | --- | --- | --- |\n"
    for (i = 1; i <= n; i++) {
        if (!asked[askers[i]]) continue
        together = 0
        for (f in fault) {
            if (at[f, askers[i]] == "found") sum[f] = 1
            together += sum[f]
        }
        printf "| %s | %d | %d | %d |\n", askers[i], asked[askers[i]], found[askers[i]], together
    }
    sort_numbers(all, all_count)
    sort_numbers(hit, hits)
    printf "\nCPU seconds of a campaign to its first finding: median %s, 90th percentile %s of those found; ",
        quantile(hit, hits, 0.5), quantile(hit, hits, 0.9)
    printf "%s and %s with a miss counted as the whole campaign.\n", quantile(all, all_count, 0.5), quantile(all, all_count, 0.9)
}
