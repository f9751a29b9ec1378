/*
 * select.c - findings by what people ask for. The SQL is put together, since a query that asks for little
 * must not pay for all that could be asked: 10^5 findings are listed while a person waits.
 */
#include "db/internal.h"
#include "db/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { SQL_MAX = 16384, PATTERN_MAX = 600, VALUES_MAX = 8 + DB_ORACLES_MAX + DB_WORDS_MAX };

/* A query in the making; parameter n is values[n - 1]. */
struct query {
    char sql[SQL_MAX];
    size_t length;
    struct value values[VALUES_MAX];
    size_t value_count;
    char patterns[DB_WORDS_MAX][PATTERN_MAX];
    bool too_long;
    bool conditions; /* there is a WHERE */
};

__attribute__((format(printf, 2, 3))) static void add(struct query *q, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = sizeof q->sql - q->length;
    int length = vsnprintf(q->sql + q->length, left, format, args);
    va_end(args);
    q->too_long |= length < 0 || (size_t)length >= left;
    if (!q->too_long)
        q->length += (size_t)length;
}

/* SQL that may have a '%' in it. */
static void add_text(struct query *q, const char *text)
{
    add(q, "%s", text);
}

/* The number of a parameter with this value. */
static size_t parameter(struct query *q, struct value value)
{
    q->too_long |= q->value_count == VALUES_MAX;
    if (!q->too_long)
        q->values[q->value_count++] = value;
    return q->value_count;
}

static void add_condition(struct query *q)
{
    add(q, q->conditions ? " AND " : " WHERE ");
    q->conditions = true;
}

/* ---- conditions */

static void add_states(struct query *q, unsigned states)
{
    static const struct {
        const char *status;
        unsigned states; /* that findings with this status may be in */
    } rows[] = {
        {"open", DB_STATE_BIT(DB_STATE_OPEN) | DB_STATE_BIT(DB_STATE_SUPPRESSED)},
        {"known", DB_STATE_BIT(DB_STATE_KNOWN)},
        {"invalid", DB_STATE_BIT(DB_STATE_INVALID)},
        {"fixed", DB_STATE_BIT(DB_STATE_FIXED) | DB_STATE_BIT(DB_STATE_REGRESSION) |
                      DB_STATE_BIT(DB_STATE_SUPPRESSED)},
    };
    bool exact = true;
    const char *separator = "";
    add_condition(q);
    add(q, "f.status IN (");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!(states & rows[i].states))
            continue;
        exact &= (states & rows[i].states) == rows[i].states;
        add(q, "%s'%s'", separator, rows[i].status);
        separator = ", ";
    }
    add(q, ")");
    if (exact)
        return;
    separator = "";
    add_text(q, " AND " SQL_STATE " IN (");
    for (int i = DB_STATE_REGRESSION; i <= DB_STATE_SUPPRESSED; i++) {
        if (!(states & DB_STATE_BIT(i)))
            continue;
        add(q, "%s'%s'", separator, db_state_name((enum db_state)i));
        separator = ", ";
    }
    add(q, ")");
}

static void add_oracles(struct query *q, const struct db_selection *s)
{
    add_condition(q);
    add(q, "f.oracle IN (");
    for (size_t i = 0; i < s->oracle_count; i++)
        add(q, "%s?%zu", i ? ", " : "", parameter(q, TEXT(s->oracles[i])));
    add(q, ")");
}

/* "%word%", its own wildcards escaped. False: too long. */
static bool make_pattern(char pattern[PATTERN_MAX], const char *word)
{
    size_t used = 0;
    pattern[used++] = '%';
    for (; *word && used < PATTERN_MAX - 3; word++) {
        if (strchr("%_\\", *word))
            pattern[used++] = '\\';
        pattern[used++] = *word;
    }
    pattern[used++] = '%';
    pattern[used] = '\0';
    return *word == '\0';
}

static void add_words(struct query *q, const struct db_selection *s)
{
    static const char *const columns[] = {"f.signature", "f.cause",    "f.note", "f.reference",
                                          "f.subject",   "e.evidence", "m.text", "r.text"};
    for (size_t i = 0; i < s->word_count; i++) {
        q->too_long |= !make_pattern(q->patterns[i], s->words[i]);
        size_t number = parameter(q, TEXT(q->patterns[i]));
        add_condition(q);
        for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
            add(q, "%s%s LIKE ?%zu ESCAPE '\\'", c ? " OR " : "(", columns[c], number);
        add(q, ")");
    }
}

static void add_conditions(struct query *q, const struct db_selection *s)
{
    if (s->states)
        add_states(q, s->states);
    if (s->oracle_count > 0)
        add_oracles(q, s);
    if (s->high > 0) {
        size_t low = parameter(q, INTEGER(s->low));
        add_condition(q);
        add(q, "f.id BETWEEN ?%zu AND ?%zu", low, parameter(q, INTEGER(s->high)));
    }
    if (s->since_ms > 0) {
        add_condition(q);
        add(q, "f.last_seen_ms >= ?%zu", parameter(q, INTEGER(s->since_ms)));
    }
    if (s->since_campaign > 0) {
        add_condition(q);
        add(q, "c.started_ms >= (SELECT started_ms FROM campaigns WHERE id = ?%zu)",
            parameter(q, INTEGER(s->since_campaign)));
    }
    if (s->fresh) {
        add_condition(q);
        add(q, "f.first_campaign = (SELECT id FROM campaigns ORDER BY started_ms DESC, seed DESC,"
               " options DESC, version DESC, shard_count DESC, run DESC LIMIT 1)");
    }
    add_words(q, s);
}

/* Findings with what the conditions and the order need. */
static void add_source(struct query *q, const struct db_selection *s)
{
    add(q, " FROM findings f LEFT JOIN campaigns c ON c.id = f.last_campaign");
    if (s->word_count > 0)
        add(q, " LEFT JOIN examples e ON e.id = f.example"
               " LEFT JOIN kernels r ON r.id = e.raw_kernel"
               " LEFT JOIN kernels m ON m.id = e.minimised_kernel");
    add_conditions(q, s);
}

static void add_rank(struct query *q)
{
    add_text(q, "CASE " SQL_STATE);
    for (int i = DB_STATE_REGRESSION; i <= DB_STATE_SUPPRESSED; i++)
        add(q, " WHEN '%s' THEN %d", db_state_name((enum db_state)i), i);
    add(q, " END");
}

/* The ids are found and sorted first: only the rows that are wanted are read whole. */
static void add_selection(struct query *q, const struct db_selection *s)
{
    const char *order = s->by_id ? "id" : "rank, seen DESC, occurrences DESC, id";
    add_text(q, "SELECT " SQL_FINDING_COLUMNS " FROM (SELECT f.id AS id, ");
    if (s->by_id)
        add(q, "0 AS rank");
    else
        add_rank(q);
    if (!s->by_id)
        add(q, " AS rank");
    add(q, ", c.started_ms AS seen, f.occurrences AS occurrences");
    add_source(q, s);
    add(q, " ORDER BY %s", order);
    if (s->limit > 0) {
        size_t limit = parameter(q, INTEGER(s->limit));
        add(q, " LIMIT ?%zu OFFSET ?%zu", limit, parameter(q, INTEGER(s->offset)));
    }
    add(q, ") k JOIN findings f ON f.id = k.id ORDER BY %s%s", s->by_id ? "k." : "",
        s->by_id ? "id" : "k.rank, k.seen DESC, k.occurrences DESC, k.id");
}

/* ---- running */

static int start(struct db *db, struct query *q, sqlite3_stmt **statement)
{
    if (q->too_long)
        return db_fail(db, DB_ERROR_RANGE, "too much is asked at once");
    int code = sqlite3_prepare_v2(db->sqlite, q->sql, -1, statement, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "read the database");
    int error = db_bind_values(db, *statement, q->values, q->value_count);
    if (error)
        sqlite3_finalize(*statement);
    return error;
}

int db_findings_select(struct db *db, const struct db_selection *selection, db_finding_use *use,
                       void *context)
{
    struct query q = {.length = 0};
    struct db_finding finding;
    sqlite3_stmt *row;
    add_selection(&q, selection);
    int error = start(db, &q, &row);
    if (error)
        return error;
    int more;
    while ((more = db_next_row(db, row)) == 1) {
        more = db_read_finding(db, row, &finding);
        if (more < 0 || !use(context, &finding))
            break;
    }
    sqlite3_finalize(row);
    return more < 0 ? more : DB_OK;
}

int db_findings_count(struct db *db, const struct db_selection *selection, uint64_t *count)
{
    struct query q = {.length = 0};
    sqlite3_stmt *row;
    add(&q, "SELECT count(*)");
    add_source(&q, selection);
    int error = start(db, &q, &row);
    if (error)
        return error;
    int more = db_next_row(db, row);
    if (more == 1)
        *count = db_column_integer(row, 0);
    sqlite3_finalize(row);
    return more < 0 ? more : DB_OK;
}

int db_outside(struct db *db, uint64_t campaign, db_outside_use *use, void *context)
{
    sqlite3_stmt *row;
    int more = db_start_statement(db, STATEMENT_OUTSIDE, VALUES(INTEGER(campaign)), &row);
    if (more < 0)
        return more;
    while ((more = db_next_row(db, row)) == 1) {
        const struct db_outside outside = {db_column_text(row, 0), db_column_text(row, 1),
                                           db_column_text(row, 2), db_column_integer(row, 3)};
        if (!use(context, &outside))
            break;
    }
    db_end_statement(db, STATEMENT_OUTSIDE, row);
    return more < 0 ? more : DB_OK;
}
