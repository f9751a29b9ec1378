/*
 * follow_ptx_places.c - where the addresses of PTX lead, in the copy of memory, and what observers hear of accesses.
 */
#include "oracle/steps/follow_ptx.h"

/* The window that a generic address lies in; it becomes an address of that space. Far windows start at multiples of
 * 2^40 and have 2^32 addresses; near ones as listed. */
static enum follow_space window_of(const struct ptx_code *code, uint64_t *address)
{
    static const uint64_t nears[] = {0, 0x70000000, 0x78000000, 0x7a000000, 0x7c000000};
    const uint64_t far = (uint64_t)1 << 40, most = (uint64_t)1 << 32;
    for (uint64_t i = 1; i < 4; i++) {
        bool is_near = *address >= nears[i] && *address < nears[i + 1] && !code->is_far;
        bool is_far = *address >= i * far && *address - i * far < most;
        if (is_near || is_far) {
            *address -= is_near ? nears[i] : i * far;
            return (enum follow_space)i;
        }
    }
    return FOLLOW_GLOBAL;
}

static enum follow_space space_of(const struct follow_step *s, uint64_t *address)
{
    switch ((int)s->op->space) {
    case PTX_W_GLOBAL:
        return FOLLOW_GLOBAL;
    case PTX_W_SHARED:
        return FOLLOW_SHARED;
    case PTX_W_LOCAL:
        return FOLLOW_LOCAL;
    case PTX_W_CONST:
        return FOLLOW_CONSTANTS;
    default:
        return window_of(s->x->code, address);
    }
}

/* An access belongs to one variable, all of it. */
static bool find_variable(const struct ptx_regions *regions, uint64_t address, uint32_t bytes,
                          uint32_t *byte)
{
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *v = &regions->items[i];
        if (address < v->address || address - v->address >= v->bytes ||
            v->bytes - (address - v->address) < bytes)
            continue;
        *byte = 4 * v->word + (uint32_t)(address - v->address);
        return true;
    }
    return false;
}

static uint64_t address_of(const struct follow_step *s, uint32_t lane)
{
    const struct ptx_op *op = s->op;
    bool has_register = op->sources[0].kind != PTX_PLACE_NONE;
    if (!has_register)
        return op->offset;
    uint64_t sum = follow_ptx_source(s, 0, lane) + op->offset;
    bool is_wide =
        op->sources[0].bits == 64 && (op->space == PTX_W_NONE || op->space == PTX_W_GLOBAL);
    return is_wide ? sum : (uint32_t)sum;
}

/* Of a cluster's blocks: an address of 24 bits, above it the block's rank + 1. */
enum { CLUSTER_UNIT = 1 << 24 };

struct follow_place follow_ptx_place(const struct follow_step *s, uint32_t lane, uint64_t ahead,
                                     uint32_t bytes, uint32_t align, bool writes)
{
    const struct ptx_code *code = s->x->code;
    const uint32_t *bases = s->f->machine->threads[s->g->registers->first_thread + lane].base;
    uint64_t address = address_of(s, lane) + ahead;
    struct follow_place p = {.space = space_of(s, &address)};
    if (address % align != 0)
        return p;
    switch (p.space) {
    case FOLLOW_GLOBAL:
        p.exists = find_variable(&code->global, address, bytes, &p.byte);
        break;
    case FOLLOW_SHARED: {
        const bool names = code->has_clusters && address >= CLUSTER_UNIT;
        uint32_t block = 0;
        if (names && !follow_ptx_neighbour(s, (uint32_t)(address / CLUSTER_UNIT - 1), &block))
            break;
        p.exists =
            find_variable(&code->shared, names ? address % CLUSTER_UNIT : address, bytes, &p.byte);
        p.byte +=
            4 * (names ? s->f->program->shared_base + block * s->f->program->words[SPACE_SHARED]
                       : bases[SPACE_SHARED]);
        break;
    }
    case FOLLOW_CONSTANTS:
        p.exists = !writes && find_variable(&code->constant, address, bytes, &p.byte);
        break;
    case FOLLOW_LOCAL:
        p.exists = s->op->exec != PTX_EXEC_ATOM &&
                   address + bytes <= 4 * (uint64_t)s->f->program->words[SPACE_LOCAL];
        p.byte = 4 * bases[SPACE_LOCAL] + (uint32_t)address;
        break;
    }
    return p;
}

uint64_t follow_ptx_bytes(const int32_t *words, uint32_t byte, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = bytes; i > 0; i--) {
        uint32_t at = byte + i - 1;
        value = value * 256 + (uint32_t)words[at / 4] / (1u << 8 * (at % 4)) % 256;
    }
    return value;
}

void follow_ptx_put_bytes(int32_t *words, uint32_t byte, uint32_t bytes, uint64_t value)
{
    for (uint32_t i = 0; i < bytes; i++, value /= 256) {
        uint32_t at = byte + i, shift = 8 * (at % 4), word = (uint32_t)words[at / 4];
        words[at / 4] = (int32_t)((word & ~(255u << shift)) | (uint32_t)(value % 256) << shift);
    }
}

/* The places of all lanes. False: one has none, and the execution ends; a fault in local memory is believed. */
bool follow_ptx_places(struct follow_step *s, bool writes, struct follow_place places[LIMIT_WARP])
{
    bool fault = machine_status(s->f->machine) == STATUS_OUT_OF_BOUNDS;
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        if (!s->executes[l])
            continue;
        const uint32_t bytes = (uint32_t)s->op->bytes * s->op->count;
        places[l] = follow_ptx_place(s, l, 0, bytes, bytes, writes);
        uint32_t at_fault = s->f->machine->head->fault_thread - s->g->registers->first_thread;
        bool believed = fault && places[l].space == FOLLOW_LOCAL && at_fault == l;
        if (!places[l].exists || believed) {
            s->f->trusted += believed;
            follow_ptx_fault(s, STATUS_OUT_OF_BOUNDS, l);
            return false;
        }
    }
    return true;
}

/* ---- what observers hear ---- */

bool follow_ptx_is_seen(const struct follow_place *p)
{
    return p->space == FOLLOW_GLOBAL || p->space == FOLLOW_SHARED;
}

/* One access of a lane: as many locations as it spans, one after another. */
void follow_ptx_check_heard(struct follow_step *s, uint32_t *at, enum ref_access_kind kind,
                            uint32_t lane, uint32_t byte, uint32_t bytes, uint64_t value)
{
    uint32_t each = 4 / s->f->program->units, thread = s->g->registers->first_thread + lane;
    for (uint32_t i = 0; i < bytes / each && s->f->state == FOLLOW_ALONG; i++, ++*at) {
        const struct ref_access *heard = &s->f->heard[*at];
        uint64_t part = value >> 8 * each * i & (each == 4 ? UINT32_MAX : (1u << 8 * each) - 1);
        if (*at >= s->f->heard_count) {
            follow_part_numbers(s->f, "number of accesses", s->f->heard_count, *at + 1);
            return;
        }
        if (heard->kind != kind || heard->thread != thread || heard->address != byte / each + i ||
            (kind != REF_READ && (uint32_t)heard->value != part))
            follow_part_numbers(s->f, "access", heard->address, byte / each + i);
    }
}

void follow_ptx_check_all_heard(struct follow_step *s, uint32_t at)
{
    s->f->heard_at = at;
    if (!s->is_part)
        follow_ptx_compare_all_heard(s);
}

void follow_ptx_compare_all_heard(struct follow_step *s)
{
    uint32_t at = s->f->heard_at;
    if (s->f->state == FOLLOW_ALONG && at != s->f->heard_count)
        follow_part_numbers(s->f, "number of accesses", s->f->heard_count, at);
}
