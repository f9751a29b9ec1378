/*
 * The CUDA driver's copies of rows and boxes, which say of each end what kind of memory it is; and virtual memory.
 */
#include "fuzz/cudart/graph.h"
#include "fuzz/cudriver/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

struct end_2d {
    size_t x, y;
    int kind;
    void *host;
    CUdeviceptr device;
    struct array *array;
    size_t pitch;
};

struct copied_2d { /* CUDA_MEMCPY2D */
    struct end_2d from, to;
    size_t width, height;
};

struct end_3d {
    size_t x, y, z, level;
    int kind;
    void *host;
    CUdeviceptr device;
    struct array *array;
    void *reserved;
    size_t pitch, height;
};

struct copied_3d { /* CUDA_MEMCPY3D */
    struct end_3d from, to;
    size_t width, height, depth;
};

EXPORT CUresult cuMemcpy2D_v2(const struct copied_2d *copy);
EXPORT CUresult cuMemcpy2DUnaligned_v2(const struct copied_2d *copy);
EXPORT CUresult cuMemcpy2DAsync_v2(const struct copied_2d *copy, cudaStream_t stream);
EXPORT CUresult cuMemcpy3D_v2(const struct copied_3d *copy);
EXPORT CUresult cuMemcpy3DAsync_v2(const struct copied_3d *copy, cudaStream_t stream);
EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context,
                             size_t bytes);
EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, void *to_context, CUdeviceptr from,
                                  void *from_context, size_t bytes, cudaStream_t stream);
EXPORT CUresult cuGraphAddMemcpyNode(struct graph_node **node, struct graph *graph,
                                     struct graph_node *const *before, size_t count,
                                     const struct copied_3d *copy, void *context);
EXPORT CUresult cuGraphMemcpyNodeSetParams(struct graph_node *node, const struct copied_3d *copy);
EXPORT CUresult cuGraphExecMemcpyNodeSetParams(const struct graph *instance,
                                               const struct graph_node *node,
                                               const struct copied_3d *copy, void *context);

/* ---- rows and boxes ---- */

static struct pitched end_of(const struct end_3d *end, size_t width, size_t height)
{
    char *at = end->kind == MEMORY_HOST ? end->host : (char *)(uintptr_t)end->device;
    return (struct pitched){at, end->pitch ? end->pitch : width, width,
                            end->height ? end->height : height};
}

static int direction(int from, int to)
{
    if (from == MEMORY_UNIFIED || to == MEMORY_UNIFIED)
        return ANY_DIRECTION;
    return from == MEMORY_HOST ? (to == MEMORY_HOST ? HOST_TO_HOST : HOST_TO_DEVICE)
                               : (to == MEMORY_HOST ? DEVICE_TO_HOST : DEVICE_TO_DEVICE);
}

static struct array *array_of(const struct end_3d *end)
{
    return end->kind == MEMORY_ARRAY ? end->array : NULL;
}

/* Bytes become elements where an end is an array. */
static CUresult box(const char *function, const struct copied_3d *c, struct operation *o)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    struct array *from = array_of(&c->from), *to = array_of(&c->to);
    const size_t element = to ? to->element : from ? from->element : 1;
    if ((!from && c->from.kind == MEMORY_ARRAY) || (!to && c->to.kind == MEMORY_ARRAY) ||
        (from && to && from->element != to->element) || c->width % element != 0 ||
        (from && c->from.x % element != 0) || (to && c->to.x % element != 0))
        return CUDA_ERROR_INVALID_VALUE;
    *o = (struct operation){.kind = NODE_COPY, .function = function};
    o->u.copy = (struct copy_3d){
        .from_array = from,
        .from_position = {from ? c->from.x / element : c->from.x, c->from.y, c->from.z},
        .from = end_of(&c->from, c->width, c->height),
        .to_array = to,
        .to_position = {to ? c->to.x / element : c->to.x, c->to.y, c->to.z},
        .to = end_of(&c->to, c->width, c->height),
        .extent = {c->width / element, c->height, c->depth},
        .kind = direction(c->from.kind, c->to.kind)};
    return cudaSuccess;
}

static struct end_3d flat(const struct end_2d *end)
{
    return (struct end_3d){.x = end->x,
                           .y = end->y,
                           .kind = end->kind,
                           .host = end->host,
                           .device = end->device,
                           .array = end->array,
                           .pitch = end->pitch};
}

/* Of nothing a box of no known kind, which `box` refuses. */
static struct copied_3d of_rows(const struct copied_2d *c)
{
    if (!c)
        return (struct copied_3d){.from.kind = MEMORY_ARRAY};
    return (struct copied_3d){flat(&c->from), flat(&c->to), c->width, c->height, 1};
}

CUresult driver_now(const struct operation *o, CUresult error)
{
    error = error ? error : driver_ready();
    return error ? error : driver_result(operation_do_now(o));
}

CUresult driver_later(const struct operation *o, CUresult error, cudaStream_t stream)
{
    error = error ? error : driver_ready();
    return error ? error : driver_result(operation_issue(stream, o));
}

CUresult cuMemcpy3D_v2(const struct copied_3d *copy)
{
    struct operation o;
    CUresult error = box("cuMemcpy3D", copy, &o);
    return driver_now(&o, error);
}

CUresult cuMemcpy3DAsync_v2(const struct copied_3d *copy, cudaStream_t stream)
{
    struct operation o;
    CUresult error = box("cuMemcpy3DAsync", copy, &o);
    return driver_later(&o, error, stream);
}

CUresult cuMemcpy2D_v2(const struct copied_2d *copy)
{
    struct operation o;
    const struct copied_3d c = of_rows(copy);
    CUresult error = box("cuMemcpy2D", &c, &o);
    return driver_now(&o, error);
}

CUresult cuMemcpy2DUnaligned_v2(const struct copied_2d *copy)
{
    return cuMemcpy2D_v2(copy);
}

CUresult cuMemcpy2DAsync_v2(const struct copied_2d *copy, cudaStream_t stream)
{
    struct operation o;
    const struct copied_3d c = of_rows(copy);
    CUresult error = box("cuMemcpy2DAsync", &c, &o);
    return driver_later(&o, error, stream);
}

/* Bytes of an array's first row; `when`: NOW or LATER, on `stream`. */
#define ROW(name, types, ends, when)                                                               \
    EXPORT CUresult name types;                                                                    \
    CUresult name types                                                                            \
    {                                                                                              \
        struct operation o;                                                                        \
        const struct copied_3d c = {ends, bytes, 1, 1};                                            \
        const CUresult error = box(#name, &c, &o);                                                 \
        return when;                                                                               \
    }
#define ENDS(from, to) from, to
#define AT_ARRAY(a, at)                                                                            \
    {                                                                                              \
        .kind = MEMORY_ARRAY, .array = a, .x = at                                                  \
    }
#define AT_HOST(p)                                                                                 \
    {                                                                                              \
        .kind = MEMORY_HOST, .host = p                                                             \
    }
#define AT_DEVICE(p)                                                                               \
    {                                                                                              \
        .kind = MEMORY_DEVICE, .device = p                                                         \
    }
#define NOW driver_now(&o, error)
#define LATER driver_later(&o, error, stream)

ROW(cuMemcpyHtoA_v2, (struct array * to, size_t at, void *from, size_t bytes),
    ENDS(AT_HOST(from), AT_ARRAY(to, at)), NOW)
ROW(cuMemcpyHtoAAsync_v2,
    (struct array * to, size_t at, void *from, size_t bytes, cudaStream_t stream),
    ENDS(AT_HOST(from), AT_ARRAY(to, at)), LATER)
ROW(cuMemcpyAtoH_v2, (void *to, struct array *from, size_t at, size_t bytes),
    ENDS(AT_ARRAY(from, at), AT_HOST(to)), NOW)
ROW(cuMemcpyAtoHAsync_v2,
    (void *to, struct array *from, size_t at, size_t bytes, cudaStream_t stream),
    ENDS(AT_ARRAY(from, at), AT_HOST(to)), LATER)
ROW(cuMemcpyDtoA_v2, (struct array * to, size_t at, CUdeviceptr from, size_t bytes),
    ENDS(AT_DEVICE(from), AT_ARRAY(to, at)), NOW)
ROW(cuMemcpyAtoD_v2, (CUdeviceptr to, struct array *from, size_t at, size_t bytes),
    ENDS(AT_ARRAY(from, at), AT_DEVICE(to)), NOW)
ROW(cuMemcpyAtoA_v2,
    (struct array * to, size_t to_at, struct array *from, size_t from_at, size_t bytes),
    ENDS(AT_ARRAY(from, from_at), AT_ARRAY(to, to_at)), NOW)

/* All contexts are of one device. */
CUresult cuMemcpyPeer(CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context,
                      size_t bytes)
{
    (void)to_context, (void)from_context;
    const struct operation o = copy_operation("cuMemcpyPeer", (void *)(uintptr_t)to,
                                              (void *)(uintptr_t)from, bytes, DEVICE_TO_DEVICE);
    return driver_now(&o, cudaSuccess);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context,
                           size_t bytes, cudaStream_t stream)
{
    (void)to_context, (void)from_context;
    const struct operation o = copy_operation("cuMemcpyPeerAsync", (void *)(uintptr_t)to,
                                              (void *)(uintptr_t)from, bytes, DEVICE_TO_DEVICE);
    return driver_later(&o, cudaSuccess, stream);
}

/* ---- of graphs ---- */

CUresult cuGraphAddMemcpyNode(struct graph_node **node, struct graph *graph,
                              struct graph_node *const *before, size_t count,
                              const struct copied_3d *copy, void *context)
{
    struct operation o;
    (void)context;
    CUresult error = box("a graph's copy", copy, &o);
    return error ? error : node_add(node, graph, before, count, &o);
}

CUresult cuGraphMemcpyNodeSetParams(struct graph_node *node, const struct copied_3d *copy)
{
    struct operation o;
    CUresult error = box("a graph's copy", copy, &o);
    return error ? error : node_change(node, &o);
}

CUresult cuGraphExecMemcpyNodeSetParams(const struct graph *instance, const struct graph_node *node,
                                        const struct copied_3d *copy, void *context)
{
    (void)context;
    return cuGraphMemcpyNodeSetParams(graph_copy_of(instance, node), copy);
}

/* ---- virtual memory: addresses are reserved, and memory put where they lead ---- */

struct reservation {
    uint64_t address, bytes;
    struct reservation *next;
};

struct physical {
    uint64_t bytes;
    bool was_mapped;
};

enum { GRANULARITY = 2 << 20 };

static struct reservation *reservations;

EXPORT CUresult cuMemGetAllocationGranularity(size_t *bytes, const void *properties, int option);
EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t align,
                                    CUdeviceptr wished, uint64_t flags);
EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
EXPORT CUresult cuMemCreate(struct physical **handle, size_t bytes, const void *properties,
                            uint64_t flags);
EXPORT CUresult cuMemRelease(struct physical *handle);
EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, struct physical *handle,
                         uint64_t flags);
EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const void *access, size_t count);
EXPORT CUresult cuMemGetAccess(uint64_t *flags, const void *location, CUdeviceptr address);

CUresult cuMemGetAllocationGranularity(size_t *bytes, const void *properties, int option)
{
    (void)properties, (void)option;
    *bytes = GRANULARITY;
    return driver_ready();
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t align, CUdeviceptr wished,
                             uint64_t flags)
{
    (void)align, (void)wished, (void)flags;
    CUresult error = driver_ready();
    if (error || !address || bytes == 0 || bytes % GRANULARITY != 0)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    struct reservation *r = calloc(1, sizeof *r);
    if (!r || !device_enter()) {
        free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *r = (struct reservation){address_reserve(bytes), bytes, reservations};
    const bool found = r->address != 0;
    *address = r->address;
    if (found)
        reservations = r;
    device_leave();
    if (!found)
        free(r);
    return found ? cudaSuccess : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    bool found = false;
    if (!device_enter())
        return CUDA_ERROR_NOT_INITIALIZED;
    for (struct reservation **r = &reservations; *r && !found; r = found ? r : &(*r)->next)
        if ((*r)->address == address && (*r)->bytes == bytes) {
            struct reservation *gone = *r;
            *r = gone->next;
            address_give_back(address, bytes);
            free(gone);
            found = true;
        }
    device_leave();
    return found ? driver_ready() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemCreate(struct physical **handle, size_t bytes, const void *properties, uint64_t flags)
{
    (void)properties, (void)flags;
    CUresult error = driver_ready();
    if (error || !handle || bytes == 0 || bytes % GRANULARITY != 0)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    if (*handle)
        (*handle)->bytes = bytes;
    return *handle ? cudaSuccess : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemRelease(struct physical *handle)
{
    free(handle);
    return driver_ready();
}

static bool is_reserved(uint64_t address, uint64_t bytes)
{
    for (const struct reservation *r = reservations; r; r = r->next)
        if (address >= r->address && bytes <= r->bytes && address - r->address <= r->bytes - bytes)
            return true;
    return false;
}

/* One place for each memory: elsewhere, or mapped again, it would be another buffer. */
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, struct physical *handle,
                  uint64_t flags)
{
    CUresult error = driver_ready();
    (void)flags;
    if (error || !handle || offset != 0 || bytes == 0 || bytes > handle->bytes)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    if (!device_enter())
        return CUDA_ERROR_NOT_INITIALIZED;
    const struct allocation *a = NULL;
    const bool again = handle->was_mapped;
    if (again)
        device_say(DEVICE_NOTE, "cuMemMap: memory that was mapped before is not mapped again: it "
                                "answers CUDA_ERROR_NOT_SUPPORTED");
    else if (is_reserved(address, bytes) && !pages_have_memory(address, bytes))
        a = allocation_at_address(address, bytes);
    if (a)
        tell_allocation(a);
    handle->was_mapped |= a != NULL;
    device_leave();
    return a ? cudaSuccess : again ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    CUresult error = driver_ready();
    for (uint64_t at = address; at < address + bytes && !error;) {
        const struct allocation *a = NULL;
        uint64_t length = 0;
        if (device_enter()) {
            a = allocation_of((void *)(uintptr_t)at);
            length = a ? a->bytes : 0;
            device_leave();
        }
        error = a ? driver_result(release("cuMemUnmap", (void *)(uintptr_t)at))
                  : CUDA_ERROR_INVALID_VALUE;
        at += length;
    }
    return error;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const void *access, size_t count)
{
    (void)bytes, (void)access, (void)count;
    return address ? driver_ready() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAccess(uint64_t *flags, const void *location, CUdeviceptr address)
{
    enum { READ_WRITE = 3 };
    (void)location, (void)address;
    *flags = READ_WRITE;
    return driver_ready();
}
