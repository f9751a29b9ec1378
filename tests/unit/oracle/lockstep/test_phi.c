/* The oracle `phi`: a warp and the lock-step program of the anchored blocks make the same events; other
 * graphs and orders do not, and each comparison speaks when a fault is planted. */
#include "tests/unit/shared/planted.h"

#include "engine/blocks/lockstep.h"
#include "oracle/lockstep/phi.h"

/* Racy: winners, and lanes that read what others have written in the statement before. */
static const char RACY[] =
    "launch(threads = 4, warp = 4); shared int x; shared int a[4]; private int last;"
    "void f(int p) { private int q; q = p + x; if (q & 1) { return; } x = q; }"
    "kernel k() { private int i;"
    " while (i < tid + 1) { if (a[(tid + 1) % 4] > 0 && x < 9) { f(tid); } else { a[tid] = x + i; }"
    "   if (x == 5) { break; } i += 1; x = x + tid; last = i; } barrier(); a[0] = tid; }";

/* CK11: statements on the path of a break. */
static const char CK11[] =
    "launch(threads = 2, warp = 2); shared int s = 1; kernel k() { private int i;"
    " while (i < 2) { i++; if (tid == 0) { s = s + 1; break; } s = s * 2; } }";

/* A spin that never ends in a warp (P2 of simt-correctness): prefixes agree. */
static const char SPIN[] = "launch(threads = 2, warp = 2); shared int s; kernel k() {"
                           " while (s == 0) { if (tid > 2) { s = 1; } } }";

struct fixture {
    struct phi_trace *t;
    struct answer answer;
    struct machine *warp, *phi;
};

static void prepare(struct fixture *f, const char *text, enum subject_id subject,
                    enum program_id p_id, enum program_id phi_id)
{
    const struct machine_options none = {0};
    struct forms *forms = forms_new(&test_arena, support_parse(text));
    const struct form *core = forms_get(forms, PROGRAM_CORE), *p = forms_get(forms, p_id);
    const struct form *phi = forms_get(forms, phi_id);
    assert_non_null(core->program);
    assert_non_null(phi->program);
    memset(f, 0, sizeof *f);
    f->warp =
        machine_new(&test_arena, &semantics_simt, core->program, &subject_table[subject].options);
    f->phi = machine_new(&test_arena, &semantics_lockstep, phi->program, &none);
    f->t = phi_trace_new(&test_arena, f->warp, f->phi, p->program);
    f->t->answer = &f->answer;
    f->t->subject = subject;
}

static void prepare_else_first(struct fixture *f, const char *text)
{
    prepare(f, text, SUBJECT_SIMT, PROGRAM_ANCHORED, PROGRAM_LOCKSTEP_ANCHORED);
}

static void test_same_events(void **state)
{
    (void)state;
    static const char *const texts[] = {
        RACY, CK11,
        "launch(threads = 3, blocks = 2); global int g[2]; kernel k() { private int h;"
        " havoc(h); if (h > 0) { g[bid] = h; } h = atomic_add(g[bid], tid);"
        " assert(tid < 2 || bid == 0); }"};
    for (uint32_t i = 0; i < 6; i++) {
        struct fixture f;
        if (i % 2)
            prepare(&f, texts[i / 2], SUBJECT_SIMT_THEN, PROGRAM_ANCHORED_THEN,
                    PROGRAM_LOCKSTEP_ANCHORED_THEN);
        else
            prepare_else_first(&f, texts[i / 2]);
        (void)phi_trace_run(f.t, 1 << 16);
        if (f.t->lost)
            print_error("%s\n", f.answer.divergence->summary);
        assert_false(f.t->lost);
        assert_true(f.t->events > 6);
    }
}

/* Unanchored, the path of a break is run when all have left the loop. */
static void test_another_graph_shows(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, CK11, SUBJECT_SIMT, PROGRAM_BLOCKS, PROGRAM_LOCKSTEP);
    (void)phi_trace_run(f.t, 1 << 16);
    assert_true(f.t->lost);
    assert_string_equal(f.answer.divergence->class_name, "event");
}

static void test_another_order_shows(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, RACY, SUBJECT_SIMT_THEN, PROGRAM_ANCHORED, PROGRAM_LOCKSTEP_ANCHORED);
    (void)phi_trace_run(f.t, 1 << 16);
    assert_true(f.t->lost);
    assert_string_equal(f.answer.divergence->class_name, "event");
    assert_string_equal(f.answer.divergence->observable, "statement");
}

static void test_a_spent_budget_says_nothing(void **state)
{
    (void)state;
    struct fixture f;
    prepare_else_first(&f, SPIN);
    assert_int_equal(phi_trace_run(f.t, 5000), STATUS_STEP_LIMIT);
    assert_false(f.t->lost);
    assert_true(f.t->events > 100);
}

/* lower_cfg_options.link: what a statement of P comes from, by kind and line. */
static void test_statements_say_where_they_come_from(void **state)
{
    (void)state;
    struct forms *forms = forms_new(&test_arena, support_parse(RACY));
    const struct program *core = forms_get(forms, PROGRAM_CORE)->program;
    const struct program *p = forms_get(forms, PROGRAM_ANCHORED)->program;
    uint32_t guards = 0, assigns = 0;
    for (uint32_t i = 0; i < p->stm_count; i++) {
        const struct code_stm *stm = &p->stms[i];
        if (stm->origin == 0)
            continue;
        const struct code_stm *from = &core->stms[stm->origin - 1];
        bool guard = from->kind == CODE_IF || from->kind == CODE_WHILE;
        assert_int_equal(stm->line, from->line);
        assert_int_equal(stm->kind, guard ? CODE_ASSIGN : from->kind);
        guards += guard;
        assigns += stm->kind == CODE_ASSIGN && !guard;
    }
    assert_int_equal(guards, 4);  /* while, if, if in f, if */
    assert_int_equal(assigns, 9); /* p and q of f, its x; f's argument; a, i, x, last, a */
}

/* ---- planted faults ---- */

static const lane_mask *last_enabled;

static enum rule spoil_shared(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_PSI_T)
        machine->memory[machine->program->shared_base]++;
    return rule;
}

/* last is the only private variable of file level that RACY writes; i the kernel's first. */
static enum rule spoil_private(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_VEC_ASSIGN)
        machine->memory[machine->program->private_base]--;
    return rule;
}

static enum rule spoil_local(struct machine *machine, uint32_t actor, struct choices *choices)
{
    uint32_t pc = lockstep_state(machine, actor).pc;
    enum rule rule = honest_step(machine, actor, choices);
    bool writes_i = rule == RULE_LOCK_VEC_ASSIGN &&
                    machine->program->stms[pc].place.space == SPACE_LOCAL &&
                    machine->program->stms[pc].place.offset == 0;
    if (writes_i)
        machine->memory[machine->program->frame_base]++;
    return rule;
}

static enum rule spoil_accesses(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    const struct observer *o = machine->options.observers;
    if (rule == RULE_LOCK_PSI_T && o)
        o->read(o->context, 0, 0, 0);
    return rule;
}

/* The step is reported for one lane more or less. */
static enum rule spoil_lanes(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    const struct observer *o = machine->options.observers;
    struct step_event event = {.rule = rule, .active = 2 ^ *last_enabled};
    if (rule == RULE_LOCK_PSI_T && o)
        o->next->step(o->next->context, machine, &event);
    return rule;
}

static enum rule spoil_status(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_PSI_T)
        machine->head->status = STATUS_OUT_OF_BOUNDS;
    return rule;
}

static enum rule end_early(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_GOTO)
        machine->head->status = STATUS_TERMINATED;
    return rule;
}

static const struct {
    step_function *step;
    const char *class_name, *observable;
} faults[] = {
    {spoil_shared, "store", "shared memory"},
    {spoil_private, "store", "private memory"},
    {spoil_local, "store", "local memory"},
    {spoil_accesses, "accesses", "of lock-step"},
    {spoil_lanes, "event", "lanes"},
    {spoil_status, "status", "out_of_bounds"},
    {end_early, "event", "end"},
};

static void test_every_fault_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        prepare_else_first(&f, RACY);
        last_enabled = &f.t->enabled;
        plant(f.phi, faults[i].step);
        (void)phi_trace_run(f.t, 1 << 16);
        assert_true(f.t->lost);
        assert_string_equal(f.answer.divergence->class_name, faults[i].class_name);
        assert_string_equal(f.answer.divergence->observable, faults[i].observable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_events),
        cmocka_unit_test(test_another_graph_shows),
        cmocka_unit_test(test_another_order_shows),
        cmocka_unit_test(test_a_spent_budget_says_nothing),
        cmocka_unit_test(test_statements_say_where_they_come_from),
        cmocka_unit_test(test_every_fault_shows),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
