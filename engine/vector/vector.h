/*
 * vector.h - the fast lock-step executor: LOCK.deterministic exec (catalogue B section 8) on whole
 * vectors of lanes.
 *
 * Runs P itself (FORM_BLOCKS), not phi(P): v_active of every thread, blocks in sort order, a block's
 * statements for the threads that are in it, blocks without any skipped. Private variables are struct of
 * arrays; expressions run over vectors of lanes that the compiler vectorises, in a variant for each
 * instruction set, chosen when it is made by what the processor offers. It must give what phi(P) gives:
 * status, stores, races, choices.
 */
#ifndef ENGINE_VECTOR_H
#define ENGINE_VECTOR_H

#include "engine/machine/choice.h"
#include "engine/machine/machine.h"

enum vector_isa { VECTOR_BASELINE, VECTOR_AVX2, VECTOR_AVX512, VECTOR_ISA_COUNT };
extern const char *const vector_isa_names[VECTOR_ISA_COUNT];

struct vector_options {
    enum vector_isa isa; /* vector_best_isa(), or a lower one */
    bool races;          /* keep barrier-interval race state (Def. 4.1) */
    bool privates;       /* vector_memory gives the private variables too */
    uint64_t order_seed; /* as predicate_options */
};

enum vector_isa vector_best_isa(void);

struct vector_run;

/* NULL with *reason when the program is outside of what it does (it must say which and where). One
 * thread block of the grid after the other, to the end: blocks do not interleave. */
struct vector_run *vector_new(struct arena *arena, const struct program *program,
                              const struct vector_options *options, const char **reason);

struct vector_result {
    enum status status;
    uint32_t fault_thread, fault_stm;
    uint64_t steps;      /* statements of enabled blocks executed */
    uint64_t lane_steps; /* of these, summed over the enabled threads */
    bool race;
    uint32_t race_address, race_first, race_second; /* threads */
    uint32_t race_first_stm, race_second_stm;
};

/* One execution from the initial state; psi-winners: the highest enabled thread (as a machine without
 * choices takes it). `budget` bounds lane_steps. */
struct vector_result vector_execute(struct vector_run *run, uint64_t budget);

/* The store after it, laid out as a machine's memory: program.private_base words; frame_base words with
 * options.privates. */
const int32_t *vector_memory(const struct vector_run *run);

#endif
