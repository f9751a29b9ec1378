/*
 * symmetry.c - see symmetry.h: what belongs to a thread, and who is like whom. Orbits: symmetry_orbits.c.
 */
#include "engine/machine/symmetry_internal.h"

#include "engine/base/arena.h"
#include "engine/base/bits.h"
#include "engine/machine/live.h"
#include "engine/machine/semantics.h"

#include <string.h>

/* ---- the layout ---- */

void layout_words(struct lane_layout *layout, const struct lane_words *words)
{
    if (words->words == 0)
        return;
    if (layout->word_count == layout->word_room) {
        uint32_t room = layout->word_room ? 2 * layout->word_room : 16;
        struct lane_words *more = ARENA_ARRAY(layout->arena, struct lane_words, room);
        if (layout->word_count)
            memcpy(more, layout->words, layout->word_count * sizeof *more);
        layout->words = more;
        layout->word_room = room;
    }
    layout->words[layout->word_count++] = *words;
}

void layout_bits(struct lane_layout *layout, const struct lane_bits *bits)
{
    if (layout->bit_count == layout->bit_room) {
        uint32_t room = layout->bit_room ? 2 * layout->bit_room : 16;
        struct lane_bits *more = ARENA_ARRAY(layout->arena, struct lane_bits, room);
        if (layout->bit_count)
            memcpy(more, layout->bits, layout->bit_count * sizeof *more);
        layout->bits = more;
        layout->bit_room = room;
    }
    layout->bits[layout->bit_count++] = *bits;
}

/* Private variables, frames, and what the evaluator keeps of a thread. */
static void lay_memory(struct lane_layout *layout, const struct machine *machine)
{
    const struct program *program = machine->program;
    uint32_t memory = layout_place(machine, machine->memory), threads = program->total_threads;
    uint32_t stride = (uint32_t)(sizeof(struct thread_context) / 4);
    const uint32_t *words = program->words;
    layout_words(layout, &(struct lane_words){.threads = threads,
                                              .word = memory + program->private_base,
                                              .stride = words[SPACE_PRIVATE],
                                              .words = words[SPACE_PRIVATE]});
    layout_words(layout, &(struct lane_words){.threads = threads,
                                              .word = memory + program->frame_base,
                                              .stride = words[SPACE_LOCAL],
                                              .words = words[SPACE_LOCAL]});
    layout_words(layout,
                 &(struct lane_words){.threads = threads,
                                      .word = layout_place(machine, &machine->threads[0].choices),
                                      .stride = stride,
                                      .words = 1});
    layout_words(layout, &(struct lane_words){
                             .threads = threads,
                             .word = layout_place(machine, &machine->threads[0].base[SPACE_LOCAL]),
                             .stride = stride,
                             .words = 1,
                             .kind = LANE_RELATIVE});
    if (machine->begun && machine->actor_count == threads)
        layout_words(layout, &(struct lane_words){.threads = threads,
                                                  .word = layout_place(machine, machine->begun),
                                                  .stride = 1,
                                                  .words = 1});
}

static bool has_thread(const struct lane_words *words, uint32_t thread)
{
    return thread - words->first < words->threads;
}

static uint32_t place_of(const struct lane_words *words, uint32_t thread)
{
    return words->word + (thread - words->first) * words->stride;
}

/* ---- who is like whom ---- */

enum { OWN_PRIVATE = 1u << 30, OWN_FRAME = OWN_PRIVATE + (1u << 29) }; /* no memory is so large */

/* An address, as it is the same for threads that are alike; and back. */
static uint32_t own_address(const struct program *program, uint32_t thread, uint32_t address)
{
    uint32_t own = program->private_base + thread * program->words[SPACE_PRIVATE];
    uint32_t frame = program->frame_base + thread * program->words[SPACE_LOCAL];
    if (address - own < program->words[SPACE_PRIVATE])
        return OWN_PRIVATE + (address - own);
    return address - frame < program->words[SPACE_LOCAL] ? OWN_FRAME + (address - frame) : address;
}

static uint32_t address_of_own(const struct program *program, uint32_t thread, uint32_t own)
{
    if (own >= OWN_FRAME)
        return program->frame_base + thread * program->words[SPACE_LOCAL] + (own - OWN_FRAME);
    return own < OWN_PRIVATE ? own
                             : program->private_base + thread * program->words[SPACE_PRIVATE] +
                                   (own - OWN_PRIVATE);
}

/* The word, in terms that are the same for threads that are alike. */
static uint32_t value_at(const struct machine *machine, const struct lane_words *words,
                         uint32_t thread, uint32_t k)
{
    uint32_t value, place = place_of(words, thread) + k;
    memcpy(&value, (const char *)machine->block + (size_t)4 * place, sizeof value);
    switch (words->kind) {
    case LANE_RELATIVE:
        return value - machine->initial[place];
    case LANE_ADDRESS:
        return own_address(machine->program, thread, value);
    case LANE_PLAIN:
        break;
    }
    return value;
}

static void put_value(struct machine *machine, const struct lane_words *words, uint32_t thread,
                      uint32_t k, uint32_t value)
{
    uint32_t place = place_of(words, thread) + k;
    if (words->kind == LANE_RELATIVE)
        value += machine->initial[place];
    if (words->kind == LANE_ADDRESS)
        value = address_of_own(machine->program, thread, value);
    put(machine, &machine->block[place], value);
}

int symmetry_compare(const struct symmetry *symmetry, const struct machine *machine,
                     uint32_t thread, uint32_t other)
{
    for (uint32_t i = 0; i < symmetry->layout.word_count; i++) {
        const struct lane_words *words = &symmetry->layout.words[i];
        if (!has_thread(words, thread))
            continue;
        for (uint32_t k = 0; k < words->words; k++) {
            uint32_t x = value_at(machine, words, thread, k);
            uint32_t y = value_at(machine, words, other, k);
            if (x != y)
                return x < y ? -1 : 1;
        }
    }
    return 0;
}

static bool bits_alike(const struct lane_layout *layout, const struct machine *machine,
                       uint32_t thread, uint32_t other)
{
    for (uint32_t i = 0; i < layout->bit_count; i++) {
        const struct lane_bits *bits = &layout->bits[i];
        lane_mask mask;
        if (thread - bits->first >= bits->threads)
            continue;
        memcpy(&mask, (const char *)machine->block + (size_t)4 * bits->word, sizeof mask);
        if ((mask >> (thread - bits->first) & 1) != (mask >> (other - bits->first) & 1))
            return false;
    }
    return true;
}

bool symmetry_alike(const struct symmetry *symmetry, const struct machine *machine, uint32_t thread,
                    uint32_t other)
{
    return symmetry->orbit[thread] == symmetry->orbit[other] &&
           bits_alike(&symmetry->layout, machine, thread, other) &&
           symmetry_compare(symmetry, machine, thread, other) == 0;
}

/* One word each. */
static void move_word(const struct symmetry *symmetry, struct machine *machine,
                      const struct lane_words *words, uint32_t k, const uint32_t path[2])
{
    const uint32_t *next = path[0] < path[1] ? symmetry->after : symmetry->before;
    uint32_t moved = value_at(machine, words, path[0], k), at = path[0];
    for (; at != path[1]; at = next[at])
        put_value(machine, words, at, k, value_at(machine, words, next[at], k));
    put_value(machine, words, at, k, moved);
}

/* Those who are no longer live first, so that the list has room. */
static void move_live(const struct symmetry *symmetry, struct machine *machine,
                      const uint32_t path[2])
{
    const uint32_t *next = path[0] < path[1] ? symmetry->after : symmetry->before;
    uint64_t was[LIMIT_TOTAL_THREADS / 64 + 1] = {0};
    bool moved = is_live(machine, path[0]);
    for (uint32_t t = path[0];; t = next[t]) {
        was[t / 64] |= (uint64_t)is_live(machine, t) << t % 64;
        if (t == path[1])
            break;
    }
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t t = path[0];; t = next[t]) {
            bool old = bits_has(was, t);
            bool now = t == path[1] ? moved : bits_has(was, next[t]);
            if (old && !now && pass == 0)
                machine_unlive(machine, t);
            if (!old && now && pass == 1)
                machine_relive(machine, t);
            if (t == path[1])
                break;
        }
}

void symmetry_move(const struct symmetry *symmetry, struct machine *machine, uint32_t thread,
                   uint32_t to)
{
    const uint32_t path[2] = {thread, to};
    for (uint32_t i = 0; i < symmetry->layout.word_count; i++) {
        const struct lane_words *words = &symmetry->layout.words[i];
        for (uint32_t k = 0; k < words->words && has_thread(words, thread); k++)
            move_word(symmetry, machine, words, k, path);
    }
    move_live(symmetry, machine, path);
}

/* ---- choices ---- */

void symmetry_classes(const struct machine *machine, const uint32_t *threads, uint32_t count,
                      bool hidden, uint16_t *classes)
{
    const struct symmetry *symmetry = machine->options.symmetry;
    for (uint32_t i = 0; i < count && symmetry; i++) {
        classes[i] = hidden ? 0 : (uint16_t)i;
        for (uint32_t k = 0; k < i && !hidden && classes[i] == i; k++)
            if (classes[k] == k && symmetry_alike(symmetry, machine, threads[k], threads[i]))
                classes[i] = (uint16_t)k;
    }
}

uint32_t symmetry_choose(const struct machine *machine, struct choices *choices,
                         const uint16_t *classes, uint32_t count)
{
    uint32_t firsts[LIMIT_THREADS], n = 0;
    uint64_t seen[LIMIT_THREADS / 64 + 1] = {0};
    if (!machine->options.symmetry || !choices->choose_of)
        return choices->choose(choices, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bit = (uint64_t)1 << classes[i] % 64;
        if (!(seen[classes[i] / 64] & bit))
            firsts[n++] = i;
        seen[classes[i] / 64] |= bit;
    }
    return choices->choose_of(choices, count, firsts, n);
}

uint32_t symmetry_take_lane(const struct machine *machine, struct choices *choices, uint8_t *lanes,
                            uint16_t *classes, uint32_t count)
{
    uint32_t chosen = count > 1 && choices ? symmetry_choose(machine, choices, classes, count) : 0;
    uint32_t lane = lanes[chosen];
    memmove(lanes + chosen, lanes + chosen + 1, count - chosen - 1);
    memmove(classes + chosen, classes + chosen + 1, (count - chosen - 1) * sizeof *classes);
    return lane;
}

/* ---- a machine's ---- */

static void chain_orbits(struct symmetry *symmetry, const struct machine *machine)
{
    uint32_t threads = machine->program->total_threads;
    symmetry->before = ARENA_ARRAY(symmetry->layout.arena, uint32_t, threads);
    symmetry->after = ARENA_ARRAY(symmetry->layout.arena, uint32_t, threads);
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t last = t;
        symmetry->before[t] = symmetry->after[t] = SYMMETRY_NOBODY;
        while (last > symmetry->orbit[t] && symmetry->orbit[last - 1] != symmetry->orbit[t])
            last--;
        if (last > symmetry->orbit[t]) {
            symmetry->before[t] = last - 1;
            symmetry->after[last - 1] = t;
        }
    }
}

static void find_owners(struct symmetry *symmetry, const struct machine *machine)
{
    symmetry->owner = ARENA_ARRAY(symmetry->layout.arena, uint32_t, machine->block_words);
    for (uint32_t i = 0; i < symmetry->layout.word_count; i++) {
        const struct lane_words *words = &symmetry->layout.words[i];
        for (uint32_t t = 0; t < words->threads; t++)
            for (uint32_t k = 0; k < words->words; k++)
                symmetry->owner[words->word + t * words->stride + k] = words->first + t + 1;
    }
}

struct symmetry *symmetry_new(struct arena *arena, const struct machine *machine)
{
    const struct program *program = machine->program;
    size_t mark = arena_mark(arena);
    struct symmetry *symmetry = ARENA_NEW(arena, struct symmetry);
    if (!machine->semantics->layout || !symmetry_has_orbits(program))
        goto none;
    symmetry->layout.arena = arena;
    symmetry->orbit = ARENA_ARRAY(arena, uint32_t, program->total_threads);
    lay_memory(&symmetry->layout, machine);
    machine->semantics->layout(machine, &symmetry->layout);
    if (symmetry_find_orbits(symmetry, machine)) {
        chain_orbits(symmetry, machine);
        find_owners(symmetry, machine);
        return symmetry;
    }
none:
    arena_release(arena, mark);
    return NULL;
}
