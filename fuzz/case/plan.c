/*
 * plan.c - what kind of case a number is.
 *
 * Cases come in rounds of CASE_ROUND. In each round a kind has as many places as it says here, and which of the cases
 * has which place is drawn anew, from the campaign's seed: so every kind comes early, and as often as it should. What
 * a case of each kind costs, and what it finds: docs/campaigns.md.
 */
#include "engine/base/pcg.h"
#include "fuzz/case/case.h"
#include "fuzz/gen/gen_weights.h"

#include <string.h>

/* Places of a round, from its end; those of programs of instructions are at its beginning, and what is between has
 * ordinary cases of few threads. */
enum {
    TINY_FROM = CASE_SPIN,
    PROOFS_FROM = TINY_FROM + CASE_TINY,
    POLICIES_FROM = PROOFS_FROM + 2,
    OUTCOMES_FROM = POLICIES_FROM + 4, /* of caches, whole sets of them */
    CACHES_FROM = OUTCOMES_FROM + 1,
    VARIANTS_FROM = CACHES_FROM + 4,
    LARGE_FROM = VARIANTS_FROM + 2,
    FEW_FROM = LARGE_FROM + 4
};

enum {
    TINY_STEPS = 6000,  /* of each subject's search */
    SPIN_BUDGET = 2000, /* of an execution: what spins would spend any */
    PLACE_SEED = 3,
    BESIDE_SEED = 8,
    RAGGED_SHARE = 8,
    BEYOND_SHARE = 12,
    BEYOND_SEED = 10,
    CONVERGENCE_SHARE = 4,
    CONVERGENCE_SEED = 5,
    CACHES_SHARE = 12,
    CACHES_SEED = 7,
    ITS_SHARE = 4,
    VARIANTS_SEED = 9,
    VARIANTS = 14, /* that a case has */
    KINDS = 16,    /* of programs of instructions: so many are of barriers, of clusters, of sums */
    BARRIERS = 4,
    CLUSTERS = 2,
    SUMS = 4,
    INSTRUCTIONS_SCHEDULES = 4 /* each subject's share of them is one */
};

/* The place of a case in its round, or of what stands beside it. */
static uint32_t place_of(uint64_t seed, uint64_t number, uint64_t of_what)
{
    uint64_t drawn = pcg_splitmix(pcg_splitmix(seed + of_what) ^ number / CASE_ROUND);
    return (uint32_t)((number * (drawn | 1) + (drawn >> 32)) % CASE_ROUND);
}

/* The place as it is counted from the end. */
static uint32_t rank_of(uint64_t seed, uint64_t number)
{
    return CASE_ROUND - 1 - place_of(seed, number, PLACE_SEED);
}

/* Whether a place, or its rank, is one of the first `share` ones, of which so many percent are asked for. */
static bool is_of(uint32_t place, uint32_t share, uint32_t percent, uint64_t drawn)
{
    return 100 * place + drawn % 100 < (uint64_t)share * percent;
}

void case_search_within(struct check_options *check, uint64_t steps)
{
    check->exhaustive = true;
    check->search = SEARCH_DEFAULTS;
    check->search.max_steps = check->search.max_states = steps;
}

/* `locks:300` makes them three times as many. */
static bool is_spin(const struct fuzz_case *c)
{
    return c->gen.features >> FEATURE_LOCKS & 1 &&
           is_of(rank_of(c->seed, c->number), CASE_SPIN,
                 gen_weight_percent(c->gen.weights, FEATURE_LOCKS), c->check.seed);
}

/* One case in RAGGED_SHARE, of tiny ones every second, where it is in block form, may break Def. 5.1: a goto without a
 * target that is possible, a guard that reads what others write. */
static bool is_ragged(uint64_t seed, uint64_t number, bool tiny)
{
    uint64_t drawn = pcg_splitmix(pcg_splitmix(seed + RAGGED_SHARE) ^ number);
    return drawn % (tiny ? 2 : RAGGED_SHARE) == 0;
}

/* One case in BEYOND_SHARE, where it is no program in PTX, may leave an array, or go too deep. */
static bool is_beyond(uint64_t seed, uint64_t number)
{
    return pcg_splitmix(pcg_splitmix(seed + BEYOND_SEED) ^ number) % BEYOND_SHARE == 0;
}

/* One case in CONVERGENCE_SHARE, where it is structured, runs the paths of its branches in any order, too. */
static bool is_any_order(uint64_t seed, uint64_t number)
{
    return pcg_splitmix(pcg_splitmix(seed + CONVERGENCE_SEED) ^ number) % CONVERGENCE_SHARE == 0;
}

/* Few lines, so that they give way; none are stated in two of five. */
static void draw_caches(struct cache_sizes *sizes, uint64_t drawn)
{
    static const uint32_t few[] = {1, 2, 4, 4};
    if (drawn % 5 < 2)
        return;
    sizes->lines = few[drawn >> 8 & 3];
    sizes->words = few[drawn >> 10 & 3];
    sizes->sets = drawn >> 12 & 1 ? sizes->lines : 1;
    if (sizes->lines == 4 && drawn >> 16 & 1)
        sizes->sets = 2; /* of two ways each */
    sizes->sms = 1 + (uint32_t)(drawn >> 13 & 1);
    sizes->policy = 1 + (uint32_t)(drawn >> 14 & 3) % POLICY_COUNT;
}

/* One case in CACHES_SHARE runs over caches, too: in half of them those that are coherent, under warps. */
static subject_set with_caches(uint64_t seed, uint64_t number, struct cache_sizes *sizes)
{
    static const enum subject_id subjects[] = {
        SUBJECT_CRS_CACHES_COHERENT,  SUBJECT_CRS_CACHES_LLH,
        SUBJECT_CRS_CACHES_COHERENT,  SUBJECT_CRS_CACHES_PRINTED,
        SUBJECT_CRS_CACHES_COHERENT,  SUBJECT_BLOCK_CACHES_COHERENT,
        SUBJECT_BLOCK_CACHES_PRINTED, SUBJECT_THREAD_PC_CACHES_COHERENT};
    const struct cache_sizes none = {0};
    uint64_t drawn = pcg_splitmix(pcg_splitmix(seed + CACHES_SEED) ^ number);
    if (drawn % CACHES_SHARE != 0)
        return 0;
    if (memcmp(sizes, &none, sizeof none) == 0)
        draw_caches(sizes, pcg_splitmix(drawn));
    return SUBJECT_BIT(subjects[drawn / CACHES_SHARE % 8]);
}

/* Nothing is asked in particular. */
static bool is_usual(const struct fuzz_case *c)
{
    return c->gen.features == GEN_DEFAULTS.features && c->check.subjects == SUBJECTS_DEFAULT &&
           c->check.oracles == CHECK_DEFAULTS.oracles;
}

/* What stands beside a kernel where nothing is asked in particular: host programs at the first places, litmus tests at
 * the next ones. */
static void draw_beside(struct fuzz_case *c)
{
    uint32_t place = place_of(c->seed, c->number, BESIDE_SEED);
    if (place < CASE_HOST)
        c->beside = 1u << BESIDE_HOST;
    else if (place < CASE_HOST + CASE_LAWS)
        c->beside = 1u << BESIDE_LITMUS;
}

/* `instructions:200` makes them twice as many. Nothing but the reference knows what they compute. */
static bool is_instructions(const struct fuzz_case *c)
{
    const struct gen_options *gen = &c->gen;
    if (c->check.subjects != SUBJECTS_DEFAULT || !(c->check.oracles & 1u << ORACLE_REFERENCE))
        return false;
    return gen_instructions_only(gen) ||
           (gen->features >> FEATURE_INSTRUCTIONS & 1 &&
            is_of(place_of(c->seed, c->number, PLACE_SEED), CASE_INSTRUCTIONS,
                  gen_weight_percent(gen->weights, FEATURE_INSTRUCTIONS), c->check.seed));
}

/* What lanes compute, each for itself, whoever runs first: one execution tells, and what proofs make of it. */
static void make_sums(struct fuzz_case *c)
{
    c->gen.features = 1u << FEATURE_INSTRUCTIONS | 1u << FEATURE_ARITHMETIC;
    c->check.oracles = 1u << ORACLE_REFERENCE | 1u << ORACLE_PAIRS;
    c->check.always = 1u << ORACLE_REFERENCE;
    c->check.subjects = SUBJECT_BIT(SUBJECT_CRS);
    c->check.also = 0;
    c->check.schedules = 1;
}

/* Warps, and one of those who have a lane's instructions alone, or, one time in four, of those with caches; of
 * barriers, one of those who have other rules of these, too; of clusters, one of those who have their barrier. */
static void make_instructions(struct fuzz_case *c)
{
    static const enum subject_id others[] = {SUBJECT_THREAD_PC, SUBJECT_ITS, SUBJECT_BLOCK};
    static const enum subject_id cached[] = {SUBJECT_CRS_CACHES_LLH, SUBJECT_CRS_CACHES_PRINTED,
                                             SUBJECT_BLOCK_CACHES_COHERENT};
    static const enum subject_id of_barriers[] = {
        SUBJECT_BLOCK,         SUBJECT_ITS,       SUBJECT_THREAD_PC,   SUBJECT_CRS_EXIT_ARRIVES,
        SUBJECT_CRS_ALL_WARPS, SUBJECT_CRS_LANES, SUBJECT_CRS_ALIGNED, SUBJECT_BLOCK_EAGER};
    static const enum subject_id of_clusters[] = {SUBJECT_THREAD_PC, SUBJECT_CRS_ALIGNED};
    const bool only = gen_instructions_only(&c->gen);
    const uint64_t which = c->check.seed / KINDS, kind = c->check.seed % KINDS;
    const uint32_t barriers =
                       c->gen.features & (only || kind < BARRIERS ? 1u << FEATURE_BARRIERS : 0),
                   clusters = c->gen.features &
                              (only || kind - BARRIERS < CLUSTERS ? 1u << FEATURE_BLOCKS : 0);
    if (only ? c->gen.features >> FEATURE_ARITHMETIC & 1 : kind >= KINDS - SUMS) {
        make_sums(c);
        return;
    }
    c->gen.features = 1u << FEATURE_INSTRUCTIONS | barriers | clusters;
    c->check.oracles = 1u << ORACLE_REFERENCE;
    c->check.subjects =
        SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(barriers             ? of_barriers[which % 8]
                                               : clusters           ? of_clusters[which % 2]
                                               : which / 3 % 4 == 3 ? cached[which % 3]
                                                                    : others[which % 3]);
    c->check.also = 0;
    if (c->check.schedules > INSTRUCTIONS_SCHEDULES)
        c->check.schedules = INSTRUCTIONS_SCHEDULES;
}

/* ---- cases for what takes long, or is asked of few: brief kernels ---- */

/* What is proved, against executions; without a solver nothing is. */
static void make_proof(struct fuzz_case *c)
{
    const uint32_t others = 1u << FEATURE_CRS | 1u << FEATURE_KNOWN | 1u << FEATURE_DIRECTIONS |
                            1u << FEATURE_NAMED | 1u << FEATURE_VOTES | 1u << FEATURE_SWITCH;
    c->gen.features &= ~others;
    c->check.oracles = 1u << ORACLE_PROVE;
    c->check.subjects = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_INTERLEAVE);
}

/* Who is scheduled with whom: each thread, or each of a block's, by itself. */
static void make_policies(struct fuzz_case *c)
{
    c->check.policies = true;
    c->check.always = 1u << ORACLE_REFERENCE;
    c->check.subjects =
        SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_INTERLEAVE) | SUBJECT_BIT(SUBJECT_BLOCK);
}

/* Caches, most of few lines; and sets of outcomes, if those are asked. */
static void make_caches(struct fuzz_case *c, uint64_t drawn, bool outcomes)
{
    static const struct {
        enum subject_id plain, caches;
    } pairs[] = {{SUBJECT_CRS, SUBJECT_CRS_CACHES_COHERENT},
                 {SUBJECT_CRS, SUBJECT_CRS_CACHES_LLH},
                 {SUBJECT_CRS, SUBJECT_CRS_CACHES_PRINTED},
                 {SUBJECT_BLOCK, SUBJECT_BLOCK_CACHES_COHERENT},
                 {SUBJECT_BLOCK, SUBJECT_BLOCK_CACHES_PRINTED},
                 {SUBJECT_THREAD_PC, SUBJECT_THREAD_PC_CACHES_COHERENT}};
    const struct cache_sizes none = {0};
    uint64_t which = drawn % 6;
    if (memcmp(&c->gen.caches, &none, sizeof none) == 0)
        draw_caches(&c->gen.caches, drawn >> 8);
    c->check.subjects = SUBJECT_BIT(pairs[which].plain) | SUBJECT_BIT(pairs[which].caches);
    c->check.always = 1u << ORACLE_REFERENCE;
    if (outcomes)
        c->check.oracles |= 1u << ORACLE_REDUCTIONS | 1u << ORACLE_FENCES;
}

/* Subjects with other rules, on purpose, or other programs, as the references have them; not those over caches, which
 * have cases of their own. Of the branch unit: those with other rules of it, and of barriers. */
static bool is_other(enum subject_id id, bool of_unit)
{
    const struct subject_info *s = &subject_table[id];
    return s->role == SUBJECT_VARIANT && s->vtable && !s->vtable->plain &&
           s->program != PROGRAM_CORE &&
           (s->program == PROGRAM_CRS || s->program == PROGRAM_PTX) == of_unit;
}

/* So many in a row of those, from a drawn one on. */
static subject_set draw_others(bool of_unit, uint64_t drawn)
{
    enum subject_id of[SUBJECT_COUNT];
    uint32_t count = 0;
    subject_set set = 0;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (is_other((enum subject_id)s, of_unit))
            of[count++] = (enum subject_id)s;
    for (uint32_t i = 0; i < VARIANTS; i++)
        set |= SUBJECT_BIT(of[(drawn + i) % count]);
    return set;
}

/* Half of them of blocks and lock-step form; of the branch unit, on raw programs as a rule. */
static void make_variants(struct fuzz_case *c, uint64_t drawn)
{
    const uint32_t raw = 1u << FEATURE_CRS | 1u << FEATURE_LOOSE | 1u << FEATURE_ATOMICS;
    const bool of_unit = drawn & 1;
    if (of_unit && drawn & 6)
        c->gen.features &= raw;
    else
        c->gen.features &= ~(1u << FEATURE_CRS | 1u << FEATURE_KNOWN);
    c->check.oracles = 1u << ORACLE_REFERENCE;
    c->check.subjects = draw_others(of_unit, drawn >> 3);
}

/* Ordinary cases but for their size: four of these cost what one large one does, and each is looked at by those who ask
 * of large ones a part only. */
static void make_few(struct fuzz_case *c)
{
    c->gen.few = true;
    c->check.always = 1u << ORACLE_REFERENCE | 1u << ORACLE_METAMORPHIC;
}

/* Kinds where nothing is asked in particular. False: it goes on as an ordinary case. */
static bool make_brief(struct fuzz_case *c, uint32_t rank)
{
    if (rank < PROOFS_FROM || rank >= LARGE_FROM)
        return false;
    c->gen.brief = true;
    if (rank < POLICIES_FROM)
        make_proof(c);
    else if (rank < OUTCOMES_FROM)
        make_policies(c);
    else if (rank < VARIANTS_FROM)
        make_caches(c, pcg_splitmix(c->check.seed), rank < CACHES_FROM);
    else
        make_variants(c, pcg_splitmix(c->check.seed + VARIANTS_SEED));
    return true;
}

void case_of_campaign(struct fuzz_case *c, uint64_t seed, uint64_t number,
                      const struct gen_options *gen, const struct check_options *check)
{
    *c = (struct fuzz_case){.generated = true,
                            .gen_version = GEN_VERSION,
                            .seed = seed,
                            .number = number,
                            .gen = *gen,
                            .check = *check};
    c->check.seed = pcg_splitmix(pcg_splitmix(seed) ^ number);
    uint32_t rank = rank_of(seed, number);
    bool tiny =
        !gen->fixed && !gen->small && gen_has_tiny(gen) && rank >= TINY_FROM && rank < PROOFS_FROM;
    bool ordinary = !gen->fixed && !gen->small && !check->exhaustive;
    bool usual = ordinary && !gen->spin && is_usual(c);
    if (usual)
        draw_beside(c);
    if (ordinary && !gen->spin && is_instructions(c)) {
        make_instructions(c);
        return;
    }
    bool spin = gen->spin || (ordinary && is_spin(c));
    if (usual && !spin && !tiny && make_brief(c, rank))
        return;
    if (usual && !spin && !tiny && !gen->weights && rank >= FEW_FROM)
        make_few(c);
    if (ordinary && gen->features == GEN_DEFAULTS.features && is_ragged(seed, number, tiny))
        c->gen.features |= 1u << FEATURE_ILLFORMED;
    if (ordinary && gen->features == GEN_DEFAULTS.features && is_beyond(seed, number))
        c->gen.features |= 1u << FEATURE_OOB;
    if (check->subjects == SUBJECTS_DEFAULT && (check->oracles & 1u << ORACLE_CONVERGENCE) &&
        is_any_order(seed, number))
        c->check.also |= SUBJECT_BIT(SUBJECT_CONVERGENCE);
    if (ordinary && check->subjects == SUBJECTS_DEFAULT && (check->oracles & 1u << ORACLE_MEMORY))
        c->check.also |= with_caches(seed, number, &c->gen.caches);
    if (usual && c->check.seed % ITS_SHARE == 0)
        c->check.also |= SUBJECT_BIT(SUBJECT_ITS);
    c->gen.spin = spin;
    if (!check->exhaustive && (tiny || gen->enumerate || c->gen.spin)) {
        c->gen.small = !c->gen.spin || gen->enumerate;
        case_search_within(&c->check, TINY_STEPS);
    }
    if (c->gen.spin && check->budget_steps == CHECK_DEFAULTS.budget_steps)
        c->check.budget_steps = SPIN_BUDGET;
}
