#include "fuzz/beside/beside_internal.h"

#include <string.h>

const char *const beside_names[BESIDE_COUNT] = {[BESIDE_HOST] = "host", [BESIDE_LITMUS] = "litmus"};

static const struct {
    const char *(*judge)(struct arena *, const struct fuzz_case *, uint64_t *);
    void (*example)(struct arena *, struct arena *, const struct fuzz_case *, const char *,
                    uint32_t, struct example *);
} kinds[BESIDE_COUNT] = {[BESIDE_HOST] = {host_case_judge, host_case_example},
                         [BESIDE_LITMUS] = {law_case_judge, law_case_example}};

const char *beside_judge(enum beside what, struct arena *arena, const struct fuzz_case *c,
                         uint64_t *steps)
{
    return kinds[what].judge(arena, c, steps);
}

enum beside beside_of(const char *signature)
{
    size_t length = strcspn(signature, "|");
    uint32_t b = 0;
    while (b < BESIDE_COUNT &&
           (strncmp(signature, beside_names[b], length) != 0 || beside_names[b][length]))
        b++;
    return (enum beside)b;
}

void beside_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                    const char *signature, uint32_t most, struct example *example)
{
    kinds[beside_of(signature)].example(arena, scratch, c, signature, most, example);
}
