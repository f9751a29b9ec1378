/* scoped.c - the accesses of an execution, and who meets whom at a location. */
#include "oracle/scoped/scoped_internal.h"

#include "engine/base/inline.h"

#include <string.h>

enum { ENTRIES_MAX = 1 << 21 };

/* ---- two accesses ---- */

static bool writes(const struct scoped_entry *a)
{
    return a->kind != ACCESS_READ;
}

static bool morally_strong(const struct scoped *s, const struct scoped_entry *a,
                           const struct scoped_entry *b)
{
    return a->strong && b->strong && a->start == b->start && a->span == b->span &&
           scoped_reach(s, a->thread, a->wide, b->thread, b->wide);
}

static bool conflict(const struct scoped *s, const struct scoped_entry *a,
                     const struct scoped_entry *b)
{
    if (a->thread == b->thread || !(writes(a) || writes(b)) || morally_strong(s, a, b))
        return false;
    return !(s->same_value && a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE &&
             a->value == b->value);
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
    if (cell->racy == s->execution) {
        scoped_perhaps_flag(s, a, b);
        return;
    }
    cell->racy = s->execution;
    s->racy_locations++;
    race_mark_variable(s->program, address, s->racy_vars);
    struct race_witness witness = {.address = address,
                                   .first = {a->thread, a->stm, (enum access_kind)a->kind},
                                   .second = {b->thread, b->stm, (enum access_kind)b->kind},
                                   .same_value = both && a->value == b->value,
                                   .simultaneous = both && a->step == b->step};
    scoped_explain(s, a, b, &witness);
    scoped_perhaps_flag(s, a, b);
    if (!s->found)
        s->witness = witness;
    else if (s->witness.cause.why == RACE_UNORDERED && witness.cause.by_flag &&
             witness.cause.flag == s->witness.address)
        s->witness.cause = witness.cause; /* the first race was the flag's own */
    s->found = true;
}

/* ---- the list of a location ---- */

static void drop_entry(struct scoped *s, uint32_t *link)
{
    uint32_t at = *link;
    struct scoped_entry *a = &s->entries[at - 1];
    scoped_drop_node(s, a->node);
    *link = a->next;
    a->next = s->entry_free;
    s->entry_free = at;
}

/* What is dropped may still have had partners: of a plain access, any; of strong ones, plain or narrow ones. */
static void forget_entry(struct scoped *s, struct scoped_cell *cell, const struct scoped_entry *a)
{
    uint32_t block = scoped_block(s, a->thread), warp = clocks_warp(&s->clocks, a->thread);
    bool first = cell->forgot == 0;
    cell->forgot_block = first || cell->forgot_block == block ? block : UINT32_MAX;
    cell->forgot_warp = first || cell->forgot_warp == warp ? warp : UINT32_MAX;
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
    uint32_t at = s->entry_free;
    if (at) {
        s->entry_free = s->entries[at - 1].next;
    } else if (s->entry_count < s->entry_capacity) {
        at = ++s->entry_count;
    } else {
        s->incomplete = true;
        return;
    }
    s->entries[at - 1] = *b;
    s->entries[at - 1].next = cell->list;
    if (b->node)
        s->nodes[b->node - 1].references++;
    cell->list = at;
    cell->listed++;
    cell->writers += writes(b);
}

/* Whether whatever races with a, later, races with b, too. A strong write b does not make other accesses of its own
 * thread superfluous: who observes b comes behind b, and not behind what was before it. But an atomic does so with the
 * write that it observes. */
static bool superfluous(const struct scoped *s, const struct scoped_entry *a,
                        const struct scoped_entry *b, bool ordered, uint32_t source)
{
    bool near = scoped_block(s, a->thread) == scoped_block(s, b->thread);
    if ((writes(a) && !writes(b)) || (s->same_value && writes(a) && a->value != b->value))
        return false;
    if (b->strong && !(a->strong && a->start == b->start && a->span == b->span &&
                       (a->wide || !b->wide) && (near || !s->has_narrow)))
        return false;
    if (source && a->node == source)
        return true;
    return ordered && !(b->strong && writes(b));
}

static void walk(struct scoped *s, uint32_t address, struct scoped_cell *cell,
                 const struct scoped_entry *b, uint32_t source)
{
    uint32_t counts[2] = {0}, block = scoped_block(s, b->thread);
    /* What only this block uses, and did before its last barrier, has no partner any more. */
    bool own = s->clocks.blocks == 1 || address >= s->program->shared_base * s->program->units;
    uint32_t floor = own ? s->clocks.floors[block] : 0;
    for (uint32_t *link = &cell->list; *link;) {
        const struct scoped_entry *a = &s->entries[*link - 1];
        bool ordered = before(s, a, b);
        if (!ordered && conflict(s, a, b) &&
            !(a->node && scoped_observed(s, a->node, b->thread, b->step)))
            note_race(s, address, a, b);
        if (a->step < floor || superfluous(s, a, b, ordered, source)) {
            drop_entry(s, link);
            continue;
        }
        if (counts[writes(a)] + 1 >= SCOPED_LIST) { /* the oldest ones make room */
            forget_entry(s, cell, a);
            drop_entry(s, link);
            continue;
        }
        counts[writes(a)]++;
        link = &s->entries[*link - 1].next;
    }
    cell->listed = (uint8_t)(counts[0] + counts[1]);
    cell->writers = (uint8_t)counts[1];
    s->incomplete |= may_miss(s, cell, b);
    add_entry(s, cell, b);
}

static void enter(struct scoped *s, struct scoped_cell *cell)
{
    if (cell->execution == s->execution)
        return;
    *cell = (struct scoped_cell){.execution = s->execution, .racy = cell->racy};
}

/* There is but one access, plain and by the same thread, that b stands for. */
INLINED bool replaces(const struct scoped *s, const struct scoped_cell *cell,
                      const struct scoped_entry *b)
{
    const struct scoped_entry *a = &s->entries[cell->list - 1];
    return a->thread == b->thread && !a->next && !a->strong && !b->strong && !cell->forgot &&
           (b->kind == ACCESS_WRITE || a->kind == ACCESS_READ) &&
           !(s->same_value && a->kind == ACCESS_WRITE && a->value != b->value);
}

/* A plain read where nobody writes has no partner. It takes the place of its thread's own, or is put in front; what it
 * makes superfluous is dropped when the list is full. One of a warp that has filled the list in this very step takes the
 * place of the one before. */
INLINED bool only_reads(struct scoped *s, struct scoped_cell *cell, const struct scoped_entry *b)
{
    struct scoped_entry *a = &s->entries[cell->list - 1];
    bool is_full = cell->listed + 1 >= SCOPED_LIST;
    if (b->kind != ACCESS_READ || b->strong || a->strong || cell->writers || may_miss(s, cell, b))
        return false;
    bool same_row = a->step == b->step &&
                    clocks_warp(&s->clocks, a->thread) == clocks_warp(&s->clocks, b->thread);
    if (a->thread == b->thread || (is_full && same_row)) {
        uint32_t next = a->next;
        if (a->thread != b->thread)
            forget_entry(s, cell, a);
        *a = *b;
        a->next = next;
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
    if (cell->list && replaces(s, cell, b)) {
        s->entries[cell->list - 1] = *b;
        cell->writers = writes(b);
        return;
    }
    if (cell->list && only_reads(s, cell, b))
        return;
    walk(s, address, cell, b, source);
}

/* In lock-step, a plain read where the latest access is one by another lane of the same instruction. */
INLINED bool is_same_row(const struct scoped *s, const struct scoped_cell *cell, uint32_t step)
{
    const struct scoped_entry *a = &s->entries[cell->list - 1];
    return s->lockstep && cell->list && a->step == step && !cell->writers && !a->strong;
}

/* ---- instructions ---- */

INLINED void see_plain(struct scoped *s, const struct scoped_entry *b)
{
    for (uint32_t k = 0; k < b->span; k++) {
        struct scoped_cell *cell = &s->cells[b->start + k];
        enter(s, cell);
        if (b->kind == ACCESS_READ && is_same_row(s, cell, b->step)) {
            s->entries[cell->list - 1].thread = b->thread;
            continue;
        }
        if (cell->place && b->kind == ACCESS_WRITE)
            scoped_overwrite(s, &s->places[cell->place - 1], b->thread, b->stm, b->step);
        visit(s, b->start + k, b, 0);
    }
}

static void see_strong(struct scoped *s, struct scoped_entry *b, const struct manner *m)
{
    const struct scoped_strong x = {.thread = b->thread,
                                    .start = b->start,
                                    .span = b->span,
                                    .stm = b->stm,
                                    .step = b->step,
                                    .manner = m};
    uint32_t source = 0;
    bool linked = false;
    for (uint32_t k = 0; k < b->span; k++)
        enter(s, &s->cells[b->start + k]);
    if (m->reads) {
        linked = scoped_observe(s, &x);
        source = linked && m->writes ? s->places[s->cells[b->start].place - 1].node : 0;
        if (source)
            s->nodes[source - 1].references++;
    }
    if (m->writes)
        b->node = scoped_publish(s, &x, linked);
    for (uint32_t k = 0; k < b->span; k++)
        visit(s, b->start + k, b, source);
    scoped_drop_node(s, source);
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    struct scoped *s = context;
    const struct manner *m = manner_as(&s->manners[row->stm], kind);
    struct scoped_entry entry = {.stm = row->stm,
                                 .step = (uint32_t)*s->steps,
                                 .span = (uint8_t)row->span,
                                 .kind = (uint8_t)kind,
                                 .strong = m->strong,
                                 .wide = m->wide};
    if (s->lockstep)
        clocks_warp_barrier(&s->clocks, row->first_thread, entry.step);
    s->seen = row->count ? entry.step + 1 : s->seen;
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t lane = row->order[i];
        entry.thread = row->first_thread + lane;
        entry.start = row->location[lane];
        entry.node = 0;
        entry.value = kind == ACCESS_WRITE ? access_row_value(row, lane, 0) : 0;
        if (m->strong)
            see_strong(s, &entry, m);
        else
            see_plain(s, &entry);
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
        s->has_narrow |= manners[pc].strong && !manners[pc].fence && !manners[pc].wide;
        if (manners[pc].fence || manners[pc].warp_barrier)
            s->observer.step = on_step;
    }
    s->manners = manners;
}

static void make_room(struct scoped *s, struct arena *arena)
{
    const struct program *program = s->program;
    uint32_t locations = program->private_base * program->units, blocks = program->launch.blocks;
    s->sc_blocks = ARENA_ARRAY(arena, uint32_t, blocks);
    s->told = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * SCOPED_BARRIERS);
    s->generations = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * SCOPED_BARRIERS);
    s->thread = ARENA_ARRAY(arena, struct scoped_thread, program->total_threads);
    s->cells = ARENA_ARRAY(arena, struct scoped_cell, locations);
    s->entry_capacity = locations > ENTRIES_MAX / 4 ? ENTRIES_MAX : 4 * locations + 1024;
    s->entries = arena_room(arena, s->entry_capacity * sizeof *s->entries);
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
    s->entry_count = s->entry_free = s->node_count = s->node_free = s->sight_count = 0;
    s->sight_free = s->note_count = s->note_free = s->place_count = 0;
    s->seen = s->sc = s->racy_locations = 0;
    s->blind = s->incomplete = s->found = false;
    memset(s->sc_blocks, 0, blocks * sizeof *s->sc_blocks);
    memset(s->told, 0, (size_t)blocks * SCOPED_BARRIERS * sizeof *s->told);
    memset(s->generations, 0, (size_t)blocks * SCOPED_BARRIERS * sizeof *s->generations);
    memset(s->thread, 0, s->program->total_threads * sizeof *s->thread);
}
