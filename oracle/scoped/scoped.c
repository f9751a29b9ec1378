/* scoped.c - the accesses of an execution, and who meets whom at a location. */
#include "oracle/scoped/scoped_internal.h"

#include "engine/base/inline.h"

#include <string.h>

enum { RESTS_MAX = 1 << 19 };

/* ---- two accesses ---- */

static bool writes(const struct scoped_entry *a)
{
    return a->kind != ACCESS_READ;
}

static uint32_t node_of(const struct scoped_entry *a)
{
    return a->strong ? a->mark : 0;
}

static int32_t value_of(const struct scoped *s, const struct scoped_entry *a)
{
    if (!a->strong)
        return (int32_t)a->mark;
    return a->mark ? s->nodes[a->mark - 1].value : 0;
}

static bool morally_strong(const struct scoped *s, const struct scoped_entry *a,
                           const struct scoped_entry *b)
{
    return a->strong && b->strong && a->offset == b->offset && a->span == b->span &&
           scoped_reach(s, a->thread, a->reach, b->thread, b->reach);
}

static bool conflict(const struct scoped *s, const struct scoped_entry *a,
                     const struct scoped_entry *b)
{
    if (a->thread == b->thread || !(writes(a) || writes(b)) || morally_strong(s, a, b))
        return false;
    return !(s->same_value && a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE &&
             value_of(s, a) == value_of(s, b));
}

/* By program order, barriers and patterns: base causality. */
static bool before(const struct scoped *s, const struct scoped_entry *a,
                   const struct scoped_entry *b)
{
    return a->thread == b->thread || a->step < clocks_known(&s->clocks, b->thread, a->thread);
}

static void note_race(struct scoped *s, uint32_t address, const struct scoped_entry *a,
                      const struct scoped_entry *b)
{
    struct scoped_cell *cell = &s->cells[address];
    bool both = a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE;
    if (s->blind)
        return;
    s->racy_stms[a->stm] = s->racy_stms[b->stm] = 1;
    if (cell->racy) {
        scoped_perhaps_flag(s, address, a, b);
        return;
    }
    cell->racy = true;
    s->racy_locations++;
    race_mark_variable(s->program, address, s->racy_vars);
    struct race_witness witness = {.address = address,
                                   .first = {a->thread, a->stm, (enum access_kind)a->kind},
                                   .second = {b->thread, b->stm, (enum access_kind)b->kind},
                                   .same_value = both && value_of(s, a) == value_of(s, b),
                                   .simultaneous = both && a->step == b->step};
    scoped_explain(s, a, b, &witness);
    scoped_perhaps_flag(s, address, a, b);
    if (!s->found)
        s->witness = witness;
    else if (s->witness.cause.why == RACE_UNORDERED && witness.cause.by_flag &&
             witness.cause.flag == s->witness.address)
        s->witness.cause = witness.cause; /* the first race was the flag's own */
    s->found = true;
}

/* ---- the list of a location ---- */

static struct scoped_entry *rest_of(const struct scoped *s, const struct scoped_cell *cell)
{
    return &s->rests[(size_t)(cell->rest - 1) * SCOPED_REST];
}

/* Room for what comes before the latest entry. */
static bool make_rest(struct scoped *s, struct scoped_cell *cell)
{
    if (!cell->rest && s->rest_count < s->rest_capacity)
        cell->rest = ++s->rest_count;
    s->incomplete |= !cell->rest;
    return cell->rest != 0;
}

/* What is dropped may still have had partners: of a plain access, any; of strong ones, plain or narrow ones. */
static void forget_entry(struct scoped *s, struct scoped_cell *cell, const struct scoped_entry *a)
{
    uint16_t block = s->clocks.block_of[a->thread], warp = s->clocks.warp_of[a->thread];
    bool first = cell->forgot == 0;
    cell->forgot_block = first || cell->forgot_block == block ? block : UINT16_MAX;
    cell->forgot_warp = first || cell->forgot_warp == warp ? warp : UINT16_MAX;
    if (cell->forgot < a->step + 1)
        cell->forgot = a->step + 1;
    cell->forgot_plain = (!first && cell->forgot_plain) || !a->strong || s->has_narrow;
    cell->forgot_writes = (!first && cell->forgot_writes) || writes(a);
}

/* Whether a new access may race with one that was dropped. */
static bool may_miss(const struct scoped *s, const struct scoped_cell *cell,
                     const struct scoped_entry *b)
{
    const struct clocks *c = &s->clocks;
    uint32_t block = scoped_block(s, b->thread), warp = clocks_warp(c, b->thread);
    if (!cell->forgot || !(writes(b) || cell->forgot_writes))
        return false;
    if (b->strong && !cell->forgot_plain)
        return false;
    return !(cell->forgot_block == block && cell->forgot <= c->floors[block]) &&
           !(cell->forgot_warp == warp && cell->forgot <= c->warp_floors[warp]);
}

static void add_entry(struct scoped *s, struct scoped_cell *cell, const struct scoped_entry *b)
{
    if (cell->listed && !make_rest(s, cell))
        return;
    if (cell->listed)
        rest_of(s, cell)[cell->listed - 1] = cell->latest;
    if (node_of(b))
        s->nodes[b->mark - 1].references++;
    cell->latest = *b;
    cell->listed++;
    cell->writers += writes(b);
    cell->strong |= b->strong;
}

/* Whether whatever races with a, later, races with b, too. A strong write b does not make other accesses of its own
 * thread superfluous: who observes b comes behind b, and not behind what was before it. But an atomic does so with the
 * write that it observes. */
static bool superfluous(const struct scoped *s, const struct scoped_entry *a,
                        const struct scoped_entry *b, bool ordered, uint32_t source)
{
    bool near = scoped_block(s, a->thread) == scoped_block(s, b->thread);
    if ((writes(a) && !writes(b)) ||
        (s->same_value && writes(a) && value_of(s, a) != value_of(s, b)))
        return false;
    if (b->strong && !(a->strong && a->offset == b->offset && a->span == b->span &&
                       a->reach >= b->reach && (near || !s->has_narrow)))
        return false;
    if (source && node_of(a) == source)
        return true;
    return ordered && !(b->strong && writes(b));
}

/* The entries that stay beside b, which comes next; the latest one is among the others then. */
static void sift(struct scoped *s, uint32_t address, struct scoped_cell *cell,
                 const struct scoped_entry *b, uint32_t floor, uint32_t source)
{
    struct scoped_entry *rest = cell->rest ? rest_of(s, cell) : NULL;
    uint32_t counts[2] = {0}, listed = cell->listed, to = listed;
    for (uint32_t i = listed; i-- > 0;) {
        const struct scoped_entry a = i + 1 == listed ? cell->latest : rest[i];
        bool ordered = before(s, &a, b);
        if (!ordered && conflict(s, &a, b) &&
            !(node_of(&a) && scoped_observed(s, a.mark, b->thread, b->step)))
            note_race(s, address, &a, b);
        bool stays = a.step >= floor && !superfluous(s, &a, b, ordered, source);
        if (stays && counts[writes(&a)] + 1 >= SCOPED_LIST) { /* the oldest ones make room */
            forget_entry(s, cell, &a);
            stays = false;
        }
        if (!stays || !make_rest(s, cell)) {
            scoped_drop_node(s, node_of(&a));
            continue;
        }
        counts[writes(&a)]++;
        rest = rest_of(s, cell);
        rest[--to] = a;
    }
    cell->listed = (uint8_t)(listed - to);
    cell->writers = (uint8_t)counts[1];
    cell->strong &= cell->listed != 0;
    if (to && cell->listed)
        memmove(rest, rest + to, cell->listed * sizeof *rest);
    if (cell->listed) /* what add_entry puts there again */
        cell->latest = rest[cell->listed - 1];
}

static void walk(struct scoped *s, uint32_t address, struct scoped_cell *cell,
                 const struct scoped_entry *b, uint32_t source)
{
    /* What only this block uses, and did before its last barrier, has no partner any more. */
    bool own = s->clocks.blocks == 1 || (address >= s->program->shared_base * s->program->units &&
                                         !s->program->ptx->has_clusters);
    uint32_t floor = own ? s->clocks.floors[scoped_block(s, b->thread)] : 0;
    if (!cell->strong && cell->latest.step < floor)
        cell->listed = cell->writers = 0;
    if (cell->listed)
        sift(s, address, cell, b, floor, source);
    s->incomplete |= may_miss(s, cell, b);
    add_entry(s, cell, b);
}

static void enter(struct scoped *s, struct scoped_cell *cell)
{
    if (cell->execution == s->execution)
        return;
    *cell = (struct scoped_cell){.execution = s->execution};
}

/* There is but one access, plain and by the same thread, that b stands for. */
INLINED bool replaces(const struct scoped *s, const struct scoped_cell *cell,
                      const struct scoped_entry *b)
{
    const struct scoped_entry *a = &cell->latest;
    return cell->listed == 1 && a->thread == b->thread && !a->strong && !b->strong &&
           !cell->forgot && (b->kind == ACCESS_WRITE || a->kind == ACCESS_READ) &&
           !(s->same_value && a->kind == ACCESS_WRITE && a->mark != b->mark);
}

/* A plain read where nobody writes has no partner. It takes the place of its thread's own, or is put in front; what it
 * makes superfluous is dropped when the list is full. One of a warp that has filled the list in this very step takes
 * the place of the one before. */
INLINED bool only_reads(struct scoped *s, struct scoped_cell *cell, const struct scoped_entry *b)
{
    struct scoped_entry *a = &cell->latest;
    bool is_full = cell->listed + 1 >= SCOPED_LIST;
    if (b->kind != ACCESS_READ || b->strong || a->strong || cell->writers || may_miss(s, cell, b))
        return false;
    bool same_row = a->step == b->step &&
                    clocks_warp(&s->clocks, a->thread) == clocks_warp(&s->clocks, b->thread);
    if (a->thread == b->thread || (is_full && same_row)) {
        if (a->thread != b->thread)
            forget_entry(s, cell, a);
        *a = *b;
    } else if (is_full) {
        return false;
    } else {
        add_entry(s, cell, b);
    }
    return true;
}

INLINED void visit(struct scoped *s, uint32_t address, const struct scoped_entry *b,
                   uint32_t source)
{
    struct scoped_cell *cell = &s->cells[address];
    if (replaces(s, cell, b)) {
        cell->latest = *b;
        cell->writers = writes(b);
        return;
    }
    if (cell->listed && only_reads(s, cell, b))
        return;
    walk(s, address, cell, b, source);
}

/* In lock-step, a plain read where the latest access is one by another lane of the same instruction. */
INLINED bool is_same_row(const struct scoped *s, const struct scoped_cell *cell, uint32_t step)
{
    const struct scoped_entry *a = &cell->latest;
    return s->lockstep && cell->listed && a->step == step && !cell->writers && !a->strong;
}

/* ---- instructions ---- */

INLINED void see_plain(struct scoped *s, struct scoped_entry *b, uint32_t start)
{
    for (uint32_t k = 0; k < b->span; k++) {
        struct scoped_cell *cell = &s->cells[start + k];
        enter(s, cell);
        if (b->kind == ACCESS_READ && is_same_row(s, cell, b->step)) {
            cell->latest.thread = b->thread;
            continue;
        }
        if (cell->place && b->kind == ACCESS_WRITE)
            scoped_overwrite(s, &s->places[cell->place - 1], b->thread, b->stm, b->step);
        b->offset = (uint8_t)k;
        visit(s, start + k, b, 0);
    }
}

static void see_strong(struct scoped *s, struct scoped_entry *b, uint32_t start,
                       const struct manner *m, int32_t value)
{
    const struct scoped_strong x = {.thread = b->thread,
                                    .start = start,
                                    .span = b->span,
                                    .stm = b->stm,
                                    .step = b->step,
                                    .manner = m};
    uint32_t source = 0;
    bool linked = false;
    for (uint32_t k = 0; k < b->span; k++)
        enter(s, &s->cells[start + k]);
    if (m->reads) {
        linked = scoped_observe(s, &x);
        source = linked && m->writes ? s->places[s->cells[start].place - 1].node : 0;
        if (source)
            s->nodes[source - 1].references++;
    }
    b->mark = m->writes ? scoped_publish(s, &x, linked) : 0;
    if (b->mark)
        s->nodes[b->mark - 1].value = value;
    for (uint32_t k = 0; k < b->span; k++) {
        b->offset = (uint8_t)k;
        visit(s, start + k, b, source);
    }
    scoped_drop_node(s, source);
}

INLINED void see_row(struct scoped *s, const enum access_kind kind, const struct access_row *row)
{
    const struct manner *m = manner_as(&s->manners[row->stm], kind);
    struct scoped_entry entry = {.stm = row->stm,
                                 .step = (uint32_t)*s->steps,
                                 .span = (uint8_t)row->span,
                                 .kind = (uint8_t)kind,
                                 .strong = m->strong,
                                 .reach = m->reach};
    if (s->lockstep)
        clocks_warp_barrier(&s->clocks, row->first_thread, entry.step);
    s->seen = row->count ? entry.step + 1 : s->seen;
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t lane = row->order[i];
        int32_t value = kind == ACCESS_WRITE ? access_row_value(row, lane, 0) : 0;
        entry.thread = (uint16_t)(row->first_thread + lane);
        entry.mark = (uint32_t)value;
        if (m->strong)
            see_strong(s, &entry, row->location[lane], m, value);
        else
            see_plain(s, &entry, row->location[lane]);
    }
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    switch (kind) {
    case ACCESS_READ:
        see_row(context, ACCESS_READ, row);
        break;
    case ACCESS_WRITE:
        see_row(context, ACCESS_WRITE, row);
        break;
    case ACCESS_ATOMIC:
        see_row(context, ACCESS_ATOMIC, row);
        break;
    }
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct scoped *s = context;
    (void)machine;
    if (event->all)
        clocks_barrier(&s->clocks, event->block, s->seen);
}

/* ---- fences, barriers of warps ---- */

/* The machine has seen to it that no lane is named that is not there; lanes that name different ones count as one
 * group. */
static void see_warp_barrier(struct scoped *s, lane_mask lanes, uint32_t first)
{
    lane_mask alive = 0;
    uint32_t left = s->threads - first % s->threads, warp = s->clocks.warp;
    for (uint32_t i = 0; i < left && i < warp; i++)
        alive |= (lane_mask)!s->thread[first + i].exited << i;
    scoped_warp_barrier(s, first, lanes, (alive & ~lanes) == 0);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct scoped *s = context;
    if (event->stm == CODE_NONE || !event->truth)
        return;
    const struct manner *m = &s->manners[event->stm];
    const struct ptx_op *op = &s->program->ptx->ops[event->stm];
    bool exits = op->exec == PTX_EXEC_EXIT || (op->exec == PTX_EXEC_RET && op->function == 0);
    if (!m->fence && !m->warp_barrier && !exits)
        return;
    uint32_t first = event->actor;
    if (machine->semantics->actors == ACTORS_WARPS)
        first = event->actor / s->program->warps_per_block * s->threads +
                event->actor % s->program->warps_per_block * s->program->launch.warp;
    if (m->warp_barrier && machine->semantics->actors == ACTORS_WARPS)
        see_warp_barrier(s, event->truth, first);
    else if (m->warp_barrier && event->met)
        see_warp_barrier(s, event->met, event->first_thread);
    if (m->fence && s->lockstep)
        clocks_warp_barrier(&s->clocks, first, s->seen);
    for (lane_mask rest = m->fence || exits ? event->truth : 0; rest; rest &= rest - 1) {
        uint32_t thread = first + (uint32_t)__builtin_ctzll(rest);
        if (exits)
            s->thread[thread].exited = true;
        else
            scoped_fence(s, thread, event->stm);
    }
}

/* ---- the detector ---- */

static void find_manners(struct scoped *s, struct arena *arena)
{
    const struct ptx_code *code = s->program->ptx;
    struct manner *manners = ARENA_ARRAY(arena, struct manner, code->count + 1);
    for (uint32_t pc = 1; pc < code->count; pc++) {
        manners[pc] = manner_of(&code->ops[pc]);
        s->has_fences |= manners[pc].fence;
        s->has_narrow |= manners[pc].strong && !manners[pc].fence && manners[pc].reach != REACH_ALL;
        if (manners[pc].fence || manners[pc].warp_barrier)
            s->observer.step = on_step;
    }
    s->manners = manners;
}

static void find_clusters(struct scoped *s)
{
    const struct ptx_kernel *kernel = s->program->ptx->kernel;
    const uint32_t blocks = s->program->launch.blocks;
    for (uint32_t block = 0; block < blocks; block++) {
        const uint32_t own = kernel->first_block + block;
        uint32_t first = blocks; /* the others of its cluster need not run */
        for (uint32_t rank = 0; first >= blocks; rank++)
            first = ptx_cluster_block(kernel, own, rank) - kernel->first_block;
        s->cluster_of[block] = first;
    }
}

static void make_room(struct scoped *s, struct arena *arena)
{
    const struct program *program = s->program;
    uint32_t locations = program->private_base * program->units, blocks = program->launch.blocks;
    s->cluster_of = ARENA_ARRAY(arena, uint32_t, blocks);
    find_clusters(s);
    for (uint32_t reach = 0; reach < REACH_COUNT; reach++)
        s->sc[reach] = ARENA_ARRAY(arena, uint32_t, blocks);
    s->told = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * SCOPED_BARRIERS);
    s->generations = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * SCOPED_BARRIERS);
    s->thread = ARENA_ARRAY(arena, struct scoped_thread, program->total_threads);
    s->cells = ARENA_ARRAY(arena, struct scoped_cell, locations);
    s->rest_capacity = locations > RESTS_MAX ? RESTS_MAX : locations;
    s->rests = arena_room(arena, (size_t)s->rest_capacity * SCOPED_REST * sizeof *s->rests);
    s->nodes = arena_room(arena, SCOPED_NODES * sizeof *s->nodes);
    s->sight = arena_room(arena, SCOPED_SIGHT * sizeof *s->sight);
    s->notes = arena_room(arena, SCOPED_NOTES * sizeof *s->notes);
    s->places = arena_room(arena, SCOPED_PLACES * sizeof *s->places);
    s->racy_stms = ARENA_ARRAY(arena, uint8_t, program->stm_count);
    s->racy_vars = ARENA_ARRAY(arena, uint8_t, program->var_count);
}

struct scoped *scoped_new(struct arena *arena, const struct program *program, bool same_value,
                          bool lockstep, const char **reason)
{
    struct scoped *s = ARENA_NEW(arena, struct scoped);
    const struct ast_launch *launch = &program->launch;
    s->program = program;
    s->same_value = same_value;
    s->lockstep = lockstep;
    s->threads = launch->threads;
    if (!clocks_make(&s->clocks, arena, launch->blocks, launch->threads, launch->warp)) {
        *reason = "too many threads for happens-before with scopes";
        return NULL;
    }
    s->observer = (struct observer){.context = s,
                                    .access_row = on_row,
                                    .barrier = on_barrier,
                                    .use = program->ptx->has_named_barriers ? scoped_use : NULL};
    find_manners(s, arena);
    make_room(s, arena);
    return s;
}

void scoped_begin(struct scoped *s, const uint64_t *steps)
{
    uint32_t blocks = s->program->launch.blocks;
    s->steps = steps;
    s->execution++;
    clocks_begin(&s->clocks);
    s->rest_count = s->node_count = s->node_free = s->sight_count = 0;
    s->sight_free = s->note_count = s->note_free = s->place_count = 0;
    s->seen = s->racy_locations = 0;
    s->blind = s->incomplete = s->found = false;
    for (uint32_t reach = 0; reach < REACH_COUNT; reach++)
        memset(s->sc[reach], 0, blocks * sizeof *s->sc[reach]);
    memset(s->told, 0, (size_t)blocks * SCOPED_BARRIERS * sizeof *s->told);
    memset(s->generations, 0, (size_t)blocks * SCOPED_BARRIERS * sizeof *s->generations);
    memset(s->thread, 0, s->program->total_threads * sizeof *s->thread);
}
