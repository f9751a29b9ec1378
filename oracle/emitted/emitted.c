#include "oracle/emitted/emitted.h"

#include "oracle/drawn/drawn.h"
#include "oracle/texts/texts.h"

#include <string.h>

void emitted_judge(struct checking *c)
{
    const uint64_t draw = texts_number(c);
    const char *why, *text, *differs = NULL;
    size_t mark = arena_mark(c->arena);
    if (draw / 32 % EMITTED_KERNEL_SHARE == 0)
        differs = emitted_kernel(c->arena, draw / 128, &text);
    if (!differs && draw / 512 % EMITTED_SEQUENTIAL_SHARE == 0)
        differs = emitted_sequential(c->arena, draw / 2048, &text);
    if (!differs && draw / 8192 % EMITTED_SCOPES_SHARE == 0)
        differs = emitted_scopes(c->arena, draw / 32768, &text);
    if (!differs && draw / 131072 % EMITTED_VALUES_SHARE == 0)
        differs = emitted_values(c->arena, draw / 524288, &text);
    if (!differs && draw / 2097152 % EMITTED_GUESSES_SHARE == 0)
        differs = emitted_guesses(c->arena, draw / 33554432, &text);
    if (!differs && draw / 33554432 % EMITTED_FILLS_SHARE == 0)
        differs = emitted_fills(c->arena, draw / 536870912, &text);
    if (!differs && draw / 268435456 % EMITTED_CLAIMS_SHARE == 0)
        differs = emitted_claims(c->arena, draw / 4294967296, &text);
    if (!differs && draw / 536870912 % EMITTED_LISTS_SHARE == 0)
        differs = emitted_lists(c->arena, draw / 8589934592, &text);
    if (!differs)
        differs = emitted_jumps(c->arena, draw / 8388608, &text);
    if (!differs)
        arena_release(c->arena, mark);
    else if (strncmp(differs, "emitted ptx", 11) != 0)
        texts_report(c, text, differs, true);
    else /* which is lowered as for subjects that run it: the kernel is the text's first line */
        texts_report(c, text, differs, true)->about =
            drawn_read(c->arena, arena_strndup(c->arena, text, strcspn(text, "\n")), &why);
}
