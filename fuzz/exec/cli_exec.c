/*
 * cli_exec.c - `simtfuzz exec -- PROGRAM`: a CUDA program whose runtime is ours, and its kernels watched; and
 * `simtfuzz record -- PROGRAM`: one that runs on a GPU, and its launches kept.
 */
#define _GNU_SOURCE /* pipe2 */
#include "fuzz/base/interrupt.h"
#include "fuzz/check/check_report.h"
#include "fuzz/check/headline.h"
#include "fuzz/cli/cli.h"
#include "fuzz/exec/device.h"
#include "fuzz/out/demangle.h"
#include "fuzz/out/json.h"
#include "fuzz/out/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_RUN = 127 };

struct execution {
    struct cli *cli;
    struct device device; /* as each process has it at first */
    struct device_report report_of_all;
    struct device_options options;
    struct check_report *report; /* of --sarif, --junit; NULL: none */
    const char *library;         /* that the program gets */
    const char *program;         /* its file */
    const char *door;            /* the socket that its processes come to */
};

/* ---- the library ---- */

/* Beside the program, as it is built, or where it is installed. NULL: nowhere. */
static const char *find_library(struct arena *arena, const char *name)
{
    static const char *const places[] = {"", "../lib/simtfuzz/"};
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    for (size_t i = 0; length > 0 && i < sizeof places / sizeof places[0]; i++) {
        own[length] = '\0';
        char *slash = strrchr(own, '/');
        const char *path =
            arena_printf(arena, "%.*s/%s%s", (int)(slash - own), own, places[i], name);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

/* The file that the name stands for, as a shell finds it. */
static const char *find_program(struct arena *arena, const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return name;
    while (*path) {
        size_t length = strcspn(path, ":");
        const char *file = arena_printf(arena, "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0)
            return file;
        path += length + (path[length] == ':');
    }
    return name;
}

/* The names under which programs ask the loader for the runtime and for the driver. */
static const char *const libraries[] = {"libcudart.so.13", "libcuda.so.1"};

/* A folder where the loader finds our library under these names, also where no toolkit and no driver is installed. */
static bool link_libraries(const struct execution *e)
{
    struct arena *arena = &e->cli->arena;
    char *target = realpath(e->library, NULL);
    bool good = target != NULL;
    for (size_t i = 0; good && i < sizeof libraries / sizeof libraries[0]; i++)
        good = symlink(target, arena_printf(arena, "%s/%s", e->options.scratch, libraries[i])) == 0;
    free(target);
    return good;
}

/* In it, too: what processes with a device connect to. */
#define DOOR "door"

static void remove_scratch(const struct execution *e)
{
    static const char *const files[] = {DOOR, "out", "err"}; /* two are of addr2line */
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(arena_printf(&e->cli->arena, "%s/%s", e->options.scratch, files[i]));
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        unlink(arena_printf(&e->cli->arena, "%s/%s", e->options.scratch, libraries[i]));
    rmdir(e->options.scratch);
}

/* ---- what is found ---- */

static void add_to_report(struct execution *e, const char *kernel,
                          const struct launch_finding *finding)
{
    struct arena *arena = &e->cli->arena;
    const char *shown = demangle_text(arena, kernel);
    struct check_problem problem = {
        .rule = device_finding_kind(finding),
        .text = arena_printf(arena, "%s: %s", shown, demangle_within(arena, finding->text, kernel)),
        .fails = true};
    const char *file = source_file(arena, finding->sources[0], &problem.line);
    check_report_kernel(e->report, problem.rule, file ? file : e->program, shown);
    check_report_problem(e->report, &problem);
}

static void found(void *context, const char *kernel, const char *launch,
                  const struct launch_finding *finding)
{
    struct execution *e = context;
    struct json line, *json = &line;
    if (e->report)
        add_to_report(e, kernel, finding);
    if (!e->cli->options.json)
        return;
    json_line_begin(json, stdout);
    json_key_string(json, "kind", device_finding_kind(finding));
    json_key_string(json, "kernel", demangle_text(&e->cli->arena, kernel));
    json_key_string(json, "launch", launch);
    json_key_u64(json, "launch_number", e->report_of_all.launches);
    json_key_string(json, "text", demangle_within(&e->cli->arena, finding->text, kernel));
    json_key_array_begin(json, "sources");
    for (int i = 0; i < 2 && finding->sources[i]; i++)
        json_string(json, finding->sources[i]);
    json_array_end(json);
    json_key_u64(json, "times", finding->count ? finding->count : 1);
    json_line_end(json);
}

/* ---- the program ---- */

static const char *joined(struct arena *arena, const char *first, const char *second)
{
    return arena_printf(arena, "%s%s%s", first ? first : "", first && second ? ":" : "",
                        second ? second : "");
}

static _Noreturn void become(const struct execution *e, const sigset_t *signals, int failed)
{
    struct arena *arena = &e->cli->arena;
    char *const *arguments = e->cli->arguments;
    const char *preloaded = getenv("LD_PRELOAD");
    /* What others have loaded comes first: a recorder records this device, too. */
    setenv("LD_PRELOAD", joined(arena, preloaded, e->library), 1);
    if (!e->options.records)
        setenv("LD_LIBRARY_PATH", joined(arena, e->options.scratch, getenv("LD_LIBRARY_PATH")), 1);
    setenv(e->options.records ? DEVICE_RECORD_NAME : DEVICE_VARIABLE_NAME, e->door, 1);
    if (e->cli->options.json)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, signals, NULL);
    execvp(arguments[0], arguments);
    const char *why = strerror(errno);
    fprintf(stderr, "simtfuzz %s: %s: %s\n", e->options.records ? "record" : "exec", arguments[0],
            why);
    ssize_t written = write(failed, "", 1);
    (void)written;
    _exit(NOT_RUN);
}

/* The process, whose SIGCHLD is blocked here from now on; -1: errno. From *failed comes a byte if it cannot be run. */
static pid_t start(const struct execution *e, int *failed)
{
    sigset_t child, before;
    int ends[2];
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    sigprocmask(SIG_BLOCK, &child, &before);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        become(e, &before, ends[1]);
    close(ends[1]);
    *failed = ends[0];
    return pid;
}

/* ---- the end ---- */

/* Of a program that ran on a GPU. */
static void tell_recorded(struct execution *e, int status, int killed)
{
    const struct device_report *r = &e->report_of_all;
    if (e->cli->options.json) {
        struct json line;
        json_line_begin(&line, stdout);
        json_key_u64(&line, "launches", r->launches);
        json_key_u64(&line, "refused", r->refused);
        json_key_u64(&line, "status", (uint64_t)status);
        json_line_end(&line);
    }
    if (killed)
        fprintf(stderr, "simtfuzz record: the program was ended by signal %d (%s)\n", killed,
                strsignal(killed));
    if (r->modules == 0) {
        fprintf(stderr,
                "simtfuzz record: the program brought no kernels that were seen. One that is "
                "linked with the static runtime must not be stripped, and libcudart.so.13 must be "
                "there; or build it with nvcc -cudart shared\n");
        return;
    }
    fprintf(stderr,
            "simtfuzz record: %" PRIu32 " launch%s kept in %s, %" PRIu32
            " not; the program ended with status %d\n",
            r->launches, r->launches == 1 ? "" : "es", e->options.capture, r->refused, status);
}

static void tell_end(struct execution *e, int status, int killed)
{
    const struct device_report *r = &e->report_of_all;
    struct json line, *json = &line;
    const uint32_t leaks = r->leaks;
    const uint64_t bytes = r->leaked_bytes;
    if (e->cli->options.json) {
        json_line_begin(json, stdout);
        json_key_u64(json, "launches", r->launches);
        json_key_u64(json, "blocks", r->blocks);
        json_key_u64(json, "steps", r->steps);
        json_key_u64(json, "findings", r->shown);
        json_key_u64(json, "refused", r->refused);
        json_key_u64(json, "suppressed", r->suppressed);
        json_key_u64(json, "never_freed", leaks);
        json_key_u64(json, "never_freed_bytes", bytes);
        json_key_u64(json, "status", (uint64_t)status);
        json_line_end(json);
    }
    if (killed)
        fprintf(stderr, "simtfuzz exec: the program was ended by signal %d (%s)\n", killed,
                strsignal(killed));
    if (r->modules == 0) {
        fprintf(stderr,
                "simtfuzz exec: the program brought no kernels to this device. One that is linked "
                "with the static runtime must not be stripped, or else be built with nvcc -cudart "
                "shared\n");
        return;
    }
    if (leaks > 0 && !e->options.leaks)
        fprintf(stderr,
                "simtfuzz exec: %" PRIu32 " allocation%s of %" PRIu64 " bytes %s never freed\n",
                leaks, leaks == 1 ? "" : "s", bytes, leaks == 1 ? "was" : "were");
    fprintf(stderr,
            "simtfuzz exec: %" PRIu32 " launch%s of %" PRIu64 " blocks, %" PRIu64
            " steps of warps; ",
            r->launches, r->launches == 1 ? "" : "es", r->blocks, r->steps);
    if (r->shown == 0)
        fprintf(stderr, "%s", r->refused ? "no finding" : "nothing is wrong");
    else
        fprintf(stderr, "%" PRIu32 " finding%s", r->shown, r->shown == 1 ? "" : "s");
    if (r->refused > 0)
        fprintf(stderr, "; %" PRIu32 " not run", r->refused);
    if (r->suppressed > 0)
        fprintf(stderr, "; %" PRIu32 " suppressed", r->suppressed);
    fprintf(stderr, "; the program ended with status %d\n", status);
}

static int run(struct execution *e)
{
    const struct device_report *r = &e->report_of_all;
    int failed = -1;
    char byte;
    const int door = devices_listen(e->door);
    const pid_t pid = door < 0 ? -1 : start(e, &failed);
    if (pid < 0) {
        cli_message(e->cli, "%s", strerror(errno));
        return CLI_FAULT;
    }
    interrupt_catch();
    e->device.stop = &interrupted;
    const int ended = devices_serve(&e->device, door, pid);
    const int killed = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
    const int status = killed ? 128 + killed : WEXITSTATUS(ended); /* as a shell has it */
    const bool was_run = read(failed, &byte, 1) == 0;
    close(failed);
    close(door);
    if (!was_run)
        return CLI_USAGE;
    (e->options.records ? tell_recorded : tell_end)(e, status, killed);
    if (e->report)
        check_report_unjudged(e->report, r->refused);
    int written = e->report ? cli_write_reports(e->cli, e->report) : CLI_OK;
    if (interrupted)
        return CLI_INTERRUPTED;
    if (r->shown > 0)
        return CLI_DIVERGENCE;
    if (written == CLI_OK && status == 0 && r->refused > 0)
        return CLI_FAULT; /* of what was not run nothing is known */
    return written ? written : status;
}

static bool make_folder(const struct cli *cli, const char *path)
{
    struct stat info;
    if (mkdir(path, 0777) == 0 || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return true;
    cli_message(cli, "%s: %s", path, strerror(errno));
    return false;
}

static int execute(struct cli *cli, bool records)
{
    struct execution *e = ARENA_NEW(&cli->arena, struct execution);
    char scratch[] = "/tmp/simtfuzz-exec-XXXXXX";
    const struct suppressions *suppressions = NULL;
    const char *name = records ? "simtfuzz-recorder.so" : "simtfuzz-cudart.so";
    e->cli = cli;
    e->library = find_library(&cli->arena, name);
    if (records && !cli->options.capture)
        cli->options.capture = "launches";
    if (!e->library) {
        cli_message(cli,
                    "%s lies neither beside this program nor in ../lib/simtfuzz: build and install "
                    "all of simtfuzz",
                    name);
        return CLI_FAULT;
    }
    if (cli->options.suppress &&
        !(suppressions = suppress_read(&cli->arena, cli->options.suppress, stderr)))
        return CLI_USAGE;
    if (cli->options.capture && !make_folder(cli, cli->options.capture))
        return CLI_USAGE;
    if (!mkdtemp(scratch)) {
        cli_message(cli, "%s", strerror(errno));
        return CLI_FAULT;
    }
    e->options = (struct device_options){.budget = cli->options.budget_steps,
                                         .workers = cli_jobs(cli),
                                         .scratch = scratch,
                                         .capture = cli->options.capture,
                                         .verbose = cli->options.verbose,
                                         .color = terminal_has_color() && isatty(STDERR_FILENO),
                                         .no_unwritten = records || cli->options.unwritten_ok,
                                         .leaks = cli->options.leak_check,
                                         .records = records,
                                         .suppressions = suppressions};
    e->program = find_program(&cli->arena, cli->arguments[0]);
    e->door = arena_printf(&cli->arena, "%s/%s", scratch, DOOR);
    e->report_of_all.arena = &cli->arena;
    e->device.report = &e->report_of_all;
    e->device.options = &e->options;
    e->device.out = stderr;
    e->device.found = found;
    e->device.context = e;
    if (cli_wants_reports(cli))
        e->report = check_report_new(&cli->arena);
    if (!records && !link_libraries(e)) {
        cli_message(cli, "%s: %s", scratch, strerror(errno));
        remove_scratch(e);
        return CLI_FAULT;
    }
    int status = run(e);
    remove_scratch(e);
    return status;
}

int command_exec(struct cli *cli)
{
    return execute(cli, false);
}

int command_record(struct cli *cli)
{
    return execute(cli, true);
}
