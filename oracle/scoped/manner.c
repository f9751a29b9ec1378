#include "oracle/scoped/manner.h"

static enum ptx_word word_of(const struct ptx_op *op, enum ptx_slot slot)
{
    return op->statement ? (enum ptx_word)op->statement->u.instruction.words[slot] : PTX_W_NONE;
}

static uint8_t reach_of(enum ptx_word scope)
{
    return scope == PTX_W_CTA ? REACH_BLOCK : scope == PTX_W_CLUSTER ? REACH_CLUSTER : REACH_ALL;
}

static struct manner fence_of(enum ptx_word sem, enum ptx_word scope, bool membar)
{
    bool both = sem != PTX_W_ACQUIRE && sem != PTX_W_RELEASE;
    return (struct manner){.strong = true,
                           .fence = true,
                           .reach = reach_of(scope),
                           .sc = membar || sem == PTX_W_SC,
                           .releases = both || sem == PTX_W_RELEASE,
                           .acquires = both || sem == PTX_W_ACQUIRE};
}

/* Of an mbarrier arrivals release, waits that succeed acquire, unless they are relaxed: in the cluster, unless they say
 * .cta. (Without a scope the ISA has .cta; but CUTLASS arrives at other blocks' mbarriers so: docs/ptx.md.) */
static struct manner mbarrier_of(const struct ptx_op *op, enum ptx_word sem, enum ptx_word scope)
{
    bool waits = op->mode == PTX_W_TEST_WAIT || op->mode == PTX_W_TRY_WAIT;
    bool counts = op->mode == PTX_W_EXPECT_TX || op->mode == PTX_W_COMPLETE_TX;
    bool orders = sem != PTX_W_RELAXED && !counts;
    if (op->mode == PTX_W_INIT || op->mode == PTX_W_INVAL)
        return (struct manner){.writes = true};
    return (struct manner){.reach = scope == PTX_W_CTA ? REACH_BLOCK : REACH_CLUSTER,
                           .strong = true,
                           .reads = true,
                           .writes = !waits,
                           .acquires = waits && orders,
                           .releases = !waits && orders};
}

struct manner manner_of(const struct ptx_op *op)
{
    enum ptx_word sem = word_of(op, PTX_SLOT_SEM), scope = word_of(op, PTX_SLOT_SCOPE);
    bool atomic = op->exec == PTX_EXEC_ATOM;
    if (op->exec == PTX_EXEC_MEMBAR)
        return fence_of(sem, scope, op->opcode == PTX_OP_MEMBAR);
    if (op->exec == PTX_EXEC_BAR_WARP)
        return (struct manner){.warp_barrier = true};
    if (op->exec == PTX_EXEC_MBARRIER)
        return mbarrier_of(op, sem, scope);
    if (op->exec == PTX_EXEC_COPY || op->exec == PTX_EXEC_COPY_BULK ||
        op->exec == PTX_EXEC_COPY_ARRIVE)
        return (struct manner){.reach = op->atomic && !op->has_count ? REACH_ALL : REACH_CLUSTER,
                               .strong = true,
                               .reads = true,
                               .writes = true,
                               .releases = true,
                               .copies = true};
    const bool reads = ptx_exec_is(op->exec, PTX_LOADS);
    const bool writes = ptx_exec_is(op->exec, PTX_STORES);
    if (!reads && !writes && !atomic)
        return (struct manner){0};
    return (struct manner){
        .strong = atomic || (sem != PTX_W_NONE && sem != PTX_W_WEAK),
        .reach = reach_of(scope),
        .releases = sem == PTX_W_RELEASE || sem == PTX_W_ACQ_REL,
        .acquires = sem == PTX_W_ACQUIRE || sem == PTX_W_ACQ_REL,
        .reads = reads || atomic,
        .writes = writes || atomic,
    };
}

bool manner_speaks(const struct ptx_code *code)
{
    if (code->has_clusters) /* whose threads are told of across blocks */
        return true;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        struct manner m = manner_of(op);
        enum ptx_word sem = word_of(op, PTX_SLOT_SEM);
        bool said = (sem != PTX_W_NONE && sem != PTX_W_VOLATILE) ||
                    word_of(op, PTX_SLOT_SCOPE) != PTX_W_NONE;
        if (m.fence || m.warp_barrier || (m.strong && said) || op->exec == PTX_EXEC_MBARRIER)
            return true;
    }
    return false;
}

bool manner_has_warp_barriers(const struct ptx_code *code)
{
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (code->ops[pc].exec == PTX_EXEC_BAR_WARP)
            return true;
    return false;
}

bool manner_synchronises(const struct ptx_code *code)
{
    for (uint32_t pc = 1; pc < code->count; pc++) {
        struct manner m = manner_of(&code->ops[pc]);
        if (m.fence || (m.strong && !m.copies && code->ops[pc].exec != PTX_EXEC_ATOM))
            return true;
    }
    return false;
}

const char *manner_text(struct arena *arena, const struct ptx_op *op)
{
    enum ptx_word sem = word_of(op, PTX_SLOT_SEM), scope = word_of(op, PTX_SLOT_SCOPE);
    const char *text = ptx_mnemonics[op->opcode];
    if (sem != PTX_W_NONE)
        text = arena_printf(arena, "%s.%s", text, ptx_words[sem]);
    return scope == PTX_W_NONE ? text : arena_printf(arena, "%s.%s", text, ptx_words[scope]);
}
