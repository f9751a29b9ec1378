/* Searches: against plain enumeration of all executions, and against what is known of small kernels. */
#include "tests/unit/shared/support.h"

#include "engine/search/search.h"

#include <stdlib.h>

#include "tests/unit/shared/mock.h"

static struct search_result *search(const struct mock_program *mock, enum search_method method)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    struct machine *machine = search_machine(&test_arena, &mock_semantics, &mock->program, false);
    return search_run(&test_arena, machine, &options);
}

/* ---- plain enumeration ---- */

enum { ENUMERATED_MAX = 4096, WORDS_MAX = 8 };

struct outcome_set {
    uint32_t count;
    uint64_t executions;
    struct {
        enum status status;
        int32_t words[WORDS_MAX];
    } outcomes[ENUMERATED_MAX];
    bool race;
};

static bool in_set(const struct outcome_set *set, enum status status, const int32_t *words,
                   uint32_t count)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->outcomes[i].status == status &&
            (!words || memcmp(set->outcomes[i].words, words, 4 * count) == 0))
            return true;
    return false;
}

struct fixed {
    struct choices choices;
    uint32_t value, asked;
};

static uint32_t fixed_choose(struct choices *choices, uint32_t n)
{
    struct fixed *fixed = (struct fixed *)choices;
    fixed->asked = n;
    return fixed->value;
}

/* All executions, by saved states: an operation asks for at most one inner choice. `pending` are the
 * accesses so far of each actor, for races: bit 2 word + write. */
static void enumerate(struct machine *machine, struct outcome_set *set, const uint32_t *accessed)
{
    uint32_t words = machine->program->private_base;
    if (machine_status(machine) != STATUS_RUNNING) {
        enum status status = machine_status(machine);
        bool stored = status == STATUS_TERMINATED;
        set->executions++;
        if (!in_set(set, status, stored ? machine->memory : NULL, words)) {
            assert_true(set->count < ENUMERATED_MAX);
            set->outcomes[set->count].status = status;
            memcpy(set->outcomes[set->count++].words, machine->memory, 4 * words);
        }
        return;
    }
    size_t mark = arena_mark(&test_arena);
    uint32_t *saved = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    machine_save(machine, saved);
    for (uint32_t i = 0; i < machine->head->live_count; i++) {
        uint32_t actor = machine->head->live[i], after[MOCK_ACTORS];
        uint64_t reads, writes;
        machine->semantics->footprint(machine, actor, &reads, &writes);
        memcpy(after, accessed, sizeof after);
        for (uint32_t word = 0; word < words; word++)
            for (uint32_t other = 0; other < machine->actor_count; other++) {
                bool read = reads >> word & 1, write = writes >> word & 1;
                if (other == actor)
                    after[actor] |= (uint32_t)read << 2 * word | (uint32_t)write << (2 * word + 1);
                else
                    set->race |= (write && (accessed[other] >> 2 * word & 3)) ||
                                 (read && (accessed[other] >> (2 * word + 1) & 1));
            }
        struct fixed fixed = {.choices = {NULL, fixed_choose, NULL}};
        do {
            machine_step(machine, actor, &fixed.choices);
            enumerate(machine, set, after);
            machine_restore(machine, saved, 0);
        } while (++fixed.value < fixed.asked);
    }
    arena_release(&test_arena, mark);
}

static struct outcome_set *enumerate_all(const struct mock_program *mock)
{
    static const uint32_t none[MOCK_ACTORS];
    const struct machine_options options = {0};
    struct outcome_set *set = ARENA_NEW(&test_arena, struct outcome_set);
    enumerate(machine_new(&test_arena, &mock_semantics, &mock->program, &options), set, none);
    return set;
}

/* Every outcome's tape leads to it. */
static void check_witnesses(const struct mock_program *mock, const struct search_result *result)
{
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        const struct search_outcome *outcome = &result->outcomes[i];
        const struct machine_options options = {0};
        struct machine *machine =
            machine_new(&test_arena, &mock_semantics, &mock->program, &options);
        const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = outcome->tape};
        struct scheduler scheduler;
        sched_start(&scheduler, &spec, machine, &test_arena);
        assert_int_equal(machine_run(machine, &scheduler.choices, 1000, NULL), outcome->status);
        assert_int_equal(scheduler.drifts + scheduler.beyond, 0);
        assert_int_equal(scheduler.reader.next, outcome->tape->count);
        if (outcome->store)
            assert_memory_equal(outcome->store, machine->memory,
                                4 * machine->program->private_base);
        else
            assert_int_not_equal(outcome->status, STATUS_TERMINATED);
    }
}

static void check_against(const struct mock_program *mock, const struct outcome_set *set,
                          enum search_method method)
{
    struct search_result *result = search(mock, method);
    assert_true(result->complete);
    assert_null(result->cut);
    assert_int_equal(result->outcome_count, set->count);
    for (uint32_t i = 0; i < result->outcome_count; i++)
        assert_true(in_set(set, result->outcomes[i].status, result->outcomes[i].store,
                           mock->program.private_base));
    check_witnesses(mock, result);
    /* With errors a conflict may lie behind the end of every execution. */
    if (!in_set(set, STATUS_ASSERT_FAILS, NULL, 0))
        assert_int_equal(result->race, set->race);
    assert_int_equal(result->liveness, LIVENESS_ALL_TERMINATE);
    assert_true(result->executions <= set->executions || set->executions == 0 ||
                in_set(set, STATUS_ASSERT_FAILS, NULL, 0));
}

static void random_ops(struct mock_program *mock, struct pcg *rng, uint32_t actors, uint32_t words,
                       uint32_t length)
{
    static const enum mock_kind kinds[] = {MOCK_NOP,   MOCK_READ, MOCK_READ,   MOCK_WRITE,
                                           MOCK_WRITE, MOCK_SET,  MOCK_ASSERT, MOCK_CHOOSE,
                                           MOCK_NOP,   MOCK_WRITE};
    bool errors = pcg_below(rng, 3) == 0, choices = pcg_below(rng, 3) == 0;
    for (uint32_t i = 0; i < actors; i++)
        for (uint32_t j = pcg_below(rng, length + 1); j > 0; j--) {
            enum mock_kind kind = kinds[pcg_below(rng, sizeof kinds / sizeof kinds[0])];
            if ((kind == MOCK_ASSERT && !errors) || (kind == MOCK_CHOOSE && !choices))
                kind = MOCK_READ;
            mock_add(mock, i, kind, pcg_below(rng, words),
                     kind == MOCK_CHOOSE ? 2 : (int32_t)pcg_below(rng, 3));
        }
}

static void agree_with_enumeration(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(11, PCG_KERNEL, 0);
    for (uint32_t round = 0; round < 600; round++) {
        size_t mark = arena_mark(&test_arena);
        uint32_t actors = 2 + pcg_below(&rng, 3), words = 1 + pcg_below(&rng, 3);
        struct mock_program *mock = mock_new(&test_arena, actors, words);
        random_ops(mock, &rng, actors, words, actors == 2 ? 5 : actors == 3 ? 3 : 2);
        const struct outcome_set *set = enumerate_all(mock);
        check_against(mock, set, SEARCH_STATES);
        check_against(mock, set, SEARCH_DPOR);
        check_against(mock, set, SEARCH_AUTO);
        arena_release(&test_arena, mark);
    }
}

/* Longer programs, for which enumeration is too much: the two searches against each other. */
static void agree_with_each_other(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(12, PCG_KERNEL, 0);
    uint32_t compared = 0;
    for (uint32_t round = 0; round < 300; round++) {
        size_t mark = arena_mark(&test_arena);
        uint32_t actors = 2 + pcg_below(&rng, 4);
        struct mock_program *mock = mock_new(&test_arena, actors, 6);
        random_ops(mock, &rng, actors, 6, 7);
        struct search_result *a = search(mock, SEARCH_STATES), *b = search(mock, SEARCH_DPOR);
        if (a->complete && b->complete) {
            compared++;
            assert_int_equal(a->outcome_count, b->outcome_count);
            assert_int_equal(a->race, b->race);
            for (uint32_t i = 0; i < a->outcome_count; i++) {
                uint32_t j = 0;
                while (j < b->outcome_count &&
                       (a->outcomes[i].status != b->outcomes[j].status ||
                        a->outcomes[i].store_hash != b->outcomes[j].store_hash))
                    j++;
                assert_true(j < b->outcome_count);
            }
            check_witnesses(mock, b);
        }
        arena_release(&test_arena, mark);
    }
    assert_true(compared > 200);
}

static void add_increment(struct mock_program *mock, uint32_t actor, uint32_t word)
{
    mock_add(mock, actor, MOCK_READ, word, 0);
    mock_add(mock, actor, MOCK_WRITE, word, 1);
}

/* INT.incr: x = x + 1 by n threads, read and write apart: every final value of 1 .. n. */
static void increments(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 4; n++)
        for (int method = SEARCH_AUTO; method <= SEARCH_DPOR; method++) {
            struct mock_program *mock = mock_new(&test_arena, n, 1);
            for (uint32_t i = 0; i < n; i++)
                add_increment(mock, i, 0);
            struct search_result *result = search(mock, (enum search_method)method);
            uint32_t values = 0;
            assert_true(result->complete);
            assert_int_equal(result->outcome_count, n);
            for (uint32_t i = 0; i < n; i++)
                values |= 1u << *result->outcomes[i].store;
            assert_int_equal(values, (1u << (n + 1)) - 2);
            assert_int_equal(result->race, n > 1);
        }
}

/* Independent actors have one trace; readers do not conflict; two writers of one word have two. */
static void dpor_reduces(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&test_arena, 5, 6);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = 0; j < 4; j++) {
            add_increment(mock, i, i);
            mock_add(mock, i, MOCK_READ, 5, 0);
        }
    struct search_result *result = search(mock, SEARCH_DPOR);
    assert_int_equal(result->executions, 1);
    assert_false(result->race);

    mock = mock_new(&test_arena, 2, 1);
    mock_add(mock, 0, MOCK_SET, 0, 1);
    mock_add(mock, 1, MOCK_SET, 0, 2);
    result = search(mock, SEARCH_DPOR);
    assert_int_equal(result->executions, 2);
    assert_true(result->race);

    /* Writers of one word each, then one reader of all: 2^n traces, and as many executions. */
    mock = mock_new(&test_arena, 5, 4);
    for (uint32_t i = 0; i < 4; i++) {
        mock_add(mock, i, MOCK_SET, i, 1);
        mock_add(mock, 4, MOCK_READ, i, 0);
    }
    assert_int_equal(search(mock, SEARCH_DPOR)->executions, 16);
}

/* The estimate: own words are no conflict, so partial order reduction takes the long independent
 * stretches; racy increments go to the states. */
static void auto_chooses(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&test_arena, 4, 5);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < 5; j++)
            add_increment(mock, i, i);
        if (i < 2)
            mock_add(mock, i, MOCK_SET, 4, (int32_t)i);
    }
    struct search_result *result = search(mock, SEARCH_AUTO);
    assert_int_equal(result->method, SEARCH_DPOR);
    assert_int_equal(result->executions, 2);

    mock = mock_new(&test_arena, 3, 1);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 3; j++)
            add_increment(mock, i, 0);
    assert_int_equal(search(mock, SEARCH_AUTO)->method, SEARCH_STATES);
}

/* Replays stem and loop: the state after the loop is the one before, and who stepped in it. */
static uint32_t check_lasso(const struct mock_program *mock, const struct search_result *result)
{
    const struct machine_options options = {0};
    struct machine *machine = machine_new(&test_arena, &mock_semantics, &mock->program, &options);
    const struct tape *tapes[] = {result->lasso_stem, result->lasso_loop};
    uint32_t *saved = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words), stepped = 0,
             live = 0;
    for (int i = 0; i < 2; i++) {
        struct scheduler scheduler;
        const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tapes[i]};
        struct tape *ran = tape_new(&test_arena, 1000);
        machine_save(machine, saved);
        sched_start(&scheduler, &spec, machine, &test_arena);
        while (scheduler.reader.next < tapes[i]->count)
            assert_int_equal(machine_run(machine, &scheduler.choices, 1, ran), STATUS_STEP_LIMIT);
        assert_int_equal(scheduler.drifts, 0);
        stepped = 0;
        for (uint32_t j = 0; j < ran->count; j++)
            if (!(ran->entries[j] & TAPE_INNER))
                stepped |= 1u << ran->entries[j];
    }
    assert_true(result->lasso_loop->count > 0);
    assert_true(machine_equals(machine, saved));
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        live |= 1u << machine->head->live[i];
    assert_int_equal(result->liveness == LIVENESS_FAIR_LASSO, stepped == live);
    return stepped;
}

static void liveness(void **state)
{
    (void)state;
    /* One waits for the other: only who never lets the other run spins for ever. */
    struct mock_program *mock = mock_new(&test_arena, 2, 1);
    mock_add(mock, 0, MOCK_UNTIL, 0, 1);
    mock_add(mock, 1, MOCK_NOP, 0, 0);
    mock_add(mock, 1, MOCK_SET, 0, 1);
    struct search_result *result = search(mock, SEARCH_AUTO);
    assert_int_equal(result->method, SEARCH_STATES);
    assert_true(result->complete && result->race);
    assert_int_equal(result->liveness, LIVENESS_UNFAIR_LASSO);
    assert_int_equal(check_lasso(mock, result), 1);
    assert_int_equal(result->outcome_count, 1);

    /* Both wait for what the other would only do afterwards: a fair lasso, and no outcome. */
    mock = mock_new(&test_arena, 2, 2);
    for (uint32_t i = 0; i < 2; i++) {
        mock_add(mock, i, MOCK_UNTIL, i, 1);
        mock_add(mock, i, MOCK_SET, 1 - i, 1);
    }
    result = search(mock, SEARCH_AUTO);
    assert_int_equal(result->liveness, LIVENESS_FAIR_LASSO);
    assert_int_equal(check_lasso(mock, result), 3);
    assert_int_equal(result->outcome_count, 0);

    /* A fair lasso only if the third writes the wrong value last. */
    mock = mock_new(&test_arena, 3, 1);
    mock_add(mock, 0, MOCK_UNTIL, 0, 1);
    mock_add(mock, 1, MOCK_SET, 0, 1);
    mock_add(mock, 2, MOCK_SET, 0, 2);
    result = search(mock, SEARCH_STATES);
    assert_int_equal(result->liveness, LIVENESS_FAIR_LASSO);
    assert_int_equal(check_lasso(mock, result), 1);
    assert_int_equal(result->outcome_count, 2); /* read 1, then overwritten, or not */
}

/* Random programs that may spin: termination under every schedule iff no lasso, and round robin, being
 * fair, ends whenever no fair lasso is there. */
static void random_liveness(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(13, PCG_KERNEL, 0);
    uint32_t kinds[4] = {0};
    for (uint32_t round = 0; round < 400; round++) {
        size_t mark = arena_mark(&test_arena);
        struct mock_program *mock = mock_new(&test_arena, 3, 2);
        random_ops(mock, &rng, 3, 2, 2);
        for (uint32_t i = 0; i < 3; i++)
            if (pcg_below(&rng, 2))
                mock_add(mock, i, MOCK_UNTIL, pcg_below(&rng, 2), (int32_t)pcg_below(&rng, 3));
        random_ops(mock, &rng, 3, 2, 2);
        struct search_result *result = search(mock, SEARCH_STATES);
        assert_true(result->complete);
        kinds[result->liveness]++;
        if (result->lasso_loop)
            check_lasso(mock, result);
        check_witnesses(mock, result);
        for (uint64_t index = 0; index < 12; index++) {
            const struct machine_options options = {0};
            struct machine *machine =
                machine_new(&test_arena, &mock_semantics, &mock->program, &options);
            struct sched_spec spec = sched_portfolio(1, index, 3, 0);
            struct scheduler scheduler;
            sched_start(&scheduler, &spec, machine, &test_arena);
            enum status status = machine_run(machine, &scheduler.choices, 2000, NULL);
            if (status == STATUS_STEP_LIMIT)
                assert_int_not_equal(result->liveness, LIVENESS_ALL_TERMINATE);
            if (status == STATUS_STEP_LIMIT && spec.kind == SCHED_ROUND_ROBIN)
                assert_int_equal(result->liveness, LIVENESS_FAIR_LASSO);
            bool found = status == STATUS_STEP_LIMIT;
            for (uint32_t i = 0; i < result->outcome_count; i++)
                found |= result->outcomes[i].status == status &&
                         (status != STATUS_TERMINATED ||
                          memcmp(result->outcomes[i].store, machine->memory, 8) == 0);
            assert_true(found);
        }
        arena_release(&test_arena, mark);
    }
    assert_true(kinds[LIVENESS_ALL_TERMINATE] > 10 && kinds[LIVENESS_UNFAIR_LASSO] > 10 &&
                kinds[LIVENESS_FAIR_LASSO] > 10);
    assert_int_equal(kinds[LIVENESS_UNKNOWN], 0);
}

static void bounds(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&test_arena, 4, 1);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 2; j++)
            add_increment(mock, i, 0);
    static const struct {
        enum search_method method;
        const char *cut;
        struct search_options options;
    } rows[] = {
        {SEARCH_STATES, "states", {.max_states = 100}},
        {SEARCH_STATES, "bytes", {.max_bytes = 1 << 17}},
        {SEARCH_STATES, "steps", {.max_steps = 100}},
        {SEARCH_STATES, "depth", {.max_depth = 10}},
        {SEARCH_STATES, "outcomes", {.max_outcomes = 2}},
        {SEARCH_DPOR, "steps", {.max_steps = 100}},
        {SEARCH_DPOR, "bytes", {.max_bytes = 1 << 18}},
        {SEARCH_DPOR, "depth", {.max_depth = 10}},
        {SEARCH_AUTO, "steps", {.max_steps = 500}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct search_options options = SEARCH_DEFAULTS;
        const struct search_options *set = &rows[i].options;
        options.method = rows[i].method;
        options.max_states = set->max_states ? set->max_states : options.max_states;
        options.max_bytes = set->max_bytes ? set->max_bytes : options.max_bytes;
        options.max_steps = set->max_steps ? set->max_steps : options.max_steps;
        options.max_depth = set->max_depth ? set->max_depth : options.max_depth;
        options.max_outcomes = set->max_outcomes ? set->max_outcomes : options.max_outcomes;
        struct machine *machine =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        struct search_result *result = search_run(&test_arena, machine, &options);
        assert_false(result->complete);
        assert_string_equal(result->cut, rows[i].cut);
        assert_true(result->steps <= options.max_steps);
        assert_true(result->outcome_count <= options.max_outcomes);
        check_witnesses(mock, result);
    }
}

/* A search leaves the caller's observers as they were, and may be repeated with the same result. */
static void repeats(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&test_arena, 3, 2);
    for (uint32_t i = 0; i < 3; i++) {
        add_increment(mock, i, 0);
        mock_add(mock, i, MOCK_CHOOSE, 1, 3);
    }
    struct machine *machine = search_machine(&test_arena, &mock_semantics, &mock->program, false);
    const struct observer observer = {0};
    machine_observe(machine, &observer);
    for (int method = SEARCH_STATES; method <= SEARCH_DPOR; method++) {
        struct search_options options = SEARCH_DEFAULTS;
        options.method = (enum search_method)method;
        struct search_result *a = search_run(&test_arena, machine, &options);
        assert_ptr_equal(machine->options.observers, &observer);
        struct search_result *b = search_run(&test_arena, machine, &options);
        assert_int_equal(a->steps, b->steps);
        assert_int_equal(a->outcome_count, 9);
        assert_int_equal(b->outcome_count, 9);
        for (uint32_t i = 0; i < 9; i++)
            assert_string_equal(tape_print(&test_arena, a->outcomes[i].tape),
                                tape_print(&test_arena, b->outcomes[i].tape));
    }
}

/* Hashes of three bits: what tells states apart is the comparison. */
static void matching_is_exact(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(17, PCG_KERNEL, 0);
    for (uint32_t round = 0; round < 200; round++) {
        size_t mark = arena_mark(&test_arena);
        struct mock_program *mock = mock_new(&test_arena, 4, 3);
        random_ops(mock, &rng, 4, 3, 3);
        if (pcg_below(&rng, 2))
            mock_add(mock, pcg_below(&rng, 4), MOCK_UNTIL, pcg_below(&rng, 3), 1);
        struct search_options options = SEARCH_DEFAULTS;
        options.method = SEARCH_STATES;
        struct machine *machine =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        const struct search_result *all = search_run(&test_arena, machine, &options);
        options.hash_mask = 7;
        const struct search_result *few = search_run(&test_arena, machine, &options);
        assert_int_equal(few->states, all->states);
        assert_int_equal(few->transitions, all->transitions);
        assert_int_equal(few->steps, all->steps);
        assert_int_equal(few->liveness, all->liveness);
        assert_int_equal(few->outcome_count, all->outcome_count);
        for (uint32_t i = 0; i < all->outcome_count; i++)
            assert_string_equal(tape_print(&test_arena, few->outcomes[i].tape),
                                tape_print(&test_arena, all->outcomes[i].tape));
        arena_release(&test_arena, mark);
    }
}

/* Numbers of values grow beyond one byte and two, tuples beyond their first room. */
static void tuples_grow(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&test_arena, 2, 1);
    mock_add(mock, 0, MOCK_CHOOSE, 0, 70000);
    mock_add(mock, 1, MOCK_NOP, 0, 0);
    struct search_result *result = search(mock, SEARCH_STATES);
    assert_int_equal(result->states, 2 * 70001);
    assert_int_equal(result->transitions, 2 * 70000 + 70001);
    check_witnesses(mock, result);
    mock = mock_new(&test_arena, MOCK_ACTORS, 6);
    for (uint32_t i = 0; i < MOCK_ACTORS; i++)
        mock_add(mock, i, MOCK_WRITE, i % 6, 1);
    result = search(mock, SEARCH_STATES);
    assert_int_equal(result->states, 1 << MOCK_ACTORS);
    assert_int_equal(result->transitions, MOCK_ACTORS << (MOCK_ACTORS - 1));
    assert_int_equal(result->outcome_count, 1);
    check_witnesses(mock, result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(agree_with_enumeration),
        TEST(agree_with_each_other),
        TEST(increments),
        TEST(dpor_reduces),
        TEST(auto_chooses),
        TEST(liveness),
        TEST(random_liveness),
        TEST(bounds),
        TEST(repeats),
        TEST(matching_is_exact),
        TEST(tuples_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
