/*
 * The engine beside the reference (engine/reference), over random kernels: every step fires the same rule, and leaves
 * the same stacks, masks, frames and memory. And an engine that is wrong in one of these is told so.
 */
#include "oracle/follow/follow.h"

#include "engine/caches/caches.h"
#include "engine/convergence/convergence.h"
#include "engine/crs/crs.h"
#include "engine/warps/threads.h"
#include "fuzz/gen/gen_weights.h"
#include "fuzz/generate/generate.h"
#include "oracle/check/check.h"
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"

enum { KERNELS = 400, STEPS = 3000 };

static uint64_t hits[RULE_COUNT + 1];

/* ---- one execution ---- */

static struct machine *machine_of(const struct program *program, enum subject_id subject,
                                  bool track)
{
    struct machine_options options = subject_table[subject].options;
    options.track = track;
    return machine_new(&test_arena, subject_table[subject].vtable, program, &options);
}

static struct follower *follower_of(struct machine *m, enum subject_id subject)
{
    const char *why = NULL;
    struct follower *f = follow_new(&test_arena, ref_room_new(&test_arena), subject, m, &why);
    if (!f)
        print_error("%s\n", why);
    assert_non_null(f);
    machine_observe(m, &f->observer);
    follow_begin(f, STEPS + STEPS);
    return f;
}

/* Under a random schedule; how it ended. */
static enum status compare(const struct program *program, enum subject_id subject, uint64_t seed)
{
    struct machine *m = machine_of(program, subject, seed % 2 == 1);
    struct follower *f = follower_of(m, subject);
    const struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = seed};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, m, &test_arena);
    enum status status = machine_run(m, &scheduler.choices, STEPS, NULL);
    follow_end(f, status);
    if (f->state == FOLLOW_PARTED)
        fail_msg("`%s`, seed %llu, step %llu, rule %s: %s is %s, and should be %s",
                 subject_table[subject].name, (unsigned long long)seed,
                 (unsigned long long)f->steps, rule_table[f->rule].name, f->observable,
                 f->engine_has, f->reference_has);
    if (f->state == FOLLOW_LOST)
        fail_msg("the reference does not know: %s", f->unknown);
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        hits[r] += m->hits[r];
    return status;
}

/* A rule of the semantics that no kernel has fired; NULL: there is none. */
static const char *not_fired(const char *semantics)
{
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        if (strcmp(rule_table[r].semantics, semantics) == 0 && hits[r] == 0)
            return rule_table[r].name;
    return NULL;
}

static void assert_all_fired(const char *semantics)
{
    const char *name = not_fired(semantics);
    if (name)
        fail_msg("no kernel fires %s of %s", name, semantics);
}

/* ---- structured kernels ---- */

static void structured_kernels(void **state)
{
    (void)state;
    struct gen_options options = {.fixed = false};
    uint32_t compiled = 0;
    options.features = (1u << FEATURE_COUNT) - 1;
    options.features &= ~(1u << FEATURE_NAMED | 1u << FEATURE_GRAPHS);
    for (uint64_t number = 0; compiled < many(KERNELS) ||
                              (compiled < KERNELS && (not_fired("threads") || not_fired("simt") ||
                                                      not_fired("convergence")));
         number++) {
        const char *reason = NULL;
        test_arena.used = 0;
        assert_true(gen_weights_parse(&test_arena, "rare.assumes:400", &options.weights, &reason));
        struct ast_kernel *kernel = gen_case(&test_arena, 0x5eed, number, &options);
        if (kernel->form != FORM_STRUCTURED)
            continue;
        struct program *program =
            program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
        if (!program)
            continue;
        compiled++;
        if (!program->has_votes)
            (void)compare(program, SUBJECT_THREADS, number);
        (void)compare(program, SUBJECT_SIMT, number);
        (void)compare(program, SUBJECT_SIMT_THEN, number);
        (void)compare(program, SUBJECT_CONVERGENCE, number);
    }
    assert_all_fired("threads");
    assert_all_fired("simt");
    assert_all_fired("convergence");
}

/* ---- what the generator avoids: guards, barriers and picks anywhere ---- */

static struct ast_expr *random_guard(struct arena *arena, struct pcg *rng)
{
    struct ast_expr *tid = ast_builtin_ref(arena, BUILTIN_TID);
    struct ast_expr *c = ast_int(arena, (int32_t)pcg_below(rng, 4));
    static const enum ast_binary ops[] = {BINARY_AND, BINARY_NE, BINARY_LT, BINARY_GE};
    return ast_binary(arena, ops[pcg_below(rng, 4)], tid, c);
}

static struct ast_var *a_private(struct ast_kernel *kernel)
{
    struct ast_var *var = kernel->vars;
    while (var && (var->space != SPACE_PRIVATE || var->is_array))
        var = var->next;
    return var;
}

static struct ast_stm *random_stm(struct arena *arena, struct ast_kernel *kernel, struct pcg *rng)
{
    struct ast_var *var = a_private(kernel);
    if (!var || pcg_below(rng, 3) > 0)
        return ast_stm(arena, STM_BARRIER, (struct location){1, 1});
    struct ast_stm *pick = ast_stm(arena, STM_PICK, (struct location){1, 1});
    struct ast_expr **end = &pick->arguments;
    pick->target.var = var;
    for (uint32_t i = 0, count = 1 + pcg_below(rng, 3); i < count; i++) {
        *end = ast_int(arena, (int32_t)i);
        (*end)->next = random_guard(arena, rng);
        end = &(*end)->next->next;
    }
    return pick;
}

static bool may_be_guarded(const struct ast_stm *stm)
{
    return stm->kind == STM_ASSIGN || stm->kind == STM_BARRIER || stm->kind == STM_HAVOC ||
           stm->kind == STM_ATOMIC || stm->kind == STM_PICK;
}

/* Also other guards of blocks: not all well-formed. Kernels whose number is odd keep their meaning. */
static void disturb(struct arena *arena, struct ast_kernel *kernel, uint64_t number)
{
    struct pcg rng = pcg_derive(number, PCG_SCHEDULE, 12);
    for (struct ast_function *f = kernel->main; f;
         f = f == kernel->main ? kernel->functions : f->next)
        for (struct ast_block *b = f->blocks; b; b = b->next)
            for (struct ast_stm *s = b->body; s; s = s->next) {
                if (pcg_below(&rng, 12) == 0 && s->kind != STM_CALL) {
                    struct ast_stm *more = random_stm(arena, kernel, &rng);
                    more->next = s->next;
                    s->next = more;
                }
                if (may_be_guarded(s) && pcg_below(&rng, 8) == 0)
                    s->guard = random_guard(arena, &rng);
                if (s->kind == STM_ASSUME && pcg_below(&rng, 40) == 0)
                    s->value = random_guard(arena, &rng);
            }
}

/* Barriers below several frames, in loops of callers and callees; recursion to a depth that is the
 * thread's own, or without end; choices. */
static const char *const procedures[] = {
    "launch(threads = 3, blocks = 2); shared int s[3]; private int i, n, c, r;"
    "void p(int a, out int b) blocks { private int k;"
    "  E: goto H; H: goto B, X; B: assume(k < a); s[tid] = k; barrier(); k++; goto H;"
    "  X: assume(k >= a); b = k + a; goto R; R: return; }"
    "kernel k() blocks { Start: havoc(c); c = c & 1; c = 1 if (bid == 0); goto H;"
    "  H: goto A, B, X; A: assume(n < 3); goto C; B: assume(n < 3 && c == 0); goto D;"
    "  C: p(n, r); goto J; D: p(n, r); goto J; J: n++; goto H;"
    "  X: assume(n >= 3); s[tid] = r; goto End; }",
    "launch(threads = 4); shared int s[4]; private int i, r;"
    "void f(int d, out int v) blocks { private int w; E: barrier() if (d == 1); goto M, B;"
    "  M: assume(d > 0); goto C; C: f(d - 1, w); goto U; U: v = w + d; goto R;"
    "  B: assume(d <= 0); v = 100; goto R; R: return; }"
    "kernel k() blocks { Start: i = tid & 1; havoc(r); r = r & 7; goto P, Q;"
    "  P: assume(r > 0); i = r; goto C; Q: assume(r <= 0); goto C;"
    "  C: f(i + 1, r); goto X; X: s[tid] = r; goto End; }",
    "launch(threads = 2); private int r; void g(int d, out int v) blocks {"
    "  E: goto C; C: g(d + 1, v); goto R; R: return; }"
    "kernel k() blocks { Start: goto A, B; A: g(0, r); goto End;"
    "  B: assume(1); r = r * 5; goto End; }",
    "private int r; kernel k() blocks { Start: havoc(r); assert(r & 1); goto End; }",
};

static void procedures_of_blocks(void)
{
    uint32_t ends[STATUS_COUNT] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        const char *reason = NULL;
        test_arena.used = 0;
        struct ast_kernel *kernel =
            support_parse(procedures[seed % (sizeof procedures / sizeof *procedures)]);
        kernel->launch.seed = seed;
        struct program *program = program_compile(&test_arena, kernel, &reason);
        assert_non_null(program);
        ends[compare(program, SUBJECT_INTERLEAVE, seed)]++;
    }
    assert_true(ends[STATUS_TERMINATED] > 10);
    assert_true(ends[STATUS_BARRIER_DIVERGENCE] > 10);
    assert_true(ends[STATUS_CALL_DEPTH] > 10);
}

static void block_programs(void **state)
{
    (void)state;
    uint32_t ends[STATUS_COUNT] = {0}, compiled = 0;
    struct gen_options options = {.fixed = false};
    options.features = (1u << FEATURE_COUNT) - 1;
    options.features &= ~(1u << FEATURE_VOTES | 1u << FEATURE_NAMED | 1u << FEATURE_SPIN);
    for (uint64_t number = 0; compiled < KERNELS; number++) {
        const char *reason = NULL;
        test_arena.used = 0;
        struct ast_kernel *kernel = gen_case(&test_arena, 0xb10f, number, &options);
        if (kernel->form != FORM_BLOCKS)
            continue;
        if (number % 2 == 0)
            disturb(&test_arena, kernel, number);
        struct program *program = program_compile(&test_arena, kernel, &reason);
        if (!program)
            fail_msg("%s", reason);
        compiled++;
        ends[compare(program, SUBJECT_INTERLEAVE, number)]++;
    }
    procedures_of_blocks();
    assert_all_fired("interleave");
    assert_true(ends[STATUS_TERMINATED] > KERNELS / 4);
    assert_true(ends[STATUS_BARRIER_DIVERGENCE] > KERNELS / 20);
    assert_true(ends[STATUS_INFEASIBLE] > 0);
}

/* ---- checks: all subjects of a kernel ---- */

static struct check_result result;

static const struct answer *answer_of(struct ast_kernel *kernel, subject_set subjects)
{
    struct check_options options = CHECK_DEFAULTS;
    options.oracles = 1u << ORACLE_REFERENCE;
    options.subjects = subjects;
    check_kernel(&test_arena, kernel, &options, &result);
    return &result.answers[ORACLE_REFERENCE];
}

static void lock_step_programs(void **state)
{
    (void)state;
    const subject_set subjects = SUBJECT_BIT(SUBJECT_PREDICATED) | SUBJECT_BIT(SUBJECT_LOCKSTEP) |
                                 SUBJECT_BIT(SUBJECT_LOCKSTEP_ANCHORED) |
                                 SUBJECT_BIT(SUBJECT_INTERLEAVE_F1);
    struct gen_options options = {.fixed = false};
    options.features = (1u << FEATURE_COUNT) - 1;
    memset(hits, 0, sizeof hits);
    for (uint64_t number = 0; number < many(KERNELS); number++) {
        test_arena.used = 0;
        struct ast_kernel *kernel = gen_case(&test_arena, 0x10e, number, &options);
        if (kernel->form == FORM_PTX)
            continue;
        const struct answer *answer = answer_of(kernel, subjects);
        if (answer->verdict == VERDICT_DIVERGE || answer->verdict == VERDICT_INCONCLUSIVE)
            fail_msg("case %llu: %s", (unsigned long long)number, answer->reason);
        for (uint32_t r = 0; r < RULE_COUNT; r++)
            hits[r] += result.hits[r];
    }
    hits[RULE_LOCK_ASSERT_F]++; /* a kernel's assertion that fails: below */
    test_arena.used = 0;
    const struct answer *fails =
        answer_of(support_parse("kernel k() { assert(tid < 3); }"), SUBJECT_BIT(SUBJECT_LOCKSTEP));
    assert_int_equal(fails->verdict, VERDICT_AGREE);
    assert_int_equal(result.hits[RULE_LOCK_ASSERT_F], 1);
    assert_all_fired("lockstep");
}

/* ---- PTX ---- */

static void ptx_machines(void **state)
{
    (void)state;
    const subject_set subjects = SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_THREAD_PC) |
                                 SUBJECT_BIT(SUBJECT_BLOCK) | SUBJECT_BIT(SUBJECT_BLOCK_EAGER) |
                                 SUBJECT_BIT(SUBJECT_CRS_PATENT) |
                                 SUBJECT_BIT(SUBJECT_CRS_EXIT_ARRIVES) |
                                 SUBJECT_BIT(SUBJECT_CRS_ALIGNED) | SUBJECT_BIT(SUBJECT_CRS_LANES);
    static const enum rule rare[] = {
        RULE_CRS_CALL_GUARD, RULE_CRS_CALL_TARGET, RULE_CRS_BRA_TARGET,  RULE_BLK_BAR_RED,
        RULE_BLK_END_BAR,    RULE_NB_RECYCLE,      RULE_NB_SYNC_ERR_FULL};
    struct gen_options options = {.fixed = false};
    uint32_t followed = 0;
    options.features = (1u << FEATURE_COUNT) - 1;
    memset(hits, 0, sizeof hits);
    for (uint64_t number = 0; number < many(4 * KERNELS); number++) {
        test_arena.used = 0;
        struct ast_kernel *kernel = gen_case(&test_arena, 0x97e, number, &options);
        if (kernel->form != FORM_PTX && number % 8 > 0)
            continue;
        const struct answer *answer = answer_of(kernel, subjects);
        if (answer->verdict == VERDICT_DIVERGE)
            fail_msg("case %llu: %s", (unsigned long long)number, answer->reason);
        followed += answer->verdict == VERDICT_AGREE;
        for (uint32_t r = 0; r < RULE_COUNT; r++)
            hits[r] += result.hits[r];
    }
    assert_true(followed > many(KERNELS) / 2);
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (hits[rare[i]] == 0)
            fail_msg("no kernel fires %s", rule_table[rare[i]].name);
}

/* Raw programs leave lanes of one warp at several instructions: the reference knows each of these steps. */
static void lanes_apart(void **state)
{
    (void)state;
    struct gen_options options = {.fixed = false};
    options.features = 1u << FEATURE_CRS | 1u << FEATURE_LOOSE;
    for (uint64_t number = 0; number < many(2 * KERNELS); number++) {
        test_arena.used = 0;
        struct ast_kernel *kernel = gen_case(&test_arena, 9, number, &options);
        const struct answer *answer =
            answer_of(kernel, SUBJECT_BIT(SUBJECT_THREAD_PC) | SUBJECT_BIT(SUBJECT_CRS));
        if (answer->verdict != VERDICT_AGREE)
            fail_msg("case %llu: %s", (unsigned long long)number, answer->reason);
    }
}

/* What the reference has no rules for, it names. */
static void what_is_not_followed_is_said(void **state)
{
    (void)state;
    test_arena.used = 0;
    struct ast_kernel *kernel = support_parse("global int x[40000]; kernel k() { x[0] = 1; }");
    const struct answer *answer =
        answer_of(kernel, SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_CRS_CACHES_COHERENT));
    assert_int_equal(answer->verdict, VERDICT_AGREE);
    assert_non_null(strstr(answer->reason, "crs:caches:coherent (the memory, or an L1, is too "
                                           "large to be followed)"));
}

/* ---- caches ---- */

static const enum subject_id cached[] = {
    SUBJECT_CRS_CACHES_PRINTED,    SUBJECT_CRS_CACHES_LLH,
    SUBJECT_CRS_CACHES_COHERENT,   SUBJECT_THREAD_PC_CACHES_PRINTED,
    SUBJECT_THREAD_PC_CACHES_LLH,  SUBJECT_THREAD_PC_CACHES_COHERENT,
    SUBJECT_BLOCK_CACHES_PRINTED,  SUBJECT_BLOCK_CACHES_LLH,
    SUBJECT_BLOCK_CACHES_COHERENT,
};

static void memory_over_caches(void **state)
{
    (void)state;
    struct gen_options options = {.fixed = false};
    options.features = (1u << FEATURE_COUNT) - 1;
    memset(hits, 0, sizeof hits);
    for (uint64_t number = 0; number < many(KERNELS); number++) {
        test_arena.used = 0;
        struct ast_kernel *kernel = gen_case(&test_arena, 0xcac4e, number, &options);
        const struct answer *answer =
            answer_of(kernel, SUBJECT_BIT(cached[number % (sizeof cached / sizeof *cached)]));
        if (answer->verdict == VERDICT_DIVERGE)
            fail_msg("case %llu: %s", (unsigned long long)number, answer->reason);
        for (uint32_t r = 0; r < RULE_COUNT; r++)
            hits[r] += result.hits[r];
    }
    assert_all_fired("caches");
}

/* Thread 0 stores and loads again, in one L1 of one line. */
static const char *const cached_victim =
    "// simtfuzz: threads=1 warp=1 caches=lines=1,words=2\n"
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".global .align 8 .u32 g[4];\n.visible .entry k()\n{\n.reg .u32 %r<6>;\n"
    ".local .align 8 .u32 l[2];\nmov.u32 %r1, 7;\nld.global.u32 %r2, [g];\n"
    "st.global.u32 [g+8], %r1;\nst.local.u32 [l], %r1;\nld.local.u32 %r3, [l+4];\nexit;\n}\n";

/* Goes on after a spoilt step, and returns what differs. */
static const char *spoiled_cache(uint32_t steps, void (*spoil)(struct machine *))
{
    test_arena.used = 0;
    struct forms *forms = forms_new(&test_arena, support_parse(cached_victim));
    const struct form *form = forms_get(forms, PROGRAM_CRS);
    assert_non_null(form->program);
    struct machine *m = machine_of(form->program, SUBJECT_CRS_CACHES_COHERENT, false);
    struct follower *f = follower_of(m, SUBJECT_CRS_CACHES_COHERENT);
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, m, &test_arena);
    (void)machine_run(m, &scheduler.choices, steps, NULL);
    assert_int_equal(f->state, FOLLOW_ALONG);
    spoil(m);
    (void)machine_run(m, &scheduler.choices, STEPS, NULL);
    assert_int_equal(f->state, FOLLOW_PARTED);
    return f->observable;
}

/* Of the first line, the first operation that is there. */
static struct cache_line *a_line(struct machine *m)
{
    const struct caches *c = caches_of(m);
    return caches_line(c, caches_l1(c, 0), 0);
}

static void spoil_dirty(struct machine *m)
{
    a_line(m)->dirty ^= 1;
}

static void spoil_value(struct machine *m)
{
    a_line(m)->vals[0] ^= 0x100;
}

static void spoil_pins(struct machine *m)
{
    a_line(m)->pins++;
}

static void spoil_program(struct machine *m)
{
    caches_slot(caches_of(m), 0, 0)->program = MEMORY_LD_CG;
}

static void spoil_memory(struct machine *m)
{
    m->memory[3] ^= 1;
}

/* Executions that are compared with no other are followed in cases that are not drawn, too; and these only. */
static void what_is_compared_with_nothing_is_followed(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "launch(threads = 2); shared int x; private int p; kernel k() { p = tid; x = p; }",
        "launch(threads = 2); shared int x, y; private int p;"
        "kernel k() { p = atomic_exch(x, tid); y = p; }"};
    uint32_t undrawn = 0;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int lone = 0; lone < 2; lone++) {
            struct check_options options = CHECK_DEFAULTS;
            options.seed = seed;
            test_arena.used = 0;
            check_kernel(&test_arena, support_parse(texts[lone]), &options, &result);
            const struct answer *answer = &result.answers[ORACLE_REFERENCE];
            undrawn += lone == 0 && strstr(answer->reason, " 0 executions followed") != NULL;
            assert_int_equal(result.lone, lone ? 1u << LONE_ATOMICS : 0);
            assert_int_equal(result.unseen, 0);
            if (lone)
                assert_int_equal(answer->verdict, VERDICT_AGREE);
        }
    assert_in_range(undrawn, 1, 7);
}

/* ---- an engine that is wrong ---- */

static const char *const victim =
    "launch(threads = 2); shared int s[2]; private int p;"
    "kernel k() { private int x = 5; p = 1; s[tid] = x; if (tid) s[0] = 2; p = 3; }";

static uint32_t pick_first(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    return 0;
}

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices;
    (void)n;
    return 0;
}

static struct choices firsts = {pick_first, choose_first, NULL};

/* Lets the machine take some steps, spoils it, and lets it take one more: what the follower says. */
static const char *spoiled(enum subject_id subject, uint32_t steps, void (*spoil)(struct machine *))
{
    test_arena.used = 0;
    struct machine *m = machine_of(support_program(victim), subject, false);
    struct follower *f = follower_of(m, subject);
    for (uint32_t i = 0; i < steps; i++)
        (void)machine_step(m, m->head->live[0], &firsts);
    assert_int_equal(f->state, FOLLOW_ALONG);
    spoil(m);
    (void)machine_step(m, m->head->live[0], &firsts);
    assert_int_equal(f->state, FOLLOW_PARTED);
    assert_int_equal(f->steps, steps + 1);
    return f->observable;
}

static void spoil_shared(struct machine *m)
{
    m->memory[m->program->shared_base]++;
}

static void spoil_private(struct machine *m)
{
    m->memory[m->program->private_base + 1]++;
}

static void spoil_local(struct machine *m)
{
    m->memory[m->threads[0].base[SPACE_LOCAL]]++;
}

static void spoil_pending(struct machine *m)
{
    ((struct thread_state *)m->extra)->value++;
}

/* The statement after it, as if it had been done. */
static void spoil_stack(struct machine *m)
{
    ((struct thread_state *)m->extra)->stack[1]++;
}

static void spoil_live(struct machine *m)
{
    m->head->live_count--;
}

/* A split waits that has not arrived (convergence_internal.h: the second word of a lane). */
static void spoil_waits(struct machine *m)
{
    ((uint32_t *)m->extra)[1] ^= 1;
}

/* A lane less that is waited for, behind the `if`. */
static void spoil_barrier(struct machine *m)
{
    lane_mask *masks = (lane_mask *)(uintptr_t)convergence_split(m, 0).masks;
    masks[2] ^= 2;
}

/* Observers are told of a write as if another statement had made it. */
static struct observer elsewhere;
static void (*heard_write)(void *context, uint32_t thread, uint32_t address, int32_t value,
                           uint32_t stm);

static void write_elsewhere(void *context, uint32_t thread, uint32_t address, int32_t value,
                            uint32_t stm)
{
    heard_write(context, thread, address, value, stm + 1);
}

static void spoil_told(struct machine *m)
{
    elsewhere = *m->options.observers;
    heard_write = elsewhere.write;
    elsewhere.write = write_elsewhere;
    m->options.observers = &elsewhere;
}

static void end_at_once(struct machine *m)
{
    m->head->status = STATUS_ASSERT_FAILS;
}

static void a_wrong_engine_is_told(void **state)
{
    (void)state;
    assert_string_equal(spoiled(SUBJECT_THREADS, 2, spoil_shared), "shared memory");
    assert_string_equal(spoiled(SUBJECT_SIMT, 1, spoil_private), "private memory");
    assert_string_equal(spoiled(SUBJECT_THREADS, 3, spoil_local), "local memory");
    assert_string_equal(spoiled(SUBJECT_SIMT, 1, spoil_local), "access");
    assert_string_equal(spoiled(SUBJECT_SIMT, 2, spoil_local), "local memory");
    assert_string_equal(spoiled(SUBJECT_THREADS, 1, spoil_pending), "private memory");
    assert_string_equal(spoiled(SUBJECT_THREADS, 2, spoil_stack), "statement told");
    assert_string_equal(spoiled(SUBJECT_SIMT, 1, spoil_told), "statement of an access");
    assert_string_equal(spoiled(SUBJECT_THREADS, 2, spoil_live), "live actors");
    assert_string_equal(spoiled(SUBJECT_THREADS, 2, end_at_once), "status");
    assert_string_equal(spoiled(SUBJECT_CONVERGENCE, 1, spoil_waits), "waiting");
    assert_string_equal(spoiled(SUBJECT_CONVERGENCE, 3, spoil_barrier), "mask of a token");
    assert_string_equal(spoiled(SUBJECT_CONVERGENCE, 2, spoil_live), "live actors");
}

/* Before anybody has stepped: what comes of it later is no step's fault. */
static void a_wrong_start_is_told(void **state)
{
    (void)state;
    test_arena.used = 0;
    struct machine *m = machine_of(support_program(victim), SUBJECT_THREADS, false);
    const size_t memory = (size_t)(m->memory - (int32_t *)m->block);
    assert_false(follower_of(m, SUBJECT_THREADS)->at_start);
    ((int32_t *)m->initial)[memory + m->program->shared_base] ^= 1;
    struct follower *f = follower_of(m, SUBJECT_THREADS);
    assert_true(f->at_start);
    assert_int_equal(f->state, FOLLOW_PARTED);
    assert_string_equal(f->observable, "shared memory");
}

/* Of all special registers WARP_SZ alone is an operand of any instruction, and any of its operands. */
static void a_special_register_is_one_operand(void **state)
{
    (void)state;
    test_arena.used = 0;
    const struct answer *answer = answer_of(
        support_parse(".version 7.0\n.target sm_70\n.address_size 64\n"
                      "// simtfuzz: threads=4 warp=4\n.visible .entry k()\n{\n.reg .u32 %r<4>;\n"
                      "mov.u32 %r1, %tid.x;\nadd.u32 %r2, WARP_SZ, 5;\n"
                      "sub.u32 %r3, %r1, WARP_SZ;\nexit;\n}\n"),
        SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_BLOCK));
    assert_int_equal(answer->verdict, VERDICT_AGREE);
}

/* ---- a PTX machine that is wrong ---- */

static const char *const ptx_victim =
    ".version 7.0\n.target sm_70\n.address_size 64\n// simtfuzz: threads=4 warp=4\n"
    ".shared .align 4 .u32 s[4];\n.visible .entry k()\n{\n.reg .u32 %r<6>;\n.reg .pred %p;\n"
    "mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 5;\nshl.b32 %r3, %r1, 2;\nmov.u32 %r4, s;\n"
    "add.u32 %r4, %r4, %r3;\nsetp.lt.u32 %p, %r1, 2;\n@%p bra L;\nst.shared.u32 [%r4], %r2;\n"
    "L:\nld.shared.u32 %r5, [%r4];\nexit;\n}\n";

static const char *spoiled_ptx(enum subject_id subject, uint32_t steps,
                               void (*spoil)(struct machine *))
{
    test_arena.used = 0;
    struct forms *forms = forms_new(&test_arena, support_parse(ptx_victim));
    const struct form *form = forms_get(forms, subject_table[subject].program);
    assert_non_null(form->program);
    struct machine *m = machine_of(form->program, subject, false);
    struct follower *f = follower_of(m, subject);
    for (uint32_t i = 0; i < steps; i++)
        (void)machine_step(m, m->head->live[0], &firsts);
    assert_int_equal(f->state, FOLLOW_ALONG);
    spoil(m);
    (void)machine_step(m, m->head->live[0], &firsts);
    assert_int_equal(f->state, FOLLOW_PARTED);
    return f->observable;
}

/* %r2 of lane 1, which is read next by the store. */
static void spoil_register(struct machine *m)
{
    const struct ptx_code *code = m->program->ptx;
    const struct ptx_lanes *lanes =
        m->semantics == &semantics_block ? cta_thread(m, 0).lanes : crs_warp(m, 0).lanes;
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (code->ops[pc].opcode == PTX_OP_SHL) {
            uint32_t *at = ptx_register_of(m->program, (struct ptx_lanes *)(uintptr_t)lanes,
                                           &code->ops[pc].results[0], lanes->count - 1);
            ++*at;
            return;
        }
}

static void a_wrong_cache_is_told(void **state)
{
    (void)state;
    assert_string_equal(spoiled_cache(4, spoil_pins), "pins of a line");
    assert_string_equal(spoiled_cache(4, spoil_memory), "memory");
    assert_string_equal(spoiled_cache(6, spoil_dirty), "dirty byte of a line");
    assert_string_equal(spoiled_cache(6, spoil_value), "value in a line");
    assert_string_equal(spoiled_cache(2, spoil_program), "what an operation does next");
}

static void spoil_active(struct machine *m)
{
    struct crs_state *state = (struct crs_state *)(uintptr_t)crs_warp(m, 0).state;
    state->active = 1;
}

static void spoil_pc(struct machine *m)
{
    struct crs_state *state = (struct crs_state *)(uintptr_t)crs_warp(m, 0).state;
    state->pc--;
}

static void a_wrong_ptx_machine_is_told(void **state)
{
    (void)state;
    assert_string_equal(spoiled_ptx(SUBJECT_CRS, 5, spoil_register), "registers");
    assert_string_equal(spoiled_ptx(SUBJECT_BLOCK, 4, spoil_register), "result");
    assert_string_equal(spoiled_ptx(SUBJECT_CRS, 2, spoil_active), "result");
    assert_string_equal(spoiled_ptx(SUBJECT_CRS, 3, spoil_pc), "result");
    assert_string_equal(spoiled_ptx(SUBJECT_THREAD_PC, 2, spoil_shared), "shared memory");
}

/* ---- observers that are told something else ---- */

static const char *const meets =
    "launch(threads = 2); private int p; kernel k() { barrier(); p = 1; }";

/* A barrier that was told once more than it fired. */
/* ---- whose turn it is ---- */

/* Two warps whose lanes come to different places, wait for each other, and leave loops and functions early. */
static const char parting[] =
    "launch(threads = 6, warp = 4, blocks = 2); shared int y[6]; private int i;"
    "void f() { if (i == 3) return; y[tid] = i; if (i == 2) exit; }"
    "kernel k() { i = tid; while (i < 9) { if (tid % 2) { i = i + 1; } else { } y[tid] = i;"
    "             if (i == 7) break; i = i + 1; } barrier(); i = tid; if (i) f(); else f(); y[0] = "
    "i; }";
static const char parting_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n// simtfuzz: threads=6 warp=4\n"
    ".visible .entry k()\n{\n.reg .u32 %r<6>;\n.reg .pred %p<3>;\nmov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, 0;\nL1: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra L1;\n"
    "setp.eq.u32 %p2, %r1, 2;\n@%p2 bra L2;\nadd.u32 %r3, %r1, 1;\n@%p1 exit;\nL2: exit;\n}\n";

/* The program under one policy, followed as if it were another; whether the two part. */
static bool parts(enum subject_id subject, const char *text, const struct sched_spec *runs,
                  const struct sched_spec *obeys)
{
    test_arena.used = 0;
    struct forms *forms = forms_new(&test_arena, support_parse(text));
    const struct form *form = forms_get(forms, subject_table[subject].program);
    assert_non_null(form->program);
    struct machine *m = machine_of(form->program, subject, false);
    struct follower *f = follower_of(m, subject);
    struct scheduler scheduler;
    follow_obey(f, &test_arena, obeys);
    sched_start(&scheduler, runs, m, &test_arena);
    follow_end(f, machine_run(m, &scheduler.choices, STEPS, NULL));
    assert_true(f->state == FOLLOW_ALONG || f->against_policy);
    return f->state == FOLLOW_PARTED;
}

static void whose_turn_it_is(void **state)
{
    (void)state;
    static const struct {
        enum subject_id subject;
        const char *text;
    } rows[] = {{SUBJECT_THREADS, parting},
                {SUBJECT_INTERLEAVE, parting},
                {SUBJECT_BLOCK, parting},
                {SUBJECT_BLOCK, parting_ptx}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int p = 0; p < STACKLESS_POLICY_COUNT; p++) {
            for (int how = 0; how < 3; how++) {
                struct sched_spec spec = {.kind = SCHED_STACKLESS, .seed = 3};
                spec.stackless = (struct stackless_spec){.policy = (enum stackless_policy)p,
                                                         .literal = how == 1,
                                                         .then_first = how == 2};
                if (how == 2 && !stackless_subdivides(spec.stackless.policy))
                    continue;
                if (parts(rows[i].subject, rows[i].text, &spec, &spec))
                    fail_msg("row %zu, %s", i, sched_name(&test_arena, &spec));
                struct sched_spec other = {.kind = SCHED_STACKLESS};
                other.stackless.policy =
                    p == STACKLESS_MINORITY ? STACKLESS_MAJORITY : STACKLESS_MINORITY;
                assert_true(p == STACKLESS_DWF_MINORITY ||
                            parts(rows[i].subject, rows[i].text, &spec, &other));
            }
        }
    }
}

/* Three threads that meet again and again: whoever is last alone runs with others behind it, and its priority may be
 * raised above several that it had been lowered under. Each change counts once. */
static void priorities_change_as_often_as_is_said(void **state)
{
    (void)state;
    static const char meeting[] =
        "launch(threads = 3, warp = 3, blocks = 1); private int i; private int k; kernel k() {"
        "  while (i < 6) { k = 0; while (k < 3) { k = k + 1; } barrier(); i = i + 1; } }";
    struct sched_spec once = {.kind = SCHED_PCT, .depth = 1},
                      often = {.kind = SCHED_PCT, .depth = 5};
    uint32_t noticed = 0;
    often.length_estimate = 100;
    for (often.seed = 0; often.seed < 1000; often.seed++) {
        if (parts(SUBJECT_THREADS, meeting, &often, &often))
            fail_msg("seed %u", (unsigned)often.seed);
        noticed += parts(SUBJECT_THREADS, meeting, &often, &once);
    }
    assert_true(noticed > 500);
}

/* ---- choices that are not offered ---- */

#define PTX_HEAD                                                                                   \
    ".version 7.0\n.target sm_70\n.address_size 64\n// simtfuzz: threads=4 warp=4\n"               \
    ".global .align 4 .u32 g;\n.visible .entry k()\n{\n.reg .u32 %r<6>;\n"                         \
    "mov.u32 %r1, %tid.x;\n"

/* A machine that is given no choices takes the last lane, the lowest target, the order of the lanes. */
static void without_choices(enum subject_id subject, const char *text, bool lost)
{
    test_arena.used = 0;
    struct forms *forms = forms_new(&test_arena, support_parse(text));
    const struct form *form = forms_get(forms, subject_table[subject].program);
    assert_non_null(form->program);
    struct machine *m = machine_of(form->program, subject, false);
    struct follower *f = follower_of(m, subject);
    f->observer.chosen(f, 1, 0);
    while (machine_status(m) == STATUS_RUNNING && f->state == FOLLOW_ALONG)
        (void)machine_step(m, m->head->live[0], NULL);
    if (f->lost != lost)
        fail_msg("`%s`: %s, %s and %s: %s", subject_table[subject].name, f->observable,
                 f->engine_has, f->reference_has, text);
    assert_int_equal(f->state, lost ? FOLLOW_PARTED : FOLLOW_ALONG);
    if (lost)
        assert_string_equal(f->observable, "ways to choose from");
}

static void what_is_not_offered_is_told(void **state)
{
    (void)state;
    static const char head[] = "launch(threads=4, warp=4, blocks=1); shared int x; shared int y[4];"
                               "private int a; kernel k() { ";
    static const struct {
        const char *body;
        bool lost;
    } kernels[] = {
        {"x = tid;", true},          /* any lane may be the last */
        {"x = tid / 4;", false},     /* all write the same */
        {"y[tid] = tid;", false},    /* each its own */
        {"y[tid / 2] = tid;", true}, /* two places */
        {"a = atomic_exch(x, tid);", true},
        {"atomic_exch(x, tid);", true}, /* what is left depends on it */
        {"atomic_add(x, tid);", false}, /* the order does not show */
        {"a = atomic_add(x, 1);", true},
        {"a = atomic_add(y[tid], 1);", false},
        {"a = atomic_max(x, -1);", false},
    };
    static const enum subject_id subjects[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_LOCKSTEP};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
            char text[300];
            snprintf(text, sizeof text, "%s%s }", head, kernels[i].body);
            without_choices(subjects[k], text, kernels[i].lost);
        }
    without_choices(SUBJECT_CRS, PTX_HEAD "st.global.u32 [g], %r1;\nexit;\n}\n", true);
    without_choices(SUBJECT_CRS, PTX_HEAD "st.global.u32 [g], 7;\nexit;\n}\n", false);
    without_choices(SUBJECT_CRS, PTX_HEAD "atom.global.exch.b32 %r2, [g], %r1;\nexit;\n}\n", true);
    without_choices(SUBJECT_CRS, PTX_HEAD "red.global.add.u32 [g], %r1;\nexit;\n}\n", false);
    without_choices(SUBJECT_CRS,
                    PTX_HEAD "T: .branchtargets A, B;\nand.b32 %r1, %r1, 1;\n"
                             "brx.idx %r1, T;\nA: mov.u32 %r2, 1;\nB: exit;\n}\n",
                    true);
    without_choices(SUBJECT_BLOCK, PTX_HEAD "st.global.u32 [g], %r1;\nexit;\n}\n", false);
}

static void a_barrier_told_twice(void **state)
{
    (void)state;
    test_arena.used = 0;
    struct machine *m = machine_of(support_program(meets), SUBJECT_THREADS, false);
    struct follower *f = follower_of(m, SUBJECT_THREADS);
    const struct barrier_event again = {.block = 0, .all = true};
    (void)machine_step(m, 0, &firsts);
    assert_int_equal(f->state, FOLLOW_ALONG);
    f->observer.barrier(f, m, &again);
    (void)machine_step(m, 1, &firsts);
    assert_int_equal(f->state, FOLLOW_PARTED);
    assert_string_equal(f->observable, "barrier told");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structured_kernels),
        cmocka_unit_test(block_programs),
        cmocka_unit_test(lock_step_programs),
        cmocka_unit_test(ptx_machines),
        cmocka_unit_test(a_special_register_is_one_operand),
        cmocka_unit_test(lanes_apart),
        cmocka_unit_test(what_is_not_followed_is_said),
        cmocka_unit_test(memory_over_caches),
        cmocka_unit_test(a_wrong_cache_is_told),
        cmocka_unit_test(a_wrong_engine_is_told),
        cmocka_unit_test(a_wrong_start_is_told),
        cmocka_unit_test(what_is_compared_with_nothing_is_followed),
        cmocka_unit_test(a_wrong_ptx_machine_is_told),
        cmocka_unit_test(whose_turn_it_is),
        cmocka_unit_test(priorities_change_as_often_as_is_said),
        cmocka_unit_test(what_is_not_offered_is_told),
        cmocka_unit_test(a_barrier_told_twice),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
