#include "engine/language/lex.h"

#include <string.h>

static bool is_name_start(char c)
{
    return is_letter(c) || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

/* A byte that can stand outside comments. */
static bool is_known(char c)
{
    return c != '\0' && (is_name(c) || is_blank(c) || strchr("()[]{};,:?=<>+-*/%&|^!~", c));
}

/* Decimal or hexadecimal; all that follows as if it belonged to a name must be a digit. A leading 0
 * would mean octal to a reader of C, so it is refused. */
static void lex_number(struct reader *lexer, struct token *token)
{
    bool hex = reader_peek(lexer, 0) == '0' &&
               (reader_peek(lexer, 1) == 'x' || reader_peek(lexer, 1) == 'X');
    bool octal = reader_peek(lexer, 0) == '0' && is_digit(reader_peek(lexer, 1));
    bool overflow = false, bad = hex && !is_name(reader_peek(lexer, 2));
    uint32_t base = hex ? 16 : 10;
    for (lexer->next += hex ? 2 : 0; is_name(reader_peek(lexer, 0)); lexer->next++) {
        uint32_t digit = reader_digit(*lexer->next);
        bad |= digit >= base;
        overflow |= token->number > (UINT64_MAX - digit) / base;
        token->number = token->number * base + digit;
    }
    token->length = (uint32_t)(lexer->next - token->text);
    if (!bad && !overflow && !octal)
        return;
    token->kind = TOKEN_INVALID;
    reader_error(lexer, token->at, "%s",
                 bad     ? "malformed number"
                 : octal ? "a number does not start with 0: there is no octal"
                         : "this number is too large");
}

static void lex_punct(struct reader *lexer, struct token *token)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                        "+=", "-=", "*=", "^=", "|=", "&=", "++", "--"};
    token->length = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (reader_peek(lexer, 0) == pairs[i][0] && reader_peek(lexer, 1) == pairs[i][1])
            token->length = 2;
    lexer->next += token->length;
}

struct token lex_next(struct reader *lexer)
{
    reader_skip_blank(lexer);
    struct token token = {.kind = TOKEN_END, .at = reader_at(lexer), .text = lexer->next};
    if (lexer->next == lexer->end)
        return token;
    if (is_digit(*lexer->next)) {
        token.kind = TOKEN_NUMBER;
        lex_number(lexer, &token);
    } else if (is_name_start(*lexer->next)) {
        token.kind = TOKEN_NAME;
        while (is_name(reader_peek(lexer, 0)))
            lexer->next++;
        token.length = (uint32_t)(lexer->next - token.text);
    } else if (is_known(*lexer->next)) {
        token.kind = TOKEN_PUNCT;
        lex_punct(lexer, &token);
    } else {
        token.kind = TOKEN_INVALID;
        reader_skip_unknown(lexer, is_known);
        token.length = (uint32_t)(lexer->next - token.text);
    }
    return token;
}

struct token lex_word(struct reader *lexer, const struct token *from)
{
    struct token word = *from;
    lexer->next = from->text + from->length;
    while (is_name(reader_peek(lexer, 0)) ||
           (reader_peek(lexer, 0) != '\0' && strchr("-.=", reader_peek(lexer, 0)) &&
            is_name(reader_peek(lexer, 1))))
        lexer->next++;
    word.length = (uint32_t)(lexer->next - word.text);
    return word;
}
