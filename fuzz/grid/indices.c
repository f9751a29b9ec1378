/*
 * A pass over the text, from top to bottom. The value of a register is kept as
 *
 *     an array's address + tid * %tid.x + step * (something that nobody knows) + number
 *
 * if it is of that form; of any other, and of a register that is written more than once, behind the next label, it is
 * known whether it depends on %tid. An access behind a branch that depends on %tid, up to where that branch goes, is
 * not one that all threads make.
 */
#include "fuzz/grid/indices.h"

#include "fuzz/grid/registers.h"

enum { PARAMETERS = 64 };

struct value {
    bool is_known;     /* of that form */
    bool by_thread;    /* depends on %tid */
    bool by_row;       /* on %tid.y or .z, which are among what nobody knows */
    uint32_t writes;   /* of the register, in the text */
    uint8_t parameter; /* it is this one of the entry, counted from 1; 0: none */
    uint8_t root;      /* such a parameter, and something added; 0: none */
    uint8_t rows;      /* such a parameter times what all threads have, and something added; or 0 */
    uint8_t from;      /* it was read from where such a parameter points to */
    const struct ptx_variable *array; /* NULL: none */
    int64_t tid, step, number;
};

struct registered {
    uint32_t writes;      /* in the text */
    struct value any;     /* wherever it is read */
    struct value now;     /* behind its latest write, up to the next label */
    uint32_t now_stretch; /* between which labels that is */
};

struct pass {
    struct registers registers; /* each a struct registered */
    uint32_t stretch;           /* labels that were passed, + 1 */
    uint32_t guarded;           /* line of the label up to which not all threads come; 0: they do */
    const struct ptx_function *entry;
    struct indices found;
    uint64_t addresses;                /* parameters that lead to memory */
    uint64_t compared;                 /* parameters that threads' numbers are compared with */
    uint64_t between;                  /* see note_between */
    const struct ptx_variable *result; /* of the latest call, and its value */
    struct value returned;
    bool counts; /* the first time: only how often registers are written */
    bool changed;
};

/* ---- values ---- */

static struct registered *value_of(struct pass *p, const struct ptx_operand *o)
{
    return registers_at(&p->registers, o, sizeof(struct registered));
}

static struct value unknown(bool by_thread)
{
    return (struct value){.is_known = !by_thread, .by_thread = by_thread, .step = 1};
}

static struct value number(int64_t n)
{
    return (struct value){.is_known = true, .number = n};
}

/* What is written more than once may be anything; so may what another block has, or a parameter. */
static struct value read(struct pass *p, const struct ptx_operand *o)
{
    const struct registered *v = value_of(p, o);
    if (o->kind == PTX_OPERAND_INTEGER)
        return number((int64_t)o->value);
    if (o->kind == PTX_OPERAND_VECTOR) {
        bool by_thread = false;
        for (const struct ptx_operand *item = o->items; item; item = item->next)
            by_thread |= read(p, item).by_thread;
        return unknown(by_thread);
    }
    if (v)
        return v->now_stretch == p->stretch ? v->now : v->any;
    if (o->target_kind == PTX_TARGET_SPECIAL && o->target.special == PTX_SPECIAL_TID) {
        if (o->element != 'x')
            return (struct value){.is_known = true, .by_thread = true, .by_row = true, .step = 1};
        return (struct value){.is_known = true, .by_thread = true, .tid = 1};
    }
    if (o->target_kind == PTX_TARGET_SPECIAL)
        return unknown(o->target.special == PTX_SPECIAL_LANEID ||
                       o->target.special == PTX_SPECIAL_WARPID);
    if (o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space == PTX_W_SHARED)
        return (struct value){
            .is_known = true, .array = o->target.variable, .number = (int64_t)o->value};
    return unknown(false);
}

/* The number, and nothing else. */
static bool is_number(struct value v)
{
    return v.is_known && v.tid == 0 && v.step == 0 && !v.array;
}

/* The step of a sum of two of them: what divides both. */
static int64_t common(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct value sum(struct value a, struct value b, int64_t sign)
{
    a.root = a.root ? a.root : b.root;
    a.rows = a.rows ? a.rows : b.rows;
    if (!a.is_known || !b.is_known || (b.array && (a.array || sign < 0))) {
        b = unknown(a.by_thread || b.by_thread);
        b.root = a.root;
        b.rows = a.rows;
        return b;
    }
    a.array = a.array ? a.array : b.array;
    a.parameter = 0;
    a.by_thread |= b.by_thread;
    a.by_row |= b.by_row;
    a.tid += sign * b.tid;
    a.step = common(a.step, b.step);
    a.number += sign * b.number;
    return a;
}

static struct value product(struct value a, struct value b)
{
    const bool is_left = is_number(a);
    const struct value *factor = is_left ? &a : &b;
    struct value *other = is_left ? &b : &a;
    if (!is_number(*factor) || !other->is_known || other->array ||
        factor->number > UINT32_MAX + (int64_t)1 || factor->number < 0) {
        struct value v = unknown(a.by_thread || b.by_thread);
        v.rows = v.by_thread || (a.parameter && b.parameter) ? 0
                 : a.parameter                               ? a.parameter
                                                             : b.parameter;
        return v;
    }
    other->parameter = other->root = 0;
    other->tid *= factor->number;
    other->step *= factor->number;
    other->number *= factor->number;
    return *other;
}

static struct value shifted(struct value a, struct value by)
{
    if (!is_number(by) || by.number < 0 || by.number > 32)
        return unknown(a.by_thread || by.by_thread);
    return product(a, number((int64_t)1 << by.number));
}

/* Where nothing is shifted out: compilers extend a sign so. */
static struct value shifted_back(struct value a, struct value by)
{
    const int64_t all = a.tid | a.step | a.number,
                  part = is_number(by) && by.number >= 0 && by.number <= 32
                             ? (int64_t)1 << by.number
                             : INT64_MAX;
    if (!a.is_known || a.array || all % part != 0)
        return unknown(a.by_thread || by.by_thread);
    a.parameter = a.root = 0;
    a.tid /= part;
    a.step /= part;
    a.number /= part;
    return a;
}

/* ---- instructions ---- */

static struct value loaded(struct pass *p, const struct ptx_instruction *i,
                           const struct ptx_operand *from, bool by_thread)
{
    struct value v = unknown(by_thread);
    uint8_t number = 1;
    if (i->words[PTX_SLOT_SPACE] != PTX_W_PARAM)
        v.from = read(p, from).root;
    if (i->words[PTX_SLOT_SPACE] != PTX_W_PARAM || from->target_kind != PTX_TARGET_VARIABLE)
        return v;
    if (from->target.variable == p->result)
        return p->returned;
    for (const struct ptx_variable *q = p->entry->parameters; q && number < PARAMETERS;
         q = q->next, number++)
        if (from->target.variable == q && from->value == 0)
            v.parameter = v.root = number;
    return v;
}

/* A row's number times how long rows are. */
static void note_pitch(struct pass *p, struct value a, struct value b)
{
    if (a.by_thread && b.parameter)
        p->found.pitches |= (uint64_t)1 << (b.parameter - 1);
    if (b.by_thread && a.parameter)
        p->found.pitches |= (uint64_t)1 << (a.parameter - 1);
}

/* A row's number, which all threads have, times how long rows are, and a thread's own number: temp[row * n + t]. With
 * fewer than a row has threads, they meet; unless threads beyond it do something else (compared). */
static void note_between(struct pass *p, struct value a, struct value b)
{
    const uint8_t rows = a.rows ? a.rows : b.rows;
    const struct value *other = a.rows ? &b : &a;
    if (rows && other->is_known && other->tid > 0)
        p->between |= (uint64_t)1 << (rows - 1);
}

/* threadIdx.x / 32 */
static void note_warps(struct pass *p, struct value a, struct value by)
{
    enum { LOG_WARP = 5 };
    p->found.counts_warps |= a.is_known && a.tid == 1 && a.step == 0 && !a.array && is_number(by) &&
                             by.number == LOG_WARP;
}

static struct value result(struct pass *p, const struct ptx_instruction *i)
{
    const struct ptx_operand *a = i->operands->next, *b = a ? a->next : NULL,
                             *c = b ? b->next : NULL;
    const struct ptx_type type = ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]);
    bool by_thread = false;
    for (const struct ptx_operand *o = a; o; o = o->next)
        by_thread |= read(p, o).by_thread;
    switch ((int)ptx_forms[i->form].opcode) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
        return type.kind == PTX_CLASS_FLOAT || type.bits < 32 || a->kind == PTX_OPERAND_VECTOR
                   ? unknown(by_thread)
                   : read(p, a);
    case PTX_OP_ADD:
        note_between(p, read(p, a), read(p, b));
        return sum(read(p, a), read(p, b), 1);
    case PTX_OP_SUB:
        return sum(read(p, a), read(p, b), -1);
    case PTX_OP_SHL:
        return shifted(read(p, a), read(p, b));
    case PTX_OP_SHR:
        note_warps(p, read(p, a), read(p, b));
        return shifted_back(read(p, a), read(p, b));
    case PTX_OP_LD:
    case PTX_OP_ATOM:
        return loaded(p, i, a, by_thread);
    case PTX_OP_MUL:
        note_pitch(p, read(p, a), read(p, b));
        return i->words[PTX_SLOT_MODE] == PTX_W_HI || type.kind == PTX_CLASS_FLOAT
                   ? unknown(by_thread)
                   : product(read(p, a), read(p, b));
    case PTX_OP_MAD:
        note_pitch(p, read(p, a), read(p, b));
        note_between(p, product(read(p, a), read(p, b)), read(p, c));
        return i->words[PTX_SLOT_MODE] == PTX_W_HI || type.kind == PTX_CLASS_FLOAT
                   ? unknown(by_thread)
                   : sum(product(read(p, a), read(p, b)), read(p, c), 1);
    default:
        return unknown(by_thread);
    }
}

/* With so many threads a row of them, or the array, is full. */
static void bound(struct pass *p, const struct value *at, uint32_t bytes)
{
    const int64_t all = (int64_t)ptx_memory_bytes(at->array);
    int64_t most = INT64_MAX;
    if (at->tid <= 0)
        return;
    if (at->step == 0 && at->number >= 0 && at->number + bytes <= all)
        most = (all - at->number - bytes) / at->tid + 1;
    if (at->step > at->tid && at->step < all && at->step % at->tid == 0)
        most = at->step / at->tid;
    if (at->by_row && at->step > 0 && at->number >= 0 && at->number % at->step + bytes <= at->step)
        most = (at->step - at->number % at->step - bytes) / at->tid + 1; /* of a row of the tile */
    if (most < p->found.threads)
        p->found.threads = (uint32_t)most;
}

static void note_root(uint64_t *set, struct value v)
{
    if (v.root)
        *set |= (uint64_t)1 << (v.root - 1);
}

static void access(struct pass *p, const struct ptx_instruction *i, const struct ptx_operand *o)
{
    struct value at = read(p, o);
    const uint32_t bytes = ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]).bits / 8u;
    note_root(&p->addresses, at);
    if (value_of(p, o))
        at.number += (int64_t)o->value;
    if (at.is_known && at.array && !p->guarded && !i->guard && !p->counts)
        bound(p, &at, bytes);
}

/* Not all threads come to what stands before the label. */
static void branch(struct pass *p, const struct ptx_instruction *i, uint32_t line)
{
    const struct ptx_operand *to = i->operands;
    const bool leaves = ptx_forms[i->form].opcode != PTX_OP_BRA;
    uint32_t until = leaves ? UINT32_MAX : 0;
    if (to && to->target_kind == PTX_TARGET_STATEMENT)
        until = to->target.statement->at.line;
    if (until > line &&
        (p->guarded ? until > p->guarded && !leaves : i->guard && read(p, i->guard).by_thread))
        p->guarded = until;
}

/* A register that is written more than once may hold anything; whether that depends on the thread is found out by going
 * over the text again. */
static void write(struct pass *p, const struct ptx_instruction *i, const struct ptx_operand *o,
                  struct value v)
{
    const bool may_not = i->guard && read(p, i->guard).by_thread;
    struct registered *to = value_of(p, o);
    if (!to)
        return;
    if (p->counts) {
        to->writes++;
        return;
    }
    if (i->guard)
        v = unknown(to->any.by_thread || v.by_thread || may_not);
    to->now = v;
    to->now_stretch = p->stretch;
    if (to->writes > 1)
        v = unknown(to->any.by_thread || v.by_thread || p->guarded);
    p->changed |= v.by_thread != to->any.by_thread || v.is_known != to->any.is_known;
    to->any = v;
}

/* OpenCL's numbers of work-items are functions; any other may return anything. */
static void call(struct pass *p, const struct ptx_instruction *i)
{
    const struct ptx_operand *results = i->operands, *callee = results;
    p->result = NULL;
    if (!results || results->kind != PTX_OPERAND_LIST || !results->items)
        return;
    callee = results->next;
    p->result =
        results->items->target_kind == PTX_TARGET_VARIABLE ? results->items->target.variable : NULL;
    p->returned = unknown(true);
    if (callee && callee->name && strcmp(callee->name, "_Z12get_local_idj") == 0)
        p->returned = (struct value){.is_known = true, .by_thread = true, .tid = 1};
    if (callee && callee->name && strcmp(callee->name, "_Z13get_global_idj") == 0)
        p->returned = (struct value){.is_known = true, .by_thread = true, .tid = 1, .step = 1};
}

/* Whether the blocks' own number counts, too: of such a comparison it is not said which threads of a block it is true
 * of. */
static bool is_of_grid(struct value v)
{
    return v.is_known && v.tid != 0 && v.step != 0 && !v.by_row;
}

/* i <= n, and i > n: the thread of number n goes with those below. `is_left`: n stands on the left. */
static void note_reached(struct pass *p, struct value i, struct value n, enum ptx_word cmp,
                         bool is_left)
{
    const bool up_to = cmp == PTX_W_GT || cmp == PTX_W_HI || cmp == PTX_W_LE || cmp == PTX_W_LS;
    const bool below = cmp == PTX_W_LT || cmp == PTX_W_LO || cmp == PTX_W_GE || cmp == PTX_W_HS;
    if (is_of_grid(i) && i.tid == 1 && i.number == 0 && n.parameter && (is_left ? below : up_to))
        p->found.reached |= (uint64_t)1 << (n.parameter - 1);
}

/* What was read from a buffer, beside a number. */
static void note_sentinel(struct pass *p, struct value read, struct value other)
{
    struct indices *found = &p->found;
    if (!read.from || !is_number(other) || found->sentinel_count == SENTINELS)
        return;
    found->sentinels[found->sentinel_count++] =
        (struct sentinel){.parameter = (uint8_t)(read.from - 1), .word = (int32_t)other.number};
}

/* What addresses are compared with, too. */
static bool is_null(const struct ptx_operand *o)
{
    return o && o->kind == PTX_OPERAND_INTEGER && o->value == 0;
}

static void execute(struct pass *p, const struct ptx_instruction *i, uint32_t line)
{
    const struct ptx_operand *first = i->operands, *second = first ? first->next : NULL;
    if (i->form == PTX_FORM_CP_ASYNC) {
        access(p, i, first);
        note_root(&p->addresses, read(p, second));
        return;
    }
    switch ((int)ptx_forms[i->form].opcode) {
    case PTX_OP_LDMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
        p->found.whole_warps = true;
        break;
    case PTX_OP_BRA:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        branch(p, i, line);
        return;
    case PTX_OP_ST:
    case PTX_OP_RED:
        access(p, i, first);
        if (ptx_forms[i->form].opcode == PTX_OP_RED)
            note_root(&p->found.counted, read(p, first));
        if (i->words[PTX_SLOT_SPACE] == PTX_W_PARAM) /* of a call */
            note_root(&p->addresses, read(p, second));
        return;
    case PTX_OP_CVTA:
        note_root(&p->addresses, read(p, second));
        break;
    case PTX_OP_CALL:
        call(p, i);
        return;
    case PTX_OP_LD:
    case PTX_OP_ATOM:
        access(p, i, second);
        if (ptx_forms[i->form].opcode == PTX_OP_ATOM && i->form != PTX_FORM_ATOM_CAS)
            note_root(&p->found.counted, read(p, second));
        break;
    case PTX_OP_SETP:
        for (const struct ptx_operand *o = second; o && !is_null(second->next); o = o->next)
            note_root(&p->found.numbers, read(p, o));
        if (second->next) {
            if (read(p, second).by_thread)
                note_root(&p->compared, read(p, second->next));
            if (read(p, second->next).by_thread)
                note_root(&p->compared, read(p, second));
            note_sentinel(p, read(p, second), read(p, second->next));
            note_sentinel(p, read(p, second->next), read(p, second));
            const enum ptx_word cmp = (enum ptx_word)i->words[PTX_SLOT_CMP];
            note_reached(p, read(p, second), read(p, second->next), cmp, false);
            note_reached(p, read(p, second->next), read(p, second), cmp, true);
        }
        if (is_of_grid(read(p, second))) {
            write(p, i, first->kind == PTX_OPERAND_PAIR ? first->items : first, unknown(false));
            return;
        }
        break;
    }
    if (!first || !second)
        return;
    const struct value v = result(p, i);
    if (first->kind == PTX_OPERAND_VECTOR || first->kind == PTX_OPERAND_PAIR)
        for (const struct ptx_operand *o = first->items; o; o = o->next)
            write(p, i, o, unknown(v.by_thread));
    else
        write(p, i, first, v);
}

static void go_over(struct pass *p, const struct ptx_statement *list)
{
    for (; list; list = list->next) {
        if (list->at.line >= p->guarded)
            p->guarded = 0;
        p->stretch += list->kind == PTX_LABEL;
        if (list->kind == PTX_BLOCK)
            go_over(p, list->u.block);
        else if (list->kind == PTX_INSTRUCTION)
            execute(p, &list->u.instruction, list->at.line);
    }
}

struct indices indices_find(struct arena *arena, const struct ptx_function *entry)
{
    enum { TIMES = 16 };
    struct pass p = {.registers.numbers.arena = arena,
                     .entry = entry,
                     .counts = true,
                     .changed = true,
                     .stretch = 1};
    for (int i = 0; i < TIMES && p.changed; i++) {
        p.found = (struct indices){.threads = UINT32_MAX};
        p.guarded = 0;
        p.stretch++;
        p.changed = p.counts;
        go_over(&p, entry->body);
        p.counts = false;
    }
    p.found.numbers &= ~p.addresses;
    p.found.pitches |= p.between & ~p.compared;
    return p.found;
}
