/*
 * knobs.c - ways to say the same: their names, and which a case has.
 */
#include "engine/emit/emit.h"

#include "engine/base/pcg.h"

#include <string.h>

const char *const emit_knob_names[EMIT_KNOB_COUNT] = {
#define KNOB(id, name, percent, sentence) name,
#include "engine/emit/knobs.def"
#undef KNOB
};

const char *const emit_knob_sentences[EMIT_KNOB_COUNT] = {
#define KNOB(id, name, percent, sentence) sentence,
#include "engine/emit/knobs.def"
#undef KNOB
};

static const uint8_t percents[EMIT_KNOB_COUNT] = {
#define KNOB(id, name, percent, sentence) percent,
#include "engine/emit/knobs.def"
#undef KNOB
};

uint32_t emit_draw_knobs(uint64_t seed, uint64_t number)
{
    struct pcg rng = pcg_derive(seed, PCG_KNOBS, number);
    uint32_t knobs = 0;
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT; i++)
        if (pcg_below(&rng, 100) < percents[i])
            knobs |= 1u << i;
    return knobs;
}

char *emit_print_knobs(struct arena *arena, uint32_t knobs)
{
    char *text = arena_printf(arena, "%s", knobs ? "" : "none");
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT; i++)
        if (knobs >> i & 1u)
            text = arena_printf(arena, "%s%s%s", text, *text ? "," : "", emit_knob_names[i]);
    return text;
}

static bool parse_knob(const char *text, size_t length, uint32_t *knobs)
{
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT; i++)
        if (strlen(emit_knob_names[i]) == length && memcmp(emit_knob_names[i], text, length) == 0) {
            *knobs |= 1u << i;
            return true;
        }
    return length == 4 && memcmp(text, "none", 4) == 0;
}

bool emit_parse_knobs(const char *text, uint32_t *knobs, const char **error_at)
{
    *knobs = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!parse_knob(text, length, knobs)) {
            *error_at = text;
            return false;
        }
        if (!text[length])
            return true;
        text += length + 1;
    }
}
