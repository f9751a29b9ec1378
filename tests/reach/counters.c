/*
 * counters.c - in how many cases of a campaign each place of the sources is executed.
 *
 * Linked into a simtfuzz that clang has compiled with -fsanitize-coverage=inline-8bit-counters,pc-table, with
 * -Wl,--wrap=case_of_campaign: each call of it begins a case. At the end of the process the file that REACH names has a
 * line for each counter: how many cases raised it, and its address in the program. reach.sh makes a table of it.
 */
#include "fuzz/case/case.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char __executable_start[];

static struct {
    uint8_t *raised; /* since the case began */
    uint32_t *cases;
    const uintptr_t *places; /* two words each: an address, and flags */
    size_t count;
} counters;

static void end_case(void)
{
    for (size_t i = 0; i < counters.count; i++)
        counters.cases[i] += counters.raised[i] != 0;
    memset(counters.raised, 0, counters.count);
}

static void write_all(void)
{
    const char *path = getenv("REACH");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    end_case();
    for (size_t i = 0; i < counters.count; i++)
        fprintf(out, "%u 0x%zx\n", counters.cases[i],
                (size_t)(counters.places[2 * i] - (uintptr_t)__executable_start));
    fclose(out);
}

void __sanitizer_cov_8bit_counters_init(uint8_t *first, uint8_t *end);
void __sanitizer_cov_pcs_init(const uintptr_t *first, const uintptr_t *end);

/* Every object of the program calls both, with the bounds of all. */
void __sanitizer_cov_8bit_counters_init(uint8_t *first, uint8_t *end)
{
    if (counters.raised)
        return;
    counters.raised = first;
    counters.count = (size_t)(end - first);
    counters.cases = calloc(counters.count, sizeof counters.cases[0]);
    atexit(write_all);
}

void __sanitizer_cov_pcs_init(const uintptr_t *first, const uintptr_t *end)
{
    (void)end;
    counters.places = first;
}

/* Weak: programs by which CMake tries the compiler have none. */
__attribute__((weak)) void __real_case_of_campaign(struct fuzz_case *c, uint64_t seed,
                                                   uint64_t number, const struct gen_options *gen,
                                                   const struct check_options *check);
void __wrap_case_of_campaign(struct fuzz_case *c, uint64_t seed, uint64_t number,
                             const struct gen_options *gen, const struct check_options *check);

void __wrap_case_of_campaign(struct fuzz_case *c, uint64_t seed, uint64_t number,
                             const struct gen_options *gen, const struct check_options *check)
{
    end_case();
    __real_case_of_campaign(c, seed, number, gen, check);
}
