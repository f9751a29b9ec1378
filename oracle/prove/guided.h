/*
 * guided.h - a model run by the pair engine (engine/pairs): the tutorial's two threads alone, with the model's inputs,
 * and with what the model says of memory behind each barrier (ORA.C2.guided).
 *
 * An execution of all threads need not have such memory. Two threads that are told it must go wrong as the formula
 * says, or the formula does not say what the kernel does.
 */
#ifndef ORACLE_PROVE_GUIDED_H
#define ORACLE_PROVE_GUIDED_H

#include "engine/prove/prove.h"

enum guided_end {
    GUIDED_NOT, /* it does not apply: no such model, or a kernel that the pair engine does not run */
    GUIDED_SHOWN, /* it goes wrong */
    GUIDED_CLEAN  /* it does not: the formula is wrong */
};

/* `kernel`: with the model's inputs as initialisers (proof_replay.kernel). */
enum guided_end guided_run(struct arena *arena, const struct ast_kernel *kernel,
                           const struct proof_model *model);

#endif
