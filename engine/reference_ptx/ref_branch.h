/*
 * ref_branch.h - the branch unit of cuda-crs 5.4.1 on sets and lists, and threads with a pc of their own, 6.3.
 */
#ifndef ENGINE_REF_BRANCH_H
#define ENGINE_REF_BRANCH_H

#include "engine/reference/reference.h"

enum ref_token_type { REF_TOKEN_SYNC, REF_TOKEN_DIVERGE, REF_TOKEN_CALL, REF_TOKEN_BREAK };

struct ref_token {
    enum ref_token_type type;
    struct ref_lanes mask;
    uint32_t pc;
};

enum { REF_TOKENS = 256 };

/* The execution state of a warp: pc, alpha, delta, tau. */
struct ref_unit {
    uint32_t lanes; /* of a full warp; those that are no threads have exited */
    uint32_t pc;
    struct ref_lanes active;
    char disabled[LIMIT_WARP]; /* '0' 'b' 'r' 'e' */
    bool completed;
    bool bottom;              /* no rule: lanes wait, and there is no token */
    bool overflow;            /* more tokens than the capacity */
    uint32_t count, capacity; /* of tokens; the last one is the top */
    struct ref_token tokens[REF_TOKENS];
};

/* A copy, without the tokens that are not there. */
void ref_unit_copy(struct ref_unit *to, const struct ref_unit *from);

enum ref_action_kind {
    REF_DO_SSY,
    REF_DO_PRE_BRK,
    REF_DO_PRE_RET,
    REF_DO_SYNC,
    REF_DO_BREAK,
    REF_DO_RET,
    REF_DO_EXIT,
    REF_DO_BRA,
    REF_DO_CALL
};

/* What the executing lanes do, all the same kind of thing. */
struct ref_action {
    enum ref_action_kind kind;
    struct ref_lanes executing;
    uint32_t target[LIMIT_WARP]; /* bra, call: by lane */
    uint32_t address;            /* ssy, preBrk, preRet */
    uint32_t chosen;             /* which of several targets comes first: told */
};

/* The rules that are other ones (crs_switches.def): bits 1u << REF_OTHERWISE_... */
enum ref_otherwise {
#define CRS_SWITCH(id, name, mutant, sentence) REF_OTHERWISE_##id,
#include "engine/crs/crs_switches.def"
    REF_OTHERWISE_COUNT
};

/* One rule. RULE_NONE: the target that was told is nobody's. */
enum rule ref_branch(struct ref_unit *u, const struct ref_action *a, uint32_t otherwise);

/* How many targets the executing lanes of a branch or call have: any may come first. */
uint32_t ref_targets(const struct ref_action *a);

/* The pcs of the lanes of `before`, after that step of theirs; false: a lane leaves what it never entered. */
bool ref_thread_pcs(const struct ref_unit *before, const struct ref_unit *after,
                    const struct ref_action *a, uint32_t otherwise, uint32_t pcs[LIMIT_WARP]);

bool ref_has_active(const struct ref_unit *u);

#endif
