/*
 * ref_pair.c - two threads of a block alone.
 */
#include "engine/reference/ref_pair.h"

#include "engine/reference/ref_internal.h"

/* Which of the two has read and has written a word since the last barrier. */
enum { READ_S = 1, WRITE_S = 2, READ_T = 4, WRITE_T = 8 };

static bool is_conflict(uint8_t word)
{
    bool s = word & (READ_S | WRITE_S), t = word & (READ_T | WRITE_T);
    return s && t && (word & (WRITE_S | WRITE_T));
}

/* Of t's access at a place: where s's writes of the word stand beside it. */
static uint32_t conflict_of(const struct ref_pair_word *word, bool writes, uint64_t at)
{
    if (!is_conflict(word->accessed))
        return 0;
    if (!writes || !(word->accessed & WRITE_S) || (word->accessed & READ_S))
        return REF_PAIR_READ;
    return (word->first_at < at ? REF_PAIR_S_FIRST : 0) |
           (word->last_at > at ? REF_PAIR_T_FIRST : 0) |
           (word->first_at == at || word->last_at == at ? REF_PAIR_ONE_PLACE : 0);
}

/* Where the statement stands that the thread takes a step of; what has been evaluated is of the one before. */
static uint64_t place_of(const struct ref *r, uint32_t thread, uint64_t before)
{
    const struct ref_item *item = r->actors[thread].stack;
    if (!item || !item->stm || (item->kind != REF_STM && item->kind != REF_CONT))
        return before;
    return (uint64_t)item->stm->at.line << 32 | item->stm->at.column;
}

static void note_accesses(struct ref *r, bool is_s, uint64_t at, struct ref_pair_word *accessed,
                          struct ref_pair_end *end)
{
    for (uint32_t i = 0; i < r->access_count; i++) {
        const struct ref_access *x = &r->accesses[i];
        bool reads = x->kind == REF_READ;
        if (x->address == REF_PRIVATE)
            continue;
        struct ref_pair_word *word = &accessed[x->address];
        word->times += is_s;
        if (is_s && !reads) {
            bool first = !(word->accessed & WRITE_S);
            word->first_at = first || at < word->first_at ? at : word->first_at;
            word->last_at = first || at > word->last_at ? at : word->last_at;
        }
        word->accessed |= is_s ? (reads ? READ_S : WRITE_S) : (reads ? READ_T : WRITE_T);
        if (!end->race && is_conflict(word->accessed)) {
            end->address = x->address;
            end->line = (uint32_t)(at >> 32);
            end->column = (uint32_t)at;
            end->s_writes = word->accessed & WRITE_S;
            end->t_writes = !reads;
            end->times = word->times;
        }
        end->race = end->race || is_conflict(word->accessed);
        end->conflicts |= conflict_of(word, !reads && !(word->accessed & READ_T), at);
    }
}

/* Until the thread waits, has ended, or fails. */
static void run_thread(struct ref *r, uint32_t thread, bool is_s, uint64_t *left,
                       struct ref_pair_word *accessed, struct ref_pair_end *end)
{
    uint64_t at = 0;
    while (ref_is_live(r, thread) && r->end <= REF_TERMINATED) {
        if (*left == 0 || r->unknown) {
            end->decided = false;
            return;
        }
        --*left;
        at = place_of(r, thread, at);
        (void)ref_step(r, thread, NULL);
        note_accesses(r, is_s, at, accessed, end);
    }
    end->fails[!is_s] = r->end == REF_ASSERT_FAILS || r->end == REF_OUT_OF_BOUNDS;
    end->assert_fails = end->assert_fails || r->end == REF_ASSERT_FAILS;
    end->out_of_bounds = end->out_of_bounds || r->end == REF_OUT_OF_BOUNDS;
    end->decided = end->decided && !r->unknown;
}

static void pass(struct ref *r, uint32_t thread)
{
    r->actors[thread].waits = false;
    r->actors[thread].stack = ref_pop(r, r->actors[thread].stack);
}

/* True: both have passed a barrier. */
static bool run_interval(struct ref *r, const struct ref_pair *pair, uint64_t *left,
                         struct ref_pair_word *accessed, struct ref_pair_end *end)
{
    const struct ref_actor *s = &r->actors[pair->s], *t = &r->actors[pair->t];
    memset(accessed, 0, r->private_base * sizeof *accessed);
    run_thread(r, pair->s, true, left, accessed, end);
    r->end = REF_RUNNING;
    run_thread(r, pair->t, false, left, accessed, end);
    r->end = REF_RUNNING;
    if (!end->decided || (!s->stack && !t->stack))
        return false;
    end->divergence =
        !(s->waits && t->waits && ref_same_stack(s->stack, t->stack)) && (s->waits || t->waits);
    if (end->race || end->divergence || end->assert_fails || end->out_of_bounds)
        return false;
    end->decided = !pair->stores || end->barriers < pair->store_count;
    return end->decided;
}

struct ref_pair_end ref_pair_run(struct ref *r, const int32_t *inputs, const struct ref_pair *pair,
                                 struct ref_pair_word *accessed)
{
    struct ref_pair_end end = {.decided = true};
    uint64_t left = pair->budget_steps;
    ref_start(r, inputs);
    while (run_interval(r, pair, &left, accessed, &end)) {
        pass(r, pair->s);
        pass(r, pair->t);
        if (pair->stores)
            memcpy(r->memory, pair->stores[end.barriers], r->private_base * sizeof *r->memory);
        end.barriers++;
    }
    end.steps = pair->budget_steps - left;
    return end;
}

const int32_t *ref_private_of(const struct ref *r, uint32_t thread, uint32_t *words)
{
    uint32_t first = r->private_base;
    *words = 0;
    for (const struct ast_var *v = r->kernel->vars; v; v = v->next)
        *words += v->space == SPACE_PRIVATE ? v->length : 0;
    return &r->memory[first + thread * *words];
}
