/*
 * ptx_async.c - cp.async and what waits for it (PTX ISA 9.7.9.25). A lane keeps the copies that it has begun. They are
 * made when they are waited for, as late as can be; a copy is an access of memory from its beginning until then, so
 * observers hear of it at the beginning, at every barrier of the block between, at the end of the lane, and when it is
 * made: in each interval in which somebody else's access would race with it.
 */
#include "engine/lanes/ptx_exec_internal.h"

struct ptx_async *ptx_async_of(const struct ptx_code *code, struct ptx_lanes *lanes, uint32_t lane)
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
    uint32_t word = (uint32_t)machine->memory[(copy->from + at) / 4];
    uint32_t left = copy->given > at ? copy->given - at : 0;
    return left >= 4 ? word : word & ((1u << 8 * left) - 1);
}

static void touch(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                  const struct ptx_copying *copy)
{
    uint32_t units = machine->program->units, location[LIMIT_WARP];
    uint64_t value[LIMIT_WARP];
    uint8_t order = (uint8_t)lane;
    struct access_row row = {.first_thread = lanes->first_thread,
                             .stm = copy->pc,
                             .count = 1,
                             .span = units,
                             .bits = 32 / units,
                             .order = &order,
                             .location = location};
    for (uint32_t at = 0; at < copy->bytes; at += 4) {
        value[lane] = word_of(machine, copy, at);
        location[lane] = (copy->from + at) / 4 * units;
        row.value = NULL;
        if (at < copy->given)
            tell(machine, ACCESS_READ, &row);
        location[lane] = (copy->to + at) / 4 * units;
        row.value = value;
        tell(machine, ACCESS_WRITE, &row);
    }
}

void ptx_async_touch(struct machine *machine, struct ptx_lanes *lanes, lane_mask set)
{
    for (lane_mask rest = is_observed(machine) ? set : 0; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const struct ptx_async *async = ptx_async_of(machine->program->ptx, lanes, lane);
        for (uint32_t i = 0; i < async->count; i++)
            touch(machine, lanes, lane, &async->copies[i]);
    }
}

/* ---- the copies of a lane ---- */

static void put_copy(struct machine *machine, struct ptx_copying *place,
                     const struct ptx_copying *copy)
{
    uint32_t words[5];
    _Static_assert(sizeof words == sizeof *copy, "words of a copy");
    memcpy(words, copy, sizeof words);
    for (uint32_t i = 0; i < 5; i++)
        put(machine, (uint32_t *)(void *)place + i, words[i]);
}

static void make(struct ptx_step *x, uint32_t lane, const struct ptx_copying *copy)
{
    uint32_t words[4];
    for (uint32_t at = 0; at < copy->bytes; at += 4)
        words[at / 4] = word_of(x->m, copy, at);
    for (uint32_t at = 0; at < copy->bytes; at += 4)
        put(x->m, (uint32_t *)&x->m->memory[(copy->to + at) / 4], words[at / 4]);
    if (is_observed(x->m))
        touch(x->m, x->lanes, lane, copy);
}

/* Those that are older than `kept` groups are made; with UINT32_MAX, all. */
static void wait(struct ptx_step *x, uint32_t lane, uint32_t kept)
{
    static const struct ptx_copying none;
    struct ptx_async *async = ptx_async_of(x->code, x->lanes, lane);
    uint32_t count = async->count, stay = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_copying copy = async->copies[i];
        if (kept == UINT32_MAX || copy.age > kept)
            make(x, lane, &copy);
        else
            put_copy(x->m, &async->copies[stay++], &copy);
    }
    for (uint32_t i = stay; i < count; i++)
        put_copy(x->m, &async->copies[i], &none);
    put(x->m, &async->count, stay);
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
        struct ptx_async *async = ptx_async_of(x->code, x->lanes, lane);
        const struct ptx_copying copy = {.to = to[lane],
                                         .from = from[lane],
                                         .bytes = (uint16_t)bytes,
                                         .given = (uint16_t)given[lane],
                                         .pc = x->pc};
        if (async->count == PTX_COPIES) {
            ptx_stuck(x->m, x->lanes->first_thread + lane, x->pc,
                      "more copies are under way than are kept: 64");
            return RULE_ASYNC_COPY;
        }
        put_copy(x->m, &async->copies[async->count], &copy);
        put(x->m, &async->count, async->count + 1);
        if (is_observed(x->m))
            touch(x->m, x->lanes, lane, &copy);
    }
    return RULE_ASYNC_COPY;
}

/*  commit      what is under way is one group older; what was in no group is a group now
 */
static enum rule async_commit(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        struct ptx_async *async = ptx_async_of(x->code, x->lanes, lowest_lane(rest));
        for (uint32_t i = 0; i < async->count; i++)
            put(x->m, &async->copies[i].age, async->copies[i].age + 1);
    }
    return RULE_ASYNC_COMMIT;
}

/*  wait        copies of all groups but the latest n, or of all and of none, are made: mu[d .. d+n |-> mu(s ..), 0 ..]
 */
static enum rule async_wait(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        wait(x, lowest_lane(rest), x->op->target);
    return RULE_ASYNC_WAIT;
}

enum rule ptx_async_step(struct ptx_step *x)
{
    return x->op->exec == PTX_EXEC_COPY          ? async_copy(x)
           : x->op->exec == PTX_EXEC_COPY_COMMIT ? async_commit(x)
                                                 : async_wait(x);
}

/* ---- accesses beside them ---- */

static bool meets(uint32_t a, uint32_t bytes, uint32_t b, uint32_t others)
{
    return a < b + others && b < a + bytes;
}

bool ptx_async_hits(const struct ptx_access *access)
{
    struct ptx_step *x = access->x;
    const bool writes = access->kind != PTX_ACCESS_LD;
    for (lane_mask rest = access->observed; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), byte = x->scratch->byte[lane];
        const struct ptx_async *async = ptx_async_of(x->code, x->lanes, lane);
        for (uint32_t i = 0; i < async->count; i++) {
            const struct ptx_copying *copy = &async->copies[i];
            if (!meets(byte, access->bytes, copy->to, copy->bytes) &&
                !(writes && meets(byte, access->bytes, copy->from, copy->given)))
                continue;
            ptx_stuck(
                x->m, x->lanes->first_thread + lane, x->pc,
                "it touches what the thread's own cp.async, which was not waited for, copies");
            return true;
        }
    }
    return false;
}
