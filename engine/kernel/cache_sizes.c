#include "engine/kernel/cache_sizes.h"

#include <string.h>

const char *const cache_setting_names[CACHE_SETTINGS] = {"lines", "words", "sets", "sms", "policy"};

static const char *const policies[POLICY_COUNT] = {
    [POLICY_ANY] = "any", [POLICY_FIRST] = "first", [POLICY_LOWEST] = "lowest"};

enum { LINES, WORDS, SETS, SMS, POLICY, LINES_MOST = 1024, WORDS_MOST = 8, SMS_MOST = 64 };

static uint32_t *field(struct cache_sizes *s, uint32_t setting)
{
    uint32_t *const fields[CACHE_SETTINGS] = {&s->lines, &s->words, &s->sets, &s->sms, &s->policy};
    return fields[setting];
}

/* 0: no number, or more than `most`. */
static uint32_t number_of(const char *text, size_t length, uint32_t most)
{
    uint32_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        value = 10 * value + (uint32_t)(text[i] - '0');
        if (value > most)
            return 0;
    }
    return value;
}

const char *cache_sizes_put(struct cache_sizes *sizes, uint32_t setting, const char *value,
                            size_t length)
{
    static const uint32_t most[CACHE_SETTINGS] = {LINES_MOST, WORDS_MOST, LINES_MOST, SMS_MOST, 0};
    static const char *const wrong[CACHE_SETTINGS] = {
        "'lines' of a cache must be 1 to 1024", "'words' of a cache line must be 1, 2, 4 or 8",
        "'sets' of a cache must be 1 to 1024", "'sms' must be 1 to 64",
        "'policy' of a cache must be any, first or lowest"};
    static const char *const twice[CACHE_SETTINGS] = {
        "'lines' is given twice", "'words' is given twice", "'sets' is given twice",
        "'sms' is given twice", "'policy' is given twice"};
    if (*field(sizes, setting))
        return twice[setting];
    uint32_t number = setting == POLICY ? 0 : number_of(value, length, most[setting]);
    for (uint32_t i = 0; setting == POLICY && i < POLICY_COUNT; i++)
        if (strlen(policies[i]) == length && memcmp(policies[i], value, length) == 0)
            number = 1 + i;
    if (number == 0 || (setting == WORDS && (number & (number - 1))))
        return wrong[setting];
    *field(sizes, setting) = number;
    return NULL;
}

static uint32_t setting_at(const char *text, size_t length)
{
    uint32_t i = 0;
    while (i < CACHE_SETTINGS && (strlen(cache_setting_names[i]) != length ||
                                  memcmp(cache_setting_names[i], text, length) != 0))
        i++;
    return i;
}

const char *cache_sizes_read(struct arena *arena, struct cache_sizes *sizes, const char *text)
{
    enum { SHOWN = 24 };
    struct cache_sizes given = {0};
    for (bool more = true; more;) {
        size_t length = strcspn(text, ","), key = strcspn(text, "=,");
        uint32_t setting = setting_at(text, key);
        if (setting == CACHE_SETTINGS || key == length)
            return arena_printf(
                arena, "caches have lines=N, words=N, sets=N, sms=N, policy=NAME, not '%.*s'",
                (int)(length > SHOWN ? SHOWN : length), text);
        const char *wrong = cache_sizes_put(&given, setting, text + key + 1, length - key - 1);
        if (wrong)
            return wrong;
        more = text[length] == ',';
        text += length + more;
    }
    cache_sizes_override(sizes, &given);
    return cache_sizes_wrong(sizes);
}

const char *cache_sizes_wrong(const struct cache_sizes *sizes)
{
    bool divides = sizes->sets <= 1 || (sizes->lines > 0 && sizes->lines % sizes->sets == 0);
    return divides ? NULL : "'sets' of a cache must divide its 'lines', which must be given";
}

void cache_sizes_override(struct cache_sizes *sizes, const struct cache_sizes *over)
{
    struct cache_sizes from = *over;
    for (uint32_t i = 0; i < CACHE_SETTINGS; i++)
        if (*field(&from, i))
            *field(sizes, i) = *field(&from, i);
}

const char *cache_sizes_print(struct arena *arena, const struct cache_sizes *sizes,
                              const char *between)
{
    struct cache_sizes s = *sizes;
    const char *text = "";
    for (uint32_t i = 0; i < CACHE_SETTINGS; i++) {
        uint32_t value = *field(&s, i);
        const char *before = *text ? between : "";
        if (value && i == POLICY)
            text = arena_printf(arena, "%s%spolicy=%s", text, before, policies[value - 1]);
        else if (value)
            text = arena_printf(arena, "%s%s%s=%u", text, before, cache_setting_names[i],
                                (unsigned)value);
    }
    return text;
}
