#include "fuzz/campaign/collector_state.h"

#include "engine/base/invariant.h"
#include "fuzz/base/clock.h"
#include "fuzz/beside/beside.h"
#include "fuzz/campaign/pool.h"

#include <inttypes.h>
#include <string.h>

enum {
    COMMIT_MS = 1000,
    COMMIT_FIRST_MS = 25,
    COMMIT_ROWS = 1000,
    STRETCHES = 32, /* of statistics, while the chunk number doubles; a power of two */
};

_Static_assert((int)EXAMPLES_PER_KEY == (int)DB_EXAMPLES_PER_KEY, "the database keeps all of them");

/* ---- start ---- */

static bool is_open(const struct campaign_finding *finding)
{
    bool told = finding->status == DB_STATUS_KNOWN || finding->status == DB_STATUS_INVALID;
    return !told && !finding->suppressed;
}

static void count_findings(struct campaign_summary *s, uint32_t quiet)
{
    s->open_findings = s->known_findings = s->failing = 0;
    for (uint32_t i = 0; i < s->finding_count; i++) {
        bool open = is_open(&s->findings[i]);
        s->open_findings += open;
        s->failing += open && !(quiet >> campaign_finding_kind(&s->findings[i]) & 1);
        s->known_findings += !open;
    }
}

struct collector *collector_open(struct arena *arena, const struct campaign_options *options,
                                 struct campaign_summary *summary, struct db_message *message)
{
    struct collector *c = ARENA_NEW(arena, struct collector);
    c->arena = arena;
    c->options = options;
    c->summary = summary;
    c->message = message;
    if (arena_init(&c->text, (size_t)1 << 30) != 0) {
        snprintf(message->text, sizeof message->text, "cannot reserve memory");
        return NULL;
    }
    int error = db_open(options->db_path, DB_CREATE, message, &c->db);
    if (error == DB_OK)
        error = collector_start(c);
    if (error == DB_OK) {
        count_findings(summary, options->quiet);
        summary->stored_findings = summary->finding_count;
        c->opened_ms = c->committed_ms = clock_monotonic_ms();
        return c;
    }
    db_close(c->db);
    arena_destroy(&c->text);
    return NULL;
}

/* ---- batches ---- */

int collector_open_batch(struct collector *c)
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
            error = db_rule_hits_add(c->db, &c->shard, rule_key(c, i), fresh);
        c->stored_hits[i] = c->summary->hits[i];
    }
    return error;
}

static const char *pair_key(struct collector *c, uint32_t rule, uint32_t context)
{
    return arena_printf(&c->text, "%s %s", rule_key(c, rule), context_table[context].name);
}

static int store_pairs(struct collector *c)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        for (uint32_t k = 0; k < CONTEXT_COUNT && error == DB_OK; k++) {
            uint64_t total = c->summary->pairs[i][k], fresh = total - c->stored_pairs[i][k];
            size_t mark = arena_mark(&c->text);
            if (fresh > 0)
                error = db_rule_hits_add(c->db, &c->shard, pair_key(c, i, k), fresh);
            arena_release(&c->text, mark);
            c->stored_pairs[i][k] = total;
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
                error = db_verdicts_add(c->db, &c->shard, &verdict);
            c->stored_verdicts[i][v] = total;
        }
    for (uint32_t b = 0; b < BESIDE_COUNT; b++)
        for (uint32_t v = 0; v < VERDICT_COUNT && error == DB_OK; v++) {
            uint64_t total = c->summary->beside[b][v];
            const struct db_verdict verdict = {beside_table[b].name, verdict_names[v],
                                               total - c->stored_beside[b][v]};
            if (verdict.count > 0)
                error = db_verdicts_add(c->db, &c->shard, &verdict);
            c->stored_beside[b][v] = total;
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
            error = db_reasons_add(c->db, &c->shard, &verdict, reason->text);
        reason->stored = reason->count;
    }
    return error;
}

static int store_tallies(struct collector *c)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < c->key_texts.count && error == DB_OK; i++) {
        struct db_tally *fresh = &c->keys[i].fresh;
        if (fresh->occurrences > 0)
            error = db_tally_add(c->db, &c->shard, c->key_texts.texts[i], fresh);
        fresh->occurrences = 0;
    }
    return error;
}

static int store_statistics(struct collector *c)
{
    struct db_verdict verdicts[ORACLE_COUNT * VERDICT_COUNT];
    size_t count = 0;
    if (c->statistics.counts.cases == 0)
        return DB_OK;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            if (c->statistics_verdicts[i][v] > 0)
                verdicts[count++] = (struct db_verdict){oracle_table[i].name, verdict_names[v],
                                                        c->statistics_verdicts[i][v]};
    int error = db_statistics_add(c->db, &c->shard, &c->statistics, verdicts, count);
    c->rows += 1 + (uint32_t)count;
    c->statistics.counts = (struct db_counts){0};
    memset(c->statistics_verdicts, 0, sizeof c->statistics_verdicts);
    return error;
}

/* Everything that is known goes into one transaction: findings are stored with the totals of the
 * cases that they belong to. */
static int commit(struct collector *c)
{
    uint64_t started_us = clock_monotonic_us();
    int error = collector_open_batch(c);
    if (error == DB_OK)
        error = store_hits(c);
    if (error == DB_OK)
        error = store_pairs(c);
    if (error == DB_OK)
        error = store_verdicts(c);
    if (error == DB_OK)
        error = store_reasons(c);
    if (error == DB_OK)
        error = store_tallies(c);
    if (error == DB_OK)
        error = store_statistics(c);
    if (error == DB_OK)
        error = db_campaign_update(c->db, &c->shard, &c->counts, clock_unix_ms());
    if (error == DB_OK)
        error = db_commit(c->db);
    c->batch = c->batch && error != DB_OK;
    c->rows = 0;
    c->committed_ms = clock_monotonic_ms();
    if (error == DB_OK)
        c->summary->stored_findings = c->summary->finding_count;
    c->summary->commits++;
    c->summary->commit_us += clock_monotonic_us() - started_us;
    c->text.used = 0;
    if (error == DB_OK && c->options->watch) /* relaxed: read when this process has ended */
        atomic_store_explicit(&c->options->watch->committed, c->summary->cases / CAMPAIGN_CHUNK,
                              memory_order_relaxed);
    return error;
}

/* More often at first, so that a process which is killed again and again gets on, too. */
static bool is_due(const struct collector *c)
{
    uint64_t now = clock_monotonic_ms(), wait = (now - c->opened_ms) / 8 + COMMIT_FIRST_MS;
    return now - c->committed_ms >= (wait < COMMIT_MS ? wait : COMMIT_MS) || c->rows >= COMMIT_ROWS;
}

int collector_commit(struct collector *c, bool at_once)
{
    return at_once || is_due(c) ? commit(c) : DB_OK;
}

/* ---- findings ---- */

struct raw_key *collector_key_of(struct collector *c, const char *signature)
{
    uint32_t number = key_table_number(&c->key_texts, c->arena, signature);
    c->keys = key_table_grow(c->arena, c->keys, number, &c->key_room, sizeof *c->keys);
    return &c->keys[number];
}

uint32_t collector_bucket_of(struct collector *c, const struct db_upserted *stored,
                             const struct db_finding *finding, uint64_t case_number)
{
    struct campaign_summary *s = c->summary;
    uint32_t number = key_table_number(&c->signatures, c->arena, finding->signature);
    if (number < s->finding_count) {
        /* an example that the program does not know opens what it knew so far */
        if (stored->status == DB_STATUS_OPEN)
            s->findings[number].status = DB_STATUS_OPEN;
        return number;
    }
    s->findings =
        key_table_grow(c->arena, s->findings, number, &c->finding_room, sizeof *s->findings);
    s->findings[number] = (struct campaign_finding){
        .id = stored->id,
        .signature = c->signatures.texts[number],
        .first_case = case_number,
        .status = stored->status,
        .reference = finding->reference
                         ? arena_strndup(c->arena, finding->reference, strlen(finding->reference))
                         : "",
        .created = stored->created,
        .suppressed = stored->suppressed,
        .flaky = strcmp(finding->class, "flaky") == 0,
        .cause = arena_strndup(c->arena, finding->cause ? finding->cause : "",
                               finding->cause ? strlen(finding->cause) : 0),
        .pending = finding->minimisation == DB_MINIMISATION_PENDING};
    s->finding_count++;
    return number;
}

/* Running findings again and minimising them may take as many steps as the cases before the chunk did,
 * and some more: a campaign goes on although every case shows something new. A function of the cases, not
 * of time. */
static bool may_spend(const struct collector *c)
{
    uint64_t allowance = c->options->example_steps ? c->options->example_steps : EXAMPLE_ALLOWANCE;
    uint64_t cases = c->summary->thread_steps + c->summary->warp_steps;
    return c->example_steps + c->examples_under_way * EXAMPLE_TYPICAL_STEPS < allowance + cases;
}

/* Whether an earlier process, which was given up, has stored the incident. */
static bool is_kept(const struct collector *c, const struct chunk_finding *finding)
{
    for (uint32_t i = 0; finding->incident && i < c->kept_count; i++)
        if (c->kept[i] == finding->number)
            return true;
    return false;
}

/* Decides which findings of the chunk become examples: slots[i] is -2 for those, -1 for others. */
static bool plan_examples(struct collector *c, const struct chunk *chunk)
{
    bool any = false;
    for (uint32_t i = 0; i < chunk->finding_count; i++) {
        struct raw_key *key = collector_key_of(c, chunk->findings[i].signature);
        bool example = !is_kept(c, &chunk->findings[i]) && key->examples < EXAMPLES_PER_KEY;
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
        int slot = pool_submit(pool, chunk, &chunk->findings[i], may_spend(c));
        if (slot < 0)
            return;
        c->examples_under_way++;
        c->slots[i] = slot;
    }
}

int collector_skip_case(struct collector *c, const struct chunk_finding *finding)
{
    const struct incident *incident = finding->incident;
    if (incident->state != INCIDENT_CONFIRMED || incident->phase == WATCH_MINIMISING)
        return DB_OK;
    struct db_skipped skipped = {.campaign = c->shard.campaign,
                                 .case_number = finding->number,
                                 .why = chunk_incident_class(incident),
                                 .detail = arena_printf(&c->text, "%s while %s", incident->rule,
                                                        watch_phase_name(incident->phase))};
    int error = collector_open_batch(c);
    c->rows++;
    c->summary->skipped++;
    return error == DB_OK ? db_skipped_put(c->db, &skipped) : error;
}

static int take_findings(struct collector *c, struct pool *pool, const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->finding_count; i++) {
        const struct chunk_finding *finding = &chunk->findings[i];
        if (is_kept(c, finding))
            continue;
        struct raw_key *key = collector_key_of(c, finding->signature);
        c->summary->occurrences++;
        int error = finding->incident ? collector_skip_case(c, finding) : DB_OK;
        if (error != DB_OK)
            return error;
        if (c->slots[i] == -1) {
            collector_count(c, key, finding->number, key->bucket - 1);
            continue;
        }
        submit_examples(c, pool, chunk);
        const struct example *example = pool_wait_job(pool, c->slots[i]);
        if (!example || (example->cut_short && c->summary->interrupted)) {
            c->gave_up = true;
            return 1;
        }
        error = collector_store(c, finding, example);
        c->example_steps += example->steps;
        c->examples_under_way--;
        pool_job_free(pool, c->slots[i]);
        c->slots[i] = -1;
        if (error != DB_OK)
            return error;
    }
    return DB_OK;
}

/* ---- sums ---- */

struct campaign_reason *collector_add_reason(struct collector *c, const struct chunk_reason *from)
{
    struct campaign_summary *s = c->summary;
    for (uint32_t i = 0; i < s->reason_count; i++) {
        struct campaign_reason *reason = &s->reasons[i];
        if (reason->oracle == from->oracle && reason->verdict == from->verdict &&
            strcmp(reason->text, from->text) == 0) {
            reason->count += from->count;
            return reason;
        }
    }
    s->reasons =
        key_table_grow(c->arena, s->reasons, s->reason_count, &c->reason_room, sizeof *s->reasons);
    struct campaign_reason *reason = &s->reasons[s->reason_count++];
    *reason = (struct campaign_reason){
        .oracle = from->oracle, .verdict = from->verdict, .count = from->count};
    memcpy(reason->text, from->text, strlen(from->text) + 1);
    return reason;
}

/* Statistics are kept for stretches of chunks, the same ones for all shards: each of the first is one, then
 * they get longer, so that there are STRETCHES of them whenever the number of chunks doubles. The stretch of
 * a chunk of the campaign; *end: the chunk behind it. */
static uint64_t stretch_of(uint64_t chunk, uint64_t *end)
{
    uint32_t doublings = 0;
    while (chunk >> doublings >= (uint64_t)STRETCHES * 2)
        doublings++;
    *end = ((chunk >> doublings) + 1) << doublings;
    return (uint64_t)STRETCHES * doublings + (chunk >> doublings);
}

static int add_statistics(struct collector *c, uint64_t number, const struct chunk *chunk)
{
    const struct campaign_options *o = c->options;
    uint64_t end, stretch = stretch_of(number * o->shard_count + o->shard_index, &end);
    int error = DB_OK;
    if (stretch != c->statistics.number && c->statistics.counts.cases > 0) {
        error = collector_open_batch(c);
        if (error == DB_OK)
            error = store_statistics(c);
    }
    c->statistics.number = stretch;
    c->statistics.end_case = end * CAMPAIGN_CHUNK;
    c->statistics.counts.cases += chunk->cases;
    c->statistics.counts.kernels += chunk->cases - chunk->refused;
    c->statistics.counts.thread_steps += chunk->thread_steps;
    c->statistics.counts.warp_steps += chunk->warp_steps;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            c->statistics_verdicts[i][v] += chunk->verdicts[i][v];
    return error;
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
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        for (uint32_t k = 0; k < CONTEXT_COUNT; k++)
            s->pairs[i][k] += chunk->pairs[i][k];
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            s->verdicts[i][v] += chunk->verdicts[i][v];
    for (uint32_t b = 0; b < BESIDE_COUNT; b++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            s->beside[b][v] += chunk->beside[b][v];
    for (uint32_t i = 0; i < chunk->reason_count; i++)
        collector_add_reason(c, &chunk->reasons[i]);
    c->counts = (struct db_counts){.cases = s->cases,
                                   .kernels = s->cases - s->refused,
                                   .thread_steps = s->thread_steps,
                                   .warp_steps = s->warp_steps,
                                   .example_steps = c->example_steps};
}

/* ---- chunks ---- */

/* What a chunk's findings change in the summary is kept, for a chunk that is given up. */
static void note_summary(struct collector *c)
{
    const struct campaign_summary *s = c->summary;
    c->before = *s;
    if (c->before_room < s->finding_count) {
        c->before_room = 2 * s->finding_count;
        c->occurrences_before = ARENA_ARRAY(c->arena, uint64_t, c->before_room);
    }
    for (uint32_t i = 0; i < s->finding_count; i++)
        c->occurrences_before[i] = s->findings[i].occurrences;
}

static void restore_summary(struct collector *c)
{
    struct campaign_summary *s = c->summary;
    s->finding_count = c->before.finding_count;
    s->occurrences = c->before.occurrences;
    s->flaky = c->before.flaky;
    s->skipped = c->before.skipped;
    for (uint32_t i = 0; i < s->finding_count; i++)
        s->findings[i].occurrences = c->occurrences_before[i];
}

/* Nothing of a chunk that is given up may be stored with what is kept at the end: who goes on runs all of it
 * again. What came before it is in the database already. */
static void forget_chunk(struct collector *c)
{
    restore_summary(c);
    db_rollback(c->db);
    c->batch = false;
    for (uint32_t i = 0; i < c->key_texts.count; i++)
        c->keys[i].fresh.occurrences = 0;
}

static int take_examples(struct collector *c, struct pool *pool, const struct chunk *chunk)
{
    /* They take their time: what is complete does not wait for them. */
    int error = collector_commit(c, true);
    if (error != DB_OK)
        return error;
    note_summary(c);
    submit_examples(c, pool, chunk);
    error = take_findings(c, pool, chunk);
    if (c->gave_up)
        forget_chunk(c);
    return error;
}

int collector_take(struct collector *c, struct pool *pool, uint64_t number,
                   const struct chunk *chunk, bool *stop)
{
    int error =
        plan_examples(c, chunk) ? take_examples(c, pool, chunk) : take_findings(c, pool, chunk);
    if (error != DB_OK)
        return error;
    add_sums(c, chunk);
    count_findings(c->summary, c->options->quiet);
    *stop = c->options->stop_on_finding && c->summary->failing > 0;
    return add_statistics(c, number, chunk);
}

int collector_close(struct collector *c, bool failed)
{
    int error = DB_OK;
    if (failed) {
        db_rollback(c->db);
        if (c->gave_up)
            error = db_campaign_finish(c->db, &c->shard, DB_CAMPAIGN_INTERRUPTED, clock_unix_ms());
    } else if (!c->options->report_only) {
        error = commit(c);
        enum db_campaign_state state =
            c->summary->interrupted ? DB_CAMPAIGN_INTERRUPTED : DB_CAMPAIGN_FINISHED;
        if (error == DB_OK)
            error = db_campaign_finish(c->db, &c->shard, state, clock_unix_ms());
        if (error != DB_OK)
            db_rollback(c->db);
    }
    db_close(c->db);
    arena_destroy(&c->text);
    return error;
}
