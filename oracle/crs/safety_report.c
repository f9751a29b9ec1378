/* safety_report.c - what the failures of safety.c say about the kernel: the oracle's answer. */
#include "oracle/crs/safety.h"

#include "engine/to_ptx/ptx_inject.h"
#include "oracle/check/evidence.h"

#include <string.h>

const char *safety_switch(enum subject_id subject)
{
    uint32_t switches = subject_table[subject].options.crs_switches;
    static const char *const mutants[CRS_SWITCH_COUNT] = {
#define CRS_SWITCH(id, name, mutant, sentence) [CRS_SWITCH_##id] = mutant,
#include "engine/crs/crs_switches.def"
    };
    if (switches == 0)
        return NULL;
    return switches & (switches - 1) ? "MUT" : mutants[__builtin_ctz(switches)];
}

/* ---- evidence ---- */

static const char *mask_text(struct arena *arena, lane_mask mask, uint32_t lanes)
{
    char text[65] = "";
    for (uint32_t lane = 0; lane < lanes; lane++)
        text[lane] = (mask >> lane) & 1 ? '1' : '0';
    return arena_printf(arena, "%s", text);
}

/* "(sync,11,8) (call,11,4)", top first, as the report prints it. */
static const char *tokens_text(struct arena *arena, const struct crs_token *tokens, uint32_t depth,
                               uint32_t lanes)
{
    static const char *const names[] = {
        [CRS_SYNC] = "sync", [CRS_DIVERGE] = "diverge", [CRS_CALL] = "call", [CRS_BREAK] = "break"};
    enum { SHOWN_MAX = 16 };
    const char *text = depth ? "" : "-";
    for (uint32_t i = depth; i-- > 0 && depth - i <= SHOWN_MAX;)
        text = arena_printf(arena, "%s%s(%s,%s,%u)", text, *text ? " " : "", names[tokens[i].type],
                            mask_text(arena, tokens[i].mask, lanes), tokens[i].pc);
    return depth > SHOWN_MAX ? arena_printf(arena, "%s ... %u in all", text, depth) : text;
}

static void add_state(struct evidence *e, const char *key, const struct crs_state *s,
                      const struct crs_token *tokens, uint32_t lanes)
{
    char disabled[65] = "";
    for (uint32_t lane = 0; lane < lanes; lane++)
        disabled[lane] = (s->broken >> lane) & 1     ? 'b'
                         : (s->returned >> lane) & 1 ? 'r'
                         : (s->exited >> lane) & 1   ? 'e'
                                                     : '0';
    evidence_enter(e, key);
    evidence_number(e, "pc", s->pc);
    evidence_mask(e, "active", s->active, lanes);
    evidence_string(e, "disabled", disabled);
    evidence_string(e, "stack", tokens_text(e->text.arena, tokens, s->depth, lanes));
    evidence_leave(e);
}

static const char *lane_pcs(struct arena *arena, const struct safety_lanes *lanes)
{
    const char *text = "";
    for (uint32_t lane = 0; lane < lanes->count; lane++)
        text = arena_printf(arena, "%s%s%u", text, *text ? " " : "", lanes->pcs[lane]);
    return text;
}

static const char *evidence_of(struct checking *c, const struct safety *s,
                               const struct execution *execution)
{
    const struct safety_failure *f = &s->failure;
    uint32_t lanes = s->program->launch.warp;
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[execution->subject].name);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_number(&e, "step", (int64_t)f->step);
    evidence_number(&e, "warp", f->warp);
    evidence_number(&e, "line", evidence_line(s->program, f->pc));
    evidence_mask(&e, "executing", f->executing, lanes);
    add_state(&e, "before", &f->before, f->before_tokens, lanes);
    add_state(&e, "after", &f->after, f->after_tokens, lanes);
    evidence_string(&e, "pcs_of_lanes", lane_pcs(c->arena, s->warps[f->warp].lanes));
    evidence_string(&e, "says", f->theorem);
    return evidence_close(&e);
}

static void report(struct checking *c, const struct execution *execution, const char *observable,
                   const char *known)
{
    const struct safety *s = safety_of(c);
    const struct safety_failure *f = &s->failure;
    struct answer *answer = &c->result->answers[ORACLE_SAFETY];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_SAFETY,
                             .class_name = safety_table[f->predicate].name,
                             .rule = f->rule,
                             .observable = observable,
                             .subject = execution->subject,
                             .known = known,
                             .line = evidence_line(s->program, f->pc)};
    if (!(c->options->oracles & (1u << ORACLE_SAFETY)) || !answer_wants(answer, d))
        return;
    d->evidence = evidence_of(c, s, execution);
    d->summary = arena_printf(c->arena, "%s at line %u, warp %u: %s fails: %s",
                              subject_table[execution->subject].name, d->line, f->warp,
                              safety_table[f->predicate].name, safety_table[f->predicate].sentence);
    d->tape = explore_record(c, execution);
    answer_diverge(answer, d);
}

/* ---- what a failure means ---- */

static bool is_hypothesis(enum safety_predicate predicate)
{
    return predicate <= SAFETY_STACK_6;
}

/* The branch-unit instructions are simtfuzz's own, all of them: it injected them, or compiled a
 * structured kernel. In a module that has some already what is injected stands beside code that may leave
 * the stack in any state. */
bool safety_made_here(const struct checking *c, const struct ptx_code *code)
{
    return c->kernel->form != FORM_PTX ||
           (code->module != code->kernel->module && !ptx_has_branch_unit(c->kernel->ptx->module));
}

/* A call or branch through a register goes wherever the given program has put in it, or nothing; through a table it
 * does not. */
static bool goes_anywhere(const struct checking *c, const struct ptx_code *code)
{
    const struct safety_failure *f = &safety_of(c)->failure;
    const struct ptx_op *op = f->pc < code->count ? &code->ops[f->pc] : NULL;
    return c->kernel->form == FORM_PTX && f->predicate == SAFETY_ADDR && op &&
           (op->exec == PTX_EXEC_CALL || (op->exec == PTX_EXEC_BRA && op->table_count == 0)) &&
           op->target == 0;
}

/* The theorem's hypothesis fails. */
static void inconsistent(struct checking *c, const struct execution *execution)
{
    struct safety *s = safety_of(c);
    const struct safety_failure *f = &s->failure;
    const char *mutant = safety_switch(execution->subject);
    uint32_t line = evidence_line(s->program, f->pc);
    if (mutant && s->consistent) {
        report(c, execution, "control-flow consistency", mutant);
    } else if (!mutant && safety_made_here(c, s->program->ptx) &&
               !goes_anywhere(c, s->program->ptx)) {
        report(c, execution, "code made by simtfuzz", NULL);
    } else if (!mutant && !s->inconsistent) {
        s->inconsistent_line = line;
        s->goes_anywhere = goes_anywhere(c, s->program->ptx);
        s->inconsistent = arena_printf(c->arena, "not control-flow consistent: %s at line %u (%s)",
                                       safety_table[f->predicate].name, line,
                                       safety_table[f->predicate].sentence);
    }
}

bool safety_is_given(const struct checking *c)
{
    const struct program *program = c->subjects[SUBJECT_CRS].program;
    program = program ? program : c->subjects[SUBJECT_THREAD_PC].program;
    return c->kernel->form == FORM_PTX && program && !safety_made_here(c, program->ptx);
}

bool safety_watches(const struct checking *c, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    bool warps = info->vtable && info->vtable->stack == STACK_CRS;
    uint32_t wanted = 1u << ORACLE_SAFETY;
    if (safety_is_given(c)) /* what its subjects are compared under */
        wanted |= 1u << ORACLE_RESULT | 1u << ORACLE_RACE | 1u << ORACLE_LIVENESS;
    return warps && (c->options->oracles & wanted);
}

/* A raw program may start with any stack; the theorem is about states that satisfy the invariants. */
static void start_given_stack(struct checking *c, struct safety *s)
{
    for (uint32_t i = 0; i < s->program->warp_count; i++) {
        const struct safety_warp *w = &s->warps[i];
        enum safety_predicate failed =
            safety_first(safety_state(&w->state, w->tokens, s->W, w->lanes->pcs));
        if (failed == SAFETY_NONE)
            continue;
        s->over = true;
        if (!s->inconsistent)
            s->inconsistent =
                arena_printf(c->arena, "the stack given violates %s (%s)",
                             safety_table[failed].name, safety_table[failed].sentence);
    }
}

const struct observer *safety_watch(struct checking *c, enum subject_id subject,
                                    const struct observer *behind)
{
    struct machine *machine = c->subjects[subject].machine;
    struct safety *s = safety_of(c);
    if (!safety_watches(c, subject))
        return behind;
    if (!s)
        s = safety_new(c->arena, machine->program, c->options->modes & ORACLE_MODE_SAFETY_PRINTED);
    c->own[ORACLE_SAFETY] = s;
    s->by_other_rules = safety_switch(subject) != NULL;
    machine_reset(machine);
    safety_start(s, machine);
    if (machine->program->ptx->kernel->token_count > 0)
        start_given_stack(c, s);
    s->observer.next = behind;
    return &s->observer;
}

void safety_restrict(struct checking *c)
{
    const struct safety *s = safety_of(c);
    if (!s || !safety_is_given(c) || c->incomparable)
        return;
    c->incomparable = s->inconsistent ? s->inconsistent : s->not_static;
    c->incomparable_as = LONE_RECONVERGENCE;
}

void safety_end(struct checking *c, const struct execution *execution)
{
    struct safety *s = safety_of(c);
    if (!safety_watches(c, execution->subject))
        return;
    const struct safety_failure *f = &s->failure;
    const char *mutant = safety_switch(execution->subject);
    if (execution->subject == SUBJECT_CRS && s->program->ptx)
        s->consistent = f->predicate == SAFETY_NONE && !s->inconsistent;
    if (f->predicate == SAFETY_NONE)
        return;
    if (is_hypothesis(f->predicate))
        inconsistent(c, execution);
    else
        report(c, execution, f->theorem, mutant ? mutant : s->weaker ? "ERR.30" : NULL);
}

void safety_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_SAFETY];
    const struct safety *s = safety_of(c);
    const char *also = "";
    if (s)
        answer->checked = s->steps;
    safety_static_judge(c);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (s && s->inconsistent) {
        answer->reason = s->inconsistent;
        return;
    }
    if (!s || s->steps == 0) {
        answer->reason = "neither `crs` nor `thread-pc` was run";
        return;
    }
    if (s->not_static)
        also = arena_printf(c->arena, "; private stacks say nothing: %s", s->not_static);
    answer->verdict = VERDICT_AGREE;
    answer->reason =
        arena_printf(c->arena, "%llu warp steps, %llu of them unwinding%s",
                     (unsigned long long)s->steps, (unsigned long long)s->unwinds, also);
}
