#include "oracle/verdicts/kinds.h"

#include "engine/duo/goals.h"
#include "engine/program/ptx_code.h"

#include <stdlib.h>
#include <string.h>

/* Modifiers of the instruction as it is printed, so many. */
enum { MODIFIERS = 16 };

struct printed {
    const char *words[MODIFIERS];
    uint32_t count, bytes; /* of one element; 0: its type has no such size */
};

static bool has(const struct printed *p, const char *word)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(p->words[i], word) == 0)
            return true;
    return false;
}

static struct printed printed_of(struct arena *arena, const struct ptx_op *op)
{
    struct printed p = {.count = 0};
    char *text = ptx_print_instruction(arena, &op->statement->u.instruction);
    if (*text == '@')
        text += strcspn(text, " ") + 1;
    text[strcspn(text, " ")] = '\0';
    for (char *at = text; at && p.count < MODIFIERS;) {
        char *dot = strchr(at, '.');
        p.words[p.count++] = at;
        if (dot)
            *dot = '\0';
        at = dot ? dot + 1 : NULL;
    }
    const char *type = p.words[p.count - 1];
    char *end;
    unsigned long bits = strchr("usbf", *type) ? strtoul(type + 1, &end, 10) : 0;
    p.bytes = bits > 0 && *end == '\0' ? (uint32_t)bits / 8 : 0;
    return p;
}

static bool is_access(const struct ptx_op *op)
{
    return op->statement &&
           (op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM);
}

/* Atomics, and what is strong for all threads of the device, of one element (docs/races.md): 128 bits are taken for
 * two, which proves no race away. */
static bool is_strong(const struct ptx_op *op, const struct printed *p)
{
    bool says = has(p, "volatile") || has(p, "relaxed") || has(p, "acquire") || has(p, "release");
    bool all = !has(p, "cta") && !has(p, "cluster");
    bool one = !has(p, "v2") && !has(p, "v4") && !has(p, "v8") && !has(p, "b128");
    return op->exec == PTX_EXEC_ATOM || (says && all && one);
}

/* Whether a jump or an exit without a guard stands before the last instruction: what is behind it may never be come to,
 * and does not count then. */
static bool ends_early(struct arena *arena, const struct ptx_code *code)
{
    for (uint32_t pc = 0; pc + 1 < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        bool leaves = op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_TRAP ||
                      ptx_is_flow((enum ptx_exec)op->exec);
        if (leaves && op->statement &&
            *ptx_print_instruction(arena, &op->statement->u.instruction) != '@')
            return true;
    }
    return false;
}

const char *kinds_differ(struct arena *arena, const struct lift *lift)
{
    const struct ptx_code *code = lift->code;
    uint32_t size = 0;
    bool one_size = true;
    if (ends_early(arena, code))
        return NULL;
    for (uint32_t pc = 0; pc < code->count; pc++) {
        if (!is_access(&code->ops[pc]))
            continue;
        const struct printed p = printed_of(arena, &code->ops[pc]);
        if (!is_strong(&code->ops[pc], &p))
            continue;
        if (p.bytes == 0)
            return NULL;
        one_size = one_size && (size == 0 || size == p.bytes);
        size = p.bytes;
    }
    for (uint32_t pc = 0; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        if (!is_access(op))
            continue;
        const struct printed p = printed_of(arena, op);
        bool strong = op->exec == PTX_EXEC_ATOM || (one_size && is_strong(op, &p));
        uint32_t kind = op->exec == PTX_EXEC_LD ? (strong ? LOG_STRONG_READ : LOG_READ)
                                                : (strong ? LOG_ATOMIC : LOG_WRITE);
        if (lift_log_kind(lift, op) != kind)
            return arena_printf(arena, "line %u: %s", (unsigned)op->line,
                                ptx_print_instruction(arena, &op->statement->u.instruction));
    }
    return NULL;
}
