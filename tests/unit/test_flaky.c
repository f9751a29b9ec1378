/*
 * Engines that do not give the same answer twice, made for the test: check_kernel is wrapped (linker
 * option --wrap), and something is added to what it says now and then, by a counter that no case knows
 * of. A campaign must say so, loudly, as findings about simtfuzz.
 */
#include "fuzz/campaign.h"
#include "fuzz/case.h"
#include "fuzz/chunk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CASES = 4 * RERUN_SHARE };

static enum { HONEST, EXTRA_DIVERGENCE, EXTRA_STEP, ANOTHER_TAPE } engine;
static uint32_t calls;

void __real_check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result);
void __wrap_check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result);

static void add_divergence(struct arena *arena, struct check_result *result, const char *evidence)
{
    struct divergence *d = ARENA_NEW(arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = "made-up",
                             .rule = RULE_SIMT_BREAK,
                             .observable = "shared memory",
                             .evidence = evidence,
                             .summary = "made up"};
    answer_diverge(&result->answers[ORACLE_RESULT], d);
}

void __wrap_check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result)
{
    __real_check_kernel(arena, kernel, options, result);
    uint32_t call = calls++;
    switch (engine) {
    case HONEST:
        break;
    case EXTRA_DIVERGENCE:
        if (call % 50 == 3)
            add_divergence(arena, result, "{}");
        break;
    case EXTRA_STEP:
        result->thread_steps += call % 2;
        break;
    case ANOTHER_TAPE:
        add_divergence(arena, result, arena_printf(arena, "{\"call\": %u}", call));
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
    if (strcmp(finding->class, "flaky") != 0 || strcmp(finding->oracle, list->seen->oracle) != 0)
        return true;
    assert_int_equal(finding->status, DB_STATUS_OPEN);
    strcpy(list->seen->signature, finding->signature);
    list->seen->flaky++;
    list->id = finding->id;
    return true;
}

static void read_findings(struct seen *seen, const char *path)
{
    struct db *db;
    struct flaky_list list = {.seen = seen};
    assert_int_equal(db_open(path, DB_READONLY, &seen->message, &db), DB_OK);
    assert_int_equal(db_findings(db, DB_ANY_STATUS, see, &list), DB_OK);
    if (list.id > 0)
        assert_int_equal(db_finding_get(db, list.id, see_whole, seen), DB_OK);
    db_close(db);
}

static struct seen hunt(int with, const char *oracle)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char folder[] = "/tmp/simtfuzz-flaky-XXXXXX", path[100];
    struct seen seen = {.oracle = oracle};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.db", folder);
    assert_int_equal(arena_init(&seen.arena, (size_t)1 << 30), 0);
    struct campaign_options options = {.seed = 7,
                                       .cases = CASES,
                                       .jobs = 1,
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

static void honest_engines_are_believed(void **state)
{
    (void)state;
    struct seen seen = hunt(HONEST, "engine");
    assert_int_equal(seen.status, 0);
    assert_int_equal(seen.summary.flaky, 0);
    assert_int_equal(seen.flaky, 0);
    arena_destroy(&seen.arena);
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
    arena_destroy(&seen.arena);
}

/* All runs show it, each with other evidence. */
static void divergences_that_differ(void **state)
{
    (void)state;
    struct seen seen = hunt(ANOTHER_TAPE, "result");
    assert_int_equal(seen.status, 3);
    assert_true(seen.flaky > 0);
    assert_non_null(strstr(seen.evidence, "differ"));
    arena_destroy(&seen.arena);
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
    arena_destroy(&seen.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_engines_are_believed),
        cmocka_unit_test(divergences_that_do_not_show_again),
        cmocka_unit_test(divergences_that_differ),
        cmocka_unit_test(cases_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
