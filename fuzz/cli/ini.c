#include "fuzz/cli/ini.h"

#include "fuzz/out/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 400 };

/* What is being read. */
struct ini_reader {
    struct ini *ini;
    struct ini_entry **end;
    uint32_t line;
    const char *section; /* NULL: none yet */
    bool refused;        /* the section's name: its keys are passed over */
};

void ini_refuse(struct ini *ini, uint32_t line, const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list args;
    ini->error_count++;
    if (ini->error_count > INI_ERRORS_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct ini_error **at = &ini->errors;
    while (*at && (*at)->line <= line)
        at = &(*at)->next;
    struct ini_error *error = ARENA_NEW(ini->arena, struct ini_error);
    *error = (struct ini_error){
        .line = line, .text = arena_strndup(ini->arena, text, strlen(text)), .next = *at};
    *at = error;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Without the blanks around it. */
static void trim(const char **text, size_t *length)
{
    while (*length > 0 && is_blank(**text))
        (*text)++, (*length)--;
    while (*length > 0 && is_blank((*text)[*length - 1]))
        (*length)--;
}

/* Sections and keys: a-z, 0-9, '-' and '.', a letter first. */
static bool is_name(const char *text, size_t length)
{
    if (length == 0 || length >= INI_NAME_MAX || text[0] < 'a' || text[0] > 'z')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
              text[i] == '-' || text[i] == '.'))
            return false;
    return true;
}

/* What of a bad name is shown. */
static int shown(size_t length)
{
    return length > INI_NAME_MAX ? INI_NAME_MAX : (int)length;
}

static void add_entry(struct ini_reader *r, const char *key, const char *value)
{
    if (r->ini->entry_count++ >= INI_ENTRIES_MAX) {
        if (r->ini->entry_count == INI_ENTRIES_MAX + 1)
            ini_refuse(r->ini, r->line, "more than %d sections and keys", INI_ENTRIES_MAX);
        return;
    }
    struct ini_entry *entry = ARENA_NEW(r->ini->arena, struct ini_entry);
    *entry = (struct ini_entry){.line = r->line, .section = r->section, .key = key, .value = value};
    *r->end = entry;
    r->end = &entry->next;
}

static void read_section(struct ini_reader *r, const char *text, size_t length)
{
    const char *close = memchr(text, ']', length);
    r->refused = true;
    if (!close) {
        ini_refuse(r->ini, r->line, "']' is missing behind a section's name");
        return;
    }
    if (close != text + length - 1) {
        ini_refuse(r->ini, r->line, "nothing may follow the ']' of a section");
        return;
    }
    const char *name = text + 1;
    size_t name_length = length - 2;
    trim(&name, &name_length);
    if (!is_name(name, name_length)) {
        ini_refuse(r->ini, r->line, "'%.*s' is no name of a section", shown(name_length), name);
        return;
    }
    r->refused = false;
    r->section = arena_strndup(r->ini->arena, name, name_length);
    add_entry(r, NULL, NULL);
}

/* A '#' or ';' behind a blank. */
static bool has_comment(const char *value, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if ((value[i] == '#' || value[i] == ';') && is_blank(value[i - 1]))
            return true;
    return false;
}

static void read_key(struct ini_reader *r, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    if (!equals) {
        ini_refuse(r->ini, r->line,
                   "'%.*s' is no [section], no 'key = value' and no comment (those begin with #)",
                   shown(length), text);
        return;
    }
    const char *value = equals + 1;
    size_t key_length = (size_t)(equals - text), value_length = length - key_length - 1;
    trim(&text, &key_length);
    trim(&value, &value_length);
    if (!is_name(text, key_length))
        ini_refuse(r->ini, r->line, "'%.*s' is no name of a key", shown(key_length), text);
    else if (value_length == 0)
        ini_refuse(r->ini, r->line, "'%.*s' has no value", shown(key_length), text);
    else if (value_length > INI_VALUE_MAX)
        ini_refuse(r->ini, r->line, "the value of '%.*s' is longer than %d bytes",
                   shown(key_length), text, INI_VALUE_MAX);
    else if (has_comment(value, value_length))
        ini_refuse(r->ini, r->line,
                   "'%.*s': a comment stands on a line of its own, not behind a value",
                   shown(key_length), text);
    else if (!r->section && !r->refused)
        ini_refuse(r->ini, r->line, "'%.*s' stands before the first [section]", shown(key_length),
                   text);
    else if (!r->refused)
        add_entry(r, arena_strndup(r->ini->arena, text, key_length),
                  arena_strndup(r->ini->arena, value, value_length));
}

/* False: bytes that have no place in a text, after a message. */
static bool is_text(struct ini_reader *r, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)text[i];
        size_t bytes = json_utf8_length(text + i, length - i);
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
            ini_refuse(r->ini, r->line, "a control character (0x%02x) at column %zu", byte, i + 1);
            return false;
        }
        if (bytes == 0) {
            ini_refuse(r->ini, r->line, "a byte (0x%02x) that is no UTF-8 at column %zu", byte,
                       i + 1);
            return false;
        }
        i += bytes;
    }
    return true;
}

static void read_line(struct ini_reader *r, const char *text, size_t length)
{
    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (length > INI_LINE_MAX) {
        ini_refuse(r->ini, r->line, "the line is longer than %d bytes", INI_LINE_MAX);
        return;
    }
    if (!is_text(r, text, length))
        return;
    trim(&text, &length);
    if (length == 0 || *text == '#' || *text == ';')
        return;
    if (*text == '[')
        read_section(r, text, length);
    else
        read_key(r, text, length);
}

struct ini *ini_read(struct arena *arena, const char *text, size_t length)
{
    struct ini *ini = ARENA_NEW(arena, struct ini);
    struct ini_reader r = {.ini = ini, .end = &ini->entries, .line = 1};
    ini->arena = arena;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3, length -= 3;
    for (; length > 0; r.line++) {
        const char *end = memchr(text, '\n', length);
        size_t line = end ? (size_t)(end - text) : length;
        read_line(&r, text, line);
        line += end != NULL;
        text += line;
        length -= line;
    }
    return ini;
}
