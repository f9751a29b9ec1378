/*
 * reduce.c - a reduction from its start to its end: is the kernel interesting, what becomes of it
 * (reduce_search.h), is the result as interesting.
 */
#include "fuzz/reduce/reduce.h"

#include "engine/input/input.h"
#include "fuzz/reduce/reduce_search.h"

/* Once is enough of what takes long: the same case gives the same answer. */
enum { REPRODUCE_RUNS = 3, REPRODUCE_STEPS = 1 << 22 };

/* Asked several times, unless the time is over: once in any case. */
static bool reproduces(struct reduction *r, const struct ast_kernel *kernel,
                       const struct check_options *check)
{
    bool shown = true;
    for (int i = 0; i < REPRODUCE_RUNS && shown; i++) {
        if (i > 0 && (r->steps > REPRODUCE_STEPS || !reduction_goes_on(r)))
            break;
        shown = reduction_shows(r, kernel, check);
    }
    return shown;
}

/* Asked under the oracles that it needs alone; or, where runs for the other oracles were needed,
 * under all. */
static bool starts(struct reduction *r, const struct ast_kernel *kernel,
                   struct check_options *check)
{
    uint32_t oracles = check->oracles;
    r->pass = "confirming";
    if (r->interest->checks)
        check->oracles = r->interest->oracles;
    if (r->options->hurried && reduction_starts_narrow(r, kernel, check))
        return true;
    if (reproduces(r, kernel, check))
        return true;
    check->oracles = oracles;
    return r->interest->checks && r->interest->oracles != oracles && reproduces(r, kernel, check);
}

/* Where what is to be kept shrinks nothing, something weaker is kept instead, if that shrinks
 * anything. */
static void relax(struct reduction *r)
{
    const struct interest *strict = r->interest;
    if (!strict->weaker)
        return;
    r->interest = strict->weaker;
    reduction_forget(r);
    if (reduction_run(r) == 0)
        r->interest = strict;
}

/* Canonical names, if it is as interesting with them (it is unless something depends on names). */
static void try_rename(struct reduction *r)
{
    if (r->base->form == FORM_PTX || r->stopped)
        return;
    r->pass = "names";
    struct ast_kernel *kept = ast_kernel_copy(r->arena, r->base);
    reduce_rename(&r->base_arena[r->base_in], r->base);
    if (!reproduces(r, r->base, &r->check))
        reduction_take_base(r, kept);
}

static void shrink(struct reduction *r, bool may_relax)
{
    (void)reduce_transforms(r);
    if (reduction_run(r) == 0 && may_relax && !r->stopped)
        relax(r);
    while (reduce_transforms(r) > 0 && reduction_run(r) > 0)
        continue;
    try_rename(r);
}

static void finish(struct reduction *r, const struct check_options *check,
                   struct reduce_result *result)
{
    result->ending = r->stopped              ? REDUCE_STOPPED
                     : reduction_is_spent(r) ? REDUCE_TESTS
                                             : REDUCE_MINIMAL;
    result->kernel = reduction_copy(r->arena, r->base);
    result->size_after = ast_kernel_size(result->kernel);
    result->kept = r->interest;
    result->check = *check;
    result->tests = r->tests;
    result->accepted = r->accepted;
    result->runs = r->runs;
    result->steps = r->all_steps;
}

static void take_given(struct reduction *r, const struct ast_kernel *kernel)
{
    reduction_take_base(r, kernel);
    if (!r->interest->expects)
        r->base->expects = NULL;
    r->reducible = r->base->form != FORM_PTX && edit_is_reducible(r->arena, r->base);
    r->well_formed = reduce_is_well_formed(r->arena, r->base);
}

/* What was found was shown by the narrow way of asking alone: from the given kernel again, asked
 * with everything. */
static bool shrink_again(struct reduction *r, const struct ast_kernel *kernel,
                         const struct check_options *check)
{
    r->check = *check;
    r->wide = true;
    r->accepted++; /* back to the given kernel */
    r->interest = r->options->interest;
    reduction_forget(r);
    take_given(r, kernel);
    if (r->hurried && !reduction_shows(r, r->base, check))
        return false;
    shrink(r, !r->options->strict);
    return true;
}

/* There is time left after the cheapest questions: some of what they refused holds when all is asked. */
static void shrink_further(struct reduction *r, const struct check_options *check)
{
    r->check = *check;
    r->wide = true;
    reduction_forget(r);
    shrink(r, false);
}

void reduce_kernel(struct arena *arena, const struct ast_kernel *kernel,
                   const struct reduce_options *options, struct reduce_result *result)
{
    struct reduction r = {.arena = arena, .options = options, .interest = options->interest};
    struct check_options check = options->check;
    *result = (struct reduce_result){.size_before = ast_kernel_size(kernel)};
    reduction_open(&r);
    take_given(&r, kernel);
    result->reproduced = starts(&r, kernel, &check);
    if (!r.hurried) {
        reduce_transforms_draw(&r, kernel, &check);
        r.check = check;
    }
    if (result->reproduced && !options->interest->fixed) {
        const struct transform_list given = check.transforms;
        shrink(&r, !options->strict);
        check.transforms = r.check.transforms;
        if (options->interest->checks && !reduction_shows(&r, r.base, &check)) {
            check.transforms = given;
            result->reproduced = shrink_again(&r, kernel, &check);
            check.transforms = r.check.transforms;
        } else if (r.hurried && !r.stopped) {
            shrink_further(&r, &check);
        }
    }
    finish(&r, &check, result);
    reduction_close(&r);
}
