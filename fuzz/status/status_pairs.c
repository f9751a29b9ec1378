#include "fuzz/status/status_pairs.h"

#include "fuzz/out/json.h"
#include "fuzz/out/table.h"
#include "oracle/coverage/contexts.h"

#include <inttypes.h>
#include <string.h>

/* In how many cases a rule fired in a context, and in how many anywhere. */
struct pair_counts {
    uint64_t cases[RULE_COUNT][CONTEXT_COUNT];
};

static bool see_pair(void *context, const char *pair, uint64_t cases)
{
    struct pair_counts *counts = context;
    const char *space = strchr(pair, ' ');
    for (uint32_t r = 0; r < RULE_COUNT; r++) {
        size_t length = strlen(rule_table[r].semantics), name = strlen(rule_table[r].name);
        if (strncmp(pair, rule_table[r].semantics, length) != 0 || pair[length] != '.' ||
            strncmp(pair + length + 1, rule_table[r].name, name) != 0 ||
            pair + length + 1 + name != space)
            continue;
        for (uint32_t k = 0; k < CONTEXT_COUNT; k++)
            if (strcmp(space + 1, context_table[k].name) == 0)
                counts->cases[r][k] += cases;
    }
    return true;
}

static int read_pairs(struct cli *cli, struct pair_counts *counts)
{
    struct db_message message;
    struct db *db = cli_open_db(cli, DB_READONLY, &message);
    if (!db)
        return CLI_FAULT;
    int error = db_pair_hits(db, 0, see_pair, counts);
    int status = error == DB_OK ? CLI_OK : cli_db_failed(cli, &message, error);
    db_close(db);
    return status;
}

/* Adds what checks of the kernels on the command line show. */
static int check_files(struct cli *cli, struct pair_counts *counts)
{
    struct cli_files files;
    struct check_options options = CHECK_DEFAULTS;
    if (!cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    for (uint32_t f = 0; f < files.count; f++) {
        size_t mark = arena_mark(&cli->arena);
        struct contexts contexts = {{0}};
        const struct ast_kernel *kernel = cli_read_kernel(&cli->arena, files.paths[f]);
        if (!kernel)
            return CLI_USAGE;
        options.contexts = &contexts;
        check_kernel(&cli->arena, kernel, &options, ARENA_NEW(&cli->arena, struct check_result));
        for (uint32_t r = 0; r < RULE_COUNT; r++)
            for (uint32_t rest = contexts.of[r]; rest; rest &= rest - 1)
                counts->cases[r][__builtin_ctz(rest)]++;
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}

static void print_json(const struct pair_counts *counts)
{
    struct json json;
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        for (uint32_t k = 0; k < CONTEXT_COUNT; k++) {
            const char *why = context_impossible((enum rule)r, (enum context)k);
            json_line_begin(&json, stdout);
            json_key_string(&json, "semantics", rule_table[r].semantics);
            json_key_string(&json, "rule", rule_table[r].name);
            json_key_string(&json, "context", context_table[k].name);
            json_key_u64(&json, "cases", counts->cases[r][k]);
            if (why)
                json_key_string(&json, "impossible", why);
            json_line_end(&json);
        }
}

/* The contexts in which the rule could fire and never did, and how many of these, reached ones, impossible ones. */
struct pair_sums {
    uint32_t reached, never, impossible;
};

static const char *never_of(struct arena *arena, const struct pair_counts *counts, uint32_t rule,
                            struct pair_sums *sums)
{
    const char *text = "";
    for (uint32_t k = 0; k < CONTEXT_COUNT; k++) {
        if (counts->cases[rule][k] > 0) {
            sums->reached++;
        } else if (context_impossible((enum rule)rule, (enum context)k)) {
            sums->impossible++;
        } else {
            sums->never++;
            text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", context_table[k].name);
        }
    }
    return text;
}

static void print_table(struct cli *cli, const struct pair_counts *counts)
{
    static const char *const titles[] = {"rule", "reached", "never"};
    struct pair_sums all = {0};
    struct table table;
    table_start(&table, &cli->arena, titles, "lrl");
    for (uint32_t r = 0; r < RULE_COUNT; r++) {
        struct pair_sums of = {0};
        const char *never = never_of(&cli->arena, counts, r, &of);
        struct table_row *row = table_add(&table);
        row->cells[0] =
            arena_printf(&cli->arena, "%s.%s", rule_table[r].semantics, rule_table[r].name);
        row->cells[1] =
            arena_printf(&cli->arena, "%" PRIu32 "/%" PRIu32, of.reached, of.reached + of.never);
        row->cells[2] = of.reached + of.never == 0 ? "(not watched)" : never;
        all.reached += of.reached;
        all.never += of.never;
        all.impossible += of.impossible;
    }
    table_print(&table, stdout);
    printf("%" PRIu32 " of %" PRIu32 " pairs that can occur were reached; %" PRIu32
           " cannot (docs/pairs.md)\n",
           all.reached, all.reached + all.never, all.impossible);
}

int status_list_pairs(struct cli *cli)
{
    struct pair_counts *counts = ARENA_NEW(&cli->arena, struct pair_counts);
    bool read = cli->options.db_given || cli->argument_count == 0;
    int status = read ? read_pairs(cli, counts) : CLI_OK;
    if (status == CLI_OK && cli->argument_count > 0)
        status = check_files(cli, counts);
    if (status != CLI_OK)
        return status;
    if (cli->options.json)
        print_json(counts);
    else
        print_table(cli, counts);
    return CLI_OK;
}
