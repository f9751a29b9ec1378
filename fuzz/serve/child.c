#include "fuzz/serve/child.h"

#include "fuzz/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sleeping costs no CPU time: who does nothing is ended by the clock, long after all others. */
enum { WALL_FACTOR = 20, PAUSE_MOST_US = 5000, CHILD_FAILED = 127 };

static uint64_t cpu_us;

uint64_t child_cpu_us(void)
{
    return cpu_us;
}

void child_add_cpu_us(uint64_t us)
{
    cpu_us += us;
}

/* ---- in the child, between fork and exec: only what is safe there ---- */

static void limit(int resource, rlim_t value)
{
    const struct rlimit both = {.rlim_cur = value, .rlim_max = value};
    (void)setrlimit(resource, &both);
}

static void set_limits(const struct child_limits *limits)
{
    const struct rlimit cpu = {.rlim_cur = limits->cpu_seconds,
                               .rlim_max = limits->cpu_seconds + 1u};
    (void)setrlimit(RLIMIT_CPU, &cpu);
    if (limits->memory)
        limit(RLIMIT_AS, (rlim_t)limits->memory);
    limit(RLIMIT_CORE, 0);
}

static bool redirect(int fd, const char *path, int flags)
{
    int file = open(path, flags, 0600);
    return file >= 0 && dup2(file, fd) == fd && (file == fd || close(file) == 0);
}

static void become(const struct child_limits *limits, const char *output, char *const *arguments)
{
    (void)setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who is killed leaves nobody behind */
    set_limits(limits);
    if (!redirect(0, "/dev/null", O_RDONLY) || !redirect(1, output, O_WRONLY | O_CREAT | O_TRUNC) ||
        dup2(1, 2) != 2 || chdir(limits->folder) != 0)
        _exit(CHILD_FAILED);
    signal(SIGPIPE, SIG_DFL);
    execvp(arguments[0], arguments);
    _exit(CHILD_FAILED);
}

/* ---- the parent ---- */

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static int wait_for(pid_t pid, uint64_t wall_ms, bool *late)
{
    uint64_t started = clock_monotonic_ms();
    int status = 0;
    *late = false;
    for (long pause_us = 50;; pause_us = pause_us < PAUSE_MOST_US ? 2 * pause_us : pause_us) {
        struct rusage used = {.ru_maxrss = 0};
        pid_t ended = wait4(pid, &status, WNOHANG, &used);
        if (ended == pid || (ended < 0 && errno != EINTR)) {
            child_add_cpu_us(microseconds(&used.ru_utime) + microseconds(&used.ru_stime));
            return status;
        }
        if (!*late && clock_monotonic_ms() - started >= wall_ms) {
            *late = true;
            (void)kill(-pid, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
    }
}

static enum child_end end_of(int status, bool late, int *detail)
{
    if (WIFEXITED(status)) {
        *detail = WEXITSTATUS(status);
        return late ? CHILD_HANG : CHILD_EXITED;
    }
    *detail = WTERMSIG(status);
    return late || WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? CHILD_HANG
                                                                              : CHILD_SIGNALED;
}

struct child_result child_run(struct arena *arena, const struct child_limits *limits,
                              char *const *arguments)
{
    struct child_result result = {.end = CHILD_NO_START, .output = ""};
    const char *output = arena_printf(arena, "%s/output", limits->folder);
    bool late;
    (void)setenv("TMPDIR", limits->folder, 1);
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return result;
    if (pid == 0)
        become(limits, output, arguments);
    (void)setpgid(pid, pid);
    int status = wait_for(pid, (uint64_t)limits->cpu_seconds * WALL_FACTOR * 1000, &late);
    (void)kill(-pid, SIGKILL); /* what it left behind */
    result.end = end_of(status, late, &result.status);
    size_t length;
    const char *text = child_read(arena, output, CHILD_OUTPUT_MAX, &length);
    result.output = text ? text : "";
    return result;
}

/* ---- files ---- */

const char *child_find(struct arena *arena, const char *program)
{
    const char *path = getenv("PATH");
    if (strchr(program, '/'))
        return access(program, X_OK) == 0 ? program : NULL;
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        size_t length = strcspn(path, ":");
        const char *name = arena_printf(arena, "%.*s/%s", (int)length, path, program);
        if (length && access(name, X_OK) == 0)
            return name;
        path += length;
        path += *path == ':';
    }
    return NULL;
}

char *child_read(struct arena *arena, const char *path, size_t most, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = arena_room(arena, most + 1);
    *length = fread(bytes, 1, most, file);
    bytes[*length] = '\0';
    arena_trim(arena, bytes, most + 1, *length + 1);
    fclose(file);
    return bytes;
}

bool child_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

char *child_path(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = arena_strndup(arena, real ? real : path, strlen(real ? real : path));
    free(real);
    return copy;
}
