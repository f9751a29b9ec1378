/*
 * harness_ptx.c - libFuzzer: any bytes as the text of a PTX module.
 *
 * No bytes crash the parser or the checker; what is refused is refused with an error; what is read
 * prints to a text that is read again and prints to the same. So for the module alone, and with the
 * settings of its head comments, as a kernel; and each of its entries is laid out, or refused with a reason.
 */
#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/program/ptx_code.h"
#include "engine/static/ptx_static.h"
#include "engine/to_ptx/ptx_inject.h"
#include "oracle/drawn/words.h"

#include <string.h>

#define ARENA_BYTES ((size_t)4 << 30)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every instruction has its text, and goes where there are instructions. */
static void check_code(struct arena *arena, const struct ptx_code *code)
{
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        INVARIANT(*ptx_op_text(arena, code, pc));
        INVARIANT(op->target <= code->count);
        INVARIANT(op->function < code->function_count);
    }
}

static void compile(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct program *program = ptx_compile(arena, kernel, kernel->ptx->module, NULL, &reason);
    INVARIANT((program != NULL) == (reason == NULL));
    if (program)
        check_code(arena, program->ptx);
}

static void check_entries(struct arena *arena, const struct ptx_module *module, struct diag *diag)
{
    enum { ENTRIES_MOST = 20 };
    uint32_t count = 0;
    for (const struct ptx_item *item = module->items; item && count < ENTRIES_MOST;
         item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION || !item->u.function->is_entry)
            continue;
        size_t mark = arena_mark(arena);
        const char *raw = count++ % 2 ? " raw" : "";
        diag_init(diag, "entry", NULL, 0);
        struct ast_kernel *kernel = ptx_kernel_new(
            arena, module, arena_printf(arena, "entry=%s%s", item->u.function->name, raw), diag);
        INVARIANT((kernel != NULL) == (diag->count == 0));
        if (kernel)
            compile(arena, kernel);
        arena_release(arena, mark);
    }
}

static void check_kernel(struct arena *arena, const char *text, size_t length)
{
    struct diag diag;
    diag_init(&diag, "input", text, length);
    struct ast_kernel *kernel = ptx_kernel_parse(arena, text, length, &diag);
    INVARIANT((kernel != NULL) == (diag.count == 0));
    if (!kernel)
        return;
    compile(arena, kernel);
    const char *printed = print_kernel(arena, kernel);
    if (strlen(printed) > PTX_LIMIT_SOURCE_BYTES)
        return;
    diag_init(&diag, "printed", printed, strlen(printed));
    const struct ast_kernel *again = ptx_kernel_parse(arena, printed, strlen(printed), &diag);
    if (!again)
        diag_print(&diag, stderr);
    INVARIANT(again);
    INVARIANT(strcmp(printed, print_kernel(arena, again)) == 0);
    INVARIANT(strcmp(words_of_kernel(arena, kernel), words_of_kernel(arena, again)) == 0);
}

/* A module gets the branch unit's instructions, or a reason why not. What it gets is a module. */
static void check_injected(struct arena *arena, const struct ptx_module *module, struct diag *diag)
{
    static const struct ptx_static_options options;
    const char *reason = NULL;
    size_t mark = arena_mark(arena);
    const struct ptx_module *injected = ptx_inject(arena, module, &reason);
    INVARIANT(injected || (reason && strncmp(reason, "injection:", 10) != 0));
    const char *printed = injected ? ptx_print(arena, injected) : "";
    size_t size = strlen(printed);
    if (injected && size <= PTX_LIMIT_SOURCE_BYTES) {
        diag_init(diag, "injected", printed, size);
        const struct ptx_module *again = ptx_parse(arena, printed, size, diag);
        if (!again)
            diag_print(diag, stderr);
        INVARIANT(again);
        INVARIANT(strcmp(printed, ptx_print(arena, again)) == 0);
    }
    for (const struct ptx_item *item = injected ? injected->items : NULL; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->is_entry &&
            item->u.function->has_body)
            ptx_static_check(arena, injected, item->u.function, &options);
    arena_release(arena, mark);
}

static void check_text(struct arena *arena, const char *text, size_t length)
{
    struct diag diag;
    diag_init(&diag, "input", text, length);
    const struct ptx_module *module = ptx_parse(arena, text, length, &diag);
    INVARIANT((module != NULL) == (diag.count == 0));
    INVARIANT(arena_mark(arena) <= PTX_ARENA_BYTES + PTX_LIMIT_SOURCE_BYTES);
    if (!module)
        return;
    check_entries(arena, module, &diag);
    check_injected(arena, module, &diag);
    check_kernel(arena, text, length);
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
