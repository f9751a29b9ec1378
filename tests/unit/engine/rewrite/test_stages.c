/*
 * Golden digests of every stage between a kernel's text and its executions, for each kernel of the corpus that
 * tests/golden/stages.txt lists: lowered, normalised, predicated, compiled to PTX, injected, transformed,
 * laid out, analysed, run. A stage that comes to something else than it did says so here, whether or not that is
 * wrong: read the difference (`simtfuzz lower`, `transform`, `trace` print the stages), then
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_stages
 *
 * writes the file anew. Kernels that are not in it are not looked at; blessing takes all of the folders below.
 */
#include "engine/input/input.h"
#include "tests/unit/shared/golden_table.h"

#include "engine/forms/lower_cfg.h"
#include "engine/forms/predicate.h"
#include "engine/rewrite/transform.h"
#include "engine/static/ptx_static.h"
#include "engine/subjects/forms.h"
#include "engine/to_ptx/ptx_flow.h"

enum { BUDGET = 400, DRAWS = 3 };

/* ---- stages ---- */

static void digest_kernel(uint64_t *digest, const struct ast_kernel *kernel, const char *reason)
{
    digest_text(digest, kernel ? print_kernel(&test_arena, kernel) : reason);
}

static void digest_formed(uint64_t *digest, const struct form *form)
{
    const struct ptx_code *code = form->program ? form->program->ptx : NULL;
    digest_kernel(digest, form->kernel, form->reason);
    digest_text(digest, form->reason);
    digest_text(digest, code ? ptx_print(&test_arena, code->module) : NULL);
    if (!form->program)
        return;
    digest_word(digest, digest_program(form->program));
    int32_t *memory = ARENA_ARRAY(&test_arena, int32_t, form->program->memory_words);
    program_init_memory(form->program, memory);
    digest_words(digest, (const uint32_t *)memory, form->program->memory_words);
}

static void programs(struct golden_columns *stages, struct forms *forms)
{
    for (uint32_t i = 0; i < PROGRAM_COUNT; i++) {
        uint64_t digest = 0;
        digest_formed(&digest, forms_get(forms, (enum program_id)i));
        golden_put(stages, program_id_names[i], digest);
    }
}

/* Options that no program of a campaign has. */
static void lowerings(struct golden_columns *stages, const struct ast_kernel *kernel)
{
    static const struct lower_cfg_options options[] = {
        {.keep_calls = true}, {.keep_calls = true, .then_first = true, .logic_blocks = true}};
    uint64_t digest = 0;
    const char *reason = NULL;
    struct location at;
    if (kernel->form == FORM_STRUCTURED) {
        const struct ast_kernel *core = lower_core(&test_arena, kernel);
        digest_kernel(&digest, lower_core_with(&test_arena, kernel, true), NULL);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const struct ast_kernel *blocks = lower_cfg(&test_arena, core, &options[i], &reason);
            digest_kernel(&digest, blocks, reason);
        }
        kernel = lower_cfg(&test_arena, core, &options[0], &reason);
    }
    if (kernel && kernel->form == FORM_BLOCKS) {
        for (unsigned pass = 1; pass < NORMALISE_ALL; pass *= 2) {
            const struct ast_kernel *normal = normalise(&test_arena, kernel, pass, &reason);
            digest_kernel(&digest, normal, reason);
        }
        digest_word(&digest, well_formed(&test_arena, kernel, &reason, &at));
        digest_text(&digest, reason);
    }
    golden_put(stages, "lowerings", digest);
}

/* Each transformation at two places, and some lists as campaigns draw them. */
static void transformations(struct golden_columns *stages, const struct ast_kernel *kernel,
                            uint64_t seed)
{
    uint64_t places = 0, single = 0, drawn = 0;
    for (uint32_t n = 0; n < 2 * TRANSFORM_COUNT; n++) {
        size_t mark = arena_mark(&test_arena);
        const struct transform_step step = {(enum transform_id)(n / 2),
                                            (uint32_t)pcg_splitmix(seed + n)};
        const struct transform_list list = {.count = 1, .steps = {step}};
        uint32_t count = transform_places(&test_arena, kernel, step.id);
        digest_word(&places, count);
        if (count > 0)
            digest_kernel(&single, transform_apply(&test_arena, kernel, &list, NULL), NULL);
        arena_release(&test_arena, mark);
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct transform_list list;
        const struct ast_kernel *after = transform_draw(&test_arena, kernel, seed + i, &list);
        digest_text(&drawn, transform_print_list(&test_arena, &list));
        digest_kernel(&drawn, after, NULL);
        arena_release(&test_arena, mark);
    }
    golden_put(stages, "places", places);
    golden_put(stages, "transform", single);
    golden_put(stages, "transformations", drawn);
}

/* ---- PTX ---- */

static void digest_graph(uint64_t *digest, const struct ptx_graph *graph)
{
    digest_word(digest, (uint64_t)graph->reached << 32 | graph->edges);
    digest_words(digest, graph->next_first, graph->count + 1);
    digest_words(digest, graph->next, graph->next_first[graph->count]);
    digest_words(digest, graph->order, graph->reached);
    digest_words(digest, graph->dominator, graph->count);
    digest_words(digest, graph->post_dominator, graph->count);
    digest_word(digest, graph->reducible);
    for (uint32_t n = 0; n < graph->count; n++)
        digest_word(digest, graph->reaches_end[n]);
    if (!graph->reducible)
        return;
    digest_words(digest, graph->loop, graph->count);
    for (uint32_t i = 0; i < graph->loop_count; i++)
        digest_word(digest, (uint64_t)graph->loops[i].header << 40 |
                                (uint64_t)graph->loops[i].parent << 8 | graph->loops[i].depth);
}

static void digest_flow(uint64_t *digest, const struct ptx_function *function)
{
    const char *reason = NULL;
    const struct ptx_flow *flow = ptx_flow_build(&test_arena, function, &reason);
    digest_text(digest, reason);
    if (!flow)
        return;
    digest_word(digest, flow->indirect ? flow->indirect->at.line : 0);
    for (uint32_t b = 0; b < flow->graph.count; b++) {
        digest_word(digest, (uint64_t)flow->blocks[b].first << 32 | flow->blocks[b].end);
        digest_word(digest, ptx_flow_line(flow, b));
    }
    digest_graph(digest, &flow->graph);
}

static void digest_static(uint64_t *digest, const struct ptx_static *s)
{
    const uint32_t words[] = {s->verdict,   s->why.clause,  s->why.line,  s->four.clause,
                              s->four.line, s->rule.clause, s->rule.line, s->states};
    digest_words(digest, words, sizeof words / sizeof *words);
}

static void ptx_facts(struct golden_columns *stages, struct forms *forms)
{
    static const enum program_id with_ptx[] = {PROGRAM_PTX, PROGRAM_CRS};
    uint64_t flow = 0, statics = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const struct form *form = forms_get(forms, with_ptx[i]);
        const struct ptx_code *code = form->program ? form->program->ptx : NULL;
        if (!code)
            continue;
        for (const struct ptx_item *item = code->module->items; item; item = item->next)
            if (item->kind == PTX_ITEM_FUNCTION && item->u.function->has_body)
                digest_flow(&flow, item->u.function);
        const struct ptx_static_options none = {.most_states = 20000};
        const struct ptx_static found =
            ptx_static_check(&test_arena, code->module, code->functions[0].function, &none);
        digest_static(&statics, &found);
        const struct ptx_static given = ptx_static_kernel(&test_arena, form->kernel);
        digest_static(&statics, &given);
    }
    golden_put(stages, "flow", flow);
    golden_put(stages, "static", statics);
}

/* ---- executions ---- */

struct watch {
    uint64_t digest;
};

static void on_access(struct watch *w, uint32_t kind, uint32_t thread, uint32_t address,
                      uint32_t stm)
{
    digest_word(&w->digest, (uint64_t)kind << 60 | (uint64_t)thread << 40 | address);
    digest_word(&w->digest, stm);
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    on_access(context, ACCESS_READ, thread, address, stm);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    on_access(context, ACCESS_WRITE, thread, address, stm);
    digest_word(&((struct watch *)context)->digest, (uint32_t)value);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    on_access(context, ACCESS_ATOMIC, thread, address, stm);
    digest_word(&((struct watch *)context)->digest, (uint32_t)value);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct watch *w = context;
    (void)machine;
    digest_word(&w->digest, (uint64_t)event->block << 33 | (uint64_t)event->stm << 1 | event->all);
}

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct watch *w = context;
    const uint32_t words[] = {use->kind,       use->block,        use->barrier, use->count,
                              use->generation, use->first_thread, use->stm};
    (void)machine;
    digest_words(&w->digest, words, sizeof words / sizeof *words);
    digest_word(&w->digest, use->mask);
}

/* What it can do next, too. */
static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct watch *w = context;
    const struct semantics *semantics = machine->semantics;
    digest_word(&w->digest,
                (uint64_t)event->rule << 48 | (uint64_t)event->actor << 32 | event->stm);
    digest_word(&w->digest, event->active);
    digest_word(&w->digest, event->truth);
    for (uint32_t i = 0; i < machine->head->live_count; i++) {
        uint32_t actor = machine->head->live[i];
        uint64_t reads = 0, writes = 0;
        semantics->footprint(machine, actor, &reads, &writes);
        digest_word(&w->digest, reads);
        digest_word(&w->digest, writes);
        digest_word(&w->digest, semantics->next_stm(machine, actor));
    }
}

/* The same schedule with and without somebody who watches. */
static void digest_run(uint64_t *digest, const struct subject_info *subject,
                       const struct program *program, enum sched_kind kind)
{
    size_t mark = arena_mark(&test_arena);
    struct watch watch = {0};
    const struct observer observer = {.context = &watch,
                                      .read = on_read,
                                      .write = on_write,
                                      .atomic = on_atomic,
                                      .barrier = on_barrier,
                                      .use = on_use,
                                      .step = on_step};
    struct machine *machine = machine_new(&test_arena, subject->vtable, program, &subject->options);
    struct scheduler scheduler;
    const struct sched_spec spec = {.kind = kind, .seed = 7, .index = 1, .quantum = 2};
    uint64_t plain = 0;
    sched_start(&scheduler, &spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, BUDGET, NULL);
    digest_words(&plain, machine->block, machine->block_words);
    machine_reset(machine);
    machine_observe(machine, &observer);
    sched_start(&scheduler, &spec, machine, &test_arena);
    assert_int_equal(machine_run(machine, &scheduler.choices, BUDGET, NULL), status);
    digest_words(&watch.digest, machine->block, machine->block_words);
    digest_word(digest, plain);
    digest_word(digest, watch.digest);
    digest_word(digest, status);
    digest_word(digest, machine->steps);
    digest_text(digest, machine->fault_text);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (machine->hits[i] > 0) { /* a rule more changes no other digest */
            digest_text(digest, rule_table[i].name);
            digest_word(digest, machine->hits[i]);
        }
    arena_release(&test_arena, mark);
}

static void runs(struct golden_columns *stages, struct forms *forms)
{
    static const enum sched_kind kinds[] = {SCHED_SEQUENTIAL, SCHED_REVERSE, SCHED_UNIFORM};
    uint64_t variants = 0;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct subject_info *subject = &subject_table[s];
        const struct form *form = forms_get(forms, subject->program);
        const char *refused = form->reason;
        bool is_variant = subject->role != SUBJECT_ORDINARY;
        uint64_t digest = 0;
        if (!subject->vtable)
            continue;
        if (form->program)
            refused = machine_refuses(&test_arena, subject->vtable, form->program);
        digest_text(&digest, refused);
        for (size_t k = 0; !refused && k < (is_variant ? 1 : sizeof kinds / sizeof *kinds); k++)
            digest_run(&digest, subject, form->program, kinds[k]);
        if (is_variant)
            digest_word(&variants, digest);
        else
            golden_put(stages, subject->name, digest);
    }
    golden_put(stages, "variants", variants);
}

/* A number of the file's name: what is drawn does not depend on comments and claims. */
static uint64_t name_number(const char *path)
{
    uint64_t number = 0;
    digest_text(&number, path + sizeof GOLDEN_CORPUS - 1);
    return number;
}

static bool make_stages(struct golden_columns *stages, const char *path)
{
    struct ast_kernel *kernel = golden_kernel(path);
    struct forms *forms = forms_new(&test_arena, kernel);
    programs(stages, forms);
    lowerings(stages, kernel);
    transformations(stages, kernel, name_number(path));
    ptx_facts(stages, forms);
    runs(stages, forms);
    return true;
}

static void stages_are_what_they_were(void **state)
{
    (void)state;
    static const char *const patterns[] = {"distilled/*.simt",
                                           "distilled/*.ptx",
                                           "papers/*.simt",
                                           "papers/crs/*.ptx",
                                           "progress/*.*",
                                           "ptx/*.ptx",
                                           "regress/*.simt",
                                           "regress/*.ptx",
                                           "rules/*.simt",
                                           "rules/*.ptx",
                                           NULL};
    static const struct golden_table table = {SIMTFUZZ_SOURCE_DIR "/tests/golden/stages.txt",
                                              patterns, make_stages};
    golden_check(&table, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stages_are_what_they_were, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
