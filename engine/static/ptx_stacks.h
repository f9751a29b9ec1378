/*
 * ptx_stacks.h - all token stacks that a warp may have at each address, as a graph: pushdown reachability.
 *
 * A node is a token, by its type, its address, and the address at which the warp goes on when it is pushed;
 * below it may lie every stack on which it is pushed there. What happens above a token does not depend on
 * what lies below until it is popped, so this is exact for shapes (types and addresses), and finite
 * however high the stacks grow. Popping resumes at a token's address, with each stack below.
 */
#ifndef ENGINE_PTX_STACKS_H
#define ENGINE_PTX_STACKS_H

#include "engine/input/crs_tokens.h"
#include "engine/ptx/ptx_reach.h"

/* Types beside enum crs_token_type: the empty stack, and the call token of an unknown caller. */
enum { PTX_STACK_BOTTOM = 200, PTX_STACK_CALLER };

/* Why a token is popped: sync; or the last active lanes have left by .. */
enum ptx_pop { PTX_POP_SYNC, PTX_POP_BREAK, PTX_POP_RET, PTX_POP_EXIT, PTX_POP_COUNT };

struct ptx_token_edge {
    struct ptx_token_node *below;
    struct ptx_token_edge *next;
};

struct ptx_token_node {
    uint32_t type, pc;
    uint32_t number;
    struct ptx_token_edge *edges;
    bool popped[PTX_POP_COUNT];
    bool waits;  /* of a sync token: some lanes may wait for it, having reached their sync */
    bool marked; /* of a diverge token: those below it may, too */
    bool given;  /* there at the start: of any lanes, also active ones that leave, or of none */
};

struct ptx_stack_state {
    uint32_t pc;
    struct ptx_token_node *top;
    struct ptx_stack_state *next;
};

struct ptx_stacks {
    struct arena *arena;
    uint32_t count; /* instructions */
    uint32_t most;  /* states */
    bool too_many, out_of_code;
    struct ptx_map nodes, links, states;
    struct ptx_token_node **items; /* by number */
    uint32_t room;
    struct ptx_stack_state *first, **last; /* all states, as they were found */
    struct ptx_stack_state *done;          /* the last one that was given out */
    struct ptx_pop_task *tasks;
    /* Of the finished graph; by number: the last walk that came there. */
    uint32_t *stamp, walk;
    const struct ptx_token_node **queue;
};

void ptx_stacks_init(struct ptx_stacks *stacks, struct arena *arena, uint32_t count, uint32_t most);
struct ptx_token_node *ptx_stacks_bottom(struct ptx_stacks *stacks, uint32_t type);

/* The stack with one token more, pushed before going on at `landing`. */
struct ptx_token_node *ptx_stacks_push(struct ptx_stacks *stacks, struct ptx_token_node *below,
                                       uint32_t type, uint32_t pc, uint32_t landing);

/* The warp is at pc with this stack. */
void ptx_stacks_go(struct ptx_stacks *stacks, uint32_t pc, struct ptx_token_node *top);

/* sync with this token on top; or unwinding from it on. */
void ptx_stacks_pop(struct ptx_stacks *stacks, struct ptx_token_node *top, enum ptx_pop why);

/* A state that is new; NULL: there is none. */
const struct ptx_stack_state *ptx_stacks_next(struct ptx_stacks *stacks);

/* ---- of the finished graph ---- */

/* In all stacks the first token below diverge tokens is a sync token with this address; *strict: directly
 * below. */
bool ptx_stacks_sync_below(struct ptx_stacks *stacks, const struct ptx_token_node *top, uint32_t pc,
                           bool *strict);
/* Some stack has no token of the type above its end of type `bottom`. */
bool ptx_stacks_lacks(struct ptx_stacks *stacks, const struct ptx_token_node *top, uint32_t type,
                      uint32_t bottom);
/* Some stack has a sync or break token with the address above its topmost call token. */
bool ptx_stacks_holds(struct ptx_stacks *stacks, const struct ptx_token_node *top, uint32_t pc);

#endif
