/*
 * ref_mbarrier.c - mbarrier objects, as PTX ISA 9.7.13.15 tells of them: a phase, arrivals that are pending and
 * expected, a count of transactions. A phase completes when nothing is pending and the count is 0.
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

static const int64_t million = 1048576; /* 2^20 */

struct object {
    bool exists;
    int64_t pending, expected, awaited, parity;
};

/* 20 bits, 20 bits, 21 bits from -(2^20 - 1) on, 1 bit, 1 bit: lowest first. */
static struct object read_bits(uint64_t bits)
{
    const uint64_t m = (uint64_t)million;
    return (struct object){.pending = (int64_t)(bits % m),
                           .expected = (int64_t)(bits / m % m),
                           .awaited = (int64_t)(bits / m / m % (2 * m)) - (million - 1),
                           .parity = (int64_t)(bits / m / m / (2 * m) % 2),
                           .exists = bits / m / m / (4 * m) % 2 == 1};
}

static uint64_t write_bits(const struct object *o)
{
    uint64_t bits = o->exists ? 1 : 0;
    bits = bits * 2 + (uint64_t)o->parity;
    bits = bits * 2 * (uint64_t)million + (uint64_t)(o->awaited + million - 1);
    bits = bits * (uint64_t)million + (uint64_t)o->expected;
    return bits * (uint64_t)million + (uint64_t)o->pending;
}

static bool says(const struct ref_mbarrier_step *x, enum ptx_slot slot, enum ptx_word word)
{
    return x->instruction->words[slot] == word;
}

static bool counts(int64_t value)
{
    return value > -million && value < million;
}

static void perhaps_complete(struct object *o)
{
    if (o->pending != 0 || o->awaited != 0)
        return;
    o->parity = (o->parity + 1) % 2;
    o->pending = o->expected;
}

static void init(struct ref_mbarrier_step *x)
{
    struct object o = {.exists = true};
    o.pending = o.expected = (int64_t)x->operand;
    x->stuck = read_bits(x->before).exists || x->operand == 0 || !counts(o.pending);
    x->told = REF_MBARRIER_WHOLE;
    x->after = x->stuck ? 0 : write_bits(&o);
}

static void arrive(struct ref_mbarrier_step *x, struct object o)
{
    bool tx = says(x, PTX_SLOT_MODE, PTX_W_EXPECT_TX);
    int64_t n = tx || !x->has_operand ? 1 : (int64_t)x->operand, parity = o.parity;
    if (tx)
        o.awaited += (int64_t)x->operand;
    x->stuck = n < 1 || n > o.pending || !counts(o.awaited);
    x->result = x->before;
    o.pending -= n;
    if (says(x, PTX_SLOT_SYNC, PTX_W_ARRIVE_DROP))
        o.expected -= n;
    if (o.expected < 0)
        x->stuck = true;
    perhaps_complete(&o);
    if (says(x, PTX_SLOT_MODE, PTX_W_NO_COMPLETE) && o.parity != parity)
        x->stuck = true;
    x->told = REF_MBARRIER_ATOMIC;
    x->after = x->stuck ? 0 : write_bits(&o);
}

static void transactions(struct ref_mbarrier_step *x, struct object o)
{
    bool completes = says(x, PTX_SLOT_SYNC, PTX_W_COMPLETE_TX);
    o.awaited += completes ? -(int64_t)x->operand : (int64_t)x->operand;
    x->stuck = !counts(o.awaited);
    if (completes)
        perhaps_complete(&o);
    x->told = REF_MBARRIER_ATOMIC;
    x->after = x->stuck ? 0 : write_bits(&o);
}

/* Of the phase that is named: has it completed, that is, is it another one now? */
static void wait(struct ref_mbarrier_step *x, const struct object *o)
{
    bool parity = says(x, PTX_SLOT_MODE, PTX_W_PARITY);
    int64_t named = parity ? (int64_t)(x->operand % 2) : read_bits(x->operand).parity;
    x->result = named != o->parity;
    x->told = x->result ? REF_MBARRIER_READ : REF_MBARRIER_NOTHING;
    x->phase = (uint32_t)named;
    x->after = x->before;
}

void ref_mbarrier(struct ref_mbarrier_step *x)
{
    const struct object o = read_bits(x->before);
    x->phase = (uint32_t)o.parity;
    switch ((int)ref_mbarrier_rule(x->instruction)) {
    case RULE_MBARRIER_INIT:
        init(x);
        return;
    case RULE_MBARRIER_INVAL:
        x->told = REF_MBARRIER_WHOLE;
        return;
    case RULE_MBARRIER_TX:
        transactions(x, o);
        return;
    case RULE_MBARRIER_WAIT:
        wait(x, &o);
        return;
    default:
        arrive(x, o);
    }
}

bool ref_mbarrier_is_there(const struct ptx_instruction *instruction, uint64_t bits)
{
    return instruction->words[PTX_SLOT_SYNC] == PTX_W_INIT || read_bits(bits).exists;
}

enum rule ref_mbarrier_rule(const struct ptx_instruction *instruction)
{
    switch ((int)instruction->words[PTX_SLOT_SYNC]) {
    case PTX_W_INIT:
        return RULE_MBARRIER_INIT;
    case PTX_W_INVAL:
        return RULE_MBARRIER_INVAL;
    case PTX_W_EXPECT_TX:
    case PTX_W_COMPLETE_TX:
        return RULE_MBARRIER_TX;
    case PTX_W_TEST_WAIT:
    case PTX_W_TRY_WAIT:
        return RULE_MBARRIER_WAIT;
    default:
        return RULE_MBARRIER_ARRIVE;
    }
}

uint32_t ref_mbarrier_pending(uint64_t state)
{
    return (uint32_t)read_bits(state).pending;
}

bool ref_mbarrier_exists(uint64_t bits)
{
    return read_bits(bits).exists;
}

uint32_t ref_mbarrier_phase(uint64_t bits)
{
    return (uint32_t)read_bits(bits).parity;
}

bool ref_mbarrier_expects(uint64_t *bits)
{
    struct object o = read_bits(*bits);
    if (!o.exists || !counts(o.pending + 1))
        return false;
    o.pending++;
    *bits = write_bits(&o);
    return true;
}

bool ref_mbarrier_settles(uint64_t *bits, uint32_t arrivals, uint32_t transactions)
{
    struct object o = read_bits(*bits);
    if (o.pending != arrivals || o.awaited != transactions)
        return false;
    o.pending = o.awaited = 0;
    perhaps_complete(&o);
    *bits = write_bits(&o);
    return true;
}
