/*
 * ref_lanes.c - what lanes of a warp tell each other: vote (cuda-crs 5.4.2), shfl, match, redux, activemask,
 * bar.warp.sync (PTX ISA 9.7); and what atomics leave behind.
 *
 * Only lanes that execute the instruction take part. A mask names lanes by bit; in warps of more than 32 lanes bit i
 * names the lanes i and i + 32.
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <math.h>

static enum ptx_word word(const struct ptx_instruction *instruction, enum ptx_slot slot)
{
    return (enum ptx_word)instruction->words[slot];
}

/* ---- who takes part ---- */

static bool names(const struct ref_lane_rows *x, uint64_t mask, uint32_t lane)
{
    uint32_t number = x->first + lane, bit = number % 32;
    return (number < 32 || x->width > 32) && (mask >> bit & 1) == 1;
}

/* Whether lane `other` takes part with lane `lane`: both execute, and the mask, if there is one, names it. */
static bool with(const struct ref_lane_rows *x, uint32_t lane, uint32_t other)
{
    return x->lane[other].executes && (!x->has_mask || names(x, x->lane[lane].mask, other));
}

static bool same_partners(const struct ref_lane_rows *x, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (with(x, a, i) != with(x, b, i))
            return false;
    return true;
}

/* A lane names itself, and nobody who has not exited and is elsewhere. */
static const char *wrong_mask(const struct ref_lane_rows *x, uint32_t lane)
{
    if (!names(x, x->lane[lane].mask, lane))
        return "a lane is not in the mask of lanes that it names";
    for (uint32_t i = 0; i < x->count; i++)
        if (names(x, x->lane[lane].mask, i) && !x->lane[i].executes && !x->lane[i].exited)
            return "the mask names lanes that do not execute the instruction";
    return NULL;
}

/* First what a lane names, then whether lanes that name each other agree. */
static void check_masks(struct ref_lane_rows *x)
{
    for (uint32_t i = 0; i < x->count && !x->stuck; i++)
        if (x->lane[i].executes && (x->stuck = wrong_mask(x, i)) != NULL)
            x->stuck_lane = i;
    for (uint32_t i = 0; i < x->count && !x->stuck; i++)
        for (uint32_t k = 0; k < x->count && x->lane[i].executes && !x->stuck; k++)
            if (with(x, i, k) && !same_partners(x, i, k)) {
                x->stuck = "lanes that name each other have different masks";
                x->stuck_lane = i;
            }
}

/* The bits of some lanes, as registers have them: of lanes 0 to 31. */
static uint64_t bit_of(const struct ref_lane_rows *x, uint32_t lane)
{
    uint32_t number = x->first + lane;
    return number < 32 ? (uint64_t)1 << number : 0;
}

/* ---- vote, activemask ---- */

static void vote(struct ref_lane_rows *x, uint32_t lane)
{
    struct ref_lane_row *row = &x->lane[lane];
    uint64_t ballot = 0;
    bool all = true, any = false;
    for (uint32_t i = 0; i < x->count; i++) {
        if (!with(x, lane, i))
            continue;
        all = all && x->lane[i].a;
        any = any || x->lane[i].a;
        ballot += x->lane[i].a ? bit_of(x, i) : 0;
    }
    switch ((int)word(x->instruction, PTX_SLOT_MODE)) {
    case PTX_W_ALL:
        row->d = all;
        return;
    case PTX_W_ANY:
        row->d = any;
        return;
    case PTX_W_UNI:
        row->d = all || !any;
        return;
    default:
        row->d = ballot;
    }
}

static void activemask(struct ref_lane_rows *x, uint32_t lane)
{
    x->lane[lane].d = 0;
    for (uint32_t i = 0; i < x->count; i++)
        x->lane[lane].d += x->lane[i].executes ? bit_of(x, i) : 0;
}

/* ---- shfl: the pseudo-code of PTX ISA 9.7.9.6, within the 32 lanes around the lane ---- */

static void shfl(struct ref_lane_rows *x, uint32_t at)
{
    struct ref_lane_row *row = &x->lane[at];
    int32_t lane = (int32_t)((x->first + at) % 32), bval = (int32_t)(row->b % 32);
    uint32_t cval = row->c % 32, segment = row->c / 256 % 32, number = (uint32_t)lane;
    int32_t max_lane = (int32_t)((number & segment) | (cval & (31 - segment)));
    int32_t min_lane = (int32_t)(number & segment), source = lane;
    bool in_range = false;
    switch ((int)word(x->instruction, PTX_SLOT_MODE)) {
    case PTX_W_UP:
        source = lane - bval;
        in_range = source >= max_lane;
        break;
    case PTX_W_DOWN:
        source = lane + bval;
        in_range = source <= max_lane;
        break;
    case PTX_W_BFLY:
        source = (int32_t)(number ^ (uint32_t)bval);
        in_range = source <= max_lane;
        break;
    default:
        source = (int32_t)((uint32_t)min_lane | ((uint32_t)bval & (31 - segment)));
        in_range = source <= max_lane;
    }
    if (!in_range)
        source = lane;
    /* Who does not take part gives an undefined value in PTX; here the lane keeps its own. */
    int64_t from = (int64_t)at - lane + source;
    bool takes_part = from >= 0 && from < (int64_t)x->count && with(x, at, (uint32_t)from);
    row->d = x->lane[takes_part ? (uint32_t)from : at].a;
    row->p = in_range;
}

/* ---- match, redux ---- */

static void match(struct ref_lane_rows *x, uint32_t lane)
{
    struct ref_lane_row *row = &x->lane[lane];
    bool all = true;
    row->d = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        if (!with(x, lane, i))
            continue;
        if (x->lane[i].a == row->a)
            row->d += bit_of(x, i);
        else
            all = false;
    }
    if (word(x->instruction, PTX_SLOT_MODE) == PTX_W_ALL && !all)
        row->d = 0;
    row->p = all;
}

static int64_t number_of(const struct ref_lane_rows *x, uint64_t a)
{
    struct ptx_type type = ptx_type_of(word(x->instruction, PTX_SLOT_TYPE));
    int64_t value = (int64_t)(a & ref_ones(32));
    return type.is_signed && value >= (int64_t)1 << 31 ? value - ((int64_t)1 << 32) : value;
}

static int64_t reduced(enum ptx_word op, int64_t a, int64_t b)
{
    switch ((int)op) {
    case PTX_W_ADD:
        return a + b;
    case PTX_W_MIN:
        return a < b ? a : b;
    case PTX_W_MAX:
        return a > b ? a : b;
    case PTX_W_AND:
        return a & b;
    case PTX_W_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* Of .f32: NaNs are left out unless .NaN asks about them; of none but NaNs the result is one. */
static uint64_t redux_of_floats(const struct ref_lane_rows *x, uint32_t lane)
{
    const bool any_nan = word(x->instruction, PTX_SLOT_NAN) != PTX_W_NONE;
    const bool sizes = word(x->instruction, PTX_SLOT_MODE) == PTX_W_ABS;
    const uint64_t nan = ref_ones(31);
    uint64_t found = nan;
    for (uint32_t i = 0; i < x->count; i++) {
        if (!with(x, lane, i))
            continue;
        const uint64_t one = x->lane[i].a & (sizes ? ref_ones(31) : ref_ones(32));
        if (any_nan && (one & ref_ones(31)) > 0x7f800000)
            return nan;
        found =
            ref_least(found, one, PTX_W_F32, word(x->instruction, PTX_SLOT_OP) == PTX_W_MIN, false);
    }
    return found;
}

static void redux(struct ref_lane_rows *x, uint32_t lane)
{
    if (word(x->instruction, PTX_SLOT_TYPE) == PTX_W_F32) {
        x->lane[lane].d = redux_of_floats(x, lane);
        return;
    }
    bool first = true;
    int64_t value = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        if (!with(x, lane, i))
            continue;
        int64_t one = number_of(x, x->lane[i].a);
        value = first ? one : reduced(word(x->instruction, PTX_SLOT_OP), value, one);
        first = false;
    }
    x->lane[lane].d = (uint64_t)value & ref_ones(32);
}

/* The same lane for all that name it: the first of them. */
static void elect(struct ref_lane_rows *x, uint32_t lane)
{
    uint32_t leader = 0;
    while (!with(x, lane, leader))
        leader++;
    x->lane[lane].d = x->first + leader;
    x->lane[lane].p = lane == leader;
}

void ref_lanes_together(struct ref_lane_rows *x)
{
    enum ptx_opcode opcode = ptx_forms[x->instruction->form].opcode;
    if (x->has_mask)
        check_masks(x);
    for (uint32_t lane = 0; lane < x->count && !x->stuck; lane++) {
        if (!x->lane[lane].executes)
            continue;
        if (opcode == PTX_OP_VOTE)
            vote(x, lane);
        else if (opcode == PTX_OP_ACTIVEMASK)
            activemask(x, lane);
        else if (opcode == PTX_OP_SHFL)
            shfl(x, lane);
        else if (opcode == PTX_OP_MATCH)
            match(x, lane);
        else if (opcode == PTX_OP_REDUX)
            redux(x, lane);
        else if (opcode == PTX_OP_ELECT)
            elect(x, lane);
    }
}

/* ---- loads, atomics ---- */

uint64_t ref_loaded(const struct ptx_instruction *instruction, uint64_t value, uint32_t bytes,
                    uint32_t width)
{
    struct ptx_type type = ptx_type_of(word(instruction, PTX_SLOT_TYPE));
    uint32_t bits = 8 * bytes;
    value &= ref_ones(bits);
    if (type.kind == PTX_CLASS_INT && type.is_signed && bits < 64 && (value >> (bits - 1) & 1))
        value |= ref_ones(64) & ~ref_ones(bits);
    return value & ref_ones(width);
}

static int64_t as_number(uint64_t value, struct ptx_type type)
{
    bool negative = type.is_signed && type.bits < 64 && (value >> (type.bits - 1) & 1);
    return (int64_t)(negative ? value | ~ref_ones(type.bits) : value);
}

static bool is_less(uint64_t a, uint64_t b, struct ptx_type type)
{
    return type.is_signed ? as_number(a, type) < as_number(b, type) : a < b;
}

/* To the nearest, whatever the machine's mode is: a sum of two numbers, as long double has it, is exact, or rounded
 * once more by the format's own rule. Floats: exact. Doubles: by the machine. */
static uint64_t sum_of(uint64_t a, uint64_t b, enum ptx_word type)
{
    if (type == PTX_W_F64) {
        volatile double x = (double)ref_float_value(a, type), y = (double)ref_float_value(b, type);
        volatile double sum = x + y;
        return ref_float_bits((long double)sum, type, ref_fe_rounding(PTX_W_RN));
    }
    volatile float x = (float)ref_float_value(a, type), y = (float)ref_float_value(b, type);
    volatile float sum = x + y;
    return ref_float_bits((long double)sum, type, ref_fe_rounding(PTX_W_RN));
}

static uint64_t after(enum ptx_word op, enum ptx_word type_word, uint64_t old, uint64_t b,
                      uint64_t c)
{
    struct ptx_type type = ptx_type_of(type_word);
    switch ((int)op) {
    case PTX_W_ADD:
        if (type.kind == PTX_CLASS_FLOAT && type_word != PTX_W_F32 && type_word != PTX_W_F64)
            return ref_half_sum(old, b, type_word);
        return type.kind == PTX_CLASS_FLOAT ? sum_of(old, b, type_word) : old + b;
    case PTX_W_AND:
        return old & b;
    case PTX_W_OR:
        return old | b;
    case PTX_W_XOR:
        return old ^ b;
    case PTX_W_EXCH:
        return b;
    case PTX_W_CAS:
        return old == b ? c : old;
    case PTX_W_INC:
        return old >= b ? 0 : old + 1;
    case PTX_W_DEC:
        return old == 0 || old > b ? b : old - 1;
    case PTX_W_MIN:
        if (type.kind == PTX_CLASS_FLOAT)
            return ref_half_extreme(old, b, type_word, false);
        return is_less(old, b, type) ? old : b;
    default:
        if (type.kind == PTX_CLASS_FLOAT)
            return ref_half_extreme(old, b, type_word, true);
        return is_less(old, b, type) ? b : old;
    }
}

bool ref_atomic_value(const struct ptx_instruction *instruction, uint64_t old, uint64_t b,
                      uint64_t c, uint64_t *value)
{
    static const enum ptx_word known[] = {PTX_W_ADD, PTX_W_AND, PTX_W_OR,  PTX_W_XOR, PTX_W_EXCH,
                                          PTX_W_CAS, PTX_W_INC, PTX_W_DEC, PTX_W_MIN, PTX_W_MAX};
    enum ptx_word op = word(instruction, PTX_SLOT_OP), type = word(instruction, PTX_SLOT_TYPE);
    uint64_t mask = ref_ones(ptx_type_of(type).bits);
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == op) {
            *value = after(op, type, old & mask, b & mask, c & mask) & mask;
            return true;
        }
    return false;
}
