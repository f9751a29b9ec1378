/*
 * ref_statements.c - what single threads do to places: choices, assignments, atomics.
 */
#include "engine/reference/ref_internal.h"

#include "engine/base/pcg.h"

/* The draw is a function of the case's seed, the thread, and how many choices it has made. */
static uint32_t draw(struct ref *r, uint32_t thread)
{
    uint64_t purpose = (uint64_t)PCG_CHOICE << 32 | thread;
    uint64_t stream = pcg_splitmix(r->kernel->launch.seed ^ pcg_splitmix(purpose));
    return (uint32_t)(pcg_splitmix(stream + r->threads[thread].choices++) >> 32);
}

/* Literally, a choice is the schedule's: one of n, whichever is told. */
static uint32_t choice_told(struct ref *r, uint32_t n)
{
    uint32_t at = r->choices_taken++;
    r->ways *= n;
    if (at < r->told->choice_count && r->told->choices[at] < n)
        return r->told->choices[at];
    r->misled = "a choice that is none of those that there are";
    return 0;
}

/* One of eight is any number; the others are -2 .. 6. Literally, one of 0 and 1. */
int32_t ref_choice_value(struct ref *r, uint32_t thread)
{
    if (r->options.literal)
        return (int32_t)choice_told(r, 2);
    uint32_t drawn = draw(r, thread);
    return drawn % 8 == 0 ? (int32_t)(drawn * 2654435769u) : (int32_t)(drawn / 8 % 9) - 2;
}

uint32_t ref_choice_index(struct ref *r, uint32_t thread, uint32_t n)
{
    if (r->options.literal)
        return choice_told(r, n);
    return (uint32_t)((uint64_t)draw(r, thread) * n >> 32);
}

static enum ast_binary operation(enum ast_assign_op op)
{
    static const enum ast_binary operations[ASSIGN_COUNT] = {
        [ASSIGN_ADD] = BINARY_ADD, [ASSIGN_SUB] = BINARY_SUB, [ASSIGN_MUL] = BINARY_MUL,
        [ASSIGN_XOR] = BINARY_XOR, [ASSIGN_OR] = BINARY_OR,   [ASSIGN_AND] = BINARY_AND};
    return operations[op];
}

/* The place comes first, then what is read; the index of x in `x[i] op= e` is evaluated for each. */
struct ref_cell ref_assigned(struct ref *r, uint32_t thread, const struct ast_stm *s,
                             int32_t *value)
{
    int32_t old = 0;
    struct ref_cell cell = ref_place(r, thread, &s->target);
    if (cell.word && s->op != ASSIGN_SET) {
        struct ref_cell from = ref_place(r, thread, &s->target);
        if (!from.word)
            return from;
        ref_saw(r, REF_READ, thread, &from, 0);
        old = *from.word;
    }
    int32_t operand = ref_value(r, thread, s->value);
    *value = s->op == ASSIGN_SET ? operand : ref_binary(operation(s->op), old, operand);
    return ref_failed(r) ? (struct ref_cell){0} : cell;
}

void ref_write(struct ref *r, uint32_t thread, const struct ref_cell *cell, int32_t value)
{
    *cell->word = value;
    ref_saw(r, REF_WRITE, thread, cell, value);
}

bool ref_operands(struct ref *r, uint32_t thread, const struct ast_stm *s, struct ref_operands *x)
{
    x->cell = ref_place(r, thread, &s->place);
    x->a = ref_value(r, thread, s->arguments);
    x->b = s->arguments->next ? ref_value(r, thread, s->arguments->next) : 0;
    return !ref_failed(r);
}

static int32_t after(enum ast_atomic atomic, int32_t old, const struct ref_operands *x)
{
    switch (atomic) {
    case ATOMIC_ADD:
        return ref_binary(BINARY_ADD, old, x->a);
    case ATOMIC_MIN:
        return old < x->a ? old : x->a;
    case ATOMIC_MAX:
        return old > x->a ? old : x->a;
    case ATOMIC_AND:
        return ref_binary(BINARY_AND, old, x->a);
    case ATOMIC_OR:
        return ref_binary(BINARY_OR, old, x->a);
    case ATOMIC_EXCH:
        return x->a;
    case ATOMIC_CAS:
        return old == x->a ? x->b : old;
    case ATOMIC_COUNT:
        break;
    }
    return old;
}

void ref_atomic(struct ref *r, uint32_t thread, const struct ast_stm *s,
                const struct ref_operands *x)
{
    int32_t old = *x->cell.word;
    *x->cell.word = after(s->atomic, old, x);
    ref_saw(r, REF_ATOMIC, thread, &x->cell, *x->cell.word);
    if (s->target.var)
        *ref_cell_of(r, thread, s->target.var, 0).word = old;
}

bool ref_is_order(const struct ref_told *told, const uint32_t *threads, uint32_t count)
{
    if (told->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t times = 0;
        for (uint32_t k = 0; k < count; k++)
            times += told->order[k] == threads[i];
        if (times != 1)
            return false;
    }
    return true;
}

/* ---- in how many ways a step may end, at least ---- */

/* Of the threads that write one place together, any may be the last (assign^w, psi_T, MEM.nd.5); atomics of one place
 * are done in any order (LOCK.atomic, MEM.nd.6, ERR.47). Two ways for each place where memory or a result shows the
 * order. */

static const uint64_t most = (uint64_t)1 << 32; /* more is not counted */

uint64_t ref_ways_of_writes(const struct ref_one_write *x, uint32_t count)
{
    uint64_t ways = 1;
    for (uint32_t i = 0; i < count; i++) {
        bool is_first = true, differs = false;
        for (uint32_t k = 0; k < count; k++) {
            is_first = is_first && (k >= i || x[k].place != x[i].place);
            differs = differs || (x[k].place == x[i].place && x[k].value != x[i].value);
        }
        if (is_first && differs && ways < most)
            ways *= 2;
    }
    return ways;
}

/* All atomics of a place, one after another, from the first or from the last one on: what each finds, and what is
 * left. */
static uint64_t in_turn(const struct ref_one_atomic *x, uint32_t count, uint32_t place_of,
                        bool backwards, const struct ref_atomics *all, uint64_t *found)
{
    uint64_t value = x[place_of].before;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = backwards ? count - 1 - i : i;
        if (x[k].place != x[place_of].place)
            continue;
        found[k] = value;
        value = all->after(all->what, value, x[k].b, x[k].c);
    }
    return value;
}

uint64_t ref_ways_of_atomics(const struct ref_one_atomic *x, uint32_t count,
                             const struct ref_atomics *all)
{
    uint64_t ways = 1, forwards[LIMIT_THREADS], backwards[LIMIT_THREADS];
    for (uint32_t i = 0; i < count; i++) {
        bool is_first = true, differs;
        for (uint32_t k = 0; k < i; k++)
            is_first = is_first && x[k].place != x[i].place;
        if (!is_first)
            continue;
        differs = in_turn(x, count, i, false, all, forwards) !=
                  in_turn(x, count, i, true, all, backwards);
        for (uint32_t k = i; k < count && all->shows_found; k++)
            differs = differs || (x[k].place == x[i].place && forwards[k] != backwards[k]);
        if (differs && ways < most)
            ways *= 2;
    }
    return ways;
}

void ref_ways_to_write(struct ref *r, const uint32_t *threads, uint32_t count, uint32_t first,
                       const struct ref_cell *cells, const int32_t *values)
{
    struct ref_one_write all[LIMIT_THREADS];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = threads[i] - first;
        all[i] = (struct ref_one_write){(uintptr_t)cells[at].word, (uint32_t)values[at]};
    }
    r->ways = ref_ways_of_writes(all, count);
}

static uint64_t left_behind(const void *what, uint64_t before, uint64_t b, uint64_t c)
{
    const struct ref_operands x = {.a = (int32_t)b, .b = (int32_t)c};
    return (uint32_t)after(*(const enum ast_atomic *)what, (int32_t)before, &x);
}

void ref_ways_of(struct ref *r, const struct ast_stm *s, const uint32_t *threads, uint32_t count,
                 uint32_t first, const struct ref_operands *operands)
{
    struct ref_one_atomic all[LIMIT_THREADS];
    const struct ref_atomics atomics = {
        .shows_found = s->target.var != NULL, .what = &s->atomic, .after = left_behind};
    for (uint32_t i = 0; i < count; i++) {
        const struct ref_operands *x = &operands[threads[i] - first];
        all[i] = (struct ref_one_atomic){(uintptr_t)x->cell.word, (uint32_t)*x->cell.word,
                                         (uint32_t)x->a, (uint32_t)x->b};
    }
    r->ways = ref_ways_of_atomics(all, count, &atomics);
}
