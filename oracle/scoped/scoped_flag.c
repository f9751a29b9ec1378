/* scoped_flag.c - what orders threads: release and acquire patterns, fences, barriers of warps, named barriers. */
#include "oracle/scoped/scoped_internal.h"

#include <string.h>

/* ---- room ---- */

static void lose(struct scoped *s)
{
    s->blind = s->incomplete = true;
}

/* The vector of this number, made when it is first asked for; NULL: there is no room. */
static uint32_t *vector(struct scoped *s, uint32_t *number)
{
    if (!*number)
        *number = clocks_take(&s->clocks);
    if (!*number) {
        lose(s);
        return NULL;
    }
    return clocks_at(&s->clocks, *number);
}

static void merge_into(struct scoped *s, uint32_t *number, uint32_t from)
{
    uint32_t *to = vector(s, number);
    if (to)
        clocks_merge(&s->clocks, to, clocks_at(&s->clocks, from));
}

static void learn(struct scoped *s, uint32_t thread, uint32_t number)
{
    if (number)
        clocks_learn(&s->clocks, thread, clocks_at(&s->clocks, number));
}

static void forget(struct scoped *s, uint32_t *number)
{
    clocks_drop(&s->clocks, *number);
    *number = 0;
}

/* ---- notes: vectors by a key ---- */

static struct scoped_note *note_of(struct scoped *s, uint32_t *list, uint32_t thread,
                                   uint32_t block, uint8_t reach)
{
    for (uint32_t at = *list; at; at = s->notes[at - 1].next) {
        struct scoped_note *note = &s->notes[at - 1];
        if (note->thread == thread && note->block == block && note->reach == reach)
            return note;
    }
    uint32_t at = s->note_free;
    if (at) {
        s->note_free = s->notes[at - 1].next;
    } else if (s->note_count < SCOPED_NOTES) {
        at = ++s->note_count;
    } else {
        lose(s);
        return NULL;
    }
    s->notes[at - 1] =
        (struct scoped_note){.thread = thread, .block = block, .reach = reach, .next = *list};
    *list = at;
    return &s->notes[at - 1];
}

static void add_note(struct scoped *s, uint32_t *list, uint32_t thread, uint32_t block,
                     uint8_t reach, uint32_t from)
{
    struct scoped_note *note = from ? note_of(s, list, thread, block, reach) : NULL;
    if (note)
        merge_into(s, &note->clock, from);
}

static void drop_notes(struct scoped *s, uint32_t *list)
{
    while (*list) {
        struct scoped_note *note = &s->notes[*list - 1];
        uint32_t at = *list;
        *list = note->next;
        forget(s, &note->clock);
        note->next = s->note_free;
        s->note_free = at;
    }
}

/* ---- strong writes ---- */

static uint32_t take_node(struct scoped *s)
{
    uint32_t at = s->node_free;
    if (at)
        s->node_free = s->nodes[at - 1].seen;
    else if (s->node_count < SCOPED_NODES)
        at = ++s->node_count;
    else
        lose(s);
    if (at)
        s->nodes[at - 1] = (struct scoped_node){.references = 1};
    return at;
}

void scoped_drop_node(struct scoped *s, uint32_t node)
{
    while (node && --s->nodes[node - 1].references == 0) {
        struct scoped_node *n = &s->nodes[node - 1];
        uint32_t after = n->after;
        while (n->seen) {
            uint32_t at = n->seen;
            n->seen = s->sight[at - 1].next;
            s->sight[at - 1].next = s->sight_free;
            s->sight_free = at;
        }
        n->seen = s->node_free;
        s->node_free = node;
        node = after;
    }
}

static void add_sight(struct scoped *s, uint32_t node, uint32_t thread, uint32_t step)
{
    struct scoped_node *n = &s->nodes[node - 1];
    for (uint32_t at = n->seen; at; at = s->sight[at - 1].next)
        if (s->sight[at - 1].thread == thread)
            return;
    uint32_t at = s->sight_free;
    if (at) {
        s->sight_free = s->sight[at - 1].next;
    } else if (s->sight_count < SCOPED_SIGHT) {
        at = ++s->sight_count;
    } else {
        lose(s);
        return;
    }
    s->sight[at - 1] = (struct scoped_seen){.thread = thread, .step = step, .next = n->seen};
    n->seen = at;
}

bool scoped_observed(const struct scoped *s, uint32_t node, uint32_t thread, uint32_t step)
{
    for (; node; node = s->nodes[node - 1].after)
        for (uint32_t at = s->nodes[node - 1].seen; at; at = s->sight[at - 1].next) {
            const struct scoped_seen *seen = &s->sight[at - 1];
            if ((seen->thread == thread && seen->step < step) ||
                seen->step < clocks_known(&s->clocks, thread, seen->thread))
                return true;
        }
    return false;
}

/* ---- places ---- */

static struct scoped_place *find_place(const struct scoped *s, const struct scoped_strong *x)
{
    const struct scoped_cell *cell = &s->cells[x->start];
    struct scoped_place *place = cell->place ? &s->places[cell->place - 1] : NULL;
    return place && place->start == x->start && place->span == x->span ? place : NULL;
}

static struct scoped_place *make_place(struct scoped *s, const struct scoped_strong *x)
{
    if (s->place_count == SCOPED_PLACES) {
        lose(s);
        return NULL;
    }
    struct scoped_place *place = &s->places[s->place_count++];
    *place = (struct scoped_place){.start = x->start, .span = x->span};
    for (uint32_t i = 0; i < x->span; i++) {
        struct scoped_cell *cell = &s->cells[x->start + i];
        if (cell->place)
            scoped_overwrite(s, &s->places[cell->place - 1], x->thread, x->stm, x->step);
        cell->place = s->place_count;
    }
    return place;
}

void scoped_overwrite(struct scoped *s, struct scoped_place *place, uint32_t thread, uint32_t stm,
                      uint32_t step)
{
    place->writer = thread + 1;
    place->stm = stm;
    place->step = step;
    place->strong = false;
    drop_notes(s, &place->notes);
    scoped_drop_node(s, place->node);
    place->node = 0;
}

/* ---- reading ---- */

static void remember_link(struct scoped *s, const struct scoped_strong *x,
                          const struct scoped_place *place)
{
    uint32_t writer = place->writer - 1;
    const struct manner *w = &s->manners[place->stm], *m = x->manner;
    const struct scoped_thread *t = &s->thread[writer];
    struct scoped_link link = {.is_set = true,
                               .flag = x->start,
                               .writer = writer,
                               .write = place->stm,
                               .write_step = place->step,
                               .read = x->stm,
                               .strong_write = true,
                               .strong_read = true,
                               .write_reach = place->reach,
                               .read_reach = m->reach,
                               .acquires = m->acquires,
                               .acquire_reach = m->reach,
                               .acquire = x->stm,
                               .releases = w->releases || t->fence,
                               .release_reach = w->releases ? w->reach : t->fence_reach,
                               .release = w->releases ? place->stm : t->fence - 1};
    scoped_link(s, x->thread, &link);
}

/* What the notes of a write say to its reader: at once, or when a fence or an acquire of the place follows. */
static void hear(struct scoped *s, const struct scoped_strong *x, struct scoped_place *place)
{
    uint32_t block = scoped_block(s, x->thread);
    struct scoped_thread *t = &s->thread[x->thread];
    for (uint32_t at = place->notes; at; at = s->notes[at - 1].next) {
        const struct scoped_note note = s->notes[at - 1];
        const enum manner_reach apart = scoped_apart(s, note.block, block);
        if (!note.clock || note.reach < apart)
            continue;
        if (x->manner->acquires && x->manner->reach >= apart)
            learn(s, x->thread, note.clock);
        if (s->has_fences)
            merge_into(s, &t->pending[apart], note.clock);
        if (!x->manner->acquires || x->manner->reach != REACH_ALL)
            add_note(s, &place->pending, x->thread, block, (uint8_t)apart, note.clock);
    }
}

/* Acquire patterns whose strong read came before. */
static void hear_earlier(struct scoped *s, const struct scoped_strong *x,
                         const struct scoped_place *place)
{
    for (uint32_t at = place->pending; at; at = s->notes[at - 1].next) {
        const struct scoped_note *note = &s->notes[at - 1];
        if (note->thread == x->thread && x->manner->reach >= note->reach)
            learn(s, x->thread, note->clock);
    }
}

bool scoped_observe(struct scoped *s, const struct scoped_strong *x)
{
    struct scoped_place *place = find_place(s, x);
    if (!place || !place->writer)
        return false;
    uint32_t writer = place->writer - 1;
    if (writer != x->thread && place->strong)
        remember_link(s, x, place);
    bool linked =
        place->strong &&
        (writer == x->thread || scoped_reach(s, writer, place->reach, x->thread, x->manner->reach));
    if (linked && place->node) {
        add_sight(s, place->node, x->thread, x->step);
        hear(s, x, place);
    }
    if (x->manner->acquires)
        hear_earlier(s, x, place);
    return linked;
}

/* ---- writing ---- */

static void say(struct scoped *s, const struct scoped_strong *x, struct scoped_place *place)
{
    uint32_t block = scoped_block(s, x->thread), now = 0;
    const struct scoped_thread *t = &s->thread[x->thread];
    for (uint8_t reach = REACH_COUNT; reach-- > 0;)
        add_note(s, &place->notes, 0, block, reach, t->fences[reach]);
    if (x->manner->releases && vector(s, &now)) {
        clocks_tell(&s->clocks, x->thread, x->step + 1, clocks_at(&s->clocks, now));
        add_note(s, &place->own, x->thread, block, x->manner->reach, now);
        forget(s, &now);
    }
    for (uint32_t at = place->own; at; at = s->notes[at - 1].next) {
        const struct scoped_note note = s->notes[at - 1];
        if (note.thread == x->thread)
            add_note(s, &place->notes, 0, block, note.reach, note.clock);
    }
}

uint32_t scoped_publish(struct scoped *s, const struct scoped_strong *x, bool linked)
{
    struct scoped_place *place = find_place(s, x);
    if (!place)
        place = make_place(s, x);
    uint32_t node = place ? take_node(s) : 0;
    if (!node)
        return 0;
    if (place->node && linked) {
        s->nodes[place->node - 1].after = node;
        s->nodes[node - 1].references++;
    }
    scoped_drop_node(s, place->node);
    if (!linked)
        drop_notes(s, &place->notes);
    place->node = node;
    place->writer = x->thread + 1;
    place->stm = x->stm;
    place->step = x->step;
    place->strong = true;
    place->reach = x->manner->reach;
    say(s, x, place);
    return node;
}

/* ---- fences ---- */

/* Of two fences both scopes take in the other's thread: those of a block, of a cluster, of all are told apart. */
static void fence_sc(struct scoped *s, uint32_t thread, uint8_t reach)
{
    const uint32_t block = scoped_block(s, thread);
    const uint32_t first[REACH_COUNT] = {block, s->cluster_of[block], 0};
    for (uint32_t r = 0; r <= reach; r++)
        learn(s, thread, s->sc[r][first[r]]);
    for (uint32_t r = 0; r <= reach; r++)
        if (vector(s, &s->sc[r][first[r]]))
            clocks_tell(&s->clocks, thread, s->seen, clocks_at(&s->clocks, s->sc[r][first[r]]));
}

void scoped_fence(struct scoped *s, uint32_t thread, uint32_t stm)
{
    struct scoped_thread *t = &s->thread[thread];
    const struct manner *m = &s->manners[stm];
    for (uint32_t apart = 0; m->acquires && apart <= m->reach; apart++) {
        learn(s, thread, t->pending[apart]);
        forget(s, &t->pending[apart]);
    }
    if (m->acquires)
        scoped_link_fence(s, thread, stm);
    if (m->sc)
        fence_sc(s, thread, m->reach);
    if (!m->releases)
        return;
    uint32_t *fence = &t->fences[m->reach];
    if (vector(s, fence))
        clocks_tell(&s->clocks, thread, s->seen, clocks_at(&s->clocks, *fence));
    for (uint32_t reach = 0; reach < m->reach; reach++)
        forget(s, &t->fences[reach]);
    t->fence = stm + 1;
    t->fence_reach = m->reach;
}

/* ---- barriers ---- */

void scoped_warp_barrier(struct scoped *s, uint32_t first, lane_mask lanes, bool whole)
{
    uint32_t together = 0;
    if (whole) {
        clocks_warp_barrier(&s->clocks, first, s->seen);
        return;
    }
    if (!vector(s, &together))
        return;
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        clocks_tell(&s->clocks, first + (uint32_t)__builtin_ctzll(rest), s->seen,
                    clocks_at(&s->clocks, together));
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        learn(s, first + (uint32_t)__builtin_ctzll(rest), together);
    forget(s, &together);
}

void scoped_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    (void)machine;
    struct scoped *s = context;
    uint32_t number = use->block * SCOPED_BARRIERS + use->barrier;
    uint32_t *told = &s->told[number];
    if (use->kind != BARRIER_RELEASES && s->generations[number] != use->generation + 1) {
        s->generations[number] = use->generation + 1;
        forget(s, told);
    }
    for (lane_mask rest = use->mask; rest; rest &= rest - 1) {
        uint32_t thread = use->first_thread + (uint32_t)__builtin_ctzll(rest);
        if (use->kind == BARRIER_RELEASES)
            learn(s, thread, *told);
        else if (vector(s, told))
            clocks_tell(&s->clocks, thread, s->seen, clocks_at(&s->clocks, *told));
    }
}
