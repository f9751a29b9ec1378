/*
 * Lanes that do not step together, and what they tell each other: random sets of lanes against naive
 * functions of the PTX ISA's text (engine/lanes/ptx_warp_ops.c), lanes in frames of their own against lanes that
 * run alone (engine/lanes/ptx_frames.c), rows of accesses against single ones.
 */
#include "tests/unit/shared/ptx_machine.h"

#include "engine/lanes/ptx_exec_internal.h"

#define MODULE ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS ".reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %d<24>;\n"

/* ---- one instruction, random operands and lanes ---- */

enum { OPERANDS = 5 };

struct one {
    struct machine *machine;
    struct ptx_lanes *lanes;
    uint32_t pc, count;
    const struct ptx_op *op;
    lane_mask X, all;
    uint64_t source[OPERANDS][64], before[2][64], result[2][64];
};

/* A machine of one warp whose instruction number 1 it is. */
static struct one one_instruction(const char *instruction, uint32_t threads, uint32_t warp)
{
    const char *text = arena_printf(&test_arena,
                                    "// simtfuzz: entry=k threads=%u warp=%u\n" MODULE
                                    ".visible .entry k()\n{\n%s%s\nexit;\n}\n",
                                    (unsigned)threads, (unsigned)warp, REGISTERS, instruction);
    struct one one = {.machine = test_machine(test_compile(text), false), .pc = 1};
    one.lanes = test_lanes(one.machine, 0);
    one.count = one.lanes->count;
    one.op = &one.machine->program->ptx->ops[1];
    one.all = ptx_all(one.lanes);
    return one;
}

static void fill(struct one *one, struct pcg *rng, uint32_t operand, uint32_t bound)
{
    for (uint32_t lane = 0; lane < one->count; lane++) {
        one->source[operand][lane] = bound ? pcg_below(rng, bound) : pcg_next(rng);
        ptx_set_result(one->machine, one->lanes, &one->op->sources[operand], (lane_mask)1 << lane,
                       one->source[operand][lane]);
    }
}

static void give(struct one *one, uint32_t operand, const uint64_t *values)
{
    for (uint32_t lane = 0; lane < one->count; lane++) {
        one->source[operand][lane] = values[lane];
        ptx_set_result(one->machine, one->lanes, &one->op->sources[operand], (lane_mask)1 << lane,
                       values[lane]);
    }
}

/* Executes it for some lanes; those that do not keep what they have. */
static enum status execute(struct one *one, struct pcg *rng, lane_mask X)
{
    one->X = X;
    one->machine->head->status = STATUS_RUNNING;
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t lane = 0; lane < one->count; lane++) {
            one->before[r][lane] = pcg_next(rng);
            ptx_set_result(one->machine, one->lanes, &one->op->results[r], (lane_mask)1 << lane,
                           one->before[r][lane]);
        }
    ptx_execute(one->machine, one->lanes, one->pc, X, 0, NULL);
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t lane = 0; lane < one->count; lane++) {
            if (one->op->results[r].kind == PTX_PLACE_NONE)
                continue;
            one->result[r][lane] = ptx_source(one->machine, one->lanes, &one->op->results[r], lane);
            if (!(X >> lane & 1))
                assert_true(one->result[r][lane] == one->before[r][lane]);
        }
    return machine_status(one->machine);
}

static lane_mask some_lanes(const struct one *one, struct pcg *rng)
{
    lane_mask X = ((lane_mask)pcg_next(rng) << 32 | pcg_next(rng)) & one->all;
    if (pcg_below(rng, 4) == 0)
        X = one->all;
    return X ? X : 1;
}

static const uint32_t sizes[][2] = {{32, 32}, {64, 64}, {7, 32}, {1, 1}, {5, 8}};
enum { SIZES = sizeof sizes / sizeof sizes[0], ROUNDS = 200 };

/* The pseudo-code of 9.7.9.6, for warps of 32 lanes; a warp of 64 is two of those. */
static bool naive_shfl(const char *mode, const struct one *one, uint32_t at, uint32_t *value)
{
    int lane = (int)at % 32, bval = (int)one->source[1][at] & 0x1f;
    int cval = (int)one->source[2][at] & 0x1f, mask = (int)(one->source[2][at] >> 8) & 0x1f;
    int maxLane = (lane & mask) | (cval & ~mask), minLane = lane & mask, j = 0;
    bool pval = false;
    if (strcmp(mode, "up") == 0) {
        j = lane - bval;
        pval = j >= maxLane;
    } else if (strcmp(mode, "down") == 0) {
        j = lane + bval;
        pval = j <= maxLane;
    } else if (strcmp(mode, "bfly") == 0) {
        j = lane ^ bval;
        pval = j <= maxLane;
    } else {
        j = minLane | (bval & ~mask);
        pval = j <= maxLane;
    }
    if (!pval)
        j = lane;
    uint32_t from = at / 32 * 32 + (uint32_t)j;
    bool there = from < one->count && (one->X >> from & 1);
    *value = (uint32_t)one->source[0][there ? from : at];
    return pval;
}

static void test_shfl(void **state)
{
    (void)state;
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    struct pcg rng;
    pcg_seed(&rng, 1, 1);
    for (uint32_t i = 0; i < 4 * SIZES; i++) {
        const char *mode = modes[i / SIZES];
        struct one one = one_instruction(
            arena_printf(&test_arena, "shfl.%s.b32 %%r1|%%p1, %%r2, %%r3, %%r4;", mode),
            sizes[i % SIZES][0], sizes[i % SIZES][1]);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            fill(&one, &rng, 0, 0);
            fill(&one, &rng, 1, 40);
            fill(&one, &rng, 2, 0);
            assert_int_equal(execute(&one, &rng, some_lanes(&one, &rng)), STATUS_RUNNING);
            for (uint32_t lane = 0; lane < one.count; lane++) {
                uint32_t value;
                if (!(one.X >> lane & 1))
                    continue;
                bool in_range = naive_shfl(mode, &one, lane, &value);
                assert_int_equal(one.result[0][lane], value);
                assert_int_equal(one.result[1][lane], in_range);
            }
        }
    }
}

/* Splits X into up to three sets; mask[lane]: the set of the lane, as the instruction is given it. */
static void split(const struct one *one, struct pcg *rng, lane_mask X, lane_mask set[64],
                  uint64_t mask[64])
{
    lane_mask parts[3] = {0};
    for (uint32_t lane = 0; lane < one->count; lane++)
        if (X >> lane & 1)
            parts[pcg_below(rng, 3)] |= (lane_mask)1 << lane;
    for (uint32_t lane = 0; lane < one->count; lane++) {
        set[lane] = mask[lane] = 0;
        for (uint32_t p = 0; p < 3; p++)
            if (parts[p] >> lane & 1)
                set[lane] = mask[lane] = parts[p];
    }
}

static uint32_t naive_vote(const char *mode, const struct one *one, lane_mask with, uint32_t lane)
{
    uint32_t yes = 0, no = 0, ballot = 0;
    (void)lane;
    for (uint32_t other = 0; other < one->count; other++) {
        if (!(with >> other & 1))
            continue;
        yes += one->source[0][other] != 0;
        no += one->source[0][other] == 0;
        if (other < 32 && one->source[0][other])
            ballot |= 1u << other;
    }
    if (strcmp(mode, "all") == 0)
        return no == 0;
    if (strcmp(mode, "any") == 0)
        return yes > 0;
    if (strcmp(mode, "uni") == 0)
        return yes == 0 || no == 0;
    return ballot;
}

static uint32_t naive_match(const char *mode, const struct one *one, lane_mask with, uint32_t lane)
{
    uint32_t same = 0;
    for (uint32_t other = 0; other < one->count; other++) {
        if (!(with >> other & 1))
            continue;
        if (one->source[0][other] == one->source[0][lane])
            same |= 1u << other;
        else if (strcmp(mode, "all") == 0)
            return 0;
    }
    return same;
}

static uint32_t naive_redux(const char *mode, const struct one *one, lane_mask with, uint32_t lane)
{
    uint32_t result = (uint32_t)one->source[0][lane];
    for (uint32_t other = 0; other < one->count; other++) {
        uint32_t v = (uint32_t)one->source[0][other];
        if (!(with >> other & 1) || other == lane)
            continue;
        if (strcmp(mode, "add") == 0)
            result += v;
        else if (strcmp(mode, "min.u32") == 0)
            result = v < result ? v : result;
        else if (strcmp(mode, "max.s32") == 0)
            result = (int32_t)v > (int32_t)result ? v : result;
        else
            result ^= v;
    }
    return result;
}

struct together {
    const char *instruction, *mode;
    uint32_t (*naive)(const char *mode, const struct one *one, lane_mask with, uint32_t lane);
    uint32_t bound; /* of operands */
    bool sync;
};

static const struct together together[] = {
    {"vote.all.pred %p1, %p2;", "all", naive_vote, 2, false},
    {"vote.any.pred %p1, %p2;", "any", naive_vote, 2, false},
    {"vote.uni.pred %p1, %p2;", "uni", naive_vote, 2, false},
    {"vote.ballot.b32 %r1, %p2;", "ballot", naive_vote, 2, false},
    {"vote.sync.all.pred %p1, %p2, %r2;", "all", naive_vote, 2, true},
    {"vote.sync.any.pred %p1, %p2, %r2;", "any", naive_vote, 2, true},
    {"vote.sync.uni.pred %p1, %p2, %r2;", "uni", naive_vote, 2, true},
    {"vote.sync.ballot.b32 %r1, %p2, %r2;", "ballot", naive_vote, 2, true},
    {"match.any.sync.b32 %r1, %r2, %r3;", "any", naive_match, 3, true},
    {"match.all.sync.b32 %r1|%p1, %r2, %r3;", "all", naive_match, 2, true},
    {"match.any.sync.b64 %r1, %d2, %r3;", "any", naive_match, 3, true},
    {"redux.sync.add.u32 %r1, %r2, %r3;", "add", naive_redux, 0, true},
    {"redux.sync.min.u32 %r1, %r2, %r3;", "min.u32", naive_redux, 0, true},
    {"redux.sync.max.s32 %r1, %r2, %r3;", "max.s32", naive_redux, 0, true},
    {"redux.sync.xor.b32 %r1, %r2, %r3;", "xor", naive_redux, 0, true},
};

static void test_together(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 2, 1);
    for (uint32_t i = 0; i < sizeof together / sizeof together[0]; i++)
        for (uint32_t k = 0; k < SIZES; k++) {
            const struct together *t = &together[i];
            if (t->sync && sizes[k][1] > 32)
                continue; /* a mask has 32 bits */
            struct one one = one_instruction(t->instruction, sizes[k][0], sizes[k][1]);
            for (uint32_t round = 0; round < ROUNDS; round++) {
                lane_mask X = some_lanes(&one, &rng), with[64];
                uint64_t masks[64];
                fill(&one, &rng, 0, t->bound);
                split(&one, &rng, X, with, masks);
                if (t->sync)
                    give(&one, 1, masks);
                assert_int_equal(execute(&one, &rng, X), STATUS_RUNNING);
                for (uint32_t lane = 0; lane < one.count; lane++)
                    if (X >> lane & 1)
                        assert_int_equal(one.result[0][lane],
                                         t->naive(t->mode, &one, t->sync ? with[lane] : X, lane));
            }
        }
}

/* A computation for some lanes leaves the others alone, whatever the size of the warp. */
static void test_masked_rows(void **state)
{
    (void)state;
    struct pcg rng;
    pcg_seed(&rng, 3, 1);
    for (uint32_t k = 0; k < SIZES; k++) {
        struct one one =
            one_instruction("mad.lo.u32 %r1, %r2, %r3, %r4;", sizes[k][0], sizes[k][1]);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            for (uint32_t i = 0; i < 3; i++)
                fill(&one, &rng, i, 0);
            execute(&one, &rng, some_lanes(&one, &rng));
            for (uint32_t lane = 0; lane < one.count; lane++)
                if (one.X >> lane & 1)
                    assert_int_equal(one.result[0][lane],
                                     (uint32_t)(one.source[0][lane] * one.source[1][lane] +
                                                one.source[2][lane]));
        }
    }
}

/* ---- lanes apart ---- */

/* Functions of different frames, recursion to a depth that depends on the lane, locals, pointers to them. */
#define APART                                                                                      \
    "// simtfuzz: entry=k threads=8 warp=8 bind:out=buffer:64:zero\n" MODULE                       \
    ".func (.reg .u64 y) wide(.reg .u64 x, .reg .u32 n) { .reg .pred p; .reg .u64 a, b; .reg "     \
    ".u32 c;\n"                                                                                    \
    ".local .align 8 .u64 l; st.local.u64 [l], x; add.u64 a, x, 7; setp.eq.u32 p, n, 0; mov.u64 "  \
    "y, a; @p ret;\n"                                                                              \
    "sub.u32 c, n, 1; mul.lo.u64 b, a, 3; call (y), wide, (b, c); ld.local.u64 b, [l]; add.u64 "   \
    "y, y, b; ret; }\n"                                                                            \
    ".func (.param .b32 y) narrow(.param .b32 x, .param .b32 n) { .reg .pred p; .reg .u32 a, b, "  \
    "c, d, e;\n"                                                                                   \
    ".local .align 4 .b8 l[12]; ld.param.u32 a, [x]; ld.param.u32 b, [n]; st.local.u32 [l+8], a; " \
    "mul.lo.u32 c, a, 5;\n"                                                                        \
    "add.u32 c, c, b; setp.eq.u32 p, b, 0; @p bra DONE; sub.u32 b, b, 1;\n"                        \
    "{ .param .b32 q0; .param .b32 q1; .param .b32 r; st.param.b32 [q0], c; st.param.b32 [q1], "   \
    "b;\n"                                                                                         \
    "call (r), narrow, (q0, q1); ld.param.b32 c, [r]; } ld.local.u32 d, [l+8]; xor.b32 c, c, d;\n" \
    "DONE: st.param.b32 [y], c; ret; }\n"                                                          \
    ".visible .entry k(.param .u64 out)\n{\n" REGISTERS                                            \
    ".reg .pred odd; ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 8; "     \
    "add.u64 %d1, %d0, %d1;\n"                                                                     \
    "mov.u64 %d2, 0; mov.u32 %r9, 3;\n"                                                            \
    "AGAIN: add.u32 %r3, %r0, %r9; and.b32 %r4, %r3, 1; setp.eq.u32 odd, %r4, 1; shr.u32 %r5, "    \
    "%r3, 1; and.b32 %r5, %r5, 3;\n"                                                               \
    "@odd bra ODD; add.u64 %d3, %d2, 11; call (%d2), wide, (%d3, %r5); bra NEXT;\n"                \
    "ODD: cvt.u32.u64 %r6, %d2; { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], " \
    "%r6;\n"                                                                                       \
    "st.param.b32 [b], %r5; call (c), narrow, (a, b); ld.param.b32 %r7, [c]; } cvt.u64.u32 %d4, "  \
    "%r7; add.u64 %d2, %d2, %d4;\n"                                                                \
    "NEXT: sub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra AGAIN;\n"                        \
    "st.global.u64 [%d1], %d2;\nexit;\n}\n"

struct apart {
    struct machine *machine;
    struct ptx_lanes *lanes;
    uint32_t pc[64]; /* 0: ended */
};

static void flow_apart(struct apart *a, uint32_t pc, lane_mask X, lane_mask all)
{
    uint32_t targets[64], exec = a->machine->program->ptx->ops[pc].exec;
    for (uint32_t lane = 0; lane < a->lanes->count; lane++)
        if (all >> lane & 1)
            a->pc[lane] = exec == PTX_EXEC_EXIT && (X >> lane & 1) ? 0 : pc + 1;
    if (exec == PTX_EXEC_EXIT || !X)
        return;
    if (exec == PTX_EXEC_RET)
        assert_true(ptx_return(a->machine, a->lanes, X, targets));
    else
        assert_true(ptx_targets(a->machine, a->lanes, pc, X, targets));
    if (exec == PTX_EXEC_CALL)
        assert_true(ptx_call(a->machine, a->lanes, pc, X, targets[__builtin_ctzll(X)]));
    for (uint32_t lane = 0; lane < a->lanes->count; lane++)
        if (X >> lane & 1)
            a->pc[lane] = targets[lane] + (exec == PTX_EXEC_RET);
}

/* One instruction for some of the lanes that are there. */
static void step_apart(struct apart *a, struct pcg *rng, bool alone)
{
    uint32_t first = pcg_below(rng, a->lanes->count);
    while (a->pc[first] == 0)
        first = (first + 1) % a->lanes->count;
    uint32_t pc = a->pc[first];
    lane_mask all = (lane_mask)1 << first;
    for (uint32_t lane = 0; lane < a->lanes->count; lane++)
        if (!alone && a->pc[lane] == pc && pcg_below(rng, 3) > 0)
            all |= (lane_mask)1 << lane;
    lane_mask X = ptx_guard(a->machine, a->lanes, pc, all);
    assert_true(ptx_enter(a->machine, a->lanes, pc, X));
    if (ptx_is_flow((enum ptx_exec)a->machine->program->ptx->ops[pc].exec)) {
        flow_apart(a, pc, X, all);
        return;
    }
    if (X)
        ptx_execute(a->machine, a->lanes, pc, X, 0, NULL);
    assert_int_equal(machine_status(a->machine), STATUS_RUNNING);
    for (uint32_t lane = 0; lane < a->lanes->count; lane++)
        if (all >> lane & 1)
            a->pc[lane] = pc + 1;
}

static bool all_ended(const struct apart *a)
{
    for (uint32_t lane = 0; lane < a->lanes->count; lane++)
        if (a->pc[lane])
            return false;
    return true;
}

static struct machine *run_apart(const struct program *program, struct pcg *rng, bool tracked,
                                 bool alone)
{
    struct apart a = {.machine = test_machine(program, tracked)};
    a.lanes = test_lanes(a.machine, 0);
    for (uint32_t lane = 0; lane < a.lanes->count; lane++)
        a.pc[lane] = 1;
    while (!all_ended(&a))
        step_apart(&a, rng, alone);
    return a.machine;
}

/* What the kernel computes, in C. */
static uint64_t naive_wide(uint64_t x, uint32_t n)
{
    uint64_t a = x + 7;
    return n == 0 ? a : naive_wide(a * 3, n - 1) + x;
}

static uint32_t naive_narrow(uint32_t x, uint32_t n)
{
    uint32_t c = x * 5 + n;
    return n == 0 ? c : naive_narrow(c, n - 1) ^ x;
}

static uint64_t naive_lane(uint32_t lane)
{
    uint64_t d = 0;
    for (uint32_t i = 3; i > 0; i--) {
        uint32_t n = (lane + i) >> 1 & 3;
        if ((lane + i) & 1)
            d += naive_narrow((uint32_t)d, n);
        else
            d = naive_wide(d + 11, n);
    }
    return d;
}

static void test_apart(void **state)
{
    (void)state;
    const struct program *program = test_compile(APART);
    struct pcg rng;
    pcg_seed(&rng, 4, 1);
    for (uint32_t round = 0; round < 60; round++) {
        size_t mark = arena_mark(&test_arena);
        bool tracked = round & 1;
        struct machine *machine = run_apart(program, &rng, tracked, round % 5 == 0);
        for (uint32_t lane = 0; lane < 8; lane++) {
            uint64_t got;
            memcpy(&got, test_words(machine, "out") + 2 * lane, sizeof got);
            if (got != naive_lane(lane))
                fail_msg("round %u: lane %u has 0x%llx, not 0x%llx", (unsigned)round,
                         (unsigned)lane, (unsigned long long)got,
                         (unsigned long long)naive_lane(lane));
        }
        if (tracked) {
            machine_undo(machine, 0);
            assert_true(machine_equals(machine, machine->initial));
        }
        arena_release(&test_arena, mark);
    }
}

/* Dropped frames leave nothing behind: however lanes stepped, the states at the end are equal. */
static void test_frames_leave_nothing(void **state)
{
    (void)state;
    const struct program *program = test_compile(APART);
    struct pcg rng;
    pcg_seed(&rng, 5, 1);
    struct machine *one = run_apart(program, &rng, false, true);
    struct machine *other = run_apart(program, &rng, true, false);
    assert_true(machine_equals(one, other->block));
    for (uint32_t depth = 0; depth < LIMIT_CALL_DEPTH; depth++)
        for (uint32_t lane = 0; lane < 8; lane++)
            assert_int_equal(*ptx_site(test_lanes(one, 0), depth, lane), 0);
}

/* ---- what observers hear ---- */

struct heard {
    struct observer observer;
    uint32_t count;
    uint32_t at[4096][5];
};

static void hear(struct heard *h, uint32_t kind, uint32_t thread, uint32_t address, int32_t value,
                 uint32_t stm)
{
    const uint32_t entry[5] = {kind, thread, address, (uint32_t)value, stm};
    assert_true(h->count < 4096);
    memcpy(h->at[h->count++], entry, sizeof entry);
}

static void hear_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    hear(context, ACCESS_READ, thread, address, 0, stm);
}

static void hear_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    hear(context, ACCESS_WRITE, thread, address, value, stm);
}

static void hear_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                        uint32_t stm)
{
    hear(context, ACCESS_ATOMIC, thread, address, value, stm);
}

static void hear_row(void *context, enum access_kind kind, const struct access_row *row)
{
    for (uint32_t i = 0; i < row->count; i++)
        for (uint32_t k = 0; k < row->span; k++) {
            uint32_t lane = row->order[i];
            hear(context, kind, row->first_thread + lane, row->location[lane] + k,
                 kind == ACCESS_READ ? 0 : access_row_value(row, lane, k), row->stm);
        }
}

/* The same, whether it comes in rows or not; checked for a few kernels with sizes of all kinds. */
static void test_observed(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "ld.global.u32 %r1, [w]; st.global.u32 [w+4], %r0; atom.global.add.u32 %r1, [w+8], 1;",
        "ld.global.u8 %r1, [w+1]; st.global.u16 [w+4], %r0; st.global.u32 [w+8], 0x12345678;",
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [w]; st.global.v2.u64 [w+16], {%d1, %d2};",
        "mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r0; "
        "ld.shared.u32 %r1, [%r2];",
        ".local .u32 l; st.local.u32 [l], 1; ld.local.u32 %r1, [l]; setp.lt.u32 %p1, %r0, 3; @%p1 "
        "st.global.u32 [w], 1;",
        ".local .u32 l; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; mov.u64 %d3, w; setp.lt.u32 %p1, "
        "%r0, 2;\n"
        "selp.u64 %d2, %d3, %d2, %p1; st.u32 [%d2], %r0; ld.u32 %r1, [%d2];",
    };
    for (uint32_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const char *text = arena_printf(
            &test_arena,
            "// simtfuzz: entry=k threads=6 warp=4\n" MODULE
            ".global .align 16 .u32 w[8];\n.shared .align 4 .u32 s[8];\n.visible .entry k()\n{\n%s"
            "mov.u32 %%r0, %%tid.x;\n%s\nexit;\n}\n",
            REGISTERS, bodies[i]);
        const struct program *program = test_compile(text);
        struct heard *single = ARENA_NEW(&test_arena, struct heard);
        struct heard *rows = ARENA_NEW(&test_arena, struct heard);
        single->observer = (struct observer){.context = single,
                                             .read = hear_read,
                                             .write = hear_write,
                                             .atomic = hear_atomic,
                                             .next = &rows->observer};
        rows->observer = (struct observer){.context = rows, .access_row = hear_row};
        struct machine *machine = test_machine(program, i & 1);
        machine_observe(machine, &single->observer);
        test_run(machine, NULL);
        assert_true(single->count > 0);
        assert_int_equal(single->count, rows->count);
        assert_memory_equal(single->at, rows->at, single->count * sizeof single->at[0]);
        if (i == 1) { /* bytes are locations: 6 lanes, of 1, 2 and 4 bytes */
            assert_int_equal(program->units, 4);
            assert_int_equal(single->count, 6 * (1 + 2 + 4));
        }
        if (i == 4)
            assert_int_equal(single->count, 3);
        if (i == 5)
            assert_int_equal(single->count, 4);
    }
}

/* ---- special registers ---- */

struct where {
    uint32_t tid[3], ctaid[3], lane, warp;
};

static uint32_t special(const char *name, const struct where *w)
{
    uint32_t bit = 1u << w->lane, e = (uint32_t)(name[strlen(name) - 1] - 'x');
    static const uint32_t ntid[3] = {2, 3, 2}, nctaid[3] = {2, 1, 2};
    if (strncmp(name, "%tid.", 5) == 0)
        return e < 3 ? w->tid[e] : 0;
    if (strncmp(name, "%ntid.", 6) == 0)
        return ntid[e];
    if (strncmp(name, "%ctaid.", 7) == 0)
        return w->ctaid[e];
    if (strncmp(name, "%nctaid.", 8) == 0)
        return nctaid[e];
    if (strcmp(name, "%laneid") == 0)
        return w->lane;
    if (strcmp(name, "%warpid") == 0)
        return w->warp;
    if (strcmp(name, "%nwarpid") == 0)
        return 3;
    if (strcmp(name, "%lanemask_eq") == 0)
        return bit;
    if (strcmp(name, "%lanemask_lt") == 0)
        return bit - 1;
    if (strcmp(name, "%lanemask_le") == 0)
        return 2 * bit - 1;
    if (strcmp(name, "%lanemask_gt") == 0)
        return ~(2 * bit - 1);
    if (strcmp(name, "%lanemask_ge") == 0)
        return ~(bit - 1);
    assert_string_equal(name, "WARP_SZ");
    return 4;
}

/* In a grid of 2 x 1 x 2 blocks of 2 x 3 x 2 threads, in warps of 4. */
static void test_specials(void **state)
{
    (void)state;
    static const char *const names[] = {
        "%tid.x",       "%tid.y",       "%tid.z",       "%tid.w",   "%ntid.x",      "%ntid.y",
        "%ntid.z",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z", "%nctaid.x",    "%nctaid.y",
        "%nctaid.z",    "%laneid",      "%warpid",      "%nwarpid", "%lanemask_eq", "%lanemask_lt",
        "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "WARP_SZ"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text =
            arena_printf(&test_arena,
                         "// simtfuzz: entry=k threads=2x3x2 blocks=2x1x2 warp=4\n" MODULE
                         ".visible .entry k()\n{\n%smov.u32 %%r1, %s;\nexit;\n}\n",
                         REGISTERS, names[i]);
        struct machine *machine = test_machine(test_compile(text), false);
        const struct ptx_op *op = &machine->program->ptx->ops[1];
        for (uint32_t t = 0; t < 48; t++) {
            uint32_t tid = t % 12, block = t / 12;
            const struct where where = {
                {tid % 2, tid / 2 % 3, tid / 6}, {block % 2, 0, block / 2}, tid % 4, tid / 4};
            const struct ptx_lanes *lanes = test_lanes(machine, t / 4);
            if ((uint32_t)ptx_source(machine, lanes, &op->sources[0], t % 4) !=
                special(names[i], &where))
                fail_msg("%s of thread %u", names[i], (unsigned)t);
        }
    }
}

/* ---- frames of other functions ---- */

/* A lane cannot execute what names registers of another function than that of its top frame. */
static void test_other_frame(void **state)
{
    (void)state;
    struct machine *machine = test_machine(test_compile(APART), false);
    const struct ptx_code *code = machine->program->ptx;
    struct ptx_lanes *lanes = test_lanes(machine, 0);
    uint32_t foreign = code->functions[1].entry;
    assert_true(ptx_guard(machine, lanes, foreign, 0xff) == 0xff);
    assert_false(ptx_enter(machine, lanes, foreign, 0xff));
    assert_int_equal(machine_status(machine), STATUS_STUCK);
    uint32_t targets[64];
    assert_false(ptx_return(machine, lanes, 0xff, targets));
}

/* But one that names none: `ret` at the end of another function, a branch without a guard. */
static void test_other_frame_without_registers(void **state)
{
    (void)state;
    struct machine *machine = test_machine(test_compile(APART), false);
    const struct ptx_code *code = machine->program->ptx;
    uint32_t taken = 0;
    for (uint32_t pc = code->functions[1].entry; pc < code->functions[1].end; pc++) {
        if (code->ops[pc].exec != PTX_EXEC_RET || code->ops[pc].guard.kind != PTX_PLACE_NONE)
            continue;
        assert_true(ptx_enter(machine, test_lanes(machine, 0), pc, 0xff));
        taken++;
    }
    assert_int_equal(taken, 1);
    assert_int_equal(machine_status(machine), STATUS_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shfl),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_masked_rows),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_frames_leave_nothing),
        cmocka_unit_test(test_observed),
        cmocka_unit_test(test_specials),
        cmocka_unit_test(test_other_frame),
        cmocka_unit_test(test_other_frame_without_registers),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
