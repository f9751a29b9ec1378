/*
 * forms.h - the programs of one kernel: every form that subjects and oracles run (engine/subjects/programs.def),
 * made when it is asked for.
 *
 *     structured kernel --lower_core--> core --lower_cfg--> blocks --normalise--> P
 *     kernel in block form ------------------------------------------normalise--> P
 *     P --predicate--> pi(P)          P --lockstep_form--> phi(P)
 *     kernel in lock-step form: phi itself; there is no P
 *     structured kernel --lower_ptx--> PTX with branch-unit instructions, for crs, thread-pc and block
 *     kernel in block form --lower_ptx--> plain PTX for block; --ptx_inject--> for crs and thread-pc
 *     kernel in PTX form: itself for block; --ptx_inject--> for crs and thread-pc, unless it is raw
 *
 * Global and shared variables lie at the same addresses in all of them (private_base words), so their
 * stores compare word by word; private variables and frames do not, between different programs.
 * Statements of pi(P) and phi(P) say by `origin` which code_stm of P they stand for; those of a lowered P
 * which one of the core (lower_cfg.h).
 */
#ifndef ORACLE_FORMS_H
#define ORACLE_FORMS_H

#include "engine/forms/normalise.h"
#include "engine/program/program.h"
#include "engine/subjects/subject.h"

struct form {
    const struct ast_kernel *kernel; /* the tree; NULL: there is none, see reason */
    const struct program *program;   /* NULL: see reason */
    const char *reason; /* why there is none: "unsupported statement 'vote' at line 3" */
    bool made;
};

struct forms {
    struct arena *arena;
    const struct ast_kernel *given;
    struct form items[PROGRAM_COUNT]; /* through forms_get */
    bool judged;
    enum well_formed well_formed; /* through forms_well_formed */
    const char *ill_formed;
};

/* Of a kernel that ast_check accepts, in any form. */
struct forms *forms_new(struct arena *arena, const struct ast_kernel *given);

/* Never NULL. */
const struct form *forms_get(struct forms *forms, enum program_id program);

/* Whether it is some pi(P). */
bool forms_is_predicated(enum program_id program);

/* Def. 5.1 of P, which the theorems about phi(P) rest on. *reason when it is not WELL_FORMED: "WF.2: a
 * second assume at line 7", or why there is no P (then it is ILL_FORMED). */
enum well_formed forms_well_formed(struct forms *forms, const char **reason);

#endif
