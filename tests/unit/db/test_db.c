/* What is put into the triage database comes out of it, in any order of arrival. */
#include "tests/unit/db/db_fixture.h"

/* ---- campaigns */

static bool copy_campaign(void *context, const struct db_campaign *campaign)
{
    struct db_campaign *copy = context;
    *copy = *campaign;
    assert_string_equal(campaign->options, "subjects=threads,simt");
    assert_string_equal(campaign->version, "0.1.0");
    return true;
}

static void campaign_lives(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_counts counts = {
        .cases = 10, .kernels = 9, .thread_steps = 1u << 31, .warp_steps = UINT64_C(1) << 40};
    assert_db_ok(f, db_campaign_update(f->db, &f->shard, &counts, 2000));
    struct db_campaign got;
    assert_db_ok(f, db_campaign_get(f->db, f->campaign, copy_campaign, &got));
    assert_int_equal(got.id, f->campaign);
    assert_int_equal(got.seed, 0xfeed);
    assert_int_equal(got.cases_target, 1000);
    assert_int_equal(got.state, DB_CAMPAIGN_RUNNING);
    assert_memory_equal(&got.counts, &counts, sizeof counts);
    assert_int_equal(got.jobs, 2);
    assert_int_equal(got.started_ms, 1000);
    assert_int_equal(got.seen_ms, 2000);
    assert_int_equal(got.sessions, 1);

    assert_db_ok(f, db_campaign_finish(f->db, &f->shard, DB_CAMPAIGN_INTERRUPTED, 3000));
    struct db_shard shard = {.campaign = 0};
    struct db_campaign like = {
        .seed = 0xfeed, .shard_count = 1, .options = "subjects=threads,simt", .version = "0.1.0"};
    assert_db_ok(f, db_campaign_unfinished(f->db, &like, &shard));
    assert_int_equal(shard.campaign, f->campaign);
    assert_int_equal(shard.index, 0);
    like.version = "0.2.0"; /* has other cases */
    assert_db_error(f, db_campaign_unfinished(f->db, &like, &shard), DB_ERROR_NOT_FOUND, "0xfeed");
    like.version = "0.1.0";
    like.shard_index = 1; /* another machine's part */
    assert_db_error(f, db_campaign_unfinished(f->db, &like, &shard), DB_ERROR_NOT_FOUND, "0xfeed");
    like.shard_index = 0;
    assert_db_ok(f, db_campaign_resume(f->db, &f->shard, 4, 5000));
    assert_db_ok(f, db_campaign_get(f->db, f->campaign, copy_campaign, &got));
    assert_int_equal(got.state, DB_CAMPAIGN_RUNNING);
    assert_int_equal(got.sessions, 2);
    assert_int_equal(got.jobs, 4);
    assert_int_equal(got.counts.cases, 10); /* counters go on */
    assert_db_ok(f, db_campaign_finish(f->db, &f->shard, DB_CAMPAIGN_FINISHED, 6000));
    assert_db_error(f, db_campaign_unfinished(f->db, &like, &shard), DB_ERROR_NOT_FOUND, "0xfeed");
    like.seed = UINT64_MAX;
    assert_db_error(f, db_campaign_unfinished(f->db, &like, &shard), DB_ERROR_NOT_FOUND,
                    "0xffffffffffffffff");
}

static void seeds_keep_64_bits(void **state)
{
    struct fixture *f = *state;
    fixture_open(f, DB_CREATE);
    struct db_campaign campaign = {.seed = UINT64_MAX,
                                   .shard_count = 1,
                                   .options = "subjects=threads,simt",
                                   .version = "0.1.0"};
    struct db_shard shard;
    struct db_campaign got;
    assert_db_ok(f, db_campaign_start(f->db, &campaign, &shard));
    assert_db_ok(f, db_campaign_get(f->db, shard.campaign, copy_campaign, &got));
    assert_true(got.seed == UINT64_MAX);
}

static void absent_campaign(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_counts counts = {.cases = 1};
    struct db_shard none = {.campaign = 99};
    struct db_campaign got;
    assert_db_error(f, db_campaign_update(f->db, &none, &counts, 1), DB_ERROR_NOT_FOUND,
                    "no campaign 99");
    assert_db_error(f, db_campaign_resume(f->db, &none, 1, 1), DB_ERROR_NOT_FOUND,
                    "no campaign 99");
    assert_db_error(f, db_campaign_finish(f->db, &none, DB_CAMPAIGN_FINISHED, 1),
                    DB_ERROR_NOT_FOUND, "no campaign 99");
    assert_db_error(f, db_campaign_get(f->db, 99, copy_campaign, &got), DB_ERROR_NOT_FOUND,
                    "no campaign 99");
}

/* ---- counters */

static bool append_rule(void *context, const char *rule, uint64_t hits)
{
    char *text = context;
    sprintf(text + strlen(text), "%s %u;", rule, (unsigned)hits);
    return true;
}

static bool append_verdict(void *context, const struct db_verdict *verdict, const char *reason)
{
    char *text = context;
    sprintf(text + strlen(text), "%s %s %s %u;", verdict->oracle, verdict->verdict, reason,
            (unsigned)verdict->count);
    return true;
}

static bool append_statistics(void *context, const struct db_statistics *statistics)
{
    char *text = context;
    sprintf(text + strlen(text), "%u %u %u %u;", (unsigned)statistics->number,
            (unsigned)statistics->end_case, (unsigned)statistics->counts.cases,
            (unsigned)statistics->findings);
    return true;
}

static void counters_add_up(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_shard first = f->shard, second;
    struct db_campaign other = {.shard_count = 1, .options = "", .version = ""};
    assert_db_ok(f, db_campaign_start(f->db, &other, &second));
    assert_db_ok(f, db_rule_hits_add(f->db, &first, "while", 5));
    assert_db_ok(f, db_rule_hits_add(f->db, &first, "if", 1));
    assert_db_ok(f, db_rule_hits_add(f->db, &first, "while", 2));
    assert_db_ok(f, db_rule_hits_add(f->db, &second, "while", 100));
    char text[200] = "";
    assert_db_ok(f, db_rule_hits(f->db, first.campaign, append_rule, text));
    assert_string_equal(text, "if 1;while 7;");
    text[0] = '\0';
    assert_db_ok(f, db_rule_hits(f->db, 0, append_rule, text));
    assert_string_equal(text, "if 1;while 107;");

    struct db_verdict verdicts[] = {{"race", "agree", 3}, {"race", "not_applicable", 2}};
    for (int twice = 0; twice < 2; twice++) {
        assert_db_ok(f, db_verdicts_add(f->db, &first, &verdicts[0]));
        assert_db_ok(f, db_verdicts_add(f->db, &first, &verdicts[1]));
        assert_db_ok(f, db_reasons_add(f->db, &first, &verdicts[1], "has no block"));
    }
    text[0] = '\0';
    assert_db_ok(f, db_verdicts(f->db, first.campaign, append_verdict, text));
    assert_string_equal(text, "race agree  6;race not_applicable  4;");
    text[0] = '\0';
    assert_db_ok(f, db_reasons(f->db, 0, append_verdict, text));
    assert_string_equal(text, "race not_applicable has no block 4;");

    struct db_statistics statistics = {.number = 0, .end_case = 100, .counts = {.cases = 100}};
    assert_db_ok(f, db_statistics_add(f->db, &first, &statistics, verdicts, 2));
    statistics = (struct db_statistics){.number = 1, .end_case = 300, .counts = {.cases = 60}};
    assert_db_ok(f, db_statistics_add(f->db, &first, &statistics, verdicts, 2));
    assert_db_ok(f, db_statistics_add(f->db, &first, &statistics, verdicts, 2)); /* adds */
    struct db_finding finding = a_finding("s");
    struct db_upserted result;
    assert_db_ok(f, db_see(f->db, &finding, &first, 7, &result));
    finding.signature = "t";
    assert_db_ok(f, db_see(f->db, &finding, &first, 100, &result));
    finding.signature = "u";
    assert_db_ok(f, db_see(f->db, &finding, &first, 150, &result));
    text[0] = '\0';
    assert_db_ok(f, db_statistics(f->db, first.campaign, append_statistics, text));
    assert_string_equal(text, "0 100 100 1;1 300 220 3;");
}

/* ---- findings */

/* A finding and copies of some of its texts. */
struct kept {
    struct db_finding finding;
    char raw_case[64], evidence[64], launch[64], reference[64], note[64], cause[64];
    int calls;
};

static bool keep_finding(void *context, const struct db_finding *finding)
{
    struct kept *kept = context;
    kept->finding = *finding;
    kept->calls++;
    strcpy(kept->raw_case, finding->raw_case);
    strcpy(kept->evidence, finding->evidence);
    strcpy(kept->launch, finding->minimised.launch);
    strcpy(kept->reference, finding->reference);
    strcpy(kept->note, finding->note);
    strcpy(kept->cause, finding->cause);
    return true;
}

/* In all of a campaign. */
static struct db_upserted upsert(struct fixture *f, const char *signature, uint64_t campaign,
                                 uint64_t case_number, const char *raw_case)
{
    struct db_shard shard = {.campaign = campaign};
    struct db_finding finding = a_finding(signature);
    struct db_upserted result;
    finding.raw_case = raw_case;
    assert_db_ok(f, db_see(f->db, &finding, &shard, case_number, &result));
    return result;
}

static struct kept get(struct fixture *f, uint64_t id)
{
    struct kept kept = {.calls = 0};
    assert_db_ok(f, db_finding_get(f->db, id, keep_finding, &kept));
    assert_int_equal(kept.calls, 1);
    return kept;
}

static void finding_round_trip(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_upserted made = upsert(f, "s|v|r|o", f->campaign, 7, "case 7");
    assert_true(made.created);
    assert_int_equal(made.status, DB_STATUS_OPEN);
    struct kept kept = get(f, made.id);
    struct db_finding *finding = &kept.finding;
    assert_int_equal(finding->id, made.id);
    assert_int_equal(finding->raw_statements, 30);
    assert_int_equal(finding->minimised.statements, 2);
    assert_int_equal(finding->minimised.tests, 48);
    assert_int_equal(finding->first_case, 7);
    assert_int_equal(finding->last_case, 7);
    assert_int_equal(finding->occurrences, 1);
    assert_false(finding->suppressed);
    assert_string_equal(kept.raw_case, "case 7");
    assert_string_equal(kept.evidence, "{\"step\": 3}");
    assert_string_equal(kept.launch, "threads=2 warp=2 blocks=1");
    assert_db_error(f, db_finding_get(f->db, 99, keep_finding, &kept), DB_ERROR_NOT_FOUND,
                    "no finding 99");
}

static void example_is_of_the_lowest_case(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    uint64_t id = upsert(f, "s", f->campaign, 50, "case 50").id;
    assert_false(upsert(f, "s", f->campaign, 20, "case 20").created);
    upsert(f, "s", f->campaign, 70, "case 70");
    struct kept kept = get(f, id);
    assert_string_equal(kept.raw_case, "case 20");
    assert_int_equal(kept.finding.first_case, 20);
    assert_int_equal(kept.finding.last_case, 70);
    assert_int_equal(kept.finding.occurrences, 3);

    /* Counted without an example: for the finding of the lowest one. */
    struct db_tally tally = {.occurrences = 10, .first_case = 75, .last_case = 90};
    assert_db_ok(f, db_tally_add(f->db, &f->shard, "s", &tally));
    kept = get(f, id);
    assert_int_equal(kept.finding.first_case, 20);
    assert_int_equal(kept.finding.last_case, 90);
    assert_int_equal(kept.finding.occurrences, 13);
    upsert(f, "s", f->campaign, 10, "case 10");
    assert_string_equal(get(f, id).raw_case, "case 10");

    /* Another campaign moves only what was seen last. */
    struct db_campaign other = {.shard_count = 1, .options = "", .version = ""};
    struct db_shard shard;
    other.started_ms = 2000;
    assert_db_ok(f, db_campaign_start(f->db, &other, &shard));
    uint64_t second = shard.campaign;
    upsert(f, "s", second, 1, "case 1 of the second");
    kept = get(f, id);
    assert_string_equal(kept.raw_case, "case 10");
    assert_int_equal(kept.finding.first_campaign, f->campaign);
    assert_int_equal(kept.finding.first_case, 10);
    assert_int_equal(kept.finding.last_campaign, second);
    assert_int_equal(kept.finding.last_case, 1);
    assert_int_equal(kept.finding.occurrences, 15);

    upsert(f, "t", second, 2, "");
    kept.calls = 0;
    assert_db_ok(f, db_campaign_findings(f->db, f->campaign, DB_ANY_STATUS, keep_finding, &kept));
    assert_int_equal(kept.calls, 1);
    assert_int_equal(kept.finding.id, id);
    assert_db_ok(f, db_campaign_findings(f->db, second, DB_ANY_STATUS, keep_finding, &kept));
    assert_int_equal(kept.calls, 3);
}

static void what_a_person_set_stays(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_finding finding = a_finding("s");
    struct db_upserted result;
    finding.reference = "A-4";
    assert_db_ok(f, db_see(f->db, &finding, &f->shard, 1, &result));
    assert_int_equal(result.status, DB_STATUS_KNOWN);
    assert_string_equal(get(f, result.id).reference, "A-4");

    assert_db_ok(f, db_finding_status_set(f->db, result.id, DB_STATUS_FIXED, NULL));
    assert_db_ok(f, db_finding_note_set(f->db, result.id, "it's \"fixed\"; -- in 0.2"));
    assert_db_ok(f, db_see(f->db, &finding, &f->shard, 0, &result));
    assert_int_equal(result.status, DB_STATUS_FIXED);
    struct kept kept = get(f, result.id);
    assert_string_equal(kept.reference, "A-4");
    assert_string_equal(kept.note, "it's \"fixed\"; -- in 0.2");
    assert_db_ok(f, db_finding_status_set(f->db, result.id, DB_STATUS_INVALID, "B-1"));
    assert_string_equal(get(f, result.id).reference, "B-1");

    assert_db_error(f, db_finding_status_set(f->db, 9, DB_STATUS_OPEN, "x"), DB_ERROR_NOT_FOUND,
                    "no finding 9");
    assert_db_error(f, db_finding_note_set(f->db, 9, "x"), DB_ERROR_NOT_FOUND, "no finding 9");
}

static void minimised_form_is_replaced(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    uint64_t id = upsert(f, "s", f->campaign, 1, "case 1").id;
    struct db_finding smaller = {
        .minimised = {.kernel = KERNEL_A, .launch = "threads=1", .tests = 99, .statements = 1},
        .cause = "oracle|class|rule|what"};
    assert_db_ok(f, db_finding_minimised_set(f->db, id, &smaller));
    struct kept kept = get(f, id);
    assert_string_equal(kept.launch, "threads=1");
    assert_int_equal(kept.finding.minimised.statements, 1);
    assert_int_equal(kept.finding.minimised.tests, 99);
    assert_string_equal(kept.raw_case, "case 1");
    assert_string_equal(kept.cause, "oracle|class|rule|what");
    assert_int_equal(kept.finding.minimisation, DB_MINIMISATION_DONE);
    assert_db_ok(f, db_finding_minimisation_set(f->db, id, DB_MINIMISATION_SLIPPED));
    assert_int_equal(get(f, id).finding.minimisation, DB_MINIMISATION_SLIPPED);
    assert_db_error(f, db_finding_minimised_set(f->db, 9, &smaller), DB_ERROR_NOT_FOUND,
                    "no finding 9");
}

static void suppression(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    assert_db_ok(f, db_suppress(f->db, "future", "not yet found", 0));
    assert_true(upsert(f, "future", f->campaign, 1, "").suppressed);
    uint64_t id = upsert(f, "s", f->campaign, 1, "").id;
    assert_db_ok(f, db_suppress(f->db, "s", "boring", 0));
    assert_db_ok(f, db_suppress(f->db, "s", "very boring", 0));
    struct db_upserted again = upsert(f, "s", f->campaign, 2, "");
    assert_true(again.suppressed);
    assert_int_equal(get(f, id).finding.occurrences, 2); /* counted all the same */
    assert_true(get(f, id).finding.suppressed);
    assert_db_ok(f, db_unsuppress(f->db, "s"));
    assert_false(get(f, id).finding.suppressed);
    assert_db_error(f, db_unsuppress(f->db, "s"), DB_ERROR_NOT_FOUND, "no suppression of s");
    assert_db_ok(f, db_suppress(f->db, "s", "until 1970", 1000)); /* it has expired */
    assert_false(get(f, id).finding.suppressed);
    assert_db_ok(f, db_suppress(f->db, "s", "for long", UINT64_C(1) << 50));
    assert_true(get(f, id).finding.suppressed);
}

static bool append_skipped(void *context, const struct db_skipped *skipped)
{
    char *text = context;
    sprintf(text + strlen(text), "%u %s %s;", (unsigned)skipped->case_number, skipped->why,
            skipped->detail);
    return true;
}

static void skipped_cases(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_skipped skipped = {f->campaign, 9, "hang", "60 s"};
    assert_db_ok(f, db_skipped_put(f->db, &skipped));
    skipped = (struct db_skipped){f->campaign, 4, "hang", ""};
    assert_db_ok(f, db_skipped_put(f->db, &skipped));
    skipped = (struct db_skipped){f->campaign, 4, "crash", "signal 11"};
    assert_db_ok(f, db_skipped_put(f->db, &skipped));
    char text[100] = "";
    assert_db_ok(f, db_skipped(f->db, f->campaign, append_skipped, text));
    assert_string_equal(text, "4 crash signal 11;9 hang 60 s;");
    skipped.why = "bored";
    assert_db_error(f, db_skipped_put(f->db, &skipped), DB_ERROR_RANGE, "why");
}

static bool count_and_stop_at_two(void *context, const struct db_finding *finding)
{
    int *count = context;
    assert_string_equal(finding->evidence, "");
    assert_string_equal(finding->minimised.kernel, "");
    return ++*count < 2;
}

static void listing_filters_and_stops(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    char signature[] = "s0";
    for (; signature[1] < '6'; signature[1]++)
        upsert(f, signature, f->campaign, 1, "");
    assert_db_ok(f, db_finding_status_set(f->db, 3, DB_STATUS_KNOWN, "A-4"));
    struct kept kept = {.calls = 0};
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, keep_finding, &kept));
    assert_int_equal(kept.calls, 6);
    kept.calls = 0;
    assert_db_ok(f, db_findings(f->db, DB_STATUS_BIT(DB_STATUS_KNOWN), keep_finding, &kept));
    assert_int_equal(kept.calls, 1);
    assert_int_equal(kept.finding.id, 3);
    int count = 0;
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, count_and_stop_at_two, &count));
    assert_int_equal(count, 2);
}

static void names_of_findings(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    uint64_t value = upsert(f, "sim|value|if", f->campaign, 1, "").id;
    uint64_t longer = upsert(f, "sim|value|if_else", f->campaign, 1, "").id;
    uint64_t race = upsert(f, "race|missed|load", f->campaign, 1, "").id;
    uint64_t id = 0;
    assert_db_ok(f, db_finding_resolve(f->db, "r", &id));
    assert_int_equal(id, race);
    assert_db_ok(f, db_finding_resolve(f->db, "sim|value|if", &id)); /* exact beats longer */
    assert_int_equal(id, value);
    assert_db_ok(f, db_finding_resolve(f->db, "sim|value|if_", &id));
    assert_int_equal(id, longer);
    assert_db_ok(f, db_finding_resolve(f->db, "2", &id));
    assert_int_equal(id, 2);
    assert_db_error(f, db_finding_resolve(f->db, "sim", &id), DB_ERROR_AMBIGUOUS,
                    "2 findings: sim|value|if, sim|value|if_else");
    assert_db_error(f, db_finding_resolve(f->db, "", &id), DB_ERROR_AMBIGUOUS, "3 findings");
    assert_db_error(f, db_finding_resolve(f->db, "si%", &id), DB_ERROR_NOT_FOUND, "'si%'");
    assert_db_error(f, db_finding_resolve(f->db, "99", &id), DB_ERROR_NOT_FOUND, "finding 99");
    assert_db_error(f, db_finding_resolve(f->db, "99999999999999999999999", &id),
                    DB_ERROR_NOT_FOUND, "finding 99999999999999999999999");
    char many[8];
    for (int i = 0; i < 30; i++) {
        snprintf(many, sizeof many, "many%d", i);
        upsert(f, many, f->campaign, 1, "");
    }
    assert_db_error(f, db_finding_resolve(f->db, "many", &id), DB_ERROR_AMBIGUOUS, ", ...");
    assert_non_null(strstr(f->message.text, "30 findings"));
}

/* ---- occurrences and kernels */

static bool append_occurrence(void *context, const struct db_occurrence *occurrence)
{
    char *text = context;
    sprintf(text + strlen(text), "%u %s %s %s %s %d;", (unsigned)occurrence->case_number,
            occurrence->case_text, occurrence->kernel, occurrence->tapes, occurrence->raw_key,
            occurrence->replayed);
    return true;
}

static void copy_text(void *context, const char *text, size_t length)
{
    assert_int_equal(strlen(text), length);
    strcpy(context, text);
}

/* A case of the raw key "key" with a kernel of its own. */
static void put_example(struct fixture *f, const char *signature, uint64_t case_number)
{
    char hash[DB_HASH_LENGTH + 1];
    struct db_finding finding = a_finding(signature);
    struct db_occurrence occurrence = {.campaign = f->campaign,
                                       .case_number = case_number,
                                       .tapes = "t",
                                       .raw_key = "key",
                                       .replayed = true};
    struct db_upserted result;
    snprintf(hash, sizeof hash, "%032d", (int)case_number);
    finding.raw_kernel = hash;
    finding.raw_case = "c";
    assert_db_ok(f, db_kernel_put(f->db, hash, "k"));
    assert_db_ok(f, db_example_put(f->db, &finding, &occurrence, &result));
}

static void examples_are_the_lowest(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    static const uint64_t arrival[] = {5, 3, 9, 3, 1, 7, 2};
    for (size_t i = 0; i < sizeof arrival / sizeof arrival[0]; i++)
        put_example(f, arrival[i] > 5 ? "t" : "s", arrival[i]);
    char text[400] = "";
    assert_db_ok(f, db_occurrences(f->db, 1, append_occurrence, text));
    assert_string_equal(text, "1 c 00000000000000000000000000000001 t key 1;"
                              "2 c 00000000000000000000000000000002 t key 1;"
                              "3 c 00000000000000000000000000000003 t key 1;"
                              "5 c 00000000000000000000000000000005 t key 1;");
    /* 9 and 7 were kept for a while, and with them a finding; their kernels go when the campaign ends. */
    uint64_t id;
    assert_db_error(f, db_finding_resolve(f->db, "t", &id), DB_ERROR_NOT_FOUND, "'t'");
    assert_db_ok(f, db_kernel_get(f->db, "00000000000000000000000000000009", copy_text, text));
    assert_db_ok(f, db_campaign_finish(f->db, &f->shard, DB_CAMPAIGN_FINISHED, 9));
    assert_db_error(f, db_kernel_get(f->db, "00000000000000000000000000000009", copy_text, text),
                    DB_ERROR_NOT_FOUND, "00000000000000000000000000000009");
    assert_db_ok(f, db_kernel_get(f->db, "00000000000000000000000000000003", copy_text, text));
    assert_string_equal(text, "k");
    assert_db_ok(f, db_kernel_get(f->db, KERNEL_B, copy_text, text));
    assert_string_equal(text, "kernel b");
}

/* What a raw key shows beyond its examples counts for the finding of the lowest one. */
static void occurrences_beyond_the_examples(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    put_example(f, "s", 4);
    put_example(f, "t", 6);
    struct db_tally tally = {.occurrences = 12, .first_case = 4, .last_case = 40};
    assert_db_ok(f, db_tally_add(f->db, &f->shard, "key", &tally));
    assert_int_equal(get(f, 1).finding.occurrences, 11);
    assert_int_equal(get(f, 1).finding.last_case, 40);
    assert_int_equal(get(f, 2).finding.occurrences, 1);
    assert_int_equal(get(f, 2).finding.last_case, 6);
    put_example(f, "t", 2); /* now that is the lowest one */
    assert_int_equal(get(f, 1).finding.occurrences, 1);
    assert_int_equal(get(f, 1).finding.last_case, 4);
    assert_int_equal(get(f, 2).finding.occurrences, 11);
    assert_int_equal(get(f, 2).finding.first_case, 2);
    assert_int_equal(get(f, 2).finding.last_case, 40);
}

/* What somebody said something about stays when its examples go. */
static void people_keep_findings(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    put_example(f, "s", 9);
    assert_db_ok(f, db_finding_note_set(f->db, 1, "look at this"));
    for (uint64_t number = 1; number <= DB_EXAMPLES_PER_KEY; number++)
        put_example(f, "t", number);
    struct kept kept = get(f, 1);
    assert_string_equal(kept.note, "look at this");
    assert_int_equal(kept.finding.occurrences, 0);
    assert_int_equal(kept.finding.first_campaign, 0);
    assert_string_equal(kept.raw_case, "");
    put_example(f, "s", 0);
    assert_int_equal(get(f, 1).finding.occurrences, 1);
}

static bool append_tally(void *context, const char *raw_key, const struct db_tally *tally)
{
    char *text = context;
    sprintf(text + strlen(text), "%s %u %u %u;", raw_key, (unsigned)tally->occurrences,
            (unsigned)tally->first_case, (unsigned)tally->last_case);
    return true;
}

static bool append_shard(void *context, const struct db_campaign *c)
{
    char *text = context;
    sprintf(text + strlen(text), "%u/%u %u %s %u;", (unsigned)c->shard_index,
            (unsigned)c->shard_count, (unsigned)c->counts.cases, db_campaign_state_name(c->state),
            (unsigned)c->shards);
    return true;
}

static void shards_add_up(void **state)
{
    struct fixture *f = *state;
    struct db_campaign campaign = {
        .seed = 5, .shard_count = 3, .options = "subjects=threads,simt", .version = "0.1.0"};
    struct db_shard shards[4];
    fixture_open(f, DB_CREATE);
    for (uint64_t i = 0; i < 4; i++) { /* the last one is a second run of shard 0 */
        campaign.shard_index = i % 3;
        assert_db_ok(f, db_campaign_start(f->db, &campaign, &shards[i]));
        assert_int_equal(shards[i].campaign, i < 3 ? 1 : 2);
        assert_int_equal(shards[i].index, i % 3);
        struct db_counts counts = {.cases = 10 + i};
        assert_db_ok(f, db_campaign_update(f->db, &shards[i], &counts, 1));
        assert_db_ok(f, db_rule_hits_add(f->db, &shards[i], "rule", 1 + i));
        struct db_tally tally = {1 + i, i, 90 - i};
        assert_db_ok(f, db_tally_add(f->db, &shards[i], i % 2 ? "odd" : "even", &tally));
    }
    assert_db_ok(f, db_campaign_finish(f->db, &shards[1], DB_CAMPAIGN_FINISHED, 1));
    struct db_campaign got;
    assert_db_ok(f, db_campaign_get(f->db, 1, copy_campaign, &got));
    assert_int_equal(got.counts.cases, 33);
    assert_int_equal(got.shards, 3);
    assert_int_equal(got.state, DB_CAMPAIGN_RUNNING);
    char text[200] = "";
    assert_db_ok(f, db_shards(f->db, 1, append_shard, text));
    assert_string_equal(text, "0/3 10 running 1;1/3 11 finished 1;2/3 12 running 1;");
    text[0] = '\0';
    assert_db_ok(f, db_rule_hits(f->db, 1, append_rule, text));
    assert_string_equal(text, "rule 6;");
    text[0] = '\0';
    assert_db_ok(f, db_tallies(f->db, &shards[2], append_tally, text));
    assert_string_equal(text, "even 3 2 88;");
}

static void schema_refuses(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db_upserted result;
    struct db_finding finding = a_finding("s");
    finding.evidence = "{not json";
    assert_db_error(f, db_see(f->db, &finding, &f->shard, 1, &result), DB_ERROR_RANGE,
                    "json_valid");
    finding = a_finding("s");
    finding.raw_kernel = "00000000000000000000000000000000"; /* not stored */
    assert_db_error(f, db_see(f->db, &finding, &f->shard, 1, &result), DB_ERROR_RANGE,
                    "FOREIGN KEY");
    finding = a_finding("s");
    assert_db_error(f, db_see(f->db, &finding, &(struct db_shard){.campaign = 77}, 1, &result),
                    DB_ERROR_RANGE, "FOREIGN KEY");
    assert_db_error(f, db_see(f->db, &finding, &f->shard, UINT64_MAX, &result), DB_ERROR_RANGE,
                    "out of range");
    finding.signature = "";
    assert_db_error(f, db_see(f->db, &finding, &f->shard, 1, &result), DB_ERROR_RANGE, "signature");
    assert_db_error(f, db_kernel_put(f->db, "XYZ", "text"), DB_ERROR_RANGE, "hash");
    struct kept kept = {.calls = 0};
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, keep_finding, &kept));
    assert_int_equal(kept.calls, 0); /* nothing of the refused ones is left */
}

/* ---- batches */

static void batch_is_all_or_nothing(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    assert_db_ok(f, db_begin(f->db));
    assert_int_equal(db_begin(f->db), DB_ERROR_RANGE);
    upsert(f, "lost", f->campaign, 1, "");
    db_rollback(f->db);
    assert_db_error(f, db_commit(f->db), DB_ERROR_RANGE, "no batch");

    assert_db_ok(f, db_begin(f->db));
    upsert(f, "lost too", f->campaign, 1, "");
    assert_int_equal(db_kernel_put(f->db, "bad", ""), DB_ERROR_RANGE);
    struct db_counts counts = {.cases = 1};
    assert_db_error(f, db_campaign_update(f->db, &f->shard, &counts, 1), DB_ERROR_RANGE,
                    "rolled back");
    assert_db_error(f, db_commit(f->db), DB_ERROR_RANGE, "rolled back");
    db_rollback(f->db);

    assert_db_ok(f, db_begin(f->db));
    upsert(f, "kept", f->campaign, 1, "");
    assert_db_ok(f, db_commit(f->db));
    assert_db_ok(f, db_begin(f->db));
    upsert(f, "lost at close", f->campaign, 1, "");
    fixture_open(f, DB_READONLY);
    struct kept kept = {.calls = 0};
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, keep_finding, &kept));
    assert_int_equal(kept.calls, 1);
}

struct nested {
    struct fixture *fixture;
    int inner;
};

static bool list_inside(void *context, const struct db_finding *finding)
{
    struct nested *nested = context;
    struct kept kept = {.calls = 0};
    (void)finding;
    assert_db_ok(nested->fixture,
                 db_findings(nested->fixture->db, DB_ANY_STATUS, keep_finding, &kept));
    nested->inner += kept.calls;
    return true;
}

static void queries_nest(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    upsert(f, "a", f->campaign, 1, "");
    upsert(f, "b", f->campaign, 1, "");
    upsert(f, "c", f->campaign, 1, "");
    struct nested nested = {.fixture = f};
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, list_inside, &nested));
    assert_int_equal(nested.inner, 9);
}

/* ---- the dump */

/* One campaign whose findings arrive in the order of `cases`. */
static char *campaign_in_order(struct fixture *f, const int *cases, int count, uint64_t jobs)
{
    char path[sizeof f->path];
    strcpy(path, f->path);
    snprintf(f->path, sizeof f->path, "%s/%d.db", f->folder, cases[0]);
    fixture_open(f, DB_CREATE);
    struct db_campaign campaign = {.seed = 1,
                                   .shard_count = 1,
                                   .options = "",
                                   .version = "",
                                   .jobs = jobs,
                                   .started_ms = jobs * 1000};
    struct db_shard shard;
    assert_db_ok(f, db_campaign_start(f->db, &campaign, &shard));
    for (int i = 0; i < count; i++) {
        char signature[8], hash[DB_HASH_LENGTH + 1], text[16];
        snprintf(signature, sizeof signature, "s%d", cases[i] % 3);
        snprintf(hash, sizeof hash, "%032d", cases[i]);
        snprintf(text, sizeof text, "case %d", cases[i]);
        struct db_finding finding = a_finding(signature);
        struct db_upserted result;
        assert_db_ok(f, db_kernel_put(f->db, hash, text));
        finding.raw_kernel = finding.minimised.kernel = hash;
        finding.raw_case = text;
        finding.raw_statements = (uint64_t)cases[i];
        assert_db_ok(f, db_see(f->db, &finding, &shard, (uint64_t)cases[i], &result));
        assert_db_ok(f, db_rule_hits_add(f->db, &shard, signature, (uint64_t)cases[i]));
    }
    char *text = fixture_content(f);
    strcpy(f->path, path);
    return text;
}

static void content_does_not_depend_on_arrival(void **state)
{
    struct fixture *f = *state;
    static const int in_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    static const int mixed[] = {11, 14, 2, 7, 0, 9, 12, 4, 1, 10, 3, 8, 6, 13, 5};
    char *a = campaign_in_order(f, in_order, 15, 1);
    char *b = campaign_in_order(f, mixed, 15, 2);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "\"raw_case\":\"case 3\""));
    assert_null(strstr(a, "case 12")); /* not among the lowest */
    char *c = campaign_in_order(f, in_order + 1, 14, 1);
    assert_string_not_equal(a, c);
    free(a);
    free(b);
    free(c);
}

static void dump_covers_every_table(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    upsert(f, "s", f->campaign, 1, "");
    struct db_verdict verdict = {"race", "not_applicable", 1};
    struct db_statistics statistics = {.number = 0};
    assert_db_ok(f, db_suppress(f->db, "s", "", 0));
    assert_db_ok(f, db_verdicts_add(f->db, &f->shard, &verdict));
    assert_db_ok(f, db_reasons_add(f->db, &f->shard, &verdict, "why"));
    assert_db_ok(f, db_rule_hits_add(f->db, &f->shard, "rule", 1));
    assert_db_ok(f, db_statistics_add(f->db, &f->shard, &statistics, &verdict, 1));
    struct db_skipped skipped = {f->campaign, 4, "crash", ""};
    assert_db_ok(f, db_skipped_put(f->db, &skipped));
    char *text = fixture_content(f);
    static const char *const tables[] = {
        "campaign", "finding", "example",     "sighting",   "tally",
        "kernel",   "rule",    "suppression", "statistics", "statistics_verdict",
        "verdict",  "reason",  "skipped",
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char start[64];
        snprintf(start, sizeof start, "{\"table\":\"%s\"", tables[i]);
        if (!strstr(text, start))
            fail_msg("the dump has no %s", tables[i]);
    }
    free(text);
}

static void names(void **state)
{
    (void)state;
    enum db_status status;
    for (int i = DB_STATUS_OPEN; i <= DB_STATUS_INVALID; i++) {
        assert_true(db_status_parse(db_status_name((enum db_status)i), &status));
        assert_int_equal(status, i);
    }
    assert_false(db_status_parse("opened", &status));
    assert_string_equal(db_error_name(DB_OK), "ok");
    assert_string_equal(db_error_name(DB_ERROR_RANGE), "range");
    assert_string_equal(db_error_name(DB_ERROR_RANGE - 1), "unknown");
    assert_string_equal(db_error_name(1), "unknown");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(campaign_lives),
        TEST(seeds_keep_64_bits),
        TEST(absent_campaign),
        TEST(counters_add_up),
        TEST(finding_round_trip),
        TEST(example_is_of_the_lowest_case),
        TEST(what_a_person_set_stays),
        TEST(minimised_form_is_replaced),
        TEST(suppression),
        TEST(skipped_cases),
        TEST(listing_filters_and_stops),
        TEST(names_of_findings),
        TEST(examples_are_the_lowest),
        TEST(occurrences_beyond_the_examples),
        TEST(people_keep_findings),
        TEST(shards_add_up),
        TEST(schema_refuses),
        TEST(batch_is_all_or_nothing),
        TEST(queries_nest),
        TEST(content_does_not_depend_on_arrival),
        TEST(dump_covers_every_table),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
