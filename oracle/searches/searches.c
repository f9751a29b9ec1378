#include "oracle/searches/searches.h"

#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/machine/symmetry.h"
#include "engine/reference/ref_all.h"
#include "engine/search/search_symmetry.h"
#include "oracle/check/evidence.h"
#include "oracle/searches/footprint.h"
#include "oracle/searches/searches_bounds.h"
#include "oracle/searches/searches_internal.h"

#include <string.h>

enum { SEARCHES_SEED = 19 /* tells this draw from others */ };

static const struct search_options bounds = {.max_states = 1 << 14,
                                             .max_bytes = 16 << 20,
                                             .max_steps = 1 << 18,
                                             .max_depth = 256,
                                             .max_outcomes = SEARCHES_STATES};

/* ---- ends ---- */

static bool same_outcome(const struct ref_all *all, const struct ref_all_outcome *a,
                         const struct search_outcome *b)
{
    return strcmp(ref_end_names[a->end], status_names[b->status]) == 0 &&
           (a->end != REF_TERMINATED ||
            memcmp(a->store, b->store, all->words * sizeof *a->store) == 0);
}

const char *searches_missed(const struct ref_all *all, const struct search_result *found)
{
    for (uint32_t i = 0; i < all->outcome_count; i++) {
        uint32_t k = 0;
        while (k < found->outcome_count &&
               !same_outcome(all, &all->outcomes[i], &found->outcomes[k]))
            k++;
        if (k == found->outcome_count)
            return "outcome missed";
    }
    return NULL;
}

const char *searches_made_up(const struct ref_all *all, const struct search_result *found)
{
    for (uint32_t k = 0; k < found->outcome_count; k++) {
        uint32_t i = 0;
        while (i < all->outcome_count && !same_outcome(all, &all->outcomes[i], &found->outcomes[k]))
            i++;
        if (i == all->outcome_count)
            return "outcome that is none";
    }
    return NULL;
}

static const char *compare_outcomes(const struct ref_all *all, const struct search_result *found)
{
    const char *differs = searches_missed(all, found);
    return differs ? differs : searches_made_up(all, found);
}

/* ---- one way to search ---- */

struct way {
    const char *name;
    enum search_method method;
    bool merge_local;
    bool alike; /* up to the places of threads that are alike; states say who has begun */
};

/* What chooses one of the others is asked last: what those have is not put down to it. */
static const struct way ways[] = {{"states", SEARCH_STATES, false, false},
                                  {"dpor", SEARCH_DPOR, false, false},
                                  {"sleep", SEARCH_SLEEP, false, false},
                                  {"states, local steps merged", SEARCH_STATES, true, false},
                                  {"states, threads alike", SEARCH_STATES, true, true},
                                  {"auto", SEARCH_AUTO, false, false}};

static uint32_t count_ends(const struct ref_all *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->state_count; i++)
        count += all->states[i].over;
    return count;
}

/* An operand that only some executions of a statement evaluate: searches go by what it may access. */
static bool has_conditional_reads(const struct program *program)
{
    for (uint32_t i = 0; i < program->op_count; i++)
        if (program->ops[i].op == OP_AND_JUMP || program->ops[i].op == OP_OR_JUMP ||
            program->ops[i].op == OP_JUMP_ZERO)
            return true;
    return false;
}

static const char *compare_counts(const struct searched *s, const struct way *way,
                                  const struct search_result *found)
{
    uint64_t count;
    if (has_conditional_reads(s->program))
        return NULL;
    if (way->method == SEARCH_DPOR && searches_trace_count(s, &count) && found->executions != count)
        return "executions";
    bool by_access = s->subject == SUBJECT_THREADS || s->subject == SUBJECT_SIMT;
    if (by_access && way->merge_local && !way->alike && searches_merged_states(s, &count) &&
        found->states != count)
        return "states";
    return NULL;
}

static const char *compare(struct searched *s, const struct way *way,
                           const struct search_result *found)
{
    const char *differs = compare_outcomes(&s->all, found);
    bool states = found->method == SEARCH_STATES && !way->merge_local;
    /* What is read unseen orders threads, which search_run takes for no order. */
    bool seen = !program_chooses_by_memory(s->program);
    if (!differs && seen && (states || found->method == SEARCH_DPOR) && found->race != s->all.race)
        differs = found->race ? "race that is none" : "race missed";
    /* With sleep sets fewer steps are taken, and each state is reached. */
    if (!differs && (states || way->method == SEARCH_SLEEP) &&
        (found->states != s->all.state_count || found->ends != count_ends(&s->all)))
        differs = "states";
    if (!differs && (states || (found->method == SEARCH_DPOR && !search_has_loop(s->program))) &&
        found->liveness != searches_liveness(s))
        differs = "liveness";
    if (!differs && states && found->own_choices != s->all.own_choices)
        differs = "own choices";
    if (!differs && way->method == SEARCH_STATES)
        differs = searches_progress(s, &s->progress, states);
    if (!differs)
        differs = compare_counts(s, way, found);
    return differs ? differs : searches_witnesses(s, found);
}

bool searches_of_threads(enum subject_id subject)
{
    return subject_table[subject].vtable->actors == ACTORS_THREADS;
}

void searches_use_symmetry(struct arena *arena, struct machine *machine, struct search_options *how)
{
    const struct symmetry *symmetry = symmetry_new(arena, machine);
    if (symmetry && machine->actor_count != machine->program->total_threads)
        machine->options.symmetry = symmetry;
    else if (symmetry && search_has_quotient(machine))
        how->symmetry = symmetry;
}

/* All executions are known, so that of the bounds only two can be come to: a loop has executions of any length, and
 * reduction takes them one by one; where it was taken first, its steps are not left for the other (search.h). */
static bool may_give_up(const struct searched *s, const struct way *way,
                        const struct search_result *found)
{
    if (strcmp(found->cut, "steps") == 0)
        return found->method == SEARCH_DPOR || way->method == SEARCH_AUTO;
    return strcmp(found->cut, "depth") == 0 &&
           (found->method != SEARCH_STATES || s->all.state_count > bounds.max_depth);
}

static const char *search_way(struct searched *s, const struct way *way)
{
    static const uint64_t masks[] = {0, 0x0f, 0xff000000ff, 1};
    struct search_options how = bounds;
    struct machine_options with = subject_table[s->subject].options;
    with.note_begun = way->alike && searches_of_threads(s->subject);
    how.method = way->method;
    how.merge_local = how.no_races = how.no_lasso = way->merge_local;
    how.hash_mask =
        masks[(s->all.edge_count + (uint32_t)(way - ways)) % 4]; /* so that states collide */
    s->progress = (struct progress){.unit_of = s->units.unit_of, .unit_count = s->units.count};
    s->progress.ask_random = s->subject == SUBJECT_THREADS && !way->merge_local;
    if (way->method == SEARCH_STATES)
        progress_ask(&how, &s->progress);
    struct machine *machine =
        search_machine_with(s->arena, subject_table[s->subject].vtable, s->program, &with);
    if (way->alike)
        searches_use_symmetry(s->arena, machine, &how);
    size_t free_bytes = s->arena->size - s->arena->used;
    const struct search_result *found = search_run(s->arena, machine, &how);
    const char *differs = searches_gave_up(found, &how, machine, free_bytes);
    if (!differs && found->cut && !may_give_up(s, way, found))
        differs = arena_printf(s->arena, "gave up what is small, its %s", found->cut);
    if (!differs && (found->cut || (way->method != SEARCH_AUTO && found->method != way->method) ||
                     (way->alike && found->own_choices))) /* then they are not: symmetry.h */
        return NULL;
    if (!differs)
        differs = compare(s, way, found);
    return differs ? arena_printf(s->arena, "%s: %s", way->name, differs) : NULL;
}

/* Where threads may change places each is a unit. */
static const char *search(struct searched *s, const struct way *way)
{
    struct searched_units units = s->units;
    if (way->alike)
        s->units = s->each;
    const char *differs = search_way(s, way);
    if (way->alike)
        s->units = units;
    return differs;
}

/* pi(P) ends in all the ways of P, and in no others (lockstep-cfg Thm. 5.5). Its own steps are local. */
static const char *search_predicated(struct searched *s, const struct program *program)
{
    const struct subject_info *subject = &subject_table[SUBJECT_PREDICATED];
    struct search_options how = bounds;
    how.method = SEARCH_STATES;
    how.merge_local = how.no_races = how.no_lasso = true;
    if (!program)
        return NULL;
    const struct search_result *found = search_run(
        s->arena, search_machine_with(s->arena, subject->vtable, program, &subject->options), &how);
    const char *differs = found->complete && !found->cut ? compare_outcomes(&s->all, found) : NULL;
    return differs ? arena_printf(s->arena, "predicated: %s", differs) : NULL;
}

/* ---- one kernel ---- */

static struct searched_units units_of(const struct searched *s, uint32_t each, uint32_t count)
{
    struct searched_units units = {.count = count};
    uint8_t *final = ARENA_ARRAY(s->arena, uint8_t, s->all.state_count),
            *live = ARENA_ARRAY(s->arena, uint8_t, s->all.state_count);
    for (uint32_t a = 0; a < s->actors; a++)
        units.unit_of[a] = a / each < count ? a / each : count - 1;
    for (uint32_t i = 0; i < s->all.state_count; i++) {
        final[i] = (uint8_t)((1u << count) - 1);
        for (uint32_t a = 0; a < s->actors; a++) {
            uint8_t unit = (uint8_t)(1u << units.unit_of[a]);
            final[i] &= s->all.states[i].final[a] ? 0xff : (uint8_t)~unit;
            live[i] |= s->all.states[i].live[a] ? unit : 0;
        }
    }
    units.final = final;
    units.live = live;
    return units;
}

/* Units are actors, or two of them, or all are one; where there is more than one block, blocks. */
static void draw_units(struct searched *s)
{
    uint32_t draw = s->all.edge_count % 4, blocks = s->program->launch.blocks;
    s->each = s->units = units_of(s, 1, s->actors);
    if (draw == 0)
        s->units = units_of(s, s->actors / blocks, blocks);
    else if (draw == 1 && s->actors > 2)
        s->units = units_of(s, 2, s->actors / 2);
}

static bool take_all(struct searched *s, uint32_t most_states)
{
    static const struct ref_options options = {.then_first = false};
    const char *why;
    enum ref_kind kind;
    if (!ref_find(subject_table[s->subject].vtable->name, &kind))
        return false;
    struct ref *r =
        ref_new(s->arena, ref_room_new(s->arena), s->program->core, kind, &options, &why);
    const struct machine *machine = machine_new(s->arena, subject_table[s->subject].vtable,
                                                s->program, &subject_table[s->subject].options);
    if (!r)
        return false;
    ref_all(s->arena, r, machine->memory, most_states, &s->all);
    s->actors = r->actor_count;
    draw_units(s);
    return !s->all.cut;
}

const char *searches_differ(struct arena *arena, enum subject_id subject, const char *text,
                            uint32_t most_states, const char **unknown)
{
    struct searched s = {.arena = arena, .subject = subject};
    const char *differs = NULL;
    struct ast_kernel *kernel = parse_printed(arena, text);
    struct forms *forms = forms_new(arena, kernel);
    const struct form *form = forms_get(forms, subject_table[subject].program);
    s.program = form->program;
    *unknown = form->reason;
    if (!s.program)
        return NULL;
    if (!take_all(&s, most_states)) {
        *unknown = s.all.cut ? s.all.cut : "size";
        return NULL;
    }
    if (!search_has_loop(s.program) && searches_liveness(&s) != LIVENESS_ALL_TERMINATE)
        return "auto: a loop that is none";
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways && !differs; i++)
        differs = search(&s, &ways[i]);
    if (!differs)
        differs = searches_bounds(&s, &bounds);
    if (!differs)
        differs = searches_lassos(&s);
    if (!differs)
        differs = searches_tapes(&s);
    if (!differs && subject == SUBJECT_INTERLEAVE)
        differs = search_predicated(&s, forms_get(forms, PROGRAM_PREDICATED)->program);
    const char *footprint = differs ? footprint_differs(arena, s.program) : NULL;
    return footprint ? footprint : differs;
}

const char *searches_other_differs(struct arena *arena, const struct searched_text *drawn,
                                   const char **unknown)
{
    struct searched s = {.arena = arena, .subject = SUBJECT_THREADS};
    const struct ref_all *all = NULL;
    if (drawn->of_threads) {
        struct forms *forms = forms_new(arena, parse_printed(arena, drawn->of_threads));
        s.program = forms_get(forms, PROGRAM_CORE)->program;
        all = take_all(&s, SEARCHES_STATES) ? &s.all : NULL;
    }
    return searches_machines_differ(arena, drawn->subject, drawn->text, all, unknown);
}

/* ---- the oracle ---- */

/* A fault of a search shows as this or that; what is the same is which search it is, or that models are judged. */
static const char *observable_of(struct arena *arena, const char *differs)
{
    if (strstr(differs, ": progress"))
        return "progress";
    if (strstr(differs, "tape")) /* what is found is right, and its witness is not */
        return "witnesses";
    return arena_strndup(arena, differs, (size_t)(strchr(differs, ':') - differs));
}

static void diverge(struct checking *c, enum subject_id subject, const char *text,
                    const char *differs)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "kernel", text);
    evidence_string(&e, "subject", subject_table[subject].name);
    evidence_string(&e, "differs", differs);
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = "searches",
                             .rule = RULE_NONE,
                             .observable = observable_of(c->arena, differs),
                             .subject = subject,
                             .evidence = evidence_close(&e),
                             .drawn = true,
                             .about = parse_printed(c->arena, text)};
    d->part = d->observable;
    d->like = strcmp(d->part, FOOTPRINT) == 0 ? "program" : NULL;
    d->summary = arena_printf(c->arena, "all executions of `%s` under %s, by the search `%s`", text,
                              subject_table[subject].name, differs);
    answer_diverge(&c->result->answers[ORACLE_RESULT], d);
}

/* A tiny kernel, or a small one; of these few may have many states, as their searches take as long as ten others. */
static void judge_reference(struct checking *c, uint64_t draw, bool tiny)
{
    static const enum subject_id subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE, SUBJECT_SIMT,
                                               SUBJECT_LOCKSTEP};
    enum subject_id subject = subjects[draw % (sizeof subjects / sizeof *subjects)];
    uint32_t most_states = tiny || (draw >> 2) % 8 ? SEARCHES_FEW_STATES : SEARCHES_STATES;
    const char *unknown, *text = tiny ? searches_tiny_text(c->arena, subject, draw >> 8)
                                      : searches_text(c->arena, subject, draw >> 8);
    const char *differs = searches_differ(c->arena, subject, text, most_states, &unknown);
    if (differs)
        diverge(c, subject, text, differs);
}

static void judge_others(struct checking *c, uint64_t draw)
{
    const struct searched_text drawn = searches_machines_text(c->arena, draw);
    const char *unknown, *differs = searches_other_differs(c->arena, &drawn, &unknown);
    if (differs)
        diverge(c, drawn.subject, drawn.text, differs);
}

void searches_judge(struct checking *c)
{
    const struct answer *answer = &c->result->answers[ORACLE_RESULT];
    uint64_t draw = pcg_splitmix(c->options->seed + SEARCHES_SEED);
    size_t mark = arena_mark(c->arena);
    if (c->options->seed == 0)
        return;
    judge_reference(c, draw >> 8, true);
    if (answer->verdict != VERDICT_DIVERGE)
        judge_reference(c, draw >> 12, draw >> 4 & 1);
    if (answer->verdict != VERDICT_DIVERGE && draw % SEARCHES_SHARE == 0)
        judge_others(c, draw >> 16);
    if (answer->verdict != VERDICT_DIVERGE)
        arena_release(c->arena, mark);
}
