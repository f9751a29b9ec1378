/*
 * litmus_issue.c - a thread's instructions: which can be issued, what they do at once, and the sequential model.
 */
#include "engine/litmus/litmus_internal.h"

#include <string.h>

enum litmus_space litmus_space(uint32_t word)
{
    if (word < LITMUS_GLOBALS)
        return WORD_GLOBAL;
    return word < LITMUS_GLOBALS + 4 * LITMUS_THREADS ? WORD_SHARED : WORD_LOCAL;
}

uint32_t litmus_grouping(const struct litmus_run *run, const struct litmus_state *state,
                         uint32_t thread, uint32_t pc)
{
    uint32_t place = 0;
    for (uint32_t t = 0; t < run->test->count; t++)
        for (uint32_t i = 0; i < run->test->threads[t].length; i++) {
            if (t == thread && i == pc)
                return state->choice >> 2 * place & 3;
            place += run->test->threads[t].code[i].lanes > 1;
        }
    return TOGETHER;
}

int16_t litmus_value(const struct litmus_actor *actor, struct litmus_operand operand)
{
    return operand.is_register ? actor->regs[operand.value] : operand.value;
}

int16_t litmus_atom(enum litmus_op op, int16_t old, int16_t value, int16_t other)
{
    if (op == LITMUS_CAS)
        return old == value ? other : old;
    if (op == LITMUS_ADD_ATOM)
        return (int16_t)(old + value);
    if (op == LITMUS_SUB)
        return (int16_t)(old - value);
    if (op == LITMUS_AND)
        return old & value;
    if (op == LITMUS_OR)
        return old | value;
    if (op == LITMUS_XOR)
        return old ^ value;
    bool keeps = op == LITMUS_MIN ? old < value : op == LITMUS_MAX && old > value;
    return keeps ? old : value;
}

int16_t litmus_lane_atom(const struct litmus_actor *actor, const struct litmus_instruction *in,
                         uint32_t lane, int16_t old)
{
    return litmus_atom(in->op, old, litmus_value(actor, in->a[lane]), litmus_value(actor, in->b));
}

bool litmus_branches(const struct litmus_instruction *in, int16_t left, int16_t right)
{
    bool wants_equal = in->op == LITMUS_BZ || in->op == LITMUS_BEQ;
    return in->op == LITMUS_JUMP || (left == right) == wants_equal;
}

/* Instructions that touch registers only; false: this is none. */
bool litmus_local_step(struct litmus_actor *actor, const struct litmus_instruction *in)
{
    int16_t *reg = &actor->regs[in->reg[0]];
    int16_t left = litmus_value(actor, in->a[0]), right = litmus_value(actor, in->b);
    if (in->op < LITMUS_USE)
        return false;
    if (in->op >= LITMUS_BZ && litmus_branches(in, left, right)) {
        actor->pc = in->target;
        return true;
    }
    if (in->op == LITMUS_MOV)
        *reg = left;
    else if (in->op == LITMUS_ADD)
        *reg = (int16_t)(left + right);
    actor->pc++;
    return true;
}

bool litmus_writes(const struct litmus_instruction *in)
{
    return in->op != LITMUS_ST && !in->no_result;
}

static bool is_memory(const struct litmus_instruction *in)
{
    return in->op <= LITMUS_CAS;
}

static bool blocked(const struct litmus_actor *actor, const struct litmus_instruction *in)
{
    for (uint32_t lane = 0; lane < in->lanes; lane++) {
        if (litmus_writes(in) && actor->blocked[in->reg[lane]])
            return true;
        if (in->a[lane].is_register && actor->blocked[in->a[lane].value])
            return true;
    }
    return in->b.is_register && actor->blocked[in->b.value];
}

static uint32_t in_flight(const struct litmus_actor *actor)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < LITMUS_SLOTS; i++)
        count += actor->slots[i].used;
    return count;
}

/* `lanes`: those of b that are under way. */
static bool same_word(const struct litmus_instruction *a, const struct litmus_instruction *b,
                      uint32_t lanes)
{
    for (uint32_t i = 0; i < a->lanes; i++)
        for (uint32_t j = 0; j < b->lanes; j++)
            if (lanes >> j & 1 && a->word[i] == b->word[j])
                return true;
    return false;
}

/* MO.poloc: must it wait for an operation of its own thread on the same word? */
static bool kept_back(const struct litmus_run *run, const struct litmus_actor *actor,
                      const struct litmus_thread *thread, const struct litmus_instruction *in)
{
    for (uint32_t i = 0; i < LITMUS_SLOTS && run->o.poloc; i++) {
        const struct litmus_slot *slot = &actor->slots[i];
        const struct litmus_instruction *other = &thread->code[slot->pc];
        bool loads = in->op == LITMUS_LD && other->op == LITMUS_LD;
        if (slot->used && same_word(in, other, slot->lanes) && !(run->o.loads_free && loads))
            return true;
    }
    return false;
}

static void add_slot(struct litmus_actor *actor, uint32_t lanes)
{
    uint32_t i = 0;
    while (actor->slots[i].used)
        i++;
    actor->slots[i] = (struct litmus_slot){.used = 1, .pc = actor->pc, .lanes = (uint8_t)lanes};
}

static void block(struct litmus_actor *actor, const struct litmus_instruction *in)
{
    for (uint32_t lane = 0; lane < in->lanes; lane++) {
        if (litmus_writes(in))
            actor->blocked[in->reg[lane]]++;
        if (in->op != LITMUS_LD && in->a[lane].is_register)
            actor->blocked[in->a[lane].value]++;
        if (in->op == LITMUS_CAS && in->b.is_register)
            actor->blocked[in->b.value]++;
    }
}

/* Lanes of one line are one operation where they go together; words of shared memory are counted off in lines, too. */
static bool one_line(const struct litmus_run *run, const struct litmus_instruction *in)
{
    uint32_t w = run->o.words_a_line;
    return in->word[0] / w == in->word[in->lanes - 1] / w;
}

_Static_assert(LITMUS_GLOBALS % 2 == 0, "one_line() divides shared and local words into lines");

static bool issue_memory(const struct litmus_run *run, struct litmus_state *s, uint32_t thread,
                         const struct litmus_instruction *in)
{
    struct litmus_actor *actor = &s->actors[thread];
    bool apart = in->lanes > 1 && (in->op >= LITMUS_ADD_ATOM || !one_line(run, in) ||
                                   litmus_grouping(run, s, thread, actor->pc) == APART);
    uint32_t wanted = apart ? in->lanes : 1;
    if (kept_back(run, actor, &run->test->threads[thread], in) ||
        in_flight(actor) + wanted > LITMUS_SLOTS)
        return false;
    block(actor, in);
    for (uint32_t i = 0; i < wanted; i++)
        add_slot(actor, apart ? 1U << i : (1U << in->lanes) - 1);
    actor->pc++;
    return true;
}

/* Are all there for whom this barrier waits? */
static bool complete(const struct litmus_instruction *in, uint32_t arrived)
{
    uint32_t wanted = in->arrivals ? in->arrivals : (uint32_t)__builtin_popcount(in->threads);
    return (uint32_t)__builtin_popcount(arrived) >= wanted;
}

static void release_barrier(const struct litmus_run *run, struct litmus_state *s, uint32_t thread,
                            const struct litmus_instruction *in)
{
    uint8_t sm = run->test->threads[thread].sm, *arrived = &s->arrived[sm][in->barrier];
    *arrived |= (uint8_t)(1U << thread);
    if (!complete(in, *arrived))
        return;
    for (uint32_t t = 0; t < run->test->count; t++)
        if (*arrived >> t & 1 && s->actors[t].bar == BAR_ARRIVED &&
            run->test->threads[t].code[s->actors[t].pc].barrier == in->barrier)
            s->actors[t].bar = BAR_PASSED;
    *arrived = 0;
}

/* As printed a thread arrives at once and waits for its own operations afterwards; `before` turns this round. */
static bool issue_bar(const struct litmus_run *run, struct litmus_state *s, uint32_t thread,
                      const struct litmus_instruction *in)
{
    struct litmus_actor *actor = &s->actors[thread];
    bool busy = in_flight(actor) != 0;
    bool again = s->arrived[run->test->threads[thread].sm][in->barrier] >> thread & 1;
    if (actor->bar == BAR_NONE && !again && !(busy && run->o.before)) {
        actor->bar = in->op == LITMUS_BAR ? BAR_ARRIVED : BAR_NONE;
        release_barrier(run, s, thread, in);
        actor->pc = (uint8_t)(actor->pc + (in->op == LITMUS_ARRIVE));
        return true;
    }
    if (actor->bar != BAR_PASSED || busy)
        return false;
    actor->bar = BAR_NONE;
    actor->pc++;
    return true;
}

static bool issue_membar(const struct litmus_run *run, struct litmus_actor *actor,
                         const struct litmus_instruction *in)
{
    bool drops = run->o.inval && in->op == LITMUS_MEMBAR && in->scope != SCOPE_CTA;
    if (drops || in_flight(actor))
        return false;
    actor->pc++;
    return true;
}

static const struct litmus_instruction *next_of(const struct litmus_run *run,
                                                const struct litmus_state *s, uint32_t thread)
{
    const struct litmus_thread *t = &run->test->threads[thread];
    return s->actors[thread].pc < t->length ? &t->code[s->actors[thread].pc] : NULL;
}

static bool issue(const struct litmus_run *run, struct litmus_state *s, uint32_t thread)
{
    const struct litmus_instruction *in = next_of(run, s, thread);
    struct litmus_actor *actor = &s->actors[thread];
    if (!in)
        return false;
    if (litmus_is_barrier(in))
        return issue_bar(run, s, thread, in);
    if (in->op == LITMUS_MEMBAR || in->op == LITMUS_WAIT)
        return issue_membar(run, actor, in);
    if (blocked(actor, in))
        return false;
    return is_memory(in) ? issue_memory(run, s, thread, in) : litmus_local_step(actor, in);
}

/* More come than a turn takes: who comes first can be seen, so that coming is a step that others may precede. */
static bool is_raced_for(const struct litmus_run *run, const struct litmus_state *s,
                         uint32_t thread)
{
    const struct litmus_instruction *in = next_of(run, s, thread);
    return in && litmus_is_barrier(in) && s->actors[thread].bar == BAR_NONE && in->arrivals &&
           in->arrivals < __builtin_popcount(in->threads);
}

void litmus_settle(const struct litmus_run *run, struct litmus_state *s)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t t = 0; t < run->test->count; t++)
            while (!is_raced_for(run, s, t) && issue(run, s, t))
                again = true;
    }
}

void litmus_arrival(const struct litmus_run *run, const struct litmus_state *state, uint32_t thread,
                    struct litmus_walk *walk)
{
    if (!is_raced_for(run, state, thread))
        return;
    struct litmus_state next = *state;
    if (!issue(run, &next, thread))
        return;
    litmus_settle(run, &next);
    litmus_found(walk, &next, (struct litmus_move){MOVE_INSTRUCTION, (uint8_t)thread, 0});
}

void litmus_start(const struct litmus_run *run, struct litmus_state *s)
{
    const struct litmus_test *test = run->test;
    memcpy(s->words, test->init, sizeof s->words);
    for (uint32_t t = 0; t < test->count; t++)
        memcpy(s->actors[t].regs, test->threads[t].first, sizeof s->actors[t].regs);
    for (uint32_t i = 0; i < LITMUS_THREADS * LITMUS_GLOBALS; i++) {
        uint32_t sm = i / LITMUS_GLOBALS, word = i % LITMUS_GLOBALS, w = run->o.words_a_line;
        struct litmus_line *line = &s->l1[sm][word / w];
        if (!(test->warm[sm] >> word & 1))
            continue;
        line->used = 1;
        line->vmask = (uint8_t)((1U << w) - 1);
        for (uint32_t k = 0; k < w; k++)
            line->vals[k] = s->words[word / w * w + k];
    }
}

bool litmus_done(const struct litmus_run *run, const struct litmus_state *s)
{
    for (uint32_t t = 0; t < run->test->count; t++)
        if (s->actors[t].pc < run->test->threads[t].length || in_flight(&s->actors[t]))
            return false;
    return true;
}

static void sc_lane(struct litmus_state *s, uint32_t thread, const struct litmus_instruction *in,
                    uint32_t lane)
{
    struct litmus_actor *actor = &s->actors[thread];
    int16_t *word = &s->words[in->word[lane]], old = *word;
    if (in->op == LITMUS_ST)
        *word = litmus_value(actor, in->a[lane]);
    else if (in->op != LITMUS_LD)
        *word = litmus_lane_atom(actor, in, lane, old);
    if (litmus_writes(in))
        actor->regs[in->reg[lane]] = old;
}

static bool sc_step(const struct litmus_run *run, struct litmus_state *s, uint32_t thread,
                    const struct litmus_instruction *in)
{
    struct litmus_actor *actor = &s->actors[thread];
    if (litmus_is_barrier(in))
        return issue_bar(run, s, thread, in);
    if (is_memory(in)) {
        bool backwards = litmus_grouping(run, s, thread, actor->pc) == BACKWARDS;
        for (uint32_t i = 0; i < in->lanes; i++)
            sc_lane(s, thread, in, backwards ? in->lanes - 1U - i : i);
    } else if (litmus_local_step(actor, in))
        return true;
    actor->pc++;
    return true;
}

void litmus_sc_steps(const struct litmus_run *run, const struct litmus_state *state,
                     struct litmus_walk *walk)
{
    for (uint32_t t = 0; t < run->test->count; t++) {
        const struct litmus_thread *thread = &run->test->threads[t];
        struct litmus_state next = *state;
        if (state->actors[t].pc < thread->length &&
            sc_step(run, &next, t, &thread->code[state->actors[t].pc]))
            litmus_found(walk, &next, (struct litmus_move){MOVE_INSTRUCTION, (uint8_t)t, 0});
    }
}
