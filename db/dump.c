/* The content of a database in one canonical text, for comparing two of them. */
#include "db/internal.h"

/* One JSON object a row. Findings are named by signature, campaigns by their place in the order in which
 * they were started: ids depend on the order of arrival. Shards are added up: one run of all cases has the
 * same content as several of parts of them. What minimising cost is no part of it: each shard minimises
 * what it saw first. */
static const char make_order[] =
    "CREATE TEMP VIEW IF NOT EXISTS places AS SELECT id, row_number() OVER (ORDER BY started_ms,"
    " seed, options, version, shard_count, run) AS place FROM campaigns";

static const char *const content[] = {
    "SELECT json_object('table', 'campaign', 'place', p.place, 'seed', c.seed,"
    " 'cases_target', v.cases_target, 'options', c.options, 'version', c.version,"
    " 'state', v.state, 'cases', v.cases, 'kernels', v.kernels, 'thread_steps', v.thread_steps,"
    " 'warp_steps', v.warp_steps)"
    " FROM campaigns c JOIN v_campaigns v ON v.id = c.id"
    " JOIN places p ON p.id = c.id ORDER BY p.place",

    "SELECT json_object('table', 'finding', 'signature', f.signature, 'k1', f.k1, 'oracle', "
    "f.oracle,"
    " 'class', f.class, 'rule', f.rule, 'observable', f.observable, 'subject', f.subject,"
    " 'status', f.status, 'reference', f.reference, 'note', f.note, 'raw_statements', "
    "f.raw_statements,"
    " 'minimised_statements', f.minimised_statements, 'minimise_tests', f.minimise_tests,"
    " 'first_campaign', p.place, 'first_case', f.first_case, 'last_campaign', q.place,"
    " 'last_case', f.last_case, 'occurrences', f.occurrences, 'example', e.case_number,"
    " 'cause', f.cause, 'minimisation', f.minimisation,"
    " 'signature_version', f.signature_version)"
    " FROM findings f LEFT JOIN examples e ON e.id = f.example"
    " LEFT JOIN places p ON p.id = f.first_campaign LEFT JOIN places q ON q.id = f.last_campaign"
    " ORDER BY f.signature",

    "SELECT json_object('table', 'example', 'campaign', p.place, 'raw_key', r.key,"
    " 'case', e.case_number, 'signature', f.signature, 'replayed', e.replayed,"
    " 'reference', e.reference, 'subject', e.subject, 'raw_statements', e.raw_statements,"
    " 'minimised_statements', e.minimised_statements, 'minimise_tests', e.minimise_tests,"
    " 'raw_kernel', k.hash, 'minimised_kernel', m.hash, 'raw_case', raw_case, 'tapes', tapes,"
    " 'minimised_launch', minimised_launch, 'minimised_tape', minimised_tape,"
    " 'minimised_case', minimised_case, 'evidence', evidence, 'cause', e.cause,"
    " 'minimisation', e.minimisation, 'signature_version', e.signature_version)"
    " FROM examples e JOIN findings f ON f.id = e.finding JOIN raw_keys r ON r.id = e.raw_key"
    " JOIN places p ON p.id = e.campaign LEFT JOIN kernels k ON k.id = e.raw_kernel"
    " LEFT JOIN kernels m ON m.id = e.minimised_kernel ORDER BY p.place, r.key, e.case_number",

    "SELECT json_object('table', 'sighting', 'signature', f.signature, 'campaign', p.place,"
    " 'first_case', g.first_case, 'last_case', g.last_case, 'occurrences', g.occurrences)"
    " FROM sightings g JOIN findings f ON f.id = g.finding JOIN places p ON p.id = g.campaign"
    " ORDER BY f.signature, p.place",

    "SELECT json_object('table', 'tally', 'campaign', p.place, 'raw_key', r.key,"
    " 'occurrences', sum(t.occurrences), 'first_case', min(t.first_case),"
    " 'last_case', max(t.last_case)) FROM tallies t JOIN raw_keys r ON r.id = t.raw_key"
    " JOIN places p ON p.id = t.campaign GROUP BY p.place, r.key ORDER BY p.place, r.key",

    "SELECT json_object('table', 'kernel', 'hash', hash, 'text', text) FROM kernels"
    " WHERE id IN (SELECT raw_kernel FROM examples UNION SELECT minimised_kernel FROM examples)"
    " ORDER BY hash",

    "SELECT json_object('table', 'suppression', 'signature', signature, 'note', note,"
    " 'expires_ms', expires_ms, 'removed', removed) FROM suppressions ORDER BY signature",

    "SELECT json_object('table', 'bisection', 'signature', f.signature, 'form', b.form,"
    " 'answer', b.answer, 'before', b.build_before, 'after', b.build_after,"
    " 'unclear', b.unclear, 'builds', b.builds, 'asked', b.asked, 'silent', b.silent,"
    " 'changes', b.changes) FROM bisections b JOIN findings f ON f.id = b.finding"
    " ORDER BY f.signature, b.form",

    "SELECT json_object('table', 'skipped', 'campaign', p.place, 'case', case_number, 'why', why,"
    " 'detail', detail) FROM skipped JOIN places p ON p.id = campaign"
    " ORDER BY p.place, case_number",

    "SELECT json_object('table', 'statistics', 'campaign', p.place, 'number', number,"
    " 'cases', cases, 'kernels', kernels, 'thread_steps', thread_steps, 'warp_steps', warp_steps,"
    " 'findings', findings) FROM v_growth JOIN places p ON p.id = campaign"
    " ORDER BY p.place, number",

    "SELECT json_object('table', 'statistics_verdict', 'campaign', p.place, 'number', number,"
    " 'oracle', oracle, 'verdict', verdict, 'count', sum(count)) FROM statistics_verdicts"
    " JOIN places p ON p.id = campaign GROUP BY p.place, number, oracle, verdict"
    " ORDER BY p.place, number, oracle, verdict",

    /* CPU time is another one in each run. */
    "SELECT json_object('table', 'outside', 'campaign', p.place, 'subject', subject,"
    " 'version', version, 'what', what, 'count', sum(count)) FROM outside"
    " JOIN places p ON p.id = campaign WHERE what <> 'cpu us'"
    " GROUP BY p.place, subject, version, what ORDER BY p.place, subject, version, what",

    "SELECT json_object('table', 'rule', 'campaign', p.place, 'rule', rule, 'hits', sum(hits))"
    " FROM rule_hits JOIN places p ON p.id = campaign GROUP BY p.place, rule"
    " ORDER BY p.place, rule",

    "SELECT json_object('table', 'verdict', 'campaign', p.place, 'oracle', oracle,"
    " 'verdict', verdict, 'count', sum(count)) FROM verdicts JOIN places p ON p.id = campaign"
    " GROUP BY p.place, oracle, verdict ORDER BY p.place, oracle, verdict",

    "SELECT json_object('table', 'reason', 'campaign', p.place, 'oracle', oracle,"
    " 'verdict', verdict, 'reason', reason, 'count', sum(count)) FROM reasons"
    " JOIN places p ON p.id = campaign GROUP BY p.place, oracle, verdict, reason"
    " ORDER BY p.place, oracle, verdict, reason",
};

static int dump_rows(struct db *db, const char *sql, FILE *out)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "read the database");
    int more;
    while ((more = db_next_row(db, statement)) == 1)
        fprintf(out, "%s\n", db_column_text(statement, 0));
    sqlite3_finalize(statement);
    return more;
}

int db_dump_content(struct db *db, FILE *out)
{
    int code = sqlite3_exec(db->sqlite, make_order, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "read the database");
    for (size_t i = 0; i < sizeof content / sizeof content[0]; i++) {
        int error = dump_rows(db, content[i], out);
        if (error)
            return error;
    }
    if (ferror(out))
        return db_fail(db, DB_ERROR_IO, "cannot write the dump of the database");
    return DB_OK;
}
