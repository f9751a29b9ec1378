/* explore_prepare.c - the start of a check: programs, machines, detectors. */
#include "oracle/check/explore_internal.h"

#include "engine/pairs/tutorial.h"
#include "engine/program/ptx_code.h"
#include "oracle/check/active.h"
#include "oracle/check/oracle.h"

static const char *why_refused(struct checking *c, enum subject_id subject, const struct form *form)
{
    const char *reason = form->reason;
    if (form->program && !subject_table[subject].vtable)
        (void)tutorial_applies(c->arena, form->program, &reason);
    else if (form->program)
        reason = machine_refuses(c->arena, subject_table[subject].vtable, form->program);
    return reason;
}

/* What tells the races of a subject of FORM_PTX: barrier intervals, thread by thread, for structured
 * kernels, as for all their subjects, and for `block`, as long as all its barriers are of all threads.
 * Kernels given as PTX are asked about in lock-step under `crs` and `thread-pc`. */
/* A kernel given as PTX that says more of order than barriers do is asked about as PTX's memory model has it. */
static bool choose_scoped(struct checking *c, enum subject_id subject, struct explored *explored)
{
    if (c->kernel->form != FORM_PTX || c->options->unscoped || c->options->atomics_sync ||
        !manner_speaks(explored->program->ptx))
        return false;
    bool lockstep = subject_table[subject].vtable->actors == ACTORS_WARPS &&
                    !manner_has_warp_barriers(explored->program->ptx);
    for (uint32_t i = 0; i < SUBJECT_COUNT && !explored->scoped; i++)
        if (c->subjects[i].program == explored->program && c->subjects[i].scoped &&
            c->subjects[i].scoped->lockstep == lockstep)
            explored->scoped = c->subjects[i].scoped;
    if (!explored->scoped)
        explored->scoped = scoped_new(c->arena, explored->program, c->options->same_value, lockstep,
                                      &c->result->runs[subject].race_unknown);
    c->scoped |= explored->scoped != NULL;
    return true;
}

static void choose_detector(struct checking *c, enum subject_id subject, struct explored *explored)
{
    const struct ptx_code *code = explored->program->ptx;
    bool warps = subject_table[subject].vtable->actors == ACTORS_WARPS;
    bool given = c->kernel->form == FORM_PTX;
    if (choose_scoped(c, subject, explored))
        return;
    struct race_hb **hb = given && warps ? &c->hb_warps : &c->hb_threads;
    const struct race_hb_options options = {.warps = given && warps,
                                            .named = code->has_named_barriers ||
                                                     (warps && code->barriers),
                                            .same_value = c->options->same_value && given,
                                            .atomics_sync = c->options->atomics_sync && given};
    if (!options.warps && !code->has_named_barriers && !options.atomics_sync)
        return;
    if (!*hb)
        *hb = race_hb_new(c->arena, explored->program, &options,
                          &c->result->runs[subject].race_unknown);
    explored->hb = *hb;
}

static void prepare_subject(struct checking *c, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    struct check_run *run = &c->result->runs[subject];
    struct explored *explored = &c->subjects[subject];
    const struct form *form = forms_get(c->forms, info->program);
    run->reason = why_refused(c, subject, form);
    if (run->reason)
        return;
    explored->program = run->program = form->program;
    if (explore_is_simt(subject) && c->warps)
        explored->machine = c->warps;
    else if (subject_table[subject].vtable)
        explored->machine = machine_new(c->arena, info->vtable, form->program, &info->options);
    explored->racy_stms = ARENA_ARRAY(c->arena, uint8_t, form->program->stm_count);
    explored->racy_vars = ARENA_ARRAY(c->arena, uint8_t, form->program->var_count);
    run->racy_vars = explored->racy_vars;
    if (form->program->form == FORM_PTX)
        choose_detector(c, subject, explored);
    if (explore_is_simt(subject))
        c->warps = explored->machine;
    else if (subject == SUBJECT_THREADS)
        c->threads = explored->machine;
    if (!c->result->program)
        c->result->program = form->program;
}

/* Barriers, and jumps out of loops (S2C.anchor). */
static bool scopes_differ(const struct program *core)
{
    bool jumps = false;
    for (uint32_t i = 0; i < core->stm_count; i++) {
        enum code_kind kind = core->stms[i].kind;
        jumps |= kind == CODE_BREAK || kind == CODE_RETURN || kind == CODE_EXIT;
    }
    return jumps && core->barrier_count > 0;
}

void explore_prepare(struct checking *c)
{
    const char *reason = NULL;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if ((c->options->subjects >> s) & 1)
            prepare_subject(c, (enum subject_id)s);
    if (!c->result->program)
        return;
    c->detector = race_new(c->arena, c->result->program);
    c->detector->benign_same_value = c->options->same_value && c->kernel->form == FORM_PTX;
    c->filter = ARENA_NEW(c->arena, struct active_filter);
    c->program = forms_get(c->forms, PROGRAM_CORE)->program;
    if (!program_atomics_commute(c->result->program)) {
        c->incomparable = "the order of its atomics can be seen";
        c->incomparable_as = LONE_ATOMICS;
    }
    if (c->scoped && manner_synchronises(c->result->program->ptx)) {
        c->incomparable = "who comes first at a flag or a fence can be seen";
        c->incomparable_as = LONE_FLAGS;
    }
    if (program_chooses_by_memory(c->result->program)) {
        c->incomparable = "choices depend on memory that is read unseen";
        c->incomparable_as = LONE_UNSEEN;
    }
    c->scopes_differ = c->program && scopes_differ(c->program);
    if (explore_runs(c, SUBJECT_LOCKSTEP) && c->kernel->form != FORM_LOCKSTEP)
        c->ill_formed = forms_well_formed(c->forms, &reason) == ILL_FORMED ? reason : NULL;
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].prepare)
            oracle_doors[i].prepare(c);
}
