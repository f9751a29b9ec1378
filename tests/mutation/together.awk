# The table of buckets.sh together=N: of two faults planted in one program, whether the causes that each has alone are
# shown. From lines "fault class seed case raw_key signature cause", first of one fault a program, then of
# "fault + fault".
BEGIN {
    FS = "\t"
    print "| faults | first shown | second shown | causes both have alone | causes that none has alone |"
    print "| --- | --- | --- | --- | --- |"
}

FNR == NR { alone[$1, $7]; next }

!(($1, $7) in told) { told[$1, $7]; causes[$1] = causes[$1] (causes[$1] == "" ? "" : "\t") $7 }

END {
    for (pair in causes) {
        split(pair, name, " \\+ ")
        n = split(causes[pair], list, "\t")
        first = second = both = none = ""
        for (i = 1; i <= n; i++) {
            a = (name[1], list[i]) in alone
            b = (name[2], list[i]) in alone
            text = "`" list[i] "`<br>"
            if (a) first = "yes"
            if (b) second = "yes"
            if (a && b) both = both text
            if (!a && !b) none = none text
        }
        gsub(/\|/, "\\|", both); gsub(/\|/, "\\|", none)
        printf "| %s | %s | %s | %s | %s |\n", pair, first ? first : "no", second ? second : "no", both, none | "sort"
    }
}
