#include "engine/input/input.h"

#include "engine/base/invariant.h"
#include "engine/input/ptx_kernel.h"
#include "engine/language/parse.h"
#include "engine/language/print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ast_kernel *parse_kernel(struct arena *arena, const char *text, size_t length,
                                struct diag *diag)
{
    return ptx_is_ptx(text, length) ? ptx_kernel_parse(arena, text, length, diag)
                                    : language_parse(arena, text, length, diag);
}

struct ast_kernel *parse_printed(struct arena *arena, const char *text)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "kernel", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(arena, text, strlen(text), diag);
    INVARIANT(kernel != NULL);
    return kernel;
}

/* NULL with *why: what is no file could keep us waiting (a pipe), or has no text. */
static FILE *open_file(const char *path, const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        *why = strerror(errno);
    } else if (S_ISDIR(info.st_mode)) {
        *why = "it is a folder";
    } else if (!S_ISREG(info.st_mode)) {
        *why = "it is not a regular file";
    } else {
        FILE *file = fdopen(fd, "rb");
        if (file)
            return file;
        *why = strerror(errno);
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

char *parse_read_bytes(struct arena *arena, const char *path, size_t most, size_t *length,
                       struct diag *diag)
{
    struct location nowhere = {0, 0};
    diag_init(diag, path, NULL, 0);
    const char *why = NULL;
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : open_file(path, &why);
    if (!file) {
        diag_error(diag, nowhere, "cannot open: %s", why);
        return NULL;
    }
    size_t mark = arena_mark(arena);
    char *text = ARENA_ARRAY(arena, char, most + 16);
    *length = fread(text, 1, most + 1, file);
    int error = ferror(file) ? errno : 0;
    if (!standard)
        fclose(file);
    if (error)
        diag_error(diag, nowhere, "cannot read: %s", strerror(error));
    else if (*length > most)
        diag_error(diag, nowhere, "file is larger than %zu bytes", most);
    if (diag->count > 0) {
        arena_release(arena, mark);
        return NULL;
    }
    arena_trim(arena, text, most + 16, *length + 1);
    diag_init(diag, path, text, *length);
    return text;
}

char *parse_read_file(struct arena *arena, const char *path, size_t *length, struct diag *diag)
{
    return parse_read_bytes(arena, path, LIMIT_SOURCE_BYTES, length, diag);
}

char *print_kernel(struct arena *arena, const struct ast_kernel *kernel)
{
    return kernel->form == FORM_PTX ? ptx_kernel_print(arena, kernel)
                                    : language_print(arena, kernel);
}

/* The copy of one of the kernel's variables: it stands at the same place of its list. */
static struct ast_var *copied_var(const struct ast_var *var, const struct ast_kernel *from,
                                  const struct ast_kernel *to)
{
    struct ast_var *copy = to->vars;
    for (const struct ast_var *v = from->vars; v != var; v = v->next)
        copy = copy->next;
    return copy;
}

/* The module and the settings are never written to again, so the copy shares them. */
static struct ptx_kernel *copy_ptx(struct arena *arena, const struct ast_kernel *from,
                                   const struct ast_kernel *to)
{
    const struct ptx_kernel *ptx = from->ptx;
    struct ptx_kernel *result = ARENA_NEW(arena, struct ptx_kernel);
    *result = *ptx;
    result->arguments = ARENA_ARRAY(arena, struct ptx_argument, ptx->argument_count);
    for (uint32_t i = 0; i < ptx->argument_count; i++) {
        result->arguments[i] = ptx->arguments[i];
        if (ptx->arguments[i].buffer)
            result->arguments[i].buffer = copied_var(ptx->arguments[i].buffer, from, to);
    }
    return result;
}

struct ast_kernel *ast_kernel_copy(struct arena *arena, const struct ast_kernel *kernel)
{
    struct ast_kernel *result = language_copy(arena, kernel);
    if (kernel->ptx)
        result->ptx = copy_ptx(arena, kernel, result);
    return result;
}

uint32_t ast_kernel_size(const struct ast_kernel *kernel)
{
    return kernel->form == FORM_PTX ? ptx_kernel_size(kernel) : language_size(kernel);
}
