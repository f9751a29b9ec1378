/*
 * forms.h - the programs of one kernel: every form that subjects and oracles run (engine/programs.def),
 * made when it is asked for.
 *
 * Global and shared variables lie at the same addresses in all of them (private_base words), so their
 * stores compare word by word; private variables and frames do not, between different programs.
 */
#ifndef ORACLE_FORMS_H
#define ORACLE_FORMS_H

#include "engine/program.h"
#include "engine/subject.h"

struct form {
    const struct ast_kernel *kernel; /* the tree; NULL: it has none, see reason */
    const struct program *program;   /* NULL: see reason */
    const char *reason; /* why there is none: "unsupported statement 'vote' at line 3" */
    bool made;
};

struct forms {
    struct arena *arena;
    const struct ast_kernel *given;
    struct form items[PROGRAM_COUNT]; /* through forms_get */
};

/* Of a well-formed kernel in any form. */
struct forms *forms_new(struct arena *arena, const struct ast_kernel *given);

/* Never NULL. */
const struct form *forms_get(struct forms *forms, enum program_id program);

#endif
