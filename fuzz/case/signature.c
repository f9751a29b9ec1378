#include "fuzz/case/signature.h"

#include "engine/base/text.h"
#include "engine/input/ptx_kernel.h"
#include "engine/language/walk.h"

#include <string.h>

/* ---- what a kernel is made of ---- */

/* The first of these that the kernel has is its shape. */
enum construct {
    CONSTRUCT_GOTO,
    CONSTRUCT_CALL,
    CONSTRUCT_SWITCH,
    CONSTRUCT_LOOP,
    CONSTRUCT_BARRIER,
    CONSTRUCT_NAMED_BARRIER,
    CONSTRUCT_VOTE,
    CONSTRUCT_ATOMIC,
    CONSTRUCT_HAVOC,
    CONSTRUCT_LOGIC, /* && || ?: */
    CONSTRUCT_IF,
    CONSTRUCT_NONE,
    CONSTRUCT_COUNT
};

static const char *const construct_names[CONSTRUCT_COUNT] = {
    [CONSTRUCT_GOTO] = "goto",     [CONSTRUCT_CALL] = "call",
    [CONSTRUCT_SWITCH] = "switch", [CONSTRUCT_LOOP] = "loop",
    [CONSTRUCT_VOTE] = "vote",     [CONSTRUCT_BARRIER] = "barrier",
    [CONSTRUCT_ATOMIC] = "atomic", [CONSTRUCT_NAMED_BARRIER] = "named barrier",
    [CONSTRUCT_HAVOC] = "havoc",   [CONSTRUCT_LOGIC] = "logic",
    [CONSTRUCT_IF] = "if",         [CONSTRUCT_NONE] = "straight",
};

/* CONSTRUCT_NONE: straight. */
static const uint8_t constructs[STM_KIND_COUNT] = {
    [STM_SKIP] = CONSTRUCT_NONE,
    [STM_ASSIGN] = CONSTRUCT_NONE,
    [STM_CALL] = CONSTRUCT_CALL,
    [STM_BLOCK] = CONSTRUCT_NONE,
    [STM_IF] = CONSTRUCT_IF,
    [STM_WHILE] = CONSTRUCT_LOOP,
    [STM_DO] = CONSTRUCT_LOOP,
    [STM_FOR] = CONSTRUCT_LOOP,
    [STM_SWITCH] = CONSTRUCT_SWITCH,
    [STM_BREAK] = CONSTRUCT_NONE,
    [STM_CONTINUE] = CONSTRUCT_NONE,
    [STM_RETURN] = CONSTRUCT_NONE,
    [STM_EXIT] = CONSTRUCT_NONE,
    [STM_BARRIER] = CONSTRUCT_BARRIER,
    [STM_SYNC] = CONSTRUCT_NAMED_BARRIER,
    [STM_ARRIVE] = CONSTRUCT_NAMED_BARRIER,
    [STM_ATOMIC] = CONSTRUCT_ATOMIC,
    [STM_VOTE] = CONSTRUCT_VOTE,
    [STM_ASSERT] = CONSTRUCT_NONE,
    [STM_ASSUME] = CONSTRUCT_NONE,
    [STM_HAVOC] = CONSTRUCT_HAVOC,
    [STM_MEMBAR] = CONSTRUCT_NONE,
    [STM_PICK] = CONSTRUCT_NONE,
    [STM_LOCKSYNC] = CONSTRUCT_BARRIER,
};

static bool is_logic(void *context, const struct ast_expr *e)
{
    (void)context;
    return e->kind == EXPR_COND || (e->kind == EXPR_BINARY && (e->binary == BINARY_LOGICAL_AND ||
                                                               e->binary == BINARY_LOGICAL_OR));
}

static bool add_construct(void *context, const struct ast_stm *stm)
{
    static const struct ast_question logic = {.expression = is_logic};
    uint32_t *set = context;
    *set |= 1u << constructs[stm->kind];
    if (ast_ask_expr(&logic, stm->value) || ast_ask_expr(&logic, stm->arguments) ||
        ast_ask_expr(&logic, stm->guard))
        *set |= 1u << CONSTRUCT_LOGIC;
    return false;
}

static uint32_t constructs_of_stms(const struct ast_stm *list)
{
    uint32_t set = 0;
    const struct ast_question question = {.statement = add_construct, .context = &set};
    ast_ask_stms(&question, list);
    return set;
}

static uint32_t constructs_of_function(const struct ast_function *function)
{
    uint32_t set = constructs_of_stms(function->body);
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        set |= constructs_of_stms(b->body) | (b->target_count > 1 ? 1u << CONSTRUCT_GOTO : 0);
    return set;
}

/* ---- of PTX ---- */

/* What every kernel has, to read its arguments and write its results. */
static bool is_common(enum ptx_opcode opcode)
{
    static const enum ptx_opcode common[] = {PTX_OP_ADD,  PTX_OP_MUL,  PTX_OP_MAD, PTX_OP_MOV,
                                             PTX_OP_CVT,  PTX_OP_CVTA, PTX_OP_LD,  PTX_OP_ST,
                                             PTX_OP_SETP, PTX_OP_RET,  PTX_OP_EXIT};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (common[i] == opcode)
            return true;
    return false;
}

static void mark_opcodes(const struct ptx_statement *stm, bool seen[PTX_OPCODE_COUNT])
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK)
            mark_opcodes(stm->u.block, seen);
        if (stm->kind == PTX_INSTRUCTION)
            seen[ptx_forms[stm->u.instruction.form].opcode] = true;
    }
}

/* The instruction that decides where lanes go or wait, or else those that are not in every kernel. */
static const char *shape_of_ptx(struct arena *arena, const struct ptx_kernel *kernel)
{
    static const enum ptx_opcode flow[] = {PTX_OP_BRX,  PTX_OP_CALL, PTX_OP_BAR,
                                           PTX_OP_VOTE, PTX_OP_ATOM, PTX_OP_BRA};
    bool seen[PTX_OPCODE_COUNT] = {false};
    for (const struct ptx_item *item = kernel->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            mark_opcodes(item->u.function->body, seen);
    for (size_t i = 0; i < sizeof flow / sizeof flow[0]; i++)
        if (seen[flow[i]])
            return ptx_mnemonics[flow[i]];
    const char *shape = "";
    for (uint32_t i = 0, count = 0; i < PTX_OPCODE_COUNT && count < 4; i++)
        if (seen[i] && !is_common((enum ptx_opcode)i))
            shape = arena_printf(arena, "%s%s%s", shape, count++ ? "+" : "", ptx_mnemonics[i]);
    return *shape ? shape : construct_names[CONSTRUCT_NONE];
}

const char *signature_shape(struct arena *arena, const struct ast_kernel *kernel)
{
    if (kernel->form == FORM_PTX)
        return shape_of_ptx(arena, kernel->ptx);
    uint32_t set = constructs_of_function(kernel->main);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        set |= constructs_of_function(f);
    uint32_t first = 0;
    while (first < CONSTRUCT_NONE && !(set & 1u << first))
        first++;
    return construct_names[first];
}

/* ---- the cause ---- */

static int compare_texts(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

/* Negative: a is closer to the cause than b. Total, so that no order of findings matters. */
static int compare(const struct divergence *a, const struct divergence *b)
{
    if (a->oracle != b->oracle)
        return oracle_table[a->oracle].distance - oracle_table[b->oracle].distance;
    if (!a->part != !b->part) /* a step goes wrong because of a part of what is executed */
        return a->part ? -1 : 1;
    if ((a->rule == RULE_NONE) != (b->rule == RULE_NONE))
        return a->rule == RULE_NONE ? 1 : -1;
    int order = compare_texts(a->class_name, b->class_name);
    if (order == 0)
        order = compare_texts(rule_table[a->rule].name, rule_table[b->rule].name);
    return order ? order : compare_texts(a->observable, b->observable);
}

static const char *without_space(const char *observable)
{
    static const char *const spaces[] = {"global memory", "shared memory", "private memory",
                                         "local memory"};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (strcmp(observable, spaces[i]) == 0)
            return "memory";
    return observable;
}

/* How a barrier ends is one rule, whatever semantics has it (engine/machine/barrier.c). */
static const char *rule_text(struct arena *arena, enum rule rule)
{
    const struct rule_info *info = &rule_table[rule];
    bool own = strcmp(info->name, "barrier_S") != 0 && strcmp(info->name, "barrier_F") != 0;
    const char *semantics = own ? info->semantics : "";
    return arena_printf(arena, "%s%s%s", semantics, *semantics ? "." : "", info->name);
}

/* What made the program: its variants are made by the same, and the instructions of branch units put into PTX. */
static const char *program_text(struct arena *arena, enum program_id program)
{
    const char *name = program_id_names[program == PROGRAM_CRS ? PROGRAM_PTX : program];
    return arena_strndup(arena, name, strcspn(name, ":"));
}

const struct divergence *signature_closest(const struct check_result *result, uint32_t but)
{
    const struct divergence *closest = NULL;
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        for (const struct divergence *d = result->answers[o].divergence; d; d = d->next)
            if (!d->known && !d->drawn && !(but >> o & 1) && (!closest || compare(d, closest) < 0))
                closest = d;
    return closest;
}

const char *signature_cause(struct arena *arena, const struct check_result *result,
                            const struct divergence *divergence, bool minimised)
{
    const bool own = divergence->known || divergence->drawn;
    const struct divergence *cause = own ? divergence : signature_closest(result, 0);
    const char *where = "", *what = without_space(cause->observable);
    const char *class_name = cause->like ? cause->like : cause->class_name;
    bool step = strcmp(class_name, "step") == 0;
    if (cause->part) /* of what instructions compute: whether by themselves or in an execution */
        return arena_printf(arena, "part|%s||%s", step ? "computed" : class_name, cause->part);
    step &= cause->rule == RULE_NONE;
    if (cause->oracle == ORACLE_REFERENCE && !step && strncmp(what, "result of ", 10) != 0)
        what = ""; /* the step is the same, whatever of it is seen first */
    if (oracle_table[cause->oracle].distance <= ORACLE_LAST_STEP)
        where = rule_text(arena, cause->rule);
    else if (minimised && cause->oracle != ORACLE_DIRECTIONS)
        where = signature_shape(arena, result->kernel);
    if (cause->oracle == ORACLE_REFERENCE && strcmp(class_name, "source") == 0)
        where = program_text(arena, subject_table[cause->subject].program);
    return arena_printf(arena, "%s|%s|%s|%s", oracle_table[cause->oracle].name, class_name, where,
                        what);
}

const char *signature_part(struct arena *arena, const char *signature, int index)
{
    for (; index > 0 && *signature; index--) {
        signature += strcspn(signature, "|");
        signature += *signature == '|';
    }
    return arena_strndup(arena, signature, strcspn(signature, "|"));
}

size_t signature_family_length(const char *subject)
{
    const char *colon = strchr(subject, ':');
    return colon ? (size_t)(colon - subject) + 1 + strcspn(colon + 1, ": ") : strlen(subject);
}
