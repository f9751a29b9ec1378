/*
 * Launches kept as cases: the module with its settings, and global memory as it was before, a file a buffer.
 */
#include "engine/base/text.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/exec/device.h"
#include "fuzz/out/output.h"

#include <errno.h>
#include <string.h>

struct capture {
    struct arena *arena;
    const char *path; /* DIR/launch-N */
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The region of a memory: setting; NULL: a variable of constants. */
static const struct ptx_region *region_of(const struct launch *launch, const char *name)
{
    const struct ptx_regions *regions = &launch->program->ptx->global;
    for (uint32_t i = 0; i < regions->count; i++)
        if (strcmp(regions->items[i].name, name) == 0)
            return &regions->items[i];
    return NULL;
}

struct capture *capture_start(struct device *device, struct arena *arena, struct launch *launch,
                              const char **why)
{
    struct capture *capture = ARENA_NEW(arena, struct capture);
    capture->arena = arena;
    capture->path =
        arena_printf(arena, "%s/launch-%u", device->options->capture, device->report->launches);
    for (struct ptx_bind *m = launch->kernel->ptx->memory; m; m = m->next) {
        const struct ptx_region *region = region_of(launch, m->parameter);
        const char *bytes = region ? launch_bytes(launch, region) : (const char *)m->data;
        const char *path = arena_printf(arena, "%s.%s.bin", capture->path, m->parameter);
        if (!bytes || !output_write(path, bytes, m->bytes, why))
            return NULL;
        m->text = arena_printf(arena, "0x%llx:%u:file:%s", (unsigned long long)m->address, m->bytes,
                               file_name(path));
    }
    return capture;
}

static bool write_case(const struct capture *capture, const char *text, const char **why)
{
    const char *path = arena_printf(capture->arena, "%s.ptx", capture->path);
    return output_write(path, text, strlen(text), why);
}

bool capture_end(const struct capture *capture, struct launch *launch, const char **why)
{
    struct ast_kernel *kernel = launch->kernel;
    uint64_t first = launch->blocks_done, most = launch->blocks;
    /* All blocks, or those that ended the launch, or the first ones. */
    if (most > LIMIT_BLOCKS)
        most = launch->program->launch.blocks;
    if (launch->blocks <= LIMIT_BLOCKS || launch->status == STATUS_TERMINATED)
        first = 0;
    if (first + most > launch->blocks)
        most = launch->blocks - first;
    kernel->ptx->first_block = (uint32_t)first;
    kernel->ptx->window = most == launch->blocks ? 0 : (uint32_t)most;
    kernel->launch.blocks = (uint32_t)most;
    return write_case(capture, ptx_kernel_print(capture->arena, kernel), why);
}

bool capture_recorded(const struct capture *capture, struct device *device, struct launch *launch,
                      uint32_t module, const char **why)
{
    struct ast_kernel *kernel = launch->kernel;
    kernel->ptx->first_block = kernel->ptx->window = 0;
    kernel->launch.blocks = (uint32_t)launch->blocks;
    const char *text = ptx_kernel_print(capture->arena, kernel);
    device_record_start(device, capture->path, kernel, module, text);
    return write_case(capture, text, why);
}
