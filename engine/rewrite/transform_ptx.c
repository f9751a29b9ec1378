/*
 * transform_ptx.c - PTX: branches that nobody takes, or everybody, guards, labels, the order of the text.
 *
 * An edit is made to a tree that was read from the kernel's own text, and is read again from its text; new
 * statements are read from text too. Threads do what they did. What is another is the number of
 * instructions and their addresses: so raw programs, calls through addresses and clocks are left alone. In lock-step
 * paths may come in another order, or meet elsewhere: warps are compared only where the threads on their own
 * do not race.
 */
#include "engine/input/ptx_kernel.h"
#include "engine/rewrite/transform_internal.h"
#include "engine/to_ptx/ptx_flow.h"
#include "engine/to_ptx/ptx_rename.h"

#include <string.h>

/* ---- where it may act ---- */

static bool reads_clock(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_SPECIAL && o->target.special >= PTX_SPECIAL_CLOCK &&
           o->target.special <= PTX_SPECIAL_GLOBALTIMER_HI;
}

static bool is_code(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_FUNCTION ||
           (o->target_kind == PTX_TARGET_STATEMENT && o->target.statement->kind == PTX_LABEL);
}

/* An address of code as a value, a clock. */
static bool tells_code(const struct ptx_operand *list, bool is_flow)
{
    for (; list; list = list->next)
        if (reads_clock(list) || (!is_flow && is_code(list)) || tells_code(list->items, is_flow))
            return true;
    return false;
}

static bool statements_tell(const struct ptx_statement *list)
{
    for (; list; list = list->next) {
        const struct ptx_operand *target = ptx_call_target(list);
        bool is_flow = target != NULL || ptx_statement_opcode(list) == PTX_OP_BRA;
        if (list->kind == PTX_BLOCK && statements_tell(list->u.block))
            return true;
        if (list->kind == PTX_INSTRUCTION &&
            (ptx_statement_is_branch_unit(list) ||
             tells_code(list->u.instruction.operands, is_flow) ||
             (target && target->target_kind != PTX_TARGET_FUNCTION)))
            return true;
    }
    return false;
}

static bool names_function(const struct ptx_module *module, const char *name)
{
    for (const struct ptx_item *i = module->items; i; i = i->next) {
        if (i->kind == PTX_ITEM_FUNCTION && strcmp(i->u.function->name, name) == 0)
            return true;
        if (i->kind == PTX_ITEM_ALIAS && strcmp(i->name, name) == 0)
            return true;
    }
    return false;
}

/* A variable starts with the address of a function. */
static bool values_tell(const struct ptx_module *module, const struct ptx_init *list)
{
    for (; list; list = list->next)
        if ((list->kind == PTX_INIT_ADDRESS && names_function(module, list->name)) ||
            (list->kind == PTX_INIT_LIST && values_tell(module, list->items)))
            return true;
    return false;
}

static bool is_open(const struct ast_kernel *kernel)
{
    const struct ptx_module *module = kernel->ptx->module;
    if (kernel->ptx->raw)
        return false;
    for (const struct ptx_item *i = module->items; i; i = i->next) {
        if (i->kind == PTX_ITEM_FUNCTION && statements_tell(i->u.function->body))
            return false;
        if (i->kind == PTX_ITEM_VARIABLE && values_tell(module, i->u.variable->init))
            return false;
    }
    return true;
}

/* A statement of some function; the slots of the list that it stands in go on from `slot`. */
typedef void visit_statement(struct edit *edit, struct ptx_function *function,
                             struct ptx_statement **slot);

static void walk_statements(struct edit *edit, struct ptx_function *f, struct ptx_statement **list,
                            visit_statement *visit)
{
    for (struct ptx_statement **slot = list; *slot && !edit_done(edit); slot = &(*slot)->next) {
        if ((*slot)->kind == PTX_BLOCK)
            walk_statements(edit, f, &(*slot)->u.block, visit);
        else
            visit(edit, f, slot);
    }
}

/* The tree was read for this edit alone. */
static struct ptx_module *module_of(const struct edit *edit)
{
    return (struct ptx_module *)(uintptr_t)edit->kernel->ptx->module;
}

static void walk_module(struct edit *edit, visit_statement *visit)
{
    if (!is_open(edit->kernel))
        return;
    for (struct ptx_item *i = module_of(edit)->items; i && !edit_done(edit); i = i->next)
        if (i->kind == PTX_ITEM_FUNCTION && i->u.function->has_body)
            walk_statements(edit, i->u.function, &i->u.function->body, visit);
}

/* ---- new statements ---- */

/* Statements from text, in which $ stands for a part of names that the module does not have. */
static struct ptx_statement *read(struct edit *edit, const char *text)
{
    const char *tag = ptx_unused_tag(edit->arena, module_of(edit));
    char *whole = arena_strndup(edit->arena, "", 0);
    struct diag *diag = ARENA_NEW(edit->arena, struct diag);
    for (const char *c = text; *c; c++)
        whole = *c == '$' ? arena_printf(edit->arena, "%s%s", whole, tag)
                          : arena_printf(edit->arena, "%s%c", whole, *c);
    whole = arena_printf(
        edit->arena, ".version 8.0\n.target sm_80\n.address_size 64\n.entry e()\n{\n%s\nret;\n}\n",
        whole);
    diag_init(diag, "new statements", whole, strlen(whole));
    const struct ptx_module *module = ptx_parse(edit->arena, whole, strlen(whole), diag);
    struct ptx_statement *list = module ? module->items->u.function->body : NULL;
    struct ptx_statement **last = &list;
    while (*last && (*last)->next)
        last = &(*last)->next;
    *last = NULL; /* ret */
    return list;
}

static struct ptx_statement **end_of(struct ptx_statement **list)
{
    while (*list)
        list = &(*list)->next;
    return list;
}

static void put(struct ptx_statement **slot, struct ptx_statement *list)
{
    struct ptx_statement *rest = *slot;
    *slot = list;
    *end_of(slot) = rest;
}

/* Declarations and instructions after which the predicate holds in every thread, or in none. */
static const char *known_predicate(struct edit *edit, bool value)
{
    static const char *const sources[] = {
        "mov.u32 r$0, 0;\nmov.u32 r$1, 1;\n",
        "mov.u32 r$0, %tid.x;\nmov.u32 r$1, %ntid.x;\n",
        "mov.u32 r$0, %laneid;\nmov.u32 r$1, WARP_SZ;\n",
        "mov.u32 r$0, %ctaid.x;\nmov.u32 r$1, %nctaid.x;\n",
    };
    return arena_printf(edit->arena,
                        ".reg .pred p$;\n.reg .u32 r$0;\n.reg .u32 r$1;\n%ssetp.%s.u32 p$, r$0, "
                        "r$1;\n",
                        sources[edit_choose(edit, 4)], value ? "lt" : "ge");
}

/* ---- transformations ---- */

/*      I   ==>   bra L; L: I          @t bra L; L: I */
static void jump(struct edit *edit, struct ptx_function *f, struct ptx_statement **slot)
{
    (void)f;
    if ((*slot)->kind != PTX_INSTRUCTION || !edit_here(edit))
        return;
    const char *text = "bra L$;\nL$:\n";
    if (edit_choose(edit, 2))
        text = arena_printf(edit->arena, "%s@p$ bra L$;\nL$:\n", known_predicate(edit, true));
    put(slot, read(edit, text));
}

void transform_ptx_jump(struct edit *edit)
{
    walk_module(edit, jump);
}

/* Whether control comes to what follows, whatever the instruction does. */
static bool goes_on(const struct ptx_statement *s)
{
    enum ptx_opcode op = ptx_statement_opcode(s);
    return s->kind == PTX_INSTRUCTION && op != PTX_OP_BRA && op != PTX_OP_BRX && op != PTX_OP_RET &&
           op != PTX_OP_EXIT && op != PTX_OP_TRAP && op != PTX_OP_CALL;
}

/*      I   ==>   @f bra L; I; L:          f holds in no thread */
static void skip(struct edit *edit, struct ptx_function *f, struct ptx_statement **slot)
{
    (void)f;
    if (!goes_on(*slot) || !edit_here(edit))
        return;
    struct ptx_statement *instruction = *slot, *rest = instruction->next;
    struct ptx_statement *list =
        read(edit, arena_printf(edit->arena, "%s@p$ bra L$;\nL$:\n", known_predicate(edit, false)));
    struct ptx_statement **label = &list;
    while (*label && (*label)->kind != PTX_LABEL)
        label = &(*label)->next;
    instruction->next = *label;
    *label = instruction;
    *end_of(&list) = rest;
    *slot = list;
}

void transform_ptx_skip(struct edit *edit)
{
    walk_module(edit, skip);
}

/*      I   ==>   @f exit; I          f holds in no thread */
static void dead_exit(struct edit *edit, struct ptx_function *f, struct ptx_statement **slot)
{
    (void)f;
    if ((*slot)->kind != PTX_INSTRUCTION || !edit_here(edit))
        return;
    put(slot, read(edit, arena_printf(edit->arena, "%s@p$ exit;\n", known_predicate(edit, false))));
}

void transform_ptx_exit(struct edit *edit)
{
    walk_module(edit, dead_exit);
}

/*      I   ==>   @t I          t holds in every thread */
static void guard(struct edit *edit, struct ptx_function *f, struct ptx_statement **slot)
{
    (void)f;
    if (!goes_on(*slot) || (*slot)->u.instruction.guard || !edit_here(edit))
        return;
    struct ptx_statement *list = read(
        edit, arena_printf(edit->arena, "%s@p$ mov.u32 r$0, 0;\n", known_predicate(edit, true)));
    struct ptx_statement **last = &list;
    while (*last && (*last)->next)
        last = &(*last)->next;
    if (!*last)
        return;
    (*slot)->u.instruction.guard = (*last)->u.instruction.guard;
    *last = NULL;
    put(slot, list);
}

void transform_ptx_guard(struct edit *edit)
{
    walk_module(edit, guard);
}

/*      @p bra L;   ==>   @!p bra N; bra L; N: */
static void invert(struct edit *edit, struct ptx_function *f, struct ptx_statement **slot)
{
    (void)f;
    struct ptx_statement *branch = *slot;
    if (ptx_statement_opcode(branch) != PTX_OP_BRA || !branch->u.instruction.guard ||
        branch->u.instruction.operands->target_kind != PTX_TARGET_STATEMENT || !edit_here(edit))
        return;
    struct ptx_statement *list = read(edit, "bra N$;\nbra N$;\nN$:\n");
    if (!list)
        return;
    struct ptx_operand *guard_operand = branch->u.instruction.guard;
    guard_operand->negated = !guard_operand->negated;
    list->u.instruction.guard = guard_operand;
    list->next->u.instruction.operands = branch->u.instruction.operands;
    put(&branch->next, list);
    *slot = list;
}

void transform_ptx_invert(struct edit *edit)
{
    walk_module(edit, invert);
}

static bool only_code(const struct ptx_statement *list)
{
    for (; list; list = list->next)
        if (list->kind != PTX_INSTRUCTION && list->kind != PTX_LABEL && list->kind != PTX_LOC)
            return false;
    return true;
}

/*      X Y   ==>   bra A; B: Y ret; A: X bra B;
 *
 * What fell off the end of Y returns, as it did. */
static void rotate_function(struct edit *edit, struct ptx_function *f)
{
    struct ptx_statement **slot = &f->body;
    while (*slot && !only_code(*slot))
        slot = &(*slot)->next;
    for (; *slot && (*slot)->next; slot = &(*slot)->next) {
        if ((*slot)->kind == PTX_LOC || !edit_here(edit))
            continue;
        struct ptx_statement *x = *slot, **end = &x->next, *y;
        uint32_t length = edit_choose(edit, 4);
        for (uint32_t i = 0; i < length && (*end)->next; i++)
            end = &(*end)->next;
        /* While all of the function's names are in the tree. */
        struct ptx_statement *list = read(edit, "bra A$;\nB$:\nret;\nA$:\nbra B$;\n");
        if (!list)
            return;
        y = *end;
        *end = NULL;
        struct ptx_statement *back = list->next->next->next;
        put(&back->next, x);
        put(&list->next->next, y);
        *slot = list;
        return;
    }
}

void transform_ptx_rotate(struct edit *edit)
{
    if (!is_open(edit->kernel))
        return;
    for (struct ptx_item *i = module_of(edit)->items; i && !edit_done(edit); i = i->next)
        if (i->kind == PTX_ITEM_FUNCTION && i->u.function->has_body)
            rotate_function(edit, i->u.function);
}

/* ---- names ---- */

/* A range of registers keeps its numbers. */
static void rename_operands(struct edit *edit, struct ptx_operand *list)
{
    for (; list; list = list->next) {
        if (list->target_kind == PTX_TARGET_STATEMENT)
            list->name = list->target.statement->name;
        else if (list->target_kind == PTX_TARGET_VARIABLE &&
                 list->target.variable->space == PTX_W_REG)
            list->name = list->target.variable->is_range
                             ? arena_printf(edit->arena, "%s%u", list->target.variable->name,
                                            (unsigned)list->index)
                             : list->target.variable->name;
        rename_operands(edit, list->items);
    }
}

struct names {
    const char *tag;
    uint32_t count;
};

static void rename_declarations(struct edit *edit, struct ptx_statement *list, struct names *names)
{
    for (; list; list = list->next) {
        bool is_register = list->kind == PTX_VARIABLE && list->u.variable->space == PTX_W_REG;
        if (list->kind == PTX_BLOCK)
            rename_declarations(edit, list->u.block, names);
        else if (list->kind == PTX_LABEL)
            list->name = arena_printf(edit->arena, "L%s%u", names->tag, (unsigned)names->count++);
        else if (is_register) /* no digit last: those of a range follow */
            list->u.variable->name =
                arena_printf(edit->arena, "%%r%s%u_", names->tag, (unsigned)names->count++);
    }
}

static void rename_uses(struct edit *edit, struct ptx_statement *list)
{
    for (; list; list = list->next) {
        if (list->kind == PTX_BLOCK)
            rename_uses(edit, list->u.block);
        else if (list->kind == PTX_BRANCH_TARGETS)
            rename_operands(edit, list->u.targets);
        if (list->kind != PTX_INSTRUCTION)
            continue;
        rename_operands(edit, list->u.instruction.guard);
        rename_operands(edit, list->u.instruction.operands);
    }
}

/* Labels and registers of all functions; parameters keep their names, which settings may say. */
void transform_ptx_rename(struct edit *edit)
{
    if (!is_open(edit->kernel) || !edit_here(edit))
        return;
    struct names names = {.tag = ptx_unused_tag(edit->arena, module_of(edit))};
    for (struct ptx_item *i = module_of(edit)->items; i; i = i->next)
        if (i->kind == PTX_ITEM_FUNCTION) {
            rename_declarations(edit, i->u.function->body, &names);
            rename_uses(edit, i->u.function->body);
        }
}
