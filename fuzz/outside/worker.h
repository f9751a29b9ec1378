/*
 * worker.h - a child process that runs kernels (docs/protocol.md), kept from batch to batch and started again when it
 * died.
 *
 * It has a process group, limits and a folder of its own (child.h). What it prints to standard error, and whatever its
 * libraries print, goes to a file. It hangs when its group has used up the CPU time of the request, or has slept for
 * long; then it is ended.
 */
#ifndef FUZZ_OUTSIDE_WORKER_H
#define FUZZ_OUTSIDE_WORKER_H

#include "fuzz/outside/subject.h"
#include "fuzz/serve/protocol.h"

enum worker_end {
    WORKER_ANSWER,
    WORKER_DIED, /* by a signal, or it exited */
    WORKER_HANG,
    WORKER_GARBAGE, /* what came was no message, or half of one */
    WORKER_NO_START
};

struct worker;

/* arguments: NULL ends them; looked for in PATH. environment: "NAME=VALUE", NULL ends them. Nothing is started yet. */
struct worker *worker_new(struct arena *arena, char *const *arguments, char *const *environment);

/* Its address space is not limited: it reserves more than it uses. */
void worker_reserves(struct worker *worker);

/* Sends a message and waits for the answer; before the first one of a process, `hello`. request NULL: only that, of a
 * worker that does not run. *log: what the worker printed to standard error since it was started. */
enum worker_end worker_ask(struct arena *arena, struct worker *worker,
                           const struct outside_settings *settings, const struct text *request,
                           struct message *answer, const char **log);

void worker_stop(struct worker *worker);

/* All workers of this process, with what they have started: their arenas must still be there. */
void worker_stop_all(void);

/* `hello` and the request of a batch, as the program reads them. */
void worker_put_messages(struct text *bytes, const struct outside_batch *batch,
                         const char *options);
/* The answer to hello of a worker that is stopped again; false: *reason. */
bool worker_greet(struct arena *arena, struct worker *worker, struct message *answer,
                  const char **reason);

/* The path of this program, which serves what is a library. */
const char *worker_own_program(struct arena *arena);

/* A batch over the protocol: what every kind does whose implementation lives in a worker. `options` are the
 * implementation's own. After a run-error the worker is started anew. */
void worker_run_batch(struct arena *arena, struct worker *worker,
                      const struct outside_settings *settings, const struct outside_batch *batch,
                      const char *options, struct outside_result *results);

#endif
