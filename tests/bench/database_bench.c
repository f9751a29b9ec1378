/*
 * database_bench.c - simtfuzz-bench-database FOLDER [FINDINGS [SIMTFUZZ]]: how fast a large database is. Makes
 * two with so many findings each (10^5), half of them common, of 10^8 cases in 16 shards; opens, lists, asks
 * what a report needs, and merges them, beside plain SQL that inserts as much; with the program SIMTFUZZ, also
 * what its users wait for. Then the share of a campaign's time that its writer takes. CPU and wall seconds,
 * medians of several; what synchronises depends on the disk.
 */
#include "db/db.h"
#include "fuzz/campaign/campaign.h"

#include "engine/base/pcg.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHARDS = 16, BATCH = 1000, STRETCHES = 600, RULES = 175, REASONS = 60 };
enum { TIMES = 5, CAMPAIGN_CASES = 2048, CAMPAIGN_JOBS = 2 };

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

static double child_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static struct clocks start_clocks(void)
{
    return (struct clocks){seconds(CLOCK_PROCESS_CPUTIME_ID) + child_seconds(),
                           seconds(CLOCK_MONOTONIC)};
}

static struct clocks stop_clocks(struct clocks start)
{
    struct clocks now = start_clocks();
    return (struct clocks){now.cpu - start.cpu, now.wall - start.wall};
}

static void print_clocks(const char *what, struct clocks took, uint64_t units, const char *unit)
{
    printf("  %-56s %8.3f s CPU %8.3f s wall", what, took.cpu, took.wall);
    if (units > 0)
        printf("   %.0f %s a second of CPU", (double)units / took.cpu, unit);
    printf("\n");
}

static void report(const char *what, struct clocks start, uint64_t units, const char *unit)
{
    print_clocks(what, stop_clocks(start), units, unit);
}

static int compare_clocks(const void *a, const void *b)
{
    const struct clocks *x = a, *y = b;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* The median by CPU time. */
static struct clocks median(struct clocks *clocks, size_t count)
{
    qsort(clocks, count, sizeof *clocks, compare_clocks);
    return clocks[count / 2];
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
    struct db_counts counts = {CASES / SHARDS, CASES / SHARDS, CASES * 100, CASES * 10, 0};
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
        struct db_statistics statistics = {i, (i + 1) * CASES / STRETCHES, counts, 0};
        struct db_verdict verdicts[] = {{"race", "agree", 9},       {"race", "inconclusive", 9},
                                        {"result", "agree", 9},     {"result", "diverge", 9},
                                        {"simulation", "agree", 9}, {"safety", "agree", 9}};
        MUST(db_statistics_add(db, shard, &statistics, verdicts, 6));
    }
    MUST(db_campaign_update(db, shard, &counts, 2000));
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

/* For writing: after a clean end, and while the log of a writer is there, which costs a full check. */
static void open_it(const char *path)
{
    struct db *db, *other;
    struct clocks start = start_clocks();
    MUST(db_open(path, DB_READWRITE, &message, &db));
    report("open for writing", start, 0, "");
    MUST(db_suppress(db, "nothing", "", 1));
    start = start_clocks();
    MUST(db_open(path, DB_READWRITE, &message, &other));
    report("open for writing while another writes: full check", start, 0, "");
    db_close(other);
    db_close(db);
}

static void ask(const char *path)
{
    struct db *db;
    uint64_t count = 0, id;
    struct clocks start = start_clocks();
    MUST(db_open(path, DB_READONLY, &message, &db));
    report("open for reading", start, 0, "");
    start = start_clocks();
    struct db_selection first = {.limit = 100};
    MUST(db_findings_select(db, &first, count_finding, &count));
    report("the first 100 of the list", start, 0, "");
    start = start_clocks();
    MUST(db_findings(db, DB_ANY_STATUS, count_finding, &count));
    report("all findings", start, count - 100, "findings");
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

static void run_program(const char *what, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void run_program(const char *what, const char *format, ...)
{
    char command[1200];
    struct clocks clocks[TIMES];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    for (size_t i = 0; i < TIMES; i++) {
        struct clocks start = start_clocks();
        int status = system(command);
        clocks[i] = stop_clocks(start);
        if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
            fprintf(stderr, "%s: failed\n", command);
            exit(3);
        }
    }
    print_clocks(what, median(clocks, TIMES), 0, "");
}

/* ---- merging ---- */

static void remove_database(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[420];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

static struct clocks merge(const char *out, const char *in)
{
    struct clocks start = start_clocks();
    MUST(db_merge_files(out, &in, 1, &message));
    return stop_clocks(start);
}

static void merge_all(const char *out, const char *a, const char *b)
{
    struct clocks fresh[TIMES], half[TIMES], again[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        remove_database(out);
        fresh[i] = merge(out, a);
        half[i] = merge(out, b);
        again[i] = merge(out, b);
    }
    print_clocks("merged into a new one", median(fresh, TIMES), findings, "findings");
    print_clocks("merged, half of the findings are known", median(half, TIMES), findings,
                 "findings");
    print_clocks("merged again: nothing is new", median(again, TIMES), findings, "findings");
}

/* ---- a floor ---- */

/* What the second merge adds, as plain rows in their order into an empty file that needs no log: tables without any
 * constraint, then the indices. Nothing is matched, joined, derived or checked. */
static const char *const plain_tables[] = {
    "CREATE TABLE kernels (id INTEGER PRIMARY KEY, hash TEXT, text TEXT);"
    "CREATE TABLE raw_keys (id INTEGER PRIMARY KEY, key TEXT);"
    "CREATE TABLE findings AS SELECT * FROM source.findings WHERE 0;"
    "CREATE TABLE examples AS SELECT * FROM source.examples WHERE 0;"
    "CREATE TABLE tallies (campaign, raw_key, shard, occurrences, first_case, last_case, first_ms,"
    " last_ms, PRIMARY KEY (campaign, raw_key, shard)) WITHOUT ROWID;"
    "CREATE TABLE sightings (finding, campaign, first_case, last_case, occurrences, first_ms,"
    " last_ms, PRIMARY KEY (finding, campaign)) WITHOUT ROWID",
    "INSERT INTO kernels SELECT * FROM source.kernels NOT INDEXED"
    " WHERE id > (SELECT max(id) / 2 FROM source.kernels)",
    "INSERT INTO raw_keys SELECT * FROM source.raw_keys NOT INDEXED"
    " WHERE id > (SELECT max(id) / 2 FROM source.raw_keys)",
    "INSERT INTO findings SELECT * FROM source.findings NOT INDEXED"
    " WHERE id > (SELECT max(id) / 2 FROM source.findings)",
    "INSERT INTO examples SELECT * FROM source.examples NOT INDEXED",
    "INSERT INTO tallies SELECT * FROM source.tallies",
    "INSERT INTO sightings SELECT * FROM source.sightings",
    NULL,
};

static const char *const plain_indices[] = {
    "CREATE INDEX i1 ON kernels (hash)",
    "CREATE INDEX i2 ON raw_keys (key)",
    "CREATE INDEX i3 ON findings (signature)",
    "CREATE INDEX i4 ON findings (cause, minimised_statements)",
    "CREATE INDEX i5 ON examples (campaign, raw_key, case_number)",
    "CREATE INDEX i6 ON examples (finding, campaign, case_number)",
    "CREATE INDEX i7 ON examples (raw_kernel)",
    "CREATE INDEX i8 ON examples (minimised_kernel)",
    "CREATE INDEX i9 ON sightings (campaign, first_case)",
    "COMMIT",
    NULL,
};

static void run_all(sqlite3 *sqlite, const char *const *steps)
{
    for (; *steps; steps++)
        if (sqlite3_exec(sqlite, *steps, NULL, NULL, NULL) != SQLITE_OK) {
            fprintf(stderr, "%s: %s\n", *steps, sqlite3_errmsg(sqlite));
            exit(3);
        }
}

static void insert_plainly(const char *out, const char *from)
{
    struct clocks tables[TIMES], all[TIMES];
    char *attach = sqlite3_mprintf("ATTACH %Q AS source", from);
    const char *const begin[] = {"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF;"
                                 "PRAGMA synchronous = OFF; PRAGMA cache_size = -65536",
                                 attach, "BEGIN", NULL};
    for (size_t i = 0; i < TIMES; i++) {
        sqlite3 *sqlite;
        remove_database(out);
        struct clocks start = start_clocks();
        if (sqlite3_open(out, &sqlite) != SQLITE_OK)
            exit(3);
        run_all(sqlite, begin);
        run_all(sqlite, plain_tables);
        tables[i] = stop_clocks(start);
        run_all(sqlite, plain_indices);
        sqlite3_close(sqlite);
        all[i] = stop_clocks(start);
    }
    sqlite3_free(attach);
    print_clocks("floor: what that adds, into tables without constraints", median(tables, TIMES), 0,
                 "");
    print_clocks("floor: the same, with the indices built behind it", median(all, TIMES), findings,
                 "findings");
    remove_database(out);
}

/* ---- the writer of a campaign ---- */

/* The thread that calls campaign_run takes what the workers found and writes it: all that it does counts. */
static void hunt(const char *path)
{
    double shares[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        struct arena arena;
        struct campaign_summary summary = {0};
        struct campaign_options options = {.seed = 7 + i,
                                           .cases = CAMPAIGN_CASES,
                                           .jobs = CAMPAIGN_JOBS,
                                           .shard_count = 1,
                                           .gen = GEN_DEFAULTS,
                                           .check = CHECK_DEFAULTS,
                                           .db_path = path,
                                           .quiet = true,
                                           .log = stderr};
        remove_database(path);
        if (arena_init(&arena, (size_t)1 << 30) != 0)
            exit(3);
        double thread = seconds(CLOCK_THREAD_CPUTIME_ID), all = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (campaign_run(&arena, &options, &summary, &message) > 1) {
            fprintf(stderr, "%s\n", message.text);
            exit(3);
        }
        thread = seconds(CLOCK_THREAD_CPUTIME_ID) - thread;
        all = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
        shares[i] = 100 * thread / all;
        printf("  campaign of %" PRIu64 " cases, %" PRIu32 " findings: %.2f of %.1f s CPU are the"
               " writer's: %.2f %%\n",
               summary.cases, summary.finding_count, thread, all, shares[i]);
        arena_destroy(&arena);
    }
    remove_database(path);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: simtfuzz-bench-database FOLDER [FINDINGS [SIMTFUZZ]]\n", stderr);
        return 2;
    }
    char a[400], b[400], out[400], campaign[400];
    snprintf(a, sizeof a, "%s/bench-a.db", argv[1]);
    snprintf(b, sizeof b, "%s/bench-b.db", argv[1]);
    snprintf(out, sizeof out, "%s/bench-out.db", argv[1]);
    snprintf(campaign, sizeof campaign, "%s/bench-campaign.db", argv[1]);
    findings = argc > 2 ? strtoull(argv[2], NULL, 0) : findings;
    if (findings < 1000 || access(a, F_OK) == 0 || access(b, F_OK) == 0 || access(out, F_OK) == 0) {
        fputs("at least 1000 findings; bench-*.db must not be there\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("campaigns\n");
    hunt(campaign);
    printf("databases of %" PRIu64 " findings and %" PRIu64 " cases\n", findings, CASES);
    struct clocks start = start_clocks();
    make(a, 0, 0);
    report("written by campaigns", start, findings, "findings");
    make(b, findings / 2, SHARDS / 2);
    open_it(a);
    ask(a);
    if (argc > 3) {
        run_program("simtfuzz triage list", "'%s' triage list --db '%s' >/dev/null", argv[3], a);
        run_program("simtfuzz status", "'%s' status --db '%s' >/dev/null", argv[3], a);
        run_program("simtfuzz report --html --traces 0",
                    "'%s' report --html /dev/null --traces 0 --db '%s' >/dev/null", argv[3], a);
    }
    merge_all(out, a, b);
    insert_plainly(out, b);
    return 0;
}
