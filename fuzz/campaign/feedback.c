#include "fuzz/campaign/feedback.h"

#include "engine/input/input.h"
#include "fuzz/out/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SEEN_WORDS = (FEATURES_COUNT + 63) / 64,
    VIEWS = FEEDBACK_LAG + 2, /* those in use, and the one that is written */
    COST_STEPS = 1 << 12,     /* what a case costs beside its steps */
};

static const size_t NAMES_BYTES = (size_t)1 << 20;
static const size_t TEXT_BYTES = (size_t)4 << 30; /* address space */

struct feedback {
    struct arena arena;
    uint64_t generation; /* that cases are taken of */
    uint32_t seed_count, feature_count;
    uint32_t found[FEATURES_DOMAIN_COUNT]; /* features seen, by domain */
    struct feedback_seed *seeds;
    uint32_t *cases; /* a feature: cases that had it */
    uint64_t *seen;
    struct feedback_view views[VIEWS];
};

/* ---- the memory ---- */

struct feedback *feedback_new(void)
{
    struct arena arena;
    if (arena_init(&arena, TEXT_BYTES) != 0)
        return NULL;
    struct feedback *f = ARENA_NEW(&arena, struct feedback);
    f->seeds = ARENA_ARRAY(&arena, struct feedback_seed, FEEDBACK_SEEDS_MAX);
    f->cases = ARENA_ARRAY(&arena, uint32_t, FEATURES_COUNT);
    f->seen = ARENA_ARRAY(&arena, uint64_t, SEEN_WORDS);
    for (uint32_t i = 0; i < VIEWS; i++)
        f->views[i] =
            (struct feedback_view){.cumulative = ARENA_ARRAY(&arena, uint64_t, FEEDBACK_SEEDS_MAX),
                                   .seen = ARENA_ARRAY(&arena, uint64_t, SEEN_WORDS),
                                   .seeds = f->seeds};
    f->arena = arena;
    return f;
}

void feedback_free(struct feedback *f)
{
    if (!f)
        return;
    struct arena arena = f->arena;
    arena_destroy(&arena);
}

static bool has(const uint64_t *seen, uint32_t feature)
{
    return seen[feature / 64] >> feature % 64 & 1;
}

/* Puts a feature into the list of the rarest ones, which is ascending by the cases that had them. */
static void keep_rare(const struct feedback *f, struct feedback_seed *seed, uint32_t feature)
{
    uint32_t at = seed->rare_count;
    while (at > 0 && f->cases[seed->rare[at - 1]] > f->cases[feature])
        at--;
    if (at == FEEDBACK_RARE_MAX)
        return;
    seed->rare_count += seed->rare_count < FEEDBACK_RARE_MAX;
    memmove(&seed->rare[at + 1], &seed->rare[at],
            (seed->rare_count - 1 - at) * sizeof seed->rare[0]);
    seed->rare[at] = feature;
}

static void remember(struct feedback *f, const struct feedback_case *c, uint32_t fresh)
{
    struct feedback_seed *seed = &f->seeds[f->seed_count];
    *seed =
        (struct feedback_seed){.number = c->number, .exhaustive = c->exhaustive, .steps = c->steps};
    seed->text = arena_strndup(&f->arena, c->text, strlen(c->text));
    for (uint32_t i = 0; i < c->count; i++)
        keep_rare(f, seed, c->features[i]);
    seed->fresh_count = fresh < seed->rare_count ? fresh : seed->rare_count;
    f->seed_count++;
}

bool feedback_take(struct feedback *f, const struct feedback_case *c)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t feature = c->features[i];
        f->cases[feature]++;
        if (has(f->seen, feature))
            continue;
        fresh++;
        f->seen[feature / 64] |= (uint64_t)1 << feature % 64;
        f->found[features_domain_of(feature)]++;
        f->feature_count++;
    }
    if (fresh == 0 || !c->text || f->seed_count == FEEDBACK_SEEDS_MAX)
        return false;
    remember(f, c, fresh);
    return true;
}

static uint64_t weigh(const struct feedback *f, const struct feedback_seed *seed)
{
    const uint64_t unit = (uint64_t)1 << 40;
    uint64_t weight = 0;
    for (uint32_t i = 0; i < seed->rare_count; i++) {
        uint32_t domain = features_domain_of(seed->rare[i]);
        weight += unit / f->found[domain] / f->cases[seed->rare[i]];
    }
    return weight * COST_STEPS / (COST_STEPS + seed->steps) + 1;
}

void feedback_turn(struct feedback *f)
{
    struct feedback_view *view = &f->views[f->generation++ % VIEWS];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->seed_count; i++)
        view->cumulative[i] = sum += weigh(f, &f->seeds[i]);
    view->seed_count = f->seed_count;
    memcpy(view->seen, f->seen, SEEN_WORDS * sizeof *view->seen);
}

uint32_t feedback_features(const struct feedback *f)
{
    return f->feature_count;
}

uint32_t feedback_seed_count(const struct feedback *f)
{
    return f->seed_count;
}

const struct feedback_seed *feedback_seed(const struct feedback *f, uint32_t index)
{
    return &f->seeds[index];
}

const struct feedback_view *feedback_view(const struct feedback *f, uint64_t generation)
{
    return generation < FEEDBACK_LAG ? NULL : &f->views[(generation - FEEDBACK_LAG) % VIEWS];
}

/* ---- export ---- */

static bool write_seed(const struct feedback_seed *seed, const char *folder)
{
    char path[4096];
    struct arena names;
    int length = snprintf(path, sizeof path, "%s/%08" PRIu64 ".simt", folder, seed->number);
    if (length < 0 || (size_t)length >= sizeof path || arena_init(&names, NAMES_BYTES) != 0)
        return false;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file) {
        for (uint32_t i = 0; i < seed->fresh_count; i++)
            fprintf(file, "// %s\n", features_name(&names, seed->rare[i]));
        fputs(seed->text, file);
    }
    arena_destroy(&names);
    const char *why;
    bool good = file && fclose(file) == 0 && output_write(path, text, size, &why);
    free(text);
    return good;
}

bool feedback_export(const struct feedback *f, const char *folder, struct db_message *message)
{
    bool good = mkdir(folder, 0777) == 0 || errno == EEXIST;
    for (uint32_t i = 0; i < f->seed_count && good; i++)
        good = write_seed(&f->seeds[i], folder);
    if (!good)
        snprintf(message->text, sizeof message->text, "cannot write to %s: %s", folder,
                 strerror(errno));
    return good;
}

/* ---- cases ---- */

bool feedback_is_new(const struct feedback_view *view, const uint32_t *features, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!view || !has(view->seen, features[i]))
            return true;
    return false;
}

static const struct feedback_seed *draw_seed(const struct feedback_view *view, struct pcg *rng)
{
    uint64_t wanted = pcg_next64(rng) % view->cumulative[view->seed_count - 1];
    uint32_t low = 0, high = view->seed_count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (wanted < view->cumulative[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return &view->seeds[low];
}

struct ast_kernel *feedback_mutate(struct arena *arena, const struct feedback_view *view,
                                   uint32_t percent, struct fuzz_case *c)
{
    struct source choices = {.kind = SOURCE_RANDOM,
                             .rng = pcg_derive(c->seed, PCG_MUTATE, c->number)};
    if (!view || view->seed_count == 0 || !source_chance(&choices, percent))
        return NULL;
    const struct feedback_seed *parent = draw_seed(view, &choices.rng);
    const struct feedback_seed *donor = draw_seed(view, &choices.rng);
    struct ast_kernel *kernel = parse_printed(arena, parent->text);
    const struct ast_kernel *foreign = parse_printed(arena, donor->text);
    if (case_mutate(arena, kernel, &choices, foreign) == 0)
        return NULL;
    case_mutated(c, parent->exhaustive,
                 &(struct case_lineage){true, parent->number, donor->number});
    return kernel;
}
