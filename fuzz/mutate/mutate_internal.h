/*
 * mutate_internal.h - what the mutators share: places, and what is adopted from elsewhere.
 */
#ifndef FUZZ_MUTATE_INTERNAL_H
#define FUZZ_MUTATE_INTERNAL_H

#include "engine/rewrite/edit.h"
#include "fuzz/mutate/mutate.h"

enum {
    MUTATE_SITES_MAX = 4096,
    MUTATE_RUN_MAX = 4,    /* statements taken together */
    MUTATE_DEPTH_MAX = 10, /* nesting beyond which nothing is wrapped */
    MUTATE_MAP_MAX = 256   /* variables of one adoption */
};

/* A mutation in the making. */
struct mutation {
    struct arena *arena;
    struct ast_kernel *kernel; /* a copy, changed in place */
    struct ast_kernel *donor;  /* a copy of its own; its parts may be moved into the kernel */
    struct source *choices;
    struct fresh_names *names; /* all that the kernel has; made when first needed */
};

typedef bool mutate_function(struct mutation *m);

#define MUTATOR(id, name, forms, weight, sentence) mutate_function mutate_##name;
#include "fuzz/mutate/mutators.def"

static inline uint32_t mutate_below(struct mutation *m, uint32_t bound)
{
    return source_below(m->choices, bound);
}

static inline bool mutate_chance(struct mutation *m, uint32_t percent)
{
    return source_chance(m->choices, percent);
}

/* ---- mutate_sites.c: where things stand ---- */

/* A place in a statement list. */
struct site {
    struct ast_stm **slot; /* *slot: the statement here; NULL: the end of the list */
    struct ast_function *function;
    struct ast_block *block; /* block forms */
    uint32_t depth;
    bool in_loop, breakable;
};

struct sites {
    uint32_t count;
    struct site at[MUTATE_SITES_MAX];
};

/* An expression; what stands in loop conditions and indices is better left alone. */
enum expr_role { ROLE_VALUE, ROLE_CONDITION, ROLE_INDEX, ROLE_LOOP };

struct expr_site {
    struct ast_expr **slot;
    struct ast_function *function;
    enum expr_role role;
};

struct expr_sites {
    uint32_t count;
    struct expr_site at[MUTATE_SITES_MAX];
};

/* Those of a kernel's functions (all: NULL): statements, and with `ends` also the ends of lists. */
struct sites *mutate_sites(struct mutation *m, struct ast_kernel *kernel, bool ends);
/* Expressions for which `accept` holds. */
struct expr_sites *mutate_exprs(struct mutation *m, struct ast_kernel *kernel,
                                bool (*accept)(const struct expr_site *site));

/* One of them; NULL: there is none. */
struct site *mutate_pick_site(struct mutation *m, struct sites *sites);
struct site *mutate_pick_where(struct mutation *m, struct sites *sites,
                               bool (*accept)(const struct ast_stm *stm));
/* One that may be changed: those of loops and indices in one draw of sixteen. */
struct expr_site *mutate_pick_expr(struct mutation *m, struct expr_sites *sites);

/* How many statements from here on a draw takes: 1 to MUTATE_RUN_MAX, as many as there are; none of
 * them counts a loop. 0: this one does, leave it. */
uint32_t mutate_run(struct mutation *m, const struct site *site);
/* A copy of so many statements. */
struct ast_stm *mutate_copy_run(struct mutation *m, const struct ast_stm *from, uint32_t count);

/* Marks the variables that look like counters: a constant steps them, or a loop's condition reads
 * them. */
void mutate_mark_counters(struct ast_kernel *kernel);
/* Whether a statement sets a marked variable. */
bool mutate_counts(const struct ast_stm *stm);

/* ---- mutate_adopt.c: parts from elsewhere ---- */

const char *mutate_name(struct mutation *m, const char *base);
struct ast_var *mutate_new_local(struct mutation *m, struct ast_function *function,
                                 const char *base);
bool mutate_may_see(const struct ast_kernel *kernel, const struct ast_function *function,
                    const struct ast_var *var);
bool mutate_is_private(const struct ast_var *var);

/* Makes a list (an expression) fit into `function`: variables and functions that it does not see
 * become ones that it sees, or are declared. The list is the caller's to change. */
void mutate_adopt_list(struct mutation *m, struct ast_function *function, struct ast_stm *list);
void mutate_adopt_expr(struct mutation *m, struct ast_function *function, struct ast_expr *expr);

/* A copy of a condition of the kernel or the donor, or a new one about the thread. */
struct ast_expr *mutate_condition(struct mutation *m, struct ast_function *function);
struct ast_expr *mutate_value(struct mutation *m, struct ast_function *function);
/* A variable that the function sees and for which `accept` holds; NULL: none. */
struct ast_var *mutate_pick_var(struct mutation *m, struct ast_function *function,
                                bool (*accept)(const struct ast_var *var, const void *context),
                                const void *context);

/* ---- mutate_ptx.c ---- */

/* What was compiled says by its labels where compound statements begin and end; after a mutation that need
 * not be so, and the labels get other names. */
void mutate_drop_spans(struct mutation *m);

/* ---- mutate_repair.c ---- */

/* What stands where it may not becomes the nearest thing that may: break outside of a loop `;`, and
 * so on. */
void mutate_repair(struct arena *arena, struct ast_kernel *kernel);

#endif
