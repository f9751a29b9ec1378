/*
 * host_follow.h - executions of a device, followed step by step by a second account of devices and host programs
 * (engine/reference_device): after each step the same statements wait, run and are over, the same blocks are in the
 * same places, operations under way, lines and memory are the same, and the same alternatives are offered.
 * A schedule takes the alternatives that a second account of schedules does.
 *
 * On trust: what a warp's step computes and accesses, which warps a block's barriers let step (the oracle `reference`
 * follows `crs`), how launches were laid out. With memory=caches operations and lines are followed micro step by micro
 * step (host_follow_caches.c), where lines have one word.
 */
#ifndef ORACLE_HOST_FOLLOW_H
#define ORACLE_HOST_FOLLOW_H

#include "oracle/device/host_judge.h"

struct host_follow;

/* Watches the device's executions from now on; NULL: the reference has no room for it. */
struct host_follow *host_follow_watch(struct arena *arena, struct device *device);
/* The device begins anew. */
void host_follow_start(struct host_follow *follow);
/* The execution has ended so. The first thing that differed, or NULL; *line: of the host's statement. */
const char *host_follow_end(struct host_follow *follow, enum device_end end, uint32_t *line);
/* A whole execution from the start, whose steps are to be the next ones in the schedule. `follow`: who watches the
 * device, or NULL, and then nothing differs. */
enum device_end host_follow_run(struct device *device, struct host_follow *follow,
                                struct device_schedule *schedule, const char **differs,
                                uint32_t *line);
void host_follow_leave(struct host_follow *follow);

/* 1 + the entry of its tape at which the schedule went astray; 0: it did not. */
uint32_t host_follow_astray(const struct host_follow *follow);

/* host_devices.c. Where an SM has just what the launches of the device need they are taken, and refused where it has
 * one thread, register or byte less. NULL: so it is. */
const char *host_room_differs(struct arena *arena, const struct device *device,
                              const char *settings, uint64_t seed);
/* What is recorded of an execution makes it again. `follow`: who watches the device, or NULL. */
const char *host_tape_differs(struct arena *arena, struct device *device,
                              struct host_follow *follow, uint64_t seed);

/* Whether the device's settings, as words, are what the reference takes the words for; NULL: they are. */
const char *host_settings_differ(struct arena *arena, const char *words);

/* Executions on devices that the program was not made for, followed; those of its claims, too. */
void host_follow_devices(struct arena *arena, const struct host_program *program,
                         const struct host_judge_options *options, struct host_verdict *verdict);

#endif
