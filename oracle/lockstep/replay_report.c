#include "oracle/lockstep/replay_internal.h"

#include "oracle/check/evidence.h"
#include "oracle/check/record.h"

/* "block 'B'", "End", "line 7". */
static const char *point(struct replay *r, const struct program *program, uint32_t pc)
{
    if (pc == PC_END)
        return "End";
    if (pc & PC_BLOCK)
        return arena_printf(r->arena, "block '%s'", program->blocks[pc & ~PC_BLOCK].name);
    return evidence_statement(r->arena, program, pc);
}

static const char *where(struct replay *r, const struct replay_move *m)
{
    return point(r, r->phi->program, m->pc);
}

static void open_evidence(struct replay *r, const struct replay_move *m, struct evidence *e)
{
    evidence_open(e, r->arena);
    evidence_string(e, "at", where(r, m));
    evidence_number(e, "block", m->block);
    evidence_number(e, "lockstep_step", (int64_t)r->phi_steps);
    evidence_number(e, "interleave_steps", (int64_t)r->p_steps);
    if (m->rule != RULE_NONE)
        evidence_string(e, "rule", rule_table[m->rule].name);
}

static void report(struct replay *r, const struct replay_move *m, const char *class_name,
                   const char *observable, struct evidence *e, const char *summary)
{
    r->lost = true;
    if (!r->answer)
        return;
    struct divergence *d = ARENA_NEW(r->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_LOCKSTEP,
                             .class_name = class_name,
                             .rule = m->rule,
                             .observable = observable,
                             .subject = SUBJECT_LOCKSTEP,
                             .line = evidence_line(r->phi->program, m->stm),
                             .evidence = evidence_close(e),
                             .summary = summary,
                             .tape = record_copy(r->arena, r->record)};
    answer_diverge(r->answer, d);
}

void report_status(struct replay *r, const struct replay_move *m)
{
    const struct machine_head *phi = r->phi->head, *p = r->p->head;
    uint32_t status = phi->status == STATUS_RUNNING ? p->status : phi->status;
    struct evidence e;
    open_evidence(r, m, &e);
    evidence_string(&e, "lockstep_status", status_names[phi->status]);
    evidence_number(&e, "lockstep_thread", phi->fault_thread);
    evidence_string(&e, "interleave_status", status_names[p->status]);
    evidence_number(&e, "interleave_thread", p->fault_thread);
    report(r, m, "status", status_names[status], &e,
           arena_printf(r->arena, "after %s the lock-step program is %s (thread %u), P %s (%u)",
                        where(r, m), status_names[phi->status], phi->fault_thread,
                        status_names[p->status], p->fault_thread));
}

void report_control(struct replay *r, const struct replay_move *m, uint32_t thread,
                    const char *observable)
{
    const struct block_thread *T = interleave_state(r->p, thread);
    const struct program *p = r->p->program;
    uint32_t active = image_active(&r->image, thread, m->function);
    const char *block = active == 0               ? "End"
                        : active > p->block_count ? "no block"
                                                  : p->blocks[active - 1].name;
    struct evidence e;
    open_evidence(r, m, &e);
    evidence_number(&e, "thread", thread);
    evidence_string(&e, "v_active", block);
    evidence_number(&e, "lockstep_frames", m->frames);
    evidence_string(&e, "interleave", point(r, p, T->pc));
    evidence_number(&e, "interleave_frames", T->frames);
    evidence_string(&e, "waiting", T->waiting ? "yes" : "no");
    report(r, m, "control", observable, &e,
           arena_printf(r->arena, "at %s thread %u is in '%s' in lock-step, at %s in P",
                        where(r, m), thread, block, point(r, p, T->pc)));
}

void report_word(struct replay *r, const struct replay_move *m, const struct image_word *word)
{
    int32_t phi = r->phi->memory[word->image_address], p = r->p->memory[word->p_address];
    struct evidence e;
    open_evidence(r, m, &e);
    evidence_string(&e, "location", word->name);
    if (word->thread != CODE_NONE)
        evidence_number(&e, "thread", word->thread);
    evidence_number(&e, "lockstep_value", phi);
    evidence_number(&e, "interleave_value", p);
    report(r, m, "store", word->space, &e,
           arena_printf(r->arena, "after %s %s is %d in lock-step, %d in P", where(r, m),
                        word->name, phi, p));
}

static void write_access(struct replay *r, struct evidence *e, const char *key,
                         const struct image_access *a)
{
    if (!a)
        return;
    evidence_enter(e, key);
    evidence_number(e, "thread", a->thread);
    evidence_string(e, "access", race_access_names[a->kind]);
    evidence_string(e, "location", program_location_name(r->arena, r->p->program, a->address));
    evidence_leave(e);
}

void report_access(struct replay *r, const struct replay_move *m, const struct image_access *phi,
                   const struct image_access *p)
{
    struct evidence e;
    open_evidence(r, m, &e);
    write_access(r, &e, "only_in_lockstep", phi);
    write_access(r, &e, "only_in_interleave", p);
    report(r, m, "accesses", phi ? "of lock-step" : "of P", &e,
           arena_printf(r->arena, "at %s lock-step and P access other locations", where(r, m)));
}

void report_race(struct replay *r, const struct replay_move *m)
{
    bool phi = r->phi_races->found;
    const struct race_detector *races = phi ? r->phi_races : r->p_races;
    struct evidence e;
    open_evidence(r, m, &e);
    evidence_race(&e, "race", races->program, &races->witness);
    report(r, m, "race", phi ? "only in lock-step" : "only in P", &e,
           arena_printf(r->arena, "only %s races: %s", phi ? "the lock-step program" : "P",
                        evidence_race_sentence(r->arena, races->program, &races->witness)));
}

void report_sync(struct replay *r, const struct replay_move *m, const char *observable,
                 const char *sentence)
{
    struct evidence e;
    open_evidence(r, m, &e);
    evidence_string(&e, "interleave_status", status_names[r->p->head->status]);
    report(r, m, "sync", observable, &e,
           arena_printf(r->arena, "at %s: %s", where(r, m), sentence));
}

void report_loop(struct replay *r, const struct replay_move *m, uint32_t thread, const char *head)
{
    struct evidence e;
    open_evidence(r, m, &e);
    evidence_number(&e, "thread", thread);
    evidence_string(&e, "loop", head);
    report(r, m, "semi", "loop", &e,
           arena_printf(r->arena, "thread %u enters the loop of '%s' while it is run without it",
                        thread, head));
}
