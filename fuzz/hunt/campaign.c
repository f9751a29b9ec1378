#include "fuzz/hunt/campaign.h"

#include "fuzz/base/interrupt.h"
#include "fuzz/base/version.h"
#include "fuzz/hunt/bundle.h"
#include "fuzz/hunt/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* One worker. What it says to the parent stands in memory that they share. */
struct said {
    struct outside_totals totals;
    bool failed;
};

struct worker_run {
    struct arena *arena;
    const struct outside_campaign *campaign;
    struct hunt_options hunt;
    struct store_place place;
    struct store *store;
    struct said *said;
};

/* ---- options as text ---- */

const char *outside_print_options(struct arena *arena, const struct hunt_options *o)
{
    const char *text =
        arena_printf(arena, "outside features=0x%x batch=%u tests=%u", (unsigned)o->gen.features,
                     (unsigned)o->batch, (unsigned)o->minimise);
    if (o->ignore_known)
        text = arena_printf(arena, "%s ignore-known", text);
    if (o->fixed_knobs)
        text = arena_printf(arena, "%s knobs=%s", text, emit_print_knobs(arena, o->knobs));
    if (o->first)
        text = arena_printf(arena, "%s from=%llu", text, (unsigned long long)o->first);
    if (o->kernel)
        text = arena_printf(arena, "%s kernel%s", text, o->as_it_is ? "=as-it-is" : "");
    for (uint32_t s = 0; s < o->subject_count; s++)
        text = arena_printf(arena, "%s subject=%s", text, o->subjects[s]->name);
    return text;
}

/* ---- --resume ---- */

struct search {
    struct arena *arena;
    const struct outside_campaign *campaign;
    const char *options;
    struct db_campaign best; /* id 0: none */
};

static bool see_campaign(void *context, const struct db_campaign *c)
{
    struct search *s = context;
    const struct outside_campaign *wanted = s->campaign;
    bool fits =
        strcmp(c->options, s->options) == 0 && strcmp(c->version, SIMTFUZZ_VERSION) == 0 &&
        c->shard_count == wanted->hunt->workers &&
        (wanted->seed_given ? c->seed == wanted->hunt->seed : c->state != DB_CAMPAIGN_FINISHED);
    if (fits)
        s->best = *c; /* numbers only are looked at */
    return true;
}

struct place_search {
    struct worker_run *runs;
    uint32_t count;
};

static bool see_shard(void *context, const struct db_campaign *shard)
{
    struct place_search *p = context;
    if (shard->shard_index < p->count) {
        struct worker_run *run = &p->runs[shard->shard_index];
        run->place.shard.campaign = shard->id;
        run->hunt.done = shard->counts.cases;
    }
    return true;
}

/* What is left of the time: each session used up some. */
static int take_time(struct db *db, struct worker_run *run)
{
    uint64_t used = 0;
    int error = db_shard_time(db, &run->place.shard, &used);
    if (run->hunt.time_ms)
        run->hunt.time_ms = used < run->hunt.time_ms ? run->hunt.time_ms - used : 1;
    return error;
}

/* Where each worker goes on. NOTHING: nowhere. */
static enum outside_outcome find_places(struct arena *arena, const struct outside_campaign *c,
                                        struct worker_run *runs, struct db_message *message)
{
    struct search search = {.arena = arena, .campaign = c, .options = runs[0].place.options};
    struct place_search places = {.runs = runs, .count = c->hunt->workers};
    struct db *db;
    int error = db_open(c->db, DB_READWRITE, message, &db);
    if (error == DB_ERROR_ABSENT)
        return OUTSIDE_NOTHING;
    if (error == DB_OK)
        error = db_campaigns(db, see_campaign, &search);
    if (error == DB_OK && search.best.id > 0)
        error = db_shards(db, search.best.id, see_shard, &places);
    for (uint32_t i = 0; i < c->hunt->workers && error == DB_OK; i++) {
        if (search.best.id > 0)
            runs[i].hunt.seed = search.best.seed;
        if (runs[i].place.shard.campaign > 0)
            error = take_time(db, &runs[i]);
    }
    db_close(db);
    if (error != DB_OK)
        return OUTSIDE_FAULT;
    return search.best.id > 0 ? OUTSIDE_DONE : OUTSIDE_NOTHING;
}

/* ---- one worker ---- */

static enum hunt_had on_had(void *context, const struct hunt_finding *f)
{
    struct worker_run *run = context;
    return run->store ? store_had(run->store, f) : HUNT_NEW;
}

static void on_found(void *context, const struct hunt_finding *f)
{
    struct worker_run *run = context;
    struct db_upserted stored;
    bool is_stored = run->store && store_found(run->store, f, &stored);
    run->campaign->found(run->campaign->context, f, is_stored ? &stored : NULL);
}

static void on_seen(void *context, const struct hunt_finding *f, enum hunt_had had)
{
    struct worker_run *run = context;
    struct db_upserted stored;
    if (run->store)
        (void)store_seen(run->store, f, had, &stored);
}

static void on_batch(void *context, const struct hunt_summary *summary, uint64_t done)
{
    struct worker_run *run = context;
    if (run->store)
        store_batch(run->store, summary, done);
}

static void run_worker(struct worker_run *run)
{
    const struct hunt_listener listener = {
        .context = run, .had = on_had, .found = on_found, .seen = on_seen, .batch = on_batch};
    struct outside_totals *t = &run->said->totals;
    char folder[] = "/tmp/simtfuzz-outside-XXXXXX";
    run->said->failed = true;
    if (!mkdtemp(folder)) {
        snprintf(t->message.text, sizeof t->message.text, "no temporary folder can be made");
        return;
    }
    run->hunt.settings.folder = folder;
    if (run->campaign->db)
        run->store = store_open(run->arena, &run->place, &run->hunt, &t->message);
    if (run->store || !run->campaign->db) {
        hunt_run(&run->hunt, &t->summary, &listener);
        run->said->failed = false;
    }
    if (run->store) {
        t->campaign = store_campaign(run->store);
        run->said->failed = store_close(run->store, !interrupted) != DB_OK;
    }
    bundle_remove_folder(folder);
}

/* ---- all of them ---- */

static bool start_worker(struct worker_run *run, pid_t *pid)
{
    (void)fflush(NULL);
    *pid = fork();
    if (*pid == 0) {
        run_worker(run);
        (void)fflush(NULL);
        _exit(0);
    }
    return *pid > 0;
}

static void run_workers(struct worker_run *runs, uint32_t count)
{
    pid_t pids[OUTSIDE_WORKERS_MOST];
    for (uint32_t i = 0; i < count; i++)
        if (!start_worker(&runs[i], &pids[i]))
            pids[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        int status = 0;
        while (pids[i] > 0 && waitpid(pids[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (pids[i] <= 0 || status != 0) {
            runs[i].said->failed = true;
            snprintf(runs[i].said->totals.message.text, DB_MESSAGE_MAX,
                     "worker %u ended with wait status %d", (unsigned)i, status);
        }
    }
}

static bool add_up(const struct said *said, uint32_t count, struct outside_totals *totals)
{
    bool sound = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct outside_totals *t = &said[i].totals;
        hunt_add_summary(&totals->summary, &t->summary);
        totals->campaign = t->campaign ? t->campaign : totals->campaign;
        if (said[i].failed && sound)
            totals->message = t->message;
        sound &= !said[i].failed;
    }
    return sound;
}

/* ---- what it found, in all its sessions ---- */

static bool see_finding(void *context, const struct db_finding *f)
{
    struct outside_totals *t = context;
    if (f->state == DB_STATE_REGRESSION)
        t->kinds[OUTSIDE_BACK]++;
    else if (f->state == DB_STATE_OPEN)
        t->kinds[f->first_campaign == t->campaign ? OUTSIDE_NEW : OUTSIDE_OPEN]++;
    return true;
}

static enum outside_outcome count_findings(const struct outside_campaign *c,
                                           struct outside_totals *totals)
{
    struct db *db;
    if (!c->db || totals->campaign == 0) {
        totals->kinds[OUTSIDE_NEW] = totals->summary.findings;
        return OUTSIDE_DONE;
    }
    int error = db_open(c->db, DB_READONLY, &totals->message, &db);
    if (error == DB_OK)
        error = db_campaign_findings(db, totals->campaign, DB_ANY_STATUS, see_finding, totals);
    db_close(db);
    return error == DB_OK ? OUTSIDE_DONE : OUTSIDE_FAULT;
}

enum outside_outcome outside_campaign_run(struct arena *arena, const struct outside_campaign *c,
                                          struct outside_totals *totals)
{
    uint32_t count = c->hunt->workers;
    struct worker_run *runs = ARENA_ARRAY(arena, struct worker_run, count);
    const char *options = outside_print_options(arena, c->hunt);
    size_t size = count * sizeof(struct said);
    struct said *said = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *totals = (struct outside_totals){.campaign = 0};
    if (said == MAP_FAILED)
        return OUTSIDE_FAULT;
    for (uint32_t i = 0; i < count; i++) {
        runs[i] = (struct worker_run){.arena = arena,
                                      .campaign = c,
                                      .hunt = *c->hunt,
                                      .place = {.path = c->db, .options = options},
                                      .said = &said[i]};
        runs[i].hunt.worker = i;
        runs[i].place.shard.index = i;
    }
    enum outside_outcome outcome = OUTSIDE_DONE;
    if (c->db && c->resume)
        outcome = find_places(arena, c, runs, &totals->message);
    /* What was never begun is begun, if its seed says which cases are meant. */
    if (outcome == OUTSIDE_NOTHING && c->seed_given)
        outcome = OUTSIDE_DONE;
    if (outcome == OUTSIDE_DONE) {
        if (count > 1)
            run_workers(runs, count);
        else
            run_worker(&runs[0]);
        c->hunt->seed = runs[0].hunt.seed;
        outcome = add_up(said, count, totals) ? OUTSIDE_DONE : OUTSIDE_FAULT;
    }
    (void)munmap(said, size);
    return outcome == OUTSIDE_DONE ? count_findings(c, totals) : outcome;
}
