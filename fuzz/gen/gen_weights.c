#include "fuzz/gen/gen_weights.h"

#include "fuzz/gen/generator.h"

#include <inttypes.h>
#include <string.h>

/* The largest weight of a group: shuffle_weights makes 32 times as much of it, in 16 bits. */
enum { SCALED_MAX = 2000, NAME_MAX = 48 };

struct gen_weights {
    uint16_t features[FEATURE_COUNT], rows[W_COUNT]; /* per cent */
};

static const char *const feature_names[FEATURE_COUNT] = {
#define FEATURE(id, name, group_default, sentence) [FEATURE_##id] = name,
#include "fuzz/gen/features.def"
};

struct gen_weights *gen_weights_new(struct arena *arena)
{
    struct gen_weights *weights = ARENA_NEW(arena, struct gen_weights);
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        weights->features[i] = 100;
    for (uint32_t i = 0; i < W_COUNT; i++)
        weights->rows[i] = 100;
    return weights;
}

struct gen_weights *gen_weights_copy(struct arena *arena, const struct gen_weights *weights)
{
    struct gen_weights *copy = ARENA_NEW(arena, struct gen_weights);
    *copy = *weights;
    return copy;
}

/* "STM FUNCTION_RETURN" is "stm.function-return". */
static void row_name(uint32_t row, char name[static NAME_MAX])
{
    size_t i = 0;
    for (const char *at = gen_rows[row].name; *at && i + 1 < NAME_MAX; at++, i++)
        name[i] = (char)(*at == ' '                 ? '.'
                         : *at == '_'               ? '-'
                         : *at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a'
                                                    : *at);
    name[i] = '\0';
}

static bool is_named(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool gen_weights_set(struct gen_weights *weights, const char *name, size_t length, uint64_t percent)
{
    if (percent == 0 || percent > GEN_WEIGHT_MAX)
        return false;
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        if (is_named(feature_names[i], name, length)) {
            weights->features[i] = (uint16_t)percent;
            return true;
        }
    for (uint32_t i = 0; i < W_COUNT; i++) {
        char own[NAME_MAX];
        row_name(i, own);
        if (is_named(own, name, length)) {
            weights->rows[i] = (uint16_t)percent;
            return true;
        }
    }
    return false;
}

uint32_t gen_weights_percent(const char *text, size_t length)
{
    uint32_t percent = 0;
    if (length > 0 && text[length - 1] == '%')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        percent = percent * 10 + (uint32_t)(text[i] - '0');
        if (percent > GEN_WEIGHT_MAX)
            return 0;
    }
    return percent;
}

/* ---- lists ---- */

const char *gen_weight_name(struct arena *arena, uint32_t index)
{
    char name[NAME_MAX];
    if (index < FEATURE_COUNT)
        return feature_names[index];
    if (index >= FEATURE_COUNT + W_COUNT)
        return NULL;
    row_name(index - FEATURE_COUNT, name);
    return arena_strndup(arena, name, strlen(name));
}

uint32_t gen_weight_percent(const struct gen_weights *weights, uint32_t index)
{
    if (!weights)
        return 100;
    return index < FEATURE_COUNT ? weights->features[index] : weights->rows[index - FEATURE_COUNT];
}

uint32_t gen_weight_default(uint32_t index)
{
    return index < FEATURE_COUNT ? 0 : gen_rows[index - FEATURE_COUNT].weight;
}

char *gen_weights_print(struct arena *arena, const struct gen_weights *weights)
{
    char *text = arena_strndup(arena, "", 0);
    for (uint32_t i = 0; weights && i < FEATURE_COUNT + W_COUNT; i++)
        if (gen_weight_percent(weights, i) != 100)
            text = arena_printf(arena, "%s%s%s:%" PRIu32, text, *text ? "," : "",
                                gen_weight_name(arena, i), gen_weight_percent(weights, i));
    return text;
}

bool gen_weights_parse(struct arena *arena, const char *text, const struct gen_weights **weights,
                       const char **error_at)
{
    struct gen_weights *own = gen_weights_new(arena);
    *weights = *text ? own : NULL;
    while (*text) {
        size_t length = strcspn(text, ","), name = strcspn(text, ":,");
        *error_at = text;
        if (name == length ||
            !gen_weights_set(own, text, name,
                             gen_weights_percent(text + name + 1, length - name - 1)))
            return false;
        text += length;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return true;
}

/* ---- for the generator ---- */

static uint64_t scaled(const struct gen_weights *weights, uint32_t row, bool small)
{
    uint32_t weight = small ? gen_rows[row].small : gen_rows[row].weight;
    uint32_t feature = gen_rows[row].feature;
    uint32_t percent = feature == FEATURE_ALWAYS ? 100 : weights->features[feature];
    return (uint64_t)weight * percent * weights->rows[row];
}

void gen_scale_weights(const struct gen_weights *weights, bool small, uint16_t *scaled_weights)
{
    for (uint32_t first = 0, end; first < W_COUNT; first = end) {
        uint64_t most = 0;
        bool changed = false;
        for (end = first; end < W_COUNT && gen_rows[end].group == gen_rows[first].group; end++) {
            uint64_t weight = scaled(weights, end, small);
            most = weight > most ? weight : most;
            changed |=
                weight != (uint64_t)10000 * (small ? gen_rows[end].small : gen_rows[end].weight);
        }
        /* Groups that nothing was said about keep their numbers: what is drawn from them stays the same. */
        for (uint32_t i = first; changed && i < end; i++) {
            uint64_t weight = scaled(weights, i, small) * SCALED_MAX / most;
            if (scaled_weights[i] > 0)
                scaled_weights[i] = (uint16_t)(weight > 0 ? weight : 1);
        }
    }
}
