/*
 * The branch unit (engine/crs/crs_branch.c) against the reference of crs_reference.h: the catalogue's golden
 * traces, mutants and corner cases; every state of three lanes with up to two tokens; random programs with
 * every switch.
 */
#include "tests/unit/engine/crs/crs_reference.h"

#include "engine/base/pcg.h"
#include "engine/crs/crs_branch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char text[1 << 16];

static void read_programs(void)
{
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/tests/data/crs-programs.md", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
}

/* ---- both sides ---- */

struct unit {
    struct crs_state s;
    struct crs_token tokens[N_TOKENS];
    struct crs_unit u;
};

static lane_mask bits(const bool *lanes, uint32_t count)
{
    lane_mask mask = 0;
    for (uint32_t i = 0; i < count; i++)
        mask |= (lane_mask)lanes[i] << i;
    return mask;
}

static lane_mask disabled(const struct ref_state *r, char why)
{
    lane_mask mask = 0;
    for (uint32_t i = 0; i < r->lanes; i++)
        mask |= (lane_mask)(r->disabled[i] == why) << i;
    return mask;
}

static struct crs_token token_of(const struct notation_token *t, uint32_t lanes)
{
    return (struct crs_token){.type = t->type == 's'   ? CRS_SYNC
                                      : t->type == 'd' ? CRS_DIVERGE
                                      : t->type == 'c' ? CRS_CALL
                                                       : CRS_BREAK,
                              .pc = t->pc,
                              .mask = bits(t->mask, lanes)};
}

static void unit_from(struct unit *x, const struct ref_state *r, uint32_t switches)
{
    memset(x, 0, sizeof *x);
    x->s = (struct crs_state){.pc = r->pc,
                              .depth = r->length,
                              .active = bits(r->active, r->lanes),
                              .broken = disabled(r, 'b'),
                              .returned = disabled(r, 'r'),
                              .exited = disabled(r, 'e')};
    for (uint32_t i = 0; i < r->length; i++)
        x->tokens[r->length - 1 - i] = token_of(&r->list[i], r->lanes);
    x->u = (struct crs_unit){.machine = &crs_no_machine,
                             .s = &x->s,
                             .tokens = x->tokens,
                             .capacity = N_TOKENS,
                             .switches = switches,
                             .W = r->lanes == 64 ? ~(lane_mask)0 : ((lane_mask)1 << r->lanes) - 1};
}

static bool same(const struct unit *x, const struct ref_state *r)
{
    if (r->status == REF_BOTTOM || x->u.bottom)
        return r->status == REF_BOTTOM && x->u.bottom;
    struct unit y;
    unit_from(&y, r, 0);
    y.s.completed = r->status == REF_COMPLETED;
    if (r->status == REF_COMPLETED)
        y.s.pc = x->s.pc; /* of no meaning */
    return memcmp(&x->s, &y.s, sizeof x->s) == 0 &&
           memcmp(x->tokens, y.tokens, x->s.depth * sizeof *x->tokens) == 0;
}

/* The k-th, in both. */
struct script {
    struct choices choices;
    uint32_t k, n;
};

static uint32_t script_choose(struct choices *choices, uint32_t n)
{
    struct script *script = (struct script *)choices;
    assert_true(n >= 2 && script->n == n);
    return script->k;
}

static uint32_t script_ref(void *context, uint32_t n)
{
    struct script *script = context;
    script->n = n;
    script->k %= n;
    return script->k;
}

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

static enum rule unit_step(struct unit *x, const struct ref_actions *a, struct script *script)
{
    uint32_t targets[N_LANES] = {0};
    struct crs_actions actions = {
        .kind = exec_of(a->kind), .address = a->address, .targets = targets};
    for (uint32_t i = 0; i < a->count; i++) {
        actions.X |= (lane_mask)1 << a->items[i].lane;
        targets[a->items[i].lane] = a->items[i].target;
    }
    script->choices.choose = script_choose;
    if (actions.X != 0 && ptx_is_flow(actions.kind))
        return crs_flow(&x->u, &actions, &script->choices);
    x->u.s->pc++;
    return RULE_CRS_NEXT;
}

/* ---- functions on masks ---- */

static void mask_functions_of_three_lanes(void **state)
{
    (void)state;
    for (lane_mask alpha = 0; alpha < 8; alpha++)
        for (lane_mask X = 0; X < 8; X++)
            for (uint32_t t = 0; t < 27; t++) {
                struct ref_state s = {.lanes = 3};
                struct ref_actions a = {0};
                uint32_t targets[3] = {t % 3, t / 3 % 3, t / 9};
                for (uint32_t lane = 0; lane < 3; lane++) {
                    s.active[lane] = alpha >> lane & 1;
                    if (X >> lane & 1)
                        a.items[a.count++] = (struct ref_lane_action){lane, targets[lane]};
                }
                assert_int_equal(crs_uni(alpha, X), ref_uni(&s, &a));
                if (X)
                    assert_int_equal(crs_uni2(alpha, X, targets),
                                     ref_uni(&s, &a) && ref_one_target(&a));
                for (uint32_t pc = 0; pc < 3; pc++) {
                    bool taken[N_LANES], rest[N_LANES];
                    ref_taken(&a, pc, taken);
                    ref_not_taken(&s, taken, 0, rest);
                    lane_mask m = crs_taken(X, targets, pc);
                    assert_int_equal(m, bits(taken, 3));
                    assert_int_equal(crs_not_taken(alpha, m), bits(rest, 3));
                }
            }
}

/* ---- all small states ---- */

static const enum notation_kind all_kinds[] = {N_SSY, N_PREBRK, N_PRERET, N_SYNC, N_BREAK,
                                               N_RET, N_EXIT,   N_BRA,    N_CALL};
enum { KINDS = sizeof all_kinds / sizeof *all_kinds };

static void compare_step(const struct ref_state *before, const struct ref_actions *a,
                         uint32_t switches, uint32_t k)
{
    struct unit x;
    struct ref_state after = *before;
    struct script script = {.k = k};
    unit_from(&x, before, switches);
    ref_flow(&after, a, switches, script_ref, &script);
    unit_step(&x, a, &script);
    if (!same(&x, &after))
        fail_msg("kind %u of %u lanes: pc %u active %x stack %u, reference pc %u stack %u",
                 (unsigned)a->kind, (unsigned)a->count, (unsigned)x.s.pc, (unsigned)x.s.active,
                 (unsigned)x.s.depth, (unsigned)after.pc, (unsigned)after.length);
}

static struct ref_actions actions_of(enum notation_kind kind, lane_mask X, uint32_t targets)
{
    struct ref_actions a = {.kind = kind, .address = 9};
    for (uint32_t lane = 0; X >> lane; lane++, targets /= 2)
        if (X >> lane & 1)
            a.items[a.count++] = (struct ref_lane_action){lane, 20 + targets % 2};
    return a;
}

static void every_action(const struct ref_state *s)
{
    lane_mask alpha = bits(s->active, s->lanes);
    for (lane_mask X = alpha; X; X = (X - 1) & alpha)
        for (uint32_t k = 0; k < KINDS; k++) {
            bool branches = all_kinds[k] == N_BRA || all_kinds[k] == N_CALL;
            if (branches && s->length > 0)
                continue; /* what lies below is not looked at */
            for (uint32_t t = 0; t < (branches ? 8u : 1u); t++) {
                struct ref_actions a = actions_of(all_kinds[k], X, t);
                compare_step(s, &a, 0, 0);
                compare_step(s, &a, 0, 1);
            }
        }
}

/* Number of a token, 0 .. 31: its type and mask. */
static struct notation_token small_token(uint32_t number, uint32_t pc)
{
    struct notation_token t = {.type = "sdcb"[number / 8], .pc = pc};
    for (uint32_t lane = 0; lane < 3; lane++)
        t.mask[lane] = number % 8 >> lane & 1;
    return t;
}

static void every_state_of_three_lanes(void **state)
{
    (void)state;
    for (uint32_t masks = 0; masks < 512; masks++) {
        struct ref_state s = {.lanes = 3, .pc = 5};
        for (uint32_t lane = 0; lane < 3; lane++) {
            s.active[lane] = masks >> (3 * lane) & 1;
            s.disabled[lane] = "0bre"[masks >> (3 * lane + 1) & 3];
        }
        every_action(&s);
        for (uint32_t top = 0; top < 32; top++) {
            s.length = 1;
            s.list[0] = small_token(top, 11);
            every_action(&s);
            if (masks % 3) /* a third of the states with two tokens */
                continue;
            for (uint32_t next = 0; next < 32; next++) {
                s.length = 2;
                s.list[1] = small_token(next, 12);
                every_action(&s);
            }
        }
    }
}

static void random_states_with_switches(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 0x5eed, 1);
    for (uint32_t i = 0; i < 400000; i++) {
        struct ref_state s = {.lanes = 1 + pcg_below(&rng, 4), .pc = 5};
        for (uint32_t lane = 0; lane < s.lanes; lane++) {
            s.active[lane] = pcg_below(&rng, 2);
            s.disabled[lane] = "0bre"[pcg_below(&rng, 4)];
        }
        s.length = pcg_below(&rng, 4);
        for (uint32_t t = 0; t < s.length; t++) {
            s.list[t] = small_token(pcg_below(&rng, 32), pcg_below(&rng, 3) + 4);
            for (uint32_t lane = s.lanes; lane < 3; lane++)
                s.list[t].mask[lane] = false;
        }
        lane_mask X = bits(s.active, s.lanes) & pcg_next(&rng);
        if (!X)
            continue;
        struct ref_actions a =
            actions_of(all_kinds[pcg_below(&rng, KINDS)], X, pcg_below(&rng, 16));
        uint32_t switches = 1u << pcg_below(&rng, CRS_SWITCH_COUNT);
        if (pcg_below(&rng, 4) == 0)
            switches = CRS_PATENT_ALL;
        compare_step(&s, &a, switches, pcg_below(&rng, 2));
    }
}

/* ---- programs ---- */

struct run {
    struct ref_warp w;
    char rows[N_ROWS][512];
    uint32_t row_count;
    char summary[512];
    uint64_t rules;
};

static const struct notation *running;
static uint32_t choices_made;

/* What the program says that is chosen; then the least. */
static uint32_t choose_scripted(void *context, uint32_t n)
{
    const struct ref_warp *w = context;
    uint32_t wanted = choices_made < running->choice_count ? running->choices[choices_made] : 0;
    uint32_t distinct[N_LANES], count = 0;
    choices_made++;
    for (uint32_t pc = 0; count < n; pc++)
        for (uint32_t i = 0; i < w->actions.count; i++)
            if (w->actions.items[i].target == pc) {
                distinct[count++] = pc;
                break;
            }
    for (uint32_t i = 0; i < n; i++)
        if (distinct[i] == wanted)
            return i;
    return 0;
}

static struct script both;

static uint32_t choose_both(void *context, uint32_t n)
{
    both.n = n;
    both.k = choose_scripted(context, n);
    return both.k;
}

/* Runs the reference and the unit side by side. */
static void run_program(const struct notation *n, uint32_t switches, uint32_t steps,
                        struct run *run)
{
    struct unit x;
    memset(run, 0, sizeof *run);
    running = n;
    choices_made = 0;
    ref_warp_init(&run->w, n, switches);
    unit_from(&x, &run->w.s, switches);
    for (uint32_t i = 0; i < steps && run->w.s.status == REF_ACTIVE; i++) {
        bool exists = run->w.s.pc >= 1 && run->w.s.pc <= n->op_count;
        ref_warp_step(&run->w, choose_both, &run->w);
        if (!exists)
            break;
        run->rules |= UINT64_C(1) << (unit_step(&x, &run->w.actions, &both) - RULE_CRS_NEXT);
        if (!same(&x, &run->w.s))
            fail_msg("%s: differs after address %u, step %u", n->id, (unsigned)run->w.pc,
                     (unsigned)i);
        if (run->w.s.status != REF_BOTTOM && run->row_count < N_ROWS)
            ref_row(&run->w, run->rows[run->row_count++], sizeof run->rows[0]);
    }
    ref_summary(&run->w, run->summary, sizeof run->summary);
}

static void traces_of_the_catalogue(void **state)
{
    (void)state;
    struct notation n;
    uint32_t traces = 0;
    read_programs();
    for (const char *at = text; notation_next(&at, &n);) {
        if (n.trace_count == 0)
            continue;
        struct run run;
        run_program(&n, 0, 200, &run);
        for (uint32_t i = 0; i < n.trace_count; i++)
            assert_string_equal(run.rows[i], n.trace[i]);
        traces++;
        if (strstr(n.options, "stuck"))
            assert_int_equal(run.w.s.status, REF_BOTTOM);
        else
            assert_int_equal(run.w.s.status, REF_COMPLETED);
        assert_int_equal(run.row_count, n.trace_count);
    }
    assert_int_equal(traces, 3 + 12);
}

/* GT.62: from step 4 on the same four addresses, for ever, by the lane that lost. */
static void the_spin_lock_never_ends(void **state)
{
    (void)state;
    struct notation n;
    struct run run;
    read_programs();
    for (const char *at = text; notation_next(&at, &n);)
        if (strcmp(n.id, "GT.62") == 0)
            break;
    assert_string_equal(n.id, "GT.62");
    run_program(&n, 0, 60, &run);
    assert_int_equal(run.w.s.status, REF_ACTIVE);
    for (uint32_t i = 4; i + 4 < 60; i++)
        assert_string_equal(run.rows[i], run.rows[i + 4]);
    assert_string_equal(run.rows[4], "5 01 b0 (break,11,6)");
    n.lanes = 1;
    run_program(&n, 0, 60, &run);
    assert_int_equal(run.w.s.status, REF_COMPLETED);
    assert_int_equal(run.w.memory, 1);
}

/* ---- mutants ---- */

static const char *const mutants[CRS_SWITCH_COUNT] = {
#define CRS_SWITCH(id, name, mutant, sentence) mutant,
#include "engine/crs/crs_switches.def"
};

static enum crs_switch switch_of(const char *id)
{
    for (uint32_t i = 0; i < CRS_SWITCH_COUNT; i++)
        if (strcmp(mutants[i], id) == 0)
            return (enum crs_switch)i;
    fail_msg("no switch for %s", id);
    return CRS_SWITCH_COUNT;
}

/* At the level that the catalogue names: A results, B order, S state, K call stacks. */
static bool distinguished(const struct notation *n, const struct run *ref, const struct run *mut)
{
    const char *level = strstr(n->options, "level ");
    switch (level ? level[6] : 'A') {
    case 'A':
        return strcmp(ref->summary, mut->summary) != 0;
    case 'B':
        return strcmp(ref->w.order, mut->w.order) != 0;
    case 'S':
        return memcmp(ref->rows, mut->rows, sizeof ref->rows) != 0;
    case 'K':
        return memcmp(ref->w.kappa, mut->w.kappa, sizeof ref->w.kappa) != 0;
    default:
        return false;
    }
}

static void every_switch_is_distinguished(void **state)
{
    (void)state;
    struct notation n;
    uint32_t seen = 0;
    read_programs();
    for (const char *at = text; notation_next(&at, &n);) {
        if (n.ref[0] == 0)
            continue;
        struct run ref, mut;
        run_program(&n, 0, 200, &ref);
        assert_string_equal(ref.summary, n.ref);
        if (n.mut[0] == 0)
            continue; /* MUT.24: the program is the mutant */
        enum crs_switch id = switch_of(n.id);
        run_program(&n, 1u << id, 200, &mut);
        if (strcmp(mut.summary, n.mut) != 0)
            fail_msg("%s: %s, not %s", n.id, mut.summary, n.mut);
        if (id == CRS_SWITCH_NO_RESET)
            seen |= 1u << id; /* of thread-pc: test_thread_pc */
        else if (distinguished(&n, &ref, &mut))
            seen |= 1u << id;
        else
            fail_msg("%s is not distinguished", n.id);
    }
    assert_int_equal(seen, ((1u << CRS_SWITCH_COUNT) - 1) & ~(1u << CRS_SWITCH_UNWIND_KEEPS));
}

/* ---- random programs ---- */

static void random_program(struct pcg *rng, struct notation *n)
{
    static const enum notation_kind kinds[] = {N_NOP,  N_SSY,   N_SSY, N_PREBRK, N_PRERET, N_SYNC,
                                               N_SYNC, N_BREAK, N_RET, N_EXIT,   N_BRA,    N_CALL};
    memset(n, 0, sizeof *n);
    snprintf(n->id, sizeof n->id, "random");
    n->lanes = 1 + pcg_below(rng, 4);
    n->entry = 1;
    n->op_count = 4 + pcg_below(rng, 14);
    n->reg_count = 5;
    for (uint32_t reg = 0; reg < 5; reg++)
        for (uint32_t lane = 0; lane < n->lanes; lane++)
            n->regs[reg][lane] = reg < 3 ? pcg_below(rng, 2) : 1 + pcg_below(rng, n->op_count);
    for (uint32_t pc = 1; pc <= n->op_count; pc++) {
        struct notation_op *op = &n->ops[pc];
        op->kind = kinds[pcg_below(rng, sizeof kinds / sizeof *kinds)];
        op->guard = pcg_below(rng, 3) ? -1 : (int)pcg_below(rng, 3);
        op->guard_not = pcg_below(rng, 2);
        op->reg = pcg_below(rng, 4) ? -1 : 3 + (int)pcg_below(rng, 2);
        op->a = 1 + pcg_below(rng, n->op_count);
    }
}

static void random_programs_with_switches(void **state)
{
    (void)state;
    struct pcg rng;
    struct run run;
    struct notation n;
    uint64_t rules = 0;
    uint32_t ended[3] = {0};
    pcg_seed(&rng, 0xc25, 7);
    for (uint32_t i = 0; i < 20000; i++) {
        random_program(&rng, &n);
        run_program(&n, i % 2 ? 0 : 1u << pcg_below(&rng, CRS_SWITCH_COUNT), 40, &run);
        rules |= run.rules;
        ended[run.w.s.status]++;
    }
    assert_int_equal(rules, (UINT64_C(1) << (RULE_CRS_CALL_TARGET - RULE_CRS_NEXT + 1)) - 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(ended[i] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mask_functions_of_three_lanes),
        cmocka_unit_test(every_state_of_three_lanes),
        cmocka_unit_test(random_states_with_switches),
        cmocka_unit_test(traces_of_the_catalogue),
        cmocka_unit_test(the_spin_lock_never_ends),
        cmocka_unit_test(every_switch_is_distinguished),
        cmocka_unit_test(random_programs_with_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
