/*
 * caches_operation.c - an operation in flight: its memory program, a micro step at a time (cuda-crs 4.4, 4.6).
 *
 *  mem_step   (MEM.sys.step, MEM.sys.end; MEM.stm.*)
 *      op in ops, no earlier ordered one of its lanes, <eta, sigma | its program>  runs up to  yield | end | retry
 *      -----------------------------------------------------------------------------------------------------------
 *      eta, ops  ==>  eta', ops with sigma' and what is left of the program; without op at its end
 *
 *  R1: what touches the operation and its registers alone follows at once.
 */
#include "engine/caches/caches_internal.h"

#define YIELD CODE_YIELD
#define END CODE_END
#define READ_MEM CODE_READ_MEM
#define WRITE_MEM CODE_WRITE_MEM
#define ATOM_OP CODE_ATOM_OP
#define RELEASE CODE_RELEASE
#define TO_REGS CODE_TO_REGS
#define LOCK CODE_LOCK
#define UNLOCK CODE_UNLOCK
#define READ_L1 CODE_READ_L1
#define WRITE_L1 CODE_WRITE_L1
#define RESERVE_L1 CODE_RESERVE_L1
#define UPDATE_L1 CODE_UPDATE_L1
#define EVICT_L1 CODE_EVICT_L1
#define DISCARD_L1 CODE_DISCARD_L1
#define FIRST_L1 CODE_FIRST_L1
#define NORMAL_L1 CODE_NORMAL_L1
#define READ_L2 CODE_READ_L2
#define WRITE_L2 CODE_WRITE_L2
#define RESERVE_L2 CODE_RESERVE_L2
#define UPDATE_L2 CODE_UPDATE_L2
#define FIRST_L2 CODE_FIRST_L2
#define NORMAL_L2 CODE_NORMAL_L2
#define UNLESS_L1(n) CODE_UNLESS_L1, n
#define UNLESS_L2(n) CODE_UNLESS_L2, n
#define ELSE(n) CODE_ELSE, n

const struct memory_program_info memory_programs[MEMORY_PROGRAMS] = {
#define MEMORY_PROGRAM(id, name, whole, ...) [MEMORY_##id] = {{__VA_ARGS__}, whole},
#include "engine/caches/programs.def"
#undef MEMORY_PROGRAM
};

const char *const memory_program_names[MEMORY_PROGRAMS] = {
#define MEMORY_PROGRAM(id, name, ...) [MEMORY_##id] = name,
#include "engine/caches/programs.def"
#undef MEMORY_PROGRAM
};

/* ---- what an operation is about ---- */

static uint32_t lowest(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

uint32_t caches_bytes(const struct caches *c, const struct ptx_op *op, int32_t offset)
{
    uint32_t bytes = 0, element = op->bytes == 8 ? 0xff : (1u << op->bytes) - 1;
    for (uint32_t e = 0; e < op->count; e++, offset += op->bytes)
        if (offset >= 0 && (uint32_t)offset < 4 * c->words)
            bytes |= element << offset;
    return bytes;
}

struct operation caches_operation(struct machine *machine, uint32_t actor, uint32_t place,
                                  struct choices *choices)
{
    const struct caches *c = caches_of(machine);
    struct operation x = {.m = machine,
                          .c = c,
                          .actor = actor,
                          .place = place,
                          .sm = caches_sm(machine, c, actor),
                          .slot = caches_slot(c, actor, place),
                          .lanes = caches_lanes(machine, actor),
                          .choices = choices};
    const int8_t *offsets = caches_offsets(c, x.slot);
    x.op = &machine->program->ptx->ops[x.slot->pc];
    if (c->sm) /* another block may have the actor's place by now */
        x.sm = x.slot->pins / MEMORY_SM;
    for (lane_mask rest = x.slot->lanes; rest; rest &= rest - 1)
        x.need |= caches_bytes(c, x.op, offsets[lowest(rest)]);
    return x;
}

static uint64_t get_bytes(const uint32_t *words, uint32_t from, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)words + from, bytes);
    return value;
}

static uint64_t source(const struct operation *x, uint32_t number, uint32_t lane)
{
    if (x->c->operands) {
        const uint32_t *value = caches_operand(x->c, x->slot, lane, number - 1);
        return value[0] | (uint64_t)value[1] << 32;
    }
    return ptx_source(x->m, x->lanes, &x->op->sources[number], lane);
}

static uint32_t put_bytes(uint32_t *words, uint32_t from, uint32_t bytes, uint64_t value)
{
    memcpy((char *)words + from, &value, bytes);
    return (bytes == 8 ? 0xffu : (1u << bytes) - 1) << from;
}

/* The registers are blocked: what they hold is what they held when the instruction was issued. */
uint32_t caches_written(const struct operation *x, uint32_t words[CACHES_WORDS])
{
    const struct ptx_op *op = x->op;
    const int8_t *offsets = caches_offsets(x->c, x->slot);
    uint32_t mask = 0;
    for (lane_mask rest = x->slot->writers; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest);
        int32_t offset = offsets[lane];
        if (op->exec == PTX_EXEC_ATOM) {
            uint64_t old = get_bytes(x->slot->value, (uint32_t)offset, op->bytes);
            uint64_t value = ptx_atomic_value(op, old, source(x, 1, lane), source(x, 2, lane));
            mask |= put_bytes(words, (uint32_t)offset, op->bytes, value);
            continue;
        }
        for (uint32_t e = 0; e < op->count; e++, offset += op->bytes)
            if (offset >= 0 && (uint32_t)offset < 4 * x->c->words)
                mask |= put_bytes(words, (uint32_t)offset, op->bytes, source(x, 1 + e, lane));
    }
    return mask;
}

/* ---- shared memory, DRAM ---- */

/*  readMem, writeMem      v := the line's words of the memory         the memory's bytes := v */
static void mem_read_memory(const struct operation *x)
{
    uint32_t first = x->slot->line, end = x->m->program->memory_words;
    for (uint32_t k = 0; k < x->c->words; k++)
        put(x->m, &x->slot->value[k], first + k < end ? (uint32_t)x->m->memory[first + k] : 0);
}

static void mem_write_memory(const struct operation *x)
{
    uint32_t words[CACHES_WORDS], first = x->slot->line;
    for (uint32_t k = 0; k < x->c->words; k++)
        words[k] = first + k < x->m->program->memory_words ? (uint32_t)x->m->memory[first + k] : 0;
    uint32_t bytes = caches_written(x, words);
    for (uint32_t k = 0; k < x->c->words; k++)
        if (bytes >> 4 * k & 15)
            put(x->m, (uint32_t *)&x->m->memory[first + k], words[k]);
}

/* MEM.banks: of the words of an atomic in shared memory. */
static uint32_t banks(const struct operation *x)
{
    uint32_t set = 0, first = x->slot->line;
    for (uint32_t k = 0; k < x->c->words; k++)
        if (x->need >> 4 * k & 15)
            set |= 1u << (first + k) % CACHES_BANKS;
    return set;
}

static uint32_t *locks(const struct operation *x)
{
    return &x->c->locks[machine_group_of(x->m, x->actor) - x->m->groups];
}

/*  lock      all banks unlocked: they are locked      else retry          unlock      they are unlocked */
static bool mem_lock(const struct operation *x)
{
    if (*locks(x) & banks(x))
        return false;
    put(x->m, locks(x), *locks(x) | banks(x));
    return true;
}

static void mem_unlock(const struct operation *x)
{
    put(x->m, locks(x), *locks(x) & ~banks(x));
}

/*  writeToRegs      regs := df(v)      by lane and element, as wide as the instruction says */
static void mem_to_registers(const struct operation *x)
{
    const int8_t *offsets = caches_offsets(x->c, x->slot);
    for (lane_mask rest = x->slot->lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest);
        int32_t offset = offsets[lane];
        for (uint32_t e = 0; e < x->op->count; e++, offset += x->op->bytes) {
            if (offset < 0 || (uint32_t)offset >= 4 * x->c->words)
                continue;
            uint64_t value = get_bytes(x->slot->value, (uint32_t)offset, x->op->bytes);
            if (x->op->exec == PTX_EXEC_LD)
                value = ptx_loaded(x->op, value);
            ptx_set_result(x->m, x->lanes, &x->op->results[e], (lane_mask)1 << lane, value);
        }
    }
}

/* ---- micro steps ---- */

/* One expression; false: it yields, and is tried again. */
static bool opexp(const struct operation *x, enum memory_code code)
{
    switch (code) {
    case CODE_READ_MEM:
        mem_read_memory(x);
        return true;
    case CODE_WRITE_MEM:
        mem_write_memory(x);
        return true;
    case CODE_TO_REGS:
        mem_to_registers(x);
        return true;
    case CODE_LOCK:
        return mem_lock(x);
    case CODE_UNLOCK:
        mem_unlock(x);
        return true;
    case CODE_READ_L1:
        return mem_read(x, MEMORY_L1);
    case CODE_WRITE_L1:
        return mem_write(x, MEMORY_L1);
    case CODE_RESERVE_L1:
        return mem_reserve(x, MEMORY_L1);
    case CODE_UPDATE_L1:
        mem_update(x, MEMORY_L1);
        return true;
    case CODE_EVICT_L1:
        return mem_evict(x);
    case CODE_DISCARD_L1:
        return mem_discard(x);
    case CODE_FIRST_L1:
    case CODE_NORMAL_L1:
        mem_classify(x, MEMORY_L1, code == CODE_FIRST_L1);
        return true;
    case CODE_READ_L2:
        if (x->c->l2)
            return mem_read(x, MEMORY_L2);
        mem_read_memory(x); /* R2 */
        return true;
    case CODE_WRITE_L2:
        return mem_write(x, MEMORY_L2);
    case CODE_RESERVE_L2:
        return mem_reserve(x, MEMORY_L2);
    case CODE_UPDATE_L2:
        mem_update(x, MEMORY_L2);
        return true;
    case CODE_FIRST_L2:
    case CODE_NORMAL_L2:
        if (x->c->l2)
            mem_classify(x, MEMORY_L2, code == CODE_FIRST_L2);
        return true;
    case CODE_ATOM_OP: /* v_out stays; what is written is computed where it is (caches_written) */
    case CODE_RELEASE: /* registers are blocked as long as the operation is there */
    case CODE_YIELD:
    case CODE_END:
    case CODE_UNLESS_L1:
    case CODE_UNLESS_L2:
    case CODE_ELSE:
        return true;
    }
    invariant_fail("a word of a memory program", __FILE__, __LINE__);
}

/* Past the conditions at ip. */
static uint32_t expression_at(const struct operation *x, uint32_t ip)
{
    const uint8_t *code = memory_programs[x->slot->program].code;
    for (;;) {
        bool leaves = code[ip] == CODE_ELSE;
        if (code[ip] == CODE_UNLESS_L1 || code[ip] == CODE_UNLESS_L2)
            leaves = mem_is_cached(x, code[ip] == CODE_UNLESS_L1 ? MEMORY_L1 : MEMORY_L2);
        else if (!leaves)
            return ip;
        ip += 2 + (leaves ? code[ip + 1] : 0u);
    }
}

uint32_t caches_ahead(const struct operation *x)
{
    return expression_at(x, x->slot->ip);
}

/* R1: touches the operation and its registers alone. */
static bool is_private(enum memory_code code)
{
    return code == CODE_TO_REGS || code == CODE_RELEASE || code == CODE_YIELD || code == CODE_END ||
           code == CODE_ATOM_OP;
}

static void end(struct operation *x)
{
    const struct caches *c = x->c;
    uint32_t count = c->in_flight[x->actor];
    for (uint32_t i = x->place; i + 1 < count; i++)
        caches_put_words(x->m, (uint32_t *)(void *)caches_slot(c, x->actor, i),
                         (const uint32_t *)(const void *)caches_slot(c, x->actor, i + 1),
                         c->slot_words);
    caches_put_words(x->m, (uint32_t *)(void *)caches_slot(c, x->actor, count - 1), NULL,
                     c->slot_words);
    put(x->m, &c->in_flight[x->actor], count - 1);
    /* A lane waits for what it had under way, not for what it issues behind that. */
    const lane_mask flying = caches_flying(c, x->actor, MEMORY_OVER);
    if (c->fence[x->actor] & ~flying)
        put_mask(x->m, &c->fence[x->actor], c->fence[x->actor] & flying);
}

/* Up to the next yield. True: up to the end. */
static bool run(struct operation *x)
{
    const uint8_t *code = memory_programs[x->slot->program].code;
    for (uint32_t ip = x->slot->ip;;) {
        ip = expression_at(x, ip);
        enum memory_code word = (enum memory_code)code[ip];
        if (word == CODE_END)
            return true;
        if (word == CODE_YIELD || !opexp(x, word)) {
            put(x->m, &x->slot->ip, ip + (word == CODE_YIELD));
            return false;
        }
        ip++;
    }
}

bool caches_micro_step(struct operation *x)
{
    const uint8_t *code = memory_programs[x->slot->program].code;
    bool ended = run(x);
    while (!ended && !x->c->options.lazy && is_private((enum memory_code)code[x->slot->ip]))
        ended = run(x);
    if (ended)
        end(x);
    return ended;
}

/* ---- who may step ---- */

/* MEM.prio (ERR.66, ERR.90): volatile operations of one lane go in their order; nothing else has one, nor have those of
 * a block and of the one that had its place before. */
static bool is_held(const struct operation *x)
{
    if (!x->slot->ordered)
        return false;
    for (uint32_t i = 0; i < x->place; i++) {
        const struct memory_slot *other = caches_slot(x->c, x->actor, i);
        bool before = other->pins & ~x->slot->pins & MEMORY_OVER;
        if (other->ordered && !before && (other->lanes & x->slot->lanes))
            return true;
    }
    return false;
}

static bool line_stays(const struct operation *x, bool dirty_stays)
{
    struct cache cache = caches_cache(x, MEMORY_L1);
    uint32_t i = caches_find(&cache, x->slot->line);
    if (i == CACHES_NONE)
        return false;
    const struct cache_line *cl = caches_line(x->c, cache.lines, i);
    return cl->pins || cl->pending || (dirty_stays && cl->dirty);
}

/* A retry that would not even pin. */
static bool waits(const struct operation *x, enum memory_code code)
{
    bool second = code == CODE_READ_L2 || code == CODE_RESERVE_L2 || code == CODE_WRITE_L2;
    uint32_t level = second ? MEMORY_L2 : MEMORY_L1;
    if (second && !x->c->l2)
        return false;
    struct cache cache = caches_cache(x, level);
    uint32_t i = caches_find(&cache, x->slot->line);
    switch ((unsigned)code) {
    case CODE_LOCK:
        return *locks(x) & banks(x);
    case CODE_EVICT_L1:
        return line_stays(x, true);
    case CODE_DISCARD_L1:
        return line_stays(x, false);
    case CODE_RESERVE_L1:
    case CODE_RESERVE_L2:
    case CODE_WRITE_L1:
    case CODE_WRITE_L2:
        return i == CACHES_NONE && !caches_has_room(&cache, x->slot->line);
    case CODE_READ_L1:
    case CODE_READ_L2:
        return x->slot->pins & level && !mem_is_there(x, level);
    }
    return false;
}

bool caches_may_step(const struct operation *x)
{
    const uint8_t *code = memory_programs[x->slot->program].code;
    if (is_held(x))
        return false;
    return !waits(x, (enum memory_code)code[caches_ahead(x)]);
}
