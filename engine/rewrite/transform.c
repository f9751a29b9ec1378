#include "engine/rewrite/transform.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/language/parse.h"
#include "engine/rewrite/transform_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct transform_info transform_table[TRANSFORM_COUNT] = {
#define TRANSFORM(id, function, name, forms, applies, sentence)                                    \
    [TRANSFORM_##id] = {name, applies, sentence, forms},
#include "engine/rewrite/transforms.def"
#undef TRANSFORM
};

static void (*const functions[TRANSFORM_COUNT])(struct edit *) = {
#define TRANSFORM(id, function, ...) [TRANSFORM_##id] = function,
#include "engine/rewrite/transforms.def"
#undef TRANSFORM
};

/* ---- lists ---- */

static bool parse_step(const char *text, size_t length, struct transform_step *step)
{
    size_t name = 0;
    while (name < length && text[name] != ':')
        name++;
    uint64_t number = 0;
    if (name < length && name + 1 == length)
        return false;
    for (size_t i = name + 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > UINT32_MAX)
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    if (number > UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < TRANSFORM_COUNT; i++)
        if (strlen(transform_table[i].name) == name &&
            strncmp(transform_table[i].name, text, name) == 0) {
            *step = (struct transform_step){(enum transform_id)i, (uint32_t)number};
            return true;
        }
    return false;
}

bool transform_parse_list(const char *text, struct transform_list *list, const char **error_at)
{
    *list = (struct transform_list){.count = 0};
    do {
        size_t length = strcspn(text, ",");
        *error_at = text;
        if (list->count == TRANSFORM_STEPS_MAX ||
            !parse_step(text, length, &list->steps[list->count++]))
            return false;
        text += length;
    } while (*text++ == ',');
    return true;
}

char *transform_print_list(struct arena *arena, const struct transform_list *list)
{
    char *text = arena_strndup(arena, "", 0);
    for (uint32_t i = 0; i < list->count; i++)
        text = arena_printf(arena, "%s%s%s:%" PRIu32, text, i ? "," : "",
                            transform_table[list->steps[i].id].name, list->steps[i].number);
    return text;
}

static bool is_for(enum transform_id id, enum ast_form form)
{
    static const uint32_t bits[] = {
        [FORM_STRUCTURED] = ON_STRUCTURED, [FORM_BLOCKS] = ON_BLOCKS, [FORM_PTX] = ON_PTX};
    return form != FORM_LOCKSTEP && transform_table[id].forms & bits[form];
}

/* ---- application ---- */

static struct edit begin(struct arena *arena, const struct ast_kernel *kernel, uint32_t target)
{
    struct edit edit = {.arena = arena, .target = target};
    if (kernel->form != FORM_PTX)
        edit.kernel = ast_kernel_copy(arena, kernel);
    else if (target == UINT32_MAX) /* counting only looks at it, and reading costs */
        edit.kernel = (struct ast_kernel *)(uintptr_t)kernel;
    else
        edit.kernel = edit_reread(arena, kernel);
    INVARIANT(edit.kernel != NULL); /* what we print parses */
    if (kernel->form == FORM_STRUCTURED)
        edit_normalise(arena, edit.kernel);
    return edit;
}

/* Counting changes nothing, so one copy of the kernel serves for all. */
static uint32_t count_places(struct edit *counting, enum transform_id id)
{
    counting->seen = 0;
    if (is_for(id, counting->kernel->form))
        functions[id](counting);
    return counting->seen;
}

uint32_t transform_places(struct arena *arena, const struct ast_kernel *kernel,
                          enum transform_id id)
{
    size_t mark = arena_mark(arena);
    struct edit counting = begin(arena, kernel, UINT32_MAX);
    uint32_t places = count_places(&counting, id);
    arena_release(arena, mark);
    return places;
}

/* NULL: it is one, well-formed, and the graphs of blocks reducible. */
static const char *why_no_kernel(struct arena *arena, const struct ast_kernel *kernel)
{
    if (!kernel)
        return "its text is refused";
    if (ast_check(kernel, NULL))
        return kernel->form == FORM_BLOCKS && !edit_is_reducible(arena, kernel)
                   ? "a graph is not reducible"
                   : NULL;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "", NULL, 0);
    (void)ast_check(kernel, diag);
    return diag->entries[0].text;
}

/* NULL: there is no place, or the result is no kernel any more; *broken: why not, where no limit is in the way. */
static struct ast_kernel *apply_step(struct arena *arena, const struct ast_kernel *kernel,
                                     const struct transform_step *step, uint32_t places,
                                     const char **broken)
{
    size_t mark = arena_mark(arena);
    if (places == 0)
        return NULL;
    struct edit edit = begin(arena, kernel, step->number % places);
    edit.number = step->number / places;
    functions[step->id](&edit);
    if (edit_done(&edit) && kernel->form == FORM_PTX)
        edit.kernel = edit_reread(arena, edit.kernel);
    const char *why = edit_done(&edit) ? why_no_kernel(arena, edit.kernel) : NULL;
    if (edit_done(&edit) && !why)
        return edit.kernel;
    if (why && !(edit.kernel && language_is_too_large(edit.kernel)))
        *broken = why;
    else
        arena_release(arena, mark);
    return NULL;
}

struct ast_kernel *transform_apply(struct arena *arena, const struct ast_kernel *kernel,
                                   const struct transform_list *list, struct transform_list *done)
{
    struct ast_kernel *result = ast_kernel_copy(arena, kernel);
    struct transform_list applied = {.count = 0};
    for (uint32_t i = 0; i < list->count && !applied.broken; i++) {
        const struct transform_step *step = &list->steps[i];
        uint32_t places = transform_places(arena, result, step->id);
        struct ast_kernel *next = apply_step(arena, result, step, places, &applied.broken);
        if (next)
            result = next;
        if (next || applied.broken)
            applied.steps[applied.count++] = list->steps[i];
    }
    if (done)
        *done = applied;
    return result;
}

/* Any; one in four is of those that copy a loop's body or its test, or a block, or compute both sides of a branch,
 * which few kernels have a place for. */
static enum transform_id draw_id(struct pcg *rng)
{
    static const enum transform_id few[] = {TRANSFORM_UNROLL,       TRANSFORM_FLATTEN,
                                            TRANSFORM_PEEL,         TRANSFORM_SPLIT,
                                            TRANSFORM_GRAPH_UNROLL, TRANSFORM_CLONE};
    uint32_t which = pcg_below(rng, 4), one = pcg_below(rng, sizeof few / sizeof few[0]);
    return which == 0 ? few[one] : (enum transform_id)pcg_below(rng, TRANSFORM_COUNT);
}

struct ast_kernel *transform_draw(struct arena *arena, const struct ast_kernel *kernel,
                                  uint64_t seed, struct transform_list *list)
{
    enum { TRIES = 32 };
    struct pcg rng = pcg_derive(seed, PCG_TRANSFORM, 0);
    struct ast_kernel *result = ast_kernel_copy(arena, kernel);
    /* The greater of two draws: one execution tells about all steps, and the reducer says which it was. */
    uint32_t wanted = pcg_below(&rng, TRANSFORM_DRAWN_MAX);
    uint32_t other = pcg_below(&rng, TRANSFORM_DRAWN_MAX);
    wanted = 1 + (wanted > other ? wanted : other);
    if (kernel->form == FORM_PTX)
        wanted = 1 + wanted % 2; /* each reads the module twice */
    struct edit counting = begin(arena, result, UINT32_MAX);
    *list = (struct transform_list){.count = 0};
    for (uint32_t i = 0; i < TRIES && list->count < wanted && !list->broken; i++) {
        struct transform_step step = {.id = draw_id(&rng)};
        step.number = pcg_next(&rng);
        uint32_t places = count_places(&counting, step.id);
        struct ast_kernel *next = apply_step(arena, result, &step, places, &list->broken);
        if (!next && !list->broken)
            continue;
        result = next ? next : result;
        list->steps[list->count++] = step;
        if (list->count < wanted)
            counting = begin(arena, result, UINT32_MAX);
    }
    return result;
}
