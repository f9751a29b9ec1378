/*
 * stats_file.h - a file that says how a running campaign is doing (`run --stats FILE`), for programs.
 *
 * One JSON document; for a name that ends in ".prom" the text format of Prometheus, as node_exporter's
 * textfile collector reads it. The file is replaced as a whole (rename): a reader sees all of one moment.
 * docs/configuration.md documents the fields.
 */
#ifndef FUZZ_UI_STATS_FILE_H
#define FUZZ_UI_STATS_FILE_H

#include "fuzz/campaign/view.h"

/* False: *why says what the system refused; the file is as it was. */
bool stats_file_write(const char *path, const struct view *view, const char **why);

/* The same text to a stream. */
void stats_print_json(const struct view *view, FILE *out);
void stats_print_prometheus(const struct view *view, FILE *out);

#endif
