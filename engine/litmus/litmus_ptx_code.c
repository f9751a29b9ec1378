/*
 * litmus_ptx_code.c - instructions of litmus tests for PTX.
 *
 * An instruction is its name, modifiers with points between, and operands with commas between. What PTX has and these
 * models have not - proxies, sizes other than 32 bits, clusters, asynchronous copies - is refused by its name.
 */
#include "engine/litmus/litmus_internal.h"
#include "engine/litmus/litmus_ptx.h"

#include <ctype.h>
#include <string.h>

enum { PARTS = 8, OPERANDS = 5 };

struct words {
    char *parts[PARTS], *operands[OPERANDS];
    uint32_t part_count, operand_count;
};

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text) || *text == '[')
        text++;
    size_t length = strlen(text);
    while (length && (isspace((unsigned char)text[length - 1]) || text[length - 1] == ']'))
        text[--length] = '\0';
    return text;
}

static uint32_t pieces(char *text, char separator, char **out, uint32_t most)
{
    uint32_t count = 0;
    for (char *at = text; at;) {
        char *next = strchr(at, separator);
        if (next)
            *next++ = '\0';
        if (count == most)
            return most + 1;
        out[count++] = trimmed(at);
        at = next;
    }
    return count;
}

static struct litmus_thread *thread_of(const struct litmus_ptx *p, uint32_t thread)
{
    return &p->test->threads[thread];
}

static bool take_operand(struct litmus_ptx *p, struct litmus_thread *t, const char *text,
                         struct litmus_operand *o)
{
    int16_t value;
    bool is_number = litmus_ptx_number(text, &value);
    int reg = is_number ? -1 : litmus_ptx_register(t, text, false);
    *o = (struct litmus_operand){!is_number, is_number ? value : (int16_t)reg};
    return is_number || reg >= 0 ||
           PTX_FAIL(p, "`%s` is neither a number nor a register with a value", text);
}

static bool take_result(struct litmus_ptx *p, struct litmus_thread *t, const char *text,
                        struct litmus_instruction *in)
{
    int reg = litmus_ptx_register(t, text, true);
    in->reg[0] = (uint8_t)(reg < 0 ? 0 : reg);
    return reg >= 0 || PTX_FAIL(p, "`%s` is no register, or one more than %d of a thread", text,
                                LITMUS_REGISTERS);
}

struct modifier {
    const char *name;
    enum { MOD_ORDER, MOD_SCOPE, MOD_CACHE, MOD_OP, MOD_SIZE, MOD_IGNORED } kind;
    uint32_t value;
};

static const struct modifier modifiers[] = {
    {"weak", MOD_ORDER, ORDER_WEAK},
    {"relaxed", MOD_ORDER, ORDER_RELAXED},
    {"acquire", MOD_ORDER, ORDER_ACQUIRE},
    {"release", MOD_ORDER, ORDER_RELEASE},
    {"acq_rel", MOD_ORDER, ORDER_ACQ_REL},
    {"sc", MOD_ORDER, ORDER_SC},
    {"cta", MOD_SCOPE, SCOPE_CTA},
    {"gpu", MOD_SCOPE, SCOPE_GL},
    {"gl", MOD_SCOPE, SCOPE_GL},
    {"sys", MOD_SCOPE, SCOPE_SYS},
    {"ca", MOD_CACHE, CACHE_CA},
    {"cg", MOD_CACHE, CACHE_CG},
    {"cs", MOD_CACHE, CACHE_CS},
    {"cv", MOD_CACHE, CACHE_CV},
    {"lu", MOD_CACHE, CACHE_LU},
    {"wb", MOD_CACHE, CACHE_WB},
    {"wt", MOD_CACHE, CACHE_WT},
    {"volatile", MOD_CACHE, CACHE_VOL},
    {"add", MOD_OP, LITMUS_ADD_ATOM},
    {"plus", MOD_OP, LITMUS_ADD_ATOM},
    {"sub", MOD_OP, LITMUS_SUB},
    {"minus", MOD_OP, LITMUS_SUB},
    {"exch", MOD_OP, LITMUS_EXCH},
    {"cas", MOD_OP, LITMUS_CAS},
    {"and", MOD_OP, LITMUS_AND},
    {"or", MOD_OP, LITMUS_OR},
    {"xor", MOD_OP, LITMUS_XOR},
    {"min", MOD_OP, LITMUS_MIN},
    {"max", MOD_OP, LITMUS_MAX},
    {"u8", MOD_SIZE, 0},
    {"s8", MOD_SIZE, 0},
    {"b8", MOD_SIZE, 0},
    {"u16", MOD_SIZE, 0},
    {"s16", MOD_SIZE, 0},
    {"b16", MOD_SIZE, 0},
    {"u64", MOD_SIZE, 0},
    {"s64", MOD_SIZE, 0},
    {"b64", MOD_SIZE, 0},
    {"v2", MOD_SIZE, 0},
    {"v4", MOD_SIZE, 0},
    {"u32", MOD_IGNORED, 0},
    {"s32", MOD_IGNORED, 0},
    {"b32", MOD_IGNORED, 0},
    {"global", MOD_IGNORED, 0},
};

/* Which kinds of modifier an instruction has had; a bit each. */
static bool take_modifier(struct litmus_ptx *p, const char *whole, const char *name,
                          struct litmus_instruction *in, uint32_t *had)
{
    const struct modifier *m = modifiers, *end = m + sizeof modifiers / sizeof *modifiers;
    while (m < end && strcmp(m->name, name) != 0)
        m++;
    if (m == end)
        return PTX_FAIL(p, "unknown modifier `.%s` of `%s`", name, whole);
    if (m->kind == MOD_SIZE)
        return PTX_FAIL(p, "`.%s`: only accesses of 32 bits are modelled, no mixed sizes", name);
    if (m->kind != MOD_IGNORED && *had >> m->kind & 1)
        return PTX_FAIL(p, "`.%s` of `%s`: one too many of its kind", name, whole);
    *had |= 1U << m->kind;
    if (m->kind == MOD_ORDER)
        in->order = (enum litmus_order)m->value;
    else if (m->kind == MOD_SCOPE)
        in->scope = (enum litmus_scope)m->value;
    else if (m->kind == MOD_CACHE)
        in->cache = (enum litmus_cache)m->value;
    else if (m->kind == MOD_OP)
        in->op = (enum litmus_op)m->value;
    return true;
}

static bool take_modifiers(struct litmus_ptx *p, const struct words *w,
                           struct litmus_instruction *in, uint32_t *had)
{
    for (uint32_t i = 1; i < w->part_count; i++)
        if (!take_modifier(p, w->parts[0], w->parts[i], in, had))
            return false;
    return true;
}

static bool operands(struct litmus_ptx *p, const struct words *w, uint32_t count)
{
    return w->operand_count == count || PTX_FAIL(p, "`%s` takes %u operands", w->parts[0], count);
}

/* The caches of 2011 know relaxed accesses as volatile ones. */
static bool check_access(struct litmus_ptx *p, const char *name, struct litmus_instruction *in,
                         uint32_t had)
{
    bool load = in->op == LITMUS_LD, volatile_one = in->cache == CACHE_VOL;
    bool ordered = in->order != ORDER_WEAK, scoped = had >> MOD_SCOPE & 1;
    if (had >> MOD_OP & 1 || in->order == ORDER_SC || in->order == ORDER_ACQ_REL ||
        in->order == (load ? ORDER_RELEASE : ORDER_ACQUIRE))
        return PTX_FAIL(p, "`%s` has no such modifier", name);
    if (volatile_one && (had >> MOD_ORDER & 1 || scoped))
        return PTX_FAIL(p, "`.volatile` goes with no other order and with no scope");
    if (ordered != scoped)
        return PTX_FAIL(p,
                        ordered ? "`%s` with an order needs a scope: .cta, .gpu or .sys"
                                : "a weak `%s` has no scope",
                        name);
    if (volatile_one) {
        in->order = ORDER_RELAXED;
        in->scope = SCOPE_SYS;
    } else if (ordered && !(had >> MOD_CACHE & 1)) {
        in->cache = CACHE_VOL;
    }
    return true;
}

static bool take_load(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                      struct litmus_instruction *in)
{
    uint32_t had = 0;
    int16_t value;
    in->op = LITMUS_LD;
    in->cache = CACHE_CA;
    if (!take_modifiers(p, w, in, &had) || !operands(p, w, 2))
        return false;
    if (litmus_ptx_number(w->operands[1], &value)) {
        in->op = LITMUS_MOV;
        in->a[0] = (struct litmus_operand){false, value};
    } else if (!check_access(p, "ld", in, had) || !litmus_ptx_word(p, w->operands[1], in->word)) {
        return false;
    }
    return take_result(p, thread_of(p, thread), w->operands[0], in);
}

static bool take_store(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                       struct litmus_instruction *in)
{
    uint32_t had = 0;
    in->op = LITMUS_ST;
    in->cache = CACHE_WB;
    return take_modifiers(p, w, in, &had) && operands(p, w, 2) && check_access(p, "st", in, had) &&
           litmus_ptx_word(p, w->operands[0], in->word) &&
           take_operand(p, thread_of(p, thread), w->operands[1], &in->a[0]);
}

static bool take_atom(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                      struct litmus_instruction *in)
{
    uint32_t had = 0, first = w->parts[0][0] == 'a' ? 1 : 0;
    struct litmus_thread *t = thread_of(p, thread);
    in->order = ORDER_RELAXED;
    in->scope = SCOPE_GL;
    in->no_result = !first;
    if (!take_modifiers(p, w, in, &had))
        return false;
    if (!(had >> MOD_OP & 1) || in->order == ORDER_WEAK || in->order == ORDER_SC ||
        had >> MOD_CACHE & 1)
        return PTX_FAIL(p,
                        "`%s` needs what it does (.add .exch .cas .and .or .xor .min .max), and "
                        "may have an order (.relaxed .acquire .release .acq_rel) and a scope",
                        w->parts[0]);
    if (!first && (in->op == LITMUS_EXCH || in->op == LITMUS_CAS))
        return PTX_FAIL(p, "`red` has no .exch and no .cas");
    bool cas = in->op == LITMUS_CAS;
    return operands(p, w, first + 2 + cas) && litmus_ptx_word(p, w->operands[first], in->word) &&
           take_operand(p, t, w->operands[first + 1], &in->a[0]) &&
           (!cas || take_operand(p, t, w->operands[first + 2], &in->b)) &&
           (!first || take_result(p, t, w->operands[0], in));
}

static bool take_fence(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                       struct litmus_instruction *in)
{
    bool membar = w->parts[0][0] == 'm';
    uint32_t had = 0;
    (void)thread;
    in->op = LITMUS_MEMBAR;
    in->order = membar ? ORDER_SC : ORDER_ACQ_REL;
    if (w->part_count > 1 && !strcmp(w->parts[1], "proxy"))
        return PTX_FAIL(p, "proxies are not modelled");
    if (!take_modifiers(p, w, in, &had))
        return false;
    if (!(had >> MOD_SCOPE & 1) || (membar && had >> MOD_ORDER & 1) || in->order == ORDER_WEAK ||
        in->order == ORDER_RELAXED || had >> MOD_CACHE & 1 || had >> MOD_OP & 1 || w->operand_count)
        return PTX_FAIL(p, "`membar.SCOPE` and `fence.ORDER.SCOPE`, please: .sc or .acq_rel; .cta, "
                           ".gpu (.gl) or .sys");
    return true;
}

static bool barrier_number(struct litmus_ptx *p, const char *text, uint8_t *place)
{
    int16_t number;
    if (!litmus_ptx_number(text, &number) || number < 0 || number > 15)
        return PTX_FAIL(p, "`%s`: a barrier is a number from 0 to 15 here, no register", text);
    for (uint32_t i = 0; i < p->barriers; i++)
        if (p->numbers[i] == number) {
            *place = (uint8_t)i;
            return true;
        }
    if (p->barriers == LITMUS_BARRIERS)
        return PTX_FAIL(p, "a test has at most %d barriers", LITMUS_BARRIERS);
    *place = (uint8_t)p->barriers;
    p->numbers[p->barriers++] = (uint8_t)number;
    return true;
}

static bool take_bar(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                     struct litmus_instruction *in)
{
    uint32_t i = w->part_count > 1 && !strcmp(w->parts[1], "cta") ? 2 : 1;
    int16_t arrivals = 0;
    bool arrive = i + 1 == w->part_count && !strcmp(w->parts[i], "arrive");
    (void)thread;
    in->op = arrive ? LITMUS_ARRIVE : LITMUS_BAR;
    if (!arrive && (i + 1 != w->part_count || strcmp(w->parts[i], "sync") != 0))
        return PTX_FAIL(p, "`bar.cta.sync` or `bar.cta.arrive`, please");
    if (w->operand_count < 1 || w->operand_count > 2)
        return PTX_FAIL(p, "a barrier takes its number, and how many threads arrive");
    if (w->operand_count == 2 && (!litmus_ptx_number(w->operands[1], &arrivals) || arrivals < 1 ||
                                  arrivals > LITMUS_THREADS))
        return PTX_FAIL(p, "`%s`: 1 to %d threads arrive", w->operands[1], LITMUS_THREADS);
    in->arrivals = (uint8_t)arrivals;
    return barrier_number(p, w->operands[0], &in->barrier);
}

static bool take_plain(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                       struct litmus_instruction *in)
{
    bool add = w->parts[0][0] == 'a';
    struct litmus_thread *t = thread_of(p, thread);
    in->op = add ? LITMUS_ADD : LITMUS_MOV;
    return operands(p, w, add ? 3 : 2) && take_operand(p, t, w->operands[1], &in->a[0]) &&
           (!add || take_operand(p, t, w->operands[2], &in->b)) &&
           take_result(p, t, w->operands[0], in);
}

static bool take_branch(struct litmus_ptx *p, uint32_t thread, const struct words *w,
                        struct litmus_instruction *in)
{
    struct litmus_thread *t = thread_of(p, thread);
    bool jump = w->parts[0][1] != 'e' && w->parts[0][1] != 'n';
    uint32_t count = jump ? 1 : 3;
    in->op = jump ? LITMUS_JUMP : w->parts[0][1] == 'e' ? LITMUS_BEQ : LITMUS_BNE;
    in->no_result = true;
    if (!operands(p, w, count))
        return false;
    const char *label = w->operands[count - 1];
    if (strlen(label) >= PTX_LABEL)
        return PTX_FAIL(p, "the label `%s` is longer than %d bytes", label, PTX_LABEL - 1);
    strcpy(p->targets[thread][t->length], label);
    return jump || (take_operand(p, t, w->operands[0], &in->a[0]) &&
                    take_operand(p, t, w->operands[1], &in->b));
}

static const struct {
    const char *name;
    bool (*take)(struct litmus_ptx *, uint32_t, const struct words *, struct litmus_instruction *);
} forms[] = {
    {"ld", take_load},     {"st", take_store},     {"atom", take_atom},  {"red", take_atom},
    {"fence", take_fence}, {"membar", take_fence}, {"bar", take_bar},    {"barrier", take_bar},
    {"mov", take_plain},   {"add", take_plain},    {"beq", take_branch}, {"bne", take_branch},
    {"goto", take_branch}, {"bra", take_branch},
};

static bool take_label(struct litmus_ptx *p, uint32_t thread, char *text)
{
    size_t length = strlen(text);
    text[length - 1] = '\0';
    if (length > PTX_LABEL || p->places == LITMUS_THREADS * LITMUS_CODE)
        return PTX_FAIL(p, "the label `%s` is too long, or one too many", text);
    strcpy(p->marks[p->places].name, text);
    p->marks[p->places].thread = (uint8_t)thread;
    p->marks[p->places].place = thread_of(p, thread)->length;
    p->places++;
    return true;
}

bool litmus_ptx_instruction(struct litmus_ptx *p, uint32_t thread, char *text)
{
    struct litmus_thread *t = thread_of(p, thread);
    struct words w = {.operand_count = 0};
    text = trimmed(text);
    size_t length = strlen(text), name = strcspn(text, " \t");
    if (!length)
        return true;
    if (text[length - 1] == ':')
        return take_label(p, thread, text);
    if (t->length == LITMUS_CODE)
        return PTX_FAIL(p, "a thread has at most %d instructions", LITMUS_CODE);
    char *rest = text[name] ? text + name + 1 : NULL;
    text[name] = '\0';
    w.part_count = pieces(text, '.', w.parts, PARTS);
    if (rest)
        w.operand_count = pieces(rest, ',', w.operands, OPERANDS);
    if (w.part_count > PARTS || w.operand_count > OPERANDS)
        return PTX_FAIL(p, "too many modifiers or operands");
    struct litmus_instruction *in = &t->code[t->length];
    in->lanes = 1;
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].name, w.parts[0])) {
            if (!forms[i].take(p, thread, &w, in))
                return false;
            t->length++;
            return true;
        }
    return PTX_FAIL(p, "unknown instruction `%s`", w.parts[0]);
}

static bool find_target(struct litmus_ptx *p, uint32_t thread, uint32_t i)
{
    const char *name = p->targets[thread][i];
    for (uint32_t m = 0; m < p->places; m++)
        if (p->marks[m].thread == thread && !strcmp(p->marks[m].name, name)) {
            thread_of(p, thread)->code[i].target = p->marks[m].place;
            return true;
        }
    return PTX_FAIL(p, "P%u has no label `%s`", thread, name);
}

/* A barrier without a count waits for the threads of its block whose programs name it. */
static void name_threads(struct litmus_test *test, struct litmus_instruction *in, uint8_t sm)
{
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++) {
            const struct litmus_instruction *other = &test->threads[t].code[i];
            if (litmus_is_barrier(other) && test->threads[t].sm == sm &&
                other->barrier == in->barrier)
                in->threads |= (uint8_t)(1U << t);
        }
}

bool litmus_ptx_finish(struct litmus_ptx *p)
{
    for (uint32_t t = 0; t < p->test->count; t++)
        for (uint32_t i = 0; i < p->test->threads[t].length; i++) {
            struct litmus_instruction *in = &p->test->threads[t].code[i];
            if (in->op >= LITMUS_BZ && !find_target(p, t, i))
                return false;
            if (litmus_is_barrier(in))
                name_threads(p->test, in, p->test->threads[t].sm);
        }
    return true;
}
