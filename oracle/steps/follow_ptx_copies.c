/*
 * follow_ptx_copies.c - copies that are under way (PTX ISA 9.7.9.25): one list of them, in the order in which they were
 * begun. Each is made when it is waited for: by its thread, group by group, or by whoever finds that nothing else is
 * missing at the mbarrier that hears of it. Observers hear of it at its beginning and when it is made.
 */
#include "oracle/steps/follow_ptx.h"

#include <string.h>

enum { COPIES = 1024, WORD = 4, BULK_UNIT = 16, OBJECT = 8 };

struct copy {
    uint32_t thread;
    uint32_t to, from, bytes; /* in memory */
    uint32_t given;           /* of the bytes so many, the others become 0 */
    bool bulk;
    bool is_read;    /* what it reads may be written; what it writes is still waited for */
    uint32_t group;  /* of its thread's groups of its kind, from 1; 0: of none yet */
    bool has_object; /* an mbarrier hears of it, there: */
    uint32_t object, transactions, arrivals; /* arrivals: it copies nothing, and arrives */
    bool is_value;                           /* not what lies at `from` is written, but this: */
    uint64_t value;
    const struct ptx_instruction *reduces; /* what is there, as it says; NULL: is written over */
};

struct follow_copies {
    uint32_t count;
    struct copy list[COPIES];
    uint32_t *groups[2]; /* by thread: so many of its own, plain and bulk ones */
};

void follow_ptx_copies_new(struct arena *arena, struct follow_ptx *x, uint32_t threads)
{
    x->copies = ARENA_NEW(arena, struct follow_copies);
    for (uint32_t bulk = 0; bulk < 2; bulk++)
        x->copies->groups[bulk] = ARENA_ARRAY(arena, uint32_t, threads);
}

void follow_ptx_copies_begin(struct follow_ptx *x, uint32_t threads)
{
    if (!x->copies)
        return;
    x->copies->count = 0;
    for (uint32_t bulk = 0; bulk < 2; bulk++)
        memset(x->copies->groups[bulk], 0, threads * sizeof(uint32_t));
}

static uint32_t thread_of(const struct follow_step *s, uint32_t lane)
{
    return s->g->registers->first_thread + lane;
}

static bool stuck(struct follow_step *s, uint32_t lane)
{
    follow_ptx_fault(s, STATUS_STUCK, lane);
    return false;
}

/* ---- a copy ---- */

/* Four bytes, as they will be written. */
static uint64_t word_of(const struct follow_step *s, const struct copy *c, uint32_t at)
{
    const uint32_t left = c->given > at ? c->given - at : 0;
    if (c->is_value)
        return c->value >> 8 * at & UINT32_MAX;
    return follow_ptx_bytes(s->x->memory, c->from + at, left < WORD ? left : WORD);
}

static void hear(struct follow_step *s, const struct copy *c, uint32_t lane, uint32_t *heard)
{
    for (uint32_t at = 0; at < c->bytes; at += WORD) {
        if (at < c->given && !c->is_read && !c->is_value)
            follow_ptx_check_heard(s, heard, REF_READ, lane, c->from + at, WORD, 0);
        follow_ptx_check_heard(
            s, heard, c->reduces ? REF_ATOMIC : REF_WRITE, lane, c->to + at, WORD,
            c->is_read || c->reduces ? follow_ptx_bytes(s->x->memory, c->to + at, WORD)
                                     : word_of(s, c, at));
    }
}

static void make(struct follow_step *s, const struct copy *c, uint32_t lane, uint32_t *heard)
{
    const uint32_t each =
        c->reduces ? ptx_type_of((enum ptx_word)c->reduces->words[PTX_SLOT_TYPE]).bits / 8u : WORD;
    for (uint32_t at = 0; c->reduces && at < c->bytes && !c->is_read; at += each) {
        uint64_t old = follow_ptx_bytes(s->x->memory, c->to + at, each), after = old;
        uint64_t comes =
            c->is_value ? c->value : follow_ptx_bytes(s->x->memory, c->from + at, each);
        (void)ref_atomic_value(c->reduces, old, comes, 0, &after);
        follow_ptx_put_bytes(s->x->memory, c->to + at, each, after);
    }
    for (uint32_t at = 0; !c->reduces && at < c->bytes && !c->is_read; at += WORD)
        follow_ptx_put_bytes(s->x->memory, c->to + at, WORD, word_of(s, c, at));
    hear(s, c, lane, heard);
}

static void add(struct follow_step *s, const struct copy *c)
{
    struct follow_copies *all = s->x->copies;
    if (all->count == COPIES)
        follow_ptx_lost(s->f, "more copies under way than the reference has room for");
    else
        all->list[all->count++] = *c;
}

static void take_out(struct follow_copies *all, uint32_t i)
{
    all->count--;
    for (; i < all->count; i++)
        all->list[i] = all->list[i + 1];
}

/* ---- cp.async ---- */

static struct follow_step part_of(const struct follow_step *s, uint32_t part, const bool *lanes)
{
    struct follow_step y = *s;
    y.op = &s->op->parts[part];
    memcpy(y.executes, lanes, sizeof y.executes);
    return y;
}

static enum rule begin(struct follow_step *s)
{
    struct follow_place to[LIMIT_WARP], from[LIMIT_WARP];
    const uint32_t bytes = WORD * s->op->count;
    uint32_t given[LIMIT_WARP], heard = s->f->heard_at;
    bool reads[LIMIT_WARP] = {false};
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        const uint64_t most = s->op->has_count ? follow_ptx_source(s, 0, l) : bytes;
        given[l] = most < bytes ? (uint32_t)most : bytes;
        reads[l] = s->executes[l] && given[l] > 0;
    }
    struct follow_step writing = part_of(s, 0, s->executes), reading = part_of(s, 1, reads);
    if (!follow_ptx_places(&writing, true, to) || !follow_ptx_places(&reading, false, from))
        return RULE_ASYNC_COPY;
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        if (!s->executes[l])
            continue;
        const struct copy c = {.thread = thread_of(s, l),
                               .to = to[l].byte,
                               .from = reads[l] ? from[l].byte : 0,
                               .bytes = bytes,
                               .given = given[l]};
        add(s, &c);
        hear(s, &c, l, &heard);
    }
    follow_ptx_check_all_heard(s, heard);
    return RULE_ASYNC_COPY;
}

static bool is_bulk(const struct follow_step *s)
{
    const enum ptx_form form = (enum ptx_form)s->op->statement->u.instruction.form;
    return form == PTX_FORM_CP_BULK_COMMIT || form == PTX_FORM_CP_BULK_WAIT;
}

/* The copies of a thread that no mbarrier hears of, of one kind. */
static bool is_own(const struct copy *c, uint32_t thread, bool bulk)
{
    return c->thread == thread && c->bulk == bulk && !c->has_object;
}

/* What is in no group becomes the thread's next one. */
static enum rule commit(struct follow_step *s)
{
    struct follow_copies *all = s->x->copies;
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        const uint32_t thread = thread_of(s, l);
        if (!s->executes[l])
            continue;
        const uint32_t group = ++all->groups[is_bulk(s)][thread];
        for (uint32_t i = 0; i < all->count; i++)
            if (is_own(&all->list[i], thread, is_bulk(s)) && all->list[i].group == 0)
                all->list[i].group = group;
    }
    follow_ptx_check_all_heard(s, s->f->heard_at);
    return RULE_ASYNC_COMMIT;
}

/* Of a group that is not one of the thread's latest ones; wait_all: whatever it has begun. */
static bool is_waited_for(const struct follow_step *s, const struct copy *c)
{
    const struct ptx_instruction *i = &s->op->statement->u.instruction;
    const uint32_t groups = s->x->copies->groups[is_bulk(s)][c->thread];
    return i->form == PTX_FORM_CP_WAIT_ALL ||
           (c->group > 0 && c->group + (uint64_t)i->operands->value <= groups);
}

static enum rule wait(struct follow_step *s)
{
    struct follow_copies *all = s->x->copies;
    const bool reads = s->op->statement->u.instruction.words[PTX_SLOT_NC] == PTX_W_READ;
    uint32_t heard = s->f->heard_at;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        for (uint32_t i = 0; i < all->count && s->executes[l];) {
            struct copy *c = &all->list[i];
            const bool waited = is_own(c, thread_of(s, l), is_bulk(s)) && is_waited_for(s, c);
            if (waited)
                make(s, c, l, &heard);
            c->is_read |= waited && reads;
            if (waited && !reads)
                take_out(all, i);
            else
                i++;
        }
    follow_ptx_check_all_heard(s, heard);
    return RULE_ASYNC_WAIT;
}

/* ---- cp.async.bulk ---- */

/* One end of a lane's copy: its first and its last bytes lie in one variable. False: they do not, and the execution
 * ends. */
static bool bulk_end(struct follow_step *s, uint32_t part, uint32_t lane, uint32_t bytes,
                     uint32_t *byte)
{
    struct follow_place first[LIMIT_WARP], last[LIMIT_WARP];
    bool only[LIMIT_WARP] = {false};
    only[lane] = true;
    struct follow_step y = part_of(s, part, only);
    struct ptx_op end = *y.op;
    if (!follow_ptx_places(&y, part == 0, first))
        return false;
    end.offset += bytes - BULK_UNIT;
    y.op = &end;
    if (!follow_ptx_places(&y, part == 0, last))
        return false;
    *byte = first[lane].byte;
    return last[lane].byte == first[lane].byte + bytes - BULK_UNIT || stuck(s, lane);
}

/* The mbarrier is told of it: what its phase is. False: there is none, and the execution ends. */
static bool object_hears(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t *heard)
{
    const uint64_t bits = follow_ptx_bytes(s->x->memory, byte, OBJECT);
    const uint32_t at = byte + WORD * ref_mbarrier_phase(bits);
    if (!ref_mbarrier_exists(bits))
        return stuck(s, lane);
    follow_ptx_check_heard(s, heard, REF_ATOMIC, lane, at, WORD,
                           follow_ptx_bytes(s->x->memory, at, WORD));
    return true;
}

static uint32_t block_of(const struct follow_step *s, uint32_t byte)
{
    return (byte / WORD - s->f->program->shared_base) / s->f->program->words[SPACE_SHARED];
}

/* An mbarrier, if one hears of it, is of the block that is written to. */
static bool start(struct follow_step *s, const struct copy *c, uint32_t lane, uint32_t *heard)
{
    if (c->has_object && block_of(s, c->object) != block_of(s, c->to))
        return stuck(s, lane);
    add(s, c);
    hear(s, c, lane, heard);
    return !c->has_object || object_hears(s, lane, c->object, heard);
}

/* In each block of the cluster that the mask names, at the same place. */
static bool start_all(struct follow_step *s, const struct copy *c, uint32_t lane, uint32_t *heard)
{
    const uint64_t mask = follow_ptx_source(s, 1, lane);
    const uint32_t bytes = WORD * s->f->program->words[SPACE_SHARED], own = block_of(s, c->to);
    for (uint32_t rank = 0, block; rank < 16; rank++) {
        struct copy there = *c;
        if (!(mask >> rank & 1))
            continue;
        if (!follow_ptx_neighbour(s, rank, &block))
            return stuck(s, lane);
        there.to += (block - own) * bytes;
        there.object += (block - own) * bytes;
        if (!start(s, &there, lane, heard))
            return false;
    }
    return true;
}

/* The mbarrier that hears of it. */
static bool find_object(struct follow_step *s, uint32_t lane, uint32_t *byte)
{
    struct follow_place object[LIMIT_WARP];
    bool only[LIMIT_WARP] = {false};
    only[lane] = true;
    struct follow_step y = part_of(s, 2, only);
    if (!follow_ptx_places(&y, true, object))
        return false;
    *byte = object[lane].byte;
    return true;
}

static bool bulk_lane(struct follow_step *s, uint32_t lane, uint32_t *heard)
{
    const uint32_t bytes = (uint32_t)follow_ptx_source(s, 0, lane);
    const struct ptx_instruction *i = &s->op->statement->u.instruction;
    struct copy c = {.thread = thread_of(s, lane), .bytes = bytes, .given = bytes, .bulk = true};
    if (bytes == 0 || bytes % BULK_UNIT != 0)
        return stuck(s, lane);
    if (!bulk_end(s, 0, lane, bytes, &c.to) || !bulk_end(s, 1, lane, bytes, &c.from))
        return false;
    c.has_object = i->words[PTX_SLOT_SYNC] == PTX_W_MBARRIER_TX;
    c.reduces = i->words[PTX_SLOT_PART] == PTX_W_REDUCE ? i : NULL;
    c.transactions = c.has_object ? bytes : 0;
    if (c.has_object && !find_object(s, lane, &c.object))
        return false;
    return i->words[PTX_SLOT_PART] == PTX_W_MULTICAST ? start_all(s, &c, lane, heard)
                                                      : start(s, &c, lane, heard);
}

/* st.async, red.async: each element a copy of its own. */
static bool store_lane(struct follow_step *s, uint32_t lane, uint32_t *heard)
{
    const struct ptx_instruction *i = &s->op->statement->u.instruction;
    const uint32_t bytes = ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]).bits / 8u;
    struct copy c = {.thread = thread_of(s, lane), .bytes = bytes, .given = bytes, .bulk = true};
    struct follow_place to[LIMIT_WARP];
    bool only[LIMIT_WARP] = {false};
    only[lane] = true;
    struct follow_step y = part_of(s, 0, only);
    if (!follow_ptx_places(&y, true, to) || !find_object(s, lane, &c.object))
        return false;
    c.has_object = c.is_value = true;
    c.transactions = bytes;
    c.reduces = s->op->opcode == PTX_OP_RED ? i : NULL;
    for (uint32_t e = 0; e < s->op->count; e++) {
        c.to = to[lane].byte + e * bytes;
        c.value = follow_ptx_source(s, e, lane);
        if (!start(s, &c, lane, heard))
            return false;
    }
    return true;
}

static enum rule bulk(struct follow_step *s)
{
    const bool stores = s->op->opcode != PTX_OP_CP;
    uint32_t heard = s->f->heard_at;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l] && !(stores ? store_lane : bulk_lane)(s, l, &heard))
            break;
    follow_ptx_check_all_heard(s, heard);
    return RULE_ASYNC_BULK;
}

/* ---- copies that an mbarrier hears of ---- */

/* What the lane has begun by cp.async is the mbarrier's, and an arrival behind it; without .noinc the phase expects one
 * more. */
static bool arrive_lane(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t *heard)
{
    struct follow_copies *all = s->x->copies;
    const uint32_t thread = thread_of(s, lane);
    uint64_t bits = follow_ptx_bytes(s->x->memory, byte, OBJECT);
    if (s->op->statement->u.instruction.words[PTX_SLOT_NC] != PTX_W_NOINC) {
        if (!ref_mbarrier_expects(&bits))
            return stuck(s, lane);
        follow_ptx_put_bytes(s->x->memory, byte, OBJECT, bits);
    }
    for (uint32_t i = 0, left = all->count; left > 0; left--) {
        struct copy c = all->list[i];
        if (!is_own(&c, thread, false)) {
            i++;
            continue;
        }
        take_out(all, i);
        c.has_object = true;
        c.object = byte;
        add(s, &c);
    }
    const struct copy arrival = {
        .thread = thread, .has_object = true, .object = byte, .arrivals = 1};
    add(s, &arrival);
    return object_hears(s, lane, byte, heard);
}

static enum rule arrive(struct follow_step *s)
{
    struct follow_place places[LIMIT_WARP];
    uint32_t heard = s->f->heard_at;
    if (!follow_ptx_places(s, true, places))
        return RULE_ASYNC_ARRIVE;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l] && !arrive_lane(s, l, places[l].byte, &heard))
            break;
    follow_ptx_check_all_heard(s, heard);
    return RULE_ASYNC_ARRIVE;
}

bool follow_ptx_settles(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t *heard)
{
    struct follow_copies *all = s->x->copies;
    uint64_t bits = follow_ptx_bytes(s->x->memory, byte, OBJECT);
    const uint32_t at = byte + WORD * ref_mbarrier_phase(bits);
    uint32_t arrivals = 0, transactions = 0;
    for (uint32_t i = 0; all && i < all->count; i++)
        if (all->list[i].has_object && all->list[i].object == byte) {
            arrivals += all->list[i].arrivals;
            transactions += all->list[i].transactions;
        }
    if (arrivals + transactions == 0 || !ref_mbarrier_settles(&bits, arrivals, transactions))
        return false;
    follow_ptx_check_heard(s, heard, REF_READ, lane, at, WORD, 0);
    for (uint32_t i = 0; i < all->count;) {
        if (!all->list[i].has_object || all->list[i].object != byte) {
            i++;
            continue;
        }
        make(s, &all->list[i], lane, heard);
        take_out(all, i);
    }
    follow_ptx_check_heard(s, heard, REF_ATOMIC, lane, at, WORD,
                           follow_ptx_bytes(s->x->memory, at, WORD));
    follow_ptx_put_bytes(s->x->memory, byte, OBJECT, bits);
    return true;
}

enum rule follow_ptx_copy(struct follow_step *s)
{
    if (machine_status(s->f->machine) == STATUS_UNSUPPORTED) {
        follow_ptx_lost(s->f, "more copies under way than the machine keeps");
        return RULE_NONE;
    }
    switch ((int)s->op->exec) {
    case PTX_EXEC_COPY:
        return begin(s);
    case PTX_EXEC_COPY_COMMIT:
        return commit(s);
    case PTX_EXEC_COPY_WAIT:
        return wait(s);
    case PTX_EXEC_COPY_BULK:
        return bulk(s);
    default:
        return arrive(s);
    }
}

/* ---- accesses beside them ---- */

static bool meet(uint32_t a, uint32_t bytes, uint32_t b, uint32_t others)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (a + i >= b && a + i < b + others)
            return true;
    return false;
}

bool follow_ptx_meets_copy_at(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t bytes,
                              bool writes)
{
    const struct follow_copies *all = s->x->copies;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const struct copy *c = &all->list[i];
        const bool reads = writes && !c->is_read && !c->is_value;
        if (c->thread != thread_of(s, lane) || !(meet(byte, bytes, c->to, c->bytes) ||
                                                 (reads && meet(byte, bytes, c->from, c->given))))
            continue;
        follow_ptx_fault(s, STATUS_STUCK, lane);
        return true;
    }
    return false;
}

bool follow_ptx_meets_copy(struct follow_step *s, const struct follow_place *places, bool writes)
{
    const uint32_t bytes = (uint32_t)s->op->bytes * s->op->count;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l] && follow_ptx_is_seen(&places[l]) &&
            follow_ptx_meets_copy_at(s, l, places[l].byte, bytes, writes))
            return true;
    return false;
}
