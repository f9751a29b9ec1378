/*
 * repair.c - a kernel with one barrier more, at each place in turn, checked as `check` does it.
 */
#include "fuzz/repair/repair_internal.h"

#include "engine/input/input.h"
#include "engine/language/print.h"
#include "engine/rewrite/edit.h"
#include "oracle/check/expect.h"

#include <inttypes.h>
#include <string.h>

enum {
    PLACES = 200,
    SUBJECTS = 1u << SUBJECT_THREADS | 1u << SUBJECT_SIMT | 1u << SUBJECT_SIMT_THEN
};

/* ---- places ---- */

/* Where the barrier was put. */
struct place {
    const struct ast_stm *before, *behind; /* the next statement of its list, and the last one */
};

struct putting {
    struct edit edit; /* first: a visit gets this */
    struct place place;
};

static void put_in_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    struct ast_stm *last = NULL;
    (void)place;
    if (!*list)
        return;
    for (struct ast_stm **slot = list;; slot = &(*slot)->next) {
        if (edit_here(edit)) {
            const struct location at = *slot ? (*slot)->at : last->at;
            ((struct putting *)edit)->place = (struct place){*slot, last};
            edit_put(slot, ast_stm(edit->arena, STM_BARRIER, at));
            return;
        }
        if (!*slot)
            return;
        last = *slot;
    }
}

/* The kernel with a barrier at place number `target`. */
static struct putting begin(struct arena *arena, const struct ast_kernel *kernel, uint32_t target)
{
    struct putting putting = {
        .edit = {.arena = arena, .target = target, .kernel = ast_kernel_copy(arena, kernel)}};
    edit_normalise(arena, putting.edit.kernel);
    edit_walk_lists(&putting.edit, put_in_list);
    return putting;
}

static const char *place_text(struct arena *arena, const struct place *place)
{
    const struct ast_stm *s = place->before ? place->before : place->behind;
    const char *head = print_stm_head(arena, s);
    return arena_printf(arena, "%s line %" PRIu32 "%s%s%s",
                        place->before ? "before" : "behind the last statement of its block,",
                        s->at.line, *head ? " (" : "", head, *head ? ")" : "");
}

/* ---- what becomes of it ---- */

static const char *const verdicts[VERDICTS] = {[RACES] = "still race",
                                               [DIVERGES] =
                                                   "have threads that do not come to the barrier",
                                               [FAILS] = "fail otherwise",
                                               [CLAIMS] = "break what the kernel expects",
                                               [RESULTS] = "have several results",
                                               [ENDLESS] = "were not seen to end in all executions",
                                               [REFUSED] = "are refused"};

bool repair_races(const struct check_result *result)
{
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const struct check_run *run = &result->runs[i];
        if (run->schedules > 0 && (run->race || (run->search && run->search->race)))
            return true;
    }
    return false;
}

/* A claim that the kernel races, or fails, is about the mistake; the others it has to keep. */
static bool is_about_the_mistake(enum ast_claim claim)
{
    return claim != CLAIM_FINAL && claim != CLAIM_TERMINATES && claim != CLAIM_RACE_FREE;
}

bool repair_keeps_claims(const struct check_result *result)
{
    const char *why;
    for (uint32_t i = 0; i < result->claim_count; i++) {
        const struct ast_expect *expect = result->claims[i].expect;
        if (!is_about_the_mistake(expect->claim) && !result->claims[i].met &&
            expect_is_asked(expect, result->subjects, &why))
            return false;
    }
    return true;
}

static enum verdict_of judge_run(const struct check_run *run, uint32_t statuses)
{
    const struct search_result *search = run->search;
    uint32_t diverges = run->statuses[STATUS_BARRIER_DIVERGENCE];
    if (diverges > 0)
        return DIVERGES;
    if (run->statuses[STATUS_STEP_LIMIT] + run->statuses[STATUS_NONTERMINATING] > 0)
        return ENDLESS;
    if (run->statuses[STATUS_TERMINATED] < statuses)
        return FAILS;
    for (uint32_t i = 0; search && i < search->outcome_count; i++)
        if (search->outcomes[i].status != STATUS_TERMINATED)
            return search->outcomes[i].status == STATUS_BARRIER_DIVERGENCE ? DIVERGES : FAILS;
    if (run->final_count > 1 || (search && search->outcome_count > 1))
        return RESULTS;
    return REPAIRED;
}

static enum verdict_of judge(const struct check_result *result)
{
    bool any = false;
    if (repair_races(result))
        return RACES;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const struct check_run *run = &result->runs[i];
        uint32_t statuses = 0;
        for (int s = 0; s < STATUS_COUNT; s++)
            statuses += run->statuses[s];
        if (statuses == 0)
            continue;
        any = true;
        enum verdict_of verdict = judge_run(run, statuses);
        if (verdict != REPAIRED)
            return verdict;
    }
    return !any ? REFUSED : repair_keeps_claims(result) ? REPAIRED : CLAIMS;
}

/* How far that was looked at: all executions, or those that were drawn. */
static const char *how_sure(struct arena *arena, const struct check_result *result)
{
    const struct check_run *run = &result->runs[SUBJECT_THREADS];
    if (run->search && run->search->complete)
        return "in all executions";
    return arena_printf(arena, "in the %" PRIu32 " executions that were drawn", run->schedules);
}

static void check(struct arena *arena, const struct ast_kernel *kernel,
                  const struct search_options *bounds, struct check_result *result)
{
    struct check_options options = CHECK_DEFAULTS;
    options.subjects = SUBJECTS;
    options.oracles = 0;
    options.exhaustive = true;
    options.search = *bounds;
    check_kernel(arena, kernel, &options, result);
}

static enum verdict_of try_place(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct search_options *bounds, uint32_t number, FILE *out)
{
    struct putting putting = begin(arena, kernel, number);
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    if (!ast_check(putting.edit.kernel, NULL))
        return REFUSED;
    check(arena, putting.edit.kernel, bounds, result);
    enum verdict_of verdict = judge(result);
    if (verdict == REPAIRED)
        fprintf(out, "    a barrier %s: no race, one result%s, %s\n",
                place_text(arena, &putting.place),
                result->claim_count > 0 ? ", and what the kernel expects" : "",
                how_sure(arena, result));
    return verdict;
}

void repair_put_others(const uint32_t *counts, FILE *out)
{
    bool any = false;
    for (int v = REPAIRED + 1; v < VERDICTS; v++) {
        if (counts[v] == 0)
            continue;
        const char *head = counts[REPAIRED] > 0 ? "    of the other places " : "    of the places ";
        fprintf(out, "%s%" PRIu32 " %s", any ? ", " : head, counts[v], verdicts[v]);
        any = true;
    }
    fputs(any ? "\n" : "", out);
}

bool repair_barrier(struct arena *arena, const struct ast_kernel *kernel,
                    const struct search_options *bounds, struct repair_sums *sums, FILE *out,
                    const char **why)
{
    uint32_t counts[VERDICTS] = {0};
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    *sums = (struct repair_sums){.racy = false};
    if (kernel->form == FORM_PTX) {
        repair_ptx(arena, kernel, sums, bounds->stop, out);
        return true;
    }
    if (kernel->form != FORM_STRUCTURED) {
        *why = "barriers are put into structured kernels and PTX only";
        return false;
    }
    check(arena, kernel, bounds, result);
    sums->racy = repair_races(result);
    if (!sums->racy)
        return true;
    uint32_t places = begin(arena, kernel, UINT32_MAX).edit.seen;
    sums->tried = places < PLACES ? places : PLACES;
    for (uint32_t i = 0; i < sums->tried; i++) {
        size_t mark = arena_mark(arena);
        counts[try_place(arena, kernel, bounds, i, out)]++;
        arena_release(arena, mark);
    }
    repair_put_others(counts, out);
    sums->repairs = counts[REPAIRED];
    return true;
}
