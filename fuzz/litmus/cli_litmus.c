/*
 * cli_litmus.c - `simtfuzz litmus`: all results of small programs under several memories, beside each other.
 */
#include "engine/axiom/axiom.h"
#include "engine/input/input.h"
#include "engine/litmus/litmus.h"
#include "fuzz/cli/cli.h"
#include "fuzz/litmus/litmus_graph.h"
#include "fuzz/litmus/litmus_hunt.h"
#include "fuzz/litmus/litmus_page.h"
#include "fuzz/litmus/litmus_picture.h"
#include "fuzz/out/json.h"

struct answers {
    struct litmus_result of[LITMUS_MODELS];
    bool expected;
};

static bool stated(const struct litmus_test *test)
{
    bool any = test->sc || test->more;
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        any |= test->verdict[m] != STATED_NOTHING;
    return any;
}

static const char *verdict(const struct litmus_test *test, const struct answers *answers)
{
    return !stated(test) ? "nothing stated" : answers->expected ? "as stated" : "NOT as stated";
}

static void print_outcomes(enum litmus_model m, const struct litmus_result *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        printf(" %s", r->outcomes[i]);
    printf("   (%u %s", r->states, m <= LITMUS_COHERENT ? "states" : "candidates");
    if (r->dead)
        printf(", %u of them stuck", r->dead);
    if (r->cut)
        printf(", loops cut after %d rounds", AXIOM_ROUNDS);
    printf(")\n");
}

static void print_observed(const struct litmus_test *test)
{
    printf("  outcome  ");
    for (uint32_t i = 0; i < test->observed; i++) {
        const struct litmus_observed *o = &test->observe[i];
        if (o->is_register)
            printf(" P%u:%s", o->thread, test->threads[o->thread].names[o->number]);
        else
            printf(" %s", test->words[o->number]);
    }
    printf("\n");
}

static const char *const quantifiers[] = {"", "exists", "~exists", "forall"};

/* The condition under each model that speaks. */
static void print_condition(const struct litmus_test *test, const struct answers *answers)
{
    printf("  %s: ", quantifiers[test->condition.asks]);
    const char *between = "";
    for (uint32_t m = 0; m < LITMUS_MODELS; m++) {
        if (answers->of[m].silent)
            continue;
        bool holds = litmus_holds(test, &answers->of[m]);
        bool wrong = test->verdict[m] && holds != (test->verdict[m] == STATED_YES);
        printf("%s%s %s%s", between, litmus_model_names[m], holds ? "yes" : "no",
               wrong ? " (NOT as stated)" : "");
        between = ", ";
    }
    printf("\n");
}

static void print_text(const struct litmus_test *test, const struct answers *answers)
{
    printf("%s: %s\n", test->name, verdict(test, answers));
    if (test->is_ptx)
        print_observed(test);
    for (uint32_t m = 0; m < LITMUS_MODELS; m++) {
        const struct litmus_result *r = &answers->of[m];
        printf("  %-9s", litmus_model_names[m]);
        if (r->silent)
            printf(" says nothing: %s\n", r->silent);
        else
            print_outcomes((enum litmus_model)m, r);
    }
    if (test->condition.asks)
        print_condition(test, answers);
}

static void json_model(struct json *json, const struct litmus_test *test,
                       const struct litmus_result *result)
{
    json_object_begin(json);
    if (result->silent) {
        json_key_string(json, "silent", result->silent);
        json_object_end(json);
        return;
    }
    if (test->condition.asks) {
        json_key(json, "holds");
        json_bool(json, litmus_holds(test, result));
    }
    json_key_array_begin(json, "outcomes");
    for (uint32_t i = 0; i < result->count; i++)
        json_string(json, result->outcomes[i]);
    json_array_end(json);
    json_key_u64(json, "states", result->states);
    json_key_u64(json, "stuck", result->dead);
    json_key(json, "cut");
    json_bool(json, result->cut);
    json_object_end(json);
}

static void print_json(const char *path, const struct litmus_test *test,
                       const struct answers *answers)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "file", path);
    json_key_u64(&json, "line", test->line);
    json_key_string(&json, "test", test->name);
    json_key(&json, "as_stated");
    if (stated(test))
        json_bool(&json, answers->expected);
    else
        json_null(&json);
    if (test->condition.asks)
        json_key_string(&json, "asks", quantifiers[test->condition.asks]);
    for (uint32_t m = 0; m < LITMUS_MODELS; m++) {
        json_key(&json, litmus_model_names[m]);
        json_model(&json, test, &answers->of[m]);
    }
    json_line_end(&json);
}

/* All outcomes under one model. */
static bool answer(struct arena *arena, const struct litmus_test *test, enum litmus_model m,
                   struct litmus_result *result)
{
    if (m <= LITMUS_COHERENT)
        return litmus_run(arena, test, m, LITMUS_STATES_MAX, result);
    return axiom_run(arena, test, axiom_model_of(m), LITMUS_CANDIDATES_MAX, result, NULL);
}

/* Of the condition, or of the weak outcome where there is none. */
static bool says_yes(const struct litmus_test *test, const struct answers *answers, uint32_t m)
{
    return test->condition.asks ? litmus_holds(test, &answers->of[m])
                                : litmus_weak(test, &answers->of[LITMUS_SC], &answers->of[m]);
}

/* Is everything as the text states it? A model that says nothing is not as stated. */
static bool as_stated(const struct litmus_test *test, const struct answers *answers)
{
    if (!test->is_ptx &&
        !litmus_expected(test, &answers->of[LITMUS_SC], &answers->of[LITMUS_PRINTED]))
        return false;
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        if (test->verdict[m] && (answers->of[m].silent ||
                                 says_yes(test, answers, m) != (test->verdict[m] == STATED_YES)))
            return false;
    return true;
}

static int run_test(struct cli *cli, const char *path, const struct litmus_test *test)
{
    struct answers answers;
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        if (!answer(&cli->arena, test, (enum litmus_model)m, &answers.of[m])) {
            cli_message(cli, "%s:%u: %s has more than %d states under %s, or memory ran out", path,
                        test->line, test->name,
                        m <= LITMUS_COHERENT ? LITMUS_STATES_MAX : LITMUS_CANDIDATES_MAX,
                        litmus_model_names[m]);
            return CLI_USAGE;
        }
    answers.expected = as_stated(test, &answers);
    if (cli->options.json)
        print_json(path, test, &answers);
    else
        print_text(test, &answers);
    if (!litmus_pictures(cli, test, answers.of))
        return CLI_USAGE;
    return answers.expected || !stated(test) ? CLI_OK : CLI_DIVERGENCE;
}

static int run_file(struct cli *cli, const char *path)
{
    struct diag diag;
    size_t length;
    int status = CLI_OK;
    diag_init(&diag, path, NULL, 0);
    const char *text = parse_read_file(&cli->arena, path, &length, &diag);
    struct litmus_reader reader = {.at = text};
    struct litmus_test *test = ARENA_NEW(&cli->arena, struct litmus_test);
    size_t mark = arena_mark(&cli->arena);
    while (text && litmus_next(&cli->arena, &reader, test, &diag)) {
        int one = run_test(cli, path, test);
        status = one > status ? one : status;
        arena_release(&cli->arena, mark);
    }
    if (text && !diag.count && !test->line)
        diag_error(&diag, (struct location){0, 0}, "no litmus test stands in this file");
    diag_print(&diag, stderr);
    return diag.count ? CLI_USAGE : status;
}

int command_litmus(struct cli *cli)
{
    struct cli_files files;
    int status = CLI_OK;
    if ((cli->options.cases > 0) == (cli->argument_count > 0)) {
        cli_message(cli, "files or folders with litmus tests are expected, or --cases N");
        return CLI_USAGE;
    }
    if (cli->options.cases)
        return litmus_hunt(cli);
    if (!cli_find_litmus(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    for (uint32_t i = 0; i < files.count; i++) {
        int one = run_file(cli, files.paths[i]);
        status = one > status ? one : status;
    }
    return status;
}
