/*
 * litmus_words.c - an instruction of a litmus test as its pictures and pages must show it, a second time: from its
 * parts, a list of names each, against engine/litmus/litmus_print.c.
 */
#include "fuzz/laws/litmus_words.h"

#include "engine/base/text.h"
#include "engine/litmus/litmus_path.h"

#include <string.h>

static const char *scope_of(enum litmus_scope scope, bool is_ptx)
{
    return scope == SCOPE_CTA ? ".cta" : scope == SCOPE_SYS ? ".sys" : is_ptx ? ".gpu" : ".gl";
}

static const char *order_of(enum litmus_order order)
{
    switch (order) {
    case ORDER_WEAK:
        return ".weak";
    case ORDER_RELAXED:
        return ".relaxed";
    case ORDER_ACQUIRE:
        return ".acquire";
    case ORDER_RELEASE:
        return ".release";
    case ORDER_ACQ_REL:
        return ".acq_rel";
    case ORDER_SC:
        break;
    }
    return ".sc";
}

static const char *cache_of(enum litmus_cache cache)
{
    switch (cache) {
    case CACHE_CA:
        return ".ca";
    case CACHE_CG:
        return ".cg";
    case CACHE_CS:
        return ".cs";
    case CACHE_CV:
        return ".cv";
    case CACHE_LU:
        return ".lu";
    case CACHE_WB:
        return ".wb";
    case CACHE_WT:
        return ".wt";
    case CACHE_VOL:
        break;
    }
    return ".vol";
}

static const char *operation_of(enum litmus_op op)
{
    switch ((int)op) {
    case LITMUS_ADD_ATOM:
        return ".add";
    case LITMUS_SUB:
        return ".sub";
    case LITMUS_EXCH:
        return ".exch";
    case LITMUS_AND:
        return ".and";
    case LITMUS_OR:
        return ".or";
    case LITMUS_XOR:
        return ".xor";
    case LITMUS_MIN:
        return ".min";
    case LITMUS_MAX:
        return ".max";
    default:
        return ".cas";
    }
}

struct words {
    struct text text;
    const struct litmus_test *test;
    const struct litmus_thread *thread;
    const struct litmus_instruction *in;
};

static void put_register(struct words *w, uint32_t number)
{
    text_format(&w->text, "%s", w->thread->names[number]);
}

static void put_value(struct words *w, struct litmus_operand o)
{
    if (o.is_register)
        put_register(w, (uint32_t)o.value);
    else
        text_format(&w->text, "%d", (int)o.value);
}

/* What a thread calls a word: x, y, z, w, or as the text has named them; s0 to s3 of its block, l0 and l1. */
static void put_word(struct words *w, uint32_t word)
{
    if (word >= LITMUS_GLOBALS + 4 * LITMUS_THREADS)
        text_format(&w->text, "l%u", (unsigned)word % 2);
    else if (word >= LITMUS_GLOBALS)
        text_format(&w->text, "s%u", (unsigned)word % 4);
    else if (w->test->words[word][0])
        text_put(&w->text, w->test->words[word]);
    else
        text_format(&w->text, "%c", "xyzw"[word]);
}

enum column { COLUMN_REGISTER, COLUMN_WORD, COLUMN_VALUE };

/* One a lane, with commas between. */
static void put_lanes(struct words *w, enum column column)
{
    for (uint32_t lane = 0; lane < w->in->lanes; lane++) {
        text_put(&w->text, lane ? "," : " ");
        if (column == COLUMN_REGISTER)
            put_register(w, w->in->reg[lane]);
        else if (column == COLUMN_WORD)
            put_word(w, w->in->word[lane]);
        else
            put_value(w, w->in->a[lane]);
    }
}

static void put_order(struct words *w)
{
    text_put(&w->text, order_of(w->in->order));
    if (w->in->order != ORDER_WEAK)
        text_put(&w->text, scope_of(w->in->scope, true));
}

static void put_memory(struct words *w)
{
    const bool load = w->in->op == LITMUS_LD, store = w->in->op == LITMUS_ST;
    const bool atomic = !load && !store;
    text_put(&w->text, load ? "ld" : store ? "st" : w->in->no_result ? "red" : "atom");
    if (atomic)
        text_put(&w->text, operation_of(w->in->op));
    if (w->test->is_ptx)
        put_order(w);
    else if (!atomic)
        text_put(&w->text, cache_of(w->in->cache));
    if (load || (atomic && !w->in->no_result))
        put_lanes(w, COLUMN_REGISTER);
    put_lanes(w, COLUMN_WORD);
    if (!load)
        put_lanes(w, COLUMN_VALUE);
}

static void put_fence(struct words *w)
{
    text_put(&w->text, w->test->is_ptx ? "fence" : "membar");
    if (w->test->is_ptx)
        put_order(w);
    else
        text_put(&w->text, scope_of(w->in->scope, false));
}

/* Of registers alone: the name, what is written, one or two that are read, where to. */
static void put_rest(struct words *w, const char *name, const char *columns)
{
    text_put(&w->text, name);
    for (; *columns; columns++) {
        text_put(&w->text, " ");
        if (*columns == 'r')
            put_register(w, w->in->reg[0]);
        else if (*columns != 't')
            put_value(w, *columns == 'a' ? w->in->a[0] : w->in->b);
        else
            text_format(&w->text, "to %u", w->in->target + 1u);
    }
}

static const char *words_of(struct arena *arena, const struct litmus_test *test, uint32_t thread,
                            uint32_t pc)
{
    static const struct {
        const char *name, *columns;
    } rest[] = {[LITMUS_WAIT] = {"wait", ""},         [LITMUS_BAR] = {"bar", ""},
                [LITMUS_ARRIVE] = {"bar.arrive", ""}, [LITMUS_USE] = {"use", "r"},
                [LITMUS_MOV] = {"mov", "ra"},         [LITMUS_ADD] = {"add", "rab"},
                [LITMUS_BZ] = {"bz", "at"},           [LITMUS_BNZ] = {"bnz", "at"},
                [LITMUS_BEQ] = {"beq", "abt"},        [LITMUS_BNE] = {"bne", "abt"},
                [LITMUS_JUMP] = {"goto", "t"}};
    struct words w = {.text = text_begin(arena), .test = test, .thread = &test->threads[thread]};
    w.in = &w.thread->code[pc];
    if (w.in->op == LITMUS_MEMBAR)
        put_fence(&w);
    else if (w.in->op > LITMUS_MEMBAR)
        put_rest(&w, rest[w.in->op].name, rest[w.in->op].columns);
    else
        put_memory(&w);
    if (w.in->op == LITMUS_CAS) {
        text_put(&w.text, " ");
        put_value(&w, w.in->b);
    }
    return w.text.bytes;
}

/* As a picture calls a word, which has no thread around it. */
static const char *word_name(struct arena *arena, const struct litmus_test *test, uint32_t word)
{
    const uint32_t shared = word - LITMUS_GLOBALS, local = shared - 4 * LITMUS_THREADS;
    struct words w = {.text = text_begin(arena), .test = test};
    put_word(&w, word);
    if (word >= LITMUS_GLOBALS + 4 * LITMUS_THREADS)
        text_format(&w.text, " of P%u", (unsigned)local / 2);
    else if (word >= LITMUS_GLOBALS)
        text_format(&w.text, " of block %u", (unsigned)shared / 4);
    return w.text.bytes;
}

bool litmus_shows_itself(struct arena *arena, const struct litmus_test *test)
{
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t pc = 0; pc < test->threads[t].length; pc++)
            if (strcmp(litmus_text(arena, test, t, pc), words_of(arena, test, t, pc)) != 0)
                return false;
    for (uint32_t word = 0; word < LITMUS_WORDS; word++)
        if (strcmp(litmus_word_name(arena, test, word), word_name(arena, test, word)) != 0)
            return false;
    return true;
}
