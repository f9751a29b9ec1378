/*
 * ref_bars.c - barInfo, prepBar, updAct, updArrCnt, reduce, endBar of cuda-crs 5.5.1; sync, arrive, recycle of
 * named-barriers 2.
 */
#include "engine/reference_ptx/ref_bars.h"

#include <string.h>

bool ref_bars_new(struct arena *arena, struct ref_bars *bars, const struct ast_launch *launch)
{
    *bars = (struct ref_bars){.threads = launch->threads, .warp = launch->warp};
    for (uint32_t b = 0; b < REF_BARRIERS; b++) {
        bars->bar[b].waits = ARENA_ARRAY(arena, bool, launch->threads);
        bars->bar[b].truths = ARENA_ARRAY(arena, bool, launch->threads);
    }
    return true;
}

void ref_bar_end(struct ref_bars *bars, uint32_t number)
{
    struct ref_bar *bar = &bars->bar[number];
    bar->count = bar->arrived = 0;
    bar->red = PTX_W_NONE;
    memset(bar->waits, 0, bars->threads * sizeof *bar->waits);
    memset(bar->truths, 0, bars->threads * sizeof *bar->truths);
}

void ref_bars_clear(struct ref_bars *bars)
{
    for (uint32_t b = 0; b < REF_BARRIERS; b++)
        ref_bar_end(bars, b);
}

/* reduce: over those that wait */
uint32_t ref_bar_reduced(const struct ref_bars *bars, uint32_t number)
{
    const struct ref_bar *bar = &bars->bar[number];
    uint32_t yes = 0, no = 0;
    for (uint32_t t = 0; t < bars->threads; t++) {
        yes += bar->waits[t] && bar->truths[t];
        no += bar->waits[t] && !bar->truths[t];
    }
    return bar->red == PTX_W_POPC ? yes : bar->red == PTX_W_OR ? yes > 0 : no == 0;
}

/* ---- warps ---- */

/* bar_sync, bar_arrive, bar_red of a thread: E[[e]] in BarrierIdx, E[[e']] in ThreadCnt. */
static const char *operands(const struct ref_bars *bars, const struct ref_bar_action *a,
                            uint32_t lane)
{
    if (a->kind == REF_BAR_ARRIVE && !a->has_count)
        return "bar.arrive without a thread count";
    if (a->number[lane] >= REF_BARRIERS)
        return "the barrier's number is not below 16";
    if (!a->has_count)
        return NULL;
    if (a->count[lane] == 0)
        return "the barrier's thread count is 0";
    if (a->count[lane] % bars->warp != 0 && !bars->lanes)
        return "the barrier's thread count is no multiple of the warp size";
    return NULL;
}

/* barInfo: lanes that name one barrier give one count. */
static const char *bar_info(const struct ref_bar_action *a)
{
    for (uint32_t i = 0; i < LIMIT_WARP && a->has_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (a->does[i] && a->does[k] && a->number[i] == a->number[k] &&
                a->count[i] != a->count[k])
                return "lanes of one barrier instruction give different thread counts (barInfo)";
    return NULL;
}

/* Threads that a barrier without a count waits for: the warps that have not completed, all of each (ERR.42). */
static uint32_t default_count(const struct ref_bars *bars, const bool *completed)
{
    uint32_t count = 0;
    for (uint32_t first = 0, w = 0; first < bars->threads; first += bars->warp, w++) {
        uint32_t lanes = bars->threads - first < bars->warp ? bars->threads - first : bars->warp;
        if (!completed[w] || bars->all_warps || bars->exit_arrives)
            count += bars->lanes ? lanes : bars->warp;
    }
    return count;
}

static uint32_t completed_threads(const struct ref_bars *bars, const bool *completed)
{
    uint32_t count = 0;
    for (uint32_t first = 0, w = 0; first < bars->threads; first += bars->warp, w++)
        count += completed[w] ? bars->warp : 0;
    return count;
}

/* prepBar: a barrier that is not in use is configured; one that is must be configured so. */
static const char *prep_bar(struct ref_bars *bars, const struct ref_bar_action *a, uint32_t lane,
                            const bool *completed)
{
    struct ref_bar *bar = &bars->bar[a->number[lane]];
    if (bar->count > 0 && a->has_count && a->count[lane] != bar->count)
        return "the barrier is in use with another thread count (prepBar)";
    if (bar->count > 0)
        return bar->red == a->red ? NULL : "the barrier is in use with another reduction (prepBar)";
    bar->defaults = !a->has_count;
    bar->count = a->has_count ? (uint32_t)a->count[lane] : default_count(bars, completed);
    bar->red = a->red;
    bar->arrived = bars->exit_arrives ? completed_threads(bars, completed) : 0;
    return NULL;
}

static bool is_first_of(const struct ref_bar_action *a, uint32_t lane)
{
    for (uint32_t i = 0; i < lane; i++)
        if (a->does[i] && a->number[i] == a->number[lane])
            return false;
    return true;
}

/* updAct, updArrCnt: who waits is noted; the whole warp arrives, once at each barrier. */
static void arrive(struct ref_bars *bars, const struct ref_bar_action *a, uint32_t lane,
                   bool waits[REF_BARRIERS])
{
    struct ref_bar *bar = &bars->bar[a->number[lane]];
    if (bars->lanes)
        bar->arrived++;
    else if (is_first_of(a, lane))
        bar->arrived += bars->warp;
    if (a->kind == REF_BAR_ARRIVE)
        return;
    bar->waits[a->first + lane] = true;
    bar->truths[a->first + lane] = a->truth[lane];
    waits[a->number[lane]] = true;
}

const char *ref_warp_bars(struct ref_bars *bars, const struct ref_bar_action *a,
                          const bool *completed, bool waits[REF_BARRIERS], uint32_t *lane)
{
    const char *why = NULL;
    for (*lane = 0; *lane < LIMIT_WARP; ++*lane)
        if (a->does[*lane] && (why = operands(bars, a, *lane)) != NULL)
            return why;
    for (*lane = 0; !a->does[*lane];)
        ++*lane;
    why = bar_info(a);
    for (uint32_t l = 0; l < LIMIT_WARP && !why; l++)
        if (a->does[l] && is_first_of(a, l))
            why = prep_bar(bars, a, l, completed);
    for (uint32_t l = 0; l < LIMIT_WARP && !why; l++)
        if (a->does[l])
            arrive(bars, a, l, waits);
    return why;
}

void ref_warp_exits(struct ref_bars *bars)
{
    for (uint32_t b = 0; b < REF_BARRIERS && bars->exit_arrives; b++)
        if (bars->bar[b].count > 0)
            bars->bar[b].arrived += bars->warp;
}

uint32_t ref_full_bar(const struct ref_bars *bars, uint32_t n)
{
    uint32_t b = 0;
    for (; b < REF_BARRIERS; b++)
        if (bars->bar[b].count > 0 && bars->bar[b].arrived >= bars->bar[b].count && n-- == 0)
            break;
    return b;
}

/* ---- threads ---- */

static enum rule error_of(const struct ref_bar_action *a, bool full)
{
    if (a->kind == REF_BAR_ARRIVE)
        return full ? RULE_NB_ARRIVE_ERR_FULL : RULE_NB_ARRIVE_ERR_COUNT;
    return full ? RULE_NB_SYNC_ERR_FULL : RULE_NB_SYNC_ERR_COUNT;
}

enum rule ref_thread_bar(struct ref_bars *bars, const struct ref_bar_action *a, const char **why,
                         bool *stuck)
{
    uint64_t n = a->has_count ? a->count[0] : bars->threads;
    bool arrives = a->kind == REF_BAR_ARRIVE;
    *stuck = true;
    if (a->number[0] >= REF_BARRIERS || n == 0 || n > UINT32_MAX) {
        *why = a->number[0] >= REF_BARRIERS ? "the barrier's number is not below 16"
                                            : "the barrier's thread count is 0";
        return arrives ? RULE_NB_ARRIVE_FIRST : RULE_NB_SYNC_FIRST;
    }
    struct ref_bar *bar = &bars->bar[a->number[0]];
    bool fresh = bar->count == 0;
    *stuck = false;
    if (!fresh && bar->count != n) {
        *why = "the barrier is configured for another number of threads";
        return error_of(a, false);
    }
    if (!fresh && bar->red != a->red) {
        *stuck = true;
        *why = "bar.red and another instruction, or another bar.red, on one barrier";
        return RULE_NB_SYNC_NEXT;
    }
    if (!fresh && bar->arrived == bar->count) {
        *why = "the barrier is full and not recycled yet";
        return error_of(a, true);
    }
    bar->count = (uint32_t)n;
    bar->red = a->red;
    bar->arrived++;
    if (!arrives) {
        bar->waits[a->first] = true;
        bar->truths[a->first] = a->truth[0];
    }
    return arrives ? (fresh ? RULE_NB_ARRIVE_FIRST : RULE_NB_ARRIVE_NEXT)
                   : (fresh ? RULE_NB_SYNC_FIRST : RULE_NB_SYNC_NEXT);
}
