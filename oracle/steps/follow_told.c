/*
 * follow_told.c - what machines of PTX tell observers of their barriers: who registers, who is released, and whether
 * the whole block took part. Race detectors order accesses by nothing else.
 */
#include "oracle/steps/follow_ptx.h"

#include <string.h>

void follow_ptx_hear_use(void *context, const struct machine *machine,
                         const struct barrier_use *use)
{
    struct follower *f = context;
    (void)machine;
    if (use->barrier >= REF_BARRIERS && use->kind == BARRIER_RELEASES)
        return; /* of a cluster: no step of its own tells of the end */
    if (f->state == FOLLOW_ALONG && f->use_count < FOLLOW_USES)
        f->uses[f->use_count] = *use;
    f->use_count++;
}

/* How often observers were told that a thread of the block does this at the barrier. */
static uint32_t times_told(const struct follower *f, enum barrier_use_kind kind, uint32_t block,
                           uint32_t barrier, uint32_t thread)
{
    uint32_t times = 0, number = block * f->program->launch.threads + thread;
    for (uint32_t i = 0; i < f->use_count && i < FOLLOW_USES; i++) {
        const struct barrier_use *use = &f->uses[i];
        if (use->kind == kind && use->block == block && use->barrier == barrier &&
            number >= use->first_thread && number - use->first_thread < 64)
            times += use->mask >> (number - use->first_thread) & 1;
    }
    return times;
}

static uint32_t all_told(const struct follower *f)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < f->use_count && i < FOLLOW_USES; i++)
        times += (uint32_t)__builtin_popcountll(f->uses[i].mask);
    return times;
}

/* A barrier instruction: each lane that executes it registers, once, at its barrier; nobody else does anything. */
void follow_ptx_compare_registered(const struct follow_step *s)
{
    bool is_barrier = s->op->exec >= PTX_EXEC_BAR_SYNC && s->op->exec <= PTX_EXEC_BAR_RED;
    struct ref_bar_action a = {.kind = REF_BAR_SYNC};
    uint32_t block = s->group / s->x->groups_a_block, expected = 0;
    if (is_barrier)
        a = follow_ptx_bar_action(s);
    for (uint32_t l = 0; l < LIMIT_WARP && s->f->state == FOLLOW_ALONG; l++) {
        if (s->op->exec == PTX_EXEC_CLUSTER && s->op->mode == PTX_W_ARRIVE)
            expected += s->executes[l];
        if (!a.does[l])
            continue;
        enum barrier_use_kind kind = a.kind == REF_BAR_ARRIVE ? BARRIER_ARRIVES : BARRIER_SYNCS;
        uint32_t told = times_told(s->f, kind, block, (uint32_t)a.number[l], a.first + l);
        if (told != 1)
            follow_part_numbers(s->f, "registration told", told, 1);
        expected++;
    }
    if (s->f->state == FOLLOW_ALONG && all_told(s->f) != expected)
        follow_part_numbers(s->f, "registration told", all_told(s->f), expected);
    if (s->f->state == FOLLOW_ALONG && s->f->barrier_count > 0)
        follow_part_numbers(s->f, "barrier told", s->f->barrier_count, 0);
}

/* Whether the end of a barrier separates what the whole block did from what it does: every thread that has not exited
 * waits at it. Of a warp that has ended a barrier with a count knows nothing; of threads, none may have ended. */
static bool takes_all(const struct follow_ptx *x, const struct follow_group *group,
                      const struct ref_bar *bar, uint32_t first, uint32_t lanes)
{
    if (!x->is_threads && group->ended && !bar->defaults)
        return false;
    for (uint32_t l = 0; l < lanes; l++)
        if (!bar->waits[first + l] && (x->is_threads || group->unit->disabled[l] != 'e'))
            return false;
    return true;
}

/* A barrier ends: those that wait at it are released, each once; and whether all took part. */
void follow_ptx_compare_released(struct follower *f, uint32_t block, uint32_t number)
{
    const struct follow_ptx *x = f->ptx;
    const struct ref_bar *bar = &x->bars[block].bar[number];
    uint32_t expected = 0;
    bool all = true;
    for (uint32_t t = 0; t < f->program->launch.threads && f->state == FOLLOW_ALONG; t++) {
        uint32_t told = times_told(f, BARRIER_RELEASES, block, number, t);
        if (told != bar->waits[t])
            follow_part_numbers(f, "release told", told, bar->waits[t]);
        expected += bar->waits[t];
    }
    if (f->state == FOLLOW_ALONG && all_told(f) != expected)
        follow_part_numbers(f, "release told", all_told(f), expected);
    for (uint32_t i = 0; i < x->groups_a_block; i++) {
        const struct follow_group *g = &x->groups[block * x->groups_a_block + i];
        uint32_t first = g->registers->first_thread % f->program->launch.threads;
        all = all && takes_all(x, g, bar, first, g->registers->count);
    }
    if (f->state == FOLLOW_ALONG && (f->barrier_count != all || (all && f->barrier.block != block)))
        follow_part_numbers(f, "barrier told", f->barrier_count, all);
}
