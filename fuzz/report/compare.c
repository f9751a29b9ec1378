#include "fuzz/report/compare.h"

#include "engine/input/input.h"
#include "engine/subjects/forms.h"
#include "fuzz/case/example.h"
#include "fuzz/report/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct comparer {
    struct arena *arena, *scratch;
    const struct db_finding *finding;
    struct fuzz_case c;
    const struct ast_kernel *kernel;
    struct shown shown;
    struct forms *forms;
    struct comparison *result;
    bool followed; /* the other side follows the first, and could to its end */
    const char **why;
};

/* ---- what is run ---- */

static bool read_case(struct comparer *c, const char *text, bool minimised)
{
    const struct db_finding *f = c->finding;
    const char *case_text = minimised ? f->minimised.case_text : f->raw_case;
    const char *error;
    size_t column;
    struct diag *diag = ARENA_NEW(c->arena, struct diag);
    *c->why = "the stored case cannot be read by this version of simtfuzz";
    if (!case_parse(c->arena, case_text, &c->c, &error))
        return false;
    if (c->c.has_tape) {
        c->c.check.tape = tape_parse(c->arena, f->minimised.tape, &column);
        if (!c->c.check.tape)
            return false;
    }
    diag_init(diag, "kernel", text, strlen(text));
    c->kernel = parse_kernel(c->arena, text, strlen(text), diag);
    return c->kernel != NULL;
}

/* A raw case may show its divergence under another signature than the finding's, the minimised one's. */
static bool run_case(struct comparer *c)
{
    for (int relaxed = 0; relaxed < 2 && !c->shown.found; relaxed++)
        example_run(c->arena, c->scratch, c->kernel, &c->c.check, c->finding->signature, relaxed,
                    &c->shown);
    *c->why = "this version of simtfuzz no longer shows it";
    return c->shown.found;
}

static const struct program *program_of(struct comparer *c, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    if (!info->vtable)
        return NULL;
    const struct program *program = forms_get(c->forms, info->program)->program;
    return program && !machine_refuses(c->arena, info->vtable, program) ? program : NULL;
}

/* ---- what it is compared with ---- */

/* Where an oracle's evidence does not name the other side: what its theorem compares with. */
static enum subject_id other_side(enum oracle_id oracle, enum subject_id subject)
{
    switch ((int)oracle) {
    case ORACLE_SIMULATION:
    case ORACLE_LEMMAS:
    case ORACLE_LIVENESS:
        return SUBJECT_THREADS;
    case ORACLE_SAFETY:
        return subject == SUBJECT_THREAD_PC ? SUBJECT_CRS : SUBJECT_THREAD_PC;
    case ORACLE_LOCKSTEP:
        return SUBJECT_INTERLEAVE;
    case ORACLE_STUTTER:
        return subject == SUBJECT_PREDICATED ? SUBJECT_INTERLEAVE : SUBJECT_PREDICATED;
    case ORACLE_PHI:
        return subject == SUBJECT_SIMT_THEN ? SUBJECT_LOCKSTEP_ANCHORED_THEN
                                            : SUBJECT_LOCKSTEP_ANCHORED;
    case ORACLE_BARRIERS:
    case ORACLE_REFERENCE:
        return subject;
    default:
        break;
    }
    return SUBJECT_COUNT;
}

static enum subject_id reference(struct comparer *c, enum oracle_id oracle, enum subject_id subject)
{
    static const char *const keys[] = {"reference_subject", "other_subject", "threads"};
    enum subject_id other;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *name = report_evidence_value(c->arena, c->shown.evidence, keys[i]);
        if (name && subject_parse(name, strlen(name), &other))
            return other;
    }
    return other_side(oracle, subject);
}

static bool find_oracle(const char *name, enum oracle_id *oracle)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (strcmp(oracle_table[i].name, name) == 0) {
            *oracle = (enum oracle_id)i;
            return true;
        }
    return false;
}

/* ---- the executions ---- */

static void run_tape(struct comparer *c, const struct program *program, enum subject_id subject,
                     const char *text, const char *name, struct side *side)
{
    size_t column;
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct tape *tape = *text ? tape_parse(c->arena, text, &column) : NULL;
    if (tape)
        spec = (struct sched_spec){.kind = SCHED_TAPE, .tape = tape};
    c->result->runs[side - c->result->sides] = (struct compared){program, subject, spec};
    side_run(c->arena, program, subject, &spec, tape ? name : "sequential", side);
}

static void run_other(struct comparer *c, enum oracle_id oracle, enum subject_id subject,
                      const struct program *program, const struct program *first)
{
    struct side *sides = c->result->sides;
    bool has_tape = *c->shown.other_tape != '\0';
    if (!has_tape && program == first && subject == SUBJECT_THREADS) {
        struct tape *tape = tape_new(c->arena, SIDE_TAPE);
        c->followed = !side_follow(c->arena, program, subject, &sides[0], &sides[1], tape);
        c->result->runs[1] = (struct compared){
            program, subject, (struct sched_spec){.kind = SCHED_TAPE, .tape = tape}};
    } else if (!has_tape && oracle == ORACLE_SAFETY)
        run_tape(c, program, subject, c->shown.tape, "the same tape", &sides[1]);
    else
        run_tape(c, program, subject, c->shown.other_tape, "its own tape", &sides[1]);
}

/* ---- where they part ---- */

/* The step that the evidence numbers, found by its rule: oracles count from 0 or from 1. */
static uint32_t step_of_oracle(struct comparer *c, const struct side *side)
{
    const char *number = report_evidence_value(c->arena, c->shown.evidence, "step");
    if (!number)
        return side->step_count;
    uint64_t step = strtoull(number, NULL, 10);
    for (uint64_t offset = 0; offset < 2; offset++)
        for (uint32_t i = 0; i < side->step_count; i++)
            if (side->steps[i].number == step + offset &&
                strcmp(side->steps[i].rule, c->shown.rule) == 0)
                return i;
    return step > 0 && step <= side->step_count ? (uint32_t)step - 1 : side->step_count;
}

/* What a thread did, in order: lines, each once while it stays there, and what its steps wrote. */
struct deeds {
    uint32_t count;
    uint32_t steps[SIDE_STEPS_MAX]; /* of which step */
    uint32_t lines[SIDE_STEPS_MAX];
};

static void collect(const struct side *side, uint32_t thread, struct deeds *deeds)
{
    deeds->count = 0;
    for (uint32_t i = 0; i < side->step_count; i++) {
        const struct side_step *step = &side->steps[i];
        bool again = deeds->count > 0 && deeds->lines[deeds->count - 1] == step->line;
        if (!(step->ran >> thread & 1) || step->line == 0 || again)
            continue;
        deeds->steps[deeds->count] = i;
        deeds->lines[deeds->count++] = step->line;
    }
}

struct parting {
    bool known;
    uint32_t thread;
    uint32_t at[2];
    uint32_t lines[2]; /* 0: the thread goes nowhere any more */
};

/* The first line at which the thread goes elsewhere than on the other side. Where one side's record ends
 * while it was still running nothing is known. */
static void compare_thread(const struct side *sides, uint32_t thread, struct deeds *deeds,
                           struct parting *best)
{
    collect(&sides[0], thread, &deeds[0]);
    collect(&sides[1], thread, &deeds[1]);
    uint32_t i = 0;
    while (i < deeds[0].count && i < deeds[1].count && deeds[0].lines[i] == deeds[1].lines[i])
        i++;
    struct parting p = {.known = true, .thread = thread};
    for (int s = 0; s < 2; s++) {
        bool more = i < deeds[s].count;
        if (!more && (sides[s].total > sides[s].step_count || deeds[1 - s].count <= i))
            return;
        p.at[s] = more ? deeds[s].steps[i] : sides[s].step_count ? sides[s].step_count - 1 : 0;
        p.lines[s] = more ? deeds[s].lines[i] : 0;
    }
    if (!best->known || p.at[0] < best->at[0])
        *best = p;
}

static const char *goes(struct arena *arena, const char *subject, uint32_t line)
{
    return line ? arena_printf(arena, "%s takes it to line %" PRIu32, subject, line)
                : arena_printf(arena, "%s takes it nowhere", subject);
}

static void part_by_lines(struct comparer *c)
{
    struct side *sides = c->result->sides;
    struct parting best = {.known = false};
    size_t mark = arena_mark(c->scratch);
    struct deeds *deeds = ARENA_ARRAY(c->scratch, struct deeds, 2);
    for (uint32_t t = 0; t < side_lanes(&sides[0]) && t < side_lanes(&sides[1]); t++)
        compare_thread(sides, t, deeds, &best);
    arena_release(c->scratch, mark);
    if (!best.known)
        return;
    for (int s = 0; s < 2; s++)
        if (sides[s].parts == sides[s].step_count)
            sides[s].parts = best.at[s];
    c->result->parting = arena_printf(c->arena, "Thread %" PRIu32 " is the first to part: %s, %s.",
                                      best.thread, goes(c->arena, sides[0].subject, best.lines[0]),
                                      goes(c->arena, sides[1].subject, best.lines[1]));
}

/* Threads that follow a warp are where it is. */
static void part_follower(struct side *sides)
{
    for (uint32_t i = 0; i < sides[1].step_count && sides[0].parts < sides[0].step_count; i++)
        if (sides[1].steps[i].leader >= sides[0].parts) {
            sides[1].parts = i;
            return;
        }
}

static void find_parting(struct comparer *c, enum oracle_id oracle, bool same_program)
{
    struct side *sides = c->result->sides;
    uint32_t step = step_of_oracle(c, &sides[0]);
    if (step < sides[0].step_count) {
        sides[0].parts = step;
        c->result->parting =
            arena_printf(c->arena, "The oracle speaks at step %" PRIu64 " of %s, rule %s.",
                         sides[0].steps[step].number, sides[0].subject, sides[0].steps[step].rule);
    }
    if (!sides[1].subject)
        return;
    if (oracle == ORACLE_SAFETY && step < sides[1].step_count)
        sides[1].parts = step;
    if (c->followed)
        part_follower(sides);
    if (same_program && sides[0].parts == sides[0].step_count)
        part_by_lines(c);
    if (!*c->result->parting && sides[0].parts < sides[0].step_count)
        c->result->parting =
            arena_printf(c->arena, "From step %" PRIu64 " of %s on, the threads no longer follow.",
                         sides[0].steps[sides[0].parts].number, sides[0].subject);
}

static bool run_sides(struct comparer *c)
{
    enum oracle_id oracle;
    enum subject_id subject;
    const struct program *first, *second = NULL;
    *c->why = "the oracle or the subject is unknown to this version of simtfuzz";
    if (!find_oracle(c->shown.oracle, &oracle) ||
        !subject_parse(c->shown.subject, strlen(c->shown.subject), &subject))
        return false;
    *c->why = "the subject has no machine whose steps could be shown";
    first = program_of(c, subject);
    if (!first)
        return false;
    enum subject_id other = reference(c, oracle, subject);
    if (other != SUBJECT_COUNT)
        second = program_of(c, other);
    run_tape(c, first, subject, c->shown.tape, "its tape", &c->result->sides[0]);
    if (second)
        run_other(c, oracle, other, second, first);
    find_parting(c, oracle, first == second);
    return true;
}

const struct comparison *compare_finding(struct arena *arena, struct arena *scratch,
                                         const struct db_finding *finding, const char *kernel,
                                         bool minimised, const char **why)
{
    struct comparer c = {.arena = arena, .scratch = scratch, .finding = finding, .why = why};
    enum oracle_id oracle;
    *why = "it is not an oracle's finding: there are no two executions";
    if (!find_oracle(finding->oracle, &oracle))
        return NULL;
    if (!read_case(&c, kernel, minimised) || !run_case(&c))
        return NULL;
    c.forms = forms_new(arena, c.kernel);
    c.result = ARENA_NEW(arena, struct comparison);
    c.result->summary = c.shown.summary ? c.shown.summary : "";
    c.result->parting = "";
    c.result->kernel = c.kernel;
    return run_sides(&c) ? c.result : NULL;
}
