/* cli_transform.c - `simtfuzz transform`: a kernel after transformations that keep its meaning. */
#include "engine/input/input.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"

int command_transform(struct cli *cli)
{
    const char *path = cli->arguments[0];
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    const struct transform_list *given = &cli->options.transforms;
    struct transform_list done;
    if (!kernel)
        return CLI_USAGE;
    kernel = given->count > 0 ? transform_apply(&cli->arena, kernel, given, &done)
                              : transform_draw(&cli->arena, kernel, cli->options.seed, &done);
    const char *text = print_kernel(&cli->arena, kernel);
    const char *names = transform_print_list(&cli->arena, &done);
    if (cli->options.json) {
        struct json json;
        json_line_begin(&json, stdout);
        json_key_string(&json, "file", path);
        json_key_string(&json, "transforms", names);
        json_key_string(&json, "text", text);
        json_line_end(&json);
    } else {
        printf("// transforms=%s\n%s", names, text);
    }
    return CLI_OK;
}
