/*
 * The machines `crs` and `thread-pc` on raw PTX against the reference of crs_reference.h, step by step:
 * the catalogue's programs, and random ones with every switch.
 */
#include "tests/unit/engine/crs/crs_reference.h"
#include "tests/unit/engine/crs/crs_text.h"
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/crs/crs.h"
#include "engine/program/ptx_code.h"

static char text[1 << 16];

static void read_programs(void)
{
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/tests/data/crs-programs.md", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
}

/* ---- the machine ---- */

static struct program *compile(const char *ptx)
{
    const char *reason = NULL;
    struct ast_kernel *kernel = support_parse(ptx);
    struct program *program = ptx_compile(&test_arena, kernel, kernel->ptx->module, NULL, &reason);
    if (!program)
        fail_msg("%s\n%s", reason, ptx);
    return program;
}

static struct machine *machine_of(const struct notation *n, const struct semantics *semantics,
                                  const struct machine_options *options)
{
    static struct notation_text t;
    notation_text(n, &t);
    return machine_new(&test_arena, semantics, compile(t.text), options);
}

static char delta_of(const struct crs_state *s, uint32_t lane)
{
    return s->broken >> lane & 1     ? 'b'
           : s->returned >> lane & 1 ? 'r'
           : s->exited >> lane & 1   ? 'e'
                                     : '0';
}

static bool same_token(const struct crs_token *t, const struct notation_token *r, uint32_t lanes)
{
    static const char letters[] = {
        [CRS_SYNC] = 's', [CRS_DIVERGE] = 'd', [CRS_CALL] = 'c', [CRS_BREAK] = 'b'};
    for (uint32_t lane = 0; lane < lanes; lane++)
        if ((t->mask >> lane & 1) != r->mask[lane])
            return false;
    return letters[t->type] == r->type && t->pc == r->pc;
}

static bool same_state(const struct machine *m, const struct ref_warp *w)
{
    struct crs_warp v = crs_warp(m, 0);
    bool completed = w->s.status == REF_COMPLETED;
    if (v.state->completed != completed || v.state->depth != w->s.length)
        return false;
    if (!completed && v.state->pc != w->s.pc)
        return false;
    for (uint32_t lane = 0; lane < w->s.lanes; lane++)
        if ((v.state->active >> lane & 1) != w->s.active[lane] ||
            delta_of(v.state, lane) != w->s.disabled[lane] ||
            v.lanes->lane[lane].depth + 1 != w->kappa[lane])
            return false;
    for (uint32_t i = 0; i < w->s.length; i++)
        if (!same_token(&v.tokens[w->s.length - 1 - i], &w->s.list[i], w->s.lanes))
            return false;
    return (uint32_t)m->memory[0] == w->memory;
}

/* ---- both ---- */

struct script {
    struct choices choices;
    struct pcg rng;
    const struct notation *program; /* NULL: random */
    const struct ref_warp *warp;
    uint32_t made;
    uint32_t answer;
    bool asked;
};

static uint32_t script_pick(struct choices *choices, const struct machine *machine)
{
    (void)choices, (void)machine;
    return 0;
}

/* The reference asks first; the machine gets the same answer. Orders of lanes: ascending. */
static uint32_t script_choose(struct choices *choices, uint32_t n)
{
    struct script *script = (struct script *)choices;
    bool asked = script->asked;
    script->asked = false;
    return asked && script->answer < n ? script->answer : 0;
}

static uint32_t script_ref(void *context, uint32_t n)
{
    struct script *script = context;
    script->asked = true;
    script->answer = 0;
    if (!script->program)
        return script->answer = pcg_below(&script->rng, n);
    if (script->made == script->program->choice_count)
        return 0;
    uint32_t wanted = script->program->choices[script->made++];
    const struct ref_actions *a = &script->warp->actions;
    for (uint32_t pc = 0, at = 0; at < n && pc < wanted; pc++) {
        bool here = false;
        for (uint32_t i = 0; i < a->count; i++)
            here |= a->items[i].target == pc;
        at += here;
        script->answer = at;
    }
    return script->answer;
}

struct pair {
    struct machine *m;
    struct ref_warp w;
    struct script script;
};

static void pair_init(struct pair *p, const struct notation *n, const struct semantics *semantics,
                      uint32_t switches, bool track)
{
    struct machine_options options = {.crs_switches = switches, .track = track};
    memset(p, 0, sizeof *p);
    p->m = machine_of(n, semantics, &options);
    ref_warp_init(&p->w, n, switches);
    p->script.choices.pick = script_pick;
    p->script.choices.choose = script_choose;
    p->script.warp = &p->w;
    pcg_seed(&p->script.rng, 99, 3);
}

/* One step of both. False: the end, or - of the machine only - frames deeper than it keeps. */
static bool pair_step(struct pair *p, const char *id)
{
    if (p->w.s.status != REF_ACTIVE)
        return false;
    ref_warp_step(&p->w, script_ref, &p->script);
    machine_step(p->m, 0, &p->script.choices);
    enum status status = machine_status(p->m);
    if (status == STATUS_CALL_DEPTH)
        return false;
    if ((status == STATUS_STUCK) != (p->w.s.status == REF_BOTTOM) ||
        (status == STATUS_TERMINATED) != (p->w.s.status == REF_COMPLETED))
        fail_msg("%s: after address %u the machine is %s (%s)", id, (unsigned)p->w.pc,
                 status_names[status], p->m->fault_text ? p->m->fault_text : "");
    if (p->w.s.status != REF_BOTTOM && !same_state(p->m, &p->w))
        fail_msg("%s: differs after address %u", id, (unsigned)p->w.pc);
    return p->w.s.status == REF_ACTIVE;
}

static const struct semantics *const both_semantics[] = {&semantics_crs, &semantics_thread_pc};

static void programs_of_the_catalogue(void **state)
{
    (void)state;
    struct notation n;
    uint32_t programs = 0;
    read_programs();
    for (const char *at = text; notation_next(&at, &n); programs++)
        for (uint32_t switches = 0; switches <= CRS_SWITCH_COUNT; switches++) {
            struct pair p;
            size_t mark = arena_mark(&test_arena);
            pair_init(&p, &n, &semantics_crs, switches ? 1u << (switches - 1) : 0, switches % 2);
            p.script.program = &n;
            for (uint32_t i = 0; i < 100 && pair_step(&p, n.id); i++)
                ;
            arena_release(&test_arena, mark);
        }
    assert_int_equal(programs, 28 + 1 + 5 + 12);
}

/* The same with pcs of their own: the catalogue's programs are control-flow consistent, but for three. */
static void threads_with_pcs_do_the_same(void **state)
{
    (void)state;
    struct notation n;
    read_programs();
    for (const char *at = text; notation_next(&at, &n);) {
        struct pair p;
        if (strstr(n.options, "noharness") || strstr(n.options, "stuck") ||
            strcmp(n.id, "CRS.c2") == 0)
            continue;
        pair_init(&p, &n, &semantics_thread_pc, 0, false);
        p.script.program = &n;
        for (uint32_t i = 0; i < 100 && pair_step(&p, n.id); i++) {
            struct crs_warp v = crs_warp(p.m, 0);
            for (uint32_t lane = 0; lane < n.lanes; lane++) /* act-cons */
                if (v.state->active >> lane & 1)
                    assert_int_equal(v.pcs[lane], v.state->pc);
        }
    }
}

/* MUT.08: lane 1 keeps the target that it has not gone to. */
static void without_reset_a_waiting_lane_is_elsewhere(void **state)
{
    (void)state;
    struct notation n;
    read_programs();
    for (const char *at = text; notation_next(&at, &n);)
        if (strcmp(n.id, "MUT.08") == 0)
            break;
    for (uint32_t mutant = 0; mutant < 2; mutant++) {
        struct pair p;
        pair_init(&p, &n, &semantics_thread_pc, mutant << CRS_SWITCH_NO_RESET, false);
        p.script.program = &n;
        assert_true(pair_step(&p, n.id));
        struct crs_warp v = crs_warp(p.m, 0);
        assert_int_equal(v.pcs[0], 2);
        assert_int_equal(v.pcs[1], mutant ? 3 : 1);
        assert_int_equal(v.tokens[0].pc, 1);
        while (machine_status(p.m) == STATUS_RUNNING)
            machine_step(p.m, 0, &p.script.choices);
        assert_int_equal(machine_status(p.m), STATUS_TERMINATED);
    }
}

/* Lanes whose syncs do not match are where they would be without a warp: the warp goes on at 12, lane 0 at
 * 6, lane 1 at 9. What they do there happens in one step, if one rule of the warp takes it. */
static void lanes_apart(void **state)
{
    (void)state;
    static const struct {
        const char *at_6, *at_9;
        enum status status;
        int32_t result;
    } cases[] = {
        {"red.global.add.u32 [n], 1", "red.global.add.u32 [n], 10", STATUS_TERMINATED, 11},
        {"red.global.add.u32 [n], 1", "nop", STATUS_TERMINATED, 1},
        {"bra L7", "bra L10", STATUS_TERMINATED, 0},
        {"exit", "exit", STATUS_TERMINATED, 0},
        {"red.global.add.u32 [n], 1", "bra L10", STATUS_STUCK, 0},
        {"exit", "bra L10", STATUS_STUCK, 0},
        {"ssy L10", "ssy L11", STATUS_STUCK, 0},
        {"break", "break", STATUS_STUCK, 0},
        {"ret", "ret", STATUS_STUCK, 0},
        {"@p red.global.add.u32 [n], 1", "@p bra L10", STATUS_TERMINATED, 1},
        {"@!p bra L10", "@!p red.global.add.u32 [n], 10", STATUS_TERMINATED, 10},
        {"bar.sync 0", "bar.sync 1", STATUS_STUCK, 0},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t kind = 0; kind < 2; kind++) {
            char ptx[1024];
            snprintf(ptx, sizeof ptx,
                     "// simtfuzz: entry=k threads=2 warp=2 raw reg:p=10\n"
                     ".version 7.8\n.target sm_70\n.address_size 64\n"
                     ".global .align 4 .u32 n;\n.visible .entry k()\n{\n.reg .pred p;\n"
                     "ssy L12;\n@p bra L5;\nbra L8;\nexit;\n"
                     "L5: sync;\n%s;\nL7: exit;\nL8: sync;\n%s;\nL10: exit;\n"
                     "L11: exit;\nL12: nop;\nexit;\n}\n",
                     cases[i].at_6, cases[i].at_9);
            struct machine_options options = {.track = false};
            struct machine *m =
                machine_new(&test_arena, both_semantics[kind], compile(ptx), &options);
            struct script script = {.choices = {script_pick, script_choose, NULL}};
            while (machine_status(m) == STATUS_RUNNING)
                machine_step(m, 0, &script.choices);
            assert_int_equal(machine_status(m), kind ? cases[i].status : STATUS_TERMINATED);
            assert_int_equal(m->memory[0], kind ? cases[i].result : 0);
            assert_true(!m->fault_text || cases[i].status == STATUS_STUCK);
        }
}

/* ---- random programs ---- */

static void random_program(struct pcg *rng, struct notation *n)
{
    static const enum notation_kind kinds[] = {N_NOP,  N_SSY,  N_SSY,   N_PREBRK, N_PRERET,
                                               N_SYNC, N_SYNC, N_BREAK, N_RET,    N_EXIT,
                                               N_BRA,  N_CALL, N_CAS,   N_SETEQ,  N_ST};
    static const char *const names[] = {"p", "q", "s", "r", "t"};
    memset(n, 0, sizeof *n);
    snprintf(n->id, sizeof n->id, "random");
    n->lanes = 1 + pcg_below(rng, 5);
    n->entry = 1;
    n->op_count = 4 + pcg_below(rng, 16);
    n->reg_count = 5;
    for (uint32_t reg = 0; reg < 5; reg++) {
        snprintf(n->reg_names[reg], sizeof n->reg_names[reg], "%s", names[reg]);
        for (uint32_t lane = 0; lane < n->lanes; lane++)
            n->regs[reg][lane] = reg < 3 ? pcg_below(rng, 2) : pcg_below(rng, n->op_count + 1);
    }
    for (uint32_t pc = 1; pc <= n->op_count; pc++) {
        struct notation_op *op = &n->ops[pc];
        op->kind = kinds[pcg_below(rng, sizeof kinds / sizeof *kinds)];
        op->guard = pcg_below(rng, 3) ? -1 : (int)pcg_below(rng, 3);
        op->guard_not = op->guard >= 0 && pcg_below(rng, 2);
        op->reg = pcg_below(rng, 4) ? -1 : 3 + (int)pcg_below(rng, 2);
        op->a = 1 + pcg_below(rng, n->op_count);
        if (op->kind == N_CAS)
            op->reg = 3 + (int)pcg_below(rng, 2);
        if (op->kind == N_CAS || op->kind == N_ST)
            op->b = 1 + pcg_below(rng, n->op_count);
        if (op->kind == N_SETEQ) {
            op->reg = (int)pcg_below(rng, 3);
            op->a = 3 + pcg_below(rng, 2);
            op->b = pcg_below(rng, 4);
        }
    }
    n->ops[n->op_count] = (struct notation_op){.kind = N_EXIT, .guard = -1, .reg = -1};
    for (uint32_t pc = 1; pc <= n->op_count; pc++) /* all predicates are used as such */
        if (pc <= 3 && n->ops[pc].guard < 0 && n->op_count > 3)
            n->ops[pc].guard = (int)pc - 1;
}

static void random_programs(void **state)
{
    (void)state;
    struct pcg rng;
    uint32_t ended[STATUS_COUNT] = {0};
    pcg_seed(&rng, 0xc25, 11);
    for (uint32_t i = 0; i < 20000; i++) {
        struct notation n;
        struct pair p;
        size_t mark = arena_mark(&test_arena);
        random_program(&rng, &n);
        uint32_t switches = i % 2 ? 0 : 1u << pcg_below(&rng, CRS_SWITCH_COUNT);
        if (i % 16 == 2)
            switches = CRS_PATENT_ALL;
        pair_init(&p, &n, &semantics_crs, switches, i % 3 == 0);
        pcg_seed(&p.script.rng, i, 5);
        for (uint32_t k = 0; k < 60 && pair_step(&p, "random"); k++)
            ;
        ended[machine_status(p.m)]++;
        arena_release(&test_arena, mark);
    }
    assert_true(ended[STATUS_TERMINATED] > 1000);
    assert_true(ended[STATUS_STUCK] > 1000);
    assert_true(ended[STATUS_RUNNING] > 1000);
}

/* The same for thread-pc, until active lanes are apart (lanes_apart): the lanes' pcs too, also when the
 * warp is elsewhere. */
static void random_programs_with_pcs(void **state)
{
    (void)state;
    struct pcg rng;
    uint32_t apart = 0, elsewhere = 0, resets = 0;
    pcg_seed(&rng, 0xc25, 13);
    for (uint32_t i = 0; i < 20000; i++) {
        struct notation n;
        struct pair p;
        struct ref_pcs r;
        size_t mark = arena_mark(&test_arena);
        random_program(&rng, &n);
        pair_init(&p, &n, &semantics_thread_pc, 0, i % 3 == 0);
        pcg_seed(&p.script.rng, i, 5);
        ref_pcs_init(&r, &n, 0);
        for (uint32_t k = 0; k < 60 && r.w.s.status == REF_ACTIVE; k++) {
            uint32_t at;
            bool together = ref_pcs_at(&r, &at);
            elsewhere += together && at != r.w.s.pc;
            if (!ref_pcs_step(&r, script_ref, &p.script)) {
                apart++;
                break;
            }
            machine_step(p.m, 0, &p.script.choices);
            if (machine_status(p.m) == STATUS_CALL_DEPTH)
                break;
            assert_int_equal(machine_status(p.m) == STATUS_STUCK, r.w.s.status == REF_BOTTOM);
            if (r.w.s.status == REF_BOTTOM)
                break;
            assert_true(same_state(p.m, &r.w));
            for (uint32_t lane = 0; lane < n.lanes; lane++)
                assert_int_equal(crs_warp(p.m, 0).pcs[lane], r.pcs[lane]);
        }
        resets += p.m->hits[RULE_CHK_RESET] > 0;
        arena_release(&test_arena, mark);
    }
    assert_true(apart > 100 && elsewhere > 100 && resets > 100);
}

/* A tracked machine: its hash is that of its bytes, and going back leads to the same state. */
static void tracked_steps_can_be_undone(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 0xc25, 12);
    for (uint32_t i = 0; i < 300; i++) {
        struct notation n;
        size_t mark = arena_mark(&test_arena);
        random_program(&rng, &n);
        for (uint32_t kind = 0; kind < 2; kind++) {
            struct machine_options options = {.track = true, .undo_entries = 1 << 16};
            struct machine *m = machine_of(&n, both_semantics[kind], &options);
            struct script script = {.choices = {script_pick, script_choose, NULL}};
            for (uint32_t k = 0; k < 40 && machine_status(m) == STATUS_RUNNING; k++)
                machine_step(m, 0, &script.choices);
            machine_undo(m, 0);
            assert_true(machine_equals(m, m->initial));
            assert_true(m->track.hash == m->initial_hash);
        }
        arena_release(&test_arena, mark);
    }
}

/* ---- widths ---- */

/* CRS.c12, DOM.dummy: warps of 1 to 64 lanes, and one that is not full. */
static void widths(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1},   {31, 32}, {32, 32}, {33, 32}, {63, 64},
                                         {64, 64}, {65, 64}, {5, 3},   {48, 48}, {50, 48}};
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t kind = 0; kind < 2; kind++) {
            char ptx[1024];
            uint32_t threads = shapes[i][0], warp = shapes[i][1];
            snprintf(ptx, sizeof ptx,
                     "// simtfuzz: entry=k threads=%u warp=%u raw\n"
                     ".version 7.8\n.target sm_70\n.address_size 64\n"
                     ".global .align 4 .u32 n;\n.visible .entry k()\n{\n"
                     ".reg .pred p;\n.reg .u32 t;\n"
                     "mov.u32 t, %%tid.x;\nsetp.eq.u32 p, t, 0;\n"
                     "ssy J;\n@p bra T;\nred.global.add.u32 [n], 1;\nbra S;\n"
                     "T: red.global.add.u32 [n], 1000;\nS: sync;\nJ: exit;\n}\n",
                     (unsigned)threads, (unsigned)warp);
            struct machine_options options = {.track = kind == 0};
            struct machine *m =
                machine_new(&test_arena, both_semantics[kind], compile(ptx), &options);
            struct script script = {.choices = {script_pick, script_choose, NULL}};
            uint32_t warps = (threads + warp - 1) / warp, last = threads - (warps - 1) * warp;
            struct crs_warp v = crs_warp(m, warps - 1);
            lane_mask there = last == 64 ? ~(lane_mask)0 : ((lane_mask)1 << last) - 1;
            lane_mask all = warp == 64 ? ~(lane_mask)0 : ((lane_mask)1 << warp) - 1;
            assert_true(v.state->active == there);
            assert_true(v.state->exited == (all & ~there));
            while (machine_status(m) == STATUS_RUNNING)
                machine_step(m, m->head->live[0], &script.choices);
            assert_int_equal(machine_status(m), STATUS_TERMINATED);
            assert_int_equal(m->memory[0], 1000 + (int)threads - 1);
            assert_true(v.state->exited == all);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_the_catalogue),
        cmocka_unit_test(threads_with_pcs_do_the_same),
        cmocka_unit_test(without_reset_a_waiting_lane_is_elsewhere),
        cmocka_unit_test(lanes_apart),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(random_programs_with_pcs),
        cmocka_unit_test(tracked_steps_can_be_undone),
        cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
