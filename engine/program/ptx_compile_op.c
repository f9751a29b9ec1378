#include "engine/program/ptx_compile_internal.h"

#include <string.h>

static const struct ptx_type u32 = {PTX_CLASS_INT, 32, false};
static const struct ptx_type predicate = {PTX_CLASS_PRED, 1, false};

static struct ptx_type type_of(const struct ptx_instruction *i)
{
    return ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]);
}

static const struct ptx_operand *operand(const struct ptx_instruction *i, uint32_t number)
{
    const struct ptx_operand *o = i->operands;
    for (; o && number > 0; number--)
        o = o->next;
    return o;
}

static uint32_t count_operands(const struct ptx_instruction *i)
{
    uint32_t count = 0;
    for (const struct ptx_operand *o = i->operands; o; o = o->next)
        count++;
    return count;
}

static void add_source(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                       struct ptx_type type, uint32_t bits)
{
    if (op->source_count == PTX_CODE_SOURCES) {
        ptx_build_fail(b, "too many operands");
        return;
    }
    if (o->negated)
        op->negated |= (uint8_t)(1u << op->source_count);
    op->sources[op->source_count++] = ptx_build_place(b, o, type, bits);
}

static void add_result(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                       struct ptx_type type, uint32_t bits)
{
    if (op->result_count == PTX_CODE_RESULTS) {
        ptx_build_fail(b, "too many results");
        return;
    }
    op->results[op->result_count++] = ptx_build_place(b, o, type, bits);
}

/* Of 128 bits: a register is two rows (ptx_build_register). */
static void split_halves(struct ptx_builder *b, const struct ptx_operand *o,
                         struct ptx_place halves[2])
{
    halves[0] = halves[1] = (struct ptx_place){.kind = PTX_PLACE_NONE};
    if (o->kind == PTX_OPERAND_SINK)
        return;
    if (o->kind != PTX_OPERAND_NAME || o->target_kind != PTX_TARGET_VARIABLE) {
        ptx_build_fail(b, "unsupported constant of 128 bits");
        return;
    }
    halves[0] = halves[1] = ptx_build_register(b, o);
    halves[1].offset++;
}

static void add_halves(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                       bool is_result)
{
    struct ptx_place *places =
        is_result ? &op->results[op->result_count] : &op->sources[op->source_count];
    split_halves(b, o, places);
    *(is_result ? &op->result_count : &op->source_count) += 2;
}

/* ---- what computes ---- */

static void add_row_operand(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                            bool is_result, struct ptx_type type)
{
    if (is_result && op->result_count < op->row.result_count)
        add_result(b, op, o, type, op->row.result_bits[op->result_count]);
    else if (!is_result && op->source_count < op->row.source_count)
        add_source(b, op, o, type, op->row.source_bits[op->source_count]);
    else
        ptx_build_fail(b, "unsupported operands");
}

static void add_row_item(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                         const struct ptx_item_pattern *item)
{
    struct ptx_type type = item->type;
    if (item->kind == 'i')
        return;
    if (o->kind == PTX_OPERAND_VECTOR) {
        uint32_t count = 0;
        for (const struct ptx_operand *part = o->items; part; part = part->next)
            count++;
        type.bits = (uint8_t)(type.bits / (count ? count : 1));
        for (const struct ptx_operand *part = o->items; part; part = part->next)
            add_row_operand(b, op, part, item->is_result, type);
    } else if (o->kind == PTX_OPERAND_PAIR) {
        add_row_operand(b, op, o->items, true, type);
        add_row_operand(b, op, o->items->next, true, predicate);
    } else if (type.bits == 128) {
        add_halves(b, op, o, item->is_result);
    } else {
        add_row_operand(b, op, o, item->is_result, type);
    }
}

/* Of a function, .param is local memory: cvta and isspacep have its window then. */
static struct ptx_instruction in_window(const struct ptx_builder *b,
                                        const struct ptx_instruction *i)
{
    struct ptx_instruction copy = *i;
    enum ptx_opcode opcode = ptx_forms[i->form].opcode;
    bool converts = opcode == PTX_OP_CVTA || opcode == PTX_OP_ISSPACEP;
    if (converts && i->words[PTX_SLOT_SPACE] == PTX_W_PARAM && !ptx_is_entry(b))
        copy.words[PTX_SLOT_SPACE] = PTX_W_LOCAL;
    return copy;
}

static void add_stack(struct ptx_builder *b, struct ptx_op *op)
{
    struct ptx_place base, taken;
    if (op->row.immediate & (op->row.immediate - 1))
        ptx_build_fail(b, "the alignment of alloca is no power of two");
    ptx_build_stack(b, &base, &taken);
    op->sources[op->source_count++] = base;
    op->sources[op->source_count++] = taken;
    if (op->opcode != PTX_OP_STACKSAVE)
        op->results[op->result_count++] = taken;
}

static void build_row(struct ptx_builder *b, const struct ptx_instruction *given, struct ptx_op *op)
{
    const char *pattern = ptx_forms[given->form].operands, *reason = NULL;
    const struct ptx_instruction instruction = in_window(b, given);
    const struct ptx_operand *o = instruction.operands;
    struct ptx_item_pattern item;
    op->exec = PTX_EXEC_ROWS;
    if (!ptx_row_find(&instruction, &op->row, &reason)) {
        ptx_build_fail(b, "unsupported instruction '%s'", reason);
        return;
    }
    if (instruction.form == PTX_FORM_ISSPACEP_ANY && b->code->has_clusters &&
        op->row.immediate == PTX_WINDOW_SHARED)
        op->row.immediate |= PTX_ROW_OWN;
    for (; o && ptx_item_next(&pattern, instruction.words, &item); o = o->next)
        add_row_item(b, op, o, &item);
    op->negated = 0; /* the function's own matter */
    if (op->row.has_rank)
        op->sources[op->source_count++] = ptx_build_special(b, PTX_SPECIAL_CLUSTER_CTARANK, 0, 32);
    if (op->row.has_stack)
        add_stack(b, op);
    if (op->row.reads_carry && op->source_count < PTX_CODE_SOURCES)
        op->sources[op->source_count++] = ptx_build_carry(b);
    if (op->row.writes_carry && op->result_count < PTX_CODE_RESULTS)
        op->results[op->result_count++] = ptx_build_carry(b);
}

/* ---- memory ---- */

static void add_elements(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                         bool is_result, struct ptx_type type)
{
    const struct ptx_operand *items = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    for (; items; items = o->kind == PTX_OPERAND_VECTOR ? items->next : NULL) {
        op->count = (uint8_t)(op->count + (type.bits == 128 ? 2 : 1));
        /* Registers may be wider than the type; a constant is of its size. */
        if (type.bits == 128)
            add_halves(b, op, items, is_result);
        else if (is_result)
            add_result(b, op, items, type, 0);
        else
            add_source(b, op, items, type, 0);
    }
}

static void describe_access(struct ptx_op *op, const struct ptx_instruction *i)
{
    struct ptx_type type = type_of(i);
    op->bytes = type.bits == 128 ? 8 : type.bits / 8;
    op->is_signed = type.kind == PTX_CLASS_INT && type.is_signed;
    op->is_float = type.kind == PTX_CLASS_FLOAT;
    op->is_whole = type.bits == 128;
    op->is_volatile = i->words[PTX_SLOT_SEM] == PTX_W_VOLATILE;
}

/* How far a value that is read is extended: the declared size of its register. */
static uint8_t register_width(const struct ptx_operand *o)
{
    const struct ptx_operand *first = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    while (first && first->kind == PTX_OPERAND_SINK)
        first = o->kind == PTX_OPERAND_VECTOR ? first->next : NULL;
    const uint8_t bits = first && first->target_kind == PTX_TARGET_VARIABLE
                             ? ptx_type_of(first->target.variable->type).bits
                             : 0;
    return bits == 128 ? 0 : bits;
}

static void build_load(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    op->exec = PTX_EXEC_LD;
    describe_access(op, i);
    ptx_build_address(b, op, i, operand(i, 1));
    op->source_count = 1;
    if (ptx_forms[i->form].opcode == PTX_OP_LDU && op->space == PTX_W_NONE)
        op->space = PTX_W_GLOBAL;
    add_elements(b, op, operand(i, 0), true, type_of(i));
    op->width = register_width(operand(i, 0));
}

static void build_store(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    op->exec = PTX_EXEC_ST;
    describe_access(op, i);
    ptx_build_address(b, op, i, operand(i, 0));
    op->source_count = 1;
    add_elements(b, op, operand(i, 1), false, type_of(i));
}

/* What is done to what is there; of what is no atomic, and of 128 bits, there is no function. */
static void describe_atomic(struct ptx_op *op, const struct ptx_instruction *i)
{
    describe_access(op, i);
    op->mode = i->words[PTX_SLOT_OP];
    op->atomic = ptx_atomic_find((enum ptx_word)op->mode, (enum ptx_word)i->words[PTX_SLOT_TYPE]);
}

static void build_atomic(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    bool has_result = ptx_forms[i->form].opcode == PTX_OP_ATOM;
    const struct ptx_operand *address = operand(i, has_result);
    op->exec = PTX_EXEC_ATOM;
    describe_atomic(op, i);
    ptx_build_address(b, op, i, address);
    op->source_count = 1;
    if (has_result)
        add_elements(b, op, operand(i, 0), true, type_of(i));
    for (const struct ptx_operand *o = address->next; o; o = o->next) {
        op->count = 0;
        add_elements(b, op, o, false, type_of(i));
    }
    if (!op->atomic && !op->is_whole)
        ptx_build_fail(b, "unsupported instruction '%s.%s.%s'", has_result ? "atom" : "red",
                       ptx_words[op->mode], ptx_words[i->words[PTX_SLOT_TYPE]]);
}

/* ---- asynchronous copies ---- */

/* An access of the copy: 4 bytes at a time, aligned as a whole. */
static void build_part(struct ptx_builder *b, struct ptx_instruction i, struct ptx_op *part,
                       const struct ptx_operand *address, uint64_t bytes, enum ptx_word space)
{
    i.words[PTX_SLOT_SPACE] = (uint8_t)space;
    part->exec = PTX_EXEC_COPY;
    part->function = b->function;
    part->bytes = 4;
    part->count = (uint8_t)(bytes / 4);
    ptx_build_address(b, part, &i, address);
    part->source_count = 1;
}

static void build_copy(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    const struct ptx_operand *size = operand(i, 2);
    uint64_t bytes = size->value;
    if (bytes != 16 && (i->words[PTX_SLOT_CACHE] == PTX_W_CG || (bytes != 4 && bytes != 8))) {
        ptx_build_fail(b, "unsupported instruction 'cp.async' of %u bytes", (unsigned)bytes);
        return;
    }
    op->exec = PTX_EXEC_COPY;
    op->count = (uint8_t)(bytes / 4);
    op->parts = ARENA_ARRAY(b->arena, struct ptx_op, 2);
    build_part(b, *i, &op->parts[0], operand(i, 0), bytes, PTX_W_SHARED);
    build_part(b, *i, &op->parts[1], operand(i, 1), bytes, PTX_W_GLOBAL);
    op->has_count = size->next != NULL;
    if (op->has_count)
        add_source(b, op, size->next, u32, 0);
}

/* An mbarrier hears of it. */
static bool is_heard(const struct ptx_instruction *i)
{
    return i->words[PTX_SLOT_SYNC] == PTX_W_MBARRIER_TX;
}

/* dst, src, bytes, and the mbarrier; which blocks get it. `bytes`: of an element of a reduction. */
static void build_bulk(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    const bool reads_global = is_heard(i) && i->words[PTX_SLOT_NC] == PTX_W_GLOBAL;
    op->exec = PTX_EXEC_COPY_BULK;
    op->has_count = is_heard(i);
    op->parts = ARENA_ARRAY(b->arena, struct ptx_op, 3);
    build_part(b, *i, &op->parts[0], operand(i, 0), 16,
               op->has_count ? PTX_W_SHARED : PTX_W_GLOBAL);
    build_part(b, *i, &op->parts[1], operand(i, 1), 16, reads_global ? PTX_W_GLOBAL : PTX_W_SHARED);
    if (op->has_count)
        build_part(b, *i, &op->parts[2], operand(i, 3), 8, PTX_W_SHARED);
    add_source(b, op, operand(i, 2), u32, 0);
    op->width = i->words[PTX_SLOT_PART];
    if (op->width == PTX_W_MULTICAST)
        add_source(b, op, operand(i, 4), u32, 0);
    if (op->width == PTX_W_REDUCE)
        describe_atomic(op, i);
}

/* st.async, red.async: values from registers. */
static void build_async_store(struct ptx_builder *b, const struct ptx_instruction *i,
                              struct ptx_op *op)
{
    b->code->has_async = true;
    op->exec = PTX_EXEC_COPY_BULK;
    op->has_count = true;
    describe_atomic(op, i);
    op->parts = ARENA_ARRAY(b->arena, struct ptx_op, 3);
    add_elements(b, op, operand(i, 1), false, type_of(i));
    build_part(b, *i, &op->parts[0], operand(i, 0), (uint64_t)op->bytes * op->count, PTX_W_SHARED);
    build_part(b, *i, &op->parts[2], operand(i, 2), 8, PTX_W_SHARED);
}

/* cp.async.mbarrier.arrive, mbarrier: the address of an object. */
static void build_object(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op,
                         const struct ptx_operand *address)
{
    op->bytes = 8;
    op->count = 1;
    ptx_build_address(b, op, i, address);
    op->source_count = 1;
}

static void build_async(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    b->code->has_async = true;
    op->mode = i->words[PTX_SLOT_UNI] == PTX_W_BULK; /* of commit and wait: PTX_COPY_BULK */
    switch ((int)i->form) {
    case PTX_FORM_CP_ARRIVE:
        op->exec = PTX_EXEC_COPY_ARRIVE;
        op->mode = i->words[PTX_SLOT_NC];
        build_object(b, i, op, i->operands);
        return;
    case PTX_FORM_CP_ASYNC:
        build_copy(b, i, op);
        return;
    case PTX_FORM_CP_COMMIT:
    case PTX_FORM_CP_BULK_COMMIT:
        op->exec = PTX_EXEC_COPY_COMMIT;
        return;
    case PTX_FORM_CP_BULK_PREFETCH:
        op->exec = PTX_EXEC_NOP;
        return;
    case PTX_FORM_CP_WAIT:
    case PTX_FORM_CP_WAIT_ALL:
    case PTX_FORM_CP_BULK_WAIT:
        op->exec = PTX_EXEC_COPY_WAIT;
        op->target = i->operands ? (uint32_t)i->operands->value : UINT32_MAX;
        op->width = i->words[PTX_SLOT_NC];
        return;
    default:
        build_bulk(b, i, op);
    }
}

/* `mode` is what is done, `width` .noComplete or .parity; has_count: the operand of an arrival is bytes. */
static void build_mbarrier(struct ptx_builder *b, const struct ptx_instruction *i,
                           struct ptx_op *op)
{
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    b->code->has_mbarrier = true;
    op->exec = PTX_EXEC_MBARRIER;
    op->mode = i->words[PTX_SLOT_SYNC];
    op->width = i->words[PTX_SLOT_MODE];
    op->has_count = i->form == PTX_FORM_MBARRIER_ARRIVE_TX;
    op->source_count = i->form == PTX_FORM_MBARRIER_PENDING;
    for (const struct ptx_operand *o = i->operands; o; o = o->next) {
        if (!ptx_item_next(&pattern, i->words, &item))
            break;
        if (item.kind == 'a')
            build_object(b, i, op, o);
        else if (item.is_result)
            add_result(b, op, o, item.type, 0);
        else
            add_source(b, op, o, item.type, 0);
    }
}

/* ---- clocks ---- */

static bool reads_clock(const struct ptx_instruction *i)
{
    const struct ptx_operand *o = operand(i, 1);
    return ptx_forms[i->form].opcode == PTX_OP_MOV && o && o->target_kind == PTX_TARGET_SPECIAL &&
           ptx_is_clock(o->target.special);
}

static void build_clock(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    op->exec = PTX_EXEC_CLOCK;
    op->mode = (uint8_t)operand(i, 1)->target.special;
    add_result(b, op, operand(i, 0), type_of(i), 0);
}

/* ---- warps ---- */

/* Results, then sources, as the pattern has them. */
static void build_plain(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    const char *pattern = ptx_forms[i->form].operands;
    const struct ptx_operand *o = i->operands;
    struct ptx_item_pattern item;
    for (; o && ptx_item_next(&pattern, i->words, &item); o = o->next) {
        if (o->kind == PTX_OPERAND_PAIR) {
            add_result(b, op, o->items, item.type, 0);
            add_result(b, op, o->items->next, predicate, 0);
        } else if (item.is_result) {
            add_result(b, op, o, item.type, 0);
        } else {
            add_source(b, op, o, item.type, 0);
        }
    }
}

static void build_warp(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op,
                       enum ptx_exec exec, enum ptx_slot slot)
{
    op->exec = (uint8_t)exec;
    op->mode = i->words[slot];
    op->bytes = type_of(i).bits / 8;
    op->is_signed = type_of(i).kind == PTX_CLASS_INT && type_of(i).is_signed;
    build_plain(b, i, op);
}

/* ---- barriers ---- */

static void note_barrier(struct ptx_builder *b, const struct ptx_op *op,
                         const struct ptx_operand *number)
{
    struct ptx_code *code = b->code;
    bool is_known = number->kind == PTX_OPERAND_INTEGER && number->value < 16;
    code->barriers |= is_known ? 1u << number->value : 0xffffu;
    code->barrier_count = (uint32_t)__builtin_popcount(code->barriers);
    code->has_named_barriers |=
        op->exec != PTX_EXEC_BAR_SYNC || op->has_count || !is_known || number->value != 0;
    b->program->barrier_count++;
}

/* Detectors hear of it as of a named barrier; the block has its barrier 0 besides. */
static void build_cluster_barrier(struct ptx_builder *b, struct ptx_op *op, enum ptx_word what)
{
    struct ptx_code *code = b->code;
    op->exec = PTX_EXEC_CLUSTER;
    op->mode = (uint8_t)what;
    code->has_cluster_barrier = code->has_named_barriers = true;
    code->barriers |= 1;
    code->barrier_count = (uint32_t)__builtin_popcount(code->barriers);
}

/* number, count?, predicate */
static void build_barrier(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    enum ptx_word what = (enum ptx_word)i->words[PTX_SLOT_SYNC];
    if (i->form == PTX_FORM_BARRIER_CLUSTER_ARRIVE || i->form == PTX_FORM_BARRIER_CLUSTER_WAIT) {
        build_cluster_barrier(b, op, what);
        return;
    }
    bool is_red = what == PTX_W_RED;
    const struct ptx_operand *number = operand(i, is_red);
    const struct ptx_operand *next = number->next;
    if (i->form == PTX_FORM_BAR_WARP) {
        op->exec = PTX_EXEC_BAR_WARP;
        build_plain(b, i, op);
        return;
    }
    op->exec = (uint8_t)(is_red                 ? PTX_EXEC_BAR_RED
                         : what == PTX_W_ARRIVE ? PTX_EXEC_BAR_ARRIVE
                                                : PTX_EXEC_BAR_SYNC);
    op->mode = i->words[PTX_SLOT_OP];
    op->has_count = count_operands(i) - 2u * is_red == 2;
    if (is_red)
        add_result(b, op, operand(i, 0), type_of(i), 0);
    add_source(b, op, number, u32, 0);
    if (op->has_count) {
        add_source(b, op, next, u32, 0);
        next = next->next;
    }
    op->source_count = 2;
    if (is_red)
        add_source(b, op, next, predicate, 0);
    note_barrier(b, op, number);
}

/* ---- control flow ---- */

static void build_target(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op,
                         enum ptx_exec exec)
{
    const struct ptx_operand *o = i->operands;
    op->exec = (uint8_t)exec;
    if (o->target_kind == PTX_TARGET_STATEMENT)
        op->target = ptx_build_label(b, o->target.statement);
    else
        add_source(b, op, o, u32, 0);
}

static void build_table(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    const struct ptx_operand *list = operand(i, 1);
    op->exec = PTX_EXEC_BRA;
    add_source(b, op, operand(i, 0), u32, 0);
    const struct ptx_statement *targets = list->target.statement;
    bool is_new;
    uint32_t *table = ptx_map_add(&b->labels, targets, 1, &is_new);
    if (is_new) {
        *table = b->table_count;
        for (const struct ptx_operand *o = targets->u.targets; o; o = o->next)
            b->code->table[b->table_count++] = ptx_build_label(b, o->target.statement);
    }
    op->table = *table;
    for (const struct ptx_operand *o = targets->u.targets; o; o = o->next)
        op->table_count++;
}

static enum ptx_exec of_return(const struct ptx_builder *b)
{
    return ptx_is_entry(b) && !b->ptx->raw ? PTX_EXEC_EXIT : PTX_EXEC_RET;
}

/* The end of a function that does not say so (LOAD.T5). */
static void build_end(const struct ptx_builder *b, struct ptx_op *op)
{
    op->exec = (uint8_t)of_return(b);
    op->opcode = PTX_OP_RET;
}

static void build_opcode(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    switch ((int)op->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        build_load(b, i, op);
        return;
    case PTX_OP_ST:
        if (is_heard(i))
            build_async_store(b, i, op);
        else
            build_store(b, i, op);
        return;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        if (is_heard(i))
            build_async_store(b, i, op);
        else
            build_atomic(b, i, op);
        return;
    case PTX_OP_CP:
        build_async(b, i, op);
        return;
    case PTX_OP_MBARRIER:
        build_mbarrier(b, i, op);
        return;
    case PTX_OP_VOTE:
        build_warp(b, i, op, PTX_EXEC_VOTE, PTX_SLOT_MODE);
        return;
    case PTX_OP_MATCH:
        build_warp(b, i, op, PTX_EXEC_MATCH, PTX_SLOT_MODE);
        return;
    case PTX_OP_ELECT: /* all lanes of a mask have the same one, which is what they match */
        build_warp(b, i, op, PTX_EXEC_MATCH, PTX_SLOT_MODE);
        op->sources[op->source_count++] = op->sources[0];
        return;
    case PTX_OP_SHFL:
        build_warp(b, i, op, PTX_EXEC_SHFL, PTX_SLOT_MODE);
        return;
    case PTX_OP_REDUX:
        build_warp(b, i, op, PTX_EXEC_REDUX, PTX_SLOT_OP);
        return;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
        ptx_build_matrix(b, i, op);
        return;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
    case PTX_OP_SULD:
    case PTX_OP_SUST:
        ptx_build_texture(b, i, op);
        return;
    case PTX_OP_ACTIVEMASK:
        build_warp(b, i, op, PTX_EXEC_ACTIVEMASK, PTX_SLOT_MODE);
        return;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        build_barrier(b, i, op);
        return;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
        op->exec = i->form == PTX_FORM_FENCE_PROXY || i->form == PTX_FORM_FENCE_MBARRIER
                       ? PTX_EXEC_NOP
                       : PTX_EXEC_MEMBAR;
        op->mode = i->words[PTX_SLOT_SCOPE];
        return;
    case PTX_OP_NOP:
    case PTX_OP_BRKPT:
    case PTX_OP_PMEVENT:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_GRIDDEPCONTROL:
        op->exec = PTX_EXEC_NOP;
        return;
    case PTX_OP_BRA:
        build_target(b, i, op, PTX_EXEC_BRA);
        return;
    case PTX_OP_BRX:
        build_table(b, i, op);
        return;
    case PTX_OP_CALL:
        ptx_build_call(b, i, op);
        return;
    case PTX_OP_RET:
        op->exec = (uint8_t)of_return(b);
        return;
    case PTX_OP_EXIT:
        op->exec = PTX_EXEC_EXIT;
        return;
    case PTX_OP_TRAP:
        op->exec = PTX_EXEC_TRAP;
        return;
    case PTX_OP_SSY:
        build_target(b, i, op, PTX_EXEC_SSY);
        return;
    case PTX_OP_PREBRK:
        build_target(b, i, op, PTX_EXEC_PREBRK);
        return;
    case PTX_OP_PRERET:
        build_target(b, i, op, PTX_EXEC_PRERET);
        return;
    case PTX_OP_SYNC:
        op->exec = PTX_EXEC_SYNC;
        return;
    case PTX_OP_BREAK:
        op->exec = PTX_EXEC_BREAK;
        return;
    default:
        if (reads_clock(i))
            build_clock(b, i, op);
        else
            build_row(b, i, op);
        return;
    }
}

static bool is_explicit(enum ptx_exec exec)
{
    return exec >= PTX_EXEC_SSY && exec <= PTX_EXEC_BREAK;
}

void ptx_build_op(struct ptx_builder *b, const struct ptx_statement *stm, struct ptx_op *op)
{
    op->function = b->function;
    op->statement = stm;
    if (!stm) {
        build_end(b, op);
        return;
    }
    const struct ptx_instruction *i = &stm->u.instruction;
    op->line = b->line = stm->at.line;
    op->opcode = (uint8_t)ptx_forms[i->form].opcode;
    if (i->guard) {
        op->guard = ptx_build_place(b, i->guard, predicate, 32);
        op->guard_not = i->guard->negated;
    }
    build_opcode(b, i, op);
    enum ptx_exec exec = (enum ptx_exec)op->exec;
    b->code->explicit_flow |= is_explicit(exec);
    b->program->has_atomics |= exec == PTX_EXEC_ATOM;
    b->program->has_votes |= exec >= PTX_EXEC_VOTE && exec <= PTX_EXEC_REDUX;
}
