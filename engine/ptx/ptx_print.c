/*
 * The canonical text of a module: one declaration a line, modifiers in the order of the form, integers
 * in decimal, floating-point numbers as 0f and 0d.
 */
#include "engine/base/text.h"
#include "engine/ptx/ptx.h"

struct out {
    struct text text;
    uint32_t indent;
};

static void put(struct out *out, const char *text)
{
    text_put(&out->text, text);
}

#define put_format(out, ...) text_format(&(out)->text, __VA_ARGS__)

static void put_integer(struct out *out, uint64_t value)
{
    put_format(out, "%lld", (long long)value);
}

static void put_offset(struct out *out, uint64_t value)
{
    if (value != 0)
        put_format(out, (int64_t)value < 0 ? "%lld" : "+%lld", (long long)value);
}

static void put_word(struct out *out, enum ptx_word word)
{
    put(out, ".");
    put(out, ptx_words[word]);
}

static void start_line(struct out *out)
{
    for (uint32_t i = 0; i < out->indent; i++)
        put(out, "\t");
}

/* ---- variables ---- */

static void put_init(struct out *out, const struct ptx_init *init)
{
    switch (init->kind) {
    case PTX_INIT_INTEGER:
        put_integer(out, init->value);
        return;
    case PTX_INIT_FLOAT32:
        put_format(out, "0f%08llX", (unsigned long long)init->value);
        return;
    case PTX_INIT_FLOAT64:
        put_format(out, "0d%016llX", (unsigned long long)init->value);
        return;
    case PTX_INIT_ADDRESS:
        if (init->mask)
            put_format(out, "0x%llX(", (unsigned long long)init->mask);
        put(out, init->generic ? "generic(" : "");
        put(out, init->name);
        put(out, init->generic ? ")" : "");
        put_offset(out, init->value);
        put(out, init->mask ? ")" : "");
        return;
    case PTX_INIT_LIST:
        put(out, "{");
        for (const struct ptx_init *item = init->items; item; item = item->next) {
            put_init(out, item);
            put(out, item->next ? ", " : "");
        }
        put(out, "}");
        return;
    }
}

static void put_pointer(struct out *out, const struct ptx_variable *var)
{
    put(out, " .ptr");
    if (var->pointer_space) {
        put(out, " ");
        put_word(out, var->pointer_space);
    }
    if (var->pointer_align)
        put_format(out, " .align %u", var->pointer_align);
}

static void put_variable(struct out *out, const struct ptx_variable *var)
{
    put_word(out, var->space);
    if (var->is_managed)
        put(out, " .attribute(.managed)");
    if (var->align)
        put_format(out, " .align %u", var->align);
    if (var->vector) {
        put(out, " ");
        put_word(out, var->vector);
    }
    put(out, " ");
    put_word(out, var->type);
    if (var->is_pointer)
        put_pointer(out, var);
    put(out, " ");
    put(out, var->name);
    if (var->is_range)
        put_format(out, "<%u>", var->count);
    for (uint32_t i = 0; i < var->dimension_count; i++) {
        if (var->dimensions[i])
            put_format(out, "[%llu]", (unsigned long long)var->dimensions[i]);
        else
            put(out, "[]");
    }
    if (var->init) {
        put(out, " = ");
        put_init(out, var->init);
    }
}

static void put_linkage(struct out *out, enum ptx_linkage linkage)
{
    static const char *const texts[] = {
        [PTX_LINK_LOCAL] = "",          [PTX_LINK_VISIBLE] = ".visible ",
        [PTX_LINK_WEAK] = ".weak ",     [PTX_LINK_EXTERN] = ".extern ",
        [PTX_LINK_COMMON] = ".common ",
    };
    put(out, texts[linkage]);
}

/* ---- operands ---- */

static void put_operands(struct out *out, const struct ptx_operand *o, const char *between);

static void put_grouped(struct out *out, const char *open, const struct ptx_operand *items,
                        const char *close)
{
    put(out, open);
    put_operands(out, items, ", ");
    put(out, close);
}

static void put_name(struct out *out, const struct ptx_operand *o)
{
    put(out, o->negated ? "!" : "");
    put(out, o->name);
    if (o->element)
        put_format(out, ".%c", o->element);
    put_offset(out, o->value);
}

static void put_base(struct out *out, const struct ptx_operand *o)
{
    if (o->name) {
        put(out, o->name);
        put_offset(out, o->value);
    } else {
        put_integer(out, o->value);
    }
}

static void put_operand(struct out *out, const struct ptx_operand *o)
{
    switch (o->kind) {
    case PTX_OPERAND_NAME:
        put_name(out, o);
        return;
    case PTX_OPERAND_INTEGER:
        put_integer(out, o->value);
        return;
    case PTX_OPERAND_FLOAT32:
        put_format(out, "0f%08llX", (unsigned long long)o->value);
        return;
    case PTX_OPERAND_FLOAT64:
        put_format(out, "0d%016llX", (unsigned long long)o->value);
        return;
    case PTX_OPERAND_ADDRESS:
        put(out, "[");
        put_base(out, o);
        put(out, "]");
        return;
    case PTX_OPERAND_VECTOR:
        put_grouped(out, "{", o->items, "}");
        return;
    case PTX_OPERAND_LIST:
        put_grouped(out, "(", o->items, ")");
        return;
    case PTX_OPERAND_PAIR:
        put_operands(out, o->items, "|");
        return;
    case PTX_OPERAND_SINK:
        put(out, "_");
        return;
    }
}

static void put_operands(struct out *out, const struct ptx_operand *o, const char *between)
{
    for (; o; o = o->next) {
        put_operand(out, o);
        put(out, o->next ? between : "");
    }
}

/* The coordinates behind a handle stand in its brackets. */
static void put_texel_operands(struct out *out, const struct ptx_operand *o)
{
    for (; o; o = o->next) {
        if (o->kind == PTX_OPERAND_ADDRESS && o->next) {
            put(out, "[");
            put_base(out, o);
            put(out, ", ");
            o = o->next;
            put_operand(out, o);
            put(out, "]");
        } else {
            put_operand(out, o);
        }
        put(out, o->next ? ", " : "");
    }
}

/* ---- statements ---- */

static void put_instruction(struct out *out, const struct ptx_instruction *i)
{
    const char *pattern = ptx_forms[i->form].modifiers;
    struct ptx_group group;
    if (i->guard) {
        put(out, "@");
        put_operand(out, i->guard);
        put(out, " ");
    }
    put(out, ptx_mnemonics[ptx_forms[i->form].opcode]);
    while (ptx_group_next(&pattern, &group))
        if (i->words[group.slot])
            put_word(out, (enum ptx_word)i->words[group.slot]);
    if (i->operands) {
        put(out, " ");
        if (ptx_has_coordinates(ptx_forms[i->form].opcode))
            put_texel_operands(out, i->operands);
        else
            put_operands(out, i->operands, ", ");
    }
    put(out, ";");
}

static void put_loc(struct out *out, const struct ptx_loc *loc)
{
    put_format(out, ".loc %u %u %u", loc->file, loc->line, loc->column);
    if (!loc->is_inlined)
        return;
    put(out, ", function_name ");
    put(out, loc->function);
    put_offset(out, loc->function_offset);
    put_format(out, ", inlined_at %u %u %u", loc->at_file, loc->at_line, loc->at_column);
}

static void put_parameters(struct out *out, const struct ptx_variable *var)
{
    put(out, "(");
    for (; var; var = var->next) {
        put_variable(out, var);
        put(out, var->next ? ", " : "");
    }
    put(out, ")");
}

static void put_prototype(struct out *out, const struct ptx_function *f)
{
    put(out, ": .callprototype ");
    put_parameters(out, f->returns);
    put(out, " ");
    put(out, f->name);
    put(out, " ");
    put_parameters(out, f->parameters);
    put(out, f->attributes ? " .noreturn;" : ";");
}

static void put_block(struct out *out, const struct ptx_statement *first);

static void put_statement(struct out *out, const struct ptx_statement *stm)
{
    switch (stm->kind) {
    case PTX_INSTRUCTION:
        put_instruction(out, &stm->u.instruction);
        return;
    case PTX_LABEL:
        put(out, stm->name);
        put(out, ":");
        return;
    case PTX_VARIABLE:
        put_variable(out, stm->u.variable);
        put(out, ";");
        return;
    case PTX_BLOCK:
        put_block(out, stm->u.block);
        return;
    case PTX_LOC:
        put_loc(out, &stm->u.loc);
        return;
    case PTX_PRAGMA:
        put(out, ".pragma \"");
        put(out, stm->name);
        put(out, "\";");
        return;
    case PTX_BRANCH_TARGETS:
    case PTX_CALL_TARGETS:
        put(out, stm->name);
        put(out, stm->kind == PTX_CALL_TARGETS ? ": .calltargets " : ": .branchtargets ");
        put_operands(out, stm->u.targets, ", ");
        put(out, ";");
        return;
    case PTX_PROTOTYPE:
        put(out, stm->name);
        put_prototype(out, stm->u.prototype);
        return;
    }
}

static void put_block(struct out *out, const struct ptx_statement *first)
{
    put(out, "{\n");
    out->indent++;
    for (const struct ptx_statement *stm = first; stm; stm = stm->next) {
        out->indent -= stm->kind == PTX_LABEL;
        start_line(out);
        out->indent += stm->kind == PTX_LABEL;
        put_statement(out, stm);
        put(out, "\n");
    }
    out->indent--;
    start_line(out);
    put(out, "}");
}

/* ---- functions, modules ---- */

static void put_attribute(struct out *out, const struct ptx_attribute *attribute)
{
    put_format(out, "\n.%s", ptx_attributes[attribute->kind].name);
    for (uint32_t i = 0; i < attribute->count; i++)
        put_format(out, i ? ", %u" : " %u", attribute->values[i]);
    if (attribute->kind == PTX_FUNCTION_PRAGMA) {
        put(out, " \"");
        put(out, attribute->text);
        put(out, "\";");
    }
}

static void put_function(struct out *out, const struct ptx_function *f)
{
    put_linkage(out, f->linkage);
    put(out, f->is_entry ? ".entry " : ".func ");
    if (f->returns) {
        put_parameters(out, f->returns);
        put(out, " ");
    }
    put(out, f->name);
    put(out, "(");
    for (const struct ptx_variable *var = f->parameters; var; var = var->next) {
        put(out, "\n\t");
        put_variable(out, var);
        put(out, var->next ? "," : "\n");
    }
    put(out, ")");
    for (const struct ptx_attribute *a = f->attributes; a; a = a->next)
        put_attribute(out, a);
    if (!f->has_body) {
        put(out, ";\n");
        return;
    }
    put(out, "\n");
    put_block(out, f->body);
    put(out, "\n");
}

static void put_item(struct out *out, const struct ptx_item *item)
{
    switch (item->kind) {
    case PTX_ITEM_VARIABLE:
        put_linkage(out, item->u.variable->linkage);
        put_variable(out, item->u.variable);
        put(out, ";\n");
        return;
    case PTX_ITEM_FUNCTION:
        put(out, "\n");
        put_function(out, item->u.function);
        return;
    case PTX_ITEM_FILE:
        put_format(out, ".file %u \"", item->u.file);
        put(out, item->name);
        put(out, "\"\n");
        return;
    case PTX_ITEM_PRAGMA:
        put(out, ".pragma \"");
        put(out, item->name);
        put(out, "\";\n");
        return;
    case PTX_ITEM_ALIAS:
        put(out, ".alias ");
        put(out, item->name);
        put(out, ", ");
        put(out, item->u.aliasee);
        put(out, ";\n");
        return;
    }
}

static void put_header(struct out *out, const struct ptx_module *module)
{
    if (module->version_major)
        put_format(out, ".version %u.%u\n", module->version_major, module->version_minor);
    for (const struct ptx_name_list *target = module->targets; target; target = target->next) {
        put(out, target == module->targets ? ".target " : ", ");
        put(out, target->name);
        put(out, target->next ? "" : "\n");
    }
    if (module->address_size)
        put_format(out, ".address_size %u\n", module->address_size);
}

char *ptx_print_instruction(struct arena *arena, const struct ptx_instruction *instruction)
{
    struct out out = {.text = text_begin(arena)};
    put_instruction(&out, instruction);
    return out.text.bytes;
}

char *ptx_print(struct arena *arena, const struct ptx_module *module)
{
    struct out out = {.text = text_begin(arena)};
    put_header(&out, module);
    for (const struct ptx_item *item = module->items; item; item = item->next)
        put_item(&out, item);
    return out.text.bytes;
}
