#include "oracle/coverage/coverage_internal.h"

#include "engine/base/invariant.h"
#include "engine/crs/crs.h"
#include "engine/warps/simt.h"
#include "oracle/check/explore.h"

#include <string.h>

const struct coverage_info coverage_table[COVERAGE_DOMAIN_COUNT] = {
#define COVERAGE(id, name, count, sentence) {name, sentence, COVERAGE_FIRST_##id, count},
#include "oracle/coverage/coverage.def"
#undef COVERAGE
};

/* One execution watched. */
struct coverage_watch {
    struct observer observer;
    struct coverage *coverage;
    uint8_t *before;       /* an actor: the rule that it fired last */
    uint32_t *generations; /* a block: barriers that it has passed */
    uint32_t actors, blocks;
    uint32_t subject; /* COVERAGE_SUBJECTS: a variant, which has no counters of its own */
};

_Static_assert(RULE_COUNT < UINT8_MAX, "a rule fits a byte");

/* ---- counters ---- */

static inline void add(struct coverage *coverage, uint32_t counter)
{
    uint8_t count = coverage->count[counter];
    coverage->count[counter] = (uint8_t)(count + (count != UINT8_MAX));
}

void coverage_clear(struct coverage *coverage)
{
    memset(coverage, 0, sizeof *coverage);
}

uint32_t coverage_list(const struct coverage *coverage, uint32_t *list, uint32_t capacity)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < COVERAGE_COUNT;) {
        uint64_t eight;
        if (i + sizeof eight <= COVERAGE_COUNT) {
            memcpy(&eight, &coverage->count[i], sizeof eight);
            if (eight == 0) {
                i += (uint32_t)sizeof eight;
                continue;
            }
        }
        uint32_t end = i + (uint32_t)sizeof eight;
        for (; i < end && i < COVERAGE_COUNT; i++) {
            if (coverage->count[i] == 0)
                continue;
            if (found < capacity)
                list[found] = i * COVERAGE_BUCKETS + coverage_bucket(coverage->count[i]);
            found++;
        }
    }
    return found;
}

enum coverage_domain coverage_domain_of(uint32_t counter)
{
    uint32_t domain = 0;
    while (counter - coverage_table[domain].first >= coverage_table[domain].count)
        domain++;
    return (enum coverage_domain)domain;
}

/* ---- classes ---- */

static uint32_t active_class(lane_mask active, lane_mask all)
{
    if (active == 0)
        return 0;
    if (active == all)
        return 3;
    return (active & (active - 1)) == 0 ? 1 : 2;
}

/* How a token's mask stands to the active one. */
static uint32_t token_class(lane_mask token, lane_mask active)
{
    if (token == active)
        return COVERAGE_TOKEN_SAME;
    if ((token & active) == 0)
        return COVERAGE_TOKEN_APART;
    return (active & ~token) == 0 ? COVERAGE_TOKEN_WIDER : COVERAGE_TOKEN_OTHER;
}

/* Kinds of tokens, 0 .. 3, topmost first. */
static uint32_t shape_class(const uint32_t *kinds, uint32_t count)
{
    static const uint32_t first[] = {0, 1, 1 + 4, 1 + 4 + 16};
    uint32_t shape = 0;
    for (uint32_t i = 0; i < count; i++)
        shape = shape * 4 + kinds[i];
    return first[count] + shape;
}

static uint32_t mask_class(lane_mask active, lane_mask all, const lane_mask disabled[3],
                           uint32_t token)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < 3; i++)
        kinds |= (uint32_t)(disabled[i] != 0) << i;
    return (active_class(active, all) * 8 + kinds) * 4 + token;
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

/* ---- steps ---- */

static inline void see_pair(struct coverage_watch *w, const struct step_event *event)
{
    uint32_t before = w->before[event->actor];
    w->before[event->actor] = (uint8_t)event->rule;
    if (before != RULE_NONE && event->rule != RULE_NONE)
        add(w->coverage, COVERAGE_FIRST_PAIR + before * RULE_COUNT + event->rule);
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    (void)machine;
    see_pair(context, event);
}

static lane_mask first_lanes(uint32_t lanes)
{
    return lanes >= 64 ? ~(lane_mask)0 : ((lane_mask)1 << lanes) - 1;
}

static void see_simt(void *context, const struct machine *machine, const struct step_event *event)
{
    struct coverage_watch *w = context;
    see_pair(w, event);
    uint32_t rule = event->rule - RULE_SIMT_SKIP;
    if (rule >= COVERAGE_SIMT_RULES)
        return;
    struct warp_state s = simt_state(machine, event->actor);
    uint32_t kinds[3], count = 0, token = COVERAGE_TOKEN_SAME, tokens = 0;
    for (uint32_t i = s.depth; i-- > 0;) {
        enum entry_kind kind = entry_kind(s.stack[i]);
        if (kind <= ENTRY_CONT)
            continue;
        if (tokens++ == 0)
            token = token_class(s.masks[i], s.theta);
        if (count < 3)
            kinds[count++] = (uint32_t)kind - ENTRY_BRK;
    }
    const lane_mask disabled[3] = {s.delta_b, s.delta_r, s.delta_e};
    uint32_t mask = mask_class(s.theta, first_lanes(s.lanes), disabled, token);
    add(w->coverage,
        COVERAGE_FIRST_SIMT_STACK + rule * COVERAGE_SHAPES + shape_class(kinds, count));
    add(w->coverage, COVERAGE_FIRST_SIMT_MASK + rule * COVERAGE_MASKS + mask);
    add(w->coverage, COVERAGE_FIRST_SIMT_DEPTH + at_most(tokens, COVERAGE_DEPTHS - 1));
}

static void see_crs(void *context, const struct machine *machine, const struct step_event *event)
{
    struct coverage_watch *w = context;
    see_pair(w, event);
    uint32_t rule = event->rule - RULE_CRS_NEXT;
    if (rule >= COVERAGE_CRS_RULES)
        return;
    const struct crs_warp warp = crs_warp(machine, event->actor);
    const struct crs_state *s = warp.state;
    uint32_t kinds[3], count = at_most(s->depth, 3), token = COVERAGE_TOKEN_SAME;
    for (uint32_t i = 0; i < count; i++)
        kinds[i] = warp.tokens[s->depth - 1 - i].type;
    if (count > 0)
        token = token_class(warp.tokens[s->depth - 1].mask, s->active);
    const lane_mask disabled[3] = {s->broken, s->returned, s->exited};
    lane_mask all = first_lanes(machine->program->launch.warp);
    uint32_t mask = mask_class(s->active, all, disabled, token);
    add(w->coverage, COVERAGE_FIRST_CRS_MASK + rule * COVERAGE_MASKS + mask);
    if (event->rule > RULE_CRS_TRAP)
        return;
    add(w->coverage, COVERAGE_FIRST_CRS_STACK + rule * COVERAGE_SHAPES + shape_class(kinds, count));
    add(w->coverage, COVERAGE_FIRST_CRS_DEPTH + at_most(s->depth, COVERAGE_DEPTHS - 1));
}

static void see_lockstep(void *context, const struct machine *machine,
                         const struct step_event *event)
{
    struct coverage_watch *w = context;
    see_pair(w, event);
    uint32_t rule = event->rule - RULE_LOCK_SKIP;
    if (rule >= COVERAGE_LOCKSTEP_RULES)
        return;
    lane_mask all = first_lanes(machine->program->launch.threads);
    add(w->coverage,
        COVERAGE_FIRST_LOCKSTEP_MASK + rule * COVERAGE_ACTIVES + active_class(event->active, all));
}

/* ---- barriers ---- */

static void add_barrier(struct coverage_watch *w, uint32_t kind, uint32_t generation)
{
    if (w->subject < COVERAGE_SUBJECTS)
        add(w->coverage, COVERAGE_FIRST_BARRIER +
                             (w->subject * (COVERAGE_BARRIERS / COVERAGE_GENERATIONS) + kind) *
                                 COVERAGE_GENERATIONS +
                             at_most(generation, COVERAGE_GENERATIONS - 1));
}

static void see_barrier(void *context, const struct machine *machine,
                        const struct barrier_event *event)
{
    struct coverage_watch *w = context;
    (void)machine;
    add_barrier(w, event->all ? 0 : 1, w->generations[event->block]++);
}

static void see_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct coverage_watch *w = context;
    bool fewer = use->count < machine->program->launch.threads;
    uint32_t kind = ((uint32_t)use->kind * 2 + fewer) * 2 + (use->barrier > 0);
    add_barrier(w, 2 + kind, use->generation);
}

/* ---- executions ---- */

void coverage_prepare(struct checking *c)
{
    const struct program *program = c->result->program;
    if (!c->options->coverage || c->alone)
        return;
    struct coverage_watch *w = ARENA_NEW(c->arena, struct coverage_watch);
    w->coverage = c->options->coverage;
    w->actors = program->total_threads;
    w->blocks = program->launch.blocks;
    w->before = ARENA_ARRAY(c->arena, uint8_t, w->actors);
    w->generations = ARENA_ARRAY(c->arena, uint32_t, w->blocks);
    c->own[ORACLE_COUNT] = w;
}

const struct observer *coverage_begin(struct checking *c, enum subject_id subject,
                                      const struct observer *behind)
{
    struct coverage_watch *w = c->own[ORACLE_COUNT];
    const struct semantics *semantics = subject_table[subject].vtable;
    if (!w || c->result->runs[subject].schedules >= COVERAGE_EXECUTIONS)
        return behind;
    w->subject = at_most((uint32_t)subject, COVERAGE_SUBJECTS);
    w->observer = (struct observer){
        .context = w, .step = see_step, .barrier = see_barrier, .use = see_use, .next = behind};
    if (semantics->stack == STACK_SIMT)
        w->observer.step = see_simt;
    else if (semantics->stack == STACK_CRS)
        w->observer.step = see_crs;
    else if (semantics->actors == ACTORS_BLOCKS)
        w->observer.step = see_lockstep;
    INVARIANT(c->subjects[subject].machine->actor_count <= w->actors);
    memset(w->before, RULE_NONE, w->actors);
    memset(w->generations, 0, w->blocks * sizeof *w->generations);
    return &w->observer;
}

static uint32_t distance(const struct program *program, uint32_t a, uint32_t b)
{
    uint32_t threads = program->launch.threads, warp = program->launch.warp;
    if (a / threads != b / threads)
        return COVERAGE_OTHER_BLOCK;
    return a % threads / warp == b % threads / warp ? COVERAGE_SAME_WARP : COVERAGE_SAME_BLOCK;
}

static uint32_t race_class(const struct program *program, const struct race_witness *witness)
{
    const struct race_access *first = &witness->first, *second = &witness->second;
    uint32_t kinds = (uint32_t)first->kind * 3 + (uint32_t)second->kind;
    uint32_t properties = (uint32_t)witness->same_value | (uint32_t)witness->simultaneous << 1 |
                          (uint32_t)(first->stm == second->stm) << 2;
    return (kinds * 3 + distance(program, first->thread, second->thread)) * 8 + properties;
}

void coverage_end(struct checking *c, const struct execution *execution)
{
    const struct coverage_watch *w = c->own[ORACLE_COUNT];
    uint32_t subject = (uint32_t)execution->subject;
    if (!w || subject >= COVERAGE_SUBJECTS)
        return;
    uint32_t status = subject * STATUS_COUNT + (uint32_t)execution->status;
    add(w->coverage,
        COVERAGE_FIRST_STATUS + status * SCHED_KIND_COUNT + (uint32_t)execution->spec.kind);
    if (execution->race)
        add(w->coverage, COVERAGE_FIRST_RACE + subject * COVERAGE_RACES +
                             race_class(c->subjects[subject].program, &execution->witness));
}

/* ---- the case ---- */

/* A sentence's class: what stands before a colon, without numbers. */
static uint32_t reason_class(const char *reason)
{
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */
    for (; reason && *reason && *reason != ':'; reason++)
        if (*reason < '0' || *reason > '9')
            hash = (hash ^ (unsigned char)*reason) * 0x01000193u;
    return (hash ^ hash >> 16) % COVERAGE_REASONS;
}

static void add_outcomes(const struct checking *c, struct coverage *coverage)
{
    for (uint32_t s = 0; s < COVERAGE_SUBJECTS; s++) {
        const struct check_run *run = &c->result->runs[s];
        if (run->reason)
            continue;
        uint32_t outcome = at_most(run->final_count, 3) * 4 + (uint32_t)run->race * 2 +
                           (uint32_t)(run->fair_lasso || run->statuses[STATUS_NONTERMINATING] > 0);
        add(coverage, COVERAGE_FIRST_OUTCOME + s * COVERAGE_OUTCOMES + outcome);
    }
}

void coverage_judge(struct checking *c)
{
    const struct coverage_watch *w = c->own[ORACLE_COUNT];
    if (!w)
        return;
    for (uint32_t r = 0; r < RULE_COUNT; r++) {
        uint64_t hits = c->result->hits[r] + w->coverage->count[COVERAGE_FIRST_RULE + r];
        w->coverage->count[COVERAGE_FIRST_RULE + r] =
            (uint8_t)(hits < UINT8_MAX ? hits : UINT8_MAX);
    }
    add_outcomes(c, w->coverage);
    for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
        const struct answer *answer = &c->result->answers[o];
        uint32_t verdict = o * VERDICT_COUNT + (uint32_t)answer->verdict;
        add(w->coverage,
            COVERAGE_FIRST_VERDICT + verdict * COVERAGE_REASONS + reason_class(answer->reason));
    }
}
