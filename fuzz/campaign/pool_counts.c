#include "fuzz/campaign/pool_counts.h"

#include <string.h>

static void count(atomic_uint_least64_t *counter, uint64_t *told, uint64_t now)
{
    if (now == *told)
        return;
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + (now - *told), memory_order_relaxed);
    *told = now;
}

void pool_count_case(struct pool_counts *counts, const struct chunk *chunk, struct pool_told *told)
{
    count(&counts->thread_steps, &told->thread_steps, chunk->thread_steps);
    count(&counts->warp_steps, &told->warp_steps, chunk->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        count(&counts->hits[i], &told->hits[i], chunk->hits[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            count(&counts->verdicts[i][k], &told->verdicts[i][k], chunk->verdicts[i][k]);
}

void pool_counts_start(struct pool_told *sum, const struct campaign_summary *before)
{
    sum->thread_steps = before->thread_steps;
    sum->warp_steps = before->warp_steps;
    memcpy(sum->hits, before->hits, sizeof sum->hits);
    memcpy(sum->verdicts, before->verdicts, sizeof sum->verdicts);
}

static void add(uint64_t *sum, const atomic_uint_least64_t *counter)
{
    *sum += atomic_load_explicit(counter, memory_order_relaxed);
}

void pool_counts_add(struct pool_told *sum, const struct pool_counts *counts)
{
    add(&sum->thread_steps, &counts->thread_steps);
    add(&sum->warp_steps, &counts->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        add(&sum->hits[i], &counts->hits[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            add(&sum->verdicts[i][k], &counts->verdicts[i][k]);
}

static void at_least(uint64_t *number, uint64_t least)
{
    *number = *number > least ? *number : least;
}

void pool_counts_show(const struct pool_told *sum, struct campaign_summary *summary)
{
    at_least(&summary->thread_steps, sum->thread_steps);
    at_least(&summary->warp_steps, sum->warp_steps);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        at_least(&summary->hits[i], sum->hits[i]);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            at_least(&summary->verdicts[i][k], sum->verdicts[i][k]);
}
