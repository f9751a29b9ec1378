#include "fuzz/out/json.h"

#include "engine/base/invariant.h"

#include <inttypes.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 60 };

void json_start(struct json *json, FILE *out)
{
    *json = (struct json){.out = out};
}

void json_end_line(struct json *json)
{
    INVARIANT(json->depth == 0 && !json->after_key);
    fputc('\n', json->out);
    json->filled = 0;
}

/* What stands between this value and what came before it. */
static void separate(struct json *json)
{
    uint64_t bit = (uint64_t)1 << json->depth;
    if (json->after_key)
        json->after_key = false;
    else if (json->filled & bit)
        fputs(", ", json->out);
    json->filled |= bit;
}

static void open_container(struct json *json, char bracket)
{
    INVARIANT(json->depth < JSON_DEPTH_MAX);
    separate(json);
    fputc(bracket, json->out);
    json->depth++;
    json->filled &= ~((uint64_t)1 << json->depth);
}

static void close_container(struct json *json, char bracket)
{
    INVARIANT(json->depth > 0 && !json->after_key);
    json->depth--;
    fputc(bracket, json->out);
}

void json_object_begin(struct json *json)
{
    open_container(json, '{');
}

void json_object_end(struct json *json)
{
    close_container(json, '}');
}

void json_line_begin(struct json *json, FILE *out)
{
    json_start(json, out);
    json_object_begin(json);
}

void json_line_end(struct json *json)
{
    json_object_end(json);
    json_end_line(json);
}

void json_array_begin(struct json *json)
{
    open_container(json, '[');
}

void json_array_end(struct json *json)
{
    close_container(json, ']');
}

size_t json_utf8_length(const char *bytes, size_t available)
{
    const unsigned char *text = (const unsigned char *)bytes;
    size_t length;
    uint32_t least, value;
    if (text[0] < 0x80)
        return 1;
    if (text[0] >= 0xc2 && text[0] <= 0xdf)
        length = 2, least = 0x80, value = text[0] & 0x1fu;
    else if ((text[0] & 0xf0) == 0xe0)
        length = 3, least = 0x800, value = text[0] & 0x0fu;
    else if (text[0] >= 0xf0 && text[0] <= 0xf4)
        length = 4, least = 0x10000, value = text[0] & 0x07u;
    else
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (i == available || (text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = value >= 0xd800 && value <= 0xdfff;
    return value < least || value > 0x10ffff || surrogate ? 0 : length;
}

static void write_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', out);
    while (*at) {
        size_t length = json_utf8_length((const char *)at, SIZE_MAX);
        if (length == 0) {
            fputs("\\ufffd", out);
            at++;
            continue;
        }
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", out);
        else if (*at == '\t')
            fputs("\\t", out);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else
            fwrite(at, 1, length, out);
        at += length;
    }
    fputc('"', out);
}

void json_key(struct json *json, const char *key)
{
    INVARIANT(!json->after_key);
    separate(json);
    write_string(json->out, key);
    fputs(": ", json->out);
    json->after_key = true;
}

void json_null(struct json *json)
{
    separate(json);
    fputs("null", json->out);
}

void json_bool(struct json *json, bool value)
{
    separate(json);
    fputs(value ? "true" : "false", json->out);
}

void json_int(struct json *json, int64_t value)
{
    separate(json);
    fprintf(json->out, "%" PRId64, value);
}

void json_u64(struct json *json, uint64_t value)
{
    separate(json);
    fprintf(json->out, "%" PRIu64, value);
}

void json_double(struct json *json, double value)
{
    separate(json);
    fprintf(json->out, "%.1f", value);
}

void json_hex(struct json *json, uint64_t value)
{
    separate(json);
    fprintf(json->out, "\"0x%" PRIx64 "\"", value);
}

void json_string(struct json *json, const char *text)
{
    separate(json);
    if (text)
        write_string(json->out, text);
    else
        fputs("null", json->out);
}

void json_raw(struct json *json, const char *text)
{
    separate(json);
    fputs(text && *text ? text : "null", json->out);
}

void json_key_string(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_string(json, text);
}

void json_key_u64(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_u64(json, value);
}

void json_key_bool(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

void json_key_hex(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_hex(json, value);
}

void json_key_double(struct json *json, const char *key, double value)
{
    json_key(json, key);
    json_double(json, value);
}

void json_key_object_begin(struct json *json, const char *key)
{
    json_key(json, key);
    json_object_begin(json);
}

void json_key_array_begin(struct json *json, const char *key)
{
    json_key(json, key);
    json_array_begin(json);
}
