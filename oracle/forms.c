#include "oracle/forms.h"

#include "engine/lower.h"

static void compile(struct forms *forms, struct form *form)
{
    form->program = program_compile(forms->arena, form->kernel, &form->reason);
}

static void make_core(struct forms *forms, struct form *form)
{
    if (forms->given->form != FORM_STRUCTURED) {
        form->reason = "a block program, which the structured semantics do not execute";
        return;
    }
    form->kernel = lower_core(forms->arena, forms->given);
    compile(forms, form);
}

struct forms *forms_new(struct arena *arena, const struct ast_kernel *given)
{
    struct forms *forms = ARENA_NEW(arena, struct forms);
    forms->arena = arena;
    forms->given = given;
    return forms;
}

const struct form *forms_get(struct forms *forms, enum program_id program)
{
    struct form *form = &forms->items[program];
    if (form->made)
        return form;
    form->made = true;
    switch (program) {
    case PROGRAM_CORE:
        make_core(forms, form);
        break;
    case PROGRAM_COUNT:
        break;
    }
    return form;
}
