#include "oracle/scoped/scoped_log.h"
#include "engine/base/bits.h"

#include <string.h>

/* ---- events ---- */

static struct scoped_event *add(struct scoped_log *log)
{
    if (log->count == SCOPED_LOG_MAX) {
        log->overflow = true;
        return NULL;
    }
    struct scoped_event *e = &log->events[log->count++];
    *e = (struct scoped_event){.source = -1, .instruction = log->instruction};
    return e;
}

static bool overlap(const struct scoped_event *a, const struct scoped_event *b)
{
    return a->start < b->start + b->span && b->start < a->start + a->span;
}

static bool same_place(const struct scoped_event *a, const struct scoped_event *b)
{
    return a->start == b->start && a->span == b->span;
}

static bool writes(const struct scoped_event *e)
{
    return e->is_access && e->kind != ACCESS_READ;
}

static bool reads(const struct scoped_event *e)
{
    return e->is_access && e->kind != ACCESS_WRITE;
}

static int32_t source_of(const struct scoped_log *log, uint32_t read)
{
    for (uint32_t i = read; i-- > 0;)
        if (writes(&log->events[i]) && overlap(&log->events[i], &log->events[read]))
            return same_place(&log->events[i], &log->events[read]) ? (int32_t)i : -1;
    return -1;
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    struct scoped_log *log = context;
    if (log->fenced || log->latest != (uint32_t)*log->steps)
        log->instruction++;
    log->fenced = false;
    log->latest = (uint32_t)*log->steps;
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t lane = row->order[i];
        struct scoped_event *e = add(log);
        if (!e)
            return;
        e->is_access = true;
        e->thread = row->first_thread + lane;
        e->stm = row->stm;
        e->start = row->location[lane];
        e->span = row->span;
        e->kind = kind;
        e->value = kind == ACCESS_WRITE ? access_row_value(row, lane, 0) : 0;
        const struct manner m = manner_of(&log->program->ptx->ops[row->stm]);
        e->manner = *manner_as(&m, kind);
        if (reads(e))
            e->source = source_of(log, log->count - 1);
    }
}

/* A barrier of a whole block, or what has happened at a named one, is an event of no thread, between others. */
static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct scoped_log *log = context;
    struct scoped_event *e = event->all ? add(log) : NULL;
    (void)machine;
    if (!e)
        return;
    e->is_barrier = true;
    e->block = event->block;
    e->number = UINT32_MAX;
}

static void relate(uint64_t rows[][SCOPED_LOG_WORDS], uint32_t a, uint32_t b)
{
    bits_add(rows[a], b);
}

static bool related(uint64_t rows[][SCOPED_LOG_WORDS], uint32_t a, uint32_t b)
{
    return bits_has(rows[a], b);
}

/* A fence of a thread that is not one, only a moment: what bar.warp.sync and named barriers are told by. */
static struct scoped_event *moment(struct scoped_log *log, uint32_t thread, uint32_t stm)
{
    struct scoped_event *e = add(log);
    if (e) {
        e->thread = thread;
        e->stm = stm;
    }
    return e;
}

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct scoped_log *log = context;
    (void)machine;
    for (lane_mask rest = use->mask; rest; rest &= rest - 1) {
        uint32_t thread = use->first_thread + (uint32_t)__builtin_ctzll(rest);
        struct scoped_event *e = moment(log, thread, use->stm);
        if (!e)
            return;
        e->block = use->block + 1; /* + 1: of a named barrier */
        e->number = use->barrier;
        e->generation = use->generation;
        for (uint32_t i = 0; use->kind == BARRIER_RELEASES && i + 1 < log->count; i++) {
            const struct scoped_event *f = &log->events[i];
            if (f->block == e->block && f->number == e->number && !f->is_barrier &&
                f->generation == e->generation && f->kind == ACCESS_READ)
                relate(log->order, i, log->count - 1);
        }
        e->kind = use->kind == BARRIER_RELEASES ? ACCESS_WRITE : ACCESS_READ;
    }
}

static uint32_t first_of(const struct scoped_log *log, const struct machine *machine,
                         uint32_t actor)
{
    const struct program *p = log->program;
    return machine->semantics->actors != ACTORS_WARPS
               ? actor
               : actor / p->warps_per_block * p->launch.threads +
                     actor % p->warps_per_block * p->launch.warp;
}

static void see_warp_barrier(struct scoped_log *log, uint32_t first, lane_mask lanes, uint32_t stm)
{
    uint32_t before = log->count;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (lane_mask rest = lanes; rest; rest &= rest - 1)
            (void)moment(log, first + (uint32_t)__builtin_ctzll(rest), stm);
    uint32_t half = (log->count - before) / 2;
    for (uint32_t i = 0; !log->overflow && i < half; i++)
        for (uint32_t k = 0; k < half; k++)
            relate(log->order, before + i, before + half + k);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct scoped_log *log = context;
    if (event->stm == CODE_NONE)
        return;
    const struct ptx_op *op = &log->program->ptx->ops[event->stm];
    uint32_t first = first_of(log, machine, event->actor);
    struct manner m = manner_of(op);
    log->fenced |= m.fence;
    log->instruction += m.fence;
    if (m.warp_barrier && event->truth && machine->semantics->actors == ACTORS_WARPS)
        see_warp_barrier(log, first, event->truth, event->stm);
    else if (m.warp_barrier && event->met)
        see_warp_barrier(log, event->first_thread, event->met, event->stm);
    for (lane_mask rest = event->truth; rest; rest &= rest - 1) {
        uint32_t thread = first + (uint32_t)__builtin_ctzll(rest);
        struct scoped_event *e = m.fence ? moment(log, thread, event->stm) : NULL;
        if (e)
            e->manner = m;
    }
}

struct scoped_log *scoped_log_new(struct arena *arena, const struct program *program,
                                  bool same_value, bool lockstep)
{
    struct scoped_log *log = ARENA_NEW(arena, struct scoped_log);
    log->program = program;
    log->same_value = same_value;
    log->lockstep = lockstep;
    log->racy = ARENA_ARRAY(arena, uint8_t, (size_t)program->private_base * program->units + 1);
    log->observer = (struct observer){.context = log,
                                      .access_row = on_row,
                                      .barrier = on_barrier,
                                      .use = program->ptx->has_named_barriers ? on_use : NULL,
                                      .step = on_step};
    return log;
}

void scoped_log_begin(struct scoped_log *log, const uint64_t *steps)
{
    log->steps = steps;
    log->count = 0;
    log->overflow = false;
    memset(log->order, 0, sizeof log->order);
    memset(log->observed, 0, sizeof log->observed);
    memset(log->racy, 0, (size_t)log->program->private_base * log->program->units);
}

/* ---- relations ---- */

static void close(const struct scoped_log *log, uint64_t rows[][SCOPED_LOG_WORDS])
{
    for (uint32_t k = 0; k < log->count; k++)
        for (uint32_t i = 0; i < log->count; i++)
            for (uint32_t w = 0; related(rows, i, k) && w < SCOPED_LOG_WORDS; w++)
                rows[i][w] |= rows[k][w];
}

static bool is_fence(const struct scoped_event *e)
{
    return !e->is_access && e->manner.fence;
}

/* Whether the scope of e takes in the thread: of its block, its cluster (by the place of its first block), or any. */
static bool includes(const struct scoped_log *log, const struct scoped_event *e, uint32_t thread)
{
    const struct ptx_kernel *kernel = log->program->ptx->kernel;
    const uint32_t threads = log->program->launch.threads;
    const uint32_t own = kernel->first_block + e->thread / threads;
    const uint32_t other = kernel->first_block + thread / threads;
    bool same = true;
    for (const char *axis = "xyz"; *axis; axis++)
        same &= ptx_cluster_element(kernel, own, *axis, true) ==
                ptx_cluster_element(kernel, other, *axis, true);
    return own == other || e->manner.reach == REACH_ALL ||
           (e->manner.reach == REACH_CLUSTER && same);
}

/* Morally strong, of different threads or one. */
static bool strong(const struct scoped_log *log, uint32_t i, uint32_t k)
{
    const struct scoped_event *a = &log->events[i], *b = &log->events[k];
    if (a->is_access && b->is_access && !same_place(a, b))
        return false;
    if (a->thread == b->thread)
        return true;
    return a->manner.strong && b->manner.strong && includes(log, a, b->thread) &&
           includes(log, b, a->thread);
}

static void relate_observed(struct scoped_log *log)
{
    for (uint32_t r = 0; r < log->count; r++) {
        const struct scoped_event *e = &log->events[r];
        if (!reads(e) || e->source < 0 || !strong(log, (uint32_t)e->source, r))
            continue;
        uint32_t w = (uint32_t)e->source;
        relate(log->observed, w, r);
        for (uint32_t i = 0; log->events[w].kind == ACCESS_ATOMIC && i < w; i++)
            if (related(log->observed, i, w))
                relate(log->observed, i, r);
    }
}

/* h heads a release pattern whose write is w. */
static bool releases(const struct scoped_log *log, uint32_t h, uint32_t w)
{
    const struct scoped_event *a = &log->events[h], *b = &log->events[w];
    if (!a->manner.releases || !writes(b) || !b->manner.strong || a->thread != b->thread || h > w)
        return false;
    return is_fence(a) ? h < w : writes(a) && same_place(a, b);
}

/* t ends an acquire pattern whose read is r. */
static bool acquires(const struct scoped_log *log, uint32_t r, uint32_t t)
{
    const struct scoped_event *a = &log->events[r], *b = &log->events[t];
    if (!b->manner.acquires || !reads(a) || !a->manner.strong || a->thread != b->thread || r > t)
        return false;
    return is_fence(b) ? r < t : reads(b) && same_place(a, b);
}

static void relate_patterns(struct scoped_log *log, uint32_t w, uint32_t r)
{
    for (uint32_t h = 0; h <= w; h++)
        for (uint32_t t = r; releases(log, h, w) && t < log->count; t++)
            if (acquires(log, r, t) && strong(log, h, t))
                relate(log->order, h, t);
}

static uint32_t block_of(const struct scoped_log *log, const struct scoped_event *e)
{
    return e->is_barrier ? e->block : e->thread / log->program->launch.threads;
}

static bool same_warp(const struct scoped_log *log, const struct scoped_event *a,
                      const struct scoped_event *b)
{
    const struct ast_launch *l = &log->program->launch;
    return block_of(log, a) == block_of(log, b) &&
           a->thread % l->threads / l->warp == b->thread % l->threads / l->warp;
}

/* Program order, barriers, fence.sc. */
static void relate_simple(struct scoped_log *log)
{
    for (uint32_t i = 0; i < log->count; i++)
        for (uint32_t k = i + 1; k < log->count; k++) {
            const struct scoped_event *a = &log->events[i], *b = &log->events[k];
            bool barrier = a->is_barrier || b->is_barrier;
            if (log->lockstep && !barrier && same_warp(log, a, b) &&
                a->instruction != b->instruction)
                relate(log->order, i, k);
            if (barrier ? block_of(log, a) == block_of(log, b) : a->thread == b->thread)
                relate(log->order, i, k);
            if (is_fence(a) && is_fence(b) && a->manner.sc && b->manner.sc && strong(log, i, k))
                relate(log->order, i, k);
        }
}

/* ---- races ---- */

static bool ordered(struct scoped_log *log, uint32_t i, uint32_t k)
{
    bool is = related(log->order, i, k);
    for (uint32_t r = i; !is && r < k; r++)
        is = related(log->observed, i, r) && related(log->order, r, k);
    return is;
}

static bool race(struct scoped_log *log, uint32_t i, uint32_t k)
{
    const struct scoped_event *a = &log->events[i], *b = &log->events[k];
    if (!a->is_access || !b->is_access || a->thread == b->thread || !overlap(a, b) ||
        !(writes(a) || writes(b)))
        return false;
    bool same = log->same_value && a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE &&
                a->value == b->value;
    return !same && !strong(log, i, k) && !ordered(log, i, k);
}

static uint32_t find_races(struct scoped_log *log)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < log->count; i++)
        for (uint32_t k = i + 1; k < log->count; k++)
            if (race(log, i, k)) {
                const struct scoped_event *a = &log->events[i], *b = &log->events[k];
                for (uint32_t l = a->start; l < a->start + a->span; l++)
                    if (l >= b->start && l < b->start + b->span && !log->racy[l]) {
                        log->racy[l] = 1;
                        found++;
                    }
            }
    return found;
}

const char *scoped_log_differs(struct scoped_log *log, const struct scoped *scoped, bool *asked)
{
    *asked = !log->overflow && !scoped->blind;
    if (!*asked)
        return NULL;
    relate_simple(log);
    relate_observed(log);
    for (uint32_t w = 0; w < log->count; w++)
        for (uint32_t r = w + 1; r < log->count; r++)
            if (related(log->observed, w, r))
                relate_patterns(log, w, r);
    close(log, log->order);
    uint32_t racy = find_races(log);
    if (scoped->racy_locations > racy)
        return "a race that is none";
    if (scoped->incomplete)
        *asked = false;
    else if (scoped->racy_locations < racy)
        return scoped->found ? "a location missed" : "a race missed";
    return NULL;
}
