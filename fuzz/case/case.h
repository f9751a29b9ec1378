/*
 * case.h - a case as a value: what one check depends on, as text and back.
 *
 *     gen=1 seed=0x1 case=42 features=0x3f check-seed=0x9a schedules=16 budget=20000
 *         subjects=threads,simt oracles=simulation,lemmas transforms=wrap:3
 *
 * With seed and case, the kernel comes from the generator of version `gen`; without, its text stands
 * beside the case (of one that an older version mutated with
 * the cases that it was made from: "of-seed=0x1 of-case=42 parent=7 donor=30"). The same case gives the same verdicts
 * and the same tapes, byte for byte.
 */
#ifndef FUZZ_CASE_H
#define FUZZ_CASE_H

#include "fuzz/generate/generate.h"
#include "oracle/check/check.h"

/* Where the kernel of a case of an older version comes from, which made kernels from those that showed something new:
 * for information, its text is what counts. */
struct case_lineage {
    bool known;
    uint64_t parent, donor; /* cases of the same campaign */
};

/* What is judged beside a kernel: a host program, litmus tests that are drawn (fuzz/beside). */
enum beside { BESIDE_HOST, BESIDE_LITMUS, BESIDE_COUNT };

struct fuzz_case {
    bool generated;
    uint32_t gen_version;
    uint64_t seed, number; /* of the campaign: generated only */
    struct gen_options gen;
    struct case_lineage lineage;
    struct check_options check;
    bool has_tape;   /* the execution of check.tape_subject follows a tape that stands beside */
    unsigned beside; /* bits 1 << enum beside, in a campaign: no part of the text */
};

/* Cases come in rounds of so many; so many of each round are */
enum {
    CASE_ROUND = 64,
    CASE_INSTRUCTIONS = 16, /* programs of instructions */
    CASE_SPIN = 2,          /* about waiting */
    CASE_TINY = 6,          /* searched */
    CASE_HOST = 8,          /* beside their kernel: with a host program, */
    CASE_LAWS = 8           /* with litmus tests */
};

/* Case `number` of the campaign with this seed and these options (check->seed is ignored): plan.c. The tiny ones, whose
 * executions are all searched within bounds ("small exhaustive=6000"), are not where the options ask for small kernels
 * or searches themselves. Those about waiting need the feature `locks`, and are searched likewise ("spin
 * exhaustive=6000"). Programs of instructions need the feature `instructions`, and the oracle `reference` alone is
 * asked about them; their text names this feature, this oracle and few subjects. With the features, subjects and
 * oracles that are the default most of the others are of few threads ("few") or short ("brief"), and some cases have
 * something beside their kernel. */
void case_of_campaign(struct fuzz_case *c, uint64_t seed, uint64_t number,
                      const struct gen_options *gen, const struct check_options *check);

/* Searches that end soon: as many steps, and so at most as many states. */
void case_search_within(struct check_options *check, uint64_t steps);

/* The kernel of a generated case: the generator's, or, in c->gen.mutate of 100 cases, that kernel mutated with
 * parts of another. Enumerating: NULL when there are fewer. walk: of these options and this caller, zeroed at
 * first, or NULL. */
struct ast_kernel *case_kernel(struct arena *arena, const struct fuzz_case *c,
                               struct gen_walk *walk);

/* The options that decide what the cases are: a campaign's identity beside its seed. */
char *case_print_options(struct arena *arena, const struct gen_options *gen,
                         const struct check_options *check);
char *case_print(struct arena *arena, const struct fuzz_case *c);
/* False: *error is the offending word (or what is missing). */
bool case_parse(struct arena *arena, const char *text, struct fuzz_case *c, const char **error);

/* Comma-separated names of a set. */
char *case_subjects(struct arena *arena, subject_set set);
char *case_oracles(struct arena *arena, uint32_t set, uint32_t modes);

/* "simtfuzz gen --seed 0x1 --features none,loops --first": with a case number behind it, the command
 * that prints the case's kernel. Features are left out when they are the default ones. */
char *case_gen_command(struct arena *arena, uint64_t seed, const struct gen_options *gen);

/* 128 bits as 32 hexadecimal digits: names a kernel by its text. */
const char *case_text_hash(struct arena *arena, const char *text);

#endif
