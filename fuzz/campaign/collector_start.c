/* The start of a collector: a new campaign, or everything that it would hold now if it had run the stored
 * chunks itself. */
#include "fuzz/campaign/collector_state.h"

#include "fuzz/base/clock.h"
#include "fuzz/base/key_table.h"
#include "fuzz/base/version.h"
#include "fuzz/beside/beside.h"
#include "fuzz/campaign/resume.h"

#include <string.h>

struct load {
    struct collector *c;
    struct load_key {
        uint64_t lowest; /* example's case + 1; 0: none */
        uint64_t beyond; /* occurrences that are not examples */
    } * keys;
    uint32_t key_room;
    uint32_t finding; /* whose examples are read */
};

/* ---- sums ---- */

static bool load_shard(void *context, const struct db_campaign *stored)
{
    struct collector *c = context;
    if (stored->shard_index != c->shard.index)
        return true;
    c->counts = stored->counts;
    c->example_steps = stored->counts.example_steps;
    c->summary->cases = stored->counts.cases;
    c->summary->refused = stored->counts.cases - stored->counts.kernels;
    c->summary->thread_steps = stored->counts.thread_steps;
    c->summary->warp_steps = stored->counts.warp_steps;
    return false;
}

/* "semantics.name" */
static bool is_rule(uint32_t rule, const char *key)
{
    size_t length = strlen(rule_table[rule].semantics);
    return strncmp(key, rule_table[rule].semantics, length) == 0 && key[length] == '.' &&
           strcmp(key + length + 1, rule_table[rule].name) == 0;
}

static bool load_hits(void *context, const char *rule, uint64_t hits)
{
    struct collector *c = context;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (is_rule(i, rule))
            c->summary->hits[i] = c->stored_hits[i] = hits;
    return true;
}

/* False: a name of another version. */
static bool parse_verdict(const struct db_verdict *stored, enum oracle_id *oracle,
                          enum verdict *verdict)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            if (strcmp(oracle_table[i].name, stored->oracle) == 0 &&
                strcmp(verdict_names[v], stored->verdict) == 0) {
                *oracle = (enum oracle_id)i;
                *verdict = (enum verdict)v;
                return true;
            }
    return false;
}

static bool load_verdict(void *context, const struct db_verdict *stored, const char *reason)
{
    struct collector *c = context;
    enum oracle_id oracle;
    enum verdict verdict;
    (void)reason;
    if (parse_verdict(stored, &oracle, &verdict))
        c->summary->verdicts[oracle][verdict] = c->stored_verdicts[oracle][verdict] = stored->count;
    for (uint32_t b = 0; b < BESIDE_COUNT; b++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            if (strcmp(stored->oracle, beside_table[b].name) == 0 &&
                strcmp(stored->verdict, verdict_names[v]) == 0)
                c->summary->beside[b][v] = c->stored_beside[b][v] = stored->count;
    return true;
}

static bool load_reason(void *context, const struct db_verdict *stored, const char *reason)
{
    struct collector *c = context;
    struct chunk_reason read = {.count = stored->count};
    if (!parse_verdict(stored, &read.oracle, &read.verdict) || strlen(reason) >= REASON_MAX)
        return true;
    memcpy(read.text, reason, strlen(reason) + 1);
    collector_add_reason(c, &read)->stored = stored->count;
    return true;
}

static bool load_skipped(void *context, const struct db_skipped *skipped)
{
    struct collector *c = context;
    c->kept = key_table_grow(c->arena, c->kept, c->kept_count, &c->kept_room, sizeof *c->kept);
    c->kept[c->kept_count++] = skipped->case_number;
    c->summary->skipped++;
    return true;
}

/* ---- findings ---- */

static struct load_key *key_of(struct load *load, const char *raw_key, struct raw_key **key)
{
    struct collector *c = load->c;
    *key = collector_key_of(c, raw_key);
    uint32_t number = (uint32_t)(*key - c->keys);
    load->keys = key_table_grow(c->arena, load->keys, number, &load->key_room, sizeof *load->keys);
    return &load->keys[number];
}

static bool load_tally(void *context, const char *raw_key, const struct db_tally *tally)
{
    struct load *load = context;
    struct collector *c = load->c;
    struct raw_key *key;
    struct load_key *own = key_of(load, raw_key, &key);
    uint64_t occurrences = tally->occurrences;
    key->examples = occurrences < EXAMPLES_PER_KEY ? (uint32_t)occurrences : EXAMPLES_PER_KEY;
    own->beyond = occurrences - key->examples;
    c->summary->occurrences += occurrences;
    return true;
}

static bool load_finding(void *context, const struct db_finding *finding)
{
    struct load *load = context;
    struct collector *c = load->c;
    const struct db_upserted stored = {.id = finding->id,
                                       .created = finding->first_campaign == c->shard.campaign,
                                       .status = finding->status,
                                       .suppressed = finding->suppressed};
    collector_bucket_of(c, &stored, finding, UINT64_MAX);
    return true;
}

/* An example counts for its own finding; its key's lowest one is where other occurrences count. */
static bool load_example(void *context, const struct db_occurrence *example)
{
    struct load *load = context;
    struct collector *c = load->c;
    if (example->campaign != c->shard.campaign)
        return true;
    struct campaign_finding *finding = &c->summary->findings[load->finding];
    struct raw_key *key;
    struct load_key *own = key_of(load, example->raw_key, &key);
    if (own->lowest == 0 || example->case_number + 1 < own->lowest) {
        own->lowest = example->case_number + 1;
        key->bucket = load->finding + 1;
    }
    if (example->case_number < finding->first_case)
        finding->first_case = example->case_number;
    finding->occurrences++;
    c->summary->flaky += !example->replayed;
    return true;
}

static int load_findings(struct collector *c)
{
    struct load load = {.c = c};
    int error = db_tallies(c->db, &c->shard, load_tally, &load);
    if (error == DB_OK)
        error = db_campaign_findings(c->db, c->shard.campaign, DB_ANY_STATUS, load_finding, &load);
    for (uint32_t i = 0; i < c->summary->finding_count && error == DB_OK; i++) {
        load.finding = i;
        error = db_occurrences(c->db, c->summary->findings[i].id, load_example, &load);
    }
    for (uint32_t i = 0; i < c->key_texts.count && error == DB_OK; i++) {
        const struct raw_key *key = &c->keys[i];
        if (key->bucket > 0)
            c->summary->findings[key->bucket - 1].occurrences += load.keys[i].beyond;
    }
    return error;
}

static int load_all(struct collector *c)
{
    uint64_t campaign = c->shard.campaign;
    uint64_t milliseconds = 0;
    int error = db_shards(c->db, campaign, load_shard, c);
    if (error == DB_OK)
        error = db_shard_time(c->db, &c->shard, &milliseconds);
    c->summary->seconds = (double)milliseconds / 1000;
    if (error == DB_OK)
        error = db_rule_hits(c->db, campaign, load_hits, c);
    if (error == DB_OK)
        error = db_verdicts(c->db, campaign, load_verdict, c);
    if (error == DB_OK)
        error = db_reasons(c->db, campaign, load_reason, c);
    if (error == DB_OK)
        error = db_skipped(c->db, campaign, load_skipped, c);
    if (error == DB_OK)
        error = load_findings(c);
    return error;
}

/* ---- start ---- */

static int start_campaign(struct collector *c)
{
    const struct campaign_options *o = c->options;
    struct db_campaign campaign = {
        .seed = o->seed,
        .cases_target = o->cases,
        .shard_index = o->shard_index,
        .shard_count = o->shard_count,
        .options = resume_print_options(c->arena, o),
        .version = SIMTFUZZ_VERSION,
        .config = o->config,
        .jobs = o->jobs,
        .started_ms = clock_unix_ms(),
    };
    int error = db_begin(c->db);
    if (error == DB_OK)
        error = db_campaign_start(c->db, &campaign, &c->shard);
    /* Before it is stored: a process that takes over knows what to look for. */
    if (error == DB_OK && o->watch)
        o->watch->campaign = c->shard.campaign;
    return error == DB_OK ? db_commit(c->db) : error;
}

/* The state is read in the transaction that makes this process the one that writes it. */
static int go_on(struct collector *c)
{
    int error = db_begin(c->db);
    if (error == DB_OK && !c->options->report_only)
        error = db_campaign_resume(c->db, &c->shard, c->options->jobs, clock_unix_ms());
    if (error == DB_OK && !c->options->report_only)
        error = db_shard_target_set(c->db, &c->shard, c->options->cases);
    if (error == DB_OK)
        error = load_all(c);
    return error == DB_OK ? db_commit(c->db) : error;
}

int collector_start(struct collector *c)
{
    const struct campaign_options *o = c->options;
    int error = DB_ERROR_NOT_FOUND;
    if (o->resume.campaign > 0) {
        c->shard = o->resume;
        error = go_on(c);
    } else if (o->watch && o->watch->campaign > 0) {
        c->shard = (struct db_shard){.campaign = o->watch->campaign, .index = o->shard_index};
        error = go_on(c);
    }
    if (error == DB_ERROR_NOT_FOUND && o->resume.campaign == 0) {
        db_rollback(c->db);
        error = start_campaign(c);
    }
    c->summary->campaign = error == DB_OK ? c->shard.campaign : 0;
    return error;
}
