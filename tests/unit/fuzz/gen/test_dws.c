/* Dynamic warp subdivision at its two ends: where no branch splits it takes the steps of `simt`, one for one;
 * where every branch does, those of the oldest group first. And in between: whose turn it is. */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/program/ptx_code.h"
#include "engine/progress/lasso.h"
#include "engine/subjects/forms.h"
#include "engine/warps/simt.h"
#include "fuzz/generate/generate.h"

/* Statements that were executed, each with the lanes that did. */
struct trail {
    struct observer observer;
    uint32_t count;
    struct {
        uint32_t stm;
        lane_mask lanes;
    } steps[4000];
};

static void add_step(struct trail *trail, uint32_t stm, lane_mask lanes)
{
    if (stm == CODE_NONE || lanes == 0 ||
        trail->count == sizeof trail->steps / sizeof *trail->steps)
        return;
    trail->steps[trail->count].stm = stm;
    trail->steps[trail->count++].lanes = lanes;
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    (void)machine;
    add_step(context, event->stm, event->active);
}

enum { STEPS = 20000 };

/* One warp under its stack. Writes are done in ascending order, as by a group of threads. */
static enum status run_warp(struct trail *trail, struct machine *machine)
{
    trail->count = 0;
    trail->observer = (struct observer){.context = trail, .step = see_step};
    machine_observe(machine, &trail->observer);
    for (uint32_t i = 0; i < STEPS && machine_status(machine) == STATUS_RUNNING; i++)
        machine_step(machine, 0, NULL);
    return machine_status(machine);
}

static enum status run_groups(struct trail *trail, struct machine *machine, const char *policy)
{
    struct stackless_spec spec;
    assert_true(stackless_parse(policy, &spec));
    struct stackless *warps = stackless_new(&test_arena, machine, &spec, NULL);
    trail->count = 0;
    for (uint32_t i = 0; i < STEPS && machine_status(machine) == STATUS_RUNNING; i++) {
        uint32_t stm = CODE_NONE;
        lane_mask lanes = 0;
        bool writes = false;
        do {
            uint32_t thread = stackless_pick(warps, machine);
            stm = machine->semantics->next_stm(machine, thread);
            lanes |= (lane_mask)1 << thread;
            writes |= machine_step(machine, thread, NULL) == RULE_THR_ASSIGN_WR;
        } while (!stackless_between(warps) && machine_status(machine) == STATUS_RUNNING);
        add_step(trail, writes ? CODE_NONE : stm, lanes); /* its read has been counted */
    }
    return machine_status(machine);
}

static struct ast_kernel *kernel_of_one_warp(uint64_t number, const char *features)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error = NULL;
    assert_true(gen_parse_features(features, &options.features, &error));
    options.fixed = true;
    struct ast_kernel *kernel = gen_case(&test_arena, 29, number, &options);
    kernel->launch.blocks = 1;
    if (kernel->launch.threads > kernel->launch.warp)
        kernel->launch.threads = kernel->launch.warp;
    return kernel;
}

static const char *difference(const struct trail *a, const struct trail *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a->steps[i].stm != b->steps[i].stm || a->steps[i].lanes != b->steps[i].lanes)
            return arena_printf(&test_arena, "step %u: statement %u by %llx, not %u by %llx", i,
                                b->steps[i].stm, (unsigned long long)b->steps[i].lanes,
                                a->steps[i].stm, (unsigned long long)a->steps[i].lanes);
    return NULL;
}

static void check_stack(struct ast_kernel *kernel, bool then_first, uint32_t *ended,
                        uint32_t *split)
{
    static struct trail warp, groups;
    const char *reason;
    struct program *program =
        program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
    if (!program)
        return;
    struct machine *simt = support_machine(program, then_first ? SUBJECT_SIMT_THEN : SUBJECT_SIMT);
    struct machine *threads = support_machine(program, SUBJECT_THREADS);
    if (machine_refuses(&test_arena, threads->semantics, program))
        return;
    enum status wanted = run_warp(&warp, simt);
    enum status status =
        run_groups(&groups, threads, then_first ? "dws-none:then-first" : "dws-none");
    uint32_t count = warp.count < groups.count ? warp.count : groups.count;
    /* Where a barrier is, or an error, is the last step that both take. */
    const char *wrong =
        difference(&warp, &groups, wanted == STATUS_TERMINATED ? count : count - (count > 0));
    if (!wrong && wanted == STATUS_TERMINATED &&
        (status != wanted || warp.count != groups.count ||
         memcmp(simt->memory, threads->memory, program->frame_base * sizeof *simt->memory) != 0))
        wrong = "another end";
    if (wrong)
        fail_msg("%s\n%s", wrong, print_kernel(&test_arena, kernel));
    *ended += wanted == STATUS_TERMINATED;
    for (uint32_t i = 1; i < warp.count; i++)
        *split += (warp.steps[i].lanes & warp.steps[i - 1].lanes) == 0;
}

/* Also with conflicting writes: the last lane's stays, here and there. */
static void test_no_branch_splits(void **state)
{
    (void)state;
    uint32_t ended = 0, split = 0;
    for (uint32_t number = 0; number < 400; number++) {
        size_t mark = arena_mark(&test_arena);
        struct ast_kernel *kernel = kernel_of_one_warp(
            number, number % 2 ? "-graphs,-crs,-known,-directions,-votes,-barriers"
                               : "-graphs,-crs,-known,-directions,-votes,spin");
        check_stack(kernel, number / 2 % 2, &ended, &split);
        arena_release(&test_arena, mark);
    }
    assert_true(ended > 200);
    assert_true(split > 1000);
}

/* ---- PTX: post-dominators against the branch unit's tokens ---- */

/* Without jumps, the two are the same; sync itself is executed path by path there, once here. */
static void drop_branch_unit(struct trail *trail, const struct program *program)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < trail->count; i++) {
        enum ptx_exec exec = (enum ptx_exec)program->ptx->ops[trail->steps[i].stm].exec;
        if (exec != PTX_EXEC_SYNC && exec != PTX_EXEC_SSY)
            trail->steps[kept++] = trail->steps[i];
    }
    trail->count = kept;
}

static void check_tokens(struct ast_kernel *kernel, uint32_t *ended, uint32_t *split)
{
    static struct trail warp, groups;
    const struct form *form = forms_get(forms_new(&test_arena, kernel), PROGRAM_CRS);
    if (!form->program || machine_refuses(&test_arena, &semantics_block, form->program))
        return;
    struct machine *crs = support_machine(form->program, SUBJECT_CRS);
    struct machine *threads = support_machine(form->program, SUBJECT_BLOCK);
    enum status wanted = run_warp(&warp, crs);
    enum status status = run_groups(&groups, threads, "dws-none");
    if (wanted != STATUS_TERMINATED)
        return;
    assert_int_equal(status, wanted);
    drop_branch_unit(&warp, form->program);
    drop_branch_unit(&groups, form->program);
    const char *wrong =
        difference(&warp, &groups, warp.count < groups.count ? warp.count : groups.count);
    if (wrong || warp.count != groups.count)
        fail_msg("%s\n%s", wrong ? wrong : "another end", print_kernel(&test_arena, kernel));
    *ended += 1;
    for (uint32_t i = 1; i < warp.count; i++)
        *split += (warp.steps[i].lanes & warp.steps[i - 1].lanes) == 0;
}

static void test_tokens(void **state)
{
    (void)state;
    uint32_t ended = 0, split = 0;
    for (uint32_t number = 0; number < 200; number++) {
        size_t mark = arena_mark(&test_arena);
        check_tokens(
            kernel_of_one_warp(number, "none,leader,copies,arrays,inputs,logic,arithmetic"), &ended,
            &split);
        arena_release(&test_arena, mark);
    }
    assert_true(ended > 50);
    assert_true(split > 100);
}

/* ---- every branch splits ---- */

static void check_oldest(struct ast_kernel *kernel, uint32_t *ended)
{
    static struct trail oldest, groups;
    const char *reason;
    struct program *program =
        program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
    if (!program || machine_refuses(&test_arena, &semantics_threads, program))
        return;
    struct machine *a = support_machine(program, SUBJECT_THREADS);
    struct machine *b = support_machine(program, SUBJECT_THREADS);
    enum status status = run_groups(&oldest, a, "oldest");
    assert_int_equal(run_groups(&groups, b, "dws"), status);
    assert_int_equal(oldest.count, groups.count);
    assert_null(difference(&oldest, &groups, oldest.count));
    *ended += status == STATUS_TERMINATED;
}

static void test_every_branch_splits(void **state)
{
    (void)state;
    uint32_t ended = 0;
    for (uint32_t number = 0; number < 100; number++) {
        size_t mark = arena_mark(&test_arena);
        check_oldest(kernel_of_one_warp(number, "-graphs,-crs,-known,-directions,-votes"), &ended);
        arena_release(&test_arena, mark);
    }
    assert_true(ended > 50);
}

/* ---- some split ---- */

/* Groups that step, each with its lanes. */
static const char *groups_of(const char *text, const char *policy, uint32_t count)
{
    static struct trail trail;
    const char *all = "";
    struct machine *machine = support_machine(support_program(text), SUBJECT_THREADS);
    run_groups(&trail, machine, policy);
    for (uint32_t i = 0; i < trail.count && i < count; i++) {
        for (uint32_t lane = 0; lane < 8; lane++)
            if (trail.steps[i].lanes >> lane & 1)
                all = arena_printf(&test_arena, "%s%u", all, lane);
        all = arena_printf(&test_arena, "%s ", all);
    }
    return all;
}

/* if, p = 1 or 2; 3, p = 4: the paths one after the other, or turn by turn; they meet behind them. */
static void test_paths(void **state)
{
    static const char TEXT[] = "launch(threads = 3, warp = 3); private int p; kernel k() {"
                               " if (tid == 0) { p = 1; ; } else { p = 2; p = 3; ; } p = 4; }";
    (void)state;
    assert_string_equal(groups_of(TEXT, "dws-none", 99), "012 12 12 12 0 0 012 ");
    assert_string_equal(groups_of(TEXT, "dws-none:then-first", 99), "012 0 0 12 12 12 012 ");
    assert_string_equal(groups_of(TEXT, "dws-loops", 99), "012 12 12 12 0 0 012 ");
    assert_string_equal(groups_of(TEXT, "dws-ifs", 99), "012 0 12 0 12 0 12 12 ");
}

/* Trips 1, 2, 3: who leaves first waits, or does not; where a break leaves, too. */
static void test_loops(void **state)
{
    static const char LOOP[] = "launch(threads = 3, warp = 3); private int i; kernel k() {"
                               " i = tid; while (i < 2) i = i + 1; ; ; }";
    static const char BREAK[] = "launch(threads = 2, warp = 2); private int i; kernel k() {"
                                " while (i < 2) { if (tid == 0) break; i = i + 1; } ; }";
    (void)state;
    assert_string_equal(groups_of(LOOP, "dws-none", 99), "012 012 01 01 0 0 012 012 ");
    assert_string_equal(groups_of(LOOP, "dws-ifs", 99), "012 012 01 01 0 0 012 012 ");
    assert_string_equal(groups_of(LOOP, "dws-loops", 99), groups_of(LOOP, "oldest", 99));
    assert_string_equal(groups_of(BREAK, "dws-none", 99), "01 01 1 0 1 1 1 1 1 1 01 ");
    assert_string_equal(groups_of(BREAK, "dws-loops", 99), "01 01 1 0 1 0 1 1 1 1 1 1 ");
}

/* The second call's early return waits for the other; the if that is around waits for both. */
static void test_returns(void **state)
{
    static const char TEXT[] = "launch(threads = 3, warp = 3); private int p;"
                               " void f() { if (tid == 1) return; p = 5; }"
                               " kernel k() { if (tid < 2) { f(); p = 6; } else p = 7; p = 8; }";
    (void)state;
    /* if; else: p = 7; call, if, else-part, return of 1, 0: p = 5; p = 6; p = 8 */
    assert_string_equal(groups_of(TEXT, "dws-none", 99), "012 2 01 01 0 1 0 01 012 ");
}

/* Who waits at a barrier holds up nobody, and a warp in which nobody might go on gives its regions up. */
static void test_barriers(void **state)
{
    static const char TEXT[] = "launch(threads = 2, warp = 2); private int p; kernel k() {"
                               " if (tid == 0) { p = 1; barrier(); } else { p = 2; barrier(); } }";
    (void)state;
    struct machine *machine = support_machine(support_program(TEXT), SUBJECT_THREADS);
    static struct trail trail;
    assert_int_equal(run_groups(&trail, machine, "dws-none"), STATUS_BARRIER_DIVERGENCE);
    assert_string_equal(groups_of(TEXT, "dws-none", 99), "01 1 1 0 0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_branch_splits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_tokens, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_every_branch_splits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_paths, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_loops, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_returns, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_barriers, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
