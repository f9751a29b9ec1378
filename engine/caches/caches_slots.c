/*
 * caches_slots.c - a machine whose blocks come and go, and whose L1s others use, too: what a device asks of it.
 */
#include "engine/caches/caches_internal.h"
#include "engine/crs/crs.h"

static uint32_t warps_of(const struct machine *machine)
{
    return machine->program->warps_per_block;
}

/* Lines of local memory of the block that was here before, written or not: its frames are gone. */
static void drop_frames(struct machine *machine, const struct caches *c, uint32_t slot)
{
    const struct program *program = machine->program;
    uint32_t words = program->words[SPACE_LOCAL] * program->launch.threads;
    uint32_t first = program->frame_base + slot * words;
    for (uint32_t sm = 0; sm < c->sms; sm++) {
        struct cache cache = caches_of_sm(machine, c, sm);
        for (uint32_t i = cache.count; i-- > 0;) {
            const struct cache_line *cl = caches_line(c, cache.lines, i);
            if (cl->tag && !caches_is_global(machine, cl) && cl->tag - 1 - first < words)
                caches_drop(&cache, i);
        }
    }
}

static void leave_behind(const struct caches *c, uint32_t actor, bool resets_flags)
{
    c->fence[actor] = 0;
    for (uint32_t i = 0; i < c->in_flight[actor]; i++)
        caches_slot(c, actor, i)->pins |= resets_flags ? MEMORY_OVER | MEMORY_STALE : MEMORY_OVER;
}

void caches_slot_start(struct machine *machine, uint32_t slot, uint32_t sm, bool resets_flags)
{
    const struct caches *c = caches_of(machine);
    drop_frames(machine, c, slot);
    for (uint32_t i = 0; i < warps_of(machine); i++)
        leave_behind(c, slot * warps_of(machine) + i, resets_flags);
    c->sm[slot] = sm;
    caches_between(machine, crs_slot_start, slot);
}

void caches_slot_empty(struct machine *machine, uint32_t slot)
{
    caches_between(machine, crs_slot_empty, slot);
}

bool caches_slot_pending(const struct machine *machine, uint32_t slot, bool only_local)
{
    const struct caches *c = caches_of(machine);
    for (uint32_t i = 0; i < warps_of(machine); i++) {
        uint32_t actor = slot * warps_of(machine) + i;
        for (uint32_t k = 0; k < c->in_flight[actor]; k++)
            if (!only_local ||
                (int32_t)caches_slot(c, actor, k)->line >= (int32_t)machine->program->private_base)
                return true;
    }
    return false;
}

void caches_set_locks(struct machine *machine, uint32_t slot, uint32_t banks)
{
    caches_put_words(machine, &caches_of(machine)->locks[slot], &banks, 1);
}

void caches_set_lines(struct machine *machine, uint32_t sm, const uint32_t *lines, uint32_t count)
{
    const struct caches *c = caches_of(machine);
    uint32_t *l1 = caches_l1(c, sm);
    caches_put_words(machine, l1, lines, count * c->line_words);
    caches_put_words(machine, l1 + (size_t)count * c->line_words, NULL,
                     (c->lines - count) * c->line_words);
}
