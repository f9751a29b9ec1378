#include "fuzz/minimise/reduce_bound.h"

#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* How long behind the end of the time, or a signal, it may still end by itself. */
enum { GRACE_MS = 250, INTERRUPT_MS = 3000, POLL_MS = 50 };

static const size_t TEXT_ARENA_BYTES = (size_t)64 << 20;

bool reduce_bound_open(struct reduce_bound *bound, uint64_t started_ms, uint64_t time_ms,
                       uint32_t confirming, const struct ast_kernel *kernel)
{
    *bound = (struct reduce_bound){.line = live_line_new(started_ms),
                                   .time_ms = time_ms,
                                   .confirming = confirming,
                                   .deadline_ms = time_ms > 0 ? started_ms + time_ms : 0,
                                   .asked_ms = clock_monotonic_ms()};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&bound->lock, NULL);
    pthread_cond_init(&bound->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (arena_init(&bound->arena, TEXT_ARENA_BYTES) != 0)
        return false;
    bound->best = print_kernel(&bound->arena, kernel);
    bound->size = bound->size_before = ast_kernel_size(kernel);
    return true;
}

void reduce_bound_close(struct reduce_bound *bound)
{
    live_line_close(&bound->line);
    arena_destroy(&bound->arena);
    pthread_cond_destroy(&bound->changed);
    pthread_mutex_destroy(&bound->lock);
}

static void take_best(struct reduce_bound *bound, const struct reduce_so_far *so_far)
{
    bound->tests = so_far->tests;
    if (!so_far->best || so_far->accepted == bound->best_number)
        return;
    bound->arena.used = 0;
    bound->best = print_kernel(&bound->arena, so_far->best);
    bound->best_number = so_far->accepted;
    bound->size = so_far->size;
}

static void show(struct reduce_bound *bound, const struct reduce_so_far *so_far)
{
    if (!live_line_begin(&bound->line))
        return;
    fprintf(stderr, "%" PRIu32 " statements became %" PRIu32 "  %" PRIu32 " candidates  %s",
            bound->size_before, so_far->size, so_far->tests, so_far->pass ? so_far->pass : "");
    live_line_end();
}

/* What was found must still be confirmed: that takes some runs like those so far. */
static bool is_time_to_end(const struct reduce_bound *bound)
{
    uint64_t reserve_ms = bound->confirming * bound->longest_ms;
    if (reserve_ms > bound->time_ms / 4)
        reserve_ms = bound->time_ms / 4;
    return bound->deadline_ms > 0 && bound->asked_ms + reserve_ms >= bound->deadline_ms;
}

bool reduce_bound_go_on(void *context, const struct reduce_so_far *so_far)
{
    struct reduce_bound *bound = context;
    pthread_mutex_lock(&bound->lock);
    uint64_t now_ms = clock_monotonic_ms(), passed_ms = now_ms - bound->asked_ms;
    bound->asked_ms = now_ms;
    bound->longest_ms = passed_ms > bound->longest_ms ? passed_ms : bound->longest_ms;
    bool goes_on = !bound->abandoned && !interrupted && !is_time_to_end(bound);
    if (!bound->abandoned) {
        take_best(bound, so_far);
        show(bound, so_far);
    }
    pthread_mutex_unlock(&bound->lock);
    return goes_on;
}

/* ---- a thread that may be left alone ---- */

static void *do_work(void *argument)
{
    struct reduce_bound *bound = argument;
    bound->work(bound->context);
    pthread_mutex_lock(&bound->lock);
    bound->ended = true;
    pthread_cond_signal(&bound->changed);
    pthread_mutex_unlock(&bound->lock);
    return NULL;
}

/* At most this long: a signal does not wake who waits. */
static void wait_a_little(struct reduce_bound *bound)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&bound->changed, &bound->lock, &until);
}

bool reduce_bound_run(struct reduce_bound *bound, void (*work)(void *context), void *context)
{
    pthread_t thread;
    uint64_t end_ms = bound->deadline_ms > 0 ? bound->deadline_ms + GRACE_MS : UINT64_MAX;
    bool told = false;
    bound->work = work;
    bound->context = context;
    if (pthread_create(&thread, NULL, do_work, bound) != 0) {
        work(context);
        return true;
    }
    pthread_mutex_lock(&bound->lock);
    while (!bound->ended && clock_monotonic_ms() < end_ms) {
        wait_a_little(bound);
        uint64_t soon_ms = clock_monotonic_ms() + INTERRUPT_MS;
        if (interrupted && !told)
            end_ms = soon_ms < end_ms ? soon_ms : end_ms;
        told = interrupted;
    }
    bool ended = bound->ended;
    bound->abandoned = !ended;
    pthread_mutex_unlock(&bound->lock);
    if (ended)
        pthread_join(thread, NULL);
    return ended;
}
