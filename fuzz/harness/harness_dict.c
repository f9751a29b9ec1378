/*
 * harness_dict.c - prints a libFuzzer and AFL++ dictionary from the tables that the parsers themselves
 * use: `fuzz-dict kernel`, `ptx` or `options`.
 */
#include "engine/language/parse.h"
#include "engine/ptx/ptx_ops.h"
#include "engine/schedule/sched.h"
#include "engine/subjects/subject.h"
#include "fuzz/cli/config.h"
#include "oracle/check/verdict.h"

#include <stdio.h>
#include <string.h>

static void entry(const char *text)
{
    if (!*text)
        return;
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    puts("\"");
}

static void entries(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        entry(names[i]);
}

static void kernel(void)
{
    entries(parse_keywords, parse_keyword_count);
    entries(ast_binary_names, BINARY_COUNT);
    entries(ast_assign_names, ASSIGN_COUNT);
    entries(ast_claim_names, CLAIM_COUNT);
    entries(ast_stm_names, STM_KIND_COUNT);
}

static void ptx(void)
{
    static const char *const settings[] = {
        "// simtfuzz: ", "entry=", "threads=", "warp=", "blocks=", "bind:",
        "reg:",          "init:",  "stack=",   "raw",   "caches=", "// expect: "};
    for (int i = 1; i < PTX_WORD_COUNT; i++)
        printf("\".%s\"\n", ptx_words[i]);
    entries(ptx_mnemonics, PTX_OPCODE_COUNT);
    for (int i = 0; i < PTX_SPECIAL_COUNT; i++)
        entry(ptx_specials[i].name);
    entries(settings, sizeof settings / sizeof settings[0]);
}

static void options(void)
{
    static const char *const features[] = {
#define FEATURE(id, name, group_default, sentence) name,
#include "fuzz/gen/features.def"
    };
    static const char *const settings[] = {"gen=",         "seed=",      "case=",    "features=",
                                           "check-seed=",  "schedules=", "budget=",  "exhaustive",
                                           "small",        "enumerate",  "fixed",    "same-value",
                                           "subjects=",    "oracles=",   "tape-of=", "transforms=",
                                           "atomics-sync", "unscoped",   "weights=", "caches="};
    static const char *const values[] = {"yes", "no",   "5m",        "200%",
                                         "0x1", "0/16", "[weights]", "preset"};
    for (int i = 0; i < SUBJECT_COUNT; i++)
        entry(subject_table[i].name);
    for (int i = 0; i < ORACLE_COUNT; i++)
        entry(oracle_table[i].name);
    entries(features, sizeof features / sizeof features[0]);
    entries(ast_claim_names, CLAIM_COUNT);
    entries(settings, sizeof settings / sizeof settings[0]);
    entries(values, sizeof values / sizeof values[0]);
    for (uint32_t i = 0; i < config_key_count; i++) {
        entry(config_keys[i].section);
        entry(config_keys[i].key);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } dictionaries[] = {{"kernel", kernel}, {"ptx", ptx}, {"options", options}};
    for (size_t i = 0; argc == 2 && i < sizeof dictionaries / sizeof dictionaries[0]; i++)
        if (strcmp(argv[1], dictionaries[i].name) == 0) {
            dictionaries[i].print();
            return 0;
        }
    fputs("usage: fuzz-dict kernel|ptx|options\n", stderr);
    return 2;
}
