#include "oracle/runs/b_run.h"

#include "engine/reference/reference.h"
#include "oracle/drawn/drawn.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1024, STEPS = 200000, SPACES = 3, NAME = 12 };

struct b_run {
    const char *at;
    const struct c_launch *launch;
    const char *blocks[BLOCKS];
    int32_t block_count, words[SPACES];
    uint32_t bases[SPACES], block, thread, warp;
    uint32_t dead; /* what stands here counts only as text */
    const char *why;
};

static int32_t value(struct b_run *b);

/* ---- the text ---- */

static void fail(struct b_run *b, const char *why)
{
    if (!b->why)
        b->why = why;
    b->at += strlen(b->at); /* nothing is read any more */
}

static bool take(struct b_run *b, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(b->at, word, length) != 0)
        return false;
    b->at += length;
    return true;
}

static void want(struct b_run *b, const char *word)
{
    if (!take(b, word))
        fail(b, "blocks: another character is expected");
}

static int32_t number(struct b_run *b)
{
    char *end;
    const long read = strtol(b->at, &end, 10);
    if (end == b->at || read > INT32_MAX || read < INT32_MIN)
        fail(b, "blocks: a number is expected");
    else
        b->at = end;
    return (int32_t)read;
}

/* ["name" */
static void name(struct b_run *b, char own[NAME])
{
    want(b, "[\"");
    const size_t length = strcspn(b->at, "\"");
    own[0] = '\0';
    if (length < NAME)
        strncat(own, b->at, length);
    if (length >= NAME || !*b->at)
        fail(b, "blocks: a name is expected");
    else
        b->at += length + 1;
}

/* ---- expressions ---- */

/* Behind ["at" */
static int32_t *place(struct b_run *b)
{
    static int32_t nowhere;
    want(b, ",");
    const int32_t space = number(b);
    want(b, ",");
    const int32_t offset = number(b);
    want(b, ",");
    const int64_t at = (int64_t)offset + value(b);
    want(b, "]");
    if (b->why || b->dead > 0)
        return &nowhere;
    if (space >= 0 && space < SPACES && at >= 0 && at < b->words[space])
        return &b->launch->memory[b->bases[space] + (uint32_t)at];
    fail(b, "blocks: an element outside of its space");
    return &nowhere;
}

static int32_t *place_of_statement(struct b_run *b)
{
    want(b, ",[\"at\"");
    return place(b);
}

static int32_t operand(struct b_run *b, bool counts)
{
    b->dead += !counts;
    want(b, ",");
    const int32_t word = value(b);
    b->dead -= !counts;
    return word;
}

static int32_t operation(struct b_run *b, const char *op)
{
    const int32_t a = operand(b, true);
    if (strcmp(op, "neg") == 0)
        return ref_unary(UNARY_NEG, a);
    if (strcmp(op, "!") == 0)
        return !a;
    if (strcmp(op, "~") == 0)
        return ~a;
    if (strcmp(op, "?") == 0) {
        const int32_t yes = operand(b, a != 0), no = operand(b, a == 0);
        return a ? yes : no;
    }
    uint32_t of = 0;
    while (of < BINARY_COUNT && strcmp(drawn_operators[of].token, op) != 0)
        of++;
    if (of == BINARY_COUNT)
        fail(b, "blocks: an operation that is not known");
    const bool decides = (of == BINARY_LOGICAL_AND && !a) || (of == BINARY_LOGICAL_OR && a);
    return ref_binary((enum ast_binary)of, a, operand(b, !decides));
}

static int32_t value(struct b_run *b)
{
    const struct {
        const char *name;
        uint32_t word;
    } ids[] = {{"tid", b->thread},
               {"bid", b->block},
               {"lane", b->thread % b->warp},
               {"warp", b->thread / b->warp},
               {"threads", b->launch->threads},
               {"blocks", b->launch->blocks},
               {"warp_size", b->warp}};
    char own[NAME];
    if (b->why || *b->at != '[')
        return b->why ? 0 : number(b);
    name(b, own);
    if (strcmp(own, "at") == 0)
        return *place(b);
    for (uint32_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (strcmp(own, ids[i].name) == 0) {
            want(b, "]");
            return (int32_t)ids[i].word;
        }
    const int32_t word = operation(b, own);
    want(b, "]");
    return word;
}

/* ---- statements ---- */

static void atomic(struct b_run *b, const char *op)
{
    static const char *const ops[] = {"add", "min", "max", "and", "or", "exch", "cas"};
    int32_t *at = place_of_statement(b), *old = take(b, ",null") ? NULL : place_of_statement(b);
    const int32_t was = *at, x = operand(b, true);
    const int32_t y = strcmp(op, "cas") == 0 ? operand(b, true) : 0;
    const int32_t values[] = {ref_binary(BINARY_ADD, was, x),
                              was < x ? was : x,
                              was > x ? was : x,
                              was & x,
                              was | x,
                              x,
                              was == x ? y : was};
    uint32_t of = 0;
    while (of < 7 && strcmp(ops[of], op) != 0)
        of++;
    if (of == 7)
        fail(b, "blocks: a statement that is not known");
    else
        *at = values[of];
    if (old)
        *old = was;
}

static void statement(struct b_run *b)
{
    char own[NAME];
    name(b, own);
    if (strcmp(own, "=") == 0) {
        int32_t *at = place_of_statement(b);
        *at = operand(b, true);
    } else if (strcmp(own, "if") == 0) {
        if (!operand(b, true))
            fail(b, "blocks: a condition that does not hold where it is met");
    } else if (strcmp(own, "fence") != 0) {
        atomic(b, strncmp(own, "atomic_", 7) == 0 ? own + 7 : own);
    }
    want(b, "]");
}

static bool is_open(struct b_run *b, int32_t block)
{
    static const char condition[] = "[[\"if\"";
    if (block < 0 || block >= b->block_count || !*b->at)
        return block == -1;
    const char *back = b->at;
    b->at = b->blocks[block];
    const bool is = !take(b, condition) || operand(b, true);
    if (!b->why)
        b->at = back;
    return is;
}

/* Behind the statements: the first number whose block may be entered. */
static int32_t next_block(struct b_run *b)
{
    want(b, "],\"goto\":[");
    do {
        const int32_t block = number(b);
        if (is_open(b, block))
            return block;
    } while (take(b, ","));
    fail(b, "blocks: no block comes next");
    return -1;
}

static void run_thread(struct b_run *b)
{
    const struct c_launch *launch = b->launch;
    const uint32_t shared = (uint32_t)b->words[0],
                   own = shared + launch->blocks * (uint32_t)b->words[1];
    uint32_t steps = 0;
    b->bases[1] = shared + b->block * (uint32_t)b->words[1];
    b->bases[2] = own + (b->block * launch->threads + b->thread) * (uint32_t)b->words[2];
    for (int32_t block = 0; block >= 0 && !b->why;) {
        b->at = b->blocks[block];
        want(b, "[");
        while (!b->why && *b->at != ']') {
            statement(b);
            take(b, ",");
        }
        block = next_block(b);
        if (++steps > STEPS)
            fail(b, "blocks: no end");
    }
}

static void find(struct b_run *b, const char *text, const char *word)
{
    b->at = strstr(text, word);
    if (b->at)
        b->at += strlen(word);
    else
        b->at = text;
}

const char *b_run(const char *text, const struct c_launch *launch)
{
    static const char start[] = "{\"do\":";
    struct b_run *b = &(struct b_run){.launch = launch};
    for (const char *at = text; (at = strstr(at, start)) && b->block_count < BLOCKS;)
        b->blocks[b->block_count++] = at += sizeof start - 1;
    find(b, text, "\"warp_size\":");
    b->warp = (uint32_t)number(b);
    find(b, text, "\"words\":[");
    for (uint32_t i = 0; i < SPACES; i++) {
        b->words[i] = number(b);
        take(b, ",");
    }
    if (b->warp == 0 || b->block_count == 0)
        fail(b, "blocks: no kernel");
    for (; b->block < launch->blocks && !b->why; b->block++)
        for (b->thread = 0; b->thread < launch->threads && !b->why; b->thread++)
            run_thread(b);
    return b->why;
}
