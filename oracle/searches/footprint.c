#include "oracle/searches/footprint.h"

#include "engine/language/walk.h"
#include "engine/program/program.h"

static bool reads(const struct ast_stm *s, const struct ast_var *var)
{
    const struct ast_expr *roots[] = {s->value, s->guard, s->arguments, s->target.index,
                                      s->place.index};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (ast_expr_mentions(roots[i], var))
            return true;
    const bool updates = s->kind == STM_ASSIGN && s->op != ASSIGN_SET;
    return (updates && s->target.var == var) || (s->kind == STM_ATOMIC && s->place.var == var);
}

static bool writes(const struct ast_stm *s, const struct ast_var *var)
{
    return s->kind == STM_ASSIGN
               ? s->target.var == var
               : (s->kind == STM_HAVOC || s->kind == STM_ATOMIC) && s->place.var == var;
}

/* A bit for each variable that other threads see; from the 64th on they share one. */
static uint64_t variables(const struct program *program, const struct ast_stm *stm,
                          bool (*is)(const struct ast_stm *s, const struct ast_var *var))
{
    uint64_t set = 0, bit = 1;
    for (const struct ast_var *v = program->core->vars; v; v = v->next) {
        if ((v->space == SPACE_GLOBAL || v->space == SPACE_SHARED) && is(stm, v))
            set |= bit;
        bit = bit >> 63 ? bit : bit << 1;
    }
    return set;
}

static const char *at(struct arena *arena, uint32_t line)
{
    return arena_printf(arena, FOOTPRINT ": at line %u", line);
}

/* A goto evaluates the guards of its targets. */
static const char *goto_differs(struct arena *arena, const struct program *program,
                                const struct code_block *block)
{
    const struct code_stm *last = &program->stms[block->first];
    uint64_t read = 0;
    while (!last->last)
        last++;
    for (uint32_t i = 0; i < block->target_count; i++) {
        const uint32_t target = program->targets[block->target_first + i];
        const struct ast_stm *first =
            target == BLOCK_END ? NULL : program->stms[program->blocks[target].first].source;
        if (first && first->kind == STM_ASSUME)
            read |= variables(program, first, reads);
    }
    return last->source || last->reads == read ? NULL : at(arena, last->line);
}

const char *footprint_differs(struct arena *arena, const struct program *program)
{
    const char *differs = NULL;
    for (uint32_t i = 0; i < program->stm_count; i++) {
        const struct code_stm *stm = &program->stms[i];
        if (stm->source && (variables(program, stm->source, reads) != stm->reads ||
                            variables(program, stm->source, writes) != stm->writes))
            return at(arena, stm->line);
    }
    for (uint32_t b = 0; b < program->block_count && !differs; b++)
        differs = goto_differs(arena, program, &program->blocks[b]);
    return differs;
}
