/*
 * The step from version 1 to version 2. docs/database.md explains tables, columns and views; change both
 * together.
 *
 * Version 2 stores facts, each of which is a maximum, a minimum or a union, so that merging databases is
 * commutative, associative and idempotent; sightings and most columns of findings are derived from them
 * (derive.c). A campaign may be split in shards, each of which has its facts.
 */
#include "db/schema.h"
#include "db/state.h"

#include <stddef.h>

/* The tables of version 1 step aside. Their views and indices go first: they would follow. */
#define SET_ASIDE(table) "ALTER TABLE " table " RENAME TO old_" table

const char *const schema_version_2[] = {
    "DROP VIEW v_campaigns",
    "DROP VIEW v_findings",
    "DROP VIEW v_occurrences",
    "DROP VIEW v_rules",
    "DROP VIEW v_verdicts",
    "DROP VIEW v_reasons",
    "DROP VIEW v_growth",
    "DROP INDEX examples_raw_kernel",
    "DROP INDEX examples_minimised_kernel",
    "DROP INDEX occurrences_kernel",
    SET_ASIDE("campaigns"),
    SET_ASIDE("sessions"),
    SET_ASIDE("kernels"),
    SET_ASIDE("findings"),
    SET_ASIDE("examples"),
    SET_ASIDE("sightings"),
    SET_ASIDE("occurrences"),
    SET_ASIDE("suppressions"),
    SET_ASIDE("statistics"),
    SET_ASIDE("statistics_verdicts"),
    SET_ASIDE("rule_hits"),
    SET_ASIDE("verdicts"),
    SET_ASIDE("reasons"),

    /* ---- campaigns */

    /* One hunt: what decides its cases, and `run`, which counts the hunts of a database that are equal
     * in all that. */
    "CREATE TABLE campaigns ("
    " id INTEGER PRIMARY KEY,"
    " seed TEXT NOT NULL CHECK (seed GLOB '0x[0-9a-f]*'),"
    " options TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " shard_count INTEGER NOT NULL CHECK (shard_count > 0),"
    " run INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL," /* minimum */
    " config TEXT NOT NULL,"        /* maximum */
    " UNIQUE (seed, options, version, shard_count, run)"
    ") STRICT",
    /* How far a shard got. */
    "CREATE TABLE shards ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " shard INTEGER NOT NULL CHECK (shard >= 0),"
    " cases_target INTEGER NOT NULL," /* maximum, and 0 is the largest */
    " state TEXT NOT NULL CHECK (state IN ('running', 'interrupted', 'finished')),"
    " cases INTEGER NOT NULL DEFAULT 0," /* this and the rest: maxima */
    " kernels INTEGER NOT NULL DEFAULT 0,"
    " thread_steps INTEGER NOT NULL DEFAULT 0,"
    " warp_steps INTEGER NOT NULL DEFAULT 0,"
    /* spent on running findings again and minimising them: a part of the budget for that */
    " example_steps INTEGER NOT NULL DEFAULT 0,"
    " PRIMARY KEY (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    /* One process working on a shard: all that may differ between two equal runs is here. */
    "CREATE TABLE sessions ("
    " id INTEGER PRIMARY KEY,"
    " campaign INTEGER NOT NULL,"
    " shard INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL,"
    " pid INTEGER NOT NULL,"
    " host TEXT NOT NULL,"
    " jobs INTEGER NOT NULL,"    /* maximum */
    " seen_ms INTEGER NOT NULL," /* maximum */
    " UNIQUE (campaign, shard, started_ms, pid, host),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT",
    /* Additive over shards and numbers; number n ends before case end_case. */
    "CREATE TABLE statistics ("
    " campaign INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " shard INTEGER NOT NULL,"
    " end_case INTEGER NOT NULL,"
    " cases INTEGER NOT NULL," /* this and the rest: maxima */
    " kernels INTEGER NOT NULL,"
    " thread_steps INTEGER NOT NULL,"
    " warp_steps INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, number, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    "CREATE INDEX statistics_end ON statistics (campaign, end_case)",
    "CREATE TABLE statistics_verdicts ("
    " campaign INTEGER NOT NULL,"
    " number INTEGER NOT NULL,"
    " oracle TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " shard INTEGER NOT NULL,"
    " count INTEGER NOT NULL," /* maximum */
    " PRIMARY KEY (campaign, number, oracle, verdict, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE rule_hits ("
    " campaign INTEGER NOT NULL,"
    " rule TEXT NOT NULL,"
    " shard INTEGER NOT NULL,"
    " hits INTEGER NOT NULL," /* maximum */
    " PRIMARY KEY (campaign, rule, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE verdicts ("
    " campaign INTEGER NOT NULL,"
    " oracle TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " shard INTEGER NOT NULL,"
    " count INTEGER NOT NULL," /* maximum */
    " PRIMARY KEY (campaign, oracle, verdict, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    "CREATE TABLE reasons ("
    " campaign INTEGER NOT NULL,"
    " oracle TEXT NOT NULL,"
    " verdict TEXT NOT NULL,"
    " reason TEXT NOT NULL,"
    " shard INTEGER NOT NULL,"
    " count INTEGER NOT NULL," /* maximum */
    " PRIMARY KEY (campaign, oracle, verdict, reason, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    /* Cases that a campaign leaves out since the engine crashed or hung there. */
    "CREATE TABLE skipped ("
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " case_number INTEGER NOT NULL,"
    " why TEXT NOT NULL CHECK (why IN ('crash', 'hang'))," /* with detail: maximum */
    " detail TEXT NOT NULL,"
    " PRIMARY KEY (campaign, case_number)"
    ") STRICT, WITHOUT ROWID",

    /* ---- findings */

    "CREATE TABLE kernels ("
    " id INTEGER PRIMARY KEY,"
    " hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 32 AND hash NOT GLOB '*[^0-9a-f]*'),"
    " text TEXT NOT NULL"
    ") STRICT",
    /* Signatures before minimisation. */
    "CREATE TABLE raw_keys (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE) STRICT",
    /* How often a shard saw a raw key. */
    "CREATE TABLE tallies ("
    " campaign INTEGER NOT NULL,"
    " raw_key INTEGER NOT NULL REFERENCES raw_keys (id),"
    " shard INTEGER NOT NULL,"
    " occurrences INTEGER NOT NULL," /* maximum */
    " first_case INTEGER NOT NULL,"  /* minimum */
    " last_case INTEGER NOT NULL,"   /* maximum */
    " first_ms INTEGER NOT NULL,"    /* minimum */
    " last_ms INTEGER NOT NULL,"     /* maximum */
    " PRIMARY KEY (campaign, raw_key, shard),"
    " FOREIGN KEY (campaign, shard) REFERENCES shards (campaign, shard)"
    ") STRICT, WITHOUT ROWID",
    /* Narrow, so that 10^5 of them list quickly; long texts are in examples. Status and reference, and the
     * note, are what the later change made them (status_ms, note_ms: Unix time; 0: nobody said anything,
     * the status is that of the example). Behind them: derived. */
    "CREATE TABLE findings ("
    " id INTEGER PRIMARY KEY,"
    " signature TEXT NOT NULL UNIQUE CHECK (signature <> ''),"
    " k1 TEXT NOT NULL,"
    " oracle TEXT NOT NULL,"
    " class TEXT NOT NULL,"
    " rule TEXT NOT NULL,"
    " observable TEXT NOT NULL,"
    " status TEXT NOT NULL CHECK (status IN ('open', 'known', 'fixed', 'invalid')),"
    " reference TEXT NOT NULL,"
    " status_ms INTEGER NOT NULL DEFAULT 0,"
    " note TEXT NOT NULL DEFAULT '',"
    " note_ms INTEGER NOT NULL DEFAULT 0,"
    " example INTEGER," /* NULL: only people's words are left */
    " cause TEXT NOT NULL DEFAULT '',"
    " minimisation TEXT NOT NULL DEFAULT 'none',"
    " signature_version INTEGER NOT NULL DEFAULT 1,"
    " subject TEXT NOT NULL DEFAULT '',"
    " raw_statements INTEGER NOT NULL DEFAULT 0,"
    " minimised_statements INTEGER NOT NULL DEFAULT 0,"
    " minimise_tests INTEGER NOT NULL DEFAULT 0,"
    " first_campaign INTEGER REFERENCES campaigns (id),"
    " first_case INTEGER NOT NULL DEFAULT 0,"
    " last_campaign INTEGER REFERENCES campaigns (id),"
    " last_case INTEGER NOT NULL DEFAULT 0,"
    " occurrences INTEGER NOT NULL DEFAULT 0,"
    " first_seen_ms INTEGER NOT NULL DEFAULT 0,"
    " last_seen_ms INTEGER NOT NULL DEFAULT 0"
    ") STRICT",
    /* The lowest cases of a raw key in a campaign, with the finding that each was filed under. */
    "CREATE TABLE examples ("
    " id INTEGER PRIMARY KEY,"
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " raw_key INTEGER NOT NULL REFERENCES raw_keys (id),"
    " case_number INTEGER NOT NULL,"
    " finding INTEGER NOT NULL REFERENCES findings (id),"
    " stored_ms INTEGER NOT NULL," /* minimum */
    " replayed INTEGER NOT NULL CHECK (replayed IN (0, 1)),"
    " reference TEXT NOT NULL," /* by which the program knows it; '' = it does not */
    /* Which bug it shows: findings with one cause are taken for one (docs/signatures.md). */
    " cause TEXT NOT NULL,"
    /* pending: there was no time yet; slipped: what it becomes has another signature */
    " minimisation TEXT NOT NULL"
    "  CHECK (minimisation IN ('none', 'done', 'pending', 'slipped')),"
    " signature_version INTEGER NOT NULL,"
    " raw_statements INTEGER NOT NULL,"
    " minimised_statements INTEGER NOT NULL,"
    " minimise_tests INTEGER NOT NULL,"
    " raw_kernel INTEGER REFERENCES kernels (id),"
    " minimised_kernel INTEGER REFERENCES kernels (id),"
    " subject TEXT NOT NULL,"
    " raw_case TEXT NOT NULL,"
    " tapes TEXT NOT NULL,"
    " minimised_launch TEXT NOT NULL,"
    " minimised_tape TEXT NOT NULL,"
    " minimised_case TEXT NOT NULL,"
    " evidence TEXT NOT NULL CHECK (evidence = '' OR json_valid(evidence)),"
    " UNIQUE (campaign, raw_key, case_number)"
    ") STRICT",
    /* Derived: a finding in a campaign. */
    "CREATE TABLE sightings ("
    " finding INTEGER NOT NULL REFERENCES findings (id),"
    " campaign INTEGER NOT NULL REFERENCES campaigns (id),"
    " first_case INTEGER NOT NULL,"
    " last_case INTEGER NOT NULL,"
    " occurrences INTEGER NOT NULL,"
    " first_ms INTEGER NOT NULL,"
    " last_ms INTEGER NOT NULL,"
    " PRIMARY KEY (finding, campaign)"
    ") STRICT, WITHOUT ROWID",
    "CREATE INDEX sightings_campaign ON sightings (campaign, first_case)",
    /* The later change wins. One that was taken back stays as a row, or a merge would bring it back. */
    "CREATE TABLE suppressions ("
    " signature TEXT NOT NULL PRIMARY KEY CHECK (signature <> ''),"
    " note TEXT NOT NULL,"
    " expires_ms INTEGER NOT NULL," /* 0: never */
    " removed INTEGER NOT NULL CHECK (removed IN (0, 1)),"
    " changed_ms INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID",

    "CREATE INDEX suppressions_patterns ON suppressions (signature)"
    " WHERE signature GLOB '*[*]*'",
    /* What `triage bisect` found out about a form of a finding; the later one wins. */
    "CREATE TABLE bisections ("
    " finding INTEGER NOT NULL REFERENCES findings (id),"
    " form TEXT NOT NULL CHECK (form IN ('raw', 'minimised')),"
    " answer TEXT NOT NULL,"
    " build_before TEXT NOT NULL,"
    " build_after TEXT NOT NULL,"
    " unclear INTEGER NOT NULL,"
    " builds INTEGER NOT NULL,"
    " asked INTEGER NOT NULL,"
    " silent INTEGER NOT NULL,"
    " changes INTEGER NOT NULL,"
    " changed_ms INTEGER NOT NULL,"
    " PRIMARY KEY (finding, form)"
    ") STRICT, WITHOUT ROWID",

    /* ---- what version 1 had. Its shards took single cases in turn: no shard of today goes on with them
     * (their options say so). */

    "INSERT INTO campaigns"
    " SELECT id, seed, shown, version, shard_count,"
    "  row_number() OVER (PARTITION BY seed, shown, version, shard_count ORDER BY id) - 1,"
    "  coalesce((SELECT min(started_ms) FROM old_sessions s WHERE s.campaign = o.id), 0), ''"
    " FROM (SELECT *, iif(shard_count > 1, options || ' shards=cases', options) AS shown"
    "  FROM old_campaigns) o ORDER BY id",
    "INSERT INTO shards"
    " SELECT id, shard_index, cases_target, state, kernels, kernels, thread_steps, warp_steps, 0"
    " FROM old_campaigns ORDER BY id",
    "INSERT INTO sessions (campaign, shard, started_ms, pid, host, jobs, seen_ms)"
    " SELECT s.campaign, c.shard_index, s.started_ms, 0, '', max(s.jobs), max(s.seen_ms)"
    " FROM old_sessions s JOIN old_campaigns c ON c.id = s.campaign"
    " GROUP BY s.campaign, s.started_ms ORDER BY s.campaign, s.number",
    "INSERT INTO statistics"
    " SELECT s.campaign, s.number, c.shard_index, s.cases, s.kernels - lag(s.kernels, 1, 0) OVER w,"
    "  s.kernels - lag(s.kernels, 1, 0) OVER w,"
    "  s.thread_steps - lag(s.thread_steps, 1, 0) OVER w,"
    "  s.warp_steps - lag(s.warp_steps, 1, 0) OVER w"
    " FROM old_statistics s JOIN old_campaigns c ON c.id = s.campaign"
    " WINDOW w AS (PARTITION BY s.campaign ORDER BY s.number)",
    "INSERT INTO statistics_verdicts"
    " SELECT s.campaign, s.number, s.oracle, s.verdict, c.shard_index,"
    "  s.count - lag(s.count, 1, 0) OVER w"
    " FROM old_statistics_verdicts s JOIN old_campaigns c ON c.id = s.campaign"
    " WINDOW w AS (PARTITION BY s.campaign, s.oracle, s.verdict ORDER BY s.number)",
    "INSERT INTO rule_hits SELECT r.campaign, r.rule, c.shard_index, r.hits"
    " FROM old_rule_hits r JOIN old_campaigns c ON c.id = r.campaign",
    "INSERT INTO verdicts SELECT v.campaign, v.oracle, v.verdict, c.shard_index, v.count"
    " FROM old_verdicts v JOIN old_campaigns c ON c.id = v.campaign",
    "INSERT INTO reasons SELECT r.campaign, r.oracle, r.verdict, r.reason, c.shard_index, r.count"
    " FROM old_reasons r JOIN old_campaigns c ON c.id = r.campaign",
    "INSERT INTO kernels (hash, text) SELECT hash, text FROM old_kernels",
    "INSERT INTO raw_keys (key) SELECT DISTINCT raw_key FROM old_occurrences ORDER BY raw_key",
    /* Version 1 did not say who set a status: 'known' is what a program says itself. */
    "INSERT INTO findings (id, signature, k1, oracle, class, rule, observable, status, reference,"
    " status_ms, note, note_ms, subject, raw_statements, minimised_statements, minimise_tests,"
    " minimisation, first_campaign, first_case, last_campaign, last_case, occurrences)"
    " SELECT id, signature, k1, oracle, class, rule, observable, status, reference,"
    "  status IN ('fixed', 'invalid') OR (status = 'open') <> (reference = ''), note, note <> '',"
    "  subject, raw_statements, minimised_statements, minimise_tests,"
    "  iif(minimised_statements > 0, 'done', 'none'), first_campaign, first_case, last_campaign, "
    "last_case, occurrences FROM old_findings",
    /* Only the example of a finding has a minimised form there, the others are what was seen. A case that
     * one finding has twice, by two raw keys, had one row. */
    "INSERT OR IGNORE INTO examples (campaign, raw_key, case_number, finding, stored_ms, replayed,"
    " reference, cause, minimisation, signature_version, raw_statements, minimised_statements, "
    "minimise_tests, raw_kernel, "
    "minimised_kernel, subject,"
    " raw_case, tapes, minimised_launch, minimised_tape, minimised_case, evidence)"
    " SELECT o.campaign, k.id, o.case_number, o.finding, 0, o.replayed,"
    "  iif(f.status = 'known', f.reference, ''), '',"
    "  iif(e.minimised_kernel IS NULL, 'none', 'done'), 1,"
    "  iif(e.finding IS NULL, 0, f.raw_statements),"
    "  iif(e.finding IS NULL, 0, f.minimised_statements),"
    "  iif(e.finding IS NULL, 0, f.minimise_tests),"
    "  (SELECT id FROM kernels WHERE hash = o.kernel),"
    "  (SELECT id FROM kernels WHERE hash = e.minimised_kernel), f.subject, o.case_text, o.tapes,"
    "  coalesce(e.minimised_launch, ''), coalesce(e.minimised_tape, ''),"
    "  coalesce(e.minimised_case, ''), coalesce(e.evidence, '')"
    " FROM old_occurrences o JOIN old_findings f ON f.id = o.finding"
    "  JOIN raw_keys k ON k.key = o.raw_key"
    "  LEFT JOIN old_examples e ON e.finding = o.finding AND e.campaign = o.campaign"
    "   AND e.case_number = o.case_number"
    " ORDER BY o.campaign, o.case_number",
    /* A finding's example that is no occurrence: none of the programs wrote that, but it must not vanish. */
    "INSERT OR IGNORE INTO raw_keys (key) SELECT signature FROM old_findings f"
    " WHERE NOT EXISTS (SELECT 1 FROM examples x JOIN old_examples e ON e.finding = x.finding"
    "  AND e.campaign = x.campaign AND e.case_number = x.case_number WHERE x.finding = f.id)",
    "INSERT OR IGNORE INTO examples (campaign, raw_key, case_number, finding, stored_ms, replayed,"
    " reference, cause, minimisation, signature_version, raw_statements, minimised_statements, "
    "minimise_tests, raw_kernel,"
    " minimised_kernel, subject, raw_case, tapes, minimised_launch, minimised_tape,"
    " minimised_case, evidence)"
    " SELECT e.campaign, k.id, e.case_number, f.id, 0, 1, iif(f.status = 'known', f.reference, ''),"
    "  '', iif(e.minimised_kernel IS NULL, 'none', 'done'), 1, f.raw_statements, "
    "f.minimised_statements, f.minimise_tests,"
    "  (SELECT id FROM kernels WHERE hash = e.raw_kernel),"
    "  (SELECT id FROM kernels WHERE hash = e.minimised_kernel), f.subject, e.raw_case, '',"
    "  e.minimised_launch, e.minimised_tape, e.minimised_case, e.evidence"
    " FROM old_findings f JOIN old_examples e ON e.finding = f.id"
    "  JOIN raw_keys k ON k.key = f.signature"
    " WHERE NOT EXISTS (SELECT 1 FROM examples x WHERE x.finding = f.id"
    "  AND x.campaign = e.campaign AND x.case_number = e.case_number)",
    "INSERT INTO sightings SELECT finding, campaign, first_case, last_case, occurrences, 0, 0"
    " FROM old_sightings",
    /* Version 1 counted by finding. What its examples do not account for is the tally of the finding's
     * lowest raw key. */
    "INSERT INTO tallies"
    " SELECT x.campaign, x.raw_key, c.shard_index, count(*) + coalesce("
    "   (SELECT g.occurrences - (SELECT count(*) FROM examples y WHERE y.finding = g.finding"
    "     AND y.campaign = g.campaign)"
    "    FROM sightings g WHERE g.campaign = x.campaign AND x.raw_key ="
    "     (SELECT z.raw_key FROM examples z WHERE z.finding = g.finding"
    "      AND z.campaign = g.campaign ORDER BY z.case_number, z.raw_key LIMIT 1)"
    "     AND g.finding = (SELECT z.finding FROM examples z WHERE z.campaign = x.campaign"
    "      AND z.raw_key = x.raw_key ORDER BY z.case_number LIMIT 1)), 0),"
    "  min(x.case_number), max(max(x.case_number), coalesce("
    "   (SELECT g.last_case FROM sightings g WHERE g.campaign = x.campaign AND g.finding ="
    "     (SELECT z.finding FROM examples z WHERE z.campaign = x.campaign"
    "      AND z.raw_key = x.raw_key ORDER BY z.case_number LIMIT 1)), 0)), 0, 0"
    " FROM examples x JOIN old_campaigns c ON c.id = x.campaign GROUP BY x.campaign, x.raw_key",
    "UPDATE findings SET example = (SELECT x.id FROM examples x JOIN raw_keys k ON k.id = x.raw_key"
    " WHERE x.finding = findings.id AND x.campaign = first_campaign"
    " ORDER BY x.case_number, k.key LIMIT 1)",
    "INSERT INTO suppressions SELECT signature, note, 0, 0, 0 FROM old_suppressions",
    "DROP TABLE old_reasons",
    "DROP TABLE old_verdicts",
    "DROP TABLE old_rule_hits",
    "DROP TABLE old_statistics_verdicts",
    "DROP TABLE old_statistics",
    "DROP TABLE old_suppressions",
    "DROP TABLE old_occurrences",
    "DROP TABLE old_sightings",
    "DROP TABLE old_examples",
    "DROP TABLE old_findings",
    "DROP TABLE old_kernels",
    "DROP TABLE old_sessions",
    "DROP TABLE old_campaigns",
    "CREATE INDEX findings_cause ON findings (cause, minimised_statements)",
    "CREATE INDEX examples_finding ON examples (finding, campaign, case_number)",
    "CREATE INDEX examples_raw_kernel ON examples (raw_kernel)",
    "CREATE INDEX examples_minimised_kernel ON examples (minimised_kernel)",

    /* ---- for people */

    "CREATE VIEW v_campaigns AS"
    " SELECT c.id,"
    "  CASE WHEN sum(h.state = 'running') > 0 THEN 'running'"
    "   WHEN sum(h.state = 'interrupted') > 0 THEN 'interrupted' ELSE 'finished' END AS state,"
    "  c.seed, sum(h.cases) AS cases,"
    "  iif(min(h.cases_target) = 0, 0, max(h.cases_target)) AS cases_target,"
    "  sum(h.kernels) AS kernels, sum(h.thread_steps) AS thread_steps,"
    "  sum(h.warp_steps) AS warp_steps,"
    "  iif(count(*) = 1, min(h.shard) || '/', count(*) || ' of ') || c.shard_count AS shard,"
    "  (SELECT max(jobs) FROM sessions s WHERE s.campaign = c.id) AS jobs,"
    "  datetime(c.started_ms / 1000, 'unixepoch') AS started,"
    "  (SELECT datetime(max(seen_ms) / 1000, 'unixepoch') FROM sessions s"
    "   WHERE s.campaign = c.id) AS seen,"
    "  (SELECT count(*) FROM sessions s WHERE s.campaign = c.id) AS sessions,"
    "  (SELECT sum(seen_ms - started_ms) / 1000.0 FROM sessions s WHERE s.campaign = c.id)"
    "   AS seconds,"
    "  (SELECT count(*) FROM sightings g WHERE g.campaign = c.id) AS findings,"
    "  c.version, c.options, c.config"
    " FROM campaigns c JOIN shards h ON h.campaign = c.id GROUP BY c.id",
    "CREATE VIEW v_shards AS"
    " SELECT campaign, shard, state, cases, cases_target, kernels, thread_steps, warp_steps"
    " FROM shards",
    "CREATE VIEW v_suppressions AS"
    " SELECT p.signature, p.note,"
    "  iif(p.expires_ms = 0, '', datetime(p.expires_ms / 1000, 'unixepoch')) AS expires,"
    "  p.expires_ms = 0 OR p.expires_ms > 1000 * strftime('%s', 'now') AS active,"
    "  " SQL_P_IS_PATTERN " AS pattern,"
    "  iif(" SQL_P_IS_PATTERN ","
    "   (SELECT count(*) FROM findings f WHERE " SQL_F_FITS_P "),"
    "   (SELECT count(*) FROM findings f WHERE f.signature = p.signature)) AS findings,"
    "  iif(" SQL_P_IS_PATTERN ","
    "   (SELECT count(*) FROM findings f WHERE f.status IN ('open', 'fixed') AND " SQL_F_FITS_P
    "    AND (f.status = 'open' OR " SQL_IS_REGRESSION ")),"
    "   (SELECT count(*) FROM findings f WHERE f.signature = p.signature"
    "    AND (f.status = 'open' OR " SQL_IS_REGRESSION "))) AS held,"
    "  p.expires_ms"
    " FROM suppressions p WHERE p.removed = 0",
    "CREATE VIEW v_findings AS"
    " SELECT f.id, f.status,"
    "  " SQL_STATE " AS state, " SQL_F_IS_SUPPRESSED " AS suppressed,"
    "  f.signature, f.oracle, f.class, f.rule, f.observable, f.subject, f.reference,"
    "  f.occurrences, f.first_campaign, f.first_case, f.last_campaign, f.last_case,"
    "  iif(f.first_seen_ms = 0, '', datetime(f.first_seen_ms / 1000, 'unixepoch')) AS first_seen,"
    "  iif(f.last_seen_ms = 0, '', datetime(f.last_seen_ms / 1000, 'unixepoch')) AS last_seen,"
    "  f.raw_statements, f.minimised_statements, f.minimise_tests,"
    "  m.text AS minimised_text, e.minimised_launch, e.minimised_tape, e.minimised_case,"
    "  r.text AS raw_text, e.raw_case, e.evidence, f.note, f.cause, f.minimisation,"
    "  f.signature_version"
    " FROM findings f LEFT JOIN examples e ON e.id = f.example"
    "  LEFT JOIN kernels m ON m.id = e.minimised_kernel"
    "  LEFT JOIN kernels r ON r.id = e.raw_kernel",
    "CREATE VIEW v_occurrences AS"
    " SELECT e.finding, f.signature, e.campaign, e.case_number, e.replayed, r.key AS raw_key,"
    "  e.raw_case AS case_text, e.tapes, k.text AS kernel_text, e.cause"
    " FROM examples e JOIN findings f ON f.id = e.finding JOIN raw_keys r ON r.id = e.raw_key"
    "  LEFT JOIN kernels k ON k.id = e.raw_kernel",
    "CREATE VIEW v_bugs AS"
    " SELECT f.cause, count(*) AS findings, sum(f.status = 'open') AS open,"
    "  sum(f.occurrences) AS occurrences, min(f.id) AS first_finding,"
    "  (SELECT g.id FROM findings g WHERE g.cause = f.cause ORDER BY g.minimised_statements = 0,"
    "   g.minimised_statements, g.id LIMIT 1) AS smallest_finding,"
    "  group_concat(DISTINCT f.oracle) AS oracles"
    " FROM findings f GROUP BY f.cause",
    "CREATE VIEW v_bisections AS"
    " SELECT b.finding, f.signature, b.form, b.answer, b.build_before, b.build_after, b.unclear,"
    "  b.builds, b.asked, b.silent, b.changes,"
    "  datetime(b.changed_ms / 1000, 'unixepoch') AS changed"
    " FROM bisections b JOIN findings f ON f.id = b.finding",
    "CREATE VIEW v_skipped AS SELECT campaign, case_number, why, detail FROM skipped",
    "CREATE VIEW v_rules AS"
    " SELECT rule, sum(hits) AS hits, count(DISTINCT campaign) AS campaigns FROM rule_hits"
    " GROUP BY rule",
    "CREATE VIEW v_verdicts AS"
    " SELECT oracle, verdict, sum(count) AS count FROM verdicts GROUP BY oracle, verdict",
    "CREATE VIEW v_reasons AS"
    " SELECT oracle, verdict, reason, sum(count) AS count FROM reasons"
    " GROUP BY oracle, verdict, reason",
    "CREATE VIEW v_growth AS"
    " SELECT campaign, number, sum(cases) OVER w AS cases, sum(kernels) OVER w AS kernels,"
    "  sum(thread_steps) OVER w AS thread_steps, sum(warp_steps) OVER w AS warp_steps,"
    "  sum(fresh) OVER w AS findings"
    " FROM (SELECT s.campaign, s.number, sum(s.cases) AS cases, sum(s.kernels) AS kernels,"
    "   sum(s.thread_steps) AS thread_steps, sum(s.warp_steps) AS warp_steps,"
    "   coalesce(f.fresh, 0) AS fresh"
    "  FROM statistics s LEFT JOIN"
    "   (SELECT g.campaign, (SELECT n.number FROM statistics n WHERE n.campaign = g.campaign"
    "     AND n.end_case > g.first_case ORDER BY n.end_case LIMIT 1) AS number, count(*) AS fresh"
    "    FROM sightings g GROUP BY 1, 2) f ON f.campaign = s.campaign AND f.number = s.number"
    "  GROUP BY s.campaign, s.number)"
    " WINDOW w AS (PARTITION BY campaign ORDER BY number)",
    NULL,
};
