/*
 * reduce.c - the reduction loop: candidates of a pass are tried in order, the first that keeps the
 * signature becomes the new base, until no pass finds any.
 *
 * With several jobs the next few candidates are tested at once; the first of them in order that
 * keeps the signature is taken and the later ones are dropped, so the result is that of one job.
 */
#include "fuzz/reduce/reduce.h"

#include "engine/invariant.h"
#include "engine/print.h"
#include "engine/ptx/ptx_kernel.h"
#include "fuzz/reduce/reduce_internal.h"

#include <pthread.h>
#include <string.h>

enum {
    REDUCE_JOBS_MAX = 16,
    REPRODUCE_RUNS = 3,
    SCHEDULE_TESTS = 500,
    TRIED_SLOTS = 1 << 14, /* candidates remembered by the hash of their text */
};

static const size_t CANDIDATE_ARENA_BYTES = (size_t)1 << 30;

struct candidate {
    struct arena arena;
    struct ast_kernel *kernel;
    uint32_t number; /* of the edit within its pass */
    const struct reduce_options *options;
    const struct check_options *check;
    const char *signature;
    bool k1_only;
    uint64_t hash; /* of its text */
    bool malformed;
    bool repeated; /* malformed, or tried before: not tested */
    bool keeps;    /* shows the signature */
};

struct reduction {
    struct arena *arena; /* of the result */
    const struct reduce_options *options;
    struct check_options check; /* with only the oracle concerned */
    const char *signature;
    bool k1_only;
    struct arena base_arena[2]; /* the base lives in one, the next base is copied to the other */
    uint32_t base_in;
    struct ast_kernel *base;
    struct candidate *candidates;
    uint32_t jobs;
    bool reducible,
        well_formed; /* so were the graphs of the given kernel, and the kernel (Def. 5.1) */
    uint32_t tests;
    const char *pass; /* at work */
    bool stopped;     /* by options->go_on */
    uint64_t *tried;
};

/* Asked before every test; false: the best so far is the result. */
static bool may_test(struct reduction *r)
{
    struct reduce_progress progress = {.tests = r->tests, .pass = r->pass};
    if (r->options->go_on && !r->stopped) {
        progress.size = ast_kernel_size(r->base);
        r->stopped = !r->options->go_on(r->options->go_on_context, &progress);
    }
    return !r->stopped && r->tests < r->options->max_tests;
}

/* ---- testing ---- */

static void *test_candidate(void *argument)
{
    struct candidate *c = argument;
    if (c->options->keeps) {
        c->keeps = c->options->keeps(&c->arena, c->kernel, c->options->context);
        return NULL;
    }
    struct check_result *result = ARENA_NEW(&c->arena, struct check_result);
    check_kernel(&c->arena, c->kernel, c->check, result);
    c->keeps = check_find(&c->arena, result, c->signature, c->k1_only) != NULL;
    return NULL;
}

/* FNV-1a: names a candidate's text among those tried. */
static uint64_t text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash | 1;
}

/* The slot of a text's hash among those tried: it holds the hash, or 0 when the text is new; NULL:
 * no room. A full table stops remembering: a candidate is then tested again, which changes no result. */
static uint64_t *tried_slot(struct reduction *r, uint64_t hash)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t *slot = &r->tried[(hash + i) % TRIED_SLOTS];
        if (*slot == hash || *slot == 0)
            return slot;
    }
    return NULL;
}

static bool tried_before(struct reduction *r, uint64_t hash)
{
    const uint64_t *slot = tried_slot(r, hash);
    return slot && *slot == hash;
}

/* Counts and remembers a candidate whose turn has come: not those tested ahead and dropped, so that
 * the number of jobs changes nothing. */
static void settle(struct reduction *r, const struct candidate *c)
{
    if (c->malformed || tried_before(r, c->hash))
        return;
    uint64_t *slot = tried_slot(r, c->hash);
    if (slot)
        *slot = c->hash;
    r->tests++;
}

static bool is_ptx(const struct reduction *r)
{
    return r->base->form == FORM_PTX;
}

static struct ast_kernel *copy_kernel(struct arena *arena, const struct ast_kernel *kernel)
{
    return kernel->form == FORM_PTX ? reduce_reread(arena, kernel) : ast_kernel_copy(arena, kernel);
}

/* Whether an edited kernel is still one; of a module, what its text says is what is tested. */
static bool settle_ptx(struct candidate *c)
{
    if (c->kernel->ptx->entry)
        c->kernel = reduce_reread(&c->arena, c->kernel);
    return c->kernel && c->kernel->ptx->entry;
}

static bool settle_tree(const struct reduction *r, struct candidate *c)
{
    struct diag *diag = ARENA_NEW(&c->arena, struct diag);
    diag_init(diag, "candidate", NULL, 0);
    reduce_drop_unreachable(c->kernel);
    return ast_check(c->kernel, diag) &&
           (!r->reducible || reduce_is_reducible(&c->arena, c->kernel)) &&
           (!r->well_formed || reduce_is_well_formed(&c->arena, c->kernel));
}

/* Makes candidate `number` of a pass; false when the pass has no such. */
static bool make_candidate(struct reduction *r, struct candidate *c, const struct reduce_pass *pass,
                           uint32_t number)
{
    c->arena.used = 0;
    c->kernel = copy_kernel(&c->arena, r->base);
    struct edit edit = {.arena = &c->arena, .kernel = c->kernel, .target = number};
    pass->run(&edit);
    if (edit.seen <= number)
        return false;
    c->number = number;
    c->keeps = false;
    c->malformed = is_ptx(r) ? !settle_ptx(c) : !settle_tree(r, c);
    c->hash = c->malformed ? 1 : text_hash(print_kernel(&c->arena, c->kernel));
    c->repeated = c->malformed || tried_before(r, c->hash);
    c->check = &r->check;
    c->signature = r->signature;
    c->k1_only = r->k1_only;
    return true;
}

static void test_batch(struct candidate *candidates, uint32_t count)
{
    pthread_t threads[REDUCE_JOBS_MAX];
    bool started[REDUCE_JOBS_MAX] = {false};
    for (uint32_t i = 1; i < count; i++)
        if (!candidates[i].repeated)
            started[i] = pthread_create(&threads[i], NULL, test_candidate, &candidates[i]) == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].repeated)
            continue;
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            test_candidate(&candidates[i]);
    }
}

static void take_base(struct reduction *r, const struct ast_kernel *kernel)
{
    r->base_in ^= 1;
    r->base_arena[r->base_in].used = 0;
    r->base = copy_kernel(&r->base_arena[r->base_in], kernel);
    if (r->base->form != FORM_PTX)
        reduce_normalise(&r->base_arena[r->base_in], r->base);
}

/* Tries all candidates of a pass; returns how many were accepted. */
static uint32_t run_pass(struct reduction *r, const struct reduce_pass *pass)
{
    uint32_t accepted = 0, number = 0;
    bool more = true;
    r->pass = pass->name;
    while (more && may_test(r)) {
        uint32_t count = 0;
        while (count < r->jobs &&
               (more = make_candidate(r, &r->candidates[count], pass, number + count)))
            count++;
        test_batch(r->candidates, count);
        uint32_t taken = 0;
        while (taken < count && !r->candidates[taken].keeps && r->tests < r->options->max_tests)
            settle(r, &r->candidates[taken++]);
        number += taken;
        if (taken < count && r->tests < r->options->max_tests) {
            settle(r, &r->candidates[taken]);
            take_base(r, r->candidates[taken].kernel);
            accepted++;
            more = true;
        }
    }
    return accepted;
}

/* Until no pass finds anything more; returns how many edits were accepted. */
static uint32_t run_passes(struct reduction *r)
{
    uint32_t total = 0, accepted;
    const struct reduce_pass *passes = is_ptx(r) ? reduce_ptx_passes : reduce_passes;
    uint32_t count = is_ptx(r) ? reduce_ptx_pass_count : reduce_pass_count;
    do {
        accepted = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t more;
            while ((more = run_pass(r, &passes[i])) > 0)
                accepted += more;
        }
        total += accepted;
    } while (accepted > 0 && may_test(r));
    return total;
}

/* ---- the whole ---- */

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
    for (int i = 0; i < REPRODUCE_RUNS; i++) {
        struct candidate *c = &r->candidates[0];
        c->arena.used = 0;
        c->kernel = copy_kernel(&c->arena, kernel);
        c->check = check;
        c->signature = r->signature;
        c->k1_only = r->k1_only;
        test_candidate(c);
        if (!c->keeps)
            return false;
    }
    return true;
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
    memset(r->tried, 0, TRIED_SLOTS * sizeof *r->tried);
    if (run_passes(r) > 0)
        return;
    r->signature = strict;
    r->k1_only = false;
}

static void reduction_open(struct reduction *r)
{
    r->jobs = r->options->jobs == 0 ? 1 : r->options->jobs;
    if (r->jobs > REDUCE_JOBS_MAX)
        r->jobs = REDUCE_JOBS_MAX;
    r->candidates = ARENA_ARRAY(r->arena, struct candidate, r->jobs);
    r->tried = ARENA_ARRAY(r->arena, uint64_t, TRIED_SLOTS);
    int failed = arena_init(&r->base_arena[0], CANDIDATE_ARENA_BYTES) |
                 arena_init(&r->base_arena[1], CANDIDATE_ARENA_BYTES);
    for (uint32_t i = 0; i < r->jobs; i++)
        failed |= arena_init(&r->candidates[i].arena, CANDIDATE_ARENA_BYTES);
    for (uint32_t i = 0; i < r->jobs; i++)
        r->candidates[i].options = r->options;
    INVARIANT(failed == 0); /* address space only */
}

static void reduction_close(struct reduction *r)
{
    arena_destroy(&r->base_arena[0]);
    arena_destroy(&r->base_arena[1]);
    for (uint32_t i = 0; i < r->jobs; i++)
        arena_destroy(&r->candidates[i].arena);
}

/* Canonical names, if they keep the signature (they do unless something depends on names). */
static void try_rename(struct reduction *r)
{
    if (is_ptx(r))
        return;
    struct ast_kernel *kept = ast_kernel_copy(r->arena, r->base);
    reduce_rename(&r->base_arena[r->base_in], r->base);
    if (!reproduces(r, r->base, &r->check))
        take_base(r, kept);
}

static bool schedule_goes_on(void *context)
{
    struct reduction *r = context;
    may_test(r);
    return !r->stopped;
}

static const struct tape *shorten_schedule(struct reduction *r, struct reduce_result *result)
{
    const struct divergence *d = result->divergence;
    struct schedule_search search = {.scratch = &r->candidates[0].arena,
                                     .kernel = result->kernel,
                                     .check = r->check,
                                     .signature = r->signature,
                                     .k1_only = r->k1_only,
                                     .max_tests = SCHEDULE_TESTS,
                                     .go_on = schedule_goes_on,
                                     .context = r};
    search.check.tape_subject = d->subject;
    r->pass = "schedule";
    const struct tape *tape = reduce_schedule(r->arena, &search, d->tape);
    result->tests += search.tests;
    if (r->stopped)
        result->ending = REDUCE_STOPPED;
    return tape;
}

static enum reduce_ending ending(const struct reduction *r)
{
    if (r->stopped)
        return REDUCE_STOPPED;
    return r->tests < r->options->max_tests ? REDUCE_MINIMAL : REDUCE_TESTS;
}

static void finish(struct reduction *r, struct reduce_result *result)
{
    result->ending = ending(r);
    result->kernel = copy_kernel(r->arena, r->base);
    result->size_after = ast_kernel_size(result->kernel);
    result->tests = r->tests;
    result->relaxed = r->k1_only;
    if (r->options->keeps)
        return;
    struct check_result *check = ARENA_NEW(r->arena, struct check_result);
    check_kernel(r->arena, result->kernel, &r->check, check);
    result->divergence = check_find(r->arena, check, r->signature, r->k1_only);
    const struct divergence *d = result->divergence;
    if (d && d->tape && !d->tape->truncated)
        result->tape = shorten_schedule(r, result);
}

void reduce_kernel(struct arena *arena, const struct ast_kernel *kernel,
                   const struct reduce_options *options, struct reduce_result *result)
{
    struct reduction r = {.arena = arena,
                          .options = options,
                          .check = options->check,
                          .signature = options->signature};
    *result = (struct reduce_result){.size_before = ast_kernel_size(kernel)};
    r.check.oracles = oracle_of(options->signature, options->check.oracles);
    reduction_open(&r);
    result->reproduced = reproduces(&r, kernel, &r.check);
    if (!result->reproduced) { /* the other oracles' runs were needed */
        r.check.oracles = options->check.oracles;
        result->reproduced = reproduces(&r, kernel, &r.check);
    }
    take_base(&r, kernel);
    /* Where the expectation is the oracle, it is about this kernel and no other. */
    bool is_expected = r.check.oracles == 1u << ORACLE_DIRECTIONS;
    if (!is_expected)
        r.base->expects = NULL;
    r.reducible = !is_ptx(&r) && reduce_is_reducible(arena, r.base);
    r.well_formed = reduce_is_well_formed(arena, r.base);
    if (result->reproduced && !is_expected) {
        if (run_passes(&r) == 0 && !options->keeps)
            relax(&r);
        try_rename(&r);
    }
    finish(&r, result);
    reduction_close(&r);
}
