/*
 * Golden digests of who steps when: what schedulers, warps without a stack, searches for loops, searches of all
 * executions, progress models and Lemma 6 say of each kernel that tests/golden/searches.txt lists. A column is a part
 * of the engine; one that comes to something else than it did says so here, whether or not that is wrong. Kept out are
 * numbers of states and bytes, which are the searches' own affair. Read what changed, then
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_searches
 *
 * writes the file anew. Kernels that are not in it are not looked at; blessing takes all of the folders below, of few
 * threads.
 */
#include "tests/unit/shared/golden_table.h"

#include "engine/progress/fair_lasso.h"
#include "engine/progress/lasso.h"
#include "engine/progress/progress.h"
#include "engine/schedule/stackless.h"
#include "engine/subjects/forms.h"
#include "oracle/lemma6/lemma6.h"

enum { BUDGET = 600, THREADS_MAX = 16, STATES = 2000, SAMPLED = 10000 };

static void digest_tape(uint64_t *digest, const struct tape *tape)
{
    digest_text(digest, tape ? tape_print(&test_arena, tape) : NULL);
}

/* ---- schedules ---- */

/* What PCT and SURW are told: of a run of each. */
static void learn(struct machine *machine, struct sched_spec *spec)
{
    const struct program *program = machine->program;
    uint8_t *selected = ARENA_ARRAY(&test_arena, uint8_t, program->stm_count + 1);
    uint32_t *counts = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    spec->length_estimate = 40;
    for (uint32_t i = 0; i < program->stm_count; i++)
        selected[i] = program->stms && program->stms[i].writes != 0;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        counts[i] = 2 + i % 2;
    spec->selected = selected;
    spec->selected_counts = counts;
}

static void digest_run(uint64_t *digest, struct machine *machine, const struct sched_spec *spec)
{
    size_t mark = arena_mark(&test_arena);
    struct scheduler scheduler;
    struct tape *record = tape_new(&test_arena, 4 * BUDGET);
    machine_reset(machine);
    sched_start(&scheduler, spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, BUDGET, record);
    digest_word(digest, status);
    digest_word(digest, machine->steps);
    digest_word(digest, machine_store_hash(machine));
    digest_tape(digest, record);
    arena_release(&test_arena, mark);
}

static void schedules(struct golden_columns *columns, const char *name, struct machine *machine)
{
    uint64_t digest = 0;
    for (uint32_t kind = 0; kind < SCHED_STACKLESS; kind++)
        for (uint32_t index = 1; index <= 2; index++) {
            struct sched_spec spec = {.kind = (enum sched_kind)kind,
                                      .seed = 7,
                                      .index = index,
                                      .depth = 1 + index,
                                      .quantum = index,
                                      .victim = (index - 1) % machine->actor_count,
                                      .prefix = 9 * index};
            learn(machine, &spec);
            digest_run(&digest, machine, &spec);
        }
    golden_put(columns, name, digest);
}

static void portfolio(struct golden_columns *columns, const char *name, struct machine *machine)
{
    uint64_t digest = 0;
    for (uint64_t index = 0; index < 24; index++) {
        unsigned possible = stackless_refuses(machine->semantics)
                                ? PORTFOLIO_SURW
                                : PORTFOLIO_SURW | PORTFOLIO_STACKLESS;
        struct sched_spec spec = sched_portfolio(5, index, machine->actor_count, possible);
        digest_text(&digest, sched_name(&test_arena, &spec));
        learn(machine, &spec);
        digest_run(&digest, machine, &spec);
    }
    golden_put(columns, name, digest);
}

/* ---- warps without a stack, and loops ---- */

static void digest_lasso(uint64_t *digest, struct machine *machine, const struct lasso *lasso)
{
    digest_word(digest, (uint64_t)lasso->kind << 32 | lasso->status);
    digest_word(digest, lasso->stem);
    digest_word(digest, lasso->loop);
    for (uint32_t i = 0; lasso->loop > 0 && i < machine->actor_count; i++)
        digest_word(digest, (uint64_t)lasso->live[i] << 1 | lasso->stepped[i]);
    digest_tape(digest, lasso->stem_tape);
    digest_tape(digest, lasso->loop_tape);
}

static void policy(uint64_t *digest, struct machine *machine, const struct sched_spec *spec)
{
    size_t mark = arena_mark(&test_arena);
    struct scheduler scheduler;
    if (lasso_policy(spec)) {
        struct lasso lasso = lasso_run(&test_arena, machine, spec, BUDGET);
        if (lasso.loop > 0)
            lasso_tapes(&test_arena, machine, spec, &lasso);
        digest_lasso(digest, machine, &lasso);
    }
    machine_reset(machine);
    sched_start(&scheduler, spec, machine, &test_arena);
    struct lasso lasso = lasso_random(&test_arena, machine, &scheduler.choices, BUDGET);
    digest_lasso(digest, machine, &lasso);
    arena_release(&test_arena, mark);
}

static void loops(struct golden_columns *columns, const char *name, struct machine *machine)
{
    static const enum sched_kind kinds[] = {SCHED_SEQUENTIAL, SCHED_REVERSE, SCHED_ROUND_ROBIN,
                                            SCHED_UNIFORM, SCHED_STARVE};
    uint64_t digest = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sched_spec spec = {.kind = kinds[i], .seed = 3, .index = 1, .quantum = 1 + i % 2};
        policy(&digest, machine, &spec);
    }
    golden_put(columns, name, digest);
}

static void without_stack(struct golden_columns *columns, const char *name, struct machine *machine)
{
    uint64_t digest = 0;
    for (uint32_t p = 0; !stackless_refuses(machine->semantics) && p < STACKLESS_POLICY_COUNT; p++)
        for (uint32_t how = 0; how < 3; how++) {
            struct sched_spec spec = {.kind = SCHED_STACKLESS,
                                      .seed = 3,
                                      .index = 1,
                                      .stackless = {.policy = (enum stackless_policy)p,
                                                    .literal = how == 1,
                                                    .then_first = how == 2}};
            policy(&digest, machine, &spec);
            digest_run(&digest, machine, &spec);
        }
    golden_put(columns, name, digest);
}

/* ---- searches ---- */

static int compare_outcomes(const void *a, const void *b)
{
    const struct search_outcome *x = a, *y = b;
    int order = (x->status > y->status) - (x->status < y->status);
    return order ? order : (x->store_hash > y->store_hash) - (x->store_hash < y->store_hash);
}

static uint64_t digest_search(const struct search_result *result)
{
    uint64_t digest = 0;
    struct search_outcome *outcomes =
        ARENA_ARRAY(&test_arena, struct search_outcome, result->outcome_count + 1);
    if (result->outcome_count > 0)
        memcpy(outcomes, result->outcomes, result->outcome_count * sizeof *outcomes);
    qsort(outcomes, result->outcome_count, sizeof *outcomes, compare_outcomes);
    digest_word(&digest,
                (uint64_t)result->method << 2 | (uint64_t)result->complete << 1 | result->race);
    digest_text(&digest, result->cut);
    digest_word(&digest, result->executions);
    digest_word(&digest, result->liveness);
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        digest_word(&digest, outcomes[i].status);
        digest_word(&digest, outcomes[i].store_hash);
        digest_tape(&digest, outcomes[i].tape);
    }
    digest_tape(&digest, result->lasso_stem);
    digest_tape(&digest, result->lasso_loop);
    return digest;
}

static uint64_t digest_progress(const struct progress *progress)
{
    uint64_t digest = 0;
    for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *a = &progress->answers[m];
        digest_word(&digest, (uint64_t)a->verdict << 1 | a->strong);
        digest_tape(&digest, a->stem);
        digest_tape(&digest, a->loop);
        if (a->loop) {
            digest_word(&digest, a->fair);
            digest_word(&digest, a->stepped);
            digest_word(&digest, a->unfinished);
        }
    }
    digest_word(&digest, progress->random.verdict);
    digest_tape(&digest, progress->random.stem);
    digest_tape(&digest, progress->random.loop);
    return digest;
}

/* The search of all states says something only where it is complete: how far a bound lets it come is its own affair. */
static void states(struct golden_columns *columns, const char *name, struct machine *machine,
                   uint32_t in_unit)
{
    char title[40];
    uint32_t *unit_of = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    struct progress progress = {.unit_of = unit_of, .ask_random = machine->semantics->same_pc};
    struct search_options options = SEARCH_DEFAULTS;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        unit_of[i] = i / in_unit;
    progress.unit_count = (machine->actor_count - 1) / in_unit + 1;
    options.method = SEARCH_STATES;
    options.max_states = STATES;
    progress_ask(&options, &progress);
    const struct search_result *result = search_run(&test_arena, machine, &options);
    snprintf(title, sizeof title, "%s:states", name);
    golden_put(columns, title, result->complete ? digest_search(result) : 0);
    snprintf(title, sizeof title, "%s:progress", name);
    golden_put(columns, title, result->complete ? digest_progress(&progress) : 0);
}

static void executions(struct golden_columns *columns, const char *name, struct machine *machine)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = SEARCH_DPOR;
    options.max_steps = 4000;
    options.max_depth = 200;
    golden_put(columns, name, digest_search(search_run(&test_arena, machine, &options)));
}

static void sampled(struct golden_columns *columns, const char *name, struct machine *machine,
                    uint32_t in_unit)
{
    uint64_t digest = 0;
    uint32_t *unit_of = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    for (uint32_t i = 0; i < machine->actor_count; i++)
        unit_of[i] = i / in_unit;
    struct fair_units units = {unit_of, (machine->actor_count - 1) / in_unit + 1};
    struct fair_options options = FAIR_DEFAULTS;
    options.seed = 11;
    options.budget_steps = SAMPLED;
    struct fair_result result =
        fair_lasso_search(&test_arena, machine, &units, (1u << PROGRESS_MODEL_COUNT) - 1, &options);
    digest_word(&digest, result.samples);
    for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        digest_word(&digest, (uint64_t)result.answers[m].found << 32 | result.answers[m].sample);
        digest_tape(&digest, result.answers[m].stem);
        digest_tape(&digest, result.answers[m].loop);
    }
    golden_put(columns, name, digest);
}

static void lemma(struct golden_columns *columns, const struct program *program)
{
    uint64_t digest = 0;
    struct lemma6 proof = lemma6_holds(&test_arena, program, 2000);
    digest_word(&digest, (uint64_t)proof.holds << 1 | proof.constants);
    if (proof.holds) {
        digest_word(&digest, proof.warp_steps);
        digest_word(&digest, proof.all_warp_steps);
        digest_word(&digest, proof.thread_steps);
        digest_word(&digest, proof.all_thread_steps);
    }
    digest_word(&digest, proof.has_threads);
    digest_text(&digest, proof.why_not);
    golden_put(columns, "lemma-6", digest);
    digest = 0;
    struct lemma6_refutation refuted = lemma6_refute(&test_arena, program, 1, SAMPLED);
    digest_word(&digest, refuted.found);
    digest_word(&digest, refuted.sequences);
    digest_word(&digest, refuted.steps);
    if (refuted.found) {
        digest_word(&digest, (uint64_t)refuted.thread << 32 | refuted.stm);
        digest_word(&digest, refuted.stem);
        digest_word(&digest, refuted.loop);
        digest_text(&digest, refuted.location);
    }
    golden_put(columns, "refuted", digest);
}

/* ---- a kernel ---- */

/* Its machines of threads and of warps; warps of PTX with barriers have no place in a search. */
static void all_of(struct golden_columns *columns, const char *name, struct forms *forms,
                   enum subject_id subject, bool warps)
{
    const struct subject_info *info = &subject_table[subject];
    const struct program *program = forms_get(forms, info->program)->program;
    char title[40];
    if (!program || machine_refuses(&test_arena, info->vtable, program))
        return;
    struct machine_options options = info->options;
    options.track = true;
    struct machine *machine = machine_new(&test_arena, info->vtable, program, &options);
    struct machine *searched =
        search_machine_with(&test_arena, info->vtable, program, &info->options);
    snprintf(title, sizeof title, "%s:schedules", name);
    schedules(columns, title, machine);
    snprintf(title, sizeof title, "%s:portfolio", name);
    portfolio(columns, title, machine);
    snprintf(title, sizeof title, "%s:loops", name);
    loops(columns, title, machine);
    if (!warps) {
        snprintf(title, sizeof title, "%s:stackless", name);
        without_stack(columns, title, machine);
    }
    states(columns, name, searched, warps ? 1 : program->launch.threads > 4 ? 2 : 1);
    if (!(program->ptx && program->ptx->barriers)) {
        snprintf(title, sizeof title, "%s:dpor", name);
        executions(columns, title, searched);
    }
    snprintf(title, sizeof title, "%s:sampled", name);
    sampled(columns, title, machine, warps ? 1 : 2);
}

/* False: too many threads. */
static bool make_columns(struct golden_columns *columns, const char *path)
{
    const struct ast_kernel *kernel = golden_kernel(path);
    if (kernel->launch.threads * kernel->launch.blocks > THREADS_MAX)
        return false;
    struct forms *forms = forms_new(&test_arena, kernel);
    switch (kernel->form) {
    case FORM_STRUCTURED:
        all_of(columns, "threads", forms, SUBJECT_THREADS, false);
        all_of(columns, "simt", forms, SUBJECT_SIMT, true);
        if (forms_get(forms, subject_table[SUBJECT_THREADS].program)->program)
            lemma(columns, forms_get(forms, subject_table[SUBJECT_THREADS].program)->program);
        break;
    case FORM_BLOCKS:
        all_of(columns, "interleave", forms, SUBJECT_INTERLEAVE, false);
        break;
    case FORM_PTX:
        all_of(columns, "block", forms, SUBJECT_BLOCK, false);
        all_of(columns, "crs", forms, SUBJECT_CRS, true);
        break;
    case FORM_LOCKSTEP:
        break;
    }
    return columns->count > 0;
}

static void searches_are_what_they_were(void **state)
{
    (void)state;
    static const struct golden_table table = {SIMTFUZZ_SOURCE_DIR "/tests/golden/searches.txt",
                                              GOLDEN_WRITTEN, make_columns};
    golden_check(&table, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(searches_are_what_they_were, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests_name("searches", tests, NULL, NULL);
}
