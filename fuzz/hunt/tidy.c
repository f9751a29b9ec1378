#include "fuzz/hunt/tidy.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* ---- what is for compilers without headers ---- */

/* Of #ifdef SIMTFUZZ_BARE .. #else .. #endif the part that is compiled. */
static const char *choose_part(struct arena *arena, const char *text, enum tidy_bare bare)
{
    static const char begin[] = "#ifdef SIMTFUZZ_BARE\n", other[] = "#else\n", last[] = "#endif\n";
    if (bare == TIDY_BOTH || strncmp(text, begin, strlen(begin)) != 0)
        return text;
    const char *first = text + strlen(begin), *end = strstr(first, last);
    const char *second = strstr(first, other);
    if (!end)
        return text;
    const char *half = second && second < end ? second : end;
    const char *from = bare == TIDY_BARE ? first : half < end ? half + strlen(other) : end;
    const char *to = bare == TIDY_BARE ? half : end;
    return arena_printf(arena, "%.*s%s", (int)(to - from), from, end + strlen(last));
}

/* ---- parentheses ---- */

/* Where the parenthesis at `at` is closed. */
static size_t closing(const char *text, size_t at)
{
    size_t depth = 0;
    for (; text[at]; at++) {
        depth += text[at] == '(';
        depth -= text[at] == ')';
        if (depth == 0)
            break;
    }
    return at;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && strncmp(text + length - size, end, size) == 0;
}

/* "((x))" is "(x)", but behind __attribute__. */
static bool is_double(const char *text, size_t at, size_t end)
{
    return text[at + 1] == '(' && closing(text, at + 1) == end - 1 &&
           !ends_with(text, at, "__attribute__");
}

/* A name or a number, perhaps with an index or arguments that hold no further parentheses. */
static bool is_atom(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == '.'))
        i++;
    if (i == 0 || i == length)
        return i == length && length > 0;
    char close = text[i] == '(' ? ')' : text[i] == '[' ? ']' : '\0';
    return close && text[length - 1] == close && !memchr(text + i + 1, '(', length - i - 1) &&
           memchr(text + i, close, length - i) == text + length - 1;
}

/* "(int)(x)" is "(int)x" for such an x. */
static bool is_cast_of_atom(const char *text, size_t at, size_t end)
{
    static const char *const casts[] = {"(int)", "(uint)", "(long)", "(ulong)", "long long)"};
    size_t from = at + 1;
    bool is_cast = false;
    for (size_t i = 0; i < sizeof casts / sizeof casts[0]; i++) {
        is_cast |= ends_with(text, at, casts[i]);
        if (strncmp(text + at, casts[i], end + 1 - at) == 0)
            return false; /* a cast itself */
        if (strncmp(text + from, casts[i], strlen(casts[i])) == 0)
            from += strlen(casts[i]);
    }
    return is_cast && from < end && is_atom(text + from, end - from);
}

/* Takes away one pair; false: there is none. Preprocessor lines stay as they are. */
static bool drop_one(char *text, size_t *at)
{
    for (; text[*at]; ++*at) {
        if (text[*at] == '#')
            *at += strcspn(text + *at, "\n") - 1;
        if (text[*at] != '(')
            continue;
        size_t end = closing(text, *at);
        if (!text[end] || !(is_double(text, *at, end) || is_cast_of_atom(text, *at, end)))
            continue;
        memmove(text + end, text + end + 1, strlen(text + end));
        memmove(text + *at, text + *at + 1, strlen(text + *at));
        return true;
    }
    return false;
}

/* ---- lines ---- */

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* The line behind; at the end of the text, the empty one there. */
static const char *next_line(const char *line)
{
    line += line_length(line);
    return line + (*line == '\n');
}

/* "int f(int a);" in front of "int f(int a)", where nothing needs it. */
static bool is_idle_prototype(const char *line)
{
    const char *next = next_line(line);
    size_t length = line_length(line);
    return length > 2 && line[length - 1] == ';' && line_length(next) == length - 1 &&
           strncmp(line, next, length - 1) == 0;
}

/* "    return 0;" behind another return. */
static bool is_idle_return(const char *text, const char *line)
{
    static const char idle[] = "    return 0;\n", any[] = "    return ";
    const char *before = line - 1;
    if (line == text || strncmp(line, idle, strlen(idle)) != 0)
        return false;
    while (before > text && before[-1] != '\n')
        before--;
    return strncmp(before, any, strlen(any)) == 0;
}

/* "    k0_end:;" that no goto names. */
static bool is_idle_label(struct arena *arena, const char *text, const char *line)
{
    const char *name = line + strspn(line, " ");
    size_t length = strcspn(name, ":\n");
    return strncmp(name + length, ":;\n", 3) == 0 &&
           !strstr(text, arena_printf(arena, "goto %.*s;", (int)length, name));
}

/* "    int x;" in front of "    x = ..": where " = .." stands. NULL: it is something else. */
static const char *find_value(const char *text, const char *line)
{
    const char *next = next_line(line), *name = line + line_length(line);
    size_t blanks = strspn(line, " ");
    while (name > line && name[-1] != ' ')
        name--;
    size_t length = line_length(name);
    if (name == line + blanks || length < 2 || name[length - 1] != ';' ||
        memchr(name, '[', length) || strspn(next, " ") != blanks || strstr(text, "goto "))
        return NULL;
    const char *value = next + blanks + length - 1;
    return strncmp(next + blanks, name, length - 1) == 0 && strncmp(value, " = ", 3) == 0 ? value
                                                                                          : NULL;
}

static const char *drop_lines(struct arena *arena, const char *text)
{
    char *copy = ARENA_ARRAY(arena, char, strlen(text) + 1), *to = copy;
    for (const char *line = text; *line; line = next_line(line)) {
        size_t length = (size_t)(next_line(line) - line);
        if (is_idle_prototype(line) || is_idle_return(text, line) ||
            is_idle_label(arena, text, line))
            continue;
        const char *value = find_value(text, line);
        length -= value ? strlen(";\n") : 0;
        memcpy(to, line, length);
        to += length;
        if (value) {
            length = (size_t)(next_line(value) - value);
            memcpy(to, value, length);
            to += length;
            line = value; /* what is behind it comes next */
        }
    }
    *to = '\0';
    return copy;
}

/* ---- what says nothing ---- */

/* Takes `idle` out wherever one of `followers` stands behind it. */
static void drop_all(char *text, const char *idle, const char *followers)
{
    size_t length = strlen(idle);
    for (char *at = text; (at = strstr(at, idle)) != NULL;) {
        if (at[length] && strchr(followers, at[length]))
            memmove(at, at + length, strlen(at + length) + 1);
        else
            at += length;
    }
}

const char *tidy_text(struct arena *arena, const char *text, enum tidy_bare bare)
{
    const char *chosen = choose_part(arena, text, bare);
    while (*chosen == '\n')
        chosen++;
    chosen = drop_lines(arena, chosen);
    char *copy = arena_strndup(arena, chosen, strlen(chosen));
    for (size_t at = 0; drop_one(copy, &at);)
        at =
            at > 16 ? at - 16 : 0; /* a cast of what was in double parentheses stands before them */
    drop_all(copy, "(int)", "0123456789");
    drop_all(copy, " + 0", ";");
    return copy;
}
