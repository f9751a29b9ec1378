/*
 * ptx_text.c - the text of a litmus test of PTX (docs/memory.md), from what is meant; and whether a text was read so.
 *
 * Where one thing can be said in several ways, places and words say which.
 */
#include "fuzz/laws/ptx_draw.h"

#include "engine/base/text.h"

#include <string.h>

enum { CELLS = 2 * LITMUS_CODE + 1 };

static const char *const scopes[] = {
    [SCOPE_CTA] = ".cta", [SCOPE_GL] = ".gpu", [SCOPE_SYS] = ".sys"};
static const char *const orders[] = {[ORDER_WEAK] = "",
                                     [ORDER_RELAXED] = ".relaxed",
                                     [ORDER_ACQUIRE] = ".acquire",
                                     [ORDER_RELEASE] = ".release",
                                     [ORDER_ACQ_REL] = ".acq_rel",
                                     [ORDER_SC] = ".sc"};
static const char *const caches[] = {
    [CACHE_CA] = ".ca", [CACHE_CG] = ".cg", [CACHE_CS] = ".cs", [CACHE_CV] = ".cv",
    [CACHE_LU] = ".lu", [CACHE_WB] = ".wb", [CACHE_WT] = ".wt", [CACHE_VOL] = ""};
static const char *const operations[] = {
    [LITMUS_ADD_ATOM] = ".add", [LITMUS_SUB] = ".sub", [LITMUS_EXCH] = ".exch",
    [LITMUS_AND] = ".and",      [LITMUS_OR] = ".or",   [LITMUS_XOR] = ".xor",
    [LITMUS_MIN] = ".min",      [LITMUS_MAX] = ".max", [LITMUS_CAS] = ".cas"};

static void put_operand(struct text *out, struct litmus_operand o)
{
    text_format(out, o.is_register ? "r%d" : "%d", (int)o.value);
}

/* ld, st */
static void put_access(struct text *out, const struct litmus_instruction *in, uint32_t way)
{
    bool load = in->op == LITMUS_LD;
    bool usual = in->cache == (load ? CACHE_CA : CACHE_WB);
    text_put(out, load ? "ld" : "st");
    if (in->order == ORDER_RELAXED && in->scope == SCOPE_SYS && way & 1)
        text_put(out, ".volatile");
    else if (in->order != ORDER_WEAK)
        text_format(out, "%s%s", orders[in->order], scopes[in->scope]);
    else if (!usual || way & 2)
        text_format(out, "%s%s", way & 1 ? ".weak" : "", caches[in->cache]);
    text_put(out, way & 4 ? ".u32 " : " ");
    if (load)
        text_format(out, "r%u, %c", (unsigned)in->reg[0], (char)('x' + in->word[0]));
    else
        text_format(out, "%c, ", (char)('x' + in->word[0]));
    if (!load)
        put_operand(out, in->a[0]);
}

static void put_atomic(struct text *out, const struct litmus_instruction *in, uint32_t way)
{
    bool usual = in->order == ORDER_RELAXED && in->scope == SCOPE_GL;
    text_put(out, in->no_result ? "red" : "atom");
    if (way & 2)
        text_put(out, operations[in->op]);
    if (!usual || way & 1)
        text_format(out, "%s%s", orders[in->order], scopes[in->scope]);
    text_format(out, "%s ", way & 2 ? "" : operations[in->op]);
    if (!in->no_result)
        text_format(out, "r%u, ", (unsigned)in->reg[0]);
    text_format(out, "%c, ", (char)('x' + in->word[0]));
    put_operand(out, in->a[0]);
    if (in->op != LITMUS_CAS)
        return;
    text_put(out, ", ");
    put_operand(out, in->b);
}

static void put_fence(struct text *out, const struct litmus_instruction *in, uint32_t way)
{
    bool sc = in->order == ORDER_SC;
    if (sc && way & 1)
        text_format(out, "membar%s", scopes[in->scope]);
    else
        text_format(out, "fence%s%s", sc || way & 2 ? orders[in->order] : "", scopes[in->scope]);
}

static void put_barrier(struct text *out, const struct litmus_instruction *in, uint32_t way)
{
    static const uint8_t numbers[] = {0, 7, 15, 3};
    text_format(out, "%s.%s %u",
                way & 1   ? "bar.cta"
                : way & 2 ? "barrier"
                          : "bar",
                in->op == LITMUS_BAR ? "sync" : "arrive", (unsigned)numbers[in->barrier]);
    if (in->arrivals)
        text_format(out, ", %u", (unsigned)in->arrivals);
}

static void put_registers(struct text *out, const struct litmus_instruction *in, uint32_t way)
{
    if (in->op == LITMUS_ADD)
        text_format(out, "add r%u, ", (unsigned)in->reg[0]);
    else if (in->op == LITMUS_MOV)
        text_format(out, "%s r%u, ", !in->a[0].is_register && way & 1 ? "ld" : "mov",
                    (unsigned)in->reg[0]);
    else
        text_put(out, in->op == LITMUS_BEQ ? "beq " : "bne ");
    put_operand(out, in->a[0]);
    if (in->op == LITMUS_MOV)
        return;
    text_put(out, ", ");
    put_operand(out, in->b);
    if (in->op != LITMUS_ADD)
        text_format(out, ", L%u", (unsigned)in->target);
}

static const char *instruction_text(struct arena *arena, const struct litmus_instruction *in,
                                    uint32_t at)
{
    struct text out = text_begin(arena);
    uint32_t way = at + in->word[0] + 2u * in->scope + in->op;
    if (in->op <= LITMUS_ST)
        put_access(&out, in, way);
    else if (in->op <= LITMUS_CAS)
        put_atomic(&out, in, way);
    else if (in->op == LITMUS_MEMBAR)
        put_fence(&out, in, way);
    else if (litmus_is_barrier(in))
        put_barrier(&out, in, way);
    else
        put_registers(&out, in, way);
    return out.bytes;
}

/* Its cells in the table: instructions, and labels where somebody branches to. */
static uint32_t cells_of(struct arena *arena, const struct litmus_thread *t,
                         const char *cells[CELLS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i <= t->length; i++) {
        bool is_target = false;
        for (uint32_t k = 0; k < t->length; k++)
            is_target |= t->code[k].op >= LITMUS_BZ && t->code[k].target == i;
        if (is_target)
            cells[count++] = arena_printf(arena, "L%u:", (unsigned)i);
        if (i < t->length)
            cells[count++] = instruction_text(arena, &t->code[i], i);
    }
    return count;
}

/* ---- the condition ---- */

static void put_item(struct text *out, const struct litmus_test *meant, uint32_t place)
{
    const struct litmus_observed *o = &meant->observe[place];
    if (o->is_register)
        text_format(out, place & 1 ? "%u:r%u" : "P%u:r%u", (unsigned)o->thread,
                    (unsigned)o->number);
    else
        text_format(out, place & 1 ? "[%c]" : "%c", (char)('x' + o->number));
}

/* The part of the condition whose last term is `at`; its first one. */
static uint32_t first_of(const struct litmus_condition *c, uint32_t at)
{
    enum litmus_term_kind kind = c->terms[at].kind;
    if (kind == TERM_NOT)
        return first_of(c, at - 1);
    return kind == TERM_AND || kind == TERM_OR ? first_of(c, first_of(c, at - 1) - 1) : at;
}

/* `binds`: how tightly: 0 an operand of `or`, 1 of `and`, 2 of `not`. */
static void put_condition(struct text *out, const struct litmus_test *meant, uint32_t at,
                          uint32_t binds)
{
    const struct litmus_term *term = &meant->condition.terms[at];
    uint32_t own = term->kind == TERM_OR ? 0 : term->kind == TERM_AND ? 1 : 2;
    if (own < binds)
        text_put(out, "(");
    if (term->kind == TERM_NOT) {
        text_put(out, at & 1 ? "~" : "not ");
        put_condition(out, meant, at - 1, 2);
    } else if (own < 2) {
        put_condition(out, meant, first_of(&meant->condition, at - 1) - 1, own);
        text_put(out, own ? " /\\ " : " \\/ ");
        put_condition(out, meant, at - 1, own + 1);
    } else {
        put_item(out, meant, term->left);
        text_put(out, term->kind == TERM_DIFFERENT ? " != " : at & 1 ? " = " : " == ");
        if (term->is_value)
            text_format(out, "%d", (int)term->value);
        else
            put_item(out, meant, term->right);
    }
    if (own < binds)
        text_put(out, ")");
}

bool litmus_ptx_true(const struct litmus_condition *c, const int16_t *values)
{
    const struct litmus_term *last = &c->terms[c->count - 1];
    struct litmus_condition left = *c, right = *c;
    right.count--;
    if (last->kind == TERM_NOT)
        return !litmus_ptx_true(&right, values);
    if (last->kind == TERM_AND || last->kind == TERM_OR) {
        left.count = (uint8_t)first_of(c, right.count - 1u);
        bool one = litmus_ptx_true(&left, values), other = litmus_ptx_true(&right, values);
        return last->kind == TERM_AND ? one && other : one || other;
    }
    int16_t value = last->is_value ? last->value : values[last->right];
    return (values[last->left] != value) == (last->kind == TERM_DIFFERENT);
}

/* ---- the whole ---- */

const char *litmus_draw_ptx_text(struct arena *arena, const struct drawn_test *test)
{
    static const char *const asks[] = {
        [ASKS_EXISTS] = "exists", [ASKS_NEVER] = "~exists", [ASKS_FORALL] = "forall"};
    const struct litmus_test *meant = &test->meant;
    const char *cells[LITMUS_THREADS][CELLS];
    uint32_t counts[LITMUS_THREADS] = {0}, rows = 0;
    struct text out = text_begin(arena);
    if (meant->observed == 0)
        return NULL;
    text_format(&out, "PTX drawn\n\"a remark, (* with = and { // in it\"\n{ x=%d; y=%d;\n z",
                (int)meant->init[0], (int)meant->init[1]);
    if (meant->init[2] != 0) /* it is 0 where nothing is said */
        text_format(&out, "=%d", (int)meant->init[2]);
    text_put(&out, "; }\n");
    for (uint32_t t = 0; t < meant->count; t++) {
        text_format(&out, "%sP%u@cta %u,gpu %u", t ? " | " : " ", (unsigned)t,
                    (unsigned)meant->threads[t].cta, (unsigned)meant->threads[t].gpu);
        counts[t] = cells_of(arena, &meant->threads[t], cells[t]);
        rows = counts[t] > rows ? counts[t] : rows;
    }
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t t = 0; t < meant->count; t++) {
            text_put(&out, t ? " | " : " ; // a \"row (*\n ");
            text_put(&out, row < counts[t] ? cells[t][row] : "");
        }
    text_format(&out, " ;\n(* what\n // is \"asked * *)\n%s (", asks[meant->condition.asks]);
    put_condition(&out, meant, meant->condition.count - 1u, 0);
    text_put(&out, ")\n");
    return out.bytes;
}

/* ---- whether it was read so ---- */

static bool same_operand(struct litmus_operand a, struct litmus_operand b)
{
    return a.is_register == b.is_register && a.value == b.value;
}

static bool same_instruction(const struct litmus_instruction *a, const struct litmus_instruction *b)
{
    bool access = a->op <= LITMUS_ST, memory = a->op <= LITMUS_CAS, barrier = litmus_is_barrier(a);
    if (a->op != b->op || a->lanes != 1 || (access && a->cache != b->cache) ||
        (memory && a->word[0] != b->word[0]))
        return false;
    if (a->op <= LITMUS_MEMBAR &&
        (a->order != b->order || (b->order != ORDER_WEAK && a->scope != b->scope)))
        return false;
    if (barrier && (a->arrivals != b->arrivals || a->threads != b->threads))
        return false;
    if (ptx_has_result(b) && (a->no_result || a->reg[0] != b->reg[0]))
        return false;
    if (memory && !access && a->no_result != b->no_result)
        return false;
    if (a->op >= LITMUS_BZ && a->target != b->target)
        return false;
    bool second = a->op == LITMUS_CAS || a->op >= LITMUS_ADD;
    return (a->op == LITMUS_LD || a->op == LITMUS_MEMBAR || barrier ||
            same_operand(a->a[0], b->a[0])) &&
           (!second || same_operand(a->b, b->b));
}

/* Barriers have other numbers, but two are one where they are meant to be. */
static bool same_barriers(const struct litmus_test *test, const struct litmus_test *meant)
{
    uint8_t names[LITMUS_BARRIERS] = {0};
    for (uint32_t t = 0; t < meant->count; t++)
        for (uint32_t i = 0; i < meant->threads[t].length; i++) {
            const struct litmus_instruction *a = &test->threads[t].code[i],
                                            *b = &meant->threads[t].code[i];
            if (!litmus_is_barrier(b))
                continue;
            if (names[b->barrier] == 0)
                names[b->barrier] = (uint8_t)(a->barrier + 1);
            if (names[b->barrier] != a->barrier + 1)
                return false;
        }
    for (uint32_t a = 0; a < LITMUS_BARRIERS; a++)
        for (uint32_t b = 0; b < a; b++)
            if (names[a] && names[a] == names[b])
                return false;
    return true;
}

const char *litmus_ptx_differs(const struct litmus_test *test, const struct litmus_test *meant)
{
    if (test->count != meant->count || !test->is_ptx)
        return "threads";
    for (uint32_t t = 0; t < meant->count; t++) {
        const struct litmus_thread *a = &test->threads[t], *b = &meant->threads[t];
        if (a->length != b->length || a->registers != b->registers)
            return "instructions";
        if (a->sm != b->sm || a->cta != b->cta || a->gpu != b->gpu)
            return "places";
        for (uint32_t i = 0; i < b->length; i++)
            if (!same_instruction(&a->code[i], &b->code[i]))
                return "an instruction";
    }
    if (memcmp(test->init, meant->init, sizeof test->init) != 0)
        return "first values";
    if (test->observed != meant->observed || test->condition.asks != meant->condition.asks)
        return "the condition";
    return same_barriers(test, meant) ? NULL : "barriers";
}
