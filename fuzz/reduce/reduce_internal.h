/*
 * reduce_internal.h - the edits that the reducer tries.
 */
#ifndef FUZZ_REDUCE_INTERNAL_H
#define FUZZ_REDUCE_INTERNAL_H

#include "engine/rewrite/edit.h"
#include "oracle/check/check.h"

struct reduce_pass {
    const char *name;
    /* Walks the kernel; the edit was applied exactly if edit_done afterwards. */
    void (*run)(struct edit *edit);
};

/* In the order in which they are tried. */
extern const struct reduce_pass reduce_passes[];
extern const uint32_t reduce_pass_count;

/* The same for kernels of FORM_PTX. */
extern const struct reduce_pass reduce_ptx_passes[];
extern const uint32_t reduce_ptx_pass_count;

/* ---- passes in files of their own ---- */

/* Functions: uncalled ones go, results and parameters are dropped. */
void reduce_functions(struct edit *edit);
/* A call becomes the callee's body: without arguments and locals, or the only one. */
void reduce_inline(struct edit *edit);
/* Expressions: smaller constants; an operand in the place of the whole; tid in the place of another name. */
void reduce_constants(struct edit *edit);
void reduce_operands(struct edit *edit);
void reduce_leaves(struct edit *edit);
/* An array of one element becomes a scalar. */
void reduce_scalars(struct edit *edit);
/* Two variables of a kind become one, where there are few. */
void reduce_unite(struct edit *edit);
/* What the kernel expects, where that is kept at all. */
void reduce_expects(struct edit *edit);
/* Block form: edges and blocks go, blocks are merged. */
void reduce_blocks(struct edit *edit);

/* FORM_PTX: launch, lanes, blocks; initial values of registers, of parameters. */
void reduce_ptx_launch(struct edit *edit);
void reduce_ptx_values(struct edit *edit);

/* "threads=8 reg:p=10"; false: not for this kernel. */
bool reduce_ptx_set(struct edit *edit, const char *settings);
/* Whether a register holds addresses of instructions: it stands where a target stands. */
bool reduce_ptx_holds_addresses(struct edit *edit, const char *name);

bool reduce_uses(const struct ast_kernel *kernel, const struct ast_var *var);

/* Whether Def. 5.1 holds. */
bool reduce_is_well_formed(struct arena *arena, const struct ast_kernel *kernel);

/* Short names in order of declaration: v0, v1, ..; f0, f1, .. */
void reduce_rename(struct arena *arena, struct ast_kernel *kernel);

#endif
