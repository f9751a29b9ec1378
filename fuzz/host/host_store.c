#include "fuzz/host/host_store.h"

#include "fuzz/base/clock.h"
#include "fuzz/base/version.h"
#include "fuzz/case/case.h"
#include "fuzz/case/signature.h"

#include <string.h>

enum { BATCH = 64, ARENA_LOG = 30 };

struct kept {
    struct host_case c;
    const char *program, *signature, *class, *word, *evidence;
};

struct host_store {
    struct db *db;
    struct db_shard shard;
    struct db_counts counts;
    struct arena arena; /* of a batch */
    struct kept kept[BATCH];
    uint32_t kept_count, count;
    size_t mark;
    int error; /* the first one: nothing is stored any more */
};

/* ---- which campaign ---- */

struct search {
    const struct host_campaign *campaign;
    const char *options;
    uint64_t id, seed;
};

static bool see_campaign(void *context, const struct db_campaign *c)
{
    struct search *s = context;
    const struct host_campaign *wanted = s->campaign;
    if (strcmp(c->options, s->options) == 0 && strcmp(c->version, SIMTFUZZ_VERSION) == 0 &&
        (wanted->seed_given ? c->seed == wanted->seed : c->state != DB_CAMPAIGN_FINISHED)) {
        s->id = c->id;
        s->seed = c->seed;
    }
    return true;
}

static bool see_shard(void *context, const struct db_campaign *shard)
{
    ((struct host_store *)context)->counts = shard->counts;
    return true;
}

static int resume(struct host_store *s, const struct host_campaign *campaign, const char *options,
                  uint64_t *seed)
{
    struct search search = {.campaign = campaign, .options = options};
    int error = db_campaigns(s->db, see_campaign, &search);
    if (error != DB_OK || search.id == 0)
        return error;
    s->shard.campaign = search.id;
    *seed = search.seed;
    error = db_shards(s->db, search.id, see_shard, s);
    return error == DB_OK ? db_campaign_resume(s->db, &s->shard, 1, clock_unix_ms()) : error;
}

static int start(struct host_store *s, const struct host_campaign *campaign, const char *options)
{
    const struct db_campaign fresh = {.seed = campaign->seed,
                                      .cases_target = campaign->cases,
                                      .shard_count = 1,
                                      .options = options,
                                      .version = SIMTFUZZ_VERSION,
                                      .jobs = 1,
                                      .started_ms = clock_unix_ms()};
    return db_campaign_start(s->db, &fresh, &s->shard);
}

struct host_store *host_store_open(struct arena *arena, const struct host_campaign *campaign,
                                   struct db_message *message, uint64_t *seed, uint64_t *done,
                                   int *error)
{
    struct host_store *s = ARENA_NEW(arena, struct host_store);
    const char *options =
        arena_printf(arena, "host schedules=%u from=%llu device=%s", (unsigned)campaign->schedules,
                     (unsigned long long)campaign->first, campaign->device);
    *s = (struct host_store){.error = DB_ERROR_MEMORY};
    *seed = campaign->seed;
    if (arena_init(&s->arena, (size_t)1 << ARENA_LOG) == 0)
        s->error = db_open(campaign->path, DB_CREATE, message, &s->db);
    s->mark = arena_mark(&s->arena);
    if (s->error == DB_OK && campaign->resume)
        s->error = resume(s, campaign, options, seed);
    if (s->error == DB_OK && s->shard.campaign == 0)
        s->error = start(s, campaign, options);
    *done = s->counts.cases;
    *error = s->error;
    if (s->error == DB_OK)
        return s;
    (void)host_store_close(s, false);
    return NULL;
}

/* ---- what is stored ---- */

static int put(struct host_store *s, const struct kept *k)
{
    struct arena *arena = &s->arena;
    struct db_upserted stored;
    const struct db_finding finding = {.signature = k->signature,
                                       .k1 = arena_printf(arena, "host|%s", k->class),
                                       .oracle = "host",
                                       .class = k->class,
                                       .rule = k->word,
                                       .observable = "",
                                       .subject = "device",
                                       .cause = k->signature,
                                       .signature_version = SIGNATURE_VERSION,
                                       .raw_kernel = case_text_hash(arena, k->program),
                                       .raw_case = host_case_print(arena, &k->c),
                                       .raw_statements = host_lines(k->program),
                                       .minimisation = host_can_be_small(k->class, &k->c)
                                                           ? DB_MINIMISATION_PENDING
                                                           : DB_MINIMISATION_NONE,
                                       .evidence = k->evidence};
    const struct db_occurrence occurrence = {.campaign = s->shard.campaign,
                                             .case_number = k->c.number,
                                             .case_text = finding.raw_case,
                                             .kernel = finding.raw_kernel,
                                             .raw_key = k->signature,
                                             .cause = k->signature,
                                             .replayed = true};
    const struct db_tally tally = {1, k->c.number, k->c.number};
    int error = db_kernel_put(s->db, finding.raw_kernel, k->program);
    if (error == DB_OK)
        error = db_example_put(s->db, &finding, &occurrence, &stored);
    return error == DB_OK ? db_tally_add(s->db, &s->shard, k->signature, &tally) : error;
}

static int put_counts(struct host_store *s)
{
    const struct db_verdict verdicts[] = {{"host", "agree", s->count - s->kept_count},
                                          {"host", "diverge", s->kept_count}};
    int error = DB_OK;
    for (uint32_t i = 0; i < 2 && error == DB_OK; i++)
        if (verdicts[i].count > 0)
            error = db_verdicts_add(s->db, &s->shard, &verdicts[i]);
    return error;
}

/* Cases and what they showed, in one transaction: a campaign that is killed goes on behind the last one. */
static void put_batch(struct host_store *s)
{
    if (s->error != DB_OK || s->count == 0)
        return;
    int error = db_begin(s->db);
    for (uint32_t i = 0; i < s->kept_count && error == DB_OK; i++)
        error = put(s, &s->kept[i]);
    if (error == DB_OK)
        error = put_counts(s);
    if (error == DB_OK)
        error = db_campaign_update(s->db, &s->shard, &s->counts, clock_unix_ms());
    if (error == DB_OK)
        error = db_commit(s->db);
    if (error != DB_OK)
        db_rollback(s->db);
    s->error = error;
    s->kept_count = s->count = 0;
    arena_release(&s->arena, s->mark);
}

void host_store_case(struct host_store *s, const struct host_case *c, const char *program,
                     const struct host_divergence *d, uint64_t steps)
{
    struct arena *arena = &s->arena;
    s->counts.cases++;
    s->counts.kernels++;
    s->counts.warp_steps += steps;
    s->count++;
    if (d->class)
        s->kept[s->kept_count++] =
            (struct kept){.c = *c,
                          .program = arena_strndup(arena, program, strlen(program)),
                          .signature = arena_strndup(arena, d->signature, strlen(d->signature)),
                          .class = arena_strndup(arena, d->class, strlen(d->class)),
                          .word = arena_strndup(arena, d->word, strlen(d->word)),
                          .evidence = host_divergence_evidence(arena, d, c)};
    if (s->count == BATCH)
        put_batch(s);
}

int host_store_close(struct host_store *s, bool finished)
{
    put_batch(s);
    if (s->db && s->error == DB_OK)
        s->error = db_campaign_finish(s->db, &s->shard,
                                      finished ? DB_CAMPAIGN_FINISHED : DB_CAMPAIGN_INTERRUPTED,
                                      clock_unix_ms());
    db_close(s->db);
    arena_destroy(&s->arena);
    return s->error;
}
