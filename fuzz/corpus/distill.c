#include "fuzz/corpus/distill.h"

#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/language/print.h"
#include "fuzz/case/case.h"
#include "fuzz/case/example.h"
#include "fuzz/corpus/distill_claims.h"
#include "oracle/matrix/matrix_expect.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const size_t ARENA_BYTES = (size_t)4 << 30; /* address space */
static const size_t KEEP_BYTES = (size_t)1 << 30;

/* A case that showed something before any smaller one did, or a kernel made of it. */
struct candidate {
    uint64_t number;
    uint32_t size;
    struct distill_features features;
    const char *text; /* of a finished kernel */
    struct candidate *next;
};

/* The smallest kernel of each feature, among equals the first. */
struct smallest {
    uint64_t number[COVERAGE_COUNT];
    uint32_t size[COVERAGE_COUNT]; /* 0: nobody shows it */
};

struct worker {
    const struct distill_options *options;
    atomic_uint_least64_t *next;
    struct arena arena, keep; /* of a case; of what is kept */
    struct coverage *map;
    struct smallest *smallest;
    struct candidate *candidates;
    uint64_t looked, divergent;
    /* the second half: reducing */
    const struct candidate *chosen;
    uint32_t chosen_count;
    struct distilled *made; /* text NULL: nothing could be made of it */
    bool is_first;
    pthread_t thread;
};

/* ---- what a kernel shows ---- */

static uint32_t counters_of(const struct coverage *map, uint32_t *counters)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COVERAGE_COUNT; i++)
        if (map->count[i] > 0)
            counters[count++] = i;
    return count;
}

static void check(struct arena *arena, const struct ast_kernel *kernel, struct coverage *map,
                  struct check_result *result)
{
    struct check_options options = CHECK_DEFAULTS;
    options.coverage = map;
    coverage_clear(map);
    check_kernel(arena, kernel, &options, result);
}

bool distill_check(struct arena *arena, const struct ast_kernel *kernel, struct coverage *scratch,
                   struct distill_features *features)
{
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    check(arena, kernel, scratch, result);
    uint32_t *counters = ARENA_ARRAY(arena, uint32_t, COVERAGE_COUNT);
    features->count = counters_of(scratch, counters);
    features->counters = counters;
    bool met = result->claim_count > 0;
    for (uint32_t i = 0; i < result->claim_count; i++)
        met = met && result->claims[i].met;
    return met && check_divergences(result, false) == 0;
}

/* Both lists ascend. */
static bool includes(const struct distill_features *all, const struct distill_features *some)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < some->count; i++) {
        while (at < all->count && all->counters[at] < some->counters[i])
            at++;
        if (at == all->count || all->counters[at] != some->counters[i])
            return false;
    }
    return true;
}

static struct distill_features copy_features(struct arena *arena,
                                             const struct distill_features *features)
{
    uint32_t *counters = ARENA_ARRAY(arena, uint32_t, features->count);
    memcpy(counters, features->counters, features->count * sizeof *counters);
    return (struct distill_features){.count = features->count, .counters = counters};
}

/* ---- 1. the campaign's cases ---- */

static struct ast_kernel *kernel_of(struct worker *w, uint64_t number)
{
    struct fuzz_case c;
    const char *text;
    case_of_campaign(&c, w->options->seed, number, &w->options->gen, &CHECK_DEFAULTS);
    return example_kernel(&w->arena, &c, &text);
}

static bool is_smaller(const struct smallest *s, uint32_t counter, uint32_t size, uint64_t number)
{
    return s->size[counter] == 0 || size < s->size[counter] ||
           (size == s->size[counter] && number < s->number[counter]);
}

static void look_at(struct worker *w, uint64_t number)
{
    struct distill_features features;
    const struct ast_kernel *kernel = kernel_of(w, number);
    uint32_t size = ast_kernel_size(kernel);
    struct check_result *result = ARENA_NEW(&w->arena, struct check_result);
    check(&w->arena, kernel, w->map, result);
    if (check_divergences(result, false) > 0) {
        w->divergent++;
        return;
    }
    uint32_t *counters = ARENA_ARRAY(&w->arena, uint32_t, COVERAGE_COUNT);
    features = (struct distill_features){counters_of(w->map, counters), counters};
    bool news = false;
    for (uint32_t i = 0; i < features.count; i++) {
        uint32_t counter = features.counters[i];
        if (!is_smaller(w->smallest, counter, size, number))
            continue;
        w->smallest->size[counter] = size;
        w->smallest->number[counter] = number;
        news = true;
    }
    if (!news)
        return;
    struct candidate *candidate = ARENA_NEW(&w->keep, struct candidate);
    *candidate = (struct candidate){.number = number,
                                    .size = size,
                                    .features = copy_features(&w->keep, &features),
                                    .next = w->candidates};
    w->candidates = candidate;
}

/* Relaxed: the number orders nothing; pthread_join hands over what was made. */
static uint64_t take(struct worker *w)
{
    return atomic_fetch_add_explicit(w->next, 1, memory_order_relaxed);
}

static bool stops(const struct worker *w)
{
    return w->options->stop && *w->options->stop;
}

static void tell(const struct worker *w, enum distill_part part, uint64_t done, uint64_t all)
{
    if (w->is_first && w->options->tell)
        w->options->tell(w->options->context, part, done, all);
}

static void *scan(void *context)
{
    struct worker *w = context;
    for (uint64_t number; !stops(w) && (number = take(w)) < w->options->cases;) {
        look_at(w, number);
        w->looked++;
        arena_release(&w->arena, 0);
        tell(w, DISTILL_LOOKING, number + 1, w->options->cases);
    }
    return NULL;
}

/* ---- 2., 5. covers ---- */

static int by_number(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static uint32_t fresh_of(const struct distill_features *features, const bool *covered)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < features->count; i++)
        fresh += !covered[features->counters[i]];
    return fresh;
}

/* Moves the chosen ones to the front, by number, each with the features of its own; returns how many. */
static uint32_t cover(struct arena *arena, struct candidate *items, uint32_t count)
{
    bool *covered = ARENA_ARRAY(arena, bool, COVERAGE_COUNT);
    uint32_t chosen = 0;
    for (;; chosen++) {
        uint32_t best = chosen;
        uint64_t best_fresh = 0, best_size = 1;
        for (uint32_t i = chosen; i < count; i++) {
            uint64_t fresh = fresh_of(&items[i].features, covered), size = items[i].size;
            uint64_t left = fresh * best_size, right = best_fresh * size;
            if (left < right || fresh == 0 ||
                (left == right && items[i].number > items[best].number))
                continue;
            best = i;
            best_fresh = fresh;
            best_size = size;
        }
        if (best_fresh == 0)
            break;
        struct candidate taken = items[best];
        items[best] = items[chosen];
        uint32_t *own = ARENA_ARRAY(arena, uint32_t, (uint32_t)best_fresh), own_count = 0;
        for (uint32_t i = 0; i < taken.features.count; i++) {
            uint32_t counter = taken.features.counters[i];
            if (!covered[counter])
                own[own_count++] = counter;
            covered[counter] = true;
        }
        taken.features = (struct distill_features){own_count, own};
        items[chosen] = taken;
    }
    qsort(items, chosen, sizeof *items, by_number);
    return chosen;
}

/* ---- 3., 4. small, with claims ---- */

struct keeping {
    struct coverage *map;
    const struct distill_features *own;
};

static bool keeps(const struct interest *interest, struct interest_question *question)
{
    const struct keeping *keeping = interest->state;
    struct arena *arena = question->arena;
    size_t mark = arena_mark(arena);
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    check(arena, question->kernel, keeping->map, result);
    bool all = check_divergences(result, false) == 0;
    for (uint32_t i = 0; i < keeping->own->count && all; i++)
        all = keeping->map->count[keeping->own->counters[i]] > 0;
    arena_release(arena, mark);
    return all;
}

/* How the kernel ends under each execution model. */
static struct matrix kernel_matrix(struct arena *arena, const struct ast_kernel *kernel)
{
    const struct matrix_options within = matrix_expected(kernel);
    return matrix_of(forms_new(arena, kernel), &within);
}

static bool may_hang(const struct matrix *matrix)
{
    for (uint32_t i = 0; i < matrix->count; i++)
        if (matrix->rows[i].verdict == PROGRESS_MAY_HANG ||
            matrix->rows[i].verdict == PROGRESS_HANGS)
            return true;
    return false;
}

/* Gives the kernel its claims and checks its text. `all`: it must still show all features of its own. */
static bool finish(struct worker *w, struct ast_kernel *kernel, const struct candidate *from,
                   bool all, struct distilled *made)
{
    struct distill_features shown;
    kernel = parse_printed(&w->arena, print_kernel(&w->arena, kernel));
    struct matrix matrix = kernel_matrix(&w->arena, kernel);
    if (!distill_claims(&w->arena, kernel, may_hang(&matrix)))
        return false;
    const char *text = print_kernel(&w->arena, kernel);
    struct ast_kernel *printed = parse_printed(&w->arena, text);
    if (!distill_check(&w->arena, printed, w->map, &shown) ||
        (all && !includes(&shown, &from->features)))
        return false;
    text = arena_printf(&w->arena, "%s%s", text,
                        print_progress(&w->arena, printed, matrix_state(&w->arena, &matrix)));
    *made = (struct distilled){.number = from->number,
                               .text = arena_strndup(&w->keep, text, strlen(text)),
                               .is_ptx = kernel->form == FORM_PTX,
                               .size = ast_kernel_size(kernel),
                               .size_before = from->size,
                               .features = copy_features(&w->keep, &shown)};
    return true;
}

static bool goes_on(void *context, const struct reduce_so_far *so_far)
{
    (void)so_far;
    return !stops(context);
}

static void make(struct worker *w, const struct candidate *from, struct distilled *made)
{
    struct keeping keeping = {.map = w->map, .own = &from->features};
    const struct interest interest = {.shown = keeps, .state = &keeping};
    struct reduce_options options = {.check = CHECK_DEFAULTS,
                                     .interest = &interest,
                                     .max_tests = w->options->max_tests,
                                     .go_on = goes_on,
                                     .go_on_context = w,
                                     .jobs = 1};
    struct reduce_result reduced;
    struct ast_kernel *kernel = kernel_of(w, from->number);
    reduce_kernel(&w->arena, kernel, &options, &reduced);
    if (reduced.reproduced && finish(w, reduced.kernel, from, true, made))
        return;
    /* A claim can change what an oracle answers. */
    if (!finish(w, kernel, from, false, made))
        *made = (struct distilled){.text = NULL};
}

static void *make_all(void *context)
{
    struct worker *w = context;
    for (uint64_t i; (i = take(w)) < w->chosen_count;) {
        make(w, &w->chosen[i], &w->made[i]);
        arena_release(&w->arena, 0);
        tell(w, DISTILL_REDUCING, i + 1, w->chosen_count);
    }
    return NULL;
}

/* ---- all of it ---- */

static void run(struct worker *workers, uint32_t count, void *(*body)(void *))
{
    atomic_store_explicit(workers->next, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        INVARIANT(pthread_create(&workers[i].thread, NULL, body, &workers[i]) == 0);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

/* The cases that are the smallest of some feature, over all workers. */
static struct candidate *gather(struct arena *arena, const struct worker *workers, uint32_t jobs,
                                uint32_t *count, bool *shown)
{
    struct smallest *all = ARENA_NEW(arena, struct smallest);
    uint32_t most = 0;
    for (uint32_t i = 0; i < jobs; i++) {
        const struct smallest *s = workers[i].smallest;
        for (uint32_t k = 0; k < COVERAGE_COUNT; k++)
            if (s->size[k] > 0 && is_smaller(all, k, s->size[k], s->number[k])) {
                all->size[k] = s->size[k];
                all->number[k] = s->number[k];
            }
        for (const struct candidate *c = workers[i].candidates; c; c = c->next)
            most++;
    }
    struct candidate *items = ARENA_ARRAY(arena, struct candidate, most);
    *count = 0;
    for (uint32_t i = 0; i < jobs; i++)
        for (const struct candidate *c = workers[i].candidates; c; c = c->next) {
            bool smallest = false;
            for (uint32_t k = 0; k < c->features.count && !smallest; k++)
                smallest = all->number[c->features.counters[k]] == c->number;
            if (smallest)
                items[(*count)++] = *c;
        }
    for (uint32_t k = 0; k < COVERAGE_COUNT; k++)
        shown[k] = all->size[k] > 0;
    qsort(items, *count, sizeof *items, by_number);
    return items;
}

/* A kernel made smaller can show more than any case: that is not counted. */
static struct distill_features only(struct arena *arena, const struct distill_features *features,
                                    const bool *shown)
{
    uint32_t *counters = ARENA_ARRAY(arena, uint32_t, features->count), count = 0;
    for (uint32_t i = 0; i < features->count; i++)
        if (shown[features->counters[i]])
            counters[count++] = features->counters[i];
    return (struct distill_features){count, counters};
}

static void keep_covering(struct arena *arena, const struct distilled *made, uint32_t count,
                          const bool *shown, struct distillation *d)
{
    struct candidate *items = ARENA_ARRAY(arena, struct candidate, count);
    uint32_t items_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (made[i].text)
            items[items_count++] =
                (struct candidate){.number = i,
                                   .size = made[i].size,
                                   .features = only(arena, &made[i].features, shown)};
    d->count = cover(arena, items, items_count);
    d->kernels = ARENA_ARRAY(arena, struct distilled, d->count);
    for (uint32_t i = 0; i < d->count; i++) {
        d->kernels[i] = made[items[i].number];
        d->kernels[i].text = arena_strndup(arena, d->kernels[i].text, strlen(d->kernels[i].text));
        d->kernels[i].features = copy_features(arena, &items[i].features);
        d->covered += items[i].features.count;
    }
}

static void begin(const struct distill_options *options, enum distill_part part)
{
    if (options->part)
        options->part(options->context, part);
}

void distill(struct arena *arena, const struct distill_options *options, struct distillation *d)
{
    atomic_uint_least64_t next;
    uint32_t count, jobs = options->jobs;
    *d = (struct distillation){.count = 0};
    bool *shown = ARENA_ARRAY(arena, bool, COVERAGE_COUNT);
    struct worker *workers = ARENA_ARRAY(arena, struct worker, jobs);
    for (uint32_t i = 0; i < jobs; i++) {
        struct worker *w = &workers[i];
        *w = (struct worker){.options = options, .next = &next, .is_first = i == 0};
        arena_reserve(&w->arena, ARENA_BYTES);
        arena_reserve(&w->keep, KEEP_BYTES);
        w->map = ARENA_NEW(arena, struct coverage);
        w->smallest = ARENA_NEW(arena, struct smallest);
    }
    begin(options, DISTILL_LOOKING);
    run(workers, jobs, scan);
    struct candidate *items = gather(arena, workers, jobs, &count, shown);
    for (uint32_t i = 0; i < COVERAGE_COUNT; i++)
        d->shown += shown[i];
    uint32_t chosen = cover(arena, items, count);
    struct distilled *made = ARENA_ARRAY(arena, struct distilled, chosen);
    for (uint32_t i = 0; i < jobs; i++) {
        workers[i].chosen = items;
        workers[i].chosen_count = chosen;
        workers[i].made = made;
        d->divergent += workers[i].divergent;
        d->looked += workers[i].looked;
    }
    begin(options, DISTILL_REDUCING);
    run(workers, jobs, make_all);
    keep_covering(arena, made, chosen, shown, d);
    for (uint32_t i = 0; i < jobs; i++) {
        arena_destroy(&workers[i].arena);
        arena_destroy(&workers[i].keep);
    }
}
