/*
 * follow_ptx_special.c - special registers (PTX ISA 10), from the launch alone: a thread's place in its block, a
 * block's in its cluster and in the grid.
 */
#include "oracle/steps/follow_ptx.h"

#include <string.h>

/* Threads and blocks of which others are made: how many there are in each dimension. */
struct shape {
    uint32_t n[3];
};

/* Number `i` as column, row and plane. */
static struct shape place_in(struct shape all, uint32_t i)
{
    const uint32_t row = i / all.n[0];
    return (struct shape){{i % all.n[0], row % all.n[1], row / all.n[1]}};
}

struct places {
    struct shape block, grid, cluster; /* sizes */
    struct shape thread, cta, of_cluster, in_cluster;
    uint32_t number; /* of the thread in its block */
};

static struct places places_of(const struct follow_step *s, uint32_t lane)
{
    const struct program *program = s->f->program;
    const struct ptx_kernel *kernel = s->x->code->kernel;
    const uint32_t thread = s->g->registers->first_thread + lane, threads = program->launch.threads;
    struct places p = {.number = thread % threads};
    ptx_kernel_dimensions(program->core, p.block.n, p.grid.n);
    p.thread = place_in(p.block, p.number);
    p.cta = place_in(p.grid, kernel->first_block + thread / threads);
    for (uint32_t i = 0; i < 3; i++) {
        p.cluster.n[i] = kernel->cluster[i];
        for (p.in_cluster.n[i] = p.cta.n[i]; p.in_cluster.n[i] >= kernel->cluster[i];
             p.in_cluster.n[i] -= kernel->cluster[i])
            p.of_cluster.n[i]++;
    }
    return p;
}

static uint32_t component(struct shape s, char element)
{
    return element >= 'x' ? s.n[element - 'x'] : 0; /* .w is 0 */
}

/* Lanes by which others are told apart, of the first 32. */
static uint32_t mask_of(enum ptx_special which, uint32_t lane)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 32; i++) {
        const bool has = which == PTX_SPECIAL_LANEMASK_EQ   ? i == lane
                         : which == PTX_SPECIAL_LANEMASK_LE ? i <= lane
                         : which == PTX_SPECIAL_LANEMASK_LT ? i < lane
                         : which == PTX_SPECIAL_LANEMASK_GE ? i >= lane
                                                            : i > lane;
        mask += has ? (uint32_t)1 << i : 0;
    }
    return mask;
}

static uint32_t all_of(struct shape s)
{
    return s.n[0] * s.n[1] * s.n[2];
}

uint32_t follow_ptx_rank(const struct follow_step *s, uint32_t lane)
{
    const struct places p = places_of(s, lane);
    const uint32_t *at = p.in_cluster.n, *n = p.cluster.n;
    return at[2] * n[1] * n[0] + at[1] * n[0] + at[0];
}

static struct shape vector_of(const struct places *p, enum ptx_special which)
{
    struct shape clusters = {{0, 0, 0}};
    switch ((int)which) {
    case PTX_SPECIAL_TID:
        return p->thread;
    case PTX_SPECIAL_NTID:
        return p->block;
    case PTX_SPECIAL_CTAID:
        return p->cta;
    case PTX_SPECIAL_NCTAID:
        return p->grid;
    case PTX_SPECIAL_CLUSTERID:
        return p->of_cluster;
    case PTX_SPECIAL_CLUSTER_CTAID:
        return p->in_cluster;
    case PTX_SPECIAL_CLUSTER_NCTAID:
        return p->cluster;
    case PTX_SPECIAL_NCLUSTERID:
        for (uint32_t i = 0; i < 3; i++)
            while (clusters.n[i] * p->cluster.n[i] < p->grid.n[i])
                clusters.n[i]++;
        break;
    }
    return clusters;
}

static uint64_t grid_barrier(const struct ptx_kernel *kernel)
{
    for (const struct ptx_bind *m = kernel->memory; m; m = m->next)
        if (strcmp(m->parameter, PTX_GRID_BARRIER) == 0)
            return m->address;
    return 0;
}

/* %envreg1, %envreg2: who asks for the barrier in a cooperative launch has been said to wait for its grid. */
static uint64_t asked_barrier(const struct follow_step *s)
{
    const uint64_t address = grid_barrier(s->x->code->kernel);
    if (address != 0 && !s->x->may_ask_for_grid && s->f->state == FOLLOW_ALONG)
        follow_part(s->f, "grid", "nothing waits for it", "its barrier is asked for");
    return address;
}

static uint64_t number_of(const struct follow_step *s, const struct places *p,
                          enum ptx_special which, uint32_t lane)
{
    const struct ptx_kernel *kernel = s->x->code->kernel;
    const uint32_t warp = s->f->program->launch.warp, threads = s->f->program->launch.threads;
    switch ((int)which) {
    case PTX_SPECIAL_CLUSTER_CTARANK:
        return follow_ptx_rank(s, lane);
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        return all_of(p->cluster);
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return kernel->cluster_given;
    case PTX_SPECIAL_LANEID:
        return p->number % warp;
    case PTX_SPECIAL_WARPID:
        return p->number / warp;
    case PTX_SPECIAL_NWARPID:
        return (threads - 1) / warp + 1;
    case PTX_SPECIAL_LANEMASK_EQ:
    case PTX_SPECIAL_LANEMASK_LE:
    case PTX_SPECIAL_LANEMASK_LT:
    case PTX_SPECIAL_LANEMASK_GE:
    case PTX_SPECIAL_LANEMASK_GT:
        return mask_of(which, p->number % warp);
    case PTX_SPECIAL_ENVREG1:
        return asked_barrier(s) >> 32;
    case PTX_SPECIAL_ENVREG2:
        return asked_barrier(s) << 32 >> 32;
    case PTX_SPECIAL_NSMID:
        return 1;
    case PTX_SPECIAL_WARP_SZ:
        return warp;
    }
    return 0;
}

bool follow_ptx_special(const struct follow_step *s, const struct ptx_operand *operand,
                        uint32_t lane, uint64_t *value)
{
    const struct places p = places_of(s, lane);
    const enum ptx_special which = operand->target.special;
    if (which == PTX_SPECIAL_TOTAL_SMEM_SIZE || which == PTX_SPECIAL_DYNAMIC_SMEM_SIZE)
        return false; /* as the program was laid out */
    *value = operand->element ? component(vector_of(&p, which), operand->element)
                              : number_of(s, &p, which, lane);
    return true;
}
