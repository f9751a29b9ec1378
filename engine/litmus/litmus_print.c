/*
 * litmus_print.c - words and instructions of litmus tests as text.
 */
#include "engine/base/text.h"
#include "engine/litmus/litmus_internal.h"

#include <string.h>

const char *litmus_word_name(struct arena *arena, const struct litmus_test *test, uint32_t word)
{
    static const char *const globals[] = {"x", "y", "z", "w"};
    uint32_t shared = word - LITMUS_GLOBALS, local = shared - 4 * LITMUS_THREADS;
    if (litmus_space(word) == WORD_GLOBAL)
        return test->words[word][0] ? test->words[word] : globals[word];
    if (litmus_space(word) == WORD_SHARED)
        return arena_printf(arena, "s%u of block %u", shared % 4, shared / 4);
    return arena_printf(arena, "l%u of P%u", local % 2, local / 2);
}

/* Where it stands in an instruction, a shared or local word is the thread's own. */
static void put_word(struct text *text, const struct litmus_test *test, uint32_t word)
{
    uint32_t shared = word - LITMUS_GLOBALS, local = shared - 4 * LITMUS_THREADS;
    if (litmus_space(word) == WORD_GLOBAL)
        text_format(text, "%s", litmus_word_name(text->arena, test, word));
    else if (litmus_space(word) == WORD_SHARED)
        text_format(text, "s%u", shared % 4);
    else
        text_format(text, "l%u", local % 2);
}

static void put_operand(struct text *text, const struct litmus_thread *t, struct litmus_operand o)
{
    if (o.is_register)
        text_format(text, "%s", t->names[o.value]);
    else
        text_format(text, "%d", o.value);
}

static const char *const scopes[] = {"cta", "gpu", "sys"};
static const char *const membars[] = {"cta", "gl", "sys"};
static const char *const orders[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};

static const char *const names[] = {
    [LITMUS_LD] = "ld",        [LITMUS_ST] = "st",          [LITMUS_ADD_ATOM] = "atom.add",
    [LITMUS_SUB] = "atom.sub", [LITMUS_EXCH] = "atom.exch", [LITMUS_AND] = "atom.and",
    [LITMUS_OR] = "atom.or",   [LITMUS_XOR] = "atom.xor",   [LITMUS_MIN] = "atom.min",
    [LITMUS_MAX] = "atom.max", [LITMUS_CAS] = "atom.cas",   [LITMUS_MEMBAR] = "membar",
    [LITMUS_WAIT] = "wait",    [LITMUS_BAR] = "bar",        [LITMUS_ARRIVE] = "bar.arrive",
    [LITMUS_USE] = "use",      [LITMUS_MOV] = "mov",        [LITMUS_ADD] = "add",
    [LITMUS_BZ] = "bz",        [LITMUS_BNZ] = "bnz",        [LITMUS_BEQ] = "beq",
    [LITMUS_BNE] = "bne",      [LITMUS_JUMP] = "goto",
};

/* `.relaxed.gpu` of PTX, `.cg` of a cache. */
static void put_kind(struct text *text, const struct litmus_test *test,
                     const struct litmus_instruction *in)
{
    static const char *const loads[] = {"ca", "cg", "cs", "cv", "lu", "ca", "ca", "vol"};
    static const char *const stores[] = {"wb", "cg", "cs", "wb", "wb", "wb", "wt", "vol"};
    bool access = in->op <= LITMUS_ST;
    if (in->op == LITMUS_MEMBAR && in->order == ORDER_SC && !test->is_ptx)
        text_format(text, ".%s", membars[in->scope]);
    else if (in->op == LITMUS_MEMBAR || (test->is_ptx && in->op <= LITMUS_CAS))
        text_format(text, ".%s", orders[in->order]);
    if (test->is_ptx && in->op <= LITMUS_MEMBAR && in->order != ORDER_WEAK)
        text_format(text, ".%s", scopes[in->scope]);
    if (access && !test->is_ptx)
        text_format(text, ".%s", in->op == LITMUS_LD ? loads[in->cache] : stores[in->cache]);
}

static void put_lanes(struct text *text, const struct litmus_test *test,
                      const struct litmus_thread *t, const struct litmus_instruction *in)
{
    for (uint32_t i = 0; i < in->lanes && litmus_writes(in); i++)
        text_format(text, "%s%s", i ? "," : " ", t->names[in->reg[i]]);
    for (uint32_t i = 0; i < in->lanes; i++) {
        text_put(text, i ? "," : " ");
        put_word(text, test, in->word[i]);
    }
    for (uint32_t i = 0; i < in->lanes && in->op != LITMUS_LD; i++) {
        text_put(text, i ? "," : " ");
        put_operand(text, t, in->a[i]);
    }
}

static void put_registers(struct text *text, const struct litmus_thread *t,
                          const struct litmus_instruction *in)
{
    if (in->op <= LITMUS_ADD)
        text_format(text, " %s", t->names[in->reg[0]]);
    if (in->op == LITMUS_USE || in->op == LITMUS_JUMP)
        return;
    text_put(text, " ");
    put_operand(text, t, in->a[0]);
    if (in->op == LITMUS_ADD || in->op == LITMUS_BEQ || in->op == LITMUS_BNE) {
        text_put(text, " ");
        put_operand(text, t, in->b);
    }
}

const char *litmus_text(struct arena *arena, const struct litmus_test *test, uint32_t thread,
                        uint32_t pc)
{
    const struct litmus_thread *t = &test->threads[thread];
    const struct litmus_instruction *in = &t->code[pc];
    struct text text = text_begin(arena);
    bool reduces = in->op > LITMUS_ST && in->op <= LITMUS_CAS && in->no_result;
    if (in->op == LITMUS_MEMBAR && test->is_ptx)
        text_put(&text, "fence");
    else if (reduces)
        text_format(&text, "red%s", names[in->op] + strlen("atom"));
    else
        text_put(&text, names[in->op]);
    put_kind(&text, test, in);
    if (in->op <= LITMUS_CAS)
        put_lanes(&text, test, t, in);
    if (in->op == LITMUS_CAS) {
        text_put(&text, " ");
        put_operand(&text, t, in->b);
    }
    if (in->op >= LITMUS_USE)
        put_registers(&text, t, in);
    if (in->op >= LITMUS_BZ)
        text_format(&text, " to %u", in->target + 1U);
    return text.bytes;
}
