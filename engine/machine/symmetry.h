/*
 * symmetry.h - threads that may change places: that run the same text, which asks nobody who he is.
 *
 * An orbit is a set of threads of one warp such that every permutation g of it is an automorphism of the machine:
 * s -> s' by a step of actor w iff gs -> gs' by a step of gw, and g leaves the initial state as it is. So it is where
 *
 *   - whatever the program computes from the thread's number, lane or the like has one value for all of the orbit
 *     (in PTX: it reads no such register), and no result tells lanes apart (ballots, shuffles, ..);
 *   - no choice comes from the thread's own stream (havoc, pick, goto): symmetry_broken tells, afterwards;
 *   - private variables and registers start with the same values.
 *
 * Two threads are alike in a state if they are of one orbit and changing their places leaves the state as it is: their
 * words are the same, and the same lane masks of their warp hold them.
 *
 * Use 1, where an actor is a warp or block: of the orders in which lanes do their atomics on one location those are
 * enough in which the first of lanes that are alike goes first: another order leads to a state that g makes of
 * one that is reached so, where g leaves warps and blocks where they are. By induction each reachable state is
 * gs of a state s that is searched, so both graphs are bisimilar with the warps' and blocks' steps as labels: the
 * verdicts of progress models of warps and blocks are the same. What is searched is a part of the whole graph,
 * so a witness is one of the whole.
 *
 * Use 2, where actors are threads: engine/search/search_symmetry.h.
 */
#ifndef ENGINE_SYMMETRY_H
#define ENGINE_SYMMETRY_H

#include "engine/machine/machine.h"

/* Words of the state that belong to a thread t of [first, first + threads): `words` from
 * word + (t - first) * stride on. */
struct lane_words {
    uint32_t first, threads;
    uint32_t word, stride, words;
    enum lane_kind {
        LANE_PLAIN,
        LANE_RELATIVE, /* what counts is the difference from the start: where its frame lies */
        LANE_ADDRESS /* of machine.memory: within the thread's own variables what counts is where */
    } kind;
};

/* A lane_mask of the state: bit t - first for thread t. */
struct lane_bits {
    uint32_t first, threads, word;
};

struct lane_layout {
    struct arena *arena;
    struct lane_words *words;
    struct lane_bits *bits;
    uint32_t word_count, bit_count, word_room, bit_room;
};

void layout_words(struct lane_layout *layout, const struct lane_words *words);
void layout_bits(struct lane_layout *layout, const struct lane_bits *bits);

/* The number of a word of the machine's block. */
static inline uint32_t layout_place(const struct machine *machine, const void *word)
{
    return (uint32_t)((const uint32_t *)word - machine->block);
}

struct symmetry {
    struct lane_layout layout;
    uint32_t *orbit; /* a thread: the lowest one of its orbit */
    uint32_t *before,
        *after;      /* a thread: the next lower and higher one of its orbit, SYMMETRY_NOBODY */
    uint32_t *owner; /* a word of the block: the thread that it belongs to + 1, 0: not only one */
};

#define SYMMETRY_NOBODY UINT32_MAX

/* Of the machine's program and initial state; NULL: nobody may change places. */
struct symmetry *symmetry_new(struct arena *arena, const struct machine *machine);

/* Whether the threads, of one orbit, are alike in the machine's state. */
bool symmetry_alike(const struct symmetry *symmetry, const struct machine *machine, uint32_t thread,
                    uint32_t other);

/* Less than, equal to or greater than 0, as the words of `thread` are before, the same as or behind those of
 * `other`, in some total order; masks are not looked at. */
int symmetry_compare(const struct symmetry *symmetry, const struct machine *machine,
                     uint32_t thread, uint32_t other);

/* The words of a thread become those of another place in its orbit, those of the threads between move by one place
 * to where it was, and so does who is live; logged. The threads are actors, and nobody waits. */
void symmetry_move(const struct symmetry *symmetry, struct machine *machine, uint32_t thread,
                   uint32_t to);

/* Orders that are chosen one thread after another. classes[i]: the lowest k such that threads[k] is alike with
 * threads[i] in the machine's state; `hidden`: none of them changes the value, so that nobody sees the order: all 0.
 * Only where the machine's options have a symmetry, otherwise they are not asked for. */
void symmetry_classes(const struct machine *machine, const uint32_t *threads, uint32_t count,
                      bool hidden, uint16_t *classes);

/* One of `count` >= 2 that are left, by their classes: where there is a symmetry, only the first of each class. */
uint32_t symmetry_choose(const struct machine *machine, struct choices *choices,
                         const uint16_t *classes, uint32_t count);

/* The first of a list of lanes in an order; the lanes behind it move up, and so do their classes. */
uint32_t symmetry_take_lane(const struct machine *machine, struct choices *choices, uint8_t *lanes,
                            uint16_t *classes, uint32_t count);

#endif
