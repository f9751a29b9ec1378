/*
 * lemma6.h - simt-correctness, Lemma 6 (SIM.L6): when no thread can run for ever, whatever the others do to
 * the memory that it shares with them, a warp halts.
 *
 *      phi, eta(theta) |> T, mu  ==>^t  T', mu'
 *      --------------------------------------------     for all a not in saddr(eta). mu''(a) = mu'(a)
 *      phi, eta(theta) |> T, mu  ~~>^t  T', mu''
 *
 *      for all theta: there is no infinite sequence of ~~>^t from (P call, mu_0)         
 *      -----------------------------------------------------------------------
 *      P call_Theta, Theta, { Theta |-> 0 }, mu_0  ==>^w,*  eps
 *
 * saddr(eta): the addresses that two threads have names for. Here these are global memory, and shared
 * memory, unless there is one thread only that could.
 *
 * lemma6_holds proves the hypothesis for many programs, by running all lanes of each warp on values of which
 * it is known what they are, or not: not known is what is read from saddr(eta), and what comes of it. A
 * guard that is not known goes both ways. A loop that cannot be left after so many steps fails: nothing is said then.
 * The most steps on any way are the bound: of warps, which both orders of the paths share, and of threads. A
 * barrier is passed at once, since who waits there does not run. That the number of trips is
 * bounded may also follow from values in saddr(eta) that nobody writes: `constants`, which the lemma does
 * not know, but whose proof does not mind: nobody's step changes them [EXT].
 *
 * lemma6_refute looks for an infinite sequence of ~~>^t: one thread alone, and before each of its steps
 * what it reads in saddr(eta) is set to something. The same stack and private memory twice, and it can go
 * on so for ever. Then the lemma says nothing, which does not mean that the warp runs for ever
 * (Program 4).
 */
#ifndef ORACLE_LEMMA6_H
#define ORACLE_LEMMA6_H

#include "engine/program/program.h"

struct lemma6 {
    bool holds;
    bool constants; /* only since some variables are written by nobody */
    /* At most so many steps: of one warp, of all warps together; of the thread semantics, likewise. */
    uint64_t warp_steps, all_warp_steps;
    uint64_t thread_steps, all_thread_steps;
    bool has_threads;    /* false: there are votes, and no thread semantics */
    const char *why_not; /* when it is not known to hold */
};

/* Of a structured program. Does without proof what takes more than so many steps of one warp, or much memory. */
struct lemma6 lemma6_holds(struct arena *arena, const struct program *program, uint64_t max_steps);

/* Before a step of the thread, from 0: what others have put into a location of saddr(eta). */
struct lemma6_set {
    uint64_t step;
    uint32_t address;
    int32_t value;
};

struct lemma6_refutation {
    bool found;
    uint32_t thread;
    const struct lemma6_set *sets; /* of the stem and the loop, in order */
    uint32_t set_count;
    uint32_t stm;              /* of the loop: where its guard is, or CODE_NONE */
    uint64_t stem, loop;       /* steps */
    const char *location;      /* that is read in the loop and changes, or NULL: none is */
    uint64_t steps, sequences; /* that were tried */
};

/* Tries sequences of all threads, in turns, within so many steps. The same seed, the same answer. */
struct lemma6_refutation lemma6_refute(struct arena *arena, const struct program *program,
                                       uint64_t seed, uint64_t budget_steps);

/* Whether the refutation is one, played again with what its sequence sets (lemma6_replay.c); or what is wrong. */
const char *lemma6_replay(struct arena *arena, const struct program *program,
                          const struct lemma6_refutation *refutation);

#endif
