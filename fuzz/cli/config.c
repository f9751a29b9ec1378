#include "fuzz/cli/config.h"

#include "engine/base/invariant.h"
#include "engine/base/spelling.h"
#include "engine/input/input.h"
#include "fuzz/out/json.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* The section whose keys are the generator's weights, and the key that names a preset. */
static const char WEIGHTS[] = "weights", PRESET_SECTION[] = "campaign", PRESET[] = "preset";

enum { NAMES_MAX = 512 };

struct config_reader {
    struct cli *cli;
    struct ini *ini;
    struct gen_weights *weights; /* NULL: none so far */
};

const struct config_preset *config_preset_find(const char *name)
{
    for (const struct config_preset *preset = config_presets; preset->name; preset++)
        if (strcmp(preset->name, name) == 0)
            return preset;
    return NULL;
}

/* "--cases wants ..." of the option behind it is "'cases' wants ..." of a key. */
void config_refuse(const struct config_place *place, const char *text)
{
    size_t length = strlen(place->option);
    bool named = strncmp(text, "--", 2) == 0 && strncmp(text + 2, place->option, length) == 0;
    ini_refuse(place->ini, place->line, "%s%s%s%s", named ? "'" : "", named ? place->key : "",
               named ? "'" : "", named ? text + 2 + length : text);
}

/* ---- names ---- */

struct names {
    const char *names[NAMES_MAX];
    uint32_t count;
};

static void add_name(struct names *names, const char *name)
{
    INVARIANT(names->count < NAMES_MAX);
    names->names[names->count++] = name;
}

static void section_names(struct names *names)
{
    names->count = 0;
    for (uint32_t i = 0; i < config_key_count; i++)
        if (i == 0 || strcmp(config_keys[i].section, config_keys[i - 1].section) != 0)
            add_name(names, config_keys[i].section);
    add_name(names, WEIGHTS);
}

static void key_names(struct arena *arena, const char *section, struct names *names)
{
    const char *name;
    names->count = 0;
    for (uint32_t i = 0; i < config_key_count; i++)
        if (strcmp(config_keys[i].section, section) == 0)
            add_name(names, config_keys[i].key);
    if (strcmp(section, PRESET_SECTION) == 0)
        add_name(names, PRESET);
    if (strcmp(section, WEIGHTS) == 0)
        for (uint32_t i = 0; (name = gen_weight_name(arena, i)); i++)
            add_name(names, name);
}

static bool has_name(const struct names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return true;
    return false;
}

/* "time, cases, steps" */
static char *list_names(struct arena *arena, const struct names *names)
{
    char *text = arena_strndup(arena, "", 0);
    for (uint32_t i = 0; i < names->count; i++)
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "", names->names[i]);
    return text;
}

/* Not for errors that nobody will see: it takes its time. */
static const char *nearest_of(const struct ini *ini, const char *name, const struct names *names)
{
    return ini->error_count < INI_ERRORS_MAX ? spelling_nearest(name, names->names, names->count)
                                             : NULL;
}

static void refuse_section(struct config_reader *r, const struct ini_entry *entry)
{
    struct names sections;
    section_names(&sections);
    const char *nearest = nearest_of(r->ini, entry->section, &sections);
    if (nearest)
        ini_refuse(r->ini, entry->line, "there is no section [%s]: [%s] is meant?", entry->section,
                   nearest);
    else
        ini_refuse(r->ini, entry->line, "there is no section [%s] (there are: %s)", entry->section,
                   list_names(r->ini->arena, &sections));
}

/* The section that has such a key, or NULL. */
static const char *section_of(const char *key)
{
    for (uint32_t i = 0; i < config_key_count; i++)
        if (strcmp(config_keys[i].key, key) == 0)
            return config_keys[i].section;
    return strcmp(key, PRESET) == 0 ? PRESET_SECTION : NULL;
}

static void refuse_key(struct config_reader *r, const struct ini_entry *entry)
{
    struct names keys;
    key_names(r->ini->arena, entry->section, &keys);
    const char *nearest = nearest_of(r->ini, entry->key, &keys);
    const char *other = section_of(entry->key);
    if (other)
        ini_refuse(r->ini, entry->line, "'%s' belongs to [%s], not to [%s]", entry->key, other,
                   entry->section);
    else if (nearest)
        ini_refuse(r->ini, entry->line, "there is no '%s' in [%s]: '%s' is meant?", entry->key,
                   entry->section, nearest);
    else if (strcmp(entry->section, WEIGHTS) == 0)
        ini_refuse(r->ini, entry->line,
                   "there is no weight '%s' (simtfuzz rules --weights lists them)", entry->key);
    else
        ini_refuse(r->ini, entry->line, "there is no '%s' in [%s] (there are: %s)", entry->key,
                   entry->section, list_names(r->ini->arena, &keys));
}

/* ---- values ---- */

static const struct config_key *find_key(const char *section, const char *key)
{
    for (uint32_t i = 0; i < config_key_count; i++)
        if (strcmp(config_keys[i].section, section) == 0 && strcmp(config_keys[i].key, key) == 0)
            return &config_keys[i];
    return NULL;
}

static void set_flag(struct config_reader *r, const struct ini_entry *entry,
                     const struct config_key *key, const struct cli_option *option)
{
    bool yes = strcmp(entry->value, "yes") == 0 || strcmp(entry->value, "true") == 0;
    bool no = strcmp(entry->value, "no") == 0 || strcmp(entry->value, "false") == 0;
    if (yes || no)
        *(bool *)((char *)&r->cli->options + option->field) = yes != key->negated;
    else
        ini_refuse(r->ini, entry->line, "'%s' wants yes or no, not '%s'", entry->key, entry->value);
}

static void set_key(struct config_reader *r, const struct ini_entry *entry,
                    const struct config_key *key)
{
    const struct cli_option *option = config_option(key);
    struct config_place place = {r->ini, entry->line, option->name, entry->key};
    if (option->kind == OPTION_FLAG) {
        set_flag(r, entry, key, option);
        return;
    }
    r->cli->config = &place;
    (void)option_apply(r->cli, option, entry->value);
    r->cli->config = NULL;
}

static void set_weight(struct config_reader *r, const struct ini_entry *entry)
{
    uint32_t percent = gen_weights_percent(entry->value, strlen(entry->value));
    if (!r->weights)
        r->weights = gen_weights_new(r->ini->arena);
    if (percent == 0)
        ini_refuse(r->ini, entry->line, "'%s' wants a percentage from 1 to %d, not '%s'",
                   entry->key, GEN_WEIGHT_MAX, entry->value);
    else
        INVARIANT(gen_weights_set(r->weights, entry->key, strlen(entry->key), percent));
}

/* The line of an earlier value of the same key; 0: there is none. */
static uint32_t earlier_line(const struct ini *ini, const struct ini_entry *entry)
{
    for (const struct ini_entry *at = ini->entries; at != entry; at = at->next)
        if (at->key && strcmp(at->key, entry->key) == 0 && strcmp(at->section, entry->section) == 0)
            return at->line;
    return 0;
}

static void set_entry(struct config_reader *r, const struct ini_entry *entry)
{
    struct names known;
    section_names(&known);
    if (!has_name(&known, entry->section)) {
        if (!entry->key)
            refuse_section(r, entry);
        return;
    }
    if (!entry->key)
        return;
    key_names(r->ini->arena, entry->section, &known);
    if (!has_name(&known, entry->key)) {
        refuse_key(r, entry);
        return;
    }
    uint32_t earlier = earlier_line(r->ini, entry);
    const struct config_key *key = find_key(entry->section, entry->key);
    if (earlier > 0)
        ini_refuse(r->ini, entry->line, "'%s' has a value already, in line %" PRIu32, entry->key,
                   earlier);
    else if (key)
        set_key(r, entry, key);
    else if (strcmp(entry->section, WEIGHTS) == 0)
        set_weight(r, entry);
}

/* The preset that a file goes out from comes first, wherever the file says so. */
static void set_preset(struct config_reader *r)
{
    for (const struct ini_entry *at = r->ini->entries; at; at = at->next) {
        if (!at->key || strcmp(at->key, PRESET) != 0 || strcmp(at->section, PRESET_SECTION) != 0)
            continue;
        const struct config_preset *preset = config_preset_find(at->value);
        if (!preset) {
            ini_refuse(r->ini, at->line,
                       "there is no preset '%s' (simtfuzz config --presets lists them)", at->value);
            return;
        }
        struct ini *own = r->ini;
        r->ini = ini_read(own->arena, preset->text, strlen(preset->text));
        for (const struct ini_entry *entry = r->ini->entries; entry; entry = entry->next)
            set_entry(r, entry);
        INVARIANT(r->ini->error_count == 0);
        r->ini = own;
        return;
    }
}

struct ini *config_read(struct cli *cli, const char *text, size_t length)
{
    struct config_reader r = {.cli = cli, .ini = ini_read(&cli->arena, text, length)};
    set_preset(&r);
    for (const struct ini_entry *entry = r.ini->entries; entry; entry = entry->next)
        set_entry(&r, entry);
    if (r.weights)
        cli->options.weights = r.weights;
    return r.ini;
}

/* ---- files ---- */

static void print_errors_json(const struct ini *ini, const char *name)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "file", name);
    json_key_u64(&json, "error_count", ini->error_count);
    json_key_array_begin(&json, "errors");
    for (const struct ini_error *error = ini->errors; error; error = error->next) {
        json_object_begin(&json);
        json_key_u64(&json, "line", error->line);
        json_key_string(&json, "message", error->text);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_line_end(&json);
}

static void print_errors(const struct ini *ini, const char *name)
{
    for (const struct ini_error *error = ini->errors; error; error = error->next)
        fprintf(stderr, "%s:%" PRIu32 ": %s\n", name, error->line, error->text);
    if (ini->error_count > INI_ERRORS_MAX)
        fprintf(stderr, "%s: and %" PRIu32 " more\n", name, ini->error_count - INI_ERRORS_MAX);
}

static void refuse_preset(const struct cli *cli, const char *name)
{
    struct names presets = {.count = 0};
    for (const struct config_preset *preset = config_presets; preset->name; preset++)
        add_name(&presets, preset->name);
    const char *nearest = spelling_nearest(name, presets.names, presets.count);
    cli_misuse(cli, "there is neither a file nor a preset '%s'%s%s%s", name,
               nearest ? ": '" : " (simtfuzz config --presets lists them)", nearest ? nearest : "",
               nearest ? "' is meant?" : "");
}

bool config_load(struct cli *cli, const char *name)
{
    const struct config_preset *preset = config_preset_find(name);
    const char *text = preset ? preset->text : NULL;
    size_t length = preset ? strlen(text) : 0;
    struct diag diag;
    if (!preset && access(name, F_OK) != 0 && !strpbrk(name, "/.")) {
        refuse_preset(cli, name);
        return false;
    }
    if (!preset && !(text = parse_read_bytes(&cli->arena, name, INI_TEXT_MAX, &length, &diag))) {
        diag_print(&diag, stderr);
        return false;
    }
    struct ini *ini = config_read(cli, text, length);
    if (ini->error_count == 0) {
        cli->options.config_text = arena_strndup(&cli->arena, text, length);
        return true;
    }
    if (cli->options.json)
        print_errors_json(ini, name);
    else
        print_errors(ini, name);
    return false;
}

bool config_set(struct cli *cli, const char *text)
{
    const char *equals = strchr(text, '='), *dot = strchr(text, '.');
    if (!equals || !dot || dot > equals) {
        cli_misuse(cli, "--with wants SECTION.KEY=VALUE, such as budget.time=5m, not '%s'", text);
        return false;
    }
    struct config_reader r = {.cli = cli};
    char *line = arena_printf(&cli->arena, "[%.*s]\n%s\n", (int)(dot - text), text, dot + 1);
    r.ini = ini_read(&cli->arena, line, strlen(line));
    if (cli->options.weights && strncmp(text, WEIGHTS, sizeof WEIGHTS - 1) == 0)
        r.weights = gen_weights_copy(&cli->arena, cli->options.weights);
    set_preset(&r);
    for (const struct ini_entry *entry = r.ini->entries; entry; entry = entry->next)
        set_entry(&r, entry);
    if (r.weights)
        cli->options.weights = r.weights;
    if (r.ini->error_count > 0)
        cli_misuse(cli, "--with %s: %s", text, r.ini->errors->text);
    return r.ini->error_count == 0;
}

/* ---- printing ---- */

static const char *print_time(struct arena *arena, uint64_t milliseconds)
{
    uint64_t seconds = milliseconds / 1000;
    if (seconds % 3600 == 0)
        return arena_printf(arena, "%" PRIu64 "h", seconds / 3600);
    if (seconds % 60 == 0)
        return arena_printf(arena, "%" PRIu64 "m", seconds / 60);
    return arena_printf(arena, "%" PRIu64 "s", seconds);
}

/* NULL: not set, what simtfuzz does then its option's sentence says. */
static const char *value_of(struct arena *arena, const struct cli_options *o,
                            const struct config_key *key)
{
    const struct cli_option *option = config_option(key);
    const char *field = (const char *)o + option->field;
    uint64_t number = 0;
    switch (option->kind) {
    case OPTION_FLAG:
        return *(const bool *)field != key->negated ? "yes" : "no";
    case OPTION_TEXT:
    case OPTION_OUTPUT:
        return *(const char *const *)field;
    case OPTION_OWN:
        return key->print(arena, o);
    case OPTION_U64:
    case OPTION_SOME_U64:
    case OPTION_TIME:
        number = *(const uint64_t *)field;
        break;
    case OPTION_U32:
    case OPTION_SOME_U32:
        number = *(const uint32_t *)field;
        break;
    }
    if (option->given ? !*((const bool *)o + option->given) : number == 0)
        return NULL;
    if (option->kind == OPTION_TIME)
        return print_time(arena, number);
    return key->hexadecimal ? arena_printf(arena, "0x%" PRIx64, number)
                            : arena_printf(arena, "%" PRIu64, number);
}

static char *print_weights(struct arena *arena, const struct gen_weights *weights)
{
    const char *name;
    char *text = arena_printf(arena, "\n[%s]\n", WEIGHTS);
    for (uint32_t i = 0; (name = gen_weight_name(arena, i)); i++)
        if (gen_weight_percent(weights, i) != 100)
            text = arena_printf(arena, "%s%s = %" PRIu32 "%%\n", text, name,
                                gen_weight_percent(weights, i));
    return text;
}

char *config_print(struct arena *arena, const struct cli_options *options)
{
    char *text = arena_strndup(arena, "", 0);
    const char *section = "";
    for (uint32_t i = 0; i < config_key_count; i++) {
        const struct config_key *key = &config_keys[i];
        const char *value = value_of(arena, options, key);
        if (strcmp(section, key->section) != 0)
            text = arena_printf(arena, "%s%s[%s]\n", text, *section ? "\n" : "", key->section);
        section = key->section;
        if (value)
            text = arena_printf(arena, "%s%s = %s\n", text, key->key, value);
        else
            text =
                arena_printf(arena, "%s# %s: %s\n", text, key->key, config_option(key)->sentence);
    }
    return arena_printf(arena, "%s%s", text, print_weights(arena, options->weights));
}

void config_print_json(struct arena *arena, const struct cli_options *options, FILE *out)
{
    struct json json;
    const char *section = "", *name;
    json_line_begin(&json, out);
    json_key_u64(&json, "version", 1);
    for (uint32_t i = 0; i < config_key_count; i++) {
        const struct config_key *key = &config_keys[i];
        if (strcmp(section, key->section) != 0) {
            if (*section)
                json_object_end(&json);
            json_key_object_begin(&json, key->section);
        }
        section = key->section;
        json_key_string(&json, key->key, value_of(arena, options, key));
    }
    json_object_end(&json);
    json_key_object_begin(&json, WEIGHTS);
    for (uint32_t i = 0; (name = gen_weight_name(arena, i)); i++)
        if (gen_weight_percent(options->weights, i) != 100)
            json_key_u64(&json, name, gen_weight_percent(options->weights, i));
    json_object_end(&json);
    json_line_end(&json);
}
