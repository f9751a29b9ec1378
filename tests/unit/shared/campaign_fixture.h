/* A folder with a database for each test, and a small campaign that finds something. */
#ifndef TESTS_UNIT_CAMPAIGN_FIXTURE_H
#define TESTS_UNIT_CAMPAIGN_FIXTURE_H

#include "fuzz/campaign/campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PLACE_CASES = 100 };

struct place {
    char folder[64];
    char db[80];
    struct arena arena;
    FILE *log;
};

static inline int place_set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    strcpy(place->folder, "/tmp/simtfuzz-campaign-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->db, sizeof place->db, "%s/a.db", place->folder);
    assert_int_equal(arena_init(&place->arena, (size_t)1 << 30), 0);
    place->log = fopen("/dev/null", "w");
    assert_non_null(place->log);
    *state = place;
    return 0;
}

static inline void place_remove_db(const struct place *place)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s%s", place->db, suffixes[i]);
        unlink(path);
    }
}

static inline int place_tear_down(void **state)
{
    struct place *place = *state;
    place_remove_db(place);
    rmdir(place->folder);
    arena_destroy(&place->arena);
    fclose(place->log);
    free(place);
    return 0;
}

/* Lemma 5 as printed does not hold (erratum A-4), so there is always something to find. */
static inline struct campaign_options small_campaign(const struct place *place)
{
    struct campaign_options options = {
        .seed = 7,
        .cases = PLACE_CASES,
        .jobs = 1,
        .shard_count = 1,
        .gen = GEN_DEFAULTS,
        .check = CHECK_DEFAULTS,
        .db_path = place->db,
        .log = place->log,
    };
    options.check.subjects = SUBJECTS_DEFAULT;
    options.check.oracles = 1u << ORACLE_LEMMAS | 1u << ORACLE_RESULT;
    options.check.schedules = 4;
    options.check.budget_steps = 1 << 10;
    options.check.modes = ORACLE_MODE_LEMMAS_STRICT;
    options.gen.small = true;
    return options;
}

static inline char *content(const char *path)
{
    char *text = NULL;
    size_t length;
    struct db *db;
    struct db_message message;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(db_open(path, DB_READONLY, &message, &db), DB_OK);
    assert_int_equal(db_dump_content(db, out), DB_OK);
    db_close(db);
    fclose(out);
    return text;
}

static inline void run(struct place *place, const struct campaign_options *options,
                       struct campaign_summary *summary, int status)
{
    struct db_message message;
    assert_int_equal(campaign_run(&place->arena, options, summary, &message), status);
}

#endif
