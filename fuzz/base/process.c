#include "fuzz/base/process.h"

#include "fuzz/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

volatile sig_atomic_t process_stop;

enum { PAUSE_MOST_US = 5000, ERROR_MAX = 4096 };

/* Up to `most` bytes of a file; "" when there are none. */
static const char *read_text(struct arena *arena, const char *path, size_t most)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return "";
    size_t size = 0;
    if (fseek(file, 0, SEEK_END) == 0) {
        long end = ftell(file);
        size = end > 0 ? (size_t)end : 0;
        rewind(file);
    }
    size = size < most ? size : most;
    char *text = ARENA_ARRAY(arena, char, size + 1);
    text[fread(text, 1, size, file)] = '\0';
    fclose(file);
    return text;
}

static const char *first_line(struct arena *arena, const char *path)
{
    const char *text = read_text(arena, path, ERROR_MAX);
    return arena_strndup(arena, text, strcspn(text, "\n"));
}

static int spawn(const char *out, const char *err, char *const *arguments, pid_t *pid)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_TRUNC, MODE = 0600 };
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&files, 1, out, FLAGS, MODE);
    if (!error)
        error = posix_spawn_file_actions_addopen(&files, 2, err, FLAGS, MODE);
    if (!error)
        error = posix_spawn(pid, arguments[0], &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int process_wait(pid_t pid, uint64_t time_ms, bool *timed_out)
{
    uint64_t started = clock_monotonic_ms();
    int status = 0;
    *timed_out = false;
    for (long pause_us = 20;; pause_us = pause_us < PAUSE_MOST_US ? 2 * pause_us : pause_us) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return status;
        bool late = process_stop || clock_monotonic_ms() - started >= time_ms;
        if (!*timed_out && late) {
            *timed_out = true;
            kill(pid, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
    }
}

struct process_result process_run(struct arena *arena, const char *folder, char *const *arguments,
                                  uint64_t time_ms)
{
    struct process_result result = {.status = -1, .output = "", .error = ""};
    const char *out = arena_printf(arena, "%s/out", folder);
    const char *err = arena_printf(arena, "%s/err", folder);
    pid_t pid;
    int error = spawn(out, err, arguments, &pid);
    if (error) {
        result.error = arena_printf(arena, "%s", strerror(error));
        return result;
    }
    result.started = true;
    int status = process_wait(pid, time_ms, &result.timed_out);
    if (WIFEXITED(status))
        result.status = WEXITSTATUS(status);
    else
        result.signal = WTERMSIG(status);
    result.output = read_text(arena, out, PROCESS_OUTPUT_MAX);
    result.error = first_line(arena, err);
    return result;
}
