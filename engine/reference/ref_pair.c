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

static void note_accesses(struct ref *r, bool is_s, uint8_t *accessed, struct ref_pair_end *end)
{
    for (uint32_t i = 0; i < r->access_count; i++) {
        const struct ref_access *x = &r->accesses[i];
        bool reads = x->kind == REF_READ;
        if (x->address == REF_PRIVATE)
            continue;
        accessed[x->address] |= is_s ? (reads ? READ_S : WRITE_S) : (reads ? READ_T : WRITE_T);
        end->race = end->race || is_conflict(accessed[x->address]);
    }
}

/* Until the thread waits, has ended, or fails. */
static void run_thread(struct ref *r, uint32_t thread, bool is_s, uint64_t *left, uint8_t *accessed,
                       struct ref_pair_end *end)
{
    while (ref_is_live(r, thread) && r->end <= REF_TERMINATED) {
        if (*left == 0 || r->unknown) {
            end->decided = false;
            return;
        }
        --*left;
        (void)ref_step(r, thread, NULL);
        note_accesses(r, is_s, accessed, end);
    }
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
                         uint8_t *accessed, struct ref_pair_end *end)
{
    const struct ref_actor *s = &r->actors[pair->s], *t = &r->actors[pair->t];
    memset(accessed, 0, r->private_base);
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
                                 uint8_t *accessed)
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
