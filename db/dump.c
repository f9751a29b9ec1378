/* The content of a database in one canonical text, for comparing two of them. */
#include "db/internal.h"

/* One JSON object a row. Findings are named by signature: ids depend on the order of arrival. */
static const char *const content[] = {
    "SELECT json_object('table', 'campaign', 'id', id, 'seed', seed, 'cases_target', cases_target,"
    " 'shard', shard_index || '/' || shard_count, 'options', options, 'version', version,"
    " 'state', state, 'cases', cases, 'kernels', kernels, 'thread_steps', thread_steps,"
    " 'warp_steps', warp_steps, 'example_steps', example_steps)"
    " FROM campaigns ORDER BY id",

    "SELECT json_object('table', 'finding', 'signature', signature, 'k1', k1, 'oracle', oracle,"
    " 'class', class, 'rule', rule, 'observable', observable, 'subject', subject,"
    " 'status', status, 'reference', reference, 'note', note, 'raw_statements', raw_statements,"
    " 'minimised_statements', minimised_statements, 'minimise_tests', minimise_tests,"
    " 'first_campaign', first_campaign, 'first_case', first_case,"
    " 'last_campaign', last_campaign, 'last_case', last_case, 'occurrences', occurrences,"
    " 'cause', cause, 'minimisation', minimisation, 'signature_version', signature_version)"
    " FROM findings ORDER BY signature",

    "SELECT json_object('table', 'example', 'signature', f.signature, 'campaign', e.campaign,"
    " 'case', e.case_number, 'raw_kernel', raw_kernel, 'raw_case', raw_case,"
    " 'minimised_kernel', minimised_kernel, 'minimised_launch', minimised_launch,"
    " 'minimised_tape', minimised_tape, 'minimised_case', minimised_case, 'evidence', evidence)"
    " FROM examples e JOIN findings f ON f.id = e.finding ORDER BY f.signature",

    "SELECT json_object('table', 'sighting', 'signature', f.signature, 'campaign', g.campaign,"
    " 'first_case', g.first_case, 'last_case', g.last_case, 'occurrences', g.occurrences)"
    " FROM sightings g JOIN findings f ON f.id = g.finding ORDER BY f.signature, g.campaign",

    "SELECT json_object('table', 'occurrence', 'signature', f.signature, 'campaign', o.campaign,"
    " 'case', o.case_number, 'replayed', o.replayed, 'raw_key', o.raw_key, 'kernel', o.kernel,"
    " 'case_text', o.case_text, 'tapes', o.tapes, 'cause', o.cause)"
    " FROM occurrences o JOIN findings f ON f.id = o.finding"
    " ORDER BY f.signature, o.campaign, o.case_number",

    "SELECT json_object('table', 'kernel', 'hash', hash, 'text', text) FROM kernels"
    " WHERE hash IN (SELECT kernel FROM occurrences UNION SELECT raw_kernel FROM examples"
    " UNION SELECT minimised_kernel FROM examples) ORDER BY hash",

    "SELECT json_object('table', 'suppression', 'signature', signature, 'note', note,"
    " 'expires_ms', expires_ms, 'removed', removed) FROM suppressions ORDER BY signature",

    "SELECT json_object('table', 'skipped', 'campaign', campaign, 'case', case_number, 'why', why,"
    " 'detail', detail) FROM skipped ORDER BY campaign, case_number",

    "SELECT json_object('table', 'statistics', 'campaign', campaign, 'number', number,"
    " 'cases', cases, 'kernels', kernels, 'thread_steps', thread_steps, 'warp_steps', warp_steps,"
    " 'findings', findings) FROM statistics ORDER BY campaign, number",

    "SELECT json_object('table', 'statistics_verdict', 'campaign', campaign, 'number', number,"
    " 'oracle', oracle, 'verdict', verdict, 'count', count) FROM statistics_verdicts"
    " ORDER BY campaign, number, oracle, verdict",

    "SELECT json_object('table', 'rule', 'campaign', campaign, 'rule', rule, 'hits', hits)"
    " FROM rule_hits ORDER BY campaign, rule",

    "SELECT json_object('table', 'verdict', 'campaign', campaign, 'oracle', oracle,"
    " 'verdict', verdict, 'count', count) FROM verdicts ORDER BY campaign, oracle, verdict",

    "SELECT json_object('table', 'reason', 'campaign', campaign, 'oracle', oracle,"
    " 'verdict', verdict, 'reason', reason, 'count', count) FROM reasons"
    " ORDER BY campaign, oracle, verdict, reason",
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
    for (size_t i = 0; i < sizeof content / sizeof content[0]; i++) {
        int error = dump_rows(db, content[i], out);
        if (error)
            return error;
    }
    if (ferror(out))
        return db_fail(db, DB_ERROR_IO, "cannot write the dump of the database");
    return DB_OK;
}
