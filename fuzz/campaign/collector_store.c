/* How a collector stores an example of a finding. */
#include "fuzz/campaign/collector_state.h"

#include "fuzz/case/example.h"
#include "fuzz/case/finding.h"
#include "fuzz/case/signature.h"
#include "oracle/check/evidence.h"

#include <string.h>

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
    bool divergence = strcmp(finding->oracle, "engine") != 0;
    struct evidence evidence;
    evidence_open(&evidence, &c->text);
    evidence_string(&evidence, "why", divergence ? example->why : "two runs of the case differ");
    finding->evidence = evidence_close(&evidence);
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

static int put_kernels(struct collector *c, const struct example *example,
                       struct db_finding *finding)
{
    if (!example->kernel) /* the engine dies at generating it */
        return DB_OK;
    finding->raw_kernel = case_text_hash(&c->text, example->kernel);
    int error = db_kernel_put(c->db, finding->raw_kernel, example->kernel);
    if (error != DB_OK || !example->minimised || example->slipped)
        return error;
    return finding_put_minimised(c->db, &c->text, example, finding);
}

static int put_example(struct collector *c, const struct example *example,
                       const struct db_finding *finding, const char *key, uint64_t case_number,
                       struct db_upserted *stored)
{
    const char *tapes = "";
    if (example->raw.found)
        tapes = arena_printf(&c->text, "%s\n%s", example->raw.tape, example->raw.other_tape);
    struct db_occurrence occurrence = {.campaign = c->shard.campaign,
                                       .case_number = case_number,
                                       .tapes = tapes,
                                       .raw_key = key,
                                       .cause = finding->cause,
                                       .replayed = example->replayed};
    return db_example_put(c->db, finding, &occurrence, stored);
}

void collector_count(struct collector *c, struct raw_key *key, uint64_t case_number,
                     uint32_t bucket)
{
    struct db_tally *fresh = &key->fresh;
    fresh->first_case = fresh->occurrences == 0 ? case_number : fresh->first_case;
    fresh->last_case = case_number;
    fresh->occurrences++;
    c->summary->findings[bucket].occurrences++;
}

/* What the example became, where that has another signature. */
static int store_slipped(struct collector *c, const struct example *example, uint64_t case_number)
{
    struct db_finding finding;
    struct db_upserted stored;
    int error = finding_put_slipped(c->db, &c->text, example, c->shard.campaign, case_number,
                                    &finding, &stored);
    if (error != DB_OK)
        return error;
    uint32_t bucket = collector_bucket_of(c, &stored, &finding, case_number);
    struct raw_key *key = collector_key_of(c, finding.signature);
    collector_count(c, key, case_number, bucket);
    key->examples += key->examples < EXAMPLES_PER_KEY;
    if (key->bucket == 0)
        key->bucket = bucket + 1;
    return DB_OK;
}

int collector_store(struct collector *c, const struct chunk_finding *from,
                    const struct example *example)
{
    struct db_finding finding = {.raw_case = example->case_text,
                                 .raw_statements = example->statements,
                                 .minimisation = DB_MINIMISATION_NONE,
                                 .signature_version = SIGNATURE_VERSION};
    if (from->incident) {
        describe_incident(c, from->incident, &finding);
    } else if (!example->replayed) {
        describe_flaky(c, from->signature, example, &finding);
    } else {
        bool small = example->minimised && !example->slipped;
        finding_describe(small ? &example->small : &example->raw, &finding);
        finding.minimisation = example->slipped     ? DB_MINIMISATION_SLIPPED
                               : example->minimised ? DB_MINIMISATION_DONE
                               : example->hopeless  ? DB_MINIMISATION_NONE
                                                    : DB_MINIMISATION_PENDING;
    }
    struct db_upserted stored;
    int error = collector_open_batch(c);
    if (error == DB_OK)
        error = put_kernels(c, example, &finding);
    if (error == DB_OK)
        error = put_example(c, example, &finding, from->signature, from->number, &stored);
    if (error != DB_OK)
        return error;
    c->rows += 4;
    uint32_t bucket = collector_bucket_of(c, &stored, &finding, from->number);
    struct raw_key *key = collector_key_of(c, from->signature);
    collector_count(c, key, from->number, bucket);
    if (key->bucket == 0)
        key->bucket = bucket + 1;
    if (example->slipped)
        error = store_slipped(c, example, from->number);
    c->text.used = 0;
    return error;
}

/* ---- the last resort: what is known of cases that were fatal, where their chunks can never be stored ---- */

/* The finding and its kernel, which the generator makes again: it came that far before. */
static int keep(struct collector *c, struct arena *scratch, const struct incident *incident)
{
    const struct campaign_options *options = c->options;
    struct chunk_finding finding = {.number = incident->number, .incident = incident};
    struct fuzz_case repeated;
    struct example example;
    chunk_incident_signature(finding.signature, incident);
    case_of_campaign(&repeated, options->seed, finding.number, &options->gen, &options->check);
    size_t mark = arena_mark(scratch);
    example_of_incident(scratch, scratch, &repeated, NULL, incident, &example);
    c->summary->occurrences++;
    int error = collector_skip_case(c, &finding);
    if (error == DB_OK)
        error = collector_store(c, &finding, &example);
    arena_release(scratch, mark);
    return error;
}

static bool was_kept(const struct collector *c, uint64_t number)
{
    for (uint32_t i = 0; i < c->kept_count; i++)
        if (c->kept[i] == number)
            return true;
    return false;
}

/* One by one: making a kernel again may be fatal, too, and then what came before it stays. */
int collector_keep_incidents(struct collector *c, const struct incident *incidents, uint32_t count,
                             uint64_t first)
{
    struct arena scratch;
    int error = DB_OK;
    if (arena_init(&scratch, (size_t)1 << 30) != 0)
        return DB_ERROR_MEMORY;
    for (uint32_t i = 0; i < count && error == DB_OK; i++) {
        const struct incident *incident = &incidents[i];
        if (incident->state != INCIDENT_CONFIRMED || incident->chunk < first ||
            was_kept(c, incident->number))
            continue;
        error = keep(c, &scratch, incident);
        if (error == DB_OK)
            error = collector_commit(c, true);
    }
    arena_destroy(&scratch);
    return error;
}
