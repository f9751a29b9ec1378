/*
 * Cases at which the engine crashes, hangs or is killed: each costs itself and nothing else, whatever runs
 * beside it. The faults are planted between the worker and its case (--wrap=chunk_run_case, example_make).
 */
#include "tests/unit/shared/campaign_fixture.h"

#include "engine/base/invariant.h"
#include "fuzz/campaign/pool.h"
#include "fuzz/case/example.h"
#include "fuzz/supervise/supervisor.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CASES = 150,
    PLANS_MAX = 200,
    TIMEOUT_MS = 3000 /* what no case takes, however loaded the machine is */
};

enum fault {
    FAULT_SEGV,
    FAULT_INVARIANT,
    FAULT_HANG,
    FAULT_KILL, /* the process, by the case */
    FAULT_ONCE,
    FAULT_MINIMISING,
    FAULT_INTERRUPT, /* once: asks the watching process to end */
    FAULT_KILL_ALL,  /* once: kills both */
};

struct plan {
    uint64_t number;
    enum fault fault;
    bool done;
};

/* Shared with the campaign's processes. */
static struct shared {
    struct plan plans[PLANS_MAX];
    uint32_t count, deaths;
    struct campaign_summary summary;
    struct db_message message;
} * shared;

/* ---- planted faults ---- */

bool __real_chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number);
bool __wrap_chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number);
void __real_example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const char *signature,
                         const struct reduce_options *options, struct example *example);
void __wrap_example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const char *signature,
                         const struct reduce_options *options, struct example *example);

static struct plan *planned(uint64_t number, bool minimising)
{
    for (uint32_t i = 0; i < shared->count; i++)
        if (shared->plans[i].number == number &&
            (shared->plans[i].fault == FAULT_MINIMISING) == minimising)
            return &shared->plans[i];
    return NULL;
}

static void fall(struct plan *plan)
{
    static volatile int turns, one = 1;
    bool done = plan->done;
    plan->done = true;
    switch (plan->fault) {
    case FAULT_INVARIANT:
        INVARIANT(turns > one || turns < 0);
        break;
    case FAULT_HANG:
        while (one) /* costs nobody's time */
            pause();
        break;
    case FAULT_KILL:
        kill(getpid(), SIGKILL);
        break;
    case FAULT_ONCE:
        if (!done)
            raise(SIGSEGV);
        break;
    case FAULT_INTERRUPT:
        if (!done)
            kill(getppid(), SIGINT);
        break;
    case FAULT_KILL_ALL:
        if (!done)
            kill(getppid(), SIGKILL);
        while (!done) /* the death of the one is that of the other */
            pause();
        break;
    case FAULT_SEGV:
    case FAULT_MINIMISING:
        raise(SIGSEGV);
        break;
    }
}

bool __wrap_chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number)
{
    struct plan *plan = planned(number, false);
    atomic_store_explicit(&maker->slot->phase, WATCH_CHECKING, memory_order_relaxed);
    if (plan)
        fall(plan);
    return __real_chunk_run_case(maker, chunk, number);
}

void __wrap_example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const char *signature,
                         const struct reduce_options *options, struct example *example)
{
    const struct reduce_so_far so_far = {.size = 1};
    struct plan *plan = planned(c->number, true);
    if (plan && options->go_on(options->go_on_context, &so_far))
        fall(plan);
    __real_example_make(arena, scratch, c, text, signature, options, example);
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
    const struct supervisor supervisor = {.case_timeout_ms = TIMEOUT_MS, .log = place->log};
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

/* Says where two contents part. */
static void assert_same(const char *a, const char *b)
{
    size_t at = 0, line = 0;
    for (; a[at] && a[at] == b[at]; at++)
        line = a[at] == '\n' ? at + 1 : line;
    if (a[at] != b[at])
        fail_msg("contents differ:\n%.*s\n%.*s", (int)strcspn(a + line, "\n"), a + line,
                 (int)strcspn(b + line, "\n"), b + line);
}

/* Runs with one worker and with several: the same exit status and the same content, which is returned. */
static char *run_both(struct place *place, struct campaign_options *options, int status)
{
    char *first = NULL, *second = NULL;
    for (options->jobs = 1; options->jobs <= 4; options->jobs += 3) {
        for (uint32_t i = 0; i < shared->count; i++)
            shared->plans[i].done = false;
        assert_int_equal(supervised(place, options), status);
        *(first ? &second : &first) = content(place->db);
        place_remove_db(place);
    }
    assert_same(first, second);
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
    assert_same(watched, alone);
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

/* In a process of its own, which leaves a worker behind that hangs; returns its exit status. */
static int unwatched(struct place *place, const struct campaign_options *options)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(campaign_run(&place->arena, options, &shared->summary, &shared->message));
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the stats file says that stands there. */
static uint64_t told_in(const char *path, const char *key)
{
    static char text[1 << 14];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtoull(at + strlen(key), NULL, 10);
}

/* Before the first chunk of cases is complete - it never will be -, what is shown counts each case. */
static void test_shown_before_a_chunk(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    char stats[1024];
    snprintf(stats, sizeof stats, "%s.stats", place->db);
    plan(30, FAULT_HANG);
    options.jobs = 1;
    options.time_ms = 4000;
    options.case_timeout_ms = TIMEOUT_MS;
    options.stats_path = stats;
    assert_int_equal(unwatched(place, &options), 3);
    assert_int_equal(told_in(stats, "\"cases\": "), 30);
    assert_true(told_in(stats, "\"thread_steps\": ") > 0);
    assert_true(told_in(stats, "\"rules_fired\": ") > 0);
    unlink(stats);
}

/* With nobody to watch over it: the campaign gives up once its time is over, and what hangs, the first case of all, is
 * a finding. */
static void test_hang_alone(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    plan(0, FAULT_HANG);
    options.time_ms = 500;
    options.case_timeout_ms = 300;
    assert_int_equal(unwatched(place, &options), 3);
    char *text = content(place->db);
    assert_true(has_finding(text, "engine|hang|timeout|checking"));
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), 1);
    free(text);
}

/* Somebody ends a campaign in the chunk of a case that is known to be fatal: the finding is stored, though the chunk is
 * not. */
static void test_interrupted_behind_a_crash(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    options.jobs = 1;
    plan(13, FAULT_SEGV);
    plan(14, FAULT_INTERRUPT);
    plan(15, FAULT_HANG);
    char log[4096] = "";
    FILE *kept = place->log;
    place->log = fmemopen(log, sizeof log, "w");
    assert_non_null(place->log);
    (void)supervised(place, &options);
    fclose(place->log);
    place->log = kept;
    assert_non_null(strstr(log, "a worker was checking case 15 for "));
    assert_non_null(strstr(log, " s without a sign of life"));
    assert_true(shared->summary.interrupted);
    char *text = content(place->db);
    assert_true(has_finding(text, "engine|crash|SIGSEGV|checking"));
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
    char *text = content(place->db);
    assert_true(has_finding(text, "engine|crash|SIGSEGV|checking"));
    /* The chunk before them may be stored after some of them, once, which starts the count again; and other workers may
       have been in a case that is fatal, too, when the last one died. */
    int skipped = (int)count_of(text, "\"table\":\"skipped\"");
    assert_in_range(skipped, SUPERVISOR_CRASHES_IN_A_ROW, 2 * SUPERVISOR_CRASHES_IN_A_ROW + 1);
    assert_true(strstr(text, "\"kernel\"") != NULL);
    free(text);
    shared->count = 0;
    options.resume = (struct db_shard){.campaign = 1};
    assert_int_equal(supervised(place, &options), 1); /* of the crashes, which are open findings */
    assert_int_equal(shared->summary.cases, CASES);
}

/* From the first chunk on: nothing else is in the database, and going on does not count them twice. */
static void test_no_hope_at_all(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    options.jobs = 1;
    for (uint64_t number = 9; number < 60; number++)
        plan(number, FAULT_INVARIANT);
    assert_int_equal(supervised(place, &options), 3);
    char *text = content(place->db);
    assert_int_equal(count_of(text, "\"table\":\"skipped\""), SUPERVISOR_CRASHES_IN_A_ROW);
    assert_int_equal(count_of(text, "\"table\":\"finding\""), 1);
    free(text);
    options.resume = (struct db_shard){.campaign = 1};
    shared->count = 15; /* of those that are stored; with 20 it would be given up again */
    assert_int_equal(supervised(place, &options), 1);
    text = content(place->db);
    assert_int_equal(shared->summary.cases, CASES);
    assert_int_equal(shared->summary.skipped, 20);
    assert_non_null(strstr(text, "\"raw_key\":\"engine|crash|"));
    assert_int_equal(count_of(text, "\"occurrences\":20,"), 2); /* finding, tally: not 35 */
    free(text);
}

/* ---- resuming ---- */

static bool keep_state(void *context, const struct db_campaign *campaign)
{
    *(enum db_campaign_state *)context = campaign->state;
    return true;
}

static enum db_campaign_state stored_state(struct place *place)
{
    struct db *db;
    struct db_message message;
    enum db_campaign_state state = DB_CAMPAIGN_FINISHED;
    assert_int_equal(db_open(place->db, DB_READONLY, &message, &db), DB_OK);
    assert_int_equal(db_campaign_get(db, 1, keep_state, &state), DB_OK);
    db_close(db);
    return state;
}

/* In a process of its own, which a fault may kill. The status of waitpid. */
static int supervised_apart(struct place *place, const struct campaign_options *options)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid == 0)
        _exit(supervised(place, options));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* A second interruption, by another worker before the first one has taken effect, ends it at once. */
static bool killed_as_planned(int status)
{
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGINT);
}

/* Until it is finished. How often it had to be resumed. */
static uint32_t resume_until_finished(struct place *place, struct campaign_options options)
{
    uint32_t resumed = 0;
    int status = supervised_apart(place, &options);
    assert_true(WIFEXITED(status) || killed_as_planned(status));
    options.resume = (struct db_shard){.campaign = 1};
    for (; stored_state(place) != DB_CAMPAIGN_FINISHED; resumed++) {
        assert_true(resumed < 20);
        status = supervised_apart(place, &options);
        assert_true(WIFEXITED(status) ? WEXITSTATUS(status) < 3 : killed_as_planned(status));
    }
    return resumed;
}

static void check_resumed(struct place *place, struct campaign_options *options,
                          uint32_t interruptions)
{
    struct shared plans = *shared;
    uint32_t kept = 0;
    char *whole = NULL;
    /* What is fatal is part of the campaign; what only interrupts it is not. */
    for (uint32_t i = 0; i < plans.count; i++)
        if (plans.plans[i].fault != FAULT_INTERRUPT && plans.plans[i].fault != FAULT_KILL_ALL)
            shared->plans[kept++] = plans.plans[i];
    shared->count = kept;
    assert_in_range(supervised(place, options), 0, 1);
    struct campaign_summary wanted = shared->summary;
    whole = content(place->db);
    for (options->jobs = 1; options->jobs <= 4; options->jobs += 3) {
        place_remove_db(place);
        *shared = plans;
        assert_in_range(resume_until_finished(place, *options), 1, interruptions);
        char *resumed = content(place->db);
        assert_same(whole, resumed);
        free(resumed);
        /* What the last process says is about all of them. */
        assert_int_equal(shared->summary.cases, wanted.cases);
        assert_int_equal(shared->summary.skipped, wanted.skipped);
        assert_int_equal(shared->summary.occurrences, wanted.occurrences);
        assert_int_equal(shared->summary.finding_count, wanted.finding_count);
        assert_int_equal(shared->summary.reason_count, wanted.reason_count);
        assert_memory_equal(shared->summary.hits, wanted.hits, sizeof wanted.hits);
        assert_memory_equal(shared->summary.verdicts, wanted.verdicts, sizeof wanted.verdicts);
    }
    free(whole);
}

static void test_resumed(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place);
    options.cases = 400;
    plan(5, FAULT_INTERRUPT); /* while the first finding is minimised, or before */
    plan(130, FAULT_INTERRUPT);
    plan(140, FAULT_KILL_ALL);
    plan(141, FAULT_SEGV);
    plan(200, FAULT_KILL_ALL);
    plan(300, FAULT_INTERRUPT);
    check_resumed(place, &options, 5);
}

/* A shard of a campaign, one of several in its database. */
static void test_resumed_shard(void **state)
{
    struct place *place = *state;
    struct campaign_options options = supervised_campaign(place), other = options;
    options.cases = other.cases = 600;
    options.shard_count = other.shard_count = 2;
    other.shard_index = 1;
    plan(300, FAULT_KILL_ALL);
    assert_int_equal(supervised(place, &other), 0);
    uint64_t cases = shared->summary.cases;
    supervised_apart(place, &options);
    options.resume = (struct db_shard){.campaign = 1, .index = 0};
    assert_int_equal(supervised(place, &options), 0);
    assert_int_equal(cases + shared->summary.cases, 600);
    char *resumed = content(place->db);
    place_remove_db(place);
    shared->count = 0;
    options.resume.campaign = 0;
    assert_int_equal(supervised(place, &other), 0);
    assert_int_equal(supervised(place, &options), 0);
    char *whole = content(place->db);
    assert_same(whole, resumed);
    free(whole);
    free(resumed);
}

/* Who is not the last to have begun stores nothing more. */
static void test_two_processes(void **state)
{
    struct place *place = *state;
    struct db *first, *second;
    struct db_message message;
    struct db_shard shard;
    struct db_campaign campaign = {.shard_count = 1, .options = "", .version = ""};
    struct db_counts counts = {.cases = 64};
    assert_int_equal(db_open(place->db, DB_CREATE, &message, &first), DB_OK);
    assert_int_equal(db_campaign_start(first, &campaign, &shard), DB_OK);
    assert_int_equal(db_campaign_update(first, &shard, &counts, 1), DB_OK);
    assert_int_equal(db_open(place->db, DB_READWRITE, &message, &second), DB_OK);
    assert_int_equal(db_campaign_resume(second, &shard, 1, 2), DB_OK);
    counts.cases = 128;
    assert_int_equal(db_campaign_update(first, &shard, &counts, 3), DB_ERROR_LOCKED);
    assert_non_null(strstr(message.text, "was resumed by another process"));
    assert_int_equal(db_campaign_finish(first, &shard, DB_CAMPAIGN_FINISHED, 3), DB_ERROR_LOCKED);
    assert_int_equal(db_campaign_update(second, &shard, &counts, 3), DB_OK);
    db_close(first);
    db_close(second);
}

int main(void)
{
#define SUPERVISED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_shared, tear_down_shared)
    const struct CMUnitTest tests[] = {
        SUPERVISED_TEST(test_nothing_happens),
        SUPERVISED_TEST(test_crashes),
        SUPERVISED_TEST(test_hang),
        SUPERVISED_TEST(test_hang_alone),
        SUPERVISED_TEST(test_shown_before_a_chunk),
        SUPERVISED_TEST(test_interrupted_behind_a_crash),
        SUPERVISED_TEST(test_killed_by_a_case),
        SUPERVISED_TEST(test_flaky),
        SUPERVISED_TEST(test_fatal_minimisation),
        SUPERVISED_TEST(test_no_hope),
        SUPERVISED_TEST(test_no_hope_at_all),
        SUPERVISED_TEST(test_resumed),
        SUPERVISED_TEST(test_resumed_shard),
        SUPERVISED_TEST(test_two_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
