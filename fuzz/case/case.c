#include "fuzz/case/case.h"

#include "engine/base/pcg.h"
#include "fuzz/gen/gen_weights.h"
#include "fuzz/mutate/mutate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TINY_SHARE = 16,
    TINY_STEPS = 6000,  /* of each subject's search */
    SPIN_BUDGET = 2000, /* of an execution: what spins would spend any */
    MUTATIONS_MAX = 4,
    OTHER_SEED = 2, /* of donors */
    SPIN_SEED = 3,
    RAGGED_SHARE = 8,
    CONVERGENCE_SHARE = 4,
    CONVERGENCE_SEED = 5,
    CACHES_SHARE = 12,
    CACHES_SEED = 7,
    INSTRUCTIONS_SEED = 6,
    HOST_SEED = 8,
    LAWS_SEED = 9,
    BRIEF_SEED = 10,
    KINDS = 16, /* of these: so many are of barriers, of clusters */
    BARRIERS = 4,
    CLUSTERS = 2,
    INSTRUCTIONS_SCHEDULES = 4 /* each subject's share of them is one */
};

/* Searches that end soon: as many steps, and so at most as many states. */
static void search_within(struct check_options *check, uint64_t steps)
{
    check->exhaustive = true;
    check->search = SEARCH_DEFAULTS;
    check->search.max_steps = check->search.max_states = steps;
}

static bool is_tiny(uint64_t seed, uint64_t number)
{
    return pcg_splitmix(pcg_splitmix(seed + 1) ^ number) % TINY_SHARE == 0;
}

/* `locks:300` makes them three times as many. */
static bool is_spin(uint64_t seed, uint64_t number, const struct gen_options *gen)
{
    uint64_t drawn = pcg_splitmix(pcg_splitmix(seed + SPIN_SEED) ^ number);
    return gen->features >> FEATURE_LOCKS & 1 &&
           drawn % (100 * CASE_SPIN_SHARE) < gen_weight_percent(gen->weights, FEATURE_LOCKS);
}

/* One case in RAGGED_SHARE, of tiny ones every second, where it is in block form, may break Def. 5.1: a goto
 * without a target that is possible, a guard that reads what others write. */
static bool is_ragged(uint64_t seed, uint64_t number, bool tiny)
{
    uint64_t drawn = pcg_splitmix(pcg_splitmix(seed + RAGGED_SHARE) ^ number);
    return drawn % (tiny ? 2 : RAGGED_SHARE) == 0;
}

/* One case in CONVERGENCE_SHARE, where it is structured, runs the paths of its branches in any order, too. */
static bool is_any_order(uint64_t seed, uint64_t number)
{
    return pcg_splitmix(pcg_splitmix(seed + CONVERGENCE_SEED) ^ number) % CONVERGENCE_SHARE == 0;
}

/* Few lines, so that they give way; none are stated in two of five. */
static void draw_caches(struct cache_sizes *sizes, uint64_t drawn)
{
    static const uint32_t few[] = {1, 2, 2, 4};
    if (drawn % 5 < 2)
        return;
    sizes->lines = few[drawn >> 8 & 3];
    sizes->words = few[drawn >> 10 & 3];
    sizes->sets = drawn >> 12 & 1 ? sizes->lines : 1;
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

static bool is_drawn(uint64_t seed, uint64_t number, uint64_t of_what, uint32_t share)
{
    return pcg_splitmix(pcg_splitmix(seed + of_what) ^ number) % share == 0;
}

/* Nothing is asked in particular. */
static bool is_usual(const struct fuzz_case *c)
{
    return c->gen.features == GEN_DEFAULTS.features && c->check.subjects == SUBJECTS_DEFAULT &&
           c->check.oracles == CHECK_DEFAULTS.oracles;
}

/* What stands beside a kernel where nothing is asked in particular: one case in CASE_HOST_SHARE has a host program,
 * one in CASE_LAWS_SHARE litmus tests. */
static void draw_beside(struct fuzz_case *c)
{
    if (is_drawn(c->seed, c->number, HOST_SEED, CASE_HOST_SHARE))
        c->beside |= 1u << BESIDE_HOST;
    if (is_drawn(c->seed, c->number, LAWS_SEED, CASE_LAWS_SHARE))
        c->beside |= 1u << BESIDE_LITMUS;
}

/* `instructions:200` makes them twice as many. Nothing but the reference knows what they compute. */
static bool is_instructions(uint64_t seed, uint64_t number, const struct gen_options *gen,
                            const struct check_options *check)
{
    uint64_t drawn = pcg_splitmix(pcg_splitmix(seed + INSTRUCTIONS_SEED) ^ number);
    if (check->subjects != SUBJECTS_DEFAULT || !(check->oracles & 1u << ORACLE_REFERENCE))
        return false;
    return gen_instructions_only(gen) ||
           (gen->features >> FEATURE_INSTRUCTIONS & 1 &&
            drawn % (100 * CASE_INSTRUCTIONS_SHARE) <
                gen_weight_percent(gen->weights, FEATURE_INSTRUCTIONS));
}

/* Warps, and one of those who have a lane's instructions alone; of barriers, one of those who have other rules of
 * these, too; of clusters, one of those who have their barrier. */
static void make_instructions(struct fuzz_case *c)
{
    static const enum subject_id others[] = {SUBJECT_THREAD_PC, SUBJECT_ITS, SUBJECT_BLOCK};
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
    c->gen.features = 1u << FEATURE_INSTRUCTIONS | barriers | clusters;
    c->check.oracles = 1u << ORACLE_REFERENCE;
    c->check.subjects = SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(barriers   ? of_barriers[which % 8]
                                                               : clusters ? of_clusters[which % 2]
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

/* Caches, most of few lines, and in one of four sets of outcomes. */
static void make_caches(struct fuzz_case *c, uint64_t drawn)
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
    if (drawn >> 32 & 3)
        return;
    c->check.oracles |= 1u << ORACLE_REDUCTIONS | 1u << ORACLE_FENCES;
}

/* Of BRIEF_ALL cases, where nothing is asked in particular. */
static bool make_brief(struct fuzz_case *c)
{
    enum { BRIEF_ALL = 48, PROOFS = 1, POLICIES = 4, CACHES = 8 };
    uint64_t drawn = pcg_splitmix(pcg_splitmix(c->seed + BRIEF_SEED) ^ c->number);
    uint64_t which = drawn % BRIEF_ALL;
    if (which >= CACHES || !is_usual(c))
        return false;
    c->gen.brief = true;
    if (which < PROOFS)
        make_proof(c);
    else if (which < POLICIES)
        make_policies(c);
    else
        make_caches(c, pcg_splitmix(drawn));
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
    bool tiny = !gen->fixed && !gen->small && gen_has_tiny(gen) && is_tiny(seed, number);
    bool ordinary = !gen->fixed && !gen->small && !check->exhaustive;
    if (ordinary && !gen->spin && is_usual(c))
        draw_beside(c);
    if (ordinary && !gen->spin && is_instructions(seed, number, gen, check)) {
        make_instructions(c);
        return;
    }
    bool spin = gen->spin || (ordinary && is_spin(seed, number, gen));
    if (ordinary && !spin && !tiny && make_brief(c))
        return;
    if (ordinary && gen->features == GEN_DEFAULTS.features && is_ragged(seed, number, tiny))
        c->gen.features |= 1u << FEATURE_ILLFORMED;
    if (check->subjects == SUBJECTS_DEFAULT && (check->oracles & 1u << ORACLE_CONVERGENCE) &&
        is_any_order(seed, number))
        c->check.also |= SUBJECT_BIT(SUBJECT_CONVERGENCE);
    if (ordinary && check->subjects == SUBJECTS_DEFAULT && (check->oracles & 1u << ORACLE_MEMORY))
        c->check.also |= with_caches(seed, number, &c->gen.caches);
    c->gen.spin = spin;
    if (!check->exhaustive && (tiny || gen->enumerate || c->gen.spin)) {
        c->gen.small = !c->gen.spin || gen->enumerate;
        search_within(&c->check, TINY_STEPS);
    }
    if (c->gen.spin && check->budget_steps == CHECK_DEFAULTS.budget_steps)
        c->check.budget_steps = SPIN_BUDGET;
}

/* ---- kernels ---- */

/* One to four mutations, half of the times one. */
static void mutate_some(struct arena *arena, struct ast_kernel *kernel, struct source *choices,
                        const struct ast_kernel *donor)
{
    uint32_t wanted = 1;
    while (wanted < MUTATIONS_MAX && source_chance(choices, 50))
        wanted++;
    for (uint32_t i = 0; i < wanted; i++)
        mutate_kernel(arena, kernel, choices, donor);
}

struct ast_kernel *case_kernel(struct arena *arena, const struct fuzz_case *c,
                               struct gen_walk *walk)
{
    struct gen_walk own = {.number = 0};
    struct ast_kernel *kernel =
        gen_next_case(arena, c->seed, c->number, &c->gen, walk ? walk : &own);
    if (kernel)
        kernel->launch.caches = c->gen.caches;
    if (!kernel || c->gen.enumerate || c->gen.mutate == 0)
        return kernel;
    uint64_t other = pcg_splitmix(c->seed + OTHER_SEED);
    struct source choices = {.kind = SOURCE_RANDOM,
                             .rng = pcg_derive(other, PCG_MUTATE, c->number)};
    if (source_chance(&choices, c->gen.mutate))
        mutate_some(arena, kernel, &choices, gen_case(arena, other, c->number, &c->gen));
    return kernel;
}

/* ---- printing ---- */

char *case_subjects(struct arena *arena, subject_set set)
{
    char *text = arena_strndup(arena, "", 0);
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (set & SUBJECT_BIT(i))
            text = arena_printf(arena, "%s%s%s", text, *text ? "," : "", subject_table[i].name);
    return text;
}

char *case_oracles(struct arena *arena, uint32_t set, uint32_t modes)
{
    char *text = arena_strndup(arena, "", 0);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (set & 1u << i)
            text = arena_printf(arena, "%s%s%s%s", text, *text ? "," : "", oracle_table[i].name,
                                oracle_mode_suffix((enum oracle_id)i, modes));
    return text;
}

static char *print_check(struct arena *arena, const struct check_options *check)
{
    const char *exhaustive = check->exhaustive ? " exhaustive" : "";
    const char *races =
        arena_printf(arena, "%s%s%s%s%s", check->same_value ? " same-value" : "",
                     check->atomics_sync ? " atomics-sync" : "", check->unscoped ? " unscoped" : "",
                     check->policies ? " policies" : "",
                     check->also & SUBJECT_BIT(SUBJECT_CONVERGENCE) ? " convergence" : "");
    const subject_set also = check->also & ~SUBJECT_BIT(SUBJECT_CONVERGENCE);
    if (also)
        races = arena_printf(arena, "%s also=%s", races, case_subjects(arena, also));
    if (check->exhaustive && check->search.max_steps > 0)
        exhaustive = arena_printf(arena, " exhaustive=%" PRIu64, check->search.max_steps);
    const char *transforms = "";
    if (check->transforms.count > 0)
        transforms =
            arena_printf(arena, " transforms=%s", transform_print_list(arena, &check->transforms));
    return arena_printf(arena,
                        "schedules=%" PRIu32 " budget=%" PRIu64 "%s%s subjects=%s oracles=%s%s",
                        check->schedules, check->budget_steps, exhaustive, races,
                        case_subjects(arena, check->subjects),
                        case_oracles(arena, check->oracles, check->modes), transforms);
}

static const char *size_words(const struct gen_options *gen)
{
    if (gen->spin)
        return gen->enumerate ? " spin small enumerate" : gen->small ? " spin small" : " spin";
    return gen->enumerate ? " small enumerate" : gen->small ? " small" : "";
}

static const char *gen_words(struct arena *arena, const struct gen_options *gen)
{
    const char *weights = gen_weights_print(arena, gen->weights);
    const char *mutate =
        gen->mutate == 0 ? "" : arena_printf(arena, " mutate=%" PRIu32, gen->mutate);
    const char *caches = cache_sizes_print(arena, &gen->caches, ",");
    return arena_printf(arena, "%s%s%s%s%s%s%s%s", gen->fixed ? " fixed" : "",
                        gen->brief ? " brief" : "", size_words(gen), mutate,
                        *caches ? " caches=" : "", caches, *weights ? " weights=" : "", weights);
}

char *case_print_options(struct arena *arena, const struct gen_options *gen,
                         const struct check_options *check)
{
    return arena_printf(arena, "gen=%d features=0x%" PRIx32 "%s %s", GEN_VERSION, gen->features,
                        gen_words(arena, gen), print_check(arena, check));
}

char *case_print(struct arena *arena, const struct fuzz_case *c)
{
    const char *origin = "";
    if (c->generated)
        origin = arena_printf(
            arena, "gen=%" PRIu32 " seed=0x%" PRIx64 " case=%" PRIu64 " features=0x%" PRIx32 "%s ",
            c->gen_version, c->seed, c->number, c->gen.features, gen_words(arena, &c->gen));
    if (!c->generated && c->lineage.known)
        origin = arena_printf(arena,
                              "of-seed=0x%" PRIx64 " of-case=%" PRIu64 " parent=%" PRIu64
                              " donor=%" PRIu64 " ",
                              c->seed, c->number, c->lineage.parent, c->lineage.donor);
    const char *tape = "";
    if (c->has_tape)
        tape = arena_printf(arena, " tape-of=%s", subject_table[c->check.tape_subject].name);
    return arena_printf(arena, "%scheck-seed=0x%" PRIx64 " %s%s", origin, c->check.seed,
                        print_check(arena, &c->check), tape);
}

char *case_gen_command(struct arena *arena, uint64_t seed, const struct gen_options *gen)
{
    const char *features = "";
    if (gen->features != GEN_DEFAULTS.features)
        features = arena_printf(arena, " --features %s", gen_print_features(arena, gen->features));
    const char *weights = gen_weights_print(arena, gen->weights);
    if (*weights)
        features = arena_printf(arena, "%s --weights %s", features, weights);
    if (gen->mutate > 0)
        features = arena_printf(arena, "%s --mutate %" PRIu32, features, gen->mutate);
    if (gen->spin)
        features = arena_printf(arena, "%s --spin", features);
    const char *caches = cache_sizes_print(arena, &gen->caches, ",");
    if (*caches)
        features = arena_printf(arena, "%s --caches %s", features, caches);
    if (gen->enumerate)
        return arena_printf(arena, "simtfuzz gen --enumerate%s --first", features);
    return arena_printf(arena, "simtfuzz gen --seed 0x%" PRIx64 "%s --first", seed, features);
}

/* ---- parsing ---- */

static bool parse_number(const char *text, uint64_t most, uint64_t *value)
{
    char *end;
    if (!*text || *text == '-' || *text == '+' || *text == ' ')
        return false;
    *value = strtoull(text, &end, 0);
    return *end == '\0' && *value <= most;
}

static bool parse_flag(const char *word, struct fuzz_case *c)
{
    if (strcmp(word, "fixed") == 0)
        c->gen.fixed = true;
    else if (strcmp(word, "small") == 0)
        c->gen.small = true;
    else if (strcmp(word, "brief") == 0)
        c->gen.brief = true;
    else if (strcmp(word, "spin") == 0)
        c->gen.spin = true;
    else if (strcmp(word, "enumerate") == 0)
        c->gen.enumerate = true;
    else if (strcmp(word, "exhaustive") == 0)
        c->check.exhaustive = true;
    else if (strcmp(word, "same-value") == 0)
        c->check.same_value = true;
    else if (strcmp(word, "atomics-sync") == 0)
        c->check.atomics_sync = true;
    else if (strcmp(word, "unscoped") == 0)
        c->check.unscoped = true;
    else if (strcmp(word, "policies") == 0)
        c->check.policies = true;
    else if (strcmp(word, "convergence") == 0)
        c->check.also |= SUBJECT_BIT(SUBJECT_CONVERGENCE);
    else
        return false;
    return true;
}

static bool parse_setting(struct arena *arena, const char *name, const char *value,
                          struct fuzz_case *c)
{
    uint64_t number;
    const char *error_at;
    if (strcmp(name, "subjects") == 0)
        return subject_parse_list(value, &c->check.subjects, &error_at);
    if (strcmp(name, "also") == 0) {
        subject_set also;
        bool good = subject_parse_list(value, &also, &error_at);
        c->check.also |= also;
        return good;
    }
    if (strcmp(name, "oracles") == 0)
        return oracle_parse_list(value, &c->check.oracles, &c->check.modes, &error_at);
    if (strcmp(name, "caches") == 0)
        return !cache_sizes_read(arena, &c->gen.caches, value);
    if (strcmp(name, "weights") == 0)
        return gen_weights_parse(arena, value, &c->gen.weights, &error_at);
    if (strcmp(name, "transforms") == 0)
        return transform_parse_list(value, &c->check.transforms, &error_at);
    if (strcmp(name, "tape-of") == 0) {
        c->has_tape = true;
        return subject_parse(value, strlen(value), &c->check.tape_subject);
    }
    if (!parse_number(value, UINT64_MAX, &number))
        return false;
    if (strcmp(name, "seed") == 0) {
        c->generated = true;
        c->seed = number;
    } else if (strcmp(name, "of-seed") == 0) {
        c->lineage.known = true;
        c->seed = number;
    } else if (strcmp(name, "parent") == 0) {
        c->lineage.parent = number;
    } else if (strcmp(name, "donor") == 0) {
        c->lineage.donor = number;
    } else if (strcmp(name, "case") == 0 || strcmp(name, "of-case") == 0) {
        c->number = number;
    } else if (strcmp(name, "check-seed") == 0) {
        c->check.seed = number;
    } else if (strcmp(name, "exhaustive") == 0) {
        search_within(&c->check, number);
    } else if (strcmp(name, "budget") == 0) {
        c->check.budget_steps = number;
    } else if (number > UINT32_MAX) {
        return false;
    } else if (strcmp(name, "gen") == 0) {
        c->gen_version = (uint32_t)number;
    } else if (strcmp(name, "mutate") == 0 && number <= 100) {
        c->gen.mutate = (uint32_t)number;
    } else if (strcmp(name, "features") == 0) {
        c->gen.features = (uint32_t)number;
    } else if (strcmp(name, "schedules") == 0) {
        c->check.schedules = (uint32_t)number;
    } else {
        return false;
    }
    return true;
}

bool case_parse(struct arena *arena, const char *text, struct fuzz_case *c, const char **error)
{
    *c = (struct fuzz_case){.gen = GEN_DEFAULTS, .check = CHECK_DEFAULTS};
    c->gen.fixed = c->gen.small = c->gen.spin = c->gen.enumerate = false;
    c->gen.mutate = 0;
    c->check.exhaustive = c->check.same_value = c->check.atomics_sync = false;
    c->check.unscoped = false;
    c->check.modes = 0;
    *error = "the case is empty";
    bool any = false;
    while (*text) {
        size_t length = strcspn(text, " ");
        char *word = arena_strndup(arena, text, length);
        char *equals = strchr(word, '=');
        *error = arena_strndup(arena, text, length);
        if (equals)
            *equals++ = '\0';
        if (length > 0 && !(equals ? parse_setting(arena, word, equals, c) : parse_flag(word, c)))
            return false;
        any |= length > 0;
        text += length + (text[length] == ' ');
    }
    return any;
}

/* ---- hashing ---- */

const char *case_text_hash(struct arena *arena, const char *text)
{
    /* Two chains over the bytes, each spread by a bijection, with different starts and steps. */
    uint64_t a = 0xcbf29ce484222325u, b = 0x2545f4914f6cdd1du;
    uint64_t length = 0;
    for (; *text; text++, length++) {
        unsigned char byte = (unsigned char)*text;
        a = (a ^ byte) * 0x100000001b3u;
        b = pcg_splitmix(b + byte);
    }
    return arena_printf(arena, "%016" PRIx64 "%016" PRIx64, pcg_splitmix(a ^ length), b);
}
