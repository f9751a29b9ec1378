/*
 * emit_ptx.c - structured kernels as plain PTX that a driver takes: blocks (engine/forms), compiled to branches and
 * labels (engine/to_ptx), rewritten on the way out where a real machine has another opinion than our own.
 *
 * - Variables in global memory, and the drawn values of private ones, lie in the buffer `mem`: their address is a
 *   number, which is added to the buffer's where memory is accessed.
 * - Shared memory has no initial values there: it is read from the buffer first, and written back behind a barrier
 *   where all threads end. Local memory has none either: it is cleared.
 * - Variables in local memory belong to the function; a warp has the lanes that the kernel's launch says.
 */
#include "engine/emit/emit_internal.h"
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/input/input.h"
#include "engine/ptx/ptx.h"
#include "engine/to_ptx/lower_ptx.h"

#include <string.h>

enum { WORD = 4 };

struct ptx_emitter {
    struct text *out;
    struct arena *arena;
    const struct ast_kernel *kernel;
    const struct ptx_module *module;
    uint32_t number;
    uint32_t global_words, shared_words; /* of one copy */
};

/* ---- memory ---- */

static uint32_t result_words(const struct ptx_emitter *e)
{
    return e->global_words + e->shared_words * e->kernel->launch.blocks;
}

static uint32_t length_of(const struct ptx_variable *var)
{
    return var->dimension_count ? (uint32_t)var->dimensions[0] : 1;
}

static bool is_in_buffer(const struct ptx_variable *var)
{
    return var->space == PTX_W_GLOBAL || var->space == PTX_W_CONST;
}

/* In words of the buffer: global variables first; drawn values (.const) behind shared memory and the word that is 0. */
static uint32_t offset_of(const struct ptx_emitter *e, const struct ptx_variable *wanted)
{
    uint32_t offset = wanted->space == PTX_W_CONST ? result_words(e) + 1 : 0;
    for (const struct ptx_item *item = e->module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_VARIABLE || item->u.variable->space != wanted->space)
            continue;
        if (item->u.variable == wanted)
            return offset;
        offset += length_of(item->u.variable);
    }
    return offset;
}

static uint32_t drawn_words(const struct ptx_emitter *e)
{
    uint32_t words = 0;
    for (const struct ptx_item *item = e->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && item->u.variable->space == PTX_W_CONST)
            words += length_of(item->u.variable);
    return words;
}

static const int32_t *initial_words(struct ptx_emitter *e, uint32_t count)
{
    int32_t *words = ARENA_ARRAY(e->arena, int32_t, count);
    uint32_t at = result_words(e);
    memcpy(words, lower_ptx_initial(e->arena, e->kernel), at * sizeof *words);
    at++;
    for (const struct ptx_item *item = e->module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_VARIABLE || item->u.variable->space != PTX_W_CONST)
            continue;
        uint32_t next = at + length_of(item->u.variable);
        const struct ptx_init *init = item->u.variable->init;
        for (const struct ptx_init *value = init ? init->items : NULL; value; value = value->next)
            words[at++] = (int32_t)(uint32_t)value->value;
        at = next;
    }
    return words;
}

/* ---- instructions ---- */

static const char *guard_text(const struct ptx_emitter *e, const struct ptx_operand *guard)
{
    return guard ? arena_printf(e->arena, "@%s%s ", guard->negated ? "!" : "", guard->name) : "";
}

/* d = %laneid, %warpid: of warps that may have fewer lanes than the machine's. */
static bool put_lane_or_warp(const struct ptx_emitter *e, const struct ptx_instruction *i)
{
    const struct ptx_operand *d = i->operands, *from = d ? d->next : NULL;
    if (!from || from->target_kind != PTX_TARGET_SPECIAL ||
        (from->target.special != PTX_SPECIAL_LANEID && from->target.special != PTX_SPECIAL_WARPID))
        return false;
    text_format(e->out, "\tmov.u32 %s, %%tid.x;\n\t%s.u32 %s, %s, %u;\n", d->name,
                from->target.special == PTX_SPECIAL_LANEID ? "rem" : "div", d->name, d->name,
                (unsigned)e->kernel->launch.warp);
    return true;
}

/* [register + n], [variable + n] in the buffer becomes [%sfa + n], [%sfm + n]. */
static void place_address(const struct ptx_emitter *e, struct ptx_operand *o)
{
    const struct ptx_variable *var = o->target.variable;
    if (var->space != PTX_W_REG) {
        o->value += (uint64_t)offset_of(e, var) * WORD;
        o->name = "%sfm";
        return;
    }
    text_format(e->out, "\tcvt.u64.u32 %%sfa, %s;\n\tadd.s64 %%sfa, %%sfa, %%sfm;\n", o->name);
    o->name = "%sfa";
}

static bool accesses_buffer(const struct ptx_instruction *i)
{
    for (uint32_t slot = 0; slot < PTX_SLOT_COUNT; slot++)
        if (i->words[slot] == PTX_W_GLOBAL || i->words[slot] == PTX_W_CONST)
            return true;
    return false;
}

static void rewrite_operands(const struct ptx_emitter *e, struct ptx_instruction *i)
{
    bool buffer = accesses_buffer(i);
    for (struct ptx_operand **at = &i->operands; *at; at = &(*at)->next) {
        struct ptx_operand *o = ARENA_NEW(e->arena, struct ptx_operand);
        *o = **at;
        *at = o;
        if (o->target_kind != PTX_TARGET_VARIABLE)
            continue;
        if (o->kind == PTX_OPERAND_ADDRESS && buffer) {
            place_address(e, o);
        } else if (o->kind == PTX_OPERAND_NAME && is_in_buffer(o->target.variable)) {
            o->kind = PTX_OPERAND_INTEGER;
            o->value += (uint64_t)offset_of(e, o->target.variable) * WORD;
        }
    }
    for (uint32_t slot = 0; slot < PTX_SLOT_COUNT; slot++)
        if (i->words[slot] == PTX_W_CONST)
            i->words[slot] = PTX_W_GLOBAL;
}

static void put_instruction(const struct ptx_emitter *e, struct ptx_instruction i)
{
    enum ptx_opcode opcode = ptx_forms[i.form].opcode;
    if (opcode == PTX_OP_EXIT || opcode == PTX_OP_RET) {
        text_format(e->out, "\t%sbra $SFEND;\n", guard_text(e, i.guard));
        return;
    }
    if (put_lane_or_warp(e, &i))
        return;
    rewrite_operands(e, &i);
    text_format(e->out, "\t%s\n", ptx_print_instruction(e->arena, &i));
}

/* Local memory is zero here, and anything there. */
static void put_memory(const struct ptx_emitter *e, const struct ptx_variable *var)
{
    text_format(e->out, "\t.%s .align 4 .b32 %s[%u];\n", ptx_words[var->space], var->name,
                (unsigned)length_of(var));
    for (uint32_t i = 0; var->space == PTX_W_LOCAL && i < length_of(var); i++)
        text_format(e->out, "\tst.local.b32 [%s+%u], 0;\n", var->name, (unsigned)i * WORD);
}

static void put_variable(const struct ptx_emitter *e, const struct ptx_variable *var)
{
    if (var->space != PTX_W_REG) {
        put_memory(e, var);
        return;
    }
    text_format(e->out, "\t.reg .%s %s", ptx_words[var->type], var->name);
    if (var->is_range)
        text_format(e->out, "<%u>", (unsigned)var->count);
    text_put(e->out, ";\n");
}
static void put_statement(const struct ptx_emitter *e, const struct ptx_statement *stm)
{
    if (stm->kind == PTX_INSTRUCTION)
        put_instruction(e, stm->u.instruction);
    else if (stm->kind == PTX_LABEL)
        text_format(e->out, "%s:\n", stm->name);
}

/* ---- what stands around them ---- */

static void put_variables(const struct ptx_emitter *e)
{
    for (const struct ptx_item *item = e->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && !is_in_buffer(item->u.variable))
            put_memory(e, item->u.variable);
}

/* One shared variable from the buffer, or back: every thread takes the elements tid, tid + threads, .. */
static void put_copy(const struct ptx_emitter *e, const struct ptx_variable *var, uint32_t offset,
                     const char *label, bool in)
{
    static const char *const ways[] = {
        "\tld.shared.b32 %sfv, [%sfs];\n\tst.global.b32 [%sfa], %sfv;\n",
        "\tld.global.b32 %sfv, [%sfa];\n\tst.shared.b32 [%sfs], %sfv;\n"};
    text_format(e->out,
                "\tmov.u32 %%sfi, %%tid.x;\n%s:\n\tsetp.ge.u32 %%sfp, %%sfi, %u;\n"
                "\t@%%sfp bra %s_done;\n",
                label, (unsigned)length_of(var), label);
    text_format(e->out,
                "\tmov.u32 %%sfs, %%ctaid.x;\n\tmad.lo.u32 %%sfs, %%sfs, %u, %u;\n"
                "\tadd.u32 %%sfs, %%sfs, %%sfi;\n\tmul.wide.u32 %%sfa, %%sfs, 4;\n"
                "\tadd.s64 %%sfa, %%sfa, %%sfm;\n",
                (unsigned)e->shared_words, (unsigned)offset);
    text_format(e->out, "\tmov.u32 %%sfs, %s;\n\tmad.lo.u32 %%sfs, %%sfi, 4, %%sfs;\n", var->name);
    text_put(e->out, ways[in]);
    text_format(e->out, "\tadd.u32 %%sfi, %%sfi, %u;\n\tbra %s;\n%s_done:\n",
                (unsigned)e->kernel->launch.threads, label, label);
}

static void put_copies(const struct ptx_emitter *e, bool in)
{
    uint32_t offset = e->global_words;
    if (!e->shared_words)
        return;
    if (!in)
        text_put(e->out, "\tbar.sync 0;\n");
    for (const struct ptx_item *item = e->module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_VARIABLE || item->u.variable->space != PTX_W_SHARED)
            continue;
        put_copy(e, item->u.variable, offset,
                 arena_printf(e->arena, "$SF%s%u", in ? "IN" : "OUT", (unsigned)offset), in);
        offset += length_of(item->u.variable);
    }
    if (in)
        text_put(e->out, "\tbar.sync 0;\n");
}

static const struct ptx_function *entry_of(const struct ptx_module *module)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->is_entry)
            return item->u.function;
    return NULL;
}

static void put_entry(const struct ptx_emitter *e, uint32_t knobs)
{
    const struct ptx_statement *body = entry_of(e->module)->body;
    text_format(e->out, ".visible .entry k%u(.param .u64 mem)\n", (unsigned)e->number);
    if (knobs & EMIT_KNOB(FIXED_SIZE))
        text_format(e->out, ".reqntid %u, 1, 1\n", (unsigned)e->kernel->launch.threads);
    text_put(e->out, "{\n\t.reg .b64 %sfm;\n\t.reg .b64 %sfa;\n\t.reg .b32 %sfi;\n"
                     "\t.reg .b32 %sfs;\n\t.reg .b32 %sfv;\n\t.reg .pred %sfp;\n");
    for (const struct ptx_statement *stm = body; stm; stm = stm->next)
        if (stm->kind == PTX_VARIABLE)
            put_variable(e, stm->u.variable);
    put_variables(e);
    text_put(e->out, "\tld.param.u64 %sfm, [mem];\n\tcvta.to.global.u64 %sfm, %sfm;\n");
    put_copies(e, true);
    for (const struct ptx_statement *stm = body; stm; stm = stm->next)
        put_statement(e, stm);
    text_put(e->out, "$SFEND:\n");
    put_copies(e, false);
    text_put(e->out, "\tret;\n}\n\n");
}

/* ---- all of it ---- */

/* Calls that could not be written out: of functions that call themselves. */
static bool has_functions(const struct ptx_module *module)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && !item->u.function->is_entry)
            return true;
    return false;
}

static const struct ptx_module *compile(struct arena *arena, struct ast_kernel *kernel,
                                        const char **reason)
{
    static const struct lower_cfg_options options = {.anchored = false};
    struct lowered_ptx lowered;
    const struct ast_kernel *blocks = lower_cfg(arena, lower_core(arena, kernel), &options, reason);
    if (!blocks || !lower_ptx_module(arena, blocks, &lowered, reason))
        return NULL;
    return lowered.module;
}

bool emit_ptx_kernel(struct text *text, struct ast_kernel *kernel, uint32_t knobs, uint32_t number,
                     struct emitted *emitted, const char **reason)
{
    struct ptx_emitter e = {.out = text, .arena = text->arena, .kernel = kernel, .number = number};
    if (kernel->form != FORM_STRUCTURED) {
        *reason = "ptx is made of structured kernels only";
        return false;
    }
    e.module = compile(e.arena, ast_kernel_copy(e.arena, kernel), reason);
    if (!e.module)
        return false;
    if (has_functions(e.module)) {
        *reason = "ptx has no recursion here: all calls are written out";
        return false;
    }
    for (const struct ast_var *var = kernel->vars; var; var = var->next) {
        e.global_words += var->space == SPACE_GLOBAL ? var->length : 0;
        e.shared_words += var->space == SPACE_SHARED ? var->length : 0;
    }
    uint32_t words = result_words(&e) + 1 + drawn_words(&e);
    *emitted = (struct emitted){.entry = arena_printf(e.arena, "k%u", (unsigned)number),
                                .threads = kernel->launch.threads,
                                .blocks = kernel->launch.blocks,
                                .words = words,
                                .result_words = result_words(&e),
                                .initial = initial_words(&e, words)};
    put_entry(&e, knobs);
    *reason = NULL;
    return true;
}
