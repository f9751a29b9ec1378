/*
 * database_bench.c - simtfuzz-bench-database FOLDER [FINDINGS]: how fast a large database is. Makes two with
 * so many findings each (10^5), half of them common, of 10^8 cases in 16 shards; lists, asks what a report
 * needs, and merges them. CPU and wall seconds; what synchronises depends on the disk.
 */
#include "db/db.h"

#include "engine/pcg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHARDS = 16, BATCH = 1000, STRETCHES = 600, RULES = 175, REASONS = 60 };

static const uint64_t CASES = 100 * 1000 * 1000;

static struct db_message message;
static uint64_t findings = 100 * 1000;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != DB_OK) {                                                                     \
            fprintf(stderr, "%s\n", message.text);                                                 \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- time ---- */

struct clocks {
    double cpu, wall;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct clocks start_clocks(void)
{
    return (struct clocks){seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_MONOTONIC)};
}

static void report(const char *what, struct clocks start, uint64_t units, const char *unit)
{
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - start.cpu;
    double wall = seconds(CLOCK_MONOTONIC) - start.wall;
    printf("  %-52s %8.3f s CPU %8.3f s wall", what, cpu, wall);
    if (units > 0)
        printf("   %.0f %s/s", (double)units / wall, unit);
    printf("\n");
}

/* ---- a large database ---- */

/* Some 700 bytes of a kernel, as they are. */
static const char *kernel_text(uint64_t number)
{
    static char text[1200];
    size_t length = 0;
    for (uint64_t i = 0; i < 16; i++)
        length +=
            (size_t)sprintf(text + length, "    if (tid < %" PRIu64 ") { a[tid] = %" PRIx64 "; }\n",
                            pcg_splitmix(number + i) % 64, pcg_splitmix(number * 16 + i));
    return text;
}

static const char *put_kernel(struct db *db, uint64_t number)
{
    static char hash[2][DB_HASH_LENGTH + 1];
    static int next;
    next = !next;
    sprintf(hash[next], "%016" PRIx64 "%016" PRIx64, pcg_splitmix(number), pcg_splitmix(~number));
    MUST(db_kernel_put(db, hash[next], kernel_text(number)));
    return hash[next];
}

/* Finding `number` as the shard sees it first in `case_number`. */
static void put_finding(struct db *db, const struct db_shard *shard, uint64_t number,
                        uint64_t case_number)
{
    char signature[120], k1[40], key[120], evidence[400], text[200];
    snprintf(k1, sizeof k1, "oracle-%" PRIu64 "|class-%" PRIu64, number % 12, number % 7);
    snprintf(signature, sizeof signature, "%s|simt.rule_%" PRIu64 "|observable %016" PRIx64, k1,
             number % RULES, pcg_splitmix(number));
    snprintf(key, sizeof key, "%s|raw %016" PRIx64, k1, pcg_splitmix(number));
    snprintf(evidence, sizeof evidence, "{\"step\": %" PRIu64 ", \"text\": \"%0300d\"}", number, 7);
    snprintf(text, sizeof text,
             "gen=5 seed=0x7 case=%" PRIu64 " features=0xfffffff schedules=16 budget=65536 "
             "subjects=threads,simt oracles=result,race,simulation check-seed=0x%" PRIx64,
             case_number, pcg_splitmix(case_number));
    struct db_finding finding = {.signature = signature,
                                 .k1 = k1,
                                 .oracle = "oracle",
                                 .class = "class",
                                 .rule = "rule",
                                 .observable = "observable",
                                 .subject = "simt",
                                 .raw_case = text,
                                 .raw_statements = 40,
                                 .minimisation = DB_MINIMISATION_DONE,
                                 .minimised = {.launch = "threads=4 warp=4 blocks=1",
                                               .tape = "0 1 0 2 1 0",
                                               .case_text = text,
                                               .tests = 90,
                                               .statements = 1 + number % 9},
                                 .cause = k1,
                                 .signature_version = 2,
                                 .evidence = evidence};
    struct db_occurrence occurrence = {.campaign = shard->campaign,
                                       .case_number = case_number,
                                       .tapes = "0 1 0 2 1 0 3 2 1 0",
                                       .raw_key = key,
                                       .replayed = true};
    struct db_tally tally = {1 + number % 100, case_number, CASES - 1};
    struct db_upserted result;
    finding.raw_kernel = put_kernel(db, 2 * number);
    finding.minimised.kernel = put_kernel(db, 2 * number + 1);
    MUST(db_example_put(db, &finding, &occurrence, &result));
    MUST(db_tally_add(db, shard, key, &tally));
}

static void put_counters(struct db *db, const struct db_shard *shard)
{
    char name[40];
    struct db_progress progress = {CASES / SHARDS, CASES / SHARDS, CASES * 100, CASES * 10, 0};
    MUST(db_begin(db));
    for (uint64_t i = 0; i < RULES; i++) {
        snprintf(name, sizeof name, "simt.rule_%" PRIu64, i);
        MUST(db_rule_hits_add(db, shard, name, 1000 * i));
    }
    for (uint64_t i = 0; i < REASONS; i++) {
        snprintf(name, sizeof name, "reason %" PRIu64, i);
        struct db_verdict verdict = {"race", "inconclusive", i};
        MUST(db_reasons_add(db, shard, &verdict, name));
    }
    for (uint64_t i = 0; i < STRETCHES; i++) {
        struct db_statistics statistics = {i, (i + 1) * CASES / STRETCHES, progress, 0};
        struct db_verdict verdicts[] = {{"race", "agree", 9},       {"race", "inconclusive", 9},
                                        {"result", "agree", 9},     {"result", "diverge", 9},
                                        {"simulation", "agree", 9}, {"safety", "agree", 9}};
        MUST(db_statistics_add(db, shard, &statistics, verdicts, 6));
    }
    MUST(db_campaign_update(db, shard, &progress, 2000));
    MUST(db_commit(db));
    MUST(db_campaign_finish(db, shard, DB_CAMPAIGN_FINISHED, 3000));
}

/* Findings from `first` on, of the shards `low` .. */
static void make(const char *path, uint64_t first, uint64_t low)
{
    struct db *db;
    MUST(db_open(path, DB_CREATE, &message, &db));
    for (uint64_t i = low; i < low + SHARDS / 2; i++) {
        struct db_campaign campaign = {.seed = 7,
                                       .cases_target = CASES,
                                       .shard_index = i,
                                       .shard_count = SHARDS,
                                       .options = "options",
                                       .version = "1",
                                       .started_ms = 1000};
        struct db_shard shard;
        MUST(db_campaign_start(db, &campaign, &shard));
        put_counters(db, &shard);
        uint64_t end = findings / (SHARDS / 2);
        for (uint64_t n = 0; n < end; n++) {
            if (n % BATCH == 0)
                MUST(db_begin(db));
            uint64_t number = first + (i - low) * end + n;
            put_finding(db, &shard, number, pcg_splitmix(number * SHARDS + i) % CASES);
            if (n % BATCH == BATCH - 1 || n + 1 == end)
                MUST(db_commit(db));
        }
    }
    db_close(db);
}

/* ---- questions ---- */

static bool count_finding(void *context, const struct db_finding *finding)
{
    (void)finding;
    ++*(uint64_t *)context;
    return true;
}

static bool count_sighting(void *context, const struct db_sighting *sighting)
{
    (void)sighting;
    ++*(uint64_t *)context;
    return true;
}

static bool count_statistics(void *context, const struct db_statistics *statistics)
{
    (void)statistics;
    ++*(uint64_t *)context;
    return true;
}

static bool count_rule(void *context, const char *rule, uint64_t hits)
{
    (void)rule;
    (void)hits;
    ++*(uint64_t *)context;
    return true;
}

static bool count_verdict(void *context, const struct db_verdict *verdict, const char *reason)
{
    (void)verdict;
    (void)reason;
    ++*(uint64_t *)context;
    return true;
}

static void ask(const char *path)
{
    struct db *db;
    uint64_t count = 0, id;
    struct clocks start = start_clocks();
    MUST(db_open(path, DB_READONLY, &message, &db));
    report("open", start, 0, "");
    start = start_clocks();
    MUST(db_findings(db, DB_ANY_STATUS, count_finding, &count));
    report("all findings", start, count, "findings");
    start = start_clocks();
    if (db_finding_resolve(db, "oracle-3|class-5|simt.rule_9", &id) != DB_ERROR_AMBIGUOUS)
        printf("  a prefix names one finding\n");
    MUST(db_finding_get(db, findings / 2, count_finding, &count));
    report("one finding with its texts, one by a prefix", start, 0, "");
    start = start_clocks();
    MUST(db_sightings(db, count_sighting, &count));
    MUST(db_statistics(db, 1, count_statistics, &count));
    MUST(db_rule_hits(db, 0, count_rule, &count));
    MUST(db_verdicts(db, 0, count_verdict, &count));
    MUST(db_reasons(db, 0, count_verdict, &count));
    for (uint64_t n = 1; n <= 500; n++)
        MUST(db_finding_get(db, n * (findings / 500), count_finding, &count));
    report("sightings, growth, rules, reasons, 500 in full", start, 0, "");
    db_close(db);
}

static void merge(const char *what, const char *out, const char *in)
{
    struct clocks start = start_clocks();
    MUST(db_merge_files(out, &in, 1, &message));
    report(what, start, findings, "findings");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: simtfuzz-bench-database FOLDER [FINDINGS]\n", stderr);
        return 2;
    }
    char a[400], b[400], out[400];
    snprintf(a, sizeof a, "%s/bench-a.db", argv[1]);
    snprintf(b, sizeof b, "%s/bench-b.db", argv[1]);
    snprintf(out, sizeof out, "%s/bench-out.db", argv[1]);
    findings = argc > 2 ? strtoull(argv[2], NULL, 0) : findings;
    if (findings < 1000 || access(a, F_OK) == 0 || access(b, F_OK) == 0 || access(out, F_OK) == 0) {
        fputs("at least 1000 findings; bench-*.db must not be there\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("databases of %" PRIu64 " findings and %" PRIu64 " cases\n", findings, CASES);
    struct clocks start = start_clocks();
    make(a, 0, 0);
    report("written by campaigns", start, findings, "findings");
    make(b, findings / 2, SHARDS / 2);
    ask(a);
    merge("merged into a new one", out, a);
    merge("merged, half of the findings are known", out, b);
    merge("merged again: nothing is new", out, b);
    ask(out);
    return 0;
}
