#include "engine/ptx/ptx_parse_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 40, INTERN_FIRST = 256 };

void ptx_error(struct ptx_parser *p, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    reader_error_once(p->diag, &p->last_error, at, format, args);
    va_end(args);
}

static void end_text(struct ptx_parser *p)
{
    p->stopped = true;
    p->token.kind = PTX_TOKEN_END;
    p->token.length = 0;
}

void ptx_stop(struct ptx_parser *p, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!p->stopped)
        reader_error_once(p->diag, &p->last_error, at, format, args);
    va_end(args);
    end_text(p);
}

/* A text with more errors than are kept is not worth reading on. */
void ptx_advance(struct ptx_parser *p)
{
    if (!p->stopped)
        p->token = ptx_lex_next(&p->lexer);
    if (p->diag->count >= DIAG_MAX)
        end_text(p);
}

/* What was reported by the lexer is not reported again. */
void ptx_unexpected(struct ptx_parser *p, const char *wanted)
{
    const struct ptx_token *t = &p->token;
    int length = t->length > SHOWN_BYTES ? SHOWN_BYTES : (int)t->length;
    if (t->kind == PTX_TOKEN_INVALID || p->stopped)
        return;
    if (t->kind == PTX_TOKEN_END)
        ptx_error(p, t->at, "expected %s, found the end of the text", wanted);
    else
        ptx_error(p, t->at, "expected %s, found '%s%.*s'", wanted,
                  t->kind == PTX_TOKEN_DOT ? "." : "", length, t->text);
}

static bool token_is(const struct ptx_token *t, enum ptx_token_kind kind, const char *text)
{
    return t->kind == kind && t->length > 0 && t->text[0] == text[0] &&
           strncmp(t->text, text, t->length) == 0 && text[t->length] == '\0';
}

bool ptx_at(const struct ptx_parser *p, const char *text)
{
    return token_is(&p->token, PTX_TOKEN_PUNCT, text);
}

bool ptx_accept(struct ptx_parser *p, const char *text)
{
    if (!ptx_at(p, text))
        return false;
    ptx_advance(p);
    return true;
}

bool ptx_expect(struct ptx_parser *p, const char *text)
{
    if (ptx_accept(p, text))
        return true;
    char wanted[8];
    snprintf(wanted, sizeof wanted, "'%s'", text);
    ptx_unexpected(p, wanted);
    return false;
}

bool ptx_at_dot(const struct ptx_parser *p, const char *word)
{
    return token_is(&p->token, PTX_TOKEN_DOT, word);
}

bool ptx_accept_dot(struct ptx_parser *p, const char *word)
{
    if (!ptx_at_dot(p, word))
        return false;
    ptx_advance(p);
    return true;
}

enum ptx_word ptx_at_word(const struct ptx_parser *p)
{
    return p->token.kind == PTX_TOKEN_DOT ? ptx_word_find(p->token.text, p->token.length)
                                          : PTX_W_NONE;
}

/* FNV-1a. */
static uint32_t hash_bytes(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static const char **find_place(const struct ptx_intern *t, const char *text, size_t length)
{
    uint32_t at = hash_bytes(text, length) & (t->capacity - 1);
    while (t->names[at] &&
           (strncmp(t->names[at], text, length) != 0 || t->names[at][length] != '\0'))
        at = (at + 1) & (t->capacity - 1);
    return &t->names[at];
}

static void grow(struct ptx_parser *p)
{
    struct ptx_intern old = p->intern;
    p->intern.capacity = old.capacity ? old.capacity * 2 : INTERN_FIRST;
    p->intern.names = ARENA_ARRAY(p->arena, const char *, p->intern.capacity);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.names[i])
            *find_place(&p->intern, old.names[i], strlen(old.names[i])) = old.names[i];
}

const char *ptx_intern(struct ptx_parser *p, const char *text, size_t length)
{
    if (p->intern.count * 2 >= p->intern.capacity)
        grow(p);
    const char **place = find_place(&p->intern, text, length);
    if (!*place) {
        *place = arena_strndup(p->arena, text, length);
        p->intern.count++;
    }
    return *place;
}

static const char *take_text(struct ptx_parser *p)
{
    const struct ptx_token token = p->token;
    if (token.length > PTX_LIMIT_NAME) {
        ptx_error(p, token.at, "this is longer than %d bytes", PTX_LIMIT_NAME);
        return NULL;
    }
    ptx_advance(p);
    return ptx_intern(p, token.text, token.length);
}

const char *ptx_name(struct ptx_parser *p, const char *what)
{
    if (p->token.kind == PTX_TOKEN_NAME)
        return take_text(p);
    ptx_unexpected(p, what);
    return NULL;
}

const char *ptx_string(struct ptx_parser *p, const char *what)
{
    if (p->token.kind == PTX_TOKEN_STRING && !memchr(p->token.text, '\0', p->token.length))
        return take_text(p);
    ptx_unexpected(p, what);
    return NULL;
}

bool ptx_number(struct ptx_parser *p, uint32_t most, uint32_t *value)
{
    if (p->token.kind != PTX_TOKEN_INTEGER) {
        ptx_unexpected(p, "a number");
        return false;
    }
    if (p->token.number > most) {
        ptx_error(p, p->token.at, "this number must be at most %u", most);
        return false;
    }
    *value = (uint32_t)p->token.number;
    ptx_advance(p);
    return true;
}

bool ptx_count(struct ptx_parser *p)
{
    if (p->stopped)
        return false;
    if (p->nodes++ < PTX_LIMIT_NODES)
        return true;
    ptx_stop(p, p->token.at, "the text has more than %d statements and operands", PTX_LIMIT_NODES);
    return false;
}

bool ptx_parse_enter(struct ptx_parser *p)
{
    if (p->depth++ < PTX_LIMIT_DEPTH)
        return true;
    ptx_stop(p, p->token.at, "nested deeper than %d levels", PTX_LIMIT_DEPTH);
    return false;
}

void ptx_parse_leave(struct ptx_parser *p)
{
    p->depth--;
}

void ptx_skip_statement(struct ptx_parser *p)
{
    for (uint32_t braces = 0; p->token.kind != PTX_TOKEN_END; ptx_advance(p)) {
        if (ptx_at(p, "{")) {
            braces++;
        } else if (ptx_at(p, "}")) {
            if (braces-- == 0)
                return;
        } else if (braces == 0 && ptx_at(p, ";")) {
            ptx_advance(p);
            return;
        }
    }
}
