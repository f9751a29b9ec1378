/*
 * duo.h - the symbolic state of two threads, run through P: of it a solver is asked (engine/prove/), and it is followed
 * with an execution's values (oracle/prove/retrace.h).
 *
 * Thread number k of the pair is 0 or 1: the tutorial's $1 and $2. The state is a row of terms ("slots"):
 * where each thread is, one Boolean a block; its private variables; its view of shared memory; what
 * thread 1 has logged; and under which condition all of that is so (the path).
 *
 * A thread's view of memory holds its own writes of the interval on top of what memory held when it began.
 * What the other thread, or any third one, writes in the interval it sees only if there is a race, and
 * somebody's first race is found before anybody sees anything of it.
 *
 * A thread that an assume, an assertion or an index ends dies: it is nowhere, and says nothing about
 * barriers any more. So does one that is still in a loop when the loop is left: that is how an execution
 * in which this thread never leaves the loop goes on for the other one.
 */
#ifndef ENGINE_DUO_H
#define ENGINE_DUO_H

#include "engine/duo/goals.h"
#include "engine/forms/cfg.h"
#include "engine/smt/term.h"

/* A strong write of PTX is as an atomic; a strong read does not race with these, nor with other reads. */
enum { LOG_READ, LOG_WRITE, LOG_ATOMIC, LOG_STRONG_READ, LOG_KINDS };

/* Something that must not be: `wrong` can be true = it goes wrong. */
struct obligation {
    enum proof_goal goal;
    term wrong;
    struct location at;
    struct ast_var *var;
    uint8_t kind; /* of thread 2's access */
};

/* An access of thread 1, or of both: where candidates come from. */
struct access_seen {
    struct ast_var *var;
    term index, enabled;
    uint32_t count; /* locations from the index on */
    uint8_t kind;
};

struct candidate {
    term holds;    /* over the symbols of the head */
    term violated; /* before the loop or after a trip */
    bool kept;
    const char *text;
};

/* A loop that was cut at its head. */
struct loop_cut {
    uint32_t loop; /* of the cfg */
    uint32_t nest; /* the outermost loop around it, in program order */
    term begin;    /* the terms of its head and body are not below */
    uint32_t deed_first, deed_end;
    term *entry;           /* the state before it */
    term *head;            /* at the head, any trip */
    term *latch;           /* after a trip from there */
    term invariant;        /* a symbol; what it stands for is what Houdini keeps */
    term in[2];            /* thread k is in the loop */
    uint32_t symbol_count; /* of the head's state */
    term *symbols;
    uint32_t *symbol_slots;
    term end;                          /* the terms of its body are below */
    uint32_t access_first, access_end; /* of the accesses in its body */
    uint32_t test_first, test_end;     /* of the comparisons in its body */
    uint32_t claim_first, claim_end;   /* of the kernel's own invariants in its body */
    struct location at;
    uint32_t candidate_count;
    struct candidate *candidates;
};

/* A place that a proof is about: if no pair of threads reaches it, nothing is proved there. */
struct point {
    uint32_t key; /* the same in every run of the same P */
    term reached;
    struct location at;
    const char *what; /* "the barrier", "the end" */
};

struct grown {
    void *items;
    uint32_t count, capacity;
};

/* What a thread reads of memory that somebody writes: told where a model rests on it. */
struct read_seen {
    struct ast_var *var;
    term index, value;
    struct location at;
};

/* A value that some thread computes, where `evaluated` holds: integers must not exceed words there. */
struct overflow {
    term evaluated, value;
};

/* A barrier that both threads pass where `reached` holds, thread 2 where `other` does, and what memory holds there: a
 * variable that somebody writes; behind all variables, the same of thread 2 in another block. */
struct passed {
    term reached, other;
    const term *memory;
    const term *held; /* before, as thread 1 sees it; behind all variables, thread 2 */
};

/* What a thread does, in the order of the walk through P: the terms that it mentions are built, but what it makes
 * up. */
enum deed_kind {
    DEED_ACCESS,
    DEED_HAVOC,
    DEED_ATOMIC, /* behind its access */
    DEED_CHOICE, /* of one of the targets of a goto */
    DEED_MADE, /* of PTX: made[0] is made up, by the instruction `count`, as enum lift_made says */
    DEED_DONE, /* of PTX: the instruction `count`, and what its results hold now */
    DEED_BARRIER, /* of both threads */
    DEED_WRONG    /* an obligation */
};

struct deed {
    enum deed_kind kind;
    uint8_t k;
    term built;              /* terms below it come first */
    term when;               /* thread k does it */
    struct access_seen seen; /* an access */
    uint32_t count;     /* a choice: targets; an obligation, a barrier: its number in the list */
    term made[2];       /* a havoc; what an atomic leaves, and its result or TERM_NONE */
    uint8_t as;         /* DEED_MADE: enum lift_made */
    const term *may;    /* a choice: whether thread k may go there; DEED_DONE: results */
    const term *chosen; /* that it goes there and to none before; TERM_NONE: not made up */
};

/* A comparison that decides where a thread goes, seen in a loop. */
struct test_seen {
    uint32_t k; /* the thread */
    term a, b;
    bool is_unsigned;
};

/* `invariant e` of the kernel, where thread k is at it. */
struct claim_seen {
    const struct ast_stm *stm;
    uint32_t k;
    term there, holds;
};

/* What is taken as given (`requires e`): that thread 1 gets there, and past it. */
struct required {
    const struct ast_stm *stm;
    term there, met;
};

struct duo {
    struct arena *arena;
    struct terms terms;
    const struct proof_options *options;
    const struct ast_kernel *given;
    const struct ast_kernel *kernel; /* P, a copy of our own: marks number variables and blocks */
    struct cfg *cfg;
    uint32_t *loop_at;   /* a block: the loop that it is the head of, CFG_NO_LOOP */
    uint32_t *loop_size; /* a loop: its blocks */
    bool *loop_open;     /* a loop: constants do not say when it ends */
    uint32_t counting;   /* loops around whose trips are counted at the moment */
    bool uncounted;      /* in one of these a loop has to be cut: they have to be, too */
    uint32_t block_count, var_count, slot_count;
    struct ast_var **vars;
    uint8_t *written;  /* a variable: someone writes it: bit 0; atomically: bit 1 */
    uint8_t *wide;     /* a variable: a word of 64 bits */
    uint32_t units;    /* locations in an element of memory: more than one in PTX only */
    struct lift *lift; /* of a kernel given as PTX: what its blocks are made of; NULL: statements */
    uint32_t threads, blocks; /* of threads: at most */
    term thread_count;        /* a constant, or a symbol (proof_options.threads_from) */
    term same, tid[2], bid[2];
    term *watched;            /* a variable: the location that thread 1's log is about */
    struct grown assumptions; /* term: of the launch, of watched locations */
    struct grown obligations; /* struct obligation */
    struct grown accesses;    /* struct access_seen */
    struct grown reads;       /* struct read_seen */
    struct grown passed;      /* struct passed */
    struct grown overflows;   /* struct overflow; where loops are cut */
    struct grown tests;       /* struct test_seen */
    struct grown claims;      /* struct claim_seen */
    struct grown required;    /* struct required */
    struct grown cuts;        /* struct loop_cut * */
    struct grown points;      /* struct point */
    struct grown left;        /* term: somebody goes on after the last trip that was unrolled */
    struct grown fresh;       /* term: values that were made up */
    struct grown deeds;       /* struct deed */
    term *end;                /* the state at the end */
    term run_end;             /* the terms that the walk built are below */
    uint32_t unroll;          /* trips; 0: loops are cut */
    uint32_t nest;            /* of the loop at hand */
    bool plain;         /* guesses about remainders by other than powers of two are left out */
    bool left_out;      /* some were */
    const char *reason; /* not NULL: given up */
    bool assumes;       /* P has an assume that is no guard */
    bool possible[GOAL_COUNT]; /* whether P has anything that could go wrong in this way */
};

void grown_add(struct arena *arena, struct grown *list, const void *item, size_t size);
#define GROWN(list, type) ((type *)(list).items)

/* ---- slots ---- */

/* Locations: block numbers, and block_count = the thread has ended. */
static inline uint32_t slot_at(const struct duo *duo, uint32_t block, uint32_t k)
{
    (void)duo;
    return block * 2 + k;
}
static inline uint32_t slot_dead(const struct duo *duo, uint32_t k)
{
    return (duo->block_count + 1) * 2 + k;
}
static inline uint32_t slot_path(const struct duo *duo)
{
    return (duo->block_count + 2) * 2;
}
static inline uint32_t slot_var(const struct duo *duo, const struct ast_var *var, uint32_t k)
{
    return (duo->block_count + 2) * 2 + 1 + var->mark * 2 + k;
}
static inline uint32_t slot_log(const struct duo *duo, const struct ast_var *var, uint32_t kind)
{
    return (duo->block_count + 2) * 2 + 1 + duo->var_count * 2 + var->mark * LOG_KINDS + kind;
}

static inline bool is_memory(const struct ast_var *var)
{
    return var->space == SPACE_GLOBAL || var->space == SPACE_SHARED;
}

static inline enum term_sort var_sort(const struct duo *duo, const struct ast_var *var)
{
    return var->is_array ? SORT_ARRAY : duo->wide[var->mark] ? SORT_LONG : SORT_WORD;
}

/* ---- duo_new.c ---- */

/* NULL with *reason: outside of what is done. */
struct duo *duo_new(struct arena *arena, struct forms *forms, const struct proof_options *options,
                    uint32_t unroll, const char **reason);

void duo_assume(struct duo *duo, term fact);

/* A number below `count`. */
term duo_below(struct duo *duo, const char *name, uint32_t count);

/* The state in which both threads are about to enter Start. */
term *duo_start(struct duo *duo);

/* A value that is made up; `what` says it for people. */
term duo_fresh(struct duo *duo, enum term_sort sort, const char *what);

/* It is done now. */
void duo_note(struct duo *duo, struct deed deed);

/* ---- duo_eval.c ---- */

/* An expression of thread k, where *enabled holds; an index outside takes the thread out of *enabled. */
term duo_eval(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e, term *enabled);

/* Whether it reads global or shared memory. */
bool duo_reads_memory(const struct ast_expr *e);

/* An access of thread k is logged or checked. */
void duo_access(struct duo *duo, term *state, uint32_t k, const struct access_seen *access,
                struct location at);

/* It is asked whether this can be. */
void duo_obligation(struct duo *duo, const struct obligation *o);

/* That thread k may go wrong so is an obligation, of thread 1: the threads are alike. */
void duo_oblige(struct duo *duo, const term *state, uint32_t k, const struct obligation *of);

/* The index of a place (0 of a scalar), within its bounds. */
term duo_index(struct duo *duo, term *state, uint32_t k, const struct ast_lvalue *place,
               term *enabled);

/* ---- duo_step.c ---- */

void duo_block(struct duo *duo, term *state, uint32_t block);

/* The threads for which meets[k] holds come to a barrier. */
void duo_meet(struct duo *duo, term *state, uint32_t key, const term *meets, struct location at);

/* ---- duo_run.c ---- */

/* Runs P from its start to its end: fills in obligations, cuts, points, left. */
void duo_run(struct duo *duo);

/* A place that is reached, if it can be. */
void duo_point(struct duo *duo, const struct point *point);

/* The key of a statement of a block, of the end. */
static inline uint32_t point_key(uint32_t block, uint32_t ordinal)
{
    return block << 12 | (ordinal & 0xFFF);
}

#endif
