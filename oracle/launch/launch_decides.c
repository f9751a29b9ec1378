/*
 * launch_decides.c - whether one execution of a launch without a race stands for all.
 *
 * It does where barriers alone order the threads and nobody can tell in which order they came. Then the accesses that a
 * barrier does not order commute: they are reads, or atomics of one operation that commutes with itself and whose
 * result nobody looks at. So each execution is the other one with steps swapped that do not touch each other, and comes
 * to the same end.
 */
#include "oracle/launch/launch.h"

static bool is_same(const struct ptx_place *a, const struct ptx_place *b)
{
    return b->kind == PTX_PLACE_REGISTER && a->bits == b->bits && a->offset == b->offset;
}

/* Whether the instruction, of the register's function, reads it. */
static bool reads(const struct ptx_code *code, const struct ptx_op *op,
                  const struct ptx_place *place)
{
    const struct ptx_place *read;
    bool found = is_same(place, &op->guard);
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        found |= is_same(place, &op->sources[i]);
    for (uint32_t i = 0; i < op->copy_count; i++)
        found |= is_same(place, &code->copies[op->copy + i].caller);
    for (uint32_t at = 0; (read = ptx_matrix_next(op, false, &at)) != NULL;)
        found |= is_same(place, read);
    return found;
}

/* Of another function than the entry's, its result may be what the function returns. */
static bool is_looked_at(const struct ptx_code *code, const struct ptx_op *atomic)
{
    const struct ptx_place *place = &atomic->results[0];
    bool found = atomic->function != 0;
    for (uint32_t pc = 1; pc < code->count; pc++)
        found |= code->ops[pc].function == 0 && reads(code, &code->ops[pc], place);
    return found && place->kind != PTX_PLACE_NONE;
}

static bool commutes(const struct ptx_op *op)
{
    if (op->count > 1)
        return false;
    switch ((uint32_t)op->mode) {
    case PTX_W_ADD:
        return !op->is_float;
    case PTX_W_MIN:
    case PTX_W_MAX:
    case PTX_W_AND:
    case PTX_W_OR:
    case PTX_W_XOR:
        return true;
    }
    return false;
}

bool launch_decides(const struct launch *launch)
{
    const struct ptx_code *code = launch->program->ptx;
    const struct ptx_op *first = NULL;
    if (launch->race->syncs || code->has_named_barriers)
        return false;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        const struct launch_manner *m = &launch->race->manners[pc];
        if (op->exec == PTX_EXEC_CLOCK || ptx_exec_is(op->exec, PTX_FAR))
            return false;
        if (!m->strong)
            continue;
        if (op->exec != PTX_EXEC_ATOM || m->releases || m->scope != SYNC_DEVICE || !commutes(op) ||
            is_looked_at(code, op))
            return false;
        if (first && (first->atomic != op->atomic || first->bytes != op->bytes))
            return false;
        first = op;
    }
    return true;
}
