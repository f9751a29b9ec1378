/*
 * caches_invariant.c - what holds in every state: MEM.inv.* (cuda-crs 4.8; memory-device, G).
 */
#include "engine/caches/caches_internal.h"

static bool is_clean(const struct cache_line *line, const struct caches *c)
{
    uint32_t bits = line->valid | line->dirty | line->pins | line->pending | line->first;
    for (uint32_t k = 0; k < c->words; k++)
        bits |= line->vals[k];
    return bits == 0;
}

static uint32_t pins_of(const struct machine *machine, const struct caches *c,
                        const struct cache *cache, uint32_t sm, uint32_t line)
{
    uint32_t level = cache->is_l2 ? MEMORY_L2 : MEMORY_L1, pins = 0;
    for (uint32_t actor = 0; actor < machine->actor_count; actor++)
        for (uint32_t i = 0; i < c->in_flight[actor]; i++) {
            const struct memory_slot *slot = caches_slot(c, actor, i);
            bool here = cache->is_l2 || caches_sm(machine, c, actor) == sm;
            pins += here && slot->line == line && (slot->pins & level);
        }
    return pins;
}

/* Of one line; NULL: nothing is wrong. */
static const char *line_broken(const struct machine *machine, const struct caches *c,
                               const struct cache *cache, uint32_t sm, uint32_t i)
{
    const struct cache_line *line = caches_line(c, cache->lines, i);
    if (!line->tag)
        return is_clean(line, c) ? NULL : "MEM.inv.1: an unused line holds something";
    if (line->dirty & ~line->valid)
        return "MEM.inv.2: a dirty byte is not valid";
    if (line->pending && !line->pins)
        return "MEM.inv.11: a line is reserved, and nobody waits for it";
    if (!line->valid && !line->pending)
        return "MEM.inv.3: a line in use is neither valid nor reserved";
    if (caches_find(cache, line->tag - 1) != i)
        return "MEM.inv.4: two lines have one address";
    if (pins_of(machine, c, cache, sm, line->tag - 1) != line->pins)
        return "MEM.inv.5: a line's pins are not those of operations in flight";
    bool global = caches_is_global(machine, line);
    if (!cache->is_l2 && line->dirty && global)
        return "MEM.inv.6: a global line of an L1 is dirty";
    return NULL;
}

static bool has_bytes(uint32_t mask, uint32_t k)
{
    return (mask >> 4 * k & 15) == 15;
}

/* MEM.inv.12, profile coherent: a valid word of the only L1 is what all agree on, unless somebody fills or stores the
 * line right now. */
static const char *stale(const struct machine *machine, const struct caches *c,
                         const struct cache_line *line)
{
    uint32_t first = line->tag - 1;
    for (uint32_t actor = 0; actor < machine->actor_count; actor++)
        for (uint32_t i = 0; i < c->in_flight[actor]; i++)
            if (caches_slot(c, actor, i)->line == line->tag - 1)
                return NULL;
    for (uint32_t k = 0; k < c->words; k++)
        if (caches_space(machine->program, first + k) == SPACE_GLOBAL &&
            caches_line_of(machine, c, first + k) == first && has_bytes(line->valid, k) &&
            line->vals[k] != caches_current(machine, first + k))
            return "MEM.inv.12: a line of the only L1 is stale, and nobody stores or fills it";
    return NULL;
}

static const char *cache_broken(const struct machine *machine, const struct caches *c,
                                const struct cache *cache, uint32_t sm)
{
    const char *broken = NULL;
    bool only = c->sms == 1 && c->options.profile == MEMORY_COHERENT && !c->options.warm_count;
    for (uint32_t i = 0; i < cache->count && !broken; i++) {
        broken = line_broken(machine, c, cache, sm, i);
        if (!broken && only && !cache->is_l2 && caches_line(c, cache->lines, i)->tag)
            broken = stale(machine, c, caches_line(c, cache->lines, i));
    }
    return broken;
}

const char *caches_broken(struct arena *arena, const struct machine *machine)
{
    const struct caches *c = caches_of(machine);
    struct machine *m = (struct machine *)(uintptr_t)machine;
    const char *broken = NULL;
    for (uint32_t sm = 0; sm < c->sms && !broken; sm++) {
        struct cache cache = caches_of_sm(m, c, sm);
        broken = cache_broken(machine, c, &cache, sm);
        if (broken)
            return arena_printf(arena, "%s (L1 of SM %u)", broken, (unsigned)sm);
    }
    if (!broken && c->l2) {
        struct cache cache = caches_second(m, c);
        broken = cache_broken(machine, c, &cache, 0);
    }
    for (uint32_t b = 0; b < machine->program->launch.blocks && !broken; b++) {
        const struct machine_group *group = &machine->groups[b];
        uint32_t flying = 0;
        for (uint32_t a = group->first; a < group->first + group->count; a++)
            flying += c->in_flight[a];
        if (c->locks[b] && !flying)
            broken = "MEM.inv.7: a bank is locked, and nothing is in flight";
    }
    return broken;
}

uint32_t caches_current(const struct machine *machine, uint32_t word)
{
    const struct caches *c = caches_of(machine);
    struct machine *m = (struct machine *)(uintptr_t)machine;
    uint32_t value = (uint32_t)machine->memory[word], line = caches_line_of(machine, c, word);
    uint32_t k = word - line;
    bool local = caches_space(machine->program, word) == SPACE_LOCAL;
    for (uint32_t n = 0; n <= c->sms; n++) {
        struct cache cache = n ? caches_of_sm(m, c, n - 1) : caches_second(m, c);
        if ((n && !local) || (!n && !c->l2))
            continue;
        uint32_t i = caches_find(&cache, line);
        const struct cache_line *cl = i == CACHES_NONE ? NULL : caches_line(c, cache.lines, i);
        for (uint32_t b = 0; cl && b < 4; b++) {
            uint32_t byte = 4 * k + b, mask = 0xffu << 8 * b;
            if ((n ? cl->dirty : cl->valid) >> byte & 1)
                value = (value & ~mask) | (cl->vals[k] & mask);
        }
    }
    return value;
}
