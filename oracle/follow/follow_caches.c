#include "oracle/follow/follow_caches.h"
#include "oracle/steps/follow_ptx.h"

#include "engine/caches/caches.h"
#include "engine/crs/crs.h"
#include "engine/reference_caches/ref_caches.h"
#include "engine/reference_ptx/ref_ptx.h"

#include <string.h>

enum { WORDS_MAX = 1 << 15, LINES_MAX = 64 };

struct follow_caches {
    struct ref_caches m;
    bool (*waits)[LIMIT_WARP]; /* of a group, by lane: until its operations have ended */
    bool over;                 /* the execution has ended in a fault */
};

static const struct caches *sizes(const struct follower *f)
{
    return caches_of(f->machine);
}

static const struct ptx_op *op_at(const struct follower *f, uint32_t pc)
{
    return &f->program->ptx->ops[pc];
}

static const struct ptx_instruction *instruction_of(const struct ptx_op *op)
{
    return op->statement ? &op->statement->u.instruction : NULL;
}

static const struct ptx_lanes *lanes_of(const struct follower *f, uint32_t actor)
{
    return f->machine->semantics->actors == ACTORS_WARPS ? crs_warp(f->machine, actor).lanes
                                                         : cta_thread(f->machine, actor).lanes;
}

static bool is_access(const struct ptx_op *op)
{
    return op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
}

/* ---- the start ---- */

bool follow_caches_new(struct arena *arena, struct follower *f, const char **why)
{
    const struct caches *c = sizes(f);
    const struct program *program = f->program;
    struct follow_caches *x = f->caches = ARENA_NEW(arena, struct follow_caches);
    struct ref_caches *m = &x->m;
    uint32_t actors = f->machine->actor_count;
    if (program->memory_words > WORDS_MAX || c->lines > LINES_MAX) {
        *why = "the memory, or an L1, is too large to be followed";
        return false;
    }
    *m = (struct ref_caches){.profile = c->options.profile == MEMORY_PRINTED ? REF_PRINTED
                                        : c->options.profile == MEMORY_LLH   ? REF_LLH
                                                                             : REF_COHERENT,
                             .victims = c->options.policy == POLICY_ANY     ? REF_ANY
                                        : c->options.policy == POLICY_FIRST ? REF_FIRST
                                                                            : REF_LOWEST,
                             .line_bytes = 4 * c->words,
                             .ways = c->ways,
                             .sets = c->sets,
                             .sms = c->sms,
                             .memory_bytes = 4 * (int64_t)program->memory_words,
                             .private_bytes = 4 * (int64_t)program->private_base,
                             .operation_capacity = actors * c->slots};
    m->memory = arena_room(arena, (size_t)4 * program->memory_words);
    m->l1 = ARENA_ARRAY(arena, struct ref_l1, c->sms);
    for (uint32_t sm = 0; sm < c->sms; sm++)
        m->l1[sm].lines = ARENA_ARRAY(arena, struct ref_line, c->lines);
    m->operations = ARENA_ARRAY(arena, struct ref_operation, m->operation_capacity);
    m->locked = arena_alloc(arena, program->launch.blocks, sizeof *m->locked);
    x->waits = arena_alloc(arena, actors, sizeof *x->waits);
    return true;
}

void follow_caches_begin(struct follower *f)
{
    struct follow_caches *x = f->caches;
    struct ref_caches *m = &x->m;
    const int32_t *memory = (const int32_t *)f->machine->initial +
                            (f->machine->memory - (const int32_t *)f->machine->block);
    memcpy(m->memory, memory, (size_t)m->memory_bytes);
    for (uint32_t sm = 0; sm < m->sms; sm++)
        m->l1[sm].count = 0;
    m->operation_count = 0;
    memset(m->locked, 0, f->program->launch.blocks * sizeof *m->locked);
    memset(x->waits, 0, f->machine->actor_count * sizeof *x->waits);
    x->over = false;
}

/* ---- what the machine has ---- */

static uint32_t sm_of(const struct follower *f, uint32_t actor)
{
    return (uint32_t)(machine_group_of(f->machine, actor) - f->machine->groups) % sizes(f)->sms;
}

static const struct cache_line *machine_line(const struct follower *f, uint32_t sm, uint32_t i)
{
    const struct caches *c = sizes(f);
    return caches_line(c, caches_l1(c, sm), i);
}

static int64_t address_of(const struct cache_line *cl)
{
    return 4 * (int64_t)(int32_t)(cl->tag - 1);
}

static const struct cache_line *find_machine_line(const struct follower *f, uint32_t sm,
                                                  int64_t line)
{
    for (uint32_t i = 0; i < sizes(f)->lines; i++)
        if (machine_line(f, sm, i)->tag && address_of(machine_line(f, sm, i)) == line)
            return machine_line(f, sm, i);
    return NULL;
}

/* ---- comparing ---- */

static void compare_line(struct follower *f, uint32_t sm, const struct ref_line *cl)
{
    const struct cache_line *has = find_machine_line(f, sm, cl->address);
    uint32_t pins = ref_pins(&f->caches->m, sm, cl);
    if (!has) {
        follow_part(f, "line", "not cached", "cached");
        return;
    }
    if (has->pins != pins)
        follow_part_numbers(f, "pins of a line", has->pins, pins);
    else if ((has->pending != 0) != cl->pending)
        follow_part_numbers(f, "pending line", has->pending, cl->pending);
    else if ((has->first != 0) != cl->evict_first)
        follow_part_numbers(f, "class of a line", has->first, cl->evict_first);
    for (uint32_t b = 0; b < f->caches->m.line_bytes && f->state == FOLLOW_ALONG; b++) {
        uint8_t value = (uint8_t)(has->vals[b / 4] >> 8 * (b % 4));
        if ((has->valid >> b & 1) != cl->bytes[b].valid)
            follow_part_numbers(f, "valid byte of a line", has->valid >> b & 1, cl->bytes[b].valid);
        else if ((has->dirty >> b & 1) != cl->bytes[b].dirty)
            follow_part_numbers(f, "dirty byte of a line", has->dirty >> b & 1, cl->bytes[b].dirty);
        else if (cl->bytes[b].valid && value != cl->bytes[b].value)
            follow_part_numbers(f, "value in a line", value, cl->bytes[b].value);
    }
}

static void compare_l1(struct follower *f, uint32_t sm)
{
    const struct ref_l1 *l1 = &f->caches->m.l1[sm];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizes(f)->lines; i++)
        count += machine_line(f, sm, i)->tag != 0;
    for (uint32_t i = 0; i < l1->count && f->state == FOLLOW_ALONG; i++)
        compare_line(f, sm, &l1->lines[i]);
    if (f->state == FOLLOW_ALONG && count != l1->count)
        follow_part_numbers(f, "lines of an L1", count, l1->count);
}

static void compare_memory(struct follower *f)
{
    const struct ref_caches *m = &f->caches->m;
    const uint8_t *has = (const uint8_t *)f->machine->memory;
    if (f->state != FOLLOW_ALONG || memcmp(has, m->memory, (size_t)m->memory_bytes) == 0)
        return;
    int64_t b = 0;
    while (has[b] == m->memory[b])
        b++;
    follow_part_numbers(f, "memory", has[b], m->memory[b]);
}

/* What a load or an atomic put into the registers of its lanes. */
static void compare_registers(struct follower *f, const struct ref_operation *x)
{
    const struct ptx_op *op = op_at(f, x->place);
    const struct ptx_lanes *lanes = lanes_of(f, x->group);
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        for (uint32_t e = 0; x->lanes[l] && e < x->count && f->state == FOLLOW_ALONG; e++) {
            const struct ptx_place *to = &op->results[e];
            bool is_there;
            uint64_t value = ref_taken(&f->caches->m, x, l, e, &is_there);
            if (!is_there || to->kind != PTX_PLACE_REGISTER)
                continue;
            if (op->exec == PTX_EXEC_LD)
                value = ref_loaded(x->instruction, value, x->bytes, follow_ptx_width(op, e));
            if (to->bits == 32)
                value = (uint32_t)value;
            uint64_t has = ptx_source(f->machine, lanes, to, l);
            if (has != value)
                follow_part_numbers(f, FOLLOW_RESULT, (int64_t)has, (int64_t)value);
        }
}

/* ---- operations, silent rules ---- */

/* The line that gave way: what the machine has no more. */
static void tell_victim(const struct follower *f, struct ref_caches *m,
                        const struct ref_operation *x)
{
    m->has_victim = false;
    for (uint32_t i = 0; i < m->l1[x->sm].count; i++) {
        int64_t line = m->l1[x->sm].lines[i].address;
        if (line != x->line && !find_machine_line(f, x->sm, line)) {
            m->has_victim = true;
            m->victim = line;
        }
    }
}

static void renew_waits(struct follow_caches *x, uint32_t group)
{
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        x->waits[group][l] =
            x->waits[group][l] && ref_any_under_way(&x->m, group, (lane_mask)1 << l);
}

static void follow_operation(struct follower *f, const struct step_event *event, uint32_t group,
                             uint32_t place)
{
    struct ref_caches *m = &f->caches->m;
    uint32_t o = ref_operation_at(m, group, place);
    if (o == m->operation_count) {
        follow_part(f, "operation", "under way", "none");
        return;
    }
    tell_victim(f, m, &m->operations[o]);
    ref_micro_step(m, o);
    f->reference_rule = m->ended ? RULE_MEM_END : RULE_MEM_STEP;
    if (m->wrong)
        follow_part(f, m->wrong, "some", "none");
    else if (event->rule != f->reference_rule)
        follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->reference_rule].name);
    if (f->state == FOLLOW_ALONG && m->wrote_registers)
        compare_registers(f, &m->operations[o]);
    uint32_t sm = m->operations[o].sm;
    if (m->ended)
        ref_remove_operation(m, o);
    if (f->state == FOLLOW_ALONG)
        compare_l1(f, sm);
    renew_waits(f->caches, group);
}

/* A line that the machine has otherwise than the reference, which is to be the only one. */
static bool changed_line(const struct follower *f, uint32_t sm, int64_t *line)
{
    const struct ref_l1 *l1 = &f->caches->m.l1[sm];
    for (uint32_t i = 0; i < l1->count; i++) {
        const struct cache_line *has = find_machine_line(f, sm, l1->lines[i].address);
        *line = l1->lines[i].address;
        if (!has || (!has->dirty && ref_is_dirty(&f->caches->m, &l1->lines[i])))
            return true;
    }
    return false;
}

static void follow_silent(struct follower *f, const struct step_event *event, uint32_t sm)
{
    struct ref_caches *m = &f->caches->m;
    int64_t line;
    bool applies = false;
    if (event->rule == RULE_MEM_FLUSH)
        applies = ref_flush(m, sm);
    else if (changed_line(f, sm, &line))
        applies =
            event->rule == RULE_MEM_EVICT ? ref_evict(m, sm, line) : ref_write_back(m, sm, line);
    f->reference_rule = applies ? event->rule : RULE_NONE;
    if (!applies)
        follow_part(f, "silent rule", rule_table[event->rule].name, "none");
    else
        compare_l1(f, sm);
}

/* ---- who could have stepped ---- */

static bool is_offered(const struct follower *f, uint32_t number)
{
    for (uint32_t i = 0; i < f->machine->head->live_count; i++)
        if (f->machine->head->live[i] == number)
            return true;
    return false;
}

static void compare_offer(struct follower *f, uint32_t number, bool wanted, const char *what)
{
    bool offered = is_offered(f, number);
    if (f->state != FOLLOW_ALONG || offered == wanted)
        return;
    f->lost = wanted;
    follow_part(f, what, offered ? "can step" : "waits", wanted ? "can step" : "waits");
}

/* Among those of its warp or thread. */
static uint32_t place_of_operation(const struct ref_caches *m, uint32_t operation)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < operation; i++)
        place += m->operations[i].group == m->operations[operation].group;
    return place;
}

/* What is said of all that is under way behind a step. */
static void compare_said(struct follower *f)
{
    const struct ref_caches *m = &f->caches->m;
    for (uint32_t o = 0; o < m->operation_count && f->state == FOLLOW_ALONG; o++) {
        const struct ref_operation *x = &m->operations[o];
        const char *says = caches_next_of(f->machine, x->group, place_of_operation(m, o));
        if (strcmp(says, ref_says_next(m, o)) != 0)
            follow_part(f, "what an operation does next", says, ref_says_next(m, o));
        else if (!caches_under_way(f->machine, x->group, x->place))
            follow_part(f, "under way", "no", "yes");
    }
}

/* Operations and L1s, before this step: who is live is made anew behind it. */
static void compare_offers(struct follower *f)
{
    const struct caches *c = sizes(f);
    const struct ref_caches *m = &f->caches->m;
    uint32_t actors = f->machine->actor_count;
    for (uint32_t o = 0; o < m->operation_count; o++)
        compare_offer(f, actors + m->operations[o].group * c->slots + place_of_operation(m, o),
                      ref_may_step(m, o), "operation");
    for (uint32_t sm = 0; sm < m->sms; sm++)
        compare_offer(f, actors + actors * c->slots + sm, ref_is_silent(m, sm), "L1");
}

/* ---- what a warp or thread issues ---- */

static bool same_register(const struct ptx_place *a, const struct ptx_place *b)
{
    return a->kind == PTX_PLACE_REGISTER && b->kind == PTX_PLACE_REGISTER && a->bits == b->bits &&
           a->offset == b->offset;
}

static const struct ptx_place *place_of(const struct ptx_op *op, uint32_t i)
{
    if (i < PTX_CODE_RESULTS)
        return &op->results[i];
    return i < PTX_CODE_RESULTS + PTX_CODE_SOURCES ? &op->sources[i - PTX_CODE_RESULTS]
                                                   : &op->guard;
}

/* MO.block: a register of an operation under way, which lanes of this instruction name. */
static bool is_blocked(const struct follower *f, uint32_t group, const struct ptx_op *op,
                       lane_mask lanes)
{
    enum { PLACES = PTX_CODE_RESULTS + PTX_CODE_SOURCES };
    const struct ref_caches *m = &f->caches->m;
    for (uint32_t o = 0; o < m->operation_count; o++) {
        const struct ref_operation *x = &m->operations[o];
        bool ours = false;
        for (uint32_t l = 0; l < LIMIT_WARP && x->group == group; l++)
            ours |= x->lanes[l] && lanes >> l & 1;
        for (uint32_t i = 0; ours && i < PLACES; i++)
            for (uint32_t k = 0; k <= PLACES; k++)
                if (same_register(place_of(op_at(f, x->place), i), place_of(op, k)))
                    return true;
    }
    return false;
}

/* Why the instruction could not be issued, or NULL. */
static const char *why_not(const struct follower *f, const struct step_event *event,
                           lane_mask active)
{
    const struct ptx_op *op = op_at(f, event->stm);
    const struct ptx_instruction *i = instruction_of(op);
    uint32_t group = event->actor;
    bool everybody =
        op->exec == PTX_EXEC_CALL || op->exec == PTX_EXEC_RET || op->exec == PTX_EXEC_BAR_WARP;
    bool barrier = op->exec >= PTX_EXEC_BAR_SYNC && op->exec <= PTX_EXEC_BAR_RED;
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        if (active >> l & 1 && f->caches->waits[group][l])
            return "fence";
    if (is_blocked(f, group, op, active))
        return "blocked register";
    if (op->exec == PTX_EXEC_MEMBAR && ref_any_under_way(&f->caches->m, group, event->truth))
        return "membar";
    if ((everybody || (barrier && f->caches->m.profile == REF_COHERENT)) &&
        ref_any_under_way(&f->caches->m, group, ~(lane_mask)0))
        return "barrier, call or return";
    if (is_access(op) && ref_releases(i) && ref_any_under_way(&f->caches->m, group, event->truth))
        return "release";
    return NULL;
}

/* ---- who could have issued ---- */

/* It keeps the order on words, and there is room for an operation of each element of each lane. */
static bool can_access(const struct follower *f, uint32_t group, uint32_t pc, lane_mask X)
{
    const struct ptx_op *op = op_at(f, pc);
    const uint32_t *byte;
    X = ptx_places_now((struct machine *)(uintptr_t)f->machine,
                       (struct ptx_lanes *)(uintptr_t)lanes_of(f, group), pc, X, &byte);
    uint32_t most = (uint32_t)__builtin_popcountll(X) * op->count;
    return !ref_releases(instruction_of(op)) &&
           ref_keeps_order(&f->caches->m, group, op->exec == PTX_EXEC_LD,
                           (uint32_t)op->bytes * op->count, X, byte) &&
           sizes(f)->in_flight[group] + most <= sizes(f)->slots;
}

/* One warp or thread, another one each time, that would go on with a sequentially consistent memory: whether it is said
 * to wait, and nothing keeps it back. */
static void compare_ready(struct follower *f, uint32_t stepping)
{
    const struct caches *c = sizes(f);
    struct machine *machine = (struct machine *)(uintptr_t)f->machine;
    const uint32_t group = (uint32_t)(f->steps % machine->actor_count);
    const uint32_t pc = machine->semantics->next_stm(machine, group);
    uint32_t at = 0;
    while (at < c->live[0] && c->live[1 + at] != group)
        at++;
    if (at == c->live[0] || group == stepping || pc == CODE_NONE || c->ready[group] ||
        c->options.inval || machine->semantics->has_pcs)
        return;
    const struct ptx_op *op = op_at(f, pc);
    lane_mask active =
        machine->semantics->actors == ACTORS_WARPS ? crs_warp(machine, group).state->active : 1;
    const struct step_event next = {
        .actor = group,
        .stm = pc,
        .truth = ptx_guard(machine, (struct ptx_lanes *)(uintptr_t)lanes_of(f, group), pc, active)};
    if (!op->statement || why_not(f, &next, active) ||
        (is_access(op) && !can_access(f, group, pc, next.truth)))
        return;
    f->lost = true;
    follow_part(f, "warp", "waits", "can issue");
}

void follow_caches_environment(struct follower *f, const struct step_event *event)
{
    const struct caches *c = sizes(f);
    uint32_t group, place;
    compare_offers(f);
    if (f->state == FOLLOW_ALONG && caches_is_operation(f->machine, event->actor, &group, &place))
        compare_ready(f, group);
    if (f->state != FOLLOW_ALONG)
        return;
    if (caches_is_operation(f->machine, event->actor, &group, &place))
        follow_operation(f, event, group, place);
    else
        follow_silent(f, event,
                      event->actor - f->machine->actor_count - f->machine->actor_count * c->slots);
    compare_memory(f);
    compare_said(f);
}

static enum ast_space space_of(const struct follower *f, int64_t byte)
{
    if (byte < 4 * (int64_t)f->program->shared_base)
        return SPACE_GLOBAL;
    return byte < f->caches->m.private_bytes ? SPACE_SHARED : SPACE_LOCAL;
}

/* The operation as the machine has made it: lanes, bytes, line; the values are those that its registers have now. */
static struct ref_operation operation_of(const struct follower *f, uint32_t actor,
                                         const struct memory_slot *slot)
{
    const struct caches *c = sizes(f);
    const struct ptx_op *op = op_at(f, slot->pc);
    const struct ptx_lanes *lanes = lanes_of(f, actor);
    struct ref_operation x = {
        .instruction = instruction_of(op),
        .group = actor,
        .block = (uint32_t)(machine_group_of(f->machine, actor) - f->machine->groups),
        .sm = sm_of(f, actor),
        .place = slot->pc,
        .line = 4 * (int64_t)(int32_t)slot->line,
        .bytes = op->bytes,
        .count = op->count};
    const int8_t *offsets = (const int8_t *)(slot->value + c->words);
    for (uint32_t l = 0; l < c->lanes; l++) {
        x.lanes[l] = slot->lanes >> l & 1;
        x.writes[l] = slot->writers >> l & 1;
        x.byte[l] = x.line + offsets[l];
        for (uint32_t k = 0; x.writes[l] && k < REF_VALUES; k++)
            if (op->sources[1 + k].kind != PTX_PLACE_NONE)
                x.values[l][k] = ptx_source(f->machine, lanes, &op->sources[1 + k], l);
    }
    return x;
}

static void issue_one(struct follower *f, uint32_t actor, const struct memory_slot *slot,
                      uint32_t before)
{
    struct ref_caches *m = &f->caches->m;
    const struct ref_operation x = operation_of(f, actor, slot);
    uint32_t first = 0, own = m->operation_count;
    while (!(slot->lanes >> first & 1))
        first++;
    enum ast_space space = space_of(f, x.byte[first] > x.line ? x.byte[first] : x.line);
    const char *name = ref_program_name(m, x.instruction, space);
    bool stores = op_at(f, slot->pc)->exec != PTX_EXEC_LD;
    m->operation_count = before; /* MO.poloc: of what was under way before this instruction */
    bool in_order = ref_in_order(m, &x);
    m->operation_count = own;
    if (strcmp(memory_program_names[slot->program], name) != 0)
        follow_part(f, "memory program", memory_program_names[slot->program], name);
    else if ((slot->ordered != 0) != ref_is_ordered(x.instruction))
        follow_part_numbers(f, "volatile operation", slot->ordered, !slot->ordered);
    else if (stores && !ref_one_writes(m, &x))
        follow_part(f, "lanes that write", "others", "one for each byte");
    else if (!in_order)
        follow_part(f, "order on a word", "is issued", "waits");
    else
        ref_issue(m, &x, space);
}

/* Each lane's bytes are in operations, each of them once. */
static void compare_parts(struct follower *f, const struct step_event *event, uint32_t before)
{
    const struct ref_caches *m = &f->caches->m;
    const struct ptx_op *op = op_at(f, event->stm);
    bool must = op->space == PTX_W_GLOBAL || op->space == PTX_W_SHARED || op->space == PTX_W_LOCAL;
    for (uint32_t l = 0; l < LIMIT_WARP && is_access(op) && must; l++) {
        uint32_t bytes = 0, wanted = event->truth >> l & 1 ? (uint32_t)op->bytes * op->count : 0;
        for (uint32_t o = before; o < m->operation_count; o++)
            for (uint32_t b = 0; b < m->line_bytes && m->operations[o].lanes[l]; b++) {
                int64_t at = m->operations[o].line + b - m->operations[o].byte[l];
                bytes += at >= 0 && at < (int64_t)op->bytes * op->count;
            }
        if (bytes != wanted) {
            follow_part_numbers(f, "bytes of a lane's operations", bytes, wanted);
            return;
        }
    }
    const struct ref_telling telling = {op->exec == PTX_EXEC_LD   ? REF_READ
                                        : op->exec == PTX_EXEC_ST ? REF_WRITE
                                                                  : REF_ATOMIC,
                                        f->heard, f->heard_count, f->program->units,
                                        lanes_of(f, event->actor)->first_thread};
    if (is_access(op) && !ref_are_told(m, before, &telling))
        follow_part(f, "access", "told otherwise",
                    "each element of each lane, the last that stays");
}

static void issue(struct follower *f, const struct step_event *event)
{
    const struct caches *c = sizes(f);
    struct follow_caches *x = f->caches;
    uint32_t before = x->m.operation_count, own = 0;
    for (uint32_t o = 0; o < before; o++)
        own += x->m.operations[o].group == event->actor;
    for (uint32_t i = own; i < c->in_flight[event->actor] && f->state == FOLLOW_ALONG; i++)
        issue_one(f, event->actor, caches_slot(c, event->actor, i), before);
    if (f->state == FOLLOW_ALONG && !f->machine->semantics->has_pcs)
        compare_parts(f, event, before);
    for (uint32_t o = before; o < x->m.operation_count; o++)
        for (uint32_t l = 0; l < LIMIT_WARP; l++)
            x->waits[event->actor][l] |=
                x->m.operations[o].lanes[l] && ref_acquires(x->m.operations[o].instruction);
}

/* Behind bar.sync and bar.red a warp waits for what it had under way (as printed: ERR.77). */
static void wait_behind(struct follower *f, const struct step_event *event, lane_mask active)
{
    const struct ptx_op *op = op_at(f, event->stm);
    if (op->exec != PTX_EXEC_BAR_SYNC && op->exec != PTX_EXEC_BAR_RED)
        return;
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        f->caches->waits[event->actor][l] |= active >> l & 1;
    renew_waits(f->caches, event->actor);
}

/* call, ret: frames are pushed and dropped in memory itself, local lines go before. */
static void trust(struct follower *f, uint32_t sm)
{
    const struct caches *c = sizes(f);
    struct ref_caches *m = &f->caches->m;
    f->trusted++;
    memcpy(m->memory, f->machine->memory, (size_t)m->memory_bytes);
    for (uint32_t i = m->l1[sm].count; i-- > 0;)
        if (!find_machine_line(f, sm, m->l1[sm].lines[i].address))
            m->l1[sm].lines[i] = m->l1[sm].lines[--m->l1[sm].count];
    for (uint32_t i = 0; i < c->lines; i++)
        for (uint32_t b = 0; b < m->line_bytes && machine_line(f, sm, i)->tag; b++) {
            struct ref_line *cl = ref_line_at(m, sm, address_of(machine_line(f, sm, i)));
            if (cl)
                cl->bytes[b].dirty = machine_line(f, sm, i)->dirty >> b & 1;
        }
}

void follow_caches_step(struct follower *f, const struct step_event *event)
{
    const struct machine *machine = f->machine;
    lane_mask active = machine->semantics->actors == ACTORS_WARPS ? event->active : 1;
    if (f->caches->over || event->actor >= machine->actor_count || event->stm == CODE_NONE ||
        event->rule == machine->semantics->barrier_rule)
        return;
    const struct ptx_op *op = op_at(f, event->stm);
    if (machine_status(machine) > STATUS_TERMINATED) { /* a fault: nothing was issued */
        f->caches->over = true;
        return;
    }
    const char *why = machine->semantics->has_pcs ? NULL : why_not(f, event, active);
    if (why) {
        follow_part_early(f, why);
        return;
    }
    issue(f, event);
    wait_behind(f, event, active);
    if (op->exec == PTX_EXEC_CALL || op->exec == PTX_EXEC_RET)
        trust(f, sm_of(f, event->actor));
    if (f->state == FOLLOW_ALONG)
        compare_l1(f, sm_of(f, event->actor));
    compare_memory(f);
    compare_said(f);
}

void follow_caches_end(struct follower *f, enum status status)
{
    if (f->state == FOLLOW_ALONG && status == STATUS_TERMINATED && f->caches->m.operation_count)
        follow_part_numbers(f, "operations at the end", 0, f->caches->m.operation_count);
}
