/*
 * Devices of the processes that a program under `exec` or `record` consists of: each that uses CUDA comes to the door,
 * and has a device of its own; what is found and counted is one.
 */
#define _GNU_SOURCE /* memfd_create, ppoll, accept4 */
#include "fuzz/exec/device.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES_MOST = 1024 };

struct devices {
    const struct device *first;
    struct device *all[DEVICES_MOST];
    uint32_t count;
    bool is_full; /* this process has no more descriptors: who is at the door waits a while */
};

static void child_ended(int signal_number)
{
    (void)signal_number; /* ppoll returns */
}

int devices_listen(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (strlen(path) >= sizeof address.sun_path)
        errno = ENAMETOOLONG;
    else if (door >= 0) {
        memcpy(address.sun_path, path, strlen(path) + 1);
        if (bind(door, (const struct sockaddr *)&address, sizeof address) == 0 &&
            listen(door, DEVICES_MOST) == 0)
            return door;
    }
    return -1;
}

static bool send_file(int to, int file)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

static bool is_full(int file)
{
    return file < 0 && (errno == EMFILE || errno == ENFILE);
}

/* A process that gets none goes on without a device. Whoever is let in has both files. */
static void welcome(struct devices *devices, int door)
{
    const int memory = memfd_create("simtfuzz-device", MFD_CLOEXEC);
    devices->is_full = is_full(memory);
    const int sock = devices->is_full ? -1 : accept4(door, NULL, NULL, SOCK_CLOEXEC);
    devices->is_full |= is_full(sock);
    struct device *device = devices->count < DEVICES_MOST ? malloc(sizeof *device) : NULL;
    if (sock < 0 || !device) {
        close(sock);
        close(memory);
        free(device);
        return;
    }
    *device = *devices->first;
    device->sock = sock;
    device->memory = memory;
    if (memory < 0 || arena_init(&device->arena, (size_t)4 << 30) != 0 ||
        !send_file(sock, device->memory)) {
        arena_destroy(&device->arena);
        close(sock);
        close(memory);
        free(device);
        return;
    }
    device->program = "";
    device->report->devices++;
    devices->all[devices->count++] = device;
}

static void part(struct device *device)
{
    device_count_leaks(device);
    if (device->options->leaks)
        device_tell_leaks(device);
    device_end(device);
    arena_destroy(&device->arena);
    close(device->sock);
    close(device->memory);
    free(device);
}

/* Those of whom something is heard, each once: they take turns. */
static void serve(struct devices *devices, const struct pollfd *heard)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < devices->count; i++)
        if (heard[i].revents == 0 || device_serve(devices->all[i]))
            devices->all[left++] = devices->all[i];
        else
            part(devices->all[i]);
    devices->count = left;
}

int devices_serve(const struct device *first, int door, pid_t pid)
{
    static struct devices devices;
    static struct pollfd heard[DEVICES_MOST + 1];
    const struct sigaction action = {.sa_handler = child_ended};
    bool ended = false;
    sigset_t signals;
    struct rlimit files;
    int status = 0;
    devices = (struct devices){.first = first};
    /* Two files a device; the program has been started with the limit that it is to have. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_BLOCK, NULL, &signals);
    sigdelset(&signals, SIGCHLD);
    for (;;) {
        ended = ended || waitpid(pid, &status, WNOHANG) == pid;
        for (uint32_t i = 0; i < devices.count; i++)
            heard[i] = (struct pollfd){.fd = devices.all[i]->sock, .events = POLLIN};
        heard[devices.count] = (struct pollfd){.fd = devices.is_full ? -1 : door, .events = POLLIN};
        const struct timespec none = {0}, while_full = {.tv_nsec = 100 * 1000 * 1000};
        const bool last =
            ended && devices.count == 0 && !devices.is_full; /* somebody may be at the door */
        const int ready = ppoll(heard, devices.count + 1,
                                last              ? &none
                                : devices.is_full ? &while_full
                                                  : NULL,
                                &signals);
        if (ready == 0 && last)
            return status;
        devices.is_full = false;
        if (ready <= 0)
            continue;
        const bool comes = heard[devices.count].revents != 0;
        serve(&devices, heard);
        if (comes)
            welcome(&devices, door);
    }
}
