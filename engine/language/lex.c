#include "engine/language/lex.h"

#include <string.h>

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

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A byte that can stand outside comments. */
static bool is_known(char c)
{
    return c != '\0' && (is_name(c) || is_blank(c) || strchr("()[]{};,:?=<>+-*/%&|^!~", c));
}

void lex_init(struct lexer *lexer, const char *source, size_t length, struct diag *diag)
{
    static const char mark[] = "\xef\xbb\xbf"; /* what some editors put before UTF-8 */
    if (length >= 3 && memcmp(source, mark, 3) == 0) {
        source += 3;
        length -= 3;
    }
    *lexer = (struct lexer){
        .end = source + length, .next = source, .line_start = source, .line = 1, .diag = diag};
}

static struct location here(const struct lexer *lexer)
{
    return (struct location){lexer->line, (uint32_t)(lexer->next - lexer->line_start) + 1};
}

static void complain(const struct lexer *lexer, struct location at, const char *message)
{
    if (lexer->diag)
        diag_error(lexer->diag, at, "%s", message);
}

/* The byte `ahead` places on, 0 behind the end. */
static char peek(const struct lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->next) > ahead ? lexer->next[ahead] : '\0';
}

static void step(struct lexer *lexer)
{
    if (*lexer->next++ == '\n') {
        lexer->line++;
        lexer->line_start = lexer->next;
    }
}

static void skip_comment(struct lexer *lexer)
{
    struct location start = here(lexer);
    lexer->next += 2;
    while (lexer->next < lexer->end) {
        if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
            lexer->next += 2;
            return;
        }
        step(lexer);
    }
    complain(lexer, start, "this comment is not closed");
}

static void skip_blank(struct lexer *lexer)
{
    while (lexer->next < lexer->end) {
        if (is_blank(*lexer->next)) {
            step(lexer);
        } else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/') {
            const char *stop = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
            lexer->next = stop ? stop : lexer->end;
        } else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') {
            skip_comment(lexer);
        } else {
            return;
        }
    }
}

/* 99: no digit of any base. */
static uint32_t digit_value(char c)
{
    if (is_digit(c))
        return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (uint32_t)(c - 'A') + 10;
    return 99;
}

/* Decimal or hexadecimal; all that follows as if it belonged to a name must be a digit. A leading 0
 * would mean octal to a reader of C, so it is refused. */
static void lex_number(struct lexer *lexer, struct token *token)
{
    bool hex = peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X');
    bool octal = peek(lexer, 0) == '0' && is_digit(peek(lexer, 1));
    bool overflow = false, bad = hex && !is_name(peek(lexer, 2));
    uint32_t base = hex ? 16 : 10;
    for (lexer->next += hex ? 2 : 0; is_name(peek(lexer, 0)); lexer->next++) {
        uint32_t digit = digit_value(*lexer->next);
        bad |= digit >= base;
        overflow |= token->number > (UINT64_MAX - digit) / base;
        token->number = token->number * base + digit;
    }
    token->length = (uint32_t)(lexer->next - token->text);
    if (!bad && !overflow && !octal)
        return;
    token->kind = TOKEN_INVALID;
    complain(lexer, token->at,
             bad     ? "malformed number"
             : octal ? "a number does not start with 0: there is no octal"
                     : "this number is too large");
}

static void lex_punct(struct lexer *lexer, struct token *token)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                        "+=", "-=", "*=", "^=", "|=", "&=", "++", "--"};
    token->length = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (peek(lexer, 0) == pairs[i][0] && peek(lexer, 1) == pairs[i][1])
            token->length = 2;
    lexer->next += token->length;
}

/* A run of bytes that the language does not know is one error. */
static void lex_unknown(struct lexer *lexer, struct token *token)
{
    unsigned char byte = (unsigned char)*lexer->next;
    while (lexer->next < lexer->end && !is_known(*lexer->next))
        lexer->next++;
    token->length = (uint32_t)(lexer->next - token->text);
    if (!lexer->diag)
        return;
    if (byte > 0x20 && byte < 0x7f)
        diag_error(lexer->diag, token->at, "unexpected character '%c'", byte);
    else
        diag_error(lexer->diag, token->at, "unexpected byte 0x%02x", byte);
}

struct token lex_next(struct lexer *lexer)
{
    skip_blank(lexer);
    struct token token = {.kind = TOKEN_END, .at = here(lexer), .text = lexer->next};
    if (lexer->next == lexer->end)
        return token;
    if (is_digit(*lexer->next)) {
        token.kind = TOKEN_NUMBER;
        lex_number(lexer, &token);
    } else if (is_name_start(*lexer->next)) {
        token.kind = TOKEN_NAME;
        while (is_name(peek(lexer, 0)))
            lexer->next++;
        token.length = (uint32_t)(lexer->next - token.text);
    } else if (is_known(*lexer->next)) {
        token.kind = TOKEN_PUNCT;
        lex_punct(lexer, &token);
    } else {
        token.kind = TOKEN_INVALID;
        lex_unknown(lexer, &token);
    }
    return token;
}

struct token lex_word(struct lexer *lexer, const struct token *from)
{
    struct token word = *from;
    lexer->next = from->text + from->length;
    while (is_name(peek(lexer, 0)) ||
           (peek(lexer, 0) != '\0' && strchr("-.=", peek(lexer, 0)) && is_name(peek(lexer, 1))))
        lexer->next++;
    word.length = (uint32_t)(lexer->next - word.text);
    return word;
}
