/*
 * What follows from the facts: sightings, the counters and the example of a finding, its status as long as
 * nobody said anything, and whether there is still a reason to keep it.
 *
 * A raw key that was seen C times in a campaign and has n examples (n <= C) counts 1 for the finding of each
 * example, and C - n more for the finding of the lowest one. A finding's example is the lowest one in the
 * first campaign that saw it; campaigns are in the order in which they were started.
 *
 * All that is dirty at once: a campaign's batch has a few findings, a merge 10^5. So what is needed of the tables
 * is read into arrays, each table once, and joined there.
 */
#include "db/internal.h"

#include <stdlib.h>
#include <string.h>

/* Not part of the file; undone with the transaction that wrote them. */
const char db_derive_tables[] =
    "PRAGMA temp_store = MEMORY;"
    /* What has to be looked at; campaign 0: only the finding. */
    "CREATE TEMP TABLE dirty (finding INTEGER NOT NULL, campaign INTEGER NOT NULL,"
    " PRIMARY KEY (finding, campaign)) STRICT, WITHOUT ROWID;"
    "CREATE TEMP TABLE derived (finding INTEGER PRIMARY KEY, example INTEGER NOT NULL,"
    " reference TEXT NOT NULL, first_campaign INTEGER NOT NULL, first_case INTEGER NOT NULL,"
    " last_campaign INTEGER NOT NULL, last_case INTEGER NOT NULL, occurrences INTEGER NOT NULL,"
    " first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL) STRICT";

/* ---- what is read */

struct sighting {
    int64_t finding, campaign, first_case, last_case, occurrences, first_ms, last_ms;
};

struct example {
    int64_t finding, campaign, case_number, id, raw_key, stored_ms;
    size_t rest; /* in the list of rests, from 1: it is the lowest of its raw key; or 0 */
    bool unknown;
};

/* What a raw key counts beyond its examples. */
struct rest {
    int64_t occurrences, first_case, last_case, first_ms, last_ms;
};

/* Place of a campaign in the order in which they were started, from 1. */
struct age {
    int64_t campaign, age;
};

struct list {
    void *items;
    size_t count, room;
};

struct derive {
    struct db *db;
    struct list dirty; /* struct sighting, of which finding and campaign are used */
    struct list
        old; /* struct sighting: all of the dirty findings; like dirty and examples in the order
                           * of findings, then campaigns, then cases */
    struct list examples; /* struct example: of the dirty findings in the dirty campaigns */
    struct list rests, ages;
    bool unseen; /* there is a finding that no campaign has seen, or not any more */
};

/* The new last item, or NULL: out of memory. */
static void *append(struct derive *d, struct list *list, size_t size)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        void *items = realloc(list->items, room * size);
        if (!items) {
            db_fail(d->db, DB_ERROR_MEMORY, "cannot count findings: out of memory");
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + list->count++ * size;
}

typedef void read_row(sqlite3_stmt *row, void *item);

static int read_list(struct derive *d, enum statement which, struct list *list, size_t size,
                     read_row *read)
{
    sqlite3_stmt *statement;
    int more = db_start_statement(d->db, which, NULL, 0, &statement);
    if (more)
        return more;
    while ((more = db_next_row(d->db, statement)) == 1) {
        void *item = append(d, list, size);
        if (!item) {
            more = DB_ERROR_MEMORY;
            break;
        }
        read(statement, item);
    }
    db_end_statement(d->db, which, statement);
    return more;
}

static void read_dirty(sqlite3_stmt *row, void *item)
{
    *(struct sighting *)item = (struct sighting){.finding = sqlite3_column_int64(row, 0),
                                                 .campaign = sqlite3_column_int64(row, 1)};
}

static void read_sighting(sqlite3_stmt *row, void *item)
{
    *(struct sighting *)item = (struct sighting){.finding = sqlite3_column_int64(row, 0),
                                                 .campaign = sqlite3_column_int64(row, 1),
                                                 .first_case = sqlite3_column_int64(row, 2),
                                                 .last_case = sqlite3_column_int64(row, 3),
                                                 .occurrences = sqlite3_column_int64(row, 4),
                                                 .first_ms = sqlite3_column_int64(row, 5),
                                                 .last_ms = sqlite3_column_int64(row, 6)};
}

static void read_example(sqlite3_stmt *row, void *item)
{
    *(struct example *)item = (struct example){.finding = sqlite3_column_int64(row, 0),
                                               .campaign = sqlite3_column_int64(row, 1),
                                               .case_number = sqlite3_column_int64(row, 2),
                                               .id = sqlite3_column_int64(row, 3),
                                               .raw_key = sqlite3_column_int64(row, 4),
                                               .stored_ms = sqlite3_column_int64(row, 5),
                                               .unknown = sqlite3_column_int(row, 6) != 0};
}

static void read_age(sqlite3_stmt *row, void *item)
{
    *(struct age *)item =
        (struct age){.campaign = sqlite3_column_int64(row, 0), .age = sqlite3_column_int64(row, 1)};
}

static int64_t age_of(const struct derive *d, int64_t campaign)
{
    const struct age *ages = d->ages.items;
    size_t low = 0, high = d->ages.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ages[middle].campaign < campaign)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->ages.count && ages[low].campaign == campaign ? ages[low].age : 0;
}

static int overflow(struct derive *d)
{
    return db_fail(d->db, DB_ERROR_RANGE, "a sum of occurrences is out of range");
}

/* ---- what raw keys count beyond their examples */

/* Rows of a table in the order of campaign and raw key, which are the first columns. */
struct rows {
    struct db *db;
    enum statement which;
    sqlite3_stmt *statement; /* NULL: not started */
    int64_t campaign, raw_key;
    int more; /* as db_next_row */
};

static int next_row(struct rows *rows)
{
    rows->more = db_next_row(rows->db, rows->statement);
    if (rows->more == 1) {
        rows->campaign = sqlite3_column_int64(rows->statement, 0);
        rows->raw_key = sqlite3_column_int64(rows->statement, 1);
    }
    return rows->more;
}

static bool is_before(const struct rows *rows, int64_t campaign, int64_t raw_key)
{
    return rows->campaign != campaign ? rows->campaign < campaign : rows->raw_key < raw_key;
}

static void end_rows(struct rows *rows)
{
    if (rows->statement)
        db_end_statement(rows->db, rows->which, rows->statement);
    rows->statement = NULL;
}

/* To the first row that is not before this key; keys are asked for in order. A few rows are read over, which is
 * faster than to seek: so most of a table is read from its begin to its end. 1: it is of this key. */
static int find_key(struct rows *rows, int64_t campaign, int64_t raw_key)
{
    enum { READ_OVER = 8 };
    if (rows->statement) {
        for (int i = 0; i < READ_OVER && rows->more == 1 && is_before(rows, campaign, raw_key); i++)
            next_row(rows);
        if (rows->more == 1 && is_before(rows, campaign, raw_key))
            end_rows(rows);
    }
    if (!rows->statement) {
        int error = db_start_statement(rows->db, rows->which, NULL, 0, &rows->statement);
        if (error)
            return error;
        sqlite3_bind_int64(rows->statement, 1, campaign);
        sqlite3_bind_int64(rows->statement, 2, raw_key);
        next_row(rows);
    }
    if (rows->more != 1)
        return rows->more;
    return rows->campaign == campaign && rows->raw_key == raw_key;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the shards counted, together. */
static int sum_tallies(struct derive *d, struct rows *tallies, const struct example *of,
                       struct rest *sum)
{
    int found = find_key(tallies, of->campaign, of->raw_key);
    *sum = (struct rest){0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    while (found == 1) {
        sqlite3_stmt *row = tallies->statement;
        if (__builtin_add_overflow(sum->occurrences, sqlite3_column_int64(row, 2),
                                   &sum->occurrences))
            return overflow(d);
        sum->first_case = least(sum->first_case, sqlite3_column_int64(row, 3));
        sum->last_case = largest(sum->last_case, sqlite3_column_int64(row, 4));
        sum->first_ms = least(sum->first_ms, sqlite3_column_int64(row, 5));
        sum->last_ms = largest(sum->last_ms, sqlite3_column_int64(row, 6));
        found = next_row(tallies);
        if (found == 1 && (tallies->campaign != of->campaign || tallies->raw_key != of->raw_key))
            found = 0;
    }
    return found;
}

/* `lowest`: of those of its raw key that were read. */
static int set_rest(struct derive *d, struct rows *examples, struct rows *tallies,
                    struct example *lowest)
{
    int found = find_key(examples, lowest->campaign, lowest->raw_key);
    if (found != 1 || sqlite3_column_int64(examples->statement, 2) != lowest->case_number)
        return found < 0 ? found : DB_OK; /* it counts for the finding of a lower one */
    int64_t count = 0;
    struct rest rest;
    for (; found == 1; found = next_row(examples)) {
        if (examples->campaign != lowest->campaign || examples->raw_key != lowest->raw_key)
            break;
        count++;
    }
    int error = found < 0 ? found : sum_tallies(d, tallies, lowest, &rest);
    if (error || rest.occurrences <= count)
        return error;
    struct rest *item = append(d, &d->rests, sizeof *item);
    if (!item)
        return DB_ERROR_MEMORY;
    rest.occurrences -= count;
    *item = rest;
    lowest->rest = d->rests.count;
    return DB_OK;
}

static int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_keys(const void *a, const void *b)
{
    const struct example *x = *(struct example *const *)a, *y = *(struct example *const *)b;
    int order = compare_integers(x->campaign, y->campaign);
    if (order == 0)
        order = compare_integers(x->raw_key, y->raw_key);
    return order ? order : compare_integers(x->case_number, y->case_number);
}

static int set_rests(struct derive *d)
{
    struct example *examples = d->examples.items;
    size_t count = d->examples.count;
    struct example **order = malloc((count + 1) * sizeof(struct example *));
    if (!order)
        return db_fail(d->db, DB_ERROR_MEMORY, "cannot count findings: out of memory");
    for (size_t i = 0; i < count; i++)
        order[i] = &examples[i];
    qsort(order, count, sizeof(struct example *), compare_keys);
    struct rows of_examples = {.db = d->db, .which = STATEMENT_DERIVE_KEY_EXAMPLES};
    struct rows of_tallies = {.db = d->db, .which = STATEMENT_DERIVE_KEY_TALLIES};
    int error = DB_OK;
    for (size_t i = 0; i < count && !error; i++)
        if (i == 0 || order[i]->campaign != order[i - 1]->campaign ||
            order[i]->raw_key != order[i - 1]->raw_key)
            error = set_rest(d, &of_examples, &of_tallies, order[i]);
    end_rows(&of_examples);
    end_rows(&of_tallies);
    free(order);
    return error;
}

/* ---- sightings */

/* Of one finding in one campaign. */
struct group {
    const struct example *examples; /* in the order of cases; none: they were not read */
    size_t count;
    struct sighting sighting;
};

static int add_to(struct derive *d, struct sighting *sighting, const struct rest *more)
{
    sighting->first_case = least(sighting->first_case, more->first_case);
    sighting->last_case = largest(sighting->last_case, more->last_case);
    sighting->first_ms = least(sighting->first_ms, more->first_ms);
    sighting->last_ms = largest(sighting->last_ms, more->last_ms);
    if (__builtin_add_overflow(sighting->occurrences, more->occurrences, &sighting->occurrences))
        return overflow(d);
    return DB_OK;
}

static int sum_group(struct derive *d, struct group *group)
{
    const struct rest *rests = d->rests.items;
    const struct example *e = group->examples;
    group->sighting =
        (struct sighting){e->finding, e->campaign, INT64_MAX, INT64_MIN, 0, INT64_MAX, INT64_MIN};
    int error = DB_OK;
    for (size_t i = 0; i < group->count && !error; i++, e++) {
        struct rest one = {1, e->case_number, e->case_number, e->stored_ms, e->stored_ms};
        error = add_to(d, &group->sighting, &one);
        if (!error && e->rest > 0)
            error = add_to(d, &group->sighting, &rests[e->rest - 1]);
    }
    return error;
}

/* Integers, then a text, NULL: none. */
static int put(struct derive *d, enum statement which, const int64_t *values, int count,
               const char *text)
{
    sqlite3_stmt *statement;
    int error = db_start_statement(d->db, which, NULL, 0, &statement);
    if (error)
        return error;
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(statement, i + 1, values[i]);
    int code = text ? sqlite3_bind_text(statement, count + 1, text, -1, SQLITE_STATIC) : SQLITE_OK;
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
        error = db_fail_sqlite(d->db, code, "write to the database");
    db_end_statement(d->db, which, statement);
    return error;
}

static int write_sighting(struct derive *d, const struct sighting *now, const struct sighting *old)
{
    const int64_t values[] = {now->finding,     now->campaign, now->first_case, now->last_case,
                              now->occurrences, now->first_ms, now->last_ms};
    if (!old)
        return put(d, STATEMENT_SIGHTING_INSERT, values, 7, NULL);
    if (memcmp(now, old, sizeof *now) == 0)
        return DB_OK;
    enum statement which =
        now->first_case == old->first_case ? STATEMENT_SIGHTING_UPDATE : STATEMENT_SIGHTING_MOVE;
    return put(d, which, values, 7, NULL);
}

/* ---- findings */

struct finding {
    struct group first, last; /* the campaigns that saw it first and last; count 0: not read */
    int64_t first_age, last_age, occurrences, first_ms, last_ms;
};

static int add_group(struct derive *d, struct finding *finding, const struct group *group)
{
    const struct sighting *s = &group->sighting;
    int64_t age = age_of(d, s->campaign);
    if (finding->first_age == 0 || age < finding->first_age) {
        finding->first_age = age;
        finding->first = *group;
    }
    if (finding->last_age == 0 || age > finding->last_age) {
        finding->last_age = age;
        finding->last = *group;
    }
    finding->first_ms = least(finding->first_ms, s->first_ms);
    finding->last_ms = largest(finding->last_ms, s->last_ms);
    if (__builtin_add_overflow(finding->occurrences, s->occurrences, &finding->occurrences))
        return overflow(d);
    return DB_OK;
}

/* Where what was read does not say it. Several raw keys may have an example of one case: by the text of the key. */
static int ask_lowest(struct derive *d, const struct group *group, int64_t *id, char **reference)
{
    sqlite3_stmt *row;
    int error = db_start_statement(d->db, STATEMENT_DERIVE_LOWEST, NULL, 0, &row);
    if (error)
        return error;
    sqlite3_bind_int64(row, 1, group->sighting.finding);
    sqlite3_bind_int64(row, 2, group->sighting.campaign);
    int more = db_next_row(d->db, row);
    if (more == 1 && id)
        *id = sqlite3_column_int64(row, 0);
    if (more == 1 && reference && !(*reference = strdup(db_column_text(row, 1))))
        more = db_fail(d->db, DB_ERROR_MEMORY, "cannot count findings: out of memory");
    db_end_statement(d->db, STATEMENT_DERIVE_LOWEST, row);
    return more < 0 ? more : DB_OK;
}

static int find_example(struct derive *d, const struct group *group, int64_t *id)
{
    if (group->count == 0 ||
        (group->count > 1 && group->examples[0].case_number == group->examples[1].case_number))
        return ask_lowest(d, group, id, NULL);
    *id = group->examples[0].id;
    return DB_OK;
}

/* *reference: NULL: one of the examples is not known to the program. */
static int find_reference(struct derive *d, const struct group *group, char **reference)
{
    *reference = NULL;
    for (size_t i = 0; i < group->count; i++)
        if (group->examples[i].unknown)
            return DB_OK;
    return ask_lowest(d, group, NULL, reference);
}

static int write_finding(struct derive *d, const struct finding *finding)
{
    int64_t example = 0;
    char *reference;
    int error = find_example(d, &finding->first, &example);
    if (!error)
        error = find_reference(d, &finding->last, &reference);
    if (error)
        return error;
    const struct sighting *first = &finding->first.sighting, *last = &finding->last.sighting;
    const int64_t values[] = {first->finding,       example,           first->campaign,
                              first->first_case,    last->campaign,    last->last_case,
                              finding->occurrences, finding->first_ms, finding->last_ms};
    error = put(d, STATEMENT_DERIVED_PUT, values, 9, reference ? reference : "");
    free(reference);
    return error;
}

/* Those of a finding in the three lists: it goes through all of them once. */
struct places {
    size_t dirty, old, example;
};

/* The examples of a dirty place; `old`: the sighting that was there, or NULL. */
static int derive_sighting(struct derive *d, struct places *at, const struct sighting *place,
                           const struct sighting *old, struct finding *finding)
{
    const struct example *examples = d->examples.items;
    struct group group = {0};
    size_t begin = at->example;
    for (; at->example < d->examples.count && examples[at->example].finding == place->finding &&
           examples[at->example].campaign == place->campaign;
         at->example++)
        continue;
    if (at->example == begin) {
        const int64_t key[] = {place->finding, place->campaign};
        return old ? put(d, STATEMENT_SIGHTING_DELETE, key, 2, NULL) : DB_OK;
    }
    group.examples = &examples[begin];
    group.count = at->example - begin;
    int error = sum_group(d, &group);
    if (!error)
        error = write_sighting(d, &group.sighting, old);
    return error ? error : add_group(d, finding, &group);
}

static int derive_finding(struct derive *d, struct places *at)
{
    const struct sighting *dirty = d->dirty.items, *old = d->old.items;
    int64_t id = dirty[at->dirty].finding;
    struct finding finding = {.first_ms = INT64_MAX, .last_ms = INT64_MIN};
    int error = DB_OK;
    while (!error) {
        const struct sighting *place = at->dirty < d->dirty.count ? &dirty[at->dirty] : NULL;
        const struct sighting *was = at->old < d->old.count ? &old[at->old] : NULL;
        bool is_place = place && place->finding == id;
        bool is_old = was && was->finding == id;
        if (!is_place && !is_old)
            break;
        if (is_old && (!is_place || was->campaign < place->campaign)) {
            error = add_group(d, &finding, &(struct group){.sighting = *was});
            at->old++;
            continue;
        }
        is_old = is_old && was->campaign == place->campaign;
        error = derive_sighting(d, at, place, is_old ? was : NULL, &finding);
        at->old += is_old;
        at->dirty++;
    }
    if (!error && finding.first_age > 0)
        error = write_finding(d, &finding);
    d->unseen |= finding.first_age == 0;
    return error;
}

static int derive_findings(struct derive *d)
{
    struct places at = {0};
    int error = DB_OK;
    while (at.dirty < d->dirty.count && !error)
        error = derive_finding(d, &at);
    return error;
}

/* ---- */

static int write_each(struct db *db, const enum statement *statements, size_t count)
{
    int error = DB_OK;
    for (size_t i = 0; i < count && !error; i++)
        error = db_write(db, statements[i], NULL, 0);
    return error;
}

static int read_and_write(struct derive *d)
{
    int error = read_list(d, STATEMENT_DERIVE_AGES, &d->ages, sizeof(struct age), read_age);
    if (!error)
        error =
            read_list(d, STATEMENT_DERIVE_DIRTY, &d->dirty, sizeof(struct sighting), read_dirty);
    if (!error)
        error = read_list(d, STATEMENT_DERIVE_SIGHTINGS, &d->old, sizeof(struct sighting),
                          read_sighting);
    if (!error)
        error = read_list(d, STATEMENT_DERIVE_EXAMPLES, &d->examples, sizeof(struct example),
                          read_example);
    if (!error)
        error = set_rests(d);
    return error ? error : derive_findings(d);
}

int db_derive_update(struct db *db)
{
    static const enum statement unseen[] = {STATEMENT_DERIVE_VANISH, STATEMENT_DERIVE_BARE};
    struct derive d = {.db = db};
    int error = read_and_write(&d);
    free(d.dirty.items);
    free(d.old.items);
    free(d.examples.items);
    free(d.rests.items);
    free(d.ages.items);
    if (error && db->batch && !db->batch_error)
        db->batch_error = error;
    if (!error)
        error = db_write(db, STATEMENT_DERIVE_UPDATE, NULL, 0);
    return error || !d.unseen ? error : write_each(db, unseen, 2);
}

int db_derive_clear(struct db *db)
{
    static const enum statement clear[] = {STATEMENT_DERIVE_CLEAR_DIRTY,
                                           STATEMENT_DERIVE_CLEAR_DERIVED};
    int error = write_each(db, clear, sizeof clear / sizeof clear[0]);
    if (!error)
        db->dirty = false;
    return error;
}

int db_derive(struct db *db)
{
    if (!db->dirty)
        return DB_OK;
    int error = db_derive_update(db);
    return error ? error : db_derive_clear(db);
}
