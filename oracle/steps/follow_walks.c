/*
 * follow_walks.c - schedules that draw: whom each takes, by its algorithm and the numbers that it draws, which are
 * drawn here once more (engine/base/pcg.h). All that can be asked anew is asked anew at each step: who can step, what
 * the next steps access.
 *
 *     uniform    anybody who can
 *     starve     anybody who can but the victim, if somebody else can
 *     unfair:N   anybody who can but those starved, N times; then all in turn, in an order that is drawn
 *     pct:d      Burckhardt et al., ASPLOS 2010, section 3: the highest priority; whoever is about to take step k_i
 *                gets priority i, below all that were drawn
 *     pos        Yuan et al., CAV 2018, algorithm 2: the highest priority; then the actor, those that it released,
 *                and all whose next steps conflict with its step draw anew
 *     surw       Zhao et al., ASPLOS 2025, algorithm 2: one is intended, by how many selected steps each has left;
 *                others step too, but for selected steps
 */
#include "engine/base/pcg.h"
#include "engine/machine/semantics.h"
#include "oracle/steps/follow_ptx.h"

#include <string.h>

#define NOBODY UINT32_MAX

enum {
    PCT_LENGTH = 256,    /* where no execution has been measured */
    SURW_PATIENCE = 256, /* picks for each that can step, until another is intended */
    CHANGES = 4
};

struct follow_walk {
    struct pcg rng;
    struct sched_spec spec;
    uint32_t count, last, place; /* place: unfair, in the order */
    uint64_t steps;
    uint32_t *priority; /* an actor; unfair: the order */
    bool *starved, *could, *selected;
    uint32_t *remaining, intended, patience; /* surw */
    uint64_t points[CHANGES], reads, writes; /* pct; pos: of the step taken */
    bool unknown;                            /* whom it takes, from here on, and what it draws */
};

static uint32_t draw(struct follow_walk *w, uint32_t n)
{
    return pcg_below(&w->rng, n);
}

/* ---- who can ---- */

typedef bool may(const struct follower *f, const struct follow_walk *w, uint32_t actor);

static bool is_able(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    (void)w;
    return follow_can_step(f, actor);
}

static bool is_no_victim(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    return follow_can_step(f, actor) && actor != w->spec.victim;
}

static bool is_fed(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    return follow_can_step(f, actor) && !w->starved[actor];
}

static uint32_t how_many(const struct follower *f, const struct follow_walk *w, may *of)
{
    uint32_t count = 0;
    for (uint32_t a = 0; a < w->count; a++)
        count += of(f, w, a);
    return count;
}

/* One of them, each with equal chance. */
static uint32_t any(const struct follower *f, struct follow_walk *w, may *of)
{
    uint32_t number = draw(w, how_many(f, w, of)), actor = 0;
    while (!of(f, w, actor) || number-- > 0)
        actor++;
    return actor;
}

/* ---- unfair ---- */

static void draw_order(struct follow_walk *w, uint32_t first)
{
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t j = draw(w, i + 1);
        w->priority[i] = w->priority[j];
        w->priority[j] = first + i;
    }
}

static void draw_starved(struct follow_walk *w)
{
    uint32_t starved = 0;
    for (uint32_t a = 0; a < w->count; a++) {
        w->starved[a] = draw(w, 2);
        starved += w->starved[a];
    }
    if (starved == 0 || starved == w->count)
        w->starved[draw(w, w->count)] = starved == 0;
}

static uint32_t unfair(const struct follower *f, struct follow_walk *w)
{
    if (w->spec.prefix > 0 && how_many(f, w, is_fed) > 0) {
        w->spec.prefix--;
        return any(f, w, is_fed);
    }
    w->spec.prefix = 0;
    for (;;) {
        uint32_t actor = w->priority[w->place];
        w->place = (w->place + 1) % w->count;
        if (follow_can_step(f, actor))
            return actor;
    }
}

/* ---- priorities ---- */

static uint32_t highest(const struct follower *f, const struct follow_walk *w)
{
    uint32_t best = NOBODY;
    for (uint32_t a = 0; a < w->count; a++)
        if (follow_can_step(f, a) && (best == NOBODY || w->priority[a] > w->priority[best]))
            best = a;
    return best;
}

/* Distinct steps, of 1 .. k. */
static void draw_points(struct follow_walk *w)
{
    uint64_t k = w->spec.length_estimate ? w->spec.length_estimate : PCT_LENGTH;
    uint32_t drawn = 0;
    memset(w->points, 0, sizeof w->points);
    k = k > UINT32_MAX ? UINT32_MAX : k;
    while (drawn < w->spec.depth - 1 && drawn < k) {
        uint64_t point = 1 + (uint64_t)draw(w, (uint32_t)k);
        bool is_new = true;
        for (uint32_t i = 0; i < drawn; i++)
            is_new = is_new && w->points[i] != point;
        if (is_new)
            w->points[drawn++] = point;
    }
}

static uint32_t pct(const struct follower *f, struct follow_walk *w)
{
    w->steps++;
    for (uint32_t i = 0; i < CHANGES; i++)
        if (w->points[i] == w->steps)
            w->priority[highest(f, w)] = i + 1;
    return highest(f, w);
}

/* Whether what the last actor released may be the other: one of its block, or anybody where clusters have barriers. */
static bool is_released(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    uint32_t each = w->count / f->program->launch.blocks;
    return actor / each == w->last / each || (f->ptx && f->ptx->code->has_cluster_barrier);
}

/* Whether somebody can step who could not before the last step. That somebody left then, too, is left to others. */
static bool has_released(const struct follower *f, struct follow_walk *w)
{
    bool released = false;
    for (uint32_t a = 0; a < w->count; a++)
        released = released || (w->steps > 0 && follow_can_step(f, a) && !w->could[a]);
    w->unknown = w->unknown || (released && !follow_can_step(f, w->last));
    for (uint32_t a = 0; a < w->count; a++)
        w->could[a] = follow_can_step(f, a);
    return released;
}

static bool conflicts(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    uint64_t reads, writes;
    f->machine->semantics->footprint(f->machine, actor, &reads, &writes);
    return ((w->writes & (reads | writes)) | (w->reads & writes)) != 0;
}

static uint32_t pos(const struct follower *f, struct follow_walk *w)
{
    bool released = has_released(f, w);
    for (uint32_t a = 0; a < w->count; a++)
        if (follow_can_step(f, a) &&
            (w->steps == 0 || a == w->last || (released && is_released(f, w, a))))
            w->priority[a] = pcg_next(&w->rng);
    for (uint32_t a = 0; a < w->count && w->steps > 0; a++)
        if (follow_can_step(f, a) && a != w->last && conflicts(f, w, a))
            w->priority[a] = pcg_next(&w->rng);
    w->steps++;
    uint32_t actor = highest(f, w);
    f->machine->semantics->footprint(f->machine, actor, &w->reads, &w->writes);
    return actor;
}

/* ---- selected steps ---- */

static bool is_selected(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    uint32_t stm = f->machine->semantics->next_stm(f->machine, actor);
    return stm != CODE_NONE && w->spec.selected[stm];
}

static bool waits_for_nobody(const struct follower *f, const struct follow_walk *w, uint32_t actor)
{
    return follow_can_step(f, actor) &&
           (w->intended == NOBODY || actor == w->intended || !w->selected[actor]);
}

static void intend(const struct follower *f, struct follow_walk *w)
{
    uint32_t total = 0, actor = 0;
    for (uint32_t a = 0; a < w->count; a++)
        total += follow_can_step(f, a) ? w->remaining[a] : 0;
    w->intended = NOBODY;
    w->patience = SURW_PATIENCE * how_many(f, w, is_able);
    if (total == 0)
        return;
    for (uint32_t number = draw(w, total);; actor++) {
        if (!follow_can_step(f, actor))
            continue;
        if (number < w->remaining[actor])
            break;
        number -= w->remaining[actor];
    }
    w->intended = actor;
}

static uint32_t surw(const struct follower *f, struct follow_walk *w)
{
    bool taken = w->steps > 0 && w->selected[w->last];
    if (taken)
        w->remaining[w->last]--;
    (void)has_released(f, w);
    for (uint32_t a = 0; a < w->count; a++) {
        w->selected[a] = follow_can_step(f, a) && is_selected(f, w, a);
        if (w->selected[a] && w->remaining[a] == 0)
            w->remaining[a] = 1; /* counts are estimates */
    }
    bool gone = w->intended != NOBODY && !follow_can_step(f, w->intended);
    if (w->steps++ == 0 || taken || gone || w->patience-- == 0)
        intend(f, w);
    return any(f, w, waits_for_nobody);
}

/* ---- an execution ---- */

static struct follow_walk *walk_new(struct arena *arena, uint32_t count)
{
    struct follow_walk *w = ARENA_NEW(arena, struct follow_walk);
    w->count = count;
    w->priority = ARENA_ARRAY(arena, uint32_t, count);
    w->remaining = ARENA_ARRAY(arena, uint32_t, count);
    w->starved = ARENA_ARRAY(arena, bool, count);
    w->could = ARENA_ARRAY(arena, bool, count);
    w->selected = ARENA_ARRAY(arena, bool, count);
    return w;
}

void follow_walk_start(struct follower *f, struct arena *arena, const struct sched_spec *spec)
{
    if (!f->walk)
        f->walk = walk_new(arena, f->machine->actor_count);
    struct follow_walk *w = f->walk;
    w->rng = pcg_derive(spec->seed, PCG_SCHEDULE, spec->index);
    w->spec = *spec;
    w->steps = 0;
    w->place = 0;
    w->last = w->intended = NOBODY;
    w->unknown = false;
    switch ((int)spec->kind) {
    case SCHED_UNFAIR_FAIR:
        draw_starved(w);
        draw_order(w, 0);
        break;
    case SCHED_PCT:
        draw_order(w, spec->depth);
        draw_points(w);
        break;
    case SCHED_SURW:
        for (uint32_t a = 0; a < w->count; a++) {
            uint32_t most = UINT32_MAX / 2 / w->count; /* their sum is a number, too */
            w->remaining[a] = spec->selected_counts[a] < most ? spec->selected_counts[a] : most;
        }
        break;
    }
}

/* A choice within a step is of the same numbers. */
uint32_t follow_walk_choice(struct follower *f, uint32_t n)
{
    struct follow_walk *w = f->walk;
    return w->unknown || w->spec.kind == SCHED_TAPE ? NOBODY : draw(w, n);
}

uint32_t follow_walk_next(struct follower *f)
{
    struct follow_walk *w = f->walk;
    uint32_t actor = NOBODY;
    /* That the machine lets somebody step whom the reference does not, is told of the step. */
    w->unknown = w->unknown || how_many(f, w, is_able) == 0;
    if (w->unknown)
        return NOBODY;
    switch ((int)w->spec.kind) {
    case SCHED_UNIFORM:
        actor = any(f, w, is_able);
        break;
    case SCHED_STARVE:
        actor = how_many(f, w, is_able) == 1       ? highest(f, w)
                : how_many(f, w, is_no_victim) > 0 ? any(f, w, is_no_victim)
                                                   : any(f, w, is_able);
        break;
    case SCHED_UNFAIR_FAIR:
        actor = unfair(f, w);
        break;
    case SCHED_PCT:
        actor = pct(f, w);
        break;
    case SCHED_POS:
        actor = pos(f, w);
        break;
    case SCHED_SURW:
        actor = surw(f, w);
        break;
    }
    w->last = actor;
    return w->unknown ? NOBODY : actor;
}
