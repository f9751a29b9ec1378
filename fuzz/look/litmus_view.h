/*
 * litmus_view.h - `view` of a litmus test.
 */
#ifndef FUZZ_LITMUS_VIEW_H
#define FUZZ_LITMUS_VIEW_H

#include "fuzz/cli/cli.h"

#include <stdio.h>

bool is_litmus(const char *path);

/* Writes the page; *name: the test's. Otherwise an exit status, after a message. */
int litmus_view(struct cli *cli, const char *path, FILE *out, const char **name);

#endif
