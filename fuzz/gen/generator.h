/*
 * generator.h - the generator's parts and what they share: one struct gen a kernel.
 *
 * gen.c decides on the kernel as a whole, gen_expr.c and gen_cond.c make expressions, gen_stm.c
 * statements, gen_flow.c what repeats and jumps, gen_call.c functions, gen_sync.c threads that wait
 * for each other, votes and choices. gen_blocks.h is about kernels in block form.
 *
 * What keeps a kernel valid:
 * - an index is a slot of the thread's own, masked by the (power of two) length, or guarded;
 * - what loops and recursion count in is in `counters`, never in `values`, and only `values` are
 *   assigned to;
 * - every statement adds an upper bound of its thread steps to `cost`; loops and calls that would
 *   exceed the budget are not made.
 */
#ifndef FUZZ_GENERATOR_H
#define FUZZ_GENERATOR_H

#include "fuzz/gen/gen.h"

enum { FEATURE_ALWAYS = FEATURE_COUNT };

enum gen_group {
#define GROUP(group) GROUP_##group,
#include "fuzz/gen/features.def"
    GROUP_COUNT
};

/* All items of all groups, W_<group>_<item>; those of a group follow W_<group>_FIRST. */
enum gen_weight {
#define GROUP(group) W_##group##_FIRST, W_##group##_BACK = W_##group##_FIRST - 1,
#define WEIGHT(group, item, weight, small, feature) W_##group##_##item,
#include "fuzz/gen/features.def"
    W_COUNT
};

struct gen_row {
    const char *name; /* "STM LOOP" */
    uint16_t weight, small;
    uint8_t group, feature;
};

extern const struct gen_row gen_rows[W_COUNT];

/* Scales the weights that are not 0 (gen_weights.c). */
void gen_scale_weights(const struct gen_weights *weights, bool small, uint16_t *scaled_weights);

enum {
    GEN_VALUES = 24,
    GEN_COUNTERS = 8,
    GEN_SLOTS = 4,
    GEN_ARRAYS = 4,
    GEN_FUNCTIONS = 4,
    GEN_SMALL_THREADS = 3,
    GEN_GROUP_MAX = 24, /* items of a group */
    GEN_COPY_MAX = 10,  /* statements of a verbatim copy */
    GEN_TRIP_COST = 6,  /* thread steps of a trip of a loop: test, step, something in its body */
    GEN_ENDS = 2,       /* returns and exits of the kernel's own body */
    GEN_READS = 3,      /* nesting of indices */
    GEN_TEMPS = 3,      /* variables that guards read */
    GEN_RECURSION = 3,  /* deepest */
};

/* An array with an element (or two) for each thread of a block (shared) or of the grid (global). */
struct gen_slot {
    struct ast_var *var;
    uint32_t permute;  /* W_PERMUTE_* */
    uint32_t constant; /* of the permutation */
    bool wide;         /* two elements for each thread */
};

/* What a function body declares. */
struct gen_scope {
    struct ast_function *function;
    struct ast_var **locals_end; /* NULL: at file level, as those of a kernel in block form */
    struct ast_var *values[GEN_VALUES]; /* private scalars that any statement may assign */
    uint32_t value_count;
    struct ast_var *counters[GEN_COUNTERS]; /* loop counters by nesting, made when first needed */
    uint32_t counters_made, counters_open;
    struct ast_var *temps[GEN_TEMPS]; /* block form: what guards read */
    uint32_t temp_count;
    struct ast_var *array; /* or NULL */
    struct ast_var *depth; /* the parameter that recursion counts down, or NULL */
};

struct gen_callee {
    struct ast_function *function;
    uint32_t cost;      /* thread steps of one call, at most */
    uint32_t max_depth; /* of its depth parameter; 0 = not recursive */
    bool exits;         /* a thread may end in it */
};

struct gen_loop {
    bool continues;         /* continue is allowed: it doesn't skip the step */
    bool calm;              /* nothing jumps out of it, or to its next trip */
    bool in_loop;           /* a break that follows this loop leaves another loop */
    struct ast_var *escape; /* the flag that such a break tests, or NULL */
};

/* Where a statement stands. */
struct gen_place {
    uint32_t depth;        /* nesting */
    uint32_t times;        /* that a thread passes here, at most */
    struct gen_loop *loop; /* innermost, or NULL */
    bool in_switch;        /* break leaves a switch, not the loop */
    bool uniform;          /* every thread that lives passes here equally often */
    bool calm;             /* nothing jumps out of a loop around */
};

struct gen_list {
    struct ast_stm *head, **end;
    bool ended; /* the last statement always jumps away */
};

struct gen {
    struct arena *arena;
    struct source *source;
    const struct gen_options *options;
    uint32_t features;      /* of this kernel */
    struct ast_var *beacon; /* a scalar of each block that its first thread writes, or NULL */
    uint16_t weights[W_COUNT];
    uint32_t *hits; /* W_COUNT counters, or NULL */

    struct ast_kernel *kernel;
    struct ast_var **vars_end;
    struct ast_function **functions_end;
    uint32_t total_threads;
    uint32_t communication; /* W_COMMUNICATION_* */
    uint32_t max_depth;
    uint32_t names; /* given out */

    struct gen_slot shared[GEN_SLOTS], global[GEN_SLOTS];
    uint32_t shared_count, global_count;
    struct ast_var *inputs[GEN_ARRAYS]; /* nobody writes them */
    uint32_t input_count;
    struct ast_var *racy[GEN_ARRAYS]; /* scalars and arrays, shared or global */
    uint32_t racy_count;
    struct ast_var *arrays[GEN_ARRAYS]; /* private, at file level */
    uint32_t array_count;
    struct ast_var *privates[GEN_ARRAYS]; /* scalars, private, at file level */
    uint32_t private_count;
    struct ast_var *flags[GEN_ARRAYS]; /* what spin loops wait on, made when needed */
    uint32_t flag_count;

    struct gen_callee callees[GEN_FUNCTIONS];
    uint32_t callee_count, calls_open; /* finished; being made */
    struct gen_scope *scope;
    bool relays;                  /* one recursion goes through a second function */
    int32_t left;                 /* statements that this function may still get */
    uint32_t cost, budget;        /* thread steps, of the function being made */
    uint32_t reads_open;          /* nesting of the expression's reads */
    bool in_condition;            /* that is any expression */
    bool own_only;                /* the expression reads nothing that others may write */
    uint32_t ends;                /* returns and exits of the function being made */
    uint32_t exits;               /* exits of all of them, and calls that may come to one */
    uint32_t calm_calls;          /* functions being made in which no thread ends: all wait again */
    uint32_t barriers;            /* how many more may be made */
    enum ast_atomic quiet_atomic; /* the only one, without a target; ATOMIC_COUNT: any */
    bool private_atomics;         /* some are of variables that are private */
    uint32_t rare;                /* W_RARE_*; of structured kernels */
    uint32_t position;            /* W_POSITION_*: where they stand */
    bool wants_loop;              /* the next one stands in a loop */
    bool
        apart; /* a single one, which threads reach on ways that are told apart by calls or loops only */
    bool alone;              /* and that has little beside it: no calls */
    struct gen_graph *graph; /* of the function being made, in block form; or NULL */
    uint32_t block_names;    /* given out */
};

/* ---- gen.c ---- */

/* One of the group's items, as W_*; `banned` has bits 1 << (item - first) for those impossible here.
 * At least one item must remain. */
uint32_t gen_pick(struct gen *g, enum gen_group group, uint32_t banned);
#define GEN_BAN(group, item) (1u << (W_##group##_##item - W_##group##_FIRST))

static inline bool gen_has(const struct gen *g, enum gen_feature feature)
{
    return g->features >> feature & 1;
}

static inline uint32_t gen_below(struct gen *g, uint32_t bound)
{
    return source_below(g->source, bound);
}

static inline bool gen_chance(struct gen *g, uint32_t percent)
{
    return source_chance(g->source, percent);
}

/* A variable with a new name, prefix and number, at the end of the file's or the scope's list. */
struct ast_var *gen_file_var(struct gen *g, char prefix, enum ast_space space, uint32_t length,
                             bool is_array);
struct ast_var *gen_local(struct gen *g, char prefix);
/* A number of the function's own, three in ten with a first value. */
struct ast_var *gen_scalar(struct gen *g);

const char *gen_function_name(struct gen *g);

/* Sometimes gives the scope an array. */
void gen_local_array(struct gen *g);
void gen_initialise(struct gen *g, struct ast_var *var, uint32_t bound);
struct ast_stm *gen_store_result(struct gen *g);
/* The values of a body: some variables and perhaps an array. */
void gen_declare_values(struct gen *g);

/* What every kind of kernel draws first: which features and weights; then size, launch, barriers, variables. */
void gen_draw_weights(struct gen *g);
void gen_prepare(struct gen *g);
/* The body of a structured kernel. */
struct ast_stm *gen_structured_body(struct gen *g);
/* `--features none,crs`, `none,known` ask for PTX, and for nothing else. */
bool gen_ptx_only(const struct gen_options *options);

/* ---- gen_expr.c ---- */

struct ast_expr *gen_binary(struct gen *g, enum ast_binary op, struct ast_expr *a,
                            struct ast_expr *b);
struct ast_expr *gen_binary_int(struct gen *g, enum ast_binary op, struct ast_expr *a, int32_t b);
struct ast_expr *gen_builtin(struct gen *g, enum ast_builtin builtin);
struct ast_expr *gen_thread(struct gen *g, bool of_grid); /* tid; bid * threads + tid */

struct ast_expr *gen_value(struct gen *g);
struct ast_expr *gen_leaf(struct gen *g);
struct ast_expr *gen_read(struct gen *g);         /* something in memory */
struct ast_expr *gen_read_input(struct gen *g);   /* there is one */
struct ast_expr *gen_read_racy(struct gen *g);    /* there is one */
struct ast_expr *gen_read_counter(struct gen *g); /* there is one */
uint32_t gen_counter_count(const struct gen *g);
int32_t gen_small_int(struct gen *g, uint32_t bound); /* below the bound; 0 or 1 in small mode */
const struct gen_slot *gen_draw_slot(struct gen *g);
struct ast_var *gen_draw_private(struct gen *g); /* a scalar that may be assigned */
struct ast_expr *gen_slot_index(struct gen *g, const struct gen_slot *slot);
struct ast_expr *gen_masked(struct gen *g, const struct ast_var *var, struct ast_expr *value);
struct ast_expr *gen_index_value(struct gen *g); /* a leaf as a rule; to be masked */

/* ---- gen_cond.c ---- */

struct ast_expr *gen_condition(struct gen *g);
struct ast_expr *gen_split(struct gen *g); /* a condition that is seldom the same for all threads */
struct ast_expr *gen_own_condition(struct gen *g); /* of what is the thread's own */
struct ast_expr *
gen_memory_condition(struct gen *g); /* of what others may write, where there is such */
/* A value in [0, count), count a power of two. */
struct ast_expr *gen_select(struct gen *g, uint32_t count);
/* A value that never exceeds *trips (a reasonable maximum on entry, the exact one on return). */
struct ast_expr *gen_trips(struct gen *g, uint32_t *trips);

/* ---- gen_stm.c ---- */

/* Statements at the end of a list; gen_emit also counts the one that it adds. */
void gen_append(struct gen_list *list, struct ast_stm *stms);
void gen_emit(struct gen *g, const struct gen_place *place, struct gen_list *list,
              struct ast_stm *stm);
struct ast_stm *gen_stm(struct gen *g, enum ast_stm_kind kind);
struct ast_stm *gen_set(struct gen *g, struct ast_var *var, struct ast_expr *value);
struct ast_stm *gen_block(struct gen *g, struct ast_stm *list);
/* if (condition) body else other; lists, other NULL = no else */
struct ast_stm *gen_if(struct gen *g, struct ast_expr *condition, struct ast_stm *body,
                       struct ast_stm *other);
struct ast_stm *gen_copy(struct gen *g, const struct ast_stm *from, uint32_t cost, int32_t left);
struct ast_lvalue gen_target(struct gen *g);
/* A private variable: a scalar, or now and then an element. */
struct ast_lvalue gen_own_target(struct gen *g);

void gen_assign(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_assertion(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_assumption(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_statement(struct gen *g, const struct gen_place *place, struct gen_list *list);
/* Calls down to the limit of frames, and what they leave in a slot (gen_edges.c). */
struct ast_stm *gen_deep(struct gen *g);
/* One index of the kernel, wherever it stands, is out of bounds for some threads or for all. */
void gen_leave_array(struct gen *g);
/* Accesses behind the two that race. */
void gen_race_behind_arrival(struct gen *g, struct ast_stm *arrive, struct ast_stm *sync);
/* A plain access of what the atomic statement is about. */
void gen_plain_access(struct gen *g, const struct gen_place *place, struct gen_list *list,
                      const struct ast_stm *atomic);
/* A few statements. */
void gen_statements(struct gen *g, const struct gen_place *place, struct gen_list *list);
/* Statements until the function has got as many as `left` said. */
void gen_body(struct gen *g, struct gen_list *list, bool uniform);

static inline struct gen_place gen_inside(const struct gen_place *place)
{
    struct gen_place inside = *place;
    inside.depth++;
    return inside;
}

static inline void gen_list_init(struct gen_list *list)
{
    *list = (struct gen_list){.end = &list->head};
}

/* Whether something that takes `cost` thread steps fits here. */
static inline bool gen_affords(const struct gen *g, uint32_t times, uint32_t cost)
{
    uint64_t steps = (uint64_t)times * cost;
    return steps <= g->budget / 2 && g->cost + steps <= g->budget;
}

/* ---- gen_flow.c ---- */

/* gen_loop needs room for one trip at least: GEN_TRIP_COST. */
void gen_loop(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_switch(struct gen *g, const struct gen_place *place, struct gen_list *list);
/* kind: STM_BREAK, _CONTINUE, _RETURN or _EXIT, legal here */
void gen_jump(struct gen *g, const struct gen_place *place, struct gen_list *list,
              enum ast_stm_kind kind);
struct ast_var *gen_open_counter(struct gen *g);

/* ---- gen_call.c ---- */

bool gen_may_call(const struct gen *g, const struct gen_place *place);
void gen_call(struct gen *g, const struct gen_place *place, struct gen_list *list);
/* A call without arguments and result, if there is such a function here, other than `but`, or room for one. */
bool gen_call_alone(struct gen *g, const struct gen_place *place, struct gen_list *list,
                    const struct ast_function *but);
/* How many of the statements left a new function gets. */
int32_t gen_draw_share(struct gen *g);
/* The thread steps that a new function may take here; 0 = no new function. */
uint32_t gen_room_to_make(const struct gen *g, const struct gen_place *place);
/* The finished functions that a call from here may reach. */
uint32_t gen_callees(const struct gen *g, const struct gen_place *place,
                     const struct gen_callee **callees);
/* How deep a call from outside goes: the same for all threads, or not. */
struct ast_expr *gen_start_depth(struct gen *g, const struct gen_callee *callee);

/* ---- gen_sync.c ---- */

void gen_spin(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_barrier(struct gen *g, const struct gen_place *place, struct gen_list *list);
/* Whether one may be made here. */
bool gen_may_wait(const struct gen *g, const struct gen_place *place);
/* A condition that holds for some threads of the block, by the position drawn. */
struct ast_expr *gen_some_threads(struct gen *g);
/* Whether a loop here should be one of equal trips for all, to hold barriers. */
bool gen_calm_loop(struct gen *g, const struct gen_place *place);
void gen_atomic(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_vote(struct gen *g, const struct gen_place *place, struct gen_list *list);
void gen_choice(struct gen *g, const struct gen_place *place, struct gen_list *list);

#endif
