/*
 * host_devices.c - the settings of a device: words that are drawn, up to the bounds of each number and one beyond;
 * and launches that just fit, or do not.
 */
#include "oracle/device/host_follow.h"
#include "oracle/device/host_tiny.h"

#include "engine/base/text.h"

#include <string.h>

/* docs/host.md, "The device". */
static const struct {
    const char *name;
    uint32_t least, most;
} numbers[] = {
    {"sms", 1, 64},         {"blocks", 1, 64}, {"threads", 1, 4096}, {"registers", 1, 1 << 24},
    {"shared", 0, 1 << 24}, {"grids", 1, 64},  {"lines", 1, 64},     {"words", 1, 8}};
static const char *const words[] = {"sc",
                                    "printed",
                                    "llh",
                                    "coherent",
                                    "memory=sc",
                                    "memory=inflight",
                                    "memory=caches",
                                    "drain=none",
                                    "drain=block",
                                    "flush=silent",
                                    "flush=start",
                                    "order=any",
                                    "order=stream",
                                    "occupancy=context",
                                    "occupancy=device",
                                    "switch=free",
                                    "switch=sticky",
                                    "ends=keep",
                                    "ends=drain",
                                    "flags=kept",
                                    "flags=reset",
                                    "frozen=no",
                                    "frozen=yes",
                                    "pick=lowest",
                                    "pick=any",
                                    "residency=kept",
                                    "residency=crowded"};
static const char *const wrong[] = {"SC",         "coherence",   "memory=cache", "drain=blocks",
                                    "drain",      "=1",          "sms=",         "sms=x",
                                    "sms=1x",     "order=",      "pick=highest", "sms",
                                    "flush=none", "switch=kept", "grid=1",       "words=-1"};
enum {
    NUMBERS = sizeof numbers / sizeof *numbers,
    WORDS = sizeof words / sizeof *words,
    WRONG = sizeof wrong / sizeof *wrong
};

/* The usual ones, the bounds, and what lies between. */
static uint32_t draw_number(struct pcg *rng, uint32_t i)
{
    const uint32_t span = numbers[i].most - numbers[i].least;
    uint32_t drawn = pcg_below(rng, 4);
    return numbers[i].least + (drawn == 0   ? 0
                               : drawn == 1 ? span
                               : drawn == 2 ? pcg_below(rng, span < 9 ? span + 1 : 9)
                                            : pcg_below(rng, span + 1));
}

static bool is_taken(struct arena *arena, const char *text)
{
    struct device_options options = DEVICE_SC;
    const char *why = NULL;
    bool taken = device_set(arena, &options, text, &why);
    return taken || !why;
}

/* One word that is none, or a number beyond its bound, among those that are some. */
static const char *with_mistake(struct arena *arena, struct pcg *rng, const char *text)
{
    uint32_t i = pcg_below(rng, NUMBERS);
    const char *mistake = wrong[pcg_below(rng, WRONG)];
    if (pcg_below(rng, 2))
        mistake =
            arena_printf(arena, "%s=%d", numbers[i].name,
                         (int)(pcg_below(rng, 2) ? numbers[i].most + 1 : numbers[i].least - 1));
    return pcg_below(rng, 2) ? arena_printf(arena, "%s %s", text, mistake)
                             : arena_printf(arena, "%s %s", mistake, text);
}

const char *host_settings_drawn_differ(struct arena *arena, struct pcg *rng)
{
    struct text text = text_begin(arena);
    for (uint32_t left = pcg_below(rng, 8); left > 0; left--) {
        text_put(&text, pcg_below(rng, 4) ? " " : "  ");
        if (pcg_below(rng, 2)) {
            uint32_t i = pcg_below(rng, NUMBERS);
            text_format(&text, "%s=%u", numbers[i].name, (unsigned)draw_number(rng, i));
        } else {
            text_put(&text, words[pcg_below(rng, WORDS)]);
        }
    }
    const char *differs = host_settings_differ(arena, text.bytes);
    if (differs)
        return arena_printf(arena, "%s: `%s`", differs, text.bytes);
    const char *mistaken = with_mistake(arena, rng, text.bytes);
    return is_taken(arena, mistaken)
               ? arena_printf(arena, "settings are taken that are none: `%s`", mistaken)
               : NULL;
}

/* ---- launches that just fit ---- */

/* What an SM must have for the largest block of each kind. */
struct need {
    uint32_t threads, registers, shared;
};

static struct need need_of(const struct device *device)
{
    struct need n = {1, 1, 0};
    for (uint32_t i = 0; i < device->grid_count; i++) {
        const struct device_grid *g = &device->grids[i];
        const uint32_t *block = device->program->statements[g->statement].block;
        uint32_t threads = block[0] * block[1] * block[2];
        n.threads = threads > n.threads ? threads : n.threads;
        n.registers = g->registers > n.registers ? g->registers : n.registers;
        n.shared = g->shared_bytes > n.shared ? g->shared_bytes : n.shared;
    }
    return n;
}

/* NULL: it is made; else what is said. */
static const char *refusal_of(struct arena *arena, const struct host_program *program,
                              const char *settings, struct need n)
{
    struct device_options options = DEVICE_SC;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *why,
        *room = arena_printf(arena, "threads=%u registers=%u shared=%u", (unsigned)n.threads,
                             (unsigned)n.registers, (unsigned)n.shared);
    diag_init(diag, "", NULL, 0);
    if (!device_set(arena, &options, settings, &why) || !device_set(arena, &options, room, &why))
        return why;
    return device_new(arena, program, &options, diag) ? NULL : diag->entries[0].text;
}

const char *host_room_differs(struct arena *arena, const struct device *device,
                              const char *settings, uint64_t seed)
{
    const struct need n = need_of(device);
    const struct need less[] = {{n.threads - 1, n.registers, n.shared},
                                {n.threads, n.registers - 1, n.shared},
                                {n.threads, n.registers, n.shared - 1}};
    const uint32_t most[] = {n.threads, n.registers, n.shared}, which = (uint32_t)(seed % 3);
    static const char *const what[] = {"threads; an SM holds", "registers; an SM has",
                                       "bytes of shared memory; an SM has"};
    if (device->options.crowded || device->grid_count == 0)
        return NULL;
    const char *why = refusal_of(arena, device->program, settings, n);
    if (why)
        return arena_printf(arena, "a launch just fits, and is refused: %s", why);
    if (most[which] < 2)
        return NULL;
    why = refusal_of(arena, device->program, settings, less[which]);
    const char *end = arena_printf(arena, "%u %s %u", (unsigned)most[which], what[which],
                                   (unsigned)most[which] - 1);
    size_t length = why ? strlen(why) : 0, wanted = strlen(end);
    if (length >= wanted && strcmp(why + length - wanted, end) == 0 && strstr(why, "too large: "))
        return NULL;
    return arena_printf(arena, "a launch does not fit, and this is said: %s",
                        why ? why : "nothing");
}

/* ---- tapes ---- */

enum { ENTRIES = 512, STEPS = 2000 };

/* The schedule of an execution at random makes it again; with one entry that is none something else, of which it is
 * said where. */
const char *host_tape_differs(struct arena *arena, struct device *device,
                              struct host_follow *follow, uint64_t seed)
{
    uint32_t *tape = ARENA_ARRAY(arena, uint32_t, ENTRIES),
             *again = ARENA_ARRAY(arena, uint32_t, ENTRIES);
    struct device_schedule first = {.order = ORDER_RANDOM,
                                    .seed = seed,
                                    .budget = STEPS,
                                    .record = tape,
                                    .record_room = ENTRIES},
                           second = {.order = ORDER_TURNS,
                                     .budget = STEPS,
                                     .tape = tape,
                                     .record = again,
                                     .record_room = ENTRIES};
    const char *differs;
    uint32_t line;
    enum device_end end = host_follow_run(device, follow, &first, &differs, &line);
    const char *outcome = device_outcome(arena, device);
    const uint64_t steps = device->steps;
    if (differs || first.recorded == ENTRIES || first.recorded == 0)
        return differs;
    second.tape_count = first.recorded;
    bool same = host_follow_run(device, follow, &second, &differs, &line) == end &&
                !second.astray && second.recorded == first.recorded && device->steps == steps &&
                memcmp(tape, again, first.recorded * sizeof *tape) == 0 &&
                strcmp(device_outcome(arena, device), outcome) == 0;
    if (differs || !same)
        return differs ? differs : "a tape does not make its execution again";
    tape[seed % first.recorded] = UINT32_MAX;
    (void)host_follow_run(device, follow, &second, &differs, &line);
    if (!differs && follow && second.astray != host_follow_astray(follow))
        return "where a tape goes astray is told otherwise";
    return differs;
}
