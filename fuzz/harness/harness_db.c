/*
 * harness_db.c - libFuzzer: a damaged database. An SQLite file (its beginning says so) is taken as it is;
 * other bytes are changes of a small database of ours: place (3 bytes), length (1 byte), so many bytes,
 * again and again; length 0 cuts the file off at the place.
 *
 * Opening, every query, a few writes: no bytes crash them, each ends with success or an error and a message;
 * what cannot be opened stays as it is, byte for byte.
 */
#include "db/db.h"
#include "engine/base/invariant.h"
#include "fuzz/harness/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

#define KERNEL "0123456789abcdef0123456789abcdef"

static char path[64];
static uint8_t model[FILE_MAX], bytes[FILE_MAX], after[FILE_MAX];
static size_t model_size;

/* ---- files ---- */

static void remove_files(void)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", path, tails[i]);
        unlink(name);
    }
}

static size_t read_bytes(uint8_t *into)
{
    int fd = open(path, O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, into, FILE_MAX);
    if (fd >= 0)
        close(fd);
    INVARIANT(size >= 0);
    return (size_t)size;
}

static void write_bytes(const uint8_t *data, size_t size)
{
    remove_files();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    INVARIANT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

/* ---- the model ---- */

static void fill(struct db *db)
{
    struct db_campaign campaign = {.seed = 7, .cases_target = 9, .shard_count = 1, .jobs = 1};
    struct db_finding finding = {.signature = "oracle|class|rule|store",
                                 .k1 = "oracle|class",
                                 .oracle = "oracle",
                                 .class = "class",
                                 .rule = "rule",
                                 .observable = "store",
                                 .raw_kernel = KERNEL,
                                 .raw_case = "seed=0x1 case=1",
                                 .evidence = "{}"};
    struct db_counts counts = {.cases = 4, .kernels = 4, .thread_steps = 50};
    struct db_statistics statistics = {.number = 0, .end_case = 64, .counts = counts};
    struct db_verdict verdict = {.oracle = "result", .verdict = "agree", .count = 3};
    struct db_verdict unknown = {.oracle = "race", .verdict = "inconclusive", .count = 1};
    struct db_tally tally = {.occurrences = 3, .first_case = 1, .last_case = 3};
    struct db_upserted result;
    struct db_shard shard;
    INVARIANT(db_campaign_start(db, &campaign, &shard) == DB_OK && db_begin(db) == DB_OK);
    INVARIANT(db_kernel_put(db, KERNEL, "kernel k() {}") == DB_OK);
    struct db_occurrence occurrence = {
        .campaign = shard.campaign, .case_number = 1, .raw_key = "oracle|class|rule|raw"};
    INVARIANT(db_example_put(db, &finding, &occurrence, &result) == DB_OK);
    INVARIANT(db_tally_add(db, &shard, occurrence.raw_key, &tally) == DB_OK);
    INVARIANT(db_rule_hits_add(db, &shard, "simt.if", 12) == DB_OK);
    INVARIANT(db_verdicts_add(db, &shard, &verdict) == DB_OK);
    INVARIANT(db_reasons_add(db, &shard, &unknown, "budget") == DB_OK);
    INVARIANT(db_statistics_add(db, &shard, &statistics, &verdict, 1) == DB_OK);
    INVARIANT(db_suppress(db, "other|class|rule|store", "noise", 0) == DB_OK);
    INVARIANT(db_suppress(db, "other|*", "", 1) == DB_OK);
    INVARIANT(db_campaign_update(db, &shard, &counts, 1) == DB_OK && db_commit(db) == DB_OK);
}

static void make_model(void)
{
    struct db_message message;
    struct db *db;
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/simtfuzz-harness-%ld.db", folder, (long)getpid());
    atexit(remove_files);
    remove_files();
    INVARIANT(db_open(path, DB_CREATE, &message, &db) == DB_OK);
    fill(db);
    db_close(db); /* the last one to leave brings the log into the file */
    model_size = read_bytes(model);
}

/* ---- an input ---- */

static size_t build(const uint8_t *data, size_t size)
{
    static const char magic[] = "SQLite format 3";
    if (size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0 && size <= FILE_MAX) {
        memcpy(bytes, data, size);
        return size;
    }
    size_t total = model_size;
    memcpy(bytes, model, total);
    for (size_t i = 0; i + 4 <= size;) {
        size_t at = (size_t)(data[i] | data[i + 1] << 8 | data[i + 2] << 16) % (total + 1);
        size_t length = data[i + 3];
        i += 4;
        if (length == 0)
            total = at;
        for (size_t k = 0; k < length && i < size && at + k < total; k++)
            bytes[at + k] = data[i++];
    }
    return total;
}

/* ---- every query ---- */

static bool use_finding(void *context, const struct db_finding *finding)
{
    *(uint64_t *)context = finding->id;
    INVARIANT(finding->signature && finding->note && finding->evidence);
    return true;
}

static bool use_occurrence(void *context, const struct db_occurrence *occurrence)
{
    (void)context;
    INVARIANT(occurrence->case_text && occurrence->tapes);
    return true;
}

static bool use_campaign(void *context, const struct db_campaign *campaign)
{
    *(uint64_t *)context = campaign->id;
    INVARIANT(campaign->options && campaign->version);
    return true;
}

static bool use_statistics(void *context, const struct db_statistics *statistics)
{
    (void)context;
    return statistics->number < UINT64_MAX;
}

static bool use_rule(void *context, const char *rule, uint64_t hits)
{
    (void)context;
    return strlen(rule) + hits > 0;
}

static bool use_verdict(void *context, const struct db_verdict *verdict, const char *reason)
{
    (void)context;
    return strlen(verdict->oracle) + strlen(reason) > 0;
}

static bool use_tally(void *context, const char *raw_key, const struct db_tally *tally)
{
    (void)context;
    return strlen(raw_key) + tally->occurrences > 0;
}

static bool use_bisection(void *context, const struct db_bisection *bisection)
{
    (void)context;
    return strlen(bisection->form) + strlen(bisection->before) > 0;
}

static bool use_suppression(void *context, const struct db_suppression *suppression)
{
    (void)context;
    return strlen(suppression->signature) + strlen(suppression->note) > 0;
}

static void use_text(void *context, const char *text, size_t length)
{
    *(uint64_t *)context = strnlen(text, length);
}

/* A query fails with a message, or not at all. */
#define ASK(call)                                                                                  \
    do {                                                                                           \
        message->text[0] = '\0';                                                                   \
        int result_ = (call);                                                                      \
        INVARIANT(result_ == DB_OK || (result_ < 0 && message->text[0]));                          \
    } while (0)

static void query(struct db *db, struct db_message *message)
{
    uint64_t finding = 1, campaign = 1, ignored;
    bool suppressed;
    FILE *null = fopen("/dev/null", "w");
    ASK(db_findings(db, DB_ANY_STATUS, use_finding, &finding));
    ASK(db_findings_select(db,
                           &(struct db_selection){.states = DB_STATE_BIT(DB_STATE_OPEN),
                                                  .words = (const char *[]){"k"},
                                                  .word_count = 1,
                                                  .fresh = true},
                           use_finding, &ignored));
    ASK(db_findings_count(db, &(struct db_selection){.since_ms = 1}, &ignored));
    ASK(db_bisections(db, 0, use_bisection, NULL));
    ASK(db_campaigns(db, use_campaign, &campaign));
    ASK(db_campaign_findings(db, campaign, DB_ANY_STATUS, use_finding, &ignored));
    ASK(db_finding_resolve(db, "oracle|class", &ignored));
    ASK(db_finding_get(db, finding, use_finding, &ignored));
    ASK(db_occurrences(db, finding, use_occurrence, NULL));
    ASK(db_kernel_get(db, KERNEL, use_text, &ignored));
    ASK(db_campaign_get(db, campaign, use_campaign, &ignored));
    ASK(db_shards(db, campaign, use_campaign, &ignored));
    ASK(db_tallies(db, &(struct db_shard){.campaign = campaign}, use_tally, NULL));
    ASK(db_rule_hits(db, campaign, use_rule, NULL));
    ASK(db_verdicts(db, 0, use_verdict, NULL));
    ASK(db_reasons(db, campaign, use_verdict, NULL));
    ASK(db_statistics(db, campaign, use_statistics, NULL));
    ASK(db_suppressions(db, use_suppression, NULL));
    ASK(db_is_suppressed(db, "other|class|rule|store", &suppressed));
    if (null) {
        ASK(db_dump_content(db, null));
        fclose(null);
    }
}

static void change(struct db *db, struct db_message *message)
{
    struct db_counts counts = {.cases = 9, .kernels = 9};
    struct db_shard shard = {.campaign = 1};
    ASK(db_finding_note_set(db, 1, "a note"));
    ASK(db_finding_status_set(db, 1, DB_STATUS_FIXED, "A-1"));
    message->text[0] = '\0';
    if (db_begin(db) != DB_OK)
        return;
    if (db_kernel_put(db, "ffffffffffffffffffffffffffffffff", "kernel l() {}") != DB_OK ||
        db_campaign_update(db, &shard, &counts, 2) != DB_OK || db_commit(db) != DB_OK) {
        INVARIANT(message->text[0]);
        db_rollback(db);
    }
}

static void open_and_ask(enum db_mode mode, size_t size)
{
    struct db_message message = {.text = ""};
    struct db *db;
    int error = db_open(path, mode, &message, &db);
    if (error != DB_OK) {
        INVARIANT(error < 0 && message.text[0] && !db);
        INVARIANT(read_bytes(after) == size && memcmp(after, bytes, size) == 0);
        return;
    }
    db_lock_wait(db, 0);
    query(db, &message);
    if (mode != DB_READONLY)
        change(db, &message);
    db_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (model_size == 0)
        make_model();
    size_t total = build(data, size);
    write_bytes(bytes, total);
    open_and_ask(DB_READONLY, total);
    open_and_ask(DB_READWRITE, total);
    return 0;
}
