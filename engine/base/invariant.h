/*
 * invariant.h - our own mistakes: checked in every build, reported with the case that shows them.
 *
 * What a kernel did wrong is an outcome (machine.h), what the surroundings did wrong is an error
 * (diag.h); a failed INVARIANT is a fault of simtfuzz and aborts.
 */
#ifndef ENGINE_INVARIANT_H
#define ENGINE_INVARIANT_H

/* Sets the sentence that a failing INVARIANT of this thread prints, e.g. the case that it works on.
 * The string is not copied: it must outlive its use. */
void invariant_set_case(const char *description);

/* The condition that failed in this thread and its file, for the handler of SIGABRT; NULL: none. */
const char *invariant_failed(const char **file);

_Noreturn void invariant_fail(const char *condition, const char *file, int line);

#define INVARIANT(condition)                                                                       \
    ((condition) ? (void)0 : invariant_fail(#condition, __FILE__, __LINE__))

#endif
