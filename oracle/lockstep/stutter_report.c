#include "oracle/lockstep/stutter_internal.h"

#include "oracle/check/evidence.h"
#include "oracle/check/record.h"

/* "block 'B'", "End", "line 7". */
static const char *point(struct stutter *s, const struct program *program, uint32_t pc)
{
    if (pc == PC_END)
        return "End";
    if (pc & PC_BLOCK)
        return arena_printf(s->arena, "block '%s'", program->blocks[pc & ~PC_BLOCK].name);
    return evidence_statement(s->arena, program, pc);
}

static const char *where(struct stutter *s, const struct stutter_move *m)
{
    return point(s, s->p->program, m->p_pc);
}

static void open_evidence(struct stutter *s, const struct stutter_move *m, struct evidence *e)
{
    evidence_open(e, s->arena);
    evidence_string(e, "leads", s->leader == SUBJECT_INTERLEAVE ? "P" : "pi(P)");
    evidence_number(e, "thread", m->thread);
    evidence_string(e, "interleave_at", where(s, m));
    evidence_string(e, "predicated_at", point(s, s->pi->program, m->pi_pc));
    evidence_number(e, "interleave_steps", (int64_t)s->p_steps);
    evidence_number(e, "predicated_steps", (int64_t)s->pi_steps);
    if (m->rule != RULE_NONE)
        evidence_string(e, "rule", rule_table[m->rule].name);
}

static void report(struct stutter *s, const struct stutter_move *m, const char *class_name,
                   const char *observable, struct evidence *e, const char *summary)
{
    s->lost = true;
    if (!s->answer)
        return;
    struct divergence *d = ARENA_NEW(s->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_STUTTER,
                             .class_name = class_name,
                             .rule = m->rule,
                             .observable = observable,
                             .subject = s->leader,
                             .line = m->p_pc & PC_BLOCK ? 0 : evidence_line(s->p->program, m->p_pc),
                             .evidence = evidence_close(e),
                             .summary = summary,
                             .tape = record_copy(s->arena, s->record)};
    answer_diverge(s->answer, d);
}

void stutter_report_status(struct stutter *s, const struct stutter_move *m)
{
    const struct machine_head *p = s->p->head, *pi = s->pi->head;
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_string(&e, "interleave_status", status_names[p->status]);
    evidence_number(&e, "interleave_thread", p->fault_thread);
    evidence_string(&e, "predicated_status", status_names[pi->status]);
    evidence_number(&e, "predicated_thread", pi->fault_thread);
    report(s, m, "status", status_names[p->status == STATUS_RUNNING ? pi->status : p->status], &e,
           arena_printf(s->arena, "at %s P is %s, pi(P) %s", where(s, m), status_names[p->status],
                        status_names[pi->status]));
}

void stutter_report_control(struct stutter *s, const struct stutter_move *m, const char *observable)
{
    const struct block_thread *p = interleave_state(s->p, m->thread);
    const struct block_thread *pi = interleave_state(s->pi, m->thread);
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_number(&e, "v_active", image_active(&s->image, m->thread, m->function));
    evidence_string(&e, "interleave_now", point(s, s->p->program, p->pc));
    evidence_string(&e, "predicated_now", point(s, s->pi->program, pi->pc));
    report(s, m, "control", observable, &e,
           arena_printf(s->arena, "thread %u is at %s in P, at %s in pi(P): %s", m->thread,
                        point(s, s->p->program, p->pc), point(s, s->pi->program, pi->pc),
                        observable));
}

void stutter_report_word(struct stutter *s, const struct stutter_move *m,
                         const struct image_word *word)
{
    int32_t p = s->p->memory[word->p_address], pi = s->pi->memory[word->image_address];
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_string(&e, "location", word->name);
    if (word->thread != CODE_NONE)
        evidence_number(&e, "location_thread", word->thread);
    evidence_number(&e, "interleave_value", p);
    evidence_number(&e, "predicated_value", pi);
    report(s, m, "store", word->space, &e,
           arena_printf(s->arena, "after %s %s is %d in P, %d in pi(P)", where(s, m), word->name, p,
                        pi));
}

static void write_access(struct stutter *s, struct evidence *e, const char *key,
                         const struct image_access *a)
{
    if (!a)
        return;
    evidence_enter(e, key);
    evidence_string(e, "access", race_access_names[a->kind]);
    evidence_string(e, "location", program_location_name(s->arena, s->p->program, a->address));
    evidence_leave(e);
}

void stutter_report_accesses(struct stutter *s, const struct stutter_move *m)
{
    const struct image_access *p = image_missing_access(&s->p_accesses, &s->pi_accesses);
    struct evidence e;
    open_evidence(s, m, &e);
    write_access(s, &e, "only_in_interleave", p);
    write_access(s, &e, "only_in_predicated",
                 image_missing_access(&s->pi_accesses, &s->p_accesses));
    report(s, m, "accesses", p ? "of P" : "of pi(P)", &e,
           arena_printf(s->arena, "at %s P and pi(P) access other locations", where(s, m)));
}

void stutter_report_race(struct stutter *s, const struct stutter_move *m)
{
    bool p = s->p_races->found;
    const struct race_detector *races = p ? s->p_races : s->pi_races;
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_race(&e, "race", races->program, &races->witness);
    report(s, m, "race", p ? "only in P" : "only in pi(P)", &e,
           arena_printf(s->arena, "only %s races: %s", p ? "P" : "pi(P)",
                        evidence_race_sentence(s->arena, races->program, &races->witness)));
}
