/*
 * feedback.h - what a campaign with feedback remembers: kernels that showed something new, and how often
 * each feature (oracle/coverage/features.h) was seen.
 *
 * Cases come in generations of FEEDBACK_GENERATION. A case of generation g is a function of the campaign's
 * seed, its number and the memory as it was after generation g - FEEDBACK_LAG: a share of them are mutations
 * of remembered kernels, drawn in proportion to how rare their features are, the others are fresh ones. So
 * workers need not wait for each other, and the cases do not depend on how many there are.
 *
 * A feature is here a counter of the map that is not 0: how often its thing happened in a case turned out to
 * tell nothing more (docs/feedback.md). A kernel is remembered as text when its case had a feature that no
 * case before it had. It is drawn by its weight: each domain of features weighs the same, each feature as much
 * as the other ones of its domain, divided by how many cases had it; and the more steps its case took, the
 * less it weighs.
 */
#ifndef FUZZ_FEEDBACK_H
#define FUZZ_FEEDBACK_H

#include "fuzz/campaign/campaign.h"
#include "fuzz/case/case.h"
#include "oracle/coverage/features.h"

enum {
    FEEDBACK_CHUNKS = 2,                                    /* of a generation */
    FEEDBACK_GENERATION = FEEDBACK_CHUNKS * CAMPAIGN_CHUNK, /* cases of a shard */
    FEEDBACK_LAG = 8,
    FEEDBACK_SEEDS_MAX = 8192, /* kernels that are remembered */
    FEEDBACK_RARE_MAX = 32,    /* features that a kernel is drawn for */
    FEEDBACK_LIST_MAX = 2048,  /* features of a case; further ones are not looked at */
};

/* What a case leaves behind. */
struct feedback_case {
    uint64_t number;
    const char *text; /* of its kernel; NULL: it has nothing new (feedback_is_new) */
    bool exhaustive;
    uint64_t steps; /* that it took: what a mutation of it may cost */
    uint32_t count; /* of features: counters, ascending */
    const uint32_t *features;
};

struct feedback_seed {
    uint64_t number; /* of its case */
    const char *text;
    bool exhaustive;
    uint64_t steps;
    uint32_t rare_count, fresh_count; /* fresh: so many of them, the first, were new with it */
    uint32_t rare[FEEDBACK_RARE_MAX];
};

/* The memory as it was after a generation. Nobody changes it as long as it is needed. */
struct feedback_view {
    uint32_t seed_count;
    uint64_t *cumulative; /* of weights, a seed */
    uint64_t *seen;       /* a bit a feature */
    const struct feedback_seed *seeds;
};

struct feedback;

/* NULL: no memory. */
struct feedback *feedback_new(void);
void feedback_free(struct feedback *feedback);

/* Takes a case, in the order of their numbers. True: it is remembered. */
bool feedback_take(struct feedback *feedback, const struct feedback_case *c);
/* The generation of the last case is complete. */
void feedback_turn(struct feedback *feedback);

/* Features seen so far. */
uint32_t feedback_features(const struct feedback *feedback);
uint32_t feedback_seed_count(const struct feedback *feedback);
const struct feedback_seed *feedback_seed(const struct feedback *feedback, uint32_t index);

/* Writes the remembered kernels into a folder, which is made if need be: a file each, with the features for
 * which it was kept. False: `message` says why. */
bool feedback_export(const struct feedback *feedback, const char *folder,
                     struct db_message *message);

/* What cases of a generation are made from; NULL for the first FEEDBACK_LAG. */
const struct feedback_view *feedback_view(const struct feedback *feedback, uint64_t generation);

/* Whether a feature was not in the memory then (view NULL: any is new). */
bool feedback_is_new(const struct feedback_view *view, const uint32_t *features, uint32_t count);

/* *c: as case_of_campaign made it. The kernel, if this number's case is a mutated one; *c then describes it. NULL: it is the fresh one; `percent` of the cases are mutated. */
struct ast_kernel *feedback_mutate(struct arena *arena, const struct feedback_view *view,
                                   uint32_t percent, struct fuzz_case *c);

#endif
