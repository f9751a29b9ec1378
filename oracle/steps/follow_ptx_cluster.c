/*
 * follow_ptx_cluster.c - clusters of blocks, thread by thread: which block is which one's neighbour; the barrier that
 * their threads arrive at and wait at (PTX ISA 9.7.13.4).
 */
#include "oracle/steps/follow_ptx.h"

/* Where a block lies in the grid: column, row, plane. */
static void place_of_block(const struct ptx_kernel *kernel, uint32_t block, uint32_t at[3])
{
    uint32_t rest = block;
    for (uint32_t i = 0; i < 3; i++) {
        at[i] = rest % kernel->grid[i];
        rest /= kernel->grid[i];
    }
}

/* Whether two blocks of the machine are of one cluster; *rank: that of the second one in it. */
static bool share_cluster(const struct follow_step *s, uint32_t block, uint32_t other,
                          uint32_t *rank)
{
    const struct ptx_kernel *kernel = s->x->code->kernel;
    uint32_t a[3], b[3], unit = 1;
    place_of_block(kernel, kernel->first_block + block, a);
    place_of_block(kernel, kernel->first_block + other, b);
    *rank = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t size = kernel->cluster[i];
        if (a[i] / size != b[i] / size)
            return false;
        *rank += unit * (b[i] % size);
        unit *= size;
    }
    return true;
}

static bool has_ended(const struct follow_step *s, uint32_t block)
{
    for (uint32_t i = 0; i < s->x->groups_a_block; i++)
        if (!s->x->groups[block * s->x->groups_a_block + i].ended)
            return false;
    return true;
}

bool follow_ptx_neighbour(const struct follow_step *s, uint32_t wanted, uint32_t *block)
{
    uint32_t rank;
    for (*block = 0; *block < s->f->program->launch.blocks; ++*block)
        if (share_cluster(s, s->group / s->x->groups_a_block, *block, &rank) && rank == wanted)
            return !has_ended(s, *block);
    return false;
}

/* ---- the barrier ---- */

/* A warp that waits while a lane of it has neither come to the barrier nor exited: lock-step knows no way on. */
static void tell_torn(struct follow_step *s)
{
    const struct follow_group *g = s->g;
    uint32_t first = UINT32_MAX;
    bool is_torn = false;
    for (uint32_t l = 0; l < g->registers->count; l++) {
        if (s->executes[l] && first == UINT32_MAX)
            first = l;
        is_torn |= !s->executes[l] && g->unit->disabled[l] != 'e' &&
                   (g->at_cluster[l] == FOLLOW_AWAY || g->at_cluster[l] == FOLLOW_PASSED);
    }
    if (is_torn && first != UINT32_MAX && follow_ptx_waits(g))
        follow_ptx_fault(s, STATUS_UNSUPPORTED, first);
}

enum rule follow_ptx_cluster(struct follow_step *s)
{
    const bool arrives = s->op->mode == PTX_W_ARRIVE;
    const enum rule rule = arrives ? RULE_CLUSTER_ARRIVE : RULE_CLUSTER_WAIT;
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        enum follow_at_cluster *at = &s->g->at_cluster[l];
        if (!s->executes[l])
            continue;
        if (arrives ? *at != FOLLOW_AWAY : *at != FOLLOW_ARRIVED && *at != FOLLOW_PASSED) {
            follow_ptx_fault(s, STATUS_STUCK, l);
            return rule;
        }
    }
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l])
            s->g->at_cluster[l] = arrives                                ? FOLLOW_ARRIVED
                                  : s->g->at_cluster[l] == FOLLOW_PASSED ? FOLLOW_AWAY
                                                                         : FOLLOW_WAITS;
    if (!arrives)
        tell_torn(s);
    return rule;
}

/* Behind a step: if all threads of the warp's cluster that have not exited have arrived, those that wait go on. */
void follow_ptx_cluster_ends(struct follow_step *s)
{
    struct follow_ptx *x = s->x;
    const uint32_t own = s->group / x->groups_a_block;
    uint32_t rank, arrived = 0;
    for (uint32_t i = 0; i < s->f->machine->actor_count; i++) {
        const struct follow_group *g = &x->groups[i];
        if (!share_cluster(s, own, i / x->groups_a_block, &rank))
            continue;
        for (uint32_t l = 0; l < g->registers->count; l++) {
            const bool is_there =
                g->at_cluster[l] == FOLLOW_ARRIVED || g->at_cluster[l] == FOLLOW_WAITS;
            if (!is_there && g->unit->disabled[l] != 'e')
                return;
            arrived += is_there;
        }
    }
    for (uint32_t i = 0; arrived > 0 && i < s->f->machine->actor_count; i++) {
        struct follow_group *g = &x->groups[i];
        if (!share_cluster(s, own, i / x->groups_a_block, &rank))
            continue;
        const bool waited = follow_ptx_waits(g);
        for (uint32_t l = 0; l < g->registers->count; l++)
            g->at_cluster[l] = g->at_cluster[l] == FOLLOW_ARRIVED ? FOLLOW_PASSED
                               : g->at_cluster[l] == FOLLOW_WAITS ? FOLLOW_AWAY
                                                                  : g->at_cluster[l];
        s->f->live += waited && !follow_ptx_waits(g);
    }
}
