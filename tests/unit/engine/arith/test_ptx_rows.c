/* Every form of ptx_ops.def that computes, with all its modifiers, against the reference; and that a row function
 * keeps to its contract. */
#include "engine/arith/ptx_rows_internal.h"
#include "engine/base/pcg.h"
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { LANES_COUNT = 64, ROUNDS = 6, VARIANTS = 6, GROUPS = 16, WORDS = 32 };

/* ---- instructions: all words of a form, operands made for them ---- */

/* What a form may say: for each group its words; PTX_W_NONE where it may be left out. */
struct choices_of_words {
    size_t group_count;
    enum ptx_slot slots[GROUPS];
    size_t counts[GROUPS], at[GROUPS];
    enum ptx_word words[GROUPS][WORDS];
};

static void list_words(struct choices_of_words *all, const char *pattern)
{
    struct ptx_group group;
    *all = (struct choices_of_words){.group_count = 0};
    while (ptx_group_next(&pattern, &group)) {
        size_t g = all->group_count++;
        assert_true(g < GROUPS);
        all->slots[g] = group.slot;
        if (group.optional)
            all->words[g][all->counts[g]++] = PTX_W_NONE;
        for (const char *at = group.words; at < group.words + group.length;) {
            size_t length = strcspn(at, "| ");
            assert_true(all->counts[g] < WORDS);
            all->words[g][all->counts[g]] = ptx_word_find(at, length);
            assert_int_not_equal(all->words[g][all->counts[g]], PTX_W_NONE);
            all->counts[g]++;
            at += length + 1;
        }
    }
}

static bool next_words(struct choices_of_words *all)
{
    for (size_t g = 0; g < all->group_count; g++) {
        if (++all->at[g] < all->counts[g])
            return true;
        all->at[g] = 0;
    }
    return false;
}

/* An instruction and what it points to. */
struct made {
    struct ptx_instruction instruction;
    struct ptx_operand operands[16];
    struct ptx_variable variables[16];
    size_t count;
};

static enum ptx_word register_word(struct ptx_type type, uint32_t wider)
{
    static const enum ptx_word words[] = {PTX_W_B16, PTX_W_B32, PTX_W_B64};
    size_t size = type.bits == 64 ? 2 : type.bits == 32 ? 1 : 0;
    if (type.kind == PTX_CLASS_PRED)
        return PTX_W_PRED;
    return words[size + wider > 2 ? 2 : size + wider];
}

static struct ptx_operand *make_register(struct made *made, struct ptx_type type, uint32_t wider)
{
    struct ptx_operand *operand = &made->operands[made->count];
    struct ptx_variable *variable = &made->variables[made->count++];
    assert_true(made->count <= COUNT(made->operands));
    *variable =
        (struct ptx_variable){.name = "r", .space = PTX_W_REG, .type = register_word(type, wider)};
    *operand = (struct ptx_operand){.kind = PTX_OPERAND_NAME,
                                    .name = "r",
                                    .target_kind = PTX_TARGET_VARIABLE,
                                    .target.variable = variable};
    return operand;
}

/* {r, r} or d|p. */
static struct ptx_operand *make_items(struct made *made, enum ptx_operand_kind kind, size_t count,
                                      struct ptx_type type)
{
    struct ptx_operand *list = &made->operands[made->count++], **tail = &list->items;
    *list = (struct ptx_operand){.kind = kind};
    for (size_t i = 0; i < count; i++) {
        *tail = make_register(made, type, 0);
        tail = &(*tail)->next;
    }
    return list;
}

/* Variant: bit 0 a pair, or parts of mov; bit 1 a negated predicate; wider registers of cvt; lop3's table. */
static void make_operands(struct made *made, uint32_t variant)
{
    const char *pattern = ptx_forms[made->instruction.form].operands;
    struct ptx_operand **tail = &made->instruction.operands;
    struct ptx_item_pattern item;
    while (ptx_item_next(&pattern, made->instruction.words, &item)) {
        uint32_t wider = item.relaxed ? (item.is_result ? variant % 3 : variant / 2) : 0;
        uint32_t parts = item.kind == 'm' && item.type.kind == PTX_CLASS_BITS ? variant : 0;
        struct ptx_type part = item.type;
        if (item.kind == 'i') {
            *tail = &made->operands[made->count++];
            **tail =
                (struct ptx_operand){.kind = PTX_OPERAND_INTEGER, .value = 37 * variant + 0x96};
        } else if (item.paired && variant & 1) {
            *tail = make_items(made, PTX_OPERAND_PAIR, 2, item.type);
        } else if (parts && parts < 5 && (parts % 2 == 1) == item.is_result &&
                   item.type.bits / (parts < 3 ? 2 : 4) >= 8) {
            part.bits = (uint8_t)(item.type.bits / (parts < 3 ? 2 : 4));
            *tail = make_items(made, PTX_OPERAND_VECTOR, parts < 3 ? 2 : 4, part);
        } else {
            struct ptx_type type = item.kind == 'k' && item.type.kind == PTX_CLASS_NONE
                                       ? (struct ptx_type){PTX_CLASS_BITS, variant & 1 ? 32 : 64, 0}
                                       : item.type;
            *tail = make_register(made, type, wider);
            (*tail)->negated = item.negatable && variant & 2;
        }
        tail = &(*tail)->next;
    }
}

static void make(struct made *made, enum ptx_form form, const struct choices_of_words *all,
                 uint32_t variant)
{
    *made = (struct made){.instruction = {.form = form}};
    for (size_t g = 0; g < all->group_count; g++)
        made->instruction.words[all->slots[g]] = (uint8_t)all->words[g][all->at[g]];
    make_operands(made, variant);
}

static const char *text_of(const struct ptx_instruction *instruction)
{
    static char text[200];
    size_t length = (size_t)snprintf(text, sizeof text, "%s",
                                     ptx_mnemonics[ptx_forms[instruction->form].opcode]);
    for (int i = 0; i < PTX_SLOT_COUNT; i++)
        if (instruction->words[i])
            length += (size_t)snprintf(text + length, sizeof text - length, " .%s",
                                       ptx_words[instruction->words[i]]);
    return text;
}

/* ---- operands ---- */

static uint64_t random_integer(struct pcg *rng)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     5,
                                     7,
                                     8,
                                     15,
                                     16,
                                     17,
                                     23,
                                     24,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x100,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffff,
                                     0x800000,
                                     0xffffff,
                                     0x1000000,
                                     0x7fffffff,
                                     0x80000000,
                                     0x80000001,
                                     0xffffffff,
                                     0xfffffffe,
                                     0x100000000,
                                     0x70000000,
                                     0x78000000,
                                     0x7a000010,
                                     0x7c000000,
                                     0x10000000000,
                                     0x20000000010,
                                     0x300ffffffff,
                                     0x30100000000,
                                     0x40000010000,
                                     0x10000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     UINT64_MAX,
                                     0x8000000000000001};
    uint64_t edge = edges[pcg_below(rng, COUNT(edges))], bits = pcg_next64(rng);
    uint32_t shift = pcg_below(rng, 64);
    switch (pcg_below(rng, 4)) {
    case 0:
        return edge;
    case 1:
        return 0 - edge;
    case 2:
        return bits >> shift;
    default:
        return 0 - (bits >> shift);
    }
}

/* Around zero, one, the borders of integers, those of the format; near each other. */
static uint64_t random_float(struct pcg *rng, enum ptx_word word)
{
    struct ref_shape f = ref_shape_of(word);
    uint64_t one = (uint64_t)f.exponent << (f.precision - 1), sign = pcg_below(rng, 2);
    uint64_t infinity = (uint64_t)(2 * f.exponent + 1) << (f.precision - 1), x = 0;
    uint64_t fraction = pcg_next64(rng) & ref_ones((uint32_t)f.precision - 1);
    uint64_t integer = random_integer(rng);
    uint32_t shift = pcg_below(rng, 32), near = pcg_below(rng, 3);
    switch (pcg_below(rng, 9)) {
    case 0:
        x = pcg_below(rng, 3);
        break;
    case 1:
        x = ((uint64_t)1 << (f.precision - 1)) + pcg_below(rng, 5) - 2;
        break;
    case 2:
        x = infinity + pcg_below(rng, 5) - 2;
        break;
    case 3:
        x = one + pcg_below(rng, 5) - 2;
        break;
    case 4: /* a whole number, or a half, or the one beside it */
        x = ref_float_bits((long double)(int32_t)(integer >> shift) / 2, word, FE_TONEAREST);
        x += near - 1;
        break;
    case 5:
        x = ref_float_bits(ldexpl(1, (int)(shift % 5) * 16 - 1), word, FE_TONEAREST) + near - 1;
        break;
    case 6: /* like the others of its kind */
        x = (one + ((uint64_t)pcg_below(rng, 7) << (f.precision - 1))) | fraction;
        break;
    case 7:
        x = fraction >> pcg_below(rng, (uint32_t)f.precision);
        break;
    default:
        x = pcg_next64(rng);
    }
    return (x ^ sign << (f.bits - 1)) & ref_ones((uint32_t)f.bits);
}

/* A source's type, NULL where it is not one of the instruction's: d, p. */
static enum ptx_word type_of_source(const struct ptx_instruction *instruction, char kind)
{
    if (kind == 'u')
        return (enum ptx_word)instruction->words[PTX_SLOT_TYPE2];
    return kind == 't' || kind == 'm' ? (enum ptx_word)instruction->words[PTX_SLOT_TYPE]
                                      : PTX_W_NONE;
}

/* Elements of sources. Above types of 16 bits there may be anything: constants are not cut. */
static void draw_source(struct pcg *rng, enum ptx_word word, char kind, uint64_t row[LANES_COUNT])
{
    struct ptx_type type = ptx_type_of(word);
    for (size_t i = 0; i < LANES_COUNT; i++) {
        row[i] = random_integer(rng);
        if (word == PTX_W_F32X2)
            row[i] = random_float(rng, PTX_W_F32) << 32 | (uint32_t)row[i];
        else if (type.kind == PTX_CLASS_FLOAT)
            row[i] = random_float(rng, word) | (type.bits == 16 ? row[i] << 16 : 0);
        else if (type.kind == PTX_CLASS_PRED || kind == 'p')
            row[i] = pcg_below(rng, 2);
        else if (kind == 'd' && pcg_below(rng, 2))
            row[i] = pcg_below(rng, 70);
    }
}

static void draw_sources(struct pcg *rng, const struct made *made, const struct ptx_row_op *op,
                         uint64_t rows[PTX_ROW_SOURCES][LANES_COUNT])
{
    const char *pattern = ptx_forms[made->instruction.form].operands;
    const struct ptx_operand *operand = made->instruction.operands;
    struct ptx_item_pattern item;
    uint32_t s = 0;
    for (; ptx_item_next(&pattern, made->instruction.words, &item); operand = operand->next) {
        enum ptx_word word = type_of_source(&made->instruction, item.kind);
        uint32_t parts = operand->kind == PTX_OPERAND_VECTOR ? 0 : 1;
        for (const struct ptx_operand *o = operand->items; o && !parts; o = o->next)
            if (!item.is_result)
                draw_source(rng, word, item.kind, rows[s++]);
        for (uint32_t half = 0; half < (item.type.bits == 128 ? 2 : 1); half++)
            if (parts && !item.is_result && item.kind != 'i')
                draw_source(rng, word, item.kind, rows[s++]);
    }
    if (op->reads_carry)
        draw_source(rng, PTX_W_PRED, 'p', rows[s++]);
    assert_int_equal(s, op->source_count);
    for (uint32_t k = 0; k < s; k++) /* operands that meet */
        for (size_t i = 0; k > 0 && i < LANES_COUNT; i++)
            if (pcg_below(rng, 6) == 0 && op->source_bits[k] == op->source_bits[0])
                rows[k][i] = rows[0][i] + (pcg_below(rng, 2) ? pcg_below(rng, 3) - 1 : 0);
}

/* ---- rows ---- */

/* Bytes behind a row that must stay. */
enum { BEHIND = 16, ROW_BYTES = LANES_COUNT * 8 + BEHIND };

struct rows {
    _Alignas(8) unsigned char results[PTX_ROW_RESULTS][ROW_BYTES];
    _Alignas(8) unsigned char sources[PTX_ROW_SOURCES][ROW_BYTES];
};

static void put_element(unsigned char *row, uint32_t bits, size_t lane, uint64_t value)
{
    uint32_t low = (uint32_t)value;
    if (bits == 64)
        memcpy(row + lane * 8, &value, 8);
    else
        memcpy(row + lane * 4, &low, 4);
}

static uint64_t get_element(const unsigned char *row, uint32_t bits, size_t lane)
{
    uint64_t value;
    uint32_t low;
    memcpy(&value, row + lane * bits / 8, 8); /* BEHIND is there */
    memcpy(&low, row + lane * 4, 4);
    return bits == 64 ? value : low;
}

/* Runs op over the first lanes; result 0 in the row of source `in_place`, if there is one. */
static void run(const struct ptx_row_op *op, struct rows *rows, uint32_t lanes, int in_place)
{
    void *results[PTX_ROW_RESULTS] = {0};
    const void *sources[PTX_ROW_SOURCES] = {0};
    memset(rows->results, 0xa5, sizeof rows->results);
    for (uint32_t i = 0; i < op->result_count; i++)
        results[i] = rows->results[i];
    for (uint32_t i = 0; i < op->source_count; i++)
        sources[i] = rows->sources[i];
    if (in_place >= 0)
        results[0] = rows->sources[in_place];
    op->fn(lanes, results, sources, op->immediate);
}

static void fill(const struct ptx_row_op *op, struct rows *rows,
                 uint64_t drawn[PTX_ROW_SOURCES][LANES_COUNT])
{
    memset(rows->sources, 0x5a, sizeof rows->sources);
    for (uint32_t k = 0; k < op->source_count; k++)
        for (size_t i = 0; i < LANES_COUNT; i++)
            put_element(rows->sources[k], op->source_bits[k], i, drawn[k][i]);
}

static void nothing_behind(const struct ptx_row_op *op, const struct rows *rows, uint32_t lanes)
{
    for (uint32_t k = 0; k < op->result_count; k++)
        for (size_t i = lanes * op->result_bits[k] / 8u; i < ROW_BYTES; i++)
            assert_int_equal(rows->results[k][i], 0xa5);
}

/* Fewer lanes give the same results for these and touch no others; so does writing to a source. */
static void check_contract(const struct ptx_row_op *op, struct rows *rows,
                           uint64_t drawn[PTX_ROW_SOURCES][LANES_COUNT])
{
    static struct rows whole_rows;
    fill(op, rows, drawn);
    run(op, rows, LANES_COUNT, -1);
    nothing_behind(op, rows, LANES_COUNT);
    whole_rows = *rows;
    for (uint32_t lanes = 1; lanes < LANES_COUNT; lanes += 18) {
        run(op, rows, lanes, -1);
        nothing_behind(op, rows, lanes);
        for (uint32_t k = 0; k < op->result_count; k++)
            assert_memory_equal(rows->results[k], whole_rows.results[k],
                                lanes * op->result_bits[k] / 8u);
    }
    for (uint32_t k = 0; k < op->source_count; k++) {
        if (op->source_bits[k] != op->result_bits[0])
            continue;
        fill(op, rows, drawn);
        run(op, rows, LANES_COUNT, (int)k);
        assert_memory_equal(rows->sources[k], whole_rows.results[0],
                            LANES_COUNT * op->result_bits[0] / 8u);
        for (uint32_t i = 1; i < op->result_count; i++)
            assert_memory_equal(rows->results[i], whole_rows.results[i],
                                LANES_COUNT * op->result_bits[i] / 8u);
    }
    *rows = whole_rows;
}

/* ---- approximations ---- */

/* ---- every form ---- */

static uint64_t hash;

static void add_to_hash(uint64_t value)
{
    for (int i = 0; i < 64; i += 8)
        hash = (hash ^ (value >> i & 0xff)) * 0x100000001b3;
}

static struct ref_computing computing_of(const struct made *made, const struct ptx_row_op *op,
                                         const struct rows *rows, size_t lane)
{
    struct ref_computing r = {.instruction = &made->instruction,
                              .source_count = op->source_count,
                              .result_count = op->result_count,
                              .immediate = op->immediate,
                              .reads_carry = op->reads_carry,
                              .writes_carry = op->writes_carry};
    for (uint32_t k = 0; k < op->source_count; k++) {
        r.source_bits[k] = op->source_bits[k];
        r.s[k] = get_element(rows->sources[k], op->source_bits[k], lane);
    }
    for (uint32_t k = 0; k < op->result_count; k++)
        r.result_bits[k] = op->result_bits[k];
    return r;
}

static void check_lane(const struct made *made, const struct ptx_row_op *op,
                       const struct rows *rows, size_t lane)
{
    struct ref_computing r = computing_of(made, op, rows, lane);
    ref_compute(&r);
    for (uint32_t k = 0; k < op->result_count; k++) {
        uint64_t got = get_element(rows->results[k], op->result_bits[k], lane);
        add_to_hash(got);
        if (ref_is_result(&r, k, got))
            continue;
        fail_msg("%s: result %u of %llx %llx %llx %llx is %llx, not %llx (%Lg)",
                 text_of(&made->instruction), k, (unsigned long long)r.s[0],
                 (unsigned long long)r.s[1], (unsigned long long)r.s[2], (unsigned long long)r.s[3],
                 (unsigned long long)got, (unsigned long long)r.d[k], r.about);
    }
}

static void check_op(const struct made *made, const struct ptx_row_op *op, struct pcg *rng,
                     uint32_t rounds)
{
    static struct rows rows;
    uint64_t drawn[PTX_ROW_SOURCES][LANES_COUNT];
    for (uint32_t round = 0; round < rounds; round++) {
        draw_sources(rng, made, op, drawn);
        if (round == 0)
            check_contract(op, &rows, drawn);
        fill(op, &rows, drawn);
        run(op, &rows, LANES_COUNT, -1);
        for (size_t i = 0; i < LANES_COUNT; i++)
            check_lane(made, op, &rows, i);
    }
}

/* Why some that compute have no function: all of them. */
static bool is_exception(const struct ptx_instruction *instruction, const char *reason)
{
    if (strcmp(reason, "set of another type than its operands'") == 0)
        return instruction->form == PTX_FORM_SET_HALF ||
               instruction->form == PTX_FORM_SET_HALF_BOOL;
    static const char *const reasons[] = {
        "mov.b128 of four parts",
        "lo, ls, hi, hs of a signed type",
        "cvt to a whole number of another floating-point type",
        "cvt to a smaller floating-point type without a rounding",
    };
    enum ptx_opcode opcode = ptx_forms[instruction->form].opcode;
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (strcmp(reason, reasons[i]) == 0)
            return i == 0   ? opcode == PTX_OP_MOV
                   : i == 1 ? opcode == PTX_OP_SETP || opcode == PTX_OP_SET
                            : opcode == PTX_OP_CVT;
    return false;
}

/* From add to cvta and isspacep; what follows accesses memory, votes, branches. */
static bool computes(enum ptx_form form)
{
    return ptx_forms[form].opcode <= PTX_OP_ISSPACEP;
}

static void check_form(enum row_isa isa, enum ptx_form form, struct pcg *rng, size_t *found,
                       size_t *refused)
{
    static struct choices_of_words all;
    struct made made;
    list_words(&all, ptx_forms[form].modifiers);
    do {
        for (uint32_t variant = 0; variant < VARIANTS; variant++) {
            struct ptx_row_op op;
            const char *reason;
            make(&made, form, &all, variant);
            if (ptx_row_find_for(isa, &made.instruction, &op, &reason)) {
                check_op(&made, &op, rng, variant ? 2 : ROUNDS);
                ++*found;
            } else if (is_exception(&made.instruction, reason)) {
                ++*refused;
            } else {
                fail_msg("%s: %s", text_of(&made.instruction), reason);
            }
        }
    } while (next_words(&all));
}

static void check_forms(enum row_isa isa)
{
    size_t found = 0, refused = 0;
    struct pcg rng;
    pcg_seed(&rng, 1, 1);
    hash = 0xcbf29ce484222325;
    for (int form = 0; form < PTX_FORM_COUNT; form++)
        if (computes((enum ptx_form)form))
            check_form(isa, (enum ptx_form)form, &rng, &found, &refused);
    printf("%zu instructions computed, %zu refused, hash %016llx\n", found, refused,
           (unsigned long long)hash);
    assert_true(found > 20000);
    /* The same with every compiler, instruction set and machine. After a change of what is computed, of the table
     * of forms or of this test's numbers: what was printed, once the rest of the test passes. */
    assert_true(hash == 0x7bd652cba8e5391e);
}

static void every_form(void **state)
{
    (void)state;
    check_forms(ROW_BASELINE);
    if (ptx_row_has_isa(ROW_AVX2))
        check_forms(ROW_AVX2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
