#include "oracle/check/active.h"

/* Whether the thread executes the statement as P does: the value of a self-assignment is
 * `v_active == k ? e : v`, whose code starts by pushing v_active and comparing it with k. */
static bool is_active(const struct active_filter *filter, uint32_t thread, uint32_t stm)
{
    const struct machine *machine = filter->machine;
    const struct program *program = machine->program;
    const struct code_stm *s = &program->stms[stm];
    if (s->kind != CODE_ASSIGN || s->origin == 0 || s->guard != CODE_NONE)
        return true;
    const struct code_expr_op *op = &program->ops[s->value];
    bool self = s->source && s->source->value->kind == EXPR_COND && op[0].op == OP_LOCAL &&
                op[1].op == OP_BINARY_INT + BINARY_EQ;
    if (!self)
        return true;
    const struct thread_context *context = &machine->threads[thread];
    return machine->memory[context->base[SPACE_LOCAL] + (uint32_t)op[0].a] == op[1].a;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    const struct active_filter *filter = context;
    if (is_active(filter, thread, stm))
        for (const struct observer *o = filter->inner; o; o = o->next)
            if (o->read)
                o->read(o->context, thread, address, stm);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    const struct active_filter *filter = context;
    if (is_active(filter, thread, stm))
        for (const struct observer *o = filter->inner; o; o = o->next)
            if (o->write)
                o->write(o->context, thread, address, value, stm);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    const struct active_filter *filter = context;
    for (const struct observer *o = filter->inner; o; o = o->next)
        if (o->atomic)
            o->atomic(o->context, thread, address, value, stm);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    const struct active_filter *filter = context;
    for (const struct observer *o = filter->inner; o; o = o->next)
        if (o->barrier)
            o->barrier(o->context, machine, event);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    const struct active_filter *filter = context;
    for (const struct observer *o = filter->inner; o; o = o->next)
        if (o->step)
            o->step(o->context, machine, event);
}

void active_filter_start(struct active_filter *filter, const struct machine *machine,
                         const struct observer *inner)
{
    filter->observer = (struct observer){.context = filter,
                                         .read = on_read,
                                         .write = on_write,
                                         .atomic = on_atomic,
                                         .barrier = on_barrier};
    for (const struct observer *o = inner; o; o = o->next)
        if (o->step)
            filter->observer.step = on_step;
    filter->machine = machine;
    filter->inner = inner;
}
