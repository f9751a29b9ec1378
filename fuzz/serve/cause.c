#include "fuzz/serve/cause.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

const char cause_none[] = "no message";

enum { CAUSE_MAX = 120 };

/* Most telling first. What stands behind the marker, to the end of its line or to `end`, is the cause. */
static const struct marker {
    const char *text, *end;
    bool crash;
} markers[] = {
    {"Assertion `", "'", true},
    {"Assertion failed: ", "\n", true},
    {"UNREACHABLE executed", "\n", true},
    {"LLVM ERROR: ", "\n", true},
    {"fatal error: error in backend: ", "\n", true},
    {"Instruction does not dominate all uses", "\n", true},
    {"Broken module found", "\n", true},
    {"PLEASE submit a bug report", NULL, true},
    {"Stack dump:", NULL, true},
    {"ERROR: ", "\n", false}, /* glslang */
    {"error: ", "\n", false},
    {"error", "\n", false},
};

enum { MARKERS = sizeof markers / sizeof markers[0] };

/* Numbers, addresses and names of ours are the same in no two cases. */
static const char *normalised(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_strndup(arena, text, length < CAUSE_MAX ? length : CAUSE_MAX);
    char *to = copy;
    for (const char *from = copy; *from; from++) {
        bool digit = isdigit((unsigned char)*from) != 0;
        if (digit && to > copy && to[-1] == '#')
            continue;
        *to++ = digit ? '#' : *from == '|' ? '/' : *from;
    }
    *to = '\0';
    return copy;
}

/* Frames that say nothing: who prints the stack, and who was told of the fault. */
static bool is_own_frame(const char *name, size_t length)
{
    static const char *const others[] = {
        "PrintStackTrace", "RunSignalHandlers", "SignalHandler", "abort",
        "raise",           "gsignal",           "__assert",      "report_fatal"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t most = strlen(others[i]);
        for (size_t at = 0; at + most <= length; at++)
            if (strncmp(name + at, others[i], most) == 0)
                return false;
    }
    return true;
}

/* " #7 0x00007f.. llvm::Foo::bar(..) file": the first that has a name of the implementation's own. */
static const char *top_frame(struct arena *arena, const char *log)
{
    for (const char *at = strstr(log, "#"); at; at = strstr(at + 1, "#")) {
        const char *address = strstr(at, "0x");
        if (!address || address > at + 6 || !isdigit((unsigned char)at[1]))
            continue;
        const char *name = address + strcspn(address, " \n");
        if (*name != ' ' || name[1] == '/' || name[1] == '(')
            continue;
        size_t length = strcspn(++name, "(\n");
        if (is_own_frame(name, length))
            return normalised(arena, name, length);
    }
    return NULL;
}

bool cause_is_crash(const char *log)
{
    for (uint32_t i = 0; i < MARKERS; i++)
        if (markers[i].crash && strstr(log, markers[i].text))
            return true;
    return false;
}

const char *cause_of_log(struct arena *arena, const char *log)
{
    const char *frame = cause_is_crash(log) ? top_frame(arena, log) : NULL;
    for (uint32_t i = 0; i < MARKERS; i++) {
        const char *at = strstr(log, markers[i].text);
        if (!at)
            continue;
        if (!markers[i].end)
            return frame ? frame : markers[i].text;
        const char *start = at + strlen(markers[i].text);
        size_t length = strcspn(start, markers[i].end);
        if (length > 0)
            return normalised(arena, start, length);
    }
    return cause_none;
}
