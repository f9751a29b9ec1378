/*
 * Arrays, textures and surfaces. An array lies row after row in device memory; a handle is told to the device as the
 * settings of a PTX kernel write it (docs/ptx.md): "0x100000000000:f32:64x32:wrap:linear".
 */
#include "fuzz/cudart/operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 32 /* bytes that an array's pitch is a multiple of */, WORDS = 160 };
enum { cudaErrorInvalidChannelDescriptor = 20, cudaErrorInvalidFilterSetting = 26 };

struct channels { /* cudaChannelFormatDesc */
    int x, y, z, w;
    int kind; /* 0: signed, 1: unsigned, 2: float */
};

struct array { /* cudaArray */
    char *data;
    struct channels channels;
    struct extent extent;
    unsigned flags; /* 1: the last extent is layers */
    size_t element, pitch;
};

enum { LAYERED = 1, CUBE = 4 };

struct resource { /* cudaResourceDesc */
    int type;     /* 0: an array, 2: linear memory, 3: rows of a pitch */
    union {
        struct array *array;
        struct {
            char *data;
            struct channels channels;
            size_t bytes;
        } linear;
        struct {
            char *data;
            struct channels channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    } u;
};

struct texture { /* cudaTextureDesc, as far as it is looked at */
    int addressing[3], filter, read_mode, srgb;
    float border[4];
    int normalized;
};

EXPORT struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
EXPORT cudaError_t cudaMallocArray(struct array **array, const struct channels *channels,
                                   size_t width, size_t height, unsigned flags);
EXPORT cudaError_t cudaMalloc3DArray(struct array **array, const struct channels *channels,
                                     struct extent extent, unsigned flags);
EXPORT cudaError_t cudaFreeArray(struct array *array);
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
EXPORT cudaError_t cudaCreateTextureObject(uint64_t *handle, const struct resource *resource,
                                           const struct texture *texture, const void *view);
EXPORT cudaError_t cudaDestroyTextureObject(uint64_t handle);
EXPORT cudaError_t cudaCreateSurfaceObject(uint64_t *handle, const struct resource *resource);
EXPORT cudaError_t cudaDestroySurfaceObject(uint64_t handle);

/* ---- arrays ---- */

struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct channels){x, y, z, w, kind};
}

static size_t channel_count(const struct channels *c)
{
    return c->w ? 4 : c->z ? 3 : c->y ? 2 : 1;
}

static bool is_format(const struct channels *c)
{
    const int sizes[] = {c->x, c->y, c->z, c->w};
    const size_t count = channel_count(c);
    bool good = c->kind >= 0 && c->kind <= 2 && count != 3 &&
                (c->x == 32 || c->x == 16 || (c->x == 8 && c->kind != 2));
    for (size_t i = 0; i < 4; i++)
        good &= sizes[i] == (i < count ? c->x : 0);
    return good;
}

static cudaError_t not_supported(const char *what)
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
    const struct array_copy c = {"cudaMemcpy2DToArray", to, from, NULL, kind};
    return copy_bytes(&c, x, y, bytes);
}

cudaError_t cudaMemcpyFromArray(void *to, const struct array *from, size_t x, size_t y,
                                size_t bytes, int kind)
{
    const struct array_copy c = {"cudaMemcpy2DFromArray", from, NULL, to, kind};
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

/* ---- handles ---- */

static const struct channels *channels_of(const struct resource *r)
{
    return r->type == 0   ? &r->u.array->channels
           : r->type == 2 ? &r->u.linear.channels
                          : &r->u.pitched.channels;
}

/* "0x..:f32x4:64x32". False: there is no such format, or no memory. */
static bool describe(const struct resource *r, char text[WORDS])
{
    static const char kinds[] = "suf";
    const struct array *a = r->type == 0 ? r->u.array : NULL;
    const struct channels *c = channels_of(r);
    const char *data = a ? a->data : r->type == 2 ? r->u.linear.data : r->u.pitched.data;
    const size_t count = channel_count(c);
    char size[WORDS / 2], channels[4] = "";
    if (!data || !is_format(c))
        return false;
    if (a && a->extent.depth > 0 && a->extent.height > 0)
        snprintf(size, sizeof size, "%zux%zux%zu:pitch=%zu", a->extent.width, a->extent.height,
                 a->extent.depth, a->pitch);
    else if (a && a->extent.depth + a->extent.height > 0)
        snprintf(size, sizeof size, "%zux%zu:pitch=%zu", a->extent.width,
                 a->extent.height + a->extent.depth, a->pitch);
    else if (a)
        snprintf(size, sizeof size, "%zu", a->extent.width);
    else if (r->type == 2)
        snprintf(size, sizeof size, "%zu:memory", r->u.linear.bytes / (count * (size_t)c->x / 8));
    else
        snprintf(size, sizeof size, "%zux%zu:pitch=%zu", r->u.pitched.width, r->u.pitched.height,
                 r->u.pitched.pitch);
    if (count > 1)
        snprintf(channels, sizeof channels, "x%zu", count);
    snprintf(text, WORDS, "0x%llx:%c%d%s:%s%s", (unsigned long long)(uintptr_t)data, kinds[c->kind],
             c->x, channels, size, a && (a->flags & LAYERED) ? ":layers" : "");
    return true;
}

static cudaError_t tell(uint64_t *handle, const char *text)
{
    static uint64_t last;
    if (!device_enter())
        return give(cudaErrorInitializationError);
    *handle = ++last;
    device_tell(DEVICE_TEXTURE, handle, sizeof *handle, text, strlen(text));
    device_leave();
    return give(cudaSuccess);
}

static cudaError_t forget(uint64_t handle)
{
    if (!device_enter())
        return give(cudaErrorInitializationError);
    device_tell(DEVICE_TEXTURE, &handle, sizeof handle, NULL, 0);
    device_leave();
    return give(cudaSuccess);
}

static bool is_resource(const struct resource *r)
{
    return r && (r->type == 2 || r->type == 3 || (r->type == 0 && r->u.array));
}

cudaError_t cudaCreateTextureObject(uint64_t *handle, const struct resource *resource,
                                    const struct texture *t, const void *view)
{
    static const char *const modes[] = {":wrap", ":clamp", ":mirror", ":border"};
    char text[2 * WORDS], words[WORDS] = "";
    if (!handle || !t || !is_resource(resource))
        return give(cudaErrorInvalidValue);
    if (view)
        return not_supported("a texture that looks at an array in another format");
    if (t->srgb || t->border[0] != 0 || t->border[1] != 0 || t->border[2] != 0 || t->border[3] != 0)
        return not_supported(t->srgb ? "a texture of sRGB" : "a border of another colour than 0");
    if (!describe(resource, text))
        return give(cudaErrorInvalidChannelDescriptor);
    const bool is_memory = resource->type == 2;
    const struct channels *c = channels_of(resource);
    const bool unit = t->read_mode == 1 && c->kind != 2;
    if ((unit && c->x == 32) || (t->filter == 1 && !is_memory && !unit && c->kind != 2))
        return give(cudaErrorInvalidFilterSetting);
    if (!is_memory)
        snprintf(words, sizeof words, "%s%s%s%s%s", modes[t->addressing[0] & 3],
                 modes[t->addressing[1] & 3], modes[t->addressing[2] & 3],
                 t->filter == 1 ? ":linear" : "", t->normalized ? ":normalized" : "");
    strncat(text, words, sizeof text - strlen(text) - 1);
    strncat(text, unit ? ":unit" : "", sizeof text - strlen(text) - 1);
    return tell(handle, text);
}

cudaError_t cudaCreateSurfaceObject(uint64_t *handle, const struct resource *resource)
{
    char text[WORDS];
    if (!handle || !is_resource(resource) || resource->type != 0 || !describe(resource, text))
        return give(cudaErrorInvalidValue);
    return tell(handle, text);
}

cudaError_t cudaDestroyTextureObject(uint64_t handle)
{
    return forget(handle);
}

cudaError_t cudaDestroySurfaceObject(uint64_t handle)
{
    return forget(handle);
}
