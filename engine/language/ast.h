/*
 * ast.h - kernels as trees: the structured and the block form of the kernel language.
 *
 * All nodes live in an arena. Lists are linked through `next`, so that mutators, lowerings and the
 * reducer splice them without copying. A name is resolved when it is parsed: an expression points to
 * its variable, a call to its function, a goto to its block.
 *
 * A kernel that came from the parser or the generator is well-formed (ast_check): every pointer
 * is resolved, break/continue stand in a loop (or switch), values fit their types.
 */
#ifndef ENGINE_AST_H
#define ENGINE_AST_H

#include "engine/kernel/kernel.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- expressions ---- */

enum ast_space {
    SPACE_GLOBAL,  /* one copy for the grid */
    SPACE_SHARED,  /* one copy a block */
    SPACE_PRIVATE, /* one copy a thread: declared at file level */
    SPACE_LOCAL,   /* one copy a frame: parameters, and variables declared in a body */
    SPACE_COUNT
};

struct ast_var {
    const char *name;
    enum ast_space space;
    bool is_input; /* starts at values drawn from the case's seed */
    bool is_array;
    bool is_parameter;
    bool is_out;         /* a parameter of a procedure in block form that gives a value back */
    uint32_t length;     /* elements; 1 for a scalar */
    uint32_t init_count; /* first values given by the initialiser; the rest start at 0 */
    int32_t *init;
    struct location at;
    struct ast_var *next; /* in its list, in order of declaration */
    uint32_t mark;        /* scratch for the pass that walks the tree */
};

enum ast_builtin {
    BUILTIN_TID,     /* index in the block */
    BUILTIN_THREADS, /* threads of a block */
    BUILTIN_LANE,    /* tid % warp_size */
    BUILTIN_WARP,    /* tid / warp_size */
    BUILTIN_WARP_SIZE,
    BUILTIN_BID, /* index of the block */
    BUILTIN_BLOCKS,
    BUILTIN_COUNT
};

enum ast_unary { UNARY_NEG, UNARY_NOT, UNARY_COMPLEMENT };

enum ast_binary {
    BINARY_MUL,
    BINARY_DIV,
    BINARY_REM,
    BINARY_ADD,
    BINARY_SUB,
    BINARY_SHL,
    BINARY_SHR,
    BINARY_LT,
    BINARY_LE,
    BINARY_GT,
    BINARY_GE,
    BINARY_EQ,
    BINARY_NE,
    BINARY_AND,
    BINARY_XOR,
    BINARY_OR,
    BINARY_LOGICAL_AND,
    BINARY_LOGICAL_OR
};

enum ast_expr_kind {
    EXPR_INT,
    EXPR_VAR,
    EXPR_INDEX,
    EXPR_BUILTIN,
    EXPR_UNARY,
    EXPR_BINARY,
    EXPR_COND,
    EXPR_ALL, /* lock-step form only: the conjunction of a over all threads, 0 or 1 */
    EXPR_ANY  /* the disjunction */
};

struct ast_expr {
    enum ast_expr_kind kind;
    struct location at;
    union {
        int32_t value;            /* EXPR_INT */
        struct ast_var *var;      /* EXPR_VAR (a scalar), EXPR_INDEX (an array, index in a) */
        enum ast_builtin builtin; /* EXPR_BUILTIN */
        enum ast_unary unary;     /* EXPR_UNARY: operand a */
        enum ast_binary binary;   /* EXPR_BINARY: operands a, b */
    };
    struct ast_expr *a, *b, *c; /* EXPR_COND: a ? b : c */
    struct ast_expr *next;      /* in an argument list */
};

/* ---- statements ---- */

/* statements.def has what each is. */
enum ast_stm_kind {
#define STATEMENT(kind, name, traits) STM_##kind,
#include "engine/language/statements.def"
#undef STATEMENT
    STM_KIND_COUNT
};

enum ast_assign_op {
    ASSIGN_SET,
    ASSIGN_ADD,
    ASSIGN_SUB,
    ASSIGN_MUL,
    ASSIGN_XOR,
    ASSIGN_OR,
    ASSIGN_AND
};

/* Sizes of tables; not enumerators, so that a switch over the operators stays total without them. */
enum { BINARY_COUNT = BINARY_LOGICAL_OR + 1, ASSIGN_COUNT = ASSIGN_AND + 1 };

enum ast_atomic {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_COUNT
};

enum ast_vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, VOTE_COUNT };

struct ast_lvalue {
    struct ast_var *var;    /* NULL = absent */
    struct ast_expr *index; /* non-NULL exactly for an array */
    struct location at;
};

struct ast_case {
    bool is_default; /* the last one, if any */
    int32_t value;
    struct ast_stm *body; /* list; NULL = empty, falls through to the next case */
    struct location at;
    struct ast_case *next;
};

struct ast_stm {
    enum ast_stm_kind kind;
    struct location at;
    struct ast_stm *next; /* in its list */

    enum ast_assign_op op;      /* STM_ASSIGN */
    enum ast_atomic atomic;     /* STM_ATOMIC */
    enum ast_vote vote;         /* STM_VOTE */
    struct ast_lvalue target;   /* STM_ASSIGN, STM_CALL, STM_ATOMIC, STM_VOTE */
    struct ast_lvalue place;    /* STM_ATOMIC, STM_HAVOC */
    struct ast_expr *value;     /* guard, right-hand side, operand: see the kinds; NULL = absent */
    struct ast_expr *second;    /* STM_SYNC, STM_ARRIVE: the count */
    struct ast_expr *arguments; /* list: STM_CALL (the in-parameters), STM_ATOMIC (1, or 2 for cas),
                                   STM_PICK (k1, e1, .., kn, en) */
    struct ast_expr *outs;      /* STM_CALL of a procedure: private scalars that take the
                                   out-parameters, in order */
    bool annotation; /* STM_ASSERT: written `invariant value;`; STM_ASSUME: `requires value;` */
    /* `statement if (guard);` in the block and lock-step forms: it acts for the threads whose guard
     * holds and does nothing, evaluates nothing and draws no choice for the others. NULL = always.
     * For STM_ASSIGN (op SET), _BARRIER, _HAVOC, _ATOMIC, _PICK. In the lock-step form an assignment
     * to a global or shared variable with a guard is psi<guard_t, value_t> (LOCK.assign_shared). */
    struct ast_expr *guard;
    /* Where a transformed program's statement comes from: 1 + the number of the statement of the
     * original program (code_stm) that it stands for; 0 = administrative. See ast_stm.mark. */
    uint32_t origin;
    uint32_t mark;                 /* scratch; after program_compile: the number of its code_stm */
    struct ast_function *function; /* STM_CALL */
    struct ast_stm
        *body; /* STM_BLOCK: list (may be empty); STM_IF, _WHILE, _DO, _FOR: one statement */
    struct ast_stm *other;       /* STM_IF: the else statement or NULL */
    struct ast_stm *init, *step; /* STM_FOR: simple statements or NULL */
    struct ast_case *cases;      /* STM_SWITCH: list */
};

/* ---- kernels ---- */

struct ast_function {
    const char *name;
    bool returns_int;
    uint32_t parameter_count;
    struct ast_var *locals; /* the parameters first, then the variables of the body (SPACE_LOCAL) */
    struct ast_stm *body;   /* list; NULL = empty */
    struct ast_block *blocks; /* block form: list; the entry (the kernel's: Start) first */
    struct location at;
    struct ast_function *next;
    uint32_t mark;
};

struct ast_block {
    const char *name;
    struct ast_stm *body; /* list of simple statements */
    bool returns;         /* ends with return (procedures only); otherwise with goto */
    bool added; /* by normalise, before End: who is in it has finished what its text says */
    uint32_t target_count;
    struct ast_block **targets; /* a target named End is NULL: the thread ends */
    struct location at;
    struct ast_block *next;
    uint32_t origin; /* as of a statement: 1 + the number of the original's code_block */
    uint32_t mark;   /* scratch; after program_compile: the number of its code_block */
};

/* Names as the language spells them, indexed by the enums above. */
extern const char *const ast_space_names[SPACE_COUNT]; /* global shared private private */
extern const char *const ast_builtin_names[BUILTIN_COUNT];
extern const char *const ast_binary_names[BINARY_COUNT];
extern const uint8_t ast_binary_levels[BINARY_COUNT];    /* C's precedences: 1 (||) to 10 (*) */
extern const char *const ast_assign_names[ASSIGN_COUNT]; /* "=", "+=", ... */
extern const enum ast_binary ast_assign_operations[ASSIGN_COUNT]; /* of op=; ASSIGN_SET has none */
extern const char *const ast_atomic_names[ATOMIC_COUNT];
extern const char *const ast_vote_names[VOTE_COUNT];
extern const char *const ast_claim_names[CLAIM_COUNT];
extern const char *const ast_stm_names[STM_KIND_COUNT]; /* for messages: "barrier", "do", ... */

/* ---- construction; every node zeroed but for what is given ---- */

struct ast_expr *ast_int(struct arena *arena, int32_t value);
struct ast_expr *ast_var_ref(struct arena *arena, struct ast_var *var);
struct ast_expr *ast_index(struct arena *arena, struct ast_var *var, struct ast_expr *index);
struct ast_expr *ast_builtin_ref(struct arena *arena, enum ast_builtin builtin);
struct ast_expr *ast_unary(struct arena *arena, enum ast_unary op, struct ast_expr *a);
struct ast_expr *ast_binary(struct arena *arena, enum ast_binary op, struct ast_expr *a,
                            struct ast_expr *b);
struct ast_expr *ast_cond(struct arena *arena, struct ast_expr *a, struct ast_expr *b,
                          struct ast_expr *c);
struct ast_stm *ast_stm(struct arena *arena, enum ast_stm_kind kind, struct location at);
/* var = value; or var[index] = value; (index NULL for a scalar) */
struct ast_stm *ast_assign(struct arena *arena, struct ast_var *var, struct ast_expr *index,
                           struct ast_expr *value, struct location at);
/* The value that an assignment gives its target: of `x op= e` a new tree `x op e`, with a copy of x's
 * index; of `x = e` its value itself. */
struct ast_expr *ast_assigned_value(struct arena *arena, const struct ast_stm *stm);
struct ast_var *ast_var(struct arena *arena, const char *name, enum ast_space space,
                        uint32_t length, bool is_array);

/* Appends a list to a list in place: `*list` is the head. */
void ast_stm_append(struct ast_stm **list, struct ast_stm *stms);
void ast_var_append(struct ast_var **list, struct ast_var *var);

/* A deep copy: no node shared with the original. Within one arena the copies of variables, functions and
 * blocks are new too, and all references point to the copies. Of any kernel: ast_kernel_copy (input.h). */
struct ast_kernel *language_copy(struct arena *arena, const struct ast_kernel *kernel);
struct ast_expr *ast_expr_copy(struct arena *arena, const struct ast_expr *expr);
struct ast_stm *ast_stm_list_copy(struct arena *arena, const struct ast_stm *list);

/* Statements of the kernel and its functions, not counting STM_BLOCK and STM_SKIP. */
uint32_t language_size(const struct ast_kernel *kernel);

/* Whether the launch and the tree are within the limits, every reference points to something of this
 * kernel, every break/continue/return/call is legal where it stands, and names are distinct (also
 * for trees that a mutator made). Errors go to diag (NULL: only the verdict); true = well-formed. */
bool ast_check(const struct ast_kernel *kernel, struct diag *diag);

/* The value of a binary or unary operation as the language defines it (docs/kernel-language.md): wraps,
 * total. BINARY_LOGICAL_* on values already evaluated. The one evaluator of all semantics. */
int32_t ast_eval_binary(enum ast_binary op, int32_t a, int32_t b);
int32_t ast_eval_unary(enum ast_unary op, int32_t a);

/* The value of a leaf that is no number - a variable, an element, a builtin, ..; false: none is known. */
typedef bool ast_leaf(void *context, const struct ast_expr *leaf, int32_t *value);
/* The value of an expression that follows from its leaves; false: from one of them nothing does. NULL: only numbers
 * have a value. */
bool ast_value(const struct ast_expr *e, ast_leaf *leaf, void *context, int32_t *value);

#endif
