#define _GNU_SOURCE 1 /* POSIX_SPAWN_SETSID */

#include "fuzz/keep/keep_test.h"

#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/reduce/reduce.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { KNOWN_SLOTS = 1 << 14, KNOWN_PROBES = 8, PAUSE_MOST_US = 5000 };

/* The command's parent: it dies in our place when the command kills its parent or its group. */
static const char RUNNER[] = "ulimit -c 0; ulimit -t \"$2\"; /bin/sh -c \"$0\" sh \"$1\"; exit $?";

static const char VARIABLE[] = "SIMTFUZZ_KERNEL=";

/* What a kernel's text was answered with. */
struct known {
    uint64_t hash; /* 0: nothing */
    bool interesting;
};

/* A place for one run at a time. */
struct place {
    const char *folder, *path;
    char **environment;
    bool busy;
};

struct keep_test {
    struct keep_test_options options;
    const char *command, *folder;
    const char *cpu_seconds;
    pthread_mutex_t lock; /* of all below */
    struct place places[REDUCE_JOBS_MAX];
    uint32_t place_count;
    struct known *known;
    struct keep_test_counts counts;
};

/* ---- opening, closing ---- */

static bool names_kernel(const char *command)
{
    static const char *const names[] = {"$1", "${1", "$@", "${@", "$*", "${*", "SIMTFUZZ_KERNEL"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(command, names[i]))
            return true;
    return false;
}

/* What we have, but for an older $SIMTFUZZ_KERNEL. */
static char **environment_with(struct arena *arena, const char *path)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **all = ARENA_ARRAY(arena, char *, count + 2);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], VARIABLE, sizeof VARIABLE - 1) != 0)
            all[used++] = environ[i];
    all[used] = arena_printf(arena, "%s%s", VARIABLE, path);
    return all;
}

static bool make_places(struct arena *arena, struct keep_test *test)
{
    for (uint32_t i = 0; i < test->place_count; i++) {
        struct place *place = &test->places[i];
        place->folder = arena_printf(arena, "%s/%" PRIu32, test->folder, i);
        place->path = arena_printf(arena, "%s/%s", place->folder, test->options.file);
        place->environment = environment_with(arena, place->path);
        if (mkdir(place->folder, 0700) != 0)
            return false;
    }
    return true;
}

struct keep_test *keep_test_open(struct arena *arena, const struct keep_test_options *options,
                                 const char **error)
{
    struct keep_test *test = ARENA_NEW(arena, struct keep_test);
    const char *above = getenv("TMPDIR");
    char *folder = arena_printf(arena, "%s/simtfuzz-XXXXXX", above && *above ? above : "/tmp");
    test->options = *options;
    test->place_count = options->runs < 1                 ? 1
                        : options->runs > REDUCE_JOBS_MAX ? REDUCE_JOBS_MAX
                                                          : options->runs;
    test->command = names_kernel(options->command)
                        ? options->command
                        : arena_printf(arena, "%s \"$1\"", options->command);
    test->cpu_seconds = arena_printf(arena, "%" PRIu64, options->time_ms / 1000 + 1);
    test->known = ARENA_ARRAY(arena, struct known, KNOWN_SLOTS);
    pthread_mutex_init(&test->lock, NULL);
    test->folder = mkdtemp(folder);
    if (test->folder && make_places(arena, test))
        return test;
    *error = arena_printf(arena, "%s: %s", folder, strerror(errno));
    if (test->folder)
        keep_test_close(test);
    return NULL;
}

/* What the command itself left there stays. */
void keep_test_close(struct keep_test *test)
{
    for (uint32_t i = 0; i < test->place_count && test->places[i].folder; i++) {
        (void)unlink(test->places[i].path);
        (void)rmdir(test->places[i].folder);
    }
    (void)rmdir(test->folder);
}

/* ---- one run ---- */

static bool write_kernel(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && good;
}

/* No input, no output; signals as a program expects them. */
static int plan(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, 1, 2);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    return error ? error
                 : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF |
                                                            POSIX_SPAWN_SETSIGMASK |
                                                            POSIX_SPAWN_SETSID);
}

static int start(const struct keep_test *test, const struct place *place, pid_t *pid)
{
    char name[] = "sh", option[] = "-c";
    char *const words[] = {name,
                           option,
                           (char *)(uintptr_t)RUNNER,
                           (char *)(uintptr_t)test->command,
                           (char *)(uintptr_t)place->path,
                           (char *)(uintptr_t)test->cpu_seconds,
                           NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int error = plan(&files, &attributes);
    if (!error)
        error = posix_spawn(pid, "/bin/sh", &files, &attributes, words, place->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Until it ends, or its time: then with its whole group. While it is not waited for, its number is
 * nobody else's. */
static int wait_for(const struct keep_test *test, pid_t pid, enum keep_test_end *killed)
{
    uint64_t deadline_ms = test->options.deadline_ms > 0 ? test->options.deadline_ms : UINT64_MAX;
    uint64_t late_ms = clock_monotonic_ms() + test->options.time_ms;
    for (long pause_us = 20;; pause_us = pause_us < PAUSE_MOST_US ? 2 * pause_us : pause_us) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            break;
        uint64_t now_ms = clock_monotonic_ms();
        if (interrupted || now_ms >= deadline_ms || now_ms >= late_ms) {
            *killed = interrupted || now_ms >= deadline_ms ? KEEP_TEST_CUT : KEEP_TEST_LATE;
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
    }
    int status = 0;
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* A shell tells of a signal that ended its command by a status above 128. */
static struct keep_test_run judge(struct arena *arena, int status)
{
    enum { SIGNALLED = 128 };
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
    if (code == 0)
        return (struct keep_test_run){.end = KEEP_TEST_INTERESTING};
    if (code > SIGNALLED)
        return (struct keep_test_run){
            KEEP_TEST_SIGNAL, arena_printf(arena, "it was ended by signal %d", code - SIGNALLED)};
    const char *means = code == 127   ? " (a shell's for a command that it does not find)"
                        : code == 126 ? " (a shell's for a command that it cannot run)"
                                      : "";
    return (struct keep_test_run){KEEP_TEST_STATUS,
                                  arena_printf(arena, "it ended with status %d%s", code, means)};
}

static struct keep_test_run run_in(const struct keep_test *test, struct arena *arena,
                                   const struct place *place, const char *text)
{
    pid_t pid;
    if (!write_kernel(place->path, text))
        return (struct keep_test_run){KEEP_TEST_FAULT,
                                      arena_printf(arena, "%s: %s", place->path, strerror(errno))};
    int error = start(test, place, &pid);
    if (error)
        return (struct keep_test_run){KEEP_TEST_FAULT,
                                      arena_printf(arena, "/bin/sh: %s", strerror(error))};
    struct keep_test_run run = {.end = KEEP_TEST_INTERESTING};
    int status = wait_for(test, pid, &run.end);
    if (run.end == KEEP_TEST_CUT)
        run.why = "it was killed, since all was to end";
    else if (run.end == KEEP_TEST_LATE)
        run.why = arena_printf(arena, "it took longer than %g s and was killed",
                               (double)test->options.time_ms / 1000);
    return run.end == KEEP_TEST_INTERESTING ? judge(arena, status) : run;
}

/* As many ask at once as there are places. */
static struct place *take_place(struct keep_test *test)
{
    struct place *place = test->places;
    pthread_mutex_lock(&test->lock);
    while (place->busy && place < test->places + test->place_count - 1)
        place++;
    place->busy = true;
    pthread_mutex_unlock(&test->lock);
    return place;
}

struct keep_test_run keep_test_ask(struct keep_test *test, struct arena *arena,
                                   const struct ast_kernel *kernel)
{
    const char *text = print_kernel(arena, kernel);
    struct place *place = take_place(test);
    struct keep_test_run run = run_in(test, arena, place, text);
    pthread_mutex_lock(&test->lock);
    place->busy = false;
    test->counts.runs++;
    test->counts.late += run.end == KEEP_TEST_LATE;
    test->counts.killed += run.end == KEEP_TEST_SIGNAL;
    pthread_mutex_unlock(&test->lock);
    return run;
}

struct keep_test_counts keep_test_counted(struct keep_test *test)
{
    pthread_mutex_lock(&test->lock);
    struct keep_test_counts counts = test->counts;
    pthread_mutex_unlock(&test->lock);
    return counts;
}

/* ---- what was asked before ---- */

/* The text's own place, or an empty one; NULL: no room. Under the lock. */
static struct known *find_known(const struct keep_test *test, uint64_t hash)
{
    for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
        struct known *known = &test->known[(hash + i) % KNOWN_SLOTS];
        if (known->hash == hash || known->hash == 0)
            return known;
    }
    return NULL;
}

static bool shown(const struct interest *interest, struct interest_question *question)
{
    struct keep_test *test = interest->state;
    uint64_t hash = reduce_text_hash(print_kernel(question->arena, question->kernel));
    pthread_mutex_lock(&test->lock);
    const struct known *before = find_known(test, hash);
    bool is_known = before && before->hash == hash, interesting = is_known && before->interesting;
    pthread_mutex_unlock(&test->lock);
    if (is_known)
        return interesting;
    interesting =
        keep_test_ask(test, question->arena, question->kernel).end == KEEP_TEST_INTERESTING;
    pthread_mutex_lock(&test->lock);
    struct known *known = find_known(test, hash);
    if (known)
        *known = (struct known){.hash = hash, .interesting = interesting};
    pthread_mutex_unlock(&test->lock);
    return interesting;
}

struct interest keep_test_interest(struct keep_test *test)
{
    return (struct interest){.shown = shown, .state = test, .expects = true};
}
