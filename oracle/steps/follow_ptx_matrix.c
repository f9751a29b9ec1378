/*
 * follow_ptx_matrix.c - matrices in the registers of a warp (engine/reference_ptx/ref_matrix.c): what the lanes'
 * registers and memory become, and which accesses are heard.
 */
#include "oracle/steps/follow_ptx.h"

#include <stdio.h>

enum { LINE = 16 /* bytes of eight halves; of a piece that a lane accesses */, WORD = 4 };

/* Where the registers of a part lie in the program as it was laid out. */
static const struct ptx_place *place_of(const struct follow_step *s, enum ref_matrix_part part,
                                        uint32_t r)
{
    static const enum ptx_matrix_part parts[] = {[REF_MATRIX_A] = PTX_MATRIX_A,
                                                 [REF_MATRIX_B] = PTX_MATRIX_B,
                                                 [REF_MATRIX_C] = PTX_MATRIX_C,
                                                 [REF_MATRIX_D] = PTX_MATRIX_D};
    return &s->op->matrix->place[parts[part]][r];
}

static uint64_t read_register(const struct follow_seat *seat, enum ref_matrix_part part, uint32_t r)
{
    const struct follow_step *s = seat->s;
    return ptx_source(s->f->machine, s->g->registers, place_of(s, part, r), seat->lane);
}

static void set_register(const struct follow_seat *seat, uint32_t r, uint64_t value)
{
    follow_ptx_set(seat->s, seat->s->g->registers, place_of(seat->s, REF_MATRIX_D, r), seat->lane,
                   value);
}

static const struct ptx_instruction *instruction_of(const struct follow_seat *seats)
{
    return &seats[0].s->op->statement->u.instruction;
}

/* ---- products ---- */

static enum rule product(const struct follow_seat *seats)
{
    struct follower *f = seats[0].s->f;
    struct ref_product x;
    ref_product_begin(&x, instruction_of(seats));
    for (int part = REF_MATRIX_A; part < REF_MATRIX_D; part++)
        for (uint32_t l = 0; l < REF_MATRIX_LANES; l++)
            for (uint32_t r = 0; r < x.sizes[part].registers; r++)
                ref_product_give(&x, (enum ref_matrix_part)part, l, r,
                                 read_register(&seats[l], (enum ref_matrix_part)part, r));
    for (uint32_t l = 0; l < REF_MATRIX_LANES; l++)
        for (uint32_t r = 0; r < x.sizes[REF_MATRIX_D].registers; r++) {
            const struct ptx_place *place = place_of(seats[l].s, REF_MATRIX_D, r);
            uint64_t got = ptx_source(f->machine, seats[l].s->after, place, seats[l].lane), about;
            if (f->state == FOLLOW_ALONG && place->kind == PTX_PLACE_REGISTER &&
                !ref_product_may(&x, l, r, got, &about))
                follow_part_numbers(f, "product of matrices", (int64_t)got, (int64_t)about);
            set_register(&seats[l], r, got);
        }
    return RULE_MATRIX_MMA;
}

/* ---- matrices of 8 x 8 halves ---- */

static bool is_transposed(const struct follow_seat *seats)
{
    return instruction_of(seats)->words[PTX_SLOT_MODE] == PTX_W_TRANS;
}

static enum rule move(const struct follow_seat *seats)
{
    uint64_t m[8][8];
    for (uint32_t l = 0; l < REF_MATRIX_LANES; l++)
        for (uint32_t k = 0; k < 2; k++) {
            struct ref_matrix_at at = ref_matrix_half(l, k, false);
            m[at.row][at.column] = read_register(&seats[l], REF_MATRIX_A, 0) >> 16 * k & 0xffff;
        }
    for (uint32_t l = 0; l < REF_MATRIX_LANES; l++) {
        struct ref_matrix_at low = ref_matrix_half(l, 0, true), high = ref_matrix_half(l, 1, true);
        set_register(&seats[l], 0, m[low.row][low.column] | m[high.row][high.column] << 16);
    }
    return RULE_MATRIX_MOVE;
}

/* The rows that lanes name: in shared memory, at multiples of 16 bytes. False: the execution ends. */
static bool find_rows(const struct follow_seat *seats, uint32_t count, bool writes, uint32_t byte[])
{
    for (uint32_t l = 0; l < count; l++) {
        struct follow_step *s = seats[l].s;
        struct follow_place p = follow_ptx_place(s, seats[l].lane, 0, LINE, LINE, writes);
        if (!p.exists || p.space != FOLLOW_SHARED) {
            follow_ptx_fault(s, p.exists ? STATUS_STUCK : STATUS_OUT_OF_BOUNDS, seats[l].lane);
            return false;
        }
        byte[l] = p.byte;
    }
    return true;
}

/* A lane reads or writes so many bytes, word by word. */
static void hear(const struct follow_seat *seat, uint32_t *at, bool writes, uint32_t byte,
                 uint32_t bytes)
{
    struct follow_step *s = seat->s;
    for (uint32_t i = 0; i < bytes; i += WORD)
        follow_ptx_check_heard(s, at, writes ? REF_WRITE : REF_READ, seat->lane, byte + i, WORD,
                               follow_ptx_bytes(s->x->memory, byte + i, WORD));
}

static uint32_t matrices_of(const struct follow_seat *seats)
{
    unsigned count = 1;
    sscanf(ptx_words[instruction_of(seats)->words[PTX_SLOT_VECTOR]], "x%u", &count);
    return count;
}

static enum rule ldmatrix(const struct follow_seat *seats)
{
    const int32_t *memory = seats[0].s->x->memory;
    uint32_t byte[REF_MATRIX_LANES], at = seats[0].s->f->heard_at, count = matrices_of(seats);
    if (!find_rows(seats, 8 * count, false, byte))
        return RULE_MATRIX_LDMATRIX;
    for (uint32_t l = 0; l < 8 * count; l++) {
        if (follow_ptx_meets_copy_at(seats[l].s, seats[l].lane, byte[l], LINE, false))
            return RULE_MATRIX_LDMATRIX;
        hear(&seats[l], &at, false, byte[l], LINE);
    }
    for (uint32_t l = 0; l < REF_MATRIX_LANES; l++)
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = 0;
            for (uint32_t k = 0; k < 2; k++) {
                struct ref_matrix_at half = ref_matrix_half(l, k, is_transposed(seats));
                value += follow_ptx_bytes(memory, byte[8 * i + half.row] + 2 * half.column, 2)
                         << 16 * k;
            }
            set_register(&seats[l], i, value);
        }
    follow_ptx_check_all_heard(seats[0].s, at);
    return RULE_MATRIX_LDMATRIX;
}

/* Row by row: where two lie over each other the later one stays. */
static enum rule stmatrix(const struct follow_seat *seats)
{
    struct follow_step *s = seats[0].s;
    uint32_t byte[REF_MATRIX_LANES], at = s->f->heard_at, count = matrices_of(seats);
    uint64_t m[REF_MATRIX_LANES][8];
    if (!find_rows(seats, 8 * count, true, byte))
        return RULE_MATRIX_STMATRIX;
    for (uint32_t l = 0; l < REF_MATRIX_LANES; l++)
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < 2; k++) {
                struct ref_matrix_at half = ref_matrix_half(l, k, is_transposed(seats));
                m[8 * i + half.row][half.column] =
                    read_register(&seats[l], REF_MATRIX_D, i) >> 16 * k & 0xffff;
            }
    for (uint32_t l = 0; l < 8 * count; l++) {
        if (follow_ptx_meets_copy_at(seats[l].s, seats[l].lane, byte[l], LINE, true))
            return RULE_MATRIX_STMATRIX;
        for (uint32_t i = 0; i < 8; i++)
            follow_ptx_put_bytes(s->x->memory, byte[l] + 2 * i, 2, m[l][i]);
        hear(&seats[l], &at, true, byte[l], LINE);
    }
    follow_ptx_check_all_heard(s, at);
    return RULE_MATRIX_STMATRIX;
}

/* ---- wmma.load, wmma.store ---- */

/* The matrix in memory: where each line - row or column - begins, how many, how long in bytes. */
struct lines {
    bool by_columns, writes;
    uint32_t count, bytes, size; /* size: of an element */
    uint32_t byte[REF_MATRIX_LANES];
};

static bool differ(const struct follow_seat *seats, uint32_t l, uint32_t source)
{
    return follow_ptx_source(seats[l].s, source, seats[l].lane) !=
           follow_ptx_source(seats[0].s, source, seats[0].lane);
}

/* All lanes give one address, and one stride that is not less than a line. False: the execution ends. */
static bool agree(const struct follow_seat *seats, uint32_t length, uint32_t stride)
{
    uint32_t lane = 0;
    bool wrong = stride < length;
    for (uint32_t source = 0; source < 2; source++)
        for (uint32_t l = 1; l < REF_MATRIX_LANES && !wrong; l++)
            if (differ(seats, l, source)) {
                wrong = true;
                lane = l;
            }
    if (wrong)
        follow_ptx_fault(seats[lane].s, STATUS_STUCK, seats[lane].lane);
    return !wrong;
}

static bool find_lines(const struct follow_seat *seats, struct lines *x)
{
    struct follow_step *s = seats[0].s;
    struct ref_matrix_sizes sizes = ref_matrix_sizes(instruction_of(seats), REF_MATRIX_D);
    uint32_t fragment = sizes.registers * (sizes.bits == 64 ? 8 : 4);
    uint32_t length = x->by_columns ? sizes.rows : sizes.columns,
             align = fragment < LINE ? fragment : LINE;
    const enum ptx_word type = (enum ptx_word)instruction_of(seats)->words[PTX_SLOT_TYPE];
    const uint32_t in_word = type == PTX_W_B1 ? 32 : ptx_type_of(type).bits < 8 ? 8 : 1;
    uint32_t stride =
        s->op->has_count ? (uint32_t)follow_ptx_source(s, 1, seats[0].lane) : length * in_word;
    x->count = x->by_columns ? sizes.columns : sizes.rows;
    x->size = sizes.bits / 8;
    x->bytes = length * x->size;
    if (!agree(seats, length * in_word, stride))
        return false;
    for (uint32_t i = 0; i < x->count; i++) {
        struct follow_place p = follow_ptx_place(
            s, seats[0].lane, (uint64_t)i * stride * x->size / in_word, x->bytes, align, x->writes);
        if (!p.exists || !follow_ptx_is_seen(&p)) {
            follow_ptx_fault(s, p.exists ? STATUS_STUCK : STATUS_OUT_OF_BOUNDS, seats[0].lane);
            return false;
        }
        x->byte[i] = p.byte;
    }
    return true;
}

static uint32_t byte_of(const struct lines *x, struct ref_matrix_at at)
{
    return x->by_columns ? x->byte[at.column] + at.row * x->size
                         : x->byte[at.row] + at.column * x->size;
}

/* Pieces of 16 bytes, or whole lines that are shorter, by one lane after another. */
static void hear_lines(const struct follow_seat *seats, const struct lines *x)
{
    uint32_t at = seats[0].s->f->heard_at, piece = x->bytes < LINE ? x->bytes : LINE, turn = 0;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < x->bytes; k += piece, turn++)
            hear(&seats[turn % REF_MATRIX_LANES], &at, x->writes, x->byte[i] + k, piece);
    follow_ptx_check_all_heard(seats[0].s, at);
}

static enum rule move_lines(const struct follow_seat *seats, bool writes)
{
    const struct ptx_instruction *instruction = instruction_of(seats);
    int32_t *memory = seats[0].s->x->memory;
    struct ref_matrix_sizes sizes = ref_matrix_sizes(instruction, REF_MATRIX_D);
    struct lines x = {.by_columns = instruction->words[PTX_SLOT_LAYOUT] == PTX_W_COL,
                      .writes = writes};
    if (!find_lines(seats, &x))
        return writes ? RULE_MATRIX_STORE : RULE_MATRIX_LOAD;
    for (uint32_t l = 0; l < REF_MATRIX_LANES; l++)
        for (uint32_t r = 0; r < sizes.registers; r++) {
            uint64_t value = writes ? read_register(&seats[l], REF_MATRIX_D, r) : 0;
            for (uint32_t e = 0; e < sizes.each; e++) {
                uint32_t byte =
                    byte_of(&x, ref_matrix_at(instruction, &sizes, l, r * sizes.each + e));
                if (writes)
                    follow_ptx_put_bytes(memory, byte, x.size, value >> sizes.bits * e);
                else
                    value |= follow_ptx_bytes(memory, byte, x.size) << sizes.bits * e;
            }
            if (!writes)
                set_register(&seats[l], r, value);
        }
    hear_lines(seats, &x);
    return writes ? RULE_MATRIX_STORE : RULE_MATRIX_LOAD;
}

/* ---- all ---- */

enum rule follow_ptx_matrix_of(const struct follow_seat seats[PTX_MATRIX_LANES])
{
    const struct ptx_instruction *instruction = instruction_of(seats);
    switch ((int)ptx_forms[instruction->form].opcode) {
    case PTX_OP_LDMATRIX:
        return ldmatrix(seats);
    case PTX_OP_STMATRIX:
        return stmatrix(seats);
    case PTX_OP_MOVMATRIX:
        return move(seats);
    default:
        break;
    }
    switch ((int)instruction->words[PTX_SLOT_PART]) {
    case PTX_W_NONE:
        return product(seats);
    case PTX_W_D:
        return move_lines(seats, true);
    default:
        return move_lines(seats, false);
    }
}

/* "The behavior is undefined if all threads do not .. or if any thread in the warp has exited." */
enum rule follow_ptx_matrix(struct follow_step *s)
{
    static const enum rule halves[] = {RULE_MATRIX_LDMATRIX, RULE_MATRIX_STMATRIX,
                                       RULE_MATRIX_MOVE};
    const struct ptx_instruction *instruction = &s->op->statement->u.instruction;
    enum ptx_opcode opcode = ptx_forms[instruction->form].opcode;
    enum ptx_word part = (enum ptx_word)instruction->words[PTX_SLOT_PART];
    struct follow_seat seats[PTX_MATRIX_LANES];
    uint32_t there = 0, first = 0;
    for (uint32_t l = s->g->registers->count; l > 0; l--)
        if (s->executes[l - 1]) {
            there++;
            first = l - 1;
        }
    for (uint32_t l = 0; l < PTX_MATRIX_LANES; l++)
        seats[l] = (struct follow_seat){s, l};
    if (there == PTX_MATRIX_LANES)
        return follow_ptx_matrix_of(seats);
    follow_ptx_fault(s, STATUS_STUCK, first);
    if (opcode != PTX_OP_MMA && opcode != PTX_OP_WMMA)
        return halves[opcode - PTX_OP_LDMATRIX];
    return part == PTX_W_NONE ? RULE_MATRIX_MMA
           : part == PTX_W_D  ? RULE_MATRIX_STORE
                              : RULE_MATRIX_LOAD;
}
