/*
 * reduce.c - a reduction from its start to its end: does the kernel show the signature, what becomes of it
 * (reduce_search.h), does the result show it as well.
 */
#include "fuzz/reduce/reduce.h"

#include "engine/input/input.h"
#include "fuzz/reduce/reduce_search.h"

#include <string.h>

enum { REPRODUCE_RUNS = 3, SCHEDULE_TESTS = 500 };

/* The oracle that a signature names: the others need not be asked again and again. */
static uint32_t oracle_of(const char *signature, uint32_t otherwise)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        size_t length = strlen(oracle_table[i].name);
        if (strncmp(signature, oracle_table[i].name, length) == 0 && signature[length] == '|')
            return 1u << i;
    }
    return otherwise;
}

static bool reproduces(struct reduction *r, const struct ast_kernel *kernel,
                       const struct check_options *check)
{
    bool shown = true;
    for (int i = 0; i < REPRODUCE_RUNS && shown; i++)
        shown = reduction_shows(r, kernel, check);
    return shown;
}

/* Three times under its oracle alone; or, where runs for the other oracles were needed, under all. */
static bool starts(struct reduction *r, const struct ast_kernel *kernel,
                   struct check_options *check)
{
    uint32_t oracles = check->oracles;
    check->oracles = oracle_of(r->signature, oracles);
    if (reproduces(r, kernel, check))
        return true;
    check->oracles = oracles;
    return reproduces(r, kernel, check);
}

/* Too strict a signature stops minimisation: where K2 shrinks nothing, K1 (its first two parts) is
 * kept instead, if that shrinks anything. */
static void relax(struct reduction *r)
{
    const char *strict = r->signature, *bar = strchr(strict, '|');
    bar = bar ? strchr(bar + 1, '|') : NULL;
    if (!bar)
        return;
    r->signature = arena_strndup(r->arena, strict, (size_t)(bar - strict));
    r->k1_only = true;
    reduction_forget(r);
    if (reduction_run(r) > 0)
        return;
    r->signature = strict;
    r->k1_only = false;
}

/* Canonical names, if they keep the signature (they do unless something depends on names). */
static void try_rename(struct reduction *r)
{
    if (r->base->form == FORM_PTX)
        return;
    struct ast_kernel *kept = ast_kernel_copy(r->arena, r->base);
    reduce_rename(&r->base_arena[r->base_in], r->base);
    if (!reproduces(r, r->base, &r->check))
        reduction_take_base(r, kept);
}

static void shrink(struct reduction *r)
{
    (void)reduce_transforms(r);
    if (reduction_run(r) == 0 && !r->options->keeps && !r->stopped)
        relax(r);
    while (reduce_transforms(r) > 0 && reduction_run(r) > 0)
        continue;
    try_rename(r);
}

static bool schedule_goes_on(void *context)
{
    struct reduction *r = context;
    reduction_may_test(r);
    return !r->stopped;
}

static const struct tape *shorten_schedule(struct reduction *r, const struct ast_kernel *kernel,
                                           const struct divergence *d)
{
    struct schedule_search search = {.scratch = &r->candidates[0].arena,
                                     .kernel = kernel,
                                     .check = r->check,
                                     .signature = r->signature,
                                     .k1_only = r->k1_only,
                                     .max_tests = SCHEDULE_TESTS,
                                     .max_steps = r->options->max_steps / 4,
                                     .go_on = schedule_goes_on,
                                     .context = r};
    search.check.tape_subject = d->subject;
    r->pass = "schedule";
    const struct tape *tape = reduce_schedule(r->arena, &search, d->tape);
    r->tests += search.tests;
    r->runs += search.tests;
    r->all_steps += search.steps;
    return tape;
}

static void finish(struct reduction *r, const struct check_options *check,
                   struct reduce_result *result)
{
    bool spent = reduction_is_spent(r);
    result->kernel = reduction_copy(r->arena, r->base);
    result->size_after = ast_kernel_size(result->kernel);
    result->relaxed = r->k1_only;
    result->transforms = check->transforms;
    if (!r->options->keeps) {
        struct check_result *shown = ARENA_NEW(r->arena, struct check_result);
        r->runs++;
        check_kernel(r->arena, result->kernel, check, shown);
        r->all_steps += shown->thread_steps + shown->warp_steps;
        const struct divergence *d = check_find(r->arena, shown, r->signature, r->k1_only);
        if (d && d->tape && !d->tape->truncated)
            result->tape = shorten_schedule(r, result->kernel, d);
        result->divergence = d;
    }
    result->tests = r->tests;
    result->runs = r->runs;
    result->steps = r->all_steps;
    result->ending = r->stopped ? REDUCE_STOPPED : spent ? REDUCE_TESTS : REDUCE_MINIMAL;
}

/* Where the expectation is the oracle, it is about this kernel and no other. */
static bool is_expected(const struct check_options *check)
{
    return check->oracles == 1u << ORACLE_DIRECTIONS;
}

static void take_given(struct reduction *r, const struct ast_kernel *kernel)
{
    reduction_take_base(r, kernel);
    if (!is_expected(&r->check))
        r->base->expects = NULL;
    r->reducible = r->base->form != FORM_PTX && reduce_is_reducible(r->arena, r->base);
    r->well_formed = reduce_is_well_formed(r->arena, r->base);
}

void reduce_kernel(struct arena *arena, const struct ast_kernel *kernel,
                   const struct reduce_options *options, struct reduce_result *result)
{
    struct reduction r = {.arena = arena, .options = options, .signature = options->signature};
    struct check_options check = options->check;
    *result = (struct reduce_result){.size_before = ast_kernel_size(kernel)};
    reduction_open(&r);
    result->reproduced = starts(&r, kernel, &check);
    reduce_transforms_draw(&r, kernel, &check);
    r.check = check;
    take_given(&r, kernel);
    if (result->reproduced && !is_expected(&check)) {
        const struct transform_list given = check.transforms;
        shrink(&r);
        check.transforms = r.check.transforms;
        if (!options->keeps && !reduction_shows(&r, r.base, &check)) {
            /* It was shown by the narrow way of asking alone. */
            check.transforms = given;
            r.check = check;
            r.wide = true;
            r.signature = options->signature;
            r.k1_only = false;
            reduction_forget(&r);
            take_given(&r, kernel);
            shrink(&r);
            check.transforms = r.check.transforms;
        }
    }
    finish(&r, &check, result);
    reduction_close(&r);
}
