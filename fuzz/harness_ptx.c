/*
 * harness_ptx.c - libFuzzer: any bytes as the text of a PTX module.
 *
 * No bytes crash the parser or the checker; what is refused is refused with an error; what is read
 * prints to a text that is read again and prints to the same.
 */
#include "engine/invariant.h"
#include "engine/ptx.h"

#include <string.h>

#define ARENA_BYTES ((size_t)2 << 30)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct arena *arena, const char *text, size_t length)
{
    struct diag diag;
    diag_init(&diag, "input", text, length);
    const struct ptx_module *module = ptx_parse(arena, text, length, &diag);
    INVARIANT((module != NULL) == (diag.count == 0));
    INVARIANT(arena_mark(arena) <= PTX_ARENA_BYTES + PTX_LIMIT_SOURCE_BYTES);
    if (!module)
        return;
    const char *printed = ptx_print(arena, module);
    size_t size = strlen(printed);
    if (size > PTX_LIMIT_SOURCE_BYTES)
        return; /* printing may grow a text beyond what is read */
    diag_init(&diag, "printed", printed, size);
    const struct ptx_module *again = ptx_parse(arena, printed, size, &diag);
    if (!again)
        diag_print(&diag, stderr);
    INVARIANT(again);
    INVARIANT(strcmp(printed, ptx_print(arena, again)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena arena; /* one process, one thread: kept from input to input */
    if (!arena.base && arena_init(&arena, ARENA_BYTES) != 0)
        return 0;
    if (size > PTX_LIMIT_SOURCE_BYTES)
        return 0;
    size_t mark = arena_mark(&arena);
    check_text(&arena, arena_strndup(&arena, (const char *)data, size), size);
    arena_release(&arena, mark);
    return 0;
}
