/* explore_groups.c - which executions are compared with each other. */
#include "oracle/check/explore_internal.h"

#include "engine/crs/crs.h"
#include "engine/program/ptx_code.h"

/* ---- which subjects there are ---- */

bool explore_runs(const struct checking *c, enum subject_id subject)
{
    return c->subjects[subject].program != NULL;
}

static bool is_structured(enum subject_id subject)
{
    return subject_table[subject].program == PROGRAM_CORE;
}

bool explore_follows(const struct checking *c, enum subject_id subject)
{
    bool barriers = c->kernel->form == FORM_BLOCKS || (c->program && c->program->barrier_count > 0);
    return explore_is_ptx(subject) && barriers;
}

const struct lone_info lone_table[LONE_COUNT] = {
#define LONE(id, name, sentence) [LONE_##id] = {name, sentence},
#include "oracle/check/lone.def"
#undef LONE
};

/* PTX of a structured kernel stands with its core, if there is one (sync and arrive have none). What a vote sees
 * depends on where a warp reconverges: `simt` and the branch unit do that in different places, as where a
 * `switch` falls through. */
static bool lacks_core(const struct checking *c)
{
    bool structured = c->kernel->form != FORM_PTX && c->kernel->form != FORM_BLOCKS;
    return structured && (!c->program || c->program->has_votes);
}

/* A subject that is GIVEN is no other meaning of a kernel given as PTX, but of activemask: which lanes are together is
 * the schedule's. */
static bool is_compared(const struct checking *c, enum subject_id subject)
{
    const struct program *program = c->subjects[subject].program;
    if (subject_table[subject].role != SUBJECT_GIVEN)
        return subject_table[subject].role == SUBJECT_ORDINARY;
    if (c->kernel->form != FORM_PTX || !program)
        return false;
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        if (program->ptx->ops[pc].exec == PTX_EXEC_ACTIVEMASK)
            return false;
    return true;
}

enum lone explore_lone(const struct checking *c, enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    if (!is_compared(c, subject))
        return LONE_VARIANT;
    if (c->incomparable)
        return c->incomparable_as;
    if (c->ill_formed && vtable && vtable->actors == ACTORS_BLOCKS)
        return LONE_ILL_FORMED;
    return explore_is_ptx(subject) && lacks_core(c) ? LONE_VOTES : LONE_NOT;
}

/* Kernels given as PTX: warps, threads. */
enum group_id explore_group(const struct checking *c, enum subject_id subject)
{
    if (explore_lone(c, subject) != LONE_NOT)
        return GROUP_NONE;
    if (explore_is_ptx(subject))
        return c->kernel->form == FORM_PTX &&
                       subject_table[subject].vtable->actors == ACTORS_THREADS
                   ? GROUP_PTX
                   : GROUP_FIRST;
    return is_structured(subject) || !c->scopes_differ ? GROUP_FIRST : GROUP_BLOCKS;
}

/* Which commands meet in a generation may depend on the schedule, race or no race, unless the program is
 * well-synchronised: the oracle `barriers` asks that. */
static bool has_named_barriers(const struct checking *c, enum subject_id subject)
{
    const struct program *program = c->subjects[subject].program;
    return program->form == FORM_PTX && program->ptx->has_named_barriers;
}

enum lone explore_execution_lone(const struct checking *c, const struct execution *execution)
{
    bool warps = subject_table[execution->subject].vtable->actors == ACTORS_WARPS;
    bool follows = explore_follows(c, execution->subject) && warps;
    enum lone lone = explore_lone(c, execution->subject);
    if (lone != LONE_NOT)
        return lone;
    if (has_named_barriers(c, execution->subject))
        return LONE_NAMED;
    if (follows && execution->apart)
        return LONE_PARTS;
    if (follows && execution->searched)
        return LONE_SEARCHED;
    return c->kernel->form == FORM_PTX && execution->apart ? LONE_ORDER : LONE_NOT;
}

enum group_id explore_execution_group(const struct checking *c, const struct execution *execution)
{
    if (explore_execution_lone(c, execution) != LONE_NOT)
        return GROUP_NONE;
    return explore_group(c, execution->subject);
}

void explore_count_lone(struct checking *c)
{
    for (uint32_t i = 0; i < c->execution_count; i++) {
        enum lone lone = explore_execution_lone(c, c->executions[i]);
        if (lone == LONE_NOT || (c->held & SUBJECT_BIT(c->executions[i]->subject)))
            continue;
        if (c->executions[i]->searched)
            lone = LONE_SEARCHED;
        c->result->lone |= 1u << lone;
        if (!c->executions[i]->accounted)
            c->result->unseen |= 1u << lone;
    }
}

/* ---- barriers that a warp reaches in parts ---- */

static void see_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct parting *parting = context;
    const struct ast_launch *launch = &machine->program->launch;
    uint32_t tid = use->first_thread % launch->threads;
    uint32_t warp = use->block * machine->program->warps_per_block + tid / launch->warp;
    const struct crs_warp w = crs_warp(machine, warp);
    if (use->kind != BARRIER_RELEASES && (ptx_all(w.lanes) & ~w.state->exited & ~use->mask))
        parting->apart = true;
    if (use->kind != BARRIER_RELEASES && explore_some_completed(machine, use->block))
        parting->apart = true;
}

const struct observer *explore_watch_parts(struct checking *c, const struct observer *behind)
{
    if (!c->parting)
        c->parting = ARENA_NEW(c->arena, struct parting);
    *c->parting =
        (struct parting){.observer = {.context = c->parting, .use = see_use, .next = behind}};
    return &c->parting->observer;
}
