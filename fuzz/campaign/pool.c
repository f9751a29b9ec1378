#include "fuzz/campaign/pool.h"

#include "engine/base/invariant.h"
#include "fuzz/base/clock.h"
#include "fuzz/beside/beside.h"
#include "fuzz/supervise/crash.h"
#include "fuzz/supervise/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CACHE_LINE = 64,
    TICK_MS = 200,
    HANG_MS = 60 * 1000,
    FINISH_MS = 10 * 1000, /* how long workers may take to end */
};

static const size_t WORKER_ARENA_BYTES = (size_t)4 << 30; /* address space */
static const size_t WORKER_KEEP_BYTES = (size_t)64 << 20; /* pages kept from case to case */
static const size_t TEXTS_BYTES = (size_t)1 << 20;
static const size_t JOB_ARENA_BYTES = (size_t)256 << 20;

enum job_state { JOB_FREE, JOB_WAITING, JOB_RUNNING, JOB_DONE };

struct job {
    enum job_state state;      /* under the lock */
    uint64_t ticket;           /* jobs run in the order in which they came */
    const struct chunk *chunk; /* valid until the collector has waited for the job */
    const struct chunk_finding *finding;
    bool minimise;
    struct arena arena; /* of the result */
    struct example example;
};

/* On cache lines of its own. */
struct worker {
    _Alignas(CACHE_LINE) atomic_uint_least64_t cases; /* finished; read by the collector */
    struct watch_slot *slot; /* read by the collector, and by who watches over the process */
    struct pool_counts counts;
    struct arena arena;
    struct chunk_maker maker;
    struct pool *pool;
    pthread_t thread;
    bool started, ended; /* ended: under the lock */
    bool spare;          /* the job's finding is not minimised */
    bool cut_short;      /* its minimisation was stopped */
    struct crash_note note;
    uint64_t watched_beat, watched_since; /* of the collector's watch */
    bool reported;
};

struct pool {
    struct campaign_options options;
    uint64_t chunk_count; /* of this shard; UINT64_MAX: no end */
    uint64_t first;       /* the first chunk that is new */
    _Alignas(CACHE_LINE) atomic_uint_least64_t next_chunk;
    _Alignas(CACHE_LINE) atomic_uint_least64_t released; /* chunks below it have been consumed */
    atomic_bool stop, hurry, stop_minimising;

    pthread_mutex_t lock;
    pthread_cond_t news; /* for the collector: a chunk or a job is done */
    pthread_cond_t work; /* for workers: a job, room in the ring, or the end */
    bool closing;
    struct arena texts;
    const char *seed, *command; /* for last words */
    pool_tick *tick;            /* of the collector, with the time of the next one */
    void *tick_context;
    uint64_t next_tick;
    uint64_t published[CHUNK_RING]; /* chunk number + 1 that the slot holds */
    uint64_t held; /* stop_on_finding: chunks from here on wait until those below are consumed */
    struct chunk *ring;
    struct job jobs[POOL_JOBS_MAX];
    uint64_t tickets;
    uint32_t running_jobs; /* under the lock */
    uint32_t worker_count;
    struct worker *workers;
    bool given_up;                /* a worker hangs */
    struct watch_slot *own_slots; /* when nobody watches over the process */
};

uint64_t pool_chunk_first(const struct pool *pool, uint64_t number)
{
    return (number * pool->options.shard_count + pool->options.shard_index) * CAMPAIGN_CHUNK;
}

uint32_t pool_chunk_cases(const struct pool *pool, uint64_t number)
{
    if (number >= pool->chunk_count)
        return 0;
    uint64_t cases = pool->options.cases, first = pool_chunk_first(pool, number);
    return cases > 0 && cases - first < CAMPAIGN_CHUNK ? (uint32_t)(cases - first) : CAMPAIGN_CHUNK;
}

static void plan(struct pool *pool)
{
    const struct campaign_options *o = &pool->options;
    pool->chunk_count = UINT64_MAX;
    if (o->cases == 0)
        return;
    uint64_t all = (o->cases - 1) / CAMPAIGN_CHUNK + 1; /* chunks of all shards */
    pool->chunk_count = all > o->shard_index ? (all - o->shard_index - 1) / o->shard_count + 1 : 0;
}

/* ---- the case loop: no malloc, no lock, no system call ---- */

/* Empties the arena; after an unusually large case its pages go back to the system. */
static void reset_arena(struct arena *arena)
{
    if (arena->used > WORKER_KEEP_BYTES)
        arena_drop(arena);
    arena->used = 0;
}

static void begin_case(struct worker *worker, uint64_t chunk, uint64_t number,
                       enum watch_phase phase)
{
    struct watch_slot *slot = worker->slot;
    atomic_store_explicit(&slot->number, number, memory_order_relaxed);
    atomic_store_explicit(&slot->chunk, chunk, memory_order_relaxed);
    atomic_store_explicit(&slot->phase, phase, memory_order_relaxed);
    worker->note.number = number;
}

static void beat(struct worker *worker)
{
    atomic_fetch_add_explicit(&worker->slot->beat, 1, memory_order_relaxed);
}

static void end_case(struct worker *worker)
{
    atomic_store_explicit(&worker->slot->phase, WATCH_IDLE, memory_order_relaxed);
    beat(worker);
}

/* Runs the case, unless it is known to be fatal; what is known about it becomes a finding. */
static bool run_case(struct worker *worker, struct chunk *chunk, uint64_t number)
{
    const struct incident *incident = watch_incident(worker->pool->options.watch, number);
    bool skip =
        incident && incident->state == INCIDENT_CONFIRMED && incident->phase != WATCH_MINIMISING;
    if (!skip && !chunk_run_case(&worker->maker, chunk, number))
        return false;
    if (incident && incident->state != INCIDENT_CANDIDATE)
        chunk_add_incident(chunk, number, incident);
    return true;
}

static void run_chunk(struct worker *worker, uint64_t number, struct chunk *chunk)
{
    struct pool *pool = worker->pool;
    uint32_t planned = pool_chunk_cases(pool, number);
    struct pool_told told = {0};
    memset(chunk, 0, offsetof(struct chunk, findings));
    /* Relaxed: it does not matter at which case exactly a stop is seen. */
    while (chunk->cases < planned && !atomic_load_explicit(&pool->hurry, memory_order_relaxed)) {
        uint64_t case_number = pool_chunk_first(pool, number) + chunk->cases;
        begin_case(worker, number, case_number, WATCH_GENERATING);
        reset_arena(&worker->arena);
        bool done = run_case(worker, chunk, case_number);
        end_case(worker);
        if (!done)
            break;
        pool_count_case(&worker->counts, chunk, &told);
        chunk->cases++;
        atomic_fetch_add_explicit(&worker->cases, 1, memory_order_relaxed);
    }
}

/* ---- between chunks ---- */

/* Under the lock: the job that has waited longest, or NULL. */
static struct job *waiting_job(struct pool *pool)
{
    struct job *first = NULL;
    for (uint32_t i = 0; i < POOL_JOBS_MAX; i++) {
        struct job *job = &pool->jobs[i];
        if (job->state == JOB_WAITING && (!first || job->ticket < first->ticket))
            first = job;
    }
    return first;
}

static bool minimising_goes_on(void *context, const struct reduce_so_far *so_far)
{
    struct worker *worker = context;
    (void)so_far;
    beat(worker);
    /* Relaxed: nothing depends on the moment at which it is seen. */
    bool stopped = atomic_load_explicit(&worker->pool->stop_minimising, memory_order_relaxed);
    worker->cut_short |= stopped && !worker->pool->options.no_minimise;
    return !worker->spare && !stopped;
}

/* Under the lock, which is given up while the job runs. */
static void run_job(struct worker *worker, struct job *job)
{
    struct pool *pool = worker->pool;
    struct fuzz_case c;
    struct reduce_options reduce = {.max_tests = !job->minimise ? 0
                                                 : pool->options.minimise_tests
                                                     ? pool->options.minimise_tests
                                                     : EXAMPLE_REDUCE_TESTS,
                                    .max_steps = EXAMPLE_REDUCE_STEPS,
                                    .jobs = 1,
                                    .go_on = minimising_goes_on,
                                    .go_on_context = worker};
    job->state = JOB_RUNNING;
    pool->running_jobs++;
    pthread_mutex_unlock(&pool->lock);
    const struct incident *incident = watch_incident(pool->options.watch, job->finding->number);
    const struct beside_kind *beside = beside_of(job->finding->signature);
    worker->spare = incident && incident->state == INCIDENT_CONFIRMED;
    worker->cut_short = false;
    case_of_campaign(&c, pool->options.seed, job->finding->number, &pool->options.gen,
                     &pool->options.check);
    begin_case(worker, atomic_load_explicit(&pool->released, memory_order_relaxed), c.number,
               WATCH_MINIMISING);
    reset_arena(&worker->arena);
    if (job->finding->incident)
        example_of_incident(&job->arena, &worker->arena, &c, NULL, job->finding->incident,
                            &job->example);
    else if (beside)
        beside->example(&job->arena, &worker->arena, &c, job->finding->signature,
                        (uint32_t)reduce.max_tests, &job->example);
    else
        example_make(&job->arena, &worker->arena, &c, NULL, job->finding->signature, &reduce,
                     &job->example);
    job->example.cut_short = worker->cut_short;
    end_case(worker);
    pthread_mutex_lock(&pool->lock);
    pool->running_jobs--;
    job->state = JOB_DONE;
    pthread_cond_signal(&pool->work);
    pthread_cond_signal(&pool->news);
}

/* Whether chunks are run one after another now, since one of them may be fatal. */
static bool is_alone(const struct pool *pool, uint64_t released)
{
    return pool->options.watch && released < pool->options.watch->alone_until;
}

static bool may_run(const struct pool *pool, uint64_t number, uint64_t released)
{
    return number < pool->chunk_count && number < released + CHUNK_RING &&
           (number < pool->held || released >= pool->held) &&
           (number < pool->first || number == released || !is_alone(pool, released));
}

/* Runs jobs until chunk `number` may be filled: true. False: the pool is closing. */
static bool wait_for_room(struct worker *worker, uint64_t number)
{
    struct pool *pool = worker->pool;
    bool room = false;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        /* Acquire pairs with pool_release: the collector has read what the slot held before, */
        uint64_t released = atomic_load_explicit(&pool->released, memory_order_acquire);
        struct job *job = waiting_job(pool);
        if (job && !(is_alone(pool, released) && pool->running_jobs > 0)) {
            run_job(worker, job);
            continue;
        }
        room = may_run(pool, number, released);
        if (room)
            break;
        pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

static void publish(struct pool *pool, uint64_t number)
{
    pthread_mutex_lock(&pool->lock);
    pool->published[number % CHUNK_RING] = number + 1;
    /* It may be the last one: what is done ahead would be for nothing. */
    if (pool->options.stop_on_finding && pool->ring[number % CHUNK_RING].finding_count > 0 &&
        pool->held <= number)
        pool->held = number + 1;
    pthread_cond_signal(&pool->news);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    crash_thread_start(&worker->note);
    invariant_set_case("a campaign's worker");
    for (;;) {
        /* After a stop no number is taken any more, so that the collector knows the last one. */
        uint64_t number = UINT64_MAX;
        if (!atomic_load_explicit(&pool->stop, memory_order_relaxed))
            number = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (!wait_for_room(worker, number))
            break;
        run_chunk(worker, number, &pool->ring[number % CHUNK_RING]);
        publish(pool, number);
    }
    solver_keeper_end(&worker->maker.solvers);
    crash_thread_end();
    pthread_mutex_lock(&pool->lock);
    worker->ended = true;
    pthread_cond_signal(&pool->news);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- for the collector ---- */

/* Under the lock. False: the time is over. */
static bool wait_news(struct pool *pool, uint64_t deadline_ms)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ms / 1000),
                                .tv_nsec = (long)(deadline_ms % 1000) * 1000000};
    return pthread_cond_timedwait(&pool->news, &pool->lock, &deadline) != ETIMEDOUT;
}

/* Under the lock, which is given up for the tick. False: give up. */
static bool wait_and_tick(struct pool *pool)
{
    uint64_t now = clock_monotonic_ms();
    if (now >= pool->next_tick) {
        pthread_mutex_unlock(&pool->lock);
        bool go_on = pool->tick(pool->tick_context);
        pthread_mutex_lock(&pool->lock);
        pool->next_tick = now + TICK_MS;
        return go_on; /* the caller looks again before it waits */
    }
    wait_news(pool, pool->next_tick);
    return true;
}

const struct chunk *pool_wait_chunk(struct pool *pool, uint64_t number)
{
    const struct chunk *chunk = &pool->ring[number % CHUNK_RING];
    pthread_mutex_lock(&pool->lock);
    while (chunk && pool->published[number % CHUNK_RING] != number + 1) {
        bool stopped = atomic_load_explicit(&pool->stop, memory_order_relaxed);
        bool nobody = number >= atomic_load_explicit(&pool->next_chunk, memory_order_relaxed);
        if (number >= pool->chunk_count || (stopped && nobody) || !wait_and_tick(pool))
            chunk = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    return chunk;
}

void pool_release(struct pool *pool, uint64_t number)
{
    pthread_mutex_lock(&pool->lock);
    /* Release: whoever fills the slot again comes after our reading of it. */
    atomic_store_explicit(&pool->released, number + 1, memory_order_release);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

int pool_submit(struct pool *pool, const struct chunk *chunk, const struct chunk_finding *finding,
                bool minimise)
{
    int slot = -1;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < POOL_JOBS_MAX && slot < 0; i++)
        if (pool->jobs[i].state == JOB_FREE)
            slot = i;
    if (slot >= 0) {
        struct job *job = &pool->jobs[slot];
        job->ticket = pool->tickets++;
        job->chunk = chunk;
        job->finding = finding;
        job->minimise = minimise;
        job->state = JOB_WAITING;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return slot;
}

const struct example *pool_wait_job(struct pool *pool, int slot)
{
    const struct example *example = &pool->jobs[slot].example;
    pthread_mutex_lock(&pool->lock);
    while (example && pool->jobs[slot].state != JOB_DONE)
        if (!wait_and_tick(pool))
            example = NULL;
    pthread_mutex_unlock(&pool->lock);
    return example;
}

void pool_job_free(struct pool *pool, int slot)
{
    struct job *job = &pool->jobs[slot];
    pthread_mutex_lock(&pool->lock);
    job->arena.used = 0;
    job->state = JOB_FREE;
    pthread_mutex_unlock(&pool->lock);
}

void pool_stop(struct pool *pool, bool hurry)
{
    atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
    if (hurry)
        atomic_store_explicit(&pool->hurry, true, memory_order_relaxed);
}

void pool_stop_minimising(struct pool *pool)
{
    atomic_store_explicit(&pool->stop_minimising, true, memory_order_relaxed);
}

uint32_t pool_watch(struct pool *pool, uint64_t now_ms, FILE *log)
{
    uint32_t hanging = 0;
    uint64_t limit = pool->options.case_timeout_ms > 0 ? pool->options.case_timeout_ms : HANG_MS;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        struct worker *w = &pool->workers[i];
        uint64_t beat_now = atomic_load_explicit(&w->slot->beat, memory_order_relaxed);
        if (beat_now != w->watched_beat || w->watched_since == 0 ||
            atomic_load_explicit(&w->slot->phase, memory_order_relaxed) == WATCH_IDLE) {
            w->watched_beat = beat_now;
            w->watched_since = now_ms;
            w->reported = false;
        }
        if (now_ms - w->watched_since < limit)
            continue;
        hanging++;
        uint64_t number = atomic_load_explicit(&w->slot->number, memory_order_relaxed);
        if (!w->reported)
            fprintf(log,
                    "simtfuzz: worker %" PRIu32 " has been at case %" PRIu64 " of seed 0x%" PRIx64
                    " for %" PRIu64 " s; its kernel: %s %" PRIu64 "\n",
                    i, number, pool->options.seed, limit / 1000, pool->command, number);
        w->reported = true;
    }
    return hanging;
}

uint32_t pool_hanging(struct pool *pool, struct incident incidents[WATCH_JOBS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        const struct worker *w = &pool->workers[i];
        const struct watch_slot *slot = w->slot;
        if (!w->reported)
            continue;
        pool->given_up = true;
        incidents[count++] =
            (struct incident){.number = atomic_load_explicit(&slot->number, memory_order_relaxed),
                              .chunk = atomic_load_explicit(&slot->chunk, memory_order_relaxed),
                              .phase = atomic_load_explicit(&slot->phase, memory_order_relaxed),
                              .hang = true,
                              .state = INCIDENT_CONFIRMED,
                              .rule = "timeout"};
    }
    return count;
}

const struct watch_slot *pool_slot(const struct pool *pool, uint32_t worker)
{
    return pool->workers[worker].slot;
}

uint64_t pool_planned_cases(const struct campaign_options *options)
{
    struct pool pool = {.options = *options};
    plan(&pool);
    if (pool.chunk_count == UINT64_MAX || pool.chunk_count == 0)
        return 0;
    return (pool.chunk_count - 1) * CAMPAIGN_CHUNK + pool_chunk_cases(&pool, pool.chunk_count - 1);
}

uint64_t pool_shard_cases(const struct pool *pool)
{
    return pool_planned_cases(&pool->options);
}

uint64_t pool_cases_done(const struct pool *pool)
{
    uint64_t done = pool->first * CAMPAIGN_CHUNK;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        done += atomic_load_explicit(&pool->workers[i].cases, memory_order_relaxed);
    return done;
}

void pool_show_counts(const struct pool *pool, const struct campaign_summary *before,
                      struct campaign_summary *summary)
{
    struct pool_told sum;
    pool_counts_start(&sum, before);
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pool_counts_add(&sum, &pool->workers[i].counts);
    pool_counts_show(&sum, summary);
}

/* ---- start and end ---- */

static void *allocate(size_t size)
{
    size_t rounded = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    void *memory = aligned_alloc(CACHE_LINE, rounded);
    return memory ? memset(memory, 0, rounded) : NULL;
}

static void init_locks(struct pool *pool)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->news, &attributes);
    pthread_cond_init(&pool->work, NULL);
    pthread_condattr_destroy(&attributes);
}

static bool start_worker(struct pool *pool, struct worker *worker, uint32_t index)
{
    worker->pool = pool;
    worker->slot =
        pool->options.watch ? &pool->options.watch->slots[index] : &pool->own_slots[index];
    worker->maker.slot = worker->slot;
    worker->maker.options = &pool->options;
    worker->maker.arena = &worker->arena;
    worker->note =
        (struct crash_note){.seed = pool->seed, .command = pool->command, .slot = (int)index};
    if (arena_init(&worker->arena, WORKER_ARENA_BYTES) != 0 ||
        !trace_back_open(&worker->maker.trace_back))
        return false;
    worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
    return worker->started;
}

static void free_pool(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        trace_back_close(&pool->workers[i].maker.trace_back);
        arena_destroy(&pool->workers[i].arena);
    }
    for (uint32_t i = 0; i < POOL_JOBS_MAX; i++)
        arena_destroy(&pool->jobs[i].arena);
    arena_destroy(&pool->texts);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->news);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool->own_slots);
    free(pool->ring);
    free(pool);
}

struct pool *pool_start(const struct campaign_options *options, uint64_t first, pool_tick *tick,
                        void *context, const char **error)
{
    struct pool *pool = allocate(sizeof *pool);
    struct chunk *ring = allocate(CHUNK_RING * sizeof *ring);
    struct worker *workers = allocate(options->jobs * sizeof *workers);
    struct watch_slot *slots = allocate(options->jobs * sizeof *slots);
    if (!pool || !ring || !workers || !slots) {
        free(pool);
        free(ring);
        free(workers);
        free(slots);
        *error = "out of memory";
        return NULL;
    }
    pool->options = *options;
    pool->tick = tick;
    pool->tick_context = context;
    pool->ring = ring;
    pool->workers = workers;
    pool->own_slots = slots;
    pool->worker_count = options->jobs;
    plan(pool);
    pool->first = first;
    atomic_store_explicit(&pool->next_chunk, first, memory_order_relaxed);
    atomic_store_explicit(&pool->released, first, memory_order_relaxed);
    init_locks(pool);
    bool good = arena_init(&pool->texts, TEXTS_BYTES) == 0;
    if (good) {
        pool->seed = arena_printf(&pool->texts, "0x%" PRIx64, options->seed);
        pool->command = case_gen_command(&pool->texts, options->seed, &options->gen);
    }
    for (uint32_t i = 0; i < POOL_JOBS_MAX; i++)
        good = good && arena_init(&pool->jobs[i].arena, JOB_ARENA_BYTES) == 0;
    for (uint32_t i = 0; i < options->jobs; i++)
        good = good && start_worker(pool, &pool->workers[i], i);
    if (!good) {
        *error = strerror(errno);
        pool_stop(pool, true);
        pool_finish(pool);
        return NULL;
    }
    return pool;
}

/* Under the lock: whether all workers that were started have ended. */
static bool all_ended(const struct pool *pool)
{
    for (uint32_t i = 0; i < pool->worker_count; i++)
        if (pool->workers[i].started && !pool->workers[i].ended)
            return false;
    return true;
}

bool pool_finish(struct pool *pool)
{
    uint64_t deadline = clock_monotonic_ms() + (pool->given_up ? 0 : FINISH_MS);
    pool_stop(pool, true);
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    bool ended;
    while (!(ended = all_ended(pool)))
        if (!wait_news(pool, deadline))
            break;
    pthread_mutex_unlock(&pool->lock);
    if (!ended)
        return false;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        if (pool->workers[i].started)
            pthread_join(pool->workers[i].thread, NULL);
    free_pool(pool);
    return true;
}
