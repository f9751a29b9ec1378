/*
 * ptx_inject_code.c - LOAD.T5, T6: writes the regions of ptx_structure as code for a branch unit.
 *
 * The scheme. Every line is one of the catalogue's (cuda-crs 14.1); S is code, L a label, J+1 the label
 * behind `sync`:
 *
 *     region, left by jumps        preBrk L · S · break · L:                          (CMP.switch2)
 *     region, not left             S
 *     loop                         [preBrk E] · H: [preBrk K] · S · [break · K:] · bra H · [E:]
 *                                                                    (CMP.while, CMP.do, CMP.cont)
 *     jump at the end of a region  nothing
 *     jump out of regions          break          (to the innermost region that is left by jumps)
 *     if, both sides go on         ssy J+1 · @c bra T · S2 · bra J · T: S1 · J: sync            (CMP.if)
 *     if, a side leaves            @c bra T · S2 ·· T: S1         S1 never gets to its end: it stands aside
 *     if, a side only leaves       @c break; @c ret; @c exit                    (CMP.break, ret, exit)
 *     table                        ssy J+1 · brx.idx · L1: S1 · bra J · .. · J: sync        (CMP.switch1)
 *     call                         [@p] preRet R · [@p] call · R:          (CMP.call, callg (A), calli)
 *     call of a function without a body, which returns nowhere: as it is
 *
 * A jump that passes an inner region on its way says in a register of its own where it goes, and each
 * region that is passed (ptx_region.crossed) sends on who does not belong there (CMP.cont's fb, for more
 * than two):
 *
 *     jump to region n             exit := n · break
 *     behind a crossed region m    L: leave := exit != m · @leave break
 *
 * Why it is right. Lemma N of the catalogue (14.2): from entering S with stack s, the lanes either get to
 * the end of S together with stack s again (i), or all leave it by break, ret, exit (ii), or stay for
 * ever. By induction over the shapes:
 *   - region: B = (break, A, L) is pushed. The body is neutral; its end is reached with B on top, and the
 *     unguarded break there, like the last lane that leaves, unwinds to B: above it are only tokens without
 *     enabled lanes. L runs with s and all lanes of A that are enabled. A break inside is for the innermost
 *     token B on the stack, that of the innermost region left by jumps (neutrality: no other is open). The
 *     dispatch behind L is a guarded break with stack s, whose innermost token is the next such region's.
 *   - `exit` is written by a lane directly before its break and read at the labels that this break leads
 *     to, with nothing in between; at the end of a crossed region it is written too. A region that is not
 *     crossed is reached only by lanes that go there.
 *   - loop: `bra H` is unguarded and stands at the end of the body, or at K: its stack is that of H.
 *   - if with ssy: as in the catalogue; the token below the branch's is the one that ssy pushed directly
 *     before. (4) holds as printed.
 *   - if without ssy: the side that leaves is the taken one, which runs first. When its last lane has
 *     left, unwinding meets the branch's own diverge token on top, and the other lanes run S2 with s; they
 *     get to its end alone (i) or leave (ii). No sync is passed with that token on the stack.
 *   - table: the lanes that wait re-execute brx with the stack as it was (CMP.switch1); if no side gets to
 *     its end there is no ssy, as in the if.
 *   - exit and ret on their own, calls: catalogue. A callee starts above its call token and its function
 *     ends in ret on every path, so it returns with it on top of the caller's.
 * stack-cons: (1) break stands inside a region left by jumps only; (2) ret stays in functions only; (3), (5)
 * sync is reached from the ends of the sides; (6') preRet stands directly before call with its guard.
 *
 * Reconvergence. Let J be the immediate post-dominator of a block X (it is reached on all paths that go
 * on). It has two forward edges, so it is a merge, on X or on a dominator of X, or behind a loop; X's
 * lanes meet at its region's end. Guarded .uni branches are not trusted: they get tokens as all others.
 *
 * Every block stands once, unreachable ones not at all. What is added is at most one push and one pop a
 * merge or loop, and the dispatch of crossed regions.
 */
#include "engine/to_ptx/ptx_inject_internal.h"

/* A side that leaves: its code may stand anywhere, as long as nothing falls into it. */
struct aside {
    const char *label;
    const struct ptx_shapes *code;
    struct aside *next;
};

/* ---- statements ---- */

struct ptx_statement *ptx_inject_new(struct injecting *j, enum ptx_statement_kind kind,
                                     const char *name)
{
    struct ptx_statement *stm = ARENA_NEW(j->arena, struct ptx_statement);
    stm->kind = kind;
    stm->at = j->at;
    stm->name = name;
    ptx_inject_put(j, stm);
    return stm;
}

static struct ptx_operand *new_operand(struct injecting *j, enum ptx_operand_kind kind,
                                       const char *name, uint64_t value)
{
    struct ptx_operand *o = ARENA_NEW(j->arena, struct ptx_operand);
    o->kind = kind;
    o->at = j->at;
    o->name = name;
    o->value = value;
    return o;
}

static struct ptx_instruction *new_instruction(struct injecting *j, enum ptx_form form,
                                               struct ptx_operand *guard,
                                               struct ptx_operand *operands)
{
    struct ptx_instruction *i = &ptx_inject_new(j, PTX_INSTRUCTION, NULL)->u.instruction;
    i->form = form;
    i->guard = guard;
    i->operands = operands;
    return i;
}

static void put_label(struct injecting *j, const char *name)
{
    ptx_inject_new(j, PTX_LABEL, name);
}

static const char *new_label(struct injecting *j, const char *base)
{
    return ptx_new_name(j->renaming, base);
}

/* bra, ssy, preBrk, preRet to a label. */
static void put_to(struct injecting *j, enum ptx_form form, struct ptx_operand *guard,
                   const char *label)
{
    new_instruction(j, form, guard, new_operand(j, PTX_OPERAND_NAME, label, 0));
}

/* A copy of a guard, turned round if `negated`; NULL of NULL. */
static struct ptx_operand *guard_copy(struct injecting *j, const struct ptx_operand *guard,
                                      bool negated)
{
    struct ptx_operand *copy = ptx_copy_operands(j->renaming, guard);
    if (copy && negated) {
        copy->negated = !copy->negated;
        if (copy->kind == PTX_OPERAND_INTEGER) {
            copy->negated = false;
            copy->value = copy->value == 0;
        }
    }
    return copy;
}

/* ---- leaving regions ---- */

/* exit := number */
static void put_exit_number(struct injecting *j, struct ptx_operand *guard, uint32_t number)
{
    if (!j->exit_name)
        j->exit_name = ptx_new_name(j->renaming, "%exit");
    struct ptx_operand *result = new_operand(j, PTX_OPERAND_NAME, j->exit_name, 0);
    result->next = new_operand(j, PTX_OPERAND_INTEGER, NULL, number);
    new_instruction(j, PTX_FORM_MOV_ANY, guard, result)->words[PTX_SLOT_TYPE] = PTX_W_U32;
}

/* From within one region to the end of another that is left by jumps. */
static void put_leave(struct injecting *j, const struct ptx_region *within,
                      const struct ptx_region *region, const struct ptx_operand *guard,
                      bool negated)
{
    if (region->crossed || ptx_region_left(within) != region)
        put_exit_number(j, guard_copy(j, guard, negated), region->number);
    new_instruction(j, PTX_FORM_BREAK_ANY, guard_copy(j, guard, negated), NULL);
}

/* Behind the label of a region: lanes that go farther. */
static void put_dispatch(struct injecting *j, const struct ptx_region *region)
{
    if (!region->crossed)
        return;
    if (!j->leave_name)
        j->leave_name = ptx_new_name(j->renaming, "%leave");
    struct ptx_operand *result = new_operand(j, PTX_OPERAND_NAME, j->leave_name, 0);
    result->next = new_operand(j, PTX_OPERAND_NAME, j->exit_name, 0);
    result->next->next = new_operand(j, PTX_OPERAND_INTEGER, NULL, region->number);
    struct ptx_instruction *i = new_instruction(j, PTX_FORM_SETP_INT, NULL, result);
    i->words[PTX_SLOT_CMP] = PTX_W_NE;
    i->words[PTX_SLOT_TYPE] = PTX_W_U32;
    new_instruction(j, PTX_FORM_BREAK_ANY, new_operand(j, PTX_OPERAND_NAME, j->leave_name, 0),
                    NULL);
}

/* The start of a region that is left by jumps: the label of its end. NULL: it is not. */
static const char *put_region_start(struct injecting *j, const struct ptx_region *region,
                                    const char *base)
{
    if (!region->left)
        return NULL;
    const char *label = new_label(j, base);
    put_to(j, PTX_FORM_PREBRK_ANY, NULL, label);
    return label;
}

static void put_asides(struct injecting *j, const struct aside *before);

/* Its end, where control arrives if `falls`. */
static void put_region_end(struct injecting *j, const struct ptx_region *region, const char *label,
                           bool falls, const struct aside *before)
{
    if (!label)
        return;
    if (falls) {
        if (region->crossed)
            put_exit_number(j, NULL, region->number);
        new_instruction(j, PTX_FORM_BREAK_ANY, NULL, NULL);
    }
    put_asides(j, before);
    put_label(j, label);
    put_dispatch(j, region);
}

/* ---- blocks ---- */

/* `ret` of an entry is exit (LOAD.T5). */
static void put_ret(struct injecting *j, struct ptx_operand *guard)
{
    new_instruction(j, j->is_entry ? PTX_FORM_EXIT_ANY : PTX_FORM_RET_ANY, guard, NULL);
}

static void put_call(struct injecting *j, const struct ptx_statement *stm)
{
    const char *label = new_label(j, "$return");
    put_to(j, PTX_FORM_PRERET_ANY, ptx_copy_operands(j->renaming, stm->u.instruction.guard), label);
    ptx_inject_put(j, ptx_copy_statement(j->renaming, stm));
    put_label(j, label);
}

static void put_statement(struct injecting *j, const struct ptx_statement *stm)
{
    enum ptx_opcode op = ptx_statement_opcode(stm);
    j->at = stm->at;
    if (stm->kind == PTX_LABEL && stm == j->loop_label)
        return;
    if (stm->kind == PTX_LOC)
        j->loc = stm;
    if (op == PTX_OP_CALL && !ptx_call_is_outside(j->symbols, stm))
        put_call(j, stm);
    else if (op == PTX_OP_RET && j->is_entry)
        put_ret(j, ptx_copy_operands(j->renaming, stm->u.instruction.guard));
    else
        ptx_inject_put(j, ptx_copy_statement(j->renaming, stm));
}

static const struct ptx_operand *guard_of(const struct injecting *j, uint32_t block)
{
    return j->flow->blocks[block].terminator->u.instruction.guard;
}

static void put_block(struct injecting *j, uint32_t block)
{
    const struct ptx_flow_block *b = &j->flow->blocks[block];
    if (j->loc_at[block] != j->loc && j->loc_at[block])
        put_statement(j, j->loc_at[block]);
    for (uint32_t i = b->first; i < b->end; i++)
        if (j->flow->statements[i] != b->terminator)
            put_statement(j, j->flow->statements[i]);
}

/* ret, exit, trap, a call that does not return; or the end of the function (LOAD.T5). */
static void put_end(struct injecting *j, uint32_t block)
{
    const struct ptx_statement *stm = j->flow->blocks[block].terminator;
    if (!stm) {
        put_ret(j, NULL);
        return;
    }
    put_statement(j, stm);
    if (ptx_statement_opcode(stm) == PTX_OP_CALL)
        new_instruction(j, PTX_FORM_TRAP_ANY, NULL, NULL);
}

/* ---- branches ---- */

static void put_shapes(struct injecting *j, const struct ptx_shapes *shapes);

static bool is_empty(const struct ptx_shapes *side)
{
    return side->first->kind == PTX_SHAPE_JUMP && side->falls;
}

/* A block that holds nothing but an unguarded ret, exit, or trap. */
static const struct ptx_statement *only_end(const struct injecting *j,
                                            const struct ptx_shapes *side)
{
    const struct ptx_shape *block = side->first, *end = block->next;
    if (block->kind != PTX_SHAPE_BLOCK || !end || end->kind != PTX_SHAPE_END)
        return NULL;
    const struct ptx_flow_block *b = &j->flow->blocks[block->block];
    if (!b->terminator || ptx_statement_opcode(b->terminator) == PTX_OP_CALL)
        return NULL;
    for (uint32_t i = b->first; i < b->end; i++)
        if (j->flow->statements[i]->kind == PTX_INSTRUCTION &&
            j->flow->statements[i] != b->terminator)
            return NULL;
    return b->terminator;
}

/* A side that only leaves is one guarded instruction. False: it is more. */
static bool put_guarded_side(struct injecting *j, const struct ptx_shapes *side,
                             const struct ptx_operand *guard, bool negated)
{
    const struct ptx_shape *first = side->first;
    const struct ptx_statement *end = only_end(j, side);
    if (first->kind == PTX_SHAPE_JUMP && !side->falls) {
        put_leave(j, first->within, first->region, guard, negated);
        return true;
    }
    if (!end)
        return false;
    enum ptx_opcode op = ptx_statement_opcode(end);
    if (op == PTX_OP_RET)
        put_ret(j, guard_copy(j, guard, negated));
    else
        new_instruction(j, op == PTX_OP_EXIT ? PTX_FORM_EXIT_ANY : PTX_FORM_TRAP_ANY,
                        guard_copy(j, guard, negated), NULL);
    return true;
}

/* Both sides go on: ssy .. sync; nothing if they go on at once. */
static void put_diamond(struct injecting *j, const struct ptx_shapes *other,
                        const struct ptx_shapes *taken, const struct ptx_operand *guard)
{
    if (is_empty(taken) && is_empty(other))
        return;
    const char *meet = new_label(j, "$meet"), *behind = new_label(j, "$behind");
    put_to(j, PTX_FORM_SSY_ANY, NULL, behind);
    if (is_empty(taken)) {
        put_to(j, PTX_FORM_BRA_ANY, guard_copy(j, guard, false), meet);
        put_shapes(j, other);
    } else if (is_empty(other)) {
        put_to(j, PTX_FORM_BRA_ANY, guard_copy(j, guard, true), meet);
        put_shapes(j, taken);
    } else {
        const char *side = new_label(j, "$taken");
        put_to(j, PTX_FORM_BRA_ANY, guard_copy(j, guard, false), side);
        const struct aside *before = j->asides;
        put_shapes(j, other);
        put_to(j, PTX_FORM_BRA_ANY, NULL, meet);
        put_asides(j, before);
        put_label(j, side);
        put_shapes(j, taken);
    }
    put_label(j, meet);
    new_instruction(j, PTX_FORM_SYNC_ANY, NULL, NULL);
    put_label(j, behind);
}

/* Writes the sides that were put aside since `before`; nothing falls in here. */
static void put_asides(struct injecting *j, const struct aside *before)
{
    while (j->asides != before) {
        const struct aside *aside = j->asides;
        j->asides = aside->next;
        put_label(j, aside->label);
        put_shapes(j, aside->code);
    }
}

/* The side `first` leaves: it is taken where the guard (turned round if `negated`) holds. */
static void put_leaving(struct injecting *j, const struct ptx_shapes *other,
                        const struct ptx_shapes *first, const struct ptx_operand *guard,
                        bool negated)
{
    struct aside *aside = ARENA_NEW(j->arena, struct aside);
    *aside = (struct aside){new_label(j, "$aside"), first, j->asides};
    j->asides = aside;
    put_to(j, PTX_FORM_BRA_ANY, guard_copy(j, guard, negated), aside->label);
    put_shapes(j, other);
}

static void put_branch(struct injecting *j, const struct ptx_shape *shape)
{
    const struct ptx_operand *guard = guard_of(j, shape->block);
    const struct ptx_shapes *other = &shape->sides[0], *taken = &shape->sides[1];
    j->at = j->flow->blocks[shape->block].terminator->at;
    if (put_guarded_side(j, taken, guard, false))
        put_shapes(j, other);
    else if (put_guarded_side(j, other, guard, true))
        put_shapes(j, taken);
    else if (taken->falls && other->falls)
        put_diamond(j, other, taken, guard);
    else if (taken->falls)
        put_leaving(j, taken, other, guard, true);
    else
        put_leaving(j, other, taken, guard, false);
}

/* ---- tables ---- */

/* The labels of the sides, in the order of the graph's successors. */
static const char **side_labels(struct injecting *j, const struct ptx_shape *shape,
                                const char *meet)
{
    const char **labels = ARENA_ARRAY(j->arena, const char *, shape->side_count);
    for (uint32_t i = 0; i < shape->side_count; i++)
        labels[i] = is_empty(&shape->sides[i]) ? meet : new_label(j, "$case");
    return labels;
}

/* .branchtargets of the new labels, and brx.idx. */
static void put_brx(struct injecting *j, const struct ptx_shape *shape, const char **labels)
{
    const struct ptx_statement *stm = j->flow->blocks[shape->block].terminator;
    const struct ptx_statement *table = stm->u.instruction.operands->next->target.statement;
    struct ptx_statement *targets = ptx_inject_new(j, PTX_BRANCH_TARGETS, new_label(j, "$targets"));
    struct ptx_operand **last = &targets->u.targets;
    const struct ptx_graph *g = &j->flow->graph;
    for (uint32_t i = 0; i < shape->side_count; i++)
        j->side_label[g->next[g->next_first[shape->block] + i]] = labels[i];
    for (const struct ptx_operand *o = table->u.targets; o; o = o->next) {
        uint32_t block = ptx_flow_block_at(j->flow, o->target.statement);
        *last = new_operand(j, PTX_OPERAND_NAME, j->side_label[block], 0);
        last = &(*last)->next;
    }
    struct ptx_statement *copy = ptx_copy_statement(j->renaming, stm);
    copy->u.instruction.operands->next->name = targets->name;
    ptx_inject_put(j, copy);
}

/* Who does not branch, because of a guard, goes on to the first side. */
static void put_table(struct injecting *j, const struct ptx_shape *shape)
{
    bool falls = false, has_next = guard_of(j, shape->block) != NULL;
    const struct aside *before = j->asides;
    for (uint32_t i = 0; i < shape->side_count; i++)
        falls |= shape->sides[i].falls;
    j->at = j->flow->blocks[shape->block].terminator->at;
    const char *meet = new_label(j, "$meet"), *behind = new_label(j, "$behind");
    const char **labels = side_labels(j, shape, meet);
    if (falls)
        put_to(j, PTX_FORM_SSY_ANY, NULL, behind);
    put_brx(j, shape, labels);
    for (uint32_t i = 0; i < shape->side_count; i++) {
        bool is_next = i == 0 && has_next;
        if (is_empty(&shape->sides[i]) && !is_next)
            continue;
        if (!is_empty(&shape->sides[i]))
            put_label(j, labels[i]);
        put_shapes(j, &shape->sides[i]);
        if (shape->sides[i].falls && i + 1 < shape->side_count)
            put_to(j, PTX_FORM_BRA_ANY, NULL, meet);
        if (!shape->sides[i].falls || i + 1 < shape->side_count)
            put_asides(j, before);
    }
    if (falls) {
        put_label(j, meet);
        new_instruction(j, PTX_FORM_SYNC_ANY, NULL, NULL);
        put_label(j, behind);
    }
}

/* ---- the tree ---- */

static void put_region(struct injecting *j, const struct ptx_shape *shape)
{
    const struct aside *before = j->asides;
    const char *label = put_region_start(j, shape->region, "$region");
    put_shapes(j, &shape->body);
    put_region_end(j, shape->region, label, shape->body.falls, before);
}

/* The header's first label is that of the loop. */
static const char *loop_name(struct injecting *j, uint32_t header)
{
    const struct ptx_flow *f = j->flow;
    if (header == PTX_GRAPH_NONE || f->blocks[header].first == f->statement_count)
        return new_label(j, "$loop");
    const struct ptx_statement *stm = f->statements[f->blocks[header].first];
    if (stm->kind != PTX_LABEL)
        return new_label(j, "$loop");
    j->loop_label = stm;
    return ptx_copy_statement(j->renaming, stm)->name;
}

static void put_loop(struct injecting *j, const struct ptx_shape *shape)
{
    const struct aside *before = j->asides;
    const char *exit = put_region_start(j, shape->exit, "$exit");
    const char *head = loop_name(j, shape->block);
    put_label(j, head);
    const char *latch = put_region_start(j, shape->region, "$latch");
    put_shapes(j, &shape->body);
    put_region_end(j, shape->region, latch, shape->body.falls, before);
    put_to(j, PTX_FORM_BRA_ANY, NULL, head);
    put_asides(j, before);
    put_region_end(j, shape->exit, exit, false, before);
}

static void put_shapes(struct injecting *j, const struct ptx_shapes *shapes)
{
    for (const struct ptx_shape *s = shapes->first; s; s = s->next)
        switch (s->kind) {
        case PTX_SHAPE_BLOCK:
            put_block(j, s->block);
            break;
        case PTX_SHAPE_END:
            put_end(j, s->block);
            break;
        case PTX_SHAPE_JUMP:
            if (s->region != s->within)
                put_leave(j, s->within, s->region, NULL, false);
            break;
        case PTX_SHAPE_BRANCH:
            put_branch(j, s);
            break;
        case PTX_SHAPE_TABLE:
            put_table(j, s);
            break;
        case PTX_SHAPE_REGION:
            put_region(j, s);
            break;
        case PTX_SHAPE_LOOP:
            put_loop(j, s);
            break;
        }
}

void ptx_inject_code(struct injecting *j, const struct ptx_shapes *shapes)
{
    put_shapes(j, shapes);
    put_asides(j, NULL);
}
