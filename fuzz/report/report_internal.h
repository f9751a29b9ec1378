/*
 * report_internal.h - what the readers and writers of a report share.
 */
#ifndef FUZZ_REPORT_INTERNAL_H
#define FUZZ_REPORT_INTERNAL_H

#include "fuzz/out/markup.h"
#include "fuzz/report/report.h"

/* The text of a string, or the digits of a number, that the evidence - one JSON object - has under `key` at
 * its outermost level; NULL: it has none. Escapes stay as they are. */
const char *report_evidence_value(struct arena *arena, const char *evidence, const char *key);
/* The line that the evidence names; 0: none. */
uint32_t report_evidence_line(const char *evidence);

/* A word of a command line, quoted where a shell would take it apart. */
const char *report_shell_word(struct arena *arena, const char *word);

#endif
