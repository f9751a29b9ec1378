/* docs/database.md tells the truth: its queries run, and it explains each view's columns and each
 * table. */
#include "db/internal.h"
#include "tests/unit/db/db_fixture.h"

static char *read_manual(void)
{
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/docs/database.md", "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    size_t size = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    assert_in_range(size, 1000, (1 << 16) - 2);
    return text;
}

static sqlite3_stmt *prepare(struct fixture *f, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(f->db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(f->db->sqlite));
    return statement;
}

static void queries_run(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    char *manual = read_manual();
    int queries = 0;
    char *at = manual;
    while ((at = strstr(at, "```sql\n"))) {
        at += strlen("```sql\n");
        char *end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        sqlite3_stmt *statement = prepare(f, at);
        assert_in_range(sqlite3_step(statement), SQLITE_ROW, SQLITE_DONE);
        sqlite3_finalize(statement);
        at = end + 1;
        queries++;
    }
    assert_true(queries >= 5);
    free(manual);
}

/* Is `name` a word of the first column of a row "| a, b | ... |" in text? */
static bool is_listed(const char *text, const char *name)
{
    for (const char *row = strstr(text, "\n| "); row; row = strstr(row + 1, "\n| ")) {
        const char *cell = row + 3;
        size_t cell_length = strcspn(cell, "|");
        for (size_t i = 0; i < cell_length;) {
            size_t length = strcspn(cell + i, ", |");
            if (length == strlen(name) && strncmp(cell + i, name, length) == 0)
                return true;
            i += length + 1;
        }
    }
    return false;
}

/* The manual between a heading and the next; to be freed. */
static char *section(const char *manual, const char *heading)
{
    const char *start = strstr(manual, heading);
    if (!start)
        fail_msg("docs/database.md has no '%s'", heading);
    start = strchr(start + 1, '\n');
    const char *end = strstr(start, "\n#");
    char *text = strndup(start, end ? (size_t)(end - start) : strlen(start));
    assert_non_null(text);
    return text;
}

static void views_are_explained(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    char *manual = read_manual();
    sqlite3_stmt *columns =
        prepare(f, "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c"
                   " WHERE s.type = 'view'");
    int count = 0;
    while (sqlite3_step(columns) == SQLITE_ROW) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n### %s\n", db_column_text(columns, 0));
        char *text = section(manual, heading);
        if (!is_listed(text, db_column_text(columns, 1)))
            fail_msg("%s does not explain %s", heading, db_column_text(columns, 1));
        free(text);
        count++;
    }
    sqlite3_finalize(columns);
    assert_true(count > 40);
    free(manual);
}

static void tables_are_explained(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    char *manual = read_manual();
    char *text = section(manual, "\n## Tables\n");
    sqlite3_stmt *tables = prepare(f, "SELECT name FROM sqlite_schema WHERE type = 'table'");
    while (sqlite3_step(tables) == SQLITE_ROW)
        if (!is_listed(text, db_column_text(tables, 0)))
            fail_msg("docs/database.md does not explain table %s", db_column_text(tables, 0));
    sqlite3_finalize(tables);
    free(text);
    free(manual);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(queries_run),
        TEST(views_are_explained),
        TEST(tables_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
