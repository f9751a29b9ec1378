/*
 * Texture and surface objects of both interfaces, and the driver's arrays. A handle is told to the device as the
 * settings of a PTX kernel write it (docs/ptx.md): "0x100000000000:f32:64x32:wrap:linear".
 */
#include "fuzz/cudart/operation.h"
#include "fuzz/cudriver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 160, RESOURCE_BYTES = 144, TEXTURE_BYTES = 104 };
enum { cudaErrorInvalidFilterSetting = 26 };
enum resource_type { OF_ARRAY = 0, OF_LINEAR = 2, OF_ROWS = 3 }; /* cudaResourceType */

struct resource { /* cudaResourceDesc */
    int type;     /* enum resource_type */
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

struct texture { /* cudaTextureDesc */
    int addressing[3], filter, read_mode, srgb;
    float border[4];
    int normalized;
    int not_looked_at[7]; /* anisotropy, levels, edges of cube maps */
};

EXPORT cudaError_t cudaCreateTextureObject(uint64_t *handle, const struct resource *resource,
                                           const struct texture *texture, const void *view);
EXPORT cudaError_t cudaDestroyTextureObject(uint64_t handle);
EXPORT cudaError_t cudaGetTextureObjectResourceDesc(void *resource, uint64_t handle);
EXPORT cudaError_t cudaGetTextureObjectTextureDesc(void *texture, uint64_t handle);
EXPORT cudaError_t cudaCreateSurfaceObject(uint64_t *handle, const struct resource *resource);
EXPORT cudaError_t cudaDestroySurfaceObject(uint64_t handle);
EXPORT cudaError_t cudaGetSurfaceObjectResourceDesc(void *resource, uint64_t handle);

/* ---- handles ---- */

/* What was asked for, as it was, for those who ask again. */
struct object {
    uint64_t handle;
    char resource[RESOURCE_BYTES], texture[TEXTURE_BYTES];
    struct object *next;
};

static struct object *objects; /* between device_enter and _leave */

/* texture: NULL, it is a surface. */
static cudaError_t tell(uint64_t *handle, const char *text, const struct resource *resource,
                        const struct texture *texture)
{
    static uint64_t last;
    struct object *object = calloc(1, sizeof *object);
    if (!object || !device_enter()) {
        free(object);
        return give(cudaErrorInitializationError);
    }
    *handle = object->handle = ++last;
    memcpy(object->resource, resource, sizeof *resource);
    if (texture)
        memcpy(object->texture, texture, sizeof *texture);
    object->next = objects;
    objects = object;
    device_tell(DEVICE_TEXTURE, handle, sizeof *handle, text, strlen(text));
    device_leave();
    return give(cudaSuccess);
}

static struct object **place_of(uint64_t handle)
{
    struct object **at = &objects;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static cudaError_t forget(uint64_t handle)
{
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct object **at = place_of(handle), *gone = *at;
    device_tell(DEVICE_TEXTURE, &handle, sizeof handle, NULL, 0);
    if (gone)
        *at = gone->next;
    free(gone);
    device_leave();
    return give(cudaSuccess);
}

static cudaError_t ask(uint64_t handle, void *resource, void *texture, size_t texture_bytes)
{
    if (!device_enter())
        return give(cudaErrorInitializationError);
    const struct object *object = *place_of(handle);
    if (object && resource)
        memcpy(resource, object->resource, RESOURCE_BYTES);
    if (object && texture)
        memcpy(texture, object->texture, texture_bytes);
    device_leave();
    return give(object ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGetTextureObjectResourceDesc(void *resource, uint64_t handle)
{
    return ask(handle, resource, NULL, 0);
}

cudaError_t cudaGetTextureObjectTextureDesc(void *texture, uint64_t handle)
{
    return ask(handle, NULL, texture, sizeof(struct texture));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(void *resource, uint64_t handle)
{
    return ask(handle, resource, NULL, 0);
}

/* ---- objects ---- */

static const struct channels *channels_of(const struct resource *r)
{
    return r->type == OF_ARRAY    ? &r->u.array->channels
           : r->type == OF_LINEAR ? &r->u.linear.channels
                                  : &r->u.pitched.channels;
}

/* "0x..:f32x4:64x32". False: there is no such format, or no memory. */
static bool describe(const struct resource *r, char text[WORDS])
{
    static const char kinds[] = "suf";
    const struct array *a = r->type == OF_ARRAY ? r->u.array : NULL;
    const struct channels *c = channels_of(r);
    const char *data = a ? a->data : r->type == OF_LINEAR ? r->u.linear.data : r->u.pitched.data;
    const unsigned count = (unsigned)channel_count(c);
    char size[WORDS / 2], channels[16] = "";
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
    else if (r->type == OF_LINEAR)
        snprintf(size, sizeof size, "%zu:memory", r->u.linear.bytes / (count * (size_t)c->x / 8));
    else
        snprintf(size, sizeof size, "%zux%zu:pitch=%zu", r->u.pitched.width, r->u.pitched.height,
                 r->u.pitched.pitch);
    if (count > 1)
        snprintf(channels, sizeof channels, "x%u", count);
    snprintf(text, WORDS, "0x%llx:%c%d%s:%s%s", (unsigned long long)(uintptr_t)data, kinds[c->kind],
             c->x, channels, size, a && (a->flags & LAYERED) ? ":layers" : "");
    return true;
}

static bool is_resource(const struct resource *r)
{
    return r && (r->type == OF_LINEAR || r->type == OF_ROWS || (r->type == OF_ARRAY && r->u.array));
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
    const bool is_memory = resource->type == OF_LINEAR;
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
    return tell(handle, text, resource, t);
}

cudaError_t cudaCreateSurfaceObject(uint64_t *handle, const struct resource *resource)
{
    char text[WORDS];
    if (!handle || !is_resource(resource) || resource->type != OF_ARRAY ||
        !describe(resource, text))
        return give(cudaErrorInvalidValue);
    return tell(handle, text, resource, NULL);
}

cudaError_t cudaDestroyTextureObject(uint64_t handle)
{
    return forget(handle);
}

cudaError_t cudaDestroySurfaceObject(uint64_t handle)
{
    return forget(handle);
}

/* ---- the driver's: the same, said in other structures ---- */

struct described { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
};

struct described_3d { /* CUDA_ARRAY3D_DESCRIPTOR */
    struct extent extent;
    int format;
    unsigned channels, flags;
};

struct driver_resource { /* CUDA_RESOURCE_DESC */
    int type;            /* as in struct resource */
    union {
        struct array *array;
        struct {
            CUdeviceptr data;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr data;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    } u;
    unsigned flags;
};

struct driver_texture { /* CUDA_TEXTURE_DESC */
    int addressing[3], filter;
    unsigned flags, anisotropy;
    int level_filter;
    float bias, least, most, border[4];
    int reserved[12];
};

EXPORT CUresult cuArray3DCreate_v2(struct array **array, const struct described_3d *described);
EXPORT CUresult cuArray3DGetDescriptor_v2(struct described_3d *described,
                                          const struct array *array);
EXPORT CUresult cuArrayCreate_v2(struct array **array, const struct described *described);
EXPORT CUresult cuArrayGetDescriptor_v2(struct described *described, const struct array *array);
EXPORT CUresult cuTexObjectCreate(uint64_t *handle, const struct driver_resource *resource,
                                  const struct driver_texture *texture, const void *view);
EXPORT CUresult cuTexObjectGetResourceDesc(struct driver_resource *resource, uint64_t handle);
EXPORT CUresult cuTexObjectGetTextureDesc(struct driver_texture *texture, uint64_t handle);
EXPORT CUresult cuSurfObjectCreate(uint64_t *handle, const struct driver_resource *resource);
EXPORT CUresult cuSurfObjectGetResourceDesc(struct driver_resource *resource, uint64_t handle);

static const struct { /* CUarray_format */
    int format, bits, kind;
} formats[] = {{0x01, 8, 1},  {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0},
               {0x09, 16, 0}, {0x0a, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2}};

enum { FORMATS = sizeof formats / sizeof formats[0] };

/* All zero: there is no such format. */
static struct channels channels_from(int format, unsigned count)
{
    for (int i = 0; i < FORMATS; i++) {
        const int bits = formats[i].bits;
        if (formats[i].format == format)
            return (struct channels){count > 0 ? bits : 0, count > 1 ? bits : 0,
                                     count > 2 ? bits : 0, count > 3 ? bits : 0, formats[i].kind};
    }
    return (struct channels){0};
}

static int format_of(const struct channels *c)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].bits == c->x && formats[i].kind == c->kind)
            return formats[i].format;
    return 0;
}

static CUresult made(cudaError_t error)
{
    return error == cudaErrorInvalidChannelDescriptor || error == cudaErrorInvalidFilterSetting
               ? CUDA_ERROR_INVALID_VALUE
               : driver_result(error);
}

CUresult cuArray3DCreate_v2(struct array **array, const struct described_3d *d)
{
    const CUresult error = driver_ready();
    if (error || !array || !d)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    const struct channels channels = channels_from(d->format, d->channels);
    return made(cudaMalloc3DArray(array, &channels, d->extent, d->flags));
}

CUresult cuArrayCreate_v2(struct array **array, const struct described *d)
{
    if (!d)
        return CUDA_ERROR_INVALID_VALUE;
    const struct described_3d deep = {{d->width, d->height, 0}, d->format, d->channels, 0};
    return cuArray3DCreate_v2(array, &deep);
}

CUresult cuArray3DGetDescriptor_v2(struct described_3d *d, const struct array *array)
{
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    *d = (struct described_3d){array->extent, format_of(&array->channels),
                               (unsigned)channel_count(&array->channels), array->flags};
    return driver_ready();
}

CUresult cuArrayGetDescriptor_v2(struct described *d, const struct array *array)
{
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    *d = (struct described){array->extent.width, array->extent.height, format_of(&array->channels),
                            (unsigned)channel_count(&array->channels)};
    return driver_ready();
}

static struct resource resource_from(const struct driver_resource *d)
{
    struct resource r = {.type = d->type};
    if (d->type == OF_ARRAY)
        r.u.array = d->u.array;
    if (d->type == OF_LINEAR) {
        r.u.linear.data = (char *)(uintptr_t)d->u.linear.data;
        r.u.linear.channels = channels_from(d->u.linear.format, d->u.linear.channels);
        r.u.linear.bytes = d->u.linear.bytes;
    }
    if (d->type == OF_ROWS) {
        r.u.pitched.data = (char *)(uintptr_t)d->u.pitched.data;
        r.u.pitched.channels = channels_from(d->u.pitched.format, d->u.pitched.channels);
        r.u.pitched.width = d->u.pitched.width;
        r.u.pitched.height = d->u.pitched.height;
        r.u.pitched.pitch = d->u.pitched.pitch;
    }
    return r;
}

/* The descriptions of the object that was made last are the driver's. */
static void describe_again(uint64_t handle, const void *resource, const void *texture)
{
    if (!device_enter())
        return;
    struct object *object = *place_of(handle);
    memcpy(object->resource, resource, RESOURCE_BYTES);
    if (texture)
        memcpy(object->texture, texture, TEXTURE_BYTES);
    device_leave();
}

CUresult cuTexObjectCreate(uint64_t *handle, const struct driver_resource *resource,
                           const struct driver_texture *d, const void *view)
{
    enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10 };
    const CUresult error = driver_ready();
    if (error || !handle || !resource || !d)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    const struct resource r = resource_from(resource);
    struct texture t = {.filter = d->filter,
                        .srgb = (d->flags & SRGB) != 0,
                        .normalized = (d->flags & NORMALIZED) != 0};
    memcpy(t.addressing, d->addressing, sizeof t.addressing);
    memcpy(t.border, d->border, sizeof t.border);
    /* Whole numbers of 8 and 16 bits are read as parts of one, if nothing else is said. */
    if (is_resource(&r))
        t.read_mode = !(d->flags & AS_INTEGER) && channels_of(&r)->x != 32;
    const CUresult result = made(cudaCreateTextureObject(handle, &r, &t, view));
    if (!result)
        describe_again(*handle, resource, d);
    return result;
}

CUresult cuSurfObjectCreate(uint64_t *handle, const struct driver_resource *resource)
{
    const CUresult error = driver_ready();
    if (error || !handle || !resource)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    const struct resource r = resource_from(resource);
    const CUresult result = made(cudaCreateSurfaceObject(handle, &r));
    if (!result)
        describe_again(*handle, resource, NULL);
    return result;
}

CUresult cuTexObjectGetResourceDesc(struct driver_resource *resource, uint64_t handle)
{
    return driver_result(ask(handle, resource, NULL, 0));
}

CUresult cuTexObjectGetTextureDesc(struct driver_texture *texture, uint64_t handle)
{
    return driver_result(ask(handle, NULL, texture, TEXTURE_BYTES));
}

CUresult cuSurfObjectGetResourceDesc(struct driver_resource *resource, uint64_t handle)
{
    return driver_result(ask(handle, resource, NULL, 0));
}
