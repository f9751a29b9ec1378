/* Campaigns on a disk that fills up, and on one that loses power: resumed, they end as undisturbed ones. */
#include "tests/unit/shared/campaign_fixture.h"
#include "tests/unit/shared/fault_vfs.h"

enum { CASES = 150, CUTS = 4 };

static struct campaign_options campaign(const struct place *place)
{
    struct campaign_options options = small_campaign(place);
    options.cases = CASES;
    options.jobs = 2;
    return options;
}

/* Of an undisturbed run. */
static char *undisturbed(struct place *place)
{
    struct campaign_options options = campaign(place);
    struct campaign_summary summary;
    run(place, &options, &summary, 0);
    char *text = content(place->db);
    place_remove_db(place);
    return text;
}

static void check_resumed(struct place *place, struct campaign_options *options, const char *whole)
{
    struct campaign_summary summary;
    run(place, options, &summary, 0);
    assert_int_equal(summary.cases, CASES);
    char *resumed = content(options->db_path);
    assert_string_equal(whole, resumed);
    free(resumed);
}

static void test_full_disk(void **state)
{
    struct place *place = *state;
    struct campaign_options options = campaign(place);
    struct campaign_summary summary;
    struct db_message message;
    char *whole = undisturbed(place);
    uint32_t failures = 0;
    fault_install();
    /* The first write of the campaign's own comes after those of the tables. */
    for (uint64_t spare = 3; spare < 60; spare = spare * 2 + 1) {
        options.resume = (struct db_shard){.campaign = 0};
        struct db *db;
        assert_int_equal(db_open(place->db, DB_CREATE, &message, &db), DB_OK);
        db_close(db);
        fault.full_at = fault.writes + spare;
        int status = campaign_run(&place->arena, &options, &summary, &message);
        fault.full_at = 0;
        if (status != 0) {
            assert_int_equal(status, 3);
            assert_non_null(strstr(message.text, "the disk is full"));
            failures++;
            options.resume.campaign = summary.campaign;
            check_resumed(place, &options, whole);
        }
        place_remove_db(place);
    }
    assert_true(failures > 1);
    fault_remove();
    free(whole);
}

/* ---- power ---- */

struct cuts {
    const struct place *place;
    const struct campaign_summary *summary;
    uint32_t count;
    char paths[CUTS][100];
};

static void cut_now_and_then(void *context)
{
    struct cuts *cuts = context;
    /* Not before the campaign is stored: there is nothing to resume. */
    if (cuts->count == CUTS || cuts->summary->campaign == 0 || fault_random() % 12 != 0)
        return;
    char *path = cuts->paths[cuts->count];
    snprintf(path, sizeof cuts->paths[0], "%s/cut-%u.db", cuts->place->folder, cuts->count++);
    fault_cut(cuts->place->db, path);
}

static void test_power_cut(void **state)
{
    struct place *place = *state;
    static struct cuts cuts;
    struct campaign_options options = campaign(place);
    struct campaign_summary summary;
    char *whole = undisturbed(place);
    cuts = (struct cuts){.place = place, .summary = &summary};
    summary.campaign = 0;
    fault_install();
    fault.before_write = cut_now_and_then;
    fault.context = &cuts;
    run(place, &options, &summary, 0);
    fault.before_write = NULL;
    fault_remove();
    assert_true(cuts.count > 1);
    options.resume.campaign = 1;
    for (uint32_t i = 0; i < cuts.count; i++) {
        options.db_path = cuts.paths[i];
        check_resumed(place, &options, whole);
        unlink(cuts.paths[i]);
    }
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full_disk, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(test_power_cut, place_set_up, place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
