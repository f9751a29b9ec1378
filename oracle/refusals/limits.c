/*
 * limits.c - the limits that somebody counts anew: of how much memory there is, of names, of tapes.
 */
#include "oracle/refusals/limits.h"

#include "engine/forms/lower_cfg.h"
#include "engine/input/input.h"
#include "engine/language/parse.h"
#include "engine/language/walk.h"
#include "engine/schedule/tape.h"
#include "engine/subjects/forms.h"
#include "oracle/texts/texts.h"

#include <string.h>

const char *limits_is_taken(struct drawn *d, struct ast_kernel **kernel)
{
    const char *why;
    *kernel = drawn_read(d->arena, d->text.bytes, &why);
    if (!*kernel)
        return arena_printf(d->arena, "refused: %s, though it is no more than there may be", why);
    const char *text = print_kernel(d->arena, *kernel);
    const struct ast_kernel *again = drawn_read(d->arena, text, &why);
    if (!again)
        return arena_printf(d->arena, "refused: what is printed of it, %s", why);
    return strcmp(print_kernel(d->arena, again), text) == 0 ? NULL : "printed: another kernel";
}

const char *limits_is_refused(struct drawn *d, const char *says, size_t at)
{
    const struct location place = texts_place(d->text.bytes, at);
    struct diag *diag = ARENA_NEW(d->arena, struct diag);
    diag_init(diag, "text", d->text.bytes, d->text.length);
    if (parse_kernel(d->arena, d->text.bytes, d->text.length, diag))
        return arena_printf(d->arena, "taken: '%s' was to be told", says);
    if (diag->count == 1 && strcmp(diag->entries[0].text, says) == 0 &&
        diag->entries[0].at.line == place.line && diag->entries[0].at.column == place.column)
        return NULL;
    return arena_printf(d->arena, "refused: %u errors, %u:%u: '%s', not %u:%u: '%s'",
                        (unsigned)diag->count, (unsigned)diag->entries[0].at.line,
                        (unsigned)diag->entries[0].at.column, diag->entries[0].text,
                        (unsigned)place.line, (unsigned)place.column, says);
}

/* ---- memory ---- */

/* What a launch has of everything, in words; arrays have up to 65,536. */
struct words {
    struct drawn *d;
    uint32_t threads, blocks, count;
    uint64_t all; /* of all threads and blocks */
};

static uint32_t put_launch(struct words *w)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 7, 16, 31, 32, 64};
    struct drawn *d = w->d;
    w->blocks = sizes[drawn_below(d, 9)];
    w->threads = sizes[drawn_below(d, 9)];
    text_format(&d->text, "launch(threads=%u, blocks=%u);\n", (unsigned)w->threads,
                (unsigned)w->blocks);
    return w->threads * w->blocks;
}

/* Variables of so many copies each, which together take a part of what is there. */
static uint64_t put_variables(struct words *w, const char *space, uint32_t copies)
{
    struct drawn *d = w->d;
    uint64_t own = 0;
    for (uint32_t n = drawn_below(d, 3); n > 0; n--) {
        const uint32_t most = LIMIT_MEMORY_WORDS / 8 / copies + 1;
        const uint32_t words = 1 + drawn_below(d, most < LIMIT_ARRAY ? most : LIMIT_ARRAY);
        text_format(&d->text, "%s int x%u[%u];\n", space, (unsigned)w->count++, (unsigned)words);
        own += words;
    }
    w->all += own * copies;
    return own;
}

/* Arrays of the grid, until all words are those. */
static void put_rest(struct words *w, uint64_t most)
{
    for (uint32_t n; w->all < most; w->all += n) {
        n = most - w->all < LIMIT_ARRAY ? (uint32_t)(most - w->all) : LIMIT_ARRAY;
        text_format(&w->d->text, "global int x%u[%u];\n", (unsigned)w->count++, (unsigned)n);
    }
}

static const struct ast_kernel *blocks_of(struct drawn *d, const struct ast_kernel *kernel,
                                          const char **why)
{
    static const struct lower_cfg_options options;
    return lower_cfg(d->arena, forms_get(forms_new(d->arena, kernel), PROGRAM_CORE)->kernel,
                     &options, why);
}

/* Where lowering adds a variable there are too many; what there is then is within the limits. */
static const char *lowered(struct drawn *d, const struct ast_kernel *kernel)
{
    struct diag *diag = ARENA_NEW(d->arena, struct diag);
    const char *why;
    const struct ast_kernel *form = blocks_of(d, kernel, &why);
    diag_init(diag, "blocks", NULL, 0);
    return !form || ast_check(form, diag) ? NULL : "taken: blocks whose variables are too many";
}

/* Who asks whether a tree is merely too large is told so of one that is nothing else; the tree is as it was then. */
static const char *is_merely_too_large(struct ast_kernel *kernel)
{
    struct ast_expect wrong = {.next = kernel->expects, .claim = CLAIM_FINAL};
    const struct ast_launch launch = kernel->launch;
    const char *why = language_is_too_large(kernel) ? "too large: a kernel that is taken" : NULL;
    kernel->expects = &wrong;
    if (language_is_too_large(kernel))
        why = "too large: a kernel that is wrong";
    kernel->launch.threads += LIMIT_THREADS;
    if (language_is_too_large(kernel))
        why = "too large: a kernel that is wrong as well";
    kernel->expects = wrong.next;
    if (!language_is_too_large(kernel))
        why = "wrong: a kernel that has too many threads, and is otherwise right";
    kernel->launch = launch;
    return why;
}

/* Frames are counted as if the largest function called itself as often as it may; the kernel's own is one more. */
static const char *memory(struct drawn *d)
{
    const bool is_wrong = drawn_below(d, 2);
    struct words w = {.d = d};
    const uint32_t all = put_launch(&w);
    struct text body = text_begin(d->arena), head;
    put_variables(&w, "global", 1);
    put_variables(&w, "shared", w.blocks);
    put_variables(&w, "private", all);
    const bool any = w.count > 0;
    head = d->text;
    d->text = body;
    text_put(&d->text, "void f() { private int y; y = 1; }\nvoid g() {\n");
    const uint64_t before = w.all, of_g = put_variables(&w, "private", all);
    const uint64_t frame = of_g > 1 ? of_g : 1;
    w.all = before + 32 * frame * all;
    text_put(&d->text, "}\nkernel k() {\n");
    put_variables(&w, "private", all);
    text_format(&d->text, "if (%s) ;\n}\n", any ? "x0[0]" : "1");
    body = d->text;
    d->text = head;
    if (w.all > LIMIT_MEMORY_WORDS + 1)
        return NULL;
    put_rest(&w, LIMIT_MEMORY_WORDS + is_wrong);
    text_put(&d->text, body.bytes);
    if (w.all > LIMIT_MEMORY_WORDS)
        return limits_is_refused(
            d, "variables and frames of all threads take 4194305 words, more than 4194304", 0);
    struct ast_kernel *kernel;
    const char *why = limits_is_taken(d, &kernel);
    why = why ? why : is_merely_too_large(kernel);
    return why ? why : lowered(d, kernel);
}

/* ---- tapes ---- */

/* Words of a tape; where it is wrong, and in which word. */
static const char *tapes(struct drawn *d)
{
    static const char *const wrongs[] = {"268435456", "!268435456", "4294967296", "1*16777216",
                                         "1*0",       "!1*2",       "*3",         "2*",
                                         "x",         "1-"};
    enum { ALL = 1 << 24 };
    uint64_t all = 0;
    size_t from = 0, to = 0;
    const uint32_t kind =
        drawn_below(d, 8); /* 0: too many together; 1: a wrong word; 2: just enough, rarely */
    const bool just = kind == 2 && drawn_once_in(d, 24);
    uint32_t entries[32], repeats[32], count = 0;
    for (uint32_t n = 1 + drawn_below(d, 6); n > 0; n--) {
        const bool inner = drawn_once_in(d, 3);
        const uint32_t entry = drawn_once_in(d, 8) ? 268435455 : drawn_below(d, 100);
        const uint32_t repeat = inner               ? 1
                                : kind == 0 || just ? 1 + drawn_below(d, ALL / 8)
                                                    : 1 + drawn_below(d, 9);
        text_format(&d->text, repeat > 1 ? "%s%s%u*%u" : "%s%s%u", count ? " " : "",
                    inner ? "!" : "", (unsigned)entry, (unsigned)repeat);
        entries[count] = entry | (inner ? TAPE_INNER : 0);
        repeats[count++] = repeat;
        all += repeat;
    }
    if (kind <= 1 || just) {
        const uint32_t rest = (uint32_t)(ALL - all) + (kind == 0);
        from = d->text.length + 1;
        if (kind == 1)
            text_format(&d->text, "\n%s", wrongs[drawn_below(d, 10)]);
        else
            text_format(&d->text, "\t3*%u", (unsigned)rest);
        to = d->text.length;
        entries[count] = 3;
        repeats[count++] = rest;
        all += rest;
        text_put(&d->text, kind <= 1 ? " 5" : "");
    }
    size_t column = 0;
    const struct tape *tape = tape_parse(d->arena, d->text.bytes, &column);
    if (kind <= 1)
        return tape                                   ? "taken: a tape that is none"
               : column < from + 1 || column > to + 1 ? "refused: a tape elsewhere than it is wrong"
                                                      : NULL;
    if (!tape || tape->count != all)
        return "refused: a tape, or a part of it";
    for (uint32_t i = 0, at = 0; i < count; i++)
        for (uint32_t k = 0; k < repeats[i]; k++)
            if (tape->entries[at++] != entries[i])
                return "read: another entry of a tape";
    return NULL;
}

/* ---- what forms have ---- */

static bool count_statement(void *context, const struct ast_stm *stm)
{
    (void)stm;
    ++*(uint64_t *)context;
    return false;
}

static bool count_expression(void *context, const struct ast_expr *expr)
{
    (void)expr;
    ++*(uint64_t *)context;
    return false;
}

static uint64_t count_variables(const struct ast_var *var)
{
    uint64_t count = 0;
    for (; var; var = var->next)
        count++;
    return count;
}

static uint64_t count_of(const struct ast_function *f)
{
    uint64_t count = 1 + count_variables(f->locals);
    const struct ast_question all = {count_statement, count_expression, NULL, &count};
    ast_ask_function(&all, f);
    for (const struct ast_block *block = f->blocks; block; block = block->next)
        count += 1 + block->target_count;
    return count;
}

/* Statements, expressions, declarations, blocks and targets. */
static uint64_t nodes_of(const struct ast_kernel *kernel)
{
    uint64_t count = count_of(kernel->main) + count_variables(kernel->vars);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        count += count_of(f);
    return count;
}

/* A kernel whose statements are repeated, calls among them, which blocks have written out. */
static const struct ast_kernel *repeated(struct drawn *d, const char *one, uint32_t times,
                                         const char **why)
{
    static const char *const bodies[] = {"s = x; s = s + x;", "p = x ? s : -x;",
                                         "atomic_add(s, x + 1);"};
    const uint32_t inlined = drawn_below(d, 40);
    d->text.length = 0;
    text_put(&d->text, "shared int s; private int p, v[3];\nvoid f(int x) { ");
    for (uint32_t i = 0; i < inlined; i++)
        text_put(&d->text, bodies[(inlined + i) % 3]);
    text_put(&d->text, " }\nkernel k() {\n");
    for (uint32_t i = 0; i < 9; i++)
        text_put(&d->text, "f(p);\n");
    for (uint32_t i = 0; i < times; i++)
        text_put(&d->text, one);
    text_put(&d->text, "}\n");
    return drawn_read(d->arena, d->text.bytes, why);
}

/* One statement more adds as many nodes to the blocks each time: of two small kernels it is seen how many. */
static const char *blocks(struct drawn *d)
{
    static const char *const ones[] = {"s = s + 1;\n",           "v[p & 1] = tid ? s : 2;\n",
                                       "atomic_max(s, -p);\n",   ";p = 1;\n",
                                       "assert(p < 3 || !s);\n", "p = atomic_cas(s, p, ~1);\n"};
    const char *one = ones[drawn_below(d, 6)], *why = "";
    const struct pcg same = d->rng;
    uint64_t nodes[2];
    for (uint32_t i = 0; i < 2; i++) {
        d->rng = same;
        const struct ast_kernel *small = repeated(d, one, 10 + i, &why),
                                *form = small ? blocks_of(d, small, &why) : NULL;
        if (!form)
            return arena_printf(d->arena, "refused: blocks, %s", why);
        nodes[i] = nodes_of(form);
    }
    const uint64_t each = nodes[1] - nodes[0], fit = 10 + (LIMIT_NODES - nodes[0]) / each;
    const bool is_wrong = drawn_below(d, 2);
    d->rng = same;
    const struct ast_kernel *large = repeated(d, one, (uint32_t)fit + is_wrong, &why);
    if (!large)
        return NULL; /* as it is written it is too large already */
    const bool taken = blocks_of(d, large, &why) != NULL;
    if (taken == is_wrong)
        return taken ? "taken: blocks of more nodes than a text may have"
                     : arena_printf(d->arena, "refused: as many blocks as there may be, %s", why);
    if (is_wrong && strncmp(why, "more than 65536 statements", 26) != 0)
        return arena_printf(d->arena, "refused: too many nodes of blocks, since %s", why);
    return NULL;
}

/* ---- all ---- */

static const struct {
    const char *(*draw)(struct drawn *d);
    uint32_t rare; /* it is asked in one case of so many */
} kinds[] = {{limits_nested_expression, 6},
             {limits_nested_statement, 10},
             {memory, 10},
             {tapes, 10},
             {blocks, 100}};

const char *limits_ask(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_LIMITS);
    const char *differs = NULL;
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds && !differs; i++) {
        d.text = text_begin(arena);
        if (drawn_once_in(&d, kinds[i].rare))
            differs = kinds[i].draw(&d);
        *text = d.text.bytes;
    }
    return differs;
}
