/*
 * The way to simtfuzz: a socket, and the file that holds device memory.
 */
#include "fuzz/cudart/device_link.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sock = -1, memory = -1;
static pid_t owner;
static const char *door; /* the variable of the environment that says where simtfuzz listens */

void device_claim(const char *variable)
{
    door = variable;
}

/* The file that holds device memory comes first. */
static int receive_file(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    int file = -1;
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

/* This process has a device of its own from now on, if simtfuzz listens. */
static void knock(void)
{
    const char *path = door ? getenv(door) : NULL;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char program[DEVICE_PATH];
    door = NULL; /* once */
    if (!path || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int new = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (new >= 0 && connect(new, (const struct sockaddr *)&address, sizeof address) == 0)
        memory = receive_file(new);
    if (memory < 0) {
        close(new);
        return;
    }
    sock = new;
    owner = getpid();
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    device_tell(DEVICE_HELLO, program, length > 0 ? (size_t)length : 0, NULL, 0);
}

void device_guard(void)
{
    pthread_mutex_lock(&lock);
}

/* The frames of the call at hand, and whether its thread has the lock. Names of frames are asked of the loader, whose
 * own lock a thread has that loads a library, and so registers kernels, in another order: so that is done before. */
static __thread struct device_stack call_frames;
static __thread bool is_inside;

enum device_link device_lock(void)
{
    host_frames(&call_frames);
    device_guard();
    if (sock < 0)
        knock();
    const enum device_link link = sock < 0            ? DEVICE_NEVER
                                  : getpid() != owner ? DEVICE_ANOTHERS
                                                      : DEVICE_OURS;
    is_inside = link == DEVICE_OURS;
    if (!is_inside)
        pthread_mutex_unlock(&lock);
    return link;
}

void device_leave(void)
{
    is_inside = false;
    pthread_mutex_unlock(&lock);
}

int device_file(void)
{
    return memory;
}

/* simtfuzz has ended: so does the program, which could only go on with wrong results. */
static _Noreturn void lost(void)
{
    static const char text[] = "simtfuzz: the device is gone\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(3);
}

static void send_all(const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t sent = send(sock, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            lost();
        at += sent;
        bytes -= (size_t)sent;
    }
}

void device_tell(enum device_message kind, const void *head, size_t head_bytes, const void *tail,
                 size_t tail_bytes)
{
    struct device_header header = {(uint32_t)kind, (uint32_t)(head_bytes + tail_bytes)};
    send_all(&header, sizeof header);
    send_all(head, head_bytes);
    send_all(tail, tail_bytes);
}

bool device_hear(void *answer, size_t bytes)
{
    for (char *at = answer; bytes > 0;) {
        ssize_t got = recv(sock, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            lost();
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

void device_say(enum device_message kind, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > (int)sizeof text - 1)
        length = (int)sizeof text - 1;
    struct device_stack stack;
    if (kind == DEVICE_WRONG)
        host_frames(&stack);
    device_tell(kind, &stack, kind == DEVICE_WRONG ? sizeof stack : 0, text,
                (size_t)(length > 0 ? length : 0));
}

/* ---- launches ---- */

enum { ADDRESSES = DEVICE_FRAMES + 8 };

/* Without this library's own frames and what a sanitizer has above them. */
static void name_frames(struct device_stack *stack, void *const *addresses, int count)
{
    struct link_map *map;
    Dl_info own, info;
    bool below = false;
    stack->count = 0;
    if (!dladdr((void *)(uintptr_t)host_frames, &own))
        return;
    for (int i = 0; i < count && stack->count < DEVICE_FRAMES; i++) {
        struct device_frame *frame = &stack->frames[stack->count];
        if (!dladdr1(addresses[i], &info, (void **)&map, RTLD_DL_LINKMAP))
            continue;
        bool is_own = info.dli_fbase == own.dli_fbase;
        below |= is_own;
        if (is_own || !below)
            continue;
        /* The program itself has no name in the loader's list. */
        *frame = (struct device_frame){.offset = 0};
        if (map && map->l_name[0] == '\0')
            frame->offset = (uint64_t)((uintptr_t)addresses[i] - map->l_addr);
        if (info.dli_sname)
            strncpy(frame->name, info.dli_sname, sizeof frame->name - 1);
        stack->count++;
    }
}

static void copy_stack(struct device_stack *to, const struct device_stack *from)
{
    to->count = from->count;
    memcpy(to->frames, from->frames, from->count * sizeof *from->frames);
}

/* A program often asks from the same place as before. */
void host_frames(struct device_stack *stack)
{
    static __thread void *known[ADDRESSES];
    static __thread int known_count = -1;
    static __thread struct device_stack named;
    void *addresses[ADDRESSES];
    if (is_inside) {
        copy_stack(stack, &call_frames);
        return;
    }
    const int count = backtrace(addresses, ADDRESSES);
    if (count != known_count || memcmp(addresses, known, (size_t)count * sizeof *known) != 0) {
        name_frames(&named, addresses, count);
        memcpy(known, addresses, (size_t)count * sizeof *known);
        known_count = count;
    }
    copy_stack(stack, &named);
}

/* Parameters one behind the other. NULL: no memory, or nothing was given. */
static char *pack_arguments(const struct device_kernel *kernel, void **arguments, uint32_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        *bytes += kernel->sizes[i];
    char *all = malloc(*bytes + 1), *at = all;
    for (uint32_t i = 0; all && i < kernel->parameter_count; i++) {
        if (!arguments || !arguments[i]) {
            free(all);
            return NULL;
        }
        memcpy(at, arguments[i], kernel->sizes[i]);
        at += kernel->sizes[i];
    }
    return all;
}

bool device_unpack(const struct device_kernel *kernel, void **extra, void **parameters)
{
    enum { END = 0, BUFFER = 1, SIZE = 2 };
    char *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != (void *)END; extra += 2) {
        if (*extra == (void *)BUFFER)
            buffer = extra[1];
        else if (*extra == (void *)SIZE)
            memcpy(&bytes, extra[1], sizeof bytes);
        else
            return false;
    }
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (!buffer || kernel->offsets[i] + kernel->sizes[i] > bytes)
            return false;
        parameters[i] = buffer + kernel->offsets[i];
    }
    return true;
}

enum { COOPERATIVE = 2, CLUSTER = 4 };

void device_set_attribute(struct device_launch *launch, uint32_t id, const void *value)
{
    if (id == CLUSTER)
        memcpy(launch->cluster, value, sizeof launch->cluster);
    if (id == COOPERATIVE)
        memcpy(&launch->cooperative, value, sizeof launch->cooperative);
}

void device_get_attribute(const struct device_launch *launch, uint32_t id, void *value)
{
    if (id == CLUSTER)
        memcpy(value, launch->cluster, sizeof launch->cluster);
    if (id == COOPERATIVE)
        memcpy(value, &launch->cooperative, sizeof launch->cooperative);
}

void device_read_attributes(const void *config, struct device_launch *launch)
{
    enum { ATTRIBUTES = 40, COUNT = 48, EACH = 8 + DEVICE_ATTRIBUTE_VALUE, VALUE = 8 };
    const char *at;
    uint32_t count, id;
    memcpy(&at, (const char *)config + ATTRIBUTES, sizeof at);
    memcpy(&count, (const char *)config + COUNT, sizeof count);
    for (; count > 0; count--, at += EACH) {
        memcpy(&id, at, sizeof id);
        device_set_attribute(launch, id, at + VALUE);
    }
}

bool device_tell_launch(const struct device_kernel *kernel, const char *name,
                        struct device_launch *launch, void **arguments,
                        struct device_launched *launched)
{
    uint32_t bytes;
    char *packed = pack_arguments(kernel, arguments, &bytes);
    launch->name_bytes = (uint32_t)strlen(name);
    launch->argument_bytes = bytes;
    char *tail = packed ? malloc(launch->name_bytes + bytes + 1) : NULL;
    if (tail) {
        memcpy(tail, name, launch->name_bytes);
        memcpy(tail + launch->name_bytes, packed, bytes);
        device_tell(DEVICE_LAUNCH, launch, sizeof *launch, tail, launch->name_bytes + bytes);
        device_hear(launched, sizeof *launched);
    }
    free(packed);
    free(tail);
    return tail != NULL;
}
