/* run_ptx PTX ENTRY THREADS BLOCKS MEMORY: the GPU of mock_cuda.c. Runs an entry of a PTX text in our own crs,
 * thread-pc and block; the file MEMORY, the buffer that is its argument, holds afterwards what it left. */
#include "fuzz/outside/ptx_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_LOG = 32, BYTES_MAX = 64 << 20 };

static char *read_file(struct arena *arena, const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = arena_room(arena, BYTES_MAX + 1);
    if (!file)
        return NULL;
    *length = fread(bytes, 1, BYTES_MAX, file);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static bool write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    return file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0;
}

/* All ways to run it must have left the same. */
static bool is_one_final(const struct outside_result *result, size_t bytes)
{
    for (uint32_t f = 1; f < result->final_count; f++)
        if (memcmp(result->finals[f], result->finals[0], bytes) != 0)
            return false;
    return result->end == OUTSIDE_FINAL;
}

int main(int count, char **arguments)
{
    struct arena arena;
    size_t length, bytes;
    if (count != 6 || arena_init(&arena, (size_t)1 << ARENA_LOG) != 0)
        return 2;
    const char *text = read_file(&arena, arguments[1], &length);
    const char *memory = read_file(&arena, arguments[5], &bytes);
    if (!text || !memory)
        return 2;
    const struct emitted kernel = {.entry = arguments[2],
                                   .threads = (uint32_t)strtoul(arguments[3], NULL, 10),
                                   .blocks = (uint32_t)strtoul(arguments[4], NULL, 10),
                                   .words = (uint32_t)(bytes / 4),
                                   .result_words = (uint32_t)(bytes / 4),
                                   .initial = (const int32_t *)(const void *)memory};
    const struct outside_batch batch = {
        .language = EMIT_PTX, .text = text, .count = 1, .kernels = &kernel};
    struct outside_result result;
    outside_run_ptx(&arena, text, length, &batch, &result);
    if (!is_one_final(&result, bytes)) {
        fprintf(stderr, "run_ptx: %s: %s\n", outside_end_names[result.end],
                result.cause ? result.cause : "several finals");
        return 1;
    }
    return write_file(arguments[5], result.finals[0], bytes) ? 0 : 2;
}
