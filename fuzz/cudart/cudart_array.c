/*
 * Arrays, which lie row after row in device memory, and their copies.
 */
#include "fuzz/cudart/operation.h"

#include <stdlib.h>

enum { ROW = 32 /* bytes that an array's pitch is a multiple of */ };

EXPORT struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
EXPORT cudaError_t cudaMallocArray(struct array **array, const struct channels *channels,
                                   size_t width, size_t height, unsigned flags);
EXPORT cudaError_t cudaArrayGetInfo(struct channels *channels, struct extent *extent,
                                    unsigned *flags, const struct array *array);
EXPORT cudaError_t cudaGetChannelDesc(struct channels *channels, const struct array *array);
EXPORT cudaError_t cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *from,
                                       size_t pitch, size_t width, size_t height, int kind);
EXPORT cudaError_t cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *from,
                                            size_t pitch, size_t width, size_t height, int kind,
                                            cudaStream_t stream);
EXPORT cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, const struct array *from, size_t x,
                                         size_t y, size_t width, size_t height, int kind);
EXPORT cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct array *from,
                                              size_t x, size_t y, size_t width, size_t height,
                                              int kind, cudaStream_t stream);
EXPORT cudaError_t cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *from,
                                     size_t bytes, int kind);
EXPORT cudaError_t cudaMemcpyFromArray(void *to, const struct array *from, size_t x, size_t y,
                                       size_t bytes, int kind);
EXPORT cudaError_t cudaMemcpy3D(const struct copy_3d *copy);
EXPORT cudaError_t cudaMemcpy3DAsync(const struct copy_3d *copy, cudaStream_t stream);

/* ---- arrays ---- */

struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct channels){x, y, z, w, kind};
}

size_t channel_count(const struct channels *c)
{
    return c->w ? 4 : c->z ? 3 : c->y ? 2 : 1;
}

bool is_format(const struct channels *c)
{
    const int sizes[] = {c->x, c->y, c->z, c->w};
    const size_t count = channel_count(c);
    bool good = c->kind >= 0 && c->kind <= 2 && count != 3 &&
                (c->x == 32 || c->x == 16 || (c->x == 8 && c->kind != 2));
    for (size_t i = 0; i < 4; i++)
        good &= sizes[i] == (i < count ? c->x : 0);
    return good;
}

cudaError_t not_supported(const char *what)
{
    if (device_enter()) {
        device_say(DEVICE_NOTE, "%s is not supported: it answers cudaErrorNotSupported", what);
        device_leave();
    }
    return give(cudaErrorNotSupported);
}

static size_t rows_of(const struct array *a)
{
    const size_t height = a->extent.height ? a->extent.height : 1;
    return height * (a->extent.depth ? a->extent.depth : 1);
}

cudaError_t cudaMalloc3DArray(struct array **array, const struct channels *channels,
                              struct extent extent, unsigned flags)
{
    if (!array || !channels || extent.width == 0 || ((flags & LAYERED) && extent.depth == 0))
        return give(cudaErrorInvalidValue);
    if (flags & CUBE)
        return not_supported("an array that is a cube map");
    if (!is_format(channels))
        return give(cudaErrorInvalidChannelDescriptor);
    if (extent.width > DEVICE_MEMORY_BYTES || extent.height > DEVICE_MEMORY_BYTES ||
        extent.depth > DEVICE_MEMORY_BYTES)
        return give(cudaErrorMemoryAllocation);
    struct array *a = calloc(1, sizeof *a);
    if (!a)
        return give(cudaErrorMemoryAllocation);
    *a = (struct array){.channels = *channels, .extent = extent, .flags = flags};
    a->element = channel_count(channels) * (size_t)channels->x / 8;
    const size_t bytes = pitched_bytes(&a->pitch, ROW, extent.width * a->element, rows_of(a));
    void *data = NULL;
    cudaError_t error = allocate(&data, bytes, DEVICE_MEMORY_DEVICE);
    a->data = data;
    *array = error ? NULL : a;
    if (error)
        free(a);
    return error;
}

cudaError_t cudaMallocArray(struct array **array, const struct channels *channels, size_t width,
                            size_t height, unsigned flags)
{
    return cudaMalloc3DArray(array, channels, (struct extent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(struct array *array)
{
    if (!array)
        return give(cudaSuccess);
    cudaError_t error = release("cudaFreeArray", array->data);
    if (!error)
        free(array);
    return error;
}

cudaError_t cudaArrayGetInfo(struct channels *channels, struct extent *extent, unsigned *flags,
                             const struct array *array)
{
    if (channels)
        *channels = array->channels;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return give(cudaSuccess);
}

cudaError_t cudaGetChannelDesc(struct channels *channels, const struct array *array)
{
    return cudaArrayGetInfo(channels, NULL, NULL, array);
}

/* ---- copies ---- */

/* Whether `width` bytes from byte x of `height` rows from row y on lie in the array. */
static bool is_inside(const char *function, const struct array *a, size_t x, size_t y, size_t width,
                      size_t height)
{
    const size_t row = a->extent.width * a->element, rows = rows_of(a);
    bool inside = x <= row && width <= row - x && y <= rows && height <= rows - y;
    if (!inside && device_enter()) {
        device_say(DEVICE_WRONG,
                   "%s: %zu bytes from byte %zu of %zu rows from row %zu on: the array has rows of "
                   "%zu bytes, and %zu of them",
                   function, width, x, height, y, row, rows);
        device_leave();
    }
    return inside;
}

/* A copy of memory into the array, or of the array into memory: `from` or `to` is NULL. */
struct array_copy {
    const char *function;
    const struct array *array;
    const char *from;
    char *to;
    int kind;
};

/* Rows of the array, those of memory from byte `at` on, `pitch` apart. */
static cudaError_t rows_of_array(struct operation *o, const struct array_copy *c, size_t x,
                                 size_t y, size_t at, size_t pitch, size_t width, size_t height)
{
    char *there = c->array->data + y * c->array->pitch + x;
    if (!is_inside(c->function, c->array, x, y, width, height))
        return cudaErrorInvalidValue;
    *o = c->to ? rows_operation(c->function, c->to + at, pitch, there, c->array->pitch, width,
                                height, c->kind)
               : rows_operation(c->function, there, c->array->pitch, c->from + at, pitch, width,
                                height, c->kind);
    return cudaSuccess;
}

static cudaError_t copy_rows(const struct array_copy *c, size_t x, size_t y, size_t at,
                             size_t pitch, size_t width, size_t height)
{
    struct operation o;
    const cudaError_t error = rows_of_array(&o, c, x, y, at, pitch, width, height);
    return error ? give(error) : operation_do_now(&o);
}

static cudaError_t issue_rows(cudaStream_t stream, const struct array_copy *c, size_t x, size_t y,
                              size_t pitch, size_t width, size_t height)
{
    struct operation o;
    const cudaError_t error = rows_of_array(&o, c, x, y, 0, pitch, width, height);
    return error ? give(error) : operation_issue(stream, &o);
}

/* The bytes of the array's rows, one behind the other. */
static cudaError_t copy_bytes(const struct array_copy *c, size_t x, size_t y, size_t bytes)
{
    const size_t row = c->array->extent.width * c->array->element;
    cudaError_t error = cudaSuccess;
    for (size_t done = 0; done < bytes && !error; x = 0, y++) {
        size_t left = bytes - done, part = x < row && row - x < left ? row - x : left;
        error = copy_rows(c, x, y, done, part, part, 1);
        done += part;
    }
    return error;
}

cudaError_t cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height, int kind)
{
    const struct array_copy c = {"cudaMemcpy2DToArray", to, from, NULL, kind};
    return copy_rows(&c, x, y, 0, pitch, width, height);
}

cudaError_t cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height, int kind,
                                     cudaStream_t stream)
{
    const struct array_copy c = {"cudaMemcpy2DToArrayAsync", to, from, NULL, kind};
    return issue_rows(stream, &c, x, y, pitch, width, height);
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, const struct array *from, size_t x,
                                  size_t y, size_t width, size_t height, int kind)
{
    const struct array_copy c = {"cudaMemcpy2DFromArray", from, NULL, to, kind};
    return copy_rows(&c, x, y, 0, pitch, width, height);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct array *from, size_t x,
                                       size_t y, size_t width, size_t height, int kind,
                                       cudaStream_t stream)
{
    const struct array_copy c = {"cudaMemcpy2DFromArrayAsync", from, NULL, to, kind};
    return issue_rows(stream, &c, x, y, pitch, width, height);
}

cudaError_t cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *from, size_t bytes,
                              int kind)
{
    const struct array_copy c = {"cudaMemcpyToArray", to, from, NULL, kind};
    return copy_bytes(&c, x, y, bytes);
}

cudaError_t cudaMemcpyFromArray(void *to, const struct array *from, size_t x, size_t y,
                                size_t bytes, int kind)
{
    const struct array_copy c = {"cudaMemcpyFromArray", from, NULL, to, kind};
    return copy_bytes(&c, x, y, bytes);
}

/* One end of a copy as memory of a pitch; the extent is counted in elements if there is an array. */
static struct pitched end_of(const struct array *array, const struct position *at,
                             const struct pitched *memory)
{
    if (!array)
        return (struct pitched){memory->pointer + (at->z * memory->height + at->y) * memory->pitch +
                                    at->x,
                                memory->pitch, memory->width, memory->height};
    const size_t height = array->extent.height ? array->extent.height : 1;
    return (struct pitched){array->data + (at->z * height + at->y) * array->pitch +
                                at->x * array->element,
                            array->pitch, array->extent.width * array->element, height};
}

static bool holds(const char *function, const struct array *array, const struct position *at,
                  const struct extent *extent)
{
    const size_t height = array && array->extent.height ? array->extent.height : 1;
    const size_t depth = array && array->extent.depth ? array->extent.depth : 1;
    if (!array)
        return true;
    return at->y + extent->height <= height && at->z + extent->depth <= depth &&
           is_inside(function, array, at->x * array->element, at->y + at->z * height,
                     extent->width * array->element, 1);
}

cudaError_t copy_3d(const char *function, const struct copy_3d *copy)
{
    const struct array *array = copy->to_array ? copy->to_array : copy->from_array;
    const size_t width = copy->extent.width * (array ? array->element : 1);
    const struct pitched from = end_of(copy->from_array, &copy->from_position, &copy->from);
    const struct pitched to = end_of(copy->to_array, &copy->to_position, &copy->to);
    cudaError_t error = cudaSuccess;
    if (!holds(function, copy->from_array, &copy->from_position, &copy->extent) ||
        !holds(function, copy->to_array, &copy->to_position, &copy->extent))
        return give(cudaErrorInvalidValue);
    for (size_t z = 0; z < copy->extent.depth; z++)
        for (size_t y = 0; y < copy->extent.height && !error; y++)
            error =
                copy_of_kind(function, to.pointer + (z * to.height + y) * to.pitch,
                             from.pointer + (z * from.height + y) * from.pitch, width, copy->kind);
    return error;
}

cudaError_t cudaMemcpy3D(const struct copy_3d *copy)
{
    const struct operation operation = {
        .kind = NODE_COPY, .function = "cudaMemcpy3D", .u.copy = *copy};
    return operation_do_now(&operation);
}

cudaError_t cudaMemcpy3DAsync(const struct copy_3d *copy, cudaStream_t stream)
{
    const struct operation operation = {
        .kind = NODE_COPY, .function = "cudaMemcpy3DAsync", .u.copy = *copy};
    return operation_issue(stream, &operation);
}
