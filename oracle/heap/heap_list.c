/*
 * heap_list.c - what is whose, by a list: a step of the text after another.
 *
 * Of malloc is asked what launch_heap_functions.c says of it: 16 bytes in front of a block, sizes in classes, a block
 * that is free before a fresh one of its class, fresh ones one behind the other. What it returns is its own choice.
 */
#include "engine/base/text.h"
#include "oracle/heap/heap_internal.h"

#include <string.h>

struct owned {
    uint64_t start;
    uint32_t bytes, granules; /* that are wanted; of its class */
    uint32_t giver, taker;
    bool live;
    uint8_t holds[4096], written[4096];
};

struct list {
    struct arena *arena;
    const struct heap_script *script;
    const uint64_t *out;
    struct owned *owned[HEAP_SLOTS]; /* who was given later comes later */
    uint32_t count, fresh;
    const struct launch_finding *told; /* the next one */
};

/* So many granules up to 64; above, eight sizes to each power of two. */
static uint32_t class_of(uint32_t bytes)
{
    const uint32_t granules = (bytes + HEAP_GRANULE - 1) / HEAP_GRANULE;
    uint32_t step = 1;
    while (granules > 64 && 16 * step <= granules)
        step *= 2;
    return (granules + step - 1) / step * step;
}

static uint64_t first_granule(uint32_t granule)
{
    return DRAWN_HEAP + (uint64_t)granule * HEAP_GRANULE;
}

/* ---- malloc ---- */

static struct owned *free_of_class(const struct list *l, uint32_t granules, uint64_t start)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (!l->owned[i]->live && l->owned[i]->granules == granules &&
            (start == 0 || l->owned[i]->start == start))
            return l->owned[i];
    return NULL;
}

/* What was there before is known no more. */
static void forget(struct list *l, uint64_t start)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->owned[i]->start != start)
            l->owned[kept++] = l->owned[i];
    l->count = kept;
}

static void own(struct list *l, uint64_t start, uint32_t bytes, uint32_t thread)
{
    struct owned *o = ARENA_NEW(l->arena, struct owned);
    memset(o, 0, sizeof *o);
    o->start = start;
    o->bytes = bytes;
    o->granules = class_of(bytes);
    o->giver = thread;
    o->live = true;
    l->owned[l->count++] = o;
}

/* A block that was free, or the next fresh one: the threads of a step may have them in any order. */
static const char *given(struct list *l, uint32_t bytes, uint32_t count, const uint32_t *threads,
                         const uint64_t *starts)
{
    const uint32_t granules = class_of(bytes), end = (l->script->limit + HEAP_TABLE) / HEAP_GRANULE;
    uint32_t got = 0, may = 0, fresh = l->fresh, reused = 0;
    for (uint32_t i = 0; i < l->count; i++)
        reused += !l->owned[i]->live && l->owned[i]->granules == granules;
    bool never = bytes == 0 || bytes > l->script->limit;
    reused = reused > count ? count : reused;
    for (may = reused; may < count && fresh + granules + 1 <= end; may++)
        fresh += granules + 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t start = starts[i];
        if (start == 0)
            continue;
        bool again = free_of_class(l, granules, start) != NULL, is_fresh = false;
        for (uint32_t at = l->fresh; at < fresh; at += granules + 1)
            is_fresh |= start == first_granule(at + 1);
        for (uint32_t k = 0; k < i; k++)
            if (starts[k] == start)
                return "given: two threads got the same";
        if (!again && !is_fresh)
            return arena_printf(l->arena, "given: 0x%llx is neither free nor the next",
                                (unsigned long long)start);
        reused -= again;
        got++;
    }
    if (got != (never ? 0 : may))
        return arena_printf(l->arena, "given: %u blocks, not %u", (unsigned)got,
                            (unsigned)(never ? 0 : may));
    if (!never && reused > 0)
        return "given: a fresh block, though one is free";
    l->fresh = never ? l->fresh : fresh;
    for (uint32_t i = 0; i < count; i++)
        if (starts[i] != 0) {
            forget(l, starts[i]);
            own(l, starts[i], bytes, threads[i]);
        }
    return NULL;
}

/* ---- what must be told ---- */

/* The block around the address, or the nearest before it. */
static const struct owned *before(const struct list *l, uint64_t address)
{
    const struct owned *best = NULL;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct owned *o = l->owned[i];
        if (o->start <= address && (!best || o->start > best->start))
            best = o;
    }
    return best;
}

/* The next thing that was told has this in it. */
static const char *must_tell(struct list *l, const char *what, uint64_t address)
{
    const struct owned *o = before(l, address);
    const struct launch_finding *f = l->told;
    const char *name = "which malloc has not given", *freed = "";
    if (o)
        name = arena_printf(
            l->arena, "byte %llu of the %u bytes that malloc gave thread %u of block 0",
            (unsigned long long)(address - o->start), (unsigned)o->bytes, (unsigned)o->giver);
    if (o && !o->live)
        freed = arena_printf(l->arena, "freed by thread %u of block 0", (unsigned)o->taker);
    what = arena_printf(l->arena, "%s 0x%llx, %s", what, (unsigned long long)address, name);
    if (!f)
        return arena_printf(l->arena, "told: not %s", what);
    l->told = f->next;
    if (f->kind != LAUNCH_FAULT || f->status != STATUS_OUT_OF_BOUNDS || !strstr(f->text, what) ||
        !strstr(f->text, freed) || (!*freed && strstr(f->text, "freed by")))
        return arena_printf(l->arena, "told: '%s', not %s %s", f->text, what, freed);
    return NULL;
}

static const char *take(struct list *l, const struct heap_step *step, uint64_t address)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->owned[i]->start == address && l->owned[i]->live) {
            l->owned[i]->live = false;
            l->owned[i]->taker = step->thread;
            return NULL;
        }
    return must_tell(l, "free of", address);
}

static struct owned *whose(const struct list *l, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < l->count; i++) {
        struct owned *o = l->owned[i];
        if (o->live && address >= o->start && address + bytes <= o->start + o->bytes)
            return o;
    }
    return NULL;
}

/* Each byte that is somebody's: also of an access of which others are not. False: a read finds something else. */
static bool touch(const struct list *l, const struct heap_step *step, uint64_t address,
                  uint64_t found)
{
    for (uint32_t k = 0; k < step->bytes; k++) {
        struct owned *o = whose(l, address + k, 1);
        if (!o)
            continue;
        const uint64_t at = address + k - o->start;
        if (step->kind == HEAP_STORE) {
            o->holds[at] = (uint8_t)step->value;
            o->written[at] = 1;
        } else if (o->written[at] && (uint8_t)(found >> 8 * k) != o->holds[at]) {
            return false;
        }
    }
    return true;
}

static const char *access(struct list *l, const struct heap_step *step, uint32_t number,
                          uint64_t address)
{
    const uint64_t found = l->out[number * HEAP_THREADS + step->thread];
    if (!touch(l, step, address, found))
        return arena_printf(l->arena, "read: 0x%llx of step %u", (unsigned long long)found,
                            (unsigned)number);
    if (whose(l, address, step->bytes))
        return NULL;
    return must_tell(l,
                     arena_printf(l->arena, "%s of %u bytes at",
                                  step->kind == HEAP_LOAD ? "read" : "write",
                                  (unsigned)step->bytes),
                     address);
}

static const char *follow(struct list *l, uint32_t number)
{
    const struct heap_step *step = &l->script->steps[number];
    uint32_t threads[HEAP_THREADS], count = 0;
    uint64_t starts[HEAP_THREADS];
    for (uint32_t t = 0; t < l->script->threads; t++)
        if (step->all || t == step->thread) {
            threads[count] = t;
            starts[count++] = l->out[number * HEAP_THREADS + t];
        }
    if (step->kind == HEAP_MALLOC)
        return given(l, step->bytes, count, threads, starts);
    if (l->out[step->slot] == 0)
        return NULL; /* the kernel leaves the step out */
    const uint64_t address = l->out[step->slot] + (uint64_t)(int64_t)step->offset;
    return step->kind == HEAP_FREE ? take(l, step, address) : access(l, step, number, address);
}

/* ---- what is left ---- */

static const char *left(const struct list *l, const struct launch_heap *heap)
{
    uint32_t live = 0, count = 0;
    for (uint32_t i = 0; i < heap->bytes / HEAP_GRANULE; i++)
        count += heap->blocks[i].is_live;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct owned *o = l->owned[i];
        const struct heap_block *b = &heap->blocks[(o->start - DRAWN_HEAP) / HEAP_GRANULE];
        live += o->live;
        if (o->live != b->is_live || o->bytes != b->bytes || o->giver != b->giver.thread)
            return arena_printf(l->arena, "left: the block at 0x%llx",
                                (unsigned long long)o->start);
    }
    return live == count ? NULL : "left: blocks that nobody got";
}

/* Reads of what was not written are told, too, and are not asked about here. */
static const struct launch_finding *without_unwritten(struct arena *arena,
                                                      const struct launch_finding *all)
{
    struct launch_finding *first = NULL, **last = &first;
    for (; all; all = all->next) {
        if (all->kind == LAUNCH_UNWRITTEN)
            continue;
        *last = ARENA_NEW(arena, struct launch_finding);
        **last = *all;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    return first;
}

const char *heap_compare(struct arena *arena, const struct heap_script *script,
                         const struct launch *launch, const struct launch_heap *heap,
                         const uint64_t *out)
{
    struct list *l = ARENA_NEW(arena, struct list);
    const char *differs = NULL;
    memset(l, 0, sizeof *l);
    l->arena = arena;
    l->script = script;
    l->out = out;
    l->fresh = HEAP_TABLE / HEAP_GRANULE;
    l->told = without_unwritten(arena, launch->race->findings);
    if (launch->status != STATUS_TERMINATED)
        return arena_printf(arena, "end: %s", status_names[launch->status]);
    for (uint32_t i = 0; i < script->count && !differs; i++)
        differs = follow(l, i);
    if (!differs && l->told)
        differs = arena_printf(arena, "told: '%s', of which the list knows nothing", l->told->text);
    return differs ? differs : left(l, heap);
}
