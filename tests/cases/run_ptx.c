/* PTX that is checked, laid out and run: token stacks on all paths, what is refused, how executions end. */
#include "tests/cases/cases.h"

#include "engine/program/ptx_code.h"
#include "engine/static/ptx_static.h"
#include "engine/subjects/forms.h"
#include "tests/unit/shared/support.h"

static size_t begin_case(void)
{
    if (!test_arena.base)
        assert_int_equal(support_setup(NULL), 0);
    return arena_mark(&test_arena);
}

/* ---- static: token stacks on all paths, before anything runs ---- */

static void put_fault(struct text *out, const char *what, const struct ptx_static_fault *fault)
{
    if (fault->clause)
        text_format(out, "%s, line %u: %s\n", what, fault->line, ptx_static_text(fault->clause));
}

/* The verdict with the first fault; stack-cons 4 as printed; the first of CHK.static's rules that is broken. */
static void check_statically(const char *options, const char *input, struct text *out)
{
    static const char *const verdicts[] = {[PTX_STATIC_CONSISTENT] = "consistent",
                                           [PTX_STATIC_INCONSISTENT] = "inconsistent",
                                           [PTX_STATIC_UNKNOWN] = "not known"};
    static const struct ptx_static_options none;
    size_t mark = begin_case();
    struct diag diag;
    (void)options;
    diag_init(&diag, "case", input, strlen(input));
    const struct ptx_module *module = ptx_parse(&test_arena, input, strlen(input), &diag);
    assert_non_null(module);
    const struct ptx_item *item = module->items;
    while (item->kind != PTX_ITEM_FUNCTION || !item->u.function->is_entry)
        item = item->next;
    struct ptx_static s = ptx_static_check(&test_arena, module, item->u.function, &none);
    if (s.why.clause)
        put_fault(out, verdicts[s.verdict], &s.why);
    else
        text_format(out, "%s\n", verdicts[s.verdict]);
    put_fault(out, "stack-cons 4", &s.four);
    put_fault(out, "rules", &s.rule);
    arena_release(&test_arena, mark);
}

/* ---- compile: layout of a kernel; why not; which register may be read first ---- */

static void compile(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const char *reason = NULL;
    (void)options;
    const struct ast_kernel *kernel = support_parse(input);
    const struct program *program =
        ptx_compile(&test_arena, kernel, kernel->ptx->module, NULL, &reason);
    assert_int_equal(program == NULL, reason != NULL);
    if (!program)
        text_format(out, "refused: %s\n", reason);
    else if (program->ptx->uninitialised)
        text_format(out, "%s\n", program->ptx->uninitialised);
    else
        text_put(out, "good\n");
    arena_release(&test_arena, mark);
}

/* ---- ends: under warps, under warps whose lanes have pcs of their own, under threads ---- */

static const char *end_of(struct forms *forms, enum subject_id id)
{
    const struct subject_info *subject = &subject_table[id];
    const struct form *form = forms_get(forms, subject->program);
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    if (!form->program)
        return form->reason;
    struct machine *machine =
        machine_new(&test_arena, subject->vtable, form->program, &subject->options);
    sched_start(&scheduler, &spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, 2000, NULL);
    if (status == STATUS_TERMINATED || status == STATUS_STEP_LIMIT)
        return status_names[status];
    return arena_printf(&test_arena, "%s, thread %u%s%s", status_names[status],
                        machine->head->fault_thread,
                        machine->fault_text && *machine->fault_text ? ": " : "",
                        machine->fault_text ? machine->fault_text : "");
}

/* A line where all three end alike. */
static void ends(const char *options, const char *input, struct text *out)
{
    static const enum subject_id subjects[] = {SUBJECT_CRS, SUBJECT_THREAD_PC, SUBJECT_BLOCK};
    size_t mark = begin_case();
    struct forms *forms = forms_new(&test_arena, support_parse(input));
    const char *end[3];
    bool alike = true;
    (void)options;
    for (uint32_t i = 0; i < 3; i++) {
        end[i] = end_of(forms, subjects[i]);
        alike &= strcmp(end[i], end[0]) == 0;
    }
    for (uint32_t i = 0; i < 3 && !alike; i++)
        text_format(out, "%s: %s\n", subject_table[subjects[i]].name, end[i]);
    if (alike)
        text_put(out, end[0]);
    arena_release(&test_arena, mark);
}

const struct cases_command cases_run_ptx[] = {
    {"static", check_statically}, {"compile", compile}, {"ends", ends}, {NULL, NULL}};
