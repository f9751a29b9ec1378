/*
 * Merging, as SQL: what another database knows is joined to this one, fact by fact. Each fact is a maximum, a
 * minimum or a union, so the order of merges does not matter, nor how often one is repeated. Rows of the two
 * are matched by what they are about: campaigns by seed, options, version, shard count and run, findings by
 * signature, kernels by hash.
 *
 * its_T is the source's table T. own_T says which row here a row there is. Facts that are equal or less write
 * nothing, and only what changed is derived again (table dirty, derive.c). A row of the source that refers to
 * one that is not there joins to NULL, which a NOT NULL refuses.
 */
#include "db/merge/merge.h"

#include <stddef.h>

const char *const merge_tables[] = {
    "CREATE TEMP TABLE own_campaigns (id INTEGER PRIMARY KEY, own INTEGER NOT NULL)",
    "CREATE TEMP TABLE own_raw_keys (id INTEGER PRIMARY KEY, own INTEGER NOT NULL)",
    "CREATE TEMP TABLE new_raw_keys (id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE own_kernels (id INTEGER PRIMARY KEY, own INTEGER NOT NULL)",
    /* fresh: it is inserted last, with what is derived */
    "CREATE TEMP TABLE own_findings (id INTEGER PRIMARY KEY, own INTEGER NOT NULL UNIQUE,"
    " fresh INTEGER NOT NULL)",
    /* Examples that change something. own: the one of the same case here; better: it takes its place. */
    "CREATE TEMP TABLE incoming (id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL,"
    " raw_key INTEGER NOT NULL, finding INTEGER NOT NULL, stored_ms INTEGER NOT NULL,"
    " raw_kernel INTEGER, minimised_kernel INTEGER, own INTEGER, better INTEGER NOT NULL)",
    "CREATE TEMP TABLE new_kernels (id INTEGER PRIMARY KEY)",
    /* Raw keys with another set of examples: what these were filed under is dirty. */
    "CREATE TEMP TABLE touched (campaign INTEGER NOT NULL, raw_key INTEGER NOT NULL,"
    " PRIMARY KEY (campaign, raw_key)) WITHOUT ROWID",
    /* Tallies that are more than here. */
    "CREATE TEMP TABLE counted (campaign INTEGER NOT NULL, raw_key INTEGER NOT NULL,"
    " shard INTEGER NOT NULL, occurrences INTEGER NOT NULL, first_case INTEGER NOT NULL,"
    " last_case INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL)",
    /* Examples that go. id 0: it went, and another one may have its number. */
    "CREATE TEMP TABLE gone (id INTEGER NOT NULL, raw_kernel INTEGER, minimised_kernel INTEGER)",
    NULL,
};

const char *const merge_views[] = {
    "campaigns",    "shards",   "sessions", "statistics", "statistics_verdicts",
    "rule_hits",    "verdicts", "reasons",  "skipped",    "kernels",
    "raw_keys",     "tallies",  "findings", "examples",   "bisections",
    "suppressions", "outside",  NULL,
};

/* Of a row s of the source: its campaign and shard here, h. */
#define OWN_SHARD                                                                                  \
    " LEFT JOIN own_campaigns c ON c.id = s.campaign"                                              \
    " LEFT JOIN shards h ON h.campaign = c.own AND h.shard = s.shard WHERE true"

/* Of two findings of one signature, the parts that are first in the alphabet. */
#define PARTS                                                                                      \
    "(s.k1, s.oracle, s.class, s.rule, s.observable)"                                              \
    " < (f.k1, f.oracle, f.class, f.rule, f.observable)"
#define LATER_STATUS                                                                               \
    "(s.status_ms > 0 AND"                                                                         \
    " (s.status_ms, s.status, s.reference) > (f.status_ms, f.status, f.reference))"
#define LATER_NOTE "(s.note_ms, s.note) > (f.note_ms, f.note)"

/* Of two examples of one case - e of the source, x here - the one whose row is less is kept: one that
 * replays, is minimised, by the newest rules, to the smallest kernel. Signatures and kernels need not be read
 * where they are the same. */
#define UNLESS(same, text) " iif(" same ", '', coalesce((" text "), '')),"
#define RANK_BEFORE(e)                                                                             \
    "(1 - " e ".replayed, CASE " e ".minimisation WHEN 'done' THEN 0 WHEN 'slipped' THEN 1"        \
    " WHEN 'pending' THEN 2 ELSE 3 END, 1000000 - " e ".signature_version,"                        \
    " " e ".minimised_statements,"
#define RANK_BEHIND(e)                                                                             \
    " " e ".reference, " e ".cause, " e ".raw_statements, " e ".minimise_tests, " e ".subject,"    \
    " " e ".raw_case, " e ".tapes, " e ".minimised_launch, " e ".minimised_tape,"                  \
    " " e ".minimised_case, " e ".evidence)"
#define RANK(e, t)                                                                                 \
    RANK_BEFORE(e)                                                                                 \
    UNLESS("f.own = x.finding", "SELECT signature FROM " t "findings WHERE id = " e ".finding")    \
    UNLESS("m.own = x.minimised_kernel",                                                           \
           "SELECT hash FROM " t "kernels WHERE id = " e ".minimised_kernel")                      \
    UNLESS("r.own = x.raw_kernel", "SELECT hash FROM " t "kernels WHERE id = " e ".raw_kernel")    \
    RANK_BEHIND(e)
#define IS_BETTER "(x.id IS NOT NULL AND " RANK("e", "its_") " < " RANK("x", "") ")"

#define OF_KEY(x, i) x ".campaign = " i ".campaign AND " x ".raw_key = " i ".raw_key"
#define KEPT "4"
_Static_assert(DB_EXAMPLES_PER_KEY == 4, "KEPT says so");

/* What goes, with the kernels that nothing may refer to any more: the other forms of incoming cases; of a key
 * that has too many, the highest cases. */
#define REMEMBER(rows) "INSERT INTO gone SELECT x.id, x.raw_kernel, x.minimised_kernel FROM " rows
#define OUTDONE REMEMBER("incoming i JOIN examples x ON x.id = i.own WHERE i.better")
#define FULL_KEYS                                                                                  \
    "(SELECT i.campaign, i.raw_key FROM touched i"                                                 \
    " WHERE (SELECT count(*) FROM examples y WHERE " OF_KEY("y", "i") ") > " KEPT ") k"
#define TOO_MANY                                                                                   \
    REMEMBER("(SELECT x.id, x.raw_kernel, x.minimised_kernel, row_number() OVER"                   \
             " (PARTITION BY x.campaign, x.raw_key ORDER BY x.case_number) AS place"               \
             " FROM " FULL_KEYS                                                                    \
             " CROSS JOIN examples x ON " OF_KEY("x", "k") ") x WHERE place > " KEPT)

#define TALLY_IS_MORE(o)                                                                           \
    "s.occurrences > " o ".occurrences OR s.first_case < " o ".first_case OR s.last_case > " o     \
    ".last_case OR s.first_ms < " o ".first_ms OR s.last_ms > " o ".last_ms"

const char *const merge_steps[] = {
    /* ---- campaigns and their counters */

    /* A campaign that was started earlier than was known here has another place in their order. */
    "INSERT OR IGNORE INTO dirty SELECT g.finding, g.campaign FROM its_campaigns s JOIN campaigns c"
    " USING (seed, options, version, shard_count, run) JOIN sightings g ON g.campaign = c.id"
    " WHERE s.started_ms < c.started_ms",
    "INSERT INTO campaigns (seed, options, version, shard_count, run, started_ms, config)"
    " SELECT seed, options, version, shard_count, run, started_ms, config FROM its_campaigns"
    " WHERE true ORDER BY id ON CONFLICT (seed, options, version, shard_count, run) DO UPDATE"
    " SET started_ms = min(started_ms, excluded.started_ms), config = max(config, excluded.config)"
    " WHERE excluded.started_ms < started_ms OR excluded.config > config",
    "INSERT INTO own_campaigns SELECT s.id, c.id FROM its_campaigns s JOIN campaigns c"
    " USING (seed, options, version, shard_count, run)",
    /* Of two states at equal progress, the one that is first in the alphabet says more. */
    "INSERT INTO shards (campaign, shard, cases_target, state, cases, kernels, thread_steps,"
    " warp_steps, example_steps)"
    " SELECT c.own, s.shard, s.cases_target, s.state, s.cases, s.kernels, s.thread_steps,"
    "  s.warp_steps, s.example_steps FROM its_shards s LEFT JOIN own_campaigns c"
    "  ON c.id = s.campaign WHERE true"
    " ON CONFLICT DO UPDATE SET cases_target ="
    "  iif(0 IN (cases_target, excluded.cases_target), 0,"
    "   max(cases_target, excluded.cases_target)),"
    " state = iif(excluded.cases > cases OR (excluded.cases = cases AND excluded.state < state),"
    "  excluded.state, state),"
    " cases = max(cases, excluded.cases), kernels = max(kernels, excluded.kernels),"
    " thread_steps = max(thread_steps, excluded.thread_steps),"
    " warp_steps = max(warp_steps, excluded.warp_steps),"
    " example_steps = max(example_steps, excluded.example_steps)",
    "INSERT INTO sessions (campaign, shard, started_ms, pid, host, jobs, seen_ms)"
    " SELECT h.campaign, h.shard, s.started_ms, s.pid, s.host, s.jobs, s.seen_ms"
    " FROM its_sessions s" OWN_SHARD " ORDER BY s.id"
    " ON CONFLICT DO UPDATE SET jobs = max(jobs, excluded.jobs),"
    " seen_ms = max(seen_ms, excluded.seen_ms)"
    " WHERE excluded.jobs > jobs OR excluded.seen_ms > seen_ms",
    "INSERT INTO statistics (campaign, number, shard, end_case, cases, kernels, thread_steps,"
    " warp_steps)"
    " SELECT h.campaign, s.number, h.shard, s.end_case, s.cases, s.kernels, s.thread_steps,"
    "  s.warp_steps FROM its_statistics s" OWN_SHARD
    " ON CONFLICT DO UPDATE SET end_case = max(end_case, excluded.end_case),"
    " cases = max(cases, excluded.cases), kernels = max(kernels, excluded.kernels),"
    " thread_steps = max(thread_steps, excluded.thread_steps),"
    " warp_steps = max(warp_steps, excluded.warp_steps)"
    " WHERE excluded.end_case > end_case OR excluded.cases > cases OR excluded.kernels > kernels"
    " OR excluded.thread_steps > thread_steps OR excluded.warp_steps > warp_steps",
    "INSERT INTO statistics_verdicts (campaign, number, oracle, verdict, shard, count)"
    " SELECT h.campaign, s.number, s.oracle, s.verdict, h.shard, s.count"
    " FROM its_statistics_verdicts s" OWN_SHARD
    " ON CONFLICT DO UPDATE SET count = excluded.count WHERE excluded.count > count",
    "INSERT INTO rule_hits (campaign, rule, shard, hits)"
    " SELECT h.campaign, s.rule, h.shard, s.hits FROM its_rule_hits s" OWN_SHARD
    " ON CONFLICT DO UPDATE SET hits = excluded.hits WHERE excluded.hits > hits",
    "INSERT INTO verdicts (campaign, oracle, verdict, shard, count)"
    " SELECT h.campaign, s.oracle, s.verdict, h.shard, s.count FROM its_verdicts s" OWN_SHARD
    " ON CONFLICT DO UPDATE SET count = excluded.count WHERE excluded.count > count",
    "INSERT INTO reasons (campaign, oracle, verdict, reason, shard, count)"
    " SELECT h.campaign, s.oracle, s.verdict, s.reason, h.shard, s.count FROM its_reasons "
    "s" OWN_SHARD " ON CONFLICT DO UPDATE SET count = excluded.count WHERE excluded.count > count",
    "INSERT INTO outside (campaign, subject, version, what, shard, count)"
    " SELECT h.campaign, s.subject, s.version, s.what, h.shard, s.count FROM its_outside "
    "s" OWN_SHARD " ON CONFLICT DO UPDATE SET count = excluded.count WHERE excluded.count > count",
    "INSERT INTO skipped (campaign, case_number, why, detail)"
    " SELECT c.own, s.case_number, s.why, s.detail FROM its_skipped s LEFT JOIN own_campaigns c"
    "  ON c.id = s.campaign WHERE true"
    " ON CONFLICT DO UPDATE SET why = excluded.why, detail = excluded.detail"
    " WHERE (excluded.why, excluded.detail) > (why, detail)",

    /* ---- raw keys, findings, kernels: what is here already */

    "INSERT INTO own_raw_keys SELECT s.id, k.id FROM its_raw_keys s CROSS JOIN raw_keys k"
    " ON k.key = s.key",
    "INSERT INTO new_raw_keys SELECT id FROM its_raw_keys"
    " WHERE id NOT IN (SELECT id FROM own_raw_keys)",
    "INSERT INTO own_raw_keys SELECT id, (SELECT coalesce(max(id), 0) FROM raw_keys)"
    "  + row_number() OVER (ORDER BY id) FROM new_raw_keys",
    "INSERT INTO raw_keys (id, key) SELECT o.own, s.key FROM new_raw_keys n"
    " CROSS JOIN own_raw_keys o ON o.id = n.id CROSS JOIN its_raw_keys s ON s.id = n.id"
    " ORDER BY n.id",
    "INSERT INTO own_findings SELECT s.id, f.id, 0 FROM its_findings s CROSS JOIN findings f"
    " ON f.signature = s.signature",
    "INSERT INTO own_findings SELECT id, (SELECT coalesce(max(id), 0) FROM findings)"
    "  + row_number() OVER (ORDER BY id), 1 FROM its_findings"
    " WHERE id NOT IN (SELECT id FROM own_findings)",
    "UPDATE findings AS f SET k1 = iif(" PARTS ", s.k1, f.k1),"
    " oracle = iif(" PARTS ", s.oracle, f.oracle), class = iif(" PARTS ", s.class, f.class),"
    " rule = iif(" PARTS ", s.rule, f.rule),"
    " observable = iif(" PARTS ", s.observable, f.observable),"
    " status = iif(" LATER_STATUS ", s.status, f.status),"
    " reference = iif(" LATER_STATUS ", s.reference, f.reference),"
    " status_ms = iif(" LATER_STATUS ", s.status_ms, f.status_ms),"
    " note = iif(" LATER_NOTE ", s.note, f.note),"
    " note_ms = iif(" LATER_NOTE ", s.note_ms, f.note_ms)"
    " FROM own_findings o CROSS JOIN its_findings s ON s.id = o.id"
    " WHERE f.id = o.own AND (" PARTS " OR " LATER_STATUS " OR " LATER_NOTE ")",
    "INSERT INTO own_kernels SELECT s.id, k.id FROM its_kernels s CROSS JOIN kernels k"
    " ON k.hash = s.hash",

    /* ---- examples */

    "INSERT INTO incoming SELECT e.id, c.own, k.own, f.own,"
    "  min(e.stored_ms, coalesce(x.stored_ms, e.stored_ms)), e.raw_kernel, e.minimised_kernel,"
    "  x.id, " IS_BETTER " FROM its_examples e LEFT JOIN own_campaigns c ON c.id = e.campaign"
    "  LEFT JOIN own_raw_keys k ON k.id = e.raw_key LEFT JOIN own_findings f ON f.id = e.finding"
    "  LEFT JOIN own_kernels r ON r.id = e.raw_kernel"
    "  LEFT JOIN own_kernels m ON m.id = e.minimised_kernel"
    "  LEFT JOIN examples x ON x.campaign = c.own AND x.raw_key = k.own"
    "   AND x.case_number = e.case_number"
    " WHERE iif(x.id IS NULL, (SELECT count(*) FROM (SELECT 1 FROM examples y"
    "   WHERE y.campaign = c.own AND y.raw_key = k.own AND y.case_number < e.case_number"
    "   LIMIT " KEPT ")) < " KEPT ", e.stored_ms < x.stored_ms OR " IS_BETTER ")",
    "INSERT OR IGNORE INTO touched SELECT campaign, raw_key FROM incoming",
    "INSERT OR IGNORE INTO dirty SELECT x.finding, x.campaign FROM touched i CROSS JOIN examples x"
    " ON " OF_KEY("x", "i"),
    "INSERT OR IGNORE INTO dirty SELECT finding, campaign FROM incoming",
    OUTDONE,
    "DELETE FROM examples WHERE id IN (SELECT id FROM gone)",
    "UPDATE gone SET id = 0",
    "UPDATE examples AS x SET stored_ms = i.stored_ms FROM incoming i"
    " WHERE x.id = i.own AND NOT i.better",
    "DELETE FROM incoming WHERE own IS NOT NULL AND NOT better",
    "INSERT OR IGNORE INTO new_kernels SELECT raw_kernel FROM incoming"
    " WHERE raw_kernel IS NOT NULL AND raw_kernel NOT IN (SELECT id FROM own_kernels)",
    "INSERT OR IGNORE INTO new_kernels SELECT minimised_kernel FROM incoming"
    " WHERE minimised_kernel IS NOT NULL AND minimised_kernel NOT IN (SELECT id FROM own_kernels)",
    "INSERT INTO own_kernels SELECT id, (SELECT coalesce(max(id), 0) FROM kernels)"
    " + row_number() OVER (ORDER BY id) FROM new_kernels",
    "INSERT INTO kernels (id, hash, text) SELECT o.own, s.hash, s.text FROM new_kernels n"
    " CROSS JOIN own_kernels o ON o.id = n.id LEFT JOIN its_kernels s ON s.id = n.id"
    " ORDER BY n.id",
    "INSERT INTO examples (campaign, raw_key, case_number, finding, stored_ms, replayed, reference,"
    " cause, minimisation, signature_version, raw_statements, minimised_statements,"
    " minimise_tests, raw_kernel, minimised_kernel, subject, raw_case, tapes, minimised_launch,"
    " minimised_tape, minimised_case, evidence)"
    " SELECT i.campaign, i.raw_key, e.case_number, i.finding, i.stored_ms, e.replayed, e.reference,"
    "  e.cause, e.minimisation, e.signature_version, e.raw_statements, e.minimised_statements,"
    "  e.minimise_tests, r.own, m.own, e.subject, e.raw_case, e.tapes, e.minimised_launch,"
    "  e.minimised_tape, e.minimised_case, e.evidence"
    " FROM incoming i CROSS JOIN its_examples e ON e.id = i.id"
    "  LEFT JOIN own_kernels r ON r.id = i.raw_kernel"
    "  LEFT JOIN own_kernels m ON m.id = i.minimised_kernel ORDER BY i.id",
    TOO_MANY,
    "DELETE FROM examples WHERE id IN (SELECT id FROM gone)",
    "DELETE FROM kernels WHERE id IN"
    " (SELECT raw_kernel FROM gone UNION SELECT minimised_kernel FROM gone)"
    " AND NOT EXISTS (SELECT 1 FROM examples WHERE raw_kernel = kernels.id)"
    " AND NOT EXISTS (SELECT 1 FROM examples WHERE minimised_kernel = kernels.id)",

    /* ---- tallies: after the examples, which say whose findings' counters they change */

    "INSERT INTO counted SELECT h.campaign, k.own, h.shard, s.occurrences, s.first_case,"
    " s.last_case, s.first_ms, s.last_ms FROM its_tallies s"
    " LEFT JOIN own_raw_keys k ON k.id = s.raw_key LEFT JOIN own_campaigns c ON c.id = s.campaign"
    " LEFT JOIN shards h ON h.campaign = c.own AND h.shard = s.shard"
    " LEFT JOIN tallies o ON o.campaign = c.own AND o.raw_key = k.own AND o.shard = s.shard"
    " WHERE o.campaign IS NULL OR " TALLY_IS_MORE("o"),
    "INSERT OR IGNORE INTO dirty SELECT x.finding, x.campaign FROM counted s"
    " CROSS JOIN examples x ON " OF_KEY("x", "s") " WHERE NOT EXISTS"
                                                  " (SELECT 1 FROM touched i WHERE " OF_KEY(
                                                      "i", "s") ")",
    "INSERT INTO tallies AS t (campaign, raw_key, shard, occurrences, first_case, last_case,"
    " first_ms, last_ms)"
    " SELECT campaign, raw_key, shard, occurrences, first_case, last_case, first_ms, last_ms"
    " FROM counted WHERE true"
    " ON CONFLICT DO UPDATE SET occurrences = max(t.occurrences, excluded.occurrences),"
    " first_case = min(t.first_case, excluded.first_case),"
    " last_case = max(t.last_case, excluded.last_case),"
    " first_ms = min(t.first_ms, excluded.first_ms), last_ms = max(t.last_ms, excluded.last_ms)",

    /* ---- what people say */

    "INSERT INTO bisections (finding, form, answer, build_before, build_after, unclear, builds,"
    " asked, silent, changes, changed_ms)"
    " SELECT f.own, s.form, s.answer, s.build_before, s.build_after, s.unclear, s.builds, s.asked,"
    "  s.silent, s.changes, s.changed_ms FROM its_bisections s LEFT JOIN own_findings f"
    "  ON f.id = s.finding WHERE true"
    " ON CONFLICT DO UPDATE SET answer = excluded.answer, build_before = excluded.build_before,"
    " build_after = excluded.build_after, unclear = excluded.unclear, builds = excluded.builds,"
    " asked = excluded.asked, silent = excluded.silent, changes = excluded.changes,"
    " changed_ms = excluded.changed_ms"
    " WHERE (excluded.changed_ms, excluded.answer, excluded.build_before, excluded.build_after,"
    "  excluded.unclear, excluded.builds, excluded.asked, excluded.silent, excluded.changes)"
    " > (changed_ms, answer, build_before, build_after, unclear, builds, asked, silent, changes)",
    "INSERT INTO suppressions (signature, note, expires_ms, removed, changed_ms)"
    " SELECT signature, note, expires_ms, removed, changed_ms FROM its_suppressions WHERE true"
    " ON CONFLICT DO UPDATE SET note = excluded.note, expires_ms = excluded.expires_ms,"
    " removed = excluded.removed, changed_ms = excluded.changed_ms"
    " WHERE (excluded.changed_ms, excluded.removed, excluded.note, excluded.expires_ms)"
    " > (changed_ms, removed, note, expires_ms)",
    NULL,
};

const char *const merge_steps_derived[] = {
    /* Findings that are new. Of those without an example people's words are kept, or nothing is. */
    "INSERT INTO findings (id, signature, k1, oracle, class, rule, observable, status, reference,"
    " status_ms, note, note_ms, example, cause, minimisation, signature_version, subject,"
    " raw_statements, minimised_statements, minimise_tests, first_campaign, first_case,"
    " last_campaign, last_case, occurrences, first_seen_ms, last_seen_ms)"
    " SELECT o.own, s.signature, s.k1, s.oracle, s.class, s.rule, s.observable,"
    "  iif(s.status_ms > 0, s.status, iif(coalesce(d.reference, '') = '', 'open', 'known')),"
    "  iif(s.status_ms > 0, s.reference, coalesce(d.reference, '')),"
    "  s.status_ms, s.note, s.note_ms, d.example, coalesce(e.cause, ''),"
    "  coalesce(e.minimisation, 'none'), coalesce(e.signature_version, 1),"
    "  coalesce(e.subject, ''), coalesce(e.raw_statements, 0),"
    "  coalesce(e.minimised_statements, 0), coalesce(e.minimise_tests, 0), d.first_campaign,"
    "  coalesce(d.first_case, 0), d.last_campaign, coalesce(d.last_case, 0),"
    "  coalesce(d.occurrences, 0), coalesce(d.first_ms, 0), coalesce(d.last_ms, 0)"
    " FROM own_findings o CROSS JOIN its_findings s ON s.id = o.id"
    "  LEFT JOIN derived d ON d.finding = o.own LEFT JOIN examples e ON e.id = d.example"
    " WHERE o.fresh AND (d.finding IS NOT NULL OR s.status_ms > 0 OR s.note_ms > 0"
    "  OR EXISTS (SELECT 1 FROM bisections b WHERE b.finding = o.own)) ORDER BY o.id",
    "DELETE FROM own_campaigns",
    "DELETE FROM own_raw_keys",
    "DELETE FROM new_raw_keys",
    "DELETE FROM own_findings",
    "DELETE FROM own_kernels",
    "DELETE FROM incoming",
    "DELETE FROM new_kernels",
    "DELETE FROM touched",
    "DELETE FROM counted",
    "DELETE FROM gone",
    NULL,
};
