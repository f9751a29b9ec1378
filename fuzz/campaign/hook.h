/*
 * hook.h - programs that a campaign tells of its findings and of its end: `on-finding`, `on-end`.
 *
 * A hook is a command line of words; no shell is between. What happened stands in its environment
 * (SIMTFUZZ_...; docs/configuration.md). One program runs at a time, for at most HOOK_MS, with nothing on its
 * standard input. That it cannot be started, or fails, is said on the log.
 */
#ifndef FUZZ_HOOK_H
#define FUZZ_HOOK_H

#include "fuzz/campaign/campaign.h"

enum { HOOK_MS = 60 * 1000, HOOK_WORDS_MAX = 64 };

/* Splits a command at blanks; "..." and '...' hold words together and have no escapes. NULL: *why. */
char **hook_words(struct arena *arena, const char *command, const char **why);

struct hooks;

struct hooks *hooks_open(struct arena *arena, const struct campaign_options *options,
                         const struct campaign_summary *summary);
/* Often: starts the next program for findings that are stored, looks after the one that runs. */
void hooks_tick(struct hooks *hooks, FILE *log);
/* At the end, with the exit status that the campaign comes to: waits for all that is left. How many failed. */
uint32_t hooks_close(struct hooks *hooks, int status, FILE *log);

#endif
