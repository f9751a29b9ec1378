/* The predicates of chapter 6 of cuda-crs against their definitions, literally, on random states that
 * need not be reachable; its lemmas 1, 2 and corollary 1 on such states. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "oracle/crs/safety_lanes.h"
#include "oracle/crs/safety_spans.h"

#include <string.h>

enum { LANES = 4, TOKENS = 6 };

struct sample {
    struct crs_state s;
    struct crs_token tokens[TOKENS];
    uint32_t pcs[LANES];
    uint32_t lanes;
    lane_mask W;
};

/* ---- the definitions, a lane at a time ---- */

static bool in(lane_mask mask, uint32_t lane)
{
    return (mask >> lane) & 1;
}

static char delta(const struct crs_state *s, uint32_t lane)
{
    return in(s->broken, lane)     ? 'b'
           : in(s->returned, lane) ? 'r'
           : in(s->exited, lane)   ? 'e'
                                   : '0';
}

/* Number of the token, from the bottom, or -1. */
static int act_token(const struct sample *x, uint32_t lane)
{
    char d = delta(&x->s, lane);
    if (in(x->s.active, lane) || d == 'e')
        return -1;
    for (int i = (int)x->s.depth - 1; i >= 0; i--) {
        const struct crs_token *t = &x->tokens[i];
        if (in(t->mask, lane) && (d != 'b' || t->type == CRS_BREAK) &&
            (d != 'r' || t->type == CRS_CALL))
            return i;
    }
    return -1;
}

static bool fails(const struct sample *x, uint32_t lane, enum safety_predicate predicate)
{
    const struct crs_state *s = &x->s;
    bool active = in(s->active, lane), waits = !active && delta(s, lane) != 'e';
    int act = act_token(x, lane);
    switch ((unsigned)predicate) {
    case SAFETY_INV_1:
        return waits && act < 0;
    case SAFETY_INV_3:
        for (uint32_t i = 0; i < s->depth; i++)
            if (active && x->tokens[i].type != CRS_DIVERGE && !in(x->tokens[i].mask, lane))
                return true;
        return false;
    case SAFETY_INV_4:
        for (int i = 0; i < act; i++)
            if (waits && x->tokens[i].type != CRS_DIVERGE && !in(x->tokens[i].mask, lane))
                return true;
        return false;
    case SAFETY_INV_5:
        return active && delta(s, lane) != '0';
    case SAFETY_INV_7:
        for (int i = 0; i < (int)s->depth; i++)
            if (x->tokens[i].type == CRS_DIVERGE && in(x->tokens[i].mask, lane) &&
                (active || delta(s, lane) != '0' || act != i))
                return true;
        return false;
    case SAFETY_ACT:
        return active && x->pcs[lane] != s->pc;
    case SAFETY_INACT:
        return waits && (act < 0 || x->pcs[lane] != x->tokens[act].pc);
    default:
        return false;
    }
}

static safety_set naive_state(const struct sample *x)
{
    safety_set set = 0;
    bool some_active = false, all_exited = true;
    for (uint32_t lane = 0; lane < x->lanes; lane++) {
        some_active |= in(x->s.active, lane);
        all_exited &= delta(&x->s, lane) == 'e';
        for (uint32_t p = 0; p < SAFETY_PREDICATE_COUNT; p++)
            set |= (safety_set)fails(x, lane, (enum safety_predicate)p) << p;
    }
    if (!some_active && !all_exited)
        set |= 1u << SAFETY_INV_2;
    for (uint32_t i = 0; i < x->s.depth; i++)
        if (x->tokens[i].mask == 0)
            set |= 1u << SAFETY_INV_6;
    return set;
}

/* ---- random states ---- */

static lane_mask random_mask(struct pcg *rng, lane_mask within)
{
    return pcg_next(rng) & within;
}

/* Masks often lie within those below, and lanes often stand where their token is. */
static struct sample random_sample(struct pcg *rng)
{
    struct sample x = {.lanes = 1 + pcg_below(rng, LANES)};
    lane_mask within = x.W = ((lane_mask)1 << x.lanes) - 1;
    x.s.pc = 1 + pcg_below(rng, 4);
    x.s.depth = pcg_below(rng, TOKENS);
    for (uint32_t i = 0; i < x.s.depth; i++) {
        lane_mask narrow = pcg_below(rng, 4) ? within : x.W;
        struct crs_token *t = &x.tokens[i];
        t->type = pcg_below(rng, 4);
        t->pc = 1 + pcg_below(rng, 4);
        t->mask = random_mask(rng, narrow);
        t->mask |= random_mask(rng, narrow);
        if (x.tokens[i].type != CRS_DIVERGE)
            within = x.tokens[i].mask;
    }
    x.s.active = pcg_below(rng, 2) ? random_mask(rng, within) : 0;
    for (uint32_t lane = 0; lane < x.lanes; lane++) {
        lane_mask *masks[] = {&x.s.broken, &x.s.returned, &x.s.exited};
        uint32_t why = pcg_below(rng, in(x.s.active, lane) ? 12 : 6);
        if (why < 3)
            *masks[why] |= (lane_mask)1 << lane;
    }
    for (uint32_t lane = 0; lane < x.lanes; lane++) {
        int act = act_token(&x, lane);
        x.pcs[lane] = pcg_below(rng, 12) == 0 ? 1 + pcg_below(rng, 4)
                      : in(x.s.active, lane)  ? x.s.pc
                      : act >= 0              ? x.tokens[act].pc
                                              : 0;
    }
    return x;
}

static void the_one_pass_is_the_definition(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(1, PCG_KERNEL, 0);
    uint32_t clean = 0, failing[SAFETY_PREDICATE_COUNT] = {0};
    for (uint32_t i = 0; i < 300000; i++) {
        struct sample x = random_sample(&rng);
        safety_set expected = naive_state(&x);
        assert_int_equal(safety_state(&x.s, x.tokens, x.W, x.pcs), expected);
        clean += expected == 0;
        for (uint32_t p = 0; p < SAFETY_PREDICATE_COUNT; p++)
            failing[p] += (expected >> p) & 1;
    }
    assert_true(clean > 1000);
    for (uint32_t p = SAFETY_INV_1; p <= SAFETY_INACT; p++)
        assert_true(failing[p] > 1000);
}

/* ---- lemmas 1 and 2, corollary 1 ---- */

/* updExecState and unwind of 5.4.1, a lane at a time. False: ⊥. */
static bool unwind(struct sample *x, uint32_t *pops)
{
    const struct crs_state old = x->s;
    *pops = 0;
    while (x->s.depth > 0) {
        const struct crs_token *t = &x->tokens[--x->s.depth];
        struct crs_state s = old;
        ++*pops;
        s.active = 0;
        for (uint32_t lane = 0; lane < x->lanes; lane++) {
            lane_mask one = (lane_mask)1 << lane;
            if (!in(t->mask, lane))
                continue;
            if (t->type == CRS_CALL)
                s.returned &= ~one;
            if (t->type == CRS_BREAK)
                s.broken &= ~one;
            if (delta(&s, lane) == '0')
                s.active |= one;
        }
        s.pc = t->pc;
        s.depth = x->s.depth;
        if (s.active) {
            x->s = s;
            return true;
        }
    }
    x->s.completed = 1;
    return (x->s.exited & x->W) == x->W;
}

static void unwinding_keeps_the_invariants(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(2, PCG_KERNEL, 0);
    uint32_t one = 0, several = 0, exited = 0;
    for (uint32_t i = 0; i < 400000; i++) {
        struct sample x = random_sample(&rng);
        uint32_t pops = 0;
        x.s.active = 0;
        for (uint32_t lane = 0; lane < x.lanes; lane++) {
            int act = act_token(&x, lane);
            x.pcs[lane] = act >= 0 ? x.tokens[act].pc : 0;
        }
        bool all_exited = (x.s.exited & x.W) == x.W;
        if (!all_exited && !safety_unwinds(&x.s, x.tokens, x.W, x.pcs))
            continue;
        assert_true(unwind(&x, &pops)); /* Corollary 1 */
        if (all_exited) {
            exited++;
            continue;
        }
        /* inv 7 is not the lemmas': they say nothing of lanes in two diverge tokens. */
        safety_set lemma = ~(1u << SAFETY_INV_7);
        assert_int_equal(safety_state(&x.s, x.tokens, x.W, x.pcs) & lemma, 0); /* Lemmas 1, 2 */
        one += pops == 1;
        several += pops > 1;
    }
    assert_true(one > 10000 && several > 1000 && exited > 1000);
}

/* The unreachable state of erratum 32: printed inv and stack-cons hold, and the sync breaks act-cons. */
static void the_second_half_of_inv_5_is_vacuous(void **state)
{
    (void)state;
    struct sample x = {.lanes = 2, .W = 3, .pcs = {3, 4}};
    uint32_t pops = 0;
    x.s = (struct crs_state){.pc = 3, .active = 1, .depth = 2};
    x.tokens[0] = (struct crs_token){CRS_SYNC, 4, 3};
    x.tokens[1] = (struct crs_token){CRS_DIVERGE, 9, 3};
    x.pcs[1] = 9;
    assert_int_equal(safety_state(&x.s, x.tokens, x.W, x.pcs), 1u << SAFETY_INV_7);
    assert_int_equal(safety_stack(&x.s, x.tokens, PTX_EXEC_SYNC, 1, true), SAFETY_NONE);
    x.pcs[0] = 4;
    assert_true(unwind(&x, &pops));
    assert_int_equal(pops, 1);
    assert_true(safety_state(&x.s, x.tokens, x.W, x.pcs) & 1u << SAFETY_ACT);
}

/* ---- stack consistency ---- */

static const struct {
    const char *what;
    enum ptx_exec exec;
    lane_mask X;
    uint32_t depth;
    struct crs_token tokens[3];
    enum safety_predicate corrected, printed;
} stacks[] = {
    {"break", PTX_EXEC_BREAK, 1, 1, {{CRS_CALL, 9, 3}}, SAFETY_STACK_1, SAFETY_STACK_1},
    {"break below",
     PTX_EXEC_BREAK,
     1,
     2,
     {{CRS_BREAK, 9, 3}, {CRS_CALL, 9, 3}},
     SAFETY_NONE,
     SAFETY_NONE},
    {"nobody breaks", PTX_EXEC_BREAK, 0, 0, {{0}}, SAFETY_NONE, SAFETY_NONE},
    {"ret", PTX_EXEC_RET, 1, 1, {{CRS_BREAK, 9, 3}}, SAFETY_STACK_2, SAFETY_STACK_2},
    {"ret below",
     PTX_EXEC_RET,
     1,
     2,
     {{CRS_CALL, 9, 3}, {CRS_SYNC, 9, 3}},
     SAFETY_NONE,
     SAFETY_NONE},
    {"sync, empty", PTX_EXEC_SYNC, 1, 0, {{0}}, SAFETY_STACK_3, SAFETY_STACK_3},
    {"sync, call", PTX_EXEC_SYNC, 1, 1, {{CRS_CALL, 6, 3}}, SAFETY_STACK_3, SAFETY_STACK_3},
    {"sync", PTX_EXEC_SYNC, 1, 1, {{CRS_SYNC, 6, 3}}, SAFETY_NONE, SAFETY_NONE},
    {"sync elsewhere", PTX_EXEC_SYNC, 1, 1, {{CRS_SYNC, 5, 3}}, SAFETY_STACK_5, SAFETY_STACK_5},
    {"diverge",
     PTX_EXEC_SYNC,
     1,
     2,
     {{CRS_SYNC, 6, 3}, {CRS_DIVERGE, 2, 2}},
     SAFETY_NONE,
     SAFETY_NONE},
    {"diverge, elsewhere",
     PTX_EXEC_SYNC,
     1,
     2,
     {{CRS_SYNC, 7, 3}, {CRS_DIVERGE, 2, 2}},
     SAFETY_STACK_4,
     SAFETY_STACK_4},
    {"diverge alone", PTX_EXEC_SYNC, 1, 1, {{CRS_DIVERGE, 6, 2}}, SAFETY_STACK_4, SAFETY_STACK_4},
    {"two diverge",
     PTX_EXEC_SYNC,
     1,
     3,
     {{CRS_SYNC, 6, 7}, {CRS_DIVERGE, 2, 4}, {CRS_DIVERGE, 2, 2}},
     SAFETY_NONE,
     SAFETY_STACK_4},
    {"wider diverge",
     PTX_EXEC_SYNC,
     1,
     2,
     {{CRS_SYNC, 6, 3}, {CRS_DIVERGE, 2, 6}},
     SAFETY_NONE,
     SAFETY_STACK_4},
    {"call", PTX_EXEC_CALL, 1, 1, {{CRS_CALL, 6, 3}}, SAFETY_NONE, SAFETY_NONE},
    {"call below",
     PTX_EXEC_CALL,
     1,
     2,
     {{CRS_CALL, 6, 3}, {CRS_SYNC, 6, 3}},
     SAFETY_STACK_6,
     SAFETY_NONE},
    {"call elsewhere", PTX_EXEC_CALL, 1, 1, {{CRS_CALL, 5, 3}}, SAFETY_STACK_6, SAFETY_STACK_6},
    {"bra", PTX_EXEC_BRA, 1, 0, {{0}}, SAFETY_NONE, SAFETY_NONE},
};

static void stack_consistency(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        struct crs_state s = {.pc = 5, .active = 1, .depth = stacks[i].depth};
        for (uint32_t printed = 0; printed < 2; printed++) {
            enum safety_predicate expected = printed ? stacks[i].printed : stacks[i].corrected;
            enum safety_predicate seen =
                safety_stack(&s, stacks[i].tokens, stacks[i].exec, stacks[i].X, printed);
            if (seen != expected)
                print_error("%s: %s\n", stacks[i].what, safety_table[seen].name);
            assert_int_equal(seen, expected);
        }
    }
}

/* ---- CHK.branch, row by row: where a lane that executes stands then, with two tokens on the stack and with none
 * ---- */

static const struct {
    enum ptx_exec exec;
    uint32_t next, without; /* 0: ε */
} branches[] = {
    {PTX_EXEC_SSY, 5, 5}, {PTX_EXEC_PREBRK, 5, 5}, {PTX_EXEC_PRERET, 5, 5}, {PTX_EXEC_SYNC, 5, 5},
    {PTX_EXEC_ST, 5, 5},  {PTX_EXEC_BREAK, 7, 0},  {PTX_EXEC_RET, 8, 0},    {PTX_EXEC_EXIT, 0, 0},
    {PTX_EXEC_BRA, 9, 9}, {PTX_EXEC_CALL, 9, 9},
};

static void chk_branch(void **state)
{
    (void)state;
    static const struct crs_token tokens[] = {
        {CRS_CALL, 6, 3}, {CRS_CALL, 8, 3}, {CRS_BREAK, 7, 3}};
    static const uint32_t targets[] = {9, 9, 9, 9};
    struct safety_lanes *lanes = safety_lanes_new(&test_arena, LANES, TOKENS);
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        for (uint32_t depth = 0; depth <= 3; depth += 3) {
            struct crs_state s = {.pc = 4, .active = 3, .depth = depth};
            const struct safety_step step = {.exec = branches[i].exec,
                                             .active = 3,
                                             .executing = 1,
                                             .address = 2,
                                             .targets = targets,
                                             .pc = 4};
            safety_lanes_start(lanes, &s, tokens);
            safety_lanes_step(lanes, &step, tokens, depth);
            assert_int_equal(lanes->pcs[0], depth ? branches[i].next : branches[i].without);
            assert_int_equal(lanes->pcs[1], 5); /* its guard is false */
            assert_int_equal(lanes->pcs[2], 0); /* not active, never was */
        }
}

/* ---- CHK.neutral, CHK.reconv: a statement from address 2 to 5 ---- */

static void compound_statements(void **state)
{
    (void)state;
    struct ptx_span span = {2, 5};
    const struct ptx_code code = {.count = 8, .token_capacity = 4, .span_count = 1, .spans = &span};
    const struct crs_token tokens[] = {{CRS_CALL, 6, 3}, {CRS_SYNC, 7, 3}};
    static const struct {
        struct crs_state s; /* that the warp gets to, from {.pc = 2, .active = 3} and no tokens */
        enum safety_predicate expected;
    } ends[] = {
        {{.pc = 5, .active = 3}, SAFETY_NONE},
        {{.pc = 5, .active = 1}, SAFETY_RECONV},
        {{.pc = 5, .active = 1, .broken = 2}, SAFETY_NONE},
        {{.pc = 5, .active = 1, .returned = 2}, SAFETY_NONE},
        {{.pc = 5, .active = 1, .exited = 2}, SAFETY_NONE},
        {{.pc = 4, .active = 1}, SAFETY_NONE},
        {{.pc = 5, .active = 3, .depth = 1}, SAFETY_NONE}, /* in another activation */
        {{.pc = 5, .active = 3, .depth = 2}, SAFETY_NONE},
    };
    struct safety_spans *spans = safety_spans_new(&test_arena, &code);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct crs_state entry = {.pc = 2, .active = 3};
        struct safety_open open = {0};
        safety_open_new(&test_arena, spans, &open);
        assert_int_equal(safety_arrive(spans, &open, &entry, tokens), SAFETY_NONE);
        assert_int_equal(safety_arrive(spans, &open, &ends[i].s, tokens), ends[i].expected);
    }
    const struct crs_state entry = {.pc = 2, .active = 3}, end = {.pc = 5, .active = 3, .depth = 1};
    struct safety_open open = {0};
    safety_open_new(&test_arena, spans, &open);
    (void)safety_arrive(spans, &open, &entry, &tokens[1]);
    assert_int_equal(safety_arrive(spans, &open, &end, &tokens[1]), SAFETY_NEUTRAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_pass_is_the_definition),
        cmocka_unit_test(unwinding_keeps_the_invariants),
        cmocka_unit_test(the_second_half_of_inv_5_is_vacuous),
        cmocka_unit_test(stack_consistency),
        cmocka_unit_test(chk_branch),
        cmocka_unit_test(compound_statements),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
