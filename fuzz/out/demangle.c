#include "fuzz/out/demangle.h"

#include "engine/base/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *mangled, char *buffer, size_t *length, int *status);

static demangler *find_demangler(void)
{
    static bool looked;
    static void *found;
    if (!looked) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        found = library ? dlsym(library, "__cxa_demangle") : NULL;
        looked = true;
    }
    demangler *function;
    memcpy(&function, &found, sizeof function);
    return function;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* A name of so many characters. A parameter of an entry is the entry's name with _param_N. */
static const char *demangle_name(struct arena *arena, demangler *demangle, const char *name,
                                 size_t length)
{
    char *copy = arena_printf(arena, "%.*s", (int)length, name);
    char *tail = strstr(copy, "_param_");
    int status = 0;
    if (tail)
        *tail = '\0';
    char *plain = demangle(copy, NULL, NULL, &status);
    const char *text = status == 0 && plain ? arena_printf(arena, "%s%.*s", plain,
                                                           tail ? (int)(length - strlen(copy)) : 0,
                                                           name + strlen(copy))
                                            : arena_printf(arena, "%.*s", (int)length, name);
    free(plain);
    return text;
}

const char *demangle_text(struct arena *arena, const char *text)
{
    demangler *demangle = strstr(text, "_Z") ? find_demangler() : NULL;
    struct text out = {.arena = arena};
    if (!demangle)
        return text;
    while (*text) {
        size_t length = 0;
        while (is_name(text[length]))
            length++;
        if (length == 0)
            text_put(&out, arena_printf(arena, "%c", *text++));
        else if (strncmp(text, "_Z", 2) == 0)
            text_put(&out, demangle_name(arena, demangle, text, length));
        else
            text_put(&out, arena_printf(arena, "%.*s", (int)length, text));
        text += length;
    }
    return out.bytes ? out.bytes : "";
}

const char *demangle_within(struct arena *arena, const char *text, const char *kernel)
{
    const char *plain = demangle_text(arena, text), *name = demangle_text(arena, kernel);
    struct text out = text_begin(arena);
    const size_t length = strlen(name);
    char before = ' ';
    if (plain == text || length == 0)
        return plain;
    while (*plain) {
        bool begins = !is_name(before) && strncmp(plain, name, length) == 0;
        before = *plain;
        if (begins && strncmp(plain + length, "::", 2) == 0)
            plain += length + 2;
        else if (begins && strncmp(plain + length, "_param_", 7) == 0)
            plain += length + 1;
        else
            text_put_bytes(&out, plain++, 1);
    }
    return out.bytes;
}
