/*
 * ref_flight.c - memory=inflight: operations that were issued and are not yet performed, and the lines of L1s
 * (docs/host.md, "Operations under way"; MO.*).
 */
#include "engine/reference_device/ref_device.h"
#include "engine/reference_ptx/ref_ptx.h"

#include <string.h>

/* ---- which are under way ---- */

bool ref_under_way(const struct ref_device *r, uint32_t grid, uint32_t block)
{
    for (uint32_t i = 0; i < r->flight_count; i++)
        if (r->flights[i].grid == grid && (block == HOST_NONE || r->flights[i].block == block))
            return true;
    return false;
}

bool ref_words_under_way(const struct ref_device *r, uint32_t base, uint32_t words)
{
    for (uint32_t i = 0; i < r->flight_count; i++)
        if (!r->flights[i].is_shared && !r->flights[i].is_local && r->flights[i].word >= base &&
            r->flights[i].word < base + words)
            return true;
    return false;
}

static uint32_t number_of(const struct ref_device *r, uint32_t grid, const struct ref_block *block)
{
    return (uint32_t)(block - r->grids[grid].blocks);
}

/* GR.key: an operation is a warp's of this block, not of one that had the slot before. */
static bool is_of(const struct ref_flight *o, uint32_t grid, uint32_t block, uint32_t warp)
{
    return o->grid == grid && o->block == block && o->warp == warp;
}

/* ---- what an instruction is, and names ---- */

static bool accesses(const struct ptx_instruction *i)
{
    enum ptx_opcode op = ptx_forms[i->form].opcode;
    enum ptx_word space = (enum ptx_word)i->words[PTX_SLOT_SPACE];
    bool is_memory = op == PTX_OP_LD || op == PTX_OP_ST || op == PTX_OP_ATOM || op == PTX_OP_RED;
    return is_memory && space != PTX_W_CONST && space != PTX_W_LOCAL && space != PTX_W_PARAM;
}

static bool is_fence(const struct ptx_instruction *i)
{
    return i->form == PTX_FORM_MEMBAR_ANY || i->form == PTX_FORM_FENCE_ANY;
}

bool ref_is_barrier(const struct ptx_instruction *i)
{
    enum ptx_opcode op = ptx_forms[i->form].opcode;
    return op == PTX_OP_BARRIER || (op == PTX_OP_BAR && i->form != PTX_FORM_BAR_WARP);
}

bool ref_is_arrival(const struct ptx_instruction *i)
{
    return i->form == PTX_FORM_BAR_ARRIVE || i->form == PTX_FORM_BARRIER_ARRIVE;
}

static bool names(const struct ptx_operand *o, const struct ptx_operand *reg)
{
    for (; o; o = o->next) {
        bool is_register =
            o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space == PTX_W_REG;
        if (is_register && o->target.variable == reg->target.variable && o->index == reg->index)
            return true;
        if (names(o->items, reg))
            return true;
    }
    return false;
}

/* Whether both name some register. */
static bool share(const struct ptx_operand *o, const struct ptx_instruction *next)
{
    for (; o; o = o->next) {
        bool is_register =
            o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space == PTX_W_REG;
        if (is_register && (names(next->operands, o) || (next->guard && names(next->guard, o))))
            return true;
        if (share(o->items, next))
            return true;
    }
    return false;
}

bool ref_share_register(const struct ptx_instruction *a, const struct ptx_instruction *b)
{
    return share(a->operands, b) || share(a->guard, b);
}

/* MO.block: all registers of an instruction are blocked until its operations have ended; GR.regs: they are the
 * slot's. */
static bool is_blocked(const struct ref_device *r, uint32_t grid, uint32_t slot, uint32_t warp,
                       const struct ptx_instruction *next)
{
    for (uint32_t i = 0; i < r->flight_count; i++) {
        const struct ref_flight *o = &r->flights[i];
        if (o->grid == grid && o->slot == slot && o->warp == warp && !o->stale &&
            ref_share_register(o->instruction, next))
            return true;
    }
    return false;
}

bool ref_warp_may(const struct ref_device *r, uint32_t grid, uint32_t slot, uint32_t warp,
                  const struct ptx_instruction *next)
{
    const struct ref_launch *l = &r->grids[grid].layout;
    const struct ref_block *block = ref_block_in(r, grid, slot);
    uint32_t own = 0;
    if (!r->settings.inflight || r->settings.cached)
        return true;
    for (uint32_t i = 0; i < r->flight_count; i++) {
        bool is_own = is_of(&r->flights[i], grid, number_of(r, grid, block), warp);
        own += is_own;
        if (is_own &&
            r->flights[i].awaited) /* bar, l.2110-2118: its own fence, set as it arrives */
            return false;
    }
    if (!next)
        return true;
    if (is_fence(next) || (ref_is_barrier(next) && r->settings.fenced_barriers))
        return own == 0;
    if (accesses(next) &&
        (own + l->lanes > REF_OF_A_WARP || r->flight_count + l->lanes > REF_FLIGHTS))
        return false;
    return !is_blocked(r, grid, slot, warp, next);
}

/* ---- under way ---- */

/* MO.poloc: a warp's operations on one word keep their order, but, with loads_free, two loads. */
static bool comes_too_early(const struct ref_device *r, uint32_t grid, uint32_t block,
                            uint32_t warp, bool is_load, const struct ref_reach *x)
{
    for (uint32_t i = 0; i < r->flight_count; i++) {
        const struct ref_flight *o = &r->flights[i];
        bool both_load = is_load && ptx_forms[o->instruction->form].opcode == PTX_OP_LD;
        if (is_of(o, grid, block, warp) && o->is_shared == x->is_shared && o->word == x->word &&
            !(r->settings.loads_free && both_load))
            return true;
    }
    return false;
}

bool ref_get_under_way(struct ref_device *r, uint32_t grid, uint32_t slot, uint32_t warp,
                       const struct ptx_instruction *instruction, const struct ref_reach *reach,
                       uint32_t count)
{
    const struct ref_block *block = ref_block_in(r, grid, slot);
    uint32_t number = number_of(r, grid, block);
    bool is_load = ptx_forms[instruction->form].opcode == PTX_OP_LD;
    for (uint32_t i = 0; r->settings.in_order && i < count; i++)
        if (comes_too_early(r, grid, number, warp, is_load, &reach[i]))
            return false;
    for (uint32_t i = 0; i < r->flight_count; i++)
        if (ref_is_barrier(instruction) && !ref_is_arrival(instruction) &&
            is_of(&r->flights[i], grid, number, warp))
            r->flights[i].awaited = true;
    for (uint32_t i = 0; i < count; i++)
        r->flights[r->flight_count++] = (struct ref_flight){.grid = grid,
                                                            .block = number,
                                                            .slot = slot,
                                                            .warp = warp,
                                                            .lane = reach[i].lane,
                                                            .sm = block->sm,
                                                            .place = block->place,
                                                            .instruction = instruction,
                                                            .is_shared = reach[i].is_shared,
                                                            .word = reach[i].word,
                                                            .b = reach[i].b,
                                                            .c = reach[i].c};
    return true;
}

/* ERR.88, frozen: memory moves in a step of a context only. */
bool ref_memory_moves(const struct ref_device *r)
{
    bool any = !r->settings.frozen;
    for (uint32_t c = 0; c < HOST_CONTEXTS; c++)
        any |= r->alive[c];
    return any;
}

/* ---- lines ---- */

static struct ref_l1_line **line_of(struct ref_device *r, uint32_t sm, uint32_t word)
{
    struct ref_l1_line **at = &r->lines;
    while (*at && ((*at)->sm != sm || (*at)->word != word))
        at = &(*at)->next;
    return at;
}

bool ref_has_line(struct ref_device *r, uint32_t sm, uint32_t word)
{
    return *line_of(r, sm, word) != NULL;
}

void ref_drop(struct ref_device *r, uint32_t sm, uint32_t word)
{
    struct ref_l1_line **at = line_of(r, sm, word), *line = *at;
    if (!line)
        return;
    *at = line->next;
    line->next = r->free_lines;
    r->free_lines = line;
}

void ref_empty_lines(struct ref_device *r)
{
    while (r->lines)
        ref_drop(r, r->lines->sm, r->lines->word);
}

static int32_t read_through(struct ref_device *r, uint32_t sm, uint32_t word)
{
    struct ref_l1_line **at = line_of(r, sm, word);
    if (*at)
        return (*at)->value;
    struct ref_l1_line *line = r->free_lines;
    if (line)
        r->free_lines = line->next;
    else
        line = ARENA_NEW(r->arena, struct ref_l1_line);
    *line = (struct ref_l1_line){sm, word, r->memory[word], NULL};
    *at = line;
    return line->value;
}

/* ---- performed ---- */

static int32_t *place_of(struct ref_device *r, uint32_t sm, uint32_t place)
{
    return r->places + (size_t)(sm * r->settings.blocks + place) * REF_PLACE_WORDS;
}

/* Loads go through the L1 unless they are .cg, .cv, or strong. */
static bool through_l1(const struct ptx_instruction *i)
{
    enum ptx_word cache = (enum ptx_word)i->words[PTX_SLOT_CACHE];
    enum ptx_word strong = (enum ptx_word)i->words[PTX_SLOT_SEM];
    return ptx_forms[i->form].opcode == PTX_OP_LD && cache != PTX_W_CG && cache != PTX_W_CV &&
           (strong == PTX_W_NONE || strong == PTX_W_WEAK);
}

/* MEM.perform: a load reads the line of its SM, or makes one; what goes past the L1, and what writes, drops it. */
void ref_perform(struct ref_device *r, uint32_t number, int32_t *found)
{
    const struct ref_flight o = r->flights[number];
    const enum ptx_opcode op = ptx_forms[o.instruction->form].opcode;
    int32_t *word = o.is_shared ? place_of(r, o.sm, o.place) + o.word : r->memory + o.word;
    uint64_t after = o.b;
    r->flights[number] = r->flights[--r->flight_count];
    *found = !o.is_shared && through_l1(o.instruction) ? read_through(r, o.sm, o.word) : *word;
    if (!o.is_shared && !through_l1(o.instruction))
        ref_drop(r, o.sm, o.word);
    if ((op == PTX_OP_ATOM || op == PTX_OP_RED) &&
        !ref_atomic_value(o.instruction, (uint32_t)*word, o.b, o.c, &after))
        r->wrong = "an atomic operation that is none";
    if (op != PTX_OP_LD)
        *word = (int32_t)(uint32_t)after;
    ref_close(r);
}

/* ---- a block comes to its place ---- */

void ref_arrive(struct ref_device *r, const struct ref_grid *grid, const struct ref_block *block)
{
    int32_t *words = place_of(r, block->sm, block->place);
    if (!r->settings.inflight)
        return;
    for (uint32_t i = 0; r->settings.reset_flags && i < r->flight_count; i++) /* ERR.85 */
        if (&r->grids[r->flights[i].grid] == grid && r->flights[i].slot == block->slot)
            r->flights[i].stale = true;
    if (!r->settings.cached) /* there two blocks of one place share what both have (ERR.86) */
        memset(words, 0, (size_t)4 * REF_PLACE_WORDS);
    memcpy(words, grid->layout.shared, (size_t)4 * grid->layout.shared_words);
}
