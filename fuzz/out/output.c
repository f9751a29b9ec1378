#include "fuzz/out/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* What is written to see whether a disk has room for anything. */
enum { PROBE_BYTES = 4096 };

/* ---- writing ---- */

static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* Closes, and keeps the error of what failed before. */
static bool close_after(int fd, bool good)
{
    int error = errno;
    bool closed = close(fd) == 0;
    if (!good)
        errno = error;
    return good && closed;
}

static bool write_in_place(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    return fd >= 0 && close_after(fd, write_all(fd, text, length));
}

/* The file that a path means, behind symbolic links, since a rename would replace the link; "" if that is too long. */
static void follow(const char *path, char real[PATH_MAX])
{
    if (realpath(path, real))
        return;
    int length = snprintf(real, PATH_MAX, "%s", path);
    if (length < 0 || length >= PATH_MAX)
        real[0] = '\0';
}

/* A new file beside `real`; -1 with errno. */
static int open_beside(const char *real, char name[PATH_MAX])
{
    int length = snprintf(name, PATH_MAX, "%s.%ld.tmp", real, (long)getpid());
    if (!*real || length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST && unlink(name) == 0) /* of a process that was killed */
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd;
}

static bool remove_failed(const char *name)
{
    int error = errno;
    unlink(name);
    errno = error;
    return false;
}

static bool write_beside(const char *real, const struct stat *former, const char *text,
                         size_t length)
{
    char name[PATH_MAX];
    int fd = open_beside(real, name);
    if (fd < 0)
        return false;
    bool good = write_all(fd, text, length);
    if (good && former)
        good = fchmod(fd, former->st_mode & 07777) == 0;
    good = close_after(fd, good) && rename(name, real) == 0;
    return good || remove_failed(name);
}

bool output_write(const char *path, const char *text, size_t length, const char **why)
{
    char real[PATH_MAX];
    struct stat status;
    bool there = stat(path, &status) == 0;
    follow(path, real);
    bool good;
    if (there && !S_ISREG(status.st_mode))
        good = write_in_place(path, text, length);
    else
        good = write_beside(real, there ? &status : NULL, text, length);
    /* A file that can be written in a folder that cannot; one that is mounted by itself. */
    if (!good && there && S_ISREG(status.st_mode) &&
        (errno == EACCES || errno == EPERM || errno == EBUSY || errno == EROFS))
        good = write_in_place(path, text, length);
    if (!good)
        *why = strerror(errno);
    return good;
}

/* ---- which file it is ---- */

/* Of a file that is not there: its folder, and its name in it. */
struct identity {
    dev_t device;
    ino_t inode;
    const char *name; /* "": the file itself */
};

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

/* False: neither it nor its folder is there. */
static bool identify(struct arena *arena, const char *path, struct identity *identity)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    identity->name = "";
    if (stat(path, &status) != 0) {
        identity->name = slash ? slash + 1 : path;
        if (stat(folder_of(arena, path), &status) != 0)
            return false;
    }
    identity->device = status.st_dev;
    identity->inode = status.st_ino;
    return true;
}

static bool same_file(struct arena *arena, const char *a, const char *b)
{
    struct identity of_a, of_b;
    struct stat status;
    if (stat(a, &status) == 0 && S_ISCHR(status.st_mode))
        return false; /* /dev/null takes all */
    return identify(arena, a, &of_a) && identify(arena, b, &of_b) && of_a.device == of_b.device &&
           of_a.inode == of_b.inode && strcmp(of_a.name, of_b.name) == 0;
}

/* ---- whether it can be written ---- */

static const char *refuse(struct arena *arena, const char *path, const char *reason)
{
    return arena_printf(arena, "%s: %s", *path ? path : "''", reason);
}

/* What is already open, as a shell's >(command) names it. */
static bool is_descriptor(const char *path)
{
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0 ||
           strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0;
}

static const char *refuse_special(struct arena *arena, const char *path, const struct stat *status)
{
    if (S_ISDIR(status->st_mode))
        return refuse(arena, path, "is a folder");
    if (S_ISFIFO(status->st_mode) && !is_descriptor(path))
        return refuse(arena, path, "is a named pipe; use - and a pipe of the shell");
    if (S_ISSOCK(status->st_mode) || S_ISBLK(status->st_mode))
        return refuse(arena, path, "is neither a file nor a terminal");
    if (S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 7)) /* /dev/full */
        return refuse(arena, path, strerror(ENOSPC));
    return access(path, W_OK) == 0 ? NULL : refuse(arena, path, strerror(errno));
}

/* As it will be written: a few bytes beside it, which a full disk refuses. */
static const char *refuse_probe(struct arena *arena, const char *path, bool there)
{
    static const char nothing[PROBE_BYTES];
    char real[PATH_MAX], name[PATH_MAX];
    follow(path, real);
    int fd = open_beside(real, name);
    if (fd < 0 && there && errno != ENOSPC)
        return NULL; /* the file itself can be written, in place */
    if (fd < 0 && errno == ENOENT)
        return refuse(arena, path,
                      arena_printf(arena, "there is no folder '%s'", folder_of(arena, path)));
    if (fd < 0)
        return refuse(arena, path, strerror(errno));
    bool good = close_after(fd, write_all(fd, nothing, sizeof nothing));
    const char *why = good ? NULL : refuse(arena, path, strerror(errno));
    unlink(name);
    return why;
}

static const char *refuse_path(struct arena *arena, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0) {
        const char *why = refuse_special(arena, path, &status);
        return why || !S_ISREG(status.st_mode) ? why : refuse_probe(arena, path, true);
    }
    if (errno == ENOTDIR)
        return refuse(arena, path,
                      arena_printf(arena, "'%s' is no folder", folder_of(arena, path)));
    if (errno != ENOENT)
        return refuse(arena, path, strerror(errno));
    if (lstat(path, &status) == 0)
        return refuse(arena, path, "is a symbolic link to a file that is not there");
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return refuse(arena, path, "is no file's name");
    return refuse_probe(arena, path, false);
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* NULL: `file` is none of `others`. */
static const char *find_clash(struct arena *arena, const struct output_file *file,
                              const struct output_file *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_standard(others[i].path) && same_file(arena, file->path, others[i].path))
            return arena_printf(arena, "%s %s would replace %s (%s)", file->what, file->path,
                                others[i].what, others[i].path);
    return NULL;
}

/* No output of ours is a database: one that is there already is somebody's, of whatever program. */
static const char *find_database(struct arena *arena, const struct output_file *file)
{
    static const char magic[] = "SQLite format 3"; /* with its zero */
    char start[sizeof magic] = "";
    struct stat status;
    if (stat(file->path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, start, sizeof start) : -1;
    if (fd >= 0)
        close(fd);
    if (length != (ssize_t)sizeof start || memcmp(start, magic, sizeof magic) != 0)
        return NULL;
    return arena_printf(
        arena, "%s %s would replace a database of SQLite; remove it first if that is meant",
        file->what, file->path);
}

/* Whether one of them is a file that must stay, or is another one of them. NULL: none. */
static const char *find_any_clash(struct arena *arena, const struct output_file *written,
                                  uint32_t written_count, const struct output_file *kept,
                                  uint32_t kept_count)
{
    const char *why = NULL;
    const struct output_file *standard = NULL;
    for (uint32_t i = 0; i < written_count && !why; i++) {
        const struct output_file *file = &written[i];
        if (is_standard(file->path)) {
            if (standard)
                why = arena_printf(arena, "%s and %s both go to standard output", standard->what,
                                   file->what);
            standard = file;
            continue;
        }
        why = find_clash(arena, file, kept, kept_count);
        if (!why)
            why = find_clash(arena, file, written, i);
        if (!why)
            why = find_database(arena, file);
    }
    return why;
}

enum output_fault outputs_look(struct arena *arena, const struct output_file *written,
                               uint32_t written_count, const struct output_file *kept,
                               uint32_t kept_count, const char **why)
{
    *why = find_any_clash(arena, written, written_count, kept, kept_count);
    if (*why)
        return OUTPUT_CLASH;
    for (uint32_t i = 0; i < written_count; i++) {
        const char *refused =
            is_standard(written[i].path) ? NULL : refuse_path(arena, written[i].path);
        if (refused) {
            *why = arena_printf(arena, "%s %s", written[i].what, refused);
            return OUTPUT_REFUSED;
        }
    }
    return OUTPUT_GOOD;
}
