/*
 * html_source.c - kernels as people read them. The tokens of the kernel language and of PTX are close
 * enough for one scanner: it colours, it does not judge.
 */
#include "fuzz/report/html.h"

#include <string.h>

static const char *const keywords[] = {
    "kernel", "launch",   "shared",    "global",  "private", "input",  "int",    "void",
    "if",     "else",     "while",     "for",     "do",      "switch", "case",   "default",
    "break",  "continue", "return",    "barrier", "assert",  "assume", "exit",   "goto",
    "block",  "havoc",    "procedure", "expect",  "ssy",     "preBrk", "preRet", "sync",
    "bra",    "call",     "ret",       "brk",     "cont",
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

static bool is_keyword(const char *word, size_t length)
{
    if (length > 1 && *word == '.')
        return true; /* .reg, .entry: directives of PTX */
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strlen(keywords[i]) == length && memcmp(keywords[i], word, length) == 0)
            return true;
    return false;
}

static void put_token(FILE *out, const char *class, const char *text, size_t length)
{
    fprintf(out, "<span class=\"%s\">", class);
    markup_bytes(out, text, length);
    fputs("</span>", out);
}

/* One line; *comment: whether it starts, and then ends, within a comment. */
static void put_line(FILE *out, const char *at, size_t left, bool *comment)
{
    while (left > 0) {
        size_t length = 1;
        if (*comment || (left > 1 && at[0] == '/' && at[1] == '*')) {
            size_t from = *comment ? 0 : 2;
            *comment = true;
            for (length = from; length < left; length++)
                if (length >= from + 1 && at[length - 1] == '*' && at[length] == '/') {
                    *comment = false;
                    length++;
                    break;
                }
            put_token(out, "c", at, length);
        } else if (left > 1 && at[0] == '/' && at[1] == '/') {
            length = left;
            put_token(out, "c", at, length);
        } else if (is_word(*at)) {
            while (length < left && is_word(at[length]))
                length++;
            if (*at >= '0' && *at <= '9')
                put_token(out, "n", at, length);
            else if (is_keyword(at, length))
                put_token(out, "k", at, length);
            else
                markup_bytes(out, at, length);
        } else {
            while (length < left && !is_word(at[length]) && at[length] != '/')
                length++;
            markup_bytes(out, at, length);
        }
        at += length;
        left -= length;
    }
}

void html_source(FILE *out, const char *text, uint32_t here)
{
    bool comment = false;
    fputs("<pre class=\"code\"><code>", out);
    for (uint32_t line = 1; *text; line++) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "<span class=\"l%s\">", line == here ? " here" : "");
        put_line(out, text, length, &comment);
        fputs("</span>", out);
        text += length + (text[length] == '\n');
    }
    fputs("</code></pre>\n", out);
}
