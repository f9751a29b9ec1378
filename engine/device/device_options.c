/*
 * device_options.c - the settings of a device.
 */
#include "engine/device/device.h"

#include <stdlib.h>
#include <string.h>

const struct device_options DEVICE_SC = {
#define DEVICE_NUMBER(field, name, least, most, usual, what) .field = (usual),
#define DEVICE_CHOICE(field, name, words, printed, llh, coherent, sc, what) .field = (sc),
#include "engine/device/device_options.def"
#undef DEVICE_NUMBER
#undef DEVICE_CHOICE
};

enum { PROFILE_SC, PROFILE_PRINTED, PROFILE_LLH, PROFILE_COHERENT, PROFILES };
static const char *const profiles[PROFILES] = {"sc", "printed", "llh", "coherent"};

static void set_profile(struct device_options *o, int profile)
{
#define DEVICE_NUMBER(field, name, least, most, usual, what)
#define DEVICE_CHOICE(field, name, words, printed, llh, coherent, sc, what)                        \
    {                                                                                              \
        static const bool of[PROFILES] = {sc, printed, llh, coherent};                             \
        o->field = of[profile];                                                                    \
    }
#include "engine/device/device_options.def"
#undef DEVICE_NUMBER
#undef DEVICE_CHOICE
    o->loads_free = profile == PROFILE_LLH;
    o->poloc = profile == PROFILE_LLH || profile == PROFILE_COHERENT;
    o->before = profile == PROFILE_COHERENT;
    o->caches = false;
}

/* Which of two words, "no yes", this is; -1: neither. */
static int choice_of(const char *words, const char *word)
{
    const char *space = strchr(words, ' ');
    size_t length = strlen(word), first = (size_t)(space - words);
    if (length == first && memcmp(words, word, length) == 0)
        return 0;
    return strcmp(space + 1, word) == 0 ? 1 : -1;
}

static bool set_number(struct arena *arena, uint32_t *field, const char *name, const char *text,
                       uint32_t least, uint32_t most, const char **why)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || value < least || value > most) {
        *why = arena_printf(arena, "%s is a number from %u to %u, not `%.40s`", name,
                            (unsigned)least, (unsigned)most, text);
        return false;
    }
    *field = (uint32_t)value;
    return true;
}

static bool set_one(struct arena *arena, struct device_options *o, const char *name,
                    const char *value, const char **why)
{
#define DEVICE_NUMBER(field, its_name, least, most, usual, what)                                   \
    if (strcmp(name, its_name) == 0)                                                               \
        return set_number(arena, &o->field, name, value, least, most, why);
#define DEVICE_CHOICE(field, its_name, words, printed, llh, coherent, sc, what)                    \
    if (strcmp(name, its_name) == 0) {                                                             \
        int choice = choice_of(words, value);                                                      \
        *why = arena_printf(arena, "%s is one of `%s`, not `%.40s`", name, words, value);          \
        o->field = choice == 1;                                                                    \
        return choice >= 0;                                                                        \
    }
#include "engine/device/device_options.def"
#undef DEVICE_NUMBER
#undef DEVICE_CHOICE
    *why = arena_printf(arena, "a device has no setting `%.40s`", name);
    return false;
}

/* memory=caches is memory=inflight in another way: it has the profiles' words, too. */
static bool set_memory(struct arena *arena, struct device_options *o, const char *value,
                       const char **why)
{
    o->caches = strcmp(value, "caches") == 0;
    if (set_one(arena, o, "memory", o->caches ? "inflight" : value, why))
        return true;
    *why = arena_printf(arena, "memory is one of `sc inflight caches`, not `%.40s`", value);
    return false;
}

static bool set_word(struct arena *arena, struct device_options *o, const char *word,
                     const char **why)
{
    const char *equals = strchr(word, '=');
    for (int i = 0; i < PROFILES && !equals; i++)
        if (strcmp(word, profiles[i]) == 0) {
            set_profile(o, i);
            return true;
        }
    if (!equals) {
        *why = arena_printf(
            arena, "`%.40s` is no profile (sc, printed, llh, coherent) and no NAME=VALUE", word);
        return false;
    }
    const char *name = arena_strndup(arena, word, (size_t)(equals - word));
    if (strcmp(name, "memory") == 0)
        return set_memory(arena, o, equals + 1, why);
    return set_one(arena, o, name, equals + 1, why);
}

bool device_set(struct arena *arena, struct device_options *options, const char *text,
                const char **why)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        if (length > 0 && !set_word(arena, options, arena_strndup(arena, text, length), why))
            return false;
        text += length + (text[length] == ' ');
    }
    return true;
}
