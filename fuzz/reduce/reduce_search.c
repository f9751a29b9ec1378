#include "fuzz/reduce/reduce_search.h"

#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"

#include <pthread.h>
#include <string.h>

enum { TRIED_SLOTS = 1 << 14, TRIED_PROBES = 8 };

static const size_t CANDIDATE_ARENA_BYTES = (size_t)1 << 30;

void reduction_open(struct reduction *r)
{
    r->jobs = r->options->jobs == 0 ? 1 : r->options->jobs;
    if (r->jobs > REDUCE_JOBS_MAX)
        r->jobs = REDUCE_JOBS_MAX;
    r->candidates = ARENA_ARRAY(r->arena, struct candidate, r->jobs);
    r->tried = ARENA_ARRAY(r->arena, uint64_t, TRIED_SLOTS);
    int failed = arena_init(&r->base_arena[0], CANDIDATE_ARENA_BYTES) |
                 arena_init(&r->base_arena[1], CANDIDATE_ARENA_BYTES);
    for (uint32_t i = 0; i < r->jobs; i++) {
        failed |= arena_init(&r->candidates[i].arena, CANDIDATE_ARENA_BYTES);
        r->candidates[i].reduction = r;
    }
    INVARIANT(failed == 0); /* address space only */
}

void reduction_close(struct reduction *r)
{
    arena_destroy(&r->base_arena[0]);
    arena_destroy(&r->base_arena[1]);
    for (uint32_t i = 0; i < r->jobs; i++)
        arena_destroy(&r->candidates[i].arena);
}

bool reduction_is_spent(const struct reduction *r)
{
    return r->tests >= r->options->max_tests ||
           (r->options->max_steps > 0 && r->all_steps >= r->options->max_steps);
}

bool reduction_goes_on(struct reduction *r)
{
    const struct reduce_so_far so_far = {.tests = r->tests,
                                         .size = ast_kernel_size(r->base),
                                         .pass = r->pass,
                                         .best = r->base,
                                         .accepted = r->accepted};
    if (r->options->go_on && !r->stopped)
        r->stopped = !r->options->go_on(r->options->go_on_context, &so_far);
    return !r->stopped;
}

bool reduction_may_test(struct reduction *r)
{
    return reduction_goes_on(r) && !reduction_is_spent(r);
}

/* ---- testing ---- */

static bool shows(struct arena *arena, const struct reduction *r, const struct ast_kernel *kernel,
                  const struct check_options *check, uint64_t *steps)
{
    struct interest_question question = {.arena = arena, .kernel = kernel, .check = check};
    bool shown = r->interest->shown(r->interest, &question);
    *steps = question.steps;
    return shown;
}

bool reduction_shows(struct reduction *r, const struct ast_kernel *kernel,
                     const struct check_options *check)
{
    struct arena *scratch = &r->candidates[0].arena;
    scratch->used = 0;
    r->runs++;
    uint64_t steps = 0;
    bool shown = shows(scratch, r, kernel, check, &steps);
    r->all_steps += steps;
    r->steps = shown ? steps : r->steps;
    return shown;
}

static void *test_candidate(void *argument)
{
    struct candidate *c = argument;
    c->keeps = shows(&c->arena, c->reduction, c->kernel, &c->reduction->check, &c->steps);
    return NULL;
}

static void test_candidates(struct reduction *r, uint32_t count)
{
    pthread_t threads[REDUCE_JOBS_MAX];
    bool started[REDUCE_JOBS_MAX] = {false};
    for (uint32_t i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], NULL, test_candidate, &r->candidates[i]) == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            test_candidate(&r->candidates[i]);
    }
}

/* ---- what was tried ---- */

/* FNV-1a. */
uint64_t reduce_text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash | 1;
}

/* The slot of a text's hash among those tried: it holds the hash, or 0 when the text is new; NULL:
 * no room. A full table stops remembering: a candidate is then tested again, which changes no result. */
static uint64_t *tried_slot(const struct reduction *r, uint64_t hash)
{
    for (uint32_t i = 0; i < TRIED_PROBES; i++) {
        uint64_t *slot = &r->tried[(hash + i) % TRIED_SLOTS];
        if (*slot == hash || *slot == 0)
            return slot;
    }
    return NULL;
}

static bool tried_before(const struct reduction *r, uint64_t hash)
{
    const uint64_t *slot = tried_slot(r, hash);
    return slot && *slot == hash;
}

static void remember(struct reduction *r, uint64_t hash)
{
    uint64_t *slot = tried_slot(r, hash);
    if (slot)
        *slot = hash;
}

void reduction_forget(struct reduction *r)
{
    memset(r->tried, 0, TRIED_SLOTS * sizeof *r->tried);
}

/* ---- candidates ---- */

static bool is_ptx(const struct reduction *r)
{
    return r->base->form == FORM_PTX;
}

struct ast_kernel *reduction_copy(struct arena *arena, const struct ast_kernel *kernel)
{
    if (kernel->form == FORM_PTX)
        return edit_reread(arena, kernel);
    struct ast_kernel *copy = ast_kernel_copy(arena, kernel);
    edit_normalise(arena, copy);
    return copy;
}

void reduction_take_base(struct reduction *r, const struct ast_kernel *kernel)
{
    r->base_in ^= 1;
    r->base_arena[r->base_in].used = 0;
    r->base = reduction_copy(&r->base_arena[r->base_in], kernel);
}

/* Whether an edited kernel is still one. */
static bool is_kernel(const struct reduction *r, struct candidate *c)
{
    if (is_ptx(r))
        return c->kernel->ptx->entry;
    struct diag *diag = ARENA_NEW(&c->arena, struct diag);
    diag_init(diag, "candidate", NULL, 0);
    edit_drop_unreachable(c->kernel);
    return ast_check(c->kernel, diag) &&
           (!r->reducible || edit_is_reducible(&c->arena, c->kernel)) &&
           (!r->well_formed || reduce_is_well_formed(&c->arena, c->kernel));
}

/* What is tested is what its text says. False: it is no kernel, or was tried. */
static bool settle_text(const struct reduction *r, struct candidate *c)
{
    if (!is_kernel(r, c))
        return false;
    c->hash = reduce_text_hash(print_kernel(&c->arena, c->kernel));
    if (tried_before(r, c->hash))
        return false;
    c->kernel = edit_reread(&c->arena, c->kernel);
    return c->kernel && (!is_ptx(r) || c->kernel->ptx->entry);
}

/* Makes the first candidate of a pass from `number` on that is new; false when there is none. */
static bool make_candidate(struct reduction *r, struct candidate *c, const struct reduce_pass *pass,
                           const struct ast_kernel *base, uint32_t number)
{
    for (;; number++) {
        c->arena.used = 0;
        c->kernel = reduction_copy(&c->arena, base);
        struct edit edit = {.arena = &c->arena, .kernel = c->kernel, .target = number};
        pass->run(&edit);
        if (!edit_done(&edit))
            return false;
        c->number = number;
        if (settle_text(r, c))
            return true;
    }
}

/* The candidates that come next if predictions are right; how many. */
static uint32_t make_candidates(struct reduction *r, const struct reduce_pass *pass,
                                uint32_t number)
{
    const struct ast_kernel *base = r->base;
    uint32_t count = 0;
    while (count < r->jobs && make_candidate(r, &r->candidates[count], pass, base, number)) {
        struct candidate *c = &r->candidates[count++];
        c->predicted = r->optimist;
        base = c->predicted ? c->kernel : base;
        number = c->number + !c->predicted;
    }
    return count;
}

/* Takes a candidate's answer. One that another of the same text came before is not asked. */
static bool settle(struct reduction *r, const struct candidate *c)
{
    if (tried_before(r, c->hash))
        return false;
    remember(r, c->hash);
    r->tests++;
    r->runs++;
    r->all_steps += c->steps;
    r->optimist = c->keeps;
    if (!c->keeps)
        return false;
    r->steps = c->steps;
    r->accepted++;
    reduction_take_base(r, c->kernel);
    return true;
}

/* Tries all candidates of a pass; returns how many were accepted. */
static uint32_t run_pass(struct reduction *r, const struct reduce_pass *pass)
{
    uint32_t accepted = 0, number = 0, count;
    r->pass = pass->name;
    r->optimist = false;
    while (reduction_may_test(r) && (count = make_candidates(r, pass, number)) > 0) {
        test_candidates(r, count);
        for (uint32_t i = 0; i < count && !reduction_is_spent(r); i++) {
            bool kept = settle(r, &r->candidates[i]);
            accepted += kept;
            number = r->candidates[i].number + !kept;
            if (kept != r->candidates[i].predicted)
                break;
        }
    }
    return accepted;
}

uint32_t reduction_run(struct reduction *r)
{
    uint32_t total = 0, accepted;
    const struct reduce_pass *passes = is_ptx(r) ? reduce_ptx_passes : reduce_passes;
    uint32_t count = is_ptx(r) ? reduce_ptx_pass_count : reduce_pass_count;
    remember(r, reduce_text_hash(print_kernel(r->arena, r->base)));
    do {
        accepted = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t more;
            reduction_narrow(r);
            while ((more = run_pass(r, &passes[i])) > 0)
                accepted += more;
        }
        total += accepted;
    } while (accepted > 0 && reduction_may_test(r));
    return total;
}
