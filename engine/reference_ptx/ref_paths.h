/*
 * ref_paths.h - the token stacks of all paths of a program by their definition (cuda-crs 6.2; catalogue 11.2:
 * CHK.stack, CHK.addr, CHK.static): the least relations that a few rules give, found by asking each rule of everything
 * until nothing is new.
 *
 * Nothing of PTX's text takes part: a program is a list of what its instructions do with the stack. So it is for
 * programs that are drawn, of which their maker knows that.
 */
#ifndef ENGINE_REF_PATHS_H
#define ENGINE_REF_PATHS_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_PATH_OPS = 24, REF_PATH_TARGETS = 3, REF_PATH_REGISTERS = 3, REF_PATH_TOKENS = 192 };

enum ref_path_kind {
    REF_PATH_OTHER, /* control goes on */
    REF_PATH_SSY,
    REF_PATH_PRE_BRK,
    REF_PATH_PRE_RET,
    REF_PATH_SYNC,
    REF_PATH_BREAK,
    REF_PATH_RET,
    REF_PATH_EXIT,
    REF_PATH_BRA,
    REF_PATH_CALL,
    REF_PATH_TRAP
};

/* Where bra and call go: to a label, to one of a table, where a register says; to a function. */
enum ref_path_way { REF_TO_LABEL, REF_TO_TABLE, REF_TO_REGISTER, REF_TO_FUNCTION };

/* What an instruction gives a register. */
enum ref_path_gift { REF_GIVES_NOTHING, REF_GIVES_ANY, REF_GIVES_LOADED, REF_GIVES_SOURCES };

struct ref_path_source {
    bool is_register;
    uint32_t value; /* its number; or an address */
};

struct ref_path_op {
    enum ref_path_kind kind;
    uint32_t guard; /* 0: none; the same number: the same guard */
    bool labelled;
    enum ref_path_way way;
    uint32_t target_count, target[REF_PATH_TARGETS]; /* addresses; ssy, preBrk, preRet: one */
    uint32_t reg; /* that says where, or that is given something */
    enum ref_path_gift gift;
    uint32_t source_count;
    struct ref_path_source source[2];
};

enum ref_path_type {
    REF_PATH_TYPE_SYNC,
    REF_PATH_TYPE_DIVERGE,
    REF_PATH_TYPE_CALL,
    REF_PATH_TYPE_BREAK,
    REF_PATH_BOTTOM
};

/* A function. Addresses are 1 .. count. */
struct ref_path_program {
    bool is_entry; /* else it stands above the call token of an unknown caller */
    uint32_t count;
    struct ref_path_op op[REF_PATH_OPS + 1];
    uint32_t given_count; /* tokens at the start, the top first */
    struct {
        enum ref_path_type type;
        uint32_t pc;
    } given[2];
    uint32_t value_count[REF_PATH_REGISTERS]; /* at the start; 0: nothing is said */
    uint32_t value[REF_PATH_REGISTERS][2];
};

/* The clauses, as bits. */
enum ref_path_fault {
    REF_FAULT_SC1 = 1 << 0,
    REF_FAULT_SC2 = 1 << 1,
    REF_FAULT_SC3 = 1 << 2,
    REF_FAULT_SC4 = 1 << 3,
    REF_FAULT_SC5 = 1 << 4,
    REF_FAULT_SC6 = 1 << 5,
    REF_FAULT_ADDR = 1 << 6,
    REF_FAULT_TARGET = 1 << 7, /* unknown */
    REF_FAULT_CALLER = 1 << 8, /* unknown */
    REF_FAULT_FOUR = 1 << 9,   /* clause 4 as printed */
    REF_FAULT_A = 1 << 10,
    REF_FAULT_B = 1 << 11,
    REF_FAULT_C = 1 << 12
};

struct ref_path_token {
    enum ref_path_type type;
    uint32_t pc, landing; /* its address; where the warp goes on when it is pushed */
    bool given;
};

/* Why tokens are popped. */
enum ref_path_pop { REF_POP_SYNC, REF_POP_BREAK, REF_POP_RET, REF_POP_EXIT, REF_POP_COUNT };

struct ref_paths {
    const struct ref_path_program *program;
    bool full; /* more tokens than there is room for: nothing is known */
    bool news;
    uint32_t fault[REF_PATH_OPS + 1]; /* by address: bits of enum ref_path_fault */
    uint32_t token_count;
    struct ref_path_token token[REF_PATH_TOKENS];
    bool at[REF_PATH_OPS + 1][REF_PATH_TOKENS]; /* the warp may be there with it on top */
    bool passed
        [REF_PATH_OPS + 1]
        [REF_PATH_TOKENS]; /* the same, and nobody's guard holds, of a call behind its preRet */
    bool below[REF_PATH_TOKENS][REF_PATH_TOKENS]; /* below[a][b]: b may lie directly below a */
    bool popped[REF_POP_COUNT][REF_PATH_TOKENS];
    bool marked[REF_PATH_TOKENS]; /* lanes may wait for the first sync token from here on */
};

void ref_paths_find(struct ref_paths *r, const struct ref_path_program *program);

/* The same of tokens alone, without a program: token 0 is the empty stack; others are put on top of each other, popped
 * (`popped`), and all that follows is found. */
void ref_paths_begin(struct ref_paths *r, const struct ref_path_program *program);
uint32_t ref_paths_push(struct ref_paths *r, uint32_t top, enum ref_path_type type,
                        uint32_t address, uint32_t landing);
void ref_paths_close(struct ref_paths *r);

/* What may be on top there: bits 1 << enum ref_path_type. */
uint32_t ref_paths_tops(const struct ref_paths *r, uint32_t pc);

/* Pairs of an address and a top with which a warp may be there. */
uint32_t ref_paths_states(const struct ref_paths *r);

#endif
