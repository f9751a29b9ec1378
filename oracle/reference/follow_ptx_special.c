/*
 * follow_ptx_special.c - special registers (PTX ISA 10), from the launch alone: a thread's place in its block, a
 * block's in its cluster and in the grid.
 */
#include "oracle/reference/follow_ptx.h"

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

bool follow_ptx_special(const struct follow_step *s, const struct ptx_operand *operand,
                        uint32_t lane, uint64_t *value)
{
    const struct places p = places_of(s, lane);
    const struct ptx_kernel *kernel = s->x->code->kernel;
    const uint32_t warp = s->f->program->launch.warp, threads = s->f->program->launch.threads;
    const enum ptx_special which = operand->target.special;
    struct shape shape = {{0, 0, 0}};
    switch ((int)which) {
    case PTX_SPECIAL_TID:
        shape = p.thread;
        break;
    case PTX_SPECIAL_NTID:
        shape = p.block;
        break;
    case PTX_SPECIAL_CTAID:
        shape = p.cta;
        break;
    case PTX_SPECIAL_NCTAID:
        shape = p.grid;
        break;
    case PTX_SPECIAL_CLUSTERID:
        shape = p.of_cluster;
        break;
    case PTX_SPECIAL_NCLUSTERID:
        for (uint32_t i = 0; i < 3; i++)
            while (shape.n[i] * p.cluster.n[i] < p.grid.n[i])
                shape.n[i]++;
        break;
    case PTX_SPECIAL_CLUSTER_CTAID:
        shape = p.in_cluster;
        break;
    case PTX_SPECIAL_CLUSTER_NCTAID:
        shape = p.cluster;
        break;
    case PTX_SPECIAL_CLUSTER_CTARANK:
        *value = follow_ptx_rank(s, lane);
        return true;
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        *value = all_of(p.cluster);
        return true;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        *value = kernel->cluster_given;
        return true;
    case PTX_SPECIAL_LANEID:
        *value = p.number % warp;
        return true;
    case PTX_SPECIAL_WARPID:
        *value = p.number / warp;
        return true;
    case PTX_SPECIAL_NWARPID:
        *value = (threads - 1) / warp + 1;
        return true;
    case PTX_SPECIAL_LANEMASK_EQ:
    case PTX_SPECIAL_LANEMASK_LE:
    case PTX_SPECIAL_LANEMASK_LT:
    case PTX_SPECIAL_LANEMASK_GE:
    case PTX_SPECIAL_LANEMASK_GT:
        *value = mask_of(which, p.number % warp);
        return true;
    case PTX_SPECIAL_ENVREG1:
    case PTX_SPECIAL_ENVREG2:
        *value = 0;
        for (const struct ptx_bind *m = kernel->memory; m; m = m->next)
            if (strcmp(m->parameter, "grid_barrier") == 0)
                *value = which == PTX_SPECIAL_ENVREG1 ? m->address >> 32 : m->address << 32 >> 32;
        return true;
    case PTX_SPECIAL_NSMID:
        *value = 1;
        return true;
    case PTX_SPECIAL_WARP_SZ:
        *value = warp;
        return true;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return false; /* as the program was laid out */
    default:
        *value = 0;
        return true;
    }
    *value = component(shape, operand->element);
    return true;
}
