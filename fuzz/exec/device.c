#include "fuzz/exec/device.h"

#include "engine/base/diag.h"
#include "fuzz/exec/fatbin.h"
#include "fuzz/exec/heap.h"
#include "fuzz/exec/order.h"
#include "fuzz/exec/ptx_link.h"
#include "fuzz/out/demangle.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MESSAGE_MAX = 1 << 30, LINKED_MOST = 1024 };

/* ---- the socket ---- */

static bool hear(const struct device *device, void *to, size_t bytes)
{
    for (char *at = to; bytes > 0;) {
        ssize_t got = recv(device->sock, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static void answer(const struct device *device, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t sent = send(device->sock, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return; /* the program has ended; that is seen when it is heard next */
        at += sent;
        bytes -= (size_t)sent;
    }
}

/* ---- modules ---- */

const char *device_first_error(struct arena *arena, const struct diag *ptx)
{
    const struct diag_entry *first = &ptx->entries[0];
    return first->at.line == 0
               ? first->text
               : arena_printf(arena, "line %u of its PTX: %s", first->at.line, first->text);
}

static const struct ptx_module *parse(struct arena *arena, const char *text, size_t length,
                                      struct diag *diag)
{
    diag_init(diag, "the program's PTX", text, length);
    return ptx_parse_some(arena, text, length, diag);
}

/* Of what was linked: its parts, which lie behind it; those without PTX are left out. */
static uint32_t find_parts(struct arena *arena, const uint8_t *data, size_t bytes,
                           const char **texts, const char **why)
{
    struct fatbin_ptx ptx;
    uint32_t count = fatbin_linked(data, bytes, texts, LINKED_MOST);
    for (size_t at = fatbin_bytes(data, bytes); at < bytes && count < LINKED_MOST;
         at += fatbin_bytes(data + at, bytes - at))
        if (fatbin_find(arena, data + at, bytes - at, &ptx, why))
            texts[count++] = ptx.text;
    return count;
}

static bool find_ptx(struct arena *arena, const uint8_t *data, size_t bytes, struct fatbin_ptx *ptx,
                     const char **why)
{
    const char *texts[LINKED_MOST];
    const uint32_t count = find_parts(arena, data, bytes, texts, why);
    if (count == 0)
        return fatbin_find(arena, data, bytes, ptx, why);
    ptx->text = ptx_link(arena, texts, count);
    ptx->length = strlen(ptx->text);
    *why = NULL;
    return true;
}

static void add_module(struct device *device, uint32_t number, const uint8_t *data, size_t bytes)
{
    struct arena *arena = &device->arena;
    struct device_module *module = ARENA_NEW(arena, struct device_module);
    struct fatbin_ptx ptx;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    device->report->modules++;
    module->number = number;
    module->next = device->modules;
    device->modules = module;
    module->is_text = fatbin_is_text(data, bytes);
    if (module->is_text)
        ptx = (struct fatbin_ptx){.text = arena_strndup(arena, (const char *)data, bytes),
                                  .length = strnlen((const char *)data, bytes)};
    else if (!find_ptx(arena, data, bytes, &ptx, &module->why))
        return;
    module->ptx = parse(arena, ptx.text, ptx.length, diag);
    const char *with_heap = module->ptx ? heap_with_functions(arena, module->ptx, ptx.text) : NULL;
    if (with_heap)
        module->ptx = parse(arena, with_heap, strlen(with_heap), diag);
    if (!module->ptx)
        module->why = device_first_error(arena, diag);
    else if (!device->options->records)
        device_add_inner(device, module);
}

/* ---- messages ---- */

static void on_variable(struct device *device, const char *data, size_t bytes)
{
    struct device_variable variable;
    const char *why = NULL;
    uint32_t error = 0;
    memcpy(&variable, data, sizeof variable);
    const char *name =
        arena_strndup(&device->arena, data + sizeof variable, bytes - sizeof variable);
    if (!device_add_variable(device, &variable, name, &why) && why) {
        device_tell_note(device, "note", arena_printf(&device->arena, "%s: %s", name, why));
        error = 13;
    }
    answer(device, &error, sizeof error);
}

static void on_symbols(struct device *device, const char *data)
{
    struct device_symbols head = {.error = 0};
    uint32_t module;
    memcpy(&module, data, sizeof module);
    head.error = device_symbols(device, module, NULL, &head.count);
    if (head.error && device->modules && device->modules->why)
        snprintf(head.why, sizeof head.why, "%s", device->modules->why);
    struct device_symbol *symbols = calloc(head.count + 1, sizeof *symbols);
    if (!symbols)
        head = (struct device_symbols){.error = 2};
    else if (!head.error)
        device_symbols(device, module, symbols, &head.count);
    answer(device, &head, sizeof head);
    answer(device, symbols, head.count * sizeof *symbols);
    free(symbols);
}

static void on_kernel(struct device *device, const char *data, size_t bytes)
{
    struct device_kernel *kernel = calloc(1, sizeof *kernel);
    uint32_t module;
    memcpy(&module, data, sizeof module);
    const char *name = arena_strndup(&device->arena, data + sizeof module, bytes - sizeof module);
    if (!kernel)
        return;
    device_ask_kernel(device, module, name, kernel);
    answer(device, kernel, sizeof *kernel);
    free(kernel);
}

static void on_heap(struct device *device, const char *data)
{
    uint64_t bytes;
    memcpy(&bytes, data, sizeof bytes);
    const uint32_t error = heap_set_limit(device, bytes);
    answer(device, &error, sizeof error);
}

static void on_launch(struct device *device, const char *data, size_t bytes)
{
    struct device_launch *launch = malloc(sizeof *launch);
    size_t head = sizeof *launch;
    if (!launch)
        return;
    memcpy(launch, data, head);
    if (head + launch->name_bytes + launch->argument_bytes <= bytes) {
        const char *name = arena_strndup(&device->arena, data + head, launch->name_bytes);
        device->printed_bytes = 0;
        struct device_launched launched = {
            device_run(device, launch, name, (const uint8_t *)data + head + launch->name_bytes),
            device->printed_bytes};
        answer(device, &launched, sizeof launched);
        answer(device, device->printed, device->printed_bytes);
    }
    free(launch);
}

static void on_result(struct device *device, const char *data, size_t bytes)
{
    struct device_result result;
    const uint32_t heard = 0;
    memcpy(&result, data, sizeof result);
    device_record_end(device, result.error,
                      arena_strndup(&device->arena, data + sizeof result, bytes - sizeof result));
    answer(device, &heard, sizeof heard);
}

static void on_texture(struct device *device, const char *data, size_t bytes)
{
    struct device_texture **at = &device->textures;
    uint64_t handle;
    memcpy(&handle, data, sizeof handle);
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    if (!*at)
        *at = ARENA_NEW(&device->arena, struct device_texture);
    (*at)->handle = handle;
    (*at)->text = bytes > sizeof handle
                      ? arena_strndup(&device->arena, data + sizeof handle, bytes - sizeof handle)
                      : NULL;
}

static void on_note(struct device *device, const char *data, size_t bytes)
{
    device_tell_note(device, "note", arena_strndup(&device->arena, data, bytes));
}

static void on_wrong(struct device *device, const char *data, size_t bytes)
{
    struct arena *arena = &device->arena;
    struct device_stack *host = ARENA_NEW(arena, struct device_stack);
    struct launch_finding finding = {.kind = LAUNCH_MISUSE};
    memcpy(host, data, sizeof *host);
    const char *text =
        demangle_text(arena, arena_strndup(arena, data + sizeof *host, bytes - sizeof *host));
    const char *stack = host_stack(arena, device, host, text, &finding.sources[0]);
    finding.text =
        arena_printf(arena, "%s%s%s", text, stack ? "; called by " : "", stack ? stack : "");
    device_found(device, arena, finding.text, "the host", &finding);
}

/* What a message has at least. */
static const size_t least[DEVICE_MESSAGES] = {[DEVICE_MODULE] = sizeof(uint32_t),
                                              [DEVICE_SYMBOLS] = sizeof(uint32_t),
                                              [DEVICE_KERNEL] = sizeof(uint32_t),
                                              [DEVICE_VARIABLE] = sizeof(struct device_variable),
                                              [DEVICE_ALLOCATE] = sizeof(struct device_allocated),
                                              [DEVICE_FREE] = sizeof(uint64_t),
                                              [DEVICE_WRITTEN] = sizeof(struct device_range),
                                              [DEVICE_COPIED] = sizeof(struct device_range),
                                              [DEVICE_ORDER] = sizeof(struct device_order),
                                              [DEVICE_TOUCHED] =
                                                  offsetof(struct device_touched, stack.frames),
                                              [DEVICE_TEXTURE] = sizeof(uint64_t),
                                              [DEVICE_HEAP] = sizeof(uint64_t),
                                              [DEVICE_LAUNCH] = sizeof(struct device_launch),
                                              [DEVICE_RESULT] = sizeof(struct device_result),
                                              [DEVICE_WRONG] = sizeof(struct device_stack)};

static void on_message(struct device *device, enum device_message kind, const char *data,
                       size_t bytes)
{
    struct device_allocated allocated;
    struct device_range range;
    struct device_order order;
    struct device_touched touched;
    uint64_t address;
    uint32_t number;
    switch (kind) {
    case DEVICE_HELLO:
        device->program = arena_strndup(&device->arena, data, bytes);
        break;
    case DEVICE_MODULE:
        memcpy(&number, data, sizeof number);
        add_module(device, number, (const uint8_t *)data + sizeof number, bytes - sizeof number);
        break;
    case DEVICE_SYMBOLS:
        on_symbols(device, data);
        break;
    case DEVICE_KERNEL:
        on_kernel(device, data, bytes);
        break;
    case DEVICE_VARIABLE:
        on_variable(device, data, bytes);
        break;
    case DEVICE_ALLOCATE:
        memcpy(&allocated, data, sizeof allocated);
        device_add(device, &allocated);
        break;
    case DEVICE_FREE:
        memcpy(&address, data, sizeof address);
        device_drop(device, address);
        break;
    case DEVICE_WRITTEN:
    case DEVICE_COPIED:
        memcpy(&range, data, sizeof range);
        if (kind == DEVICE_WRITTEN)
            device_mark(device, &range);
        else
            device_copy_marks(device, &range);
        break;
    case DEVICE_ORDER:
        memcpy(&order, data, sizeof order);
        order_tell(device, &order);
        break;
    case DEVICE_TOUCHED:
        touched.stack.count = 0;
        memcpy(&touched, data, bytes < sizeof touched ? bytes : sizeof touched);
        order_touched(device, &touched);
        break;
    case DEVICE_TEXTURE:
        on_texture(device, data, bytes);
        break;
    case DEVICE_HEAP:
        on_heap(device, data);
        break;
    case DEVICE_LAUNCH:
        on_launch(device, data, bytes);
        break;
    case DEVICE_RESULT:
        on_result(device, data, bytes);
        break;
    case DEVICE_NOTE:
        on_note(device, data, bytes);
        break;
    case DEVICE_WRONG:
        on_wrong(device, data, bytes);
        break;
    case DEVICE_MESSAGES:
        break;
    }
}

bool device_serve(struct device *device)
{
    struct device_header header;
    if (!hear(device, &header, sizeof header) || header.kind >= DEVICE_MESSAGES ||
        header.bytes > MESSAGE_MAX || header.bytes < least[header.kind])
        return false;
    /* Zeros behind it: texts of fat binaries end. */
    char *data = calloc(1, (size_t)header.bytes + 16);
    const bool all = data && hear(device, data, header.bytes);
    if (all)
        on_message(device, (enum device_message)header.kind, data, header.bytes);
    free(data);
    return all;
}
