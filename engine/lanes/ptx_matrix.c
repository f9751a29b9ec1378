/*
 * ptx_matrix.c - matrices in the registers of a warp: mma, wmma, ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.14). All 32
 * lanes of a warp execute one together; where an element lies, and what a product is, is said in
 * engine/arith/ptx_product.h.
 *
 * ldmatrix and stmatrix: the row that a lane's address names is an access of that lane. wmma.load and wmma.store: the
 * ISA leaves open which lane accesses what; here the lanes take turns with pieces of 16 bytes, row after row.
 */
#include "engine/lanes/ptx_exec_internal.h"

#include "engine/arith/ptx_product.h"

enum { LINE = 16 /* bytes of a row of 8 halves */, HALVES = 8 };

struct matrix_step {
    struct machine *m;
    const struct ptx_op *op;
    uint32_t pc;
    const struct ptx_seat *seats;
    const struct ptx_matrix_form *form;
};

/* ---- fragments ---- */

static uint64_t *element_of(const struct matrix_step *x, enum ptx_matrix_part part, uint32_t lane,
                            uint32_t r, uint32_t e, uint64_t *matrix)
{
    struct ptx_matrix_place at = ptx_matrix_place(x->form, part, lane, r, e);
    return &matrix[at.row * x->form->part[part].columns + at.column];
}

static uint64_t low(uint64_t value, uint32_t bits)
{
    return bits == 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

/* The matrix that the lanes' registers hold, row after row. */
static void gather(const struct matrix_step *x, enum ptx_matrix_part part, uint64_t *matrix)
{
    const struct ptx_matrix_sizes *s = &x->form->part[part];
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        for (uint32_t r = 0; r < s->registers; r++) {
            const struct ptx_seat *seat = &x->seats[lane];
            const struct ptx_place *place = &x->op->matrix->place[part][r];
            uint64_t value = ptx_source(x->m, seat->lanes, place, seat->lane);
            for (uint32_t e = 0; e < s->each; e++)
                *element_of(x, part, lane, r, e, matrix) = low(value >> e * s->bits, s->bits);
        }
}

static void set(const struct matrix_step *x, uint32_t lane, uint32_t r, uint64_t value)
{
    const struct ptx_seat *seat = &x->seats[lane];
    ptx_set_result(x->m, seat->lanes, &x->op->matrix->place[PTX_MATRIX_D][r],
                   (lane_mask)1 << seat->lane, value);
}

static void scatter(const struct matrix_step *x, uint64_t *matrix)
{
    const struct ptx_matrix_sizes *s = &x->form->part[PTX_MATRIX_D];
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        for (uint32_t r = 0; r < s->registers; r++) {
            uint64_t value = 0;
            for (uint32_t e = 0; e < s->each; e++)
                value |= *element_of(x, PTX_MATRIX_D, lane, r, e, matrix) << e * s->bits;
            set(x, lane, r, value);
        }
}

/*  mma         A, B, C as the lanes' registers hold them
 *      X, mma D A B C      the registers of D of each lane <- its elements of A B + C
 */
static enum rule matrix_mma(const struct matrix_step *x)
{
    uint64_t matrix[PTX_MATRIX_PARTS][PTX_MATRIX_MOST];
    const uint64_t *const given[PTX_MATRIX_PARTS] = {[PTX_MATRIX_A] = matrix[PTX_MATRIX_A],
                                                     [PTX_MATRIX_B] = matrix[PTX_MATRIX_B],
                                                     [PTX_MATRIX_C] = matrix[PTX_MATRIX_C]};
    const uint8_t *words = x->op->statement->u.instruction.words;
    for (uint32_t part = PTX_MATRIX_A; part < PTX_MATRIX_PARTS; part++)
        gather(x, (enum ptx_matrix_part)part, matrix[part]);
    const uint8_t how = words[PTX_SLOT_OP] ? words[PTX_SLOT_OP] : words[PTX_SLOT_SAT];
    ptx_product(x->form, (enum ptx_word)how, given, matrix[PTX_MATRIX_D]);
    scatter(x, matrix[PTX_MATRIX_D]);
    return RULE_MATRIX_MMA;
}

/* ---- matrices of 8 x 8 halves ---- */

typedef uint16_t eight[HALVES][HALVES];

/* Two halves of a row - of a column, if `across` - to a lane. */
static uint64_t two_of(eight m, uint32_t lane, bool across)
{
    uint32_t i = lane / 4, j = lane % 4 * 2;
    return across ? m[j][i] | (uint64_t)m[j + 1][i] << 16 : m[i][j] | (uint64_t)m[i][j + 1] << 16;
}

static void put_two(eight m, uint32_t lane, bool across, uint64_t value)
{
    uint32_t i = lane / 4, j = lane % 4 * 2;
    uint16_t *first = across ? &m[j][i] : &m[i][j], *second = across ? &m[j + 1][i] : &m[i][j + 1];
    *first = (uint16_t)value;
    *second = (uint16_t)(value >> 16);
}

static uint64_t register_of(const struct matrix_step *x, enum ptx_matrix_part part, uint32_t lane,
                            uint32_t r)
{
    const struct ptx_seat *seat = &x->seats[lane];
    return ptx_source(x->m, seat->lanes, &x->op->matrix->place[part][r], seat->lane);
}

/*  move        X, movmatrix D A    the lanes' halves of D <- those of A's columns
 */
static enum rule matrix_move(const struct matrix_step *x)
{
    eight m;
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        put_two(m, lane, false, register_of(x, PTX_MATRIX_A, lane, 0));
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        set(x, lane, 0, two_of(m, lane, true));
    return RULE_MATRIX_MOVE;
}

/* ---- places ---- */

static void stuck(const struct matrix_step *x, uint32_t lane, const char *why)
{
    const struct ptx_seat *seat = &x->seats[lane];
    ptx_stuck(x->m, seat->lanes->first_thread + seat->lane, x->pc, why);
}

/* The first byte of a lane's access, `ahead` bytes behind what its address says. False: nowhere, or in no memory that
 * others see; the execution has ended. */
static bool find_byte(const struct matrix_step *x, uint32_t lane, const struct ptx_op *access,
                      uint64_t ahead, uint32_t *byte)
{
    const struct ptx_seat *seat = &x->seats[lane];
    struct ptx_op part = *access;
    const lane_mask only = (lane_mask)1 << seat->lane;
    struct ptx_step y = {.m = x->m,
                         .code = x->m->program->ptx,
                         .op = &part,
                         .lanes = seat->lanes,
                         .file = ptx_file(x->m->program->ptx, seat->lanes),
                         .pc = x->pc,
                         .executing = only,
                         .one_frame = true,
                         .rows = seat->lanes->lane[seat->lane].rows,
                         .scratch = x->m->scratch};
    struct ptx_access a = {
        .x = &y, .kind = x->op->exec == PTX_EXEC_MATRIX_ST ? PTX_ACCESS_ST : PTX_ACCESS_LD};
    part.offset += ahead;
    if (!ptx_places(&a))
        return false;
    *byte = y.scratch->byte[seat->lane];
    if (a.observed != only) {
        stuck(x, lane, "the address is neither in global nor in shared memory");
        return false;
    }
    return true;
}

/* Whether the lane accesses what its own cp.async, which it has not waited for, copies; it is stuck then. */
static bool hits_copy(const struct matrix_step *x, uint32_t lane, uint32_t byte, uint32_t bytes)
{
    const struct ptx_seat *seat = &x->seats[lane];
    struct ptx_step y = {.m = x->m,
                         .code = x->m->program->ptx,
                         .op = x->op,
                         .lanes = seat->lanes,
                         .pc = x->pc,
                         .scratch = x->m->scratch};
    const struct ptx_access a = {.x = &y,
                                 .kind = x->op->exec == PTX_EXEC_MATRIX_ST ? PTX_ACCESS_ST
                                                                           : PTX_ACCESS_LD,
                                 .bytes = bytes,
                                 .observed = (lane_mask)1 << seat->lane};
    y.scratch->byte[seat->lane] = byte;
    return y.code->has_async && ptx_async_hits(&a);
}

/* Words that a lane reads or writes, from `byte` on. */
static void access_words(const struct matrix_step *x, uint32_t lane, uint32_t byte, uint32_t count,
                         uint32_t *words)
{
    const struct ptx_seat *seat = &x->seats[lane];
    const bool stores = x->op->exec == PTX_EXEC_MATRIX_ST;
    if (machine_status(x->m) != STATUS_RUNNING || hits_copy(x, lane, byte, 4 * count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *at = (uint32_t *)&x->m->memory[byte / 4 + i];
        if (stores)
            put(x->m, at, words[i]);
        else
            words[i] = *at;
        ptx_tell_lane(x->m, seat->lanes, seat->lane, stores ? ACCESS_WRITE : ACCESS_READ, x->pc,
                      byte + 4 * i, 4, words[i]);
    }
}

/* ---- ldmatrix, stmatrix ---- */

/* Of each row: where it lies. False: the execution has ended. */
static bool find_rows(const struct matrix_step *x, uint32_t count, uint32_t byte[])
{
    const uint32_t shared = 4 * x->m->program->shared_base;
    for (uint32_t row = 0; row < count; row++) {
        if (!find_byte(x, row, x->op, 0, &byte[row]))
            return false;
        if (byte[row] < shared) {
            stuck(x, row, "the address is not in shared memory");
            return false;
        }
    }
    return true;
}

static bool is_across(const struct matrix_step *x)
{
    return x->op->mode == PTX_W_TRANS;
}

/*  ldmatrix    a_l = E[[e]] of lane l;  row r of matrix i: the 8 halves from a_(8i+r) on, read by that lane
 *      X, ldmatrix.xN d [e]    register i of each lane <- its two halves of matrix i, or, with .trans, of its columns
 */
static enum rule matrix_ldmatrix(const struct matrix_step *x)
{
    const uint32_t count = x->form->part[PTX_MATRIX_D].registers;
    uint32_t byte[PTX_MATRIX_LANES];
    eight m[4];
    if (!find_rows(x, HALVES * count, byte))
        return RULE_MATRIX_LDMATRIX;
    for (uint32_t row = 0; row < HALVES * count; row++) {
        uint32_t words[LINE / 4] = {0};
        access_words(x, row, byte[row], LINE / 4, words);
        for (uint32_t i = 0; i < HALVES; i++)
            m[row / HALVES][row % HALVES][i] = (uint16_t)(words[i / 2] >> i % 2 * 16);
    }
    for (uint32_t i = 0; i < count && machine_status(x->m) == STATUS_RUNNING; i++)
        for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
            set(x, lane, i, two_of(m[i], lane, is_across(x)));
    return RULE_MATRIX_LDMATRIX;
}

/*  stmatrix    as ldmatrix; rows are written one after the other, lane 0's first
 */
static enum rule matrix_stmatrix(const struct matrix_step *x)
{
    const uint32_t count = x->form->part[PTX_MATRIX_D].registers;
    uint32_t byte[PTX_MATRIX_LANES];
    eight m[4];
    if (!find_rows(x, HALVES * count, byte))
        return RULE_MATRIX_STMATRIX;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
            put_two(m[i], lane, is_across(x), register_of(x, PTX_MATRIX_D, lane, i));
    for (uint32_t row = 0; row < HALVES * count; row++) {
        const uint16_t *from = m[row / HALVES][row % HALVES];
        uint32_t words[LINE / 4];
        for (uint32_t i = 0; i < LINE / 4; i++)
            words[i] = from[2 * i] | (uint32_t)from[2 * i + 1] << 16;
        access_words(x, row, byte[row], LINE / 4, words);
    }
    return RULE_MATRIX_STMATRIX;
}

/* ---- wmma.load, wmma.store ---- */

/* The matrix in memory: rows, or columns, one behind the other. */
struct lines {
    uint32_t count, bytes; /* lines; of each */
    uint64_t stride;       /* bytes from one to the next */
    uint32_t align;        /* of each line's address */
};

static bool agree(const struct matrix_step *x)
{
    for (uint32_t source = 0; source < 2; source++)
        for (uint32_t lane = 1; lane < PTX_MATRIX_LANES; lane++) {
            const struct ptx_place *place = &x->op->sources[source];
            if (ptx_source(x->m, x->seats[lane].lanes, place, x->seats[lane].lane) !=
                ptx_source(x->m, x->seats[0].lanes, place, x->seats[0].lane)) {
                stuck(x, lane, "the lanes of the warp give different addresses or strides");
                return false;
            }
        }
    return true;
}

/* PTX ISA 9.7.14.4.2: each line starts at a multiple of the fragment's size; the programming guide is content with 16
 * bytes, and so is this. False: stuck. */
static bool find_lines(const struct matrix_step *x, struct lines *lines)
{
    const struct ptx_matrix_sizes *s = &x->form->part[PTX_MATRIX_D];
    const bool by_columns = x->form->by_columns;
    const uint32_t length = by_columns ? s->rows : s->columns, size = s->bits / 8u;
    uint32_t stride = length * x->form->packed, fragment = s->registers * (s->bits == 64 ? 8u : 4u);
    if (x->op->has_count)
        stride =
            (uint32_t)ptx_source(x->m, x->seats[0].lanes, &x->op->sources[1], x->seats[0].lane);
    *lines = (struct lines){.count = by_columns ? s->columns : s->rows,
                            .bytes = length * size,
                            .stride = (uint64_t)stride * size / x->form->packed,
                            .align = fragment < LINE ? fragment : LINE};
    if (stride < length * x->form->packed)
        stuck(x, 0, "the stride is less than a row or column is long");
    return stride >= length * x->form->packed && agree(x);
}

/* Where each line lies, and that all of it does. False: the execution has ended. */
static bool find_line(const struct matrix_step *x, const struct lines *lines, uint32_t line,
                      uint32_t *byte)
{
    struct ptx_op access = *x->op;
    uint32_t last;
    access.bytes = (uint8_t)lines->align;
    access.count = 1;
    for (uint32_t at = 0; at < lines->bytes; at += lines->align) {
        if (!find_byte(x, 0, &access, line * lines->stride + at, at == 0 ? byte : &last))
            return false;
        if (at > 0 && last - *byte != at) {
            stuck(x, 0, "the matrix goes beyond a variable");
            return false;
        }
    }
    return true;
}

/* A line's elements, in the matrix. */
static uint64_t *of_line(const struct matrix_step *x, uint32_t line, uint32_t i, uint64_t *matrix)
{
    const struct ptx_matrix_sizes *s = &x->form->part[PTX_MATRIX_D];
    return x->form->by_columns ? &matrix[i * s->columns + line] : &matrix[line * s->columns + i];
}

static void unpack(const struct matrix_step *x, const struct lines *lines, uint32_t line,
                   const uint32_t *words, uint64_t *matrix)
{
    const uint32_t size = x->form->part[PTX_MATRIX_D].bits / 8u;
    for (uint32_t i = 0; i < lines->bytes / size; i++) {
        uint64_t value = 0;
        memcpy(&value, (const char *)words + (size_t)i * size, size);
        *of_line(x, line, i, matrix) = value;
    }
}

static void pack(const struct matrix_step *x, const struct lines *lines, uint32_t line,
                 uint32_t *words, uint64_t *matrix)
{
    const uint32_t size = x->form->part[PTX_MATRIX_D].bits / 8u;
    for (uint32_t i = 0; i < lines->bytes / size; i++)
        memcpy((char *)words + (size_t)i * size, of_line(x, line, i, matrix), size);
}

enum { LINES = 32, LINE_WORDS = 32 };

/* Reads or writes all lines: their words, by lanes in turn. */
static void access_lines(const struct matrix_step *x, const struct lines *lines,
                         const uint32_t byte[LINES], uint64_t *matrix)
{
    uint32_t words[LINE_WORDS], lane = 0, each = lines->bytes < LINE ? lines->bytes : LINE;
    const bool stores = x->op->exec == PTX_EXEC_MATRIX_ST;
    for (uint32_t line = 0; line < lines->count; line++) {
        if (stores)
            pack(x, lines, line, words, matrix);
        for (uint32_t at = 0; at < lines->bytes; at += each, lane = (lane + 1) % PTX_MATRIX_LANES)
            access_words(x, lane, byte[line] + at, each / 4, words + at / 4);
        if (!stores)
            unpack(x, lines, line, words, matrix);
    }
}

static bool find_all_lines(const struct matrix_step *x, struct lines *lines, uint32_t byte[LINES])
{
    if (!find_lines(x, lines))
        return false;
    for (uint32_t line = 0; line < lines->count; line++)
        if (!find_line(x, lines, line, &byte[line]))
            return false;
    return true;
}

/*  load        a, s the same for all lanes, line i of the matrix at a + i s
 *      X, wmma.load r [a] s    the registers of r of each lane <- its elements
 */
static enum rule matrix_load(const struct matrix_step *x)
{
    uint64_t matrix[PTX_MATRIX_MOST];
    uint32_t byte[LINES];
    struct lines lines;
    if (!find_all_lines(x, &lines, byte))
        return RULE_MATRIX_LOAD;
    access_lines(x, &lines, byte, matrix);
    scatter(x, matrix);
    return RULE_MATRIX_LOAD;
}

/*  store       as load
 *      X, wmma.store [a] r s   mu[a + i s .. |-> line i]
 */
static enum rule matrix_store(const struct matrix_step *x)
{
    uint64_t matrix[PTX_MATRIX_MOST];
    uint32_t byte[LINES];
    struct lines lines;
    if (!find_all_lines(x, &lines, byte))
        return RULE_MATRIX_STORE;
    gather(x, PTX_MATRIX_D, matrix);
    access_lines(x, &lines, byte, matrix);
    return RULE_MATRIX_STORE;
}

/* ---- all ---- */

enum rule ptx_matrix(struct machine *machine, const struct ptx_op *op, uint32_t pc,
                     const struct ptx_seat seats[PTX_MATRIX_LANES])
{
    const struct matrix_step x = {
        .m = machine, .op = op, .pc = pc, .seats = seats, .form = &op->matrix->form};
    switch ((int)op->opcode) {
    case PTX_OP_LDMATRIX:
        return matrix_ldmatrix(&x);
    case PTX_OP_STMATRIX:
        return matrix_stmatrix(&x);
    case PTX_OP_MOVMATRIX:
        return matrix_move(&x);
    }
    return op->exec == PTX_EXEC_MATRIX_LD   ? matrix_load(&x)
           : op->exec == PTX_EXEC_MATRIX_ST ? matrix_store(&x)
                                            : matrix_mma(&x);
}

static enum rule rule_of(const struct ptx_op *op)
{
    static const enum rule moved[] = {RULE_MATRIX_LDMATRIX, RULE_MATRIX_STMATRIX, RULE_MATRIX_MOVE};
    if (op->opcode != PTX_OP_WMMA && op->opcode != PTX_OP_MMA)
        return moved[op->opcode - PTX_OP_LDMATRIX];
    return op->exec == PTX_EXEC_MATRIX_LD   ? RULE_MATRIX_LOAD
           : op->exec == PTX_EXEC_MATRIX_ST ? RULE_MATRIX_STORE
                                            : RULE_MATRIX_MMA;
}

/* The ISA leaves undefined what happens when a lane of the warp does not execute it, or has exited. */
enum rule ptx_matrix_step(struct ptx_step *x)
{
    struct ptx_seat seats[PTX_MATRIX_LANES];
    const lane_mask all = ((lane_mask)1 << PTX_MATRIX_LANES) - 1;
    if (x->executing != all) {
        ptx_stuck(x->m, x->lanes->first_thread + lowest_lane(x->executing), x->pc,
                  "not all 32 lanes of the warp execute the instruction");
        return rule_of(x->op);
    }
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        seats[lane] = (struct ptx_seat){x->lanes, lane};
    return ptx_matrix(x->m, x->op, x->pc, seats);
}
