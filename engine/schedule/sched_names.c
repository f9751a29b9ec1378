/*
 * sched_names.c - schedulers as text, and which of them a case is run under.
 */
#include "engine/schedule/sched.h"

#include <string.h>

/* Which number stands after the colon. */
enum argument { ARGUMENT_NONE, ARGUMENT_DEPTH, ARGUMENT_QUANTUM, ARGUMENT_VICTIM, ARGUMENT_PREFIX };

static const struct kind_name {
    const char *name;
    enum argument argument;
    uint32_t least, most, otherwise; /* of the argument, and when it is left out */
} kind_names[SCHED_KIND_COUNT] = {
    [SCHED_SEQUENTIAL] = {"sequential", ARGUMENT_NONE, 0, 0, 0},
    [SCHED_REVERSE] = {"reverse", ARGUMENT_NONE, 0, 0, 0},
    [SCHED_ROUND_ROBIN] = {"rr", ARGUMENT_QUANTUM, 1, 1000000, 1},
    [SCHED_UNIFORM] = {"uniform", ARGUMENT_NONE, 0, 0, 0},
    [SCHED_PCT] = {"pct", ARGUMENT_DEPTH, 1, 5, 3},
    [SCHED_POS] = {"pos", ARGUMENT_NONE, 0, 0, 0},
    [SCHED_SURW] = {"surw", ARGUMENT_NONE, 0, 0, 0},
    [SCHED_STARVE] = {"starve", ARGUMENT_VICTIM, 0, 1000000, 0},
    [SCHED_UNFAIR_FAIR] = {"unfair", ARGUMENT_PREFIX, 0, 1000000000, 100},
    [SCHED_STACKLESS] = {"stackless", ARGUMENT_NONE, 0, 0, 0},
    [SCHED_TAPE] = {"tape", ARGUMENT_NONE, 0, 0, 0},
};

static uint32_t *argument_of(struct sched_spec *spec, enum argument argument)
{
    switch (argument) {
    case ARGUMENT_NONE:
        break;
    case ARGUMENT_DEPTH:
        return &spec->depth;
    case ARGUMENT_QUANTUM:
        return &spec->quantum;
    case ARGUMENT_VICTIM:
        return &spec->victim;
    case ARGUMENT_PREFIX:
        return &spec->prefix;
    }
    return NULL;
}

static bool parse_argument(const char *text, const struct kind_name *kind, uint32_t *value)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number <= kind->most; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *value = (uint32_t)number;
    return at != text && *at == '\0' && number >= kind->least && number <= kind->most;
}

bool sched_parse(const char *text, struct sched_spec *spec)
{
    size_t length = strcspn(text, ":");
    const char *after = text[length] ? text + length + 1 : NULL;
    for (int k = 0; k < SCHED_KIND_COUNT; k++) {
        const struct kind_name *kind = &kind_names[k];
        if (strlen(kind->name) != length || memcmp(kind->name, text, length) != 0)
            continue;
        if (k == SCHED_STACKLESS) {
            if (!after || !stackless_parse(after, &spec->stackless))
                return false;
            spec->kind = SCHED_STACKLESS;
            return true;
        }
        uint32_t value = kind->otherwise;
        bool has_file = k == SCHED_TAPE;
        if (has_file ? !after || !*after
                     : after && (!kind->argument || !parse_argument(after, kind, &value)))
            return false;
        spec->kind = (enum sched_kind)k;
        if (kind->argument)
            *argument_of(spec, kind->argument) = value;
        return true;
    }
    return false;
}

const char *sched_name(struct arena *arena, const struct sched_spec *spec)
{
    const struct kind_name *kind = &kind_names[spec->kind];
    struct sched_spec copy = *spec;
    if (spec->kind == SCHED_STACKLESS)
        return arena_printf(arena, "%s:%s", kind->name, stackless_name(arena, &spec->stackless));
    if (!kind->argument)
        return kind->name;
    uint32_t value = *argument_of(&copy, kind->argument);
    if (kind->argument == ARGUMENT_QUANTUM && value <= 1)
        return kind->name;
    return arena_printf(arena, "%s:%u", kind->name, value);
}

bool sched_is_fair(const struct sched_spec *spec)
{
    if (spec->kind == SCHED_STACKLESS)
        return stackless_is_fair(spec->stackless.policy);
    return spec->kind == SCHED_ROUND_ROBIN || spec->kind == SCHED_UNIFORM ||
           spec->kind == SCHED_UNFAIR_FAIR;
}

double sched_pct_bound(uint32_t actors, uint64_t steps, uint32_t depth)
{
    double chances = actors;
    for (uint32_t i = 1; i < depth; i++)
        chances *= (double)steps;
    return 1.0 / chances;
}

/* After the first four: cycles of these. */
enum { PORTFOLIO_FIRST = 4, PORTFOLIO_CYCLE = 11 };

/* Any policy, in one of eight with the program counters as printed. */
static void draw_stackless(struct sched_spec *spec)
{
    uint64_t draw = pcg_splitmix(spec->seed ^ pcg_splitmix(spec->index));
    spec->kind = SCHED_STACKLESS;
    spec->stackless.policy = (enum stackless_policy)(draw % STACKLESS_POLICY_COUNT);
    spec->stackless.then_first = stackless_subdivides(spec->stackless.policy) && draw >> 32 & 1;
    spec->stackless.literal = !spec->stackless.then_first && (draw >> 33 & 7) == 0;
}

static void portfolio_in_cycle(struct sched_spec *spec, uint32_t place, uint64_t cycle,
                               uint32_t actors, unsigned possible)
{
    if ((possible & PORTFOLIO_STACKLESS) && (place == 3 || place == 4)) {
        draw_stackless(spec);
        return;
    }
    switch (place) {
    case 5:
        spec->kind = SCHED_POS;
        break;
    case 6:
        spec->kind = possible & PORTFOLIO_SURW ? SCHED_SURW : SCHED_UNIFORM;
        break;
    case 7:
        spec->kind = SCHED_STARVE;
        spec->victim = (uint32_t)(cycle % actors);
        break;
    case 8:
        spec->kind = SCHED_UNFAIR_FAIR;
        spec->prefix = 16u << (cycle % 6);
        break;
    case 9:
        spec->kind = SCHED_ROUND_ROBIN;
        spec->quantum = 2 + (uint32_t)(cycle % 7);
        break;
    case 10:
        spec->kind = SCHED_UNIFORM;
        break;
    default:
        spec->kind = SCHED_PCT;
        spec->depth = 1 + place;
        break;
    }
}

struct sched_spec sched_portfolio(uint64_t seed, uint64_t index, uint32_t actors, unsigned possible)
{
    static const enum sched_kind first[PORTFOLIO_FIRST] = {SCHED_SEQUENTIAL, SCHED_REVERSE,
                                                           SCHED_ROUND_ROBIN, SCHED_UNIFORM};
    struct sched_spec spec = {.seed = seed, .index = index, .quantum = 1};
    const unsigned policies = PORTFOLIO_STACKLESS | PORTFOLIO_POLICIES;
    if (index > 0 && (possible & policies) == policies) {
        draw_stackless(&spec);
    } else if (index < PORTFOLIO_FIRST) {
        spec.kind = first[index];
    } else {
        uint64_t later = index - PORTFOLIO_FIRST;
        portfolio_in_cycle(&spec, (uint32_t)(later % PORTFOLIO_CYCLE), later / PORTFOLIO_CYCLE,
                           actors, possible);
    }
    return spec;
}
