/*
 * ptx_mbarrier.c - mbarrier objects (PTX ISA 9.7.13.15): 64 bits of shared memory that count arrivals and bytes.
 *
 * The bits are nobody's business in PTX. Here (docs/ptx.md, "mbarrier"): 0 to 19 arrivals that are pending, 20 to 39
 * arrivals that a phase expects, 40 to 60 bytes that are awaited, from -(2^20 - 1) on, 61 the parity of the phase, 62
 * that there is an mbarrier at all. A state that arrive returns is the object before it.
 *
 * What observers hear: init and inval are plain writes of all 8 bytes. Whoever arrives in a phase accesses the low word
 * if its parity is 0, else the high one, by an atomic that releases; a wait that succeeds reads the word of the phase
 * that has completed, and acquires. So arrivals in the next phase order nobody who waits for this one. A wait that
 * fails orders nothing and is not told.
 */
#include "engine/lanes/ptx_exec_internal.h"

enum { MOST = (1 << 20) - 1 };

static const char no_mbarrier[] =
    "no mbarrier is there: it was not initialised, or it was invalidated";

struct mbarrier {
    uint32_t pending, expected, phase;
    int32_t bytes;
    bool exists;
};

static struct mbarrier object_of(uint64_t bits)
{
    return (struct mbarrier){.pending = bits & MOST,
                             .expected = bits >> 20 & MOST,
                             .bytes = (int32_t)(bits >> 40 & (2 * MOST + 1)) - MOST,
                             .phase = bits >> 61 & 1,
                             .exists = bits >> 62 & 1};
}

static uint64_t bits_of(const struct mbarrier *b)
{
    return b->pending | (uint64_t)b->expected << 20 | (uint64_t)(uint32_t)(b->bytes + MOST) << 40 |
           (uint64_t)b->phase << 61 | (uint64_t)b->exists << 62;
}

static uint64_t look(const struct machine *machine, uint32_t byte)
{
    const uint32_t *words = (const uint32_t *)&machine->memory[byte / 4];
    return words[0] | (uint64_t)words[1] << 32;
}

static void keep(struct machine *machine, uint32_t byte, uint64_t bits)
{
    uint32_t *words = (uint32_t *)&machine->memory[byte / 4];
    put(machine, words, (uint32_t)bits);
    put(machine, words + 1, (uint32_t)(bits >> 32));
}

/* ---- what happens to an object: why it cannot, or NULL ---- */

/*  phase       pending = 0, no bytes are awaited
 *      (0, n, 0, phase)  becomes  (n, n, 0, 1 - phase)
 */
static void complete(struct mbarrier *b)
{
    if (b->pending > 0 || b->bytes != 0)
        return;
    b->phase = 1 - b->phase;
    b->pending = b->expected;
}

static const char *arrive(struct mbarrier *b, uint32_t count, bool drops, bool may_be_last)
{
    if (count == 0 || count > b->pending)
        return "more arrivals, or fewer than one, than the phase of the mbarrier still expects";
    if (drops && count > b->expected)
        return "it drops more arrivals than each phase of the mbarrier expects";
    b->pending -= count;
    b->expected -= drops ? count : 0;
    if (!may_be_last && b->pending == 0 && b->bytes == 0)
        return "it completes the phase of the mbarrier, which .noComplete rules out";
    complete(b);
    return NULL;
}

static const char *await(struct mbarrier *b, int64_t bytes)
{
    if (b->bytes + bytes > MOST || b->bytes + bytes < -MOST)
        return "an mbarrier awaits at most 1,048,575 bytes";
    b->bytes += (int32_t)bytes;
    return NULL;
}

/* ---- what observers hear ---- */

static void tell_phase(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                       enum access_kind kind, uint32_t pc, uint32_t byte, uint32_t phase)
{
    ptx_tell_lane(machine, lanes, lane, kind, pc, byte + 4 * phase, 4,
                  look(machine, byte) >> 32 * phase);
}

/* ---- copies and arrivals that are under way for an object ---- */

void ptx_mbarrier_tell(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                       uint32_t byte, uint32_t pc)
{
    uint32_t phase = object_of(look(machine, byte)).phase;
    tell_phase(machine, lanes, lane, ACCESS_ATOMIC, pc, byte, phase);
}

bool ptx_mbarrier_hears(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    if (object_of(look(x->m, byte)).exists)
        ptx_mbarrier_tell(x->m, x->lanes, lane, byte, x->pc);
    else
        ptx_stuck(x->m, x->lanes->first_thread + lane, x->pc, no_mbarrier);
    return object_of(look(x->m, byte)).exists;
}

bool ptx_mbarrier_expects(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    struct mbarrier b = object_of(look(x->m, byte));
    if (!b.exists || b.pending == MOST) {
        ptx_stuck(x->m, x->lanes->first_thread + lane, x->pc,
                  b.exists ? "more arrivals than an mbarrier counts" : no_mbarrier);
        return false;
    }
    b.pending++;
    keep(x->m, byte, bits_of(&b));
    return true;
}

/* Whether the phase has completed when all that is under way for it is there; that is made then, and not before. */
static bool settle(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    struct mbarrier b = object_of(look(x->m, byte));
    uint32_t arrivals, bytes, phase = b.phase;
    ptx_underway_sum(x->m, byte, &arrivals, &bytes);
    if (arrivals + bytes == 0 || b.pending != arrivals || b.bytes != (int32_t)bytes)
        return false;
    b.pending = 0;
    b.bytes = 0;
    tell_phase(x->m, x->lanes, lane, ACCESS_READ, x->pc, byte, phase);
    uint32_t pc = ptx_underway_make(x, lane, byte);
    tell_phase(x->m, x->lanes, lane, ACCESS_ATOMIC, pc, byte, phase);
    complete(&b);
    keep(x->m, byte, bits_of(&b));
    return true;
}

/* ---- instructions, of one lane: why it has no rule, or NULL ---- */

/*  init        there is none, 1 <= n <= 2^20 - 1
 *      <theta | mbarrier.init [a], n>  ->  theta        the object at a becomes (n, n, 0, phase 0)
 */
static const char *mbarrier_init(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    uint64_t count = ptx_source(x->m, x->lanes, &x->op->sources[1], lane);
    if (object_of(look(x->m, byte)).exists)
        return "an mbarrier is there already, which mbarrier.inval must end first";
    if (count == 0 || count > MOST)
        return "an mbarrier expects 1 to 1,048,575 arrivals";
    struct mbarrier b = {.pending = (uint32_t)count, .expected = (uint32_t)count, .exists = true};
    keep(x->m, byte, bits_of(&b));
    ptx_tell_lane(x->m, x->lanes, lane, ACCESS_WRITE, x->pc, byte, 8, bits_of(&b));
    return NULL;
}

/*  inval       there is one
 *      <theta | mbarrier.inval [a]>  ->  theta          there is none any more
 */
static const char *mbarrier_inval(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    keep(x->m, byte, 0);
    ptx_tell_lane(x->m, x->lanes, lane, ACCESS_WRITE, x->pc, byte, 8, 0);
    return NULL;
}

/*  arrive      n arrivals (1 without an operand, and with .expect_tx, whose operand is bytes) are pending
 *      <theta | mbarrier.arrive r, [a], n>  ->  theta   r^ <- the object; pending - n, and perhaps the next phase
 *
 *  arrive_drop: the phases that follow expect n fewer, too.
 */
static const char *mbarrier_arrive(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    const struct ptx_place *operand = &x->op->sources[1];
    uint64_t before = look(x->m, byte), n = 1;
    struct mbarrier b = object_of(before);
    uint32_t phase = b.phase;
    const char *why = NULL;
    if (operand->kind != PTX_PLACE_NONE)
        n = ptx_source(x->m, x->lanes, operand, lane);
    if (x->op->has_count) {
        why = await(&b, (int64_t)n);
        n = 1;
    }
    if (!why)
        why = arrive(&b, n > MOST ? MOST + 1 : (uint32_t)n, x->op->mode == PTX_W_ARRIVE_DROP,
                     x->op->width != PTX_W_NO_COMPLETE);
    if (why)
        return why;
    keep(x->m, byte, bits_of(&b));
    tell_phase(x->m, x->lanes, lane, ACCESS_ATOMIC, x->pc, byte, phase);
    ptx_set_result(x->m, x->lanes, &x->op->results[0], (lane_mask)1 << lane, before);
    return NULL;
}

/*  tx          expect_tx awaits n bytes more, complete_tx n fewer, which may complete the phase
 */
static const char *mbarrier_tx(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    struct mbarrier b = object_of(look(x->m, byte));
    uint32_t phase = b.phase;
    int64_t n = (int64_t)ptx_source(x->m, x->lanes, &x->op->sources[1], lane);
    bool completes = x->op->mode == PTX_W_COMPLETE_TX;
    const char *why = await(&b, completes ? -n : n);
    if (why)
        return why;
    if (completes)
        complete(&b);
    keep(x->m, byte, bits_of(&b));
    tell_phase(x->m, x->lanes, lane, ACCESS_ATOMIC, x->pc, byte, phase);
    return NULL;
}

/*  wait        test_wait, try_wait; q the parity of the phase that the operand, a state or a parity, names
 *      <theta | mbarrier.test_wait p, [a], s>  ->  theta    p^ <- whether the object's phase is another one
 *
 *  try_wait gives up at once: how long it waits is the implementation's matter.
 */
static const char *mbarrier_wait(struct ptx_step *x, uint32_t lane, uint32_t byte)
{
    uint64_t of = ptx_source(x->m, x->lanes, &x->op->sources[1], lane);
    uint32_t waited = x->op->width == PTX_W_PARITY ? of & 1 : object_of(of).phase;
    bool done = object_of(look(x->m, byte)).phase != waited;
    if (done)
        tell_phase(x->m, x->lanes, lane, ACCESS_READ, x->pc, byte, waited);
    else
        done = settle(x, lane, byte);
    ptx_set_result(x->m, x->lanes, &x->op->results[0], (lane_mask)1 << lane, done);
    return NULL;
}

static const char *step_lane(struct ptx_step *x, uint32_t lane, uint32_t byte, enum rule *rule)
{
    const struct program *program = x->m->program;
    if (byte / 4 < program->shared_base || byte / 4 >= program->private_base)
        return "an mbarrier lies in shared memory";
    if (x->op->mode != PTX_W_INIT && !object_of(look(x->m, byte)).exists)
        return no_mbarrier;
    switch ((int)x->op->mode) {
    case PTX_W_INIT:
        *rule = RULE_MBARRIER_INIT;
        return mbarrier_init(x, lane, byte);
    case PTX_W_INVAL:
        *rule = RULE_MBARRIER_INVAL;
        return mbarrier_inval(x, lane, byte);
    case PTX_W_EXPECT_TX:
    case PTX_W_COMPLETE_TX:
        *rule = RULE_MBARRIER_TX;
        return mbarrier_tx(x, lane, byte);
    case PTX_W_TEST_WAIT:
    case PTX_W_TRY_WAIT:
        *rule = RULE_MBARRIER_WAIT;
        return mbarrier_wait(x, lane, byte);
    default:
        *rule = RULE_MBARRIER_ARRIVE;
        return mbarrier_arrive(x, lane, byte);
    }
}

/* mbarrier.pending_count: of a state. */
static enum rule pending_count(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t state = ptx_source(x->m, x->lanes, &x->op->sources[1], lane);
        ptx_set_result(x->m, x->lanes, &x->op->results[0], (lane_mask)1 << lane,
                       object_of(state).pending);
    }
    return RULE_PTX_DOP;
}

/* Lanes of one instruction come one after the other, in the order of their numbers. */
enum rule ptx_mbarrier_step(struct ptx_step *x)
{
    struct ptx_access a = {.x = x, .kind = PTX_ACCESS_ATOM};
    enum rule rule = RULE_MBARRIER_ARRIVE;
    uint32_t byte[LIMIT_WARP];
    if (x->op->mode == PTX_W_PENDING_COUNT)
        return pending_count(x);
    if (!ptx_places(&a))
        return rule;
    memcpy(byte, x->scratch->byte, sizeof byte);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const char *why = step_lane(x, lane, byte[lane], &rule);
        if (!why)
            continue;
        ptx_stuck(x->m, x->lanes->first_thread + lane, x->pc, why);
        break;
    }
    return rule;
}
