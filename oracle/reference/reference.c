#include "oracle/reference/reference.h"

#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "oracle/check/evidence.h"
#include "oracle/check/oracle.h"
#include "oracle/follow/follow.h"
#include "oracle/reference/computed.h"
#include "oracle/reference/source.h"
#include "oracle/reference/wild.h"
#include "oracle/searches/footprint.h"

#include <string.h>

/* What the oracle keeps of a check. */
struct reference {
    struct ref_room *room;
    struct follower *followers[SUBJECT_COUNT];
    const char *refused[SUBJECT_COUNT]; /* why a subject that ran is not followed */
    struct follower *now;               /* of the execution at hand; NULL: it is not followed */
    struct source *source;              /* of the kernel's text; NULL: none, ... */
    const char *no_source;              /* ... and why */
    struct observer *heard; /* of the execution at hand; NULL: its histories are not kept */
    uint32_t histories[SUBJECT_COUNT], all_histories; /* executions whose were */
    uint64_t events;                                  /* of them */
    uint64_t steps, trusted;
    uint32_t executions, cut; /* followed; of them not to their end */
    const char *unknown;      /* the first thing that the reference does not know */
    enum subject_id unknown_subject;
};

static struct reference *reference_of(const struct checking *c)
{
    return c->own[ORACLE_REFERENCE];
}

static bool is_drawn(const struct checking *c)
{
    uint64_t seed = c->options->seed;
    return seed == 0 || c->options->always >> ORACLE_REFERENCE & 1 ||
           c->options->oracles == 1u << ORACLE_REFERENCE ||
           pcg_splitmix(pcg_splitmix(seed + 3)) % REFERENCE_SHARE == 0;
}

/* ---- one execution ---- */

static struct follower *follower_of(struct checking *c, enum subject_id subject)
{
    struct reference *x = reference_of(c);
    if (!x->followers[subject] && !x->refused[subject])
        x->followers[subject] = follow_new(c->arena, x->room, subject, c->subjects[subject].machine,
                                           &x->refused[subject]);
    return x->followers[subject];
}

static struct reference *begin_any(struct checking *c)
{
    if (!reference_of(c)) {
        struct reference *x = c->own[ORACLE_REFERENCE] = ARENA_NEW(c->arena, struct reference);
        x->room = ref_room_new(c->arena);
    }
    return reference_of(c);
}

/* In every case, of the first executions of each subject the histories of threads are held against the kernel's
 * text. */
static const struct observer *begin_source(struct checking *c, enum subject_id subject,
                                           const struct observer *behind)
{
    struct reference *x = begin_any(c);
    if (!x->source && !x->no_source)
        x->source =
            source_new(c->arena, ref_room_new(c->arena), c->kernel, c->program, &x->no_source);
    x->heard = NULL;
    if (!x->source || x->histories[subject] == REFERENCE_HISTORIES || !source_applies(subject))
        return behind;
    x->heard = source_begin(x->source, c->subjects[subject].machine);
    if (!x->heard)
        return behind;
    x->histories[subject]++;
    x->heard->next = behind;
    return x->heard;
}

/* Follows what is left of its share of the case; NULL: nothing is, or nobody can. */
static struct follower *begin(struct checking *c, enum subject_id subject,
                              const struct execution *execution)
{
    struct reference *x = begin_any(c);
    const uint32_t asked = c->options->reference_steps;
    const uint64_t all = asked ? asked : REFERENCE_STEPS_OF_CASE;
    const uint64_t left = all > x->steps ? all - x->steps : 0;
    x->now = left > 0 ? follower_of(c, subject) : NULL;
    if (x->now)
        follow_begin(x->now, left < REFERENCE_STEPS ? left : REFERENCE_STEPS);
    if (x->now && execution && execution->subject == subject)
        follow_obey(x->now, c->arena, &execution->spec);
    return x->now;
}

const struct observer *reference_watch(struct checking *c, enum subject_id subject,
                                       const struct observer *behind)
{
    if (!oracle_asked(c, ORACLE_REFERENCE))
        return behind;
    behind = begin_source(c, subject, behind);
    const struct execution *now = c->execution_count ? c->executions[c->execution_count - 1] : NULL;
    struct follower *f = is_drawn(c) ? begin(c, subject, now) : NULL;
    if (!f)
        return behind;
    f->observer.next = behind;
    return &f->observer;
}

/* Where an execution and its second account part. */
static void evidence_followed(struct evidence *e, const struct follower *f)
{
    evidence_number(e, "step", (int64_t)f->steps);
    evidence_number(e, "actor", f->actor);
    evidence_string(e, "rule", rule_table[f->rule].name);
    evidence_string(e, "reference_rule", rule_table[f->reference_rule].name);
    evidence_string(e, "observable", f->observable);
    evidence_string(e, "engine", f->engine_has);
    evidence_string(e, "reference", f->reference_has);
}

static const char *evidence_of(struct checking *c, const struct follower *f,
                               const struct execution *execution)
{
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_followed(&e, f);
    return evidence_close(&e);
}

static const char *followed_sentence(struct arena *arena, const struct follower *f,
                                     enum subject_id subject)
{
    return arena_printf(arena,
                        "after step %llu of `%s`, rule %s, the engine and the reference differ in: "
                        "%s (%s, reference: %s)",
                        (unsigned long long)f->steps, subject_table[subject].name,
                        rule_table[f->rule].name, f->observable, f->engine_has, f->reference_has);
}

static const char *class_of(const struct follower *f)
{
    return f->at_start ? "start" : f->lost ? "lost" : f->against_policy ? "policy" : "step";
}

/* One of the two takes the execution for ended, whatever the last step was. */
static bool ends_alone(const struct follower *f)
{
    const char *running = status_names[STATUS_RUNNING], *ended = status_names[STATUS_TERMINATED];
    return strcmp(f->observable, "status") == 0 &&
           ((strcmp(f->engine_has, running) == 0 && strcmp(f->reference_has, ended) == 0) ||
            (strcmp(f->engine_has, ended) == 0 && strcmp(f->reference_has, running) == 0));
}

/* No rule is wrong where somebody steps whose turn it is not, or who must wait, nor before the first step. A rule that
 * must come next - a barrier ends, nobody can step - and does not is what differs, not what comes instead. */
static enum rule rule_of(const struct follower *f)
{
    if (f->against_policy || f->at_start || f->too_early || ends_alone(f))
        return RULE_NONE;
    return f->awaited != RULE_NONE && strcmp(f->observable, "rule") == 0 ? f->awaited : f->rule;
}

/* Many instructions of PTX have one rule: whose result it is belongs to what is seen. */
static const char *observable_of(struct arena *arena, const struct follower *f)
{
    const struct ptx_code *code = f->program->ptx;
    if (!code || f->stm >= code->count || strcmp(f->observable, FOLLOW_RESULT) != 0)
        return f->observable;
    return arena_printf(arena, FOLLOW_RESULT " of %s", ptx_mnemonics[code->ops[f->stm].opcode]);
}

/* Where the instruction computes something else whoever executes it, that is what is wrong; NULL: it does not, or it is
 * no such instruction. */
static const char *arithmetic_of(struct checking *c, const struct follower *f)
{
    const struct ptx_code *code = f->program->ptx;
    if (!code || f->stm >= code->count || strcmp(class_of(f), "step") != 0)
        return NULL;
    const struct ptx_op *op = &code->ops[f->stm];
    const bool computes = strcmp(f->observable, FOLLOW_RESULT) == 0 || op->atomic;
    return computes ? computed_fault(c->arena, (enum ptx_opcode)op->opcode) : NULL;
}

static void diverge(struct checking *c, const struct follower *f, const struct execution *execution)
{
    struct answer *answer = &c->result->answers[ORACLE_REFERENCE];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_REFERENCE,
                             .class_name = class_of(f),
                             .rule = rule_of(f),
                             .observable = observable_of(c->arena, f),
                             .subject = execution->subject,
                             .line = evidence_line(f->program, f->stm)};
    if (!answer_wants(answer, d))
        return;
    d->part = arithmetic_of(c, f);
    d->evidence = evidence_of(c, f, execution);
    d->summary = followed_sentence(c->arena, f, execution->subject);
    if (!f->against_policy && !f->at_start) /* which say nothing of a tape */
        d->tape = explore_record(c, execution);
    answer_diverge(answer, d);
}

/* A thread did what its text does not. */
static void diverge_from_source(struct checking *c, const struct source_answer *a,
                                const struct execution *execution)
{
    static const char *const kinds[] = {"reads", "writes", "does an atomic on", "passes a barrier"};
    struct answer *answer = &c->result->answers[ORACLE_REFERENCE];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    *d = (struct divergence){.oracle = ORACLE_REFERENCE,
                             .class_name = "source",
                             .rule = RULE_NONE,
                             .observable = a->differs,
                             .subject = execution->subject,
                             .line = a->line};
    if (!answer_wants(answer, d))
        return;
    evidence_open(&e, c->arena);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_number(&e, "thread", a->thread);
    evidence_number(&e, "line", a->line);
    evidence_string(&e, "next", a->next ? kinds[a->next->kind] : "nothing");
    evidence_number(&e, "address", a->next ? (int64_t)a->next->address : -1);
    evidence_number(&e, "value", a->next ? a->next->value : 0);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena,
                              "thread %u of `%s` has another history than its text at line %u: %s; "
                              "next it %s",
                              a->thread, subject_table[execution->subject].name, a->line,
                              a->differs, a->next ? kinds[a->next->kind] : "does nothing");
    d->tape = explore_record(c, execution);
    answer_diverge(answer, d);
}

static void end_source(struct checking *c, const struct execution *execution)
{
    struct reference *x = reference_of(c);
    if (!x || !x->heard)
        return;
    x->heard = NULL;
    const struct source_answer a =
        source_end(x->source, c->subjects[execution->subject].machine, execution->status);
    x->all_histories++;
    x->events += a.events;
    if (a.differs)
        diverge_from_source(c, &a, execution);
}

void reference_ended(struct checking *c, const struct execution *execution)
{
    end_source(c, execution);
    struct reference *x = reference_of(c);
    struct follower *f = x ? x->now : NULL;
    if (!f)
        return;
    x->now = NULL;
    follow_end(f, execution->status);
    x->executions++;
    x->steps += f->steps;
    x->trusted += f->trusted;
    x->cut += f->state == FOLLOW_CUT;
    c->accounted = f->state == FOLLOW_ALONG || f->state == FOLLOW_PARTED;
    if (f->state == FOLLOW_PARTED)
        diverge(c, f, execution);
    if (f->state == FOLLOW_LOST && !x->unknown) {
        x->unknown = f->unknown;
        x->unknown_subject = execution->subject;
    }
}

/* ---- executions that are compared with no other ---- */

/* Such an execution has no second account but this one, so it is followed in every case, drawn or not. Which they are
 * is known when all have been explored: they are run again then. */
static void follow_lone(struct checking *c, struct execution *execution)
{
    struct follower *f = begin(c, execution->subject, execution);
    if (!f)
        return;
    f->observer.next = NULL;
    c->accounted = false;
    explore_again(c, execution, &f->observer);
    reference_ended(c, execution);
    execution->accounted = c->accounted;
}

static void follow_all_lone(struct checking *c)
{
    uint32_t count = is_drawn(c) ? 0 : c->execution_count;
    for (uint32_t i = 0; i < count; i++)
        if (!c->executions[i]->searched && explore_execution_lone(c, c->executions[i]) != LONE_NOT)
            follow_lone(c, c->executions[i]);
}

/* ---- instructions by themselves ---- */

static void diverge_computed(struct checking *c, const struct computed_differs *x)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    const char *operands = "";
    for (uint32_t k = 0; k < x->source_count; k++)
        operands = arena_printf(c->arena, "%s%s0x%llx", operands, k ? ", " : "",
                                (unsigned long long)x->sources[k]);
    const char *engine = arena_printf(c->arena, "0x%llx", (unsigned long long)x->engine),
               *reference = arena_printf(c->arena, "0x%llx", (unsigned long long)x->reference);
    evidence_open(&e, c->arena);
    evidence_string(&e, "instruction", x->text);
    evidence_string(&e, "operands", operands);
    evidence_string(&e, "engine", engine);
    evidence_string(&e, "reference", reference);
    *d = (struct divergence){
        .oracle = ORACLE_REFERENCE,
        .class_name = "computed",
        .rule = RULE_NONE,
        .observable = arena_printf(c->arena, FOLLOW_RESULT " of %s", ptx_mnemonics[x->opcode]),
        .subject = SUBJECT_BLOCK,
        .evidence = evidence_close(&e),
        .part = computed_fault(c->arena, x->opcode),
        .drawn = true};
    d->summary = arena_printf(c->arena, "`%s` of %s is %s, by the reference %s", x->text, operands,
                              engine, reference);
    answer_diverge(&c->result->answers[ORACLE_REFERENCE], d);
}

static void judge_computed(struct checking *c)
{
    const uint64_t draw = pcg_splitmix(c->options->seed + COMPUTED_SEED);
    struct computed_differs differs;
    for (uint32_t i = 0; c->options->seed != 0 && i < COMPUTED_DRAWN; i++)
        if (!computed_agrees(c->arena, draw + i, &differs))
            diverge_computed(c, &differs);
}

/* ---- drawn kernels under drawn subjects ---- */

/* What differs is the cause up to a colon; what stands behind it is of this kernel, or of this name. */
static void diverge_wild(struct checking *c, const struct wild_run *x)
{
    const struct follower *f = x->follower;
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "kernel", x->text);
    if (x->transforms)
        evidence_string(&e, "transforms", x->transforms);
    evidence_string(&e, "subject", subject_table[x->subject].name);
    evidence_string(&e, "schedule", sched_name(c->arena, &x->spec));
    if (x->differs)
        evidence_string(&e, "differs", x->differs);
    else
        evidence_followed(&e, f);
    *d = (struct divergence){
        .oracle = ORACLE_REFERENCE,
        .class_name = "wild",
        .rule = x->differs ? RULE_NONE : rule_of(f),
        .observable = x->differs ? arena_strndup(c->arena, x->differs, strcspn(x->differs, ":"))
                                 : observable_of(c->arena, f),
        .subject = x->subject,
        .evidence = evidence_close(&e),
        .drawn = true};
    if (!x->differs) {
        d->like = class_of(f);
        d->part = arithmetic_of(c, f);
    } else if (x->of_source) {
        d->like = "source";
    } else {
        d->part = d->observable;
        d->like = strcmp(d->part, FOOTPRINT) == 0 ? "program" : NULL;
    }
    if (d->like && !d->part)
        d->about = parse_printed(c->arena, x->text);
    d->summary = x->differs ? arena_printf(c->arena, "%s, under `%s`: `%s`", x->differs,
                                           subject_table[x->subject].name, x->text)
                            : arena_printf(c->arena, "%s of `%s`",
                                           followed_sentence(c->arena, f, x->subject), x->text);
    answer_diverge(&c->result->answers[ORACLE_REFERENCE], d);
}

static void judge_wild(struct checking *c)
{
    const uint64_t draw = pcg_splitmix(c->options->seed + WILD_SEED);
    for (uint32_t i = 0; c->options->seed != 0 && i < WILD_DRAWN; i++) {
        const size_t mark = arena_mark(c->arena);
        struct wild_run x;
        if (wild_agrees(c->arena, draw + i, &x))
            arena_release(c->arena, mark);
        else
            diverge_wild(c, &x);
    }
}

/* ---- the answer ---- */

/* "; not followed: crs (the reference has no rules for it), ..." */
static const char *not_followed(struct checking *c)
{
    const struct reference *x = reference_of(c);
    const char *text = "";
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (x->refused[s])
            text = arena_printf(c->arena, "%s%s%s (%s)", text,
                                *text ? ", " : "; not followed: ", subject_table[s].name,
                                x->refused[s]);
    return text;
}

void reference_judge(struct checking *c)
{
    follow_all_lone(c);
    judge_computed(c);
    judge_wild(c);
    struct answer *answer = &c->result->answers[ORACLE_REFERENCE];
    const struct reference *x = reference_of(c);
    if (!x && answer->verdict != VERDICT_DIVERGE) {
        answer->reason = is_drawn(c) ? "no execution was run" : "not drawn for this case";
        return;
    }
    if (x)
        answer->checked = x->steps + x->events;
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (x->unknown) {
        answer->verdict = VERDICT_INCONCLUSIVE;
        answer->reason = arena_printf(c->arena, "the reference does not know %s, in `%s`",
                                      x->unknown, subject_table[x->unknown_subject].name);
        return;
    }
    bool any = x->executions > 0 || x->all_histories > 0;
    answer->verdict = any ? VERDICT_AGREE : VERDICT_INCONCLUSIVE;
    answer->reason =
        arena_printf(c->arena,
                     "%llu steps of %u executions followed, %u of them to their first steps only, "
                     "%llu steps with frames or bounds on trust; %u histories are those of the "
                     "text%s",
                     (unsigned long long)x->steps, x->executions, x->cut,
                     (unsigned long long)x->trusted, x->all_histories, not_followed(c));
    if (!any && !is_drawn(c)) {
        answer->verdict = VERDICT_NOT_APPLICABLE;
        answer->reason = "not drawn for this case";
    } else if (!any) {
        answer->reason =
            arena_printf(c->arena, "no execution could be followed%s", not_followed(c));
    }
}
