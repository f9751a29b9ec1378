/*
 * R4, on the tests of corpus/litmus/caches.litmus: steps that are told to be independent can change places, in every
 * state; and a search that lets them sleep comes to every state, with fewer steps.
 */
#include "tests/unit/engine/caches/litmus_machine.h"

#include "engine/crs/crs.h"
#include "engine/search/search.h"

static const char *read_tests(void)
{
    static char text[1 << 17];
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/corpus/litmus/caches.litmus", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void each_test(uint32_t every, void (*work)(void *, const struct litmus_test *),
                      void *context)
{
    const char *text = read_tests();
    struct litmus_reader reader = {text, 1};
    struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
    struct diag diag;
    diag_init(&diag, "caches.litmus", text, strlen(text));
    for (uint32_t number = 0; litmus_next(&test_arena, &reader, test, &diag); number++) {
        size_t mark = arena_mark(&test_arena);
        if (number % every == 0)
            work(context, test);
        arena_release(&test_arena, mark);
    }
}

/* ---- diamonds ---- */

struct diamonds {
    struct exploring first; /* of several choices the first */
    uint32_t *state;
    uint64_t pairs, dependent, broken;
    uint32_t profile;
    const struct litmus_test *test;
};

static uint64_t both(struct diamonds *d, struct machine *machine, uint64_t hash, uint32_t a,
                     uint32_t b)
{
    machine_restore(machine, d->state, hash);
    d->first.count = d->first.at = 0;
    machine_step(machine, a, &d->first.choices);
    bool goes_on = machine_status(machine) == STATUS_RUNNING;
    for (uint32_t i = 0; goes_on && i < machine->head->live_count; i++)
        if (machine->head->live[i] == b) {
            d->first.count = d->first.at = 0;
            machine_step(machine, b, &d->first.choices);
            return machine->track.hash;
        }
    return a; /* no state's hash is that small */
}

static void look_at_pairs(void *context, const struct machine *seen)
{
    struct diamonds *d = context;
    struct machine *machine = (struct machine *)(uintptr_t)seen;
    uint32_t live[64], count = machine->head->live_count;
    uint64_t hash = machine->track.hash;
    if (machine_status(machine) != STATUS_RUNNING || count > 64)
        return;
    machine_save(machine, d->state);
    memcpy(live, machine->head->live, count * sizeof *live);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++) {
            struct touches a, b;
            machine->semantics->touches(machine, live[i], &a);
            machine->semantics->touches(machine, live[k], &b);
            d->dependent += touches_meet(&a, &b);
            if (touches_meet(&a, &b))
                continue;
            d->pairs++;
            bool same = both(d, machine, hash, live[i], live[k]) ==
                        both(d, machine, hash, live[k], live[i]);
            machine_restore(machine, d->state, hash);
            if (!same && d->broken++ == 0)
                print_error("%s, profile %u: %u and %u are not independent\n", d->test->name,
                            (unsigned)d->profile, (unsigned)live[i], (unsigned)live[k]);
        }
}

static void nobody(void *context, const struct machine *machine)
{
    (void)context;
    (void)machine;
}

static void diamonds_of(void *context, const struct litmus_test *test)
{
    struct diamonds *d = context;
    static const uint8_t lines[] = {8, 1, 2};
    for (uint32_t i = 0; i < 3; i++) {
        struct memory_options o = litmus_memory(test, LITMUS_PRINTED + i);
        o.lines = lines[i];
        o.eager = false; /* that is a choice of who may step, and no rule */
        struct program *program = litmus_program(&test_arena, test, &o);
        struct machine_options options = {.track = true, .memory = o};
        struct machine *machine =
            machine_new(&test_arena, &semantics_crs_caches, program, &options);
        d->first = (struct exploring){.choices = {explore_pick, explore_choose, NULL}};
        d->state = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
        d->test = test;
        d->profile = o.profile;
        (void)explore_all(machine, 3000, nobody, look_at_pairs, d);
    }
}

static void test_diamonds(void **state)
{
    struct diamonds d = {.pairs = 0};
    (void)state;
    each_test(1, diamonds_of, &d);
    print_message("%llu pairs are independent, %llu are not; %llu do not commute\n",
                  (unsigned long long)d.pairs, (unsigned long long)d.dependent,
                  (unsigned long long)d.broken);
    assert_true(d.pairs > 100000 && d.dependent > 50000);
    assert_int_equal(d.broken, 0);
}

/* ---- searches ---- */

struct searches {
    uint64_t states, steps_all, steps_awake;
    uint32_t tests, different, cut;
};

static const struct search_result *search_by(enum search_method method,
                                             const struct litmus_test *test,
                                             enum litmus_model model, bool eager)
{
    struct machine_options options = {.memory = litmus_memory(test, model)};
    struct program *program = litmus_program(&test_arena, test, &options.memory);
    options.memory.eager = eager;
    options.memory.slots = 4; /* four warps with their operations have bits of their own */
    struct search_options how = SEARCH_DEFAULTS;
    how.method = method;
    how.max_states = 8192;
    how.no_races = how.no_lasso = true;
    struct machine *machine =
        search_machine_with(&test_arena, &semantics_crs_caches, program, &options);
    return search_run(&test_arena, machine, &how);
}

static bool same_search(const struct search_result *a, const struct search_result *b)
{
    return a->ends == b->ends && a->outcome_count == b->outcome_count;
}

/* All states without R1. With it, all in which an execution is over: they hold what the threads have read. */
static void search_of(void *context, const struct litmus_test *test)
{
    struct searches *s = context;
    for (uint32_t i = 0; i < 6; i++) {
        enum litmus_model model = LITMUS_PRINTED + i / 2;
        bool eager = i % 2;
        const struct search_result *all = search_by(SEARCH_STATES, test, model, eager);
        const struct search_result *awake = search_by(SEARCH_SLEEP, test, model, eager);
        s->tests++;
        s->states += all->states;
        s->steps_all += all->steps;
        s->steps_awake += awake->steps;
        s->cut += !all->complete || !awake->complete;
        if (!all->complete || (same_search(all, awake) && (eager || all->states == awake->states)))
            continue;
        print_error("%s under %s: %llu states, %llu ends, with sleep sets %llu, %llu\n", test->name,
                    litmus_model_names[model], (unsigned long long)all->states,
                    (unsigned long long)all->ends, (unsigned long long)awake->states,
                    (unsigned long long)awake->ends);
        s->different++;
    }
}

static void test_searches(void **state)
{
    struct searches s = {.tests = 0};
    (void)state;
    each_test(1, search_of, &s);
    print_message("%u searches, %u cut off, %llu states: %llu steps, %llu with sleep sets\n",
                  (unsigned)s.tests, (unsigned)s.cut, (unsigned long long)s.states,
                  (unsigned long long)s.steps_all, (unsigned long long)s.steps_awake);
    assert_int_equal(s.tests, 6 * 131);
    assert_true(s.cut < 60);
    assert_int_equal(s.different, 0);
    assert_true(s.steps_awake * 3 < s.steps_all * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_diamonds, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_searches, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
