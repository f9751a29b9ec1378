/*
 * What follows from the facts: sightings, the counters and the example of a finding, its status as long as
 * nobody said anything, and whether there is still a reason to keep it.
 *
 * A raw key that was seen C times in a campaign and has n examples (n <= C) counts 1 for the finding of each
 * example, and C - n more for the finding of the lowest one. A finding's example is the lowest one in the
 * first campaign that saw it; campaigns are in the order in which they were started.
 */
#include "db/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- sightings */

struct sighting {
    uint64_t first_case, last_case, occurrences, first_ms, last_ms;
};

static void widen(struct sighting *to, uint64_t occurrences, uint64_t first_case,
                  uint64_t last_case, uint64_t first_ms, uint64_t last_ms)
{
    bool empty = to->occurrences == 0;
    to->first_case = empty || first_case < to->first_case ? first_case : to->first_case;
    to->last_case = last_case > to->last_case ? last_case : to->last_case;
    to->first_ms = empty || first_ms < to->first_ms ? first_ms : to->first_ms;
    to->last_ms = last_ms > to->last_ms ? last_ms : to->last_ms;
    to->occurrences += occurrences;
}

/* How many examples a raw key has, and the finding of the lowest. */
static int read_examples(struct db *db, uint64_t campaign, uint64_t key, uint64_t *count,
                         uint64_t *lowest)
{
    sqlite3_stmt *row;
    int more = db_start_statement(db, STATEMENT_EXAMPLES_OF_KEY,
                                  VALUES(INTEGER(campaign), INTEGER(key)), &row);
    if (more < 0)
        return more;
    *count = 0;
    while ((more = db_next_row(db, row)) == 1)
        if ((*count)++ == 0)
            *lowest = db_column_integer(row, 0);
    db_end_statement(db, STATEMENT_EXAMPLES_OF_KEY, row);
    return more;
}

static int read_tally(struct db *db, uint64_t campaign, uint64_t key, struct sighting *sum)
{
    sqlite3_stmt *row;
    int more = db_start_statement(db, STATEMENT_TALLY_OF_KEY,
                                  VALUES(INTEGER(campaign), INTEGER(key)), &row);
    if (more < 0)
        return more;
    while ((more = db_next_row(db, row)) == 1)
        widen(sum, db_column_integer(row, 0), db_column_integer(row, 1), db_column_integer(row, 2),
              db_column_integer(row, 3), db_column_integer(row, 4));
    db_end_statement(db, STATEMENT_TALLY_OF_KEY, row);
    return more;
}

/* What a raw key's occurrences beyond its examples add, if they are the finding's. */
static int add_rest(struct db *db, uint64_t finding, uint64_t campaign, uint64_t key,
                    struct sighting *to)
{
    uint64_t examples, lowest = 0;
    struct sighting tally = {0};
    int error = read_examples(db, campaign, key, &examples, &lowest);
    if (error || lowest != finding)
        return error;
    error = read_tally(db, campaign, key, &tally);
    if (!error && tally.occurrences > examples)
        widen(to, tally.occurrences - examples, tally.first_case, tally.last_case, tally.first_ms,
              tally.last_ms);
    return error;
}

static int sum_up(struct db *db, uint64_t finding, uint64_t campaign, struct sighting *sighting)
{
    sqlite3_stmt *row;
    int more = db_start_statement(db, STATEMENT_KEYS_OF_FINDING,
                                  VALUES(INTEGER(finding), INTEGER(campaign)), &row);
    if (more < 0)
        return more;
    while ((more = db_next_row(db, row)) == 1) {
        widen(sighting, db_column_integer(row, 1), db_column_integer(row, 2),
              db_column_integer(row, 3), db_column_integer(row, 4), db_column_integer(row, 5));
        more = add_rest(db, finding, campaign, db_column_integer(row, 0), sighting);
        if (more < 0)
            break;
    }
    db_end_statement(db, STATEMENT_KEYS_OF_FINDING, row);
    return more;
}

static int derive_sighting(struct db *db, uint64_t finding, uint64_t campaign)
{
    struct sighting s = {0};
    int error = sum_up(db, finding, campaign, &s);
    if (error)
        return error;
    if (s.occurrences == 0)
        return db_write(db, STATEMENT_SIGHTING_DROP, VALUES(INTEGER(finding), INTEGER(campaign)));
    return db_write(db, STATEMENT_SIGHTING_PUT,
                    VALUES(INTEGER(finding), INTEGER(campaign), INTEGER(s.first_case),
                           INTEGER(s.last_case), INTEGER(s.occurrences), INTEGER(s.first_ms),
                           INTEGER(s.last_ms)));
}

/* ---- findings */

/* The campaigns' ids by their age. */
struct ages {
    uint64_t *ids;
    size_t count;
};

static int compare_ids(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (left[0] > right[0]) - (left[0] < right[0]);
}

/* Pairs of id and age, by id. */
static int read_ages(struct db *db, struct ages *ages)
{
    sqlite3_stmt *row;
    size_t room = 0;
    int more = db_start_statement(db, STATEMENT_CAMPAIGN_ORDER, NULL, 0, &row);
    if (more < 0)
        return more;
    while ((more = db_next_row(db, row)) == 1) {
        if (ages->count == room) {
            room = room * 2 + 64;
            uint64_t *ids = realloc(ages->ids, room * 2 * sizeof *ids);
            if (!ids) {
                more = db_fail(db, DB_ERROR_MEMORY, "out of memory");
                break;
            }
            ages->ids = ids;
        }
        ages->ids[2 * ages->count] = db_column_integer(row, 0);
        ages->ids[2 * ages->count + 1] = ages->count;
        ages->count++;
    }
    db_end_statement(db, STATEMENT_CAMPAIGN_ORDER, row);
    if (more == 0 && ages->count > 0)
        qsort(ages->ids, ages->count, 2 * sizeof *ages->ids, compare_ids);
    return more;
}

static uint64_t age_of(const struct ages *ages, uint64_t campaign)
{
    const uint64_t *found = ages->count == 0 ? NULL
                                             : bsearch(&campaign, ages->ids, ages->count,
                                                       2 * sizeof *ages->ids, compare_ids);
    return found ? found[1] : 0;
}

struct derived {
    struct sighting sum;
    uint64_t first_campaign, first_age, first_case;
    uint64_t last_campaign, last_age, last_case;
    uint64_t example;
};

static int read_sightings(struct db *db, const struct ages *ages, uint64_t finding,
                          struct derived *d)
{
    sqlite3_stmt *row;
    int more =
        db_start_statement(db, STATEMENT_SIGHTINGS_OF_FINDING, VALUES(INTEGER(finding)), &row);
    if (more < 0)
        return more;
    while ((more = db_next_row(db, row)) == 1) {
        uint64_t campaign = db_column_integer(row, 0), age = age_of(ages, campaign);
        if (d->first_campaign == 0 || age < d->first_age) {
            d->first_campaign = campaign;
            d->first_age = age;
            d->first_case = db_column_integer(row, 1);
        }
        if (d->last_campaign == 0 || age > d->last_age) {
            d->last_campaign = campaign;
            d->last_age = age;
            d->last_case = db_column_integer(row, 2);
        }
        widen(&d->sum, db_column_integer(row, 3), 0, 0, db_column_integer(row, 4),
              db_column_integer(row, 5));
    }
    db_end_statement(db, STATEMENT_SIGHTINGS_OF_FINDING, row);
    return more;
}

/* What the program that saw it last says it is decides the status. */
static int update_finding(struct db *db, uint64_t finding, struct derived *d)
{
    sqlite3_stmt *row;
    int more = db_start_statement(db, STATEMENT_LOWEST_EXAMPLE,
                                  VALUES(INTEGER(finding), INTEGER(d->first_campaign)), &row);
    if (more < 0)
        return more;
    more = db_next_row(db, row);
    d->example = more == 1 ? db_column_integer(row, 0) : 0;
    db_end_statement(db, STATEMENT_LOWEST_EXAMPLE, row);
    if (more < 0)
        return more;
    more = db_start_statement(db, STATEMENT_LOWEST_EXAMPLE,
                              VALUES(INTEGER(finding), INTEGER(d->last_campaign)), &row);
    if (more < 0)
        return more;
    more = db_next_row(db, row);
    if (more == 1)
        more = db_write(db, STATEMENT_FINDING_DERIVE,
                        VALUES(INTEGER(finding), INTEGER(d->example), INTEGER(d->first_campaign),
                               INTEGER(d->first_case), INTEGER(d->last_campaign),
                               INTEGER(d->last_case), INTEGER(d->sum.occurrences),
                               INTEGER(d->sum.first_ms), INTEGER(d->sum.last_ms),
                               TEXT(db_column_text(row, 1))));
    db_end_statement(db, STATEMENT_LOWEST_EXAMPLE, row);
    return more;
}

static int derive_finding(struct db *db, const struct ages *ages, uint64_t finding)
{
    struct derived d = {0};
    int error = read_sightings(db, ages, finding, &d);
    if (error)
        return error;
    if (d.first_campaign > 0)
        return update_finding(db, finding, &d);
    error = db_write(db, STATEMENT_FINDING_VANISH, VALUES(INTEGER(finding)));
    return error ? error : db_write(db, STATEMENT_FINDING_BARE, VALUES(INTEGER(finding)));
}

/* ---- all that is dirty */

static int derive_all(struct db *db, const struct ages *ages, sqlite3_stmt *row)
{
    uint64_t last = 0;
    int more;
    while ((more = db_next_row(db, row)) == 1) {
        uint64_t finding = db_column_integer(row, 0);
        if (last > 0 && last != finding && (more = derive_finding(db, ages, last)) < 0)
            return more;
        if ((more = derive_sighting(db, finding, db_column_integer(row, 1))) < 0)
            return more;
        last = finding;
    }
    return more < 0 || last == 0 ? more : derive_finding(db, ages, last);
}

int db_derive(struct db *db)
{
    struct ages ages = {0};
    sqlite3_stmt *row;
    if (!db->dirty)
        return DB_OK;
    int error = read_ages(db, &ages);
    if (!error)
        error = db_start_statement(db, STATEMENT_DIRTY, NULL, 0, &row);
    if (!error) {
        error = derive_all(db, &ages, row);
        db_end_statement(db, STATEMENT_DIRTY, row);
    }
    free(ages.ids);
    if (!error)
        error = db_write(db, STATEMENT_DIRTY_CLEAR, NULL, 0);
    if (!error)
        db->dirty = false;
    return error;
}
