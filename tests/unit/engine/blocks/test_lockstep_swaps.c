/* Lemmas B.23 and B.25 (lockstep-cfg): adjacent steps of two threads of P, done in the other order. In
 * executions of random kernels under random schedules, at states where two threads can step. */
#include "engine/input/input.h"
#include "tests/unit/engine/blocks/random_blocks.h"

#include "oracle/lockstep/image.h"

enum { KERNELS = 3000, STEPS = 400 };

enum swap {
    SWAP_NONE,    /* the pair does not meet the premises */
    SWAP_SAME,    /* B.23: the same configuration */
    SWAP_DIFFERS, /* or another one */
    SWAP_RACES,   /* B.25: the second step first; the two still race */
    SWAP_FAILS,   /* or it ends with an error */
    SWAP_NEITHER
};

struct fixture {
    struct machine *machine;
    struct image_accesses first, second; /* of the two steps, in the order of the execution */
    uint32_t *before, *after;
    bool releases; /* a barrier has let threads pass */
};

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct fixture *f = context;
    (void)machine;
    (void)event;
    f->releases = true;
}

static void prepare(struct fixture *f, const struct program *P)
{
    static struct observer barriers;
    const struct machine_options options = {0};
    memset(f, 0, sizeof *f);
    barriers = (struct observer){.context = f, .barrier = on_barrier};
    image_accesses_start(&f->first, &test_arena, &barriers);
    image_accesses_start(&f->second, &test_arena, &barriers);
    f->machine = blocks_machine(P, &options);
    f->before = ARENA_ARRAY(&test_arena, uint32_t, f->machine->block_words);
    f->after = ARENA_ARRAY(&test_arena, uint32_t, f->machine->block_words);
}

/* One step; false: the thread cannot step. */
static bool step(struct fixture *f, uint32_t thread, struct image_accesses *accesses)
{
    bool live = false;
    for (uint32_t i = 0; i < f->machine->head->live_count; i++)
        live |= f->machine->head->live[i] == thread;
    if (machine_status(f->machine) != STATUS_RUNNING || !live)
        return false;
    image_accesses_clear(accesses);
    machine_observe(f->machine, &accesses->observer);
    machine_step(f->machine, thread, NULL);
    return true;
}

/* A common location, and not only reads of it. */
static bool conflict(const struct image_accesses *a, const struct image_accesses *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (a->entries[i].address == b->entries[k].address &&
                (a->entries[i].kind != ACCESS_READ || b->entries[k].kind != ACCESS_READ))
                return true;
    return false;
}

static bool fine(const struct machine *machine)
{
    return machine_status(machine) == STATUS_RUNNING ||
           machine_status(machine) == STATUS_TERMINATED;
}

/*
 * From the state at hand: t, then u; and from the same state u, then t. The premises: the second step is
 * by thread_B or thread_T (no error, no release), and for B.23 the two do not race, for B.25 they do.
 * `blind`: B.23 is asked although they race, to see that it can fail. The machine ends where it was.
 */
static enum swap swap(struct fixture *f, uint32_t t, uint32_t u, bool blind)
{
    enum swap result = SWAP_NONE;
    machine_save(f->machine, f->before);
    f->releases = false;
    bool both = step(f, t, &f->first) && step(f, u, &f->second);
    if (both && fine(f->machine) && !f->releases) {
        bool racing = conflict(&f->first, &f->second);
        machine_save(f->machine, f->after);
        machine_restore(f->machine, f->before, 0);
        f->releases = false;
        bool reached =
            step(f, u, &f->second) && fine(f->machine) && step(f, t, &f->first) && fine(f->machine);
        if (!racing || blind)
            result = reached && machine_equals(f->machine, f->after) ? SWAP_SAME : SWAP_DIFFERS;
        else if (machine_status(f->machine) == STATUS_ASSERT_FAILS ||
                 machine_status(f->machine) == STATUS_OUT_OF_BOUNDS)
            result = SWAP_FAILS;
        else
            result = reached && conflict(&f->first, &f->second) ? SWAP_RACES : SWAP_NEITHER;
    }
    machine_restore(f->machine, f->before, 0);
    return result;
}

/* Swaps along one execution, at random; counts by result. Whether one is neither. */
static void run_swaps(struct fixture *f, uint64_t seed, bool blind, uint32_t *counts)
{
    struct pcg rng = pcg_derive(seed, PCG_SCHEDULE, 1);
    machine_reset(f->machine);
    for (uint32_t n = 0; n < STEPS && machine_status(f->machine) == STATUS_RUNNING; n++) {
        const struct machine_head *head = f->machine->head;
        uint32_t i = pcg_below(&rng, head->live_count);
        uint32_t k = pcg_below(&rng, head->live_count);
        if (i != k)
            counts[swap(f, head->live[i], head->live[k], blind)]++;
        machine_observe(f->machine, NULL);
        machine_step(f->machine, f->machine->head->live[i], NULL);
    }
}

static void random_swaps(uint32_t kernels, bool blind, uint32_t *counts)
{
    for (uint32_t i = 0; i < kernels; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = random_blocks_kernel(2023, i);
        const struct program *P = kernel ? random_blocks_program(kernel, 0) : NULL;
        struct fixture f;
        if (P) {
            uint32_t differ = counts[SWAP_DIFFERS], neither = counts[SWAP_NEITHER];
            prepare(&f, P);
            for (uint64_t seed = 1; seed <= 3; seed++)
                run_swaps(&f, seed, blind, counts);
            if (!blind && counts[SWAP_DIFFERS] + counts[SWAP_NEITHER] > differ + neither)
                fail_msg("%s\n%s", counts[SWAP_DIFFERS] > differ ? "B.23" : "B.25",
                         print_kernel(&test_arena, P->core));
        }
        arena_release(&test_arena, mark);
    }
}

/* B.23 and B.25 hold. */
static void lemmas_b23_b25(void **state)
{
    (void)state;
    uint32_t counts[SWAP_NEITHER + 1] = {0};
    random_swaps(KERNELS, false, counts);
    print_message("%u commute, %u race, %u fail, %u do not apply\n", counts[SWAP_SAME],
                  counts[SWAP_RACES], counts[SWAP_FAILS], counts[SWAP_NONE]);
    assert_true(counts[SWAP_SAME] > 10000 && counts[SWAP_RACES] > 100);
}

/* B.23 fails without its premise that the steps do not race. */
static void b23_needs_its_premise(void **state)
{
    (void)state;
    uint32_t counts[SWAP_NEITHER + 1] = {0};
    random_swaps(KERNELS / 2, true, counts);
    assert_true(counts[SWAP_DIFFERS] > 0);
}

/* Both threads of the kernel, from the state after thread 1 took `lead` steps and thread 0 took `other`. */
static enum swap swap_at(const char *text, uint32_t lead, uint32_t other, uint32_t t, uint32_t u)
{
    struct fixture f;
    prepare(&f, blocks_program(text, BLOCKS_P, NULL));
    for (uint32_t i = 0; i < lead; i++)
        machine_step(f.machine, 1, NULL);
    for (uint32_t i = 0; i < other; i++)
        machine_step(f.machine, 0, NULL);
    return swap(&f, t, u, false);
}

/* B.25: the race stays, or the assertion of the second fails when it comes first; of an ill-formed kernel
 * (an assume on shared memory, as in CK1) neither: the execution is infeasible. */
static void b25_by_hand(void **state)
{
    (void)state;
    static const char format[] =
        "launch(threads = 2, warp = 2); shared int v; private int x; kernel k() blocks {\n"
        "Start: goto W, R; W: assume(tid == 1); v = 5; goto End;\n"
        "R: assume(tid == 0); %s goto End; }";
    static const struct {
        const char *statement;
        enum swap expected;
    } rows[] = {{"x = v;", SWAP_RACES},
                {"v = 5;", SWAP_RACES},
                {"assert(v == 5);", SWAP_FAILS},
                {"assume(v == 5);", SWAP_NEITHER},
                {"x = tid;", SWAP_SAME}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(&test_arena, format, rows[i].statement);
        /* block, goto, block, assume: then the statement is next */
        assert_int_equal(swap_at(text, 4, 4, 1, 0), rows[i].expected);
    }
}

/* A planted fault: an assignment also counts in the first word of the store, and reports no access. */
static enum rule (*honest)(struct machine *, uint32_t, struct choices *);

static enum rule hidden_write(struct machine *machine, uint32_t thread, struct choices *choices)
{
    enum rule rule = honest(machine, thread, choices);
    if (rule == RULE_INTK_ASSIGN)
        machine->memory[0] = machine->memory[0] * 2 + (int32_t)thread;
    return rule;
}

static void b23_finds_a_hidden_write(void **state)
{
    (void)state;
    const struct program *P = blocks_program(
        "launch(threads = 2, warp = 2); global int g; private int x; kernel k() blocks {\n"
        "Start: assume(1); x = tid; goto End; }",
        BLOCKS_P, NULL);
    struct semantics faulty = semantics_interleave;
    honest = semantics_interleave.step[MACHINE_OBSERVED];
    faulty.step[MACHINE_OBSERVED] = hidden_write;
    struct fixture f;
    prepare(&f, P);
    f.machine->semantics = &faulty;
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t i = 0; i < 2; i++)
            assert_true(step(&f, t, &f.first));
    assert_int_equal(swap(&f, 0, 1, false), SWAP_DIFFERS);
    f.machine->semantics = &semantics_interleave;
    assert_int_equal(swap(&f, 0, 1, false), SWAP_SAME);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(lemmas_b23_b25), TEST(b23_needs_its_premise),
                                       TEST(b25_by_hand), TEST(b23_finds_a_hidden_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
