/*
 * safety_static.c - control-flow consistency on all paths (ptx_static.h) and what executions showed: each may
 * show the other wrong.
 *
 *     simtfuzz made the code     =>  it is consistent, clause 4 as printed too, and keeps CHK.static (a) to (c)
 *     consistent                 =>  no execution is inconsistent
 *     consistent                 =>  a warp meets no instruction with a token on top that no path leads to
 *     consistent                 =>  the same of runs whose guards are drawn (safety_walks.h)
 *     safety_static speaks       =>  CHK.static (a) or (b) is broken
 *
 * An unknown target or a large function says nothing. Asked once a case.
 */
#include "engine/base/pcg.h"
#include "engine/static/ptx_static.h"
#include "oracle/check/evidence.h"
#include "oracle/crs/safety.h"
#include "oracle/crs/safety_paths.h"
#include "oracle/crs/safety_walks.h"

#include <string.h>

enum {
    STATES = 1 << 12, /* of a function; generated ones have fewer than 500 */
    DRAWN = 8         /* in a case: 25 microseconds each */
};

static struct divergence *report(struct checking *c, const char *observable, const char *says,
                                 uint32_t line, const char *summary)
{
    struct answer *answer = &c->result->answers[ORACLE_SAFETY];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    *d = (struct divergence){.oracle = ORACLE_SAFETY,
                             .class_name = "static",
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = SUBJECT_CRS,
                             .line = line,
                             .summary = summary};
    if (!answer_wants(answer, d))
        return d;
    evidence_open(&e, c->arena);
    evidence_number(&e, "line", line);
    evidence_string(&e, "says", says);
    d->evidence = evidence_close(&e);
    answer_diverge(answer, d);
    return d;
}

static void report_fault(struct checking *c, const char *observable,
                         const struct ptx_static_fault *fault)
{
    const char *text = ptx_static_text(fault->clause);
    report(c, observable, text, fault->line,
           arena_printf(c->arena, "code made by simtfuzz, line %u: %s", fault->line, text));
}

static void judge_made_here(struct checking *c, const struct ptx_static *s)
{
    bool open = s->why.clause == PTX_STATIC_TARGET || s->why.clause == PTX_STATIC_SIZE;
    if (s->verdict == PTX_STATIC_INCONSISTENT || (s->verdict == PTX_STATIC_UNKNOWN && !open))
        report_fault(c, "code made by simtfuzz", &s->why);
    else if (s->four.clause)
        report_fault(c, "clause 4 as printed", &s->four);
    else if (s->rule.clause)
        report_fault(c, "CHK.static", &s->rule);
}

static void judge_walks(struct checking *c, const uint8_t *tops)
{
    const char *why;
    const uint32_t line =
        safety_walk(c->arena, safety_of(c)->program, tops, c->options->seed, &why);
    if (why)
        report(
            c, "a run", why, line,
            arena_printf(c->arena,
                         "consistent on all paths, but a run with drawn guards meets line %u: %s",
                         line, why));
}

/* Of a consistent program. */
static void judge_executions(struct checking *c, const struct ptx_static *s, const uint8_t *tops)
{
    const struct safety *seen = safety_of(c);
    const struct ptx_code *code = seen->program->ptx;
    if (seen->inconsistent_line && !seen->goes_anywhere && !seen->printed)
        report(c, "an execution", seen->inconsistent, seen->inconsistent_line,
               arena_printf(c->arena, "consistent on all paths, but an execution is %s",
                            seen->inconsistent));
    if (s->instructions + 1 != code->count)
        report(c, "instructions", "other code", 0,
               arena_printf(c->arena, "the code has %u instructions, the static check sees %u",
                            code->count - 1, s->instructions));
    for (uint32_t pc = 1; pc < code->count && s->instructions + 1 == code->count; pc++) {
        uint32_t line = code->ops[pc].line;
        if (seen->tops[pc] & ~tops[pc])
            report(c, "top of the stack", "no path leads there with this token on top", line,
                   arena_printf(c->arena,
                                "line %u is met with a token on top that no path leads to", line));
    }
    if (s->instructions + 1 == code->count)
        judge_walks(c, tops);
}

/* Of programs, and of tokens alone, that the case's seed draws. */
static void judge_drawn(struct checking *c)
{
    for (uint32_t i = 0; i < DRAWN; i++) {
        size_t mark = arena_mark(c->arena);
        const uint64_t seed = pcg_splitmix(c->options->seed + i);
        const struct paths_fault fault =
            i % 2 ? safety_stacks(c->arena, seed) : safety_paths(c->arena, seed);
        if (fault.part) {
            struct divergence *d = report(c, fault.part, fault.part, fault.line, fault.why);
            d->part = fault.part;
            d->drawn = true;
            d->about = fault.kernel;
            return;
        }
        arena_release(c->arena, mark);
    }
}

void safety_static_judge(struct checking *c)
{
    struct safety *seen = safety_of(c);
    judge_drawn(c);
    if (!seen)
        return;
    const struct ptx_code *code = seen->program->ptx;
    struct ptx_static_options options = {
        .most_states = STATES, .top_count = code->count, .ends = !code->kernel->raw};
    size_t mark = arena_mark(c->arena);
    options.tops = ARENA_ARRAY(c->arena, uint8_t, code->count);
    if (code->kernel->raw)
        ptx_static_start(c->arena, code->kernel, &options);
    const struct ptx_static s =
        ptx_static_check(c->arena, code->module, code->functions[0].function, &options);
    if (s.verdict != PTX_STATIC_UNKNOWN || s.why.clause != PTX_STATIC_SIZE) {
        if (safety_made_here(c, code))
            judge_made_here(c, &s);
        if (s.verdict == PTX_STATIC_CONSISTENT)
            judge_executions(c, &s, options.tops);
        if (seen->rules_broken && !s.rule.clause)
            report(c, "CHK.static (a), (b)", seen->rules_broken, 0,
                   arena_printf(c->arena, "no rule of CHK.static is broken, but there is %s",
                                seen->rules_broken));
    }
    if (c->result->answers[ORACLE_SAFETY].verdict != VERDICT_DIVERGE)
        arena_release(c->arena, mark);
}
