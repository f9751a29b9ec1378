/*
 * ptx_frames.c - κ: the frames of lanes, and where lanes go.
 *
 * A frame has a function's registers and its variables in local memory. Frames that are dropped are
 * cleared, so that a new frame is 0 and equal states have equal bytes.
 */
#include "engine/lanes/ptx_exec_internal.h"

/* ---- targets ---- */

/*  THR.bra, THR.call      pc_i = E[[e]] of theta_i, for all theta_i in X
 *
 *  brx.idx: the E[[e]]th of its targets; ⊥ if there are not so many.
 */
bool ptx_targets(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                 lane_mask executing, uint32_t targets[64])
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    for (lane_mask rest = executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (op->target) {
            targets[lane] = op->target;
            continue;
        }
        uint64_t value = ptx_source(machine, lanes, &op->sources[0], lane);
        if (op->opcode != PTX_OP_BRX) {
            targets[lane] = value < code->count ? (uint32_t)value : 0;
            continue;
        }
        value &= UINT32_MAX;
        if (value >= op->table_count) {
            ptx_stuck(machine, lanes->first_thread + lane, pc,
                      "the index of brx.idx is not below the number of its targets");
            return false;
        }
        targets[lane] = code->table[op->table + value];
    }
    return true;
}

/* ---- parameters and results ---- */

static uint32_t local_byte(const struct machine *machine, const struct ptx_lanes *lanes,
                           uint32_t lane)
{
    return 4 * machine->threads[lanes->first_thread + lane].base[SPACE_LOCAL];
}

static uint32_t get_byte(const struct machine *machine, uint32_t byte)
{
    return (uint32_t)machine->memory[byte / 4] >> 8 * (byte & 3) & 0xff;
}

static void put_byte(struct machine *machine, uint32_t byte, uint32_t value)
{
    uint32_t *word = (uint32_t *)&machine->memory[byte / 4], shift = 8 * (byte & 3);
    put(machine, word, (*word & ~(0xffu << shift)) | value << shift);
}

/* One end of a copy: a register of the frame, or bytes of its memory. */
struct end {
    const struct ptx_place *place;
    uint32_t byte; /* of machine->memory */
    const struct ptx_lane *frame;
};

static uint64_t get_value(const struct machine *machine, const struct ptx_lanes *lanes,
                          const struct end *end, uint32_t lane)
{
    if (end->place->kind == PTX_PLACE_FRAME)
        return end->frame->byte + end->place->offset;
    if (end->place->kind != PTX_PLACE_REGISTER)
        return ptx_source(machine, lanes, end->place, lane); /* the same in all frames */
    return ptx_element(ptx_look(machine->program->ptx, lanes, &end->frame->rows, end->place),
                       end->place->bits, lane);
}

static void copy_value(struct machine *machine, struct ptx_lanes *lanes, uint32_t lane,
                       const struct end *to, const struct end *from, uint32_t bytes)
{
    if (to->place->kind == PTX_PLACE_NONE && from->place->kind == PTX_PLACE_NONE) {
        for (uint32_t i = 0; i < bytes; i++)
            put_byte(machine, to->byte + i, get_byte(machine, from->byte + i));
        return;
    }
    uint64_t value = 0;
    if (from->place->kind == PTX_PLACE_NONE)
        for (uint32_t i = 0; i < bytes; i++)
            value |= (uint64_t)get_byte(machine, from->byte + i) << 8 * i;
    else
        value = get_value(machine, lanes, from, lane);
    const struct ptx_file file = ptx_file(machine->program->ptx, lanes);
    if (to->place->kind == PTX_PLACE_NONE)
        for (uint32_t i = 0; i < bytes; i++)
            put_byte(machine, to->byte + i, (uint32_t)(value >> 8 * i) & 0xff);
    else
        ptx_put_element(machine, ptx_register(&file, &to->frame->rows, to->place), to->place->bits,
                        lane, value);
}

/* Parameters go from the caller's frame to the callee's, results back. */
static void copy_all(struct machine *machine, struct ptx_lanes *lanes, uint32_t lane,
                     const struct ptx_lane *caller, const struct ptx_lane *callee,
                     const struct ptx_op *op, bool back)
{
    const struct ptx_copy *copy = machine->program->ptx->copies + (back ? op->back : op->copy);
    uint32_t local = local_byte(machine, lanes, lane);
    for (uint32_t i = 0; i < (back ? op->back_count : op->copy_count); i++, copy++) {
        const struct end outer = {&copy->caller, local + caller->byte + copy->caller_byte, caller};
        const struct end inner = {&copy->callee, local + callee->byte + copy->callee_byte, callee};
        copy_value(machine, lanes, lane, back ? &outer : &inner, back ? &inner : &outer,
                   copy->bytes);
    }
}

/* ---- frames ---- */

static void set_frame(struct machine *machine, struct ptx_lane *at, const struct ptx_lane *frame)
{
    put(machine, &at->rows.narrow, frame->rows.narrow);
    put(machine, &at->rows.wide, frame->rows.wide);
    put(machine, &at->byte, frame->byte);
    put(machine, &at->depth, frame->depth);
    put(machine, &at->function, frame->function);
}

static void set_uniform(struct machine *machine, struct ptx_lanes *lanes)
{
    bool uniform = true;
    for (uint32_t lane = 1; lane < lanes->count && uniform; lane++)
        uniform = memcmp(&lanes->lane[lane], &lanes->lane[0], PTX_FRAME_BYTES) == 0;
    put(machine, &lanes->uniform, uniform);
}

static void clear_frame(struct machine *machine, struct ptx_lanes *lanes, uint32_t lane)
{
    const struct ptx_file file = ptx_file(machine->program->ptx, lanes);
    const struct ptx_lane *top = &lanes->lane[lane];
    const struct ptx_code_function *function = &machine->program->ptx->functions[top->function];
    uint64_t *wide = file.wide + top->rows.wide * file.count + lane;
    uint32_t *narrow = file.narrow + top->rows.narrow * file.count + lane;
    for (uint32_t i = 0; i < function->rows.wide; i++)
        put_mask(machine, wide + i * file.count, 0);
    for (uint32_t i = 0; i < function->rows.narrow; i++)
        put(machine, narrow + i * file.count, 0);
    uint32_t word = (local_byte(machine, lanes, lane) + top->byte) / 4;
    for (uint32_t i = 0; i < function->frame_bytes / 4; i++)
        put_memory(machine, word + i, 0);
}

/* ---- call ---- */

/* The function that starts at an address; NULL: none does. */
static const struct ptx_code_function *function_at(const struct ptx_code *code, uint32_t target)
{
    for (uint32_t i = 0; i < code->function_count; i++)
        if (code->functions[i].entry == target)
            return &code->functions[i];
    return NULL;
}

/* The frame above `below`; of no function, one that shares its registers and memory. False: there is no
 * room. */
static bool frame_above(const struct ptx_code *code, const struct ptx_lane *below,
                        const struct ptx_code_function *callee, struct ptx_lane *frame)
{
    *frame = *below;
    if (++frame->depth >= code->depth)
        return false;
    if (!callee)
        return true;
    const struct ptx_code_function *caller = &code->functions[below->function];
    frame->function = (uint32_t)(callee - code->functions);
    frame->rows.narrow += caller->rows.narrow;
    frame->rows.wide += caller->rows.wide;
    frame->byte += caller->frame_bytes;
    return frame->rows.narrow + callee->rows.narrow <= code->rows.narrow &&
           frame->rows.wide + callee->rows.wide <= code->rows.wide &&
           frame->byte - code->frame_local_base + callee->frame_bytes <= code->frame_bytes;
}

/*  THR.call    t = E[[e]], phi.LocalEnv(t) != ⊥
 *      <theta, kappa | call e>  ->  theta, LocalEnv(t) :: kappa
 *
 *  What call site a frame returns to is remembered for its results.
 */
bool ptx_call(struct machine *machine, struct ptx_lanes *lanes, uint32_t pc, lane_mask set,
              uint32_t target)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    const struct ptx_code_function *callee = function_at(code, target);
    uint32_t first = lanes->first_thread + lowest_lane(set);
    if (!callee && !(code->kernel->raw && target > 0 && target < code->count)) {
        ptx_stuck(machine, first, pc, "no function starts at the target of the call");
        return false;
    }
    if (callee && op->signature && op->signature != callee->signature) {
        ptx_stuck(machine, first, pc, "the function called takes or returns something else");
        return false;
    }
    for (lane_mask rest = set; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        struct ptx_lane frame;
        if (!frame_above(code, &lanes->lane[lane], callee, &frame)) {
            machine->fault_text = "more calls of a lane than the limit";
            machine_fault(machine, STATUS_CALL_DEPTH, lanes->first_thread + lane, pc);
            return false;
        }
    }
    for (lane_mask rest = set; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        struct ptx_lane caller = lanes->lane[lane], frame;
        frame_above(code, &caller, callee, &frame);
        set_frame(machine, &lanes->lane[lane], &frame);
        put(machine, ptx_site_of(lanes, frame.depth, lane), callee ? pc : pc | PTX_SITE_SHARES);
        if (callee)
            copy_all(machine, lanes, lane, &caller, &frame, op, false);
    }
    set_uniform(machine, lanes);
    return true;
}

bool ptx_same_calls(const struct ptx_lanes *lanes, const struct ptx_lanes *other)
{
    if (lanes->lane[0].depth != other->lane[0].depth)
        return false;
    for (uint32_t depth = lanes->lane[0].depth; depth > 0; depth--)
        if (*ptx_site(lanes, depth, 0) != *ptx_site(other, depth, 0))
            return false;
    return true;
}

/* ---- return ---- */

/* The frame below the top one, which a call at `site` pushed. */
static struct ptx_lane frame_under(const struct ptx_code *code, const struct ptx_lane *top,
                                   uint32_t site)
{
    struct ptx_lane frame = *top;
    frame.depth--;
    if (site & PTX_SITE_SHARES)
        return frame;
    frame.function = code->ops[site].function;
    const struct ptx_code_function *caller = &code->functions[frame.function];
    frame.rows.narrow -= caller->rows.narrow;
    frame.rows.wide -= caller->rows.wide;
    frame.byte -= caller->frame_bytes;
    return frame;
}

/*  THR.ret     kappa = nu :: kappa'
 *      <theta, kappa | ret>  ->  theta, kappa'
 */
bool ptx_return(struct machine *machine, struct ptx_lanes *lanes, lane_mask set, uint32_t site[64])
{
    const struct ptx_code *code = machine->program->ptx;
    for (lane_mask rest = set; rest; rest &= rest - 1)
        if (lanes->lane[lowest_lane(rest)].depth == 0)
            return false;
    for (lane_mask rest = set; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const struct ptx_lane top = lanes->lane[lane];
        uint32_t *at = ptx_site_of(lanes, top.depth, lane), from = *at;
        const struct ptx_lane below = frame_under(code, &top, from);
        if (!(from & PTX_SITE_SHARES)) {
            copy_all(machine, lanes, lane, &below, &top, &code->ops[from], true);
            clear_frame(machine, lanes, lane);
        }
        put(machine, at, 0);
        set_frame(machine, &lanes->lane[lane], &below);
        if (site)
            site[lane] = from & ~PTX_SITE_SHARES;
    }
    set_uniform(machine, lanes);
    return true;
}
