#include "fuzz/outside/subject.h"

#include "fuzz/outside/compiler.h"
#include "fuzz/outside/served.h"

#include <string.h>

const char *const outside_end_names[OUTSIDE_END_COUNT] = {
    "final", "crash", "hang", "compile-error", "run-error", "unsupported"};

const struct outside_kind *const outside_kinds[] = {&outside_compiler, &outside_opencl,
                                                    &outside_vulkan,   &outside_webgpu,
                                                    &outside_cuda,     &outside_exec};
const uint32_t outside_kind_count = sizeof outside_kinds / sizeof outside_kinds[0];

struct outside_subject *outside_open(struct arena *arena, const char *name, const char **reason)
{
    for (uint32_t i = 0; i < outside_kind_count; i++) {
        const struct outside_kind *kind = outside_kinds[i];
        size_t length = strlen(kind->name);
        if (strncmp(name, kind->name, length) != 0 || (name[length] && name[length] != ':'))
            continue;
        struct outside_subject *subject =
            kind->open(arena, name[length] ? name + length + 1 : "", reason);
        if (subject) {
            subject->kind = kind;
            subject->name = name;
        }
        return subject;
    }
    *reason = "there is no such kind of implementation (simtfuzz subjects --outside lists them)";
    return NULL;
}
