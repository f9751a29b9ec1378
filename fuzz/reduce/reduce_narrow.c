/*
 * reduce_narrow.c - cheaper ways of asking about candidates. A spinning kernel spends the whole budget
 * under several subjects each time; what makes it interesting is mostly one of them, and early.
 */
#include "engine/input/input.h"
#include "fuzz/reduce/reduce_search.h"

/* Runs of fewer steps are cheap enough: about a millisecond. */
enum { NARROW_STEPS = 1 << 13, CHEAPEST_STEPS = 1 << 12, CHEAPEST_SCHEDULES = 4 };

/* True: the base is still interesting, r->check is the narrower one. */
static bool narrow_to(struct reduction *r, const struct check_options *check)
{
    if (r->steps <= NARROW_STEPS || !reduction_may_test(r) || !reduction_shows(r, r->base, check))
        return false;
    r->check = *check;
    return true;
}

static void narrow_search(struct reduction *r)
{
    struct check_options check = r->check;
    check.exhaustive = false;
    if (r->check.exhaustive)
        narrow_to(r, &check);
}

static void narrow_budget(struct reduction *r)
{
    for (uint32_t steps = 256; steps < r->check.budget_steps; steps *= 8) {
        struct check_options check = r->check;
        check.budget_steps = steps;
        if (narrow_to(r, &check))
            return;
    }
}

static void narrow_schedules(struct reduction *r)
{
    for (uint32_t schedules = 1; schedules < r->check.schedules; schedules *= 4) {
        struct check_options check = r->check;
        check.schedules = schedules;
        if (narrow_to(r, &check))
            return;
    }
}

static void narrow_subjects(struct reduction *r)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        struct check_options check = r->check;
        check.subjects &= ~SUBJECT_BIT(s);
        if (check.subjects != 0 && check.subjects != r->check.subjects)
            narrow_to(r, &check);
    }
}

void reduction_narrow(struct reduction *r)
{
    uint32_t size = ast_kernel_size(r->base);
    if (!r->interest->checks || r->wide || (r->narrowed_size > 0 && size > r->narrowed_size / 2))
        return;
    r->narrowed_size = size;
    r->pass = "narrow";
    narrow_search(r);
    narrow_budget(r);
    narrow_schedules(r);
    narrow_subjects(r);
}

bool reduction_starts_narrow(struct reduction *r, const struct ast_kernel *kernel,
                             const struct check_options *given)
{
    struct check_options check = *given;
    check.exhaustive = false;
    if (check.budget_steps > CHEAPEST_STEPS)
        check.budget_steps = CHEAPEST_STEPS;
    if (check.schedules > CHEAPEST_SCHEDULES)
        check.schedules = CHEAPEST_SCHEDULES;
    /* What transformations are drawn depends on the kernel: their list is written down first. */
    bool drawn = check.oracles == 1u << ORACLE_METAMORPHIC && check.transforms.count == 0;
    r->hurried = r->interest->checks && !drawn && reduction_shows(r, kernel, &check);
    if (r->hurried)
        r->check = check;
    return r->hurried;
}
