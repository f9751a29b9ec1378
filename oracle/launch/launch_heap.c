#include "oracle/launch/launch_heap.h"

#include "engine/crs/crs.h"
#include "engine/lanes/ptx_outside.h"

#include <string.h>

static uint32_t granules_of(uint64_t bytes)
{
    return (uint32_t)((bytes + HEAP_GRANULE - 1) / HEAP_GRANULE);
}

/* ---- words ---- */

const char *heap_caller_name(struct arena *arena, const struct heap_caller *caller)
{
    const struct heap_site *site = caller->site;
    const char *slash = site->source ? strrchr(site->source, '/') : NULL;
    return arena_printf(arena, "thread %llu of block %llu at %s",
                        (unsigned long long)(caller->thread % site->threads),
                        (unsigned long long)(caller->thread / site->threads),
                        slash          ? slash + 1
                        : site->source ? site->source
                                       : "an unknown line");
}

/* What was given around a byte, or before it; NULL: nothing. */
static const struct heap_block *block_before(const struct launch_heap *heap, uint64_t byte)
{
    uint64_t granule = byte / HEAP_GRANULE;
    while (granule > 0 && heap->blocks[granule].bytes == 0)
        granule--;
    return granule > 0 ? &heap->blocks[granule] : NULL;
}

const char *heap_byte_name(struct arena *arena, const struct launch_heap *heap, uint64_t byte)
{
    const struct heap_block *block = block_before(heap, byte);
    if (!block)
        return "which malloc has not given";
    const uint64_t start = (uint64_t)(block - heap->blocks) * HEAP_GRANULE;
    const char *text = arena_printf(arena, "byte %llu of the %u bytes that malloc gave %s",
                                    (unsigned long long)(byte - start), block->bytes,
                                    heap_caller_name(arena, &block->giver));
    return block->is_live ? text
                          : arena_printf(arena, "%s, freed by %s", text,
                                         heap_caller_name(arena, &block->taker));
}

static uint64_t thread_in_grid(const struct launch_heap_watch *watch, uint32_t thread)
{
    const struct launch_race *race = watch->race;
    return (uint64_t)race->first_block * race->program->launch.threads + thread;
}

static void note(struct launch_heap_watch *watch, uint32_t stm, uint32_t thread, const char *what)
{
    struct launch_race *race = watch->race;
    struct launch_finding *finding = launch_race_note(race, LAUNCH_FAULT, stm, 0);
    if (!finding)
        return;
    finding->status = STATUS_OUT_OF_BOUNDS;
    finding->text =
        arena_printf(race->arena, "out_of_bounds: %s at %s: %s",
                     launch_thread_name(race->arena, race->program, thread_in_grid(watch, thread)),
                     ptx_op_line(race->arena, race->program->ptx, stm), what);
}

/* ---- what is given and taken ---- */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const struct heap_site *site_of(struct launch_heap_watch *watch, uint32_t stm)
{
    struct launch_heap *heap = watch->heap;
    const struct program *program = watch->race->program;
    const uint32_t threads = program->launch.threads;
    if (watch->sites[stm])
        return watch->sites[stm];
    const char *source = launch_source(heap->arena, program, stm);
    struct heap_site *site = heap->sites;
    while (site && (site->threads != threads || !is_same(site->source, source)))
        site = site->next;
    if (!site) {
        site = ARENA_NEW(heap->arena, struct heap_site);
        *site = (struct heap_site){source, threads, heap->sites};
        heap->sites = site;
    }
    return watch->sites[stm] = site;
}

static void fill_block(const struct launch_heap *heap, uint64_t first, uint32_t bytes, uint8_t flag)
{
    const uint32_t count = granules_of(bytes);
    memset(heap->fill + first, flag | HEAP_GRANULE, count - 1);
    heap->fill[first + count - 1] =
        (uint8_t)(flag | (bytes - (count - 1) * (uint32_t)HEAP_GRANULE));
}

/* Where a kernel has changed malloc's own lists, which was told, malloc may give anything: that is nobody's. */
static void give(struct launch_heap_watch *watch, struct heap_caller caller, uint64_t address,
                 uint64_t bytes)
{
    const struct launch_heap *heap = watch->heap;
    const uint64_t at = address - heap->address, first = at / HEAP_GRANULE;
    if (at >= heap->bytes || at % HEAP_GRANULE != 0 || bytes == 0 || bytes > heap->bytes - at)
        return;
    struct heap_block *block = &heap->blocks[first];
    *block = (struct heap_block){.bytes = (uint32_t)bytes, .is_live = true, .giver = caller};
    fill_block(heap, first, block->bytes, 0);
    launch_race_forget(watch->race,
                       watch->first +
                           (uint32_t)(first * HEAP_GRANULE / 4) * watch->race->program->units,
                       granules_of(bytes) * (HEAP_GRANULE / 4));
}

/* False: it was not given, or is free already. */
static bool take(const struct launch_heap *heap, struct heap_caller caller, uint64_t address)
{
    const uint64_t at = address - heap->address;
    struct heap_block *block = &heap->blocks[at < heap->bytes ? at / HEAP_GRANULE : 0];
    if (!block->is_live || at % HEAP_GRANULE != 0)
        return false;
    block->is_live = false;
    block->taker = caller;
    fill_block(heap, at / HEAP_GRANULE, block->bytes, HEAP_FREED);
    return true;
}

static void on_call(struct launch_heap_watch *watch, const struct machine *machine,
                    const struct ptx_lanes *lanes, uint32_t lane, uint32_t stm)
{
    struct arena *arena = watch->race->arena;
    const struct ptx_op *op = &machine->program->ptx->ops[stm];
    const uint32_t call = ptx_outside_caller(lanes, lane), thread = lanes->first_thread + lane;
    const struct heap_caller caller = {site_of(watch, call), thread_in_grid(watch, thread)};
    const uint64_t address = ptx_outside_argument(machine, lanes, stm, lane, 0);
    const uint64_t at = address - watch->heap->address;
    if (op->outside == PTX_OUTSIDE_GIVES)
        give(watch, caller, address, ptx_outside_argument(machine, lanes, stm, lane, 1));
    else if (!take(watch->heap, caller, address))
        note(watch, call, thread,
             arena_printf(arena, "free of 0x%llx, %s", (unsigned long long)address,
                          at < watch->heap->bytes ? heap_byte_name(arena, watch->heap, at)
                                                  : "which malloc has not given"));
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct launch_heap_watch *watch = context;
    const uint32_t stm = event->stm;
    const uint32_t outside = stm == CODE_NONE ? 0 : machine->program->ptx->ops[stm].outside;
    if (outside != PTX_OUTSIDE_GIVES && outside != PTX_OUTSIDE_TAKES)
        return;
    const struct ptx_lanes *lanes = crs_warp(machine, event->actor).lanes;
    for (lane_mask rest = event->truth; rest; rest &= rest - 1)
        on_call(watch, machine, lanes, (uint32_t)__builtin_ctzll(rest), stm);
}

/* ---- accesses ---- */

static bool is_granted(const struct launch_heap *heap, uint64_t byte, uint64_t end)
{
    for (; byte < end; byte += HEAP_GRANULE - byte % HEAP_GRANULE) {
        const uint8_t fill = heap->fill[byte / HEAP_GRANULE];
        const uint64_t last =
            end - 1 < (byte | (HEAP_GRANULE - 1)) ? end - 1 : byte | (HEAP_GRANULE - 1);
        if ((fill & HEAP_FREED) != 0 || last % HEAP_GRANULE >= fill)
            return false;
    }
    return true;
}

/* malloc and free themselves; what calls them has the lines of the program. */
static bool is_own(const struct ptx_code *code, uint32_t stm)
{
    const char *name = code->functions[code->ops[stm].function].function->name;
    return strcmp(name, "malloc") == 0 || strcmp(name, "free") == 0;
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    static const char *const verbs[] = {
        [ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_ATOMIC] = "atomic change"};
    struct launch_heap_watch *watch = context;
    struct arena *arena = watch->race->arena;
    const uint32_t each = 4 / watch->race->program->units;
    for (uint32_t i = 0; i < row->count; i++) {
        const uint32_t lane = row->order[i], location = row->location[lane];
        if (location - watch->first >= watch->end - watch->first)
            continue;
        const uint64_t byte = (uint64_t)(location - watch->first) * each;
        const uint32_t bytes = row->span * each;
        if (is_granted(watch->heap, byte, byte + bytes))
            continue;
        if (is_own(watch->race->program->ptx, row->stm))
            return;
        note(watch, row->stm, row->first_thread + lane,
             arena_printf(arena, "%s of %u bytes at 0x%llx, %s", verbs[kind], bytes,
                          (unsigned long long)(watch->heap->address + byte),
                          heap_byte_name(arena, watch->heap, byte)));
    }
}

struct launch_heap_watch *launch_heap_watch(struct arena *arena, const struct program *program,
                                            struct launch_heap *heap, struct launch_race *race)
{
    const struct ptx_regions *regions = &program->ptx->global;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *region = &regions->items[i];
        if (region->address != heap->address)
            continue;
        struct launch_heap_watch *watch = ARENA_NEW(arena, struct launch_heap_watch);
        *watch = (struct launch_heap_watch){
            .observer = {.context = watch, .step = on_step, .access_row = on_row},
            .heap = heap,
            .race = race,
            .sites = ARENA_ARRAY(arena, const struct heap_site *, program->ptx->count),
            .first = region->word * program->units,
            .end = (region->word + region->bytes / 4) * program->units};
        return watch;
    }
    return NULL;
}
