/*
 * words_ptx.c - kernels given as PTX in words. Variables and labels have numbers, in the order in which they stand in
 * the text, so that what a name means shows, however it is spelt.
 */
#include "engine/input/ptx_kernel.h"
#include "oracle/drawn/words.h"

#include <string.h>

struct teller {
    struct text out;
    const void **told; /* what has a number: variables and labels */
    uint32_t count, room;
};

static void put(struct teller *t, const char *word)
{
    text_put(&t->out, word);
    text_put(&t->out, " ");
}

static void put_number(struct teller *t, uint64_t value)
{
    text_format(&t->out, "%llx ", (unsigned long long)value);
}

/* From here on it has the next number: of two functions that share their parameters each declares them. */
static void declare(struct teller *t, const void *what)
{
    if (t->count == t->room) {
        const void **more = arena_alloc(t->out.arena, 2 * t->room + 64, sizeof *more);
        if (t->count > 0)
            memcpy(more, t->told, t->count * sizeof *more);
        t->told = more;
        t->room = 2 * t->room + 64;
    }
    t->told[t->count++] = what;
}

static void put_told(struct teller *t, const void *what)
{
    uint32_t at = t->count;
    while (at > 0 && t->told[at - 1] != what)
        at--;
    if (at == 0) {
        declare(t, what);
        at = t->count;
    }
    text_format(&t->out, "v%u ", (unsigned)at - 1);
}

/* ---- words that the language has ---- */

const char *words_of_ptx_type(enum ptx_word word)
{
    static const char *const names[PTX_WORD_COUNT] = {
        [PTX_W_NONE] = "-",          [PTX_W_PRED] = "truth",     [PTX_W_B16] = "bits16",
        [PTX_W_B32] = "bits32",      [PTX_W_B64] = "bits64",     [PTX_W_U16] = "unsigned16",
        [PTX_W_U32] = "unsigned32",  [PTX_W_U64] = "unsigned64", [PTX_W_S16] = "signed16",
        [PTX_W_S32] = "signed32",    [PTX_W_S64] = "signed64",   [PTX_W_F32] = "float32",
        [PTX_W_F64] = "float64",     [PTX_W_REG] = "register",   [PTX_W_PARAM] = "parameter",
        [PTX_W_SHARED] = "of-block", [PTX_W_GLOBAL] = "of-grid", [PTX_W_CONST] = "constant",
        [PTX_W_LOCAL] = "of-thread", [PTX_W_V2] = "pair",        [PTX_W_V4] = "four"};
    return names[word] ? names[word] : ptx_words[word];
}

/* ---- operands ---- */

static void put_operands(struct teller *t, const struct ptx_operand *list);

static void put_name(struct teller *t, const struct ptx_operand *o)
{
    if (o->negated)
        put(t, "not");
    switch (o->target_kind) {
    case PTX_TARGET_VARIABLE:
        put_told(t, o->target.variable);
        put_number(t, o->index);
        break;
    case PTX_TARGET_STATEMENT:
        put_told(t, o->target.statement);
        break;
    case PTX_TARGET_SPECIAL:
        put(t, ptx_specials[o->target.special].name + 1);
        break;
    case PTX_TARGET_FUNCTION:
    case PTX_TARGET_NONE:
        put(t, o->name);
        break;
    }
    if (o->element)
        text_format(&t->out, "part %c ", o->element);
    if (o->value)
        put_number(t, o->value);
}

static void put_operand(struct teller *t, const struct ptx_operand *o)
{
    static const char *const kinds[] = {
        [PTX_OPERAND_NAME] = "name",       [PTX_OPERAND_INTEGER] = "number",
        [PTX_OPERAND_FLOAT32] = "float32", [PTX_OPERAND_FLOAT64] = "float64",
        [PTX_OPERAND_ADDRESS] = "at",      [PTX_OPERAND_VECTOR] = "vector",
        [PTX_OPERAND_LIST] = "list",       [PTX_OPERAND_PAIR] = "with",
        [PTX_OPERAND_SINK] = "nowhere"};
    put(t, kinds[o->kind]);
    if (o->name)
        put_name(t, o);
    else if (o->kind <= PTX_OPERAND_ADDRESS)
        put_number(t, o->value);
    if (o->kind >= PTX_OPERAND_VECTOR && o->kind <= PTX_OPERAND_PAIR)
        put_operands(t, o->items);
}

static void put_operands(struct teller *t, const struct ptx_operand *list)
{
    put(t, "{");
    for (; list; list = list->next)
        put_operand(t, list);
    put(t, "}");
}

/* ---- variables ---- */

static void put_init(struct teller *t, const struct ptx_init *init)
{
    static const char *const kinds[] = {[PTX_INIT_INTEGER] = "number",
                                        [PTX_INIT_FLOAT32] = "float32",
                                        [PTX_INIT_FLOAT64] = "float64",
                                        [PTX_INIT_ADDRESS] = "address",
                                        [PTX_INIT_LIST] = "{"};
    put(t, kinds[init->kind]);
    if (init->kind == PTX_INIT_LIST) {
        for (const struct ptx_init *item = init->items; item; item = item->next)
            put_init(t, item);
        put(t, "}");
        return;
    }
    if (init->kind == PTX_INIT_ADDRESS) {
        put(t, init->name);
        put(t, init->generic ? "generic" : "own");
        put_number(t, init->mask);
    }
    put_number(t, init->value);
}

static void put_variable(struct teller *t, const struct ptx_variable *var)
{
    put(t, "variable");
    declare(t, var);
    put_told(t, var);
    put(t, words_of_ptx_type(var->space));
    put(t, words_of_ptx_type(var->type));
    put(t, words_of_ptx_type(var->vector));
    text_format(&t->out, "linkage%d align%u ", (int)var->linkage, (unsigned)var->align);
    if (var->space != PTX_W_REG)
        put(t, var->name);
    if (var->is_managed)
        put(t, "managed");
    if (var->is_pointer)
        text_format(&t->out, "pointer %s %u ", words_of_ptx_type(var->pointer_space),
                    (unsigned)var->pointer_align);
    if (var->is_range)
        put_number(t, var->count);
    put(t, "{");
    for (uint32_t i = 0; i < var->dimension_count; i++)
        put_number(t, var->dimensions[i]);
    put(t, "}");
    if (var->init)
        put_init(t, var->init);
}

static void put_variables(struct teller *t, const struct ptx_variable *list)
{
    put(t, "(");
    for (; list; list = list->next)
        put_variable(t, list);
    put(t, ")");
}

/* ---- statements ---- */

static void put_instruction(struct teller *t, const struct ptx_instruction *i)
{
    put(t, "do");
    if (i->guard)
        put_operand(t, i->guard);
    put(t, ptx_mnemonics[ptx_forms[i->form].opcode]);
    for (uint32_t slot = 0; slot < PTX_SLOT_COUNT; slot++)
        if (i->words[slot])
            put(t, words_of_ptx_type((enum ptx_word)i->words[slot]));
    put_operands(t, i->operands);
}

static void put_loc(struct teller *t, const struct ptx_loc *loc)
{
    text_format(&t->out, "line %u %u %u ", loc->file, loc->line, loc->column);
    if (loc->is_inlined)
        text_format(&t->out, "of %s %llx into %u %u %u ", loc->function,
                    (unsigned long long)loc->function_offset, loc->at_file, loc->at_line,
                    loc->at_column);
}

static void put_statements(struct teller *t, const struct ptx_statement *list);

static void put_statement(struct teller *t, const struct ptx_statement *s)
{
    switch (s->kind) {
    case PTX_INSTRUCTION:
        put_instruction(t, &s->u.instruction);
        break;
    case PTX_LABEL:
        put(t, "label");
        put_told(t, s);
        break;
    case PTX_VARIABLE:
        put_variable(t, s->u.variable);
        break;
    case PTX_BLOCK:
        put_statements(t, s->u.block);
        break;
    case PTX_LOC:
        put_loc(t, &s->u.loc);
        break;
    case PTX_PRAGMA:
        put(t, "pragma");
        put(t, s->name);
        break;
    case PTX_BRANCH_TARGETS:
    case PTX_CALL_TARGETS:
        put(t, s->kind == PTX_BRANCH_TARGETS ? "labels" : "functions");
        put_told(t, s);
        put_operands(t, s->u.targets);
        break;
    case PTX_PROTOTYPE:
        put(t, "prototype");
        put_told(t, s);
        put_variables(t, s->u.prototype->returns);
        put_variables(t, s->u.prototype->parameters);
        put(t, s->u.prototype->attributes ? "for-ever" : "back");
        break;
    }
}

static void put_statements(struct teller *t, const struct ptx_statement *list)
{
    put(t, "{");
    for (; list; list = list->next)
        put_statement(t, list);
    put(t, "}");
}

static void put_function(struct teller *t, const struct ptx_function *f)
{
    text_format(&t->out, "%s linkage%d %s ", f->is_entry ? "entry" : "function", (int)f->linkage,
                f->name);
    put_variables(t, f->returns);
    put_variables(t, f->parameters);
    for (const struct ptx_attribute *a = f->attributes; a; a = a->next) {
        text_format(&t->out, "attribute%d %s ", (int)a->kind, a->text ? a->text : "-");
        for (uint32_t i = 0; i < a->count; i++)
            put_number(t, a->values[i]);
    }
    put(t, f->has_body ? "body" : "elsewhere");
    put_statements(t, f->body);
}

static void put_item(struct teller *t, const struct ptx_item *item)
{
    switch (item->kind) {
    case PTX_ITEM_VARIABLE:
        put_variable(t, item->u.variable);
        break;
    case PTX_ITEM_FUNCTION:
        put_function(t, item->u.function);
        break;
    case PTX_ITEM_FILE:
        text_format(&t->out, "file %u %s ", item->u.file, item->name);
        break;
    case PTX_ITEM_PRAGMA:
        text_format(&t->out, "pragma %s ", item->name);
        break;
    case PTX_ITEM_ALIAS:
        text_format(&t->out, "alias %s %s ", item->name, item->u.aliasee);
        break;
    }
}

static void put_module(struct teller *t, const struct ptx_module *module)
{
    text_format(&t->out, "version %u %u address %u ", module->version_major, module->version_minor,
                module->address_size);
    for (const struct ptx_name_list *target = module->targets; target; target = target->next)
        text_format(&t->out, "for %s ", target->name);
    for (const struct ptx_item *item = module->items; item; item = item->next)
        put_item(t, item);
}

/* ---- settings ---- */

static void put_values(struct teller *t, const char *what, const struct ptx_values *list)
{
    for (; list; list = list->next)
        text_format(&t->out, "%s %s %s ", what, list->name, list->text);
}

static void put_texture(struct teller *t, const struct ptx_texture *x)
{
    text_format(&t->out, "texture %s %u size %u %u %u %u pitch %u modes %d %d %d flags %d%d%d%d%d ",
                words_of_ptx_type(x->type), x->channels, x->dimensions, x->size[0], x->size[1],
                x->size[2], x->pitch, (int)x->addressing[0], (int)x->addressing[1],
                (int)x->addressing[2], x->filters, x->normalized, x->unit, x->layered,
                x->is_memory);
}

static void put_bind(struct teller *t, const char *what, const struct ptx_bind *bind)
{
    text_format(&t->out, "%s %s kind%d value %llx bytes %u fill%d address %llx ", what,
                bind->parameter ? bind->parameter : "-", (int)bind->kind,
                (unsigned long long)bind->value, bind->bytes, (int)bind->fill,
                (unsigned long long)bind->address);
    if (bind->words)
        for (uint32_t i = 0; i < bind->words->count; i++)
            put_number(t, bind->words->values[i]);
    if (bind->texture)
        put_texture(t, bind->texture);
}

static void put_binds(struct teller *t, const char *what, const struct ptx_bind *list)
{
    for (; list; list = list->next)
        put_bind(t, what, list);
}

static void put_settings(struct teller *t, const struct ast_kernel *kernel)
{
    const struct ptx_kernel *ptx = kernel->ptx;
    text_format(&t->out, "run %s grid %u %u %u window %u %u %d block %u %u %u ", ptx->entry->name,
                ptx->grid[0], ptx->grid[1], ptx->grid[2], ptx->window, ptx->first_block, ptx->whole,
                ptx->block[0], ptx->block[1], ptx->block[2]);
    text_format(&t->out, "cluster %d %u %u %u ", ptx->cluster_given, ptx->cluster[0],
                ptx->cluster[1], ptx->cluster[2]);
    text_format(&t->out, "shared %d %u %s ", ptx->shared_given, ptx->shared_bytes,
                ptx->raw ? "raw" : "injected");
    for (uint32_t i = 0; i < ptx->argument_count; i++)
        put_bind(t, ptx->arguments[i].parameter->name, &ptx->arguments[i].bind);
    put_binds(t, "memory", ptx->memory);
    put_binds(t, "texture", ptx->textures);
    put_values(t, "register", ptx->registers);
    put_values(t, "first", ptx->init);
    for (uint32_t i = 0; i < ptx->token_count; i++)
        text_format(&t->out, "token %u %llx %u ", ptx->tokens[i].type,
                    (unsigned long long)ptx->tokens[i].mask, ptx->tokens[i].pc);
}

void words_put_ptx(struct text *out, const struct ast_kernel *kernel)
{
    struct teller t = {.out = *out};
    put_settings(&t, kernel);
    put_module(&t, kernel->ptx->module);
    *out = t.out;
}
