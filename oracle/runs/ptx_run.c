#include "oracle/runs/ptx_run.h"

#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/program/ptx_code.h"
#include "engine/schedule/sched.h"
#include "engine/subjects/forms.h"
#include "oracle/drawn/drawn.h"
#include "oracle/layout/layout.h"

#include <inttypes.h>
#include <string.h>

enum { BUDGET = 1 << 14 };

static uint32_t word_of_out(const struct program *program)
{
    const struct ptx_regions *global = &program->ptx->global;
    uint32_t i = 0;
    while (strcmp(global->items[i].name, "out") != 0)
        i++;
    return global->items[i].word;
}

static const char *run(struct arena *arena, struct forms *forms, enum subject_id id,
                       const uint32_t *meant, uint32_t threads, const struct observer *observer)
{
    const struct subject_info *subject = &subject_table[id];
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    const struct form *form = forms_get(forms, subject->program);
    struct scheduler scheduler;
    if (!form->program)
        return arena_printf(arena, "%s has no program, %s", subject->name, form->reason);
    struct machine *machine = machine_new(arena, subject->vtable, form->program, &subject->options);
    if (observer && id == SUBJECT_CRS) {
        machine_observe(machine, observer);
        machine_reset(machine);
    }
    sched_start(&scheduler, &spec, machine, arena);
    if (machine_run(machine, &scheduler.choices, BUDGET, NULL) != STATUS_TERMINATED)
        return arena_printf(arena, "%s does not end", subject->name);
    const uint32_t *is = (const uint32_t *)machine->memory + word_of_out(form->program);
    for (uint32_t i = 0; i < threads; i++)
        if (is[i] != meant[i])
            return arena_printf(
                arena, "%s computes %" PRIu32 " where %" PRIu32 " is meant, in thread %" PRIu32,
                subject->name, is[i], meant[i], i);
    return NULL;
}

const char *ptx_run(struct arena *arena, const char *class_name, const char *text,
                    const uint32_t *meant, uint32_t threads)
{
    return ptx_run_seen(arena, class_name, text, meant, threads, NULL);
}

const char *ptx_run_seen(struct arena *arena, const char *class_name, const char *text,
                         const uint32_t *meant, uint32_t threads, const struct observer *observer)
{
    static const enum subject_id subjects[] = {SUBJECT_BLOCK, SUBJECT_CRS, SUBJECT_THREAD_PC};
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *settings =
        arena_printf(arena, "threads=%" PRIu32 " shared=%d bind:out=buffer:%" PRIu32, threads,
                     PTX_RUN_DYNAMIC, 4 * threads);
    diag_init(diag, class_name, text, strlen(text));
    struct ast_kernel *kernel = ptx_kernel_parse_with(arena, text, strlen(text), settings, diag);
    if (!kernel)
        return arena_printf(arena, "%s: refused, %s", class_name, drawn_first_error(arena, diag));
    struct forms *forms = forms_new(arena, kernel);
    const struct program *program = forms_get(forms, PROGRAM_PTX)->program;
    const char *differs = program ? layout_differs(arena, program, true) : NULL;
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects && !differs; i++)
        differs = run(arena, forms, subjects[i], meant, threads, observer);
    return differs ? arena_printf(arena, "%s: %s", class_name, differs) : NULL;
}
