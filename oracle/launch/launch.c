#include "oracle/launch/launch_internal.h"

#include "engine/crs/crs.h"
#include "engine/schedule/sched.h"
#include "engine/subjects/forms.h"
#include "oracle/check/fault.h"

#include <string.h>

enum {
    RESIDENT = 2048,           /* threads, as many as a multiprocessor of a GPU has */
    QUANTUM = 48,              /* steps of a warp until it is the next one's turn */
    SLICE = 1 << 20,           /* steps between two looks at the clock */
    SPIN_TURNS = 1 << 16,      /* turns in which a state that comes back is looked for */
    DIVISIBLE_WORDS = 1 << 26, /* of global memory, which each worker has */
    DIVISIBLE_STEPS = 1 << 18  /* of warps; fewer are done before workers are ready */
};

/* ---- programs ---- */

/* The kernel with the branch unit's instructions, laid out for so many blocks. */
static const struct program *compile(struct launch *launch, uint32_t blocks, const char **reason)
{
    struct ast_kernel *kernel = launch->kernel;
    kernel->launch.blocks = kernel->ptx->window = blocks;
    struct forms *forms = forms_new(launch->arena, kernel);
    const struct form *form = forms_get(forms, PROGRAM_CRS);
    if (!form->program)
        *reason = form->reason;
    return form->program;
}

struct machine *launch_machine(struct arena *arena, const struct program *program,
                               const char **reason)
{
    static const struct machine_options options = {.block_options = BLOCK_ALIGNED};
    *reason = machine_refuses(arena, &semantics_crs, program);
    return *reason ? NULL : machine_new(arena, &semantics_crs, program, &options);
}

/* The least number of blocks, one behind the other, that whole clusters make up. */
static uint64_t cluster_run(const struct ptx_kernel *ptx)
{
    const uint64_t row = ptx->grid[0], plane = row * ptx->grid[1];
    return ptx->cluster[2] > 1   ? plane * ptx->cluster[2]
           : ptx->cluster[1] > 1 ? row * ptx->cluster[1]
                                 : ptx->cluster[0];
}

/* All that is watched, one behind the other. */
static void watch(struct launch *launch, struct launch_heap *heap)
{
    const struct observer *last = launch->print ? &launch->print->observer : NULL;
    struct launch_heap_watch *heap_watch =
        heap ? launch_heap_watch(launch->arena, launch->program, heap, launch->race) : NULL;
    if (heap_watch) {
        heap_watch->observer.next = last;
        last = &heap_watch->observer;
        launch->race->heap = heap_watch;
    }
    launch->race->observer.next = last;
}

struct launch *launch_new(struct arena *arena, struct ast_kernel *kernel, const uint32_t grid[3],
                          const struct launch_options *options, const char **reason)
{
    struct launch *launch = ARENA_NEW(arena, struct launch);
    launch->arena = arena;
    launch->kernel = kernel;
    launch->blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    if (launch->blocks * kernel->launch.threads >= UINT32_MAX) {
        *reason = "a grid of more than 2^32 - 2 threads";
        return NULL;
    }
    memcpy(kernel->ptx->grid, grid, sizeof kernel->ptx->grid);
    uint32_t resident = (options->resident ? options->resident : RESIDENT) / kernel->launch.threads;
    resident = resident == 0 ? 1 : resident > LIMIT_BLOCKS ? LIMIT_BLOCKS : resident;
    const uint64_t whole = cluster_run(kernel->ptx);
    if (whole > LIMIT_BLOCKS) {
        *reason = "clusters of several rows in a grid of so many columns";
        return NULL;
    }
    resident = resident < whole ? (uint32_t)whole : resident - resident % (uint32_t)whole;
    if (resident > launch->blocks)
        resident = (uint32_t)launch->blocks;
    kernel->ptx->first_block = 0;
    launch->program = compile(launch, resident, reason);
    launch->machine = launch->program ? launch_machine(arena, launch->program, reason) : NULL;
    if (!launch->machine)
        return NULL;
    launch->race = launch_race_new(arena, launch->program);
    launch->print = launch_print_new(arena, launch->program);
    watch(launch, options->heap);
    return launch;
}

/* ---- errors ---- */

static struct launch_finding *add_fault(struct launch *launch, enum status status, uint32_t stm)
{
    struct launch_finding *finding = ARENA_NEW(launch->arena, struct launch_finding);
    finding->kind = LAUNCH_FAULT;
    finding->status = status;
    finding->count = 1;
    finding->stms[0] = stm;
    finding->sources[0] = launch_source(launch->arena, launch->program, stm);
    *launch->race->last = finding;
    launch->race->last = &finding->next;
    return finding;
}

static void note_fault(struct launch *launch, const struct machine *machine)
{
    const struct check_fault *fault = fault_of(launch->arena, machine);
    uint32_t stm = fault->stm;
    launch->fault = fault;
    launch->fault_address = fault->address;
    launch->fault_misaligned = machine->fault.bytes && fault->address % machine->fault.bytes != 0;
    launch->fault_trap = fault->status == STATUS_ASSERT_FAILS &&
                         stm < machine->program->ptx->count &&
                         machine->program->ptx->ops[stm].outside != PTX_OUTSIDE_ASSERT;
    for (uint32_t t = 0; stm == CODE_NONE && t < fault->thread_count; t++)
        if (fault->waits_at[t] < FAULT_ENDED)
            stm = fault->waits_at[t];
    struct launch_finding *finding = add_fault(launch, fault->status, stm);
    finding->text = fault_sentence(launch->arena, machine->program, fault);
}

/* ---- launches that do not end ---- */

/* Whether the state is the one that was saved, looked at from its end: threads differ sooner than memory. */
static bool same_state(const struct machine *machine, const uint32_t *saved)
{
    size_t memory = (size_t)((const uint32_t *)machine->memory - machine->block);
    size_t behind = memory + machine->program->memory_words;
    return memcmp(machine->block + behind, saved + behind, 4 * (machine->block_words - behind)) ==
               0 &&
           memcmp(machine->block, saved, 4 * behind) == 0;
}

/* Turns are taken in an order that nothing but the state decides: one that comes back comes back for ever. */
static bool comes_back(struct launch *launch, struct machine *machine, struct scheduler *scheduler)
{
    size_t mark = arena_mark(launch->arena);
    uint32_t *saved = arena_room(launch->arena, (size_t)4 * machine->block_words);
    uint32_t taken = 0, next = 1;
    bool back = false;
    uint32_t current = 0, budget = 0;
    for (; taken < SPIN_TURNS && machine_status(machine) == STATUS_RUNNING && !back; taken++) {
        if (taken + 1 == next) {
            machine_save(machine, saved);
            current = scheduler->current;
            budget = scheduler->budget;
            next *= 2;
        }
        machine_run(machine, &scheduler->choices, QUANTUM, NULL);
        back = scheduler->current == current && scheduler->budget == budget &&
               same_state(machine, saved);
    }
    arena_release(launch->arena, mark);
    return back;
}

/* The statement that somebody goes round at, and who: one that has a line. */
static uint32_t find_spinner(struct machine *machine, struct choices *choices, uint32_t *actor)
{
    const struct ptx_op *ops = machine->program->ptx->ops;
    uint32_t stm = CODE_NONE;
    for (int tries = 0; tries < 256; tries++) {
        *actor = machine->head->live[0];
        stm = machine->semantics->next_stm(machine, *actor);
        if (stm != CODE_NONE && ops[stm].line != 0)
            break;
        machine_run(machine, choices, 1, NULL);
    }
    return stm;
}

static void note_spin(struct launch *launch, struct machine *machine, struct choices *choices)
{
    const struct program *program = machine->program;
    uint32_t actor, stm = find_spinner(machine, choices, &actor);
    uint32_t thread = actor / program->warps_per_block * program->launch.threads +
                      actor % program->warps_per_block * program->launch.warp;
    struct crs_warp warp = crs_warp(machine, actor);
    thread += warp.state->active ? (uint32_t)__builtin_ctzll(warp.state->active) : 0;
    struct launch_finding *finding = add_fault(launch, STATUS_NONTERMINATING, stm);
    uint64_t number = (uint64_t)launch->race->first_block * program->launch.threads + thread;
    const char *slash = finding->sources[0] ? strrchr(finding->sources[0], '/') : NULL;
    finding->text = arena_printf(launch->arena,
                                 "the launch never ends: all its warps have been in this state "
                                 "before; %s goes round at %s%s",
                                 launch_thread_name(launch->arena, program, number),
                                 slash                 ? slash + 1
                                 : finding->sources[0] ? finding->sources[0]
                                                       : "an unknown line",
                                 launch->machine->actor_count > 1 || program->launch.threads > 1
                                     ? " (threads of a warp run in lock-step)"
                                     : "");
}

/* ---- groups of blocks ---- */

/* Warps that have ended. */
static uint32_t ended(const struct machine *machine)
{
    return machine->actor_count - machine->head->unfinished;
}

/* Inside a step - the order of a warp's atomics - lower lanes come first. */
static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices, (void)n;
    return 0;
}

enum status launch_run_group(struct launch *launch, struct machine *machine, uint64_t first,
                             const struct launch_options *options)
{
    const struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN, .quantum = QUANTUM};
    struct scheduler scheduler;
    uint64_t before = launch->steps;
    uint32_t last = 0;
    launch_race_restart(launch->race, machine->program, (uint32_t)first);
    machine_observe(machine, &launch->race->observer);
    sched_start(&scheduler, &spec, machine, launch->arena);
    if (options->begins)
        options->begins(options->context, machine);
    scheduler.choices.choose = choose_first;
    while (machine_status(machine) == STATUS_RUNNING) {
        uint64_t slice = SLICE;
        if (options->budget && options->budget - launch->steps < slice)
            slice = options->budget - launch->steps;
        machine_run(machine, &scheduler.choices, slice, NULL);
        launch->steps = before + machine->steps;
        if (options->budget && launch->steps >= options->budget)
            break;
        bool stands = ended(machine) == last && machine_status(machine) == STATUS_RUNNING;
        last = ended(machine);
        if (stands && comes_back(launch, machine, &scheduler)) {
            note_spin(launch, machine, &scheduler.choices);
            return STATUS_NONTERMINATING;
        }
        if (machine_status(machine) != STATUS_RUNNING)
            break;
        if (options->go_on && !options->go_on(options->context, launch->steps, launch->blocks_done))
            return STATUS_STEP_LIMIT;
    }
    launch->steps = before + machine->steps;
    bool spent = options->budget && launch->steps >= options->budget;
    return machine_status(machine) == STATUS_RUNNING && spent ? STATUS_STEP_LIMIT
                                                              : machine_status(machine);
}

/* The blocks that are left when all full groups are done. */
static struct machine *last_machine(struct launch *launch, uint32_t blocks)
{
    const char *reason;
    const struct program *program = compile(launch, blocks, &reason);
    struct machine *machine = program ? launch_machine(launch->arena, program, &reason) : NULL;
    if (machine)
        memcpy(machine->memory, launch->machine->memory, (size_t)4 * launch->program->shared_base);
    return machine;
}

/* ---- the run ---- */

/* The next group of blocks; what is wrong is noted. */
static struct machine *run_next(struct launch *launch, const struct launch_options *options)
{
    const uint64_t left = launch->blocks - launch->blocks_done;
    struct machine *machine = launch->machine;
    if (left < launch->program->launch.blocks)
        machine = last_machine(launch, (uint32_t)left);
    else if (launch->blocks_done > 0)
        machine_restart(machine);
    launch->kernel->ptx->first_block = (uint32_t)launch->blocks_done;
    launch->status = launch_run_group(launch, machine, launch->blocks_done, options);
    if (launch->status != STATUS_TERMINATED && launch->status != STATUS_STEP_LIMIT &&
        launch->status != STATUS_NONTERMINATING && launch->status != STATUS_UNSUPPORTED)
        note_fault(launch, machine);
    if (launch->status == STATUS_TERMINATED)
        launch->blocks_done += machine->program->launch.blocks;
    return machine;
}

static void run_all(struct launch *launch, const struct launch_options *options)
{
    struct machine *machine = launch->machine;
    while (launch->blocks_done < launch->blocks && launch->status == STATUS_TERMINATED)
        machine = run_next(launch, options);
    if (machine != launch->machine)
        memcpy(launch->machine->memory, machine->memory, (size_t)4 * launch->program->shared_base);
}

/* Several workers can run it, if it is long enough. */
static bool is_divisible(const struct launch *launch, const struct launch_options *options)
{
    return options->workers > 1 && options->budget == 0 && !launch->print &&
           launch->program->shared_base <= DIVISIBLE_WORDS &&
           launch->blocks / launch->program->launch.blocks > 2 && launch_decides(launch);
}

/* The first group says how long they are. */
static void run_divided(struct launch *launch, const struct launch_options *options)
{
    const struct launch before = *launch;
    const size_t words = launch->program->shared_base;
    int32_t *memory = arena_room(launch->arena, 4 * words);
    struct launch_race *fresh = launch_race_new(launch->arena, launch->program);
    launch_race_written_as(fresh, launch->race);
    memcpy(memory, launch->machine->memory, 4 * words);
    run_next(launch, options);
    const uint64_t groups = launch->blocks / launch->program->launch.blocks;
    const bool divide = launch->status == STATUS_TERMINATED && !launch->race->findings &&
                        launch->steps * groups >= DIVISIBLE_STEPS;
    launch->divided = divide && launch_run_parallel(launch, options);
    if (divide && !launch->divided) {
        *launch = before;
        launch->race = fresh;
        memcpy(launch->machine->memory, memory, 4 * words);
        machine_restart(launch->machine);
    }
    run_all(launch, options);
}

void launch_run(struct launch *launch, const struct launch_options *options)
{
    launch->status = STATUS_TERMINATED;
    if (is_divisible(launch, options))
        run_divided(launch, options);
    else
        run_all(launch, options);
}
