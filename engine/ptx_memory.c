/*
 * ptx_memory.c - ld, st, atom: where an address leads, what is there, who writes last.
 *
 * An instruction first finds the places of all executing lanes; a lane whose place does not exist ends
 * the execution before anything is read or written. Memory is sequentially consistent: volatile, relaxed,
 * acquire and release accesses are ordinary ones (for race detectors too).
 */
#include "engine/ptx_exec_internal.h"

#include <stdio.h>

/* ---- where an address leads ---- */

enum memory_kind { MEMORY_GLOBAL, MEMORY_SHARED, MEMORY_LOCAL, MEMORY_CONSTANT };
enum access { ACCESS_LD, ACCESS_ST, ACCESS_ATOM };

static const char *const kind_names[] = {[MEMORY_GLOBAL] = "global",
                                         [MEMORY_SHARED] = "shared",
                                         [MEMORY_LOCAL] = "local",
                                         [MEMORY_CONSTANT] = "const"};

struct access_state {
    struct ptx_step *x;
    enum access access;
    uint32_t bytes;        /* of a whole vector */
    lane_mask constants;   /* lanes whose place lies in ptx_code.constants */
    lane_mask observed;    /* lanes whose place lies in global or shared memory */
    bool ascending;        /* all lanes execute, places `bytes` apart: a run of memory */
    const uint32_t *words; /* of the run */
};

/* The space that an address belongs to; it becomes one of that space. */
static enum memory_kind classify(enum ptx_word space, uint64_t *address)
{
    switch ((uint32_t)space) {
    case PTX_W_GLOBAL:
        return MEMORY_GLOBAL;
    case PTX_W_SHARED:
        return MEMORY_SHARED;
    case PTX_W_LOCAL:
        return MEMORY_LOCAL;
    case PTX_W_CONST:
        return MEMORY_CONSTANT;
    }
    if (*address < PTX_SHARED_BASE || *address >= PTX_WINDOW_END)
        return MEMORY_GLOBAL;
    if (*address < PTX_LOCAL_BASE) {
        *address -= PTX_SHARED_BASE;
        return MEMORY_SHARED;
    }
    if (*address < PTX_CONST_BASE) {
        *address -= PTX_LOCAL_BASE;
        return MEMORY_LOCAL;
    }
    *address -= PTX_CONST_BASE;
    return MEMORY_CONSTANT;
}

static const struct ptx_regions *regions_of(const struct ptx_code *code, enum memory_kind kind)
{
    switch (kind) {
    case MEMORY_GLOBAL:
        return &code->global;
    case MEMORY_SHARED:
        return &code->shared;
    case MEMORY_LOCAL:
        return &code->local;
    case MEMORY_CONSTANT:
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

static bool frame_below(const struct ptx_step *x, uint32_t lane, struct frame_walk *frame)
{
    if (frame->depth == 0)
        return false;
    uint32_t site = *ptx_site(x->lanes, frame->depth, lane);
    frame->depth--;
    if (!(site & PTX_SITE_SHARES)) {
        frame->function = x->code->ops[site].function;
        frame->byte -= x->code->functions[frame->function].frame_bytes;
    }
    return true;
}

/* The variable of local memory that holds all of the access: of the module, or of a frame. *start: its
 * address. */
static const struct ptx_region *find_local(const struct ptx_step *x, uint32_t lane,
                                           uint64_t address, uint32_t bytes, uint64_t *start)
{
    if (address < x->code->frame_local_base) {
        uint32_t guess = 0;
        const struct ptx_region *region = find_region(&x->code->local, address, bytes, &guess);
        *start = region ? region->address : 0;
        return region;
    }
    const struct ptx_lane *top = &x->lanes->lane[lane];
    struct frame_walk frame = {top->function, top->byte, top->depth};
    while (frame.byte > address)
        if (!frame_below(x, lane, &frame))
            return NULL;
    uint32_t guess = 0;
    const struct ptx_region *region = find_region(&x->code->functions[frame.function].locals,
                                                  address - frame.byte, bytes, &guess);
    *start = region ? region->address + frame.byte : 0;
    return region;
}

/* ---- faults ---- */

struct nearest {
    const char *name;
    uint64_t start, end;
    uint64_t distance;
};

static void consider(struct nearest *nearest, const struct ptx_region *region, uint64_t base,
                     uint64_t address)
{
    uint64_t start = base + region->address, end = start + region->bytes;
    uint64_t distance = address < start ? start - address : address >= end ? address - end + 1 : 0;
    if (!nearest->name || distance < nearest->distance)
        *nearest = (struct nearest){region->name, start, end, distance};
}

static struct nearest find_nearest(const struct ptx_step *x, uint32_t lane, enum memory_kind kind,
                                   uint64_t address)
{
    struct nearest nearest = {0};
    const struct ptx_regions *regions = regions_of(x->code, kind);
    for (uint32_t i = 0; i < regions->count; i++)
        consider(&nearest, &regions->items[i], 0, address);
    if (kind != MEMORY_LOCAL)
        return nearest;
    const struct ptx_lane *top = &x->lanes->lane[lane];
    struct frame_walk frame = {top->function, top->byte, top->depth};
    do {
        regions = &x->code->functions[frame.function].locals;
        for (uint32_t i = 0; i < regions->count; i++)
            consider(&nearest, &regions->items[i], frame.byte, address);
    } while (frame_below(x, lane, &frame));
    return nearest;
}

/* What is wrong with an address: the text is made here only. */
static void access_fault(struct access_state *a, uint32_t lane)
{
    struct ptx_step *x = a->x;
    static const char *const verbs[] = {
        [ACCESS_LD] = "read", [ACCESS_ST] = "write", [ACCESS_ATOM] = "atomic"};
    uint64_t given = x->scratch->address[lane], address = given;
    enum memory_kind kind = classify((enum ptx_word)x->op->space, &address);
    char *text = x->scratch->text;
    int at = snprintf(text, PTX_TEXT, "%s of %u bytes at %s address 0x%llx: ", verbs[a->access],
                      (unsigned)a->bytes, x->op->space ? kind_names[kind] : "generic",
                      (unsigned long long)given);
    char *rest = text + at;
    size_t room = PTX_TEXT - (size_t)at;
    uint64_t shift = given - address; /* the variables' generic addresses */
    if (kind == MEMORY_CONSTANT && a->access != ACCESS_LD) {
        snprintf(rest, room, "constants and parameters cannot be written");
    } else if (kind == MEMORY_LOCAL && a->access == ACCESS_ATOM) {
        snprintf(rest, room, "no atomics in local memory");
    } else if (address % a->bytes != 0) {
        snprintf(rest, room, "not a multiple of %u", (unsigned)a->bytes);
    } else {
        struct nearest nearest = find_nearest(x, lane, kind, address);
        if (!nearest.name)
            snprintf(rest, room, "there are no variables in %s memory", kind_names[kind]);
        else if (nearest.distance == 0)
            snprintf(rest, room, "goes beyond %.100s, which ends at 0x%llx", nearest.name,
                     (unsigned long long)(nearest.end - 1 + shift));
        else if (address < nearest.start)
            snprintf(rest, room, "no variable there (the nearest, %.100s, starts at 0x%llx)",
                     nearest.name, (unsigned long long)(nearest.start + shift));
        else
            snprintf(rest, room, "no variable there (the nearest, %.100s, ends at 0x%llx)",
                     nearest.name, (unsigned long long)(nearest.end - 1 + shift));
    }
    x->m->fault_text = text;
    x->m->fault_address = given;
    machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->lanes->first_thread + lane, x->pc, x->mode);
}

/* ---- the places of all executing lanes ---- */

/* scratch->byte of one lane. False: it has none. */
static bool place_lane(struct access_state *a, uint32_t lane, uint32_t *guess)
{
    struct ptx_step *x = a->x;
    uint64_t address = x->scratch->address[lane], start = 0;
    enum memory_kind kind = classify((enum ptx_word)x->op->space, &address);
    const struct ptx_region *region = NULL;
    uint64_t base = 0; /* bytes */
    const uint32_t *bases = x->m->threads[x->lanes->first_thread + lane].base;
    if (address % a->bytes != 0)
        return false;
    switch (kind) {
    case MEMORY_GLOBAL:
        region = find_region(&x->code->global, address, a->bytes, guess);
        a->observed |= (lane_mask)1 << lane;
        break;
    case MEMORY_SHARED:
        region = find_region(&x->code->shared, address, a->bytes, guess);
        base = bases[SPACE_SHARED];
        a->observed |= (lane_mask)1 << lane;
        break;
    case MEMORY_LOCAL:
        if (a->access == ACCESS_ATOM)
            return false;
        region = find_local(x, lane, address, a->bytes, &start);
        if (region) /* an address is a byte of the thread's local memory */
            x->scratch->byte[lane] = (uint32_t)(4 * (uint64_t)bases[SPACE_LOCAL] + address);
        return region != NULL;
    case MEMORY_CONSTANT:
        if (a->access != ACCESS_LD)
            return false;
        region = find_region(&x->code->constant, address, a->bytes, guess);
        a->constants |= (lane_mask)1 << lane;
        break;
    }
    if (!region)
        return false;
    x->scratch->byte[lane] = (uint32_t)(4 * (base + region->word) + (address - region->address));
    return true;
}

/* The addresses of the executing lanes: scratch->address. */
static void compute_addresses(struct ptx_step *x)
{
    const struct ptx_place *place = &x->op->sources[0];
    uint64_t *address = x->scratch->address;
    if (place->kind == PTX_PLACE_NONE) {
        for (uint32_t i = 0; i < x->lanes->count; i++)
            address[i] = x->op->offset;
        return;
    }
    const void *row = ptx_row(x, place, 0);
    const uint64_t *wide = row;
    const uint32_t *narrow = row;
    for (uint32_t i = 0; i < x->lanes->count; i++)
        address[i] = (place->bits == 64 ? wide[i] : narrow[i]) + x->op->offset;
}

/* scratch->byte of the executing lanes. False: the execution has ended. */
static bool find_places(struct access_state *a)
{
    struct ptx_step *x = a->x;
    a->bytes = (uint32_t)x->op->bytes * x->op->count;
    compute_addresses(x);
    uint32_t *guess = &x->scratch->region[x->pc % PTX_REGION_CACHE];
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!place_lane(a, lane, guess)) {
            access_fault(a, lane);
            return false;
        }
    }
    return true;
}

/* ---- what is there ---- */

static uint64_t fetch(const uint32_t *words, uint32_t byte, uint32_t bytes)
{
    uint32_t word = words[byte / 4];
    switch (bytes) {
    case 1:
        return word >> 8 * (byte & 3) & 0xff;
    case 2:
        return word >> 8 * (byte & 3) & 0xffff;
    case 8:
        return word | (uint64_t)words[byte / 4 + 1] << 32;
    }
    return word;
}

static void store(struct ptx_step *x, uint32_t byte, uint32_t bytes, uint64_t value)
{
    uint32_t *word = (uint32_t *)&x->m->memory[byte / 4];
    uint32_t shift = 8 * (byte & 3), mask = bytes == 1 ? 0xff : bytes == 2 ? 0xffff : UINT32_MAX;
    put(x->m, word, (*word & ~(mask << shift)) | ((uint32_t)value & mask) << shift, x->mode);
    if (bytes == 8)
        put(x->m, word + 1, (uint32_t)(value >> 32), x->mode);
}

/* ---- what observers hear: each location of an access ---- */

static void observe(struct access_state *a, uint32_t lane, uint32_t byte, uint32_t bytes)
{
    struct ptx_step *x = a->x;
    if (!(x->mode & MACHINE_OBSERVED) || !(a->observed >> lane & 1))
        return;
    uint32_t each = 4 / x->m->program->units, thread = x->lanes->first_thread + lane;
    for (uint32_t location = byte / each; location * each < byte + bytes; location++) {
        uint64_t value = fetch((const uint32_t *)x->m->memory, location * each, each);
        switch (a->access) {
        case ACCESS_LD:
            observe_read(x->m, thread, location, x->pc);
            break;
        case ACCESS_ST:
            observe_write(x->m, thread, location, (int32_t)(uint32_t)value, x->pc);
            break;
        case ACCESS_ATOM:
            observe_atomic(x->m, thread, location, (int32_t)(uint32_t)value, x->pc);
            break;
        }
    }
}

/* ---- ld ---- */

/* The value as it lies in the register (ptx_rows.h). */
static uint64_t extend(const struct ptx_op *op, uint64_t value)
{
    uint32_t bits = 8u * op->bytes;
    if (!op->is_signed || bits == 64)
        return value;
    uint64_t sign = (uint64_t)1 << (bits - 1);
    value = (value ^ sign) - sign;
    return op->width == 16 ? value & 0xffff : value;
}

static void load_element(struct access_state *a, uint32_t e)
{
    struct ptx_step *x = a->x;
    const struct ptx_place *place = &x->op->results[e];
    uint64_t *wide = x->scratch->results[e];
    uint32_t *narrow = (uint32_t *)wide;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint32_t byte = x->scratch->byte[lane] + e * x->op->bytes;
        const uint32_t *words =
            a->constants >> lane & 1 ? x->code->constants : (const uint32_t *)x->m->memory;
        uint64_t value = extend(x->op, fetch(words, byte, x->op->bytes));
        if (place->bits == 64)
            wide[lane] = value;
        else
            narrow[lane] = (uint32_t)value;
        observe(a, lane, byte, x->op->bytes);
    }
}

/*  THR.ld      a = E[[e]]
 *      <theta | ld ss r [e]>  ->  theta        r^ <- mu_ss(a), all lanes in the same mu
 */
enum rule ptx_ld(struct ptx_step *x)
{
    struct access_state a = {.x = x, .access = ACCESS_LD};
    if (!find_places(&a))
        return RULE_PTX_LD;
    for (uint32_t e = 0; e < x->op->count; e++)
        load_element(&a, e);
    for (uint32_t e = 0; e < x->op->count; e++)
        ptx_commit(x, &x->op->results[e], x->scratch->results[e]);
    return RULE_PTX_LD;
}

/* ---- the order of writes ---- */

enum { CONFLICT_SLOTS = 2 * LIMIT_WARP };

/* Chains the lanes with one place; returns the lanes that start a chain of two or more. */
static lane_mask find_conflicts(struct ptx_step *x)
{
    struct ptx_scratch *s = x->scratch;
    uint8_t last[LIMIT_WARP];
    lane_mask conflicts = 0;
    memset(s->slot, 0, sizeof s->slot);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), byte = s->byte[lane];
        uint32_t slot = (byte * 2654435769u) >> 25;
        while (s->slot[slot] && s->byte[s->slot[slot] - 1] != byte)
            slot = (slot + 1) % CONFLICT_SLOTS;
        s->next[lane] = 0;
        if (!s->slot[slot]) {
            s->slot[slot] = (uint8_t)(lane + 1);
            continue;
        }
        uint32_t first = s->slot[slot] - 1u;
        s->next[conflicts >> first & 1 ? last[first] : first] = (uint8_t)(lane + 1);
        conflicts |= (lane_mask)1 << first;
        last[first] = (uint8_t)lane;
    }
    return conflicts;
}

/* Of the lanes chained from `first`, the one that writes last. The choice is made only where the values
 * differ. */
static uint32_t choose_winner(struct ptx_step *x, uint32_t first, const uint64_t *values)
{
    const uint8_t *next = x->scratch->next;
    uint32_t count = 1, last = first;
    bool differ = false;
    for (uint32_t lane = next[first]; lane; lane = next[lane - 1]) {
        last = lane - 1;
        differ |= values[last] != values[first];
        count++;
    }
    if (!differ || !x->choices)
        return last;
    uint32_t winner = first;
    for (uint32_t skip = x->choices->choose(x->choices, count); skip; skip--)
        winner = next[winner] - 1u;
    return winner;
}

static uint32_t order_lanes(struct ptx_step *x, lane_mask lanes, uint32_t n)
{
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        x->scratch->order[n++] = (uint8_t)lowest_lane(rest);
    return n;
}

/* ---- st ---- */

static uint64_t low_bits(uint64_t value, uint32_t bytes)
{
    return bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

/* One element: ascending, but winners of conflicts come last, so that each place keeps their value. */
static void store_element(struct access_state *a, uint32_t e, lane_mask conflicts)
{
    struct ptx_step *x = a->x;
    uint64_t values[LIMIT_WARP];
    const uint64_t *row = ptx_wide_row(x, &x->op->sources[1 + e], 1);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        values[lane] = low_bits(row[lane], x->op->bytes);
    }
    lane_mask winners = 0;
    for (lane_mask rest = conflicts; rest; rest &= rest - 1)
        winners |= (lane_mask)1 << choose_winner(x, lowest_lane(rest), values);
    uint32_t n = order_lanes(x, x->executing & ~winners, 0);
    n = order_lanes(x, winners, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = x->scratch->order[i];
        uint32_t byte = x->scratch->byte[lane] + e * x->op->bytes;
        store(x, byte, x->op->bytes, values[lane]);
        observe(a, lane, byte, x->op->bytes);
    }
}

/*  THR.st      a_i = E[[e]] of theta_i, v_i = E[[src]] of theta_i; theta_1 .. theta_n an arbitrary order of X
 *      <theta | st ss [e] src>  ->  theta      mu[a_1 |-> v_1] .. [a_n |-> v_n]
 *
 *  MEM.nd.5: who writes a place last is chosen. The elements of a vector are separate writes.
 */
enum rule ptx_st(struct ptx_step *x)
{
    struct access_state a = {.x = x, .access = ACCESS_ST};
    if (!find_places(&a))
        return RULE_PTX_ST;
    lane_mask conflicts = find_conflicts(x);
    for (uint32_t e = 0; e < x->op->count; e++)
        store_element(&a, e, conflicts);
    return RULE_PTX_ST;
}

/* ---- atom, red ---- */

/* Nobody can tell in which order lanes did this on one place: it commutes with itself, and nobody asks
 * for the old value. Floating-point addition does not associate. */
static bool order_is_hidden(const struct ptx_op *op)
{
    enum ptx_word type = (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_TYPE];
    if (op->results[0].kind != PTX_PLACE_NONE)
        return false;
    switch ((uint32_t)op->mode) {
    case PTX_W_ADD:
        return ptx_type_of(type).kind != PTX_CLASS_FLOAT;
    case PTX_W_MIN:
    case PTX_W_MAX:
    case PTX_W_AND:
    case PTX_W_OR:
    case PTX_W_XOR:
        return true;
    }
    return false; /* exch, cas, inc, dec */
}

/* The lanes chained from `first` go in an order that is chosen, one lane after another, at the places
 * in the order that they have between them. */
static void shuffle_chain(struct ptx_step *x, uint32_t first)
{
    uint8_t lanes[LIMIT_WARP], places[LIMIT_WARP];
    uint8_t *order = x->scratch->order;
    uint32_t count = 0;
    for (uint32_t lane = first + 1; lane; lane = x->scratch->next[lane - 1])
        lanes[count++] = (uint8_t)(lane - 1);
    for (uint32_t i = 0, at = 0; at < count; i++)
        if (order[i] == lanes[at])
            places[at++] = (uint8_t)i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t left = count - i, chosen = 0;
        if (left > 1)
            chosen = x->choices->choose(x->choices, left);
        order[places[i]] = lanes[chosen];
        memmove(lanes + chosen, lanes + chosen + 1, left - chosen - 1);
    }
}

/*  THR.atom    theta_1 .. theta_n an arbitrary order of X, mu_0 = mu, a_i = E[[e1]], b_i = E[[e2]], c_i = E[[e3]]
 *              of theta_i, old_i = mu_(i-1)(a_i), mu_i = mu_(i-1)[a_i |-> op(old_i, b_i, c_i)]
 *      <theta | atom ss op r [e1] e2 e3>  ->  theta      r^ of theta_i <- old_i, mu_n
 *
 *  MEM.nd.6, ERR.47: all are performed, in an order that is chosen.
 */
enum rule ptx_atom(struct ptx_step *x)
{
    const enum rule rule = x->op->opcode == PTX_OP_RED ? RULE_PTX_RED : RULE_PTX_ATOM;
    struct access_state a = {.x = x, .access = ACCESS_ATOM};
    static const uint64_t none[LIMIT_WARP];
    if (!find_places(&a))
        return rule;
    const uint32_t bytes = x->op->bytes;
    const uint64_t *b = ptx_wide_row(x, &x->op->sources[1], 1);
    const uint64_t *c =
        x->op->sources[2].kind != PTX_PLACE_NONE ? ptx_wide_row(x, &x->op->sources[2], 2) : none;
    uint64_t *wide = x->scratch->results[0];
    uint32_t *narrow = (uint32_t *)wide, n = order_lanes(x, x->executing, 0);
    if (x->choices && !order_is_hidden(x->op))
        for (lane_mask rest = find_conflicts(x); rest; rest &= rest - 1)
            shuffle_chain(x, lowest_lane(rest));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = x->scratch->order[i], byte = x->scratch->byte[lane];
        uint64_t old = fetch((const uint32_t *)x->m->memory, byte, bytes);
        uint64_t value = x->op->atomic(old, low_bits(b[lane], bytes), low_bits(c[lane], bytes));
        store(x, byte, bytes, value);
        observe(&a, lane, byte, bytes);
        if (x->op->results[0].bits == 64)
            wide[lane] = old;
        else
            narrow[lane] = (uint32_t)old;
    }
    ptx_commit(x, &x->op->results[0], wide);
    return rule;
}

/* ---- footprints ---- */

void ptx_footprint(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                   lane_mask executing, uint64_t *reads, uint64_t *writes)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    uint64_t vars = 0;
    *reads = *writes = 0;
    if (op->exec != PTX_EXEC_LD && op->exec != PTX_EXEC_ST && op->exec != PTX_EXEC_ATOM)
        return;
    for (lane_mask rest = executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (lanes->lane[lane].function != op->function)
            continue;
        uint64_t address = ptx_source(machine, lanes, &op->sources[0], lane) + op->offset;
        enum memory_kind kind = classify((enum ptx_word)op->space, &address);
        if (kind != MEMORY_GLOBAL && kind != MEMORY_SHARED)
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
