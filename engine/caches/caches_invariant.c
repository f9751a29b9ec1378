/*
 * caches_invariant.c - what holds in every state: MEM.inv.* (cuda-crs 4.8; memory-device, G).
 */
#include "engine/caches/caches_internal.h"

#include <string.h>

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

/* Lines that are used come first in their set, so one behind an unused one is lost to it. */
static bool has_gap(const struct caches *c, const struct cache *cache)
{
    uint32_t ways = cache->count / cache->sets;
    for (uint32_t i = 0; i + 1 < cache->count; i++)
        if ((i + 1) % ways && !caches_line(c, cache->lines, i)->tag &&
            caches_line(c, cache->lines, i + 1)->tag)
            return true;
    return false;
}

static const char *cache_broken(const struct machine *machine, const struct caches *c,
                                const struct cache *cache, uint32_t sm)
{
    const char *broken = NULL;
    if (has_gap(c, cache))
        return "MEM.inv.8: a set has lost a line";
    bool only = c->sms == 1 && c->options.profile == MEMORY_COHERENT && !c->options.warm_count;
    for (uint32_t i = 0; i < cache->count && !broken; i++) {
        broken = line_broken(machine, c, cache, sm, i);
        if (!broken && only && !cache->is_l2 && caches_line(c, cache->lines, i)->tag)
            broken = stale(machine, c, caches_line(c, cache->lines, i));
    }
    return broken;
}

const char *caches_broken(const struct machine *machine)
{
    const struct caches *c = caches_of(machine);
    struct machine *m = (struct machine *)(uintptr_t)machine;
    const char *broken = NULL;
    for (uint32_t sm = 0; sm < c->sms && !broken; sm++) {
        struct cache cache = caches_of_sm(m, c, sm);
        broken = cache_broken(machine, c, &cache, sm);
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

/* ---- MEM.inv.10: what all agree on moves by writes only ---- */

/* Its own words of a line's bytes; the last line of all ends behind memory. */
static void lay_over(const struct machine *machine, const struct caches *c,
                     const struct cache_line *line, uint32_t bytes, uint32_t *values)
{
    uint32_t first = line->tag - 1;
    for (uint32_t k = 0; k < c->words; k++) {
        uint32_t mask = 0;
        for (uint32_t b = 0; b < 4; b++)
            mask |= bytes >> (4 * k + b) & 1 ? 0xffu << 8 * b : 0;
        if (mask && first + k < machine->program->memory_words &&
            caches_line_of(machine, c, first + k) == first)
            values[first + k] = (values[first + k] & ~mask) | (line->vals[k] & mask);
    }
}

void caches_agreed(const struct machine *machine, uint32_t *values)
{
    const struct caches *c = caches_of(machine);
    struct machine *m = (struct machine *)(uintptr_t)machine;
    memcpy(values, machine->memory, machine->program->memory_words * sizeof *values);
    for (uint32_t n = 0; n <= c->sms; n++) {
        struct cache cache = n ? caches_of_sm(m, c, n - 1) : caches_second(m, c);
        for (uint32_t i = 0; cache.lines && i < cache.count; i++) {
            const struct cache_line *line = caches_line(c, cache.lines, i);
            if (line->tag)
                lay_over(machine, c, line, n ? line->dirty : line->valid, values);
        }
    }
}

/* The step has just run a program's readL2 of a global line: what it has read. */
static const char *read_broken(const struct machine *machine, uint32_t number,
                               const uint32_t *values)
{
    struct machine *m = (struct machine *)(uintptr_t)machine;
    const struct caches *c = caches_of(machine);
    uint32_t actor, place;
    if (!caches_is_operation(machine, number, &actor, &place))
        return NULL;
    const struct operation x = caches_operation(m, actor, place, NULL);
    const uint8_t *code = memory_programs[x.slot->program].code;
    uint32_t ip = x.slot->ip;
    if (ip < 2 || code[ip - 1] != CODE_YIELD || code[ip - 2] != CODE_READ_L2)
        return NULL;
    for (uint32_t k = 0; k < c->words; k++)
        if (x.slot->line + k < machine->program->shared_base && (x.need >> 4 * k & 15) == 15 &&
            x.slot->value[k] != values[x.slot->line + k])
            return "MEM.inv.10: readL2 returns another value than all agree on";
    return NULL;
}

const char *caches_moved(const struct machine *machine, const struct step_event *event,
                         uint32_t words, const uint32_t *before, const uint32_t *after)
{
    const struct caches *c = caches_of(machine);
    const struct program *program = machine->program;
    bool silent = event->rule != RULE_MEM_STEP && event->rule != RULE_MEM_END;
    bool loads = !silent && program->ptx->ops[event->stm].exec == PTX_EXEC_LD;
    uint32_t line = CACHES_NONE;
    if (loads && words > program->private_base) /* ld.local.lu drops what is dirty */
        words = program->private_base;
    for (uint32_t word = 0; word < words; word++) {
        if (before[word] == after[word])
            continue;
        uint32_t own = caches_line_of(machine, c, word);
        if (silent)
            return "MEM.inv.10: a silent rule changes what all agree on";
        if (loads)
            return "MEM.inv.10: a load changes what all agree on";
        if (line != CACHES_NONE && line != own)
            return "MEM.inv.10: a store changes two lines";
        line = own;
    }
    return event->rule == RULE_MEM_STEP ? read_broken(machine, event->actor, after) : NULL;
}
