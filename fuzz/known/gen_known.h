/*
 * gen_known.h - programs in PTX whose result is known before anything runs: `expect final` says it.
 *
 * gen_known.c draws a tree of statements, gen_known_run.c executes it for all threads of the grid at once, a
 * statement at a time, with a mask for those that take part, and gen_known_text.c writes it as PTX. The three
 * share the tree and nothing with engine/: what an instruction computes, how narrow loads extend, who votes with
 * whom, what a barrier's reduction is of, is written down here a second time.
 *
 * Threads write what is their own, and exchange values behind barriers, so that every schedule ends alike.
 */
#ifndef FUZZ_GEN_KNOWN_H
#define FUZZ_GEN_KNOWN_H

#include "fuzz/gen/generator.h"

typedef uint64_t known_mask; /* a bit for each thread of the grid */

enum {
    KNOWN_THREADS = 64, /* of the grid */
    KNOWN_REGISTERS = 6,
    KNOWN_AREA =
        16, /* bytes of each thread in global, in shared memory; of a frame in local memory */
    KNOWN_ACCUMULATORS = 8,
    KNOWN_LOOPS = 3, /* nested */
    KNOWN_FUNCTIONS = 3,
    KNOWN_CASES = 4,
    KNOWN_VECTOR = 4,
    KNOWN_RECURSION = 3,
};

/* Registers that statements use: h of 16, r of 32, w of 64 bits, predicates p. */
enum known_class { KNOWN_H, KNOWN_R, KNOWN_W, KNOWN_P, KNOWN_CLASSES };
extern const uint32_t known_counts[KNOWN_CLASSES];
extern const char known_letters[KNOWN_CLASSES];

enum known_op {
#define KNOWN_OP(id, result, operands, text, value) KNOWN_OP_##id,
#include "fuzz/known/gen_known_ops.def"
    KNOWN_OP_COUNT
};

struct known_op_info {
    char result;
    const char *operands, *text;
};

extern const struct known_op_info known_ops[KNOWN_OP_COUNT];

struct known_operand {
    enum known_class class;
    bool is_constant;
    uint32_t number; /* of the register */
    uint64_t value;  /* of the constant */
};

enum known_kind {
    KNOWN_COMPUTE,   /* op, d, s */
    KNOWN_SPECIAL,   /* which: d = special register */
    KNOWN_GIVEN,     /* which, s[0]: what is there from the start, d */
    KNOWN_LOAD,      /* space, bytes, vector, at, is_signed, d */
    KNOWN_STORE,     /* the same, s[0] */
    KNOWN_IF,        /* s[0], body, other */
    KNOWN_LOOP,      /* which: its number by nesting, s[0]: trips, tests_last, body */
    KNOWN_SWITCH,    /* s[0], count, cases, falls */
    KNOWN_BREAK,     /* guard */
    KNOWN_CONTINUE,  /* guard */
    KNOWN_RETURN,    /* guard */
    KNOWN_EXIT,      /* guard */
    KNOWN_CALL,      /* function, other_function where s[2] holds or NULL, s[0]: depth, s[1], d */
    KNOWN_EXCHANGE,  /* s[0], d, at: of the thread so many further on */
    KNOWN_NEIGHBOUR, /* the same in the block of its cluster that is `which` ranks further on */
    KNOWN_PAIR,      /* the same, from the first `at` warps to the others by barrier `which` */
    KNOWN_SUBSET,    /* the first `at` warps wait for each other, by barrier `which` */
    KNOWN_TWICE, /* all threads register with barrier `which` twice; at: the second time they wait */
    KNOWN_BARRIER,
    KNOWN_REDUCE, /* which: popc, and, or; at: of the negation; s[0], d */
    KNOWN_ATOMIC, /* which, s[0]: of an accumulator */
    KNOWN_OWN,    /* which, at, s[0], s[1], d: atomic of one's own area */
    KNOWN_COPY, /* bytes, which, at: from one's own global area to the shared one, and waited for by way `count`
                   (enum known_copy); s[0]: so many, the others become 0 */
    KNOWN_FENCE, /* which: nothing changes */
    KNOWN_WARP,  /* which, s[0], at, d */
    KNOWN_FLAW, /* which: the execution ends here, and not well, or has a race; one in a program at most */
};

/* Ways to copy: by groups, the first three; heard of by an mbarrier; all of the area at once, in and out. */
enum known_copy { KNOWN_COPY_HEARD = 3, KNOWN_COPY_BULK, KNOWN_COPY_OUT, KNOWN_COPIES };

enum known_flaw {
    KNOWN_TRAP,
    KNOWN_BOUNDS, /* behind the variable */
    KNOWN_ALIGN,
    KNOWN_RACE,   /* an exchange without its first barrier */
    KNOWN_STARVE, /* a barrier of more threads than there are */
    KNOWN_COUNTS, /* two counts at one barrier */
    KNOWN_MIXED,  /* a reduction and a bar.sync at one barrier */
    KNOWN_ABSENT, /* bar.warp.sync that names lanes which do not come */
    KNOWN_SEVERAL, /* lanes of the first warp wait at two barriers, of which the second warp knows: no flaw of warps */
    KNOWN_LEAVE,     /* the last warp has exited where the others meet: no flaw of warps */
    KNOWN_SIGNATURE, /* a function with other parameters is called through a register */
    KNOWN_UNDERWAY,  /* a barrier stands where a copy should have been waited for: a race */
    KNOWN_APART,     /* a block's barrier stands where the cluster's should: a race of two blocks */
    KNOWN_FLAWS
};

enum known_special {
    KNOWN_TID,
    KNOWN_LANE,
    KNOWN_BLOCK,
    KNOWN_BLOCK_SIZE,
    KNOWN_WARP_NUMBER,
    KNOWN_BLOCKS,
    KNOWN_TID_Y,
    KNOWN_BLOCK_Y,
    KNOWN_BLOCK_SIZE_Y,
    KNOWN_BLOCKS_Y,
    KNOWN_NONE, /* %tid.z: 0 */
    KNOWN_WARPS,
    KNOWN_LANES_LESS, /* from here on: warps of at most 32 lanes */
    KNOWN_LANES_LEAST,
    KNOWN_LANES_EQUAL,
    KNOWN_LANES_MOST,
    KNOWN_LANES_MORE,
    KNOWN_SPECIALS
};

enum known_reduction { KNOWN_POPC, KNOWN_AND, KNOWN_OR, KNOWN_REDUCTIONS };

enum known_warp_op {
    KNOWN_ACTIVE,
    KNOWN_VOTE_ALL,
    KNOWN_VOTE_ANY,
    KNOWN_VOTE_UNI,
    KNOWN_VOTE_NOT,
    KNOWN_BALLOT,
    KNOWN_BALLOT_NOT,
    KNOWN_SHFL_UP,
    KNOWN_SHFL_DOWN,
    KNOWN_SHFL_BFLY,
    KNOWN_SHFL_UP_8, /* among eight lanes */
    KNOWN_SHFL_DOWN_8,
    KNOWN_SHFL_BFLY_8,
    KNOWN_SHFL_IDX, /* from here on: with a mask */
    KNOWN_SHFL_IDX_8,
    KNOWN_MATCH_ANY,
    KNOWN_MATCH_ALL,
    KNOWN_REDUX_ADD,
    KNOWN_REDUX_MAX,
    KNOWN_REDUX_XOR,
    KNOWN_REDUX_AND,
    KNOWN_REDUX_OR,
    KNOWN_REDUX_MIN,
    KNOWN_REDUX_MIN_U,
    KNOWN_REDUX_MAX_U,
    KNOWN_BAR_WARP,
    KNOWN_WARP_OPS
};

/* Which caches an access goes through: 0, the usual ones; .ca .cg .cs .cv, .wb .cg .cs .wt; volatile. */
enum known_through { KNOWN_STREAMING = 3, KNOWN_VOLATILE = 5, KNOWN_THROUGHS };

enum known_space { KNOWN_GLOBAL, KNOWN_SHARED, KNOWN_LOCAL, KNOWN_LOCAL_TOO, KNOWN_SPACES };

struct known_function;

struct known_node {
    enum known_kind kind;
    uint32_t guard; /* 0, or 1 + 2 * predicate + negated */
    bool noted;     /* d becomes part of the frame's trail, of all threads that come here */
    enum known_op op;
    uint32_t which, at, count;
    enum known_space space;
    uint32_t bytes, vector;
    bool is_signed, tests_last;
    bool says_uniform;  /* .uni, which changes nothing */
    bool generic, back; /* the address; of a call: the function comes from a table */
    uint32_t through;   /* of a load or store: enum known_through */
    struct known_operand d, s[3];
    struct known_node *body, *other, *cases[KNOWN_CASES], *next;
    bool falls[KNOWN_CASES];
    const struct known_function *function, *other_function;
};

struct known_function {
    uint32_t number;
    bool recursive, accumulates, warp_barriers;
    struct known_node *body;
    uint32_t cost; /* thread steps of a call, at most */
};

struct known_program {
    struct gen *g;
    uint32_t threads, warp, blocks; /* threads of a block */
    uint32_t warps;                 /* of a block */
    uint32_t width, grid_width;     /* of a block and the grid, in the first of two dimensions */
    uint32_t cluster[2];   /* blocks of a cluster, in these dimensions; 0: nothing is of clusters */
    bool meets_neighbours; /* a node is of clusters */
    bool by_memory;        /* functions take and give their values in .param memory */
    bool has_arguments;    /* the entry has parameters */
    uint64_t givens;       /* bits 1 << known_given_id: that are read */
    bool full;             /* no warp has lanes missing: counts can be exact */
    bool warp_ops, own_atomics, copies;
    bool
        warp_barriers; /* that can be reached: lanes of a warp are not ordered by lock-step alone (docs/races.md) */
    bool
        keeps_trail; /* frames have a hash of what nodes computed, whether that is overwritten or not */
    bool flawed;     /* may have a flaw; it has one, `flaw`, if one was reached */
    bool eager;      /* block:eager is to run it, too */
    bool odd;        /* there is a function for KNOWN_SIGNATURE */
    bool accumulates; /* the entry, or a function that it calls */
    uint32_t function_count;
    struct known_function *functions[KNOWN_FUNCTIONS];
    struct known_node *main;
    uint32_t shown; /* bits: which registers, and words of one's area, the result is made of */

    /* What every execution ends with. */
    uint8_t global[KNOWN_THREADS][KNOWN_AREA], initial[KNOWN_THREADS][KNOWN_AREA];
    uint32_t results[KNOWN_THREADS];
    uint32_t accumulators[KNOWN_ACCUMULATORS];
    enum known_flaw flaw; /* KNOWN_FLAWS: none */
    bool one_word;        /* a race: all threads write one word in one instruction */
};

/* What is there from the start (gen_known_given.def): `count` values, by an index in `u`. */
struct known_given {
    bool of_entry; /* its parameters */
    uint32_t count;
    const char *text;
    int64_t values[4];
};

enum known_given_id {
#define KNOWN_GIVEN_ROW(id, ...) KNOWN_GIVEN_##id,
#include "fuzz/known/gen_known_given.def"
    KNOWN_GIVEN_COUNT
};
_Static_assert(KNOWN_GIVEN_COUNT <= 64, "givens has a bit for each");

extern const struct known_given known_givens[KNOWN_GIVEN_COUNT];

struct known_atomic {
    const char *text;
    uint32_t start;
};
/* Operations of the accumulators, one each; the order of threads cannot be seen. */
extern const struct known_atomic known_atomics[KNOWN_ACCUMULATORS];

/* Bits of `shown`; of local memory all words, or none. */
enum {
    KNOWN_SHOWN_R = 0,
    KNOWN_SHOWN_W = KNOWN_SHOWN_R + KNOWN_REGISTERS,
    KNOWN_SHOWN_H = KNOWN_SHOWN_W + KNOWN_REGISTERS,
    KNOWN_SHOWN_P = KNOWN_SHOWN_H + KNOWN_REGISTERS,
    KNOWN_SHOWN_SHARED = KNOWN_SHOWN_P + KNOWN_REGISTERS,
    KNOWN_SHOWN_LOCAL = KNOWN_SHOWN_SHARED + KNOWN_AREA / 4,
    KNOWN_SHOWN_LOCAL_TOO = KNOWN_SHOWN_LOCAL + 1,
    KNOWN_SHOWN_COUNT = KNOWN_SHOWN_LOCAL_TOO + 1
};
enum { KNOWN_FACTOR = 31 };

void gen_known_main(struct gen *g);

/* Executes the program: global, results, accumulators. */
void known_run(struct known_program *program);

/* The kernel with its expectations. */
struct ast_kernel *known_kernel(struct known_program *program);

#endif
