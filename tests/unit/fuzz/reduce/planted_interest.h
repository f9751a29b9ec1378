/*
 * planted_interest.h - reductions that keep what a function of a test says.
 */
#ifndef PLANTED_INTEREST_H
#define PLANTED_INTEREST_H

#include "fuzz/reduce/reduce.h"

typedef bool planted_keeps(struct arena *arena, const struct ast_kernel *kernel, void *context);

struct planted_interest {
    planted_keeps *keeps;
    void *context;
};

static bool planted_shown(const struct interest *interest, struct interest_question *question)
{
    const struct planted_interest *planted = interest->state;
    return planted->keeps(question->arena, question->kernel, planted->context);
}

static void planted_reduce(struct arena *arena, const struct ast_kernel *kernel,
                           planted_keeps *keeps, void *context, struct reduce_result *result)
{
    struct planted_interest planted = {keeps, context};
    const struct interest interest = {.shown = planted_shown, .state = &planted};
    const struct reduce_options options = {
        .check = CHECK_DEFAULTS, .interest = &interest, .max_tests = 20000, .jobs = 1};
    reduce_kernel(arena, kernel, &options, result);
}

#endif
