#include "fuzz/case/signature.h"

#include "engine/base/text.h"
#include "engine/input/ptx_kernel.h"

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

static enum construct construct_of(enum ast_stm_kind kind)
{
    switch (kind) {
    case STM_CALL:
        return CONSTRUCT_CALL;
    case STM_SWITCH:
        return CONSTRUCT_SWITCH;
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
        return CONSTRUCT_LOOP;
    case STM_BARRIER:
    case STM_LOCKSYNC:
        return CONSTRUCT_BARRIER;
    case STM_SYNC:
    case STM_ARRIVE:
        return CONSTRUCT_NAMED_BARRIER;
    case STM_VOTE:
        return CONSTRUCT_VOTE;
    case STM_ATOMIC:
        return CONSTRUCT_ATOMIC;
    case STM_HAVOC:
        return CONSTRUCT_HAVOC;
    case STM_IF:
        return CONSTRUCT_IF;
    case STM_SKIP:
    case STM_ASSIGN:
    case STM_BLOCK:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_MEMBAR:
    case STM_PICK:
    case STM_KIND_COUNT:
        break;
    }
    return CONSTRUCT_NONE;
}

static bool has_logic(const struct ast_expr *e)
{
    for (; e; e = e->next) {
        bool logic = e->kind == EXPR_COND ||
                     (e->kind == EXPR_BINARY &&
                      (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR));
        if (logic || has_logic(e->a) || has_logic(e->b) || has_logic(e->c))
            return true;
    }
    return false;
}

static uint32_t constructs_of_stms(const struct ast_stm *list)
{
    uint32_t set = 0;
    for (; list; list = list->next) {
        set |= 1u << construct_of(list->kind);
        if (has_logic(list->value) || has_logic(list->arguments) || has_logic(list->guard))
            set |= 1u << CONSTRUCT_LOGIC;
        set |= constructs_of_stms(list->body) | constructs_of_stms(list->other);
        for (const struct ast_case *c = list->cases; c; c = c->next)
            set |= constructs_of_stms(c->body);
    }
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

static const char *rule_text(struct arena *arena, enum rule rule)
{
    const struct rule_info *info = &rule_table[rule];
    return arena_printf(arena, "%s%s%s", info->semantics, *info->semantics ? "." : "", info->name);
}

const char *signature_cause(struct arena *arena, const struct check_result *result,
                            const struct divergence *divergence, bool minimised)
{
    const struct divergence *cause = divergence;
    for (uint32_t o = 0; o < ORACLE_COUNT && !divergence->known; o++)
        for (const struct divergence *d = result->answers[o].divergence; d; d = d->next)
            if (!d->known && compare(d, cause) < 0)
                cause = d;
    const char *where = "";
    if (oracle_table[cause->oracle].distance <= ORACLE_LAST_STEP)
        where = rule_text(arena, cause->rule);
    else if (minimised && cause->oracle != ORACLE_DIRECTIONS)
        where = signature_shape(arena, result->kernel);
    return arena_printf(arena, "%s|%s|%s|%s", oracle_table[cause->oracle].name, cause->class_name,
                        where, without_space(cause->observable));
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
