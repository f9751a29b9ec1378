# Writes texts that are a little other than those given: one to three changes of tokens or lines each, drawn by a
# generator of our own (so by every awk alike). A token goes, comes twice, changes places with the next one, becomes one of
# the same kind out of any of the texts; a number becomes a bound, an operator another one, a number or name
# stands in so many parentheses or behind so many signs; a line goes, comes twice or as many times as a bound, or changes
# places with the next one. Some of them are refused, at other places of the readers and for other reasons; the
# others execute what nobody thought of writing.
#
#     awk -f vary.awk -v count=N -v giving=N -v ending=E TEXT...
#
# The first `giving` texts only give tokens. Of each other one, F, it writes `count`, F.0.E, F.1.E, .., into this folder;
# they depend on F and on the texts that give, not on the others.
function below(bound) {
    state = (state * 69069 + 12345) % 4294967296
    return int(state / 65536) % bound
}

# 0: spaces, 1: a name, 2: a number, 3: an operator, 4: a modifier, 5: anything else; 6: a keyword or operation,
# 7: a place, 8: a function (split_line)
function kind_of(token) {
    if (token ~ /^[ \t]/) return 0
    if (token ~ /^[A-Za-z_$%]/) return 1
    if (token ~ /^[0-9]/) return 2
    if (token ~ /^[-<>=!&|+*\/^~]/) return 3
    return token ~ /^[.][A-Za-z]/ ? 4 : 5
}

# A line's tokens into token[1..] and kind[1..]; how many.
function split_line(text, n, i, j, before, after) {
    n = 0
    while (text != "") {
        if (!match(text, /^[.]?[A-Za-z_$%][A-Za-z0-9_$]*/) && !match(text, /^[0-9][0-9A-Za-z]*/) &&
            !match(text, /^[ \t]+/) && !match(text, /^[-<>=!&|+*\/^~]+/))
            RLENGTH = 1
        token[++n] = substr(text, 1, RLENGTH)
        kind[n] = kind_of(token[n])
        text = substr(text, RLENGTH + 1)
    }
    # Names of functions, of places, of operations: each in their own kind.
    before = ""
    for (i = 1; i <= n; i++)
        if (kind[i] > 0) {
            j = next_token(i, n)
            after = j <= n ? token[j] : ""
            if (kind[i] == 1)
                kind[i] = (token[i] in keyword) || (before == "" && ending == "ptx" && after != ":") ? 6 : (before ~ /^(goto|call|bra)$/ || after == ":" ? 7 : (after == "(" ? 8 : 1))
            before = token[i]
        }
    return n
}

function times(text, n, all) {
    for (all = ""; n > 0; n--) all = all text
    return all
}

function next_token(i, n) {
    for (i++; i <= n && kind[i] == 0; i++) { }
    return i
}

# Changes a token of a text's line.
function change_token(line, n, i, j, how, many, was, text) {
    n = split_line(line)
    if (n == 0) return line
    for (j = 0; j < 9; j++) {
        i = 1 + below(n)
        if (kind[i] > 0 && !(mild && kind[i] > 4 && kind[i] < 7)) break
    }
    if (j == 9) return line
    how = mild ? 9 + below(7) : below(16)
    j = next_token(i, n)
    was = token[i]
    if (how == 0) token[i] = ""
    else if (how == 1) token[i] = was " " was
    else if (how == 2 && kind[i] < 3) {
        many = split("1 2 15 16 17 62 63 64 65 198 199 200 201", sizes, " ")
        many = sizes[1 + below(many)]
        token[i] = below(3) == 0 ? times("~", many) was : times("(", many) was times(")", many)
    } else if (how < 6 && j <= n && kind[j] == kind[i]) { token[i] = token[j]; token[j] = was }
    else if (how > 12 && kind[i] == 2) token[i] = bound[1 + below(bounds)]
    else if (kind[i] == 5) token[i] = substr("(){}[];,:?@!_.", 1 + below(14), 1)
    else if (known[kind[i]] == 0) return line
    else if (how < 9 || mild && (kind[i] == 3 || kind[i] == 4)) token[i] = words[kind[i], below(known[kind[i]])]
    else if (owned[kind[i]] > 0) token[i] = own[kind[i], below(owned[kind[i]])]
    text = ""
    for (i = 1; i <= n; i++) text = text token[i]
    return text
}

function change_line(n, i, how, line, many) {
    # Not a long line; seldom a comment or a claim, an empty one or a bracket; mildly only what stands within others.
    for (how = 0; how < 40; how++) {
        i = 1 + below(n)
        if (length(copy[i]) > 400) continue
        if (copy[i] ~ /^\/\/ simtfuzz/ || copy[i] !~ /^(\/\/|\/\*| \*|expect|[ \t]*[{}]?$)/ && (!mild || copy[i] ~ /^[ \t]/)) break
    }
    if (how == 40) return
    how = below(mild ? 48 : 32)
    if (mild && copy[i] !~ /;$/) how = 31
    line = copy[i]
    if (how == 0) copy[i] = ""
    else if (how == 1) copy[i] = line "\n" line
    else if (how == 2 && i < n && length(copy[i + 1]) <= 400) { copy[i] = copy[i + 1]; copy[i + 1] = line }
    else if (how == 3) {
        many = split(ending == "litmus" ? "2" : "3 9 16 17 32 33 64 65 129", sizes, " ")
        copy[i] = times(line "\n", sizes[1 + below(many)])
    } else if (line !~ /\n/) copy[i] = change_token(line)
}

BEGIN {
    LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.+"
    n = split("assert assume barrier blocks bid break call case choose const continue default do else exit expect final for function " \
        "global goto havoc if input int kernel launch local lockstep private return shared switch threads tid void warp while", listed, " ")
    for (i = 1; i <= n; i++) keyword[listed[i]]
    bounds = split("0 1 2 3 4 7 8 9 15 16 17 31 32 33 63 64 65 127 128 255 256 257 1023 1024 1025 4095 4096 4097 65535 65536 65537 " \
        "1048576 4194304 16777217 2147483647 2147483648 4294967295 4294967296 9223372036854775807 18446744073709551615 " \
        "18446744073709551616 0x80000000 0xffffffff 0b101 017 0f3F800000 0d7FF0000000000000", bound, " ")
}

# A line's tokens; 0 where it says little.
function telling(line) {
    return length(line) > 400 || line ~ /^(\/[\/*]| \*)/ ? 0 : split_line(line)
}

# Of texts that give each token counts once, of a text's own as often as it stands there.
function note(line, n, i) {
    n = telling(line)
    for (i = 1; i <= n; i++)
        if (kind[i] > 0 && kind[i] != 5 && !((kind[i], token[i]) in seen)) {
            seen[kind[i], token[i]]
            words[kind[i], known[kind[i]]++] = token[i]
        }
}

function note_own(line, n, i) {
    n = telling(line)
    for (i = 1; i <= n; i++) own[kind[i], owned[kind[i]]++] = token[i]
}

FNR == 1 {
    path[++texts] = FILENAME
}

{
    text[texts, FNR] = $0
    lines[texts] = FNR
    if (texts <= giving) note($0)
}

END {
    for (of = giving + 1; of <= texts; of++) {
        name = path[of]
        sub(/.*\//, "", name)
        sub(/[.][a-z]*$/, "", name)
        state = 0
        for (i = 1; i <= length(name); i++) state = (state * 31 + index(LETTERS, substr(name, i, 1))) % 16777216
        split("", owned)
        for (i = 1; i <= lines[of]; i++) note_own(text[of, i])
        for (number = 0; number < count; number++) {
            for (i = 1; i <= lines[of]; i++) copy[i] = text[of, i]
            mild = number % 4
            for (changes = 1 + below(3); changes > 0; changes--) change_line(lines[of])
            to = name "." number "." ending
            for (i = 1; i <= lines[of]; i++) print copy[i] >to
            close(to)
        }
    }
}
