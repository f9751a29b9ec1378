#include "engine/ptx/ptx_lex.h"

#include <stdlib.h>
#include <string.h>

enum { DECIMAL_MAX = 200 }; /* bytes of a decimal floating-point number */

/* followsym of the PTX grammar, and what starts an identifier but a letter. */
static bool is_follow(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static bool is_start(char c)
{
    return is_letter(c) || c == '_' || c == '$' || c == '%';
}

/* A byte that can stand outside comments and strings. */
static bool is_known(char c)
{
    return c != '\0' && (is_start(c) || is_digit(c) || is_blank(c) ||
                         strchr(".,;:()[]{}<>+-*/!~&|^=?@\"", c) != NULL);
}

static void invalid(struct reader *lexer, struct ptx_token *token, const char *message)
{
    token->kind = PTX_TOKEN_INVALID;
    reader_error(lexer, token->at, "%s", message);
}

/* 0f and 8 hexadecimal digits, 0d and 16: the bits of a number. */
static void lex_bits(struct reader *lexer, struct ptx_token *token)
{
    bool is_double = reader_peek(lexer, 1) == 'd' || reader_peek(lexer, 1) == 'D';
    uint32_t wanted = is_double ? 16 : 8, digits = 0;
    bool bad = false;
    for (lexer->next += 2; is_follow(reader_peek(lexer, 0)); lexer->next++, digits++) {
        uint32_t digit = reader_digit(*lexer->next);
        bad |= digit >= 16;
        token->number = token->number << 4 | (digit & 15);
    }
    token->kind = is_double ? PTX_TOKEN_FLOAT64 : PTX_TOKEN_FLOAT32;
    if (bad || digits != wanted)
        invalid(lexer, token,
                is_double ? "0d takes 16 hexadecimal digits" : "0f takes 8 hexadecimal digits");
}

/* 0x.., 0b.., 0.. (octal), decimal; U behind it. */
static void lex_integer(struct reader *lexer, struct ptx_token *token)
{
    char second = reader_peek(lexer, 0) == '0' ? reader_peek(lexer, 1) : '\0';
    uint32_t base = second == 'x' || second == 'X'   ? 16
                    : second == 'b' || second == 'B' ? 2
                    : is_digit(second)               ? 8
                                                     : 10;
    bool bad = false, overflow = false;
    lexer->next += base == 16 || base == 2 ? 2 : 0;
    const char *first = lexer->next;
    while (is_follow(reader_peek(lexer, 0)) && *lexer->next != 'U') {
        uint32_t digit = reader_digit(*lexer->next++);
        bad |= digit >= base;
        overflow |= token->number > (UINT64_MAX - digit) / base;
        token->number = token->number * base + digit;
    }
    bad |= lexer->next == first;
    token->is_unsigned = reader_peek(lexer, 0) == 'U' || token->number > INT64_MAX;
    lexer->next += reader_peek(lexer, 0) == 'U';
    bad |= is_follow(reader_peek(lexer, 0));
    token->kind = PTX_TOKEN_INTEGER;
    if (bad)
        invalid(lexer, token, "malformed number");
    else if (overflow)
        invalid(lexer, token, "this number does not fit in 64 bits");
}

/* digits . digits [e [sign] digits]: a double. */
static void lex_decimal(struct reader *lexer, struct ptx_token *token, size_t length)
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
    if (*end != '\0' || is_follow(reader_peek(lexer, 0)))
        invalid(lexer, token, "malformed number");
}

/* How many bytes a decimal floating-point number here has; 0: it is none. */
static size_t decimal_length(const struct reader *lexer)
{
    size_t n = 0;
    while (is_digit(reader_peek(lexer, n)))
        n++;
    bool fraction = reader_peek(lexer, n) == '.';
    for (n += fraction; fraction && is_digit(reader_peek(lexer, n));)
        n++;
    bool exponent = reader_peek(lexer, n) == 'e' || reader_peek(lexer, n) == 'E';
    if (exponent) {
        n += reader_peek(lexer, n + 1) == '+' || reader_peek(lexer, n + 1) == '-' ? 2 : 1;
        while (is_digit(reader_peek(lexer, n)))
            n++;
    }
    return fraction || exponent ? n : 0;
}

static void lex_number(struct reader *lexer, struct ptx_token *token)
{
    char second = reader_peek(lexer, 0) == '0' ? reader_peek(lexer, 1) : '\0';
    size_t decimal = decimal_length(lexer);
    if (second != '\0' && strchr("fFdD", second))
        lex_bits(lexer, token);
    else if (decimal > 0)
        lex_decimal(lexer, token, decimal);
    else
        lex_integer(lexer, token);
}

static void lex_string(struct reader *lexer, struct ptx_token *token)
{
    token->kind = PTX_TOKEN_STRING;
    token->text = ++lexer->next;
    while (lexer->next < lexer->end && *lexer->next != '"' && *lexer->next != '\n')
        lexer->next +=
            *lexer->next == '\\' && lexer->end - lexer->next > 1 && lexer->next[1] != '\n' ? 2 : 1;
    token->length = (uint32_t)(lexer->next - token->text);
    if (reader_peek(lexer, 0) == '"')
        lexer->next++;
    else
        invalid(lexer, token, "this string is not closed");
}

/* . and letters, digits, _; words may be joined by :: */
static void lex_dot(struct reader *lexer, struct ptx_token *token)
{
    token->text = ++lexer->next;
    while (is_follow(reader_peek(lexer, 0)) ||
           (reader_peek(lexer, 0) == ':' && reader_peek(lexer, 1) == ':' &&
            is_follow(reader_peek(lexer, 2))))
        lexer->next += *lexer->next == ':' ? 2 : 1;
    token->kind = PTX_TOKEN_DOT;
    token->length = (uint32_t)(lexer->next - token->text);
    if (token->length == 0)
        invalid(lexer, token, "a '.' without a word");
}

static void lex_punct(struct reader *lexer, struct ptx_token *token)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    token->kind = PTX_TOKEN_PUNCT;
    token->length = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (reader_peek(lexer, 0) == pairs[i][0] && reader_peek(lexer, 1) == pairs[i][1])
            token->length = 2;
    lexer->next += token->length;
}

struct ptx_token ptx_lex_next(struct reader *lexer)
{
    reader_skip_blank(lexer);
    struct ptx_token token = {.kind = PTX_TOKEN_END, .at = reader_at(lexer), .text = lexer->next};
    if (lexer->next == lexer->end)
        return token;
    char c = *lexer->next;
    if (is_digit(c)) {
        lex_number(lexer, &token);
    } else if (is_start(c) && (c != '%' || is_follow(reader_peek(lexer, 1)))) {
        token.kind = PTX_TOKEN_NAME;
        for (lexer->next++; is_follow(reader_peek(lexer, 0));)
            lexer->next++;
    } else if (c == '.') {
        lex_dot(lexer, &token);
    } else if (c == '"') {
        lex_string(lexer, &token);
    } else if (is_known(c)) {
        lex_punct(lexer, &token);
    } else {
        token.kind = PTX_TOKEN_INVALID;
        reader_skip_unknown(lexer, is_known);
    }
    if (token.length == 0 && token.kind != PTX_TOKEN_STRING)
        token.length = (uint32_t)(lexer->next - token.text);
    return token;
}
