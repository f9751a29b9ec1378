#include "fuzz/look/finding_view.h"

#include "fuzz/view/view.h"

static bool run_side(struct arena *arena, struct arena *scratch, const struct comparison *c,
                     uint32_t i, uint32_t count, struct view_side *side, const char **why)
{
    const struct compared *run = &c->runs[i];
    struct view_options options = {.subject = run->subject,
                                   .schedule = run->schedule,
                                   .schedule_name = c->sides[i].schedule,
                                   .max_steps = FINDING_VIEW_STEPS,
                                   .kept = VIEW_STEPS,
                                   .bytes = VIEW_BYTES / count};
    return view_run(arena, scratch, run->program, &options, side, why);
}

bool finding_view_write(struct arena *arena, struct arena *scratch, const char *name,
                        const struct comparison *comparison, const char *kernel, FILE *out,
                        const char **why)
{
    struct view_side sides[2] = {{.json = NULL}, {.json = NULL}};
    uint32_t count = comparison->sides[1].subject ? 2 : 1;
    bool good = true;
    struct view_page page = {.name = name,
                             .source = kernel,
                             .note = comparison->summary,
                             .kernel = comparison->kernel,
                             .sides = sides,
                             .side_count = count,
                             .parting = *comparison->parting ? comparison->parting : NULL};
    for (uint32_t i = 0; i < count && good; i++) {
        const struct side *side = &comparison->sides[i];
        good = run_side(arena, scratch, comparison, i, count, &sides[i], why);
        if (side->parts < side->step_count)
            page.parts[i] = side->steps[side->parts].number;
    }
    if (good)
        view_write(&page, out);
    for (uint32_t i = 0; i < count; i++)
        view_free(&sides[i]);
    return good;
}
