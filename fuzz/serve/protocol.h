/*
 * protocol.h - messages between simtfuzz and a program that runs kernels for it (docs/protocol.md), over two pipes.
 *
 * A message is its length in decimal, a newline, and so many bytes: fields one behind the other, each
 * `name length newline bytes newline`. Fields of one name keep their order.
 */
#ifndef FUZZ_SERVE_PROTOCOL_H
#define FUZZ_SERVE_PROTOCOL_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGE_BYTES_MAX = 256 << 20, MESSAGE_NAME_MAX = 32 };

/* ---- writing ---- */

void message_put(struct text *message, const char *name, const void *bytes, size_t length);
void message_put_text(struct text *message, const char *name, const char *text);
/* All of it, with its length before it. False: the other side is gone. */
bool message_send(int fd, const struct text *message);

/* ---- reading ---- */

struct message_field {
    const char *name;
    const char *bytes; /* zero-terminated; the zero does not count */
    size_t length;
};

struct message {
    const struct message_field *fields;
    uint32_t count;
};

/* Splits the bytes of a message. False: they are none. */
bool message_parse(struct arena *arena, const char *bytes, size_t length, struct message *message);

/* The n-th field of a name, from 0; NULL: there is none. */
const struct message_field *message_field(const struct message *message, const char *name,
                                          uint32_t n);
/* Its text; "" where there is none. */
const char *message_text(const struct message *message, const char *name, uint32_t n);

/* The length line of a message: how many bytes follow. False: this is none. */
bool message_length(const char *line, size_t *length);

#endif
