/*
 * lower_cfg_internal.h - shared by the parts of lower_cfg: statements to blocks (lower_cfg.c) and the
 * functions of a kernel, which are inlined or become procedures (lower_cfg_calls.c).
 */
#ifndef ENGINE_LOWER_CFG_INTERNAL_H
#define ENGINE_LOWER_CFG_INTERNAL_H

#include "engine/forms/lower_cfg.h"
#include "engine/language/fresh.h"

/* What a kernel calls, directly or not. A function's number is its mark. */
struct call_graph {
    uint32_t count;                           /* functions */
    uint64_t from_main[LIMIT_FUNCTIONS / 64]; /* bits: called by the kernel, directly or not */
    uint64_t reach[][LIMIT_FUNCTIONS / 64];   /* by a function */
};

struct call_graph *call_graph_new(struct arena *arena, const struct ast_kernel *core);
bool call_graph_is_called(const struct call_graph *calls, const struct ast_function *function);
bool call_graph_is_recursive(const struct call_graph *calls, const struct ast_function *function);

/* Gives the locals of functions numbers from 1 on as marks, all other variables 0; their count. */
uint32_t number_locals(struct ast_kernel *core);

/* Replaces numbered locals in a list by what stands at their number. Statements and expressions. */
uint32_t replace_locals(struct ast_stm *list, struct ast_var *const *replacements);

/* Statements, expressions, declarations, blocks and targets, as LIMIT_NODES counts them. */
uint32_t count_nodes(const struct ast_kernel *kernel);

#endif
