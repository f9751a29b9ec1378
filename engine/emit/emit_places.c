/*
 * emit_places.c - where a kernel's variables are in an emitted text, and what its functions use.
 */
#include "engine/emit/emit_internal.h"

#include "engine/language/initial.h"
#include "engine/language/walk.h"

/* ---- what functions use ---- */

struct emit_place *emit_place_of(const struct emitter *e, const struct ast_var *var)
{
    return &e->places[var->mark];
}

bool emit_is_file_level(const struct ast_var *var)
{
    return var->space != SPACE_LOCAL;
}

/* What a walk over the statements of a function finds. */
struct usage {
    struct emitter *e;
    bool carries; /* what it names is used by a function */
};

static void use_var(struct usage *u, const struct ast_var *var, bool writes)
{
    if (!var || !emit_is_file_level(var))
        return;
    emit_place_of(u->e, var)->carried |= u->carries;
    emit_place_of(u->e, var)->written |= writes;
}

static bool use_expr(void *context, const struct ast_expr *expr)
{
    if (ast_names(expr))
        use_var(context, expr->var, false);
    return false;
}

static bool use_place(void *context, const struct ast_lvalue *place)
{
    use_var(context, place->var, true);
    return false;
}

static bool use_stm(void *context, const struct ast_stm *stm)
{
    const struct usage *u = context;
    u->e->exits |= u->carries && stm->kind == STM_EXIT && !u->e->is_body;
    u->e->talks |= stm->kind == STM_BARRIER || stm->kind == STM_MEMBAR;
    if (stm->kind == STM_ATOMIC && stm->place.var)
        emit_place_of(u->e, stm->place.var)->is_atomic = true;
    return false;
}

static bool may_exit(void *context, const struct ast_stm *stm)
{
    (void)context;
    return stm->kind == STM_EXIT || (stm->kind == STM_CALL && stm->function->mark);
}

/* Functions whose call may end the thread are marked. */
static void mark_exits(const struct emitter *e)
{
    const struct ast_question question = {.statement = may_exit};
    struct ast_function *f;
    for (f = e->kernel->functions; f; f = f->next)
        f->mark = 0;
    for (f = e->kernel->functions; f;) {
        bool marks = !f->mark && ast_ask_stms(&question, f->body);
        f->mark |= marks;
        f = marks ? e->kernel->functions : f->next;
    }
}

void emit_find_usage(struct emitter *e)
{
    struct usage usage = {.e = e, .carries = true};
    const struct ast_question use = {use_stm, use_expr, use_place, &usage};
    for (const struct ast_function *f = e->kernel->functions; f; f = f->next)
        ast_ask_function(&use, f);
    mark_exits(e);
    e->is_body = true;
    usage.carries = emit_has(e, EMIT_KNOB_OUTLINED);
    ast_ask_function(&use, e->kernel->main);
}

/* ---- recursion ---- */

/* Whether `f` reaches itself: marks hold how far the search has come (0: not seen). */
static bool reaches(const struct ast_kernel *kernel, struct ast_function *from,
                    const struct ast_function *target)
{
    for (struct ast_function *f = kernel->functions; f; f = f->next) {
        if (f->mark || !ast_calls(from->body, f))
            continue;
        if (f == target)
            return true;
        f->mark = 1;
        if (reaches(kernel, f, target))
            return true;
    }
    return false;
}

void emit_refuse_recursion(struct emitter *e)
{
    for (struct ast_function *f = e->kernel->functions; f; f = f->next) {
        for (struct ast_function *g = e->kernel->functions; g; g = g->next)
            g->mark = 0;
        if (reaches(e->kernel, f, f))
            emit_refuse(e, "%s has no recursion: function '%s' at line %u", e->dialect->name,
                        f->name, (unsigned)f->at.line);
    }
}

/* ---- places ---- */

bool emit_has_drawn_values(const struct ast_var *var)
{
    return var->space == SPACE_PRIVATE && var->is_input;
}

bool emit_is_struct_member(const struct emitter *e, const struct emit_place *place)
{
    return place->var->space == SPACE_PRIVATE &&
           ((place->carried && e->dialect->has_pointers) || emit_has(e, EMIT_KNOB_STRUCT));
}

bool emit_lies_in_shared(const struct emitter *e, const struct ast_var *var)
{
    return var->space == SPACE_SHARED && !emit_has(e, EMIT_KNOB_SHARED_GLOBAL);
}

bool emit_has_shared(const struct emitter *e)
{
    return e->shared_words && !emit_has(e, EMIT_KNOB_SHARED_GLOBAL);
}

void emit_number_variables(struct emitter *e)
{
    for (struct ast_var *var = e->kernel->vars; var; var = var->next)
        e->place_count++;
    e->places = ARENA_ARRAY(e->arena, struct emit_place, e->place_count + 1u);
    uint32_t number = 0;
    for (struct ast_var *var = e->kernel->vars; var; var = var->next) {
        e->places[number].var = var;
        var->mark = number++;
    }
}

/* An atomic in the buffer makes all words of it such. */
static void find_atomic_memory(struct emitter *e)
{
    for (uint32_t i = 0; i < e->place_count; i++)
        e->atomic_memory |= e->dialect->is_wgsl && e->places[i].is_atomic &&
                            !emit_lies_in_shared(e, e->places[i].var);
}

/* Where they lie in the buffer, as in every other form (program.h). */
void emit_place_variables(struct emitter *e)
{
    for (uint32_t i = 0; i < e->place_count; i++) {
        struct emit_place *place = &e->places[i];
        uint32_t *next = place->var->space == SPACE_GLOBAL   ? &e->global_words
                         : place->var->space == SPACE_SHARED ? &e->shared_words
                                                             : &e->drawn_words;
        place->offset = *next;
        if (place->var->space != SPACE_PRIVATE || emit_has_drawn_values(place->var))
            *next += place->var->length;
        place->is_table =
            emit_has(e, EMIT_KNOB_TABLES) && !place->written && place->var->space == SPACE_GLOBAL;
        if (emit_is_struct_member(e, place))
            e->has_members = true;
    }
    e->has_members |= e->exits;
    find_atomic_memory(e);
}

bool emit_is_atomic(const struct emitter *e, const struct ast_var *var)
{
    if (!e->dialect->is_wgsl || var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL)
        return false;
    return emit_lies_in_shared(e, var) ? emit_place_of(e, var)->is_atomic
                                       : e->atomic_memory && !emit_place_of(e, var)->is_table;
}

static uint32_t total_threads(const struct emitter *e)
{
    return e->kernel->launch.threads * e->kernel->launch.blocks;
}

uint32_t emit_result_words(const struct emitter *e)
{
    return e->global_words + e->shared_words * e->kernel->launch.blocks;
}

uint32_t emit_zero_word(const struct emitter *e)
{
    return emit_result_words(e) + e->drawn_words * total_threads(e);
}

const int32_t *emit_initial_words(struct emitter *e)
{
    int32_t *words = ARENA_ARRAY(e->arena, int32_t, emit_zero_word(e) + (uint32_t)EMIT_ZEROS);
    const struct ast_launch *launch = &e->kernel->launch;
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct ast_var *var = e->places[i].var;
        uint32_t offset = e->places[i].offset;
        if (var->space == SPACE_GLOBAL)
            language_init_variable(var, i, launch->seed, words + offset, 0, 1);
        else if (var->space == SPACE_SHARED)
            language_init_variable(var, i, launch->seed, words + e->global_words + offset,
                                   e->shared_words, launch->blocks);
        else if (emit_has_drawn_values(var))
            language_init_variable(var, i, launch->seed, words + emit_result_words(e) + offset,
                                   e->drawn_words, total_threads(e));
    }
    return words;
}
