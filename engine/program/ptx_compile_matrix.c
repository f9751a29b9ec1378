/*
 * ptx_compile_matrix.c - mma, wmma, ldmatrix, stmatrix, movmatrix: which registers hold a lane's part of each matrix.
 */
#include "engine/program/ptx_compile_internal.h"

static enum ptx_exec exec_of(const struct ptx_instruction *i)
{
    const enum ptx_opcode opcode = ptx_forms[i->form].opcode;
    const uint8_t part = i->words[PTX_SLOT_PART]; /* of wmma.load and wmma.store */
    if (opcode == PTX_OP_STMATRIX || (opcode == PTX_OP_WMMA && part == PTX_W_D))
        return PTX_EXEC_MATRIX_ST;
    return opcode == PTX_OP_LDMATRIX || (opcode == PTX_OP_WMMA && part != PTX_W_NONE)
               ? PTX_EXEC_MATRIX_LD
               : PTX_EXEC_MMA;
}

static void add_fragment(struct ptx_builder *b, struct ptx_matrix *matrix,
                         enum ptx_matrix_part part, const struct ptx_operand *o,
                         struct ptx_type type)
{
    const struct ptx_operand *item = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    for (uint32_t r = 0; item && r < matrix->form.part[part].registers; r++, item = item->next)
        matrix->place[part][r] = ptx_build_place(b, item, type, type.bits == 64 ? 64 : 32);
}

static void add_operand(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op,
                        struct ptx_matrix *matrix, const struct ptx_operand *o,
                        const struct ptx_item_pattern *item)
{
    switch (item->kind) {
    case 'a':
        ptx_build_address(b, op, i, o);
        return;
    case 'A':
        add_fragment(b, matrix, PTX_MATRIX_A, o, item->type);
        return;
    case 'B':
        add_fragment(b, matrix, PTX_MATRIX_B, o, item->type);
        return;
    case 'C':
        add_fragment(b, matrix, PTX_MATRIX_C, o, item->type);
        return;
    case 'd':
        if (i->form == PTX_FORM_MOVMATRIX_ANY) {
            add_fragment(b, matrix, item->is_result ? PTX_MATRIX_D : PTX_MATRIX_A, o, item->type);
            return;
        }
        op->sources[1] = ptx_build_place(b, o, item->type, 32);
        op->has_count = true;
        return;
    default:
        add_fragment(b, matrix, PTX_MATRIX_D, o, item->type);
    }
}

/* Rows of 16 bytes are what ldmatrix and stmatrix access. */
void ptx_build_matrix(struct ptx_builder *b, const struct ptx_instruction *i, struct ptx_op *op)
{
    struct ptx_matrix *matrix = ARENA_NEW(b->arena, struct ptx_matrix);
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    op->exec = (uint8_t)exec_of(i);
    op->mode = i->words[PTX_SLOT_MODE];
    op->matrix = matrix;
    op->bytes = op->count = 4;
    op->source_count = op->exec == PTX_EXEC_MMA ? 0 : 2;
    b->code->has_matrices = true;
    ptx_matrix_form(i->form, i->words, &matrix->form);
    if (b->program->launch.warp != PTX_MATRIX_LANES)
        ptx_build_fail(b, "'%s' is for warps of 32 lanes", ptx_mnemonics[op->opcode]);
    for (const struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);
         o = o->next)
        add_operand(b, i, op, matrix, o, &item);
}
