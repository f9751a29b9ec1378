#include "engine/language/initial.h"

#include "engine/base/pcg.h"

#include <string.h>

/* One value of `input` memory: mostly small, where indices, counters and thread numbers live; one in
 * sixteen at an edge of the arithmetic, one in sixteen anywhere. */
static int32_t draw_input(struct pcg *rng)
{
    static const int32_t edges[] = {
        INT32_MIN, INT32_MIN + 1, -64,   -33,      -32, -31, -1, 0, 31, 32, 33, 63,
        64,        255,           65536, INT32_MAX};
    uint32_t shape = pcg_below(rng, 16);
    if (shape == 0)
        return edges[pcg_below(rng, sizeof edges / sizeof edges[0])];
    if (shape == 1)
        return (int32_t)pcg_next(rng);
    return (int32_t)pcg_below(rng, 17) - 4;
}

/* Its draws depend on the seed and its number only, and those of a copy on nothing that comes after it. */
void language_init_variable(const struct ast_var *var, uint32_t number, uint64_t seed,
                            int32_t *first, uint32_t stride, uint32_t copies)
{
    struct pcg rng = pcg_derive(seed, PCG_INPUT, number);
    for (uint32_t copy = 0; copy < copies; copy++) {
        int32_t *words = first + (size_t)copy * stride;
        if (var->is_input) {
            for (uint32_t i = 0; i < var->length; i++)
                words[i] = draw_input(&rng);
        } else if (var->init_count > 0) {
            memcpy(words, var->init, var->init_count * sizeof *words);
        }
    }
}
