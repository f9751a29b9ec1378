/*
 * layout_fault.c - an access that is out of bounds: that it is, and what is said of it: the address, which variable it
 * may have missed, and why, in words. By the variables of its space and of the frames of its thread, one by one.
 */
#include "engine/crs/crs.h"
#include "engine/machine/machine.h"
#include "oracle/layout/layout_internal.h"

#include <stdio.h>
#include <string.h>

enum space { OF_GLOBAL, OF_SHARED, OF_LOCAL, OF_CONST };

/* A variable that its address may be of. */
struct candidate {
    const struct ptx_region *region;
    uint64_t start, distance;
};

struct fault {
    const struct machine *machine;
    const struct ptx_code *code;
    const struct ptx_op *op;
    const struct ptx_lanes *lanes;
    uint32_t lane, bytes;
    enum space space;
    uint64_t address; /* in the space */
    bool holds;       /* a variable holds all of it */
    struct candidate nearest;
};

static enum space find_space(struct fault *f)
{
    static const uint64_t nears[] = {0, 0x70000000, 0x78000000, 0x7a000000, 0x7c000000};
    const uint64_t far = (uint64_t)1 << 40, most = (uint64_t)1 << 32;
    switch ((int)f->op->space) {
    case PTX_W_GLOBAL:
        return OF_GLOBAL;
    case PTX_W_SHARED:
        return OF_SHARED;
    case PTX_W_LOCAL:
        return OF_LOCAL;
    case PTX_W_CONST:
        return OF_CONST;
    default:
        break;
    }
    for (uint64_t i = 1; i < 4; i++) {
        const uint64_t start = f->code->is_far || f->address >= far ? i * far : nears[i];
        if (f->address < start || f->address >= (start < far ? nears[i + 1] : start + most))
            continue;
        f->address -= start;
        return (enum space)i;
    }
    return OF_GLOBAL;
}

/* The nearest is the first of those at the least distance; 0: the access begins in it. */
static void consider(struct fault *f, const struct ptx_regions *regions, uint64_t base)
{
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *r = &regions->items[i];
        const uint64_t start = base + r->address, end = start + r->bytes;
        const uint64_t distance = f->address < start  ? start - f->address
                                  : f->address >= end ? f->address - end + 1
                                                      : 0;
        f->holds |= distance == 0 && f->address + f->bytes <= end;
        if (!f->nearest.region || distance < f->nearest.distance)
            f->nearest = (struct candidate){r, start, distance};
    }
}

/* The frames of the lane, the latest first. */
static void consider_frames(struct fault *f)
{
    const struct ptx_lanes *lanes = f->lanes;
    const uint32_t *sites = (const uint32_t *)(const void *)&lanes->lane[lanes->count];
    uint32_t function = lanes->lane[f->lane].function, byte = lanes->lane[f->lane].byte;
    for (uint32_t depth = lanes->lane[f->lane].depth;; depth--) {
        consider(f, &f->code->functions[function].locals, byte);
        if (depth == 0)
            return;
        const uint32_t site = sites[depth * lanes->count + f->lane];
        if (site & PTX_SITE_SHARES)
            continue;
        function = f->code->ops[site].function;
        byte -= f->code->functions[function].frame_bytes;
    }
}

static void find_nearest(struct fault *f)
{
    const struct ptx_code *code = f->code;
    const struct ptx_regions *all[] = {&code->global, &code->shared, &code->local, &code->constant};
    consider(f, all[f->space], 0);
    if (f->space == OF_LOCAL)
        consider_frames(f);
    else if (f->nearest.distance > all[f->space]->gap / 2)
        f->nearest.region = NULL;
}

static const char *words_of(struct arena *arena, const struct fault *f, uint64_t given)
{
    static const char *const names[] = {"global", "shared", "local", "const"};
    const bool loads = f->op->exec == PTX_EXEC_LD, atomic = f->op->exec == PTX_EXEC_ATOM;
    const struct candidate *n = &f->nearest;
    const char *why =
        f->space == OF_CONST && !loads   ? "constants and parameters cannot be written"
        : f->space == OF_LOCAL && atomic ? "no atomics in local memory"
        : f->address % f->bytes != 0     ? arena_printf(arena, "not a multiple of %u", f->bytes)
        : n->region
            ? arena_printf(arena, "byte %lld of %.100s, which has %u bytes",
                           (long long)(f->address - n->start), n->region->name, n->region->bytes)
        : f->space == OF_GLOBAL && f->address < 4096
            ? "a null pointer"
            : arena_printf(arena, "no variable of %s memory is near", names[f->space]);
    return arena_printf(arena, "%s of %u bytes at %s address 0x%llx: %s",
                        loads    ? "read"
                        : atomic ? "atomic"
                                 : "write",
                        f->bytes, f->op->space == PTX_W_NONE ? "generic" : names[f->space],
                        (unsigned long long)given, why);
}

static struct fault out_of(const struct machine *machine)
{
    const struct program *program = machine->program;
    const uint32_t thread = machine->head->fault_thread, threads = program->launch.threads;
    const bool single = machine->semantics->actors == ACTORS_THREADS;
    struct fault f = {.machine = machine,
                      .code = program->ptx,
                      .op = &program->ptx->ops[machine->head->fault_stm],
                      .address = machine->fault.address};
    const uint32_t warp =
        thread / threads * program->warps_per_block + thread % threads / program->launch.warp;
    f.lanes = single ? cta_thread(machine, thread).lanes : crs_warp(machine, warp).lanes;
    f.lane = thread - f.lanes->first_thread;
    f.bytes = (uint32_t)f.op->bytes * f.op->count;
    return f;
}

const char *layout_fault(struct arena *arena, const struct machine *machine)
{
    const struct ptx_code *code = machine->program->ptx;
    if (machine->head->fault_stm >= code->count || code->has_clusters)
        return NULL;
    struct fault f = out_of(machine);
    if (f.op->exec != PTX_EXEC_LD && f.op->exec != PTX_EXEC_ST && f.op->exec != PTX_EXEC_ATOM)
        return NULL;
    f.space = find_space(&f);
    find_nearest(&f);
    const bool may = f.address % f.bytes == 0 &&
                     !(f.space == OF_CONST && f.op->exec != PTX_EXEC_LD) &&
                     !(f.space == OF_LOCAL && f.op->exec == PTX_EXEC_ATOM);
    const struct ptx_region *near = f.nearest.region;
    const char *name = machine->fault.variable;
    if (f.holds && may)
        return "a variable holds it";
    if (machine->fault.bytes != f.bytes || (name != NULL) != (near != NULL) ||
        (near && strcmp(name, near->name) != 0))
        return "the variable that it may have missed";
    if (near && (machine->fault.offset != (int64_t)(f.address - f.nearest.start) ||
                 machine->fault.size != near->bytes))
        return "the byte of the variable";
    return strcmp(machine->fault_text ? machine->fault_text : "",
                  words_of(arena, &f, machine->fault.address)) == 0
               ? NULL
               : "what is said";
}
