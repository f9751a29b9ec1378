/*
 * Parsing `expect progress`: the termination matrix that a kernel states.
 *
 *     progress = "progress" [ "within" number ] ":" ending rows { rows } { "," ending rows { rows } } ;
 *     rows     = "*" | unit ( model | "*" ) { model | "*" } ;
 *
 * What is said of single rows counts more than what is said of all of a unit (`warps *`), and that more than
 * what is said of all rows: the order means nothing.
 */
#include "engine/base/spelling.h"
#include "engine/language/parse_internal.h"

#include <string.h>

/* The name at hand with what - joins to it, in the arena. Advances. */
static const char *take_word(struct parser *p, struct location *at)
{
    struct token word = lex_word(&p->lexer, &p->token);
    *at = word.at;
    p->token = word;
    parser_advance(p);
    return arena_strndup(p->arena, word.text, word.length < LIMIT_NAME ? word.length : LIMIT_NAME);
}

static int index_of(const char *word, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    return -1;
}

/* "'hang' is no verdict; 'hangs' is meant?", or what there is. */
static void refuse(struct parser *p, struct location at, const char *word, const char *what,
                   const char *const *names, uint32_t count)
{
    const char *nearest = spelling_nearest(word, names, count), *all = "";
    for (uint32_t i = 0; i < count; i++)
        all = arena_printf(p->arena, "%s%s%s", all, i ? ", " : "", names[i]);
    if (nearest)
        parser_error(p, at, "'%s' is no %s; '%s' is meant?", word, what, nearest);
    else
        parser_error(p, at, "'%s' is no %s; there are: %s", word, what,
                     count > 8 ? "those of `simtfuzz progress`" : all);
}

static int parse_ending(struct parser *p)
{
    struct location at;
    if (p->token.kind != TOKEN_NAME) {
        parser_unexpected(p, "a verdict");
        return -1;
    }
    const char *word = take_word(p, &at);
    int ending = index_of(word, matrix_ending_names, ENDING_COUNT);
    if (ending < 0)
        refuse(p, at, word, "verdict", matrix_ending_names, ENDING_COUNT);
    return ending;
}

/* A new claim, unless there is one about the same rows. */
static bool add_claim(struct parser *p, struct ast_progress claim)
{
    struct ast_progress **link = &p->kernel->progress;
    for (; *link; link = &(*link)->next) {
        const char *model = (*link)->model;
        if ((*link)->unit != claim.unit || (model != NULL) != (claim.model != NULL) ||
            (model && strcmp(model, claim.model) != 0))
            continue;
        parser_error(p, claim.at, "these rows have a verdict already, in line %u",
                     (*link)->at.line);
        return false;
    }
    if (!parser_count(p))
        return false;
    *link = ARENA_NEW(p->arena, struct ast_progress);
    **link = claim;
    return true;
}

/* "stackless:oldest", "hsa-obe". */
static const char *take_model(struct parser *p, struct location *at)
{
    const char *model = take_word(p, at);
    struct location rest;
    while (parser_at(p, ":") && parser_next_is_name(p)) {
        parser_advance(p);
        model = arena_printf(p->arena, "%s:%s", model, take_word(p, &rest));
    }
    if (index_of(model, matrix_model_names, matrix_model_count) >= 0)
        return model;
    refuse(p, *at, model, "execution model", matrix_model_names, matrix_model_count);
    return NULL;
}

/* The rows of one verdict: `* threads unfair hsa warps *`. */
static bool parse_rows(struct parser *p, struct ast_progress claim)
{
    bool some = false;
    claim.unit = MATRIX_UNITS;
    for (;; some = true) {
        claim.at = p->token.at;
        claim.model = NULL;
        int unit = parser_index(p, matrix_unit_names, MATRIX_UNITS);
        if (unit >= 0) {
            claim.unit = (enum matrix_unit)unit;
            parser_advance(p);
            if (p->token.kind == TOKEN_NAME || parser_at(p, "*"))
                continue;
            parser_unexpected(p, "an execution model or '*'");
            return false;
        }
        if (parser_accept(p, "*")) {
            if (!add_claim(p, claim))
                return false;
            continue;
        }
        if (p->token.kind != TOKEN_NAME)
            break;
        if (claim.unit == MATRIX_UNITS) {
            struct location at;
            const char *word = take_word(p, &at);
            refuse(p, at, word, "unit", matrix_unit_names, MATRIX_UNITS);
            return false;
        }
        claim.model = take_model(p, &claim.at);
        if (!claim.model || !add_claim(p, claim))
            return false;
    }
    if (!some)
        parser_unexpected(p, "a unit or '*'");
    return some;
}

/* [ within NUMBER ] : the states that a search may keep. */
static bool parse_within(struct parser *p)
{
    if (!parser_accept(p, "within"))
        return parser_expect(p, ":");
    if (p->token.kind != TOKEN_NUMBER) {
        parser_unexpected(p, "a number of states");
        return false;
    }
    uint64_t states = p->token.number;
    if (states == 0 || states > LIMIT_PROGRESS_STATES) {
        parser_error(p, p->token.at, "a search keeps 1 to %d states", LIMIT_PROGRESS_STATES);
        return false;
    }
    if (p->kernel->progress_states && p->kernel->progress_states != states) {
        parser_error(p, p->token.at, "another line says %u states", p->kernel->progress_states);
        return false;
    }
    p->kernel->progress_states = (uint32_t)states;
    parser_advance(p);
    return parser_expect(p, ":");
}

bool parser_progress(struct parser *p)
{
    struct ast_progress claim = {.group = p->expect_groups++};
    if (!parse_within(p))
        return false;
    do {
        int ending = parse_ending(p);
        if (ending < 0)
            return false;
        claim.ending = (enum matrix_ending)ending;
        if (!parse_rows(p, claim))
            return false;
    } while (parser_accept(p, ","));
    return true;
}
