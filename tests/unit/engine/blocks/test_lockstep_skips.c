/* Lemmas B.3 and B.4 (lockstep-cfg): `skip;` anywhere changes no trace. Of random kernels: the sequence of
 * changes of the shared store by one thread, and with all threads whether the kernel is clean, and its
 * store. In P, pi(P) and phi(P), which get their skips from P. */
#include "engine/input/input.h"
#include "tests/unit/engine/blocks/random_blocks.h"

#include "oracle/race/race.h"

enum { KERNELS = 1500, BUDGET = 100000 };

/* ---- skips ---- */

static struct ast_stm *a_skip(const struct ast_kernel *kernel)
{
    (void)kernel;
    return ast_stm(&test_arena, STM_SKIP, (struct location){0});
}

/* The planted fault: a statement that is none. NULL: there is no shared variable. */
static struct ast_stm *a_flip(const struct ast_kernel *kernel)
{
    for (struct ast_var *v = kernel->vars; v; v = v->next)
        if (v->space == SPACE_SHARED)
            return ast_assign(&test_arena, v, v->is_array ? ast_int(&test_arena, 0) : NULL,
                              ast_int(&test_arena, 12345), (struct location){0});
    return NULL;
}

typedef struct ast_stm *inserted(const struct ast_kernel *kernel);

/* Behind each statement with even chance, and in front of the first if that is no assume (WF.1). */
static uint32_t insert_into(const struct ast_kernel *kernel, struct ast_block *block,
                            struct pcg *rng, inserted *make)
{
    uint32_t count = 0;
    struct ast_stm **link = &block->body;
    if (*link && (*link)->kind == STM_ASSUME)
        link = &(*link)->next;
    for (;; link = &(*link)->next) {
        struct ast_stm *stm = pcg_below(rng, 2) ? make(kernel) : NULL;
        if (stm) {
            stm->next = *link;
            *link = stm;
            link = &stm->next;
            count++;
        }
        if (!*link)
            return count;
    }
}

static struct ast_kernel *with_inserted(const struct ast_kernel *kernel, struct pcg *rng,
                                        inserted *make, uint32_t *count)
{
    struct ast_kernel *copy = ast_kernel_copy(&test_arena, kernel);
    for (struct ast_block *b = copy->main->blocks; b; b = b->next)
        *count += insert_into(copy, b, rng, make);
    for (struct ast_function *f = copy->functions; f; f = f->next)
        for (struct ast_block *b = f->blocks; b; b = b->next)
            *count += insert_into(copy, b, rng, make);
    assert_true(ast_check(copy, NULL));
    return copy;
}

/* ---- what is compared ---- */

/* delta_V of a trace, V the shared variables: what changes, in its order. */
struct trace {
    int32_t *store;
    uint64_t changes, hash;
    enum status status;
    bool race;
};

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct trace *t = context;
    (void)thread;
    (void)stm;
    if (t->store[address] == value)
        return;
    t->store[address] = value;
    t->changes++;
    t->hash = pcg_splitmix(t->hash ^ (((uint64_t)address << 32) | (uint32_t)value));
}

static void run_trace(const struct program *program, struct trace *t)
{
    struct race_detector *races = race_new(&test_arena, program);
    const struct observer observer = {
        .context = t, .write = on_write, .atomic = on_write, .next = &races->observer};
    const struct machine_options options = {.observers = &observer};
    struct machine *machine = blocks_machine(program, &options);
    *t = (struct trace){.store = ARENA_ARRAY(&test_arena, int32_t, program->private_base)};
    memcpy(t->store, machine->memory, program->private_base * sizeof *t->store);
    race_begin(races);
    t->status = blocks_run(machine, 0, BUDGET);
    t->race = races->found;
}

/* One thread: the same trace. */
static const char *compare_traces(const struct trace *a, const struct trace *b)
{
    if (a->status == STATUS_STEP_LIMIT || b->status == STATUS_STEP_LIMIT)
        return NULL;
    if (a->status != b->status)
        return "status";
    return a->changes != b->changes || a->hash != b->hash ? "trace" : NULL;
}

/* All threads: both clean, with the same store, or neither. */
static const char *compare_verdicts(const struct program *P, const struct trace *a,
                                    const struct trace *b)
{
    if (a->status == STATUS_STEP_LIMIT || b->status == STATUS_STEP_LIMIT)
        return NULL;
    bool clean = a->status == STATUS_TERMINATED && !a->race;
    if (clean != (b->status == STATUS_TERMINATED && !b->race))
        return "verdict";
    if (clean && memcmp(a->store, b->store, P->private_base * sizeof *a->store) != 0)
        return "store";
    return NULL;
}

static const struct program *form_of(const struct program *P, enum blocks_form form)
{
    const struct predicate_options options = {.order_seed = 0};
    const char *reason = NULL;
    if (form == BLOCKS_P)
        return P;
    if (form == BLOCKS_PI)
        return random_blocks_pi(P, 0);
    return blocks_compile(lockstep_form(&test_arena, P->core, &options, &reason));
}

struct tally {
    uint32_t compared, clean, skips;
};

static const char *compare(const struct ast_kernel *kernel, const struct ast_kernel *other,
                           enum blocks_form form, struct tally *tally)
{
    const char *what = NULL;
    for (uint32_t threads = 0; threads < 2 && !what; threads++) {
        const struct program *P = random_blocks_program(kernel, threads);
        const struct program *Q = random_blocks_program(other, threads);
        struct trace a, b;
        if (!P || !Q || (threads != 1 && (P->has_atomics || P->launch.blocks > 1)))
            continue;
        run_trace(form_of(P, form), &a);
        run_trace(form_of(Q, form), &b);
        what = threads == 1 ? compare_traces(&a, &b) : compare_verdicts(P, &a, &b);
        tally->compared++;
        tally->clean += a.status == STATUS_TERMINATED && !a.race;
    }
    return what;
}

static uint32_t differences(inserted *make, enum blocks_form form, struct tally *tally, bool fail)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < KERNELS / (form == BLOCKS_P ? 1 : 3); i++) {
        size_t mark = arena_mark(&test_arena);
        struct pcg rng = pcg_derive(i, PCG_INPUT, 7);
        const struct ast_kernel *kernel = random_blocks_kernel(91, i);
        if (kernel) {
            const struct ast_kernel *other = with_inserted(kernel, &rng, make, &tally->skips);
            const char *what = compare(kernel, other, form, tally);
            if (what && fail)
                fail_msg("%s\n%s\n%s", what, print_kernel(&test_arena, kernel),
                         print_kernel(&test_arena, other));
            count += what != NULL;
        }
        arena_release(&test_arena, mark);
    }
    return count;
}

static void skips_change_nothing(void **state)
{
    (void)state;
    for (enum blocks_form form = BLOCKS_P; form <= BLOCKS_PHI; form++) {
        struct tally tally = {0};
        differences(a_skip, form, &tally, true);
        print_message("%u comparisons, %u of clean executions, %u skips\n", tally.compared,
                      tally.clean, tally.skips);
        assert_true(tally.compared > 300 && tally.clean > 100 && tally.skips > 2000);
    }
}

static void another_statement_does(void **state)
{
    (void)state;
    struct tally tally = {0};
    assert_true(differences(a_flip, BLOCKS_PHI, &tally, false) > KERNELS / 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(skips_change_nothing), TEST(another_statement_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
