/*
 * device.h - a device that runs a host program: sections 5.6 to 5.8 of "The Model of Computation of CUDA and its Formal
 * Semantics", as docs/host.md completes them. Grids are issued to multiprocessors block by block, contexts take
 * launches from streams, and blocks run by the rules of `crs`.
 *
 *     start -> state;   alternatives(state) -> n;   step(state, i)
 *
 * An alternative is: the host's next statement, the start of a launch, a copy of a stream, a block to an SM, a step of
 * a warp, and - of memory whose operations are under way for a while - a micro step or a silent rule. Somebody else
 * picks: a schedule (device_execute), a tape, a search (device_search).
 */
#ifndef ENGINE_DEVICE_H
#define ENGINE_DEVICE_H

#include "engine/host/host.h"
#include "engine/machine/machine.h"

enum device_rule {
#define DEVICE_RULE(id, name, source) DEVICE_##id,
#include "engine/device/device_rules.def"
#undef DEVICE_RULE
    DEVICE_RULE_COUNT
};

struct device_rule_info {
    const char *name, *source;
};
extern const struct device_rule_info device_rules[DEVICE_RULE_COUNT];

struct device_options {
#define DEVICE_NUMBER(field, name, least, most, usual, what) uint32_t field;
#define DEVICE_CHOICE(field, name, words, printed, llh, coherent, sc, what) bool field;
#include "engine/device/device_options.def"
#undef DEVICE_NUMBER
#undef DEVICE_CHOICE
    bool loads_free; /* llh */
    bool poloc;      /* llh, coherent */
    bool before;     /* coherent: barriers are reached only when earlier operations have ended */
    bool caches;     /* memory=caches: operations are under way in micro steps (device_caches.h) */
};

extern const struct device_options DEVICE_SC;

/* Changes options by words: a profile (sc, printed, llh, coherent), `name=value`. False: *why. */
bool device_set(struct arena *arena, struct device_options *options, const char *text,
                const char **why);

/* How one statement stands. */
enum device_progress {
    PROGRESS_NONE,    /* the host has not come to it */
    PROGRESS_QUEUED,  /* in its stream */
    PROGRESS_RUNNING, /* a grid */
    PROGRESS_ENDING,  /* aborted, with operations under way */
    PROGRESS_DONE
};

enum device_alternative_kind {
    ALTERNATIVE_HOST,
    ALTERNATIVE_START, /* a = statement */
    ALTERNATIVE_COPY,  /* a = statement */
    ALTERNATIVE_ISSUE, /* a = grid, b = SM */
    ALTERNATIVE_WARP,  /* a = grid, b = actor of its machine */
    ALTERNATIVE_MICRO, /* a = operation under way; memory=caches: a = grid, b = alternative of its machine */
    ALTERNATIVE_SILENT /* a = SM, b = word of global memory; memory=caches: as above */
};

struct device_alternative {
    enum device_alternative_kind kind;
    uint32_t a, b;
};

enum { DEVICE_KINDS = ALTERNATIVE_SILENT + 1 };

/* On tapes. */
static inline uint32_t device_encode(struct device_alternative x)
{
    return (uint32_t)x.kind << 27 | x.a << 17 | x.b;
}

enum device_end {
    END_RUNNING,
    END_DONE,      /* the host has ended, and nothing is left to do */
    END_FAULT,     /* a block ended with an error */
    END_STUCK,     /* nothing can step, but the program is not over */
    END_NONE_LEFT, /* the bound on steps is reached */
    END_HANG,      /* the same state has come back under a schedule that leaves nobody out */
    END_COUNT
};

struct device_grid {
    uint32_t statement, context;
    uint32_t blocks;                  /* of the grid */
    uint32_t slots;                   /* of its machine: blocks that may be resident */
    uint32_t registers, shared_bytes; /* of a block */
    struct ast_kernel *kernel;        /* as PTX, with the launch's settings */
    const struct program *program;
    struct machine *machine;
    struct device_region {
        uint32_t word, base, words; /* of the machine's memory; of the device's */
    } * regions;
    uint32_t region_count;
};

/* The words of a device's state that belong to a grid. */
struct device_grid_state {
    uint32_t next; /* lowest block that was never issued, where they are issued in order */
    uint32_t unissued, completed, resident;
};
struct device_slot_state {
    uint32_t used, sm, place;
};

struct device_head {
    uint32_t host; /* statement that is next */
    uint32_t end;  /* enum device_end: RUNNING, FAULT */
    uint32_t fault_grid;
    uint32_t failed;  /* 1 + the first `expect` that did not hold */
    uint32_t context; /* that steps, of a sticky device: 1 + its number; 0: none */
    uint32_t alive;   /* contexts, a bit each */
    uint32_t padding[2];
};

struct device_expectation {
    uint32_t word; /* the first that differs */
    int32_t value;
    bool asked, holds;
};

/* What happens between grids and the host, for whoever looks on; each may be NULL. */
struct device_watcher {
    void *context;
    void (*step)(void *context, struct device_alternative step, enum device_rule rule);
    /* The host, or a copy, reads or writes words: of the device's memory, or behind it (memory_words) of the host's. */
    void (*access)(void *context, uint32_t statement, uint32_t base, uint32_t words, bool writes);
    void (*chosen)(void *context, uint32_t n); /* one of n, within a step */
};

struct device_flights;
struct device_caches;

struct device {
    struct arena *arena;
    const struct host_program *program;
    struct device_options options;
    uint32_t grid_count;
    struct device_grid *grids;
    uint32_t *grid_of;     /* statement: its grid, or HOST_NONE */
    uint32_t memory_words; /* of the device: buffers, and variables of modules behind them */
    int32_t *variables;    /* initial values of what lies behind the buffers */
    /* state: `words` of it at `block` */
    uint32_t *block, *initial;
    size_t words;
    struct device_head *head;
    uint32_t *progress; /* enum device_progress, a statement */
    struct device_grid_state *grid_states;
    struct device_slot_state **slots; /* a grid's */
    uint32_t **numbers;               /* a grid's: block of each slot */
    uint64_t **unissued;              /* a grid's: a bit a block; NULL: in order */
    int32_t *memory, *host_memory;
    struct device_flights *flights; /* memory=inflight */
    struct device_caches *caches;   /* memory=caches */
    /* not state */
    struct device_grid *holder; /* whose machine has the newest values of its regions */
    struct device_expectation *expectations; /* a statement */
    struct device_alternative *alternatives;
    uint32_t alternative_count, alternative_room;
    uint64_t hits[DEVICE_RULE_COUNT];
    uint64_t steps;
    uint32_t *kept; /* room for two states, of schedules that look for one that comes back */
    const struct device_watcher *watcher;
};

/* A device in its initial state, in the arena. NULL: errors in diag, with the lines of launches. */
struct device *device_new(struct arena *arena, const struct host_program *program,
                          const struct device_options *options, struct diag *diag);
void device_reset(struct device *device);

/* Fills device->alternatives. 0 of them: the state has an end. */
uint32_t device_look(struct device *device);
void device_step(struct device *device, struct device_alternative alternative,
                 struct choices *choices);
/* Of a state: running, or how it ended. */
enum device_end device_ended(struct device *device);

/* Brings the device's own memory up to date, for whoever reads it. */
void device_settle_memory(struct device *device);
/* The outcome that the program observes: "1,0", in the arena. */
const char *device_outcome(struct arena *arena, struct device *device);
/* A sentence about END_FAULT; *line: of the launch. */
const char *device_fault(struct arena *arena, struct device *device, uint32_t *line);
/* What nobody can get past: "the host waits in line 7 for the launch of line 5". */
const char *device_waits(struct arena *arena, struct device *device);

/* What an alternative is, for traces: "block 3 of `work` (line 4) to SM 1". */
const char *device_alternative_text(struct arena *arena, struct device *device,
                                    struct device_alternative alternative);

/* ---- schedules (device_execute.c) ---- */

enum device_order {
    ORDER_TURNS,  /* the host first, then grids and warps in turns: the usual one */
    ORDER_RANDOM, /* uniform over all alternatives, warps for a few steps */
    ORDER_LAZY,   /* the host waits until nothing else can step */
    ORDER_LAST,   /* the highest alternative first: late blocks, late launches */
    ORDER_LATE    /* as turns, but operations are performed when nothing else can step */
};

struct device_schedule {
    enum device_order order;
    uint64_t seed;
    uint64_t budget; /* steps */
    const uint32_t *tape;
    uint32_t tape_count; /* these first, as far as they can be taken */
    uint32_t *record;    /* room for record_room; or NULL */
    uint32_t record_room;
    uint32_t recorded; /* out */
    uint32_t
        astray; /* out: 1 + the first entry of the tape that could not be taken, another was; 0: none */
};

enum device_end device_execute(struct device *device, struct device_schedule *schedule);

/* ---- all executions (device_search.c) ---- */

struct device_outcomes {
    uint32_t count;
    const char *texts[64]; /* in order */
    uint64_t states, transitions;
    uint64_t lost;   /* states from which the program cannot end */
    uint64_t stuck;  /* states without a step that are no end */
    uint64_t faults; /* states that end in an error */
    uint64_t failed; /* ends in which an expectation does not hold */
    bool cut;        /* more states than the limit */
};

enum device_reduction {
    DEVICE_EAGER, /* steps that touch nothing but registers are taken with the step before them */
    DEVICE_EVERY_STEP /* each step is a state: the same outcomes, more states */
};

void device_search(struct device *device, uint64_t limit, enum device_reduction reduction,
                   struct device_outcomes *outcomes);

#endif
