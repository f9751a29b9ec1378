# What stands above the function of each rule - its premises and its conclusion, drawn -, as a table in C, and where.
#     awk -v out=view_rules.c -f view_rules.awk engine/machine/rules.def engine/*/*.c engine/*/*.h
# A rule that shares its function's drawing with the one before it has none of its own above it: then that one is meant.
# What gsub makes of backslashes differs between awks.
function literal(text,    i, c, out) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        out = out (c == "\\" || c == "\"" ? "\\" c : c == "\n" ? "\\n\"\n        \"" : c)
    }
    return out
}
FNR == 1 {
    reads_rules = FILENAME ~ /rules\.def$/
    above = drawn = comment = ""
    inside = 0
}
reads_rules && /^RULE/ {
    row = $0
    function_name = ""
    if (sub(/^RULE_AS\(/, "", row)) {
        function_name = row
        sub(/,.*/, "", function_name)
        sub(/^[^,]*, */, "", row)
    } else
        sub(/^RULE\(/, "", row)
    sub(/,.*/, "", row)
    ids[++count] = row
    functions[count] = function_name == "" ? tolower(row) : function_name
}
reads_rules { next }
/^\/\*/ {
    inside = 1
    comment = ""
    is_drawing = /^\/\*  /
}
inside {
    line = $0
    ends = sub(/ *\*\/ *$/, "", line)
    sub(/^\/?[ ]?\*+/, "", line)
    sub(/^ /, "", line)
    comment = comment line "\n"
    if (ends) {
        inside = 0
        above = comment
        if (is_drawing)
            drawn = comment
    }
    next
}
# A function's first line; what its parameters look like does not matter.
/^[A-Za-z].*\(/ && !/;[ ]*$/ {
    line = $0
    sub(/STEP_NAME\(/, "", line)
    sub(/[()].*/, "", line)
    sub(/.*[ *]/, "", line)
    if (!(line in texts)) {
        texts[line] = above != "" ? above : drawn
        places[line] = FILENAME ":" FNR
        sub(/.*\/engine\//, "engine/", places[line])
    }
}
!/^[A-Za-z]/ || /^}/ { above = "" }
END {
    print "/* Made from what stands above the functions of the rules, by fuzz/view/view_rules.awk. */" >out
    print "#include \"fuzz/view/view.h\"\n\nconst char *const view_rule_texts[RULE_COUNT] = {" >out
    for (i = 1; i <= count; i++) {
        text = functions[i] in texts ? texts[functions[i]] : ""
        sub(/^ */, "", text)
        sub(/\n+$/, "", text)
        printf "    [RULE_%s] =\n        \"%s\",\n", ids[i], literal(text) >out
    }
    print "};\n\nconst char *const view_rule_places[RULE_COUNT] = {" >out
    for (i = 1; i <= count; i++)
        printf "    [RULE_%s] = \"%s in %s\",\n", ids[i], functions[i], places[functions[i]] >out
    print "};" >out
}
