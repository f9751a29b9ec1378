#include "fuzz/collector.h"

#include "engine/invariant.h"
#include "fuzz/clock.h"
#include "fuzz/pool.h"
#include "fuzz/signature.h"
#include "fuzz/version.h"

#include <inttypes.h>
#include <string.h>

enum {
    KEYS_MAX = 4096,        /* raw signatures that get examples */
    REASONS_MAX = 256,      /* distinct reasons of a campaign */
    STATISTICS_CHUNKS = 64, /* a row of statistics every so many */
    COMMIT_MS = 1000,
    COMMIT_ROWS = 1000,
    OCCURRENCES_KEPT = 16, /* of one finding in one campaign */
};

/* A raw signature. */
struct raw_key {
    const char *text;
    uint32_t examples;           /* taken so far */
    int32_t bucket;              /* index in the summary's findings; -1: none yet */
    uint64_t count, first, last; /* occurrences without example that are not stored yet */
};

struct collector {
    struct arena *arena; /* of the campaign */
    struct arena text;   /* strings of one finding, emptied after it */
    const struct campaign_options *options;
    struct feedback *feedback; /* NULL: none */
    struct campaign_summary *summary;
    struct db *db;
    struct db_message *message;
    bool batch; /* a transaction is open */
    bool gave_up;
    uint32_t rows;
    uint64_t committed_ms;
    struct db_progress progress;
    uint64_t stored_hits[RULE_COUNT]; /* of the summary's, already in the database */
    uint64_t stored_verdicts[ORACLE_COUNT][VERDICT_COUNT];
    uint64_t statistics; /* rows */
    uint64_t statistics_cases;
    uint32_t key_count, finding_capacity;
    struct raw_key *keys;
    int slots[CHUNK_FINDINGS_MAX]; /* of the current chunk's jobs, by finding; -1 = none */
};

/* ---- start ---- */

/* Everything that decides what the cases are, but seed and shard. */
static const char *print_options(struct arena *arena, const struct campaign_options *o)
{
    const char *options = case_print_options(arena, &o->gen, &o->check);
    return o->feedback == 0 ? options
                            : arena_printf(arena, "%s feedback=%" PRIu32, options, o->feedback);
}

static int start_campaign(struct collector *c)
{
    const struct campaign_options *o = c->options;
    struct db_campaign campaign = {
        .seed = o->seed,
        .cases_target = o->cases,
        .shard_index = o->shard_index,
        .shard_count = o->shard_count,
        .options = print_options(c->arena, o),
        .version = SIMTFUZZ_VERSION,
        .config = o->config,
        .jobs = o->jobs,
        .started_ms = clock_unix_ms(),
    };
    return db_campaign_start(c->db, &campaign, &c->summary->campaign);
}

struct collector *collector_open(struct arena *arena, const struct campaign_options *options,
                                 struct feedback *feedback, struct campaign_summary *summary,
                                 struct db_message *message)
{
    struct collector *c = ARENA_NEW(arena, struct collector);
    c->arena = arena;
    c->options = options;
    c->feedback = feedback;
    c->summary = summary;
    c->message = message;
    c->keys = ARENA_ARRAY(arena, struct raw_key, KEYS_MAX);
    c->finding_capacity = KEYS_MAX * 2;
    summary->findings = ARENA_ARRAY(arena, struct campaign_finding, c->finding_capacity);
    summary->reasons = ARENA_ARRAY(arena, struct campaign_reason, REASONS_MAX);
    if (arena_init(&c->text, (size_t)1 << 30) != 0) {
        snprintf(message->text, sizeof message->text, "cannot reserve memory");
        return NULL;
    }
    int error = db_open(options->db_path, DB_CREATE, message, &c->db);
    if (error == DB_OK)
        error = start_campaign(c);
    if (error == DB_OK) {
        c->committed_ms = clock_monotonic_ms();
        return c;
    }
    db_close(c->db);
    arena_destroy(&c->text);
    return NULL;
}

/* ---- batches ---- */

static int open_batch(struct collector *c)
{
    if (c->batch)
        return DB_OK;
    int error = db_begin(c->db);
    c->batch = error == DB_OK;
    return error;
}

static const char *rule_key(struct collector *c, uint32_t rule)
{
    return arena_printf(&c->text, "%s.%s", rule_table[rule].semantics, rule_table[rule].name);
}

static int store_hits(struct collector *c)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < RULE_COUNT && error == DB_OK; i++) {
        uint64_t fresh = c->summary->hits[i] - c->stored_hits[i];
        if (fresh > 0)
            error = db_rule_hits_add(c->db, c->summary->campaign, rule_key(c, i), fresh);
        c->stored_hits[i] = c->summary->hits[i];
    }
    return error;
}

static int store_verdicts(struct collector *c)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT && error == DB_OK; v++) {
            uint64_t total = c->summary->verdicts[i][v];
            struct db_verdict verdict = {oracle_table[i].name, verdict_names[v],
                                         total - c->stored_verdicts[i][v]};
            if (verdict.count > 0)
                error = db_verdicts_add(c->db, c->summary->campaign, &verdict);
            c->stored_verdicts[i][v] = total;
        }
    return error;
}

static int store_reasons(struct collector *c)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < c->summary->reason_count && error == DB_OK; i++) {
        struct campaign_reason *reason = &c->summary->reasons[i];
        struct db_verdict verdict = {oracle_table[reason->oracle].name,
                                     verdict_names[reason->verdict],
                                     reason->count - reason->stored};
        if (verdict.count > 0)
            error = db_reasons_add(c->db, c->summary->campaign, &verdict, reason->text);
        reason->stored = reason->count;
    }
    return error;
}

static int store_counts(struct collector *c)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < c->key_count && error == DB_OK; i++) {
        struct raw_key *key = &c->keys[i];
        if (key->count > 0)
            error = db_finding_count(c->db, c->summary->findings[key->bucket].id,
                                     c->summary->campaign, key->first, key->last, key->count);
        key->count = 0;
    }
    return error;
}

/* Everything that is known goes into one transaction: findings are stored with the totals of the
 * cases that they belong to. */
static int commit(struct collector *c)
{
    uint64_t started_us = clock_monotonic_us();
    int error = open_batch(c);
    if (error == DB_OK)
        error = store_hits(c);
    if (error == DB_OK)
        error = store_verdicts(c);
    if (error == DB_OK)
        error = store_reasons(c);
    if (error == DB_OK)
        error = store_counts(c);
    if (error == DB_OK)
        error = db_campaign_update(c->db, c->summary->campaign, &c->progress, clock_unix_ms());
    if (error == DB_OK)
        error = db_commit(c->db);
    c->batch = c->batch && error != DB_OK;
    c->rows = 0;
    c->committed_ms = clock_monotonic_ms();
    c->summary->commits++;
    c->summary->commit_us += clock_monotonic_us() - started_us;
    c->text.used = 0;
    return error;
}

int collector_commit(struct collector *c, bool at_once)
{
    bool due = clock_monotonic_ms() - c->committed_ms >= COMMIT_MS || c->rows >= COMMIT_ROWS;
    return at_once || due ? commit(c) : DB_OK;
}

/* ---- findings ---- */

/* The key of a raw signature; further ones than KEYS_MAX share the last. */
static struct raw_key *key_of(struct collector *c, const char *signature)
{
    for (uint32_t i = 0; i < c->key_count; i++)
        if (strcmp(c->keys[i].text, signature) == 0)
            return &c->keys[i];
    if (c->key_count == KEYS_MAX)
        return &c->keys[KEYS_MAX - 1];
    struct raw_key *key = &c->keys[c->key_count++];
    key->text = arena_strndup(c->arena, signature, strlen(signature));
    key->bucket = -1;
    return key;
}

/* The campaign's entry of a stored finding. */
static int32_t bucket_of(struct collector *c, const struct db_upserted *stored,
                         const struct db_finding *finding, uint64_t case_number)
{
    struct campaign_summary *s = c->summary;
    for (uint32_t i = 0; i < s->finding_count; i++)
        if (s->findings[i].id == stored->id)
            return (int32_t)i;
    INVARIANT(s->finding_count < c->finding_capacity);
    s->findings[s->finding_count] = (struct campaign_finding){
        .id = stored->id,
        .signature = arena_strndup(c->arena, finding->signature, strlen(finding->signature)),
        .first_case = case_number,
        .status = stored->status,
        .reference = finding->reference
                         ? arena_strndup(c->arena, finding->reference, strlen(finding->reference))
                         : "",
        .created = stored->created,
        .suppressed = stored->suppressed};
    return (int32_t)s->finding_count++;
}

/* A divergence that its own case does not show again: a finding about simtfuzz. */
static void describe_flaky(struct collector *c, const char *key, const struct example *example,
                           struct db_finding *finding)
{
    finding->oracle = signature_part(&c->text, key, 0);
    finding->class = "flaky";
    finding->rule = signature_part(&c->text, key, 2);
    finding->observable = signature_part(&c->text, key, 3);
    finding->k1 = arena_printf(&c->text, "%s|flaky", finding->oracle);
    finding->signature =
        arena_printf(&c->text, "%s|%s|%s", finding->k1, finding->rule, finding->observable);
    finding->cause = finding->k1;
    finding->evidence = arena_printf(&c->text, "{\"why\": \"%s\"}", example->why);
    c->summary->flaky++;
}

/* A case at which the engine crashes or hangs: a finding about simtfuzz. */
static void describe_incident(struct collector *c, const struct incident *incident,
                              struct db_finding *finding)
{
    char signature[SIGNATURE_MAX];
    chunk_incident_signature(signature, incident);
    finding->signature = arena_strndup(&c->text, signature, strlen(signature));
    finding->oracle = "engine";
    finding->class = chunk_incident_class(incident);
    finding->rule = incident->rule;
    finding->observable = watch_phase_name(incident->phase);
    finding->k1 = arena_printf(&c->text, "engine|%s", finding->class);
    finding->cause = finding->signature;
    c->summary->flaky += incident->state != INCIDENT_CONFIRMED;
}

static void describe_shown(const struct shown *shown, struct db_finding *finding)
{
    finding->signature = shown->signature;
    finding->k1 = shown->k1;
    finding->oracle = shown->oracle;
    finding->class = shown->class_name;
    finding->rule = shown->rule;
    finding->observable = shown->observable;
    finding->subject = shown->subject;
    finding->evidence = shown->evidence;
    finding->cause = shown->cause;
    finding->status = shown->known ? DB_STATUS_KNOWN : DB_STATUS_OPEN;
    finding->reference = shown->known;
}

static int put_kernels(struct collector *c, const struct example *example,
                       struct db_finding *finding)
{
    if (!example->kernel) /* the engine dies at generating it */
        return DB_OK;
    finding->raw_kernel = case_text_hash(&c->text, example->kernel);
    int error = db_kernel_put(c->db, finding->raw_kernel, example->kernel);
    if (error != DB_OK || !example->minimised)
        return error;
    finding->minimised =
        (struct db_minimised){.kernel = case_text_hash(&c->text, example->small_kernel),
                              .launch = example->small_launch,
                              .tape = example->small_tape,
                              .case_text = example->small_case,
                              .tests = example->tests,
                              .statements = example->small_statements};
    return db_kernel_put(c->db, finding->minimised.kernel, example->small_kernel);
}

static int put_occurrence(struct collector *c, const struct example *example,
                          const struct db_finding *finding, uint64_t id, const char *key,
                          uint64_t case_number)
{
    const char *tapes = "";
    if (example->raw.found)
        tapes = arena_printf(&c->text, "%s\n%s", example->raw.tape, example->raw.other_tape);
    struct db_occurrence occurrence = {.finding = id,
                                       .campaign = c->summary->campaign,
                                       .case_number = case_number,
                                       .case_text = example->case_text,
                                       .kernel = finding->raw_kernel,
                                       .tapes = tapes,
                                       .raw_key = key,
                                       .cause = finding->cause,
                                       .replayed = example->replayed};
    return db_occurrence_put(c->db, &occurrence, OCCURRENCES_KEPT);
}

static int store_example(struct collector *c, struct raw_key *key, const struct chunk_finding *from,
                         const struct example *example)
{
    uint64_t case_number = from->number;
    struct db_finding finding = {.raw_case = example->case_text,
                                 .raw_statements = example->statements,
                                 .status = DB_STATUS_OPEN,
                                 .minimisation = DB_MINIMISATION_NONE,
                                 .signature_version = SIGNATURE_VERSION};
    if (from->incident) {
        describe_incident(c, from->incident, &finding);
    } else if (!example->replayed) {
        describe_flaky(c, key->text, example, &finding);
    } else {
        describe_shown(example->minimised ? &example->small : &example->raw, &finding);
        finding.minimisation = example->minimised ? DB_MINIMISATION_DONE : DB_MINIMISATION_PENDING;
    }
    struct db_upserted stored;
    int error = open_batch(c);
    if (error == DB_OK)
        error = put_kernels(c, example, &finding);
    if (error == DB_OK)
        error = db_finding_upsert(c->db, &finding, c->summary->campaign, case_number, &stored);
    if (error == DB_OK)
        error = put_occurrence(c, example, &finding, stored.id, key->text, case_number);
    if (error != DB_OK)
        return error;
    c->rows += 4;
    int32_t bucket = bucket_of(c, &stored, &finding, case_number);
    c->summary->findings[bucket].occurrences++;
    if (key->bucket < 0)
        key->bucket = bucket;
    c->text.used = 0;
    return DB_OK;
}

static void count_occurrence(struct collector *c, struct raw_key *key, uint64_t case_number)
{
    key->first = key->count == 0 ? case_number : key->first;
    key->last = case_number;
    key->count++;
    c->summary->findings[key->bucket].occurrences++;
}

/* Decides which findings of the chunk become examples: slots[i] is -2 for those, -1 for others. */
static bool plan_examples(struct collector *c, const struct chunk *chunk)
{
    bool any = false;
    for (uint32_t i = 0; i < chunk->finding_count; i++) {
        struct raw_key *key = key_of(c, chunk->findings[i].signature);
        bool example = key->examples < EXAMPLES_PER_KEY;
        key->examples += example;
        c->slots[i] = example ? -2 : -1;
        any |= example;
    }
    return any;
}

/* Hands planned examples to the workers as long as there is room. */
static void submit_examples(struct collector *c, struct pool *pool, const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->finding_count; i++) {
        if (c->slots[i] != -2)
            continue;
        int slot = pool_submit(pool, chunk, &chunk->findings[i]);
        if (slot < 0)
            return;
        c->slots[i] = slot;
    }
}

static int skip_case(struct collector *c, const struct chunk_finding *finding)
{
    const struct incident *incident = finding->incident;
    if (incident->state != INCIDENT_CONFIRMED || incident->phase == WATCH_MINIMISING)
        return DB_OK;
    struct db_skipped skipped = {.campaign = c->summary->campaign,
                                 .case_number = finding->number,
                                 .why = chunk_incident_class(incident),
                                 .detail = arena_printf(&c->text, "%s while %s", incident->rule,
                                                        watch_phase_name(incident->phase))};
    int error = open_batch(c);
    c->rows++;
    c->summary->skipped++;
    return error == DB_OK ? db_skipped_put(c->db, &skipped) : error;
}

static int take_findings(struct collector *c, struct pool *pool, const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->finding_count; i++) {
        const struct chunk_finding *finding = &chunk->findings[i];
        struct raw_key *key = key_of(c, finding->signature);
        c->summary->occurrences++;
        int error = finding->incident ? skip_case(c, finding) : DB_OK;
        if (error != DB_OK)
            return error;
        if (c->slots[i] == -1) {
            count_occurrence(c, key, finding->number);
            continue;
        }
        submit_examples(c, pool, chunk);
        const struct example *example = pool_wait_job(pool, c->slots[i]);
        if (!example) {
            c->gave_up = true;
            return 1;
        }
        error = store_example(c, key, finding, example);
        pool_job_free(pool, c->slots[i]);
        c->slots[i] = -1;
        if (error != DB_OK)
            return error;
    }
    return DB_OK;
}

/* ---- sums ---- */

static void add_reason(struct collector *c, const struct chunk_reason *from)
{
    struct campaign_summary *s = c->summary;
    const char *text =
        s->reason_count < REASONS_MAX - 2 * ORACLE_COUNT ? from->text : "other reasons";
    for (uint32_t i = 0; i < s->reason_count; i++) {
        struct campaign_reason *reason = &s->reasons[i];
        if (reason->oracle == from->oracle && reason->verdict == from->verdict &&
            (strcmp(reason->text, from->text) == 0 || strcmp(reason->text, text) == 0)) {
            reason->count += from->count;
            return;
        }
    }
    struct campaign_reason *reason = &s->reasons[s->reason_count++];
    *reason = (struct campaign_reason){
        .oracle = from->oracle, .verdict = from->verdict, .count = from->count};
    memcpy(reason->text, text, strlen(text) + 1);
}

static void add_sums(struct collector *c, const struct chunk *chunk)
{
    struct campaign_summary *s = c->summary;
    s->cases += chunk->cases;
    s->refused += chunk->refused;
    s->thread_steps += chunk->thread_steps;
    s->warp_steps += chunk->warp_steps;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        s->hits[i] += chunk->hits[i];
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            s->verdicts[i][v] += chunk->verdicts[i][v];
    for (uint32_t i = 0; i < chunk->reason_count; i++)
        add_reason(c, &chunk->reasons[i]);
    c->progress = (struct db_progress){.cases = s->cases,
                                       .kernels = s->cases,
                                       .thread_steps = s->thread_steps,
                                       .warp_steps = s->warp_steps};
}

static int put_statistics(struct collector *c)
{
    struct db_verdict verdicts[ORACLE_COUNT * VERDICT_COUNT];
    size_t count = 0;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            if (c->summary->verdicts[i][v] > 0)
                verdicts[count++] = (struct db_verdict){oracle_table[i].name, verdict_names[v],
                                                        c->summary->verdicts[i][v]};
    struct db_statistics row = {
        .number = c->statistics++, .progress = c->progress, .findings = c->summary->finding_count};
    c->statistics_cases = c->summary->cases;
    c->rows += 1 + (uint32_t)count;
    int error = open_batch(c);
    return error == DB_OK ? db_statistics_put(c->db, c->summary->campaign, &row, verdicts, count)
                          : error;
}

/* ---- chunks ---- */

static bool is_open(const struct campaign_finding *finding)
{
    bool told = finding->status == DB_STATUS_KNOWN || finding->status == DB_STATUS_INVALID;
    return !told && !finding->suppressed;
}

static void count_findings(struct campaign_summary *s)
{
    s->open_findings = s->known_findings = 0;
    for (uint32_t i = 0; i < s->finding_count; i++) {
        bool open = is_open(&s->findings[i]);
        s->open_findings += open;
        s->known_findings += !open;
    }
}

/* Before the chunk is released: workers then read what is written here. */
static void remember(struct collector *c, uint64_t number, const struct chunk *chunk)
{
    if (!c->feedback)
        return;
    for (uint32_t i = 0; i < chunk->cases; i++)
        feedback_take(c->feedback, &chunk->trace->cases[i].seen);
    if ((number + 1) % FEEDBACK_CHUNKS == 0)
        feedback_turn(c->feedback);
    c->summary->features = feedback_features(c->feedback);
    c->summary->remembered = feedback_seed_count(c->feedback);
}

int collector_take(struct collector *c, struct pool *pool, uint64_t number,
                   const struct chunk *chunk, bool *stop)
{
    /* Examples take their time: what is complete should not wait for them. */
    int error = collector_commit(c, plan_examples(c, chunk) && c->batch);
    if (error == DB_OK) {
        submit_examples(c, pool, chunk);
        error = take_findings(c, pool, chunk);
    }
    if (error != DB_OK)
        return error;
    add_sums(c, chunk);
    remember(c, number, chunk);
    count_findings(c->summary);
    *stop = c->options->stop_on_finding && c->summary->open_findings > 0;
    return (number + 1) % STATISTICS_CHUNKS == 0 ? put_statistics(c) : DB_OK;
}

int collector_close(struct collector *c, bool failed)
{
    int error = DB_OK;
    if (failed) {
        db_rollback(c->db);
        if (c->gave_up)
            error = db_campaign_finish(c->db, c->summary->campaign, DB_CAMPAIGN_INTERRUPTED,
                                       clock_unix_ms());
    } else {
        if (c->statistics_cases < c->summary->cases)
            error = put_statistics(c);
        if (error == DB_OK)
            error = commit(c);
        enum db_campaign_state state =
            c->summary->interrupted ? DB_CAMPAIGN_INTERRUPTED : DB_CAMPAIGN_FINISHED;
        if (error == DB_OK)
            error = db_campaign_finish(c->db, c->summary->campaign, state, clock_unix_ms());
        if (error != DB_OK)
            db_rollback(c->db);
    }
    db_close(c->db);
    arena_destroy(&c->text);
    return error;
}
