/*
 * cli_exec.c - `simtfuzz exec -- PROGRAM`: a CUDA program whose runtime is ours, and its kernels watched; and
 * `simtfuzz record -- PROGRAM`: one that runs on a GPU, and its launches kept.
 */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz/base/interrupt.h"
#include "fuzz/check/check_report.h"
#include "fuzz/cli/cli.h"
#include "fuzz/exec/device.h"
#include "fuzz/out/demangle.h"
#include "fuzz/out/json.h"
#include "fuzz/out/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, NOT_RUNNABLE = 126 };

struct execution {
    struct cli *cli;
    struct device device;
    struct device_options options;
    struct check_report *report; /* of --sarif, --junit; NULL: none */
    const char *library;         /* that the program gets */
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

/* The file that the name stands for, as a shell finds it: for the host's lines. */
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

static void remove_scratch(const struct execution *e)
{
    static const char *const files[] = {"out", "err"}; /* of addr2line */
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
    const char *source = finding->sources[0], *colon = source ? strrchr(source, ':') : NULL;
    struct arena *arena = &e->cli->arena;
    const char *shown = demangle_text(arena, kernel);
    const char *path =
        colon ? arena_strndup(arena, source, (size_t)(colon - source)) : e->options.program;
    const struct check_problem problem = {
        .rule = device_finding_kind(finding),
        .text = arena_printf(arena, "%s: %s", shown, demangle_within(arena, finding->text, kernel)),
        .line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0,
        .fails = true};
    check_report_kernel(e->report, path, shown);
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
    json_key_u64(json, "launch_number", e->device.report.launches);
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

static _Noreturn void become(const struct execution *e, int sock, int memory)
{
    struct arena *arena = &e->cli->arena;
    char *const *arguments = e->cli->arguments;
    const char *preloaded = getenv("LD_PRELOAD");
    /* What others have loaded comes first: a recorder records this device, too. */
    setenv("LD_PRELOAD", joined(arena, preloaded, e->library), 1);
    if (!e->options.records)
        setenv("LD_LIBRARY_PATH", joined(arena, e->options.scratch, getenv("LD_LIBRARY_PATH")), 1);
    setenv(e->options.records ? DEVICE_RECORD_NAME : DEVICE_VARIABLE_NAME,
           arena_printf(arena, "%d,%d", sock, memory), 1);
    if (e->cli->options.json)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(arguments[0], arguments);
    int error = errno;
    fprintf(stderr, "simtfuzz %s: %s: %s\n", e->options.records ? "record" : "exec", arguments[0],
            strerror(error));
    _exit(error == ENOENT ? NOT_FOUND : NOT_RUNNABLE);
}

/* The process; -1: *why. What it inherits stays open across exec, what is ours does not. */
static pid_t start(struct execution *e, const char **why)
{
    int socks[2];
    int memory = memfd_create("simtfuzz-device", 0);
    if (memory < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, socks) != 0) {
        *why = strerror(errno);
        return -1;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(socks[0]);
        become(e, socks[1], memory);
    }
    *why = pid < 0 ? strerror(errno) : NULL;
    close(socks[1]);
    e->device.sock = socks[0];
    e->device.memory = memory;
    return pid;
}

/* The program's exit status, as a shell has it. *killed: the signal that ended it, or 0. */
static int wait_for(pid_t pid, int *killed)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *killed = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- the end ---- */

/* What was allocated and never freed. */
static uint32_t count_leaks(const struct device *device, uint64_t *bytes)
{
    uint32_t count = 0;
    for (const struct device_buffer *b = device->buffers; b; b = b->next)
        if (!b->is_freed && !b->own && b->module == 0) {
            count++;
            *bytes += b->at.bytes;
        }
    return count;
}

/* Of a program that ran on a GPU. */
static void tell_recorded(struct execution *e, int status, int killed)
{
    const struct device_report *r = &e->device.report;
    if (killed)
        fprintf(stderr, "simtfuzz record: the program was ended by signal %d (%s)\n", killed,
                strsignal(killed));
    if (!e->device.modules) {
        fprintf(stderr, "simtfuzz record: the program brought no kernels that were seen. One that "
                        "is linked with "
                        "the static runtime must not be stripped, and libcudart.so.13 must be "
                        "there; or build it "
                        "with nvcc -cudart shared\n");
        return;
    }
    fprintf(stderr,
            "simtfuzz record: %" PRIu32 " launch%s kept in %s, %" PRIu32
            " not; the program ended with status %d\n",
            r->launches, r->launches == 1 ? "" : "es", e->options.capture, r->refused, status);
}

static void tell_end(struct execution *e, int status, int killed)
{
    const struct device_report *r = &e->device.report;
    struct json line, *json = &line;
    uint64_t bytes = 0;
    uint32_t leaks = count_leaks(&e->device, &bytes);
    if (e->cli->options.json) {
        json_line_begin(json, stdout);
        json_key_u64(json, "launches", r->launches);
        json_key_u64(json, "blocks", r->blocks);
        json_key_u64(json, "steps", r->steps);
        json_key_u64(json, "findings", r->shown + r->calls);
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
    if (!e->device.modules) {
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
    if (r->shown + r->calls == 0)
        fprintf(stderr, "%s", r->refused ? "no finding" : "nothing is wrong");
    else
        fprintf(stderr, "%" PRIu32 " finding%s", r->shown + r->calls,
                r->shown + r->calls == 1 ? "" : "s");
    if (r->refused > 0)
        fprintf(stderr, "; %" PRIu32 " not run", r->refused);
    if (r->suppressed > 0)
        fprintf(stderr, "; %" PRIu32 " suppressed", r->suppressed);
    fprintf(stderr, "; the program ended with status %d\n", status);
}

static int write_reports(const struct execution *e)
{
    const struct cli_options *o = &e->cli->options;
    const char *const paths[] = {o->sarif, o->junit};
    void (*const writers[])(const struct check_report *, FILE *) = {check_report_sarif,
                                                                    check_report_junit};
    int status = CLI_OK;
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t length = 0;
        if (!paths[i])
            continue;
        FILE *out = open_memstream(&text, &length);
        if (!out)
            return CLI_FAULT;
        writers[i](e->report, out);
        fclose(out);
        int written = cli_write_output(e->cli, paths[i], text);
        status = status ? status : written;
        free(text);
    }
    return status;
}

static int run(struct execution *e)
{
    const char *why;
    int killed;
    pid_t pid = start(e, &why);
    if (pid < 0) {
        cli_message(e->cli, "%s", why);
        return CLI_FAULT;
    }
    interrupt_catch();
    e->device.stop = &interrupted;
    device_serve(&e->device);
    close(e->device.sock);
    int status = wait_for(pid, &killed);
    if (status == NOT_FOUND || status == NOT_RUNNABLE) {
        if (!e->device.greeted)
            return CLI_USAGE;
    }
    if (e->options.leaks && e->device.modules)
        device_tell_leaks(&e->device);
    (e->options.records ? tell_recorded : tell_end)(e, status, killed);
    int written = e->report ? write_reports(e) : CLI_OK;
    if (interrupted)
        return CLI_INTERRUPTED;
    if (e->device.report.shown + e->device.report.calls > 0)
        return CLI_DIVERGENCE;
    if (written == CLI_OK && status == 0 && e->device.report.refused > 0)
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
    if (arena_init(&e->device.arena, (size_t)4 << 30) != 0 || !mkdtemp(scratch)) {
        cli_message(cli, "%s", strerror(errno));
        return CLI_FAULT;
    }
    e->options = (struct device_options){.budget = cli->options.budget_steps,
                                         .workers = cli_jobs(cli),
                                         .program = find_program(&cli->arena, cli->arguments[0]),
                                         .scratch = scratch,
                                         .capture = cli->options.capture,
                                         .verbose = cli->options.verbose,
                                         .color = terminal_has_color() && isatty(STDERR_FILENO),
                                         .no_unwritten = records || cli->options.unwritten_ok,
                                         .leaks = cli->options.leak_check,
                                         .records = records,
                                         .suppressions = suppressions};
    e->device.options = &e->options;
    e->device.out = stderr;
    e->device.found = found;
    e->device.context = e;
    if (cli->options.sarif || cli->options.junit)
        e->report = check_report_new(&cli->arena);
    if (!records && !link_libraries(e)) {
        cli_message(cli, "%s: %s", scratch, strerror(errno));
        remove_scratch(e);
        return CLI_FAULT;
    }
    int status = run(e);
    remove_scratch(e);
    device_end(&e->device);
    arena_destroy(&e->device.arena);
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
