/* The oracle `lockstep`: the kernels of docs/catalogue.md, agree; each comparison speaks when a
 * fault is planted into one of the two machines. */
#include "tests/unit/shared/blocks.h"
#include "tests/unit/shared/checking.h"

#include "engine/blocks/interleave.h"
#include "engine/blocks/lockstep.h"
#include "oracle/lockstep/lockstep.h"
#include "oracle/lockstep/replay.h"

static const char OWNED[] = "launch(threads = 3); shared int a[3]; global int g; kernel k() {"
                            " private int i; for (i = 0; i < 2 + tid; i++) { a[tid] += i + 1; }"
                            " barrier(); }";

/* Threads leave the inner loop at different times; procedures; atomics. */
static const char RICH[] =
    "launch(threads = 4, blocks = 2); shared int a[4]; global int n; private int top;"
    "int f(int k) { private int r; if (k <= 0) { return 1; } r = f(k - 1); return k * r; }"
    "kernel k() { private int i; private int j; top = f(tid);"
    " for (i = 0; i < 2; i++) { for (j = 0; j < tid; j++) { a[tid] += top; } barrier(); }"
    " j = atomic_add(n, tid); }";

/* A call in a loop, of a procedure: functions that do not call themselves are inlined. */
static const char CALLS[] = "launch(threads = 3); shared int a[3];"
                            "void f(int k) { if (k > 0) { f(k - 1); } a[tid] += 1; }"
                            "kernel k() { private int i; for (i = 0; i < 1 + tid; i++) { f(1); } }";

/* The out-parameters of a procedure are assigned one after another, each a step of lock-step; in P all at once, while
 * other threads have gone another way. Minimised from case 1063 of seed 1, with a planted fault. */
static const char OUTS[] =
    "launch(threads=2, warp=1, blocks=2, seed=0xec4); void f0(out int v2, out int v3) "
    "blocks { B0: ; v3 = 1; return; } void f1(out int v4) blocks { private int v5; B0: ; "
    "goto B1, B3; B1: ; return; B2: return; B3: ; f0(v5, v4); ; ; goto B2; } kernel k() "
    "blocks { private int v0; private int v1; Start: ; f1(v0); ; goto B0; B0: v0 = v0 + "
    "1; ; ; ; v1 = v0 < 3; goto B2, B1; B1: assume(v1); goto B0; B2: ; goto End; }";

static const char PRIVATE[] = "launch(threads = 3); shared int a[3]; private int p; kernel k() {"
                              " private int i; for (i = 0; i < 3; i++) { p = i; a[tid] = i; } }";

static const char ATOMIC[] = "launch(threads = 3); shared int n; kernel k() { private int i;"
                             " i = atomic_add(n, 2); i = 0; }";

/* Too large to be compared as a whole behind every step. */
static const char LARGE[] = "launch(threads = 3); shared int a[1100]; kernel k() { a[tid] = tid; }";

static const char DIVERGES[] =
    "launch(threads = 3); shared int a[3]; kernel k() { if (tid > 0) { barrier(); } a[tid] = 1; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

static void prepare(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->c = checking_of(text, &f->options, &f->result);
    f->options.subjects = SUBJECT_BIT(SUBJECT_LOCKSTEP) | SUBJECT_BIT(SUBJECT_INTERLEAVE);
    f->result.answers[ORACLE_LOCKSTEP].verdict = VERDICT_NOT_APPLICABLE;
    explore_prepare(&f->c);
}

/* ---- planted faults ---- */

static enum rule (*honest[SUBJECT_COUNT][4])(struct machine *, uint32_t, struct choices *);
static uint32_t runs; /* executions that have started */

static enum rule honest_step(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum subject_id subject =
        machine->program->form == FORM_LOCKSTEP ? SUBJECT_LOCKSTEP : SUBJECT_INTERLEAVE;
    bool observed = machine->options.observers != NULL;
    runs += machine->steps == 0;
    return honest[subject][observed ? MACHINE_OBSERVED : 0](machine, actor, choices);
}

typedef enum rule step_function(struct machine *, uint32_t, struct choices *);

static void plant(struct fixture *f, enum subject_id subject, step_function *step)
{
    static struct semantics faulty[SUBJECT_COUNT];
    struct machine *machine = f->c.subjects[subject].machine;
    faulty[subject] = *machine->semantics;
    memcpy(honest[subject], faulty[subject].step, sizeof honest[subject]);
    for (uint32_t i = 0; i < 4; i++)
        faulty[subject].step[i] = step;
    machine->semantics = &faulty[subject];
}

static const struct answer *run(struct fixture *f, const char *text, enum subject_id subject,
                                step_function *step)
{
    runs = 0;
    prepare(f, text);
    plant(f, subject, step);
    lockstep_judge(&f->c);
    return &f->result.answers[ORACLE_LOCKSTEP];
}

static void assert_signature(const struct answer *answer, const char *signature)
{
    assert_int_equal(answer->verdict, VERDICT_DIVERGE);
    for (const struct divergence *d = answer->divergence; d; d = d->next)
        if (strcmp(divergence_signature(&test_arena, d), signature) == 0)
            return;
    fail_msg("%s instead of %s", divergence_signature(&test_arena, answer->divergence), signature);
}

static struct block_thread *thread_of(struct machine *p, uint32_t thread)
{
    return (struct block_thread *)(uintptr_t)interleave_state(p, thread);
}

static enum rule spoil_shared(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_PSI_T)
        machine->memory[machine->program->shared_base]++;
    return rule;
}

/* What thread 2 has written. */
static enum rule spoil_third(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_PSI_T)
        machine->memory[machine->program->shared_base + 2]++;
    return rule;
}

static enum rule spoil_unwritten(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_END)
        machine->memory[0]++;
    return rule;
}

/* i is the first word of the frames. */
static enum rule spoil_local(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_INTK_ASSIGN && actor == 1)
        machine->memory[machine->threads[1].base[SPACE_LOCAL]]++;
    return rule;
}

static enum rule spoil_private(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_INTK_RETURN)
        machine->memory[machine->threads[actor].base[SPACE_PRIVATE]] = 77;
    return rule;
}

/* The same, of the last thread only, whose private words nobody else asks for. */
static enum rule spoil_last_private(struct machine *machine, uint32_t actor,
                                    struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_INTK_GOTO && actor + 1 == machine->program->launch.threads)
        machine->memory[machine->threads[actor].base[SPACE_PRIVATE]]++;
    return rule;
}

static enum rule spoil_atomic(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_INTK_ATOMIC && actor == 1)
        machine->memory[machine->threads[1].base[SPACE_LOCAL]]++;
    return rule;
}

/* Thread 2 ends instead of going on. */
static enum rule spoil_goto(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_INTK_GOTO && actor == 2)
        thread_of(machine, actor)->pc = PC_END;
    return rule;
}

/* Thread 1 skips the rest of a block. */
static enum rule spoil_statement(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    struct block_thread *T = thread_of(machine, actor);
    while (actor == 1 && rule == RULE_INTK_ASSIGN && !machine->program->stms[T->pc].last)
        T->pc++;
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

static enum rule spoil_race(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_PSI_T)
        for (const struct observer *o = machine->options.observers; o; o = o->next)
            for (uint32_t t = 0; t < 2; t++)
                o->write(o->context, t, 0, 0, 0);
    return rule;
}

/* The interval that the barrier has ended goes on, for P's detector. */
static enum rule spoil_interval(struct machine *machine, uint32_t actor, struct choices *choices)
{
    uint64_t passed = machine->hits[RULE_INTK_BARRIER_S];
    enum rule rule = honest_step(machine, actor, choices);
    const struct observer *o = machine->options.observers;
    if (machine->hits[RULE_INTK_BARRIER_S] > passed && o && o->next)
        for (uint32_t t = 0; t < 2; t++)
            o->next->write(o->next->context, t, 0, 0, 0);
    return rule;
}

static enum rule spoil_status(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (rule == RULE_LOCK_PSI_T)
        machine->head->status = STATUS_ASSERT_FAILS;
    return rule;
}

/* The barrier releases all threads but the first. */
static enum rule spoil_release(struct machine *machine, uint32_t actor, struct choices *choices)
{
    uint32_t passed = (uint32_t)machine->hits[RULE_INTK_BARRIER_S];
    enum rule rule = honest_step(machine, actor, choices);
    if (machine->hits[RULE_INTK_BARRIER_S] > passed)
        thread_of(machine, 0)->waiting = 1;
    return rule;
}

/* Thread 0, which does not take part, lets the others pass. */
static enum rule spoil_claim(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool divergent = thread_of(machine, 1)->waiting && actor == 0;
    if (!divergent)
        return honest_step(machine, actor, choices);
    thread_of(machine, 1)->waiting = thread_of(machine, 2)->waiting = 0;
    return RULE_INTK_SKIP;
}

/* A thread that has left the loop comes back while the loop runs; both machines say so. */
static struct machine *other_machine;

static bool enters_block(const struct machine *machine, uint32_t actor, enum rule rule)
{
    uint32_t entered = lockstep_state(machine, actor).pc;
    return entered != PC_END && (entered & PC_BLOCK) && rule == RULE_LOCK_GOTO;
}

/* Thread 0 is in the block, too, that is being entered. */
static void bring_along(struct machine *machine, uint32_t actor)
{
    uint32_t entered = lockstep_state(machine, actor).pc & ~PC_BLOCK;
    struct block_thread *T = thread_of(other_machine, 0);
    uint32_t number = machine->program->blocks[entered].origin;
    uint32_t v_active = machine->threads[0].base[SPACE_LOCAL] +
                        other_machine->program->functions[0].frame_words; /* the first new one */
    if (number > 0 && T->pc != (PC_BLOCK | (number - 1))) {
        machine->memory[v_active] = (int32_t)number;
        T->pc = PC_BLOCK | (number - 1);
    }
}

static enum rule spoil_loop(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (enters_block(machine, actor, rule) && machine->steps > 60)
        bring_along(machine, actor);
    return rule;
}

/* The same, in the block right behind a call. */
static enum rule spoil_loop_after_call(struct machine *machine, uint32_t actor,
                                       struct choices *choices)
{
    static bool returned;
    uint32_t frames = lockstep_state(machine, actor).frames;
    enum rule rule = honest_step(machine, actor, choices);
    if (machine->steps == 1)
        returned = false;
    returned |= frames == 2 && lockstep_state(machine, actor).frames == 1;
    if (returned && enters_block(machine, actor, rule)) {
        bring_along(machine, actor);
        returned = false;
    }
    return rule;
}

/* A thread of P is no longer where its block begins. */
static enum rule spoil_entry(struct machine *machine, uint32_t actor, struct choices *choices)
{
    struct block_thread *T = thread_of(other_machine, 1);
    uint32_t pc = lockstep_state(machine, actor).pc;
    if (pc != PC_END && (pc & PC_BLOCK) && T->pc != PC_END && (T->pc & PC_BLOCK) &&
        machine->steps > 20)
        T->pc = other_machine->program->blocks[T->pc & ~PC_BLOCK].first;
    return honest_step(machine, actor, choices);
}

static enum rule fail_second_run(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (runs == 2 && machine_status(machine) == STATUS_TERMINATED)
        machine->head->status = STATUS_ASSERT_FAILS;
    return rule;
}

static enum rule spoil_second_run(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (runs == 2 && machine_status(machine) == STATUS_TERMINATED)
        machine->memory[0]++;
    return rule;
}

static enum rule lengthen_second_run(struct machine *machine, uint32_t actor,
                                     struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (runs == 2 && machine_status(machine) == STATUS_TERMINATED)
        machine->steps++;
    return rule;
}

/* The lock-step program stays at a goto of its own. */
static enum rule spin(struct machine *machine, uint32_t actor, struct choices *choices)
{
    uint32_t pc = lockstep_state(machine, actor).pc;
    if (machine->steps > 40 && !(pc & PC_BLOCK) && machine->program->stms[pc].kind == CODE_GOTO) {
        machine->steps++;
        return RULE_LOCK_GOTO;
    }
    return honest_step(machine, actor, choices);
}

static const struct {
    const char *text;
    enum subject_id subject;
    step_function *step;
    const char *signature;
} faults[] = {
    {OWNED, SUBJECT_LOCKSTEP, spoil_shared, "lockstep|store|lockstep.psi_T|shared memory"},
    {LARGE, SUBJECT_LOCKSTEP, spoil_shared, "lockstep|store|lockstep.psi_T|shared memory"},
    {LARGE, SUBJECT_LOCKSTEP, spoil_third, "lockstep|store|lockstep.psi_T|shared memory"},
    {OWNED, SUBJECT_LOCKSTEP, spoil_unwritten, "lockstep|store|lockstep.end|global memory"},
    {OWNED, SUBJECT_INTERLEAVE, spoil_local, "lockstep|store|lockstep.vec_assign|local memory"},
    {RICH, SUBJECT_INTERLEAVE, spoil_private, "lockstep|store|lockstep.vec_assign|private memory"},
    {PRIVATE, SUBJECT_INTERLEAVE, spoil_last_private,
     "lockstep|store|lockstep.vec_assign|private memory"},
    {ATOMIC, SUBJECT_INTERLEAVE, spoil_atomic, "lockstep|store|lockstep.atomic|local memory"},
    {OWNED, SUBJECT_LOCKSTEP, spoil_entry, "lockstep|control|lockstep.block|block"},
    {OWNED, SUBJECT_INTERLEAVE, spoil_goto, "lockstep|control|lockstep.vec_assign|v_active"},
    {OWNED, SUBJECT_INTERLEAVE, spoil_statement, "lockstep|control|lockstep.vec_assign|statement"},
    {OWNED, SUBJECT_LOCKSTEP, spoil_accesses, "lockstep|accesses|lockstep.psi_T|of lock-step"},
    {OWNED, SUBJECT_LOCKSTEP, spoil_race, "lockstep|race|lockstep.psi_T|only in lock-step"},
    {OWNED, SUBJECT_INTERLEAVE, spoil_interval, "lockstep|race|lockstep.sync_T|only in P"},
    {OWNED, SUBJECT_LOCKSTEP, spoil_status, "lockstep|status|lockstep.psi_T|assert_fails"},
    {OWNED, SUBJECT_INTERLEAVE, spoil_release, "lockstep|sync|lockstep.sync_T|still waiting"},
    {DIVERGES, SUBJECT_INTERLEAVE, spoil_claim, "lockstep|sync|lockstep.sync_F|released"},
    {OWNED, SUBJECT_LOCKSTEP, spoil_loop, "lockstep|semi|lockstep.block|loop"},
    {CALLS, SUBJECT_LOCKSTEP, spoil_loop_after_call, "lockstep|semi|lockstep.block|loop"},
    {OWNED, SUBJECT_INTERLEAVE, fail_second_run, "lockstep|verdict|none|assert_fails"},
    {OWNED, SUBJECT_INTERLEAVE, spoil_second_run, "lockstep|result|none|global memory"},
    {OWNED, SUBJECT_INTERLEAVE, lengthen_second_run, "lockstep|steps|none|terminated"},
    {OWNED, SUBJECT_LOCKSTEP, spin, "lockstep|termination|none|step_limit"},
};

static void test_every_fault_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        runs = 0;
        prepare(&f, faults[i].text);
        other_machine = f.c.subjects[SUBJECT_INTERLEAVE].machine;
        plant(&f, faults[i].subject, faults[i].step);
        lockstep_judge(&f.c);
        assert_signature(&f.result.answers[ORACLE_LOCKSTEP], faults[i].signature);
    }
}

static void test_honest_machines_agree(void **state)
{
    (void)state;
    static const char *const texts[] = {OWNED, RICH, DIVERGES, OUTS,
                                        "launch(threads = 4); shared int sum[4];\n" BLOCKS_SCAN};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        const struct answer *answer = run(&f, texts[i], SUBJECT_LOCKSTEP, honest_step);
        if (answer->divergence)
            print_error("%s\n", answer->divergence->summary);
        assert_int_equal(answer->verdict, VERDICT_AGREE);
        assert_true(answer->checked > 10);
    }
}

/* ---- what the replay says about single kernels ---- */

static struct replay *replay_of(struct fixture *f, const char *text, enum status *status)
{
    struct replay_choices plain;
    prepare(f, text);
    struct replay *r = replay_new(&test_arena, f->c.subjects[SUBJECT_LOCKSTEP].machine,
                                  f->c.subjects[SUBJECT_INTERLEAVE].machine);
    r->answer = &f->result.answers[ORACLE_LOCKSTEP];
    replay_plain_choices(&plain, r->phi);
    replay_begin(r);
    *status = replay_run(r, &plain.choices, 1 << 16);
    assert_false(r->lost);
    return r;
}

/* CK14: both race, and the replay stops there: 1 in lock-step. */
static void test_race_ends_the_replay(void **state)
{
    (void)state;
    struct fixture f;
    enum status status;
    struct replay *r =
        replay_of(&f, "launch(threads = 2); shared int v; kernel k() { v = v + 1; }", &status);
    assert_int_equal(status, STATUS_TERMINATED);
    assert_true(r->raced);
    assert_true(r->phi_races->found && r->p_races->found);
    assert_int_equal(r->phi->memory[0], 1);
}

/* Within the racy step even the accesses differ: who comes second reads what the first has written. */
static void test_accesses_of_the_racy_step_differ(void **state)
{
    (void)state;
    struct fixture f;
    enum status status;
    struct replay *r =
        replay_of(&f, "launch(threads = 2); shared int v[2]; kernel k() { v[v[0]] = 1; }", &status);
    assert_true(r->raced);
    assert_true(r->p_races->found);
}

static void test_false_sync_is_followed_to_the_end(void **state)
{
    (void)state;
    struct fixture f;
    enum status status;
    struct replay *r = replay_of(&f, DIVERGES, &status);
    assert_int_equal(status, STATUS_BARRIER_DIVERGENCE);
    assert_int_equal(r->sync_claims, 1);
    assert_int_equal(machine_status(r->p), STATUS_BARRIER_DIVERGENCE);
}

/* An error is that of the same thread at the same statement, though others would have it too. */
static void test_errors_are_replayed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
    } kernels[] = {
        {"launch(threads = 4); kernel k() { if (tid > 1) { assert(tid == 9); } }",
         STATUS_ASSERT_FAILS},
        {"launch(threads = 4); shared int a[2]; kernel k() { a[tid] = 1; }", STATUS_OUT_OF_BOUNDS},
        {"launch(threads = 3); void f() { f(); } kernel k() { if (tid == 1) { f(); } }",
         STATUS_CALL_DEPTH},
    };
    for (uint32_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct fixture f;
        enum status status;
        struct replay *r = replay_of(&f, kernels[i].text, &status);
        assert_int_equal(status, kernels[i].status);
        assert_int_equal(machine_status(r->p), kernels[i].status);
    }
}

/* Behind a sync that does not hold the first error of the others ends P; nobody steps then, though thread 1 would fail
 * likewise. */
static void test_error_behind_a_false_sync(void **state)
{
    (void)state;
    struct fixture f;
    enum status status;
    struct replay *r = replay_of(&f,
                                 "launch(threads = 4); kernel k() { if (tid > 1) { barrier(); } "
                                 "assert(tid > 1); }",
                                 &status);
    assert_int_equal(status, STATUS_BARRIER_DIVERGENCE);
    assert_int_equal(machine_status(r->p), STATUS_ASSERT_FAILS);
    assert_int_equal(r->p->head->fault_thread, 0);
    assert_int_equal(r->sync_claims, 0);
}

/* The plain choices: atomics in the order of threads, of all else the last. */
static void test_plain_choices(void **state)
{
    (void)state;
    static const char *const texts[] = {
        RICH, ATOMIC, "launch(threads = 4); shared int sum[4];\n" BLOCKS_SCAN, OUTS};
    unsigned kinds = 0;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        struct replay_choices plain;
        prepare(&f, texts[i]);
        struct machine *phi = f.c.subjects[SUBJECT_LOCKSTEP].machine;
        machine_reset(phi);
        replay_plain_choices(&plain, phi);
        while (machine_status(phi) == STATUS_RUNNING) {
            uint32_t pc = lockstep_state(phi, phi->head->live[0]).pc;
            assert_int_equal(plain.choices.pick(&plain.choices, phi), 0);
            if (!(pc & PC_BLOCK)) {
                enum code_kind kind = phi->program->stms[pc].kind;
                kinds |= 1u << kind;
                for (uint32_t n = 1; n < 5; n++)
                    assert_int_equal(plain.choices.choose(&plain.choices, n),
                                     kind == CODE_ATOMIC ? 0 : n - 1);
            }
            machine_step(phi, phi->head->live[0], &plain.choices);
        }
    }
    assert_true(kinds >> CODE_ATOMIC & kinds >> CODE_ASSIGN & kinds >> CODE_PICK &
                kinds >> CODE_LOCKSYNC & 1);
}

/* ---- which word is spoken of ---- */

/* Variables of frames by function and word, a letter each; arrays have several words. */
static void test_names_of_words(void **state)
{
    (void)state;
    static const char text[] =
        "launch(threads = 2); shared int s; private int a[2], b;"
        " int f(int k, int n) { private int x[2]; if (k > 0) { x[1] = f(k - 1, n); } return x[1]; }"
        " void g(int m) { private int y; y = m; if (y > 0) { g(m - 1); } }"
        " void h(int o, int p) { if (o > p) { h(o - 1, p); } }"
        " kernel z() { private int i; private int j[3]; j[1] = f(tid, 1); g(i); h(i, 2); s = j[0]; "
        "}";
    static const char *const frames[] = {"ijjj", "knxx", "my", "op"};
    struct fixture f;
    enum status status;
    struct replay *r = replay_of(&f, text, &status);
    struct image_word word;
    int32_t *memory = r->p->memory;
    uint32_t base = r->p->threads[1].base[SPACE_PRIVATE];
    replay_begin(r);
    assert_int_equal(r->p->program->function_count, 4);
    for (uint32_t i = 0; i < 3; i++) {
        memory[base + i]++;
        assert_true(image_same_private(&r->image, 1, 0, i, &word));
        assert_true(image_same_private(&r->image, 1, i + 1, 3, &word));
        assert_false(image_same_private(&r->image, 1, 0, 3, &word));
        assert_string_equal(word.name, i < 2 ? "a" : "b");
        memory[base + i]--;
    }
    base = r->p->threads[1].base[SPACE_LOCAL];
    for (uint32_t function = 0; function < 4; function++) {
        for (uint32_t i = 0; frames[function][i]; i++) {
            memory[base + i]++;
            assert_true(image_same_frame(&r->image, 1, function, 0, i, &word));
            assert_false(image_same_frame(&r->image, 1, function, 0, i + 1, &word));
            assert_true(word.thread == 1 && word.p_address == base + i);
            assert_true(word.name[0] == frames[function][i] && word.name[1] == '\0');
            memory[base + i]--;
        }
    }
}

static void test_says_why_not(void **state)
{
    (void)state;
    struct fixture f;
    const struct answer *answer =
        run(&f, "kernel k() { private int x; x = 1; assume(x); }", SUBJECT_LOCKSTEP, honest_step);
    assert_int_equal(answer->verdict, VERDICT_NOT_APPLICABLE);
    assert_non_null(strstr(answer->reason, "WF.2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_machines_agree),
        cmocka_unit_test(test_every_fault_shows),
        cmocka_unit_test(test_race_ends_the_replay),
        cmocka_unit_test(test_accesses_of_the_racy_step_differ),
        cmocka_unit_test(test_false_sync_is_followed_to_the_end),
        cmocka_unit_test(test_errors_are_replayed),
        cmocka_unit_test(test_error_behind_a_false_sync),
        cmocka_unit_test(test_plain_choices),
        cmocka_unit_test(test_names_of_words),
        cmocka_unit_test(test_says_why_not),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
