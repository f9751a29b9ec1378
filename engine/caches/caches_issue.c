/*
 * caches_issue.c - from an instruction to its operations, and when an instruction can be issued (memory-device A.3, B).
 */
#include "engine/caches/caches_internal.h"
#include "engine/crs/crs.h"

static uint32_t lowest(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

static enum ptx_word word_of(const struct ptx_op *op, enum ptx_slot slot)
{
    return op->statement ? (enum ptx_word)op->statement->u.instruction.words[slot] : PTX_W_NONE;
}

/* ---- what an instruction says of order (MP.acq/rel) ---- */

static bool is_volatile(const struct caches *c, const struct ptx_op *op)
{
    enum ptx_word sem = word_of(op, PTX_SLOT_SEM);
    if (c->options.access == ACCESS_VOLATILE)
        return op->exec != PTX_EXEC_ATOM;
    return op->exec != PTX_EXEC_ATOM && sem != PTX_W_NONE && sem != PTX_W_WEAK;
}

static bool acquires(const struct ptx_op *op)
{
    enum ptx_word sem = word_of(op, PTX_SLOT_SEM);
    return sem == PTX_W_ACQUIRE || sem == PTX_W_ACQ_REL;
}

static bool releases(const struct ptx_op *op)
{
    enum ptx_word sem = word_of(op, PTX_SLOT_SEM);
    return sem == PTX_W_RELEASE || sem == PTX_W_ACQ_REL;
}

/* ---- which memory program ---- */

static enum memory_program load_program(enum ast_space space, enum ptx_word cop, bool is_ordered)
{
    if (space == SPACE_SHARED)
        return MEMORY_LD_S;
    if (space == SPACE_LOCAL)
        return cop == PTX_W_LU || cop == PTX_W_CS ? MEMORY_LD_L_LU : MEMORY_LD_CA;
    if (cop == PTX_W_CV)
        return MEMORY_LD_CV;
    if (cop == PTX_W_CG || is_ordered)
        return MEMORY_LD_CG;
    return cop == PTX_W_CS || cop == PTX_W_LU ? MEMORY_LD_CS : MEMORY_LD_CA;
}

static enum memory_program store_program(enum ast_space space, enum ptx_word cop, bool is_ordered,
                                         bool strong)
{
    if (space == SPACE_SHARED)
        return MEMORY_ST_S;
    if (space == SPACE_LOCAL)
        return cop == PTX_W_CG || cop == PTX_W_CS ? MEMORY_ST_L_FIRST : MEMORY_ST_L;
    if (cop == PTX_W_WT || is_ordered)
        return strong ? MEMORY_ST_G_WT_STRONG : MEMORY_ST_G_WT;
    if (cop == PTX_W_CS)
        return strong ? MEMORY_ST_G_CS_STRONG : MEMORY_ST_G_CS;
    return strong ? MEMORY_ST_G_STRONG : MEMORY_ST_G;
}

static enum memory_program program_of(const struct caches *c, const struct ptx_op *op,
                                      enum ast_space space)
{
    enum ptx_word cop = word_of(op, PTX_SLOT_CACHE);
    bool strong = c->options.strong, fenced = c->options.access == ACCESS_FENCED;
    if (op->exec == PTX_EXEC_LD)
        return load_program(space, fenced ? PTX_W_CG : cop, is_volatile(c, op));
    if (op->exec == PTX_EXEC_ST)
        return store_program(space, cop, is_volatile(c, op), strong);
    if (space == SPACE_SHARED)
        return MEMORY_ATOM_S;
    return strong ? MEMORY_ATOM_G_STRONG : MEMORY_ATOM_G;
}

/* ---- the partition of the lanes (MO.part) ---- */

struct part {
    uint32_t line;
    lane_mask lanes;
};

/* An atomic is one operation a lane (MEM.nd.6); ld and st one a line, or one a lane. */
static uint32_t partition(const struct machine *machine, const struct caches *c,
                          const struct ptx_op *op, lane_mask lanes, const uint32_t *byte,
                          bool apart, struct part parts[CACHES_GROUPS])
{
    uint32_t count = 0;
    apart |= op->exec == PTX_EXEC_ATOM;
    for (lane_mask rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest), own = count;
        for (uint32_t e = 0; e < op->count; e++) {
            uint32_t line = caches_line_of(machine, c, (byte[lane] + e * op->bytes) / 4);
            uint32_t i = apart ? own : 0;
            while (i < count && parts[i].line != line)
                i++;
            if (i == count)
                parts[count++] = (struct part){.line = line};
            parts[i].lanes |= (lane_mask)1 << lane;
        }
    }
    return count;
}

static bool goes_apart(const struct caches *c, const struct ptx_request *r)
{
    bool asks = c->options.split == SPLIT_EITHER && (r->executing & (r->executing - 1));
    if (asks && r->choices && r->kind != PTX_ACCESS_ATOM)
        return r->choices->choose(r->choices, 2);
    return c->options.split == SPLIT_LANES;
}

static uint32_t actor_of_lanes(const struct machine *machine, const struct ptx_lanes *lanes)
{
    const struct program *program = machine->program;
    uint32_t tid = lanes->first_thread % program->launch.threads;
    if (machine->semantics->actors == ACTORS_THREADS)
        return lanes->first_thread;
    return lanes->block * program->warps_per_block + tid / program->launch.warp;
}

/* A block that comes to the slot of another one finds none of its registers. */
static void take_operands(const struct ptx_request *r, const struct caches *c,
                          struct memory_slot *slot)
{
    for (lane_mask rest = slot->writers; rest && c->operands; rest &= rest - 1)
        for (uint32_t k = 0; k < c->operands; k++) {
            const struct ptx_place *place = &r->op->sources[1 + k];
            uint32_t lane = lowest(rest), *to = caches_operand(c, slot, lane, k);
            uint64_t value =
                place->kind == PTX_PLACE_NONE ? 0 : ptx_source(r->machine, r->lanes, place, lane);
            put(r->machine, &to[0], (uint32_t)value);
            put(r->machine, &to[1], (uint32_t)(value >> 32));
        }
}

/*  mem_issue (DEV.memOp, MO.part, MO.block)      parts: a partition of the executing lanes by lines
 *      warp at ld | st | atom  ==>  warp at pc + 1, ops + one for each part; the instruction's registers are blocked
 */
static void mem_issue(const struct ptx_request *r)
{
    struct machine *m = r->machine;
    const struct caches *c = caches_of(m);
    struct part parts[CACHES_GROUPS];
    uint32_t actor = actor_of_lanes(m, r->lanes), at = c->in_flight[actor];
    bool apart = goes_apart(c, r); /* then the order of the operations says who writes last */
    uint32_t count = partition(m, c, r->op, r->executing, r->byte, apart, parts);
    INVARIANT(at + count <= c->slots);
    m->hits[RULE_MEM_ISSUE]++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t room[sizeof(struct memory_slot) / 4 + CACHES_WORDS + 64 / 4 + 2] = {0};
        struct memory_slot *slot = (struct memory_slot *)(void *)room;
        struct memory_slot *to = caches_slot(c, actor, at + i);
        enum ast_space space = caches_space(m->program, r->byte[lowest(parts[i].lanes)] / 4);
        slot->lanes = parts[i].lanes;
        slot->writers = r->kind == PTX_ACCESS_LD ? 0 : parts[i].lanes & ~(apart ? 0 : r->losers);
        slot->pc = r->pc;
        slot->line = parts[i].line;
        slot->program = program_of(c, r->op, space);
        slot->ordered = is_volatile(c, r->op);
        slot->pins = c->sm ? MEMORY_SM * caches_sm(m, c, actor) : 0;
        for (lane_mask rest = parts[i].lanes; rest; rest &= rest - 1) {
            uint32_t lane = lowest(rest);
            int64_t offset = (int64_t)r->byte[lane] - (int64_t)(int32_t)slot->line * 4;
            caches_offsets(c, slot)[lane] = (int8_t)offset;
        }
        caches_put_words(m, (uint32_t *)(void *)to, room,
                         c->slot_words - 2 * c->operands * c->lanes);
        caches_put_words(m, caches_operand(c, to, 0, 0), NULL, 2 * c->operands * c->lanes);
        take_operands(r, c, to);
    }
    put(m, &c->in_flight[actor], at + count);
    if (acquires(r->op) || c->options.access == ACCESS_FENCED)
        put_mask(m, &c->fence[actor], c->fence[actor] | r->executing);
}

const struct ptx_memory caches_memory = {mem_issue};

/* ---- registers that are blocked (MO.block) ---- */

static bool names(const struct ptx_op *op, const struct ptx_place *place, bool guard_too)
{
    if (place->kind != PTX_PLACE_REGISTER)
        return false;
    const struct ptx_place *all[PTX_CODE_RESULTS + PTX_CODE_SOURCES + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < PTX_CODE_RESULTS; i++)
        all[count++] = &op->results[i];
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        all[count++] = &op->sources[i];
    if (guard_too)
        all[count++] = &op->guard;
    for (uint32_t i = 0; i < count; i++)
        if (all[i]->kind == PTX_PLACE_REGISTER && all[i]->bits == place->bits &&
            all[i]->offset == place->offset)
            return true;
    return false;
}

/* An instruction reads or writes a register of one in flight. Frames are the same: see `waits_for_all`. */
static bool shares_register(const struct ptx_op *flying, const struct ptx_op *next)
{
    for (uint32_t i = 0; i < PTX_CODE_RESULTS; i++)
        if (names(next, &flying->results[i], true))
            return true;
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        if (names(next, &flying->sources[i], true))
            return true;
    return false;
}

static bool is_blocked(const struct machine *machine, const struct caches *c, uint32_t actor,
                       const struct next_instruction *next)
{
    const struct ptx_op *ops = machine->program->ptx->ops;
    for (uint32_t i = 0; i < c->in_flight[actor]; i++) {
        const struct memory_slot *slot = caches_slot(c, actor, i);
        if (!(slot->pins & MEMORY_STALE) && (slot->lanes & next->active) &&
            shares_register(&ops[slot->pc], &ops[next->pc]))
            return true;
    }
    return false;
}

/* ---- order within a warp (MO.poloc), room (MO.cap) ---- */

/* A word that both touch. */
static bool overlaps(const struct machine *machine, const struct caches *c,
                     const struct memory_slot *slot, const struct ptx_op *op, lane_mask lanes,
                     const uint32_t *byte)
{
    const struct ptx_op *flying = &machine->program->ptx->ops[slot->pc];
    const int8_t *offsets = (const int8_t *)(slot->value + c->words);
    uint32_t mask = 0, words = 0;
    for (lane_mask rest = slot->lanes; rest; rest &= rest - 1)
        mask |= caches_bytes(c, flying, offsets[lowest(rest)]);
    for (lane_mask rest = lanes; rest; rest &= rest - 1) {
        int64_t offset = (int64_t)byte[lowest(rest)] - (int64_t)(int32_t)slot->line * 4;
        if (offset > -128 && offset < 128)
            words |= caches_bytes(c, op, (int32_t)offset);
    }
    for (uint32_t k = 0; k < c->words; k++)
        if ((mask >> 4 * k & 15) && (words >> 4 * k & 15))
            return true;
    return false;
}

static bool is_kept_back(const struct machine *machine, const struct caches *c, uint32_t actor,
                         const struct ptx_op *op, lane_mask lanes, const uint32_t *byte)
{
    enum memory_profile profile = (enum memory_profile)c->options.profile;
    if (profile == MEMORY_PRINTED)
        return false;
    for (uint32_t i = 0; i < c->in_flight[actor]; i++) {
        const struct memory_slot *slot = caches_slot(c, actor, i);
        bool loads =
            op->exec == PTX_EXEC_LD && machine->program->ptx->ops[slot->pc].exec == PTX_EXEC_LD;
        if (!(slot->pins & MEMORY_OVER) && !(loads && profile == MEMORY_LLH) &&
            overlaps(machine, c, slot, op, lanes, byte))
            return true;
    }
    return false;
}

lane_mask caches_flying(const struct caches *c, uint32_t actor, uint32_t those)
{
    lane_mask lanes = 0;
    for (uint32_t i = 0; i < c->in_flight[actor]; i++)
        if (!(caches_slot(c, actor, i)->pins & those))
            lanes |= caches_slot(c, actor, i)->lanes;
    return lanes;
}

/* Not those of a block that had the place before (GR.key). */
static bool has_flying(const struct caches *c, uint32_t actor, lane_mask lanes)
{
    return (caches_flying(c, actor, MEMORY_OVER) & lanes) != 0;
}

static bool access_is_ready(struct machine *machine, const struct caches *c, uint32_t actor,
                            const struct next_instruction *next, lane_mask X)
{
    const struct ptx_op *op = &machine->program->ptx->ops[next->pc];
    const uint32_t *byte;
    struct part parts[CACHES_GROUPS];
    if (c->in_flight[actor] == 0)
        return true;
    if (releases(op) && has_flying(c, actor, ~(lane_mask)0))
        return false;
    lane_mask lanes = ptx_places_now(machine, caches_lanes(machine, actor), next->pc, X, &byte);
    if (!lanes) /* constants, or a fault */
        return true;
    uint32_t count = partition(machine, c, op, lanes, byte, c->options.split != SPLIT_LINES, parts);
    return c->in_flight[actor] + count <= c->slots &&
           !is_kept_back(machine, c, actor, op, lanes, byte);
}

/* ---- barriers, fences, calls ---- */

/* membar.gl and .sys with `inval`: no line of the own L1 is waited for. */
static bool may_invalidate(struct machine *machine, const struct caches *c, uint32_t actor)
{
    struct cache cache = caches_of_sm(machine, c, caches_sm(machine, c, actor));
    for (uint32_t i = 0; i < cache.count; i++)
        if (caches_line(c, cache.lines, i)->pins || caches_line(c, cache.lines, i)->pending)
            return false;
    return true;
}

bool caches_empties(const struct caches *c, const struct ptx_op *op)
{
    enum ptx_word scope = word_of(op, PTX_SLOT_SCOPE);
    return c->options.inval && op->exec == PTX_EXEC_MEMBAR && scope != PTX_W_CTA;
}

/* Registers of a frame that is pushed or dropped could not be told from others: those in flight end before, also those
 * of a block that had the place before, unless its registers are nobody's. */
static bool waits_for_all(const struct caches *c, uint32_t actor, const struct ptx_op *op)
{
    bool before = c->options.before; /* BF.sync, BF.arrive: ERR.77 */
    switch ((unsigned)op->exec) {
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
        return before && has_flying(c, actor, ~(lane_mask)0);
    case PTX_EXEC_CALL:
    case PTX_EXEC_RET:
    case PTX_EXEC_BAR_WARP:
        return caches_flying(c, actor, MEMORY_STALE) != 0;
    }
    return false;
}

static bool is_ready(struct machine *machine, const struct caches *c, uint32_t actor,
                     const struct next_instruction *next)
{
    const struct ptx_op *op = &machine->program->ptx->ops[next->pc];
    if (has_flying(c, actor, c->fence[actor] & next->active) || is_blocked(machine, c, actor, next))
        return false;
    if (waits_for_all(c, actor, op))
        return false;
    lane_mask X = ptx_guard(machine, caches_lanes(machine, actor), next->pc, next->active);
    if (op->exec == PTX_EXEC_MEMBAR && X)
        return !has_flying(c, actor, X) &&
               (!caches_empties(c, op) || may_invalidate(machine, c, actor));
    if (X && (op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM))
        return access_is_ready(machine, c, actor, next, X);
    return true;
}

uint32_t caches_next(const struct machine *machine, uint32_t actor, struct next_instruction *next)
{
    uint32_t count = 0, last = machine->program->ptx->count - 1;
    if (machine->semantics->actors == ACTORS_THREADS) {
        next[count++] = (struct next_instruction){cta_thread(machine, actor).pc, 1};
    } else {
        const struct crs_warp w = crs_warp(machine, actor);
        lane_mask rest = w.state->active;
        if (!w.pcs || !rest)
            next[count++] = (struct next_instruction){w.state->pc, rest};
        while (w.pcs && rest) {
            struct next_instruction *own = &next[count++];
            *own = (struct next_instruction){w.pcs[lowest(rest)], 0};
            for (lane_mask others = rest; others; others &= others - 1)
                if (w.pcs[lowest(others)] == own->pc)
                    own->active |= (lane_mask)1 << lowest(others);
            rest &= ~own->active;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (next[i].pc - 1 >= last)
            return 0; /* there is no instruction: the step will say so */
    return count;
}

/*  canBeScheduled (CTX.canBeScheduled, ERR.45)      no lane waits for its operations, no register of the instruction
 *  and its guard is blocked, and what the profile keeps in order is
 */
bool caches_is_ready(struct machine *machine, uint32_t actor)
{
    const struct caches *c = caches_of(machine);
    struct next_instruction next[64];
    if (c->in_flight[actor] == 0 && !c->options.inval)
        return true;
    uint32_t count = caches_next(machine, actor, next);
    if (count > 1 && c->in_flight[actor]) /* lanes at different addresses issue together */
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_ready(machine, c, actor, &next[i]))
            return false;
    return true;
}
