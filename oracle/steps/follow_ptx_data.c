/*
 * follow_ptx_data.c - registers and memory of PTX: the copy is changed as the instruction says, and must then be what
 * the machine has.
 */
#include "oracle/steps/follow_ptx.h"

#include <stdio.h>
#include <string.h>

/* ---- registers ---- */

void follow_ptx_set(const struct follow_step *s, struct ptx_lanes *registers,
                    const struct ptx_place *place, uint32_t lane, uint64_t value)
{
    void *at = ptx_register_of(s->f->program, registers, place, lane);
    uint32_t narrow = (uint32_t)value;
    if (place->kind != PTX_PLACE_REGISTER)
        return;
    if (place->bits == 64)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &narrow, sizeof narrow);
}

static const struct ptx_instruction *instruction_of(const struct follow_step *s)
{
    return &s->op->statement->u.instruction;
}

static enum ptx_opcode opcode_of(const struct follow_step *s)
{
    return ptx_forms[instruction_of(s)->form].opcode;
}

static void part_values(struct follow_step *s, const char *observable, uint64_t engine,
                        uint64_t reference)
{
    char a[24], b[24];
    snprintf(a, sizeof a, "0x%llx", (unsigned long long)engine);
    snprintf(b, sizeof b, "0x%llx", (unsigned long long)reference);
    follow_part(s->f, observable, a, b);
}

/* What the machine keeps of copies lies behind the registers, and behind a block's variables; the reference has a list
 * of its own. */
static uint32_t register_words(const struct follow_step *s)
{
    const uint32_t count = s->g->registers->count;
    return ptx_lanes_words(s->f->program, count) - (s->x->copies ? count * PTX_ASYNC_WORDS : 0);
}

static void pass_over_underway(struct follow_step *s)
{
    const struct program *program = s->f->program;
    const uint32_t block_words = program->words[SPACE_SHARED],
                   words = block_words - s->x->code->underway_word;
    for (uint32_t b = 0; b < program->launch.blocks && s->x->code->underway; b++) {
        const uint32_t at = program->shared_base + b * block_words + s->x->code->underway_word;
        memcpy(s->x->memory + at, s->f->machine->memory + at, (size_t)4 * words);
    }
}

void follow_ptx_compare_data(struct follow_step *s)
{
    const struct program *program = s->f->program;
    size_t bytes = (size_t)4 * register_words(s);
    const int32_t *memory = s->f->machine->memory;
    pass_over_underway(s);
    if (memcmp(s->g->registers, s->after, bytes) != 0) {
        follow_part(s->f, "registers", "another value",
                    "a register that the instruction does not name");
        return;
    }
    /* Local memory is looked at where it may change: that of all threads is large. */
    bool all =
        s->op->exec == PTX_EXEC_ST || s->op->exec == PTX_EXEC_CALL || s->op->exec == PTX_EXEC_RET;
    if (memcmp(s->x->memory, memory,
               (size_t)4 * (all ? program->memory_words : program->private_base)) == 0)
        return;
    uint32_t i = 0;
    while (s->x->memory[i] == memory[i])
        i++;
    part_values(s,
                i < program->shared_base    ? "global memory"
                : i < program->private_base ? "shared memory"
                                            : "local memory",
                (uint32_t)memory[i], (uint32_t)s->x->memory[i]);
}

/* ---- what only computes ---- */

/* Of a function, .param is local memory: cvta and isspacep have its window there. */
static struct ptx_instruction in_window(const struct follow_step *s)
{
    struct ptx_instruction instruction = *instruction_of(s);
    bool converts = opcode_of(s) == PTX_OP_CVTA || opcode_of(s) == PTX_OP_ISSPACEP;
    if (converts && instruction.words[PTX_SLOT_SPACE] == PTX_W_PARAM && s->op->function > 0)
        instruction.words[PTX_SLOT_SPACE] = PTX_W_LOCAL;
    return instruction;
}

/* A source; special registers and the own rank are not asked of the machine. */
static uint64_t source_of(const struct follow_step *s, uint32_t k, uint32_t lane)
{
    const struct ptx_row_op *row = &s->op->row;
    const struct ptx_operand *o = instruction_of(s)->operands->next;
    uint64_t value;
    if (row->has_rank && k + 1 == row->source_count)
        return follow_ptx_rank(s, lane);
    for (uint32_t i = 0; i < k && o; i++)
        o = o->next;
    const bool is_special = o && o->target_kind == PTX_TARGET_SPECIAL;
    return is_special && follow_ptx_special(s, o, lane, &value) ? value
                                                                : follow_ptx_source(s, k, lane);
}

/* One lane: its results may be what the machine has. */
static void compute_lane(struct follow_step *s, struct ref_computing *r, uint32_t lane)
{
    const struct ptx_row_op *row = &s->op->row;
    for (uint32_t k = 0; k < row->source_count; k++) {
        r->source_bits[k] = row->source_bits[k];
        r->s[k] = source_of(s, k, lane);
        if (row->source_bits[k] == 32)
            r->s[k] = (uint32_t)r->s[k];
    }
    for (uint32_t k = 0; k < row->result_count; k++)
        r->result_bits[k] = row->result_bits[k];
    ref_compute(r);
    for (uint32_t k = 0; k < row->result_count && s->f->state == FOLLOW_ALONG; k++) {
        const struct ptx_place *place = &s->op->results[k];
        if (place->kind != PTX_PLACE_REGISTER)
            continue;
        uint64_t got = ptx_source(s->f->machine, s->after, place, lane);
        if (!ref_is_result(r, k, got))
            part_values(s, FOLLOW_RESULT, got, r->d[k]);
        follow_ptx_set(s, s->g->registers, place, lane, got);
    }
}

static enum rule compute(struct follow_step *s)
{
    const struct ptx_row_op *row = &s->op->row;
    const struct ptx_instruction instruction = in_window(s);
    const struct ref_computing computing = {.instruction = &instruction,
                                            .source_count = row->source_count,
                                            .result_count = row->result_count,
                                            .immediate = row->immediate,
                                            .reads_carry = row->reads_carry,
                                            .writes_carry = row->writes_carry};
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        struct ref_computing r = computing;
        if (s->executes[l])
            compute_lane(s, &r, l);
    }
    return opcode_of(s) == PTX_OP_MOV    ? RULE_PTX_MOV
           : opcode_of(s) == PTX_OP_SETP ? RULE_PTX_SETP
                                         : RULE_PTX_DOP;
}

/* ---- the lanes together ---- */

static enum rule rule_of_warp(const struct follow_step *s)
{
    switch ((int)opcode_of(s)) {
    case PTX_OP_SHFL:
        return RULE_PTX_SHFL;
    case PTX_OP_MATCH:
        return RULE_PTX_MATCH;
    case PTX_OP_REDUX:
        return RULE_PTX_REDUX;
    case PTX_OP_ELECT:
        return RULE_PTX_ELECT;
    case PTX_OP_ACTIVEMASK:
        return RULE_PTX_ACTIVEMASK;
    case PTX_OP_VOTE:
        break;
    default:
        return RULE_PTX_BAR_WARP;
    }
    switch ((int)instruction_of(s)->words[PTX_SLOT_MODE]) {
    case PTX_W_ALL:
        return RULE_PTX_VOTE_ALL;
    case PTX_W_ANY:
        return RULE_PTX_VOTE_ANY;
    case PTX_W_UNI:
        return RULE_PTX_VOTE_UNI;
    default:
        return RULE_PTX_VOTE_BALLOT;
    }
}

/* Which of the sources is the mask of a .sync form. */
static uint32_t mask_source(const struct follow_step *s)
{
    switch ((int)s->op->exec) {
    case PTX_EXEC_SHFL:
        return 3;
    case PTX_EXEC_BAR_WARP:
        return 0;
    default:
        return 1;
    }
}

uint64_t follow_ptx_mask(const struct follow_step *s, uint32_t l)
{
    if (s->op->matrix)
        return UINT32_MAX;
    return follow_ptx_source(s, mask_source(s), l);
}

void follow_ptx_fill_lane(const struct follow_step *s, uint32_t l, struct ref_lane_row *row)
{
    row->executes = s->executes[l];
    row->exited = s->g->unit && s->x->before.disabled[l] == 'e';
    if (!row->executes)
        return;
    row->a = follow_ptx_source(s, 0, l);
    row->b = follow_ptx_source(s, 1, l);
    row->c = follow_ptx_source(s, 2, l);
    row->mask = follow_ptx_mask(s, l);
    if (s->op->exec == PTX_EXEC_VOTE)
        row->a = (row->a != 0) != (s->op->negated & 1);
}

static enum rule together(struct follow_step *s)
{
    const struct ast_launch *launch = &s->f->program->launch;
    struct ref_lane_rows x = {.instruction = instruction_of(s),
                              .width = launch->warp,
                              .count = s->g->registers->count,
                              .first =
                                  s->g->registers->first_thread % launch->threads % launch->warp};
    x.has_mask =
        s->op->exec != PTX_EXEC_ACTIVEMASK && s->op->sources[mask_source(s)].kind != PTX_PLACE_NONE;
    for (uint32_t l = 0; l < x.count; l++)
        follow_ptx_fill_lane(s, l, &x.lane[l]);
    ref_lanes_together(&x);
    if (x.stuck)
        follow_ptx_fault(s, STATUS_STUCK, x.stuck_lane);
    for (uint32_t l = 0; l < x.count && !x.stuck; l++) {
        if (!s->executes[l] || s->op->exec == PTX_EXEC_BAR_WARP)
            continue;
        follow_ptx_set(s, s->g->registers, &s->op->results[0], l, x.lane[l].d);
        follow_ptx_set(s, s->g->registers, &s->op->results[1], l, x.lane[l].p);
    }
    return rule_of_warp(s);
}

/* Who comes next, of the lanes that others see: told by what was heard. False: nobody who should. */
static bool who_is_next(struct follow_step *s, uint32_t at, const bool *left, uint32_t *lane)
{
    if (at < s->f->heard_count) {
        *lane = s->f->heard[at].thread - s->g->registers->first_thread;
        if (*lane < LIMIT_WARP && left[*lane])
            return true;
    }
    follow_part_numbers(s->f, "order of writes", at < s->f->heard_count, at);
    return false;
}

/* ---- ld, st, atom ---- */

uint32_t follow_ptx_width(const struct ptx_op *load, uint32_t e)
{
    const struct ptx_operand *o = load->statement->u.instruction.operands;
    if (o->kind == PTX_OPERAND_VECTOR) /* else e counts the halves of one register */
        for (o = o->items; e > 0 && o->next; e--)
            o = o->next;
    const uint32_t bits =
        o->target_kind == PTX_TARGET_VARIABLE ? ptx_type_of(o->target.variable->type).bits : 64;
    return bits == 128 ? 64 : bits < 16 ? 32 : bits;
}

static enum rule load(struct follow_step *s)
{
    struct follow_place places[LIMIT_WARP];
    uint32_t at = s->f->heard_at;
    if (!follow_ptx_places(s, false, places) || follow_ptx_meets_copy(s, places, false))
        return RULE_PTX_LD;
    for (uint32_t e = 0; e < s->op->count; e++)
        for (uint32_t l = 0; l < s->g->registers->count; l++) {
            if (!s->executes[l])
                continue;
            bool constant = places[l].space == FOLLOW_CONSTANTS;
            const int32_t *words = constant ? (const int32_t *)s->x->code->constants : s->x->memory;
            uint32_t byte = places[l].byte + e * s->op->bytes;
            uint64_t value = follow_ptx_bytes(words, byte, s->op->bytes);
            const uint32_t width = follow_ptx_width(s->op, e);
            if (follow_ptx_is_seen(&places[l]))
                follow_ptx_check_heard(s, &at, REF_READ, l, byte, s->op->bytes, 0);
            follow_ptx_set(s, s->g->registers, &s->op->results[e], l,
                           ref_loaded(instruction_of(s), value, s->op->bytes, width));
        }
    follow_ptx_check_all_heard(s, at);
    return RULE_PTX_LD;
}

static uint64_t low_bytes(uint64_t value, uint32_t bytes)
{
    return bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

/* Lanes that write other values to one place: any may be the last. */
static void ways_to_store(struct follow_step *s, uint32_t e, const struct follow_place *places)
{
    struct ref_one_write all[LIMIT_WARP];
    uint32_t count = 0;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l] && follow_ptx_is_seen(&places[l]))
            all[count++] = (struct ref_one_write){
                places[l].byte, low_bytes(follow_ptx_source(s, 1 + e, l), s->op->bytes)};
    s->f->ways *= ref_ways_of_writes(all, count);
}

/* Element by element; lanes in the order that was told. */
static void store_element(struct follow_step *s, uint32_t e, const struct follow_place *places,
                          uint32_t *at)
{
    bool left[LIMIT_WARP] = {false};
    uint32_t seen = 0, lane;
    ways_to_store(s, e, places);
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        left[l] = s->executes[l] && follow_ptx_is_seen(&places[l]);
        seen += left[l];
        if (s->executes[l] && !left[l])
            follow_ptx_put_bytes(s->x->memory, places[l].byte + e * s->op->bytes, s->op->bytes,
                                 follow_ptx_source(s, 1 + e, l));
    }
    for (; seen > 0 && s->f->state == FOLLOW_ALONG; seen--) {
        if (!who_is_next(s, *at, left, &lane))
            return;
        uint32_t byte = places[lane].byte + e * s->op->bytes;
        uint64_t value = low_bytes(follow_ptx_source(s, 1 + e, lane), s->op->bytes);
        left[lane] = false;
        follow_ptx_put_bytes(s->x->memory, byte, s->op->bytes, value);
        follow_ptx_check_heard(s, at, REF_WRITE, lane, byte, s->op->bytes, value);
    }
}

static enum rule store(struct follow_step *s)
{
    struct follow_place places[LIMIT_WARP];
    uint32_t at = s->f->heard_at;
    if (!follow_ptx_places(s, true, places) || follow_ptx_meets_copy(s, places, true))
        return RULE_PTX_ST;
    for (uint32_t e = 0; e < s->op->count && s->f->state == FOLLOW_ALONG; e++)
        store_element(s, e, places, &at);
    follow_ptx_check_all_heard(s, at);
    return RULE_PTX_ST;
}

/* One lane's indivisible read and write of element e; what it found. */
static uint64_t atomic_lane(struct follow_step *s, uint32_t e, uint32_t lane, uint32_t byte,
                            uint32_t *at)
{
    uint64_t old = follow_ptx_bytes(s->x->memory, byte, s->op->bytes), value;
    uint64_t b = follow_ptx_source(s, 1 + e, lane), c = follow_ptx_source(s, 2, lane);
    if (!ref_atomic_value(instruction_of(s), old, b, c, &value)) {
        follow_ptx_lost(s->f, "an atomic operation");
        return 0;
    }
    follow_ptx_put_bytes(s->x->memory, byte, s->op->bytes, value);
    follow_ptx_check_heard(s, at, REF_ATOMIC, lane, byte, s->op->bytes, value);
    return old;
}

struct high {
    uint64_t old, left;
};

/* Of 128 bits both halves go together, at the lane's turn with the low ones; the high ones are told behind those of all
 * lanes. */
static uint64_t whole_lane(struct follow_step *s, uint32_t e, uint32_t lane, uint32_t byte,
                           uint32_t *at, struct high *high)
{
    const bool swaps = instruction_of(s)->words[PTX_SLOT_OP] == PTX_W_CAS;
    if (e == 1) {
        follow_ptx_check_heard(s, at, REF_ATOMIC, lane, byte, 8, high->left);
        return high->old;
    }
    const uint64_t old = follow_ptx_bytes(s->x->memory, byte, 8);
    high->old = follow_ptx_bytes(s->x->memory, byte + 8, 8);
    const bool writes = !swaps || (old == follow_ptx_source(s, 1, lane) &&
                                   high->old == follow_ptx_source(s, 2, lane));
    const uint64_t low = writes ? follow_ptx_source(s, swaps ? 3 : 1, lane) : old;
    high->left = writes ? follow_ptx_source(s, swaps ? 4 : 2, lane) : high->old;
    follow_ptx_put_bytes(s->x->memory, byte, 8, low);
    follow_ptx_put_bytes(s->x->memory, byte + 8, 8, high->left);
    follow_ptx_check_heard(s, at, REF_ATOMIC, lane, byte, 8, low);
    return old;
}

static uint64_t left_behind(const void *what, uint64_t before, uint64_t b, uint64_t c)
{
    uint64_t value = before;
    (void)ref_atomic_value(what, before, b, c, &value);
    return value;
}

static void ways_of_atomics(struct follow_step *s, uint32_t e, const struct follow_place *places)
{
    struct ref_one_atomic all[LIMIT_WARP];
    const struct ref_atomics atomics = {.shows_found = s->op->results[e].kind != PTX_PLACE_NONE,
                                        .what = instruction_of(s),
                                        .after = left_behind};
    uint32_t count = 0, more = e * s->op->bytes;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l])
            all[count++] = (struct ref_one_atomic){
                places[l].byte, follow_ptx_bytes(s->x->memory, places[l].byte + more, s->op->bytes),
                follow_ptx_source(s, 1 + e, l), follow_ptx_source(s, 2, l)};
    s->f->ways *= ref_ways_of_atomics(all, count, &atomics);
}

static enum rule atomic(struct follow_step *s)
{
    struct follow_place places[LIMIT_WARP];
    bool left[LIMIT_WARP] = {false};
    uint64_t found[PTX_CODE_RESULTS][LIMIT_WARP];
    struct high high[LIMIT_WARP];
    const bool whole = instruction_of(s)->words[PTX_SLOT_TYPE] == PTX_W_B128;
    uint32_t at = s->f->heard_at, count = 0, lane;
    enum rule rule = opcode_of(s) == PTX_OP_RED ? RULE_PTX_RED : RULE_PTX_ATOM;
    if (!follow_ptx_places(s, true, places) || follow_ptx_meets_copy(s, places, true))
        return rule;
    for (uint32_t e = 0; e < s->op->count && s->f->state == FOLLOW_ALONG; e++) {
        if (!whole)
            ways_of_atomics(s, e, places);
        for (uint32_t l = 0; l < s->g->registers->count; l++)
            count += left[l] = s->executes[l];
        for (; count > 0 && s->f->state == FOLLOW_ALONG; count--) {
            if (!who_is_next(s, at, left, &lane))
                return rule;
            left[lane] = false;
            const uint32_t byte = places[lane].byte + e * s->op->bytes;
            found[e][lane] = whole ? whole_lane(s, e, lane, byte, &at, &high[lane])
                                   : atomic_lane(s, e, lane, byte, &at);
        }
    }
    for (uint32_t e = 0; e < s->op->count && s->f->state == FOLLOW_ALONG; e++)
        for (uint32_t l = 0; l < s->g->registers->count; l++)
            if (s->executes[l])
                follow_ptx_set(s, s->g->registers, &s->op->results[e], l, found[e][l]);
    follow_ptx_check_all_heard(s, at);
    return rule;
}

/* One lane's step of an mbarrier. False: it has no rule. */
static bool mbarrier_lane(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t *at)
{
    const struct ptx_place *result = &s->op->results[0];
    struct ref_mbarrier_step x = {.instruction = instruction_of(s),
                                  .before = follow_ptx_bytes(s->x->memory, byte, 8),
                                  .has_operand = s->op->sources[1].kind != PTX_PLACE_NONE,
                                  .operand = follow_ptx_source(s, 1, lane)};
    ref_mbarrier(&x);
    if (x.stuck)
        return false;
    follow_ptx_put_bytes(s->x->memory, byte, 8, x.after);
    if (x.told == REF_MBARRIER_WHOLE)
        follow_ptx_check_heard(s, at, REF_WRITE, lane, byte, 8, x.after);
    else if (x.told != REF_MBARRIER_NOTHING)
        follow_ptx_check_heard(s, at, x.told == REF_MBARRIER_READ ? REF_READ : REF_ATOMIC, lane,
                               byte + 4 * x.phase, 4,
                               x.after / ((uint64_t)1 << 32 * x.phase) % ((uint64_t)1 << 32));
    if (ref_mbarrier_rule(x.instruction) == RULE_MBARRIER_WAIT && !x.result)
        x.result = follow_ptx_settles(s, lane, byte, at);
    follow_ptx_set(s, s->g->registers, result, lane, x.result);
    return true;
}

/* mbarrier.pending_count has no place. */
static enum rule pending_count(struct follow_step *s)
{
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->executes[l])
            follow_ptx_set(s, s->g->registers, &s->op->results[0], l,
                           ref_mbarrier_pending(follow_ptx_source(s, 1, l)));
    return RULE_PTX_DOP;
}

/* Lanes come one after the other. One that finds its object nowhere, or what the ISA says is undefined, is stuck; the
 * machine calls what comes before the object is known an arrival. */
static enum rule mbarrier(struct follow_step *s)
{
    struct follow_place places[LIMIT_WARP];
    uint32_t at = s->f->heard_at;
    enum rule rule = RULE_MBARRIER_ARRIVE;
    if (!follow_ptx_places(s, true, places))
        return rule;
    for (uint32_t l = 0; l < s->g->registers->count && s->f->state == FOLLOW_ALONG; l++) {
        if (!s->executes[l])
            continue;
        bool exists = places[l].space == FOLLOW_SHARED &&
                      ref_mbarrier_is_there(instruction_of(s),
                                            follow_ptx_bytes(s->x->memory, places[l].byte, 8));
        if (exists)
            rule = ref_mbarrier_rule(instruction_of(s));
        if (exists && mbarrier_lane(s, l, places[l].byte, &at))
            continue;
        follow_ptx_fault(s, STATUS_STUCK, l);
        break;
    }
    follow_ptx_check_all_heard(s, at);
    return rule;
}

/* How often a lane has looked at a clock is all that it shows: 1,000 between two looks. */
static enum rule look_at_clock(struct follow_step *s)
{
    bool high = s->op->mode == PTX_SPECIAL_CLOCK_HI || s->op->mode == PTX_SPECIAL_GLOBALTIMER_HI;
    for (uint32_t l = 0; l < s->g->registers->count; l++) {
        if (!s->executes[l])
            continue;
        uint64_t value = (uint64_t)++s->g->registers->lane[l].clocks * 1000;
        follow_ptx_set(s, s->g->registers, &s->op->results[0], l, high ? value >> 32 : value);
    }
    return RULE_PTX_MOV;
}

enum rule follow_ptx_execute(struct follow_step *s)
{
    switch ((int)s->op->exec) {
    case PTX_EXEC_NOP:
        return RULE_PTX_NOP;
    case PTX_EXEC_MEMBAR:
        return RULE_PTX_MEMBAR;
    case PTX_EXEC_ROWS:
        return compute(s);
    case PTX_EXEC_LD:
        return load(s);
    case PTX_EXEC_ST:
        return store(s);
    case PTX_EXEC_ATOM:
        return atomic(s);
    case PTX_EXEC_CLOCK:
        return look_at_clock(s);
    case PTX_EXEC_MMA:
    case PTX_EXEC_MATRIX_LD:
    case PTX_EXEC_MATRIX_ST:
        return follow_ptx_matrix(s);
    case PTX_EXEC_TEXTURE:
    case PTX_EXEC_SUST:
        return follow_ptx_texture(s);
    case PTX_EXEC_MBARRIER:
        return s->op->mode == PTX_W_PENDING_COUNT ? pending_count(s) : mbarrier(s);
    case PTX_EXEC_COPY:
    case PTX_EXEC_COPY_COMMIT:
    case PTX_EXEC_COPY_WAIT:
    case PTX_EXEC_COPY_BULK:
    case PTX_EXEC_COPY_ARRIVE:
        return follow_ptx_copy(s);
    default:
        return together(s);
    }
}
