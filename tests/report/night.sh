# Sourced behind tests/cli/common.sh: `night DB` makes a database with a past, in a second or two - two campaigns, wrong rules
# (canaries) whose findings are open, one that came back after it was fixed, a known erratum, hostile words.
night() {
    local db=$1 id
    rm -f "$db" "$db"-*
    "$simtfuzz" run --jobs 2 --subjects crs,crs:call-guard-all,crs:target-next,thread-pc --features none,crs,loose --cases 80 \
        --seed 61 --db "$db" >/dev/null 2>&1
    for id in $("$simtfuzz" triage list --db "$db" --json | sed -n 's/^{"id": \([0-9]*\),.*/\1/p'); do
        "$simtfuzz" triage status "$id" open --db "$db" >/dev/null
    done
    "$simtfuzz" triage status 1 fixed --db "$db" >/dev/null
    "$simtfuzz" triage note 2 "$hostile" --db "$db" >/dev/null
    "$simtfuzz" run --jobs 2 --subjects simt,threads,crs,crs:call-guard-all,crs:target-next,thread-pc --features none,loops,crs \
        --oracles simulation,lemmas:strict,result,safety --cases 60 --seed 13 --db "$db" >/dev/null 2>&1
    "$simtfuzz" triage status 'lemmas|lemma-5' open --db "$db" >/dev/null
}
hostile=$'</script></style></pre>--><img src=x onerror="alert(1)"> \'quoted\' ]]> & | `tick` \u202eback @nobody'
