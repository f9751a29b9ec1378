/*
 * lower_ptx_internal.h - between lower_ptx.c (modules, functions, variables), lower_ptx_stm.c, lower_ptx_memory.c
 * (statements), lower_ptx_blocks.c (blocks) and lower_ptx_expr.c (values, memory, instructions).
 */
#ifndef ENGINE_LOWER_PTX_INTERNAL_H
#define ENGINE_LOWER_PTX_INTERNAL_H

#include "engine/to_ptx/lower_ptx.h"

/* Instructions under construction. */
struct ptx_list {
    struct ptx_statement *first, **end;
};

/* Where a variable is. */
enum home_kind { HOME_REGISTER, HOME_MEMORY };

struct home {
    const struct ast_var *var;
    /* In memory; of a parameter in block form, the register that hands it over. */
    struct ptx_variable *variable;
    struct ptx_variable *table; /* its initial values, or NULL */
    enum home_kind kind;
    enum ptx_word space; /* in memory */
    uint32_t reg;        /* %r<reg> */
    int32_t base;        /* %b<base> holds its address in this function; -1: not yet */
    bool used;           /* in this function */
};

enum value_kind {
    VALUE_INT,
    VALUE_REG,  /* %r<number> */
    VALUE_HELD, /* %b<number>: set once, in the function's prologue or before a switch */
    VALUE_NONE
};

struct value {
    enum value_kind kind;
    int32_t number;
};

/* %p<number>, negated or not. */
struct predicate {
    uint32_t number;
    bool negated;
};

struct ptx_lowering {
    struct arena *arena;
    struct ast_kernel *kernel; /* core, switches kept */
    const char *reason;        /* why not; nothing of use is made then */
    struct home *homes;        /* by ast_var.mark */
    uint32_t home_count, home_capacity;
    bool has_functions;
    bool votes;
    bool plain; /* block form: without instructions of the branch unit */

    struct ptx_function **functions; /* by ast_function.mark */

    /* the function at hand */
    bool is_entry;
    struct ptx_variable *registers_of[3]; /* by value_kind; 0: %p */
    struct ptx_list code;                 /* where instructions go */
    struct ptx_list prologue;             /* before all else */
    struct ptx_operand **operand_end;     /* of the instruction at hand */
    struct location at;                   /* of the statement at hand */
    uint32_t registers, most_registers;   /* %r: locals, then temporaries of the statement */
    uint32_t local_registers;
    uint32_t predicates, most_predicates; /* %p: of the statement */
    uint32_t held;                        /* %b */
    int32_t builtins[BUILTIN_COUNT];      /* %b<n>; -1: not yet */
    uint32_t labels;                      /* constructs so far */
    uint32_t conditional_calls, plain_calls;
    struct ptx_statement **block_labels; /* by ast_block.mark */
    bool in_switch1; /* the innermost thing that break leaves is a CMP.switch1 */
};

/* ---- instructions ---- */

/* A new instruction at the end of the code, with its type (PTX_W_NONE: none); lp_arg adds operands to it. */
struct ptx_instruction *lp_emit(struct ptx_lowering *l, enum ptx_form form, enum ptx_word type);
void lp_guard(struct ptx_lowering *l, struct ptx_instruction *i, struct predicate guard);
void lp_arg(struct ptx_lowering *l, struct value value);
void lp_arg_predicate(struct ptx_lowering *l, struct predicate predicate);
void lp_arg_sink(struct ptx_lowering *l); /* a result that is thrown away */
void lp_arg_list(struct ptx_lowering *l, const struct value *values, uint32_t count);
void lp_arg_label(struct ptx_lowering *l, const struct ptx_statement *label);
void lp_arg_function(struct ptx_lowering *l, const struct ast_function *f);
void lp_arg_variable(struct ptx_lowering *l, const struct ptx_variable *var);
void lp_arg_special(struct ptx_lowering *l, enum ptx_special special);
/* [var + offset], or [base + offset]; without both (NULL, VALUE_NONE): [offset]. */
void lp_arg_address(struct ptx_lowering *l, const struct ptx_variable *var, struct value base,
                    uint64_t offset);
/* form d, a, b. */
void lp_three(struct ptx_lowering *l, enum ptx_form form, enum ptx_word type, struct value d,
              struct value a, struct value b);
void lp_move(struct ptx_lowering *l, struct value d, struct value a);

/* A label $<letter><number>, or $<letter><number>_<part>, to be placed later. */
struct ptx_statement *lp_new_label(struct ptx_lowering *l, char letter, uint32_t number);
struct ptx_statement *lp_new_case_label(struct ptx_lowering *l, uint32_t number, uint32_t part);
void lp_place_label(struct ptx_lowering *l, struct ptx_statement *label);

struct ptx_statement *lp_statement(struct ptx_lowering *l, enum ptx_statement_kind kind);
struct ptx_variable *lp_variable(struct ptx_lowering *l, const char *name, enum ptx_word space,
                                 enum ptx_word type);

/* ---- values ---- */

static inline struct value lp_int(int32_t number)
{
    return (struct value){VALUE_INT, number};
}

static inline struct value lp_none(void)
{
    return (struct value){VALUE_NONE, 0};
}

static inline struct value lp_reg(uint32_t number)
{
    return (struct value){VALUE_REG, (int32_t)number};
}

struct value lp_temporary(struct ptx_lowering *l);
uint32_t lp_predicate(struct ptx_lowering *l);
struct value lp_held(struct ptx_lowering *l);

struct value lp_eval(struct ptx_lowering *l, const struct ast_expr *e);
/* Into a register; writes it last. */
void lp_eval_into(struct ptx_lowering *l, const struct ast_expr *e, struct value d);
struct predicate lp_condition(struct ptx_lowering *l, const struct ast_expr *e);
/* Whether it matters if it is evaluated: it reads what others may write, or an index may be wrong. */
bool lp_reads_memory(const struct ast_expr *e);

/* ---- places ---- */

struct place {
    const struct home *home;
    struct value base; /* register of the address; VALUE_NONE: the variable, if not `invalid` */
    bool invalid;      /* `offset` alone, which no variable has */
    uint64_t offset;
};

struct place lp_place(struct ptx_lowering *l, const struct ast_lvalue *target);
struct value lp_load(struct ptx_lowering *l, const struct place *place);
void lp_load_into(struct ptx_lowering *l, const struct place *place, struct value d);
void lp_store(struct ptx_lowering *l, const struct place *place, struct value value);
void lp_arg_place(struct ptx_lowering *l, const struct place *place);

struct home *lp_home(struct ptx_lowering *l, const struct ast_var *var);

/* ---- statements ---- */

void lp_statements(struct ptx_lowering *l, const struct ast_stm *list);
/* lower_ptx_memory.c: atomics, votes, barriers, assert: what is one instruction with its operands. */
void lp_atomic(struct ptx_lowering *l, const struct ast_stm *stm);
void lp_vote(struct ptx_lowering *l, const struct ast_stm *stm);
void lp_barrier(struct ptx_lowering *l, const struct ast_stm *stm);

/* ---- lower_ptx_blocks.c ---- */

void lp_blocks(struct ptx_lowering *l, const struct ast_function *f);
void lp_block_call(struct ptx_lowering *l, const struct ast_stm *stm);

#endif
