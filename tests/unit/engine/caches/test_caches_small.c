/*
 * Caches of one line: nothing gets stuck, whatever two or three operations meet (memory-device, G.11; ERR.81, ERR.82),
 * all invariants hold, and what sequential memory can do, they can (G.1).
 */
#include "tests/unit/engine/caches/litmus_machine.h"

static const struct {
    enum litmus_op op;
    enum litmus_cache cache;
} operations[] = {{LITMUS_LD, CACHE_CA},      {LITMUS_LD, CACHE_CG},  {LITMUS_LD, CACHE_CS},
                  {LITMUS_LD, CACHE_CV},      {LITMUS_LD, CACHE_VOL}, {LITMUS_ST, CACHE_WB},
                  {LITMUS_ST, CACHE_CS},      {LITMUS_ST, CACHE_WT},  {LITMUS_ST, CACHE_VOL},
                  {LITMUS_ADD_ATOM, CACHE_WB}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void add(struct litmus_test *test, uint32_t sm, uint32_t operation, uint32_t word)
{
    struct litmus_thread *thread = &test->threads[test->count];
    struct litmus_instruction *in = &thread->code[0];
    *thread =
        (struct litmus_thread){.sm = (uint8_t)sm, .cta = (uint8_t)sm, .length = 1, .registers = 1};
    in->op = operations[operation].op;
    in->cache = operations[operation].cache;
    in->lanes = 1;
    in->word[0] = (uint8_t)word;
    in->a[0].value = (int16_t)(test->count + 1);
    if (litmus_writes(in))
        test->observe[test->observed++] =
            (struct litmus_observed){.is_register = true, .thread = test->count};
    test->count++;
}

static bool has(const struct litmus_result *r, const char *outcome)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->outcomes[i], outcome) == 0)
            return true;
    return false;
}

struct small_count {
    uint32_t programs, states, stuck, missing, broken;
};

static void try_one(struct litmus_test *test, enum litmus_model model, uint32_t words,
                    struct small_count *count)
{
    struct litmus_result sc;
    struct collecting x;
    size_t mark = arena_mark(&test_arena);
    snprintf(test->name, sizeof test->name, "program %u", (unsigned)count->programs);
    test->options.words_a_line = (uint8_t)words;
    for (uint32_t w = 0; w < 2; w++)
        test->observe[test->observed++] = (struct litmus_observed){.number = (uint8_t)w};
    assert_true(litmus_run(&test_arena, test, LITMUS_SC, 8192, &sc));
    struct memory_options o = litmus_memory(test, model);
    o.lines = o.l2_lines = 1;
    o.full = true;
    count->states += run_within(8192, test, &x, &test_arena, &o);
    count->programs++;
    count->stuck += x.dead;
    count->broken += x.broken;
    for (uint32_t i = 0; i < sc.count; i++)
        if (!has(&x.result, sc.outcomes[i])) {
            print_error("%s misses %s\n", test->name, sc.outcomes[i]);
            count->missing++;
        }
    arena_release(&test_arena, mark);
}

/* All pairs, on one and on two words, on one and on two SMs. */
static void pairs(enum litmus_model model, uint32_t words, struct small_count *count)
{
    for (uint32_t a = 0; a < OPERATIONS; a++)
        for (uint32_t b = 0; b < OPERATIONS; b++)
            for (uint32_t place = 0; place < 4; place++) {
                struct litmus_test test = {.count = 0};
                add(&test, 0, a, 0);
                add(&test, place & 1, b, place >> 1);
                try_one(&test, model, words, count);
            }
}

/* Triples on one SM, one of them on another word. */
static void triples(enum litmus_model model, struct small_count *count)
{
    static const uint32_t some[] = {0, 1, 5, 9};
    for (uint32_t i = 0; i < 4 * 4 * 4; i++) {
        struct litmus_test test = {.count = 0};
        add(&test, 0, some[i % 4], 0);
        add(&test, 0, some[i / 4 % 4], 0);
        add(&test, 0, some[i / 16], 1);
        try_one(&test, model, 1, count);
    }
}

static void test_one_line(void **state)
{
    (void)state;
    for (enum litmus_model m = LITMUS_PRINTED; m <= LITMUS_COHERENT; m++) {
        struct small_count count = {0};
        pairs(m, 1, &count);
        pairs(m, 2, &count);
        triples(m, &count);
        print_message("%s: %u programs, %u states, %u stuck, %u outcomes missing, %u broken\n",
                      litmus_model_names[m], (unsigned)count.programs, (unsigned)count.states,
                      (unsigned)count.stuck, (unsigned)count.missing, (unsigned)count.broken);
        assert_int_equal(count.programs, 864);
        assert_int_equal(count.stuck + count.missing + count.broken, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_line, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
