/*
 * reduce_ptx_settings.c - kernels of FORM_PTX: launch, initial values of registers, values of parameters.
 */
#include "engine/input/ptx_kernel.h"
#include "fuzz/reduce/reduce_internal.h"

#include <inttypes.h>
#include <string.h>

static void try_setting(struct edit *edit, const char *settings)
{
    if (!edit_done(edit) && edit_here(edit) && !reduce_ptx_set(edit, settings))
        edit->kernel->ptx->entry = NULL; /* malformed: dropped by the caller */
}

/* ---- launch ---- */

/* "0110": of a predicate, a digit a lane; also a number that reads so, which does no harm. */
static bool is_mask(const char *text)
{
    return strlen(text) > 1 && strspn(text, "01") == strlen(text);
}

/* The values of a register for the first lanes. */
static const char *first_values(struct edit *edit, const char *text, uint32_t lanes)
{
    if (strchr(text, ',')) {
        size_t length = 0;
        for (uint32_t i = 0; i < lanes && text[length]; i++)
            length += strcspn(text + length + (i > 0), ",") + (i > 0);
        return arena_strndup(edit->arena, text, length);
    }
    return is_mask(text) && strlen(text) > lanes ? arena_strndup(edit->arena, text, lanes) : text;
}

/* The values without those of one lane. */
static const char *values_without(struct edit *edit, const char *text, uint32_t lane)
{
    const char *head = first_values(edit, text, lane);
    size_t length = lane > 0 ? strlen(head) : 0;
    if (is_mask(text))
        return strlen(text) <= lane
                   ? text
                   : arena_printf(edit->arena, "%.*s%s", (int)lane, text, text + lane + 1);
    if (!strchr(text, ',') || text[length] == '\0')
        return text;
    const char *rest = text + length + (lane > 0);
    rest += strcspn(rest, ",");
    return arena_printf(edit->arena, "%.*s%s", (int)length, text, rest + (lane == 0 && *rest));
}

static const char *launch_settings(struct edit *edit, uint32_t threads, uint32_t warp,
                                   uint32_t blocks)
{
    return arena_printf(edit->arena, "threads=%" PRIu32 " warp=%" PRIu32 " blocks=%" PRIu32,
                        threads, warp, blocks);
}

static void try_launch(struct edit *edit, uint32_t threads, uint32_t warp, uint32_t blocks)
{
    const char *settings = launch_settings(edit, threads, warp, blocks);
    if (warp < edit->kernel->launch.warp)
        for (const struct ptx_values *v = edit->kernel->ptx->registers; v; v = v->next)
            settings = arena_printf(edit->arena, "%s reg:%s=%s", settings, v->name,
                                    first_values(edit, v->text, warp));
    try_setting(edit, settings);
}

/* The lane goes from each warp that has it. */
static void try_without_lane(struct edit *edit, uint32_t lane)
{
    const struct ast_launch launch = edit->kernel->launch;
    uint32_t full = launch.threads / launch.warp, rest = launch.threads % launch.warp;
    uint32_t threads = full * (launch.warp - 1) + rest - (rest > lane);
    if (threads == 0)
        return;
    const char *settings = launch_settings(edit, threads, launch.warp - 1, launch.blocks);
    for (const struct ptx_values *v = edit->kernel->ptx->registers; v; v = v->next)
        settings = arena_printf(edit->arena, "%s reg:%s=%s", settings, v->name,
                                values_without(edit, v->text, lane));
    try_setting(edit, settings);
}

void reduce_ptx_launch(struct edit *edit)
{
    const struct ast_launch launch = edit->kernel->launch;
    static const uint32_t few[] = {1, 2, 3, 4, 8};
    if (launch.blocks > 1)
        try_launch(edit, launch.threads, launch.warp, 1);
    if (launch.threads > launch.warp)
        try_launch(edit, launch.warp, launch.warp, launch.blocks);
    if (launch.threads < launch.warp)
        try_launch(edit, launch.threads, launch.threads, launch.blocks);
    for (uint32_t i = 0; i < 5 && !edit_done(edit); i++)
        if (few[i] < launch.warp && few[i] < launch.threads)
            try_launch(edit, few[i], few[i], launch.blocks);
    for (uint32_t i = 0; i < 5 && !edit_done(edit); i++)
        if (few[i] < launch.threads)
            try_launch(edit, few[i], launch.warp, launch.blocks);
    for (uint32_t lane = launch.warp; lane-- > 0 && launch.warp > 1 && !edit_done(edit);)
        try_without_lane(edit, lane);
    if (launch.seed != 0)
        try_setting(edit, "seed=0");
}

/* ---- values ---- */

/* Each value of a register that is not 0 becomes 0. */
static void zero_values(struct edit *edit, const struct ptx_values *v)
{
    bool listed = strchr(v->text, ',') != NULL;
    for (const char *at = v->text; *at && !edit_done(edit);) {
        size_t length = listed ? strcspn(at, ",") : is_mask(v->text) ? 1 : strlen(at);
        bool zero = length == 1 && *at == '0';
        if (!zero)
            try_setting(edit, arena_printf(edit->arena, "reg:%s=%.*s0%s", v->name,
                                           (int)(at - v->text), v->text, at + length));
        at += length + (listed && at[length]);
    }
}

static void registers(struct edit *edit)
{
    struct ptx_values **list = &edit->kernel->ptx->registers;
    while (*list && !edit_done(edit)) {
        struct ptx_values *v = *list;
        if (edit_here(edit)) {
            *list = v->next;
            return;
        }
        if (strchr(v->text, ','))
            try_setting(edit, arena_printf(edit->arena, "reg:%s=%.*s", v->name,
                                           (int)strcspn(v->text, ","), v->text));
        if (!reduce_ptx_holds_addresses(edit, v->name))
            zero_values(edit, v);
        list = &v->next;
    }
}

/* What is bound to a parameter: a small number, a small buffer of zeros. */
static void binding(struct edit *edit, const struct ptx_bind *bind)
{
    const char *name = bind->parameter;
    switch (bind->kind) {
    case PTX_BIND_VALUE:
        if (bind->value != 0)
            try_setting(edit, arena_printf(edit->arena, "bind:%s=0", name));
        if (bind->value > 1)
            try_setting(edit, arena_printf(edit->arena, "bind:%s=1", name));
        break;
    case PTX_BIND_BUFFER:
    case PTX_BIND_CONST:
        if (bind->fill != PTX_FILL_ZERO)
            try_setting(edit,
                        arena_printf(edit->arena, "bind:%s=buffer:%" PRIu32, name, bind->bytes));
        for (uint32_t bytes = 4; bytes <= bind->bytes / 2 && bind->fill == PTX_FILL_ZERO;
             bytes *= 4)
            try_setting(edit, arena_printf(edit->arena, "bind:%s=buffer:%" PRIu32, name, bytes));
        break;
    case PTX_BIND_SHARED:
        for (uint32_t bytes = 4; bytes <= bind->bytes / 2; bytes *= 4)
            try_setting(edit, arena_printf(edit->arena, "bind:%s=shared:%" PRIu32, name, bytes));
        break;
    case PTX_BIND_WORDS:
        break;
    }
}

void reduce_ptx_values(struct edit *edit)
{
    registers(edit);
    for (const struct ptx_bind *b = edit->kernel->ptx->binds; b && !edit_done(edit); b = b->next)
        binding(edit, b);
}
