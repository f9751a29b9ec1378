/*
 * harness_options.c - libFuzzer: any bytes as each of the small texts that simtfuzz reads: a case, a tape,
 * lists of subjects, oracles, features, weights, a schedule, claims in a comment, settings of a PTX kernel, the
 * configuration of a campaign, a command of words.
 *
 * No bytes crash a reader; a case, a tape, weights and a configuration that are read print to a text that reads
 * to the same.
 */
#include "engine/base/invariant.h"
#include "engine/language/parse.h"
#include "engine/schedule/sched.h"
#include "engine/schedule/tape.h"
#include "fuzz/campaign/hook.h"
#include "fuzz/case/case.h"
#include "fuzz/cli/config.h"
#include "fuzz/harness/harness.h"

#include <string.h>

enum { ARENA_BYTES = 256 << 20, TEXT_MAX = 1 << 16 };

static void check_case(struct arena *arena, const char *text)
{
    struct fuzz_case c, again;
    const char *error;
    if (!case_parse(arena, text, &c, &error)) {
        INVARIANT(error);
        return;
    }
    const char *printed = case_print(arena, &c);
    INVARIANT(case_parse(arena, printed, &again, &error));
    INVARIANT(strcmp(printed, case_print(arena, &again)) == 0);
}

static void check_tape(struct arena *arena, const char *text)
{
    size_t column = 0;
    const struct tape *tape = tape_parse(arena, text, &column);
    INVARIANT(tape || column > 0);
    if (!tape)
        return;
    const char *printed = tape_print(arena, tape);
    const struct tape *again = tape_parse(arena, printed, &column);
    INVARIANT(again && again->count == tape->count);
    INVARIANT(strcmp(printed, tape_print(arena, again)) == 0);
}

static void check_lists(const char *text)
{
    subject_set subjects = 0;
    uint32_t oracles = 0, modes = 0, features = GEN_DEFAULTS.features;
    const char *at = NULL;
    struct sched_spec spec;
    INVARIANT(subject_parse_list(text, &subjects, &at) || at);
    at = NULL;
    INVARIANT(oracle_parse_list(text, &oracles, &modes, &at) || at);
    at = NULL;
    INVARIANT(gen_parse_features(text, &features, &at) || at);
    (void)sched_parse(text, &spec);
}

static void check_weights(struct arena *arena, const char *text)
{
    const struct gen_weights *weights, *again;
    const char *at = NULL;
    if (!gen_weights_parse(arena, text, &weights, &at)) {
        INVARIANT(at);
        return;
    }
    const char *printed = gen_weights_print(arena, weights);
    INVARIANT(gen_weights_parse(arena, printed, &again, &at));
    INVARIANT(strcmp(printed, gen_weights_print(arena, again)) == 0);
}

static void check_settings(struct cli *cli, const char *text, size_t length)
{
    options_default(&cli->options);
    struct ini *ini = config_read(cli, text, length);
    for (const struct ini_error *error = ini->errors; error; error = error->next)
        INVARIANT(error->line > 0 && *error->text &&
                  (!error->next || error->line <= error->next->line));
    INVARIANT((ini->error_count == 0) == (ini->errors == NULL));
    if (ini->errors)
        return;
    const char *printed = config_print(&cli->arena, &cli->options);
    options_default(&cli->options);
    INVARIANT(config_read(cli, printed, strlen(printed))->error_count == 0);
    INVARIANT(strcmp(printed, config_print(&cli->arena, &cli->options)) == 0);
}

static void check_config(struct arena *arena, const char *text, size_t length)
{
    struct cli cli = {.arena = *arena}; /* lent: what it takes is given back with the input's */
    check_settings(&cli, text, length);
    *arena = cli.arena;
}

static void check_words(struct arena *arena, const char *text)
{
    const char *why = NULL;
    char **words = hook_words(arena, text, &why);
    INVARIANT(words ? **words != '\0' : why != NULL);
}

static void check_claims(struct arena *arena, const char *text, size_t length)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "claims", text, length);
    struct ast_kernel *kernel = ARENA_NEW(arena, struct ast_kernel);
    kernel->launch = AST_DEFAULT_LAUNCH;
    ast_var_append(&kernel->vars, ast_var(arena, "x", SPACE_SHARED, 4, true));
    parse_expect_comment(arena, kernel, text, length, (struct location){1, 1}, 0, diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena arena; /* one process, one thread: kept from input to input */
    if (size > TEXT_MAX || (!arena.base && arena_init(&arena, ARENA_BYTES) != 0))
        return 0;
    size_t mark = arena_mark(&arena);
    char *text = arena_strndup(&arena, (const char *)data, size);
    check_case(&arena, text);
    check_tape(&arena, text);
    check_lists(text);
    check_weights(&arena, text);
    check_words(&arena, text);
    check_config(&arena, (const char *)data, size);
    check_claims(&arena, text, strlen(text));
    arena_release(&arena, mark);
    return 0;
}
