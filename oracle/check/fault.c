#include "oracle/check/fault.h"

#include "engine/crs/crs.h"
#include "engine/language/print.h"
#include "engine/machine/live.h"
#include "oracle/check/evidence.h"

const char *const outcome_names[OUTCOME_COUNT] = {
    [OUTCOME_RACE] = "race",         [OUTCOME_OOB] = "oob",
    [OUTCOME_DEADLOCK] = "deadlock", [OUTCOME_DIVERGENCE] = "divergence",
    [OUTCOME_ASSERT] = "assert",     [OUTCOME_HANG] = "hang",
    [OUTCOME_ERROR] = "error"};

enum outcome outcome_of(enum status status)
{
    switch (status) {
    case STATUS_ASSERT_FAILS:
        return OUTCOME_ASSERT;
    case STATUS_BARRIER_DIVERGENCE:
        return OUTCOME_DIVERGENCE;
    case STATUS_OUT_OF_BOUNDS:
        return OUTCOME_OOB;
    case STATUS_DEADLOCK:
    case STATUS_BARRIER_ERROR:
        return OUTCOME_DEADLOCK;
    case STATUS_NONTERMINATING:
        return OUTCOME_HANG;
    case STATUS_CALL_DEPTH:
    case STATUS_STUCK:
        return OUTCOME_ERROR;
    case STATUS_RUNNING:
    case STATUS_TERMINATED:
    case STATUS_INFEASIBLE:
    case STATUS_STEP_LIMIT:
    case STATUS_UNSUPPORTED:
    case STATUS_COUNT:
        break;
    }
    return OUTCOME_NONE;
}

/* ---- facts ---- */

/* The kernel is function 0, the others follow in order of declaration (program.c). */
static const struct ast_function *function_of(const struct program *program, uint32_t stm)
{
    const struct ast_function *function = program->core ? program->core->main : NULL;
    if (stm >= program->stm_count)
        return NULL;
    for (uint32_t i = 0; function && i < program->stms[stm].function; i++)
        function = i == 0 ? program->core->functions : function->next;
    return function;
}

/* A frame holds the function's variables one behind the other. */
static const struct ast_var *local_at(const struct ast_function *function, uint32_t wanted)
{
    uint32_t offset = 0;
    for (const struct ast_var *var = function ? function->locals : NULL; var; var = var->next) {
        if (var->is_array && offset == wanted)
            return var;
        offset += var->length;
    }
    return NULL;
}

/* The array whose elements begin there: of the file's variables, of the function's own. */
static const struct ast_var *array_at(const struct program *program,
                                      const struct machine_outside *o, uint32_t stm)
{
    if (o->space == SPACE_LOCAL)
        return local_at(function_of(program, stm), o->offset);
    for (uint32_t i = 0; i < program->var_count; i++) {
        const struct code_var *var = &program->vars[i];
        if (var->ast->space == o->space && var->offset == o->offset && var->ast->is_array)
            return var->ast;
    }
    return NULL;
}

/* Of a warp of PTX that waits: its active lanes do, others have left it or wait for these. */
static uint32_t lane_at(const struct machine *machine, uint32_t warp, uint32_t thread, uint32_t stm)
{
    const struct crs_warp w = crs_warp(machine, warp);
    uint32_t lane = thread % machine->program->launch.threads % machine->program->launch.warp;
    if (w.state->exited >> lane & 1)
        return FAULT_ENDED;
    return w.state->active >> lane & 1 ? stm : FAULT_RUNS;
}

/* Where each thread, or its warp, stands: one that cannot step waits, or has ended. */
static void see_who_waits(struct arena *arena, const struct machine *machine,
                          struct check_fault *fault)
{
    const struct program *program = machine->program;
    uint32_t threads = program->total_threads, waiting = 0;
    uint32_t *at = ARENA_ARRAY(arena, uint32_t, threads);
    bool warps_of_ptx = program->form == FORM_PTX && machine->actor_count != threads;
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint32_t actor = actor_of(machine, thread);
        uint32_t stm = machine->semantics->next_stm(machine, actor);
        if (warps_of_ptx && stm != CODE_NONE && !is_live(machine, actor))
            stm--; /* comm has moved the warp's pc on (crs_block.c) */
        at[thread] = is_live(machine, actor) ? FAULT_RUNS : stm == CODE_NONE ? FAULT_ENDED : stm;
        if (warps_of_ptx && at[thread] < FAULT_ENDED)
            at[thread] = lane_at(machine, actor, thread, stm);
        waiting += at[thread] < FAULT_ENDED;
    }
    if (waiting > 0) {
        fault->thread_count = threads;
        fault->waits_at = at;
    }
}

const struct check_fault *fault_of(struct arena *arena, const struct machine *machine)
{
    const struct machine_head *head = machine->head;
    const struct machine_outside *outside = &machine->outside;
    struct check_fault *fault = ARENA_NEW(arena, struct check_fault);
    fault->status = machine_status(machine);
    fault->thread = head->fault_thread;
    fault->stm = head->fault_stm;
    fault->line = evidence_line(machine->program, head->fault_stm);
    fault->text = machine->fault_text ? arena_printf(arena, "%s", machine->fault_text) : NULL;
    if (fault->status == STATUS_OUT_OF_BOUNDS && outside->length > 0) {
        fault->var = array_at(machine->program, outside, fault->stm);
        fault->length = outside->length;
        fault->index = outside->index;
    }
    if (fault->status == STATUS_OUT_OF_BOUNDS && machine->fault.bytes > 0) {
        fault->address = machine->fault.address;
        fault->bytes = machine->fault.bytes;
        fault->variable = machine->fault.variable;
        fault->offset = machine->fault.offset;
        fault->size = machine->fault.size;
    }
    if (outcome_of(fault->status) == OUTCOME_DEADLOCK || fault->status == STATUS_BARRIER_DIVERGENCE)
        see_who_waits(arena, machine, fault);
    return fault;
}

/* ---- words ---- */

/* Of the blocks of a grid those that run may not be the first ones. */
static uint32_t first_block(const struct program *program)
{
    return program->ptx ? program->ptx->kernel->first_block : 0;
}

static bool has_blocks(const struct program *program)
{
    return program->launch.blocks > 1 || (program->ptx && program->ptx->kernel->window > 0);
}

const char *fault_thread(struct arena *arena, const struct program *program, uint32_t thread)
{
    uint32_t threads = program->launch.threads;
    if (!has_blocks(program))
        return arena_printf(arena, "thread %u", thread);
    return arena_printf(arena, "thread %u of block %u", thread % threads,
                        first_block(program) + thread / threads);
}

/* "threads 0 to 2, 5", "threads 0 to 3 of block 1": of those at one place, from `first` on, within its block;
 * marks them as said. */
static const char *who(struct arena *arena, const struct program *program,
                       const struct check_fault *fault, uint32_t first, uint8_t *said)
{
    enum { RANGES = 4 };
    uint32_t at = fault->waits_at[first], count = 0, ranges = 0, threads = program->launch.threads;
    uint32_t block = first / threads, end_of_block = (block + 1) * threads;
    const char *text = "";
    for (uint32_t t = first; t < end_of_block; t++) {
        uint32_t end = t;
        if (fault->waits_at[t] != at)
            continue;
        while (end + 1 < end_of_block && fault->waits_at[end + 1] == at)
            end++;
        for (uint32_t i = t; i <= end; i++)
            said[i] = 1;
        count += end - t + 1;
        ranges++;
        if (ranges <= RANGES && end > t)
            text = arena_printf(arena, "%s%s%u to %u", text, *text ? ", " : "", t % threads,
                                end % threads);
        else if (ranges <= RANGES)
            text = arena_printf(arena, "%s%s%u", text, *text ? ", " : "", t % threads);
        t = end;
    }
    return arena_printf(
        arena, "thread%s %s%s%s", count > 1 ? "s" : "", text, ranges > RANGES ? ", ..." : "",
        has_blocks(program) ? arena_printf(arena, " of block %u", first_block(program) + block)
                            : "");
}

/* "threads 0 to 2 wait at line 7, thread 3 has ended" */
static const char *waiting_sentence(struct arena *arena, const struct program *program,
                                    const struct check_fault *fault)
{
    enum { PLACES = 4 };
    uint8_t *said = ARENA_ARRAY(arena, uint8_t, fault->thread_count);
    const char *text = "";
    uint32_t places = 0;
    for (uint32_t t = 0; t < fault->thread_count && places < PLACES; t++) {
        uint32_t at = fault->waits_at[t];
        if (said[t])
            continue;
        const char *names = who(arena, program, fault, t, said);
        bool several = names[6] == 's';
        const char *does = at == FAULT_RUNS ? several ? "have not got there" : "has not got there"
                           : at == FAULT_ENDED ? several ? "have ended" : "has ended"
                           : several           ? "wait at"
                                               : "waits at";
        text = arena_printf(arena, "%s%s%s %s%s%s", text, *text ? ", " : "", names, does,
                            at < FAULT_ENDED ? " " : "",
                            at < FAULT_ENDED ? evidence_statement(arena, program, at) : "");
        places++;
    }
    return text;
}

static const char *assert_text(struct arena *arena, const struct program *program,
                               const struct check_fault *fault)
{
    uint32_t stm = fault->stm;
    const struct ast_stm *source = stm < program->stm_count ? program->stms[stm].source : NULL;
    return source && source->kind == STM_ASSERT ? print_stm_head(arena, source) : fault->text;
}

const char *fault_sentence(struct arena *arena, const struct program *program,
                           const struct check_fault *fault)
{
    const char *status = status_names[fault->status];
    const char *by = fault_thread(arena, program, fault->thread);
    const char *place =
        fault->line ? arena_printf(arena, " at %s", evidence_statement(arena, program, fault->stm))
                    : "";
    if (fault->status == STATUS_OUT_OF_BOUNDS && fault->length > 0)
        return arena_printf(arena, "%s: %s[%d] of %u by %s%s", status,
                            fault->var ? fault->var->name : "(a local array)", fault->index,
                            fault->length, by, place);
    if (fault->thread_count > 0)
        return arena_printf(arena, "%s: %s", status, waiting_sentence(arena, program, fault));
    if (fault->status == STATUS_BARRIER_DIVERGENCE)
        return arena_printf(arena, "%s: %s is at the barrier%s without other threads of its warp",
                            status, by, place);
    const char *text =
        fault->status == STATUS_ASSERT_FAILS ? assert_text(arena, program, fault) : fault->text;
    return arena_printf(arena, "%s: %s%s%s%s", status, by, place, text ? ": " : "",
                        text ? text : "");
}
