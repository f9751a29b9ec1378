/*
 * Engines made for the test: check_kernel is wrapped (linker option --wrap), and something is added to
 * what it says. One does not give the same answer twice, by a counter that no case knows of: a campaign
 * must say so, loudly, as findings about simtfuzz. One has another finding in every case: a campaign must
 * go on all the same.
 */
#include "engine/input/input.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/chunk.h"
#include "fuzz/case/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CASES = 4 * RERUN_SHARE };

static enum engine { HONEST, EXTRA_DIVERGENCE, EXTRA_STEP, OTHER_EVIDENCE, ALWAYS_NEW } engine;
static atomic_uint calls; /* by any worker */

void __real_check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result);
void __wrap_check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result);

static void add_divergence(struct arena *arena, struct check_result *result, const char *observable,
                           const char *evidence)
{
    struct divergence *d = ARENA_NEW(arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = "made-up",
                             .rule = RULE_SIMT_BREAK,
                             .observable = observable,
                             .evidence = evidence,
                             .summary = "made up"};
    answer_diverge(&result->answers[ORACLE_RESULT], d);
}

void __wrap_check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result)
{
    __real_check_kernel(arena, kernel, options, result);
    uint32_t call = atomic_fetch_add(&calls, 1);
    switch (engine) {
    case HONEST:
        break;
    case EXTRA_DIVERGENCE:
        if (call % 50 == 3)
            add_divergence(arena, result, "shared memory", "{}");
        break;
    case EXTRA_STEP:
        result->thread_steps += call % 2;
        break;
    case OTHER_EVIDENCE:
        add_divergence(arena, result, "shared memory", arena_printf(arena, "{\"call\": %u}", call));
        break;
    case ALWAYS_NEW:
        add_divergence(arena, result, case_text_hash(arena, print_kernel(arena, kernel)), "{}");
        break;
    }
}

/* ---- campaigns ---- */

struct seen {
    struct arena arena;
    struct campaign_summary summary;
    struct db_message message;
    int status;
    const char *oracle; /* whose finding is looked at */
    uint32_t flaky;     /* findings of that class and oracle */
    char signature[200], evidence[200], cause[200];
    bool minimised;
    uint32_t findings, pending, slipped, done;
    uint64_t example_steps;
    char *content;
};

static bool see_whole(void *context, const struct db_finding *finding)
{
    struct seen *seen = context;
    strcpy(seen->evidence, finding->evidence);
    strcpy(seen->cause, finding->cause);
    seen->minimised = finding->minimisation != DB_MINIMISATION_NONE;
    return true;
}

struct flaky_list {
    struct seen *seen;
    uint64_t id;
};

static bool see(void *context, const struct db_finding *finding)
{
    struct flaky_list *list = context;
    list->seen->findings++;
    list->seen->pending += finding->minimisation == DB_MINIMISATION_PENDING;
    list->seen->slipped += finding->minimisation == DB_MINIMISATION_SLIPPED;
    list->seen->done += finding->minimisation == DB_MINIMISATION_DONE;
    if (strcmp(finding->class, "flaky") != 0 || strcmp(finding->oracle, list->seen->oracle) != 0)
        return true;
    assert_int_equal(finding->status, DB_STATUS_OPEN);
    strcpy(list->seen->signature, finding->signature);
    list->seen->flaky++;
    list->id = finding->id;
    return true;
}

static bool see_campaign(void *context, const struct db_campaign *campaign)
{
    struct seen *seen = context;
    seen->example_steps = campaign->counts.example_steps;
    return true;
}

static void read_findings(struct seen *seen, const char *path)
{
    struct db *db;
    size_t length;
    FILE *out = open_memstream(&seen->content, &length);
    struct flaky_list list = {.seen = seen};
    assert_int_equal(db_open(path, DB_READONLY, &seen->message, &db), DB_OK);
    assert_int_equal(db_findings(db, DB_ANY_STATUS, see, &list), DB_OK);
    if (list.id > 0)
        assert_int_equal(db_finding_get(db, list.id, see_whole, seen), DB_OK);
    assert_int_equal(db_campaigns(db, see_campaign, seen), DB_OK);
    assert_int_equal(db_dump_content(db, out), DB_OK);
    fclose(out);
    db_close(db);
}

static struct seen hunt_with(enum engine with, const char *oracle, uint32_t jobs,
                             uint64_t example_steps)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char folder[] = "/tmp/simtfuzz-flaky-XXXXXX", path[100];
    struct seen seen = {.oracle = oracle};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.db", folder);
    assert_int_equal(arena_init(&seen.arena, (size_t)1 << 30), 0);
    struct campaign_options options = {.seed = 7,
                                       .cases = CASES,
                                       .jobs = jobs,
                                       .example_steps = example_steps,
                                       .shard_count = 1,
                                       .gen = GEN_DEFAULTS,
                                       .check = CHECK_DEFAULTS,
                                       .db_path = path,
                                       .log = fopen("/dev/null", "w")};
    assert_non_null(options.log);
    options.check.subjects = SUBJECTS_DEFAULT;
    options.check.oracles = 1u << ORACLE_RESULT;
    options.check.schedules = 2;
    options.gen.small = true;
    engine = with;
    calls = 0;
    seen.status = campaign_run(&seen.arena, &options, &seen.summary, &seen.message);
    engine = HONEST;
    fclose(options.log);
    read_findings(&seen, path);
    for (size_t i = 0; i < 3; i++) {
        char file[120];
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        unlink(file);
    }
    rmdir(folder);
    return seen;
}

static struct seen hunt(enum engine with, const char *oracle)
{
    return hunt_with(with, oracle, 1, 0);
}

static void forget(struct seen *seen)
{
    free(seen->content);
    arena_destroy(&seen->arena);
}

static void honest_engines_are_believed(void **state)
{
    (void)state;
    struct seen seen = hunt(HONEST, "engine");
    assert_int_equal(seen.status, 0);
    assert_int_equal(seen.summary.flaky, 0);
    assert_int_equal(seen.flaky, 0);
    forget(&seen);
}

/* The campaign sees a divergence that its case, run again, does not show. */
static void divergences_that_do_not_show_again(void **state)
{
    (void)state;
    struct seen seen = hunt(EXTRA_DIVERGENCE, "result");
    assert_int_equal(seen.status, 3);
    assert_true(seen.summary.flaky > 0);
    assert_int_equal(seen.flaky, 1);
    assert_string_equal(seen.signature, "result|flaky|simt.break|shared memory");
    assert_string_equal(seen.cause, "result|flaky");
    assert_false(seen.minimised);
    assert_non_null(strstr(seen.evidence, "one run shows the divergence, another does not"));
    assert_non_null(strstr(seen.message.text, "a fault of simtfuzz"));
    forget(&seen);
}

/* All runs show it, each with other evidence. */
static void divergences_that_differ(void **state)
{
    (void)state;
    struct seen seen = hunt(OTHER_EVIDENCE, "result");
    assert_int_equal(seen.status, 3);
    assert_true(seen.flaky > 0);
    assert_non_null(strstr(seen.evidence, "differ"));
    forget(&seen);
}

/* No oracle speaks: only who runs cases twice can notice. */
static void cases_that_differ(void **state)
{
    (void)state;
    struct seen seen = hunt(EXTRA_STEP, "engine");
    assert_int_equal(seen.status, 3);
    assert_int_equal(seen.flaky, 1);
    assert_string_equal(seen.signature, "engine|flaky|second run|steps");
    assert_non_null(strstr(seen.evidence, "two runs of the case differ"));
    forget(&seen);
}

/* Every case has its own signature, and no smaller kernel shows it. What minimising may cost is a matter
 * of steps, not of time: the content is the same with any number of workers. */
static void campaigns_go_on_whatever_they_find(void **state)
{
    (void)state;
    enum { ALLOWANCE = 2000 };
    struct seen some = hunt_with(ALWAYS_NEW, "none", 1, ALLOWANCE);
    assert_int_equal(some.status, 1);
    assert_int_equal(some.summary.cases, CASES);
    assert_int_equal(some.findings, some.summary.finding_count);
    assert_true(some.findings > CASES / 2);
    assert_true(some.pending > some.findings / 4 && some.pending < some.findings);
    /* What shrinks at all shrinks to something with another observable: findings of their own. */
    assert_true(some.slipped > 0 && some.done > 0);
    uint64_t steps = some.summary.thread_steps + some.summary.warp_steps;
    assert_true(some.example_steps > ALLOWANCE);
    assert_true(some.example_steps < 4 * (ALLOWANCE + steps)); /* each is run once at least */
    struct seen others = hunt_with(ALWAYS_NEW, "none", 3, ALLOWANCE);
    assert_string_equal(others.content, some.content);
    forget(&some);
    forget(&others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_engines_are_believed),
        cmocka_unit_test(divergences_that_do_not_show_again),
        cmocka_unit_test(divergences_that_differ),
        cmocka_unit_test(cases_that_differ),
        cmocka_unit_test(campaigns_go_on_whatever_they_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
