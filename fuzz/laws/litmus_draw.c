#include "fuzz/laws/litmus_draw.h"

#include "engine/base/text.h"

#include <string.h>

enum { DRAW_FENCED = 1, DRAW_APART = 2, DRAW_PTX = 4, DRAW_OWN = 8, DRAW_SETTINGS = 16 };
enum { LENGTH = 3, LOADS = 5, WORDS = 2 };

static const struct {
    const char *loads, *stores, *fences;
    int flags;
} laws[LITMUS_LAWS] = {
#define LAW(id, name, sentence, loads, stores, fences, flags)                                      \
    [LAW_##id] = {loads, stores, fences, flags},
#include "fuzz/laws/litmus_laws.def"
#undef LAW
};

static const char *const names[] = {"ld.ca", "ld.cg",  "ld.cs", "ld.cv",    "ld.lu",    "ld.vol",
                                    "st.wb", "st.cg",  "st.cs", "st.wt",    "st.vol",   "mb.cta",
                                    "mb.gl", "mb.sys", "bar",   "atom.add", "atom.exch"};

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
    const char *of[sizeof names / sizeof *names];
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lists(list, names[i]) || (names[i][0] == 'a' && lists(list, "atom")))
            of[count++] = names[i];
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

static void draw_settings(struct pcg *rng, struct drawn_test *test)
{
    test->lines = pcg_below(rng, 3) == 0;
    test->strong = pcg_below(rng, 4) == 0;
    test->before = pcg_below(rng, 4) == 0;
    test->inval = pcg_below(rng, 4) == 0;
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
    /* Of words of their own longer threads, and fewer. */
    const uint32_t own = laws[test.law].flags & DRAW_OWN ? 1 : 0;
    test.threads = 2 - own + (pcg_below(&rng, 3) == 0);
    const uint32_t least = own && test.threads == 1 ? LENGTH : 1,
                   ways = test.threads == 3 ? LENGTH - 1 : LENGTH;
    for (uint32_t t = 0; t < test.threads; t++) {
        test.sm[t] = (uint8_t)pcg_below(&rng, t + 1);
        test.length[t] = (uint8_t)(least + pcg_below(&rng, ways));
        for (uint32_t i = 0; i < test.length[t]; i++) {
            test.code[t][i] = draw_instruction(&rng, test.law, t, loads, &value);
            loads += test.code[t][i].reads;
        }
    }
    if (laws[test.law].flags & DRAW_APART)
        keep_apart(&test);
    if (laws[test.law].flags & DRAW_SETTINGS)
        draw_settings(&rng, &test);
    return test;
}

static void put_instruction(struct text *out, const struct drawn_test *test,
                            const struct drawn_instruction *in, uint32_t reg)
{
    const char *word = words[in->word > LOCAL && !test->lines ? LOCAL : in->word];
    if (in->is_fence)
        text_format(out, "%s", in->name);
    else if (in->reads && in->writes)
        text_format(out, "%s r%u %s %u", in->name, (unsigned)reg, word, (unsigned)in->value);
    else if (in->reads)
        text_format(out, "%s r%u %s", in->name, (unsigned)reg, word);
    else
        text_format(out, "%s %s %u", in->name, word, (unsigned)in->value);
    if (in->reads && in->is_used)
        text_format(out, "; use r%u", (unsigned)reg);
}

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
    text_format(out, "%s%s%s", test->strong ? "option strong\n" : "",
                test->before ? "option before\n" : "", test->inval ? "option inval\n" : "");
}

const char *litmus_draw_text(struct arena *arena, const struct drawn_test *test)
{
    struct text out = text_begin(arena);
    uint32_t thread = 0;
    bool fenced = laws[test->law].flags & DRAW_FENCED;
    if (laws[test->law].flags & DRAW_PTX)
        return litmus_draw_ptx_text(arena, test);
    text_format(&out, "test drawn\n%s", test->lines ? "option W=2\n" : "");
    for (uint32_t t = 0; t < test->threads; t++) {
        for (uint32_t i = 0; i < test->length[t]; i++) {
            text_format(&out, i ? "; " : "thread %u: ", (unsigned)test->sm[t]);
            put_instruction(&out, test, &test->code[t][i], i);
            if (fenced && !test->code[t][i].is_fence)
                text_format(&out, "; mb.gl");
        }
        text_format(&out, test->length[t] ? "\n" : "");
    }
    put_settings(&out, test);
    text_format(&out, "observe x y");
    for (uint32_t t = 0; t<test->threads; thread += test->length[t]> 0, t++)
        for (uint32_t i = 0; i < test->length[t]; i++)
            if (test->code[t][i].reads)
                text_format(&out, " %u:r%u", (unsigned)thread, (unsigned)i);
    text_format(&out, "\n");
    return thread ? out.bytes : NULL;
}

void litmus_draw_drop(struct drawn_test *test, uint32_t thread, uint32_t at)
{
    struct drawn_instruction *code = test->code[thread];
    test->length[thread]--;
    for (uint32_t i = at; i < test->length[thread]; i++)
        code[i] = code[i + 1];
}
