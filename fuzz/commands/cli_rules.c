/*
 * cli_rules.c - `simtfuzz rules`: what the tables of rules, subjects and oracles say.
 */
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"
#include "fuzz/out/table.h"
#include "fuzz/status/status_pairs.h"

#include <inttypes.h>
#include <string.h>

/* How often each rule has fired in the campaigns of a database, or in checks of kernels. */
struct rule_hits {
    bool known;
    uint64_t hits[RULE_COUNT];
};

static bool see_hits(void *context, const char *rule, uint64_t hits)
{
    struct rule_hits *seen = context;
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        size_t length = strlen(rule_table[i].semantics);
        if (strncmp(rule, rule_table[i].semantics, length) == 0 && rule[length] == '.' &&
            strcmp(rule + length + 1, rule_table[i].name) == 0)
            seen->hits[i] += hits;
    }
    return true;
}

/* Adds what a check of the kernels named on the command line fires. Returns the exit status. */
static int count_hits(struct cli *cli, struct rule_hits *seen)
{
    struct cli_files files;
    struct check_options options = CHECK_DEFAULTS;
    if (!cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    for (uint32_t f = 0; f < files.count; f++) {
        size_t mark = arena_mark(&cli->arena);
        const struct ast_kernel *kernel = cli_read_kernel(&cli->arena, files.paths[f]);
        if (!kernel)
            return CLI_USAGE;
        struct check_result *result = ARENA_NEW(&cli->arena, struct check_result);
        check_kernel(&cli->arena, kernel, &options, result);
        for (uint32_t i = 0; i < RULE_COUNT; i++)
            seen->hits[i] += result->hits[i];
        arena_release(&cli->arena, mark);
    }
    seen->known = true;
    return CLI_OK;
}

/* Adds what the campaigns of the database have fired. Returns the exit status. */
static int read_hits(struct cli *cli, struct rule_hits *seen)
{
    struct db_message message;
    struct db *db = cli_open_db(cli, DB_READONLY, &message);
    if (!db)
        return CLI_FAULT;
    int error = db_rule_hits(db, 0, see_hits, seen);
    int status = error == DB_OK ? CLI_OK : cli_db_failed(cli, &message, error);
    seen->known = error == DB_OK;
    db_close(db);
    return status;
}

static void print_rule(const struct rule_info *rule, const uint64_t *hits)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, "semantics", rule->semantics);
    json_key_string(&json, "rule", rule->name);
    if (hits)
        json_key_u64(&json, "hits", *hits);
    json_key_string(&json, "source", rule->source);
    json_line_end(&json);
}

static int list_rules(struct cli *cli)
{
    static const char *const titles[] = {"semantics", "rule", "hits", "source"};
    struct rule_hits seen = {.known = false};
    struct table table;
    int status = cli->options.db_given ? read_hits(cli, &seen) : CLI_OK;
    if (status == CLI_OK && cli->argument_count > 0)
        status = count_hits(cli, &seen);
    if (status != CLI_OK)
        return status;
    table_start(&table, &cli->arena, titles, "llrl");
    table.hidden = seen.known ? 0 : 1u << 2;
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        const struct rule_info *rule = &rule_table[i];
        if (cli->options.json) {
            print_rule(rule, seen.known ? &seen.hits[i] : NULL);
            continue;
        }
        struct table_row *row = table_add(&table);
        row->cells[0] = rule->semantics;
        row->cells[1] = rule->name;
        row->cells[2] = arena_printf(&cli->arena, "%" PRIu64, seen.hits[i]);
        row->cells[3] = rule->source;
    }
    if (!cli->options.json)
        table_print(&table, stdout);
    return CLI_OK;
}

static void list_subjects(struct cli *cli)
{
    struct table table;
    struct json json;
    table_start(&table, &cli->arena, NULL, "lll");
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const struct subject_info *subject = &subject_table[i];
        if (cli->options.json) {
            json_line_begin(&json, stdout);
            json_key_string(&json, "subject", subject->name);
            json_key_string(&json, "semantics",
                            arena_strndup(&cli->arena, subject->name, strcspn(subject->name, ":")));
            json_key_string(&json, "program", program_id_names[subject->program]);
            json_key_bool(&json, "default", subject->role == SUBJECT_ORDINARY);
            json_key_string(&json, "sentence", subject->sentence);
            json_line_end(&json);
        } else {
            struct table_row *row = table_add(&table);
            row->cells[0] = subject->name;
            row->cells[1] = subject->role == SUBJECT_ORDINARY ? "" : "by name only";
            row->cells[2] = subject->sentence;
        }
    }
    if (!cli->options.json)
        table_print(&table, stdout);
}

static void list_oracles(struct cli *cli)
{
    struct json json;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct oracle_info *oracle = &oracle_table[i];
        if (cli->options.json) {
            json_line_begin(&json, stdout);
            json_key_string(&json, "oracle", oracle->name);
            json_key_string(&json, "theorem", oracle->theorem);
            json_key_string(&json, "applies", oracle->applies);
            json_key_string(&json, "cannot", oracle->cannot);
            json_line_end(&json);
        } else {
            printf("%s\n  theorem: %s\n  applies: %s\n  cannot:  %s\n", oracle->name,
                   oracle->theorem, oracle->applies, oracle->cannot);
        }
    }
}

static void list_transforms(struct cli *cli)
{
    struct json json;
    for (uint32_t i = 0; i < TRANSFORM_COUNT; i++) {
        const struct transform_info *transform = &transform_table[i];
        if (cli->options.json) {
            json_line_begin(&json, stdout);
            json_key_string(&json, "transform", transform->name);
            json_key_string(&json, "sentence", transform->sentence);
            json_key_string(&json, "applies", transform->applies);
            json_key_bool(&json, "structured", transform->forms & ON_STRUCTURED);
            json_key_bool(&json, "blocks", transform->forms & ON_BLOCKS);
            json_key_bool(&json, "ptx", transform->forms & ON_PTX);
            json_line_end(&json);
        } else {
            printf("%s\n  does:    %s\n  applies: %s\n  forms:  %s%s%s\n", transform->name,
                   transform->sentence, transform->applies,
                   transform->forms & ON_STRUCTURED ? " structured" : "",
                   transform->forms & ON_BLOCKS ? " blocks" : "",
                   transform->forms & ON_PTX ? " PTX" : "");
        }
    }
}

/* What a weight is at without --weights: of a row its number in features.def; a feature scales its rows. */
static void list_weights(struct cli *cli)
{
    struct json json;
    const char *name;
    for (uint32_t i = 0; (name = gen_weight_name(&cli->arena, i)); i++) {
        uint32_t weight = gen_weight_default(i);
        if (cli->options.json) {
            json_line_begin(&json, stdout);
            json_key_string(&json, "weight", name);
            if (weight > 0)
                json_key_u64(&json, "usual", weight);
            json_line_end(&json);
        } else if (weight > 0) {
            printf("%-24s %3" PRIu32 "\n", name, weight);
        } else {
            printf("%-24s all its rows\n", name);
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
    if (o->list_transforms)
        list_transforms(cli);
    if (o->list_weights)
        list_weights(cli);
    if (o->list_pairs)
        return status_list_pairs(cli);
    if (!o->list_subjects && !o->list_oracles && !o->list_transforms && !o->list_weights)
        return list_rules(cli);
    return CLI_OK;
}
