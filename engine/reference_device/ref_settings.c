/*
 * ref_settings.c - settings of a device by their words, and what the profiles set: the tables of docs/host.md.
 */
#include "engine/reference_device/ref_device.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SC, PRINTED, LLH, COHERENT, PROFILES };
static const char *const profiles[PROFILES] = {"sc", "printed", "llh", "coherent"};

/* `word` sets it, `other` takes it back; the profiles that set it. */
static const struct {
    const char *name, *other, *word;
    size_t field;
    bool set[PROFILES];
} choices[] = {
#define CHOICE(name, other, word, field, ...)                                                      \
    {                                                                                              \
        name, other, word, offsetof(struct ref_settings, field), __VA_ARGS__                       \
    }
    CHOICE("memory", "", "", inflight, {0, 1, 1, 1}), /* of three words */
    CHOICE("", "", "", cached, {0, 0, 0, 0}),
    CHOICE("drain", "none", "block", drain, {1, 0, 0, 1}),
    CHOICE("flush", "silent", "start", flush, {1, 0, 0, 1}),
    CHOICE("order", "any", "stream", order_stream, {1, 0, 0, 1}),
    CHOICE("occupancy", "context", "device", device_wide, {1, 0, 0, 1}),
    CHOICE("switch", "free", "sticky", sticky, {0, 0, 0, 0}),
    CHOICE("ends", "keep", "drain", ends_drain, {1, 0, 0, 1}),
    CHOICE("flags", "kept", "reset", reset_flags, {0, 0, 0, 0}),
    CHOICE("frozen", "no", "yes", frozen, {0, 1, 1, 0}),
    CHOICE("pick", "lowest", "any", pick_any, {0, 1, 1, 0}),
    CHOICE("residency", "kept", "crowded", crowded, {0, 0, 0, 0}),
    /* of profiles alone */
    CHOICE("", "", "", loads_free, {0, 0, 1, 0}),
    CHOICE("", "", "", in_order, {0, 0, 1, 1}),
    CHOICE("", "", "", fenced_barriers, {0, 0, 0, 1}),
};

static const struct {
    const char *name;
    size_t field;
    uint32_t usual;
} numbers[] = {
#define NUMBER(name, usual)                                                                        \
    {                                                                                              \
#name, offsetof(struct ref_settings, name), usual                                          \
    }
    NUMBER(sms, 2),         NUMBER(blocks, 4), NUMBER(threads, 2048), NUMBER(registers, 65536),
    NUMBER(shared, 102400), NUMBER(grids, 16), NUMBER(lines, 4),      NUMBER(words, 1),
};

enum { CHOICES = sizeof choices / sizeof *choices, NUMBERS = sizeof numbers / sizeof *numbers };

static bool *choice_of(struct ref_settings *s, uint32_t i)
{
    return (bool *)(void *)((char *)s + choices[i].field);
}

static uint32_t *number_of(struct ref_settings *s, uint32_t i)
{
    return (uint32_t *)(void *)((char *)s + numbers[i].field);
}

static void set_profile(struct ref_settings *s, uint32_t profile)
{
    for (uint32_t i = 0; i < CHOICES; i++)
        *choice_of(s, i) = choices[i].set[profile];
}

static bool is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

static bool set_one(struct ref_settings *s, const char *at, size_t length)
{
    size_t name = strcspn(at, "= ");
    for (uint32_t p = 0; p < PROFILES; p++)
        if (is(at, length, profiles[p])) {
            set_profile(s, p);
            return true;
        }
    if (name == 0 || name >= length)
        return false;
    const char *value = at + name + 1;
    size_t rest = length - name - 1;
    if (is(at, name, "memory")) {
        s->cached = is(value, rest, "caches");
        s->inflight = s->cached || is(value, rest, "inflight");
        return s->inflight || is(value, rest, "sc");
    }
    for (uint32_t i = 0; i < CHOICES; i++)
        if (is(at, name, choices[i].name)) {
            *choice_of(s, i) = is(value, rest, choices[i].word);
            return is(value, rest, choices[i].word) || is(value, rest, choices[i].other);
        }
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (is(at, name, numbers[i].name)) {
            *number_of(s, i) = (uint32_t)strtoul(value, NULL, 10);
            return true;
        }
    return false;
}

bool ref_settings_read(const char *words, struct ref_settings *settings)
{
    *settings = (struct ref_settings){.sms = 0};
    set_profile(settings, SC);
    for (uint32_t i = 0; i < NUMBERS; i++)
        *number_of(settings, i) = numbers[i].usual;
    for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
        size_t length = strcspn(words, " ");
        if (!set_one(settings, words, length))
            return false;
        words += length;
    }
    return true;
}

const char *ref_settings_differ(const struct ref_settings *a, const struct ref_settings *b)
{
    struct ref_settings x = *a, y = *b;
    for (uint32_t i = 0; i < CHOICES; i++)
        if (*choice_of(&x, i) != *choice_of(&y, i))
            return *choices[i].name ? choices[i].name : "caches, or what a profile keeps in order";
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (*number_of(&x, i) != *number_of(&y, i))
            return numbers[i].name;
    return NULL;
}
