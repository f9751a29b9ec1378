/*
 * Where the host launched a kernel: names from the loader, and from addr2line where it is installed and the program has
 * debugging information.
 */
#include "fuzz/base/process.h"
#include "fuzz/exec/device.h"
#include "fuzz/out/demangle.h"

#include <string.h>
#include <unistd.h>

enum { FRAMES_SHOWN = 4, LOOKING_UP_MS = 5000 };

static const char addr2line[] = "/usr/bin/addr2line";

struct host_frame {
    const char *function, *place; /* "main", "/home/u/sum.cu:31"; NULL: not known */
};

/* Two lines an address: the function, and the place. The address before a return address is in the call. */
static void look_up(struct arena *arena, const struct device *device, const uint64_t *offsets,
                    uint32_t count, struct host_frame *frames)
{
    char names[] = "-C", functions[] = "-f", of[] = "-e";
    char *arguments[FRAMES_SHOWN + 6] = {(char *)(uintptr_t)addr2line, names, functions, of,
                                         (char *)(uintptr_t)device->program};
    if (count == 0 || access(addr2line, X_OK) != 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        arguments[5 + i] = arena_printf(arena, "0x%llx", (unsigned long long)(offsets[i] - 1));
    struct process_result result =
        process_run(arena, device->options->scratch, arguments, LOOKING_UP_MS);
    const char *text = result.started && result.status == 0 && result.output ? result.output : "";
    for (uint32_t i = 0; i < 2 * count && *text; i++) {
        size_t length = strcspn(text, "\n");
        size_t used = strcspn(text, "\n("); /* behind it: (discriminator 4) */
        while (used > 0 && text[used - 1] == ' ')
            used--;
        const char *line = arena_strndup(arena, text, used);
        if (line[0] != '?' && !strstr(line, ":?") && !strstr(line, ":0")) {
            if (i % 2 == 0)
                frames[i / 2].function = line;
            else
                frames[i / 2].place = line;
        }
        text += length + (text[length] == '\n');
    }
}

/* nvcc makes two functions of a kernel for the host: itself, which calls a stub. */
static bool is_stub(const char *function, const char *kernel)
{
    size_t length = strcspn(kernel, "(");
    return strncmp(function, "__device_stub", 13) == 0 ||
           strncmp(function, "__wrapper__", 11) == 0 || strstr(function, "cudaLaunchKernel") ||
           strstr(function, "device_stub") ||
           (strncmp(function, kernel, length) == 0 &&
            (function[length] == '(' || function[length] == '\0'));
}

/* The runtime's own headers have templates of its functions. */
static bool is_wrapper(const char *place)
{
    const char *slash = place ? strrchr(place, '/') : NULL;
    return slash && strncmp(slash, "/cuda_runtime", 13) == 0;
}

static bool is_start(const char *function)
{
    return strcmp(function, "_start") == 0 || strncmp(function, "__libc_start", 12) == 0;
}

const char *host_stack(struct arena *arena, const struct device *device,
                       const struct device_stack *stack, const char *kernel, const char **source)
{
    struct host_frame frames[DEVICE_FRAMES] = {{NULL, NULL}};
    uint64_t offsets[FRAMES_SHOWN + 4];
    uint32_t where[FRAMES_SHOWN + 4], asked = 0;
    struct host_frame found[FRAMES_SHOWN + 4] = {{NULL, NULL}};
    const uint32_t count = stack->count < DEVICE_FRAMES ? stack->count : DEVICE_FRAMES;
    for (uint32_t i = 0; i < count; i++) {
        if (stack->frames[i].name[0])
            frames[i].function = demangle_text(arena, stack->frames[i].name);
        if (stack->frames[i].offset && asked < FRAMES_SHOWN) {
            where[asked] = i;
            offsets[asked++] = stack->frames[i].offset;
        }
    }
    look_up(arena, device, offsets, asked, found);
    for (uint32_t i = 0; i < asked; i++) {
        frames[where[i]].place = found[i].place;
        if (found[i].function)
            frames[where[i]].function = found[i].function;
    }
    const char *text = NULL;
    if (source)
        *source = NULL;
    for (uint32_t i = 0, shown = 0; i < count && shown < FRAMES_SHOWN; i++) {
        const struct host_frame *f = &frames[i];
        if (!f->function || is_stub(f->function, kernel) || is_wrapper(f->place))
            continue;
        if (is_start(f->function))
            break;
        if (source && !*source)
            *source = f->place;
        const char *slash = f->place ? strrchr(f->place, '/') : NULL;
        const char *place = slash ? slash + 1 : f->place;
        text = arena_printf(arena, "%s%s%.*s%s%s%s", text ? text : "", text ? ", called by " : "",
                            (int)strcspn(f->function, "("), f->function, place ? " (" : "",
                            place ? place : "", place ? ")" : "");
        shown++;
    }
    return text;
}
