/*
 * ptx_exec.c - one instruction: guards, operands, what is computed, results.
 */
#include "engine/lanes/ptx_exec_internal.h"
#include "engine/lanes/ptx_mask.h"
#include "engine/machine/symmetry.h"

/* ---- groups ---- */

uint32_t ptx_lanes_words(const struct program *program, uint32_t count)
{
    const struct ptx_rows *rows = &program->ptx->rows;
    uint32_t registers = (2 * rows->wide + rows->narrow) * count;
    uint32_t async = program->ptx->has_async ? count * PTX_ASYNC_WORDS : 0;
    return ptx_head_words(program->ptx, count) + ((registers + 1) & ~1u) + async;
}

static void init_register(struct machine *machine, struct ptx_lanes *lanes,
                          const struct ptx_code_register *reg)
{
    const struct ptx_file file = ptx_file(machine->program->ptx, lanes);
    void *row = ptx_register(&file, &lanes->lane[0].rows, &reg->place);
    for (uint32_t lane = 0; lane < lanes->count; lane++) {
        uint32_t tid = ptx_tid(machine->program, lanes, lane);
        uint64_t value = ptx_code_register_value(reg, machine->program->launch.warp, tid);
        if (reg->place.bits == 64)
            ((uint64_t *)row)[lane] = value;
        else
            ((uint32_t *)row)[lane] = (uint32_t)value;
    }
}

void ptx_lanes_init(struct machine *machine, struct ptx_lanes *lanes, uint32_t first_thread,
                    uint32_t count)
{
    const struct ptx_code *code = machine->program->ptx;
    memset(lanes, 0, (size_t)4 * ptx_lanes_words(machine->program, count));
    lanes->first_thread = first_thread;
    lanes->count = count;
    lanes->block = first_thread / machine->program->launch.threads;
    lanes->uniform = true;
    for (uint32_t lane = 0; lane < count; lane++)
        lanes->lane[lane].byte = code->frame_local_base;
    for (uint32_t i = 0; i < code->register_count; i++)
        init_register(machine, lanes, &code->registers[i]);
}

void ptx_lanes_layout(const struct machine *machine, const struct ptx_lanes *lanes,
                      struct lane_layout *layout)
{
    const struct ptx_code *code = machine->program->ptx;
    const uint32_t frame = (uint32_t)(sizeof(struct ptx_lane) / 4), n = lanes->count;
    const uint32_t *registers = (const uint32_t *)lanes + ptx_head_words(code, n);
    struct lane_words words = {.first = lanes->first_thread,
                               .threads = n,
                               .word = layout_place(machine, lanes->lane),
                               .stride = frame,
                               .words = frame};
    layout_words(layout, &words);
    words.stride = words.words = 1;
    words.word = layout_place(machine, ptx_site(lanes, 0, 0));
    for (uint32_t depth = 0; depth < code->depth; depth++, words.word += n)
        layout_words(layout, &words);
    words.word = layout_place(machine, registers) + 2 * code->rows.wide * n;
    for (uint32_t row = 0; row < code->rows.narrow; row++, words.word += n)
        layout_words(layout, &words);
    words.stride = words.words = 2;
    words.word = layout_place(machine, registers);
    for (uint32_t row = 0; row < code->rows.wide; row++, words.word += 2 * n)
        layout_words(layout, &words);
    words.stride = words.words = PTX_ASYNC_WORDS;
    words.word = layout_place(machine, registers) +
                 (((2 * code->rows.wide + code->rows.narrow) * n + 1) & ~1u);
    if (code->has_async)
        layout_words(layout, &words);
}

void ptx_stuck(struct machine *machine, uint32_t thread, uint32_t pc, const char *why)
{
    machine->fault_text = why;
    machine_fault(machine, STATUS_STUCK, thread, pc);
}

void ptx_beyond(struct machine *machine, uint32_t thread, uint32_t pc, const char *why)
{
    machine->fault_text = why;
    machine_fault(machine, STATUS_UNSUPPORTED, thread, pc);
}

/* ---- operands ---- */

/* EXP.sreg. Those that are the same for all threads are constants of the code (ptx_compile_operand.c), which has no
 * clocks: an execution depends on its choices alone. */
static uint64_t special_value(const struct machine *machine, const struct ptx_lanes *lanes,
                              uint32_t number, uint32_t lane)
{
    const struct program *program = machine->program;
    const struct ptx_kernel *kernel = program->ptx->kernel;
    const uint32_t *n = kernel->block, *g = kernel->grid;
    uint32_t tid = ptx_tid(program, lanes, lane), laneid = tid % program->launch.warp;
    const uint32_t *numbers = ((const struct ptx_scratch *)machine->scratch)->numbers;
    uint32_t block = numbers ? numbers[lanes->block] : kernel->first_block + lanes->block;
    char e = program->ptx->specials[number].element;
    uint64_t bit = laneid < 32 ? (uint64_t)1 << laneid : 0;
    switch (program->ptx->specials[number].special) {
    case PTX_SPECIAL_TID:
        return e == 'x' ? tid % n[0] : e == 'y' ? tid / n[0] % n[1] : tid / n[0] / n[1];
    case PTX_SPECIAL_CTAID:
        return e == 'x' ? block % g[0] : e == 'y' ? block / g[0] % g[1] : block / g[0] / g[1];
    case PTX_SPECIAL_CLUSTERID:
        return ptx_cluster_element(kernel, block, e, true);
    case PTX_SPECIAL_CLUSTER_CTAID:
        return ptx_cluster_element(kernel, block, e, false);
    case PTX_SPECIAL_CLUSTER_CTARANK:
        return ptx_cluster_rank(kernel, block);
    case PTX_SPECIAL_LANEID:
        return laneid;
    case PTX_SPECIAL_WARPID:
        return tid / program->launch.warp;
    case PTX_SPECIAL_LANEMASK_EQ:
        return bit;
    case PTX_SPECIAL_LANEMASK_LE:
        return (uint32_t)(bit | (bit - 1));
    case PTX_SPECIAL_LANEMASK_LT:
        return (uint32_t)(bit - 1);
    case PTX_SPECIAL_LANEMASK_GE:
        return (uint32_t) ~(bit - 1);
    case PTX_SPECIAL_LANEMASK_GT:
        return (uint32_t) ~(bit | (bit - 1));
    case PTX_SPECIAL_NCLUSTERID:
    case PTX_SPECIAL_CLUSTER_NCTAID:
    case PTX_SPECIAL_CLUSTER_NCTARANK:
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
    case PTX_SPECIAL_NTID:
    case PTX_SPECIAL_NCTAID:
    case PTX_SPECIAL_NWARPID:
    case PTX_SPECIAL_NSMID:
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
    case PTX_SPECIAL_WARP_SZ:
    case PTX_SPECIAL_SMID:
    case PTX_SPECIAL_GRIDID:
    case PTX_SPECIAL_CLOCK:
    case PTX_SPECIAL_CLOCK_HI:
    case PTX_SPECIAL_CLOCK64:
    case PTX_SPECIAL_GLOBALTIMER:
    case PTX_SPECIAL_GLOBALTIMER_LO:
    case PTX_SPECIAL_GLOBALTIMER_HI:
    case PTX_SPECIAL_ENVREG0:
    case PTX_SPECIAL_ENVREG1:
    case PTX_SPECIAL_ENVREG2:
    case PTX_SPECIAL_ENVREG3:
    case PTX_SPECIAL_ENVREG4:
    case PTX_SPECIAL_ENVREG5:
    case PTX_SPECIAL_ENVREG6:
    case PTX_SPECIAL_COUNT:
        break;
    }
    return 0;
}

/*  EXP.const  E[[c]] = C[[c]]          EXP.var.reg   E[[r]] = rho(V[[r]])    V: the top frame of kappa
 *  EXP.sreg   E[[s]] = rho(s)          EXP.var.addr  E[[v]] = V[[v]]         a variable's address
 *  EXP.label, EXP.func: constants, the program address.
 */
uint64_t ptx_source(const struct machine *machine, const struct ptx_lanes *lanes,
                    const struct ptx_place *place, uint32_t lane)
{
    const struct ptx_code *code = machine->program->ptx;
    switch ((enum ptx_place_kind)place->kind) {
    case PTX_PLACE_NONE:
        break;
    case PTX_PLACE_REGISTER:
        return ptx_element(ptx_look(code, lanes, &lanes->lane[lane].rows, place), place->bits,
                           lane);
    case PTX_PLACE_CONST:
        return ptx_element(code->constant_rows + place->offset, place->bits, lane);
    case PTX_PLACE_SPECIAL:
        return special_value(machine, lanes, place->offset, lane);
    case PTX_PLACE_FRAME:
        return lanes->lane[lane].byte + place->offset;
    }
    return 0;
}

static void gather(struct ptx_step *x, const struct ptx_place *place, void *row)
{
    uint32_t *narrow = row;
    uint64_t *wide = row;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint64_t value = ptx_source(x->m, x->lanes, place, lane);
        if (place->bits == 64)
            wide[lane] = value;
        else
            narrow[lane] = (uint32_t)value;
    }
}

const void *ptx_row(struct ptx_step *x, const struct ptx_place *place, uint32_t scratch)
{
    if (place->kind == PTX_PLACE_CONST)
        return x->code->constant_rows + place->offset;
    if (place->kind == PTX_PLACE_REGISTER && x->one_frame)
        return ptx_register(&x->file, &x->rows, place);
    uint64_t *row = x->scratch->sources[scratch];
    gather(x, place, row);
    return row;
}

const uint64_t *ptx_wide_row(struct ptx_step *x, const struct ptx_place *place, uint32_t scratch)
{
    const void *row = ptx_row(x, place, scratch);
    if (place->bits == 64)
        return row;
    const uint32_t *narrow = row;
    uint64_t *wide = x->scratch->sources[scratch];
    for (uint32_t i = x->lanes->count; i-- > 0;) /* the two may be one: from the end */
        wide[i] = narrow[i];
    return wide;
}

/* ---- results ---- */

void ptx_commit(struct ptx_step *x, const struct ptx_place *place, const void *row)
{
    if (place->kind == PTX_PLACE_NONE)
        return;
    if (x->one_frame && !is_tracked(x->m) && x->executing == ptx_all(x->lanes)) {
        memcpy(ptx_register(&x->file, &x->rows, place), row,
               (size_t)x->lanes->count * place->bits / 8);
        return;
    }
    if (x->one_frame && !is_tracked(x->m)) {
        ptx_put_lanes(ptx_register(&x->file, &x->rows, place), row, place->bits, x->executing,
                      x->lanes->count);
        return;
    }
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        void *to = ptx_register(&x->file, &x->lanes->lane[lane].rows, place);
        ptx_put_element(x->m, to, place->bits, lane, ptx_element(row, place->bits, lane));
    }
}

void ptx_set_result(struct machine *machine, struct ptx_lanes *lanes, const struct ptx_place *place,
                    lane_mask set, uint64_t value)
{
    const struct ptx_file file = ptx_file(machine->program->ptx, lanes);
    if (place->kind == PTX_PLACE_NONE)
        return;
    for (lane_mask rest = set; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        ptx_put_element(machine, ptx_register(&file, &lanes->lane[lane].rows, place), place->bits,
                        lane, value);
    }
}

void *ptx_register_of(const struct program *program, struct ptx_lanes *lanes,
                      const struct ptx_place *place, uint32_t lane)
{
    const struct ptx_file file = ptx_file(program->ptx, lanes);
    char *row = ptx_register(&file, &lanes->lane[lane].rows, place);
    return row + (size_t)lane * place->bits / 8;
}

/* ---- computing ---- */

static bool same_rows(const struct ptx_rows *a, const struct ptx_rows *b)
{
    return a->narrow == b->narrow && a->wide == b->wide;
}

static bool same_frame(const struct ptx_lanes *lanes, lane_mask set)
{
    const struct ptx_rows *rows = &lanes->lane[lowest_lane(set)].rows;
    for (lane_mask rest = set & (set - 1); rest; rest &= rest - 1)
        if (!same_rows(&lanes->lane[lowest_lane(rest)].rows, rows))
            return false;
    return true;
}

/* For lanes whose frames have the same rows. */
static void compute(struct ptx_step *x)
{
    const struct ptx_op *op = x->op;
    const void *sources[PTX_ROW_SOURCES];
    void *results[PTX_ROW_RESULTS];
    for (uint32_t i = 0; i < op->row.source_count; i++)
        sources[i] = ptx_row(x, &op->sources[i], i);
    for (uint32_t i = 0; i < op->row.result_count; i++)
        results[i] = x->scratch->results[i];
    op->row.fn(x->lanes->count, results, sources, op->row.immediate);
    for (uint32_t i = 0; i < op->row.result_count; i++)
        ptx_commit(x, &op->results[i], results[i]);
}

/* Frames of different rows: one set of lanes after the other. Nothing passes between lanes. */
static void compute_frames(struct ptx_step *x)
{
    lane_mask rest = x->executing;
    x->one_frame = true;
    while (rest) {
        x->rows = x->lanes->lane[lowest_lane(rest)].rows;
        x->executing = 0;
        for (lane_mask others = rest; others; others &= others - 1) {
            uint32_t lane = lowest_lane(others);
            if (same_rows(&x->lanes->lane[lane].rows, &x->rows))
                x->executing |= (lane_mask)1 << lane;
        }
        rest &= ~x->executing;
        compute(x);
    }
}

/* As compute, where all frames are one, nobody hears of single writes, and all sources lie in rows: nearly always.
 * False: nothing was done. */
INLINED bool compute_plainly(struct machine *machine, struct ptx_lanes *lanes,
                             const struct ptx_op *op, lane_mask executing)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_file file = ptx_file(code, lanes);
    const struct ptx_rows *rows = &lanes->lane[0].rows;
    struct ptx_scratch *scratch = machine->scratch;
    const bool all = executing == ptx_all(lanes);
    const void *sources[PTX_ROW_SOURCES];
    void *results[PTX_ROW_RESULTS];
    if (!lanes->uniform || is_tracked(machine))
        return false;
    for (uint32_t i = 0; i < op->row.source_count; i++) {
        const struct ptx_place *place = &op->sources[i];
        if (place->kind == PTX_PLACE_REGISTER)
            sources[i] = ptx_register(&file, rows, place);
        else if (place->kind == PTX_PLACE_CONST)
            sources[i] = code->constant_rows + place->offset;
        else
            return false;
    }
    for (uint32_t i = 0; i < op->row.result_count; i++)
        results[i] = all && op->results[i].kind == PTX_PLACE_REGISTER
                         ? ptx_register(&file, rows, &op->results[i])
                         : scratch->results[i];
    op->row.fn(lanes->count, results, sources, op->row.immediate);
    for (uint32_t i = 0; !all && i < op->row.result_count; i++)
        if (op->results[i].kind == PTX_PLACE_REGISTER)
            ptx_put_lanes(ptx_register(&file, rows, &op->results[i]), results[i],
                          op->results[i].bits, executing, lanes->count);
    return true;
}

/*  THR.dop     r^ = V[[r]]                             THR.mov, THR.setp: the same with E[[e]], cmp(..)
 *      <theta | dop r e1 .. en>  ->  theta             r^ <- dop(E[[e1]], .., E[[en]])
 */
INLINED enum rule dop_rule(const struct ptx_op *op)
{
    return op->opcode == PTX_OP_MOV    ? RULE_PTX_MOV
           : op->opcode == PTX_OP_SETP ? RULE_PTX_SETP
                                       : RULE_PTX_DOP;
}

static enum rule ptx_dop(struct ptx_step *x)
{
    if (x->one_frame)
        compute(x);
    else
        compute_frames(x);
    return dop_rule(x->op);
}

/* mov of a clock [EXT]: 1,000 cycles, or nanoseconds, between two looks of a lane at it: a function of what the lane
 * itself has done, so that the same under every schedule. */
static enum rule ptx_clock(struct ptx_step *x)
{
    bool high = x->op->mode == PTX_SPECIAL_CLOCK_HI || x->op->mode == PTX_SPECIAL_GLOBALTIMER_HI;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        struct ptx_lane *own = &x->lanes->lane[lane];
        put(x->m, &own->clocks, own->clocks + 1);
        uint64_t value = (uint64_t)own->clocks * PTX_CLOCK_TICK;
        ptx_set_result(x->m, x->lanes, &x->op->results[0], (lane_mask)1 << lane,
                       high ? value >> 32 : value);
    }
    return RULE_PTX_MOV;
}

/* ---- one step ---- */

/* THR.membar: memory is sequentially consistent, so nothing is waited for. */
enum rule ptx_execute(struct machine *machine, struct ptx_lanes *lanes, uint32_t pc,
                      lane_mask executing, lane_mask exited, struct choices *choices)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    if (op->exec == PTX_EXEC_ROWS && compute_plainly(machine, lanes, op, executing))
        return dop_rule(op);
    struct ptx_step x = {.m = machine,
                         .code = code,
                         .op = op,
                         .lanes = lanes,
                         .file = ptx_file(code, lanes),
                         .pc = pc,
                         .executing = executing,
                         .one_frame = lanes->uniform || same_frame(lanes, executing),
                         .rows = lanes->lane[lowest_lane(executing)].rows,
                         .choices = choices,
                         .scratch = machine->scratch};
    switch ((enum ptx_exec)x.op->exec) {
    case PTX_EXEC_NOP:
        return RULE_PTX_NOP;
    case PTX_EXEC_ROWS:
        return ptx_dop(&x);
    case PTX_EXEC_LD:
        if (__builtin_expect(machine->memory_model != NULL, 0))
            return ptx_ask(&x, PTX_ACCESS_LD);
        return ptx_ld(&x);
    case PTX_EXEC_ST:
        if (__builtin_expect(machine->memory_model != NULL, 0))
            return ptx_ask(&x, PTX_ACCESS_ST);
        return ptx_st(&x);
    case PTX_EXEC_ATOM:
        if (__builtin_expect(machine->memory_model != NULL, 0))
            return ptx_ask(&x, PTX_ACCESS_ATOM);
        return ptx_atom(&x);
    case PTX_EXEC_MEMBAR:
        return RULE_PTX_MEMBAR;
    case PTX_EXEC_VOTE:
    case PTX_EXEC_ACTIVEMASK:
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_BAR_WARP:
        return ptx_together(&x, exited);
    case PTX_EXEC_CLOCK:
        return ptx_clock(&x);
    case PTX_EXEC_COPY:
    case PTX_EXEC_COPY_COMMIT:
    case PTX_EXEC_COPY_WAIT:
    case PTX_EXEC_COPY_BULK:
    case PTX_EXEC_COPY_ARRIVE:
        return ptx_async_step(&x);
    case PTX_EXEC_MBARRIER:
        return ptx_mbarrier_step(&x);
    case PTX_EXEC_MMA:
    case PTX_EXEC_MATRIX_LD:
    case PTX_EXEC_MATRIX_ST:
        return ptx_matrix_step(&x);
    case PTX_EXEC_TEXTURE:
    case PTX_EXEC_SUST:
        return ptx_texture_step(&x);
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
    case PTX_EXEC_CLUSTER:
    case PTX_EXEC_BRA:
    case PTX_EXEC_CALL:
    case PTX_EXEC_RET:
    case PTX_EXEC_EXIT:
    case PTX_EXEC_SSY:
    case PTX_EXEC_PREBRK:
    case PTX_EXEC_PRERET:
    case PTX_EXEC_SYNC:
    case PTX_EXEC_BREAK:
    case PTX_EXEC_TRAP:
        break;
    }
    invariant_fail("an instruction without flow or barrier", __FILE__, __LINE__);
}

/* ---- guards ---- */

/* B[[guard]] of a lane. */
lane_mask ptx_guard(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                    lane_mask active)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    if (op->guard.kind == PTX_PLACE_NONE)
        return active;
    lane_mask holds = 0;
    if (op->guard.kind == PTX_PLACE_REGISTER && lanes->uniform && ptx_has_frame(lanes, 0, op)) {
        const uint32_t *row = ptx_look(code, lanes, &lanes->lane[0].rows, &op->guard);
        holds = ptx_true_lanes(row, lanes->count);
        return active & (op->guard_not ? ~holds : holds);
    }
    for (lane_mask rest = active; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!ptx_has_frame(lanes, lane, op) ||
            (ptx_source(machine, lanes, &op->guard, lane) != 0) != op->guard_not)
            holds |= (lane_mask)1 << lane;
    }
    return holds;
}

static bool names_frame(const struct ptx_op *op)
{
    bool names = op->guard.kind == PTX_PLACE_REGISTER || op->exec == PTX_EXEC_CALL;
    for (uint32_t i = 0; i < PTX_CODE_RESULTS; i++)
        names |= op->results[i].kind == PTX_PLACE_REGISTER;
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        names |=
            op->sources[i].kind == PTX_PLACE_REGISTER || op->sources[i].kind == PTX_PLACE_FRAME;
    return names || op->matrix;
}

bool ptx_have_frames(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                     lane_mask executing)
{
    const struct ptx_op *op = &machine->program->ptx->ops[pc];
    for (lane_mask rest = executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (ptx_has_frame(lanes, lane, op))
            continue;
        if (!names_frame(op))
            return true;
        ptx_stuck(machine, lanes->first_thread + lane, pc,
                  "the instruction names registers of a function that is not the top frame's");
        return false;
    }
    return true;
}
