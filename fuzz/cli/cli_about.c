/*
 * cli_about.c - `simtfuzz help NAME` of what is no command: a semantics, an oracle, a rule, a feature of the generator.
 */
#include "engine/subjects/subject.h"
#include "fuzz/cli/cli.h"
#include "fuzz/gen/gen.h"
#include "oracle/check/verdict.h"

#include <string.h>

static const struct {
    const char *name, *sentence;
} features[] = {
#define FEATURE(id, name, group_default, sentence) {name, sentence},
#include "fuzz/gen/features.def"
#undef FEATURE
};

enum { FEATURES = sizeof features / sizeof *features };

static uint32_t print_rules(const char *name, FILE *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rule_table[i].name, name) == 0) {
            fprintf(out, "%s is a rule of %s: %s\n", name, rule_table[i].semantics,
                    rule_table[i].source);
            found++;
        }
    if (found > 0)
        fprintf(out, "simtfuzz rules lists all rules and how often each was used.\n");
    return found;
}

bool cli_print_about(const char *name, FILE *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (strcmp(subject_table[i].name, name) == 0) {
            fprintf(out, "%s is a semantics: %s\nsimtfuzz subjects lists them.\n", name,
                    subject_table[i].sentence);
            found++;
        }
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (strcmp(oracle_table[i].name, name) == 0) {
            fprintf(out, "%s is an oracle: %s.\nIt applies to %s.\nIt cannot tell: %s.\n", name,
                    oracle_table[i].theorem, oracle_table[i].applies, oracle_table[i].cannot);
            found++;
        }
    for (uint32_t i = 0; i < FEATURES; i++)
        if (strcmp(features[i].name, name) == 0) {
            fprintf(out, "%s is a feature of generated kernels (--features): %s\n", name,
                    features[i].sentence);
            found++;
        }
    return found + print_rules(name, out) > 0;
}

const char *cli_about_meant(struct cli *cli, const char *name)
{
    const char *names[COMMAND_COUNT + SUBJECT_COUNT + ORACLE_COUNT + FEATURES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < COMMAND_COUNT; i++)
        names[count++] = cli_commands[i].name;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        names[count++] = subject_table[i].name;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        names[count++] = oracle_table[i].name;
    for (uint32_t i = 0; i < FEATURES; i++)
        names[count++] = features[i].name;
    return cli_meant(cli, name, names, count);
}
