/*
 * device_execute.c - one execution, under a schedule.
 */
#include "engine/base/pcg.h"
#include "engine/device/device_internal.h"
#include "engine/machine/live.h"

#include <string.h>

enum { TURN = 48, BURST = 16, LOOKS_FREE = 1 << 12, LOOKS_EACH = 64 };

struct runner {
    struct choices choices; /* first member */
    struct device *device;
    struct device_schedule *schedule;
    struct pcg rng;
    uint32_t next; /* on the tape */
    struct device_alternative last;
    uint32_t left; /* steps that the last warp may still take */
    /* A state that comes back, in turns: the one that was kept, and when the next one is. */
    uint32_t *kept;
    size_t words;
    uint64_t looks, next_kept;
    struct device_alternative kept_last;
};

static void record(struct runner *r, uint32_t entry)
{
    struct device_schedule *s = r->schedule;
    if (s->record && s->recorded < s->record_room)
        s->record[s->recorded++] = entry;
}

static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct runner *r = (struct runner *)choices;
    const struct device_watcher *w = r->device->watcher;
    uint32_t picked = 0;
    if (w && w->chosen)
        w->chosen(w->context, n);
    if (r->next < r->schedule->tape_count)
        picked = r->schedule->tape[r->next++] % n;
    else if (r->schedule->order == ORDER_RANDOM)
        picked = pcg_below(&r->rng, n);
    else if (r->schedule->order == ORDER_LAST)
        picked = n - 1;
    record(r, picked);
    return picked;
}

/* The alternative of this kind and more that is the first, or the last one; NULL: none is. */
static const struct device_alternative *first_of(const struct device *device,
                                                 enum device_alternative_kind kind)
{
    for (uint32_t i = 0; i < device->alternative_count; i++)
        if (device->alternatives[i].kind == kind)
            return &device->alternatives[i];
    return NULL;
}

/* The next warp behind the last one that stepped, in a circle. */
static struct device_alternative next_warp(const struct runner *r)
{
    const struct device *device = r->device;
    const struct device_alternative *first = first_of(device, ALTERNATIVE_WARP);
    for (uint32_t i = (uint32_t)(first - device->alternatives); i < device->alternative_count;
         i++) {
        const struct device_alternative *x = &device->alternatives[i];
        if (x->kind == ALTERNATIVE_WARP &&
            (x->a > r->last.a || (x->a == r->last.a && x->b > r->last.b)))
            return *x;
    }
    return *first;
}

/* Which SM gets the block: the one that holds the fewest. */
static struct device_alternative emptiest(const struct device *device,
                                          struct device_alternative issue)
{
    uint32_t held[64] = {0};
    for (uint32_t i = 0; i < device->grid_count; i++)
        for (uint32_t s = 0; s < device->grids[i].slots; s++)
            held[device->slots[i][s].sm] += device->slots[i][s].used;
    for (uint32_t i = 0; i < device->alternative_count; i++) {
        const struct device_alternative *x = &device->alternatives[i];
        if (x->kind == ALTERNATIVE_ISSUE && x->a == issue.a && held[x->b] < held[issue.b])
            issue = *x;
    }
    return issue;
}

static struct device_alternative pick_in_turns(const struct runner *r)
{
    static const enum device_alternative_kind orders[][6] = {
        [ORDER_TURNS] = {ALTERNATIVE_HOST, ALTERNATIVE_COPY, ALTERNATIVE_START, ALTERNATIVE_ISSUE,
                         ALTERNATIVE_MICRO, ALTERNATIVE_WARP},
        [ORDER_LAZY] = {ALTERNATIVE_ISSUE, ALTERNATIVE_WARP, ALTERNATIVE_MICRO, ALTERNATIVE_START,
                        ALTERNATIVE_COPY, ALTERNATIVE_HOST},
        [ORDER_LATE] = {ALTERNATIVE_HOST, ALTERNATIVE_COPY, ALTERNATIVE_START, ALTERNATIVE_ISSUE,
                        ALTERNATIVE_WARP, ALTERNATIVE_MICRO}};
    const enum device_alternative_kind *order = orders[r->schedule->order];
    for (uint32_t i = 0; i < 6; i++) {
        const struct device_alternative *x = first_of(r->device, order[i]);
        if (x && x->kind == ALTERNATIVE_WARP)
            return next_warp(r);
        if (x)
            return x->kind == ALTERNATIVE_ISSUE ? emptiest(r->device, *x) : *x;
    }
    return r->device->alternatives[0];
}

static struct device_alternative pick(struct runner *r)
{
    const struct device *device = r->device;
    struct device_schedule *s = r->schedule;
    if (r->next < s->tape_count) {
        uint32_t entry = s->tape[r->next++];
        for (uint32_t i = 0; i < device->alternative_count; i++)
            if (device_encode(device->alternatives[i]) == entry)
                return device->alternatives[i];
        if (s->astray == 0)
            s->astray = r->next;
        return device->alternatives[0];
    }
    switch (s->order) {
    case ORDER_TURNS:
    case ORDER_LAZY:
    case ORDER_LATE:
        return pick_in_turns(r);
    case ORDER_RANDOM:
        return device->alternatives[pcg_below(&r->rng, device->alternative_count)];
    case ORDER_LAST:
        break;
    }
    return device->alternatives[device->alternative_count - 1];
}

/* Whether the warp that stepped last may step again without a look at all alternatives: nothing else has changed. */
static bool goes_on(const struct runner *r)
{
    const struct device *device = r->device;
    if (r->left == 0 || r->last.kind != ALTERNATIVE_WARP || device->head->end != END_RUNNING ||
        r->next < r->schedule->tape_count)
        return false;
    const struct device_grid *grid = &device->grids[r->last.a];
    return !device->flights && device_runs(device, grid) && is_live(grid->machine, r->last.b);
}

static void take(struct runner *r, struct device_alternative x)
{
    const struct device_watcher *w = r->device->watcher;
    bool same = x.kind == ALTERNATIVE_WARP && r->last.kind == x.kind && r->last.a == x.a &&
                r->last.b == x.b;
    record(r, device_encode(x));
    if (w && w->step)
        w->step(w->context, x, DEVICE_RULE_COUNT);
    device_step(r->device, x, &r->choices);
    if (same && r->left > 0) {
        r->left--;
        return;
    }
    r->last = x;
    r->left = r->schedule->order == ORDER_RANDOM ? pcg_below(&r->rng, BURST) : TURN;
}

/* Turns are taken in an order that nothing but the state and the last warp decides: a state that comes back comes back
 * for ever. */
static bool comes_back(struct runner *r)
{
    struct device *device = r->device;
    if (r->schedule->order != ORDER_TURNS || !r->kept || ++r->looks < LOOKS_FREE ||
        r->looks % LOOKS_EACH != 0)
        return false;
    device_save(device, r->kept + r->words);
    if (r->looks == r->next_kept || r->looks == LOOKS_FREE) {
        memcpy(r->kept, r->kept + r->words, 4 * r->words);
        r->kept_last = r->last;
        r->next_kept = 2 * r->looks;
        return false;
    }
    return device_encode(r->last) == device_encode(r->kept_last) &&
           memcmp(r->kept, r->kept + r->words, 4 * r->words) == 0;
}

static enum device_end run(struct runner *r)
{
    struct device *device = r->device;
    enum device_end end = END_RUNNING;
    for (uint64_t steps = 0; steps < r->schedule->budget; steps++) {
        if (goes_on(r)) {
            take(r, r->last);
            continue;
        }
        r->left = 0;
        end = device_ended(device);
        if (end != END_RUNNING)
            return end;
        if (comes_back(r))
            return END_HANG;
        take(r, pick(r));
    }
    end = device_ended(device);
    return end == END_RUNNING ? END_NONE_LEFT : end;
}

enum device_end device_execute(struct device *device, struct device_schedule *schedule)
{
    struct runner r = {.choices = {.choose = choose}, .device = device, .schedule = schedule};
    r.rng = pcg_derive(schedule->seed, PCG_SCHEDULE, 0);
    r.last = (struct device_alternative){ALTERNATIVE_HOST, 0, 0};
    schedule->recorded = schedule->astray = 0;
    r.words = device_state_words(device);
    r.kept = device->kept;
    return run(&r);
}
