/*
 * config.h - the settings of a campaign as a file (docs/configuration.md): each key is an option of `run`.
 *
 * The table of keys (config_keys.c) says which; values are read by the options' own parsers. Whatever is
 * wrong is said, all of it, each with its line.
 */
#ifndef FUZZ_CLI_CONFIG_H
#define FUZZ_CLI_CONFIG_H

#include "fuzz/cli/ini.h"
#include "fuzz/cli/options.h"

struct config_key {
    const char *section, *key;
    const char *option; /* of `run` */
    bool negated;       /* a flag whose option says no */
    bool hexadecimal;
    /* Of options with a form of their own: the value as a text that reads to it; NULL: not set. */
    const char *(*print)(struct arena *arena, const struct cli_options *options);
};

extern const struct config_key config_keys[];
extern const uint32_t config_key_count;

/* The option behind a key. */
const struct cli_option *config_option(const struct config_key *key);

/* Texts that are compiled in (fuzz/presets); the last has no name. */
struct config_preset {
    const char *name, *text;
};
extern const struct config_preset config_presets[];
const struct config_preset *config_preset_find(const char *name);

/* Where cli_misuse leaves its sentence while a configuration is read. */
struct config_place {
    struct ini *ini;
    uint32_t line;
    const char *option, *key;
};
void config_refuse(const struct config_place *place, const char *text);

/* Which settings of a campaign exclude each other: a sentence that names their options; NULL: none do. */
const char *config_conflict(const struct cli_options *options);

/* Reads a text into cli->options; what is wrong with it stands in the result. */
struct ini *config_read(struct cli *cli, const char *text, size_t length);

/* Reads a preset, or else a file. False: all errors were printed (with --json to standard output). */
bool config_load(struct cli *cli, const char *name);

/* One setting, "budget.time=5m", over what is there: --with. False: misuse was reported. */
bool config_set(struct cli *cli, const char *text);

/* All settings, defaults among them, as a text that reads to the same and prints to itself. */
char *config_print(struct arena *arena, const struct cli_options *options);
/* The same as one line of JSON. */
void config_print_json(struct arena *arena, const struct cli_options *options, FILE *out);

#endif
