/*
 * program_memory.c - what a compiled program says of its memory: initial values, places, builtins.
 */
#include "engine/base/invariant.h"
#include "engine/base/pages.h"
#include "engine/language/initial.h"
#include "engine/program/program.h"
#include "engine/program/ptx_code.h"

#include <string.h>

void program_init_memory(const struct program *program, int32_t *memory)
{
    const uint32_t base[SPACE_COUNT] = {0, program->shared_base, program->private_base,
                                        program->frame_base};
    const uint32_t copies[SPACE_COUNT] = {1, program->launch.blocks, program->total_threads,
                                          program->total_threads};
    if (program->form == FORM_PTX) { /* local memory starts at 0 */
        const uint32_t words = program->private_base;
        if (words)
            pages_copy(memory, program->ptx->initial, words * sizeof *memory);
        memset(memory + words, 0, (program->memory_words - words) * sizeof *memory);
        return;
    }
    memset(memory, 0, program->memory_words * sizeof *memory);
    for (uint32_t i = 0; i < program->var_count; i++) {
        const struct ast_var *var = program->vars[i].ast;
        if (var->is_input || var->init_count > 0)
            language_init_variable(var, i, program->launch.seed,
                                   memory + base[var->space] + program->vars[i].offset,
                                   program->words[var->space], copies[var->space]);
    }
    const struct code_function *kernel = &program->functions[0];
    for (uint32_t thread = 0; thread < program->total_threads; thread++)
        memcpy(memory + program->frame_base + (size_t)thread * program->words[SPACE_LOCAL],
               program->frame_init + kernel->init_first, kernel->frame_words * sizeof *memory);
}

struct program_location program_locate(const struct program *program, uint32_t address)
{
    struct program_location location = {.byte = address % program->units * (4 / program->units)};
    enum ast_space space = SPACE_GLOBAL;
    address /= program->units;
    INVARIANT(address < program->private_base);
    uint32_t offset = address;
    if (address >= program->shared_base) {
        space = SPACE_SHARED;
        location.block = (address - program->shared_base) / program->words[SPACE_SHARED];
        offset = (address - program->shared_base) % program->words[SPACE_SHARED];
    }
    for (uint32_t i = 0; i < program->var_count; i++) {
        const struct code_var *var = &program->vars[i];
        if (var->ast->space == space && offset - var->offset < var->ast->length) {
            location.var = var->ast;
            location.element = offset - var->offset;
            break;
        }
    }
    INVARIANT(location.var);
    return location;
}

const char *program_location_name(struct arena *arena, const struct program *program,
                                  uint32_t address)
{
    struct program_location location = program_locate(program, address);
    const char *name = location.var->name;
    if (location.var->is_array)
        name = arena_printf(arena, "%s[%u]", name, (unsigned)location.element);
    if (program->units > 1)
        name = arena_printf(arena, "%s byte %u", name, (unsigned)location.byte);
    if (location.var->space == SPACE_SHARED && program->launch.blocks > 1)
        name = arena_printf(arena, "%s of block %u", name, (unsigned)location.block);
    return name;
}

int32_t program_builtin(const struct program *program, uint32_t thread, enum ast_builtin builtin)
{
    const struct ast_launch *launch = &program->launch;
    uint32_t tid = thread % launch->threads, value = 0;
    switch (builtin) {
    case BUILTIN_TID:
        value = tid;
        break;
    case BUILTIN_THREADS:
        value = launch->threads;
        break;
    case BUILTIN_LANE:
        value = tid % launch->warp;
        break;
    case BUILTIN_WARP:
        value = tid / launch->warp;
        break;
    case BUILTIN_WARP_SIZE:
        value = launch->warp;
        break;
    case BUILTIN_BID:
        value = thread / launch->threads;
        break;
    case BUILTIN_BLOCKS:
        value = launch->blocks;
        break;
    case BUILTIN_COUNT:
        invariant_fail("a builtin", __FILE__, __LINE__);
    }
    return (int32_t)value;
}
