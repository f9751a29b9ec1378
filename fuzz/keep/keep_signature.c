#include "fuzz/keep/keep_signature.h"

#include "engine/base/invariant.h"
#include "fuzz/reduce/reduce_schedule.h"

#include <string.h>

enum { SCHEDULE_TESTS = 500 };

static const size_t SCHEDULE_ARENA_BYTES = (size_t)1 << 30;

struct sought {
    const char *signature;
    bool k1_only;
};

static const struct divergence *find(const struct interest *interest, struct arena *arena,
                                     const struct check_result *result)
{
    const struct sought *sought = interest->state;
    return check_find(arena, result, sought->signature, sought->k1_only);
}

static bool shown(const struct interest *interest, struct interest_question *question)
{
    struct check_result *result = ARENA_NEW(question->arena, struct check_result);
    check_kernel(question->arena, question->kernel, question->check, result);
    question->steps = result->thread_steps + result->warp_steps;
    return find(interest, question->arena, result) != NULL;
}

/* The oracle that a signature names: the others need not be asked again and again. */
static uint32_t oracle_of(const char *signature)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        size_t length = strlen(oracle_table[i].name);
        if (strncmp(signature, oracle_table[i].name, length) == 0 && signature[length] == '|')
            return 1u << i;
    }
    return 0;
}

static struct interest *interest_in(struct arena *arena, const char *signature, bool k1_only)
{
    struct interest *interest = ARENA_NEW(arena, struct interest);
    struct sought *sought = ARENA_NEW(arena, struct sought);
    *sought = (struct sought){.signature = signature, .k1_only = k1_only};
    *interest = (struct interest){
        .shown = shown, .state = sought, .checks = true, .oracles = oracle_of(signature)};
    /* Where the expectation is the oracle, it is about this kernel and no other. */
    interest->expects = interest->fixed = interest->oracles == 1u << ORACLE_DIRECTIONS;
    return interest;
}

const struct interest *keep_signature(struct arena *arena, const char *signature)
{
    struct interest *strict = interest_in(arena, signature, false);
    const char *bar = strchr(signature, '|');
    bar = bar ? strchr(bar + 1, '|') : NULL;
    if (bar)
        strict->weaker =
            interest_in(arena, arena_strndup(arena, signature, (size_t)(bar - signature)), true);
    return strict;
}

/* ---- the shortest schedule ---- */

struct shortening {
    const struct reduce_options *options;
    struct reduce_result *reduced;
};

static bool goes_on(void *context)
{
    struct shortening *s = context;
    const struct reduce_so_far so_far = {.tests = s->reduced->tests,
                                         .size = s->reduced->size_after,
                                         .pass = "schedule",
                                         .best = s->reduced->kernel,
                                         .accepted = s->reduced->accepted};
    if (s->reduced->ending != REDUCE_STOPPED && s->options->go_on &&
        !s->options->go_on(s->options->go_on_context, &so_far))
        s->reduced->ending = REDUCE_STOPPED;
    return s->reduced->ending != REDUCE_STOPPED;
}

static const struct tape *shorten(struct arena *arena, const struct reduce_options *options,
                                  struct signature_result *result)
{
    struct arena scratch;
    struct reduce_result *reduced = &result->reduced;
    struct shortening shortening = {options, reduced};
    arena_reserve(&scratch, SCHEDULE_ARENA_BYTES); /* address space only */
    struct schedule_search search = {.scratch = &scratch,
                                     .kernel = reduced->kernel,
                                     .check = reduced->check,
                                     .interest = reduced->kept,
                                     .max_tests = SCHEDULE_TESTS,
                                     .max_steps = options->max_steps / 4,
                                     .go_on = goes_on,
                                     .context = &shortening};
    search.check.tape_subject = result->divergence->subject;
    const struct tape *tape = reduce_schedule(arena, &search, result->divergence->tape);
    reduced->tests += search.tests;
    reduced->runs += search.tests;
    reduced->steps += search.steps;
    arena_destroy(&scratch);
    return tape;
}

void reduce_finding(struct arena *arena, const struct ast_kernel *kernel, const char *signature,
                    const struct reduce_options *given, struct signature_result *result)
{
    struct reduce_options options = *given;
    struct reduce_result *reduced = &result->reduced;
    *result = (struct signature_result){.divergence = NULL};
    options.interest = keep_signature(arena, signature);
    reduce_kernel(arena, kernel, &options, reduced);
    struct check_result *seen = ARENA_NEW(arena, struct check_result);
    check_kernel(arena, reduced->kernel, &reduced->check, seen);
    result->relaxed = reduced->kept != options.interest;
    reduced->runs++;
    reduced->steps += seen->thread_steps + seen->warp_steps;
    const struct divergence *d = find(reduced->kept, arena, seen);
    if (d && d->tape && !d->tape->truncated) {
        result->divergence = d;
        result->tape = shorten(arena, &options, result);
    }
    result->divergence = d;
}
