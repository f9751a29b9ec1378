#include "fuzz/trace/trace_private.h"

#include "engine/caches/caches.h"
#include "engine/convergence/convergence.h"
#include "engine/crs/crs.h"

#include <inttypes.h>
#include <string.h>

enum { LANES_SHOWN = 8 };

void trace_private_start(struct trace_private *p, struct arena *arena,
                         const struct machine *machine)
{
    const struct program *program = machine->program;
    *p = (struct trace_private){.machine = machine};
    if (program->form == FORM_PTX)
        return;
    p->before = ARENA_ARRAY(arena, int32_t, program->memory_words);
    memcpy(p->before, machine->memory, program->memory_words * sizeof *p->before);
}

static struct trace_place *add_place(struct trace_private *p, const char *name)
{
    if (p->count == TRACE_PRIVATE_MAX)
        return NULL;
    struct trace_place *place = &p->places[p->count++];
    *place = (struct trace_place){.name = name};
    return place;
}

/* ---- variables ---- */

struct target {
    const struct code_place *place;
    const struct ast_var *var;
};

/* The private or local variable that the statement writes. False: it writes none. */
static bool find_target(const struct program *program, const struct step_event *event,
                        struct target *target)
{
    if (event->stm == CODE_NONE || event->rule == RULE_THR_ASSIGN_RD)
        return false;
    const struct code_stm *stm = &program->stms[event->stm];
    bool havocs = stm->kind == CODE_HAVOC,
         returns = stm->kind == CODE_ATOMIC || stm->kind == CODE_VOTE;
    if (!stm->source || (stm->kind != CODE_ASSIGN && stm->kind != CODE_PICK && !havocs && !returns))
        return false;
    target->place = returns ? &stm->target : &stm->place;
    target->var = havocs ? stm->source->place.var : stm->source->target.var;
    return target->var && target->place->length > 0 && target->place->space > SPACE_SHARED;
}

static uint32_t address_of(const struct machine *machine, uint32_t thread,
                           const struct code_place *place)
{
    return machine->threads[thread].base[place->space] + place->offset;
}

/* Element k of the variable in the threads that executed the step; of an array, if it changed in one of them. */
static void see_element(struct trace_private *p, const struct trace_text *text,
                        const struct target *target, uint32_t k, uint32_t first, lane_mask lanes)
{
    lane_mask changed = 0;
    for (lane_mask rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        uint32_t at = address_of(p->machine, first + lane, target->place) + k;
        changed |= (lane_mask)(p->before[at] != p->machine->memory[at]) << lane;
    }
    lane_mask executed = lanes;
    if (target->var->is_array)
        lanes = changed;
    const char *name = target->var->name;
    if (target->var->is_array)
        name = arena_printf(text->arena, "%s[%" PRIu32 "]", name, k);
    struct trace_place *place = lanes ? add_place(p, name) : NULL;
    if (!place)
        return;
    place->executed = executed;
    place->lanes = lanes;
    for (lane_mask rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        uint32_t at = address_of(p->machine, first + lane, target->place) + k;
        place->values[lane] = (uint64_t)p->machine->memory[at];
    }
}

/* Who executed the step: the number in the grid of lane 0, and lanes from there on. */
static uint32_t lanes_of(const struct trace_private *p, const struct trace_text *text,
                         const struct step_event *event, lane_mask *lanes)
{
    *lanes = event->active;
    if (text->view == TRACE_WARPS)
        return simt_state(p->machine, event->actor).first_thread;
    if (p->machine->semantics->stack_of)
        return convergence_split(p->machine, event->actor).first_thread;
    *lanes = 1;
    return event->actor;
}

static void see_variable(struct trace_private *p, const struct trace_text *text,
                         const struct step_event *event)
{
    struct target target;
    if (find_target(p->machine->program, event, &target)) {
        lane_mask lanes;
        uint32_t first = lanes_of(p, text, event, &lanes);
        for (uint32_t k = 0; k < target.place->length; k++)
            see_element(p, text, &target, k, first, lanes);
    }
    const struct program *program = p->machine->program;
    uint32_t from = program->private_base;
    memcpy(p->before + from, p->machine->memory + from,
           (program->memory_words - from) * sizeof *p->before);
}

/* ---- registers ---- */

/* Names of the registers that the instruction writes, in order. */
static const char *register_name(const struct ptx_op *op, uint32_t i)
{
    const struct ptx_operand *operand = op->statement->u.instruction.operands;
    if (!operand)
        return NULL;
    const struct ptx_operand *at = operand->items ? operand->items : operand;
    for (; at && operand->items && i > 0; i--)
        at = at->next;
    return at && i == 0 && at->kind == PTX_OPERAND_NAME ? at->name : NULL;
}

static bool names_float(const struct ptx_op *op)
{
    const uint8_t *words = op->statement->u.instruction.words;
    for (uint32_t slot = 0; slot < PTX_SLOT_COUNT; slot++)
        if (words[slot] == PTX_W_F32 || words[slot] == PTX_W_F64)
            return op->opcode != PTX_OP_SETP;
    return false;
}

/* Over caches an operation writes registers, when it ends. Lanes for which it is done, and whose they are. */
static lane_mask done_lanes(const struct trace_private *p, const struct step_event *event,
                            uint32_t *actor)
{
    uint32_t place;
    *actor = event->actor;
    if (!p->machine->semantics->environment)
        return event->truth;
    if (event->actor < p->machine->actor_count)
        return caches_under_way(p->machine, event->actor, event->stm) ? 0 : event->truth;
    bool ends =
        event->rule == RULE_MEM_END && caches_is_operation(p->machine, event->actor, actor, &place);
    return ends ? event->active : 0;
}

static void see_registers(struct trace_private *p, const struct trace_text *text,
                          const struct step_event *event)
{
    const struct ptx_code *code = p->machine->program->ptx;
    uint32_t actor;
    if (event->stm == CODE_NONE || event->stm == 0 || event->stm >= code->count)
        return;
    lane_mask done = done_lanes(p, event, &actor);
    if (!done)
        return;
    const struct ptx_op *op = &code->ops[event->stm];
    const struct ptx_lanes *lanes = text->view == TRACE_CTA ? cta_thread(p->machine, actor).lanes
                                                            : crs_warp(p->machine, actor).lanes;
    for (uint32_t i = 0; op->statement && i < op->result_count; i++) {
        const char *name = op->results[i].kind == PTX_PLACE_NONE ? NULL : register_name(op, i);
        struct trace_place *place = name ? add_place(p, name) : NULL;
        if (!place)
            continue;
        place->executed = place->lanes = done;
        place->is_wide = op->results[i].bits == 64;
        place->is_float = names_float(op);
        for (lane_mask rest = done; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctzll(rest);
            place->values[lane] = ptx_source(p->machine, lanes, &op->results[i], lane);
        }
    }
}

void trace_private_see(struct trace_private *p, const struct trace_text *text,
                       const struct step_event *event)
{
    p->count = 0;
    if (text->view == TRACE_VECTORS || machine_status(p->machine) == STATUS_STUCK)
        return;
    if (trace_is_ptx(text->view))
        see_registers(p, text, event);
    else
        see_variable(p, text, event);
}

/* ---- text ---- */

static const char *value_text(const struct trace_place *place, uint32_t lane, struct arena *arena)
{
    uint64_t value = place->values[lane];
    if (place->is_float && place->is_wide) {
        double d;
        memcpy(&d, &value, sizeof d);
        return arena_printf(arena, "%g", d);
    }
    if (place->is_float) {
        float f;
        uint32_t bits = (uint32_t)value;
        memcpy(&f, &bits, sizeof f);
        return arena_printf(arena, "%g", (double)f);
    }
    if (!place->is_wide)
        return arena_printf(arena, "%" PRId32, (int32_t)value);
    return value >> 32 ? arena_printf(arena, "0x%" PRIx64, value)
                       : arena_printf(arena, "%" PRIu64, value);
}

static bool all_equal(const struct trace_place *place)
{
    uint64_t first = place->values[__builtin_ctzll(place->lanes)];
    for (lane_mask rest = place->lanes; rest; rest &= rest - 1)
        if (place->values[__builtin_ctzll(rest)] != first)
            return false;
    return true;
}

static const char *place_text(const struct trace_place *place, struct arena *arena)
{
    uint32_t last = 63 - (uint32_t)__builtin_clzll(place->executed);
    if (place->lanes == place->executed && all_equal(place))
        return arena_printf(arena, "%s = %s", place->name,
                            value_text(place, (uint32_t)__builtin_ctzll(place->lanes), arena));
    const char *list = "";
    for (uint32_t lane = 0; lane <= last; lane++) {
        bool is_last = lane == last, cut = lane + 1 >= LANES_SHOWN && !is_last;
        const char *value = place->lanes >> lane & 1 ? value_text(place, lane, arena) : "-";
        list = arena_printf(arena, "%s%s%s", list, lane ? ", " : "", cut ? "..." : value);
        if (cut)
            lane = last - 1;
    }
    return arena_printf(arena, "%s = <%s>", place->name, list);
}

const char *trace_private_text(const struct trace_private *p, struct arena *arena)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < p->count; i++)
        text = arena_printf(arena, "%s%s%s", text ? text : "", text ? ", " : "",
                            place_text(&p->places[i], arena));
    return text;
}

void trace_private_json(const struct trace_private *p, struct json *json)
{
    json_array_begin(json);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct trace_place *place = &p->places[i];
        uint32_t last = 63 - (uint32_t)__builtin_clzll(place->lanes);
        json_array_begin(json);
        json_string(json, place->name);
        json_array_begin(json);
        for (uint32_t lane = 0; lane <= last; lane++)
            if (!(place->lanes >> lane & 1))
                json_null(json);
            else if (place->is_wide)
                json_u64(json, place->values[lane]);
            else
                json_int(json, (int32_t)place->values[lane]);
        json_array_end(json);
        json_array_end(json);
    }
    json_array_end(json);
}
