/*
 * harness_parser.c - libFuzzer: any bytes as the text of a kernel.
 *
 * No bytes crash the parser; what parses prints to a text that parses to the same again, word for word; its core
 * form, or the copy of a kernel in block or lock-step form, compiles or says why not, and prints and
 * parses too. So does its lowering to blocks; kernels in block form are normalised and checked.
 */
#include "engine/base/invariant.h"
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "engine/program/program.h"
#include "oracle/drawn/words.h"

#include <string.h>

enum { ARENA_BYTES = 1 << 30 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print_and_parse(struct arena *arena, const struct ast_kernel *kernel,
                             struct ast_kernel **again)
{
    struct diag diag;
    char *text = print_kernel(arena, kernel);
    size_t length = strlen(text);
    *again = NULL;
    if (length > LIMIT_SOURCE_BYTES)
        return text; /* printing may grow a text beyond what is read */
    diag_init(&diag, "printed", text, length);
    *again = parse_kernel(arena, text, length, &diag);
    if (!*again)
        diag_print(&diag, stderr);
    INVARIANT(*again);
    INVARIANT(strcmp(words_of_kernel(arena, kernel), words_of_kernel(arena, *again)) == 0);
    return text;
}

static void check_blocks(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct location at;
    struct ast_kernel *normal = normalise(arena, kernel, NORMALISE_ALL, &reason);
    INVARIANT(normal || reason);
    well_formed(arena, normal ? normal : kernel, &reason, &at);
}

static void check_lowerings(struct arena *arena, const struct ast_kernel *core)
{
    static const struct lower_cfg_options lowerings[] = {{.anchored = true, .logic_blocks = true},
                                                         {.then_first = true, .keep_calls = true}};
    for (size_t i = 0; i < sizeof lowerings / sizeof lowerings[0]; i++) {
        const char *reason = NULL;
        struct ast_kernel *again, *blocks = lower_cfg(arena, core, &lowerings[i], &reason);
        INVARIANT(blocks || reason);
        if (!blocks)
            continue;
        print_and_parse(arena, blocks, &again);
        check_blocks(arena, blocks);
    }
}

static void check_text(struct arena *arena, const char *text, size_t length)
{
    struct diag diag;
    diag_init(&diag, "input", text, length);
    struct ast_kernel *kernel = parse_kernel(arena, text, length, &diag);
    if (!kernel) {
        INVARIANT(diag.count > 0);
        return;
    }
    struct ast_kernel *again;
    char *printed = print_and_parse(arena, kernel, &again);
    if (again)
        INVARIANT(strcmp(printed, print_kernel(arena, again)) == 0);
    struct ast_kernel *core = kernel->form == FORM_STRUCTURED ? lower_core(arena, kernel)
                                                              : ast_kernel_copy(arena, kernel);
    if (core->form == FORM_STRUCTURED)
        check_lowerings(arena, core);
    else if (core->form == FORM_BLOCKS)
        check_blocks(arena, core);
    const char *reason = NULL;
    struct program *program = program_compile(arena, core, &reason);
    INVARIANT(program || reason);
    print_and_parse(arena, core, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena arena; /* one process, one thread: kept from input to input */
    if (!arena.base && arena_init(&arena, ARENA_BYTES) != 0)
        return 0;
    if (size > LIMIT_SOURCE_BYTES)
        return 0;
    size_t mark = arena_mark(&arena);
    check_text(&arena, arena_strndup(&arena, (const char *)data, size), size);
    arena_release(&arena, mark);
    return 0;
}
