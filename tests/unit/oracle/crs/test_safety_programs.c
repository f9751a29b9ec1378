/*
 * Theorem 1 and the private stacks of cuda-crs on whole programs of the branch unit: random ones, written while
 * they run so that they are control-flow consistent, and those of the catalogue with every switch. The
 * machine around the branch unit is a few lines here; oracle/crs/safety.c does the same for PTX.
 */
#include "tests/unit/shared/crs_notation.h"

#include "engine/base/pcg.h"
#include "engine/crs/crs_branch.h"
#include "oracle/crs/safety_lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;
static char text[1 << 16];

static int setup(void **state)
{
    (void)state;
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/tests/data/crs-programs.md", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return arena_init(&arena, (size_t)1 << 26);
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

/* ---- a warp and what is said about it ---- */

struct warp {
    struct choices choices;
    struct pcg rng;
    struct crs_state s, old;
    struct crs_token tokens[N_TOKENS], old_tokens[N_TOKENS];
    struct crs_unit unit;
    struct safety_lanes *lanes;
    uint32_t targets[64];
    uint32_t kappa[64]; /* frames above the entry's */
};

struct seen {
    enum safety_predicate hypothesis; /* of the program, where it ended the run */
    safety_set failed;                /* inv, act, inact; private stacks; corollary 1 */
    bool weaker;                      /* a printed clause held where the corrected one failed */
    uint32_t steps;
};

static uint32_t choose_random(struct choices *choices, uint32_t n)
{
    return pcg_below(&((struct warp *)choices)->rng, n);
}

static void warp_start(struct warp *w, uint32_t lanes, uint32_t switches)
{
    lane_mask W = lanes == 64 ? ~(lane_mask)0 : ((lane_mask)1 << lanes) - 1;
    w->choices.choose = choose_random;
    w->s = (struct crs_state){.pc = 1, .active = W};
    w->unit = (struct crs_unit){.machine = &crs_no_machine,
                                .s = &w->s,
                                .tokens = w->tokens,
                                .capacity = N_TOKENS,
                                .switches = switches,
                                .W = W};
    w->lanes->count = lanes;
}

/* THR.call, THR.ret: a frame for those that enter; as printed, for those that will call again, too. */
static void frames(struct warp *w, enum ptx_exec exec, lane_mask X)
{
    bool printed = w->unit.switches >> CRS_SWITCH_KAPPA & 1;
    lane_mask enter = printed ? w->old.active : w->old.active & w->s.active;
    for (uint32_t lane = 0; lane < w->lanes->count; lane++) {
        bool executes = X >> lane & 1, enters = enter >> lane & 1;
        if (exec == PTX_EXEC_CALL && executes && enters)
            w->kappa[lane]++;
        if (exec == PTX_EXEC_RET && executes && w->kappa[lane] > 0)
            w->kappa[lane]--;
    }
}

static bool same_frames(const struct warp *w)
{
    for (uint32_t lane = 0; lane < w->lanes->count; lane++)
        if (w->s.active >> lane & 1 && w->kappa[lane] != w->lanes->calls[lane])
            return false;
    return true;
}

/* One instruction for X, whose targets are in w->targets. Private stacks are compared but at `calls`, a bit
 * an address: lanes that do not call lack the entry there. False: the run is over. */
static bool warp_step(struct warp *w, enum ptx_exec exec, lane_mask X, uint32_t address,
                      uint64_t calls, struct seen *seen)
{
    const struct safety_step step = {.exec = exec,
                                     .active = w->s.active,
                                     .executing = X,
                                     .address = address,
                                     .targets = w->targets,
                                     .pc = w->s.pc};
    const struct crs_actions actions = {
        .kind = exec, .X = X, .address = address, .targets = w->targets};
    w->old = w->s;
    memcpy(w->old_tokens, w->tokens, sizeof w->tokens);
    if (X && ptx_is_flow(exec))
        crs_flow(&w->unit, &actions, &w->choices);
    else
        w->unit.s->pc++;
    if (w->unit.overflow)
        return false;
    seen->steps++;
    bool asleep = w->s.active == 0 && !w->s.completed;
    seen->failed |= (safety_set)(w->unit.bottom != NULL || asleep) << SAFETY_COR_1;
    frames(w, exec, X);
    safety_lanes_step(w->lanes, &step, w->old_tokens, w->old.depth);
    safety_lanes_reset(w->lanes, &step, w->s.active);
    if (!w->unit.bottom)
        seen->failed |= safety_state(&w->s, w->tokens, w->unit.W, w->lanes->pcs);
    bool private = !w->unit.bottom && !(calls >> (w->s.pc & 63) & 1);
    if (private && !safety_lanes_private(w->lanes, w->tokens, w->s.depth, w->s.active))
        seen->failed |= 1u << SAFETY_PRIVATE;
    if (private && !same_frames(w))
        seen->failed |= 1u << SAFETY_KAPPA;
    return !seen->failed && !w->s.completed;
}

/* ---- random programs ---- */

enum { LENGTH = 12 };

struct random_op {
    bool known;
    enum ptx_exec exec;
    uint32_t address;
    bool guarded;
};

static struct random_op random_op(struct pcg *rng)
{
    static const enum ptx_exec execs[] = {
        PTX_EXEC_NOP,    PTX_EXEC_SSY,   PTX_EXEC_SSY,    PTX_EXEC_SYNC, PTX_EXEC_SYNC,
        PTX_EXEC_PREBRK, PTX_EXEC_BREAK, PTX_EXEC_PRERET, PTX_EXEC_RET,  PTX_EXEC_BRA,
        PTX_EXEC_BRA,    PTX_EXEC_CALL,  PTX_EXEC_CALL,   PTX_EXEC_EXIT};
    struct random_op op = {.known = true};
    op.exec = execs[pcg_below(rng, sizeof execs / sizeof *execs)];
    op.address = 1 + pcg_below(rng, LENGTH);
    op.guarded = pcg_below(rng, 2);
    return op;
}

/* Instructions are made up where the warp comes to them for the first time; mostly such that the program is
 * consistent there. */
static struct seen random_run(uint64_t number, bool printed)
{
    static struct warp w;
    struct random_op program[LENGTH + 2] = {0};
    struct seen seen = {.hypothesis = SAFETY_NONE};
    struct safety_lanes *lanes = w.lanes;
    memset(&w, 0, sizeof w);
    w.lanes = lanes ? lanes : safety_lanes_new(&arena, 4, N_TOKENS);
    w.rng = pcg_derive(number, PCG_KERNEL, 0);
    warp_start(&w, 2 + pcg_below(&w.rng, 2), 0);
    safety_lanes_start(w.lanes, &w.s, w.tokens);
    for (uint32_t i = 0; i < 60 && w.s.pc <= LENGTH; i++) {
        struct random_op *op = &program[w.s.pc];
        for (uint32_t tries = 0; !op->known || (tries && tries < 12); tries++) {
            *op = random_op(&w.rng);
            if (safety_stack(&w.s, w.tokens, op->exec, w.s.active, printed) == SAFETY_NONE)
                break;
        }
        lane_mask X = w.s.active;
        if (op->guarded)
            X &= pcg_next(&w.rng);
        for (uint32_t lane = 0; lane < 4; lane++)
            w.targets[lane] = pcg_below(&w.rng, 4) ? op->address : 1 + pcg_below(&w.rng, LENGTH);
        seen.hypothesis = safety_stack(&w.s, w.tokens, op->exec, X, printed);
        if (seen.hypothesis != SAFETY_NONE)
            return seen;
        seen.weaker |= safety_stack(&w.s, w.tokens, op->exec, X, false) != SAFETY_NONE;
        if (!warp_step(&w, op->exec, X, op->address, ~UINT64_C(0), &seen))
            return seen;
    }
    return seen;
}

static void theorem_1_with_the_corrected_clauses(void **state)
{
    (void)state;
    uint64_t steps = 0;
    for (uint64_t i = 0; i < 300000; i++) {
        struct seen seen = random_run(i, false);
        if (seen.failed)
            fail_msg("run %u: %s", (unsigned)i, safety_table[safety_first(seen.failed)].name);
        steps += seen.steps;
    }
    assert_true(steps > 2000000);
}

/* ERR.30: only where a call token lies below another one. */
static void theorem_1_fails_as_printed(void **state)
{
    (void)state;
    uint32_t failures = 0;
    for (uint64_t i = 0; i < 300000; i++) {
        struct seen seen = random_run(i, true);
        failures += seen.failed != 0;
        assert_true(!seen.failed || seen.weaker);
    }
    assert_true(failures > 20);
}

/* ---- programs of the catalogue ---- */

static enum ptx_exec exec_of(enum notation_kind kind)
{
    static const enum ptx_exec execs[] = {
        [N_NOP] = PTX_EXEC_NOP,       [N_SSY] = PTX_EXEC_SSY,   [N_PREBRK] = PTX_EXEC_PREBRK,
        [N_PRERET] = PTX_EXEC_PRERET, [N_SYNC] = PTX_EXEC_SYNC, [N_BREAK] = PTX_EXEC_BREAK,
        [N_RET] = PTX_EXEC_RET,       [N_EXIT] = PTX_EXEC_EXIT, [N_BRA] = PTX_EXEC_BRA,
        [N_CALL] = PTX_EXEC_CALL,     [N_CAS] = PTX_EXEC_ATOM,  [N_SETEQ] = PTX_EXEC_ROWS,
        [N_ST] = PTX_EXEC_ST};
    return execs[kind];
}

static struct seen run_program(const struct notation *n, uint32_t switches, bool printed,
                               bool private)
{
    static struct warp w;
    struct seen seen = {.hypothesis = SAFETY_NONE};
    struct safety_lanes *lanes = w.lanes;
    uint64_t calls = 0;
    for (uint32_t pc = 1; pc <= n->op_count; pc++)
        calls |= (uint64_t)(n->ops[pc].kind == N_CALL) << pc;
    memset(&w, 0, sizeof w);
    w.lanes = lanes ? lanes : safety_lanes_new(&arena, 64, N_TOKENS);
    warp_start(&w, n->lanes, switches);
    safety_lanes_start(w.lanes, &w.s, w.tokens);
    for (uint32_t i = 0; i < 100 && w.s.pc <= n->op_count; i++) {
        const struct notation_op *op = &n->ops[w.s.pc];
        lane_mask X = 0;
        for (uint32_t lane = 0; lane < n->lanes; lane++) {
            bool guard = op->guard < 0 || (n->regs[op->guard][lane] != 0) != op->guard_not;
            X |= (lane_mask)guard << lane;
            w.targets[lane] = op->reg < 0 ? op->a : n->regs[op->reg][lane];
        }
        X &= w.s.active;
        seen.hypothesis = safety_stack(&w.s, w.tokens, exec_of(op->kind), X, printed);
        if (seen.hypothesis != SAFETY_NONE)
            return seen;
        seen.weaker |= safety_stack(&w.s, w.tokens, exec_of(op->kind), X, false) != SAFETY_NONE;
        if (!warp_step(&w, exec_of(op->kind), X, op->a, private ? calls : ~UINT64_C(0), &seen))
            return seen;
    }
    return seen;
}

static struct seen run_named(const char *id, uint32_t switches)
{
    struct notation n;
    for (const char *at = text; notation_next(&at, &n);)
        if (strcmp(n.id, id) == 0)
            return run_program(&n, switches, false, true);
    fail_msg("no program %s", id);
    return (struct seen){0};
}

/* What sees a switch on the catalogue's program for it. HYPOTHESIS: its stack is not consistent where the report's
 * rules keep it so. */
enum { HYPOTHESIS = SAFETY_STACK_1, NOTHING = SAFETY_NONE };

static const struct {
    const char *id;
    uint32_t switches;
    uint32_t by; /* the first that fails */
} mutants[] = {
    {"MUT.01", 1u << CRS_SWITCH_SYNC_FLAG, HYPOTHESIS},
    {"MUT.02", 1u << CRS_SWITCH_UNIFORM_RETURN, SAFETY_ACT},
    {"MUT.03", 1u << CRS_SWITCH_UNIFORM_BREAK, SAFETY_ACT},
    {"MUT.04", 1u << CRS_SWITCH_UNIFORM_EXIT, SAFETY_COR_1},
    {"MUT.05", 1u << CRS_SWITCH_CALL_PUSH, SAFETY_PRIVATE},
    {"MUT.06", 1u << CRS_SWITCH_UNWIND_RETURN, HYPOTHESIS},
    {"MUT.07", 1u << CRS_SWITCH_TARGET_NEXT, SAFETY_INACT},
    {"MUT.09", 1u << CRS_SWITCH_CALL_TARGET_NO_TOKEN, SAFETY_INACT},
    {"MUT.10", 1u << CRS_SWITCH_ENABLE_ALL, SAFETY_INACT},
    {"MUT.11", 1u << CRS_SWITCH_ENABLE_ANY, SAFETY_ACT},
    {"MUT.12", 1u << CRS_SWITCH_NO_MINUS_SYNC, SAFETY_INV_5},
    {"MUT.13", 1u << CRS_SWITCH_NO_MINUS_CALL, SAFETY_INV_5},
    {"MUT.14", 1u << CRS_SWITCH_UNWIND_ONCE, SAFETY_COR_1},
    {"MUT.15", 1u << CRS_SWITCH_BREAK_DIRECT, SAFETY_ACT},
    {"MUT.16", 1u << CRS_SWITCH_SYNC_SKIP, SAFETY_ACT},
    {"MUT.17", 1u << CRS_SWITCH_NOT_TAKEN_ALL, SAFETY_INV_7},
    {"MUT.18", 1u << CRS_SWITCH_CALL_GUARD_ALL, SAFETY_ACT},
    {"MUT.19", 1u << CRS_SWITCH_CALL_GUARD_TOKEN, SAFETY_PRIVATE},
    {"MUT.20", 1u << CRS_SWITCH_PUSH_EXECUTING, SAFETY_INV_3},
    {"MUT.21", 1u << CRS_SWITCH_NOT_TAKEN_FIRST, NOTHING},
    {"MUT.22", 1u << CRS_SWITCH_KAPPA, SAFETY_KAPPA},
    {"MUT.23", 1u << CRS_SWITCH_GUARD_PC, SAFETY_INACT},
    {"MUT.25", 1u << CRS_SWITCH_UNIFORM_PUSH, SAFETY_INV_6},
    {"MUT.24", 0, SAFETY_KAPPA}, /* the program: a preRet whose call nobody makes */
};

static const char *name_of(uint32_t by)
{
    return by == HYPOTHESIS ? "hypothesis" : safety_table[by].name;
}

static void every_switch_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        struct seen seen = run_named(mutants[i].id, mutants[i].switches);
        uint32_t by = seen.hypothesis != SAFETY_NONE ? HYPOTHESIS
                      : seen.failed                  ? (uint32_t)safety_first(seen.failed)
                                                     : NOTHING;
        if (by != mutants[i].by)
            print_error("%s: %s, not %s\n", mutants[i].id, name_of(by), name_of(mutants[i].by));
        if (by == SAFETY_PRIVATE || by == SAFETY_KAPPA) /* invisible in the warp's own stack */
            assert_int_equal(seen.failed & ~(1u << SAFETY_PRIVATE | 1u << SAFETY_KAPPA), 0);
        if (mutants[i].switches) {
            struct seen right = run_named(mutants[i].id, 0);
            assert_int_equal(right.failed, 0);
        }
    }
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        struct seen seen = run_named(mutants[i].id, mutants[i].switches);
        uint32_t by = seen.hypothesis != SAFETY_NONE ? HYPOTHESIS
                      : seen.failed                  ? (uint32_t)safety_first(seen.failed)
                                                     : NOTHING;
        assert_int_equal(by, mutants[i].by);
    }
}

/* The six instructions of erratum 30. */
static void the_counterexample_to_theorem_1(void **state)
{
    (void)state;
    static const char program[] =
        "\n```x\nid ERR.30  lanes p=10\n1 preRet 4\n2 ssy 5\n3 @p call 6\n"
        "4 nop\n5 exit\n6 ret\n```";
    struct notation n;
    const char *at = program;
    assert_true(notation_next(&at, &n));
    struct seen seen = run_program(&n, 0, true, false);
    assert_int_equal(seen.hypothesis, SAFETY_NONE);
    assert_true(seen.weaker);
    assert_int_equal(safety_first(seen.failed), SAFETY_INACT);
    assert_int_equal(run_program(&n, 0, false, false).hypothesis, SAFETY_STACK_6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theorem_1_with_the_corrected_clauses),
        cmocka_unit_test(theorem_1_fails_as_printed),
        cmocka_unit_test(every_switch_is_seen),
        cmocka_unit_test(the_counterexample_to_theorem_1),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
