/*
 * cli_kernels.c - kernels that the command line names: finding, reading and writing files.
 */
#include "engine/forms/cfg.h"
#include "engine/input/annotate.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/language/print.h"
#include "fuzz/case/case.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"
#include "fuzz/out/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES_MAX = 100000, FOLDER_DEPTH_MAX = 32 };

/* CFG.red, and that all blocks are reachable: of the kernel and of every procedure. */
static bool check_graphs(struct arena *arena, const struct ast_kernel *kernel, struct diag *diag)
{
    const struct ast_function *functions[] = {kernel->main, kernel->functions};
    bool good = true;
    for (int i = 0; i < 2; i++)
        for (const struct ast_function *f = functions[i]; f; f = i ? f->next : NULL) {
            const char *reason;
            struct location at;
            if (cfg_build(arena, f, &reason, &at))
                continue;
            diag_error(diag, at, "%s", reason);
            good = false;
        }
    return good;
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), size = strlen(suffix);
    return length > size && strcmp(name + length - size, suffix) == 0;
}

bool cli_is_ptx(const char *path)
{
    return ends_in(path, ".ptx");
}

/* Settings of the command line go into the reading of PTX: they may say which entry is meant. */
static struct ast_kernel *read_kernel(struct arena *arena, const char *path, const char *settings)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    size_t length;
    diag_init(diag, path, NULL, 0);
    char *text = cli_is_ptx(path)
                     ? parse_read_bytes(arena, path, PTX_LIMIT_SOURCE_BYTES, &length, diag)
                     : parse_read_file(arena, path, &length, diag);
    struct ast_kernel *kernel = NULL;
    if (text) {
        diag_init(diag, path, text, length);
        kernel = ptx_is_ptx(text, length)
                     ? ptx_kernel_parse_with(arena, text, length, settings, diag)
                     : parse_kernel(arena, text, length, diag);
    }
    if (kernel && kernel->form == FORM_BLOCKS && !check_graphs(arena, kernel, diag))
        kernel = NULL;
    if (!kernel)
        diag_print(diag, stderr);
    return kernel;
}

struct ast_kernel *cli_read_kernel(struct arena *arena, const char *path)
{
    return read_kernel(arena, path, NULL);
}

/* A launch that breaks `requires` is none of this kernel; of several launches `prove` asks itself. */
static bool is_met(struct cli *cli, const struct ast_kernel *kernel, struct diag *diag)
{
    const struct ast_stm *broken = annotate_broken(kernel);
    if (!broken || cli->options.prove.threads_to > 0)
        return true;
    diag_error(diag, broken->at,
               "the launch (threads = %u, warp = %u, blocks = %u) does not meet '%s'",
               (unsigned)kernel->launch.threads, (unsigned)kernel->launch.warp,
               (unsigned)kernel->launch.blocks, print_stm_head(&cli->arena, broken));
    return false;
}

static bool set_launch(struct cli *cli, struct ast_kernel *kernel, const char *path)
{
    const struct ast_launch *asked = &cli->options.launch;
    if (cli->options.launch_dimensions || cli->options.ptx_only) {
        cli_message(cli, "%s: --entry, --bind, --shared and sizes like 8x8 are for PTX", path);
        return false;
    }
    if (asked->threads)
        kernel->launch.threads = asked->threads;
    if (asked->warp)
        kernel->launch.warp = asked->warp;
    if (asked->blocks)
        kernel->launch.blocks = asked->blocks;
    cache_sizes_override(&kernel->launch.caches, &asked->caches);
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    diag_init(diag, path, NULL, 0);
    if (ast_check(kernel, diag) && is_met(cli, kernel, diag))
        return true;
    diag_print(diag, stderr);
    return false;
}

struct ast_kernel *cli_read_launched(struct cli *cli, const char *path)
{
    struct ast_kernel *kernel = read_kernel(&cli->arena, path, cli->options.settings);
    if (!kernel || kernel->form == FORM_PTX)
        return kernel;
    return set_launch(cli, kernel, path) ? kernel : NULL;
}

void cli_json_kernel(struct json *json, const char *path, const struct ast_kernel *kernel)
{
    json_key_u64(json, "version", 1);
    json_key_string(json, "file", path);
    json_key_string(json, "kernel", kernel->name);
    json_key_object_begin(json, "launch");
    json_key_u64(json, "threads", kernel->launch.threads);
    json_key_u64(json, "warp", kernel->launch.warp);
    json_key_u64(json, "blocks", kernel->launch.blocks);
    json_key_hex(json, "seed", kernel->launch.seed);
    json_object_end(json);
}

struct check_options cli_check_options(const struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    struct check_options check = CHECK_DEFAULTS;
    if (o->check_case)
        return o->check_case->check;
    check.subjects = o->subjects;
    check.oracles = o->oracles;
    check.modes = o->oracle_modes;
    check.exhaustive = o->exhaustive;
    check.same_value = o->same_value;
    check.atomics_sync = o->atomics_sync;
    check.unscoped = o->unscoped;
    check.transforms = o->transforms;
    if (o->schedules_given)
        check.schedules = o->schedules;
    if (o->budget_steps)
        check.budget_steps = o->budget_steps;
    if (o->seed_given)
        check.seed = o->seed;
    return check;
}

/* ---- tapes ---- */

struct tape *cli_read_tape(struct cli *cli, const char *path)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    size_t length, column;
    diag_init(diag, path, NULL, 0);
    char *text = parse_read_file(&cli->arena, path, &length, diag);
    if (!text) {
        diag_print(diag, stderr);
        return NULL;
    }
    while (length > 0 && strchr(" \n\r\t", text[length - 1]))
        text[--length] = '\0';
    struct tape *tape = tape_parse(&cli->arena, text, &column);
    if (!tape)
        cli_message(cli, "%s:1:%zu: not a tape", path, column);
    return tape;
}

/* ---- folders ---- */

struct walk {
    struct cli *cli;
    const char **paths;
    const char *const *endings; /* three */
    uint32_t count;
    bool good;
};

static void add_path(struct walk *walk, const char *path)
{
    if (walk->count < FILES_MAX) {
        walk->paths[walk->count++] = path;
        return;
    }
    if (walk->good)
        cli_message(walk->cli, "more than %d files", FILES_MAX);
    walk->good = false;
}

static bool is_wanted(const struct walk *walk, const char *name)
{
    return ends_in(name, walk->endings[0]) || ends_in(name, walk->endings[1]) ||
           ends_in(name, walk->endings[2]);
}

static void failed(struct walk *walk, const char *path)
{
    cli_message(walk->cli, "%s: %s", path, strerror(errno));
    walk->good = false;
}

/* Folders that are symbolic links are not followed, so the walk ends. */
static void walk_folder(struct walk *walk, const char *path, uint32_t depth)
{
    struct arena *arena = &walk->cli->arena;
    DIR *folder = depth < FOLDER_DEPTH_MAX ? opendir(path) : NULL;
    if (!folder) {
        failed(walk, path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat info;
        if (entry->d_name[0] == '.')
            continue;
        const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
        const char *inner = arena_printf(arena, "%s%s%s", path, slash, entry->d_name);
        if (lstat(inner, &info) == 0 && S_ISDIR(info.st_mode))
            walk_folder(walk, inner, depth + 1);
        else if (is_wanted(walk, entry->d_name))
            add_path(walk, inner);
    }
    closedir(folder);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool find_files(struct cli *cli, char **arguments, int count, const char *const *endings,
                       const char *what, struct cli_files *files)
{
    struct walk walk = {.cli = cli, .endings = endings, .good = true};
    walk.paths = ARENA_ARRAY(&cli->arena, const char *, FILES_MAX);
    for (int i = 0; i < count; i++) {
        struct stat info;
        uint32_t before = walk.count;
        if (strcmp(arguments[i], "-") == 0) { /* standard input, once */
            for (int k = 0; k < i; k++)
                if (strcmp(arguments[k], "-") == 0) {
                    cli_message(cli, "standard input can be read only once");
                    walk.good = false;
                }
            add_path(&walk, arguments[i]);
        } else if (stat(arguments[i], &info) != 0) {
            failed(&walk, arguments[i]);
        } else if (!S_ISDIR(info.st_mode)) {
            add_path(&walk, arguments[i]);
        } else {
            walk_folder(&walk, arguments[i], 0);
            if (walk.good && walk.count == before) {
                cli_message(cli, "%s: no %s file in this folder", arguments[i], what);
                walk.good = false;
            }
            qsort(walk.paths + before, walk.count - before, sizeof *walk.paths, compare_paths);
        }
    }
    *files = (struct cli_files){walk.paths, walk.count};
    return walk.good;
}

bool cli_find_files(struct cli *cli, char **arguments, int count, struct cli_files *files)
{
    static const char *const endings[] = {".simt", ".ptx", ".ptx"};
    return find_files(cli, arguments, count, endings, "*.simt or *.ptx", files);
}

bool cli_find_checked(struct cli *cli, char **arguments, int count, struct cli_files *files)
{
    static const char *const endings[] = {".simt", ".ptx", ".host"};
    return find_files(cli, arguments, count, endings, "*.simt, *.ptx or *.host", files);
}

bool cli_find_litmus(struct cli *cli, char **arguments, int count, struct cli_files *files)
{
    static const char *const endings[] = {".litmus", ".litmus", ".litmus"};
    return find_files(cli, arguments, count, endings, "*.litmus", files);
}

/* ---- output ---- */

int cli_write_output(const struct cli *cli, const char *path, const char *text)
{
    if (!path || strcmp(path, "-") == 0) {
        fputs(text, stdout);
        return CLI_OK;
    }
    const char *why;
    if (output_write(path, text, strlen(text), &why))
        return CLI_OK;
    cli_message(cli, "%s: %s%s", path, why,
                cli->options.json ? "" : "; what should have been in it is printed instead");
    if (!cli->options.json)
        fputs(text, stdout);
    return CLI_FAULT;
}
