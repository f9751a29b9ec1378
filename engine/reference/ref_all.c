#include "engine/reference/ref_all.h"

#include "engine/reference/ref_internal.h"

enum { DEPTH = 256, SUMS = 1024, KEY_BYTES = 1 << 14, ORDERS = 16, WAYS = 4 /* edges a state */ };

/* What has been accessed, by whom: [word][actor][kind], and whether a barrier of the actor's block lies behind it. */
struct ref_all_accesses {
    bool made[REF_ALL_WORDS][REF_ALL_ACTORS][3][2];
    struct ref_all_accesses *next;
};

/* An order of some lanes of a warp. */
struct order {
    uint32_t count, lanes[REF_ALL_LANES];
};

struct search {
    struct arena *arena;
    struct ref *r;
    struct ref_all *all;
    uint32_t most;
    struct ref_all_state *sums[SUMS];
    struct ref_all_accesses accesses;
    struct ref_all_edge taken; /* what the last step accessed, and released */
    struct order orders[ORDERS];
    uint32_t order_count;
    void *saved[DEPTH]; /* of the way to here */
    size_t saved_room[DEPTH];
    unsigned char *key;
    uint32_t key_bytes;
};

/* ---- a state as bytes ---- */

static void add(struct search *x, const void *what, size_t bytes)
{
    if (x->key_bytes + bytes > KEY_BYTES) {
        x->all->cut = "bytes";
        return;
    }
    memcpy(x->key + x->key_bytes, what, bytes);
    x->key_bytes += (uint32_t)bytes;
}

static void add_number(struct search *x, uint64_t number)
{
    add(x, &number, sizeof number);
}

static void add_pointer(struct search *x, const void *what)
{
    add(x, &what, sizeof what);
}

/* Whether a barrier lies within. */
static bool holds_barrier(const struct ast_stm *s)
{
    for (; s; s = s->next)
        if (s->kind == STM_BARRIER || holds_barrier(s->body) || holds_barrier(s->other))
            return true;
    return false;
}

/* Trips tell a barrier's executions apart (CFG.bv), and do nothing else. */
static void add_item(struct search *x, const struct ref_item *item, uint32_t lanes)
{
    add_number(x, item->kind);
    if (item->kind == REF_CONT && holds_barrier(item->stm->body))
        add_number(x, item->trips);
    add_pointer(x, item->kind == REF_CALL && item->stm ? (const void *)item->stm->function
                                                       : item->stm);
    add_pointer(x, item->empty);
    add(x, item->mask.has, lanes);
    if (item->kind == REF_EVALUATED) {
        add_pointer(x, item->cell.word);
        add_number(x, (uint32_t)item->value);
    }
}

static void add_thread(struct search *x, const struct ref_thread *t)
{
    add_number(x, t->choices);
    for (const struct ref_frame *f = t->frames; f; f = f->below) {
        add_pointer(x, f->call);
        add(x, f->values, f->words * sizeof *f->values);
        for (uint32_t l = 0; l < ref_loop_count(x->r, f->function); l++)
            if (ref_loop_waits(x->r, f->function, l))
                add_number(x, f->trips[l]);
    }
}

static void describe(struct search *x)
{
    const struct ref *r = x->r;
    x->key_bytes = 0;
    add_number(x, r->end);
    add_number(x, r->end > REF_TERMINATED ? r->end_thread : 0);
    add(x, r->memory, r->words * sizeof *r->memory);
    for (uint32_t t = 0; t < r->thread_count; t++)
        add_thread(x, &r->threads[t]);
    for (uint32_t i = 0; i < r->actor_count; i++) {
        const struct ref_actor *a = &r->actors[i];
        add_number(x, (uint64_t)a->waits | (uint64_t)a->ended << 1 | (uint64_t)a->inside << 2);
        add_pointer(x, a->block);
        add_pointer(x, a->inside ? a->next : NULL);
        add(x, a->theta.has, a->lanes);
        add(x, a->delta, a->lanes);
        for (const struct ref_item *item = a->stack; item; item = item->rest)
            add_item(x, item, a->lanes);
    }
}

static uint32_t sum_of_key(const struct search *x)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < x->key_bytes; i++)
        sum = sum * 31 + x->key[i];
    return sum % SUMS;
}

/* Who stands in the block that normal form adds before End has come to the end of the text, waiting or not. */
static bool is_final(const struct ref *r, uint32_t actor)
{
    const struct ref_actor *a = &r->actors[actor];
    if (r->kind == REF_INTERLEAVE)
        return a->ended || !a->block || a->block->added;
    return !ref_is_live(r, actor) && !a->waits;
}

/* The number of the state that the reference is in; *is_new. */
static struct ref_all_state *state_now(struct search *x, bool *is_new)
{
    describe(x);
    struct ref_all_state **list = &x->sums[sum_of_key(x)], *s = *list;
    while (s && (s->key_bytes != x->key_bytes || memcmp(s->key, x->key, x->key_bytes) != 0))
        s = s->next;
    *is_new = !s;
    if (s)
        return s;
    if (x->all->state_count == x->most) {
        x->all->cut = "states";
        return &x->all->states[0];
    }
    s = &x->all->states[x->all->state_count++];
    unsigned char *key = arena_room(x->arena, x->key_bytes);
    memcpy(key, x->key, x->key_bytes);
    *s = (struct ref_all_state){.key = key,
                                .key_bytes = x->key_bytes,
                                .over = x->r->end != REF_RUNNING,
                                .first_edge = REF_ALL_NONE,
                                .next = *list};
    for (uint32_t i = 0; i < x->r->actor_count; i++) {
        s->live[i] = ref_is_live(x->r, i);
        s->final[i] = is_final(x->r, i);
        for (uint32_t k = 0; k < x->r->actor_count && x->r->kind == REF_THREADS; k++)
            s->at_place_of[i] |=
                (uint32_t)ref_at_one_place(x->r->actors[i].stack, x->r->actors[k].stack, false)
                << k;
    }
    for (uint32_t t = 0; t < x->r->thread_count; t++)
        x->all->own_choices |= x->r->threads[t].choices > 0;
    *list = s;
    return s;
}

/* ---- ends ---- */

static void keep_outcome(struct search *x)
{
    struct ref_all *all = x->all;
    const struct ref *r = x->r;
    size_t bytes = r->private_base * sizeof *r->memory;
    for (uint32_t i = 0; i < all->outcome_count; i++)
        if (all->outcomes[i].end == r->end &&
            (r->end != REF_TERMINATED || memcmp(all->outcomes[i].store, r->memory, bytes) == 0))
            return;
    int32_t *store = arena_room(x->arena, bytes + 4);
    memcpy(store, r->memory, bytes);
    all->outcomes[all->outcome_count++] = (struct ref_all_outcome){r->end, store};
}

/* ---- races ---- */

/* Two actors, one of them writes, not both by atomics, no barrier of a block of both between. */
static bool conflicts(const struct search *x, const struct ref_access *now, uint32_t actor)
{
    uint32_t each = x->r->actors_a_block;
    for (uint32_t a = 0; a < x->r->actor_count; a++)
        for (int kind = 0; kind < 3; kind++)
            for (int old = 0; old < 2; old++)
                if (x->accesses.made[now->address][a][kind][old] && a != actor &&
                    !(old && a / each == actor / each) &&
                    (kind != (int)now->kind || kind == REF_WRITE))
                    return true;
    return false;
}

static void note_accesses(struct search *x, uint32_t actor)
{
    for (uint32_t i = 0; i < x->r->access_count; i++) {
        const struct ref_access *now = &x->r->accesses[i];
        x->all->race = x->all->race || conflicts(x, now, actor);
    }
    x->taken = (struct ref_all_edge){.actor = actor};
    for (uint32_t i = 0; i < x->r->access_count; i++) {
        const struct ref_access *now = &x->r->accesses[i];
        x->accesses.made[now->address][actor][now->kind][0] = true;
        x->taken.reads |= now->kind != REF_WRITE ? 1u << now->address : 0;
        x->taken.writes |= now->kind != REF_READ ? 1u << now->address : 0;
    }
}

/* Trips are the same for all who pass, and are only compared: as many as before, or none, is one. */
static void forget_trips(struct ref *r, uint32_t actor)
{
    for (struct ref_item *item = r->actors[actor].stack; item; item = item->rest)
        item->trips = 0;
    for (struct ref_frame *f = r->kind == REF_INTERLEAVE ? r->threads[actor].frames : NULL; f;
         f = f->below)
        memset(f->trips, 0, ref_loop_count(r, f->function) * sizeof *f->trips);
}

static void pass_barrier(struct search *x, uint32_t block)
{
    uint32_t each = x->r->actors_a_block;
    for (uint32_t a = block * each; a < (block + 1) * each; a++)
        forget_trips(x->r, a);
    for (uint32_t w = 0; w < x->r->private_base; w++)
        for (uint32_t a = block * each; a < (block + 1) * each; a++)
            for (int kind = 0; kind < 3; kind++) {
                bool *made = x->accesses.made[w][a][kind];
                made[1] = made[1] || made[0];
                made[0] = false;
            }
}

/* Whether the state has not been come to with these accesses; once there is a race they say no more. */
static bool accesses_are_new(struct search *x, struct ref_all_state *s)
{
    if (x->all->race)
        return false;
    for (const struct ref_all_accesses *a = s->seen; a; a = a->next)
        if (memcmp(a->made, x->accesses.made, sizeof a->made) == 0)
            return false;
    struct ref_all_accesses *kept = arena_room(x->arena, sizeof *kept);
    *kept = x->accesses;
    kept->next = s->seen;
    s->seen = kept;
    return true;
}

/* ---- there and back ---- */

struct saved {
    struct ref r;
    struct ref_all_accesses accesses;
};

/* What the reference changes in place: it is kept behind `struct saved`, and the room behind that. */
enum { PARTS = 3 };

struct part {
    void *at;
    size_t bytes;
};

static size_t list_parts(const struct ref *r, struct part parts[PARTS])
{
    parts[0] = (struct part){r->threads, r->thread_count * sizeof *r->threads};
    parts[1] = (struct part){r->actors, r->actor_count * sizeof *r->actors};
    parts[2] = (struct part){r->memory, (r->words + 1) / 2 * 2 * sizeof *r->memory};
    return parts[0].bytes + parts[1].bytes + parts[2].bytes;
}

static void save(struct search *x, uint32_t depth)
{
    const struct ref *r = x->r;
    struct part parts[PARTS];
    size_t bytes = sizeof(struct saved) + list_parts(r, parts) + ref_room_size(r->room);
    if (x->saved_room[depth] < bytes) {
        x->saved_room[depth] = bytes + 1024;
        x->saved[depth] = arena_room(x->arena, x->saved_room[depth]);
    }
    struct saved *to = x->saved[depth];
    char *at = (char *)(to + 1);
    to->r = *r;
    to->accesses = x->accesses;
    for (uint32_t i = 0; i < PARTS; at += parts[i++].bytes)
        memcpy(at, parts[i].at, parts[i].bytes);
    ref_room_save(r->room, at);
}

static void restore(struct search *x, uint32_t depth)
{
    struct part parts[PARTS];
    const struct saved *from = x->saved[depth];
    const char *at = (const char *)(from + 1);
    *x->r = from->r;
    x->accesses = from->accesses;
    (void)list_parts(x->r, parts);
    for (uint32_t i = 0; i < PARTS; at += parts[i++].bytes)
        memcpy(parts[i].at, at, parts[i].bytes);
    ref_room_restore(x->r->room, at);
}

/* ---- steps ---- */

/* All orders of all sets of lanes; the empty one first. */
static void list_orders(struct search *x, struct order *order, uint32_t lanes)
{
    x->orders[x->order_count++] = *order;
    for (uint32_t l = 0; l < lanes; l++) {
        bool has = false;
        for (uint32_t i = 0; i < order->count; i++)
            has = has || order->lanes[i] == l;
        if (has)
            continue;
        order->lanes[order->count++] = l;
        list_orders(x, order, lanes);
        order->count--;
    }
}

/* The actor steps, its lanes in this order; the block's barrier ends if it must. False: they are not the lanes that
 * write. */
static bool step(struct search *x, uint32_t actor, const struct order *order)
{
    struct ref *r = x->r;
    uint32_t threads[REF_ALL_LANES], block = actor / r->actors_a_block;
    uint32_t first =
        r->kind == REF_LOCKSTEP ? actor * r->kernel->launch.threads : r->actors[actor].first_thread;
    for (uint32_t i = 0; i < order->count; i++)
        threads[i] = first + order->lanes[i];
    const struct ref_told told = {.order = threads, .count = order->count};
    (void)ref_step(r, actor, &told);
    if (r->misled)
        return false;
    if (r->unknown) {
        x->all->cut = r->unknown;
        return false;
    }
    note_accesses(x, actor);
    if (ref_barrier_rule(r, block) != RULE_NONE) {
        ref_barrier(r, block);
        x->taken.released = block + 1;
        if (r->end <= REF_TERMINATED)
            pass_barrier(x, block);
    }
    return true;
}

static void add_edge(struct search *x, struct ref_all_state *from, const struct ref_all_state *to)
{
    struct ref_all *all = x->all;
    if (all->edge_count == x->most * WAYS) {
        all->cut = "edges";
        return;
    }
    x->taken.to = (uint32_t)(to - all->states);
    x->taken.other = from->first_edge;
    all->edges[all->edge_count] = x->taken;
    from->first_edge = all->edge_count++;
}

/* From the state that the reference is in. The rule says how many orders matter: one, where nobody writes. */
static void explore(struct search *x, uint32_t depth, struct ref_all_state *from, bool first_time)
{
    if (depth == DEPTH) {
        x->all->cut = "depth";
        return;
    }
    save(x, depth);
    for (uint32_t actor = 0; actor < x->r->actor_count; actor++) {
        bool others_matter = from->live[actor];
        for (uint32_t o = 0; o < x->order_count && others_matter && !x->all->cut; o++) {
            bool done = step(x, actor, &x->orders[o]), is_new;
            others_matter = o > 0 || !done;
            if (done) {
                struct ref_all_state *to = state_now(x, &is_new);
                if (first_time)
                    add_edge(x, from, to);
                if (to->over && !x->all->cut)
                    keep_outcome(x);
                bool again = accesses_are_new(x, to);
                if (!to->over && (is_new || again) && !x->all->cut)
                    explore(x, depth + 1, to, is_new);
            }
            restore(x, depth);
        }
    }
}

/* That step together, and write in some order. */
static uint32_t lanes_of(const struct ref *r)
{
    return r->kind == REF_SIMT       ? r->kernel->launch.warp
           : r->kind == REF_LOCKSTEP ? r->kernel->launch.threads
                                     : 0;
}

void ref_all(struct arena *arena, struct ref *r, const int32_t *inputs, uint32_t most_states,
             struct ref_all *all)
{
    struct search *x = ARENA_NEW(arena, struct search);
    struct order none = {.count = 0};
    bool is_new;
    *all = (struct ref_all){.words = r->private_base};
    all->states = arena_room(arena, most_states * sizeof *all->states);
    all->edges = arena_room(arena, (size_t)most_states * WAYS * sizeof *all->edges);
    all->outcomes = arena_room(arena, most_states * sizeof *all->outcomes);
    *x = (struct search){.arena = arena,
                         .r = r,
                         .all = all,
                         .most = most_states,
                         .key = arena_room(arena, KEY_BYTES)};
    const uint32_t lanes = lanes_of(r);
    if (r->actor_count > REF_ALL_ACTORS || r->private_base > REF_ALL_WORDS ||
        lanes > REF_ALL_LANES) {
        all->cut = "size";
        return;
    }
    list_orders(x, &none, lanes);
    ref_start(r, inputs);
    struct ref_all_state *start = state_now(x, &is_new);
    (void)accesses_are_new(x, start);
    explore(x, 0, start, true);
}
