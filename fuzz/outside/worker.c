#define _GNU_SOURCE /* pipe2 */
#include "fuzz/outside/worker.h"

#include "fuzz/base/clock.h"
#include "fuzz/serve/cause.h"
#include "fuzz/serve/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    POLL_MS = 100,
    WALL_FACTOR = 20,
    CHILD_FAILED = 127,
    LINE_MAX_BYTES = 24,
    HELLO_SECONDS = 20,
    LOOK_AGAIN = 20 /* a part of the CPU time by which a hang may be judged too early */
};

struct worker {
    char *const *arguments;
    char *const *environment;
    bool reserves;
    pid_t pid; /* 0: not running */
    int to, from;
    uint64_t cpu_before; /* ticks of its group when the request was sent, or little before */
    uint64_t looked_ms;  /* when that was read: reading all of /proc takes milliseconds */
    struct worker *next;
};

/* All of this process, so that none is left when it has done its work. */
static struct worker *workers;

struct worker *worker_new(struct arena *arena, char *const *arguments, char *const *environment)
{
    struct worker *worker = ARENA_NEW(arena, struct worker);
    worker->arguments = arguments;
    worker->environment = environment;
    worker->next = workers;
    workers = worker;
    return worker;
}

void worker_reserves(struct worker *worker)
{
    worker->reserves = true;
}

/* ---- starting and ending ---- */

static void become(const struct worker *worker, const struct outside_settings *settings,
                   const char *log, int in, int out)
{
    const struct rlimit memory = {.rlim_cur = settings->memory, .rlim_max = settings->memory};
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    int errors = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    (void)setpgid(0, 0);
    if (settings->memory && !worker->reserves)
        (void)setrlimit(RLIMIT_AS, &memory);
    (void)setrlimit(RLIMIT_CORE, &none);
    if (errors < 0 || dup2(in, 0) != 0 || dup2(out, 1) != 1 || dup2(errors, 2) != 2 ||
        chdir(settings->folder) != 0)
        _exit(CHILD_FAILED);
    for (char *const *variable = worker->environment; *variable; variable++)
        (void)putenv(*variable);
    signal(SIGPIPE, SIG_DFL);
    execvp(worker->arguments[0], worker->arguments);
    _exit(CHILD_FAILED);
}

static bool start(struct worker *worker, const struct outside_settings *settings, const char *log)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) != 0)
        return false;
    if (pipe2(up, O_CLOEXEC) != 0) {
        close(down[0]);
        close(down[1]);
        return false;
    }
    (void)setenv("TMPDIR", settings->folder, 1);
    (void)fflush(NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0)
        become(worker, settings, log, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    if (pid < 0) {
        close(down[1]);
        close(up[0]);
        return false;
    }
    (void)setpgid(pid, pid);
    *worker = (struct worker){.arguments = worker->arguments,
                              .environment = worker->environment,
                              .reserves = worker->reserves,
                              .next = worker->next,
                              .pid = pid,
                              .to = down[1],
                              .from = up[0]};
    return true;
}

/* How it ended: its wait status. */
static int stop(struct worker *worker)
{
    int status = 0;
    if (!worker->pid)
        return 0;
    close(worker->to);
    close(worker->from);
    (void)kill(-worker->pid, SIGKILL);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    worker->pid = 0;
    return status;
}

void worker_stop(struct worker *worker)
{
    (void)stop(worker);
}

void worker_stop_all(void)
{
    for (struct worker *worker = workers; worker; worker = worker->next)
        (void)stop(worker);
}

/* ---- CPU time of a process group ---- */

/* Ticks of user and system time in a /proc/PID/stat, if the process is of the group. */
static uint64_t ticks_of(const char *name, pid_t group)
{
    char path[64], text[1024];
    int pgrp = 0;
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *behind = strrchr(text, ')'); /* the name may hold anything */
    if (!behind || sscanf(behind + 1, " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &pgrp,
                          &user, &system) != 3)
        return 0;
    return pgrp == group ? user + system : 0;
}

static uint64_t group_ticks(pid_t group)
{
    uint64_t ticks = 0;
    DIR *dir = opendir("/proc");
    if (!dir)
        return 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            ticks += ticks_of(entry->d_name, group);
    (void)closedir(dir);
    return ticks;
}

/* CPU time of the process itself, with its threads; 0: it is not there. */
static uint64_t process_us(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? clock_us(clock) : 0;
}

/* ---- asking ---- */

struct waiting {
    struct worker *worker;
    uint64_t started_ms, cpu_ms, wall_ms;
    uint64_t look_ms; /* not before that has it used up its time, with all processors */
};

static uint64_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint64_t)count : 1;
}

/* Reading all of /proc takes milliseconds, which would be our share of the time: so it is looked at when it could be
 * over. */
static bool is_spent(struct waiting *w)
{
    uint64_t passed = clock_monotonic_ms() - w->started_ms;
    if (passed >= w->wall_ms)
        return true;
    if (passed < w->look_ms)
        return false;
    uint64_t ticks = group_ticks(w->worker->pid) - w->worker->cpu_before;
    uint64_t used = ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    w->look_ms = passed + (used < w->cpu_ms ? (w->cpu_ms - used) / processors() : 0);
    return used >= w->cpu_ms;
}

/* So many bytes of the answer. */
static enum worker_end read_bytes(struct waiting *w, char *bytes, size_t length)
{
    for (size_t have = 0; have < length;) {
        struct pollfd fd = {.fd = w->worker->from, .events = POLLIN};
        int ready = poll(&fd, 1, POLL_MS);
        if (ready <= 0) {
            if (is_spent(w))
                return WORKER_HANG;
            continue;
        }
        ssize_t got = read(fd.fd, bytes + have, length - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return have ? WORKER_GARBAGE : WORKER_DIED;
        have += (size_t)got;
    }
    return WORKER_ANSWER;
}

static enum worker_end read_answer(struct arena *arena, struct waiting *w, struct message *answer)
{
    char line[LINE_MAX_BYTES + 1];
    size_t length = 0, at = 0;
    do {
        enum worker_end end = read_bytes(w, line + at, 1);
        if (end != WORKER_ANSWER)
            return at ? WORKER_GARBAGE : end;
    } while (line[at++] != '\n' && at < LINE_MAX_BYTES);
    line[at] = '\0';
    if (!message_length(line, &length))
        return WORKER_GARBAGE;
    char *bytes = arena_room(arena, length + 1);
    enum worker_end end = read_bytes(w, bytes, length);
    if (end != WORKER_ANSWER)
        return end == WORKER_DIED ? WORKER_GARBAGE : end;
    return message_parse(arena, bytes, length, answer) ? WORKER_ANSWER : WORKER_GARBAGE;
}

static const char *read_log(struct arena *arena, const char *path)
{
    size_t length;
    const char *text = child_read(arena, path, CHILD_OUTPUT_MAX, &length);
    return text ? text : "";
}

static enum worker_end ask(struct arena *arena, struct worker *worker,
                           const struct outside_settings *settings, const struct text *request,
                           struct message *answer, const char **log, const char *path)
{
    uint64_t now = clock_monotonic_ms();
    if (worker->looked_ms == 0 ||
        now - worker->looked_ms > settings->cpu_seconds * (uint64_t)1000 / LOOK_AGAIN) {
        worker->cpu_before = group_ticks(worker->pid);
        worker->looked_ms = now;
    }
    const uint64_t used = process_us(worker->pid);
    struct waiting waiting = {.worker = worker,
                              .started_ms = clock_monotonic_ms(),
                              .look_ms = settings->cpu_seconds * (uint64_t)1000 / processors(),
                              .cpu_ms = settings->cpu_seconds * (uint64_t)1000,
                              .wall_ms = settings->cpu_seconds * (uint64_t)1000 * WALL_FACTOR};
    enum worker_end end =
        message_send(worker->to, request) ? read_answer(arena, &waiting, answer) : WORKER_DIED;
    /* Of one that died nothing is left to be read. */
    uint64_t used_now = process_us(worker->pid);
    child_add_cpu_us(used_now > used ? used_now - used : 0);
    if (end == WORKER_ANSWER)
        child_add_cpu_us(strtoull(message_text(answer, "cpu", 0), NULL, 10));
    if (end != WORKER_ANSWER) {
        int status = stop(worker);
        *log = read_log(arena, path);
        if (end == WORKER_DIED && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
            *log = arena_printf(arena, "%sThe process died by signal %d (%s).\n", *log,
                                WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return end;
}

/* Each process is greeted first: so it has loaded what it needs before time counts. */
enum worker_end worker_ask(struct arena *arena, struct worker *worker,
                           const struct outside_settings *settings, const struct text *request,
                           struct message *answer, const char **log)
{
    const char *path = arena_printf(arena, "%s/worker-%p.log", settings->folder, (void *)worker);
    *log = "";
    if (!worker->pid) {
        struct text hello = text_begin(arena);
        message_put_text(&hello, "message", "hello");
        if (!start(worker, settings, path))
            return WORKER_NO_START;
        enum worker_end end = ask(arena, worker, settings, &hello, answer, log, path);
        if (end != WORKER_ANSWER || !request)
            return end;
    }
    return request ? ask(arena, worker, settings, request, answer, log, path) : WORKER_GARBAGE;
}

/* ---- opening ---- */

const char *worker_own_program(struct arena *arena)
{
    char *path = ARENA_ARRAY(arena, char, 4096);
    return readlink("/proc/self/exe", path, 4095) > 0 ? path : "simtfuzz";
}

bool worker_greet(struct arena *arena, struct worker *worker, struct message *answer,
                  const char **reason)
{
    const struct outside_settings settings = {.folder = "/tmp", .cpu_seconds = HELLO_SECONDS};
    const char *log;
    enum worker_end end = worker_ask(arena, worker, &settings, NULL, answer, &log);
    worker_stop(worker);
    *reason = *log ? arena_strndup(arena, log, strcspn(log, "\n")) : "it does not answer";
    return end == WORKER_ANSWER;
}

/* ---- batches ---- */

static struct text make_request(struct arena *arena, const struct outside_batch *batch,
                                const char *options)
{
    struct text request = text_begin(arena);
    message_put_text(&request, "message", "run");
    message_put_text(&request, "language", emit_language_names[batch->language]);
    message_put_text(&request, "options", options);
    message_put_text(&request, "text", batch->text);
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct emitted *kernel = &batch->kernels[i];
        message_put_text(&request, "kernel", kernel->entry);
        message_put_text(
            &request, "launch",
            arena_printf(arena, "%u %u", (unsigned)kernel->threads, (unsigned)kernel->blocks));
        message_put(&request, "memory", kernel->initial, kernel->words * sizeof(int32_t));
    }
    return request;
}

void worker_put_messages(struct text *bytes, const struct outside_batch *batch, const char *options)
{
    struct text hello = text_begin(bytes->arena);
    message_put_text(&hello, "message", "hello");
    const struct text request = make_request(bytes->arena, batch, options);
    text_format(bytes, "%zu\n", hello.length);
    text_put_bytes(bytes, hello.bytes, hello.length);
    text_format(bytes, "%zu\n", request.length);
    text_put_bytes(bytes, request.bytes, request.length);
}

static enum outside_end end_named(const char *name)
{
    for (uint32_t end = 0; end < OUTSIDE_END_COUNT; end++)
        if (strcmp(outside_end_names[end], name) == 0)
            return (enum outside_end)end;
    return OUTSIDE_UNSUPPORTED;
}

/* The answer about one kernel of the batch. */
static struct outside_result result_of(struct arena *arena, const struct message *answer,
                                       uint32_t number, const struct emitted *kernel)
{
    struct outside_result result = {.end = end_named(message_text(answer, "end", number)),
                                    .cause = message_text(answer, "cause", number),
                                    .log = message_text(answer, "log", 0)};
    const struct message_field *memory = message_field(answer, "memory", number);
    if (result.end != OUTSIDE_FINAL) {
        if (!*result.cause)
            result.cause = cause_of_log(arena, result.log);
        return result;
    }
    if (!memory || memory->length != kernel->words * sizeof(int32_t)) {
        result.end = OUTSIDE_RUN_ERROR;
        result.cause = "the answer has another memory than was asked for";
        return result;
    }
    int32_t *words = ARENA_ARRAY(arena, int32_t, kernel->words);
    memcpy(words, memory->bytes, memory->length);
    result.finals[0] = words;
    result.ways[0] = "the implementation";
    result.final_count = 1;
    const struct message_field *steps = message_field(answer, "steps", number);
    result.steps = steps ? steps->bytes : NULL;
    result.kernel = kernel;
    return result;
}

static struct outside_result failure(struct arena *arena, enum worker_end end, const char *log)
{
    static const enum outside_end ends[] = {[WORKER_ANSWER] = OUTSIDE_FINAL,
                                            [WORKER_DIED] = OUTSIDE_CRASH,
                                            [WORKER_HANG] = OUTSIDE_HANG,
                                            [WORKER_GARBAGE] = OUTSIDE_RUN_ERROR,
                                            [WORKER_NO_START] = OUTSIDE_UNSUPPORTED};
    static const char *const causes[] = {[WORKER_ANSWER] = "",
                                         [WORKER_DIED] = NULL,
                                         [WORKER_HANG] = "CPU time",
                                         [WORKER_GARBAGE] = "what came back is no answer",
                                         [WORKER_NO_START] = "the worker does not start"};
    return (struct outside_result){.end = ends[end],
                                   .cause = causes[end] ? causes[end] : cause_of_log(arena, log),
                                   .log = log};
}

void worker_run_batch(struct arena *arena, struct worker *worker,
                      const struct outside_settings *settings, const struct outside_batch *batch,
                      const char *options, struct outside_result *results)
{
    const struct text request = make_request(arena, batch, options);
    struct message answer;
    const char *log;
    enum worker_end end = worker_ask(arena, worker, settings, &request, &answer, &log);
    bool failed = false;
    for (uint32_t i = 0; i < batch->count; i++) {
        results[i] = end == WORKER_ANSWER ? result_of(arena, &answer, i, &batch->kernels[i])
                                          : failure(arena, end, log);
        failed |= results[i].end == OUTSIDE_RUN_ERROR;
    }
    /* A process that has used up its memory, or lost its device, would fail from now on: who asks again asks a new
     * one. */
    if (failed)
        (void)stop(worker);
}
