/*
 * progress.h - how a running campaign is shown: a line now and then, or the status screen (ui/ui.h), and the
 * stats file (ui/stats_file.h). The collector's thread calls it; workers know nothing of it.
 *
 * While the screen is shown, what goes to the log is kept, its last line stands on the screen, and all of it
 * follows when the screen is gone.
 */
#ifndef FUZZ_PROGRESS_H
#define FUZZ_PROGRESS_H

#include "fuzz/campaign/campaign.h"

struct pool;
struct progress;

struct progress *progress_open(struct arena *arena, const struct campaign_options *options,
                               const struct campaign_summary *summary);

/* Where messages go from now on. */
FILE *progress_log(const struct progress *progress);

/* Often. True: the person at the terminal wants the campaign to end. */
bool progress_tick(struct progress *progress, const struct pool *pool, const char *state);

/* Makes room for a message on the log. */
void progress_clear_line(struct progress *progress);

/* The end of the workers; `pool` still answers. */
void progress_end(struct progress *progress, const struct pool *pool, const char *state);

#endif
