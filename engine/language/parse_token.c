#include "engine/language/parse_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

const char *const parse_keywords[] = {
    "launch",     "shared",      "global",      "private",    "input",      "int",
    "void",       "kernel",      "blocks",      "expect",     "if",         "else",
    "while",      "do",          "for",         "switch",     "case",       "default",
    "break",      "continue",    "return",      "exit",       "goto",       "barrier",
    "sync",       "arrive",      "assert",      "assume",     "havoc",      "membar",
    "skip",       "requires",    "invariant",   "tid",        "threads",    "lane",
    "warp",       "warp_size",   "bid",         "atomic_add", "atomic_min", "atomic_max",
    "atomic_and", "atomic_or",   "atomic_exch", "atomic_cas", "vote_all",   "vote_any",
    "vote_uni",   "vote_ballot",
};
enum { KEYWORDS = sizeof parse_keywords / sizeof parse_keywords[0] };
const uint32_t parse_keyword_count = KEYWORDS;

void parser_error(struct parser *p, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    reader_error_once(p->diag, &p->last_error, at, format, args);
    va_end(args);
}

static void end_text(struct parser *p)
{
    p->stopped = true;
    p->token.kind = TOKEN_END;
    p->token.length = 0;
}

void parser_stop(struct parser *p, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!p->stopped)
        reader_error_once(p->diag, &p->last_error, at, format, args);
    va_end(args);
    end_text(p);
}

/* A text with more errors than are kept is not worth reading on. */
void parser_advance(struct parser *p)
{
    p->before = p->token;
    if (!p->stopped)
        p->token = lex_next(&p->lexer);
    if (p->diag->count >= DIAG_MAX)
        end_text(p);
}

static bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_PUNCT || token->kind == TOKEN_NAME) && token->text[0] == text[0] &&
           strncmp(token->text, text, token->length) == 0 && text[token->length] == '\0';
}

bool parser_at(const struct parser *p, const char *text)
{
    return token_is(&p->token, text);
}

bool parser_accept(struct parser *p, const char *text)
{
    if (!token_is(&p->token, text))
        return false;
    parser_advance(p);
    return true;
}

const char *parser_show(struct parser *p, const struct token *token)
{
    if (token->kind == TOKEN_END)
        return "the end of the text";
    bool cut = token->length > SHOWN_BYTES;
    return arena_printf(p->arena, "'%.*s%s'", (int)(cut ? SHOWN_BYTES : token->length), token->text,
                        cut ? "..." : "");
}

/* A missing ';' belongs where the statement ends, as compilers say it. What the lexer has reported
 * is not reported again. */
void parser_unexpected(struct parser *p, const char *wanted)
{
    if (p->stopped || p->token.kind == TOKEN_INVALID)
        return;
    struct location at = p->token.at;
    if (p->before.length == 0) {
        parser_error(p, at, "expected %s, found %s", wanted, parser_show(p, &p->token));
        return;
    }
    if (strcmp(wanted, "';'") == 0)
        at = (struct location){p->before.at.line, p->before.at.column + p->before.length};
    parser_error(p, at, "expected %s after %s, found %s", wanted, parser_show(p, &p->before),
                 parser_show(p, &p->token));
}

bool parser_expect(struct parser *p, const char *text)
{
    if (parser_accept(p, text))
        return true;
    parser_unexpected(p, arena_printf(p->arena, "'%s'", text));
    return false;
}

int parser_index(const struct parser *p, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (token_is(&p->token, names[i]))
            return i;
    return -1;
}

static bool at_keyword(const struct parser *p)
{
    return parser_index(p, parse_keywords, KEYWORDS) >= 0;
}

bool parser_at_name(const struct parser *p)
{
    return p->token.kind == TOKEN_NAME && !at_keyword(p);
}

const char *parser_word(struct parser *p, const char *what)
{
    if (p->token.kind != TOKEN_NAME) {
        parser_unexpected(p, what);
        return NULL;
    }
    if (p->token.length > LIMIT_NAME) {
        parser_error(p, p->token.at, "name is longer than %d characters", LIMIT_NAME);
        return NULL;
    }
    const char *word = arena_strndup(p->arena, p->token.text, p->token.length);
    parser_advance(p);
    return word;
}

const char *parser_name(struct parser *p, const char *what)
{
    if (!at_keyword(p))
        return parser_word(p, what);
    parser_error(p, p->token.at, "expected %s, found the reserved word %s", what,
                 parser_show(p, &p->token));
    return NULL;
}

bool parser_next_is(const struct parser *p, const char *text)
{
    struct reader ahead = p->lexer;
    ahead.diag = NULL;
    struct token token = lex_next(&ahead);
    return token_is(&token, text);
}

bool parser_next_is_name(const struct parser *p)
{
    struct reader ahead = p->lexer;
    ahead.diag = NULL;
    return lex_next(&ahead).kind == TOKEN_NAME;
}

bool parser_guard_is_next(const struct parser *p)
{
    struct reader ahead = p->lexer;
    ahead.diag = NULL;
    struct token token = lex_next(&ahead);
    uint32_t open = token_is(&token, "(");
    while (open > 0 && token.kind != TOKEN_END && !token_is(&token, ";") &&
           !token_is(&token, "{") && !token_is(&token, "}")) {
        token = lex_next(&ahead);
        open += token_is(&token, "(");
        open -= token_is(&token, ")");
    }
    token = lex_next(&ahead);
    return open == 0 && token_is(&token, ";");
}

bool parser_count(struct parser *p)
{
    if (++p->nodes > LIMIT_NODES)
        parser_stop(p, p->token.at, "more than %d statements, expressions and declarations",
                    LIMIT_NODES);
    return !p->stopped;
}

static struct ast_var *find_in(struct ast_var *list, const struct token *token)
{
    while (list && !token_is(token, list->name))
        list = list->next;
    return list;
}

struct ast_var *parser_find_variable(const struct parser *p)
{
    struct ast_var *var = p->function ? find_in(p->function->locals, &p->token) : NULL;
    return var ? var : find_in(p->kernel->vars, &p->token);
}

static void report_unknown(struct parser *p)
{
    for (const struct parse_unknown *u = p->unknown; u; u = u->next)
        if (token_is(&p->token, u->name))
            return;
    struct parse_unknown *unknown = ARENA_NEW(p->arena, struct parse_unknown);
    unknown->name = arena_strndup(p->arena, p->token.text, p->token.length);
    unknown->next = p->unknown;
    p->unknown = unknown;
    parser_error(p, p->token.at, "%s is not declared", parser_show(p, &p->token));
}

struct ast_var *parser_variable(struct parser *p)
{
    if (!parser_at_name(p)) {
        parser_unexpected(p, "a variable");
        return NULL;
    }
    struct ast_var *var = parser_find_variable(p);
    if (!var)
        report_unknown(p);
    parser_advance(p);
    return var;
}
