#include "fuzz/case/case.h"

#include "engine/base/pcg.h"
#include "fuzz/gen/gen_weights.h"
#include "fuzz/mutate/mutate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MUTATIONS_MAX = 4,
    OTHER_SEED = 2 /* of donors */
};

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
                        gen->brief ? " brief"
                        : gen->few ? " few"
                                   : "",
                        size_words(gen), mutate, *caches ? " caches=" : "", caches,
                        *weights ? " weights=" : "", weights);
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
    else if (strcmp(word, "few") == 0)
        c->gen.few = true;
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
        case_search_within(&c->check, number);
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
