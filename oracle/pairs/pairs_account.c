#include "oracle/pairs/pairs_account.h"

#include "engine/reference/ref_pair.h"

#include <string.h>

enum { STEPS = 20000 }; /* of the second account */

/* One account beside the other. */
struct beside {
    const struct pairs_account *account;
    struct arena *arena;
    struct ref *reference;
    int32_t *memory[PAIRS_RUNS];
    struct ref_pair_end end;
    const char *difference;
};

static bool is_in_end(const struct ref_pair_end *end, enum tutorial_verdict verdict)
{
    switch (verdict) {
    case TUTORIAL_CLEAN:
        return !end->race && !end->divergence && !end->assert_fails && !end->out_of_bounds;
    case TUTORIAL_RACE:
        return end->race;
    case TUTORIAL_DIVERGENCE:
        return end->divergence;
    case TUTORIAL_ASSERT:
        return end->assert_fails;
    case TUTORIAL_BOUNDS:
        return end->out_of_bounds;
    case TUTORIAL_BUDGET:
    case TUTORIAL_VERDICT_COUNT:
        break;
    }
    return true;
}

static bool same_privates(const struct beside *x, uint32_t run)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t words, thread = i ? x->account->t : x->account->s;
        const int32_t *of = ref_private_of(x->reference, thread, &words);
        if (memcmp(of, x->memory[run] + (of - x->reference->memory), words * sizeof *of) != 0)
            return false;
    }
    return true;
}

static void differ(struct beside *x, uint32_t run, const struct tutorial_result *result)
{
    static const char *const names[] = {"round robin, s first", "round robin, t first",
                                        "s before t", "s before t, coins",
                                        "s before t, a reservoir"};
    const struct ref_pair_end *end = &x->end;
    x->difference =
        arena_printf(x->arena, "%s: %s after %u barriers; the reference: %s%s%s%s%s after %u",
                     names[run], tutorial_verdict_names[result->verdict], result->barriers,
                     is_in_end(end, TUTORIAL_CLEAN) ? "clean, with its own private memory" : "",
                     end->race ? " race" : "", end->divergence ? " divergence" : "",
                     end->assert_fails ? " assert_fails" : "",
                     end->out_of_bounds ? " out_of_bounds" : "", end->barriers);
}

/* A step more than the budget has been begun; and the reference has not ended long before. The two count steps
 * otherwise: a statement of both threads is one here, and a loop's turn has one of its own. */
static bool may_spend(const struct beside *x, const struct tutorial_result *result)
{
    const uint64_t budget = x->account->budget_steps;
    return result->steps > budget && (x->end.race || 4 * x->end.steps + 64 > budget);
}

/* Where both only write, nobody's way depends on the order: without loops a run finds the race iff the first's write
 * stands in the text no later than the second's (D-1), and goes on behind it otherwise. */
static void compare_order(struct beside *x, uint32_t run, const struct tutorial_result *result)
{
    const struct ref_pair_end *end = &x->end;
    const uint32_t found = run == 0 ? REF_PAIR_S_FIRST : REF_PAIR_T_FIRST;
    if (!end->race || (end->conflicts & REF_PAIR_READ) || result->verdict == TUTORIAL_BUDGET)
        return;
    bool stays = result->barriers == end->barriers && result->verdict != TUTORIAL_CLEAN;
    bool others = end->divergence || end->assert_fails || end->out_of_bounds;
    bool must_stay = end->conflicts & (found | REF_PAIR_ONE_PLACE);
    bool has_race = result->barriers == end->barriers && result->verdict == TUTORIAL_RACE;
    if (must_stay ? !stays || (!others && !has_race) : has_race)
        differ(x, run, result);
}

/* Whose assertion fails, or who leaves an array; and s before t which access closes a race, the first one that does. */
static bool names_what_is(const struct beside *x, uint32_t run,
                          const struct tutorial_result *result)
{
    const struct ref_pair_end *end = &x->end;
    if (result->barriers != end->barriers || (end->race && run < 2))
        return true;
    if (result->verdict == TUTORIAL_ASSERT || result->verdict == TUTORIAL_BOUNDS)
        return end->fails[result->thread == x->account->t];
    if (result->verdict != TUTORIAL_RACE || run < 2)
        return true;
    const struct location *at = &x->account->core->stms[result->second_stm].source->at;
    return result->address == end->address && result->first_write == end->s_writes &&
           result->second_write == end->t_writes && at->line == end->line &&
           at->column == end->column;
}

/* Behind a race what is read depends on the order: of round robin nothing is known but that one order stops there. */
static void compare(struct beside *x, const struct tutorial_result *results)
{
    bool stops = results[0].verdict == TUTORIAL_BUDGET || results[1].verdict == TUTORIAL_BUDGET;
    for (uint32_t i = 0; i < PAIRS_RUNS; i++) {
        const struct tutorial_result *result = &results[i];
        bool is_clean = result->verdict == TUTORIAL_CLEAN;
        bool is_there = result->barriers == x->end.barriers && is_in_end(&x->end, result->verdict);
        stops = stops || (i < 2 && !is_clean && result->barriers == x->end.barriers);
        bool is_spent = result->verdict == TUTORIAL_BUDGET;
        if (is_spent ? may_spend(x, result) : x->end.race && i < 2)
            continue;
        if (is_spent || !is_there || (is_clean && !same_privates(x, i)))
            differ(x, i, result);
    }
    if (x->end.race && !stops)
        differ(x, 0, &results[0]);
    for (uint32_t i = 0; i < PAIRS_RUNS && !x->difference; i++)
        if (!names_what_is(x, i, &results[i]))
            differ(x, i, &results[i]);
    for (uint32_t i = 0; i < 2 && x->account->without_loops && !x->difference; i++)
        compare_order(x, i, &results[i]);
}

static void run_tutorial(struct beside *x, struct tutorial_result results[PAIRS_RUNS])
{
    const struct pairs_account *a = x->account;
    struct tutorial_options options = {.shared = a->stores ? TUTORIAL_BAR : TUTORIAL_KEEP,
                                       .budget_steps = a->budget_steps,
                                       .stores = a->stores,
                                       .store_count = a->store_count};
    for (uint32_t i = 0; i < PAIRS_RUNS; i++) {
        x->memory[i] = ARENA_ARRAY(x->arena, int32_t, a->core->memory_words);
        options.memory = x->memory[i];
        options.order = i == 2 ? TUTORIAL_SEQUENTIAL : TUTORIAL_ROUND_ROBIN;
        results[i] = tutorial_run(x->arena, a->core, i == 1 ? a->t : a->s, i == 1 ? a->s : a->t,
                                  &options, a->hits);
    }
}

/* ---- logs that keep one access of an array ---- */

/* A reservoir keeps the only access of a scalar. */
static bool is_only_one(const struct beside *x)
{
    return x->end.times == 1 && program_locate(x->account->core, x->end.address).var->length == 1;
}

/* Such a log misses races, but makes none up: up to the first interval that has a defect the run is as all others are,
 * and what it finds there is one that is there. A race that it misses is the only one behind which it may go on. */
static bool may_be(const struct beside *x, const struct tutorial_result *result, bool reservoir)
{
    const struct ref_pair_end *end = &x->end;
    if (result->verdict == TUTORIAL_BUDGET)
        return may_spend(x, result);
    if (end->race && (result->barriers > end->barriers || result->verdict == TUTORIAL_CLEAN))
        return result->barriers >= end->barriers && !(reservoir && is_only_one(x));
    return result->barriers == end->barriers && is_in_end(end, result->verdict) &&
           (result->verdict != TUTORIAL_CLEAN || same_privates(x, 2));
}

static void compare_partial(struct beside *x)
{
    const struct pairs_account *a = x->account;
    struct tutorial_options options = {.shared = a->stores ? TUTORIAL_BAR : TUTORIAL_KEEP,
                                       .order = TUTORIAL_SEQUENTIAL,
                                       .seed = (uint64_t)a->s << 32 | a->t,
                                       .budget_steps = a->budget_steps,
                                       .stores = a->stores,
                                       .store_count = a->store_count,
                                       .memory = x->memory[2]};
    for (options.log = TUTORIAL_COIN; options.log <= TUTORIAL_RESERVOIR && !x->difference;
         options.log++) {
        const struct tutorial_result result =
            tutorial_run(x->arena, a->core, a->s, a->t, &options, a->hits);
        if (!may_be(x, &result, options.log == TUTORIAL_RESERVOIR))
            differ(x, options.log == TUTORIAL_COIN ? PAIRS_RUNS : PAIRS_RUNS + 1, &result);
    }
}

const char *pairs_account(struct arena *arena, const struct pairs_account *account,
                          struct tutorial_result results[PAIRS_RUNS])
{
    struct beside x = {.account = account, .arena = arena};
    const struct ref_options options = {0};
    const char *why;
    run_tutorial(&x, results);
    for (uint32_t i = 0; i < PAIRS_RUNS; i++)
        if (results[i].verdict == TUTORIAL_BUDGET && results[i].steps <= account->budget_steps)
            return "a pair gives up before it has spent its budget";
    x.reference =
        ref_new(arena, ref_room_new(arena), account->core->core, REF_THREADS, &options, &why);
    if (!x.reference)
        return NULL;
    const struct ref_pair pair = {.s = account->s,
                                  .t = account->t,
                                  .stores = account->stores,
                                  .store_count = account->store_count,
                                  .budget_steps = STEPS};
    /* Each has a memory of its own: they differ where somebody lies. */
    int32_t *inputs = ARENA_ARRAY(arena, int32_t, account->core->memory_words + x.reference->words);
    program_init_memory(account->core, inputs);
    x.end = ref_pair_run(x.reference, inputs, &pair,
                         ARENA_ARRAY(arena, struct ref_pair_word, x.reference->private_base + 1));
    if (x.end.decided)
        compare(&x, results);
    if (x.end.decided && !x.difference)
        compare_partial(&x);
    return x.difference;
}
