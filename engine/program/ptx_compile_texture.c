/*
 * ptx_compile_texture.c - tex, tld4, suld, sust, txq, suq: where handle, coordinates and values lie; which handles
 * there are: those of `texture:`, and the addresses of buffers that are textures.
 */
#include "engine/program/ptx_compile_internal.h"

#include <string.h>

/* The address of a .texref or .surfref of this name is its handle; 0: there is none. */
static uint64_t find_variable(const struct ptx_builder *b, const char *name)
{
    for (uint32_t i = 0; i < b->reach.variable_count; i++) {
        const struct ptx_variable *var = b->reach.variables[i];
        const uint32_t *home = ptx_build_find_home(b, var);
        if (home && var->space == PTX_W_GLOBAL && strcmp(var->name, name) == 0)
            return b->home_list[*home].address;
    }
    return 0;
}

void ptx_build_textures(struct ptx_builder *b)
{
    struct ptx_code *code = b->code;
    uint32_t most = b->ptx->argument_count;
    for (const struct ptx_bind *t = b->ptx->textures; t; t = t->next)
        most++;
    code->textures = ARENA_ARRAY(b->arena, struct ptx_code_texture, most);
    for (uint32_t i = 0; i < b->ptx->argument_count; i++) {
        const struct ptx_bind *bind = &b->ptx->arguments[i].bind;
        if (bind->kind == PTX_BIND_BUFFER && bind->texture)
            code->textures[code->texture_count++] = (struct ptx_code_texture){
                b->buffers[i]->address, b->buffers[i]->address, bind->texture, bind->parameter};
    }
    for (const struct ptx_bind *t = b->ptx->textures; t; t = t->next) {
        uint64_t handle = t->value ? t->value : find_variable(b, t->parameter);
        if (handle == 0)
            ptx_build_fail(b, "'%.80s' is no handle, and no .texref or .surfref of the module",
                           t->parameter);
        code->textures[code->texture_count++] =
            (struct ptx_code_texture){handle, t->address, t->texture, t->parameter};
    }
}

/* A layer comes first in the text, and last here. */
static void add_coordinates(struct ptx_builder *b, const struct ptx_instruction *i,
                            struct ptx_op *op, const struct ptx_operand *o, struct ptx_type type)
{
    static const struct ptx_type s32 = {PTX_CLASS_INT, 32, true};
    const uint32_t dimensions = ptx_dimensions(i->words);
    const struct ptx_operand *item = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    if (ptx_is_layered(i->words)) {
        op->sources[PTX_TEXEL_LAYER] = ptx_build_place(b, item, s32, 32);
        item = item->next;
    }
    for (uint32_t d = 0; d < dimensions; d++, item = item->next)
        op->sources[PTX_TEXEL_X + d] = ptx_build_place(b, item, type, 32);
}

/* What is read or written: one, or in braces. */
static void add_values(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o,
                       const struct ptx_item_pattern *item)
{
    struct ptx_place *places = item->is_result ? op->results : &op->sources[PTX_TEXEL_VALUE];
    const bool is_vector = o->kind == PTX_OPERAND_VECTOR;
    for (o = is_vector ? o->items : o; o; o = is_vector ? o->next : NULL)
        places[op->count++] = ptx_build_place(b, o, item->type, 0);
    if (item->is_result)
        op->result_count = op->count;
}

void ptx_build_texture(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    op->exec = op->opcode == PTX_OP_SUST ? PTX_EXEC_SUST : PTX_EXEC_TEXTURE;
    op->mode = i->words[PTX_SLOT_MODE];
    op->bytes = ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]).bits / 8;
    op->source_count = PTX_TEXEL_VALUE + 4;
    for (const struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);
         o = o->next) {
        if (item.kind == 'a')
            ptx_build_address(b, op, i, o);
        else if (item.kind == 'x')
            add_coordinates(b, i, op, o, item.type);
        else if (item.kind != 'u') /* a level: there is one */
            add_values(b, op, o, &item);
    }
}
