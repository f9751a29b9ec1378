/*
 * harness_check.c - asks all oracles about an input, with few schedules, and says how to see what they
 * found.
 *
 * What happened in the case - coverage.h, and how often each rule fired - are coverage features of their own
 * (__libfuzzer_extra_counters).
 */
#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "fuzz/case/case.h"
#include "fuzz/harness/harness.h"
#include "oracle/coverage/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)1 << 30)
#define HARNESS_CHECK "schedules=4 budget=10000 "

/* The oracle metamorphic takes as long as all others together: one input in so many is asked. */
enum { METAMORPHIC_SHARE = 4 };

#define EXTRA_COUNTERS __attribute__((section("__libfuzzer_extra_counters"), used))

/* volatile, or the compiler drops stores that it never sees read. */
EXTRA_COUNTERS static volatile uint8_t rule_counters[RULE_COUNT];
EXTRA_COUNTERS static struct coverage coverage;

static const char *prefix = "./";
static bool with_known; /* known divergences abort, too: a canary */

void harness_set_prefix(const char *given)
{
    prefix = given;
}

struct arena *harness_arena(void)
{
    static struct arena arena; /* one process, one thread: kept from input to input */
    return arena.base || arena_init(&arena, ARENA_BYTES) == 0 ? &arena : NULL;
}

const struct check_options *harness_options(void)
{
    static struct fuzz_case c;
    static bool known;
    if (!known) {
        struct arena *arena = harness_arena();
        const char *error, *given = getenv("SIMTFUZZ_CHECK");
        char *text = arena_printf(arena, HARNESS_CHECK "%s", given ? given : "");
        if (!case_parse(arena, text, &c, &error)) {
            fprintf(stderr, "SIMTFUZZ_CHECK: '%s'\n", error);
            exit(2);
        }
        with_known = getenv("SIMTFUZZ_KNOWN") != NULL;
        known = true;
    }
    return &c.check;
}

static void count_rules(const struct check_result *result)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        uint8_t bits = 0;
        for (uint64_t hits = result->hits[i]; hits; hits >>= 1)
            bits++;
        rule_counters[i] = bits;
    }
}

/* ---- a divergence ---- */

static const char *write_text(struct arena *arena, const char *text, bool is_ptx)
{
    const char *path = arena_printf(arena, "%sdivergence-%s.%s", prefix,
                                    case_text_hash(arena, text), is_ptx ? "ptx" : "simt");
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        return "FILE"; /* it is printed, too */
    }
    return path;
}

static const char *command(struct arena *arena, const char *path,
                           const struct check_options *options)
{
    const char *text = arena_printf(
        arena, "simtfuzz check %s --seed 0x%" PRIx64 " --schedules %" PRIu32 " --budget %" PRIu64,
        path, options->seed, options->schedules, options->budget_steps);
    if (options->subjects != SUBJECTS_DEFAULT)
        text =
            arena_printf(arena, "%s --subjects %s", text, case_subjects(arena, options->subjects));
    if (options->oracles != CHECK_DEFAULTS.oracles || options->modes)
        text = arena_printf(arena, "%s --oracles %s", text,
                            case_oracles(arena, options->oracles, options->modes));
    return text;
}

/* Whether the text alone shows it, as the command would. */
static bool text_shows(struct arena *arena, const char *text, const struct check_options *options,
                       const struct check_result *result)
{
    const struct ast_kernel *again = harness_parse(arena, text, strlen(text));
    struct check_result *shown = ARENA_NEW(arena, struct check_result);
    INVARIANT(again); /* what we print parses */
    check_kernel(arena, again, options, shown);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct divergence *d = result->answers[i].divergence;
        if (d && (with_known || !d->known) &&
            !check_find(arena, shown, divergence_signature(arena, d), false))
            return false;
    }
    return true;
}

static void report(struct arena *arena, const struct ast_kernel *kernel,
                   const struct check_options *options, const struct check_result *result)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct divergence *divergence = result->answers[i].divergence;
        if (divergence && (with_known || !divergence->known))
            fprintf(stderr, "%s\n%s\n%s\n", divergence_signature(arena, divergence),
                    divergence->summary, divergence->evidence);
    }
    const char *text = print_kernel(arena, kernel);
    struct check_options plain = *options;
    plain.coverage = NULL;
    fprintf(stderr, "%s", text);
    fprintf(stderr, "divergence; to see it: %s\n",
            command(arena, write_text(arena, text, kernel->form == FORM_PTX), options));
    if (!text_shows(arena, text, &plain, result))
        fprintf(stderr, "but the text alone does not show it: run the harness with this input\n");
    abort();
}

void harness_ask(struct arena *arena, const struct harness_input *input)
{
    struct check_options options = *harness_options();
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    options.seed = input->seed;
    if (input->lot >> 16 & (METAMORPHIC_SHARE - 1))
        options.oracles &= ~(1u << ORACLE_METAMORPHIC);
    options.coverage = &coverage;
    coverage_clear(&coverage);
    check_kernel(arena, input->kernel, &options, result);
    count_rules(result);
    if (check_divergences(result, with_known) > 0)
        report(arena, input->kernel, &options, result);
}

/* ---- libFuzzer's ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char option[] = "-artifact_prefix=";
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], option, sizeof option - 1) == 0)
            harness_set_prefix((*argv)[i] + sizeof option - 1);
    if (harness_arena())
        (void)harness_options();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = harness_arena();
    if (!arena)
        return 0;
    size_t mark = arena_mark(arena);
    struct harness_input input;
    harness_read(arena, data, size, &input);
    if (input.kernel) {
        harness_remember(&input, data);
        harness_ask(arena, &input);
    }
    arena_release(arena, mark);
    return 0;
}
