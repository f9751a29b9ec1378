/*
 * ref_source.c - one thread alone, from the text as it was written.
 */
#include "engine/reference/ref_source.h"

#include "engine/reference/ref_internal.h"

/* How a statement is left. */
enum leaving { ON, BREAK, CONTINUE, RETURN, EXIT, STOP };

struct ref_walk {
    struct ref *r;
    uint32_t thread;
    struct ref_history *history;
    uint32_t head; /* what is before it has been matched, or was read for nothing */
    /* The last step of the execution that belongs to the statement at hand, or to one before. */
    uint64_t latest;
    uint64_t steps; /* left */
    bool ended;     /* the history is whole: nothing of the thread comes behind */
    int32_t result; /* of the last function that returned */
    uint32_t line;
    const char *differs;
};

/* Nothing more is known of the thread. */
static void stop(struct ref_walk *w)
{
    w->r->misled = "the history of a thread ends";
}

static void differ(struct ref_walk *w, const char *what)
{
    w->differs = what;
    stop(w);
}

static bool is_over(const struct ref_walk *w)
{
    return ref_failed(w->r);
}

/* ---- the history ---- */

/* The thread's next event at or behind `from`; history->count: there is none. */
static uint32_t event_from(const struct ref_walk *w, uint32_t from)
{
    while (from < w->history->count && w->history->events[from].thread != w->thread)
        from++;
    return from;
}

/* Its next event that is no read. */
static uint32_t act_from(const struct ref_walk *w, uint32_t from)
{
    uint32_t i = event_from(w, from);
    while (i < w->history->count && w->history->events[i].kind == REF_EVENT_READ)
        i = event_from(w, i + 1);
    return i;
}

/* A statement begins: what the steps of those before it have read besides is not its own. */
static void begin(struct ref_walk *w)
{
    struct ref_event *events = w->history->events;
    w->head = event_from(w, w->head);
    while (w->head < w->history->count && events[w->head].kind == REF_EVENT_READ &&
           (events[w->head].used || events[w->head].step <= w->latest))
        w->head = event_from(w, w->head + 1);
}

static void take(struct ref_walk *w, struct ref_event *event)
{
    event->used = true;
    w->latest = event->step;
}

/* A read of that word which is not used yet, before the thread does anything else. */
void ref_walk_read(struct ref *r, const struct ref_cell *cell)
{
    struct ref_walk *w = r->walk;
    struct ref_event *events = w->history->events;
    uint32_t i = event_from(w, w->head);
    while (i < w->history->count && events[i].kind == REF_EVENT_READ) {
        if (!events[i].used && events[i].address == cell->address) {
            *cell->word = events[i].value;
            take(w, &events[i]);
            return;
        }
        i = event_from(w, i + 1);
    }
    if (i < w->history->count || w->ended)
        differ(w, "read");
    else
        stop(w);
}

/* The next thing that is no read. NULL: it is of another kind, or another place. */
static struct ref_event *next_is(struct ref_walk *w, enum ref_event_kind kind, uint32_t address)
{
    static const char *const names[] = {"read", "write", "atomic", "barrier"};
    struct ref_event *events = w->history->events;
    uint32_t i = act_from(w, w->head);
    if (i == w->history->count && !w->ended) {
        stop(w);
        return NULL;
    }
    if (i == w->history->count || events[i].kind != kind || events[i].address != address) {
        differ(w, names[kind]);
        return NULL;
    }
    w->head = i + 1;
    take(w, &events[i]);
    return &events[i];
}

static void write(struct ref_walk *w, const struct ref_cell *cell, int32_t value)
{
    if (is_over(w))
        return;
    *cell->word = value;
    if (cell->address == REF_PRIVATE)
        return;
    const struct ref_event *event = next_is(w, REF_EVENT_WRITE, cell->address);
    if (event && event->value != value)
        differ(w, "write");
}

/* ---- statements ---- */

static enum leaving run(struct ref_walk *w, const struct ast_stm *s);

static enum leaving run_list(struct ref_walk *w, const struct ast_stm *s)
{
    enum leaving leaving = ON;
    for (; s && leaving == ON; s = s->next)
        leaving = run(w, s);
    return leaving;
}

static bool holds(struct ref_walk *w, const struct ast_expr *e)
{
    if (w->steps == 0)
        stop(w);
    else
        w->steps--;
    begin(w);
    return ref_value(w->r, w->thread, e) != 0 && !is_over(w);
}

static void assign(struct ref_walk *w, const struct ast_stm *s)
{
    int32_t value;
    struct ref_cell cell = ref_assigned(w->r, w->thread, s, &value);
    if (cell.word)
        write(w, &cell, value);
}

/* What a call, an atomic gives: the place is looked for afterwards. */
static void give(struct ref_walk *w, const struct ast_lvalue *target, int32_t value)
{
    if (!target->var || is_over(w))
        return;
    begin(w);
    struct ref_cell cell = ref_place(w->r, w->thread, target);
    if (cell.word)
        write(w, &cell, value);
}

static void atomic(struct ref_walk *w, const struct ast_stm *s)
{
    struct ref_operands x;
    struct ast_stm alone = *s; /* the old value is given to its target afterwards */
    alone.target.var = NULL;
    if (!ref_operands(w->r, w->thread, s, &x))
        return;
    bool is_private = x.cell.address == REF_PRIVATE;
    const struct ref_event *event =
        is_private ? NULL : next_is(w, REF_EVENT_ATOMIC, x.cell.address);
    if (event)
        *x.cell.word = event->found;
    if (is_over(w))
        return;
    int32_t old = *x.cell.word;
    ref_atomic(w->r, w->thread, &alone, &x);
    if (event && event->value != *x.cell.word)
        differ(w, "atomic");
    give(w, &s->target, old);
}

static enum leaving call(struct ref_walk *w, const struct ast_stm *s)
{
    int32_t values[LIMIT_PARAMETERS];
    uint32_t count = 0;
    for (const struct ast_expr *e = s->arguments; e; e = e->next) {
        begin(w);
        values[count++] = ref_value(w->r, w->thread, e);
    }
    if (!is_over(w) && w->r->threads[w->thread].depth == LIMIT_CALL_DEPTH)
        ref_fail(w->r, REF_CALL_DEPTH, w->thread);
    if (is_over(w))
        return STOP;
    ref_enter(w->r, w->thread, s->function, s);
    const struct ast_var *parameter = s->function->locals;
    for (uint32_t i = 0; i < count && !w->r->unknown; i++, parameter = parameter->next)
        *ref_cell_of(w->r, w->thread, parameter, 0).word = values[i];
    w->result = 0;
    enum leaving leaving = run_list(w, s->function->body);
    if (leaving == EXIT || is_over(w))
        return leaving == EXIT ? EXIT : STOP;
    if (leaving != RETURN)
        w->result = 0;
    ref_leave(w->r, w->thread);
    give(w, &s->target, w->result);
    return ON;
}

/* for (i; e; u) S      while (e) S      do S while (e); */
static enum leaving loop(struct ref_walk *w, const struct ast_stm *s)
{
    enum leaving leaving = s->init ? run(w, s->init) : ON;
    bool is_first = s->kind == STM_DO;
    while (leaving == ON && (is_first || !s->value || holds(w, s->value)) && !is_over(w)) {
        is_first = false;
        leaving = run(w, s->body);
        if (leaving == CONTINUE)
            leaving = ON;
        if (leaving == ON && s->step)
            leaving = run(w, s->step);
    }
    return leaving == BREAK ? ON : leaving;
}

/* From the first case of that value on, as in C; default is the last one. */
static enum leaving choose(struct ref_walk *w, const struct ast_stm *s)
{
    int32_t value = ref_value(w->r, w->thread, s->value);
    const struct ast_case *c = s->cases;
    enum leaving leaving = ON;
    while (c && !c->is_default && c->value != value)
        c = c->next;
    for (; c && leaving == ON && !is_over(w); c = c->next)
        leaving = run_list(w, c->body);
    return leaving == BREAK ? ON : leaving;
}

static enum leaving check(struct ref_walk *w, const struct ast_stm *s, enum ref_end otherwise)
{
    if (ref_value(w->r, w->thread, s->value) == 0)
        ref_fail(w->r, otherwise, w->thread);
    return ON;
}

static enum leaving leave_function(struct ref_walk *w, const struct ast_stm *s)
{
    w->result = s->value ? ref_value(w->r, w->thread, s->value) : 0;
    return RETURN;
}

static void havoc(struct ref_walk *w, const struct ast_stm *s)
{
    struct ref_cell cell = ref_place(w->r, w->thread, &s->place);
    if (cell.word)
        write(w, &cell, ref_choice_value(w->r, w->thread));
}

static enum leaving simple(struct ref_walk *w, const struct ast_stm *s)
{
    switch ((int)s->kind) { /* those that are left nowhere else */
    case STM_SKIP:
    case STM_MEMBAR:
        return ON;
    case STM_ASSIGN:
        assign(w, s);
        return ON;
    case STM_ATOMIC:
        atomic(w, s);
        return ON;
    case STM_HAVOC:
        havoc(w, s);
        return ON;
    case STM_BARRIER:
        (void)next_is(w, REF_EVENT_BARRIER, 0);
        return ON;
    case STM_ASSERT:
        return check(w, s, REF_ASSERT_FAILS);
    case STM_ASSUME:
        return check(w, s, REF_INFEASIBLE);
    default:
        (void)ref_unknown(w->r, ast_stm_names[s->kind]);
        return STOP;
    }
}

static enum leaving any(struct ref_walk *w, const struct ast_stm *s)
{
    switch ((int)s->kind) { /* those that have parts, or leave others */
    case STM_BLOCK:
        return run_list(w, s->body);
    case STM_IF:
        if (holds(w, s->value))
            return run(w, s->body);
        return s->other && !is_over(w) ? run(w, s->other) : ON;
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
        return loop(w, s);
    case STM_SWITCH:
        return choose(w, s);
    case STM_CALL:
        return call(w, s);
    case STM_BREAK:
        return BREAK;
    case STM_CONTINUE:
        return CONTINUE;
    case STM_RETURN:
        return leave_function(w, s);
    case STM_EXIT:
        return EXIT;
    default:
        return simple(w, s);
    }
}

static enum leaving run(struct ref_walk *w, const struct ast_stm *s)
{
    if (w->steps == 0)
        stop(w);
    if (is_over(w))
        return STOP;
    w->steps--;
    w->line = s->at.line;
    begin(w);
    enum leaving leaving = any(w, s);
    return is_over(w) ? STOP : leaving;
}

/* ---- a thread ---- */

void ref_source_start(struct ref *r, const int32_t *inputs)
{
    ref_room_clear(r->room);
    memset(r->threads, 0, r->thread_count * sizeof *r->threads);
    r->unknown = NULL;
    ref_initialise(r, inputs);
}

static void drop_frames(struct ref *r, uint32_t thread)
{
    struct ref_thread *x = &r->threads[thread];
    while (x->frames) {
        struct ref_frame *frame = x->frames;
        x->frames = frame->below;
        ref_frame_drop(r, frame);
    }
}

struct ref_source_end ref_source_run(struct ref *r, uint32_t thread, struct ref_history *history,
                                     enum ref_end end, uint64_t steps, uint64_t *left)
{
    uint64_t most = steps < *left ? steps : *left;
    struct ref_walk w = {.r = r, .thread = thread, .history = history, .steps = most};
    w.ended = end != REF_RUNNING;
    r->end = REF_RUNNING;
    r->misled = NULL;
    r->walk = &w;
    ref_enter(r, thread, r->kernel->main, NULL);
    (void)run_list(&w, r->kernel->main->body);
    r->walk = NULL;
    drop_frames(r, thread);
    *left -= most - w.steps;
    bool ended = !r->misled && !r->unknown;
    if (ended && w.ended) {
        if (act_from(&w, w.head) < history->count ||
            end != (r->end == REF_RUNNING ? REF_TERMINATED : r->end))
            w.differs = "end";
    }
    r->misled = NULL;
    return (struct ref_source_end){w.differs, ended, event_from(&w, w.head), w.line};
}

static bool has_votes(const struct ast_stm *list)
{
    for (const struct ast_stm *s = list; s; s = s->next) {
        bool inside = s->kind == STM_VOTE || s->kind == STM_SYNC || s->kind == STM_ARRIVE ||
                      has_votes(s->body) || has_votes(s->other);
        for (const struct ast_case *c = s->cases; c && !inside; c = c->next)
            inside = has_votes(c->body);
        if (inside)
            return true;
    }
    return false;
}

const char *ref_source_refuses(const struct ast_kernel *kernel)
{
    bool has = has_votes(kernel->main->body);
    for (const struct ast_function *f = kernel->functions; f && !has; f = f->next)
        has = has_votes(f->body);
    return has ? "who takes part in votes and named barriers a thread alone does not know" : NULL;
}
