/*
 * litmus_hunt.c - `simtfuzz litmus --cases N`: tests that are drawn, and the laws that must hold of them
 * (litmus_laws.def; docs/memory.md, Tests that are drawn). A test that breaks one is made small and printed.
 */
#include "fuzz/litmus/litmus_hunt.h"

#include "engine/axiom/axiom.h"
#include "engine/base/invariant.h"
#include "fuzz/litmus/litmus_draw.h"
#include "fuzz/litmus/litmus_graph.h"
#include "fuzz/litmus/litmus_page.h"
#include "fuzz/out/json.h"

#include <string.h>

static const struct {
    const char *name, *sentence;
} laws[LITMUS_LAWS] = {
#define LAW(id, name, sentence, ...) [LAW_##id] = {name, sentence},
#include "fuzz/litmus/litmus_laws.def"
#undef LAW
};

enum holding { HOLDS, BROKEN, SILENT, CUT };

/* ---- laws ---- */

static bool has(const struct litmus_result *result, const int16_t *values)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (memcmp(result->values[i], values, sizeof result->values[i]) == 0)
            return true;
    return false;
}

static bool within(const struct litmus_result *a, const struct litmus_result *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (!has(b, a->values[i]))
            return false;
    return true;
}

static bool equal(const struct litmus_result *a, const struct litmus_result *b)
{
    return within(a, b) && within(b, a);
}

static bool run(struct arena *arena, const struct litmus_test *test, enum litmus_model m,
                struct litmus_result *result)
{
    if (m <= LITMUS_COHERENT)
        return litmus_run(arena, test, m, LITMUS_STATES_MAX, result) && result->dead == 0;
    return axiom_run(arena, test, graph_axioms(m), LITMUS_CANDIDATES_MAX, result, NULL);
}

static enum holding includes(struct arena *arena, const struct litmus_test *test,
                             const struct litmus_result *sc)
{
    struct litmus_result of[LITMUS_MODELS];
    bool holds = true;
    for (uint32_t m = LITMUS_PRINTED; m < LITMUS_MODELS; m++) {
        if (!run(arena, test, (enum litmus_model)m, &of[m]))
            return CUT;
        holds &= of[m].silent || within(sc, &of[m]);
    }
    return holds && within(&of[LITMUS_LLH], &of[LITMUS_PRINTED]) ? HOLDS : BROKEN;
}

static enum holding is_equal(struct arena *arena, const struct litmus_test *test,
                             enum litmus_model m, const struct litmus_result *expected,
                             bool exactly)
{
    struct litmus_result result;
    if (!run(arena, test, m, &result))
        return CUT;
    if (result.silent)
        return SILENT;
    return within(expected, &result) && (!exactly || within(&result, expected)) ? HOLDS : BROKEN;
}

static enum holding second_account(struct arena *arena, const struct litmus_test *test,
                                   const struct litmus_result *sc)
{
    struct litmus_result result;
    if (!axiom_run(arena, test, AXIOM_SC, LITMUS_CANDIDATES_MAX, &result, NULL))
        return CUT;
    return result.silent ? SILENT : equal(&result, sc) ? HOLDS : BROKEN;
}

static enum holding ask_law(struct arena *arena, const struct litmus_test *test,
                            enum litmus_law law)
{
    struct litmus_result sc, llh;
    if (!run(arena, test, LITMUS_SC, &sc))
        return CUT;
    switch (law) {
    case LAW_INCLUSION:
        return includes(arena, test, &sc);
    case LAW_SECOND:
        return second_account(arena, test, &sc);
    case LAW_FENCE:
    case LAW_VOLATILE:
        return is_equal(arena, test, LITMUS_PRINTED, &sc, true);
    case LAW_LLH:
    case LAW_LLH_EXACT:
        if (!run(arena, test, LITMUS_LLH, &llh))
            return CUT;
        return is_equal(arena, test, LITMUS_ASPLOS15, &llh, law == LAW_LLH_EXACT);
    case LITMUS_LAWS:
        break;
    }
    invariant_fail("a law", __FILE__, __LINE__);
}

static enum holding ask(struct arena *arena, const struct drawn_test *drawn)
{
    const char *text = litmus_draw_text(arena, drawn);
    struct litmus_test *test = ARENA_NEW(arena, struct litmus_test);
    struct litmus_reader reader = {text, 1};
    struct diag diag;
    if (!text)
        return SILENT;
    diag_init(&diag, "drawn", text, strlen(text));
    bool read = litmus_next(arena, &reader, test, &diag);
    INVARIANT(read);
    return ask_law(arena, test, drawn->law);
}

/* ---- making it small ---- */

static bool drop_one(struct arena *arena, struct drawn_test *test)
{
    for (uint32_t t = 0; t < test->threads; t++)
        for (uint32_t i = 0; i < test->length[t]; i++) {
            struct drawn_test smaller = *test;
            litmus_draw_drop(&smaller, t, i);
            if (ask(arena, &smaller) != BROKEN)
                continue;
            *test = smaller;
            return true;
        }
    return false;
}

/* ---- the report ---- */

struct tally {
    uint64_t of[LITMUS_LAWS][CUT + 1];
};

static void tell_broken(struct cli *cli, uint64_t number, struct drawn_test *test)
{
    while (drop_one(&cli->arena, test))
        ;
    const char *text = litmus_draw_text(&cli->arena, test);
    struct json json;
    if (!cli->options.json) {
        printf("BROKEN %s: %s, which is not so of case %llu:\n%s\n", laws[test->law].name,
               laws[test->law].sentence, (unsigned long long)number, text);
        return;
    }
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "case", number);
    json_key_string(&json, "law", laws[test->law].name);
    json_key_string(&json, "test", text);
    json_object_end(&json);
    json_end_line(&json);
}

static void tell_tally(const struct cli *cli, const struct tally *tally, uint64_t cases)
{
    struct json json;
    if (!cli->options.json) {
        printf("litmus tests that were drawn: %llu, seed 0x%llx\n", (unsigned long long)cases,
               (unsigned long long)cli->options.seed);
        for (uint32_t i = 0; i < LITMUS_LAWS; i++)
            printf("  %-15s %llu hold, %llu broken, %llu not spoken of, %llu cut off\n",
                   laws[i].name, (unsigned long long)tally->of[i][HOLDS],
                   (unsigned long long)tally->of[i][BROKEN],
                   (unsigned long long)tally->of[i][SILENT], (unsigned long long)tally->of[i][CUT]);
        return;
    }
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "cases", cases);
    for (uint32_t i = 0; i < LITMUS_LAWS; i++) {
        json_key_object_begin(&json, laws[i].name);
        json_key_u64(&json, "holds", tally->of[i][HOLDS]);
        json_key_u64(&json, "broken", tally->of[i][BROKEN]);
        json_key_u64(&json, "silent", tally->of[i][SILENT]);
        json_key_u64(&json, "cut", tally->of[i][CUT]);
        json_object_end(&json);
    }
    json_object_end(&json);
    json_end_line(&json);
}

int litmus_hunt(struct cli *cli)
{
    struct tally tally = {.of = {{0}}};
    uint64_t number = 0, broken = 0;
    for (; number < cli->options.cases; number++) {
        size_t mark = arena_mark(&cli->arena);
        struct drawn_test test = litmus_draw(cli->options.seed, number);
        enum holding holding = ask(&cli->arena, &test);
        tally.of[test.law][holding]++;
        broken += holding == BROKEN;
        if (holding == BROKEN)
            tell_broken(cli, number, &test);
        arena_release(&cli->arena, mark);
    }
    tell_tally(cli, &tally, number);
    return broken ? CLI_DIVERGENCE : CLI_OK;
}
