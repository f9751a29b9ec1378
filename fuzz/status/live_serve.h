/*
 * live_serve.h - a running campaign in a browser: a process of its own that answers questions over HTTP, from the
 * database alone and read-only (docs/live.md). Only on this machine: an address of the loopback interface.
 */
#ifndef FUZZ_LIVE_SERVE_H
#define FUZZ_LIVE_SERVE_H

#include "fuzz/cli/cli.h"

#include <sys/types.h>

/* Listens at "127.0.0.1:8080" (port 0: any that is free, said in a message) and answers until live_serve_stop, or until
 * this process is gone. Returns CLI_OK and its process, or an exit status after a message. */
int live_serve_start(struct cli *cli, const char *address, pid_t *process);
void live_serve_stop(pid_t process);

#endif
