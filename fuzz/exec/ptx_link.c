#include "fuzz/exec/ptx_link.h"

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_DIRECTIVE, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    const char *at;
    size_t length;
};

static const char *skip_blank(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n\v\f");
        if (strncmp(at, "//", 2) == 0) {
            at += strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$%0123456789"
static const char name_letters[] = LETTERS, number_letters[] = LETTERS ".";

static struct token next_token(const char *at)
{
    static const char digits[] = "0123456789";
    at = skip_blank(at);
    if (!*at)
        return (struct token){TOKEN_END, at, 0};
    if (*at == '"') {
        const char *end = strchr(at + 1, '"');
        return (struct token){TOKEN_STRING, at, end ? (size_t)(end + 1 - at) : strlen(at)};
    }
    if (strchr(digits, *at))
        return (struct token){TOKEN_NUMBER, at, strspn(at, number_letters)};
    if (*at == '.' && strspn(at + 1, name_letters) > 0)
        return (struct token){TOKEN_DIRECTIVE, at, 1 + strspn(at + 1, name_letters)};
    if (strspn(at, name_letters) > 0)
        return (struct token){TOKEN_NAME, at, strspn(at, name_letters)};
    return (struct token){TOKEN_SIGN, at, 1};
}

static bool is_word(const struct token *token, const char *word)
{
    return token->length == strlen(word) && memcmp(token->at, word, token->length) == 0;
}

static const char *behind(const struct token *token)
{
    return token->at + token->length;
}

/* ---- pieces: what stands in a module one behind the other ---- */

enum piece_kind {
    PIECE_HEAD, /* .version, .target, .address_size */
    PIECE_FILE,
    PIECE_VARIABLE,
    PIECE_DECLARATION, /* of a function */
    PIECE_FUNCTION,
    PIECE_OTHER /* sections, pragmas, aliases */
};

struct piece {
    enum piece_kind kind;
    struct token name; /* length 0: none */
    const char *from, *to;
    bool is_extern, is_visible, is_weak;
    bool stays, gets_another; /* name */
    bool is_named;            /* a function in the value of a variable, which stands before it */
    uint32_t module, number;
    struct piece *next;
};

/* The end of `.file 1 "a.cu", 1234, 56` and its like, which no sign ends. */
static const char *directive_end(const struct token *first)
{
    const char *at = behind(first);
    struct token token = next_token(at);
    if (is_word(first, ".file")) {
        at = behind(&token);
        token = next_token(at);
    }
    for (;;) {
        at = behind(&token);
        token = next_token(at);
        if (!is_word(&token, ","))
            return at;
        token = next_token(behind(&token));
    }
}

/* The name of a function stands behind its results, that of a variable before its length, its value or the end. */
struct naming {
    bool is_function, is_done;
    int parentheses;
};

static void see_name(struct piece *piece, struct naming *naming, const struct token *token)
{
    if (naming->is_done)
        return;
    naming->parentheses += is_word(token, "(") - is_word(token, ")");
    if (naming->parentheses > 0 || token->kind == TOKEN_DIRECTIVE)
        return;
    if (token->kind == TOKEN_NAME) {
        piece->name = *token;
        naming->is_done = naming->is_function;
    } else if (!naming->is_function && token->kind == TOKEN_SIGN && !is_word(token, ")")) {
        naming->is_done = true;
    }
}

/* From its first token on. */
static void read_piece(struct piece *piece, struct token token)
{
    static const char *const spaces[] = {".global", ".const", ".shared", ".local"};
    struct naming naming = {.parentheses = 0};
    int depth = 0;
    bool ends_with_body = is_word(&token, ".section");
    piece->from = token.at;
    piece->kind = PIECE_OTHER;
    for (; token.kind != TOKEN_END; token = next_token(behind(&token))) {
        piece->is_extern |= is_word(&token, ".extern");
        piece->is_visible |= is_word(&token, ".visible");
        piece->is_weak |= is_word(&token, ".weak") || is_word(&token, ".common");
        if (depth == 0 && (is_word(&token, ".func") || is_word(&token, ".entry"))) {
            naming.is_function = ends_with_body = true;
            piece->kind = PIECE_DECLARATION;
        }
        for (size_t i = 0; depth == 0 && piece->kind == PIECE_OTHER && i < 4; i++)
            if (is_word(&token, spaces[i]))
                piece->kind = PIECE_VARIABLE;
        if (piece->kind != PIECE_OTHER)
            see_name(piece, &naming, &token);
        depth += is_word(&token, "{") - is_word(&token, "}");
        piece->to = behind(&token);
        if (depth == 0 && is_word(&token, ";"))
            return;
        if (depth == 0 && is_word(&token, "}") && ends_with_body) {
            piece->kind = piece->kind == PIECE_DECLARATION ? PIECE_FUNCTION : PIECE_OTHER;
            return;
        }
    }
}

static struct piece **read_module(struct arena *arena, const char *text, uint32_t module,
                                  struct piece **last)
{
    static const char *const heads[] = {".version", ".target", ".address_size"};
    for (struct token token = next_token(text); token.kind != TOKEN_END;
         token = next_token((*last)->to), last = &(*last)->next) {
        struct piece *piece = ARENA_NEW(arena, struct piece);
        *piece = (struct piece){.kind = PIECE_OTHER, .module = module, .from = token.at};
        *last = piece;
        for (size_t i = 0; i < 3; i++)
            if (is_word(&token, heads[i]))
                piece->kind = PIECE_HEAD;
        if (is_word(&token, ".file"))
            piece->kind = PIECE_FILE;
        if (piece->kind == PIECE_OTHER)
            read_piece(piece, token);
        else
            piece->to = directive_end(&token);
    }
    return last;
}

/* ---- which stay, and under which names ---- */

static bool is_same_name(const struct piece *a, const struct piece *b)
{
    return a->name.length > 0 && a->name.length == b->name.length &&
           memcmp(a->name.at, b->name.at, a->name.length) == 0;
}

static bool is_definition(const struct piece *piece)
{
    return piece->kind == PIECE_FUNCTION || (piece->kind == PIECE_VARIABLE && !piece->is_extern);
}

static bool is_own(const struct piece *piece)
{
    return piece->name.length > 0 && !piece->is_extern && !piece->is_visible && !piece->is_weak;
}

/* Of what others see: one definition, one declaration. */
static bool stays(const struct piece *pieces, const struct piece *piece)
{
    if (piece->name.length == 0 || is_own(piece))
        return true;
    for (const struct piece *p = pieces; p; p = p->next) {
        if (p == piece || !is_same_name(p, piece) || is_own(p))
            continue;
        const bool is_before = p->number < piece->number;
        if (piece->kind == PIECE_VARIABLE && piece->is_extern && is_definition(p))
            return false;
        if (is_definition(piece) && is_definition(p) &&
            (piece->is_weak == p->is_weak ? is_before : piece->is_weak))
            return false;
        if (!is_definition(piece) && !is_definition(p) && is_before)
            return false;
    }
    return true;
}

/* A module's own name that another module has, too. */
static bool is_renamed(const struct piece *pieces, const struct piece *piece)
{
    for (const struct piece *p = pieces; is_own(piece) && p; p = p->next)
        if (p->module != piece->module && is_same_name(p, piece))
            return true;
    return false;
}

static bool has_another(const struct piece *pieces, uint32_t module, const struct token *token)
{
    const struct piece named = {.name = *token};
    for (const struct piece *p = pieces; token->kind == TOKEN_NAME && p; p = p->next)
        if (p->gets_another && p->module == module && is_same_name(p, &named))
            return true;
    return false;
}

/* ---- the text ---- */

enum { FILES_EACH = 10000 }; /* numbers of a module's files */

static bool is_before_file(const struct token *token)
{
    return is_word(token, ".loc") || is_word(token, ".file") || is_word(token, "inlined_at");
}

/* As far as a sign; NULL: all of it. */
static void write_piece(const struct piece *others, const struct piece *piece, const char *until,
                        struct text *out)
{
    struct token token = next_token(piece->from), last = {.kind = TOKEN_SIGN, .at = ""};
    for (const char *at = piece->from; token.kind != TOKEN_END && token.at < piece->to;
         last = token, token = next_token(at)) {
        if (until && is_word(&token, until))
            break;
        text_put_bytes(out, at, (size_t)(token.at - at));
        if (token.kind == TOKEN_NUMBER && is_before_file(&last))
            text_format(out, "%lu", strtoul(token.at, NULL, 10) + FILES_EACH * piece->module);
        else
            text_put_bytes(out, token.at, token.length);
        if (has_another(others, piece->module, &token))
            text_format(out, "$%u", piece->module);
        at = behind(&token);
    }
    text_put(out, until ? ";\n" : "\n");
}

static void mark_named(struct piece *pieces, const struct piece *variable)
{
    struct token token = next_token(variable->from);
    for (; token.at < variable->to; token = next_token(behind(&token))) {
        const struct piece named = {.name = token};
        for (struct piece *p = pieces; token.kind == TOKEN_NAME && p; p = p->next)
            p->is_named |= p->kind == PIECE_FUNCTION && is_same_name(p, &named) &&
                           (p->module == variable->module || !is_own(p));
    }
}

/* Copies of those that get another name. */
static const struct piece *find_others(struct arena *arena, const struct piece *pieces)
{
    struct piece *others = NULL;
    for (const struct piece *p = pieces; p; p = p->next)
        if (p->gets_another) {
            struct piece *other = ARENA_NEW(arena, struct piece);
            *other = *p;
            other->next = others;
            others = other;
        }
    return others;
}

const char *ptx_link(struct arena *arena, const char *const *texts, uint32_t count)
{
    static const enum piece_kind order[] = {PIECE_HEAD,     PIECE_FILE,     PIECE_DECLARATION,
                                            PIECE_VARIABLE, PIECE_FUNCTION, PIECE_OTHER};
    struct piece *pieces = NULL, **last = &pieces;
    struct text out = text_begin(arena);
    uint32_t number = 0;
    for (uint32_t m = 0; m < count; m++)
        last = read_module(arena, texts[m], m, last);
    for (struct piece *p = pieces; p; p = p->next)
        p->number = number++;
    for (struct piece *p = pieces; p; p = p->next) {
        p->stays = stays(pieces, p) && (p->kind != PIECE_HEAD || p->module == 0);
        p->gets_another = is_renamed(pieces, p);
        if (p->kind == PIECE_VARIABLE)
            mark_named(pieces, p);
    }
    const struct piece *others = find_others(arena, pieces);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (const struct piece *p = pieces; p; p = p->next) {
            if (order[i] == PIECE_DECLARATION && p->is_named && p->stays)
                write_piece(others, p, "{", &out);
            if (p->kind == order[i] && p->stays)
                write_piece(others, p, NULL, &out);
        }
    return out.bytes;
}
