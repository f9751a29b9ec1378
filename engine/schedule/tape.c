#include "engine/schedule/tape.h"

#include <stdio.h>
#include <string.h>

/* More choices than any budget of a single execution asks for; keeps `3*4000000000` out. */
enum { TAPE_PARSE_MAX = 1 << 24 };

struct tape *tape_new(struct arena *arena, uint32_t capacity)
{
    struct tape *tape = ARENA_NEW(arena, struct tape);
    tape->entries = ARENA_ARRAY(arena, uint32_t, capacity);
    tape->capacity = capacity;
    return tape;
}

uint32_t tape_context_switches(const struct tape *tape)
{
    uint32_t switches = 0, last = TAPE_INNER;
    for (uint32_t i = 0; i < tape->count; i++) {
        uint32_t entry = tape->entries[i];
        if (entry & TAPE_INNER)
            continue;
        switches += last != TAPE_INNER && entry != last;
        last = entry;
    }
    return switches;
}

static uint32_t run_length(const struct tape *tape, uint32_t at)
{
    uint32_t end = at + 1;
    if (!(tape->entries[at] & TAPE_INNER))
        while (end < tape->count && tape->entries[end] == tape->entries[at])
            end++;
    return end - at;
}

/* `room` bytes at `to`, which may be none: returns the length that the word has. */
static size_t print_word(char *to, size_t room, const char *separator, uint32_t entry, uint32_t run)
{
    const char *mark = entry & TAPE_INNER ? "!" : "";
    uint32_t number = entry & ~(uint32_t)TAPE_INNER;
    int length = run > 1 ? snprintf(to, room, "%s%s%u*%u", separator, mark, number, run)
                         : snprintf(to, room, "%s%s%u", separator, mark, number);
    return (size_t)length;
}

static size_t print_all(char *to, size_t room, const struct tape *tape)
{
    size_t length = 0;
    for (uint32_t at = 0, run; at < tape->count; at += run) {
        run = run_length(tape, at);
        length += print_word(room ? to + length : NULL, room ? room - length : 0, at ? " " : "",
                             tape->entries[at], run);
    }
    return length;
}

char *tape_print(struct arena *arena, const struct tape *tape)
{
    size_t length = print_all(NULL, 0, tape);
    char *text = arena_alloc(arena, length + 1, 1);
    print_all(text, length + 1, tape);
    return text;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Digits at *text to *value, which stays below `limit`. */
static bool parse_number(const char **text, uint32_t limit, uint32_t *value)
{
    const char *at = *text;
    uint32_t number = 0;
    while (*at >= '0' && *at <= '9') {
        number = number * 10 + (uint32_t)(*at - '0');
        if (number >= limit)
            return false;
        at++;
    }
    bool any = at != *text;
    *text = at;
    *value = number;
    return any;
}

/* One word: an entry and how often. On failure *text stands where it went wrong. */
static bool parse_word(const char **text, uint32_t *entry, uint32_t *repeat)
{
    bool inner = **text == '!';
    *text += inner;
    *repeat = 1;
    const uint32_t limit = 1u << 28; /* ten times it still fits 32 bits */
    if (!parse_number(text, limit, entry))
        return false;
    if (inner)
        *entry |= TAPE_INNER;
    if (!inner && **text == '*') {
        ++*text;
        if (!parse_number(text, TAPE_PARSE_MAX, repeat) || *repeat == 0)
            return false;
    }
    return **text == '\0' || is_space(**text);
}

/* Into `tape`, or only counted when it is NULL. NULL, or where the text is wrong. */
static const char *parse_all(const char *text, struct tape *tape, uint32_t *count)
{
    *count = 0;
    for (;;) {
        while (is_space(*text))
            text++;
        if (*text == '\0')
            return NULL;
        uint32_t entry, repeat;
        if (!parse_word(&text, &entry, &repeat) || repeat > TAPE_PARSE_MAX - *count)
            return text;
        *count += repeat;
        for (uint32_t i = 0; tape && i < repeat; i++)
            tape_add(tape, entry);
    }
}

struct tape *tape_parse(struct arena *arena, const char *text, size_t *error_column)
{
    uint32_t count;
    const char *wrong = parse_all(text, NULL, &count);
    if (wrong) {
        *error_column = (size_t)(wrong - text) + 1;
        return NULL;
    }
    struct tape *tape = tape_new(arena, count);
    parse_all(text, tape, &count);
    return tape;
}
