#include "fuzz/gen/source.h"

#include "engine/base/invariant.h"

void source_random(struct source *source, uint64_t seed, uint64_t index)
{
    source->kind = SOURCE_RANDOM;
    source->rng = pcg_derive(seed, PCG_KERNEL, index);
    source->used = 0;
}

void source_bytes(struct source *source, const uint8_t *bytes, size_t length)
{
    source->kind = SOURCE_BYTES;
    source->bytes = bytes;
    source->length = length;
    source->next = 0;
    source->used = 0;
}

void source_enumerate(struct source *source)
{
    source->kind = SOURCE_ENUMERATE;
    source->depth = 0;
    source->used = 0;
    source->overflow = false;
}

/* As few bytes as the bound needs, so that a mutated byte changes one choice; missing ones are 0. */
static uint32_t below_bytes(struct source *source, uint32_t bound)
{
    uint32_t width = bound <= 1u << 8 ? 1 : bound <= 1u << 16 ? 2 : 4;
    uint32_t value = 0;
    for (uint32_t i = 0; i < width && source->next < source->length; i++)
        value |= (uint32_t)source->bytes[source->next++] << (8 * i);
    return value % bound;
}

/* Replays the choices of the sequence, then extends it by 0s. */
static uint32_t below_enumerate(struct source *source, uint32_t bound)
{
    if (source->used == SOURCE_ENUMERATE_MAX) {
        source->overflow = true;
        return 0;
    }
    uint32_t position = source->used++;
    if (position == source->depth) {
        source->value[position] = 0;
        source->bound[position] = bound;
        source->depth++;
    }
    /* The same choices before lead to the same question. */
    INVARIANT(source->bound[position] == bound);
    return source->value[position];
}

uint32_t source_below(struct source *source, uint32_t bound)
{
    if (bound == 1)
        return 0;
    switch (source->kind) {
    case SOURCE_RANDOM:
        return pcg_below(&source->rng, bound);
    case SOURCE_BYTES:
        return below_bytes(source, bound);
    case SOURCE_ENUMERATE:
        return below_enumerate(source, bound);
    }
    invariant_fail("a kind of source", __FILE__, __LINE__);
}

bool source_chance(struct source *source, uint32_t percent)
{
    if (percent == 0 || percent >= 100)
        return percent != 0;
    if (source->kind == SOURCE_ENUMERATE)
        return below_enumerate(source, 2) == 1;
    return source_below(source, 100) >= 100 - percent;
}

/* The enumerator has no use for proportions: each weight that is positive once. */
static uint32_t weighted_enumerate(struct source *source, const uint16_t *weights, uint32_t count)
{
    uint32_t positive = 0;
    for (uint32_t i = 0; i < count; i++)
        positive += weights[i] > 0;
    INVARIANT(positive > 0);
    uint32_t left = source_below(source, positive);
    uint32_t i = 0;
    while (weights[i] == 0 || left-- > 0)
        i++;
    return i;
}

uint32_t source_weighted(struct source *source, const uint16_t *weights, uint32_t count)
{
    if (source->kind == SOURCE_ENUMERATE)
        return weighted_enumerate(source, weights, count);
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += weights[i];
    INVARIANT(total > 0);
    uint32_t left = source_below(source, total);
    uint32_t i = 0;
    while (left >= weights[i])
        left -= weights[i++];
    return i;
}

bool source_advance(struct source *source)
{
    INVARIANT(source->kind == SOURCE_ENUMERATE);
    /* Choices that the last run did not reach belong to no sequence with this beginning. */
    uint32_t depth = source->used;
    source->used = 0;
    source->overflow = false;
    while (depth > 0 && source->value[depth - 1] + 1 == source->bound[depth - 1])
        depth--;
    source->depth = depth;
    if (depth == 0)
        return false;
    source->value[depth - 1]++;
    return true;
}
