/*
 * ptx_outside.h - what functions without a body (vprintf, __assertfail) are given: for observers, since the machine
 * does nothing there.
 */
#ifndef ENGINE_PTX_OUTSIDE_H
#define ENGINE_PTX_OUTSIDE_H

#include "engine/lanes/ptx_exec.h"

/* Argument `number` of the call at pc (op->outside), as a lane has it; 0: there are not so many. */
uint64_t ptx_outside_argument(const struct machine *machine, const struct ptx_lanes *lanes,
                              uint32_t pc, uint32_t lane, uint32_t number);

/* The call that a lane is in; 0: it is in the entry. */
uint32_t ptx_outside_caller(const struct ptx_lanes *lanes, uint32_t lane);

/* The bytes that a lane sees from a generic address on, as many as lie in one variable, at most `room`: how many. */
uint32_t ptx_outside_bytes(const struct machine *machine, const struct ptx_lanes *lanes,
                           uint32_t lane, uint64_t address, void *to, uint32_t room);

/* A text that ends with a zero; what a terminal could take for a command is a blank. At most room - 1 characters. */
void ptx_outside_text(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                      uint64_t address, char *to, uint32_t room);

#endif
