/*
 * litmus_hunt.h - `simtfuzz litmus --cases N`: litmus tests that are drawn, and laws of the memories.
 */
#ifndef FUZZ_LITMUS_HUNT_H
#define FUZZ_LITMUS_HUNT_H

#include "fuzz/cli/cli.h"

int litmus_hunt(struct cli *cli);

/* `simtfuzz gen --litmus`: prints them. */
int litmus_gen(struct cli *cli);

#endif
