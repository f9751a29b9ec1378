/*
 * harness_input.c - bytes to kernels: text, or choices of the generator.
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/harness/harness.h"

#include <string.h>

enum {
    THREADS_MAX = 256,
    WORDS_MAX = 1 << 14, /* of memory, all copies of variables */
    SIZE_MAX_STATEMENTS = 600,
    SEED_BYTES = 8,
    REMEMBERED = 16,
    REMEMBERED_BYTES = 8192
};

/* ---- text ---- */

bool harness_is_text(const uint8_t *data, size_t size)
{
    static const char *const beginnings[] = {"//",      "/*",      "launch", "kernel", "global",
                                             "shared ", "private", "void ",  "int ",   ".version"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        size_t length = strlen(beginnings[i]);
        if (size >= length && memcmp(data, beginnings[i], length) == 0)
            return true;
    }
    return false;
}

struct ast_kernel *harness_parse(struct arena *arena, const char *text, size_t length)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    /* bind:p=buffer:64:file:PATH would read a file of this machine. */
    if (length > LIMIT_SOURCE_BYTES || strstr(text, ":file:"))
        return NULL;
    diag_init(diag, "input", text, length);
    return parse_kernel(arena, text, length, diag);
}

static uint64_t words_of(const struct ast_kernel *kernel)
{
    uint64_t words = 0;
    for (const struct ast_var *v = kernel->vars; v; v = v->next)
        words += (uint64_t)v->length * (v->space == SPACE_PRIVATE ? kernel->launch.threads : 1);
    return words * kernel->launch.blocks;
}

bool harness_takes(const struct ast_kernel *kernel)
{
    const struct harness_target *t = &harness_target;
    if (kernel->form != t->form)
        return false;
    if (kernel->form == FORM_PTX && !(kernel->ptx->raw ? t->raw : t->compiled))
        return false;
    return kernel->launch.threads * kernel->launch.blocks <= THREADS_MAX &&
           words_of(kernel) <= WORDS_MAX && ast_kernel_size(kernel) <= SIZE_MAX_STATEMENTS;
}

static uint64_t read_seed(const uint8_t *data, size_t size)
{
    uint64_t seed = 0;
    for (size_t i = 0; i < size && i < SEED_BYTES; i++)
        seed |= (uint64_t)data[i] << (8 * i);
    return seed;
}

void harness_read(struct arena *arena, const uint8_t *data, size_t size,
                  struct harness_input *input)
{
    *input = (struct harness_input){.lot = 2166136261u};
    for (size_t i = 0; i < size; i++)
        input->lot = (input->lot ^ data[i]) * 16777619u; /* FNV-1a */
    if (harness_is_text(data, size)) {
        const uint8_t *end = memchr(data, 0, size);
        input->text_length = end ? (size_t)(end - data) : size;
        char *text = arena_strndup(arena, (const char *)data, input->text_length);
        input->kernel = harness_parse(arena, text, input->text_length);
        input->is_text = input->kernel && harness_takes(input->kernel);
        if (input->is_text) {
            if (end)
                input->seed = read_seed(end + 1, size - input->text_length - 1);
            input->kernel->expects = NULL; /* claims are for `check`; here the oracles are asked */
            return;
        }
    }
    struct source choices;
    source_bytes(&choices, data, size);
    input->kernel = harness_target.generate(arena, &choices);
}

/* ---- what was seen lately ---- */

static struct {
    size_t length;
    char text[REMEMBERED_BYTES + 1];
} remembered[REMEMBERED];
static uint32_t remembered_count;

void harness_remember(const struct harness_input *input, const uint8_t *data)
{
    if (!input->is_text || input->text_length > REMEMBERED_BYTES)
        return;
    uint32_t place = remembered_count++ % REMEMBERED;
    memcpy(remembered[place].text, data, input->text_length);
    remembered[place].text[input->text_length] = '\0';
    remembered[place].length = input->text_length;
}

struct ast_kernel *harness_donor(struct arena *arena, struct source *choices)
{
    uint32_t count = remembered_count < REMEMBERED ? remembered_count : REMEMBERED;
    if (count == 0)
        return NULL;
    uint32_t place = source_below(choices, count);
    return harness_parse(arena, remembered[place].text, remembered[place].length);
}
