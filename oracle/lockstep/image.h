/*
 * image.h - P beside its image pi(P) or phi(P) (predicate.h): what in the image stands for what in P, and
 * where their stores differ. For the oracles that run both, step by step.
 */
#ifndef ORACLE_IMAGE_H
#define ORACLE_IMAGE_H

#include "engine/machine/machine.h"

enum image_role {
    ROLE_NOTHING,   /* the image's own: nothing happens in P */
    ROLE_DRAW,      /* of what the next statement, a havoc of P, gives: its guard may fault */
    ROLE_STATEMENT, /* stands for a statement of P */
    ROLE_BARRIER,   /* the same, of a barrier */
    ROLE_CALL,
    ROLE_RETURN,
    ROLE_PICK,  /* v_next :in .. */
    ROLE_EARLY, /* PRED.early */
    ROLE_LEAVE  /* v_active := act ? v_next : v_active */
};

struct image {
    struct machine *p, *image;
    enum image_role *roles;  /* a statement of the image */
    uint32_t *stands_for;    /* a block of the image: of P, or CODE_NONE */
    uint8_t *enters;         /* a block of the image: entering it is entering the block of P */
    uint32_t *active_offset; /* a function: of v_active in the image's frame */
};

/* The image's statements say by `origin` what they stand for. */
void image_start(struct image *image, struct arena *arena, struct machine *of_image,
                 struct machine *of_p);

/* v_active of a thread in its topmost frame, an activation of `function`: 1 + a block of P; 0 = End. */
static inline uint32_t image_active(const struct image *image, uint32_t thread, uint32_t function)
{
    uint32_t base = image->image->threads[thread].base[SPACE_LOCAL];
    return (uint32_t)image->image->memory[base + image->active_offset[function]];
}

/* A word of P's store and the image's word for it. */
struct image_word {
    uint32_t thread; /* CODE_NONE: global or shared memory */
    const char *space, *name;
    uint32_t p_address, image_address;
};

/* Each: whether all is equal; if not, *word is the first that differs. */
bool image_same_word(const struct image *image, struct arena *arena, uint32_t address,
                     struct image_word *word); /* of global or shared memory */
bool image_same_shared(const struct image *image, struct arena *arena, struct image_word *word);
/* Words [from, to) of the file-level private variables; of the topmost frame, of `function`. */
bool image_same_private(const struct image *image, uint32_t thread, uint32_t from, uint32_t to,
                        struct image_word *word);
bool image_same_frame(const struct image *image, uint32_t thread, uint32_t function, uint32_t from,
                      uint32_t to, struct image_word *word);
/* The variable that a place of P names, if it is private; both threads' topmost frames are of
 * `function`. */
bool image_same_place(const struct image *image, uint32_t thread, uint32_t function,
                      const struct code_place *place, struct image_word *word);

/* ---- accesses of a step ---- */

struct image_access {
    uint32_t thread, address;
    enum access_kind kind;
};

/* What a step accessed, in no order. */
struct image_accesses {
    struct observer observer;
    uint32_t count;
    uint64_t hash;                /* sum over the accesses of a mix of all three */
    bool writes;                  /* one of them is no read */
    struct image_access *entries; /* the first IMAGE_ACCESSES */
};

enum { IMAGE_ACCESSES = 4096 };

void image_accesses_start(struct image_accesses *accesses, struct arena *arena,
                          const struct observer *next);

static inline void image_accesses_clear(struct image_accesses *accesses)
{
    accesses->count = 0;
    accesses->hash = 0;
    accesses->writes = false;
}

static inline bool image_same_accesses(const struct image_accesses *a,
                                       const struct image_accesses *b)
{
    return a->count == b->count && a->hash == b->hash;
}

/* The same accesses, however often: true also when there are more than are kept. */
bool image_same_access_sets(const struct image_accesses *a, const struct image_accesses *b);

/* The first of `a` that `b` does not have (as often); NULL: none among those kept. */
const struct image_access *image_missing_access(const struct image_accesses *a,
                                                const struct image_accesses *b);

#endif
