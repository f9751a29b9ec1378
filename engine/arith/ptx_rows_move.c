/* Moves between registers, packing, conversion of addresses (PTX ISA 9.7.9). */
#include "engine/arith/ptx_rows_internal.h"
#include "engine/arith/ptx_windows.h"

/* ---- shared memory of the blocks of a cluster (ptx_windows.h) ---- */

/* The last source: the block's own rank. */
ROW3(mapa_32, row32, row32, row32, row32, ptx_cluster_address(x, y, z))
ROW3(mapa_64, row64, row64, row32, row32, ptx_cluster_address(x, y, z))
ROW2(rank_32, row32, row32, row32, ptx_cluster_rank_of(x, y))
ROW2(rank_64, row32, row64, row32, ptx_cluster_rank_of(x, y))

/* ---- a function's stack ---- */

/* size, base, taken: where the next piece lies, a multiple of `align`; an address that nothing has if the stack has no
 * more room. */
static inline uint64_t next_piece(uint64_t size, uint32_t base, uint32_t taken, uint32_t align)
{
    const uint64_t at = ((uint64_t)base + taken + align - 1) & ~(uint64_t)(align - 1);
    return size <= PTX_ROW_STACK && at + size <= (uint64_t)base + PTX_ROW_STACK ? at : UINT32_MAX;
}

#define STACK(bits)                                                                                \
    static void alloca_##bits(ROW_ARGUMENTS)                                                       \
    {                                                                                              \
        row##bits *d = results[0];                                                                 \
        row32 *top = results[1];                                                                   \
        const row##bits *size = sources[0];                                                        \
        const row32 *base = sources[1], *taken = sources[2];                                       \
        LANES (i) {                                                                                \
            const uint64_t at = next_piece(size[i], base[i], taken[i], immediate ? immediate : 8); \
            top[i] = at == UINT32_MAX ? taken[i] : (uint32_t)(at + size[i]) - base[i];             \
            d[i] = (row##bits)at;                                                                  \
        }                                                                                          \
    }                                                                                              \
    ROW2(stacksave_##bits, row##bits, row32, row32, x + y)                                         \
    ROW2(stackrestore_##bits, row32, row##bits, row32, x - y)
STACK(32)
STACK(64)

static ptx_row_fn *find_stack(enum ptx_opcode opcode, bool is_64)
{
    return opcode == PTX_OP_ALLOCA      ? (is_64 ? alloca_64 : alloca_32)
           : opcode == PTX_OP_STACKSAVE ? (is_64 ? stacksave_64 : stacksave_32)
                                        : (is_64 ? stackrestore_64 : stackrestore_32);
}

/* ---- mov ---- */

ROW1(mov_pred, row32, row32, x != 0)
ROW1(mov_16, row32, row32, (uint16_t)x)
ROW1(mov_32, row32, row32, x)
ROW1(mov_64, row64, row64, x)

/* {a, b}, {a, b, c, d}: of `immediate` bits each, the first lowest. */
static void pack(ROW_ARGUMENTS, uint32_t count, bool is_64)
{
    const uint32_t mask = immediate == 32 ? UINT32_MAX : (1u << immediate) - 1;
    row32 *d32 = results[0];
    row64 *d64 = results[0];
    LANES (i) {
        uint64_t all = 0;
        for (uint32_t k = 0; k < count; k++)
            all |= (uint64_t)(((const row32 *)sources[k])[i] & mask) << k * immediate;
        if (is_64)
            d64[i] = all;
        else
            d32[i] = (uint32_t)all;
    }
}

static void unpack(ROW_ARGUMENTS, uint32_t count, bool is_64)
{
    const uint32_t mask = immediate == 32 ? UINT32_MAX : (1u << immediate) - 1;
    const row32 *x32 = sources[0];
    const row64 *x64 = sources[0];
    LANES (i) {
        uint64_t all = is_64 ? x64[i] : x32[i];
        for (uint32_t k = 0; k < count; k++)
            ((row32 *)results[k])[i] = (uint32_t)(all >> k * immediate) & mask;
    }
}

#define PARTS(name, fn, count, is_64)                                                              \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        fn(lanes, results, sources, immediate, count, is_64);                                      \
    }
PARTS(pack_2_32, pack, 2, false)
PARTS(pack_4_32, pack, 4, false)
PARTS(pack_4_64, pack, 4, true)
PARTS(unpack_2_32, unpack, 2, false)
PARTS(unpack_4_32, unpack, 4, false)
PARTS(unpack_4_64, unpack, 4, true)

/* 64 bits and their halves, which is what compilers write. */
ROW2(join_halves, row64, row32, row32, (uint64_t)y << 32 | x)

static void split_halves(ROW_ARGUMENTS)
{
    row32 *low = results[0], *high = results[1];
    const row64 *x = sources[0];
    (void)immediate;
    VECTORISE
    LANES (i) {
        const uint64_t all = x[i];
        low[i] = (uint32_t)all;
        high[i] = (uint32_t)(all >> 32);
    }
}

/* 128 bits: both halves, as they are. */
static void mov_128(ROW_ARGUMENTS)
{
    row64 *low = results[0], *high = results[1];
    const row64 *x = sources[0], *y = sources[1];
    (void)immediate;
    LANES (i) {
        const uint64_t below = x[i], above = y[i];
        low[i] = below;
        high[i] = above;
    }
}

static uint32_t count_parts(const struct ptx_operand *operand)
{
    uint32_t count = 0;
    if (operand->kind == PTX_OPERAND_VECTOR)
        for (const struct ptx_operand *o = operand->items; o; o = o->next)
            count++;
    return count;
}

static ptx_row_fn *find_mov(const struct ptx_instruction *instruction, uint32_t *immediate,
                            const char **reason)
{
    static ptx_row_fn *const packs[2][2] = {{pack_2_32, pack_4_32}, {NULL, pack_4_64}};
    static ptx_row_fn *const unpacks[2][2] = {{unpack_2_32, unpack_4_32}, {NULL, unpack_4_64}};
    enum ptx_word word = (enum ptx_word)instruction->words[PTX_SLOT_TYPE];
    struct ptx_type type = ptx_type_of(word);
    uint32_t to = count_parts(instruction->operands);
    uint32_t from = count_parts(instruction->operands->next);
    if ((to && from) || (type.bits == 128 && to + from == 4)) {
        *reason = to && from ? "mov of a vector to a vector" : "mov.b128 of four parts";
        return NULL;
    }
    if (type.bits == 128)
        return mov_128;
    if (type.bits == 64 && to + from == 2)
        return to ? split_halves : join_halves;
    if (to || from) {
        *immediate = type.bits / (to + from);
        return (to ? unpacks : packs)[type.bits == 64][to + from == 4];
    }
    return word == PTX_W_PRED ? mov_pred
           : type.bits == 16  ? mov_16
           : type.bits == 32  ? mov_32
                              : mov_64;
}

/* ---- generic addresses ---- */

/* The immediate is the window. */
ROW1(move_up_32, row32, row32, x + (uint32_t)ptx_window_base((enum ptx_window)immediate, false))
ROW1(move_up_64, row64, row64, x + ptx_window_base((enum ptx_window)immediate, true))
ROW1(move_down_32, row32, row32, x - (uint32_t)ptx_window_base((enum ptx_window)immediate, false))
ROW1(move_down_64, row64, row64, x - ptx_window_base((enum ptx_window)immediate, true))

/* Constants and the parameters of an entry share one window. */
static enum ptx_window window_of(enum ptx_word space)
{
    switch ((int)space) {
    case PTX_W_SHARED:
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return PTX_WINDOW_SHARED;
    case PTX_W_LOCAL:
        return PTX_WINDOW_LOCAL;
    case PTX_W_CONST:
    case PTX_W_PARAM:
    case PTX_W_PARAM_ENTRY:
        return PTX_WINDOW_CONST;
    default:
        return PTX_WINDOW_GLOBAL;
    }
}

/* PTX_ROW_OWN: of a cluster's blocks only the own one. */
static uint32_t is_in(uint64_t address, uint32_t window)
{
    bool is_far;
    if (window & PTX_ROW_OWN && ptx_cluster_rank_of(address, 0xff) != 0xff)
        return false;
    return address >= PTX_GLOBAL_BASE &&
           ptx_window_of(address, &is_far) == (window & ~(uint32_t)PTX_ROW_OWN);
}

ROW1(isspacep_32, row32, row32, is_in(x, immediate))
ROW1(isspacep_64, row32, row64, is_in(x, immediate))

ROW_FINDER(move)
{
    bool is_64 = instruction->words[PTX_SLOT_TYPE] == PTX_W_U64;
    uint32_t window = window_of((enum ptx_word)instruction->words[PTX_SLOT_SPACE]);
    switch ((int)instruction->form) {
    case PTX_FORM_MOV_ANY:
        return find_mov(instruction, immediate, reason);
    case PTX_FORM_CVTA_FROM:
    case PTX_FORM_CVTA_CLUSTER:
        *immediate = window;
        return is_64 ? move_up_64 : move_up_32;
    case PTX_FORM_CVTA_TO:
    case PTX_FORM_CVTA_TO_CLUSTER:
        *immediate = window;
        return is_64 ? move_down_64 : move_down_32;
    case PTX_FORM_ISSPACEP_ANY:
    case PTX_FORM_ISSPACEP_CLUSTER:
        *immediate = window;
        return ptx_row_bits_of(instruction->operands->next, 64) == 64 ? isspacep_64 : isspacep_32;
    case PTX_FORM_MAPA_ANY:
        return is_64 ? mapa_64 : mapa_32;
    case PTX_FORM_GETCTARANK_ANY:
        return ptx_row_bits_of(instruction->operands->next, 64) == 64 ? rank_64 : rank_32;
    case PTX_FORM_ALLOCA_ANY:
    case PTX_FORM_STACKSAVE_ANY:
    case PTX_FORM_STACKRESTORE_ANY:
        return find_stack(ptx_forms[instruction->form].opcode, is_64);
    default:
        return NULL;
    }
}
