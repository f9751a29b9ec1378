#include "engine/subjects/forms.h"

#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/predicate.h"
#include "engine/program/ptx_code.h"
#include "engine/to_ptx/lower_ptx.h"
#include "engine/to_ptx/ptx_inject.h"

enum making {
    MAKING_CORE,
    MAKING_BLOCKS,
    MAKING_PREDICATED,
    MAKING_LOCKSTEP,
    MAKING_PTX,
    MAKING_CRS
};

struct form_recipe {
    enum making making;
    enum program_id from;
    struct lower_cfg_options lower;
    unsigned without; /* passes of normalise that are left out */
    struct program_options compile;
    struct predicate_options transform;
    bool may_be_given; /* a kernel in lock-step form is this one */
    bool shuffled;     /* in a sort order that the launch's seed draws */
};

static const struct form_recipe recipes[PROGRAM_COUNT] = {
#define PROGRAM(id, name, made, sentence, ...)                                                     \
    [PROGRAM_##id] = {.making = MAKING_##made, __VA_ARGS__},
#include "engine/subjects/programs.def"
#undef PROGRAM
};

static void compile(struct forms *forms, struct form *form, const struct form_recipe *recipe)
{
    if (form->kernel)
        form->program =
            program_compile_with(forms->arena, form->kernel, &recipe->compile, &form->reason);
}

static void make_core(struct forms *forms, struct form *form, const struct form_recipe *recipe)
{
    if (forms->given->form != FORM_STRUCTURED) {
        form->reason = "a block program, which the structured semantics do not execute";
        return;
    }
    form->kernel = lower_core(forms->arena, forms->given);
    compile(forms, form, recipe);
}

static void make_blocks(struct forms *forms, struct form *form, const struct form_recipe *recipe)
{
    const struct ast_kernel *blocks = forms->given;
    if (blocks->form == FORM_LOCKSTEP) {
        form->reason = "a kernel in lock-step form: there is no P";
        return;
    }
    if (blocks->form == FORM_STRUCTURED) {
        const struct form *core = forms_get(forms, PROGRAM_CORE);
        struct lower_cfg_options options = recipe->lower;
        options.link = core->program != NULL;
        blocks = lower_cfg(forms->arena, core->kernel, &options, &form->reason);
    } else if (recipe->lower.anchored || recipe->lower.logic_blocks) {
        form->reason = "a block program, which is not lowered";
        return;
    }
    if (blocks)
        form->kernel =
            normalise(forms->arena, blocks, NORMALISE_ALL & ~recipe->without, &form->reason);
    compile(forms, form, recipe);
}

/* pi(P), phi(P); P is compiled before, so that its marks are the numbers of its statements. */
static void make_transformed(struct forms *forms, struct form *form,
                             const struct form_recipe *recipe)
{
    bool lockstep = recipe->making == MAKING_LOCKSTEP;
    struct predicate_options options = recipe->transform;
    if (forms->given->form == FORM_LOCKSTEP) {
        if (recipe->may_be_given)
            form->kernel = forms->given;
        else
            form->reason = "a kernel in lock-step form: there is no P";
        compile(forms, form, recipe);
        return;
    }
    const struct form *p = forms_get(forms, recipe->from);
    if (!p->program) {
        form->reason = p->reason;
        return;
    }
    if (recipe->shuffled)
        options.order_seed = forms->given->launch.seed * 2 + 1;
    form->kernel = lockstep ? lockstep_form(forms->arena, p->kernel, &options, &form->reason)
                            : predicate(forms->arena, p->kernel, &options, &form->reason);
    compile(forms, form, recipe);
}

/* ---- PTX ---- */

/* With global and shared memory as in the other forms. */
static const struct program *compile_lowered(struct forms *forms, const struct ast_kernel *kernel,
                                             const struct ptx_module *module, const char **reason)
{
    struct ptx_code_options options = {.initial = lower_ptx_initial(forms->arena, forms->given)};
    return ptx_compile(forms->arena, kernel, module, &options, reason);
}

static bool votes(const struct program *program)
{
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        if (program->ptx->ops[pc].exec == PTX_EXEC_VOTE)
            return true;
    return false;
}

/* What runs threads has the program of the warps, where a structured kernel is compiled with the
 * instructions of the branch unit. */
static void make_ptx(struct forms *forms, struct form *form)
{
    const struct ast_kernel *given = forms->given;
    if (given->form == FORM_PTX) {
        form->kernel = given;
        form->program = ptx_compile(forms->arena, given, given->ptx->module, NULL, &form->reason);
        return;
    }
    if (given->form == FORM_BLOCKS) {
        form->kernel = lower_ptx(forms->arena, given, &form->reason);
        if (form->kernel)
            form->program =
                compile_lowered(forms, form->kernel, form->kernel->ptx->module, &form->reason);
        return;
    }
    *form = *forms_get(forms, PROGRAM_CRS);
    if (form->program && votes(form->program)) {
        form->program = NULL;
        form->reason = "votes are of warps, these are threads on their own";
    }
}

static void make_crs(struct forms *forms, struct form *form)
{
    const struct ast_kernel *given = forms->given;
    if (given->form == FORM_STRUCTURED) {
        form->kernel = lower_ptx(forms->arena, given, &form->reason);
        if (form->kernel)
            form->program =
                compile_lowered(forms, form->kernel, form->kernel->ptx->module, &form->reason);
        return;
    }
    if (given->form == FORM_LOCKSTEP) {
        form->reason = "a kernel in lock-step form, which is not compiled to PTX";
        return;
    }
    if (given->form == FORM_PTX && given->ptx->injected && !given->ptx->raw) {
        form->kernel = given;
        form->program = ptx_compile(forms->arena, given, given->ptx->injected, NULL, &form->reason);
        return;
    }
    const struct form *ptx = forms_get(forms, PROGRAM_PTX);
    const struct ptx_module *module = ptx->kernel ? ptx->kernel->ptx->module : NULL;
    form->reason = ptx->reason;
    if (module && !ptx->kernel->ptx->raw)
        module = ptx_inject(forms->arena, module, &form->reason);
    if (!module)
        return;
    if (module == ptx->kernel->ptx->module) {
        *form = *ptx;
        return;
    }
    const struct ptx_code_options options = {.before = ptx->program ? ptx->program->ptx : NULL};
    form->kernel = ptx->kernel;
    form->program = given->form == FORM_PTX
                        ? ptx_compile(forms->arena, given, module, &options, &form->reason)
                        : compile_lowered(forms, ptx->kernel, module, &form->reason);
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
    const struct form_recipe *recipe = &recipes[program];
    if (form->made)
        return form;
    form->made = true;
    if (forms->given->form == FORM_PTX && recipe->making != MAKING_PTX &&
        recipe->making != MAKING_CRS) {
        form->reason = "a kernel in PTX form, which warps and threads of PTX execute";
        return form;
    }
    switch (recipe->making) {
    case MAKING_CORE:
        make_core(forms, form, recipe);
        break;
    case MAKING_BLOCKS:
        make_blocks(forms, form, recipe);
        break;
    case MAKING_PREDICATED:
    case MAKING_LOCKSTEP:
        make_transformed(forms, form, recipe);
        break;
    case MAKING_PTX:
        make_ptx(forms, form);
        break;
    case MAKING_CRS:
        make_crs(forms, form);
        break;
    }
    return form;
}

bool forms_is_predicated(enum program_id program)
{
    return recipes[program].making == MAKING_PREDICATED;
}

enum well_formed forms_well_formed(struct forms *forms, const char **reason)
{
    struct location at;
    const struct form *p = forms_get(forms, PROGRAM_BLOCKS);
    if (!forms->judged && p->kernel) {
        forms->well_formed = well_formed(forms->arena, p->kernel, &forms->ill_formed, &at);
    } else if (!forms->judged) {
        forms->well_formed = ILL_FORMED;
        forms->ill_formed = p->reason;
    }
    forms->judged = true;
    *reason = forms->ill_formed;
    return forms->well_formed;
}
