/*
 * Cases at which the engine crashes, hangs or is killed: each costs itself and nothing else, whatever runs
 * beside it. The faults are planted between the worker and its case (--wrap=chunk_run_case, example_make).
 */
#include "tests/unit/campaign_fixture.h"

#include "engine/invariant.h"
#include "fuzz/example.h"
#include "fuzz/pool.h"
#include "fuzz/supervisor.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CASES = 150, PLANS_MAX = 200, TIMEOUT_MS = 1000 };

enum fault { FAULT_SEGV, FAULT_INVARIANT, FAULT_HANG, FAULT_KILL, FAULT_ONCE, FAULT_MINIMISING };

struct plan {
    uint64_t number;
    enum fault fault;
};

/* Shared with the campaign's processes. */
static struct shared {
    struct plan plans[PLANS_MAX];
    uint32_t count, deaths;
    bool again; /* what happens once has happened */
    struct campaign_summary summary;
    struct db_message message;
} * shared;

/* ---- planted faults ---- */

bool __real_chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number);
bool __wrap_chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number);
void __real_example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const struct reduce_options *options,
                         struct example *example);
void __wrap_example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const struct reduce_options *options,
                         struct example *example);

static const struct plan *planned(uint64_t number, bool minimising)
{
    for (uint32_t i = 0; i < shared->count; i++)
        if (shared->plans[i].number == number &&
            (shared->plans[i].fault == FAULT_MINIMISING) == minimising)
            return &shared->plans[i];
    return NULL;
}

static void fall(enum fault fault)
{
    static volatile int turns, one = 1;
    switch (fault) {
    case FAULT_INVARIANT:
        INVARIANT(turns > one || turns < 0);
        break;
    case FAULT_HANG:
        while (one)
            turns = !turns;
        break;
    case FAULT_KILL:
        kill(getpid(), SIGKILL);
        break;
    case FAULT_ONCE:
        if (shared->again)
            return;
        shared->again = true;
        raise(SIGSEGV);
        break;
    case FAULT_SEGV:
    case FAULT_MINIMISING:
        raise(SIGSEGV);
        break;
    }
}

bool __wrap_chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number)
{
    const struct plan *plan = planned(number, false);
    atomic_store_explicit(&maker->slot->phase, WATCH_CHECKING, memory_order_relaxed);
    if (plan)
        fall(plan->fault);
    return __real_chunk_run_case(maker, chunk, number);
}

void __wrap_example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const struct reduce_options *options,
                         struct example *example)
{
    const struct reduce_progress progress = {.size = 1};
    const struct plan *plan = planned(c->number, true);
    if (plan && options->go_on(options->go_on_context, &progress))
        fall(plan->fault);
    __real_example_make(arena, scratch, c, text, options, example);
}

/* ---- running ---- */

struct run {
    struct place *place;
    struct campaign_options options;
};

static int body(void *context, struct watch *watch)
{
    struct run *run = context;
    run->options.watch = watch;
    /* No core, and no talk on standard error, of those that die. */
    int status =
        campaign_run(&run->place->arena, &run->options, &shared->summary, &shared->message);
    return status;
}

static int supervised(struct place *place, const struct campaign_options *options)
{
    struct run run = {.place = place, .options = *options};
    const struct supervisor supervisor = {
        .case_timeout_ms = TIMEOUT_MS, .keep_incidents = options->feedback > 0, .log = place->log};
    return supervise(&supervisor, body, &run);
}

static void plan(uint64_t number, enum fault fault)
{
    assert_true(shared->count < PLANS_MAX);
    shared->plans[shared->count++] = (struct plan){.number = number, .fault = fault};
}

static int set_up_shared(void **state)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : place_set_up(state);
}

static int tear_down_shared(void **state)
{
    munmap(shared, sizeof *shared);
    return place_tear_down(state);
}

static struct campaign_options supervised_campaign(const struct place *place)
{
    struct campaign_options options = small_campaign(place);
    options.cases = CASES;
    return options;
}

/* Runs with one worker and with several: the same exit status and the same content, which is returned. */
static char *run_both(struct place *place, struct campaign_options *options, int status)
{
    char *first = NULL, *second = NULL;
    for (options->jobs = 1; options->jobs <= 4; options->jobs += 3) {
        shared->again = false;
        assert_int_equal(supervised(place, options), status);
        *(first ? &second : &first) = content(place->db);
        place_remove_db(place);
    }
    assert_string_equal(first, second);
    free(second);
    return first;
}

static bool has_finding(const char *text, const char *signature)
{
    char field[300];
    snprintf(field, sizeof field, "\"table\":\"finding\",\"signature\":\"%s\"", signature);
    return strstr(text, field) != NULL;
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* ---- tests ---- */

static void test_nothing_happens(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    char *watched = run_both(place, &options, 0);
    run(place, &options, &shared->summary, 0);
    char *alone = content(place->db);
    assert_string_equal(watched, alone);
    free(watched);
    free(alone);
}

static void test_crashes(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    plan(13, FAULT_SEGV);
    plan(14, FAULT_SEGV);
    plan(70, FAULT_INVARIANT);
    char *text = run_both(place, &options, 1);
    assert_true(has_finding(text, "engine|crash|SIGSEGV|checking"));
    assert_true(
        has_finding(text, "engine|crash|test_supervisor.c: turns > one // turns < 0|checking"));
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), 3);
    assert_int_equal(shared->summary.cases, CASES);
    assert_int_equal(shared->summary.skipped, 3);
    free(text);
}

static void test_hang(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    plan(40, FAULT_HANG);
    char *text = run_both(place, &options, 1);
    assert_true(has_finding(text, "engine|hang|timeout|checking"));
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), 1);
    free(text);
}

/* As the system does for want of memory: nobody hears why, so what ran is run alone. */
static void test_killed_by_a_case(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    plan(77, FAULT_KILL);
    char *text = run_both(place, &options, 1);
    assert_true(has_finding(text, "engine|crash|SIGKILL|checking"));
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), 1);
    free(text);
}

/* Dying once is no property of the case: it is run, and the death is a class of its own. */
static void test_flaky(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    plan(50, FAULT_ONCE);
    char *text = run_both(place, &options, 3);
    assert_true(has_finding(text, "engine|flaky|SIGSEGV|checking"));
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), 0);
    assert_non_null(strstr(shared->message.text, "did not show again"));
    free(text);
}

/* A finding whose minimisation is fatal is kept as it was found. */
static void test_fatal_minimisation(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    run(place, &options, &shared->summary, 0);
    assert_true(shared->summary.finding_count > 0);
    uint64_t first = shared->summary.findings[0].first_case;
    place_remove_db(place);
    plan(first, FAULT_MINIMISING);
    char *text = run_both(place, &options, 1);
    assert_true(has_finding(text, "engine|crash|SIGSEGV|minimising"));
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), 0);
    free(text);
}

static void test_no_hope(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    options.jobs = 3;
    for (uint64_t number = 70; number < 120; number++)
        plan(number, FAULT_SEGV);
    assert_int_equal(supervised(place, &options), 3);
    shared->count = 0;
    options.resume = (struct db_shard){.campaign = 1};
    assert_int_equal(supervised(place, &options), 0);
    assert_int_equal(shared->summary.cases, CASES);
}

int main(void)
{
#define SUPERVISED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_shared, tear_down_shared)
    const struct CMUnitTest tests[] = {
        SUPERVISED_TEST(test_nothing_happens),
        SUPERVISED_TEST(test_crashes),
        SUPERVISED_TEST(test_hang),
        SUPERVISED_TEST(test_killed_by_a_case),
        SUPERVISED_TEST(test_flaky),
        SUPERVISED_TEST(test_fatal_minimisation),
        SUPERVISED_TEST(test_no_hope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
