/*
 * ptx_run.h - PTX of a few threads, whose results were known when its text was drawn, under the subjects that run PTX.
 */
#ifndef ORACLE_PTX_RUN_H
#define ORACLE_PTX_RUN_H

#include "engine/base/arena.h"
#include "engine/machine/observer.h"

#include <stdint.h>

/* What the text, whose entry has one parameter, "out", leaves otherwise than is meant in the words there, one a thread
 * of one warp, "class: ..", under `block`, `crs` or `thread-pc`; the reader refuses it, or it does not end. NULL:
 * nothing. */
const char *ptx_run(struct arena *arena, const char *class_name, const char *text,
                    const uint32_t *meant, uint32_t threads);

/* The same; who observes sees the execution under `crs`. */
const char *ptx_run_seen(struct arena *arena, const char *class_name, const char *text,
                         const uint32_t *meant, uint32_t threads, const struct observer *observer);

/* Its dynamic shared memory, in bytes. */
enum { PTX_RUN_DYNAMIC = 16 };

#endif
