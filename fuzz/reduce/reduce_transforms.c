/*
 * reduce_transforms.c - a finding of `metamorphic`: the list of transformations becomes short, and its
 * numbers small, in turn with the kernel.
 */
#include "fuzz/reduce/reduce_search.h"

static bool is_asked(const struct check_options *check)
{
    return check->oracles == 1u << ORACLE_METAMORPHIC;
}

static bool shows_with(struct reduction *r, const struct transform_list *list)
{
    struct check_options trial = r->check;
    trial.transforms = *list;
    if (!reduction_may_test(r))
        return false;
    r->tests++;
    return reduction_shows(r, r->base, &trial);
}

/* Takes the list if the signature is still shown with it. */
static bool try_list(struct reduction *r, struct transform_list *best,
                     const struct transform_list *list)
{
    if (list->count == 0 || !shows_with(r, list))
        return false;
    *best = *list;
    return true;
}

/* Steps that have no place in the kernel as it is now do nothing. */
static struct transform_list without_idle(struct reduction *r, const struct transform_list *list)
{
    struct transform_list done;
    size_t mark = arena_mark(r->arena);
    (void)transform_apply(r->arena, r->base, list, &done);
    done.broken = NULL;
    arena_release(r->arena, mark);
    return done;
}

static struct transform_list without(const struct transform_list *list, uint32_t step)
{
    struct transform_list shorter = {.count = list->count - 1};
    for (uint32_t i = 0; i < shorter.count; i++)
        shorter.steps[i] = list->steps[i + (i >= step)];
    return shorter;
}

/* Places that the step has behind those before it; at least 1. */
static uint32_t places_of(struct reduction *r, const struct transform_list *list, uint32_t step)
{
    size_t mark = arena_mark(r->arena);
    struct transform_list before = *list;
    before.count = step;
    const struct ast_kernel *kernel = transform_apply(r->arena, r->base, &before, NULL);
    uint32_t places = transform_places(r->arena, kernel, list->steps[step].id);
    arena_release(r->arena, mark);
    return places > 0 ? places : 1;
}

/* The first place in the simplest way; this place in the simplest way; an earlier place. */
static uint32_t shrink_number(struct reduction *r, struct transform_list *best, uint32_t step)
{
    uint32_t number = best->steps[step].number, place = number % places_of(r, best, step);
    const uint32_t tries[] = {0, place / 2, place, place > 0 ? place - 1 : 0};
    for (uint32_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct transform_list list = *best;
        list.steps[step].number = tries[i];
        if (tries[i] < number && try_list(r, best, &list))
            return 1;
    }
    return 0;
}

uint32_t reduce_transforms(struct reduction *r)
{
    uint32_t accepted = 0, before;
    struct transform_list best = r->check.transforms;
    if (!is_asked(&r->check) || best.count == 0)
        return 0;
    r->pass = "transformations";
    do {
        before = accepted;
        struct transform_list busy = without_idle(r, &best);
        if (busy.count < best.count)
            accepted += try_list(r, &best, &busy);
        for (uint32_t i = best.count; i-- > 0 && best.count > 1;) {
            struct transform_list list = without(&best, i);
            accepted += try_list(r, &best, &list);
        }
        for (uint32_t i = 0; i < best.count; i++)
            accepted += shrink_number(r, &best, i);
    } while (accepted > before);
    r->check.transforms = best;
    if (accepted > 0)
        reduction_forget(r); /* with another list, what was tried may be good */
    return accepted;
}

void reduce_transforms_draw(struct reduction *r, const struct ast_kernel *kernel,
                            struct check_options *check)
{
    enum { LISTS_MAX = 4 }; /* that a check draws at most */
    struct check_options trial = *check;
    if (!is_asked(check) || check->transforms.count > 0)
        return;
    for (uint32_t i = 0; i < LISTS_MAX; i++) {
        size_t mark = arena_mark(r->arena);
        if (!reduction_goes_on(r))
            return;
        (void)transform_draw(r->arena, kernel, check->seed + i, &trial.transforms);
        arena_release(r->arena, mark);
        if (reduction_shows(r, kernel, &trial)) {
            check->transforms = trial.transforms;
            return;
        }
    }
}
