#include "fuzz/outside/trial.h"

#include "engine/input/input.h"
#include "fuzz/outside/steps.h"
#include "fuzz/serve/cause.h"

#include <string.h>

const char *const trial_verdict_names[TRIAL_VERDICT_COUNT] = {
    "agrees", "wrong-value",   "wrong-steps", "crash",
    "hang",   "compile-error", "run-error",   "unknown"};

/* Steps say where a wrong value began, or what is wrong with a right one. */
static struct trial judge_steps(struct arena *arena, const struct outside_expected *expected,
                                const struct outside_result *result)
{
    const char *detail = "";
    const char *cause = result->steps ? steps_judge(arena, expected, result, &detail) : NULL;
    return (struct trial){.verdict = cause ? TRIAL_WRONG_STEPS : TRIAL_AGREES,
                          .cause = cause ? cause : "",
                          .log = detail};
}

static struct trial compare(struct arena *arena, const struct outside_expected *expected,
                            const struct outside_result *result)
{
    const struct trial steps = judge_steps(arena, expected, result);
    for (uint32_t f = 0; f < result->final_count; f++)
        for (uint32_t w = 0; w < expected->words; w++)
            if (result->finals[f][w] != expected->final[w])
                return (struct trial){.verdict = TRIAL_WRONG,
                                      .cause = "",
                                      .log = steps.log,
                                      .way = result->ways[f],
                                      .word = w,
                                      .expected = expected->final[w],
                                      .actual = result->finals[f][w],
                                      .memory = result->finals[f]};
    return steps;
}

struct trial trial_judge(struct arena *arena, const struct outside_expected *expected,
                         const struct outside_result *result)
{
    static const enum trial_verdict verdicts[OUTSIDE_END_COUNT] = {
        [OUTSIDE_CRASH] = TRIAL_CRASH,
        [OUTSIDE_HANG] = TRIAL_HANG,
        [OUTSIDE_COMPILE_ERROR] = TRIAL_COMPILE_ERROR,
        [OUTSIDE_RUN_ERROR] = TRIAL_RUN_ERROR,
        [OUTSIDE_UNSUPPORTED] = TRIAL_UNKNOWN};
    if (result->end == OUTSIDE_FINAL)
        return compare(arena, expected, result);
    return (struct trial){
        .verdict = verdicts[result->end], .cause = result->cause, .log = result->log};
}

struct trial trial_run(struct arena *arena, const struct outside_subject *subject,
                       const struct outside_settings *settings,
                       const struct outside_expected *expected, uint32_t knobs, const char **text)
{
    struct text out = text_begin(arena);
    struct emitted emitted;
    struct outside_result result;
    const char *reason;
    if (!emit_kernel(&out, ast_kernel_copy(arena, expected->kernel), subject->language, knobs, 0,
                     &emitted, &reason))
        return (struct trial){.verdict = TRIAL_UNKNOWN, .cause = reason, .log = ""};
    const struct outside_batch batch = {.language = subject->language,
                                        .text = emit_text(arena, subject->language, out.bytes),
                                        .count = 1,
                                        .kernels = &emitted};
    if (text)
        *text = batch.text;
    subject->kind->run(arena, subject, settings, &batch, &result);
    return trial_judge(arena, expected, &result);
}

bool trial_has_cause(const struct trial *trial)
{
    return *trial->cause && strcmp(trial->cause, cause_none) != 0;
}

bool trial_is_same(const struct trial *a, const struct trial *b)
{
    return a->verdict == b->verdict && strcmp(a->cause, b->cause) == 0;
}

static bool vanishes(struct arena *arena, const struct outside_subject *subject,
                     const struct outside_settings *settings,
                     const struct outside_expected *expected, uint32_t knobs)
{
    return trial_run(arena, subject, settings, expected, knobs, NULL).verdict == TRIAL_AGREES;
}

struct attribution trial_attribute(struct arena *arena, const struct outside_subject *subject,
                                   const struct outside_settings *settings,
                                   const struct outside_expected *expected, uint32_t knobs,
                                   const struct trial *found)
{
    struct attribution a = {.knobs = 0};
    const struct outside_subject *plain =
        subject->kind->plain ? subject->kind->plain(arena, subject) : NULL;
    a.has_plain = plain != NULL;
    a.vanishes_plain = plain && vanishes(arena, plain, settings, expected, knobs);
    if (found->verdict == TRIAL_HANG) /* each run takes as long as a hang is allowed to */
        return a;
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT; i++)
        if (vanishes(arena, subject, settings, expected, knobs ^ 1u << i))
            a.knobs |= 1u << i;
    return a;
}

char *attribution_print(struct arena *arena, const struct attribution *attribution, uint32_t knobs)
{
    char *text = arena_printf(arena, "%s", attribution->vanishes_plain ? "unoptimised" : "");
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT; i++)
        if (attribution->knobs >> i & 1u)
            text = arena_printf(arena, "%s%s%s%s", text, *text ? "," : "",
                                knobs >> i & 1u ? "-" : "+", emit_knob_names[i]);
    return *text ? text : arena_printf(arena, "nothing");
}
