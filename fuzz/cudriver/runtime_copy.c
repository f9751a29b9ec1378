/*
 * The runtime's copies beside the ordinary ones: between arrays, of peers, many at a time.
 */
#include "fuzz/cudart/operation.h"
#include "fuzz/cudriver/driver.h"

struct peer_copy { /* cudaMemcpy3DPeerParms */
    struct array *from_array;
    struct position from_position;
    struct pitched from;
    int from_device;
    struct array *to_array;
    struct position to_position;
    struct pitched to;
    int to_device;
    struct extent extent;
};

EXPORT cudaError_t cudaMemcpy3DPeer(const struct peer_copy *copy);
EXPORT cudaError_t cudaMemcpy3DPeerAsync(const struct peer_copy *copy, cudaStream_t stream);
EXPORT cudaError_t cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y,
                                            struct array *from, size_t from_x, size_t from_y,
                                            size_t width, size_t height, int kind);
EXPORT cudaError_t cudaMemcpyArrayToArray(struct array *to, size_t to_x, size_t to_y,
                                          struct array *from, size_t from_x, size_t from_y,
                                          size_t bytes, int kind);
EXPORT cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                        const size_t *bytes, size_t count, const void *attributes,
                                        const size_t *starts, size_t attribute_count,
                                        cudaStream_t stream);

/* There is one device, so both are it. */
static cudaError_t of_peers(const char *function, const struct peer_copy *copy, struct operation *o)
{
    if (!copy)
        return cudaErrorInvalidValue;
    *o = (struct operation){.kind = NODE_COPY, .function = function};
    o->u.copy = (struct copy_3d){copy->from_array, copy->from_position, copy->from,
                                 copy->to_array,   copy->to_position,   copy->to,
                                 copy->extent,     ANY_DIRECTION};
    return copy->from_device || copy->to_device ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t cudaMemcpy3DPeer(const struct peer_copy *copy)
{
    struct operation o;
    const cudaError_t error = of_peers("cudaMemcpy3DPeer", copy, &o);
    return error ? give(error) : operation_do_now(&o);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct peer_copy *copy, cudaStream_t stream)
{
    struct operation o;
    const cudaError_t error = of_peers("cudaMemcpy3DPeerAsync", copy, &o);
    return error ? give(error) : operation_issue(stream, &o);
}

/* Offsets and width are counted in bytes. */
cudaError_t cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y, struct array *from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     int kind)
{
    if (!to || !from || to->element != from->element || to_x % to->element != 0 ||
        from_x % to->element != 0 || width % to->element != 0)
        return give(cudaErrorInvalidValue);
    const struct operation o = {.kind = NODE_COPY,
                                .function = "cudaMemcpy2DArrayToArray",
                                .u.copy = {.from_array = from,
                                           .from_position = {from_x / from->element, from_y, 0},
                                           .to_array = to,
                                           .to_position = {to_x / to->element, to_y, 0},
                                           .extent = {width / to->element, height, 1},
                                           .kind = kind}};
    return operation_do_now(&o);
}

/* Rows one behind the other: here of the part that lies in one row of both. */
cudaError_t cudaMemcpyArrayToArray(struct array *to, size_t to_x, size_t to_y, struct array *from,
                                   size_t from_x, size_t from_y, size_t bytes, int kind)
{
    cudaError_t error = to && from ? cudaSuccess : give(cudaErrorInvalidValue);
    while (bytes > 0 && !error) {
        const size_t to_row = to->extent.width * to->element;
        const size_t from_row = from->extent.width * from->element;
        size_t part = bytes;
        if (to_x >= to_row || from_x >= from_row)
            return give(cudaErrorInvalidValue);
        part = part < to_row - to_x ? part : to_row - to_x;
        part = part < from_row - from_x ? part : from_row - from_x;
        error = cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, part, 1, kind);
        to_y += (to_x + part) / to_row;
        to_x = (to_x + part) % to_row;
        from_y += (from_x + part) / from_row;
        from_x = (from_x + part) % from_row;
        bytes -= part;
    }
    return error;
}

/* Attributes say when sources may be read: here at once, in the order of the stream. */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, const void *attributes, const size_t *starts,
                                 size_t attribute_count, cudaStream_t stream)
{
    if (!to || !from || !bytes || count == 0 || !attributes || !starts || attribute_count == 0)
        return give(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) {
        const struct operation o =
            copy_operation("cudaMemcpyBatchAsync", to[i], from[i], bytes[i], ANY_DIRECTION);
        error = operation_issue(stream, &o);
    }
    return error;
}
