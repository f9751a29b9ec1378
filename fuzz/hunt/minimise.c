#include "fuzz/hunt/minimise.h"

#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/hunt/freeze.h"
#include "fuzz/reduce/reduce.h"

struct minimising {
    const struct minimise_options *options;
    struct outside_subject *plain; /* NULL: it need not be right without optimisation */
    bool as_it_is;                 /* candidates are run as they are */
    uint32_t avoidance;            /* one knob under which the fault must vanish; 0: none */
    struct arena arena;            /* of a candidate */
    struct minimised *result;
};

static struct trial run(struct minimising *m, const struct outside_subject *subject,
                        const struct outside_expected *expected, uint32_t knobs)
{
    m->result->runs++;
    return trial_run(&m->arena, subject, m->options->settings, expected, knobs, NULL);
}

static bool shows(struct minimising *m, const struct ast_kernel *kernel)
{
    const struct minimise_options *o = m->options;
    struct outside_expected expected;
    m->result->candidates++;
    if (outside_validate(&m->arena, kernel, !m->as_it_is, &expected))
        return false;
    m->result->valid++;
    struct trial trial = run(m, o->subject, &expected, o->knobs);
    if (!trial_is_same(&trial, o->trial))
        return false;
    if (m->plain && run(m, m->plain, &expected, o->knobs).verdict != TRIAL_AGREES)
        return false;
    return !m->avoidance ||
           run(m, o->subject, &expected, o->knobs ^ m->avoidance).verdict == TRIAL_AGREES;
}

static bool is_kept(struct minimising *m, const struct ast_kernel *kernel)
{
    size_t mark = arena_mark(&m->arena);
    bool kept = !interrupted && shows(m, kernel);
    arena_release(&m->arena, mark);
    return kept;
}

static bool shown(const struct interest *interest, struct interest_question *question)
{
    return is_kept(interest->state, question->kernel);
}

static bool go_on(void *context, const struct reduce_so_far *so_far)
{
    const struct minimising *m = context;
    (void)so_far;
    return !interrupted && (!m->options->until_ms || clock_monotonic_ms() < m->options->until_ms);
}

/* NULL: it does not show the fault. */
static struct ast_kernel *reduce(struct arena *arena, struct minimising *m,
                                 const struct ast_kernel *kernel, uint32_t most)
{
    const struct interest interest = {.shown = shown, .state = m};
    struct reduce_options reduce = {.check = CHECK_DEFAULTS,
                                    .interest = &interest,
                                    .max_tests = most,
                                    .jobs = 1,
                                    .go_on = go_on,
                                    .go_on_context = m};
    struct reduce_result reduced;
    reduce_kernel(arena, kernel, &reduce, &reduced);
    return reduced.reproduced ? reduced.kernel : NULL;
}

void minimise_finding(struct arena *arena, const struct ast_kernel *kernel,
                      const struct minimise_options *options, struct minimised *result)
{
    enum { ARENA_LOG = 32 };
    struct minimising m = {.options = options, .result = result, .as_it_is = options->as_it_is};
    uint32_t first = options->as_it_is ? options->most : options->most - options->most / 3;
    *result = (struct minimised){.kernel = NULL, .as_it_is = options->as_it_is};
    if (arena_init(&m.arena, (size_t)1 << ARENA_LOG) != 0)
        return;
    if (options->attribution->vanishes_plain && options->subject->kind->plain)
        m.plain = options->subject->kind->plain(arena, options->subject);
    m.avoidance = options->attribution->knobs & -options->attribution->knobs;
    const struct ast_kernel *frozen = freeze_inputs(arena, kernel);
    result->kernel = reduce(arena, &m, is_kept(&m, frozen) ? frozen : kernel, first);
    if (result->kernel && !m.as_it_is && result->candidates < options->most && go_on(&m, NULL)) {
        m.as_it_is = true;
        struct ast_kernel *bare = reduce(arena, &m, emit_expose(arena, result->kernel),
                                         options->most - result->candidates);
        if (bare) {
            result->kernel = bare;
            result->as_it_is = true;
        }
    }
    arena_destroy(&m.arena);
}
