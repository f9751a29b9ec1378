/*
 * `record`: launches on a GPU, kept as cases with what the GPU left.
 */
#include "engine/base/text.h"
#include "fuzz/exec/device.h"
#include "fuzz/out/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void device_record_start(struct device *device, const char *path, const struct ast_kernel *kernel,
                         uint32_t module, const char *text)
{
    struct arena *arena = &device->arena;
    struct device_recorded *r = &device->recorded;
    *r = (struct device_recorded){.path = arena_strndup(arena, path, strlen(path)),
                                  .text = arena_strndup(arena, text, strlen(text))};
    for (struct ptx_bind *m = kernel->ptx->memory; m; m = m->next)
        r->memory_count++;
    r->memory = ARENA_ARRAY(arena, const struct device_buffer *, r->memory_count + 1);
    r->memory_count = 0;
    for (struct ptx_bind *m = kernel->ptx->memory; m; m = m->next) {
        const struct device_buffer *b =
            m->data ? NULL : device_buffer_named(device, m->parameter, module);
        if (b && !b->is_laid_out) /* no constants, no addresses of functions */
            r->memory[r->memory_count++] = b;
    }
}

/* What a buffer holds now, as a file; the setting that names it. NULL: *why. */
static const char *keep_result(struct device *device, const struct device_buffer *b,
                               const char **why)
{
    struct arena *arena = &device->arena;
    const char *path = arena_printf(arena, "%s.%s.device.bin", device->recorded.path, b->name);
    const char *slash = strrchr(path, '/');
    char *bytes = malloc(b->at.bytes + 1);
    bool good = bytes && pread(device->memory, bytes, b->at.bytes, (off_t)b->at.offset) ==
                             (ssize_t)b->at.bytes;
    if (!good)
        *why = "device memory cannot be read";
    good = good && output_write(path, bytes, b->at.bytes, why);
    free(bytes);
    return good ? arena_printf(arena, "// simtfuzz: result:%s=file:%s\n", b->name,
                               slash ? slash + 1 : path)
                : NULL;
}

void device_record_end(struct device *device, uint32_t error, const char *error_text)
{
    struct arena *arena = &device->arena;
    struct device_recorded *r = &device->recorded;
    const char *why = NULL;
    struct text text = text_begin(arena);
    if (!r->path)
        return;
    if (error)
        device_tell_note(
            device, "note",
            arena_printf(arena, "%s.ptx: it failed on the device: %s", r->path, error_text));
    for (uint32_t i = 0; i < r->memory_count && !error && !why; i++) {
        const char *line = keep_result(device, r->memory[i], &why);
        if (line)
            text_format(&text, "%s", line);
    }
    text_format(&text, "%s", r->text);
    if (!why)
        output_write(arena_printf(arena, "%s.ptx", r->path), text.bytes, strlen(text.bytes), &why);
    if (why)
        device_tell_note(device, "note", why);
    *r = (struct device_recorded){.path = NULL};
}
