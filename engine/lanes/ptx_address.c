/*
 * ptx_address.c - where the addresses of an ld, st, atom lead, and what is said of one that leads nowhere.
 */
#include "engine/lanes/ptx_exec_internal.h"

#include <stdio.h>

/* ---- where an address leads ---- */

static const char *const window_names[PTX_WINDOW_COUNT] = {[PTX_WINDOW_GLOBAL] = "global",
                                                           [PTX_WINDOW_SHARED] = "shared",
                                                           [PTX_WINDOW_LOCAL] = "local",
                                                           [PTX_WINDOW_CONST] = "const"};

/* The space that an address of an access belongs to; it becomes one of that space. */
static enum ptx_window classify(const struct ptx_code *code, enum ptx_word space, uint64_t *address)
{
    switch ((uint32_t)space) {
    case PTX_W_GLOBAL:
        return PTX_WINDOW_GLOBAL;
    case PTX_W_SHARED:
        return PTX_WINDOW_SHARED;
    case PTX_W_LOCAL:
        return PTX_WINDOW_LOCAL;
    case PTX_W_CONST:
        return PTX_WINDOW_CONST;
    }
    bool is_far;
    enum ptx_window window = ptx_window_of(*address, &is_far);
    if (code->is_far && !is_far)
        return PTX_WINDOW_GLOBAL;
    *address -= ptx_window_base(window, is_far);
    return window;
}

static const struct ptx_regions *regions_of(const struct ptx_code *code, enum ptx_window kind)
{
    switch (kind) {
    case PTX_WINDOW_GLOBAL:
        return &code->global;
    case PTX_WINDOW_SHARED:
        return &code->shared;
    case PTX_WINDOW_LOCAL:
        return &code->local;
    case PTX_WINDOW_CONST:
    case PTX_WINDOW_COUNT:
        break;
    }
    return &code->constant;
}

STEP_INLINE bool holds(const struct ptx_region *region, uint64_t address, uint32_t bytes)
{
    return address - region->address < region->bytes &&
           region->bytes - (address - region->address) >= bytes;
}

/* The number of the last region that starts at or before the address; `count` if none does. */
static uint32_t last_before(const struct ptx_regions *regions, uint64_t address)
{
    uint32_t low = 0, high = regions->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (regions->items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : regions->count;
}

/* The region that holds all of the access, looked for at the guess first; NULL: none does. */
static const struct ptx_region *find_region(const struct ptx_regions *regions, uint64_t address,
                                            uint32_t bytes, uint32_t *guess)
{
    if (*guess < regions->count && holds(&regions->items[*guess], address, bytes))
        return &regions->items[*guess];
    uint32_t i = last_before(regions, address);
    if (i == regions->count || !holds(&regions->items[i], address, bytes))
        return NULL;
    *guess = i;
    return &regions->items[i];
}

/* One of the lane's frames, top first. */
struct frame_walk {
    uint32_t function, byte, depth;
};

static bool frame_below(const struct ptx_code *code, const struct ptx_lanes *lanes, uint32_t lane,
                        struct frame_walk *frame)
{
    if (frame->depth == 0)
        return false;
    uint32_t site = *ptx_site(lanes, frame->depth, lane);
    frame->depth--;
    if (!(site & PTX_SITE_SHARES)) {
        frame->function = code->ops[site].function;
        frame->byte -= code->functions[frame->function].frame_bytes;
    }
    return true;
}

/* The variable of local memory that holds all of the access: of the module, or of a frame. *start: its
 * address. */
static const struct ptx_region *find_local(const struct ptx_code *code,
                                           const struct ptx_lanes *lanes, uint32_t lane,
                                           uint64_t address, uint32_t bytes, uint64_t *start)
{
    if (address < code->frame_local_base) {
        uint32_t guess = 0;
        const struct ptx_region *region = find_region(&code->local, address, bytes, &guess);
        *start = region ? region->address : 0;
        return region;
    }
    const struct ptx_lane *top = &lanes->lane[lane];
    struct frame_walk frame = {top->function, top->byte, top->depth};
    while (frame.byte > address)
        if (!frame_below(code, lanes, lane, &frame))
            return NULL;
    uint32_t guess = 0;
    const struct ptx_region *region =
        find_region(&code->functions[frame.function].locals, address - frame.byte, bytes, &guess);
    *start = region ? region->address + frame.byte : 0;
    return region;
}

const void *ptx_generic_bytes(const struct machine *machine, const struct ptx_lanes *lanes,
                              uint32_t lane, uint64_t address, uint32_t *bytes)
{
    const struct ptx_code *code = machine->program->ptx;
    const uint32_t *bases = machine->threads[lanes->first_thread + lane].base;
    const enum ptx_window kind = classify(code, PTX_W_NONE, &address);
    const struct ptx_regions *regions = regions_of(code, kind);
    uint32_t guess = 0;
    uint64_t start = 0, word = kind == PTX_WINDOW_SHARED ? bases[SPACE_SHARED] : 0;
    const struct ptx_region *region = kind == PTX_WINDOW_LOCAL
                                          ? find_local(code, lanes, lane, address, 1, &start)
                                          : find_region(regions, address, 1, &guess);
    if (!region)
        return NULL;
    if (kind != PTX_WINDOW_LOCAL)
        start = region->address;
    const uint64_t offset = address - start;
    *bytes = (uint32_t)(region->bytes - offset);
    if (kind == PTX_WINDOW_CONST)
        return (const char *)code->constants + 4 * (uint64_t)region->word + offset;
    const uint64_t first = kind == PTX_WINDOW_LOCAL ? 4 * (uint64_t)bases[SPACE_LOCAL] + start
                                                    : 4 * (word + region->word);
    return (const char *)machine->memory + first + offset;
}

/* ---- shared memory of other blocks of a cluster ---- */

uint32_t ptx_block_ranked(const struct machine *machine, const struct ptx_lanes *lanes,
                          uint32_t rank)
{
    const struct program *program = machine->program;
    const struct ptx_kernel *kernel = program->ptx->kernel;
    const uint32_t own = kernel->first_block + lanes->block;
    if (rank >= ptx_cluster_size(kernel))
        return UINT32_MAX;
    const uint32_t slot = lanes->block + ptx_cluster_block(kernel, own, rank) - own;
    if (slot >= program->launch.blocks ||
        (machine->groups && machine->groups[slot].finished == machine->groups[slot].count))
        return UINT32_MAX;
    return slot;
}

uint32_t ptx_block_at(const struct machine *machine, uint32_t byte)
{
    const struct program *program = machine->program;
    return (byte / 4 - program->shared_base) / program->words[SPACE_SHARED];
}

/* The slot of the block that an address of shared memory names by its rank; the address becomes one of that block. */
static uint32_t block_named(const struct machine *machine, const struct ptx_lanes *lanes,
                            uint64_t *address)
{
    const uint32_t rank = ptx_cluster_rank_of(*address, 0);
    if (rank >= ptx_cluster_size(machine->program->ptx->kernel) || *address >> 32)
        return UINT32_MAX;
    *address &= (1u << PTX_CLUSTER_SHIFT) - 1;
    return ptx_block_ranked(machine, lanes, rank);
}

/* Whether an address of shared memory names a block at all. */
static bool names_block(const struct ptx_code *code, uint64_t address)
{
    return code->has_clusters && address >> PTX_CLUSTER_SHIFT;
}

/* ---- faults ---- */

struct nearest {
    const struct ptx_region *region;
    uint64_t start;
    uint64_t distance;
};

static void consider(struct nearest *nearest, const struct ptx_region *region, uint64_t base,
                     uint64_t address)
{
    uint64_t start = base + region->address, end = start + region->bytes;
    uint64_t distance = address < start ? start - address : address >= end ? address - end + 1 : 0;
    if (!nearest->region || distance < nearest->distance)
        *nearest = (struct nearest){region, start, distance};
}

static struct nearest find_nearest(const struct ptx_step *x, uint32_t lane, enum ptx_window kind,
                                   uint64_t address)
{
    struct nearest nearest = {0};
    const struct ptx_regions *regions = regions_of(x->code, kind);
    for (uint32_t i = 0; i < regions->count; i++)
        consider(&nearest, &regions->items[i], 0, address);
    if (kind != PTX_WINDOW_LOCAL) {
        if (nearest.distance > regions->gap / 2)
            nearest.region = NULL;
        return nearest;
    }
    const struct ptx_lane *top = &x->lanes->lane[lane];
    struct frame_walk frame = {top->function, top->byte, top->depth};
    do {
        regions = &x->code->functions[frame.function].locals;
        for (uint32_t i = 0; i < regions->count; i++)
            consider(&nearest, &regions->items[i], frame.byte, address);
    } while (frame_below(x->code, x->lanes, lane, &frame));
    return nearest;
}

enum { NULL_PAGE = 4096 };

/* What is wrong with an address in a space. */
static void say_why(const struct ptx_access *a, enum ptx_window kind, uint64_t address, char *text,
                    size_t room)
{
    const struct machine_fault *fault = &a->x->m->fault;
    if (kind == PTX_WINDOW_CONST && a->kind != PTX_ACCESS_LD)
        snprintf(text, room, "constants and parameters cannot be written");
    else if (kind == PTX_WINDOW_LOCAL && a->kind == PTX_ACCESS_ATOM)
        snprintf(text, room, "no atomics in local memory");
    else if (address % a->bytes != 0)
        snprintf(text, room, "not a multiple of %u", (unsigned)a->bytes);
    else if (fault->variable)
        snprintf(text, room, "byte %lld of %.100s, which has %llu bytes", (long long)fault->offset,
                 fault->variable, (unsigned long long)fault->size);
    else if (kind == PTX_WINDOW_GLOBAL && address < NULL_PAGE)
        snprintf(text, room, "a null pointer");
    else
        snprintf(text, room, "no variable of %s memory is near", window_names[kind]);
}

/* The text is made here only. */
static void access_fault(struct ptx_access *a, uint32_t lane)
{
    struct ptx_step *x = a->x;
    static const char *const verbs[] = {
        [PTX_ACCESS_LD] = "read", [PTX_ACCESS_ST] = "write", [PTX_ACCESS_ATOM] = "atomic"};
    uint64_t given = x->scratch->address[lane], address = given;
    enum ptx_window kind = classify(x->code, (enum ptx_word)x->op->space, &address);
    const bool named = kind == PTX_WINDOW_SHARED && names_block(x->code, address);
    const bool gone = named && block_named(x->m, x->lanes, &address) == UINT32_MAX;
    struct nearest nearest = find_nearest(x, lane, kind, address);
    x->m->fault = (struct machine_fault){.address = given, .bytes = a->bytes};
    if (nearest.region) {
        x->m->fault.variable = nearest.region->name;
        x->m->fault.offset = (int64_t)(address - nearest.start);
        x->m->fault.size = nearest.region->bytes;
    }
    char *text = x->scratch->text;
    int at = snprintf(text, PTX_TEXT, "%s of %u bytes at %s address 0x%llx: ", verbs[a->kind],
                      (unsigned)a->bytes, x->op->space ? window_names[kind] : "generic",
                      (unsigned long long)given);
    if (gone)
        snprintf(text + at, PTX_TEXT - (size_t)at,
                 "its cluster has no block of rank %u, or that block has ended",
                 (unsigned)ptx_cluster_rank_of(given, 0));
    else
        say_why(a, kind, address, text + at, PTX_TEXT - (size_t)at);
    x->m->fault_text = text;
    machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->lanes->first_thread + lane, x->pc);
}

/* ---- the places of all executing lanes ---- */

/* Around a lane's place: the variable, and how far into it the access starts. */
struct extent {
    uint64_t offset;
    uint32_t bytes;
};

/* scratch->byte of one lane. False: it has none. */
static bool place_lane(struct ptx_access *a, uint32_t lane, uint32_t *guess, struct extent *extent)
{
    struct ptx_step *x = a->x;
    uint64_t address = x->scratch->address[lane], start = 0;
    enum ptx_window kind = classify(x->code, (enum ptx_word)x->op->space, &address);
    const struct ptx_region *region = NULL;
    const uint32_t *bases = x->m->threads[x->lanes->first_thread + lane].base;
    uint64_t word = 0;
    if (address % a->bytes != 0)
        return false;
    switch (kind) {
    case PTX_WINDOW_GLOBAL:
        region = find_region(&x->code->global, address, a->bytes, guess);
        a->observed |= (lane_mask)1 << lane;
        break;
    case PTX_WINDOW_SHARED:
        word = bases[SPACE_SHARED];
        if (names_block(x->code, address)) {
            const uint32_t slot = block_named(x->m, x->lanes, &address);
            if (slot == UINT32_MAX)
                return false;
            word = x->m->program->shared_base + slot * x->m->program->words[SPACE_SHARED];
        }
        region = find_region(&x->code->shared, address, a->bytes, guess);
        a->observed |= (lane_mask)1 << lane;
        break;
    case PTX_WINDOW_LOCAL:
        if (a->kind == PTX_ACCESS_ATOM)
            return false;
        region = find_local(x->code, x->lanes, lane, address, a->bytes, &start);
        word = bases[SPACE_LOCAL];
        break;
    case PTX_WINDOW_CONST:
        if (a->kind != PTX_ACCESS_LD)
            return false;
        region = find_region(&x->code->constant, address, a->bytes, guess);
        a->constants |= (lane_mask)1 << lane;
        break;
    case PTX_WINDOW_COUNT:
        break;
    }
    if (!region)
        return false;
    /* In local memory, an address is a byte of the thread's. */
    uint64_t byte = kind == PTX_WINDOW_LOCAL ? start : 4 * (uint64_t)region->word;
    *extent = (struct extent){address - (kind == PTX_WINDOW_LOCAL ? start : region->address),
                              region->bytes};
    x->scratch->byte[lane] = (uint32_t)(4 * word + byte + extent->offset);
    return true;
}

/* The addresses of the executing lanes: scratch->address. */
static void compute_addresses(struct ptx_step *x)
{
    const struct ptx_place *place = &x->op->sources[0];
    const uint32_t count = x->lanes->count;
    const uint64_t offset = x->op->offset, mask = ptx_address_mask(x->op);
    uint64_t *restrict address = x->scratch->address;
    if (place->kind == PTX_PLACE_NONE) {
        for (uint32_t i = 0; i < count; i++)
            address[i] = offset;
        return;
    }
    const void *row = ptx_row(x, place, 0);
    const uint64_t *restrict wide = row;
    const uint32_t *restrict narrow = row;
    if (place->bits == 64)
        for (uint32_t i = 0; i < count; i++)
            address[i] = (wide[i] + offset) & mask;
    else
        for (uint32_t i = 0; i < count; i++)
            address[i] = narrow[i] + (uint32_t)offset;
}

/* Where a region's places are, for a group: what an address has to do with a byte. */
struct placing {
    uint64_t low;   /* address of the region's first byte, as the instruction gives it */
    uint32_t room;  /* most that an access may lie behind it */
    uint32_t start; /* its byte for lane 0 */
    uint32_t step;  /* from lane to lane: threads' local memories lie one behind the other */
};

/* All lanes, in loops that compilers make vectors of. False: some are outside, or misaligned. */
static bool place_full(struct ptx_access *a, const struct placing *p)
{
    const uint32_t count = a->x->lanes->count, bytes = a->bytes;
    const uint32_t room = p->room, start = p->start, step = p->step;
    const uint64_t low = p->low;
    const uint64_t *restrict address = a->x->scratch->address;
    uint32_t *restrict byte = a->x->scratch->byte;
    uint64_t high = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = address[i] - low;
        high |= offset;
        byte[i] = (uint32_t)offset;
    }
    if (high >> 31)
        return false;
    uint32_t outside = 0, bits = 0, gaps = 0, falls = 0, others = 0;
    for (uint32_t i = 0, at = start; i < count; i++, at += step) {
        outside |= room - byte[i]; /* the highest bit: below 0 */
        bits |= byte[i] + (uint32_t)low;
        byte[i] += at;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t distance = byte[i] - byte[i - 1];
        gaps |= distance ^ bytes;
        falls |= distance - 1; /* the highest bit: not above 0 */
        others |= distance;
    }
    a->run = gaps == 0;
    a->distinct = falls >> 31 == 0;
    a->same = others == 0;
    return outside >> 31 == 0 && (bits & (bytes - 1)) == 0;
}

static bool place_some(struct ptx_access *a, const struct placing *p)
{
    const uint64_t *address = a->x->scratch->address;
    uint64_t outside = 0, bits = 0;
    for (lane_mask rest = a->x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t offset = address[lane] - p->low;
        outside |= offset > p->room;
        bits |= address[lane];
        a->x->scratch->byte[lane] = p->start + (uint32_t)offset + lane * p->step;
    }
    return !outside && (bits & (a->bytes - 1)) == 0;
}

/* scratch->byte of the executing lanes where all of them lie in the region of the first: in almost all
 * cases. */
static bool place_all(struct ptx_access *a, uint32_t *guess)
{
    struct ptx_step *x = a->x;
    const uint32_t first = lowest_lane(x->executing);
    uint64_t at = x->scratch->address[first];
    struct placing p = {.step = 0};
    struct extent extent;
    if (classify(x->code, (enum ptx_word)x->op->space, &at) == PTX_WINDOW_LOCAL) {
        if (!x->lanes->uniform)
            return false;
        p.step = 4 * x->m->program->words[SPACE_LOCAL];
    }
    if (!place_lane(a, first, guess, &extent))
        return false;
    p.low = x->scratch->address[first] - extent.offset;
    p.room = extent.bytes - a->bytes;
    p.start = x->scratch->byte[first] - first * p.step - (uint32_t)extent.offset;
    if (!(x->executing == ptx_all(x->lanes) ? place_full(a, &p) : place_some(a, &p))) {
        a->run = a->distinct = a->same = false;
        return false;
    }
    if (a->constants)
        a->constants = x->executing;
    if (a->observed)
        a->observed = x->executing;
    return true;
}

bool ptx_find_places(struct ptx_access *a, uint32_t *outside)
{
    struct ptx_step *x = a->x;
    a->bytes = (uint32_t)x->op->bytes * x->op->count;
    compute_addresses(x);
    uint32_t *guess = &x->scratch->region[x->pc % PTX_REGION_CACHE];
    if (place_all(a, guess))
        return true;
    struct extent extent;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!place_lane(a, lane, guess, &extent)) {
            *outside = lane;
            return false;
        }
    }
    return true;
}

bool ptx_places(struct ptx_access *a)
{
    uint32_t lane;
    if (ptx_find_places(a, &lane))
        return true;
    access_fault(a, lane);
    return false;
}

bool ptx_place_at(struct ptx_access *a, uint32_t lane, uint64_t address)
{
    struct extent extent;
    a->x->scratch->address[lane] = address;
    if (place_lane(a, lane, &a->x->scratch->region[a->x->pc % PTX_REGION_CACHE], &extent))
        return true;
    access_fault(a, lane);
    return false;
}

/* ---- footprints ---- */

void ptx_footprint(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                   lane_mask executing, uint64_t *reads, uint64_t *writes)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    uint64_t vars = 0;
    *reads = *writes = 0;
    if (ptx_exec_is(op->exec, PTX_FAR))
        *reads = *writes = UINT64_MAX;
    if (op->exec == PTX_EXEC_MATRIX_LD || op->exec == PTX_EXEC_TEXTURE)
        *reads = UINT64_MAX;
    if (op->exec == PTX_EXEC_MATRIX_ST || op->exec == PTX_EXEC_SUST)
        *writes = UINT64_MAX;
    if (op->exec != PTX_EXEC_LD && op->exec != PTX_EXEC_ST && op->exec != PTX_EXEC_ATOM)
        return;
    for (lane_mask rest = executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (lanes->lane[lane].function != op->function)
            continue;
        uint64_t address = ptx_source(machine, lanes, &op->sources[0], lane) + op->offset;
        address &= ptx_address_mask(op);
        enum ptx_window kind = classify(code, (enum ptx_word)op->space, &address);
        if (kind != PTX_WINDOW_GLOBAL && kind != PTX_WINDOW_SHARED)
            continue;
        const struct ptx_regions *regions = regions_of(code, kind);
        uint32_t i = last_before(regions, address);
        if (i == regions->count || !regions->items[i].var)
            continue;
        for (uint32_t v = 0; v < machine->program->var_count; v++)
            if (machine->program->vars[v].ast == regions->items[i].var)
                vars |= (uint64_t)1 << (v < 63 ? v : 63);
    }
    if (op->exec != PTX_EXEC_ST)
        *reads = vars;
    if (op->exec != PTX_EXEC_LD)
        *writes = vars;
}
