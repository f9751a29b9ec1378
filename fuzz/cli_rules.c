/*
 * cli_rules.c - `simtfuzz rules`: what the tables of rules, subjects and oracles say.
 */
#include "fuzz/cli.h"
#include "fuzz/json.h"
#include "fuzz/table.h"

static void list_rules(struct cli *cli)
{
    static const char *const titles[] = {"semantics", "rule", "source"};
    struct table table;
    struct json json;
    table_start(&table, &cli->arena, titles, "lll");
    json_start(&json, stdout);
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        const struct rule_info *rule = &rule_table[i];
        if (cli->options.json) {
            json_object_begin(&json);
            json_key_string(&json, "semantics", rule->semantics);
            json_key_string(&json, "rule", rule->name);
            json_key_string(&json, "source", rule->source);
            json_object_end(&json);
            json_end_line(&json);
        } else {
            struct table_row *row = table_add(&table);
            row->cells[0] = rule->semantics;
            row->cells[1] = rule->name;
            row->cells[2] = rule->source;
        }
    }
    if (!cli->options.json)
        table_print(&table, stdout);
}

static void list_subjects(struct cli *cli)
{
    struct table table;
    struct json json;
    table_start(&table, &cli->arena, NULL, "ll");
    json_start(&json, stdout);
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const struct subject_info *subject = &subject_table[i];
        if (cli->options.json) {
            json_object_begin(&json);
            json_key_string(&json, "subject", subject->name);
            json_key_string(&json, "semantics", subject->semantics);
            json_key_string(&json, "sentence", subject->sentence);
            json_object_end(&json);
            json_end_line(&json);
        } else {
            struct table_row *row = table_add(&table);
            row->cells[0] = subject->name;
            row->cells[1] = subject->sentence;
        }
    }
    if (!cli->options.json)
        table_print(&table, stdout);
}

static void list_oracles(struct cli *cli)
{
    struct json json;
    json_start(&json, stdout);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct oracle_info *oracle = &oracle_table[i];
        if (cli->options.json) {
            json_object_begin(&json);
            json_key_string(&json, "oracle", oracle->name);
            json_key_string(&json, "theorem", oracle->theorem);
            json_key_string(&json, "applies", oracle->applies);
            json_key_string(&json, "cannot", oracle->cannot);
            json_object_end(&json);
            json_end_line(&json);
        } else {
            printf("%s\n  theorem: %s\n  applies: %s\n  cannot:  %s\n", oracle->name,
                   oracle->theorem, oracle->applies, oracle->cannot);
        }
    }
}

int command_rules(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    if (o->list_subjects)
        list_subjects(cli);
    if (o->list_oracles)
        list_oracles(cli);
    if (!o->list_subjects && !o->list_oracles)
        list_rules(cli);
    return CLI_OK;
}
