/* A fresh folder with a database path in it for each test, and findings to put there. */
#ifndef TESTS_UNIT_DB_FIXTURE_H
#define TESTS_UNIT_DB_FIXTURE_H

#include "db/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[64];
    char path[96];
    struct db_message message;
    struct db *db;
    uint64_t campaign;     /* started by fixture_open_campaign */
    struct db_shard shard; /* all of it */
};

#define KERNEL_A "0123456789abcdef0123456789abcdef"
#define KERNEL_B "fedcba9876543210fedcba9876543210"

#define assert_db_ok(fixture, call)                                                                \
    do {                                                                                           \
        int result_ = (call);                                                                      \
        if (result_)                                                                               \
            fail_msg("%s: %s", db_error_name(result_), (fixture)->message.text);                   \
    } while (0)

/* The call fails so, and the message names the file and contains `part`. */
#define assert_db_error(fixture, call, error, part)                                                \
    do {                                                                                           \
        (fixture)->message.text[0] = '\0';                                                         \
        assert_string_equal(db_error_name(call), db_error_name(error));                            \
        if (!strstr((fixture)->message.text, (fixture)->path) ||                                   \
            !strstr((fixture)->message.text, (part)))                                              \
            fail_msg("unexpected message: %s", (fixture)->message.text);                           \
    } while (0)

static inline int fixture_setup_below(void **state, const char *folder)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (!fixture)
        return -1;
    snprintf(fixture->folder, sizeof fixture->folder, "%s/simtfuzz-db-XXXXXX", folder);
    if (!mkdtemp(fixture->folder))
        return -1;
    snprintf(fixture->path, sizeof fixture->path, "%s/a.db", fixture->folder);
    *state = fixture;
    return 0;
}

static inline int fixture_setup(void **state)
{
    return fixture_setup_below(state, "/tmp");
}

/* Where synchronising costs nothing: for tests that commit often and do not ask about disks. */
static inline int fixture_setup_in_memory(void **state)
{
    return fixture_setup_below(state, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    char command[128];
    db_close(fixture->db);
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->folder);
    int result = system(command);
    free(fixture);
    return result;
}

static inline void fixture_open(struct fixture *fixture, enum db_mode mode)
{
    db_close(fixture->db);
    assert_db_ok(fixture, db_open(fixture->path, mode, &fixture->message, &fixture->db));
}

static inline void fixture_open_campaign(struct fixture *fixture)
{
    fixture_open(fixture, DB_CREATE);
    struct db_campaign campaign = {.seed = 0xfeed,
                                   .cases_target = 1000,
                                   .shard_count = 1,
                                   .options = "subjects=threads,simt",
                                   .version = "0.1.0",
                                   .jobs = 2,
                                   .started_ms = 1000};
    assert_db_ok(fixture, db_campaign_start(fixture->db, &campaign, &fixture->shard));
    fixture->campaign = fixture->shard.campaign;
    assert_db_ok(fixture, db_kernel_put(fixture->db, KERNEL_A, "kernel a"));
    assert_db_ok(fixture, db_kernel_put(fixture->db, KERNEL_B, "kernel b"));
}

/* What db_dump_content writes of the open database; to be freed. */
static inline char *fixture_content(struct fixture *fixture)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_db_ok(fixture, db_dump_content(fixture->db, out));
    fclose(out);
    return text;
}

static inline struct db_finding a_finding(const char *signature)
{
    return (struct db_finding){
        .signature = signature,
        .k1 = "simulation|value",
        .oracle = "simulation",
        .class = "value",
        .rule = "if_else",
        .observable = "shared",
        .subject = "simt",
        .raw_kernel = KERNEL_A,
        .raw_case = "seed=0xfeed case=7",
        .raw_statements = 30,
        .minimised = {.kernel = KERNEL_B,
                      .launch = "threads=2 warp=2 blocks=1",
                      .tape = "0 1 0",
                      .case_text = "seed=0xfeed case=7 minimised",
                      .tests = 48,
                      .statements = 2},
        .evidence = "{\"step\": 3}",
    };
}

/* A case that shows the finding: an example and its count. The raw key is the signature. */
static inline int db_see(struct db *db, const struct db_finding *finding,
                         const struct db_shard *shard, uint64_t case_number,
                         struct db_upserted *result)
{
    struct db_occurrence occurrence = {.campaign = shard->campaign,
                                       .case_number = case_number,
                                       .raw_key = finding->signature,
                                       .replayed = true};
    struct db_tally tally = {1, case_number, case_number};
    int error = db_example_put(db, finding, &occurrence, result);
    return error ? error : db_tally_add(db, shard, finding->signature, &tally);
}

/* Findings in each batch: a reader who sees another number sees half a batch. */
enum { BATCH = 5 };

/* Commits batch `number` of a campaign that sees something in every case. No assertions of cmocka: it may run
 * in a child. */
static inline int db_see_batch(struct db *db, const struct db_shard *shard, uint64_t number)
{
    char signature[32], hash[DB_HASH_LENGTH + 1];
    int error = db_begin(db);
    for (uint64_t i = 0; i < BATCH && !error; i++) {
        uint64_t case_number = number * BATCH + i;
        struct db_upserted result;
        snprintf(signature, sizeof signature, "signature %u", (unsigned)(case_number % 70));
        snprintf(hash, sizeof hash, "%032u", (unsigned)case_number);
        struct db_finding finding = a_finding(signature);
        finding.raw_kernel = hash;
        finding.minimised.kernel = NULL;
        error = db_kernel_put(db, hash, "a kernel of which some text is stored, again and again");
        if (!error)
            error = db_see(db, &finding, shard, case_number, &result);
    }
    struct db_counts counts = {.cases = (number + 1) * BATCH};
    if (!error)
        error = db_campaign_update(db, shard, &counts, number);
    return error ? error : db_commit(db);
}

/* For db_findings, db_campaign_get. */
static inline bool add_occurrences(void *context, const struct db_finding *finding)
{
    *(uint64_t *)context += finding->occurrences;
    return true;
}

static inline bool read_cases(void *context, const struct db_campaign *campaign)
{
    *(uint64_t *)context = campaign->counts.cases;
    return true;
}

#endif
