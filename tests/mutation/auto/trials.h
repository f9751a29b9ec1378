/*
 * trials.h - what a mutant is tried on, and what the original does there.
 *
 * A trial is a case of a campaign, a kernel of the corpus, one of the unit tests (units.h), or a canary: a case
 * of a campaign with a mutant of the engine that an oracle is known to detect there, so that a mutant of that
 * oracle shows by silence.
 * All trials are run once with the original, recording which mutants they reach and infect (mutant.h): a
 * mutant need only be tried where it is infected.
 */
#ifndef TRIALS_H
#define TRIALS_H

#include "engine/language/ast.h"
#include "fuzz/case/case.h"
#include "oracle/check/verdict.h"
#include "tests/mutation/auto/mutant_runtime.h"

enum trial_kind { TRIAL_CAMPAIGN, TRIAL_CORPUS, TRIAL_CANARY, TRIAL_UNIT };

struct trial {
    enum trial_kind kind;
    uint64_t seed, number;           /* of the case; of a unit test: its place in units[] */
    const struct ast_kernel *kernel; /* of the corpus */
    const char *path;                /* of the corpus; of a unit test: its name */
    int canary;                      /* mutant that is on, too; -1: none */
    enum oracle_id oracle;
};

/* Who speaks beside the oracles of a kernel: what stands beside it (fuzz/beside), and the engine about itself. */
enum speaker {
    SPEAKER_BESIDE = ORACLE_COUNT,
    SPEAKER_ENGINE = SPEAKER_BESIDE + BESIDE_COUNT,
    SPEAKER_COUNT
};
const char *speaker_name(uint32_t speaker);

/* What a run of a trial showed. */
struct trial_shown {
    uint32_t
        oracles; /* that diverge, known divergences aside: bits 1u << oracle_id, 1u << enum speaker */
    uint32_t failed; /* claims of a kernel of the corpus; a unit test */
    uint64_t digest, steps;
};

struct trials {
    struct trial *items;
    uint32_t count, capacity, campaign_count; /* those of campaigns come first, in order */
    uint32_t seeds, cases;                    /* campaigns 1 .. seeds */
    struct trial_shown *original;             /* a trial */
    uint8_t *reached;                         /* a point: by any trial */
    uint8_t *infected;                        /* a trial's row of `row` bytes, a bit a mutant */
    size_t row;
};

/* Of CPU time: more is a hang, as in an exam's campaign. While the original is recorded all take longer. */
/* A golden test takes 20 where others keep the processor busy: cut off there, it would seem to detect every mutant. */
enum { TRIAL_SECONDS = 30, TRIAL_UNIT_SECONDS = 90, RECORD_SECONDS = 600 };

/* The campaigns' cases and the kernels below `corpus`. Everything is kept for the rest of the process.
 * False: reported. */
bool trials_make(struct trials *trials, uint32_t seeds, uint32_t cases, const char *corpus);
/* "ORACLE NAME" lines: of each canary the first cases in which its oracle speaks. Before trials_record. */
bool trials_add_canaries(struct trials *trials, const char *path);
/* The unit tests that this program has been built with, and whose names match one of the patterns (fnmatch), which
 * commas separate. */
void trials_add_units(struct trials *trials, const char *patterns);
/* Runs all trials with the original in `jobs` processes. What it records is kept in the file `path` (NULL:
 * nowhere) for the next time. What diverges in the original is said, and counts for no mutant. False: the
 * original died. */
bool trials_record(struct trials *trials, uint32_t jobs, const char *path);

/* That campaigns, canaries and the corpus ask: bits 1u << oracle_id. */
extern uint32_t trial_oracles;

/* Runs one trial, with what is switched on. The digest only if asked. */
void trial_show(const struct trial *trial, bool digest, struct trial_shown *shown);

/* Instead: every trial may infect every mutant, and the original is well. */
void trials_assume(struct trials *trials);

/* How many mutants the trial infects. */
uint32_t trials_infected(const struct trials *trials, uint32_t trial);

static inline bool trials_infects(const struct trials *trials, uint32_t trial, int mutant)
{
    return trials->infected[trial * trials->row + (size_t)mutant / 8] >> mutant % 8 & 1;
}

/* FILE:FUNCTION:OPERATOR:OLD:ORDINAL->NEW */
void mutant_name(int mutant, char *name, size_t size);
/* -1: there is none. */
int mutant_find(const char *name);

#endif
