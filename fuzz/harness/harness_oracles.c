/*
 * harness_oracles.c - libFuzzer: bytes as the choices of the generator, all oracles asked about the
 * kernel, with few schedules.
 *
 * Every input is a valid kernel. A divergence that is not a known one is printed with its kernel and
 * aborts. The rules that fired, and how often (in powers of two), are coverage features of their own.
 */
#include "fuzz/harness/harness_oracles.h"

#include "engine/print.h"
#include "oracle/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { ARENA_BYTES = 1 << 30, SCHEDULES = 4, BUDGET_STEPS = 20000 };

/* volatile, or the compiler drops stores that it never sees read. */
__attribute__((section("__libfuzzer_extra_counters"),
               used)) static volatile uint8_t rule_counters[RULE_COUNT];

static void count_rules(const struct check_result *result)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        uint8_t bits = 0;
        for (uint64_t hits = result->hits[i]; hits; hits >>= 1)
            bits++;
        rule_counters[i] = bits;
    }
}

static void report(struct arena *arena, const struct ast_kernel *kernel,
                   const struct check_result *result)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct divergence *divergence = result->answers[i].divergence;
        if (divergence && !divergence->known)
            fprintf(stderr, "%s\n%s\n%s\n", divergence_signature(arena, divergence),
                    divergence->summary, divergence->evidence);
    }
    fprintf(stderr, "%s", print_kernel(arena, kernel));
    abort();
}

int harness_ask(const uint8_t *data, size_t size, const struct gen_options *gen)
{
    static struct arena arena; /* one process, one thread: kept from input to input */
    if (!arena.base && arena_init(&arena, ARENA_BYTES) != 0)
        return 0;
    size_t mark = arena_mark(&arena);
    struct source source;
    struct check_options options = CHECK_DEFAULTS;
    struct check_result result;
    options.schedules = SCHEDULES;
    options.budget_steps = BUDGET_STEPS;
    source_bytes(&source, data, size);
    const struct ast_kernel *kernel = gen_kernel(&arena, &source, gen);
    check_kernel(&arena, kernel, &options, &result);
    count_rules(&result);
    if (check_divergences(&result, false) > 0)
        report(&arena, kernel, &result);
    arena_release(&arena, mark);
    return 0;
}
