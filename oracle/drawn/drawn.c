#include "oracle/drawn/drawn.h"

#include "engine/input/input.h"

#include <inttypes.h>
#include <string.h>

const struct drawn_operator drawn_operators[BINARY_COUNT] = {
    [BINARY_MUL] = {"*", 10}, [BINARY_DIV] = {"/", 10},         [BINARY_REM] = {"%", 10},
    [BINARY_ADD] = {"+", 9},  [BINARY_SUB] = {"-", 9},          [BINARY_SHL] = {"<<", 8},
    [BINARY_SHR] = {">>", 8}, [BINARY_LT] = {"<", 7},           [BINARY_LE] = {"<=", 7},
    [BINARY_GT] = {">", 7},   [BINARY_GE] = {">=", 7},          [BINARY_EQ] = {"==", 6},
    [BINARY_NE] = {"!=", 6},  [BINARY_AND] = {"&", 5},          [BINARY_XOR] = {"^", 4},
    [BINARY_OR] = {"|", 3},   [BINARY_LOGICAL_AND] = {"&&", 2}, [BINARY_LOGICAL_OR] = {"||", 1},
};

struct drawn drawn_begin(struct arena *arena, uint64_t number, uint32_t stream)
{
    struct drawn d = {.arena = arena,
                      .rng = pcg_derive(number, PCG_TRANSFORM, stream),
                      .places = pcg_derive(number, PCG_TRANSFORM, DRAWN_PLACES)};
    d.text = (struct text){.arena = arena};
    d.words = (struct text){.arena = arena};
    return d;
}

static bool is_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("_$%.", c));
}

/* Two tokens that would be read as one, or as a comment. */
static bool must_be_apart(char last, char first)
{
    static const char operators[] = "<>=&|+-*/^!:";
    return (is_name(last) && is_name(first)) ||
           (strchr(operators, last) && strchr(operators, first));
}

/* The last token, of so many: each is kept as often. */
static void keep_place(struct drawn *d, const char *token)
{
    const size_t length = strlen(token);
    const struct drawn_place place = {d->text.length - length, length, d->depth};
    if (pcg_below(&d->places, ++d->count) == 0)
        d->any = place;
    if (length > 1 || !strchr("(){}[]", *token))
        return;
    d->depth += *token == '{';
    d->depth -= *token == '}';
    if (pcg_below(&d->places, ++d->brackets) == 0)
        d->bracket = place;
}

void drawn_token(struct drawn *d, const char *token)
{
    static const char *const blanks[] = {
        " ", " ", " ", " ", " ", " ", " ", " ", "\n", "\t", "\r\n", " /* if ( \" */ ", " // } ;\n"};
    if (!*token)
        return;
    char last = d->text.length > 0 ? d->text.bytes[d->text.length - 1] : ' ';
    if (must_be_apart(last, *token) || !drawn_once_in(d, 4)) {
        const char *blank = blanks[drawn_below(d, sizeof blanks / sizeof *blanks)];
        text_put(&d->text, blank);
    }
    text_put(&d->text, token);
    keep_place(d, token);
}

void drawn_word(struct drawn *d, const char *word)
{
    text_put(&d->words, word);
    text_put(&d->words, *word ? " " : "");
}

void drawn_number_word(struct drawn *d, int64_t value)
{
    text_format(&d->words, "%lld ", (long long)value);
}

void drawn_spell(struct drawn *d, uint64_t value)
{
    uint32_t form = drawn_below(d, 6);
    drawn_token(d, form == 0   ? arena_printf(d->arena, "0x%" PRIx64, value)
                   : form == 1 ? arena_printf(d->arena, "0X%08" PRIX64, value)
                               : arena_printf(d->arena, "%" PRIu64, value));
}

uint32_t drawn_number(struct drawn *d)
{
    static const uint32_t bounds[] = {0,          1,          2,          31,         32,
                                      33,         0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
                                      0xfffffffe, 0xffff,     0x10000};
    uint32_t kind = drawn_below(d, 4), value = drawn_below(d, 10);
    if (kind == 0)
        value = pcg_next(&d->rng);
    else if (kind == 1)
        value = bounds[drawn_below(d, sizeof bounds / sizeof *bounds)];
    drawn_spell(d, value);
    return value;
}

/* ---- reading it ---- */

const char *drawn_first_error(struct arena *arena, const struct diag *diag)
{
    return arena_printf(arena, "line %u: %s", (unsigned)diag->entries[0].at.line,
                        diag->entries[0].text);
}

struct ast_kernel *drawn_read(struct arena *arena, const char *text, const char **why)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "text", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(arena, text, strlen(text), diag);
    if (!kernel)
        *why = drawn_first_error(arena, diag);
    return kernel;
}

const char *drawn_differ(struct arena *arena, const char *what, const char *words,
                         const char *meant)
{
    enum { SHOWN = 60 };
    size_t at = 0, word = 0;
    if (strcmp(words, meant) == 0)
        return NULL;
    for (; words[at] && words[at] == meant[at]; at++)
        word = words[at] == ' ' ? at + 1 : word;
    return arena_printf(arena, "%s: '%.*s' where '%.*s' is meant", what, SHOWN, words + word, SHOWN,
                        meant + word);
}
