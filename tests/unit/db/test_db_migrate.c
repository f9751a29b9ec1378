/* A database of version 1, as the program of that time wrote it, becomes one of today's and loses nothing. */
#include "db/internal.h"
#include "db/schema.h"
#include "tests/unit/db/db_fixture.h"

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1000, (1 << 20) - 2);
    fclose(file);
    return text;
}

static void make_version_1(const char *path)
{
    char *text = read_text(SIMTFUZZ_SOURCE_DIR "/tests/data/database-v1.sql");
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    if (sqlite3_exec(sqlite, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(sqlite));
    int version = 0;
    assert_int_equal(schema_read_pragma(sqlite, "user_version", &version), SQLITE_OK);
    assert_int_equal(version, 1);
    sqlite3_close(sqlite);
    free(text);
}

/* The rows of a query, columns and rows apart by '|' and ';'; to be freed. */
static char *ask(struct fixture *f, const char *sql)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    sqlite3_stmt *row;
    if (sqlite3_prepare_v2(f->db->sqlite, sql, -1, &row, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(f->db->sqlite));
    while (sqlite3_step(row) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(row); i++)
            fprintf(out, "%s%c", db_column_text(row, i),
                    i + 1 < sqlite3_column_count(row) ? '|' : ';');
    sqlite3_finalize(row);
    fclose(out);
    return text;
}

static void expect(struct fixture *f, const char *sql, const char *answer)
{
    char *text = ask(f, sql);
    assert_string_equal(text, answer);
    free(text);
}

static void nothing_is_lost(void **state)
{
    struct fixture *f = *state;
    make_version_1(f->path);
    assert_db_error(f, db_open(f->path, DB_READONLY, &f->message, &f->db), DB_ERROR_OLDER,
                    "schema version 1");
    assert_non_null(strstr(f->message.text, "simtfuzz db migrate"));
    fixture_open(f, DB_READWRITE);
    expect(f, "PRAGMA integrity_check", "ok;");
    expect(f, "PRAGMA foreign_key_check", "");
    expect(f, "SELECT name FROM sqlite_schema WHERE name LIKE 'old%'", "");
    expect(f, "SELECT id, state, cases, shard FROM v_campaigns",
           "1|finished|300|0/1;2|finished|200|1/2;3|finished|100|0/1;4|running|704|0/1;");
    expect(f,
           "SELECT id, status, reference, note, occurrences, first_campaign, first_case,"
           " last_campaign, last_case, raw_statements, minimised_statements, suppressed"
           " FROM v_findings",
           "1|known|A-4|it's erratum A-4|74|1|3|3|86|16|2|0;2|fixed|UNF||8|2|15|2|395|34|2|0;");
    expect(f, "SELECT finding, campaign, case_number FROM v_occurrences WHERE finding = 1",
           "1|1|3;1|1|4;1|1|10;1|1|24;1|3|3;1|3|4;1|3|10;1|3|24;");
    expect(f, "SELECT count(*), min(length(kernel_text)) > 50, min(replayed) FROM v_occurrences",
           "12|1|1;");
    expect(f, "SELECT count(minimised_text), count(raw_text), min(evidence <> '') FROM v_findings",
           "2|2|1;");
    expect(f, "SELECT signature, note, active FROM v_suppressions",
           "result|some|thing|else|noise|1;");
    expect(f, "SELECT campaign, number, kernels, findings FROM v_growth",
           "1|0|300|1;2|0|200|1;3|0|100|1;");
    /* No shard of today goes on with those of then; of what was not split, only the same version. */
    expect(f, "SELECT seed, run, options LIKE '% shards=cases' FROM campaigns ORDER BY id",
           "0x7|0|0;0x9|0|1;0x7|1|0;0xb|0|0;");
}

/* What was counted then is what follows from the facts now. */
static void deriving_changes_nothing(void **state)
{
    struct fixture *f = *state;
    make_version_1(f->path);
    fixture_open(f, DB_READWRITE);
    char *before = fixture_content(f);
    assert_db_ok(f, db_begin(f->db));
    assert_int_equal(sqlite3_exec(f->db->sqlite,
                                  "INSERT INTO dirty SELECT finding, campaign FROM sightings", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    f->db->dirty = true;
    assert_db_ok(f, db_commit(f->db));
    char *after = fixture_content(f);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* As an input of a merge it is migrated in a copy. */
static void merging_leaves_it_alone(void **state)
{
    struct fixture *f = *state;
    char out[128];
    const char *inputs[] = {f->path};
    make_version_1(f->path);
    snprintf(out, sizeof out, "%s/out.db", f->folder);
    for (int i = 0; i < 2; i++)
        assert_db_ok(f, db_merge_files(out, inputs, 1, &f->message));
    assert_int_equal(db_open(f->path, DB_READONLY, &f->message, &f->db), DB_ERROR_OLDER);
    fixture_open(f, DB_READWRITE);
    char *migrated = fixture_content(f);
    char *path = strdup(f->path);
    strcpy(f->path, out);
    fixture_open(f, DB_READONLY);
    char *merged = fixture_content(f);
    assert_string_equal(migrated, merged);
    free(migrated);
    free(merged);
    free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_lost),
        TEST(deriving_changes_nothing),
        TEST(merging_leaves_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
