/*
 * db.h - the triage database: what campaigns found, how often, and how to run it again.
 *
 * One SQLite file (WAL, STRICT tables). docs/database.md documents tables, columns and the views that
 * stay stable for people; what is included here is the only way in for the program.
 *
 * Failures are negative `enum db_error` values. Each leaves one sentence, naming the file, in the
 * message buffer that db_open was given; the buffer must outlive the handle. Success is 0 and leaves
 * the buffer alone.
 *
 * A handle belongs to one thread at a time. Any number of processes may read while one writes.
 *
 * Writes go in batches: db_begin, puts, db_commit. What db_commit acknowledged survives a kill and a
 * power cut. After any failure inside a batch call db_rollback: the batch is gone as a whole, what was
 * committed before is not. A put outside a batch is its own transaction.
 *
 * The order in which the puts of one campaign arrive does not matter: what is stored are facts, each of
 * which is a sum, a minimum, a maximum or a union, and the rest - a finding's counters, its example, its
 * status as long as nobody said anything - is derived from them when a transaction ends. So the content
 * (db_dump_content) does not depend on the number of workers, nor on how shards were split and merged.
 * Row ids do depend on the order of arrival.
 *
 * Strings are UTF-8 and NUL-terminated. On input NULL means "not known" and is stored as ''; on output
 * a string is never NULL. Strings handed to a callback live until it returns. Integers must be below
 * 2^63 (DB_ERROR_RANGE otherwise).
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "db/bisection.h" /* which build changed a finding */
#include "db/campaigns.h" /* sessions, totals, statistics: written */
#include "db/findings.h"  /* kernels, findings, examples, what people say: written */
#include "db/handle.h"    /* open, close, batches; whole files: merge, salvage, dump */
#include "db/queries.h"   /* all of it: asked */

#endif
