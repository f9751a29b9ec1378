/*
 * digests.h - one number for a text, for a program laid out, for compiled PTX: equal where two builds make
 * the same. No address goes into it.
 */
#ifndef TESTS_UNIT_DIGESTS_H
#define TESTS_UNIT_DIGESTS_H

#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/program/ptx_code.h"

static inline void digest_word(uint64_t *digest, uint64_t word)
{
    *digest = pcg_splitmix(*digest ^ word);
}

static inline void digest_words(uint64_t *digest, const uint32_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        digest_word(digest, words[i]);
}

/* NULL is another text than the empty one. */
static inline void digest_text(uint64_t *digest, const char *text)
{
    uint64_t word = text ? strlen(text) : UINT64_MAX;
    digest_word(digest, word);
    word = 0;
    for (size_t i = 0; text && text[i]; i++) {
        word = word << 8 | (unsigned char)text[i];
        if (i % 8 == 7)
            digest_word(digest, word);
    }
    digest_word(digest, word);
}

/* ---- programs ---- */

static inline void digest_place(uint64_t *digest, const struct code_place *place)
{
    digest_word(digest, (uint64_t)place->space << 32 | place->offset);
    digest_word(digest, (uint64_t)place->length << 32 | place->index);
    digest_word(digest, place->var);
}

static inline void digest_stm(uint64_t *digest, const struct code_stm *stm)
{
    const uint32_t words[] = {stm->kind,     stm->last,   stm->line,  stm->value,  stm->first,
                              stm->second,   stm->block,  stm->guard, stm->origin, stm->argument,
                              stm->function, stm->counts, stm->vote,  stm->atomic, stm->barrier};
    digest_words(digest, words, sizeof words / sizeof *words);
    digest_place(digest, &stm->place);
    digest_place(digest, &stm->target);
    digest_word(digest, stm->reads);
    digest_word(digest, stm->writes);
}

static inline void digest_block(uint64_t *digest, const struct program *program,
                                const struct code_block *block)
{
    const uint32_t words[] = {block->function,     block->line,  block->first, block->target_first,
                              block->target_count, block->guard, block->origin};
    digest_words(digest, words, sizeof words / sizeof *words);
    digest_words(digest, program->targets + block->target_first, block->target_count);
    digest_word(digest, block->loops);
    digest_word(digest, block->heads);
    digest_text(digest, block->name);
}

static inline void digest_functions(uint64_t *digest, const struct program *program)
{
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct code_function *f = &program->functions[i];
        const uint32_t words[] = {f->body,       f->entry,      f->counters,  f->in_first,
                                  f->in_count,   f->out_first,  f->out_count, f->frame_words,
                                  f->init_first, f->stack_depth};
        digest_words(digest, words, sizeof words / sizeof *words);
        digest_text(digest, f->name);
        for (uint32_t k = 0; k < f->in_count; k++)
            digest_word(digest, program->parameters[f->in_first + k]);
        for (uint32_t k = 0; k < f->out_count; k++)
            digest_word(digest, program->parameters[f->out_first + k]);
    }
}

static inline void digest_ops(uint64_t *digest, const struct program *program)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct code_expr_op *op = &program->ops[i];
        digest_word(digest, (uint64_t)op->op << 56 | (uint64_t)op->space << 48 |
                                (uint64_t)op->var << 32 | (uint32_t)op->a);
        digest_word(digest, op->b);
    }
}

static inline void digest_ptx_code(uint64_t *digest, const struct program *program);

static inline uint64_t digest_program(const struct program *program)
{
    uint64_t digest = 0;
    const uint32_t words[] = {program->form,          program->units,
                              program->stm_count,     program->op_count,
                              program->expr_depth,    program->block_count,
                              program->var_count,     program->stack_depth,
                              program->total_threads, program->warps_per_block,
                              program->warp_count,    program->recursive,
                              program->shared_base,   program->private_base,
                              program->frame_base,    program->memory_words,
                              program->has_atomics,   program->has_votes,
                              program->has_choices,   program->barrier_count};
    digest_words(&digest, words, sizeof words / sizeof *words);
    digest_words(&digest, program->words, SPACE_COUNT);
    for (uint32_t i = program->ptx != NULL; i < program->stm_count; i++)
        digest_stm(&digest, &program->stms[i]);
    digest_ops(&digest, program);
    for (uint32_t i = 0; i < program->block_count; i++)
        digest_block(&digest, program, &program->blocks[i]);
    digest_functions(&digest, program);
    for (uint32_t i = 0; i < program->var_count; i++)
        digest_word(&digest, program->vars[i].offset);
    digest_word(&digest, program_atomics_commute(program));
    if (program->ptx)
        digest_ptx_code(&digest, program);
    return digest;
}

/* ---- PTX ---- */

static inline void digest_ptx_place(uint64_t *digest, struct ptx_place place)
{
    digest_word(digest, (uint64_t)place.kind << 40 | (uint64_t)place.bits << 32 |
                            (place.kind == PTX_PLACE_NONE ? 0 : place.offset));
}

/* By name, so that what is added to PTX's tables changes no digest: the numbers of what is flow follow the others. */
static inline void digest_ptx_names(uint64_t *digest, const struct ptx_op *op)
{
    bool is_flow = ptx_is_flow((enum ptx_exec)op->exec);
    const char *mode = op->exec == PTX_EXEC_CLOCK  ? ptx_specials[op->mode].name
                       : op->mode < PTX_WORD_COUNT ? ptx_words[op->mode]
                                                   : "";
    digest_word(digest, is_flow ? 1000u + op->exec - PTX_EXEC_BRA : op->exec);
    digest_text(digest, ptx_mnemonics[op->opcode]);
    digest_text(digest, ptx_words[op->space]);
    digest_text(digest, mode);
    if (op->exec == PTX_EXEC_LD)
        digest_word(digest, op->width);
    else
        digest_text(digest, ptx_words[op->width]);
}

static inline void digest_ptx_op(uint64_t *digest, const struct ptx_code *code,
                                 const struct ptx_op *op)
{
    digest_ptx_names(digest, op);
    const uint32_t words[] = {op->result_count,    op->source_count,  op->guard_not,
                              op->negated,         op->has_count,     op->is_signed,
                              op->is_float,        op->is_volatile,   op->bytes,
                              op->count,           op->target,        op->function,
                              op->table_count,     op->copy_count,    op->back_count,
                              op->signature,       op->line,          op->file,
                              op->source_line,     op->row.immediate, op->row.reads_carry,
                              op->row.writes_carry};
    digest_words(digest, words, sizeof words / sizeof *words);
    digest_word(digest, op->offset);
    digest_ptx_place(digest, op->guard);
    for (uint32_t i = 0; i < op->result_count; i++)
        digest_ptx_place(digest, op->results[i]);
    for (uint32_t i = 0; i < op->source_count; i++)
        digest_ptx_place(digest, op->sources[i]);
    for (uint32_t i = 0; i < op->table_count; i++)
        digest_word(digest, code->table[op->table + i]);
    for (uint32_t i = 0; i < op->copy_count + op->back_count; i++) {
        const struct ptx_copy *copy = i < op->copy_count
                                          ? &code->copies[op->copy + i]
                                          : &code->copies[op->back + i - op->copy_count];
        digest_ptx_place(digest, copy->caller);
        digest_ptx_place(digest, copy->callee);
        const uint32_t bytes[] = {copy->caller_byte, copy->callee_byte, copy->bytes};
        digest_words(digest, bytes, 3);
    }
}

static inline void digest_regions(uint64_t *digest, const struct ptx_regions *regions)
{
    digest_word(digest, regions->count);
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *r = &regions->items[i];
        digest_word(digest, r->address);
        digest_word(digest, (uint64_t)r->bytes << 32 | r->word);
        digest_text(digest, r->name);
    }
}

static inline void digest_ptx_code(uint64_t *digest, const struct program *program)
{
    const struct ptx_code *code = program->ptx;
    const uint32_t words[] = {code->count,
                              code->function_count,
                              code->stride,
                              code->constant_words,
                              code->special_count,
                              code->frame_local_base,
                              code->rows.narrow,
                              code->rows.wide,
                              code->frame_bytes,
                              code->depth,
                              code->token_capacity,
                              code->barriers,
                              code->has_named_barriers,
                              code->span_count,
                              code->register_count,
                              code->explicit_flow};
    digest_words(digest, words, sizeof words / sizeof *words);
    for (uint32_t pc = 1; pc < code->count; pc++)
        digest_ptx_op(digest, code, &code->ops[pc]);
    for (uint32_t i = 0; i < code->function_count; i++) {
        const struct ptx_code_function *f = &code->functions[i];
        const uint32_t of[] = {f->entry,     f->end,         f->rows.narrow,
                               f->rows.wide, f->frame_bytes, f->signature};
        digest_words(digest, of, sizeof of / sizeof *of);
        digest_regions(digest, &f->locals);
    }
    digest_words(digest, code->constant_rows, code->constant_words);
    digest_regions(digest, &code->global);
    digest_regions(digest, &code->shared);
    digest_regions(digest, &code->local);
    digest_regions(digest, &code->constant);
    for (uint32_t i = 0; i < code->span_count; i++)
        digest_word(digest, (uint64_t)code->spans[i].first << 32 | code->spans[i].end);
    for (uint32_t i = 0; i < code->special_count; i++)
        digest_word(digest, (uint64_t)code->specials[i].special << 32 |
                                (unsigned char)code->specials[i].element);
    for (uint32_t i = 0; i < code->register_count; i++)
        digest_ptx_place(digest, code->registers[i].place);
    digest_words(digest, (const uint32_t *)code->initial, program->private_base);
    digest_text(digest, code->uninitialised);
}

#endif
