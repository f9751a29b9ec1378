#include "db/schema.h"

#include "db/db.h"

#include <stdio.h>

static const char *const version_1[] = {
    /* One hunt. Everything here is equal for equal seed, options and cases. */
    "CREATE TABLE campaigns ("
    " id INTEGER PRIMARY KEY,"
    " seed TEXT NOT NULL CHECK (seed GLOB '0x[0-9a-f]*'),"
    " cases_target INTEGER NOT NULL,"
    " shard_index INTEGER NOT NULL,"
    " shard_count INTEGER NOT NULL CHECK (shard_index < shard_count),"
    " options TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),"
    " cases INTEGER NOT NULL DEFAULT 0,"
    " kernels INTEGER NOT NULL DEFAULT 0,"
    " thread_steps INTEGER NOT NULL DEFAULT 0,"
    " warp_steps INTEGER NOT NULL DEFAULT 0"
    ") STRICT",
    /* One process working on a campaign: all that may differ between two equal runs is here. */
    "CREATE TABLE sessions ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " number INTEGER NOT NULL,"
    " jobs INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL,"
    " seen_ms INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, number)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE kernels ("
    " hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 32 AND hash NOT GLOB '*[^0-9a-f]*'),"
    " text TEXT NOT NULL"
    ") STRICT",
    /* Narrow, so that 10^5 of them list quickly and counting one up is cheap; long texts are in
     * examples. */
    "CREATE TABLE findings ("
    " id INTEGER PRIMARY KEY,"
    " signature TEXT NOT NULL UNIQUE CHECK (signature <> ''),"
    " k1 TEXT NOT NULL,"
    " oracle TEXT NOT NULL,"
    " class TEXT NOT NULL,"
    " rule TEXT NOT NULL,"
    " observable TEXT NOT NULL,"
    " subject TEXT NOT NULL,"
    " status TEXT NOT NULL CHECK (status IN ('open', 'known', 'fixed', 'invalid')),"
    " reference TEXT NOT NULL,"
    " note TEXT NOT NULL DEFAULT '',"
    " raw_statements INTEGER NOT NULL,"
    " minimised_statements INTEGER NOT NULL,"
    " minimise_tests INTEGER NOT NULL,"
    " first_campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " first_case INTEGER NOT NULL,"
    " last_campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " last_case INTEGER NOT NULL,"
    " occurrences INTEGER NOT NULL DEFAULT 0"
    ") STRICT",
    "CREATE TABLE examples ("
    " finding INTEGER PRIMARY KEY REFERENCES findings (id),"
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " case_number INTEGER NOT NULL,"
    " raw_kernel TEXT REFERENCES kernels (hash),"
    " minimised_kernel TEXT REFERENCES kernels (hash),"
    " minimised_launch TEXT NOT NULL,"
    " minimised_tape TEXT NOT NULL,"
    " minimised_case TEXT NOT NULL,"
    " raw_case TEXT NOT NULL,"
    " evidence TEXT NOT NULL CHECK (evidence = '' OR json_valid(evidence))"
    ") STRICT",
    "CREATE INDEX examples_raw_kernel ON examples (raw_kernel)",
    "CREATE INDEX examples_minimised_kernel ON examples (minimised_kernel)",
    /* A finding in a campaign. findings.occurrences is the sum of these. */
    "CREATE TABLE sightings ("
    " finding INTEGER NOT NULL REFERENCES findings (id),"
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " first_case INTEGER NOT NULL,"
    " last_case INTEGER NOT NULL,"
    " occurrences INTEGER NOT NULL,"
    " PRIMARY KEY (finding, campaign)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE occurrences ("
    " finding INTEGER NOT NULL REFERENCES findings (id),"
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " case_number INTEGER NOT NULL,"
    " replayed INTEGER NOT NULL CHECK (replayed IN (0, 1)),"
    " raw_key TEXT NOT NULL,"
    " kernel TEXT REFERENCES kernels (hash),"
    " case_text TEXT NOT NULL,"
    " tapes TEXT NOT NULL,"
    " PRIMARY KEY (finding, campaign, case_number)"
    ") STRICT",
    "CREATE INDEX occurrences_kernel ON occurrences (kernel)",
    "CREATE TABLE suppressions ("
    " signature TEXT NOT NULL PRIMARY KEY CHECK (signature <> ''),"
    " note TEXT NOT NULL"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE statistics ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " number INTEGER NOT NULL,"
    " cases INTEGER NOT NULL,"
    " kernels INTEGER NOT NULL,"
    " thread_steps INTEGER NOT NULL,"
    " warp_steps INTEGER NOT NULL,"
    " findings INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, number)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE statistics_verdicts ("
    " campaign INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " oracle TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " count INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, number, oracle, verdict),"
    " FOREIGN KEY (campaign, number) REFERENCES statistics (campaign, number)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE rule_hits ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " rule TEXT NOT NULL,"
    " hits INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, rule)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE verdicts ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " oracle TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " count INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, oracle, verdict)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE reasons ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " oracle TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " count INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, oracle, verdict, reason)"
    ") STRICT, WITHOUT ROWID",
    /* For people. */
    "CREATE VIEW v_campaigns AS"
    " SELECT c.id, c.state, c.seed, c.cases, c.cases_target, c.kernels, c.thread_steps,"
    "  c.warp_steps, c.shard_index || '/' || c.shard_count AS shard, max(s.jobs) AS jobs,"
    "  datetime(min(s.started_ms) / 1000, 'unixepoch') AS started,"
    "  datetime(max(s.seen_ms) / 1000, 'unixepoch') AS seen,"
    "  count(*) AS sessions, sum(s.seen_ms - s.started_ms) / 1000.0 AS seconds,"
    "  (SELECT count(*) FROM sightings g WHERE g.campaign = c.id) AS findings,"
    "  c.version, c.options"
    " FROM campaigns c JOIN sessions s ON s.campaign = c.id GROUP BY c.id",
    "CREATE VIEW v_findings AS"
    " SELECT f.id, f.status,"
    "  EXISTS (SELECT 1 FROM suppressions p WHERE p.signature = f.signature) AS suppressed,"
    "  f.signature, f.oracle, f.class, f.rule, f.observable, f.subject, f.reference,"
    "  f.occurrences, f.first_campaign, f.first_case, f.last_campaign, f.last_case,"
    "  f.raw_statements, f.minimised_statements, f.minimise_tests,"
    "  m.text AS minimised_text, e.minimised_launch, e.minimised_tape, e.minimised_case,"
    "  r.text AS raw_text, e.raw_case, e.evidence, f.note"
    " FROM findings f JOIN examples e ON e.finding = f.id"
    "  LEFT JOIN kernels m ON m.hash = e.minimised_kernel"
    "  LEFT JOIN kernels r ON r.hash = e.raw_kernel",
    "CREATE VIEW v_occurrences AS"
    " SELECT f.id AS finding, f.signature, o.campaign, o.case_number, o.replayed, o.raw_key,"
    "  o.case_text, o.tapes, k.text AS kernel_text"
    " FROM occurrences o JOIN findings f ON f.id = o.finding"
    "  LEFT JOIN kernels k ON k.hash = o.kernel",
    "CREATE VIEW v_rules AS"
    " SELECT rule, sum(hits) AS hits, count(*) AS campaigns FROM rule_hits GROUP BY rule",
    "CREATE VIEW v_verdicts AS"
    " SELECT oracle, verdict, sum(count) AS count FROM verdicts GROUP BY oracle, verdict",
    "CREATE VIEW v_reasons AS"
    " SELECT oracle, verdict, reason, sum(count) AS count FROM reasons"
    " GROUP BY oracle, verdict, reason",
    "CREATE VIEW v_growth AS"
    " SELECT campaign, number, cases, kernels, thread_steps, warp_steps, findings"
    " FROM statistics",
    NULL,
};

/* What campaigns against outside implementations counted; what is said of a finding of theirs is its evidence. */
static const char *const version_3[] = {
    /* How often something happened to one: "kernels", "crash", "cpu us", "seen KNOWN", ... */
    "CREATE TABLE outside (campaign INTEGER NOT NULL, subject TEXT NOT NULL,"
    " version TEXT NOT NULL, what TEXT NOT NULL, shard INTEGER NOT NULL,"
    " count INTEGER NOT NULL," /* maximum */
    " PRIMARY KEY (campaign, subject, version, what, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    "CREATE VIEW v_outside AS SELECT subject, version,"
    " sum(iif(what = 'kernels', count, 0)) AS kernels, sum(iif(what = 'agrees', count, 0)) AS "
    "agrees,"
    " sum(iif(what = 'wrong-value', count, 0)) AS wrong_value, sum(iif(what = 'crash', count, 0)) "
    "AS crash,"
    " sum(iif(what = 'hang', count, 0)) AS hang, sum(iif(what = 'compile-error', count, 0)) AS "
    "compile_error,"
    " sum(iif(what = 'run-error', count, 0)) AS run_error, sum(iif(what = 'unknown', count, 0)) AS "
    "unknown,"
    " sum(iif(what = 'known', count, 0)) AS known, sum(iif(what = 'unconfirmed', count, 0)) AS "
    "unconfirmed,"
    " sum(iif(what = 'cpu us', count, 0)) AS cpu_us, count(DISTINCT campaign) AS campaigns"
    " FROM outside GROUP BY subject, version",
    "CREATE VIEW v_outside_findings AS SELECT f.id, f.status, f.class AS kind,"
    " json_extract(e.evidence, '$.implementation') AS implementation, json_extract(e.evidence, "
    "'$.version') AS version,"
    " json_extract(e.evidence, '$.options') AS options, json_extract(e.evidence, '$.knobs') AS "
    "knobs,"
    " json_extract(e.evidence, '$.vanishes') AS vanishes, json_extract(e.evidence, '$.second') AS "
    "second,"
    " f.signature, f.reference, f.occurrences, m.text AS minimised_text, f.note"
    " FROM findings f JOIN examples e ON e.id = f.example"
    " LEFT JOIN kernels m ON m.id = e.minimised_kernel WHERE f.oracle = 'outside'",
    NULL,
};

static const char *const *const steps[] = {version_1, schema_version_2, version_3};

_Static_assert(sizeof steps / sizeof steps[0] == DB_SCHEMA_VERSION, "one step a version");

const struct schema db_schema = {
    .application_id = 0x53494d54, /* "SIMT" */
    .version = DB_SCHEMA_VERSION,
    .steps = steps,
};

int schema_read_pragma(sqlite3 *sqlite, const char *name, int *value)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA %s", name);
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *value = sqlite3_column_int(statement, 0);
    return sqlite3_finalize(statement);
}

/* Inside the transaction. */
static int run_steps(sqlite3 *sqlite, const struct schema *schema)
{
    int version;
    int code = schema_read_pragma(sqlite, "user_version", &version);
    if (code != SQLITE_OK || version >= schema->version)
        return code;
    for (; version < schema->version; version++) {
        for (const char *const *sql = schema->steps[version]; *sql && code == SQLITE_OK; sql++)
            code = sqlite3_exec(sqlite, *sql, NULL, NULL, NULL);
    }
    if (code != SQLITE_OK)
        return code;
    char stamp[96];
    snprintf(stamp, sizeof stamp, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             schema->application_id, schema->version);
    return sqlite3_exec(sqlite, stamp, NULL, NULL, NULL);
}

int schema_upgrade(sqlite3 *sqlite, const struct schema *schema)
{
    int code = sqlite3_exec(sqlite, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return code;
    code = run_steps(sqlite, schema);
    if (code == SQLITE_OK)
        code = sqlite3_exec(sqlite, "COMMIT", NULL, NULL, NULL);
    if (code != SQLITE_OK && !sqlite3_get_autocommit(sqlite)) {
        /* The first failure is the one to tell; a rollback cannot make things worse. */
        int keep = sqlite3_extended_errcode(sqlite);
        sqlite3_exec(sqlite, "ROLLBACK", NULL, NULL, NULL);
        return keep == SQLITE_OK ? code : keep;
    }
    return code;
}
