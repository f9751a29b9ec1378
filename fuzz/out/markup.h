/*
 * markup.h - text for HTML and XML. What comes out stands in element content or in a quoted attribute and
 * ends neither: & < > " ' are escaped; bytes that are not UTF-8 and characters that XML does not allow
 * become U+FFFD; characters that turn the direction of writing around are shown by name.
 */
#ifndef FUZZ_REPORT_MARKUP_H
#define FUZZ_REPORT_MARKUP_H

#include "engine/base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void markup_text(FILE *out, const char *text);
void markup_bytes(FILE *out, const char *text, size_t length);
/* At most `characters` of them, the last one an ellipsis if there are more. */
void markup_short(FILE *out, const char *text, size_t characters);

/* Bytes, given as hexadecimal digits, in base64: digests as a content security policy wants them. */
void markup_base64(FILE *out, const char *hex);

/* How many bytes of `text` are one character; of a byte that is not UTF-8: 1. */
size_t markup_step(const char *text, size_t length);

/* "1,234" and "12.3 M", in the arena. */
const char *markup_brief(struct arena *arena, uint64_t number);
/* "2026-11-22 03:15 UTC"; "" for 0. */
const char *markup_time(struct arena *arena, uint64_t unix_ms);
/* "1 h 20 min", "32.2 s" */
const char *markup_duration(struct arena *arena, double seconds);

#endif
