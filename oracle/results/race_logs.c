#include "oracle/results/race_logs.h"

#include "engine/base/pcg.h"
#include "oracle/check/evidence.h"
#include "oracle/check/oracle.h"
#include "oracle/race/race_hb_log.h"
#include "oracle/scoped/scoped_log.h"

enum { LOG_CAPACITY = 2048 /* accesses */, LOGGED = 4 };

struct race_logs {
    struct race_log *intervals;
    struct race_hb_log *warps, *threads; /* of checking->hb_warps, hb_threads */
    struct scoped_log *scoped[SUBJECT_COUNT];
};

/* ---- an execution starts ---- */

static struct race_logs *logs_of(struct checking *c)
{
    if (!c->own[ORACLE_RACE])
        c->own[ORACLE_RACE] = ARENA_NEW(c->arena, struct race_logs);
    return c->own[ORACLE_RACE];
}

static struct race_hb_log **log_of(struct checking *c, const struct race_hb *hb)
{
    struct race_logs *x = logs_of(c);
    return hb == c->hb_warps ? &x->warps : &x->threads;
}

static bool is_logged(const struct checking *c, enum subject_id subject)
{
    const struct explored *explored = &c->subjects[subject];
    uint32_t before = c->result->runs[subject].schedules;
    if (!oracle_asked(c, ORACLE_RACE))
        return false;
    if (explored->scoped)
        return before < LOGGED;
    if (explored->hb)
        return before < LOGGED && !explored->hb->options.atomics_sync;
    uint64_t seed = c->options->seed;
    return before == 0 || (seed != 0 && before == 1 + pcg_splitmix(seed) % LOGGED);
}

static const struct observer *watch_scoped(struct checking *c, enum subject_id subject,
                                           const struct observer *behind)
{
    const struct explored *explored = &c->subjects[subject];
    struct scoped_log **log = &logs_of(c)->scoped[subject];
    if (!*log)
        *log = scoped_log_new(c->arena, explored->program, explored->scoped->same_value,
                              explored->scoped->lockstep);
    scoped_log_begin(*log, &explored->machine->steps);
    (*log)->observer.next = behind;
    return &(*log)->observer;
}

static const struct observer *watch_hb(struct checking *c, const struct explored *explored,
                                       const struct observer *behind)
{
    struct race_hb_log **log = log_of(c, explored->hb);
    if (!*log)
        *log = race_hb_log_new(c->arena, explored->hb);
    race_hb_log_begin(*log, &explored->machine->steps);
    (*log)->observer.next = behind;
    return &(*log)->observer;
}

static const struct observer *watch_intervals(struct checking *c, const struct explored *explored,
                                              const struct observer *behind)
{
    struct race_logs *x = logs_of(c);
    if (!x->intervals)
        x->intervals = race_log_new(c->arena, c->result->program, LOG_CAPACITY);
    x->intervals->benign_same_value = c->detector->benign_same_value;
    race_log_begin(x->intervals);
    race_log_watch(x->intervals, explored->machine);
    x->intervals->observer.next = behind;
    return &x->intervals->observer;
}

const struct observer *race_logs_watch(struct checking *c, enum subject_id subject,
                                       const struct observer *behind)
{
    const struct explored *explored = &c->subjects[subject];
    if (!is_logged(c, subject))
        return behind;
    c->logged = true;
    if (explored->scoped)
        return watch_scoped(c, subject, behind);
    return explored->hb ? watch_hb(c, explored, behind) : watch_intervals(c, explored, behind);
}

/* ---- it has ended ---- */

/* The detector that is held against its log. */
static const char *detector_of(const struct explored *explored)
{
    return explored->scoped ? "scopes" : explored->hb ? "happens-before" : "intervals";
}

static void add_log_divergence(struct checking *c, const struct execution *execution,
                               const char *what, struct evidence *e)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_RACE,
                             .class_name = "race-log",
                             .rule = RULE_NONE,
                             .observable = what,
                             .part = detector_of(&c->subjects[execution->subject]),
                             .subject = execution->subject,
                             .evidence = evidence_close(e),
                             .summary = "the race detector and the log of all accesses disagree"};
    d->tape = explore_record(c, execution);
    answer_diverge(&c->result->answers[ORACLE_RACE], d);
}

/* The detectors of races of PTX, scoped and by happens-before, against their definitions. */
static void judge_ordered(struct checking *c, const struct execution *execution)
{
    const struct explored *explored = &c->subjects[execution->subject];
    const struct scoped *scoped = explored->scoped;
    const struct race_hb *hb = explored->hb;
    bool asked = false;
    const char *what =
        scoped ? scoped_log_differs(logs_of(c)->scoped[execution->subject], scoped, &asked)
               : race_hb_log_differs(*log_of(c, hb), &asked);
    c->result->answers[ORACLE_RACE].checked += asked;
    if (!what)
        return;
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[execution->subject].name);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_number(&e, "detector_locations", scoped ? scoped->racy_locations : hb->racy_locations);
    if (scoped ? scoped->found : hb->found)
        evidence_race(&e, "detector_race", explored->program,
                      scoped ? &scoped->witness : &hb->witness);
    add_log_divergence(c, execution, what, &e);
}

/* The detector against the definition, for the execution just logged. */
static void judge_intervals(struct checking *c, const struct execution *execution)
{
    struct answer *answer = &c->result->answers[ORACLE_RACE];
    struct race_log *log = logs_of(c)->intervals;
    struct race_log_result expected = race_log_search(log);
    const char *what = "";
    if (!expected.complete)
        return;
    answer->checked++;
    if (race_log_agrees(log, &expected, c->detector, &what))
        return;
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[execution->subject].name);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_number(&e, "detector_locations", c->detector->racy_locations);
    evidence_number(&e, "log_locations", expected.racy_locations);
    if (c->detector->found)
        evidence_race(&e, "detector_race", c->detector->program, &c->detector->witness);
    add_log_divergence(c, execution, what, &e);
}

void race_logs_ended(struct checking *c, const struct execution *execution)
{
    const struct explored *explored = &c->subjects[execution->subject];
    if (!c->logged)
        return;
    if (explored->scoped || explored->hb)
        judge_ordered(c, execution);
    else
        judge_intervals(c, execution);
}
