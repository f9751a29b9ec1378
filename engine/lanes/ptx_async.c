/*
 * ptx_async.c - cp.async, also in bulk, and what waits for it (PTX ISA 9.7.9.25). A lane keeps the copies that it has
 * begun. They are made when they are waited for, as late as can be; a copy is an access of memory from its beginning
 * until then, so observers hear of it at the beginning, at every barrier of the block between, at the end of the lane,
 * and when it is made: in each interval in which somebody else's access would race with it.
 */
#include "engine/lanes/ptx_exec_internal.h"

static struct ptx_async *async_of(const struct ptx_code *code, struct ptx_lanes *lanes,
                                  uint32_t lane)
{
    uint32_t registers = (2 * code->rows.wide + code->rows.narrow) * lanes->count;
    uint32_t *words =
        (uint32_t *)lanes + ptx_head_words(code, lanes->count) + ((registers + 1) & ~1u);
    return (struct ptx_async *)(void *)(words + lane * PTX_ASYNC_WORDS);
}

/* ---- what observers hear ---- */

static void tell(struct machine *machine, enum access_kind kind, const struct access_row *row)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next) {
        if (o->access_row)
            o->access_row(o->context, kind, row);
        else
            access_row_each(o, kind, row);
    }
}

/* The word of the copy as it will be written. */
static uint32_t word_of(const struct machine *machine, const struct ptx_copying *copy, uint32_t at)
{
    if (copy->flags & PTX_COPY_VALUE)
        return at == 0 ? copy->from : copy->given;
    uint32_t word = (uint32_t)machine->memory[(copy->from + at) / 4];
    uint32_t left = copy->given > at ? copy->given - at : 0;
    return left >= 4 ? word : word & ((1u << 8 * left) - 1);
}

void ptx_tell_lane(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                   enum access_kind kind, uint32_t pc, uint32_t byte, uint32_t bytes,
                   uint64_t value)
{
    const uint32_t each = 4 / machine->program->units;
    uint32_t location[LIMIT_WARP];
    uint64_t values[LIMIT_WARP];
    uint8_t order = (uint8_t)lane;
    if (!is_observed(machine))
        return;
    location[lane] = byte / each;
    values[lane] = value;
    const struct access_row row = {.first_thread = lanes->first_thread,
                                   .stm = pc,
                                   .count = 1,
                                   .span = bytes / each,
                                   .bits = 8 * each,
                                   .order = &order,
                                   .location = location,
                                   .value = kind == ACCESS_READ ? NULL : values};
    tell(machine, kind, &row);
}

void ptx_copy_touch(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                    const struct ptx_copying *copy)
{
    const bool made = copy->flags & PTX_COPY_MADE;
    const bool reduces = machine->program->ptx->ops[copy->pc].atomic != NULL;
    const bool reads = !(copy->flags & (PTX_COPY_MADE | PTX_COPY_VALUE));
    for (uint32_t at = 0; is_observed(machine) && at < copy->bytes; at += 4) {
        uint32_t word = made || reduces ? (uint32_t)machine->memory[(copy->to + at) / 4]
                                        : word_of(machine, copy, at);
        if (at < copy->given && reads)
            ptx_tell_lane(machine, lanes, lane, ACCESS_READ, copy->pc, copy->from + at, 4, 0);
        ptx_tell_lane(machine, lanes, lane, reduces ? ACCESS_ATOMIC : ACCESS_WRITE, copy->pc,
                      copy->to + at, 4, word);
    }
}

void ptx_async_touch(struct machine *machine, struct ptx_lanes *lanes, lane_mask set)
{
    for (lane_mask rest = is_observed(machine) ? set : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const struct ptx_async *async = async_of(machine->program->ptx, lanes, lane);
        for (uint32_t i = 0; i < async->count; i++)
            ptx_copy_touch(machine, lanes, lane, &async->copies[i]);
    }
    if (machine->program->ptx->underway && is_observed(machine))
        ptx_underway_touch(machine, lanes, set);
}

/* ---- the copies of a lane ---- */

void ptx_copy_put(struct machine *machine, struct ptx_copying *place,
                  const struct ptx_copying *copy)
{
    uint32_t words[PTX_COPYING_WORDS];
    _Static_assert(sizeof words == sizeof *copy, "words of a copy");
    memcpy(words, copy, sizeof words);
    for (uint32_t i = 0; i < PTX_COPYING_WORDS; i++)
        put(machine, (uint32_t *)(void *)place + i, words[i]);
}

/* Each element by what comes. */
static void reduce(struct machine *machine, const struct ptx_op *op, const struct ptx_copying *copy)
{
    const uint32_t *words = (const uint32_t *)machine->memory, each = op->bytes;
    for (uint32_t at = 0; at < copy->bytes; at += each) {
        uint64_t comes = copy->flags & PTX_COPY_VALUE ? copy->from | (uint64_t)copy->given << 32
                                                      : ptx_fetch(words, copy->from + at, each);
        uint64_t old = ptx_fetch(words, copy->to + at, each);
        ptx_store(machine, copy->to + at, each, ptx_atomic_value(op, old, comes, 0));
    }
}

void ptx_copy_make(struct ptx_step *x, uint32_t lane, const struct ptx_copying *copy)
{
    const struct ptx_op *op = &x->code->ops[copy->pc];
    const bool made = copy->flags & PTX_COPY_MADE;
    if (op->atomic && !made)
        reduce(x->m, op, copy);
    for (uint32_t at = 0; at < copy->bytes && !made && !op->atomic; at += 4)
        put(x->m, (uint32_t *)&x->m->memory[(copy->to + at) / 4], word_of(x->m, copy, at));
    ptx_copy_touch(x->m, x->lanes, lane, copy);
}

/* Those of a kind that are older than `kept` groups are made; with UINT32_MAX, all. `reads`: only what they read is
 * waited for. */
static void wait(struct ptx_step *x, uint32_t lane, uint32_t kind, uint32_t kept, bool reads)
{
    static const struct ptx_copying none;
    struct ptx_async *async = async_of(x->code, x->lanes, lane);
    uint32_t count = async->count, stay = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_copying copy = async->copies[i];
        bool waited =
            (copy.flags & PTX_COPY_BULK) == kind && (kept == UINT32_MAX || copy.age > kept);
        if (waited)
            ptx_copy_make(x, lane, &copy);
        if (waited && reads)
            copy.flags |= PTX_COPY_MADE;
        if (!waited || reads)
            ptx_copy_put(x->m, &async->copies[stay++], &copy);
    }
    for (uint32_t i = stay; i < count; i++)
        ptx_copy_put(x->m, &async->copies[i], &none);
    put(x->m, &async->count, stay);
}

/* The copy is under way, as one of the lane's own. False: the execution has ended. */
static bool begin(struct ptx_step *x, uint32_t lane, const struct ptx_copying *copy)
{
    struct ptx_async *async = async_of(x->code, x->lanes, lane);
    if (async->count == PTX_COPIES) {
        ptx_beyond(x->m, x->lanes->first_thread + lane, x->pc,
                   "more copies of a thread are under way than are kept: 64");
        return false;
    }
    ptx_copy_put(x->m, &async->copies[async->count], copy);
    put(x->m, &async->count, async->count + 1);
    ptx_copy_touch(x->m, x->lanes, lane, copy);
    return true;
}

/* ---- instructions ---- */

/* Where one side of the copy lies, by lane, in `byte`. False: nowhere, the execution has ended. */
static bool places(struct ptx_step *x, const struct ptx_op *part, enum ptx_access_kind kind,
                   lane_mask lanes, uint32_t byte[LIMIT_WARP])
{
    struct ptx_step y = *x;
    struct ptx_access a = {.x = &y, .kind = kind};
    y.op = part;
    y.executing = lanes;
    if (lanes == 0)
        return true;
    if (!ptx_places(&a))
        return false;
    memcpy(byte, x->scratch->byte, LIMIT_WARP * sizeof *byte);
    return true;
}

/*  copy    the lane has fewer than PTX_COPIES under way; both sides exist
 *      <theta | cp.async [d], [s], n, k>  ->  theta'       (d, s, n, k) is under way, in no group yet
 */
static enum rule async_copy(struct ptx_step *x)
{
    uint32_t to[LIMIT_WARP], from[LIMIT_WARP] = {0}, given[LIMIT_WARP];
    const uint32_t bytes = 4u * x->op->count;
    lane_mask reading = 0;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t most =
            x->op->has_count ? ptx_source(x->m, x->lanes, &x->op->sources[0], lane) : bytes;
        given[lane] = most < bytes ? (uint32_t)most : bytes;
        reading |= (lane_mask)(given[lane] > 0) << lane;
    }
    if (!places(x, &x->op->parts[0], PTX_ACCESS_ST, x->executing, to) ||
        !places(x, &x->op->parts[1], PTX_ACCESS_LD, reading, from))
        return RULE_ASYNC_COPY;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const struct ptx_copying copy = {
            .to = to[lane], .from = from[lane], .bytes = bytes, .given = given[lane], .pc = x->pc};
        if (!begin(x, lane, &copy))
            break;
    }
    return RULE_ASYNC_COPY;
}

/*  commit      what is under way is one group older; what was in no group is a group now
 */
static enum rule async_commit(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        struct ptx_async *async = async_of(x->code, x->lanes, lowest_lane(rest));
        for (uint32_t i = 0; i < async->count; i++)
            if ((async->copies[i].flags & PTX_COPY_BULK) == x->op->mode)
                put(x->m, &async->copies[i].age, async->copies[i].age + 1);
    }
    return RULE_ASYNC_COMMIT;
}

/*  wait        copies of all groups but the latest n, or of all and of none, are made: mu[d .. d+n |-> mu(s ..), 0 ..]
 *              .read: what is copied has been read, and may be written; what it is copied to is still under way
 */
static enum rule async_wait(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        wait(x, lowest_lane(rest), x->op->mode, x->op->target, x->op->width == PTX_W_READ);
    return RULE_ASYNC_WAIT;
}

/* ---- bulk copies ---- */

static bool stuck(struct ptx_step *x, uint32_t lane, const char *why)
{
    ptx_stuck(x->m, x->lanes->first_thread + lane, x->pc, why);
    return false;
}

/* Both ends of the lane's copy of so many bytes: 16 at least of each, and the last 16. */
static bool bulk_places(struct ptx_step *x, uint32_t lane, uint32_t bytes, uint32_t *to,
                        uint32_t *from)
{
    const lane_mask only = (lane_mask)1 << lane;
    for (uint32_t side = 0; side < 2; side++) {
        struct ptx_op part = x->op->parts[side];
        enum ptx_access_kind kind = side == 0 ? PTX_ACCESS_ST : PTX_ACCESS_LD;
        uint32_t first[LIMIT_WARP], last[LIMIT_WARP];
        if (!places(x, &part, kind, only, first))
            return false;
        part.offset += bytes - 16;
        if (!places(x, &part, kind, only, last))
            return false;
        if (last[lane] - first[lane] != bytes - 16)
            return stuck(x, lane, "the copy goes beyond a variable");
        *(side == 0 ? to : from) = first[lane];
    }
    return true;
}

/* It is under way for the mbarrier. False: the execution has ended. */
static bool begin_heard(struct ptx_step *x, uint32_t lane, const struct ptx_copying *copy,
                        uint32_t mbarrier)
{
    const struct ptx_underway_entry entry = {
        .copy = *copy, .mbarrier = mbarrier, .thread = x->lanes->first_thread + lane};
    if (ptx_block_at(x->m, copy->to) != ptx_block_at(x->m, mbarrier))
        return stuck(x, lane,
                     "the mbarrier is of another block than the shared memory that is written");
    if (!ptx_underway_add(x, lane, &entry))
        return false;
    ptx_copy_touch(x->m, x->lanes, lane, copy);
    return ptx_mbarrier_hears(x, lane, mbarrier);
}

/* The same place of every block that the mask names, and the same mbarrier there. */
static bool multicast(struct ptx_step *x, uint32_t lane, struct ptx_copying copy, uint32_t mbarrier)
{
    const uint32_t mask = (uint32_t)ptx_source(x->m, x->lanes, &x->op->sources[1], lane) & 0xffff;
    const uint32_t bytes = 4 * x->m->program->words[SPACE_SHARED];
    const uint32_t from = ptx_block_at(x->m, copy.to), to = copy.to;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint32_t slot = ptx_block_ranked(x->m, x->lanes, (uint32_t)__builtin_ctz(rest));
        if (slot == UINT32_MAX)
            return stuck(x, lane,
                         "the mask names a block that the cluster has not, or that has ended");
        copy.to = to + (slot - from) * bytes;
        if (!begin_heard(x, lane, &copy, mbarrier + (slot - from) * bytes))
            return false;
    }
    return true;
}

/* st.async, red.async: each element on its own. */
static bool store_lane(struct ptx_step *x, uint32_t lane)
{
    const lane_mask only = (lane_mask)1 << lane;
    uint32_t to[LIMIT_WARP], mbarrier[LIMIT_WARP];
    if (!places(x, &x->op->parts[0], x->op->atomic ? PTX_ACCESS_ATOM : PTX_ACCESS_ST, only, to) ||
        !places(x, &x->op->parts[2], PTX_ACCESS_ATOM, only, mbarrier))
        return false;
    for (uint32_t e = 0; e < x->op->count; e++) {
        const uint64_t value = ptx_source(x->m, x->lanes, &x->op->sources[e], lane);
        const struct ptx_copying copy = {.to = to[lane] + e * x->op->bytes,
                                         .from = (uint32_t)value,
                                         .bytes = x->op->bytes,
                                         .given = (uint32_t)(value >> 32),
                                         .age = x->op->bytes,
                                         .pc = x->pc,
                                         .flags = PTX_COPY_BULK | PTX_COPY_VALUE};
        if (!begin_heard(x, lane, &copy, mbarrier[lane]))
            return false;
    }
    return true;
}

/* False: the execution has ended. */
static bool bulk_lane(struct ptx_step *x, uint32_t lane)
{
    uint32_t bytes = (uint32_t)ptx_source(x->m, x->lanes, &x->op->sources[0], lane);
    uint32_t mbarrier[LIMIT_WARP], to, from;
    if (bytes == 0 || bytes % 16 != 0)
        return stuck(x, lane, "cp.async.bulk copies a multiple of 16 bytes");
    if (!bulk_places(x, lane, bytes, &to, &from))
        return false;
    struct ptx_copying copy = {.to = to,
                               .from = from,
                               .bytes = bytes,
                               .given = bytes,
                               .pc = x->pc,
                               .flags = PTX_COPY_BULK};
    if (!x->op->has_count)
        return begin(x, lane, &copy);
    if (!places(x, &x->op->parts[2], PTX_ACCESS_ATOM, (lane_mask)1 << lane, mbarrier))
        return false;
    copy.age = bytes;
    return x->op->width == PTX_W_MULTICAST ? multicast(x, lane, copy, mbarrier[lane])
                                           : begin_heard(x, lane, &copy, mbarrier[lane]);
}

/*  bulk        n is a multiple of 16; both sides exist
 *      <theta | cp.async.bulk [d], [s], n, [b]>  ->  theta'    (d, s, n) is under way for the mbarrier at b
 *      <theta | cp.async.bulk [d], [s], n>  ->  theta'         (d, s, n) is under way, in no group of bulk copies yet
 *
 *  cp.reduce: what is copied is added and the like to what is there, element by element. multicast: (d, s, n) for the b
 *  of each block of a mask. st.async, red.async: a value instead of s; b as d may be of another block of the cluster.
 */
static enum rule async_bulk(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        if (!(x->op->opcode == PTX_OP_CP ? bulk_lane : store_lane)(x, lowest_lane(rest)))
            break;
    return RULE_ASYNC_BULK;
}

/* ---- cp.async that an mbarrier hears of ---- */

static bool arrive_lane(struct ptx_step *x, uint32_t lane, uint32_t mbarrier)
{
    static const struct ptx_copying none;
    struct ptx_async *async = async_of(x->code, x->lanes, lane);
    struct ptx_underway_entry entry = {.mbarrier = mbarrier,
                                       .thread = x->lanes->first_thread + lane};
    uint32_t count = async->count, stay = 0;
    if (x->op->mode != PTX_W_NOINC && !ptx_mbarrier_expects(x, lane, mbarrier))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        entry.copy = async->copies[i];
        if (entry.copy.flags & PTX_COPY_BULK) {
            ptx_copy_put(x->m, &async->copies[stay++], &entry.copy);
            continue;
        }
        entry.copy.age = 0;
        if (!ptx_underway_add(x, lane, &entry))
            return false;
    }
    for (uint32_t i = stay; i < count; i++)
        ptx_copy_put(x->m, &async->copies[i], &none);
    put(x->m, &async->count, stay);
    entry.copy = (struct ptx_copying){.age = 1, .pc = x->pc};
    return ptx_underway_add(x, lane, &entry) && ptx_mbarrier_hears(x, lane, mbarrier);
}

/*  arrive      the lane's copies, but bulk ones, are under way for the mbarrier, and an arrival behind them; without
 *              .noinc the phase expects one arrival more
 */
static enum rule async_arrive(struct ptx_step *x)
{
    uint32_t mbarrier[LIMIT_WARP];
    if (!places(x, x->op, PTX_ACCESS_ATOM, x->executing, mbarrier))
        return RULE_ASYNC_ARRIVE;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        if (!arrive_lane(x, lowest_lane(rest), mbarrier[lowest_lane(rest)]))
            break;
    return RULE_ASYNC_ARRIVE;
}

enum rule ptx_async_step(struct ptx_step *x)
{
    switch ((int)x->op->exec) {
    case PTX_EXEC_COPY:
        return async_copy(x);
    case PTX_EXEC_COPY_BULK:
        return async_bulk(x);
    case PTX_EXEC_COPY_ARRIVE:
        return async_arrive(x);
    case PTX_EXEC_COPY_COMMIT:
        return async_commit(x);
    default:
        return async_wait(x);
    }
}

/* ---- accesses beside them ---- */

static bool meets(uint32_t a, uint32_t bytes, uint32_t b, uint32_t others)
{
    return a < b + others && b < a + bytes;
}

bool ptx_copy_meets(const struct ptx_copying *copy, uint32_t byte, uint32_t bytes, bool writes)
{
    bool reads = writes && !(copy->flags & (PTX_COPY_MADE | PTX_COPY_VALUE));
    return meets(byte, bytes, copy->to, copy->bytes) ||
           (reads && meets(byte, bytes, copy->from, copy->given));
}

bool ptx_async_hits(const struct ptx_access *access)
{
    struct ptx_step *x = access->x;
    const bool writes = access->kind != PTX_ACCESS_LD;
    for (lane_mask rest = access->observed; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), byte = x->scratch->byte[lane];
        const struct ptx_async *async = async_of(x->code, x->lanes, lane);
        bool hits = x->code->underway && ptx_underway_hits(access, lane);
        for (uint32_t i = 0; i < async->count && !hits; i++)
            hits = ptx_copy_meets(&async->copies[i], byte, access->bytes, writes);
        if (!hits)
            continue;
        ptx_stuck(x->m, x->lanes->first_thread + lane, x->pc,
                  "it touches what the thread's own cp.async, which was not waited for, copies");
        return true;
    }
    return false;
}
