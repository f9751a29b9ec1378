#include "engine/ptx/ptx_lex.h"

#include <stdlib.h>
#include <string.h>

enum { DECIMAL_MAX = 200 }; /* bytes of a decimal floating-point number */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* followsym of the PTX grammar, and what starts an identifier but a letter. */
static bool is_follow(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static bool is_start(char c)
{
    return is_letter(c) || c == '_' || c == '$' || c == '%';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A byte that can stand outside comments and strings. */
static bool is_known(char c)
{
    return c != '\0' && (is_start(c) || is_digit(c) || is_blank(c) ||
                         strchr(".,;:()[]{}<>+-*/!~&|^=?@\"", c) != NULL);
}

void ptx_lex_init(struct ptx_lexer *lexer, const char *source, size_t length, struct diag *diag)
{
    *lexer = (struct ptx_lexer){
        .end = source + length, .next = source, .line_start = source, .line = 1, .diag = diag};
}

static struct location here(const struct ptx_lexer *lexer)
{
    return (struct location){lexer->line, (uint32_t)(lexer->next - lexer->line_start) + 1};
}

static char peek(const struct ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->next) > ahead ? lexer->next[ahead] : '\0';
}

static void step(struct ptx_lexer *lexer)
{
    if (*lexer->next++ == '\n') {
        lexer->line++;
        lexer->line_start = lexer->next;
    }
}

static void skip_comment(struct ptx_lexer *lexer)
{
    struct location start = here(lexer);
    for (lexer->next += 2; lexer->next < lexer->end; step(lexer))
        if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
            lexer->next += 2;
            return;
        }
    diag_error(lexer->diag, start, "this comment is not closed");
}

static void skip_line(struct ptx_lexer *lexer)
{
    const char *stop = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
    lexer->next = stop ? stop : lexer->end;
}

static void skip_blank(struct ptx_lexer *lexer)
{
    while (lexer->next < lexer->end) {
        if (is_blank(*lexer->next))
            step(lexer);
        else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/')
            skip_line(lexer);
        else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*')
            skip_comment(lexer);
        else
            return;
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

static void invalid(struct ptx_lexer *lexer, struct ptx_token *token, const char *message)
{
    token->kind = PTX_TOKEN_INVALID;
    diag_error(lexer->diag, token->at, "%s", message);
}

/* 0f and 8 hexadecimal digits, 0d and 16: the bits of a number. */
static void lex_bits(struct ptx_lexer *lexer, struct ptx_token *token)
{
    bool is_double = peek(lexer, 1) == 'd' || peek(lexer, 1) == 'D';
    uint32_t wanted = is_double ? 16 : 8, digits = 0;
    bool bad = false;
    for (lexer->next += 2; is_follow(peek(lexer, 0)); lexer->next++, digits++) {
        uint32_t digit = digit_value(*lexer->next);
        bad |= digit >= 16;
        token->number = token->number << 4 | (digit & 15);
    }
    token->kind = is_double ? PTX_TOKEN_FLOAT64 : PTX_TOKEN_FLOAT32;
    if (bad || digits != wanted)
        invalid(lexer, token,
                is_double ? "0d takes 16 hexadecimal digits" : "0f takes 8 hexadecimal digits");
}

/* 0x.., 0b.., 0.. (octal), decimal; U behind it. */
static void lex_integer(struct ptx_lexer *lexer, struct ptx_token *token)
{
    char second = peek(lexer, 0) == '0' ? peek(lexer, 1) : '\0';
    uint32_t base = second == 'x' || second == 'X'   ? 16
                    : second == 'b' || second == 'B' ? 2
                    : is_digit(second)               ? 8
                                                     : 10;
    bool bad = false, overflow = false;
    lexer->next += base == 16 || base == 2 ? 2 : 0;
    const char *first = lexer->next;
    while (is_follow(peek(lexer, 0)) && *lexer->next != 'U') {
        uint32_t digit = digit_value(*lexer->next++);
        bad |= digit >= base;
        overflow |= token->number > (UINT64_MAX - digit) / base;
        token->number = token->number * base + digit;
    }
    bad |= lexer->next == first;
    token->is_unsigned = peek(lexer, 0) == 'U' || token->number > INT64_MAX;
    lexer->next += peek(lexer, 0) == 'U';
    bad |= is_follow(peek(lexer, 0));
    token->kind = PTX_TOKEN_INTEGER;
    if (bad)
        invalid(lexer, token, "malformed number");
    else if (overflow)
        invalid(lexer, token, "this number does not fit in 64 bits");
}

/* digits . digits [e [sign] digits]: a double. */
static void lex_decimal(struct ptx_lexer *lexer, struct ptx_token *token, size_t length)
{
    char digits[DECIMAL_MAX + 1], *end;
    token->kind = PTX_TOKEN_FLOAT64;
    lexer->next += length;
    if (length > DECIMAL_MAX) {
        invalid(lexer, token, "this number has too many digits");
        return;
    }
    memcpy(digits, token->text, length);
    digits[length] = '\0';
    double value = strtod(digits, &end);
    memcpy(&token->number, &value, sizeof value);
    if (*end != '\0' || is_follow(peek(lexer, 0)))
        invalid(lexer, token, "malformed number");
}

/* How many bytes a decimal floating-point number here has; 0: it is none. */
static size_t decimal_length(const struct ptx_lexer *lexer)
{
    size_t n = 0;
    while (is_digit(peek(lexer, n)))
        n++;
    bool fraction = peek(lexer, n) == '.';
    for (n += fraction; fraction && is_digit(peek(lexer, n));)
        n++;
    bool exponent = peek(lexer, n) == 'e' || peek(lexer, n) == 'E';
    if (exponent) {
        n += peek(lexer, n + 1) == '+' || peek(lexer, n + 1) == '-' ? 2 : 1;
        while (is_digit(peek(lexer, n)))
            n++;
    }
    return fraction || exponent ? n : 0;
}

static void lex_number(struct ptx_lexer *lexer, struct ptx_token *token)
{
    char second = peek(lexer, 0) == '0' ? peek(lexer, 1) : '\0';
    size_t decimal = decimal_length(lexer);
    if (second != '\0' && strchr("fFdD", second))
        lex_bits(lexer, token);
    else if (decimal > 0)
        lex_decimal(lexer, token, decimal);
    else
        lex_integer(lexer, token);
}

static void lex_string(struct ptx_lexer *lexer, struct ptx_token *token)
{
    token->kind = PTX_TOKEN_STRING;
    token->text = ++lexer->next;
    while (lexer->next < lexer->end && *lexer->next != '"' && *lexer->next != '\n')
        lexer->next +=
            *lexer->next == '\\' && lexer->end - lexer->next > 1 && lexer->next[1] != '\n' ? 2 : 1;
    token->length = (uint32_t)(lexer->next - token->text);
    if (peek(lexer, 0) == '"')
        lexer->next++;
    else
        invalid(lexer, token, "this string is not closed");
}

/* . and letters, digits, _; words may be joined by :: */
static void lex_dot(struct ptx_lexer *lexer, struct ptx_token *token)
{
    token->text = ++lexer->next;
    while (is_follow(peek(lexer, 0)) ||
           (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && is_follow(peek(lexer, 2))))
        lexer->next += *lexer->next == ':' ? 2 : 1;
    token->kind = PTX_TOKEN_DOT;
    token->length = (uint32_t)(lexer->next - token->text);
    if (token->length == 0)
        invalid(lexer, token, "a '.' without a word");
}

static void lex_punct(struct ptx_lexer *lexer, struct ptx_token *token)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    token->kind = PTX_TOKEN_PUNCT;
    token->length = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (peek(lexer, 0) == pairs[i][0] && peek(lexer, 1) == pairs[i][1])
            token->length = 2;
    lexer->next += token->length;
}

/* A run of bytes that PTX does not know is one error. */
static void lex_unknown(struct ptx_lexer *lexer, struct ptx_token *token)
{
    unsigned char byte = (unsigned char)*lexer->next;
    while (lexer->next < lexer->end && !is_known(*lexer->next))
        lexer->next++;
    token->kind = PTX_TOKEN_INVALID;
    if (byte > 0x20 && byte < 0x7f)
        diag_error(lexer->diag, token->at, "unexpected character '%c'", byte);
    else
        diag_error(lexer->diag, token->at, "unexpected byte 0x%02x", byte);
}

struct ptx_token ptx_lex_next(struct ptx_lexer *lexer)
{
    skip_blank(lexer);
    struct ptx_token token = {.kind = PTX_TOKEN_END, .at = here(lexer), .text = lexer->next};
    if (lexer->next == lexer->end)
        return token;
    char c = *lexer->next;
    if (is_digit(c)) {
        lex_number(lexer, &token);
    } else if (is_start(c) && (c != '%' || is_follow(peek(lexer, 1)))) {
        token.kind = PTX_TOKEN_NAME;
        for (lexer->next++; is_follow(peek(lexer, 0));)
            lexer->next++;
    } else if (c == '.') {
        lex_dot(lexer, &token);
    } else if (c == '"') {
        lex_string(lexer, &token);
    } else if (is_known(c)) {
        lex_punct(lexer, &token);
    } else {
        lex_unknown(lexer, &token);
    }
    if (token.length == 0 && token.kind != PTX_TOKEN_STRING)
        token.length = (uint32_t)(lexer->next - token.text);
    return token;
}
