/*
 * harness_mutator.c - libFuzzer's custom mutator and crossover, on the structure of kernels.
 *
 * Text is parsed, changed by mutators (fuzz/mutate) and printed; its donor is one of the texts seen lately, or the
 * other parent. Choices are mutated as bytes, or become the text of the kernel that they make.
 */
#include "engine/input/input.h"
#include "fuzz/harness/harness.h"
#include "fuzz/mutate/mutate.h"

#include <string.h>

enum {
    STACKED = 4,          /* mutations in a row, at most */
    ROOM_TRIES = 6,       /* for a text that fits */
    PERCENT_SEED = 6,     /* the seed of the schedules changes, too */
    PERCENT_TO_TEXT = 12, /* choices become text */
    PERCENT_FROM_DONOR = 50
};

/* Text, a zero, the seed, if it is not 0. 0: no room. */
static size_t put_text(struct arena *arena, const struct ast_kernel *kernel, uint64_t seed,
                       uint8_t *out, size_t max_size)
{
    const char *text = print_kernel(arena, kernel);
    size_t length = strlen(text), size = length;
    if (length > max_size || !harness_is_text((const uint8_t *)text, length))
        return 0;
    memcpy(out, text, length);
    if (seed != 0 && size < max_size)
        out[size++] = 0;
    for (; seed != 0 && size < max_size; seed >>= 8)
        out[size++] = (uint8_t)seed;
    return size;
}

static bool mutate_some(struct arena *arena, struct ast_kernel *kernel, struct source *choices,
                        const struct ast_kernel *donor)
{
    bool did = false;
    uint32_t count = 1 + source_below(choices, STACKED);
    for (uint32_t i = source_below(choices, count); i < count; i++)
        did |= mutate_kernel(arena, kernel, choices, donor);
    return did;
}

/* 0: nothing that fits. */
static size_t mutate_text(struct arena *arena, const struct harness_input *input,
                          struct source *choices, uint8_t *out, size_t max_size)
{
    uint64_t seed = input->seed;
    if (source_chance(choices, PERCENT_SEED))
        seed = source_below(choices, 1u << 16);
    for (int i = 0; i < ROOM_TRIES; i++) {
        struct ast_kernel *kernel = ast_kernel_copy(arena, input->kernel);
        const struct ast_kernel *donor =
            source_chance(choices, PERCENT_FROM_DONOR) ? harness_donor(arena, choices) : NULL;
        mutate_some(arena, kernel, choices, donor);
        size_t size = harness_takes(kernel) ? put_text(arena, kernel, seed, out, max_size) : 0;
        if (size > 0)
            return size;
    }
    return 0;
}

static size_t custom_mutate(struct arena *arena, uint8_t *data, size_t size, size_t max_size,
                            struct source *choices)
{
    struct harness_input input;
    size_t done = 0;
    harness_read(arena, data, size, &input);
    if (input.is_text)
        done = mutate_text(arena, &input, choices, data, max_size);
    else if (input.kernel && harness_takes(input.kernel) && source_chance(choices, PERCENT_TO_TEXT))
        done = put_text(arena, input.kernel, 0, data, max_size);
    return done > 0 ? done : LLVMFuzzerMutate(data, size, max_size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    struct arena *arena = harness_arena();
    if (!arena)
        return LLVMFuzzerMutate(data, size, max_size);
    size_t mark = arena_mark(arena);
    struct source choices;
    source_random(&choices, seed, 0);
    size = custom_mutate(arena, data, size, max_size, &choices);
    arena_release(arena, mark);
    return size;
}

/* The head of one, the tail of the other. */
static size_t cross_bytes(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                          uint8_t *out, size_t max_size, struct source *choices)
{
    size_t head = source_below(choices, (uint32_t)(size1 < max_size ? size1 : max_size) + 1);
    size_t from = source_below(choices, (uint32_t)size2 + 1);
    size_t tail = size2 - from < max_size - head ? size2 - from : max_size - head;
    memcpy(out, data1, head);
    memcpy(out + head, data2 + from, tail);
    return head + tail;
}

/* Parts of the second kernel in the first. */
static size_t cross_kernels(struct arena *arena, const struct harness_input *one,
                            const struct harness_input *other, uint8_t *out, size_t max_size,
                            struct source *choices)
{
    for (int i = 0; i < ROOM_TRIES; i++) {
        struct ast_kernel *kernel = ast_kernel_copy(arena, one->kernel);
        enum mutator_id splice = kernel->form == FORM_PTX ? MUTATOR_PTX_SPLICE : MUTATOR_SPLICE;
        bool did = mutate_kernel_by(arena, kernel, splice, choices, other->kernel);
        if (source_chance(choices, PERCENT_FROM_DONOR))
            did |= mutate_kernel(arena, kernel, choices, other->kernel);
        size_t size =
            did && harness_takes(kernel) ? put_text(arena, kernel, one->seed, out, max_size) : 0;
        if (size > 0)
            return size;
    }
    return 0;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t max_out_size, unsigned int seed)
{
    struct arena *arena = harness_arena();
    struct source choices;
    struct harness_input one, other;
    size_t size = 0, mark = arena ? arena_mark(arena) : 0;
    source_random(&choices, seed, 1);
    if (arena) {
        harness_read(arena, data1, size1, &one);
        harness_read(arena, data2, size2, &other);
        bool texts = one.is_text || other.is_text || source_chance(&choices, PERCENT_TO_TEXT);
        if (texts && one.kernel && other.kernel)
            size = cross_kernels(arena, &one, &other, out, max_out_size, &choices);
        arena_release(arena, mark);
    }
    return size > 0 ? size : cross_bytes(data1, size1, data2, size2, out, max_out_size, &choices);
}
