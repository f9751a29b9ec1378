#include "fuzz/outside/ptx_run.h"

#include "engine/input/ptx_kernel.h"
#include "engine/ptx/ptx_reach.h"
#include "oracle/check/check.h"

#include <string.h>

enum {
    SCHEDULES = 4,
    BUDGET_STEPS = 1 << 21,
};

static const subject_set subjects =
    SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_THREAD_PC) | SUBJECT_BIT(SUBJECT_BLOCK);

static const char *first_error(struct arena *arena, const struct diag *diag)
{
    return diag->count ? arena_printf(arena, "line %u: %s", (unsigned)diag->entries[0].at.line,
                                      diag->entries[0].text)
                       : "not read";
}

/* The entry with its buffer; NULL: *why. */
static struct ast_kernel *launch(struct arena *arena, const struct ptx_module *module,
                                 const struct emitted *emitted, const char **why)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const struct ptx_function *entry = ptx_find_entry(module, emitted->entry);
    const char *settings = arena_printf(arena, "entry=%s threads=%u blocks=%u bind:0=buffer:%u",
                                        emitted->entry, (unsigned)emitted->threads,
                                        (unsigned)emitted->blocks, (unsigned)emitted->words * 4u);
    struct ast_kernel *kernel =
        ptx_kernel_new(arena, entry ? ptx_part(arena, module, entry) : module, settings, diag);
    if (!kernel) {
        *why = first_error(arena, diag);
        return NULL;
    }
    struct ptx_bind *bind = &kernel->ptx->arguments[0].bind;
    bind->fill = PTX_FILL_FILE;
    bind->data = (const uint8_t *)emitted->initial;
    bind->data_bytes = emitted->words * 4u;
    return kernel;
}

static uint32_t offset_of(const struct program *program, const struct ast_var *buffer)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast == buffer)
            return program->vars[i].offset;
    return UINT32_MAX;
}

/* The way in which a run did not terminate; NULL: it did. */
static const char *bad_end(const struct check_run *run)
{
    for (uint32_t status = 0; status < STATUS_COUNT; status++)
        if (status != STATUS_TERMINATED && run->statuses[status])
            return status_names[status];
    return NULL;
}

static void judge(struct arena *arena, const struct check_result *checked,
                  const struct ast_kernel *kernel, struct outside_result *result)
{
    const struct ast_var *buffer = kernel->ptx->arguments[0].buffer;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct check_run *run = &checked->runs[s];
        if (!(subjects & SUBJECT_BIT(s)) || run->reason)
            continue;
        const char *end = bad_end(run);
        if (end) {
            result->end = strcmp(end, status_names[STATUS_UNSUPPORTED]) == 0 ? OUTSIDE_UNSUPPORTED
                                                                             : OUTSIDE_RUN_ERROR;
            result->cause = arena_printf(arena, "%s: %s", subject_table[s].name, end);
            return;
        }
        uint32_t offset = offset_of(run->program, buffer);
        for (uint32_t f = 0; f < run->final_count && result->final_count < 4; f++) {
            result->finals[result->final_count] = run->finals[f] + offset;
            result->ways[result->final_count++] = subject_table[s].name;
        }
    }
    result->end = result->final_count ? OUTSIDE_FINAL : OUTSIDE_UNSUPPORTED;
    if (!result->final_count)
        result->cause = checked->reason ? checked->reason : "no subject of ours runs it";
}

static void run_entry(struct arena *arena, const struct ptx_module *module,
                      const struct emitted *emitted, struct outside_result *result)
{
    struct check_options options = CHECK_DEFAULTS;
    struct check_result checked;
    const char *why = NULL;
    struct ast_kernel *kernel = launch(arena, module, emitted, &why);
    if (!kernel) {
        *result = (struct outside_result){.end = OUTSIDE_UNSUPPORTED, .cause = why, .log = ""};
        return;
    }
    options.subjects = subjects;
    options.oracles = 0;
    options.schedules = SCHEDULES;
    options.budget_steps = BUDGET_STEPS;
    check_kernel(arena, kernel, &options, &checked);
    *result = (struct outside_result){.log = ""};
    judge(arena, &checked, kernel, result);
}

void outside_run_ptx(struct arena *arena, const char *text, size_t length,
                     const struct outside_batch *batch, struct outside_result *results)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const struct ptx_module *module = ptx_parse(arena, text, length, diag);
    const char *why = module ? NULL : first_error(arena, diag);
    for (uint32_t i = 0; i < batch->count; i++)
        if (module)
            run_entry(arena, module, &batch->kernels[i], &results[i]);
        else
            results[i] =
                (struct outside_result){.end = OUTSIDE_UNSUPPORTED, .cause = why, .log = ""};
}
