# Texts that explain: the smallest kernel of each rule, the errata, the words, the known divergences, what classes of
# findings mean, and execution models, from where they are kept, as a table in C. Words are the rows of glossary.md, and
# those of tables `| .. | means |` of other pages.
#     awk -v out=explain_texts.c -f explain_texts.awk corpus/rules/* docs/errata.md docs/oracles.md docs/glossary.md \
#         docs/checking.md docs/progress.md docs/kernel-language.md engine/kernel/progress.def engine/kernel/stackless.def
function literal(text,    i, c, result) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        result = result (c == "\\" || c == "\"" || c == "?" ? "\\" c : c)
    }
    return "\"" result "\""
}
function finish() {
    if (kind != "")
        print "NULL};" >out
    kind = ""
}
function start(a_kind, a_name) {
    finish()
    kind = a_kind
    kinds[++count] = a_kind
    names[count] = a_name
    printf "static const char *const lines_%d[] = {", count >out
}
function put(line) {
    if (kind != "")
        printf "%s,\n    ", literal(line) >out
}
function row(a_kind, a_name, line) {
    start(a_kind, a_name)
    put(line)
    finish()
}
# "| a | b | c |" into cells[1..], without the marks of code.
function split_row(    i) {
    text = $0
    gsub(/\\\|/, "\001", text)
    cell_count = split(text, cells, "|") - 2
    for (i = 1; i <= cell_count; i++) {
        cells[i] = cells[i + 1]
        gsub(/\001/, "|", cells[i])
        gsub(/^ +| +$/, "", cells[i])
    }
}
BEGIN {
    print "/* Made from corpus/rules and docs by fuzz/explain/explain_texts.awk. */" >out
    print "#include \"fuzz/explain/explain.h\"\n\n#include <stddef.h>\n" >out
}
FNR == 1 {
    finish()
    where = FILENAME
    sub(/.*\//, "", where)
    in_code = is_kernel = 0
    section = ""
    if (FILENAME ~ /corpus\/rules\//) {
        is_kernel = 1
        start("EXPLAIN_KERNEL", where)
    }
}
is_kernel { put($0); next }
/^```/ { in_code = !in_code }
where == "errata.md" && /^#/ && !in_code {
    finish()
    if ($0 ~ /^## [A-Z]+[-.][0-9]+.*: /) {
        section = $2
        sub(/:$/, "", section)
        start("EXPLAIN_ERRATUM", section)
        line = $0
        sub(/^## [^ ]* /, "", line)
        put(line)
    }
    next
}
where == "errata.md" && /^\| [A-Z]+[-.][0-9]+ \|/ && !in_code {
    split_row()
    row("EXPLAIN_ERRATUM", cells[1], cells[2] ": printed is: " cells[3])
    if (cell_count > 3)
        row("EXPLAIN_ERRATUM_HERE", cells[1], cells[4])
    next
}
where == "errata.md" && /^```/ { next }
where == "errata.md" { put(in_code ? "    " $0 : $0); next }
/^## / {
    section = tolower(substr($0, 4))
    next
}
where == "oracles.md" && /^\|/ {
    split_row()
    if (cells[1] ~ /^-+$/ || cells[1] == "class" || cells[1] == "id")
        next
    if (section == "known divergences")
        row("EXPLAIN_KNOWN", cells[1], "oracle " cells[2] ": " cells[3])
    else if (cell_count == 3 && cells[1] ~ /^`/) {
        gsub(/`/, "", cells[1])
        row("EXPLAIN_CLASS", section "|" cells[1], cells[2] ": " cells[3])
    }
    next
}
where == "glossary.md" && /^\| / {
    split_row()
    if (cells[1] !~ /^-+$/ && cells[1] != "word")
        row("EXPLAIN_WORD", cells[1], cells[2])
    next
}
where ~ /\.md$/ && !/^\|/ { words = 0 }
where ~ /\.md$/ && /^\|/ {
    split_row()
    if (cells[2] == "means")
        words = 1
    else if (words && cells[1] !~ /^(-+|[0-9]+)$/) {
        gsub(/`/, "", cells[1])
        for (i = split(cells[1], several, /, */); i > 0; i--)
            row("EXPLAIN_WORD", several[i], cells[2])
    }
    next
}
/^MODEL\(/ {
    split($0, cells, "\"")
    row("EXPLAIN_WORD", cells[2], "a progress model. Who must be let run again and again: " cells[4])
}
/^POLICY\(/ {
    split($0, cells, "\"")
    for (i = 0; i < 2; i++)
        row("EXPLAIN_WORD", (i ? "stackless:" : "") cells[2], "a policy of warps without a stack. What steps next: " cells[4])
}
END {
    finish()
    print "\nconst struct explain_text explain_texts[] = {" >out
    for (i = 1; i <= count; i++)
        printf "    {%s, %s, lines_%d},\n", kinds[i], literal(names[i]), i >out
    print "    {EXPLAIN_KERNEL, NULL, NULL},\n};" >out
}
