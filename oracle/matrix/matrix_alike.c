/*
 * matrix_alike.c - kernels that end under every execution model, without a search.
 *
 * Those without a loop. And those whose executions are all alike: where one of them ends, and no two of
 * its threads conflict, every other takes the same steps in another order, and ends (docs/oracles.md,
 * race). Atomics of different threads on one location conflict here: what they give back depends on their
 * order, and control may depend on that.
 */
#include "engine/program/ptx_code.h"
#include "oracle/matrix/matrix_internal.h"
#include "oracle/race/race.h"

enum { ALIKE_STEPS = 1 << 16 };

struct one_way {
    struct choices choices;
    bool chose; /* a step had a choice: there are executions that this one says nothing about */
};

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    struct one_way *way = (struct one_way *)choices;
    way->chose |= n > 1;
    return 0;
}

/* Barriers of which some threads may be left out order nothing. */
static bool has_other_barriers(const struct program *program)
{
    return program->form == FORM_PTX && program->ptx->has_named_barriers;
}

bool matrix_all_alike(struct arena *arena, struct machine *machine)
{
    if (has_other_barriers(machine->program))
        return false;
    size_t mark = arena_mark(arena);
    struct one_way way = {.choices = {NULL, choose_first, NULL}};
    struct race_detector *detector = race_new(arena, machine->program);
    struct observer observer = detector->observer;
    observer.access_row = NULL;
    observer.atomic = observer.write;
    race_begin(detector);
    machine_reset(machine);
    machine_observe(machine, &observer);
    uint64_t seen = machine->track.hash;
    /* A state has come back, most likely: one with a loop, which a search finds. */
    bool again = false;
    for (uint32_t turn = 0; turn < ALIKE_STEPS && machine_status(machine) == STATUS_RUNNING &&
                            !detector->found && !way.chose && !again;
         turn++) {
        machine_step(machine, machine->head->live[turn % machine->head->live_count], &way.choices);
        machine->track.log_count = 0;
        again = machine->track.hash == seen;
        if ((turn & (turn + 1)) == 0)
            seen = machine->track.hash;
    }
    machine_observe(machine, NULL);
    bool races = detector->found;
    arena_release(arena, mark);
    return machine_status(machine) == STATUS_TERMINATED && !races && !way.chose;
}

bool matrix_sees_warps(const struct program *program)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct code_expr_op *op = &program->ops[i];
        if (op->op == OP_BUILTIN &&
            (op->a == BUILTIN_LANE || op->a == BUILTIN_WARP || op->a == BUILTIN_WARP_SIZE))
            return true;
    }
    return program->has_votes;
}

/* A branch or call that may go back, by its operands; tokens hold what ssy and its like are given. */
static bool may_go_back(const struct ptx_code *code, uint32_t pc)
{
    const struct ptx_op *op = &code->ops[pc];
    for (uint32_t i = 0; i < op->table_count; i++)
        if (code->table[op->table + i] <= pc)
            return true;
    bool goes = op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_CALL || op->exec == PTX_EXEC_SSY ||
                op->exec == PTX_EXEC_PREBRK || op->exec == PTX_EXEC_PRERET;
    return goes && op->target <= pc;
}

bool matrix_may_loop(const struct program *program)
{
    if (program->form != FORM_PTX)
        return search_has_loop(program);
    const struct ptx_code *code = program->ptx;
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (may_go_back(code, pc))
            return true;
    return code->kernel->token_count > 0;
}
