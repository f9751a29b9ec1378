/*
 * litmus_hunt.c - `simtfuzz litmus --cases N`: tests that are drawn, and the laws that must hold of them
 * (fuzz/laws/litmus_laws.def; docs/memory.md, Tests that are drawn). A test that breaks one is made small and printed.
 */
#include "fuzz/litmus/litmus_hunt.h"

#include "fuzz/laws/laws.h"
#include "fuzz/out/json.h"

struct tally {
    uint64_t of[LITMUS_LAWS][LAW_CUT + 1];
};

static void tell_broken(struct cli *cli, uint64_t number, struct drawn_test *test)
{
    law_make_small(&cli->arena, test);
    const char *text = litmus_draw_text(&cli->arena, test);
    struct json json;
    if (!cli->options.json) {
        printf("BROKEN %s: %s, which is not so of case %llu:\n%s\n", law_table[test->law].name,
               law_table[test->law].sentence, (unsigned long long)number, text);
        return;
    }
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "case", number);
    json_key_string(&json, "law", law_table[test->law].name);
    json_key_string(&json, "test", text);
    json_line_end(&json);
}

static void tell_tally(const struct cli *cli, const struct tally *tally, uint64_t cases)
{
    struct json json;
    if (!cli->options.json) {
        printf("litmus tests that were drawn: %llu, seed 0x%llx\n", (unsigned long long)cases,
               (unsigned long long)cli->options.seed);
        for (uint32_t i = 0; i < LITMUS_LAWS; i++)
            printf("  %-20s%llu hold, %llu broken, %llu not spoken of, %llu cut off\n",
                   law_table[i].name, (unsigned long long)tally->of[i][LAW_HOLDS],
                   (unsigned long long)tally->of[i][LAW_BROKEN],
                   (unsigned long long)tally->of[i][LAW_SILENT],
                   (unsigned long long)tally->of[i][LAW_CUT]);
        return;
    }
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "cases", cases);
    for (uint32_t i = 0; i < LITMUS_LAWS; i++) {
        json_key_object_begin(&json, law_table[i].name);
        json_key_u64(&json, "holds", tally->of[i][LAW_HOLDS]);
        json_key_u64(&json, "broken", tally->of[i][LAW_BROKEN]);
        json_key_u64(&json, "silent", tally->of[i][LAW_SILENT]);
        json_key_u64(&json, "cut", tally->of[i][LAW_CUT]);
        json_object_end(&json);
    }
    json_line_end(&json);
}

int litmus_hunt(struct cli *cli)
{
    struct tally tally = {.of = {{0}}};
    uint64_t number = 0, broken = 0;
    for (; number < cli->options.cases; number++) {
        size_t mark = arena_mark(&cli->arena);
        struct drawn_test test = litmus_draw(cli->options.seed, number);
        enum law_holding holding = law_ask(&cli->arena, &test);
        tally.of[test.law][holding]++;
        broken += holding == LAW_BROKEN;
        if (holding == LAW_BROKEN)
            tell_broken(cli, number, &test);
        arena_release(&cli->arena, mark);
    }
    tell_tally(cli, &tally, number);
    return broken ? CLI_DIVERGENCE : CLI_OK;
}

int litmus_gen(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    for (uint64_t i = 0; i < o->count && !ferror(stdout); i++) {
        size_t mark = arena_mark(&cli->arena);
        uint64_t number = o->first_case + i;
        struct drawn_test test = litmus_draw(o->seed, number);
        const char *text = litmus_draw_text(&cli->arena, &test);
        if (o->json) {
            struct json json;
            json_line_begin(&json, stdout);
            json_key_hex(&json, "seed", o->seed);
            json_key_u64(&json, "case", number);
            json_key_string(&json, "law", law_table[test.law].name);
            json_key_string(&json, "text", text);
            json_line_end(&json);
        } else if (text) {
            printf("%s%s", i > 0 ? "\n" : "", text);
        }
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}
