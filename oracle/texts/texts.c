#include "oracle/texts/texts.h"

#include "engine/input/input.h"
#include "oracle/check/evidence.h"
#include "oracle/drawn/drawn.h"
#include "oracle/drawn/words.h"
#include "oracle/layout/layout.h"

#include <string.h>

enum { TEXTS_SEED = 29 }; /* tells this draw from others */

/* ---- what differs ---- */

/* A text of a kernel, read, says the same. */
static const char *printed(struct arena *arena, const char *text, const char *words)
{
    const char *why;
    const struct ast_kernel *again = drawn_read(arena, text, &why);
    if (!again)
        return arena_printf(arena, "printed: refused, %s", why);
    return drawn_differ(arena, "printed", words_of_kernel(arena, again), words);
}

/* What is stated of the matrix is of the kernel as it is written: no copy has it. */
static const char *words_of_copy(struct arena *arena, const struct ast_kernel *kernel)
{
    struct ast_kernel *copy = ast_kernel_copy(arena, kernel);
    copy->progress = kernel->progress;
    copy->progress_states = kernel->progress_states;
    return words_of_kernel(arena, copy);
}

/* A text says the words that were drawn beside it, however often it is read, copied and printed. */
static const char *of_text(struct drawn *d)
{
    struct arena *arena = d->arena;
    const char *why;
    const struct ast_kernel *kernel = drawn_read(arena, d->text.bytes, &why);
    if (!kernel)
        return arena_printf(arena, "read: refused, %s", why);
    const char *differs =
        drawn_differ(arena, "read", words_of_kernel(arena, kernel), d->words.bytes);
    if (!differs)
        differs = drawn_differ(arena, "copied", words_of_copy(arena, kernel), d->words.bytes);
    return differs ? differs : printed(arena, print_kernel(arena, kernel), d->words.bytes);
}

/* ---- what is broken ---- */

struct location texts_place(const char *text, size_t at)
{
    struct location place = {1, 1};
    for (size_t i = 0; i < at; i++) {
        place.column = text[i] == '\n' ? 1 : place.column + 1;
        place.line += text[i] == '\n';
    }
    return place;
}

static bool tells(const struct diag *diag, const char *part, const struct location *at)
{
    for (uint32_t i = 0; i < diag->count && i < DIAG_MAX; i++)
        if (strstr(diag->entries[i].text, part) &&
            (!at ||
             (diag->entries[i].at.line == at->line && diag->entries[i].at.column == at->column)))
            return true;
    return diag->count > DIAG_MAX;
}

/* A text that may be taken with one place broken - a character that no language knows before a token; no bracket where
 * there was one; the end where braces are open - may not be. */
static const char *broken(struct drawn *d, const char **text)
{
    static const char unknown[] = "unexpected character '`'", end[] = "the end of the text";
    enum { UNKNOWN, BRACKET, END } kind = drawn_below(d, 3);
    const struct drawn_place place = kind == BRACKET ? d->bracket : d->any;
    const struct location at = texts_place(d->text.bytes, place.at);
    struct diag *diag = ARENA_NEW(d->arena, struct diag);
    const char *whole = d->text.bytes, *rest = whole + place.at;
    if ((kind == END && place.depth == 0) || (kind == BRACKET && d->brackets == 0))
        return NULL;
    *text = arena_printf(d->arena, "%.*s%s%s", (int)place.at, whole, kind == UNKNOWN ? "`" : "",
                         kind == END       ? ""
                         : kind == BRACKET ? rest + place.length
                                           : rest);
    diag_init(diag, "text", *text, strlen(*text));
    if (parse_kernel(d->arena, *text, strlen(*text), diag))
        return "taken: a text without one of its tokens, or with one too many";
    if (kind == UNKNOWN && !tells(diag, unknown, &at))
        return arena_printf(d->arena, "refused: nobody tells of the character at %u:%u", at.line,
                            at.column);
    if (kind == END && !tells(diag, end, NULL))
        return "refused: nobody tells of the end of the text";
    return NULL;
}

/* What a kernel says must not be is told of, where it stands. */
const char *texts_of_mistake(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_MISTAKES);
    struct drawn_mistake mistake = {.places = 4u << drawn_below(&d, 6)};
    struct diag *diag = ARENA_NEW(arena, struct diag);
    texts_draw_kernel(&d, &mistake);
    *text = d.text.bytes;
    if (!mistake.told)
        return NULL;
    const struct location at = texts_place(*text, mistake.at);
    diag_init(diag, "text", *text, strlen(*text));
    if (parse_kernel(arena, *text, strlen(*text), diag))
        return arena_printf(arena, "taken: '%s' was to be told at %u:%u", mistake.told, at.line,
                            at.column);
    if (tells(diag, mistake.told, &at))
        return NULL;
    return arena_printf(arena, "refused: '%s' was to be told at %u:%u, and is not", mistake.told,
                        at.line, at.column);
}

static const char *of_drawn(struct drawn *d, const char **text)
{
    *text = d->text.bytes;
    const char *differs = of_text(d);
    return differs ? differs : broken(d, text);
}

const char *texts_of_kernel(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_KERNELS);
    texts_draw_kernel(&d, NULL);
    return of_drawn(&d, text);
}

/* A module that can be laid out is so as it says. Some take more memory than there is, or what nobody executes. */
static const char *laid_out(struct arena *arena, const char *read, const char **text)
{
    const char *why;
    const struct ast_kernel *kernel = drawn_read(arena, read, &why);
    const struct program *program = kernel ? program_compile(arena, kernel, &why) : NULL;
    const char *differs = program ? layout_differs(arena, program, true) : NULL;
    if (differs)
        *text = read;
    return differs ? arena_printf(arena, "laid out, %s", differs) : NULL;
}

const char *texts_of_ptx(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_MODULES);
    const char *why;
    bool wrong = texts_draw_ptx(&d);
    *text = d.text.bytes;
    const struct ast_kernel *kernel = wrong ? drawn_read(arena, d.text.bytes, &why) : NULL;
    if (wrong)
        return kernel ? "taken: an operand, or clusters, that do not fit" : NULL;
    const char *differs = of_drawn(&d, text);
    return differs ? differs : laid_out(arena, d.text.bytes, text);
}

/* ---- the oracle ---- */

uint64_t texts_number(const struct checking *c)
{
    return pcg_splitmix(c->options->seed + TEXTS_SEED);
}

struct divergence *texts_report(struct checking *c, const char *text, const char *differs,
                                bool drawn)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "text", text);
    evidence_string(&e, "differs", differs);
    *d = (struct divergence){.oracle = ORACLE_METAMORPHIC,
                             .class_name = "text",
                             .rule = RULE_NONE,
                             .subject = SUBJECT_THREADS,
                             .evidence = evidence_close(&e),
                             .drawn = drawn};
    divergence_of_part(c->arena, d, differs);
    d->summary = arena_printf(c->arena, "a text does not say what it should, %s", differs);
    answer_diverge(&c->result->answers[ORACLE_METAMORPHIC], d);
    return d;
}

/* What lowering makes has shapes that nobody writes. A text of as many bytes as the language allows nodes, or fewer, is
 * within the limit of nodes; longer ones may be refused. */
static const char *of_forms(struct checking *c, const char **text)
{
    const char *differs = NULL;
    for (int i = 0; i < PROGRAM_COUNT && !differs; i++) {
        const struct ast_kernel *kernel = c->forms->items[i].kernel;
        if (!kernel)
            continue;
        *text = print_kernel(c->arena, kernel);
        if (strlen(*text) <= LIMIT_NODES)
            differs = printed(c->arena, *text, words_of_kernel(c->arena, kernel));
    }
    return differs;
}

void texts_judge(struct checking *c)
{
    const uint64_t draw = texts_number(c);
    const char *text, *differs;
    bool taken;
    size_t mark = arena_mark(c->arena);
    differs =
        draw & 1 ? texts_of_ptx(c->arena, draw, &text) : texts_of_kernel(c->arena, draw, &text);
    if (!differs && draw / 8 % TEXTS_PROGRAMS_SHARE == 0)
        differs = texts_of_program(c->arena, draw / 16384, &text);
    if (!differs)
        differs = texts_of_rows(c->arena, draw / 4, &text);
    for (uint64_t i = 0; i < TEXTS_MISTAKES && !differs; i++)
        differs = texts_of_mistake(c->arena, draw / 4 + i, &text);
    if (!differs && draw / 64 % TEXTS_HOST_SHARE == 0)
        differs = texts_of_host(c->arena, draw / 256, &text);
    if (!differs && draw / 4096 % TEXTS_BASE_SHARE == 0)
        differs = texts_of_base(c->arena, draw / 65536, &text);
    if (!differs && draw / 32 % TEXTS_LAYOUT_SHARE == 0)
        differs = texts_of_layout(c->arena, draw / 1024, &text, &taken);
    if (!differs && draw / 536870912 % TEXTS_LAUNCH_SHARE == 1)
        differs = texts_of_launch(c->arena, draw / 8589934592, &text);
    if (!differs && draw / 536870912 % TEXTS_LAUNCH_SHARE == 2)
        differs = texts_of_assumed(c->arena, draw / 8589934592, &text);
    if (!differs && draw / 536870912 % TEXTS_LAUNCH_SHARE >= 6)
        differs = texts_of_settings(c->arena, draw / 8589934592, &text);
    bool drawn = differs != NULL;
    if (!differs && draw / 2 % TEXTS_FORMS_SHARE == 0)
        differs = of_forms(c, &text);
    if (differs)
        texts_report(c, text, differs, drawn);
    else
        arena_release(c->arena, mark);
}
