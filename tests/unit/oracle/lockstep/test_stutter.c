/* The oracle `stutter`: P and pi(P) take the same steps, whoever leads; each comparison speaks when a
 * fault is planted into pi(P)'s steps. */
#include "tests/unit/shared/blocks.h"
#include "tests/unit/shared/planted.h"

#include "oracle/lockstep/stutter.h"

static const char OWNED[] = "launch(threads = 3); shared int a[3]; kernel k() {"
                            " private int i; for (i = 0; i < 2 + tid; i++) { a[tid] += i + 1; }"
                            " barrier(); }";

/* Recursion of another depth in each thread, nested loops with a barrier, choices, atomics. */
static const char RICH[] =
    "launch(threads = 4, blocks = 2); shared int a[4]; global int n; private int top;"
    "int f(int k) { private int r; if (k <= 0) { return 1; } r = f(k - 1); return k * r; }"
    "kernel k() { private int i; private int j; top = f(tid); havoc(i);"
    " for (i = 0; i < 2; i++) { for (j = 0; j < tid; j++) { a[tid] += top; } barrier(); }"
    " j = atomic_add(n, tid); }";

/* Ill-formed: a guard that reads a shared variable which others change, an assume behind it. */
static const char ILL_FORMED_KERNEL[] =
    "launch(threads = 3); shared int s; kernel k() blocks { private int x;"
    " Start: assume(1); s = tid; goto A, B;"
    " A: assume(s == 1); x = 1; goto C;"
    " B: assume(s != 1); x = 2; assume(x); goto C;"
    " C: assume(1); s = x; goto Exit; Exit: assume(1); barrier(); goto End; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

static void prepare(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->c = (struct checking){.arena = &test_arena,
                             .options = &f->options,
                             .kernel = support_parse(text),
                             .result = &f->result};
    f->options.subjects = SUBJECT_BIT(SUBJECT_PREDICATED) | SUBJECT_BIT(SUBJECT_INTERLEAVE);
    f->c.forms = forms_new(&test_arena, f->c.kernel);
    f->result.answers[ORACLE_STUTTER].verdict = VERDICT_NOT_APPLICABLE;
    explore_prepare(&f->c);
}

static const struct answer *run(struct fixture *f, const char *text, step_function *step)
{
    prepare(f, text);
    plant(f->c.subjects[SUBJECT_PREDICATED].machine, step);
    stutter_judge(&f->c);
    return &f->result.answers[ORACLE_STUTTER];
}

static struct block_thread *thread_of(struct machine *machine, uint32_t thread)
{
    return (struct block_thread *)(uintptr_t)interleave_state(machine, thread);
}

#define EARLY                                                                                      \
    "launch(threads = 2); global int a; kernel k() blocks { Start: goto A, B; A: assume(tid < "    \
    "0); "                                                                                         \
    "a = 1; goto End; B: assume(tid < 1); a = 2; goto End; }"

/* Whether the thread is about to assign, for P, to a variable there. */
static bool assigns(const struct machine *machine, uint32_t actor, enum ast_space space)
{
    uint32_t pc = interleave_state(machine, actor)->pc;
    if (pc & PC_BLOCK)
        return false;
    const struct code_stm *stm = &machine->program->stms[pc];
    return stm->kind == CODE_ASSIGN && stm->origin && stm->place.space == space;
}

/* a[] is written, in spoilt value. */
static enum rule spoil_shared(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool writes = assigns(machine, actor, SPACE_SHARED);
    enum rule rule = honest_step(machine, actor, choices);
    if (writes && rule == RULE_INTK_ASSIGN)
        machine->memory[machine->program->shared_base + actor % 3]++;
    return rule;
}

/* i is the first word of a frame. */
static enum rule spoil_local(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool writes = assigns(machine, actor, SPACE_LOCAL);
    enum rule rule = honest_step(machine, actor, choices);
    if (writes)
        machine->memory[machine->threads[actor].base[SPACE_LOCAL]]++;
    return rule;
}

static enum rule spoil_accesses(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool writes = assigns(machine, actor, SPACE_SHARED);
    enum rule rule = honest_step(machine, actor, choices);
    const struct observer *o = machine->options.observers;
    if (writes && rule == RULE_INTK_ASSIGN && o && o->read)
        o->read(o->context, actor, 0, 0);
    return rule;
}

/* A statement that does not act acts all the same. */
static enum rule spoil_silence(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    const struct observer *o = machine->options.observers;
    if (rule == RULE_INTK_DISABLED && o && o->write)
        o->write(o->context, actor, machine->program->shared_base, 77, 0);
    return rule;
}

/* v_active of thread 1 says End too early. */
static enum rule spoil_active(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    const struct program *pi = machine->program;
    uint32_t pc = interleave_state(machine, actor)->pc;
    bool at_goto = !(pc & PC_BLOCK) && pi->stms[pc].kind == CODE_GOTO;
    if (actor == 1 && rule == RULE_INTK_ASSIGN && at_goto && pi->blocks[pi->stms[pc].block].origin)
        machine->memory[machine->threads[1].base[SPACE_LOCAL] + pi->stms[pc - 1].place.offset] = 0;
    return rule;
}

static enum rule spoil_status(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool writes = assigns(machine, actor, SPACE_SHARED);
    enum rule rule = honest_step(machine, actor, choices);
    if (writes && rule == RULE_INTK_ASSIGN) {
        machine->head->status = STATUS_ASSERT_FAILS;
        machine->head->fault_thread = actor;
    }
    return rule;
}

static enum rule spoil_barrier(struct machine *machine, uint32_t actor, struct choices *choices)
{
    uint64_t passed = machine->hits[RULE_INTK_BARRIER_S];
    enum rule rule = honest_step(machine, actor, choices);
    if (machine->hits[RULE_INTK_BARRIER_S] > passed)
        thread_of(machine, 0)->waiting = 1;
    return rule;
}

/* The first private word, while a procedure returns. */
static enum rule spoil_return(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_INTK_RETURN)
        machine->memory[machine->threads[actor].base[SPACE_PRIVATE]]++;
    return rule;
}

/* A thread turns in circles: back to the entry of its block. */
static enum rule spin(struct machine *machine, uint32_t actor, struct choices *choices)
{
    uint32_t pc = interleave_state(machine, actor)->pc;
    if (machine->steps > 50 && !(pc & PC_BLOCK) && machine->program->stms[pc].kind == CODE_GOTO) {
        machine->steps++;
        return RULE_INTK_GOTO;
    }
    return honest_step(machine, actor, choices);
}

/* Another thread's write at the same place, seen by the detector only. */
static enum rule invent_access(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool writes = assigns(machine, actor, SPACE_SHARED);
    enum rule rule = honest_step(machine, actor, choices);
    const struct observer *o = machine->options.observers;
    if (writes && rule == RULE_INTK_ASSIGN && o && o->next)
        o->next->write(o->next->context, (actor + 1) % 3, machine->program->shared_base + actor % 3,
                       0, 0);
    return rule;
}

/* An assumption that does not hold is blamed on the other thread. */
static enum rule blame_other(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (machine_status(machine) == STATUS_INFEASIBLE)
        machine->head->fault_thread ^= 1;
    return rule;
}

static const struct {
    const char *text;
    step_function *step;
    const char *signature;
} faults[] = {
    {OWNED, spoil_shared, "stutter|store|interleave.assign|shared memory"},
    {OWNED, spoil_local, "stutter|store|interleave.assign|local memory"},
    {OWNED, spoil_accesses, "stutter|accesses|interleave.assign|of pi(P)"},
    {OWNED, spoil_silence, "stutter|control|none|silent write"},
    {OWNED, spoil_active, "stutter|control|none|v_active"},
    {OWNED, spoil_status, "stutter|status|interleave.assign|assert_fails"},
    {OWNED, spoil_barrier, "stutter|control|interleave.barrier|waiting"},
    {OWNED, spin, "stutter|control|none|walk"},
    {OWNED, invent_access, "stutter|race|interleave.assign|only in pi(P)"},
    {EARLY, blame_other, "stutter|status|interleave.assume_F|infeasible"},
    {RICH, spoil_return, "stutter|store|interleave.return|private memory"},
};

static void test_every_fault_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        const struct answer *answer = run(&f, faults[i].text, faults[i].step);
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(divergence_signature(&test_arena, answer->divergence),
                            faults[i].signature);
    }
}

/* With pi(P) in the lead the same fault shows, too. */
static void test_faults_show_when_the_image_leads(void **state)
{
    (void)state;
    struct fixture f;
    struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN, .quantum = 3};
    (void)run(&f, OWNED, spoil_shared);
    struct stutter *s = stutter_new(&test_arena, f.c.subjects[SUBJECT_INTERLEAVE].machine,
                                    f.c.subjects[SUBJECT_PREDICATED].machine);
    (void)stutter_run(s, SUBJECT_PREDICATED, &spec, 1 << 16);
    assert_true(s->lost);
}

static void test_honest_machines_agree(void **state)
{
    (void)state;
    static const char *const texts[] = {OWNED, RICH, ILL_FORMED_KERNEL,
                                        "launch(threads = 4); shared int sum[4];\n" BLOCKS_SCAN};
    static const enum subject_id leaders[] = {SUBJECT_INTERLEAVE, SUBJECT_PREDICATED};
    for (uint32_t i = 0; i < 64; i++) {
        struct fixture f;
        prepare(&f, texts[i % 4]);
        struct stutter *s = stutter_new(&test_arena, f.c.subjects[SUBJECT_INTERLEAVE].machine,
                                        f.c.subjects[SUBJECT_PREDICATED].machine);
        struct sched_spec spec = sched_portfolio(i, i / 8 % 16, s->p->actor_count, 0);
        s->answer = &f.result.answers[ORACLE_STUTTER];
        enum status status = stutter_run(s, leaders[i / 4 % 2], &spec, 1 << 16);
        if (s->lost)
            print_error("%s\n", s->answer->divergence->summary);
        assert_false(s->lost);
        assert_int_not_equal(status, STATUS_STEP_LIMIT);
        assert_int_equal(machine_status(s->p), machine_status(s->pi));
        assert_int_equal(s->p_races->found, i % 4 == 2);
    }
}

/* Steps that access something else are told apart: another thread, address, kind, or once more. */
static void test_accesses_are_told_apart(void **state)
{
    (void)state;
    enum { THREADS = 4, ADDRESSES = 3, KINDS = 3, ALL = THREADS * ADDRESSES * KINDS };
    struct image_accesses a[2];
    for (uint32_t k = 0; k < 2; k++)
        image_accesses_start(&a[k], &test_arena, NULL);
    for (uint32_t i = 0; i <= ALL; i++)
        for (uint32_t j = 0; j <= ALL; j++) {
            const uint32_t which[] = {i, j};
            for (uint32_t k = 0; k < 2; k++) {
                image_accesses_clear(&a[k]);
                const struct observer *o = &a[k].observer;
                uint32_t thread = which[k] % THREADS, address = which[k] / THREADS % ADDRESSES;
                o->read(o->context, 0, 0, 0);
                if (which[k] == ALL)
                    continue;
                switch ((enum access_kind)(which[k] / (THREADS * ADDRESSES))) {
                case ACCESS_READ:
                    o->read(o->context, thread, address, 0);
                    break;
                case ACCESS_WRITE:
                    o->write(o->context, thread, address, 7, 0);
                    break;
                case ACCESS_ATOMIC:
                    o->atomic(o->context, thread, address, 7, 0);
                    break;
                }
            }
            assert_int_equal(image_same_accesses(&a[0], &a[1]), i == j);
        }
}

static void test_says_why_not(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f,
            "kernel k() blocks { private int x; Start: goto A, B; A: goto B, End; B: goto A; }");
    stutter_judge(&f.c);
    const struct answer *answer = &f.result.answers[ORACLE_STUTTER];
    assert_int_equal(answer->verdict, VERDICT_NOT_APPLICABLE);
    assert_non_null(strstr(answer->reason, "irreducible"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_machines_agree),
        cmocka_unit_test(test_every_fault_shows),
        cmocka_unit_test(test_faults_show_when_the_image_leads),
        cmocka_unit_test(test_accesses_are_told_apart),
        cmocka_unit_test(test_says_why_not),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
