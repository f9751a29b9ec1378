#include "fuzz/laws/own_draw.h"

#include "engine/base/text.h"

#include <string.h>

/* ---- what is meant ---- */

static const struct {
    const char *name;
    enum litmus_op op;
    enum litmus_cache cache;
    enum litmus_scope scope;
} forms[] = {{"ld.ca", LITMUS_LD, CACHE_CA, 0},
             {"ld.cg", LITMUS_LD, CACHE_CG, 0},
             {"ld.cs", LITMUS_LD, CACHE_CS, 0},
             {"ld.cv", LITMUS_LD, CACHE_CV, 0},
             {"ld.lu", LITMUS_LD, CACHE_LU, 0},
             {"ld.vol", LITMUS_LD, CACHE_VOL, SCOPE_SYS},
             {"st.wb", LITMUS_ST, CACHE_WB, 0},
             {"st.cg", LITMUS_ST, CACHE_CG, 0},
             {"st.cs", LITMUS_ST, CACHE_CS, 0},
             {"st.wt", LITMUS_ST, CACHE_WT, 0},
             {"st.vol", LITMUS_ST, CACHE_VOL, SCOPE_SYS},
             {"atom.add", LITMUS_ADD_ATOM, 0, SCOPE_GL},
             {"atom.exch", LITMUS_EXCH, 0, SCOPE_GL},
             {"atom.cas", LITMUS_CAS, 0, SCOPE_GL},
             {"mb.cta", LITMUS_MEMBAR, 0, SCOPE_CTA},
             {"mb.gl", LITMUS_MEMBAR, 0, SCOPE_GL},
             {"mb.sys", LITMUS_MEMBAR, 0, SCOPE_SYS},
             {"wait", LITMUS_WAIT, 0, 0},
             {"bar", LITMUS_BAR, 0, 0},
             {"use", LITMUS_USE, 0, 0},
             {"mov", LITMUS_MOV, 0, 0},
             {"add", LITMUS_ADD, 0, 0},
             {"bz", LITMUS_BZ, 0, 0},
             {"bnz", LITMUS_BNZ, 0, 0}};
enum { FORMS = sizeof forms / sizeof *forms, SHARED = LITMUS_GLOBALS };
enum { LOCALS = LITMUS_GLOBALS + 4 * LITMUS_THREADS };

static int16_t draw_number(struct pcg *rng)
{
    static const int16_t bounds[] = {0, 1, -1, 9999, -9999, 10, 9, 255, 256, -32};
    return pcg_below(rng, 3) ? bounds[pcg_below(rng, 10)]
                             : (int16_t)((int)pcg_below(rng, 19999) - 9999);
}

static struct litmus_operand draw_operand(struct pcg *rng, const struct litmus_thread *t)
{
    if (t->registers > 0 && pcg_below(rng, 2))
        return (struct litmus_operand){true, (int16_t)pcg_below(rng, t->registers)};
    return (struct litmus_operand){false, draw_number(rng)};
}

static uint8_t draw_word(struct pcg *rng, const struct litmus_test *meant, uint32_t thread)
{
    uint32_t space = pcg_below(rng, 4), sm = meant->threads[thread].sm;
    if (space == 0)
        return (uint8_t)(SHARED + 4 * sm + pcg_below(rng, 4));
    if (space == 1)
        return (uint8_t)(LOCALS + 2 * thread +
                         pcg_below(rng, meant->options.words_a_line == 2 ? 2 : 1));
    return (uint8_t)pcg_below(rng, LITMUS_GLOBALS);
}

/* One that is there, or the next one. */
static uint8_t draw_register(struct pcg *rng, struct litmus_thread *t)
{
    bool old = t->registers == LITMUS_REGISTERS || (t->registers > 0 && pcg_below(rng, 3) == 0);
    return old ? (uint8_t)pcg_below(rng, t->registers) : t->registers++;
}

static bool writes(const struct litmus_instruction *in)
{
    return in->op == LITMUS_LD || in->op == LITMUS_MOV || in->op == LITMUS_ADD ||
           (in->op > LITMUS_ST && in->op <= LITMUS_CAS);
}

/* Operands are read before what is written has a name; of accesses the other way round. */
static void draw_code(struct pcg *rng, struct litmus_test *meant, uint32_t thread, uint32_t length)
{
    struct litmus_thread *t = &meant->threads[thread];
    struct litmus_instruction *in = &t->code[t->length];
    const uint32_t form = pcg_below(rng, FORMS);
    const bool memory = forms[form].op <= LITMUS_CAS;
    if (forms[form].op == LITMUS_USE && t->registers == 0)
        return;
    *in = (struct litmus_instruction){.op = forms[form].op,
                                      .cache = forms[form].cache,
                                      .scope = forms[form].scope,
                                      .lanes = memory && pcg_below(rng, 3) == 0 ? 2 : 1};
    for (uint32_t lane = 0; lane < in->lanes && memory; lane++)
        in->word[lane] = draw_word(rng, meant, thread);
    if (!memory && in->op >= LITMUS_MOV)
        in->a[0] = draw_operand(rng, t);
    if (in->op == LITMUS_ADD)
        in->b = draw_operand(rng, t);
    for (uint32_t lane = 0; lane < in->lanes && writes(in); lane++)
        in->reg[lane] = draw_register(rng, t);
    if (in->op == LITMUS_USE)
        in->reg[0] = (uint8_t)pcg_below(rng, t->registers);
    for (uint32_t lane = 0; lane < in->lanes && memory && in->op != LITMUS_LD; lane++)
        in->a[lane] = draw_operand(rng, t);
    if (in->lanes == 2 && pcg_below(rng, 3) == 0)
        in->a[1] = in->a[0]; /* one value serves both */
    if (in->op == LITMUS_CAS)
        in->b = draw_operand(rng, t);
    if (in->op >= LITMUS_BZ)
        in->target = (uint8_t)(t->length + 1 + pcg_below(rng, length - t->length));
    t->length++;
}

static void draw_observed(struct pcg *rng, struct litmus_test *meant)
{
    meant->observed = (uint8_t)(1 + pcg_below(rng, LITMUS_OBSERVED));
    for (uint32_t i = 0; i < meant->observed; i++) {
        uint32_t thread = pcg_below(rng, meant->count);
        const struct litmus_thread *t = &meant->threads[thread];
        bool is_register = t->registers > 0 && pcg_below(rng, 2);
        meant->observe[i] = (struct litmus_observed){
            is_register, (uint8_t)thread,
            is_register ? (uint8_t)pcg_below(rng, t->registers) : draw_word(rng, meant, thread)};
    }
}

void litmus_draw_own(struct pcg *rng, struct drawn_test *test)
{
    struct litmus_test *meant = &test->meant;
    static const uint8_t lengths[] = {0, 1, 2, 3, 4, 6, 8, 12, LITMUS_CODE};
    meant->options.words_a_line = (uint8_t)(1 + pcg_below(rng, 2));
    meant->options.strong = pcg_below(rng, 2);
    meant->options.before = pcg_below(rng, 2);
    meant->options.inval = pcg_below(rng, 2);
    meant->options.split = (enum litmus_split)pcg_below(rng, 3);
    test->spelling = pcg_next(rng);
    for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
        meant->init[w] = pcg_below(rng, 2) ? 0 : draw_number(rng);
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++)
        meant->warm[sm] = (uint16_t)(pcg_below(rng, 2) ? 0 : pcg_below(rng, 1u << LITMUS_GLOBALS));
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        meant->verdict[m] = (enum litmus_stated)pcg_below(rng, 3);
    meant->count = (uint8_t)(1 + pcg_below(rng, LITMUS_THREADS));
    for (uint32_t t = 0; t < meant->count; t++) {
        uint32_t length = lengths[pcg_below(rng, pcg_below(rng, 4) ? 6 : 9)];
        meant->threads[t].sm = (uint8_t)pcg_below(rng, LITMUS_THREADS);
        while (meant->threads[t].length < length)
            draw_code(rng, meant, t, length);
    }
    draw_observed(rng, meant);
}

/* ---- its text ---- */

/* How something may be said: the same each time that it is asked. */
static uint32_t way(const struct drawn_test *test, uint32_t what, uint32_t n)
{
    return (uint32_t)(pcg_splitmix(test->spelling + what) % n);
}

/* Of one to seven letters and digits, and none like another of the thread; names of words are names of registers,
 * too. */
static const char *register_name(const struct drawn_test *test, uint32_t thread, uint32_t reg)
{
    static const char *const names[] = {"a",  "b1",      "x",  "Zz", "r0", "r00", "registe", "l0",
                                        "q1", "abcdefg", "s3", "R0", "y",  "use", "mov",     "aa"};
    return names[(way(test, 100 + thread, 16) + 3 * reg) % 16];
}

static void put_word(struct text *out, uint32_t word)
{
    if (word < LITMUS_GLOBALS)
        text_format(out, "%c", "xyzw"[word]);
    else if (word < LOCALS)
        text_format(out, "s%u", (unsigned)(word - SHARED) % 4);
    else
        text_format(out, "l%u", (unsigned)(word - LOCALS) % 2);
}

static void put_operand(struct text *out, const struct drawn_test *test, uint32_t thread,
                        struct litmus_operand o)
{
    if (o.is_register)
        text_put(out, register_name(test, thread, (uint32_t)o.value));
    else
        text_format(out, "%d", (int)o.value);
}

static const char *form_name(const struct litmus_instruction *in)
{
    bool access = in->op <= LITMUS_ST;
    for (uint32_t i = 0; i < FORMS; i++)
        if (forms[i].op == in->op && (!access || forms[i].cache == in->cache) &&
            (in->op != LITMUS_MEMBAR || forms[i].scope == in->scope))
            return forms[i].name;
    return "";
}

/* Where one value serves both lanes it may be said once. */
static void put_values(struct text *out, const struct drawn_test *test, uint32_t thread,
                       const struct litmus_instruction *in, uint32_t number)
{
    bool same = in->lanes == 2 && in->a[0].is_register == in->a[1].is_register &&
                in->a[0].value == in->a[1].value;
    text_put(out, " ");
    put_operand(out, test, thread, in->a[0]);
    if (in->lanes == 1 || (same && way(test, 200 + number, 2)))
        return;
    text_put(out, ",");
    put_operand(out, test, thread, in->a[1]);
}

static void put_instruction(struct text *out, const struct drawn_test *test, uint32_t thread,
                            uint32_t at)
{
    const struct litmus_instruction *in = &test->meant.threads[thread].code[at];
    const bool memory = in->op <= LITMUS_CAS;
    text_put(out, form_name(in));
    for (uint32_t lane = 0; lane < in->lanes && (writes(in) || in->op == LITMUS_USE); lane++)
        text_format(out, "%s%s",
                    lane               ? ","
                    : way(test, at, 2) ? "  "
                                       : " ",
                    register_name(test, thread, in->reg[lane]));
    for (uint32_t lane = 0; lane < in->lanes && memory; lane++) {
        text_put(out, lane ? "," : " ");
        put_word(out, in->word[lane]);
    }
    if (memory && in->op != LITMUS_LD) {
        put_values(out, test, thread, in, 32 * thread + at);
    } else if (in->op >= LITMUS_MOV) {
        text_put(out, " ");
        put_operand(out, test, thread, in->a[0]);
    }
    if (in->op == LITMUS_CAS || in->op == LITMUS_ADD) {
        text_put(out, " ");
        put_operand(out, test, thread, in->b);
    }
    if (in->op >= LITMUS_BZ)
        text_format(out, " L_%u", (unsigned)in->target);
}

/* Labels stand before the instructions that branches go to, or behind all of them; also where nobody goes. */
static void put_thread(struct text *out, const struct drawn_test *test, uint32_t thread)
{
    static const char *const between[] = {";", "; ", " ; ", ";  ;"};
    const struct litmus_thread *t = &test->meant.threads[thread];
    text_format(out, "thread %u:", (unsigned)t->sm);
    for (uint32_t i = 0; i <= t->length; i++) {
        bool is_target = way(test, 300 + 32 * thread + i, 8) == 0;
        for (uint32_t k = 0; k < t->length; k++)
            is_target |= t->code[k].op >= LITMUS_BZ && t->code[k].target == i;
        if (is_target)
            text_format(out, " L_%u:;", (unsigned)i);
        if (i == t->length)
            break;
        text_put(out, way(test, i, 3) ? " " : "");
        put_instruction(out, test, thread, i);
        text_put(out, between[way(test, 500 + 32 * thread + i, 4)]);
    }
    text_put(out, way(test, 600 + thread, 2) ? "\n" : " \t\n");
}

static void put_settings(struct text *out, const struct drawn_test *test)
{
    static const char *const splits[] = {"max", "none", "all"};
    const struct litmus_test *meant = &test->meant;
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++)
        for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
            if (meant->warm[sm] >> w & 1)
                text_format(out, "warm %u %c\n", (unsigned)sm, "xyzw"[w]);
    for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
        if (meant->init[w] || way(test, 700 + w, 4) == 0)
            text_format(out, "init %c %d\n", "xyzw"[w], (int)meant -> init[w]);
    const bool twice = way(test, 711, 3) == 0; /* what is said last holds */
    if (twice)
        text_format(out, "option split=%s\n", splits[way(test, 712, 3)]);
    if (meant->options.split || twice || way(test, 710, 2))
        text_format(out, "option split=%s\n", splits[meant->options.split]);
    text_format(out, "%s%s%s", meant->options.before ? "option before\n" : "",
                meant->options.inval ? "option inval\n" : "",
                meant->options.strong ? "option strong\n# a remark\n" : "");
}

/* A shared or local word is that of a thread; the first one, where none is said. */
static void put_observed(struct text *out, const struct drawn_test *test)
{
    text_put(out, "observe");
    for (uint32_t i = 0; i < test->meant.observed; i++) {
        const struct litmus_observed *o = &test->meant.observe[i];
        text_put(out, way(test, 720 + i, 4) ? " " : "  ");
        if (o->is_register) {
            text_format(out, "%u:%s", (unsigned)o->thread,
                        register_name(test, o->thread, o->number));
            continue;
        }
        put_word(out, o->number);
        if (o->thread > 0 || way(test, 730 + i, 2))
            text_format(out, "@%u", (unsigned)o->thread);
    }
    text_put(out, "\n");
}

static void put_verdicts(struct text *out, const struct litmus_test *meant, enum litmus_stated says)
{
    uint32_t left = 0;
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        if (meant->verdict[m] == says)
            text_format(out, "%s %s",
                        left++               ? ""
                        : says == STATED_YES ? "allows"
                                             : "forbids",
                        litmus_model_names[m]);
    text_put(out, left ? "\n" : "");
}

/* A name may have blanks, and is as long as it may be now and then. */
static const char *test_name(const struct drawn_test *test)
{
    static const char longest[] =
        "abcdefghijklmnopqrstuvwxyz-0123456789+ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char *const names[] = {"drawn", "SB+two words", longest, "#", "test"};
    return names[way(test, 800, 5)] + (way(test, 800, 5) == 2);
}

static const char *stated(const struct drawn_test *test, uint32_t what)
{
    static const char *const lists[] = {NULL, "00 01", "count 12", "(10)(-1)", ""};
    return lists[way(test, what, 5)];
}

static void put_stated(struct text *out, const char *key, const char *list)
{
    if (list)
        text_format(out, "%s%s%s\n", key, *list ? " " : "", list);
}

static const char *const befores[] = {"", "# a remark\n\n", "\n\n", "#\n", "\n#test T\n"};

const char *litmus_draw_own_text(struct arena *arena, const struct drawn_test *test)
{
    struct text out = text_begin(arena);
    const bool first = way(test, 810, 2);
    if (test->meant.observed == 0)
        return NULL;
    text_format(&out, "%stest %s\n%s", befores[way(test, 820, 5)], test_name(test),
                test->meant.options.words_a_line == 2 ? "option W=2\n" : "");
    put_stated(&out, "sc", stated(test, 801));
    if (first)
        put_settings(&out, test);
    for (uint32_t t = 0; t < test->meant.count; t++)
        put_thread(&out, test, t);
    put_observed(&out, test);
    if (!first)
        put_settings(&out, test);
    put_verdicts(&out, &test->meant, STATED_NO);
    put_verdicts(&out, &test->meant, STATED_YES);
    put_stated(&out, "more", stated(test, 802));
    text_put(&out,
             way(test, 830, 2) ? "\n# the next one\ntest next\nthread 0: wait\nobserve w" : "");
    return out.bytes;
}

/* ---- whether it was read so ---- */

static bool same_operand(struct litmus_operand a, struct litmus_operand b)
{
    return a.is_register == b.is_register && a.value == b.value;
}

static bool same_instruction(const struct litmus_test *meant, uint32_t thread,
                             const struct litmus_instruction *a, const struct litmus_instruction *b)
{
    const bool memory = b->op <= LITMUS_CAS, atomic = memory && b->op > LITMUS_ST;
    const bool branches = b->op >= LITMUS_BZ, ordered = b->cache == CACHE_VOL || atomic;
    if (a->op != b->op || a->lanes != b->lanes || a->no_result != branches)
        return false;
    for (uint32_t lane = 0; lane < b->lanes; lane++)
        if ((memory && a->word[lane] != b->word[lane]) ||
            ((writes(b) || b->op == LITMUS_USE) && a->reg[lane] != b->reg[lane]) ||
            !same_operand(a->a[lane], b->a[lane]))
            return false;
    for (uint32_t t = 0; t < meant->count && b->op == LITMUS_BAR; t++)
        if ((a->threads >> t & 1) != (meant->threads[t].sm == meant->threads[thread].sm))
            return false;
    return a->cache == b->cache && (!branches || a->target == b->target) &&
           (!memory || a->order == (ordered ? ORDER_RELAXED : ORDER_WEAK)) &&
           (b->op != LITMUS_MEMBAR || a->order == ORDER_SC) &&
           (!(ordered || b->op == LITMUS_MEMBAR) || a->scope == b->scope) &&
           same_operand(a->b, b->b) && a->arrivals == 0 && a->barrier == 0;
}

static bool same_thread(const struct drawn_test *test, const struct litmus_test *read, uint32_t t)
{
    const struct litmus_thread *a = &read->threads[t], *b = &test->meant.threads[t];
    if (a->sm != b->sm || a->cta != b->sm || a->gpu != 0 || a->length != b->length ||
        a->registers != b->registers)
        return false;
    for (uint32_t r = 0; r < b->registers; r++)
        if (strcmp(a->names[r], register_name(test, t, r)) != 0 || a->first[r] != 0)
            return false;
    for (uint32_t i = 0; i < b->length; i++)
        if (!same_instruction(&test->meant, t, &a->code[i], &b->code[i]))
            return false;
    return true;
}

static bool same_observed(const struct litmus_test *a, const struct litmus_test *b)
{
    if (a->observed != b->observed)
        return false;
    for (uint32_t i = 0; i < b->observed; i++)
        if (a->observe[i].is_register != b->observe[i].is_register ||
            a->observe[i].thread != b->observe[i].thread ||
            a->observe[i].number != b->observe[i].number)
            return false;
    return true;
}

static bool same_list(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static uint32_t line_of(const struct drawn_test *test)
{
    uint32_t line = 1;
    for (const char *at = befores[way(test, 820, 5)]; *at; at++)
        line += *at == '\n';
    return line;
}

static bool same_test(const struct drawn_test *test, const struct litmus_test *read)
{
    const struct litmus_test *meant = &test->meant;
    const struct litmus_options *a = &read->options, *b = &meant->options;
    if (read->count != meant->count || read->is_ptx || strcmp(read->name, test_name(test)) != 0 ||
        read->line != line_of(test) || read->condition.asks != ASKS_NOTHING)
        return false;
    for (uint32_t t = 0; t < meant->count; t++)
        if (!same_thread(test, read, t))
            return false;
    return memcmp(read->init, meant->init, sizeof read->init) == 0 &&
           memcmp(read->warm, meant->warm, sizeof read->warm) == 0 &&
           memcmp(read->verdict, meant->verdict, sizeof read->verdict) == 0 &&
           same_observed(read, meant) && a->words_a_line == b->words_a_line &&
           a->split == b->split && a->strong == b->strong && a->before == b->before &&
           a->inval == b->inval && !a->poloc && !a->loads_free &&
           same_list(read->sc, stated(test, 801)) && same_list(read->more, stated(test, 802));
}

bool litmus_own_is(struct arena *arena, const struct drawn_test *test, const char *text)
{
    struct litmus_reader reader = {text, 0};
    struct litmus_test *read = ARENA_NEW(arena, struct litmus_test);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "drawn", text, strlen(text));
    if (!litmus_next(arena, &reader, read, diag) || !same_test(test, read))
        return false;
    bool next = way(test, 830, 2);
    if (litmus_next(arena, &reader, read, diag) != next || diag->count > 0)
        return false;
    return !next || (strcmp(read->name, "next") == 0 && read->count == 1 &&
                     !litmus_next(arena, &reader, read, diag) && diag->count == 0);
}

/* ---- a test without something ---- */

/* A register has its number by where it is first written; who reads one that nobody writes above reads a number. */
static void settle(struct litmus_thread *t)
{
    uint8_t names[LITMUS_REGISTERS];
    memset(names, LITMUS_REGISTERS, sizeof names);
    t->registers = 0;
    for (uint32_t i = 0; i < t->length; i++) {
        struct litmus_instruction *in = &t->code[i];
        struct litmus_operand *operands[] = {&in->a[0], &in->a[1], &in->b};
        const bool memory = in->op <= LITMUS_CAS;
        if (in->op == LITMUS_USE && names[in->reg[0]] == LITMUS_REGISTERS)
            in->op = LITMUS_WAIT;
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t lane = 0; lane < in->lanes && writes(in) && pass == (memory ? 0 : 1);
                 lane++) {
                if (names[in->reg[lane]] == LITMUS_REGISTERS)
                    names[in->reg[lane]] = t->registers++;
                in->reg[lane] = names[in->reg[lane]];
            }
            for (uint32_t o = 0; o < 3 && pass == (memory ? 1 : 0); o++)
                if (operands[o]->is_register) {
                    operands[o]->is_register = names[operands[o]->value] < LITMUS_REGISTERS;
                    operands[o]->value = operands[o]->is_register ? names[operands[o]->value] : 7;
                }
        }
        if (in->op == LITMUS_USE)
            in->reg[0] = names[in->reg[0]];
    }
}

void litmus_drop_own(struct drawn_test *test, uint32_t thread, uint32_t at)
{
    struct litmus_test *meant = &test->meant;
    struct litmus_thread *t = &meant->threads[thread];
    uint8_t left = 0;
    t->length--;
    for (uint32_t i = at; i < t->length; i++)
        t->code[i] = t->code[i + 1];
    for (uint32_t i = 0; i < t->length; i++)
        if (t->code[i].op >= LITMUS_BZ && t->code[i].target > at)
            t->code[i].target--;
    settle(t);
    for (uint32_t i = 0; i < meant->observed; i++)
        if (!meant->observe[i].is_register || meant->observe[i].thread != thread ||
            meant->observe[i].number < t->registers)
            meant->observe[left++] = meant->observe[i];
    meant->observed = left;
}
