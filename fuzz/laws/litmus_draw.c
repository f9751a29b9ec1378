#include "fuzz/laws/litmus_draw.h"

#include "engine/base/text.h"
#include "fuzz/laws/own_draw.h"
#include "fuzz/laws/ptx_draw.h"

#include <string.h>

enum {
    DRAW_FENCED = 1,
    DRAW_APART = 2,
    DRAW_PTX = 4,
    DRAW_OWN = 8,
    DRAW_SETTINGS = 16,
    DRAW_ANY = 32
};
enum { LENGTH = 3, LOADS = 5, WORDS = 2, UNDER_WAY = 4 /* operations of a thread */ };

static const struct {
    const char *loads, *stores, *fences;
    int flags;
} laws[LITMUS_LAWS] = {
#define LAW(id, name, sentence, loads, stores, fences, flags)                                      \
    [LAW_##id] = {loads, stores, fences, flags},
#include "fuzz/laws/litmus_laws.def"
#undef LAW
};

/* What is drawn, and what is read of it. */
static const struct {
    const char *name;
    enum litmus_op op;
    enum litmus_cache cache;
    enum litmus_scope scope;
} meanings[] = {{"ld.ca", LITMUS_LD, CACHE_CA, 0},
                {"ld.cg", LITMUS_LD, CACHE_CG, 0},
                {"ld.cs", LITMUS_LD, CACHE_CS, 0},
                {"ld.cv", LITMUS_LD, CACHE_CV, 0},
                {"ld.lu", LITMUS_LD, CACHE_LU, 0},
                {"ld.vol", LITMUS_LD, CACHE_VOL, 0},
                {"st.wb", LITMUS_ST, CACHE_WB, 0},
                {"st.cg", LITMUS_ST, CACHE_CG, 0},
                {"st.cs", LITMUS_ST, CACHE_CS, 0},
                {"st.wt", LITMUS_ST, CACHE_WT, 0},
                {"st.vol", LITMUS_ST, CACHE_VOL, 0},
                {"mb.cta", LITMUS_MEMBAR, 0, SCOPE_CTA},
                {"mb.gl", LITMUS_MEMBAR, 0, SCOPE_GL},
                {"mb.sys", LITMUS_MEMBAR, 0, SCOPE_SYS},
                {"bar", LITMUS_BAR, 0, 0},
                {"wait", LITMUS_WAIT, 0, 0},
                {"atom.add", LITMUS_ADD_ATOM, 0, SCOPE_GL},
                {"atom.exch", LITMUS_EXCH, 0, SCOPE_GL},
                {"atom.cas", LITMUS_CAS, 0, SCOPE_GL}};

/* Whether the word stands in the list. */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

/* Those of a thread of its own are x, y or z, and in shared memory s0, s1 or s2. Where lines have one word l1 is l0. */
static const char *const words[] = {"x", "y", "z", "s0", "s1", "s2", "l0", "l1"};
enum { OWN_SHARED = 3, LOCAL = 6 };
static const char local_loads[] = "ld.ca ld.cg ld.cs ld.lu", local_stores[] = "st.wb st.cg st.cs";

static const char *draw_name(struct pcg *rng, const char *list)
{
    const bool all = lists(list, "atoms"); /* cas, too */
    const char *of[sizeof meanings / sizeof *meanings];
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const char *name = meanings[i].name;
        bool atomic = name[0] == 'a', cas = strcmp(name, "atom.cas") == 0;
        if (lists(list, name) || (atomic && (all || (lists(list, "atom") && !cas))))
            of[count++] = name;
    }
    return of[pcg_below(rng, count)];
}

/* Of all spaces. Local words have no atomic operations; a last use is of them alone. */
static uint8_t draw_word(struct pcg *rng)
{
    uint32_t space = pcg_below(rng, 8), word = pcg_below(rng, WORDS);
    return (uint8_t)(word + (space < 5 ? 0 : space == 5 ? OWN_SHARED : LOCAL));
}

static struct drawn_instruction draw_instruction(struct pcg *rng, enum litmus_law law,
                                                 uint32_t thread, uint32_t loads, uint8_t *value)
{
    uint32_t kind = pcg_below(rng, laws[law].fences[0] ? 5 : 4);
    struct drawn_instruction in = {.word = (uint8_t)pcg_below(rng, WORDS)};
    if (laws[law].flags & DRAW_OWN)
        in.word = (uint8_t)(thread + (pcg_below(rng, 3) == 0 ? OWN_SHARED : 0));
    if (laws[law].flags & DRAW_SETTINGS)
        in.word = draw_word(rng);
    bool local = in.word >= LOCAL;
    in.is_used = pcg_below(rng, 3) == 0;
    in.branch = (uint8_t)(law == LAW_TEXT_CACHES ? 0 : pcg_below(rng, 4) % 3);
    if (kind == 4) {
        in.name = draw_name(rng, laws[law].fences);
        in.is_fence = true;
    } else if (kind < 2 && loads < LOADS) {
        in.name = draw_name(rng, local ? local_loads : laws[law].loads);
        in.reads = true;
    } else {
        in.name = draw_name(rng, local ? local_stores : laws[law].stores);
        in.reads = in.name[0] == 'a';
        in.writes = true;
        in.value = ++*value;
    }
    return in;
}

/* Of two lanes: another word beside the first. Frames are of lanes, and no test looks into those of a second one; and a
 * warp waits for both lanes' registers, where a test may wait for one, and its lanes may part at a branch. */
static void draw_lane(struct pcg *rng, struct drawn_instruction *in, uint32_t *loads,
                      uint8_t *value, uint32_t *room)
{
    in->branch = 0;
    if (in->is_fence || in->word >= LOCAL || pcg_below(rng, 2) || *loads + in->reads > LOADS ||
        *room == 0)
        return;
    --*room;
    in->second = (uint8_t)((in->word < OWN_SHARED ? 0 : OWN_SHARED) + pcg_below(rng, WORDS) + 1);
    in->is_used = false;
    *loads += in->reads;
    *value = (uint8_t)(*value + in->writes); /* that of the second lane */
}

/* Of a thread alone, words of its frame, and two lanes, of two words: of one the lanes' order would tell. Where nothing
 * is fenced a store may leave a line as it was that its neighbour's load brought, so that lines of two words are of the
 * frame; in half of these stores come first, which leave lines of which one word is valid. */
static void draw_alone(struct pcg *rng, struct drawn_test *test, uint32_t at, bool sorted,
                       uint32_t *loads, uint8_t *value)
{
    struct drawn_instruction *in = &test->code[0][at];
    const bool fenced = laws[test->law].flags & DRAW_FENCED;
    if (in->is_fence)
        return;
    if ((test->lines && !fenced) || pcg_below(rng, 2)) {
        in->word = (uint8_t)(LOCAL + pcg_below(rng, 2));
        in->writes = test->lines && sorted ? 2 * at < test->length[0] : in->writes;
        in->reads = !in->writes;
        in->name = draw_name(rng, in->writes ? local_stores : "ld.ca ld.cg");
        in->value = *value = (uint8_t)(*value + in->writes);
    }
    const uint32_t first = in->word < OWN_SHARED ? 0 : in->word < LOCAL ? OWN_SHARED : LOCAL;
    if (pcg_below(rng, 2) || *loads + 2 > LOADS || (first == LOCAL && !test->lines))
        return;
    in->second = (uint8_t)(first + (in->word == first) + 1);
    in->is_used = false;
    in->branch = 0;
    *loads += in->reads;
    *value = (uint8_t)(*value + in->writes);
}

static bool waits(const struct drawn_test *test, uint32_t thread, uint32_t at)
{
    const struct drawn_instruction *code = test->code[thread];
    bool waits = false;
    for (uint32_t i = 0; i < at && !code[at].is_fence; i++)
        waits |= !code[i].is_fence && code[i].word == code[at].word &&
                 (code[i].writes || code[at].writes);
    return waits;
}

/* Ends a thread behind an access that waits; atomics' registers are not used. */
static void keep_apart(struct drawn_test *test)
{
    for (uint32_t t = 0; t < test->threads; t++)
        for (uint32_t i = 0; i < test->length[t]; i++) {
            struct drawn_instruction *in = &test->code[t][i];
            in->is_used &= !in->writes;
            if (waits(test, t, i))
                test->length[t] = (uint8_t)(i + 1);
        }
}

static bool is_cas(const struct drawn_instruction *in)
{
    return strcmp(in->name, "atom.cas") == 0;
}

static bool is_taken(const struct drawn_test *test, uint32_t thread, uint32_t k)
{
    bool taken = false;
    for (uint32_t i = 0; i < test->length[thread]; i++)
        taken |= test->code[thread][i].from == k + 1;
    return taken;
}

/* Writes of what was read by as many lanes: registers are then blocked for what is under way. A warp writes what two
 * lanes read from a register of its own, which blocks no further write. */
static void draw_registers(struct pcg *rng, struct drawn_test *test)
{
    for (uint32_t t = 0; t < test->threads; t++)
        for (uint32_t i = 1; i < test->length[t]; i++) {
            struct drawn_instruction *code = test->code[t];
            uint32_t k = pcg_below(rng, i);
            if (code[i].writes && code[k].reads && !code[i].second == !code[k].second &&
                !(code[i].second && (is_cas(&code[i]) || is_taken(test, t, k))) &&
                pcg_below(rng, 4))
                code[i].from = (uint8_t)(k + 1);
        }
}

/* Two lanes read two words, and write what they read. */
static void draw_two_lanes(struct pcg *rng, struct drawn_test *test)
{
    uint32_t t = pcg_below(rng, test->threads), first = pcg_below(rng, 4) ? 0 : OWN_SHARED;
    uint32_t one = pcg_below(rng, WORDS), other = pcg_below(rng, WORDS), kind = pcg_below(rng, 4);
    test->length[t] = 2;
    test->code[t][0] =
        (struct drawn_instruction){.name = "ld.cg", .reads = true, .word = (uint8_t)(first + one)};
    test->code[t][1] = (struct drawn_instruction){.name = kind == 0   ? "atom.add"
                                                          : kind == 1 ? "atom.cas"
                                                                      : "st.wb",
                                                  .reads = kind < 2,
                                                  .writes = true,
                                                  .word = (uint8_t)(first + other),
                                                  .value = 100,
                                                  .from = kind == 1 ? 0 : 1};
    test->code[t][0].second = (uint8_t)(first + 1 - one + 1);
    test->code[t][1].second = (uint8_t)(first + 1 - other + 1);
}

static void draw_settings(struct pcg *rng, struct drawn_test *test)
{
    test->lines = pcg_below(rng, 3) == 0;
    test->strong = pcg_below(rng, 4) == 0;
    test->before = pcg_below(rng, 4) == 0;
    test->inval = pcg_below(rng, 4) == 0;
    test->split = (uint8_t)pcg_below(rng, 3);
    for (uint32_t w = 0; w < WORDS; w++)
        test->first[w] = (uint8_t)(pcg_below(rng, 4) ? 0 : 7 + w);
    for (uint32_t sm = 0; sm < test->threads; sm++)
        test->warm[sm] = (uint8_t)(pcg_below(rng, 2) ? 0 : pcg_below(rng, 1u << WORDS));
}

struct drawn_test litmus_draw(uint64_t seed, uint64_t number)
{
    struct drawn_test test = {.threads = 0};
    struct pcg rng;
    uint8_t value = 0;
    uint32_t loads = 0;
    pcg_seed(&rng, pcg_splitmix(seed), pcg_splitmix(number));
    uint32_t drawn =
        pcg_below(&rng, LITMUS_LAWS + 1); /* of the axioms, which are more to ask, two */
    test.law = drawn == LITMUS_LAWS ? LAW_AXIOMS : (enum litmus_law)drawn;
    if (laws[test.law].flags & DRAW_PTX) {
        litmus_draw_ptx(&rng, &test);
        return test;
    }
    if (laws[test.law].flags & DRAW_ANY) {
        litmus_draw_own(&rng, &test);
        return test;
    }
    /* Of words of their own longer threads, and fewer. */
    const uint32_t own = laws[test.law].flags & DRAW_OWN ? 1 : 0;
    test.threads = 2 - own + (pcg_below(&rng, 3) == 0);
    const uint32_t least = own && test.threads == 1 ? LENGTH : 1,
                   ways = test.threads == 3 ? LENGTH - 1 : LENGTH;
    const bool pairs = laws[test.law].flags & DRAW_SETTINGS && pcg_below(&rng, 3) == 0;
    const bool alone = own && test.threads == 1;
    test.lines = alone && pcg_below(&rng, 2);
    const bool sorted = pcg_below(&rng, 2);
    for (uint32_t t = 0; t < test.threads; t++) {
        test.sm[t] = (uint8_t)pcg_below(&rng, t + 1);
        test.length[t] = (uint8_t)(least + pcg_below(&rng, ways));
        uint32_t room = UNDER_WAY - test.length[t];
        for (uint32_t i = 0; i < test.length[t]; i++) {
            test.code[t][i] = draw_instruction(&rng, test.law, t, loads, &value);
            if (alone)
                draw_alone(&rng, &test, i, sorted, &loads, &value);
            loads += test.code[t][i].reads;
            if (pairs)
                draw_lane(&rng, &test.code[t][i], &loads, &value, &room);
        }
    }
    if (laws[test.law].flags & DRAW_APART)
        keep_apart(&test);
    if (laws[test.law].flags & DRAW_SETTINGS) {
        draw_settings(&rng, &test);
        draw_registers(&rng, &test);
        if (pairs && pcg_below(&rng, 4) == 0)
            draw_two_lanes(&rng, &test);
    }
    return test;
}

static const char *word_name(const struct drawn_test *test, uint32_t word)
{
    return words[word > LOCAL && !test->lines ? LOCAL : word];
}

/* Of the first lane, and of the second one, if there is one. */
static void put_lanes(struct text *out, const char *before, uint32_t first, const char *between,
                      uint32_t second)
{
    text_format(out, "%s%u", before, (unsigned)first);
    if (between)
        text_format(out, "%s%u", between, (unsigned)second);
}

static const char *const uses[] = {"use", "bz", "bnz"};

static void put_instruction(struct text *out, const struct drawn_test *test,
                            const struct drawn_instruction *in, uint32_t reg)
{
    bool two = in->second > 0;
    text_put(out, in->name);
    if (in->is_fence)
        return;
    if (in->reads)
        put_lanes(out, " r", reg, two ? ",q" : NULL, reg);
    text_format(out, " %s", word_name(test, in->word));
    if (two)
        text_format(out, ",%s", word_name(test, in->second - 1u));
    if (in->writes && is_cas(in)) /* of one lane what the other writes, too */
        text_format(out, " 0");
    if (in->from > 0)
        put_lanes(out, " r", in->from - 1u, two ? ",q" : NULL, in->from - 1u);
    else if (in->writes)
        put_lanes(out, " ", in->value, two && !is_cas(in) ? "," : NULL, in->value + 1u);
    if (in->reads && in->is_used)
        text_format(out, "; %s r%u%s", uses[in->branch], (unsigned)reg, in->branch ? " L" : "");
}

static const char *const splits[] = {"", "option split=none\n", "option split=all\n"};

/* Of SMs that threads run on. */
static void put_settings(struct text *out, const struct drawn_test *test)
{
    uint32_t used = 0;
    for (uint32_t t = 0; t < test->threads; t++)
        used |= test->length[t] ? 1u << test->sm[t] : 0;
    for (uint32_t sm = 0; sm < test->threads; sm++)
        for (uint32_t w = 0; w < WORDS; w++)
            if (used >> sm & test->warm[sm] >> w & 1)
                text_format(out, "warm %u %s\n", (unsigned)sm, words[w]);
    for (uint32_t w = 0; w < WORDS; w++)
        if (test->first[w])
            text_format(out, "init %s %u\n", words[w], (unsigned)test->first[w]);
    text_format(out, "%s", splits[test->split]);
    text_format(out, "%s%s%s", test->strong ? "option strong\n" : "",
                test->before ? "option before\n" : "", test->inval ? "option inval\n" : "");
}

/* Local words that somebody writes, as there is room. */
static void put_locals(struct text *out, const struct drawn_test *test, uint32_t *left)
{
    uint32_t thread = 0;
    for (uint32_t t = 0; t<test->threads; thread += test->length[t]> 0, t++)
        for (uint32_t w = LOCAL; w <= LOCAL + (test->lines ? 1u : 0u); w++) {
            bool written = false;
            for (uint32_t i = 0; i < test->length[t]; i++)
                written |= test->code[t][i].writes && (test->code[t][i].word == w ||
                                                       (!test->lines && test->code[t][i].word > w));
            if (written && *left > 0 && (*left)--)
                text_format(out, " %s@%u", words[w], (unsigned)thread);
        }
}

const char *litmus_draw_text(struct arena *arena, const struct drawn_test *test)
{
    struct text out = text_begin(arena);
    uint32_t thread = 0;
    bool fenced = laws[test->law].flags & DRAW_FENCED;
    if (laws[test->law].flags & DRAW_PTX)
        return litmus_draw_ptx_text(arena, test);
    if (laws[test->law].flags & DRAW_ANY)
        return litmus_draw_own_text(arena, test);
    text_format(&out, "test drawn\n%s", test->lines ? "option W=2\n" : "");
    for (uint32_t t = 0; t < test->threads; t++) {
        for (uint32_t i = 0; i < test->length[t]; i++) {
            text_format(&out, i ? "; " : "thread %u: ", (unsigned)test->sm[t]);
            put_instruction(&out, test, &test->code[t][i], i);
            if (fenced && !test->code[t][i].is_fence)
                text_format(&out, "; mb.gl");
        }
        text_format(&out, test->length[t] ? "; L:;\n" : "");
    }
    put_settings(&out, test);
    text_format(&out, "observe x y");
    uint32_t left = LITMUS_OBSERVED - 2;
    for (uint32_t t = 0; t<test->threads; thread += test->length[t]> 0, t++)
        for (uint32_t i = 0; i < test->length[t]; i++) {
            const struct drawn_instruction *in = &test->code[t][i];
            if (in->reads && left > 0 && left--)
                text_format(&out, " %u:r%u", (unsigned)thread, (unsigned)i);
            if (in->reads && in->second && left > 0 && left--)
                text_format(&out, " %u:q%u", (unsigned)thread, (unsigned)i);
        }
    put_locals(&out, test, &left);
    text_format(&out, "\n");
    return thread ? out.bytes : NULL;
}

/* ---- whether it was read so ---- */

/* The word's number: global ones, four of each block, two of each thread. */
static uint32_t word_number(const struct drawn_test *test, uint32_t word, uint32_t thread,
                            uint32_t sm)
{
    if (word < OWN_SHARED)
        return word;
    if (word < LOCAL)
        return LITMUS_GLOBALS + 4 * sm + word - OWN_SHARED;
    return LITMUS_GLOBALS + 4 * LITMUS_THREADS + 2 * thread + (test->lines ? word - LOCAL : 0);
}

static bool is_register(const struct litmus_thread *t, uint32_t reg, char kind, uint32_t number)
{
    return t->names[reg][0] == kind && t->names[reg][1] == (char)('0' + number) &&
           t->names[reg][2] == 0;
}

static bool is_number(struct litmus_operand o, uint32_t value)
{
    return !o.is_register && o.value == (int)value;
}

/* What the lane writes, of a cas if it finds the first value. */
static bool is_written(const struct litmus_thread *t, struct litmus_operand o,
                       const struct drawn_instruction *b, uint32_t lane)
{
    return b->from > 0
               ? o.is_register && is_register(t, (uint32_t)o.value, lane ? 'q' : 'r', b->from - 1u)
               : is_number(o, b->value + lane);
}

static bool is_lane(const struct drawn_test *test, const struct litmus_test *read, uint32_t thread,
                    const struct litmus_instruction *a, const struct drawn_instruction *b,
                    uint32_t at, uint32_t lane)
{
    const struct litmus_thread *t = &read->threads[thread];
    uint32_t word = lane ? b->second - 1u : b->word;
    if (a->word[lane] != word_number(test, word, thread, t->sm) ||
        (b->reads && !is_register(t, a->reg[lane], lane ? 'q' : 'r', at)))
        return false;
    return !b->writes ||
           (is_cas(b) ? is_number(a->a[lane], 0) : is_written(t, a->a[lane], b, lane));
}

static bool is_instruction(const struct drawn_test *test, const struct litmus_test *read,
                           uint32_t thread, const struct litmus_instruction *a,
                           const struct drawn_instruction *b, uint32_t at)
{
    uint32_t m = 0, lanes = b->second ? 2 : 1;
    while (strcmp(meanings[m].name, b->name) != 0)
        m++;
    bool access = a->op <= LITMUS_ST, scoped = a->op == LITMUS_MEMBAR;
    if (a->op != meanings[m].op || a->lanes != lanes || (access && a->cache != meanings[m].cache) ||
        (scoped && a->scope != meanings[m].scope) ||
        (is_cas(b) && !is_written(&read->threads[thread], a->b, b, 0)))
        return false;
    for (uint32_t lane = 0; lane < lanes && !b->is_fence; lane++)
        if (!is_lane(test, read, thread, a, b, at, lane))
            return false;
    return true;
}

static bool is_thread(const struct drawn_test *test, const struct litmus_test *read, uint32_t drawn,
                      uint32_t thread)
{
    const struct litmus_thread *t = &read->threads[thread];
    uint32_t at = 0;
    for (uint32_t i = 0; i < test->length[drawn]; i++, at++) {
        const struct drawn_instruction *in = &test->code[drawn][i];
        if (!is_instruction(test, read, thread, &t->code[at], in, i))
            return false;
        if (in->reads && in->is_used &&
            (t->code[++at].op != LITMUS_USE || !is_register(t, t->code[at].reg[0], 'r', i)))
            return false;
    }
    return at == t->length && t->sm == test->sm[drawn];
}

bool litmus_draw_is(const struct drawn_test *test, const struct litmus_test *read)
{
    uint32_t thread = 0, used = 0;
    const struct litmus_options *o = &read->options;
    for (uint32_t t = 0; t < test->threads; t++) {
        used |= test->length[t] ? 1u << test->sm[t] : 0;
        if (test->length[t] && !is_thread(test, read, t, thread++))
            return false;
    }
    for (uint32_t sm = 0; sm < DRAWN_THREADS; sm++)
        if (read->warm[sm] != (used >> sm & 1 ? test->warm[sm] : 0))
            return false;
    return thread == read->count && o->words_a_line == (test->lines ? 2 : 1) &&
           o->strong == test->strong && o->before == test->before && o->inval == test->inval &&
           o->split == (enum litmus_split)test->split && read->init[0] == test->first[0] &&
           read->init[1] == test->first[1];
}

uint32_t litmus_draw_length(const struct drawn_test *test, uint32_t thread)
{
    return laws[test->law].flags & (DRAW_PTX | DRAW_ANY) ? test->meant.threads[thread].length
                                                         : test->length[thread];
}

void litmus_draw_drop(struct drawn_test *test, uint32_t thread, uint32_t at)
{
    if (laws[test->law].flags & DRAW_PTX) {
        litmus_drop_ptx(test, thread, at);
        return;
    }
    if (laws[test->law].flags & DRAW_ANY) {
        litmus_drop_own(test, thread, at);
        return;
    }
    struct drawn_instruction *code = test->code[thread];
    test->length[thread]--;
    for (uint32_t i = at; i < test->length[thread]; i++) {
        code[i] = code[i + 1];
        if (code[i].from > at)
            code[i].from = (uint8_t)(code[i].from == at + 1 ? 0 : code[i].from - 1);
    }
}
