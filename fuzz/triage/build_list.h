/*
 * build_list.h - the builds that `triage bisect` is given, from old to new.
 */
#ifndef FUZZ_CLI_BUILD_LIST_H
#define FUZZ_CLI_BUILD_LIST_H

#include "fuzz/cli/cli.h"

struct build_list {
    const char **paths;
    uint32_t count;
};

/* --builds and the arguments that follow it. Each is a program; a pattern, which stands for the programs that
 * fit it in the order of the numbers in their names (v9 before v10); or a text file with one of these a line
 * ('#' starts a comment). False: reported. */
bool build_list_find(struct cli *cli, char **arguments, int count, struct build_list *list);

#endif
