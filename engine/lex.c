#include "engine/lex.h"

#include <string.h>

static const char *const puncts[] = {
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "^=", "|=",
    "&=", "++", "--", "(",  ")",  "{",  "}",  "[",  "]",  ";",  ",",  ":",  "?",
    "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "!",  "~",
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

void lex_init(struct lexer *lexer, const char *source, size_t length, struct diag *diag)
{
    *lexer = (struct lexer){.source = source,
                            .end = source + length,
                            .next = source,
                            .line_start = source,
                            .line = 1,
                            .diag = diag};
}

static struct location here(const struct lexer *lexer)
{
    return (struct location){lexer->line, (uint32_t)(lexer->next - lexer->line_start) + 1};
}

static void newline(struct lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->next;
}

static void skip_comment(struct lexer *lexer)
{
    struct location start = here(lexer);
    lexer->next += 2;
    while (lexer->next < lexer->end) {
        char c = *lexer->next++;
        if (c == '\n')
            newline(lexer);
        if (c == '*' && lexer->next < lexer->end && *lexer->next == '/') {
            lexer->next++;
            return;
        }
    }
    diag_error(lexer->diag, start, "this comment is not closed");
}

static void skip_blank(struct lexer *lexer)
{
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        bool two = lexer->end - lexer->next >= 2;
        if (c == '\n') {
            lexer->next++;
            newline(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->next++;
        } else if (two && c == '/' && lexer->next[1] == '/') {
            const char *stop = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
            lexer->next = stop ? stop : lexer->end;
        } else if (two && c == '/' && lexer->next[1] == '*') {
            skip_comment(lexer);
        } else {
            return;
        }
    }
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Decimal or hexadecimal; everything that follows as if it belonged to a name must be a digit. */
static void lex_number(struct lexer *lexer, struct token *token)
{
    uint64_t base = 10, value = 0;
    const char *at = lexer->next;
    bool overflow = false, bad = false;
    if (*at == '0' && lexer->end - at > 2 && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    for (; at < lexer->end && is_name(*at); at++) {
        uint64_t digit = (uint64_t)digit_value(*at);
        bad |= digit >= base;
        overflow |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    token->length = (uint32_t)(at - lexer->next);
    token->number = value;
    lexer->next = at;
    if (bad || overflow) {
        token->kind = TOKEN_INVALID;
        diag_error(lexer->diag, token->at, bad ? "malformed number" : "this number is too large");
    }
}

static bool lex_punct(struct lexer *lexer, struct token *token)
{
    size_t left = (size_t)(lexer->end - lexer->next);
    for (size_t i = 0; i < sizeof puncts / sizeof puncts[0]; i++) {
        size_t length = strlen(puncts[i]);
        if (length <= left && memcmp(lexer->next, puncts[i], length) == 0) {
            token->length = (uint32_t)length;
            lexer->next += length;
            return true;
        }
    }
    return false;
}

struct token lex_next(struct lexer *lexer)
{
    skip_blank(lexer);
    struct token token = {.kind = TOKEN_END, .at = here(lexer), .text = lexer->next};
    if (lexer->next == lexer->end)
        return token;
    char c = *lexer->next;
    if (is_digit(c)) {
        token.kind = TOKEN_NUMBER;
        lex_number(lexer, &token);
    } else if (is_name_start(c)) {
        token.kind = TOKEN_NAME;
        while (lexer->next < lexer->end && is_name(*lexer->next))
            lexer->next++;
        token.length = (uint32_t)(lexer->next - token.text);
    } else if (lex_punct(lexer, &token)) {
        token.kind = TOKEN_PUNCT;
    } else {
        token.kind = TOKEN_INVALID;
        token.length = 1;
        unsigned char byte = (unsigned char)c;
        if (byte > 0x20 && byte < 0x7f)
            diag_error(lexer->diag, token.at, "unexpected character '%c'", c);
        else
            diag_error(lexer->diag, token.at, "unexpected byte 0x%02x", byte);
        lexer->next++;
    }
    return token;
}

struct token lex_word(struct lexer *lexer, const struct token *from)
{
    struct token word = *from;
    const char *at = from->text;
    while (at < lexer->end &&
           (is_name(*at) || *at == '-' ||
            (*at == '=' && at + 1 < lexer->end && at[1] != '=' && at[-1] != '=')))
        at++;
    word.length = (uint32_t)(at - from->text);
    lexer->next = at;
    return word;
}
