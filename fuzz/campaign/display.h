/*
 * display.h - how a running campaign is shown: a line now and then, or the status screen (ui.h), and the
 * stats file (stats_file.h). The collector's thread calls it; workers know nothing of it.
 *
 * While the screen is shown, what goes to the log is kept, its last line stands on the screen, and all of it
 * follows when the screen is gone.
 */
#ifndef FUZZ_DISPLAY_H
#define FUZZ_DISPLAY_H

#include "fuzz/campaign/campaign.h"

struct pool;
struct display;

struct display *display_open(struct arena *arena, const struct campaign_options *options,
                             const struct campaign_summary *summary);

/* Where messages go from now on. */
FILE *display_log(const struct display *display);

/* Often. True: the person at the terminal wants the campaign to end. */
bool display_tick(struct display *display, const struct pool *pool, const char *state);

/* Makes room for a message on the log. */
void display_clear_line(struct display *display);

/* The end of the workers; `pool` still answers. */
void display_end(struct display *display, const struct pool *pool, const char *state);

#endif
