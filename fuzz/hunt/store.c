#include "fuzz/hunt/store.h"

#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/version.h"
#include "fuzz/case/case.h"
#include "fuzz/case/signature.h"
#include "fuzz/hunt/evidence.h"

#include <string.h>

enum { SIGNATURES_MOST = 512, SIGNATURE_TEXT_MOST = 512, ARENA_LOG = 30 };

/* How often a signature was seen in the cases that are not stored yet. */
struct fresh {
    char signature[SIGNATURE_TEXT_MOST];
    struct db_tally tally;
};

struct store {
    struct db *db;
    struct db_message *message;
    struct db_shard shard;
    const struct hunt_options *options;
    struct arena arena; /* of a call */
    struct fresh fresh[SIGNATURES_MOST];
    uint32_t fresh_count;
    struct db_counts before;    /* of the shard, when this process took it over */
    struct hunt_summary stored; /* what of the summary is in the database */
    int error;                  /* the first one: nothing is stored any more */
};

/* ---- opening, closing ---- */

static bool see_shard(void *context, const struct db_campaign *shard)
{
    struct store *s = context;
    if (shard->shard_index == s->shard.index)
        s->before = shard->counts;
    return true;
}

static int start(struct store *s, const struct store_place *place)
{
    const struct hunt_options *o = s->options;
    const struct db_campaign campaign = {.seed = o->seed,
                                         .cases_target = o->cases,
                                         .shard_index = place->shard.index,
                                         .shard_count = o->workers,
                                         .options = place->options,
                                         .version = SIMTFUZZ_VERSION,
                                         .jobs = o->workers,
                                         .started_ms = clock_unix_ms()};
    if (place->shard.campaign > 0)
        return db_campaign_resume(s->db, &s->shard, o->workers, clock_unix_ms());
    return db_campaign_start(s->db, &campaign, &s->shard);
}

struct store *store_open(struct arena *arena, const struct store_place *place,
                         const struct hunt_options *options, struct db_message *message)
{
    struct store *s = ARENA_NEW(arena, struct store);
    *s = (struct store){.message = message, .shard = place->shard, .options = options};
    if (arena_init(&s->arena, (size_t)1 << ARENA_LOG) != 0)
        return NULL;
    int error = db_open(place->path, DB_CREATE, message, &s->db);
    if (error == DB_OK)
        error = start(s, place);
    if (error == DB_OK)
        error = db_shards(s->db, s->shard.campaign, see_shard, s);
    if (error == DB_OK)
        return s;
    s->error = error;
    (void)store_close(s, false);
    return NULL;
}

uint64_t store_campaign(const struct store *s)
{
    return s->shard.campaign;
}

static void fail(struct store *s, int error)
{
    if (error != DB_OK && s->error == DB_OK)
        s->error = error;
}

int store_close(struct store *s, bool finished)
{
    if (s->db && s->error == DB_OK)
        fail(s, db_campaign_finish(s->db, &s->shard,
                                   finished ? DB_CAMPAIGN_FINISHED : DB_CAMPAIGN_INTERRUPTED,
                                   clock_unix_ms()));
    db_close(s->db);
    arena_destroy(&s->arena);
    return s->error;
}

/* ---- findings ---- */

static struct fuzz_case case_of(const struct store *s, const struct hunt_finding *f)
{
    struct fuzz_case c = {.check = CHECK_DEFAULTS};
    c.check.subjects = outside_validators;
    if (s->options->kernel)
        return c;
    c.generated = true;
    c.gen_version = GEN_VERSION;
    c.seed = s->options->seed;
    c.number = f->number;
    c.gen = s->options->gen;
    return c;
}

static int put_small(struct store *s, const struct hunt_finding *f, struct db_finding *finding)
{
    struct arena *arena = &s->arena;
    const struct ast_kernel *kernel = f->minimised.kernel;
    const struct ast_launch *launch = &kernel->launch;
    const char *text = print_kernel(arena, kernel);
    struct fuzz_case c = {.check = CHECK_DEFAULTS};
    c.check.subjects = outside_validators;
    finding->minimisation = DB_MINIMISATION_DONE;
    finding->minimised = (struct db_minimised){
        .kernel = case_text_hash(arena, text),
        .launch = arena_printf(arena, "threads=%u warp=%u blocks=%u", (unsigned)launch->threads,
                               (unsigned)launch->warp, (unsigned)launch->blocks),
        .case_text = case_print(arena, &c),
        .tests = f->minimised.candidates,
        .statements = ast_kernel_size(kernel)};
    return db_kernel_put(s->db, finding->minimised.kernel, text);
}

static int put(struct store *s, const struct hunt_finding *f, struct db_upserted *stored)
{
    struct arena *arena = &s->arena;
    const char *kind = trial_verdict_names[f->trial.verdict], *name = f->subject->name;
    const char *text = print_kernel(arena, f->raw);
    const struct fuzz_case c = case_of(s, f);
    struct db_finding finding = {.signature = f->signature,
                                 .k1 = arena_printf(arena, "outside|%s", kind),
                                 .oracle = "outside",
                                 .class = kind,
                                 .rule = arena_strndup(arena, name, signature_family_length(name)),
                                 .observable = f->observable,
                                 .subject = name,
                                 .reference = f->known,
                                 .cause = f->signature,
                                 .signature_version = SIGNATURE_VERSION,
                                 .raw_kernel = case_text_hash(arena, text),
                                 .raw_case = case_print(arena, &c),
                                 .raw_statements = ast_kernel_size(f->raw),
                                 .evidence = evidence_print(arena, f)};
    const struct db_occurrence occurrence = {.campaign = s->shard.campaign,
                                             .case_number = f->number,
                                             .raw_key = f->signature,
                                             .cause = f->signature,
                                             .replayed = true};
    int error = db_kernel_put(s->db, finding.raw_kernel, text);
    if (error == DB_OK && f->minimised.kernel)
        error = put_small(s, f, &finding);
    return error == DB_OK ? db_example_put(s->db, &finding, &occurrence, stored) : error;
}

static bool put_example(struct store *s, const struct hunt_finding *f, struct db_upserted *stored)
{
    if (s->error != DB_OK)
        return false;
    size_t mark = arena_mark(&s->arena);
    int error = db_begin(s->db);
    if (error == DB_OK)
        error = put(s, f, stored);
    if (error == DB_OK)
        error = db_commit(s->db);
    if (error != DB_OK)
        db_rollback(s->db);
    arena_release(&s->arena, mark);
    fail(s, error);
    return error == DB_OK;
}

/* Counters are stored with the batch. Of more signatures than there is room for only examples are kept. */
static void count(struct store *s, const struct hunt_finding *f)
{
    uint32_t i = 0;
    while (i < s->fresh_count && strcmp(s->fresh[i].signature, f->signature) != 0)
        i++;
    if (i == SIGNATURES_MOST || strlen(f->signature) >= SIGNATURE_TEXT_MOST)
        return;
    struct fresh *fresh = &s->fresh[i];
    if (i == s->fresh_count) {
        s->fresh_count++;
        *fresh = (struct fresh){.tally = {.first_case = f->number}};
        memcpy(fresh->signature, f->signature, strlen(f->signature) + 1);
    }
    fresh->tally.occurrences++;
    fresh->tally.last_case = f->number;
}

bool store_found(struct store *s, const struct hunt_finding *f, struct db_upserted *stored)
{
    count(s, f);
    return put_example(s, f, stored);
}

bool store_seen(struct store *s, const struct hunt_finding *f, enum hunt_had had,
                struct db_upserted *stored)
{
    count(s, f);
    return had != HUNT_HERE && put_example(s, f, stored);
}

/* ---- what is there ---- */

struct looking {
    uint64_t campaign;
    bool small, here;
};

static bool see_finding(void *context, const struct db_finding *finding)
{
    struct looking *l = context;
    l->small = *finding->minimised.kernel || finding->status == DB_STATUS_KNOWN;
    return false;
}

static bool see_example(void *context, const struct db_occurrence *example)
{
    struct looking *l = context;
    l->here |= example->campaign == l->campaign;
    return !l->here;
}

enum hunt_had store_had(struct store *s, const struct hunt_finding *f)
{
    struct looking l = {.campaign = s->shard.campaign};
    uint64_t id;
    if (s->error != DB_OK || db_finding_resolve(s->db, f->signature, &id) != DB_OK ||
        db_finding_get(s->db, id, see_finding, &l) != DB_OK || !l.small ||
        db_occurrences(s->db, id, see_example, &l) != DB_OK)
        return HUNT_NEW;
    return l.here ? HUNT_HERE : HUNT_BEFORE;
}

/* ---- counters ---- */

static int put_count(struct store *s, const struct outside_subject *subject, const char *what,
                     uint64_t now, uint64_t before)
{
    const struct db_outside outside = {subject->name, subject->version, what, now - before};
    return now > before ? db_outside_add(s->db, &s->shard, &outside) : DB_OK;
}

static int put_known(struct store *s, const struct outside_subject *subject,
                     const struct hunt_count *now, const struct hunt_count *before)
{
    int error = DB_OK;
    for (uint32_t k = 0; k < known_count() && error == DB_OK; k++) {
        const char *id = known_id(k);
        error = put_count(s, subject, arena_printf(&s->arena, "seen %s", id), now->known_seen[k],
                          before->known_seen[k]);
        if (error == DB_OK)
            error = put_count(s, subject, arena_printf(&s->arena, "chances %s", id),
                              now->known_chances[k], before->known_chances[k]);
    }
    return error;
}

static int put_verdicts(struct store *s, const struct hunt_count *now,
                        const struct hunt_count *before)
{
    uint64_t counts[3] = {0};
    static const char *const names[] = {"agree", "diverge", "inconclusive"};
    int error = DB_OK;
    for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT; v++)
        counts[v == TRIAL_AGREES    ? 0
               : v == TRIAL_UNKNOWN ? 2
                                    : 1] += now->trials[v] - before->trials[v];
    for (uint32_t i = 0; i < 3 && error == DB_OK; i++) {
        const struct db_verdict verdict = {"outside", names[i], counts[i]};
        if (counts[i])
            error = db_verdicts_add(s->db, &s->shard, &verdict);
    }
    return error;
}

static int put_counts(struct store *s, const struct outside_subject *subject,
                      const struct hunt_count *now, const struct hunt_count *before)
{
    const struct {
        const char *what;
        uint64_t now, before;
    } counts[] = {{"kernels", now->kernels, before->kernels},
                  {"known", now->known, before->known},
                  {"unconfirmed", now->unconfirmed, before->unconfirmed},
                  {"cpu us", now->cpu_us, before->cpu_us},
                  {"our cpu us", now->own_us, before->own_us}};
    int error = DB_OK;
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0] && error == DB_OK; i++)
        error = put_count(s, subject, counts[i].what, counts[i].now, counts[i].before);
    for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT && error == DB_OK; v++)
        error = put_count(s, subject, trial_verdict_names[v], now->trials[v], before->trials[v]);
    if (error == DB_OK)
        error = put_known(s, subject, now, before);
    return error == DB_OK ? put_verdicts(s, now, before) : error;
}

static int put_tallies(struct store *s)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < s->fresh_count && error == DB_OK; i++)
        error = db_tally_add(s->db, &s->shard, s->fresh[i].signature, &s->fresh[i].tally);
    s->fresh_count = 0;
    return error;
}

static int put_batch(struct store *s, const struct hunt_summary *summary, uint64_t done)
{
    const struct db_counts counts = {.cases = done, .kernels = s->before.kernels + summary->valid};
    int error = put_tallies(s);
    for (uint32_t i = 0; i < s->options->subject_count && error == DB_OK; i++)
        error = put_counts(s, s->options->subjects[i], &summary->counts[i], &s->stored.counts[i]);
    return error == DB_OK ? db_campaign_update(s->db, &s->shard, &counts, clock_unix_ms()) : error;
}

void store_batch(struct store *s, const struct hunt_summary *summary, uint64_t done)
{
    if (s->error != DB_OK)
        return;
    size_t mark = arena_mark(&s->arena);
    int error = db_begin(s->db);
    if (error == DB_OK)
        error = put_batch(s, summary, done);
    if (error == DB_OK)
        error = db_commit(s->db);
    if (error != DB_OK)
        db_rollback(s->db);
    s->stored = *summary;
    arena_release(&s->arena, mark);
    fail(s, error);
}
