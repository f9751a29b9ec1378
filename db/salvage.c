/*
 * What can be read of a damaged database, copied to a new one. Table by table: rows from the first on until one cannot
 * be read, then from the last back, so that what stands on both sides of a damaged page is kept. What refers to
 * something that is lost goes, too, and what is derived is derived again; so the new file is a sound database of
 * simtfuzz.
 */
#include "db/internal.h"
#include "db/schema.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 64, TABLES_MAX = 64, NAME_MAX_BYTES = 64 };

struct salvage {
    struct db from; /* only what db_fail needs */
    sqlite3 *source, *target;
    uint32_t count;
    struct db_salvaged tables[TABLES_MAX];
    char names[TABLES_MAX][NAME_MAX_BYTES];
};

static int fail(struct salvage *s, int code, const char *doing)
{
    return db_fail(&s->from, code == SQLITE_FULL ? DB_ERROR_FULL : DB_ERROR_IO, "cannot %s: %s",
                   doing, sqlite3_errmsg(s->target));
}

/* ---- one table ---- */

/* "a", "b" of the table as the new file has it, and in *keys those that order its rows. */
static bool list_columns(sqlite3 *db, const char *table, sqlite3_str *names, sqlite3_str *keys,
                         int *count)
{
    sqlite3_stmt *row;
    char *sql = sqlite3_mprintf("SELECT name, pk FROM pragma_table_info(%Q) ORDER BY cid", table);
    bool good = sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    for (*count = 0; good && sqlite3_step(row) == SQLITE_ROW; ++*count) {
        const char *name = db_column_text(row, 0);
        sqlite3_str_appendf(names, "%s\"%w\"", *count ? ", " : "", name);
        if (sqlite3_column_int(row, 1) > 0)
            sqlite3_str_appendf(keys, "%s\"%w\" DESC", sqlite3_str_length(keys) ? ", " : "", name);
    }
    sqlite3_finalize(row);
    return good && *count > 0 && *count <= COLUMNS_MAX;
}

/* What was copied of a table, and what was read and refused: not as the schema wants it, or there already. */
struct copied {
    uint64_t rows, refused;
};

/* Copies rows until the end (true) or until one cannot be read. Rows that are there already stay. */
static bool copy_rows(struct salvage *s, const char *select, sqlite3_stmt *insert, int columns,
                      struct copied *copied, int *error)
{
    sqlite3_stmt *row;
    int code = sqlite3_prepare_v2(s->source, select, -1, &row, NULL);
    if (code != SQLITE_OK)
        return false;
    while (*error == DB_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            sqlite3_bind_value(insert, i + 1, sqlite3_column_value(row, i));
        int written = sqlite3_step(insert);
        sqlite3_reset(insert);
        bool taken = written == SQLITE_DONE && sqlite3_changes(s->target) > 0;
        copied->rows += taken;
        copied->refused += !taken;
        if (written != SQLITE_DONE && (written & 0xff) != SQLITE_CONSTRAINT) /* a damaged value */
            *error = fail(s, written & 0xff, "write what was read");
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE;
}

/* How many rows the table had, by the longest of its indices that can be walked to the end. False: none can. */
static bool count_by_index(struct salvage *s, const char *table, uint64_t *rows)
{
    sqlite3_stmt *index;
    bool known = false;
    char *list = sqlite3_mprintf("SELECT name FROM pragma_index_list(%Q) WHERE NOT partial", table);
    bool good = sqlite3_prepare_v2(s->source, list, -1, &index, NULL) == SQLITE_OK;
    while (good && sqlite3_step(index) == SQLITE_ROW) {
        sqlite3_stmt *count;
        char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\" INDEXED BY \"%w\"", table,
                                    db_column_text(index, 0));
        if (sqlite3_prepare_v2(s->source, sql, -1, &count, NULL) == SQLITE_OK &&
            sqlite3_step(count) == SQLITE_ROW) {
            uint64_t found = (uint64_t)sqlite3_column_int64(count, 0);
            *rows = known && *rows > found ? *rows : found;
            known = true;
        }
        sqlite3_finalize(count);
        sqlite3_free(sql);
    }
    sqlite3_finalize(index);
    sqlite3_free(list);
    return known;
}

/* The result of a table; `whole`: it was read to its end. */
static void note_table(struct salvage *s, const char *table, const struct copied *copied,
                       bool whole)
{
    uint64_t had = 0;
    if (s->count == TABLES_MAX)
        return;
    struct db_salvaged *result = &s->tables[s->count];
    snprintf(s->names[s->count], NAME_MAX_BYTES, "%s", table);
    *result = (struct db_salvaged){.table = s->names[s->count],
                                   .rows = copied->rows,
                                   .lost = whole ? copied->refused : 1,
                                   .lost_known = whole};
    s->count++;
    if (!whole && count_by_index(s, table, &had) && had > copied->rows) {
        result->lost = had - copied->rows;
        result->lost_known = true;
    }
}

static int copy_table(struct salvage *s, const char *table)
{
    sqlite3_str *names = sqlite3_str_new(NULL), *keys = sqlite3_str_new(NULL);
    struct copied copied = {.rows = 0};
    sqlite3_stmt *insert = NULL;
    int columns, error = DB_OK;
    bool known = list_columns(s->target, table, names, keys, &columns);
    char *list = sqlite3_str_finish(names), *order = sqlite3_str_finish(keys);
    sqlite3_str *places = sqlite3_str_new(NULL);
    for (int i = 0; known && i < columns; i++)
        sqlite3_str_appendf(places, "%s?", i ? ", " : "");
    char *marks = sqlite3_str_finish(places);
    char *put =
        sqlite3_mprintf("INSERT OR IGNORE INTO \"%w\" (%s) VALUES (%s)", table, list, marks);
    char *ahead = sqlite3_mprintf("SELECT %s FROM \"%w\" NOT INDEXED", list, table);
    char *back = sqlite3_mprintf("SELECT %s FROM \"%w\" NOT INDEXED ORDER BY %s", list, table,
                                 order ? order : "rowid DESC");
    if (!known || sqlite3_prepare_v2(s->target, put, -1, &insert, NULL) != SQLITE_OK)
        error = fail(s, SQLITE_ERROR, "prepare a table");
    if (error == DB_OK) {
        bool whole = copy_rows(s, ahead, insert, columns, &copied, &error);
        if (!whole && error == DB_OK)
            copy_rows(s, back, insert, columns, &copied, &error);
        note_table(s, table, &copied, whole);
    }
    sqlite3_finalize(insert);
    sqlite3_free(put);
    sqlite3_free(ahead);
    sqlite3_free(back);
    sqlite3_free(marks);
    sqlite3_free(list);
    sqlite3_free(order);
    return error;
}

/* All tables of the new file. */
static int copy_tables(struct salvage *s)
{
    sqlite3_stmt *row;
    int error = DB_OK;
    if (sqlite3_prepare_v2(s->target,
                           "SELECT name FROM sqlite_schema WHERE type = 'table' AND"
                           " name NOT LIKE 'sqlite%' ORDER BY rowid",
                           -1, &row, NULL) != SQLITE_OK)
        return fail(s, SQLITE_ERROR, "read the schema");
    while (error == DB_OK && sqlite3_step(row) == SQLITE_ROW)
        error = copy_table(s, db_column_text(row, 0));
    sqlite3_finalize(row);
    return error;
}

/* ---- what refers to something that is lost ---- */

/* One column that refers; a row whose parent is lost loses the reference where it may, or goes. Keys of two columns
 * refer to shards. */
static int drop_orphans_of(struct salvage *s, struct db_salvaged *table, bool *any)
{
    sqlite3_stmt *row;
    char *list = sqlite3_mprintf(
        "SELECT f.id, group_concat('c.\"' || f.\"from\" || '\" = p.\"' || coalesce(f.\"to\", "
        "f.\"from\") || '\"', ' AND '),"
        " f.\"table\", group_concat('\"' || f.\"from\" || '\" IS NOT NULL', ' AND ')"
        " FROM pragma_foreign_key_list(%Q) f GROUP BY f.id",
        table->table);
    int error = DB_OK;
    if (sqlite3_prepare_v2(s->target, list, -1, &row, NULL) != SQLITE_OK)
        error = fail(s, SQLITE_ERROR, "read the schema");
    while (error == DB_OK && sqlite3_step(row) == SQLITE_ROW) {
        char *sql = sqlite3_mprintf(
            "DELETE FROM \"%w\" AS c WHERE %s AND NOT EXISTS (SELECT 1 FROM \"%w\" p WHERE %s)",
            table->table, db_column_text(row, 3), db_column_text(row, 2), db_column_text(row, 1));
        if (sqlite3_exec(s->target, sql, NULL, NULL, NULL) != SQLITE_OK)
            error = fail(s, SQLITE_ERROR, "leave out what refers to what is lost");
        uint64_t dropped = (uint64_t)sqlite3_changes(s->target);
        table->dropped += dropped;
        table->rows -= dropped < table->rows ? dropped : table->rows;
        *any |= dropped > 0;
        sqlite3_free(sql);
    }
    sqlite3_finalize(row);
    sqlite3_free(list);
    return error;
}

/* What may be missing becomes so; an example that is lost is none. */
static const char mend[] =
    "UPDATE examples SET raw_kernel = NULL WHERE raw_kernel NOT IN (SELECT id FROM kernels);"
    "UPDATE examples SET minimised_kernel = NULL"
    " WHERE minimised_kernel NOT IN (SELECT id FROM kernels);"
    "UPDATE findings SET first_campaign = NULL WHERE first_campaign NOT IN (SELECT id FROM "
    "campaigns);"
    "UPDATE findings SET last_campaign = NULL WHERE last_campaign NOT IN (SELECT id FROM "
    "campaigns);"
    "UPDATE findings SET example = (SELECT min(e.id) FROM examples e WHERE e.finding = findings.id)"
    " WHERE example NOT IN (SELECT id FROM examples);";

static int drop_orphans(struct salvage *s)
{
    int error = DB_OK;
    bool any;
    do {
        any = false;
        /* Of today's version; an older one has other columns, and keeps the rows or loses them. */
        sqlite3_exec(s->target, mend, NULL, NULL, NULL);
        for (uint32_t i = 0; i < s->count && error == DB_OK; i++)
            error = drop_orphans_of(s, &s->tables[i], &any);
    } while (error == DB_OK && any);
    return error;
}

/* ---- files ---- */

/* The version of the damaged file, today's where even that cannot be read. */
static struct schema schema_of(sqlite3 *source)
{
    struct schema schema = db_schema;
    int version = 0;
    if (schema_read_pragma(source, "user_version", &version) == SQLITE_OK && version >= 1 &&
        version < schema.version)
        schema.version = version;
    return schema;
}

static int open_files(struct salvage *s, const char *path, const char *out)
{
    char *from = db_uri(path, "?mode=ro"), *to = db_uri(out, "?mode=rwc");
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int opened = sqlite3_open_v2(from, &s->source, flags | SQLITE_OPEN_READONLY, NULL);
    int made =
        sqlite3_open_v2(to, &s->target, flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    sqlite3_free(from);
    sqlite3_free(to);
    if (opened != SQLITE_OK)
        return db_fail(&s->from, DB_ERROR_ACCESS, "cannot open it: %s", sqlite3_errmsg(s->source));
    sqlite3_db_config(s->source, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->source, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    /* Rows are read although another table's definition may be damaged. */
    sqlite3_exec(s->source, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    int application_id = 0;
    int code = schema_read_pragma(s->source, "application_id", &application_id);
    if (code != SQLITE_OK || application_id != db_schema.application_id)
        return db_fail(&s->from, code == SQLITE_OK ? DB_ERROR_FOREIGN : DB_ERROR_NOT_SQLITE,
                       "is not a database of simtfuzz, or its first page is lost: nothing of it "
                       "can be read");
    struct schema schema = schema_of(s->source);
    if (made != SQLITE_OK ||
        sqlite3_exec(s->target, "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL", NULL, NULL,
                     NULL) != SQLITE_OK ||
        schema_upgrade(s->target, &schema) != SQLITE_OK)
        return db_fail(&s->from, DB_ERROR_ACCESS, "cannot make %s: %s", out,
                       sqlite3_errmsg(s->target));
    return DB_OK;
}

static int copy_all(struct salvage *s)
{
    sqlite3_exec(s->target, "PRAGMA foreign_keys = OFF; BEGIN", NULL, NULL, NULL);
    int error = copy_tables(s);
    if (error == DB_OK)
        error = drop_orphans(s);
    if (error == DB_OK && sqlite3_exec(s->target, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        error = fail(s, SQLITE_ERROR, "write");
    return error;
}

int db_salvage(const char *path, const char *out, db_salvage_use *use, void *context,
               struct db_message *message)
{
    char *name = strdup(path);
    struct salvage s = {.from = {.path = name, .message = message}};
    if (!name)
        return DB_ERROR_MEMORY;
    int error;
    if (access(out, F_OK) == 0)
        error = db_fail(&s.from, DB_ERROR_ACCESS, "%s is there already", out);
    else if (access(path, R_OK) != 0)
        error = db_fail(&s.from, DB_ERROR_ABSENT, "cannot be read");
    else
        error = open_files(&s, path, out);
    if (error == DB_OK)
        error = copy_all(&s);
    sqlite3_close(s.source);
    sqlite3_close(s.target);
    free(name);
    struct db *sound;
    if (error == DB_OK)
        error = db_open(out, DB_READWRITE, message, &sound); /* brings it to today's version */
    if (error != DB_OK)
        return error;
    error = db_check(sound);
    db_close(sound);
    for (uint32_t i = 0; i < s.count && error == DB_OK; i++)
        use(context, &s.tables[i]);
    return error;
}
