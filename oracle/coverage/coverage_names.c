/* coverage_names.c - what a counter of the map means. */
#include "oracle/coverage/coverage_internal.h"

#include "oracle/race/race.h"

#include <string.h>

static const char *const active_names[COVERAGE_ACTIVES] = {"none", "one", "some", "all"};

static const char *rule_name(struct arena *arena, uint32_t rule)
{
    return arena_printf(arena, "%s.%s", rule_table[rule].semantics, rule_table[rule].name);
}

static const char *shape_name(struct arena *arena, uint32_t shape, const char *const kinds[4])
{
    if (shape == 0)
        return "empty";
    if (shape < 1 + 4)
        return kinds[shape - 1];
    if (shape < 1 + 4 + 16) {
        shape -= 1 + 4;
        return arena_printf(arena, "%s %s", kinds[shape / 4], kinds[shape % 4]);
    }
    shape -= 1 + 4 + 16;
    return arena_printf(arena, "%s %s %s", kinds[shape / 16], kinds[shape / 4 % 4],
                        kinds[shape % 4]);
}

/* "some active, b e disabled, token wider" */
static const char *mask_name(struct arena *arena, uint32_t mask)
{
    static const char *const kinds[] = {"none", "b", "r", "b r", "e", "b e", "r e", "b r e"};
    static const char *const tokens[] = {"same", "wider", "apart", "other"};
    return arena_printf(arena, "%s active, %s disabled, token %s", active_names[mask / 32],
                        kinds[mask / 4 % 8], tokens[mask % 4]);
}

static const char *barrier_name(struct arena *arena, uint32_t barrier)
{
    static const char *const uses[] = {"arrive", "sync", "release"};
    const char *subject = subject_table[barrier / COVERAGE_BARRIERS].name;
    uint32_t generation = barrier % COVERAGE_GENERATIONS + 1;
    uint32_t kind = barrier % COVERAGE_BARRIERS / COVERAGE_GENERATIONS;
    if (kind < 2)
        return arena_printf(arena, "%s: %s, generation %u", subject,
                            kind == 0 ? "all" : "nobody takes part", generation);
    kind -= 2;
    return arena_printf(arena, "%s: %s %s of %s, generation %u", subject, uses[kind / 4],
                        kind % 2 ? "another" : "barrier 0", kind / 2 % 2 ? "some" : "all",
                        generation);
}

static const char *race_name(struct arena *arena, uint32_t race)
{
    static const char *const distances[] = {"warp", "block", "grid"};
    const char *subject = subject_table[race / COVERAGE_RACES].name;
    uint32_t properties = race % 8, threads = race / 8 % 3, kinds = race % COVERAGE_RACES / 24;
    return arena_printf(
        arena, "%s: %s, then %s, in one %s%s%s%s", subject, race_access_names[kinds / 3],
        race_access_names[kinds % 3], distances[threads], properties & 1 ? ", same value" : "",
        properties & 2 ? ", simultaneous" : "", properties & 4 ? ", same statement" : "");
}

static const char *status_name(struct arena *arena, uint32_t status)
{
    struct sched_spec spec = {.kind = (enum sched_kind)(status % SCHED_KIND_COUNT)};
    const char *schedule = sched_name(arena, &spec);
    return arena_printf(arena, "%s: %s under %.*s",
                        subject_table[status / SCHED_KIND_COUNT / STATUS_COUNT].name,
                        status_names[status / SCHED_KIND_COUNT % STATUS_COUNT],
                        (int)strcspn(schedule, ":"), schedule);
}

static const char *outcome_name(struct arena *arena, uint32_t outcome)
{
    static const char *const finals[] = {"no", "one", "two", "more"};
    return arena_printf(arena, "%s: %s final stores%s%s",
                        subject_table[outcome / COVERAGE_OUTCOMES].name, finals[outcome / 4 % 4],
                        outcome & 2 ? ", race" : "", outcome & 1 ? ", lasso" : "");
}

static const char *name_in_domain(struct arena *arena, enum coverage_domain domain, uint32_t i)
{
    static const char *const simt_tokens[] = {"brk", "call", "div", "sync"};
    static const char *const crs_tokens[] = {"sync", "diverge", "call", "break"};
    switch (domain) {
    case COVERAGE_RULE:
        return rule_name(arena, i);
    case COVERAGE_PAIR:
        return arena_printf(arena, "%s -> %s", rule_name(arena, i / RULE_COUNT),
                            rule_name(arena, i % RULE_COUNT));
    case COVERAGE_SIMT_STACK:
        return arena_printf(arena, "%s: %s", rule_name(arena, RULE_SIMT_SKIP + i / COVERAGE_SHAPES),
                            shape_name(arena, i % COVERAGE_SHAPES, simt_tokens));
    case COVERAGE_CRS_STACK:
        return arena_printf(arena, "%s: %s", rule_name(arena, RULE_CRS_NEXT + i / COVERAGE_SHAPES),
                            shape_name(arena, i % COVERAGE_SHAPES, crs_tokens));
    case COVERAGE_SIMT_MASK:
        return arena_printf(arena, "%s: %s", rule_name(arena, RULE_SIMT_SKIP + i / COVERAGE_MASKS),
                            mask_name(arena, i % COVERAGE_MASKS));
    case COVERAGE_CRS_MASK:
        return arena_printf(arena, "%s: %s", rule_name(arena, RULE_CRS_NEXT + i / COVERAGE_MASKS),
                            mask_name(arena, i % COVERAGE_MASKS));
    case COVERAGE_SIMT_DEPTH:
    case COVERAGE_CRS_DEPTH:
        return arena_printf(arena, "%u%s", i, i + 1 == COVERAGE_DEPTHS ? " or more" : "");
    case COVERAGE_LOCKSTEP_MASK:
        return arena_printf(arena, "%s: %s active",
                            rule_name(arena, RULE_LOCK_SKIP + i / COVERAGE_ACTIVES),
                            active_names[i % COVERAGE_ACTIVES]);
    case COVERAGE_BARRIER:
        return barrier_name(arena, i);
    case COVERAGE_RACE:
        return race_name(arena, i);
    case COVERAGE_STATUS:
        return status_name(arena, i);
    case COVERAGE_OUTCOME:
        return outcome_name(arena, i);
    case COVERAGE_VERDICT:
        return arena_printf(
            arena, "%s: %s, reason %u", oracle_table[i / COVERAGE_REASONS / VERDICT_COUNT].name,
            verdict_names[i / COVERAGE_REASONS % VERDICT_COUNT], i % COVERAGE_REASONS);
    case COVERAGE_DOMAIN_COUNT:
        break;
    }
    return "";
}

const char *coverage_name(struct arena *arena, uint32_t counter)
{
    enum coverage_domain domain = coverage_domain_of(counter);
    const struct coverage_info *info = &coverage_table[domain];
    return arena_printf(arena, "%s %s", info->name,
                        name_in_domain(arena, domain, counter - info->first));
}
