/*
 * cli_litmus.c - `simtfuzz litmus`: all results of small programs under several memories, beside each other.
 */
#include "engine/input/input.h"
#include "engine/litmus/litmus.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"

enum { STATES_MAX = 1 << 18 };

struct answers {
    struct litmus_result of[LITMUS_MODELS];
    bool expected;
};

static bool stated(const struct litmus_test *test)
{
    return test->sc || test->more;
}

static const char *verdict(const struct litmus_test *test, const struct answers *answers)
{
    return !stated(test) ? "nothing stated" : answers->expected ? "as stated" : "NOT as stated";
}

static void print_text(const struct litmus_test *test, const struct answers *answers)
{
    printf("%s: %s\n", test->name, verdict(test, answers));
    for (uint32_t m = 0; m < LITMUS_MODELS; m++) {
        const struct litmus_result *r = &answers->of[m];
        printf("  %-9s", litmus_model_names[m]);
        for (uint32_t i = 0; i < r->count; i++)
            printf(" %s", r->outcomes[i]);
        printf("   (%u states", r->states);
        if (r->dead)
            printf(", %u of them stuck", r->dead);
        printf(")\n");
    }
}

static void json_model(struct json *json, const struct litmus_result *result)
{
    json_object_begin(json);
    json_key(json, "outcomes");
    json_array_begin(json);
    for (uint32_t i = 0; i < result->count; i++)
        json_string(json, result->outcomes[i]);
    json_array_end(json);
    json_key_u64(json, "states", result->states);
    json_key_u64(json, "stuck", result->dead);
    json_object_end(json);
}

static void print_json(const char *path, const struct litmus_test *test,
                       const struct answers *answers)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "file", path);
    json_key_u64(&json, "line", test->line);
    json_key_string(&json, "test", test->name);
    json_key(&json, "as_stated");
    if (stated(test))
        json_bool(&json, answers->expected);
    else
        json_null(&json);
    for (uint32_t m = 0; m < LITMUS_MODELS; m++) {
        json_key(&json, litmus_model_names[m]);
        json_model(&json, &answers->of[m]);
    }
    json_object_end(&json);
    json_end_line(&json);
}

static int run_test(struct cli *cli, const char *path, const struct litmus_test *test)
{
    struct answers answers;
    for (uint32_t m = 0; m < LITMUS_MODELS; m++)
        if (!litmus_run(&cli->arena, test, (enum litmus_model)m, STATES_MAX, &answers.of[m])) {
            cli_message(cli, "%s:%u: %s has more than %d states under %s, or memory ran out", path,
                        test->line, test->name, STATES_MAX, litmus_model_names[m]);
            return CLI_USAGE;
        }
    answers.expected = litmus_expected(test, &answers.of[LITMUS_SC], &answers.of[LITMUS_PRINTED]);
    if (cli->options.json)
        print_json(path, test, &answers);
    else
        print_text(test, &answers);
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
    int status = CLI_OK;
    for (int i = 0; i < cli->argument_count; i++) {
        int one = run_file(cli, cli->arguments[i]);
        status = one > status ? one : status;
    }
    return status;
}
