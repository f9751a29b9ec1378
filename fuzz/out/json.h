/*
 * json.h - JSON on one line, written as it goes: commas and nesting are kept here.
 *
 * Strings are escaped; bytes that are not UTF-8 become U+FFFD. 64-bit seeds are strings in
 * hexadecimal, because many readers hold numbers as doubles.
 */
#ifndef FUZZ_JSON_H
#define FUZZ_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    uint32_t depth;
    uint64_t filled; /* bit d: the container at depth d has an element */
    bool after_key;
};

void json_start(struct json *json, FILE *out);
void json_end_line(struct json *json); /* after the outermost value */
/* A document of `--json`: one object, on a line of its own. */
void json_line_begin(struct json *json, FILE *out);
void json_line_end(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

void json_key(struct json *json, const char *key);
void json_null(struct json *json);
void json_bool(struct json *json, bool value);
void json_int(struct json *json, int64_t value);
void json_u64(struct json *json, uint64_t value);
void json_double(struct json *json, double value);     /* one decimal */
void json_hex(struct json *json, uint64_t value);      /* "0x1f" */
void json_string(struct json *json, const char *text); /* NULL becomes null */
void json_raw(struct json *json, const char *text);    /* JSON already; NULL or "" becomes null */

/* Key and value in one. */
void json_key_string(struct json *json, const char *key, const char *text);
void json_key_u64(struct json *json, const char *key, uint64_t value);
void json_key_bool(struct json *json, const char *key, bool value);
void json_key_hex(struct json *json, const char *key, uint64_t value);
void json_key_double(struct json *json, const char *key, double value);
void json_key_object_begin(struct json *json, const char *key);
void json_key_array_begin(struct json *json, const char *key);

/* Length of the well-formed UTF-8 sequence at `bytes`, of which so many (at least one) are there; 0 if there
 * is none. */
size_t json_utf8_length(const char *bytes, size_t available);

#endif
