/*
 * mutate_ptx.c - mutators of kernels in PTX form: instructions, guards, operands, targets, the launch and
 * first values. The kernel and the donor were read from texts of their own, so their trees may be
 * changed; what is no PTX afterwards, the caller finds by reading it again.
 */
#include "engine/input/ptx_kernel.h"
#include "fuzz/mutate/mutate_internal.h"

#include <inttypes.h>
#include <string.h>

enum { SITES_MAX = 4096, NAMES_MAX = 512 };

/* A statement's place in a list. */
struct ptx_site {
    struct ptx_statement **slot;
    struct ptx_function *function;
};

struct ptx_sites {
    uint32_t count;
    struct ptx_site at[SITES_MAX];
};

typedef bool accept_statement(const struct ptx_statement *s);

static bool is_instruction(const struct ptx_statement *s)
{
    return s->kind == PTX_INSTRUCTION;
}

static bool is_label(const struct ptx_statement *s)
{
    return s->kind == PTX_LABEL;
}

static bool is_place(const struct ptx_statement *s)
{
    return s->kind == PTX_INSTRUCTION || s->kind == PTX_LABEL;
}

static void walk(struct ptx_sites *sites, struct ptx_function *f, struct ptx_statement **list,
                 accept_statement *accept)
{
    for (struct ptx_statement **slot = list; *slot; slot = &(*slot)->next) {
        if (accept(*slot) && sites->count < SITES_MAX)
            sites->at[sites->count++] = (struct ptx_site){slot, f};
        if ((*slot)->kind == PTX_BLOCK)
            walk(sites, f, &(*slot)->u.block, accept);
    }
}

/* The tree came from text of its own (mutate_kernel). */
static struct ptx_module *module_of(const struct ast_kernel *kernel)
{
    return (struct ptx_module *)(uintptr_t)kernel->ptx->module;
}

static struct ptx_sites *sites_of(struct mutation *m, const struct ast_kernel *kernel,
                                  accept_statement *accept)
{
    struct ptx_sites *sites = ARENA_NEW(m->arena, struct ptx_sites);
    for (struct ptx_item *item = module_of(kernel)->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            walk(sites, item->u.function, &item->u.function->body, accept);
    return sites;
}

static struct ptx_site *pick(struct mutation *m, struct ptx_sites *sites)
{
    return sites->count ? &sites->at[mutate_below(m, sites->count)] : NULL;
}

/* A place in the same function; the end of a body counts as none. */
static struct ptx_site *pick_in(struct mutation *m, const struct ptx_function *f)
{
    struct ptx_sites *sites = sites_of(m, m->kernel, is_place);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sites->count; i++)
        if (sites->at[i].function == f)
            sites->at[count++] = sites->at[i];
    sites->count = count;
    return pick(m, sites);
}

static struct ptx_statement *copy_statement(struct mutation *m, const struct ptx_statement *s);

static struct ptx_operand *copy_operands(struct mutation *m, const struct ptx_operand *list)
{
    struct ptx_operand *copy = NULL, **end = &copy;
    for (; list; list = list->next) {
        *end = ARENA_NEW(m->arena, struct ptx_operand);
        **end = *list;
        (*end)->next = NULL;
        (*end)->items = copy_operands(m, list->items);
        end = &(*end)->next;
    }
    return copy;
}

static struct ptx_statement *copy_statement(struct mutation *m, const struct ptx_statement *s)
{
    struct ptx_statement *copy = ARENA_NEW(m->arena, struct ptx_statement);
    *copy = *s;
    copy->next = NULL;
    copy->u.instruction.operands = copy_operands(m, s->u.instruction.operands);
    copy->u.instruction.guard = copy_operands(m, s->u.instruction.guard);
    return copy;
}

static void insert(struct ptx_statement **slot, struct ptx_statement *s)
{
    s->next = *slot;
    *slot = s;
}

static struct ptx_statement *take(struct ptx_statement **slot)
{
    struct ptx_statement *s = *slot;
    *slot = s->next;
    s->next = NULL;
    return s;
}

/* ---- spans ---- */

/* $S7, $E7: where a compound statement begins and ends (ptx_code.h, spans). */
static bool marks_span(const char *name)
{
    size_t digits = name && name[0] == '$' && (name[1] == 'S' || name[1] == 'E')
                        ? strspn(name + 2, "0123456789")
                        : 0;
    return digits > 0 && name[2 + digits] == '\0';
}

static const char *unmarked(struct mutation *m, const char *name)
{
    return marks_span(name) ? arena_printf(m->arena, "$%c%s", name[1] | 0x20, name + 2) : name;
}

static void unmark_operands(struct mutation *m, struct ptx_operand *list)
{
    for (; list; list = list->next) {
        list->name = unmarked(m, list->name);
        unmark_operands(m, list->items);
    }
}

static void unmark_statements(struct mutation *m, struct ptx_statement *s)
{
    for (; s; s = s->next) {
        if (s->kind == PTX_LABEL)
            s->name = unmarked(m, s->name);
        if (s->kind == PTX_BLOCK)
            unmark_statements(m, s->u.block);
        if (s->kind == PTX_BRANCH_TARGETS)
            unmark_operands(m, s->u.targets);
        if (s->kind == PTX_INSTRUCTION)
            unmark_operands(m, s->u.instruction.operands);
    }
}

void mutate_drop_spans(struct mutation *m)
{
    for (struct ptx_item *item = module_of(m->kernel)->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            unmark_statements(m, item->u.function->body);
}

/* ---- operands ---- */

struct operand_list {
    uint32_t count;
    struct ptx_operand *at[NAMES_MAX];
};

static void add_operands(struct operand_list *list, struct ptx_operand *operand)
{
    for (; operand; operand = operand->next) {
        if (list->count < NAMES_MAX)
            list->at[list->count++] = operand;
        add_operands(list, operand->items);
    }
}

/* All operands of the kernel's functions: of `function` first come those of others never. */
static struct operand_list *operands_of(struct mutation *m, const struct ast_kernel *kernel,
                                        const struct ptx_function *function)
{
    struct operand_list *list = ARENA_NEW(m->arena, struct operand_list);
    struct ptx_sites *sites = sites_of(m, kernel, is_instruction);
    for (uint32_t i = 0; i < sites->count; i++) {
        if (function && sites->at[i].function != function)
            continue;
        struct ptx_instruction *in = &(*sites->at[i].slot)->u.instruction;
        add_operands(list, in->operands);
        add_operands(list, in->guard);
    }
    return list;
}

/* Whether one may stand for the other: registers of one type, variables of one space, labels. */
static bool is_alike(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (!a->name || !b->name || a->target_kind != b->target_kind || a->element != b->element)
        return false;
    switch (a->target_kind) {
    case PTX_TARGET_VARIABLE:
        return a->target.variable->type == b->target.variable->type &&
               a->target.variable->space == b->target.variable->space &&
               a->target.variable->vector == b->target.variable->vector;
    case PTX_TARGET_STATEMENT:
        return a->target.statement->kind == b->target.statement->kind;
    case PTX_TARGET_SPECIAL:
    case PTX_TARGET_FUNCTION:
    case PTX_TARGET_NONE:
        break;
    }
    return true;
}

/* Another name for an operand, one that `function` uses somewhere. False: there is none. */
static bool rename_operand(struct mutation *m, struct ptx_operand *operand,
                           const struct operand_list *names)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < names->count; i++)
        count += names->at[i] != operand && is_alike(names->at[i], operand);
    if (count == 0)
        return false;
    uint32_t left = mutate_below(m, count);
    for (uint32_t i = 0; i < names->count; i++)
        if (names->at[i] != operand && is_alike(names->at[i], operand) && left-- == 0) {
            operand->name = names->at[i]->name;
            return true;
        }
    return false;
}

/* ---- instructions ---- */

/* Instructions of the donor, each name one that this function uses. */
bool mutate_ptx_splice(struct mutation *m)
{
    struct ptx_site *from = pick(m, sites_of(m, m->donor, is_instruction));
    struct ptx_site *to = pick(m, sites_of(m, m->kernel, is_place));
    if (!from || !to)
        return false;
    struct operand_list *names = operands_of(m, m->kernel, to->function);
    uint32_t wanted = 1 + mutate_below(m, 2 * MUTATE_RUN_MAX), done = 0;
    struct ptx_statement **slot = to->slot;
    for (const struct ptx_statement *s = *from->slot; s && done < wanted; s = s->next) {
        if (s->kind != PTX_INSTRUCTION)
            continue;
        struct ptx_statement *copy = copy_statement(m, s);
        struct operand_list own = {.count = 0};
        add_operands(&own, copy->u.instruction.operands);
        add_operands(&own, copy->u.instruction.guard);
        bool fits = true;
        for (uint32_t i = 0; i < own.count && fits; i++)
            fits = !own.at[i]->name || own.at[i]->target_kind == PTX_TARGET_SPECIAL ||
                   rename_operand(m, own.at[i], names);
        if (!fits)
            continue;
        insert(slot, copy);
        slot = &copy->next;
        done++;
    }
    return done > 0;
}

bool mutate_ptx_duplicate(struct mutation *m)
{
    struct ptx_site *from = pick(m, sites_of(m, m->kernel, is_instruction));
    if (!from)
        return false;
    struct ptx_statement *copy = copy_statement(m, *from->slot);
    struct ptx_site *to = mutate_chance(m, 40) ? from : pick_in(m, from->function);
    insert(to->slot, copy);
    return true;
}

bool mutate_ptx_delete(struct mutation *m)
{
    struct ptx_site *site = pick(m, sites_of(m, m->kernel, is_instruction));
    if (!site)
        return false;
    uint32_t wanted = 1 + mutate_below(m, MUTATE_RUN_MAX);
    for (uint32_t i = 0; i < wanted && *site->slot && is_instruction(*site->slot); i++)
        take(site->slot);
    return true;
}

/* Labels, too: what jumps there jumps elsewhere then. */
bool mutate_ptx_move(struct mutation *m)
{
    struct ptx_site *from =
        pick(m, sites_of(m, m->kernel, mutate_chance(m, 25) ? is_label : is_place));
    if (!from)
        return false;
    const struct ptx_function *f = from->function;
    struct ptx_statement *s = take(from->slot);
    struct ptx_site *to = pick_in(m, f);
    if (!to)
        return false;
    insert(to->slot, s);
    return true;
}

static bool is_predicate(const struct ptx_operand *operand)
{
    return operand->target_kind == PTX_TARGET_VARIABLE &&
           operand->target.variable->type == PTX_W_PRED && operand->kind == PTX_OPERAND_NAME;
}

/* A guard comes, goes, or is the opposite. */
bool mutate_ptx_guard(struct mutation *m)
{
    struct ptx_site *site = pick(m, sites_of(m, m->kernel, is_instruction));
    if (!site)
        return false;
    struct ptx_instruction *in = &(*site->slot)->u.instruction;
    if (in->guard && mutate_chance(m, 60)) {
        if (mutate_chance(m, 30))
            in->guard = NULL;
        else
            in->guard->negated = !in->guard->negated;
        return true;
    }
    struct operand_list *names = operands_of(m, m->kernel, site->function);
    uint32_t count = 0;
    for (uint32_t i = 0; i < names->count; i++)
        if (is_predicate(names->at[i]))
            names->at[count++] = names->at[i];
    if (count == 0)
        return false;
    in->guard = ARENA_NEW(m->arena, struct ptx_operand);
    in->guard->kind = PTX_OPERAND_NAME;
    in->guard->name = names->at[mutate_below(m, count)]->name;
    in->guard->negated = mutate_chance(m, 50);
    return true;
}

static uint64_t other_value(struct mutation *m, uint64_t value)
{
    static const uint64_t edges[] = {0, 1, 2, 4, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff};
    switch (mutate_below(m, 4)) {
    case 0:
        return value + 1;
    case 1:
        return value - 1;
    case 2:
        return value ^ (uint64_t)1 << mutate_below(m, 8);
    default:
        return edges[mutate_below(m, sizeof edges / sizeof edges[0])];
    }
}

/* An operand becomes another name of its kind - a target another label -, a constant another constant. */
bool mutate_ptx_operand(struct mutation *m)
{
    struct ptx_site *site = pick(m, sites_of(m, m->kernel, is_instruction));
    if (!site)
        return false;
    struct operand_list own = {.count = 0};
    add_operands(&own, (*site->slot)->u.instruction.operands);
    if (own.count == 0)
        return false;
    struct ptx_operand *operand = own.at[mutate_below(m, own.count)];
    if (operand->kind == PTX_OPERAND_INTEGER) {
        operand->value = other_value(m, operand->value);
        return true;
    }
    return rename_operand(m, operand, operands_of(m, m->kernel, site->function));
}

static bool jumps(const struct ptx_statement *s)
{
    const struct ptx_operand *first = s->kind == PTX_INSTRUCTION ? s->u.instruction.operands : NULL;
    return first && first->target_kind == PTX_TARGET_STATEMENT;
}

bool mutate_ptx_target(struct mutation *m)
{
    struct ptx_site *site = pick(m, sites_of(m, m->kernel, jumps));
    struct ptx_sites *labels = sites_of(m, m->kernel, is_label);
    uint32_t count = 0;
    for (uint32_t i = 0; site && i < labels->count; i++)
        if (labels->at[i].function == site->function)
            labels->at[count++] = labels->at[i];
    if (count == 0)
        return false;
    const struct ptx_statement *label = *labels->at[mutate_below(m, count)].slot;
    (*site->slot)->u.instruction.operands->name = label->name;
    return true;
}

static uint32_t count_operands(const struct ptx_operand *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

/* Of another instruction, here or in the donor, with as many operands. */
bool mutate_ptx_opcode(struct mutation *m)
{
    enum { TRIES = 8 };
    struct ptx_site *site = pick(m, sites_of(m, m->kernel, is_instruction));
    struct ptx_sites *others =
        sites_of(m, mutate_chance(m, 50) ? m->donor : m->kernel, is_instruction);
    for (int i = 0; site && others->count && i < TRIES; i++) {
        struct ptx_instruction *in = &(*site->slot)->u.instruction;
        const struct ptx_instruction *other = &(*pick(m, others)->slot)->u.instruction;
        if (count_operands(in->operands) != count_operands(other->operands) ||
            (in->form == other->form && memcmp(in->words, other->words, sizeof in->words) == 0))
            continue;
        in->form = other->form;
        memcpy(in->words, other->words, sizeof in->words);
        return true;
    }
    return false;
}

/* ---- settings ---- */

static bool set(struct mutation *m, const char *settings)
{
    struct diag *diag = ARENA_NEW(m->arena, struct diag);
    diag_init(diag, "mutation", NULL, 0);
    return ptx_kernel_set(m->arena, m->kernel, settings, diag);
}

bool mutate_ptx_launch(struct mutation *m)
{
    static const uint32_t warps[] = {1, 2, 3, 4, 5, 8, 16, 32};
    enum { THREADS_MOST = 96, BLOCKS_MOST = 3 };
    const struct ast_launch *launch = &m->kernel->launch;
    switch (mutate_below(m, 4)) {
    case 0:
        return set(m,
                   arena_printf(m->arena, "threads=%" PRIu32, 1 + mutate_below(m, THREADS_MOST)));
    case 1:
        return set(m, arena_printf(m->arena, "blocks=%" PRIu32, 1 + mutate_below(m, BLOCKS_MOST)));
    case 2:
        return set(
            m, arena_printf(m->arena, "threads=%" PRIu32, launch->warp * (1 + mutate_below(m, 3))));
    default:
        return set(m, arena_printf(m->arena, "warp=%" PRIu32, warps[mutate_below(m, 8)]));
    }
}

/* One lane's first value of a register; of a predicate, one lane's bit. */
bool mutate_ptx_value(struct mutation *m)
{
    uint32_t count = 0;
    for (const struct ptx_values *v = m->kernel->ptx->registers; v; v = v->next)
        count++;
    if (count == 0)
        return false;
    const struct ptx_values *v = m->kernel->ptx->registers;
    for (uint32_t left = mutate_below(m, count); left > 0; left--)
        v = v->next;
    bool mask = strlen(v->text) > 1 && strspn(v->text, "01") == strlen(v->text);
    if (mask) {
        char *text = arena_strndup(m->arena, v->text, strlen(v->text));
        text[mutate_below(m, (uint32_t)strlen(text))] ^= 1;
        return set(m, arena_printf(m->arena, "reg:%s=%s", v->name, text));
    }
    uint32_t lane = mutate_below(m, v->count);
    const char *text = "";
    for (uint32_t i = 0; i < v->count; i++) {
        uint64_t value = v->values[i];
        if (i == lane)
            value = mutate_chance(m, 50) ? value + mutate_below(m, 7) - 3
                                         : v->values[mutate_below(m, v->count)];
        text = arena_printf(m->arena, "%s%s%" PRId64, text, i ? "," : "", (int64_t)value);
    }
    return set(m, arena_printf(m->arena, "reg:%s=%s", v->name, text));
}
