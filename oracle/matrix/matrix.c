#include "engine/base/invariant.h"
#include "engine/base/stop.h"
#include "engine/crs/crs.h"
#include "engine/machine/symmetry.h"
#include "engine/program/ptx_code.h"
#include "engine/progress/lasso.h"
#include "engine/search/search_symmetry.h"
#include "oracle/matrix/matrix_internal.h"

#include <inttypes.h>
#include <string.h>

const struct matrix_options MATRIX_DEFAULTS = {.max_states = 1 << 20,
                                               .max_bytes = (uint64_t)512 << 20,
                                               .budget_steps = 1 << 18,
                                               .sample_steps = 1 << 22,
                                               .symmetry = MATRIX_SYMMETRY_LARGE};

/* Steps of a search for each state that it may keep: one of each actor, and so many for choices inside. */
enum { CHOICES_A_STATE = 15 };

enum { ROWS = 64 };

struct making {
    struct arena *arena;
    struct forms *forms;
    const struct matrix_options *options;
    struct matrix matrix;
    const char *must_end; /* why all executions of single threads do, without a search; or NULL */
    uint32_t told;        /* rows that the listener has heard of */
};

/* The rows so far are as they will be. */
static void tell_rows(struct making *m)
{
    const struct matrix_listener *listener = m->options->listener;
    for (; m->told < m->matrix.count; m->told++)
        if (listener && listener->row)
            listener->row(listener->context, &m->matrix.rows[m->told]);
}

/* Something that may take long begins. Answers whether it is to be left out: why; or NULL. */
static const char *begin_part(const struct making *m)
{
    const struct matrix_listener *listener = m->options->listener;
    if (listener && listener->part)
        listener->part(listener->context);
    return stop_reason(m->options->stop);
}

static bool is_known(const char *model)
{
    for (uint32_t i = 0; i < matrix_model_count; i++)
        if (strcmp(model, matrix_model_names[i]) == 0)
            return true;
    return false;
}

static struct matrix_row *add_row(struct making *m, const char *model, enum subject_id subject,
                                  enum matrix_unit unit)
{
    INVARIANT(is_known(model) && m->matrix.count < ROWS); /* engine/kernel/matrix_rows.c */
    struct matrix_row *row = &m->matrix.rows[m->matrix.count++];
    *row =
        (struct matrix_row){.model = model,
                            .subject = subject,
                            .program = forms_get(m->forms, subject_table[subject].program)->program,
                            .unit = unit};
    return row;
}

/* What the subject runs; NULL with *reason. */
static const struct program *program_of(struct making *m, enum subject_id subject,
                                        const char **reason)
{
    const struct subject_info *info = &subject_table[subject];
    const struct form *form = forms_get(m->forms, info->program);
    *reason = form->reason;
    if (form->program)
        *reason = machine_refuses(m->arena, info->vtable, form->program);
    return *reason ? NULL : form->program;
}

static struct machine *machine_of(struct making *m, enum subject_id subject,
                                  const struct program *program)
{
    const struct subject_info *info = &subject_table[subject];
    return search_machine_with(m->arena, info->vtable, program, &info->options);
}

static void explain(struct making *m, struct matrix_row *row, struct machine *machine,
                    const char *cannot)
{
    const struct matrix_loop loop = {machine, row->stem, row->loop, cannot};
    row->sentence = matrix_explain(m->arena, &loop);
}

/* ---- progress models, and warps with stacks: on the graph of all states ---- */

static uint32_t *units_of(struct making *m, const struct program *program, uint32_t actors,
                          enum matrix_unit unit, uint32_t *count)
{
    uint32_t *unit_of = ARENA_ARRAY(m->arena, uint32_t, actors);
    bool threads = actors == program->total_threads;
    *count = 0;
    for (uint32_t i = 0; i < actors; i++) {
        uint32_t in_block = threads ? program->launch.threads : program->warps_per_block;
        if (unit == MATRIX_BLOCKS)
            unit_of[i] = i / in_block;
        else if (unit == MATRIX_WARPS && threads)
            unit_of[i] =
                i / in_block * program->warps_per_block + i % in_block / program->launch.warp;
        else
            unit_of[i] = i;
        *count = unit_of[i] + 1;
    }
    return unit_of;
}

/* `models` as in struct progress. */
static struct progress *new_progress(struct making *m, const struct machine *machine,
                                     enum matrix_unit unit, uint32_t models)
{
    struct progress *progress = ARENA_NEW(m->arena, struct progress);
    progress->unit_of =
        units_of(m, machine->program, machine->actor_count, unit, &progress->unit_count);
    progress->models = models;
    return progress;
}

static struct search_options search_options_of(const struct making *m,
                                               const struct machine *machine,
                                               struct progress *progress, uint64_t max_states)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = SEARCH_STATES;
    options.max_states = max_states;
    options.max_bytes = m->options->max_bytes;
    /* A step with choices inside may have any number of successors, few of them different. */
    uint64_t each = m->options->steps_a_state ? m->options->steps_a_state
                                              : machine->actor_count + CHOICES_A_STATE;
    options.max_steps = max_states > UINT64_MAX / each ? UINT64_MAX : each * max_states;
    options.max_depth = UINT32_MAX;
    options.max_outcomes = 1 << 16;
    options.no_races = options.no_lasso = true;
    options.merge_local = machine->actor_count > 1 && !m->options->no_merging;
    progress_ask(&options, progress);
    options.stop = m->options->stop;
    return options;
}

/* States up to changing the places of threads that are alike: by the orders of atomics that warps need, or, where
 * actors are threads, of whole states. NULL: that does not hold for this kernel. */
static struct search_result *search_alike(struct making *m, const struct machine *of,
                                          struct progress *progress)
{
    struct machine_options with = of->options;
    bool threads = of->actor_count == of->program->total_threads;
    with.note_begun = threads;
    struct machine *machine = search_machine_with(m->arena, of->semantics, of->program, &with);
    struct search_options options = search_options_of(m, machine, progress, m->options->max_states);
    const struct symmetry *symmetry = symmetry_new(m->arena, machine);
    if (!symmetry || (threads && !search_has_quotient(machine)))
        return NULL;
    options.symmetry = threads ? symmetry : NULL;
    machine->options.symmetry = threads ? NULL : symmetry;
    struct search_result *result = search_run(m->arena, machine, &options);
    result->up_to_symmetry = true;
    return result->own_choices ? NULL : result;
}

/* A small graph is searched as it is; of a larger one it is enough to search what is the same up to changing the
 * places of threads that are alike (engine/machine/symmetry.h), where that can be shown. */
static struct search_result *search(struct making *m, struct machine *machine,
                                    struct progress *progress)
{
    enum { SMALL = 1 << 13 };
    enum matrix_symmetry symmetry =
        machine->program->launch.warp > 1 ? m->options->symmetry : MATRIX_SYMMETRY_NONE;
    uint64_t most = m->options->max_states;
    uint64_t first = symmetry == MATRIX_SYMMETRY_LARGE && most > SMALL ? SMALL : most;
    struct search_options options = search_options_of(m, machine, progress, first);
    size_t mark = arena_mark(m->arena);
    struct search_result *result = NULL;
    begin_part(m);
    if (symmetry != MATRIX_SYMMETRY_ALL) {
        result = search_run(m->arena, machine, &options);
        if (result->complete || stop_reason(m->options->stop) || symmetry == MATRIX_SYMMETRY_NONE)
            return result;
        arena_release(m->arena, mark);
    }
    result = search_alike(m, machine, progress);
    if (result)
        return result;
    arena_release(m->arena, mark);
    options = search_options_of(m, machine, progress, most);
    return search_run(m->arena, machine, &options);
}

static void take_endings(struct matrix_row *row, const struct search_result *result)
{
    row->ends_in = 0;
    for (uint32_t i = 0; i < result->outcome_count; i++)
        row->ends_in |= 1u << result->outcomes[i].status;
    row->ends_in_all = result->complete && !result->cut;
}

/* Of a row that its search left unknown: ends where Lemma 6 says so. */
static bool take_lemma6(struct making *m, struct matrix_row *row)
{
    const char *lemma = matrix_lemma6_ends(m->arena, m->matrix.lemma6, row->subject);
    if (!lemma)
        return false;
    row->verdict = PROGRESS_ENDS;
    row->why = lemma;
    return true;
}

static void take_answer(struct making *m, struct matrix_row *row, struct machine *machine,
                        const struct progress_answer *answer, const struct search_result *result,
                        const char *cannot)
{
    row->verdict = answer->verdict;
    take_endings(row, result);
    if (answer->verdict == PROGRESS_UNKNOWN) {
        if (take_lemma6(m, row))
            return;
        row->why = result->cut ? arena_printf(m->arena, "the search was cut off: %s", result->cut)
                               : "more than 64 units";
        return;
    }
    row->states = result->states;
    row->why = arena_printf(
        m->arena, "all %" PRIu64 " states%s", result->states,
        result->up_to_symmetry ? ", where threads that are alike may change places" : "");
    row->has_strong = !answer->strong_unknown;
    row->strong = answer->strong;
    row->stem = answer->stem;
    row->loop = answer->loop;
    if (answer->loop)
        explain(m, row, machine, cannot);
}

static const char no_loop[] = "no loop and no recursion";
static const char all_alike[] =
    "one execution ends, and no two of its threads conflict: all others take its steps";

/* Why no execution of the machine can go on for ever, without a search; NULL: it takes one. */
static const char *must_end(struct making *m, struct machine *machine)
{
    if (!matrix_may_loop(machine->program))
        return no_loop;
    return matrix_all_alike(m->arena, machine) ? all_alike : NULL;
}

/* How the executions end of a row that must. */
static void find_endings(struct making *m, struct matrix_row *row, struct machine *machine,
                         const char *why)
{
    enum { STATES = 1 << 13 };
    if (why == all_alike) {
        row->ends_in = 1u << STATUS_TERMINATED;
        row->ends_in_all = true;
    } else if (m->options->endings) {
        uint64_t most = m->options->max_states < STATES ? m->options->max_states : STATES;
        const struct search_options options = search_options_of(m, machine, NULL, most);
        size_t mark = arena_mark(m->arena);
        take_endings(row, search_run(m->arena, machine, &options));
        arena_release(m->arena, mark);
    }
}

static void take_end(struct matrix_row *row, const char *why)
{
    row->verdict = PROGRESS_ENDS;
    row->has_strong = row->strong = true;
    row->why = why;
}

static const char *const model_cannot[PROGRESS_MODEL_COUNT] = {
    [PROGRESS_UNFAIR] = "nobody has to let it run",
    [PROGRESS_HSA] = "only the unfinished one with the lowest number must be let run",
    [PROGRESS_OBE] = "it has not begun, and need not",
    [PROGRESS_HSA_OBE] = "it has not begun, and is not the lowest",
    [PROGRESS_LOBE] = "neither it nor one above it has begun",
    [PROGRESS_FAIR] = "it waits itself",
};

/* Groups chosen at random: ends with probability 1, or not. */
static void add_random(struct making *m, enum subject_id subject, struct machine *machine,
                       const struct progress_random *answer, const struct search_result *result)
{
    const struct progress_answer as_others = {
        .verdict = answer->verdict, .stem = answer->stem, .loop = answer->loop};
    struct matrix_row *row = add_row(m, "stackless:random", subject, MATRIX_WARPS);
    take_answer(m, row, machine, &as_others, result, "no group that is chosen leads there");
    row->has_strong = false;
    if (row->ends_in & (row->ends_in - 1)) /* groups may lead to some of these only */
        row->ends_in = 0;
    row->almost_surely = true;
    if (answer->verdict == PROGRESS_ENDS)
        row->why = arena_printf(m->arena, "with probability 1: from all %" PRIu64 " states",
                                answer->states);
}

/* All as the row that is given. */
static void add_models_ending(struct making *m, enum subject_id subject, enum matrix_unit unit,
                              const struct matrix_row *ending)
{
    uint32_t first = m->matrix.count;
    if (unit == MATRIX_THREADS && !stackless_refuses(subject_table[subject].vtable)) {
        struct matrix_row *row = add_row(m, "stackless:random", subject, MATRIX_WARPS);
        take_end(row, m->must_end);
        row->has_strong = false;
    }
    for (int i = 0; i < PROGRESS_MODEL_COUNT; i++) {
        struct matrix_row *row = add_row(m, progress_table[i].name, subject, unit);
        take_end(row, m->must_end);
        row->has_strong = i != PROGRESS_UNFAIR;
    }
    for (uint32_t i = first; i < m->matrix.count; i++) {
        m->matrix.rows[i].ends_in = ending->ends_in;
        m->matrix.rows[i].ends_in_all = ending->ends_in_all;
    }
}

/* Of one unit: whose verdicts are `progress`, what searched them is `result`. */
static void add_models(struct making *m, enum subject_id subject, struct machine *machine,
                       enum matrix_unit unit, const struct progress *progress,
                       const struct search_result *result)
{
    struct matrix_row *rows[PROGRESS_MODEL_COUNT];
    for (int i = 0; i < PROGRESS_MODEL_COUNT; i++) {
        struct matrix_row *row = rows[i] = add_row(m, progress_table[i].name, subject, unit);
        take_answer(m, row, machine, &progress->answers[i], result, model_cannot[i]);
        row->has_strong &= i != PROGRESS_UNFAIR;
    }
    begin_part(m);
    matrix_sample(m->arena, machine, progress, rows, model_cannot, m->options);
    tell_rows(m);
}

/* Of units that are others under another name: warps of one thread. `first` is the first row of those. */
static void repeat_models(struct making *m, uint32_t first, enum matrix_unit unit)
{
    for (uint32_t i = first; i < first + PROGRESS_MODEL_COUNT; i++) {
        const struct matrix_row *of = &m->matrix.rows[i];
        struct matrix_row *row = add_row(m, of->model, of->subject, unit);
        *row = *of;
        row->unit = unit;
    }
    tell_rows(m);
}

static void add_units(struct making *m, enum subject_id subject, const struct program *program)
{
    bool has[MATRIX_UNITS] = {[MATRIX_THREADS] = true,
                              [MATRIX_WARPS] = program->warps_per_block > 1,
                              [MATRIX_BLOCKS] = program->launch.blocks > 1};
    struct machine *machine = machine_of(m, subject, program);
    if (m->must_end) {
        struct matrix_row ending = {.ends_in = 0};
        find_endings(m, &ending, machine, m->must_end);
        for (int u = 0; u < MATRIX_UNITS; u++)
            if (has[u])
                add_models_ending(m, subject, (enum matrix_unit)u, &ending);
        tell_rows(m);
        return;
    }
    struct progress *asked[MATRIX_UNITS] = {NULL}, *first = NULL;
    for (int u = MATRIX_UNITS; u-- > 0;)
        if (has[u] && !(u == MATRIX_WARPS && program->launch.warp == 1)) {
            asked[u] = new_progress(m, machine, (enum matrix_unit)u, 0);
            asked[u]->next = first;
            first = asked[u];
        }
    first->ask_random = machine->semantics->same_pc != NULL;
    struct search_result *result = search(m, machine, first);
    if (first->ask_random)
        add_random(m, subject, machine, &first->random, result);
    uint32_t threads = m->matrix.count;
    for (int u = 0; u < MATRIX_UNITS; u++)
        if (asked[u])
            add_models(m, subject, machine, (enum matrix_unit)u, asked[u], result);
        else if (has[u])
            repeat_models(m, threads, (enum matrix_unit)u);
}

/* Warps under a stack, or a block in one vector: what is scheduled are these, fairly. */
static void add_warps(struct making *m, enum subject_id subject, const char *name)
{
    const char *reason;
    const struct program *program = program_of(m, subject, &reason);
    if (!program)
        return;
    struct machine *machine = machine_of(m, subject, program);
    bool block = subject == SUBJECT_LOCKSTEP; /* in one vector */
    struct matrix_row *row = add_row(m, name, subject, block ? MATRIX_BLOCKS : MATRIX_WARPS);
    const char *must = must_end(m, machine);
    if (must) {
        take_end(row, must);
        find_endings(m, row, machine, must);
        row->has_strong = false;
        return;
    }
    struct progress *progress = new_progress(m, machine, MATRIX_THREADS, 1u << PROGRESS_FAIR);
    struct search_result *result = search(m, machine, progress);
    const char *const cannot[PROGRESS_MODEL_COUNT] = {
        [PROGRESS_FAIR] =
            block ? "the vector runs the other path first" : "its warp runs the other path first"};
    struct matrix_row *const rows[PROGRESS_MODEL_COUNT] = {[PROGRESS_FAIR] = row};
    take_answer(m, row, machine, &progress->answers[PROGRESS_FAIR], result, cannot[PROGRESS_FAIR]);
    row->has_strong = false;
    begin_part(m);
    matrix_sample(m->arena, machine, progress, rows, cannot, m->options);
}

/* SL.tbc, thread block compaction: regrouping the threads of a block does not change where control goes, so
 * its verdicts are those of a warp as large as the block. */
static void add_compaction(struct making *m)
{
    const char *reason;
    const struct program *program = program_of(m, SUBJECT_SIMT, &reason);
    if (!program || program->warps_per_block == 1 || program->launch.threads > LIMIT_WARP ||
        matrix_sees_warps(program))
        return;
    struct ast_kernel *kernel = ARENA_NEW(m->arena, struct ast_kernel);
    struct making wide = *m;
    *kernel = *m->forms->given;
    kernel->launch.warp = kernel->launch.threads;
    wide.forms = forms_new(m->arena, kernel);
    add_warps(&wide, SUBJECT_SIMT, "tbc");
    add_warps(&wide, SUBJECT_SIMT_THEN, "tbc:then-first");
    m->matrix.count = wide.matrix.count;
}

/* ---- warps without a stack: one execution a policy ---- */

static void find_policy_ending(struct making *m, struct matrix_row *row,
                               const struct sched_spec *policy)
{
    size_t mark = arena_mark(m->arena);
    if (m->must_end == all_alike) {
        row->ends_in = 1u << STATUS_TERMINATED;
    } else if (m->options->endings) {
        struct machine *machine = machine_of(m, row->subject, row->program);
        struct lasso lasso = lasso_run(m->arena, machine, policy, m->options->budget_steps);
        row->ends_in = lasso.kind == LASSO_NONE ? 1u << lasso.status : 0;
        arena_release(m->arena, mark);
    }
    row->ends_in_all = row->ends_in != 0;
}

static void add_policy(struct making *m, enum subject_id subject, const struct program *program,
                       const struct stackless_spec *spec)
{
    const struct subject_info *info = &subject_table[subject];
    const struct sched_spec policy = {.kind = SCHED_STACKLESS, .stackless = *spec};
    const char *name = sched_name(m->arena, &policy);
    if (stackless_refuses(info->vtable) || !lasso_policy(&policy))
        return;
    struct matrix_row *row = add_row(m, name, subject, MATRIX_WARPS);
    if (m->must_end) {
        take_end(row, m->must_end);
        row->has_strong = false;
        find_policy_ending(m, row, &policy);
        return;
    }
    struct machine *machine = machine_of(m, subject, program);
    const char *stopped = begin_part(m);
    if (stopped) {
        row->why = arena_printf(m->arena, "its execution was not begun: %s", stopped);
        return;
    }
    struct lasso lasso = lasso_run(m->arena, machine, &policy, m->options->budget_steps);
    if (lasso.kind == LASSO_UNKNOWN) {
        if (take_lemma6(m, row))
            return;
        row->why = arena_printf(m->arena, "no end and no loop in %" PRIu64 " steps",
                                m->options->budget_steps);
        return;
    }
    row->why = arena_printf(m->arena, "its one execution, %" PRIu64 " steps",
                            lasso.kind == LASSO_NONE ? machine->steps : lasso.stem + lasso.loop);
    row->verdict = lasso.kind == LASSO_NONE ? PROGRESS_ENDS : PROGRESS_HANGS;
    if (lasso.kind == LASSO_NONE) {
        row->ends_in = 1u << lasso.status;
        row->ends_in_all = true;
        return;
    }
    lasso_tapes(m->arena, machine, &policy, &lasso);
    row->stem = lasso.stem_tape;
    row->loop = lasso.loop_tape;
    explain(m, row, machine, "the policy never chooses its group");
}

enum subject_id matrix_thread_subject(enum ast_form form)
{
    switch (form) {
    case FORM_STRUCTURED:
        return SUBJECT_THREADS;
    case FORM_BLOCKS:
    case FORM_LOCKSTEP:
        return SUBJECT_INTERLEAVE;
    case FORM_PTX:
        return SUBJECT_BLOCK;
    }
    return SUBJECT_THREADS;
}

const struct matrix_row *matrix_find(const struct matrix *x, const char *model,
                                     enum matrix_unit unit)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (strcmp(x->rows[i].model, model) == 0 && x->rows[i].unit == unit)
            return &x->rows[i];
    return NULL;
}

/* ---- a kernel ---- */

static void add_threads(struct making *m, enum subject_id subject)
{
    const char *reason;
    const struct program *program = program_of(m, subject, &reason);
    if (!program) {
        m->matrix.refused = arena_printf(m->arena, "%s: %s", subject_table[subject].name, reason);
        return;
    }
    m->must_end = must_end(m, machine_of(m, subject, program));
    for (int p = 0; p < STACKLESS_POLICY_COUNT && !m->options->again; p++) {
        struct stackless_spec spec = {.policy = (enum stackless_policy)p};
        bool regroups = stackless_table[p].over_block && program->warps_per_block > 1;
        if (p == STACKLESS_DWS_NONE) /* warps with a stack, above */
            continue;
        if (!stackless_table[p].over_block || regroups || p == STACKLESS_DWF_PDOM)
            add_policy(m, subject, program, &spec);
        spec.then_first = true;
        if (p == STACKLESS_DWS_LOOPS)
            add_policy(m, subject, program, &spec);
        tell_rows(m);
    }
    add_units(m, subject, program);
}

struct matrix matrix_of(struct forms *forms, const struct matrix_options *options)
{
    struct making m = {.arena = forms->arena, .forms = forms, .options = options};
    m.matrix.arena = m.arena;
    m.matrix.rows = ARENA_ARRAY(m.arena, struct matrix_row, ROWS);
    m.matrix.lemma6 =
        matrix_lemma6(forms, options->budget_steps, options->refute_steps, options->seed);
    static const enum subject_id warps[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_LOCKSTEP,
                                            SUBJECT_CRS};
    for (uint32_t i = 0; i < sizeof warps / sizeof *warps; i++) {
        add_warps(&m, warps[i], subject_table[warps[i]].name);
        tell_rows(&m);
    }
    add_compaction(&m);
    tell_rows(&m);
    add_threads(&m, matrix_thread_subject(forms->given->form));
    tell_rows(&m);
    m.matrix.broken = matrix_broken(m.arena, forms, &m.matrix);
    return m.matrix;
}

struct matrix matrix_of_form(struct forms *forms, enum subject_id subject,
                             const struct matrix_options *options)
{
    struct making m = {.arena = forms->arena, .forms = forms, .options = options};
    m.matrix.arena = m.arena;
    m.matrix.rows = ARENA_ARRAY(m.arena, struct matrix_row, ROWS);
    const struct program *program = program_of(&m, subject, &m.matrix.refused);
    if (program) {
        m.must_end = must_end(&m, machine_of(&m, subject, program));
        add_units(&m, subject, program);
    }
    return m.matrix;
}
