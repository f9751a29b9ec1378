/*
 * ptx_underway.c - what mbarriers wait for: cp.async.bulk, and copies and arrivals of cp.async.mbarrier.arrive.
 *
 * A block keeps a list of them, also of what other blocks of its cluster have begun. They are made when somebody waits
 * for their mbarrier and nothing else is missing, by who waits: as late as can be. A copy is an access of memory from
 * its beginning on; who began it touches it at the beginning, at barriers of the block and at its end, and says so to
 * the mbarrier each time, so that who waits there comes behind all of that, and nobody else does.
 */
#include "engine/lanes/ptx_exec_internal.h"

/* The list of the block in this slot: of what its own mbarriers wait for. */
static struct ptx_underway *list_of(const struct machine *machine, uint32_t slot)
{
    const struct program *program = machine->program;
    uint32_t word = program->shared_base + slot * program->words[SPACE_SHARED];
    return (struct ptx_underway *)(void *)&machine->memory[word + program->ptx->underway_word];
}

/* In which blocks the lanes may have something under way: their own, or any. */
struct slots {
    uint32_t first, end;
};

static struct slots slots_of(const struct machine *machine, const struct ptx_lanes *lanes)
{
    return machine->program->ptx->has_clusters ? (struct slots){0, machine->program->launch.blocks}
                                               : (struct slots){lanes->block, lanes->block + 1};
}

static void put_entry(struct machine *machine, struct ptx_underway_entry *place,
                      const struct ptx_underway_entry *entry)
{
    ptx_copy_put(machine, &place->copy, &entry->copy);
    put(machine, &place->mbarrier, entry->mbarrier);
    put(machine, &place->thread, entry->thread);
}

bool ptx_underway_add(struct ptx_step *x, uint32_t lane, const struct ptx_underway_entry *entry)
{
    struct ptx_underway *list = list_of(x->m, ptx_block_at(x->m, entry->mbarrier));
    for (uint32_t i = 0; entry->copy.bytes == 0 && i < list->count; i++) {
        struct ptx_underway_entry *other = &list->entries[i];
        if (other->copy.bytes > 0 || other->mbarrier != entry->mbarrier)
            continue;
        put(x->m, &other->copy.age, other->copy.age + entry->copy.age);
        return true;
    }
    if (list->count == x->code->underway) {
        ptx_beyond(x->m, x->lanes->first_thread + lane, x->pc,
                   "more copies are under way in the block than are kept");
        return false;
    }
    put_entry(x->m, &list->entries[list->count], entry);
    put(x->m, &list->count, list->count + 1);
    return true;
}

void ptx_underway_sum(const struct machine *machine, uint32_t byte, uint32_t *arrivals,
                      uint32_t *bytes)
{
    *arrivals = *bytes = 0;
    if (!machine->program->ptx->underway)
        return;
    const struct ptx_underway *list = list_of(machine, ptx_block_at(machine, byte));
    for (uint32_t i = 0; i < list->count; i++)
        if (list->entries[i].mbarrier == byte)
            *(list->entries[i].copy.bytes ? bytes : arrivals) += list->entries[i].copy.age;
}

uint32_t ptx_underway_make(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    static const struct ptx_underway_entry none;
    struct ptx_underway *list = list_of(x->m, ptx_block_at(x->m, byte));
    uint32_t count = list->count, stay = 0, pc = x->pc;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_underway_entry entry = list->entries[i];
        if (entry.mbarrier != byte) {
            put_entry(x->m, &list->entries[stay++], &entry);
            continue;
        }
        pc = entry.copy.pc;
        if (entry.copy.bytes > 0)
            ptx_copy_make(x, lane, &entry.copy);
    }
    for (uint32_t i = stay; i < count; i++)
        put_entry(x->m, &list->entries[i], &none);
    put(x->m, &list->count, stay);
    return pc;
}

static void touch(struct machine *machine, struct ptx_lanes *lanes, lane_mask set,
                  const struct ptx_underway *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_underway_entry *entry = &list->entries[i];
        uint32_t lane = entry->thread - lanes->first_thread;
        if (entry->copy.bytes == 0 || lane >= lanes->count || !(set >> lane & 1))
            continue;
        ptx_copy_touch(machine, lanes, lane, &entry->copy);
        ptx_mbarrier_tell(machine, lanes, lane, entry->mbarrier, entry->copy.pc);
    }
}

void ptx_underway_touch(struct machine *machine, struct ptx_lanes *lanes, lane_mask set)
{
    const struct slots slots = slots_of(machine, lanes);
    for (uint32_t slot = slots.first; slot < slots.end; slot++)
        touch(machine, lanes, set, list_of(machine, slot));
}

bool ptx_underway_hits(const struct ptx_access *access, uint32_t lane)
{
    struct ptx_step *x = access->x;
    const struct slots slots = slots_of(x->m, x->lanes);
    for (uint32_t slot = slots.first; slot < slots.end; slot++) {
        const struct ptx_underway *list = list_of(x->m, slot);
        for (uint32_t i = 0; i < list->count; i++)
            if (list->entries[i].thread == x->lanes->first_thread + lane &&
                ptx_copy_meets(&list->entries[i].copy, x->scratch->byte[lane], access->bytes,
                               access->kind != PTX_ACCESS_LD))
                return true;
    }
    return false;
}
