/*
 * view_internal.h - an execution that is being kept (view_record.c), the states of its actors (view_state.c), and what
 * is said of it besides its steps (view_side.c).
 */
#ifndef FUZZ_VIEW_INTERNAL_H
#define FUZZ_VIEW_INTERNAL_H

#include "engine/base/text.h"
#include "fuzz/trace/trace_private.h"
#include "fuzz/trace/trace_text.h"
#include "fuzz/view/view.h"
#include "fuzz/view/view_loop.h"
#include "fuzz/view/view_pool.h"
#include "oracle/race/race.h"

enum { VIEW_ACCESSES = 1024 }; /* of one step; what goes beyond is counted */

/* Over caches an access is asked for, and its operation does it later. */
enum { VIEW_ASKS = 3 /* added to the kind of one that is asked for */ };
struct view_access {
    uint32_t kind;
    uint32_t thread, address;
    int32_t value;
};

/* What was last written of an actor. */
struct view_actor {
    uint32_t first, lanes; /* its threads */
    uint32_t letters;      /* number in the pool of texts, + 1 */
    uint32_t node, leader; /* leader: whose stack it is */
};

/* Of an execution over caches (view_caches.c). */
struct view_caches {
    int32_t *memory; /* what it was before the step */
    struct view_access asked[VIEW_ACCESSES];
    uint32_t asked_count;
    struct view_pool flights, lines;
    uint32_t *last; /* what was kept last */
    struct text at;
};

struct view_recorder {
    struct observer observer;
    struct arena *arena, *scratch; /* kept to the end; of one step */
    const struct machine *machine;
    const struct view_options *options;
    struct trace_text text;
    struct trace_private own;
    uint64_t taken, first, kept;
    bool full; /* no further steps are kept */
    bool all_changed;
    bool fired[RULE_COUNT + 1]; /* rules of steps that are kept */
    struct view_actor *actors;
    const char **tops; /* an actor: what its next step executes */
    struct view_pool texts, entries, nodes, shapes, accesses, values;
    struct view_access seen[VIEW_ACCESSES];
    uint32_t seen_count, unseen;
    size_t step_bytes;
    FILE *steps;                /* three numbers a step */
    FILE *start;                /* the state before the first of them */
    struct view_caches *caches; /* NULL: memory is sequentially consistent */
};

/* A string as JSON has it, in the arena. */
const char *view_quoted(struct arena *arena, const char *text);
/* So many numbers: alone, as [first, difference], or one by one. */
void view_put_row(struct text *out, const int64_t *values, uint32_t count);

/* ---- view_state.c ---- */

/* How the actor stands now; true: otherwise than when this was last asked. */
bool view_see_actor(struct view_recorder *r, uint32_t actor);

/* ---- view_record.c ---- */

void view_record_start(struct view_recorder *r, struct machine *machine);
void view_put_state(struct view_recorder *r, uint32_t actor, struct text *out);
void view_see_access(struct view_recorder *r, uint32_t kind, uint32_t thread, uint32_t address,
                     int32_t value);

/* ---- view_caches.c ---- */

void view_caches_start(struct view_recorder *r);
void view_caches_asked(struct view_caches *v, struct view_access access);
/* Tells what the step has written to memory; `thread`: who else if nobody asked. */
void view_caches_see(struct view_recorder *r, uint32_t thread);
void view_caches_keep(struct view_recorder *r);
size_t view_caches_bytes(const struct view_recorder *r);
void view_caches_print(const struct view_recorder *r, FILE *out);

/* ---- view_flow.c ---- */

/* Which statement may follow which, as two members of a JSON object. */
void view_print_flow(const struct program *program, FILE *out);

/* ---- view_side.c ---- */

struct view_ending {
    enum status status;
    struct view_loop loop;
    const struct race_detector *race;
};

/* All of it as one JSON object. */
void view_print_side(struct view_recorder *r, const struct view_ending *ending, const char *steps,
                     const char *start, FILE *out);

#endif
