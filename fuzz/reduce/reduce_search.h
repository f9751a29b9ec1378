/*
 * reduce_search.h - the search of the reducer: candidates of a pass are tried in order, the first
 * that is as interesting becomes the new base, until no pass finds any.
 *
 * With several jobs the next few candidates are tested at once. Which these are depends on what
 * becomes of each, so it is predicted: what the candidate before in the pass came to. After a
 * predicted success the next candidate is an edit of that one's kernel: edits that go together are
 * merged before any of them is known to be good. Answers are then taken in order up to the first
 * wrong prediction; the rest is dropped. So the result is that of one job.
 */
#ifndef FUZZ_REDUCE_SEARCH_H
#define FUZZ_REDUCE_SEARCH_H

#include "fuzz/reduce/reduce.h"
#include "fuzz/reduce/reduce_internal.h"

struct reduction;

struct candidate {
    struct arena arena;
    struct ast_kernel *kernel; /* read from the edited one's text */
    uint32_t number;           /* of the edit within its pass */
    const struct reduction *reduction;
    uint64_t hash; /* of its text */
    uint64_t steps;
    bool predicted; /* to be as interesting */
    bool keeps;     /* it is */
};

struct reduction {
    struct arena *arena; /* of the result */
    const struct reduce_options *options;
    struct check_options check;      /* with only the oracles concerned, perhaps narrowed */
    const struct interest *interest; /* options->interest or a weaker one */
    struct arena base_arena[2]; /* the base lives in one, the next base is copied to the other */
    uint32_t base_in;
    struct ast_kernel *base;
    struct candidate *candidates;
    uint32_t jobs;
    bool reducible,
        well_formed;        /* so were the graphs of the given kernel, and the kernel (Def. 5.1) */
    bool optimist;          /* the last candidate of the pass was as interesting */
    uint32_t tests;         /* candidates whose answer was taken */
    uint32_t accepted;      /* of these; and all else that changed the base */
    uint32_t runs;          /* these, and all other times that a kernel was asked about */
    uint64_t all_steps;     /* of these runs */
    uint64_t steps;         /* of the last time that one was interesting */
    bool hurried;           /* r->check was narrow from the beginning */
    bool wide;              /* r->check stays as it was given */
    uint32_t narrowed_size; /* of the base when r->check was made cheaper last */
    const char *pass;       /* at work */
    bool stopped;           /* by options->go_on */
    uint64_t *tried;        /* hashes of the texts of candidates */
};

void reduction_open(struct reduction *r);
void reduction_close(struct reduction *r);

/* Whether as much was tried as the options allow. */
bool reduction_is_spent(const struct reduction *r);
/* Asked before every run: false: the time is over. */
bool reduction_goes_on(struct reduction *r);
/* The same before every test, with what else is limited; false: the best so far is the result. */
bool reduction_may_test(struct reduction *r);

/* A copy in a form that passes can edit. */
struct ast_kernel *reduction_copy(struct arena *arena, const struct ast_kernel *kernel);
void reduction_take_base(struct reduction *r, const struct ast_kernel *kernel);

/* Whether the kernel is interesting, asked so: a run. */
bool reduction_shows(struct reduction *r, const struct ast_kernel *kernel,
                     const struct check_options *check);

/* Forgets what was tried: something else is asked for. */
void reduction_forget(struct reduction *r);

/*
 * Makes r->check cheaper where runs are long: fewer steps, schedules, subjects, as long as the base
 * still is interesting. Again whenever the base has half the size. What is found under it must be
 * checked under the given options in the end.
 */
void reduction_narrow(struct reduction *r);

/* Whether the kernel is interesting when it is asked about in the cheapest way, which r->check is
 * then. */
bool reduction_starts_narrow(struct reduction *r, const struct ast_kernel *kernel,
                             const struct check_options *check);

/* A list of transformations that the seed draws is written down in `check`, so that it stays what
 * it is. */
void reduce_transforms_draw(struct reduction *r, const struct ast_kernel *kernel,
                            struct check_options *check);
/* Makes the list of r->check shorter and its numbers smaller, as long as the base shows the
 * signature; returns how many times it could. */
uint32_t reduce_transforms(struct reduction *r);

/* Until no pass finds anything more; returns how many edits were accepted. */
uint32_t reduction_run(struct reduction *r);

#endif
