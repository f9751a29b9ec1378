/*
 * Streams, events, and the capture of streams into graphs. All work is done when it is asked for, or when its graph is
 * launched, so there is nothing to wait for.
 */
#include "fuzz/cudart/graph.h"
#include "fuzz/cudart/order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    cudaErrorIllegalState = 401,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureMerge = 902,
    cudaErrorStreamCaptureUnmatched = 903,
    cudaErrorStreamCaptureUnjoined = 904,
    cudaErrorStreamCaptureIsolation = 905,
    cudaErrorCapturedEvent = 907,
    cudaErrorStreamCaptureWrongThread = 908
};

enum capture_mode { MODE_GLOBAL, MODE_THREAD, MODE_RELAXED };

struct capture {
    struct graph *graph;
    uint64_t number;
    enum capture_mode mode;
    pthread_t thread;
    bool is_own;    /* the graph was made for it */
    bool is_broken; /* something was asked for that cannot be captured */
    struct capture *next;
};

struct stream {
    cudaStream_t handle;
    unsigned flags;
    int priority;
    bool is_origin;     /* the capture began here */
    uint64_t capture;   /* the number; 0: none */
    struct nodes tails; /* what the next node waits for */
    struct stream *next;
};

struct event {
    struct timespec time;
    unsigned flags;
    bool has_happened;
    uint64_t capture; /* it was recorded in one that has not ended, behind these nodes */
    struct nodes tails;
};

enum { EVENT_NO_TIME = 2, EVENT_EXTERNAL = 1, DEFAULT_STREAMS = 16, LEAST = 0, GREATEST = -5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static struct stream *streams;
static struct capture *captures;
static uint64_t capture_count;
static __thread enum capture_mode thread_mode;

/* ---- streams ---- */

/* The default ones come into being when they are asked for. NULL: no memory, or no such stream. */
static struct stream *find_stream(cudaStream_t handle)
{
    struct stream *s = streams;
    while (s && s->handle != handle)
        s = s->next;
    if (!s && (uintptr_t)handle < DEFAULT_STREAMS && (s = calloc(1, sizeof *s))) {
        *s = (struct stream){.handle = handle, .next = streams};
        streams = s;
    }
    return s;
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream);

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    static uintptr_t count = DEFAULT_STREAMS;
    struct stream *s = calloc(1, sizeof *s);
    if (!s || !stream || flags > 1) {
        free(s);
        return give(s ? cudaErrorInvalidValue : cudaErrorMemoryAllocation);
    }
    pthread_mutex_lock(&lock);
    *s = (struct stream){.handle = (cudaStream_t)++count,
                         .flags = flags,
                         .priority = priority > LEAST      ? LEAST
                                     : priority < GREATEST ? GREATEST
                                                           : priority,
                         .next = streams};
    streams = s;
    pthread_mutex_unlock(&lock);
    *stream = s->handle;
    order_start();
    return give(lasting_error());
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, 0, LEAST);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, LEAST);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = LEAST;
    if (greatest)
        *greatest = GREATEST;
    return give(cudaSuccess);
}

/* What is known of a stream; an answer of NULL: it was destroyed, or never created. */
static bool look_at_stream(cudaStream_t handle, struct stream *stream)
{
    pthread_mutex_lock(&lock);
    const struct stream *s = find_stream(handle);
    if (s)
        *stream = *s;
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    struct stream s;
    if (!look_at_stream(stream, &s))
        return give(cudaErrorInvalidResourceHandle);
    *flags = s.flags;
    return give(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    struct stream s;
    if (!look_at_stream(stream, &s))
        return give(cudaErrorInvalidResourceHandle);
    *priority = s.priority;
    return give(cudaSuccess);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *number)
{
    struct stream s;
    *number = (uintptr_t)stream;
    return give(look_at_stream(stream, &s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    struct stream s;
    *device = 0;
    return give(look_at_stream(stream, &s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* ---- captures ---- */

static struct capture *find_capture(uint64_t number)
{
    struct capture *c = number ? captures : NULL;
    while (c && c->number != number)
        c = c->next;
    return c;
}

static struct capture *capture_of(const struct stream *stream)
{
    return stream ? find_capture(stream->capture) : NULL;
}

static bool copy_nodes(struct nodes *to, const struct nodes *from)
{
    bool good = true;
    for (size_t i = 0; i < from->count; i++)
        good &= nodes_have(to, from->at[i]) || nodes_add(to, from->at[i]);
    return good;
}

static void forget_nodes(struct nodes *nodes)
{
    free(nodes->at);
    *nodes = (struct nodes){.count = 0};
}

/* The operation becomes the stream's next node. */
static cudaError_t add_node(struct capture *c, struct stream *s, const struct operation *operation)
{
    if (c->is_broken)
        return cudaErrorStreamCaptureInvalidated;
    struct graph_node *node = graph_add(c->graph, operation, s->tails.at, s->tails.count);
    if (!node) {
        c->is_broken = true;
        return cudaErrorInvalidValue;
    }
    forget_nodes(&s->tails);
    return nodes_add(&s->tails, node) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t operation_issue(cudaStream_t stream, const struct operation *operation)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    struct stream *s = find_stream(stream);
    struct capture *c = capture_of(s);
    if (c)
        error = add_node(c, s, operation);
    pthread_mutex_unlock(&lock);
    if (!s)
        return give(cudaErrorInvalidResourceHandle);
    return c ? give(error) : operation_do_on(stream, operation);
}

enum { STREAM_NON_BLOCKING = 1 };

static bool is_legacy(cudaStream_t stream)
{
    return lane_of_stream(stream) == LANE_LEGACY;
}

void stream_begins(cudaStream_t stream)
{
    const uint64_t lane = lane_of_stream(stream);
    order_join(lane, LANE_HOST);
    pthread_mutex_lock(&lock);
    const struct stream *own = find_stream(stream);
    if (!is_legacy(stream) && own && !(own->flags & STREAM_NON_BLOCKING))
        order_join(lane, LANE_LEGACY);
    for (const struct stream *s = streams; s && is_legacy(stream); s = s->next)
        if (!(s->flags & STREAM_NON_BLOCKING) && !is_legacy(s->handle))
            order_join(lane, lane_of_stream(s->handle));
    pthread_mutex_unlock(&lock);
}

bool stream_is_captured(cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    bool is = capture_of(find_stream(stream)) != NULL;
    pthread_mutex_unlock(&lock);
    return is;
}

/* Calls that may wait for the device. */
cudaError_t capture_forbids(void)
{
    bool forbids = false;
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c && thread_mode != MODE_RELAXED; c = c->next)
        if (c->mode == MODE_GLOBAL ||
            (c->mode == MODE_THREAD && pthread_equal(c->thread, pthread_self())))
            forbids = c->is_broken = true;
    pthread_mutex_unlock(&lock);
    return forbids ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

/* all: for every stream. */
static cudaError_t wait_for(cudaStream_t stream, bool all)
{
    if (all)
        order_join_all(LANE_HOST);
    else
        order_join(LANE_HOST, lane_of_stream(stream));
    bool forbids = false, is_stream = true;
    pthread_mutex_lock(&lock);
    if (all) {
        for (struct capture *c = captures; c; c = c->next)
            forbids = c->is_broken = true;
    } else {
        const struct stream *s = find_stream(stream);
        struct capture *c = capture_of(s);
        is_stream = s != NULL;
        if (c)
            forbids = c->is_broken = true;
    }
    pthread_mutex_unlock(&lock);
    return give(forbids      ? cudaErrorStreamCaptureUnsupported
                : !is_stream ? cudaErrorInvalidResourceHandle
                             : lasting_error());
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return wait_for(stream, false);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return wait_for(stream, false);
}

cudaError_t cudaDeviceSynchronize(void)
{
    return wait_for(NULL, true);
}

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode);
EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, struct graph *graph,
                                                 struct graph_node *const *before,
                                                 const void *edges, size_t count, int mode);
EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, struct graph **graph);
EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status);
EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status,
                                            unsigned long long *number, struct graph **graph,
                                            struct graph_node *const **before, const void **edges,
                                            size_t *count);
EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                       struct graph_node *const *nodes,
                                                       const void *edges, size_t count,
                                                       unsigned flags);
EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode);

/* graph: NULL, one of its own. */
static cudaError_t begin(struct stream *s, struct graph *graph, int mode)
{
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if ((uintptr_t)s->handle < 2) /* the default stream that all threads share */
        return cudaErrorStreamCaptureUnsupported;
    if (capture_of(s) || mode < MODE_GLOBAL || mode > MODE_RELAXED)
        return capture_of(s) ? cudaErrorIllegalState : cudaErrorInvalidValue;
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cudaErrorMemoryAllocation;
    *c = (struct capture){.graph = graph ? graph : graph_new(),
                          .number = ++capture_count,
                          .mode = (enum capture_mode)mode,
                          .thread = pthread_self(),
                          .is_own = !graph,
                          .next = captures};
    captures = c;
    s->capture = c->number;
    s->is_origin = true;
    return c->graph ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, struct graph *graph,
                                          struct graph_node *const *before, const void *edges,
                                          size_t count, int mode)
{
    (void)edges;
    pthread_mutex_lock(&lock);
    struct stream *s = find_stream(stream);
    cudaError_t error =
        nodes_are_of(graph, before, count) ? begin(s, graph, mode) : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++)
        error = nodes_add(&s->tails, before[i]) ? cudaSuccess : cudaErrorMemoryAllocation;
    pthread_mutex_unlock(&lock);
    return give(error);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode)
{
    return cudaStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, mode);
}

/* Whether all that was captured on other streams comes before the end of this one. */
static bool is_joined(const struct capture *c, const struct stream *origin)
{
    const struct nodes *all = &c->graph->nodes;
    bool *reached = calloc(all->count + 1, sizeof *reached), joined = reached != NULL;
    for (size_t i = 0; reached && i < origin->tails.count; i++)
        reached[origin->tails.at[i]->number] = true;
    for (size_t i = all->count; reached && i-- > 0;)
        for (size_t k = 0; reached[i] && k < all->at[i]->before.count; k++)
            reached[all->at[i]->before.at[k]->number] = true;
    for (const struct stream *s = streams; joined && s; s = s->next)
        for (size_t i = 0; s->capture == c->number && i < s->tails.count; i++)
            joined &= reached[s->tails.at[i]->number];
    free(reached);
    return joined;
}

/* Its graph is whoever's asked for it. */
static void end_capture(struct capture *c, bool keeps_graph)
{
    struct capture **at = &captures;
    if (c->is_own && !keeps_graph)
        graph_end(c->graph);
    for (struct stream *s = streams; s; s = s->next)
        if (s->capture == c->number) {
            forget_nodes(&s->tails);
            s->capture = 0;
            s->is_origin = false;
        }
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, struct graph **graph)
{
    pthread_mutex_lock(&lock);
    const struct stream *s = find_stream(stream);
    struct capture *c = capture_of(s);
    cudaError_t error = cudaSuccess;
    if (graph)
        *graph = NULL;
    if (!c || !s->is_origin) {
        error = c ? cudaErrorStreamCaptureUnmatched : cudaErrorIllegalState;
    } else if (c->mode != MODE_RELAXED && !pthread_equal(c->thread, pthread_self())) {
        error = cudaErrorStreamCaptureWrongThread;
    } else {
        error = c->is_broken       ? cudaErrorStreamCaptureInvalidated
                : !is_joined(c, s) ? cudaErrorStreamCaptureUnjoined
                                   : cudaSuccess;
        if (!error && graph)
            *graph = c->graph;
        end_capture(c, !error && graph);
    }
    pthread_mutex_unlock(&lock);
    return give(error);
}

/* A capture that began on the stream ends with it, since nobody else can end it. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    struct stream *s = (uintptr_t)stream < DEFAULT_STREAMS ? NULL : find_stream(stream);
    struct capture *c = capture_of(s);
    if (c && s->is_origin)
        end_capture(c, false);
    struct stream **at = &streams;
    while (s && *at != s)
        at = &(*at)->next;
    if (s)
        *at = s->next;
    pthread_mutex_unlock(&lock);
    if (!s)
        return give(cudaErrorInvalidResourceHandle);
    if (!(s->flags &
          STREAM_NON_BLOCKING)) /* its work goes on, and the default stream waits for it */
        order_join(LANE_LEGACY, lane_of_stream(stream));
    forget_nodes(&s->tails);
    free(s);
    return give(lasting_error());
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *number,
                                     struct graph **graph, struct graph_node *const **before,
                                     const void **edges, size_t *count)
{
    enum { NONE = 0, ACTIVE = 1, INVALIDATED = 2 };
    pthread_mutex_lock(&lock);
    const struct stream *s = find_stream(stream);
    const struct capture *c = capture_of(s);
    *status = !c ? NONE : c->is_broken ? INVALIDATED : ACTIVE;
    if (number)
        *number = c ? c->number : 0;
    if (graph)
        *graph = c ? c->graph : NULL;
    if (before)
        *before = c ? s->tails.at : NULL;
    if (edges)
        *edges = NULL;
    if (count)
        *count = c ? s->tails.count : 0;
    pthread_mutex_unlock(&lock);
    return give(s ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status)
{
    return cudaStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                struct graph_node *const *nodes, const void *edges,
                                                size_t count, unsigned flags)
{
    enum { ADD = 0, SET = 1 };
    cudaError_t error = cudaSuccess;
    (void)edges;
    pthread_mutex_lock(&lock);
    struct stream *s = find_stream(stream);
    const struct capture *c = capture_of(s);
    if (!c || !nodes_are_of(c->graph, nodes, count))
        error = cudaErrorInvalidValue;
    else if (flags == SET)
        forget_nodes(&s->tails);
    for (size_t i = 0; i < count && !error; i++)
        error = nodes_add(&s->tails, nodes[i]) ? cudaSuccess : cudaErrorMemoryAllocation;
    pthread_mutex_unlock(&lock);
    return give(error);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode)
{
    const enum capture_mode old = thread_mode;
    if (!mode || *mode < MODE_GLOBAL || *mode > MODE_RELAXED)
        return give(cudaErrorInvalidValue);
    thread_mode = (enum capture_mode) * mode;
    *mode = (int)old;
    return give(cudaSuccess);
}

/* ---- calls of the host ---- */

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data)
{
    const struct operation operation = {
        .kind = NODE_HOST, .function = "cudaLaunchHostFunc", .u.host = {function, data}};
    return give(operation_issue(stream, &operation));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  void (*callback)(cudaStream_t, cudaError_t, void *), void *data,
                                  unsigned flags)
{
    (void)flags;
    if (stream_is_captured(stream))
        return wait_for(stream, false);
    host_function_begins();
    callback(stream, lasting_error(), data);
    host_function_ends();
    return give(cudaSuccess);
}

/* ---- events ---- */

EXPORT cudaError_t cudaEventCreate(struct event **event);

cudaError_t cudaEventCreateWithFlags(struct event **event, unsigned flags)
{
    if (!event)
        return give(cudaErrorInvalidValue);
    *event = calloc(1, sizeof **event);
    if (*event)
        (*event)->flags = flags;
    return give(*event ? lasting_error() : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventCreate(struct event **event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(struct event *event)
{
    if (!event)
        return give(cudaErrorInvalidResourceHandle);
    free(event->tails.at);
    free(event);
    return give(lasting_error());
}

void event_happens(struct event *event)
{
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    event->has_happened = true;
}

/* In a capture it stands for what the stream's next node would wait for, or is a node if it is to be seen outside. */
cudaError_t cudaEventRecordWithFlags(struct event *event, cudaStream_t stream, unsigned flags)
{
    const struct operation record = {.kind = NODE_RECORD, .u.event = event};
    cudaError_t error = cudaSuccess;
    if (!event)
        return give(cudaErrorInvalidResourceHandle);
    pthread_mutex_lock(&lock);
    struct stream *s = find_stream(stream);
    struct capture *c = capture_of(s);
    forget_nodes(&event->tails);
    event->capture = c ? c->number : 0;
    if (c && flags == EVENT_EXTERNAL) {
        event->capture = 0;
        error = add_node(c, s, &record);
    } else if (c) {
        copy_nodes(&event->tails, &s->tails);
    } else if (s) {
        event_happens(event);
    }
    pthread_mutex_unlock(&lock);
    if (s && !c) {
        stream_begins(stream);
        order_record(lane_of_event(event), lane_of_stream(stream));
    }
    return give(error ? error : s ? lasting_error() : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(struct event *event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, 0);
}

/* The stream joins the capture that the event is of. */
static cudaError_t join(struct stream *s, const struct event *event)
{
    const struct capture *c = find_capture(event->capture);
    struct capture *own = capture_of(s);
    if (!c && !own)
        return cudaSuccess;
    if (own && own != c) {
        own->is_broken = true;
        return c ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureIsolation;
    }
    s->capture = c->number;
    return copy_nodes(&s->tails, &event->tails) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, const struct event *event, unsigned flags)
{
    cudaError_t error = cudaErrorInvalidResourceHandle;
    struct operation wait = {.kind = NODE_WAIT};
    memcpy(&wait.u.event, &event, sizeof event);
    pthread_mutex_lock(&lock);
    struct stream *s = find_stream(stream);
    struct capture *c = capture_of(s);
    if (s && event)
        error = c && flags == EVENT_EXTERNAL ? add_node(c, s, &wait) : join(s, event);
    pthread_mutex_unlock(&lock);
    if (s && event && !c)
        order_join(lane_of_stream(stream), lane_of_event(event));
    return give(error ? error : lasting_error());
}

cudaError_t cudaEventSynchronize(const struct event *event)
{
    if (!event)
        return give(cudaErrorInvalidResourceHandle);
    pthread_mutex_lock(&lock);
    struct capture *c = find_capture(event->capture);
    if (c)
        c->is_broken = true;
    pthread_mutex_unlock(&lock);
    if (!c)
        order_join(LANE_HOST, lane_of_event(event));
    return give(c ? cudaErrorCapturedEvent : lasting_error());
}

cudaError_t cudaEventQuery(const struct event *event)
{
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, const struct event *start,
                                 const struct event *end)
{
    if (!start || !end || !start->has_happened || !end->has_happened ||
        ((start->flags | end->flags) & EVENT_NO_TIME))
        return give(cudaErrorInvalidResourceHandle);
    double seconds = (double)(end->time.tv_sec - start->time.tv_sec);
    double nano = (double)(end->time.tv_nsec - start->time.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nano / 1e6);
    return give(lasting_error());
}
