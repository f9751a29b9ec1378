/*
 * wild.h - small kernels over the whole grammar of the kernel language, and small programs of PTX, each executed by a
 * subject that is drawn from all there are, under a drawn schedule, and followed by the literal semantics (follow.h).
 *
 * Kernels of cases keep what campaigns compare: they end, leave few arrays, and ordinary subjects run them; none is in
 * lock-step form. What only others reach is reached here: a statement where no lowering puts it, a rule on purpose, an
 * option of a machine, a schedule of its own, a warp of more than 32 lanes.
 */
#ifndef ORACLE_REFERENCE_WILD_H
#define ORACLE_REFERENCE_WILD_H

#include "engine/kernel/kernel.h"
#include "engine/schedule/sched.h"
#include "engine/subjects/forms.h"
#include "oracle/follow/follow.h"
#include "oracle/reference/source.h"

struct wild_run {
    struct arena *arena;
    uint64_t number;
    const char *text;
    const char *transforms; /* what was done to it before it ran; NULL: nothing */
    enum subject_id subject;
    struct machine *machine; /* NULL: the kernel is refused, .. */
    const char *refused;     /* .. and why */
    struct sched_spec spec;
    struct follower *follower; /* NULL: the reference does not follow it */
    struct source *source;     /* NULL: no text's history is asked */
    enum status status;
    const char *differs; /* beside what is followed, or NULL */
    bool of_source;      /* it is what a thread did that its text does not */
};

/* The kernel of this number. False: what the engine does is not what the reference does (follower), or differs says
 * what else is not as it should be. */
bool wild_agrees(struct arena *arena, uint64_t number, struct wild_run *x);

/* ---- wild_text.c ---- */

/* What a kernel is drawn for: PTX, so seldom with what is not lowered to it; rules of barriers, so with some, and two
 * blocks as a rule. */
struct wild_wish {
    enum ast_form form;
    bool of_ptx, of_barriers;
};

/* A kernel in the kernel language. */
const char *wild_text(struct arena *arena, const struct wild_wish *wish, uint64_t number);

/* ---- wild_ptx.c ---- */

/* A program in PTX. */
const char *wild_ptx(struct arena *arena, bool of_barriers, uint64_t number);

/* ---- wild_forms.c ---- */

/* What the subject runs, or how, is otherwise than its name says; it refuses a kernel for nothing that stands in it, or
 * runs what it has no rule for. NULL: none of it. */
const char *wild_form_differs(struct arena *arena, const struct ast_kernel *kernel,
                              enum subject_id subject, const struct form *made);
const char *wild_refusal_differs(struct arena *arena, const struct ast_kernel *kernel,
                                 enum subject_id subject, const char *refused);

/* ---- wild_names.c ---- */

/* A schedule and a list of subjects, as text; what is wrong with how they are read, or written, NULL: nothing. */
const char *wild_names_differ(struct arena *arena, uint64_t number);

#endif
