/*
 * mutant.h - what mutated sources (mutate.h) ask while they run, and the table of their mutants.
 * Put in front of every mutated file; it includes nothing.
 *
 * Two uses. Hunting: some mutants are on, the probes of their points are set. Recording: all probes are
 * set, the original runs, and it is noted which points were reached and which mutants would have had
 * another value (were infected) - for all mutants in one run.
 */
#ifndef MUTANT_H
#define MUTANT_H

struct mutant_point {
    const char *name, *file, *part, *operator_name, *old;
    unsigned line, first, count; /* its mutants: first .. first + count - 1 */
    const char *new[6];
};

extern const struct mutant_point mutant_points[];
extern const int mutant_point_count, mutant_count;

/* By point. Short: the compiler may keep it in a register over writes of other types. */
extern short mutant_probe[];
/* By point: which of its mutants is on, from 1; 0: the original. */
extern signed char mutant_choice[];

/* mutant_runtime.c. `values`: the original's value, then those of the mutants. The index of one. */
int mutant_pick(int point, const void *values, unsigned long size);
/* `&&` (and: 1) or `||`: whether the right side is evaluated, and the value. */
int mutant_need(int point, int and, int left);
int mutant_logic(int point, int and, int left, int right);
/* Whether a statement is executed. */
int mutant_keep(int point);

#define MUTANT_ON(point) __builtin_expect(mutant_probe[point] != 0, 0)
#define MUTANT_OF(point, type, ...)                                                                \
    (__extension__({                                                                               \
        type mutant_values[] = {__VA_ARGS__};                                                      \
        mutant_values[mutant_pick(point, mutant_values, sizeof *mutant_values)];                   \
    }))

#endif
