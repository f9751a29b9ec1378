/*
 * litmus_memory.c - the memory programs of cuda-crs, chapter 4, in micro steps.
 *
 * L2 is folded into the words: its value, or the DRAM's where it has none, is the one value that all SMs agree on.
 * Instructions are issued as soon as they can be, but for barriers to which more threads come than a turn takes, and an
 * operation that only writes registers ends at once: both touch one thread only, and stay possible. Neither takes an
 * outcome away.
 */
#include "engine/litmus/litmus_internal.h"

#include <string.h>

enum { LD_START, LD_FILL, LD_UPDATE, LD_READ };

uint32_t litmus_line_of(uint32_t words_a_line, uint32_t word, uint32_t *offset)
{
    if (litmus_space(word) == WORD_GLOBAL) {
        *offset = word % words_a_line;
        return word / words_a_line;
    }
    uint32_t local = word - LITMUS_GLOBALS - 4 * LITMUS_THREADS;
    *offset = local % 2;
    return LITMUS_GLOBALS + local / 2;
}

static uint32_t first_word(const struct litmus_run *run, uint32_t line)
{
    if (line < LITMUS_GLOBALS)
        return line * run->o.words_a_line;
    return LITMUS_GLOBALS + 4 * LITMUS_THREADS + (line - LITMUS_GLOBALS) * 2;
}

static uint32_t line_words(const struct litmus_run *run, uint32_t line)
{
    return line < LITMUS_GLOBALS ? run->o.words_a_line : 2;
}

struct step {
    const struct litmus_run *run;
    struct litmus_state *s;
    uint32_t thread, slot;
    struct litmus_actor *actor;
    struct litmus_slot *op;
    const struct litmus_instruction *in;
    struct litmus_line *line;
    uint32_t need, number;
};

static uint32_t first_lane(uint32_t lanes)
{
    return lanes & 1 ? 0 : 1;
}

static struct step step_of(const struct litmus_run *run, struct litmus_state *s, uint32_t thread,
                           uint32_t slot)
{
    struct litmus_actor *actor = &s->actors[thread];
    struct litmus_slot *op = &actor->slots[slot];
    const struct litmus_thread *t = &run->test->threads[thread];
    struct step step = {run, s, thread, slot, actor, op, &t->code[op->pc], NULL, 0, 0};
    for (uint32_t lane = 0; lane < step.in->lanes; lane++) {
        uint32_t offset;
        if (!(op->lanes >> lane & 1) || litmus_space(step.in->word[lane]) == WORD_SHARED)
            continue;
        step.number = litmus_line_of(run->o.words_a_line, step.in->word[lane], &offset);
        step.line = &s->l1[t->sm][step.number];
        step.need |= 1U << offset;
    }
    return step;
}

static uint16_t own_pin(const struct step *t)
{
    return (uint16_t)(1U << (t->thread * LITMUS_SLOTS + t->slot));
}

static void drop(struct litmus_line *line)
{
    memset(line, 0, sizeof *line);
}

/* True: the line is gone. A line that somebody waits for stays. */
static bool discard(struct litmus_line *line)
{
    if (line->used && (line->pins || line->pending))
        return false;
    drop(line);
    return true;
}

static bool evict(struct litmus_line *line)
{
    return !(line->used && line->dmask) && discard(line);
}

static void lane_done(struct step *t, uint32_t lane)
{
    struct litmus_actor *actor = t->actor;
    const struct litmus_instruction *in = t->in;
    if (litmus_writes(in))
        actor->blocked[in->reg[lane]]--;
    if (in->op != LITMUS_LD && in->a[lane].is_register)
        actor->blocked[in->a[lane].value]--;
    if (in->op == LITMUS_CAS && in->b.is_register)
        actor->blocked[in->b.value]--;
}

static void end(struct step *t)
{
    for (uint32_t lane = 0; lane < t->in->lanes; lane++)
        if (t->op->lanes >> lane & 1)
            lane_done(t, lane);
    memset(t->op, 0, sizeof *t->op);
}

static void write_lane(struct step *t, uint32_t lane)
{
    if (t->op->lanes >> lane & 1)
        t->s->words[t->in->word[lane]] = litmus_value(t->actor, t->in->a[lane]);
}

static void write_words(struct step *t)
{
    bool backwards = litmus_grouping(t->run, t->s, t->thread, t->op->pc) == BACKWARDS;
    for (uint32_t i = 0; i < t->in->lanes; i++)
        write_lane(t, backwards ? t->in->lanes - 1U - i : i);
}

static void read_words(struct step *t)
{
    for (uint32_t lane = 0; lane < t->in->lanes; lane++)
        if (t->op->lanes >> lane & 1)
            t->actor->regs[t->in->reg[lane]] = t->s->words[t->in->word[lane]];
}

/* The words of the operation from its line; false: it waits for the line, and pins it. */
static bool read_line(struct step *t)
{
    if (t->need & ~(uint32_t)t->line->vmask) {
        t->line->pins |= own_pin(t);
        return false;
    }
    for (uint32_t lane = 0; lane < t->in->lanes; lane++) {
        uint32_t offset;
        if (!(t->op->lanes >> lane & 1))
            continue;
        litmus_line_of(t->run->o.words_a_line, t->in->word[lane], &offset);
        t->actor->regs[t->in->reg[lane]] = t->line->vals[offset];
    }
    t->line->pins &= (uint16_t)~own_pin(t);
    return true;
}

static bool cached(const struct step *t)
{
    return t->line->used && (t->line->pending || !(t->need & ~(uint32_t)t->line->vmask));
}

static void reserve(struct step *t)
{
    t->line->used = t->line->pending = 1;
    t->line->pins |= own_pin(t);
    t->op->ip = LD_FILL;
}

static void fill(struct step *t)
{
    uint32_t from = first_word(t->run, t->number);
    for (uint32_t i = 0; i < line_words(t->run, t->number); i++)
        t->op->fill[i] = t->s->words[from + i];
    t->op->ip = LD_UPDATE;
}

static void update(struct step *t)
{
    uint32_t count = line_words(t->run, t->number);
    for (uint32_t i = 0; i < count; i++)
        if (!(t->line->vmask >> i & 1))
            t->line->vals[i] = t->op->fill[i];
    t->line->vmask = (uint8_t)((1U << count) - 1);
    t->line->pending = 0;
}

/* ld.ca and what is like it: through the line, which is filled as a whole. */
static void load_cached(struct step *t)
{
    if (t->op->ip == LD_FILL) {
        fill(t);
        return;
    }
    if (t->op->ip == LD_UPDATE)
        update(t);
    else if (t->op->ip == LD_START && !cached(t)) {
        reserve(t);
        return;
    }
    t->op->ip = LD_READ;
    if (read_line(t))
        end(t);
}

/* ld.cg, ld.cv, ld.volatile: the line goes first, then the common value is read. */
static void load_common(struct step *t)
{
    if (t->op->ip == 1) {
        read_words(t);
        end(t);
    } else if (evict(t->line))
        t->op->ip = 1;
}

/* ld.lu of a local word: the last use; what the line holds is dropped, dirty or not. */
static void load_last_use(struct step *t)
{
    if (t->op->ip == 2) {
        if (discard(t->line))
            end(t);
    } else if (t->op->ip == 1 || cached(t)) {
        t->op->ip = 1;
        if (read_line(t))
            t->op->ip = 2;
    } else {
        read_words(t);
        end(t);
    }
}

static void load(struct step *t, enum litmus_space space)
{
    enum litmus_cache c = t->in->cache;
    if (space == WORD_SHARED) {
        read_words(t);
        end(t);
    } else if (space == WORD_LOCAL && (c == CACHE_LU || c == CACHE_CS))
        load_last_use(t);
    else if (space == WORD_GLOBAL && (c == CACHE_CG || c == CACHE_CV || c == CACHE_VOL))
        load_common(t);
    else
        load_cached(t);
}

static void store_local(struct step *t)
{
    for (uint32_t lane = 0; lane < t->in->lanes; lane++) {
        uint32_t offset;
        if (!(t->op->lanes >> lane & 1))
            continue;
        litmus_line_of(t->run->o.words_a_line, t->in->word[lane], &offset);
        int16_t value = litmus_value(t->actor, t->in->a[lane]);
        if (!(t->line->vmask >> offset & 1) || t->line->vals[offset] != value)
            t->line->dmask |= (uint8_t)(1U << offset);
        t->line->vals[offset] = value;
        t->line->vmask |= (uint8_t)(1U << offset);
    }
    t->line->used = 1;
    end(t);
}

/* As printed a store discards its SM's line and then writes; a strong one writes first. */
static void store_global(struct step *t)
{
    bool strong = t->run->o.strong;
    if (strong && t->op->ip == 0)
        write_words(t);
    if (!strong && t->op->ip == 1) {
        write_words(t);
        end(t);
        return;
    }
    t->op->ip = strong;
    if (!discard(t->line))
        return;
    if (strong)
        end(t);
    else
        t->op->ip = 1;
}

static void store(struct step *t, enum litmus_space space)
{
    if (space == WORD_GLOBAL)
        store_global(t);
    else if (space == WORD_LOCAL)
        store_local(t);
    else {
        write_words(t);
        end(t);
    }
}

static void exchange(struct step *t)
{
    uint32_t lane = first_lane(t->op->lanes);
    int16_t *word = &t->s->words[t->in->word[lane]];
    int16_t old = *word;
    *word = litmus_lane_atom(t->actor, t->in, lane, old);
    if (litmus_writes(t->in))
        t->actor->regs[t->in->reg[lane]] = old;
}

static void atom_global(struct step *t)
{
    if (t->op->ip == 0) {
        if (evict(t->line))
            t->op->ip = 1;
        return;
    }
    if (t->op->ip == 1)
        exchange(t);
    t->op->ip = 2;
    if (!t->run->o.strong || discard(t->line))
        end(t);
}

/* lock and read, write, unlock: plain stores do not ask for the lock. */
static void atom_shared(struct step *t)
{
    uint32_t lane = first_lane(t->op->lanes), bit = 1U << t->run->test->threads[t->thread].sm;
    int16_t *word = &t->s->words[t->in->word[lane]];
    if (t->op->ip == 0) {
        if (t->s->lock & bit)
            return;
        t->s->lock |= bit;
        t->op->fill[0] = *word;
    } else if (t->op->ip == 1)
        *word = litmus_lane_atom(t->actor, t->in, lane, t->op->fill[0]);
    else {
        t->s->lock &= ~bit;
        t->actor->regs[t->in->reg[lane]] = t->op->fill[0];
        end(t);
        return;
    }
    t->op->ip++;
}

static void micro_step(struct step *t)
{
    enum litmus_space space = litmus_space(t->in->word[first_lane(t->op->lanes)]);
    if (t->in->op == LITMUS_LD)
        load(t, space);
    else if (t->in->op == LITMUS_ST)
        store(t, space);
    else if (space == WORD_SHARED)
        atom_shared(t);
    else
        atom_global(t);
}

/* MO.vol: volatile operations of a lane step in their order; nothing else has one. */
static bool held_back(const struct step *t)
{
    const struct litmus_instruction *code = t->run->test->threads[t->thread].code;
    if (t->in->cache != CACHE_VOL)
        return false;
    for (uint32_t i = 0; i < LITMUS_SLOTS; i++) {
        const struct litmus_slot *other = &t->actor->slots[i];
        if (other->used && other->pc < t->op->pc && code[other->pc].cache == CACHE_VOL &&
            (other->lanes & t->op->lanes))
            return true;
    }
    return false;
}

static void slot_steps(const struct litmus_run *run, const struct litmus_state *state,
                       uint32_t thread, struct litmus_walk *walk)
{
    for (uint32_t i = 0; i < LITMUS_SLOTS; i++) {
        if (!state->actors[thread].slots[i].used)
            continue;
        struct litmus_state next = *state;
        struct step t = step_of(run, &next, thread, i);
        if (held_back(&t))
            continue;
        micro_step(&t);
        litmus_settle(run, &next);
        litmus_found(walk, &next, (struct litmus_move){MOVE_STEP, (uint8_t)thread, (uint8_t)i});
    }
}

static void write_back(const struct litmus_run *run, struct litmus_state *s,
                       struct litmus_line *line, uint32_t number)
{
    for (uint32_t i = 0; i < line_words(run, number); i++)
        if (line->dmask >> i & 1)
            s->words[first_word(run, number) + i] = line->vals[i];
    line->dmask = 0;
}

/* Silent rules: a clean line that nobody waits for may go, a dirty one may be written back. */
static void silent_steps(const struct litmus_run *run, const struct litmus_state *state,
                         struct litmus_walk *walk)
{
    for (uint32_t i = 0; i < LITMUS_THREADS * LITMUS_LINES; i++) {
        const struct litmus_line *line = &state->l1[i / LITMUS_LINES][i % LITMUS_LINES];
        if (!line->used || (!line->dmask && (line->pins || line->pending)))
            continue;
        struct litmus_state next = *state;
        struct litmus_line *own = &next.l1[i / LITMUS_LINES][i % LITMUS_LINES];
        if (line->dmask)
            write_back(run, &next, own, i % LITMUS_LINES);
        else
            drop(own);
        litmus_settle(run, &next);
        litmus_found(walk, &next,
                     (struct litmus_move){line->dmask ? MOVE_BACK : MOVE_DROP,
                                          (uint8_t)(i / LITMUS_LINES),
                                          (uint8_t)(i % LITMUS_LINES)});
    }
}

static bool idle(const struct litmus_actor *actor)
{
    for (uint32_t i = 0; i < LITMUS_SLOTS; i++)
        if (actor->slots[i].used)
            return false;
    return true;
}

/* `membar=inval`: once no line of the SM is waited for, its global lines go. */
static void inval_step(const struct litmus_run *run, const struct litmus_state *state,
                       uint32_t thread, struct litmus_walk *walk)
{
    const struct litmus_thread *t = &run->test->threads[thread];
    const struct litmus_actor *actor = &state->actors[thread];
    struct litmus_state next = *state;
    if (!run->o.inval || actor->pc >= t->length || t->code[actor->pc].op != LITMUS_MEMBAR ||
        t->code[actor->pc].scope == SCOPE_CTA || !idle(actor))
        return;
    for (uint32_t i = 0; i < LITMUS_GLOBALS; i++)
        if (!discard(&next.l1[t->sm][i]))
            return;
    next.actors[thread].pc++;
    litmus_settle(run, &next);
    litmus_found(walk, &next, (struct litmus_move){MOVE_EMPTY, (uint8_t)thread, 0});
}

void litmus_steps(const struct litmus_run *run, const struct litmus_state *state,
                  struct litmus_walk *walk)
{
    for (uint32_t thread = 0; thread < run->test->count; thread++) {
        slot_steps(run, state, thread, walk);
        inval_step(run, state, thread, walk);
        litmus_arrival(run, state, thread, walk);
    }
    silent_steps(run, state, walk);
}
