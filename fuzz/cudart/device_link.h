/*
 * device_link.h - what the libraries that are loaded into programs (`exec`, `record`) have in common: the way to
 * simtfuzz.
 */
#ifndef FUZZ_DEVICE_LINK_H
#define FUZZ_DEVICE_LINK_H

#include "fuzz/cudart/device_protocol.h"

#include <stdbool.h>
#include <stddef.h>

/* The variable of the environment that names the door. The first device_lock of a process goes there. */
void device_claim(const char *variable);

enum device_link {
    DEVICE_OURS,    /* locked until device_leave */
    DEVICE_NEVER,   /* the program does not run under simtfuzz */
    DEVICE_ANOTHERS /* it belongs to the process that this one was forked from */
};
enum device_link device_lock(void);
/* Locks, without going to the door, until device_leave. */
void device_guard(void);
void device_leave(void);

/* The file that holds device memory. */
int device_file(void);

/* ---- between device_lock and device_leave ---- */

void device_tell(enum device_message kind, const void *head, size_t head_bytes, const void *tail,
                 size_t tail_bytes);
bool device_hear(void *answer, size_t bytes);
void device_say(enum device_message kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* DEVICE_LAUNCH and the head of its answer. False: an argument is missing, nothing was told. */
bool device_tell_launch(const struct device_kernel *kernel, const char *name,
                        struct device_launch *launch, void **arguments,
                        struct device_launched *launched);

/* Parameters given as one buffer: what `extra` of cuLaunchKernel lists until its end. False: it lists something else.
 */
bool device_unpack(const struct device_kernel *kernel, void **extra, void **parameters);

/* What the attributes of a cudaLaunchConfig_t or CUlaunchConfig, which are alike, say of the launch. */
void device_read_attributes(const void *config, struct device_launch *launch);
/* One of them, by its number; those that change nothing here are not kept. */
enum { DEVICE_ATTRIBUTE_VALUE = 64 };
void device_set_attribute(struct device_launch *launch, uint32_t id, const void *value);
void device_get_attribute(const struct device_launch *launch, uint32_t id, void *value);

/* Where the program calls. */
void host_frames(struct device_stack *stack);

/* DEVICE_MODULE of what nvcc registers: a fat binary, and if it was linked (-rdc=true), what it was linked of. */
void device_tell_module(uint32_t number, const void *wrapper);

/* ---- images of modules ---- */

/* A fat binary's containers lie one behind the other; their sizes stand in their heads. */
uint32_t containers_bytes(const unsigned char *at);

/* How long what the driver loads is: a text, a fat binary, or what nvcc wraps one into; then *image is what is wrapped.
 */
size_t image_bytes(const void **image);

/* A file, with zeros behind it; NULL: it cannot be read. The caller frees it. */
char *image_read(const char *path, size_t *bytes);

/* What cuLink.. is given: several inputs only of PTX; of one input there is nothing to do. */
struct linking {
    char *image;  /* room for the container's head, then entries */
    size_t bytes; /* of the entries */
    unsigned inputs;
    bool is_text; /* the last input was PTX */
};
bool linking_add(struct linking *linking, int type, const void *data, size_t bytes);
/* The image, a part of `linking`, of which there is an input at least. */
char *linking_complete(const struct linking *linking, size_t *bytes);

#endif
